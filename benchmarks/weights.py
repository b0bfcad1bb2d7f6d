"""Weighted answers, and answers about two sensitive columns, against the truth: docs/benchmarks.md, Survey weights.

Some people of a table, by Mirror and anatomy under 4-diversity. Questions ask for ranges and sets of one or two
quasi-identifiers and, in one half, for a set of sensitive values. The truth adds up the exact weights of those who
satisfy a question. Shown are the share of 95 % intervals that cover the truth, that of a variant without the hidden
part of weights, the mean width of an interval, and the mean error, both in percent of the truth. For two columns the
questions want a value of each, under 2-diversity, and the truth is the weight of the people who have both.

Weights are those of the table where it has some; else they are made up: a factor for every value of the first
quasi-identifier, another for the second, and a lognormal one for every person.

    python benchmarks/weights.py ../shared/data/adult.parquet ../shared/data/census_income_kdd.parquet \\
        ../shared/data/fars.parquet ../shared/data/stops.parquet
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import measure
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.answers.survey_weight import Weighting
from glasshouse.microdata.cautions import CAUTIONS

PEOPLE, QUESTIONS, ELL, ENOUGH = 12_000, 120, 4, 20


class Shape(NamedTuple):
    """Which columns of a table are asked about; ``numbers`` among them by ranges."""

    quasi: list[str]
    sensitive: list[str]
    weight: str | None = None
    numbers: tuple[str, ...] = ("age",)


SHAPES = {
    "adult": Shape(["age", "education", "race", "sex"], ["occupation", "relationship"], "fnlwgt"),
    "census_income_kdd": Shape(
        ["age", "education", "race", "sex"], ["major_occupation_code", "major_industry_code"], "instance_weight"
    ),
    "fars": Shape(["AGE", "RACE", "SEX"], ["CASE_STATE", "RESTRAINT_SYSTEM-USE"], None, ("AGE",)),
    "stops": Shape(["age", "race", "sex"], ["zone", "hour"], None),
}


class People(NamedTuple):
    """A table, and the weights of its people."""

    table: pa.Table
    weights: np.ndarray[Any, Any]
    shape: Shape


def people_of(path: str, seed: int = 7) -> People:
    """Read some people of a table, at random, with all columns that are asked about."""
    name, random = Path(path).stem, np.random.default_rng(seed)
    shape = SHAPES[name]
    table = pq.read_table(path)
    if name == "census_income_kdd":
        table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    if name == "stops":
        hours = pa.array([str(text)[:2] for text in table["time"].to_pylist()])
        table = table.append_column("hour", hours)
    wanted = [*shape.quasi, *shape.sensitive, *([shape.weight] if shape.weight else [])]
    table = table.select(wanted).drop_null()
    table = table.take(np.sort(random.choice(table.num_rows, min(PEOPLE, table.num_rows), replace=False)))
    if shape.weight is not None:
        weights = np.asarray(table[shape.weight].cast(pa.float64()))
        kept = weights > 0
        return People(table.filter(kept).drop_columns([shape.weight]), weights[kept], shape)
    weights = 50 * random.lognormal(0, 0.25, table.num_rows)
    for column in shape.quasi[:2]:
        _, place = np.unique(np.asarray(table[column].cast(pa.string())), return_inverse=True)
        weights = weights * random.lognormal(0, 0.35, place.max() + 1)[place]
    return People(table, np.round(weights, 2), shape)


def texts(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    return np.asarray(table[name].cast(pa.string()))


def questions(people: People, *, dealt: bool, seed: int) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Conditions in SQL, and who satisfies them."""
    random = np.random.default_rng(seed)
    table, shape = people.table, people.shape
    while True:
        parts, inside = [], np.ones(table.num_rows, bool)
        for name in random.choice(shape.quasi, int(random.integers(1, 3)), replace=False):
            if name in shape.numbers:
                values = np.asarray(table[name].cast(pa.float64()))
                low, high = np.sort(random.choice(values, 2, replace=False))
                parts.append(f'"{name}" BETWEEN {low:g} AND {high:g}')
                inside &= (values >= low) & (values <= high)
            else:
                parts.append(chosen(table, name, random, inside))
        if dealt:
            parts.append(chosen(table, shape.sensitive[0], random, inside))
        if inside.sum() >= ENOUGH:
            yield " AND ".join(parts), inside


