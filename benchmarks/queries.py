"""A thousand 4-dimensional questions (TRANSPARENT 4.1) to a release of every kind, against DuckDB on the same tables.

`glasshouse.answer` reads the release, answers all questions and gives every answer an error bar; DuckDB gives the
estimates alone, one query each, with its tables loaded and cells already read as numbers. It answers twice: from the
published tables as they are, and from those of `to_duckdb`, where equal rows are one. The ratio is to the faster one.
Both on one thread. Every job runs in a process of its own; CPU seconds, and the peak memory of the process.

    python benchmarks/queries.py             # 600k rows; GLASSHOUSE_BENCH_ROWS for others
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import measure
import numpy as np

import glasshouse as gh
from glasshouse.analyst.answers.duckdb_views import to_duckdb
from glasshouse.analyst.answers.workload_answers import answer
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.release.contents import Published

N_QUESTIONS = 1000
SENSITIVE = "occupation"
PRINCIPLE = gh.LDiversity(ell=8)
KINDS: dict[str, dict[str, Any]] = {
    "boxes, mondrian": {"method": gh.Mondrian(), "recoding": gh.Boxes()},
    "boxes, hybrid": {"method": gh.Hybrid(), "recoding": gh.Boxes()},
    "anatomy, anatomize": {"method": gh.Anatomize(), "recoding": gh.Anatomy()},
    "permutation, hybrid": {"method": gh.Hybrid(), "recoding": gh.Permutation()},
    "angel, mondrian": {"method": gh.Mondrian(), "recoding": gh.Angel(k=10)},
    "perturbed": {
        "principle": gh.DeltaGrowth(k=6, lambda_="0.1"),
        "recoding": gh.Perturbed(p="0.3", domain=range(50)),
    },
}


def census(n: int) -> gh.Microdata:
    return gh.synthetic.census(n, seed=1)


def workload(n: int) -> Workload:
    return Workload.transparent(census(n), qd=4, n=N_QUESTIONS, seed=1)


def by_glasshouse(path: str, n: int, found: str) -> None:
    release, asked = gh.load(path), workload(n)
    with measure.counted():
        answers = answer(release, asked, threads=1, model="uniform")
    np.save(found, answers.values)


def by_duckdb(path: str, n: int, found: str, layout: str) -> None:
    release, asked = gh.load(path), workload(n)
    connection = to_duckdb(release)
    connection.execute("SET threads = 1").fetchall()
    kind = str(release.recipe.recoding["name"])
    if layout == "published":
        _as_published(connection, release, kind)
    questions = [_sql(asked, i, kind, layout, release) for i in range(len(asked))]
    connection.execute(questions[0]).fetchall()
    with measure.counted():
        values = [connection.execute(sql).fetchall()[0][0] or 0.0 for sql in questions]
    np.save(found, np.array(values, np.float64))


def _as_published(connection: Any, release: gh.Release, kind: str) -> None:
    """The published rows, with cells as numbers; sizes of groups are at hand too."""
    if kind in ("boxes", "angel", "perturbed"):
        name = "gt" if kind == "angel" else "data"
        ends = ", ".join(f's."{q} low", s."{q} high"' for q in release.recipe.quasi)
        cells = " AND ".join(f"t.{q} = s.{q}" for q in release.recipe.quasi)
        number = ' AND t."Batch-ID" = s."Group-ID"' if kind == "angel" else ""
        seats = (
            "seats" if kind != "perturbed" else f"(SELECT DISTINCT ON ({', '.join(release.recipe.quasi)}) * FROM seats)"
        )
        sql = f"CREATE TABLE rows AS SELECT t.*, {ends} FROM {name} AS t JOIN {seats} AS s ON {cells}{number}"
        connection.execute(sql).fetchall()
    if kind in ("anatomy", "angel"):
        table, number = ("st", "Group-ID") if kind == "anatomy" else ("bt", "Batch-ID")
        sql = f'CREATE TABLE sizes AS SELECT "{number}", sum("Count") AS n FROM {table} GROUP BY 1'
        connection.execute(sql).fetchall()


def _sql(asked: Workload, question: int, kind: str, layout: str, release: gh.Release) -> str:
    condition = {name: (min(values), max(values)) for name, values in asked.condition(question).items()}
    low, high = condition.pop(SENSITIVE)
    value = f"{SENSITIVE} BETWEEN {low} AND {high}"
    exact = " AND ".join(f"{name} BETWEEN {a} AND {b}" for name, (a, b) in condition.items())
    touched = " AND ".join(f'"{name} low" <= {b} AND "{name} high" >= {a}' for name, (a, b) in condition.items())
    part = " * ".join(f'covered("{name} low", "{name} high", {a}, {b})' for name, (a, b) in condition.items())
    is_exact = kind in ("anatomy", "permutation")
    if layout == "views":
        inside, where = ('sum("Tuples")', exact) if is_exact else (f'sum("Tuples" * {part})', touched)
        return f"""SELECT sum(a * b) FROM (SELECT "Group-ID", {inside} AS a FROM seats WHERE {where} GROUP BY 1)
                   JOIN (SELECT "Group-ID", sum("Share") AS b FROM groups WHERE {value} GROUP BY 1)
                   USING ("Group-ID")"""
    if kind == "boxes":
        return f"SELECT sum({part}) FROM rows WHERE {touched} AND {value}"
    if kind == "perturbed":
        p, d = float(str(release.recipe.recoding["p"])), (high - low + 1) / 50
        return f'SELECT sum("G" * {part} * (({value})::INT - {(1 - p) * d}) / {p}) FROM rows WHERE {touched}'
    if kind == "permutation":
        return f"""SELECT sum(a * b / n) FROM (SELECT count(*) FILTER ({exact}) AS a, count(*) FILTER ({value}) AS b,
                   count(*) AS n FROM data GROUP BY "Group-ID")"""
    number, rows, inside, where, values = (
        ("Group-ID", "qit", "count(*)", exact, "st")
        if kind == "anatomy"
        else ("Batch-ID", "rows", f"sum({part})", touched, "bt")
    )
    return f"""SELECT sum(a * b / n) FROM (SELECT "{number}", {inside} AS a FROM {rows} WHERE {where} GROUP BY 1)
               JOIN (SELECT "{number}", sum("Count") AS b FROM {values} WHERE {value} GROUP BY 1) USING ("{number}")
               JOIN sizes USING ("{number}")"""


def main(n: int) -> None:
    print(f"\n{n:,} rows of the synthetic census, l = 8, {N_QUESTIONS:,} questions, CPU s")
    measure.row("", "seats", "groups", "glasshouse", "GB", "published", "views", "ratio")
    warnings.simplefilter("ignore", gh.errors.DisclosureWarning)
    table = census(n)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, (kind, how) in enumerate(KINDS.items()):
            release = gh.publish(table, source=gh.Source.seeded(1), **{"principle": PRINCIPLE, **how})
            path = str(folder / str(i))
            release.save(path, allow_seed=True)
            runs = [measure.apart(by_glasshouse, path, n, str(folder / "ours.npy")) for _ in range(3)]
            ours = min(runs, key=lambda run: run["cpu"])
            theirs = {}
            for layout in ("published", "views"):
                theirs[layout] = measure.apart(by_duckdb, path, n, str(folder / "theirs.npy"), layout)["cpu"]
                np.testing.assert_allclose(np.load(folder / "theirs.npy"), np.load(folder / "ours.npy"), rtol=1e-6)
            said = Published.of(release)
            measure.row(
                kind,
                f"{len(said.seats[0]):,}",
                f"{said.n_groups:,}",
                f"{ours['cpu']:.2f}",
                f"{ours['gigabytes']:.2f}",
                f"{theirs['published']:.2f}",
                f"{theirs['views']:.2f}",
                f"{min(theirs.values()) / ours['cpu']:.1f}",
            )


if __name__ == "__main__":
    for rows in measure.ROWS[:1]:
        main(rows)
