"""Mirror against every other method: mean error of a thousand questions, for each recoding, at every feasible l.

Questions are those of TRANSPARENT 4.1 (five attributes or all, selectivity 6 %) and, for anatomy also, of ANATOMY 6.1
(three quasi-identifiers, 5 %), drawn anew for every run. *No link* is what an analyst knows who has quasi-identifiers
and sensitive values in two tables without a link. Errors are relative to the truth, or to 0.1 % of the table where that
is more. Methods marked * do not hold against an adversary who knows them. The last tables are t-closeness: Mirror,
which holds against her, beside Mondrian, which does not.

    python benchmarks/mirror.py census_income_kdd.parquet adult.parquet    # UCI's Census-Income (KDD) and Adult
    python benchmarks/mirror.py                                           # the synthetic census, 150,000 rows
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import measure
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.answering import answer, count, independent
from glasshouse.evaluate import relative_errors

RUNS = 3
TS = ("0.1", "0.15", "0.2", "0.25", "0.3", "0.4")
METHODS: dict[str, gh.grouping.Method] = {
    "Mirror": gh.Mirror(),
    "Hybrid": gh.Hybrid(),
    "Tailor": gh.Tailor(),
    "Ace": gh.Ace(),
    "Anatomize": gh.Anatomize(),
    "even splits": gh.EvenSplit(),
    "Mondrian, relaxed *": gh.Mondrian(partitioning="relaxed"),
    "Mondrian, strict *": gh.Mondrian(),
}
RECODINGS: dict[str, gh.recoding.Recoding] = {"anatomy": gh.Anatomy(), "boxes": gh.Boxes(), "ANGEL": gh.Angel()}
Workloads = Callable[[gh.Microdata, int], gh.Workload]


def census(path: Path) -> gh.Microdata:
    """Census-Income: people with an occupation, 46 of them."""
    quasi = ["age", "sex", "education", "country_of_birth_self"]
    table = pq.read_table(path)
    table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    columns = {name: table[name] for name in quasi}
    columns["occupation"] = pc.cast(table["detailed_occupation_recode"], pa.string())
    return gh.read(pa.table(columns), quasi=quasi, sensitive="occupation", missing="category")


def adult(path: Path) -> gh.Microdata:
    """Adult as MINIMALITY has it: six quasi-identifiers, 14 occupations, people of whom all is known."""
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    table = pq.read_table(path, columns=[*quasi, "occupation"]).drop_null()
    return gh.read(table, quasi=quasi, sensitive="occupation")


def largest_ell(table: gh.Microdata) -> int:
    return table.n_tuples // int(np.bincount(table.sensitive[0].codes).max())


def transparent(table: gh.Microdata, run: int) -> gh.Workload:
    return gh.Workload.transparent(table, qd=min(5, len(table.quasi) + 1), s=0.06, seed=run)


def anatomy(table: gh.Microdata, run: int) -> gh.Workload:
    return gh.Workload.anatomy(table, qd=3, s=0.05, seed=run)


def error(
    table: gh.Microdata, principle: gh.Principle, method: object, recoding: object, workloads: Workloads
) -> tuple[float, float]:
    """Mean and standard error over runs of the mean relative error."""
    found = []
    for run in range(RUNS):
        asked = workloads(table, run)
        if method is None:
            estimates = independent(table, asked)
        else:
            release = gh.publish(
                table, principle=principle, method=method, recoding=recoding, source=gh.Source.seeded(run)
            )
            estimates = answer(release, asked).values
        found.append(float(np.mean(relative_errors(estimates, count(table, asked), table.n_tuples))))
    return float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(RUNS))


def compare(table: gh.Microdata, recoding: str, workloads: Workloads) -> None:
    """Print a row per method and a column per l."""
    ells = range(2, largest_ell(table) + 1)
    print(f"\n{recoding}, {workloads(table, 0).name}")
    measure.row("", *(f"l = {ell}" for ell in ells))
    for name, method in {"no link": None, **METHODS}.items():
        cells = []
        for ell in ells[:1] if method is None else ells:
            try:
                cells.append(f"{error(table, gh.LDiversity(ell=ell), method, RECODINGS[recoding], workloads)[0]:.4f}")
            except gh.Infeasible:  # one person more per group than there can be
                cells.append("-")
        measure.row(name, *cells)


def closeness(table: gh.Microdata, recoding: str) -> None:
    """Print what t-closeness leaves, by Mirror with one to three mirrors, and by Mondrian."""
    print(f"\nt-closeness, {recoding}, {transparent(table, 0).name}")
    measure.row("", *(f"t = {t}" for t in TS))
    methods = {f"Mirror, mirrors = {n}": gh.Mirror(mirrors=n) for n in (1, 2, 3)}
    for name, method in {**methods, "Mondrian, relaxed *": METHODS["Mondrian, relaxed *"]}.items():
        measure.row(
            name,
            *(f"{error(table, gh.TCloseness(t=t), method, RECODINGS[recoding], transparent)[0]:.4f}" for t in TS),
        )


def main(paths: list[str]) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)  # that is the point of comparing
    readers = {"adult.parquet": adult}
    tables = [readers.get(Path(path).name, census)(Path(path)) for path in paths] or [
        gh.synthetic.census(150_000, seed=1)
    ]
    for table in tables:
        print(f"\n== {table.n_tuples:,} rows, {len(table.quasi)} quasi-identifiers; mean error, mean of {RUNS} runs")
        for recoding in RECODINGS:
            compare(table, recoding, transparent)
        compare(table, "anatomy", anatomy)
        for recoding in ("anatomy", "boxes"):
            closeness(table, recoding)


if __name__ == "__main__":
    main(sys.argv[1:])
