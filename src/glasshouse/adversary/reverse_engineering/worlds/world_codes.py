# SPDX-License-Identifier: Apache-2.0
"""Worlds as arrays of codes: those possible before the release, with their prior, and a random one to start."""

from __future__ import annotations

from math import comb, factorial, inf, log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.reverse_engineering.worlds.enumeration import scaled_priors
from glasshouse.adversary.reverse_engineering.worlds.worlds import World
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from glasshouse.adversary.reverse_engineering.worlds.worlds import Worlds
    from glasshouse.randomness import Source

__all__ = ["MOST_LISTED", "Codes", "Space"]

MOST_LISTED = 200_000
"""Up to this many possible tables are all visited."""

Codes = Any  # an int16 for every row: the place of the value, or -1 for somebody who is not in the table


class Space:
    """The worlds that are possible before the release, as arrays of codes, with the logarithm of their prior."""

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
        # People who are known, or cannot be there, never change.
        self.free = np.flatnonzero(~self.known & self.allowed.any(axis=1))
        fixed = int(self.known.sum())
        self.counts_vary = max(self.sizes) > int(self.least.sum()) or len(self.sizes) > 1
        self.all_present = self.sizes == {fixed + len(self.free)}

    def _priors(self, prior: Mapping[Any, Any] | None) -> NDArray[np.float64] | None:
        if prior is None:
            return None
        found = np.zeros((self.worlds.n_people, self.n_values))
        for row, weights in scaled_priors(prior, self.worlds).items():
            found[row] = [log(weights[value]) if weights[value] else -inf for value in self.values]
        return found

    def weight(self, codes: Codes) -> float:
        """The logarithm of the prior, up to a constant; only of worlds that hold."""
        if self.log_prior is None:
            return 0.0
        rows = np.flatnonzero(codes >= 0)
        return float(self.log_prior[rows, codes[rows]].sum())

    def holds(self, codes: Codes, changed: Collection[int]) -> bool:
        """Whether codes are a world that is possible before the release, if they were one before these rows changed."""
        for row in changed:
            if codes[row] >= 0 and not self.allowed[row, codes[row]]:
                return False
        if not self.counts_vary:
            return True  # values were only put into another order
        present = codes[codes >= 0]
        return len(present) in self.sizes and bool((np.bincount(present, minlength=self.n_values) >= self.least).all())

    def world(self, codes: Codes) -> World:
        """The world that codes stand for."""
        rows = np.flatnonzero(codes >= 0).tolist()
        return World(tuple(rows), tuple(self.values[codes[row]] for row in rows))

    def codes(self, world: Mapping[int, Any]) -> Codes:
        """The codes of a world given by row."""
        found = np.full(self.worlds.n_people, -1, np.int16)
        for row, value in world.items():
            if not 0 <= row < self.worlds.n_people or value not in self.worlds.least:
                raise InputError(
                    f"row {row} of the table to start from has a value that is not possible, or is not one of "
                    "the people"
                )
            found[row] = self.values.index(value)
        counts = np.bincount(found[found >= 0], minlength=self.n_values)
        rows = np.flatnonzero(found >= 0)
        if (
            len(rows) not in self.sizes
            or not (counts >= self.least).all()
            or not self.allowed[rows, found[rows]].all()
            or not (found[self.known] >= 0).all()
        ):
            raise InputError(
                "the table to start from is not possible: check it against the counts, the known values "
                "(corrupted=) and may="
            )
        return found

    def random(self, source: Source) -> Codes:
        """Some world, by matching values with people in random order; no world is impossible, but not all are alike."""
        found = np.full(self.worlds.n_people, -1, np.int16)
        left = self.least.copy()
        for row in np.flatnonzero(self.known).tolist():
            place = self.values.index(self.worlds.known[row]) if self.worlds.known[row] in self.worlds.least else -1
            if place < 0 or not self.allowed[row, place]:
                raise InputError(
                    "the value given for a person (corrupted=) is impossible, or has the weight 0 in the "
                    "prior: check the value"
                )
            found[row] = place
            left[place] = max(0, left[place] - 1)
        sizes = sorted(self.sizes)
        seats = sizes[source.below(len(sizes))] - int(self.known.sum())
        wanted = np.repeat(np.arange(self.n_values), left)
        wanted = np.concatenate([wanted, np.full(max(0, seats - len(wanted)), -1)])  # -1: any value
        if len(wanted) > seats:
            raise InputError(
                "more values are published than there are people without known values (corrupted=) to have "
                "them: check the people and their values"
            )
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
                raise InputError(
                    "no table of these people has the published counts: check the known values (corrupted=) and may="
                )
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
        return self.worlds.count if most <= MOST_LISTED else None
