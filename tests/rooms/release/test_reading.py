"""Reading a release: of every format that was ever written, and nothing that was changed, added to, or is hostile."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import random
import resource
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.journeys.recheck import verify_release
from glasshouse.release.package.container.plain_file import MOST_MANIFEST
from glasshouse.release.package.manifest import FORMAT_VERSION, MANIFEST, README
from tests.rooms.release.kinds import ALL, of_kind, plain, write
from tests.tiers import tables as some

FORMAT_1 = sorted((Path(__file__).parent / "format_1").iterdir())
FORMAT_2 = sorted((Path(__file__).parent / "format_2").iterdir())
FORMATS = range(1, FORMAT_VERSION + 1)
STORED = sorted(Path(__file__).parent.glob("format_[!12]/*"))  # one format a folder, whatever is written today


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return content


def put(folder: Path, manifest: Any) -> None:
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def put_file(folder: Path, name: str, content: bytes, **changed: Any) -> None:
    """Replace a file, and let the manifest tell its true size and sum, as the sender of a hostile package would."""
    (folder / name).write_bytes(content)
    manifest = manifest_of(folder)
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    for entry in (*manifest["resources"], *manifest["glasshouse"]["files"]):
        if entry["path"] == name:
            entry["hash"] = digest
            if "bytes" in entry:
                entry["bytes"] = len(content)
    manifest["glasshouse"] |= changed
    put(folder, manifest)


@pytest.mark.parametrize("folder", FORMAT_1, ids=lambda folder: folder.name)
def test_a_release_of_the_first_format_is_still_read(folder: Path, tmp_path: Path) -> None:
    release = gh.load(folder)

    assert manifest_of(folder)["glasshouse"]["format_version"] == 1
    assert (release.n_tuples, release.recipe.seeded, release.title) == (8, True, "")
    assert release.recipe.recoding["name"] == folder.name
    assert verify_release(release).holds
    release.save(tmp_path / "now", allow_seed=True)
    assert plain(gh.load(tmp_path / "now").tables) == plain(release.tables)


@pytest.mark.parametrize("folder", FORMAT_2, ids=lambda folder: folder.name)
def test_a_release_of_the_second_format_is_still_read(folder: Path, tmp_path: Path) -> None:
    release = gh.load(folder)

    assert manifest_of(folder)["glasshouse"]["format_version"] == 2
    assert (release.n_tuples, release.recipe.recoding["name"]) == (8, folder.name)
    assert verify_release(release).holds
    release.save(tmp_path / "now", allow_seed=True)
    assert plain(gh.load(tmp_path / "now").tables) == plain(release.tables)


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_a_release_that_an_earlier_version_wrote_is_still_read(folder: Path, tmp_path: Path) -> None:
    release = gh.load(folder)

    assert f"format_{manifest_of(folder)['glasshouse']['format_version']}" == folder.parent.name
    assert release.recipe.recoding["name"] == folder.name
    assert verify_release(release).holds
    release.save(tmp_path / "now")
    assert plain(gh.load(tmp_path / "now").tables) == plain(release.tables)


def test_of_every_format_some_releases_are_kept() -> None:
    kept = sorted(path.name for path in Path(__file__).parent.glob("format_*"))

    assert kept == [f"format_{number}" for number in FORMATS]


def test_a_first_format_with_a_file_beside_it_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FORMAT_1[0], tmp_path / "release"))
    (folder / README).write_text("read me")

    with pytest.raises(gh.SourceError, match="not published with it"):
        gh.load(folder)


# ------------------------------------------------------------------------------------- changed, cut short, added to


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ALL)
def test_any_byte_of_any_file_that_changes_is_noticed(kind: str, format: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, format)
    for file in sorted(folder.iterdir()):
        if file.name == MANIFEST:
            continue
        before = file.read_bytes()
        for place in (0, len(before) // 2, len(before) - 1):
            file.write_bytes(before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :])
            with pytest.raises(gh.SourceError, match=f"{file.name} is not the file that was published.*checksum"):
                gh.load(folder)
        file.write_bytes(before)
    gh.load(folder)


def test_a_file_that_was_cut_short_or_added_to_is_noticed(tmp_path: Path) -> None:
    folder = write("anatomy", tmp_path, "parquet")
    for name in ("qit.parquet", "st.parquet", README):
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(before[:-1])
        with pytest.raises(gh.SourceError, match=f"{name} is not the file that was published .it is shorter"):
            gh.load(folder)
        (folder / name).write_bytes(before + b" ")
        with pytest.raises(gh.SourceError, match=f"{name} has [0-9,]+ bytes, where at most"):
            gh.load(folder)
        (folder / name).write_bytes(before)


@pytest.mark.parametrize("name", ["thesis.txt", ".hidden", "more.parquet", "audit"])
def test_a_folder_with_something_beside_the_release_is_refused(name: str, tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "parquet")
    (folder / name).mkdir() if name == "audit" else (folder / name).write_text("years of work")

    with pytest.raises(gh.SourceError, match=f"1 file that was not published with it, such as '{name}'"):
        gh.load(folder)


@pytest.mark.parametrize("name", ["data.parquet", README, MANIFEST])
def test_a_file_that_was_taken_away_is_missed(name: str, tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "parquet")
    (folder / name).unlink()

    with pytest.raises(gh.SourceError, match=r"missing|there is no datapackage"):
        gh.load(folder)


# ----------------------------------------------------------------------------------------------- paths, links, pipes


@pytest.mark.parametrize(
    "path", ["../data.parquet", "/data.parquet", "inner/data.parquet", "..", "", ".\\data.parquet"]
)
def test_a_manifest_that_points_outside_its_folder_is_refused(path: str, tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "parquet")
    (tmp_path / "data.parquet").write_bytes((folder / "data.parquet").read_bytes())
    manifest = manifest_of(folder)
    manifest["resources"][0]["path"] = path
    manifest["glasshouse"]["files"][0]["path"] = path
    put(folder, manifest)

    with pytest.raises(gh.SourceError, match="outside the folder of the release"):
        gh.load(folder)


@pytest.mark.parametrize("name", ["data.parquet", README, MANIFEST])
def test_a_link_inside_the_folder_is_not_followed(name: str, tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "parquet")
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(gh.SourceError, match=f"{name} cannot be read: .*it is a link"):
        gh.load(folder)


@pytest.mark.parametrize("name", ["data.parquet", MANIFEST])
def test_a_pipe_or_a_folder_in_place_of_a_file_is_refused_at_once(name: str, tmp_path: Path) -> None:
    for make in (os.mkfifo, os.mkdir):
        folder = write("boxes", tmp_path, "parquet")
        (folder / name).unlink()
        make(folder / name)

        with pytest.raises(gh.SourceError, match=f"{name} cannot be read: it is"):
            gh.load(folder)
        shutil.rmtree(folder)


def test_the_folder_itself_may_be_reached_through_a_link(tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "parquet")
    (tmp_path / "latest").symlink_to(folder)

    assert gh.load(tmp_path / "latest").n_tuples == 40


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_what_is_no_folder_holds_no_release(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(gh.SourceError, match="is not a release"):
        gh.load(tmp_path / place)


# ------------------------------------------------------------------------------------------------------ the manifest


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"3",
        b"{}",
        b"\xff\xfe",
        b'{"glasshouse": {}}',
        b'{"glasshouse": [], "resources": []}',
        b'{"glasshouse": {"format_version": true}, "resources": []}',
        b'{"glasshouse": {"format_version": 2}, "glasshouse": {"format_version": 2}}',
        b'{"glasshouse": {"format_version": NaN}}',
        b'{"glasshouse": {"format_version": ' + b"9" * 5000 + b"}}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
    ],
    ids=lambda text: repr(text[:40]),
)
def test_what_is_no_manifest_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(text)

    with pytest.raises(gh.SourceError):
        gh.load(tmp_path)


def test_a_manifest_that_is_too_large_is_not_even_read(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST).open("wb") as file:
        file.truncate(MOST_MANIFEST + 1)

    with pytest.raises(gh.SourceError, match="where at most 16,777,216"):
        gh.load(tmp_path)


def test_a_release_of_a_format_to_come_is_refused_with_what_to_do(tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "parquet")
    manifest = manifest_of(folder)
    new = FORMAT_VERSION + 1
    manifest["glasshouse"]["format_version"] = new
    put(folder, manifest)

    with pytest.raises(gh.SourceError, match=rf"has format {new}.*reads up to {FORMAT_VERSION}: install a newer one"):
        gh.load(folder)


def test_a_package_that_another_tool_wrote_is_refused(tmp_path: Path) -> None:
    put(tmp_path, {"name": "bikes", "resources": [{"name": "data", "path": "data.csv"}]})

    with pytest.raises(gh.SourceError, match="not the description of a release: it has no 'glasshouse'"):
        gh.load(tmp_path)


def places_of(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON document."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else []
    return [path, *(place for key, value in inner for place in places_of(value, (*path, key)))]


def changed_at(data: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return data


ODD_VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 2**63, 10**30, "", "x", "../x", "\0", [], [None], {}, {"name": "x"}, [[]], [1, 2], "1/0",
]  # fmt: skip


def delete(inner: Any, key: Any) -> None:
    del inner[key]


@pytest.mark.parametrize("kind", ["marginals", "anatomy", "perturbed", "boxes"])
def test_a_manifest_that_is_wrong_anywhere_gives_our_own_error_or_an_honest_answer(kind: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, "parquet")
    manifest = manifest_of(folder)
    chosen = random.Random(7)
    places = places_of(manifest)[1:]
    for place in chosen.sample(places, min(len(places), some(200))):
        for value in (delete, *chosen.sample(ODD_VALUES, 2)):
            change = value if callable(value) else lambda inner, key, value=value: inner.__setitem__(key, value)
            put(folder, changed_at(manifest, place, change))
            try:
                verify_release(folder)
            except gh.GlasshouseError:
                continue


@settings(max_examples=some(300), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_text_in_place_of_a_manifest_gives_our_own_error(data: st.DataObject) -> None:
    from glasshouse.release.package.manifest import parse_manifest

    text = json.dumps(manifest_of(FORMAT_1[1])).encode()
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    broken = text[:start] + data.draw(st.binary(max_size=20)) + text[stop:]
    try:
        parse_manifest(broken)
    except gh.SourceError:
        return


def test_a_table_with_other_columns_than_the_manifest_says_is_refused(tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "csv")
    text = (folder / "data.csv").read_bytes().replace(b'"age"', b'"AGE"', 1)
    put_file(folder, "data.csv", text)

    with pytest.raises(gh.SourceError, match="does not have the columns"):
        gh.load(folder)


def test_group_numbers_that_would_ask_for_much_memory_are_refused(tmp_path: Path) -> None:
    folder = write("anatomy", tmp_path, "parquet")
    for name in ("qit", "st"):
        old = pq.read_table(folder / f"{name}.parquet")
        far = old.set_column(old.column_names.index("Group-ID"), "Group-ID", pa.array([2**40] * len(old)))
        put_file(folder, f"{name}.parquet", written(far))

    with pytest.raises(gh.SourceError, match="more group numbers than rows"):
        gh.load(folder)


def test_counts_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    folder = write("anatomy", tmp_path, "csv")
    lines = (folder / "st.csv").read_text().splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",1000000000"
    put_file(folder, "st.csv", ("\n".join(lines) + "\n").encode())

    with pytest.raises(gh.SourceError, match="do not add up to the number of records"):
        gh.load(folder)


# ------------------------------------------------------------------------------------------------------------ bombs


def boxes_of(content: bytes, folder: Path, n_tuples: int) -> Path:
    """A release of one table, whose file is this."""
    release = of_kind("no sensitive column")
    release.save(folder / "release")
    # another version wrote it, so that its README may be another one
    put_file(folder / "release", "data.parquet", content, n_tuples=n_tuples, software="glasshouse 0.0.1")
    manifest = manifest_of(folder / "release")
    for field in manifest["resources"][0]["schema"]["fields"]:  # which then says nothing about the cells
        field.pop("categories", None)
        field.pop("constraints", None)
    (folder / "release" / "datapackage.json").write_text(json.dumps(manifest))
    return folder / "release"


def written(table: pa.Table, **options: Any) -> bytes:
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, **{"compression": "zstd", "write_statistics": False, **options})
    return buffer.getvalue().to_pybytes()


def peak_growth(work: Callable[[], None]) -> int:
    """How many bytes the process grows at most while it works, and did not need before."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def refused(folder: Path, match: str, **options: Any) -> None:
    with pytest.raises(gh.SourceError, match=match):
        gh.load(folder, **options)


