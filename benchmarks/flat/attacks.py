# SPDX-License-Identifier: Apache-2.0
"""Attacks on a flat table, each on people who are in the true table and on people of the control, who are not.

What an attack achieves against the control is what the population teaches about anybody. Only what it achieves beyond
that is the cost of being in the table.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .measures import coded
from .people import People

TARGETS = 4_000
CHUNK = 200


def attacked(flat: pd.DataFrame, people: People, seed: int) -> dict[str, float]:
    """Both attacks on as many members as people of the control."""
    n = min(TARGETS, len(people.control), len(people.published))
    rng = np.random.default_rng(seed)
    members = people.published.iloc[rng.choice(len(people.published), n, replace=False)]
    control = people.control.iloc[rng.choice(len(people.control), n, replace=False)]
    inside, outside = guesses(flat, members, people), guesses(flat, control, people)
    return {
        "guessed_members": float(inside.mean()),
        "guessed_control": float(outside.mean()),
        "membership": separation(nearest(flat, members, people), nearest(flat, control, people)),
        "targets": float(n),
    }


def guesses(flat: pd.DataFrame, targets: pd.DataFrame, people: People) -> NDArray[np.bool_]:
    """Whether the sensitive value is guessed from the rows whose quasi-identifiers are nearest.

    Among equally near rows the most frequent value is guessed, and of equally frequent ones that which is more frequent
    in the whole flat table.
    """
    values = people.domains[people.sensitive]
    points, of = np.unique(_places(flat, people, people.quasi), axis=0, return_inverse=True)
    codes = coded(flat, {people.sensitive: values})[people.sensitive]
    known = codes < len(values)
    tallies = np.zeros((len(points), len(values)))
    np.add.at(tallies, (of.ravel()[known], codes[known]), 1.0)
    rest = tallies.sum(axis=0) / (len(flat) + 1.0)
    truth = coded(targets, {people.sensitive: values})[people.sensitive]
    right = []
    for at, distances in _distances(_places(targets, people, people.quasi), points, people, people.quasi):
        near = distances <= distances.min(axis=1, keepdims=True) + 1e-6
        right.append((near @ tallies + rest).argmax(axis=1) == truth[at])
    return np.concatenate(right)


def nearest(flat: pd.DataFrame, targets: pd.DataFrame, people: People) -> NDArray[np.float64]:
    """The distance from every target, with the sensitive value, to the nearest row."""
    points = np.unique(_places(flat, people, people.columns), axis=0)
    found = [
        distances.min(axis=1)
        for _, distances in _distances(_places(targets, people, people.columns), points, people, people.columns)
    ]
    return np.concatenate(found).astype(np.float64)


def separation(members: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    """The chance that a random member is nearer than a random person of the control, ties by halves: 0.5 tells nothing.

    >>> separation(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.875
    """
    ordered = np.sort(control)
    farther = len(ordered) - np.searchsorted(ordered, members, side="right")
    equal = np.searchsorted(ordered, members, side="right") - np.searchsorted(ordered, members, side="left")
    return float((farther + equal / 2).mean() / len(ordered))


def _places(frame: pd.DataFrame, people: People, names: list[str]) -> NDArray[np.float32]:
    """Numbers as shares of their range, categories by their places."""
    codes = coded(frame, {name: people.domains[name] for name in names if name not in people.numbers})
    found = np.empty((len(frame), len(names)), np.float32)
    for i, name in enumerate(names):
        if name in codes:
            found[:, i] = codes[name]
        else:
            low, high = people.domains[name][0], people.domains[name][-1]
            found[:, i] = (frame[name].to_numpy() - low) / max(high - low, 1)
    return found


def _distances(
    targets: NDArray[np.float32], points: NDArray[np.float32], people: People, names: list[str]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Gower's distance, some targets at a time: numbers as shares of their range, and unequal categories."""
    for start in range(0, len(targets), CHUNK):
        some = targets[start : start + CHUNK]
        found = np.zeros((len(some), len(points)), np.float32)
        for i, name in enumerate(names):
            apart = some[:, i, None], points[None, :, i]
            found += np.abs(apart[0] - apart[1]) if name in people.numbers else apart[0] != apart[1]
        yield slice(start, start + len(some)), found
