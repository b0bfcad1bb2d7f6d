# SPDX-License-Identifier: Apache-2.0
"""Names of papers and theorems are explained wherever a person reads a reason, and as the documentation has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.references import PAPERS, PROOFS, explained
from tests.conftest import ROOT
from tests.words.sentences import sentences

DOCS = ROOT / "docs"


def words(text: str) -> str:
    """A text in small letters, without what is set between words."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_the_one_that_the_documentation_names(name: str) -> None:
    authors, _, title_and_year = PAPERS[name].partition(": ")
    title, _, year = title_and_year.rpartition(", ")
    page = " ".join((DOCS / "papers" / f"{name.lower()}.md").read_text(encoding="utf-8").split())
    assert page.startswith(f"# {name} {authors}: *{title}*, ")
    assert year in page[: page.index(". ", page.index(title))]
    assert words(title) in words((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.mark.parametrize("theorem", PROOFS)
def test_a_theorem_is_on_the_page_of_that_title(theorem: str) -> None:
    pages = [page.read_text(encoding="utf-8") for page in (*DOCS.glob("*.md"), *DOCS.glob("methods/*.md"))]
    (page,) = [page for page in pages if page.startswith(f"# {PROOFS[theorem]}\n")]
    assert re.search(rf"^(\*\*|## )Theorem {theorem}\b", page, re.MULTILINE)


def test_every_theorem_that_is_printed_is_known() -> None:
    printed = " ".join(text for told in sentences().values() for text in told)
    assert set(re.findall(r"Theorem ([A-Z]\d)\b", printed)) <= PROOFS.keys()


def test_where_a_person_reads_a_reason_its_names_are_explained(tmp_path: Path) -> None:
    release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2), method=gh.Anatomize())
    told = release.guarantee.references
    assert told == explained(release.guarantee.theorem)
    assert [text.partition(" is ")[0] for text in told] == ["ANATOMY", "ANGEL", "MINIMALITY"]
    release.save(tmp_path / "release")
    readme = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    for text in told:
        assert words(text) in words(readme)
        assert words(text) in words(str(release.guarantee))
        assert text not in str(release.guarantee.to_data())
