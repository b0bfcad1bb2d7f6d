"""What fuzzing found, each as the smallest file that shows it; and files that stand for more than they are."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.cuts.cut_tree import Caps
from glasshouse.release.package.container.plain_file import read_bounded
from glasshouse.unpacking import budget as unpacking
from glasshouse.unpacking.budget import written_out
from tests.doors.fuzz import corpora
from tests.doors.fuzz.doors import MANIFEST, _told

SMALL = 1 << 20


def arrow(path: Path, columns: dict[str, Any], *, new: Any = ipc.new_file, compression: str | None = None) -> Path:
    batch = pa.record_batch(columns)
    with new(str(path), batch.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
    return path


def texts(content: bytes, *ends: int) -> pa.Array:
    """Texts that nobody checked."""
    offsets = np.array([0, *ends], np.int32)
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(content))


# ----------------------------------------------------------------------------------------------------------- the reader


@pytest.mark.parametrize("new", [ipc.new_file, ipc.new_stream], ids=["file", "stream"])
@pytest.mark.parametrize("place", [2, -1, 2**31 - 1])
def test_a_row_that_points_at_no_entry_of_its_dictionary_is_refused(place: int, new: Any, tmp_path: Path) -> None:
    codes = pa.array([0, place], pa.int32())
    path = arrow(tmp_path / "x.arrow", {"a": pa.DictionaryArray.from_arrays(codes, ["a", "b"], safe=False)}, new=new)

    with pytest.raises(gh.SourceError, match="damaged"):
        gh.read(path, quasi=["a"])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_texts_that_are_not_utf8_are_refused(kind: str, tmp_path: Path) -> None:
    column = texts(b"ab\xff\xfe", 2, 4)
    path = tmp_path / f"x.{kind}"
    pq.write_table(pa.table({"a": column}), path) if kind == "parquet" else arrow(path, {"a": column})

    with pytest.raises(gh.SourceError, match="damaged"):
        gh.inspect(path)


def test_texts_that_reach_beyond_their_buffer_are_refused(tmp_path: Path) -> None:
    path = arrow(tmp_path / "x.arrow", {"a": pa.array(["aa", "bb", "cc"])})
    content = path.read_bytes()
    offsets = np.array([0, 2, 4, 6], np.int32).tobytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, np.array([0, 2, 4, 10**9], np.int32).tobytes()))

    with pytest.raises(gh.SourceError, match="damaged"):
        gh.inspect(path)


def with_damaged_gaps(kind: pa.DataType, length: int) -> pa.Array:
    """Views of which every second one is missing, and is of a text that no buffer holds or no text has."""
    views = np.array([[2, 0x6161, 0, 0], [length, 0, 7, 1 << 20], [2, 0x6262, 0, 0], [length, 0, 7, 1 << 20]], np.int32)
    column = pa.Array.from_buffers(kind, 4, [pa.py_buffer(b"\x05"), pa.py_buffer(views)])
    column.validate(full=True)  # which looks at no missing value
    return column


VIEWED: dict[str, Callable[[pa.Array], pa.Array]] = {
    "plain": lambda views: views,
    "slice": lambda views: views.slice(1),
    "dictionary": lambda views: pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), views),
    "runs": lambda views: pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4], pa.int32()), views),
    "json": lambda views: pa.ExtensionArray.from_storage(pa.json_(views.type), views),
}


@pytest.mark.parametrize("form", VIEWED)
def test_a_missing_text_may_point_anywhere(form: str, tmp_path: Path) -> None:
    columns = {length: VIEWED[form](with_damaged_gaps(pa.string_view(), length)) for length in (-5, 20, 2**30)}
    paths = [str(arrow(tmp_path / f"{length}.arrow", {"a": column})) for length, column in columns.items()]
    program = "import sys, glasshouse\nfor path in sys.argv[1:]: print(glasshouse.inspect(path).columns[0].missing)"

    # in a process of its own: Arrow writes beyond its buffers where a length is below zero
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True)

    assert done.stdout == "2\n2\n2\n"


@pytest.mark.parametrize("form", ["plain", "dictionary", "runs"])
def test_views_of_bytes_are_refused_as_bytes_are(form: str, tmp_path: Path) -> None:
    path = arrow(tmp_path / "x.arrow", {"a": VIEWED[form](with_damaged_gaps(pa.binary_view(), 20))})

    with pytest.raises(gh.DomainError, match="has type binary_view: give it as text"):
        gh.inspect(path)


def test_views_of_an_extension_are_measured_by_what_they_stand_for() -> None:
    views = np.tile(np.array([1000, 0x78787878, 0, 0], np.int32), (100, 1))
    column = pa.Array.from_buffers(pa.string_view(), 100, [None, pa.py_buffer(views), pa.py_buffer(b"x" * 1000)])
    column.validate(full=True)
    json_texts = pa.ExtensionArray.from_storage(pa.json_(pa.string_view()), column)

    assert written_out(pa.chunked_array([json_texts])) == written_out(pa.chunked_array([column])) == 100 * 1008


@pytest.mark.parametrize("word", [b"Europe/Rome", b"a_column"])
def test_names_and_time_zones_that_are_not_utf8_are_refused(word: bytes, tmp_path: Path) -> None:
    times = pa.array([0, 1]).cast(pa.timestamp("s", "Europe/Rome"))
    path = arrow(tmp_path / "x.arrow", {"a_column": times}, new=ipc.new_stream)
    path.write_bytes(path.read_bytes().replace(word, b"\xff" * len(word)))

    with pytest.raises(gh.SourceError, match="damaged"):
        gh.read(path, quasi=["a_column"])


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()), "outside the years 1 to 9999"),
        (pa.array([-(2**62), 0]).cast(pa.timestamp("us")), "outside the years 1 to 9999"),
        (pa.array([2017654414503837696, 0]).cast(pa.timestamp("us")), "outside the years 1 to 9999"),
        (pa.array([253402300799, 0]).cast(pa.timestamp("s", "UTC")), "outside the years 1 to 9999"),
        (pa.array([0, 1]).cast(pa.timestamp("s", "Atlantis/Poseidonis")), "unknown time zone"),
        (pa.array([-1, 0]).view(pa.time64("us")), "outside 0 to 24 hours"),
        (pa.array([86_400_000_000, 0]).view(pa.time64("us")), "outside 0 to 24 hours"),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_times_that_no_calendar_has_are_refused(column: pa.Array, says: str) -> None:
    with pytest.raises(gh.DomainError, match=says):
        gh.inspect(pa.table({"a": column}))


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_the_first_and_the_last_day_are_read(day: str) -> None:
    for kind in (pa.date32(), pa.timestamp("us")):
        days = pa.array([day, "2000-01-01"]).cast(kind)
        assert gh.read({"a": days}, quasi=["a"]).n_tuples == 2
        assert gh.inspect({"a": days}).n_tuples == 2


def test_a_manifest_that_states_a_huge_file_makes_no_room_for_it(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(b"small")
    folder = os.open(tmp_path, os.O_RDONLY)
    tracemalloc.start()
    try:
        assert read_bounded("data.csv", folder, 3 << 30) == b"small"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
        os.close(folder)


@pytest.mark.parametrize("value", [10**30, -(10**30), [1], {"a": 1}])
def test_a_domain_of_what_no_column_can_have_is_refused(value: object, tmp_path: Path) -> None:
    table = gh.read({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]}, quasi=["age"], sensitive="ill")
    target = gh.RhoBreach(rho1="0.2", rho2="0.8", k=2)
    gh.publish(table, principle=target, recoding=gh.Perturbed(domain=["a", "b", "c"])).save(tmp_path / "release")
    file = tmp_path / "release" / "datapackage.json"
    manifest = json.loads(file.read_text())
    manifest["glasshouse"]["recipe"]["recoding"]["domain"][2] = value
    file.write_text(json.dumps(manifest))

    with pytest.raises(gh.SourceError):
        gh.load(tmp_path / "release")


def test_a_table_with_the_same_column_twice_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    columns = {"age": [1, 2, 3, 4], "seen": [date(2020, 1, day) for day in (1, 2, 3, 4)], "ill": ["a", "b", "a", "b"]}
    table = gh.read(columns, quasi=["age", "seen"], sensitive="ill")
    gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy()).save(folder, format="csv")
    told = (folder / "qit.csv").read_bytes().replace(b'"seen"', b'"age"', 1)
    (folder / "qit.csv").write_bytes(told)
    manifest = json.loads((folder / "datapackage.json").read_text())
    for entry in (*manifest["resources"], *manifest["glasshouse"]["files"]):
        if entry["path"] == "qit.csv":
            entry |= {"hash": f"sha256:{hashlib.sha256(told).hexdigest()}", "bytes": len(told)}
    (folder / "datapackage.json").write_text(json.dumps(manifest))

    with pytest.raises(gh.SourceError, match=r"qit\.csv"):
        gh.load(folder)


def test_the_search_for_the_smallest_safe_part_ends_where_no_part_is_safe() -> None:
    caps = Caps(1, np.array([1, 1]), np.array([2**31 - 1, 2**31 - 1]))

    assert caps.smallest(100) == 101


def test_a_buffer_of_texts_that_ends_within_a_number_is_measured_as_far_as_it_is_used() -> None:
    texts = pa.array(["a", "long enough to lie elsewhere", None], pa.string_view())
    valid, views, *elsewhere = texts.buffers()
    longer = pa.py_buffer(views.to_pybytes() + b"odd")
    odd = pa.Array.from_buffers(pa.string_view(), 3, [valid, longer, *elsewhere])
    odd.validate(full=True)

    assert written_out(pa.chunked_array([odd])) == written_out(pa.chunked_array([texts]))


def test_a_machine_without_enough_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(*_: object, **__: object) -> None:
        raise pa.ArrowMemoryError("malloc failed")

    monkeypatch.setattr("glasshouse.microdata.reading.sources.normalise", burst)
    with pytest.raises(gh.SourceError, match="does not fit into the memory"):
        gh.inspect({"a": [1, 2]})


# ---------------------------------------------------------------------------------------------------------------- bombs


POOLS: list[pa.MemoryPool] = []  # never let go: what was taken from one may outlive the test


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Callable[[], int]]]:
    """Room for a mebibyte, and a watch on how much memory is taken from when it begins."""
    monkeypatch.setattr(unpacking, "_LEAST", SMALL)
    monkeypatch.setattr(unpacking, "_TIMES", 1)
    before = pa.default_memory_pool()

    def watched() -> Callable[[], int]:
        POOLS.append(pa.proxy_memory_pool(before))
        pa.set_memory_pool(POOLS[-1])
        return lambda: POOLS[-1].max_memory()

    yield watched
    pa.set_memory_pool(before)


LONG = "x" * (1 << 18)


def gzip_of_one_line(path: Path) -> Path:
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (1 << 24), mtime=0))
    return path


def zstd_of_one_line(path: Path) -> Path:
    path.write_bytes(pa.compress(b"a,b\n" + b"1,2\n" * (1 << 24), codec="zstd", asbytes=True))
    return path


def parquet_of_one_text(path: Path) -> Path:
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), [LONG])
    pq.write_table(pa.table({"a": repeated}), path, compression="zstd", store_schema=False)
    return path


def parquet_of_shared_beginnings(path: Path) -> Path:
    schema, packed = pa.schema({"a": pa.string()}), {"a": "DELTA_BYTE_ARRAY"}
    with pq.ParquetWriter(path, schema, use_dictionary=False, column_encoding=packed, compression="zstd") as writer:
        for _ in range(2):
            writer.write_table(pa.table({"a": [LONG] * 256}))
    return path


def parquet_of_zeros(path: Path) -> Path:
    pq.write_table(pa.table({"a": np.zeros(1 << 23, np.int64)}), path, compression="zstd", use_dictionary=False)
    return path


def parquet_whose_footer_lies(path: Path) -> Path:
    """One text of 64 MiB; the footer says that it has 40 bytes."""
    pq.write_table(
        pa.table({"a": ["x" * (1 << 26)]}), path, compression="zstd", use_dictionary=False, write_statistics=False
    )
    content = path.read_bytes()
    size = pq.read_metadata(path).row_group(0).column(0).total_uncompressed_size
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:-8].replace(_zigzag(size), _zigzag(40))
    path.write_bytes(content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


def _zigzag(value: int) -> bytes:
    value, found = 2 * value, b""
    while value >= 128:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def arrow_of_one_text(path: Path) -> Path:
    return arrow(path, {"a": pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int16()), [LONG])})


def arrow_of_views(path: Path) -> Path:
    view = np.array([len(LONG), 0x78787878, 0, 0], np.int32)  # length, beginning, which buffer, where in it
    buffers = [None, pa.py_buffer(np.tile(view, 5000)), pa.py_buffer(LONG.encode())]
    return arrow(path, {"a": pa.Array.from_buffers(pa.string_view(), 5000, buffers)})


def arrow_of_one_run(path: Path) -> Path:
    return arrow(path, {"a": pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 2], pa.int32()), ["x"])})


def arrow_of_zeros(path: Path) -> Path:
    return arrow(path, {"a": np.zeros(1 << 23, np.int64)}, compression="zstd")


def stream_of_zeros(path: Path) -> Path:
    return arrow(path, {"a": np.zeros(1 << 23, np.int64)}, compression="lz4", new=ipc.new_stream)


@pytest.mark.parametrize(
    "make",
    [
        gzip_of_one_line, zstd_of_one_line, parquet_of_one_text, parquet_of_shared_beginnings, parquet_of_zeros,
        parquet_whose_footer_lies, arrow_of_one_text, arrow_of_views, arrow_of_one_run, arrow_of_zeros, stream_of_zeros,
    ],
)  # fmt: skip
def test_a_small_file_that_stands_for_much_is_refused_before_it_becomes_much(
    make: Callable[[Path], Path], little_room: Callable[[], Callable[[], int]], tmp_path: Path
) -> None:
    path = make(tmp_path / "people")
    assert path.stat().st_size < SMALL
    most = little_room()

    with pytest.raises(gh.SourceError, match=r"would take more than [\d,]+ bytes when unpacked"):
        gh.read(path, quasi=["a"])
    assert most() < 24 * SMALL  # of 64 and more


@pytest.mark.parametrize("name", ["people.csv.gz", "people.parquet", "delta.parquet", "packed.arrow", "odd.arrows"])
def test_room_is_enough_for_what_is_no_bomb(name: str, little_room: object, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(corpora.table_files()[name])

    gh.inspect(tmp_path / name)


# ------------------------------------------------------------------------------------------------------------- packages


def package(folder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A release of another version, whose words are not compared, and whose description was changed."""
    files = dict(corpora.folders()[name])
    manifest = json.loads(files[MANIFEST])
    manifest["glasshouse"]["software"] = "glasshouse 0.0.9"
    change(manifest)
    files[MANIFEST] = json.dumps(manifest).encode()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    return folder


