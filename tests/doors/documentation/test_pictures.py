"""The pictures of the documentation are what the scripts draw now, and say in words what they show."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT
from tests.doors.documentation.test_docs import LINKED, name_of
from tools import mirror_leaves, mirror_world
from tools.pictures import FOLDER, PICTURES

SVG = "{http://www.w3.org/2000/svg}"
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_committed_picture_is_what_is_drawn_now(name: str) -> None:
    committed = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")

    assert committed == PICTURES[name](), "python -m tools.pictures draws them again"


def test_the_leaves_of_mirror_are_what_is_drawn_now() -> None:
    assert mirror_leaves.PICTURE.read_text(encoding="utf-8") == mirror_leaves.drawn()


def test_mirror_against_the_world_is_drawn_and_told_from_its_numbers() -> None:
    page = (mirror_world.HERE / "mirror_world.md").read_text(encoding="utf-8")
    picture = (mirror_world.HERE / "mirror_world.svg").read_text(encoding="utf-8")

    assert picture == mirror_world.picture(mirror_world.rows())
    for name, table in mirror_world.tables().items():
        assert table in page, f"python tools/mirror_world.py tables: {name}"
    marks = re.findall(r"(\*{0,2})[\d.]+\*{0,2} \(", mirror_world.tables()["holding"])
    told = f"Of {len(marks)} places Mirror is better beyond doubt at {marks.count('**')}, worse at {marks.count('*')};"
    assert told in page


def test_every_picture_has_a_script_and_every_script_a_picture() -> None:
    assert sorted(PICTURES) == sorted(path.stem for path in FOLDER.glob("*.svg"))


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_has_a_title_and_a_description_and_serves_by_night(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    picture = ElementTree.fromstring(text)

    assert picture.get("role") == "img"
    labels = [picture.findtext(f"{SVG}{part}") or "" for part in ("title", "desc")]
    assert all(len(label) > 10 for label in labels), labels
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_picture_on_a_page_is_there_and_is_told_in_words(page: Path) -> None:
    for words, target in SHOWN.findall(page.read_text(encoding="utf-8")):
        assert len(words) > 10, f"{page.name}: {target} has no words"
        assert (page.parent / target).is_file(), f"{page.name} shows {target}"


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_the_words_beside_the_first_picture_have_its_figures(name: str) -> None:
    drawn = (FOLDER / "headline.svg").read_text(encoding="utf-8")
    told = re.search(r"<desc[^>]*>([^<]*)", drawn)
    words = next(words for words, target in SHOWN.findall((ROOT / name).read_text("utf-8")) if "headline" in target)

    assert told is not None
    assert re.findall(r"(\d+)%", told[1]) == re.findall(r"(\d+) %", words)[:4]


def test_every_picture_is_on_a_page() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in LINKED
        for _, target in SHOWN.findall(page.read_text(encoding="utf-8"))
    }

    assert {path.resolve() for path in FOLDER.glob("*.svg")} <= shown
