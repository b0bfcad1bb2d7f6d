# SPDX-License-Identifier: Apache-2.0
"""Generalization: every record shows a cell of its group in place of each quasi-identifier.

`Boxes` shows the group's minimum bounding box (TRANSPARENT 2.1), `Taxonomies` the lowest node of a taxonomy that covers
the whole group. Cells per group in, one published table out, a function of the groups' quasi-identifiers and of the
multiset of their sensitive values: isomorphic groups give identical output (TRANSPARENT Definition 1). Rows are ordered
by published content only. They are not moved: groups with equal cells are put together, and their sensitive values are
sorted. So nothing of the input's order, nor of the groups' numbering, can survive.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from glasshouse.cells import interval, label, quoted, value_set, with_missing
from glasshouse.errors import NotSupported
from glasshouse.kernels import compiled
from glasshouse.recoding.recoding import Recoding
from glasshouse.release.layout import BOXES, COUNT, PART_ROWS, TAXONOMIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Domain, Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.recoding.parts.table_in_parts import TableInParts
    from glasshouse.release.layout import Layout

__all__ = [
    "Boxes",
    "CellColumn",
    "Ranges",
    "Taxonomies",
    "ValueColumn",
    "box_cells",
    "generalized_table",
    "group_ranges",
    "group_sets",
    "interval_texts",
    "node_texts",
    "numbered",
    "order_by_box",
    "published_values",
    "sensitive_tables",
    "set_texts",
]


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
    in_words: ClassVar[str] = (
        "The quasi-identifiers of each person are replaced by the range, or the set, of the values in the person's "
        "group. The sensitive values are in the same rows."
    )
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

    def in_parts(self, kinds: Kinds, *, part_rows: int = PART_ROWS, **_unused: object) -> tuple[TableInParts, ...]:
        """One table of boxes, in parts."""
        return (_in_parts(self, kinds, part_rows),)


def box_cells(column: Column, groups: Groups) -> CellColumn:
    """One attribute's cell for every group."""
    return _intervals(column, groups) if column.domain.ordered else _sets(column, groups)


def _intervals(column: Column, groups: Groups) -> CellColumn:
    ranges = group_ranges(column, groups)
    return CellColumn(interval_texts(column.domain, ranges.low, ranges.high, ranges.missing), ranges.of_group)


def interval_texts(
    domain: Domain, lows: NDArray[np.int64], highs: NDArray[np.int64], missing: NDArray[np.int64]
) -> list[str]:
    """Ranges of codes as cells; where ``low > high`` there is no code."""
    values = domain.values.to_pylist()
    texts = []
    for low, high, gap in zip(lows.tolist(), highs.tolist(), missing.tolist(), strict=True):
        cell = interval(values[low], values[high]) if low <= high else None
        texts.append(with_missing(cell) if gap else str(cell))
    return texts


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
    in_words: ClassVar[str] = (
        "The quasi-identifiers of each person are replaced by the node of a taxonomy that covers the person's group. "
        "The sensitive values are in the same rows."
    )
    layout: ClassVar[Layout] = TAXONOMIES

    @property
    def shows_nodes(self) -> bool:
        """True: cells are nodes of taxonomies."""
        return True

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Refuse a table without any taxonomy."""
        if all(column.domain.taxonomy is None for column in table.quasi):
            raise NotSupported(
                "the recoding 'taxonomies' needs a table with taxonomies",
                instead="read the table with taxonomies (taxonomies=), or use the recoding 'boxes'",
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

    def in_parts(self, kinds: Kinds, *, part_rows: int = PART_ROWS, **_unused: object) -> tuple[TableInParts, ...]:
        """One table of taxonomy nodes, in parts."""
        return (_in_parts(self, kinds, part_rows),)


def _in_parts(recoding: Recoding, kinds: Kinds, part_rows: int) -> TableInParts:
    from glasshouse.recoding.parts.box_table import BoxTable

    return BoxTable.of(recoding.layout.people, kinds, nodes=recoding.shows_nodes, part_rows=part_rows)


def node_cells(column: Column, groups: Groups) -> CellColumn:
    """One attribute's cell for every group: the label of the lowest common ancestor of its values."""
    taxonomy = column.domain.taxonomy
    if taxonomy is None:
        return box_cells(column, groups)
    ranges = group_ranges(column, groups)
    known = ranges.low <= ranges.high
    nodes = np.full(len(known), -1, np.int64)
    nodes[known] = taxonomy.lca(ranges.low[known], ranges.high[known])
    leaves = np.where(ranges.low == ranges.high, ranges.low, -1)
    kinds, cell_of_range = np.unique(np.stack([nodes, leaves, ranges.missing], axis=1), axis=0, return_inverse=True)
    return CellColumn(node_texts(column.domain, *kinds.T), cell_of_range.reshape(-1).astype(np.int32)[ranges.of_group])


