"""A DataFrame is counted as `read` and `kinds_of` count the same table in memory."""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.microdata.kinds import Kinds, kinds_of

ROLES: dict[str, Any] = {"quasi": ["age", "a.b", "`c`", "day", "at"], "sensitive": "disease"}


def people(n: int = 500) -> pa.Table:
    draws = np.random.default_rng(2)
    some = draws.integers(0, 4, (6, n))
    noon = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    return pa.table(
        {
            "age": pa.array([[1.5, 0.0, -0.0, 7.0][i] for i in some[0]]),
            "a.b": pa.array(
                [[Decimal("1.50"), Decimal("2.25"), Decimal("0.00"), Decimal("-3.10")][i] for i in some[1]]
            ),
            "`c`": pa.array([["x", "X", "é", ""][i] for i in some[2]]),
            "day": pa.array([datetime.date(1999, 1, 1 + i) for i in some[3]]),
            "at": pa.array([noon + datetime.timedelta(hours=int(i)) for i in some[4]], pa.timestamp("us", "UTC")),
            "AGE2": pa.array([int(i) for i in some[5]]),
            "disease": pa.array([["flu", "ulcer", "Flu", "hiv"][i] for i in some[5]]),
            "name": pa.array([f"p{i}" for i in range(n)]),
        }
    )


@pytest.fixture
def frame_of(session: Any, tmp_path: Path) -> Callable[[pa.Table], Any]:
    """A frame of Spark with the rows of a table."""

    def framed(table: pa.Table) -> Any:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        pq.write_table(table, file)
        return session.read.parquet(str(file))

    return framed


def counted(frame: Any, **roles: Any) -> Kinds:
    return gh.spark.count(frame, **roles).kinds


def listed(kinds: Kinds) -> list[Any]:
    table = kinds.table
    columns = [column.domain.decode(column.codes).to_pylist() for column in (*table.quasi, *table.sensitive)]
    return sorted(zip(*columns, kinds.counts.tolist(), strict=True), key=repr)


def described(kinds: Kinds) -> list[Any]:
    return [
        (c.name, c.domain.kind, c.domain.values, c.domain.missing) for c in (*kinds.table.quasi, *kinds.table.sensitive)
    ]


def test_kinds_are_those_of_memory_in_any_order_and_partition(frame_of: Callable[[pa.Table], Any]) -> None:
    table = people()
    expected, _ = kinds_of(gh.read(table, **ROLES))
    frame = frame_of(table)
    shuffled = frame_of(table.take(np.random.default_rng(3).permutation(len(table)))).repartition(5)

    for one in (frame, shuffled):
        found = counted(one, **ROLES)
        assert described(found) == described(expected)
        assert found.counts.tolist() == expected.counts.tolist()
        for own, other in zip(
            found.table.quasi + found.table.sensitive, expected.table.quasi + expected.table.sensitive, strict=True
        ):
            assert own.codes.tolist() == other.codes.tolist()
    assert found.n_people == 500


def test_missing_and_nan_are_one_value(frame_of: Callable[[pa.Table], Any]) -> None:
    table = pa.table({"x": [1.0, math.nan, None, math.nan, None, None], "s": list("aabbab")})
    expected, _ = kinds_of(gh.read(table, quasi=["x"], sensitive="s", missing="category"))

    found = counted(frame_of(table), quasi=["x"], sensitive="s", missing="category")

    assert listed(found) == listed(expected)
    with pytest.raises(gh.DomainError, match="missing values in x"):
        counted(frame_of(table), quasi=["x"], sensitive="s")


def test_texts_that_hardly_repeat_are_cautioned_as_in_memory(frame_of: Callable[[pa.Table], Any]) -> None:
    table = people(60)
    found = counted(frame_of(table), quasi=["age"], sensitive="name").table.cautions

    assert [caution.name for caution in found] == ["unique-values"]
    assert found == gh.read(table, quasi=["age"], sensitive="name").cautions


def test_texts_of_a_collation_are_told_apart(session: Any) -> None:
    frame = session.sql(
        "select i, s collate UTF8_LCASE as s from values (1, 'a'), (1, 'A'), (1, 'A'), (2, 'a') as t(i, s)"
    )
    assert listed(counted(frame, quasi=["i"], sensitive="s")) == [(1, "A", 2), (1, "a", 1), (2, "a", 1)]


def test_an_identifier_occurs_once(session: Any, frame_of: Callable[[pa.Table], Any]) -> None:
    frame = frame_of(people(40))
    assert counted(frame, **ROLES, identifier="name").n_people == 40
    with pytest.raises(gh.InputError, match="identifier column 'name' as another row"):
        counted(frame.unionAll(frame), **ROLES, identifier="name")
    with pytest.raises(gh.DomainError, match="the identifier 'name' is missing in 1 row: fill it in"):
        counted(session.sql("select 1 age, null name union all select 2, 'b'"), quasi=["age"], identifier="name")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("array(1)", "has lists or records"),
        ("map('a', 1)", "has lists or records"),
        ("named_struct('a', 1)", "has lists or records"),
        ("X'00'", "has type binary: give it as text"),
        ("interval '1' day", "has durations"),
        ("interval '1' month", "convert it to text, numbers or dates"),
        ("make_interval(1)", "convert it to text, numbers or dates"),
    ],
)
def test_types_are_refused_in_the_words_of_read(session: Any, kind: str, words: str) -> None:
    with pytest.raises(gh.DomainError, match=words):
        counted(session.sql(f"select {kind} as `x.y`, 'a' as s"), quasi=["x.y"], sensitive="s")


def test_names_are_those_of_read(session: Any) -> None:
    frame = session.sql("select 1 as age, 2 as b, 'x' as s")
    with pytest.raises(gh.SchemaError, match="there is no column 'Age'"):
        counted(frame, quasi=["Age"], sensitive="s")
    with pytest.raises(gh.SchemaError, match="the Spark frame has 2 columns named 'b'"):
        counted(session.sql("select 1 b, 2 b"), quasi=["b"])
    with pytest.raises(gh.SourceError, match="the Spark frame has no rows"):
        counted(frame.limit(0), quasi=["age"])
    assert listed(counted(session.sql("select 1 a, 2 A, 3 count, 4 n"), quasi=["a", "A", "count", "n"])) == [
        (1, 2, 3, 4, 1)
    ]


def test_texts_that_are_no_texts_are_refused(session: Any) -> None:
    frame = session.sql("select 1 as age, cast(X'ff' as string) as s")
    with pytest.raises(gh.DomainError, match="not valid Unicode"):
        counted(frame, quasi=["age"], sensitive="s")


def test_without_pyspark_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match=r"pip install 'glasshouse\[spark\]'"):
        gh.spark.Engine(None, tmp_path, source=gh.Source.secure())  # type: ignore[arg-type]
