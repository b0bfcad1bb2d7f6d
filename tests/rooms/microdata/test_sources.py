# SPDX-License-Identifier: Apache-2.0
"""Tables come in by many doors and stand there in one form; what cannot come in is told why, without its values."""

from __future__ import annotations

import decimal
import gzip
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, ipc

from glasshouse.errors import DomainError, GlasshouseError, ParameterError, SchemaError, SourceError
from glasshouse.microdata.reading import normal_form as normalise_module
from glasshouse.microdata.reading.delimited import HEAD_BYTES, detect_delimiter
from glasshouse.microdata.reading.sources import NULL_SPELLINGS, Source, open_source
from glasshouse.streaming.batches import open_stream

SECRET = "leprosy"  # a value that no message may show

PEOPLE = pa.table(
    {
        "zip": ["01234", None, "99999", "12345"],
        "age": pa.array([30, None, 7, -2], pa.int64()),
        "height": [1.5, 1.75, None, -0.25],
        "smoker": [True, False, None, True],
        "born": pa.array([date(1990, 1, 31), None, date(2017, 2, 1), date(1600, 12, 31)], pa.date32()),
        "seen": pa.array(
            [datetime(2024, 5, 6, 7, 8, 9), None, datetime(2024, 1, 1), datetime(1999, 12, 31, 23, 59, 59)],
            pa.timestamp("us"),
        ),
        "disease": ["flu", "ulcer", None, "gout, acute"],
    }
)


def csv_file(folder: Path, text: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def column(source: Any, name: str = "a", **options: Any) -> pa.Array:
    return open_source(source, **options).table.column(name).chunk(0)


# ------------------------------------------------------------------------------------------ one table, every door


def as_pandas(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get)


CONNECTIONS: list[Any] = []  # a relation of an earlier DuckDB does not keep its connection open


def as_duckdb(table: pa.Table) -> Any:
    connection = duckdb.connect()
    CONNECTIONS.append(connection)
    connection.register("people", table)
    return connection.table("people")


def from_sql(query: str) -> Any:
    CONNECTIONS.append(duckdb.connect())
    return CONNECTIONS[-1].sql(query)


def as_stream(table: pa.Table) -> Any:
    class Foreign:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table.__arrow_c_stream__(requested_schema)

    return Foreign()


def written(write: Callable[[pa.Table, Path], None], name: str) -> Callable[[pa.Table, Path], Path]:
    def door(table: pa.Table, folder: Path) -> Path:
        write(table, folder / name)
        return folder / name

    return door


def write_compressed_csv(table: pa.Table, path: Path) -> None:
    with pa.output_stream(path) as file:  # compression by suffix
        arrow_csv.write_csv(table, file)


def write_stream(table: pa.Table, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=2)


DOORS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": written(arrow_csv.write_csv, "people.csv"),
    "csv as text path": lambda table, folder: str(DOORS["csv"](table, folder)),
    "csv.gz": written(write_compressed_csv, "people.csv.gz"),
    "csv.zst": written(write_compressed_csv, "people.csv.zst"),
    "pandas csv": written(lambda table, path: as_pandas(table).to_csv(path, index=False), "pandas.csv"),
    "semicolons": written(lambda table, path: as_pandas(table).to_csv(path, index=False, sep=";"), "semi.csv"),
    "tabs": written(lambda table, path: as_pandas(table).to_csv(path, index=False, sep="\t"), "people.tsv"),
    "utf-16": written(lambda table, path: as_pandas(table).to_csv(path, index=False, encoding="utf-16"), "wide.txt"),
    "parquet": written(pq.write_table, "people.parquet"),
    "parquet with another name": written(pq.write_table, "people.csv"),
    "parquet from pandas": written(lambda table, path: as_pandas(table).to_parquet(path), "pandas.parquet"),
    "parquet from polars": written(lambda table, path: pl.from_arrow(table).write_parquet(path), "polars.parquet"),
    "feather": written(feather.write_feather, "people.feather"),
    "arrow stream": written(write_stream, "people.arrows"),
    "pandas": lambda table, _: as_pandas(table),
    "pandas numpy": lambda table, _: table.to_pandas(date_as_object=True),
    "pandas shuffled index": lambda table, _: as_pandas(table).set_index(pd.Index([3, 1, 0, 2])),
    "pandas categories": lambda table, _: as_pandas(table).astype({"zip": "category", "disease": "category"}),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "polars categories": lambda table, _: pl.from_arrow(table).with_columns(pl.col("disease").cast(pl.Categorical)),
    "duckdb": lambda table, _: as_duckdb(table),
    "arrow": lambda table, _: table,
    "arrow chunks": lambda table, _: pa.Table.from_batches(table.to_batches(max_chunksize=1)),
    "record batch": lambda table, _: table.to_batches()[0],
    "batch reader": lambda table, _: table.to_reader(max_chunksize=2),
    "foreign stream": lambda table, _: as_stream(table),
    "dict": lambda table, _: table.to_pydict(),
}


@pytest.mark.parametrize("door", DOORS)
def test_the_same_table_through_every_door_is_the_same_normalised_table(door: str, tmp_path: Path) -> None:
    opened = open_source(DOORS[door](PEOPLE, tmp_path))

    assert opened.table.schema == PEOPLE.schema
    assert opened.table.to_pydict() == PEOPLE.to_pydict()
    assert opened.columns == tuple(PEOPLE.column_names)
    assert {column.num_chunks for column in opened.table.columns} == {1}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_loads_only_the_columns_asked_for_and_names_them_all(door: str, tmp_path: Path) -> None:
    opened = open_source(DOORS[door](PEOPLE, tmp_path), columns=["disease", "age", "no such column", "age"])

    assert opened.table.column_names == ["age", "disease"]
    assert opened.table.to_pydict() == PEOPLE.select(["age", "disease"]).to_pydict()
    assert opened.columns == tuple(PEOPLE.column_names)


@pytest.mark.parametrize("door", DOORS)
def test_names_that_no_column_has_load_nothing_and_are_left_to_the_caller(door: str, tmp_path: Path) -> None:
    opened = open_source(DOORS[door](PEOPLE, tmp_path), columns=["nmae"])

    assert opened.table.num_columns == 0
    assert opened.columns == tuple(PEOPLE.column_names)


@pytest.mark.parametrize(
    ("door", "kind"),
    [
        *[("csv", "file"), ("parquet", "file"), ("pandas", "pandas"), ("polars", "polars"), ("polars lazy", "polars")],
        *[("duckdb", "duckdb"), ("arrow", "arrow"), ("batch reader", "arrow"), ("dict", "arrow")],
    ],
)
def test_the_door_is_remembered(door: str, kind: str, tmp_path: Path) -> None:
    assert open_source(DOORS[door](PEOPLE, tmp_path)).kind == kind


@pytest.mark.parametrize("door", [door for door in DOORS if door not in ("semicolons", "utf-16")])
def test_what_is_obvious_needs_no_notice_but_kept_zeros(door: str, tmp_path: Path) -> None:
    notices = [notice for notice in open_source(DOORS[door](PEOPLE, tmp_path)).notices if "leading zeros" not in notice]

    # plain numpy columns cannot hold gaps and integers together
    assert notices == (
        ["whole numbers with missing values were stored as decimals and are read as whole numbers: age"]
        * ("numpy" in door)
    )