def test_a_long_text_that_is_repeated_for_every_row_is_not_unpacked(tmp_path: Path) -> None:
    n = 1 << 16
    long = pa.array(["x" * (1 << 20)])
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), long)  # 64 GiB of text
    content = written(pa.table({"age": repeated, "city": pa.array(["a"] * n)}))
    plainly = written(pa.table({"age": repeated, "city": repeated}), store_schema=False)  # no word of a dictionary
    assert len(content) < 1 << 20
    folder = boxes_of(plainly, tmp_path, n)

    assert peak_growth(lambda: refused(folder, "bytes of memory")) < 1 << 29


def test_more_rows_than_fit_are_refused_by_what_the_footer_says(tmp_path: Path) -> None:
    n = 1 << 22
    column = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["a"]))
    folder = boxes_of(written(pa.table({"age": column, "city": column})), tmp_path, n)

    refused(folder, "bytes of memory: if you trust it", most_bytes=1 << 26)
    assert gh.load(folder).n_tuples == n


def test_a_page_that_unpacks_to_more_than_its_column_says_is_found_out(tmp_path: Path) -> None:
    zeros = pa.array([b"\0" * (1 << 26)], pa.binary()).cast(pa.string())
    content = written(pa.table({"age": zeros, "city": pa.array(["a"])}), use_dictionary=False)
    assert len(content) < 1 << 17
    lying = footer_says_less(content)
    folder = boxes_of(lying, tmp_path, 1)

    assert peak_growth(lambda: refused(folder, "bytes when unpacked", most_bytes=1 << 22)) < 1 << 25


