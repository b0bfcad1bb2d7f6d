# SPDX-License-Identifier: Apache-2.0
"""Free text, and sensitive texts of which hardly one repeats, stop a publication until they are answered."""

from __future__ import annotations

from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.streaming.publish import publish_file
from tests.rooms.cli.world import run

N = 60
NOTES = [f"came in on day {i} with a sister and asked about room {i % 7}" for i in range(N)]
DISEASES = [["flu", "gout", "ulcer", "asthma"][i % 4] for i in range(N)]
HARMLESS = {
    "street": [f"{i % 9} Lower Mill Lane" for i in range(N)],
    "lives at": [f"{i} Mill Lane, Bath" for i in range(N)],
    "town": [f"Saint-Jean-{i} sur la Mer" for i in range(N)],
    "status": [["never married and not living with a partner at present", "married"][i % 2] for i in range(N)],
    "education": [f"some college or university, but no degree of kind {i % 20}" for i in range(N)],
}


def _people(column: str, values: list[str]) -> dict[str, list[object]]:
    return {"age": [20 + i % 40 for i in range(N)], column: list(values), "disease": list(DISEASES)}


def test_sentences_are_not_published_until_they_are_accepted() -> None:
    table = gh.read(_people("note", NOTES), quasi=["age", "note"], sensitive="disease")
    with pytest.raises(gh.CautionError, match="free-text: the quasi-identifier 'note'") as refused:
        gh.publish(table, principle=gh.LDiversity(ell=2))
    assert "sister" not in str(refused.value)
    accepted = gh.read(
        _people("note", NOTES), quasi=["age", "note"], sensitive="disease", accept=["free-text:note"]
    )  # fmt: skip
    assert gh.publish(accepted, principle=gh.LDiversity(ell=2)).n_tuples == N


def test_texts_that_are_cut_before_they_are_published_are_not_cautioned() -> None:
    topics = gh.Taxonomy.from_nested({"a visit": NOTES[:30], "a question": NOTES[30:]})
    table = gh.read(_people("note", NOTES), quasi=["age", "note"], sensitive="disease", bins={"note": topics})
    assert not table.cautions


@pytest.mark.parametrize("column", HARMLESS)
def test_short_or_repeated_texts_are_published_as_before(column: str) -> None:
    assert not gh.read(_people(column, HARMLESS[column]), quasi=["age", column], sensitive="disease").cautions


def test_names_of_people_get_one_caution_only() -> None:
    people = _people("address", [f"{i} Lower Mill Lane near the church in Bath, England" for i in range(N)])
    table = gh.read(people, quasi=["age", "address"], sensitive="disease")
    assert [caution.name for caution in table.cautions] == ["direct-identifiers"]


def test_the_disk_the_command_line_and_inspect_say_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = zip(range(N), NOTES, (f"p{i}@example.org" for i in range(N)), DISEASES, strict=True)
    Path("t.csv").write_text("age,note,contact,disease\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    with pytest.raises(gh.CautionError, match="free-text"):
        publish_file("disk", "t.csv", quasi=["age", "note"], sensitive="disease", principle=gh.LDiversity(2))
    given = "publish t.csv --quasi age,note --sensitive disease --ell 2 --no-report --no-flat --out out"
    result = run(given, code=2)
    assert "--accept free-text" in result.stderr
    assert "Not published: note." in result.stderr
    run(f"{given} --accept free-text")
    both = given.replace("age,note", "age,note,contact").replace("--out out", "--out both")
    assert "Not published: note, contact." in run(both, code=2).stderr
    found = gh.inspect("t.csv", sensitive="disease", roles={"note": "quasi"})
    assert "free-text" in [caution.name for caution in found.cautions]


CASES = [f"17-{i * 37:06}" for i in range(N)]


def _named(values: list[str], role: str = "sensitive") -> list[str]:
    people = {"age": [20 + i % 40 for i in range(len(values))], "case": values, "ill": DISEASES[: len(values)]}
    roles = {"quasi": ["age"], "sensitive": "case"} if role == "sensitive" else {"quasi": ["case"], "sensitive": "ill"}
    return [caution.name for caution in gh.read(people, **roles).cautions]  # type: ignore[arg-type]


def test_sensitive_texts_that_hardly_repeat_are_not_published_until_they_are_accepted() -> None:
    table = gh.read({"age": [*range(N)], "case": CASES}, quasi=["age"], sensitive="case")
    with pytest.raises(gh.CautionError, match=f"unique-values: the sensitive column 'case' has {N} diff") as refused:
        gh.publish(table, principle=gh.LDiversity(ell=3))
    assert CASES[5] not in str(refused.value)
    accepted = gh.read({"age": [*range(N)], "case": CASES}, quasi=["age"], sensitive="case", accept="unique-values")
    assert gh.publish(accepted, principle=gh.LDiversity(ell=3)).n_tuples == N


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (CASES, ["unique-values"]),
        ([*CASES[:54], *CASES[:6]], ["unique-values"]),
        ([*CASES[:53], *CASES[:7]], []),
        (CASES[:50], ["unique-values"]),
        (CASES[:49], []),
        (NOTES, ["free-text"]),
        ([f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i}" for i in range(N)], ["dates-as-text"]),
        ([f"${i + 1},{i * 7 + 100}.50" for i in range(N)], ["amounts-as-text"]),
        ([f"{i},{i % 7}5" for i in range(N)], ["decimal-commas"]),
    ],
)
def test_they_have_one_caution_and_texts_that_repeat_have_none(values: list[str], found: list[str]) -> None:
    assert _named(values) == found


def test_quasi_identifiers_and_texts_in_ranges_may_be_unique() -> None:
    assert _named(CASES, "quasi") == []
    people = {"age": [*range(N)], "case": CASES}
    years = gh.Taxonomy.from_nested({"early": CASES[:30], "late": CASES[30:]})
    assert not gh.read(people, quasi=["age"], sensitive="case", bins={"case": years}).cautions


def test_the_disk_the_command_line_inspect_and_init_say_it_of_unique_texts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 40},{case},{ill}\n" for i, (case, ill) in enumerate(zip(CASES, DISEASES, strict=True))]
    Path("t.csv").write_text("age,case,ill\n" + "".join(rows))
    roles = {"quasi": ["age"], "sensitive": ["case", "ill"]}
    with pytest.raises(gh.CautionError, match="unique-values") as refused:
        publish_file("disk", "t.csv", **roles, principle=gh.LDiversity(2))  # type: ignore[arg-type]
    assert tuple(refused.value.cautions) == gh.read("t.csv", **roles).cautions  # type: ignore[arg-type]
    told = run("publish t.csv --quasi age --sensitive case,ill --ell 2 --no-report --no-flat --out out", code=2).stderr
    assert "--accept unique-values" in told
    assert "Not published: case." in told
    found = gh.inspect("t.csv", sensitive="case")
    assert [caution.name for caution in found.cautions] == ["unique-values"]
    run("init t.csv --sensitive case")
    assert "not published: case, of which hardly any value repeats" in Path("policy.toml").read_text()
    run("publish policy.toml --no-report")
