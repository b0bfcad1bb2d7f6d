"""What is damaged: small files of every kind that the doors take, made by the project itself."""

from __future__ import annotations

import datetime
import gzip
import json
import tempfile
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pyarrow import ipc

import glasshouse as gh
from glasshouse.release.package.write import write_release

__all__ = [
    "AXIS",
    "KINDS",
    "ODD_NUMBERS",
    "PEOPLE",
    "POLICIES",
    "POLICY_WORDS",
    "QUASI",
    "QUESTIONS",
    "RECIPES",
    "RELEASED",
    "SQL_WORDS",
    "VALUES",
    "folders",
    "populations",
    "releases",
    "table_files",
]

N = 24
_TEXTS = ["Oslo", "Rome", 'a, "b"\nc', "", "Zürich", "'", "é"]
PEOPLE = pa.table(
    {
        "age": pa.array([20 + i % 7 for i in range(N)], pa.int16()),
        "height": pa.array([1.5 * (i % 5) if i % 6 else None for i in range(N)]),
        "joined": pa.array([datetime.date(2020, 1, 1 + i % 9) for i in range(N)]),
        "seen": pa.array([10**15 * (i % 4) for i in range(N)], pa.timestamp("us", "UTC")),
        "member": pa.array([bool(i % 2) for i in range(N)]),
        "price": pa.array([None if i % 5 == 0 else i for i in range(N)], pa.int64()).cast(pa.decimal128(21, 2)),
        "city": pa.array([_TEXTS[i % 7] for i in range(N)]),
        "disease": pa.array(["flu", "ulcer", "gout", "cold"] * (N // 4)).dictionary_encode(),
    }
)
RELEASED = PEOPLE.append_column("marital-status", pa.array(["x", "y", "z"] * (N // 3)))
MARGINALS = (("age", "disease"), ("age", "city", "height"))
QUASI = ("age", "height", "joined", "seen", "city", "marital-status", "member")
ODD_TYPES = pa.table(
    {
        "view": pa.array(["a", "b" * 20, None] * 4, pa.string_view()),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([5, 12], pa.int32()), pa.array(["x", "y"])),
        "nothing": pa.nulls(12),
        "large": pa.array(["l"] * 12, pa.large_string()),
        "time": pa.array([3600] * 12, pa.time32("s")),
        "half": pa.array([1.0] * 12, pa.float16()),
        "day": pa.array([86_400_000] * 12, pa.date64()),
        "codes": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 6, pa.int8()), ["a", "b"], ordered=True),
    }
)
BAD_TYPES = pa.table(
    {
        "good": pa.array([1] * 12),
        "bytes": pa.array([b"\xff"] * 12),
        "list": pa.array([[1], None, []] * 4),
        "record": pa.array([{"a": 1}] * 12),
        "big": pa.array([2**64 - 1] * 12, pa.uint64()),
        "long": pa.array([5] * 12, pa.duration("s")),
    }
)


# ------------------------------------------------------------------------------------------------------------- tables


@cache
def table_files() -> Mapping[str, bytes]:
    """Files of every kind that the reader takes, by their names."""
    text = _csv(PEOPLE)
    plain = text.decode()
    return {
        "people.csv": text,
        "german.csv": plain.replace(",", ";").encode("cp1252"),
        "wide.csv": plain.encode("utf-16"),
        "few.tsv": b"zip\tn\tx\n01234\t1\t1,5\n12345\t22\t2,5\n99999\t9007199254740993\t+3\n",
        "people.csv.gz": gzip.compress(text, mtime=0),
        "people.csv.zst": pa.compress(text, codec="zstd", asbytes=True),
        "people.parquet": _parquet(PEOPLE),
        "plain.parquet": _parquet(PEOPLE, compression="none", use_dictionary=False, data_page_version="2.0"),
        "snappy.parquet": _parquet(PEOPLE.select(["age", "city"]), compression="snappy", row_group_size=7),
        "delta.parquet": _parquet(
            PEOPLE.select(["age", "city"]),
            use_dictionary=False,
            column_encoding={"age": "DELTA_BINARY_PACKED", "city": "DELTA_BYTE_ARRAY"},
        ),
        "people.arrow": _arrow(PEOPLE, ipc.new_file),
        "packed.arrow": _arrow(PEOPLE, ipc.new_file, compression="zstd"),
        "lz4.arrows": _arrow(PEOPLE, ipc.new_stream, compression="lz4"),
        "odd.arrow": _arrow(ODD_TYPES, ipc.new_file),
        "odd.arrows": _arrow(ODD_TYPES, ipc.new_stream),
        "bad.arrow": _arrow(BAD_TYPES, ipc.new_file),
        "bad.parquet": _parquet(BAD_TYPES.drop_columns("long")),
    }


def _csv(table: pa.Table) -> bytes:
    buffer = pa.BufferOutputStream()
    pa_csv.write_csv(table.set_column(7, "disease", table["disease"].cast(pa.string())), buffer)
    return buffer.getvalue().to_pybytes()


def _parquet(table: pa.Table, **options: Any) -> bytes:
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, **{"compression": "zstd", **options})
    return buffer.getvalue().to_pybytes()


def _arrow(table: pa.Table, writer: Any, compression: str | None = None) -> bytes:
    buffer = pa.BufferOutputStream()
    with writer(buffer, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as opened:
        opened.write_table(table)
    return buffer.getvalue().to_pybytes()


# ----------------------------------------------------------------------------------------------------------- policies

POLICIES: tuple[str, ...] = (
    """# a policy
[source]
file = "people.csv"
delimiter = ","
missing = "category"

[roles]
quasi = ["age", "city"]
sensitive = "disease"

[columns.age]
bins = "intervals:10"
bottom = 18
top = 90.5

[columns."a b"]
categorical = false
[columns.city]
order = ["Oslo", 'Rome']
categorical = true
taxonomy = "city.csv"

[principle]
k = 5
ell = 3
t = "1/3"
distance = "ordered"

[method]
name = "mondrian"
partitioning = "relaxed"

[recoding]
name = "angel"
k = 3
marginals = [["age", "disease"], ["city"]]

[release]
out = "out"
format = "csv"
suppress = 0.05
licence = "CC-BY-4.0"

[run]
engine = "disk"
memory = 2
threads = 1
""",
    """[source]
file = "postgresql://host/clinic"
table = "people"
[release]
out = "out"
[roles]
quasi = ["age"]
sensitive = "disease"
[principle]
rho1 = 0.2
rho2 = "0.6"
k = 3
[recoding]
name = "perturbed"
domain = ["flu", "gout"]
[columns]
age = {top = 2020-01-01, order = [1, 2.5, 1e3, 0x1f]}
""",
    """[source]
file = "postgresql://host/clinic"
table = "people"
[release]
out = "out"
[roles]
quasi = ["age"]
sensitive = "disease"
[principle]
recursive = "2,3"
alpha = 0.4
k = 2
[method]
name = "refined"
coarse = {name = "tailor"}
inner = "ace"
""",
)
POLICY_WORDS = (
    "[", "]", "{", "}", "=", '"', "'", '"""', "'''", "#", "\n", "\\", ".", ",", "true", "nan", "inf", "1e999",
    "9999999999999999999999", "1/0", "-1", "0", "2020-01-01", "25:61:61", "&a", "*a", "!!python/object:os.system",
    "- ", ": ", "---", "...", "[[columns]]", "[columns.x]", "name",
    "ell", "@/etc/passwd", "@../x", "quantiles:4", "prefix:2", "intervals:0", "years", "{" * 60, "[" * 60,
    "a." * 30, "\\u0000", "\\ud800", "\ufeff", "postgresql://a:b@c/d", "ace", "hybrid", "refined", "separate",
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- questions

KINDS: Mapping[str, str] = {
    "age": "integer",
    "height": "float",
    "joined": "date",
    "seen": "timestamp",
    "member": "boolean",
    "city": "category",
    "marital-status": "category",
    "disease": "category",
}
QUESTIONS: tuple[str, ...] = (
    "SELECT COUNT(*) WHERE age BETWEEN 21 AND 24 AND disease IN ('flu', 'gout')",
    "SELECT COUNT(*) AS n, SUM(age), disease FROM release WHERE NOT (city = 'Oslo' OR age > 22) GROUP BY disease",
    "SELECT AVG(height) FROM release AS r WHERE r.member AND r.joined >= DATE '2020-01-03' AND height IS NOT NULL",
    "SELECT COUNT(*) WHERE seen < TIMESTAMP '2024-05-01 12:30:00' AND age <> -2.5 OR NOT member",
    'SELECT COUNT(*), "city" WHERE "marital-status" NOT IN (\'x\', NULL) AND TRUE GROUP BY "city"',
    "SELECT COUNT(*) WHERE disease IS NULL OR height NOT BETWEEN 1e0 AND 3.5",
    "SELECT SUM(age), age WHERE age IN (20, 21, 22) GROUP BY age",
)
VALUES: Mapping[str, tuple[str, ...]] = {
    "age": ("20", "23", "-5", "22.5", "1e3", "NULL", "9" * 30, "1e400", "1e-400"),
    "height": ("0", "1.5", "-2.25", "1e308", "NULL", "0.1"),
    "joined": ("DATE '2020-01-03'", "'2020-01-09'", "'0001-01-01'", "DATE '9999-12-31'"),
    "seen": ("TIMESTAMP '2001-09-09 01:46:40'", "'2040-01-01'", "TIMESTAMP '9999-12-31 23:59:59'", "'0001-01-01'"),
    "member": ("TRUE", "FALSE", "NULL"),
    "city": ("'Oslo'", "'Rome'", "''", "''''", "'zzz'"),
    "marital-status": ("'x'", "'y'", "'\\'"),
    "disease": ("'flu'", "'gout'", "'none'", "NULL"),
}
SQL_WORDS = (
    "SELECT", "COUNT(*)", "COUNT(DISTINCT age)", "SUM(age)", "AVG(disease)", "FROM release", "WHERE", "GROUP BY",
    "ORDER BY age", "LIMIT 1", "JOIN x ON TRUE", "UNION SELECT 1", "WITH x AS (SELECT 1)", "HAVING COUNT(*) > 1", "(",
    ")", "((", "))", ",", ";", "--", "/*", "*/", "'", '"', "`", "$1", "?", ":x", "@x", "*", "=", "<>", "<=>", "<", ">=",
    "||", "->", "->>", "::int", "[1]", "{'a': 1}", "AND", "OR", "NOT", "XOR", "BETWEEN 1 AND 2", "BETWEEN SYMMETRIC",
    "IN (1, 2)", "IN ()", "IN (SELECT 1)", "IS NULL", "IS TRUE", "LIKE 'a%'", "ANY (1)", "EXISTS (SELECT 1)", "CASE",
    "WHEN TRUE THEN 1 END", "CAST(age AS DATE)", "DATE '2020-01-01'", "DATE '2020-13-41'", "TIMESTAMP '0000'",
    "INTERVAL 1 DAY", "1e999", "1e-999", "0x1f", "1_000", ".", "1.", ".5", "9" * 500, "-1", "- - 1", "NaN", "Infinity",
    "NULL", "TRUE", "age", "height", "joined", "seen", "member", "city", "marital-status", "disease", "release", "r",
    "release.age", "a.b.c.d", "FILTER (WHERE age > 1)", "OVER ()", "PIVOT", "QUALIFY", "SAMPLE 10%", "FROM x", "LAMBDA",
    "x -> x", "DISTINCT", "ALL", "COLUMNS(*)", "EXCLUDE", "AS", "AS n", "\0", "\\", "E'\\x'", "U&'\\0041'", "DROP",
    "ATTACH 'x'", "read_csv('/etc/passwd')", "getenv('HOME')", "IF(1, 2, 3)", "EXTRACT(year FROM joined)", "((((((((",
    "NOT NOT NOT NOT", "DESCRIBE", "PRAGMA x", "COPY", "SET x = 1",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ recipes


def _deep(key: str, name: str, depth: int) -> dict[str, Any]:
    data: dict[str, Any] = {"name": "mirror"} if key == "coarse" else {"name": "k-anonymity", "k": 2}
    for _ in range(depth):
        data = {"name": name, key: data if key == "coarse" else [data]}
    return data


AXIS: Mapping[str, Any] = {
    "order": ["cold", "flu", "gout", "ulcer"],
    "heights": [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]],
}
ODD_NUMBERS: tuple[Any, ...] = (
    0,
    1,
    2,
    3,
    7,
    -1,
    1.5,
    1e300,
    5e-324,
    2**31 - 1,
    2**31,
    2**40,
    2**63,
    2**64,
    10**30,
    10**400,
    True,
    False,
    None,
    "",
    "0",
    "1",
    "2",
    "0.5",
    "1/2",
    "1/3",
    "1e-99999999",
    "1e99999999",
    "-1",
    "1/0",
    "nan",
    "inf",
    "9" * 5_000,
    "0." + "3" * 99,
    f"1/{10**99}",
    f"{10**99 - 1}/{10**99}",
    [],
    {},
    [[]],
    ["age"],
    ["disease"],
    ["flu"],
    ["flu", "flu", None],
    ["x"] * 3_000,
    [["age", "1"]],
    [["age", "disease"]] * 500,
    "drop",
    "merge",
    "none",
    "ace",
    "strict",
    "taxonomies",
    "hierarchical",
    "ordered",
    "\ud800",
    "\x1b[31m",
    "a" * 10_000,
    _deep("coarse", "refined", 18),
    _deep("coarse", "refined", 50),
    _deep("principles", "all-of", 9),
    _deep("principles", "all-of", 50),
)
RECIPES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "principle": (
        {"name": "k-anonymity", "k": 2},
        {"name": "l-diversity", "ell": 2},
        {"name": "distinct-l-diversity", "ell": 2},
        {"name": "entropy-l-diversity", "ell": "1.5"},
        {"name": "recursive-l-diversity", "c": 2, "ell": 2},
        {"name": "designated-l-diversity", "ell": 2, "values": ["flu"]},
        {"name": "alpha-k-anonymity", "alpha": "0.5", "k": 2},
        {"name": "t-closeness", "t": "0.5", "distance": "equal"},
        {"name": "t-closeness", "t": "0.5", "distance": "hierarchical"},
        {"name": "all-of", "principles": [{"name": "k-anonymity", "k": 2}, {"name": "l-diversity", "ell": 2}]},
        {"name": "by-column", "columns": {"disease": {"name": "l-diversity", "ell": 2}}},
        {"name": "rho-breach", "rho1": "0.2", "rho2": "0.6", "lambda_": 1, "k": 3},
        {"name": "delta-growth", "delta": "0.5", "lambda_": 1, "k": 3},
    ),
    "method": (
        {"name": "mondrian", "partitioning": "strict"},
        {"name": "mondrian", "partitioning": "relaxed"},
        {"name": "snug"},
        {"name": "tailor"},
        {"name": "ace"},
        {"name": "hybrid"},
        {"name": "anatomize"},
        {"name": "separate"},
        {"name": "opt-gen"},
        {"name": "mirror", "inner": "ace", "mirrors": 2, "slack": 2},
        {"name": "mirror", "inner": "none", "weights": [["age", 2]], "priority": ["age"], "floor": 3},
        {"name": "even-split", "extra": 1},
        {"name": "symmetric", "extra": 1, "ordering": "lexicographic"},
        {"name": "greedy", "ordering": "lexicographic", "last": "drop"},
        {"name": "greedy", "last": "merge", "safe": True},
        {"name": "randomised-greedy", "p": "1/3"},
        {"name": "refined", "coarse": {"name": "tailor"}, "inner": "ace"},
    ),
    "recoding": (
        {"name": "boxes"},
        {"name": "taxonomies"},
        {"name": "anatomy"},
        {"name": "permutation"},
        {"name": "angel", "k": 2, "marginals": [], "cells": "boxes"},
        {"name": "perturbed", "p": "0.3", "domain": ["flu", "ulcer", "gout", "cold", "measles"]},
        {"name": "foreign"},
    ),
}


# ----------------------------------------------------------------------------------------------------------- releases


@cache
def releases() -> Mapping[str, gh.Release]:
    """A small release of every recoding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        people = gh.read(RELEASED, quasi=QUASI, sensitive="disease", missing="category", accept="line-breaks")
        plain: dict[str, Any] = {"principle": gh.LDiversity(ell=2)}
        perturbed = gh.Perturbed(domain=["flu", "ulcer", "gout", "cold", "measles"])
        return {
            "boxes": gh.publish(people, recoding=gh.Boxes(), **plain),
            "anatomy": gh.publish(people, recoding=gh.Anatomy(), **plain),
            "permutation": gh.publish(people, recoding=gh.Permutation(), **plain),
            "angel": gh.publish(
                people, recoding=gh.Angel(k=2, marginals=(("age", "disease"), ("age", "city", "height"))), **plain
            ),
            "perturbed": gh.publish(people, principle=gh.RhoBreach(rho1="0.2", rho2="0.6", k=3), recoding=perturbed),
            "closeness": gh.publish(people, principle=gh.TCloseness(t="1/2", distance="equal"), recoding=gh.Boxes()),
            "anonymous": gh.publish(people, principle=gh.KAnonymity(k=3), recoding=gh.Boxes()),
        }


@cache
def folders() -> Mapping[str, Mapping[str, bytes]]:
    """The files of every small release, as Parquet and as CSV."""
    found: dict[str, Mapping[str, bytes]] = {}
    for name, release in releases().items():
        for format in ("parquet", "csv"):
            with tempfile.TemporaryDirectory() as folder:
                release.save(f"{folder}/release", format=format)
                found[f"{name}.{format}"] = _files_in(Path(folder, "release"))
            if name in _PARTED:
                with tempfile.TemporaryDirectory() as folder:
                    borders = {own: list(range(7, table.num_rows, 7)) for own, table in release.tables.items()}
                    write_release(release, Path(folder), format, borders)
                    found[f"{name}.parts.{format}"] = _files_in(Path(folder))
    return found


_PARTED = ("anatomy", "angel", "boxes")  # are laid out as several files too


def _files_in(folder: Path) -> Mapping[str, bytes]:
    """The files of a release, by their paths in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    json.loads(files["datapackage.json"])
    return files


@cache
def populations() -> Mapping[str, tuple[gh.Release, bytes]]:
    """Small releases, each with the file of what was learned from it: something of two of them, of one nothing."""
    from tests.rooms.population.known import people, released

    found: dict[str, tuple[gh.Release, bytes]] = {}
    for name, n, strength, recoding in (
        ("anatomy", 600, 1.5, gh.Anatomy()),
        ("angel", 600, 1.5, gh.Angel(k=4)),
        ("nothing", 300, 0.0, gh.Anatomy()),
    ):
        release = released(people(n, strength=strength), recoding, gh.Anatomize())
        with tempfile.TemporaryDirectory() as folder:
            gh.learn(release).save(f"{folder}/learned.json")
            found[name] = (release, Path(folder, "learned.json").read_bytes())
    return found
