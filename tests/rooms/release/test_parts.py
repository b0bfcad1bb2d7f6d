"""A table of several files: written alike by every writer, read as one table, and refused when anything is odd."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frictionless
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.release.package.description import write_manifest
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.parts import TableWriter, write_part, write_table
from glasshouse.release.package.stream import ReleaseStream, open_release
from glasshouse.release.package.tables import plain_table
from glasshouse.release.package.write import write_release
from tests.rooms.release.kinds import KINDS, of_kind, plain

STREAMED = ["boxes", "anatomy", "angel"]


def borders_of(release: gh.Release, rows: int = 9) -> dict[str, list[int]]:
    """Borders after every few rows."""
    return {name: list(range(rows, table.num_rows, rows)) for name, table in release.tables.items()}


def write_parted(folder: Path, kind: str = "anatomy", format: str = "parquet", rows: int = 9) -> gh.Release:
    release = of_kind(kind)
    with new_folder(folder) as new:
        write_release(release, new, format, borders_of(release, rows))
    return release


def manifest_of(folder: Path) -> Any:
    return json.loads((folder / "datapackage.json").read_bytes())


def put(folder: Path, manifest: Any) -> None:
    (folder / "datapackage.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def tell(folder: Path, *paths: str) -> None:
    """Write the true size, rows and sum of files into the manifest, as the sender of a hostile package would."""
    manifest = manifest_of(folder)
    for entry in manifest["glasshouse"]["files"]:
        if entry["path"] in paths:
            content = (folder / entry["path"]).read_bytes()
            entry["bytes"], entry["hash"] = len(content), f"sha256:{hashlib.sha256(content).hexdigest()}"
            if entry["path"].endswith(".parquet"):
                entry["rows"] = pq.read_metadata(folder / entry["path"]).num_rows
    put(folder, manifest)


# ------------------------------------------------------------------------------------------------------------ written


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_release_in_parts_is_the_release(kind: str, format: str, tmp_path: Path) -> None:
    release = write_parted(tmp_path / "parted", kind, format, rows=3)
    release.save(tmp_path / "whole", format=format)
    parted, whole = gh.load(tmp_path / "parted"), gh.load(tmp_path / "whole")

    assert any(path.name == f"part-00001.{format}" for path in (tmp_path / "parted").rglob("*"))
    assert plain(parted.tables) == plain(release.tables)
    assert {n: t.schema for n, t in parted.tables.items()} == {n: t.schema for n, t in whole.tables.items()}
    assert gh.verify(parted).to_dict() == gh.verify(whole).to_dict()
    assert (parted.guarantee, parted.recipe, parted.columns) == (whole.guarantee, whole.recipe, whole.columns)


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["boxes", "anatomy", "marginals", "perturbed"])
def test_the_standards_validator_accepts_a_release_in_parts(kind: str, format: str, tmp_path: Path) -> None:
    write_parted(tmp_path / "release", kind, format, rows=7)
    report = frictionless.validate(str(tmp_path / "release" / "datapackage.json"))

    assert report.flatten(["type", "fieldName", "note"]) == []
    assert report.valid


def test_a_table_of_one_part_is_written_as_ever(tmp_path: Path) -> None:
    release = of_kind("angel")
    release.save(tmp_path / "saved")
    with new_folder(tmp_path / "again") as new:
        write_release(release, new, "parquet", {"gt": []})

    for path in (tmp_path / "saved").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    assert manifest_of(tmp_path / "again")["glasshouse"]["format_version"] == 3


def test_the_manifest_lists_every_part_with_rows_size_and_sum(tmp_path: Path) -> None:
    release = write_parted(tmp_path / "release")
    manifest = manifest_of(tmp_path / "release")
    (qit, *_) = manifest["resources"]
    listed = {file["path"]: file for file in manifest["glasshouse"]["files"]}

    assert manifest["glasshouse"]["format_version"] == 4
    assert qit["path"] == [f"qit/part-{i:05}.parquet" for i in range(5)]
    assert sum(listed[path]["rows"] for path in qit["path"]) == release.tables["qit"].num_rows
    for path in qit["path"]:
        content = (tmp_path / "release" / path).read_bytes()
        assert listed[path]["bytes"] == len(content)
        assert listed[path]["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_parts_have_the_modes_of_published_files(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_parted(tmp_path / "release")
    finally:
        os.umask(before)

    assert (tmp_path / "release" / "qit").stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "release" / "qit").iterdir()} == {0o644}


def test_a_release_in_parts_is_replaced_if_it_is_as_it_was_written(tmp_path: Path) -> None:
    write_parted(tmp_path / "release")
    of_kind("boxes").save(tmp_path / "release", force=True)
    assert gh.load(tmp_path / "release").recipe.recoding["name"] == "boxes"

    write_parted(tmp_path / "other")
    (tmp_path / "other" / "qit" / "notes.txt").write_text("ask Ada")
    with pytest.raises(gh.OutputError, match=r"qit/notes.txt was not written by Glasshouse"):
        of_kind("boxes").save(tmp_path / "other", force=True)

    write_parted(tmp_path / "third")
    (tmp_path / "third" / "qit" / "part-00001.parquet").write_bytes(b"mine")
    with pytest.raises(gh.OutputError, match=r"qit/part-00001.parquet was changed since"):
        of_kind("boxes").save(tmp_path / "third", force=True)


def test_borders_that_do_not_ascend_are_refused(tmp_path: Path) -> None:
    for borders in ([0], [5, 5], [7, 3], [40], [41]):
        with (
            pytest.raises(gh.OutputError, match="not in ascending order within its 40 rows"),
            new_folder(tmp_path / "release") as new,
        ):
            write_release(of_kind("anatomy"), new, "parquet", {"qit": borders})
    assert list(tmp_path.iterdir()) == []


def test_parts_that_are_not_all_there_are_not_described(tmp_path: Path) -> None:
    release = of_kind("anatomy")
    qit = release.tables["qit"]
    parts = [write_part(tmp_path, "qit", i, 2, qit.slice(20 * i, 20), "parquet") for i in (1, 0)]
    st = [write_part(tmp_path, "st", 0, 1, release.tables["st"], "parquet")]

    with pytest.raises(gh.OutputError, match="not listed in order"):
        write_manifest(release, tmp_path, "parquet", None, {"qit": parts, "st": st})
    with pytest.raises(gh.OutputError, match="not listed in order"):
        write_manifest(release, tmp_path, "parquet", None, {"qit": parts[1:] * 2, "st": st})
    (tmp_path / "qit" / "part-00002.parquet").write_bytes(b"")
    with pytest.raises(gh.OutputError, match="files that are not parts of it"):
        write_manifest(release, tmp_path, "parquet", None, {"qit": parts[::-1], "st": st})

    (tmp_path / "qit" / "part-00002.parquet").unlink()
    (tmp_path / "qit" / ".unfinished-0123").write_bytes(b"half of it")  # of a task that was killed
    write_manifest(release, tmp_path, "parquet", None, {"qit": parts[::-1], "st": st})
    assert plain(gh.load(tmp_path).tables) == plain(release.tables)


# ---------------------------------------------------------------------------------------------------- the same bytes

ROWS = {
    "age": pa.array([30, 31, None, 33, 34, 35] * 4),
    "city": pa.array(["Oslo", "Rome", None, "Oslo", "Faro", "Rome"] * 4).dictionary_encode(),
    "day": pa.array([datetime.date(2020, 1, 1 + i % 3) for i in range(24)]),
    "note": pa.array(["=1+1", "b", None, "", "d", "e"] * 4),
    "Group-ID": pa.array(np.repeat(np.arange(1, 9), 3).astype(np.int32)),
}


def disguised(table: pa.Table, chance: np.random.Generator) -> pa.Table:
    """The same rows in other chunks, with other dictionaries that have spare, double and missing entries."""
    cuts = [0, *sorted(chance.integers(0, table.num_rows, 5).tolist()), table.num_rows]
    pieces = []
    for start, end in itertools.pairwise(cuts):
        cities = table["city"].slice(start, end - start).to_pylist()
        words: list[Any] = ["spare", "Rome", "Faro", "Oslo", "Oslo", None]
        chance.shuffle(words)
        places = [int(chance.choice([i for i, word in enumerate(words) if word == city])) for city in cities]
        kind = chance.choice([pa.int8(), pa.int32(), pa.int64()])
        column = pa.DictionaryArray.from_arrays(pa.array(places, kind), pa.array(words)).cast(
            pa.dictionary(pa.int16(), pa.string())
        )
        piece = table.slice(start, end - start)
        pieces.append(piece.set_column(1, "city", column))
    return pa.concat_tables(pieces).replace_schema_metadata({"who": "me"})


def test_no_empty_batch_reaches_the_writer_of_csv_files() -> None:
    """Versions of pyarrow before 24 write the rows before an empty batch a second time."""
    rows = pa.table({"age": [1, 2, 3], "city": ["Rome", "Oslo", None]})
    parted = pa.concat_tables([rows.slice(0, 2), rows.slice(0, 0), rows.slice(2)])

    assert [2, 1] == [batch.num_rows for batch in plain_table(parted, {}).to_batches()]
    assert 0 == plain_table(rows.slice(0, 0), {}).num_rows


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_chunks_and_dictionaries_do_not_show(format: str, tmp_path: Path) -> None:
    table = pa.table(ROWS)
    marks = {"note": "NA"}
    write_table(table, tmp_path / "plain", format, marks)
    for seed in range(20):
        other = disguised(table, np.random.default_rng(seed))
        assert other["city"].to_pylist() == table["city"].to_pylist()
        write_table(other, tmp_path / "other", format, marks)
        assert (tmp_path / "plain").read_bytes() == (tmp_path / "other").read_bytes()

    with TableWriter(tmp_path / "small", table.schema, format, marks, row_group=10) as writer:
        writer.write(table)
    with TableWriter(tmp_path / "pieces", table.schema, format, marks, row_group=10) as writer:
        for start, end in ((0, 1), (1, 13), (13, 13), (13, 24)):
            writer.write(table.slice(start, end - start))
    assert (tmp_path / "small").read_bytes() == (tmp_path / "pieces").read_bytes()


def test_chunks_do_not_show_in_pages(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    whole = pa.table(
        {"number": chance.integers(0, 1 << 40, 90_000), "text": [str(i) for i in chance.integers(0, 1 << 40, 90_000)]}
    )
    cuts = [0, 7, 12_345, 20_001, 60_000, 90_000]
    chunks = pa.concat_tables([whole.slice(a, b - a) for a, b in itertools.pairwise(cuts)])
    write_table(whole, tmp_path / "whole.parquet", "parquet")
    write_table(chunks, tmp_path / "chunks.parquet", "parquet")

    assert chunks["number"].num_chunks == 5
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "chunks.parquet").read_bytes()


def test_a_row_group_has_a_dictionary_of_what_it_shows(tmp_path: Path) -> None:
    codes = pa.array([0] * 5 + [1] * 5)
    table = pa.table({"city": pa.DictionaryArray.from_arrays(codes, ["only-early", "only-late"])})
    with TableWriter(tmp_path / "t.parquet", table.schema, "parquet", {}, row_group=5) as writer:
        writer.write(table)
    with TableWriter(tmp_path / "late.parquet", table.schema, "parquet", {}, row_group=5) as writer:
        writer.write(table.slice(5))

    assert pq.read_table(tmp_path / "t.parquet")["city"].to_pylist() == ["only-early"] * 5 + ["only-late"] * 5
    assert b"only-early" not in (tmp_path / "late.parquet").read_bytes()
    assert b"only-early" in (tmp_path / "t.parquet").read_bytes()


def test_a_column_without_any_value_is_written(tmp_path: Path) -> None:
    nothing = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int32()), pa.array(["x"]))
    write_table(pa.table({"a": nothing}), tmp_path / "t.parquet", "parquet")

    assert pq.read_table(tmp_path / "t.parquet")["a"].to_pylist() == [None, None]
    assert b"x" not in pq.read_table(tmp_path / "t.parquet")["a"].combine_chunks().dictionary.to_pylist()


def test_other_tools_read_the_parts(tmp_path: Path) -> None:
    import duckdb

    release = write_parted(tmp_path / "release")
    n_rows = release.tables["qit"].num_rows
    files = f"{tmp_path}/release/qit/*.parquet"

    assert len(pd.read_parquet(tmp_path / "release" / "qit")) == n_rows
    assert duckdb.sql(f"SELECT COUNT(*) FROM '{files}'").fetchall() == [(n_rows,)]


# ------------------------------------------------------------------------------------------------------------ refused


def _swap_files(folder: Path) -> None:
    one, two = folder / "qit" / "part-00000.parquet", folder / "qit" / "part-00001.parquet"
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)


def _swap_in_list(folder: Path) -> None:
    manifest = manifest_of(folder)
    path = manifest["resources"][0]["path"]
    path[0], path[1] = path[1], path[0]
    put(folder, manifest)


def _list_twice(folder: Path) -> None:
    manifest = manifest_of(folder)
    manifest["resources"][0]["path"].append(manifest["resources"][0]["path"][0])
    put(folder, manifest)


def _list_twice_everywhere(folder: Path) -> None:
    _list_twice(folder)
    manifest = manifest_of(folder)
    manifest["glasshouse"]["files"].append(manifest["glasshouse"]["files"][0])
    put(folder, manifest)


def _other_schema(folder: Path) -> None:
    path = folder / "qit" / "part-00001.parquet"
    table = pq.read_table(path)
    at = table.column_names.index("Group-ID")
    write_table(table.set_column(at, "Group-ID", table["Group-ID"].cast(pa.int64())), path, "parquet")
    tell(folder, "qit/part-00001.parquet")


def _other_columns(folder: Path) -> None:
    path = folder / "qit" / "part-00001.parquet"
    table = pq.read_table(path)
    write_table(table.select([*table.column_names[1:], table.column_names[0]]), path, "parquet")
    tell(folder, "qit/part-00001.parquet")


def _move_a_row(folder: Path) -> None:
    """Over a border, with sums that are right and rows that are as they were."""
    one, two = folder / "qit" / "part-00000.parquet", folder / "qit" / "part-00001.parquet"
    first, second = pq.read_table(one), pq.read_table(two)
    rows = {entry["path"]: entry.get("rows") for entry in manifest_of(folder)["glasshouse"]["files"]}
    write_table(first.slice(0, first.num_rows - 1), one, "parquet")
    write_table(pa.concat_tables([first.slice(first.num_rows - 1), second]), two, "parquet")
    tell(folder, "qit/part-00000.parquet", "qit/part-00001.parquet")
    manifest = manifest_of(folder)
    for entry in manifest["glasshouse"]["files"]:
        if entry["path"] in rows and "rows" in entry:
            entry["rows"] = rows[entry["path"]]
    put(folder, manifest)


def _edit(change: Callable[[Any], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        manifest = manifest_of(folder)
        change(manifest)
        put(folder, manifest)

    return edit


def _outside(manifest: Any) -> None:
    manifest["resources"][0]["path"][0] = "../qit/part-00000.parquet"


def _absolute(manifest: Any) -> None:
    manifest["resources"][0]["path"][0] = "/etc/passwd"


def _up(manifest: Any) -> None:
    manifest["resources"][0]["path"][0] = "qit/../README.md"


def _link_a_part(folder: Path) -> None:
    path = folder / "qit" / "part-00000.parquet"
    path.rename(folder.parent / "elsewhere.parquet")
    path.symlink_to(folder.parent / "elsewhere.parquet")


def _link_the_folder(folder: Path) -> None:
    (folder / "qit").rename(folder.parent / "elsewhere")
    (folder / "qit").symlink_to(folder.parent / "elsewhere")


def _more_rows_than_people(manifest: Any) -> None:
    for entry in manifest["glasshouse"]["files"]:
        if "rows" in entry:
            entry["rows"] = 39


def _no_rows(manifest: Any) -> None:
    del manifest["glasshouse"]["files"][0]["rows"]


def _sum_of_all(manifest: Any) -> None:
    manifest["resources"][0]["hash"] = manifest["glasshouse"]["files"][0]["hash"]


def _older_format(manifest: Any) -> None:
    manifest["glasshouse"]["format_version"] = 3


def _one_part(manifest: Any) -> None:
    manifest["resources"][0]["path"] = manifest["resources"][0]["path"][:1]


def _wrong_sum(manifest: Any) -> None:
    manifest["glasshouse"]["files"][2]["hash"] = "sha256:" + "0" * 64


def _wrong_size(manifest: Any) -> None:
    manifest["glasshouse"]["files"][2]["bytes"] += 1


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "two files swapped": (_swap_files, r"part-0000[01].parquet (is not the file|has .* bytes, where)"),
    "two parts listed in the other order": (_swap_in_list, "not listed from the first to the last, each once"),
    "one missing": (lambda folder: (folder / "qit" / "part-00003.parquet").unlink(), "missing: .*part-00003.parquet"),
    "the last one missing": (lambda folder: (folder / "qit" / "part-00004.parquet").unlink(), "missing: "),
    "the folder missing": (lambda folder: shutil.rmtree(folder / "qit"), "missing: qit"),
    "one listed twice": (_list_twice, "not listed from the first to the last, each once"),
    "one listed twice everywhere": (_list_twice_everywhere, "not listed from|two of its files have the same name"),
    "a part with other types": (_other_schema, "'qit' have columns of different types"),
    "a part with other columns": (_other_columns, "part-00001.parquet does not have the columns"),
    "a row moved over a border": (_move_a_row, r"part-00000.parquet has 8 rows, and datapackage.json says 9"),
    "a wrong sum": (_edit(_wrong_sum), "its checksum differs"),
    "a wrong size": (_edit(_wrong_size), "it is shorter"),
    "a path outside": (_edit(_outside), "outside the folder of the release"),
    "an absolute path": (_edit(_absolute), "outside the folder of the release"),
    "a path that goes up": (_edit(_up), "outside the folder of the release"),
    "a part that is a link": (_link_a_part, "it is a link, which Glasshouse does not follow"),
    "a folder that is a link": (_link_the_folder, "or it is a link, which Glasshouse does not follow"),
    "a part that is a folder": (
        lambda folder: [(folder / "qit" / "part-00000.parquet").unlink(), (folder / "qit/part-00000.parquet").mkdir()],
        "it is a folder or a device, not a file",
    ),
    "a part that is a pipe": (
        lambda folder: [
            (folder / "qit" / "part-00000.parquet").unlink(),
            os.mkfifo(folder / "qit" / "part-00000.parquet"),
        ],
        "it is a folder or a device, not a file",
    ),
    "a file in place of the folder": (
        lambda folder: [shutil.rmtree(folder / "qit"), (folder / "qit").write_bytes(b"")],
        "not a folder",
    ),
    "one more file": (lambda folder: (folder / "qit" / "x.parquet").write_bytes(b""), "not published with it"),
    "one more folder": (lambda folder: (folder / "more").mkdir(), "not published with it"),
    "more rows than people": (_edit(_more_rows_than_people), "more rows than the release has records"),
    "no number of rows": (_edit(_no_rows), "does not give the size, the number of rows and the checksum of each part"),
    "one sum for all": (_edit(_sum_of_all), "does not give the size, the number of rows and the checksum of each part"),
    "an older format": (_edit(_older_format), "'path' is not text"),
    "one part alone": (_edit(_one_part), "not listed from the first to the last"),
}


def stream_all(folder: Path) -> None:
    with open_release(folder) as opened:
        for name in opened.described().tables:
            for batch in opened.batches(name):
                assert batch.num_rows


@pytest.mark.parametrize("what", BROKEN)
def test_a_release_in_parts_that_is_odd_is_refused(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    write_parted(folder)
    gh.load(folder)
    spoil, reason = BROKEN[what]
    spoil(folder)

    with pytest.raises(gh.SourceError, match=reason):
        gh.load(folder)
    if what != "a part with other types":
        with pytest.raises(gh.SourceError, match=reason):
            stream_all(folder)


def test_all_parts_together_may_take_as_much_memory_as_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ages = {"age": np.arange(3000) % 90, "ill": np.array(["flu", "gout", "cold"])[np.arange(3000) % 3]}
    table = gh.read(pa.table(ages), quasi=["age"], sensitive="ill")
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy())
    with new_folder(tmp_path / "release") as new:
        write_release(release, new, "parquet", borders_of(release, 300))
    needed = gh.load(tmp_path / "release").tables["qit"].nbytes

    gh.load(tmp_path / "release", most_bytes=4 * needed)
    with pytest.raises(gh.SourceError, match=r"of up to 3,000 rows, take about .*most_bytes") as caught:
        gh.load(tmp_path / "release", most_bytes=needed)
    larger = int(str(caught.value).rpartition("most_bytes=")[2].rstrip(")"))
    assert gh.load(tmp_path / "release", most_bytes=larger).n_tuples == 3000
    monkeypatch.setattr(ReleaseStream, "_refuse_too_large", lambda _: None)  # and whatever the manifest tells
    with pytest.raises(gh.SourceError, match=r"part-0000[2-9].parquet.*most_bytes"):
        gh.load(tmp_path / "release", most_bytes=needed)


def test_a_release_whose_format_says_parts_has_some(tmp_path: Path) -> None:
    of_kind("boxes").save(tmp_path / "release")
    manifest = manifest_of(tmp_path / "release")
    manifest["glasshouse"]["format_version"] = 4
    put(tmp_path / "release", manifest)

    with pytest.raises(gh.SourceError, match="in which a table has several files"):
        gh.load(tmp_path / "release")


# ----------------------------------------------------------------------------------------------------------- streamed


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_has_the_rows_of_the_tables(kind: str, format: str, tmp_path: Path) -> None:
    release = write_parted(tmp_path / "release", kind, format, rows=4)
    with open_release(tmp_path / "release") as opened:
        described = opened.described()
        assert (described.guarantee, described.n_tuples) == (release.guarantee, release.n_tuples)
        for name, table in release.tables.items():
            batches = list(opened.batches(name))
            assert sum(batch.num_rows for batch in batches) == table.num_rows
            for column in table.column_names:
                if format == "csv" and pa.types.is_timestamp(table[column].type):
                    continue  # comes as it is written
                values = [value for batch in batches for value in batch[column].to_pylist()]
                assert values == table[column].to_pylist()
            some = list(opened.batches(name, [table.column_names[-1]]))
            assert {tuple(batch.column_names) for batch in some} == {(table.column_names[-1],)}


@pytest.mark.parametrize("recoding", ["boxes", "anatomy", "permutation", "angel"])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_release_is_saved_in_the_files_that_publishing_would_have_written(
    recoding: str, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.journeys.publish.PART_ROWS", 13)
    columns = {"age": [20 + i * i % 31 for i in range(90)], "disease": [f"d{i % 5}" for i in range(90)]}
    table = gh.read(columns, quasi=["age"], sensitive="disease")
    wanted: dict[str, Any] = {"principle": gh.LDiversity(ell=2), "recoding": recoding}
    gh.publish(table, **wanted, source=gh.Source.seeded(5), out=tmp_path / "out", allow_seed=True, format=format)
    release = gh.publish(table, **wanted, source=gh.Source.seeded(5))
    release.save(tmp_path / "saved", format=format, allow_seed=True)
    gh.load(tmp_path / "saved").save(tmp_path / "again", format=format, allow_seed=True)

    def files(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    written = files(tmp_path / "out" / "release")
    assert any("part-00003" in name for name in written)
    assert files(tmp_path / "saved") == written
    assert files(tmp_path / "again") == written


def test_a_release_that_does_not_fit_into_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parted(tmp_path / "release", "angel")
    with pytest.raises(gh.SourceError, match=r"more than the 900 that may be used.*glasshouse verify"):
        gh.load(tmp_path / "release", most_bytes=900)

    release = gh.load(tmp_path / "release")
    monkeypatch.setattr("glasshouse.unpacking.headroom.memory_left", lambda: 500)
    with pytest.raises(gh.NotSupported, match=r"but only 0\.0 GB are free; check it with `glasshouse verify`"):
        gh.load(tmp_path / "release")
    assert gh.verify(tmp_path / "release").holds

    monkeypatch.setattr("glasshouse.release.contents.PART_ROWS", 10)
    with pytest.raises(gh.NotSupported, match="a machine with more"):
        gh.query(release, "SELECT COUNT(*) WHERE age > 20")
    monkeypatch.setattr("glasshouse.unpacking.headroom.memory_left", lambda: None)
    assert gh.query(release, "SELECT COUNT(*) WHERE age > 0").value == 40
