# SPDX-License-Identifier: Apache-2.0
"""What a release protects and what it does not, in words with the names of its columns."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.pages.people_without_promise import LeftOut
from glasshouse.pages.protection import not_protected, protected

PEOPLE = {
    "age": list(range(20, 44)),
    "sex": ["F", "M"] * 12,
    "disease": ["flu", "gout", "ulcer", "asthma"] * 6,
    "drug": ["a", "b", "c"] * 8,
}
ONE = gh.read(PEOPLE, quasi=["age", "sex"], sensitive="disease")
TWO = gh.read(PEOPLE, quasi=["age", "sex"], sensitive=["disease", "drug"])


def told(table: gh.Microdata, **choices: object) -> tuple[str, str]:
    release = gh.publish(table, **choices)
    given = (release.recipe, release.guarantee, LeftOut.of(release))
    return protected(*given), not_protected(*given, release.columns)


def test_a_method_that_an_attacker_may_know_says_so_and_what_more_knowledge_gives() -> None:
    kept, left = told(ONE, principle="3-diversity")
    assert "Nobody's disease can be inferred with more than 33.3 % confidence (1 in 3)" in kept
    assert "an attacker who knows how the table was made and everybody's age and sex" in kept
    assert "some people's disease or how disease depends on age and sex" in left


def test_a_method_that_must_stay_secret_says_so() -> None:
    kept, left = told(ONE, principle="2-diversity", method="mondrian", recoding="boxes")
    assert "but not how the table was made" in kept
    assert left == "An attacker who knows how the table was made may infer more."


def test_groups_alone_protect_no_value_and_say_so() -> None:
    kept, _ = told(ONE, principle="4-anonymity")
    assert "at least 3 other people" in kept
    assert "does not protect anybody's disease" in kept


def test_without_sensitive_columns_nothing_is_said_of_their_values() -> None:
    table = gh.read(PEOPLE, quasi=["age", "sex"])
    kept, left = told(table, principle="4-anonymity")
    assert "at least 3 other people" in kept
    assert "sensitive" not in kept + left
    assert left.startswith("An attacker who knows only some of a person's quasi-identifiers can learn more")
    release = gh.publish(table, principle="4-anonymity")
    assert "find out that a person is in the table" in " ".join(release.guarantee.limits)
    assert not any("some people's sensitive values" in limit for limit in release.guarantee.limits)
    assert gh.verify(release).holds


@pytest.mark.parametrize("recoding", ["angel", "boxes", "anatomy"])
def test_a_sensitive_column_of_ranges_is_told_as_one(recoding: str, tmp_path: Path) -> None:
    salaries = {**PEOPLE, "salary": [i % 12 for i in range(24)]}
    read = partial(gh.read, salaries, quasi=["age", "sex"], sensitive="salary")
    table = read(bins={"salary": "intervals:2"})
    _, left = told(table, principle="2-diversity", recoding=recoding)
    assert "The values of salary are ranges, and each counts as a value of its own" in left
    gh.publish(table, principle="2-diversity", recoding=recoding, out=tmp_path / "out")
    loaded = gh.load(tmp_path / "out" / "release")
    (meaning,) = (column.meaning for column in loaded.columns if column.name == "salary")
    assert meaning.startswith("a range that counts as one value")
    assert meaning in (tmp_path / "out" / "release" / "README.md").read_text()
    assert "exact value" not in meaning
    assert gh.verify(loaded).holds
    _, left = told(read(categorical=["salary"]), principle="2-diversity", recoding=recoding)
    assert "ranges" not in left


@pytest.mark.parametrize("recoding", ["angel", "boxes"])
def test_columns_that_are_protected_one_by_one_are_told_from_those_protected_jointly(recoding: str) -> None:
    kept, left = told(TWO, principle="2-diversity", recoding=recoding)
    assert "Nobody's disease or drug can be inferred" in kept
    assert ("reveal together is not limited" in left) is (recoding == "boxes")


def test_columns_with_principles_of_their_own_have_sentences_of_their_own() -> None:
    asked = {"disease": gh.LDiversity(ell=3), "drug": gh.LDiversity(ell=2)}
    kept, _ = told(TWO, principle=asked)
    assert "Nobody's disease can be inferred with more than 33.3 %" in kept
    assert "Nobody's drug can be inferred with more than 50 %" in kept


def test_a_bound_that_was_not_asked_for_is_the_one_that_was_achieved() -> None:
    table = gh.read(PEOPLE, quasi=["age"], sensitive="disease")
    principle = gh.RhoBreach(rho1="0.3", k=4)
    recoding = gh.Perturbed(p="0.2", domain=["flu", "gout", "ulcer", "asthma"])
    release = gh.publish(table, principle=principle, recoding=recoding)
    kept = protected(release.recipe, release.guarantee)
    assert kept[:-1].lower() == release.guarantee.promise.lower()
    assert "retention" not in kept


def test_what_is_not_known_is_told_in_the_words_of_the_guarantee() -> None:
    release = gh.publish(ONE, principle="3-diversity")
    other = replace(release.recipe, principle={"name": "of another tool"})
    assert protected(other, release.guarantee)[:-1].lower() == release.guarantee.promise.lower()


SKEWED = {"age": list(range(20, 44)), "disease": ["flu"] * 15 + ["gout"] * 5 + ["ulcer"] * 4}


def test_people_who_were_left_out_are_told_from_those_who_are_protected() -> None:
    table = gh.read(SKEWED, quasi=["age"], sensitive="disease")
    kept, left = told(table, principle="2-diversity", suppress="0.5")
    assert kept.startswith(
        "For people who are known to be among the 18 in the release, and not among the 6 who were left out: nobody's"
    )
    assert left.startswith(
        "The 6 people who were left out are not protected: only people with the most frequent values"
    )
    assert "knows that somebody was left out may know the disease of that person. An attacker who does not know" in left
    assert "can be more certain about the disease of this person than is guaranteed, also if the person is in" in left


def test_one_person_who_was_left_out_is_told_as_one() -> None:
    one = {name: values[5:] for name, values in SKEWED.items()}
    kept, left = told(gh.read(one, quasi=["age"], sensitive="disease"), principle="2-diversity", suppress="0.5")
    assert kept.startswith(
        "For people who are known to be among the 18 in the release, and not the person who was left out: nobody's"
    )
    assert left.startswith("The person who was left out is not protected: ")


def test_people_whom_a_method_could_not_place_are_not_protected_either() -> None:
    table = gh.read({"x": [1, 2, 3, 4], "s": list("cbaa")}, quasi=["x"], sensitive="s")
    kept, left = told(table, principle="2-diversity", method=gh.Greedy(last="drop"), recoding="boxes")
    assert kept.startswith(
        "For people who are known to be among the 2 in the release, and not among the 2 who were left out: nobody's s "
    )
    assert left.startswith("The 2 people who were left out are not protected: who was left out depended on s, so ")


def test_people_who_were_left_out_at_random_are_not_called_unprotected() -> None:
    table = gh.read({"x": list(range(5)), "s": list("abcda"), "r": list("abcda")}, quasi=["x"], sensitive=["s", "r"])
    release = gh.publish(
        table, principle=gh.LDiversity(ell=2), method=gh.Mirror(leave_out="1/5"), recoding=gh.Anatomy()
    )
    assert release.n_dropped == 1
    found = LeftOut.of(release)
    assert found.n == 0
    assert found.at_random_in_words.startswith("1 of 5 people was left out at random")
    both = LeftOut.of(replace(release, n_dropped=3, n_suppressed=2))
    assert (both.n, both.n_at_random) == (2, 1)
    assert protected(release.recipe, release.guarantee, LeftOut.of(release)).startswith("Nobody's s or r")


def test_an_attacker_who_does_not_know_who_was_left_out_can_be_more_certain_also_about_people_in_the_release() -> None:
    """So the headline is about people who are known to be in it: one who knows everybody's age knows this of nobody."""
    columns = {"age": [20 + i % 4 for i in range(40)], "disease": ["flu"] * 28 + ["gout", "ulcer"] * 6}
    table = gh.read(columns, quasi=["age"], sensitive="disease")
    release = gh.publish(table, principle="2-diversity", suppress="0.5", recoding=gh.Anatomy())
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    published = release.n_tuples
    assert published == 24
    certain = sum(max(found.of(i).values()) > 0.5 for i in range(table.n_tuples))
    assert certain > table.n_tuples - published  # more than were left out, so some of them are in the release
    kept = protected(release.recipe, release.guarantee, LeftOut.of(release))
    assert kept.startswith("For people who are known to be among the 24 in the release")


def test_everybody_of_an_edition_that_could_not_be_published_was_left_out(tmp_path: Path) -> None:
    people = {"name": [f"p{i}" for i in range(24)], **PEOPLE}
    more = {"name": ["a", "b", "c"], "age": [30, 31, 32], "sex": ["F"] * 3, "disease": ["flu"] * 3, "drug": ["a"] * 3}
    roles = {"identifier": "name", "quasi": ["age", "sex"], "sensitive": "disease"}
    gh.publish(gh.read(people, **roles), principle="3-diversity", edition=1, out=tmp_path / "1")
    both = gh.read({name: [*values, *more[name]] for name, values in people.items()}, **roles)
    release = gh.publish(both, after=tmp_path / "1", edition=2, leave_out=True, out=tmp_path / "2")
    left_out = LeftOut.of(release)
    assert (left_out.n, left_out.n_at_random) == (3, 0)
    kept = protected(release.recipe, release.guarantee, left_out)
    assert kept.startswith(
        "For people who are known to be among the 24 in the release, and not among the 3 who were le"
    )
    left = not_protected(release.recipe, release.guarantee, left_out)
    assert left.startswith("The 3 people who were left out are not protected: who was left out depended on disease, so")
