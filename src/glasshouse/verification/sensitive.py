# SPDX-License-Identifier: Apache-2.0
"""One sensitive column in its groups: what they achieve, and whether they keep what is asked.

A `Scale` is its values with what is between them: an order, a tree, and which are designated. A `Judgement` decides,
exactly and from histograms, which groups do not keep what is asked; of all groups, or of some, as a stream brings them.
"""

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
from glasshouse.verification.excess import equal_excess, hierarchical_excess, ordered_excess
from glasshouse.verification.groups import check, first_by_cells, histograms, worst_of
from glasshouse.verification.set_column import single_values
from glasshouse.verification.verification import Achieved, Attained

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.verification.columns import Coded
    from glasshouse.verification.groups import Division, Histograms
    from glasshouse.verification.verification import Check
    from glasshouse.verification.verify_table import Distance

__all__ = ["Judgement", "Scale", "SensitiveColumn", "words_of"]

_MOST_RECURSIVE = 100


class Scale:
    """The values of one sensitive column, in their order if they have one.

    Parameters
    ----------
    column
        The column, of which every value that occurs has a record; `Scale.column` is the same in the order of its
        values.
    kind
        The type of its values: numbers and dates are in order by themselves.
    order, taxonomy, designated, distance, suppressed
        As for `glasshouse.verify`, of this column.
    """

    def __init__(
        self,
        column: Coded,
        *,
        kind: pa.DataType,
        order: Sequence[Any] | None = None,
        taxonomy: Taxonomy | str | Path | None = None,
        designated: Sequence[Any] | None = None,
        distance: Distance | None = None,
        suppressed: Sequence[Any] = (),
    ) -> None:
        hidden = suppressed_codes(column, suppressed)
        self.are_amounts = has_order(kind)
        self.is_ordered = self.are_amounts or order is not None
        if self.is_ordered:  # codes follow the order; suppressed comes after every value, and missing is last anyway
            ranks = ascending(column.values) if order is None else declared_order(column, order, hidden)
            column = column.reordered(np.append(ranks[~np.isin(ranks, hidden)], hidden))
            hidden = np.arange(len(ranks) - len(hidden), len(ranks))
        self.column = column
        self.hidden = hidden
        self.levels = None if taxonomy is None else ancestors_by_height(column, taxonomy, hidden)
        self.designated = None if designated is None else designated_codes(column, designated)
        self.distance = self._choose(distance)

    @property
    def distances(self) -> list[Distance]:
        """The ground distances that mean something for the column."""
        found: list[Distance] = ["equal"]
        if self.is_ordered:
            found.append("ordered")
        if self.levels is not None:
            found.append("hierarchical")
        return found

    def _choose(self, distance: Distance | None) -> Distance:
        available = self.distances
        if distance is not None and distance not in available:
            allowed = (
                f"one of {', '.join(available)} for {self.column.name!r} (give an order or a taxonomy of the "
                "column for the other distances)"
            )
            raise ParameterError("verify", "distance", allowed, distance)
        return distance or available[-1]


