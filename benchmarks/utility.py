"""What the papers claim about utility, measured: on the synthetic census, and on a real one if its file is given.

Mean relative errors of 1,000 counting questions, in percent. The tables are those of docs/utility.md.

    python benchmarks/utility.py                                    # the synthetic census
    python benchmarks/utility.py census_income_kdd.parquet          # and Census-Income (KDD) of UCI, employed people
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.answering import Answers, answer, count, independent
from glasshouse.analyst.distribution import kl_divergence, reconstructed
from glasshouse.analyst.rebuilding import terms_of
from glasshouse.analyst.workloads import Workload
from glasshouse.evaluate import DELTA, relative_errors

N = 1000
SCHOOL = [
    "Less than 1st grade", "1st 2nd 3rd or 4th grade", "5th or 6th grade", "7th and 8th grade", "9th grade",
    "10th grade", "11th grade", "12th grade no diploma", "High school graduate", "Some college but no degree",
    "Associates degree-occup /vocational", "Associates degree-academic program",
    "Bachelors degree(BA AB BS)", "Masters degree(MA MS MEng MEd MSW MBA)",
    "Prof school degree (MD DDS DVM LLB JD)", "Doctorate degree(PhD EdD)",
]  # fmt: skip


@dataclass(frozen=True)
class Census:
    """A table with whole numbers for all values, as the papers have it, and its attributes by the papers' names."""

    title: str
    plain: pa.Table
    sensitive: str = "occupation"

    def read(self, quasi: Sequence[str], n: int | None = None) -> gh.Microdata:
        some = self.plain if n is None else self.plain.slice(0, n)
        return gh.read(
            some.select([*quasi, self.sensitive]),
            quasi=list(quasi),
            sensitive=self.sensitive,
            categorical=[self.sensitive],
        )


ANATOMY = ("age", "gender", "education", "marital", "race", "workclass", "country")
ANGEL = ("marital", "workclass", "education", "gender", "age")


def synthetic() -> Census:
    return Census("synthetic", gh.synthetic.census_table(600_000, seed=1))


def real(path: Path) -> Census:
    """Employed people; categories are numbered, those of education by how long it takes."""
    names = {
        "age": "age", "gender": "sex", "education": "education", "birthplace": "country_of_birth_self",
        "marital": "marital_stat", "race": "race", "workclass": "class_of_worker",
        "country": "country_of_birth_self", "occupation": "detailed_occupation_recode",
    }  # fmt: skip
    table = pq.read_table(path, columns=list(dict.fromkeys(names.values())))
    table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    columns = {}
    for name, column in names.items():
        values = table[column].to_pylist()
        if isinstance(next(v for v in values if v is not None), str):
            found = sorted({v or "" for v in values})
            known = [label for label in SCHOOL if label in found] if name == "education" else []
            order = {label: i for i, label in enumerate([*known, *(v for v in found if v not in known)])}
            values = [order[v or ""] for v in values]
        columns[name] = values
    plain = pa.table(columns)
    mixed = np.random.default_rng(1).permutation(plain.num_rows)
    return Census("real", plain.take(mixed))


def published(table: gh.Microdata, principle: Any, method: Any, recoding: Any) -> gh.Release | None:
    """A release, or nothing where the principle cannot be had."""
    try:
        return gh.publish(table, principle=principle, method=method, recoding=recoding, source=gh.Source.seeded(1))
    except (gh.Infeasible, gh.NotSupported):
        return None


def error(values: Any, true: Any, n: int, delta: float) -> float:
    return float(100 * np.mean(relative_errors(values, true, n, delta)))


def shown(found: float | None) -> str:
    return "-" if found is None else f"{found:,.1f}" if found < 1000 else f"{found:,.0f}"


def row(*cells: Any) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def heading(title: str, *cells: Any) -> None:
    print(f"\n{title}\n")
    row(*cells)
    row(*(["---"] * len(cells)))


def errors_of(table: gh.Microdata, asked: Workload, delta: float, releases: Sequence[gh.Release | None]) -> list[str]:
    true = count(table, asked)
    return [shown(None if r is None else error(answer(r, asked).values, true, table.n_tuples, delta)) for r in releases]


# --- ANATOMY, Figure 4 ------------------------------------------------------------------------------------------------


def anatomy(census: Census) -> None:
    title = f"ANATOMY Figure 4, {census.title}: l = 10, s = 5 %, qd = d; errors in %"
    heading(title, "d", "anatomy", "generalization", "mondrian, anatomized", "independence", "groups")
    principle = gh.LDiversity(ell=10)
    for d in range(3, 8):
        table = census.read(ANATOMY[:d], 300_000)
        asked = Workload.anatomy(table, qd=d, n=N, seed=d)
        releases = [
            published(table, principle, gh.Anatomize(), gh.Anatomy()),
            published(table, principle, gh.Mondrian(), gh.Boxes()),
            published(table, principle, gh.Mondrian(), gh.Anatomy()),
        ]
        true = count(table, asked)
        base = shown(error(independent(table, asked), true, table.n_tuples, 0))
        groups = 0 if releases[2] is None else max(releases[2].tables["st"]["Group-ID"].to_pylist())
        row(d, *errors_of(table, asked, 0, releases), base, f"{groups:,}")


# --- TRANSPARENT, Figures 11 and 12 -----------------------------------------------------------------------------------


