# SPDX-License-Identifier: Apache-2.0
"""Boxes of refined leaves: a floor says how large a leaf is, and nothing of how small the groups inside it are."""

from __future__ import annotations

import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.theorems.largest_shares import LargestShares
from tests.rooms.adversary.test_mirrored import Case, beliefs_of


@pytest.mark.parametrize(("values", "size"), [("acefgh" + "bdijkl", 4), ("acegij" + "bdfhkl", 8)])
def test_a_box_of_two_groups_or_more_is_not_taken_for_one_because_leaves_are_large(values: str, size: int) -> None:
    """One leaf, which is not tested. Inside it a is with b, c with d and so on, no matter who is near whom."""
    method = gh.Mirror(inner="anatomize", floor=12)
    case = Case({"x": [0] * 6 + [1] * 6}, list(values), gh.LDiversity(ell=2), method, gh.Boxes())
    release = case.publish()
    mixed = [row["s"] for row in release.data.to_pylist() if row["x"] == "[0, 1]"]
    assert len(mixed) == len(set(mixed)) == size

    found = case.attack(release, LargestShares().attack)

    for row in range(12):
        # groups of two may stand behind the box, and show each of its values with a half
        assert dict.fromkeys(mixed, 0.5).items() <= beliefs_of(found, row).items()
