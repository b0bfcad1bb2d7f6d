# SPDX-License-Identifier: Apache-2.0
"""The tables that every tool gets, with the trees of values that anjana asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from glasshouse.microdata.synthetic import TRANSPARENT_QUASI, census_table

Levels = list[list[Any]]

STEPS = {"age": (5, 10, 20, 40), "gender": (), "education": (4, 8), "birthplace": (8, 16, 32)}
"""How wide the values of a level are, for numbers; the last level, everything, comes by itself."""
WORK = (("Private",), ("Self-emp-inc", "Self-emp-not-inc"), ("Federal-gov", "Local-gov", "State-gov"))
SCHOOL = (
    ("Preschool", "1st-4th", "5th-6th", "7th-8th"),
    ("9th", "10th", "11th", "12th"),
    ("HS-grad",),
    ("Some-college", "Assoc-acdm", "Assoc-voc"),
    ("Bachelors",),
    ("Masters", "Prof-school", "Doctorate"),
)
COARSE_SCHOOL = (SCHOOL[0] + SCHOOL[1], SCHOOL[2] + SCHOOL[3], SCHOOL[4] + SCHOOL[5])
MARRIAGE = (
    ("Never-married",),
    ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
    ("Divorced", "Separated", "Widowed"),
)
CLASSES: Mapping[str, Sequence[Sequence[Sequence[str]]]] = {
    "workclass": (WORK,),
    "education": (SCHOOL, COARSE_SCHOOL),
    "marital-status": (MARRIAGE,),
    "race": (),
    "sex": (),
}
"""Level by level the values of Adult that go together; what is not named stays by itself."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, and what is what in it: quasi-identifiers that are not ``categories`` are whole numbers."""

    name: str
    frame: pd.DataFrame
    quasi: list[str]
    categories: list[str]
    sensitive: str
    trees: dict[str, Levels]

    def __len__(self) -> int:
        return len(self.frame)


def census(n: int) -> Table:
    """The synthetic census; the occupation is a text, so that no tool takes it for a number."""
    frame = census_table(n, seed=1, columns=[*TRANSPARENT_QUASI, "occupation"]).to_pandas().astype("int64")
    frame["occupation"] = "o" + frame["occupation"].astype(str)
    trees = {name: numbers(frame[name], STEPS[name]) for name in TRANSPARENT_QUASI}
    quasi = list(TRANSPARENT_QUASI)
    return Table(name="census", frame=frame, quasi=quasi, categories=[], sensitive="occupation", trees=trees)


def adult(file: Path) -> Table:
    """UCI Adult: the complete tuples, with the quasi-identifiers of MINIMALITY."""
    columns = ["age", *CLASSES, "occupation"]
    plain = pq.read_table(file).drop_null().select(columns).to_pandas()
    frame = plain.astype({name: "int64" if name == "age" else str for name in columns}).reset_index(drop=True)
    trees = {"age": numbers(frame["age"], STEPS["age"])}
    trees |= {name: classes(frame[name], levels) for name, levels in CLASSES.items()}
    categories = list(CLASSES)
    return Table(
        name="Adult", frame=frame, quasi=columns[:-1], categories=categories, sensitive="occupation", trees=trees
    )


def numbers(column: pd.Series[int], widths: Sequence[int]) -> Levels:
    """Every number, then ranges of each width, then the whole range; written ``low-high``, both ends included."""
    values = sorted(column.unique().tolist())
    low, high = values[0], values[-1]
    levels: Levels = [values]
    for width in widths:
        starts = [value // width * width for value in values]
        levels.append([f"{max(low, start)}-{min(high, start + width - 1)}" for start in starts])
    return [*levels, [f"{low}-{high}"] * len(values)]


def classes(column: pd.Series[str], levels: Sequence[Sequence[Sequence[str]]]) -> Levels:
    """Every value, then the values that go with it, then all; written with commas."""
    values = sorted(column.unique().tolist())
    found: Levels = [values]
    for groups in levels:
        of = {value: group for group in groups for value in group}
        found.append([",".join(v for v in values if v in of.get(value, (value,))) for value in values])
    return [*found, [",".join(values)] * len(values)]
