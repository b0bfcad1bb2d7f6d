# SPDX-License-Identifier: Apache-2.0
"""Taxonomies: every tuple shows, per attribute, the lowest node of its taxonomy that covers its whole group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.cells import label, quoted, with_missing
from glasshouse.errors import NotSupported
from glasshouse.recoding.boxes import Boxes, box_cells
from glasshouse.recoding.generalization import CellColumn, generalized_table, group_ranges
from glasshouse.recoding.recoding import Recoding
from glasshouse.release.layout import TAXONOMIES

if TYPE_CHECKING:
    import pyarrow as pa

    from glasshouse.microdata import Column, Domain, Groups, Microdata
    from glasshouse.principles import Requirement
    from glasshouse.release.layout import Layout

__all__ = ["Taxonomies"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Taxonomies(Recoding):
    """Publish taxonomy nodes (lowest common ancestors); attributes without a taxonomy are published as boxes.

    Guarantee
    ---------
    Members of a group are indistinguishable, as with boxes. A node shows no more than the smallest box around it, and
    its label never depends on which of its leaves the group has.

    Examples
    --------
    >>> import glasshouse as gh
    >>> diseases = {"illness": {"lungs": ["flu", "asthma"], "stomach": ["ulcer"]}}
    >>> table = gh.read({"was": ["flu", "asthma", "ulcer"], "now": ["x", "y", "x"]}, quasi=["was"], sensitive="now",
    ...                 taxonomies={"was": gh.Taxonomy.from_nested(diseases)})
    >>> Taxonomies().recode(table, gh.Groups(np.array([0, 0, 1], np.int32), 2))["data"]["was"].to_pylist()
    ['lungs', 'lungs', 'ulcer']
    """

    name: ClassVar[str] = TAXONOMIES.name
    layout: ClassVar[Layout] = TAXONOMIES

    @property
    def shows_nodes(self) -> bool:
        """Cells are nodes."""
        return True

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Refuse a table without any taxonomy."""
        if all(column.domain.taxonomy is None for column in table.quasi):
            raise NotSupported(
                "recoding by taxonomies of a table without any",
                instead="give taxonomies= when reading the table, or use the recoding 'boxes'",
            )

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of an attribute means, for people who read the release."""
        if domain.taxonomy is None:
            return Boxes().meaning(domain)
        gap = ", or missing" if domain.missing else ""
        return f"the value itself, or a node of the attribute's taxonomy that covers it{gap}"

    def recode(self, table: Microdata, groups: Groups, **_unused: object) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table`` as one table of taxonomy nodes; nothing is random."""
        cells = [node_cells(column, groups) for column in table.quasi]
        return {self.layout.people: generalized_table(table, groups, cells)}


def node_cells(column: Column, groups: Groups) -> CellColumn:
    """One attribute's cell for every group: the label of the lowest common ancestor of its values."""
    taxonomy = column.domain.taxonomy
    if taxonomy is None:
        return box_cells(column, groups)
    values = column.domain.values.to_pylist()
    ranges = group_ranges(column, groups)
    known = ranges.low <= ranges.high
    nodes = np.full(len(known), -1, np.int64)
    nodes[known] = taxonomy.lca(ranges.low[known], ranges.high[known])
    leaves = np.where(ranges.low == ranges.high, ranges.low, -1)
    kinds, cell_of_range = np.unique(np.stack([nodes, leaves, ranges.missing], axis=1), axis=0, return_inverse=True)
    texts = []
    for node, leaf, gap in kinds.tolist():
        cell = None if node < 0 else quoted(values[leaf]) if leaf >= 0 else label(taxonomy.labels[node])
        texts.append(with_missing(cell) if gap else str(cell))
    return CellColumn(texts, cell_of_range.reshape(-1).astype(np.int32)[ranges.of_group])
