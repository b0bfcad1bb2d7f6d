# SPDX-License-Identifier: Apache-2.0
"""Every method of the catalogue beside its slow twin, the small tier: some hundred tables of every kind."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest

from glasshouse.grouping.perimeter import weighted_places
from tests.rooms.grouping import against_twins
from tests.rooms.grouping.against_twins import METHODS, RANDOMISED, Case, Tally, compare, compare_chances
from tests.twins import by_force


@cache
def cases() -> list[Case]:
    return [Case.draw(1, number) for number in range(200)]


@pytest.mark.parametrize("name", METHODS)
def test_groups_are_those_of_the_slow_twin_on_tables_of_every_kind(name: str) -> None:
    tally = Tally(name)
    compare(cases(), [tally])
    by_force.say(tally)

    assert tally.n_divided > 20, "a method that never divides is equal to anything"


@pytest.mark.parametrize("name", RANDOMISED)
def test_every_partition_of_a_tiny_table_has_the_chance_that_it_has_for_the_slow_twin(name: str) -> None:
    tally = Tally(name)
    compare_chances(cases(), [tally], most_runs=60)
    by_force.say(tally)

    assert tally.n_divided > 5
    assert tally.n_outcomes > tally.n_tables


@pytest.mark.parametrize("name", ["Tailor", "Ace", "Hybrid", "Symmetric", "strict Mondrian", "Snug", "OptGen"])
def test_groups_are_those_of_the_slow_twin_where_domains_are_wide(name: str) -> None:
    """More than 2^15 zipcodes, and 5,000 sensitive values."""
    take = partial(Case.take, n_zipcodes=33_000)

    compare([take(1, 0)], [Tally(name)])


def test_the_tables_are_of_every_kind() -> None:
    kinds: dict[str, Any] = {
        "one tuple": lambda case: case.table.n_tuples == 1,
        "equal tuples": lambda case: len(set(case.codes)) < len(case.codes),
        "all tuples equal": lambda case: len(set(case.codes)) == 1 < len(case.codes),
        "one attribute": lambda case: len(case.positions) == 1,
        "twelve attributes": lambda case: len(case.positions) == 12,
        "an attribute of one value": lambda case: 1 in map(len, case.positions),
        "an attribute of two values": lambda case: 2 in map(len, case.positions),
        "missing values": lambda case: any(column.domain.missing for column in case.table.quasi),
        "one sensitive value": lambda case: len(set(case.sensitive)) == 1 < len(case.sensitive),
        "sensitive values all different": lambda case: len(set(case.sensitive)) == len(case.sensitive) > 1,
        "perimeters beyond 64 bits": lambda case: not weighted_places(case.table).fits,
        "ties that the order of rows would break otherwise": lambda case: case.order != sorted(case.order),
        **{
            kind: lambda case, kind=kind: any(column.domain.kind == kind for column in case.table.quasi)
            for kind in ("integer", "float", "category", "date", "timestamp")
        },
    }
    counts = {kind: sum(1 for case in cases() if is_so(case)) for kind, is_so in kinds.items()}
    by_force.say(counts)

    assert [kind for kind, count in counts.items() if count < 2] == []


def test_other_groups_than_those_of_the_twin_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = METHODS["Tailor"], METHODS["Hybrid"]
    monkeypatch.setitem(
        METHODS,
        "mixed",
        lambda case, random: against_twins.Pair(*(pair(case, random)[i] for i, pair in enumerate(pairs))),
    )

    with pytest.raises(AssertionError, match="mixed"):
        compare(cases(), [Tally("mixed")])
    with pytest.raises(AssertionError, match="mixed"):
        compare_chances(cases(), [Tally("mixed")])