def test_an_unknown_projection_order_does_not_matter_and_the_order_of_the_source_is_kept() -> None:
    assert open_source({"b": [1], "a": [2]}, columns=["a", "b"]).table.column_names == ["b", "a"]


def test_a_source_prints_no_data() -> None:
    assert SECRET not in repr(open_source({"a": [SECRET]}))


def test_the_input_is_not_changed() -> None:
    frame = pd.DataFrame({"a": [1.0, None, -0.0], "b": ["x", None, "y"]}, index=[5, 5, 6])
    before = frame.copy(deep=True)

    open_source(frame)

    pd.testing.assert_frame_equal(frame, before)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_a_table_of_texts_and_numbers_holds_csv_and_parquet_agree(data: st.DataObject, tmp_path: Path) -> None:
    texts = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=6))
    texts = texts.filter(lambda text: text not in NULL_SPELLINGS)
    rows = data.draw(st.integers(1, 6))

    def lists(values: st.SearchStrategy[Any]) -> list[Any]:
        return data.draw(st.lists(values, min_size=rows, max_size=rows))

    table = pa.table(
        {
            "text": pa.array(["text, surely", *lists(texts)], pa.string()),
            "number": pa.array([1, *lists(st.none() | st.integers(-(2**63), 2**63 - 1))], pa.int64()),
            "float": pa.array(
                [0.5, *lists(st.none() | st.floats(allow_nan=False, allow_infinity=False))], pa.float64()
            ),
        }
    )
    arrow_csv.write_csv(table, tmp_path / "t.csv")
    pq.write_table(table, tmp_path / "t.parquet")

    from_csv, from_parquet = open_source(tmp_path / "t.csv"), open_source(tmp_path / "t.parquet")

    # of a text, rows without any value are nobody
    there = [any(value is not None for value in row.values()) for row in from_parquet.table.to_pylist()]
    assert from_csv.table.to_pylist() == from_parquet.table.filter(pa.array(there)).to_pylist()
    assert from_csv.table.schema == from_parquet.table.schema


# --------------------------------------------------------------------------------------------------- delimited text


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ('"last, first";b\n"Doe, Ann";1\n"Roe; Bob";2\n', ";"),
        ('a,b\n"x;y;z","1;2"\n"p;q;r","3;4"\n', ","),
        ('a,b\n"two\nlines; and; more",1\n', ","),
        ("height, cm;weight, kg\n1;2\n3;4\n", ";"),
        ("a,b;c\n1,2;3\n1,2;3\n4,5\n", ","),
        ("a;b", ";"),
        ("alone\n1\n2\n", None),
    ],
)
def test_the_delimiter_is_the_one_on_which_the_lines_agree(text: str, delimiter: str | None) -> None:
    assert detect_delimiter(text) == delimiter


