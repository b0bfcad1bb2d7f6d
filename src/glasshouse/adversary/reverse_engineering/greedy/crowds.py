# SPDX-License-Identifier: Apache-2.0
"""Crowds: corrupted people at unknown places in the order, among others with the same quasi-identifiers.

Every way to place them is weighed by how likely the groups are that it leaves to be explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import comb, exp, factorial, lgamma, log, perm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.permanents import shared_out
from glasshouse.errors import InputError, NotSupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.reverse_engineering.greedy.prefixes import Solved
    from glasshouse.adversary.reverse_engineering.greedy.sequences import Explained

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MOST_PLACINGS", "Crowd", "dropped_known", "linked", "weigh"]

MOST_PLACINGS = 10_000
"""The largest number of ways to place people with known values that the attack goes through."""

_Seat = tuple[int, int, int]  # run, start and bucket


@dataclass(frozen=True, eq=False)
class Crowd:
    """People with equal quasi-identifiers, some of whom are corrupted; their places in the order are secret."""

    values: dict[int, int]  # of the corrupted
    seats: tuple[tuple[_Seat, int], ...]  # places in runs that also hold others, with how many there are
    runs: tuple[int, ...]  # these runs
    within: tuple[int, ...]  # the runs that hold nobody else
    held: dict[int, int]  # how many records have each value in them, together

    @classmethod
    def of(cls, attack: Explained, start: int, stop: int, values: dict[int, int]) -> Crowd:
        """The people between two places of the order, who are alike."""
        starts = attack.starts
        if stop > starts[-1]:
            raise dropped_known()
        first = int(np.searchsorted(starts, start, side="right")) - 1
        last = int(np.searchsorted(starts, stop, side="left"))
        within = tuple(r for r in range(first, last) if starts[r] >= start and starts[r + 1] <= stop)
        runs = tuple(r for r in range(first, last) if r not in set(within))
        seats = tuple(
            ((r, low, bucket), high - low)
            for r in runs
            for low, high, bucket in attack.slots(r)
            if start <= low and high <= stop
        )
        held: dict[int, int] = {}
        for r in within:
            for value, count in zip(*(array.tolist() for array in attack.histogram(r)), strict=True):
                held[value] = held.get(value, 0) + count
        return cls(values, seats, runs, within, held)

    @property
    def n_placings(self) -> int:
        """How many ways there are to tell how many corrupted people of each value stand where."""
        places = len(self.seats) + bool(self.within)
        return prod(comb(number + places - 1, number) for number in self.values.values())

    def placings(self) -> list[tuple[float, list[tuple[_Seat, int, int]], dict[int, int]]]:
        """Each with the logarithm of its ways, who sits where, and what is left of the values of the runs within."""
        places = len(self.seats) + bool(self.within)
        found = []
        for parts in product(*(list(shared_out(number, places)) for number in self.values.values())):
            ways = 1
            left = dict(self.held)
            for (value, number), part in zip(self.values.items(), parts, strict=True):
                ways *= factorial(number) // prod(factorial(share) for share in part)
                if self.within:
                    ways *= perm(left.get(value, 0), part[-1])
                    left[value] = left.get(value, 0) - part[-1]
            seated = []
            for i, (seat, room) in enumerate(self.seats):
                ways *= perm(room, sum(part[i] for part in parts))
                seated += [(seat, value, part[i]) for value, part in zip(self.values, parts, strict=True) if part[i]]
            if ways:
                found.append((log(ways), seated, left))
        return found


def weigh(attack: Explained, crowds: list[Crowd]) -> set[int]:
    """Add up over all places that the corrupted people of some crowds may have."""
    placings = prod(crowd.n_placings for crowd in crowds)
    if placings > MOST_PLACINGS:
        raise NotSupported(
            f"there are {placings:,} ways to place the people with known values (corrupted=) among others with "
            "the same quasi-identifiers, which are too many to go through",
            instead="give the values of fewer of them",
        )
    runs = sorted({run for crowd in crowds for run in crowd.runs})
    slots = {run: list(attack.slots(run)) for run in runs}
    terms: list[tuple[float, dict[int, Floats], list[dict[int, int]]]] = []
    answers: dict[Any, Solved] = {}
    for placing in product(*(crowd.placings() for crowd in crowds)):
        weight = sum(log_ways for log_ways, _, _ in placing)
        expected: dict[int, Floats] = {}
        for run in runs:
            seated = [who for _, some, _ in placing for who in some if who[0][0] == run]
            log_ways, log_weight, rows = _expected(attack, run, seated, slots[run], answers, alone=placings == 1)
            weight += log_ways
            weight += log_weight
            expected[run] = rows
            if weight == -np.inf:
                break
        if weight > -np.inf:
            terms.append((weight, expected, [left for _, _, left in placing]))
    if not terms:
        raise InputError(
            "no table of these people can have produced this release: a value given for a person (corrupted=, "
            "--corrupted) is impossible; check the values"
        )
    top = max(weight for weight, _, _ in terms)
    shares = [exp(weight - top) for weight, _, _ in terms]
    total_share = sum(shares)
    for run in runs:
        summed = sum(share * expected[run] for share, (_, expected, _) in zip(shares, terms, strict=True))
        attack.put(run, np.asarray(summed) / total_share)
        attack.by_slot[run] = 1
        attack.n_explained += 1
    done = set(runs)
    for i, crowd in enumerate(crowds):
        left = {
            value: sum(share * lefts[i][value] for share, (_, _, lefts) in zip(shares, terms, strict=True))
            / (total_share * crowd.held[value])
            for value in crowd.held
        }
        _put_within(attack, crowd, left)
        done |= set(crowd.within)
    return done


def _put_within(attack: Explained, crowd: Crowd, left: dict[int, float]) -> None:
    """Store for groups inside the cell the values that the corrupted people placed there leave, on average."""
    for run in crowd.within:
        codes, counts = attack.histogram(run)
        whole = counts * np.array([left[value] for value in codes.tolist()])
        parts = [(stop - start) / attack.lengths[run] for start, stop, _ in attack.slots(run)]
        attack.put(run, np.outer(parts, whole))
        attack.by_slot[run] = 1


def _expected(
    attack: Explained,
    run: int,
    seated: list[tuple[_Seat, int, int]],
    slots: list[tuple[int, int, int]],
    answers: dict[Any, Solved],
    *,
    alone: bool,
) -> tuple[float, float, Floats]:
    """Corrupted people seated so in a run: the logarithms of their ways and of the run's weight; what is expected."""
    codes, counts = attack.histogram(run)
    fixed = np.zeros((int(attack.n_buckets[run]), len(codes)), np.int64)
    taken = {start: 0 for start, _, _ in slots}
    for (_, start, bucket), value, number in seated:
        entry = np.flatnonzero(codes == value)
        if not len(entry):
            return -np.inf, 0.0, np.empty(0)
        fixed[bucket, entry[0]] += number
        taken[start] += number
    total = fixed.sum(axis=0)
    ways = prod(perm(int(c), int(f)) for c, f in zip(counts, total, strict=True))
    if not ways:
        return -np.inf, 0.0, np.empty(0)
    key = (run, fixed.tobytes())
    if key not in answers:
        answers[key] = attack.possible(run, fixed)
    answer = answers[key]
    if answer.errors is not None and not alone:
        raise NotSupported(
            "the values of a group cannot be sampled if it is not certain which places in it people with known "
            "values (corrupted=) have",
            instead="leave these people out of the people with known values",
        )
    rows = [(stop - start - taken[start]) * answer.beliefs[bucket] for start, stop, bucket in slots]
    n, k = int(attack.lengths[run]), int(total.sum())
    return log(ways) - lgamma(n + 1) + lgamma(n - k + 1), answer.log_weight, np.array(rows)


def linked(crowds: list[Crowd]) -> Iterator[list[Crowd]]:
    """Put crowds together that share a run."""
    while crowds:
        together, rest = [crowds[0]], crowds[1:]
        runs = set(crowds[0].runs)
        while more := [crowd for crowd in rest if runs & set(crowd.runs)]:
            together += more
            runs |= {run for crowd in more for run in crowd.runs}
            rest = [crowd for crowd in rest if crowd not in more]
        yield together
        crowds = rest


def dropped_known() -> NotSupported:
    """The error for a corrupted person of whom it is not known whether the person is published."""
    return NotSupported(
        "reverse engineering does not support known values (corrupted=) of people who may have been left out",
        instead="leave these people out of the people with known values",
    )
