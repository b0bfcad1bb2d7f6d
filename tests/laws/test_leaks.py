"""Nothing leaves the building but what was published: every byte of a saved release is searched for strays."""

from __future__ import annotations

import base64
import getpass
import json
import os
import pickle
import platform
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.journeys.marginals import publish_marginals
from tests.laws.people import People
from tests.laws.samples import METHODS, RECODINGS, SMALL_TABLES, RecodingSample

# every method with boxes and taxonomies, and every other recoding with a few methods
COMBINED = [
    *((method, sample) for sample in RECODINGS[:2] for method in METHODS),
    *((METHODS[(3 * i + j) % len(METHODS)], sample) for i, sample in enumerate(RECODINGS[2:]) for j in range(3)),
]

TREE = {"europe": {"north": ["Oslo", "CANARYLEAF"], "south": ["Rome", "Faro"]}}
STRAYS = [
    "CANARYID",  # identifiers and the name of their column
    "CANARYFREE",  # a column without a role, its name, its values
    "CANARYINDEX",  # the index of a frame, its name, its values
    "CANARYUNUSED",  # categories that nobody has
    "CANARYLEAF",  # a place of the taxonomy where nobody lives
    "CANARYPATH",  # the folder and the file from which the table came
    "CANARYMETA",  # metadata of the file
    "CANARYGONE",  # values of rows with gaps, which were dropped on the way in
    "CANARYUSER",  # who did it
    "CANARYHOST",  # and where
    "76543210",  # numbers of rows; so long that no checksum has it by chance
    "999983999983",  # a value of a row with gaps
]
# the same, as it really is; what is shorter, or has no digit, may be part of a word
STRAYS += [
    text for text in (socket.gethostname(), getpass.getuser()) if len(text) > 5 and set(text) & set("0123456789")
]
STRAYS += [text for text in (str(Path.home()), str(Path.cwd()), sys.prefix, __file__) if len(text) > 5]


@pytest.fixture(autouse=True)
def _known_user_and_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "CANARYUSER")
    monkeypatch.setenv("HOSTNAME", "CANARYHOST")
    known = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((known[0], "CANARYHOST", *known[2:])))
    monkeypatch.setattr(socket, "gethostname", lambda: "CANARYHOST")
    monkeypatch.setattr(platform, "node", lambda: "CANARYHOST")


def hospital(n: int = 24) -> dict[str, list[Any]]:
    return {
        "CANARYID_name": [f"CANARYID {i}" for i in range(n)],
        "age": [30 + 7 * i % 19 for i in range(n)],
        "city": [["Oslo", "Rome", "Faro"][i % 3] for i in range(n)],
        "CANARYFREE_notes": [f"CANARYFREE {i}" for i in range(n)],
        "disease": [["flu", "ulcer", "gout", "cold"][(i * i) % 4] for i in range(n)],
    }


