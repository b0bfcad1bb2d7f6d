# SPDX-License-Identifier: Apache-2.0
"""Weighted answers, and answers about two sensitive columns, against all deals of tiny groups in fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.analyst.answers import survey_weight
from glasshouse.analyst.answers.joint_answers import JointTotals
from glasshouse.analyst.questions.sql import question_of
from glasshouse.supports.evidence import Evidence
from tests.tiers import tables
from tests.twins import weighting as twin

QUASI = ["age", "w"]


def _table(seed: int, n: int = 9, **more: Any) -> gh.Microdata:
    random = np.random.default_rng(seed)
    data = {
        "age": random.integers(20, 26, n),
        "w": np.round(random.gamma(2.0, 4.0, n) + 0.5, 2),
        "ill": np.array(["flu", "cold", "gout", "ulcer"])[random.integers(0, 4, n)],
        "drug": np.array(["a", "b", "c", "d"])[random.integers(0, 4, n)],
    }
    given: dict[str, Any] = {"sensitive": "ill", "bins": {"w": gh.Taxonomy.intervals(width=6)}} | more
    return gh.read(pa.table(data), quasi=["age"], weight="w", **given)


def _release(seed: int, **more: Any) -> gh.Release | None:
    table = _table(seed, **more)
    try:
        return gh.publish(table, principle="2-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(seed))
    except gh.errors.Infeasible:
        return None


def _groups(release: gh.Release, sensitive: list[str]) -> list[twin.Group]:
    rows = {name: table.to_pylist() for name, table in release.tables.items()}
    return twin.groups_of(rows, QUASI, sensitive)


def _squares(release: gh.Release) -> dict[float, Fraction]:
    assert release.weight is not None
    told = release.weight.weight
    assert told is not None
    return {float(m): Fraction(d) ** 2 for m, d in zip(told["means"], told["deviations"], strict=True)}


def _small(release: gh.Release, sensitive: list[str], most: int) -> bool:
    return all(len(people) <= most for people, _ in _groups(release, sensitive))


def _fails(test: Callable[[int], None]) -> bool:
    """Whether a test notices on one of some tables that something is wrong."""
    for seed in range(40):
        try:
            test(seed)
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("seed", range(tables(400)))
def test_weighted_counts_sums_and_averages_are_those_of_all_deals(seed: int) -> None:
    release = _release(seed, n=8 + seed % 5)
    if release is None or not _small(release, ["ill"], 6):
        return
    groups, squares = _groups(release, ["ill"]), _squares(release)

    def inside(own: twin.Person) -> bool:
        return bool(own["ill"] in ("flu", "cold") and own["age"] <= 23) or own["ill"] == "gout"

    amounts = [lambda own: inside(own), lambda own: inside(own) * own["age"]]
    weighted = [lambda own, a=a: Fraction(own["w"]) * Fraction(a(own)) for a in amounts]
    means, covariances = twin.totals(groups, weighted)
    added = twin.hidden(groups, amounts, lambda own: squares[own["w"]])
    whole = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(covariances, added, strict=True)]

    sql = "SELECT COUNT(*), SUM(age), AVG(age) WHERE ill IN ('flu', 'cold') AND age <= 23 OR ill = 'gout'"
    known = {
        row["ill"] for table in release.tables.values() if "ill" in table.column_names for row in table.to_pylist()
    }
    if not {"flu", "cold", "gout"} <= known:
        return
    answer = gh.query(release, sql, model="uniform")
    count, total, average = answer.estimates[0]
    assert answer.weight == "w"
    assert count.value == pytest.approx(float(means[0]))
    assert total.value == pytest.approx(float(means[1]))
    assert count.error**2 == pytest.approx(float(whole[0][0]), abs=1e-9)
    assert total.error**2 == pytest.approx(float(whole[1][1]), abs=1e-6)
    if means[0]:
        value = means[1] / means[0]
        spread = whole[1][1] - 2 * value * whole[0][1] + value**2 * whole[0][0]
        assert average.value == pytest.approx(float(value))
        assert average.error**2 == pytest.approx(float(spread / means[0] ** 2), abs=1e-9)


def test_groups_by_value_and_by_quasi_identifier_are_weighted_alike() -> None:
    release = next(own for own in map(_release, range(50)) if own is not None and _small(own, ["ill"], 6))
    groups, squares = _groups(release, ["ill"]), _squares(release)
    for by in ("ill", "age", "w"):
        found = gh.query(release, f"SELECT {by}, COUNT(*) GROUP BY {by}", model="uniform")
        for (key,), (estimate,) in zip(found.keys, found.estimates, strict=True):
            own = [lambda person, by=by, key=key: person[by] == key]
            weighted = [lambda person, by=by, key=key: Fraction(person["w"]) * (person[by] == key)]
            (mean,), ((variance,),) = twin.totals(groups, weighted)
            ((more,),) = twin.hidden(groups, own, lambda person: squares[person["w"]])
            assert estimate.value == pytest.approx(float(mean))
            assert estimate.error**2 == pytest.approx(float(variance + more), abs=1e-9)


def test_everybody_counts_as_much_as_all_exact_weights_and_without_error() -> None:
    table = gh.synthetic.hospital(2_000, seed=3)
    data = {column.name: column.domain.decode(column.codes) for column in (*table.quasi, *table.sensitive)}
    weights = np.round(np.random.default_rng(3).lognormal(3.0, 0.7, 2_000), 3)
    table = gh.read(pa.table(data | {"w": weights}), quasi=["age", "sex", "zipcode"], sensitive="disease", weight="w")
    release = gh.publish(table, principle="3-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(3))
    for model in ("learned", "uniform"):
        everybody = gh.query(release, "SELECT COUNT(*)", model=model)
        assert everybody.value == pytest.approx(float(weights.sum()), rel=1e-5)
        assert everybody.error == 0.0
        assert "weighted by w" in str(everybody)
        assert "sampling error" in str(everybody)
        assert gh.query(release, "SELECT COUNT(*)", model=model, weighted=False).value == 2_000
        some = gh.query(release, "SELECT COUNT(*) WHERE disease = 'asthma' AND age < 50", model=model)
        assert some.error > 0
        assert gh.query(release, "SELECT COUNT(*) WHERE age < 50", model=model).error > 0


def test_what_cannot_be_weighted_is_refused_by_name() -> None:
    release = next(own for own in map(_release, range(50)) if own is not None)
    with pytest.raises(gh.errors.NotSupported, match="weighted=False"):
        gh.query(release, "SELECT SUM(w)")
    plain = gh.publish(gh.examples.anatomy_table1(), principle="2-diversity")
    with pytest.raises(gh.errors.InputError, match="no survey weight"):
        gh.query(plain, "SELECT COUNT(*)", weighted=True)
    assert gh.query(plain, "SELECT COUNT(*)").weight is None


def test_a_variant_without_the_hidden_part_of_weights_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_weight.Weighting, "added", lambda self, found, own, apart: found)
    assert _fails(test_weighted_counts_sums_and_averages_are_those_of_all_deals)


# --- two sensitive columns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(tables(200)))
def test_totals_over_two_columns_are_those_of_two_shuffles(seed: int, weighted: bool) -> None:
    release = _release(seed, n=8, sensitive=["ill", "drug"])
    if release is None or not _small(release, ["ill", "drug"], 4):
        return
    groups, squares = _groups(release, ["ill", "drug"]), _squares(release)
    (flu, cold, *_), (a, b, *_) = (
        sorted({value for _, held in groups for value in held[name]}) for name in ("ill", "drug")
    )

    def inside(own: twin.Person) -> bool:
        first = own["ill"] == flu and own["drug"] in (a, b) and own["age"] <= 23
        return bool(first or (own["ill"] == cold and own["drug"] == b))

    amounts = [lambda own: inside(own), lambda own: inside(own) * own["age"]]
    weigh = (lambda own: Fraction(own["w"])) if weighted else (lambda _: Fraction(1))
    means, covariances = twin.totals(groups, [lambda own, of=of: weigh(own) * Fraction(of(own)) for of in amounts])
    sql = f"WHERE ill = '{flu}' AND drug IN ('{a}', '{b}') AND age <= 23 OR ill = '{cold}' AND drug = '{b}'"
    if weighted:
        more = twin.hidden(groups, amounts, lambda own: squares[own["w"]])
        covariances = [list(map(sum, zip(*rows, strict=True))) for rows in zip(covariances, more, strict=True)]
    evidence = Evidence(release=release)
    question = question_of(f"SELECT COUNT(*), SUM(age) {sql}", evidence.asked_kinds, evidence.clock)
    found = JointTotals.of(evidence, question, evidence.weight if weighted else None).independent()
    assert found.means.tolist() == pytest.approx([float(mean) for mean in means])
    assert found.covariances.tolist() == [pytest.approx(list(map(float, row)), abs=1e-6) for row in covariances]
    answer = gh.query(release, f"SELECT COUNT(*), SUM(age) {sql}", model="uniform", weighted=weighted)
    assert [estimate.value for estimate in answer.estimates[0]] == pytest.approx([float(mean) for mean in means])
    assert any("published separately" in note for note in answer.notes)


def _nothing(joint: JointTotals, *_: int) -> Any:
    return np.zeros(len(joint.sizes))


def test_a_variant_that_deals_values_with_replacement_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JointTotals, "_held_by_both", _nothing)
    assert _fails(lambda seed: test_totals_over_two_columns_are_those_of_two_shuffles(seed, weighted=False))


@pytest.mark.parametrize("seed", range(tables(100)))
def test_the_interval_of_a_count_covers_every_way_in_which_two_columns_may_go_together(seed: int) -> None:
    release = _release(seed, n=8, sensitive=["ill", "drug"])
    if release is None or not _small(release, ["ill", "drug"], 4):
        return
    groups = _groups(release, ["ill", "drug"])
    values = {name: sorted({v for _, held in groups for v in held[name]}) for name in ("ill", "drug")}
    ill, drug = values["ill"][0], values["drug"][0]
    ends = [twin.joint_ends(group, lambda own: own["ill"] == ill and own["drug"] == drug) for group in groups]
    answer = gh.query(
        release, f"SELECT COUNT(*) WHERE ill = '{ill}' AND drug = '{drug}'", model="uniform", weighted=False
    )
    low, high = answer.interval
    assert low <= sum(least for least, _ in ends) + 1e-9
    assert high >= sum(most for _, most in ends) - 1e-9


def test_three_columns_and_sums_of_sensitive_values_are_refused() -> None:
    data = {"age": [1, 2, 3, 4], "a": list("xyxy"), "b": list("xxyy"), "c": [1, 2, 2, 1]}
    table = gh.read(data, quasi=["age"], sensitive=["a", "b", "c"], categorical=["c"])
    release = gh.publish(table, principle="2-diversity", recoding=gh.Anatomy())
    with pytest.raises(gh.errors.NotSupported, match="ask about at most two of them"):
        gh.query(release, "SELECT COUNT(*) WHERE a = 'x' AND b = 'x' AND c = 1")
    with pytest.raises(gh.errors.NotSupported, match=r"COUNT\(\*\)"):
        gh.query(release, "SELECT SUM(c) WHERE a = 'x'")


# --- a real table -----------------------------------------------------------------------------------------------------


def test_intervals_cover_exact_weighted_counts_of_a_real_table(shared_data: Path) -> None:
    path = shared_data / "adult.parquet"
    if not path.exists():
        pytest.skip("the Adult table (../shared/data/adult.parquet) is not here")
    quasi = ["age", "education", "race", "sex"]
    people = pq.read_table(path, columns=[*quasi, "occupation", "fnlwgt"]).drop_null().slice(0, 4_000)
    table = gh.read(people, quasi=quasi, sensitive="occupation", weight="fnlwgt")
    release = gh.publish(table, principle="4-diversity", recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    weights, age, sex, occupation = (np.asarray(people[name]) for name in ("fnlwgt", "age", "sex", "occupation"))
    covered = []
    for low in range(18, 60, 3):
        for woman in ("Female", "Male"):
            for work in (None, "Sales", "Craft-repair"):
                inside = (age >= low) & (age < low + 9) & (sex == woman)
                sql = f"SELECT COUNT(*) WHERE age >= {low} AND age < {low + 9} AND sex = '{woman}'"
                if work is not None:
                    inside &= occupation == work
                    sql += f" AND occupation = '{work}'"
                low_end, high_end = gh.query(release, sql).interval
                covered.append(low_end <= weights[inside].sum() <= high_end)
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize(("recoding", "rough"), [(gh.Boxes(), True), (gh.Angel(k=2), False), (gh.Anatomy(), False)])
def test_answers_of_boxes_say_that_weights_in_ranges_are_rough(recoding: Any, rough: bool) -> None:
    table = _table(1, n=400)
    release = gh.publish(table, principle="2-diversity", recoding=recoding, source=gh.Source.seeded(1))
    notes = gh.query(release, "SELECT COUNT(*)").notes
    assert any("so weighted answers are rough" in note for note in notes) is rough
