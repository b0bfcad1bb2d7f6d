"""The page: self-contained, well-formed, readable by everybody, and harmless whatever columns and values are called."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
import glasshouse.pages
from glasshouse.pages.charts.person_beliefs import person_figure
from glasshouse.pages.charts.report_figures import belief_figure, error_figure, width_figure
from glasshouse.pages.html import environment
from glasshouse.pages.report import Effort
from glasshouse.pages.report.usefulness import PERCENTILES
from tests.rooms.pages.test_report import PATIENTS, SAMPLES, made

TEMPLATES = Path(glasshouse.pages.__file__).parent / "templates"
STYLE = (TEMPLATES / "style.css").read_text(encoding="utf-8")
EFFORT = Effort(questions=40, few_questions=20, most_runs=200)
VOID = {"meta", "wbr", "br", "hr", "img", "link", "input"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "h1", "h2", "h3", "p", "a"),
    *("ul", "li", "dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "pre"),
    *("figcaption", "bdi", "b", "em", "wbr", "svg", "desc", "rect", "line", "polyline", "text"),
}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title><script src=//x></script>",
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "\u202eright to left",
    "bell\x07 and null\x00",
    "a" * 300,
]


class Strict(HTMLParser):
    """Reads a page, and refuses what a browser would only mend: tags left open, closed twice, or not known."""

    def __init__(self, *more: str) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed = {*ALLOWED, *more}
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.allowed, tag
        assert len({key for key, _ in attrs}) == len(attrs), "an attribute twice"
        self.elements.append((tag, dict(attrs)))
        self.inside.setdefault(self.open[-1] if self.open else "", []).append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> outside a figure"
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


def read(page: str, *more: str) -> Strict:
    """Read a page, which may have more elements than a report has."""
    reader = Strict(*more)
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def hostile_table() -> gh.Microdata:
    columns = {word: [f"{HOSTILE[i % 8]}{i % 4}" for i in range(48)] for word in HOSTILE[:3]}
    sensitive = {HOSTILE[3]: [HOSTILE[i % 8] for i in range(48)]}
    return gh.read({**columns, **sensitive, HOSTILE[5]: [1] * 48}, quasi=HOSTILE[:3], sensitive=HOSTILE[3])


@pytest.fixture(scope="module", params=[*SAMPLES, "hostile", "k", "bounded"])
def page(request: pytest.FixtureRequest) -> str:
    if request.param == "hostile":
        table = hostile_table()
        release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Boxes(), source=gh.Source.seeded(1))
        return gh.make_report(release, table, effort=EFFORT).to_html()
    if request.param == "k":
        table = gh.read(gh.synthetic.hospital_table(n=100, seed=1), quasi=["age", "sex"])
        release = gh.publish(table, principle=gh.KAnonymity(k=3), source=gh.Source.seeded(1))
        return gh.make_report(release, table).to_html()
    effort = Effort(most_rows=10, most_linked=10) if request.param == "bounded" else EFFORT
    return gh.make_report(made(**SAMPLES.get(request.param, {})), PATIENTS, effort=effort).to_html()


def test_the_page_is_well_formed(page: str) -> None:
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    read(page)


def test_nothing_runs_and_nothing_is_fetched(page: str) -> None:
    for tag, attributes in read(page).elements:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
        for key, value in attributes.items():
            assert not key.startswith("on")
            assert key not in {"src", "srcset", "style", "xlink:href", "action", "data", "background"}
            if key == "href":
                assert re.fullmatch(r"#[a-z]+", value or "")
    assert not re.search(r"url\(|@import|expression\(", STYLE)
    assert "http:" not in page
    assert "https:" not in page
    assert "javascript:" not in page
    assert "default-src 'none'" in page


def test_headings_captions_and_titles_are_there_for_those_who_listen(page: str) -> None:
    reader = read(page)
    tags = [tag for tag, _ in reader.elements]
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]

    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert tags.count("table") == tags.count("caption")
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in reader.elements if tag == "th")
    assert len(set(ids)) == len(ids)
    for tag, attributes in reader.elements:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert set((attributes["aria-labelledby"] or "").split()) <= set(ids)
        if tag == "a":
            assert (attributes["href"] or "")[1:] in ids
    assert tags.count("svg") == tags.count("desc") == tags.count("figure")
    assert tags.count("title") == tags.count("svg") + 1


def test_hostile_names_and_values_are_shown_as_they_are_and_do_nothing() -> None:
    table = hostile_table()
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Boxes(), source=gh.Source.seeded(1))
    page = gh.make_report(release, table, effort=EFFORT).to_html()
    words = "".join(read(page).words)

    for word in HOSTILE[:4]:
        assert word in words
        assert word not in page
    assert "\x00" not in page
    assert "\x07" not in page


def text(value: object) -> str:
    return environment().from_string("{{ value }}").render(value=value)


def name(value: object) -> str:
    return environment().from_string('{% from "name.html" import name %}{{ name(value) }}').render(value=value)


def test_texts_are_escaped_and_long_names_may_be_broken() -> None:
    assert text('<a href="x">&\x00') == "&lt;a href=&#34;x&#34;&gt;&amp;\\x00"
    assert text("\u202etxt\u2066") == "\\u202etxt\\u2066"
    assert name("<b>") == '<bdi class="name">&lt;b&gt;</bdi>'
    assert "<wbr>" in name("&" * 100)
    assert "".join(read(f"<p>{name('&' * 100)}</p>").words) == "&" * 100
    assert text(None) == "missing"


@pytest.mark.parametrize("sample", ["angel", "boxes", "anatomy"])
def test_the_numbers_on_the_page_are_those_of_the_data(sample: str) -> None:
    report = gh.make_report(made(**SAMPLES[sample]), PATIENTS, effort=EFFORT)
    facts, page = report.to_dict(), report.to_html()
    sections = dict(re.findall(r'<section id="(\w+)">(.*?)</section>', page, re.DOTALL))

    achieved = facts["achieved"]["sensitive"]["disease"]
    for number in (achieved["alpha"]["value"], achieved["entropy_ell"]["value"], achieved["t"]["value"]):
        assert f">{number:.6f}<" in sections["achieved"]
    assert f">{achieved['ell']['value']}<" in sections["achieved"]
    assert f">{achieved['distinct_ell']['value']}<" in sections["achieved"]
    assert f">{facts['findable'][0]['k']}<" in sections["achieved"]
    for found in facts["beliefs"]:
        if found["ran"]:
            assert f">{found['largest']:.4f}<" in sections["beliefs"]
            assert f">{found['median']:.4f}<" in sections["beliefs"]
            assert f">{found['people_above']:,} (" in sections["beliefs"]
    for found in facts["utility"]:
        for error in (found["release"]["mean"], found["release"]["median"], found["no_link"]["mean"]):
            assert re.search(rf">{re.escape(shown(error))}<", sections["utility"])
    assert f">{facts['losses']['ncp']:.4f}<" in sections["losses"]
    assert f">{facts['losses']['discernibility']:,}<" in sections["losses"]
    assert facts["software"]["glasshouse"] in sections["files"]


def shown(share: float) -> str:
    return f"{share:.2%}" if share < 0.1 else f"{share:.1%}"


def test_every_bar_and_every_person_above_the_promise_is_drawn() -> None:
    report = gh.make_report(made(method=gh.Greedy(), recoding=gh.Boxes()), PATIENTS, effort=EFFORT)
    found = report.to_dict()["beliefs"][1]
    figure = re.findall(r"<svg.*?</svg>", report.to_html(), re.DOTALL)[1]
    bars = re.findall(r'<rect class="bar( above elsewhere)?"[^>]*height="([\d.]+)"', figure)
    edges, people = found["histogram"]["edges"], found["histogram"]["people"]

    assert len(bars) == sum(n > 0 for n in people)
    beyond = [n for low, n in zip(edges, people, strict=False) if n and low >= 1 / 3 - 1e-9]
    assert len(beyond) == sum(bool(above) for above, _ in bars) > 0
    assert all(float(height) >= 2 for _, height in bars)
    assert "for comparison: 1/3, guaranteed against others" in figure


def test_a_limit_that_is_not_guaranteed_against_an_attacker_is_there_for_comparison() -> None:
    report = gh.make_report(made(method=gh.Greedy(), recoding=gh.Boxes()), PATIENTS, effort=EFFORT)
    drawn = re.findall(r"<figure>.*?</figure>.*?</table>", report.to_html(), re.DOTALL)
    found = [one for one in report.to_dict()["beliefs"] if one["ran"]]

    assert [one["promised"] for one in found] == [True, False, False]
    for one, html in zip(found, drawn, strict=False):
        if one["promised"]:
            assert ">guaranteed: at most 1/3<" in html
            assert ">guaranteed: at most</th>" in html
            assert ">largest probability, compared with the guarantee</th>" in html
            assert "elsewhere" not in html
        else:
            assert "guaranteed: at most" not in html
            assert ">for comparison, guaranteed against other attackers: at most</th>" in html
            assert ">largest probability, compared with this limit</th>" in html
            assert 'class="limit elsewhere"' in html


@pytest.mark.parametrize("limit", ["1/100", "1/5", "2/5", "9/20", "1/2", "3/5", "19/20"])
@pytest.mark.parametrize("promised", [True, False])
def test_the_words_beside_the_line_of_a_limit_are_inside_of_the_drawing(limit: str, promised: bool) -> None:
    histogram = {"edges": [0.0, 1.0], "people": [3]}
    found = {"histogram": histogram, "limit": limit, "promised": promised, "adversary": "linking", "median": 0.1}
    found |= {"largest": 0.1, "people_above": 0}
    one = person_figure([("flu", 0.9)], (limit, float(Fraction(limit))), promised=promised, name="p")
    for figure in (str(belief_figure(found, "b")), str(one)):
        x, _, anchor, words = re.findall(
            r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)" class="limit[^"]*">([^<]+)<', figure
        )[0]
        assert limit in words
        assert (0 < float(x) - 6.2 * len(words)) if anchor == "end" else (float(x) + 6.2 * len(words) < 680)


@pytest.mark.parametrize(
    ("principle", "n"),
    [
        (gh.LDiversity(ell=2), 0),
        (gh.TCloseness(t="0.9"), 1),
        (gh.AllOf(principles=[gh.LDiversity(ell=2), gh.TCloseness(t="0.9")]), 1),
    ],
)
def test_t_is_said_to_be_asked_for_only_if_it_was(principle: gh.Principle, n: int) -> None:
    release = gh.publish(PATIENTS, principle=principle, source=gh.Source.seeded(1))
    html = gh.make_report(release, PATIENTS, effort=EFFORT).to_html()
    assert "t-closeness, equal distance" in html
    assert html.count("the one that was asked for") == n


def test_no_curve_of_errors_runs_through_the_legend() -> None:
    always = [0.001] * len(PERCENTILES)  # the curve that rises at the very left
    each = {"percentiles": always, "median": 0.1}
    found = {"workload": "", "release": each, "no_link": each}
    figure = str(error_figure(found, "e"))
    highest = min(
        float(y) for points in re.findall(r'points="([^"]+)"', figure) for y in re.findall(r",([\d.]+)", points)
    )
    legend = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)">from ', figure)]
    assert len(legend) == 2
    assert max(legend) + 4 < highest
    assert "logarithmic scale" in figure


def test_drawings_and_long_texts_keep_their_width_on_a_narrow_screen() -> None:
    html = gh.make_report(made(), PATIENTS, effort=EFFORT).to_html()
    assert html.count('<figure><div class="wide"><svg') == html.count("<figure>") > 0
    assert "figure .wide svg { min-width: 40rem; }" in html
    assert "td.prose, th.prose { min-width: 16rem; }" in html
    assert re.search(r"what a cell means</th>.*?<td class=\"prose\">", html, re.DOTALL)


def test_a_figure_of_no_width_has_no_bar_and_a_small_one_is_seen() -> None:
    figure = str(width_figure({"exact": 0.0, "little": 0.0001, "all": 1.0}, "w"))
    widths = [float(width) for width in re.findall(r'<rect class="bar"[^>]*width="([\d.]+)"', figure)]

    assert widths[:2] == [0.0, 2.0]
    assert widths[2] > 300


# --- colours ----------------------------------------------------------------------------------------------------------


def colours() -> dict[str, dict[str, str]]:
    """The colours by day, by night, and on paper."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    return dict(
        zip(("day", "night", "paper"), (dict(re.findall(r"--([\w-]+): (#\w+);", b)) for b in blocks), strict=True)
    )


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("when", ["day", "night", "paper"])
def test_letters_stand_out_from_what_is_behind_them(when: str) -> None:
    of: dict[str, Any] = colours()[when]
    letters = [(word, ground) for word in ("ink", "soft", "leaf", "stop", "care") for ground in ("paper", "wash")]
    letters += [("leaf", "leaf-wash"), ("stop", "stop-wash"), ("care", "care-wash"), ("soft", "leaf-wash")]
    letters += [("ink", "stop-wash"), ("ink", "care-wash"), ("soft", "stop-wash"), ("soft", "care-wash")]

    assert [] == [pair for pair in letters if contrast(of[pair[0]], of[pair[1]]) < 4.5]
    drawn = [(line, "wash") for line in ("bar", "leaf", "other", "stop")]
    assert [] == [pair for pair in drawn if contrast(of[pair[0]], of[pair[1]]) < 3]


def test_the_page_is_laid_out_for_paper() -> None:
    assert "@page { size: A4;" in STYLE
    assert "@media print" in STYLE
    assert "prefers-color-scheme: dark" in STYLE