def recipe(part: str, **changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["glasshouse"]["recipe"][part].update(changed)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("boxes.csv", lambda m: m["glasshouse"]["columns"][0].update(kind="x"), "values of an unknown kind"),
        ("boxes.csv", recipe("principle", ell="../x"), "recipe that this version"),
        ("boxes.csv", recipe("principle", name="by-column", columns=7), "recipe that this version"),
        ("boxes.csv", recipe("method", name="magic"), "recipe that this version"),
        ("boxes.csv", recipe("recoding", name="magic"), "does not know the recoding"),
        ("boxes.csv", recipe("recoding", name="anatomy"), "a table that counts each sensitive column"),
        ("boxes.csv", recipe("recoding", name="permutation"), "the one table"),
        ("anatomy.csv", recipe("recoding", name="boxes"), "the one table"),
        ("anatomy.csv", recipe("recoding", name="angel"), "a table that counts each sensitive column"),
        ("perturbed.csv", recipe("recoding", domain=["flu", "gout"]), "recipe that this version"),
        ("perturbed.csv", recipe("recoding", p=None), "recipe that this version"),
    ],
)
def test_a_package_that_says_one_thing_and_holds_another_is_refused(
    name: str, change: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(gh.SourceError, match=says):
        gh.load(package(tmp_path, name, change))


@pytest.mark.parametrize(
    ("old", "new", "says"), [("1", "2", "numbered 1, 2, 3"), ("2", "1", "numbered 1, 2, 3|same groups")]
)
def test_tables_that_tell_of_other_groups_are_refused(old: str, new: str, says: str, tmp_path: Path) -> None:
    files = dict(corpora.folders()["anatomy.csv"])
    lines = files["qit.csv"].decode().splitlines()
    files["qit.csv"] = "\n".join(
        line[: -len(old)] + new if line.endswith(f",{old}") else line for line in lines
    ).encode()
    files[MANIFEST] = _told(files, "qit.csv")
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)

    with pytest.raises(gh.SourceError, match=says):
        gh.load(tmp_path)