def node_texts(
    domain: Domain, nodes: NDArray[np.int64], leaves: NDArray[np.int64], missing: NDArray[np.int64]
) -> list[str]:
    """Nodes of a taxonomy as cells: -1 is no node; where one is a value, its code is given as the leaf, else -1."""
    assert domain.taxonomy is not None
    values = domain.values.to_pylist()
    texts = []
    for node, leaf, gap in zip(nodes.tolist(), leaves.tolist(), missing.tolist(), strict=True):
        cell = None if node < 0 else quoted(values[leaf]) if leaf >= 0 else label(domain.taxonomy.labels[node])
        texts.append(with_missing(cell) if gap else str(cell))
    return texts


_SHORT = 24  # the values of so few records are sorted by insertion
_SPARSE = 16  # with more possible values than so many for each record they are sorted by NumPy, else by counting


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of one attribute: distinct texts in their natural order, and which of them each group shows."""

    texts: Sequence[str]
    of_group: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ranges:
    """The different ranges of codes among groups, ascending, and which of them each group has (low > high: no code)."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    missing: NDArray[np.int64]  # whether a value is missing: 0 or 1
    of_group: NDArray[np.int32]


def group_ranges(column: Column, groups: Groups) -> Ranges:
    """Smallest and largest code of every group, and whether a value is missing in it."""
    ends = np.empty((groups.n_groups, 2), np.int32)
    missing = np.zeros(groups.n_groups, np.uint8)
    past = column.domain.missing_code if column.domain.missing else column.domain.size
    _kernels().label_ranges(groups.labels, column.codes, past, ends, missing)
    keys = ends[:, 0] * np.int64(past + 1)
    keys += ends[:, 1]
    keys += 1
    keys *= 2
    keys += missing
    distinct, of_group = numbered(keys, 2 * (past + 1) ** 2)
    low, high = np.divmod(distinct // 2, past + 1)
    return Ranges(low, high - 1, distinct % 2, of_group)


def numbered(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Number the keys that occur in their order: the keys, all below ``n_keys``, and the number of each item's key.

    >>> keys, numbers = numbered(np.array([7, 3, 7]), 8)
    >>> keys.tolist(), numbers.tolist()
    ([3, 7], [1, 0, 1])
    """
    if n_keys > 4 * len(keys) + 1024:  # few keys of many: sorting them is cheaper than a place for each
        distinct, number = np.unique(keys, return_inverse=True)
        return distinct, number.astype(np.int32)
    occurs = np.zeros(n_keys, bool)
    occurs[keys] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[keys]


def group_sets(column: Column, groups: Groups) -> tuple[list[tuple[int, ...]], NDArray[np.int32]]:
    """The set of codes of every group: distinct sets in order, and which of them each group has."""
    offsets, codes, _ = groups.counts(column).histogram
    packed = codes.tobytes()
    width = codes.itemsize
    bounds = (offsets * width).tolist()
    keys = [packed[a:b] for a, b in itertools.pairwise(bounds)]
    sets = sorted((tuple(np.frombuffer(key, np.int32).tolist()), key) for key in set(keys))
    rank = {key: i for i, (_, key) in enumerate(sets)}
    return [codes_ for codes_, _ in sets], np.fromiter((rank[key] for key in keys), np.int32, len(keys))


def generalized_table(table: Microdata, groups: Groups, cells: Sequence[CellColumn]) -> pa.Table:
    """Write the published table: a row per published record, sorted by cells, then by sensitive values."""
    by_box, is_first = order_by_box(cells)
    starts = np.append(0, np.cumsum(groups.sizes[by_box]))
    joint, combinations = _joint_codes(table.sensitive, table.n_tuples)

    # every published record's (combination of) sensitive value, box after box, ascending in each
    places = np.empty(groups.n_groups, np.int64)
    places[by_box] = starts[:-1]
    shown = np.empty(int(starts[-1]), np.int32)
    compiled("glasshouse.microdata._counting_kernels").gather_codes(groups.labels, joint, places, shown)
    boxes = np.append(starts[:-1][is_first], starts[-1])
    _sort_runs(shown, boxes, len(combinations))

    columns: dict[str, pa.Array] = {}
    sizes, examples = np.diff(boxes), by_box[is_first]
    for column, cell in zip(table.quasi, cells, strict=True):
        columns[column.name] = _dictionary(np.repeat(cell.of_group[examples], sizes), cell.texts)
    for i, column in enumerate(table.sensitive):
        codes = shown if len(table.sensitive) == 1 else combinations[:, i][shown]
        columns[column.name] = published_values(column, codes)
    return pa.table(columns)


def _sort_runs(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_codes: int,
    *,
    short: int = _SHORT,
    sparse: int = _SPARSE,
) -> None:
    """Sort every run of codes in place, in the way that is cheapest for its length."""
    _kernels().sort_runs(codes, offsets, short, sparse, np.zeros(n_codes, np.int64))
    lengths = np.diff(offsets)
    for run in np.flatnonzero((lengths > short) & (lengths * sparse < n_codes)):
        codes[offsets[run] : offsets[run + 1]].sort()


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """The form of a published column: text as a dictionary of the values that occur, anything else as it is.

    Text of which somebody's is missing is published as it is too.
    """

    domain: Domain
    dictionary: pa.Array | None  # the values that occur, if they are published as a dictionary
    rank: NDArray[np.int32]  # the place of each code in it

    @classmethod
    def of(cls, domain: Domain, codes: NDArray[np.int32]) -> ValueColumn:
        """The form in which all values that occur among ``codes`` are published.

        >>> from glasshouse.microdata.domains import code
        >>> column = code(pa.array(["a", "b", "c"]), name="letter")
        >>> shown = ValueColumn.of(column.domain, column.codes[[0, 2]])
        >>> shown.array(np.array([2, 0], np.int32)).dictionary.to_pylist()
        ['a', 'c']
        """
        few = len(codes) < domain.size
        present = np.unique(codes) if few else np.flatnonzero(np.bincount(codes, minlength=domain.size))
        gaps = domain.missing and len(present) > 0 and bool(present[-1] == domain.missing_code)
        rank = np.zeros(domain.size, np.int32)
        if gaps or not pa.types.is_string(domain.values.type):
            return cls(domain, None, rank)
        rank[present] = np.arange(len(present), dtype=np.int32)
        return cls(domain, pa.array(domain.values.take(pa.array(present)), pa.string()), rank)

    def array(self, codes: NDArray[np.int32]) -> pa.Array:
        """The values of some codes."""
        if self.dictionary is None:
            return self.domain.decode(codes)
        return pa.DictionaryArray.from_arrays(pa.array(self.rank[codes]), self.dictionary)


def published_values(column: Column, codes: NDArray[np.int32]) -> pa.Array:
    """Values of a published column: text as a dictionary of the values that occur, anything else as it is."""
    return ValueColumn.of(column.domain, codes).array(codes)


def sensitive_tables(columns: Sequence[Column], groups: Groups, layout: Layout) -> dict[str, pa.Table]:
    """How often each sensitive value occurs in each group, a table for each column: ANATOMY's ST, ANGEL's BT."""
    published = {}
    for i, column in enumerate(columns, 1):
        offsets, values, counts = groups.counts(column).histogram
        published[layout.counted_table(i, len(columns))] = pa.table(
            {
                str(layout.number): np.repeat(np.arange(1, groups.n_groups + 1, dtype=np.int32), np.diff(offsets)),
                column.name: published_values(column, values),
                COUNT: counts.astype(np.int32),
            }
        )
    return published


def _dictionary(indices: NDArray[np.int32], texts: Sequence[str] | pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(texts, pa.string()))


def order_by_box(cells: Sequence[CellColumn]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Give the groups in the order of their cells, and which of them are the first with theirs."""
    # of at most 16 bits where that does: NumPy sorts those by radix
    keys = [cell.of_group.astype(np.min_scalar_type(len(cell.texts)), copy=False) for cell in cells]
    order = np.lexsort(keys[::-1])
    is_first = np.zeros(len(order), bool)
    is_first[:1] = True
    for key in keys:
        in_order = key[order]
        is_first[1:] |= in_order[1:] != in_order[:-1]
    return order, is_first


def _joint_codes(sensitive: Sequence[Column], n_tuples: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One code per record for the combination of its sensitive values, in their order; and each combination's codes."""
    if len(sensitive) == 1:
        return sensitive[0].codes, np.arange(sensitive[0].domain.size, dtype=np.int32)[:, np.newaxis]
    if not sensitive:
        return np.zeros(n_tuples, np.int32), np.empty((1, 0), np.int32)
    matrix = np.stack([column.codes for column in sensitive], axis=1)
    combinations, joint = np.unique(matrix, axis=0, return_inverse=True)
    return joint.reshape(-1).astype(np.int32), combinations


def _kernels() -> Any:
    return compiled("glasshouse.recoding._kernels")
