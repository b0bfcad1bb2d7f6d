"""The pages about the papers name nothing that is not there, and leave nothing out that a paper numbers."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

NAMES = ("transparent", "corruption", "anatomy", "minimality", "angel")
PAGES = [ROOT / "docs" / "papers" / f"{name}.md" for name in NAMES]
HOMES = (ROOT / "src" / "glasshouse", ROOT / "tests", ROOT)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"[\w/]+\.py(?:::[\w.]+)?")
DOTTED = re.compile(r"(?:gh|glasshouse)(?:\.\w+)+")
SCRIPT = re.compile(r"python (benchmarks/\w+\.py)")
COMMAND = re.compile(r"`glasshouse reproduce (\w+)")
KINDS = "Definition|Proposition|Property|Properties|Claim|Lemma|Corollary|Theorem|Equation|Inequality|Inequalities|"
KINDS += "Formula|Algorithm|Example|Figure|Table"
NUMBER = r"(?:\d+|[IVX]+)"
NUMBERED = re.compile(rf"\b(Appendix )?({KINDS})s? ({NUMBER}\b\S*?(?:(?:, | and | to ){NUMBER}\b)*)")
PLURALS = {"Properties": "Property", "Inequalities": "Equation", "Inequality": "Equation", "Formula": "Equation"}

WHOLE = {
    "transparent": {
        "Definition": 13,
        "Proposition": 2,
        "Lemma": 6,
        "Theorem": 3,
        "Example": 6,
        "Equation": 29,
        "Figure": 15,
        "Table": 14,
    },
    "corruption": {"Definition": 4, "Lemma": 2, "Theorem": 3, "Equation": 23, "Example": 1, "Figure": 3, "Table": 3},
    "anatomy": {
        "Definition": 4,
        "Lemma": 1,
        "Corollary": 1,
        "Theorem": 4,
        "Property": 3,
        "Equation": 14,
        "Figure": 9,
        "Table": 7,
    },
    "angel": {"Definition": 8, "Lemma": 2, "Theorem": 1, "Equation": 8, "Example": 6, "Figure": 5, "Table": 9},
}
# MINIMALITY counts definitions, claims, theorems and lemmas together.
TOGETHER = ["Definition 1", "Definition 2", "Definition 3", "Claim 4", "Theorem 5", "Theorem 6", "Theorem 7"]
TOGETHER += ["Theorem 8", "Lemma 9", "Lemma 10", "Lemma 11", "Table 1"]
TOGETHER += [f"Equation {i}" for i in range(1, 8)] + [f"Figure {i}" for i in range(1, 8)]


def prose_of(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def named_in(page: Path, pattern: re.Pattern[str]) -> list[str]:
    """The pieces of code in a page that have this form."""
    return [text for text in CODE.findall(prose_of(page)) if pattern.fullmatch(text)]


def files_of(path: str) -> list[Path]:
    """Where a path may lie: below the package, below the tests, or below the root."""
    return [home / path for home in HOMES if (home / path).is_file()]


@cache
def names_in(file: Path) -> frozenset[str]:
    """What a file defines at its top, and the methods, properties and attributes of its classes."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        found |= defined_by(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for inner in node.body for name in defined_by(inner)}
    return frozenset(found)


def defined_by(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {node.target.id} if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else set()


def resolve(name: str) -> Any:
    first, *others = name.split(".")
    found: Any = importlib.import_module("glasshouse" if first == "gh" else first)
    for other in others:
        found = getattr(found, other)
    return found


def rank(number: str) -> int:
    """A number in either writing.

    >>> rank("XIV"), rank("12")
    (14, 12)
    """
    if number.isdigit():
        return int(number)
    digits = [{"I": 1, "V": 5, "X": 10}[letter] for letter in number]
    return sum(-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True))


def mapped_in(page: Path) -> set[str]:
    """The numbered things that a page maps to code, a test or a verdict; a slip alone does not count."""
    sections = re.split(r"^## ", prose_of(page), flags=re.MULTILINE)
    rows = [
        line.split(" | ")[0]
        for section in sections
        if not section.startswith(("Slips", "Open"))
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return numbered_in("\n".join(rows))


def numbered_in(text: str) -> set[str]:
    """What a text speaks of: ``Equations 5 to 7`` are three, and ``Figure 3(a)`` is Figure 3."""
    found = set()
    for appendix, kind, numbers in NUMBERED.findall(text):
        if appendix:
            continue
        kind = PLURALS.get(kind, kind)
        last = 0
        for word, number in re.findall(rf"(to )?({NUMBER})\b", numbers):
            first = last + 1 if word else rank(number)
            last = rank(number)
            found |= {f"{kind} {i}" for i in range(first, last + 1)}
    return found


def test_there_is_a_page_for_each_of_the_five_papers() -> None:
    assert all(page.is_file() for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_place_in_the_code_that_is_named_exists(page: Path) -> None:
    places = named_in(page, PLACE)
    missing = []
    for place in places:
        path, _, name = place.partition("::")
        files = files_of(path)
        if len(files) != 1 or (name and name not in names_in(files[0])):
            missing.append(place)

    assert missing == []
    assert len(places) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_public_name_that_is_named_exists(page: Path) -> None:
    for name in named_in(page, DOTTED):
        assert resolve(name) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_that_is_named_is_a_test_and_code_is_never_named_without_its_file(page: Path) -> None:
    for text in CODE.findall(prose_of(page)):
        if "test_" in text:
            assert PLACE.fullmatch(text), text
            path, _, name = text.partition("::")
            assert not name or name.startswith("test_"), text
            assert files_of(path)[0].is_relative_to(ROOT / "tests"), text
        assert "::" not in text or PLACE.fullmatch(text), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_is_named_is_there_to_be_run(page: Path) -> None:
    scripts = SCRIPT.findall(prose_of(page))

    assert set(COMMAND.findall(prose_of(page))) == {page.stem}
    assert [] == [script for script in scripts if not (ROOT / script).is_file()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_numbered_thing_of_the_paper_heads_a_row_of_its_page(page: Path) -> None:
    if page.stem == "minimality":
        expected = set(TOGETHER)
    else:
        expected = {f"{kind} {i}" for kind, n in WHOLE[page.stem].items() for i in range(1, n + 1)}

    assert expected - mapped_in(page) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_its_slips_its_decisions_and_its_experiments(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", prose_of(page), re.MULTILINE)

    assert {"Slips, and what is done instead", "Open in the paper, decided here", "Experiments"} <= set(headings)
    experiments = prose_of(page).partition("## Experiments")[2]
    assert "| claim | verdict |" in experiments
    assert "../" in experiments


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(page: Path) -> None:
    width = 0
    for line in prose_of(page).splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        assert width in (0, cells), line
        width = cells


def test_names_that_are_not_there_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text("class A:\n    x: int = 1\n    def f(self): ...\nB = 2\n", encoding="utf-8")
    page = tmp_path / "some.md"
    page.write_text("## A\n| Lemma 2 | `a/b.py::c` `gh.read` Lemma 3 |\n## Slips\n| Lemma 4 | |\n", encoding="utf-8")
    text = "Equations 5 to 7, 9 and 11; Tables I and IV; Figure 3(a)"

    assert names_in(file) == {"A", "A.x", "A.f", "B"}
    assert named_in(page, PLACE) == ["a/b.py::c"]
    assert mapped_in(page) == {"Lemma 2"}
    assert numbered_in(text) == {*(f"Equation {i}" for i in (5, 6, 7, 9, 11)), "Table 1", "Table 4", "Figure 3"}
    assert files_of("architecture/test_papers.py")
    assert not files_of("architecture/test_paper.py")
