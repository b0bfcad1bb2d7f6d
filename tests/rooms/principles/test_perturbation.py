"""rho1-to-rho2 and delta-growth: CORRUPTION Theorems 2 and 3 in exact fractions, and what is asked of them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.microdata import examples
from glasshouse.microdata.counts import Counts
from glasshouse.principles.background_sensitive import (
    RESOLUTION,
    BackgroundSensitive,
    DeltaGrowth,
    RhoBreach,
    growth_if_owned,
    h_top,
    prevents_breach,
    prevents_growth,
    transition,
)
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.principle import Requirement

STEP = Fraction(1, RESOLUTION)

inner = st.fractions(min_value="0.001", max_value="0.999", max_denominator=5000)
retentions = st.fractions(min_value=0, max_value=1, max_denominator=5000)
sizes = st.integers(1, 30)
domains = st.integers(2, 200)


def skews(n_values: int) -> st.SearchStrategy[Fraction]:
    return st.fractions(min_value=Fraction(1, n_values), max_value=1, max_denominator=1000)


@st.composite
def settings_of_pg(draw: st.DrawFn) -> tuple[int, dict[str, Any]]:
    n_values = draw(domains)
    return n_values, {"lambda_": draw(skews(n_values)), "k": draw(sizes)}


@st.composite
def targets(draw: st.DrawFn, *, bounded: bool = False) -> tuple[BackgroundSensitive, int]:
    n_values, setting = draw(settings_of_pg())
    first, second = sorted([draw(inner), draw(inner)])
    assume(first < second)
    if draw(st.booleans()):
        return RhoBreach(rho1=first, rho2=second if bounded else None, **setting), n_values
    return DeltaGrowth(delta=first if bounded else None, **setting), n_values


@given(p=retentions, n_values=domains)
def test_a_value_becomes_some_value(p: Fraction, n_values: int) -> None:
    assert 1 == transition(p, n_values, same=True) + (n_values - 1) * transition(p, n_values, same=False)


@given(setting=settings_of_pg(), p=retentions, rho1=inner, rho2=inner)
def test_theorem_2_bounds_the_belief_that_its_proof_computes(
    setting: tuple[int, dict[str, Any]], p: Fraction, rho1: Fraction, rho2: Fraction
) -> None:
    """Of all beliefs of rho1, the worst is one in the published value alone."""
    n_values, skewed = setting
    assume(rho1 < rho2)
    u, h = (1 - p) / n_values, h_top(p, n_values, **skewed)
    worst = h * rho1 * (p + u) / (p * rho1 + u) + (1 - h) * rho1

    assert (worst <= rho2) == prevents_breach(p, n_values, rho1=rho1, rho2=rho2, **skewed)
    if worst < 1:
        assert prevents_breach(p, n_values, rho1=rho1, rho2=worst, **skewed)


@given(setting=settings_of_pg(), p=retentions, delta=inner)
def test_theorem_3_agrees_with_its_square_root_to_sixty_digits(
    setting: tuple[int, dict[str, Any]], p: Fraction, delta: Fraction
) -> None:
    n_values, skewed = setting
    assume(0 < p < 1)
    with localcontext() as context:
        context.prec = 60

        def decimal(number: Fraction) -> Decimal:
            return Decimal(number.numerator) / Decimal(number.denominator)

        u, q, h = decimal((1 - p) / n_values), decimal(p), decimal(h_top(p, n_values, **skewed))
        w = min(((u * u + q * u).sqrt() - u) / q, decimal(skewed["lambda_"]))
        most = h * (-q * w * w + q * w) / (q * w + u)
        assume(abs(most - decimal(delta)) > Decimal(10) ** -50)

        assert (decimal(delta) >= most) == prevents_growth(p, n_values, delta=delta, **skewed)


@given(n_values=domains, m=st.integers(2, 40), k=sizes)
def test_theorem_3_is_exact_where_the_root_is_a_fraction(n_values: int, m: int, k: int) -> None:
    """For 1 + p/u = m^2 the largest growth is (m - 1) / (m + 1) of h."""
    p = Fraction(m * m - 1, n_values + m * m - 1)
    exact = h_top(p, n_values, lambda_=Fraction(1), k=k) * Fraction(m - 1, m + 1)
    hair = Fraction(1, 10**40)

    assert prevents_growth(p, n_values, lambda_=Fraction(1), k=k, delta=exact)
    assert not prevents_growth(p, n_values, lambda_=Fraction(1), k=k, delta=exact - hair)


@given(setting=settings_of_pg(), p=retentions, w=retentions)
def test_no_belief_in_the_published_value_grows_by_more_than_theorem_3_says(
    setting: tuple[int, dict[str, Any]], p: Fraction, w: Fraction
) -> None:
    n_values, skewed = setting
    assume(0 < w <= skewed["lambda_"])
    growth = h_top(p, n_values, **skewed) * growth_if_owned(w, p, n_values)

    assert not prevents_growth(p, n_values, delta=growth - Fraction(1, 10**12), **skewed)


@given(target=targets(), p=retentions, q=retentions)
def test_retaining_more_promises_no_more(target: tuple[BackgroundSensitive, int], p: Fraction, q: Fraction) -> None:
    promise, n_values = target
    low, high = sorted([p, q])

    assert promise.achieved(low, n_values) <= promise.achieved(high, n_values)


@given(target=targets(bounded=True))
def test_the_largest_retention_meets_the_target_and_the_next_one_does_not(
    target: tuple[BackgroundSensitive, int],
) -> None:
    promise, n_values = target
    p = promise.largest_retention(n_values)
    assert promise.bound is not None

    assert promise.prevents(p, n_values, promise.bound)
    assert not promise.prevents(p + STEP, n_values, promise.bound)
    assert (p * RESOLUTION).denominator == 1


@given(target=targets(), p=retentions)
def test_what_a_retention_achieves_holds_and_the_next_smaller_bound_does_not(
    target: tuple[BackgroundSensitive, int], p: Fraction
) -> None:
    promise, n_values = target
    bound = promise.achieved(p, n_values)

    assert promise.floor < bound <= 1
    assert bound == 1 or promise.prevents(p, n_values, bound)
    assert bound - STEP <= promise.floor or not promise.prevents(p, n_values, bound - STEP)
    assert (bound * RESOLUTION).denominator == 1


@given(target=targets(bounded=True))
def test_the_largest_retention_achieves_what_was_asked(target: tuple[BackgroundSensitive, int]) -> None:
    promise, n_values = target
    p = promise.largest_retention(n_values)
    assert promise.bound is not None

    assert promise.achieved(p, n_values) < promise.bound + STEP


@pytest.mark.parametrize("promise", [RhoBreach(rho1=0.2, k=2), DeltaGrowth(k=2)], ids=repr)
def test_who_retains_everything_promises_nothing_and_who_retains_nothing_promises_everything(
    promise: BackgroundSensitive,
) -> None:
    assert promise.achieving(1, 50) is None
    assert promise.achieved(0, 50) == promise.floor + STEP
    assert promise.achieving(0, 50) == promise.bounded(promise.floor + STEP)


def test_larger_groups_and_evener_beliefs_let_more_be_retained() -> None:
    def most(**given: Any) -> Fraction:
        return RhoBreach(**{"rho1": 0.2, "rho2": 0.5, "lambda_": 0.3, "k": 4, **given}).largest_retention(50)

    assert most() < most(k=5)
    assert most() < most(lambda_=0.2)
    assert most() < most(rho2=0.6)


@pytest.mark.parametrize(
    ("s", "k"), [(1, 1), ("1/2", 2), (0.5, 2), ("0.3", 4), (0.1, 10), ("0.09999999999999999", 11), ("1/7", 7)]
)
def test_the_cardinality_gives_k(s: Any, k: int) -> None:
    assert RhoBreach(rho1=0.2, k=k) == RhoBreach(rho1=0.2, s=s)
    assert DeltaGrowth(k=k) == DeltaGrowth(s=s)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RhoBreach(rho1=0, k=2), "RhoBreach: rho1 must be a number above 0 and below 1, got 0"),
        (lambda: RhoBreach(rho1=1, k=2), "RhoBreach: rho1 must be a number above 0 and below 1, got 1"),
        (lambda: RhoBreach(rho1="a", k=2), "RhoBreach: rho1 must be a number above 0 and below 1, got 'a'"),
        (lambda: RhoBreach(rho1=0.2, rho2=0.2, k=2), "RhoBreach: rho2 must be above rho1, which is 0.2, got 0.2"),
        (lambda: RhoBreach(rho1=0.2, rho2=1, k=2), "RhoBreach: rho2 must be a number above 0 and below 1, got 1"),
        (lambda: RhoBreach(rho1=0.2), "RhoBreach: k must be an integer >= 1, got None"),
        (lambda: RhoBreach(rho1=0.2, k=True), "RhoBreach: k must be an integer >= 1, got True"),
        (lambda: RhoBreach(rho1=0.2, k=2, s=0.5), "RhoBreach: s must be left out where k is given, got 0.5"),
        (lambda: RhoBreach(rho1=0.2, s=2), "RhoBreach: s must be a number above 0 and at most 1, got 2"),
        (lambda: RhoBreach(rho1=0.2, s=0), "RhoBreach: s must be a number above 0 and at most 1, got 0"),
        (
            lambda: RhoBreach(rho1=0.2, k=2, lambda_=0),
            "RhoBreach: lambda_ must be a number above 0 and at most 1, got 0",
        ),
        (
            lambda: RhoBreach(rho1=0.2, k=2, lambda_=1.5),
            "RhoBreach: lambda_ must be a number above 0 and at most 1, got 1.5",
        ),
        (lambda: DeltaGrowth(delta=0, k=2), "DeltaGrowth: delta must be a number above 0 and below 1, got 0"),
        (lambda: DeltaGrowth(delta=1, k=2), "DeltaGrowth: delta must be a number above 0 and below 1, got 1"),
        (lambda: DeltaGrowth(k=0), "DeltaGrowth: k must be an integer >= 1, got 0"),
        (lambda: DeltaGrowth(k=2).achieved(1.1, 5), "DeltaGrowth: p must be a number from 0 to 1, got 1.1"),
        (lambda: DeltaGrowth(k=2).achieved(0.5, 0), "DeltaGrowth: n_values must be an integer >= 1, got 0"),
        (
            lambda: DeltaGrowth(k=2, lambda_=0.1).achieved(0.5, 9),
            "DeltaGrowth: lambda_ must be at least 1/9, because one of 9 values always has at least that probability, "
            "got '0.1'",
        ),
    ],
)
def test_numbers_out_of_their_range_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()

    assert message == str(caught.value)


def test_a_retention_cannot_be_found_for_no_bound() -> None:
    with pytest.raises(InputError, match="or give a retention"):
        DeltaGrowth(k=2).largest_retention(50)


@pytest.mark.parametrize(
    "promise",
    [
        RhoBreach(rho1=0.2, rho2="1/2", lambda_=0.1, k=6),
        RhoBreach(rho1="1/3", s=0.25),
        DeltaGrowth(delta=Decimal("0.24"), k=3),
        DeltaGrowth(k=1),
    ],
    ids=repr,
)
def test_they_are_values_that_print_as_code_and_become_data_and_back(promise: BackgroundSensitive) -> None:
    made = eval(repr(promise), {"RhoBreach": RhoBreach, "DeltaGrowth": DeltaGrowth})

    assert promise == made == pickle.loads(pickle.dumps(promise))
    assert promise == type(promise).from_data(json.loads(json.dumps(promise.to_data())))
    assert hash(promise) == hash(made)


def test_a_float_means_the_number_that_it_prints() -> None:
    assert RhoBreach(rho1="1/5", rho2="2/5", lambda_="1/10", k=2) == RhoBreach(rho1=0.2, rho2=0.4, lambda_=0.1, k=2)


@pytest.mark.parametrize("promise", [RhoBreach(rho1=0.2, rho2=0.5, k=2), DeltaGrowth(delta=0.2, k=2)], ids=repr)
def test_no_group_is_judged_by_them(promise: BackgroundSensitive) -> None:
    counts = Counts.of([[0, 1]], n_values=2)

    for judge in (
        lambda: promise.holds(counts),
        lambda: promise.bind(counts),
        lambda: promise.eligible(counts),
        lambda: promise.check_eligible(counts),
        lambda: promise.feasible(counts),
        lambda: Requirement.of(promise, examples.corruption_table1()),
    ):
        with pytest.raises(NotSupported, match="publish with the recoding 'perturbed'"):
            judge()


def test_groups_must_be_k_anonymous() -> None:
    assert KAnonymity(k=6) == DeltaGrowth(k=6).grouping()
    assert KAnonymity(k=2) == DeltaGrowth(s=1).grouping()


def test_they_say_what_holds_upwards_and_downwards() -> None:
    breach = RhoBreach(rho1=0.2, rho2=0.45, k=6)
    growth = DeltaGrowth(delta=0.24, lambda_=0.1, k=6)

    assert "0.2-to-0.45 guarantee" == breach.title
    assert "at most 0.2 before the release has at most 0.45" in breach.describe("income")
    assert "at least 0.8 still has at least 0.55" in breach.describe("income")
    assert "by at most 0.24, up or down" in growth.describe("income")
    assert "no single value a probability above 0.1" in growth.describe()
    assert "one that was below 0.8 may fall to anything" in breach.outside()[0]