TRANSPARENT: dict[str, tuple[Any, Any]] = {
    "mondrian": (gh.Mondrian(), gh.Boxes()),
    "hybrid": (gh.Hybrid(), gh.Boxes()),
    "tailor": (gh.Tailor(), gh.Boxes()),
    "ace": (gh.Ace(), gh.Boxes()),
    "hybrid, anatomized": (gh.Hybrid(), gh.Anatomy()),
    "anatomize": (gh.Anatomize(), gh.Anatomy()),
    "mondrian, anatomized": (gh.Mondrian(), gh.Anatomy()),
}


def transparent(census: Census) -> None:
    quasi = gh.synthetic.TRANSPARENT_QUASI
    table = census.read(quasi)
    by_ell = {}
    heading(f"TRANSPARENT Figure 11, {census.title}: s = 6 %, qd = 5; errors in %", "l", *TRANSPARENT, "independence")
    asked = Workload.transparent(table, qd=5, n=N, seed=1)
    base = shown(error(independent(table, asked), count(table, asked), table.n_tuples, DELTA))
    for ell in (4, 5, 6, 7, 8, 9, 10):
        by_ell[ell] = [published(table, gh.LDiversity(ell=ell), *how) for how in TRANSPARENT.values()]
        row(ell, *errors_of(table, asked, DELTA, by_ell[ell]), base)
    heading(f"TRANSPARENT Figure 12, {census.title}: l = 8, s = 6 %; errors in %", "qd", *TRANSPARENT, "independence")
    for qd in (2, 3, 4, 5):
        asked = Workload.transparent(table, qd=qd, n=N, seed=qd)
        base = shown(error(independent(table, asked), count(table, asked), table.n_tuples, DELTA))
        row(qd, *errors_of(table, asked, DELTA, by_ell[8]), base)


# --- ANGEL, Figures 4 and 5 -------------------------------------------------------------------------------------------


def angel(census: Census) -> None:
    table = census.read(ANGEL, 300_000)
    asked = Workload.angel(table, n=N, numerical=["age", "education"])
    base = shown(error(independent(table, asked), count(table, asked), table.n_tuples, 0))
    heading(
        f"ANGEL Figures 4 and 5, {census.title}: k = 10, volume 5 %; errors in %, KL divergence in nats",
        "principle", "angelization", "generalization", "independence", "KL angelization", "KL generalization",
    )  # fmt: skip
    principles = {f"l = {ell}": gh.LDiversity(ell=ell) for ell in (2, 4, 6, 8, 10)}
    principles |= {f"t = {t}": gh.TCloseness(t=t) for t in ("0.5", "0.4", "0.3", "0.2", "0.1")}
    terms = terms_of(table).to_dict()
    for name, principle in principles.items():
        releases = [published(table, principle, gh.Mondrian(), how) for how in (gh.Angel(k=10), gh.Boxes())]
        kl = [None if r is None else float(kl_divergence(table, reconstructed(r, **terms))) for r in releases]
        row(name, *errors_of(table, asked, 0, releases), base, *("-" if d is None else f"{d:.2f}" for d in kl))


# --- error bars where the model does not hold -------------------------------------------------------------------------


def coverage(census: Census) -> None:
    heading(
        f"95 % intervals, {census.title}: TRANSPARENT's workload, qd = 4, l = 5; counts of at least 20",
        "release", "covered", "95 % of errors are below (standard errors)", "mean error, %",
    )  # fmt: skip
    table = census.read(gh.synthetic.TRANSPARENT_QUASI, 150_000)
    asked = Workload.transparent(table, qd=4, n=N, seed=4)
    true = count(table, asked)
    for name, found in answers_of_kinds(table, asked):
        enough = true >= 20
        off = np.abs(found.values - true)[enough] / np.maximum(found.errors[enough], 1e-12)
        share = found.covers(true)[enough].mean()
        mean = error(found.values, true, table.n_tuples, DELTA)
        row(name, f"{100 * share:.1f} %", f"{np.quantile(off, 0.95):.1f}", shown(mean))


def answers_of_kinds(table: gh.Microdata, asked: Workload) -> Iterator[tuple[str, Answers]]:
    principle = gh.LDiversity(ell=5)
    domain = table.sensitive[0].domain.values.to_pylist()
    kinds: dict[str, tuple[Any, Any, Any]] = {
        "boxes, mondrian": (principle, gh.Mondrian(), gh.Boxes()),
        "boxes, hybrid": (principle, gh.Hybrid(), gh.Boxes()),
        "anatomy, anatomize": (principle, gh.Anatomize(), gh.Anatomy()),
        "anatomy, mondrian": (principle, gh.Mondrian(), gh.Anatomy()),
        "anatomy, hybrid": (principle, gh.Hybrid(), gh.Anatomy()),
        "permutation, hybrid": (principle, gh.Hybrid(), gh.Permutation()),
        "angel, mondrian, k = 5": (principle, gh.Mondrian(), gh.Angel(k=5)),
        "perturbed, p = 0.3, k = 6": (
            gh.DeltaGrowth(k=6, lambda_="0.1"), None, gh.Perturbed(p="0.3", domain=domain)
        ),
    }  # fmt: skip
    for name, how in kinds.items():
        release = published(table, *how)
        if release is not None:
            yield name, answer(release, asked)


if __name__ == "__main__":
    warnings.simplefilter("ignore", gh.errors.DisclosureWarning)
    for data in [synthetic(), *map(real, map(Path, sys.argv[1:]))]:
        anatomy(data)
        transparent(data)
        angel(data)
        coverage(data)
