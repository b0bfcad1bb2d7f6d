"""An attacker who knows a little: one bit about a synthetic population, and the calibration of beliefs on real ones.

python benchmarks/hint.py specimen                  # income and a value that goes with slightly larger income
python benchmarks/hint.py boxes                     # the same from published boxes alone
python benchmarks/hint.py adult ADULT.parquet       # calibration: Adult of UCI, as a Parquet file; l = 3
python benchmarks/hint.py census CENSUS.parquet     # calibration: Census-Income of UCI, everybody with an occupation

*Specimen*: 4,000 people, as many with each of l values, income normal (50, 15), larger by a shift of those with B. The
hint is one sign: larger income goes with B, with log-odds of 0.1 for each standard deviation.

*Calibration*: chances of the sensitive value are its frequencies by age (in tens of years), sex and education, mixed
with three people by base rates. Everybody's value is drawn anew by these chances, so that an attacker who knows them
has the true prior. Beliefs from each group by itself should then be right as often as they say; if they are right more
often, the release tells more than its groups do. With everybody's age, sex, education and three more attributes as
quasi-identifiers; an optional number of people and an optional l come last.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.adversary.learning.guesses import Guesses

SIGN = [("income", "B", +1)]
SHIFTS = (0.0, 0.5, 2.0, 5.0, 10.0)
METHODS: dict[str, Any] = {
    "Ace": gh.Ace(),
    "Hybrid": gh.Hybrid(),
    "Sift": gh.Sift(),
    "Mirror, inner ace": gh.Mirror(inner="ace"),
    "Mirror, inner anatomize": gh.Mirror(inner="anatomize"),
    "the same, slack 2": gh.Mirror(inner="anatomize", slack=2),
    "Anatomize": gh.Anatomize(),
}
TABLES = {
    "adult": (["age", "workclass", "education", "marital-status", "race", "sex"], "occupation", 3),
    "census": (
        ["age", "sex", "education", "marital_stat", "race", "class_of_worker"],
        "detailed_occupation_recode",
        4,
    ),
}
MIXED = 3  # people by base rates


def earners(shift: float, ell: int, n: int = 4000, seed: int = 1, digits: int | None = None) -> gh.Microdata:
    """People with one of ell values, and an income that is larger by ``shift`` of those with B."""
    random = np.random.default_rng(seed)
    value = random.permutation(np.repeat(np.arange(ell), n // ell))
    income = random.normal(50, 15, len(value)) + shift * (value == 1)
    income = income if digits is None else np.round(income, digits)
    rows = {"income": income.tolist(), "s": np.array(list("ABCDE"))[value].tolist()}
    return gh.read(rows, quasi=["income"], sensitive="s")


def published(table: gh.Microdata, method: Any, recoding: str, ell: int) -> gh.Release:
    """A release that is the same every time."""
    return gh.publish(
        table, principle=gh.LDiversity(ell=ell), method=method, recoding=recoding, source=gh.Source.seeded(1)
    )


def specimen() -> None:
    """Print a row for every l and shift: how many people are guessed right."""
    titles = ["l", "shift", "the hint alone", *METHODS]
    print(f"| {' | '.join(titles)} |\n{'| --- ' * len(titles)}|")
    for ell in (2, 3, 5):
        for shift in SHIFTS:
            table = earners(shift, ell)
            cells = []
            for method in METHODS.values():
                release = published(table, method, "anatomy", ell)
                cost = gh.attack(release, gh.Hint(signs=SIGN), knowledge=gh.Knowledge(external=table)).cost
                assert cost is not None
                cells.append(f"{cost.in_table.right:.3f}")
            print(f"| {ell} | {shift / 15:.2f} sd | {cost.outsider.right:.3f} | {' | '.join(cells)} |", flush=True)


def boxes() -> None:
    """Print what is guessed from boxes, for incomes as they are and for rounded ones."""
    print(
        "| incomes | in known boxes | no double | of these right | all right | belief in the truth | linking |\n"
        + "| --- " * 7
        + "|"
    )
    for title, digits in (("exact", None), ("with 2 digits", 2), ("with 1 digit", 1)):
        table = earners(2.0, 2, digits=digits)
        release = published(table, gh.Mirror(inner="ace"), "boxes", 2)
        found = gh.attack(release, gh.Hint(signs=SIGN), knowledge=gh.Knowledge(external=table))
        cost = found.cost
        assert cost is not None
        assert cost.known is not None
        told = next((note.split()[1] for note in found.notes if "the ends of boxes" in note), "0")
        print(
            f"| {title} | {told} | {cost.known.people:,} | {cost.known.right:.4f} | {cost.in_table.right:.4f} | "
            f"{cost.in_table.in_truth:.4f} | {cost.linked.right:.3f} |",
            flush=True,
        )


def with_known_chances(name: str, file: str, n: int | None) -> tuple[gh.Microdata, gh.Knowledge]:
    """A table whose values are drawn by known chances, and an attacker who knows the chances."""
    quasi, sensitive, _ = TABLES[name]
    rows = pq.read_table(file)
    rows = rows.filter(pc.field(sensitive) > 0) if name == "census" else rows
    rows = rows.select([*quasi, sensitive]).drop_null()
    random = np.random.default_rng(1)
    rows = rows.take(random.permutation(rows.num_rows)[:n])
    coded = rows[sensitive].cast(pa.string()).combine_chunks().dictionary_encode()
    value, names = np.asarray(coded.indices), coded.dictionary.to_pylist()
    kind = np.asarray(rows["age"]) // 10
    for column in ("sex", "education"):
        codes = np.asarray(rows[column].cast(pa.string()).combine_chunks().dictionary_encode().indices)
        kind = kind * (codes.max() + 1) + codes
    _, kind = np.unique(kind, return_inverse=True)
    chances = np.tile(MIXED * np.bincount(value) / len(value), (kind.max() + 1, 1))
    np.add.at(chances, (kind, value), 1)
    chances = (chances / chances.sum(axis=1, keepdims=True)).round(9)
    drawn = (random.random(len(kind))[:, np.newaxis] > chances[kind].cumsum(axis=1)).sum(axis=1)
    drawn = np.minimum(drawn, len(names) - 1)
    table = gh.read(
        rows.select(quasi).append_column("drawn", pa.array([names[code] for code in drawn])),
        quasi=quasi,
        sensitive="drawn",
    )
    listed = [dict(zip(names, own, strict=True)) for own in chances.tolist()]
    prior = {row: listed[own] for row, own in enumerate(kind.tolist())}
    return table, gh.Knowledge(external=table, prior=prior)


def calibration(name: str, file: str, n: int | None, ell: int) -> None:
    """Print a row for every method: what beliefs say, and how often they are right."""
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    table, knowledge = with_known_chances(name, file, n)
    titles = [
        f"{name}, l = {ell}, {table.n_tuples:,} people", "how", "guessed right", "the hint alone",
        "by group, above .5: people", "say", "right", "by bucket, above .5: people", "say", "right",
        "in the truth: group, bucket", "seconds",
    ]  # fmt: skip
    print(f"| {' | '.join(titles)} |\n{'| --- ' * len(titles)}|")

    def told(own: Guesses) -> str:
        above = next(one for one in own.above if one.limit == "0.5")
        return f"{above.share:.1%} | {above.believed:.3f} | {above.right:.3f}"

    for title, method in METHODS.items():
        release = published(table, method, "anatomy", ell)
        start = time.perf_counter()
        found = gh.attack(release, gh.Hint(), knowledge=knowledge)
        cost = found.cost
        assert cost is not None
        assert cost.by_group is not None
        print(
            f"| {title} | {found.how} | {cost.in_table.right:.3f} | {cost.outsider.right:.3f} | "
            f"{told(cost.by_group)} | {told(cost.in_table)} | "
            f"{cost.by_group.in_truth:.3f}, {cost.in_table.in_truth:.3f} | {time.perf_counter() - start:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["specimen"]
    if what in TABLES:
        path, *numbers = rest
        people = int(numbers[0]) if numbers else 0
        calibration(what, path, people or None, int(numbers[1]) if len(numbers) > 1 else TABLES[what][2])
    else:
        {"specimen": specimen, "boxes": boxes}[what]()
