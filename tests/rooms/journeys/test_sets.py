# SPDX-License-Identifier: Apache-2.0
"""Sets as sensitive values, from the table to the release, the second count, the attacks and the answers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import glasshouse as gh
from glasshouse.grouping.suppression import _trimmed_kinds
from glasshouse.journeys.truth import true_answer
from glasshouse.microdata.kinds import kinds_of
from glasshouse.pages.report.publication import Publication
from glasshouse.policy.command_line import command_line
from glasshouse.policy.policy_text import policy_text
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.recoding import KNOWN_NUMBERS, RELATED
from tests.rooms.cli.world import run
from tests.tiers import tables
from tests.twins.member_sets import excess, member_shares, shared_value, sharing_by_force

DISEASES = ["flu", "gout", "ulcer", "HIV", "asthma", "cold", 'a, "b"]', "=1+1", "burn"]
ROLES: dict[str, Any] = {"identifier": "patient", "quasi": ["age", "zip"], "sensitive": "disease"}


def stays(n: int = 200, seed: int = 1, values: list[str] = DISEASES) -> dict[str, list[Any]]:
    """People with one to three rows."""
    random = Random(seed)
    rows: list[tuple[Any, ...]] = []
    for person in range(n):
        age, place = random.randrange(20, 80), random.randrange(8)
        rows += [(person, age, place, random.choice(values)) for _ in range(random.choice((1, 1, 2, 3)))]
    random.shuffle(rows)
    return {name: [row[i] for row in rows] for i, name in enumerate(("patient", "age", "zip", "disease"))}


def together(**given: Any) -> gh.Microdata:
    return gh.read(stays(**given), **ROLES, repeated="together")


def sets_of(table: gh.Microdata) -> list[frozenset[int]]:
    column = table.sensitive[0]
    members = column.domain.members
    assert members is not None
    own = [frozenset(members.codes[a:b].tolist()) for a, b in zip(members.offsets, members.offsets[1:], strict=False)]
    return [own[code] for code in column.codes]


PRINCIPLES = {
    "l-diversity": gh.LDiversity(3),
    "(alpha, k)": gh.AlphaKAnonymity(alpha="0.3", k=5),
    "designated": gh.DesignatedLDiversity(4, ("HIV", "flu")),
    "k and l": gh.AllOf(gh.KAnonymity(6), gh.LDiversity(2)),
    "k": gh.KAnonymity(6),
}


# --- releases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recoding", ["boxes", "anatomy", "angel", "permutation"])
@pytest.mark.parametrize("name", PRINCIPLES)
def test_every_recoding_is_written_read_and_counted_again(name: str, recoding: str, tmp_path: Path) -> None:
    table = together()
    try:
        release = gh.publish(table, principle=PRINCIPLES[name], recoding=recoding)
    except (gh.NotSupported, gh.ParameterError):
        assert name != "l-diversity"  # k-anonymity of exact quasi-identifiers, or no k for buckets
        return
    for format in ("parquet", "csv"):
        release.save(tmp_path / format, format=format)
        found = gh.verify(tmp_path / format)
        assert found.holds
        assert gh.load(tmp_path / format).sets == ("disease",)
    told = json.loads((tmp_path / "csv" / "datapackage.json").read_text())
    (column,) = [one for one in told["glasshouse"]["columns"] if one["name"] == "disease"]
    assert column["kind"] == "set"
    assert "JSON list" in column["meaning"]
    assert "JSON list" in (tmp_path / "csv" / "README.md").read_text()


@pytest.mark.parametrize("name", ["l-diversity", "(alpha, k)", "designated"])
def test_in_every_group_single_values_are_as_rare_as_was_asked(name: str) -> None:
    most = {"l-diversity": Fraction(1, 3), "(alpha, k)": Fraction(3, 10), "designated": Fraction(1, 4)}[name]
    release = gh.publish(together(), principle=PRINCIPLES[name], recoding="boxes")
    groups: dict[Any, list[frozenset[str]]] = {}
    for row in release.data.to_pylist():
        groups.setdefault((row["age"], row["zip"]), []).append(frozenset(json.loads(row["disease"])))

    assert len(groups) > 3
    for group in groups.values():
        shares = member_shares(group)  # type: ignore[arg-type]
        asked = ("HIV", "flu") if name == "designated" else shares
        assert all(shares.get(value, 0) <= most for value in asked)  # type: ignore[call-overload]


def test_what_is_promised_says_sets_and_what_is_not() -> None:
    release = gh.publish(together(), principle="3-diversity")

    assert "every value in its set of disease" in release.guarantee.promise
    assert KNOWN_NUMBERS in release.guarantee.limits
    assert RELATED in release.guarantee.limits
    assert "Theorem M1" in release.guarantee.theorem
    assert release.recipe.method["name"] == "mirror"


@pytest.mark.parametrize(
    "principle",
    [gh.TCloseness("0.3"), gh.EntropyLDiversity(2), gh.DistinctLDiversity(2), gh.RecursiveLDiversity(2, 2),
     gh.AllOf(gh.LDiversity(2), gh.DistinctLDiversity(2)), gh.RhoBreach(rho1="0.2", rho2="0.5", k=6)],
    ids=lambda principle: principle.title,
)  # fmt: skip
def test_principles_that_ask_for_a_distribution_are_refused_by_name(principle: Any) -> None:
    with pytest.raises(gh.NotSupported, match="whose values are sets"):
        gh.publish(together(), principle=principle)


def test_methods_that_deal_single_values_are_refused_by_name() -> None:
    table = together()
    for name in ("sift", "anatomize", "tailor", "ace", "hybrid", "snug", "greedy", "separate", "opt-gen"):
        with pytest.raises(
            gh.NotSupported, match=f"the method '{name}' does not support a column whose values are sets"
        ):
            gh.publish(table, principle="3-diversity", method=name)
    with pytest.warns(gh.DisclosureWarning, match="mondrian"):
        assert gh.verify(gh.publish(table, principle="3-diversity", method="mondrian")).holds


def test_a_table_that_breaks_the_principle_is_refused_with_a_true_witness() -> None:
    table = (
        gh.read({**stays(seed=2), "disease": ["flu", "gout"] * 500}, **ROLES, repeated="together") if False else None
    )
    rows = stays(seed=3, values=["flu"] * 5 + DISEASES)
    table = gh.read(rows, **ROLES, repeated="together")
    have = len({p for p, ill in zip(rows["patient"], rows["disease"], strict=True) if ill == "flu"})

    with pytest.raises(gh.Infeasible, match=f"'flu' has {have} of 200 records") as refusal:
        gh.publish(table, principle="4-diversity")
    assert refusal.value.largest == (200 // have if 200 // have >= 2 else None)


# --- suppression ------------------------------------------------------------------------------------------------------


def test_people_are_dropped_by_the_value_that_is_most_above_its_share() -> None:
    n_dropped = 0
    for seed in range(tables(400)):
        random = Random(seed)
        values = random.choices("abcdef", weights=[random.randint(1, 9) for _ in range(6)], k=40)
        kinds, _ = kinds_of(gh.read(stays(random.randint(6, 30), seed, values), **ROLES, repeated="together"))
        ell = random.choice((2, 3))
        (part,) = Requirement.of(gh.LDiversity(ell), kinds.table, counts=kinds.counts).parts
        sets = sets_of(kinds.table)
        everybody = [one for one, n in zip(sets, kinds.counts.tolist(), strict=True) for _ in range(n)]
        most, value = excess(everybody, Fraction(1, ell))
        assert part.is_eligible == (most == 0)
        if most:
            n_dropped += 1
            gone = kinds.counts - _trimmed_kinds(kinds, part, gh.Source.seeded(seed))
            assert gone.sum() == most
            assert all(value in one for one, n in zip(sets, gone.tolist(), strict=True) if n)
    assert n_dropped > 10


def test_a_suppressed_release_keeps_its_promise_and_says_how_many_went(tmp_path: Path) -> None:
    table = gh.read(stays(seed=4, values=["flu"] * 3 + DISEASES), **ROLES, repeated="together")
    release = gh.publish(table, principle="4-diversity", suppress="1/2", recoding="anatomy")

    assert release.n_suppressed > 0
    assert gh.verify(release).holds
    release.save(tmp_path / "out")
    assert gh.verify(tmp_path / "out").holds


# --- the second count -------------------------------------------------------------------------------------------------


def tampered(release: gh.Release, change: Any) -> gh.Release:
    (name, table), *others = release.tables.items()
    cells = table["disease"].cast(pa.string()).to_pylist()
    at = table.column_names.index("disease")
    return replace(release, tables={name: table.set_column(at, "disease", pa.array(change(cells))), **dict(others)})


def test_one_value_more_than_is_allowed_is_noticed_and_whole_sets_would_not_notice_it() -> None:
    release = gh.publish(together(), principle="3-diversity", recoding="boxes")

    def crowd(cells: list[str]) -> list[str]:
        return [json.dumps([*json.loads(cell), "new"]) for cell in cells]

    broken = tampered(release, crowd)
    found = gh.verify(broken)
    assert not found.holds
    assert [check.asked for check in found.checks if not check.holds] == ["ell = 3"]
    plain = replace(
        broken, columns=tuple(replace(c, kind="category") if c.kind == "set" else c for c in broken.columns)
    )
    assert all(check.holds for check in gh.verify(plain).checks if check.asked == "ell = 3"), "sets still differ"


@pytest.mark.parametrize("cell", ["flu", "[]", '["flu", "flu"]', "[3]", None])
def test_a_cell_that_is_no_set_is_noticed(cell: Any) -> None:
    broken = tampered(gh.publish(together(), principle="3-diversity"), lambda cells: [cell, *cells[1:]])
    with pytest.raises((gh.GlasshouseError, AssertionError)):
        assert gh.verify(broken).holds


def test_a_release_whose_columns_are_said_to_be_what_they_are_not_is_refused(tmp_path: Path) -> None:
    gh.publish(together(), principle="3-diversity").save(tmp_path / "sets")
    path = tmp_path / "sets" / "datapackage.json"
    told = json.loads(path.read_text())
    for column in told["glasshouse"]["columns"]:
        if column["name"] == "age":
            column["kind"] = "set"
    path.write_text(json.dumps(told))
    with pytest.raises(gh.SourceError, match="a column of sets is not sensitive"):
        gh.load(tmp_path / "sets")


def test_a_release_that_says_it_has_no_sets_is_held_to_other_words(tmp_path: Path) -> None:
    gh.publish(together(), principle="3-diversity").save(tmp_path / "sets")
    path = tmp_path / "sets" / "datapackage.json"
    path.write_text(path.read_text().replace('"kind": "set"', '"kind": "category"'))
    with pytest.raises(gh.SourceError):
        gh.load(tmp_path / "sets")


# --- attacks ----------------------------------------------------------------------------------------------------------


def attackers(table: gh.Microdata) -> gh.Knowledge:
    """Everybody's quasi-identifiers."""
    return gh.Knowledge(external=replace(table, sensitive=()))


