"""Trees from perturbed samples: what it is worth to weigh tuples between people and equal ones (docs/analysing.md).

CORRUPTION's own figures are `glasshouse reproduce corruption`. Here are the errors of its settings with tuples that
count for all people of their group beside those of the default, in percent, mean and standard deviation of eight runs;
and how many tuples, leaves and seconds there are.

    python benchmarks/trees.py                                      # the synthetic census, 100,000 people, incomes
    python benchmarks/trees.py census_income_kdd.parquet            # Census-Income (KDD) of UCI, 46 occupations
"""

from __future__ import annotations

import sys
import time
from bisect import bisect_right
from functools import partial

import measure
import numpy as np

import glasshouse as gh
from glasshouse.analyst.trees.classifier import PerturbedTreeClassifier, people
from glasshouse.papers.corruption import KS, PS, QUASI, SKEW, K, P
from glasshouse.papers.data import Data, open_data

RUNS = 8


def errors(
    table: gh.Microdata, domain: list[int], ways: dict[int, partial[int]], p: str, k: int
) -> dict[int, dict[str, list[float]]]:
    found: dict[int, dict[str, list[float]]] = {
        m: {name: [] for name in ("tuples", "default", "people", "leaves", "s")} for m in ways
    }
    for seed in range(RUNS):
        release = gh.publish(
            table,
            principle=gh.DeltaGrowth(k=k, lambda_=SKEW),
            method=gh.Mondrian(),
            recoding=gh.Perturbed(p=p, domain=domain),
            source=gh.Source.seeded(seed),
        )
        for m, class_of in ways.items():
            X, y = people(table, class_of)  # noqa: N806
            start = time.process_time()
            tree = PerturbedTreeClassifier().fit_release(release, class_of)
            took = time.process_time() - start
            by_people = PerturbedTreeClassifier(size_weight=1).fit_release(release, class_of)
            measured = {
                "tuples": release.data.num_rows,
                "default": 100 * (1 - tree.score(X, y)),
                "people": 100 * (1 - by_people.score(X, y)),
                "leaves": sum(node.is_leaf for node in tree.nodes_),
                "s": took,
            }
            for name, value in measured.items():
                found[m][name].append(value)
    return found


def main(data: Data) -> None:
    sensitive = list(data.sensitive.values())[-1]
    table = data.read([name for name in QUASI if name != sensitive], sensitive)
    domain = sorted(data.table[sensitive].unique().to_pylist())
    ways = {m: partial(bisect_right, borders) for m, borders in data.classes.items()}
    print(f"{data.about}\n")
    measure.row("", "classes", "tuples", "default", "counting people", "leaves", "CPU s")
    for p, k in dict.fromkeys([*((P, k) for k in KS), *((p, K) for p in PS)]):
        for m, found in errors(table, domain, ways, p, k).items():
            shown = [f"{np.mean(found[name]):.1f} ({np.std(found[name]):.1f})" for name in ("default", "people")]
            measure.row(
                f"p = {p}, k = {k}",
                str(m),
                f"{np.mean(found['tuples']):,.0f}",
                *shown,
                f"{np.mean(found['leaves']):.0f}",
                f"{np.mean(found['s']):.2f}",
            )


if __name__ == "__main__":
    main(open_data(sys.argv[1], 1_000_000) if len(sys.argv) > 1 else open_data("synthetic", 100_000))
