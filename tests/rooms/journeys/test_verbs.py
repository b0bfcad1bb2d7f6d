# SPDX-License-Identifier: Apache-2.0
"""The verbs of the package: what each takes, by object or by text, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.streaming.publish import publish_file

PATIENTS = gh.read(
    gh.synthetic.hospital_table(200, seed=3),
    quasi=["age", "sex", "zipcode"],
    sensitive="disease",
    taxonomies={"zipcode": gh.Taxonomy.prefix(length=5)},
)
SEEDED = {"source": gh.Source.seeded(5), "threads": 1}


# --- publish ----------------------------------------------------------------------------------------------------------


def test_publish_writes_release_and_audit_where_it_is_told(tmp_path: Path) -> None:
    release = gh.publish(PATIENTS, principle=gh.LDiversity(3), out=tmp_path / "out", format="csv", title="Patients")

    assert {"release", "audit"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert (tmp_path / "out" / "release" / "gt.csv").exists()
    loaded = gh.load(tmp_path / "out" / "release")
    assert (loaded.title, loaded.guarantee) == ("Patients", release.guarantee)


@pytest.mark.parametrize(
    "given",
    [{"format": "csv"}, {"force": True}, {"allow_seed": True}, {"finishing": print}],
    ids=lambda given: next(iter(given)),
)
def test_what_says_how_a_release_is_written_needs_a_place(given: dict[str, Any]) -> None:
    with pytest.raises(gh.InputError, match=f"{next(iter(given))} is for a release that is written.*out="):
        gh.publish(PATIENTS, principle="3-diversity", **given)


def test_a_release_that_is_not_written_can_have_a_title() -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", title="Patients", licence="CC-BY-4.0")

    assert (release.title, release.licence) == ("Patients", "CC-BY-4.0")


def test_nothing_is_published_where_something_stands_already(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "mine.txt").write_text("mine")

    with pytest.raises(gh.OutputError):
        gh.publish(PATIENTS, principle="3-diversity", out=tmp_path)
    assert [tmp_path / "release" / "mine.txt"] == [path for path in tmp_path.rglob("*") if path.is_file()]


# --- by text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "principle",
    [
        gh.KAnonymity(10),
        gh.LDiversity(5),
        gh.DistinctLDiversity(3),
        gh.EntropyLDiversity("3/2"),
        gh.EntropyLDiversity("7/3"),
        gh.RecursiveLDiversity("0.5", 3),
        gh.AlphaKAnonymity("1/3", 4),
        gh.TCloseness(0.2),
        gh.AllOf(gh.KAnonymity(10), gh.EntropyLDiversity(2), gh.TCloseness("1/7")),
    ],
    ids=repr,
)
def test_a_principle_is_named_by_its_title(principle: Any) -> None:
    assert principle == catalog.chosen_principle(principle.title)
    assert principle == catalog.chosen_principle(principle.to_data())
    assert {"name": principle} == catalog.chosen_principle({"name": principle.title})  # of a column that is called so


def test_what_is_named_by_text_publishes_the_same() -> None:
    chosen = gh.publish(PATIENTS, principle=gh.LDiversity(3), method=gh.Mondrian(), recoding=gh.Boxes(), **SEEDED)
    named = gh.publish(PATIENTS, principle="3-diversity", method="mondrian", recoding="boxes", **SEEDED)

    assert named.data.equals(chosen.data)
    assert named.recipe == chosen.recipe


def test_a_principle_for_each_column_may_be_named_by_text() -> None:
    columns = {"age": [1, 2, 3, 4], "disease": list("abab"), "work": list("xxyy")}
    table = gh.read(columns, quasi=["age"], sensitive=["disease", "work"])
    named = gh.publish(table, principle={"disease": "2-diversity", "work": "distinct 2-diversity"}, method="separate")

    assert named.recipe.principle["columns"]["work"] == {"name": "distinct-l-diversity", "ell": 2}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"principle": "l-diversity"}, "such as '5-diversity'"),
        ({"principle": "3-diversty"}, "no principle '3-diversty'"),
        ({"principle": "1-diversity"}, "ell must be an integer >= 2"),
        ({"principle": {"disease": "3-divers"}}, "no principle '3-divers'"),
        ({"method": "miror"}, "no method 'miror': did you mean 'mirror'"),
        ({"method": "refined"}, r"needs coarse, as in gh\.Refined\(coarse="),
        ({"recoding": "angle"}, "no recoding 'angle': did you mean 'angel'"),
        ({"recoding": {"name": "angel", "l": 3}}, "'angel' has no parameter 'l': it has k, marginals, cells"),
    ],
)
def test_a_name_that_is_not_there_is_told(given: dict[str, Any], told: str) -> None:
    with pytest.raises(gh.GlasshouseError, match=told):
        gh.publish(PATIENTS, **{"principle": "3-diversity", **given})


def test_attacks_are_named_by_text() -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", recoding="boxes", **SEEDED)
    knowledge = gh.Knowledge(external=PATIENTS)

    for name in ("linking", "reverse-engineering"):
        named = gh.attack(release, name, knowledge=knowledge)
        assert named.to_dict() == gh.attack(release, catalog.ATTACKS[name](), knowledge=knowledge).to_dict()
    assert (
        gh.attack(release, knowledge=knowledge).to_dict()
        == gh.attack(release, "linking", knowledge=knowledge).to_dict()
    )
    with pytest.raises(gh.InputError, match="no attack 'linkage': did you mean 'linking'"):
        gh.attack(release, "linkage", knowledge=knowledge)


def test_comparisons_files_and_other_tools_tables_take_names_too(tmp_path: Path) -> None:
    found = gh.compare(
        PATIENTS, principle="3-diversity", methods=["separate"], recodings=["boxes"], runs=1, processes=0
    )
    assert [("separate", "boxes")] == [(row.method, row.recoding) for row in found.rows]

    (tmp_path / "people.csv").write_text("age,ill\n" + "".join(f"{i},{'abc'[i % 3]}\n" for i in range(30)))
    made = publish_file(
        tmp_path / "out", tmp_path / "people.csv", quasi=["age"], sensitive="ill", principle="3-diversity"
    )
    assert made.recipe.principle == {"name": "l-diversity", "ell": 3}

    theirs = {"age": ["20-30"] * 4, "ill": list("abab")}
    release = gh.foreign_release(theirs, quasi=["age"], sensitive="ill", principle="2-diversity", method="mondrian")
    assert release.recipe.method["name"] == "mondrian"
    assert release.recipe.principle == {"name": "l-diversity", "ell": 2}


def test_a_method_inside_another_may_be_named_too() -> None:
    assert gh.Refined(coarse="tailor", inner="ace") == gh.Refined(coarse=gh.Tailor(), inner="ace")
    assert catalog.chosen(catalog.METHODS, {"name": "refined", "coarse": "tailor"}) == gh.Refined(coarse=gh.Tailor())
    with pytest.raises(gh.InputError, match="no method 'taylor': did you mean 'tailor'"):
        gh.Refined(coarse="taylor")


def test_the_catalogue_knows_every_attack_by_the_name_of_the_command_line() -> None:
    for name, attack in catalog.ATTACKS.items():
        assert attack.name.replace(" ", "-") == name


def test_the_main_parameter_of_a_principle_needs_no_name() -> None:
    assert gh.LDiversity(5) == gh.LDiversity(ell=5)
    assert gh.KAnonymity(10) == gh.KAnonymity(k=10)
    assert gh.TCloseness("0.2", distance="ordered") == gh.TCloseness(t="0.2", distance="ordered")
    assert gh.DistinctLDiversity(3) == gh.DistinctLDiversity(ell=3)
    assert gh.EntropyLDiversity(2) == gh.EntropyLDiversity(ell=2)
    assert gh.RecursiveLDiversity(2, 3) == gh.RecursiveLDiversity(c=2, ell=3)
    assert gh.AlphaKAnonymity("0.5", 3) == gh.AlphaKAnonymity(alpha="0.5", k=3)
    assert gh.AllOf(gh.KAnonymity(3), gh.LDiversity(2)) == gh.AllOf(principles=(gh.KAnonymity(3), gh.LDiversity(2)))
    assert repr(gh.AllOf(gh.KAnonymity(3))) == "AllOf(principles=(KAnonymity(k=3),))"


# --- verify -----------------------------------------------------------------------------------------------------------


def test_verify_takes_a_release_its_folder_and_the_folder_that_it_was_published_into(tmp_path: Path) -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", out=tmp_path / "out")

    expected = gh.verify(release)
    assert expected.holds
    for folder in (tmp_path / "out" / "release", str(tmp_path / "out")):
        found = gh.verify(folder)
        assert found.verdict.startswith(f"{tmp_path / 'out' / 'release'} keeps its guarantee and was not changed")
        assert found.to_dict() | {"verdict": ""} == expected.to_dict() | {"verdict": ""}


def test_verify_holds_a_release_to_its_own_promise_alone(tmp_path: Path) -> None:
    release = gh.publish(PATIENTS, principle="3-diversity")
    release.save(tmp_path / "release")

    for source in (release, tmp_path / "release"):
        with pytest.raises(gh.InputError, match="quasi is for a table: a release is checked against its own guarantee"):
            gh.verify(source, quasi=["age"])
        with pytest.raises(gh.InputError, match="k is for a table"):
            gh.verify(source, k=3)


def test_verify_says_what_a_table_needs(tmp_path: Path) -> None:
    with pytest.raises(gh.InputError, match=r"name the columns of the table.*quasi="):
        gh.verify({"age": [1, 2]})
    with pytest.raises(gh.InputError, match="does not exist: give the folder of a release, or the file of a table"):
        gh.verify(tmp_path / "nothing")
    with pytest.raises(gh.SourceError):
        gh.verify(tmp_path)  # a folder, and no release
    assert gh.verify({"age": [1, 1]}, quasi=["age"], k=2).holds


def test_verify_release_is_the_old_name() -> None:
    release = gh.publish(PATIENTS, principle="3-diversity")

    with pytest.warns(DeprecationWarning, match=r"now gh\.verify"):
        found = gh.verify_release(release)
    assert found.to_dict() == gh.verify(release).to_dict()


# --- answers and frames -----------------------------------------------------------------------------------------------


def test_a_single_estimate_has_a_value_an_error_and_an_interval() -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", recoding="anatomy")
    answer = gh.query(release, "SELECT COUNT(*) WHERE age < 40 AND disease = 'asthma'")

    assert (answer.value, answer.error) == (answer.only.value, answer.only.error)
    assert answer.interval == (answer.only.low, answer.only.high)
    assert answer.interval[0] <= answer.value <= answer.interval[1]
    assert float(answer) == answer.value


def test_several_estimates_have_none_of_these() -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", recoding="anatomy")
    answer = gh.query(release, "SELECT sex, COUNT(*), AVG(age) GROUP BY sex")

    for part in ("value", "error", "interval", "only"):
        with pytest.raises(gh.InputError, match=r"has 4 estimates.*to_pandas"):
            getattr(answer, part)


def test_an_answer_becomes_a_frame_and_a_table_of_a_notebook() -> None:
    columns = {"age": [1, 2, 3, 4], "ill": ["<b>", "a&b", "<b>", "a&b"]}
    release = gh.publish(gh.read(columns, quasi=["age"], sensitive="ill"), principle="2-diversity", recoding="anatomy")
    answer = gh.query(release, "SELECT ill, COUNT(*) GROUP BY ill")

    pandas, polars, html = answer.to_pandas(), answer.to_polars(), answer._repr_html_()
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert answer.to_table().to_pylist() == pandas.to_dict("records") == polars.to_dicts()
    assert "<td>&lt;b&gt;</td>" in html
    assert "a&amp;b" in html
    assert html.count("<tr>") == 3


@pytest.mark.parametrize("recoding", sorted(set(catalog.RECODINGS) - {"perturbed"}))
def test_every_release_becomes_frames(recoding: str) -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", recoding=recoding)

    pandas, polars = release.to_pandas(), release.to_polars()
    if len(release.tables) == 1:
        pandas, polars = (dict.fromkeys(release.tables, frame) for frame in (pandas, polars))
    for name, table in release.tables.items():
        assert isinstance(pandas[name], pd.DataFrame)
        assert isinstance(polars[name], pl.DataFrame)
        assert list(pandas[name].columns) == polars[name].columns == table.column_names
        assert len(pandas[name]) == len(polars[name]) == table.num_rows
        pd.testing.assert_frame_equal(release.to_pandas(name), pandas[name])
    assert list(pandas) == list(release.tables)


def test_a_perturbed_sample_becomes_a_frame() -> None:
    diseases = tuple(PATIENTS.sensitive[0].domain.texts)
    release = gh.publish(PATIENTS, principle=gh.DeltaGrowth(delta="1/2", k=4), recoding=gh.Perturbed(domain=diseases))

    assert isinstance(release.to_pandas(), pd.DataFrame)


def test_a_table_that_a_release_does_not_have_is_told() -> None:
    release = gh.publish(PATIENTS, principle="3-diversity", recoding="anatomy")

    for frame in (release.to_pandas, release.to_polars, release.to_native):
        with pytest.raises(gh.InputError, match="no table 'gt': it has 'qit', 'st'"):
            frame("gt")


# --- what is no release -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: gh.query(given, "SELECT COUNT(*)"),
        lambda given: gh.answer(given, gh.Workload.anatomy(PATIENTS, qd=2, n=2)),
        gh.learn,
        gh.sample,
        lambda given: gh.sample(given, 5),
        gh.losses,
        gh.to_duckdb,
        lambda given: gh.attack(given, knowledge=gh.Knowledge(external=PATIENTS)),
        lambda given: gh.evaluate(given, PATIENTS),
        lambda given: gh.edition_of(given, 1),
        lambda given: gh.make_report(given, PATIENTS),
        lambda given: gh.to_postgres(given, "postgresql://nowhere/nothing"),
    ],
)
def test_what_is_no_release_is_refused_with_the_call_that_reads_one(ask: Any) -> None:
    with pytest.raises(gh.InputError, match=r"this is a path, and not a release: give gh.load\('out/release'\)"):
        ask("out/release")
    with pytest.raises(gh.InputError, match=r"give gh.load\('out/release'\)"):
        ask(Path("out/release"))
    with pytest.raises(gh.InputError, match=r"value of the type DataFrame: read a release with gh.load\("):
        ask(pd.DataFrame({"age": [1]}))