@pytest.mark.parametrize("recoding", ["boxes", "anatomy", "angel", "permutation"])
@pytest.mark.parametrize("attack", ["linking", "reverse-engineering"])
def test_nobody_is_believed_to_have_a_value_above_what_is_promised(recoding: str, attack: str) -> None:
    table = together()
    found = gh.attack(gh.publish(table, principle="3-diversity", recoding=recoding), attack, knowledge=attackers(table))

    assert set(found.values) == set(DISEASES)
    assert found.limit == Fraction(1, 3)
    assert found.share_above() == 0
    assert 0.2 < found.worst().belief <= 1 / 3 + 1e-12
    assert "sets that contain it" in found.explain(found.worst().person)
    assert any("the sum of the probabilities of the sets" in note for note in found.notes)


def test_a_belief_in_a_value_is_the_share_of_the_group_that_has_it() -> None:
    table = together(n=60)
    release = gh.publish(table, principle="2-diversity", recoding="anatomy")
    found = gh.attack(release, "reverse-engineering", knowledge=attackers(table))
    assert found.how == "exact"
    own: dict[int, list[list[str]]] = {}
    for row in release.tables["st"].to_pylist():
        own.setdefault(row["Group-ID"], []).extend([json.loads(row["disease"])] * row["Count"])
    where: dict[tuple[Any, ...], set[int]] = {}
    for row in release.tables["qit"].to_pylist():
        where.setdefault((row["age"], row["zip"]), set()).add(row["Group-ID"])
    ages, zips = (column.domain.decode(column.codes).to_pylist() for column in table.quasi)
    alone = 0
    for i, person in enumerate(table.identifier.to_pylist()):  # type: ignore[union-attr]
        groups = where[ages[i], zips[i]]
        if len(groups) == 1:
            alone += 1
            shares = member_shares([frozenset(one) for one in own[groups.pop()]])  # type: ignore[arg-type]
            assert found.of(person) == pytest.approx({value: float(share) for value, share in shares.items()})
    assert alone > 30


