"""Mirror and other methods: mean errors of a thousand questions, with confidence intervals, on every real table here.

The methods that come near it, for each recoding, for l up to what is feasible; then t-closeness: Mirror, which holds
against an attacker who knows it, beside Mondrian, which does not. Questions are those of TRANSPARENT 4.1 (five
attributes or all, selectivity 6 %) and, for anatomy also, of ANATOMY 6.1 (three quasi-identifiers, 5 %), drawn anew for
every run, the same ones for all methods of a run. *No link* is what an analyst knows who has quasi-identifiers and
sensitive values in two tables without a link. Errors are relative to the truth, or to 0.1 % of the table where that is
more. Methods marked * do not hold against an attacker who knows them.

Intervals are those of Student, 95 %, over runs. The interval of a ratio to Mirror is that of the mean difference of
logarithms, run by run, for questions that are hard for one method are hard for the others.

    python benchmarks/mirror.py [FOLDER]     # with UCI's adult.parquet and census_income_kdd.parquet; else synthetic

writes ``mirror_world.csv`` here, which tools/mirror_world.py draws. GLASSHOUSE_BENCH_RUNS is the number of runs.
"""

from __future__ import annotations

import csv
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import answer, count, independent
from glasshouse.grouping.method import Method
from glasshouse.journeys.evaluate import relative_errors
from glasshouse.recoding.recoding import Recoding

RUNS = int(os.environ.get("GLASSHOUSE_BENCH_RUNS", "6"))
DATA = Path(__file__).parents[2] / "shared" / "data"
ELLS = (2, 3, 4, 5, 6, 8, 10)
TS = ("0.1", "0.2", "0.3", "0.4")
METHODS: dict[str, Method] = {
    "Mirror": gh.Mirror(start="1.75"),
    "Hybrid": gh.Hybrid(),
    "Anatomize": gh.Anatomize(),
    "Mondrian, relaxed *": gh.Mondrian(partitioning="relaxed"),
    "Mondrian, strict *": gh.Mondrian(),
}
CLOSE: dict[str, Method] = {
    "Mirror": gh.Mirror(),
    "Mirror, two mirrors": gh.Mirror(mirrors=2),
    "Mirror, one mirror": gh.Mirror(mirrors=1),
    "Mondrian, relaxed *": METHODS["Mondrian, relaxed *"],
}
AS_BOXES = {**METHODS, "Mirror": gh.Mirror(start="1.75", inner="ace")}  # close groups, which are not robust
RECODINGS: dict[str, Recoding] = {"anatomy": gh.Anatomy(), "boxes": gh.Boxes(), "ANGEL": gh.Angel()}
COLUMNS = ("table", "workload", "recoding", "principle", "bound", "method")
FIGURES = ("error", "low", "high", "to_mirror", "to_mirror_low", "to_mirror_high", "runs")
FOUR = ("age", "sex", "education", "country_of_birth_self")
SEVEN = (*FOUR, "marital_stat", "race", "class_of_worker")
# Student's t, two-sided, 95 %, by degrees of freedom.
STUDENT = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 19: 2.093}

Workloads = Callable[[gh.Microdata, int], gh.Workload]


def census(path: Path, quasi: Sequence[str], sensitive: str) -> gh.Microdata:
    """Census-Income: people with an occupation."""
    table = pq.read_table(path)
    table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    columns = {name: table[name] for name in quasi}
    columns[sensitive] = pc.cast(table[f"detailed_{sensitive}_recode"], pa.string())
    return gh.read(pa.table(columns), quasi=list(quasi), sensitive=sensitive, missing="category")


def adult(path: Path) -> gh.Microdata:
    """Adult as MINIMALITY has it: six quasi-identifiers, 14 occupations, people of whom all is known."""
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    table = pq.read_table(path, columns=[*quasi, "occupation"]).drop_null()
    return gh.read(table, quasi=quasi, sensitive="occupation")


def tables(folder: Path) -> Iterator[tuple[str, gh.Microdata]]:
    """Every real table at hand, or one that the library makes."""
    real = folder / "census_income_kdd.parquet"
    if not real.exists() or not (folder / "adult.parquet").exists():
        print(f"no real tables in {folder}: the synthetic census instead")
        yield "synthetic census", gh.synthetic.census(150_000, seed=1)
        return
    yield "census, occupation", census(real, FOUR, "occupation")
    yield "census, industry", census(real, FOUR, "industry")
    yield "census, 7 attributes", census(real, SEVEN, "occupation")
    yield "Adult, occupation", adult(folder / "adult.parquet")


