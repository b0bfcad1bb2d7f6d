# SPDX-License-Identifier: Apache-2.0
"""A release that is not where it was looked for; and a preview in a narrow terminal."""

from __future__ import annotations

import shlex
import zipfile
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.cli.previews.column_fit import fit_columns
from tests.rooms.cli.world import QUICK, ROLES, make_world, run

ASKED = {
    "verify": "verify {}",
    "show": "show {}",
    "query": "query {} 'SELECT COUNT(*)'",
    "attack": "attack {} --external voters.csv",
    "learn": "learn {}",
    "sample": "sample {} --out flat",
}


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_world(tmp_path, 60)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    run(f"publish patients.csv {ROLES} --ell 2 --out 'my out' {QUICK}")
    return Path("my out")


def test_the_command_that_was_meant_is_offered_and_works(out: Path) -> None:
    for place in ("my out", "my out/audit", "my out/release/tables", "my oot", "."):
        for name, line in ASKED.items():
            if (name, place) == ("verify", "my out"):
                continue  # which is taken
            told = run(line.format(shlex.quote(place)), code=2).stderr.splitlines()
            commands = [text.strip() for text in told if text.startswith("    glasshouse ")]
            assert commands == [f"glasshouse {line.format(shlex.quote('my out/release'))}"], (place, name, told)
    run("show 'my out/release'")


def test_a_signature_in_the_wrong_place_is_told_too(out: Path) -> None:
    run("sign --new-key k.pem")
    told = run("sign 'my out/audit' --key k.pem --signer me", code=2).stderr

    assert "glasshouse sign 'my out/release' --key k.pem --signer me" in told
    run("sign 'my out/release' --key k.pem --signer me")


def test_what_is_no_release_at_all_is_said(out: Path) -> None:
    Path("empty").mkdir()
    with zipfile.ZipFile("other.zip", "w") as archive:
        archive.writestr("a.txt", "a")

    assert "empty is an empty folder" in run("show empty", code=2).stderr
    assert "my out/release/README.md is a file of a release" in run("show 'my out/release/README.md'", code=2).stderr
    assert "other.zip is an archive without datapackage.json" in run("verify other.zip", code=2).stderr
    assert "There is no folder no/such" in run("show no/such/place", code=2).stderr
    Path("notes").mkdir()
    Path("notes/a.txt").write_text("a")
    assert "output folder of glasshouse publish: give its path" in " ".join(run("show notes", code=2).stderr.split())


@pytest.mark.parametrize("place", ["my out", "my out/release/README.md", "my out/audit"])
def test_a_note_in_python_says_where_the_release_is(out: Path, place: str) -> None:
    with pytest.raises(gh.SourceError) as refused:
        gh.load(place)

    assert refused.value.__notes__[-1].endswith(" gh.load('my out/release')")
    if Path(place).is_dir() and place != "my out":
        with pytest.raises(gh.SourceError) as refused:
            gh.verify(place)
        assert refused.value.__notes__[-1].endswith(" gh.verify('my out/release')")


def test_an_archive_that_is_no_whole_release_is_never_taken_for_a_table(out: Path) -> None:
    with zipfile.ZipFile("whole.zip", "w") as whole, zipfile.ZipFile("deep.zip", "w") as deep:
        for file in Path("my out/release").iterdir():
            whole.write(file, file.name)
            deep.write(file, f"a/b/{file.name}")
    zipfile.ZipFile("without.zip", "w").close()
    Path("empty.zip").touch()
    Path("short.zip").write_bytes(Path("whole.zip").read_bytes()[:2000])
    with zipfile.ZipFile("table.zip", "w") as table:
        table.write("patients.csv")

    for name, told in {
        "deep.zip": "deep.zip cannot be checked: it is not a release: there is no datapackage.json",
        "without.zip": "without.zip cannot be checked: it is not a release: there is no datapackage.json",
        "empty.zip": "empty.zip is not a release: it is neither a folder nor a zip archive",
        "short.zip": "short.zip is not a release: it is a zip archive that is cut short",
    }.items():
        with pytest.raises(gh.SourceError, match=told):
            gh.verify(name)
        assert told in " ".join(run(f"verify {name}", code=2).stderr.split())
    with pytest.raises(gh.InputError, match="no quasi-identifiers are given"):
        gh.verify("table.zip")


def test_an_archive_that_is_read_as_it_is_need_not_be_unpacked(out: Path) -> None:
    with (
        zipfile.ZipFile("top.zip", "w") as top,
        zipfile.ZipFile("one.zip", "w") as one,
        zipfile.ZipFile("deep.zip", "w") as deep,
    ):
        deep.writestr("notes.txt", "a")
        for file in Path("my out/release").iterdir():
            top.write(file, file.name)
            one.write(file, f"inner/{file.name}")
            deep.write(file, f"inner/{file.name}")

    for name in ("top.zip", "one.zip"):
        assert run(f"query {name} 'SELECT COUNT(*)'").exit_code == 0
        told = run(f"query {name} 'SELECT COUNT(*) WHERE aeg = 3'", code=2).stderr
        assert "aeg" in told
        assert "unpack" not in told
    told = " ".join(run("query deep.zip 'SELECT COUNT(*)'", code=2).stderr.split())
    assert "deep.zip is an archive that has a release in its folder inner, not at its top: unpack it" in told


def test_no_column_of_a_preview_is_dropped_silently(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["age", "sex", "zipcode", "Batch-ID"]
    for width in (20, 30, 40, 60, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = run("show 'my out/release' --rows 2").stdout
        table = shown[shown.index("gt: 2 of") :]
        for name in names:
            assert name in table or name[:4] in table, (width, name, table)


def test_columns_are_shown_whole_where_they_fit_and_named_where_they_do_not() -> None:
    names = [f"column {i}" for i in range(9)]
    for width in range(5, 140):
        fit = fit_columns(names, [["x" * 40] * 9], width)
        assert [*fit.shown, *fit.hidden] == names
        assert fit.shown
        if len(fit.shown) > 1:
            assert sum(min(40, fit.widest) + 3 for _ in fit.shown) <= width
    assert str(fit_columns(["a", "bb", "cc"], [["1" * 9, "2" * 9, "3" * 9]], 14)) == "2 more columns: bb, cc"
