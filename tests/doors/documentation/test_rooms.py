"""Contributors are told the truth about each room: where it is, what is in it, what it imports; users have a page."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import glasshouse as gh
from tests.conftest import ROOT
from tests.doors.documentation.test_docs import blocks_of, prose_of

SOURCE = ROOT / "src" / "glasshouse"
ROOMS = {
    "microdata": "reading",
    "principles": "principles",
    "grouping": "methods",
    "recoding": "recodings",
    "release": "release",
    "adversary": "attacking",
    "analyst": "analysing",
    "engines": "engines",
    "verification": "verifying",
}
ROW = re.compile(r"^\| ([\w ]+) \| (.+) \|$", re.MULTILINE)
NOT_IN_THE_ROOM = {"Groups", "Counts"}  # of the microdata, which other rooms work with


def page_of(room: str) -> Path:
    return ROOT / "docs" / f"{ROOMS[room]}.md"


def card_of(room: str) -> dict[str, str]:
    """What the page for contributors tells of a room."""
    page = (ROOT / "docs" / "contributing" / "rooms.md").read_text(encoding="utf-8")
    return dict(ROW.findall(page.partition(f"\n## `{room}`\n")[2].partition("\n## ")[0]))


def imported_by(room: str) -> set[str]:
    """The rooms from which files of a room import."""
    found = set()
    for path in (SOURCE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
            elif isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
    return {name.split(".")[1] for name in found if name.startswith("glasshouse.")} & ROOMS.keys() - {room}


def test_every_folder_of_the_journey_is_a_room() -> None:
    doors = {"cli", "comparing", "journeys", "pages", "papers", "policy", "spark", "streaming", "studio"}
    below = {"database", "kernels", "unpacking"}  # which every room may use
    notations = {"cells"}  # whose page is a table that tests of its own hold it to
    beneath = {"population", "supports"}  # of which the page of the analyst tells

    assert ROOMS.keys() | doors | below | notations | beneath == {
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    }


@pytest.mark.parametrize("room", ROOMS)
def test_contributors_are_told_what_a_room_is_for_and_where_it_is(room: str) -> None:
    card = card_of(room)

    assert {"purpose", "nouns", "code", "imports", "page for users"} <= card.keys()
    assert f"(../{ROOMS[room]}.md)" in card["page for users"]
    assert f"`src/glasshouse/{room}/`" in card["code"]
    for folder in re.findall(r"`src/glasshouse/(\w+)/`", card["code"]):
        assert (SOURCE / folder).is_dir(), folder
    for file in re.findall(r"`([\w/]+\.py)`", card["code"]):
        assert (SOURCE / file).is_file() or (SOURCE / room / file).is_file(), file


@pytest.mark.parametrize("room", ROOMS)
def test_a_page_tells_from_which_rooms_its_room_imports(room: str) -> None:
    told = card_of(room)["imports"].partition(":")[0]

    assert imported_by(room) == set(re.findall(r"`(\w+)`", told))
    assert ("no room" in told) == (not imported_by(room))


@pytest.mark.parametrize("room", ROOMS)
def test_the_nouns_of_a_page_are_classes_of_its_room(room: str) -> None:
    classes = {
        node.name
        for path in (SOURCE / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    for noun in re.findall(r"`([A-Z]\w+)`", card_of(room)["nouns"]):
        assert noun in classes or (noun in NOT_IN_THE_ROOM and room != "microdata"), noun


@pytest.mark.parametrize("room", ROOMS)
def test_a_page_has_an_example_near_its_beginning(room: str) -> None:
    first = next(block for block in blocks_of(page_of(room)) if block.language == "python")

    assert "glasshouse" in first.text
    assert first.expected is not None or room in ("recoding", "grouping")


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_for_users_speaks_of_no_room(room: str) -> None:
    assert not re.search(r"\brooms?\b", prose_of(page_of(room)))


FOLDERS = sorted(path for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("init", FOLDERS, ids=lambda path: path.parent.relative_to(SOURCE).as_posix())
def test_what_a_folder_says_of_its_files_is_there(init: Path) -> None:
    """A name between backquotes is a file or a folder beside, something in one of them, or something of the folder."""
    folder = importlib.import_module(".".join(init.parent.relative_to(SOURCE.parent).parts))
    for name in re.findall(r"(?<!`)`([\w.]+)`(?!`)", folder.__doc__ or ""):
        first, _, rest = name.removeprefix("glasshouse.").partition(".")
        beside = [home / first for home in (init.parent, SOURCE) if rest or home == init.parent]
        found = any(path.is_dir() or path.with_suffix(".py").is_file() for path in beside)
        assert found or hasattr(folder, name) or name in gh.__all__, name
        if found and rest:
            homes = [home for home in (folder.__name__, "glasshouse") if has_module(f"{home}.{first}")]
            assert any(reaches(home, first, rest) for home in homes), name


def has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def reaches(home: str, first: str, rest: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    module = importlib.import_module(f"{home}.{first}")
    return has_module(f"{home}.{first}.{rest}") if hasattr(module, "__path__") else hasattr(module, rest)
