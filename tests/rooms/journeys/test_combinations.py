"""What is new about a table together with what else is new: editions of sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import glasshouse as gh


def stays(n: int) -> dict[str, list[Any]]:
    """Rows of n people, one or two each."""
    random = np.random.default_rng(1)
    rows: dict[str, list[Any]] = {"id": [], "age": [], "s": []}
    for person in range(n):
        for value in random.choice(list("abcdefghij"), 1 + person % 2, replace=False).tolist():
            rows["id"].append(person)
            rows["age"].append(20 + person % 40)
            rows["s"].append(value)
    return rows


def read(n: int) -> gh.Microdata:
    return gh.read(stays(n), identifier="id", quasi=["age"], sensitive="s", repeated="together")


def test_an_edition_of_sets_is_asked_of_single_values(tmp_path: Path) -> None:
    gh.publish(read(200), principle="3-diversity", recoding="anatomy", out=tmp_path / "first")
    release = gh.publish(read(300), after=tmp_path / "first", out=tmp_path / "second")
    assert gh.verify(tmp_path / "second").holds
    assert release.n_tuples == 300
    second = release.tables["st"].filter(release.tables["st"]["Group-ID"].to_numpy() > 0).to_pydict()
    people, having = {}, {}
    for group, text, n in zip(*second.values(), strict=True):
        people[group] = people.get(group, 0) + n
        for value in "abcdefghij":
            if f'"{value}"' in text:
                having[group, value] = having.get((group, value), 0) + n
    assert all(3 * n <= people[group] for (group, _), n in having.items())
