# SPDX-License-Identifier: Apache-2.0
"""Files of ARX: hierarchies in every spelling, and the roles and hierarchies of a project. The samples are our own."""

from __future__ import annotations

import datetime as dt
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.reading.arx_project import read_arx_project
from glasshouse.policy.arx_policy import taxonomy_files

TREE = gh.Taxonomy.from_nested({"*": {"lungs": ["flu", "asthma"], "stomach": ["ulcer"]}})
ROWS = [["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]]
DEFINITION = """<?xml version="1.0"?>
<definition>
 <assigment><name>patient</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
 <assigment><name>age &amp; more</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type>
 <ref>hierarchies/age &amp; more.csv</ref></assigment>
 <assigment><name>sex</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type></assigment>
 <assigment><name>disease</name><type>SENSITIVE_ATTRIBUTE</type></assigment>
 <assigment><name>ward</name><type>INSENSITIVE_ATTRIBUTE</type></assigment>
</definition>
"""
PROJECT = "<project><name>study</name><separator>;</separator><quote>&quot;</quote></project>"
AGES = "1;[0, 5[;*\n7;[5, 9[;*\n"
HIERARCHY = "input/hierarchies/age & more.csv"
CONFIGURATION = "<config><criteria><criterion>5-anonymity</criterion></criteria></config>"


def write(folder: Path, delimiter: str, *, header: bool = False, end: str = "\n", mark: str = "") -> Path:
    rows = [["Level-0", "Level-1", "Level-2"], *ROWS] if header else ROWS
    path = folder / "t.csv"
    path.write_text(mark + "".join(delimiter.join(row) + end for row in rows), encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_spelling_is_read(tmp_path: Path, delimiter: str, header: bool, end: str, mark: str) -> None:
    path = write(tmp_path, delimiter, header=header, end=end, mark=mark)
    assert gh.Taxonomy.from_csv(path) == TREE
    assert gh.Taxonomy.of(str(path)) == TREE
    assert gh.Taxonomy.from_csv(path, delimiter, header=header) == TREE


def test_what_fits_in_two_ways_is_refused_and_quotation_marks_settle_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,1;x,*\nb,2;x,*\n")
    with pytest.raises(gh.DomainError, match="may be separated by a semicolon or a comma: say which") as refused:
        gh.Taxonomy.from_csv(path)
    assert "delimiter=" in str(refused.value)
    assert gh.Taxonomy.from_csv(path, ",").leaves == ("a", "b")
    path.write_text('"a,1";"x,*"\n"b,2";"x,*"\n')
    assert gh.Taxonomy.from_csv(path).leaves == ("a,1", "b,2")
    path.write_text("age;any\n5;*\n")
    with pytest.raises(gh.DomainError, match="is the root, and must be the same"):
        gh.Taxonomy.from_csv(path)
    assert gh.Taxonomy.from_csv(path, header=True).leaves == ("5",)


def test_labels_in_the_notations_of_arx_are_nodes(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text("".join(f"{i};[{i // 10 * 10}, {i // 10 * 10 + 10}[;[20, 40[;*\n" for i in range(20, 40)))
    sexes = tmp_path / "sex.csv"
    sexes.write_text("F;{F, M};*\nM;{F, M};*\n")
    table = pa.table({"age": list(range(20, 40)) * 2, "sex": ["F", "M"] * 20, "x": ["a", "b", "c", "d"] * 10})
    read = gh.read(table, quasi=["age", "sex"], sensitive="x", taxonomies={"age": path, "sex": sexes})
    release = gh.publish(read, principle="10-anonymity", recoding="taxonomies", carry="declared")
    assert set(release.data["age"].to_pylist()) <= {"[20, 30[", "[30, 40[", "[20, 40[", "*"}
    assert gh.verify(release).holds
    assert gh.query(release, "SELECT COUNT(*) WHERE age BETWEEN 20 AND 39").value == 40


def again(folder: Path, tree: gh.Taxonomy, values: pa.Array | None = None, delimiter: str = ";") -> gh.Taxonomy:
    """What is read from the file that a taxonomy is written to."""
    path = folder / "again.csv"
    path.write_bytes(tree.to_csv(values, delimiter=delimiter).encode())
    return gh.Taxonomy.from_csv(path)


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_taxonomies_are_written_as_hierarchies_and_read_again(tmp_path: Path, delimiter: str) -> None:
    uneven = gh.Taxonomy.from_nested({"*": {"a": {"b": ["c; d", "e"]}, "f": []}})
    two_ways = gh.Taxonomy.from_nested({"x,*": {"y,1;y,2": ["a,1\t2", "b,2\t3"]}})
    odd = gh.Taxonomy.from_nested(
        {"all": {"\ufeffmark": ["\ufefffirst", 'a "quote"', "two\r\nlines", "\r"], " ": [""]}}
    )
    for tree in (TREE, uneven, two_ways, odd):
        assert again(tmp_path, tree, delimiter=delimiter) == tree
    others = gh.Taxonomy.from_nested({"*": {"lungs": {"other": ["a"]}, "skin": {"other": ["b"]}}})
    assert again(tmp_path, others, delimiter=delimiter).leaves_below == others.leaves_below


labels = st.text(st.sampled_from('ab;,\t"[{ \n\r\ufeff*'), max_size=4)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(labels, st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6, unique_by=lambda row: row[0]
    ),
    st.sampled_from([";", ",", "\t"]),
)
def test_any_labels_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list, delimiter: str) -> None:
    nested: dict = {}
    for label, one, other in rows:
        nested.setdefault(f"top{other}", {}).setdefault(f"low,{one};{other}", []).append(label)
    tree = gh.Taxonomy.from_nested({"root": nested})
    assert again(tmp_path_factory.mktemp("h"), tree, delimiter=delimiter) == tree


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("prefix:5", pa.array(["01305", "01310", None, "02139", "01305"])),
        ("prefix:5", pa.array([1305, 2139])),
        ("intervals:10", pa.array([3, 17, 25, -4])),
        ("intervals:0.5", pa.array([0.5, float("nan"), 2.25])),
        ("dates:month,year", pa.array([dt.date(2020, 1, 5), dt.date(2021, 3, 5)])),
        ("quantiles:2", pa.chunked_array([[1, 1, 1], [1, 2, 3]])),
    ],
)
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_a_rule_becomes_the_hierarchy_of_the_values(tmp_path: Path, rule: str, values: pa.Array) -> None:
    tree = gh.Taxonomy.of(rule)
    counted = values.drop_null().filter(
        pc.is_valid(pc.if_else(pc.equal(values.drop_null(), values.drop_null()), 1, None))
    )
    distinct = counted.value_counts()
    here = tree.bind("x", distinct.field(0), counts=distinct.field(1).to_numpy())
    there = again(tmp_path, tree, values).bind("x", distinct.field(0))
    assert there.order.tolist() == here.order.tolist()
    assert ways_up(there) == ways_up(here)