def test_a_published_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    files = dict(corpora.folders()["anonymous.parquet"])
    table = pq.read_table(pa.BufferReader(files["data.parquet"]))
    place = table.column_names.index("city")
    broken = table.set_column(place, "city", texts(b"\xff" * len(table), *range(1, len(table) + 1)))
    buffer = pa.BufferOutputStream()
    pq.write_table(broken, buffer, compression="zstd", write_statistics=False)
    files["data.parquet"] = buffer.getvalue().to_pybytes()
    files[MANIFEST] = _told(files, "data.parquet")
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)

    with pytest.raises(gh.SourceError, match="not a table that can be read"):
        gh.load(tmp_path)


def test_half_a_character_in_a_description_is_refused(tmp_path: Path) -> None:
    def half(manifest: dict[str, Any]) -> None:
        manifest["title"] = "\ud800"

    with pytest.raises(gh.SourceError, match="half of a Unicode character"):
        gh.load(package(tmp_path, "boxes.csv", half))


def test_the_losses_of_a_release_whose_ell_is_no_whole_number_are_counted() -> None:
    table = gh.read({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]}, quasi=["age"], sensitive="ill")
    release = gh.publish(table, principle=gh.EntropyLDiversity(ell="1.5"), method=gh.Mondrian(), recoding=gh.Boxes())

    assert gh.losses(release).n_groups == 2


