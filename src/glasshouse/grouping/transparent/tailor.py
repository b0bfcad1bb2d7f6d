# SPDX-License-Identifier: Apache-2.0
"""Tailor: cut the table in two again and again where the parts' boxes are smallest, regardless of who has which value.

Xiao, Tao, Koudas, "Transparent Anonymization: Thwarting Adversaries Who Know the Algorithm", ACM TODS 35(2), 2010,
Section 3.1 (Definitions 9 and 10, Figure 3). Departures: without identifiers, ties go by all quasi-identifiers and then
by a secret order (`tie_order`); a table that is not l-eligible is refused (the figure returns the empty set).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.engines import Nodes, Rows
from glasshouse.grouping.perimeter import Places, weighted_places
from glasshouse.grouping.transparent.node_counts import cut_nodes, offsets_of, pieces_of_nodes
from glasshouse.grouping.transparent.packed_rows import PackedRows, Thresholds
from glasshouse.grouping.transparent.penalties import Custom, Discernibility, Judge, Penalty, Transparent, judged
from glasshouse.grouping.transparent.tie_order import ties_in_order
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Source

    # (members in tie order, least size of a part) -> (attribute, size of the left part)
    Chooser = Callable[[NDArray[np.int64], int], tuple[int, int]]

__all__ = ["Tailor", "tailor_leaves"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tailor(Transparent):
    """Divide top-down: as long as a group of m records is 2l-diverse, replace it by its canonical l-cut.

    With c the count of the group's most frequent sensitive value, an l-cut (Definition 9) sorts the group by one
    attribute (equal values in tie order) and takes the first k records, ``l c <= k <= m - l c``. The canonical one
    (Definition 10) has the least total penalty of both parts; ties go to the first attribute in order of ``quasi=``,
    then to the smaller left part. All comparisons are exact.

    Parameters
    ----------
    penalty
        What a group costs: ``"perimeter"`` (Eq. 4), ``"discernibility"``, or a custom function; for its requirements
        see `glasshouse.grouping.transparent.penalties.Custom`.

    Guarantee
    ---------
    Transparent l-diversity (TRANSPARENT Theorem 1, Lemma 3): even an attacker who knows this algorithm, its parameters
    and everyone's quasi-identifiers, and assumes all tables to be equally likely, gives no sensitive value of a person
    a probability above 1/l. The reason is that a cut depends on sensitive values through c alone, and whether a group
    is cut depends on the multiset of its values: any table with the same groups would have been divided alike. It does
    not protect against an attacker who knows other people's sensitive values.

    Cost
    ----
    A few passes a level over packed records, about log(n) levels on real tables: ten million records with four
    attributes take half to one and a half times as long as sorting ten million numbers. At worst (nearly every
    sensitive value unique, and cuts that take off a few records at a time) O(n^2 / l). Memory: 16 bytes a record for up
    to four attributes of up to 128 values, twice, of one piece at a time: nodes of more people are cut as counts, in
    O(p d^2 log p) for each node with p combinations of quasi-identifiers. With a custom function everybody is one
    piece, and the function is tried on every cut, O(d n^2) for each level: a thousand records with two attributes take
    half a second, two thousand four times as long.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t5()
    >>> groups = Tailor().divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.labels.tolist()
    [0, 0, 0, 0, 1, 1, 2, 2]
    """

    name: ClassVar[str] = "tailor"
    in_words: ClassVar[str] = (
        "The table is cut in two, and each part again, by a rule that uses how often sensitive values occur in a "
        "part, but not which person has which value."
    )

    by_multisets: ClassVar[bool] = True
    theorem: ClassVar[str] = (
        "TRANSPARENT Theorem 1: every table with the same sensitive values in each group would have been divided in "
        "the same way"
    )

    def _divided(
        self,
        table: Microdata,
        ell: int,
        column: Column,
        source: Source,
        engine: Memory,
        sections: NDArray[np.int32] | None = None,
    ) -> Groups:
        """Divide ``table`` by cuts, or each of its sections; without identifiers ``source`` breaks ties."""
        order = ties_in_order(table, source, engine, sections)
        nodes = None if sections is None else offsets_of(sections)
        if self.penalty == "perimeter" and (places := weighted_places(table)).fits:
            rows = PackedRows(table, column, order, places)
            return rows.groups(rows.divide(ell, engine, nodes))
        penalty = judged(self.penalty, table, "Tailor")
        placed, offsets = tailor_leaves(table, ell, column, order, engine, penalty=penalty, nodes=nodes)
        labels = np.empty(table.n_tuples, np.int32)
        labels[placed] = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
        return Groups(labels, len(offsets) - 1)

    def _pieces(self, kinds: Kinds, ell: int, column: Column, source: Source, most: int) -> list[Piece]:
        """Cut kinds, as counts, until nodes are small; a large node that is not 2l-diverse is a group."""
        nodes = cut_nodes(kinds, column.codes, ell, source, most, halves=isinstance(self.penalty, Discernibility))
        return [
            replace(piece, groups=np.zeros(len(piece.kinds), np.int32)) if piece.task[0] == "whole" else piece
            for piece in pieces_of_nodes(nodes, most)
        ]


def tailor_leaves(
    table: Microdata,
    ell: int,
    column: Column,
    order: NDArray[np.int32],
    engine: Memory,
    *,
    penalty: Penalty | Judge | None = None,
    thresholds: Thresholds | None = None,
    nodes: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Divide a table as Tailor does: rows of the table leaf after leaf, and where each leaf starts.

    The table is l-eligible in ``column``, and ``order`` has its records (row numbers) in tie order, in which they stay
    inside each leaf. It begins as one node, or as those that start at ``nodes`` in ``order``, whose last entry is where
    they end; each of them is l-eligible then. The penalty is as `judged` prepares it; None stands for the perimeter.
    There is one more offset than there are leaves. No choice of ``thresholds`` changes a cut.
    """
    if nodes is None:
        nodes = np.array([0, len(order)])
    if isinstance(penalty, Discernibility):
        return _halves(table, ell, column, order, engine, nodes)
    assert not isinstance(penalty, Custom), "a function needs a judge"
    if isinstance(penalty, Judge):
        codes = [attribute[order] for attribute in penalty.codes]
        return _leaves(codes, ell, column, order, nodes, partial(_cut_by_judge, penalty, order))
    places = weighted_places(table)
    if places.fits:
        rows = PackedRows(table, column, order, places, thresholds)
        offsets = rows.divide(ell, engine, nodes)
        return rows.placed(), offsets
    codes = [attribute.codes[order] for attribute in table.quasi]
    return _leaves(codes, ell, column, order, nodes, partial(_cut_by_wide_places, codes, places, _shares(places)))


