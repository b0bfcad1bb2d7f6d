# SPDX-License-Identifier: Apache-2.0
"""Refinement, slowly: a fine method inside every group of a coarse one (MINIMALITY 3.1, of large groups).

Inside the groups of Tailor this is Hybrid, and safe (TRANSPARENT Theorem 3). Inside groups that were made by looking at
which person has which value, it is not: see the six people in the tests. A group that is not l-diverse, which a coarse
method under another principle may leave, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.twins.anatomize import anatomize
from tests.twins.mondrian import Partition, Place, Row
from tests.twins.transparent import Draws, ace

__all__ = ["with_ace", "with_anatomize"]


def with_anatomize(rows: Sequence[Row], coarse: Partition, ell: int, draws: Draws) -> Partition:
    """Anatomize inside every group."""
    partition = set()
    for group in sorted(coarse, key=min):
        partition |= anatomize(rows, ell, draws, within=sorted(group)) or {group}
    return partition


def with_ace(
    rows: Sequence[Row], positions: Sequence[Sequence[Place]], coarse: Partition, ell: int, draws: Draws
) -> Partition:
    """Ace inside every group; the perimeter stays relative to the whole table."""
    partition = set()
    for group in sorted(coarse, key=min):
        partition |= ace(rows, positions, ell, draws, within=sorted(group)) or {group}
    return partition
