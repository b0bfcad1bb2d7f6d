"""The words of the documentation: plain English, in the ordinary words of the field, and no riddles.

`FORBIDDEN` has every expression that must not occur, by a short name, with what to write instead. Pages are held to
all of them. The source is held to those in `IN_SOURCE`: add a name there once `python -m pytest` finds it nowhere.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.house import SOURCES, compare, place
from tests.conftest import ROOT

FORBIDDEN = {
    "whoever": (r"\bwhom?ever\b", "an attacker who ..., or anybody who ..."),
    "she": (r"\b(?:she|her|hers|herself)\b", "the attacker, or the person"),
    "he": (r"\b(?:he|his|him|himself)\b", "the analyst, or the person"),
    "adversary": (r"\badversar(?:y|ies)\b", "attacker"),
    "tuple": (r"\btuples?\b", "record"),
    "beforehand": (r"\bequally likely beforehand\b", "equally likely before the release"),
    "holds likely": (
        r"\b(?:holds?|held)\s+(?:\w+\s+){1,6}(?:equally\s+likely|alike|independent)\b",
        "to the attacker, ... are equally likely",
    ),
    "no door": (r"\bno\s+doors?\b", "no way, or no function"),
}
IN_SOURCE: tuple[str, ...] = ("whoever", "she", "beforehand", "holds likely", "no door")

PAPERS = ROOT / "docs" / "papers"
PAGES = sorted(
    page for page in (ROOT / "docs").rglob("*.md") if not page.is_relative_to(PAPERS / "results")
)  # those are written by `glasshouse reproduce`
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPOKEN = ("whoever", "she", "beforehand", "no door")  # also not in what a page shows a command print
OF_PAPERS = ("tuple", "he")  # the papers' own words, where a page goes through a paper line by line


def prose_of(page: Path) -> str:
    """What a person reads on a page: no code, addresses or titles; of the glossary not the words of others."""
    text = re.sub(
        r"`[^`\n]*`|\]\([^)]*\)|: \*[^*]+\*,|(?m:^:::.*$)", " ", FENCE.sub("", page.read_text(encoding="utf-8"))
    )
    return re.sub(r"\|[^|\n]*\|$", "", text, flags=re.MULTILINE) if page.name == "glossary.md" else text


def outputs_of(page: Path) -> str:
    """What a page shows a program or a command print."""
    return "\n".join(text for language, text in FENCE.findall(page.read_text(encoding="utf-8")) if not language)


def found_in(text: str, names: tuple[str, ...] | list[str]) -> Iterator[str]:
    for name in names:
        pattern, instead = FORBIDDEN[name]
        for match in re.finditer(pattern, text, re.IGNORECASE):
            around = " ".join(text[max(0, match.start() - 40) : match.end() + 20].split())
            yield f"{match[0]!r} in {around!r}: write {instead}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_are_in_plain_words(page: Path) -> None:
    names = [name for name in FORBIDDEN if not (page.is_relative_to(PAPERS) and name in OF_PAPERS)]

    assert [] == [*found_in(prose_of(page), names), *found_in(outputs_of(page), SPOKEN)]


@cache
def words_of(source: Path) -> tuple[str, ...]:
    """The strings and comments of a file, without names between backquotes."""
    tokens = tokenize.generate_tokens(io.StringIO(source.read_text(encoding="utf-8")).readline)
    told = (token.string for token in tokens if token.type in (tokenize.STRING, tokenize.COMMENT))
    return tuple(re.sub(r"`[^`\n]*`", " ", text) for text in told)


@pytest.mark.parametrize("name", IN_SOURCE)
def test_the_source_is_in_plain_words(name: str) -> None:
    found = [
        f"{place(source)}: {fault}"
        for source in SOURCES
        for words in words_of(source)
        for fault in found_in(words, [name])
    ]
    templates = sorted((ROOT / "src").rglob("*.html"))
    found += [f"{page.name}: {fault}" for page in templates for fault in found_in(page.read_text("utf-8"), [name])]
    compare("a word that is not plain", found)


def test_the_words_are_found_where_they_are() -> None:
    said = (
        "Whoever holds every table equally likely beforehand, she believes that no door opens to an adversary's tuple."
    )

    assert len(list(found_in(said, list(FORBIDDEN)))) == 7
    assert not list(
        found_in("An attacker who knows the method, to whom all tables are equally likely.", list(FORBIDDEN))
    )
    assert set(IN_SOURCE) <= FORBIDDEN.keys()
