# SPDX-License-Identifier: Apache-2.0
"""What a group that was grown bucket by bucket reveals about its people: at which prefixes it was not closed.

MINIMALITY 4.2 and 4.3. A group of m buckets was published, so it was closed at none of its proper prefixes. Under GG
none of them was complete; under RGG a world weighs p to the number of those that were. The chances of each prefix's
contents are carried forward from bucket to bucket, and the hopes of the group's end backward; where they meet, they
give the value of the next record. All records of a bucket are alike, so that is the probability for the whole bucket.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.reverse_engineering.greedy.prefix_states import (
    Built,
    Frequencies,
    Impossible,
    Judge,
    Judged,
    Run,
    States,
)
from glasshouse.errors import NotSupported
from glasshouse.kernels import compiled
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.randomness import Source

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Solved", "solve"]

_KERNELS = "glasshouse.adversary.reverse_engineering.greedy._kernels"
_Z95 = 1.96
_TRIALS = 1 << 11  # arrangements that are drawn together at first
_TRIALS_GROW = 1 << 5  # and at most so many times as many


@dataclass(frozen=True, eq=False)
class Solved:
    """The result for a run: probabilities, and how likely the run is."""

    # for each bucket and value the probability that a record of the bucket has it, if it was not found out
    beliefs: Floats
    # of the run: how likely the arrangements that give it are, among all that agree with what was found out
    log_weight: float
    errors: Floats | None = None  # if arrangements were sampled, the half widths of 95 % intervals


def solve(
    run: Run,
    judge: Judge,
    p: Fraction,
    *,
    most_states: int,
    error: float,
    source: Source,
    most_trials: int,
    look: Callable[[], None] = lambda: None,
) -> Solved:
    """Find the probabilities inside a run: exactly if there are few states, else from sampled arrangements.

    A complete group goes on with probability ``p``. At most ``most_states`` of all prefixes together are gone through;
    beyond, ``most_trials`` arrangements are tried, until half of a 95 % interval is at most ``error``. ``look`` is
    called now and then meanwhile.
    """
    left = run.counts - run.found_out()[-1]
    if (left < 0).any():
        raise Impossible(
            "a value given for a person (corrupted=, --corrupted) is not published in the person's group: "
            "check the value"
        )
    if not judge.complete(run.counts[np.newaxis], sum(run.sizes), run)[0]:
        raise Impossible(
            "a published group violates the principle that was named: name the principle that the release was "
            "made under"
        )
    if run.n_buckets == 1 or run.kind == "free":
        return Solved(np.tile(left / max(1, int(left.sum())), (run.n_buckets, 1)), 0.0)
    states = States.of(run, judge, left)
    if states.n_states(run) <= most_states:
        return _cut_exactly(run, judge, p, states) if states.cuts else _exactly(run, judge, p, states)
    return _sampled(run, judge, p, states, error=error, source=source, most_trials=most_trials, look=look)


# --- exactly ---------------------------------------------------------------------------------------------------------


def _exactly(run: Run, judge: Judge, p: Fraction, states: States) -> Solved:
    """Compute forward and backward probabilities, given that the group was not closed at any border before its end.

    Beside the chance of every state goes, for the lump and for every class that has been forgotten into it, that chance
    times how many of its records are expected to be left.
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
        moves = kernels.Moves(*stage.moves)
        kernels.draw_forward(chances, moves, stage.lump, n, at[j], at[j + 1])
        for rest in rests.values():  # of what is left, the record drawn is no longer
            kernels.draw_forward(rest, moves, stage.lump - 1, n, at[j], at[j + 1])
        if j == m - 1:
            break
        stay = np.where(Judged(run, judge, stage).between(0, j + 1), goes_on, 1.0)
        stays.append(stay)
        weighed = chances * stay
        total = float(weighed.sum())
        if total <= 0.0:
            raise Impossible(
                "no assignment of a group's values to its people makes the method form this group: check that the "
                "people, the principle, the method and its parameters are those of the release"
            )
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
            moves = kernels.Moves(*stage.moves)
            kernels.draw_backward(hopes, moves, stage.lump, n, at[j] + 1, at[j + 1])
            of_stage = np.zeros(len(stage.classes) + 1)
            kernels.next_tuple(chances, hopes, moves, stage.lump, at[j], of_stage)
            shares = np.zeros(n_classes + 1)
            shares[n_classes - len(stage.classes) : n_classes] = of_stage[:-1]
            for i, rest in rests.items():
                shares[i] = float(rest @ hopes)
            beliefs[j] = _by_entry(states, shares / shares.sum())
            kernels.draw_backward(hopes, moves, stage.lump, n, at[j], at[j] + 1)
        if j:
            hopes = stays[j - 1] * (hopes if onto[j - 1] is None else hopes[onto[j - 1]])
            hopes /= hopes.max()
    return Solved(beliefs, log_weight)


