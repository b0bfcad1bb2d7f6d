# SPDX-License-Identifier: Apache-2.0
"""The slow twins against examples worked by hand and the papers' own."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.twins.attack import World, posterior, posteriors, worlds
from tests.twins.mondrian import Partition, Row, relaxed, strict
from tests.twins.recoding import box_cell, published, taxonomy_cell, text

HALF = Fraction(1, 2)

# TRANSPARENT Tables I and IV: Ann, Bob, Cate, Don, Ed, Fred, Gill, Hera
AGES = [21, 27, 32, 54, 60]
ZIPCODES = [10000, 18000, 35000, 60000, 63000]
DISEASES = ["bronchitis", "diabetes", "dyspepsia", "flu", "gastritis"]
PLACES = [AGES, ZIPCODES]
QUASI = [(0, 0), (1, 1), (2, 2), (2, 2), (3, 3), (4, 4), (4, 4), (4, 4)]


def hospital(*diseases: str) -> list[Row]:
    return [(codes, DISEASES.index(disease)) for codes, disease in zip(QUASI, diseases, strict=True)]


TABLE_I = hospital("dyspepsia", "flu", "gastritis", "bronchitis", "gastritis", "flu", "dyspepsia", "diabetes")
TABLE_IV = hospital("dyspepsia", "flu", "gastritis", "gastritis", "bronchitis", "flu", "dyspepsia", "diabetes")


def at_least(k: int) -> Callable[[list[int]], bool]:
    return lambda group: len(group) >= k


def diverse(group: list[int]) -> bool:
    """Frequency 2-diversity."""
    return max(Counter(group).values()) * 2 <= len(group)


def binary_diverse(group: list[int]) -> bool:
    """Binary 2-diversity: only code 1, positive, is sensitive."""
    return group.count(1) * 2 <= len(group)


def groups(*members: Sequence[int]) -> Partition:
    return {frozenset(group) for group in members}


def line(*codes: int) -> list[Row]:
    """One dimension, and sensitive values that no test looks at."""
    return [((code,), 0) for code in codes]


# Mondrian, strict


def test_strict_divides_table_i_as_worked_by_hand() -> None:
    # Whole table: both widths are 1, so age; 32|54 leaves 4 and 4, each with at most two equal values: cut.
    # Left: age spans 11/39, zipcode 25/53, so zipcode; 18000|35000 leaves 2 and 2, all different: cut.
    # Right: 54|60 leaves Ed alone, and so does 60000|63000: stays.

    assert groups([0, 1], [2, 3], [4, 5, 6, 7]) == strict(TABLE_I, PLACES, diverse)


def test_strict_keeps_a_group_whose_every_cut_breaks_the_principle() -> None:
    # Cate and Don now share gastritis, so their half cannot be cut.

    assert groups([0, 1, 2, 3], [4, 5, 6, 7]) == strict(TABLE_IV, PLACES, diverse)


def test_strict_tries_the_dimension_that_is_widest_as_a_share_of_the_whole_table() -> None:
    # Whole table: both shares are 1, so the first dimension, at 1|9. Left: 1/10 against 1, so the second dimension,
    # although its 1/2 is the smaller length. Right: the second dimension has one value only.
    positions: list[list[int | Fraction]] = [[0, 1, 9, 10], [0, HALF]]
    codes = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 0), (3, 0), (3, 0)]

    assert groups([0, 2], [1, 3], [4, 5], [6, 7]) == strict([(c, 0) for c in codes], positions, at_least(2))


@pytest.mark.parametrize("swapped", [False, True])
def test_dimensions_of_equal_share_are_tried_in_order(swapped: bool) -> None:
    codes = [(0, 0), (0, 1), (1, 0), (1, 1)]
    rows: list[Row] = [((b, a) if swapped else (a, b), 0) for a, b in codes]
    expected = groups([0, 2], [1, 3]) if swapped else groups([0, 1], [2, 3])

    assert expected == strict(rows, [[0, 1], [0, 1]], at_least(2))
    assert expected == relaxed(rows, [[0, 1], [0, 1]], at_least(2), range(4))


def test_the_next_dimension_is_tried_when_a_cut_fails() -> None:
    rows: list[Row] = [((0, 0), 0), ((0, 1), 0), ((1, 0), 1), ((1, 1), 1)]

    assert groups([0, 2], [1, 3]) == strict(rows, [[0, 1], [0, 1]], diverse)
    assert groups([0, 2], [1, 3]) == relaxed(rows, [[0, 1], [0, 1]], diverse, range(4))


def test_strict_takes_the_most_even_cut_and_no_other() -> None:
    # 0|1 leaves 1 and 4, 1|2 leaves 4 and 1: both break 2-anonymity. Of 2, 3 and 1 tuples, 1|2 leaves 5 and 1 and is
    # not tried, 0|1 leaves 2 and 4.

    assert groups(range(5)) == strict(line(0, 1, 1, 1, 2), [[0, 1, 2]], at_least(2))
    assert groups([0, 1], [2, 3, 4, 5]) == strict(line(0, 0, 1, 1, 1, 2), [[0, 1, 2]], at_least(2))


def test_of_two_equally_even_cuts_strict_takes_the_one_with_the_smaller_left_part() -> None:
    # 0|1 leaves ab and ccab, 1|2 leaves abcc and ab: both would do, neither remainder can be cut again.
    rows: list[Row] = [((code,), value) for code, value in zip([0, 0, 1, 1, 2, 2], [0, 1, 2, 2, 0, 1], strict=True)]

    assert groups([0, 1], [2, 3, 4, 5]) == strict(rows, [[0, 1, 2]], diverse)


def test_strict_cuts_between_children_of_the_lowest_common_ancestor() -> None:
    # Leaves a | b1 b2 b3, two tuples each: the even cut b1|b2 runs through a child of the root.
    rows = line(0, 0, 1, 1, 2, 2, 3, 3)
    places, tree = [[0, 1, 2, 3]], [[0, 1, 1]]

    assert groups([0, 1, 2, 3], [4, 5, 6, 7]) == strict(rows, places, at_least(3))
    assert groups(range(8)) == strict(rows, places, at_least(3), tree)
    assert groups([0, 1], [2, 3], [4, 5], [6, 7]) == strict(rows, places, at_least(2), tree)


def test_strict_does_not_cut_beside_a_boundary_between_children() -> None:
    # Leaves a1 a2 | b with 3, 1 and 2 tuples: a1|a2 would be even.
    rows = line(0, 0, 0, 1, 2, 2)

    assert groups([0, 1, 2], [3, 4, 5]) == strict(rows, [[0, 1, 2]], at_least(3))
    assert groups(range(6)) == strict(rows, [[0, 1, 2]], at_least(3), [[1, 0]])


def test_strict_cuts_between_children_even_where_the_leaves_beside_the_cut_are_absent() -> None:
    # Leaves a1 a2 | b1 b2; only a1 and b2 occur.

    assert groups([0, 1], [2, 3]) == strict(line(0, 0, 3, 3), [[0, 1, 2, 3]], at_least(2), [[1, 0, 1]])


def test_a_dimension_without_a_taxonomy_may_stand_beside_one_with() -> None:
    rows: list[Row] = [((0, 0), 0), ((0, 0), 0), ((0, 1), 0), ((0, 1), 0)]

    assert groups([0, 1], [2, 3]) == strict(rows, [[0, 1], [0, 1]], at_least(2), [[0], None])


def test_missing_is_cut_from_the_largest_value_although_they_share_a_place() -> None:
    # Values 0 and 10, then missing at 10. First 0|10, which leaves 2 and 4; then a node of width 0 with two codes.

    assert groups([0, 1], [2, 3], [4, 5]) == strict(line(0, 0, 1, 1, 2, 2), [[0, 10, 10]], at_least(2))
    assert groups([0, 1], [2, 3]) == strict(line(1, 1, 2, 2), [[0, 10, 10]], at_least(2))


@pytest.mark.parametrize("rows", [[], line(0), line(0, 0, 0, 0)])
def test_what_cannot_be_cut_is_one_group_or_none(rows: list[Row]) -> None:
    expected = groups(range(len(rows))) if rows else set()

    assert expected == strict(rows, [[0]], at_least(1))
    assert expected == relaxed(rows, [[0]], at_least(1), range(len(rows)))


# Mondrian, relaxed


def test_relaxed_divides_table_i_as_worked_by_hand() -> None:
    # As strict, down to the right half: age is wider (6/39 against 3/53); Ed and the first of those aged 60, with
    # gastritis and flu, against the other two, with dyspepsia and diabetes: cut.

    assert groups([0, 1], [2, 3], [4, 5], [6, 7]) == relaxed(TABLE_I, PLACES, diverse, range(8))


def test_ties_decide_which_equal_tuples_relaxed_puts_left() -> None:
    assert groups([0, 1], [2, 3], [4, 7], [5, 6]) == relaxed(TABLE_I, PLACES, diverse, [7, 6, 5, 4, 3, 2, 1, 0])


def test_relaxed_puts_the_smaller_half_left() -> None:
    assert groups([0, 1], [2, 3, 4]) == relaxed(line(0, 1, 2, 3, 4), [range(5)], at_least(2), range(5))


# Cells


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (23, "23"),
        (-1, "-1"),
        (0.1, "0.1"),
        (3.0, "3.0"),
        (Decimal("1.50"), "1.50"),
        (True, "true"),
        (False, "false"),
        (datetime.date(2020, 2, 29), "2020-02-29"),
        (datetime.datetime(2020, 2, 29, 13, 5), "2020-02-29T13:05:00"),
        ("F", "F"),
        ("never married", "never married"),
        ("Smith, Ann", '"Smith, Ann"'),
        ("{a", '"{a"'),
        ("a}", '"a}"'),
        ("[1", '"[1"'),
        ("1]", '"1]"'),
        ('say "a"', '"say ""a"""'),
        (" a", '" a"'),
        ("a ", '"a "'),
        ("", '""'),
        ("missing", '"missing"'),
        ("*", '"*"'),
        ("a or missing", '"a or missing"'),
        ("missing or not", "missing or not"),
    ],
)
def test_a_value_is_published_as_this_text(value: Any, expected: str) -> None:
    assert expected == text(value)


