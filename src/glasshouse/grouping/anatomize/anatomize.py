# SPDX-License-Identifier: Apache-2.0
"""Anatomize: groups of l records with l different sensitive values, made by the sensitive values alone.

Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006 (ANATOMY), Section 5.2 and Figure 3, Lines 1
to 12: the partition; how it is published is a recoding. The figure's open choices are fixed so that an attacker who
knows the algorithm learns nothing from them: records of a bucket are taken in uniformly random order, equal buckets in
the order of their values, and a residue goes to a uniformly random group that lacks its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines import Memory
from glasshouse.engines.sorting import along, pieces_of_runs, share, spread
from glasshouse.errors import ParameterError
from glasshouse.grouping.along_order.orderings import canonical, is_seeded
from glasshouse.grouping.anatomize.slots import hand_out
from glasshouse.grouping.method import Method, frequency_ell
from glasshouse.grouping.top.nodes import Bag
from glasshouse.grouping.top.piece import bound_to, whole_piece
from glasshouse.grouping.top.plans import deal_piece, dealt_pieces
from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.groups import Groups
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws, Source

__all__ = ["Anatomize", "anatomize_segments", "labelled_segments"]

_DEALT = 1 << 12  # codes of groups that are dealt at once


@dataclass(frozen=True, kw_only=True, slots=True)
class Anatomize(Method):
    """Take one record of each of the l most frequent remaining sensitive values, again and again; then place the rest.

    ANATOMY Figure 3. While l values are left, a group takes a record of each of the l values with the most records
    left: a uniformly random record of each, and of values with equally many records those that come first in the
    column's own order. The fewer than l records that remain have different values (Property 1), and each joins a
    uniformly random group that lacks its value (Property 2).

    Parameters
    ----------
    varied
        Whether values are combined in as many ways as their numbers allow, instead of the most frequent ones first.
        Where there are few values, the figure's rule makes few different combinations: values that are always
        published together cannot be told apart by an analyst who learns from the release. With ``varied`` records are
        laid out value by value and dealt to the ``n // l`` groups in turn, as cards are, in blocks of about as many
        groups as there are values, each block with the values in a random order of its own. What is promised is the
        same, for the same reason.

    Guarantee
    ---------
    Needs frequency l-diversity of one sensitive column. All values of a group are different and there are at least l,
    so a *linking* attacker gives none a probability above 1/l (ANATOMY Theorem 1). The groups are a function of
    sensitive values and of random choices that ignore quasi-identifiers, so knowing the *algorithm* does not help
    (MINIMALITY Claim 4). The claim rests on every choice being as it is here: taking records in file order, ordering
    equal values by their first appearance, or placing residues by nearness reveals people's values.

    The partition reaches the bound of ANATOMY Theorem 4: with r = n mod l residues its reconstruction error is exactly
    ``(n - r) * (1 - 1/l) + r``, the least possible where l divides n.

    Cost
    ----
    O(n) time and about 12 bytes per record; one draw per record. A tenth of the time of sorting as many numbers, so
    that threads have little to help with: they share the shuffles of buckets, and segments if there are many. Which
    group comes next depends on those before, so dealing is one scan.

    Examples
    --------
    Four groups of two different diseases (ANATOMY Table 1):

    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.anatomy_table1()
    >>> groups = Anatomize().divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.sizes.tolist(), groups.counts(table.sensitive[0]).largest.tolist()
    ([2, 2, 2, 2], [1, 1, 1, 1])
    """

    name: ClassVar[str] = "anatomize"
    in_words: ClassVar[str] = (
        "Each group gets, at random, one person with each of the sensitive values that are most frequent among the "
        "remaining people. Quasi-identifiers are not used."
    )
    looks_at: ClassVar[str] = "sensitive values"
    randomised: ClassVar[bool] = True

    varied: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.varied, bool):
            raise ParameterError("Anatomize", "varied", "true or false", self.varied)

    def independent(self, requirement: Requirement) -> Independent:
        """Groups are drawn by values alone, people with a value at random."""
        return "groups"

    @property
    def by_counts(self) -> bool:
        """The top is divided as counts."""
        return True

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        frequency_ell(requirement, "Anatomize")
        return Claim(
            adversary=Adversary.ALGORITHM_AWARE,
            theorem=(
                "the sensitive values of a group are all different (ANATOMY Property 3), and groups are made from "
                "sensitive values and uniform random choices alone (MINIMALITY Claim 4)"
            ),
            limits=(
                "similar people need not be in the same group: if the quasi-identifiers of a group were published as "
                "ranges, these ranges would be wide",
            ),
        )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` into groups of different sensitive values; random choices are drawn from ``source``."""
        ell, column = frequency_ell(requirement, "Anatomize")
        requirement.check_eligible()
        # tuples of a bucket are shuffled, so their order does not matter; a seeded run must not depend on it at all
        order = canonical(table, source, engine) if is_seeded(source) else None
        codes = column.codes if order is None else along(column.codes, order, engine)
        whole = np.array([0, len(codes)])
        labels = anatomize_segments(codes, whole, column.domain.size, ell, source, engine, varied=self.varied)
        n_groups = int(labels.max(initial=-1)) + 1
        return Groups(labels if order is None else spread(labels, order, len(codes), engine), n_groups)

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Plan the groups from how many people have each value, and let every piece make some of them."""
        ell, column = frequency_ell(bound_to(requirement, kinds.table), "Anatomize")
        requirement.check_eligible()
        if kinds.n_people <= most:
            return [whole_piece(kinds)]
        everybody = Bag(np.arange(len(kinds), dtype=np.int32), kinds.counts)
        return dealt_pieces(everybody, column.codes, ell, source, ("deal",), most, varied=self.varied)

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Anatomize the people of a piece, by the plan if there is one."""
        people = piece.people(kinds)
        own = bound_to(requirement, people)
        if piece.task[0] == "divide":
            return self._divide(people, own, source, engine)
        _, column = frequency_ell(own, "Anatomize")
        return deal_piece(column.codes, column.domain.size, piece.task, source, engine)


