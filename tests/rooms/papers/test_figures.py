"""Drawings: well-formed, whole, and honest about gaps and heights."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

from glasshouse.papers.results import Figure, Table, as_csv, as_markdown

SVG = "{http://www.w3.org/2000/svg}"


def figure(curves: dict[str, dict[float, float | None]], *, log: bool = False) -> Figure:
    return Figure(name="figure-1a", title="A & <B>", x="l", y="error (%)", curves=curves, log=log)


def drawn(shown: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(shown.drawn())


def marks(root: ElementTree.Element) -> list[tuple[float, float]]:
    """Places of the first curve's marks, but for the last, which is in the key."""
    return [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{SVG}circle")][:-1]


def test_every_measured_point_is_marked_and_a_gap_breaks_the_line() -> None:
    root = drawn(figure({"ours": {1: 1.0, 2: 2.0, 3: None, 4: 3.0, 5: 4.0, 6: 5.0}}))

    lines = [line.attrib["points"].split() for line in root.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 3]
    assert len(marks(root)) == 5


def test_heights_compare_for_the_axis_begins_at_nothing() -> None:
    root = drawn(figure({"ours": {1: 0.0, 2: 10.0, 3: 20.0}}))

    (_, none), (_, half), (_, whole) = marks(root)
    assert abs((none - half) - (half - whole)) < 0.11
    assert "0" in [text.text for text in root.iter(f"{SVG}text")]


def test_equal_quotients_are_equal_heights_on_a_logarithmic_axis() -> None:
    root = drawn(figure({"ours": {1: 0.1, 2: 1.0, 3: 10.0, 4: 0.0}}, log=True))

    heights = [y for _, y in marks(root)]
    assert len(heights) == 3  # a logarithm has no place for 0
    assert abs((heights[0] - heights[1]) - (heights[1] - heights[2])) < 0.11


def test_a_drawing_has_no_script_and_fetches_nothing() -> None:
    text = figure({"ours": {1: 1.0}, "theirs": {1: None}}).drawn()

    assert "<script" not in text
    assert "href" not in text
    assert text.count("http") == 1  # the name of the language itself
    assert "A &amp; &lt;B&gt;" in text


def test_a_figure_without_any_measurement_is_still_drawn() -> None:
    root = drawn(figure({"ours": {1: None, 2: None}}, log=True))

    assert marks(root) == []


def test_numbers_are_whole_in_csv_and_empty_where_there_are_none() -> None:
    shown = figure({"ours": {2: 1 / 3, 4: None}, "theirs, too": {2: 1e-9, 4: 7.0}})

    rows = list(csv.reader(io.StringIO(as_csv(shown))))
    assert rows[0] == ["l", "ours", "theirs, too"]
    assert [float(rows[1][1]), float(rows[1][2]), rows[2][1]] == [1 / 3, 1e-9, ""]


def test_a_table_reads_like_one() -> None:
    shown = Table(name="table-1", title="T", columns=["", "a"], rows=[["here", 0.12345], ["there", None]])

    assert as_markdown(shown).splitlines() == ["|  | a |", "| --- | --: |", "| here | 0.123 |", "| there | - |"]