def footer_says_less(content: bytes) -> bytes:
    """The file with another footer: that of a column of three letters, whose packed size is that of the large one."""
    honest = pq.ParquetFile(pa.BufferReader(content)).metadata.row_group(0).column(0).total_uncompressed_size
    number = zigzag(honest)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:-8]
    assert footer.count(number) >= 1
    small = zigzag(40)
    short = footer.replace(number, small + b"\x00" * 0)
    return content[:start] + short + len(short).to_bytes(4, "little") + b"PAR1"


def zigzag(value: int) -> bytes:
    value *= 2
    found = b""
    while value >= 128:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"compression": "gzip"}, "compressed in a way"),
        ({"compression": "snappy"}, "compressed in a way"),
        (
            {"use_dictionary": False, "column_encoding": {"age": "DELTA_BYTE_ARRAY"}},
            "encoding that Glasshouse does not",
        ),
    ],
)
def test_ways_of_packing_that_we_do_not_use_are_refused(options: dict[str, Any], match: str, tmp_path: Path) -> None:
    content = written(pa.table({"age": ["a", "b"], "city": ["c", "d"]}), **options)

    refused(boxes_of(content, tmp_path, 2), match)


@pytest.mark.parametrize(
    "column", [pa.array([["a"]]), pa.array([{"a": 1}]), pa.array([b"a"])], ids=lambda c: str(c.type)
)
def test_columns_of_types_that_we_do_not_write_are_refused(column: pa.Array, tmp_path: Path) -> None:
    content = written(pa.table({"age": column, "city": ["c"]}))

    refused(boxes_of(content, tmp_path, 1), "of a type that|columns inside columns")


