"""The results under docs/papers/results are whole, agree with themselves and are told rightly on the papers' pages.

Nothing is measured here. A page, its drawings and its verdicts are made again from the numbers beside it, so that a
change of what writes or judges them shows.
"""

from __future__ import annotations

import csv
import importlib
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from glasshouse.cli.commands import glasshouse
from glasshouse.papers import PAPERS
from glasshouse.papers.reproduction import Reproduction, heading
from tests.conftest import ROOT

RESULTS = ROOT / "docs" / "papers" / "results"
FOLDERS = sorted(about.parent for about in RESULTS.glob("*/*/about.json"))
LIMIT = 1 << 20  # bytes of a folder
ROW = re.compile(r"^\| (.+?) \[(.+?)\] \| (.+?) \| (.+?) \|$", re.MULTILINE)
TALLY = re.compile(r"\[(.+?)\]\(results/(\w+/\w+)/\w+\.md\): (\d+) of (\d+) claims carry over")


def panels(numbers: range | tuple[int, ...], letters: str) -> list[str]:
    return [f"figure-{number}{letter}" for number in numbers for letter in letters]


# What must be there: of everything, and of a table without incomes.
WHOLE = {
    "transparent": ["table-XII", "table-XIII", "table-XIV", *panels(range(11, 16), "ab")],
    "corruption": ["table-IIIa", "table-IIIb", *panels((2, 3), "ab")],
    "anatomy": [*panels((4, 7, 8, 9), "ab"), *panels((5, 6), "abcdef")],
    "minimality": panels((3, 4, 5), "abcd"),
    "angel": [*panels((4,), "ab"), *panels((5,), "abcd"), "table-9a", "table-9b"],
}
WITHOUT_INCOMES = {
    "transparent": ["table-XII", "table-XIII", "table-XIV", *panels(range(11, 16), "a")],
    "anatomy": [*panels((4, 7, 8, 9), "a"), *panels((5, 6), "ace")],
}


@cache
def found_in(folder: Path) -> Reproduction:
    return Reproduction.load(folder)


def label(folder: Path) -> str:
    return f"{folder.parent.name}, {folder.name}"


def test_every_paper_has_results_on_its_own_kind_of_table_at_its_own_size() -> None:
    named = {(folder.parent.name, folder.name) for folder in FOLDERS}

    for paper in PAPERS:
        size = importlib.import_module(f"glasshouse.papers.{paper}").ROWS
        main = "adult" if paper == "minimality" else "synthetic"
        assert (paper, main) in named
        assert f"{size:,} " in found_in(RESULTS / paper / main).data


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_every_figure_is_a_drawing_and_numbers_and_every_table_numbers(folder: Path) -> None:
    paper, data = folder.parent.name, folder.name
    wanted = WITHOUT_INCOMES.get(paper, WHOLE[paper]) if data == "census" else WHOLE[paper]

    files = {path.name for path in folder.iterdir()}
    assert {f"{name}.csv" for name in wanted} <= files
    assert {f"{name}.svg" for name in wanted if name.startswith("figure")} <= files
    assert sum(path.stat().st_size for path in folder.iterdir()) < LIMIT


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_pages_drawings_and_verdicts_are_those_that_the_numbers_give(folder: Path, tmp_path: Path) -> None:
    again = found_in(folder).save(tmp_path / "again")

    assert sorted(path.name for path in again.iterdir()) == sorted(path.name for path in folder.iterdir())
    for path in again.iterdir():
        assert path.read_text(encoding="utf-8") == (folder / path.name).read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_tables_of_a_page_say_what_the_files_beside_it_say(folder: Path) -> None:
    """Read without the help of what wrote them: every cell is that of the file, to three digits."""
    page = (folder / f"{folder.parent.name}.md").read_text(encoding="utf-8")
    for file in folder.glob("*.csv"):
        section = page.partition(f"## {heading(file.stem)}\n")[2].partition("\n## ")[0]
        lines = [line[1:-1].split(" | ") for line in section.splitlines() if line.startswith("|")]
        shown = [[cell.strip() for cell in line] for line in (lines[0], *lines[2:])]
        written = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
        assert len(shown) == len(written) > 1
        for row, cells in zip(written, shown, strict=True):
            for whole, cell in zip(row, cells, strict=True):
                assert agree(whole, cell), f"{file.name}: {whole} and {cell}"


def agree(whole: str, shown: str) -> bool:
    try:
        number = float(whole)
    except ValueError:
        return shown == (whole or shown) and (bool(whole) or shown in ("-", ""))
    return abs(float(shown.replace(",", "")) - number) <= 0.0051 * abs(number)


def test_cells_that_differ_are_noticed() -> None:
    assert agree("0.12349", "0.123")
    assert agree("", "-")
    assert agree("1234.4", "1,234")
    assert not agree("0.125", "0.123")
    assert not agree("", "0")
    assert not agree("here", "there")


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_the_command_of_a_page_is_one_that_anybody_can_give(folder: Path) -> None:
    program, command, *given = shlex.split(found_in(folder).command)
    parsed = glasshouse.commands[command].make_context(command, given).params

    assert program == "glasshouse"
    assert (parsed["paper"], parsed["data"]) == (folder.parent.name, folder.name)
    assert f"\n{found_in(folder).command}\n" in (folder / f"{parsed['paper']}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_every_claim_has_a_verdict_and_a_number(folder: Path) -> None:
    for claim in found_in(folder).claims:
        assert claim.verdict.word in ("yes", "no", "not measured")
        assert claim.verdict.said


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_a_paper_tells_of_every_claim_what_was_found_and_why_not(paper: str) -> None:
    text = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    told = {(claim, where): (verdict, why) for claim, where, verdict, why in ROW.findall(text)}
    folders = [folder for folder in FOLDERS if folder.parent.name == paper]
    claims = [found_in(folder).claims for folder in folders]

    assert {place: name for name, place, *_ in TALLY.findall(text)} == {f"{paper}/{f.name}": f.name for f in folders}
    for _, place, yes, n in TALLY.findall(text):
        words = [claim.verdict.word for claim in found_in(RESULTS / place).claims]
        assert (int(yes), int(n)) == (words.count("yes"), len(words))
    for same in zip(*claims, strict=True):
        verdict, why = told.pop((same[0].text, same[0].where))
        words = [claim.verdict.word for claim in same]
        if len(set(words)) == 1:
            assert verdict == words[0], same[0].text
        else:
            assert verdict == ", ".join(f"{f.name} {word}" for f, word in zip(folders, words, strict=True))
        assert "no" not in words or len(why) > 20, same[0].text
    assert told == {}
    assert "not reproduced yet" not in text