def anatomize_segments(
    sensitive: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory | None = None,
    *,
    varied: bool = False,
) -> NDArray[np.int32]:
    """Apply Anatomize to every segment of a list of records; a segment that is not l-diverse stays whole.

    Parameters
    ----------
    sensitive
        The sensitive codes of all records, segment after segment.
    offsets
        Segment ``g`` holds ``sensitive[offsets[g]:offsets[g + 1]]``; one more entry than there are segments.
    n_values
        Size of the sensitive domain.
    ell
        Different values in each group.
    source
        Of random choices: a child for each piece of work, which segments alone decide. It places the residues, segment
        after segment, and shuffles every bucket.
    engine
        Says how many threads there may be; it changes nothing but the time.
    varied
        Whether groups take values in many different combinations, rather than the most frequent values first.

    Returns
    -------
    NDArray
        A group for each record; groups are numbered from 0, segment after segment.

    Examples
    --------
    >>> from glasshouse.randomness import Source
    >>> codes, offsets = np.array([0, 0, 1, 1, 2, 3], np.int32), np.array([0, 4, 6])
    >>> labels = anatomize_segments(codes, offsets, 4, 2, Source.secure())
    >>> sorted(labels[:4].tolist()), labels[4:].tolist()
    ([0, 0, 1, 1], [2, 2])
    """
    work = _deal_around if varied else _anatomize
    return labelled_segments(work, "anatomize", sensitive, offsets, n_values, ell, source, engine or Memory())


