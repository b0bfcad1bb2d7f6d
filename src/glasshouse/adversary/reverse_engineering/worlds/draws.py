# SPDX-License-Identifier: Apache-2.0
"""A source of draws that makes every choice there is, run after run, each with its exact probability.

A randomised algorithm is a tree of choices. `every_run` walks it: the first run takes the first outcome of every draw
and leaves the beginnings of all other runs behind, to be continued from there later. Draws that are not uniform have
branches of unequal weight: a coin that falls with probability p has two, whatever the denominator of p; a subset has a
branch for each subset, and a shuffle one for each order that looks different.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from glasshouse.errors import NotSupported, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["EnumeratingDraws", "chances", "every_run"]

Result = TypeVar("Result")

_DRAWS = "below, belows, permutation, shuffle, shuffle_runs, choose, coin, bernoulli and child"


def every_run(
    function: Callable[[EnumeratingDraws], Result], *, limit: int = 1_000_000
) -> Iterator[tuple[Fraction, Result]]:
    """Run ``function(draws)`` once for every outcome of its draws; give the probability and the result of each run.

    Probabilities are exact and positive, and sum to 1. Equal results are not merged: see `chances`. The function takes
    a source of draws, as `glasshouse.randomness.Draws` offers them; nothing else may decide what it does.
    `NotSupported` is raised as soon as it is certain that there are more runs than the limit, before they are made.

    Examples
    --------
    >>> sorted(every_run(lambda draws: draws.below(3)))
    [(Fraction(1, 3), 0), (Fraction(1, 3), 1), (Fraction(1, 3), 2)]
    >>> list(every_run(lambda draws: draws.bernoulli(1, 1000)))
    [(Fraction(1, 1000), True), (Fraction(999, 1000), False)]
    """
    tree = _Tree(limit)
    while tree.beginnings:
        run = _Run(tree, tree.beginnings.pop())
        result = function(EnumeratingDraws(run, ()))
        run.close()
        tree.n_runs += 1
        yield Fraction(run.weight, run.of), result


def chances(
    function: Callable[[EnumeratingDraws], Result], *, limit: int = 1_000_000
) -> tuple[dict[Result, Fraction], int]:
    """Return the exact probability of every (hashable) result of ``function(draws)``, and how many runs there were.

    >>> chances(lambda draws: draws.below(6) < 2)
    ({True: Fraction(1, 3), False: Fraction(2, 3)}, 6)
    """
    found: dict[Result, Fraction] = {}
    n_runs = 0
    for probability, result in every_run(function, limit=limit):
        found[result] = found.get(result, Fraction(0)) + probability
        n_runs += 1
    return found, n_runs


_Weights = tuple[int, ...] | int  # of the branches; a number of equal ones
_Choice = tuple[int, _Weights]  # the branch that was taken, and what there was


class _Tree:
    """All runs that are known of: those made, and the beginnings of the others."""

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ParameterError("every_run", "limit", "an integer of at least 1", limit)
        self.limit = limit
        self.n_runs = 0
        self.beginnings: list[list[_Choice]] = [[]]

    def branch(self, path: list[_Choice], weights: _Weights, n: int) -> None:
        """Leave the beginnings of the runs behind that take another branch than the first."""
        least = self.n_runs + 1 + len(self.beginnings) + n - 1  # with the current run; each beginning is one at least
        if least > self.limit:
            likely = prod(other if isinstance(other, int) else len(other) for _, other in [*path, (0, weights)])
            raise NotSupported(
                f"the algorithm makes at least {least:,} different sequences of random choices (about "
                f"{max(likely, least):,}, estimated from one run), and {self.limit:,} are allowed",
                instead="attack a table of fewer people, raise the limit (most_runs=, --most-runs), or estimate by "
                "sampling (how='sampled', --how sampled)",
            )
        self.beginnings.extend([*path, (outcome, weights)] for outcome in range(n - 1, 0, -1))


class _Run:
    """One run: follows its beginning, and from there on takes the first branch each time."""

    def __init__(self, tree: _Tree, beginning: list[_Choice]) -> None:
        self.tree = tree
        self.path = beginning
        self.at = 0
        self.weight = self.of = 1  # the probability of what was drawn so far
        self.streams: dict[tuple[Any, ...], list[_Choice]] = {}  # what each stream has given, in its order

    def take(self, weights: _Weights) -> int:
        n = weights if isinstance(weights, int) else len(weights)
        if self.at == len(self.path):
            if n > 1:
                self.tree.branch(self.path, weights, n)
            self.path.append((0, weights))
        outcome, expected = self.path[self.at]
        if expected != weights:
            _refuse("the algorithm made other random choices when it was run again on the same table")
        self.at += 1
        self.weight *= 1 if isinstance(weights, int) else weights[outcome]
        self.of *= weights if isinstance(weights, int) else sum(weights)
        return outcome

    def close(self) -> None:
        if self.at != len(self.path):
            _refuse("the algorithm made fewer random choices when it was run again on the same table")


class EnumeratingDraws:
    """The draws of one run of `every_run`: all finite draws of `glasshouse.randomness.Draws`."""

    is_seeded = False  # every choice is made, so that nothing needs an order that a seed could repeat

    def __init__(self, run: _Run, path: tuple[Any, ...]) -> None:
        self._run = run
        self._path = path
        self._at = 0

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            "every run of the algorithm can be tried only if all its random choices are from a finite set, and "
            f"{name!r} does not draw from one: use {_DRAWS}"
        )

    def child(self, *labels: str | int) -> EnumeratingDraws:
        """Return the stream of ``labels`` from its beginning: asked for twice, it makes the same choices twice."""
        return EnumeratingDraws(self._run, (*self._path, tuple((type(label).__name__, label) for label in labels)))

    def below(self, n: int, /) -> int:
        """Return each of ``0 .. n - 1``."""
        if n < 1:
            raise ParameterError("EnumeratingDraws.below", "n", "an integer of at least 1", n)
        return self._take(int(n))

    def belows(self, bounds: int | NDArray[np.integer[Any]], size: int | None = None) -> NDArray[np.int64]:
        """Return draws below each of ``bounds``, or ``size`` below the one bound."""
        each = np.broadcast_to(bounds, len(np.atleast_1d(bounds)) if size is None else size).tolist()
        return np.array([self.below(n) for n in each], np.int64)

    def permutation(self, n: int) -> NDArray[np.int32] | NDArray[np.int64]:
        """Return ``0 .. n - 1`` in every order."""
        order = np.arange(n, dtype=np.int32)
        self.shuffle(order)
        return order

    def shuffle(self, array: NDArray[np.int32] | NDArray[np.int64]) -> None:
        """Put ``array`` into every order that looks different, in place."""
        left = Counter(array.tolist())
        for i in range(len(array)):
            values = list(left)
            counts = tuple(left.values())
            value = values[self._take(len(counts) if max(counts) == 1 else counts)]
            array[i] = value
            left[value] -= 1
            if not left[value]:
                del left[value]

    def shuffle_runs(self, array: NDArray[np.int32] | NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        """Shuffle each ``array[offsets[r] : offsets[r + 1]]`` by itself, in place."""
        for start, stop in pairwise(np.asarray(offsets).tolist()):
            self.shuffle(array[start:stop])

    def choose(self, n: int, k: int) -> NDArray[np.int64]:
        """Return every set of ``k`` of ``0 .. n - 1``, ascending."""
        if not 0 <= k <= n:
            raise ParameterError("EnumeratingDraws.choose", "k", f"an integer from 0 to {n}", k)
        chosen: list[int] = []
        for i in range(n):
            if self.bernoulli(k - len(chosen), n - i):
                chosen.append(i)
        return np.array(chosen, np.int64)

    def coin(self) -> bool:
        """Return true and false."""
        return self._take(2) == 1

    def bernoulli(self, numerator: int, denominator: int) -> bool:
        """Return true with weight ``numerator`` of ``denominator``, and false with the rest."""
        if not 0 <= numerator <= denominator or denominator < 1:
            raise ParameterError("EnumeratingDraws.bernoulli", "numerator", f"from 0 to {denominator}", numerator)
        if numerator in (0, denominator):
            return numerator > 0
        return self._take((int(numerator), int(denominator - numerator))) == 0

    def _take(self, weights: _Weights) -> int:
        given = self._run.streams.setdefault(self._path, [])
        if self._at == len(given):
            given.append((self._run.take(weights), weights))
        outcome, before = given[self._at]
        if before != weights:
            _refuse("the algorithm used the same stream of random numbers twice, in different ways")
        self._at += 1
        return outcome


def _refuse(what: str) -> NoReturn:
    raise NotSupported(
        what,
        instead="make sure that only its random numbers decide what the algorithm does, and use a separate child "
        "stream with its own label for each purpose",
    )
