# SPDX-License-Identifier: Apache-2.0
"""Where the work runs: the same release from memory and from disk, and disk where a file does not fit into memory."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.streaming import need, publish
from glasshouse.streaming.publish import publish_file
from tests.rooms.cli.world import QUICK, ROLES, run

EVERYTHING = {
    "the default": f"{ROLES} --ell 3",
    "a method and a recoding": f"{ROLES} --ell 3 --method tailor --recoding boxes",
    "a parameter of the method": f"{ROLES} --distinct-ell 3 --method mondrian --with partitioning=relaxed",
    "a parameter of the recoding": f"{ROLES} --ell 3 --recoding angel --recoding-with k=5 --marginal age,disease",
    "anatomy": f"{ROLES} --ell 3 --recoding anatomy --format csv",
    "suppression": f"{ROLES} --ell 6 --suppress 1/2 --identifier patient",
    "k-anonymity": "--quasi age,sex --k 5 --title Patients --licence CC-BY-4.0",
    "bins, orders, limits": f"{ROLES} --ell 3 --bin age=intervals:10 --order sex=F,M --recoding boxes --carry declared",
    "limits": f"{ROLES} --ell 3 --top age=80 --bottom age=10 --categorical zipcode",
    "a taxonomy": f"{ROLES} --ell 3 --taxonomy sex=sex.csv --recoding taxonomies --normalise sex",
    "all of a taxonomy": f"{ROLES} --ell 3 --taxonomy sex=sex.csv --recoding taxonomies --carry declared",
    "two sensitive columns": "--quasi age --sensitive sex,disease --distinct-ell 2 --method mondrian",
    "t-closeness": f"{ROLES} --t 1/2 --method mondrian --recoding boxes",
    "beliefs": f"{ROLES} --rho1 0.2 --rho2 0.5 --lambda 0.1 --k 6 --domain @diseases.txt",
}


@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
@pytest.mark.parametrize("asked", EVERYTHING.values(), ids=EVERYTHING)
def test_disk_takes_everything_that_memory_takes_and_gives_the_same_release(asked: str, world: Path) -> None:
    (world / "sex.csv").write_text("F;anybody\nM;anybody\n")
    said = {}
    for engine in ("memory", f"memory {QUICK}", f"disk {QUICK}"):
        printed = json.loads(
            run(f"publish patients.csv {asked} --no-flat --out out --force --engine {engine} --json").stdout
        )
        release = gh.load("out/release")
        told = {
            "tables": {name: sorted(table.column_names) for name, table in release.tables.items()},
            "audit": sorted(
                {path.name for path in Path("out/audit").iterdir()} - {"report.json", "report.html", "ledger.parquet"}
            ),
            "columns": [
                (c.name, c.role, c.kind, c.meaning, c.declared if "declared" in asked else None)
                for c in release.columns
            ],
            "who is where": pq.read_table("out/audit/partition.parquet").drop_columns("group").to_pydict(),
        }
        assert gh.verify("out/release").holds
        said[engine] = told, {key: printed[key] for key in ("n_tuples", "n_dropped", "guarantee", "recipe")}

    memory, batches, disk = said.values()
    assert batches == disk
    assert memory == disk


def test_rows_that_were_never_read_are_counted_alike(world: Path) -> None:
    with (world / "patients.csv").open("a") as file:
        file.write(",,,,,\n")
    line = f"publish patients.csv {ROLES} --ell 3 --missing drop --out out --force --json --no-flat"
    told = [json.loads(run(f"{line} {more}").stdout) for more in ("", QUICK, "--engine disk")]

    assert [300] * 3 == [one["n_tuples"] for one in told]
    assert [0] * 3 == [one["n_dropped"] for one in told]


# --- the choice -------------------------------------------------------------------------------------------------------


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The engines that files were published by, in batches."""
    engines: list[str] = []

    def recorded(*arguments: Any, **given: Any) -> Any:
        engines.append(given["engine"])
        return publish_file(*arguments, **given)

    monkeypatch.setattr(publish, "publish_file", recorded)
    return engines


