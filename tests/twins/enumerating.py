# SPDX-License-Identifier: Apache-2.0
"""A source of randomness that makes every choice there is, one run after another, with exact probabilities.

Slow twin of `glasshouse.randomness.Source`. All that happens is written here in terms of ``below(n)``; numpy serves
only to hand over arrays of the type that methods expect.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from glasshouse.randomness import Numbering

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence, Sequence

Result = TypeVar("Result")


class TooManyRuns(RuntimeError):
    """The function has more runs than the limit allows."""


def enumerate_runs(
    function: Callable[[EnumeratingDraws], Result], *, limit: int = 100_000
) -> list[tuple[Fraction, Result]]:
    """Run ``function(draws)`` once for each outcome of its draws; return the probability and the result of each run.

    Probabilities are exact, positive, and sum to 1. Equal results are not merged: see `distribution`.
    """
    runs = []
    script: list[tuple[int, int]] = []  # the choices of the current run: (outcome, out of how many)
    while True:
        run = _Run(script)
        result = function(EnumeratingDraws(run, path=()))
        run.check_that_all_was_used()
        probability = Fraction(1)
        for _, n in script:
            probability /= n
        runs.append((probability, result))

        # The next run is the next leaf of the tree of choices: advance the last choice that has an outcome left.
        while script and script[-1][0] + 1 == script[-1][1]:
            script.pop()
        if not script:
            return runs
        outcome, n = script[-1]
        script[-1] = (outcome + 1, n)
        if len(runs) == limit:
            raise TooManyRuns(
                f"more than {limit} runs, each of probability about {float(probability):.1e}: "
                "take a smaller table, or raise the limit"
            )


def distribution(function: Callable[[EnumeratingDraws], Result], *, limit: int = 100_000) -> dict[Result, Fraction]:
    """Return the exact probability of each (hashable) result of ``function(draws)``."""
    probabilities: dict[Result, Fraction] = {}
    for probability, result in enumerate_runs(function, limit=limit):
        probabilities[result] = probabilities.get(result, Fraction(0)) + probability
    return probabilities


class _Run:
    """One run: follows the script of choices to its end, and then makes the first choice each time."""

    def __init__(self, script: list[tuple[int, int]]) -> None:
        self.script = script
        self.used = 0
        self.streams: dict[tuple[Any, ...], list[tuple[int, int]]] = {}  # what each stream has given, in its order

    def choose(self, n: int) -> int:
        if self.used == len(self.script):
            self.script.append((0, n))
        outcome, expected = self.script[self.used]
        if n != expected:
            raise RuntimeError(f"a repeated run drew below {n} instead of {expected}: more than draws decides it")
        self.used += 1
        return outcome

    def check_that_all_was_used(self) -> None:
        if self.used != len(self.script):
            raise RuntimeError("a repeated run made fewer draws than before: more than draws decides it")


class EnumeratingDraws:
    """The draws of one run of `enumerate_runs`; offers all of `glasshouse.randomness.Draws`."""

    is_seeded = False

    def __init__(self, run: _Run, *, path: tuple[Any, ...]) -> None:
        self._run = run
        self._path = path
        self._at = 0

    def child(self, *labels: str | int) -> EnumeratingDraws:
        """Return the stream of these labels from its beginning: asked for twice, it gives the same choices twice."""
        return EnumeratingDraws(self._run, path=(*self._path, tuple((type(label), label) for label in labels)))

    def below(self, n: int, /) -> int:
        if n < 1:
            raise ValueError(f"nothing is below {n}")
        given = self._run.streams.setdefault(self._path, [])
        if self._at == len(given):
            given.append((self._run.choose(n), n))
        outcome, before = given[self._at]
        if n != before:
            raise RuntimeError(f"a stream taken twice drew below {before}, then below {n}: these are not independent")
        self._at += 1
        return outcome

    def belows(self, bounds: Any, size: int | None = None) -> np.ndarray[Any, Any]:
        each = [bounds] * size if size is not None and np.ndim(bounds) == 0 else list(bounds)
        return np.array([self.below(int(n)) for n in each], np.int64)

    def permutation(self, n: int) -> np.ndarray[Any, Any]:
        order = list(range(n))
        shuffle(self.below, order)
        return np.array(order, np.int32)

    def numbering(self, n: int) -> Numbering:
        return Numbering(n, self.permutation(n), ())

    def shuffle(self, array: MutableSequence[int] | np.ndarray[Any, Any]) -> None:
        shuffle(self.below, array)

    def shuffle_runs(self, array: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> None:
        for start, stop in pairwise(offsets.tolist()):
            shuffle(self.below, array[start:stop])

    def choose(self, n: int, k: int) -> np.ndarray[Any, Any]:
        return np.array(choose(self.below, n, k), np.int64)

    def coin(self) -> bool:
        return self.below(2) == 1

    def bernoulli(self, numerator: int, denominator: int) -> bool:
        return self.below(denominator) < numerator


def shuffle(below: Callable[[int], int], items: Any) -> None:
    """Fisher and Yates, from the last place to the first."""
    for i in range(len(items) - 1, 0, -1):
        j = below(i + 1)
        items[i], items[j] = items[j], items[i]


def choose(below: Callable[[int], int], n: int, k: int) -> Sequence[int]:
    """Floyd's subset, ascending."""
    chosen: set[int] = set()
    for j in range(n - k, n):
        draw = below(j + 1)
        chosen.add(j if draw in chosen else draw)
    return sorted(chosen)
