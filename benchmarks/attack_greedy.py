"""Explaining greedy groups of the synthetic census, 600k and 10M rows.

CPU time of the attack, against publishing the same rows in the same run (one thread) and against reading the release,
which any attack has to do first. Peak memory is that of a process that makes the rows, publishes them and attacks.

    python benchmarks/attack_greedy.py       # GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import time
import warnings
from itertools import pairwise
from typing import Any

import measure
import numpy as np

import glasshouse as gh
import glasshouse.publish  # its start-up is not what is measured
from glasshouse.adversary.reverse_engineering.greedy.sequences import GreedyGroups
from glasshouse.release.contents import Published

HALF = "0.5"
JOBS: dict[str, tuple[Any, Any]] = {
    "l = 2": (gh.LDiversity(ell=2), gh.Greedy()),
    "l = 4": (gh.LDiversity(ell=4), gh.Greedy()),
    "l = 4, with coins": (gh.LDiversity(ell=4), gh.RandomisedGreedy(p=HALF)),
    "one value, l = 8": (gh.DesignatedLDiversity(ell=8, values=(10,)), gh.Greedy()),
}
# Large groups of many values are sampled: slower, and not for every day.
SLOW: dict[str, tuple[Any, Any]] = {"l = 6": (gh.LDiversity(ell=6), gh.Greedy())}


def attack(name: str, n: int) -> dict[str, float]:
    """Publish and attack in this process; CPU seconds of each step, and what was found."""
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    principle, method = (JOBS | SLOW)[name]
    table = gh.synthetic.census(n, seed=1, quasi=gh.synthetic.ANATOMY_QUASI)
    algorithm = principle, method, gh.Permutation()
    source = gh.Source.seeded(1)
    times = [time.process_time()]
    release = gh.publish(table, principle=principle, method=method, recoding=algorithm[2], source=source, threads=1)
    times.append(time.process_time())
    Published.of(release)  # what any attack has to do first
    times.append(time.process_time())
    with measure.counted():
        found = GreedyGroups(source=source).attack(release, gh.Knowledge(external=table), algorithm)
    times.append(time.process_time())
    ell = principle.ell
    counted = np.ones(len(found.values), bool)
    if isinstance(principle, gh.DesignatedLDiversity):
        counted = np.isin(np.array(found.values), principle.values)
    by_kind = np.zeros(len(found.presence))
    of_kind = np.repeat(np.arange(len(by_kind)), np.diff(found.offsets))
    np.maximum.at(by_kind, of_kind, np.where(counted[found.codes], found.beliefs, 0.0))
    people = by_kind[found.kind]
    steps = dict(zip(("publish", "read", "attack"), (b - a for a, b in pairwise(times)), strict=True))
    return {**steps, "above": float((people > 1.000001 / ell).mean()), "multiple": float(people.max()) * ell}


def main() -> None:
    for n in measure.ROWS:
        print(f"\n{n:,} rows, groups by lexicographic order of {len(gh.synthetic.ANATOMY_QUASI)} attributes")
        measure.row("", "CPU s", "to publish", "to reading", "above 1/l", "times 1/l")
        for name in JOBS if n > 1_000_000 else JOBS | SLOW:
            found = attack(name, n)
            seconds = found["attack"]
            ratios = f"{seconds / found['publish']:.2f}", f"{seconds / found['read']:.2f}"
            measure.row(name, f"{seconds:.2f}", *ratios, f"{found['above']:.2%}", f"{found['multiple']:.2f}")
    peak = measure.apart(attack, "l = 2", measure.ROWS[-1])["gigabytes"]
    print(f"peak memory of a process that makes, publishes and attacks {measure.ROWS[-1]:,} rows: {peak:.2f} GB")


if __name__ == "__main__":
    main()
