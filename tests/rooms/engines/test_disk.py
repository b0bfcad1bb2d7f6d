# SPDX-License-Identifier: Apache-2.0
"""The disk engine: nothing left behind, nothing named, bounded memory, and the refusals of a file of any size.

That it publishes what the memory engine publishes is a law of its own: `tests/laws/test_engines.py`. That a file is
read as `read` reads it is tested where people are counted: `tests/rooms/streaming/test_count.py`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.grouping.anatomize.anatomize import Anatomize
from glasshouse.microdata.groups import Groups
from glasshouse.release.layout import NUMBERS
from glasshouse.release.package.parts import TableWriter
from glasshouse.streaming.publish import PublishedFile, publish_file
from glasshouse.streaming.spill import Disk, Layout, Spill
from tests.tiers import examples

# ------------------------------------------------------------------------------------------------------- the spill


@settings(max_examples=examples(60), deadline=None)
@given(
    parts=st.lists(st.integers(0, 3), max_size=60),
    page=st.integers(1, 7),
    cut=st.integers(0, 60),
    width=st.integers(1, 3),
)
def test_a_spill_gives_back_what_it_got_partition_by_partition(
    parts: list[int], page: int, cut: int, width: int, tmp_path_factory: Any
) -> None:
    numbers = np.arange(len(parts) * width, dtype=np.uint16).reshape(len(parts), width)
    numbers = numbers if width > 1 else numbers[:, 0]
    rows = np.arange(len(parts))
    with Spill(tmp_path_factory.getbasetemp(), Layout.of((np.uint16, width), (np.int64, 1)), 4, page) as spill:
        for part in (slice(0, cut), slice(cut, None)):
            spill.append(np.array(parts, np.int64)[part], [numbers[part], rows[part]])
        for p in range(4):
            mine = [i for i, q in enumerate(parts) if q == p]
            assert spill.count(p) == len(mine)
            found, where = spill.read(p)
            assert (found == numbers[mine]).all()
            assert where.tolist() == mine


def test_a_spill_has_no_name_and_only_its_owner_may_open_it(tmp_path: Path) -> None:
    with Spill(tmp_path, Layout.of((np.int64, 1)), 1, 1) as spill:
        spill.append(np.zeros(2, np.int64), [np.arange(2)])

        assert list(tmp_path.iterdir()) == []
        assert os.fstat(spill._file.fileno()).st_nlink == 0
        assert os.fstat(spill._file.fileno()).st_mode & 0o777 == 0o600
        assert os.fstat(spill._file.fileno()).st_size == 16


@pytest.mark.parametrize("wrong", [{"memory": 1000}, {"page": 0}], ids=lambda wrong: str(wrong))
def test_an_engine_of_impossible_size_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(gh.ParameterError, match="Disk: "):
        Disk(folder=Path(), **wrong)


# ----------------------------------------------------------------------------------------------------- bounded memory


def peak(file: Path, out: Path, engine: str) -> int:
    """Most bytes of Python and NumPy while a file is published, few people at once."""
    tracemalloc.start()
    try:
        published(out, file, engine=engine, part_rows=4000, piece=4000, memory=64 << 20, partition=False, threads=1)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_people_on_disk(tmp_path: Path) -> None:
    """Four times as many people of the same kinds; the memory engine, which may hold them, shows that it is seen."""
    few = hospital(300).select(["age", "sex", "zipcode", "disease"])
    grown = {}
    for times in (1, 40, 160):  # the first one loads libraries
        file = tmp_path / f"{times}.parquet"
        pq.write_table(pa.concat_tables([few] * times), file, row_group_size=4000)
        for engine in ("disk", "memory"):
            grown[engine, times] = peak(file, tmp_path / f"{engine} {times}", engine)

    on_disk, in_memory = (grown[engine, 160] - grown[engine, 40] for engine in ("disk", "memory"))
    assert in_memory > 4 * 120 * 300  # bytes for every person more
    assert on_disk < in_memory / 3


# ------------------------------------------------------------------------------------------------------- the journey

PEOPLE = 600
QUASI = ["age", "sex", "zipcode"]


def hospital(n: int = PEOPLE, seed: int = 3) -> pa.Table:
    return gh.synthetic.hospital_table(n=n, seed=seed)


def as_file(table: pa.Table, folder: Path, format: str, **options: Any) -> Path:
    path = folder / f"people.{format}"
    if format == "csv":
        pa_csv.write_csv(table, path)
    else:
        pq.write_table(table, path, **options)
    return path


def published(out: Path, file: Path, **choices: Any) -> PublishedFile:
    given: dict[str, Any] = {
        "quasi": QUASI,
        "sensitive": "disease",
        "principle": gh.LDiversity(ell=3),
        "method": "anatomize",
        "recoding": "anatomy",
        "source": gh.Source.seeded(5),
        "allow_seed": True,
        **choices,
    }
    return publish_file(out, file, **given)


def rows_of(table: pa.Table, names: Sequence[str]) -> Counter[Any]:
    return Counter(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def test_the_audit_keeps_who_is_in_which_group_for_its_owner_alone(tmp_path: Path) -> None:
    table = hospital()
    file = as_file(table, tmp_path, "parquet")
    published(tmp_path / "out", file, part_rows=100, piece=70)
    audit = tmp_path / "out" / "audit"
    kept = pq.read_table(audit / "partition.parquet")
    release = gh.load(tmp_path / "out" / "release")

    assert kept["row"].to_pylist() == list(range(PEOPLE))
    assert {path.stat().st_mode & 0o777 for path in audit.iterdir()} == {0o600}
    assert audit.stat().st_mode & 0o777 == 0o700
    joined = table.append_column("Group-ID", kept["group"])
    assert rows_of(joined, [*QUASI, "Group-ID"]) == rows_of(release.tables["qit"], [*QUASI, "Group-ID"])
    assert rows_of(joined, ["Group-ID", "disease"]) == rows_of(release.tables["st"], ["Group-ID", "disease"])
    report = json.loads((audit / "report.json").read_text())
    assert report["achieved"]["tuples"] == PEOPLE
    assert report["achieved"]["groups"] == PEOPLE // 3


def test_the_audit_can_go_without_the_partition(tmp_path: Path) -> None:
    published(tmp_path / "out", as_file(hospital(), tmp_path, "parquet"), partition=False)

    assert {path.name for path in (tmp_path / "out" / "audit").iterdir()} == {
        "contents.json",
        "report.json",
        "published.json",
    }


NAMES = {
    "qit.parquet",
    "st.parquet",
    "datapackage.json",
    "contents.json",
    "README.md",
    "report.json",
    "partition.parquet",
    "published.json",
}


def test_a_published_file_tells_nothing_of_pages_pieces_or_the_source(tmp_path: Path) -> None:
    file = as_file(hospital(2000).replace_schema_metadata({"secret": "x"}), tmp_path, "parquet")
    published(tmp_path / "out", file, piece=300)

    for name in ("qit", "st"):
        written = pq.ParquetFile(tmp_path / "out" / "release" / f"{name}.parquet")
        assert written.metadata.num_row_groups == 1
        assert set(written.metadata.metadata or {}) <= {b"ARROW:schema"}
        assert written.schema_arrow.metadata is None
        for i in range(written.metadata.num_columns):
            assert written.metadata.row_group(0).column(i).statistics is None
    assert {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()} == NAMES
    assert file.name not in (tmp_path / "out" / "release" / "datapackage.json").read_text()


def test_row_groups_end_where_the_number_of_rows_says(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableWriter.__init__, "__kwdefaults__", {"row_group": 256, "numbers": NUMBERS})
        published(tmp_path / "out", as_file(hospital(1000), tmp_path, "parquet"), piece=100)
    written = pq.ParquetFile(tmp_path / "out" / "release" / "qit.parquet").metadata
    kept = pq.read_table(tmp_path / "out" / "audit" / "partition.parquet")

    assert [written.row_group(i).num_rows for i in range(written.num_row_groups)] == [256, 256, 256, 232]
    assert kept["row"].to_pylist() == list(range(1000))


def test_the_same_seed_and_file_give_the_same_bytes_and_a_secure_source_others(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    for name in ("a", "b"):
        published(tmp_path / name, file)
    published(tmp_path / "c", file, source=None)
    contents = [(tmp_path / name / "release" / "qit.parquet").read_bytes() for name in "abc"]

    assert contents[0] == contents[1] != contents[2]


# --------------------------------------------------------------------------------------------------------- refusals


def test_missing_values_are_an_error_with_the_words_of_read(tmp_path: Path) -> None:
    table = hospital(200)
    ages = [None if i % 7 == 3 else age for i, age in enumerate(table["age"].to_pylist())]
    file = as_file(table.set_column(table.column_names.index("age"), "age", pa.array(ages)), tmp_path, "parquet")
    with pytest.raises(gh.DomainError) as expected:
        gh.read(file, quasi=QUASI, sensitive="disease")

    with pytest.raises(gh.DomainError) as found:
        published(tmp_path / "out", file)

    assert str(expected.value) == str(found.value)
    assert not (tmp_path / "out").exists()


def test_what_occurs_in_dropped_rows_only_is_in_no_published_dictionary(tmp_path: Path) -> None:
    table = pa.table(
        {
            "city": ["a", "b", "SECRET", "a", "b"],
            "age": [1, 2, None, 4, 5],
            "disease": ["flu", "gout", "HIDDEN", "gout", "flu"],
        }
    )
    for incoming in ("parquet", "csv"):
        file = as_file(table, tmp_path, incoming)
        made = published(
            tmp_path / incoming, file, quasi=["city", "age"], missing="drop", principle=gh.LDiversity(ell=2)
        )
        assert (made.n_tuples, made.n_dropped) == (4, 1)
        for path in (tmp_path / incoming).rglob("*.*"):
            assert b"SECRET" not in path.read_bytes()
            assert b"HIDDEN" not in path.read_bytes()


def test_a_table_that_is_not_diverse_is_refused_with_the_same_witness_and_nothing_is_written(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    principle = gh.LDiversity(ell=40)
    with pytest.raises(gh.Infeasible) as expected:
        gh.publish(gh.read(file, quasi=QUASI, sensitive="disease"), principle=principle)

    with pytest.raises(gh.Infeasible) as found:
        published(tmp_path / "out", file, principle=principle)

    assert str(expected.value) == str(found.value)
    for name in ("principle", "column", "value", "count", "of", "largest"):
        assert getattr(expected.value, name) == getattr(found.value, name)
    assert found.value.counted is None  # an error may be logged or pickled, and must not carry the table
    assert [way.name for way in found.value.ways] == [way.name for way in expected.value.ways]
    assert found.value.ways
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


@pytest.mark.parametrize(
    ("choices", "error", "match"),
    [
        ({"quasi": ["agee"]}, gh.SchemaError, "did you mean 'age'"),
        ({"quasi": ["age", "disease"]}, gh.SchemaError, "give it only one role"),
        ({"sensitive": "age"}, gh.SchemaError, "give it only one role"),
        ({"quasi": ["sex"], "sensitive": "age"}, gh.DomainError, "has numbers"),
        ({"principle": gh.KAnonymity(k=2)}, gh.NotSupported, "publishes exact quasi-identifiers"),
        ({"format": "docx"}, gh.ParameterError, "parquet"),
        ({"engine": "cloud"}, gh.ParameterError, "memory"),
        ({"carry": "all"}, gh.ParameterError, "carry"),
        ({"allow_seed": False}, gh.OutputError, "fixed seed"),
        ({"memory": 5}, gh.ParameterError, "memory"),
        ({"categorical": ["aeg"]}, gh.SchemaError, "did you mean 'age'"),
    ],
)
def test_what_cannot_be_published_is_refused_and_nothing_is_written(
    choices: dict[str, Any], error: type[Exception], match: str, tmp_path: Path
) -> None:
    file = as_file(hospital(), tmp_path, "parquet")

    with pytest.raises(error, match=match):
        published(tmp_path / "out", file, **choices)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


def test_a_column_named_like_one_that_is_added_is_refused(tmp_path: Path) -> None:
    file = as_file(pa.table({"Group-ID": [1, 2], "disease": ["a", "b"]}), tmp_path, "parquet")

    with pytest.raises(gh.SchemaError, match="rename"):
        published(tmp_path / "out", file, quasi=["Group-ID"], principle=gh.LDiversity(ell=2))


def test_an_earlier_release_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    published(tmp_path / "out", file)
    with pytest.raises(gh.OutputError, match="exists already"):
        published(tmp_path / "out", file)
    with pytest.warns(gh.DisclosureWarning, match="published from this folder before"):
        published(tmp_path / "out", file, force=True, format="csv", part_rows=100)

    assert (tmp_path / "out" / "release" / "qit" / "part-00000.csv").exists()
    assert not (tmp_path / "out" / "release" / "qit.parquet").exists()


@pytest.mark.parametrize("phase", ["reading", "divide"])
def test_a_file_that_changes_between_two_readings_is_refused_and_nothing_is_written(phase: str, tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    other = hospital(seed=9)
    changed: list[str] = []

    def change(what: str, done: int, total: int) -> None:
        if what == phase and not changed:
            changed.append(what)
            pq.write_table(other, file)

    with pytest.raises(gh.SourceError, match="publish it when no program writes to it"):
        published(tmp_path / "out", file, progress=change)

    assert changed
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


@pytest.mark.parametrize("recoding", ["anatomy", "angel", "boxes"])
def test_tables_that_fail_the_second_count_never_appear(recoding: str, tmp_path: Path) -> None:
    """A method that puts people into pairs by their values is found out, though the engine believes its groups."""
    file = as_file(hospital(), tmp_path, "parquet")

    def spoiled(_self: Any, kinds: Any, piece: Any, *_: Any) -> Groups:
        values = np.repeat(kinds.table.sensitive[0].codes[piece.kinds], piece.counts)
        labels = np.empty(len(values), np.int32)
        labels[np.argsort(values, kind="stable")] = np.arange(len(values)) // 3
        return Groups(labels, -(-len(values) // 3))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Anatomize, "finish", spoiled)
        with pytest.raises(gh.GuaranteeBroken):
            published(tmp_path / "out", file, recoding=recoding)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


# --------------------------------------------------------------------------------------------- nothing stays behind

PHASES = ["reading", "divide", "shuffle", "write qit", "write st"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_ctrl_c_leaves_nothing_behind(phase: str, format: str, tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")

    def interrupt(what: str, done: int, total: int) -> None:
        if what == phase and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(tmp_path / "out", file, progress=interrupt, format=format, part_rows=200, piece=100)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


CHILD = """
import sys
import glasshouse as gh
from glasshouse.streaming.publish import publish_file