def test_every_world_that_the_library_can_imagine_gives_the_same() -> None:
    people = {"id": [0, 0, 1, 2, 2, 3], "x": [1, 1, 2, 3, 3, 4], "s": list("abcada")}
    table = gh.read(people, identifier="id", quasi=["x"], sensitive="s", repeated="together")
    release = gh.publish(
        table, principle=gh.AlphaKAnonymity(alpha="3/4", k=1), method=gh.Mirror(floor=2), recoding="boxes"
    )
    knowledge = replace(attackers(table), corrupted={3: '["a"]'})  # so that no theorem answers
    found = gh.attack(release, "reverse-engineering", knowledge=knowledge)
    assert found.how == "exact"
    assert set(found.values) <= set("abcd")
    assert any("tables were possible" in note for note in found.notes)


def test_attacks_that_reason_on_single_values_are_refused_by_name() -> None:
    table = together()
    release = gh.publish(table, principle="3-diversity", recoding="anatomy")
    for attack in ("minimality", "corruption", "intersection", "definetti", "inference"):
        with pytest.raises(gh.NotSupported, match="whose cells contain sets of values"):
            gh.attack(release, attack, knowledge=gh.Knowledge(external=table))


# --- questions --------------------------------------------------------------------------------------------------------

QUESTIONS = {
    "disease = 'flu'": lambda own: "flu" in own,
    "disease <> 'flu'": lambda own: "flu" not in own,
    "disease IN ('flu', 'gout')": lambda own: bool({"flu", "gout"} & own),
    "NOT disease IN ('flu', 'gout')": lambda own: not {"flu", "gout"} & own,
    "disease = 'flu' AND disease = 'gout'": lambda own: {"flu", "gout"} <= own,
    "disease >= 'g' AND disease < 'h'": lambda own: any("g" <= one for one in own) and any(one < "h" for one in own),
}


