# SPDX-License-Identifier: Apache-2.0
"""Divisions of kinds: as likely as divisions of rows, whatever a piece is, and a function of counts and key alone."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.top import nodes, plans
from glasshouse.grouping.top.division import divide_kinds
from glasshouse.grouping.transparent import node_counts
from glasshouse.microdata.kinds import kinds_of
from glasshouse.principles.principle import Requirement
from tests.twins.enumerating import TooManyRuns, distribution

METHODS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Sift": (gh.Sift, gh.LDiversity(ell=2)),
    "Anatomize": (gh.Anatomize, gh.LDiversity(ell=2)),
    "Anatomize, varied": (lambda: gh.Anatomize(varied=True), gh.LDiversity(ell=2)),
    "Mirror": (lambda: gh.Mirror(start="1", slack="1"), gh.LDiversity(ell=2)),
    "Mirror, tested with slack": (lambda: gh.Mirror(start="1.2"), gh.LDiversity(ell=2)),
    "Mirror without an inner method": (lambda: gh.Mirror(inner="none"), gh.LDiversity(ell=2)),
    "Mirror with several mirrors": (lambda: gh.Mirror(inner="none", mirrors=3), gh.LDiversity(ell=2)),
    "Mirror under t-closeness": (gh.Mirror, gh.TCloseness(t="0.4")),
    "Mirror under k-anonymity": (gh.Mirror, gh.KAnonymity(k=2)),
    "Mondrian": (gh.Mondrian, gh.LDiversity(ell=2)),
    "Snug": (gh.Snug, gh.KAnonymity(k=2)),
    "Tailor": (gh.Tailor, gh.LDiversity(ell=2)),
    "Tailor, discernibility": (lambda: gh.Tailor(penalty="discernibility"), gh.LDiversity(ell=2)),
    "Hybrid": (gh.Hybrid, gh.LDiversity(ell=2)),
    "Ace": (gh.Ace, gh.LDiversity(ell=2)),
    "Ace, discernibility": (lambda: gh.Ace(penalty="discernibility"), gh.LDiversity(ell=2)),
}

CUT = ("Tailor", "Tailor, discernibility", "Hybrid")  # which make no cut where a few people share a few values


def table_of(rng: random.Random, n: int, quasi: int = 2, values: int = 3) -> gh.Microdata:
    columns: dict[str, Any] = {f"q{i}": [rng.randrange(2 + i) for _ in range(n)] for i in range(quasi)}
    columns["s"] = [f"s{rng.randrange(values)}" for _ in range(n)]
    return gh.read(columns, quasi=[f"q{i}" for i in range(quasi)], sensitive="s")


def outcome(table: gh.Microdata, groups: gh.Groups) -> Any:
    """Groups as everybody may see them: multisets of kinds of people."""
    rows = list(zip(*(column.codes.tolist() for column in (*table.quasi, *table.sensitive)), strict=True))
    held: dict[int, list[Any]] = {}
    for row, label in zip(rows, groups.labels.tolist(), strict=True):
        held.setdefault(label, []).append(row)
    return tuple(sorted(tuple(sorted(group)) for group in held.values()))


def of_rows(method: Any, table: gh.Microdata, requirement: Requirement) -> Callable[[Any], Any]:
    return lambda draws: outcome(table, method.divide(table, requirement, source=draws))


def of_kinds(method: Any, table: gh.Microdata, requirement: Requirement, most: int) -> Callable[[Any], Any]:
    kinds, of_row = kinds_of(table)
    rows = np.argsort(of_row, kind="stable").astype(np.int32)

    def run(draws: Any) -> Any:
        found = divide_kinds(method, kinds, requirement, draws, Memory(threads=1), most=most)
        return outcome(table, found.of_rows(rows))

    return run


def compared(name: str, n_tables: int, seed: int = 7, limit: int = 4_000) -> int:
    """Compare the distributions on so many tables of which all choices can be enumerated; return how many differ."""
    make, principle = METHODS[name]
    rng, done, differing = random.Random(f"{name} {seed}"), 0, 0
    values = 20 if name in CUT else 3
    for _ in range(40 * n_tables):
        table = table_of(rng, rng.choice((4, 4, 5)), rng.choice((1, 2)), values)
        requirement = Requirement.of(principle, table)
        if requirement.first_ineligible() is not None:
            continue
        try:
            expected = distribution(of_rows(make(), table, requirement), limit=limit)
            found = distribution(of_kinds(make(), table, requirement, rng.choice((1, 2, 4))), limit=limit)
        except TooManyRuns:
            continue
        done += 1
        differing += expected != found
        assert sum(found.values()) == Fraction(1)
        if done == n_tables:
            return differing
    raise AssertionError("too few tables could be enumerated")


@pytest.mark.parametrize("name", METHODS)
def test_groups_are_as_likely_as_those_of_rows_whatever_a_piece_is(name: str) -> None:
    assert compared(name, 2 if name in ("Sift", "Hybrid", "Ace") else 6) == 0


def first_of_all(counts: Any, n: int, source: Any) -> Any:
    """A draw that is none: the first people there are."""
    return np.minimum(counts, np.maximum(n - (np.cumsum(counts) - counts), 0))


def test_a_point_that_is_not_parted_at_random_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "drawn_counts", first_of_all)

    monkeypatch.setattr(node_counts, "drawn_counts", first_of_all)

    assert compared("Mirror", 6) > 0
    assert compared("Tailor", 6) > 0


def test_people_with_a_value_are_set_aside_at_random() -> None:
    bag = nodes.Bag(np.arange(3, dtype=np.int32), np.array([1, 2, 3]))
    values = np.array([0, 1, 0], np.int32)
    found = distribution(lambda draws: tuple(bag.drawn_by_value(values, np.array([2, 1]), draws)[0].counts.tolist()))

    assert found == {(1, 1, 1): Fraction(1, 2), (1, 2): Fraction(1, 2)}


def test_residues_go_to_any_group_that_lacks_their_value_whichever_piece_makes_it() -> None:
    sizes = np.array([2, 2, 2, 1])  # two pieces of one group each, and one of the third: a residue of the last value

    def residue(draws: Any) -> Any:
        _, tasks = plans._dealt(sizes, 2, draws, 2)
        return tuple((piece, *extra) for piece, task in enumerate(tasks) for extra in task[5])

    found = distribution(residue)
    assert len(found) == 3
    assert set(found.values()) == {Fraction(1, 3)}


@pytest.mark.parametrize("name", METHODS)
def test_a_division_of_thousands_satisfies_the_principle_and_forgets_the_order_of_rows(name: str) -> None:
    make, principle = METHODS[name]
    rng = random.Random(name)
    table = table_of(rng, 3000, 3, 7)
    requirement = Requirement.of(principle, table)
    shuffled = table.take(np.array(rng.sample(range(3000), 3000)))
    found = []
    for some in (table, shuffled):
        for threads in (1, 3):
            kinds, of_row = kinds_of(some)
            engine = Memory(threads=threads)
            division = divide_kinds(make(), kinds, requirement, gh.Source.seeded(5), engine, most=200)
            groups = division.of_rows(np.argsort(of_row, kind="stable").astype(np.int32))
            assert sorted(set(groups.labels.tolist())) == list(range(groups.n_groups))
            assert requirement.holds([groups.counts(column) for column in some.sensitive]).all()
            found.append((division.groups.tobytes(), outcome(some, groups)))

    assert len(set(found)) == 1


def test_people_are_drawn_without_regard_to_their_kind() -> None:
    counts, seen = np.array([1, 0, 2]), Counter[tuple[int, ...]]()
    for outcome_, chance in distribution(lambda draws: tuple(nodes.drawn_counts(counts, 2, draws).tolist())).items():
        seen[outcome_] = chance  # type: ignore[assignment]

    assert seen == {(1, 0, 1): Fraction(2, 3), (0, 0, 2): Fraction(1, 3)}
