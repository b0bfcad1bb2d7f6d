"""In `make test` a test draws the same random choices on every run; in `make prove` new ones.

Releases are made with secret choices from the operating system. A test of such a release would pass on one run and
fail on the next if one choice in a thousand shows a fault, and a gate that fails by chance says nothing about a
change. So in `make test` the keys of secure sources follow from the name of the test, or of the fixture, that makes
them. The choices stay secret in everything else: processes that a test starts ask the operating system, and so do the
tests of the source itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from glasshouse.randomness import Source
from tests.tiers import LOOK

OWN = "tests/rooms/test_randomness.py"
"""The tests of the source itself, which see what it asks of the operating system."""

_secure = Source.secure.__func__  # type: ignore[attr-defined]
_makers: list[list[Any]] = []  # who makes sources now, the innermost last: a name, and how many were made
_process = os.getpid()


def _repeatable(cls: type[Source]) -> Source:
    if not _makers or os.getpid() != _process:
        return _secure(cls)  # type: ignore[no-any-return]
    maker = _makers[-1]
    maker[1] += 1
    return cls(sha256(f"{maker[0]}\0{maker[1]}".encode()).digest(), is_seeded=False)


if not LOOK:
    Source.secure = classmethod(_repeatable)  # type: ignore[assignment,method-assign]


def _within(name: str) -> Iterator[None]:
    if name.startswith(OWN):
        yield
        return
    _makers.append([name, 0])
    try:
        yield
    finally:
        _makers.pop()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test has a name, and every part of it draws in turn."""
    yield from _within(item.nodeid)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """A fixture that several tests share draws the same, whichever of them comes first."""
    if fixturedef.scope == "function":
        yield
    else:
        name = f"{fixturedef.baseid}::{fixturedef.argname}::{getattr(request, 'param', '')!r}"
        yield from _within(name)
