"""Dividing by Mondrian and by Snug (l = 8, and k = 10), recoding and verifying, on the synthetic census.

All is measured against one stable argsort of as many random 64-bit integers, in the same run.

    python benchmarks/mondrian.py            # 600k and 10M rows; GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import measure

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.principles.principle import Requirement

QUASI = ["age", "gender", "education", "birthplace"]
SENSITIVE = "occupation"
ELL, K = 8, 10


def dividing(n: int, runs: int) -> None:
    yardstick = measure.argsort(n, runs)
    print(f"\n{n:,} rows of the synthetic census, l = {ELL}; one stable argsort: {yardstick:.3f} CPU s")
    measure.row("", "CPU s", "to argsort")

    def line(what: str, seconds: float) -> None:
        measure.row(what, f"{seconds:.3f}", f"{seconds / yardstick:.2f}")

    table = gh.synthetic.census(n, seed=1)
    requirement = Requirement.of(gh.LDiversity(ell=ELL), table)
    methods = {
        "Mondrian strict": gh.Mondrian(),
        "Mondrian relaxed": gh.Mondrian(partitioning="relaxed"),
        "Snug": gh.Snug(),
    }
    for what, method in methods.items():
        for threads, name in ((1, "one thread"), (0, "all cores")):
            engine = Memory(threads=threads)
            seconds = measure.cpu(lambda m=method, e=engine: m.divide(table, requirement, engine=e), runs)
            line(f"{what}, {name}", seconds)
    by_size, alone = Requirement.of(gh.KAnonymity(k=K), table), Memory(threads=1)
    for what, method in methods.items():
        seconds = measure.cpu(lambda m=method: m.divide(table, by_size, engine=alone), runs)
        line(f"{what}, k = {K}, one thread", seconds)
    groups = gh.Mondrian().divide(table, requirement)
    line("boxes", measure.cpu(lambda: gh.Boxes().recode(table, groups), runs))
    published = gh.Boxes().recode(table, groups)["data"]
    line("verify: k, every l, t", measure.cpu(lambda: gh.verify(published, quasi=QUASI, sensitive=SENSITIVE), runs))


if __name__ == "__main__":
    for rows in measure.ROWS:
        dividing(rows, 5 if rows <= 1_000_000 else 2)
