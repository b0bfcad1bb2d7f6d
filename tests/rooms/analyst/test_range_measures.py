# SPDX-License-Identifier: Apache-2.0
"""Sums, averages and quantiles of a column of ranges: between the answers for the lower and for the upper ends."""

from __future__ import annotations

import datetime as dt
from statistics import mean, median
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.errors import DomainError, InputError

N = 600
WIDTH = 100


def people(seed: int = 1) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    age = random.integers(20, 60, N)
    wage = np.round(random.gamma(4, 100, N) + 5 * age, 1)
    return {
        "age": age.tolist(),
        "sex": random.choice(["F", "M"], N).tolist(),
        "wage": wage.tolist(),
        "ill": random.choice(["flu", "cold", "ulcer", "asthma"], N).tolist(),
    }


def table(columns: dict[str, list[Any]], rule: str = f"intervals:{WIDTH}", **roles: Any) -> gh.Microdata:
    quasi = ["age", "sex"]
    return gh.read(columns, quasi=quasi, **({"sensitive": "wage"} | roles), bins={"wage": gh.Taxonomy.of(rule)})


def released(columns: dict[str, list[Any]], recoding: Any, **more: Any) -> gh.Release:
    return gh.publish(table(columns, **more), principle=gh.LDiversity(ell=3), recoding=recoding)


def lower(wages: list[float]) -> list[float]:
    return [wage // WIDTH * WIDTH for wage in wages]


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel(k=3), gh.Boxes()], ids=lambda recoding: recoding.name)
def test_about_everybody_the_interval_goes_from_the_lower_ends_to_the_upper_ends(recoding: Any) -> None:
    columns = people()
    low = lower(columns["wage"])
    found = gh.query(released(columns, recoding), "SELECT SUM(wage), AVG(wage), MEDIAN(wage), QUANTILE(wage, 0.9)")

    (answers,) = found.estimates
    expected = (sum(low), mean(low), median(low), sorted(low)[int(np.ceil(0.9 * N)) - 1])
    widths = (N * WIDTH, WIDTH, WIDTH, WIDTH)
    for answer, least, width in zip(answers, expected, widths, strict=True):
        assert (answer.low, answer.high) == pytest.approx((least, least + width))
        assert answer.value == pytest.approx(least + width / 2)
    assert any("'wage' contains ranges of numbers" in note for note in found.notes)


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel(k=3), gh.Boxes()], ids=lambda recoding: recoding.name)
@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_some_people_contain_what_is_true_of_them(recoding: Any, seed: int) -> None:
    columns = people(seed)
    release = released(columns, recoding)
    rows = list(zip(*columns.values(), strict=True))
    for sex in ("F", "M"):
        own = [wage for age, of, wage, _ in rows if of == sex and age < 45]
        where = f"WHERE sex = '{sex}' AND age < 45"
        (answers,) = gh.query(release, f"SELECT AVG(wage), MEDIAN(wage), SUM(wage) {where}").estimates
        for answer, true in zip(answers, (mean(own), median(own), sum(own)), strict=True):
            assert answer.low <= true <= answer.high
            assert abs(answer.value - true) < 0.15 * true


def test_measures_of_ranges_stand_beside_others_in_groups_in_order_and_of_some_people() -> None:
    columns = people()
    release = released(columns, gh.Anatomy())
    found = gh.query(
        release,
        "SELECT sex, COUNT(*), AVG(wage) AS mean, AVG(age), AVG(wage) FILTER (WHERE age >= 40) AS old, "
        "SUM(CASE WHEN age < 40 THEN wage ELSE 0 END) AS young GROUP BY sex HAVING mean > 10 ORDER BY mean",
    )
    for key, (count, average, age, old, young) in zip(found.keys, found.estimates, strict=True):
        own = [(a, wage) for a, sex, wage, _ in zip(*columns.values(), strict=True) if (sex,) == key]
        assert (count.value, age.value) == pytest.approx((len(own), mean(a for a, _ in own)))
        assert average.low <= mean(wage for _, wage in own) <= average.high
        assert old.low <= mean(wage for a, wage in own if a >= 40) <= old.high
        assert young.low <= sum(wage for a, wage in own if a < 40) <= young.high
    assert [row[1].value for row in found.estimates] == sorted(row[1].value for row in found.estimates)


def test_people_without_a_value_are_left_out_of_averages_and_quantiles_and_add_nothing_to_sums() -> None:
    columns = people()
    columns["wage"] = [None if i % 10 == 0 else wage for i, wage in enumerate(columns["wage"])]
    there = lower([wage for wage in columns["wage"] if wage is not None])
    release = gh.publish(
        gh.read(
            columns,
            quasi=["age", "sex"],
            sensitive="wage",
            bins={"wage": gh.Taxonomy.intervals(width=WIDTH)},
            missing="category",
        ),
        principle=gh.LDiversity(ell=3),
        recoding=gh.Anatomy(),
    )
    ((total, average, middle),) = gh.query(release, "SELECT SUM(wage), AVG(wage), MEDIAN(wage)").estimates

    assert (total.low, total.high) == pytest.approx((sum(there), sum(there) + len(there) * WIDTH))
    assert (average.low, average.high) == pytest.approx((mean(there), mean(there) + WIDTH))
    assert (middle.low, middle.high) == pytest.approx((median(there), median(there) + WIDTH))


