# SPDX-License-Identifier: Apache-2.0
"""Runs of an order that became groups, when a group is complete, and how to represent the prefixes of a run as states.

Kinds of run are told apart. *Seen*: a group that others follow, or the last if rests are dropped. *Merged*: the
last group, which may consist of several that were closed and a rest that was not complete and joined them. *Hidden*:
neighbouring groups with the same box are published as one, and nobody sees where one was closed. (And *free*: a run
that any arrangement gives.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.permanents import shared_out
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Built", "Closeness", "Frequencies", "Impossible", "Judge", "Judged", "Run", "States"]

_LARGEST = 2**62
_MOST_WAYS = 1 << 15  # to spread the values of one class


class Impossible(InputError):
    """No arrangement of a group's values makes the group."""


@dataclass(frozen=True)
class Frequencies:
    """A group is complete if no counted value has more than one record in ``ell``."""

    ell: int

    def complete(self, held: Integers, size: Any, run: Run) -> NDArray[np.bool_]:
        """Judge groups of ``size`` records (one size each, or one for all) by their counts of values; a row a group."""
        return np.asarray(held[:, run.counted].max(axis=1, initial=0) * self.ell <= size)

    def key(self, run: Run) -> tuple[Any, ...]:
        """A key that is equal for runs that differ only in the names of their values; entries are sorted."""
        return (run.sizes, tuple(sorted(zip(run.counts.tolist(), run.counted.tolist(), strict=True))))


