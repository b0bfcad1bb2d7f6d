# SPDX-License-Identifier: Apache-2.0
"""The adversary who knows the algorithm, by sampling: a Markov chain over the worlds that may have given the release.

Where there are too many worlds to try all (`exact`), she walks over them. The chain stands at a world that may have
given what was published; it proposes another, runs the algorithm on it with every random choice, and goes there with
probability min(1, ratio of prior(world) * Pr{algorithm(world) = published}) (Metropolis et al., 1953). In the long run
it is at each world as often as TRANSPARENT Proposition 1 weighs it.

**Proposals** put the values of a few people, of whom some may not be in the table, into another order: exchanges of
pairs, one or several at once; a new order among a few people; a new order among neighbours; an exchange between two
neighbourhoods. Who takes part never depends on the world, and an order is as likely as its inverse, so that proposals
are as likely back as forth. Among whom values can move is learned while the chains warm up, and stays as it is then.
Where the counts of values or of people are not known, single values are replaced as well.

**The first world.** She does not have the truth. Every chain starts from a random world and changes it, looking at how
much of what the algorithm then publishes is in the release, until all of it is.

**What cannot be seen.** Several exchanges at once lead from any world to any other, but islands far apart are left so
rarely that chains which all started on one look as if they agreed. Unless all worlds were tried, and every chain has
been at every possible one, a note says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb, exp, factorial, inf, log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.diagnostics import half_width, trust
from glasshouse.adversary.exact import ImaginedTables, runner_of, scaled_prior
from glasshouse.adversary.worlds import World, Worlds
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable

    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.microdata.domains import Domain

__all__ = ["SampledBeliefs", "sampled_posterior"]

_MOST_R_HAT = 1.02
_LEAST_ESS = 400  # below, neither errors nor R-hat mean much (Vehtari et al. 2021, section 4)
_WARM_UP = 300  # steps of a chain that count for nothing, at least
_MOST_DRAWS = 4000  # of a chain that are kept; beyond, every second one
_BLOCK = 1 << 23  # indicators judged at once
_MOST_KNOWN = 1_000_000  # worlds whose likelihood is remembered
_MOST_LISTED = 200_000  # worlds that may all be visited
_MOST_PAIRS = 500  # people of whom pairs are learned
_PATIENCE = 400  # steps of a search without gain before it starts again
_OUTCOMES = 64  # of a randomised algorithm that a search compares

_FORTH = 1 << 32


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledBeliefs:
    """What she believes of every person on her list, by row, as several chains found it.

    Attributes
    ----------
    of
        For every row the values that the person had in some world that was visited, with the belief in each.
    presence
        For every row the belief that the person is in the table.
    errors, ess, r_hat
        As `of`: half the width of a 95 % interval around each belief, its effective sample size and R-hat. The error is
        0 for what was known beforehand; R-hat is nan for a belief that never changed.
    unseen
        Half width for beliefs in values that are not listed, which were never seen.
    acceptance
        The share of proposals other than standing still that were taken.
    n_runs, n_worlds, n_steps
        How often the algorithm was run, on how many worlds, and how many steps each chain made, warm-up included.
    notes
        What could not be excluded, in sentences.
    """

    of: Mapping[int, Mapping[Any, float]]
    presence: Mapping[int, float]
    errors: Mapping[int, Mapping[Any, float]]
    ess: Mapping[int, Mapping[Any, float]]
    r_hat: Mapping[int, Mapping[Any, float]]
    unseen: float
    acceptance: float
    n_runs: int
    n_worlds: int
    n_steps: int
    notes: tuple[str, ...] = ()

    def worst(self) -> tuple[int, Any, float]:
        """The highest belief: of whom, in what, how high."""
        return max(
            ((row, value, belief) for row, beliefs in self.of.items() for value, belief in beliefs.items()),
            key=lambda found: found[2],
        )


def sampled_posterior(
    people: Microdata,
    algorithm: Any,
    published: Any,
    *,
    values: Mapping[Any, int] | Iterable[Hashable],
    n: int | Iterable[int] | None = None,
    sensitive: str | Domain = "sensitive",
    prior: Mapping[Any, Any] | None = None,
    corrupted: Mapping[int, Any] | None = None,
    absent: Collection[int] = (),
    may: Mapping[int, Collection[Any]] | None = None,
    seen: Callable[[Any], Hashable] | None = None,
    chains: int = 4,
    error: float = 0.02,
    most_runs: int = 100_000,
    most_steps: int = 1_000_000,
    start: Mapping[int, Any] | None = None,
    source: Source | None = None,
    progress: Callable[[float], None] | None = None,
) -> SampledBeliefs:
    """Estimate what she believes of everybody, by walking over worlds.

    Parameters
    ----------
    people, algorithm, published, values, n, sensitive, prior, corrupted, absent, may, seen
        As for `exact_posterior`.
    chains
        How many chains; two at least.
    error
        Largest half width of a 95 % interval around a belief. If it is not reached, or the chains disagree,
        `NotSupported` is raised with the figures.
    most_runs
        Most runs of the algorithm, over all worlds and random choices, the search for first worlds included.
    most_steps
        Most steps of all chains together; those to worlds that were met before cost no run.
    start
        A world that may have given the release: row -> value, for everybody in it. The first chain starts there, and so
        do those that find none of their own. The truth is not a draw from her beliefs: warming up is not skipped.
    source
        Where random choices come from; a seeded one makes the result repeatable.
    progress
        Called with a share of the work between 0 and 1, now and then; the work may be done before it is 1.

    Examples
    --------
    Five people on a line; strict Mondrian gives the third away:

    >>> import glasshouse as gh
    >>> people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    >>> table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    >>> steps = gh.LDiversity(ell=2), gh.Mondrian(), gh.Boxes()
    >>> groups = gh.Mondrian().divide(table, gh.principles.Requirement.of(steps[0], table))
    >>> found = sampled_posterior(
    ...     gh.read(people, quasi=["x", "y"]),
    ...     steps,
    ...     gh.Boxes().recode(table, groups),
    ...     values={"a": 2, "b": 1, "c": 1, "d": 1},
    ...     sensitive="s",
    ...     source=gh.Source.seeded(1),
    ... )
    >>> found.of[2], found.errors[2]["a"] < 0.02, found.n_worlds <= 60
    ({'a': 1.0}, True, True)
    """
    if chains < 2:
        raise ParameterError("sampled_posterior", "chains", "an integer of at least 2", chains)
    if not 0 < error < 1:
        raise ParameterError("sampled_posterior", "error", "between 0 and 1", error)
    source = source or Source.secure()
    worlds = Worlds(n_people=people.n_tuples, values=values, n=n, corrupted=corrupted, absent=absent, may=may)
    space = _Space(worlds, prior)
    run = runner_of(algorithm, seen)
    likelihood = _Likelihood(
        run, run.seen(published), ImaginedTables(people, sensitive, tuple(worlds.least)), space, most_runs
    )
    moves = _Moves(space, _orders(people, space))
    walks, notes = _first_worlds(space, likelihood, moves, chains, start, source)
    sampling = _Sampling(space, likelihood, moves, walks, progress)
    sampling.until(error, most_steps // chains)
    return sampling.result(notes)


ISLANDS = (
    "beliefs are those of the worlds that the chains could reach: possible worlds that many exchanges at once would be "
    "needed for may have been missed, and no diagnostic would show it"
)


class _Exhausted(Exception):
    """There are no runs left."""


# --- worlds as arrays of codes ---------------------------------------------------------------------------------------

_Codes = Any  # an int16 for every row: the place of the value, or -1 for somebody who is not in the table


class _Space:
    """The worlds that are possible beforehand, as arrays of codes, with the logarithm of their prior."""

    def __init__(self, worlds: Worlds, prior: Mapping[Any, Any] | None) -> None:
        self.worlds = worlds
        self.values = list(worlds.least)
        self.n_values = len(self.values)
        self.least = np.array([worlds.least[value] for value in self.values], np.int64)
        self.sizes = frozenset(worlds.sizes)
        self.allowed = np.zeros((worlds.n_people, self.n_values), bool)
        for row, choices in enumerate(worlds.choices):
            self.allowed[row, [place for place, _ in choices]] = True
        self.known = np.zeros(worlds.n_people, bool)
        self.known[list(worlds.known)] = True
        self.log_prior = self._priors(prior)
        if self.log_prior is not None:
            self.allowed &= np.isfinite(self.log_prior)
        # Whoever is known, or cannot be there, never changes.
        self.free = np.flatnonzero(~self.known & self.allowed.any(axis=1))
        fixed = int(self.known.sum())
        self.counts_vary = max(self.sizes) > int(self.least.sum()) or len(self.sizes) > 1
        self.all_present = self.sizes == {fixed + len(self.free)}

    def _priors(self, prior: Mapping[Any, Any] | None) -> NDArray[np.float64] | None:
        if prior is None:
            return None
        personal = any(isinstance(weights, Mapping) for weights in prior.values())
        found = np.zeros((self.worlds.n_people, self.n_values))
        for row in range(self.worlds.n_people):
            given = prior.get(row) if personal else prior
            if given is not None and not self.known[row]:
                weights = scaled_prior(given, self.worlds)
                found[row] = [log(weights[value]) if weights[value] else -inf for value in self.values]
        return found

    def weight(self, codes: _Codes) -> float:
        """The logarithm of the prior, up to a constant; only of worlds that hold."""
        if self.log_prior is None:
            return 0.0
        rows = np.flatnonzero(codes >= 0)
        return float(self.log_prior[rows, codes[rows]].sum())

    def holds(self, codes: _Codes, changed: Collection[int]) -> bool:
        """Whether codes are a world that is possible beforehand, if they were one before these rows changed."""
        for row in changed:
            if codes[row] >= 0 and not self.allowed[row, codes[row]]:
                return False
        if not self.counts_vary:
            return True  # values were only put into another order
        present = codes[codes >= 0]
        return len(present) in self.sizes and bool((np.bincount(present, minlength=self.n_values) >= self.least).all())

    def world(self, codes: _Codes) -> World:
        """The world that codes stand for."""
        rows = np.flatnonzero(codes >= 0).tolist()
        return World(tuple(rows), tuple(self.values[codes[row]] for row in rows))

    def codes(self, world: Mapping[int, Any]) -> _Codes:
        """The codes of a world given by row."""
        found = np.full(self.worlds.n_people, -1, np.int16)
        for row, value in world.items():
            if not 0 <= row < self.worlds.n_people or value not in self.worlds.least:
                raise InputError(f"the world to start from has a row or value that nobody knows of, row {row}")
            found[row] = self.values.index(value)
        counts = np.bincount(found[found >= 0], minlength=self.n_values)
        rows = np.flatnonzero(found >= 0)
        if (
            len(rows) not in self.sizes
            or not (counts >= self.least).all()
            or not self.allowed[rows, found[rows]].all()
            or not (found[self.known] >= 0).all()
        ):
            raise InputError("the world to start from is not possible: see counts, corrupted people and may")
        return found

    def random(self, source: Source) -> _Codes:
        """Some world, by matching values with people in random order; no world is impossible, but not all are alike."""
        found = np.full(self.worlds.n_people, -1, np.int16)
        left = self.least.copy()
        for row in np.flatnonzero(self.known).tolist():
            place = self.values.index(self.worlds.known[row]) if self.worlds.known[row] in self.worlds.least else -1
            if place < 0 or not self.allowed[row, place]:
                raise InputError("a corrupted person has a value that nobody can have, or has no weight in the prior")
            found[row] = place
            left[place] = max(0, left[place] - 1)
        sizes = sorted(self.sizes)
        seats = sizes[source.below(len(sizes))] - int(self.known.sum())
        wanted = np.repeat(np.arange(self.n_values), left)
        wanted = np.concatenate([wanted, np.full(max(0, seats - len(wanted)), -1)])  # -1: any value
        if len(wanted) > seats:
            raise InputError("more values are published than can be given to the people who are not corrupted")
        source.shuffle(wanted)
        taken = self._matched(wanted.tolist(), source)
        for row, seat in taken.items():
            value = int(wanted[seat])
            if value < 0:
                mine = np.flatnonzero(self.allowed[row])
                value = int(mine[source.below(len(mine))])
            found[row] = value
        return found

    def _matched(self, wanted: list[int], source: Source) -> dict[int, int]:
        """Row -> seat, such that everybody may have the value of their seat (augmenting paths)."""
        order = self.free[source.permutation(len(self.free))].tolist()
        taken: dict[int, int] = {}
        for seat in range(len(wanted)):
            before: dict[int, int] = {}  # row -> the seat that wants it
            queue, end = [seat], -1
            while queue and end < 0:
                asking = queue.pop()
                for row in order:
                    if row not in before and (wanted[asking] < 0 or self.allowed[row, wanted[asking]]):
                        before[row] = asking
                        if row not in taken:
                            end = row
                            break
                        queue.append(taken[row])
            if end < 0:
                raise InputError("no table of these people has the published counts: see corrupted people and may")
            while True:
                asking = before[end]
                previous = next((row for row, held in taken.items() if held == asking), -1)
                taken[end] = asking
                if previous < 0:
                    break
                end = previous
                del taken[end]
        return taken

    @property
    def n_worlds(self) -> int | None:
        """How many there are, if few enough to be visited all; only weighted ones are counted as such."""
        if self.log_prior is not None and not np.isfinite(self.log_prior).all():
            return None
        fixed = int(self.known.sum())
        most = comb(len(self.free), max(self.sizes) - fixed) if len(self.sizes) == 1 else 2 ** len(self.free)
        if self.counts_vary:
            most *= self.n_values ** (max(self.sizes) - fixed)
        else:
            most *= factorial(int(self.least.sum())) // prod(map(factorial, self.least.tolist()))
        return self.worlds.count if most <= _MOST_LISTED else None


# --- the likelihood --------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Likelihood:
    """Runs the algorithm on worlds, and remembers what came of it."""

    run: Any
    wanted: Hashable
    tables: ImaginedTables
    space: _Space
    most_runs: int
    n_runs: int = 0
    n_worlds: int = 0
    largest: int = 0  # runs of one world
    _logs: dict[bytes, float] = field(default_factory=dict)
    _near: dict[bytes, float] = field(default_factory=dict)
    _parts: Counter[Any] | None = None

    def log(self, codes: _Codes) -> float:
        """The logarithm of prior times likelihood; minus infinity for a world that cannot have given the release."""
        key = codes.tobytes()
        found = self._logs.get(key)
        if found is None:
            found = self._tried(codes, key)[0]
        return found

    def nearness(self, codes: _Codes) -> float:
        """How much of the release the algorithm makes of a world, between 0 and 1."""
        key = codes.tobytes()
        if key not in self._near:
            outcomes = self._tried(codes, key)[1]
            likely = sorted(outcomes.items(), key=lambda outcome: -outcome[1])[:_OUTCOMES]
            self._near[key] = max((self._shared(outcome) for outcome, _ in likely), default=0.0)
        return self._near[key]

    def _tried(self, codes: _Codes, key: bytes) -> tuple[float, Mapping[Hashable, Any]]:
        left = self.most_runs - self.n_runs
        if left < max(1, self.largest):
            raise _Exhausted
        try:
            outcomes, runs = self.run.chances(self.tables.of(self.space.world(codes)), left)
        except NotSupported:
            if self.n_runs and left < 10 * self.largest:
                raise _Exhausted from None
            raise
        if len(self._logs) >= _MOST_KNOWN:
            self._logs.clear()
        self.n_runs += runs
        self.n_worlds += key not in self._logs
        self.largest = max(self.largest, runs)
        probability = outcomes.get(self.wanted)
        self._logs[key] = log(probability) + self.space.weight(codes) if probability else -inf
        return self._logs[key], outcomes

    def _shared(self, outcome: Hashable) -> float:
        if self._parts is None:
            self._parts = _parts(self.wanted)
        other = _parts(outcome)
        total = max(sum(self._parts.values()), sum(other.values()))
        return sum((self._parts & other).values()) / total if total else 1.0

    def forget_nearness(self) -> None:
        """First worlds have been found."""
        self._near.clear()

    @property
    def known(self) -> Mapping[bytes, float]:
        """The worlds that were tried and are remembered."""
        return self._logs


def _parts(published: Any) -> Counter[Any]:
    """Everything that a nested value is made of, at every depth."""
    found: Counter[Any] = Counter()
    stack = [published]
    while stack:
        part = stack.pop()
        found[part] += 1
        if isinstance(part, tuple | frozenset):
            stack.extend(part)
    return found


# --- proposals -------------------------------------------------------------------------------------------------------


def _orders(people: Microdata, space: _Space) -> list[NDArray[np.int64]]:
    """The people who may change, in the order of every quasi-identifier."""
    return [space.free[np.argsort(column.codes[space.free], kind="stable")] for column in people.quasi]


class _Moves:
    """Proposals: other orders of the values of some people, as likely back as forth."""

    def __init__(self, space: _Space, orders: list[NDArray[np.int64]]) -> None:
        self.space = space
        self.free: list[int] = space.free.tolist()
        self.orders: list[list[int]] = [order.tolist() for order in orders] or [self.free]
        n = len(self.free)
        self.learns = 2 <= n <= _MOST_PAIRS
        self.place = {row: i for i, row in enumerate(self.free)}
        self.tried = np.zeros((n, n) if self.learns else (0, 0), np.int64)
        self.taken = np.zeros_like(self.tried)
        self._sums: NDArray[np.float64] | None = None
        self.circles: list[list[int]] = []  # people among whom values were seen to move

    def propose(self, codes: _Codes, source: Source) -> tuple[_Codes, list[int], tuple[int, int] | None]:
        """Another world, the rows that may have changed, and the pair if one pair was exchanged."""
        if self.space.counts_vary and (len(self.free) < 2 or source.coin()):
            return self._replaced(codes, source)
        if len(self.free) < 2:
            return codes, [], None
        kind = source.below(16)
        found = codes.copy()
        if kind < 6 or (kind < 12 and not self.circles):
            return self._exchanged(found, source)
        if kind < 12:
            rows = []
            while True:
                rows += self._reordered(found, source, self.circles[source.below(len(self.circles))])
                if source.below(4):
                    return found, rows, None
        if kind < 14:
            return found, self._reordered(found, source, self.free), None
        if kind < 15:
            return found, self._reordered(found, source, self._window(source, 2 + source.below(7))), None
        return self._traded(found, source, 1 + source.below(max(1, min(6, len(self.free) // 2))))

    def _exchanged(self, found: _Codes, source: Source) -> tuple[_Codes, list[int], tuple[int, int] | None]:
        """A pair exchanges its values; sometimes several pairs do, one after the other."""
        rows: list[int] = []
        while True:
            a, b = self._pair(source)
            found[a], found[b] = found[b], found[a]
            rows += [a, b]
            if source.below(3):
                return found, rows, (a, b) if len(rows) == 2 else None

    def _reordered(self, found: _Codes, source: Source, among: list[int]) -> list[int]:
        """Some of these people, eight at most, have their values put into a random order."""
        size = min(len(among), 8)
        rows = [among[i] for i in source.choose(len(among), 2 + source.below(size - 1)).tolist()]
        found[rows] = found[np.array(rows)[source.permutation(len(rows))]]
        return rows

    def _replaced(self, codes: _Codes, source: Source) -> tuple[_Codes, list[int], None]:
        """Somebody gets any value, or leaves the table; sometimes several do."""
        found, rows = codes.copy(), []
        if self.free:
            while True:
                row = self.free[source.below(len(self.free))]
                found[row] = source.below(self.space.n_values + 1) - 1
                rows.append(row)
                if source.below(3):
                    break
        return found, rows, None

    def _pair(self, source: Source) -> tuple[int, int]:
        n = len(self.free)
        if self._sums is not None and source.below(4):
            at = int(np.searchsorted(self._sums, source.below(_FORTH) / _FORTH * self._sums[-1], side="right"))
            a, b = divmod(min(at, n * n - 1), n)
        else:
            a = source.below(n)
            b = source.below(n - 1)
            b += b >= a
        return self.free[a], self.free[b]

    def _window(self, source: Source, size: int) -> list[int]:
        order = self.orders[source.below(len(self.orders))]
        size = min(size, len(order))
        first = source.below(len(order) - size + 1)
        return order[first : first + size]

    def _traded(self, found: _Codes, source: Source, size: int) -> tuple[_Codes, list[int], None]:
        """Two neighbourhoods of one order exchange their values, person by person."""
        order = self.orders[source.below(len(self.orders))]
        first, second = source.below(len(order) - size + 1), source.below(len(order) - size + 1)
        if abs(first - second) < size:
            return found, [], None
        one, other = order[first : first + size], order[second : second + size]
        found[one], found[other] = found[other], found[one]
        return found, [*one, *other], None

    def learn(self, pair: tuple[int, int], *, taken: bool) -> None:
        """An exchange was proposed while warming up."""
        if self.learns:
            a, b = sorted((self.place[pair[0]], self.place[pair[1]]))
            self.tried[a, b] += 1
            self.taken[a, b] += taken

    def settle(self) -> None:
        """Stop learning: from now on pairs are mostly drawn as often as they were taken, and from their circles."""
        if not self.learns:
            return
        self._sums = np.cumsum(np.triu((self.taken + 0.5) / (self.tried + 1.0), 1).ravel())
        circle = list(range(len(self.free)))
        for a, b in zip(*np.nonzero(self.taken), strict=True):
            merged = circle[a], circle[b]
            circle = [merged[0] if mine == merged[1] else mine for mine in circle]
        members: dict[int, list[int]] = {}
        for row, mine in zip(self.free, circle, strict=True):
            members.setdefault(mine, []).append(row)
        self.circles = [rows for rows in members.values() if len(rows) > 1]


# --- walking ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Walk:
    """One chain."""

    source: Source
    codes: _Codes
    at: float
    n_steps: int = 0
    n_proposed: int = 0
    n_taken: int = 0
    thin: int = 1
    draws: list[_Codes] = field(default_factory=list)
    visited: set[bytes] = field(default_factory=set)

    def step(self, space: _Space, likelihood: _Likelihood, moves: _Moves, *, learning: bool) -> None:
        """Propose a world, and go there or stay."""
        proposal, rows, pair = moves.propose(self.codes, self.source)
        self.n_steps += 1
        if (proposal == self.codes).all():
            return
        taken = False
        if space.holds(proposal, rows):
            there = likelihood.log(proposal)
            taken = there >= self.at or (there > -inf and self.source.below(_FORTH) < exp(there - self.at) * _FORTH)
        if learning and pair is not None:
            moves.learn(pair, taken=taken)
        self.n_proposed += 1
        if taken:
            self.codes, self.at = proposal, there
            self.n_taken += 1
            if len(self.visited) <= _MOST_LISTED:
                self.visited.add(proposal.tobytes())

    def keep(self) -> None:
        """Remember the world, if it is time to."""
        if self.n_steps % self.thin == 0:
            self.draws.append(self.codes)
            if len(self.draws) >= _MOST_DRAWS:
                self.draws = self.draws[1::2]
                self.thin *= 2


def _first_worlds(
    space: _Space,
    likelihood: _Likelihood,
    moves: _Moves,
    chains: int,
    start: Mapping[int, Any] | None,
    source: Source,
) -> tuple[list[_Walk], tuple[str, ...]]:
    """A world for every chain that may have given the release, each from a search of its own where that succeeds."""
    begins: list[_Codes] = []
    if start is not None:
        given = space.codes(start)
        if likelihood.log(given) == -inf:
            raise InputError("the world to start from cannot have given this release")
        begins.append(given)
    for i in range(len(begins), chains):
        # Half of the runs are for the walk; each search gets its share of the rest.
        share = (likelihood.most_runs // 2 - likelihood.n_runs) // (chains - i)
        found = _search(space, likelihood, moves, source.child("search", i), likelihood.n_runs + share)
        if found is not None:
            begins.append(found)
    if not begins:
        raise NotSupported(
            f"beliefs from a chain that has no world to start from: {likelihood.n_runs:,} runs on "
            f"{likelihood.n_worlds:,} worlds found none that may have given this release",
            instead="allow more runs, say with may= which values people can have, or see that people, counts, "
            "algorithm and parameters are those of the release",
        )
    notes: tuple[str, ...] = ()
    if len(begins) < chains:
        notes = (f"only {len(begins)} of {chains} chains found a first world of their own; the others share it",)
    likelihood.forget_nearness()
    walks = []
    for i in range(chains):
        codes = begins[i % len(begins)]
        walks.append(_Walk(source.child("chain", i), codes, likelihood.log(codes), visited={codes.tobytes()}))
    return walks, notes


def _search(space: _Space, likelihood: _Likelihood, moves: _Moves, source: Source, most_runs: int) -> _Codes | None:
    """Change random worlds until one gives the release: by annealing, on how much of it they give."""
    most_steps = 50 * _PATIENCE  # where all worlds are known no runs are spent
    n_steps = 0
    try:
        while likelihood.n_runs < most_runs and n_steps < most_steps:
            codes = space.random(source)
            near, best, since = likelihood.nearness(codes), 0.0, 0
            while likelihood.n_runs < most_runs and since < _PATIENCE:
                if likelihood.log(codes) > -inf:
                    return codes
                n_steps += 1
                since += 1
                proposal, rows, _ = moves.propose(codes, source)
                if not space.holds(proposal, rows):
                    continue
                there = likelihood.nearness(proposal)
                # Accept a loss of a hundredth of the release once in three times.
                if there >= near or source.below(_FORTH) < exp(100 * (there - near)) * _FORTH:
                    codes, near = proposal, there
                if near > best:
                    best, since = near, 0
    except _Exhausted:
        return None
    return None


class _Sampling:
    """All chains, and what they say."""

    def __init__(
        self,
        space: _Space,
        likelihood: _Likelihood,
        moves: _Moves,
        walks: list[_Walk],
        progress: Callable[[float], None] | None,
    ) -> None:
        self.space, self.likelihood, self.moves, self.walks = space, likelihood, moves, walks
        self.progress = progress

    def until(self, error: float, most_steps: int) -> None:
        """Walk until every belief is known well enough; refuse if that takes more than is allowed."""
        warm = min(max(_WARM_UP, 20 * len(self.space.free)), most_steps // 4)
        ended = not self._walk(warm, learning=True)
        self.moves.settle()
        steps = warm + max(200, warm)
        while True:
            ended = ended or not self._walk(steps, learning=False)
            self._judge()
            if self.progress is not None:
                used = max(self.likelihood.n_runs / self.likelihood.most_runs, steps / most_steps)
                self.progress(min(1.0, used))
            if self.enough(error):
                return
            if ended or steps >= most_steps:
                self._refuse(error)
            steps = min(most_steps, steps + steps // 2)

    def _walk(self, steps: int, *, learning: bool) -> bool:
        """Bring every chain to so many steps; false if runs ended before."""
        try:
            # In turns of a few steps, so that chains are of one length when runs end.
            while any(walk.n_steps < steps for walk in self.walks):
                for walk in self.walks:
                    for _ in range(min(50, steps - walk.n_steps)):
                        walk.step(self.space, self.likelihood, self.moves, learning=learning)
                        if not learning:
                            walk.keep()
        except _Exhausted:
            return False
        return True

    def _judge(self) -> None:
        """Beliefs and their errors, from what chains saw after a third of their way."""
        thin = max(walk.thin for walk in self.walks)
        draws = [walk.draws[thin // walk.thin - 1 :: thin // walk.thin] for walk in self.walks]
        length = min(map(len, draws))
        self.judged = length - length // 3 >= 8
        if not self.judged:
            return
        free = self.space.free
        states = np.stack([np.stack(mine[length // 3 : length])[:, free] for mine in draws])  # chains, draws, people
        occurs = np.zeros((len(free), self.space.n_values), bool)
        for value in range(self.space.n_values):
            occurs[:, value] = (states == value).any(axis=(0, 1))
        self.row, self.code = np.nonzero(occurs)
        asked = [(states, self.row, self.code)]
        if not self.space.all_present:
            asked.append((states, np.arange(len(free)), np.full(len(free), -1)))
        parts = [part for triple in asked for part in _indicators(*triple)]
        found = [np.concatenate(numbers) for numbers in zip(*parts, strict=True)] if parts else [np.empty(0)] * 4
        self._merge(found, states.shape[0] * states.shape[1])

    def _merge(self, found: list[NDArray[np.float64]], n_draws: int) -> None:
        """Errors of what never changed follow from the slowest belief that did."""
        mean, _, ess, r_hat = found
        moving = ~np.isnan(r_hat)
        every_run = sum(walk.n_taken > 0 for walk in self.walks) == len(self.walks)
        slowest = float(ess[moving].min()) if moving.any() else float(len(self.walks))
        if not len(self.space.free) or (not moving.any() and self._all_tried()):
            slowest = inf  # there is one possible world
        ess = np.where(moving, ess, min(slowest, n_draws) if slowest < inf else n_draws)
        spread = np.sqrt(mean * (1 - mean))
        errors = half_width(mean, spread / np.sqrt(ess), ess)
        self.moved = every_run or slowest == inf
        k = len(self.row)
        self.mean, self.errors, self.ess, self.r_hat = mean[:k], errors[:k], ess[:k], r_hat[:k]
        self.away, self.away_error = mean[k:], errors[k:]
        self.slowest = float(ess.min(initial=n_draws))
        self.unseen = float(half_width(np.zeros(1), np.zeros(1), np.array([self.slowest]))[0])
        self.largest = max(self.unseen, float(errors.max(initial=0.0)))
        self.largest_r_hat = float(r_hat[moving].max(initial=1.0))

    def enough(self, error: float) -> bool:
        """Whether beliefs are as good as was asked."""
        return (
            self.judged
            and self.largest <= error
            and self.largest_r_hat <= _MOST_R_HAT
            and self.slowest >= _LEAST_ESS
            and self.moved
        )

    def _refuse(self, error: float) -> None:
        steps, runs = min(walk.n_steps for walk in self.walks), self.likelihood.n_runs
        done = f"after {runs:,} runs and {steps:,} steps of {len(self.walks)} chains"
        if not self.judged:
            what = f"there are too few draws to judge {done}"
        elif not self.moved:
            what = f"some chain never found another world that may have given the release {done}"
        else:
            what = (
                f"{done} the largest error is {self.largest:.3g}, R-hat {self.largest_r_hat:.3f} (at most "
                f"{_MOST_R_HAT} is believed), effective sample size {self.slowest:,.0f} (at least {_LEAST_ESS})"
            )
        raise NotSupported(
            f"sampled beliefs with an error of {error:g}: {what}",
            instead="allow a larger error, more runs or more steps, or take fewer people",
        )

    def _all_tried(self) -> bool:
        n_worlds = self.space.n_worlds
        return n_worlds is not None and len(self.likelihood.known) >= n_worlds

    def _is_connected(self) -> bool:
        """Whether all worlds were tried, and every chain has been at every possible one."""
        if not self._all_tried():
            return False
        possible = {key for key, at in self.likelihood.known.items() if at > -inf}
        return all(possible <= walk.visited for walk in self.walks)

    def result(self, notes: tuple[str, ...]) -> SampledBeliefs:
        """What is reported."""
        space = self.space
        n_people = space.worlds.n_people
        tables: list[dict[int, dict[Any, float]]] = [{row: {} for row in range(n_people)} for _ in range(4)]
        for row in np.flatnonzero(space.known).tolist():
            for table, number in zip(tables, (1.0, 0.0, inf, float("nan")), strict=True):
                table[row][space.worlds.known[row]] = number
        for numbers, table in zip((self.mean, self.errors, self.ess, self.r_hat), tables, strict=True):
            for i, code, number in zip(self.row.tolist(), self.code.tolist(), numbers.tolist(), strict=True):
                table[int(space.free[i])][space.values[code]] = number
        away = dict(zip(space.free.tolist(), self.away.tolist(), strict=True)) if len(self.away) else {}
        there = dict.fromkeys([*np.flatnonzero(space.known).tolist(), *space.free.tolist()], 1.0)
        if not self._is_connected():
            notes = (*notes, ISLANDS)
        return SampledBeliefs(
            of=tables[0],
            presence={row: there.get(row, 0.0) - away.get(row, 0.0) for row in range(n_people)},
            errors=tables[1],
            ess=tables[2],
            r_hat=tables[3],
            unseen=self.unseen,
            acceptance=sum(w.n_taken for w in self.walks) / max(1, sum(w.n_proposed for w in self.walks)),
            n_runs=self.likelihood.n_runs,
            n_worlds=self.likelihood.n_worlds,
            n_steps=min(walk.n_steps for walk in self.walks),
            notes=notes,
        )


def _indicators(states: Any, rows: NDArray[np.int64], codes: NDArray[np.int64]) -> list[Any]:
    """Mean, error, effective sample size and R-hat of who had what, in blocks."""
    step = max(1, _BLOCK // (states.shape[0] * states.shape[1]))
    return [trust(states[:, :, rows[i : i + step]] == codes[i : i + step]) for i in range(0, len(rows), step)]