class Judgement:
    """Some groups of a table, or all, counted once and evaluated several times.

    Parameters
    ----------
    seen
        How often values occur in each group, and in the whole table, by the codes of the scale.
    scale
        The values.
    """

    def __init__(self, seen: Histograms, scale: Scale) -> None:
        self.seen = seen
        self.scale = scale
        self.top = np.maximum.reduceat(seen.counts, seen.offsets[:-1])  # each group's most frequent value's
        self._excesses: dict[Distance, tuple[NDArray[Any], int]] = {}

    def fails(self, word: str, limit: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """The groups that fail, exactly, and a number that is larger where it is worse."""
        failing, badness = getattr(self, f"_fails_{word}")(limit)
        return failing, badness

    def excess(self, distance: Distance) -> tuple[NDArray[Any], int]:
        """How far each group is from the whole table; see `glasshouse.verification.excess`."""
        if distance not in self._excesses:
            if distance == "hierarchical" and self.scale.levels is not None:
                self._excesses[distance] = hierarchical_excess(self.seen, self.scale.levels)
            else:
                self._excesses[distance] = (ordered_excess if distance == "ordered" else equal_excess)(self.seen)
        return self._excesses[distance]

    def designated_counts(self) -> NDArray[np.int64]:
        """In each group, the count of the most frequent designated value."""
        if self.scale.designated is None:
            allowed = f"given together with designated={{{self.scale.column.name!r}: [...]}}, which names the values"
            raise ParameterError("verify", "designated_ell", allowed, None)
        counts = np.where(np.isin(self.seen.values, self.scale.designated), self.seen.counts, 0)
        return np.asarray(np.maximum.reduceat(counts, self.seen.offsets[:-1]))

    def _fails_ell(self, ell: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._fewer_than_one_in(ell, self.top)

    def _fails_designated_ell(self, ell: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._fewer_than_one_in(ell, self.designated_counts())

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
        excess, scale = self.excess(self.scale.distance)
        sizes = self.seen.sizes
        return exceeds(excess, sizes, t * self.seen.n * scale), np.asarray(excess / sizes, np.float64)


def words_of(word: str, limit: Any, distance: str | None = None) -> str:
    """A requirement as a check states it for programs: `Check.words` is for people.

    >>> from fractions import Fraction
    >>> words_of("k", 1000), words_of("recursive", (Fraction(5, 2), 3)), words_of("t", Fraction(1, 5), "equal")
    ('k = 1,000', 'recursive = (2.5, 3)', 't = 0.2 (equal distance)')
    """
    if word == "k":
        return f"k = {limit:,}"
    shown = f"({float(limit[0]):g}, {limit[1]})" if isinstance(limit, tuple) else f"{float(limit):g}"
    return f"{word} = {shown}" + (f" ({distance} distance)" if word == "t" else "")


class SensitiveColumn:
    """One sensitive column in its groups, counted once and evaluated several times."""

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
        of_sets: bool = False,
    ) -> None:
        if of_sets:
            column, division = single_values(column, division)
        self.of_sets = of_sets
        self.scale = Scale(
            column,
            kind=kind,
            order=order,
            taxonomy=taxonomy,
            designated=designated,
            distance=distance,
            suppressed=suppressed,
        )
        self.column = self.scale.column
        self.division = division
        self.seen = histograms(division, self.column)
        self.judgement = Judgement(self.seen, self.scale)
        self.top = self.judgement.top

    def achieved(self) -> Achieved:
        """Count everything that the groups achieve, each number with a group that attains it."""
        seen = self.seen
        share, attaining = largest(self.top, seen.sizes)
        fewest = int(seen.distinct.min())
        recursive = range(1, 1 if self.of_sets else min(fewest, _MOST_RECURSIVE) + 1)
        distances = [] if self.of_sets else self.scale.distances
        return Achieved(
            column=self.column.name,
            n_values=int(np.count_nonzero(seen.totals)),
            frequency=self._attained(1 / share, attaining),
            most_frequent=self._most_frequent(first_by_cells(self.division, attaining)),
            distinct=self._attained(Fraction(fewest), np.flatnonzero(seen.distinct == fewest)),
            entropy=None if self.of_sets else self._entropy(),
            recursive={ell: self._attained(*largest(self.top, seen.tails(ell))) for ell in recursive},
            closeness={distance: self._closeness(distance) for distance in distances},
            distance=self.scale.distance,
            designated=self._designated(),
        )

    def checks(self, asked: Mapping[str, Any]) -> list[Check]:
        """Decide for each threshold, exactly, which groups do not keep it."""
        checks = []
        for what, limit in asked.items():
            failing, badness = self.judgement.fails(what, limit)
            words = words_of(what, limit, self.scale.distance)
            checks.append(check(self.division, words, self.column.name, failing, badness))
        return checks

    def notes(self) -> list[str]:
        """Notes on peculiarities of the column."""
        name, notes = self.column.name, []
        if self.of_sets:
            notes.append(f"{name} contains sets of values: a record counts once under every value in its cell")
        if self.scale.are_amounts and self.scale.levels is None:
            notes.append(
                f"{name} contains amounts: different amounts count as diverse even if they are close, and "
                "close amounts tell an attacker nearly as much as equal ones. Use t-closeness with the "
                "ordered distance, or put the amounts into ranges first"
            )
        odd = [
            word
            for word, codes in (("suppressed", self.scale.hidden), ("missing", [-1]))
            if self.seen.totals[codes].any()
        ]
        if odd and self.scale.is_ordered:
            notes.append(
                f"{' and '.join(odd)} values of {name} are put after the largest value when the ordered distance is "
                "calculated"
            )
        if odd and self.scale.levels is not None:
            notes.append(
                f"{' and '.join(odd)} values of {name} have the largest distance from every other value in the "
                "hierarchical distance"
            )
        return notes

    def _entropy(self) -> Attained:
        millionths, groups = smallest_entropy(self.seen)
        return self._attained(Fraction(millionths, 10**6), groups)

    def _closeness(self, distance: Distance) -> Attained:
        excess, scale = self.judgement.excess(distance)
        most, groups = largest(excess, self.seen.sizes)
        return self._attained(most / (self.seen.n * scale), groups)

    def _designated(self) -> Attained | None:
        if self.scale.designated is None:
            return None
        share, groups = largest(self.judgement.designated_counts(), self.seen.sizes)
        return self._attained(1 / share, groups) if share else None

    def _most_frequent(self, group: int) -> Any:
        """Find the most frequent value of a group: the first of several, and missing only if there is no other."""
        entries = slice(self.seen.offsets[group], self.seen.offsets[group + 1])
        codes = self.seen.values[entries][self.seen.counts[entries] == self.top[group]]
        return self.column.value(int(codes[self.column.ranks[codes].argmin()]))

    def _attained(self, exact: Fraction, groups: NDArray[np.int64]) -> Attained:
        return Attained(exact=exact, group=worst_of(self.division, groups))
