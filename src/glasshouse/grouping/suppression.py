# SPDX-License-Identifier: Apache-2.0
"""Suppression: drop as few tuples as make a table eligible, at random among those with the most frequent values.

A table that breaks a principle as a whole can have no release that keeps it. Trimming the most frequent sensitive
values to a common cap is the least that helps. Who is dropped is a uniform choice among the tuples with a value above
the cap; that a person was dropped tells that hers is such a value, so nothing is promised to those who are dropped.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse import bounds
from glasshouse.errors import Infeasible, ParameterError
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.ties import secret_order
from glasshouse.principles.requirement import Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from glasshouse.microdata import Domain, Microdata
    from glasshouse.principles import Part, Principle
    from glasshouse.randomness import Source

__all__ = ["exact_share", "keep_eligible"]


def keep_eligible(
    table: Microdata, principle: Principle | Mapping[str, Principle], share: Any, source: Source
) -> NDArray[np.int32]:
    """Return the tuples (row numbers, ascending) to keep so that the table can satisfy ``principle``.

    Raises `Infeasible` if more than ``share`` of the tuples would have to go.

    >>> import glasshouse as gh
    >>> table = gh.read({"age": [1, 2, 3, 4, 5], "disease": ["flu", "flu", "flu", "ulcer", "ulcer"]},
    ...                 quasi=["age"], sensitive="disease")
    >>> len(keep_eligible(table, gh.LDiversity(ell=2), "0.2", gh.Source.secure()))
    4
    """
    allowed = exact_share(share)
    kept, left = np.arange(table.n_tuples, dtype=np.int32), table
    while True:  # trimming one column can unbalance another; every round drops someone, so there is a last one
        broken = [part for part in Requirement.of(principle, left).parts if not _eligible(part)]
        if not broken:
            return kept
        cap = _largest_cap(broken[0]) if allowed else 0
        if cap == 0:
            broken[0].check_eligible()
        kept = kept[_first_of_each(left, broken[0], cap, source)]
        left = table.take(kept)
        if table.n_tuples - len(kept) > allowed * table.n_tuples:
            raise _too_many(broken[0], table.n_tuples, len(kept), allowed)


def exact_share(share: Any) -> Fraction:
    """Read the share of tuples that may be dropped; a float means its shortest decimal text.

    >>> exact_share(0.1)
    Fraction(1, 10)
    """
    try:
        exact = bounds.exact(share)
    except (TypeError, ValueError):
        exact = Fraction(-1)
    if not 0 <= exact < 1:
        raise ParameterError("publish", "suppress", "a share of at least 0 and less than 1", share)
    return exact


def _eligible(part: Part) -> bool:
    return part.principle.eligible(part.whole, _domain(part))


def _domain(part: Part) -> Domain | None:
    return None if part.column is None else part.column.domain


def _trimmed(part: Part, cap: int) -> NDArray[np.int64]:
    """The table's histogram with every value that concerns the principle trimmed to the cap."""
    histogram = part.whole.dense[0]
    concerned = part.principle.concerned(part.whole.n_values, _domain(part))
    trimmed: NDArray[np.int64] = np.where(concerned, np.minimum(histogram, cap), histogram)
    return trimmed


def _largest_cap(part: Part) -> int:
    """The largest cap on the counts of sensitive values that makes the table eligible; 0 if none does."""
    low, high = 0, int(part.whole.dense.max(initial=0))
    while low < high:  # shares fall with the cap: allowed at low (0: by convention), and not above high
        cap = (low + high + 1) // 2
        if _shares_allowed(part, cap):
            low = cap
        else:
            high = cap - 1
    trimmed = Counts.from_histograms(_trimmed(part, low)[np.newaxis])
    return low if part.principle.eligible(trimmed, _domain(part)) else 0


def _shares_allowed(part: Part, cap: int) -> bool:
    """Whether the trimmed table would do if only there were enough tuples: as many of it as the whole table has."""
    trimmed = _trimmed(part, cap)
    copies = -(-int(part.whole.sizes[0]) // max(int(trimmed.sum()), 1))
    return part.principle.eligible(Counts.from_histograms(trimmed[np.newaxis] * copies), _domain(part))


def _first_of_each(table: Microdata, part: Part, cap: int, source: Source) -> NDArray[np.int64]:
    """Keep ``cap`` tuples of every sensitive value that concerns the principle, chosen by a secret uniform order."""
    assert part.column is not None  # a cap above 0 exists only for principles that look at sensitive values
    order = secret_order(table, source)  # not by identifier, which would make the choice public
    codes = part.column.codes[order]
    by_value = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[by_value], np.arange(part.column.domain.size))
    rank = np.arange(len(codes)) - starts[codes[by_value]]
    concerned = part.principle.concerned(part.whole.n_values, part.column.domain)
    return np.sort(order[by_value[(rank < cap) | ~concerned[codes[by_value]]]]).astype(np.int64)


def _too_many(part: Part, n_tuples: int, n_kept: int, allowed: Fraction) -> Infeasible:
    needed = (n_tuples - n_kept) / n_tuples
    return Infeasible(
        f"{part.principle.title} is out of reach: {n_tuples - n_kept:,} of {n_tuples:,} tuples ({needed:.2%}) would "
        f"have to be dropped, and {float(allowed):.2%} may be",
        principle=part.principle,
        count=n_tuples - n_kept,
        of=n_tuples,
    )
