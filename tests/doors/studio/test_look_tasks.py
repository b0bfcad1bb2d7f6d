"""What the last step computes, without a server: attacks, people who are picked or described, questions, audits."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.tasks import answer, attack, equivalents, release_look, verification

HOW = {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"], "identifier": "patient"}


class Quiet:
    """Nobody looks on."""

    def progress(self, what: str, done: int, total: int) -> None:
        pass

    def part(self, found: Any) -> None:
        pass


TELL = Quiet()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a hospital, and two releases of it."""
    folder = tmp_path_factory.mktemp("hospital")
    pq.write_table(gh.synthetic.hospital_table(n=240, seed=2), folder / "patients.parquet")
    table = gh.read(folder / "patients.parquet", quasi=HOW["quasi"], sensitive="disease", identifier="patient")
    for seed, out in enumerate(("out", "earlier")):
        gh.publish(table, principle=gh.LDiversity(3), out=folder / out, source=gh.Source.seeded(seed), allow_seed=True)
    return folder


def given(place: Path, **asked: Any) -> dict[str, Any]:
    return {
        "tell": TELL,
        "release": str(place / "out" / "release"),
        "asked": {"attack": "linking", "effort": "brief", "column": 0, **asked},
        "table": {"file": str(place / "patients.parquet"), **HOW},
        "seed": 1,
    }


@pytest.mark.parametrize("name", ["linking", "reverse-engineering", "corruption", "definetti", "intersection"])
def test_people_are_seen_one_after_the_other_without_another_attack(name: str, place: Path, tmp_path: Path) -> None:
    keep = tmp_path / "beliefs.pickle"
    asked = {"attack": name, "other": str(place / "earlier"), "most_corrupted": 1}

    found = attack.attack(**given(place, **asked), keep=str(keep))

    assert found["ran"], found
    assert found["people"] == 240
    assert keep.stat().st_mode & 0o777 == 0o600
    first = found["exposed"][0]
    seen = attack.person(tell=TELL, keep=str(keep), row=first["row"])
    assert seen["person"] == first["person"]
    assert seen["bars"][0][1] == pytest.approx(first["belief"])
    words = (
        "guaranteed: at most 1/3"
        if name in ("linking", "reverse-engineering")  # the guarantee is against these attackers
        else "for comparison: 1/3, guaranteed against others"
    )
    assert f">{words}<" in str(found["figure"])
    assert f">{words}<" in str(seen["figure"])
    assert seen["why"]
    assert attack.person(tell=TELL, keep=str(keep), name=first["person"])["row"] == first["row"]
    with pytest.raises(InputError, match="nobody who was attacked"):
        attack.person(tell=TELL, keep=str(keep), name="Nobody")


@pytest.mark.parametrize("name", ["linking", "definetti"])
def test_an_attacker_who_knows_which_value_was_cut_is_counted(name: str, tmp_path: Path) -> None:
    columns = {"name": [f"p{i}" for i in range(40)], "x": list(range(40)), "s": ["no"] * 30 + ["yes"] * 10}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    roles = {"quasi": ["x"], "sensitive": ["s"], "identifier": "name"}
    table = gh.read(tmp_path / "people.parquet", quasi=["x"], sensitive="s", identifier="name")
    gh.publish(table, principle=gh.LDiversity(2), recoding="anatomy", suppress="0.6", out=tmp_path / "out")
    how = {
        "tell": TELL,
        "release": str(tmp_path / "out" / "release"),
        "asked": {"attack": name, "effort": "brief", "column": 0},
        "table": {"file": str(tmp_path / "people.parquet"), **roles},
        "seed": 1,
    }

    found = attack.attack(**how, keep=str(tmp_path / "kept"))

    assert (found["people_above"], found["unless_known"]["people_above"], found["largest"]) == (20, 0, 1.0)
    first = found["exposed"][0]
    assert (first["belief"], first["up_to"]) == (1.0, True)
    seen = attack.person(tell=TELL, keep=str(tmp_path / "kept"), row=first["row"])
    assert (seen["bars"][0][1], seen["above"]) == (0.5, False)
    assert (seen["once_known"], seen["above_once_known"]) == (1.0, True)


def test_where_only_some_values_are_protected_these_are_compared(tmp_path: Path) -> None:
    columns = {"name": [f"p{i}" for i in range(40)], "x": list(range(40)), "s": (["no"] * 7 + ["yes"]) * 5}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    table = gh.read(tmp_path / "people.parquet", quasi=["x"], sensitive="s", identifier="name")
    principle = gh.DesignatedLDiversity(ell=5, values=("yes",))
    gh.publish(table, principle=principle, recoding="boxes", out=tmp_path / "out")
    how = {
        "tell": TELL,
        "release": str(tmp_path / "out" / "release"),
        "asked": {"attack": "linking", "effort": "brief", "column": 0},
        "table": {"file": str(tmp_path / "people.parquet"), "quasi": ["x"], "sensitive": ["s"], "identifier": "name"},
        "seed": 1,
    }

    found = attack.attack(**how, keep=str(tmp_path / "kept"))

    assert (found["limit"], found["people_above"], found["protects_some"]) == ("1/5", 0, True)
    assert {one["value"] for one in found["exposed"]} == {"yes"}
    seen = attack.person(tell=TELL, keep=str(tmp_path / "kept"), row=found["exposed"][0]["row"])
    assert (seen["bars"][0][0], seen["above"]) == ("no", False)
    assert seen["protected"] <= 0.2 < seen["bars"][0][1]