def test_a_count_of_worlds_over_many_values_ends_soon() -> None:
    from glasshouse.adversary.reverse_engineering.worlds.worlds import Worlds

    began = time.process_time()
    with pytest.raises(gh.NotSupported, match="counted"):
        _ = Worlds(n_people=60, values=[f"v{i}" for i in range(2_000)], n=range(61), absent=[1]).count
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**31 - 1, 0, 0], pa.date32()),
        pa.array([0, None, -(2**31), 0], pa.date32()),
        pa.array([0, 2**62, 0, 0], pa.timestamp("us")),
        pa.array([0, -(2**62), 0, 0], pa.timestamp("ms", "UTC")),
        pa.array([0, 0, 0, 0], pa.timestamp("us", "Nowhere/Else")),
    ],
    ids=lambda column: str(column.type),
)
def test_published_times_that_no_calendar_has_are_refused(column: pa.Array, tmp_path: Path) -> None:
    release = gh.publish(
        gh.read({"age": [1, 2, 3, 4]}, quasi=["age"]), principle=gh.KAnonymity(k=2), recoding=gh.Boxes()
    )
    release.save(tmp_path / "release")
    files = {path.name: path.read_bytes() for path in (tmp_path / "release").iterdir()}
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table({"age": column}), buffer, compression="zstd", write_statistics=False)
    files["data.parquet"] = buffer.getvalue().to_pybytes()
    manifest = json.loads(_told(files, "data.parquet"))
    kind = "date" if pa.types.is_date(column.type) else "time" if pa.types.is_time(column.type) else "datetime"
    manifest["resources"][0]["schema"]["fields"][0]["type"] = kind
    manifest["glasshouse"]["software"] = "glasshouse 0.0.9"
    (tmp_path / "release" / "data.parquet").write_bytes(files["data.parquet"])
    (tmp_path / "release" / MANIFEST).write_text(json.dumps(manifest))

    with pytest.raises(gh.SourceError, match="that do not exist"):
        gh.load(tmp_path / "release")
