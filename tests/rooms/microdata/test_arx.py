# SPDX-License-Identifier: Apache-2.0
"""Files of ARX: hierarchies in every spelling, and the roles that a project declares. The samples are our own."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.reading.arx_project import read_arx_project

TREE = gh.Taxonomy.from_nested({"*": {"lungs": ["flu", "asthma"], "stomach": ["ulcer"]}})
ROWS = [["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]]
DEFINITION = """<?xml version="1.0"?>
<definition>
 <assigment><name>patient</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
 <assigment><name>age &amp; more</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><ref>h/age.csv</ref></assigment>
 <assigment><name>sex</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type></assigment>
 <assigment><name>disease</name><type>SENSITIVE_ATTRIBUTE</type></assigment>
 <assigment><name>ward</name><type>INSENSITIVE_ATTRIBUTE</type></assigment>
</definition>
"""
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
    with pytest.raises(gh.DomainError, match="is a hierarchy by a semicolon and a comma: say which") as refused:
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


def test_taxonomies_are_written_as_hierarchies_and_read_again(tmp_path: Path) -> None:
    trees = {
        "tree": (TREE, None),
        "uneven": (gh.Taxonomy.from_nested({"*": {"a": {"b": ["c; d", "e"]}, "f": []}}), None),
    }
    for name, (tree, values) in trees.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(tree.to_csv(values))
        assert gh.Taxonomy.from_csv(path) == tree
    values = pa.array(["01305", "01310", "02139"])
    path.write_text(gh.Taxonomy.prefix(length=5).to_csv(values))
    again = gh.Taxonomy.from_csv(path).bind("zip", values)
    assert set(again.labels) == set(gh.Taxonomy.prefix(length=5).bind("zip", values).labels)
    path.write_text(gh.Taxonomy.intervals(width=10).to_csv(pa.array([3, 17, 25])))
    assert gh.Taxonomy.from_csv(path, ";").leaves == ("3", "17", "25")
    with pytest.raises(gh.ParameterError, match="the values of the column, for a rule"):
        gh.Taxonomy.prefix(length=5).to_csv()


# --- projects ---------------------------------------------------------------------------------------------------------


def project(folder: Path, definition: str = DEFINITION, **more: str) -> Path:
    path = folder / "study.deid"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.xml", "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>")
        archive.writestr("project.dat", b"\xac\xed\x00\x05never read")
        archive.writestr("data/input.csv", "patient;age\nsecret;1\n")
        archive.writestr("input/definition.xml", definition)
        archive.writestr("input/config.xml", CONFIGURATION)
        for name, content in more.items():
            archive.writestr(name, content)
    return path


def test_the_roles_of_a_project_are_read(tmp_path: Path) -> None:
    found = read_arx_project(project(tmp_path))
    assert found.identifying == ("patient",)
    assert found.quasi == ("age & more", "sex")
    assert found.sensitive == ("disease",)
    assert found.insensitive == ("ward",)
    assert found.hierarchies == ("age & more",)
    assert found.criteria == ("5-anonymity",)


def test_init_writes_a_policy_that_is_read_and_has_no_value_of_the_table(tmp_path: Path) -> None:
    from glasshouse.policy import load_policy

    path, out = project(tmp_path), tmp_path / "policy.toml"
    made = CliRunner().invoke(glasshouse, ["init", str(path), "--out", str(out)])
    assert made.exit_code == 0, made.output
    text = out.read_text()
    assert "secret" not in text
    assert "# ARX was asked for: 5-anonymity" in text
    out.write_text(text.replace('# file = "table.csv"', 'file = "table.csv"'))
    choices = load_policy(out).choices
    assert list(choices["quasi"]) == ["age & more", "sex"]
    assert list(choices["sensitive"]) == ["disease"]
    refused = CliRunner().invoke(glasshouse, ["init", str(path), "--sensitive", "x", "--out", "-"])
    assert refused.exit_code == 2
    assert "--sensitive is only for a table" in refused.output


LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (DEFINITION.replace("<definition>", LAUGHS + "<definition>"), "document type or an entity"),
        (DEFINITION.replace("<definition>", '<!DOCTYPE d SYSTEM "file:///etc/passwd"><definition>'), "document type"),
        (DEFINITION.replace("</definition>", ""), "no XML that can be read"),
        ("<definition/>", "declares no columns"),
        (DEFINITION.replace("SENSITIVE_ATTRIBUTE", "SECRET", 1), "which is not known"),
        (DEFINITION.replace("<name>sex", "<name>patient"), "declared twice"),
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
    with pytest.raises(gh.SourceError, match="no zip archive"):
        read_arx_project(tmp_path / "t.deid")
    with zipfile.ZipFile(tmp_path / "t.deid", "w") as archive:
        archive.writestr("other.xml", "")
    with pytest.raises(gh.SourceError, match=r"it has no input/definition\.xml"):
        read_arx_project(tmp_path / "t.deid")
