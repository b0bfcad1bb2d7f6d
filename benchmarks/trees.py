"""Trees from perturbed samples, as in CORRUPTION Figures 2 and 3: classification error against k and against p.

The error is that of a tree on everybody in the microdata, in percent, mean and standard deviation of a few runs.
*Optimistic* learns from as many tuples with nothing hidden, *pessimistic* from as many with everything randomised, and
*majority* says of everybody what most are. Shapes compare with the paper's figures; the tables are not its own.

    python benchmarks/trees.py                                      # the synthetic census, income of 50 steps
    python benchmarks/trees.py census_income_kdd.parquet            # Census-Income (KDD) of UCI, 46 occupations
"""

from __future__ import annotations

import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import measure
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.trees import PerturbedTreeClassifier, optimistic, people, pessimistic

RUNS = 8
BY_K = [("0.3", k) for k in (2, 4, 6, 8, 10)]
BY_P = [(p, 6) for p in ("0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45")]


@dataclass(frozen=True)
class Census:
    """A table, its sensitive domain, and for m classes the values at which the second and later ones begin."""

    table: gh.Microdata
    domain: Sequence[int]
    classes: dict[int, Sequence[int]]

    def class_of(self, m: int) -> Callable[[int], int]:
        return lambda value: bisect_right(self.classes[m], value)


def synthetic(n: int = 100_000) -> Census:
    """The paper's attributes, and its categories of incomes (VII-A)."""
    quasi = ["age", "gender", "education", "birthplace", "occupation", "race", "workclass", "marital"]
    table = gh.synthetic.census(n, seed=1, sensitive="income", quasi=quasi)
    return Census(table, range(50), {2: [25], 3: [25, 37]})


def occupations(path: Path) -> Census:
    """Employed people. Two classes: offices and shops, and all others; three: offices and shops in two."""
    quasi = ["age", "sex", "education", "marital_stat", "race", "class_of_worker", "country_of_birth_self"]
    sensitive = "detailed_occupation_recode"
    table = pq.read_table(path, columns=[*quasi, sensitive])
    table = table.filter(pc.greater(table[sensitive], 0))
    microdata = gh.read(table, quasi=quasi, sensitive=sensitive, categorical=[sensitive], missing="category")
    return Census(microdata, range(1, 47), {2: [27], 3: [16, 27]})


def errors(census: Census, m: int, p: str, k: int) -> dict[str, list[float]]:
    class_of = census.class_of(m)
    X, y = people(census.table, class_of)  # noqa: N806
    found: dict[str, list[float]] = {name: [] for name in ("tuples", "leaves", "s", "opt", "PG", "people", "pess")}
    for seed in range(RUNS):
        source = gh.Source.seeded(seed)
        recoding = gh.Perturbed(p=p, domain=census.domain)
        release = gh.publish(
            census.table, principle=gh.DeltaGrowth(k=k, lambda_="0.1"), recoding=recoding, source=source
        )
        n = release.data.num_rows
        start = time.process_time()
        tree = PerturbedTreeClassifier().fit_release(release, class_of)
        found["s"].append(time.process_time() - start)
        by_people = PerturbedTreeClassifier(size_weight=1).fit_release(release, class_of)
        best = optimistic(census.table, n, source=source.child("sample"), class_of=class_of)
        worst = pessimistic(census.table, n, source=source.child("noise"), class_of=class_of, domain=census.domain)
        found["tuples"].append(n)
        found["leaves"].append(sum(node.is_leaf for node in tree.nodes_))
        for name, one in (("opt", best), ("PG", tree), ("people", by_people), ("pess", worst)):
            found[name].append(100 * (1 - one.score(X, y)))
    return found


def main(census: Census) -> None:
    table = census.table
    print(f"{table.n_tuples:,} people, {len(table.quasi)} quasi-identifiers, {len(census.domain)} sensitive values")
    for m in census.classes:
        _, y = people(table, census.class_of(m))
        majority = 100 * (1 - np.bincount(y).max() / len(y))
        for title, pairs in ((f"Figure 2, m = {m}: against k, p = 0.3", BY_K), (f"Figure 3, m = {m}: against p", BY_P)):
            print(f"\n{title}; majority {majority:.1f}; mean (standard deviation) of {RUNS} runs")
            measure.row("", "tuples", "optimistic", "PG", "PG by G", "pessimistic", "leaves", "CPU s")
            for p, k in pairs:
                found = errors(census, m, p, k)
                means = {name: np.mean(some) for name, some in found.items()}
                shown = [f"{means[name]:.1f} ({np.std(found[name]):.1f})" for name in ("opt", "PG", "people", "pess")]
                measure.row(
                    f"p = {p}, k = {k}",
                    f"{means['tuples']:,.0f}",
                    *shown,
                    f"{means['leaves']:.0f}",
                    f"{means['s']:.2f}",
                )


if __name__ == "__main__":
    main(occupations(Path(sys.argv[1])) if len(sys.argv) > 1 else synthetic())
