"""The picture of a comparison: nothing overlaps, the axis uses its room, and runs are shown."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import log10
from typing import Any
from xml.etree import ElementTree

import pytest

from glasshouse.comparing.comparison import Row
from glasshouse.pages.charts.frontier import _ticks, frontier

SVG = "{http://www.w3.org/2000/svg}"
METHODS = ("sift", "mirror", "anatomize", "mondrian", "greedy")
RECODINGS = ("boxes", "anatomy", "permutation", "angel")


def rows(**more: Any) -> list[dict[str, Any]]:
    """Ways whose errors lie close to each other, as many as there are in a whole comparison."""
    found = []
    for i, method in enumerate(METHODS):
        for j, recoding in enumerate(RECODINGS):
            error = 0.05 + 0.001 * i + 0.0002 * j
            row = Row(
                method=method,
                recoding=recoding,
                adversary="linking" if i > 2 else "algorithm-aware",
                belief=0.8 if i > 2 else 1 / 3,
                how="sampled" if i > 2 else "bound",
                limit="1/3",
                error=error,
                errors=(error * 0.9, error * 1.1),
                baseline=0.06,
            )
            found.append({**row.to_dict(), "way": row.way, "chosen": (i, j) == (0, 3), "on_edge": i == 0, **more})
    return found


def texts(picture: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """The rectangles that texts take, six and a half pixels for a letter."""
    found = []
    for text in picture.iter(f"{SVG}text"):
        wide, x, y = 6.5 * len(text.text or ""), float(text.get("x", 0)), float(text.get("y", 0))
        left = x - {"middle": wide / 2, "end": wide}.get(text.get("text-anchor", ""), 0.0)
        found.append((left, y - 10, left + wide, y + 2))
    return found


def drawn(found: list[dict[str, Any]]) -> ElementTree.Element:
    return ElementTree.fromstring(frontier(found, style="svg {}").markup)


def test_no_text_lies_over_another_one_or_leaves_the_picture() -> None:
    picture = drawn(rows())
    places = texts(picture)

    assert len(places) > 15
    for (a, b, c, d), (e, f, g, h) in combinations(places, 2):
        assert c <= e or g <= a or d <= f or h <= b, ((a, b, c, d), (e, f, g, h))
    height = float((picture.get("viewBox") or "").split()[3])
    assert all(0 <= left and right <= 720 and top >= 0 and low <= height for left, top, right, low in places)


def test_every_way_has_a_mark_and_a_bar_over_its_runs() -> None:
    picture = drawn(rows())
    kinds = [part.get("class", "").split()[0] for part in picture.iter() if part.get("class")]

    assert kinds.count("mark") == len(METHODS) * len(RECODINGS) + len(RECODINGS)  # and those of the legend
    assert kinds.count("runs") == len(METHODS) * len(RECODINGS)
    assert kinds.count("best") == 1


def test_a_way_that_was_run_once_has_no_bar() -> None:
    assert 'class="runs' not in frontier(rows(errors=())).markup


def test_the_axis_is_as_wide_as_the_errors() -> None:
    marks = [float(part.get("cx", 0)) for part in drawn(rows()).iter(f"{SVG}circle") if part.get("class") != "best"]
    bars = [
        float(part.get(end, 0))
        for part in drawn(rows()).iter(f"{SVG}line")
        for end in ("x1", "x2")
        if part.get("class", "").startswith("runs")
    ]

    assert max(bars) - min(bars) > 300  # of 408 pixels
    assert len(marks) > 5


def test_what_an_attack_found_above_the_promise_stands_out() -> None:
    markup = frontier(rows()).markup

    assert '<text class="above"' not in frontier(rows(belief=1 / 3, how="bound")).markup
    assert markup.count("0.80, found") == 2
    assert markup.count("0.33, proved") == 3


def test_a_comparison_without_figures_is_an_empty_picture() -> None:
    assert "Privacy and utility" in frontier([]).markup


@pytest.mark.parametrize("ends", [(0.14, 0.9), (0.35, 0.75), (0.02, 0.6), (0.001, 1.0), (0.45, 0.95), (0.048, 0.62)])
def test_the_names_of_ticks_do_not_touch(ends: tuple[float, float]) -> None:
    names = _ticks(*ends)
    places = [408 * log10(tick / ends[0]) / log10(ends[1] / ends[0]) for tick in names]
    assert len(names) >= 3
    assert all(b - a >= 43.9 for a, b in pairwise(places))
