# SPDX-License-Identifier: Apache-2.0
"""Quotation marks: the watcher that works by arrays and patterns agrees with one that goes letter by letter."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.microdata.reading.quotes import Breaks, Quotes
from tests.tiers import examples


def slowly(text: str, delimiter: str, n_columns: int) -> tuple[int | None, dict[int, Breaks], int]:
    """The same findings, letter by letter: the line of an open quote, what columns hold, values that go on."""
    found: dict[int, Breaks] = {}
    line, column, at, astray = 1, 0, 0, 0
    field_starts = True
    while at < len(text):
        if text[at] == '"' and field_starts:
            begins, n_breaks, n_delimiters = line, 0, 0
            at += 1
            while True:
                if at >= len(text):
                    return begins, found, astray
                if text[at] == '"':
                    if text[at + 1 : at + 2] != '"':
                        break
                    at += 1
                elif text[at] == "\n" or (text[at] == "\r" and text[at + 1 : at + 2] != "\n"):
                    n_breaks += 1
                    line += 1
                n_delimiters += text[at] == delimiter
                at += 1
            at += 1
            if n_breaks:
                breaks = found.setdefault(column, Breaks())
                breaks.count += 1
                breaks.first_line = breaks.first_line or begins
                if n_columns > 1 and n_delimiters == n_breaks * (n_columns - 1):
                    breaks.joined += 1
                    breaks.first_joined = breaks.first_joined or begins
            astray += at < len(text) and text[at] not in (delimiter, "\r", "\n")
            field_starts = False
            continue
        field_starts = text[at] in (delimiter, "\r", "\n")
        if text[at] == delimiter:
            column += 1
        elif field_starts:
            column = 0
            line += text[at] == "\n" or text[at + 1 : at + 2] != "\n"
        at += 1
    return None, found, astray


def blanked_slowly(text: str, delimiter: str, n_columns: int) -> tuple[str, int]:
    """The text with blank lines for records of empty fields, the first line aside, and how many they are."""
    records, at, begins, field_starts = [], 0, 0, True
    while at < len(text):
        if text[at] == '"' and field_starts:
            at += 1
            while at < len(text) and (text[at] != '"' or text[at + 1 : at + 2] == '"'):
                at += 2 if text[at] == '"' else 1
            at += 1
            field_starts = False
            continue
        if text[at] in "\r\n":
            records += [text[begins:at], text[at]]
            begins = at + 1
        field_starts = text[at] in (delimiter, "\r", "\n")
        at += 1
    records.append(text[begins:])
    n_empty = 0
    for place, record in enumerate(records):
        fields = record.split(delimiter)
        if place and record and len(fields) == n_columns and set(fields) <= {"", '""'}:
            records[place] = ""
            n_empty += 1
    return "".join(records), n_empty


def watched(content: bytes, pieces: list[int], **how: object) -> Quotes:
    quotes = Quotes(**how)  # type: ignore[arg-type]
    at = 0
    for size in [*pieces, len(content)]:
        quotes.feed(content[at : at + size])
        at += size
    quotes.finish()
    return quotes


@settings(max_examples=examples(1200), deadline=None)
@given(
    text=st.lists(
        st.sampled_from(['"', '"', '""', ",", "\n", "\r", "\r\n", "a", "ß", '"a"', '"a,b"', ',"a"\n', '"x""y",'])
    ),
    pieces=st.lists(st.integers(1, 9), max_size=30),
    n_columns=st.integers(1, 3),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_findings_do_not_depend_on_how_the_text_is_cut(
    text: list[str], pieces: list[int], n_columns: int, encoding: str
) -> None:
    whole = "".join(text)
    quotes = watched(whole.encode(encoding), pieces, delimiter=",", n_columns=n_columns, encoding=encoding)
    assert (quotes.open_line, quotes.breaks, quotes.n_astray) == slowly(whole, ",", n_columns)


@settings(max_examples=examples(1200), deadline=None)
@given(
    text=st.lists(st.sampled_from(['"', '""', '"",""', ",", ",,", ",\n", "\n,\n", "\n", "\r", "\r\n", "a", '\n"",\n'])),
    pieces=st.lists(st.integers(1, 9), max_size=30),
    n_columns=st.integers(1, 3),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_empty_records_are_blank_lines_however_the_text_is_cut(
    text: list[str], pieces: list[int], n_columns: int, encoding: str
) -> None:
    whole = "".join(text)
    quotes, content = Quotes(delimiter=",", n_columns=n_columns, encoding=encoding), whole.encode(encoding)
    cuts = [0, *(cut for cut in itertools.accumulate(pieces) if cut < len(content)), len(content)]

    given = [quotes.feed(content[start:stop]) for start, stop in itertools.pairwise(cuts)]
    given.append(quotes.finish())

    assert (b"".join(given).decode(), quotes.n_empty) == blanked_slowly(whole, ",", n_columns)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_mark_that_closes_hundreds_of_lines_later_is_told_from_a_text_of_several_lines(
    end: str, delimiter: str
) -> None:
    rows = [[str(i), "a note", "flu"] for i in range(1000)]
    rows[100][1] = '"stray'
    rows[600][1] = 'stray"'
    rows[700][1] = f'"first, second{end}third"'
    text = "".join(delimiter.join(row) + end for row in [["id", "note", "disease"], *rows])
    quotes = watched(text.encode(), [777] * 20, delimiter=delimiter, n_columns=3, encoding="utf-8")
    assert quotes.open_line is None
    assert quotes.breaks == {1: Breaks(count=2, first_line=102, joined=1, first_joined=102)}


def test_a_byte_order_mark_before_a_quoted_header_is_no_part_of_it() -> None:
    content = b'\xef\xbb\xbf"age\n(years)",disease\n1,flu\n'
    quotes = watched(content, [1, 1], delimiter=",", n_columns=2, encoding="utf-8")
    assert quotes.breaks == {0: Breaks(count=1, first_line=1)}