def chosen(table: pa.Table, name: str, random: np.random.Generator, inside: np.ndarray[Any, Any]) -> str:
    """A set of values, which are chosen as often as they occur; ``inside`` keeps those who have one of them."""
    values = texts(table, name)
    some = np.unique(random.choice(values, int(random.integers(1, 5))))
    inside &= np.isin(values, some)
    listed = ", ".join("'" + str(value).replace("'", "''") + "'" for value in some)
    return f'"{name}" IN ({listed})'


def published(people: People, sensitive: list[str]) -> gh.Release:
    columns = {name: texts(people.table, name) for name in sensitive}
    columns |= {
        name: np.asarray(people.table[name]) if name in people.shape.numbers else texts(people.table, name)
        for name in people.shape.quasi
    }
    table = gh.read(
        pa.table(columns | {"w": people.weights}),
        quasi=people.shape.quasi,
        sensitive=sensitive,
        weight="w",
        accept=CAUTIONS,
    )
    principle = gh.LDiversity(ell=ELL if len(sensitive) == 1 else 2)
    return gh.publish(table, principle=principle, recoding=gh.Anatomy(), source=gh.Source.seeded(1))


def asked(release: gh.Release, sql: str, model: str, *, weighted: bool = True) -> gh.Answer:
    return gh.query(release, f"SELECT COUNT(*) WHERE {sql}", model=model, weighted=weighted)


def main(path: str) -> None:
    people = people_of(path)
    release = published(people, people.shape.sensitive[:1])
    kind = "its own weights" if people.shape.weight else "made-up weights"
    print(f"\n{Path(path).stem}: {people.table.num_rows:,} people, {kind}, Mirror and anatomy, l = {ELL}\n")
    measure.row("", "covered, %", "variant", "width, %", "error, %")
    for dealt in (False, True):
        for model in ("learned", "uniform"):
            found = []
            for number, (sql, inside) in enumerate(questions(people, dealt=dealt, seed=5)):
                if number == QUESTIONS:
                    break
                truth = float(people.weights[inside].sum())
                answer = asked(release, sql, model)
                with mock.patch.object(Weighting, "added", lambda self, found, own, apart: found):
                    plain = asked(release, sql, model)
                rounding = 1e-5 * truth
                low, high = answer.interval
                found.append(
                    (
                        low - rounding <= truth <= high + rounding,
                        plain.interval[0] - rounding <= truth <= plain.interval[1] + rounding,
                        (high - low) / truth,
                        abs(answer.value - truth) / truth,
                    )
                )
            mean = 100 * np.mean(np.array(found, float), axis=0)
            what = f"{'with' if dealt else 'without'} sensitive values, {model}"
            measure.row(what, *(f"{number:.1f}" for number in mean))
    two_columns(people)


def two_columns(people: People) -> None:
    """Questions that want a value of each of two sensitive columns."""
    try:
        release = published(people, people.shape.sensitive)
    except gh.errors.Infeasible as error:
        print(f"two columns: {error}")
        return
    first, second = (texts(people.table, name) for name in people.shape.sensitive)
    print(f"\n{' and '.join(people.shape.sensitive)} apart, l = 2\n")
    measure.row("", "covered", "width, %", "error, %")
    for model in ("learned", "uniform"):
        random, found = np.random.default_rng(9), []
        while len(found) < QUESTIONS // 2:
            row = int(random.integers(len(first)))
            both = (first == first[row]) & (second == second[row])
            if both.sum() < ENOUGH:
                continue
            values = [str(column[row]).replace("'", "''") for column in (first, second)]
            sql = " AND ".join(f"\"{n}\" = '{v}'" for n, v in zip(people.shape.sensitive, values, strict=True))
            truth = float(people.weights[both].sum())
            answer = asked(release, sql, model)
            low, high = answer.interval
            found.append((low <= truth <= high, (high - low) / truth, abs(answer.value - truth) / truth))
        covered, width, error = 100 * np.mean(np.array(found, float), axis=0)
        measure.row(model, f"{covered:.1f}", f"{width:.0f}", f"{error:.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for given in sys.argv[1:]:
        main(given)
