# SPDX-License-Identifier: Apache-2.0
"""Anatomize against its slow twin, ANATOMY's theorems, and the adversary who knows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.engines.sorting import pieces_of_runs
from glasshouse.grouping.anatomize.anatomize import Anatomize, anatomize_segments
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import LastChoice, forced, people, run_interpreted
from tests.rooms.grouping.schedules import check_threads_and_rows, in_pieces
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples
from tests.twins import by_force, enumerating
from tests.twins.anatomize import anatomize as naive
from tests.twins.mondrian import Partition


def line(sensitive: Sequence[int]) -> list[Any]:
    return [((i,), value) for i, value in enumerate(sensitive)]


def product(sensitive: Sequence[int], ell: int, draws: Any, offsets: Sequence[int] | None = None) -> Partition:
    borders = np.array(offsets or [0, len(sensitive)])
    labels = anatomize_segments(np.array(sensitive, np.int32), borders, max(sensitive) + 1, ell, draws)
    return partition(gh.Groups(labels, int(labels.max()) + 1))


def eligible(sensitive: Sequence[int], ell: int) -> bool:
    return max(Counter(sensitive).values()) * ell <= len(sensitive)


@st.composite
def diverse_codes(draw: st.DrawFn, *, most_values: int = 12, most_of_one: int = 12) -> tuple[list[int], int]:
    """Sensitive codes of an eligible table, from few values to many, and an l; frequencies of all shapes."""
    ell = draw(st.integers(2, min(5, most_values)))
    sizes = draw(st.lists(st.integers(1, most_of_one), min_size=ell, max_size=most_values))
    while max(sizes) * ell > sum(sizes):
        sizes[sizes.index(max(sizes))] -= 1
    gaps = draw(st.lists(st.sampled_from([0, 0, 1, 7, 900]), min_size=len(sizes), max_size=len(sizes)))
    values = np.cumsum(gaps) + np.arange(len(sizes))
    codes = [int(v) for v, size in zip(values, sizes, strict=True) for _ in range(size)]
    return draw(st.permutations(codes)), ell


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [
        ([4, 1, 1, 4, 2, 3, 2, 0], 2),  # ANATOMY Table 1
        ([0, 0, 1, 1], 2),
        ([0, 0, 1, 1, 2], 2),
        ([2, 0, 0, 1, 1], 2),
        ([0, 1, 2, 3, 3], 2),
        ([3, 0, 1, 2, 3, 0, 1], 2),
        ([0, 0, 1, 1, 2, 2, 3, 4], 3),
        ([0, 1, 2, 3, 4, 5, 5], 3),
        ([0, 1, 2], 2),
        ([0, 1, 2, 3, 4], 3),
        ([5, 4, 3, 2, 2, 1, 0], 3),
    ],
)
def test_every_partition_is_as_likely_as_for_the_slow_twin(sensitive: list[int], ell: int) -> None:
    expected = enumerating.distribution(lambda draws: frozenset(naive(line(sensitive), ell, draws)))

    assert expected == enumerating.distribution(lambda draws: frozenset(product(sensitive, ell, draws)))


@settings(max_examples=examples(60), deadline=None)
@given(case=diverse_codes(most_values=5, most_of_one=2))
def test_every_partition_of_a_tiny_table_is_as_likely_as_for_the_slow_twin(case: tuple[list[int], int]) -> None:
    sensitive, ell = case
    if len(sensitive) > 8:
        return
    expected = enumerating.distribution(lambda draws: frozenset(naive(line(sensitive), ell, draws)))

    assert expected == enumerating.distribution(lambda draws: frozenset(product(sensitive, ell, draws)))


@settings(max_examples=examples(1000), deadline=None)
@given(case=diverse_codes(most_values=14, most_of_one=25))
def test_groups_take_the_most_frequent_values_left_and_equal_ones_by_their_order(case: tuple[list[int], int]) -> None:
    """With all random choices fixed, residues included, the two agree tuple by tuple."""
    sensitive, ell = case
    expected = naive(
        line(sensitive), ell, LastChoice(), pick=lambda rows, _: rows[0], settle=lambda _, groups, __: groups[-1]
    )

    assert expected == product(sensitive, ell, LastChoice())


def test_many_values_and_frequent_ones_among_rare_ones_are_taken_in_the_right_order() -> None:
    rng = np.random.default_rng(1)
    for ell, sizes in [
        (3, rng.integers(1, 9, 300)),
        (8, np.concatenate([rng.integers(1, 4, 400), [60, 70, 80, 80, 1, 1]])),
        (2, np.concatenate([[150], np.ones(200, int), [100, 100]])),
        (4, np.arange(1, 60)),
        (4, np.arange(60, 0, -1)),
        (5, np.full(101, 7)),
    ]:
        sensitive = rng.permutation(np.repeat(np.arange(len(sizes)) * 16, sizes)).tolist()
        assert eligible(sensitive, ell)
        expected = naive(
            line(sensitive), ell, LastChoice(), pick=lambda rows, _: rows[0], settle=lambda _, groups, __: groups[-1]
        )
        assert expected == product(sensitive, ell, LastChoice())


@settings(max_examples=examples(300), deadline=None)
@given(case=diverse_codes(), seed=st.integers(0, 9))
def test_the_reconstruction_error_is_that_of_theorem_4(case: tuple[list[int], int], seed: int) -> None:
    sensitive, ell = case
    groups = product(sensitive, ell, gh.Source.seeded(seed))
    n, r = len(sensitive), len(sensitive) % ell
    assert n // ell == len(groups)
    for group in groups:  # Property 3
        assert len(group) == len({sensitive[i] for i in group}) >= ell
    # Equations 12 and 13: a tuple among k different values adds 1 - 1/k
    error = sum(len(group) * (1 - Fraction(1, len(group))) for group in groups)

    assert (n - r) * (1 - Fraction(1, ell)) + r == error


@settings(max_examples=examples(100), deadline=None)
@given(
    cases=st.lists(diverse_codes(most_values=4, most_of_one=3), min_size=1, max_size=4),
    tuples=st.sampled_from([1, 7, 1 << 18]),
)
def test_segments_are_divided_each_by_itself_and_stay_whole_if_not_diverse(
    cases: list[tuple[list[int], int]], tuples: int
) -> None:
    ell = 3
    sensitive = [code for codes, _ in cases for code in codes]
    offsets = np.cumsum([0, *(len(codes) for codes, _ in cases)]).tolist()
    expected: Partition = set()
    for start, (codes, _) in zip(offsets, cases, strict=False):
        within = range(start, start + len(codes))
        expected |= naive(
            line(sensitive),
            ell,
            LastChoice(),
            within=within,
            pick=lambda rows, _: rows[0],
            settle=lambda _, groups, __: groups[-1],
        ) or {frozenset(within)}

    with in_pieces(tuples):
        assert expected == product(sensitive, ell, LastChoice(), offsets)


def test_labels_count_segments_in_their_order_and_an_empty_one_has_no_group() -> None:
    codes = np.array([0, 1, 0, 0, 0, 1], np.int32)
    labels = anatomize_segments(codes, np.array([0, 2, 2, 4, 6]), 2, 2, gh.Source.seeded(1))

    assert [0, 0, 1, 1, 2, 2] == labels.tolist()


@pytest.mark.parametrize("tuples", [1, 4, 100])
def test_several_segments_are_as_likely_divided_as_for_the_slow_twin(tuples: int) -> None:
    """Whether a piece has one segment or all of them: choices of different segments are independent."""
    sensitive, offsets = [0, 0, 1, 1, 2, 0, 1, 0, 1], [0, 5, 9]

    def twin(draws: Any) -> Any:
        first = naive(line(sensitive), 2, draws, within=range(5))
        return frozenset(first | naive(line(sensitive), 2, draws, within=range(5, 9)))

    with in_pieces(tuples, backwards=True):  # one piece at a time: outcomes are tried in turn
        found = enumerating.distribution(lambda draws: frozenset(product(sensitive, 2, draws, offsets)))

    assert enumerating.distribution(twin) == found


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("tuples", [1, 6, 1 << 18])
@settings(max_examples=examples(60), deadline=None)
@given(cases=st.lists(diverse_codes(), min_size=1, max_size=5), seed=st.integers(0, 3), backwards=st.booleans())
def test_each_piece_is_divided_by_the_choices_of_its_number(
    threads: int, tuples: int, cases: list[tuple[list[int], int]], seed: int, backwards: bool
) -> None:
    codes = np.array([code for listed, _ in cases for code in listed], np.int32)
    offsets = np.cumsum([0, *(len(listed) for listed, _ in cases)])
    n_values, ell = int(codes.max()) + 1, 3
    expected: list[int] = []
    with in_pieces(tuples, backwards=backwards):
        for number, (first, last) in enumerate(pieces_of_runs(offsets)):
            choices = Renumbered(gh.Source.seeded(seed), number)
            within = offsets[first : last + 1]
            alone = anatomize_segments(
                codes[within[0] : within[-1]], within - within[0], n_values, ell, choices, Memory(threads=1)
            )
            expected += (alone + len(set(expected))).tolist()
        found = anatomize_segments(codes, offsets, n_values, ell, gh.Source.seeded(seed), Memory(threads=threads))

    assert expected == found.tolist()


class Renumbered:
    """The choices of one piece, whatever number it is asked for."""

    def __init__(self, source: gh.Source, number: int) -> None:
        self._source = source
        self._number = number

    def child(self, label: str, number: int) -> gh.Source:
        assert (label, number) == ("anatomize", 0)
        return self._source.child(label, self._number)


def test_a_seeded_run_depends_neither_on_threads_nor_on_the_order_of_rows() -> None:
    check_threads_and_rows(Anatomize(), gh.LDiversity(ell=3))


@settings(max_examples=examples(60), deadline=None)
@given(case=diverse_codes(), seed=st.integers(0, 3))
def test_interpreted_kernels_give_the_same_groups(case: tuple[list[int], int], seed: int) -> None:
    sensitive, ell = case
    expected = product(sensitive, ell, gh.Source.seeded(seed))
    with run_interpreted("glasshouse.grouping.anatomize.anatomize"):
        assert expected == product(sensitive, ell, gh.Source.seeded(seed))


def test_every_tuple_is_as_likely_to_be_taken_early_as_late() -> None:
    """Each of 40 tuples of a value lands in each group equally often: chi-square over 10,000 runs, 1521 degrees."""
    sensitive = np.array([0] * 40 + [1] * 40, np.int32)
    seen = np.zeros((40, 40))
    for run in range(10_000):
        source = gh.Source.seeded(run)
        seen[np.arange(40), anatomize_segments(sensitive, np.array([0, 80]), 2, 2, source)[:40]] += 1
    statistic = ((seen - 250) ** 2 / 250).sum()

    assert abs(statistic - 1521) < 6 * (2 * 1521) ** 0.5


@pytest.mark.parametrize("identifier", [None, "id"])
@settings(max_examples=examples(60), deadline=None)
@given(plain=plain_tables(most=20), data=st.data(), seed=st.integers(0, 3))
def test_a_seeded_run_does_not_depend_on_the_order_of_rows(
    identifier: str | None, plain: Plain, data: st.DataObject, seed: int
) -> None:
    order = data.draw(st.permutations(range(len(plain.sensitive))))

    def content(some: Plain, ids: list[int]) -> Counter[Any]:
        columns = {"id": ids, **some.columns}
        table = gh.read(columns, identifier=identifier, quasi=list(some.quasi), sensitive="sensitive")
        requirement = Requirement.of(gh.LDiversity(ell=2), table)
        groups = partition(Anatomize().divide(table, requirement, source=gh.Source.seeded(seed)))
        shown = [*some.quasi.values(), some.sensitive, *([ids] if identifier else [])]
        return Counter(tuple(sorted(str([c[i] for c in shown]) for i in group)) for group in groups)

    ids = list(range(len(order)))
    try:
        expected = content(plain, ids)
    except gh.Infeasible:
        return
    assert expected == content(plain.permuted(list(order)), [ids[i] for i in order])


def test_no_random_case_is_believed_above_one_in_l() -> None:
    tally = by_force.Tally("Anatomize")
    for case in by_force.random_cases(5, 12, people=(4, 5), n_values=(3, 4), max_worlds=130):
        method = forced(Anatomize(), lambda ell=case.ell: gh.LDiversity(ell=ell), case.positions)
        tally.add(case, by_force.worst_belief(method, case))
        assert by_force.unequal_likelihood(method, case) is None
    by_force.say(tally)

    assert tally.n_above == 0
    assert tally.n_divided > 0


def test_what_it_cannot_do_is_refused() -> None:
    table = people([(0,), (1,), (2,), (3,)], [0, 0, 0, 1])
    with pytest.raises(gh.Infeasible, match="3 of 4"):
        Anatomize().divide(table, Requirement.of(gh.LDiversity(ell=2), table))
    with pytest.raises(gh.NotSupported, match="Anatomize supports only l-diversity"):
        Anatomize().divide(table, Requirement.of(gh.KAnonymity(k=2), table))
    with pytest.raises(gh.NotSupported):
        Anatomize().claim(Requirement.of(gh.TCloseness(t=0.5), table))


def test_it_claims_to_withstand_an_attacker_who_knows_it() -> None:
    table = gh.examples.anatomy_table1()
    claim = Anatomize().claim(Requirement.of(gh.LDiversity(ell=2), table))

    assert claim.adversary.value == "algorithm-aware"
    assert "MINIMALITY Claim 4" in claim.theorem


def test_five_thousand_values_and_a_seldom_one_are_no_burden() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 5000, 200_000).astype(np.int32)
    labels = anatomize_segments(codes, np.array([0, len(codes)]), 5000, 10, gh.Source.seeded(1))
    counts = gh.Groups(labels, 20_000).counts(
        gh.read({"q": codes, "s": codes.astype(str)}, quasi=["q"], sensitive="s").sensitive[0]
    )

    assert (counts.largest == 1).all()
    assert (counts.sizes >= 10).all()
