# SPDX-License-Identifier: Apache-2.0
"""Questions as of an edition, beside every way to deal values and to choose who left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import glasshouse as gh
from tests.tiers import tables


def _release(source: Random) -> tuple[gh.Release, list[tuple[int, int]], list[list[str]], dict[int, int]]:
    """A small anatomy with editions: the age and group of everybody, values of groups, and how many of an age left."""
    n_groups = source.choice([1, 2])
    people = [(source.choice([30, 30, 40]), group) for group in range(n_groups) for _ in range(3)]
    values = [["a", *source.sample("bcd", 2)], source.sample("abcd", 3)][:n_groups]
    made = gh.publish(
        gh.read(
            {"id": range(6), "age": [30] * 6, "ill": list("abcabc")}, identifier="id", quasi=["age"], sensitive="ill"
        ),
        principle="3-diversity",
        recoding="anatomy",
        edition=1,
    )
    gone = {age: source.randint(0, sum(own == age for own, _ in people)) for age in {age for age, _ in people}}
    left = [{"edition": 1, "age": age, "left": 2} for age, count in sorted(gone.items()) for _ in range(count)]
    n = len(people)
    release = replace(
        made,
        tables={
            "qit": pa.table(
                {"edition": [1] * n, "age": [age for age, _ in people], "Group-ID": [group + 1 for _, group in people]}
            ),
            "st": pa.table(
                {
                    "Group-ID": [group + 1 for group, own in enumerate(values) for _ in own],
                    "ill": [value for own in values for value in sorted(own)],
                    "Count": [1] * n,
                }
            ),
        },
        editions=(gh.Edition(label=1, n_tuples=n), gh.Edition(label=2, n_tuples=0)),
        left=pa.Table.from_pylist(left) if left else None,
        n_tuples=n,
    )
    return release, people, values, gone


def _counted(people: list[tuple[int, int]], values: list[list[str]], gone: dict[int, int]) -> tuple[Fraction, Fraction]:
    """Mean and variance of how many people of 30 with the value a stayed, over all deals and choices of leavers."""
    found = []
    ways = [list(combinations([i for i, (own, _) in enumerate(people) if own == age], n)) for age, n in gone.items()]
    for deals in product(*(permutations(own) for own in values)):
        dealt = [iter(own) for own in deals]
        held = [next(dealt[group]) for _, group in people]
        for chosen in product(*ways):
            left = {i for some in chosen for i in some}
            found.append(sum(held[i] == "a" and people[i][0] == 30 and i not in left for i in range(len(people))))
    mean = Fraction(sum(found), len(found))
    return mean, Fraction(sum(n * n for n in found), len(found)) - mean * mean


def test_an_answer_as_of_an_edition_is_the_mean_over_all_worlds_and_its_error_is_not_too_small() -> None:
    source, uncertain = Random(1), 0
    for _ in range(tables(400)):
        release, people, values, gone = _release(source)
        mean, variance = _counted(people, values, gone)
        answer = gh.query(release, "SELECT COUNT(*) WHERE ill = 'a' AND age = 30", as_of=2, model="uniform")
        assert answer.value == pytest.approx(float(mean))
        assert answer.error**2 >= float(variance) - 1e-9
        assert answer.error**2 <= 3 * float(variance) + 1e-9  # and not much too large
        uncertain += any(0 < count < sum(own == age for own, _ in people) for age, count in gone.items())
        by_value = gh.query(release, "SELECT ill, COUNT(*) WHERE age = 30 GROUP BY ill", as_of=2, model="uniform")
        rows = dict(zip(by_value.keys, by_value.estimates, strict=True))
        if mean:
            assert rows["a",][0].value == pytest.approx(answer.value)
            assert rows["a",][0].error == pytest.approx(answer.error)
    assert uncertain > 10


def test_sums_and_averages_are_of_those_who_stayed(tmp_path: Path) -> None:
    own = {"id": list(range(30)), "age": [20 + i for i in range(30)], "ill": list("abcde") * 6}
    roles = {"identifier": "id", "quasi": ["age"], "sensitive": "ill"}
    table = gh.read(own, **roles)
    gh.publish(table, principle="3-diversity", recoding="anatomy", out=tmp_path / "1")
    later = gh.read({name: column[10:] for name, column in own.items()}, **roles)
    release = gh.publish(later, after=tmp_path / "1", out=tmp_path / "2")
    answer = gh.query(release, "SELECT COUNT(*), SUM(age), AVG(age)", as_of=2)
    found = [(estimate.value, estimate.error) for estimate in answer.estimates[0]]
    assert found == [(20, 0), (sum(range(30, 50)), 0), (pytest.approx(39.5), 0)]


def test_answers_say_how_many_people_they_are_not_about_and_which_values_that_makes_rarer() -> None:
    columns = {"age": list(range(40)), "s": ["no"] * 30 + ["yes"] * 10}
    table = gh.read(columns, quasi=["age"], sensitive="s")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.6")
    (note,) = (one for one in gh.query(release, "SELECT s, COUNT(*) GROUP BY s").notes if "left out" in one)
    assert note.startswith("the answers are about the 20 published records; 20 more records were left out. 20 of them ")
    assert note.endswith("so this value is more frequent in the table than the answers say")
    whole = gh.publish(table, principle=gh.KAnonymity(k=2))
    assert not any("left out" in one for one in gh.query(whole, "SELECT COUNT(*)").notes)
    dropping = gh.publish(
        gh.read({"x": [1, 2, 3, 4], "s": list("cbaa")}, quasi=["x"], sensitive="s"),
        principle=gh.LDiversity(ell=2),
        method=gh.Greedy(last="drop"),
        recoding=gh.Anatomy(),
    )
    assert "2 more records were left out" in gh.query(dropping, "SELECT COUNT(*)").notes[0]