@pytest.mark.parametrize(("delimiter", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_a_detected_delimiter_is_reported_and_a_given_one_is_not(delimiter: str, word: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, f"a{delimiter}b\n1{delimiter}x\n")

    opened = open_source(path)

    assert opened.table.to_pydict() == {"a": [1], "b": ["x"]}
    assert opened.notices == (f"the fields of people.csv are taken to be separated by {word}",)
    assert open_source(path, delimiter=delimiter).notices == ()


def test_tabs_in_a_tsv_file_are_obvious(tmp_path: Path) -> None:
    assert open_source(csv_file(tmp_path, "a\tb\n1\t2\n", "people.tsv")).notices == ()


def test_a_file_without_delimiter_is_one_column_and_says_so(tmp_path: Path) -> None:
    opened = open_source(csv_file(tmp_path, "age\n1\n2\n"))

    assert opened.table.to_pydict() == {"age": [1, 2]}
    assert opened.notices == (
        "no delimiter was found in people.csv, so it is read as a single column: if something separates its fields, "
        "say what (delimiter=)",
    )


def test_a_given_delimiter_overrules_the_detection(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b~c\n1,2~3\n")

    assert open_source(path, delimiter="~").columns == ("a,b", "c")


def test_quoted_fields_may_hold_delimiters_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = csv_file(tmp_path, 'a,b\n"x, ""y""\nz",1\n"",2\n')

    assert open_source(path).table.to_pydict() == {"a": ['x, "y"\nz', None], "b": [1, 2]}


def test_line_breaks_between_quotes_survive_the_borders_of_blocks(tmp_path: Path) -> None:
    rows = 60_000
    path = csv_file(tmp_path, "a,b\n1,x\n" + '2,"line one\nline two"\n' * rows)

    opened = open_source(path)

    assert opened.table.num_rows == rows + 1
    assert opened.table.column("b").value_counts().to_pylist()[1] == {"values": "line one\nline two", "counts": rows}


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_line_breaks_between_quotes_survive_compression(compression: str, tmp_path: Path) -> None:
    for rows in range(60_000, 60_100):  # until the compressed bytes themselves hold no quotation mark
        content = b"a,b\n" + b'2,"line one\nline two"\n' * rows
        packed = (
            pa.compress(content, "zstd", asbytes=True) if compression == "zstd" else gzip.compress(content, mtime=0)
        )
        if b'"' not in packed:
            break

    assert open_source(csv_file(tmp_path, packed)).table.num_rows == rows


def test_a_long_quoted_field_at_the_end_of_what_is_looked_at_does_no_harm(tmp_path: Path) -> None:
    note = "word\n" * 200
    path = csv_file(tmp_path, "a,b\n" + f'"{note}",1\n' * 1000)
    assert path.stat().st_size > 2 * HEAD_BYTES

    assert open_source(path).table.column("a").unique().to_pylist() == [note]


@pytest.mark.parametrize("shift", ["", "x"])
def test_a_letter_of_two_bytes_at_the_end_of_what_is_looked_at_does_no_harm(shift: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, f"a{shift},b\n" + ("é" * 63 + ",\n") * 5000)

    opened = open_source(path)

    assert opened.table.column(0).unique().to_pylist() == ["é" * 63]
    assert opened.notices == ()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_understood(line_end: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, line_end.join(["a;b", "1;x", "2;y", ""]))

    assert open_source(path).table.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_a_decimal_comma_is_read_when_declared_and_suspected_when_not(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a;b;c\n1,5;7;x\n-0,25;8;y\n")

    assert column(path, decimal=",").to_pylist() == [1.5, -0.25]
    assert column(path, "b", decimal=",").to_pylist() == [7, 8]
    assert column(path).to_pylist() == ["1,5", "-0,25"]
    assert any("read as text: a. To" in notice and "decimal=','" in notice for notice in open_source(path).notices)


def test_with_a_decimal_comma_a_point_makes_text(tmp_path: Path) -> None:
    assert column(csv_file(tmp_path, "a;b\n1,5;1\n1.5;2\n"), decimal=",").to_pylist() == ["1,5", "1.5"]


def test_with_a_decimal_comma_a_point_far_down_makes_text_too(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a;b\n" + "1,5;1\n" * 100_000 + "1.5;2\n")

    assert column(path, decimal=",")[-1].as_py() == "1.5"


def test_types_are_inferred(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        "i,f,b,d,t,s,h,n\n"
        "1,1.5,true,2020-02-29,2020-01-01 10:00:00,x,08:30,\n"
        "-2,1e3,false,2020-03-01,2020-01-02 00:00:00,y,09:00,\n",
    )

    assert [str(kind) for kind in open_source(path).table.schema.types] == (
        ["int64", "double", "bool", "date32[day]", "timestamp[us]", "string", "time64[us]", "null"]
    )


@pytest.mark.parametrize(
    "values",
    [
        ["01234", "12345"],
        ["12345", "-01"],
        ["0123.5", "1.5"],
        ["0x1F", "12"],
        ["+4917112345", "12"],
        ["00", "1"],
        ["123456789012345678901234567890", "1"],
        ["9" * 5000, "1"],
        ["9223372036854775809", "1"],
        ["9007199254740993", "1.5"],
        ['"01234"', '"12345"'],
        [" 01234", " 12345"],
    ],
)
def test_digits_that_a_number_would_not_keep_stay_text_and_this_is_said(values: list[str], tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b\n" + "".join(f"{value},1\n" for value in values))

    opened = open_source(path)

    assert opened.table.column("a").to_pylist() == [value.strip('"') for value in values]
    assert opened.notices == ("kept as text, because numbers would lose leading zeros, plus signs or digits: a",)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["0", "-0", "10"], [0, 0, 10]),
        (["0.5", "-0.5", "0"], [0.5, -0.5, 0.0]),
        (["0e0", "1e300"], [0.0, 1e300]),
        ([" 5", "6 "], [5, 6]),
        ([" 0.5", " 7"], [0.5, 7.0]),
        (["9007199254740992", "1.5"], [2.0**53, 1.5]),
        (["100000000000000000000", "1.5"], [1e20, 1.5]),
        (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
        (["", "7"], [None, 7]),
        (["nan", "0.5"], [None, 0.5]),
        (['"12"', "13"], [12, 13]),
    ],
)
def test_plain_numbers_are_numbers(values: list[str], expected: list[Any], tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b\n" + "".join(f"{value},1\n" for value in values))

    assert column(path).to_pylist() == expected
    assert open_source(path).notices == ()


@pytest.mark.parametrize("empty_before", [False, True], ids=["numbers before", "nothing before"])
def test_one_leading_zero_far_down_the_file_keeps_the_whole_column_text(empty_before: bool, tmp_path: Path) -> None:
    rows = 200_000
    before = "" if empty_before else "12345"
    path = csv_file(tmp_path, "zip,b\n" + f"{before},1\n" * rows + "01234,2\n")
    assert path.stat().st_size > 2 * HEAD_BYTES

    values = column(path, "zip")

    assert values.type == pa.string()
    assert values[-1].as_py() == "01234"
    assert values[0].as_py() == (before or None)


@pytest.mark.parametrize(
    ("last", "kind"), [("7", pa.int64()), ("7.5", pa.float64()), ("x", pa.string()), ("2020-01-01", pa.date32())]
)
def test_a_column_that_begins_empty_gets_the_type_of_what_follows(last: str, kind: pa.DataType, tmp_path: Path) -> None:
    path = csv_file(tmp_path, "b,late,c\n" + "1,,x\n" * 200_000 + f"2,{last},y\n")

    opened = open_source(path)

    assert opened.table.schema.field("late").type == kind
    assert opened.table.column_names == ["b", "late", "c"]
    assert opened.table.column("late").null_count == 200_000


@pytest.mark.parametrize(("last", "kind"), [("7.5", pa.float64()), ("x", pa.string()), ("2020-01-01", pa.string())])
def test_a_column_that_begins_with_integers_widens_to_what_follows(
    last: str, kind: pa.DataType, tmp_path: Path
) -> None:
    path = csv_file(tmp_path, "a,b\n" + "1,1\n" * 200_000 + f"{last},2\n")

    assert column(path).type == kind


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("spelling", NULL_SPELLINGS)
def test_every_null_spelling_is_missing_in_texts_and_numbers_quoted_or_not(
    spelling: str, quote: str, tmp_path: Path
) -> None:
    missing = f"{quote}{spelling}{quote}"
    path = csv_file(tmp_path, f"row,text,number,date\n1,x,1,2020-01-01\n2,{missing},{missing},{missing}\n")

    table = open_source(path).table.drop_columns("row")

    assert table.schema.types == [pa.string(), pa.int64(), pa.date32()]
    assert [values[1] for values in table.to_pydict().values()] == [None, None, None]


def test_null_spellings_can_be_replaced(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b\n?,NA\n1,x\n")

    assert open_source(path).table.to_pydict() == {"a": ["?", "1"], "b": [None, "x"]}
    assert open_source(path, null_values=["?"]).table.to_pydict() == {"a": [None, 1], "b": ["NA", "x"]}
    assert open_source(path, null_values=[*NULL_SPELLINGS, "?"]).table.to_pydict() == {"a": [None, 1], "b": [None, "x"]}


def test_a_first_line_of_numbers_is_suspected_to_be_no_header(tmp_path: Path) -> None:
    assert open_source(csv_file(tmp_path, "39,77516\n50,83311\n")).notices == (
        "the first line of people.csv is read as the names of the columns, although it has numbers",
    )


def test_compression_is_seen_in_the_content(tmp_path: Path) -> None:
    path = csv_file(tmp_path, gzip.compress(b"a;b\n1;x\n") + gzip.compress(b"2;y\n"), "export.csv")

    assert open_source(path).table.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


# --------------------------------------------------------------------------------------------------------- encodings

NAMES = "name,city\nMüller,Köln\nJäger,Düsseldorf\nGröß,Lübeck\nWeiß,Fürth\n"


def test_utf_8_needs_no_word_with_or_without_mark(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        opened = open_source(csv_file(tmp_path, NAMES.encode(encoding)))

        assert opened.columns == ("name", "city")
        assert opened.table.column("name")[0].as_py() == "Müller"
        assert opened.notices == ()


def test_a_mark_before_a_quoted_header_does_not_disturb(tmp_path: Path) -> None:
    path = csv_file(tmp_path, '"a;x";b\n1;2\n'.encode("utf-8-sig"))

    assert open_source(path).columns == ("a;x", "b")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_byte_order_mark_is_believed(encoding: str, tmp_path: Path) -> None:
    opened = open_source(csv_file(tmp_path, (NAMES * 3000).encode(encoding)))

    assert opened.table.column("city")[0].as_py() == "Köln"
    assert opened.notices == ()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (NAMES, "cp1252"),
        ("nom,ville\nHélène,Orléans\nJérôme,Besançon\nFrançois,Nîmes\n", "latin-1"),
        ("nombre,ciudad\nJosé,Málaga\nÍñigo,Logroño\nMaría,Córdoba\n", "cp1252"),
        ("имя,город\nИван,Москва\nОльга,Казань\nАлексей,Новосибирск\n", "cp1251"),  # noqa: RUF001
        ("jméno,město\nJiří,Plzeň\nŽofie,České Budějovice\nTomáš,Kroměříž\n", "cp1250"),
        ("όνομα,πόλη\nΓιώργος,Αθήνα\nΜαρία,Θεσσαλονίκη\n", "cp1253"),  # noqa: RUF001
        ("a,b\nMüller,1\n", "cp1252"),
        ("a,b\n" + "Müller,1\n" * 40, "cp1252"),
    ],
)
def test_another_encoding_is_detected_and_reported(text: str, encoding: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, text.encode(encoding))

    opened = open_source(path)

    expected = [line.split(",") for line in text.splitlines()]
    assert list(opened.columns) == expected[0]
    assert opened.table.column(0).to_pylist() == [row[0] for row in expected[1:]]
    assert len(opened.notices) == 1
    assert "is not UTF-8 and is read as cp125" in opened.notices[0]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_foreign_letter_far_down_the_file_is_found(compressed: bool, tmp_path: Path) -> None:
    content = b"n,name\n" + b"1,Meier\n" * 100_000 + "2,Müller\n".encode("cp1252")
    path = csv_file(tmp_path, gzip.compress(content) if compressed else content)

    opened = open_source(path)

    assert opened.table.column("name")[-1].as_py() == "Müller"
    assert opened.table.column("n").type == pa.int64()
    assert "cp1252" in opened.notices[0]


def test_the_encoding_is_guessed_from_lines_that_tell_it(tmp_path: Path) -> None:
    content = b"n,name\n" + b"1,Ivanov\n" * 50_000 + "2,Новосибирск\n".encode("cp1251")

    assert column(csv_file(tmp_path, content), "name")[-1].as_py() == "Новосибирск"


def test_a_declared_encoding_is_used_without_a_word(tmp_path: Path) -> None:
    opened = open_source(csv_file(tmp_path, NAMES.encode("latin-1")), encoding="latin-1")

    assert opened.table.column("name")[0].as_py() == "Müller"
    assert opened.notices == ()
    assert open_source(csv_file(tmp_path, NAMES.encode("utf-16-le")), encoding="utf-16-le").columns == ("name", "city")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "UTF8"])
@pytest.mark.parametrize("row", [0, 1, 200_000], ids=["header", "first row", "far down"])
def test_a_wrongly_declared_encoding_is_refused_with_the_line(encoding: str, row: int, tmp_path: Path) -> None:
    lines = [b"name,n", *[b"Meier,1"] * max(row, 1)]
    lines[row] = b"M\xfcller,1"

    with pytest.raises(SourceError, match=rf"not (utf-8|ascii) \(first in line {row + 1:,}\): leave encoding= out"):
        open_source(csv_file(tmp_path, b"\n".join(lines)), encoding=encoding)


def test_bytes_that_do_not_decode_after_a_mark_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has bytes that are not utf-16: pass the right encoding="):
        open_source(csv_file(tmp_path, "a,b\n1,2\n".encode("utf-16")[:-1]))


def test_bytes_that_no_encoding_explains_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"encoding="):
        open_source(csv_file(tmp_path, b"a,b\n" + bytes(range(0x80, 0x100)) + b",1\n"))


# ---------------------------------------------------------------------------------------------------- normal form


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("encoded", ["plain", "dictionary", "run ends"])
def test_every_kind_of_string_is_string(kind: pa.DataType, encoded: str) -> None:
    values = pa.array(["b", "b", None, "a"], pa.string())
    if encoded == "dictionary":
        dictionary = pa.array(["unused", "a", "b"]).cast(kind)
        array: pa.Array = pa.DictionaryArray.from_arrays(pa.array([2, 2, None, 1], pa.int16()), dictionary)
    elif encoded == "run ends":
        array = pa.RunEndEncodedArray.from_arrays(
            pa.array([2, 3, 4], pa.int32()), pa.array(["b", None, "a"]).cast(kind)
        )
    else:
        array = values.cast(kind)

    assert column(pa.table({"a": array})).equals(values)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int8()),
        ([1, 2], pa.uint64()),
        ([1.5, 2.5], pa.float32()),
        ([True, False], pa.bool_()),
        ([date(2020, 1, 1), date(2021, 1, 1)], pa.date64()),
        ([datetime(2020, 1, 1), datetime(2021, 1, 1)], pa.timestamp("s")),
        ([decimal.Decimal("1.50"), decimal.Decimal("2.25")], pa.decimal128(5, 2)),
        (["x", "y"], pa.string_view()),
    ],
    ids=str,
)
def test_a_dictionary_of_any_type_in_any_order_is_what_it_stands_for(values: list[Any], kind: pa.DataType) -> None:
    low, high = values
    plain = pa.chunked_array([[high, None, low], [low]], kind)
    one = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.uint8()), pa.array([low, high], kind))
    other = pa.DictionaryArray.from_arrays(pa.array([1], pa.uint8()), pa.array([None, low, high], kind))
    nested = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 2], pa.int32()), one)

    expected = column(pa.table({"a": plain}))

    assert column(pa.table({"a": pa.chunked_array([one, other])})).equals(expected)
    assert column(pa.table({"a": nested})).equals(expected)


