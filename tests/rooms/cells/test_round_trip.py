# SPDX-License-Identifier: Apache-2.0
"""What is written is read back, whatever the values look like; of any other text both readers make the same."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.adversary.cell_codes import CellReader
from glasshouse.cells import (
    Grammar,
    Interval,
    OrMissing,
    Set,
    Value,
    interval,
    key_of,
    parse,
    place_of,
    quoted,
    text_of,
    value_set,
    with_missing,
)
from glasshouse.errors import DomainError
from glasshouse.microdata.domains import code
from glasshouse.supports.proportions import Places
from glasshouse.supports.supports import CellSupports
from tests.tiers import examples

OFFSETS = st.sampled_from([dt.timezone(dt.timedelta(minutes=m)) for m in (-300, 0, 60, 120, 345)])
YEARS = {"min_value": dt.datetime(2, 1, 1), "max_value": dt.datetime(9998, 12, 31)}
LOOKALIKES = ["[1, 2]", "a|b", "<40", ">=40", "40+", "*", "***", "476**", "2020-Q1", "2020-05", "1990s", "F,M", "20-40"]
LOOKALIKES += ["20 to 40", "20..40", "20~40", "(20-40)", "missing", "a or missing", "", " a", "a ", '"', '"a"', "{a}"]
LOOKALIKES += ["NA", "nan", "a, b", "1,000", "true", "2020-01-01", "inf", "[a", "a]", "{", "}", "-5--2", "\n"]
KINDS = {
    "integer": st.integers(-(10**18), 10**18),
    "float": st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    "date": st.dates(),
    "timestamp": st.datetimes(**YEARS),
    "moment": st.datetimes(**YEARS, timezones=OFFSETS),
    "boolean": st.booleans(),
    "category": st.one_of(st.sampled_from(LOOKALIKES), st.text(max_size=12)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joined", [True, False])
@settings(max_examples=examples(300), deadline=None)
@given(data=st.data())
def test_every_written_cell_is_read_back(kind: str, joined: bool, data: st.DataObject) -> None:
    unique = {"unique_by": key_of, "min_size": 1, "max_size": 5}
    values = data.draw(st.lists(KINDS[kind], **unique))
    named = "timestamp" if kind == "moment" else kind
    grammar = Grammar(kind=named, joined=joined)
    expected: Any = Value(values[0]) if len(values) == 1 else Set(tuple(values))

    assert grammar.parse(quoted(values[0])) == Value(values[0])
    assert grammar.parse(value_set(values)) == expected
    assert grammar.parse(with_missing(value_set(values))) == OrMissing(expected)
    if kind in ("category", "boolean"):
        order = values
        grammar = Grammar(kind=named, order=order, joined=joined)
    else:
        order = sorted(values, key=lambda value: place_of(value, named))
    low, high = order[0], order[-1]
    expected = Value(low) if len(order) == 1 else Interval(low, high)
    assert grammar.parse(interval(low, high)) == expected
    assert grammar.parse(with_missing(interval(low, high))) == OrMissing(expected)


@pytest.mark.parametrize("text", LOOKALIKES)
def test_a_text_that_looks_like_a_cell_is_itself_from_publishing_to_the_answer(text: str) -> None:
    people = {"code": [text, text, "plain", "plain"], "ill": ["a", "b", "a", "b"]}
    table = gh.read(people, quasi=["code"], sensitive="ill", missing="category", accept="line-breaks")
    if text in ("", "NA", "nan"):  # read as a missing value, or told apart from one by the reader
        table = gh.read(pa.table(people), quasi=["code"], sensitive="ill", missing="category", accept="line-breaks")
    for recoding in (gh.Boxes(), gh.Anatomy(), gh.Permutation()):
        release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=recoding)
        shown = text.replace("'", "''")
        if text != "" and text == text.strip():
            assert float(gh.query(release, f"SELECT COUNT(*) WHERE code = '{shown}'")) == pytest.approx(2)
        beliefs = gh.attack(release, knowledge=gh.Knowledge(external=table))
        assert beliefs.of(0) == pytest.approx({"a": 0.5, "b": 0.5})
        assert beliefs.present(0) == pytest.approx(1)


DOMAIN = {
    "integer": [-5, 0, 20, 21, 40, 47601, 100_000],
    "float": [-0.5, 0.0, 0.1, 20.0, 40.0],
    "date": [dt.date(2020, 1, 1), dt.date(2020, 5, 31), dt.date(2021, 1, 1)],
    "timestamp": [dt.datetime(2020, 1, 1), dt.datetime(2020, 5, 31, 12, 30), dt.datetime(2021, 1, 1)],
    "boolean": [False, True],
    "category": ["20", "47601", "47602", "F", "M", "a"],
}
PIECES = st.lists(
    st.sampled_from(
        [
            *'[](){}",|*-+~<>=. _:/',
            *("..", " to ", "20", "40", "-5", "0.1", "1e5", "F", "M", "a", "true", "inf", "NA", ", ", "476", "**"),
            *("2020-01-01", "2020", "2020-05-31T12:30:00", "missing", " or missing", "Q1"),
        ]
    ),
    max_size=7,
).map("".join)


@pytest.mark.parametrize("kind", DOMAIN)
@settings(max_examples=examples(800), deadline=None)
@given(text=st.one_of(PIECES, st.text(max_size=15)), joined=st.booleans())
def test_both_readers_make_the_same_of_any_text_or_both_refuse(kind: str, text: str, joined: bool) -> None:
    domain = code(pa.array(DOMAIN[kind]), name="c").domain
    adversary = CellReader(domain, foreign=joined)
    # what the attacker knows as a value, the analyst knows too if it stands in a set of the column
    known = [value_set(DOMAIN["category"])] if kind == "category" else []
    analyst = CellSupports(name="c", kind=kind, cells=[text, *known], foreign=joined)
    try:
        expected = adversary.codes(text).tolist()
    except DomainError:
        with pytest.raises(DomainError):
            analyst.of(text)
        return
    assert [place for run in Places(DOMAIN[kind], kind).inside(analyst.of(text)) for place in run] == expected


@pytest.mark.parametrize(("text", "kind"), [("1e5", "integer"), ("100000", "integer"), ("100000.0", "integer")])
def test_one_number_is_one_value_however_it_is_written(text: str, kind: str) -> None:
    assert parse(text, kind=kind) == Value(100_000)


def test_a_value_of_an_old_release_that_was_not_quoted_is_read_as_a_value() -> None:
    cells = ["a|b", "{a|b, c}", "476**", "{476**, c}", "<40"]
    reader = CellSupports(name="c", kind="category", cells=cells, foreign=False)

    assert [reader.of(cell).listed() for cell in cells] == [
        ("a|b",),
        ("a|b", "c"),
        ("476**",),
        ("476**", "c"),
        ("<40",),
    ]
    domain = code(pa.array(["a", "b", "a|b", "476**", "47601"]), name="c").domain
    adversary = CellReader(domain, foreign=False)
    assert [[domain.texts[c] for c in adversary.codes(cell)] for cell in ("a|b", "476**", "{a, b}")] == [
        ["a|b"],
        ["476**"],
        ["a", "b"],
    ]


def test_texts_are_written_once() -> None:
    assert text_of(True) == "true"
    assert key_of(dt.datetime(2024, 1, 1, tzinfo=dt.UTC)) == "2024-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    "text", ["[1, 2]", "a|b", "<40", ">=2020-01-01", "40+", "*", "476**", "2020-Q1", "F,M", "20-40"]
)
def test_a_text_that_some_column_would_read_as_a_cell_is_published_in_quotes(text: str) -> None:
    assert quoted(text) == f'"{text}"'
    # also where a reader takes the column for numbers, or for categories in an order of numbers
    assert parse(quoted(text), kind="category", order=["20", "30", "40"]) == Value(text)


@pytest.mark.parametrize("text", ["Never-married", "1st-4th", "<=50K", "2020", "F_M", "a+", "-5", "O'Hara (n.)"])
def test_a_text_that_no_column_would_read_as_a_cell_stays_plain(text: str) -> None:
    assert quoted(text) == text
