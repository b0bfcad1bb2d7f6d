"""CORRUPTION as printed: Tables I to III, Example 1, and the attack that its theorems bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, sqrt
from random import Random

import numpy as np
import pytest

from glasshouse.microdata import Groups, examples
from glasshouse.principles.background_sensitive import BackgroundSensitive, DeltaGrowth, RhoBreach
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source
from glasshouse.recoding.perturbed import Perturbed
from tests.twins.perturbed import Attack, beliefs, posterior, posterior_by_force, priors

INCOMES = 50
DISEASES = [
    "Alzheimer",
    "breast cancer",
    "bronchitis",
    "dementia",
    "hypertension",
    "ovarian cancer",
    "pneumonia",
]
PAIRS = Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), 4)

# --- Table III --------------------------------------------------------------------------------------------------------

TABLE_IIIA = [  # p = 0.3: k, rho2, delta
    (2, "0.69", "0.47"),
    (4, "0.53", "0.31"),
    (6, "0.45", "0.24"),
    (8, "0.40", "0.19"),
    (10, "0.37", "0.16"),  # the paper prints 0.36 for 0.3679
]
TABLE_IIIB = [  # k = 6: p, rho2, delta
    ("0.15", "0.34", "0.12"),
    ("0.2", "0.38", "0.16"),
    ("0.25", "0.41", "0.20"),
    ("0.3", "0.45", "0.24"),
    ("0.35", "0.49", "0.28"),
    ("0.4", "0.52", "0.32"),
    ("0.45", "0.56", "0.36"),
]
TABLE_III = [("0.3", *row) for row in TABLE_IIIA] + [(p, 6, rho2, delta) for p, rho2, delta in TABLE_IIIB]


@pytest.mark.parametrize(("p", "k", "rho2", "delta"), TABLE_III)
def test_table_3_comes_out_to_two_digits(p: str, k: int, rho2: str, delta: str) -> None:
    breach = RhoBreach(rho1=0.2, lambda_=0.1, k=k).achieved(p, INCOMES)
    growth = DeltaGrowth(lambda_=0.1, k=k).achieved(p, INCOMES)

    assert abs(breach - Fraction(rho2)) <= Fraction("0.0051")
    assert abs(growth - Fraction(delta)) <= Fraction("0.0051")
    assert rho2 == f"{float(breach):.2f}"
    assert delta == f"{float(growth):.2f}"


def test_the_last_column_of_table_3a_is_cut_not_rounded() -> None:
    breach = RhoBreach(rho1=0.2, lambda_=0.1, k=10)

    assert Fraction("0.3679") == breach.achieved(0.3, INCOMES)
    assert not breach.prevents(Fraction("0.3"), INCOMES, Fraction("0.36"))


@pytest.mark.parametrize("k", [k for k, _, _ in TABLE_IIIA])
@pytest.mark.parametrize("p", [p for p, _, _ in TABLE_IIIB])
def test_table_3_for_all_pairs_of_p_and_k_is_what_the_formulas_give(p: str, k: int) -> None:
    """In floats, as anybody would compute the table; stated bounds are rounded up in the fourth digit."""
    rho1, lambda_, q = 0.2, 0.1, float(p)
    u = (1 - q) / INCOMES
    h = (q * lambda_ + u) / (q * lambda_ + k * u)
    odds = rho1 / (1 - rho1) * (1 + q / u)  # Inequality 23 as an equation, for rho2'
    rho2 = h * odds / (1 + odds) + (1 - h) * rho1
    w = min(lambda_, (sqrt(u * u + q * u) - u) / q)
    delta = h * (q * w - q * w * w) / (q * w + u)

    breach = RhoBreach(rho1=0.2, lambda_=0.1, k=k).achieved(p, INCOMES)
    growth = DeltaGrowth(lambda_=0.1, k=k).achieved(p, INCOMES)

    assert (ceil(rho2 * 10_000 - 1e-9), ceil(delta * 10_000 - 1e-9)) == (breach * 10_000, growth * 10_000)


@pytest.mark.parametrize(("p", "k", "rho2", "delta"), TABLE_III)
def test_table_3_read_backwards_gives_the_retention(p: str, k: int, rho2: str, delta: str) -> None:
    """What p achieves is met by p, and hardly by more."""
    for promise in (RhoBreach(rho1=0.2, lambda_=0.1, k=k), DeltaGrowth(lambda_=0.1, k=k)):
        target = promise.achieving(p, INCOMES)
        assert target is not None

        assert Fraction(p) <= target.largest_retention(INCOMES) < Fraction(p) + Fraction("0.001")


# --- Tables I and II --------------------------------------------------------------------------------------------------


def test_table_1c_tells_calvins_disease_to_an_attacker_who_knows_bobs() -> None:
    """Lemma 2: a generalized table keeps the multiset of a group, so the last person's value is what is left."""
    table, published = examples.corruption_table1(), examples.corruption_table1c()
    diseases = table.sensitive[0].domain.decode(table.sensitive[0].codes).to_pylist()
    group = Counter(row["Disease"] for row in published.to_pylist() if row["Age"] == "[21, 40]")

    left = group - Counter([diseases[0]])

    assert ["pneumonia"] == [diseases[1]] == list(left.elements())


