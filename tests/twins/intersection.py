# SPDX-License-Identifier: Apache-2.0
"""Random worlds of one release whose cells overlap, and of several releases of one table, slowly: every way is tried.

People are numbered from 0, and tables are what an attacker reads in them: a row is the set of people who fit its cells,
and the group that it belongs to; a release is one table or several (ANGEL's marginals) with a histogram per group.

A world (ANGEL 4.2.1, for people whose quasi-identifiers are known) says of every person whether they are in the
microdata, which sensitive value they have, and which row of every table is theirs. No row is two people's, and all rows
are somebody's. Within a release a person's rows are of one group, and the people of a group have the values that its
histogram counts. In all releases the people are the same, with the same values. All worlds are equally likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

__all__ = ["Release", "Row", "Table", "beliefs", "seated", "ways", "worlds"]

Row = tuple[Collection[int], Any]  # the people who fit, and the group
Table = Sequence[Row]
Release = tuple[Sequence[Table], Mapping[Any, Counter[Any]]]  # tables of rows; the values of every group
ABSENT = "absent"


def seated(n_people: int, rows: Sequence[Collection[int]]) -> dict[tuple[int, int], Fraction]:
    """How likely each person has each row, if every way to give all rows to different people is equally likely."""
    found: Counter[tuple[int, int]] = Counter()
    total = 0
    for chosen in permutations(range(n_people), len(rows)):
        if all(person in fit for person, fit in zip(chosen, rows, strict=True)):
            total += 1
            found.update((person, row) for row, person in enumerate(chosen))
    return {event: Fraction(count, total) for event, count in found.items()}


def worlds(n_people: int, releases: Sequence[Release]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Every choice of values for the people (`ABSENT` for some), and how many worlds have it."""
    whole: Counter[Any] = sum(releases[0][1].values(), Counter())
    for choice in product([*sorted(whole), ABSENT], repeat=n_people):
        if Counter(value for value in choice if value != ABSENT) == whole:
            count = 1
            for release in releases:
                count *= ways(choice, release)
            if count:
                yield choice, count


def ways(choice: Sequence[Any], release: Release) -> int:
    """In how many ways people with these values have the rows of the release."""
    tables, histograms = release
    present = [person for person, value in enumerate(choice) if value != ABSENT]
    if any(len(table) != len(present) for table in tables):
        return 0
    count = 0
    orders = [list(permutations(present)) for _ in tables]
    for owners in product(*orders):  # owners[j][i] has row i of table j
        groups: dict[int, set[Any]] = {person: set() for person in present}
        fits = True
        for table, own in zip(tables, owners, strict=True):
            for (fit, group), person in zip(table, own, strict=True):
                fits = fits and person in fit
                groups[person].add(group)
        if fits and all(len(mine) == 1 for mine in groups.values()):
            values: dict[Any, Counter[Any]] = {group: Counter() for group in histograms}
            for person, (group,) in groups.items():
                values[group][choice[person]] += 1
            count += values == histograms
    return count


def beliefs(n_people: int, releases: Sequence[Release]) -> list[dict[Any, Fraction]]:
    """For every person how likely each value is, and `ABSENT`."""
    found: list[Counter[Any]] = [Counter() for _ in range(n_people)]
    total = 0
    for choice, count in worlds(n_people, releases):
        total += count
        for person, value in enumerate(choice):
            found[person][value] += count
    return [{value: Fraction(count, total) for value, count in mine.items()} for mine in found]
