# SPDX-License-Identifier: Apache-2.0
"""Greedy Grouping: along an order of the quasi-identifiers, a group grows until it is safe, and the next one starts.

Cormode, Li, Li, Srivastava, "Minimizing Minimality and Maximizing Utility: Analyzing Method-Based Attacks on Anonymized
Data", VLDB 2010 (MINIMALITY): GG in 2.3 and Figure 2, RGG in 4.3. The authors made GG to be attacked: it is
deterministic, lopsided and looks at quasi-identifiers and sensitive values together. They are two classes here because
one is deterministic and the other is not, and a method says which it is; RGG with p = 0 gives the groups of GG.

What the paper leaves open: under t-closeness, which has no l, buckets are single records; a last bucket of fewer than l
records is a bucket like any other; RGG tosses its coin only where a complete group could take another bucket.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines.sorting import along, label_along
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.grouping.along_order.orderings import arranged, check_ordering
from glasshouse.grouping.method import Method, at_ell, chosen_blindly, linking_claim, times_e
from glasshouse.kernels import compiled, interpreted
from glasshouse.microdata.domains import Column
from glasshouse.microdata.groups import Groups
from glasshouse.principles.parameters import fraction, plain
from glasshouse.principles.principle import Adversary, Claim, Requirement
from glasshouse.principles.t_closeness import Close

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.method import LeavesOut
    from glasshouse.microdata import Microdata
    from glasshouse.principles.parameters import Exact
    from glasshouse.principles.principle import Part
    from glasshouse.randomness import Source

__all__ = ["Greedy", "RandomisedGreedy"]

# Whether a group that is far from t-close takes several tuples before it is judged again; the groups are the same.
LEAP = True
# Work on earth up to this is counted in 64 bits, and in Python's integers beyond.
LARGEST_WORK = 2**62


@dataclass(frozen=True, kw_only=True, slots=True)
class Greedy(Method):
    """Sort records, cut them into buckets of l, and let a group take buckets until it satisfies the principle.

    MINIMALITY Figure 2 (GG), under l-diversity, designated (binary) l-diversity or t-closeness of one sensitive column.

    Parameters
    ----------
    ordering
        ``lexicographic`` or ``hilbert``: the order in which similar records are neighbours.
    priority
        Names of quasi-identifiers, the most important first; the others follow in the table's order.
    last
        What happens to the last group if the records run out before it satisfies the principle: ``merge`` joins it to
        the group before, again and again until the principle holds; ``drop`` does not publish its records, as in the
        paper. Under t-closeness the groups are then made again from the others, for they must be close to what is
        published.
    safe
        Run at ceil(e * l) instead of l, which keeps probabilities at most 1/l where MINIMALITY Theorem 6 holds.

    Guarantee
    ---------
    Every group satisfies the principle, against a *linking* attacker. An attacker who knows the algorithm learns more:
    a group of several buckets shows that its first buckets were not safe (MINIMALITY Figure 6(a)). Under designated
    l-diversity with one designated value, and ``last="drop"``, its probability is at most e/l for everybody (Theorem 6;
    it is 2/l for a group of two buckets, and tends to e/l); with ``safe`` that is at most 1/l, and an *algorithm-aware*
    guarantee for everybody who is published. For frequency l-diversity e/l was never seen exceeded and is not proven.
    The theorem does not speak of a merged last group, which can reveal values: a person left over alone is merged only
    if that person has the designated value. Under t-closeness there is no bound: three people are enough for a
    probability of 1.

    Cost
    ----
    O(n d) for the order and O(n) for the groups; under t-closeness O(n w) at worst, for w sensitive values. Sorting
    takes about 30 bytes a record. It uses all threads, and so does labelling. Growing the groups does not: where one
    begins depends on where the one before ended. It is one scan along the order, under l-diversity less than a tenth of
    the time.

    Examples
    --------
    The group of MINIMALITY Figure 6(a): the first two must both be positive, or they would be a group.

    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import DesignatedLDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.minimality_figure6a()
    >>> requirement = Requirement.of(DesignatedLDiversity(ell=2, values=("Positive",)), table)
    >>> Greedy().divide(table, requirement).sizes.tolist()
    [4]
    """

    name: ClassVar[str] = "greedy"
    in_words: ClassVar[str] = (
        "People are sorted and added to a group in this order. A group is finished as soon as it satisfies the "
        "principle."
    )

    ordering: str = "lexicographic"
    priority: tuple[str, ...] = ()
    last: str = "merge"
    safe: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "priority", check_ordering("Greedy", self.ordering, self.priority))
        _check_last("Greedy", self.last)
        if not isinstance(self.safe, bool):
            raise ParameterError("Greedy", "safe", "True or False", self.safe)

    @property
    def leaves_out(self) -> LeavesOut:
        """The last people of the order, where they cannot be a group."""
        return "by values" if self.last == "drop" else "nobody"

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        principle = _one_part(requirement, "Greedy").principle
        dropped = _about_dropped(self.last)
        ell = principle.terms.one_in
        if ell is None:
            if self.safe:
                raise _no_ell_to_stretch()
            return _linking(
                "an attacker who knows the algorithm may become certain of a value, even in a table of only three "
                "people",
                *dropped,
            )
        run = times_e(ell) if self.safe else ell
        binary = len(principle.terms.named) == 1
        if self.safe and binary and self.last == "drop":
            return Claim(
                adversary=Adversary.ALGORITHM_AWARE,
                theorem=(
                    f"the attacker's probability of the designated value is at most e/{run} (e = 2.718...) for "
                    f"everybody, which is below 1/{ell} (MINIMALITY Theorem 6; in every group at most 1/{run} of the "
                    f"records have the designated value, where {run} is e * {ell} rounded up)"
                ),
                limits=dropped,
                assumptions=chosen_blindly(self, "priority"),
            )
        if binary and self.last == "drop":
            bound = (
                f"the probability of the designated value may reach e/{run} (e = 2.718..., MINIMALITY Theorem 6) "
                f"instead of 1/{ell}"
            )
        elif binary:
            bound = (
                f"the probability is at most e/{run} (e = 2.718...) in all groups but the last (MINIMALITY Theorem 6); "
                "the last group may have been merged, and the values of its people can become certain"
            )
        else:
            bound = (
                f"no probability above e/{run} (e = 2.718...) is known to occur, but for this principle it is not "
                "proven that none does"
            )
        return _linking(bound, *dropped)

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` along the order; ties of the order are broken by ``source``."""
        part = _one_part(requirement, "Greedy")
        if self.safe:
            if part.principle.terms.one_in is None:
                raise _no_ell_to_stretch()
            requirement = at_ell(requirement, times_e(part.principle.terms.one_in))
        requirement.check_eligible()
        order = arranged(table, self.ordering, self.priority, source, engine)
        return _grow_published(table, requirement, order, self.last, lambda _: np.empty(0, np.uint8), engine)


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomisedGreedy(Method):
    """Greedy Grouping in which a complete group takes yet another bucket with probability p, again and again.

    MINIMALITY 4.3 (RGG): the condition of Figure 2, Line 6, becomes "the group does not obey, or a random event with
    probability p occurs", so that a large group need not have been forced to be large.

    Parameters
    ----------
    p
        An exact number, at least 0 and below 1: ``0.6``, ``"3/5"``. 0 gives the groups of `Greedy`.
    ordering, priority, last
        As in `Greedy`.

    Guarantee
    ---------
    Every group satisfies the principle, against a *linking* attacker. For an attacker who knows the algorithm, the
    weight of a possible table is p to the power of the number of its safe proper prefixes: the larger p is, the less a
    large group reveals. How much is left depends on p and on the data: at l = 6, in groups of 128 buckets with as many
    positives, 2.00/l for p = 0.5, 1.40/l for 0.9 and 1/l for 1. (What MINIMALITY 4.3 says to stay near e/l for every p
    is its bound; the two classes of tables in Appendix C.4 are exact for groups of two buckets only.) So nothing is
    claimed here; measure it.

    Cost
    ----
    As `Greedy`, and one draw per bucket.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = RandomisedGreedy(p=0.5).divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> bool((groups.counts(table.sensitive[0]).largest * 2 <= groups.sizes).all())
    True
    """

    name: ClassVar[str] = "randomised-greedy"
    in_words: ClassVar[str] = (
        "People are sorted and added to a group in this order. A group is finished when it satisfies the principle, "
        "or at random later."
    )
    randomised: ClassVar[bool] = True

    p: Exact
    ordering: str = "lexicographic"
    priority: tuple[str, ...] = ()
    last: str = "merge"

    def __post_init__(self) -> None:
        # held as the shortest exact text, so that the method is plain data
        object.__setattr__(self, "p", plain(fraction("RandomisedGreedy", "p", self.p, least=0, below=1)))
        object.__setattr__(self, "priority", check_ordering("RandomisedGreedy", self.ordering, self.priority))
        _check_last("RandomisedGreedy", self.last)

    @classmethod
    def usual(cls) -> tuple[RandomisedGreedy, ...]:
        """The method with a given p, for which there is no default."""
        return (cls(p="1/3"),)

    @property
    def leaves_out(self) -> LeavesOut:
        """The last people of the order, where they cannot be a group."""
        return "by values" if self.last == "drop" else "nobody"

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        principle = _one_part(requirement, "RandomisedGreedy").principle
        bound = "an attacker who knows the algorithm may become certain of a value"
        if (ell := principle.terms.one_in) is not None:
            bound = (
                f"the parameter p lowers the probability; no probability above e/{ell} (e = 2.718...) was ever "
                "observed, but this is not proven"
            )
        return _linking(bound, *_about_dropped(self.last))

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` along the order; coins, and ties of the order, come from ``source``."""
        part = _one_part(requirement, "RandomisedGreedy")
        requirement.check_eligible()
        order = arranged(table, self.ordering, self.priority, source, engine)
        p = fraction("RandomisedGreedy", "p", self.p)

        def coins(n: int) -> NDArray[np.uint8]:
            borders = max(0, -(-n // _bucket(part)) - 1)  # a coin for each: a group ends there or does not
            return (source.belows(p.denominator, borders) < p.numerator).astype(np.uint8)

        return _grow_published(table, requirement, order, self.last, coins, engine)


def _one_part(requirement: Requirement, owner: str) -> Part:
    """The one principle of the one column that these methods can grow groups under."""
    if len(requirement.parts) == 1:
        (part,) = requirement.parts
        if part.principle.terms.one_in is not None or part.principle.terms.closeness is not None:
            return part
    raise NotSupported(
        f"{owner} supports only l-diversity, designated l-diversity or t-closeness of one column",
        instead="ask for one of these alone, or use the method 'mondrian'",
    )


def _no_ell_to_stretch() -> NotSupported:
    return NotSupported("Greedy(safe=True) does not support t-closeness, which has no l", instead="ask for l-diversity")


def _check_last(owner: str, last: str) -> None:
    if last not in ("merge", "drop"):
        raise ParameterError(owner, "last", "'merge' or 'drop'", last)


def _linking(*limits: str) -> Claim:
    return linking_claim(
        (
            "an attacker who knows that people are added until a group satisfies the principle can learn more: a "
            "group that was not finished earlier shows that its first people alone would have broken the principle "
            "(minimality attack)"
        ),
        *limits,
    )


def _about_dropped(last: str) -> tuple[str, ...]:
    if last == "merge":
        return ()
    return (
        (
            "records at the end of the order that could not form a safe group are left out and are not protected. An "
            "attacker who sees that they are missing learns that together they would break the principle; if only "
            "one person was left out, the value of this person is certain"
        ),
    )


def _bucket(part: Part) -> int:
    """The number of records in a bucket; no group is larger than the table, so a bucket is not either."""
    ell = part.principle.terms.one_in
    return 1 if ell is None else min(ell, max(1, int(part.whole.sizes[0])))


def _grow_published(
    table: Microdata,
    requirement: Requirement,
    order: NDArray[np.int32],
    last: str,
    coins: Callable[[int], NDArray[np.uint8]],
    engine: Memory,
) -> Groups:
    """Grow groups; under t-closeness repeat that without the dropped records, until no more are dropped.

    Groups are close to the distribution of the table, and the table that a reader sees is the published one. Dropping
    records changes it, so groups that were close to the whole table need not be close to what is published.
    """
    groups = _grow(requirement, order, last, coins(len(order)), engine)
    (part,) = requirement.parts
    if part.principle.terms.closeness is None:
        return groups
    assert part.column is not None
    kept = np.arange(len(order), dtype=np.int64)
    while groups.n_dropped:
        kept = kept[groups.labels >= 0]
        left = _without_unseen(table.take(kept))
        place = np.full(table.n_tuples, -1, np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        along_kept = place[order]
        requirement = Requirement.of({part.column.name: part.principle}, left)
        along_kept = along_kept[along_kept >= 0]
        groups = _grow(requirement, along_kept, last, coins(len(along_kept)), engine)
    return groups if len(kept) == table.n_tuples else groups.spread(kept, table.n_tuples)


def _without_unseen(table: Microdata) -> Microdata:
    """The table with only those values of the sensitive column that occur: readers know of no other values."""
    (column,) = table.sensitive
    domain = column.domain
    if domain.tree is not None:  # distances are heights of the tree, no matter who is there
        return table
    seen = np.unique(column.codes)
    missing = bool(domain.missing and domain.missing_code in seen)
    values = domain.values.take(seen[: len(seen) - missing])
    codes = np.searchsorted(seen, column.codes).astype(np.int32)
    return replace(table, sensitive=(Column(replace(domain, values=values, missing=missing), codes),))


def _grow(
    requirement: Requirement, order: NDArray[np.int32], last: str, coins: NDArray[np.uint8], engine: Memory
) -> Groups:
    """Grow groups along ``order``; ``coins``: whether a complete group that ends at a border goes on."""
    (part,) = requirement.parts
    assert part.column is not None
    column = part.column
    ends = np.empty(len(order), np.int64)
    status = np.zeros(1, np.int64)
    grow = _grow_diverse if part.principle.terms.closeness is None else _grow_close
    n_groups = grow(part, column, along(column.codes, order, engine), last == "merge", coins, ends, status)
    offsets = np.concatenate([[0], ends[:n_groups]])
    if not status[0]:  # the last group is not complete, and so it was to be dropped
        n_groups -= 1
    return Groups(label_along(order, offsets, engine, n_published=n_groups), n_groups)


def _grow_diverse(
    part: Part,
    column: Column,
    codes: NDArray[np.int32],
    merge: bool,  # noqa: FBT001
    coins: NDArray[np.uint8],
    ends: NDArray[np.int64],
    status: NDArray[np.int64],
) -> int:
    counted = part.principle.concerned(column.domain.size, column.domain).astype(np.uint8)
    # a table may be eligible for any l where no designated value occurs; then all its tuples are one bucket
    size = _bucket(part)
    ell = min(part.principle.terms.one_in or 1, len(codes) + 1)
    counts = np.zeros(column.domain.size, np.int64)
    kernels = compiled("glasshouse.grouping.along_order._kernels")
    return int(kernels.grow_diverse(codes, counted, ell, size, coins, merge, counts, ends, status))


def _grow_close(
    part: Part,
    column: Column,
    codes: NDArray[np.int32],
    merge: bool,  # noqa: FBT001
    coins: NDArray[np.uint8],
    ends: NDArray[np.int64],
    status: NDArray[np.int64],
) -> int:
    assert isinstance(part.bound, Close)
    mover, t = part.bound.mover, part.bound.t
    line = mover.kernel == "line_work"
    none = np.empty(0, np.int32), np.empty(0, np.int64)
    parents, lengths, masses = (*none, mover.arrays[0]) if line else mover.arrays
    found = np.zeros(len(masses), np.int64)
    most: int = mover.scale * mover.whole
    numbers = most, t.numerator, t.denominator, int(LEAP)
    if most * max(mover.whole, 1) * (t.numerator + t.denominator) < LARGEST_WORK:
        kernels = compiled("glasshouse.grouping.along_order._kernels")
        arrays = codes, parents, lengths, masses
        return int(kernels.grow_close(*arrays, *numbers, coins, merge, found, ends, status))
    # the same loops, interpreted, on lists: integers of any length
    kernels = interpreted("glasshouse.grouping.along_order._kernels")
    listed = [array.tolist() for array in (codes, parents, lengths, masses)]
    found_list = found.tolist()
    return int(kernels.grow_close(*listed, *numbers, coins, merge, found_list, ends, status))
