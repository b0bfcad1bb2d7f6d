# SPDX-License-Identifier: Apache-2.0
"""What may be replaced: what Glasshouse wrote, as it wrote it; a name alone says nothing about who wrote a file."""

from __future__ import annotations

import json
import os
import shutil
import threading
import warnings
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner, Result

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys.marginals import publish_marginals
from glasshouse.release.package import pair
from glasshouse.release.package.listing import CONTENTS, add_files
from tests.conftest import ROOT
from tests.rooms.release.writer import write_one

ATTACKED = ("attack-linking.csv", "attack-linking.json", "attack-linking.svg")
ROLES = ["--quasi", "age,sex", "--sensitive", "disease", "--identifier", "patient", "--ell", "2"]
pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")


def run(*words: object) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CliRunner().invoke(glasshouse, [str(word) for word in words])


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    pa_csv.write_csv(gh.synthetic.hospital_table(n=60, seed=1), tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


@pytest.fixture
def out(patients: Path, tmp_path: Path) -> Path:
    """A pair as the command writes it, with a report and what an attack saved."""
    told = run("publish", patients, *ROLES, "--out", tmp_path / "out")
    assert told.exit_code == 0, told.output
    external = ["--external", patients, "--identifier", "patient"]
    told = run("attack", tmp_path / "out" / "release", *external, "--save")
    assert told.exit_code == 0, told.output
    return tmp_path / "out"


def publish_again(patients: Path, out: Path) -> Result:
    return run("publish", patients, *ROLES, "--out", out, "--force", "--no-report")


# ------------------------------------------------------------------------------------------ ours, and only ours


def test_a_pair_with_its_report_and_saved_attacks_is_replaced_as_a_whole(patients: Path, out: Path) -> None:
    listed = {file["path"] for file in json.loads((out / "audit" / CONTENTS).read_text())["files"]}
    assert listed == {"report.json", "report.html", "partition.parquet", "published.json", "ledger.parquet", *ATTACKED}
    assert listed | {CONTENTS} == {path.name for path in (out / "audit").iterdir()}

    assert publish_again(patients, out).exit_code == 0

    left = {path.name for path in (out / "audit").iterdir()}
    assert left == {CONTENTS, "report.json", "partition.parquet", "published.json"}  # the rest was of the old release


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "report.html", "attack-linking.csv", "attack-linking-2.csv"])
@pytest.mark.parametrize("folder", ["audit", "release"])
def test_a_file_that_somebody_put_there_is_never_deleted_whatever_it_is_called(
    folder: str, name: str, patients: Path, out: Path
) -> None:
    (out / folder / name).write_text("mine")
    before = bytes_of(out)

    told = publish_again(patients, out)

    assert told.exit_code == 2
    assert f"{out / folder} is not replaced" in told.stderr
    assert name in told.stderr
    assert before == bytes_of(out)


@pytest.mark.parametrize("name", ["audit/report.html", "audit/report.json", "audit/attack-linking.svg",
                                  "audit/contents.json", "audit/partition.parquet", "audit/published.json",
                                  "release/README.md", "release/gt.parquet", "release/datapackage.json"])  # fmt: skip
def test_a_file_that_was_changed_is_the_stewards_and_is_named(name: str, patients: Path, out: Path) -> None:
    with (out / name).open("ab") as file:
        file.write(b"\n")
    before = bytes_of(out)
    again = [
        lambda: publish_again(patients, out),
        lambda: run("marginals", patients, *ROLES[:6], "--marginal", "age,disease", "--out", out),
        lambda: run("demo", "--rows", 200, "--out", out),
    ]
    for doing in again if name != "audit/contents.json" else again[2:]:  # a blank at the end of the list is harmless
        told = doing()
        assert told.exit_code == 2, told.output
        assert before == bytes_of(out)
    if name != "audit/contents.json":
        assert Path(name).name in publish_again(patients, out).stderr


def test_a_folder_inside_is_not_ours_whatever_it_is_called(patients: Path, out: Path) -> None:
    (out / "audit" / "report.html").unlink()
    (out / "audit" / "report.html").mkdir()
    (out / "audit" / "report.html" / "diary.txt").write_text("mine")

    assert publish_again(patients, out).exit_code == 2
    assert (out / "audit" / "report.html" / "diary.txt").read_text() == "mine"