def test_table_2c_has_the_shape_that_is_published() -> None:
    """One row a group, ordered by box; boxes here are the smallest, and the paper's are wider."""
    printed = examples.corruption_table2c()
    recoding = Perturbed(p=0.25, domain=DISEASES)
    published = recoding.recode(examples.corruption_table1(), PAIRS, source=Source.seeded(1))["data"]

    assert printed.column_names == published.column_names
    assert [2, 2, 2, 2] == printed["G"].to_pylist() == published["G"].to_pylist()
    assert ["[25, 30]", "[45, 50]", "[55, 58]", "[65, 80]"] == published["Age"].to_pylist()
    assert printed["Gender"].to_pylist() == published["Gender"].to_pylist()
    assert set(published["Disease"].to_pylist()) <= set(DISEASES)


def test_table_2c_may_be_what_is_published_absurd_tuple_and_all() -> None:
    """Its diseases are breast cancer, hypertension, bronchitis and an ovarian cancer of a man of 61 or more."""
    recoding = Perturbed(p=0.25, domain=DISEASES)
    table = examples.corruption_table1()
    wanted = examples.corruption_table2c()["Disease"].to_pylist()
    seen = [set[str]() for _ in wanted]
    for seed in range(400):
        published = recoding.recode(table, PAIRS, source=Source.seeded(seed))["data"]
        for values, value in zip(seen, published["Disease"].to_pylist(), strict=True):
            values.add(value)

    assert all(value in values for value, values in zip(wanted, seen, strict=True))


def test_table_2_keeps_two_of_eight_at_retention_one_quarter() -> None:
    tables = (examples.corruption_table1(), examples.corruption_table2a())
    before, after = (table.sensitive[0].domain.decode(table.sensitive[0].codes).to_pylist() for table in tables)
    names = examples.corruption_table1().identifier
    assert names is not None

    kept = [name for name, a, b in zip(names.to_pylist(), before, after, strict=True) if a == b]

    assert ["Calvin", "Gloria"] == kept


def test_example_1_ellie_is_safe_for_the_published_value_is_no_respiratory_disease() -> None:
    """Theorem 1: Debbie (pneumonia) and Emily (extraneous) are corrupted, and y is breast cancer."""
    uniform = {disease: Fraction(1, len(DISEASES)) for disease in DISEASES}
    attack = Attack(prior=uniform, corrupted=("pneumonia", None), others=(), size=2)
    after = posterior(attack, "breast cancer", Fraction(1, 4), DISEASES)
    respiratory = ["bronchitis", "pneumonia"]

    assert 1 == sum(after.values())
    assert sum(after[x] for x in respiratory) < sum(uniform[x] for x in respiratory)
    assert uniform["breast cancer"] < after["breast cancer"] < Fraction(1, 2)


# --- the attack -------------------------------------------------------------------------------------------------------


def attacks(domain: list[str], k: int, lambda_: Fraction, steps: int) -> Iterator[Attack]:
    """Every set of corrupted people around groups of k and k + 1, two extraneous people, some beliefs on the others."""
    certain = [{x: Fraction(x == value) for x in domain} for value in domain]
    uniform = {x: Fraction(1, len(domain)) for x in domain}
    for prior in priors(domain, steps, lambda_):
        for size in (k, k + 1):
            for n_corrupted in range(size):
                for corrupted in product(domain, repeat=n_corrupted):
                    if list(corrupted) != sorted(corrupted):
                        continue  # who of them has which value does not matter
                    for n_extraneous in (0, 1):
                        for other in (uniform, certain[0]):
                            n_others = size - 1 - n_corrupted + n_extraneous
                            yield Attack(prior, (*corrupted, None), (other,) * n_others, size)


