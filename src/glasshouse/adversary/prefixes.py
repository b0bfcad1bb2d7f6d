# SPDX-License-Identifier: Apache-2.0
"""What a group that was grown bucket by bucket tells about its people: at which prefixes it was not closed.

MINIMALITY 4.2 and 4.3. A group of m buckets was published, so it was closed at none of its proper prefixes. Under GG
none of them was complete; under RGG a world weighs p to the number of those that were. The chances of each prefix's
contents are carried forward from bucket to bucket, and the hopes of the group's end backward; where they meet, they
give the value of the next tuple. All tuples of a bucket are alike, so that is the belief for the whole bucket.

Kinds of run are told apart. *Seen*: a group that others follow, or the last if rests are dropped. *Merged*: the
last group, which may consist of several that were closed and a rest that was not complete and joined them. *Hidden*:
neighbouring groups with the same box are published as one, and nobody sees where one was closed. (And *free*: a run
that any arrangement gives.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import comb, inf, log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import InputError, NotSupported
from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.randomness import Source

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Closeness", "Frequencies", "Impossible", "Run", "Solved", "solve"]

_KERNELS = "glasshouse.adversary._sequence_kernels"
_LARGEST = 2**62
_Z95 = 1.96
_TRIALS = 1 << 11  # arrangements that are drawn together at first
_TRIALS_GROW = 1 << 5  # and at most so many times as many
_MOST_WAYS = 1 << 15  # to spread the values of one class


class Impossible(InputError):
    """No arrangement of a group's values makes the group."""