def test_a_link_to_the_same_bytes_is_not_ours(patients: Path, out: Path, tmp_path: Path) -> None:
    (out / "audit" / "report.html").rename(tmp_path / "kept.html")
    (out / "audit" / "report.html").symlink_to(tmp_path / "kept.html")

    assert publish_again(patients, out).exit_code == 2
    assert (tmp_path / "kept.html").exists()


def test_what_was_removed_from_a_pair_does_not_keep_it_from_being_replaced(patients: Path, out: Path) -> None:
    (out / "audit" / "report.html").unlink()
    shutil.rmtree(out / "release")

    assert publish_again(patients, out).exit_code == 0


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    write_one(tmp_path, 1, "release")
    assert gh.load(tmp_path / "release").title == "1"


# ------------------------------------------------------------------------------------------------ earlier versions


@pytest.mark.parametrize("format", ["format_1", "format_2"])
def test_a_release_of_an_earlier_format_is_replaced_if_its_files_have_the_sums_of_its_manifest(
    format: str, tmp_path: Path
) -> None:
    (kind, *_) = sorted(path for path in (ROOT / "tests" / "rooms" / "release" / format).iterdir() if path.is_dir())
    shutil.copytree(kind, tmp_path / "release")
    table = next(path for path in (tmp_path / "release").iterdir() if path.suffix in (".parquet", ".csv"))
    content = table.read_bytes()

    table.write_bytes(content + b"\n")
    with pytest.raises(gh.OutputError, match=f"{table.name} was changed"):
        write_one(tmp_path, 1, "release")
    table.write_bytes(content)
    write_one(tmp_path, 1, "release")
    assert gh.load(tmp_path / "release").title == "1"


def as_earlier_versions_wrote_it(out: Path) -> None:
    (out / "audit" / CONTENTS).unlink()
    (out / "audit" / "ledger.parquet").unlink()


def test_an_audit_without_a_list_is_replaced_if_all_of_it_can_be_told_by_what_is_in_it(
    patients: Path, out: Path
) -> None:
    as_earlier_versions_wrote_it(out)

    told = publish_again(patients, out)
    assert told.exit_code == 2
    assert "it is not known whether Glasshouse wrote" in told.stderr
    for name in ("report.html", *ATTACKED):
        (out / "audit" / name).unlink()
    told = run("publish", patients, *ROLES, "--out", out, "--force", "--no-report")
    assert told.exit_code == 0
    assert "published from this folder before" in told.stderr  # the traces were carried over


def test_marginals_are_added_to_a_pair_of_an_earlier_version(patients: Path, out: Path) -> None:
    as_earlier_versions_wrote_it(out)
    for name in ("report.html", *ATTACKED):
        (out / "audit" / name).unlink()

    told = run("marginals", patients, *ROLES[:6], "--marginal", "age,disease", "--out", out)
    assert told.exit_code == 0, told.stderr


@pytest.mark.parametrize("name", ["report.json", "published.json", "partition.parquet"])
def test_somebodys_own_file_is_not_taken_for_one_of_an_earlier_version(name: str, tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / name).write_text('{"mine": 1}')

    with pytest.raises(gh.OutputError, match=name):
        write_one(tmp_path, 1, "pair")
    assert (tmp_path / "audit" / name).read_text() == '{"mine": 1}'


# ------------------------------------------------------------------------------------------------ what is added later


def test_a_report_is_written_again_but_not_over_one_that_was_edited(out: Path, patients: Path) -> None:
    table = gh.read(str(patients), quasi=["age", "sex"], sensitive="disease", identifier="patient")
    report = gh.make_report(gh.load(out / "release"), table)
    report.write(out / "audit")
    (out / "audit" / "report.html").write_text("edited")

    with pytest.raises(gh.OutputError, match=r"report\.html was not written by Glasshouse, or was changed since"):
        report.write(out / "audit")
    assert (out / "audit" / "report.html").read_text() == "edited"