@pytest.mark.parametrize(
    ("present", "kind", "expected"),
    [
        ([23], "ordered", "23"),
        ([21, 40, 60], "ordered", "[21, 60]"),
        ([21, 60, None], "ordered", "[21, 60] or missing"),
        ([23, None], "ordered", "23 or missing"),
        ([None], "ordered", "missing"),
        (["low", "high"], "ordered", "[low, high]"),
        (["F"], "unordered", "F"),
        (["F", "M"], "unordered", "{F, M}"),
        (["b", "a", "c"], "unordered", "{b, a, c}"),
        (["a", "b", None], "unordered", "{a, b} or missing"),
        (["a, b", "missing"], "unordered", '{"a, b", "missing"}'),
        ([False, True], "unordered", "{false, true}"),
        ([None], "unordered", "missing"),
    ],
)
def test_a_box_is_published_as_this_cell(present: list[Any], kind: str, expected: str) -> None:
    assert expected == box_cell(present, kind)


PATHS = {
    "flu": ("*", "lungs", "flu"),
    "bronchitis": ("*", "lungs", "bronchitis"),
    "gastritis": ("*", "stomach", "gastritis"),
    "missing": ("*", "missing"),
}


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        (["flu"], "flu"),
        (["missing"], '"missing"'),
        (["flu", "bronchitis"], "lungs"),
        (["flu", "bronchitis", None], "lungs or missing"),
        (["flu", "bronchitis", "gastritis"], "*"),
        (["gastritis", "missing"], "*"),
        ([None], "missing"),
    ],
)
def test_a_taxonomy_publishes_the_lowest_common_ancestor(present: list[Any], expected: str) -> None:
    assert expected == taxonomy_cell(present, PATHS)