@dataclass(frozen=True)
class Frequencies:
    """A group is complete if no counted value has more than one tuple in ``ell``."""

    ell: int

    def complete(self, held: Integers, size: Any, run: Run) -> NDArray[np.bool_]:
        """Judge groups of ``size`` tuples (each, or all alike) by how many each value has: one row a group."""
        return np.asarray(held[:, run.counted].max(axis=1, initial=0) * self.ell <= size)

    def key(self, run: Run) -> tuple[Any, ...]:
        """Runs with equal keys are alike but for the names of their values; entries sorted."""
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
        """Judge groups of ``size`` tuples, exactly."""
        largest = self.most * max(int(np.max(size, initial=1)), 1) * (self.numerator + self.denominator)
        exact: Any = np.int64 if largest < _LARGEST else object
        far = (held @ self.crossing[run.codes]).astype(exact)
        sizes = np.broadcast_to(np.asarray(size, np.int64), len(held)).astype(exact)
        work = (np.abs(far * self.whole - np.outer(sizes, self.masses.astype(exact))) * self.lengths).sum(axis=1)
        return np.asarray(work * self.denominator <= sizes * (self.most * self.numerator), bool)

    def key(self, run: Run) -> tuple[Any, ...]:
        """Runs with equal keys are alike, names of values included."""
        return (run.sizes, tuple(zip(run.codes.tolist(), run.counts.tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A published group along the order.

    Attributes
    ----------
    codes, counts, counted
        Its values, how many tuples have each, and whether the principle counts them.
    sizes
        People in each bucket.
    kind
        ``seen``, ``merged``, ``hidden`` or ``free``, as the module says.
    fixed
        For each bucket and value how many of its tuples she has found out.
    allowed
        Of a hidden run: whether what lies between two borders would have been published with the same box.
    """

    codes: Integers
    counts: Integers
    counted: NDArray[np.bool_]
    sizes: tuple[int, ...]
    kind: str = "seen"
    fixed: Integers | None = None
    allowed: NDArray[np.bool_] | None = None

    @property
    def n_buckets(self) -> int:
        """How many buckets it has."""
        return len(self.sizes)

    def borders(self) -> Integers:
        """How many people stand before each border."""
        return np.cumsum([0, *self.sizes])

    def unknown(self) -> Integers:
        """Of how many of them she has not found out the value."""
        return np.asarray(self.borders() - self.found_out().sum(axis=1))

    def found_out(self) -> Integers:
        """What she has found out in the buckets before each border."""
        found = np.zeros((self.n_buckets + 1, len(self.codes)), np.int64)
        if self.fixed is not None:
            found[1:] = np.cumsum(self.fixed, axis=0)
        return found


@dataclass(frozen=True, eq=False)
class Solved:
    """What a run tells.

    Attributes
    ----------
    beliefs
        For each bucket and value the belief that a tuple of the bucket has it, if she has not found it out.
    log_weight
        Of the run: how likely the arrangements that give it are, among all that agree with what she has found out.
    errors
        If arrangements were sampled, the half widths of 95 % intervals.
    """

    beliefs: Floats
    log_weight: float
    errors: Floats | None = None


def solve(
    run: Run,
    judge: Any,
    p: Fraction,
    *,
    most_states: int,
    error: float,
    source: Source,
    most_trials: int,
) -> Solved:
    """Find the beliefs inside a run: exactly if there are few states, else from sampled arrangements.

    Parameters
    ----------
    run, judge, p
        The run, when a group is complete, and the probability that a complete group goes on.
    most_states
        Most states of all prefixes together that are gone through.
    error, source, most_trials
        Otherwise: how wide the half of a 95 % interval may be, where arrangements come from, and how many are tried.
    """
    left = run.counts - run.found_out()[-1]
    if (left < 0).any():
        raise Impossible("somebody is said to have a value that his group does not have")
    if not judge.complete(run.counts[np.newaxis], sum(run.sizes), run)[0]:
        raise Impossible("a group breaks the principle that it was made under")
    if run.n_buckets == 1 or run.kind == "free":
        return Solved(np.tile(left / max(1, int(left.sum())), (run.n_buckets, 1)), 0.0)
    states = _States.of(run, judge, left)
    if states.n_states(run) <= most_states:
        return _cut_exactly(run, judge, p, states) if states.cuts else _exactly(run, judge, p, states)
    return _sampled(run, judge, p, states, error=error, source=source, most_trials=most_trials)


# --- states ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Spread:
    """The ways in which some values that are alike can be spread over levels, numbered.

    A level is how many of a value's ``count`` tuples a prefix holds; of runs that may have been cut, also how many of
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
        """The tuples that a prefix holds."""
        return self.levels[:, 1] if self.ways is None else self.ways @ self.levels[:, 1]

    @property
    def n_ways(self) -> int:
        """How many ways there are."""
        return len(self.first) - 1

    def highest(self, of_level: Integers) -> Integers:
        """For every way the largest number among the levels that have a value."""
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
    # the highest level first, so that whoever draws moves on to a larger number
    ways = [way[::-1] for way in _ways(len(pairs), alike)]
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


def _ways(n_levels: int, alike: int) -> Iterator[tuple[int, ...]]:
    """All ways to put so many onto levels, in ascending order."""
    if n_levels == 1:
        yield (alike,)
        return
    for here in range(alike + 1):
        for others in _ways(n_levels - 1, alike - here):
            yield (here, *others)


@dataclass(frozen=True, eq=False)
class _States:
    """How the prefixes of a run can be told apart, as far as it matters: values in classes, and the lump of others.

    A class matters up to some border. A value of which there are c tuples cannot break l-diversity once c buckets are
    full: from then on it belongs to the lump.
    """

    classes: tuple[tuple[int, ...], ...]  # entries that behave alike
    until: tuple[int, ...]  # the last border at which each class matters, ascending
    lump: tuple[int, ...]
    left: Integers
    cuts: bool

    @classmethod
    def of(cls, run: Run, judge: Any, left: Integers) -> _States:
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
            by_drawn = np.ones(1)  # how many states have drawn 0, 1, ... tuples
            for kind in kinds[n_forgotten:]:
                by_drawn = np.convolve(by_drawn, np.bincount(_spread(*kind).drawn))[: int(unknown[j]) + 1]
            total += float(by_drawn.sum()) * sum(self.n_forgotten(i) == n_forgotten for i in range(run.n_buckets))
        return total

    def n_forgotten(self, bucket: int) -> int:
        """How many classes cannot matter at the end of a bucket, nor later."""
        return sum(until <= bucket for until in self.until)

    def built(self, bucket: int, limit: int) -> _Built:
        """The states of a bucket, which have drawn at most ``limit`` tuples."""
        n_forgotten = self.n_forgotten(bucket)
        forgotten = [entry for entries in self.classes[:n_forgotten] for entry in entries]
        spreads = [
            _spread(int(self.left[entries[0]]), len(entries), self.cuts) for entries in self.classes[n_forgotten:]
        ]
        lump = int(self.left[[*self.lump, *forgotten]].sum())
        return _Built(self.classes[n_forgotten:], spreads, lump, self.lump, limit)


class _Built:
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
        self.tables, self.owner = self._moves(drawn < limit)

    def _moves(self, can: NDArray[np.bool_]) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
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
        return (first, target.astype(np.int32), weight), np.concatenate([np.empty(0, np.int32), *owners])[order]

    def over(self, parts: Sequence[Integers], combine: Any) -> Integers:
        """Combine one number for every digit into one for every state."""
        found = np.zeros(self.n_states, np.int64)
        for part, digit in zip(parts, self.digits, strict=True):
            found = combine(found, part[digit])
        return found

    def onto(self, other: _Built, digits: Sequence[Integers]) -> Integers:
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


class _Judged:
    """Which states are complete, between two borders of a run or from a border to its end."""

    def __init__(self, run: Run, judge: Any, built: _Built) -> None:
        self.run, self.judge, self.built = run, judge, built
        self.found, self.borders, self.unknown = run.found_out(), run.borders(), run.unknown()

    def between(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether what was drawn since the last cut, at ``start``, is complete at ``stop``."""
        of_level = [spread.levels[:, 1] - spread.levels[:, 0] for spread in self.built.spreads]
        return self._complete(of_level, start, stop, lambda lump: self.unknown[stop] - self.unknown[start] - lump)

    def rest(self, start: int) -> NDArray[np.bool_]:
        """Whether what is still to be drawn at ``start`` is complete."""
        of_level = [spread.levels[-1, 1] - spread.levels[:, 1] for spread in self.built.spreads]
        n = self.run.n_buckets
        return self._complete(of_level, start, n, lambda lump: self.unknown[n] - self.unknown[start] - lump)

    def _complete(self, of_level: list[Integers], start: int, stop: int, lump: Any) -> NDArray[np.bool_]:
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
        held[:, other] = lump(drawn) + known[other]
        valid = (held[:, other] >= 0) & (held[:, other] <= self.run.counts[other])
        complete = np.zeros(built.n_states, bool)
        complete[valid] = self.judge.complete(held[valid], size, self.run)
        return complete


# --- exactly ---------------------------------------------------------------------------------------------------------


def _exactly(run: Run, judge: Any, p: Fraction, states: _States) -> Solved:
    """Carry chances forward and hopes backward, where every border that is no end was passed.

    Beside the chance of every state goes, for the lump and for every class that has been forgotten into it, that chance
    times how many of its tuples are expected to be left.
    """
    kernels = compiled(_KERNELS)
    m, goes_on = run.n_buckets, float(p)
    at = run.unknown().tolist()
    stages = _stages(states, at)
    onto = [
        None if one is other else one.onto(other, one.digits[len(one.digits) - len(other.digits) :])
        for one, other in pairwise(stages)
    ]
    n, n_classes = at[-1], len(states.classes)
    chances = np.zeros(stages[0].n_states)
    chances[0] = 1.0
    rests = {n_classes: chances * float(stages[0].lump)}
    before, stays, log_weight = [], [], 0.0
    for j, stage in enumerate(stages):
        before.append((chances.copy(), {i: rest.copy() for i, rest in rests.items()}))
        kernels.draw_forward(chances, stage.drawn, stage.lump, n, at[j], at[j + 1], *stage.tables)
        for rest in rests.values():  # of what is left, the tuple drawn is no longer
            kernels.draw_forward(rest, stage.drawn, stage.lump - 1, n, at[j], at[j + 1], *stage.tables)
        if j == m - 1:
            break
        stay = np.where(_Judged(run, judge, stage).between(0, j + 1), goes_on, 1.0)
        stays.append(stay)
        weighed = chances * stay
        total = float(weighed.sum())
        if total <= 0.0:
            raise Impossible("no arrangement of a group's values makes the group")
        log_weight += log(total)
        rests = {i: rest * stay / total for i, rest in rests.items()}
        chances = weighed / total
        for i in range(len(stage.classes) - len(stages[j + 1].classes)):  # these are forgotten
            drawn = stage.spreads[i].drawn
            rests[n_classes - len(stage.classes) + i] = chances * (drawn[-1] - drawn)[stage.digits[i]]
        chances = _gathered(chances, onto[j], stages[j + 1].n_states)
        rests = {i: _gathered(rest, onto[j], stages[j + 1].n_states) for i, rest in rests.items()}
    log_weight += log(float(chances.sum()))

    hopes = np.where(stages[-1].drawn == stages[-1].drawn[-1], 1.0, 0.0)
    beliefs = np.zeros((m, len(run.codes)))
    for j in range(m - 1, -1, -1):
        stage, (chances, rests) = stages[j], before[j]
        if at[j + 1] > at[j]:
            kernels.draw_backward(hopes, stage.drawn, stage.lump, n, at[j] + 1, at[j + 1], *stage.tables)
            of_stage = np.zeros(len(stage.classes) + 1)
            kernels.next_tuple(chances, hopes, stage.drawn, stage.lump, at[j], *stage.tables, stage.owner, of_stage)
            shares = np.zeros(n_classes + 1)
            shares[n_classes - len(stage.classes) : n_classes] = of_stage[:-1]
            for i, rest in rests.items():
                shares[i] = float(rest @ hopes)
            beliefs[j] = _by_entry(states, shares / shares.sum())
            kernels.draw_backward(hopes, stage.drawn, stage.lump, n, at[j], at[j] + 1, *stage.tables)
        if j:
            hopes = stays[j - 1] * (hopes if onto[j - 1] is None else hopes[onto[j - 1]])
            hopes /= hopes.max()
    return Solved(beliefs, log_weight)


def _stages(states: _States, at: list[int]) -> list[_Built]:
    """The states of every bucket; buckets in which the same classes matter share them."""
    found: dict[int, _Built] = {}
    for j in range(len(at) - 2, -1, -1):
        n_forgotten = states.n_forgotten(j)
        if n_forgotten not in found:
            found[n_forgotten] = states.built(j, at[j + 1])
    return [found[states.n_forgotten(j)] for j in range(len(at) - 1)]


def _gathered(chances: Floats, onto: Integers | None, n_states: int) -> Floats:
    """Add up what goes onto each state; None: everything stays where it is."""
    if onto is None:
        return chances
    return np.asarray(np.bincount(onto, weights=chances, minlength=n_states), np.float64)


def _cut_exactly(run: Run, judge: Any, p: Fraction, states: _States) -> Solved:
    """The same where the run may have been cut: states also tell what a prefix held at the last cut."""
    built = states.built(0, int(run.unknown()[-1]))
    kernels = compiled(_KERNELS)
    judged, m, n_states = _Judged(run, judge, built), run.n_buckets, built.n_states
    at, goes_on = judged.unknown.tolist(), float(p)
    n, cut = at[-1], built.cut()
    start = np.zeros(n_states)
    start[0] = 1.0
    chances: dict[int, Floats] = {0: start}  # by the border of the last cut
    before: list[dict[int, Floats]] = []
    stays: list[dict[int, Floats]] = [{}]
    closes: list[dict[int, Floats]] = [{}]
    log_weight = 0.0
    for j in range(m):
        before.append({since: array.copy() for since, array in chances.items()})
        for array in chances.values():
            kernels.draw_forward(array, built.drawn, built.lump, n, at[j], at[j + 1], *built.tables)
        if j < m - 1:
            stay, close = _at_border(run, judged, chances, j + 1, goes_on)
            stays.append(stay)
            closes.append(close)
            fresh = np.zeros(n_states)
            for since, array in chances.items():
                fresh += _gathered(array * close[since], cut, n_states)
                array *= stay[since]
            chances[j + 1] = fresh
        else:
            ends = {since: _at_end(run, judged, since) for since in chances}
            for since, array in chances.items():
                array *= ends[since]
        total = float(sum(array.sum() for array in chances.values()))
        if total <= 0.0:
            raise Impossible("no arrangement of a group's values makes the group")
        log_weight += log(total)
        for array in chances.values():
            array /= total

    hopes = {since: np.where(built.drawn == built.drawn[-1], end, 0.0) for since, end in ends.items()}
    beliefs = np.zeros((m, len(run.codes)))
    for j in range(m - 1, -1, -1):
        shares = np.zeros(len(built.spreads) + 1)
        for since, array in before[j].items():
            hope = hopes[since]
            if at[j + 1] > at[j]:
                kernels.draw_backward(hope, built.drawn, built.lump, n, at[j] + 1, at[j + 1], *built.tables)
                kernels.next_tuple(array, hope, built.drawn, built.lump, at[j], *built.tables, built.owner, shares)
                kernels.draw_backward(hope, built.drawn, built.lump, n, at[j], at[j] + 1, *built.tables)
        if at[j + 1] > at[j]:
            beliefs[j] = _by_entry(states, shares / shares.sum())
        if j:
            hopes = {since: stay * hopes[since] + closes[j][since] * hopes[j][cut] for since, stay in stays[j].items()}
            largest = max(hope.max() for hope in hopes.values())
            for hope in hopes.values():
                hope /= largest
    return Solved(beliefs, log_weight)


def _at_border(
    run: Run, judged: _Judged, chances: dict[int, Floats], j: int, goes_on: float
) -> tuple[dict[int, Floats], dict[int, Floats]]:
    """What each state weighs if the group goes on, and if it is closed, by the border of the last cut."""
    stay, close = {}, {}
    for since in chances:
        complete = judged.between(since, j)
        stay[since] = np.where(complete, goes_on, 1.0)
        close[since] = np.where(complete, 1.0 - goes_on, 0.0)
        if run.kind == "merged":  # it joins its successors only because all of them together are not complete
            close[since][judged.rest(j)] = 0.0
        elif run.allowed is not None and not run.allowed[since, j]:
            close[since][:] = 0.0
    return stay, close


def _at_end(run: Run, judged: _Judged, since: int) -> Floats:
    """What each state weighs at the end of the run."""
    if run.kind != "hidden":
        return np.ones(judged.built.n_states)
    allowed = run.allowed is None or run.allowed[since, run.n_buckets]
    return np.asarray(judged.between(since, run.n_buckets) & allowed, np.float64)


def _by_entry(states: _States, shares: Floats) -> Floats:
    """Share beliefs in classes out to their values."""
    beliefs = np.zeros(len(states.left))
    for entries, share in zip(states.classes, shares.tolist(), strict=False):
        beliefs[list(entries)] = share / len(entries)
    others = list(states.lump)
    lump = int(states.left[others].sum())
    if lump:
        beliefs[others] = shares[-1] * states.left[others] / lump
    return beliefs


# --- sampled ---------------------------------------------------------------------------------------------------------


def _sampled(
    run: Run, judge: Any, p: Fraction, states: _States, *, error: float, source: Source, most_trials: int
) -> Solved:
    """Draw arrangements, and keep those that the algorithm makes the run of: independent ones, exactly."""
    lumped = _lumped(run, states) if isinstance(judge, Frequencies) else run
    unknown = np.maximum(np.diff(run.unknown()), 1)[:, np.newaxis]
    total = np.zeros((run.n_buckets, len(lumped.codes)))
    squares = np.zeros_like(total)
    kept, trials, n = 0, 0, _TRIALS
    while True:
        for drawn in _trials(lumped, judge, p, source, n):
            shares = drawn / unknown
            total += shares.sum(axis=0)
            squares += (shares**2).sum(axis=0)
            kept += len(drawn)
        trials += n
        n = min(2 * n, _TRIALS * _TRIALS_GROW)
        if kept >= 100:
            mean = total / kept
            # the last term stands in where all arrangements agree: with probability 0.95 an event that was never seen
            # in n trials is rarer than 3 / n
            errors = _Z95 * np.sqrt(np.maximum(squares / kept - mean**2, 0.0) / kept) + 3.0 / kept
            if errors.max() <= error:
                return _answered(_unlumped(run, states, lumped, mean, errors), kept / trials)
        if trials >= most_trials:
            size = f"{sum(run.sizes):,} people with {len(run.codes):,} values"
            raise NotSupported(
                f"beliefs within {error} about a group of {size}: {trials:,} arrangements were drawn, {kept:,} of "
                "which the algorithm would have made this group of",
                instead="allow a larger error, or more states",
            )


def _answered(found: tuple[Floats, ...], share: float) -> Solved:
    beliefs, errors = found
    return Solved(beliefs, log(share), errors)


def _lumped(run: Run, states: _States) -> Run:
    """The same run with all values that never matter as one, which comes last."""
    own, others = [entry for entries in states.classes for entry in entries], list(states.lump)
    if not others:
        return run

    def joined(array: Integers) -> Integers:
        return np.append(array[..., own], array[..., others].sum(axis=-1, keepdims=True), axis=-1)

    return replace(
        run,
        codes=np.arange(len(own) + 1),
        counts=joined(run.counts),
        counted=np.append(run.counted[own], False),
        fixed=None if run.fixed is None else joined(run.fixed),
    )


def _unlumped(run: Run, states: _States, lumped: Run, *found: Floats) -> tuple[Floats, ...]:
    """Share what was found of the lump out to its values."""
    if lumped is run:
        return found
    own, others = [entry for entries in states.classes for entry in entries], list(states.lump)
    share = states.left[others] / max(1, int(states.left[others].sum()))
    back = []
    for table in found:
        whole = np.zeros((len(table), len(run.codes)))
        whole[:, own] = table[:, :-1]
        whole[:, others] = table[:, -1:] * share
        back.append(whole)
    return tuple(back)


def _trials(run: Run, judge: Any, p: Fraction, source: Source, n_trials: int) -> Iterator[Integers]:
    """Arrangements that give the run, out of a number of uniform ones: for each, bucket and value the tuples."""
    kernels = compiled(_KERNELS)
    m, u, found, borders = run.n_buckets, len(run.codes), run.found_out(), np.cumsum([0, *run.sizes])
    at = borders - found.sum(axis=1)
    left = np.tile((run.counts - found[-1]).astype(np.int32), (n_trials, 1))
    held = np.zeros((n_trials, u), np.int64)  # since the last cut
    since = np.zeros(n_trials, np.int64)
    drawn: list[NDArray[np.int32]] = []
    parents: list[Integers] = []
    for j in range(m):
        n = len(left)
        got = np.zeros((n, u), np.int32)
        bounds = np.tile(np.arange(at[-1] - at[j], at[-1] - at[j + 1], -1), n)
        picks = source.belows(bounds) if len(bounds) else np.empty(0, np.int64)
        kernels.take_tuples(left, picks.reshape(n, -1), got)
        held += got + (found[j + 1] - found[j])
        complete = judge.complete(held, borders[j + 1] - borders[since], run)
        if j < m - 1:
            closed = complete.copy()
            if p:
                coins = source.belows(p.denominator, int(complete.sum())) >= p.numerator
                closed[complete] = coins
            keep = ~closed
            if run.kind == "merged":
                keep |= ~judge.complete(left + (found[-1] - found[j + 1]), borders[-1] - borders[j + 1], run)
            elif run.kind == "hidden":
                keep |= True if run.allowed is None else run.allowed[since, j + 1]
            held[closed] = 0
            since[closed] = j + 1
        else:
            keep = np.ones(n, bool)
            if run.kind == "hidden":
                keep = complete & (True if run.allowed is None else run.allowed[since, m])
        rows = np.flatnonzero(keep)
        drawn.append(got)
        parents.append(rows)
        left, held, since = np.ascontiguousarray(left[rows]), held[rows], since[rows]
        if not len(rows):
            return
    lineage = parents[-1]
    steps = []
    for j in range(m - 1, -1, -1):
        steps.append(drawn[j][lineage])
        if j:
            lineage = parents[j - 1][lineage]
    yield np.stack(steps[::-1], axis=1).astype(np.int64)
