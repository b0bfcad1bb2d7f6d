"""Counting a file: the kinds that `read` and `kinds_of` give, whatever the file, its batches and the order of rows."""

from __future__ import annotations

import csv
import datetime
import gzip
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import glasshouse as gh
from glasshouse.errors import GlasshouseError, ParameterError, SchemaError, SourceError
from glasshouse.microdata.kinds import Kinds, kinds_of
from glasshouse.streaming import batches as streams
from glasshouse.streaming import tally as tallies
from glasshouse.streaming import vocabulary as vocabularies
from glasshouse.streaming.batches import open_stream
from glasshouse.streaming.count import Counted, count_batches, count_file
from glasshouse.streaming.register import Register, is_registrable
from glasshouse.streaming.tally import Tally
from glasshouse.streaming.witnesses import Witnesses
from tests.tiers import tables

ILLNESSES = ["flu", "Flu", "flu ", "ulcer", "unknown", "n/a", "-", "asthma", "gout\nand more", "1", "01"]
TREE = gh.Taxonomy.from_nested({"any": {"low": ["0", "1", "2", "3"], "high": ["4", "5", "6", "7", "8", "9"]}})
Rows = dict[str, list[Any]]


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is cut into small pieces."""
    monkeypatch.setattr(streams, "_BATCH", 7)
    monkeypatch.setattr(streams, "_BLOCK", 256)
    monkeypatch.setattr(streams, "_ROW", 0)
    monkeypatch.setattr("glasshouse.streaming.coder._MOST_ROWS", 0)
    monkeypatch.setattr(vocabularies, "_LEAST_PENDING", 3)
    monkeypatch.setattr(tallies.Tally.__init__, "__kwdefaults__", {"weighted": False, "gathered": 5})


# ------------------------------------------------------------------------------------------------- random tables


def column(draw: random.Random, n: int) -> list[Any]:
    """Values of one type, mostly."""
    kinds: list[Callable[[], Any]] = [
        lambda: draw.randrange(10),
        lambda: draw.choice([-5, 0, 10**7, 2**40, -(2**60)]),
        lambda: draw.choice([0.5, -0.0, 0.0, 2.5, 1e9, 4.0]),
        lambda: draw.random() < 0.5,
        lambda: draw.choice(["north", "South", "south", " south", "east"]),
        lambda: datetime.date(2020, 1, 1) + datetime.timedelta(days=draw.randrange(5)),
        lambda: datetime.datetime(2020, 1, 1, draw.randrange(3), 30),
        lambda: f"0{draw.randrange(20)}",
        lambda: draw.choice(["1.50", "2", " 3", "1e3"]),
        lambda: f"{draw.randrange(9)},{draw.randrange(9)}",
    ]
    kind = draw.choice(kinds)
    return [kind() for _ in range(n)]


def rows_of(draw: random.Random) -> Rows:
    n = draw.choice([1, 2, 9, 40, 120])
    rows: Rows = {f"q{i}": column(draw, n) for i in range(draw.randint(1, 4))}
    rows["ill"] = [draw.choice(ILLNESSES[: draw.randint(1, len(ILLNESSES))]) for _ in range(n)]
    rows["other"] = column(draw, n)
    rows["id"] = draw.choice(
        [
            [f"p{i}" for i in range(n)],
            list(range(n)),
            [f"{i:03}" for i in range(n)],
            [f"P {i}" if i % 5 else f"p  {i - 1}" for i in range(n)],
            [i // 2 for i in range(n)],
        ]
    )
    for name, values in rows.items():
        if draw.random() < 0.25:
            share = draw.choice([0.05, 0.3, 1.0])
            rows[name] = [None if draw.random() < share else value for value in values]
    return rows


def options_of(draw: random.Random, rows: Rows) -> dict[str, Any]:
    quasi = [name for name in rows if name.startswith("q")]
    options: dict[str, Any] = {"quasi": quasi, "missing": draw.choice(["error", "category", "drop"])}
    options["sensitive"] = draw.choice([None, "ill", ["ill", "other"]])
    if draw.random() < 0.4:
        options["identifier"] = "id"
    if draw.random() < 0.3:
        options["categorical"] = draw.sample([*quasi, "ill"], 1) if options["sensitive"] else quasi[:1]
    if draw.random() < 0.3:
        options["normalise"] = draw.sample([*quasi, *(["ill"] if options["sensitive"] else [])], 1)
        if "identifier" in options and draw.random() < 0.5:
            options["normalise"].append("id")
    one = draw.choice(quasi)
    match draw.randrange(9):
        case 0:
            options["bins"] = {one: gh.Taxonomy.intervals(width=2)}
        case 1:
            options["bins"] = {one: gh.Taxonomy.quantiles(n=3)}
        case 2:
            options["taxonomies"] = {one: TREE}
        case 3:
            options["taxonomies"] = {one: gh.Taxonomy.quantiles(n=2)}
        case 4:
            options["ordered"] = {one: ["south", "South", " south", "east", "north"]}
        case 5:
            options["bottom"], options["top"] = {one: 2}, {one: 6}
        case 6:
            options["taxonomies"] = {one: gh.Taxonomy.dates(levels=["month", "year"])}
        case _:
            pass
    if draw.random() < 0.3:
        options["accept"] = ["look-alikes", "missing-words"]
    return options


def written(draw: random.Random, rows: Rows, folder: Path) -> Path:
    """The rows as a file of some kind."""
    kind = draw.choice(["csv", "csv.gz", "parquet", "arrow", "arrows"])
    path = folder / f"people.{kind}"
    if kind.startswith("csv"):
        with gzip.open(path, "wt", newline="") if kind == "csv.gz" else path.open("w", newline="") as file:
            lines = csv.writer(file, delimiter=draw.choice(",;"))
            lines.writerow(rows)
            texts = [[draw.choice(["", "NA"]) if value is None else value for value in c] for c in rows.values()]
            lines.writerows(zip(*texts, strict=True))
        return path
    table = pa.table(rows)
    if draw.random() < 0.5:
        texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
        for name in texts:
            table = table.set_column(table.column_names.index(name), name, table.column(name).dictionary_encode())
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=draw.choice([5, 11, 1000]), use_dictionary=draw.random() < 0.5)
        return path
    new = ipc.new_file if kind == "arrow" else ipc.new_stream
    with new(path, table.schema) as writer:
        writer.write_table(table.unify_dictionaries(), max_chunksize=draw.choice([6, 1000]))
    return path


def told(work: Callable[[], Any]) -> tuple[Any, str, list[str]]:
    """What work gives, or how it is refused, and what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, refusal = work(), ""
        except GlasshouseError as error:
            found, refusal = None, f"{type(error).__name__}: {error}"
    return found, refusal, sorted(str(one.message) for one in caught)


