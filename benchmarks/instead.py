# SPDX-License-Identifier: Apache-2.0
"""Flat tables: one drawn from our release, beside those that synthetic-data and differentially private tools make.

Every tool gets the same people as a CSV file and gives a CSV file with plain values. All flat tables get the same
questions, the same classifier, the same attacks with the same control group, and Anonymeter as a second judge. The
tools are installed from PyPI, pinned, each into an environment of its own under --cache, outside the project. A tool
that cannot be installed, fails or takes too long is a row that says why.

    python benchmarks/instead.py [FOLDER] [--tables adult,census] [--rows 20000] [--full] [--seed 0] [--only NAME,...]
                                 [--seconds 180] [--gigabytes 16] [--cache FOLDER] [--json FILE]

FOLDER has adult.parquet and census_income_kdd.parquet; without it they are looked for in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from beside.running import NotInstalled, run
from flat.attacks import attacked
from flat.environments import TOOLS, python_of
from flat.measures import usefulness
from flat.page import page
from flat.people import TABLES, People

import glasshouse as gh

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
RUNNERS = HERE / "flat" / "runners"
CACHE = Path(tempfile.gettempdir()) / "glasshouse-instead"
ELL = 4
DELTA = 1e-6
AIM = {"rounds": 16, "megabytes": 1.0}  # with its defaults, 16 rounds for every attribute and 80 MB, it takes minutes
ATTACKS = 500  # of each of Anonymeter's kinds
ATTEMPTS = 20_000  # to find a predicate that singles out
NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to a flat table: by a function of ours, or by a runner in a tool's environment.

    Attributes
    ----------
    promise
        What is promised about a person, in short.
    """

    name: str
    promise: str
    make: Callable[[People, int], pd.DataFrame] | None = None
    tool: str = ""
    runner: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


# --- ours, and the bounds ---------------------------------------------------------------------------------------------


def ours(people: People, seed: int) -> pd.DataFrame:
    """Publish by default, and draw a flat table from the release."""
    table = gh.read(people.published, quasi=people.quasi, sensitive=people.sensitive)
    return drawn(gh.publish(table, principle=gh.LDiversity(ell=ELL), source=gh.Source.seeded(seed)), seed)


DRAWN_BY = "uniform model"


def drawn(release: gh.Release, seed: int) -> pd.DataFrame:
    """A flat table from a release: the one place that says which model it is drawn by."""
    return gh.sample(release, source=gh.Source.seeded(seed)).to_pandas()


def original(people: People, seed: int) -> pd.DataFrame:
    """The true table."""
    return people.published


def others(people: People, seed: int) -> pd.DataFrame:
    """As many people of the same population: what a table can tell that knows nothing about those in the true one."""
    if people.others is None:
        raise ValueError("there are not enough people for a second table")
    return people.others