def test_nodes_of_one_name_under_different_parents_are_different() -> None:
    paths = {"x": ("*", "a", "other", "x"), "y": ("*", "b", "other", "y")}

    assert taxonomy_cell(["x", "y"], paths) == "*"


def test_table_i_is_published_as_table_iii() -> None:
    expected = Counter(
        {
            ("[21, 27]", "[10000, 18000]", "dyspepsia"): 1,
            ("[21, 27]", "[10000, 18000]", "flu"): 1,
            ("32", "35000", "gastritis"): 1,
            ("32", "35000", "bronchitis"): 1,
            ("[54, 60]", "[60000, 63000]", "gastritis"): 1,
            ("[54, 60]", "[60000, 63000]", "flu"): 1,
            ("[54, 60]", "[60000, 63000]", "dyspepsia"): 1,
            ("[54, 60]", "[60000, 63000]", "diabetes"): 1,
        }
    )
    partition = strict(TABLE_I, PLACES, diverse)

    assert expected == published(TABLE_I, partition, [AGES, ZIPCODES], ["ordered", "ordered"], DISEASES)


def test_the_code_past_the_last_is_published_as_missing() -> None:
    rows: list[Row] = [((0, 0), 0), ((2, 1), 0), ((1, 1), 1), ((2, 1), 1)]
    expected = Counter(
        {
            ("20 or missing", "{F, M}", "flu"): 2,
            ("30 or missing", "M", None): 2,
        }
    )
    kinds = ["ordered", "unordered"]

    assert expected == published(rows, groups([0, 1], [2, 3]), [[20, 30], ["F", "M"]], kinds, ["flu"])


