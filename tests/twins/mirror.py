# SPDX-License-Identifier: Apache-2.0
"""Mirror, slowly: a method of this project, as the documentation defines it (docs/methods/mirror.md).

Rows are numbered by all their codes, then by the rank of the identifier; ties between equal values are broken by that
number. What the definition leaves open is fixed here:

* `shape_of`: of all k that leave nothing over, or at least as many tuples as the floor, the one with the smallest
  ``k (n + 4 r)``, then the smallest k; if no draw works, a remainder must have at least twice as many tuples as the one
  that did not work, and in the end there is one node;
* the perimeter is relative to the ranges of the whole table, also inside the remainder;
* `plan`: which values the balanced groups of a failed leaf take from which half.

Each random choice can be replaced, so that tests can show what a shortcut costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import factorial

from tests.twins.anatomize import anatomize
from tests.twins.mondrian import Partition, Place, Row
from tests.twins.transparent import Draws, Penalty, ace, chosen, perimeter, sliced

__all__ = [
    "Mirror",
    "Plan",
    "balanced",
    "beliefs_after_failure",
    "chance",
    "group_size",
    "is_plan",
    "plan",
    "shape_of",
]

Holds = Callable[[list[int]], bool]  # of a list of sensitive codes
# how many groups are alike, and how often each of them takes every value from either half
Plan = list[tuple[int, tuple[Counter[int], Counter[int]]]]
Toss = Callable[[Draws], bool]
Deal = Callable[[list[int], int, Draws], list[int]]  # takes so many of these rows


def _coin(draws: Draws) -> bool:
    return draws.below(2) == 1


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """The method for one table: `groups` makes all random choices by the draws that it is given.

    Parameters
    ----------
    rows, positions
        The whole table, and per dimension and code the place on the axis.
    holds
        The principle.
    floor
        The least size of a node.
    ell
        The l of frequency l-diversity, under which leaves are divided further; None leaves them as they are.
    inner
        How leaves are divided further: ``ace`` (failed ones by slices of groups that are alike) or ``anatomize``.
    slack, start
        How many times l a node, and a whole table or remainder, must be diverse to be halved, if ``ell`` is given.
    mirrors
        How many halvings of a node may fail before it is a leaf, if ``ell`` is not given.
    attempts
        How often a remainder is drawn before another shape is tried; None for as often as it takes.
    dims
        The dimensions in the order in which they break ties, if not all in their own; others are never halved.
    weights
        How much the width of each dimension counts, if not all alike.
    even
        Whether halves must be equal. If not (a fault), every node is halved, the smaller half first.
    retries
        Whether another dimension is tried after a failure as if nothing had happened (a fault).
    balance
        Whether failed leaves are divided into balanced groups; if not (a fault), like the others.
    by_half
        Whether slack is judged of the first half instead of the node (a fault).
    toss, deal
        Which half plays the first part, and who of those with a value joins a group.
    leaves
        If given, every leaf of the last run is written here: its faces, or if it is divided further, its two halves
        where their test failed, and itself where it was not tested.
    """

    rows: Sequence[Row]
    positions: Sequence[Sequence[Place]]
    holds: Holds
    floor: int
    ell: int | None = None
    inner: str = "ace"
    slack: Fraction = Fraction(1)
    start: Fraction = Fraction(1)
    mirrors: int = 1
    attempts: int | None = None
    dims: Sequence[int] | None = None
    weights: Sequence[Fraction] | None = None
    even: bool = True
    retries: bool = False
    balance: bool = True
    by_half: bool = False
    toss: Toss = _coin
    deal: Deal = chosen
    leaves: list[list[frozenset[int]]] | None = None

    def groups(self, draws: Draws) -> Partition:
        """All groups; none where the table itself breaks the principle."""
        everybody = list(range(len(self.rows)))
        if not self._obeys(everybody):
            return set()
        order = sorted(everybody, key=lambda i: (self.rows[i][0], i))
        numbered = replace(self, rows=[self.rows[i] for i in order])
        if self.leaves is not None:
            self.leaves.clear()
        found = {frozenset(order[i] for i in group) for group in numbered._table(everybody, draws)}
        if self.leaves is not None:
            self.leaves[:] = [[frozenset(order[i] for i in face) for face in faces] for faces in self.leaves]
        return found

    def _note(self, *faces: Sequence[int]) -> None:
        if self.leaves is not None:
            self.leaves.append([frozenset(face) for face in faces])

    def _obeys(self, group: Sequence[int]) -> bool:
        return self.holds([self.rows[i][1] for i in group])

    def _diverse(self, group: Sequence[int], times: Fraction) -> bool:
        """Whether the principle could be so many times stricter; asked of frequency l-diversity alone."""
        if self.ell is None:
            return True
        return max(Counter(self.rows[i][1] for i in group).values()) * self.ell * times <= len(group)

    def _table(self, table: list[int], draws: Draws) -> Partition:
        """Step 1: the rest and the remainder, which is a table of its own."""
        if not self.even:
            return self._node([table], 0, draws)
        if not self._diverse(table, self.start):
            self._note(table)
            return self._untested(table, draws)
        floor, step = self.floor, 1
        if self.ell is not None:  # failed leaves have 2 k tuples or more: whole groups
            floor, step = max(floor, group_size(self.ell)), group_size(self.ell) // 2
        least = floor
        while True:
            h, k = shape_of(len(table), floor, step, least)
            remainder = self._remainder(table, len(table) - 2**h * k, draws)
            if remainder is not None:
                rest = [i for i in table if i not in remainder]
                found = self._node([rest], k, draws)
                return found | self._table(remainder, draws) if remainder else found
            least = 2 * (len(table) - 2**h * k)

    def _remainder(self, table: list[int], size: int, draws: Draws) -> list[int] | None:
        """Draw until the remainder and the rest obey; None if that is never so."""
        if size == 0:
            return []

        def works(remainder: Sequence[int]) -> bool:
            return self._obeys(remainder) and self._obeys([i for i in table if i not in remainder])

        if self.attempts is None:  # drawn again and again, it is uniform among those that work
            working = [subset for subset in combinations(table, size) if works(subset)]
            return list(working[draws.below(len(working))]) if working else None
        for _ in range(self.attempts):
            remainder = chosen(table, size, draws)
            if works(remainder):
                return remainder
        return None

    def _node(self, faces: list[list[int]], k: int, draws: Draws) -> Partition:
        """Steps 2 and 3, for a node with one face, or with the faces that failures made."""
        node = sorted(i for face in faces for i in face)
        uneven = self.even and len(faces[0]) % 2 == 1
        judged = node
        if self.by_half and len(node) > 1:
            judged = [i for face in self.halvings(faces)[0][0] for i in face]
        if len(node) == k or len(node) < 2 or uneven or not self._diverse(judged, self.slack):
            self._note(*faces)
            return self._untested(node, draws)
        halvings = self.halvings(faces)
        for halves in halvings if self.retries else halvings[:1]:
            if all(self._obeys([i for face in half for i in face]) for half in halves):
                return self._node(halves[0], k, draws) | self._node(halves[1], k, draws)
        first, second = halvings[0]
        if self.ell is None:
            more = [face for pair in zip(first, second, strict=True) for face in pair]
            if 2 * len(faces) < 2**self.mirrors:
                return self._node(more, k, draws)
            self._note(*more)
            return {frozenset(node)}
        self._note(first[0], second[0])
        if not self.balance:
            return self._untested(node, draws)
        penalty = self._penalty if self.inner == "ace" else None
        return balanced(
            self.rows, first[0], second[0], self.ell, draws, penalty=penalty, toss=self.toss, deal=self.deal
        )

    def halvings(self, faces: list[list[int]]) -> list[tuple[list[list[int]], list[list[int]]]]:
        """The halving of every dimension, from the least sum of widths on: the halves of all faces."""
        dims = range(len(self.positions)) if self.dims is None else self.dims
        found = []
        for place, dim in enumerate(dims):
            ordered = [sorted(face, key=lambda i: (self.rows[i][0][dim], i)) for face in faces]
            first = [sorted(face[: len(face) // 2]) for face in ordered]
            second = [sorted(face[len(face) // 2 :]) for face in ordered]
            members = [[self.rows[i] for face in half for i in face] for half in (first, second)]
            cost = sum(self._penalty(half) / len(half) for half in members)  # halves count alike, whatever their sizes
            found.append(((cost, place), first, second))
        return [(first, second) for _, first, second in sorted(found)]

    @property
    def _penalty(self) -> Penalty:
        if self.weights is None:
            return perimeter(self.rows, self.positions)

        def along(rows: Sequence[Row], dim: int) -> list[Row]:
            return [((codes[dim],), value) for codes, value in rows]

        alone = [perimeter(along(self.rows, dim), [places]) for dim, places in enumerate(self.positions)]
        weights = self.weights
        return lambda rows: sum(
            (weights[dim] * penalty(along(rows, dim)) for dim, penalty in enumerate(alone)), Fraction(0)
        )

    def _untested(self, leaf: list[int], draws: Draws) -> Partition:
        """Step 4 for a leaf of which nothing is known."""
        if self.ell is None:
            return {frozenset(leaf)}
        if self.inner == "ace":
            return ace(self.rows, self.positions, self.ell, draws, self._penalty, within=leaf)
        return anatomize(self.rows, self.ell, draws, within=leaf)


def shape_of(n: int, floor: int, step: int, least: int) -> tuple[int, int]:
    """The pair (h, k): ``2^h * k <= n`` tuples are halved, k is a multiple of ``step``."""
    found = []
    for k in range(floor, n // 2 + 1):
        h = max(h for h in range(n.bit_length()) if 2**h * k <= n)
        over = n - 2**h * k
        if k % step == 0 and (over == 0 or over >= least):
            found.append((k * (n + 4 * over), k, h))
    if not found:
        return 0, n
    _, k, h = min(found)
    return h, k


# --- step 4, for a leaf whose halving failed -------------------------------------------------------------------------


def group_size(ell: int) -> int:
    """Tuples of a balanced group: an even number, so that either half gives half of them."""
    return ell if ell % 2 == 0 else 2 * ell


def balanced(
    rows: Sequence[Row],
    left: Sequence[int],
    right: Sequence[int],
    ell: int,
    draws: Draws,
    *,
    penalty: Penalty | None = None,
    toss: Toss = _coin,
    deal: Deal = chosen,
) -> Partition:
    """Divide a leaf into groups that take as many tuples from one half as from the other.

    With a penalty, as many groups as possible are planned alike: a bucket, with a column for each tuple of a group,
    which is then sliced.
    """
    halves = (left, right) if toss(draws) else (right, left)
    counts = [Counter(rows[i][1] for i in half) for half in halves]
    stocks: list[dict[int, list[int]]] = [{}, {}]
    for stock, half in zip(stocks, halves, strict=True):
        for i in half:
            stock.setdefault(rows[i][1], []).append(i)
    partition: Partition = set()
    for alpha, parts in plan(counts[0], counts[1], ell, alike=penalty is not None):
        columns: list[list[int]] = []
        for stock, part in zip(stocks, parts, strict=True):
            for value, times in sorted(part.items()):
                for _ in range(times):
                    columns.append(deal(stock[value], alpha, draws))
                    stock[value] = [i for i in stock[value] if i not in columns[-1]]
        if penalty is None:
            partition.add(frozenset(i for column in columns for i in column))
        else:
            partition |= sliced(rows, dict(enumerate(columns)), penalty)
    return partition


def plan(first: Counter[int], second: Counter[int], ell: int, *, alike: bool = False) -> Plan:
    """Which values every group takes from either half: a function of counts, and of nothing else.

    Groups are planned one after another; let m of them be left. A group takes a value at most once (twice if l is odd):
    first every value as often as m - 1 groups could not take it; then values in the order of a list, once each (then,
    if l is odd, once more), as long as the group can still take half of its tuples from either half. What can come from
    either half comes from the first until that has given its share. The list has the values by how many tuples are
    left of them, the largest number first, then by code. If groups are to be alike, the same is taken for as many
    groups as there can be, if the others are still to find groups for what is left.
    """
    size = group_size(ell)
    most = size // ell
    left = (Counter(first), Counter(second))
    both = first + second
    groups: Plan = []
    m = both.total() // size
    while m:
        order = sorted(both, key=lambda value: (-both[value], value))
        taken = Counter({value: max(0, both[value] - most * (m - 1)) for value in order})
        for times in range(1, most + 1):
            for value in order:
                more = taken + Counter([value])
                if more[value] <= min(times, both[value]) and _can_be_taken(more, left, size):
                    taken = more
        parts = _sides(taken, order, left, size)
        fitting = [
            alpha
            for alpha in range(1, m + 1 if alike else 2)
            if all(alpha * n <= counter[v] for counter, part in zip(left, parts, strict=True) for v, n in part.items())
            and all(both[value] - alpha * taken[value] <= most * (m - alpha) for value in order)
        ]
        alpha = max(fitting)
        groups.append((alpha, parts))
        for counter, part in zip(left, parts, strict=True):
            for value, times in part.items():
                counter[value] -= alpha * times
                both[value] -= alpha * times
        both = +both
        m -= alpha
    return groups


def _can_be_taken(taken: Counter[int], left: tuple[Counter[int], Counter[int]], size: int) -> bool:
    """Hall's condition: neither half must give more than half of a group, nor both together more than a group."""
    forced = [sum(max(0, times - other[value]) for value, times in taken.items()) for other in left]
    return taken.total() <= size and max(forced) <= size // 2


