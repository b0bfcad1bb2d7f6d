# SPDX-License-Identifier: Apache-2.0
"""Values that groups show nearly always together are not told apart, and answers about them say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasshouse as gh
import glasshouse.journeys.publish as journey
from glasshouse.analyst.answers.separation import badly_separated
from glasshouse.microdata import Groups
from tests.rooms.population.known import QUASI, people, released

SETS = [(0, 1, 2, 3), (0, 1, 4, 5), (2, 3, 4, 5), (0, 1, 6, 7), (2, 3, 6, 7), (4, 5, 6, 7)]
"""Pairs of values that always go together: 0 with 1, 2 with 3, and so on."""
TOGETHER = "the intervals may be too narrow, because 'v0' and 'v1' nearly always occur in the same groups"


def paired(monkeypatch: pytest.MonkeyPatch, *, mixed: float = 0.0) -> gh.Release:
    """Groups of two pairs of values each; with the probability ``mixed`` a group takes any four values."""
    columns, random = people(12_000, strength=0.7), np.random.default_rng(3)
    left = [random.permutation(np.flatnonzero(columns["ill"] == f"v{v}")).tolist() for v in range(8)]
    least = min(map(len, left))
    left = [own[:least] for own in left]
    labels, n_groups = np.full(12_000, -1, np.int32), 0
    while True:
        fitting = [own for own in SETS if all(left[v] for v in own)]
        if not fitting:
            break
        chosen: Any = fitting[int(random.integers(len(fitting)))]
        if random.random() < mixed:
            chosen = np.argsort([-len(own) - random.random() for own in left])[:4]
            if not all(left[v] for v in chosen):
                break
        for v in chosen:
            labels[left[v].pop()] = n_groups
        n_groups += 1
    kept = labels >= 0
    groups = Groups(labels[kept], n_groups)
    monkeypatch.setattr(journey, "_divided", lambda *_: (None, groups))
    table = gh.read({name: own[kept] for name, own in columns.items()}, quasi=list(QUASI), sensitive="ill")
    return gh.publish(
        table,
        principle=gh.LDiversity(ell=4),
        method=gh.Anatomize(),
        recoding=gh.Anatomy(),
        source=gh.Source.seeded(1),
    )


def narrow(release: gh.Release, condition: str, select: str = "COUNT(*)", tail: str = "") -> list[str]:
    found = gh.query(release, f"SELECT {select} WHERE {condition} {tail}")
    assert found.model == "learned"
    return [note for note in found.notes if "nearly always" in note]


def test_an_answer_about_a_value_that_is_always_with_another_one_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    release = paired(monkeypatch)
    assert [note.startswith(TOGETHER) for note in narrow(release, "sex = 'F' AND ill = 'v0'")] == [True]
    assert not narrow(release, "sex = 'F' AND ill IN ('v0', 'v1')")  # what is not told apart is counted together
    several = narrow(release, "sex = 'F' AND ill IN ('v0', 'v2')")
    assert [
        note.startswith("the intervals may be too narrow for 'v0', 'v1', 'v2' and 1 more: ") for note in several
    ] == [True]
    every = narrow(release, "sex = 'F'", "ill, COUNT(*)", "GROUP BY ill")
    assert [note.startswith("the intervals may be too narrow for 'v0', 'v1', 'v2' and 5 more: ") for note in every] == [
        True
    ]
    assert not gh.query(release, "SELECT COUNT(*) WHERE ill = 'v0'").notes  # that is published


def test_badly_separated_pairs_are_found_by_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    always = gh.learn(paired(monkeypatch)).seen
    assert badly_separated(always, 8).tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_groups_that_mix_values_tell_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = paired(monkeypatch, mixed=0.6)
    assert badly_separated(gh.learn(mixed).seen, 8).tolist() == []
    assert not narrow(mixed, "sex = 'F' AND ill = 'v0'")


def test_releases_as_they_are_made_do_not_warn() -> None:
    for method in (gh.Anatomize(), gh.Mirror(slack=2)):
        assert not narrow(released(people(3_000, strength=1.5), method=method), "sex = 'F' AND ill = 'v0'")
