# SPDX-License-Identifier: Apache-2.0
"""How useful a flat table is, beside the true one: counts, cross tables, and a classifier.

A flat table has one row a person and plain values. It may have more or fewer rows than there were people: every count
is taken as a share of its rows, times the number of people.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

import glasshouse as gh
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.journeys.evaluate import relative_errors

from .people import People

QUESTIONS = 1_000
FLOOR = 0.001  # of the people: an everyday count below it is divided by it
LEAST = 1e-4  # no value is believed to be less likely than that, so that one surprise does not make all of the log loss


def usefulness(flat: pd.DataFrame, people: People, seed: int) -> dict[str, float]:
    """Every measure of one flat table."""
    true, n = people.published, len(people.published)
    found = {}
    for name, (workload, floor) in workloads(people, seed).items():
        truth, told = counts(true, workload), counts(flat, workload) * (n / len(flat))
        found[name] = float(relative_errors(told, truth, n, floor).mean())
    found["group_by"] = group_by_error(flat, people)
    found["accuracy"], found["log_loss"] = classified(flat, people)
    return found


# --- counting questions -----------------------------------------------------------------------------------------------


def workloads(people: People, seed: int) -> dict[str, tuple[Workload, float]]:
    """The questions, and the share of the people that small counts are taken for when errors are divided."""
    table = gh.read(people.published, quasi=people.quasi, sensitive=people.sensitive)
    return {
        "transparent": (Workload.transparent(table, n=QUESTIONS, seed=seed), 0.005),
        "anatomy": (Workload.anatomy(table, n=QUESTIONS, seed=seed), 0.005),
        "everyday": (everyday(people, seed), FLOOR),
    }


def everyday(people: People, seed: int, n: int = QUESTIONS) -> Workload:
    """Questions as people ask them: one to three conditions, and a sensitive value.

    The conditions are those of a random person: the same category, or a range of numbers around the person's that has
    up to half of the values. The sensitive value is that of another random person, so that frequent ones are asked for
    more often, and not only those that go with the conditions.
    """
    rng = np.random.default_rng(seed)
    domains = {name: sorted(people.published[name].unique().tolist()) for name in people.columns}
    codes = coded(people.published, domains)
    wanted = {name: np.ones((n, len(values)), bool) for name, values in domains.items()}
    for question in range(n):
        person, another = rng.integers(0, len(people.published), 2)
        for name in rng.choice(people.quasi, min(int(rng.integers(1, 4)), len(people.quasi)), replace=False):
            wanted[name][question] = False
            at = slice(codes[name][person], codes[name][person] + 1)
            if name in people.numbers:
                half = int(rng.integers(0, max(1, len(domains[name]) // 4) + 1))
                at = slice(max(0, at.start - half), at.stop + half)
            wanted[name][question, at] = True
        wanted[people.sensitive][question] = False
        wanted[people.sensitive][question, codes[people.sensitive][another]] = True
    return Workload(domains={k: tuple(v) for k, v in domains.items()}, wanted=tuple(wanted.values()), name="everyday")


def coded(frame: pd.DataFrame, domains: Mapping[str, Any]) -> dict[str, NDArray[np.int64]]:
    """The place of every value in its domain; one past the end where it is not there."""
    found = {}
    for name, values in domains.items():
        place = {value: i for i, value in enumerate(values)}
        found[name] = frame[name].map(place).fillna(len(values)).to_numpy().astype(np.int64)
    return found


def counts(frame: pd.DataFrame, workload: Workload) -> NDArray[np.int64]:
    """How many rows each question covers; a value outside the domain is covered only where nothing is asked of it."""
    codes = coded(frame, workload.domains)
    found = np.empty(len(workload), np.int64)
    for question in range(len(workload)):
        covered = np.ones(len(frame), bool)
        for name, wanted in zip(workload.domains, workload.wanted, strict=True):
            if not wanted[question].all():
                covered &= np.append(wanted[question], False)[codes[name]]
        found[question] = covered.sum()
    return found


def group_by_error(flat: pd.DataFrame, people: People) -> float:
    """`GROUP BY` a quasi-identifier and the sensitive attribute: mean absolute error of a cell, as a share of people.

    Cells are all pairs of values that the population has; the mean is over cells, then over quasi-identifiers.
    """
    errors = []
    for name in people.quasi:
        domains = {name: people.domains[name], people.sensitive: people.domains[people.sensitive]}
        errors.append(np.abs(_shares(flat, domains) - _shares(people.published, domains)).mean())
    return float(np.mean(errors))


def _shares(frame: pd.DataFrame, domains: Mapping[str, Any]) -> NDArray[np.float64]:
    sizes = [len(values) for values in domains.values()]
    codes = coded(frame, domains)
    inside = np.logical_and.reduce([codes[name] < size for name, size in zip(domains, sizes, strict=True)])
    flat_codes = np.ravel_multi_index(tuple(codes[name][inside] for name in domains), tuple(sizes))
    found: NDArray[np.float64] = np.bincount(flat_codes, minlength=sizes[0] * sizes[1]) / len(frame)
    return found


# --- a classifier -----------------------------------------------------------------------------------------------------


def classified(flat: pd.DataFrame, people: People) -> tuple[float, float]:
    """Accuracy and log loss, on real people of the control, of a logistic regression that learned from a flat table."""
    values = people.domains[people.sensitive]
    model = _classifier(people)
    target = flat[people.sensitive].to_numpy()
    beliefs = np.zeros((len(people.control), len(values)))
    if len(set(target)) == 1:
        beliefs[:, values.index(target[0])] = 1.0
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)  # bins that are too small to be told apart
            model.fit(flat[people.quasi], target)
        known = [i for i, value in enumerate(model.classes_) if value in values]
        places = [values.index(model.classes_[i]) for i in known]
        beliefs[:, places] = model.predict_proba(people.control[people.quasi])[:, known]
    truth = coded(people.control, {people.sensitive: values})[people.sensitive]
    right = beliefs.argmax(axis=1) == truth
    beliefs = np.maximum(beliefs, LEAST)
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    return float(right.mean()), float(-np.log(beliefs[np.arange(len(truth)), truth]).mean())


def _classifier(people: People) -> Pipeline:
    texts = [name for name in people.quasi if name not in people.numbers]
    bins = KBinsDiscretizer(n_bins=10, encode="onehot", strategy="quantile", quantile_method="averaged_inverted_cdf")
    known = [people.domains[name] for name in texts]
    columns = ColumnTransformer(
        [("texts", OneHotEncoder(categories=known, handle_unknown="ignore"), texts), ("numbers", bins, people.numbers)]
    )
    return make_pipeline(columns, LogisticRegression(C=1.0, max_iter=200))