def test_a_footer_with_any_byte_changed_gives_our_own_error_or_a_table(tmp_path: Path) -> None:
    """A library that meets a way of packing that it does not know may end the whole process: it never does."""
    folder = boxes_of(written(pa.table({"age": ["a"], "city": ["b"]}), store_schema=False), tmp_path, 1)
    content = (folder / "data.parquet").read_bytes()
    refusals = set()
    for place in range(len(content) - 8 - int.from_bytes(content[-8:-4], "little"), len(content)):
        for value in (content[place] ^ 1, 28, 255):
            broken = bytearray(content)
            broken[place] = value
            put_file(folder, "data.parquet", bytes(broken))
            try:
                gh.load(folder)
            except gh.SourceError as refusal:
                refusals.add(str(refusal).partition("refused: ")[2].partition(". Do not")[0])
    assert "it is compressed in a way that Glasshouse does not use" in refusals


def test_a_parquet_file_with_any_bytes_changed_gives_our_own_error_or_a_table(tmp_path: Path) -> None:
    folder = write("no sensitive column", tmp_path, "parquet")
    content = (folder / "data.parquet").read_bytes()
    chosen = random.Random(11)
    for _ in range(some(1500)):
        broken = bytearray(content)
        for _ in range(chosen.randint(1, 4)):
            broken[chosen.randrange(len(broken))] = chosen.choice([0, 1, 127, 128, 255, chosen.randrange(256)])
        if chosen.random() < 0.2:
            del broken[chosen.randrange(len(broken)) :]
        put_file(folder, "data.parquet", bytes(broken))
        try:
            gh.load(folder)
        except gh.GlasshouseError:
            continue


