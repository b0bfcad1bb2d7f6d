"""MINIMALITY Figures 3 and 4 on the Adult table: how exposed people are to whoever knows that groups grew greedily.

Prints Markdown tables. Beliefs are exact unless a table says otherwise, where the paper samples. As in the paper, the
order has no ties: a number is the last quasi-identifier. The last table has none, so ties are broken in secret.

    python benchmarks/minimality_figures.py ADULT.parquet
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
import glasshouse.publish
from glasshouse.adversary import Posterior
from glasshouse.adversary.sequences import attack_greedy
from glasshouse.published import Published

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]
VALUES = ("Tech-support", "Craft-repair")
HUGE, TRIALS = 20_000_000, 5_000_000


def adult(file: Path, *, numbered: bool = True, only: str | None = None) -> gh.Microdata:
    """Complete tuples; ``only``: the sensitive column says no more than whether somebody has this occupation."""
    table = pq.read_table(file).drop_null()
    occupation = table["occupation"].cast(pa.string())
    if only:
        occupation = pc.if_else(pc.equal(occupation, only), only, "other")
    quasi = [*QUASI, "number"] if numbered else QUASI
    table = table.append_column("number", [list(range(len(table)))])
    table = table.set_column(table.column_names.index("occupation"), "occupation", occupation)
    return gh.read(table.select([*quasi, "occupation"]), quasi=quasi, sensitive="occupation")


def attacked(table: gh.Microdata, principle: Any, method: Any, **limits: Any) -> Posterior | None:
    algorithm = principle, method, gh.Permutation()
    source = gh.Source.seeded(1)
    try:
        release = gh.publish(table, principle=principle, method=method, recoding=algorithm[2], source=source)
    except gh.Infeasible:
        return None
    knowledge = gh.Knowledge(external=table)
    return attack_greedy(release, Published.of(release), knowledge, algorithm, source=source, **limits)


def of_value(found: Posterior, value: str) -> np.ndarray:
    """The belief in one value, for every person."""
    code = found.values.index(value)
    by_kind = np.zeros(len(found.presence))
    of_kind = np.repeat(np.arange(len(by_kind)), np.diff(found.offsets))
    by_kind[of_kind[found.codes == code]] = found.beliefs[found.codes == code]
    return by_kind[found.kind]


def exposed(beliefs: np.ndarray | None, limit: float) -> str:
    """Two cells: the share of people above a limit, and the largest belief as a multiple of it."""
    if beliefs is None:
        return "not eligible | |"
    return f"{np.mean(beliefs > limit * (1 + 1e-9)):.2%} | {beliefs.max() / limit:.2f} |"


def designated(table: gh.Microdata, ell: int, method: Any) -> str:
    cells = []
    for value in VALUES:
        try:
            found = attacked(table, gh.DesignatedLDiversity(ell=ell, values=(value,)), method)
        except gh.NotSupported as refusal:  # so many people at the end of the order make no group
            cells.append(f"refused: {str(refusal).split(':')[0]} | |")
            continue
        cells.append(exposed(None if found is None else of_value(found, value), 1 / ell))
    return " ".join(cells)


def figure3ab(table: gh.Microdata) -> None:
    print("\n### GG, designated l-diversity (Figure 3(a), (b))\n")
    print("| l | Tech-support: above 1/l | times 1/l | Craft-repair: above 1/l | times 1/l |\n|---|---|---|---|---|")
    for ell in range(2, 11):
        print(f"| {ell} | {designated(table, ell, gh.Greedy(last='drop'))}", flush=True)


def figure4(table: gh.Microdata) -> None:
    print("\n### RGG, designated 6-diversity (Figure 4(a), (b))\n")
    print("| p | Tech-support: above 1/6 | times 1/6 | Craft-repair: above 1/6 | times 1/6 |\n|---|---|---|---|---|")
    for p in ("0", "0.2", "0.4", "0.6", "0.65", "0.8", "0.9"):
        print(f"| {p} | {designated(table, 6, gh.RandomisedGreedy(p=p, last='drop'))}", flush=True)


def figure3cd(file: Path) -> None:
    print("\n### GG, t-closeness of whether somebody has the occupation (Figure 3(c), (d))\n")
    print("| t | Tech-support: farther than t | largest distance / t | Craft-repair: farther | largest / t |")
    print("|---|---|---|---|---|")
    for t in ("0.1", "0.15", "0.2", "0.3", "0.4", "0.5"):
        cells = []
        for value in VALUES:
            table = adult(file, only=value)
            try:
                found = attacked(table, gh.TCloseness(t=t), gh.Greedy(), most_states=HUGE, most_trials=TRIALS)
            except gh.NotSupported as refusal:
                cells.append(f"refused: {str(refusal).split(':')[0]} | |")
                continue
            assert found is not None
            share = np.mean(table.sensitive[0].codes == table.sensitive[0].domain.code_of(value))
            distance = np.abs(of_value(found, value) - share)
            cells.append(exposed(distance, float(t)))
        print(f"| {t} | {' '.join(cells)}", flush=True)


def frequency(table: gh.Microdata, title: str, ells: range) -> None:
    print(f"\n### {title}\n")
    print("| l | method | above 1/l | times 1/l | how | 95 % error |\n|---|---|---|---|---|---|")
    for ell in ells:
        methods = {"GG": gh.Greedy(), **{f"RGG, p = {p}": gh.RandomisedGreedy(p=p) for p in ("0.2", "0.65")}}
        for name, method in methods.items():
            try:
                found = attacked(table, gh.LDiversity(ell=ell), method, most_trials=TRIALS)
            except gh.NotSupported as refusal:
                print(f"| {ell} | {name} | | | refused: {str(refusal).split(':')[0]} | |", flush=True)
                continue
            people = None if found is None else found.largest[found.kind]
            how = "" if found is None else found.how
            error = "" if found is None or found.errors is None else f"{found.errors.max():.3f}"
            print(f"| {ell} | {name} | {exposed(people, 1 / ell)} {how} | {error} |", flush=True)


def main(file: Path) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    table = adult(file)
    print(f"Adult, {table.n_tuples:,} people")
    figure3ab(table)
    figure4(table)
    figure3cd(file)
    frequency(table, "Frequency l-diversity of all 14 occupations, no ties", range(2, 8))
    frequency(adult(file, numbered=False), "The same where ties are broken in secret", range(2, 8))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
