# SPDX-License-Identifier: Apache-2.0
"""Every bound, threshold and wider path of the kernels, forced on small tables where a wrong one shows.

What decides a way (a threshold, the width of fields, the room for cells, the limit of 64 bits) is a parameter; what a
way decides is checked against the slow twins.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping import perimeter
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent import ace
from glasshouse.grouping.transparent import packed_rows as packed
from glasshouse.grouping.transparent.tailor import tailor_leaves
from tests.rooms.grouping.against_twins import ACE_WAYS, TAILOR_WAYS, Case, Script, Tally, compare
from tests.rooms.grouping.doors import people
from tests.tables import partition
from tests.twins import transparent
from tests.twins.mondrian import Partition

ONE_THREAD = Memory(threads=1)


def leaves(table: gh.Microdata, ell: int, order: list[int], thresholds: packed.Thresholds) -> Partition:
    column, ties = table.sensitive[0], np.array(order, np.int32)
    placed, offsets = tailor_leaves(table, ell, column, ties, ONE_THREAD, thresholds=thresholds)
    return {frozenset(placed[a:b].tolist()) for a, b in itertools.pairwise(offsets.tolist())}


def slices(table: gh.Microdata, ell: int, order: list[int], draws: Any, thresholds: ace.Thresholds) -> Partition:
    rows = ace.packed_rows(table, table.sensitive[0], np.array(order, np.int32))
    whole, places = np.array([0, table.n_tuples]), weighted_places(table)
    return partition(ace.ace_segments(rows, whole, places, ell, draws, ONE_THREAD, thresholds=thresholds))


@cache
def crowded() -> list[tuple[Case, Partition, Partition]]:
    """Tables that Tailor cuts, with the groups of the twins of Tailor and Ace."""
    found = []
    for case in (Case.draw(2, number) for number in range(400)):
        if weighted_places(case.table).fits and len(case.rows) > 3:
            parts = transparent.tailor(case.rows, case.positions, case.ell)
            if len(parts) > 1:
                dealt = transparent.ace(case.rows, case.positions, case.ell, case.script)
                found.append((case, *({frozenset(case.order[i] for i in g) for g in p} for p in (parts, dealt))))
    assert len(found) > 60
    return found


# Tailor: dense, crowd, far, near, small

EVERY_WAY = [packed.Thresholds(), *TAILOR_WAYS]


@pytest.mark.parametrize("thresholds", EVERY_WAY, ids=repr)
def test_tailor_makes_the_same_cuts_at_every_threshold(thresholds: packed.Thresholds) -> None:
    for case, expected, _ in crowded():
        assert expected == leaves(case.table, case.ell, case.order, thresholds), case


# Small tables, each of which one wrong bound divides otherwise.
TELLING = {
    "inside a block both ends cost the same, and the smaller left part wins": (
        [[1, 1, 0, 1, 1], [0, 0, 0, 0, 0]],
        [0, 1, 3, 2, 4],
        2,
    ),
    "a cut inside a block costs exactly its bound": ([[4, 3, 8, 3, 4]], [0, 2, 4, 3, 1], 2),
    "the only attribute of one value is not the first": (
        [[2, 2, 2, 2, 1, 2, 2, 1, 0, 4, 1], [0] * 11, [1, 1, 4, 2, 1, 1, 0, 3, 7, 3, 0]],
        [1, 7, 4, 9, 5, 0, 3, 6, 10, 8, 2],
        3,
    ),
    "equally cheap cuts on one attribute, of which the one inside a block is smaller": (
        [
            [6, 1, 1, 0, 7, 2, 0, 1, 1, 0],
            [8, 2, 6, 1, 3, 2, 6, 0, 0, 0],
            [0] * 10,
            [4, 6, 0, 2, 2, 1, 0, 3, 4, 2],
        ],
        [0, 4, 3, 4, 1, 2, 3, 0, 2, 1],
        2,
    ),
    "a part has one tuple of the block that is cut, and its frame must hold it": (
        [[1, 2, 3, 0, 0, 1, 3, 0], [2, 0, 0, 2, 4, 2, 4, 1]],
        [0, 1, 4, 1, 2, 0, 2, 3],
        2,
    ),
    "all are alike, and parts are taken off in tie order": (
        [[7] * 20],
        [2, 8, 10, 1, 11, 0, 8, 3, 2, 5, 6, 4, 6, 7, 10, 8, 9, 4, 10, 9],
        2,
    ),
    "the lower end of a bound is the first cut": ([[1, 1, 1, 1, 0, 1], [1, 5, 3, 5, 4, 4]], [2, 0, 5, 1, 3, 4], 2),
}


@pytest.mark.parametrize("thresholds", EVERY_WAY, ids=repr)
@pytest.mark.parametrize("why", TELLING)
def test_a_bound_gives_up_no_cut_that_could_win(why: str, thresholds: packed.Thresholds) -> None:
    columns, sensitive, ell = TELLING[why]
    domains = [sorted(set(column)) for column in columns]
    codes = [tuple(map(list.index, domains, row)) for row in zip(*columns, strict=True)]
    table = people(list(zip(*columns, strict=True)), sensitive)
    expected = transparent.tailor(list(zip(codes, sensitive, strict=True)), domains, ell)

    assert expected == leaves(table, ell, list(range(len(sensitive))), thresholds)


@pytest.mark.parametrize("cells", [1, 2, 9, 40])
def test_any_room_for_cells_will_do(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_CELLS", cells)
    for case, expected, _ in crowded():
        assert expected == leaves(case.table, case.ell, case.order, packed.Thresholds(crowd=0)), case


def test_sorted_codes_may_have_any_number_of_digits() -> None:
    """Codes are listed by sorting (dense=0), in nodes too large for insertion, up to codes of several bytes."""
    random = Random(3)
    for n in (49, 60, 130, 300, 700):
        columns = [random.sample(range(n), n), random.sample(range(n), n), [random.randrange(n) for _ in range(n)]]
        table = people(list(zip(*columns, strict=True)), [i % 20 for i in range(n)])
        order = random.sample(range(n), n)

        looked_up = leaves(table, 2, order, packed.Thresholds(dense=1 << 40, small=0))
        assert looked_up == leaves(table, 2, order, packed.Thresholds(dense=0, small=0))
        assert len(looked_up) > n // 50


# Ace: dense, short, pairs, batch


@pytest.mark.parametrize("thresholds", [ace.Thresholds(), *ACE_WAYS], ids=repr)
def test_ace_slices_alike_at_every_threshold(thresholds: ace.Thresholds) -> None:
    for case, _, expected in crowded():
        assert expected == slices(case.table, case.ell, case.order, case.script, thresholds), case


@pytest.mark.parametrize("width", [4, 7, 8, 63, 64, 65])
@pytest.mark.parametrize("thresholds", [ace.Thresholds(), *ACE_WAYS], ids=repr)
def test_columns_are_ranked_alike_one_by_one_and_in_fours(thresholds: ace.Thresholds, width: int) -> None:
    random, length = Random(width), 2 if width > 8 else 5
    quasi = [[random.randrange(most) for _ in range(width * length)] for most in (2, 40, 3)]
    sensitive = [i % width for i in range(width * length)]
    table = people(list(zip(*quasi, strict=True)), sensitive)
    domains = [sorted(set(column)) for column in quasi]
    codes = [tuple(map(list.index, domains, row)) for row in zip(*quasi, strict=True)]
    expected = transparent.ace(list(zip(codes, sensitive, strict=True)), domains, width, Script("0"))

    assert expected == slices(table, width, list(range(len(sensitive))), Script("0"), thresholds)


def test_a_segment_that_is_not_eligible_is_noticed_and_the_room_left_clean() -> None:
    table = people([(i,) for i in range(5)], [0, 0, 0, 1, 2])
    rows = ace.packed_rows(table, table.sensitive[0], np.arange(5, dtype=np.int32))
    run = ace._Run(rows, weighted_places(table), 2, gh.Ace().penalty, ace.Thresholds())
    room = ace._Room()

    with pytest.raises(AssertionError, match="not l-eligible"):
        run._assign(np.array([0, 5]), Script("0"), room, run.placed)  # type: ignore[arg-type]
    assert not room.zeros("counts", 3).any()


# Fields, and integers


def widths(seed: int) -> Iterator[int]:
    random = Random(seed)
    while True:
        yield random.choice((8, 16, 32))


@pytest.mark.parametrize("seed", range(3))
def test_fields_of_any_width_give_the_same_groups(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuple has one word or several; loops for one word are a way of their own."""
    chosen, narrowest = widths(seed), packed._bits
    monkeypatch.setattr(packed, "_bits", lambda size: max(next(chosen), narrowest(size)))
    for (case, cut, dealt), way in zip(crowded(), itertools.cycle(EVERY_WAY), strict=False):
        assert cut == leaves(case.table, case.ell, case.order, way), case
        assert dealt == slices(case.table, case.ell, case.order, case.script, ace.Thresholds(pairs=seed)), case


