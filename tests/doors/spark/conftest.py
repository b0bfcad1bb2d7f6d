"""Everything here needs PySpark and Java, and says so where they are missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.doors.spark import sessions


@pytest.fixture(autouse=True, scope="session")
def _spark_is_here() -> Iterator[None]:
    missing = sessions.lacking()
    if missing is not None:
        pytest.skip(missing)
    before = dict(os.environ)
    sessions.on_loopback()
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session on two threads of this machine, whose files are encrypted."""
    with sessions.running(tmp_path_factory.mktemp("spark"), spark__io__encryption__enabled=True) as made:
        yield made
