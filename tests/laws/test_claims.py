# SPDX-License-Identifier: Apache-2.0
"""What methods claim: every claim against an attacker who knows the algorithm states what such claims leave open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.principles.principle import NOT_AGAINST, Adversary, Claim, Requirement
from tests.laws.samples import METHOD_VARIANTS, PRINCIPLES

TABLE = gh.read(
    {"age": [1, 2, 3, 4, 5, 6, 7, 8], "s": list("abcdabcd"), "r": list("uvuvuvuv")},
    quasi=["age"],
    sensitive=["s", "r"],
    ordered={"s": list("abcd"), "r": list("uv")},
)
ONE = gh.read({"age": [1, 2, 3, 4, 5, 6, 7, 8], "s": list("abcdabcd")}, quasi=["age"], sensitive="s")
PREFERENCES = ("priority", "weights", "penalty")
"""Parameters that prefer some quasi-identifiers: chosen by a look at sensitive values they would tell of them."""

ASKED = [
    gh.KAnonymity(k=2),
    gh.LDiversity(ell=2),
    gh.DistinctLDiversity(ell=2),
    gh.EntropyLDiversity(ell=2),
    gh.RecursiveLDiversity(c=2, ell=2),
    gh.DesignatedLDiversity(ell=2, values=("a",)),
    gh.AlphaKAnonymity(alpha="0.5", k=2),
    gh.TCloseness(t="0.3"),
    gh.AllOf(principles=(gh.KAnonymity(k=3), gh.LDiversity(ell=2))),
    {"s": gh.LDiversity(ell=2), "r": gh.DistinctLDiversity(ell=2)},
]


def claims() -> Iterator[tuple[Any, Any, Claim]]:
    """Every claim that a method of the catalogue makes under any of these."""
    for method in METHOD_VARIANTS:
        for principle in ASKED:
            table = TABLE if isinstance(principle, dict) else ONE
            try:
                claim = method.claim(Requirement.of(principle, table))
            except gh.NotSupported:
                continue
            yield method, principle, claim


def test_every_kind_of_principle_is_asked_for() -> None:
    kinds = {type(sample.principle) for sample in PRINCIPLES}
    assert kinds <= {type(principle) for principle in ASKED}


@pytest.mark.parametrize("method", METHOD_VARIANTS, ids=repr)
def test_a_claim_against_the_algorithm_aware_states_what_all_of_them_leave_open(method: Any) -> None:
    found = [claim for own, _, claim in claims() if own is method]
    assert found
    for claim in found:
        aware = claim.adversary is Adversary.ALGORITHM_AWARE
        assert set(NOT_AGAINST) <= set(claim.limits) if aware else not set(NOT_AGAINST) & set(claim.limits)
        assert len(claim.limits) == len(set(claim.limits))
        assert "whoever" not in " ".join((*claim.limits, *claim.assumptions, claim.theorem))


def test_the_limits_are_those_that_the_theorems_name() -> None:
    text = " ".join(NOT_AGAINST)
    assert "knows some people's sensitive values" in text
    assert "has learned" in text


@pytest.mark.parametrize("name", PREFERENCES)
def test_a_preference_is_an_assumption_of_every_claim_that_it_could_break(name: str) -> None:
    chosen = [
        (method, claim)
        for method, _, claim in claims()
        if claim.adversary is Adversary.ALGORITHM_AWARE and name != "penalty" and getattr(method, name, None)
    ]
    own = gh.Tailor(penalty=lambda people: len(people))
    if name == "penalty":
        requirement = Requirement.of(gh.LDiversity(ell=2), ONE)
        chosen = [(own, own.claim(requirement))]
    assert chosen
    for method, claim in chosen:
        assert any(name in text for text in claim.assumptions), method


def test_symmetric_with_priority_says_so_in_its_guarantee() -> None:
    release = gh.publish(
        ONE, principle=gh.LDiversity(ell=2), method=gh.Symmetric(priority=("age",)), recoding=gh.Boxes()
    )
    assert any("'priority'" in text for text in release.guarantee.assumptions)
    assert set(NOT_AGAINST) <= set(release.guarantee.limits)


@pytest.mark.parametrize("method", [gh.Snug(), gh.Mondrian(), gh.Mirror(), gh.EvenSplit()], ids=repr)
def test_groups_by_quasi_identifiers_alone_do_not_say_that_the_algorithm_tells_nothing(method: Any) -> None:
    """Where boxes overlap, an attacker who divides the list again finds out who is in which group."""
    claim = method.claim(Requirement.of(gh.KAnonymity(k=2), ONE))
    assert "who is in which group" in claim.theorem
    assert "tells nothing" not in claim.theorem