def test_the_bars_are_those_of_the_package_and_the_true_value_is_marked(place: Path, tmp_path: Path) -> None:
    table = gh.read(place / "patients.parquet", quasi=HOW["quasi"], sensitive="disease", identifier="patient")
    beliefs = gh.attack(gh.load(place / "out" / "release"), knowledge=gh.Knowledge(external=table))
    attack.attack(**given(place), keep=str(tmp_path / "kept"))

    seen = attack.person(tell=TELL, keep=str(tmp_path / "kept"), row=7)

    assert dict(seen["bars"]) == pytest.approx(beliefs.of(seen["person"]))
    disease = table.column("disease")
    assert seen["true"] == disease.domain.listed()[disease.codes[7]]
    assert "(true)" in seen["figure"].markup
    assert sum(place["tuples"] for place in seen["places"]) > 0


def test_values_that_were_found_out_are_taken_from_the_table_or_told(place: Path, tmp_path: Path) -> None:
    asked = {"attack": "corruption", "corrupted": ["P000001", "P000002 = nonsense"]}
    with pytest.raises(InputError, match="nonsense"):
        attack.attack(**given(place, **asked), keep=str(tmp_path / "kept"))

    attack.attack(**given(place, attack="corruption", corrupted=["P000001"]), keep=str(tmp_path / "kept"))

    assert attack.person(tell=TELL, keep=str(tmp_path / "kept"), name="P000001")["known"]


def test_somebody_is_described_beside_the_table_and_to_a_release_alone(place: Path) -> None:
    told = given(place)
    inside = attack.somebody(**told, values=["41", "F", "01850"])
    alone = attack.somebody(**{**told, "table": None}, values=["41", "F", "01850"])

    assert inside["true"] is None
    assert alone["true"] is None
    assert inside["presence"] <= alone["presence"]
    for values, wrong in ((["old", "F", "01850"], "no value of 'age'"), (["41", "", "01850"], "type a value of 'sex'")):
        with pytest.raises(InputError, match=wrong):
            attack.somebody(**told, values=values)


def test_of_too_many_people_some_are_drawn_and_that_is_said(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attack, "_too_much", lambda *_: "the table is large")

    found = attack.attack(**given(place), keep=str(tmp_path / "kept"))

    assert found["people"] == 24
    why = "the table is large: choose “As long as it takes”"
    assert f"only 24 of 240 people, drawn at random, were attacked, because {why}" in found["notes"]
    aware = attack.attack(**given(place, attack="reverse-engineering"), keep=str(tmp_path / "kept"))
    assert aware == {"ran": False, "why": why, "bound": "1/3", "column": "disease"}


def test_a_table_of_which_the_release_was_not_made_is_refused(place: Path, tmp_path: Path) -> None:
    pq.write_table(gh.synthetic.hospital_table(n=240, seed=3), tmp_path / "others.parquet")
    told = given(place)
    told["table"] = {"file": str(tmp_path / "others.parquet"), **HOW}

    with pytest.raises(InputError, match="the open table is not the table of this release"):
        attack.attack(**told, keep=str(tmp_path / "kept"))


def test_an_answer_has_its_truth_beside_it_and_files_without_it(place: Path, tmp_path: Path) -> None:
    how = {"release": str(place / "out" / "release"), "model": "uniform", "keep": str(tmp_path / "learned.json")}
    sql = "SELECT disease, COUNT(*), AVG(age) GROUP BY disease"
    table = {"file": str(place / "patients.parquet"), **HOW}

    found = answer.ask(tell=TELL, sql=sql, table=table, **how)
    alone = answer.ask(tell=TELL, sql=sql, **how)

    counted = [int(row["cells"][0]["true"]) for row in found["rows"]]
    assert sum(counted) == 240
    assert found["covered"][1] == 2 * len(counted)
    assert alone["csv"] == found["csv"]
    assert alone["json"] == found["json"]
    assert not alone["has_truth"]
    assert "the true value" in found["figures"][0].markup
    assert "the true value" not in alone["figures"][0].markup
    with pytest.raises(GlasshouseError, match="diseas"):
        answer.ask(tell=TELL, sql="SELECT COUNT(*) WHERE diseas = 'flu'", **how)