@pytest.mark.parametrize("where", QUESTIONS)
def test_a_question_counts_people_who_have_a_value_among_others(where: str) -> None:
    table = together()
    rows = stays()
    own: dict[int, set[str]] = {}
    for person, ill in zip(rows["patient"], rows["disease"], strict=True):
        own.setdefault(person, set()).add(ill)
    answer = gh.query(gh.publish(table, principle="3-diversity"), f"SELECT COUNT(*) WHERE {where}")

    assert answer.value == pytest.approx(sum(map(QUESTIONS[where], own.values())))
    assert any("contains sets of values" in note for note in answer.notes)
    assert true_answer(table, answer.question, answer.keys) == [(round(answer.value),)]


def test_a_person_is_counted_under_every_value() -> None:
    table = together()
    answer = gh.query(gh.publish(table, principle="3-diversity"), "SELECT disease, COUNT(*) GROUP BY disease")

    shares = member_shares(sets_of(table))
    assert len(answer.keys) == len(DISEASES)
    assert sum(row[0].value for row in answer.estimates) > table.n_tuples
    assert sorted(round(row[0].value) for row in answer.estimates) == sorted(int(200 * s) for s in shares.values())
    assert true_answer(table, answer.question, answer.keys) == [(round(row[0].value),) for row in answer.estimates]


