# SPDX-License-Identifier: Apache-2.0
"""Suppression: who is dropped before a table is divided, because of too frequent values, or by lot.

A table that breaks a principle as a whole can have no release that keeps it. Trimming the most frequent sensitive
values to a common cap is the least that helps. Where values are sets, some people go with the single value that is most
above its share, then with the next one, until no value is. Who is dropped is a uniform choice among the records with
such a value; that a person was dropped tells that theirs is one, so nothing is promised to those who are dropped.

A method may ask for a number of people that it can divide evenly. Who is left out for that is drawn from everybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import Infeasible
from glasshouse.grouping.top.nodes import drawn_counts
from glasshouse.microdata.counts import Counts
from glasshouse.plural import counted
from glasshouse.principles.parameters import exact_share
from glasshouse.principles.principle import Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Column, Domain
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.microdata.set_members import Members
    from glasshouse.principles.principle import Part, Principle
    from glasshouse.randomness import Draws

__all__ = ["common_cap", "keep_by_lot", "keep_eligible"]


def keep_eligible(
    kinds: Kinds, principle: Principle | Mapping[str, Principle], share: Any, source: Draws
) -> NDArray[np.int64]:
    """How many people of each kind to keep so that the table can satisfy ``principle``.

    Raises `Infeasible` if more than ``share`` of them would have to go.

    >>> import glasshouse as gh
    >>> from glasshouse.microdata.kinds import kinds_of
    >>> table = gh.read({"age": [1, 2, 3, 4, 5], "disease": ["flu", "flu", "flu", "ulcer", "ulcer"]},
    ...                 quasi=["age"], sensitive="disease")
    >>> int(keep_eligible(kinds_of(table)[0], gh.LDiversity(ell=2), "0.2", gh.Source.secure()).sum())
    4
    """
    allowed = exact_share(share)
    n_people, kept = kinds.n_people, kinds.counts
    while True:  # trimming one column can unbalance another; every round drops someone, so there is a last one
        there = np.flatnonzero(kept).astype(np.int32)
        left = kinds if len(there) == len(kinds) and kept is kinds.counts else kinds.some(there, kept[there])
        parts = Requirement.in_groups(principle, left.table, counts=left.counts).parts
        broken = [part for part in parts if not part.is_eligible]
        if not broken:
            return kept
        if not allowed:
            broken[0].check_eligible()
        kept = np.zeros(len(kinds), np.int64)
        kept[there] = _trimmed_kinds(left, broken[0], source)
        n_kept = int(kept.sum())
        if n_people - n_kept > allowed * n_people:
            raise _too_many(broken[0], n_people, n_kept, allowed)


def keep_by_lot(kinds: Kinds, method: Method, requirement: Requirement, source: Draws) -> NDArray[np.int64]:
    """How many people of each kind to keep where the method protects columns jointly, and leaves some out by lot.

    ``requirement`` is bound to these people, and the rest is so large that it satisfies it no matter who is left out.
    """
    enough = requirement.enough([part.whole for part in requirement.parts])
    n = method.n_by_lot(requirement, enough, kinds.n_people)
    # the label decides which people are drawn: with other words, a seed would give another release
    return kinds.counts - drawn_counts(kinds.counts, n, source.child("left out by lot")) if n else kinds.counts


def common_cap(histogram: NDArray[np.int64], principle: Principle, domain: Domain | None) -> int:
    """The largest cap on the counts of sensitive values that makes a table with this histogram eligible; 0 if none.

    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> common_cap(np.array([9, 3, 2, 2]), LDiversity(ell=3), None)
    3
    """
    concerned = principle.concerned(len(histogram), domain)
    low, high = 0, int(histogram.max(initial=0))
    while low < high:  # shares fall with the cap: allowed at low (0: by convention), and not above high
        cap = (low + high + 1) // 2
        trimmed = _trimmed(histogram, concerned, cap)
        copies = -(-int(histogram.sum()) // max(int(trimmed.sum()), 1))
        # whether it would do if only there were enough tuples: as many of it as the whole table has
        if principle.eligible(Counts.from_histograms(trimmed[np.newaxis] * copies), domain):
            low = cap
        else:
            high = cap - 1
    trimmed = _trimmed(histogram, concerned, low)
    return low if principle.eligible(Counts.from_histograms(trimmed[np.newaxis]), domain) else 0


def _trimmed(histogram: NDArray[np.int64], concerned: NDArray[np.bool_], cap: int) -> NDArray[np.int64]:
    """The histogram with every value that concerns the principle trimmed to the cap."""
    trimmed: NDArray[np.int64] = np.where(concerned, np.minimum(histogram, cap), histogram)
    return trimmed


def _trimmed_kinds(kinds: Kinds, part: Part, source: Draws) -> NDArray[np.int64]:
    """How many people of each kind to keep for one principle that the table breaks; it may break it still."""
    if part.column is not None and part.column.domain.members is not None:
        return _without_some(kinds, part, part.column, part.column.domain.members, source)
    cap = common_cap(part.whole.dense[0], part.principle, part.domain)
    if cap == 0:
        part.check_eligible()
    return _some_of_each(kinds, part, cap, source)


def _without_some(kinds: Kinds, part: Part, column: Column, members: Members, source: Draws) -> NDArray[np.int64]:
    """In a column of sets, drop people with the single value that is furthest above its share, until it is not.

    Who of those with the value is dropped is a secret uniform choice. How many are depends on counts alone.
    """
    n_people, have = int(part.whole.sizes[0]), part.whole.dense[0]
    most, worst = 0, 0
    for one in part.principle.singles():
        for cap in one.terms.caps or ():
            if cap.share == 1:
                continue
            concerned = np.flatnonzero(one.concerned(members.domain.size, members.domain))
            value = int(concerned[np.argmax(have[concerned])])
            above = int(have[value]) * cap.share.denominator - n_people * cap.share.numerator
            excess = -(-above // (cap.share.denominator - cap.share.numerator))
            most, worst = max((most, worst), (excess, value), key=lambda found: found[0])
    if most <= 0:  # groups cannot be large enough: there is nobody to drop
        part.check_eligible()
    own = np.flatnonzero(members.having(worst)[column.codes])
    kept = kinds.counts.copy()
    kept[own] = drawn_counts(kinds.counts[own], int(have[worst]) - most, source)
    return kept


def _some_of_each(kinds: Kinds, part: Part, cap: int, source: Draws) -> NDArray[np.int64]:
    """Keep ``cap`` people with every restricted sensitive value: a secret uniform choice for each value."""
    assert part.column is not None  # a cap above 0 exists only for principles that look at sensitive values
    histogram = np.bincount(part.column.codes, kinds.counts, minlength=part.column.domain.size).astype(np.int64)
    concerned = part.principle.concerned(part.whole.n_values, part.column.domain)
    kept = kinds.counts.copy()
    for value in np.flatnonzero(concerned & (histogram > cap)).tolist():
        own = np.flatnonzero(part.column.codes == value)
        kept[own] = drawn_counts(kinds.counts[own], cap, source)
    return kept


def _too_many(part: Part, n_tuples: int, n_kept: int, allowed: Fraction) -> Infeasible:
    needed = (n_tuples - n_kept) / n_tuples
    return Infeasible(
        (
            f"{part.principle.title} is not possible for this table: {n_tuples - n_kept:,} of "
            f"{counted(n_tuples, 'record')} ({needed:.2%}) would have to be left out, and a share of at "
            f"most {float(allowed):.2%} may be left out"
        ),
        principle=part.principle,
        count=n_tuples - n_kept,
        of=n_tuples,
    )