def test_nobody_has_no_average_and_a_sum_of_zero() -> None:
    release = released(people(), gh.Anatomy())
    ((total, average, middle),) = gh.query(
        release, "SELECT SUM(wage), AVG(wage), MEDIAN(wage) WHERE age > 90"
    ).estimates

    assert (total.low, total.value, total.high) == (0, 0, 0)
    assert np.isnan(average.value)
    assert np.isnan(middle.value)


def test_ranges_that_are_open_have_a_median_where_it_does_not_lie_in_them_and_no_average() -> None:
    columns = people()
    with pytest.warns(gh.DisclosureWarning):
        release = released(columns, gh.Anatomy(), rule="quantiles:5")
    found = gh.query(release, "SELECT MEDIAN(wage)").only

    assert found.low <= median(columns["wage"]) <= found.high
    with pytest.raises(InputError, match=r"open at one end: .*inf.* Ask for MEDIAN"):
        gh.query(release, "SELECT AVG(wage)")
    ((few, most),) = (found := gh.query(release, "SELECT QUANTILE(wage, 0.01), QUANTILE(wage, 0.99)")).estimates
    wages = sorted(columns["wage"])
    assert few.is_bound
    assert wages[N // 100] < few.high < wages[N // 3]
    assert most.is_bound
    assert wages[-N // 3] < most.low < wages[-N // 100]
    assert (str(few)[:8], str(most)[:9]) == ("at most ", "at least ")
    assert any("has only a bound" in note for note in found.notes)
    assert found.to_dict()["rows"][0]["quantile(wage, 0.01)"] is None


def test_ranges_may_be_a_part_of_a_compound_column() -> None:
    columns = people()
    release = released(columns, gh.Anatomy(), sensitive=["wage", "ill"], together=[("wage", "ill")])
    found = gh.query(release, "SELECT AVG(wage) WHERE ill = 'flu'").only
    own = lower([wage for wage, ill in zip(columns["wage"], columns["ill"], strict=True) if ill == "flu"])

    assert (found.low, found.high) == pytest.approx((mean(own), mean(own) + WIDTH))


def test_codes_and_texts_are_no_ranges() -> None:
    columns = people() | {"code": [str(i % 7) for i in range(N)]}
    for name in ("code", "ill"):
        release = gh.publish(
            gh.read(columns, quasi=["age", "sex"], sensitive=name),
            principle=gh.LDiversity(ell=3),
            recoding=gh.Anatomy(),
        )
        with pytest.raises(DomainError, match=f"SELECT {name}, COUNT"):
            gh.query(release, f"SELECT AVG({name})")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("wage >= 600", lambda wage: wage >= 600),
        ("wage < 600", lambda wage: wage < 600),
        ("NOT wage < 600", lambda wage: wage >= 600),
        ("600 > wage OR wage >= 1000", lambda wage: wage < 600 or wage >= 1000),
        ("wage > -1", lambda wage: True),
        ("wage BETWEEN -5 AND 1e6", lambda wage: True),
        ("wage = 1e7", lambda wage: False),
        ("wage NOT IN (1e7)", lambda wage: True),
        ("wage IN ('[600, 700)', '[700, 800)')", lambda wage: 600 <= wage < 800),
    ],
)
def test_numbers_are_compared_with_the_numbers_in_the_ranges(condition: str, holds: Any) -> None:
    columns = people()
    found = gh.query(released(columns, gh.Anatomy()), f"SELECT COUNT(*), AVG(age) WHERE {condition}")

    assert found.estimates[0][0].value == sum(map(holds, columns["wage"]))


@pytest.mark.parametrize(
    "condition",
    [
        "wage >= 650",
        "wage > 600",
        "wage <= 600",
        "wage BETWEEN 600 AND 700",
        "wage = 600",
        "wage IN (600)",
        "wage <> 650",
    ],
)
def test_a_condition_that_divides_a_range_is_refused_with_one_that_does_not(condition: str) -> None:
    release = released(people(), gh.Anatomy())
    with pytest.raises(DomainError, match=r"divides the range '\[\d+, \d+\)'.* as in wage >= \d+ or wage < \d+"):
        gh.query(release, f"SELECT COUNT(*) WHERE {condition}")


