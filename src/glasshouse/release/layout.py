# SPDX-License-Identifier: Apache-2.0
"""Layout: the tables and columns that a recoding publishes, and how their numbers must match.

This is the one home of the names of the published format. A recoding declares its layout, and writes tables by it;
readers find the layout by the name of the recoding, and look for tables, groups and counts by it. A package that says
one thing and holds another is refused before anybody looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.compute as pc

from glasshouse.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.release.release import Recipe

__all__ = [
    "ANATOMY",
    "ANGEL",
    "BATCH",
    "BOXES",
    "COUNT",
    "COUNTS",
    "DATA",
    "EDITION",
    "FOREIGN",
    "GROUP",
    "LAYOUTS",
    "LEFT",
    "NUMBERS",
    "PART_ROWS",
    "PERMUTATION",
    "PERTURBED",
    "SIZE",
    "TAXONOMIES",
    "Layout",
    "layout_of",
]

GROUP: Final = "Group-ID"
BATCH: Final = "Batch-ID"
COUNT: Final = "Count"
SIZE: Final = "G"
DATA: Final = "data"
EDITION: Final = "edition"
LEFT: Final = "left"
"""The table of people who have left, and its column that tells when; `EDITION` tells when they came."""

PART_ROWS: Final = 1 << 21
"""A table of more rows is written in several parts."""

NUMBERS: Final = (GROUP, BATCH)
"""Columns that number groups: 1, 2, 3, ..."""

COUNTS: Final = (COUNT, SIZE)
"Columns that count records; the counts of a table add up to all records."


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The form of a recoding's release."""

    name: str  # what recipes call the recoding
    kind: str  # how its tables are read: ``boxes``, ``anatomy``, ``permutation``, ``angel`` or ``sample``
    number: str | None = None  # the column that numbers the groups, if there is one
    size: str | None = None  # the column with the sizes of groups of which one record is published, if there is one
    # people, counted: the table of quasi-identifiers; and that which counts sensitive values, where they are published
    # apart
    people: str = DATA
    counted: str | None = None
    exact: bool = False  # whether the cells of quasi-identifiers are the values themselves
    # whether cells enclose whole groups, so that a method does well to keep groups close together
    around_groups: bool = True
    columns_apart: bool = False  # whether nothing tells how the sensitive columns of a group go together
    whole: bool = True  # whether the one table of quasi-identifiers has all of them
    meaning: str = (
        "The list below says what each column means."  # how its tables are to be read, for the README of a release
    )

    @property
    def side_by_side(self) -> bool:
        """Whether a row has all sensitive values of one person, as they are."""
        return not self.columns_apart and self.size is None

    def people_table(self, i: int) -> str:
        """The name of the i-th table of quasi-identifiers, counted from 1."""
        return self.people if i == 1 else f"{self.people}_{i}"

    def counted_table(self, i: int, n: int) -> str:
        """The name of the table that counts the i-th of n sensitive columns, counted from 1."""
        assert self.counted is not None
        return self.counted if n == 1 else f"{self.counted}_{i}"

    def check(self, tables: Mapping[str, pa.Table], recipe: Recipe) -> None:
        """Raise `SourceError` unless the tables have the form that the recoding publishes."""
        if self.counted is None:
            self._check_single(tables, recipe)
        elif recipe.sensitive:
            self._check_apart(tables, recipe)
        else:
            raise _unknown()

    def _check_single(self, tables: Mapping[str, pa.Table], recipe: Recipe) -> None:
        found = [table.column_names for table in tables.values()]
        added = [name for name in (self.number, self.size) if name is not None]
        if [sorted(names) for names in found] != [sorted((*recipe.quasi, *recipe.sensitive, *added))]:
            raise _refusal("it does not have the one table that its recoding publishes")
        if self.number is not None:
            (table,) = tables.values()
            _sizes(table[self.number])

    def _check_apart(self, tables: Mapping[str, pa.Table], recipe: Recipe) -> None:
        """Check that each sensitive column has its table, and that all tables with groups have the same groups."""
        number = str(self.number)
        counted = [table for table in tables.values() if COUNT in table.column_names]
        others = [table for table in tables.values() if COUNT not in table.column_names]
        columns = sorted(table.column_names for table in counted)
        if columns != sorted([number, name, COUNT] for name in recipe.sensitive):
            raise _refusal("it does not have a table that counts each sensitive column")
        linked = [table for table in others if number in table.column_names]
        for table in others:
            names = [name for name in table.column_names if name != number]
            if not names or not set(names) <= set(recipe.quasi) or (self.whole and len(names) < len(recipe.quasi)):
                raise _refusal("it has a table that its recoding does not publish")
        if not linked or (self.whole and len(others) != 1):
            raise _refusal("it does not have the tables that its recoding publishes")
        sizes = [_sizes(table[number], table[COUNT]) for table in counted]
        sizes += [_sizes(table[number]) for table in linked]
        if not all(np.array_equal(sizes[0], other) for other in sizes[1:]):
            raise _refusal("its tables do not have the same groups")


