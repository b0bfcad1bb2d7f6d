"""What is new about a table together with what else is new: editions of sets, several columns of sets."""

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
    assert max(shares_of_members(release.tables["st"])) <= 1 / 3


def shares_of_members(table: Any) -> list[float]:
    """Of every group and single value of a table of counts, the share of the group's people who have it."""
    people: dict[int, int] = {}
    having: dict[tuple[int, str], int] = {}
    for group, text, n in zip(*table.to_pydict().values(), strict=True):
        people[group] = people.get(group, 0) + n
        for value in "abcdefghij":
            if f'"{value}"' in text:
                having[group, value] = having.get((group, value), 0) + n
    return [n / people[group] for (group, _), n in having.items()]


def test_several_columns_of_sets_are_promised_jointly_of_single_values() -> None:
    rows = stays(900)
    rows["r"] = rows["s"][7:] + rows["s"][:7]
    table = gh.read(rows, identifier="id", quasi=["age"], sensitive=["s", "r"], repeated="together")
    release = gh.publish(table, principle="2-diversity", recoding="anatomy")
    assert "even by an attacker who also knows" in release.guarantee.promise
    assert gh.verify(release).holds
    shares = [share for name in ("st_1", "st_2") for share in shares_of_members(release.tables[name])]
    assert max(shares) <= 1 / 2
    assert len({*release.tables["st_1"]["Group-ID"].to_pylist()}) > 1
