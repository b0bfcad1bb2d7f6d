"""Mirror against Hybrid and Anatomize: mean error of a thousand questions, all of them published as anatomy.

Questions are those of TRANSPARENT 4.1 (five attributes, selectivity 6 %), drawn anew for every run; *no link* is what
an analyst knows who has the quasi-identifiers and the sensitive values in two tables without a link. Errors are
relative to the truth, or to 0.1 % of the table where that is more. The last column halves two attributes only: whoever
knows that age and education tell much about occupation can say so beforehand.

    python benchmarks/mirror.py census_income_kdd.parquet    # Census-Income (KDD) of UCI, 46 occupations
    python benchmarks/mirror.py                              # the synthetic census, 150,000 rows
"""

from __future__ import annotations

import sys
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
ELLS = (2, 3, 4, 5, 6, 8)
QUASI = ["age", "sex", "education", "country_of_birth_self"]


def census(path: Path) -> gh.Microdata:
    """People with an occupation."""
    table = pq.read_table(path)
    table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    columns = {name: table[name] for name in QUASI}
    columns["occupation"] = pc.cast(table["detailed_occupation_recode"], pa.string())
    return gh.read(pa.table(columns), quasi=QUASI, sensitive="occupation", missing="category")


def errors(table: gh.Microdata, ell: int, methods: dict[str, gh.grouping.Method]) -> dict[str, list[float]]:
    """By method, the mean error of each run."""
    found: dict[str, list[float]] = {name: [] for name in ("no link", *methods)}
    for run in range(RUNS):
        asked = gh.Workload.transparent(table, qd=5, s=0.06, seed=run)
        true = count(table, asked)

        def score(estimates: np.ndarray, true: np.ndarray = true) -> float:
            return float(np.mean(relative_errors(estimates, true, table.n_tuples)))

        found["no link"].append(score(independent(table, asked)))
        for name, method in methods.items():
            release = gh.publish(
                table,
                principle=gh.LDiversity(ell=ell),
                method=method,
                recoding=gh.Anatomy(),
                source=gh.Source.seeded(run),
            )
            found[name].append(score(answer(release, asked).values))
    return found


def main(paths: list[str]) -> None:
    table = census(Path(paths[0])) if paths else gh.synthetic.census(150_000, seed=1)
    few = tuple(column.name for column in table.quasi if column.name not in ("age", "education"))
    methods = {
        "Anatomize": gh.Anatomize(),
        "Hybrid": gh.Hybrid(),
        "Mirror": gh.Mirror(),
        f"Mirror, {' and '.join(few)}": gh.Mirror(priority=few),
    }
    print(f"{table.n_tuples:,} rows, {len(table.quasi)} quasi-identifiers; mean error, mean of {RUNS} runs")
    measure.row("", *(f"l = {ell}" for ell in ELLS))
    found = [errors(table, ell, methods) for ell in ELLS]
    for name in found[0]:
        measure.row(name, *(f"{np.mean(scores[name]):.4f}" for scores in found))


if __name__ == "__main__":
    main(sys.argv[1:])