def worst(promise: BackgroundSensitive, p: Fraction, domain: list[str], steps: int = 5) -> Fraction:
    """The smallest bound that every belief of every attack keeps, upwards and downwards."""
    most = Fraction(0)
    for attack in attacks(domain, promise.k, promise.lambda_, steps):
        for y in domain:
            for before, after in beliefs(attack.prior, posterior(attack, y, p, domain)):
                if isinstance(promise, DeltaGrowth):
                    most = max(most, abs(after - before))
                elif isinstance(promise, RhoBreach):
                    most = max(most, after if before <= promise.rho1 else most)
                    most = max(most, 1 - after if 1 - before <= promise.rho1 else most)
    return most


RANDOM = Random(5)
PROMISES = [
    (promise, Fraction(RANDOM.randrange(1, 20), 20))
    for k in (1, 2, 3)
    for lambda_ in ("2/5", "3/5", "1")
    for promise in (RhoBreach(rho1="2/5", lambda_=lambda_, k=k), DeltaGrowth(lambda_=lambda_, k=k))
]


@pytest.mark.parametrize(("promise", "p"), PROMISES, ids=repr)
def test_no_corruption_predicate_or_belief_breaks_what_is_achieved(promise: BackgroundSensitive, p: Fraction) -> None:
    domain = ["a", "b", "c"]

    assert worst(promise, p, domain) <= promise.achieved(p, len(domain))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("p", ["1/10", "1/2", "9/10"])
def test_the_bound_on_breaches_is_reached(p: str, k: int) -> None:
    """So a bound for groups of one person more would be broken: h_top cannot be smaller."""
    domain, promise = ["a", "b", "c"], RhoBreach(rho1="2/5", lambda_="2/5", k=k)
    reached = worst(promise, Fraction(p), domain)

    assert 0 <= promise.achieved(p, 3) - reached < Fraction(1, 10_000)
    assert reached > RhoBreach(rho1="2/5", lambda_="2/5", k=k + 1).achieved(p, 3)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_bound_on_growth_is_reached_where_lambda_is_small(k: int) -> None:
    domain, promise = ["a", "b", "c"], DeltaGrowth(lambda_="2/5", k=k)
    reached = worst(promise, Fraction(1, 5), domain)

    assert 0 <= promise.achieved("1/5", 3) - reached < Fraction(1, 10_000)
    assert reached > DeltaGrowth(lambda_="2/5", k=k + 1).achieved("1/5", 3)


def test_the_equations_of_the_paper_are_bayes_rule() -> None:
    """Equations 9 to 19 against every world and every coin, extraneous people included."""
    domain, p = ["a", "b", "c"], Fraction(2, 7)
    skew = {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)}
    other = {"a": Fraction(1, 5), "b": Fraction(0), "c": Fraction(4, 5)}
    uniform = {x: Fraction(1, 3) for x in domain}
    for corrupted, others, size in [
        ((), (), 1),
        (("a",), (), 2),
        (("b", None), (), 2),
        ((), (other, uniform), 2),
        (("c", None), (other, uniform), 3),
        (("a", "a"), (other,), 4),
    ]:
        attack = Attack(skew, corrupted, others, size)
        by_force = posterior_by_force(attack, p, domain)

        assert {y: posterior(attack, y, p, domain) for y in domain} == by_force


def test_a_phase_3_that_prefers_a_value_is_seen_to_break_the_bound() -> None:
    """Sampling must be uniform: one that takes the largest perturbed value betrays who has it."""
    domain, p = ["a", "b", "c"], Fraction(1, 2)
    promise = DeltaGrowth(lambda_="2/5", k=3)
    prior = {"a": Fraction(2, 5), "b": Fraction(2, 5), "c": Fraction(1, 5)}
    attack = Attack(prior, ("c", "c"), (), 3)

    def growth(**sampling: object) -> Fraction:
        after = posterior_by_force(attack, p, domain, **sampling)  # type: ignore[arg-type]
        return max(a - b for belief in after.values() for b, a in beliefs(prior, belief))

    assert growth() <= promise.achieved(p, 3)
    assert growth(sampling=lambda group: {group.index(min(group)): Fraction(1)}) > promise.achieved(p, 3)


def test_groups_come_from_quasi_identifiers_alone() -> None:
    """The target's own requirement counts no sensitive column."""
    table = examples.corruption_table1()
    requirement = Requirement.of(RhoBreach(rho1=0.2, rho2=0.5, k=2).grouping(), table)

    assert () == requirement.columns
    Perturbed(p=0.25, domain=DISEASES).check(table, requirement)
