# SPDX-License-Identifier: Apache-2.0
"""Sift and the varied dealing of Anatomize by force: for the small tier and for ``make prove``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import glasshouse as gh
from tests.rooms.grouping.doors import forced
from tests.twins import by_force, sift

__all__ = ["FAULTS", "OneOrder", "in_a_row", "product", "sifted", "twin"]


class OneOrder:
    """Draws without the first of the two orders of values that the product draws for a leaf of one block.

    It says which people of a leaf belong to which block; with one block it decides nothing, and to try all of them
    would only take long (`test_sift.py` compares both). Leaves of several blocks are taken as they are.
    """

    def __init__(self, draws: Any, *, of_values: bool = False) -> None:
        self._draws = draws
        self._of_values = of_values

    def child(self, *labels: Any) -> OneOrder:
        return OneOrder(self._draws.child(*labels), of_values=labels == ("orders of values",))

    def shuffle_runs(self, array: Any, offsets: Any) -> None:
        runs = [*pairwise(offsets.tolist())]
        widths = [stop - start for start, stop in runs]
        one_block = len(runs) % 2 == 0 and widths[::2] == widths[1::2]
        places = [range(start, stop) for start, stop in (runs[1::2] if self._of_values and one_block else runs)]
        at = np.array([i for place in places for i in place], np.int64)
        drawn = array[at]
        self._draws.shuffle_runs(drawn, np.cumsum([0, *map(len, places)]))
        array[at] = drawn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draws, name)


def product(case: by_force.Case, method: Any = None) -> by_force.Method:
    """The product, Sift if no other method is given, on the people of a case, so that few draws need to be tried."""
    run = forced(method or gh.Sift(), partial(gh.LDiversity, ell=case.ell), case.positions)
    return lambda codes, sensitive, draws: run(codes, sensitive, OneOrder(draws))


def twin(case: by_force.Case, **given: Any) -> by_force.Method:
    """The slow twin on the people of a case."""

    def run(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> by_force.Groups:
        rows = by_force.rows_of(codes, sensitive)
        return sift.Sift(rows=rows, positions=case.positions, ell=case.ell, **given).groups(draws)

    return run


def sifted(cases: Iterable[by_force.Case]) -> Iterator[by_force.Case]:
    """The tables of which people are set aside before the others are halved."""
    for case in cases:
        decision = sift.decide(Counter(case.values), case.ell)
        if decision is not None and decision.k:
            yield case


def in_a_row(values: Sequence[int], ell: int = 2) -> by_force.Case:
    """People in a row, and the values that they have."""
    n = len(values)
    return by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(values), ell)


def _first(rows: list[int], times: int, draws: Any) -> list[int]:
    return rows[:times]


def _nearest(rows: list[int], times: int, draws: Any) -> list[int]:
    """Those who are nearest to the middle of a row of six people."""
    return sorted(rows, key=lambda i: (abs(2 * i - 5), i))[:times]


def _as_they_stand(rows: list[int], draws: Any) -> list[int]:
    return rows


# what must be found out: twins that break one part of the definition, and the people in a row on whom it shows
FAULTS: dict[str, tuple[dict[str, Any], by_force.Case]] = {
    "people set aside in file order": ({"take": _first}, in_a_row((0, 0, 1, 1, 2, 3))),
    "people set aside by nearness": ({"take": _nearest}, in_a_row((0, 0, 1, 1, 2, 3))),
    "a node is halved if its own halves are safe": ({"tests": True}, in_a_row((0, 0, 1, 1, 2, 2))),
    "leaves dealt by nearness": ({"line": _as_they_stand}, in_a_row((0, 0, 1, 1, 2, 2))),
}