def test_a_dimension_with_a_taxonomy_is_recoded_by_it_and_the_others_by_boxes() -> None:
    rows: list[Row] = [((0, 0), 0), ((1, 1), 1)]
    leaves = ["bronchitis", "flu"]
    kinds = ["unordered", "unordered"]

    assert Counter({("lungs", "{bronchitis, flu}", "a"): 1, ("lungs", "{bronchitis, flu}", "b"): 1}) == published(
        rows, groups([0, 1]), [leaves, leaves], kinds, ["a", "b"], {0: PATHS}
    )


# The adversary


Divide = Callable[[list[Row]], Partition]


def publisher(
    quasi: Sequence[tuple[int, ...]], holds: Callable[[list[int]], bool], divide: Divide
) -> Callable[[World], Any]:
    """People 0, 1, ... with these codes; published are the groups and the multiset of values of each."""

    def release(world: World) -> Any:
        rows = list(zip(quasi, world.values(), strict=True))
        if not holds(list(world.values())):
            return None
        return frozenset((group, tuple(sorted(rows[i][1] for i in group))) for group in divide(rows))

    return release


FIGURE_6B = [(0,), (1,), (2,), (2,), (2,), (3,)]  # MINIMALITY: a, b, c, c, c, d


def test_strict_mondrian_falls_as_in_minimality_figure_6b() -> None:
    # The only cut considered is {a, b} against {c, c, c, d}; with two positives it fails only if both are left.
    algorithm = publisher(FIGURE_6B, binary_diverse, lambda rows: strict(rows, [range(4)], binary_diverse))
    uncut = frozenset({(frozenset(range(6)), (0, 0, 0, 0, 1, 1))})

    beliefs = posterior(uncut, algorithm, range(6), [0, 1])

    assert [1, 1, 0, 0, 0, 0] == [beliefs[person, 1] for person in range(6)]


def test_strict_mondrian_falls_under_frequency_diversity_too() -> None:
    # The figure's people, one value twice and four once: three equal values on the right are impossible.
    algorithm = publisher(FIGURE_6B, diverse, lambda rows: strict(rows, [range(4)], diverse))
    uncut = frozenset({(frozenset(range(6)), (0, 0, 1, 2, 3, 4))})

    beliefs = posterior(uncut, algorithm, range(6), range(5))

    assert beliefs[0, 0] == beliefs[1, 0] == 1
    assert all(beliefs[person, value] == Fraction(1, 4) for person in range(2, 6) for value in range(1, 5))


def test_relaxed_mondrian_falls_where_a_second_dimension_is_tried() -> None:
    # Five people on a line where the second attribute falls as the first rises: halves of 2 and 3, then of 3 and 2.
    quasi = [(i, 4 - i) for i in range(5)]
    algorithm = publisher(quasi, diverse, lambda rows: relaxed(rows, [range(5), range(5)], diverse, range(5)))

    every = posteriors(algorithm, range(5), range(4))

    assert max(max(beliefs.values()) for release, beliefs in every.items() if release is not None) == 1


