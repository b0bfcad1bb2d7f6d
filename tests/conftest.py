"""Fixtures for all rooms."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The gate must not flake: there, hypothesis tries the same examples every time. Elsewhere it goes on looking.
settings.register_profile("gate", deadline=None, derandomize=True)
settings.register_profile("look", deadline=None, print_blob=True)
settings.load_profile("gate" if os.environ.get("CI") else "look")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real census tables, which lie beside the project where its authors work and never inside it."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real census tables (../shared/data) are not here")
    return folder
