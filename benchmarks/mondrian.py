"""Dividing by Mondrian (l = 8), recoding and verifying, on the synthetic census.

All is measured against one stable argsort of as many random 64-bit integers, in the same run.

    python benchmarks/mondrian.py            # 600k and 10M rows; GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import measure

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.principles import Requirement

QUASI = ["age", "gender", "education", "birthplace"]
SENSITIVE = "occupation"
ELL = 8


def dividing(n: int, runs: int) -> None:
    yardstick = measure.argsort(n, runs)
    print(f"\n{n:,} rows of the synthetic census, l = {ELL}; one stable argsort: {yardstick:.3f} CPU s")
    measure.row("", "CPU s", "to argsort")

    def line(what: str, seconds: float) -> None:
        measure.row(what, f"{seconds:.3f}", f"{seconds / yardstick:.2f}")

    table = gh.synthetic.census(n, seed=1)
    requirement = Requirement.of(gh.LDiversity(ell=ELL), table)
    for partitioning in ("strict", "relaxed"):
        for threads, name in ((1, "one thread"), (0, "all cores")):
            method, engine = gh.Mondrian(partitioning=partitioning), Memory(threads=threads)
            seconds = measure.cpu(lambda m=method, e=engine: m.divide(table, requirement, engine=e), runs)
            line(f"Mondrian {partitioning}, {name}", seconds)
    groups = gh.Mondrian().divide(table, requirement)
    line("boxes", measure.cpu(lambda: gh.Boxes().recode(table, groups), runs))
    published = gh.Boxes().recode(table, groups)["data"]
    line("verify: k, every l, t", measure.cpu(lambda: gh.verify(published, quasi=QUASI, sensitive=SENSITIVE), runs))


if __name__ == "__main__":
    for rows in measure.ROWS:
        dividing(rows, 5 if rows <= 1_000_000 else 2)