def test_an_attack_is_not_saved_over_somebodys_file_and_this_is_said_before_the_work(out: Path, patients: Path) -> None:
    line = ["attack", out / "release", "--external", patients, "--identifier", "patient", "--save"]
    assert run(*line).exit_code == 0  # an earlier one is replaced
    (out / "audit" / "attack-linking.csv").write_text("mine")

    told = run(*line)

    assert (told.exit_code, told.stdout) == (2, "")
    assert "attack-linking.csv was not written by Glasshouse" in told.stderr
    assert (out / "audit" / "attack-linking.csv").read_text() == "mine"


def test_beliefs_are_not_written_over_a_file_that_is_there(out: Path, patients: Path, tmp_path: Path) -> None:
    line = ["attack", out / "release", "--external", patients, "--identifier", "patient", "--out"]
    (tmp_path / "mine.csv").write_text("mine")
    before = patients.read_bytes()

    assert "exists already" in run(*line, tmp_path / "mine.csv").stderr
    assert (tmp_path / "mine.csv").read_text() == "mine"
    for more in ([], ["--force"]):
        assert run(*line, patients, *more).exit_code == 2  # the table of people itself
    assert before == patients.read_bytes()
    assert run(*line, tmp_path / "mine.csv", "--force").exit_code == 0
    assert (tmp_path / "mine.csv").read_text().startswith('"person"')
    assert (tmp_path / "mine.csv").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["comparison.html", "comparison.csv", "frontier.svg", "rows.jsonl", CONTENTS])
def test_a_comparison_is_not_written_over_somebodys_file_and_this_is_said_before_the_work(
    name: str, patients: Path, tmp_path: Path
) -> None:
    (tmp_path / "compared").mkdir()
    (tmp_path / "compared" / name).write_text("mine")
    line = ["compare", patients, "--quasi", "age,sex", "--sensitive", "disease", "--ell", "2", "--runs", "1"]

    told = run(
        *line, "--methods", "hybrid", "--recodings", "anatomy", "--processes", "0", "--out", tmp_path / "compared"
    )

    assert (told.exit_code, told.stdout) == (2, "")
    assert f"{name} was not written by" in told.stderr
    assert bytes_of(tmp_path / "compared") == {name: b"mine"}


def test_a_comparison_is_written_again_over_an_earlier_one(patients: Path, tmp_path: Path) -> None:
    line = ["compare", patients, "--quasi", "age,sex", "--sensitive", "disease", "--ell", "2", "--runs", "1"]
    for _ in range(2):
        told = run(*line, "--methods", "hybrid", "--recodings", "anatomy", "--processes", "0", "--out", tmp_path / "c")
        assert told.exit_code in (0, 1), told.output
    assert {path.name for path in (tmp_path / "c").iterdir()} == {
        CONTENTS, "comparison.html", "comparison.csv", "comparison.json", "frontier.svg", "rows.jsonl"
    }  # fmt: skip


def test_a_demonstration_replaces_a_demonstration_and_never_a_release(
    patients: Path, out: Path, tmp_path: Path
) -> None:
    before = bytes_of(out)
    told = run("demo", "--rows", 200, "--out", out)
    assert told.exit_code == 2
    assert "exists already" in told.stderr
    assert before == bytes_of(out)

    for _ in range(2):
        assert run("demo", "--rows", 200, "--out", tmp_path / "demo").exit_code == 0


def test_a_policy_is_not_written_over_the_table(patients: Path) -> None:
    before = patients.read_bytes()
    assert run("init", patients, "--out", patients, "--force").exit_code == 2
    assert before == patients.read_bytes()


# --------------------------------------------------------------------------------------------------- odd places


def test_two_runs_at_once_do_not_mix_and_the_second_says_so(tmp_path: Path) -> None:
    write_one(tmp_path / "out", 1, "pair")
    late = pair.Pair(tmp_path / "out", force=True)
    write_one(tmp_path / "out", 2, "pair")
    before = bytes_of(tmp_path)

    def place() -> None:
        with late.new() as (inside, outside):
            for name, content in bytes_of(tmp_path / "out" / "audit").items():
                (inside / name).write_bytes(content)
            for name, content in bytes_of(tmp_path / "out" / "release").items():
                (outside / name).write_bytes(content)

    with pytest.raises(gh.OutputError, match="another run wrote into"):
        place()
    assert before == bytes_of(tmp_path)


