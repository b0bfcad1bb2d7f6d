"""Losses: the papers' small tables, and the slow twin on every kind of release."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.analyst.usefulness.losses import losses, reconstruction_error
from tests.rooms.analyst.plain_releases import (
    DOMAIN,
    KINDS,
    Made,
    grouped_values,
    random_release,
    released,
)
from tests.twins import anatomy as slow_anatomy
from tests.twins import losses as slow

HALVES = gh.Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2)  # the groups of ANATOMY Table 2, ANGEL Table 1b
BATCHES = gh.Groups(np.array([0, 1, 0, 1, 2, 3, 2, 3], np.int32), 4)
BUCKETS = gh.Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), 4)


def in_groups(table: gh.Microdata, recoding: Any, groups: gh.Groups, **more: Any) -> gh.Release:
    return released(table, recoding, recoding.recode(table, groups, **more))


def transparent_t2() -> gh.Release:
    table = gh.examples.transparent_t1()
    return in_groups(table, gh.Boxes(), gh.Groups(np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32), 3))


# --- docs/definitions.md: one example each ----------------------------------------------------------------------------


def test_three_groups_of_two_two_and_four_have_a_discernibility_of_24() -> None:
    found = losses(transparent_t2())

    assert (found.n_tuples, found.n_groups, found.discernibility) == (8, 3, 2 * 2 + 2 * 2 + 4 * 4)
    assert found.average_size == Fraction(8, 3)
    assert found.normalised_size == Fraction(4, 3)  # the recipe has k = 2
    assert losses(transparent_t2(), k=4).normalised_size == Fraction(2, 3)


def test_the_perimeter_of_transparent_table_3_is_a_sum_of_shares_of_ranges() -> None:
    # ages 21 to 60, zip codes 10,000 to 63,000; boxes [21, 27] x [10k, 18k], 32 x 35k, [54, 60] x [60k, 63k]
    found = losses(transparent_t2())
    age = (2 * Fraction(6, 39) + 4 * Fraction(6, 39)) / 8
    zipcode = (2 * Fraction(8, 53) + 4 * Fraction(3, 53)) / 8

    assert (
        found.by_attribute == {"Age": age, "Zipcode": zipcode} == {"Age": Fraction(3, 26), "Zipcode": Fraction(7, 106)}
    )
    assert found.perimeter == 8 * (age + zipcode)
    assert found.ncp == (age + zipcode) / 2 == Fraction(125, 1378)


def test_a_range_may_be_given_and_a_narrower_one_is_refused() -> None:
    found = losses(transparent_t2(), ranges={"Age": (0, 100)})

    assert found.by_attribute["Age"] == Fraction(6 * 6, 8 * 100)
    with pytest.raises(gh.InputError, match="narrower"):
        losses(transparent_t2(), ranges={"Age": (0, 1)})
    with pytest.raises(gh.InputError, match="lowest and its highest"):
        losses(transparent_t2(), ranges={"Age": 100})
    with pytest.raises(gh.InputError, match="k must be"):
        losses(transparent_t2(), k=0)
    with pytest.raises(gh.InputError, match="quasi-identifiers"):
        losses(transparent_t2(), ["Disease"])


def test_a_set_of_values_is_as_wide_as_its_other_values() -> None:
    table = gh.read({"town": list("abcab"), "ill": list("xyxyx")}, quasi=["town"], sensitive="ill")
    release = in_groups(table, gh.Boxes(), gh.Groups(np.array([0, 0, 1, 1, 1], np.int32), 2))

    assert losses(release).by_attribute["town"] == Fraction(2 * 1 + 3 * 2, 5 * 2)  # {a, b} and {a, b, c} of three
    assert losses(release, ranges={"town": 11}).by_attribute["town"] == Fraction(8, 50)
    with pytest.raises(gh.InputError, match="the number of its values"):
        losses(release, ranges={"town": ("a", "c")})


def test_exact_cells_have_no_width_and_dropped_tuples_are_charged_the_whole_table() -> None:
    table = gh.examples.anatomy_table1()
    release = in_groups(table, gh.Anatomy(), HALVES)
    found = losses(release)

    assert (found.perimeter, found.ncp, set(found.by_attribute.values())) == (0, 0, {0})
    assert (found.n_groups, found.discernibility) == (2, 32)
    assert losses(replace(release, n_dropped=2)).discernibility == 32 + 2 * 10
    assert found.to_dict()["average_size"] == 4.0


def test_the_errors_of_tuple_1_are_a_half_and_39_fortieths() -> None:
    """ANATOMY Section 4 in the plane of Age and Disease; the paper prints 22.5 for the second."""
    anatomized = {((23,), "pneumonia"): Fraction(1, 2), ((23,), "dyspepsia"): Fraction(1, 2)}
    smeared = slow_anatomy.generalized_pdf([(21, 60)], "pneumonia", [range(18, 90)])
    true = slow_anatomy.actual_pdf(((23,), "pneumonia"))
    assert slow_anatomy.error(anatomized, true) == Fraction(1, 2)
    assert slow_anatomy.error(smeared, true) == Fraction(39, 40)

    # four tuples as tuple 1, in one group with the box [21, 60]: the product's sum is four times that of one
    table = gh.read(
        {"Age": [21, 23, 30, 60], "Disease": ["pneumonia", "dyspepsia"] * 2}, quasi=["Age"], sensitive="Disease"
    )
    one = gh.Groups(np.zeros(4, np.int32), 1)
    assert reconstruction_error(in_groups(table, gh.Anatomy(), one), table) == 4 * Fraction(1, 2)
    assert reconstruction_error(in_groups(table, gh.Boxes(), one), table) == 4 * Fraction(39, 40)


@pytest.mark.parametrize("n", [8, 9, 12, 13, 14])
def test_theorem_4_anatomize_reaches_the_least_error_where_l_divides_n(n: int) -> None:
    random = Random(n)
    for ell in (2, 3, 4):
        ill = [DOMAIN[i % 5] for i in range(n)]
        random.shuffle(ill)
        table = gh.read({"age": range(n), "ill": ill}, quasi=["age"], sensitive="ill")
        for recoding in (gh.Anatomy(), gh.Permutation()):
            release = gh.publish(table, principle=gh.LDiversity(ell=ell), method=gh.Anatomize(), recoding=recoding)
            found = reconstruction_error(release, table)
            assert found == slow_anatomy.theorem_4(n, ell)
            assert (found == slow_anatomy.least_error(n, ell)) == (n % ell == 0)  # Theorem 2: n (1 - 1/l)


def test_anatomy_table_3_has_an_error_of_four_and_a_half() -> None:
    table = gh.examples.anatomy_table1()  # groups with counts 2, 2 and 2, 1, 1:  4 - 8/4  and  4 - 6/4

    assert reconstruction_error(in_groups(table, gh.Anatomy(), HALVES), table) == Fraction(9, 2)


def test_angel_table_3_loses_less_than_the_generalization_of_table_1b() -> None:
    table = gh.examples.angel_table1()
    angelized = in_groups(table, gh.Angel(k=2), BATCHES, buckets=[BUCKETS])
    generalized = in_groups(table, gh.Boxes(), HALVES)

    # buckets of 3 ages and one sex, both diseases likely: 1 - (2 * 1/2 - 1/2) / 3; boxes of 20 ages and two sexes
    assert reconstruction_error(angelized, table) == 8 * Fraction(5, 6)
    assert reconstruction_error(generalized, table) == 8 * Fraction(39, 40)


# --- every kind of release against the twin ---------------------------------------------------------------------------


def width(made: Made, name: str, cell: tuple[Any, ...]) -> tuple[Any, Any]:
    """Low and high position of a cell, as TRANSPARENT Equation 4 takes them; sets and nodes by how many they have."""
    domain = made.table.column(name).domain
    known = [value for value in cell if value is not None]
    if domain.kind in ("category", "boolean"):
        return 0, max(len(cell) - 1, 0)
    if not known:
        return 0, 0
    place = {"date": lambda v: v.toordinal()}.get(domain.kind, lambda v: v)
    high = max(map(place, domain.values.to_pylist())) if None in cell else max(map(place, known))
    return place(min(known)), high


def range_of(made: Made, name: str, cells: list[tuple[Any, ...]]) -> tuple[Any, Any]:
    domain = made.table.column(name).domain
    if domain.kind in ("category", "boolean"):
        shown = {value for cell in cells for value in cell}
        return 0, len(shown) - 1
    values = domain.values.to_pylist()
    ends = (min(values), max(values))
    return tuple(v.toordinal() for v in ends) if domain.kind == "date" else ends  # type: ignore[return-value]


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_and_widths_are_the_twins(kind: str) -> None:
    random = Random(f"{kind} loses")
    for _ in range(30):
        made = random_release(random, kind)
        name = {"anatomy": "qit", "angel": "gt"}.get(kind, "data")
        shown = made.release.tables[name].to_pylist()
        weights = [row["G"] if kind == "perturbed" else 1 for row in shown]
        cells = [tuple(made.cell(q, row[q]) for q in made.quasi) for row in shown]
        texts = [tuple(row[q] for q in made.quasi) for row in shown]
        key = [row["Group-ID"] for row in shown] if kind in ("anatomy", "permutation") else texts
        sizes = [sum(w for k, w in zip(key, weights, strict=True) if k == one) for one in set(key)]
        everybody = [own for own, w in zip(cells, weights, strict=True) for _ in range(w)]
        found = losses(made.release, ordered=made.terms()["ordered"], taxonomies=made.terms()["taxonomies"])

        assert found.n_tuples == made.table.n_tuples
        assert found.discernibility == slow.discernibility(sizes)
        assert found.average_size == slow.average_size(sizes)
        boxes = [[width(made, q, c) for q, c in zip(made.quasi, own, strict=True)] for own in everybody]
        ranges = [range_of(made, q, [own[i] for own in cells]) for i, q in enumerate(made.quasi)]
        assert found.perimeter == slow.perimeter(boxes, ranges)
        assert found.ncp == found.perimeter / (made.table.n_tuples * len(made.quasi))
        for i, q in enumerate(made.quasi):
            alone = slow.perimeter([[box[i]] for box in boxes], [ranges[i]])
            assert found.by_attribute[q] == alone / made.table.n_tuples


def twins_error(made: Made) -> Fraction:
    points, truth = [point for point, _ in made.people], [value for _, value in made.people]
    if made.kind in ("anatomy", "permutation"):
        name = "qit" if made.kind == "anatomy" else "data"
        values = grouped_values(made)
        # the sum does not depend on who of a group has which value: hand them out in any order
        rows = sorted(made.rows(name, made.quasi, "Group-ID"), key=lambda row: row[1])
        dealt = list(itertools.chain.from_iterable(values[group] for group in sorted(values)))
        return slow.error_of_exact([tuple(c[0] for c in cells) for cells, _ in rows], [g for _, g in rows], dealt)
    if made.kind == "angel":
        return slow.error_of_angel(made.rows("gt", made.quasi, "Batch-ID"), grouped_values(made), points, truth)
    shown = made.release.data.to_pylist()
    cells = [tuple(made.cell(q, row[q]) for q in made.quasi) for row in shown]
    if made.kind == "perturbed":
        p = Fraction(str(made.release.recipe.recoding["p"]))
        domain = DOMAIN if made.release.recipe.recoding["domain"] else sorted({row["ill"] for row in shown})
        sampled = [(own, row["ill"], row["G"]) for own, row in zip(cells, shown, strict=True)]
        return slow.error_of_sample(sampled, p, domain, points, truth)
    # a row shows its own value, and stands for a tuple somewhere in its box
    somewhere = [tuple(cell[0] for cell in own) for own in cells]
    return slow.error_of_generalization(cells, somewhere, [row["ill"] for row in shown])


@pytest.mark.parametrize("kind", KINDS)
def test_the_reconstruction_error_is_the_twins(kind: str) -> None:
    random = Random(f"{kind} errs")
    for _ in range(30):
        made = random_release(random, kind)
        expected = twins_error(made)

        assert reconstruction_error(made.release, made.table, exact=True) == expected
        assert reconstruction_error(made.release, made.table, exact=False) == pytest.approx(float(expected), rel=1e-12)


def test_the_error_of_a_tuple_that_lies_in_several_boxes_of_angel_is_not_guessed() -> None:
    random = Random(11)
    refused = 0
    for _ in range(40):
        made = random_release(random, "taxonomies")
        recoding = gh.Angel(k=2, cells="taxonomies")
        groups = gh.Groups(np.zeros(made.table.n_tuples, np.int32), 1)
        release = in_groups(made.table, recoding, groups, buckets=recoding.buckets(made.table, gh.Mondrian().divide))
        try:
            reconstruction_error(release, made.table)
        except gh.NotSupported as error:
            refused += "or several groups" in str(error)
    assert refused > 0


def test_other_tables_than_the_published_one_are_refused() -> None:
    made = random_release(Random(2), "angel")
    with pytest.raises(gh.InputError, match="give the table that was published"):
        reconstruction_error(made.release, made.table.take(np.arange(made.table.n_tuples - 1)))
