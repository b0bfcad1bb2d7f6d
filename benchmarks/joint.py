"""Several sensitive columns: what the joint promise costs, and why columns are not divided apart.

python benchmarks/joint.py ../shared/data      # Adult of UCI: occupation, income class and hours, three columns
python benchmarks/joint.py apart               # two divisions of the same people, by an attacker who intersects them

The first prints for every way to publish the number of groups, how many people a group has (the mean over people), how
many people were left out, and for each column the mean absolute error of counts, as a share of the mean true count. The
second prints how often an attacker is right who knows how two columns go together, and nobody's values.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.release.contents import Published

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]
ASKED: dict[str, Any] = {
    "occupation": gh.LDiversity(4),
    "income": gh.DesignatedLDiversity(ell=3, values=(">50K",)),
    "hours": gh.AlphaKAnonymity(alpha="0.6", k=4),
}
QUESTIONS = 15
N_VALUES = 40  # of the two columns that are divided apart
MOST = 20_000  # people, taken at random


def adult(folder: str) -> pa.Table:
    """Adult with hours in five bins; people whose occupation is not known are left out."""
    rows = pq.read_table(Path(folder, "adult.parquet"))
    hours = np.asarray(rows["hours-per-week"])
    names = np.array(["under 35", "35 to 39", "40", "41 to 49", "50 and more"])
    rows = rows.append_column("hours", pa.array(names[np.searchsorted([35, 40, 41, 50], hours, side="right")]))
    rows = rows.select([*QUASI, *ASKED]).drop_null()
    return rows.take(np.sort(np.random.default_rng(1).permutation(rows.num_rows)[:MOST]))


def questions(rows: pa.Table) -> dict[str, list[tuple[str, int]]]:
    """Counts of people of some ages and one sex with a value of each column."""
    random = np.random.default_rng(5)
    age, sex = np.asarray(rows["age"]), np.asarray(rows["sex"].to_pylist())
    found: dict[str, list[tuple[str, int]]] = {}
    for column in ASKED:
        held = np.asarray(rows[column].to_pylist())
        values = sorted(set(held.tolist()))
        for _ in range(QUESTIONS):
            low = int(random.integers(17, 60))
            who, value = str(random.choice(["Male", "Female"])), str(random.choice(values))
            true = int(((age >= low) & (age <= low + 15) & (sex == who) & (held == value)).sum())
            where = f"age BETWEEN {low} AND {low + 15} AND sex = '{who}' AND {column} = '{value}'"
            found.setdefault(column, []).append((f"SELECT COUNT(*) WHERE {where}", true))
    return found


def error(release: gh.Release, asked: list[tuple[str, int]]) -> float:
    """The mean absolute error, as a share of the mean true count."""
    scale = 1 + release.n_dropped / release.n_tuples  # the analyst knows how many were left out by lot
    wrong = [abs(gh.query(release, sql).value * scale - true) for sql, true in asked]
    return float(np.mean(wrong) / np.mean([true for _, true in asked]))


def costs(folder: str) -> None:
    """Print a row for every way to publish Adult."""
    rows = adult(folder)
    asked = questions(rows)
    together = gh.read(rows, quasi=QUASI, sensitive=list(ASKED))
    ways: dict[str, tuple[Any, Any, Any]] = {
        "jointly, nobody left out": (together, ASKED, gh.Mirror(leave_out=0)),
        "jointly (default), up to 1 %": (together, ASKED, gh.Mirror()),
        "jointly, up to 5 %": (together, ASKED, gh.Mirror(leave_out="0.05")),
        "common groups, no joint promise": (together, ASKED, gh.Mirror(leave_out=None)),
    }
    for column, principle in ASKED.items():
        alone = gh.read(rows.select([*QUASI, column]), quasi=QUASI, sensitive=column)
        ways[f"{column} alone"] = (alone, principle, None)
    print(f"{rows.num_rows:,} people\n\n| published | groups | people of a group | left out |", end="")
    print("".join(f" {column} |" for column in ASKED))
    print("| --- | --- | --- | --- |" + " --- |" * len(ASKED))
    for name, (table, principle, method) in ways.items():
        release = gh.publish(
            table, principle=principle, method=method, recoding=gh.Angel(k=4), source=gh.Source.seeded(1)
        )
        columns = release.recipe.sensitive
        sizes = Published.of(release, columns[0]).sizes
        mean = float((sizes.astype(float) ** 2).sum() / sizes.sum())
        cells = [f"{error(release, asked[column]):.1%}" if column in columns else "" for column in ASKED]
        print(f"| {name} | {len(sizes):,} | {mean:,.0f} | {release.n_dropped:,} | {' | '.join(cells)} |", flush=True)


def apart() -> None:
    """Print how often an attacker is right who intersects two divisions, each of which is 4-diverse by itself."""
    n, n_values, ell = 1_200, N_VALUES, 4
    print("| equal with probability | right by both divisions | right by common groups | 1/l |")
    print("| --- | --- | --- | --- |")
    for same in (0.0, 0.8, 0.95):
        random = np.random.default_rng(int(100 * same))
        first = random.integers(0, n_values, n)
        second = np.where(random.random(n) < same, first, random.integers(0, n_values, n))
        weight = np.full((n_values, n_values), (1 - same) / n_values) + same * np.eye(n_values)
        shares = [_shares(column, ell, seed) for seed, column in enumerate((first, second), 1)]
        both = shares[1] * (shares[0] @ weight)
        common = _shares(second, ell, 3)
        right = [float((guess.argmax(axis=1) == second).mean()) for guess in (both, common)]
        print(f"| {same} | {right[0]:.0%} | {right[1]:.0%} | {1 / ell:.0%} |")


def _shares(column: Any, ell: int, seed: int) -> Any:
    """For everybody the shares of the values in the own group, where a column is published alone."""
    values = [f"v{value:02}" for value in column.tolist()]
    table = gh.read({"q": list(range(len(values))), "s": values}, quasi=["q"], sensitive="s")
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell),
        method=gh.Anatomize(varied=True),
        recoding="anatomy",
        source=gh.Source.seeded(seed),
    )
    found = gh.attack(release, gh.Linking(), knowledge=gh.Knowledge(external=table))
    return np.array([[found.of(row).get(f"v{v:02}", 0.0) for v in range(N_VALUES)] for row in range(len(values))])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    costs(sys.argv[1]) if sys.argv[1] != "apart" else apart()