def ways_up(bound: Any) -> list[list[str]]:
    """The labels above each leaf, up to the root; that of the leaf itself may be spelled as the value is."""
    found = []
    for leaf in bound.leaves:
        node, way = bound.parents[leaf], []
        while node >= 0:
            way.append(bound.labels[node])
            node = bound.parents[node]
        found.append(way)
    return found


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(gh.ParameterError, match="the values of the column, for a rule"):
        gh.Taxonomy.prefix(length=5).to_csv()
    with pytest.raises(gh.ParameterError, match="a semicolon, a comma or a tab"):
        TREE.to_csv(delimiter="|")
    with pytest.raises(gh.DomainError, match="the taxonomy lacks 1 of 2 values"):
        TREE.to_csv(pa.array(["flu", "gout", "gout"]))


def test_every_hierarchy_at_hand_is_read_and_written_with_equal_meaning(shared_data: Path, tmp_path: Path) -> None:
    files = sorted((shared_data / "hierarchies").rglob("*.csv"))
    if not files:
        pytest.skip("hierarchies of ARX (../shared/data/hierarchies) are not here")
    for file in files:
        tree = gh.Taxonomy.from_csv(file)
        rows = [line.split(";") for line in file.read_text().splitlines()]
        assert sorted(tree.leaves) == sorted(row[0] for row in rows)
        for delimiter in ";,\t":
            assert again(tmp_path, tree, delimiter=delimiter) == tree, file.name
        written = [line.split(";") for line in tree.to_csv().splitlines()]
        assert {tuple(dict.fromkeys(row)) for row in written} == {tuple(dict.fromkeys(row)) for row in rows}


# --- the command taxonomy ---------------------------------------------------------------------------------------------


