# SPDX-License-Identifier: Apache-2.0
"""Checks of editions: whether what a release says of its editions fits its tables, however these are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from glasshouse.errors import SourceError
from glasshouse.release.edition import check_editions
from glasshouse.release.layout import LEFT
from glasshouse.verification.order import broken_order
from glasshouse.verification.stream_count import order_check
from glasshouse.verification.verification import Check

if TYPE_CHECKING:
    from glasshouse.release import Release

__all__ = ["edition_checks"]

_EDITIONS: Final = "every group is in one edition, and everybody who left was there before"
_NO_EDITIONS: Final = "its editions do not fit its tables, or it lists people as having left who were not in it"


def edition_checks(release: Release) -> list[Check]:
    """Whether editions match the tables, and the rows of those who left ascend; nothing for a release without any."""
    if not release.editions:
        return []
    n_failing = 0 if _fits(release) else 1
    checks = [Check(asked=_EDITIONS, column=None, n_failing=n_failing, n_tuples=0, worst=(), wrong=_NO_EDITIONS)]
    if release.left is None:
        return checks
    names = release.left.column_names  # whose cells are sorted as what they are, also where they are texts
    return [*checks, order_check(LEFT, broken_order(release.left, names, names))]


def _fits(release: Release) -> bool:
    try:
        check_editions(release)
    except SourceError:
        return False
    return True
