# SPDX-License-Identifier: Apache-2.0
"""Whether a published table has what was asked for, and what it lost, whatever tool made it.

What the groups achieve is counted by `glasshouse.verify` from the cells as they are published. Losses are those of
`glasshouse.losses`, with widths as shares of the ranges in the microdata, a dropped tuple counted as one of which every
cell is as wide as the range; the error is the mean relative error of a thousand counting questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import count
from glasshouse.journeys.evaluate import relative_errors

from .tables import Table

QUESTIONS = 1_000
SHORT = {"k": "k", "distinct_ell": "l", "t": "t"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was found.

    Attributes
    ----------
    broken
        What was asked for and is not there, in words; empty if all is there.
    n_dropped
        People who are not in the published table.
    average_size
        Tuples a group.
    ncp
        Average width of a cell, from 0 to 1 (normalised certainty penalty); None if numbers came out as sets, whose
        widths compare with nobody's.
    error
        Mean relative error of answers; None as before.
    """

    broken: str
    n_dropped: int
    average_size: float
    ncp: float | None
    error: float | None

    @property
    def holds(self) -> bool:
        """Whether the table has what was asked for."""
        return not self.broken


def judge(published: pd.DataFrame, truth: Table, asked: Mapping[str, Any]) -> Verdict | None:
    """Judge a generalized table with one row a person; None if it has no rows.

    Parameters
    ----------
    published
        Cells as the tool wrote them: a value, ``low-high``, ``[low, high]``, ``a,b`` or ``{a, b}``.
    truth
        The table that it was made of.
    asked
        ``k``, ``distinct_ell`` and ``t`` (equal distance), those that were asked for.
    """
    if not len(published):
        return None
    columns = [*truth.quasi, truth.sensitive]
    texts = published[columns].astype(str).reset_index(drop=True)
    found = gh.verify(texts, quasi=truth.quasi, sensitive=truth.sensitive, distance="equal", **asked)
    achieved = {"k": found.k, "distinct_ell": found.distinct_ell, "t": found.t}
    broken = [_broken(check.asked, achieved) for check in found.checks if not check.holds]
    broken += _strangers(texts, truth)
    if any(_has_sets(texts[name]) for name in truth.quasi if name not in truth.categories):
        n_dropped, size = len(truth) - len(texts), float(found.average_size)
        return Verdict(broken=", ".join(broken), n_dropped=n_dropped, average_size=size, ncp=None, error=None)
    release = gh.foreign_release(_readable(texts, truth), quasi=truth.quasi, sensitive=truth.sensitive)
    return _scored(release, truth, ", ".join(broken), float(found.average_size))


def judge_release(release: gh.Release, truth: Table, asked: Mapping[str, Any]) -> Verdict:
    """Judge one of our own releases; one that has no single generalized table is held to what its recipe promises."""
    if "data" in release.tables:
        verdict = judge(release.tables["data"].to_pandas(), truth, asked)
        assert verdict is not None
        return verdict
    broken = [check.asked for check in gh.verify(release).checks if not check.holds]
    return _scored(release, truth, ", ".join(broken), float(gh.losses(release).average_size))


def _broken(check: str, achieved: Mapping[str, Any]) -> str:
    """What the table has instead of what was asked for, such as ``k = 2``."""
    name = check.split()[0]
    return f"{SHORT[name]} = {achieved[name]:.3g}"


def _strangers(texts: pd.DataFrame, truth: Table) -> list[str]:
    """Sensitive values that more people have than there are: such a table is about somebody else."""
    of_nobody = texts[truth.sensitive].value_counts().sub(truth.frame[truth.sensitive].value_counts(), fill_value=0)
    n = int(of_nobody.clip(lower=0).sum())
    return [f"{n} invented"] if n else []


def _readable(texts: pd.DataFrame, truth: Table) -> pd.DataFrame:
    """Sets as `glasshouse` writes them; ranges of numbers it reads as they are."""
    readable = texts.copy()
    for name in truth.categories:
        cells = {cell: _as_set(cell) for cell in readable[name].unique()}
        readable[name] = readable[name].map(cells)
    return readable


def _has_sets(numbers: pd.Series[str]) -> bool:
    """Whether a column of numbers has cells that are lists of them."""
    return any("," in cell and not cell.startswith(("[", "(")) for cell in numbers.unique())


def _as_set(cell: str) -> str:
    if "," not in cell or cell.startswith("{"):
        return cell
    return "{" + ", ".join(sorted(part.strip() for part in cell.split(","))) + "}"


def _scored(release: gh.Release, truth: Table, broken: str, average_size: float) -> Verdict:
    frame = truth.frame
    ranges: dict[str, Any] = {
        name: frame[name].nunique() if name in truth.categories else (int(frame[name].min()), int(frame[name].max()))
        for name in truth.quasi
    }
    n_dropped = len(frame) - release.n_tuples
    lost = gh.losses(release, ranges=ranges)
    table = gh.read(frame, quasi=truth.quasi, sensitive=truth.sensitive)
    asked = gh.Workload.transparent(table, n=QUESTIONS)
    errors = relative_errors(gh.answer(release, asked).values, count(table, asked), len(frame))
    return Verdict(
        broken=broken,
        n_dropped=n_dropped,
        average_size=average_size,
        ncp=(float(lost.ncp) * release.n_tuples + n_dropped) / len(frame),
        error=float(np.mean(errors)),
    )