def tell(phase, done, total):
    print(phase, flush=True)

publish_file(sys.argv[1], sys.argv[2], quasi=["age", "sex", "zipcode"], sensitive="disease", method="anatomize",
             recoding="anatomy", principle=gh.LDiversity(ell=3), spill=sys.argv[3], progress=tell, piece=1 << 14)
"""


@pytest.mark.parametrize("phase", ["divide", "shuffle", "write qit"])
def test_sigkill_leaves_no_readable_microdata(phase: str, tmp_path: Path) -> None:
    table = hospital(150_000)
    file = tmp_path / "source" / "people.parquet"
    file.parent.mkdir()
    pq.write_table(table, file)
    out, spill = tmp_path / "out", tmp_path / "spill"
    spill.mkdir()
    command = [sys.executable, "-c", CHILD, str(out), str(file), str(spill)]
    rng = random.Random(phase)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.strip() == phase:
                time.sleep(rng.uniform(0, 0.05))
                child.send_signal(signal.SIGKILL)
                break
        assert child.wait(60) == -signal.SIGKILL

    assert list(spill.iterdir()) == []
    for path in out.rglob("*") if out.exists() else []:
        if path.is_file():  # published content, or who is where in a folder of the owner's alone
            assert path.name in NAMES
            if path.name in ("report.json", "partition.parquet", "published.json"):
                assert path.parent.stat().st_mode & 0o777 == 0o700
            if path.name == "qit.parquet":
                assert b"disease" not in path.read_bytes()
            if path.name == "st.parquet":
                assert b"zipcode" not in path.read_bytes()
    shutil.rmtree(out, ignore_errors=True)


def test_nothing_between_two_stages_has_a_name(tmp_path: Path) -> None:
    """Whenever something is told, the folder for spilled files is empty, though files in it are open."""
    spill = tmp_path / "spill"
    spill.mkdir()
    file = as_file(hospital(), tmp_path, "parquet")
    seen = Counter[str]()

    def look(phase: str, done: int, total: int) -> None:
        assert list(spill.iterdir()) == []
        opened = [link for link in Path("/proc/self/fd").iterdir() if str(spill) in target_of(link)]
        seen[phase] += len(opened)

    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell which files are open")
    published(tmp_path / "out", file, spill=spill, progress=look, piece=100, part_rows=200)

    assert seen["shuffle"] > 0
    assert seen["write qit"] > 0


def target_of(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


@pytest.mark.parametrize("where", ["Spill._flush", "PickledItems.__setitem__"])
def test_a_full_disk_is_an_error_and_nothing_is_left(where: str, tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"glasshouse.streaming.spill.{where}", full)
        with pytest.raises(gh.OutputError, match="No space left"):
            published(tmp_path / "out", file)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


# ----------------------------------------------------------------------------------------------------------- progress


def test_progress_tells_every_phase_and_ends_with_all_of_it(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    file = as_file(hospital(), tmp_path, "parquet")
    published(tmp_path / "out", file, progress=lambda *t: told.append(t), piece=100, part_rows=200)

    phases = [phase for phase, _ in itertools.groupby(told, key=lambda t: t[0])]
    assert set(PHASES) <= set(phases)
    for _phase, rows in itertools.groupby(told, key=lambda t: t[0]):
        some = list(rows)
        counts = [done for _, done, _ in some]
        assert counts == sorted(counts)
        assert counts[-1] == some[-1][2]
