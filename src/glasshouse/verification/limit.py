# SPDX-License-Identifier: Apache-2.0
"""Limits: the requirements for the groups of a stream, which are read in batches, and which groups break them.

The size of a group, how often its most frequent value occurs, and how many different values it has decide k-anonymity,
and l-diversity by frequency or by different values. For everything else it must be known how often each value occurs in
the group and in the whole table: that takes an earlier pass over the sensitive columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from glasshouse.verification.columns import Coded
from glasshouse.verification.groups import Histograms
from glasshouse.verification.order import CodedColumn
from glasshouse.verification.sensitive import Judgement, words_of
from glasshouse.verification.verification import Check, WorstGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.verification.sensitive import Scale
    from glasshouse.verification.tally import Counted

    Read = Callable[[str, Sequence[str]], Iterator[pa.Table]]

__all__ = ["BY_SIZES", "Limit", "Question", "ValueCounts", "count_values", "limits_of"]

BY_SIZES: Final = ("k", "ell", "alpha", "distinct_ell")
"""The thresholds that need no earlier pass over the table, in the words of `verify`."""

_MOST_WORST = 5
_FITS = 1 << 62


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A requirement for every group.

    Parameters
    ----------
    limits
        By word of `verify` the limit by sensitive column; for ``k`` by None.
    scales
        The values of the columns of which something else than `BY_SIZES` is asked.
    """

    limits: Mapping[str, Mapping[str | None, Any]]
    scales: Mapping[str, Scale] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often the values of a sensitive column occur in a whole table."""

    values: pa.Array  # distinct, none is missing
    counts: NDArray[np.int64]  # of missing ones, and then of each value

    def coded(self, name: str) -> Coded:
        """A column that has every value that occurs once."""
        missing = [len(self.values)] if self.counts[0] else []
        return Coded(name, np.append(np.arange(len(self.values)), missing).astype(np.int32), self.values)

    def places(self, scale: Scale) -> NDArray[np.int64]:
        """The code in a scale, made of `coded`, of a missing value and then of each value."""
        n_values = len(self.values)
        return np.append(n_values, scale.column.codes[:n_values]).astype(np.int64)


def count_values(
    read: Read, tables: Mapping[str, Sequence[str]], sensitive: Sequence[str], weight: str
) -> dict[str, ValueCounts]:
    """Count the values of sensitive columns, wherever they are published; a row stands for ``weight`` records."""
    found: dict[str, ValueCounts] = {}
    for name, columns in tables.items():
        weighted = [weight] if weight in columns and weight not in sensitive else []
        for value in (value for value in sensitive if value in columns):
            coded = CodedColumn(value, natural=False)
            totals = np.zeros(1, np.int64)
            for batch in read(name, [value, *weighted]):
                codes = coded.entries(batch[value])
                own = np.asarray(batch[weight].fill_null(0)) if weighted else None
                more = np.bincount(codes, own, minlength=coded.n_codes).astype(np.int64)  # exact below 2^53
                more[: len(totals)] += totals
                totals = more
            found[value] = ValueCounts(coded.values, totals)
    return found


@dataclass
class Limit:
    """One requirement for every group, and the groups that break it."""

    word: str
    column: str | None
    limit: Any
    scale: Scale | None = None
    n_failing: int = 0
    n_tuples: int = 0
    worst: list[tuple[float, WorstGroup]] = field(default_factory=list)

    def see(self, groups: Counted, i: int, totals: ValueCounts | None, named: Callable[[int], WorstGroup]) -> None:
        """Take some groups; ``i`` is the place of the column among those that are counted."""
        fails, badness = self._by_sizes(groups, i) if self.scale is None else self._by_values(groups, i, totals)
        places = np.flatnonzero(fails)
        if not len(places):
            return
        self.n_failing += len(places)
        self.n_tuples += int(groups.sizes[places].sum())
        first = places[np.argsort(-badness[places], kind="stable")[:_MOST_WORST]]
        worse = [*self.worst, *((float(badness[g]), named(int(g))) for g in first)]
        self.worst = sorted(worse, key=lambda one: -one[0])[:_MOST_WORST]

    def add(self, other: Limit) -> None:
        """Add the result for the next groups."""
        self.n_failing += other.n_failing
        self.n_tuples += other.n_tuples
        self.worst = sorted([*self.worst, *other.worst], key=lambda one: -one[0])[:_MOST_WORST]

    def _by_sizes(self, groups: Counted, i: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        if self.word == "k":
            return np.asarray(groups.sizes < self.limit), -groups.sizes.astype(np.float64)
        if self.word == "distinct_ell":
            return np.asarray(groups.distinct[i] < self.limit), -groups.distinct[i].astype(np.float64)
        share = 1 / Fraction(self.limit) if self.word == "ell" else Fraction(self.limit)
        tops, sizes = groups.tops[i], groups.sizes
        badness = tops / sizes
        largest = max(share.numerator, share.denominator) * int(sizes.max(initial=1))
        if largest >= _FITS:  # numbers of any length, slowly
            tops, sizes = tops.astype(object), sizes.astype(object)
        return np.asarray(tops * share.denominator > sizes * share.numerator, bool), badness

    def _by_values(
        self, groups: Counted, i: int, totals: ValueCounts | None
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        assert self.scale is not None
        assert totals is not None, "values are counted first"
        entries, places = groups.entries[i], totals.places(self.scale)
        whole = np.zeros(len(places), np.int64)
        whole[places] = totals.counts
        bits = len(places).bit_length()
        pairs = entries.groups << bits | places[entries.codes]
        order = np.argsort(pairs, kind="stable")
        seen = Histograms.of_pairs(groups.sizes, pairs[order], bits, entries.counts[order], whole)
        fails, badness = Judgement(seen, self.scale).fails(self.word, self.limit)
        return fails, np.asarray(badness, np.float64)

    def check(self) -> Check:
        """The result as a check."""
        return Check(
            asked=words_of(self.word, self.limit, None if self.scale is None else self.scale.distance),
            column=self.column,
            n_failing=self.n_failing,
            n_tuples=self.n_tuples,
            worst=tuple(group for _, group in self.worst),
        )


def limits_of(questions: Sequence[Question], values: Sequence[str]) -> list[Limit]:
    """What some questions ask of groups in which these sensitive columns are counted."""
    found = []
    for question in questions:
        found += [Limit("k", None, limit) for limit in question.limits.get("k", {}).values()]
        for column in values:
            for word, by_column in question.limits.items():
                if column in by_column:
                    scale = None if word in BY_SIZES else question.scales[column]
                    found.append(Limit(word, column, by_column[column], scale))
    return found