def test_an_undefined_number_has_no_value_and_no_interval(place: Path, tmp_path: Path) -> None:
    how = {"release": str(place / "out" / "release"), "model": "uniform", "keep": str(tmp_path / "learned.json")}
    found = answer.ask(tell=TELL, sql="SELECT AVG(age), COUNT(*) WHERE age > 200", **how)
    first, second = found["rows"][0]["cells"]
    assert (first["estimate"], first["interval"]) == ("no value", "none")
    assert (second["estimate"], second["interval"]) == ("0", "0 to 0")


def test_every_example_can_be_asked(place: Path, tmp_path: Path) -> None:
    found = release_look.look(tell=TELL, release=str(place / "out" / "release"))

    assert len(found["examples"]) >= 4
    for sql in found["examples"]:
        how = {"release": str(place / "out" / "release"), "model": "uniform", "keep": str(tmp_path / "learned.json")}
        assert answer.ask(tell=TELL, sql=sql, **how)["rows"]


def test_an_audit_counts_what_the_command_prints(place: Path) -> None:
    found = verification.folder(tell=TELL, path=str(place / "out"))

    assert found["holds"]
    assert found["text"] == str(gh.verify(place / "out"))
    looked = verification.columns(tell=TELL, path=str(place / "patients.parquet"))
    assert [column["name"] for column in looked["columns"] if column["quasi"]]
    asked = {"quasi": ["age"], "sensitive": ["disease"], "k": 2, "t": "1/5"}
    counted = verification.table(tell=TELL, path=str(place / "patients.parquet"), asked=asked)
    assert counted["holds"] is False


def test_what_does_the_same_can_be_run(place: Path, tmp_path: Path) -> None:
    """Every command, and every call of Python that is shown."""
    path, table = str(place / "patients.parquet"), {"file": str(place / "patients.parquet"), **HOW}
    release = str(place / "out" / "release")
    how = {"release": release, "model": "uniform", "keep": str(tmp_path / "learned.json")}
    asked = {"quasi": ["age"], "sensitive": ["disease"], "k": 2, "t": "1/5"}
    shown = [
        attack.attack(**given(place), keep=str(tmp_path / "kept"))["same"],
        attack.attack(**given(place, attack="corruption", most_corrupted=1), keep=str(tmp_path / "kept"))["same"],
        answer.ask(tell=TELL, sql="SELECT COUNT(*) WHERE disease = 'asthma'", table=table, **how)["same"],
        verification.folder(tell=TELL, path=str(place / "out"))["same"],
        verification.table(tell=TELL, path=path, asked=asked)["same"],
    ]
    for same in shown:
        exec(same["python"], {"print": str})
        name, command, *arguments = shlex.split(same["command"])
        assert name == "glasshouse"
        ran = CliRunner().invoke(glasshouse, [command, *arguments])
        assert ran.exit_code == (1 if "--k" in arguments else 0), ran.output
    commas = {**asked, "quasi": ["age, of people"]}
    assert equivalents.verify_equivalents(path, commas)["command"] == ""


def test_a_real_table_is_attacked_and_asked(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "adult.parquet"
    if not file.exists():
        pytest.skip("the Adult table (../shared/data/adult.parquet) is not here")
    choices = {"quasi": ["age", "sex", "race"], "sensitive": ["occupation"], "missing": "category"}
    table = gh.read(file, quasi=choices["quasi"], sensitive="occupation", missing="category")
    gh.publish(table, principle=gh.LDiversity(5), out=tmp_path / "out")
    release, known = str(tmp_path / "out" / "release"), {"file": str(file), **choices}

    found = attack.attack(
        tell=TELL, release=release, asked={"attack": "linking"}, keep=str(tmp_path / "kept"), table=known
    )
    sql = "SELECT sex, COUNT(*) WHERE occupation = 'Sales' GROUP BY sex"
    asked = answer.ask(tell=TELL, release=release, sql=sql, model="uniform", keep=str(tmp_path / "no"), table=known)

    assert (found["people"], found["people_above"], found["limit"]) == (48842, 0, "1/5")
    assert attack.person(tell=TELL, keep=str(tmp_path / "kept"), name="48841")["row"] == 48841
    sold = pq.read_table(file, columns=["sex", "occupation"]).to_pylist()
    for row in asked["rows"]:
        (sex,) = row["keys"]
        true = sum(one["sex"] == sex and one["occupation"] == "Sales" for one in sold)
        assert row["cells"][0]["true"] == f"{true:,}"


def test_a_release_that_was_changed_is_refused(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "out", tmp_path / "out")
    table = tmp_path / "out" / "release" / "bt.parquet"
    table.write_bytes(table.read_bytes()[:-1] + b"x")

    for look in (
        lambda: release_look.look(tell=TELL, release=str(tmp_path / "out" / "release")),
        lambda: verification.folder(tell=TELL, path=str(tmp_path / "out")),
    ):
        with pytest.raises(GlasshouseError, match=r"bt\.parquet"):
            look()