def test_a_slice_is_only_its_own_values() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 6], pa.int32()), pa.array(["b", None, "a"]))
    words = pa.array(["b", "b", None, "a", "a", "a"])

    for whole in (runs, words, words.dictionary_encode(), words.cast(pa.string_view())):
        assert column(pa.table({"a": whole.slice(1, 3)})).to_pylist() == ["b", None, "a"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()])
def test_every_integer_is_int64(kind: pa.DataType) -> None:
    assert column(pa.table({"a": pa.array([1, None, 100], kind)})).equals(pa.array([1, None, 100], pa.int64()))


def test_integers_beyond_int64_are_refused_without_showing_them() -> None:
    with pytest.raises(DomainError, match=r"column 'a' has unsigned integers above 9223372036854775807") as caught:
        open_source(pa.table({"a": pa.array([2**63 + 12345], pa.uint64())}))
    assert caught.value.column == "a"
    assert str(2**63 + 12345) not in str(caught.value)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_every_float_is_float64_where_nan_is_null_and_zero_has_no_sign(kind: pa.DataType) -> None:
    values = column(pa.table({"a": pa.array(np.array([1.5, np.nan, -0.0]), pa.float64()).cast(kind)}))

    assert values.to_pylist() == [1.5, None, 0.0]
    assert values.type == pa.float64()
    assert not np.signbit(values[2].as_py())


def test_infinity_stays_for_the_caller_to_judge() -> None:
    assert column({"a": [1.0, float("inf")]}).to_pylist() == [1.0, float("inf")]


def test_nan_among_texts_is_null_too() -> None:
    assert column({"a": ["x", float("nan"), None]}).to_pylist() == ["x", None, None]
    assert column(pd.DataFrame({"a": ["x", float("nan"), None, pd.NA]}, dtype=object)).null_count == 3


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1.50", None, "-2.25"], pa.decimal128(5, 2), [1.5, None, -2.25]),
        (["0.1", "1234567890123.456"], pa.decimal128(38, 3), [0.1, 1234567890123.456]),
        (["12", "-7"], pa.decimal128(38, 0), [12, -7]),
        (["1200"], pa.decimal128(5, -2), [1200]),
        (["1.5"], pa.decimal256(60, 3), [1.5]),
    ],
    ids=str,
)
def test_decimals_are_integers_or_floats_that_tell_every_digit(
    values: list[str | None], kind: pa.DataType, expected: list[Any]
) -> None:
    array = pa.array([None if text is None else decimal.Decimal(text) for text in values], kind)

    result = column(pa.table({"a": array}))

    assert result.to_pylist() == expected
    assert result.type == (pa.float64() if kind.scale > 0 else pa.int64())


