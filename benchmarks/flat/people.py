# SPDX-License-Identifier: Apache-2.0
"""People whose table is published, people like them who are not in it, and people to test and attack as a control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

CONTROL = 5_000
SHARE = 0.3  # of all people, who are the control if all others are published
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "occupation")
CENSUS = (
    "age",
    "sex",
    "education",
    "marital_stat",
    "race",
    "class_of_worker",
    "country_of_birth_self",
    "detailed_occupation_recode",
)


@dataclass(frozen=True, kw_only=True)
class People:
    """One population, divided at random.

    Attributes
    ----------
    published
        The people whom a flat table is made from; errors are measured against their true table.
    control
        People whom no tool sees: classifiers are tested on them, and attacks are compared with attacks on them.
    others
        As many people as were published, none of them in ``published`` or ``control``; None if there are not enough.
    numbers
        Quasi-identifiers that are whole numbers; the others, and the sensitive attribute, are texts.
    domains
        The values of every attribute in the whole population, which every tool may know.
    """

    name: str
    published: pd.DataFrame
    control: pd.DataFrame
    others: pd.DataFrame | None
    quasi: list[str]
    numbers: list[str]
    sensitive: str
    domains: Mapping[str, list[Any]]

    @property
    def columns(self) -> list[str]:
        """All attributes, the sensitive one last."""
        return [*self.quasi, self.sensitive]

    def tidy(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The complete rows of a table that came out of a tool, with the types that ours have.

        A tool may leave cells empty; rows with such a cell are left out, and counts are scaled up for them.
        """
        missing = [name for name in self.columns if name not in frame.columns]
        if missing:
            raise ValueError(f"the flat table has no column {', '.join(missing)}")
        whole = frame[self.columns].dropna().reset_index(drop=True)
        numbers = {name: pd.to_numeric(whole[name]).round().astype("int64") for name in self.numbers}
        texts = {name: whole[name].astype(str).astype(object) for name in self.columns if name not in numbers}
        return pd.DataFrame({name: {**numbers, **texts}[name] for name in self.columns})


def divided(frame: pd.DataFrame, *, name: str, numbers: Sequence[str], rows: int | None, seed: int) -> People:
    """Divide a population: ``rows`` people are published, or all but a control of 30 % if no number is given."""
    n_control = int(SHARE * len(frame)) if rows is None else min(CONTROL, len(frame) // 4)
    n = min(rows or len(frame), len(frame) - n_control)
    order = np.random.default_rng(seed).permutation(len(frame))
    parts = [
        frame.iloc[places].reset_index(drop=True) for places in np.split(order, [n, n + n_control, 2 * n + n_control])
    ]
    columns = list(frame.columns)
    return People(
        name=name,
        published=parts[0],
        control=parts[1],
        others=parts[2] if len(parts[2]) == n else None,
        quasi=columns[:-1],
        numbers=list(numbers),
        sensitive=columns[-1],
        domains={column: sorted(frame[column].unique().tolist()) for column in columns},
    )


def adult(folder: Path, rows: int | None, seed: int) -> People:
    """UCI Adult: the complete tuples, with the quasi-identifiers of MINIMALITY, sensitive occupation."""
    table = pq.read_table(folder / "adult.parquet").drop_null().select(ADULT)
    return divided(plain(table.to_pandas(), ["age"]), name="Adult", numbers=["age"], rows=rows, seed=seed)


def census(folder: Path, rows: int | None, seed: int) -> People:
    """UCI Census-Income: people with an occupation and a known country of birth; the occupation is a text."""
    table = pq.read_table(folder / "census_income_kdd.parquet", columns=[*CENSUS]).drop_null()
    table = table.filter(pc.greater(table["detailed_occupation_recode"], 0))
    return divided(plain(table.to_pandas(), ["age"]), name="census", numbers=["age"], rows=rows, seed=seed)


TABLES = {"adult": adult, "census": census}


def plain(frame: pd.DataFrame, numbers: Sequence[str]) -> pd.DataFrame:
    """Whole numbers and texts; a code that is a name becomes a text that no tool takes for a number."""
    texts = {}
    for name in frame.columns:
        if name in numbers:
            texts[name] = frame[name].astype("int64")
        elif pd.api.types.is_numeric_dtype(frame[name]):
            texts[name] = ("c" + frame[name].astype(str)).astype(object)
        else:
            texts[name] = frame[name].astype(str).str.strip().astype(object)
    return pd.DataFrame(texts)
