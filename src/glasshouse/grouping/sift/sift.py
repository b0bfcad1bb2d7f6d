# SPDX-License-Identifier: Apache-2.0
"""Sift: set aside what is too frequent, halve the others by quasi-identifiers, and deal out what cannot be halved.

A method of this project, for frequency l-diversity of one column. Nothing is ever tested: a node is halved only if its
histogram alone shows that every half of it is safe, for all assignments of values. So neither a cut nor a missing one
says anything about a person, and what an attacker believes depends on the few people of a group, whatever the attacker
knows beforehand about single people. Definition, theorem and proof are in the documentation, under "Sift".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines import Memory, Nodes
from glasshouse.engines.sorting import pieces_of_runs, share
from glasshouse.grouping.anatomize.anatomize import anatomize_segments
from glasshouse.grouping.method import Method, check_priority, chosen_blindly, frequency_ell
from glasshouse.grouping.mirror.halves import HalvedRows, alike_together, dims_of
from glasshouse.grouping.perimeter import multipliers, read_weights, weigh, weighted_places
from glasshouse.grouping.top.nodes import Bag, Halver, Node
from glasshouse.grouping.top.piece import bound_to, whole_piece
from glasshouse.grouping.top.plans import deal_piece, dealt_pieces
from glasshouse.grouping.transparent.packed_rows import packed_rows
from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.groups import Groups
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.perimeter import Weights
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws, Source

__all__ = ["Sift"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sift(Method):
    """Halve the table, and each half again, where no assignment of values could make a half unsafe.

    1. *Halving.* A node of n records whose most frequent value has at most ``n / (2 l)`` of them is halved along one
       attribute, at its median: every half of such a node is l-diverse. Of all attributes the one is taken whose halves
       have the least widths in all, weighted if there are ``weights``, then the first. Records with equal values
       are ordered by all quasi-identifiers.
    2. *Setting aside.* In other nodes some records are set aside first: as few as leave ``2 l K`` records in which no
       value occurs more than K times, while those set aside are l-diverse themselves. How many of each value is a
       function of the node's histogram; who of those with a value, a uniformly random choice. Those set aside are a
       leaf, and the others are halved.
    3. *Leaves*, which are what was set aside and what cannot be halved even so, are divided by `Anatomize` with varied
       sets of values.

    Parameters
    ----------
    priority
        The quasi-identifiers that may be halved, the first of them preferred where perimeters are equal; all of them if
        it is empty. It must not be chosen by looking at this table's sensitive values.
    weights
        How often questions ask about each quasi-identifier, as a number of at least 0, in any form that `Mirror` takes.
        The weights must be as public as ``priority``.

    Guarantee
    ---------
    Needs frequency l-diversity of one sensitive column. Holds against an *algorithm-aware* attacker, for every prior
    under which people are independent (Theorem S1): the tables that could have given the release are all ways to deal
    each group's values to its members, each as likely as it was before the release. Under the uniform prior no
    probability is above 1/l; for an attacker to whom a value is up to d times as likely for one person as for another,
    compared with any other value, it is at most ``d / (l - 1 + d)``.

    Cost
    ----
    O(n d log n) time, and memory as `Mirror`.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = Sift().divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.sizes.tolist()
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "sift"
    in_words: ClassVar[str] = (
        "The table is halved, and each half again, as long as both halves satisfy the principle no matter which person "
        "has which value. Where a value is too frequent for this, some people are set aside first: which of the people "
        "with the same value are set aside is decided at random. They form groups that satisfy the principle, too."
    )
    randomised: ClassVar[bool] = True

    priority: tuple[str, ...] = ()
    weights: Weights = ()

    def independent(self, requirement: Requirement) -> Independent:
        """As in `Method.independent`: sensitive values matter only by histograms of unions of groups (Theorem S1)."""
        return "groups"

    def __post_init__(self) -> None:
        object.__setattr__(self, "priority", check_priority("Sift", self.priority))
        object.__setattr__(self, "weights", read_weights("Sift", self.weights))

    @property
    def by_counts(self) -> bool:
        """The top is divided as counts."""
        return True

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        frequency_ell(requirement, "Sift")
        return Claim(
            adversary=Adversary.ALGORITHM_AWARE,
            theorem=(
                "Theorem S1 of the method Sift: the table is cut only where every assignment of values to people would "
                "give safe parts. Everything else depends on counts and on random choices that ignore "
                "quasi-identifiers. So every assignment of a group's values to its people is equally probable"
            ),
            assumptions=chosen_blindly(self, "priority", "weights"),
        )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``, by random choices of ``source``."""
        ell, column = frequency_ell(requirement, "Sift")
        requirement.check_eligible()
        dims, by = dims_of(self.priority, table), multipliers(self.weights, [column.name for column in table.quasi])
        order = alike_together(table, source, engine)
        places = weigh(weighted_places(table), by, table)
        rows = HalvedRows(packed_rows(table, column, order), places, dims)
        leaves = _leaves(rows, ell, source.child("set aside"), engine)
        codes, numbers, offsets = rows.take(leaves)
        found = anatomize_segments(
            codes, offsets, rows.packed.n_values, ell, source.child("leaves"), engine, varied=True
        )
        labels = np.empty_like(found)
        labels[numbers] = found
        return Groups(labels, int(found.max()) + 1)

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Set aside and halve, as counts, until nodes are small; what is set aside is dealt out."""
        ell, column = frequency_ell(bound_to(requirement, kinds.table), "Sift")
        requirement.check_eligible()
        if kinds.n_people <= most:
            return [whole_piece(kinds)]
        table = kinds.table
        by = multipliers(self.weights, [quasi.name for quasi in table.quasi])
        halver = Halver(kinds, weigh(weighted_places(table), by, table), dims_of(self.priority, table))
        found: list[Piece] = []
        waiting = [Node((Bag(np.arange(len(kinds), dtype=np.int32), kinds.counts),))]
        while waiting:
            node = waiting.pop()
            if node.size <= most:
                found.append(node.piece("divide"))
                continue
            aside, rest = _set_aside(node.faces[0], column.codes, ell, source.child("set aside", *node.place))
            if aside.size:
                values = column.codes[aside.kinds]
                found += dealt_pieces(aside, values, ell, source, ("aside", *node.place), most, varied=True)
            if rest.size:
                waiting += halver.halve(replace(node, faces=(rest,)), source)[::-1]
        return found

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Sift the people of a piece, or deal them out."""
        people = piece.people(kinds)
        own = bound_to(requirement, people)
        if piece.task[0] == "divide":
            return self._divide(people, own, source, engine)
        _, column = frequency_ell(own, "Sift")
        return deal_piece(column.codes, column.domain.size, piece.task, source, engine)


def _set_aside(bag: Bag, codes: NDArray[np.int32], ell: int, source: Draws) -> tuple[Bag, Bag]:
    """Which records of a node are set aside and which are halved: by its histogram, and at random for each value.

    Everybody is set aside, which is to say dealt out, where nothing can be halved.
    """
    values = codes[bag.kinds]
    sizes = np.bincount(values, weights=bag.counts).astype(np.int64)
    there = np.flatnonzero(sizes)
    aside, rest = np.empty(len(there), np.int64), np.empty(1, np.int64)
    kernels = compiled("glasshouse.grouping.sift._kernels")
    kernels.plan_nodes(np.array([0, len(there)]), sizes[there], min(ell, bag.size), aside, rest)
    taken = np.zeros(len(sizes), np.int64)
    taken[there] = aside if rest[0] else sizes[there]
    return bag.drawn_by_value(values, taken, source)


def _leaves(rows: HalvedRows, ell: int, source: Draws, engine: Memory) -> Nodes:
    """Set aside and halve, level by level; the leaves, in the order in which they lie."""
    ell = min(ell, rows.packed.n_tuples)  # any larger l is as far out of reach, and products with it fit
    nodes = Nodes(np.array([0]), np.array([rows.packed.n_tuples]))
    leaves: list[Nodes] = []
    level = 0
    while len(nodes):
        offsets = np.append(np.cumsum(nodes.sizes) - nodes.sizes, nodes.sizes.sum())
        pieces = [(number, *piece) for number, piece in enumerate(pieces_of_runs(offsets))]
        draws = source.child("level", level)

        def sift(number: int, first: int, last: int, nodes: Nodes = nodes, draws: Draws = draws) -> tuple[Nodes, Nodes]:
            return _sifted(rows, nodes[first:last], ell, draws.child("piece", number))

        found = share(sift, pieces, engine)
        leaves += [done for _, done in found]
        nodes = Nodes.join([halves for halves, _ in found])
        level += 1
    joined = Nodes.join(leaves)
    return joined[np.argsort(joined.starts)]


def _sifted(rows: HalvedRows, nodes: Nodes, ell: int, source: Draws) -> tuple[Nodes, Nodes]:
    """Set aside what prevents a cut of each node, and halve the others: returns the halves, and the leaves."""
    kernels = compiled("glasshouse.grouping.sift._kernels")
    codes, _, offsets = rows.take(nodes)
    first, values, sizes = Counts(codes, offsets, rows.packed.n_values).histogram
    aside, rest = np.empty_like(sizes), np.empty(len(nodes), np.int64)
    kernels.plan_nodes(first, sizes, ell, aside, rest)
    if aside.any():
        starts = np.cumsum(sizes) - sizes
        bounds = np.empty(int(aside.sum()), np.int64)
        kernels.floyd_bounds(sizes, aside, bounds)
        marks = np.zeros(len(codes), np.uint8)
        kernels.mark(sizes, starts, aside, source.belows(bounds), marks)
        rows.part(kernels.part_nodes, nodes, first, values, starts, rest, marks)
    halved = rest > 0
    whole, borders = nodes[~halved], nodes.starts[halved] + rest[halved]
    inner = Nodes(nodes.starts[halved], borders)
    left = Nodes(borders, nodes.stops[halved])
    rows.halve(inner)
    middles = (inner.starts + inner.stops) // 2
    halves = Nodes(np.stack([inner.starts, middles], axis=1).ravel(), np.stack([middles, inner.stops], axis=1).ravel())
    return halves, Nodes.join([whole, left[left.sizes > 0]])