def test_the_command_writes_the_hierarchy_of_a_column(tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "zip.csv"
    table.write_text("zip,ill\n02139,flu\n13120,gout\n13120,\n")
    run = lambda *words: CliRunner().invoke(glasshouse, ["taxonomy", str(table), *words])  # noqa: E731
    expected = "02139;0213*;021**;02***;0****;*\n13120;1312*;131**;13***;1****;*\n"
    assert run("zip=prefix:5").output == expected
    assert json.loads(run("zip=prefix:5", "--json").output) == {"column": "zip", "out": None, "text": expected}
    made = run("zip=prefix:5", "--out", str(out), "--separator", "tab")
    assert made.exit_code == 0
    assert "it must stay inside your organization" in made.output
    assert out.read_text() == expected.replace(";", "\t")
    assert out.stat().st_mode & 0o077 == 0
    assert run(f"zip={out}").output == expected
    for words, told in (
        (["zip=prefix:5", "--out", str(out)], "exists already"),
        ([f"zip={out}", "--out", str(out), "--force"], "or the command reads it"),
        (["zip=prefix:5", "--separator", "tab"], "cannot be printed"),
        (["zap=prefix:5"], "there is no column 'zap'"),
        (["zip=prefix:4"], "2 codes of column 'zip' are longer"),
        ([f"ill={out}"], "the taxonomy lacks 2 of 2 values"),
        (["zip"], "takes COLUMN=VALUE"),
        (["zip=tree.txt"], "ends in .csv"),
    ):
        refused = run(*words)
        assert refused.exit_code == 2, words
        assert told in refused.output
    table.write_text("zip\n0\u200b1\n02\n")
    assert "shown as escapes" in run("zip=prefix:3").output


# --- projects ---------------------------------------------------------------------------------------------------------


def project(folder: Path, definition: str = DEFINITION, xml: str = PROJECT, **more: str | bytes) -> Path:
    path = folder / "study.deid"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.xml", "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>")
        archive.writestr("project.dat", b"\xac\xed\x00\x05never read")
        archive.writestr("data/input.csv", "patient;age\nsecret;1\n")
        archive.writestr("input/definition.xml", definition)
        archive.writestr("input/config.xml", CONFIGURATION)
        archive.writestr("project.xml", xml)
        for name, content in more.items():
            archive.writestr(name, content)
    return path


def test_the_roles_of_a_project_are_read(tmp_path: Path) -> None:
    found = read_arx_project(project(tmp_path))
    assert found.identifying == ("patient",)
    assert found.quasi == ("age & more", "sex")
    assert found.sensitive == ("disease",)
    assert found.insensitive == ("ward",)
    assert [(one.column, one.taxonomy) for one in found.hierarchies] == [("age & more", None)]
    assert "does not have that file" in found.hierarchies[0].notes[0]
    assert found.criteria == ("5-anonymity",)


def test_init_writes_a_policy_that_is_read_and_has_no_value_of_the_table(tmp_path: Path) -> None:
    from glasshouse.policy import load_policy

    path, out = project(tmp_path, **{HIERARCHY: AGES}), tmp_path / "policy.toml"
    made = CliRunner().invoke(glasshouse, ["init", str(path), "--out", str(out)])
    assert made.exit_code == 0, made.output
    text = out.read_text()
    assert "secret" not in text
    assert "# ARX was asked for: 5-anonymity" in text
    assert "[0, 5[" not in text
    out.write_text(text.replace('# file = "table.csv"', 'file = "table.csv"'))
    choices = load_policy(out).choices
    assert list(choices["quasi"]) == ["age & more", "sex"]
    assert list(choices["sensitive"]) == ["disease"]
    assert choices["recoding"] == "taxonomies"
    tree = gh.Taxonomy.of(choices["taxonomy"]["age & more"])
    assert tree == gh.Taxonomy.from_nested({"*": {"[0, 5[": ["1"], "[5, 9[": ["7"]}})
    written = tmp_path / "policy-taxonomies" / "age-more.csv"
    assert written.read_text() == AGES
    assert written.stat().st_mode & 0o077 == 0
    again = CliRunner().invoke(glasshouse, ["init", str(path), "--out", str(tmp_path / "policy.json")])
    assert again.exit_code == 2
    assert "age-more.csv exists already" in again.output
    assert not (tmp_path / "policy.json").exists()
    told = CliRunner().invoke(glasshouse, ["init", str(path), "--out", "-"])
    assert "# The hierarchy of age & more is not written here: give --out FILE" in told.output
    refused = CliRunner().invoke(glasshouse, ["init", str(path), "--sensitive", "x", "--out", "-"])
    assert refused.exit_code == 2
    assert "--sensitive is only for a table" in refused.output


@pytest.mark.parametrize(
    ("content", "separator", "leaves", "words"),
    [
        ("1,a,*\n2,b,*\n", ",", ("1", "2"), ""),
        ("1\ta\t*\n2\tb\t*\n", "\t", ("1", "2"), ""),
        ("1|a|*\n2|b|*\n", "|", ("1", "2"), ""),
        ("1,a,*\n2,b,*\n", "", ("1", "2"), ""),
        ('"1;x";a;*\n2;b;*\n', ";", ("1;x", "2"), ""),
        ("1;a\n2;b\n", ";", ("1", "2"), "so * was put above them"),
        ("1\n2\n", ";", None, "no level above the values"),
        ("", ";", None, "no level above the values"),
        ("1;a;*\n2;b\n", ";", None, "make no tree"),
        ("1;a;*\n1;b;*\n", ";", None, "make no tree"),
        ("1;a;x;*\n2;a;y;*\n", ";", None, "make no tree"),
        ('"1;a;*\n', ";", None, "not a CSV file"),
        (b"1;caf\xe9;*\n", ";", None, "not text in UTF-8"),
    ],
)
def test_the_hierarchies_of_a_project_are_taxonomies_or_it_is_said_why_not(
    tmp_path: Path, content: str | bytes, separator: str, leaves: tuple[str, ...] | None, words: str
) -> None:
    xml = PROJECT.replace(">;<", f">{separator}<")
    [found] = read_arx_project(project(tmp_path, xml=xml, **{HIERARCHY: content})).hierarchies
    assert (None if found.taxonomy is None else found.taxonomy.leaves) == leaves
    assert words in " ".join(found.notes)
    assert bool(words) == bool(found.notes)


def test_limits_of_levels_are_told_and_columns_have_files_of_their_own(tmp_path: Path) -> None:
    definition = "<definition>" + "".join(
        f"<assigment><name>{name}</name><type>{kind}_ATTRIBUTE</type><ref>hierarchies/{i}.csv</ref>{more}</assigment>"
        for i, (name, kind, more) in enumerate(
            [
                ("../a", "QUASI_IDENTIFYING", "<min>1</min><max>All</max>"),
                ("A", "QUASI_IDENTIFYING", "<min>All</min><max>All</max>"),
                ("a?", "SENSITIVE", ""),
                ("&#xe9;", "QUASI_IDENTIFYING", ""),
                ("gone", "INSENSITIVE", ""),
            ]
        )
    )
    hierarchies = {f"input/hierarchies/{i}.csv": AGES for i in range(5)}
    found = read_arx_project(project(tmp_path, definition + "</definition>", **hierarchies))
    assert taxonomy_files(found, "t") == {"../a": "t/a.csv", "A": "t/A-2.csv", "a?": "t/a-3.csv", "é": "t/column.csv"}
    assert found.hierarchies[0].notes == ("ARX was allowed to use its levels from 1 to All; here all may be used",)
    assert not any(one.notes for one in found.hierarchies[1:])


def test_hostile_hierarchies_are_refused(tmp_path: Path) -> None:
    with pytest.raises(gh.SourceError, match="more than 100 fields"):
        read_arx_project(project(tmp_path, **{HIERARCHY: "1" + ";" * 100}))
    with pytest.raises(gh.SourceError, match="more than 100 fields"):
        read_arx_project(project(tmp_path, xml="<project/>", **{HIERARCHY: "1" + "," * 100}))
    with pytest.raises(gh.SourceError, match="where at most 67,108,864 are expected"):
        read_arx_project(project(tmp_path, **{HIERARCHY: " " * (1 << 26) + "2"}))


LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (DEFINITION.replace("<definition>", LAUGHS + "<definition>"), "document type or an entity"),
        (DEFINITION.replace("<definition>", '<!DOCTYPE d SYSTEM "file:///etc/passwd"><definition>'), "document type"),
        (DEFINITION.replace("</definition>", ""), "not XML that can be read: save the project again"),
        ("<definition/>", "declares no columns"),
        (DEFINITION.replace("SENSITIVE_ATTRIBUTE", "SECRET", 1), "which Glasshouse does not know"),
        (DEFINITION.replace("<name>sex", "<name>patient"), "declared twice"),
        (DEFINITION.replace("<name>age &amp; more</name>", ""), "a column has no name: save the project again"),
        ("<a>" * 30 + "</a>" * 30, "nested more than 20 levels"),
    ],
)
def test_what_arx_does_not_write_is_refused(tmp_path: Path, definition: str, words: str) -> None:
    with pytest.raises(gh.SourceError, match=words):
        read_arx_project(project(tmp_path, definition))


def test_hostile_or_other_archives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(gh.SourceError, match="whose name may lead outside its folder"):
        read_arx_project(project(tmp_path, **{"../up": "x"}))
    (tmp_path / "t.deid").write_bytes(b"nothing")
    with pytest.raises(gh.SourceError, match="not a zip archive: save the project again"):
        read_arx_project(tmp_path / "t.deid")
    with zipfile.ZipFile(tmp_path / "t.deid", "w") as archive:
        archive.writestr("other.xml", "")
    with pytest.raises(gh.SourceError, match=r"it has no input/definition\.xml"):
        read_arx_project(tmp_path / "t.deid")
