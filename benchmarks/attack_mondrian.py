"""Attacking Mondrian (l = 8) by the cuts that it did not make, on the synthetic census: time against publishing.

python benchmarks/attack_mondrian.py            # 600k rows; GLASSHOUSE_BENCH_ROWS=100000 for less
"""

from __future__ import annotations

import os
import time
import warnings

import measure

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.cuts.decisions import CutsNotMade

ELL = 8
ROWS = [int(text) for text in os.environ.get("GLASSHOUSE_BENCH_ROWS", "600000").split(",")]


def attacking(n: int) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    table = gh.synthetic.census(n, seed=1)
    steps = gh.LDiversity(ell=ELL), gh.Mondrian(), gh.Boxes()
    source = gh.Source.seeded(1)
    choices = {"principle": steps[0], "method": steps[1], "recoding": steps[2], "source": source}
    publishing = measure.cpu(lambda: gh.publish(table, **choices), 3)
    release = gh.publish(table, **choices)
    knowledge = gh.Knowledge(external=table)
    start = time.process_time()
    found = CutsNotMade(source=source).attack(release, knowledge, steps)
    attack = time.process_time() - start

    print(f"\n{n:,} rows of the synthetic census, strict Mondrian, l = {ELL}")
    measure.row("", "CPU s", "to publish")
    measure.row("publish", f"{publishing:.2f}", "1.0")
    measure.row("attack", f"{attack:.2f}", f"{attack / publishing:.1f}")
    print(found)


if __name__ == "__main__":
    for rows in ROWS:
        seconds = measure.apart(attacking, rows)
        print(f"peak memory {seconds['gigabytes']:.2f} GB")
