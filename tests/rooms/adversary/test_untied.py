# SPDX-License-Identifier: Apache-2.0
"""A release whose tables do not tie quasi-identifiers to the sensitive column is refused in plain words."""

from __future__ import annotations

from typing import Any

import pytest

import glasshouse as gh

PATIENTS = gh.synthetic.hospital(300, seed=1)
UNTIED = "no table of the release links quasi-identifiers to disease; the release shows how often each value occurs"


@pytest.fixture(scope="module", params=[[("age", "sex")], [("age",), ("sex", "zipcode")]], ids=str)
def release(request: pytest.FixtureRequest) -> gh.Release:
    recoding = gh.Angel(marginals=request.param)
    return gh.publish(PATIENTS, principle=gh.LDiversity(ell=3), recoding=recoding, source=gh.Source.seeded(1))


@pytest.mark.parametrize(
    "attack",
    [
        gh.Linking(),
        gh.ReverseEngineering(),
        gh.Corruption(most_corrupted=1),
        gh.DeFinetti(),
        gh.Inference(),
        gh.Linkability(),
        gh.SinglingOut(),
    ],
    ids=lambda attack: attack.name,
)
def test_every_attack_says_that_nothing_ties_people_to_values(release: gh.Release, attack: Any) -> None:
    with pytest.raises(gh.NotSupported, match=UNTIED):
        gh.attack(release, attack, knowledge=gh.Knowledge(external=PATIENTS))


def test_analysts_are_told_the_same(release: gh.Release) -> None:
    for asked in (gh.learn, gh.sample, gh.losses):
        with pytest.raises(gh.NotSupported, match=UNTIED):
            asked(release)
    for condition in ("disease = 'asthma'", "age < 40 AND disease = 'asthma'"):
        with pytest.raises(gh.NotSupported, match=UNTIED):
            gh.query(release, f"SELECT COUNT(*) WHERE {condition}")


def test_what_does_not_need_the_tie_is_answered(release: gh.Release) -> None:
    assert gh.query(release, "SELECT COUNT(*) WHERE age < 200").value == pytest.approx(300)


def test_its_report_says_what_was_not_done(release: gh.Release) -> None:
    facts = gh.make_report(release, PATIENTS, report="full").to_dict()
    told = [*facts["beliefs"], *facts["learner"]]
    assert [found["ran"] for found in told] == [False] * 4
    assert all("no table of the release links" in found["why_not"] for found in told)
