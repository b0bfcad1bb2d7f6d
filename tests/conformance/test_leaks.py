"""Nothing leaves the building but what was published: every byte of a saved release is searched for strays."""

from __future__ import annotations

import json
import os
import platform
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.publish import publish_to
from tests.conformance.people import People
from tests.conformance.samples import METHODS, RECODINGS, RecodingSample

HERE = [method for method in METHODS if method.name != "opt-gen"]  # which takes no table of this size
# every method with boxes and taxonomies, and every other recoding with a few methods
COMBINED = [
    *((method, sample) for sample in RECODINGS[:2] for method in HERE),
    *((HERE[(3 * i + j) % len(HERE)], sample) for i, sample in enumerate(RECODINGS[2:]) for j in range(3)),
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
]


@pytest.fixture(autouse=True)
def _known_user_and_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "CANARYUSER")
    monkeypatch.setattr(socket, "gethostname", lambda: "CANARYHOST")
    monkeypatch.setattr(platform, "node", lambda: "CANARYHOST")


def hospital() -> dict[str, list[Any]]:
    n = 24
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
        "age": [None, 999_983],
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
    """What compression hides: all values and all dictionaries of a Parquet file, its statistics and metadata."""
    if not name.endswith(".parquet"):
        return []
    table = pq.read_table(pa.BufferReader(content))
    found = [str(pq.read_metadata(pa.BufferReader(content)).metadata), str(table.schema)]
    for column in table.columns:
        found += [str(value) for value in column.to_pylist()]
        for chunk in column.chunks:
            if pa.types.is_dictionary(chunk.type):
                found += [str(value) for value in chunk.dictionary.to_pylist()]
    details = pq.ParquetFile(pa.BufferReader(content)).metadata
    for group in range(details.num_row_groups):
        for column in range(details.num_columns):
            found.append(str(details.row_group(group).column(column).statistics))
    return [text.encode() for text in found]


def sources(folder: Path) -> dict[str, Any]:
    columns = with_gaps(hospital())
    frame = pd.DataFrame(columns, index=pd.Index([f"CANARYINDEX {i}" for i in range(26)], name="CANARYINDEX"))
    categories = ["CANARYUNUSED", "Rome", "Oslo", "Faro", "flu", "ulcer", "gout", "cold", "CANARYGONE"]
    for name in ("city", "disease"):
        frame[name] = pd.Categorical(frame[name], categories=categories)
    place = folder / "CANARYPATH folder"
    place.mkdir()
    arrow = pa.table(columns).replace_schema_metadata({"CANARYMETA": "CANARYMETA"})
    pq.write_table(arrow, place / "CANARYPATH.parquet")
    frame.to_csv(place / "CANARYPATH.csv", index_label="CANARYINDEX")
    frame.to_parquet(place / "CANARYPATH frame.parquet")
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
    table = gh.read(sources(tmp_path)[door], **ROLES)
    names = People(columns={}, quasi=("city", "age"), sensitive=("disease",))
    choices = {"principle": gh.LDiversity(ell=2), "method": method, "recoding": recoding.on(names)}

    release = publish_to(tmp_path / "out", table, format=format, **choices)

    files = bytes_of(tmp_path / "out" / "release")
    assert {"datapackage.json", *(f"{name}.{format}" for name in release.tables)} == set(files)
    assert_no_stray(files, [*STRAYS, "999983", str(tmp_path)])
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
        release = publish_to(out, table, method=method, source=source, allow_seed=True, **choices)

        numbers = pq.read_table(out / "audit" / "partition.parquet")["group"].to_pylist()
        kept = {SIX["age"][row] for row, number in enumerate(numbers) if number is not None}
        assert len(kept) == 4
        for published in release.tables.values():
            if "age" not in published.column_names:
                continue
            texts = " ".join(map(str, published["age"].unique().to_pylist()))
            shown = {int(text) for text in texts.replace("[", " ").replace("]", " ").replace(",", " ").split()}
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

    publish_to(tmp_path / "out", table, principle=gh.LDiversity(ell=2))

    audit = tmp_path / "out" / "audit"
    assert 0o700 == audit.stat().st_mode & 0o777
    assert {0o600} == {path.stat().st_mode & 0o777 for path in audit.iterdir()}
    assert hospital()["CANARYID_name"] == pq.read_table(audit / "partition.parquet")["identifier"].to_pylist()
    assert not {path.name for path in audit.iterdir()} & {
        path.name for path in (tmp_path / "out" / "release").iterdir()
    }