@pytest.mark.parametrize(
    ("text", "kind"), [("1234567890123456.789", pa.decimal128(38, 3)), ("1" + "0" * 25, pa.decimal128(38, 0))]
)
def test_decimals_with_more_digits_than_the_normal_form_are_refused(text: str, kind: pa.DataType) -> None:
    with pytest.raises(DomainError, match=r"column 'a' has .*give it as text") as caught:
        open_source(pa.table({"a": pa.array([decimal.Decimal(text)], kind)}))
    assert text not in str(caught.value)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_are_in_microseconds_and_keep_their_zone(unit: str, zone: str | None) -> None:
    values = column(pa.table({"a": pa.array([datetime(2020, 1, 1, 12)], pa.timestamp(unit, zone))}))

    assert values.type == pa.timestamp("us", zone)
    assert values.cast(pa.int64()).to_pylist() == [1577880000000000]


def test_nanoseconds_stay_where_they_are_needed() -> None:
    table = pa.table({"a": pa.array([1001], pa.timestamp("ns")), "b": pa.array([1001], pa.time64("ns"))})

    assert open_source(table).table.schema.types == [pa.timestamp("ns"), pa.time64("ns")]


def test_timestamps_too_far_off_for_microseconds_are_refused() -> None:
    with pytest.raises(DomainError, match="column 'a' has values that are too large"):
        open_source(pa.table({"a": pa.array([2**60], pa.timestamp("s"))}))


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], ids=str)
def test_times_are_in_microseconds(kind: pa.DataType) -> None:
    values = column(pa.table({"a": pa.array([time(8, 30), None], kind)}))

    assert values.equals(pa.array([time(8, 30), None], pa.time64("us")))


def test_dates_are_days_and_a_date64_with_an_hour_is_a_timestamp() -> None:
    day = 86_400_000
    whole = pa.array([day, None], pa.int64()).view(pa.date64())
    half = pa.array([day // 2], pa.int64()).view(pa.date64())

    assert column(pa.table({"a": whole})).equals(pa.array([date(1970, 1, 2), None], pa.date32()))
    assert column(pa.table({"a": half})).equals(pa.array([datetime(1970, 1, 1, 12)], pa.timestamp("us")))


@pytest.mark.parametrize(
    "values",
    [
        pa.nulls(2),
        pa.array([None, None], pa.string()),
        pa.array([None, None], pa.int32()),
        pa.array([float("nan"), None]),
        pa.array([None, None], pa.string()).dictionary_encode(),
        pa.array([None, None], pa.duration("s")),
    ],
    ids=lambda values: str(values.type),
)
def test_a_column_without_a_value_has_type_null_whatever_it_was_declared(values: pa.Array) -> None:
    assert column(pa.table({"a": values})).equals(pa.nulls(2))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1]]),
        pa.array([{"x": 1}]),
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([[1]], pa.list_view(pa.int64())),
        pa.array([[1]], pa.large_list(pa.int64())),
        pa.array([[1]], pa.list_(pa.int64(), 1)),
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]])),
    ],
    ids=lambda values: str(values.type),
)
def test_nested_columns_are_refused_by_name(values: pa.Array) -> None:
    with pytest.raises(DomainError, match=r"column 'visits' has lists or records .*unpack") as caught:
        open_source(pa.table({"visits": values}))
    assert caught.value.column == "visits"


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (pa.array([timedelta(1)]), "durations"),
        (pa.array([SECRET.encode()]), "type binary"),
        (pa.array(pd.period_range("2020-01", periods=1, freq="M")), "special type pandas.period"),
    ],
)
def test_types_without_a_plain_form_are_refused(values: pa.Array, what: str) -> None:
    with pytest.raises(DomainError, match=f"column 'a' .*{what}.*: give it as") as caught:
        open_source(pa.table({"a": values}))
    assert SECRET not in str(caught.value)


def test_what_is_not_loaded_may_be_of_any_type() -> None:
    table = pa.table({"a": [1], "visits": [[1, 2]]})

    for source in (table, table.to_pandas(), pl.from_arrow(table), as_duckdb(table), table.to_pydict()):
        assert open_source(source, columns=["a"]).table.to_pydict() == {"a": [1]}


def test_uuids_are_texts() -> None:
    person = uuid.UUID(int=7)

    assert column(pd.DataFrame({"a": [person, None]})).to_pylist() == [str(person), None]
    assert column(from_sql(f"select '{person}'::uuid as a")).to_pylist() == [str(person)]


def test_texts_beyond_two_gigabytes_are_large_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalise_module, "_MOST_STRING_BYTES", 5)

    assert column({"a": ["abc", "de"]}).type == pa.string()
    assert column({"a": ["abc", "def"]}).type == pa.large_string()
    assert column(pa.table({"a": pa.array(["abc", "def"], pa.string_view())})).type == pa.large_string()


def test_metadata_and_nullability_leave_no_trace() -> None:
    field = pa.field("a", pa.int64(), nullable=False, metadata={"k": "v"})
    table = pa.table({"a": [1]}, schema=pa.schema([field], metadata={"x": "y"}))

    assert open_source(table).table.schema.equals(pa.schema({"a": pa.int64()}), check_metadata=True)


# ------------------------------------------------------------------------------------------------ pandas, polars, ...


def test_pandas_integers_with_gaps_are_integers_again_and_this_is_said() -> None:
    frame = pd.DataFrame({"age": [30, None, 7], "height": [1.5, None, 2.0], "whole": [1.0, 2.0, 3.0]})

    opened = open_source(frame)

    assert opened.table.schema.types == [pa.int64(), pa.float64(), pa.float64()]
    assert opened.table.column("age").to_pylist() == [30, None, 7]
    assert opened.notices == (
        "whole numbers with missing values were stored as decimals and are read as whole numbers: age",
    )


@pytest.mark.parametrize("odd", [float("inf"), 2.0**60, 0.5])
def test_floats_that_are_no_exact_integers_stay_floats(odd: float) -> None:
    opened = open_source(pd.DataFrame({"a": [1.0, None, odd]}))

    assert opened.table.schema.types == [pa.float64()]
    assert opened.notices == ()


def test_floats_with_gaps_from_elsewhere_stay_floats() -> None:
    assert column(pl.DataFrame({"a": [1.0, None]})).type == pa.float64()
    assert column({"a": [1.0, None]}).type == pa.float64()


def test_a_pandas_index_is_never_a_column_and_missed_only_if_it_has_a_name() -> None:
    frame = pd.DataFrame({"a": [1, 2]})

    assert open_source(frame.set_index(pd.Index(["x", "y"]))).columns == ("a",)
    assert open_source(frame.set_index(pd.Index(["x", "y"]))).notices == ()
    named = open_source(frame.set_index(pd.Index(["x", "y"], name="patient")))
    assert named.columns == ("a",)
    assert named.notices == ("the index of the frame is left out (patient): reset_index() makes it a column",)


