"""Fixtures of the conformance suite."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _unflushed_files() -> Iterator[None]:
    """Thousands of tiny releases are written here: that each one survives a power cut is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