def with_gaps(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Two more people, whose rows have gaps and hold values that nobody else has."""
    more = {
        "CANARYID_name": ["CANARYID 98", "CANARYID 99"],
        "age": [None, 999_983_999_983],
        "city": ["Rome", "Oslo"],
        "CANARYFREE_notes": ["CANARYFREE 98", None],
        "disease": ["CANARYGONE", None],
    }
    return {name: [*values, *more[name]] for name, values in columns.items()}


ROLES: dict[str, Any] = {
    "identifier": "CANARYID_name",
    "quasi": ["age", "city"],
    "sensitive": "disease",
    "taxonomies": {"city": gh.Taxonomy.from_nested(TREE)},
    "missing": "drop",
}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_no_stray(files: Mapping[str, bytes], strays: list[str]) -> None:
    for name, content in files.items():
        texts = [content, *_cells(name, content)]
        for stray in strays:
            for encoded in (stray.encode(), stray.encode("utf-16-le"), json.dumps(stray)[1:-1].encode()):
                assert not any(encoded in text for text in texts), f"{stray} in {name}"
            assert stray not in name


def _cells(name: str, content: bytes) -> list[bytes]:
    """What compression hides: all values and all dictionaries of a Parquet file, its metadata, and every frame."""
    if not name.endswith(".parquet"):
        return []
    file = pq.ParquetFile(pa.BufferReader(content))
    texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
    table = pq.read_table(pa.BufferReader(content), read_dictionary=texts)
    found = [str(table.schema), str(file.metadata), str(file.schema), file.metadata.created_by]
    for column in table.columns:
        found += [str(value) for value in column.to_pylist()]
        for chunk in column.chunks:
            if pa.types.is_dictionary(chunk.type):
                found += [str(value) for value in chunk.dictionary.to_pylist()]
    told = [base64.b64decode(value) for value in (file.metadata.metadata or {}).values()]
    return [*(text.encode() for text in found), *told, *_frames(content)]


def _frames(content: bytes) -> Iterator[bytes]:
    """Everything that begins as a Zstandard frame does, unpacked, whatever the file says is where."""
    magic = b"\x28\xb5\x2f\xfd"
    start = content.find(magic)
    while start >= 0:
        unpacked = bytearray()
        frame = pa.CompressedInputStream(pa.BufferReader(content[start:]), "zstd")
        try:
            while byte := frame.read(1):  # what comes after the frame is none, and ends it
                unpacked += byte
        except OSError:
            pass
        yield bytes(unpacked)
        start = content.find(magic, start + 1)


def assert_plain(content: bytes) -> None:
    """A Parquet file has no statistics and no index, and no metadata but the types of its columns."""
    file = pq.ParquetFile(pa.BufferReader(content)).metadata
    assert set(file.metadata) <= {b"ARROW:schema"}
    assert file.created_by == f"parquet-cpp-arrow version {pa.__version__}"
    for group in (file.row_group(i) for i in range(file.num_row_groups)):
        assert not group.sorting_columns
        for column in (group.column(i) for i in range(file.num_columns)):
            assert not column.is_stats_set
            assert not column.has_column_index
            assert not column.metadata


def test_a_stray_would_be_found_wherever_it_hides(tmp_path: Path) -> None:
    def hidden(table: pa.Table, **options: Any) -> bytes:
        pq.write_table(table, tmp_path / "hiding.parquet", compression="zstd", **options)
        return (tmp_path / "hiding.parquet").read_bytes()

    texts = pa.array([f"a CANARY among {i} others" for i in range(99)])
    unused = pa.DictionaryArray.from_arrays(pa.array([0] * 99, pa.int8()), ["plain", "a CANARY that nobody has"])
    described = pa.schema([pa.field("a", pa.int8(), metadata={"b": "CANARY"})])
    for content in (
        hidden(pa.table({"a": texts}), write_statistics=False),
        hidden(pa.table({"a": unused}), write_statistics=False),
        hidden(pa.table({"a": [1]}, schema=described), write_statistics=False),
        hidden(pa.table({"CANARY": [1]}), write_statistics=False),
    ):
        with pytest.raises(AssertionError, match=r"CANARY in a\.parquet"):
            assert_no_stray({"a.parquet": content}, ["CANARY"])
    assert any(b"CANARY among 98" in frame for frame in _frames(hidden(pa.table({"a": texts}), write_statistics=False)))
    for content in (
        hidden(pa.table({"a": [1]})),
        hidden(pa.table({"a": [1]}).replace_schema_metadata({"a": "b"}), write_statistics=False),
        hidden(pa.table({"a": [1]}), write_statistics=False, sorting_columns=[pq.SortingColumn(0)]),
    ):
        with pytest.raises(AssertionError):
            assert_plain(content)


def sources(folder: Path, n: int = 24) -> dict[str, Any]:
    columns = with_gaps(hospital(n))
    frame = pd.DataFrame(columns, index=pd.Index([f"CANARYINDEX {i}" for i in range(n + 2)], name="CANARYINDEX"))
    categories = ["CANARYUNUSED", "Rome", "Oslo", "Faro", "flu", "ulcer", "gout", "cold", "CANARYGONE"]
    for name in ("city", "disease"):
        frame[name] = pd.Categorical(frame[name], categories=categories)
    place = folder / "CANARYPATH folder"
    place.mkdir()
    arrow = pa.table(columns).replace_schema_metadata({"CANARYMETA": "CANARYMETA"})
    pq.write_table(arrow, place / "CANARYPATH.parquet")
    frame.to_csv(place / "CANARYPATH.csv", index_label="CANARYINDEX")
    numbered = frame.set_index(pd.RangeIndex(7_654_321_000, 7_654_321_000 + n + 2, name="CANARYINDEX"))
    numbered.to_parquet(place / "CANARYPATH frame.parquet")
    return {
        "pandas": frame,
        "arrow": arrow,
        "parquet": place / "CANARYPATH.parquet",
        "frame parquet": place / "CANARYPATH frame.parquet",
        "csv": place / "CANARYPATH.csv",
    }


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("door", ["pandas", "arrow", "parquet", "frame parquet", "csv"])
@pytest.mark.parametrize(("method", "recoding"), COMBINED, ids=repr)
def test_no_byte_of_a_release_tells_what_was_not_published(
    method: Any, recoding: RecodingSample, door: str, format: str, tmp_path: Path
) -> None:
    table = gh.read(sources(tmp_path, 8 if method.name in SMALL_TABLES else 24)[door], **ROLES)
    names = People(columns={}, quasi=("city", "age"), sensitive=("disease",))
    choices = {"principle": gh.LDiversity(ell=2), "method": method, "recoding": recoding.on(names)}

    release = gh.publish(table, out=tmp_path / "out", format=format, **choices)

    files = bytes_of(tmp_path / "out" / "release")
    assert {"datapackage.json", "README.md", *(f"{name}.{format}" for name in release.tables)} == set(files)
    assert_no_stray(files, [*STRAYS, str(tmp_path)])
    assert_no_stray({"release.pickle": pickle.dumps(release)}, [*STRAYS, str(tmp_path)])  # nor what is in memory
    if format == "parquet":
        for name in release.tables:
            assert_plain(files[f"{name}.parquet"])
    own = {"age", "city", "disease", *recoding.recoding.added()}
    for published in release.tables.values():
        assert set(published.column_names) <= own
        assert published.schema.metadata is None
        for number in set(recoding.numbers) & set(published.column_names):  # a number tells nothing: none is left out
            seen = set(published[number].to_pylist())
            assert seen == set(range(1, len(seen) + 1))


SIX = {
    "age": [1, 2, 3, 4, 5, 6],
    "city": ["Rome", "Oslo", "Rome", "Oslo", "Rome", "Oslo"],
    "disease": ["flu"] * 4 + ["gout", "cold"],
}


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_whom_suppression_dropped_leaves_no_value_behind(recoding: RecodingSample, tmp_path: Path) -> None:
    people = People(columns=SIX, quasi=("age", "city"), sensitive=("disease",), trees={"city": TREE})
    table = people.read()
    choices = {"principle": gh.LDiversity(ell=2), "recoding": recoding.on(people), "suppress": "0.4"}
    for seed, method in enumerate([*METHODS, *METHODS]):
        source, out = gh.Source.seeded(seed), tmp_path / str(seed)
        release = gh.publish(table, out=out, method=method, source=source, allow_seed=True, **choices)

        numbers = pq.read_table(out / "audit" / "partition.parquet")["group"].to_pylist()
        kept = {SIX["age"][row] for row, number in enumerate(numbers) if number is not None}
        assert len(kept) == 4
        for published in release.tables.values():
            if "age" not in published.column_names:
                continue
            texts = " ".join(map(str, published["age"].unique().to_pylist()))
            shown = set(map(int, re.findall(r"\d+", texts)))
            assert shown <= kept
        partition = [[r for r, n in enumerate(numbers) if n == number] for number in range(1, release.n_tuples + 1)]
        assert recoding.twin(people, [group for group in partition if group]) == recoding.read(release.tables)


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("recoding", [sample for sample in RECODINGS if not sample.tree], ids=repr)
def test_values_in_no_published_group_leave_no_dictionary_entry(
    recoding: RecodingSample, format: str, tmp_path: Path
) -> None:
    columns = {"city": ["Oslo", "Rome", "CANARYGONE"], "disease": ["flu", "gout", "CANARYGONE"]}
    people = People(columns=columns, quasi=("city",), sensitive=("disease",))
    kept = people.read().take(np.array([0, 1]))

    release = gh.publish(kept, principle=gh.LDiversity(ell=2), recoding=recoding.on(people))
    release.save(tmp_path / "release", format=format)

    assert_no_stray(bytes_of(tmp_path / "release"), ["CANARYGONE"])


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel()], ids=repr)
def test_the_release_holds_no_time_stamp_and_no_name_of_this_machine(recoding: Any, tmp_path: Path) -> None:
    table = gh.examples.transparent_t1()
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding, source=gh.Source.seeded(1))
    folders = [tmp_path / "one", tmp_path / "two"]
    for i, folder in enumerate(folders):
        os.utime(tmp_path, (1_000_000_000 * i, 1_000_000_000 * i))
        release.save(folder, allow_seed=True)

    one, two = map(bytes_of, folders)

    assert one == two
    assert_no_stray(one, [*STRAYS, str(tmp_path)])


def test_the_names_and_paths_stay_in_the_audit_which_its_owner_alone_can_read(tmp_path: Path) -> None:
    table = gh.read(hospital(), **ROLES)

    gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=2))

    audit = tmp_path / "out" / "audit"
    assert 0o700 == audit.stat().st_mode & 0o777
    assert {0o600} == {path.stat().st_mode & 0o777 for path in audit.iterdir()}
    assert hospital()["CANARYID_name"] == pq.read_table(audit / "partition.parquet")["identifier"].to_pylist()
    assert not {path.name for path in audit.iterdir()} & {
        path.name for path in (tmp_path / "out" / "release").iterdir()
    }


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_tables_that_are_added_later_tell_no_more_either(format: str, tmp_path: Path) -> None:
    table = gh.read(sources(tmp_path)["csv"], **ROLES)
    gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=2), format=format)

    grown = publish_marginals(tmp_path / "out", table, marginals=[["age", "disease"], ["city"]])

    files = bytes_of(tmp_path / "out" / "release")
    assert {"datapackage.json", "README.md", *(f"{name}.{format}" for name in grown.tables)} == set(files)
    assert_no_stray(files, [*STRAYS, str(tmp_path)])
    if format == "parquet":
        for name in grown.tables:
            assert_plain(files[f"{name}.parquet"])


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_who_is_in_which_group_stays_in_the_audit(recoding: RecodingSample, tmp_path: Path) -> None:
    table = gh.read(hospital(), **ROLES)
    names = People(columns={}, quasi=("city", "age"), sensitive=("disease",))

    release = gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=2), recoding=recoding.on(names))

    kept = pq.read_table(tmp_path / "out" / "audit" / "partition.parquet")
    assert ["identifier", "group"] == kept.column_names
    listed = {"contents.json", "report.json", "partition.parquet", "published.json"}
    if release.layout.number is not None and not release.recipe.recoding.get("marginals"):
        listed.add("ledger.parquet")  # another edition can follow
    assert listed == set(bytes_of(tmp_path / "out" / "audit"))
    assert not {"partition.parquet", "identifier", "row"} & set(bytes_of(tmp_path / "out" / "release"))
    assert not any({"identifier", "row", "group"} & set(shown.column_names) for shown in release.tables.values())


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_a_fixed_seed_goes_out_only_where_that_is_allowed_and_then_says_so(
    recoding: RecodingSample, format: str, tmp_path: Path
) -> None:
    table = gh.read(hospital(), **ROLES)
    names = People(columns={}, quasi=("city", "age"), sensitive=("disease",))
    choices = {"principle": gh.LDiversity(ell=2), "recoding": recoding.on(names)}
    seeded = gh.publish(table, source=gh.Source.seeded(1), **choices)
    with pytest.raises(gh.OutputError, match="fixed seed"):
        seeded.save(tmp_path / "seeded", format=format)
    with pytest.raises(gh.OutputError, match="fixed seed"):
        gh.publish(table, out=tmp_path / "out", format=format, source=gh.Source.seeded(1), **choices)
    assert not list(tmp_path.iterdir())

    seeded.save(tmp_path / "seeded", format=format, allow_seed=True)
    gh.publish(table, **choices).save(tmp_path / "secret", format=format)

    for folder, marked in (("seeded", True), ("secret", False)):
        files = bytes_of(tmp_path / folder)
        assert json.loads(files["datapackage.json"])["glasshouse"]["recipe"]["seeded"] is marked
        assert (b"fixed seed" in files["README.md"]) is marked
