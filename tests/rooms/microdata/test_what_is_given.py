# SPDX-License-Identifier: Apache-2.0
"""Whatever is given to `read` and `inspect` is taken or refused in our own words, in time that grows with its size."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import glasshouse as gh

PEOPLE: dict[str, Any] = {"age": [1, 2], "disease": ["flu", "gout"]}
ODD: list[Any] = [1, 1.5, b"age", [1], [None], {1: 2}, ["age", None], print, "\ud800", {"\ud800": 1}]


def told(refusal: pytest.ExceptionInfo[gh.GlasshouseError]) -> str:
    text = str(refusal.value)
    text.encode()  # can be printed
    return text


@pytest.mark.parametrize("value", ODD, ids=ascii)
@pytest.mark.parametrize(
    "option",
    ["quasi", "sensitive", "identifier", "ordered", "taxonomies", "bins", "bottom", "top", "categorical", "normalise",
     "accept", "missing", "repeated", "random"],
)  # fmt: skip
def test_options_of_another_type_are_refused(option: str, value: Any) -> None:
    with pytest.raises(gh.InputError) as refusal:
        gh.read(PEOPLE, **{"quasi": ["age"], "sensitive": "disease", option: value})
    told(refusal)


@pytest.mark.parametrize("option", ["ordered", "taxonomies", "bins"])
@pytest.mark.parametrize("value", [1, b"x", print], ids=ascii)
def test_so_is_what_they_say_of_a_column(option: str, value: Any) -> None:
    with pytest.raises(gh.InputError) as refusal:
        gh.read(PEOPLE, quasi=["age"], sensitive="disease", **{option: {"disease": value}})
    told(refusal)


@pytest.mark.parametrize("option", ["delimiter", "encoding", "decimal"])
@pytest.mark.parametrize("value", [1, [1], {}, "\ud800"], ids=ascii)
def test_so_are_options_of_a_file(tmp_path: Path, option: str, value: Any) -> None:
    (tmp_path / "t.csv").write_text("age,disease\n1,flu\n2,gout\n")
    with pytest.raises(gh.ParameterError) as refusal:
        gh.read(tmp_path / "t.csv", quasi=["age"], sensitive="disease", **{option: value})
    told(refusal)


def test_columns_that_a_frame_names_by_numbers_are_read_under_their_texts() -> None:
    frame = pd.DataFrame({0: [1, 2], 1: ["flu", "gout"]})
    assert gh.read(frame, quasi=["0"], sensitive="1").n_tuples == 2
    for read in (lambda: gh.read(frame, quasi=["0"], sensitive=1), lambda: gh.inspect(frame, sensitive=1)):  # type: ignore[arg-type]
        with pytest.raises(gh.SchemaError, match=r"named by a text, not by a int.*'0', '1'"):
            read()


def test_a_text_that_is_not_unicode_is_refused_without_being_shown() -> None:
    texts = ["gonorrhoea\ud800", "flu"]
    frames = [{"age": [1, 2], "d": texts}, pd.DataFrame({"age": [1, 2], "d": pd.Series(texts, dtype=object)})]
    for frame in frames:
        (left_out,) = [
            notice for notice in gh.inspect(frame).notices if "cannot be read: column 'd' has texts" in notice
        ]
        assert "gonorrh" not in left_out
        for read in (lambda f: gh.read(f, quasi=["age"], sensitive="d"), lambda f: gh.inspect(f, sensitive="d")):
            with pytest.raises(gh.DomainError, match="'d' has texts that are not Unicode") as refusal:
                read(frame)
            assert "gonorrh" not in told(refusal)
    with pytest.raises(gh.SchemaError, match=r"column 2 .* is not Unicode") as schema:
        gh.inspect({"age": [1, 2], "d\ud800": ["flu", "gout"]})
    told(schema)


@pytest.mark.parametrize("name", [b"t\xe9.csv", b"gone\xe9.csv"])
def test_a_file_whose_name_is_not_utf_8_is_refused_in_words_that_can_be_printed(tmp_path: Path, name: bytes) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/t\xe9.csv")).write_text("age,disease\n1,flu\n2,gout\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    path = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    for read in (lambda: gh.read(path, quasi=["age"], sensitive="disease"), lambda: gh.inspect(Path(path))):
        with pytest.raises(gh.SourceError, match="is not UTF-8: rename") as refusal:
            read()
        told(refusal)
    with pytest.raises(gh.SourceError, match="there is no file") as refusal:  # which names no such file as a near one
        gh.read(tmp_path / "te.csv", quasi=["age"], sensitive="disease")
    told(refusal)


def test_an_order_of_very_many_categories_takes_no_time_worth_mentioning() -> None:
    values = [f"c{i:07}" for i in range(60_000)]
    one = pa.array(values)
    shared = [
        pa.DictionaryArray.from_arrays(pa.array(range(i, i + 60), pa.int32()), one, ordered=True)
        for i in range(0, 60_000, 60)
    ]
    people = {"x": values, "s": ["a", "b"] * 30_000}
    begun = time.process_time()
    declared = gh.read(people, quasi=["x"], sensitive="s", ordered={"x": values})
    brought = gh.read({**people, "x": pa.chunked_array(shared)}, quasi=["x"], sensitive="s")
    assert time.process_time() - begun < 5  # by comparing each with all others, more than half a minute
    assert declared.column("x").domain.values.equals(brought.column("x").domain.values)
    with pytest.raises(gh.DomainError, match="repeats 'c0000007'"):
        gh.read(people, quasi=["x"], sensitive="s", ordered={"x": [*values, "c0000007"]})


@pytest.mark.parametrize(
    ("limit", "words"), [(10**23, "large"), (-(10**23), "small"), (2**63, "large"), (1e30, "large")]
)
@pytest.mark.parametrize("option", ["bottom", "top"])
def test_a_limit_that_is_too_large_for_a_number_is_told_so(option: str, limit: float, words: str) -> None:
    with pytest.raises(gh.DomainError, match=f"the limit for column 'age' is too {words}: give one"):
        gh.read(PEOPLE, quasi=["age"], sensitive="disease", **{option: {"age": limit}})  # type: ignore[arg-type]


def test_an_option_for_a_column_that_is_there_does_not_say_that_it_is_not() -> None:
    people = {**PEOPLE, "pay": [10, 20]}
    with pytest.raises(gh.SchemaError, match="column 'pay' has no role: give it one, or leave top= out for it"):
        gh.read(people, quasi=["age"], sensitive="disease", top={"pay": 15})
    with pytest.raises(gh.SchemaError, match=r"column 'disease' is sensitive: leave top= out .* can be given for age"):
        gh.read(people, quasi=["age"], sensitive="disease", top={"disease": 15})
    with pytest.raises(gh.SchemaError, match="there is no column 'pai'"):
        gh.read(people, quasi=["age"], sensitive="disease", top={"pai": 15})


def test_a_column_within_the_name_of_the_only_one_asks_for_the_delimiter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("nr:age:disease\n1:20:flu\n2:30:gout\n")
    with pytest.raises(
        gh.SchemaError, match=r"has a single one, 'nr:age:disease': say what separates its fields .delim"
    ):
        gh.read(tmp_path / "a.csv", quasi=["age"], sensitive="disease")
    assert gh.read(tmp_path / "a.csv", quasi=["age"], sensitive="disease", delimiter=":").n_tuples == 2


def test_inspect_leaves_out_what_cannot_be_read() -> None:
    people = {**PEOPLE, "visits": [[1], [2]]}
    found = gh.inspect(people)
    assert [column.name for column in found.columns] == ["age", "disease"]
    assert any("because it cannot be read: column 'visits' has lists" in notice for notice in found.notices)
    with pytest.raises(gh.DomainError, match="column 'visits' has lists"):
        gh.inspect(people, sensitive="visits")