def _sides(
    taken: Counter[int], order: Sequence[int], left: tuple[Counter[int], Counter[int]], size: int
) -> tuple[Counter[int], Counter[int]]:
    """What comes from the first half, and what from the second."""
    first = Counter({value: max(0, taken[value] - left[1][value]) for value in order})
    for value in order:
        free = taken[value] - first[value] - max(0, taken[value] - left[0][value])
        first[value] += min(free, size // 2 - first.total())
    return +first, taken - first


def is_plan(groups: Plan, first: Counter[int], second: Counter[int], ell: int) -> bool:
    """Whether these are balanced groups of all tuples, in which no value is more frequent than 1/l."""
    size = group_size(ell)
    every = [parts for alpha, parts in groups for _ in range(alpha)]
    return (
        sum((part for part, _ in every), Counter()) == first
        and sum((part for _, part in every), Counter()) == second
        and all(a.total() == b.total() == size // 2 for a, b in every)
        and all(times * ell <= size for a, b in every for times in (a + b).values())
    )


# --- what an adversary believes after a failed leaf, without tossing every coin --------------------------------------


def chance(
    values: Sequence[int],
    halves: tuple[Sequence[int], Sequence[int]],
    groups: Partition,
    ell: int,
    *,
    fair: bool = True,
) -> Fraction:
    """How likely a failed leaf is divided into these groups, one by one, if its people have these values.

    The groups of the plan that take the same values from both halves can stand for each other, and who of those with a
    value in a half joins which group is uniformly random. A coin that is not fair lets the left half play the first
    part.
    """
    total = Fraction(0)
    for first, second in (halves, halves[::-1])[: 2 if fair else 1]:
        counts = [Counter(values[i] for i in half) for half in (first, second)]
        planned = _planned(_frozen(counts[0]), _frozen(counts[1]), ell)
        parts = [[Counter(values[i] for i in group if i in half) for half in (first, second)] for group in groups]
        if planned == Counter((_frozen(a), _frozen(b)) for a, b in parts):
            ways = Fraction(1)
            for times in planned.values():
                ways *= factorial(times)
            for half in (0, 1):
                for part in parts:
                    for times in part[half].values():
                        ways *= factorial(times)
                for times in counts[half].values():
                    ways /= factorial(times)
            total += ways / (2 if fair else 1)
    return total


def beliefs_after_failure(
    values: Sequence[int],
    halves: tuple[Sequence[int], Sequence[int]],
    groups: Partition,
    ell: int,
    holds: Holds,
    *,
    fair: bool = True,
) -> dict[tuple[int, int], Fraction]:
    """What is believed of everybody in a leaf that is known to have failed, by all worlds with these groups."""
    weights: dict[tuple[int, int], Fraction] = {}
    total = Fraction(0)
    members = [sorted(group) for group in groups]
    worlds = product(*(set(permutations(values[i] for i in group)) for group in members))
    for world in worlds:
        imagined = list(values)
        for group, held in zip(members, world, strict=True):
            for i, value in zip(group, held, strict=True):
                imagined[i] = value
        if all(holds([imagined[i] for i in half]) for half in halves):
            continue  # it would have been halved
        weight = chance(imagined, halves, groups, ell, fair=fair)
        total += weight
        for i, value in enumerate(imagined):
            weights[i, value] = weights.get((i, value), Fraction(0)) + weight
    return {event: weight / total for event, weight in weights.items()}


@cache
def _planned(first: frozenset[tuple[int, int]], second: frozenset[tuple[int, int]], ell: int) -> Counter[object]:
    groups = plan(Counter(dict(first)), Counter(dict(second)), ell)
    return Counter((_frozen(a), _frozen(b)) for _, (a, b) in groups)


def _frozen(part: Counter[int]) -> frozenset[tuple[int, int]]:
    return frozenset(part.items())