def test_a_file_that_fits_is_published_in_memory_and_in_batches_where_no_table_is_needed(
    ran: list[str], world: Path
) -> None:
    line = f"publish patients.csv {ROLES} --ell 3 --out out --force"
    assert "disk" not in run(line).stderr
    assert ran == []
    assert "disk" not in run(f"{line} {QUICK}").stderr
    assert ran == ["memory"]
    run(f"{line} {QUICK} --flat")
    assert ran == ["memory"]


@pytest.mark.parametrize("report", ["", QUICK])
def test_a_file_that_does_not_fit_is_published_from_disk_and_told_so(
    report: str, ran: list[str], world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(need, "memory_left", lambda: 60_000)
    said = run(f"publish patients.csv {ROLES} --ell 3 --out out {report} --json")
    (note,) = (line for line in said.stderr.splitlines() if "published from disk" in line)

    assert ran == ["disk"]
    assert note.startswith(
        "note: patients.csv would take about 0 MiB of memory, and 0 MiB are free, so it is published"
    )
    assert ("the report lacks the parts" in note) == (not report)
    assert (world / "out" / "audit" / "report.html").exists() == (not report)
    assert json.loads(said.stdout)["n_tuples"] == 300
    assert "no flat table for a spreadsheet was drawn, because --engine disk cannot draw one" in said.stderr
    assert not (world / "out" / "flat").exists()


def test_what_needs_the_table_in_memory_stays_there_with_a_warning(
    ran: list[str], world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(need, "memory_left", lambda: 60_000)
    said = run(f"publish patients.csv {ROLES} --ell 3 --out out {QUICK} --flat")

    assert ran == []
    assert "--flat needs the table in memory" in said.stderr
    assert (world / "out" / "flat").is_dir()


def test_memory_is_taken_where_it_is_asked_for(ran: list[str], world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(need, "memory_left", lambda: 60_000)
    run(f"publish patients.csv {ROLES} --ell 3 --out out {QUICK} --engine memory")

    assert ran == ["memory"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("patients.csv --edition 2027 --identifier patient", "because an edition can only be published in memory"),
        ("patients.csv.zip", "because a zip archive cannot be read in batches: to publish it from disk, write the"),
    ],
)
def test_a_large_table_that_cannot_be_published_from_disk_is_told_so(
    asked: str, words: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(need, "memory_left", lambda: 100)
    with zipfile.ZipFile(world / "patients.csv.zip", "w") as archive:
        archive.write(world / "patients.csv", "patients.csv")
    said = run(f"publish {asked} {ROLES} --ell 3 --out out {QUICK}")

    assert f"It is published in memory all the same, {words}" in said.stderr
    assert gh.verify(world / "out").holds


def test_memory_for_buffers_or_a_folder_for_spills_mean_the_disk(ran: list[str], world: Path) -> None:
    run(f"publish patients.csv {ROLES} --ell 3 --out out --memory 64")
    run(f"publish patients.csv {ROLES} --ell 3 --out other --spill .")

    assert ran == ["disk", "disk"]


def test_a_policy_names_the_engine(ran: list[str], world: Path) -> None:
    text = '[source]\nfile="patients.csv"\n[roles]\nquasi=["age"]\nsensitive="disease"\n[principle]\nell=3\n'
    text += '[recoding]\nname="boxes"\n[release]\nout="out"\nreport="none"\n'
    for engine in ("auto", "memory", "disk"):
        (world / "policy.toml").write_text(f'{text}[run]\nengine="{engine}"\n')
        run("publish policy.toml --force")
    assert ran == ["memory", "memory", "disk"]
    (world / "policy.toml").write_text(f'{text}[run]\nengine="cloud"\n')
    assert "one of auto, memory, disk, spark" in run("publish policy.toml --force", code=2).stderr


REFUSED = {
    "--engine disk --flat": "leave --flat out",
    "--engine disk --to postgresql://127.0.0.1:1/x": "not databases",
    "--engine disk --table people": "not databases",
    "--engine memory --memory 64": "--memory can only be given with --engine disk",
    "--engine memory --spill .": "--spill can only be given with --engine disk",
    "--engine memory --no-partition": "--report brief needs the whole table in memory: leave --no-partition out, or",
    "--engine memory --no-partition --flat --no-report": "leave --no-partition out, or leave --flat out",
    "--engine memory --no-partition --edition 2027": "an edition needs the whole table in memory: leave --no-partition",
    "--engine disk --master local[2]": "can only be given with --engine spark",
}


@pytest.mark.parametrize(("more", "words"), REFUSED.items(), ids=REFUSED)
def test_what_an_engine_does_not_do_is_refused_before_the_work(more: str, words: str, world: Path) -> None:
    said = run(f"publish patients.csv {ROLES} --ell 3 --out out {more}", code=2)

    assert words in said.stderr
    assert not (world / "out").exists()


def test_an_audit_without_the_partition(world: Path) -> None:
    for engine in ("memory", "disk"):
        run(f"publish patients.csv {ROLES} --ell 3 --out {engine} --engine {engine} {QUICK} --no-partition")
        assert not (world / engine / "audit" / "partition.parquet").exists()
        assert gh.verify(world / engine).holds


# --- large releases ---------------------------------------------------------------------------------------------------


@pytest.fixture
def parted(world: Path) -> Path:
    """A release whose tables have several files."""
    given: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "principle": gh.LDiversity(ell=3)}
    made = publish_file(world / "parted", world / "patients.csv", **given, part_rows=50)
    assert len(made.files["gt"]) > 1
    return made.folder


def test_a_release_of_several_files_is_verified_as_a_stream_and_says_so(parted: Path) -> None:
    said = run(f"verify {parted} --json")
    told = json.loads(said.stdout)

    assert told["holds"]
    assert told["sensitive"] == {}
    assert any("was not read into memory" in sentence for sentence in told["counting"])
    assert told["guarantee"] == gh.load(parted).guarantee.to_data()
    assert "was not read into memory" in run(f"verify {parted.parent}").stdout
    assert gh.verify(parted).holds
    assert gh.verify(gh.load(parted)).columns["disease"].ell >= 3


def test_a_small_release_is_verified_in_memory(world: Path) -> None:
    run(f"publish patients.csv {ROLES} --ell 3 --out out {QUICK}")
    told = json.loads(run("verify out --json").stdout)

    assert told["sensitive"]["disease"]["ell"]["value"] >= 3
    assert not any("into memory" in sentence for sentence in told["counting"])


def test_a_large_release_is_held_to_t_closeness_as_a_stream(world: Path) -> None:
    given: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "principle": gh.TCloseness(t="1/2")}
    made = publish_file(world / "close", world / "patients.csv", **given, method="mondrian", part_rows=50)
    found = gh.verify(made.folder)

    assert len(made.files["data"]) > 1
    assert found.holds
    assert any("t = 1/2" in check.asked or "t = 0.5" in check.asked for check in found.checks)


def test_a_large_release_that_was_changed_is_refused(parted: Path) -> None:
    part = next((parted / "gt").iterdir())
    part.write_bytes(part.read_bytes()[::-1])

    assert "is not the file that was published" in run(f"verify {parted}", code=2).stderr


# --- how much memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [2_000, 20_000])
def test_what_a_file_needs_grows_with_its_rows_whatever_its_form(n_rows: int, tmp_path: Path) -> None:
    table = gh.synthetic.hospital_table(n=n_rows, seed=1)
    columns = ["age", "sex", "disease"]
    pq.write_table(table, tmp_path / "t.parquet")
    pa_csv.write_csv(table, tmp_path / "t.csv")
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write_table(table)
    with pa.CompressedOutputStream(str(tmp_path / "t.csv.gz"), "gzip") as packed:
        packed.write((tmp_path / "t.csv").read_bytes())
    values = n_rows * len(columns) * need.VALUE
    for name in ("t.parquet", "t.csv", "t.arrow", "t.csv.gz"):
        found = need.need_of(tmp_path / name, columns)
        assert found is not None
        assert values / 3 < found.n_bytes < 8 * values, name


def test_nothing_is_said_of_what_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + bytes(50))
    (tmp_path / "broken.csv.gz").write_bytes(b"\x1f\x8b" + bytes(50))
    for name in ("empty.csv", "broken.parquet", "broken.csv.gz", "nowhere", "."):
        assert need.need_of(tmp_path / name, ["age"]) is None
    assert need.need_of("postgresql://localhost/clinic", ["age"]) is None
