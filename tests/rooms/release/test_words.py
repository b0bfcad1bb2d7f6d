"""The words of a release are those that its recipe stands for: others are refused, or not shown."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys.load import promised_by_recipe
from glasshouse.journeys.recheck import verify_release
from tests.rooms.release.kinds import ALL, of_kind, write

LIE = "nobody can learn anything, whatever is done"
OLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def angel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write("angel", tmp_path_factory.mktemp("angel"), "csv")


def forged(folder: Path, to: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Path:
    """A copy of a release in which somebody changed manifest or README, and told the new sums."""
    shutil.copytree(folder, to)
    manifest = json.loads((to / "datapackage.json").read_text())
    files = {"README.md": (to / "README.md").read_bytes()}
    change(manifest, files)
    (to / "README.md").write_bytes(files["README.md"])
    for entry in manifest["glasshouse"]["files"]:
        if entry["path"] == "README.md":
            entry["bytes"] = len(files["README.md"])
            entry["hash"] = "sha256:" + hashlib.sha256(files["README.md"]).hexdigest()
    (to / "datapackage.json").write_text(json.dumps(manifest))
    return to


def stating(**parts: Any) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    return lambda manifest, _files: manifest["glasshouse"]["guarantee"].update(parts)


def by_another_version(
    change: Callable[[dict[str, Any], dict[str, bytes]], None],
) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    def both(manifest: dict[str, Any], files: dict[str, bytes]) -> None:
        manifest["glasshouse"]["software"] = "glasshouse 0.0.9"
        change(manifest, files)

    return both


@pytest.mark.parametrize(("version", "known"), [("0.2.9", True), ("0.3.0", False), ("0.10.1", False), ("1.0", False)])
def test_versions_before_0_3_put_people_who_are_alike_in_an_order_that_others_may_know(
    version: str, known: bool, tmp_path: Path
) -> None:
    people = {"id": ["a", "b", "c", "d"], "age": [1, 2, 3, 4], "disease": ["flu", "gout"] * 2}
    table = gh.read(people, identifier="id", quasi=["age"], sensitive="disease")
    gh.publish(table, principle=gh.LDiversity(ell=2)).save(tmp_path / "now")

    def older(manifest: dict[str, Any], _files: dict[str, bytes]) -> None:
        manifest["glasshouse"]["software"] = f"glasshouse {version}"

    assert gh.load(forged(tmp_path / "now", tmp_path / "then", older)).ties_are_known is known
    assert not gh.load(tmp_path / "now").ties_are_known


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ALL)
def test_the_guarantee_and_the_readme_of_every_kind_are_made_again(kind: str, format: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, format)
    release = gh.load(folder)  # which compares both

    assert release.other_writer == ""
    assert promised_by_recipe(release) == release.guarantee
    if kind != "disk":
        assert release.guarantee == of_kind(kind).guarantee


@pytest.mark.parametrize(
    "parts",
    [
        {"promise": LIE},
        {"adversary": "corrupting"},
        {"adversary_knows": "an attacker who knows everything"},
        {"theorem": "it is so"},
        {"assumptions": []},
        {"assumptions": ["one row per person", LIE]},
        {"limits": []},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_a_guarantee_that_is_not_the_recipes_is_refused(parts: dict[str, Any], angel: Path, tmp_path: Path) -> None:
    folder = forged(angel, tmp_path / "release", stating(**parts))

    with pytest.raises(gh.SourceError, match=r"does not match its recipe|does not match datapackage|description"):
        gh.load(folder)
    for command in (["verify", str(folder)], ["show", str(folder)], ["query", str(folder), "SELECT COUNT(*)"]):
        result = CliRunner().invoke(glasshouse, command)
        assert result.exit_code == 2
        assert LIE not in result.output


def test_a_lie_that_is_told_everywhere_in_the_folder_is_refused_too(angel: Path, tmp_path: Path) -> None:
    """In the guarantee, in the description and in a README that was made from it."""
    promise = json.loads((angel / "datapackage.json").read_text())["glasshouse"]["guarantee"]["promise"]

    def lie(manifest: dict[str, Any], files: dict[str, bytes]) -> None:
        manifest["glasshouse"]["guarantee"]["promise"] = promise.replace("2", "9")
        manifest["description"] = manifest["description"].replace(promise, promise.replace("2", "9"))
        told = f"{promise[:1].upper()}{promise[1:]}."
        assert told.encode() in files["README.md"]
        files["README.md"] = files["README.md"].replace(told.encode(), told.replace("2", "9").encode())

    with pytest.raises(gh.SourceError, match="does not match its recipe"):
        gh.load(forged(angel, tmp_path / "release", lie))


def test_a_readme_or_a_description_of_anothers_making_is_refused(angel: Path, tmp_path: Path) -> None:
    def readme(_manifest: dict[str, Any], files: dict[str, bytes]) -> None:
        files["README.md"] += f"\n{LIE}\n".encode()

    def description(manifest: dict[str, Any], _files: dict[str, bytes]) -> None:
        manifest["description"] = LIE

    with pytest.raises(gh.SourceError, match=r"README\.md does not match"):
        gh.load(forged(angel, tmp_path / "readme", readme))
    with pytest.raises(gh.SourceError, match="description"):
        gh.load(forged(angel, tmp_path / "description", description))


@pytest.mark.parametrize(
    ("key", "value"),
    [("n_suppressed", 1), ("n_suppressed", -1), ("n_suppressed", "0"), ("identified", True), ("identified", 1)],
)
def test_what_is_told_of_the_table_must_agree_with_the_guarantee(
    key: str, value: object, angel: Path, tmp_path: Path
) -> None:
    with pytest.raises(gh.SourceError):
        gh.load(forged(angel, tmp_path / "release", lambda manifest, _: manifest["glasshouse"].update({key: value})))


def test_more_people_are_not_suppressed_than_the_recipe_allows(tmp_path: Path) -> None:
    folder = write("suppressed", tmp_path, "csv")
    release = gh.load(folder)
    assert 0 < release.n_suppressed == release.n_dropped
    assert f"{release.n_suppressed:,} of 9 records was left out" in release.guarantee.limits[-1]

    def never(manifest: dict[str, Any], _files: dict[str, bytes]) -> None:
        manifest["glasshouse"]["recipe"]["suppress"] = "0"
        manifest["glasshouse"]["software"] = "glasshouse 0.0.9"

    with pytest.raises(gh.SourceError, match="recipe"):
        gh.load(forged(folder, tmp_path / "forged", never))


def test_the_words_of_another_version_are_not_compared_and_never_shown(angel: Path, tmp_path: Path) -> None:
    lies = stating(promise=LIE, adversary=LIE, adversary_knows=LIE, theorem=LIE, assumptions=[LIE], limits=[LIE])
    folder = forged(angel, tmp_path / "release", by_another_version(lies))
    (tmp_path / "people.csv").write_text("age\n21\n")
    release = gh.load(folder)

    assert release.other_writer == "format 3, glasshouse 0.0.9"
    assert release.guarantee.promise == of_kind("angel").guarantee.promise
    found = verify_release(folder)
    assert found.holds
    assert "cannot be compared" in found.counting[-1]
    for command in (
        ["verify", str(folder)],
        ["verify", str(folder), "--json"],
        ["show", str(folder)],
        ["show", str(folder), "--json"],
        ["query", str(folder), "SELECT COUNT(*)"],
    ):
        result = CliRunner().invoke(glasshouse, command)
        assert result.exit_code == 0, result.output
        assert LIE not in result.output
    assert "what the release guarantees" in CliRunner().invoke(glasshouse, ["verify", str(folder)]).output


@pytest.mark.parametrize("version", ["glasshouse", "x" * 99, "glasshouse \x1b[31m9", "glasshouse 1\nholds", 7])
def test_the_writing_software_has_the_name_of_a_version(version: object, angel: Path, tmp_path: Path) -> None:
    with pytest.raises(gh.SourceError):
        gh.load(forged(angel, tmp_path / "r", lambda manifest, _: manifest["glasshouse"].update(software=version)))


@pytest.mark.parametrize(
    "folder",
    sorted(path for format in ("format_1", "format_2") for path in (OLDER / format).iterdir()),
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_older_formats_promise_what_this_version_makes_of_their_recipe(folder: Path) -> None:
    release = gh.load(folder)

    assert release.other_writer.startswith(f"format {folder.parent.name[-1]}, glasshouse ")
    assert release.guarantee == promised_by_recipe(release)
    assert verify_release(release).holds


def test_another_tools_table_is_promised_nothing() -> None:
    rows = {"age": ["1-2", "1-2"], "ill": ["a", "b"]}
    theirs = gh.foreign_release(rows, quasi=["age"], sensitive="ill", principle=gh.LDiversity(ell=2))

    assert theirs.guarantee.promise.startswith("nothing")
    with pytest.raises(gh.NotSupported, match="guarantees nothing"):
        verify_release(theirs)
