# SPDX-License-Identifier: Apache-2.0
"""A release is one zip file as well as a folder; it is read everywhere, and hostile archives are refused."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys.marginals import publish_marginals
from glasshouse.release.package.container.container import holds_release, is_archive
from glasshouse.release.package.container.zip_archive import write_archive
from glasshouse.release.package.signature import signature_in


@pytest.fixture(scope="module")
def release() -> gh.Release:
    return gh.publish(gh.synthetic.hospital(30, seed=1), principle="3-diversity")


@pytest.fixture
def archive(release: gh.Release, tmp_path: Path) -> Path:
    release.save(tmp_path / "release.zip")
    return tmp_path / "release.zip"


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(glasshouse, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.output


def rewritten(archive: Path, change: Callable[[zipfile.ZipFile, dict[str, bytes]], None]) -> Path:
    """The archive once more, with something else in it."""
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    target = archive.with_name("hostile.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        change(new, files)
        for name, content in files.items():
            new.writestr(name, content)
    return target


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_release_comes_back_from_its_archive(release: gh.Release, tmp_path: Path, format: str) -> None:
    release.save(tmp_path / "folder", format=format)
    release.save(tmp_path / "one.zip", format=format)
    release.save(tmp_path / "unnamed", format=format, zip=True)
    folder, one, unnamed = (gh.load(tmp_path / name) for name in ("folder", "one.zip", "unnamed"))
    assert folder.tables == one.tables == unnamed.tables
    assert folder.guarantee == one.guarantee
    assert gh.verify(tmp_path / "one.zip").holds
    with zipfile.ZipFile(tmp_path / "one.zip") as opened:
        assert sorted(opened.namelist()) == sorted(path.name for path in (tmp_path / "folder").iterdir())


def test_an_archive_says_nothing_of_time_or_user_and_is_the_same_each_time(release: gh.Release, tmp_path: Path) -> None:
    for name in ("one", "two"):
        release.save(tmp_path / f"{name}.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as opened:
        assert {info.date_time for info in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert not any(info.extra or info.comment for info in opened.infolist())
    assert stat.S_IMODE((tmp_path / "one.zip").stat().st_mode) == 0o644


def test_a_large_table_in_parts_is_archived_and_counted_batch_by_batch(release: gh.Release, tmp_path: Path) -> None:
    from dataclasses import replace

    name = next(iter(release.packaged))
    parted = replace(release, borders={name: [release.packaged[name].num_rows // 2]})
    parted.save(tmp_path / "parted.zip")
    with zipfile.ZipFile(tmp_path / "parted.zip") as opened:
        assert sum(entry.startswith(f"{name}/") for entry in opened.namelist()) == 2
    found = gh.verify(tmp_path / "parted.zip")
    assert found.holds
    assert any("was not read into memory" in note for note in found.counting)
    assert gh.load(tmp_path / "parted.zip").tables[name].num_rows == release.tables[name].num_rows


def test_the_audit_is_never_in_the_archive(tmp_path: Path) -> None:
    table = gh.synthetic.hospital(60, seed=1)
    gh.publish(table, principle="3-diversity", out=tmp_path / "out", zip=True)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"release", "audit", "release.zip"}
    with zipfile.ZipFile(tmp_path / "out" / "release.zip") as opened:
        names = set(opened.namelist())
    assert names == {path.name for path in (tmp_path / "out" / "release").iterdir()}
    assert not any("audit" in name or "partition" in name or "report" in name for name in names)
    (tmp_path / "out" / "release" / "notes.txt").write_text("mine")
    write_archive(tmp_path / "out" / "release", tmp_path / "again.zip")
    with zipfile.ZipFile(tmp_path / "again.zip") as opened:
        assert "notes.txt" not in opened.namelist()


def test_every_command_reads_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gh.publish(gh.synthetic.hospital(200, seed=1), principle="3-diversity").save("r.zip")
    people = gh.synthetic.hospital_table(200, seed=1).select(["patient", "age", "sex", "zipcode", "admitted"])
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(people, "people.csv")
    scratch = tmp_path / "scratch"  # other tests use the system's folder at the same time
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = set(tmp_path.iterdir())
    run("verify", "r.zip")
    assert json.loads(run("show", "r.zip", "--json"))["n_tuples"] == 200
    assert json.loads(run("query", "r.zip", "SELECT COUNT(*)", "--json"))
    run("attack", "r.zip", "--external", "people.csv", "--identifier", "patient")
    run("learn", "r.zip")
    assert set(tmp_path.iterdir()) == before  # and nothing is left behind
    assert not list(scratch.iterdir())
    run("sample", "r.zip", "--rows", "5", "--out", "flat")
    assert (tmp_path / "flat" / "table.csv").is_file()


def test_the_command_writes_it_and_refuses_to_leave_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(gh.synthetic.hospital_table(60, seed=1), "patients.csv")
    words = ["publish", "patients.csv", "--quasi", "age,sex", "--sensitive", "disease", "--ell", "2", "--no-report"]
    assert "out/release.zip is the same release in one file" in " ".join(run(*words, "--out", "out", "--zip").split())
    first = (tmp_path / "out" / "release.zip").read_bytes()
    assert "write it again too, with --zip" in " ".join(run(*words, "--out", "out", "--force", code=2).split())
    told = json.loads(run(*words, "--out", "out", "--force", "--zip", "--json"))
    assert told["zip"] == "out/release.zip"
    assert (tmp_path / "out" / "release.zip").read_bytes() != first
    disk = json.loads(run(*words, "--out", "disk", "--zip", "--engine", "disk", "--json"))
    assert gh.load(disk["zip"]).n_tuples == 60
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "release.zip").write_bytes(b"somebody's own")
    run(*words, "--out", "other", "--force", "--zip", code=2)
    assert (tmp_path / "other" / "release.zip").read_bytes() == b"somebody's own"
    assert not (tmp_path / "other" / "release").exists()


def test_a_file_that_is_not_ours_is_never_replaced(release: gh.Release, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(gh.OutputError, match="exists already"):
        release.save(archive)
    release.save(archive, force=True)
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("notes.txt", "mine")
    with pytest.raises(gh.OutputError, match=r"notes\.txt was not written by Glasshouse"):
        release.save(archive, force=True)
    (tmp_path / "link.zip").symlink_to(archive)
    with pytest.raises(gh.OutputError, match="is a link"):
        release.save(tmp_path / "link.zip", force=True)


def test_an_archive_is_signed_and_checked(release: gh.Release, archive: Path, tmp_path: Path) -> None:
    public = gh.new_key(tmp_path / "steward.pem")
    gh.sign(archive, key=tmp_path / "steward.pem", signer="The office")
    signature = signature_in(archive)
    assert signature is not None
    assert signature.signer == "The office"
    assert gh.verify(archive, signed_by=public).holds
    gh.sign(archive, key=tmp_path / "steward.pem", signer="Another office")  # in place of the first
    with zipfile.ZipFile(archive) as opened:
        assert opened.namelist().count("signature.json") == 1
    assert "signed by Another office" in run("verify", archive, "--signed-by", public)

    def another_table(_new: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        name = next(name for name in files if name.endswith(".parquet"))
        files[name] = files[name][:-9] + b"x" + files[name][-8:]

    with pytest.raises(gh.SourceError):
        gh.verify(rewritten(archive, another_table), signed_by=public)
    other = gh.new_key(tmp_path / "other.pem")
    with pytest.raises(gh.SourceError, match="another key"):
        gh.verify(archive, signed_by=other)


def test_folder_and_archive_beside_it_are_signed_together(tmp_path: Path) -> None:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity", out=tmp_path / "out", zip=True)
    public = gh.new_key(tmp_path / "steward.pem")
    run("sign", tmp_path / "out", "--key", tmp_path / "steward.pem", "--signer", "Office")
    for name in ("release", "release.zip"):
        assert gh.verify(tmp_path / "out" / name, signed_by=public).holds


def test_marginals_that_are_added_are_in_the_archive_too(tmp_path: Path) -> None:
    table = gh.synthetic.hospital(90, seed=1)
    gh.publish(table, principle="3-diversity", recoding="angel", out=tmp_path / "out", zip=True)
    publish_marginals(tmp_path / "out", table, marginals=[["age", "disease"]])
    assert (
        gh.load(tmp_path / "out" / "release.zip").tables.keys() == gh.load(tmp_path / "out" / "release").tables.keys()
    )


# --- archives of other tools ------------------------------------------------------------------------------------------


def test_files_in_one_folder_and_entries_of_folders_are_read(archive: Path) -> None:
    target = archive.with_name("other_tool.zip")
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        new.writestr("release/", b"")
        for name in old.namelist():
            new.writestr(f"release/{name}", old.read(name))
    assert gh.verify(target).holds


def test_a_table_in_a_zip_file_is_still_a_table(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as new:
        new.writestr("t.csv", "zip,disease\n476**,flu\n476**,ulcer\n")
    assert not holds_release(tmp_path / "t.zip")
    assert gh.verify(tmp_path / "t.zip", quasi=["zip"], sensitive="disease", k=2).holds


# --- hostile archives -------------------------------------------------------------------------------------------------


def _up(new: zipfile.ZipFile, _files: dict[str, bytes]) -> None:
    new.writestr("../escaped.txt", "x")


def _absolute(new: zipfile.ZipFile, _files: dict[str, bytes]) -> None:
    new.writestr("/etc/escaped", "x")


def _backslash(new: zipfile.ZipFile, _files: dict[str, bytes]) -> None:
    new.writestr("..\\escaped.txt", "x")


def _drive(new: zipfile.ZipFile, _files: dict[str, bytes]) -> None:
    new.writestr("C:escaped.txt", "x")


def _link(new: zipfile.ZipFile, files: dict[str, bytes]) -> None:
    info = zipfile.ZipInfo("README.md")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    del files["README.md"]
    new.writestr(info, "/etc/passwd")


def _twice(new: zipfile.ZipFile, files: dict[str, bytes]) -> None:
    new.writestr("datapackage.json", files["datapackage.json"])
    with pytest.warns(UserWarning, match="Duplicate"):
        new.writestr("datapackage.json", files["datapackage.json"])
    del files["datapackage.json"]


def _folder_with_content(new: zipfile.ZipFile, _files: dict[str, bytes]) -> None:
    new.writestr("folder/", b"content")


def _other_packing(new: zipfile.ZipFile, files: dict[str, bytes]) -> None:
    new.writestr("README.md", files.pop("README.md"), zipfile.ZIP_LZMA)


HOSTILE = {
    "name may lead outside": _up,
    "whose name may lead outside its folder": _absolute,
    "name may lead outside its folder, so it is not read": _backslash,
    "a file 'C:escaped.txt', whose name may lead": _drive,
    "is a link or something else that is no ordinary file": _link,
    "occurs twice": _twice,
    "for a folder in the archive has content": _folder_with_content,
    "is compressed in a way": _other_packing,
}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_archives_are_refused(archive: Path, words: str) -> None:
    hostile = rewritten(archive, HOSTILE[words])
    inside = set(archive.parent.iterdir())
    with pytest.raises(gh.SourceError, match=words):
        gh.load(hostile)
    assert words in " ".join(run("verify", hostile, code=2).split())
    assert set(archive.parent.iterdir()) == inside
    assert not (archive.parent.parent / "escaped.txt").exists()


def test_what_was_not_published_with_it_and_what_is_missing_is_refused(archive: Path) -> None:
    def more(_new: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        files["more.csv"] = b"a,b\n"

    def less(_new: zipfile.ZipFile, files: dict[str, bytes]) -> None:
        del files["README.md"]

    with pytest.raises(gh.SourceError, match=r"was not published with it, such as 'more\.csv'"):
        gh.load(rewritten(archive, more))
    with pytest.raises(gh.SourceError, match=r"missing: README\.md"):
        gh.load(rewritten(archive, less))


def test_sizes_that_lie_are_noticed(archive: Path) -> None:
    """The list says that a file is short, and it unpacks to more."""
    content = bytearray(archive.read_bytes())
    at = content.index(b"PK\x01\x02")
    while at >= 0:  # every entry of the list: sizes of its file, packed and unpacked
        (size,) = struct.unpack_from("<L", content, at + 24)
        struct.pack_into("<L", content, at + 24, max(size - 10, 0))
        at = content.find(b"PK\x01\x02", at + 4)
    archive.write_bytes(content)
    with pytest.raises(gh.SourceError):
        gh.load(archive)


def test_a_bomb_is_refused_before_anything_is_unpacked(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    struct.pack_into("<L", content, content.index(b"PK\x01\x02") + 24, 600 << 20)
    archive.write_bytes(content)
    with pytest.raises(gh.SourceError, match="far more than the size of the archive"):
        gh.load(archive)


def test_encrypted_members_are_refused_by_name(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1
    archive.write_bytes(content)
    with pytest.raises(gh.SourceError, match="is encrypted"):
        gh.load(archive)


def test_a_list_of_a_million_members_is_refused_before_it_is_read(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    struct.pack_into("<HH", content, len(content) - 14, 65535, 65535)
    struct.pack_into("<L", content, len(content) - 10, 0x7FFFFFFF)
    archive.write_bytes(content)
    with pytest.raises(gh.SourceError, match="lists more than"):
        gh.load(archive)


def test_cut_short_or_with_something_behind_it_is_refused(archive: Path) -> None:
    whole = archive.read_bytes()
    for damaged in (whole[:-5], whole[: len(whole) // 2], whole + b"behind", whole[:4]):
        archive.write_bytes(damaged)
        with pytest.raises(gh.SourceError):
            gh.load(archive)


def test_any_changed_byte_gives_the_release_or_an_error(archive: Path) -> None:
    whole = archive.read_bytes()
    expected = gh.load(archive).tables
    for at in range(0, len(whole), max(len(whole) // 60, 1)):
        archive.write_bytes(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :])
        try:
            assert gh.load(archive).tables == expected
        except gh.SourceError:
            continue


def test_a_pipe_or_a_device_is_no_archive(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not is_archive(tmp_path / "pipe")
    with pytest.raises(gh.SourceError):
        gh.load(tmp_path / "pipe")


def test_an_archive_that_packs_too_well_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what Glasshouse writes is never refused as a bomb."""
    from glasshouse.release.package.container import zip_archive

    monkeypatch.setattr(zip_archive, "most_unpacked", lambda n_bytes: 2 * n_bytes)
    zip_archive._write([("zeros", lambda: io.BytesIO(bytes(100_000)))], tmp_path / "z.zip")
    assert (tmp_path / "z.zip").stat().st_size > 100_000
