"""A release is held to what it promises: counted again from its tables alone, by the second implementation."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.journeys.recheck import verify_parts, verify_release, verify_stream
from glasshouse.principles.background_sensitive import prevents_breach, prevents_growth
from glasshouse.verification.beliefs import growth_stays_within, worst_belief
from tests.rooms.release.kinds import ALL, of_kind, write
from tests.tiers import tables as some

ORDER = ["mild", "medium", "grave", "worst"]
TREE = gh.Taxonomy.from_nested({"any": {"lungs": ["mild", {"deep": ["medium", "never"]}], "rest": ["grave", "worst"]}})
PEOPLE = {"age": list(range(24)), "state": [ORDER[(i * i + i // 5) % 4] for i in range(24)]}


def failing(release: gh.Release) -> list[str]:
    found = verify_release(release)
    assert found.holds is (not any(not check.holds for check in found.checks))
    return [check.asked for check in found.checks if not check.holds]


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ALL)
def test_every_kind_of_release_keeps_what_it_promises(kind: str, format: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, format)
    found = verify_release(folder)

    assert found.holds, str(found)
    assert len(found.checks) >= 4
    assert verify_release(str(folder)).holds


PRINCIPLES: list[Any] = [
    gh.KAnonymity(k=4),
    gh.LDiversity(ell=3),
    gh.DistinctLDiversity(ell=3),
    gh.EntropyLDiversity(ell="2.5"),
    gh.RecursiveLDiversity(c=2, ell=2),
    gh.DesignatedLDiversity(ell=3, values=("mild",)),
    gh.AlphaKAnonymity(alpha="0.4", k=4),
    gh.TCloseness(t="0.2"),
    gh.TCloseness(t="0.2", distance="ordered"),
    gh.TCloseness(t="0.2", distance="hierarchical"),
    gh.AllOf(principles=(gh.KAnonymity(k=3), gh.LDiversity(ell=2), gh.TCloseness(t="0.3", distance="ordered"))),
]


def roles(principle: Any) -> dict[str, Any]:
    if "hierarchical" in repr(principle):
        return {"taxonomies": {"state": TREE}}
    return {"ordered": {"state": ORDER}}


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("principle", PRINCIPLES, ids=repr)
def test_every_principle_is_counted_again_after_the_journey_through_a_folder(
    principle: Any, format: str, tmp_path: Path
) -> None:
    table = gh.read(PEOPLE, quasi=["age"], sensitive="state", **roles(principle))
    release = gh.publish(table, principle=principle, method=gh.Mondrian(), recoding=gh.Boxes())
    release.save(tmp_path / "release", format=format)

    assert verify_release(tmp_path / "release").holds
    assert "never" not in (tmp_path / "release" / "datapackage.json").read_text()  # a value that nobody has

    broken = pa.table(
        {"age": [f"[{i // 2 * 2}, {i // 2 * 2 + 1}]" for i in range(24)], "state": ["mild"] * 12 + ["worst"] * 12}
    )
    assert failing(replace(release, tables={"data": broken}))


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_closeness_is_measured_along_the_order_or_tree_that_was_declared(distance: Any, tmp_path: Path) -> None:
    """The exact distance from the folder is the one that the microdata have; one step less, and it does not hold."""
    principle = gh.TCloseness(t="0.45", distance=distance)
    table = gh.read(PEOPLE, quasi=["age"], sensitive="state", **roles(principle))
    release = gh.publish(table, principle=principle, method=gh.Mondrian(), recoding=gh.Boxes())
    release.save(tmp_path / "release")
    rows = {"age": release.data["age"].to_pylist(), "state": release.data["state"].to_pylist()}
    direct = gh.verify(rows, quasi=["age"], sensitive="state", **roles(principle))

    t = verify_release(tmp_path / "release").t_exact

    assert t == direct.t_exact
    less = str(t - Fraction(1, 10**6))
    stricter = replace(release.recipe, principle={"name": "t-closeness", "t": less, "distance": distance})
    assert any(asked.startswith("t = ") for asked in failing(replace(release, recipe=stricter)))


def test_an_order_that_the_release_does_not_tell_is_asked_for() -> None:
    principle = gh.TCloseness(t="0.3", distance="ordered")
    release = gh.publish(
        gh.read(PEOPLE, quasi=["age"], sensitive="state", ordered={"state": ORDER}), principle=principle
    )
    silent = replace(release, columns=tuple(replace(column, axis=None) for column in release.columns))

    with pytest.raises(gh.DomainError, match="has no order"):
        verify_release(silent)


# ---------------------------------------------------------------------------------------------- what it says of itself


PARTS = {
    "promise": "nobody can learn anything",
    "adversary": "linking",
    "adversary_knows": "an attacker who knows everything",
    "theorem": "it is so",
    "assumptions": (),
    "limits": (),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["angel", "perturbed", "suppressed"])
def test_a_guarantee_that_differs_in_a_word_from_the_recipes_does_not_hold(kind: str, part: str) -> None:
    release = of_kind(kind)
    if getattr(release.guarantee, part) == PARTS[part]:
        pytest.skip("it is so already")
    stated = replace(release, guarantee=replace(release.guarantee, **{part: PARTS[part]}))

    (failed,) = failing(stated)
    assert failed.endswith("matches the recipe word for word")


def test_a_stricter_recipe_than_was_followed_does_not_hold() -> None:
    release = of_kind("angel")
    stricter = replace(release.recipe, principle={"name": "l-diversity", "ell": 5})

    assert "ell = 5" in failing(replace(release, recipe=stricter))


def test_a_number_of_tuples_that_the_tables_do_not_have_does_not_hold() -> None:
    release = of_kind("boxes")

    assert failing(replace(release, n_tuples=41)) == ["as many records as the release says"]


def shuffled(table: pa.Table) -> pa.Table:
    order = list(range(table.num_rows))
    random.Random(1).shuffle(order)
    return table.take(order)


def people(numbers: Any, **options: Any) -> gh.Microdata:
    columns = {
        "id": list(numbers),
        "age": [20 + i * 7 % 31 for i in numbers],
        "city": ["abc"[i % 3] for i in numbers],
        "ill": [options.get("values", "stuvwxy")[i % len(options.get("values", "stuvwxy"))] for i in numbers],
    }
    accepted = {"accept": options["accept"]} if "accept" in options else {}
    return gh.read(columns, identifier="id", quasi=["age", "city"], sensitive="ill", **accepted)


ORDERED = {
    "boxes": (gh.Boxes(), "data"),
    "anatomy": (gh.Anatomy(), "qit"),
    "values of anatomy": (gh.Anatomy(), "st"),
    "permutation": (gh.Permutation(), "data"),
    "angel": (gh.Angel(k=2), "gt"),
    "marginals": (gh.Angel(k=2, marginals=(("age", "ill"), ("age", "city"))), "gt_2"),
}


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("name", ORDERED)
def test_rows_in_another_order_are_noticed_though_every_sum_is_true(name: str, format: str, tmp_path: Path) -> None:
    """The r-th person of a group may stand where the r-th value of the group does: all counts are as promised."""
    recoding, table = ORDERED[name]
    release = gh.publish(people(range(90)), principle=gh.LDiversity(ell=3), recoding=recoding)
    changed = replace(release, tables={**release.tables, table: shuffled(release.tables[table])})
    for made in (release, changed):  # with true sums
        folder = tmp_path / str(made is release)
        made.save(folder, format=format)
        for place in (folder, shutil.make_archive(str(folder), "zip", folder)):
            found = gh.verify(place)
            assert found.holds is (made is release)
            told = f"the rows of the table {table!r} are not in ascending order"
            assert (told in found.verdict) is (made is changed)


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_people_who_left_are_in_the_order_of_their_cells(format: str, tmp_path: Path) -> None:
    first = {"principle": gh.LDiversity(ell=3), "recoding": "anatomy", "edition": 1}
    gh.publish(people(range(90)), out=tmp_path / "1", **first)
    release = gh.publish(people(range(20, 150)), after=tmp_path / "1", out=tmp_path / "2", edition=2)
    assert release.left is not None
    assert gh.verify(tmp_path / "2").holds

    replace(release, left=shuffled(release.left)).save(tmp_path / "r", format=format)
    assert "the rows of the table 'left' are not in ascending order" in gh.verify(tmp_path / "r").verdict


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation()])
def test_k_and_the_risk_are_not_claimed_where_quasi_identifiers_are_exact(recoding: Any, tmp_path: Path) -> None:
    release = gh.publish(people(range(90)), principle=gh.LDiversity(ell=3), recoding=recoding, out=tmp_path / "out")
    (table,) = (table for table in release.tables.values() if "age" in table.column_names)
    assert gh.verify(table, quasi=["age", "city"]).k == 1  # so somebody can be recognised

    release.save(tmp_path / "r")
    for found in (gh.verify(release), verify_stream(tmp_path / "r")):
        told = found.to_dict()
        assert found.holds
        assert (found.k, found.risk, told["k"]["value"], told["risk"]) == (None, None, None, None)
        assert found.smallest.size >= 3
        assert not any(word in str(found) for word in ("smallest group, k", "prosecutor", "marketer"))
        assert "k=" not in repr(found)
        assert any(said.startswith("k and the re-identification risk are not given") for said in found.counting)
    achieved = json.loads((tmp_path / "out" / "audit" / "report.json").read_text())["achieved"]
    assert (achieved["k"]["value"], achieved["risk"]) == (None, None)


def test_k_and_the_risk_of_angel_are_those_of_its_generalized_table(tmp_path: Path) -> None:
    release = gh.publish(people(range(90)), principle=gh.LDiversity(ell=5), recoding=gh.Angel(k=2))
    cells = gh.verify(release.tables["gt"], quasi=["age", "city"])
    assert cells.k is not None
    assert cells.k < 5

    release.save(tmp_path / "r")
    for found in (gh.verify(release), verify_stream(tmp_path / "r"), verify_parts(tmp_path / "r", in_turn)):
        assert (found.k, found.risk) == (cells.k, cells.risk)
        assert any(said.startswith("k and the re-identification risk are about the rows") for said in found.counting)


def in_turn(function: Any, items: list[Any]) -> list[Any]:
    return [function(item) for item in items]


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Boxes(), gh.Angel(), gh.Permutation()])
def test_a_star_among_sensitive_values_is_not_counted_as_suppressed(recoding: Any) -> None:
    table = people(range(90), values="*stuv", accept=["missing-words"])
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding)

    assert "suppressed cells: none" in gh.verify(release).counting


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel()])
def test_missing_values_are_counted_in_every_table_of_a_release(recoding: Any) -> None:
    given = {
        "age": [20 + i % 40 if i % 30 else None for i in range(90)],
        "ill": [f"ill {i % 5}" for i in range(90)],
        "drug": [f"drug {i % 4}" if i % 6 else None for i in range(90)],
    }
    table = gh.read(given, quasi=["age"], sensitive=["ill", "drug"], missing="category")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding)
    assert len(release.tables) == 3

    found = gh.verify(release)
    (said,) = (line for line in found.counting if line.startswith("missing values"))
    assert "drug (15)" in said
    assert ("age (3)" in said) == isinstance(recoding, gh.Anatomy)  # ANGEL hides them in cells
    assert len(set(found.counting)) == len(found.counting)


def test_buckets_below_k_are_noticed() -> None:
    release = of_kind("angel")
    larger = replace(release.recipe, recoding={**release.recipe.recoding, "k": 30})

    assert "k = 30" in failing(replace(release, recipe=larger))


def test_tables_that_tell_different_sizes_are_noticed_and_named() -> None:
    release = of_kind("anatomy")
    qit = release.tables["qit"]
    numbers = qit["Group-ID"].to_pylist()
    numbers[0] = numbers[-1]
    other = qit.set_column(qit.column_names.index("Group-ID"), "Group-ID", pa.array(numbers))
    found = verify_release(replace(release, tables={**release.tables, "qit": other}))

    assert found.holds is False
    assert "does not have as many records in every group" in found.checks[0].asked
    assert "bug" not in str(found)


# --------------------------------------------------------------------------------------------------- perturbed samples


def test_a_retention_that_is_too_large_for_the_promise_does_not_hold() -> None:
    release = of_kind("perturbed")
    assert Fraction(str(release.recipe.recoding["p"])) < Fraction("0.9")
    more = replace(release.recipe, recoding={**release.recipe.recoding, "p": "0.9"})

    assert any("guarantee" in asked for asked in failing(replace(release, recipe=more)))


def test_a_value_outside_the_declared_domain_does_not_hold() -> None:
    release = of_kind("perturbed")
    data = release.data
    values = ["plague", *data["disease"].to_pylist()[1:]]
    strange = data.set_column(data.column_names.index("disease"), "disease", pa.array(values))

    assert failing(replace(release, tables={"data": strange})) == ["every published value is in the declared domain"]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [(lambda g: [1, *g[1:]], "fewer than 3 records"), (lambda g: [g[0] + 1, *g[1:]], "do not add up")],
)
def test_a_sample_with_wrong_sizes_does_not_hold(sizes: Any, reason: str) -> None:
    release = of_kind("perturbed")
    data = release.data
    wrong = data.set_column(data.column_names.index("G"), "G", pa.array(sizes(data["G"].to_pylist())))

    (asked,) = failing(replace(release, tables={"data": wrong}))
    assert reason in asked


def test_both_implementations_agree_on_what_a_perturbed_sample_lets_anybody_believe() -> None:
    chosen = random.Random(17)
    agreed = set()
    for _ in range(some(6000)):
        n_values, k = chosen.randint(1, 9), chosen.randint(1, 9)
        p = Fraction(chosen.randint(0, 20), 20)
        lambda_ = Fraction(chosen.randint(1, 12), 12)
        bound = Fraction(chosen.randint(2, 19), 20)
        low = bound * Fraction(chosen.randint(1, 9), 10)
        about = {"lambda_": lambda_, "k": k}

        breach = prevents_breach(p, n_values, rho1=low, rho2=bound, **about)
        growth = prevents_growth(p, n_values, delta=bound, **about)

        assert breach is (worst_belief(p, n_values, k, lambda_, low) <= bound)
        assert growth is growth_stays_within(bound, p, n_values, k, lambda_), (p, n_values, k, lambda_, bound)
        agreed |= {("breach", breach), ("growth", growth)}
    assert len(agreed) == 4


def test_a_recipe_that_nobody_knows_gives_our_own_error() -> None:
    release = of_kind("boxes")
    for part, data in (
        ("principle", {"name": "magic"}),
        ("method", {"name": "mondrian", "x": 1}),
        ("method", {"name": 3}),
    ):
        with pytest.raises(gh.InputError):
            verify_release(replace(release, recipe=replace(release.recipe, **{part: data})))


def test_numbers_that_are_names_are_recounted_as_such() -> None:
    columns = {"age": list(range(40)), "job": [i % 5 for i in range(40)]}
    table = gh.read(columns, quasi=["age"], sensitive="job", categorical=["job"])

    for recoding in (gh.Angel(), gh.Boxes(), gh.Anatomy()):
        assert gh.verify(gh.publish(table, principle=gh.LDiversity(ell=3), recoding=recoding)).holds