def test_pandas_columns_may_have_names_that_are_no_texts() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=[0, 2024, "x"])

    assert open_source(frame, columns=["2024"]).columns == ("0", "2024", "x")
    assert column(frame, "2024").to_pylist() == [2]


@pytest.mark.parametrize(
    "dtype", ["int64", "Int64", "int64[pyarrow]", "float64", "Float64", "object", "category", "UInt8"]
)
def test_pandas_dtypes_that_hold_the_same_numbers_compare_equal(dtype: str) -> None:
    values = column(pd.DataFrame({"a": pd.Series([3, 1, 2]).astype(dtype)}))

    assert values.to_pylist() == [3, 1, 2]


@pytest.mark.parametrize("dtype", ["str", "string", "string[pyarrow]", "string[python]", "object", "category"])
def test_pandas_dtypes_that_hold_the_same_texts_are_the_same_column(dtype: str) -> None:
    values = column(pd.DataFrame({"a": pd.Series(["y", None, "x"], dtype=dtype)}))

    assert values.equals(pa.array(["y", None, "x"], pa.string()))


def test_pandas_timestamps_keep_their_zone() -> None:
    frame = pd.DataFrame({"a": pd.to_datetime(["2020-01-01 12:00", None]).tz_localize("Europe/Berlin")})

    assert column(frame).type == pa.timestamp("us", "Europe/Berlin")
    assert column(frame).null_count == 1


def test_declared_orders_are_kept_and_undeclared_ones_are_not_invented() -> None:
    order = ["low", "middle", "high", "unused"]
    values = ["high", "low", None, "middle"]
    pandas = pd.DataFrame({"a": pd.Categorical(values, order, ordered=True), "b": pd.Categorical(values, order)})
    polars = pl.DataFrame({"a": values, "b": values}, schema={"a": pl.Enum(order), "b": pl.Categorical})

    for frame in (pandas, polars, polars.lazy()):
        opened = open_source(frame)

        assert opened.orders == {"a": tuple(order)}
        assert opened.table.column("a").to_pylist() == values
        assert open_source(frame, columns=["b"]).orders == {}


def test_a_declared_order_survives_a_parquet_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["b", "a"], ["b", "a"], ordered=True)})
    frame.to_parquet(tmp_path / "ordered.parquet")

    assert open_source(tmp_path / "ordered.parquet").orders == {"a": ("b", "a")}


def test_orders_are_in_the_normal_form_of_their_column() -> None:
    frame = pd.DataFrame({"a": pd.Categorical([2.0, None], [2.0, 1.0], ordered=True)})
    numbers = pd.DataFrame({"a": pd.Categorical([2, None], np.array([2, 1], np.int8), ordered=True)})

    assert (column(frame).type, open_source(frame).orders) == (pa.float64(), {"a": (2.0, 1.0)})
    assert (column(numbers).type, open_source(numbers).orders) == (pa.int64(), {"a": (2, 1)})


def test_batches_that_disagree_on_an_order_declare_none() -> None:
    def batch(dictionary: list[str | None]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(dictionary), ordered=True)

    growing = pa.chunked_array([batch(["a"]), batch(["a", "b"])])
    opposed = pa.chunked_array([batch(["a", "b"]), batch(["b", "a"])])

    assert open_source(pa.table({"a": growing})).orders == {"a": ("a", "b")}
    assert open_source(pa.table({"a": opposed})).orders == {}
    assert open_source(pa.table({"a": batch(["a", None, "b"])})).orders == {"a": ("a", "b")}


def test_duckdb_names_that_are_words_of_sql_are_quoted() -> None:
    relation = from_sql('select 1 as "select", 2 as "a.b", 3 as "say ""hi"""')

    opened = open_source(relation, columns=["select", "a.b", 'say "hi"'])

    assert opened.table.to_pydict() == {"select": [1], "a.b": [2], 'say "hi"': [3]}


def test_parquet_columns_with_dots_are_not_mistaken_for_nesting(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "a.b": [2], "s": [{"x": 3}], "s.x": [4]}), tmp_path / "dots.parquet")

    assert open_source(tmp_path / "dots.parquet", columns=["a"]).table.to_pydict() == {"a": [1]}
    assert open_source(tmp_path / "dots.parquet", columns=["a.b"]).table.to_pydict() == {"a.b": [2]}
    assert open_source(tmp_path / "dots.parquet", columns=["s.x"]).table.to_pydict() == {"s.x": [4]}


