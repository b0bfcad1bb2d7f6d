# SPDX-License-Identifier: Apache-2.0
"""Privacy against utility on twins of the tour's table, as `compare` draws it, with colours for the night."""

from __future__ import annotations

import glasshouse as gh
from glasshouse.pages.charts.frontier import ALONE, frontier
from tools.pictures.hospital import patients

__all__ = ["picture"]

_METHODS = ["sift", "mirror", "hybrid", "anatomize", "tailor", "even-split", "separate", "mondrian", "greedy"]
_NIGHT = """
svg { background: none; --paper: #fff; --bar: #0b6fa8; --stop: #b93d08; --leaf: #00795a; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #14171b; --line: #3a433e; --ink: #e6ebe8; --soft: #a7b2ac; --leaf: #45c99d; --bar: #62bdf0;
    --stop: #ff9068; --other: #a7b2ac; }
}
"""


def picture() -> str:
    """The ways that the tour compares, and a few more."""
    found = gh.compare(
        patients(),
        principle=gh.LDiversity(ell=3),
        methods=_METHODS,
        recodings=["boxes", "angel"],
        runs=3,
        learner=False,
        processes=0,
    )
    return f"{frontier(found.shown()['rows'], style=ALONE + _NIGHT)}\n"
