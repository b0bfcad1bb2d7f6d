# SPDX-License-Identifier: Apache-2.0
"""One sensitive column in its groups: what they achieve, and whether they keep what is asked."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import ParameterError
from glasshouse.verification.columns import (
    ancestors_by_height,
    ascending,
    declared_order,
    designated_codes,
    has_order,
    suppressed_codes,
)
from glasshouse.verification.exact import below_entropy, entropies, exceeds, largest, smallest_entropy
from glasshouse.verification.groups import Histograms, check, first_by_cells, histograms, starts_of_runs, worst_of
from glasshouse.verification.verification import Achieved, Attained

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.verification.columns import Coded
    from glasshouse.verification.groups import Division
    from glasshouse.verification.verification import Check
    from glasshouse.verification.verify_table import Distance


__all__ = ["SensitiveColumn", "equal_excess", "hierarchical_excess", "ordered_excess"]

_MOST_RECURSIVE = 100


class SensitiveColumn:
    """One sensitive column in its groups: counted once, asked often."""

    def __init__(
        self,
        column: Coded,
        division: Division,
        *,
        kind: pa.DataType,
        order: Sequence[Any] | None,
        taxonomy: Taxonomy | str | Path | None,
        designated: Sequence[Any] | None,
        distance: Distance | None,
        suppressed: Sequence[Any],
    ) -> None:
        hidden = suppressed_codes(column, suppressed)
        self.are_amounts = has_order(kind)
        self.is_ordered = self.are_amounts or order is not None
        if self.is_ordered:  # codes follow the order; suppressed comes after every value, and missing is last anyway
            ranks = ascending(column.values) if order is None else declared_order(column, order, hidden)
            column = column.reordered(np.append(ranks[~np.isin(ranks, hidden)], hidden))
            hidden = np.arange(len(ranks) - len(hidden), len(ranks))
        self.column = column
        self.division = division
        self.hidden = hidden
        self.levels = None if taxonomy is None else ancestors_by_height(column, taxonomy, hidden)
        self.designated = None if designated is None else designated_codes(column, designated)
        self.distance = self._choose(distance)
        self.seen = histograms(division, column)
        self.top = np.maximum.reduceat(self.seen.counts, self.seen.offsets[:-1])  # each group's most frequent value's
        self._excesses: dict[Distance, tuple[NDArray[Any], int]] = {}

    def achieved(self) -> Achieved:
        """Count everything that the groups achieve, each number with a group that attains it."""
        seen = self.seen
        share, attaining = largest(self.top, seen.sizes)
        millionths, least_entropy = smallest_entropy(seen)
        fewest = int(seen.distinct.min())
        return Achieved(
            column=self.column.name,
            n_values=int(np.count_nonzero(seen.totals)),
            frequency=self._attained(1 / share, attaining),
            most_frequent=self._most_frequent(first_by_cells(self.division, attaining)),
            distinct=self._attained(Fraction(fewest), np.flatnonzero(seen.distinct == fewest)),
            entropy=self._attained(Fraction(millionths, 10**6), least_entropy),
            recursive={
                ell: self._attained(*largest(self.top, seen.tails(ell)))
                for ell in range(1, min(fewest, _MOST_RECURSIVE) + 1)
            },
            closeness={distance: self._closeness(distance) for distance in self._distances()},
            distance=self.distance,
            designated=self._designated(),
        )

    def checks(self, asked: Mapping[str, Any]) -> list[Check]:
        """Decide for each threshold, exactly, which groups do not keep it."""
        checks = []
        for what, limit in asked.items():
            failing, badness = getattr(self, f"_fails_{what}")(limit)
            shown = f"({float(limit[0]):g}, {limit[1]})" if isinstance(limit, tuple) else f"{float(limit):g}"
            by = f" ({self.distance} distance)" if what == "t" else ""
            checks.append(check(self.division, f"{what} = {shown}{by}", self.column.name, failing, badness))
        return checks

    def notes(self) -> list[str]:
        """Say what is peculiar to the column."""
        name, notes = self.column.name, []
        if self.are_amounts and self.levels is None:
            notes.append(
                f"{name} holds amounts: different but close ones count as diverse and tell an adversary nearly as "
                "much as equal ones; rely on t with the ordered distance, or bin it first"
            )
        odd = [
            word for word, codes in (("suppressed", self.hidden), ("missing", [-1])) if self.seen.totals[codes].any()
        ]
        if odd and self.is_ordered:
            notes.append(f"{' and '.join(odd)} in {name}: after the largest value in the ordered distance")
        if odd and self.levels is not None:
            notes.append(f"{' and '.join(odd)} in {name}: farthest from every value in the hierarchical distance")
        return notes

    # Each of these gives the groups that fail, and a number that is larger where it is worse.

    def _fails_ell(self, ell: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._fewer_than_one_in(ell, self.top)

    def _fails_designated_ell(self, ell: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._fewer_than_one_in(ell, self._designated_counts())

    def _fewer_than_one_in(self, ell: int, counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        enough = min(ell, self.seen.n + 1)  # a larger ell asks no more, and might not fit into 64 bits
        return counts * enough > self.seen.sizes, counts / self.seen.sizes

    def _fails_distinct_ell(self, ell: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.seen.distinct < ell, -self.seen.distinct

    def _fails_entropy_ell(self, ell: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
        return below_entropy(self.seen, ell), -entropies(self.seen)

    def _fails_recursive(self, pair: tuple[Fraction, int]) -> tuple[NDArray[Any], NDArray[Any]]:
        c, ell = pair
        rest = self.seen.tails(min(ell, self.seen.n + 1))
        few = rest == 0  # fewer than ell values
        rest = np.where(few, 1, rest)
        return few | exceeds(self.top, rest, c), np.where(few, np.inf, self.top / rest)

    def _fails_alpha(self, alpha: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
        return exceeds(self.top, self.seen.sizes, alpha), self.top / self.seen.sizes

    def _fails_t(self, t: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
        excess, scale = self._excess(self.distance)
        sizes = self.seen.sizes
        return exceeds(excess, sizes, t * self.seen.n * scale), np.asarray(excess / sizes, np.float64)

    def _distances(self) -> list[Distance]:
        found: list[Distance] = ["equal"]
        if self.is_ordered:
            found.append("ordered")
        if self.levels is not None:
            found.append("hierarchical")
        return found

    def _choose(self, distance: Distance | None) -> Distance:
        available = self._distances()
        if distance is not None and distance not in available:
            allowed = f"one of {', '.join(available)} for {self.column.name!r} (an order or a taxonomy brings others)"
            raise ParameterError("verify", "distance", allowed, distance)
        return distance or available[-1]

    def _excess(self, distance: Distance) -> tuple[NDArray[Any], int]:
        if distance not in self._excesses:
            if distance == "hierarchical" and self.levels is not None:
                self._excesses[distance] = hierarchical_excess(self.seen, self.levels)
            else:
                self._excesses[distance] = (ordered_excess if distance == "ordered" else equal_excess)(self.seen)
        return self._excesses[distance]

    def _closeness(self, distance: Distance) -> Attained:
        excess, scale = self._excess(distance)
        most, groups = largest(excess, self.seen.sizes)
        return self._attained(most / (self.seen.n * scale), groups)

    def _designated_counts(self) -> NDArray[np.int64]:
        if self.designated is None:
            allowed = f"asked for with designated={{{self.column.name!r}: [...]}}, which says whose"
            raise ParameterError("verify", "designated_ell", allowed, None)
        counts = np.where(np.isin(self.seen.values, self.designated), self.seen.counts, 0)
        return np.asarray(np.maximum.reduceat(counts, self.seen.offsets[:-1]))

    def _designated(self) -> Attained | None:
        if self.designated is None:
            return None
        share, groups = largest(self._designated_counts(), self.seen.sizes)
        return self._attained(1 / share, groups) if share else None

    def _most_frequent(self, group: int) -> Any:
        """Find the most frequent value of a group: the first of several, and missing only if there is no other."""
        entries = slice(self.seen.offsets[group], self.seen.offsets[group + 1])
        codes = self.seen.values[entries][self.seen.counts[entries] == self.top[group]]
        return self.column.value(int(codes[self.column.ranks[codes].argmin()]))

    def _attained(self, exact: Fraction, groups: NDArray[np.int64]) -> Attained:
        return Attained(exact=exact, group=worst_of(self.division, groups))


# --- earth mover's distances between each group's distribution and the whole table's, in whole numbers ----------------
#
# N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007, for the
# three ground distances. Each function gives an integer per group and a scale: over ``size * n * scale`` it is the
# distance.

_FITS = 1 << 62  # sums that may reach this are made of Python's integers


def equal_excess(seen: Histograms) -> tuple[NDArray[Any], int]:
    """Equal distance: half the sum of ``|p - q|``, which is the sum of what p has more; scale 1."""
    excess = seen.counts * seen.n
    excess -= seen.totals[seen.values] * seen.sizes_by_entry
    return np.add.reduceat(np.maximum(excess, 0, out=excess), seen.offsets[:-1]), 1


def hierarchical_excess(seen: Histograms, levels: Sequence[NDArray[np.int64]]) -> tuple[NDArray[Any], int]:
    """Hierarchical distance, of a tree of height ``len(levels)``; ``levels[h]`` is each code's ancestor at height h.

    The distance of two values is the height of their lowest common ancestor over the tree's height, so it is the
    average, over the heights below the root, of the equal distance between ancestors; and so is the earth mover's.
    """
    total = np.zeros(len(seen.sizes), np.int64)
    for ancestors in levels:
        bits = int(ancestors.max()).bit_length()
        keys = (seen.groups.astype(np.int64) << bits) | ancestors[seen.values]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = starts_of_runs(keys)
        counts = np.add.reduceat(seen.counts[order], starts)
        totals = np.zeros(1 << bits, np.int64)
        np.add.at(totals, ancestors, seen.totals)
        total += equal_excess(Histograms.of_pairs(seen.sizes, keys[starts], bits, counts, totals))[0]
    return total, max(len(levels), 1)


def ordered_excess(seen: Histograms) -> tuple[NDArray[Any], int]:
    """Ordered distance, codes in order: the sum over ranks of ``|P - Q|``, P and Q cumulated; scale ranks - 1.

    Between two values of a group P stands still and Q climbs, so the sum over those ranks is two arithmetic pieces,
    before and after Q passes P: nothing is ever spread over groups x values.
    """
    occurring = np.flatnonzero(seen.totals)
    ranks = np.searchsorted(occurring, seen.values)
    n_ranks = len(occurring)
    q = np.cumsum(seen.totals[occurring])
    q_sums = np.append(0, np.cumsum(q))

    # One piece before each group's first value, where P is 0, and one from each value up to the next.
    cumulated = np.cumsum(seen.counts)
    p = cumulated - np.repeat((cumulated - seen.counts)[seen.offsets[:-1]], seen.distinct)
    ends = np.append(ranks[1:], n_ranks)
    ends[seen.offsets[1:] - 1] = n_ranks
    total = _pieces(
        np.zeros_like(seen.sizes), seen.sizes, np.zeros_like(seen.sizes), ranks[seen.offsets[:-1]], q, q_sums
    )
    body = _pieces(p, seen.sizes_by_entry, ranks, ends, q, q_sums)
    return total + np.add.reduceat(body, seen.offsets[:-1]), max(n_ranks - 1, 1)


def _pieces(
    p: NDArray[np.int64],
    size: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    q: NDArray[np.int64],
    q_sums: NDArray[np.int64],
) -> NDArray[Any]:
    """Sum over ``start <= j < end`` of ``|p * n - size * q[j]|``, in Python's integers where 64 bits may not do."""
    n = int(q[-1])
    wide = size >= _FITS // (n * len(q))
    if wide.any() and not wide.all():
        sums = np.empty(len(size), object)
        for part in (wide, ~wide):
            sums[part] = _pieces(p[part], size[part], start[part], end[part], q, q_sums)
        return sums
    turn = np.clip(np.searchsorted(q, p * n // size, side="right"), start, end)  # from here on q is larger
    if wide.any():
        p, size, q_sums = p.astype(object), size.astype(object), q_sums.astype(object)
    smaller = p * n * (turn - start) - size * (q_sums[turn] - q_sums[start])
    larger = size * (q_sums[end] - q_sums[turn]) - p * n * (end - turn)
    return np.asarray(smaller + larger)