def test_a_value_that_nobody_has_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(gh.DomainError, match="did you mean 'flu'"):
        gh.query(gh.publish(together(), principle="3-diversity"), "SELECT COUNT(*) WHERE disease = 'flue'")


# --- what is not promised ---------------------------------------------------------------------------------------------


def test_an_attacker_who_knows_how_many_rows_a_person_has_rules_sets_out() -> None:
    """Four people, l = 2: a person known to have one row has one of the sets with one value, here the flu."""
    rows = {"id": [0, 1, 1, 2, 2, 3, 3], "x": [1, 2, 2, 3, 3, 4, 4], "s": list("fabcdag")}
    table = gh.read(rows, identifier="id", quasi=["x"], sensitive="s", repeated="together")
    release = gh.publish(table, principle="2-diversity", method=gh.Mirror(floor=4), recoding="anatomy")
    found = gh.attack(release, knowledge=attackers(table))

    assert found.of(0)["f"] == 0.25
    (alone,) = [one for one in map(json.loads, release.tables["st"]["s"].to_pylist()) if len(one) == 1]
    assert alone == ["f"]
    assert KNOWN_NUMBERS in release.guarantee.limits


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[0, 1, 2], [0, 3, 4]], {0: Fraction(1)}),
        ([[0, 1], [0, 1], [0, 2]], {0: Fraction(1)}),
        ([[0, 0, 1, 2], [0, 1, 1, 3]], {0: Fraction(1, 2), 1: Fraction(1, 2)}),
        ([[0, 0, 1, 2], [0, 0, 1, 2]], {0: Fraction(2, 3), 1: Fraction(1, 6), 2: Fraction(1, 6)}),
    ],
)
def test_people_who_are_known_to_share_a_value_are_found_by_what_their_groups_share(
    groups: list[list[int]], expected: dict[int, Fraction]
) -> None:
    assert sharing_by_force(groups) == shared_value(groups) == expected


def test_two_relatives_in_groups_of_three_give_their_value_away_and_a_household_does_not() -> None:
    """The smallest example of the documentation: each is believed with 1/3, and both together with certainty."""
    rows = {
        "person": [0, 1, 2, 3, 4, 5],
        "household": [0, 1, 2, 0, 3, 4],
        "x": [1, 1, 1, 9, 9, 9],
        "s": ["flu", "gout", "ulcer", "flu", "cold", "burn"],
    }
    apart = gh.read(rows, identifier="person", quasi=["x"], sensitive="s")
    with pytest.warns(gh.DisclosureWarning):
        release = gh.publish(apart, principle="3-diversity", method="mondrian", recoding="anatomy")
    found = gh.attack(release, knowledge=attackers(apart))
    assert found.of(0)["flu"] == found.of(3)["flu"] == pytest.approx(1 / 3)
    assert set(found.of(0)) & set(found.of(3)) == {"flu"}  # who knows that 0 and 3 share it knows what it is
    assert any("To protect whole households" in notice for notice in apart.notices)
    assert RELATED in release.guarantee.limits

    homes = gh.read({**rows, "x": [1] * 6}, identifier="household", repeated="together", quasi=["x"], sensitive="s")
    release = gh.publish(homes, principle="3-diversity")
    assert gh.attack(release, knowledge=attackers(homes)).worst().belief <= 1 / 3


