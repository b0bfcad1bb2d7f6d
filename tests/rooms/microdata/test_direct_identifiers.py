# SPDX-License-Identifier: Apache-2.0
"""Names, addresses and numbers of single people as quasi-identifiers stop a publication until it is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.streaming.publish import publish_file
from tests.rooms.cli.world import run

N = 60
FIRST, LAST = ["Ann", "Bob", "Eve", "Joe", "Kim", "Lea"], ["Ames", "Bell", "Cole", "Dunn", "Eads", "Ford", "Gray"]
PEOPLE: dict[str, list[Any]] = {
    "full name": [f"{FIRST[i % 6]} {LAST[i // 6 % 7]}-{LAST[i % 7]}" for i in range(N)],
    "surname": [f"{LAST[i % 7]}{i // 2}" for i in range(N)],
    "name": [f"person{i}" for i in range(N)],
    "who": [f"{FIRST[i % 6]} {'ABCDEFGHIJ'[i // 6]}. {LAST[i % 7]}" for i in range(N)],
    "contact": [f"p{i}@example.org" for i in range(N)],
    "phone": [5_550_000 + i for i in range(N)],
    "reached at": [f"+49 30 555 {1000 + i}" for i in range(N)],
    "tax file": [f"{100 + i}-{10 + i}-{1000 + i}" for i in range(N)],
}
HARMLESS: dict[str, list[Any]] = {
    "city name": [f"New {LAST[i % 7]}{'abcdefghij'[i % 10]}" for i in range(N)],
    "zipcode": [f"{10_000 + i}" for i in range(N)],
    "mobile": [["yes", "no", "no answer", "refused"][i % 4] for i in range(N)],
    "street": [f"{LAST[i % 7]} Street" for i in range(N)],
    "birth date": [f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i}" for i in range(N)],
    "phone since": [f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i}" for i in range(N)],
    "number": list(range(N)),
    "workplace": [f"place {i % 9}" for i in range(N)],
}
DISEASES = [["flu", "gout", "ulcer", "asthma"][i % 4] for i in range(N)]


def table(column: str, values: list[Any], **options: Any) -> gh.Microdata:
    people = {"age": [20 + i % 40 for i in range(N)], column: values, "disease": DISEASES}
    return gh.read(people, quasi=["age", column], sensitive="disease", **options)


@pytest.mark.parametrize("column", PEOPLE)
def test_what_names_or_reaches_one_person_is_not_published_until_it_is_accepted_by_name(column: str) -> None:
    with pytest.raises(gh.CautionError, match="direct-identifiers: the quasi-identifier") as refused:
        gh.publish(table(column, PEOPLE[column]), principle=gh.LDiversity(ell=2))
    assert [caution.column for caution in refused.value.cautions] == [column]
    assert str(PEOPLE[column][0]) not in str(refused.value)
    accepted = table(column, PEOPLE[column], accept=[f"direct-identifiers:{column}"])
    assert gh.publish(accepted, principle=gh.LDiversity(ell=2)).n_tuples == N


@pytest.mark.parametrize("column", HARMLESS)
def test_what_others_know_of_people_is_published_as_before(column: str) -> None:
    assert not table(column, HARMLESS[column]).cautions


def test_the_disk_the_command_line_and_inspect_say_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = zip(range(N), PEOPLE["contact"], DISEASES, strict=True)
    Path("people.csv").write_text("age,contact,disease\n" + "".join(f"{a},{c},{d}\n" for a, c, d in rows))
    with pytest.raises(gh.CautionError, match="direct-identifiers"):
        publish_file("disk", "people.csv", quasi=["age", "contact"], sensitive="disease", principle=gh.LDiversity(2))
    given = "publish people.csv --quasi age,contact --sensitive disease --ell 2 --no-report --out out"
    result = run(given, code=2)
    assert "looks like e-mail addresses" in result.stderr
    assert "--accept direct-identifiers" in result.stderr
    assert "Not published: contact." in result.stderr
    assert not Path("out").exists()
    run(f"{given} --accept direct-identifiers")
    found = gh.inspect("people.csv", sensitive="disease", roles={"contact": "quasi"})
    assert "direct-identifiers" in [caution.name for caution in found.cautions]