def assert_equal(found: Kinds, expected: Kinds) -> None:
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.counts.dtype == expected.counts.dtype
    one, other = found.table, expected.table
    assert (one.n_tuples, one.source_kind, one.identifier) == (other.n_tuples, other.source_kind, None)
    assert one.notices == other.notices
    assert one.cautions == other.cautions
    assert one.accepted == other.accepted
    assert len(one.quasi) == len(other.quasi)
    for a, b in zip((*one.quasi, *one.sensitive), (*other.quasi, *other.sensitive), strict=True):
        assert a.codes.tolist() == b.codes.tolist()
        assert a.codes.dtype == b.codes.dtype
        assert a.domain.values.equals(b.domain.values), (a.domain.values, b.domain.values)
        for name in ("name", "kind", "ordered", "tree", "order", "is_declared", "bottom", "top", "missing"):
            assert getattr(a.domain, name) == getattr(b.domain, name), name
        assert a.domain.normalised == b.domain.normalised
        assert (a.domain.taxonomy is None) == (b.domain.taxonomy is None)
        if a.domain.taxonomy is not None and b.domain.taxonomy is not None:
            assert a.domain.taxonomy.labels == b.domain.taxonomy.labels
            assert a.domain.taxonomy.ranges.tolist() == b.domain.taxonomy.ranges.tolist()


def assert_people(counted: Counted, table: gh.Microdata) -> None:
    """Who is of which kind, as in memory."""
    of_row = kinds_of(table)[1]
    found = list(counted.people())
    assert np.concatenate([kinds for kinds, _, _ in found]).tolist() == of_row.tolist()
    assert np.concatenate([rows for _, rows, _ in found]).tolist() == list(range(len(of_row)))
    if table.identifier is None:
        assert all(identifiers is None for _, _, identifiers in found)
    else:
        assert pa.concat_arrays([identifiers for _, _, identifiers in found]).equals(table.identifier)


