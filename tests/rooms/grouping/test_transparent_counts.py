# SPDX-License-Identifier: Apache-2.0
"""Tailor, Ace and Hybrid divided as counts: beside a slow twin, over all worlds, and against broken variants."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.perimeter import exact_positions
from glasshouse.grouping.top import nodes
from glasshouse.grouping.top.division import divide_kinds
from glasshouse.grouping.top.nodes import Bag
from glasshouse.grouping.transparent import bucket_counts, node_counts
from glasshouse.grouping.transparent.ace_counts import bucket_plan, dealt_buckets
from glasshouse.grouping.transparent.node_counts import cut_nodes, pieces_of_nodes
from glasshouse.microdata.kinds import kinds_of
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import people
from tests.tables import partition
from tests.tiers import tables
from tests.twins import by_force
from tests.twins import transparent as naive


def crowd(random: Random, n: int) -> gh.Microdata:
    """People who share points, with enough sensitive values to be cut."""
    widths = [random.choice([1, 2, 3, 6, 40]) for _ in range(random.choice([1, 2, 3]))]
    axes = [sorted(random.sample(range(200), width)) for width in widths]
    columns: dict[str, Any] = {f"q{i}": [random.choice(axis) for _ in range(n)] for i, axis in enumerate(axes)}
    values = random.choice([6, 12, 30])
    columns["s"] = [f"s{random.randrange(values):02}" for _ in range(n)]
    return gh.read(columns, quasi=[f"q{i}" for i in range(len(axes))], sensitive="s")


class FirstChoice:
    """A source that always makes the first choice."""

    def below(self, n: int, /) -> int:
        return 0


def kind_rows(kinds: Any) -> list[Any]:
    codes = [column.codes.tolist() for column in kinds.table.quasi]
    return list(zip(zip(*codes, strict=True), kinds.table.sensitive[0].codes.tolist(), strict=True))


def compared_with_twin(seed: int, n: int) -> tuple[int, int]:
    """Compare nodes with those of the twin, in the tie order that was drawn: how many nodes, and points parted.

    A cut takes the first people in tie order to its left. So those of a point who ended further left came before the
    others, whatever was drawn: that is the order which the twin is given.
    """
    random = Random(seed)
    table, ell, most = crowd(random, n), random.choice([1, 2, 3]), random.choice([1, 5, 20])
    kinds, _ = kinds_of(table)
    whole = Counter(table.sensitive[0].codes.tolist())
    if max(whole.values()) * ell > n:
        return 0, 0
    made = cut_nodes(kinds, kinds.table.sensitive[0].codes, ell, gh.Source.seeded(seed), most, halves=False)
    rows = kind_rows(kinds)
    found = [
        [rows[kind] for kind, count in zip(node.bag.kinds.tolist(), node.bag.counts.tolist(), strict=True)
         for _ in range(count)]
        for node in made
    ]  # fmt: skip
    listed = sorted((row for node in found for row in node), key=lambda row: row[0])  # stable: points, then drawn order
    positions = [exact_positions(column.domain) for column in kinds.table.quasi]
    expected = naive.top_of_tailor(listed, positions, ell, most)

    assert [Counter(node) for node in found] == [Counter(listed[i] for i in group) for group, _ in expected]
    assert [node.whole for node in made] == [final for _, final in expected]
    assert [node.start for node in made] == np.cumsum([0, *map(len, found)])[:-1].tolist()
    in_nodes = Counter(codes for node in found for codes in {codes for codes, _ in node})
    return len(made), sum(count > 1 for count in in_nodes.values())


def test_nodes_are_those_of_the_slow_twin_in_the_tie_order_that_was_drawn() -> None:
    seen = np.sum([compared_with_twin(seed, 8 + seed % 60) for seed in range(tables(600, 60))], axis=0)

    assert (seen > 50).all(), "nodes were cut, and points parted"


def test_costs_that_do_not_fit_into_64_bits_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_counts, "_SAFE", 1)
    seen = np.sum([compared_with_twin(seed, 40) for seed in range(10)], axis=0)

    assert (seen > 10).all()


def test_the_twin_notices_another_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    cheapest = bucket_counts.CountedBucket.cheapest

    def larger(self: Any, least: int, places: Any) -> tuple[int, int]:
        """The mirror image of a cut: the right part has as many people as the left one should have."""
        dim, size = cheapest(self, least, places)
        return dim, self.length - size

    monkeypatch.setattr(bucket_counts.CountedBucket, "cheapest", larger)
    with pytest.raises(AssertionError):
        assert [compared_with_twin(seed, 30) for seed in range(40)]


def test_small_neighbours_share_a_piece_and_large_leaves_do_not() -> None:
    table = crowd(Random(3), 500)
    kinds, _ = kinds_of(table)
    made = cut_nodes(kinds, kinds.table.sensitive[0].codes, 2, gh.Source.seeded(3), 60, halves=False)
    pieces = pieces_of_nodes(made, 60)

    assert len({piece.labels for piece in pieces}) == len(pieces) < len(made)
    assert sum(piece.n_people for piece in pieces) == 500
    assert sum(len(piece.sections) - 1 for piece in pieces) == len(made)
    assert all(piece.n_people <= 60 for piece in pieces if piece.task == ("divide",))
    large = sum(piece.n_people for piece in pieces if piece.task == ("whole",))
    assert large == sum(node.bag.size for node in made if node.whole)


@pytest.mark.parametrize("method", [gh.Tailor, gh.Ace, gh.Hybrid])
def test_a_function_of_ones_own_needs_everybody_in_one_piece_and_says_so(method: Any) -> None:
    table = crowd(Random(3), 200)
    kinds, _ = kinds_of(table)
    requirement = Requirement.of(gh.LDiversity(ell=2), table)
    known, own = method(), method(penalty=lambda people: len(people) ** 2)

    assert known.by_counts
    assert len(known.pieces(kinds, requirement, gh.Source.seeded(1), 50)) > 1
    assert not own.by_counts
    assert [piece.n_people for piece in own.pieces(kinds, requirement, gh.Source.seeded(1), 50)] == [200]


def test_buckets_are_planned_as_the_figure_says() -> None:
    random = Random(2)
    for _ in range(tables(1000)):
        ell, values = (
            random.choice([2, 3]),
            [random.randrange(random.choice([3, 8])) for _ in range(random.randrange(4, 24))],
        )
        sizes = [values.count(value) for value in range(8)]
        if max(sizes) * ell <= len(values):
            buckets = naive.assign([((), value) for value in values], ell, FirstChoice())
            expected = [(len(bucket[next(iter(bucket))]), list(bucket)) for bucket in buckets]
            assert bucket_plan(sizes, ell) == expected


def groups_of(kinds: Any, division: Any) -> Counter[Any]:
    """Groups as multisets of kinds."""
    held: dict[int, list[Any]] = {}
    rows = [row for row, count in zip(kind_rows(kinds), kinds.counts.tolist(), strict=True) for _ in range(count)]
    for row, label in zip(rows, division.groups.tolist(), strict=True):
        held.setdefault(label, []).append(row)
    return Counter(tuple(sorted(group)) for group in held.values())


@pytest.mark.parametrize("wide", [False, True])
def test_groups_of_ace_are_those_of_the_slow_twin_in_the_buckets_that_were_drawn(
    wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wide:
        monkeypatch.setattr(bucket_counts, "_SAFE", 1)
    n_groups = 0
    for seed in range(12):
        random = Random(seed)
        table, ell = crowd(random, 10 + 2 * seed), random.choice([2, 3])
        requirement = Requirement.of(gh.LDiversity(ell=ell), table)
        if requirement.first_ineligible() is not None:
            continue
        kinds, _ = kinds_of(table)
        source = gh.Source.seeded(seed)
        found = divide_kinds(gh.Ace(), kinds, requirement, source, Memory(threads=1), most=random.choice([1, 4, 9]))
        everybody, values = Bag(np.arange(len(kinds)), kinds.counts), kinds.table.sensitive[0].codes
        buckets = dealt_buckets(everybody, values, ell, source.child("ace", "assign"))
        rows: list[Any] = []
        expected: Counter[Any] = Counter()
        columns = []
        for bucket in buckets:
            laid = {}
            for a, b in pairwise(bucket.starts.tolist()):
                own = np.repeat(bucket.kinds[a:b], bucket.counts[a:b]).tolist()
                laid[int(values[own[0]])] = list(range(len(rows), len(rows) + len(own)))
                rows += [kind_rows(kinds)[kind] for kind in own]
            columns.append(laid)
        penalty = naive.perimeter(rows, [exact_positions(column.domain) for column in kinds.table.quasi])
        for laid in columns:
            expected.update(tuple(sorted(rows[i] for i in group)) for group in naive.sliced(rows, laid, penalty))
        assert groups_of(kinds, found) == expected
        n_groups += found.n_groups
    assert n_groups > 30


# What an attacker may believe who knows the algorithm, where everything is divided as counts.


def counted(method: Any, ell: int, most: int, positions: Any) -> by_force.Method:
    """A method as `by_force` runs it: people are counted, and those of a kind take its groups at random."""

    def run(codes: by_force.Codes, sensitive: Any, draws: Any) -> Any:
        table = people(codes, sensitive, positions)
        requirement = Requirement.of(gh.LDiversity(ell=ell), table)
        if requirement.first_ineligible() is not None:
            return set()
        kinds, of_row = kinds_of(table)
        rows = np.argsort(of_row, kind="stable").astype(np.int32)
        draws.child("who").shuffle_runs(rows, np.concatenate([[0], np.cumsum(kinds.counts)]))
        return partition(divide_kinds(method, kinds, requirement, draws, Memory(threads=1), most=most).of_rows(rows))

    return run


def cases(n: int) -> list[by_force.Case]:
    return list(by_force.random_cases(5, n, people=(4, 5), ells=(2,), n_values=(6, 30), max_worlds=130))


@pytest.mark.parametrize("penalty", ["perimeter", "discernibility"])
def test_every_table_with_an_isomorphic_partition_gives_it_equally_often(penalty: str) -> None:
    """TRANSPARENT Theorem 1, where groups are random: a cut depends on values through the most frequent one alone."""
    method = gh.Tailor(penalty=penalty)
    for case in cases(tables(20)):
        assert by_force.unequal_likelihood(counted(method, case.ell, 1, case.positions), case) is None, case


def test_a_cut_that_looks_at_who_has_what_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = node_counts._Cutter.cut

    def peeking(self: Any, node: Any) -> Any:
        self._halves = bool(self._values[node.bag.kinds[0]] % 2)  # the first person's value says how it is cut
        return cut(self, node)

    monkeypatch.setattr(node_counts._Cutter, "cut", peeking)
    found = (by_force.unequal_likelihood(counted(gh.Tailor(), 2, 1, case.positions), case) for case in cases(60))

    assert any(case is not None for case in found)


def test_a_point_that_is_parted_by_value_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_value(counts: Any, n: int, source: Any) -> Any:
        return np.minimum(counts, np.maximum(n - (np.cumsum(counts) - counts), 0))

    monkeypatch.setattr(node_counts, "drawn_counts", by_value)
    found = (by_force.unequal_likelihood(counted(gh.Tailor(), 2, 1, case.positions), case) for case in cases(60))

    assert any(case is not None for case in found)


@pytest.mark.parametrize("method", [gh.Ace(), gh.Hybrid()], ids=repr)
def test_nobody_who_knows_the_algorithm_believes_anything_above_one_in_l(method: Any) -> None:
    """TRANSPARENT Theorems 2 and 3."""
    few = by_force.random_cases(6, tables(40), people=(4, 5), ells=(2,), n_values=(3, 4, 30), max_worlds=130)
    found = by_force.try_cases(method.name, lambda case: counted(method, case.ell, 1, case.positions), few)

    assert found.n_above == 0
    assert found.n_divided > 0


def test_buckets_that_are_not_dealt_at_random_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_order(counts: Any, n: int, source: Any) -> Any:
        return np.minimum(counts, np.maximum(n - (np.cumsum(counts) - counts), 0))

    monkeypatch.setattr(nodes, "drawn_counts", in_order)
    few = by_force.random_cases(6, 60, people=(5,), ells=(2,), n_values=(3, 4), max_worlds=130)
    found = by_force.try_cases(
        "ace", lambda case: counted(gh.Ace(), case.ell, 1, case.positions), few, until_above=True
    )

    assert found.n_above == 1
