# SPDX-License-Identifier: Apache-2.0
"""Boxes: every tuple shows its group's minimum bounding box in place of its quasi-identifiers (TRANSPARENT 2.1).

The published table is a function of the groups' quasi-identifiers and of the multiset of their sensitive values:
isomorphic groups give identical output (TRANSPARENT Definition 1). Rows are ordered by published content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from glasshouse.cells import interval, value_set, with_missing
from glasshouse.recoding.generalization import CellColumn, generalized_table, group_ranges, group_sets
from glasshouse.recoding.recoding import Recoding
from glasshouse.release.layout import BOXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from glasshouse.microdata import Column, Domain, Groups, Microdata
    from glasshouse.release.layout import Layout

__all__ = ["Boxes", "box_cells", "set_texts"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Boxes(Recoding):
    """Publish boxes: intervals of ordered attributes, sets of the values of unordered categories.

    Guarantee
    ---------
    Adds nothing to what the grouping guarantees and takes nothing away: members of a group are indistinguishable.

    Examples
    --------
    >>> import numpy as np
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.transparent_t1()
    >>> groups = Groups(np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32), 3)
    >>> published = Boxes().recode(table, groups)["data"]
    >>> published["Age"].unique().to_pylist()
    ['[21, 27]', '32', '[54, 60]']
    """

    name: ClassVar[str] = BOXES.name
    layout: ClassVar[Layout] = BOXES

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of an attribute means, for people who read the release."""
        shape = "an interval [low, high], both ends included," if domain.ordered else "a set {a, b}"
        gap = ", or missing" if domain.missing else ""
        return f"the value itself, or {shape} that contains it{gap}"

    def recode(self, table: Microdata, groups: Groups, **_unused: object) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table`` as one table of boxes; nothing is random."""
        cells = [box_cells(column, groups) for column in table.quasi]
        return {self.layout.people: generalized_table(table, groups, cells)}


def box_cells(column: Column, groups: Groups) -> CellColumn:
    """One attribute's cell for every group."""
    return _intervals(column, groups) if column.domain.ordered else _sets(column, groups)


def _intervals(column: Column, groups: Groups) -> CellColumn:
    values = column.domain.values.to_pylist()
    ranges = group_ranges(column, groups)
    texts = []
    for low, high, gap in zip(ranges.low.tolist(), ranges.high.tolist(), ranges.missing.tolist(), strict=True):
        cell = interval(values[low], values[high]) if low <= high else None
        texts.append(with_missing(cell) if gap else str(cell))
    return CellColumn(texts, ranges.of_group)


def _sets(column: Column, groups: Groups) -> CellColumn:
    sets, cell_of_group = group_sets(column, groups)
    return CellColumn(set_texts(column, sets), cell_of_group)


def set_texts(column: Column, sets: Sequence[tuple[int, ...]]) -> list[str]:
    """Sets of codes as cells."""
    values = column.domain.values.to_pylist()
    missing_code = column.domain.missing_code
    texts = []
    for codes in sets:
        present = [values[code] for code in codes if code != missing_code]
        cell = value_set(present) if present else None
        texts.append(str(cell) if len(present) == len(codes) else with_missing(cell))
    return texts