def shuffled(people: People, seed: int) -> pd.DataFrame:
    """Every column shuffled by itself: what a table can tell that has nothing but single columns."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.permutation(column.to_numpy()) for name, column in people.published.items()})


def budget(epsilon: float, **more: Any) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": DELTA, **more}


WAYS = (
    Way(name="the true table", promise=NOTHING, make=original),
    Way(name="other people", promise="they are not in it", make=others),
    Way(name=f"Glasshouse, l = {ELL}, {DRAWN_BY}", promise=f"frequency {ELL}-diversity", make=ours),
    *(
        Way(
            name=f"PrivBayes (DataSynthesizer), ε = {epsilon:g}",
            promise=f"ε = {epsilon:g}, by its own count",
            tool="DataSynthesizer",
            runner="privbayes.py",
            options=budget(epsilon),
        )
        for epsilon in (1.0, 10.0)
    ),
    *(
        Way(
            name=f"AIM (OpenDP), ε = {epsilon:g}",
            promise=f"ε = {epsilon:g}, δ = {DELTA:g}",
            tool="OpenDP",
            runner="contingency.py",
            options=budget(epsilon, **AIM),
        )
        for epsilon in (1.0, 10.0)
    ),
    *(
        Way(
            name=f"MST (SmartNoise), ε = {epsilon:g}",
            promise=f"ε = {epsilon:g}, δ = {DELTA:g}",
            tool="SmartNoise",
            runner="spanning_tree.py",
            options=budget(epsilon),
        )
        for epsilon in (1.0, 10.0)
    ),
    Way(name="Gaussian copula (SDV)", promise=NOTHING, tool="SDV", runner="copula.py"),
    Way(name="columns shuffled", promise=NOTHING, make=shuffled),
)


# --- running ----------------------------------------------------------------------------------------------------------


class Bench:
    """Makes flat tables and has them judged; an environment is made when it is first asked for."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self._limits = {"seconds": given.seconds, "gigabytes": given.gigabytes, "patience": given.patience}
        self._cache, self._seed, self._folder = given.cache, given.seed, folder
        self._pythons: dict[str, Path | str] = {}

    def row(self, way: Way, people: People) -> dict[str, Any]:
        """Everything about one way: measured, or ``failed`` with the reason."""
        told: dict[str, Any] = {"name": way.name, "promise": way.promise, "table": people.name}
        told |= self.made(way, people)
        if "failed" in told:
            return told
        try:
            flat = people.tidy(told.pop("flat"))
        except ValueError as error:
            return {**told, "failed": f"gave a table that cannot be read: {error}"}
        if not len(flat):
            return {**told, "failed": "gave an empty table"}
        told["rows"] = len(flat)
        told["usefulness"] = usefulness(flat, people, self._seed)
        told["attacks"] = attacked(flat, people, self._seed)
        told["anonymeter"] = self.judged(flat, people, alike=None if way.make is others else people.others)
        return told

    def made(self, way: Way, people: People) -> dict[str, Any]:
        """The flat table of a way, with its CPU seconds."""
        if way.make is not None:
            start = time.process_time()
            try:
                flat = way.make(people, self._seed)
            except ValueError as error:
                return {"failed": str(error)}
            return {"flat": flat, "cpu": time.process_time() - start if way.make is ours else None}
        out = self._folder / "flat.csv"
        out.unlink(missing_ok=True)
        job = {
            "options": dict(way.options),
            "table": self._csv("table", people.published),
            "out": str(out),
            "rows": len(people.published),
            "numbers": people.numbers,
            "domains": {name: list(values) for name, values in people.domains.items()},
            "seed": self._seed,
        }
        told = self._told(way.tool, way.runner, job)
        return told if "failed" in told else {**told, "flat": pd.read_csv(out, keep_default_na=False, na_values=[""])}

    def judged(self, flat: pd.DataFrame, people: People, alike: pd.DataFrame | None) -> dict[str, Any]:
        """What Anonymeter finds; ``alike`` are as many people as were published, and had no part in the flat table."""
        job = {
            "ori": self._csv("members", people.published),
            "syn": self._csv("drawn", flat),
            "control": self._csv("control", people.control),
            "alike": "" if alike is None else self._csv("alike", alike),
            "columns": people.columns,
            "quasi": people.quasi,
            "numbers": people.numbers,
            "sensitive": people.sensitive,
            "attacks": ATTACKS,
            "attempts": ATTEMPTS,
            "seed": self._seed,
        }
        return self._told("Anonymeter", "anonymeter_judge.py", job)

    def _csv(self, name: str, frame: pd.DataFrame) -> str:
        file = self._folder / f"{name}.csv"
        frame.to_csv(file, index=False)
        return str(file)

    def _told(self, tool: str, runner: str, job: Mapping[str, Any]) -> dict[str, Any]:
        if tool not in self._pythons:
            try:
                self._pythons[tool] = python_of(TOOLS[tool], self._cache)
            except NotInstalled as error:
                self._pythons[tool] = str(error)
        python = self._pythons[tool]
        return {"failed": python} if isinstance(python, str) else run(python, RUNNERS / runner, job, **self._limits)


def rows_of(bench: Bench, people: People, only: list[str]) -> Iterator[dict[str, Any]]:
    """A row for every way, told as it comes."""
    for way in WAYS:
        if only and not any(part.lower() in way.name.lower() for part in only):
            continue
        began = time.perf_counter()
        row = bench.row(way, people)
        said = row.get("failed") or row["anonymeter"].get("failed") or "done"
        print(f"{people.name}: {way.name}: {said} ({time.perf_counter() - began:.0f} s by the clock)", flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, help="where the tables are, as Parquet")
    parser.add_argument("--tables", default="adult,census", help="which tables: adult, census")
    parser.add_argument(
        "--rows", type=int, default=int(os.environ.get("GLASSHOUSE_BENCH_ROWS", "20000").split(",")[0]), help="people"
    )
    parser.add_argument("--full", action="store_true", help="publish all people but the control")
    parser.add_argument("--only", default="", help="parts of names: only these ways")
    parser.add_argument("--seed", type=int, default=0, help="of samples, questions, attacks and tools that take one")
    parser.add_argument("--seconds", type=float, default=180, help="CPU seconds that a tool may take")
    parser.add_argument("--gigabytes", type=float, default=16, help="address space that a tool may take")
    parser.add_argument("--patience", type=float, default=5, help="clock seconds for each of the CPU seconds")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the environments of the tools are kept")
    parser.add_argument("--json", type=Path, help="write everything that was measured into this file")
    given = parser.parse_args()
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    print(f"Python {platform.python_version()}; at most {given.seconds:g} CPU s, {given.gigabytes:g} GB a job")
    only = [part for part in given.only.split(",") if part]
    found = []
    for name in given.tables.split(","):
        if not given.folder.exists():
            print(f"{name} is left out: there is no {given.folder}; give the folder of the Parquet files")
            continue
        people = TABLES[name](given.folder, None if given.full else given.rows, given.seed)
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            for row in rows_of(Bench(given, Path(folder)), people, only):
                rows.append(row)
                found.append(row)
                if given.json:
                    given.json.write_text(json.dumps(found, indent=1))
        print(
            f"\n{people.name}, {len(people.published):,} people, {len(people.control):,} of control\n\n{page(rows)}\n"
        )


if __name__ == "__main__":
    main()
