"""One release of every kind, small: all recodings, all kinds of columns, and what the engine on disk wrote."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

import glasshouse as gh
from glasshouse.streaming.publish import publish_file

N = 40
DISEASES = ["flu", "ulcer", "gout", None, ""]
ODD = 'a|b\n"c", d'  # whatever a text may hold
ACCEPT = ["line-breaks", "missing-words"]  # of that text, and of a disease that is empty where others are missing
COLUMNS: dict[str, Any] = {
    "age": [20 + i % 7 for i in range(N)],
    "height": [1.5 * (i % 5) for i in range(N)],
    "joined": [datetime.date(2020, 1, 1 + i % 9) for i in range(N)],
    "seen": pa.array([10**15 * (i % 4) + i % 3 for i in range(N)], pa.timestamp("us")),
    "zone": pa.array([10**9 * (i % 4) for i in range(N)], pa.timestamp("ms", "UTC")),
    "clock": pa.array([3600 * (i % 5) for i in range(N)], pa.time32("s")),
    "member": [bool(i % 2) for i in range(N)],
    "city": [["Oslo", "Rome", None, ODD][i % 4] for i in range(N)],
    "ward": [[7, None, 9, 8][i % 4] for i in range(N)],
    "disease": [DISEASES[i % 5] for i in range(N)],
}
CITIES = gh.Taxonomy.from_nested({"anywhere": {"north": ["Oslo"], "south": ["Rome", ODD]}})


def table(**options: Any) -> gh.Microdata:
    quasi = [name for name in COLUMNS if name != "disease"]
    roles = {"quasi": quasi, "sensitive": "disease", "missing": "category", "categorical": ["ward"]}
    return gh.read(COLUMNS, accept=ACCEPT, **{**roles, **options})


def _diverse(recoding: Any, **options: Any) -> gh.Release:
    return gh.publish(table(**options), principle=gh.LDiversity(ell=2), recoding=recoding, method=gh.Hybrid())


def _perturbed() -> gh.Release:
    domain = gh.Perturbed(domain=[*DISEASES, "cold"])
    return gh.publish(table(), principle=gh.RhoBreach(rho1="0.2", rho2="0.6", k=3), recoding=domain)


def _optimal() -> gh.Release:
    few = {"age": [1, 1, 2, 2, 3, 3], "disease": ["flu", "gout", "flu", "ulcer", "gout", "ulcer"]}
    return gh.publish(
        gh.read(few, quasi=["age"], sensitive="disease"), principle=gh.LDiversity(ell=2), method=gh.OptGen()
    )


def _two_columns() -> gh.Release:
    both = gh.read({**COLUMNS, "ill": [f"i{i % 6}" for i in range(N)]}, quasi=["age", "city"],
                   sensitive=["disease", "ill"], missing="category", accept=ACCEPT)  # fmt: skip
    return gh.publish(both, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Anatomy())


def _suppressed() -> gh.Release:
    people = {"age": list(range(9)), "disease": ["flu"] * 5 + ["gout", "ulcer", "cold", "cold"]}
    sick = gh.read(people, quasi=["age"], sensitive="disease")
    return gh.publish(sick, principle=gh.LDiversity(ell=2), method=gh.Hybrid(), suppress="0.4")


KINDS: dict[str, Callable[[], gh.Release]] = {
    "boxes": lambda: _diverse(gh.Boxes()),
    "taxonomies": lambda: _diverse(gh.Taxonomies(), taxonomies={"city": CITIES}),
    "global recoding": _optimal,
    "anatomy": lambda: _diverse(gh.Anatomy()),
    "two sensitive columns": _two_columns,
    "permutation": lambda: _diverse(gh.Permutation()),
    "angel": lambda: _diverse(gh.Angel()),
    "marginals": lambda: _diverse(gh.Angel(marginals=(("age", "disease"), ("city", "joined"), ("ward", "disease")))),
    "perturbed": _perturbed,
    "no sensitive column": lambda: gh.publish(
        gh.read(COLUMNS, quasi=["age", "city"], missing="category", accept=ACCEPT), principle=gh.KAnonymity(k=4)
    ),
    "suppressed": _suppressed,
}
ALL = [*KINDS, "disk"]


@cache
def of_kind(kind: str) -> gh.Release:
    """One release of this kind; the same one every time."""
    return KINDS[kind]()


def write(kind: str, folder: Path, format: str) -> Path:
    """Write a release of this kind, and give its folder."""
    if kind != "disk":
        of_kind(kind).save(folder / "release", format=format)
        return folder / "release"
    rows = pa.table({"age": [20 + i % 7 for i in range(90)], "city": [["Oslo", "Rome", ODD][i % 3] for i in range(90)],
                     "disease": [f"d{i % 5}" for i in range(90)]})  # fmt: skip
    pa_csv.write_csv(rows, folder / "people.csv")
    return publish_file(
        folder / "out", folder / "people.csv", quasi=["age", "city"], sensitive="disease",
        principle=gh.LDiversity(ell=3), format=format, accept=["line-breaks:city"],
    ).folder  # fmt: skip


def plain(tables: Any) -> dict[str, dict[str, list[Any]]]:
    """Published tables as values."""
    return {name: {column: t[column].to_pylist() for column in t.column_names} for name, t in tables.items()}
