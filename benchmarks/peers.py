# SPDX-License-Identifier: Apache-2.0
"""Beside other tools: anjana, anonypy, anonypyx and pyCANON, on the same tables and the same tasks, in one run.

Each tool is installed from PyPI, pinned, into an environment of its own under build/peers/, and is used as its own
documentation says, from a pandas frame in memory to the published one. Every job runs in a process of its own, with a
limit of CPU seconds and of memory; a tool that cannot be installed, fails or takes too long is a row that says why.
What comes out is judged from its cells by `gh.verify`, whatever tool made it; see benchmarks/beside/.

    python benchmarks/peers.py [ADULT.parquet] [--rows 1000,10000,30000,100000] [--tasks k,l,t]
                               [--seconds 120] [--gigabytes 8] [--patience 5]

Without a path Adult is looked for in ../shared/data, beside the project; GLASSHOUSE_BENCH_ROWS gives other sizes.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from beside import tables
from beside.judging import Verdict, judge, judge_release
from beside.running import PATIENCE, NotInstalled, environment, run
from beside.tables import Table

import glasshouse as gh
from glasshouse.release.package.read import load

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / "build" / "peers"
JOB = HERE / "beside" / "job.py"
ADULT = HERE.parents[1] / "shared" / "data" / "adult.parquet"
ROWS = "1000,10000,30000,100000"
PANDAS = "pandas==2.3.3"  # anonypy asks for none and needs it; anonypyx's MDAV fails with pandas 3
REQUIREMENTS = {
    "anonypy": ("anonypy==0.2.1", PANDAS),
    "anonypyx": ("anonypyx==0.2.11", PANDAS),
    "anjana": ("anjana==1.2.3",),
    "pycanon": ("pycanon==1.3.6",),
}
TASKS: dict[str, dict[str, Any]] = {
    "10-anonymity": {"k": 10},
    "distinct 5-diversity": {"k": 5, "distinct_ell": 5},
    "0.5-closeness and 10-anonymity": {"k": 10, "t": 0.5},
}
K, ELL, T = TASKS


@dataclass(frozen=True, kw_only=True)
class Way:
    """One tool, used in one way."""

    name: str
    tool: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[str, ...] = (K, ELL, T)


WAYS = (
    Way(name="Glasshouse, Snug", tool="glasshouse", options={"method": "Snug", "recoding": "Boxes"}),
    Way(name="Glasshouse, Mondrian", tool="glasshouse", options={"method": "Mondrian", "recoding": "Boxes"}),
    Way(
        name="Glasshouse, Mirror, boxes (frequency l)",
        tool="glasshouse",
        options={"method": "Mirror", "recoding": "Boxes", "frequency": True},
        tasks=(ELL,),
    ),
    Way(
        name="Glasshouse, Mirror, ANGEL (frequency l)",
        tool="glasshouse",
        options={"method": "Mirror", "recoding": "Angel", "frequency": True},
        tasks=(ELL,),
    ),
    Way(name="anonypy, Mondrian", tool="anonypy"),
    Way(name="anonypyx, Mondrian", tool="anonypyx"),
    Way(name="anonypyx, MDAV", tool="anonypyx", options={"algorithm": "MDAV-generic"}, tasks=(K,)),
    Way(
        name="anonypyx, earth mover's distance",
        tool="anonypyx",
        options={"closeness_metric": "earth mover's distance"},
        tasks=(T,),
    ),
    Way(name="anjana, dropping nobody", tool="anjana", options={"supp_level": 0}),
    Way(name="anjana, dropping up to 10 %", tool="anjana", options={"supp_level": 10}),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What came of one way on one task."""

    way: Way
    told: Mapping[str, Any]
    verdict: Verdict | None = None

    @property
    def cpu(self) -> float:
        """CPU seconds; none if it did not get there."""
        return float(self.told.get("cpu", "inf"))