def test_a_csv_file_with_any_bytes_changed_gives_our_own_error_or_a_table(tmp_path: Path) -> None:
    folder = write("two sensitive columns", tmp_path, "csv")
    content = (folder / "qit.csv").read_bytes()
    chosen = random.Random(13)
    for _ in range(some(900)):
        broken = bytearray(content)
        for _ in range(chosen.randint(1, 4)):
            broken[chosen.randrange(len(broken))] = chosen.choice([0, 10, 13, 34, 44, 255, chosen.randrange(256)])
        put_file(folder, "qit.csv", bytes(broken))
        try:
            gh.load(folder)
        except gh.GlasshouseError:
            continue


def test_reading_while_a_release_is_replaced_gives_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    one, two = of_kind("boxes"), of_kind("anatomy")
    one.save(tmp_path / "release")
    done = threading.Event()

    def replace_often() -> None:
        for _ in range(25):
            for release in (two, one):
                release.save(tmp_path / "release", force=True)
        done.set()

    writer = threading.Thread(target=replace_often)
    writer.start()
    seen = set()
    while not done.is_set():
        try:
            seen.add(tuple(gh.load(tmp_path / "release").tables))
        except gh.SourceError as error:  # on a busy machine: it is said, and nothing mixed is given
            seen.add(("changes",) if "changed again and again" in str(error) else (str(error),))
    writer.join()

    assert seen <= {("data",), ("qit", "st"), ("changes",)}


def test_a_release_that_is_saved_again_is_written_anew(tmp_path: Path) -> None:
    """What is hidden in the spelling of a file is gone, as the documentation says."""
    release = gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity", recoding="boxes")
    release.save(tmp_path / "first", format="csv")
    content = (tmp_path / "first" / "data.csv").read_bytes()
    hidden = b"\xef\xbb\xbf" + content.replace(b'"asthma"', b"asthma", 1) + b"\n"
    put_file(tmp_path / "first", "data.csv", hidden)
    gh.load(tmp_path / "first").save(tmp_path / "again", format="csv")

    assert (tmp_path / "again" / "data.csv").read_bytes() == content != hidden
