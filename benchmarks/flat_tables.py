"""What classifiers and flat tables from a release are worth: docs/analysing.md, Flat tables and A classifier.

Seven tenths of a table are published. Of the others, whom nobody published, a classifier guesses the sensitive value:
how often it is right, and its mean logarithmic loss. It was taught by the release, by a flat table (a logistic
regression, for any tool will do), or by the truth. Of flat tables: counts of every sensitive value at every value of
every quasi-identifier that at least 200 people have, as the mean of ten tables, with the mean error in percent of the
people who have the value of the quasi-identifier, and the share of 95 % intervals by Rubin's rules that hold the truth.

    python benchmarks/flat_tables.py ADULT.parquet        # Adult of UCI, as a Parquet file
    python benchmarks/flat_tables.py                      # as many people of the synthetic hospital
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import t as student
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

import glasshouse as gh
from glasshouse.population.population_classifier import PopulationClassifier

ADULT = ["age", "workclass", "education", "marital-status", "race", "sex"], "occupation"
HOSPITAL = ["age", "sex", "zipcode"], "disease"
TABLES, ENOUGH = 10, 200
WAYS: dict[str, tuple[Any, str]] = {
    "Mirror, ANGEL": (gh.Mirror(start="1.75"), "angel"),
    "Mirror, anatomy": (gh.Mirror(start="1.75"), "anatomy"),
    "Anatomize, anatomy": (gh.Anatomize(), "anatomy"),
    "Mondrian, boxes": (gh.Mondrian(), "boxes"),
}


def other_tool() -> Any:
    """A classifier that knows nothing of releases."""
    numbers = KBinsDiscretizer(10, encode="onehot", quantile_method="averaged_inverted_cdf")
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=500))


def scores(classifier: Any, table: Any, truth: np.ndarray) -> str:
    chances = classifier.predict_proba(table)
    right = np.mean(np.asarray(classifier.classes_)[chances.argmax(axis=1)] == truth)
    return f"{100 * right:.1f} %, {log_loss(truth, chances, labels=classifier.classes_):.3f}"


def counts(table: pa.Table, quasi: list[str], sensitive: str) -> dict[tuple[str, Any, Any], int]:
    found: dict[tuple[str, Any, Any], int] = {}
    for name in quasi:
        for row in table.group_by([name, sensitive]).aggregate([([], "count_all")]).to_pylist():
            found[name, row[name], row[sensitive]] = row["count_all"]
    return found


def flat_counts(tables: list[pa.Table], true: pa.Table, quasi: list[str], sensitive: str) -> str:
    """The error of counts from flat tables, and how many intervals hold the truth."""
    exact = counts(true, quasi, sensitive)
    drawn = [counts(table, quasi, sensitive) for table in tables]
    people = {
        (q, v): n for q in quasi for v, n in zip(*np.unique(true[q].to_pylist(), return_counts=True), strict=True)
    }
    values = sorted(set(true[sensitive].to_pylist()))
    cells = [(q, v, s) for (q, v), n in people.items() if n >= ENOUGH for s in values]
    size = np.array([people[q, v] for q, v, _ in cells])
    truth = np.array([exact.get(cell, 0) for cell in cells])
    estimates = np.array([[own.get(cell, 0) for cell in cells] for own in drawn])
    mean, between = estimates.mean(axis=0), estimates.var(axis=0, ddof=1)
    half = student.ppf(0.975, len(tables) - 1) * np.sqrt((1 + 1 / len(tables)) * between)
    covered = np.abs(mean - truth) <= half + 0.5  # counts are whole
    return f"{100 * np.mean(np.abs(mean - truth) / size):.2f} %, {100 * covered.mean():.0f} %"


def main(file: str | None) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    quasi, sensitive = HOSPITAL if file is None else ADULT
    rows = gh.synthetic.hospital_table(46_033, seed=1) if file is None else pq.read_table(file)
    complete = rows.select([*quasi, sensitive]).drop_null()
    order = gh.Source.seeded(1).permutation(complete.num_rows)
    part = complete.num_rows * 7 // 10
    taken, others = complete.take(order[:part]), complete.take(order[part:])
    table = gh.read(taken, quasi=quasi, sensitive=sensitive)
    unseen, truth = others.select(quasi), np.array(others[sensitive].to_pylist())
    frame = unseen.to_pandas()

    answers = np.array(taken[sensitive].to_pylist())
    shares = np.unique(answers, return_counts=True)[1] / len(answers)
    by_truth = scores(PopulationClassifier().fit(taken.select(quasi), answers), unseen, truth)
    other = scores(other_tool().fit(taken.select(quasi).to_pandas(), answers), frame, truth)
    print(f"{part:,} people published, {len(truth):,} others. Right, and logarithmic loss, of classifiers taught by")
    print(
        f"the truth: {by_truth}; the truth, another tool: {other}; nothing but base rates: {100 * shares.max():.1f} %"
    )
    print("\nEach cell of a classifier: right, loss. Of flat tables: error, intervals that hold the truth.\n")
    names = ("l = 4", "release", "flat table, other tool", "uniform, other tool", "flat tables", "uniform")
    print(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}")
    for title, (method, recoding) in WAYS.items():
        release = gh.publish(
            table, principle=gh.LDiversity(ell=4), method=method, recoding=recoding, source=gh.Source.seeded(1)
        )
        cells = [scores(gh.learn(release).classifier(), unseen, truth)]
        drawn = {
            model: gh.sample(release, source=gh.Source.seeded(1), tables=TABLES, model=model)
            for model in ("learned", "uniform")
        }
        for tables in drawn.values():
            learned = other_tool().fit(tables[0].select(quasi).to_pandas(), tables[0][sensitive].to_pylist())
            cells.append(scores(learned, frame, truth))
        cells += [flat_counts(tables, taken, quasi, sensitive) for tables in drawn.values()]
        print(f"| {' | '.join([title, *cells])} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
