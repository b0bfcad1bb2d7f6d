# SPDX-License-Identifier: Apache-2.0
"""Cell shares: how the people of a cell are distributed over its values.

Not evenly. Where a box is the smallest around a group, somebody has each end of an interval, and each value of a set.
All others follow the distribution of the attribute inside the cell, and that is estimated from all cells together by
expectation and maximisation (Turnbull 1976): start with an even one, share the people of every cell out by it, take
the sums as the next one. This is done a few times and not until nothing changes any more: where cells overlap, such as
{D, E} and {E, F}, the most likely distribution has everybody in what they share, and only because nothing says
otherwise. Where small groups were made for their sensitive values and boxes put around them, a cell with two values has
more of the rarer one than the whole table has; how far cells differ is seen from how few different values they list
(`_pull`). Labels of a taxonomy, and cells of other tools, need not have anybody at their ends; there everybody follows
the distribution.

Groups must be cut somewhere, also within a value, so cells look as if some values were more frequent than others even
where all are equally frequent. How much of what is estimated is such chance shows when it is estimated from two halves
of the places. By this much the logarithms of the shares are drawn towards equal ones, unless cells are known not to
overlap, and draws of complete tables vary the shares by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.special import gammaln

from glasshouse.cells import key_of
from glasshouse.errors import InputError
from glasshouse.supports.proportions import Places, Proportions
from glasshouse.supports.supports import Endless, Listed, OrMissing, Prefix, Span, number_of, value_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.supports.supports import Support

__all__ = ["CellShares", "domain_of"]

_MOST_LISTED: Final = 4096  # values of a range that are gone through one by one
_BETWEEN: Final = 3  # values between two ends that stand for all between them, where there are more
_ROUNDS: Final = 4
_SMALL: Final = 12  # people of a cell, of whom a value that is listed may well be half
_HALVINGS: Final = 4  # of the places, to see how much of what is estimated is noise
_SEED: Final = 20061
_LEAST: Final = 1e-6  # of the mean share; below it, shares are taken to be equal
_AGAIN: Final = 2  # rounds after which it is estimated again how far cells differ


def domain_of(name: str, kind: str, supports: Sequence[Support]) -> tuple[Any, ...]:
    """The values that cells may stand for, in their order, a missing one last; some for all where they are many."""
    ends: set[Any] = set()
    spans: list[Span] = []
    listed: dict[str, Any] = {}
    missing = False
    for support in supports:
        inner = support.support if isinstance(support, OrMissing) else support
        missing |= isinstance(support, OrMissing)
        if isinstance(inner, Endless | Prefix):
            raise InputError(
                f"column {name!r} has cells that are open at one end or end in stars, and the release does not say "
                f"which values they cover: give all values of the column in their order (ordered={{{name!r}: [...]}}), "
                "or leave the column out"
            )
        if isinstance(inner, Span):
            spans.append(inner)
            ends |= {inner.low, inner.high}
        else:
            listed |= {key_of(value): value for value in inner.listed() or () if value is not None}
            missing |= None in (inner.listed() or ())
    if not spans:
        values = sorted(listed.values(), key=lambda value: (str(type(value)), value))
        return (*values, *([None] if missing else []))
    ends |= {number_of(value, kind) for value in listed.values()}
    zoned = any(span.zoned for span in spans)
    numbers = _filled(sorted(ends), whole=kind in ("integer", "date", "timestamp"))
    return (*(value_at(number, kind, zoned=zoned) for number in numbers), *([None] if missing else []))


def _filled(ends: list[Any], *, whole: bool) -> list[Any]:
    """The ends and what lies between them: everything, if these are whole numbers and not too many."""
    if whole and ends[-1] - ends[0] < _MOST_LISTED:
        return list(range(int(ends[0]), int(ends[-1]) + 1))
    found: list[Any] = []
    for low, high in pairwise(ends):
        found.append(low)
        inside = int(high - low) - 1 if whole else _BETWEEN
        n = min(_BETWEEN, inside)
        between = [low + (high - low) * (i + 1) / (n + 1) for i in range(n)]
        found += sorted({int(at) for at in between} - {low, high}) if whole else between
    return [*found, ends[-1]]


@dataclass(frozen=True, eq=False)
class CellShares:
    """The cells of one attribute: runs of values, values that some person certainly has, and the attribute's shares."""

    proportions: Proportions
    sure: NDArray[np.int64]  # places of values that somebody in the cell has for sure, cell by cell
    first_sure: NDArray[np.int64]  # where each cell's begin, and where the last one's end
    shares: NDArray[np.float64]  # of every value of the domain, for people who have none of the sure ones, as weights
    deviations: NDArray[np.float64]  # of the logarithms of shares: a random sum of the rows is one (times x values)

    @classmethod
    def of(
        cls,
        supports: Sequence[Support],
        places: Places,
        n_values: int,
        *,
        attained: bool,
        mixed: bool,
        disjoint: bool,
        cells: NDArray[np.int64],
        people: NDArray[np.int64],
    ) -> CellShares:
        """Estimate the shares of values; ``cells`` and ``people`` are those of every place of the release.

        ``attained`` says whether somebody is at every end of a cell for sure, ``mixed`` whether people were put
        together for their sensitive values, and ``disjoint`` whether cells were cut so that no two places overlap.
        """
        proportions = Proportions.of(supports, places)
        sure = [_sure(support, places) if attained else [] for support in supports]
        first_sure = np.cumsum([0, *map(len, sure)])
        in_sets = mixed and attained and not any(isinstance(_inner(support), Span) for support in supports)
        in_sets &= float(np.median(people)) <= _SMALL
        sure_places = np.array([p for own in sure for p in own], np.int64)
        cell = cls(proportions, sure_places, first_sure, np.ones(n_values), np.zeros((0, n_values)))
        shares = cell.turnbull(cells, people, in_sets=in_sets)
        deviations = cell.halved(cells, people, in_sets=in_sets)
        reliable = 1.0 if disjoint else _reliable(shares, deviations)
        return replace(cell, shares=shares**reliable, deviations=deviations)

    def halved(self, cells: NDArray[np.int64], people: NDArray[np.int64], *, in_sets: bool) -> NDArray[np.float64]:
        """How far the logarithms of weights may be off by chance, as `deviations`.

        Weights are estimated from two halves of the places, some times. Half of the difference is as uncertain as an
        estimate from all places.
        """
        if len(cells) < 2:
            return np.zeros((0, len(self.shares)))
        random = np.random.Generator(np.random.PCG64(_SEED))
        found = []
        for _ in range(_HALVINGS):
            half = random.permutation(len(cells)) % 2 == 0
            first, second = (self.turnbull(cells[some], people[some], in_sets=in_sets) for some in (half, ~half))
            found.append((_logs(first) - _logs(second)) / 2)
        return np.asarray(np.stack(found) / np.sqrt(_HALVINGS), np.float64)

    def turnbull(self, cells: NDArray[np.int64], people: NDArray[np.int64], *, in_sets: bool) -> NDArray[np.float64]:
        """The maximum-likelihood weights of values, given all cells; ``in_sets`` if cells list values people have."""
        n_cells = len(self.proportions)
        taken = np.minimum(self.n_sure[cells], people)
        left = np.bincount(cells, weights=people - taken, minlength=n_cells)
        fixed = np.bincount(cells, weights=taken / np.maximum(self.n_sure[cells], 1), minlength=n_cells)
        known = np.bincount(self.sure, weights=np.repeat(fixed, self.n_sure), minlength=len(self.shares))
        shares = self.shares / len(self.shares)
        pull = 0.0
        for number in range(_ROUNDS):
            if in_sets and number % _AGAIN == _AGAIN - 1:
                pull = _pull(shares, people, self.n_sure[cells])
            weights = shares + pull
            inside = self._masses(weights)
            each = np.divide(left, inside, out=np.zeros(n_cells), where=inside > 0)
            steps = np.zeros(len(shares) + 1)
            by_run = np.repeat(each, self._n_runs)
            np.add.at(steps, self.proportions.lows, by_run)
            np.add.at(steps, self.proportions.highs, -by_run)
            spread = np.maximum(np.cumsum(steps)[:-1], 0.0)  # rounding leaves less than 0 where nobody is
            found = known + weights * spread
            found /= found.sum()
            done = np.abs(found - shares).max() < 1e-7 and (not in_sets or number >= _AGAIN)
            shares = found
            if done:
                break
        return np.asarray(shares + pull, np.float64)

    @property
    def n_sure(self) -> NDArray[np.int64]:
        """The number of values of each cell that some person certainly has."""
        return np.diff(self.first_sure)

    @cached_property
    def _n_runs(self) -> NDArray[np.int64]:
        return np.diff(self.proportions.firsts, append=len(self.proportions.lows))

    def _masses(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of every cell."""
        before = np.append(0.0, np.cumsum(shares))
        runs = before[self.proportions.highs] - before[self.proportions.lows]
        return np.asarray(np.add.reduceat(runs, self.proportions.firsts), np.float64)

    def quantiles(
        self, cells: NDArray[np.int64], people: NDArray[np.int64], at: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """The values (as places of the domain) at these parts of their cells, between 0 and 1.

        First come the values that somebody has for sure, one of ``people`` each, then the others by their shares.
        """
        n_sure = np.minimum(self.n_sure[cells], people)
        part = at * people
        is_sure = part < n_sure
        found = np.zeros(len(at), np.int64)
        if is_sure.any():
            # where fewer people than values are known, every value is as likely as any other
            spread = (at * people / np.maximum(n_sure, 1) * self.n_sure[cells]).astype(np.int64)
            spread = np.minimum(spread, np.maximum(self.n_sure[cells] - 1, 0))
            found[is_sure] = self.sure[self.first_sure[cells[is_sure]] + spread[is_sure]]
        rest = ~is_sure
        if rest.any():
            within = ((part - n_sure) / np.maximum(people - n_sure, 1e-300))[rest]
            found[rest] = self._by_shares(cells[rest], np.clip(within, 0, 1 - 1e-12))
        return found

    def _by_shares(self, cells: NDArray[np.int64], within: NDArray[np.float64]) -> NDArray[np.int64]:
        shares = self.shares + 1e-9 * self.shares.max() / len(
            self.shares
        )  # a cell that nobody would be in has its values evenly
        before = np.append(0.0, np.cumsum(shares))
        lows, highs, firsts = self.proportions.lows, self.proportions.highs, self.proportions.firsts
        runs = np.append(0.0, np.cumsum(before[highs] - before[lows]))
        last = firsts + self._n_runs
        wanted = runs[firsts[cells]] + within * (runs[last[cells]] - runs[firsts[cells]])
        run = np.clip(np.searchsorted(runs, wanted, side="right") - 1, firsts[cells], last[cells] - 1)
        place = np.searchsorted(before, before[lows[run]] + (wanted - runs[run]), side="right") - 1
        return np.asarray(np.clip(place, lows[run], highs[run] - 1), np.int64)


def _logs(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(shares / shares.sum() + _LEAST / len(shares)), np.float64)


def _reliable(shares: NDArray[np.float64], deviations: NDArray[np.float64]) -> float:
    """The part of the variance of the logarithms that is not by chance: 0 if all values may be equally frequent."""
    weights, logs = shares / shares.sum(), _logs(shares)
    spread = float(weights @ (logs - weights @ logs) ** 2)
    noise = float(weights @ (deviations**2).sum(axis=0))
    return max(0.0, 1 - noise / spread) if spread > 0 else 0.0


def _pull(shares: NDArray[np.float64], people: NDArray[np.int64], n_values: NDArray[np.int64]) -> float:
    """How far cells differ in their shares: 0 if all are alike, and large if each has hardly any but its own values.

    The people of a cell have values by Polya's urn with ``strength * shares`` balls: the weaker it is, the fewer
    different values does a cell have, and the strength is chosen so that cells have as many on average as they show.
    What is given is one over the strength.
    """
    sizes, times = np.unique(people, return_counts=True)
    shown = float(n_values.sum())
    low, high = np.log(1e-3), np.log(1e6)
    for _ in range(40):
        strength = np.exp((low + high) / 2)
        rest = np.maximum(strength * (1 - shares), 1e-12)
        size = sizes[:, np.newaxis].astype(np.float64)
        nobody = gammaln(rest + size) - gammaln(rest) - gammaln(strength + size) + gammaln(strength)
        expected = float((times * (1 - np.exp(nobody)).sum(axis=1)).sum())
        low, high = ((low + high) / 2, high) if expected < shown else (low, (low + high) / 2)
    return float(np.exp(-(low + high) / 2))


def _inner(support: Support) -> Support:
    return support.support if isinstance(support, OrMissing) else support


def _sure(support: Support, places: Places) -> list[int]:
    """The indices of the values that some person in the cell has, if the cell is as small as possible."""
    runs = places.inside(support)
    inner = _inner(support)
    if isinstance(inner, Listed):
        return [place for run in runs for place in run]
    if not isinstance(inner, Span):
        return []
    own = places.inside(inner)
    ends = {own[0].start, own[-1].stop - 1}
    return sorted(ends | ({runs[-1].stop - 1} if isinstance(support, OrMissing) else set()))