class Bench:
    """Runs jobs, and remembers which gave out, so that longer tables are not tried in vain."""

    def __init__(self, seconds: float, gigabytes: float, patience: float, folder: Path) -> None:
        self._limits = {"seconds": seconds, "gigabytes": gigabytes, "patience": patience}
        self._folder = folder
        self._gave_out: dict[tuple[str, str, str], str] = {}
        self._pythons: dict[str, Path | str] = {"glasshouse": Path(sys.executable)}

    def row(self, way: Way, task: str, table: Table) -> Row:
        key = way.name, task, table.name
        told = {"failed": self._gave_out[key]} if key in self._gave_out else self.tell(way, TASKS[task], table)
        if "failed" in told:
            if told["failed"].startswith(("over", "MemoryError")):
                at = "" if " rows" in told["failed"] else f" with {len(table):,} rows"
                self._gave_out[key] = f"{told['failed']}{at}"
            return Row(way=way, told=told)
        if way.tool == "glasshouse":
            return Row(way=way, told=told, verdict=judge_release(load(self._out("glasshouse")), table, TASKS[task]))
        try:
            published = pd.read_csv(self._out(way.tool), dtype=str, keep_default_na=False)
        except pd.errors.EmptyDataError:
            published = pd.DataFrame()
        try:
            verdict = judge(published, table, TASKS[task])
        except gh.GlasshouseError as error:
            return Row(way=way, told={"failed": f"cannot be judged: {error}"})
        return Row(way=way, told=told if verdict else {"failed": "gave an empty table"}, verdict=verdict)

    def tell(self, way: Way, asked: Mapping[str, Any], table: Table) -> dict[str, Any]:
        python = self._python(way.tool)
        if isinstance(python, str):
            return {"failed": python}
        table.frame.to_csv(self._folder / "table.csv", index=False)
        job = {
            "tool": way.tool,
            "options": dict(way.options),
            "asked": dict(asked),
            "table": str(self._folder / "table.csv"),
            "out": str(self._out(way.tool)),
            "quasi": table.quasi,
            "categories": table.categories,
            "sensitive": table.sensitive,
            "trees": table.trees if way.tool == "anjana" else {},
        }
        return run(python, JOB, job, **self._limits)

    def _out(self, tool: str) -> Path:
        return self._folder / ("release" if tool == "glasshouse" else "published.csv")

    def _python(self, tool: str) -> Path | str:
        if tool not in self._pythons:
            wanted = REQUIREMENTS[tool]
            try:
                self._pythons[tool] = environment(PEERS / wanted[0].replace("==", "-"), wanted)
            except NotInstalled as error:
                self._pythons[tool] = str(error)
        return self._pythons[tool]


def publishing(bench: Bench, table: Table, tasks: list[str]) -> Iterator[tuple[str, list[Row]]]:
    for task in tasks:
        print(f"\n{table.name}, {len(table):,} rows, {task}")
        line("", "CPU s", "clock s", "GB", "to ours", "holds", "dropped", "avg. size", "NCP", "error")
        rows: list[Row] = []
        for way in WAYS:
            if task in way.tasks:
                rows.append(bench.row(way, task, table))
                tell(rows[-1], rows[0])
        yield task, rows


def tell(row: Row, ours: Row) -> None:
    told, verdict = row.told, row.verdict
    if verdict is None:
        line(row.way.name, f"  {told['failed']}")
        return
    line(
        row.way.name,
        f"{row.cpu:.3f}",
        f"{told['clock']:.3f}",
        f"{told['gigabytes']:.2f}",
        f"{row.cpu / ours.cpu:,.1f}",
        "yes" if verdict.holds else f"no: {verdict.broken}",
        f"{verdict.n_dropped:,}",
        f"{verdict.average_size:,.1f}",
        "-" if verdict.ncp is None else f"{verdict.ncp:.4f}",
        "-" if verdict.error is None else f"{verdict.error:.4f}",
    )


