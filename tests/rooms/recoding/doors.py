# SPDX-License-Identifier: Apache-2.0
"""How tests hand the product's recodings to `by_force`: fresh group numbers, and every byte of what is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import glasshouse as gh
from tests.rooms.grouping import doors
from tests.twins import by_force, enumerating

Recode = Callable[[gh.Microdata, gh.Groups, Any], Mapping[str, pa.Table]]  # the last is a source of draws


def published(recode: Recode, positions: Sequence[Sequence[int]] | None = None) -> by_force.Recode:
    """A recoding of the product as `by_force` runs it.

    Groups get fresh numbers before, as `gh.publish` gives them, and all numberings are tried. What counts as published
    is everything: tables by name, columns by name, and rows in the order in which they stand.
    """

    @cache
    def releases(codes: Any, sensitive: Any, groups: Any) -> list[Any]:
        table = doors.people(codes, sensitive, positions)
        labels = np.zeros(len(codes), np.int32)
        for label, group in enumerate(groups):
            labels[list(group)] = label

        def run(draws: enumerating.EnumeratingDraws) -> Any:
            numbered = gh.Groups(labels, len(groups)).renumbered(draws.child("numbers"))
            return _everything(recode(table, numbered, draws.child("recoding")))

        return [(probability, release) for release, probability in enumerating.distribution(run).items()]

    def forced(
        codes: by_force.Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]
    ) -> list[Any]:
        present = tuple(codes[person] for person in people)
        rows = tuple(sorted(tuple(sorted(people.index(person) for person in group)) for group in groups))
        return releases(present, tuple(sensitive), rows)

    return forced


def two_marginals(table: gh.Microdata, groups: gh.Groups, draws: Any) -> Mapping[str, pa.Table]:
    """ANGEL as in the paper's Example 3: all attributes, and the last one alone; the product's own buckets, k = 2."""
    quasi = [column.name for column in table.quasi]
    recoding = gh.Angel(k=2, marginals=((*quasi, "sensitive"), (quasi[-1], "sensitive")))
    return recoding.recode(table, groups, buckets=recoding.buckets(table, gh.Mondrian().divide), source=draws)


def _everything(tables: Mapping[str, pa.Table]) -> Any:
    return tuple(
        (name, tuple(table.column_names), tuple(zip(*(column.to_pylist() for column in table.columns), strict=True)))
        for name, table in tables.items()
    )
