"""Whatever names and values are called, every page and every drawing shows them as text, and has no other elements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import glasshouse as gh
import glasshouse.pages
from glasshouse.comparing import Comparison, Row
from glasshouse.pages.charts.exposure import exposure
from glasshouse.pages.charts.frontier import frontier
from glasshouse.pages.charts.lines import line_chart
from glasshouse.pages.charts.report_figures import belief_figure, error_figure, width_figure
from glasshouse.pages.html import environment
from glasshouse.pages.report import Effort
from glasshouse.pages.report.page import page as report_page
from glasshouse.pages.svg import Part, drawing, element, label
from glasshouse.visible import visible
from tests.rooms.pages.test_page import TEMPLATES, read
from tests.rooms.pages.test_report import PATIENTS, made

PAGES = Path(glasshouse.pages.__file__).parent
SOURCES = [*PAGES.rglob("*.py"), *(PAGES.parent / "papers").glob("*.py"), *(PAGES.parent / "comparing").glob("*.py")]
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' onload='alert(1)",
    "{{ 7*7 }}{% include 'style.css' %}{# no #}",
    "</title></style></svg></pre><b>&lt;&#60;",
    "]]><!-- <?xml ",
    "\u202eturned\u2066\u200b",
    "a\nb\tc\x00\x1b[31m",
]
EFFORT = Effort(questions=20, few_questions=20, most_runs=50)
# What is no text from outside: words of a fixed list, and numbers that are written as text.
FIXED = {"adversary", "how", "level", "limit", "bound", "kind", "distance", "layout", "made", "bounded", "exact"}


def poisoned(data: Any, word: str, key: str = "") -> Any:
    """The same data with a word at the place of every text."""
    if isinstance(data, dict):
        outside = key in ("sensitive", "software", "by_attribute")  # whose keys are texts themselves
        return {word if outside and i == 0 else k: poisoned(v, word, k) for i, (k, v) in enumerate(data.items())}
    if isinstance(data, list | tuple):
        return [poisoned(part, word, key) for part in data]
    return word if isinstance(data, str) and key not in FIXED else data


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    release = made(method=gh.Greedy(), recoding=gh.Boxes())
    found = gh.make_report(release, PATIENTS, effort=EFFORT).to_dict()
    found["files"] = [{"name": "data.csv", "bytes": 7, "sha256": "00"}]
    found["notices"], found["bounded"] = ["a notice"], ["something was left out"]
    return found


def elements(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Every element with the names of its attributes, but for places where a long word may be broken."""
    return [(tag, tuple(attributes)) for tag, attributes in read(page, "circle").elements if tag != "wbr"]


@pytest.mark.parametrize("word", HOSTILE)
@pytest.mark.parametrize("kept", [True, False])
def test_a_report_of_hostile_texts_has_the_elements_of_a_harmless_one(
    facts: dict[str, Any], word: str, kept: bool
) -> None:
    facts = {**facts, "kept": kept, "broken": "a claim"}
    page = report_page(poisoned(facts, word))

    assert elements(page) == elements(report_page(poisoned(facts, "plain")))
    assert visible(word) in "".join(read(page).words)
    assert word not in page
    assert not {"\x00", "\x1b", "\u202e", "\u2066", "\u200b"} & set(page)


def comparison(word: str) -> Comparison:
    rows = [
        Row(
            method=f"{word} {i}",
            recoding=word,
            promise=word,
            adversary=word,
            how=word,
            told=word,
            belief=belief,
            error=error,
            limit="1/3",
            baseline=0.2,
        )
        for i, (belief, error) in enumerate([(0.3, 0.2), (0.4, 0.1), (None, 0.3)])
    ]
    failed = Row(method=word, recoding=word, failed=word)
    texts = {"reason": word, "principle": word, "workload": word, "notes": (word,), "left_out": {f"{word}!": word}}
    numbers = {"used_truth": False, "n_tuples": 9, "runs": 1, "seed": 0}
    return Comparison(rows=(*rows, failed), recommended=rows[1], **texts, **numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_comparison_of_hostile_texts_has_the_elements_of_a_harmless_one(word: str) -> None:
    page = comparison(word).to_html()
    titles = [
        attributes["title"]
        for tag, attributes in read(page, "circle").elements
        if tag == "td" and attributes.get("title")
    ]

    assert elements(page) == elements(comparison("plain").to_html())
    assert titles == [visible(word)] * 3
    assert word not in page


# --- drawings ---------------------------------------------------------------------------------------------------------


def drawings(facts: dict[str, Any], word: str) -> Iterator[Part]:
    believed = next(found for found in facts["beliefs"] if found["ran"])
    yield belief_figure({**believed, "adversary": word}, "b", style="")
    yield frontier(comparison(word).shown()["rows"], style="")
    yield exposure(word, np.array([0.1, 0.5]), Fraction(1, 3))
    yield line_chart(word, word, word, {word: {1: 2.0, 2: 3.0}, "other": {1: 1.0, 2: None}}, log=True)
    for inside in (error_figure({**facts["utility"][0], "workload": word}, "e"), width_figure({word: 0.5}, "w")):
        yield Part(inside.markup.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


@pytest.mark.parametrize("word", HOSTILE)
def test_drawings_of_hostile_texts_have_the_elements_of_harmless_ones(facts: dict[str, Any], word: str) -> None:
    for drawn, harmless in zip(drawings(facts, word), drawings(facts, "plain"), strict=True):
        found, plain = ElementTree.fromstring(str(drawn)), ElementTree.fromstring(str(harmless))

        assert [(e.tag, list(e.attrib)) for e in found.iter()] == [(e.tag, list(e.attrib)) for e in plain.iter()]
        said = "".join(found.itertext())
        assert visible(word)[:20] in said
        assert word not in str(drawn)


@pytest.mark.parametrize("word", HOSTILE)
def test_a_text_comes_back_from_an_element_and_from_its_attributes(word: str) -> None:
    read_again = ElementTree.fromstring(str(element("text", word, class_=word, id=word)))

    assert [read_again.text, *read_again.attrib.values()] == [visible(word)] * 3
    assert ElementTree.fromstring(str(label(1, 2, word, anchor=word))).attrib["text-anchor"] == visible(word)
    framed = ElementTree.fromstring(str(drawing(1, 1, word, word, [], name=word, font_family=word, style="")))
    assert [part.text for part in framed] == [visible(word)] * 2
    assert [framed[0].attrib["id"], framed.attrib["font-family"]] == [visible(f"{word}-title"), visible(word)]


# --- by construction --------------------------------------------------------------------------------------------------


def test_no_template_lets_a_text_through_as_markup() -> None:
    for path in TEMPLATES.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*(safe|tojson|xmlattr|urlize)|autoescape|\{%-?\s*raw|Markup|__html__", text), (
            path.name
        )
    assert environment().autoescape is True


def test_a_name_that_a_template_misspells_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        environment().from_string("{{ facts.guarante }}").render(facts={})


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_markup_is_written_by_templates_and_by_the_kit_alone(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docstrings
    ]
    calls = [ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)]
    if path.name == "svg.py":
        return
    assert [n.value for n in texts if re.search(r"</?[a-z]+[\s/>]|&[a-z#0-9]+;", n.value)] == []
    assert not {"Markup", "escape", "in_markup"} & set(calls)
    assert "Part" not in calls or path == PAGES / "comparison_page.py"  # the style sheet of the marks
