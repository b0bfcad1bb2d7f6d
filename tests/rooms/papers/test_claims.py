"""Verdicts: yes where the numbers say so, no where one of them does not, and neither where there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from glasshouse.papers import claims
from glasshouse.papers.claims import Verdict

LOW = {3.0: 1.0, 4.0: 2.0, 5.0: 4.0}
HIGH = {3.0: 10.0, 4.0: 30.0, 5.0: 50.0}
HOLE = {3.0: None, 4.0: None, 5.0: None}

CASES: dict[str, tuple[Callable[[], Verdict], bool | None]] = {
    "below": (lambda: claims.below({"a": LOW}, 4.1), True),
    "not below its own largest": (lambda: claims.below({"a": LOW}, 4.0), False),
    "below is of the worst curve": (lambda: claims.below({"a": LOW, "b": HIGH}, 49), False),
    "above": (lambda: claims.above({"a": HIGH}, 10.0), True),
    "not above": (lambda: claims.above({"a": HIGH}, 10.1), False),
    "less": (lambda: claims.less({"a": (LOW, HIGH)}), True),
    "less by ten times": (lambda: claims.less({"a": (LOW, HIGH)}, times=10), True),
    "not by more": (lambda: claims.less({"a": (LOW, HIGH)}, times=10.5), False),
    "one point is enough to break it": (lambda: claims.less({"a": (LOW, HIGH | {4.0: 1.9})}), False),
    "not less if equal": (lambda: claims.less({"a": (LOW, LOW)}), False),
    "almost the same": (lambda: claims.less({"a": ({1.0: 1.4}, {1.0: 1.0})}, times=1 / 1.5), True),
    "not almost": (lambda: claims.less({"a": ({1.0: 1.6}, {1.0: 1.0})}, times=1 / 1.5), False),
    "rises": (lambda: claims.rises({"a": LOW, "b": HIGH}), True),
    "rises with a small step back": (lambda: claims.rises({"a": {1.0: 1.0, 2.0: 3.0, 3.0: 2.8}}), True),
    "not with a large one": (lambda: claims.rises({"a": {1.0: 1.0, 2.0: 3.0, 3.0: 2.6}}), False),
    "does not rise if it ends where it began": (lambda: claims.rises({"a": {1.0: 1.0, 2.0: 1.0}}), False),
    "falls": (lambda: claims.falls({"a": {1.0: 5.0, 2.0: 2.0}}), True),
    "does not fall": (lambda: claims.falls({"a": LOW}), False),
    "alike": (lambda: claims.alike({"a": LOW}, 4), True),
    "not alike": (lambda: claims.alike({"a": LOW}, 3.9), False),
    "linear": (lambda: claims.scales({"a": {10.0: 1.0, 100.0: 10.0}}, most=1.01, least=0.99), True),
    "more than linear": (lambda: claims.scales({"a": {10.0: 1.0, 100.0: 100.0}}, most=1.5), False),
    "no more than linear": (lambda: claims.scales({"a": {10.0: 1.0, 100.0: 10.0}}, least=1.1), False),
    "nothing below": (lambda: claims.below({"a": HOLE}, 4), None),
    "nothing above": (lambda: claims.above({}, 4), None),
    "nothing less": (lambda: claims.less({"a": (LOW, HOLE)}), None),
    "nothing rises": (lambda: claims.rises({"a": HOLE, "b": {1.0: 2.0}}), None),
    "nothing alike": (lambda: claims.alike({"a": HOLE}, 2), None),
    "nothing scales": (lambda: claims.scales({"a": {1.0: 1.0}}, most=2), None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_verdict_is_what_the_numbers_say(case: str) -> None:
    judge, expected = CASES[case]

    found = judge()

    assert found.holds is expected
    assert found.word == {True: "yes", False: "no", None: "not measured"}[expected]
    assert found.said


def test_the_number_is_that_of_the_worst_point_and_says_where_it_is() -> None:
    found = claims.less({"OCC": (LOW, HIGH | {4.0: 0.5}), "SAL": (LOW, HIGH)})

    assert found.said == "at 5 of 6 points; worst 2 against 0.5 (OCC, 4)"


def test_gaps_are_passed_over() -> None:
    assert claims.below({"a": LOW | {5.0: None}}, 2.5).holds is True
    assert claims.rises({"a": {1.0: 1.0, 2.0: None, 3.0: 2.0}}).holds is True


def test_an_error_of_nothing_against_nothing_is_no_worse() -> None:
    assert claims.less({"a": ({1.0: 0.0}, {1.0: 0.0})}).holds is True
    assert claims.less({"a": ({1.0: 0.1}, {1.0: 0.0})}).holds is False