def verifying(bench: Bench, table: Table) -> None:
    """k, l and t of the table that we published: pyCANON, which anonymizes nothing, beside `gh.verify`."""
    made = gh.read(table.frame, quasi=table.quasi, sensitive=table.sensitive)
    published = gh.publish(made, principle=gh.KAnonymity(k=10), method=gh.Mondrian(), recoding=gh.Boxes())
    texts = published.tables["data"].to_pandas().astype(str)
    cells = Table(
        name="", frame=texts, quasi=table.quasi, categories=table.quasi, sensitive=table.sensitive, trees=table.trees
    )
    print(f"\n{table.name}, {len(table):,} rows: k, distinct l and t of what we published")
    line("", "CPU s", "clock s", "GB", "to ours", "k", "l", "t")
    verify = Way(name="gh.verify (and everything else)", tool="glasshouse", options={"verify": True})
    seconds = 0.0
    for way in (verify, Way(name="pyCANON", tool="pycanon")):
        told = bench.tell(way, {}, cells)
        if "failed" in told:
            line(way.name, f"  {told['failed']}")
            continue
        seconds = seconds or told["cpu"]
        numbers = f"{told['cpu']:.3f}", f"{told['clock']:.3f}", f"{told['gigabytes']:.2f}"
        found = told["counted"]
        line(
            way.name,
            *numbers,
            f"{told['cpu'] / seconds:,.1f}",
            f"{found['k']}",
            f"{found['distinct_ell']}",
            f"{found['t']:.6f}",
        )


def conclude(table: Table, task: str, rows: list[Row]) -> None:
    """How many times as long the fastest of the others takes, and what the best of those that hold loses."""
    what = f"{table.name}, {len(table):,} rows, {task}: "
    ours = [row for row in rows if row.way.tool == "glasshouse" and row.verdict]
    others = [row for row in rows if row.way.tool != "glasshouse" and row.verdict]
    if not others or not ours:
        print(f"{what}none of the others got there")
        return
    fastest = min(others, key=lambda row: row.cpu)
    print(f"{what}the fastest, {fastest.way.name}, takes {fastest.cpu / ours[0].cpu:,.1f} times as long")
    scored = [(row.verdict.ncp, row.way.name) for row in others if row.verdict and row.verdict.holds]
    ncp = [(row.verdict.ncp, row.way.name) for row in ours if row.verdict]
    least, best = min((x for x in scored if x[0] is not None), default=None), min(x for x in ncp if x[0] is not None)
    if least:
        print(f"    least NCP of those that hold: {least[1]}, {least[0]:.4f}; {best[1]}, {best[0]:.4f}")


def line(what: str, *cells: str) -> None:
    print(f"{what:<42}" + "".join(f" {cell:>11}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("adult", nargs="?", type=Path, default=ADULT, help="the Adult table as Parquet")
    parser.add_argument(
        "--rows", default=os.environ.get("GLASSHOUSE_BENCH_ROWS", ROWS), help="sizes of the synthetic census"
    )
    parser.add_argument("--seconds", type=float, default=120, help="CPU seconds that a job may take")
    parser.add_argument("--gigabytes", type=float, default=8, help="address space that a job may take")
    parser.add_argument("--tasks", default="k,l,t", help="which tasks: k-anonymity, l-diversity, t-closeness")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="clock seconds for each of the CPU seconds")
    given = parser.parse_args()
    tasks = [task for letter, task in zip("klt", TASKS, strict=True) if letter in given.tasks]
    sizes = [int(text) for text in given.rows.split(",")]
    pinned = ", ".join(" with ".join(wanted).replace("==", " ") for wanted in REQUIREMENTS.values())
    print(
        f"Python {platform.python_version()}; {pinned}; at most {given.seconds:g} CPU s, {given.gigabytes:g} GB a job"
    )
    made = [tables.census(n) for n in sizes]
    if given.adult.exists():
        made.append(tables.adult(given.adult))
    else:
        print(f"Adult is left out: there is no {given.adult}; give the path of its Parquet file")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.seconds, given.gigabytes, given.patience, Path(folder))
        done = [(table, task, rows) for table in made for task, rows in publishing(bench, table, tasks)]
        for table in made:
            verifying(bench, table)
    print()
    for found in done:
        conclude(*found)


if __name__ == "__main__":
    main()
