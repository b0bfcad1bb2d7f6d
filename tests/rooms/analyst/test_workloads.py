# SPDX-License-Identifier: Apache-2.0
"""Workloads: as large as the papers' formulas say, the same for the same seed, and asked in SQL as they are meant."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import count, independent
from glasshouse.analyst.usefulness.workloads import Workload

DRAWN: list[Callable[..., Workload]] = [
    Workload.transparent,
    Workload.anatomy,
    Workload.minimality,
    Workload.angel,
]
VOLUMES = [0.001, 0.01, 0.05, 0.06, 0.1, 0.3, 0.5, 1]


def table() -> gh.Microdata:
    """Domains of 79, 2, 17 and 57 values, and 50 sensitive ones; the two last are not ordered."""
    return gh.synthetic.census(20_000, seed=1)


def smallest(enough: Callable[[int], bool]) -> int:
    return next(b for b in range(1, 1000) if enough(b))


def asked(workload: Workload) -> np.ndarray:
    """How many values of each attribute each question asks for (questions x attributes)."""
    return np.stack([wanted.sum(axis=1) for wanted in workload.wanted], axis=1)


def domain_sizes(workload: Workload) -> np.ndarray:
    return np.array([len(values) for values in workload.domains.values()])


def is_interval(wanted: np.ndarray) -> bool:
    places = np.flatnonzero(wanted)
    return bool((np.diff(places) == 1).all())


@pytest.mark.parametrize("s", VOLUMES)
@pytest.mark.parametrize("qd", [1, 2, 3, 4, 5])
def test_transparent_asks_for_an_interval_with_the_share_of_values_that_section_4_1_says(qd: int, s: float) -> None:
    workload = Workload.transparent(table(), qd=qd, s=s, n=60, seed=qd)
    sizes = domain_sizes(workload)
    for question, numbers in enumerate(asked(workload)):
        chosen = [d for d in range(5) if numbers[d] < sizes[d] or s == 1]
        for d in chosen:
            share = sizes[d] * s ** (1 / qd)
            assert abs(numbers[d] - share) <= 0.5 or (numbers[d] == 1 and share < 1)
            assert is_interval(workload.wanted[d][question])
        constrainable = [d for d in range(5) if round(sizes[d] * s ** (1 / qd)) < sizes[d]]
        assert len(set(chosen)) <= qd or s == 1
        assert 4 not in constrainable or 4 in chosen  # the sensitive attribute is in every question


def test_transparent_chooses_attributes_and_places_evenly() -> None:
    workload = Workload.transparent(table(), qd=3, s=0.06, n=3000, seed=5)
    chosen = asked(workload) < domain_sizes(workload)
    assert (chosen.sum(axis=1) == 3).all()
    assert chosen[:, 4].all()
    np.testing.assert_allclose(chosen[:, :4].mean(axis=0), 0.5, atol=0.04)
    starts = np.bincount([int(np.flatnonzero(wanted)[0]) for wanted in workload.wanted[4]])
    assert len(starts) == 50 - round(50 * 0.06 ** (1 / 3)) + 1
    assert starts.min() > 0.7 * 3000 / len(starts)


@pytest.mark.parametrize("s", VOLUMES)
@pytest.mark.parametrize("qd", [1, 2, 3, 4])
def test_anatomy_asks_for_as_many_values_as_equation_14_says(qd: int, s: float) -> None:
    workload = Workload.anatomy(table(), qd=qd, s=s, n=60, seed=qd)
    sizes, exact = domain_sizes(workload), Fraction(str(s))
    expected = [smallest(lambda b, size=size: b ** (qd + 1) >= exact * int(size) ** (qd + 1)) for size in sizes]  # type: ignore[misc]
    for numbers in asked(workload):
        assert numbers[4] == expected[4]
        others = [d for d in range(4) if numbers[d] != sizes[d]]
        assert all(numbers[d] == expected[d] for d in others)
        assert len(others) <= qd
        assert len(others) + sum(expected[d] == sizes[d] for d in range(4)) >= qd


@pytest.mark.parametrize("s", [0.01, 0.05, 0.5, 0.58, 1])  # in floating point 0.58 * 50 is less than 29
def test_minimality_asks_for_any_number_of_values_up_to_its_share(s: float) -> None:
    workload = Workload.minimality(table(), qd=4, s=s, n=800, seed=2)
    most = [max(1, int(Fraction(str(s)) * int(size))) for size in domain_sizes(workload)]
    numbers = asked(workload)
    assert (numbers.min(axis=0) == 1).all()
    assert numbers.max(axis=0).tolist() == [m if m <= 29 else numbers[:, d].max() for d, m in enumerate(most)]
    assert (numbers <= most).all()
    np.testing.assert_allclose(numbers.mean(axis=0), [(m + 1) / 2 for m in most], rtol=0.06)


@pytest.mark.parametrize("s", VOLUMES)
def test_angel_asks_for_all_attributes_and_an_interval_of_numerical_ones(s: float) -> None:
    numerical = ["age", "education"]
    for given, in_order in ((None, [0, 1, 2, 3]), (numerical, [0, 2]), ([], [])):
        workload = Workload.angel(table(), s=s, n=60, numerical=given)
        sizes = domain_sizes(workload)
        expected = [smallest(lambda b, size=size: b**5 >= Fraction(str(s)) * int(size) ** 5) for size in sizes]  # type: ignore[misc]
        assert (asked(workload) == expected).all()
        for d, wanted in enumerate(workload.wanted):
            are_intervals = all(map(is_interval, wanted))
            assert are_intervals == (d in in_order) or (are_intervals and expected[d] in (1, sizes[d]))


@pytest.mark.parametrize("drawn", DRAWN)
def test_the_same_seed_asks_the_same_and_a_longer_workload_begins_like_a_shorter_one(
    drawn: Callable[..., Workload],
) -> None:
    whole = drawn(table(), n=60, seed=4)
    for other, is_same in ((drawn(table(), n=60, seed=4), True), (drawn(table(), n=60, seed=5), False)):
        assert is_same == all((a == b).all() for a, b in zip(whole.wanted, other.wanted, strict=True))
    some = drawn(table(), n=20, seed=4)
    assert all((a[:20] == b).all() for a, b in zip(whole.wanted, some.wanted, strict=True))
    assert [whole.sql(i) for i in range(20)] == [some.sql(i) for i in range(20)]
    assert some.take(np.array([3, 1])).sql(1) == whole.sql(1)


def test_the_order_of_rows_does_not_matter() -> None:
    plain = gh.synthetic.census_table(500, seed=1, columns=["age", "gender", "occupation"])
    turned = plain.take(np.arange(500)[::-1])
    roles: dict[str, Any] = {"quasi": ["age", "gender"], "sensitive": "occupation", "categorical": ["occupation"]}
    for drawn in DRAWN:
        one, two = (drawn(gh.read(t, **roles), n=20, seed=1) for t in (plain, turned))
        assert all((a == b).all() for a, b in zip(one.wanted, two.wanted, strict=True))


def test_a_question_in_sql_asks_for_values_of_every_kind() -> None:
    columns: dict[str, list[Any]] = {
        'it\'s "odd"': ["O'Brien", 'x"y', None, "O'Brien", "z", 'x"y'],
        "weight": [0.25, 1.5, 2.0, -3.0, 0.25, 1.5],
        "day": [dt.date(2024, 2, 27 + i % 3) for i in range(6)],
        "at": [dt.datetime(2024, 2, 27, i % 2, 30) for i in range(6)],
        "is_new": [True, False, True, False, False, True],
        "s": [1, 2, 3, 1, 2, 3],
    }
    people = gh.read(columns, quasi=[*columns][:-1], sensitive="s", missing="category", categorical=["s"])
    release = gh.publish(people, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy())
    workload = Workload.anatomy(people, qd=5, s=0.001, n=30)
    found = gh.answer(release, workload)
    for question in range(30):
        alone = gh.query(release, workload.sql(question)).only
        assert found.values[question] == pytest.approx(alone.value), workload.sql(question)
        assert found.errors[question] == pytest.approx(alone.error)


def test_everything_is_asked_for_without_a_condition_and_nothing_by_a_condition_that_nobody_meets() -> None:
    domains = {"a": (1, 2), "s": ("x", "y")}
    wanted = (np.array([[True, True], [False, False]]), np.array([[True, True], [True, False]]))
    workload = Workload(domains=domains, wanted=wanted, name="two")
    assert workload.sql(0) == "SELECT COUNT(*)"
    assert workload.condition(1) == {"a": [], "s": ["x"]}
    assert workload.sql(1) == 'SELECT COUNT(*) WHERE "a" IS NULL AND "a" IS NOT NULL AND ("s" IN (\'x\'))'
    assert str(workload) == "Workload(two, 2 questions)"


def test_the_correlated_hundred_are_furthest_from_independence() -> None:
    people = table()
    workload = Workload.minimality(people, n=600, seed=9)
    true, alone = count(people, workload), independent(people, workload)
    positive, negative = workload.correlated(people)
    assert (len(positive), len(negative)) == (100, 100)
    quotients = sorted(t / a for t, a in zip(true.tolist(), alone.tolist(), strict=True) if t)
    for part, expected in ((positive, quotients[::-1]), (negative, quotients)):
        found = count(people, part) / independent(people, part)
        assert found.tolist() == pytest.approx(expected[:100])
    assert (count(people, positive) > independent(people, positive)).all()
    assert (count(people, negative) < independent(people, negative)).all()
    assert positive.name.endswith("positive")
    few, _ = Workload.minimality(people, n=30).correlated(people)
    assert len(few) == (count(people, Workload.minimality(people, n=30)) > 0).sum() // 2


def test_one_of_several_sensitive_columns_can_be_asked_about() -> None:
    people = gh.read({"a": [1, 2, 3, 4], "s": [*"xyxy"], "t": [*"uuvv"]}, quasi=["a"], sensitive=["s", "t"])
    assert Workload.anatomy(people, qd=1).sensitive == "s"
    assert list(Workload.anatomy(people, qd=1, sensitive="t").domains) == ["a", "t"]


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"s": 0}, "s"),
        ({"s": 1.5}, "s"),
        ({"n": 0}, "n"),
        ({"qd": 0}, "qd"),
        ({"qd": 7}, "qd"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_what_cannot_be_drawn_is_refused(drawn: Callable[..., Workload], given: dict[str, Any], message: str) -> None:
    if drawn == Workload.angel and "qd" in given:
        return  # it asks about all attributes
    with pytest.raises(gh.ParameterError, match=message):
        drawn(table(), **given)


def test_a_table_without_a_sensitive_attribute_is_refused_and_so_is_no_question() -> None:
    people = gh.read({"a": [1, 2, 3]}, quasi=["a"])
    with pytest.raises(gh.InputError, match="has none"):
        Workload.anatomy(people)
    with pytest.raises(gh.ParameterError, match="n"):
        Workload.anatomy(table(), n=5).correlated(table(), n=0)
