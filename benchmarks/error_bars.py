"""How far 95 % intervals reach where the truth is not drawn from their model: docs/utility.md, Error bars.

TRANSPARENT's workload with qd = 4, l = 5, the first 150,000 people of a table; of questions whose true count is at
least 20 the share that intervals cover, the number of standard errors within which 95 % of the answers are (1.96 if the
model held), and the mean relative error in percent.

    python benchmarks/error_bars.py                                    # the synthetic census
    python benchmarks/error_bars.py census_income_kdd.parquet          # and Census-Income (KDD) of UCI, employed people
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import measure
import numpy as np

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import Answers, answer, count
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.journeys.evaluate import DELTA, relative_errors
from glasshouse.papers.data import open_data
from glasshouse.papers.measurement import published, terms

PEOPLE, ENOUGH, ELL = 150_000, 20, 5


def answers_of_kinds(table: gh.Microdata, asked: Workload) -> Iterator[tuple[str, Answers]]:
    principle = gh.LDiversity(ell=ELL)
    domain = table.sensitive[0].domain.values.to_pylist()
    kinds: dict[str, tuple[Any, Any, Any]] = {
        "boxes, Mondrian": (principle, gh.Mondrian(), gh.Boxes()),
        "boxes, Hybrid": (principle, gh.Hybrid(), gh.Boxes()),
        "boxes, Mirror": (principle, gh.Mirror(start="1.75", inner="ace"), gh.Boxes()),
        "anatomy, Anatomize": (principle, gh.Anatomize(), gh.Anatomy()),
        "anatomy, Mondrian": (principle, gh.Mondrian(), gh.Anatomy()),
        "anatomy, Hybrid": (principle, gh.Hybrid(), gh.Anatomy()),
        "anatomy, Mirror": (principle, gh.Mirror(start="1.75"), gh.Anatomy()),
        "permutation, Mirror": (principle, gh.Mirror(start="1.75"), gh.Permutation()),
        "ANGEL, Mondrian, k = 5": (principle, gh.Mondrian(), gh.Angel(k=5)),
        "ANGEL, Mirror, k = 5": (principle, gh.Mirror(start="1.75"), gh.Angel(k=5)),
        "perturbed, p = 0.3, k = 6": (
            gh.DeltaGrowth(k=6, lambda_="0.1"),
            gh.Mondrian(),
            gh.Perturbed(p="0.3", domain=domain),
        ),
    }
    for name, how in kinds.items():
        release = published(table, *how)
        if release is not None:
            yield name, answer(release, asked, model="uniform", **terms(table))


def main(given: str) -> None:
    data = open_data(given, 600_000)
    table = data.read(gh.synthetic.TRANSPARENT_QUASI, data.sensitive["OCC"], PEOPLE)
    asked = Workload.transparent(table, qd=4, n=1000, seed=4)
    true = count(table, asked)
    enough = true >= ENOUGH
    print(f"\n{data.about}; the first {table.n_tuples:,}, and {enough.sum():,} of {len(asked):,} questions\n")
    measure.row("", "covered", "within (standard errors)", "mean error, %")
    for name, found in answers_of_kinds(table, asked):
        off = np.abs(found.values - true)[enough] / np.maximum(found.errors[enough], 1e-12)
        share = found.covers(true)[enough].mean()
        mean = 100 * np.mean(relative_errors(found.values, true, table.n_tuples, DELTA))
        measure.row(name, f"{100 * share:.1f} %", f"{np.quantile(off, 0.95):.1f}", f"{mean:.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", gh.errors.DisclosureWarning)
    for given in ["synthetic", *sys.argv[1:]]:
        main(given)