def test_opening_a_file_imports_no_frame_library(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b\n1,x\n")
    code = (
        "import sys; from glasshouse.microdata.reading.sources import open_source; open_source(sys.argv[1]); "
        "sys.exit(' '.join({'pandas', 'polars', 'duckdb', 'charset_normalizer'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)

    assert done.stderr.strip() == ""


# -------------------------------------------------------------------------------------------------------- refusals


def refusal(source: Any, error: type[GlasshouseError] = SourceError, **options: Any) -> str:
    """The message with which a source is refused; no message shows a value."""
    with pytest.raises(GlasshouseError) as caught:
        open_source(source, **options)
    assert type(caught.value) is error, repr(caught.value)
    assert SECRET not in str(caught.value)
    return str(caught.value)


def test_a_missing_file_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    csv_file(tmp_path, "a,b\n1,2\n", "Patients.csv")

    assert refusal(tmp_path / "patient.csv").endswith(f"did you mean {tmp_path / 'Patients.csv'}?")
    assert refusal(tmp_path / "zzz.parquet").endswith("zzz.parquet: check the path")
    assert "there is no folder" in refusal(tmp_path / "nowhere" / "people.csv")


def test_what_is_no_path_to_a_file_is_told(tmp_path: Path) -> None:
    assert "is a folder: give a file in it" in refusal(tmp_path)
    assert "is a web address: download the file first" in refusal("https://example.org/people.csv")
    assert "has several lines and is not a path" in refusal(f"a,b\n1,{SECRET}\n")
    too_long = refusal("x" * 5000)
    assert "cannot be opened" in too_long or "there is no file" in too_long  # the latter from Python 3.14 on
    assert "there is no file" in refusal("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_for_it_can_be_read_once_only(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")

    assert "is not an ordinary file" in refusal(tmp_path / "pipe.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b\n1,2\n")
    path.chmod(0)

    assert "cannot be read by this user" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n", gzip.compress(b"", mtime=0), gzip.compress(b"\n", mtime=0), b"\xff\xfe"],
)
def test_an_empty_file_is_told(content: bytes, tmp_path: Path) -> None:
    assert refusal(csv_file(tmp_path, content)).endswith("is empty")


@pytest.mark.parametrize("content", ["a,b\n", "a,b", '"a","b"\r\n', "a;b\n\n"])
def test_a_header_without_rows_is_told(content: str, tmp_path: Path) -> None:
    assert refusal(csv_file(tmp_path, content)).endswith("has column names but no rows")


def test_tables_without_rows_are_told(tmp_path: Path) -> None:
    empty = pa.table({"a": pa.array([], pa.int64())})
    pq.write_table(empty, tmp_path / "empty.parquet")

    assert refusal(tmp_path / "empty.parquet").endswith("has no rows")
    for source in (empty, empty.to_pandas(), pl.from_arrow(empty), as_duckdb(empty), {"a": []}, empty.to_reader()):
        assert refusal(source).endswith("has no rows")


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (f"a,b\n1,2\n1,{SECRET},3\n", 3, "3 fields"),
        (f"a,b\n1,2\n\n{SECRET}\n", 4, "1 field"),
        (f'a,b\n"two\nlines",2\n1,{SECRET},3,4\n', 4, "4 fields"),
        (f"a,b\n1,{SECRET},9\n", 2, "3 fields"),
        ("a,b\n1,invalid UTF8,Empty CSV\n", 2, "3 fields"),
        ("a,b\n" + "1,2\n" * 300_000 + f"1,2,{SECRET}\n", 300_002, "3 fields"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_ragged_file_is_told_by_line_and_counts(
    text: str, line: int, found: str, compressed: bool, tmp_path: Path
) -> None:
    content = gzip.compress(text.encode()) if compressed else text.encode()

    message = refusal(csv_file(tmp_path, content))

    assert f"line {line:,} has {found} and the header has 2, separated by commas" in message


def test_a_ragged_file_in_another_encoding_is_told_too(tmp_path: Path) -> None:
    text = "name,n\nMüller,1\nJäger\n"

    assert "line 3 has 1 field and" in refusal(csv_file(tmp_path, text.encode("latin-1")))
    assert "line 3 has 1 field and" in refusal(csv_file(tmp_path, text.encode("utf-16")))
    assert "line 3 has 1 field and" in refusal(csv_file(tmp_path, text.encode("utf-8-sig")))
    quoted = '"last, first",n\nMüller,1\nJäger\n'
    assert "line 3 has 1 field and the header has 2" in refusal(csv_file(tmp_path, quoted.encode("utf-8-sig")))


@pytest.mark.parametrize("rows", [1, 1_000_000])
def test_a_quotation_mark_that_is_not_closed_is_told(rows: int, tmp_path: Path) -> None:
    message = refusal(csv_file(tmp_path, f'a,b\n1,2\n"{SECRET},3\n' + "5,6\n" * rows))

    assert "line 3 " in message


@pytest.mark.parametrize(
    ("cut", "suffix"),
    [(lambda data: data[: len(data) // 2], ".gz"), (lambda data: data[:-4], ".gz"), (lambda data: data[:-9], ".zst")],
)
def test_compressed_files_that_are_cut_short_are_told(
    cut: Callable[[bytes], bytes], suffix: str, tmp_path: Path
) -> None:
    numbers = np.random.default_rng(1).integers(0, 10**9, (100_000, 2))
    content = b"a,b\n" + "".join(f"{a},{b}\n" for a, b in numbers.tolist()).encode()
    packed = gzip.compress(content) if suffix == ".gz" else pa.compress(content, "zstd", asbytes=True)

    assert "damaged or incomplete" in refusal(csv_file(tmp_path, cut(packed), "people.csv" + suffix))


def test_a_compressed_file_that_is_cut_within_its_first_bytes_is_told(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n")

    for length in (2, 8, len(packed) - 4):
        assert "damaged or incomplete" in refusal(csv_file(tmp_path, packed[:length], "people.csv.gz"))


@pytest.mark.parametrize("name", ["people.parquet", "people.feather", "people.arrows"])
def test_damaged_files_are_told(name: str, tmp_path: Path) -> None:
    table = pa.table({"a": list(range(2000)), "b": [SECRET] * 2000})
    writers = {"people.parquet": pq.write_table, "people.feather": feather.write_feather, "people.arrows": write_stream}
    writers[name](table, tmp_path / name)
    content = (tmp_path / name).read_bytes()

    for damaged in (content[:20], content[: len(content) // 2 + 3], content[:40] + b"\xfe" * 400 + content[440:]):
        assert "is damaged or incomplete" in refusal(csv_file(tmp_path, damaged, name))


@pytest.mark.parametrize(
    ("content", "name", "what"),
    [
        (b"PK\x03\x04....", "people.xlsx", "this zip archive is damaged"),
        (b"SQLite format 3\0", "people.db", "cannot be read as a SQLite database"),
        (b"BZh91AY", "people.csv.bz2", "bzip2"),
        (b"\x01\x02\x00\x03\x04" * 50, "people.bin", "is in no format that is read, or is damaged"),
        (b"\x01\x02\x00\x03\x04" * 50, "people.csv", "is in no format that is read, or is damaged"),
        (b"\x00\x01\x02PK", "people.xlsx", "is damaged, or is not a workbook, though it is named like one"),
        (b"\x00\x01\x02", "people.parquet", "is damaged, or is not a Parquet file"),
        (b"age\n30\n", "people.xlsx", "is named like a workbook, but it is a text file: if it is a table, rename it"),
        (b"age\n30\n", "people.sav", "is named like a file of SPSS, but it is a text file"),
        (b'{"a": 1}\n', "people.json", "is JSON, which is not read: save the table as CSV or Parquet"),
        (
            gzip.compress(b'{"a": 1}\n', mtime=0),
            "people.json.gz",
            "is JSON, which is not read: save the table as CSV or Parquet",
        ),
    ],
)
def test_files_of_another_kind_are_told(content: bytes, name: str, what: str, tmp_path: Path) -> None:
    assert what in refusal(csv_file(tmp_path, content, name))


def test_a_given_delimiter_opens_text_with_any_name(tmp_path: Path) -> None:
    assert open_source(csv_file(tmp_path, "a,b\n1,2\n", "people.export"), delimiter=",").columns == ("a", "b")
    assert open_source(csv_file(tmp_path, "a,b\n1,2\n", "people")).columns == ("a", "b")


def named_twice(names: list[str], folder: Path) -> dict[str, Any]:
    table = pa.table([[1], [2], [3]], names=names)
    pq.write_table(table, folder / "twice.parquet")
    return {
        "csv": csv_file(folder, ",".join(names) + "\n1,2,3\n"),
        "parquet": folder / "twice.parquet",
        "arrow": table,
        "reader": table.to_reader(),
        "pandas": pd.DataFrame([[1, 2, 3]], columns=names),
    }


@pytest.mark.parametrize("door", ["csv", "parquet", "arrow", "reader", "pandas"])
def test_columns_of_the_same_name_are_refused(door: str, tmp_path: Path) -> None:
    message = refusal(named_twice(["age", "b", "age"], tmp_path)[door], SchemaError)

    assert "has 2 columns named 'age': rename them" in message


@pytest.mark.parametrize("door", ["csv", "parquet", "arrow", "reader", "pandas"])
@pytest.mark.parametrize("empty", ["", " "])
def test_a_column_without_name_is_refused(door: str, empty: str, tmp_path: Path) -> None:
    message = refusal(named_twice(["a", empty, "c"], tmp_path)[door], SchemaError, columns=["a"])

    assert "column 2 of " in message
    assert "has no name: give it one" in message


@pytest.mark.parametrize("door", ["csv", "parquet", "arrow", "reader", "pandas"])
def test_a_first_column_without_name_is_left_out_and_said(door: str, tmp_path: Path) -> None:
    opened = open_source(named_twice(["", "b", "c"], tmp_path)[door])

    assert opened.columns == ("b", "c")
    assert opened.table.to_pydict() == {"b": [2], "c": [3]}
    assert "has no name and is left out" in opened.notices[0]


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.arrows"])
def test_batches_leave_a_first_column_without_name_out_too(name: str, tmp_path: Path) -> None:
    table = pa.table([[0, 1], ["old", "young"]], names=["", "age"])
    {"people.csv": arrow_csv.write_csv, "people.parquet": pq.write_table, "people.arrows": write_stream}[name](
        table, tmp_path / name
    )
    stream = open_stream(tmp_path / name)

    assert stream.columns == ("age",)
    assert "has no name and is left out" in stream.notices[0]
    assert [batch["age"].to_pylist() for batch in stream.batches(["age"])] == [["old", "young"]]


def test_names_that_are_the_same_as_texts_are_refused() -> None:
    assert "2 columns named '1'" in refusal(pd.DataFrame([[1, 2]], columns=[1, "1"]), SchemaError)
    assert "2 columns named '1'" in refusal({1: [1], "1": [2]}, SchemaError)
    assert "2 columns named 'a'" in refusal(from_sql("select 1 as a, 2 as a"), SchemaError)


def test_tables_without_columns_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({}), tmp_path / "none.parquet")

    for source in ({}, pa.table({}), pd.DataFrame(), pl.DataFrame(), tmp_path / "none.parquet"):
        assert refusal(source, SchemaError).endswith("has no columns")


@pytest.mark.parametrize("thing", [None, 5, [1, 2], [{"a": 1}], np.zeros((2, 2)), b"people.csv", object()])
def test_what_has_no_arrow_interface_is_told_what_is_accepted(thing: object) -> None:
    message = refusal(thing)

    assert message.startswith(f"a {type(thing).__name__} is no table: pass a path")
    assert "__arrow_c_stream__" in message


@pytest.mark.parametrize("single", [pd.Series([1]), pl.Series([1]), pa.chunked_array([[1]])])
def test_a_single_column_is_no_table(single: object) -> None:
    known = hasattr(single, "__arrow_c_stream__")  # earlier versions of a library offer its single columns to nobody
    assert ("is no table (a single column, perhaps)" if known else " is no table: pass a path") in refusal(single)


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame({"a": [1, SECRET]}),
        pd.DataFrame({"a": [SECRET, [2]]}),
        pd.DataFrame({"a": [1 + 2j]}),
        pd.DataFrame({"a": [2**70]}),
        {"a": [1, SECRET]},
        {"a": [object()]},
    ],
)
def test_columns_of_mixed_types_are_refused_by_name(source: Any) -> None:
    assert "column 'a' has values of several types" in refusal(source, DomainError)


@pytest.mark.parametrize("values", [SECRET, 5, None])
def test_a_dict_must_hold_lists(values: object) -> None:
    assert refusal({"a": values}, SchemaError) == "column 'a' of the dict must be a list of values"


def test_the_lists_of_a_dict_are_of_one_length() -> None:
    assert refusal({"a": [1], "b": [1, 2]}, SchemaError) == "the columns of the dict have different lengths: 1, 2"


def test_a_query_that_fails_is_told_as_such_and_keeps_its_cause() -> None:
    frame = pl.LazyFrame({"a": [SECRET]}).with_columns(pl.col("a").cast(pl.Int64))
    connection = duckdb.connect()
    relation = connection.sql(f"select cast(x as int) as a from (values ('{SECRET}')) t(x)")

    def batches() -> Any:
        yield pa.record_batch({"a": [1]})
        raise RuntimeError(SECRET)

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())

    assert refusal(frame).startswith("the polars query failed with")
    assert refusal(relation).startswith("the DuckDB query failed with")
    assert refusal(reader).startswith("the Arrow stream failed with")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"delimiter": ",,"}, "delimiter"),
        ({"delimiter": ""}, "delimiter"),
        ({"delimiter": '"'}, "delimiter"),
        ({"delimiter": "·"}, "delimiter"),
        ({"decimal": "'"}, "decimal"),
        ({"encoding": "klingon"}, "encoding"),
        ({"encoding": "rot13"}, "encoding"),
        ({"null_values": "NA"}, "null_values"),
        ({"null_values": [None]}, "null_values"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], name: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, "a,b\n1,2\n")

    assert refusal(path, ParameterError, **options).startswith(f"open_source: {name} must be")


def test_a_source_is_frozen() -> None:
    opened = open_source({"a": [1]})

    assert isinstance(opened, Source)
    with pytest.raises(AttributeError):
        opened.kind = "file"  # type: ignore[misc]


def test_real_tables_come_in_whole(shared_data: Path, tmp_path: Path) -> None:
    adult = shared_data / "adult.parquet"
    whole = open_source(adult)
    arrow_csv.write_csv(whole.table, tmp_path / "adult.csv")

    again = open_source(tmp_path / "adult.csv")

    assert again.table.num_rows == pq.read_metadata(adult).num_rows
    assert again.columns == whole.columns
    for name in whole.columns:
        assert pc.equal(again.table.column(name), whole.table.column(name)).to_pylist().count(False) == 0


def test_columns_that_are_not_needed_and_cannot_be_read_are_left_out_with_the_reason(tmp_path: Path) -> None:
    columns = {"age": [30, 41], "visits": [[1], [2, 3]], "photo": [b"a", b"b"], "stay": [timedelta(days=1)] * 2}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", pa.table(columns), pa.table(columns).to_reader(), columns):
        opened = open_source(source, needed=["age"])
        assert opened.table.to_pydict() == {"age": [30, 41]}
        told = [n.removeprefix("a column is left out, because it cannot be read: ") for n in opened.notices]
        assert sorted(notice.split()[1] for notice in told) == ["'photo'", "'stay'", "'visits'"]
    with pytest.raises(DomainError, match="column 'visits' has lists"):
        open_source(pa.table(columns), needed=["visits"])
    with pytest.raises(DomainError, match="column 'visits' has lists"):
        open_source(pa.table(columns).select(["visits"]), needed=[])


def test_a_type_of_polars_that_arrow_does_not_have_is_named() -> None:
    if not hasattr(pl, "Int128"):
        pytest.skip("this version of polars has no such type")
    frame = pl.DataFrame({"age": pl.Series([1, 2], dtype=pl.Int128), "sex": ["f", "m"]})
    with pytest.raises(DomainError, match="column 'age' has the type Int128 of polars: convert it"):
        open_source(frame)
    assert open_source(frame, columns=["sex"]).table.to_pydict() == {"sex": ["f", "m"]}


@pytest.mark.parametrize("address", ["file:///tmp/a.parquet", "duckdb:///a.duckdb"])
def test_the_address_of_a_file_is_no_web_address(address: str) -> None:
    with pytest.raises(SourceError, match=r"leave (file|duckdb):// out: a file is given by its path alone"):
        open_source(address)
    with pytest.raises(SourceError, match="a web address"):
        open_source("https://example.org/a.csv")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_recognised(encoding: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, "age,name\n30,Zoë\n41,Jürgen\n".encode(encoding))
    with pytest.raises(SourceError, match=f"UTF-16, as it seems, .* give encoding='{encoding}'"):
        open_source(path)
    assert open_source(path, encoding=encoding).table.to_pydict() == {"age": [30, 41], "name": ["Zoë", "Jürgen"]}
