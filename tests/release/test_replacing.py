# SPDX-License-Identifier: Apache-2.0
"""What may be replaced: a folder that holds what Glasshouse writes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.publish import publish_to
from glasshouse.release.storage import new_folder

AUDIT = ("report.json", "report.html", "partition.parquet", "published.json")
ATTACKS = tuple(
    f"attack-{name}.{kind}"
    for name in ("linking", "reverse-engineering", "corruption")
    for kind in ("csv", "json", "svg")
)


def filled(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("old")
    return folder


def replace(folder: Path) -> None:
    with new_folder(folder, force=True) as fresh:
        (fresh / "report.json").write_text("new")


@pytest.mark.parametrize(
    "names",
    [(), AUDIT, ATTACKS, AUDIT + ATTACKS, ATTACKS[:1], AUDIT[:1] + ATTACKS[4:5]],
    ids=["empty", "audit", "attacks", "audit and attacks", "one attack", "some of both"],
)
def test_an_audit_with_the_results_of_attacks_is_replaced_as_a_whole(names: tuple[str, ...], tmp_path: Path) -> None:
    audit = filled(tmp_path / "audit", *names)

    replace(audit)

    assert {path.name: path.read_text() for path in audit.iterdir()} == {"report.json": "new"}


@pytest.mark.parametrize("names", [(), AUDIT, AUDIT + ATTACKS], ids=["nothing", "an audit", "an audit with attacks"])
@pytest.mark.parametrize(
    "foreign",
    [
        "notes.txt",
        ".hidden",
        "attack-linking.txt",
        "attack-linking.csv.bak",
        "attack-linking",
        "attack-.csv",
        "attack-linking-2.csv",
        "Attack-linking.csv",
        "my-attack-linking.csv",
        "attack-linking.csv\n",
        "attack_linking.csv",
        "report.json~",
        "data.parquet",
    ],
)
def test_a_folder_with_anything_foreign_is_not_replaced(foreign: str, names: tuple[str, ...], tmp_path: Path) -> None:
    folder = filled(tmp_path / "audit", *names, foreign)

    with pytest.raises(gh.OutputError, match="not a folder that Glasshouse wrote"):
        replace(folder)

    assert {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys([*names, foreign], "old")
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("name", ["report.json", "attack-linking.csv"])
def test_a_folder_inside_is_foreign_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    audit = filled(tmp_path / "audit", "partition.parquet")
    filled(audit / name, "diary.txt")

    with pytest.raises(gh.OutputError, match="not a folder that Glasshouse wrote"):
        replace(audit)

    assert (audit / name / "diary.txt").read_text() == "old"


def test_a_release_is_not_replaced_where_an_attack_was_put_into_it(tmp_path: Path) -> None:
    """Beliefs about people must stay inside: such a folder is one that we did not write."""
    release = gh.publish(gh.synthetic.hospital(60, seed=1), principle=gh.LDiversity(ell=2))
    release.save(tmp_path / "release")
    (tmp_path / "release" / "attack-linking.csv").write_text("old")

    with pytest.raises(gh.OutputError, match="not a folder that Glasshouse wrote"):
        release.save(tmp_path / "release", force=True)

    assert (tmp_path / "release" / "attack-linking.csv").read_text() == "old"


@pytest.mark.parametrize("attack", ["linking", "reverse-engineering", "minimality", "corruption", "intersection"])
def test_after_any_attack_that_was_saved_the_table_can_be_published_again(attack: str, tmp_path: Path) -> None:
    columns = gh.synthetic.hospital_table(n=60, seed=1)
    pa_csv.write_csv(columns, tmp_path / "patients.csv")
    table = gh.read(columns, identifier="patient", quasi=["age", "sex"], sensitive="disease")
    chosen = {"principle": gh.LDiversity(ell=2), "method": gh.Anatomize(), "recoding": gh.Anatomy()}
    publish_to(tmp_path / "out", table, **chosen)
    more = {"corruption": ["--most-corrupted", "1"], "intersection": ["--other", str(tmp_path / "out" / "release")]}
    line = ["attack", str(tmp_path / "out" / "release"), "--external", str(tmp_path / "patients.csv")]
    told = CliRunner().invoke(
        glasshouse, [*line, "--identifier", "patient", "--attack", attack, "--save", *more.get(attack, [])]
    )
    assert told.exit_code == 0, told.output
    assert {path.suffix for path in (tmp_path / "out" / "audit").glob("attack-*")} == {".csv", ".json", ".svg"}

    with pytest.warns(gh.DisclosureWarning, match="before"):
        publish_to(tmp_path / "out", table, force=True, **chosen)

    assert list((tmp_path / "out" / "audit").glob("attack-*")) == []  # they were about the old release