_COARSE: Final = (
    "Each row is one person. The sensitive values are unchanged. The quasi-identifiers are made coarser, in the same "
    "way for the whole group of the person: all rows with the same cells are one group, and the release does not show "
    "which row belongs to which person of the group."
)
BOXES: Final = Layout(name="boxes", kind="boxes", meaning=_COARSE)
TAXONOMIES: Final = Layout(name="taxonomies", kind="boxes", meaning=_COARSE)
FOREIGN: Final = Layout(name="foreign", kind="boxes")
"""A table that another tool published."""
PERMUTATION: Final = Layout(
    name="permutation",
    kind="permutation",
    number=GROUP,
    exact=True,
    around_groups=False,
    columns_apart=True,
    meaning="The sensitive value in a row need not belong to the person of the row. All quasi-identifiers and all "
    "sensitive values are exact, but within each group (the rows with the same Group-ID) the sensitive values "
    "were shuffled at random. So count the values of a whole group.",
)
PERTURBED: Final = Layout(
    name="perturbed",
    kind="sample",
    size=SIZE,
    meaning=(
        "Each row represents a group of people. The column G says how many people the group has, and one of them was "
        "chosen at random. The description of the sensitive column gives the probability with which that person's true "
        "value was kept; otherwise the value in the row is a random one (which may happen to be the true one). So do "
        "not read a row as a fact about a person: a sensitive value may even look impossible beside its "
        "quasi-identifiers."
    ),
)
ANATOMY: Final = Layout(
    name="anatomy",
    kind="anatomy",
    number=GROUP,
    people="qit",
    counted="st",
    exact=True,
    around_groups=False,
    columns_apart=True,
    meaning="The quasi-identifiers are exact, with one row for each person and the number of the person's group. The "
    "sensitive values are in a table of their own, which counts them for each group. The release does not say "
    "which person of a group has which value: in a group of ten people, a value that occurs twice belongs to "
    "each of them with probability 2/10.",
)
ANGEL: Final = Layout(
    name="angel",
    kind="angel",
    number=BATCH,
    people="gt",
    counted="bt",
    around_groups=False,
    columns_apart=True,
    whole=False,
    meaning="The table `bt` counts the sensitive values of each batch, which is a group of people. Each table `gt`, "
    "`gt_2`, ... has one row for each person, with coarser quasi-identifiers and, if the table can be combined "
    "with sensitive values, the number of the person's batch. The release does not say which person of a batch "
    "has which of its values.",
)

LAYOUTS: Final[Mapping[str, Layout]] = {
    each.name: each for each in list(globals().values()) if isinstance(each, Layout)
}
"""Every layout above, by the name of its recoding."""


def layout_of(recipe: Recipe) -> Layout:
    """The layout of a release by its recipe; `SourceError` where this version knows no such recoding."""
    layout = LAYOUTS.get(str(recipe.recoding.get("name")))
    if layout is None:
        raise _unknown()
    return layout


def _sizes(numbers: pa.ChunkedArray, counts: pa.ChunkedArray | None = None) -> NDArray[np.int64]:
    """Records of the groups 1, 2, 3, ..., none of which is empty."""
    n_groups = int(pc.max(numbers).as_py() or 0)
    sizes = np.zeros(n_groups, np.int64)
    start = 0
    for chunk in numbers.chunks:  # a part of a table at a time, so that nothing of the size of all rows is made
        of_row = np.asarray(chunk).astype(np.int64) - 1
        weights = None if counts is None else np.asarray(counts.slice(start, len(of_row)))
        low = int(of_row.min(initial=n_groups))
        found = np.bincount(of_row - low, weights)  # exact below 2^53
        sizes[low : low + len(found)] += found.astype(np.int64)
        start += len(of_row)
    if not sizes.all():
        raise _refusal("its groups are not numbered 1, 2, 3 and so on")
    return sizes


def _unknown() -> SourceError:
    return SourceError(
        "this version of Glasshouse does not know the recoding of this release: install a newer version", advised=True
    )


def _refusal(reason: str) -> SourceError:
    return SourceError(f"this release is damaged or was changed: {reason}")
