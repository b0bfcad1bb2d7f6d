# SPDX-License-Identifier: Apache-2.0
"""Singling out, linkability and inference: by hand, against slow twins, on Adult, and what is refused."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.adversary.risks import predicates
from glasshouse.adversary.risks.risk import MeasuredRisk, Rate
from glasshouse.cli.commands import glasshouse
from tests.twins import risks as twin

QUASI = ["age", "sex"]

# --- by hand ----------------------------------------------------------------------------------------------------------

# Two boxes of three people each. At their ends: of the first, one person is 21, one is 25, two are F and one is M; of
# the second, two are 30, one is 34, one is F and two are M.
PEOPLE = {"age": [21, 23, 25, 30, 30, 34], "sex": list("FMFMMF"), "ill": list("aabbcc")}
BOXES = {"age": ["[21, 25]"] * 3 + ["[30, 34]"] * 3, "sex": ["{F, M}"] * 6, "ill": list("aabbcc")}
OTHERS = {"age": [21, 21, 26, 34, 40, 35], "sex": list("MFFMFF"), "ill": list("abacdc")}


def by_hand() -> tuple[gh.Release, gh.Knowledge, gh.Microdata]:
    release = gh.foreign_release(BOXES, quasi=QUASI, sensitive="ill")
    table, others = (gh.read(rows, quasi=QUASI, sensitive="ill") for rows in (PEOPLE, OTHERS))
    return release, gh.Knowledge(external=table), others


@pytest.mark.parametrize(("ends", "attack", "control"), [(1, 5, 4), (2, 3, 3)])
def test_isolated_people_can_be_counted_by_hand(ends: int, attack: int, control: int) -> None:
    release, knowledge, others = by_hand()
    found = gh.attack(release, gh.SinglingOut(ends=ends, control=others), knowledge=knowledge)

    assert found.success == Rate(attack, 8)
    assert found.control == Rate(control, 8)
    assert found.risk is not None
    assert found.risk.value == pytest.approx((attack - control) / (8 - control))


def test_guesses_can_be_counted_by_hand() -> None:
    release, knowledge, others = by_hand()
    found = gh.attack(release, gh.Inference(control=others), knowledge=knowledge)

    assert found.success == Rate(4.0, 6)  # a in the first box, c in the second
    assert found.baseline.successes == pytest.approx(2)  # all three values are equally frequent
    assert found.control is not None
    assert found.control.successes == pytest.approx(2 + 2 / 3)  # two in boxes, and two guessed by the whole


def test_links_can_be_counted_by_hand() -> None:
    rows = {"age": [21, 23, 60, 64], "zip": [1, 2, 8, 9], "ill": list("abab")}
    cells = {"age": ["[21, 23]"] * 2 + ["[60, 64]"] * 2, "zip": ["[1, 2]"] * 2 + ["[8, 9]"] * 2, "ill": list("abab")}
    release = gh.foreign_release(cells, quasi=["age", "zip"], sensitive="ill")
    table = gh.read(rows, quasi=["age", "zip"])
    strangers = gh.read({"age": [21, 60, 90, 91], "zip": [9, 8, 1, 2]}, quasi=["age", "zip"])
    found = gh.attack(release, gh.Linkability(control=strangers), knowledge=gh.Knowledge(external=table))

    assert found.success == Rate(2.0, 4)  # one of two records that fit the box
    assert (found.baseline.value, found.baseline.low, found.baseline.high) == (0.25, 0.25, 0.25)
    # 21 fits zip 1 and 2, and has 9; 60 fits 8 and 9, one of which is right; 90 and 91 fit nothing: one of four records
    assert found.control == Rate(0 + 1 / 2 + 1 / 4 + 1 / 4, 4)


def test_a_release_that_lists_quasi_identifiers_singles_out_everybody_who_is_alone_with_theirs() -> None:
    table = gh.read(PEOPLE, quasi=QUASI, sensitive="ill")
    release = gh.publish(table, principle=gh.LDiversity(ell=3), method=gh.Anatomize(), recoding=gh.Anatomy())
    found = gh.attack(release, "singling-out", knowledge=gh.Knowledge(external=table))

    assert found.success == Rate(4, 5)  # five different people, two of whom are 30 and M
    assert "publishes exact quasi-identifiers" in found.notes[0]
    assert "publishes exact quasi-identifiers" in str(found)


@pytest.mark.parametrize("root", ["any", "*"])
def test_a_node_of_a_taxonomy_has_its_children_for_ends(root: str) -> None:
    tree = gh.Taxonomy.from_nested({root: {"north": ["Oslo", "Turku"], "south": ["Rome", "Faro"], "east": ["Riga"]}})
    rows = {"town": ["Oslo", "Rome", "Faro"], "ill": list("abc")}
    table = gh.read(rows, quasi=["town"], sensitive="ill", taxonomies={"town": tree})
    release = gh.publish(table, principle=gh.KAnonymity(k=3), recoding=gh.Taxonomies())
    others = gh.read({"town": ["Riga", "Riga", "Rome"]}, quasi=["town"], taxonomies={"town": tree})
    found = gh.attack(release, gh.SinglingOut(control=others), knowledge=gh.Knowledge(external=table))

    assert release.data["town"].to_pylist() == [root] * 3
    assert found.success == Rate(1, 3)  # one in the north, two in the south, nobody in the east
    assert found.control == Rate(1, 3)  # one in the south


def test_missing_is_an_end_and_a_single_value_has_none() -> None:
    rows = {"age": [30, 30, None, 40, 40], "ill": list("abcab")}
    cells = {"age": ["30 or missing"] * 3 + ["40"] * 2, "ill": list("abcab")}
    table = gh.read(rows, quasi=["age"], sensitive="ill", missing="category")
    release = gh.foreign_release(cells, quasi=["age"], sensitive="ill")
    found = gh.attack(release, gh.SinglingOut(), knowledge=gh.Knowledge(external=table))

    assert found.success == Rate(1, 2)  # the one whose age is missing; two are 30


def test_where_there_is_no_end_there_is_nothing_to_try_and_it_is_said() -> None:
    table = gh.read({"age": [30] * 4, "ill": list("abab")}, quasi=["age"], sensitive="ill")
    release = gh.publish(table, principle=gh.KAnonymity(k=2))
    found = gh.attack(release, gh.SinglingOut(), knowledge=gh.Knowledge(external=table))

    assert found.success == Rate(0, 0)
    assert "The attack could not be tried" in str(found)


# --- slow twins -------------------------------------------------------------------------------------------------------


def random_rows(seed: int) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    n = rng.randint(4, 14)
    return {
        "age": [rng.randint(1, 6) for _ in range(n)],
        "sex": [rng.choice("FMX") for _ in range(n)],
        "zip": [rng.randint(1, 4) for _ in range(n)],
        "ill": [rng.choice("abc") for _ in range(n)],
    }


def random_case(seed: int) -> tuple[gh.Release, gh.Microdata, gh.Microdata]:
    quasi = ["age", "sex", "zip"]
    table, control = (gh.read(random_rows(number), quasi=quasi, sensitive="ill") for number in (seed, seed + 10_000))
    method: Any = (gh.Mondrian(), gh.Snug(), gh.Mirror())[seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gh.DisclosureWarning)
        principle = gh.KAnonymity(k=2)
        made = gh.publish(table, principle=principle, method=method, recoding=gh.Boxes(), source=gh.Source.seeded(seed))
    return made, table, control


def values_of(table: gh.Microdata, *names: str) -> list[tuple[Any, ...]]:
    columns = [table.column(name) for name in names]
    return list(zip(*(column.domain.decode(column.codes).to_pylist() for column in columns), strict=True))


def boxes_of(release: gh.Release) -> list[twin.Box]:
    return list(zip(*(map(str, release.data[name].to_pylist()) for name in release.recipe.quasi), strict=True))


def singled_out(release: gh.Release, table: gh.Microdata, people: gh.Microdata, ends: int) -> tuple[int, int]:
    """By the twin: how many predicates isolate one of some people, and how many there are."""
    tried = twin.predicates(boxes_of(release), ends)
    return twin.isolated(tried, values_of(people, *release.recipe.quasi)), len(tried)


def check_singling_out(seeds: range) -> None:
    for seed in seeds:
        release, table, control = random_case(seed)
        for ends in (1, 2, 3):
            found = gh.attack(release, gh.SinglingOut(ends=ends), knowledge=gh.Knowledge(external=table))
            assert (found.success.successes, found.success.trials) == singled_out(release, table, table, ends)
            other = gh.attack(
                release, gh.SinglingOut(ends=ends, control=control), knowledge=gh.Knowledge(external=table)
            )
            assert other.control is not None
            if control.n_tuples <= table.n_tuples:
                expected = singled_out(release, table, control, ends)
                assert (other.control.successes, other.control.trials) == expected


def test_isolated_people_are_those_of_the_slow_twin() -> None:
    check_singling_out(range(40))


def test_the_twin_notices_when_people_who_are_alike_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    right = predicates.Kinds.of

    def alike_once(*given: Any) -> predicates.Kinds:
        return right(*given)._replace(n_alike=np.ones_like(right(*given).n_alike))

    monkeypatch.setattr(predicates.Kinds, "of", alike_once)
    with pytest.raises(AssertionError):
        check_singling_out(range(40))


def test_guesses_are_those_of_the_slow_twin() -> None:
    for seed in range(60):
        release, table, control = random_case(seed)
        rows = list(zip(boxes_of(release), release.data["ill"].to_pylist(), strict=True))
        found = gh.attack(release, gh.Inference(control=control), knowledge=gh.Knowledge(external=table))

        assert found.control is not None
        for people, rate in ((table, found.success), (control, found.control)):
            truth = [value for (value,) in values_of(people, "ill")]
            expected = twin.guesses(rows, values_of(people, *release.recipe.quasi), truth)
            assert rate.successes == pytest.approx(float(expected))


def test_links_are_those_of_the_slow_twin() -> None:
    for seed in range(60):
        release, table, _ = random_case(seed)
        found = gh.attack(
            release, gh.Linkability(first=["zip"], second=["age"]), knowledge=gh.Knowledge(external=table)
        )
        expected = twin.links(boxes_of(release), values_of(table, *release.recipe.quasi), [2], [0])

        assert found.success.successes == pytest.approx(float(expected))


# --- sizes, seeds, the result -----------------------------------------------------------------------------------------


def test_tables_of_different_sizes_are_compared_at_the_size_of_the_smaller_one() -> None:
    patients = gh.synthetic.hospital(400, seed=1)
    release = gh.publish(patients, principle=gh.KAnonymity(k=5), method=gh.Mondrian(), recoding=gh.Boxes())
    knowledge = gh.Knowledge(external=patients)
    few, many = (
        gh.read(table, quasi=["age", "sex", "zipcode"])
        for table in (gh.synthetic.hospital_table(n, seed=2) for n in (100, 900))
    )

    seeded = [gh.SinglingOut(control=few, source=gh.Source.seeded(1)) for _ in range(2)]
    fewer, again = (gh.attack(release, one, knowledge=knowledge) for one in seeded)
    assert fewer.to_dict() == again.to_dict()
    assert fewer.compared is not None
    assert fewer.compared.value < fewer.success.value  # a fourth of the people: many boxes have nobody at an end
    assert fewer.risk is not None
    assert fewer.control is not None
    assert fewer.risk.value == pytest.approx(
        max(0.0, (fewer.compared.value - fewer.control.value) / (1 - fewer.control.value))
    )
    assert "computed from equal numbers" in fewer.notes[0]

    more = gh.attack(release, gh.SinglingOut(control=many), knowledge=knowledge)
    assert more.compared is None
    assert "400 of the 900 control people were drawn" in more.notes[0]
    assert gh.attack(release, gh.Inference(), knowledge=knowledge).notes == ()


def test_a_table_that_is_not_the_published_one_is_named() -> None:
    release, _, others = by_hand()
    half = gh.Knowledge(external=others.take(np.arange(3)))

    assert "made from 6" in gh.attack(release, gh.SinglingOut(), knowledge=half).notes[0]


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    [
        (Rate(0, 10), 0.0, 0.27753),
        (Rate(10, 10), 0.72247, 1.0),
        (Rate(5, 10), 0.23659, 0.76341),
        (Rate(81, 263), 0.25529, 0.36620),
        (Rate(0, 0), 0.0, 1.0),
    ],
)
def test_wilson_intervals(rate: Rate, low: float, high: float) -> None:
    assert (rate.low, rate.high) == (pytest.approx(low, abs=2e-5), pytest.approx(high, abs=2e-5))


def test_the_result_says_in_sentences_what_follows() -> None:
    def told(attack: int, baseline: int, control: int | None) -> str:
        control_rate = None if control is None else Rate(control, 1000)
        rates: dict[str, Any] = {"success": Rate(attack, 1000), "baseline": Rate(baseline, 1000)}
        return str(MeasuredRisk(attack="inference", question="?", trials_are="people", control=control_rate, **rates))

    assert "adds a risk for them" in told(500, 100, 200)
    assert "about people in general" in told(500, 100, 500)
    assert "not clearly better than the naive guess" in told(100, 100, 50)
    assert "give a control table" in told(500, 100, None)
    assert "risk                 0.3750 (" in told(500, 100, 200)


def test_a_control_on_which_everything_succeeds_leaves_nothing_to_add() -> None:
    full = MeasuredRisk(
        attack="a", question="?", trials_are="people", success=Rate(9, 9), baseline=Rate(1, 9), control=Rate(9, 9)
    )

    assert full.risk == (0.0, 0.0, 1.0)
    assert not full.exceeds(0)
    with pytest.raises(gh.ParameterError, match="limit must be a number from 0 to 1"):
        full.exceeds(33)
    assert full.to_dict()["risk"] == {"value": 0.0, "low": 0.0, "high": 1.0}


@pytest.mark.parametrize("recoding", ["boxes", "taxonomies", "anatomy", "permutation", "angel", "perturbed"])
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_every_recoding_can_be_measured(recoding: str) -> None:
    rows, quasi = gh.synthetic.hospital_table(300, seed=1), ["age", "sex", "zipcode"]
    ages = {"age": gh.Taxonomy.intervals(width=5)}
    patients = gh.read(rows, quasi=quasi, sensitive="disease", taxonomies=ages)
    chosen: Any = {"principle": gh.LDiversity(ell=2), "method": "mondrian", "recoding": recoding}
    if recoding == "perturbed":
        values = patients.column("disease").domain.values.to_pylist()
        chosen = {"principle": gh.DeltaGrowth(delta="0.3", k=6), "recoding": gh.Perturbed(domain=values)}
    release = gh.publish(patients, **chosen, source=gh.Source.seeded(1))
    for name in ("singling-out", "linkability", "inference"):
        found: Any = gh.attack(release, name, knowledge=gh.Knowledge(external=patients))

        assert isinstance(found, MeasuredRisk)
        assert json.loads(json.dumps(found.to_dict()))["attack"] == name.replace("-", " ")
        assert found.success.trials > 0
        assert 0 <= found.success.low <= found.success.value <= found.success.high <= 1


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", [gh.SinglingOut, gh.Linkability, gh.Inference])
def test_a_control_table_that_is_none_is_refused(attack: Any) -> None:
    release, knowledge, others = by_hand()
    other_columns = gh.read(
        {"age": [1, 2], "height": [3, 4], "ill": ["a", "b"]}, quasi=["age", "height"], sensitive="ill"
    )

    def run(control: Any, **more: Any) -> None:
        gh.attack(release, attack(control=control), knowledge=gh.Knowledge(external=knowledge.external, **more))

    with pytest.raises(gh.SchemaError, match="the control table has no quasi-identifier 'sex'"):
        run(other_columns)
    with pytest.raises(gh.InputError, match="is the published table itself"):
        run(knowledge.external)
    with pytest.raises(gh.InputError, match=r"that gh\.read has read"):
        run(OTHERS)
    with pytest.raises(gh.InputError, match="has no records"):
        run(others.take(np.arange(0)))
    with pytest.raises(gh.NotSupported, match="counts how often guesses are right"):
        run(others, corrupted={0: "a"})


def test_people_who_are_in_both_tables_are_refused() -> None:
    named = {"name": list("uvwxyz"), **PEOPLE}
    table, others = (
        gh.read(rows, identifier="name", quasi=QUASI, sensitive="ill")
        for rows in (named, {"name": list("zABCDE"), **OTHERS})
    )
    numbered = gh.read({"name": list(range(6)), **OTHERS}, identifier="name", quasi=QUASI, sensitive="ill")
    release, *_ = by_hand()

    with pytest.raises(gh.InputError, match="1 person of the control table is also in the published table"):
        gh.attack(release, gh.SinglingOut(control=others), knowledge=gh.Knowledge(external=table))
    with pytest.raises(gh.InputError, match="of another type"):
        gh.attack(release, gh.SinglingOut(control=numbered), knowledge=gh.Knowledge(external=table))


def test_guesses_need_true_values_as_the_release_shows_them() -> None:
    release, knowledge, _ = by_hand()
    without = gh.read({name: PEOPLE[name] for name in QUASI}, quasi=QUASI)
    foreign = gh.read({**PEOPLE, "ill": list("AABBCC")}, quasi=QUASI, sensitive="ill")

    with pytest.raises(gh.SchemaError, match="the table has no sensitive column 'ill'"):
        gh.attack(release, gh.Inference(), knowledge=gh.Knowledge(external=without))
    with pytest.raises(gh.SchemaError, match="the control table has no sensitive column 'ill'"):
        gh.attack(release, gh.Inference(control=without), knowledge=knowledge)
    with pytest.raises(gh.InputError, match="6 people of the table have a value of 'ill' that is not in the release"):
        gh.attack(release, gh.Inference(), knowledge=gh.Knowledge(external=foreign))
    with pytest.raises(gh.InputError, match="6 people of the control table have a value"):
        gh.attack(release, gh.Inference(control=foreign), knowledge=knowledge)


def test_parameters_that_make_no_sense_are_refused() -> None:
    release, knowledge, _ = by_hand()

    with pytest.raises(gh.ParameterError, match="ends must be an integer >= 1"):
        gh.SinglingOut(ends=0)
    with pytest.raises(gh.ParameterError, match="trials must be an integer >= 1"):
        gh.Linkability(trials=0)
    with pytest.raises(gh.InputError, match="'age' is named twice"):
        gh.Linkability(first=["age"], second=["sex", "age"])
    with pytest.raises(gh.InputError, match="of both lists"):
        gh.Linkability(first=["age"])
    with pytest.raises(gh.SchemaError, match="'seks'"):
        gh.attack(release, gh.Linkability(first=["age"], second=["seks"]), knowledge=knowledge)
    single = gh.foreign_release({"age": ["[21, 25]"] * 3, "ill": list("abc")}, quasi=["age"], sensitive="ill")
    with pytest.raises(gh.NotSupported, match="one for each list"):
        gh.attack(single, gh.Linkability(), knowledge=knowledge)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("risks")
    everybody = gh.synthetic.hospital_table(n=600, seed=1)
    pa_csv.write_csv(everybody.slice(0, 300), path / "table.csv")
    pa_csv.write_csv(everybody.slice(300), path / "others.csv")
    line = "--identifier patient --quasi age,sex,zipcode --sensitive disease --k 5"
    run(path, f"publish table.csv {line} --out out")
    return path


def run(path: Path, line: str, *, code: int = 0) -> str:
    words = [str(path / word) if (path / word).exists() or word == "out" else word for word in line.split()]
    result = CliRunner().invoke(glasshouse, words)
    assert result.exit_code == code, result.output
    return result.output


MEASURED = "attack out/release --external table.csv --identifier patient"


@pytest.mark.parametrize("name", ["singling-out", "linkability", "inference"])
def test_the_command_measures_with_a_control_file(folder: Path, name: str) -> None:
    line = f"{MEASURED} --control others.csv --attack {name} --seed 1"
    shown = run(folder, f"{line} --save")
    found = json.loads(run(folder, f"{line} --json"))

    assert "on people who are not in the release" in shown
    assert found == json.loads((folder / "out" / "audit" / f"attack-{name}.json").read_text())
    assert found["control"]["trials"] == found["success"]["trials"]
    run(folder, f"{line} --fail-above 0.99")
    assert "naive guess" in run(folder, f"{line.replace('--control others.csv', '')} --fail-above 0", code=1)


def test_the_command_refuses_what_does_not_fit(folder: Path) -> None:
    more = "--control others.csv"
    assert "can only be given with --attack definetti or singling-out or linkability or inference" in run(
        folder, f"{MEASURED} {more}", code=2
    )
    assert "can only be given with --attack linkability" in run(
        folder, f"{MEASURED} --attack inference --first age", code=2
    )
    assert "use --json" in run(folder, f"{MEASURED} --attack inference --out b.csv", code=2)
    assert "are also in the published table" in run(
        folder, f"{MEASURED} --control table.csv --attack inference", code=2
    )
    chosen = "--attack linkability --first age --second zipcode,sex"
    assert "one list has age; the other has zipcode, sex" in run(folder, f"{MEASURED} {chosen}")


# --- Adult ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("principle", "method", "attack", "control"),
    [
        (gh.KAnonymity(k=5), gh.Snug(), 0.40, 0.22),
        (gh.KAnonymity(k=5), gh.Mondrian(), 0.36, 0.22),
        (gh.LDiversity(ell=2), gh.Mondrian(), 0.62, 0.19),
        (gh.LDiversity(ell=2), gh.Mirror(), 0.245, 0.13),
        (gh.LDiversity(ell=4), gh.Mirror(), 0.014, 0.016),
    ],
)
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_half_of_adult_is_singled_out_as_often_as_the_documentation_says(
    shared_data: Path, principle: Any, method: Any, attack: float, control: float
) -> None:
    path = shared_data / "adult.parquet"
    if not path.exists():
        pytest.skip("the Adult table (../shared/data/adult.parquet) is not here")
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    rows = pq.read_table(path, columns=[*quasi, "occupation"]).drop_null()
    order = gh.Source.seeded(1).permutation(rows.num_rows)
    half = rows.num_rows // 2
    table, others = (
        gh.read(rows.take(part), quasi=quasi, sensitive="occupation") for part in (order[:half], order[half:])
    )
    release = gh.publish(table, principle=principle, method=method, recoding=gh.Boxes(), source=gh.Source.seeded(1))
    measured = gh.SinglingOut(control=others, source=gh.Source.seeded(1))
    found = gh.attack(release, measured, knowledge=gh.Knowledge(external=table))

    assert found.control is not None
    assert found.success.value == pytest.approx(attack, abs=0.03)
    assert found.control.value == pytest.approx(control, abs=0.03)