def transparent(table: gh.Microdata, run: int) -> gh.Workload:
    return gh.Workload.transparent(table, qd=min(5, len(table.quasi) + 1), s=0.06, seed=run)


def anatomy(table: gh.Microdata, run: int) -> gh.Workload:
    return gh.Workload.anatomy(table, qd=3, s=0.05, seed=run)


WORKLOADS: dict[str, Workloads] = {"transparent": transparent, "anatomy": anatomy}


class Questions:
    """The questions of every run, with their true answers."""

    def __init__(self, table: gh.Microdata) -> None:
        self.table = table
        self.asked = {(name, run): draw(table, run) for name, draw in WORKLOADS.items() for run in range(RUNS)}
        self.truth = {key: count(table, asked) for key, asked in self.asked.items()}

    def error(self, workload: str, run: int, release: gh.Release | None) -> float:
        """The mean relative error of the answers from a release, or from two tables without a link."""
        asked = self.asked[workload, run]
        estimates = (
            independent(self.table, asked) if release is None else answer(release, asked, model="uniform").values
        )
        return float(np.mean(relative_errors(estimates, self.truth[workload, run], self.table.n_tuples)))


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean, and both ends of its 95 % interval."""
    mean, runs = float(np.mean(values)), len(values)
    if runs < 2:
        return mean, float("nan"), float("nan")
    freedom = max(
        known for known in STUDENT if known <= runs - 1
    )  # fewer degrees than there are: wider, never narrower
    half = STUDENT[freedom] * float(np.std(values, ddof=1)) / runs**0.5
    return mean, mean - half, mean + half


def side_by_side(
    questions: Questions,
    principle: gh.Principle,
    methods: dict[str, Method],
    recoding: str,
    workloads: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """A row for each method and workload; Mirror is the first."""
    found: dict[tuple[str, str], list[float]] = {}
    for run in range(RUNS):
        for name, method in {**methods, "no link": None}.items():
            release = None
            if method is not None:
                source = gh.Source.seeded(run)
                release = gh.publish(
                    questions.table, principle=principle, method=method, recoding=RECODINGS[recoding], source=source
                )
            for workload in workloads:
                found.setdefault((workload, name), []).append(questions.error(workload, run, release))
    for (workload, name), of_runs in found.items():
        to_mirror = interval(np.log(np.divide(of_runs, found[workload, "Mirror"])).tolist())
        figures = (*interval(of_runs), *(float(np.exp(end)) for end in to_mirror), RUNS)
        yield {"workload": workload, "recoding": recoding, "method": name, **dict(zip(FIGURES, figures, strict=True))}


def world(folder: Path) -> Iterator[dict[str, Any]]:
    """Every row of the comparison."""
    for name, table in tables(folder):
        print(f"\n== {name}: {table.n_tuples:,} people, {len(table.quasi)} quasi-identifiers", flush=True)
        largest = table.n_tuples // int(np.bincount(table.sensitive[0].codes).max())
        questions = Questions(table)
        for recoding in RECODINGS:
            workloads = tuple(WORKLOADS) if recoding == "anatomy" else ("transparent",)
            for ell in (ell for ell in ELLS if ell <= largest):
                methods = AS_BOXES if recoding == "boxes" else METHODS
                for row in side_by_side(questions, gh.LDiversity(ell=ell), methods, recoding, workloads):
                    yield {"table": name, "principle": "l-diversity", "bound": ell, **row}
        for recoding in ("anatomy", "boxes"):
            for t in TS:
                for row in side_by_side(questions, gh.TCloseness(t=t), CLOSE, recoding, ("transparent",)):
                    yield {"table": name, "principle": "t-closeness", "bound": t, **row}


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)  # that is the point of comparing
    with Path("mirror_world.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=[*COLUMNS, *FIGURES], lineterminator="\n")
        writer.writeheader()
        for row in world(folder):
            writer.writerow({key: f"{cell:.5g}" if isinstance(cell, float) else cell for key, cell in row.items()})
            file.flush()
            said = "{principle} {bound}, {recoding}, {workload}: {method}".format(**row)
            half = float(row["high"]) - float(row["error"])
            ratio = "to Mirror {to_mirror:.2f} [{to_mirror_low:.2f}, {to_mirror_high:.2f}]".format(**row)
            print(f"{said:<72}{row['error']:.4f} ± {half:.4f}  {ratio}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