@pytest.mark.parametrize("seed", range(tables(4000)))
def test_a_file_is_counted_as_it_is_read(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rows = rows_of(draw)
    options = options_of(draw, rows)
    path = written(draw, rows, tmp_path)

    table, refusal, warned = told(lambda: gh.read(path, **options))
    counted, refused, also_warned = told(lambda: count_file(path, **options))

    assert (refused, also_warned) == (refusal, warned)
    if not refusal:
        assert_equal(counted.kinds, kinds_of(table)[0])
        assert counted.n_rows - counted.n_dropped == counted.kinds.n_people == table.n_tuples
        assert counted.n_rows == len(rows["id"])
        assert_people(counted, table)


# --------------------------------------------------------------------------------------------------- identifiers

SORTS: list[Callable[[random.Random, int], Any]] = [
    lambda draw, i: str(i),
    lambda draw, i: str(-i),
    lambda draw, i: f" {i}",
    lambda draw, i: f"{i} ",
    lambda draw, i: f"+{i}",
    lambda draw, i: f"0{i}",
    lambda draw, i: f"-0{i}",
    lambda draw, i: draw.choice(["-00", "0", "-0"]),
    lambda draw, i: f"{i}.0",
    lambda draw, i: f"{i},5",
    lambda draw, i: f"{i}e2",
    lambda draw, i: str(2**53 + i),
    lambda draw, i: str(2**53 + 2 * i),
    lambda draw, i: str(2**63 - 3 + i),
    lambda draw, i: str(-(2**63) - 3 + i),
    lambda draw, i: str(10**20 + i),
    lambda draw, i: f"P{i}",
    lambda draw, i: draw.choice(["inf", "NAN", "nan", "-inf", "0x1f", "1e400"]),
    lambda draw, i: f"2020-01-{1 + i % 28:02}",
    lambda draw, i: draw.choice(["true", "false"]),
    lambda draw, i: draw.choice(["Ann", "ann", "ANN ", "Änn", "än\u200bn", "Strasse", "straße"]) + str(i // 2),
    lambda draw, i: f"two\nlines {i}",
    lambda draw, i: f"1,2\n{i},3",
    lambda draw, i: "long " * draw.choice([1, 2, 500]) + str(i),
    lambda draw, i: None,
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("empty", [",,", '"","",""', ',"",'])
def test_rows_that_are_empty_in_every_column_are_nobody(empty: str, encoding: str, tmp_path: Path) -> None:
    people = [f"{20 + i % 3},{'ÄBC'[i % 3]},flu" for i in range(100)]
    lines = ["age,sex,disease", empty, *people[:50], empty, empty, *people[50:], ",,gout", empty]
    path = tmp_path / "people.csv"
    path.write_bytes("\r\n".join(lines).encode(encoding))
    how: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "missing": "category", "encoding": encoding}

    read, counted = gh.read(path, **how), count_file(path, **how)

    assert (read.n_tuples, counted.n_rows, counted.kinds.n_people) == (101, 101, 101)
    assert sum(len(kinds) for kinds, _, _ in counted.people()) == 101
    assert_equal(counted.kinds, kinds_of(read)[0])
    assert read.notices == counted.notices
    assert "4 rows of people.csv are empty in every column and are left out" in read.notices


def test_an_empty_line_of_a_value_is_no_empty_row(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,disease\n30,"flu\n,\nand gout"\n31,flu\n')

    read = gh.read(path, quasi=["age"], sensitive="disease")

    assert read.sensitive[0].domain.values.to_pylist() == ["flu", "flu\n,\nand gout"]
    assert not any("empty" in notice for notice in read.notices)


def test_people_without_any_published_value_are_told_of_in_every_engine(tmp_path: Path) -> None:
    rows = pa.table(
        {"age": [30, None, None, None], "disease": ["flu", None, "flu", None], "note": ["a", "b", "c", None]}
    )
    pq.write_table(rows, tmp_path / "people.parquet")
    how: dict[str, Any] = {"quasi": ["age"], "sensitive": "disease", "missing": "category"}
    told = "2 rows have no value in any published column, and each counts as a person: "

    for notices in (gh.read(rows, **how).notices, count_file(tmp_path / "people.parquet", **how).notices):
        assert any(notice.startswith(told) for notice in notices)
    assert not any(told[2:] in notice for notice in gh.read(rows, **{**how, "missing": "drop"}).notices)


@pytest.mark.parametrize("seed", range(tables(4000)))
def test_identifiers_are_checked_as_they_are_in_memory(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    monkeypatch.setattr(streams, "_BLOCK", 8192)
    if draw.random() < 0.3:  # a hash that many share: the second look decides
        hashed = Register._hashed
        monkeypatch.setattr(Register, "_hashed", lambda *arguments: hashed(*arguments) & np.uint64(7))
    n = draw.choice([1, 3, 20, 60])
    sorts = draw.sample(SORTS, draw.choice([1, 1, 2, 3]))
    shares = [1.0, *(draw.choice([0.05, 1.0]) for _ in sorts[1:])]
    people = [draw.choices(sorts, shares)[0](draw, i) for i in range(n)]
    people[: n // 2] = draw.choice([people[: n // 2], [f"{sorts[0](draw, i)}" for i in range(n // 2)]])
    gap = draw.random() < 0.3
    rows = {"q": [None if gap and draw.random() < 0.2 else i % 3 for i in range(n)], "id": people}
    path = tmp_path / draw.choice(["people.csv", "people.parquet"])
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(rows)
            lines.writerows(zip(*([("" if v is None else v) for v in c] for c in rows.values()), strict=True))
    else:
        pq.write_table(pa.table(rows), path, use_dictionary=draw.random() < 0.5)
    options = {"quasi": ["q"], "identifier": "id", "missing": "drop", "decimal": draw.choice("..,")}
    if draw.random() < 0.2:
        options["normalise"] = ["id"]

    table, refusal, _ = told(lambda: gh.read(path, **options))
    counted, refused, _ = told(lambda: count_file(path, **options))

    assert refused == refusal
    if not refusal:
        assert_equal(counted.kinds, kinds_of(table)[0])
        assert_people(counted, table)


NUMBERS = [*SORTS[:16], SORTS[17], lambda draw, i: f"0{i}e2", lambda draw, i: f"0x{i}f"]
TEXTS = SORTS[16:17] + SORTS[20:24]


@pytest.mark.parametrize("seed", range(tables(5000)))
def test_witnesses_decide_as_all_texts_would(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    first = draw.choice(["1", "1.5", "x"])
    path = tmp_path / "people.csv"
    path.write_text(f"id\n{first}\n")
    stream = open_stream(path, decimal=draw.choice("..,"))
    sorts = draw.sample(NUMBERS, draw.randint(1, 3)) + draw.sample(TEXTS, draw.random() < 0.2)
    texts = [draw.choice(sorts)(draw, draw.randrange(6)) for _ in range(draw.choice([2, 3, 5, 9]))]
    texts = [text for text in texts if text not in ("nan", "1,2\n0,3")] or ["1"]
    if first == "x":
        texts.append("x")
    witnesses = Witnesses(stream, "id")
    for start in range(0, len(texts), step := draw.choice([1, 2, 3])):
        witnesses.see(pa.array(texts[start : start + step]))

    typed, is_kept = stream.typed("id", pa.array(texts))

    settled = witnesses.settled()
    if settled is None:
        assert not is_registrable(typed.type)
    else:
        assert settled == (typed.type, is_kept)


# ------------------------------------------------------------------------------------------ rows, weights, batches


def chunks(table: pa.Table, n_rows: int) -> Callable[[], Iterator[dict[str, pa.Array]]]:
    """The table in batches, as often as it is opened."""

    def opened() -> Iterator[dict[str, pa.Array]]:
        for batch in table.to_batches(max_chunksize=n_rows):
            yield dict(zip(batch.schema.names, batch.columns, strict=True))

    return opened


@pytest.mark.parametrize("seed", range(tables(600)))
def test_batches_are_counted_as_the_table_is_read(seed: int) -> None:
    draw = random.Random(seed)
    rows = rows_of(draw)
    options = options_of(draw, rows)
    table = pa.table(rows)

    whole, refusal, _ = told(lambda: gh.read(table, **options))
    counted, refused, _ = told(lambda: count_batches(chunks(table, 7), columns=list(rows), **options))

    assert refused == refusal
    if not refusal:
        assert_equal(counted.kinds, kinds_of(whole)[0])
        assert_people(counted, whole)


@pytest.mark.parametrize("seed", range(tables(600)))
def test_a_row_with_a_weight_stands_for_so_many_people(seed: int) -> None:
    draw = random.Random(seed)
    rows = rows_of(draw)
    options = {**options_of(draw, rows), "identifier": None}
    weights = [draw.choice([1, 1, 2, 9]) for _ in rows["id"]]
    long = pa.table({name: [v for v, n in zip(c, weights, strict=True) for _ in range(n)] for name, c in rows.items()})
    long = long.cast(pa.table(rows).schema)
    short = pa.table({**rows, "n": pa.array(weights, draw.choice([pa.int64(), pa.uint8()]))})
    if "id" in options.get("normalise", ()):
        del options["normalise"]

    whole, refusal, _ = told(lambda: gh.read(long, **options))
    counted, refused, _ = told(lambda: count_batches(chunks(short, 4), columns=list(rows), weights="n", **options))

    assert refused == refusal
    if not refusal:
        assert_equal(counted.kinds, kinds_of(whole)[0])
        assert (counted.n_rows, counted.n_dropped) == (sum(weights), sum(weights) - whole.n_tuples)
        seen = [(kind, row) for kinds, numbers, _ in counted.people() for kind, row in zip(kinds, numbers, strict=True)]
        assert [row for _, row in seen] == list(range(len(seen)))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("seed", range(tables(100)))
def test_the_order_of_rows_does_not_matter(seed: int, suffix: str, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rows = rows_of(draw)
    rows["ill"] = [value and value.replace("\n", " ") for value in rows["ill"]]  # a notice would name its line
    options = {**options_of(draw, rows), "missing": "category"}
    order = list(range(len(rows["id"])))

    def counted() -> Any:
        path = tmp_path / f"people{suffix}"
        table = pa.table(rows).take(pa.array(order))
        (pa_csv.write_csv if suffix == ".csv" else pq.write_table)(table, path)
        return told(lambda: count_file(path, **options))

    one, refusal, _ = counted()
    draw.shuffle(order)
    other, refused, _ = counted()

    assert refused == refusal
    if not refusal:
        assert_equal(other.kinds, one.kinds)


def test_batches_may_be_empty_and_lack_values() -> None:
    parts = [
        {"age": pa.nulls(2), "ill": pa.array(["flu", "gout"])},
        {"age": pa.array([], pa.int64()), "ill": pa.array([], pa.string())},
        {"age": pa.array([1, None, 2]), "ill": pa.array(["flu", None, "flu"])},
    ]

    found = count_batches(lambda: parts, columns=["age", "ill"], quasi=["age"], sensitive="ill", missing="category")

    assert found.kinds.counts.tolist() == [1, 1, 1, 1, 1]
    assert [column.codes.tolist() for column in (*found.kinds.table.quasi, *found.kinds.table.sensitive)] == [
        [0, 1, 2, 2, 2],
        [0, 0, 0, 1, 2],
    ]


def test_what_batches_cannot_be_is_refused() -> None:
    def refused(error: type[Exception], words: str, *parts: dict[str, Any], **options: Any) -> None:
        batches = [{name: pa.array(values) for name, values in part.items()} for part in parts]
        with pytest.raises(error, match=words):
            count_batches(lambda: batches, **{"columns": ["age"], "quasi": ["age"], **options})

    refused(SourceError, "the table has no rows")
    refused(SourceError, "the table has no rows", {"age": []})
    refused(SchemaError, "has no column 'age'", {"ill": [1]})
    refused(SchemaError, "different types in different batches", {"age": [1]}, {"age": ["old"]})
    refused(SchemaError, "different types in different batches", {"age": [1]}, {"age": [1.5]})
    refused(SchemaError, "must be whole numbers", {"age": [1], "n": [1.5]}, weights="n")
    refused(SchemaError, "must be whole numbers without missing values", {"age": [1, 1], "n": [1, None]}, weights="n")
    refused(SchemaError, "must be 1 or more", {"age": [1], "n": [0]}, weights="n")
    refused(ParameterError, "weights", {"age": [1]}, weights="age")
    refused(ParameterError, "weights", {"age": [1]}, weights="n", columns=["age", "id"], identifier="id")


def test_too_many_different_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabularies.Vocabulary.__init__, "__kwdefaults__", {"most": 1000})
    monkeypatch.setattr(vocabularies, "_SHORT_RANGE", 100)
    for values in (
        pa.array(range(5000)),
        pa.array([str(i) for i in range(5000)]),
        pa.array([i / 8 for i in range(5000)]),
    ):
        with pytest.raises(gh.errors.DomainError, match="'age' has more than 1,000 different values"):
            count_batches(chunks(pa.table({"age": values}), 7), columns=["age"], quasi=["age"])


# ------------------------------------------------------------------------------------------------ a file that changes


def people_file(folder: Path, suffix: str, ages: Sequence[int | None], **more: list[Any]) -> Path:
    path = folder / f"people{suffix}"
    table = pa.table({"age": ages, "ill": ["flu", "gout"] * (len(ages) // 2), **more})
    (pa_csv.write_csv if suffix == ".csv" else pq.write_table)(table, path)
    return path


CHANGES = {
    "another value": [30, 31, 32, 99] * 5,
    "other counts": [30, 30, 32, 33] * 5,
    "fewer rows": [30, 31, 32, 33] * 4,
    "more rows": [30, 31, 32, 33] * 6,
    "a pair exchanged": [31, 30, 32, 33] * 5,
    "other shares": [30, 31, 32, 33] * 4 + [30, 31, 30, 31],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_file_that_changes_is_refused(
    change: str, suffix: str, hidden: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if hidden:  # nothing but the content tells
        monkeypatch.setattr(streams.FileStream, "stamp", lambda _self: None)
    before = [30, 31, 32, 33] * 5
    path = people_file(tmp_path, suffix, before)
    options: dict[str, Any] = {"quasi": ["age"], "sensitive": "ill"}
    read = count_file(path, **options)

    people_file(tmp_path, suffix, CHANGES[change])
    with pytest.raises(SourceError, match="changed while it was read"):
        list(read.people())

    # between the first and the second reading; that a pair was exchanged meanwhile cannot be seen, and does not matter
    people_file(tmp_path, suffix, before)

    def tell(phase: str, done: int, _total: int) -> None:
        if phase == "reading" and done == len(before):
            people_file(tmp_path, suffix, CHANGES[change])

    if hidden and change == "a pair exchanged":
        assert count_file(path, **options, progress=tell).kinds.n_people == len(before)
        return
    with pytest.raises(SourceError, match="changed while it was read"):
        count_file(path, **options, progress=tell)


@pytest.mark.parametrize("ages", [[30, 31] * 12, [30, 31] * 8, [30, None] * 10])
@pytest.mark.parametrize(("gap", "phase"), [(False, "reading"), (True, "reading"), (True, "dropping")])
def test_a_file_that_changes_before_rows_are_dropped_or_identifiers_read_is_refused(
    ages: list[int | None], gap: bool, phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams.FileStream, "stamp", lambda _self: None)
    before = [None if gap else 30, *[31, 30] * 9, 31]
    options: dict[str, Any] = {"quasi": ["age"], "identifier": "id", "missing": "drop"}
    path = people_file(tmp_path, ".parquet", before, id=[f"p{i}" for i in range(20)])

    def tell(now: str, done: int, _total: int) -> None:
        if now == phase and done == 20:
            people_file(tmp_path, ".parquet", ages, id=[f"p{i}" for i in range(len(ages))])

    with pytest.raises(SourceError, match="changed while it was read"):
        count_file(path, **options, progress=tell)


def test_batches_that_change_are_refused() -> None:
    versions = iter([[1, 2, 3], [1, 2, 2]])

    def opened() -> list[dict[str, pa.Array]]:
        return [{"age": pa.array(next(versions))}]

    with pytest.raises(SourceError, match="the census changed between two readings"):
        count_batches(opened, columns=["age"], what="the census", quasi=["age"])


def test_a_file_that_is_gone_or_cut_short_is_refused(tmp_path: Path) -> None:
    path = people_file(tmp_path, ".parquet", [30, 31] * 10)
    counted = count_file(path, quasi=["age"])

    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SourceError):
        list(counted.people())
    path.unlink()
    with pytest.raises(SourceError, match="changed while it was read"):
        list(counted.people())


# ------------------------------------------------------------------------------------------------ files of all kinds


def test_the_doors_refuse_alike(tmp_path: Path) -> None:
    """What is wrong with a file is said in the same words, however it is read."""
    nested = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"age": [[1], [2]]}), nested)
    empty = tmp_path / "none.parquet"
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), empty)
    files = {
        "ragged.csv": b"age,ill\n30,flu\n31\n",
        "open.csv": b'age,ill\n30,"flu\n31,ulcer\n',
        "twice.csv": b"age,age\n30,31\n",
        "nameless.csv": b"age,\n30,31\n",
        "header.csv": b"age,ill\n",
        "nothing.csv": b"",
        "blank.csv": b"age\n\n\n",
        "table.pdf": b"%PDF-1.4",
        "short.parquet": nested.read_bytes()[:-9],
        "short.csv.gz": gzip.compress(b"age\n30\n" * 999)[:-30],
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for path in [*sorted(tmp_path.iterdir()), tmp_path / "nowhere.csv", tmp_path]:
        _, refusal, _ = told(lambda path=path: gh.read(path, quasi=["age"]))
        _, refused, _ = told(lambda path=path: count_file(path, quasi=["age"]))
        assert refusal
        assert refused == refusal
    with pytest.raises(gh.errors.NotSupported):
        count_file("postgresql://somewhere/people", quasi=["age"])


@pytest.mark.parametrize(
    "content",
    [
        "name;age;ill\nMüller;30;Grippe\nWeiß;31;Fieber\n".encode("cp1252"),
        "name,age,ill\nMüller,30,flu\n".encode("utf-16"),
        "\ufeffname,age,ill\nAnn,30,flu\nBob,31,gout\n".encode(),
        b'name,age,ill\n"Ann, B.",30,"two\nlines"\n"C",31,"a ""mark"""\n"D"x,32,flu\n',
        b"name,age,ill\nAnn,,flu\n" + b"Bob,,gout\n" * 40_000 + b"Cid,7,gout\n",
        b"name,age,ill\n" + b"Bob,7,gout\n" * 40_000 + b"Cid,x,gout\n",
        b"name,age,ill\n" + b"Bob,7,gout\n" * 40_000 + b"Cid,2.5,gout\n",
        b"name,age,ill\n" + b"Bob,7,gout\n" * 40_000 + b"Cid,007,gout\n",
        b"name,age,ill\n" + b"Bob,2020-01-01,gout\n" * 40_000 + b"Cid,2020-01-01 10:00:00,gout\n",
        b"name,age,ill\n" + b"Bob,12:30,gout\nAnn,11:30,flu\n",
        b"1,age,3\n" + b"4,5,6\n",
    ],
)
def test_text_is_taken_for_what_read_takes_it(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_BLOCK", 1 << 16)
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    options: dict[str, Any] = {"quasi": ["age"], "missing": "category"}
    options["sensitive"] = "ill" if b"ill" in content or len(content) % 2 == 0 else None
    if b"3" in content[:8]:
        options["sensitive"] = None

    table, refusal, _ = told(lambda: gh.read(path, **options))
    counted, refused, _ = told(lambda: count_file(path, **options))

    assert refused == refusal
    if not refusal:
        assert_equal(counted.kinds, kinds_of(table)[0])


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".csv"])
def test_a_damaged_file_is_refused_or_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{suffix}"
    table = pa.table({"age": [30, 31, None] * 9, "ill": ["flu", "01", "Grün"] * 9, "id": [f"p{i}" for i in range(27)]})
    if suffix == ".csv":
        pa_csv.write_csv(table, path)
    elif suffix == ".parquet":
        pq.write_table(table, path, row_group_size=10)
    else:
        with (ipc.new_file if suffix == ".arrow" else ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table)
    whole = path.read_bytes()
    options: dict[str, Any] = {"quasi": ["age"], "sensitive": "ill", "identifier": "id", "missing": "category"}
    refusals = 0
    for seed in range(tables(2000)):
        draw = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(draw.choice([1, 2, 5])):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.choice([0, 1, 9])] = draw.randbytes(draw.choice([0, 1, 8]))
        path.write_bytes(damaged)
        refusals += bool(told(lambda: list(count_file(path, **options).people()))[1])
    assert refusals


def test_an_arrow_file_that_becomes_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.arrow"
    table = pa.table({"age": np.ones(300_000, np.int64)})
    with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    monkeypatch.setattr("glasshouse.unpacking.budget._LEAST", 1000)
    monkeypatch.setattr("glasshouse.unpacking.budget._TIMES", 3)

    with pytest.raises(SourceError, match="far more than its size"):
        count_file(path, quasi=["age"])


def test_ordered_categories_keep_their_order(tmp_path: Path) -> None:
    def grades(values: list[str | None], order: list[str]) -> pa.DictionaryArray:
        places = pa.array([None if value is None else order.index(value) for value in values], pa.int8())
        return pa.DictionaryArray.from_arrays(places, pa.array(order), ordered=True)

    order = ["low", "middle", "high"]
    for others in (order, ["low", "middle"], ["high", "low"]):
        parts = [grades(["low", None, "middle"], order), grades(["low", "low"], others)]
        table = pa.table({"grade": pa.chunked_array(parts)})
        path = tmp_path / "grades.arrows"
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)

        counted = count_file(path, quasi=["grade"], missing="category")

        assert_equal(counted.kinds, kinds_of(gh.read(path, quasi=["grade"], missing="category"))[0])


def test_values_of_every_type_are_counted(tmp_path: Path) -> None:
    moments = [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), None, datetime.datetime(2021, 5, 4)]
    types: list[tuple[list[Any], pa.DataType]] = [
        ([1, None, 200], pa.uint8()),
        ([1, None, 2**40], pa.uint64()),
        ([1, None, -(2**62)], pa.int64()),
        ([0.5, None, float("nan")], pa.float32()),
        ([0.5, -0.0, 0.0], pa.float64()),
        (moments[1:], pa.timestamp("ns")),
        ([moments[0], None], pa.timestamp("s", "UTC")),
        ([datetime.date(2020, 1, 1), None], pa.date64()),
        ([datetime.time(10, 30), None], pa.time32("s")),
        ([True, None, False], pa.bool_()),
        (["a", None, "b"], pa.large_string()),
        (["a", None, "b"], pa.string_view()),
        ([1, None, 2], pa.decimal128(5, 0)),
        (["a", None, "b"], pa.dictionary(pa.int8(), pa.large_string())),
        ([3, None, 4], pa.dictionary(pa.int8(), pa.int16())),
    ]
    for number, (values, kind) in enumerate(types):
        path = tmp_path / f"{number}.arrow"
        told = values * 9
        if pa.types.is_dictionary(kind):
            distinct = [value for value in values if value is not None]
            places = [None if value is None else distinct.index(value) for value in told]
            column = pa.DictionaryArray.from_arrays(
                pa.array(places, kind.index_type), pa.array(distinct, kind.value_type)
            )
        else:
            column = pa.array(told, kind)
        table = pa.table({"x": column})
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
        for missing in ("category", "drop"):
            options: dict[str, Any] = {"quasi": ["x"], "missing": missing}

            counted = count_file(path, **options)

            whole = gh.read(path, **options)
            assert_equal(counted.kinds, kinds_of(whole)[0])
            assert_people(counted, whole)


# --------------------------------------------------------------------------------------------------------- tallies


@pytest.mark.parametrize(
    "sizes", [[3], [1, 1], [5, 1, 7], [2**31, 2**31, 9], [2**30] * 5, [1, 2**31 - 1, 2**31 - 1, 1]]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tally_counts_every_combination(sizes: list[int], weighted: bool) -> None:
    draw = np.random.default_rng(7)
    tally = Tally(sizes, weighted=weighted, gathered=10)
    expected: Counter[tuple[int, ...]] = Counter()
    pool = [[int(draw.choice([0, size // 3, size - 1])) for size in sizes] for _ in range(40)]
    batches = []
    for _ in range(20):
        rows = np.array([pool[i] for i in draw.integers(0, len(pool), 13)]).reshape(13, -1)
        weights = draw.integers(1, 5, 13) if weighted else np.ones(13, np.int64)
        tally.add([*rows.T], weights if weighted else None)
        batches.append(rows)
        for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
            expected[tuple(row)] += weight
    tally.finish()

    found = list(zip(*(codes.tolist() for codes in tally.codes()), strict=True))
    assert found == sorted(expected)
    assert tally.counts.tolist() == [expected[row] for row in found]
    for rows in batches:
        assert [found[place] for place in tally.places([*rows.T])] == list(map(tuple, rows.tolist()))
    strangers = [np.array([size // 2]) for size in sizes]
    stranger = tuple(int(code[0]) for code in strangers)
    assert tally.places(strangers).tolist() == [found.index(stranger) if stranger in expected else -1]


def test_a_dictionary_may_hold_a_missing_value() -> None:
    places = pa.array([0, 1, None, 2, 0], pa.int8())
    texts = pa.DictionaryArray.from_arrays(places, pa.array([None, "a", "b"]))
    table = pa.table({"x": texts, "y": [1, 2, 3, 4, 5]})

    for missing in ("category", "drop"):
        options: dict[str, Any] = {"quasi": ["x", "y"], "missing": missing}
        counted = count_batches(chunks(table, 5), columns=["x", "y"], **options)

        whole = gh.read(table, **options)
        assert_equal(counted.kinds, kinds_of(whole)[0])
        assert_people(counted, whole)


def test_a_message_does_not_depend_on_the_order_of_rows() -> None:
    codes = [f"{i}code" for i in range(20)]
    options: dict[str, Any] = {"quasi": ["zip"], "bins": {"zip": gh.Taxonomy.prefix(length=3)}}
    refusals = set()
    for order in (codes, codes[::-1], sorted(codes)):
        table = pa.table({"zip": order})
        refusals.add(told(lambda table=table: gh.read(table, **options))[1])
        refusals.add(told(lambda table=table: count_batches(chunks(table, 3), columns=["zip"], **options))[1])
    assert len(refusals) == 1


def test_columns_that_are_kept_as_text_are_named_in_the_order_of_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first column is known to hold digits late, the second from the beginning."""
    monkeypatch.setattr(streams, "_BLOCK", 1 << 16)
    path = tmp_path / "people.csv"
    path.write_bytes(b"late,early\n" + b",7\n" * 100_000 + b"007,08\n")
    options: dict[str, Any] = {"quasi": ["late", "early"], "missing": "category"}

    counted = count_file(path, **options)

    assert any("early, late" in notice for notice in counted.notices)
    assert_equal(counted.kinds, kinds_of(gh.read(path, **options))[0])


def test_progress_is_told(tmp_path: Path) -> None:
    path = people_file(tmp_path, ".parquet", [30, 31] * 10, id=list(range(20)))
    seen: list[tuple[str, int, int]] = []

    count_file(path, quasi=["age"], identifier="id", progress=lambda *told: seen.append(told))

    assert dict.fromkeys(phase for phase, _, _ in seen) == dict.fromkeys(["reading", "identifiers", "counting"])
    assert seen[-1] == ("counting", 20, 20)
