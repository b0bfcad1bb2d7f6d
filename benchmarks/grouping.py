"""Every method at 600k and 10M rows of the synthetic census, l = 2, 8 and 10.

CPU time of dividing, one thread, against one stable argsort of as many random 64-bit integers in the same run; the
secret shuffle for ties is counted. Peak memory is that of a process which holds the table and divides it.

    python benchmarks/grouping.py            # GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import sys

import measure

import glasshouse as gh
import glasshouse.publish  # its start-up is not what is measured
from glasshouse.engines import Memory
from glasshouse.grouping.method import Method
from glasshouse.principles.principle import Requirement

METHODS = {
    "Mirror, for boxes": gh.Mirror(inner="ace"),
    "Mirror, for anatomy": gh.Mirror(inner="anatomize"),
    "Tailor": gh.Tailor(),
    "Hybrid": gh.Hybrid(),
    "Ace": gh.Ace(),
    "Anatomize": gh.Anatomize(),
    "Snug": gh.Snug(),
    "Mondrian, strict": gh.Mondrian(),
    "even splits at l + 1": gh.EvenSplit(),
    "greedy": gh.Greedy(),
    "symmetric at l + 1": gh.Symmetric(),
}


def divide(name: str, n: int, ell: int) -> None:
    """Divide in this process: for its peak memory."""
    table = gh.synthetic.census(n, seed=1)
    METHODS[name].divide(table, Requirement.of(gh.LDiversity(ell=ell), table), engine=Memory(threads=1))


def main(ells: list[int]) -> None:
    for n in measure.ROWS:
        runs = 3 if n <= 1_000_000 else 1
        yardstick = measure.argsort(n, runs)
        table = gh.synthetic.census(n, seed=1)
        for ell in ells:
            requirement = Requirement.of(gh.LDiversity(ell=ell), table)
            compare(table, requirement, yardstick, runs)
        del table, requirement
    for name in ("Mirror, for boxes", "Hybrid", "Ace"):
        peak = measure.apart(divide, name, measure.ROWS[-1], 8)["gigabytes"]
        print(
            f"peak memory of a process that makes {measure.ROWS[-1]:,} rows and divides them by {name}: {peak:.2f} GB"
        )


def compare(table: gh.Microdata, requirement: Requirement, yardstick: float, runs: int) -> None:
    print(f"\n{len(table):,} rows, {requirement.describe()}; one stable argsort: {yardstick:.3f} CPU s")
    measure.row("", "CPU s", "to argsort", "groups")
    for name, method in METHODS.items():
        made: list[int] = []

        def work(method: Method = method, made: list[int] = made) -> None:
            made.append(method.divide(table, requirement, engine=Memory(threads=1)).n_groups)

        seconds = measure.cpu(work, runs)
        measure.row(name, f"{seconds:.3f}", f"{seconds / yardstick:.2f}", f"{made[0]:,}")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [2, 8, 10])