def _halves(
    table: Microdata,
    ell: int,
    column: Column,
    order: NDArray[np.int32],
    engine: Memory,
    begun: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Tailor under discernibility: ``k^2 + (m - k)^2`` is least at the middle, which every 2l-diverse group allows."""
    rows = Rows(table, [column], order)

    def step(nodes: Nodes) -> tuple[Nodes, Nodes]:
        offsets = np.concatenate([[0], np.cumsum(nodes.sizes)])
        where = np.arange(offsets[-1]) + np.repeat(nodes.starts - offsets[:-1], nodes.sizes)
        largest = Counts(rows.sensitive[0][where], offsets, rows.n_values[0]).largest
        able = nodes.sizes >= 2 * ell * largest
        if not able.any():
            return nodes[able], nodes
        cuts = rows.half_cuts(nodes[able], np.zeros(int(able.sum()), np.intp))
        return rows.split(nodes[able], cuts), nodes[~able]

    leaves = engine.visit(Nodes(begun[:-1], begun[1:]), step)
    return rows.index, np.append(np.sort(leaves.starts), rows.n_tuples)


def _leaves(
    codes: list[NDArray[np.int32]],
    ell: int,
    column: Column,
    order: NDArray[np.int32],
    nodes: NDArray[np.int64],
    choose: Chooser,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Figure 3, node by node, for cuts that no kernel finds; ``codes`` are in tie order."""
    sensitive = column.codes[order]
    waiting, leaves = [np.arange(a, b) for a, b in pairwise(nodes.tolist())][::-1], []
    while waiting:
        members = waiting.pop()
        least = ell * int(np.bincount(sensitive[members]).max(initial=0))
        if len(members) < 2 * least:
            leaves.append(members)
            continue
        dim, k = choose(members, least)
        by_value = np.argsort(codes[dim][members], kind="stable")
        waiting += [members[np.sort(by_value[k:])], members[np.sort(by_value[:k])]]
    offsets = np.concatenate([[0], np.cumsum([len(leaf) for leaf in leaves])])
    return order[np.concatenate(leaves)], offsets


def _cut_by_judge(judge: Judge, order: NDArray[np.int32], members: NDArray[np.int64], least: int) -> tuple[int, int]:
    """The canonical cut under a custom penalty: that of a bucket with one column."""
    return judge.cheapest(order[members][np.newaxis], least)


def _cut_by_wide_places(
    codes: list[NDArray[np.int32]],
    places: Places,
    shares: list[NDArray[np.float64]],
    members: NDArray[np.int64],
    least: int,
) -> tuple[int, int]:
    """The canonical cut if perimeters do not fit into 64 bits: candidates from floats, decided in whole numbers.

    The float cost of a cut is off by less than ``m (d + 4)^2 2^-52``, so every cut within twice that of the cheapest
    one may be the true one, and no other.
    """
    m = len(members)
    k = np.arange(least, m - least + 1)
    slack = m * (len(codes) + 4) ** 2 * 2.0**-50
    near: list[tuple[float, int, NDArray[np.int64]]] = []
    for dim in range(len(codes)):
        costs = _costs(codes, shares, members, dim, k)
        least_cost = float(costs.min())
        near.append((least_cost, dim, k[costs <= least_cost + slack]))
    threshold = min(cost for cost, _, _ in near) + slack
    best: list[tuple[int, int, int]] = []
    for cost, dim, sizes in near:
        if cost <= threshold:
            exact = _costs(codes, places.tables, members, dim, sizes)
            at = int(np.argmin(exact))
            best.append((int(exact[at]), dim, int(sizes[at])))
    _, dim, size = min(best)
    return dim, size


def _costs(
    codes: list[NDArray[np.int32]], places: Any, members: NDArray[np.int64], dim: int, k: NDArray[np.int64]
) -> NDArray[Any]:
    """The cost of the cuts on ``dim`` with ``k`` records on the left, in the arithmetic of ``places``."""
    ordered = members[np.argsort(codes[dim][members], kind="stable")]
    before: Any = 0
    after: Any = 0
    for column, table in zip(codes, places, strict=True):
        x = column[ordered]
        before = before + (table[np.maximum.accumulate(x)[k - 1]] - table[np.minimum.accumulate(x)[k - 1]])
        x = x[::-1]
        rest = len(x) - k - 1
        after = after + (table[np.maximum.accumulate(x)[rest]] - table[np.minimum.accumulate(x)[rest]])
    costs: NDArray[Any] = k * before + (len(members) - k) * after
    return costs


def _shares(places: Places) -> list[NDArray[np.float64]]:
    """Places as correctly rounded shares of the length that all attributes span."""
    length = max(int(table.max(initial=0)) for table in places.tables) or 1
    return [np.array([int(place) / length for place in table]) for table in places.tables]