@pytest.mark.parametrize("name", ["Tailor", "Ace", "Hybrid", "Refined"])
def test_the_path_for_wider_integers_gives_the_same_groups(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perimeter, "_SAFE", 0)
    cases = [case for case, _, _ in crowded()[:40]]
    tally = Tally(name)
    compare(cases, [tally])

    assert not any(weighted_places(case.table).fits for case in cases)
    assert tally.n_divided > 10


@pytest.mark.parametrize("n", [4, 9, 16])
def test_perimeters_up_to_the_limit_of_64_bits_are_exact(n: int) -> None:
    """One attribute as wide as fits, and one step wider."""
    longest = (2**62 - 1) // n
    for seed, (length, fits) in itertools.product(range(40), [(longest, True), (longest + 1, False)]):
        random = Random(seed)
        drawn = {random.choice((random.randrange(length), length - 1)) for _ in range(n - 2)}
        places = sorted({0, 1, length, *drawn})  # with 1 among them no larger unit makes all of them whole
        codes = [(random.randrange(len(places)),) for _ in range(n - 3)] + [(0,), (1,), (len(places) - 1,)]
        sensitive = random.sample(range(n), n)
        table = people(codes, sensitive, [places])
        present = sorted({code for (code,) in codes})
        rows = [((present.index(code),), value) for (code,), value in zip(codes, sensitive, strict=True)]
        positions = [[places[code] for code in present]]

        assert weighted_places(table).fits == fits
        assert transparent.tailor(rows, positions, 2) == leaves(table, 2, list(range(n)), packed.Thresholds())
        assert transparent.ace(rows, positions, 2, Script("0")) == slices(
            table, 2, list(range(n)), Script("0"), ace.Thresholds()
        )