def labelled_segments(
    work: Callable[..., int],
    name: str,
    sensitive: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory,
) -> NDArray[np.int32]:
    """Group the records of all segments, a piece of them at a time, each with random choices of its own.

    ``work`` fills the labels of a piece, from 0, and returns how many groups it made.
    """
    offsets = np.ascontiguousarray(offsets, np.int64)
    codes = np.ascontiguousarray(sensitive, np.int32)
    labels = np.empty(len(codes), np.int32)
    pieces = [(number, *piece) for number, piece in enumerate(pieces_of_runs(offsets))]
    inner = engine if len(pieces) == 1 else Memory(threads=1)  # inside one of many pieces there is nothing to share

    def group(number: int, first: int, last: int) -> int:
        mine = slice(offsets[first], offsets[last])
        within = offsets[first : last + 1] - offsets[first]
        return work(codes[mine], within, n_values, ell, source.child(name, number), inner, labels[mine])

    bases = np.cumsum([0, *share(group, pieces, engine)]).tolist()

    def renumber(number: int, first: int, last: int) -> None:
        if bases[number]:
            labels[offsets[first] : offsets[last]] += bases[number]

    share(renumber, pieces, engine)
    return labels


def _anatomize(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory,
    labels: NDArray[np.int32],
) -> int:
    """Apply Anatomize to the segments of one piece: fill ``labels``, from 0, and return the number of groups."""
    kernels = compiled("glasshouse.grouping.anatomize._kernels")
    first, values, sizes = Counts(codes, offsets, n_values).histogram
    starts = np.concatenate([[0], np.cumsum(sizes)])
    widest, largest = int(np.diff(first).max(initial=0)), int(sizes.max(initial=0))
    slots = np.empty(int(starts[-1]), np.int32)
    residues = np.empty((3, len(sizes)), np.int64)
    ell = min(ell, len(slots) + 1)  # any larger l is as far out of reach, and products with it fit
    dealer = compiled("glasshouse.kernels._dealing_kernels").Dealer(
        np.empty(widest, np.int32),
        np.empty(widest, np.int64),
        *np.empty((2, widest), np.int32),
        np.empty(widest + 1, np.int32),
        ell,
    )
    n_groups, n_residues = kernels.deal(
        dealer,
        first,
        sizes,
        starts,
        np.empty(max(_DEALT, ell), np.int32),
        np.empty(widest, np.int64),
        np.zeros(largest + 2, np.int64),
        slots,
        residues,
    )
    buckets, bases, choices = residues[:, :n_residues]
    kernels.settle(buckets, bases, source.belows(choices), sizes, starts, slots)
    hand_out(codes, offsets, (first, values, starts), n_values, slots, source, engine, labels)
    return int(n_groups)


def _deal_around(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_values: int,
    ell: int,
    source: Draws,
    engine: Memory,
    labels: NDArray[np.int32],
) -> int:
    """Deal the records of every segment of one piece to its groups in turn: fill ``labels`` and count the groups."""
    kernels = compiled("glasshouse.grouping.anatomize._kernels")
    first, values, sizes = Counts(codes, offsets, n_values).histogram
    starts = np.concatenate([[0], np.cumsum(sizes)])
    widths = np.diff(first)
    tuples = np.diff(offsets)
    blocks = np.maximum(tuples // ell // np.maximum(widths, 2), 1)
    lengths = np.repeat(widths, blocks + 1)  # the order of values in which they are laid out, and one for each block
    runs = np.concatenate([[0], np.cumsum(lengths)])
    orders = np.arange(runs[-1], dtype=np.int32) - np.repeat(runs[:-1], lengths).astype(np.int32)
    source.child("orders of values").shuffle_runs(orders, runs)
    slots = np.empty(len(codes), np.int32)
    cells = np.zeros(int((widths * blocks).max(initial=0)), np.int64)
    fill = np.empty(int(widths.max(initial=0)), np.int64)
    n_groups = kernels.deal_around(first, sizes, starts, ell, blocks, orders, cells, fill, slots)
    hand_out(codes, offsets, (first, values, starts), n_values, slots, source, engine, labels)
    return int(n_groups)