@dataclass(frozen=True, eq=False)
class Closeness:
    """A group is complete if it is close to the whole table: `EarthMover`, judging counts that are held in a table."""

    crossing: Integers  # a row for each value, a column for each step of the tree: whether the value is on its far side
    lengths: Integers
    masses: Integers
    whole: int
    most: int
    numerator: int
    denominator: int

    @classmethod
    def of(cls, bound: Any) -> Closeness:
        """Take the distance from a bound t-closeness."""
        mover, t = bound.mover, bound.t
        if mover.kernel == "line_work":
            masses = mover.arrays[0]
            crossing, lengths = np.triu(np.ones((len(masses), len(masses)), np.int64)), np.ones(len(masses), np.int64)
        else:
            parents, lengths, masses = mover.arrays
            root = len(parents) - 1
            crossing = np.zeros((mover.n_values, root), np.int64)
            for value in range(mover.n_values):
                node = value
                while node != root:
                    crossing[value, node] = 1
                    node = int(parents[node])
            lengths, masses = lengths[:root], masses[:root]
        numbers = mover.whole, mover.scale * mover.whole, t.numerator, t.denominator
        return cls(crossing, lengths.astype(np.int64), masses.astype(np.int64), *numbers)

    def complete(self, held: Integers, size: Any, run: Run) -> NDArray[np.bool_]:
        """Judge groups of ``size`` records, exactly."""
        largest = self.most * max(int(np.max(size, initial=1)), 1) * (self.numerator + self.denominator)
        exact: Any = np.int64 if largest < _LARGEST else object
        far = (held @ self.crossing[run.codes]).astype(exact)
        sizes = np.broadcast_to(np.asarray(size, np.int64), len(held)).astype(exact)
        work = (np.abs(far * self.whole - np.outer(sizes, self.masses.astype(exact))) * self.lengths).sum(axis=1)
        return np.asarray(work * self.denominator <= sizes * (self.most * self.numerator), bool)

    def key(self, run: Run) -> tuple[Any, ...]:
        """A key that is equal for runs that are equal, names of values included."""
        return (run.sizes, tuple(zip(run.codes.tolist(), run.counts.tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A published group along the order."""

    # codes, counts, counted: its values, how many records have each, and whether the principle counts them
    codes: Integers
    counts: Integers
    counted: NDArray[np.bool_]
    sizes: tuple[int, ...]  # people in each bucket
    kind: str = "seen"  # ``seen``, ``merged``, ``hidden`` or ``free``, as the module says
    fixed: Integers | None = None  # for each bucket and value how many of its records the attacker has found out
    # of a hidden run: whether what lies between two borders would have been published with the same box
    allowed: NDArray[np.bool_] | None = None

    @property
    def n_buckets(self) -> int:
        """How many buckets it has."""
        return len(self.sizes)

    def borders(self) -> Integers:
        """How many people stand before each border."""
        return np.cumsum([0, *self.sizes])

    def unknown(self) -> Integers:
        """How many people before each border have a value that the attacker has not found out."""
        return np.asarray(self.borders() - self.found_out().sum(axis=1))

    def found_out(self) -> Integers:
        """What the attacker has found out in the buckets before each border."""
        found = np.zeros((self.n_buckets + 1, len(self.codes)), np.int64)
        if self.fixed is not None:
            found[1:] = np.cumsum(self.fixed, axis=0)
        return found


Judge = Frequencies | Closeness
"""When a group is complete."""


# --- states ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Spread:
    """The ways in which some values that are alike can be spread over levels, numbered.

    A level is how many of a value's ``count`` records a prefix holds; of runs that may have been cut, also how many of
    them it held at the last cut.
    """

    levels: Integers  # at the last cut, and now
    ways: Integers | None  # one row a way: how many values are at each level; of one value, a way is its level
    first: Integers
    target: Integers
    weight: Floats
    cut: Integers  # the way that each becomes by a cut

    @property
    def drawn(self) -> Integers:
        """The records that a prefix holds."""
        return self.levels[:, 1] if self.ways is None else self.ways @ self.levels[:, 1]

    @property
    def n_ways(self) -> int:
        """How many ways there are."""
        return len(self.first) - 1

    def highest(self, of_level: Integers) -> Integers:
        """The largest level of any value, for every way."""
        return of_level if self.ways is None else np.where(self.ways > 0, of_level, -1).max(axis=1, initial=-1)


def _n_ways(count: int, alike: int, cuts: bool) -> int:  # noqa: FBT001
    n_levels = (count + 1) * (count + 2) // 2 if cuts else count + 1
    return comb(alike + n_levels - 1, alike)


@lru_cache(maxsize=512)
def _spread(count: int, alike: int, cuts: bool) -> _Spread:  # noqa: FBT001
    pairs = [(then, now) for now in range(count + 1) for then in (range(now + 1) if cuts else (0,))]
    place = {pair: i for i, pair in enumerate(pairs)}
    higher = [place.get((then, now + 1), -1) for then, now in pairs]
    closed = [place[now if cuts else 0, now] for _, now in pairs]
    levels = np.array(pairs, np.int64)
    if alike == 1:
        can = levels[:, 1] < count
        first = np.cumsum([0, *can])
        target, weight = np.array(higher)[can], (count - levels[:, 1])[can]
        return _Spread(levels, None, first, target.astype(np.int64), weight.astype(np.float64), np.array(closed))
    # the highest level first, so that a draw moves on to a larger number
    ways = [way[::-1] for way in shared_out(alike, len(pairs))]
    number = {way: i for i, way in enumerate(ways)}
    starts, targets, weights, cut = [0], [], [], []
    for way in ways:
        after = [0] * len(pairs)
        for level, n_values in enumerate(way):
            after[closed[level]] += n_values
            if n_values and pairs[level][1] < count:
                moved = list(way)
                moved[level] -= 1
                moved[higher[level]] += 1
                targets.append(number[tuple(moved)])
                weights.append(n_values * (count - pairs[level][1]))
        starts.append(len(targets))
        cut.append(number[tuple(after)] if cuts else 0)
    return _Spread(
        levels,
        np.array(ways, np.int64),
        np.array(starts, np.int64),
        np.array(targets, np.int64),
        np.array(weights, np.float64),
        np.array(cut, np.int64),
    )


@dataclass(frozen=True, eq=False)
class States:
    """The states of a run's prefixes, as far as they matter: values in classes, and all other values as one lump.

    A class matters up to some border. A value of which there are c records cannot break l-diversity once c buckets are
    full: from then on it belongs to the lump.
    """

    classes: tuple[tuple[int, ...], ...]  # entries that behave alike
    until: tuple[int, ...]  # the last border at which each class matters, ascending
    lump: tuple[int, ...]
    left: Integers
    cuts: bool

    @classmethod
    def of(cls, run: Run, judge: Judge, left: Integers) -> States:
        """The states of a run, where so many records of each value are not found out."""
        cuts = run.kind != "seen"
        if not isinstance(judge, Frequencies):
            largest = int(np.argmax(left))
            entries = tuple((entry,) for entry in range(len(left)) if entry != largest)
            return cls(entries, (run.n_buckets,) * len(entries), (largest,), left, cuts)
        found, borders, unknown = run.found_out(), run.borders(), run.unknown()
        pairs = [(0, j) for j in range(1, run.n_buckets)]
        if cuts:
            pairs = [(i, j) for j in range(1, run.n_buckets + 1) for i in range(j)]
        until = np.zeros(len(left), np.int64)
        for i, j in pairs:
            most = np.minimum(left, unknown[j] - unknown[i]) + found[j] - found[i]
            until[run.counted & (most * judge.ell > borders[j] - borders[i])] = run.n_buckets if cuts else j
        alike: dict[Any, list[int]] = {}
        for entry in np.flatnonzero(until).tolist():
            alike.setdefault((int(until[entry]), int(left[entry]), found[:, entry].tobytes()), []).append(entry)
        ordered = sorted(alike.items())
        return cls(
            tuple(tuple(entries) for _, entries in ordered),
            tuple(key[0] for key, _ in ordered),
            tuple(np.flatnonzero(until == 0).tolist()),
            left,
            cuts,
        )

    def n_states(self, run: Run) -> float:
        """How many there are in all buckets together, or with every border where the last cut may have been."""
        kinds = [(int(self.left[entries[0]]), len(entries), self.cuts) for entries in self.classes]
        ways = [_n_ways(*kind) for kind in kinds]
        if self.cuts:
            return float(prod(ways) * run.n_buckets**2)
        if max(ways, default=0) > _MOST_WAYS or prod(ways) >= _LARGEST:
            return inf
        unknown = run.unknown()[1:]
        total = 0.0
        last = {self.n_forgotten(j): j for j in range(run.n_buckets)}
        for n_forgotten, j in last.items():
            by_drawn = np.ones(1)  # how many states have drawn 0, 1, ... records
            for kind in kinds[n_forgotten:]:
                by_drawn = np.convolve(by_drawn, np.bincount(_spread(*kind).drawn))[: int(unknown[j]) + 1]
            total += float(by_drawn.sum()) * sum(self.n_forgotten(i) == n_forgotten for i in range(run.n_buckets))
        return total

    def n_forgotten(self, bucket: int) -> int:
        """How many classes cannot matter at the end of a bucket, nor later."""
        return sum(until <= bucket for until in self.until)

    def built(self, bucket: int, limit: int) -> Built:
        """The states of a bucket after at most ``limit`` records were drawn."""
        n_forgotten = self.n_forgotten(bucket)
        forgotten = [entry for entries in self.classes[:n_forgotten] for entry in entries]
        spreads = [
            _spread(int(self.left[entries[0]]), len(entries), self.cuts) for entries in self.classes[n_forgotten:]
        ]
        lump = int(self.left[[*self.lump, *forgotten]].sum())
        return Built(self.classes[n_forgotten:], spreads, lump, self.lump, limit)


class Built:
    """The states that can be reached, as the kernels take them: numbers in mixed radix, a digit for every class."""

    def __init__(
        self,
        classes: tuple[tuple[int, ...], ...],
        spreads: list[_Spread],
        lump: int,
        others: tuple[int, ...],
        limit: int,
    ) -> None:
        self.classes, self.spreads, self.lump, self.others = classes, spreads, lump, others
        self.radix = [spread.n_ways for spread in spreads]
        self.numbers = np.zeros(1, np.int64)
        self.digits: list[Integers] = []
        drawn, stride = np.zeros(1, np.int64), 1
        for spread in spreads:  # the first class is the least significant digit
            drawn = np.add.outer(spread.drawn, drawn)
            digit, others_of = np.nonzero(drawn <= limit)
            drawn = drawn[digit, others_of]
            self.numbers = digit * stride + self.numbers[others_of]
            self.digits = [*(known[others_of] for known in self.digits), digit]
            stride *= spread.n_ways
        self.drawn = drawn.astype(np.int32)
        self.n_states = len(self.numbers)
        self.moves = self._moves(drawn < limit)

    def _moves(self, can: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
        """What the kernels need to know of the states and the moves between them."""
        sources, targets, weights, owners = [], [], [], []
        stride = 1
        for i, (spread, digit) in enumerate(zip(self.spreads, self.digits, strict=True)):
            n_moves = np.where(can, np.diff(spread.first)[digit], 0)
            source = np.repeat(np.arange(self.n_states), n_moves)
            nth = np.arange(len(source)) - np.repeat(np.cumsum(n_moves) - n_moves, n_moves)
            move = spread.first[digit[source]] + nth
            sources.append(source)
            targets.append(self.numbers[source] + (spread.target[move] - digit[source]) * stride)
            weights.append(spread.weight[move])
            owners.append(np.full(len(source), i, np.int32))
            stride *= spread.n_ways
        source = np.concatenate([np.empty(0, np.int64), *sources])
        order = np.argsort(source, kind="stable")
        target = np.searchsorted(self.numbers, np.concatenate([np.empty(0, np.int64), *targets])[order])
        first = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=self.n_states))]).astype(np.int64)
        weight = np.concatenate([np.empty(0), *weights])[order]
        owner = np.concatenate([np.empty(0, np.int32), *owners])[order]
        return self.drawn, first, target.astype(np.int32), weight, owner

    def over(self, parts: Sequence[Integers], combine: Any) -> Integers:
        """Combine one number for every digit into one for every state."""
        found = np.zeros(self.n_states, np.int64)
        for part, digit in zip(parts, self.digits, strict=True):
            found = combine(found, part[digit])
        return found

    def onto(self, other: Built, digits: Sequence[Integers]) -> Integers:
        """The states of another set that have these digits."""
        number, stride = np.zeros(self.n_states, np.int64), 1
        for digit, radix in zip(digits, other.radix, strict=True):
            number += digit * stride
            stride *= radix
        return np.searchsorted(other.numbers, number)

    def cut(self) -> Integers:
        """The state that each becomes by a cut."""
        cut = [spread.cut[digit] for spread, digit in zip(self.spreads, self.digits, strict=True)]
        return self.onto(self, cut)


class Judged:
    """Which states are complete, between two borders of a run or from a border to its end."""

    def __init__(self, run: Run, judge: Judge, built: Built) -> None:
        self.run, self.judge, self.built = run, judge, built
        self.found, self.borders, self.unknown = run.found_out(), run.borders(), run.unknown()

    def between(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether what was drawn since the last cut, at ``start``, is complete at ``stop``."""
        of_level = [spread.levels[:, 1] - spread.levels[:, 0] for spread in self.built.spreads]
        return self._complete(of_level, start, stop)

    def rest(self, start: int) -> NDArray[np.bool_]:
        """Whether what is still to be drawn at ``start`` is complete."""
        of_level = [spread.levels[-1, 1] - spread.levels[:, 1] for spread in self.built.spreads]
        return self._complete(of_level, start, self.run.n_buckets)

    def _complete(self, of_level: list[Integers], start: int, stop: int) -> NDArray[np.bool_]:
        built = self.built
        known, size = self.found[stop] - self.found[start], int(self.borders[stop] - self.borders[start])
        if isinstance(self.judge, Frequencies):
            tops = [
                spread.highest(levels) + known[entries[0]]
                for spread, levels, entries in zip(built.spreads, of_level, built.classes, strict=True)
            ]
            return np.asarray(built.over(tops, np.maximum) * self.judge.ell <= size)
        held = np.empty((built.n_states, len(known)), np.int64)
        for (entry,), levels, digit in zip(built.classes, of_level, built.digits, strict=True):
            held[:, entry] = levels[digit] + known[entry]
        (other,) = built.others
        drawn = held[:, [entry for (entry,) in built.classes]].sum(axis=1) - sum(known[e] for (e,) in built.classes)
        held[:, other] = self.unknown[stop] - self.unknown[start] - drawn + known[other]
        valid = (held[:, other] >= 0) & (held[:, other] <= self.run.counts[other])
        complete = np.zeros(built.n_states, bool)
        complete[valid] = self.judge.complete(held[valid], size, self.run)
        return complete
