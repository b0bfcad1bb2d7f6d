"""Fixtures for all rooms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.doors.postgres import server
from tests.tiers import LOOK

# The gate must not flake: hypothesis tries the same examples every time, on every machine. With GLASSHOUSE_LOOK=1, as
# in `make prove`, it goes on looking.
settings.register_profile("gate", deadline=None, derandomize=True)
settings.register_profile("look", deadline=None, print_blob=True)
settings.load_profile("look" if LOOK else "gate")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real census tables, which lie beside the project where its authors work and never inside it."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real census tables (../shared/data) are not here")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[server.Server]:
    """A PostgreSQL server that this run starts and stops."""
    if server.programs() is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with server.running() as started:
        yield started
