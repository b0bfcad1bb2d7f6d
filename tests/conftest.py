"""Fixtures for all rooms."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.doors.postgres import server
from tests.tiers import LONG, LOOK, THINNED, kept

# The gate must not flake: hypothesis tries the same examples every time, on every machine. With GLASSHOUSE_LOOK=1, as
# in `make prove`, it goes on looking.
settings.register_profile("gate", deadline=None, derandomize=True)
settings.register_profile("look", deadline=None, print_blob=True)
settings.load_profile("look" if LOOK else "gate")

pytest_plugins = ["tests.repeatable"]

# A shell that starts the tests in the background has interrupts ignored, by the processes that tests start as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of tests with many cases `make test` runs some, and of those that take long none."""
    if LOOK:
        return
    groups: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for item in items:
        test = item.nodeid.partition("[")[0]
        one_in = THINNED.get(test, 1)
        if one_in > 1 and hasattr(item, "callspec"):
            groups[test, one_in].append(item)
    left: set[str] = {item.nodeid for item in items if item.nodeid in LONG}
    for (_, one_in), cases in groups.items():
        run = kept([(case.nodeid, tuple(case.callspec._idlist)) for case in cases], one_in)
        left |= {case.nodeid for case in cases} - run
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
        items[:] = [item for item in items if item.nodeid not in left]


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