@pytest.mark.parametrize("condition", ["wage >= '600'", "wage < '[600, 700)'", "wage BETWEEN '600' AND 700"])
def test_ranges_are_not_compared_as_texts(condition: str) -> None:
    """As texts, [1000, 1100) comes before [600, 700)."""
    with pytest.raises(DomainError, match="contains ranges of numbers: compare it with a number"):
        gh.query(released(people(), gh.Anatomy()), f"SELECT COUNT(*) WHERE {condition}")


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel(k=3)], ids=lambda recoding: recoding.name)
def test_sums_are_answered_by_what_the_release_teaches_as_averages_are(recoding: Any) -> None:
    random = np.random.default_rng(3)
    n = 3_000
    age = random.integers(20, 60, n)
    wage = np.round(10 * age + random.normal(0, 30, n) + 100, 1)
    columns = {
        "age": age.tolist(),
        "sex": random.choice(["F", "M"], n).tolist(),
        "wage": wage.tolist(),
        "ill": ["x"] * n,
    }
    release = released(columns, recoding)
    young = wage[age < 30]
    found = gh.query(release, "SELECT SUM(wage) WHERE age < 30")

    assert found.model == "learned"
    assert found.only.low <= young.sum() <= found.only.high
    assert abs(found.only.value - young.sum()) < 0.15 * young.sum()
    assert gh.query(release, "SELECT AVG(wage) WHERE age < 30").only.value == pytest.approx(
        found.only.value / gh.query(release, "SELECT COUNT(*) WHERE age < 30").only.value
    )


def test_groups_come_in_the_order_of_the_ranges() -> None:
    release = released(people(), gh.Anatomy())
    low = [float(key.split(",")[0][1:]) for (key,) in gh.query(release, "SELECT wage, COUNT(*) GROUP BY wage").keys]
    down = gh.query(release, "SELECT sex, wage, COUNT(*) GROUP BY sex, wage ORDER BY wage DESC LIMIT 5")

    assert max(low) >= 1_000, "as texts, [1000, 1100) comes before [200, 300)"
    assert low == sorted(low)
    assert [float(wage.split(",")[0][1:]) for _, wage in down.keys][:1] == [max(low)]


@pytest.mark.parametrize("rule", ["dates:month", "dates:quarter", "quantiles:4"])
@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_dates_are_compared_with_the_days_in_the_ranges(rule: str) -> None:
    random = np.random.default_rng(5)
    days = [dt.date(2023, 12, 1) + dt.timedelta(days=int(day)) for day in random.integers(0, 400, N)]
    columns = people() | {"seen": days}
    roles: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "seen"}
    release = gh.publish(
        gh.read(columns, **roles, bins={"seen": gh.Taxonomy.of(rule)}),
        principle=gh.LDiversity(ell=2),
        recoding=gh.Anatomy(),
    )
    answer = gh.query(release, "SELECT seen, COUNT(*) GROUP BY seen ORDER BY seen")
    assert answer.keys == gh.query(release, "SELECT seen, COUNT(*) GROUP BY seen").keys
    border = str(answer.keys[1][0]).split(",")[0][1:] if rule == "quantiles:4" else "2024-04-01"
    day = dt.date.fromisoformat(border)
    for written in (f"'{border}'", f"DATE '{border}'"):
        for sign, holds in ((">=", day.__le__), ("<", day.__gt__)):
            found = gh.query(release, f"SELECT COUNT(*) WHERE seen {sign} {written}").only
            assert (found.value, found.error) == (sum(map(holds, days)), 0)
    with pytest.raises(DomainError, match="the condition divides the range"):
        gh.query(release, "SELECT COUNT(*) WHERE seen >= '2024-05-17'")
    with pytest.raises(DomainError, match=r"contains ranges: compare it, as in seen [<>]="):
        gh.query(release, "SELECT COUNT(*) WHERE seen LIKE '2024%'")
    if rule != "quantiles:4":  # whose last range is open
        notes = gh.query(release, "SELECT COUNT(*) WHERE seen > '2030-01-01'").notes
        assert any("no published range" in note for note in notes)
    with pytest.raises(DomainError, match="AVG needs a column of numbers"):
        gh.query(release, "SELECT AVG(seen)")


# --- quasi-identifiers of ranges --------------------------------------------------------------------------------------


def of_quasi_ranges(recoding: Any, rule: str = "intervals:5") -> tuple[dict[str, list[Any]], gh.Release]:
    columns = people()
    made = gh.read(columns, quasi=["age", "sex"], sensitive="ill", bins={"age": gh.Taxonomy.of(rule)})
    return columns, gh.publish(made, principle=gh.LDiversity(ell=3), recoding=recoding)


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel(k=3), gh.Boxes()], ids=lambda recoding: recoding.name)
def test_quasi_identifiers_of_ranges_are_in_the_order_of_their_numbers(recoding: Any) -> None:
    columns, release = of_quasi_ranges(recoding)
    for condition, holds in (("age >= 40", lambda age: age >= 40), ("age < 25", lambda age: age < 25)):
        found = gh.query(release, f"SELECT COUNT(*) WHERE {condition}").only
        assert found.low <= sum(map(holds, columns["age"])) <= found.high
    keys = [low for ((low,),) in ((key,) for key in gh.query(release, "SELECT age, COUNT(*) GROUP BY age").keys)]
    assert keys == [f"[{low}, {low + 5})" for low in range(20, 60, 5)]
    middle = gh.query(release, "SELECT MEDIAN(age) WHERE sex = 'F'").only
    assert (
        middle.low
        <= median(a for a, sex in zip(columns["age"], columns["sex"], strict=True) if sex == "F")
        <= middle.high
    )
    assert gh.sample(release).num_rows == N
    with pytest.raises(gh.NotSupported, match="because this quasi-identifier contains ranges"):
        gh.query(release, "SELECT AVG(age)")
