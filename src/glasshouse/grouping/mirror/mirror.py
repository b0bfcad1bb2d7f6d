# SPDX-License-Identifier: Apache-2.0
"""Mirror: halve the table again and again while both halves are safe; a failed test does not say which half failed.

A method of this project, for any principle. A node's candidate split is chosen by quasi-identifiers alone, into halves
of exactly equal size. To exchange the values of the two halves of a node that stayed whole gives a table that
would have stayed whole too: so knowing the algorithm is no help (Theorem M1). A further candidate takes half of either
half, and keeps this symmetry. Under frequency l-diversity leaves are divided further, down to l or 2 l records, in a
way that keeps it too (Theorem M2). Definition, theorems and proofs are in the documentation, under "Mirror".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.engines import Memory, Nodes
from glasshouse.errors import ParameterError
from glasshouse.grouping.anatomize.anatomize import anatomize_segments, labelled_segments
from glasshouse.grouping.anatomize.slots import hand_out
from glasshouse.grouping.method import Method, check_priority, chosen_blindly, least_size, quasi_claim
from glasshouse.grouping.mirror.halves import (
    Block,
    HalvedRows,
    PartedRows,
    alike_together,
    blocks_by_size,
    dims_of,
    parted_in_blocks,
    shape_of,
)
from glasshouse.grouping.perimeter import multipliers, read_weights, weigh, weighted_places
from glasshouse.grouping.top.nodes import Bag, CountedBag, Halver, Node, histograms
from glasshouse.grouping.top.piece import bound_to, whole_piece
from glasshouse.grouping.top.plans import deal_piece, dealt_pieces
from glasshouse.grouping.transparent.ace import Buckets, ace_segments, sliced_segments
from glasshouse.grouping.transparent.packed_rows import packed_rows
from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.groups import Groups
from glasshouse.principles.parameters import Exact, fraction, in_percent, integer, plain
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.method import LeavesOut
    from glasshouse.grouping.mirror.halves import Parted
    from glasshouse.grouping.perimeter import Places, Weights
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.grouping.transparent.packed_rows import PackedRows
    from glasshouse.microdata import Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws, Source

__all__ = ["Mirror", "balanced_segments", "balanced_slices", "group_size"]

INNER = ("ace", "anatomize", "none")
LEFT_OUT = (
    "up to {share} of all people are left out, chosen at random, so that the rest can be divided evenly; nothing is "
    "published about the people who are left out. The choice reveals nothing about their values, unless the table is "
    "so close to breaking a principle that their values had an effect on how many people were left out"
)
_FINEST = 10**6  # of the slack: what it is multiplied by must fit into 64 bits


@dataclass(frozen=True, kw_only=True, slots=True)
class Mirror(Method):
    """Halve the table along one attribute, and each half again, as long as both halves satisfy the principle.

    1. *Sizes.* ``2^h k`` records are halved, with k at least ``floor`` and such that few are left over. The remainder
       is a uniformly random subset, drawn again until it and the rest obey the principle (and made larger if that does
       not come to an end), and is divided by the same method as a table of its own. Under several sensitive columns it
       is drawn once, and only if the principles hold for every part of its size and every rest. Otherwise a few people
       are left out by lot, before the table is divided; or there is no remainder, and nodes are as large as that makes
       them.
    2. *Halving.* A node of more than k records has one candidate: of the halvings along each attribute the one with the
       least total perimeter, weighted if there are ``weights``, then the first attribute. Records with equal values are
       ordered by all quasi-identifiers, so that those who are alike stay together. The halving is made if both halves
       obey.
    3. *Failures.* If not, every part of the node that earlier failures made, its *faces*, is parted in two, and the
       next candidate halves each of them: so either half takes as much from every face. After ``mirrors`` failures the
       node is a leaf. A node of k records is a leaf untested.
    4. *Leaves* are groups. Under frequency l-diversity of one column they are divided further. A node is then tested
       only if its own values leave room for it: if it is diverse enough for ``slack`` times l (and a whole table, or a
       remainder, for ``start`` times l). Untested leaves are divided by ``inner``. After its first failure a node is a
       leaf, and divided into groups that take half of their records from either half.

    Parameters
    ----------
    floor
        The least size of a node; by default l (2 l if l is odd) where leaves are divided further, else the least size
        that the principle names, or 8 if it names none. It is never less than the former. Larger nodes leave a smaller
        remainder.
    inner
        Under frequency l-diversity of one column, how untested leaves are divided: by ``anatomize``, or by ``ace``,
        whose groups lie close together and make smaller boxes, but do not protect against an attacker who knows a
        little about people; or ``none``, and all leaves are groups as they are. It is not used under other principles.
    slack
        Under frequency l-diversity of one column, how much more diverse than l a node must be to be tested, 1 or more.
        From 2 on no test can fail.
    start
        The same for the whole table and for a remainder: with less than this, they are not halved at all.
    mirrors
        Where leaves are groups, how many halvings of a node may fail before it is a leaf.
    leave_out
        Under several sensitive columns, the largest share of people who may be left out by lot, so that the others can
        be halved again and again. They are not published. With 0 nobody is left out, and groups may be much larger.
        With None a remainder is drawn until it obeys, as under a single column: groups are then smaller, and nothing is
        promised of what columns reveal together.
    priority
        The quasi-identifiers that may be halved, the first of them preferred where perimeters are equal; all of them if
        it is empty. It must not be chosen by looking at this table's sensitive values. Public knowledge and earlier
        releases are fine.
    weights
        How often questions ask about each quasi-identifier, as a number of at least 0: a mapping, pairs or a text
        (``"age:3,sex:1"``). The widths in perimeters are multiplied by these weights; attributes that are not named do
        not count, and if it is empty all count alike. The weights must be as public as ``priority``.

    Guarantee
    ---------
    Holds against an *algorithm-aware* attacker, under every principle. Where leaves are groups, the attacker's
    probabilities for a person are exactly the published shares of the person's group (Theorem M1), so that what the
    principle says about published shares is true of these probabilities. Where leaves are divided further no
    probability is above 1/l (Theorem M2). The attacker assumes all tables to be equally likely and knows nobody's
    value. Under several sensitive columns, where the principles say from which size on every group obeys, and where
    each column is published apart, the same holds if the attacker knows everybody's other sensitive columns, or how the
    columns go together (Theorem J1).

    Cost
    ----
    O(n d log n) time, and memory as `Hybrid`: ten million records with four attributes take about three times as long
    as sorting ten million numbers. Nodes are independent of each other, and use all threads.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = Mirror(floor=2).divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.sizes.tolist()
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "mirror"
    in_words: ClassVar[str] = (
        "The table is halved exactly, and each half again, as long as both halves satisfy the principle. Where a "
        "half would not satisfy it, each group takes the same number of people from both halves, so that nobody can "
        "tell which half it was."
    )
    randomised: ClassVar[bool] = True
    judges_only: ClassVar[bool] = True

    floor: int | None = None
    inner: str = "anatomize"
    slack: Exact = "1.2"
    start: Exact = "1.2"
    mirrors: int = 3
    leave_out: Exact | None = "0.01"
    priority: tuple[str, ...] = ()
    weights: Weights = ()

    def __post_init__(self) -> None:
        if self.floor is not None:
            object.__setattr__(self, "floor", integer("Mirror", "floor", self.floor, least=1))
        if self.inner not in INNER:
            raise ParameterError("Mirror", "inner", "'ace', 'anatomize' or 'none'", self.inner)
        for name in ("slack", "start"):
            share = fraction("Mirror", name, getattr(self, name), least=1)
            if max(share.numerator, share.denominator) > _FINEST:
                raise ParameterError("Mirror", name, "a number >= 1 with at most six digits", getattr(self, name))
            object.__setattr__(self, name, plain(share))
        object.__setattr__(self, "mirrors", integer("Mirror", "mirrors", self.mirrors, least=1))
        if self.leave_out is not None:
            share = fraction("Mirror", "leave_out", self.leave_out, least=0, below=1)
            object.__setattr__(self, "leave_out", plain(share))
        object.__setattr__(self, "priority", check_priority("Mirror", self.priority))
        object.__setattr__(self, "weights", read_weights("Mirror", self.weights))

    def independent(self, requirement: Requirement) -> Independent:
        """As in `Method.independent`: a failed test ties two halves; with a slack of 2 none can fail (Theorem M3)."""
        if not requirement.columns:
            return "groups"
        if self._ell(requirement) is None:
            return "faces"
        if self.inner != "anatomize":
            return "buckets"
        return "groups" if Fraction(self.slack) >= 2 else "half-groups"

    @property
    def by_counts(self) -> bool:
        """The top is divided as counts."""
        return True

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        assumptions = chosen_blindly(self, "priority", "weights")
        if not requirement.columns:
            return quasi_claim(assumptions)
        if self._ell(requirement) is None:
            jointly = self.jointly(requirement)
            return Claim(
                adversary=Adversary.ALGORITHM_AWARE,
                theorem=(
                    "Theorem M1 of the method Mirror: where a part was not divided, nobody can tell which of its two "
                    "halves was the reason, because exchanging the values of the halves would have led to the same "
                    "decision. So the attacker's probabilities for a person are exactly the published shares of the "
                    "person's group, which the principle limits"
                ),
                limits=(LEFT_OUT.format(share=in_percent(Fraction(self.leave_out or 0))),)
                if jointly and self.leaves_out == "by lot"
                else (),
                assumptions=assumptions,
                jointly=jointly,
            )
        inner = "MINIMALITY Claim 4" if self.inner == "anatomize" else "TRANSPARENT Theorem 2"
        return Claim(
            adversary=Adversary.ALGORITHM_AWARE,
            theorem=(
                "Theorem M2 of the method Mirror: where a part of the table could not be halved, each group in it "
                "takes half of its records from each half, so the groups do not show which half has which values. In "
                f"all other parts, the groups reveal nothing beyond their own values ({inner})"
            ),
            assumptions=assumptions,
        )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``, by random choices of ``source``."""
        requirement.check_eligible()
        order = alike_together(table, source, engine)
        blocks = [Block(part.order, k) for part, k in self._parted(PartedRows(order, requirement), requirement, source)]
        return self._halved(table, requirement, blocks, source, engine)

    def _parted(self, table: Parted, requirement: Requirement, source: Source) -> list[tuple[Any, int]]:
        """The blocks of a table, each with its k."""
        ell = self._ell(requirement)
        if ell is not None:  # failed leaves have 2 k tuples or more: whole groups
            worth = partial(_has_slack, ell, Fraction(self.start))
            return parted_in_blocks(table, max(self.floor or 0, group_size(ell)), group_size(ell) // 2, source, worth)
        if self.jointly(requirement):
            return blocks_by_size(table, self._least(requirement), source)
        return parted_in_blocks(table, self._least(requirement), 1, source)

    def _least(self, requirement: Requirement) -> int:
        """The least size of a node, where leaves are groups."""
        return self.floor or least_size(requirement)

    def jointly(self, requirement: Requirement) -> bool:
        """Whether groups depend on each sensitive column by itself (Theorem J1): where sizes can say what is safe."""
        return self.leave_out is not None and len(requirement.columns) > 1 and requirement.size_suffices

    @property
    def leaves_out(self) -> LeavesOut:
        """Who is left out: under several sensitive columns, people chosen by lot."""
        return "by lot" if Fraction(self.leave_out or 0) else "nobody"

    def n_by_lot(self, requirement: Requirement, enough: int, n: int) -> int:
        """The number that allows the others to be halved again and again, where that reveals nothing of anybody."""
        if not self.jointly(requirement):
            return 0
        floor = self._least(requirement)
        h, k = shape_of(n, floor, 1, max(floor, enough), int(n * Fraction(self.leave_out or 0)))
        over = n - (k << h)
        return over if over < max(floor, enough) else 0

    def _places(self, table: Microdata) -> Places:
        """The positions of the codes of quasi-identifiers."""
        by = multipliers(self.weights, [column.name for column in table.quasi])
        return weigh(weighted_places(table), by, table)

    def _rows(self, table: Microdata, requirement: Requirement, order: NDArray[np.int32]) -> HalvedRows:
        """The records, packed in an order."""
        column = requirement.columns[0] if requirement.columns else table.quasi[0]  # a code is packed in any case
        return HalvedRows(packed_rows(table, column, order), self._places(table), dims_of(self.priority, table))

    def _halved(
        self, table: Microdata, requirement: Requirement, blocks: list[Block], source: Source, engine: Memory
    ) -> Groups:
        """Halve blocks that hold the table, and divide the leaves further."""
        ell = self._ell(requirement)
        order = blocks[0].order if len(blocks) == 1 else np.concatenate([block.order for block in blocks])
        rows = self._rows(table, requirement, order)
        starts = np.cumsum([0, *(len(block.order) for block in blocks)]).tolist()
        if ell is None:
            leaves = [
                rows.leaves(start, block, requirement, self.mirrors, engine)
                for start, block in zip(starts, blocks, strict=False)
            ]
            return rows.packed.groups(np.append(np.sort(Nodes.join(leaves).starts), table.n_tuples))
        tested = [
            rows.tested(start, block.k, len(block.order), ell, Fraction(self.slack), engine)
            for start, block in zip(starts, blocks, strict=False)
        ]
        untested, failed = (_ascending(Nodes.join([nodes[which] for nodes in tested])) for which in (0, 1))
        return self._refined(table, rows, untested, failed, ell, source, engine)

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Halve and test, as counts, until nodes are small."""
        requirement.check_eligible()
        if kinds.n_people <= most:
            return [whole_piece(kinds)]
        own = bound_to(requirement, kinds.table)
        halver = Halver(kinds, self._places(kinds.table), dims_of(self.priority, kinds.table))
        everybody = Bag(np.arange(len(kinds), dtype=np.int32), kinds.counts)
        found: list[Piece] = []
        for number, (block, k) in enumerate(self._parted(CountedBag(everybody, own), requirement, source)):
            waiting = [Node((block.bag,), block=number)]
            while waiting:
                node = waiting.pop()
                if node.size <= most:
                    found.append(node.piece("halve", k))
                elif self._ell(requirement) is None:
                    waiting += self._tested_any(node, k, own, halver, source, found)
                else:
                    waiting += self._tested_ell(node, k, own, halver, source, found, most)
        return found

    def _tested_any(
        self, node: Node, k: int, requirement: Requirement, halver: Halver, source: Source, found: list[Piece]
    ) -> list[Node]:
        """Halve a node under any requirement: what may be halved further; a leaf is added to the pieces."""
        faces = len(node.faces)
        if node.size > k and node.size // faces % 2 == 0:
            left, right = halver.halve(node, source)
            if requirement.holds(histograms([left, right], requirement.columns)).all():
                return [right, left]
            if 2 * faces < 1 << min(self.mirrors, 40):
                return [replace(node, faces=(*left.faces, *right.faces))]
        leaf = node.piece("leaf")
        found.append(replace(leaf, groups=np.zeros(len(leaf.kinds), np.int32)))
        return []

    def _tested_ell(
        self,
        node: Node,
        k: int,
        requirement: Requirement,
        halver: Halver,
        source: Source,
        found: list[Piece],
        most: int,
    ) -> list[Node]:
        """Halve a node under frequency l-diversity: what may be halved further; leaves are added to the pieces."""
        ell = self._ell(requirement)
        assert ell is not None
        largest = int(histograms([node], requirement.columns)[0].largest[0])
        if node.size > k and _has_slack(ell, Fraction(self.slack), node.size, largest):
            left, right = halver.halve(node, source)
            if requirement.holds(histograms([left, right], requirement.columns)).all():
                return [right, left]
            found.append(replace(node, faces=(*left.faces, *right.faces)).piece("failed"))
        elif self.inner == "anatomize":
            values = requirement.columns[0].codes[node.faces[0].kinds]
            found += dealt_pieces(node.faces[0], values, ell, source, ("leaf", *node.place), most, varied=False)
        else:
            found.append(node.piece("untested"))
        return []

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide the people of a piece: halve them, or divide a leaf further."""
        people = piece.people(kinds)
        own, task = bound_to(requirement, people), piece.task[0]
        if task == "divide":
            return self._divide(people, own, source, engine)
        if task == "dealt":
            return deal_piece(own.columns[0].codes, own.columns[0].domain.size, piece.task, source, engine)
        order = alike_together(people, source, engine, piece.section_of_people())
        if task == "halve":
            blocks = [Block(order, piece.task[1], len(piece.sections) - 1)]
            return self._halved(people, own, blocks, source, engine)
        ell = self._ell(own)
        assert ell is not None
        nobody, everybody = Nodes.join([]), Nodes(np.array([0]), np.array([people.n_tuples]))
        leaves = (everybody, nobody) if task == "untested" else (nobody, everybody)
        return self._refined(people, self._rows(people, own, order), *leaves, ell, source, engine)

    def _ell(self, requirement: Requirement) -> int | None:
        """The l for which leaves are divided further, if they are."""
        return None if self.inner == "none" else requirement.frequency_ell

    def _refined(
        self,
        table: Microdata,
        rows: HalvedRows,
        untested: Nodes,
        failed: Nodes,
        ell: int,
        source: Source,
        engine: Memory,
    ) -> Groups:
        """Divide leaves further: those that were not tested by the inner method, the others into balanced groups."""
        labels = np.empty(table.n_tuples, np.int32)
        n_groups = 0
        places = self._places(table)
        inside, balanced = source.child("untested leaves"), source.child("failed leaves")

        def label(numbers: NDArray[np.int32], groups: Groups) -> None:
            nonlocal n_groups
            labels[numbers] = groups.labels + np.int32(n_groups)
            n_groups += groups.n_groups

        if self.inner == "anatomize":
            if len(failed):
                codes, numbers, offsets = rows.take(failed)
                found = balanced_segments(codes, offsets, rows.packed.n_values, ell, balanced, engine)
                label(numbers, Groups(found, len(codes) // group_size(ell)))
            if len(untested):
                codes, numbers, offsets = rows.take(untested)
                found = anatomize_segments(codes, offsets, rows.packed.n_values, ell, inside, engine)
                label(numbers, Groups(found, int(found.max()) + 1))
        else:
            if len(failed):
                packed, numbers, offsets = rows.taken(_halves(failed), balanced)
                label(numbers, balanced_slices(packed, offsets[::2], places, ell, balanced, engine))
            if len(untested):
                packed, numbers, offsets = rows.taken(untested, inside)
                label(numbers, ace_segments(packed, offsets, places, ell, inside, engine))
        return Groups(labels, n_groups)


def _halves(nodes: Nodes) -> Nodes:
    """The left and the right half of every node, one after the other."""
    middles = (nodes.starts + nodes.stops) // 2
    return Nodes(np.stack([nodes.starts, middles], axis=1).ravel(), np.stack([middles, nodes.stops], axis=1).ravel())


def _has_slack(ell: int, slack: Fraction, n: int, most: int) -> bool:
    """Whether n records, of which the most frequent value has ``most``, are diverse enough to be tested."""
    return most * ell * slack <= n


def _ascending(nodes: Nodes) -> Nodes:
    """The same nodes in the order in which they lie, no matter which was found first."""
    return nodes[np.argsort(nodes.starts)]


# ------------------------------------------------------------------------------------------------- balanced groups
#
# How a leaf is divided whose halving failed, so that nobody can tell which half was to blame.
#
# A group takes as many tuples from one half as from the other, and no value more often than l-diversity allows. Which
# values it takes from which half is a function of the two histograms alone, a fair coin says which half plays the first
# part, and who of those with a value in a half goes where is uniformly random. The three together keep the guarantee
# (Theorem M2 in the documentation); each of them alone does not.
#
# There are two ways to go on. Groups are planned one by one, and tuples dealt to them: values then come in many
# different combinations, which tells most where quasi-identifiers are published exactly. Or as many groups as possible
# are planned alike, tuples dealt to the *columns* of such a bucket (all with one value, all from one half), and the
# bucket sliced by quasi-identifiers as Ace slices its own: groups then lie close together, which is what boxes need.


def group_size(ell: int) -> int:
    """The size of a balanced group: l, or 2 l if l is odd, so that each half gives half of its records.

    >>> group_size(4), group_size(3)
    (4, 6)
    """
    return ell if ell % 2 == 0 else 2 * ell


def balanced_segments(
    sensitive: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory | None = None,
) -> NDArray[np.int32]:
    """Divide every leaf of a list into balanced groups.

    Groups of a leaf are planned one after another; let m of them be left. A group takes a value at most once (twice if
    l is odd): first every value as often as m - 1 groups could not take it; then values in the order of a list, once
    each (then, if l is odd, once more), as long as half of the group can still come from either half. What can come
    from either half comes from the first one, as the coin says, until that has given its share. The list has the values
    by how many records are left of them, the largest number first, then by code: as `Anatomize` takes them.

    Parameters and result are those of `anatomize_segments`. A segment is a leaf, in which the left half comes before
    the right one: a multiple of `group_size`, l-diverse.

    Examples
    --------
    >>> from glasshouse.randomness import Source
    >>> codes, offsets = np.array([0, 0, 1, 1, 1, 2, 2, 3], np.int32), np.array([0, 4, 8])
    >>> balanced_segments(codes, offsets, 4, 2, Source.seeded(1)).tolist()
    [1, 0, 0, 1, 2, 3, 2, 3]
    """
    return labelled_segments(_balance, "balanced", sensitive, offsets, n_values, ell, source, engine or Memory())


def balanced_slices(
    rows: PackedRows,
    offsets: NDArray[np.int64],
    places: Places,
    ell: int,
    source: Draws,
    engine: Memory,
) -> Groups:
    """Divide every leaf of a list into balanced groups whose quasi-identifiers are close.

    Groups are planned as in `balanced_segments`, but each plan is used for as many groups as leave counts that the
    others can take. Those groups are a bucket, with a column for each of their records; records are dealt to columns,
    and the bucket is divided by quasi-identifiers alone, with no regard to what its columns hold (TRANSPARENT Figure
    8).

    Records come packed, leaf after leaf, in each the left half before the right one.
    """
    size = group_size(ell)

    def plan(codes: NDArray[np.int32], within: NDArray[np.int64], draws: Draws) -> Buckets:
        halves, first, values, starts, slots, columns, lengths = _planned(
            codes, within, rows.n_values, ell, draws, alike=True
        )
        return Buckets(
            segments=halves,
            classes=first,
            values=values,
            runs=starts,
            handed=slots,
            columns=columns,
            lengths=lengths,
            widths=np.full(len(lengths), size, np.int32),
        )

    return sliced_segments(rows, offsets, places, plan, source, engine)


def _balance(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory,
    labels: NDArray[np.int32],
) -> int:
    """Divide the leaves of one piece: fill ``labels``, from 0, and return how many groups there are."""
    halves, first, values, starts, slots, *_ = _planned(codes, offsets, n_values, ell, source, alike=False)
    slots //= np.int32(group_size(ell))  # every bucket is one group
    hand_out(codes, halves, (first, values, starts), n_values, slots, source, engine, labels)
    return len(codes) // group_size(ell)


def _planned(
    codes: NDArray[np.int32], offsets: NDArray[np.int64], n_values: int, ell: int, source: Draws, *, alike: bool
) -> tuple[Any, ...]:
    """Toss the coins and plan: halves, classes (first, values, starts), a column for each slot, and the buckets."""
    middles = (offsets[:-1] + offsets[1:]) // 2
    halves = np.append(np.stack([offsets[:-1], middles], axis=1).ravel(), offsets[-1])
    first, values, sizes = Counts(codes, halves, n_values).histogram
    starts = np.concatenate([[0], np.cumsum(sizes)])
    slots, columns = np.empty(len(codes), np.int32), np.empty(len(codes), np.int64)
    lengths = np.empty(len(codes) // group_size(ell), np.int32)
    coins = source.belows(2, len(middles))
    kernels = compiled("glasshouse.grouping.mirror._balanced_kernels")
    of_value = np.zeros((8, n_values), np.int64)
    of_count = np.full((2, 2 * int(sizes.max(initial=0)) + 1), -1, np.int64)
    leaves = kernels.Leaves(first, values, sizes, starts, *of_value, *of_count)
    chosen = np.empty(group_size(ell), np.int64)
    n_kinds = kernels.plan_groups(leaves, coins, ell, alike, chosen, columns, lengths, slots)
    return halves, first, values, starts, slots, columns, lengths[:n_kinds]