def test_many_runs_at_once_leave_one_pair(tmp_path: Path) -> None:
    failed: list[Exception] = []

    def write(number: int) -> None:
        try:
            write_one(tmp_path / "out", number, "pair")
        except gh.OutputError as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(failed) < 6
    pair.check_pair(tmp_path / "out")
    number = json.loads((tmp_path / "out" / "audit" / "report.json").read_text())["number"]
    assert gh.load(tmp_path / "out" / "release").title == str(number)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def publish(out: Path, **options: Any) -> None:
    gh.publish(gh.synthetic.hospital(60, seed=1), out=out, principle=gh.LDiversity(ell=2), **options)


def test_a_place_that_is_a_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    for force in (True, False):
        with pytest.raises(gh.OutputError, match="is a file"):
            publish(tmp_path / "out", force=force)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_linked_place_is_the_folder_to_which_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    for force in (False, True):
        publish(tmp_path / "out", force=force)

    assert (tmp_path / "out").is_symlink()
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["audit", "release"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "real"]


def test_the_working_folder_stays_the_one_in_which_the_shell_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out"
    place.mkdir()
    monkeypatch.chdir(place)
    before = place.stat().st_ino
    for force in (False, True):
        publish(Path(), force=force)

    assert (place.stat().st_ino, Path.cwd()) == (before, place)
    assert sorted(path.name for path in place.iterdir()) == ["audit", "release"]


def test_a_folder_keeps_its_mode_when_it_is_exchanged(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o750)
    (tmp_path / "out").chmod(0o2750)
    for force in (False, True):
        publish(tmp_path / "out", force=force)
    assert (tmp_path / "out").stat().st_mode & 0o7777 == 0o2750


def test_an_audit_is_never_written_into_a_release(tmp_path: Path) -> None:
    publish(tmp_path / "out")
    for place in (tmp_path / "out" / "release", tmp_path / "out" / "release" / "more"):
        for force in (False, True):
            with pytest.raises(gh.OutputError, match="is inside a release"):
                publish(place, force=force)


def test_a_folder_that_cannot_be_exchanged_is_filled_from_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a mount point: nothing may be made ready beside it, for that is another file system."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out").chmod(0o755)
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path / "out")
    before = (tmp_path / "out").stat().st_ino
    for force in (False, True):
        publish(tmp_path / "out", force=force)

    assert (tmp_path / "out").stat().st_ino == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["audit", "release"]


def test_what_is_added_at_the_same_time_is_all_on_the_list(tmp_path: Path) -> None:
    threads = [threading.Thread(target=add_files, args=(tmp_path, {f"{n}.txt": str(n)})) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    listed = json.loads((tmp_path / CONTENTS).read_text())["files"]
    assert sorted(file["path"] for file in listed) == [f"{n}.txt" for n in range(8)]


@pytest.mark.parametrize("attack", ["linking", "reverse-engineering", "minimality", "corruption", "intersection"])
def test_after_any_attack_that_was_saved_marginals_and_a_new_release_can_be_published(
    attack: str, patients: Path, tmp_path: Path
) -> None:
    table = gh.read(str(patients), identifier="patient", quasi=["age", "sex"], sensitive="disease")
    recoding = gh.Anatomy() if attack == "minimality" else gh.Angel()
    chosen = {"principle": gh.LDiversity(ell=2), "method": gh.Anatomize(), "recoding": recoding}
    gh.publish(table, out=tmp_path / "out", **chosen)
    more = {"corruption": ["--most-corrupted", "1"], "intersection": ["--other", str(tmp_path / "out" / "release")]}
    line = ["attack", tmp_path / "out" / "release", "--external", patients, "--identifier", "patient"]
    told = run(*line, "--attack", attack, "--save", *more.get(attack, []))
    assert told.exit_code == 0, told.output
    assert {path.suffix for path in (tmp_path / "out" / "audit").glob("attack-*")} == {".csv", ".json", ".svg"}

    if attack != "minimality":
        publish_marginals(tmp_path / "out", table, marginals=[["age", "disease"]])
    gh.publish(table, out=tmp_path / "out", force=True, **chosen)
    assert list((tmp_path / "out" / "audit").glob("attack-*")) == []  # they were about the old release