def test_without_an_identifier_nothing_is_said_of_relatives() -> None:
    table = gh.read({"x": [1, 2, 3, 4], "s": list("abcd")}, quasi=["x"], sensitive="s")
    assert RELATED not in gh.publish(table, principle="2-diversity").guarantee.limits


# --- the doors --------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(pa.table(stays()), tmp_path / "stays.csv")
    return tmp_path


OPTIONS = "--identifier patient --quasi age,zip --sensitive disease --ell 3"


@pytest.mark.parametrize("repeated", ["sample", "together"])
@pytest.mark.parametrize("report", ["none", "brief"])
def test_the_command_line_and_a_policy_publish_as_the_library_does(folder: Path, repeated: str, report: str) -> None:
    run(f"glasshouse publish stays.csv {OPTIONS} --repeated {repeated} --report {report} --out out")
    assert gh.verify(folder / "out").holds
    assert gh.load(folder / "out" / "release").n_tuples == 200
    chosen = {"file": "stays.csv", **ROLES, "repeated": repeated, "ell": 3, "report": "none", "out": "again"}
    (folder / "policy.toml").write_text(policy_text(chosen))
    assert f'repeated = "{repeated}"' in (folder / "policy.toml").read_text()
    assert f"--repeated {repeated}" in str(command_line(chosen))
    assert "were" in run("glasshouse publish policy.toml").output
    assert gh.load_policy(folder / "policy.toml").read().n_tuples == 200


@pytest.mark.parametrize("repeated", ["sample", "together"])
def test_the_same_key_gives_the_same_bytes_whatever_the_order_of_rows(folder: Path, repeated: str) -> None:
    rows = stays()
    order = np.random.default_rng(5).permutation(len(rows["age"]))
    pa_csv.write_csv(pa.table(rows).take(pa.array(order)), folder / "other.csv")
    found = []
    for file in ("stays.csv", "other.csv"):
        chosen = {"file": file, **ROLES, "repeated": repeated, "ell": 3, "report": "none", "out": f"out-{file}"}
        work = Publication({**chosen, "sensitive": ["disease"]}, source=gh.Source.seeded(7))
        work.publish(work.prepare())
        found.append({p.name: p.read_bytes() for p in (folder / f"out-{file}" / "release").iterdir()})
    assert found[0] == found[1]


def test_the_command_line_names_the_ways_out_as_its_own_options(folder: Path) -> None:
    told = run(f"glasshouse publish stays.csv {OPTIONS} --out out", code=2).output
    assert "--repeated together" in told
    assert "--repeated sample" in told
    assert "repeated='" not in told
    assert not (folder / "out").exists()


@pytest.mark.parametrize("repeated", ["sample", "together"])
def test_engines_that_read_in_batches_refuse_it_by_name(folder: Path, repeated: str) -> None:
    told = run(f"glasshouse publish stays.csv {OPTIONS} --repeated {repeated} --engine disk --out out", code=2).output
    assert f"--repeated {repeated} cannot be used with --engine disk" in told
    assert "memory" in told


def test_attacks_and_questions_at_the_command_line(folder: Path) -> None:
    run(f"glasshouse publish stays.csv {OPTIONS} --repeated together --report full --out out")
    assert (folder / "out" / "audit" / "report.html").exists()
    assert "set of a person" in run(f"glasshouse publish stays.csv {OPTIONS} --repeated together --out b").output
    told = run("""glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'flu'" """).output
    assert "contains sets of values" in told
    table = together()
    ages, zips = (column.domain.decode(column.codes) for column in table.quasi)
    pa_csv.write_csv(pa.table({"name": table.identifier, "age": ages, "zip": zips}), folder / "voters.csv")
    told = run("glasshouse attack out/release --external voters.csv --identifier name").output
    assert "the sum of the probabilities of the sets" in told
    run("glasshouse verify out/release")
