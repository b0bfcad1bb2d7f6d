# SPDX-License-Identifier: Apache-2.0
"""What the slow recodings let an adversary believe who knows the algorithm, and what careless ones do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from tests.twins import angel, by_force, enumerating, mondrian
from tests.twins import by_force_recodings as recodings
from tests.twins.anatomy import permuted
from tests.twins.by_force_recodings import in_creation_order, in_every_order, in_random_order
from tests.twins.greedy import frequency_diverse, gg, lexicographic
from tests.twins.mondrian import Partition
from tests.twins.transparent import Draws, hybrid, tailor

HALF = Fraction(1, 2)
ONE_BUCKET = recodings.angelized((None, 6))  # everybody looks alike: only batches are seen
PUBLISHED = {
    "anatomy": recodings.anatomized,
    "permutation": recodings.permuted,
    "angel": recodings.with_one_marginal,
    "angel with two marginals": recodings.two_marginals,
    "angel with one bucket": ONE_BUCKET,
    "angel with a marginal of quasi-identifiers alone": recodings.angelized((None, 3), without=[([-1], 2)]),
}


def on_a_line(values: Sequence[int], ell: int, n_people: int | None = None) -> by_force.Case:
    """As many people as values, or more; the second attribute falls where the first rises."""
    n = n_people or len(values)
    return by_force.Case(tuple((i, n - 1 - i) for i in range(n)), (tuple(range(n)),) * 2, tuple(values), ell)


def greedy(codes: by_force.Codes, sensitive: Sequence[int], _: Draws) -> list[Collection[int]]:
    """GG at l = 2 along the line, its groups in the order in which they are closed."""
    rows = by_force.rows_of(codes, sensitive)
    return sorted(gg(rows, 2, frequency_diverse(2), lexicographic(rows)), key=sorted)


def transparent(case: by_force.Case) -> by_force.Method:
    def method(codes: by_force.Codes, sensitive: Sequence[int], draws: Draws) -> Partition:
        return hybrid(by_force.rows_of(codes, sensitive), case.positions, case.ell, draws)

    return method


def knowledge(method: by_force.Method, case: by_force.Case, recode: by_force.Recode) -> Counter[Any]:
    return by_force.knowledge(by_force.evidence_of(method, case.codes, by_force.worlds_of(case), recode))


# Numbers


@pytest.mark.parametrize("publish", PUBLISHED.values(), ids=PUBLISHED)
@pytest.mark.parametrize("values", [(0, 0, 1, 1), (0, 1, 2, 3), (0, 0, 1, 2)])
def test_merging_releases_that_differ_in_random_numbers_alone_changes_no_belief(values: Any, publish: Any) -> None:
    for n_people in (4, 5):
        case = on_a_line(values, 2, n_people)
        for method in (greedy, transparent(case)):
            merged = knowledge(method, case, in_random_order(publish))

            assert merged == knowledge(method, case, in_every_order(publish))
            assert sum(merged.values()) == 1


def test_releases_are_merged_exactly_if_renumbering_makes_one_from_the_other() -> None:
    tuples = [((0, 1), 0), ((1, 0), 1), ((0, 0), 1), ((1, 1), 0), ((0, 1), 1), ((1, 1), 2)]
    partitions = [[[0, 1], [2, 3], [4, 5]], [[0, 2], [1, 3], [4, 5]], [[0, 1, 2, 3], [4, 5]], [[0, 5, 2], [1, 3, 4]]]
    for publish in [publish for name, publish in PUBLISHED.items() if name != "permutation"]:
        releases = {
            (which, order): publish(tuples, order)
            for which, groups in enumerate(partitions)
            for order in permutations([tuple(group) for group in groups])
        }
        for (which, _), tables in releases.items():
            renumbered = [numbered(publish(tuples, order)) for order in permutations(partitions[which])]
            for other in releases.values():
                same = recodings.content(tables) == recodings.content(other)
                assert same == (numbered(other) in renumbered)


def numbered(tables: Any) -> Any:
    return [sorted(table, key=str) for table in tables]


def test_batches_numbered_in_the_order_of_their_making_give_greedy_grouping_away_where_random_numbers_do_not() -> None:
    # a a b c | d e: if the batch of four was made first, it begins with a a, or GG would have closed it after two. All
    # six people look alike in the one bucket, so with random numbers a a may as well be in the middle (d e | a a b c),
    # or at the end (d e | b c, which takes in a a, left over).
    case = on_a_line((0, 0, 1, 2, 3, 4), 2)

    hidden = by_force.worst_belief(greedy, case, in_random_order(ONE_BUCKET))
    shown = by_force.worst_belief(greedy, case, in_creation_order(ONE_BUCKET))

    assert hidden.belief == Fraction(1, 3)
    assert shown.belief == 1
    assert (shown.person, shown.value) in {(0, 0), (1, 0), (2, 0), (3, 0)}


def test_numbers_in_the_order_of_values_give_away_what_is_safe_with_random_ones() -> None:
    def first_value_first(case: by_force.Case) -> by_force.Method:
        """Tailor, whose groups are listed by the value of their first member."""

        def method(codes: by_force.Codes, sensitive: Sequence[int], _: Draws) -> list[Collection[int]]:
            partition = tailor(by_force.rows_of(codes, sensitive), case.positions, case.ell)
            return sorted(partition, key=lambda group: (sensitive[min(group)], min(group)))

        return method

    case = on_a_line((0, 1, 2, 3), 2)

    for publish in (recodings.anatomized, recodings.two_marginals):
        assert by_force.worst_belief(first_value_first(case), case, in_random_order(publish)).belief == HALF
        assert by_force.worst_belief(first_value_first(case), case, in_creation_order(publish)).belief == 1


# Rows


def rows_in_the_order_of_values(
    codes: by_force.Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]
) -> Any:
    """A QIT whose rows stand as in a file that was sorted by diagnosis, and the ST."""
    value = dict(zip(people, sensitive, strict=True))
    return tuple(
        sorted(
            (
                tuple(codes[person] for person in sorted(group, key=lambda person: (value[person], person))),
                tuple(sorted(value[person] for person in group)),
            )
            for group in groups
        )
    )


def test_rows_in_the_order_of_values_give_everybody_away_and_in_any_order_nobody() -> None:
    case = on_a_line((0, 1, 2, 3), 2)

    assert by_force.worst_belief(transparent(case), case, rows_in_the_order_of_values).belief == 1
    assert by_force.worst_belief(transparent(case), case, recodings.RECODINGS["anatomy"]).belief == HALF


def test_a_permutation_that_moves_nothing_is_the_microdata() -> None:
    def unmoved(tuples: Any, groups: Any) -> Any:
        return [[(j, tuples[i]) for j, group in enumerate(groups, 1) for i in group]]

    case = on_a_line((0, 1, 2, 3), 2)

    assert by_force.worst_belief(transparent(case), case, in_random_order(unmoved)).belief == 1


def test_a_permutation_release_is_what_two_shuffled_sides_give_up_to_the_order_of_rows() -> None:
    tuples = [((0,), 0), ((0,), 1), ((1,), 1), ((2,), 0), ((2,), 2)]
    groups = [[0, 1, 2], [3, 4]]
    shuffled = enumerating.distribution(
        lambda draws: recodings.content([[(j, (cells, value)) for cells, j, value in permuted(tuples, groups, draws)]])
    )
    listed: dict[Any, Fraction] = {}
    for share, tables in recodings.permuted(tuples, groups):
        listed[recodings.content(tables)] = listed.get(recodings.content(tables), Fraction(0)) + share

    assert shuffled == listed


# Who is in the table


def test_anatomy_shows_who_is_absent_and_angel_leaves_it_open() -> None:
    # Six on the list, four of them in the table, all in one bucket: only those at the ends of the box are seen.
    # (Smaller buckets on a line show more: a box of two people has both of them at its ends.)
    case = on_a_line((0, 0, 1, 1), 2, n_people=6)

    def chances_of_presence(recode: by_force.Recode) -> set[Fraction]:
        chances = set()
        evidence = by_force.evidence_of(transparent(case), case.codes, by_force.worlds_of(case), recode)
        for weights in evidence.releases.values():
            believed = by_force.beliefs_after(weights)
            chances |= {sum(believed.get((person, value), Fraction(0)) for value in (0, 1)) for person in range(6)}
        return chances

    assert chances_of_presence(recodings.RECODINGS["anatomy"]) == {0, 1}
    assert any(
        0 < chance < 1 for chance in chances_of_presence(in_random_order(recodings.angelized((None, 4), ([-1], 4))))
    )


# ANGEL


def test_with_k_1_angel_tells_what_anatomy_tells() -> None:
    tuples = [((0, 1), 0), ((1, 0), 1), ((0, 0), 1), ((1, 1), 0), ((0, 1), 1)]
    batches = [[0, 1], [2, 3, 4]]
    bt, gt = recodings.angelized((None, 1))(tuples, batches)
    qit, st = recodings.anatomized(tuples, batches)

    assert bt == st
    assert sorted(qit) == sorted((i, tuple(low for low, _ in cells)) for i, cells in gt)


def test_buckets_are_k_anonymous_and_know_quasi_identifiers_alone() -> None:
    for case in by_force.random_cases(4, 40, people=(4, 5, 6), max_worlds=10_000):
        for attributes in (None, [-1]):
            found = recodings.buckets(case.codes, attributes, 2)
            order = sorted(range(len(case.codes)), key=lambda i: (case.codes[i], -i))
            moved = recodings.buckets([case.codes[i] for i in order], attributes, 2)

            assert sorted(i for bucket in found for i in bucket) == list(range(len(case.codes)))
            assert all(len(bucket) >= 2 for bucket in found)
            assert sorted(values(found, case.codes)) == sorted(values(moved, [case.codes[i] for i in order]))


def values(groups: Any, codes: by_force.Codes) -> list[Any]:
    return [sorted(codes[i] for i in group) for group in groups]


def test_buckets_that_look_at_sensitive_values_give_everybody_away() -> None:
    # Two people have the frequent value, three have others; so the bucket of two is known.
    def publish(tuples: Any, batches: Any) -> Any:
        by_value = [
            [i for i, (_, value) in enumerate(tuples) if (value == 0) == frequent] for frequent in (True, False)
        ]
        gt = angel.generalized_table(tuples, batches, by_value)
        return [[(i, (x, y)) for i, x, y in angel.batch_table(tuples, batches)], [(i, cells) for cells, i in gt]]

    case = on_a_line((0, 0, 1, 2, 3), 2)

    assert by_force.worst_belief(transparent(case), case, in_random_order(publish)).belief == 1
    assert by_force.worst_belief(transparent(case), case, recodings.RECODINGS["angel"]).belief <= HALF


def test_a_marginal_of_quasi_identifiers_alone_adds_nothing_to_what_may_be_believed() -> None:
    recode = in_random_order(PUBLISHED["angel with a marginal of quasi-identifiers alone"])
    for case in by_force.random_cases(6, 12, people=(4, 5), extra=(0, 1), n_values=(4, 6), max_worlds=200):
        assert by_force.worst_belief(transparent(case), case, recode).belief * case.ell <= 1


def test_batches_of_strict_mondrian_fall_under_every_recoding_and_those_of_hybrid_under_none() -> None:
    # Five people, two with one value: where the cut after the second fails and the mirrored one holds, two are exposed.
    case = on_a_line((0, 0, 1, 2, 3), 2)

    def strict(codes: by_force.Codes, sensitive: Sequence[int], _: Draws) -> Partition:
        return mondrian.strict(by_force.rows_of(codes, sensitive), case.positions, frequency_diverse(2))

    for recode in recodings.RECODINGS.values():
        assert by_force.worst_belief(strict, case, recode).belief == 1
        assert by_force.worst_belief(transparent(case), case, recode).belief <= HALF
