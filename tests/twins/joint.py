# SPDX-License-Identifier: Apache-2.0
"""Several sensitive columns, slowly: Theorem J1 (docs/several-columns.md) by every world and every coin.

Each person has a value in each of several columns. A *division* is a set of groups; people in no group were left out.
What is published is who is in which group, and for each group and column the multiset of the values, each column apart.
An attacker who knows all other columns of everybody goes through all ways to fill one column. One who knows how columns
go together goes through all ways to fill all of them, each weighed by the pairs that it makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import prod

from tests.twins import enumerating, mirror
from tests.twins.transparent import Draws, chosen

__all__ = [
    "Joint",
    "Worlds",
    "believed",
    "chances_of",
    "enough",
    "every_filling",
    "obeys",
    "off",
    "prod",
    "published",
    "refilled",
]

Columns = tuple[tuple[int, ...], ...]  # for each column the value of each person
Division = frozenset[frozenset[int]]
Chances = Callable[[Columns], Mapping[Division, Fraction]]
Worlds = Iterable[tuple[Columns, Fraction]]  # with their weights
Release = tuple[tuple[frozenset[int], tuple[tuple[int, ...], ...]], ...]


def obeys(vectors: Sequence[tuple[int, ...]], ells: Sequence[int]) -> bool:
    """Frequency l-diversity of each column, with its own l."""
    return bool(vectors) and all(
        ell * max(Counter(column).values()) <= len(vectors)
        for ell, column in zip(ells, zip(*vectors, strict=True), strict=True)
    )


def enough(vectors: Sequence[tuple[int, ...]], ells: Sequence[int]) -> int:
    """The size from which on every part obeys: in each column, l times the most frequent value."""
    return max(
        ell * max(Counter(column).values()) for ell, column in zip(ells, zip(*vectors, strict=True), strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class Joint(mirror.Mirror):
    """Mirror for several columns; the values of ``rows`` are vectors.

    Parameters
    ----------
    ells
        The l of each column.
    leave_out
        The largest share of people who may be left out by lot.
    redrawn
        Whether a remainder of any size is drawn until it and the rest obey (a fault, and the rule for one column).
    small
        How many people fewer than enough a remainder may have (a fault).
    column_of_half
        Whether only the first column is tested in the first half, and only the others in the second (a fault).
    """

    ells: tuple[int, ...]
    leave_out: Fraction = Fraction(0)
    redrawn: bool = False
    small: int = 0
    column_of_half: bool = False

    def groups(self, draws: Draws) -> Division:
        """All groups; people who are in none were left out."""
        everybody = list(range(len(self.rows)))
        n, least = len(everybody), max(self.floor, enough([row[1] for row in self.rows], self.ells))
        most = int(self.leave_out * n)
        h, k = self._shape(n, least, most)
        over = n - 2**h * k
        if self.redrawn or over >= least or over > most:
            over = 0
        out = chosen(everybody, over, draws)
        return frozenset(self._table([i for i in everybody if i not in out], draws))

    def _shape(self, n: int, least: int, most: int) -> tuple[int, int]:
        """The pair (h, k) with the smallest ``k (n + 4 r)``, where so many people may be left over."""
        found = [(n * n, n, 0)]
        for k in range(self.floor, n // 2 + 1):
            h = max(h for h in range(n.bit_length()) if 2**h * k <= n)
            over = n - 2**h * k
            if over == 0 or ((over >= least - self.small or over <= most) and n - over >= least - self.small):
                found.append((k * (n + 4 * over), k, h))
        _, k, h = min(found[1:] or found)
        return h, k

    def _table(self, table: list[int], draws: Draws) -> set[frozenset[int]]:
        if self.redrawn:
            return super()._table(table, draws)
        least = max(self.floor, enough([self.rows[i][1] for i in table], self.ells))
        h, k = self._shape(len(table), least, 0)
        remainder = chosen(table, len(table) - 2**h * k, draws)
        found = self._node([[i for i in table if i not in remainder]], k, draws)
        return found | self._table(remainder, draws) if remainder else found

    def _obeys(self, group: Sequence[int]) -> bool:
        return obeys([self.rows[i][1] for i in group], self.ells)

    def _node(self, faces: list[list[int]], k: int, draws: Draws) -> set[frozenset[int]]:
        node = sorted(i for face in faces for i in face)
        if not self.column_of_half or len(node) <= k or len(faces[0]) % 2:
            return super()._node(faces, k, draws)
        halves = [[i for face in half for i in face] for half in self.halvings(faces)[0]]
        tested = ((halves[0], slice(0, 1)), (halves[1], slice(1, None)))
        if all(obeys([self.rows[i][1][which] for i in half], self.ells[which]) for half, which in tested):
            return set().union(*(self._node([sorted(half)], k, draws) for half in halves))
        return {frozenset(node)}


def chances_of(codes: Sequence[tuple[int, ...]], positions: Sequence[Sequence[int]], **given: object) -> Chances:
    """How likely the twin makes each division, for the columns of a world."""
    known: dict[Columns, Mapping[Division, Fraction]] = {}

    def chances(columns: Columns) -> Mapping[Division, Fraction]:
        if columns not in known:
            rows = list(zip(codes, zip(*columns, strict=True), strict=True))
            twin = Joint(rows=rows, positions=positions, holds=lambda _: True, **given)
            known[columns] = enumerating.distribution(twin.groups)
        return known[columns]

    return chances


# --- worlds ----------------------------------------------------------------------------------------------------------


def refilled(columns: Columns, target: int) -> Iterator[tuple[Columns, Fraction]]:
    """All other columns are known: every way to deal out the values of one."""
    for filling in sorted(set(permutations(columns[target]))):
        yield (*columns[:target], filling, *columns[target + 1 :]), Fraction(1)


def every_filling(
    columns: Columns, weight: Callable[[tuple[int, ...]], Fraction], target: int | None = None
) -> Iterator[tuple[Columns, Fraction]]:
    """Every way to fill all columns, or one of them, with any of its values: people are left out, with any value.

    A world weighs the product of what its people's vectors weigh.
    """
    ways = [
        [column] if target not in (None, c) else list(product(sorted(set(column)), repeat=len(column)))
        for c, column in enumerate(columns)
    ]
    for world in product(*ways):
        yield world, prod((weight(vector) for vector in zip(*world, strict=True)), start=Fraction(1))


# --- beliefs ---------------------------------------------------------------------------------------------------------


def published(division: Division, columns: Columns, *, side_by_side: bool = False) -> Release:
    """Who is in which group, with the multiset of each column; in rows, a fault, with how they go together."""
    shown: list[Sequence[object]] = [list(zip(*columns, strict=True))] if side_by_side else list(columns)
    return tuple(
        sorted(
            (tuple(sorted(group)), tuple(tuple(sorted(column[i] for i in group)) for column in shown))
            for group in division
        )
    )  # type: ignore[return-value]


def believed(
    worlds: Worlds, chances: Chances, target: int, *, side_by_side: bool = False
) -> dict[Release, dict[tuple[int, int], Fraction]]:
    """For every release that there can be, what is believed of every person and value of a column."""
    tallies: dict[Release, dict[tuple[int, int], Fraction]] = {}
    totals: Counter[Release] = Counter()
    for columns, weight in worlds:
        for division, chance in chances(columns).items():
            release = published(division, columns, side_by_side=side_by_side)
            totals[release] += weight * chance  # type: ignore[assignment]
            tally = tallies.setdefault(release, {})
            for person, value in enumerate(columns[target]):
                tally[person, value] = tally.get((person, value), Fraction(0)) + weight * chance
    return {
        release: {event: weight / totals[release] for event, weight in tally.items()}
        for release, tally in tallies.items()
        if totals[release]
    }


def off(
    found: Mapping[Release, Mapping[tuple[int, int], Fraction]], target: int, prior: Mapping[int, Fraction]
) -> tuple[int, int]:
    """How many beliefs there are, and how many are not the share of the person's group, or the prior if left out."""
    n_beliefs = n_off = 0
    for release, beliefs in found.items():
        group_of = {person: values[target] for people, values in release for person in people}
        for (person, value), belief in beliefs.items():
            own = group_of.get(person)
            share = prior[value] if own is None else Fraction(own.count(value), len(own))
            n_beliefs += 1
            n_off += belief != share
    return n_beliefs, n_off