def test_relaxed_mondrian_in_one_dimension_falls_under_binary_diversity_with_three_people() -> None:
    # Halves of 1 and 2: only a positive person 0 forbids the cut, for a side without positives is diverse.
    algorithm = publisher(
        [(0,), (1,), (2,)], binary_diverse, lambda rows: relaxed(rows, [range(3)], binary_diverse, range(3))
    )
    uncut = frozenset({(frozenset(range(3)), (0, 0, 1))})

    assert posterior(uncut, algorithm, range(3), [0, 1])[0, 1] == 1


@pytest.mark.parametrize(
    "divide",
    [
        lambda rows: strict(rows, [range(4)], at_least(2)),
        lambda rows: relaxed(rows, [range(4)], at_least(2), range(6)),
    ],
    ids=["strict", "relaxed"],
)
def test_groups_made_from_quasi_identifiers_alone_give_away_the_group_share_and_no_more(divide: Divide) -> None:
    algorithm = publisher(FIGURE_6B, at_least(2), divide)

    every = posteriors(algorithm, range(6), range(3))

    for release, beliefs in every.items():
        assert len(release) > 1
        for group, values in release:
            for person in group:
                for value in range(3):
                    assert beliefs[person, value] == Fraction(values.count(value), len(values))


def test_beliefs_average_to_the_prior_over_all_worlds() -> None:
    algorithm = publisher(FIGURE_6B, diverse, lambda rows: strict(rows, [range(4)], diverse))
    every = posteriors(algorithm, range(6), range(3))
    releases = [algorithm(world) for world in worlds(range(6), range(3))]

    assert len(releases) == 3**6
    for person in range(6):
        for value in range(3):
            assert sum(every[release][person, value] for release in releases) / len(releases) == Fraction(1, 3)


def test_a_randomised_algorithm_is_weighed_by_its_probabilities() -> None:
    # The answer is true with probability 3/4, else it is the other value.
    def answer(world: World) -> list[tuple[Fraction, Any]]:
        return [(Fraction(3, 4), world["Ann"]), (Fraction(1, 4), 1 - world["Ann"]), (Fraction(0), "never")]

    assert posterior(1, answer, ["Ann"], [0, 1]) == {("Ann", 0): Fraction(1, 4), ("Ann", 1): Fraction(3, 4)}
    assert set(posteriors(answer, ["Ann"], [0, 1])) == {0, 1}


@pytest.mark.parametrize("n", [4, range(7)], ids=["four of six", "any subset"])
def test_people_who_may_be_absent_share_the_belief(n: Any) -> None:
    # Ann, Bob, Cate and Don are published; Bea, who equals Bob, and not Eve, who is 29, could have been in the table.
    ages = {"Ann": 21, "Bob": 27, "Bea": 27, "Cate": 32, "Don": 32, "Eve": 29}
    domain = sorted(set(ages.values()))

    def algorithm(world: World) -> Any:
        rows: list[Row] = [((domain.index(ages[str(person)]),), value) for person, value in world.items()]
        partition = strict(rows, [domain], at_least(2))
        return frozenset(published(rows, partition, [domain], ["ordered"], [0, 1]).items())

    release = algorithm({"Ann": 0, "Bob": 1, "Cate": 0, "Don": 0})
    beliefs = posterior(release, algorithm, list(ages), [0, 1], n)

    assert release == {(("[21, 27]", 0), 1), (("[21, 27]", 1), 1), (("32", 0), 2)}
    assert beliefs["Ann", 0] == beliefs["Ann", 1] == HALF
    assert all(beliefs[person, value] == Fraction(1, 4) for person in ("Bob", "Bea") for value in (0, 1))
    assert beliefs["Cate", 0] == beliefs["Don", 0] == 1
    assert beliefs["Eve", 0] == beliefs["Eve", 1] == 0


def test_a_release_that_no_world_gives_has_no_beliefs() -> None:
    with pytest.raises(KeyError):
        posterior("never", lambda world: "always", ["Ann"], [0, 1])
