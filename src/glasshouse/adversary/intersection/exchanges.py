# SPDX-License-Identifier: Apache-2.0
"""Exchanges: a Markov chain over tables that are too many to count; each step reassigns items among a few people.

The walk holds a world: everybody takes an option, and everything is taken. A move chooses a block of people, without
looking at what they take, finds every way in which they can take together what they take now, and takes one of these
uniformly: a Gibbs step, after which all worlds are as likely as before. Exchanging two values is the smallest such
move. With several releases two people are hardly ever in the same groups everywhere, and values must go round among
four people or more for all releases to come out as published; so a block is the people met on a walk from one
to another who may take the same thing.

**Where it begins.** There is no world to begin with. One is found by taking an option at random where fewest are left,
drawing every conclusion, and going back where nothing fits (Knuth, "Dancing links", 2000); each chain has its own.

How far it can be trusted: see `sampling`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.sampling import NotReached, sample, stretch_of
from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.intersection.candidates import Component
    from glasshouse.adversary.sampling import Sampled
    from glasshouse.randomness import Draws

__all__ = ["sample_options"]

_MOST_NODES = 4096  # of a block: where more are needed it is left as it is
_MOST_PEOPLE = 20_000
_MOST_BACK = 300  # dead ends met while looking for a world, before beginning again
_ATTEMPTS = 30
_NO_WORLD = "no table fits all releases"
_PICK = 1 << 62
_BLOCKS = 1 << 12  # that are chosen together
_WARM_UP = 64  # sweeps


def sample_options(
    one: Component,
    cell: NDArray[np.int64],
    *,
    error: float,
    most_sweeps: int,
    source: Draws,
    chains: int = 4,
    block: int = 16,
    progress: Callable[[float], None] | None = None,
) -> Sampled:
    """Sample how often people take options, summed over cells of options of one kind.

    ``cell`` has, for every option, kind after kind, the number of its cell; what is sampled of a cell is the mean share
    of people of its kind who take any of its options. A move concerns ``block`` people at most.
    """
    if sum(one.n_alike) > _MOST_PEOPLE:
        raise NotReached(f"{sum(one.n_alike):,} people are too many to sample")
    n_cells = int(cell.max(initial=-1)) + 1
    walks = []
    for c in range(chains):
        begun = stretch_of(progress, c / chains / 2, (c + 1) / chains / 2)
        walks.append(_Walk(one, cell, n_cells, block, source.child(c), begun))
    walked = stretch_of(progress, 0.5, 1.0)
    return sample(walks, error=error, most_sweeps=most_sweeps, warm_up=_WARM_UP, progress=walked)


class _Walk:
    """One Markov chain."""

    def __init__(
        self,
        one: Component,
        cell: NDArray[np.int64],
        n_cells: int,
        block: int,
        source: Draws,
        progress: Callable[[float], None],
    ) -> None:
        self.source = source
        self.block = block
        self.n_cells = n_cells
        takes: list[tuple[int, ...]] = []
        cells: list[int] = []
        starts = [0]
        given = iter(cell.tolist())
        for mine, stays in zip(one.takes, one.stays, strict=True):
            takes += [*mine, *([] if stays else [()])]
            cells += [*(next(given) for _ in mine), *([] if stays else [n_cells])]
            starts.append(len(takes))
        self.offsets = np.array(starts, np.int32)
        self.take_offsets = np.cumsum([0, *map(len, takes)]).astype(np.int32)
        self.takes = np.array([thing for taken in takes for thing in taken], np.int32)
        self.cell = np.array(cells, np.int64)
        self.kind = np.repeat(np.arange(len(one.n_alike)), one.n_alike).astype(np.int32)
        self.weight = 1.0 / np.array(one.n_alike, np.float64)[self.kind]
        self.pool = np.zeros(len(one.capacity), np.int32)
        self.n_moved = 0
        options = [range(starts[k], starts[k + 1]) for k in self.kind.tolist()]
        self.chosen = np.array(_a_world(options, takes, one.capacity, source.child("world"), progress), np.int32)

        # who may take what, both ways round, for walking from one person to the next
        of_option = np.repeat(np.arange(len(takes)), np.diff(self.take_offsets))
        of_kind = np.searchsorted(self.offsets, of_option, side="right") - 1
        pairs = np.unique(of_kind * len(one.capacity) + self.takes)
        kind, self.thing = pairs // len(one.capacity), pairs % len(one.capacity)
        self.thing_offsets = np.searchsorted(kind, np.arange(len(one.n_alike) + 1))
        first = np.cumsum([0, *one.n_alike])
        takers: list[list[int]] = [[] for _ in one.capacity]
        for k, thing in zip(kind.tolist(), self.thing.tolist(), strict=True):
            takers[thing].extend(range(first[k], first[k + 1]))
        self.taker_offsets = np.cumsum([0, *map(len, takers)])
        self.taker = np.array([person for some in takers for person in some], np.int64)

    @property
    def n_changes(self) -> float:
        """How often everybody has taken another option, on average."""
        return self.n_moved / len(self.kind)

    def sweep(self, n: int) -> NDArray[np.float64]:
        """Make ``n`` times as many moves as reassign everybody once on average; then return the shares of all cells."""
        kernels = compiled("glasshouse.adversary.intersection._kernels")
        options = kernels.Options(self.kind, self.offsets, self.take_offsets, self.takes, self.chosen, self.pool)
        at, who = np.empty(self.block + 1, np.int32), np.empty(self.block, np.int32)
        left = n * max(1, len(self.kind) // 2)
        while left > 0:
            members = self._blocks(min(left, _BLOCKS))
            picks = np.asarray(self.source.belows(_PICK, len(members)), np.int64)
            left -= len(members)
            self.n_moved += kernels.exchange(options, members.reshape(-1), picks, at, who, _MOST_NODES)
        shares = np.bincount(self.cell[self.chosen], weights=self.weight, minlength=self.n_cells + 1)
        return shares[: self.n_cells].astype(np.float64)

    def _blocks(self, n: int) -> NDArray[np.int32]:
        """Blocks of people met on short walks between people who may take the same thing; nobody is in two blocks."""
        members = np.empty((n, self.block), np.int64)
        members[:, 0] = self.source.belows(len(self.kind), n)
        for i in range(1, self.block):
            kind = self.kind[members[:, i - 1]]
            low, high = self.thing_offsets[kind], self.thing_offsets[kind + 1]
            thing = self.thing[low + self.source.belows(high - low)]
            low, high = self.taker_offsets[thing], self.taker_offsets[thing + 1]
            members[:, i] = self.taker[low + self.source.belows(high - low)]
        # small blocks are cheap, and large ones lead where small ones cannot: a quarter, a half, or all of the walk
        length = np.maximum(1, self.block >> np.asarray(self.source.belows(3, n)))
        members[np.arange(self.block) >= length[:, np.newaxis]] = -1
        members.sort(axis=1)
        again = np.zeros(members.shape, bool)
        again[:, 1:] = members[:, 1:] == members[:, :-1]
        members[again] = -1
        return members.astype(np.int32)


# --- a world to begin with -------------------------------------------------------------------------------------------


class _DeadEnd(Exception):
    """No assignment is left to try in this branch of the search."""


def _a_world(
    options: list[range],
    takes: list[tuple[int, ...]],
    capacity: list[int],
    source: Draws,
    progress: Callable[[float], None],
) -> list[int]:
    """Find a first world by search with backtracking: an option for every person, so that everything is taken."""
    search = _Search(options, takes, capacity)
    try:
        search.conclude()
    except _DeadEnd:
        raise NotReached(_NO_WORLD) from None
    start = len(search.trail)
    for attempt in range(_ATTEMPTS):
        progress(attempt / _ATTEMPTS)
        search.back(start)
        found = _tried(search, source.child(attempt))
        if found is not None:
            return found
    raise NotReached("no possible table was found to start the sampling from")


def _tried(search: _Search, source: Draws) -> list[int] | None:
    marks: list[tuple[int, int, int]] = []  # where to go back to, who was decided upon, and how
    dead_ends = 0
    while dead_ends <= _MOST_BACK:
        try:
            search.conclude()
            decision = search.narrowest(source)
            if decision is None:
                return search.world()
            marks.append((len(search.trail), *decision))
            search.keep(*decision)
        except _DeadEnd:
            dead_ends += 1
            while True:  # what was tried is wrong: leave it out, and what was decided before it if nothing else is left
                if not marks:
                    raise NotReached(_NO_WORLD) from None
                mark, person, option = marks.pop()
                search.back(mark)
                try:
                    search.drop(person, option)
                except _DeadEnd:
                    continue
                break
    return None


class _Search:
    """A search with undo: who may still take what, and a record of every change.

    People and things lie in a pile for each number of options that they have left, from which the narrowest are drawn.
    An entry whose number has changed stays on its pile until it is drawn, and is then thrown away, so that a decision
    costs as much as what it changes.
    """

    def __init__(self, options: list[range], takes: list[tuple[int, ...]], capacity: list[int]) -> None:
        self.takes = [frozenset(taken) for taken in takes]
        self.alive = [set(mine) for mine in options]
        self.first = [mine.start for mine in options]
        self.taking: dict[tuple[int, int], set[int]] = {}  # of people with the same options: those that take a thing
        for mine in set(options):
            for option in mine:
                for thing in takes[option]:
                    self.taking.setdefault((thing, mine.start), set()).add(option)
        self.left = list(capacity)
        self.able: list[dict[int, int]] = [{} for _ in capacity]  # people not settled, and how many options of theirs
        self.settled = [False] * len(options)
        self.trail: list[tuple[int, int, bool]] = []
        self.n_able = [0] * len(capacity)  # the sum of these numbers
        for person, mine in enumerate(options):
            for option in mine:
                for thing in self.takes[option]:
                    self.able[thing][person] = self.able[thing].get(person, 0) + 1
                    self.n_able[thing] += 1
        # people with one option left, and things that people must take
        self.news = [(True, p) for p in range(len(options))] + [(False, t) for t in range(len(capacity))]
        self.moved = dict.fromkeys(self.news)  # who must be put on another pile
        self.piles: dict[int, list[tuple[bool, int]]] = {}

    def drop(self, person: int, option: int) -> None:
        """Remove an option of a person."""
        self.alive[person].remove(option)
        self.trail.append((person, option, False))
        self.moved[True, person] = None
        for thing in self.takes[option]:
            self._change(thing, -1)
            able = self.able[thing]
            able[person] -= 1
            if not able[person]:
                del able[person]
                self.news.append((False, thing))
        if not self.alive[person]:
            raise _DeadEnd
        self.news.append((True, person))

    def keep(self, person: int, option: int) -> None:
        """Fix a person's option, and remove that person's other options."""
        for other in [o for o in self.alive[person] if o != option]:
            self.drop(person, other)

    def conclude(self) -> None:
        """Draw every conclusion."""
        while self.news:
            is_person, number = self.news.pop()
            if is_person and len(self.alive[number]) == 1 and not self.settled[number]:
                self._settle(number)
            elif not is_person:
                self._check(number)

    def _settle(self, person: int) -> None:
        (option,) = self.alive[person]
        self.settled[person] = True
        self.trail.append((person, option, True))
        for thing in self.takes[option]:
            self._change(thing, -1)
            del self.able[thing][person]
            self.left[thing] -= 1
        for thing in self.takes[option]:
            self._check(thing)

    def _check(self, thing: int) -> None:
        able, left = self.able[thing], self.left[thing]
        if left < 0 or len(able) < left:
            raise _DeadEnd
        if able and (left == 0 or len(able) == left):
            for person in list(able):
                taking = self.taking[thing, self.first[person]]
                for option in self.alive[person] & taking if left == 0 else self.alive[person] - taking:
                    self.drop(person, option)

    def back(self, mark: int) -> None:
        """Undo every change since a mark."""
        self.news.clear()
        while len(self.trail) > mark:
            person, option, was_settled = self.trail.pop()
            self.moved[True, person] = None
            if was_settled:
                self.settled[person] = False
                for thing in self.takes[option]:
                    self._change(thing, 1)
                    self.able[thing][person] = 1
                    self.left[thing] += 1
            else:
                self.alive[person].add(option)
                for thing in self.takes[option]:
                    self._change(thing, 1)
                    self.able[thing][person] = self.able[thing].get(person, 0) + 1

    def narrowest(self, source: Draws) -> tuple[int, int] | None:
        """The person or item with the fewest options left, with one of these options; None if everything is settled."""
        for one in self.moved:
            if n := self._options_left(one):
                self.piles.setdefault(n, []).append(one)
        self.moved.clear()
        while self.piles:
            fewest = min(self.piles)
            pile = self.piles[fewest]
            at = source.below(len(pile))
            one = pile[at]
            if self._options_left(one) == fewest:
                break
            pile[at] = pile[-1]
            pile.pop()
            if not pile:
                del self.piles[fewest]
        else:
            return None
        is_person, number = one
        if is_person:
            choices = [(number, o) for o in sorted(self.alive[number])]
        else:
            able = sorted(self.able[number])
            choices = [(p, o) for p in able for o in sorted(self.alive[p]) if number in self.takes[o]]
        return choices[source.below(len(choices))]

    def _options_left(self, one: tuple[bool, int]) -> int:
        """How many options a person or an item has left; 0 for those that are settled."""
        is_person, number = one
        if is_person:
            return 0 if self.settled[number] else len(self.alive[number])
        return self.n_able[number] if self.left[number] else 0

    def _change(self, thing: int, by: int) -> None:
        self.n_able[thing] += by
        self.moved[False, thing] = None

    def world(self) -> list[int]:
        return [next(iter(mine)) for mine in self.alive]
