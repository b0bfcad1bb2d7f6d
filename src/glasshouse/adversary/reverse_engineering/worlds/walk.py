# SPDX-License-Identifier: Apache-2.0
"""Sampled attack with knowledge of the algorithm: a Markov chain over the worlds that may have given the release.

Where there are too many worlds to try all (`enumeration`), they are walked over. The chain stands at a world that may
have given what was published; it proposes another, runs the algorithm on it with every random choice, and goes there
with probability min(1, ratio of prior(world) * Pr{algorithm(world) = published}) (Metropolis et al., 1953). In the long
run it is at each world as often as TRANSPARENT Proposition 1 weighs it.

**Proposals** put the values of a few people, of whom some may not be in the table, into another order: exchanges of
pairs, one or several at once; a new order among a few people; a new order among neighbours; an exchange between two
neighbourhoods. Who takes part never depends on the world, and an order is as likely as its inverse, so that proposals
are as likely back as forth. Among whom values can move is learned while the chains warm up, and stays as it is then.
Where the counts of values or of people are not known, single values are replaced as well.

**The first world.** The truth is not known. Every chain starts from a random world and changes it, looking at how
much of what the algorithm then publishes is in the release, until all of it is.

**What cannot be seen.** Several exchanges at once lead from any world to any other, but islands far apart are left so
rarely that chains which all started on one look as if they agreed. Unless all worlds were tried, and every chain has
been at every possible one, a note says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import exp, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.reverse_engineering.worlds.enumeration import ImaginedTables, runner_of
from glasshouse.adversary.reverse_engineering.worlds.world_codes import MOST_LISTED, Codes, Space
from glasshouse.adversary.reverse_engineering.worlds.worlds import Worlds
from glasshouse.adversary.sampling import Exhausted, NotReached, Sampled, half_width, sample
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping

    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.microdata.domains import Domain

__all__ = ["SampledBeliefs", "sampled_posterior"]

_WARM_UP = 300  # steps of a chain that count for nothing, at least
_MOST_KNOWN = 1_000_000  # worlds whose likelihood is remembered
_MOST_PAIRS = 500  # people of whom pairs are learned
_PATIENCE = 400  # steps of a search without gain before it starts again
_OUTCOMES = 64  # of a randomised algorithm that a search compares

_FORTH = 1 << 32


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledBeliefs:
    """The probabilities for every person on the list, by row, as several chains found it."""

    # for every row the values that the person had in some world that was visited, with the probability of each
    of: Mapping[int, Mapping[Any, float]]
    presence: Mapping[int, float]  # for every row the probability that the person is in the table
    # errors, ess, r_hat: as `of`: half the width of each 95 % interval, the effective sample size and
    # R-hat. The error is 0 for what was known before the release; R-hat is nan for a probability that never changed.
    errors: Mapping[int, Mapping[Any, float]]
    ess: Mapping[int, Mapping[Any, float]]
    r_hat: Mapping[int, Mapping[Any, float]]
    unseen: float  # half width for probabilities of values that are not listed, which were never seen
    acceptance: float  # the share of proposals other than standing still that were taken
    # n_runs, n_worlds, n_steps: how often the algorithm was run, on how many worlds, and how many steps each chain
    # made, warm-up included
    n_runs: int
    n_worlds: int
    n_steps: int
    notes: tuple[str, ...] = ()  # what could not be excluded, in sentences


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
    """Estimate the probabilities for everybody, by walking over worlds.

    Parameters
    ----------
    people, algorithm, published, values, n, sensitive, prior, corrupted, absent, may, seen
        As for `exact_posterior`.
    chains, error
        How many chains, two at least, and the largest half width of a 95 % interval around a probability. If it is not
        reached, or the chains disagree, `NotSupported` is raised with the figures.
    most_runs, most_steps
        Most runs of the algorithm, over all worlds and random choices, the search for first worlds included; and most
        steps of all chains together. Those to worlds that were met before cost no run.
    start
        A world that may have given the release: row -> value, for everybody in it. The first chain starts there, and so
        do those that find none of their own. The truth is not a draw from the probabilities: warming up is not skipped.
    source, progress
        As for `ReverseEngineering`: the share of the runs or of the steps that were made, whichever is larger. The
        work may be done before it is 1.

    Examples
    --------
    Five people on a line; strict Mondrian gives the third away:

    >>> import glasshouse as gh
    >>> from glasshouse.principles.principle import Requirement
    >>> people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    >>> table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    >>> steps = gh.LDiversity(ell=2), gh.Mondrian(), gh.Boxes()
    >>> groups = gh.Mondrian().divide(table, Requirement.of(steps[0], table))
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
    space = Space(worlds, prior)
    run = runner_of(algorithm, seen)
    tell = _Furthest(progress)
    likelihood = _Likelihood(
        run, run.seen(published), ImaginedTables(people, sensitive, tuple(worlds.least)), space, most_runs, tell
    )
    moves = _Moves(space, people)
    walks, notes = _first_worlds(space, likelihood, moves, chains, start, source)
    if not len(space.free):
        return _result(walks, Sampled.nothing(), notes)
    most_sweeps = most_steps // (chains * walks[0].n_steps_a_sweep)
    warm_up = min(max(_WARM_UP, 20 * len(space.free)) // walks[0].n_steps_a_sweep, most_sweeps // 4)
    moves.n_left = warm_up * walks[0].n_steps_a_sweep * chains
    try:
        found = sample(walks, error=error, most_sweeps=most_sweeps, warm_up=warm_up, progress=tell)
    except NotReached as reason:
        raise _refusal(walks, error, reason.found) from None
    return _result(walks, found, notes)


ISLANDS = (
    "the probabilities come from sampling, which may have missed possible tables that can only be reached by "
    "exchanging many values at once; no check can show this"
)


# --- the likelihood --------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Furthest:
    """Tells the share of the work that is done, by what is furthest."""

    progress: Callable[[float], None] | None
    share: float = 0.0

    def __call__(self, share: float) -> None:
        self.share = max(self.share, share)
        if self.progress is not None:
            self.progress(self.share)


@dataclass(eq=False)
class _Likelihood:
    """Runs the algorithm on worlds, and remembers what came of it."""

    run: Any
    wanted: Hashable
    tables: ImaginedTables
    space: Space
    most_runs: int
    tell: Callable[[float], None]
    n_runs: int = 0
    n_worlds: int = 0
    largest: int = 0  # runs of one world
    known: dict[bytes, float] = field(default_factory=dict)  # the worlds that were tried and are remembered
    near: dict[bytes, float] = field(default_factory=dict)
    _parts: Counter[Any] | None = None

    def log(self, codes: Codes) -> float:
        """The logarithm of prior times likelihood; minus infinity for a world that cannot have given the release."""
        key = codes.tobytes()
        found = self.known.get(key)
        if found is None:
            found = self._tried(codes, key)[0]
        return found

    def nearness(self, codes: Codes) -> float:
        """How much of the release the algorithm makes of a world, between 0 and 1."""
        key = codes.tobytes()
        if key not in self.near:
            outcomes = self._tried(codes, key)[1]
            likely = sorted(outcomes.items(), key=lambda outcome: -outcome[1])[:_OUTCOMES]
            self.near[key] = max((self._shared(outcome) for outcome, _ in likely), default=0.0)
        return self.near[key]

    def _tried(self, codes: Codes, key: bytes) -> tuple[float, Mapping[Hashable, Any]]:
        left = self.most_runs - self.n_runs
        if left < max(1, self.largest):
            raise Exhausted
        try:
            outcomes, runs = self.run.chances(self.tables.of(self.space.world(codes)), left)
        except NotSupported:
            if self.n_runs and left < 10 * self.largest:
                raise Exhausted from None
            raise
        if len(self.known) >= _MOST_KNOWN:
            self.known.clear()
        self.n_runs += runs
        self.tell(self.n_runs / self.most_runs)
        self.n_worlds += key not in self.known
        self.largest = max(self.largest, runs)
        probability = outcomes.get(self.wanted)
        self.known[key] = log(probability) + self.space.weight(codes) if probability else -inf
        return self.known[key], outcomes

    def _shared(self, outcome: Hashable) -> float:
        if self._parts is None:
            self._parts = _parts(self.wanted)
        other = _parts(outcome)
        total = max(sum(self._parts.values()), sum(other.values()))
        return sum((self._parts & other).values()) / total if total else 1.0


def _parts(published: Any) -> Counter[Any]:
    """All elements of a nested value, at every depth."""
    found: Counter[Any] = Counter()
    stack = [published]
    while stack:
        part = stack.pop()
        found[part] += 1
        if isinstance(part, tuple | frozenset):
            stack.extend(part)
    return found


# --- proposals -------------------------------------------------------------------------------------------------------


class _Moves:
    """Symmetric proposals: other orders of the values of some people."""

    def __init__(self, space: Space, people: Microdata) -> None:
        self.space = space
        self.free: list[int] = space.free.tolist()
        orders = (np.argsort(column.codes[space.free], kind="stable") for column in people.quasi)
        self.orders: list[list[int]] = [space.free[order].tolist() for order in orders] or [self.free]
        n = len(self.free)
        self.learns = 2 <= n <= _MOST_PAIRS
        self.place = {row: i for i, row in enumerate(self.free)}
        self.tried = np.zeros((n, n) if self.learns else (0, 0), np.int64)
        self.taken = np.zeros_like(self.tried)
        self._sums: NDArray[np.float64] | None = None
        self.circles: list[list[int]] = []  # people among whom values were seen to move
        self.n_left = 0  # steps of all chains that learn, while they warm up

    def propose(self, codes: Codes, source: Source) -> tuple[Codes, list[int], tuple[int, int] | None]:
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

    def _exchanged(self, found: Codes, source: Source) -> tuple[Codes, list[int], tuple[int, int] | None]:
        """Exchange the values of a pair; sometimes of several pairs in turn."""
        rows: list[int] = []
        while True:
            a, b = self._pair(source)
            found[a], found[b] = found[b], found[a]
            rows += [a, b]
            if source.below(3):
                return found, rows, (a, b) if len(rows) == 2 else None

    def _reordered(self, found: Codes, source: Source, among: list[int]) -> list[int]:
        """Some of these people, eight at most, have their values put into a random order."""
        size = min(len(among), 8)
        rows = [among[i] for i in source.choose(len(among), 2 + source.below(size - 1)).tolist()]
        found[rows] = found[np.array(rows)[source.permutation(len(rows))]]
        return rows

    def _replaced(self, codes: Codes, source: Source) -> tuple[Codes, list[int], None]:
        """Give a person any value, or remove the person from the table; sometimes several people."""
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

    def _traded(self, found: Codes, source: Source, size: int) -> tuple[Codes, list[int], None]:
        """Exchange the values of two neighbourhoods of one order, person by person."""
        order = self.orders[source.below(len(self.orders))]
        first, second = source.below(len(order) - size + 1), source.below(len(order) - size + 1)
        if abs(first - second) < size:
            return found, [], None
        one, other = order[first : first + size], order[second : second + size]
        found[one], found[other] = found[other], found[one]
        return found, [*one, *other], None

    def learn(self, pair: tuple[int, int] | None, *, taken: bool) -> None:
        """Take note of a proposal, perhaps the exchange of a pair; proposals are adapted during warm-up only."""
        if self.n_left <= 0:
            return
        self.n_left -= 1
        if self.learns and pair is not None:
            a, b = sorted((self.place[pair[0]], self.place[pair[1]]))
            self.tried[a, b] += 1
            self.taken[a, b] += taken
        if not self.n_left:
            self.settle()

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
    """One Markov chain."""

    space: Space
    likelihood: _Likelihood
    moves: _Moves
    source: Source
    codes: Codes
    at: float
    n_steps: int = 0
    n_proposed: int = 0
    n_taken: int = 0
    visited: set[bytes] = field(default_factory=set)

    @property
    def n_steps_a_sweep(self) -> int:
        """How many steps are made before the world is looked at again."""
        return max(1, len(self.space.free) // 4)

    @property
    def n_changes(self) -> float:
        """How often another world was gone to; if all were tried, and there is no other, that is enough."""
        return self.n_taken if self.n_taken or not self.all_tried() else inf

    def sweep(self, n: int) -> NDArray[np.float64]:
        """Run the chain; then give for unsettled people whether they have each value, and whether they are absent."""
        for _ in range(n * self.n_steps_a_sweep):
            self.step()
        values = np.arange(-1 if not self.space.all_present else 0, self.space.n_values)
        return np.asarray(self.codes[self.space.free, np.newaxis] == values, np.float64).reshape(-1)

    def step(self) -> None:
        """Propose a world, and go there or stay."""
        proposal, rows, pair = self.moves.propose(self.codes, self.source)
        self.n_steps += 1
        if (proposal == self.codes).all():
            self.moves.learn(None, taken=False)
            return
        taken = False
        if self.space.holds(proposal, rows):
            there = self.likelihood.log(proposal)
            taken = there >= self.at or (there > -inf and self.source.below(_FORTH) < exp(there - self.at) * _FORTH)
        self.moves.learn(pair, taken=taken)
        self.n_proposed += 1
        if taken:
            self.codes, self.at = proposal, there
            self.n_taken += 1
            if len(self.visited) <= MOST_LISTED:
                self.visited.add(proposal.tobytes())

    def all_tried(self) -> bool:
        """Whether the algorithm was run on every world that there is."""
        n_worlds = self.space.n_worlds
        return n_worlds is not None and len(self.likelihood.known) >= n_worlds

    def is_connected(self) -> bool:
        """Whether all worlds were tried, and this chain has been at every possible one."""
        return self.all_tried() and {key for key, at in self.likelihood.known.items() if at > -inf} <= self.visited


def _first_worlds(
    space: Space,
    likelihood: _Likelihood,
    moves: _Moves,
    chains: int,
    start: Mapping[int, Any] | None,
    source: Source,
) -> tuple[list[_Walk], tuple[str, ...]]:
    """A world for every chain that may have given the release, each from a search of its own where that succeeds."""
    begins: list[Codes] = []
    if start is not None:
        given = space.codes(start)
        if likelihood.log(given) == -inf:
            raise InputError("the table to start from cannot have produced this release")
        begins.append(given)
    for i in range(len(begins), chains):
        # Half of the runs are for the walk; each search gets its share of the rest.
        share = (likelihood.most_runs // 2 - likelihood.n_runs) // (chains - i)
        found = _search(space, likelihood, moves, source.child("search", i), likelihood.n_runs + share)
        if found is not None:
            begins.append(found)
    if not begins:
        raise NotSupported(
            f"no possible table was found to start the sampling from: {counted(likelihood.n_runs, 'run')} on "
            f"{counted(likelihood.n_worlds, 'table')} found none that can have produced this release",
            instead="allow more runs (most_runs=, --most-runs), or check that people, counts, algorithm and parameters "
            "are those of the release",
        )
    notes: tuple[str, ...] = ()
    if len(begins) < chains:
        notes = (
            f"only {len(begins)} of {chains} independent samplings found a table of their own to start from; the "
            "others start from the same tables",
        )
    likelihood.near.clear()  # first worlds have been found
    walks = []
    for i in range(chains):
        codes = begins[i % len(begins)]
        at, own = likelihood.log(codes), source.child("chain", i)
        walks.append(_Walk(space, likelihood, moves, own, codes, at, visited={codes.tobytes()}))
    return walks, notes


def _search(space: Space, likelihood: _Likelihood, moves: _Moves, source: Source, most_runs: int) -> Codes | None:
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
    except Exhausted:
        return None
    return None


def _refusal(walks: list[_Walk], error: float, found: Sampled | None) -> NotSupported:
    steps, runs = min(walk.n_steps for walk in walks), walks[0].likelihood.n_runs
    each = f"{steps:,} steps in each of {len(walks)} independent samplings"
    done = f"after {counted(runs, 'run')} of the algorithm and {each}"
    if steps and not all(walk.n_taken for walk in walks):
        what = f"{done} one of the samplings had found no second table that can have produced the release"
    elif found is None:
        what = f"{done} there were too few draws to estimate the error"
    else:
        what = f"{done} the largest error was {found.figures()}"
    return NotSupported(
        f"sampling did not reach an error of {error:g}: {what}",
        instead="allow a larger error (error=, --error) or more runs (most_runs=, --most-runs), or attack a table of "
        "fewer people",
    )


def _result(walks: list[_Walk], found: Sampled, notes: tuple[str, ...]) -> SampledBeliefs:
    """What is reported: probabilities of the values that people were seen to have, and what was known."""
    space, likelihood = walks[0].space, walks[0].likelihood
    n_people, known = space.worlds.n_people, np.flatnonzero(space.known).tolist()
    tables: list[dict[int, dict[Any, float]]] = [{row: {} for row in range(n_people)} for _ in range(4)]
    for row in known:
        for table, number in zip(tables, (1.0, 0.0, inf, float("nan")), strict=True):
            table[row][space.worlds.known[row]] = number
    by_person = [numbers.reshape(len(space.free), -1) for numbers in found[:4]]
    away = np.zeros(len(space.free))
    if not space.all_present:
        away, by_person = by_person[0][:, 0], [numbers[:, 1:] for numbers in by_person]
    for i, code in zip(*np.nonzero(by_person[0]), strict=True):
        for table, numbers in zip(tables, by_person, strict=True):
            table[int(space.free[i])][space.values[code]] = float(numbers[i, code])
    presence = dict.fromkeys(range(n_people), 0.0) | dict.fromkeys(known, 1.0)
    presence |= dict(zip(space.free.tolist(), (1.0 - away).tolist(), strict=True))
    looks = found.ess.min(initial=inf)
    unseen = half_width(np.zeros(1), np.zeros(1), np.array([looks])).item() if looks < inf else 0.0
    return SampledBeliefs(
        of=tables[0],
        presence=presence,
        errors=tables[1],
        ess=tables[2],
        r_hat=tables[3],
        unseen=unseen,
        acceptance=sum(w.n_taken for w in walks) / max(1, sum(w.n_proposed for w in walks)),
        n_runs=likelihood.n_runs,
        n_worlds=likelihood.n_worlds,
        n_steps=min(walk.n_steps for walk in walks),
        notes=notes if all(walk.is_connected() for walk in walks) else (*notes, ISLANDS),
    )