def _stages(states: States, at: list[int]) -> list[Built]:
    """The states of every bucket; buckets in which the same classes matter share them."""
    found: dict[int, Built] = {}
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


def _cut_exactly(run: Run, judge: Judge, p: Fraction, states: States) -> Solved:
    """The same where the run may have been cut: states also tell what a prefix held at the last cut."""
    built = states.built(0, int(run.unknown()[-1]))
    kernels = compiled(_KERNELS)
    moves = kernels.Moves(*built.moves)
    judged, m, n_states = Judged(run, judge, built), run.n_buckets, built.n_states
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
            kernels.draw_forward(array, moves, built.lump, n, at[j], at[j + 1])
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
            raise Impossible(
                "no assignment of a group's values to its people makes the method form this group: check that the "
                "people, the principle, the method and its parameters are those of the release"
            )
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
                kernels.draw_backward(hope, moves, built.lump, n, at[j] + 1, at[j + 1])
                kernels.next_tuple(array, hope, moves, built.lump, at[j], shares)
                kernels.draw_backward(hope, moves, built.lump, n, at[j], at[j] + 1)
        if at[j + 1] > at[j]:
            beliefs[j] = _by_entry(states, shares / shares.sum())
        if j:
            hopes = {since: stay * hopes[since] + closes[j][since] * hopes[j][cut] for since, stay in stays[j].items()}
            largest = max(hope.max() for hope in hopes.values())
            for hope in hopes.values():
                hope /= largest
    return Solved(beliefs, log_weight)


def _at_border(
    run: Run, judged: Judged, chances: dict[int, Floats], j: int, goes_on: float
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


def _at_end(run: Run, judged: Judged, since: int) -> Floats:
    """What each state weighs at the end of the run."""
    if run.kind != "hidden":
        return np.ones(judged.built.n_states)
    allowed = run.allowed is None or run.allowed[since, run.n_buckets]
    return np.asarray(judged.between(since, run.n_buckets) & allowed, np.float64)


def _by_entry(states: States, shares: Floats) -> Floats:
    """Divide the probabilities of classes among their values."""
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
    run: Run,
    judge: Judge,
    p: Fraction,
    states: States,
    *,
    error: float,
    source: Source,
    most_trials: int,
    look: Callable[[], None],
) -> Solved:
    """Draw independent arrangements, and keep those from which the algorithm makes the run; the sampling is exact."""
    lumped = _lumped(run, states) if isinstance(judge, Frequencies) else run
    unknown = np.maximum(np.diff(run.unknown()), 1)[:, np.newaxis]
    total = np.zeros((run.n_buckets, len(lumped.codes)))
    squares = np.zeros_like(total)
    kept, trials, n = 0, 0, _TRIALS
    while True:
        for drawn in _trials(lumped, judge, p, source, n, look):
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
                beliefs, errors = _unlumped(run, states, lumped, mean, errors)
                return Solved(beliefs, log(kept / trials), errors)
        if trials >= most_trials:
            size = f"{counted(sum(run.sizes), 'person')} with {counted(len(run.codes), 'value')}"
            raise NotSupported(
                f"sampling did not reach an error of {error} for a group of {size}: the algorithm would have "
                f"formed this group for only {kept:,} of {trials:,} sampled assignments of the values",
                instead="allow a larger error (error=, --error), or use linking",
            )


def _lumped(run: Run, states: States) -> Run:
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


def _unlumped(run: Run, states: States, lumped: Run, *found: Floats) -> tuple[Floats, ...]:
    """Divide what was found for the merged values among them."""
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


def _trials(
    run: Run, judge: Judge, p: Fraction, source: Source, n_trials: int, look: Callable[[], None]
) -> Iterator[Integers]:
    """Those of a number of uniform arrangements that give the run: for each of them the records by bucket and value."""
    kernels = compiled(_KERNELS)
    m, u, found, borders = run.n_buckets, len(run.codes), run.found_out(), np.cumsum([0, *run.sizes])
    at = borders - found.sum(axis=1)
    left = np.tile((run.counts - found[-1]).astype(np.int32), (n_trials, 1))
    held = np.zeros((n_trials, u), np.int64)  # since the last cut
    since = np.zeros(n_trials, np.int64)
    drawn: list[NDArray[np.int32]] = []
    parents: list[Integers] = []
    for j in range(m):
        look()
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
