"""Greedy grouping beyond MINIMALITY's figures, which are `glasshouse reproduce minimality --data adult`.

Three tables: RGG with larger p than the paper's; the claims of Figure 5 for every l, which the paper leaves open there;
and what is believed under frequency l-diversity of all occupations, with and without ties. Beliefs are exact unless a
table says otherwise.

    python benchmarks/greedy.py ADULT.parquet       # Adult of UCI, the paper's table
    python benchmarks/greedy.py                     # as many people of the synthetic census
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.greedy.sequences import GreedyGroups
from glasshouse.papers.data import Data, open_data
from glasshouse.papers.minimality import ELL, MOST_TRIALS, QUASI, ROWS, about_errors, aggregates, beliefs

FREQUENT = (2, 3, 4)  # beyond these beliefs are sampled for many minutes


def table_of(data: Data, *, numbered: bool) -> gh.Microdata:
    """The paper's seven attributes; a number as the last quasi-identifier leaves no ties in the order."""
    plain = data.table.select([*QUASI, "occupation"])
    quasi = list(QUASI)
    if numbered:
        plain, quasi = plain.append_column("number", pa.array(np.arange(data.n))), [*QUASI, "number"]
    return gh.read(plain, quasi=quasi, sensitive="occupation", categorical=["occupation"])


def exposed(found: Any, limit: float) -> str:
    """Two cells: the share of people above a limit, and the largest belief as a multiple of it."""
    if found is None:
        return "not eligible | |"
    return f"{np.mean(found > limit * (1 + 1e-9)):.2%} | {found.max() / limit:.2f} |"


def coins(data: Data) -> None:
    print(f"\n### RGG, designated {ELL}-diversity, beyond Figure 4(a), (b)\n")
    head = " | ".join(f"{name}: above 1/{ELL} | times 1/{ELL}" for name in data.designated)
    print(f"| p | {head} |\n|---|---|---|---|---|")
    table = table_of(data, numbered=True)
    for p in ("0.65", "0.8", "0.9"):
        cells = []
        for value in data.designated.values():
            principle = gh.DesignatedLDiversity(ell=ELL, values=(value,))
            cells.append(exposed(beliefs(table, principle, gh.RandomisedGreedy(p=p, last="drop"), value), 1 / ELL))
        print(f"| {p} | {' '.join(cells)}", flush=True)


def frequency(table: gh.Microdata, title: str) -> None:
    print(f"\n### {title}\n")
    print("| l | method | above 1/l | times 1/l | how | 95 % error |\n|---|---|---|---|---|---|")
    methods = {"GG": gh.Greedy(), **{f"RGG, p = {p}": gh.RandomisedGreedy(p=p) for p in ("0.2", "0.65")}}
    for ell in FREQUENT:
        for name, method in methods.items():
            algorithm = gh.LDiversity(ell=ell), method, gh.Permutation()
            source = gh.Source.seeded(1)
            try:
                release = gh.publish(table, principle=algorithm[0], method=method, recoding=algorithm[2], source=source)
                strategy = GreedyGroups(source=source, most_trials=MOST_TRIALS)
                found = strategy.attack(release, gh.Knowledge(external=table), algorithm)
            except (gh.NotSupported, gh.Infeasible) as refusal:
                print(f"| {ell} | {name} | | | refused: {str(refusal).split(':')[0]} | |", flush=True)
                continue
            error = "" if found.errors is None else f"{found.errors.max():.3f}"
            cells = exposed(found.largest[found.kind], 1 / ell)
            print(f"| {ell} | {name} | {cells} {found.how} | {error} |", flush=True)


def errors(table: gh.Microdata) -> None:
    print("\n### The claims of Figure 5, for other l\n\n| l | claim | verdict | number |\n|---|---|---|---|")
    for ell in range(2, ELL + 1):
        for text, _, verdict in about_errors(aggregates(table, 1000, ell)):
            print(f"| {ell} | {text} | {verdict.word} | {verdict.said} |", flush=True)


def main(given: str) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    data = open_data(given, ROWS)
    print(data.about)
    coins(data)
    errors(table_of(data, numbered=False))
    frequency(table_of(data, numbered=True), "Frequency l-diversity of all occupations, no ties")
    frequency(table_of(data, numbered=False), "The same where ties are broken in secret")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "synthetic")
