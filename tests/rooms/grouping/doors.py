# SPDX-License-Identifier: Apache-2.0
"""How tests hand small tables to the product's methods, and to their slow twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.kernels import interpreted
from glasshouse.microdata.groups import tie_order
from glasshouse.principles.principle import Requirement
from tests.tables import partition
from tests.twins import by_force
from tests.twins.mondrian import Partition, Row

Codes = Sequence[tuple[int, ...]]
ALONE = Memory(threads=1)  # for a handful of people a second thread takes longer to begin than the work


def people(codes: Codes, sensitive: Sequence[int], positions: Sequence[Sequence[Any]] | None = None) -> gh.Microdata:
    """A table whose identifiers are the row numbers; values are codes, or the positions of codes."""
    n_dimensions = len(codes[0])
    quasi = {
        f"q{dim}": [row[dim] if positions is None else positions[dim][row[dim]] for row in codes]
        for dim in range(n_dimensions)
    }
    columns = {"id": list(range(len(codes))), **quasi, "sensitive": [f"s{value:05}" for value in sensitive]}
    return gh.read(columns, identifier="id", quasi=list(quasi), sensitive="sensitive")


def rows_of(table: gh.Microdata) -> list[Row]:
    codes = [column.codes.tolist() for column in table.quasi]
    return list(zip(zip(*codes, strict=True), table.sensitive[0].codes.tolist(), strict=True))


def in_tie_order(table: gh.Microdata, seed: int) -> tuple[list[Row], list[int]]:
    """The rows as the twins want them, for whom a smaller row number breaks ties; and the row that each one is."""
    order = tie_order(table, gh.Source.seeded(seed)).tolist()
    rows = rows_of(table)
    return [rows[row] for row in order], order


def back(groups: Partition, order: Sequence[int]) -> Partition:
    return {frozenset(order[i] for i in group) for group in groups}


def divided(method: Any, principle: Any, table: gh.Microdata, source: Any, engine: Memory | None = None) -> Partition:
    return partition(method.divide(table, Requirement.of(principle, table), source=source, engine=engine))


def forced(
    method: Any, principle: Callable[[], Any], positions: Sequence[Sequence[int]] | None = None
) -> by_force.Method:
    """A method of the product as `by_force` runs it; where it refuses a table, nothing is published."""

    @cache
    def read(codes: Codes, sensitive: tuple[int, ...]) -> gh.Microdata:
        return people(codes, sensitive, positions)

    def run(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Partition:
        try:
            return divided(method, principle(), read(tuple(codes), tuple(sensitive)), draws, ALONE)
        except gh.Infeasible:
            return set()

    return run


class LastChoice:
    """Draws that always make the last choice there is, which in a shuffle leaves everything in its place."""

    def below(self, n: int, /) -> int:
        return n - 1

    def belows(self, bounds: Any, size: int | None = None) -> Any:
        return np.asarray(bounds) - 1 if size is None else np.full(size, bounds - 1)

    def shuffle_runs(self, array: Any, offsets: Any) -> None:
        """Every place is exchanged with itself."""

    def child(self, *labels: Any) -> LastChoice:
        return self


@contextmanager
def run_interpreted(*modules: str) -> Iterator[None]:
    """Let these modules of the package use the source of their kernels."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (*modules, "glasshouse.microdata.counts", "glasshouse.microdata.groups"):
            patch.setattr(f"{module}.compiled", interpreted)
        yield
