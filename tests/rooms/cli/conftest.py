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
    # The studio opens no browser here, and is stopped as soon as it listens.
    monkeypatch.setattr("webbrowser.open", lambda address: None)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets=None: None)
    return tmp_path
