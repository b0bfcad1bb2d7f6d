"""How many random tables a test tries, and how many examples hypothesis draws: some in `make test`, many if asked.

`make mutants` shows which faults the numbers of `make test` notice; `make prove` takes larger ones,
and sets GLASSHOUSE_LOOK, so that hypothesis and the damaged files are new ones every time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from zlib import crc32

FACTOR = Fraction(os.environ.get("GLASSHOUSE_TABLES", "1/20"))
SHARE = Fraction(os.environ.get("GLASSHOUSE_EXAMPLES", "1/8"))
LOOK = bool(os.environ.get("GLASSHOUSE_LOOK"))


def _listed() -> tuple[dict[str, int], set[str]]:
    """Of which tests `make test` runs one case in so many, and which tests it leaves to `make prove`."""
    thinned, long = {}, set()
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        one_in, _, name = line.partition(" ")
        if one_in == "-":
            long.add(name)
        elif one_in.isdecimal():
            thinned[name] = int(one_in)
    return thinned, long


# Where a test has several parameters, every value of each of them stays in some case that runs.
THINNED, LONG = _listed()


def kept(cases: Sequence[tuple[str, tuple[str, ...]]], one_in: int) -> set[str]:
    """Which cases of a test run, by their names: one in so many, and at least one with every value of a parameter.

    A case is its name, and the names of the values of its parameters.

    >>> cases = [(f"{a}-{b}", (a, b)) for a in "abc" for b in "xyz"]
    >>> some = kept(cases, 3)
    >>> sorted({name[0] for name in some}), sorted({name[2] for name in some}), len(some) < 9
    (['a', 'b', 'c'], ['x', 'y', 'z'], True)
    """
    order = sorted(cases, key=lambda case: (crc32(case[0].encode()), case[0]))
    chosen: set[str] = set()
    seen: set[tuple[int, str]] = set()
    for name, values in order:
        new = set(enumerate(values)) - seen
        if len(values) > 1 and new:
            chosen.add(name)
            seen |= new
    for name, _ in order:
        if len(chosen) * one_in >= len(cases):
            break
        chosen.add(name)
    return chosen


def tables(n: int, least: int = 1) -> int:
    """So many tables, times what GLASSHOUSE_TABLES says; a twentieth without. Never fewer than ``least``."""
    return max(least, int(n * FACTOR))


def examples(n: int) -> int:
    """So many examples, times what GLASSHOUSE_EXAMPLES says; an eighth without, and ten at least."""
    return max(10, int(n * SHARE))
