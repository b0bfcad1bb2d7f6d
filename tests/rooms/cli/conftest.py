# SPDX-License-Identifier: Apache-2.0
"""A world of its own for each test, to run commands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rooms.cli.world import make_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path
