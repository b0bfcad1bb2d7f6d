# SPDX-License-Identifier: Apache-2.0
"""What a table holds that it should not: records in the place of values, and values that only look different."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.microdata.cautions import CAUTIONS, Findings, Written
from glasshouse.microdata.spelling import alike, cleaned, key, spellings
from glasshouse.streaming.publish import publish_file
from tests.tiers import examples

HEADER = ["age", "zip", "disease"]
ROWS = [[str(20 + i % 50), f"0{1000 + i}", f"disease {i % 7}"] for i in range(400)]
ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": "disease"}
SECRET = "01234"  # of a record that must not be shown

Door = Callable[..., gh.Microdata | None]


def text_of(rows: list[list[str]], *, delimiter: str = ",", end: str = "\n", header: list[str] = HEADER) -> str:
    return "".join(delimiter.join(row) + end for row in [header, *rows])


def in_memory(path: Path, **options: Any) -> None:
    gh.publish(gh.read(path, **{**ROLES, **options}), principle=gh.LDiversity(ell=2))


def on_disk(path: Path, **options: Any) -> None:
    out = path.parent / f"out-{len(list(path.parent.iterdir()))}"
    publish_file(out, path, **{**ROLES, **options}, principle=gh.LDiversity(ell=2))


DOORS = pytest.mark.parametrize("publish", [in_memory, on_disk])


def with_quote(rows: list[list[str]], i: int, column: int, *, closed_in: int | None = None) -> list[list[str]]:
    """The same rows, with a stray mark before one value, and perhaps another, later."""
    changed = [list(row) for row in rows]
    changed[i][column] = '"' + changed[i][column]
    if closed_in is not None:
        changed[closed_in][column] = '"' + changed[closed_in][column]
    return changed


# --------------------------------------------------------------------------------------------- a mark that stays open


@DOORS
@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_mark_that_is_never_closed_is_refused_with_its_line(
    tmp_path: Path, publish: Door, column: int, end: str, delimiter: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text_of(with_quote(ROWS, 234, column), delimiter=delimiter, end=end).encode())
    with pytest.raises(gh.SourceError, match=r"quotation mark in line 236 .* not closed") as refusal:
        publish(path)
    assert ROWS[300][1] not in str(refusal.value)
    with pytest.raises(gh.SourceError, match="line 236"):
        gh.inspect(path)


@DOORS
@pytest.mark.parametrize("how", ["gzip", "zstd", "utf-16", "cp1252", "marked"])
def test_so_it_is_in_packed_files_and_in_other_encodings(tmp_path: Path, publish: Door, how: str) -> None:
    text = text_of([["20", "01000", "Grippe Köln"], *with_quote(ROWS, 100, 2)])
    content = text.encode({"utf-16": "utf-16", "cp1252": "cp1252", "marked": "utf-8-sig"}.get(how, "utf-8"))
    if how == "gzip":
        content = gzip.compress(content)
    elif how == "zstd":
        content = pa.compress(content, codec="zstd", asbytes=True)
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(gh.SourceError, match="line 103"):
        publish(path)


@DOORS
def test_so_it_is_where_the_file_is_read_in_many_blocks(tmp_path: Path, publish: Door) -> None:
    many = ROWS * 1500  # some ten megabytes, and more than two blocks of either engine
    path = tmp_path / "t.csv"
    path.write_text(text_of(with_quote(many, len(many) - 50_000, 2)))
    with pytest.raises(gh.SourceError, match=f"line {len(many) - 50_000 + 2:,}"):
        publish(path)
    path.write_text(text_of(with_quote(many, 300_000, 2, closed_in=300_100)))
    with pytest.raises(gh.CautionError, match=r"joined-records: column 'disease' has 1 value .*line 300,002"):
        publish(path)


@DOORS
def test_a_mark_that_a_backslash_should_escape_does_not_pass_unseen(tmp_path: Path, publish: Door) -> None:
    rows = [list(row) for row in ROWS]
    rows[50][2] = '"a so-called \\""'
    path = tmp_path / "t.csv"
    path.write_text(text_of(rows))
    with pytest.raises(gh.SourceError, match="line 52"):
        publish(path)
    rows[50][2] = '"a \\"flu\\" of sorts"'
    path.write_text(text_of(rows))
    assert any(
        "with text after the closing quotation mark" in notice and "line 52" in notice
        for notice in gh.read(path, **ROLES).notices
    )


def test_marks_that_are_where_they_belong_are_no_trouble(tmp_path: Path) -> None:
    rows = [[f'"{value}"' for value in row] for row in ROWS]
    rows[3][2] = '"said ""flu"", twice"'
    rows[4][2] = '5" long'
    for publish in (in_memory, on_disk):
        path = tmp_path / f"{publish.__name__}.csv"
        path.write_text(text_of(rows, header=['"age"', '"zip"', '"disease"']))
        publish(path)


@pytest.mark.parametrize("closed", [True, False])
def test_a_header_that_swallows_records_is_refused_and_not_shown(tmp_path: Path, closed: bool) -> None:
    path = tmp_path / "t.csv"
    rows = [["30", SECRET, "flu"], ["31", "01235", '"ulcer' if closed else "ulcer"], ["32", "01236", "flu"]]
    path.write_text(text_of(rows, header=["age", "zip", '"disease']))
    for look in (lambda: gh.read(path, **ROLES), lambda: gh.inspect(path), lambda: on_disk(path)):
        with pytest.raises(gh.InputError, match="quotation mark") as refusal:
            look()
        assert SECRET not in str(refusal.value)


# ------------------------------------------------------------------------------------------ records in place of values


@DOORS
def test_a_mark_that_another_one_closes_is_met_before_anything_is_published(tmp_path: Path, publish: Door) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text_of(with_quote(ROWS, 100, 2, closed_in=300)))
    with pytest.raises(gh.CautionError) as refusal:
        publish(path)
    told = str(refusal.value)
    assert [caution.name for caution in refusal.value.cautions] == ["joined-records", "line-breaks", "long-values"]
    assert {(caution.column, caution.count) for caution in refusal.value.cautions} == {("disease", 1)}
    assert "line 102" in told
    assert "accept=['joined-records', 'line-breaks', 'long-values']" in told
    assert ROWS[150][1] not in told
    assert "\n" not in told
    with pytest.raises(gh.CautionError) as refusal:
        publish(path, accept=["line-breaks", "long-values:disease"])
    assert [caution.name for caution in refusal.value.cautions] == ["joined-records"]
    publish(path, accept=["line-breaks", "long-values:disease", "joined-records"])


@DOORS
def test_so_it_is_in_a_column_that_has_no_role(tmp_path: Path, publish: Door) -> None:
    header = ["age", "note", "zip", "disease"]
    rows = [[age, "seen", *others] for age, *others in ROWS]
    path = tmp_path / "t.csv"
    path.write_text(text_of(with_quote(rows, 100, 1, closed_in=101), header=header))
    with pytest.raises(gh.CautionError, match=r"'note' has 1 value that looks like several records .*line 102"):
        publish(path)
    rows[100][1] = '"first line\nsecond line"'
    path.write_text(text_of(rows, header=header))
    publish(path)
    assert any("line breaks in note, which has no role: 1" in notice for notice in gh.read(path, **ROLES).notices)


@DOORS
def test_normalising_does_not_hide_line_breaks(tmp_path: Path, publish: Door) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text_of(with_quote(ROWS, 100, 2, closed_in=101)))
    with pytest.raises(gh.CautionError, match="line-breaks"):
        publish(path, normalise=["disease"])


def frames(columns: dict[str, list[Any]], folder: Path) -> list[Any]:
    table = pa.table(columns)
    pq.write_table(table, folder / "t.parquet")
    with pa.ipc.new_file(str(folder / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    encoded = pa.table({name: pa.array(values).dictionary_encode() for name, values in columns.items()})
    return [columns, table, encoded, pd.DataFrame(columns), folder / "t.parquet", folder / "t.arrow"]


@pytest.mark.parametrize("role", ["quasi", "sensitive", "identifier"])
def test_frames_and_files_that_know_their_types_get_the_same_caution(tmp_path: Path, role: str) -> None:
    people = {"who": [f"p{i}" for i in range(60)], "town": ["Oslo", "Rome"] * 30, "disease": ["flu", "gout"] * 30}
    column = {"quasi": "town", "sensitive": "disease", "identifier": "who"}[role]
    people[column][7] = "a,b,c\nd,e,f\ng"
    for source in frames(people, tmp_path):
        found = gh.read(source, quasi=["town"], sensitive="disease", identifier="who").cautions
        assert [(c.name, c.column, c.count) for c in found] == [
            ("joined-records", column, 1),
            ("line-breaks", column, 1),
        ]
    people[column][7] = "x" * 300
    names = [] if role == "identifier" else ["long-values"]
    for source in frames(people, tmp_path):
        found = gh.read(source, quasi=["town"], sensitive="disease", identifier="who").cautions
        assert [c.name for c in found] == names


def test_long_values_are_those_behind_a_gap_that_single_rows_have() -> None:
    def found(texts: list[str], rows: list[int] | None = None) -> list[int]:
        findings = Findings(Written(n_columns=3, delimiters=(",",)))
        findings.look("x", "quasi", pa.array(texts), np.array(rows or [1] * len(texts)))
        return [caution.count for caution in findings.cautions if caution.name == "long-values"]

    short = [f"disease {i}" for i in range(20)]
    assert found([*short, "x" * 29_017]) == [1]
    assert found([*short, "x" * 120, "x" * 29_017]) == [2]
    assert found([*short, "x" * 99]) == []  # nothing of a hundred characters
    assert found([*short, *("x" * (30 * 2**i) for i in range(10))]) == []  # free text: of every length
    assert found([*short, "other: " + "x" * 300], [5] * 20 + [2]) == []  # an answer that several people chose
    assert found(["x" * 500]) == []


# ---------------------------------------------------------------------------------------------- what was answered


def test_what_was_accepted_is_in_the_audit_and_nowhere_in_the_release(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [list(row) for row in ROWS]
    rows[7][2] = '"two\nlines"'
    path.write_text(text_of(rows))
    table = gh.read(path, **ROLES, accept="line-breaks")
    gh.publish(table, out=tmp_path / "memory", principle=gh.LDiversity(ell=2))
    made = publish_file(tmp_path / "disk", path, **ROLES, accept=["line-breaks"], principle=gh.LDiversity(ell=2))
    assert made.cautions == table.cautions
    for out in (tmp_path / "memory", tmp_path / "disk"):
        report = json.loads((out / "audit" / "report.json").read_text())
        (accepted,) = report["accepted"]
        assert (accepted["name"], accepted["column"], accepted["count"]) == ("line-breaks", "disease", 1)
        assert any(notice.startswith("accepted (line-breaks)") for notice in report["notices"])
        for file in (out / "release").iterdir():
            assert b"line-breaks" not in file.read_bytes()
            assert b"accept" not in file.read_bytes()


def test_a_caution_that_does_not_exist_is_refused_with_the_nearest() -> None:
    people = {"age": [1, 2], "disease": ["flu", "gout"]}
    with pytest.raises(gh.InputError, match="did you mean 'line-breaks'"):
        gh.read(people, quasi=["age"], sensitive="disease", accept=["line-break"])
    with pytest.raises(gh.SchemaError, match="did you mean 'disease'"):
        gh.read(people, quasi=["age"], sensitive="disease", accept=["line-breaks:diseases"])
    for name in CAUTIONS:
        gh.read(people, quasi=["age"], sensitive="disease", accept=[name, f"{name}:age"])


def test_neither_message_nor_repr_of_a_caution_shows_a_value() -> None:
    people = {"age": [1, 2, 3], "disease": ["gonorrhoea", "Gonorrhoea", "gonorrhoea\u200b"]}
    table = gh.read(people, quasi=["age"], sensitive="disease")
    (caution,) = table.cautions
    assert caution.count == 3
    with pytest.raises(gh.CautionError) as refusal:
        gh.publish(table, principle=gh.LDiversity(ell=2))
    for told in (str(refusal.value), repr(caution), str(caution), repr(table), *table.notices, str(caution.to_dict())):
        assert "onorrh" not in told
    assert caution.shown == ("'Gonorrhoea' (1), 'gonorrhoea' (1), 'gonorrhoea\\u200b' (1)",)


def test_inspect_shows_cautions_and_the_values_that_look_alike(tmp_path: Path) -> None:
    people = {"age": [30, 31, 32, 33], "disease": ["flu", "flu ", "FLU", "a,b\nc"]}
    report = gh.inspect(people, sensitive="disease")
    assert [caution.name for caution in report.cautions] == ["joined-records", "line-breaks", "look-alikes"]
    printed = str(report)
    assert "'FLU' (1), 'flu' (1), 'flu ' (1)" in printed
    assert "normalise=['disease']" in printed
    assert report.to_dict()["cautions"][2]["examples"] == ["'FLU' (1), 'flu' (1), 'flu ' (1)"]
    assert "flu" not in repr(report)
    from glasshouse.policy import policy_from

    written = policy_from(report, file="t.csv")
    assert '# accept = ["joined-records", "line-breaks", "look-alikes"]' in written
    assert "flu" not in written.lower()
    policy = tmp_path / "policy.toml"
    policy.write_text(written.replace("# accept", "accept"))
    assert gh.load_policy(policy).read_arguments()["accept"] == ["joined-records", "line-breaks", "look-alikes"]


# ------------------------------------------------------------------------------------------------ look-alike values

ALIKE = [
    ("flu", "flu "),
    ("flu", "FLU"),
    ("flu", "flu\u200b"),
    ("flu", "\ufeffflu"),
    ("flu", "f\u00adlu"),
    ("caf\u00e9", "cafe\u0301"),
    ("heart disease", "heart\u00a0disease"),
    ("heart disease", "heart  disease"),
    ("heart disease", "heart\tdisease"),
    ("self-harm", "self\u2010harm"),
    ("self-harm", "self\u2013harm"),
    ("type -1", "type \u22121"),
    ("Crohn's disease", "Crohn\u2019s disease"),
    ("type 2", "type \uff12"),
    ("Stra\u00dfe", "STRASSE"),
    ("yes", "Yes"),
    ("\u30ac", "\uff76\uff9e"),
    ("a\u2800b", "a b"),
]
DIFFERENT = [("flu", "flue"), ("10\u00b2", "102"), ("e", "\u00e9"), ("a b", "ab"), ("1", "l"), ("\u00bd", "12")]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_looks_alike_has_one_key(one: str, other: str) -> None:
    assert key(one) == key(other)
    assert len(alike(pa.array(sorted({one, other, "another"})))) == 1


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_looks_different_has_two(one: str, other: str) -> None:
    assert key(one) != key(other)
    assert alike(pa.array([one, other])) == []


@settings(max_examples=examples(1000), deadline=None)
@given(st.text(), st.randoms())
def test_cleaning_twice_is_cleaning_once(text: str, chance: Any) -> None:
    assert cleaned(cleaned(text)) == cleaned(text)
    assert key(key(text)) == key(text)
    assert key(cleaned(text)) == key(text)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.text("aAbB -\u200b\u00a0\u2013", max_size=4), min_size=1, max_size=12), st.randoms())
def test_the_arrays_find_what_the_keys_say_and_order_does_not_matter(texts: list[str], chance: Any) -> None:
    different = sorted(set(texts))
    kinds = {frozenset(t for t in different if key(t) == key(one)) for one in different}
    found = {frozenset(different[i] for i in places) for places in alike(pa.array(different))}
    assert found == {kind for kind in kinds if len(kind) > 1}
    counts = {text: texts.count(text) for text in texts}
    shuffled = list(counts.items())
    chance.shuffle(shuffled)
    assert spellings(counts) == spellings(dict(shuffled))


@DOORS
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_two_spellings_of_one_sensitive_value_are_met_and_can_be_merged(
    tmp_path: Path, publish: Door, one: str, other: str
) -> None:
    rows = [[str(20 + i % 9), f"0{i % 5}", [one, other, "gout"][i % 3]] for i in range(90)]
    path = tmp_path / "t.csv"
    path.write_text(text_of(rows), encoding="utf-8")
    with pytest.raises(gh.CautionError, match="look-alikes: the sensitive column 'disease' has 2 values"):
        publish(path)
    publish(path, accept=["look-alikes"])
    with pytest.raises(gh.Infeasible):  # two thirds of the rows have the one value
        publish(path, normalise=["disease"])


def test_the_engines_keep_the_same_spellings_whatever_the_order_of_rows(tmp_path: Path) -> None:
    spelled = ["flu"] * 4 + ["Flu "] * 3 + ["Flu"] * 2 + ["Gout", "gout"] * 3 + ["x\u00a0y"] * 3 + ["z"] * 6
    towns = ["Oslo", "oslo", "OSLO", "Rome"] * 7
    domains = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(spelled))
        columns = {"town": [towns[i] for i in order], "disease": [spelled[i] for i in order]}
        path = tmp_path / f"{seed}.parquet"
        pq.write_table(pa.table(columns), path)
        roles: dict[str, Any] = {"quasi": ["town"], "sensitive": "disease", "normalise": ["town", "disease"]}
        table = gh.read(path, **roles)
        made = publish_file(tmp_path / f"out{seed}", path, **roles, principle=gh.LDiversity(ell=2), recoding="anatomy")
        release = gh.load(made.folder)
        counted: dict[str, int] = {}
        st = release.tables["st"]
        for value, count in zip(st["disease"].to_pylist(), st["Count"].to_pylist(), strict=True):
            counted[value] = counted.get(value, 0) + count
        assert counted == {"Flu": 9, "Gout": 6, "x y": 3, "z": 6}
        assert set(release.tables["qit"]["town"].to_pylist()) == {"OSLO", "Rome"}
        domains.add(tuple(table.column("disease").domain.values.to_pylist()))
        domains.add(tuple(sorted(counted)))
        assert table.cautions == ()
        assert made.cautions == ()
        assert any("values of disease that were replaced by another spelling" in notice for notice in made.notices)
    assert domains == {("Flu", "Gout", "x y", "z")}


def test_values_of_which_nothing_is_left_are_missing_in_both_engines(tmp_path: Path) -> None:
    columns = {"town": ["Oslo", " ", "\u200b", "Rome"] * 5, "disease": ["a", "b", "c", "d"] * 5}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    roles: dict[str, Any] = {"quasi": ["town"], "sensitive": "disease", "normalise": ["town"]}
    for read in (gh.read, lambda p, **o: publish_file(tmp_path / "x", p, **o, principle=gh.LDiversity(ell=2))):
        with pytest.raises(gh.DomainError, match=r"missing values in town \(10 of 20\)"):
            read(tmp_path / "t.parquet", **roles)
    made = publish_file(
        tmp_path / "out", tmp_path / "t.parquet", **roles, missing="drop", principle=gh.LDiversity(ell=2)
    )
    assert made.n_tuples == gh.read(tmp_path / "t.parquet", **roles, missing="drop").n_tuples == 10


def test_of_quasi_identifiers_look_alikes_are_a_notice() -> None:
    people = {"town": ["Oslo", "oslo", "1", "01"] * 3, "disease": ["a", "b", "c"] * 4}
    table = gh.read(people, quasi=["town"], sensitive="disease")
    assert table.cautions == ()
    assert any(
        "town has 2 values that differ from another value only in details such as upper and lower case" in notice
        for notice in table.notices
    )
    assert any("town has 2 values that write the same number in different ways" in notice for notice in table.notices)
    gh.publish(table, principle=gh.LDiversity(ell=2))


def test_look_alike_identifiers_are_said_and_refused_once_they_are_one() -> None:
    people = {"who": ["p1", "P1", "p2", "p3"], "town": ["a", "b", "c", "d"], "disease": ["a", "b", "c", "d"]}
    roles: dict[str, Any] = {"quasi": ["town"], "sensitive": "disease", "identifier": "who"}
    assert any("check whether a person is in the table twice" in notice for notice in gh.read(people, **roles).notices)
    with pytest.raises(gh.InputError, match="1 row has an identifier 'who' that an earlier row has"):
        gh.read(people, **roles, normalise=["who"])


def test_texts_of_one_number_and_several_words_for_missing_stop_publishing() -> None:
    ages = list(range(12))
    numbers = gh.read({"age": ages, "code": ["1", "1.0", "01", "2", "2.5", "x"] * 2}, quasi=["age"], sensitive="code")
    (caution,) = numbers.cautions
    assert (caution.name, caution.count) == ("same-numbers", 3)
    words = gh.read({"age": ages, "d": ["unknown", "n/a", "-", "flu"] * 3}, quasi=["age"], sensitive="d")
    (caution,) = words.cautions
    assert (caution.name, caution.count) == ("missing-words", 3)
    one = gh.read({"age": ages, "d": ["unknown", "flu", "gout"] * 4}, quasi=["age"], sensitive="d")
    assert one.cautions == ()
    assert any("stands for a missing value, in 4 rows" in notice for notice in one.notices)
    gaps = gh.read({"age": ages, "d": ["unknown", None, "gout"] * 4}, quasi=["age"], sensitive="d", missing="category")
    assert [caution.name for caution in gaps.cautions] == ["missing-words"]


# --------------------------------------------------------------------------------------- what was declared beforehand


def test_declared_orders_and_taxonomies_are_matched_in_their_own_spelling() -> None:
    people = {"grade": ["LOW", "low ", "High", "high"] * 3, "disease": ["Flu", "flu", "GOUT", "gout"] * 3}
    both = ["grade", "disease"]
    table = gh.read(
        people, quasi=["grade"], sensitive="disease", normalise=both, ordered={"grade": ["Low", "Middle", "High"]},
        taxonomies={"disease": gh.Taxonomy.from_nested({"any": {"lungs": ["flu"], "joints": ["Gout"]}})},
    )  # fmt: skip
    assert table.column("grade").domain.values.to_pylist() == ["Low", "High"]
    assert table.column("disease").domain.values.to_pylist() == ["flu", "Gout"]
    binned = gh.read(
        people, quasi=["grade"], sensitive="disease", normalise=both,
        bins={"disease": gh.Taxonomy.from_nested({"any": {"lungs": ["flu", "cold"], "joints": ["Gout", "x"]}})},
    )  # fmt: skip
    assert binned.column("disease").domain.values.to_pylist() == ["lungs", "joints"]
    with pytest.raises(gh.DomainError, match="two of the values declared for it differ only in spelling"):
        gh.read(people, quasi=["grade"], sensitive="disease", normalise=both, ordered={"grade": ["low", "LOW", "high"]})
    brought = pd.DataFrame(people).astype({"grade": pd.CategoricalDtype(["low ", "LOW", "High", "high"], ordered=True)})
    table = gh.read(brought, quasi=["grade"], sensitive="disease", normalise=both)
    assert table.column("grade").domain.values.to_pylist() == ["low ", "High"]


def test_designated_values_are_found_in_any_spelling_and_published_in_the_tables() -> None:
    people = {"age": list(range(24)), "disease": ["HIV", "hiv", *["flu"] * 5, "gout"] * 3}
    table = gh.read(people, quasi=["age"], sensitive="disease", normalise=["disease"])
    asked = gh.DesignatedLDiversity(ell=3, values=("Hiv ",))
    release = gh.publish(table, principle=asked, method=gh.Mondrian(), recoding=gh.Boxes())
    assert release.recipe.principle["values"] == ["HIV"]
    assert gh.verify(release).holds
    both = gh.AllOf(principles=(gh.KAnonymity(k=2), asked))
    release = gh.publish(table, principle={"disease": both}, method=gh.Mondrian(), recoding=gh.Boxes())
    assert "HIV" in str(release.recipe.principle)


def test_a_declared_domain_is_published_as_it_was_declared() -> None:
    people = {"age": [i % 6 for i in range(60)], "disease": ["hiv", "HIV ", "hiv", "flu", "gout", "cold"] * 10}
    table = gh.read(people, quasi=["age"], sensitive="disease", normalise=["disease"])
    declared = ["HIV", "Flu", "Gout", "Cold", "Measles"]
    release = gh.publish(
        table, principle=gh.RhoBreach(rho1="0.2", rho2="0.6", k=3), recoding=gh.Perturbed(domain=declared)
    )
    assert release.recipe.recoding["domain"] == declared
    assert set(release.data["disease"].to_pylist()) <= set(declared)
    from glasshouse.pages.report import make_report

    make_report(release, table)
    with pytest.raises(gh.DomainError, match="differ only in spelling"):
        gh.publish(
            table, principle=gh.RhoBreach(rho1="0.2", rho2="0.6", k=3),
            recoding=gh.Perturbed(domain=[*declared, "hiv"]),
        )  # fmt: skip
