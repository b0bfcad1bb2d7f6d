"""Perturbed generalization: what is published, how likely, for whom it is refused, and what it promises."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.errors import DomainError, Infeasible, InputError, NotSupported, ParameterError, SchemaError
from glasshouse.microdata.groups import canonical_order
from glasshouse.principles.background_sensitive import DeltaGrowth, RhoBreach
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.principle import Adversary, Requirement
from glasshouse.randomness import Source
from glasshouse.recoding.perturbed import Perturbed
from tests.twins.enumerating import EnumeratingDraws, distribution
from tests.twins.perturbed import Attack, beliefs, phases, posterior_by_force, priors


def people(ages: list[int], diseases: list[Any], **options: Any) -> gh.Microdata:
    return gh.read({"age": ages, "disease": diseases}, quasi=["age"], sensitive="disease", **options)


def grouped(*labels: int) -> gh.Groups:
    return gh.Groups(np.array(labels, np.int32), max(labels, default=-1) + 1)


def rows(table: pa.Table) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row.values()) for row in table.to_pylist())


def published(table: gh.Microdata, groups: gh.Groups, source: Any = None, **choices: Any) -> pa.Table:
    return Perturbed(**choices).recode(table, groups, source=source)["data"]


def likely(table: gh.Microdata, groups: gh.Groups, **choices: Any) -> dict[Any, Fraction]:
    """The exact probability of every table that may be published."""
    return distribution(lambda draws: rows(published(table, groups, draws, **choices)))


# --- what is published ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ages", "diseases", "labels", "p", "domain"),
    [
        ([1, 2], "ab", [0, 0], "1/2", "ab"),
        ([1, 2], "aa", [0, 0], "1/3", "abc"),
        ([1, 2, 5, 9], "abab", [0, 0, 1, 1], "1/2", "ab"),
        ([1, 2, 5, 9], "aabc", [1, 1, 0, 0], "2/5", "abc"),
        ([1, 2, 3, 5], "aabc", [0, 0, 0, 1], "0", "abcd"),
        ([1, 2, 3, 5], "aabc", [0, 0, 0, 1], "1", "abc"),
    ],
)
def test_a_table_is_as_likely_as_the_three_phases_make_it(
    ages: list[int], diseases: str, labels: list[int], p: str, domain: str
) -> None:
    """Sampling before perturbing gives what perturbing every tuple, generalizing and sampling gives."""
    groups = [[i for i, label in enumerate(labels) if label == g] for g in range(max(labels) + 1)]
    slow = phases([((age,), value) for age, value in zip(ages, diseases, strict=True)], groups, Fraction(p), domain)

    expected = {
        tuple((f"[{a}, {b}]" if a < b else str(a), y, size) for ((a, b),), y, size in sorted(release)): chance
        for release, chance in slow.items()
    }

    assert expected == likely(people(ages, list(diseases)), grouped(*labels), p=p, domain=[*domain])


def test_columns_are_boxes_the_sensitive_value_and_the_size() -> None:
    table = gh.read(
        {"age": [1, 2, 7, 8, 9], "sex": ["m", "f", "f", "f", "f"], "disease": ["x"] * 5},
        quasi=["sex", "age"],
        sensitive="disease",
    )

    assert {
        "sex": ["f", "{f, m}"],
        "age": ["[7, 9]", "[1, 2]"],
        "disease": ["x", "x"],
        "G": [3, 2],
    } == published(table, grouped(0, 0, 1, 1, 1), p=1, domain=[*"xy"]).to_pydict()


def test_a_value_that_is_not_published_is_not_in_any_dictionary() -> None:
    table = people([1, 2, 7, 8], ["a", "a", "b", "b"])
    data = published(table, grouped(0, 0, 1, 1), p=1, domain=[*"zyxba"])

    assert ["b", "a"] == data["disease"].chunk(0).dictionary.to_pylist()
    assert ["[1, 2]", "[7, 8]"] == data["age"].chunk(0).dictionary.to_pylist()


@given(seed=st.integers(0, 50), shuffle=st.randoms(use_true_random=False), p=st.sampled_from(["0", "1/3", "1"]))
def test_with_the_same_draws_neither_row_order_nor_numbering_nor_owners_of_values_matter(
    seed: int, shuffle: Any, p: str
) -> None:
    """TRANSPARENT Definition 1 for a recoding with draws."""
    ages = [1, 2, 3, 10, 11, 20, 21, 22, 23]
    diseases, labels = list("abacbbcac"), [0, 0, 0, 1, 1, 2, 2, 2, 2]
    expected = published(people(ages, diseases), grouped(*labels), Source.seeded(seed), p=p, domain=[*"abcd"])

    dealt = list(range(9))
    for run in (dealt[:3], dealt[3:5], dealt[5:]):
        mixed = shuffle.sample(run, len(run))
        dealt[run[0] : run[0] + len(run)] = mixed
    order, names = shuffle.sample(range(9), 9), shuffle.sample(range(3), 3)
    table = people([ages[i] for i in order], [diseases[dealt[i]] for i in order])
    groups = grouped(*(names[labels[i]] for i in order))
    found = published(table, groups, Source.seeded(seed), p=p, domain=[*"abcd"])

    assert expected.equals(found)
    assert expected.schema == found.schema


def test_what_may_be_published_does_not_depend_on_row_order() -> None:
    ages, diseases, labels = [1, 2, 3, 9, 8], list("aabcb"), [0, 0, 0, 1, 1]
    expected = likely(people(ages, diseases), grouped(*labels), p="1/2", domain=[*"abc"])

    for order in ([4, 3, 2, 1, 0], [2, 4, 0, 1, 3]):
        table = people([ages[i] for i in order], [diseases[i] for i in order])
        assert expected == likely(table, grouped(*(labels[i] for i in order)), p="1/2", domain=[*"abc"])


def test_the_secure_source_serves_where_none_is_given() -> None:
    table = people([1, 2], ["a", "b"])

    assert {"a", "b"} == {published(table, grouped(0, 0), p=1)["disease"][0].as_py() for _ in range(200)}


def test_tuples_that_are_not_published_and_groups_without_tuples_leave_no_row() -> None:
    groups = gh.Groups(np.array([2, 2, -1, 0], np.int32), 3)
    data = published(people([1, 2, 5, 9], list("aabc")), groups, p=1, domain=[*"abc"])

    assert (("[1, 2]", "a", 2), ("9", "c", 1)) == rows(data)
    nothing = published(people([1], ["a"]), gh.Groups(np.array([-1], np.int32), 0), p=1, domain=[*"ab"])
    assert (0, ["age", "disease", "G"]) == (nothing.num_rows, nothing.column_names)


def test_large_groups_are_sampled_uniformly() -> None:
    """Every value in proportion to its tuples: within six standard deviations over 4000 draws."""
    n = 1000
    table = people([i % 7 for i in range(n)], ["a" if i % 4 else "b" for i in range(n)])
    data = Counter(
        published(table, grouped(*[0] * n), Source.seeded(seed), p=1)["disease"][0].as_py() for seed in range(400)
    )

    assert abs(data["b"] - 100) < 6 * (400 * 3 / 16) ** 0.5


# --- the sensitive domain ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "domain", "kind"),
    [
        ([True, False], ["true", False], pa.bool_()),
        ([3, 40], [40, "3", 500, "06"], pa.int64()),
        ([dt.date(2024, 5, 1), dt.date(2024, 6, 1)], ["2024-05-01", dt.date(2024, 6, 1), "2024-07-09"], pa.date32()),
        ([1.5, 2.0], [1.5, "2", "7.25"], pa.float64()),
    ],
    ids=repr,
)
def test_a_declared_domain_is_matched_by_text_and_published_with_the_type_of_the_column(
    values: list[Any], domain: list[Any], kind: pa.DataType
) -> None:
    table = people([1, 2], values, categorical=["disease"])
    sources = [Source.seeded(seed) for seed in range(60)]
    seen = [published(table, grouped(0, 0), source, p=0, domain=domain)["disease"] for source in sources]

    assert {kind} == {column.type for column in seen}
    assert len(domain) == len({column[0].as_py() for column in seen})


def test_missing_is_a_value_that_must_be_declared() -> None:
    table = people([1, 2, 3], ["a", None, "b"], missing="category")
    with pytest.raises(DomainError) as caught:
        published(table, grouped(0, 0, 0), p=0, domain=[*"ab"])
    shown = {row[0][1] for row in likely(table, grouped(0, 0, 0), p=0, domain=["b", None, "a"])}

    assert "in 1 record, outside its declared domain, 1 of these records without a value" in str(caught.value)
    assert "leave out the records without one (missing='drop') or, in Python, declare None" in str(caught.value)
    assert (None,) == caught.value.values
    assert {"a", "b", None} == shown


def test_missing_may_be_declared_where_nothing_is_missing() -> None:
    shown = {row[0][1] for row in likely(people([1, 2], ["a", "b"]), grouped(0, 0), p="1/2", domain=["a", "b", None])}

    assert {"a", "b", None} == shown


def test_values_outside_the_declared_domain_are_counted_and_not_shown() -> None:
    with pytest.raises(DomainError) as caught:
        published(people([1, 2, 3, 4], list("abcc")), grouped(0, 0, 0, 0), p=0, domain=["a", "x"])

    assert "'disease' has 2 values, in 3 records, outside its declared domain" in str(caught.value)
    assert "(domain=, at the command line also as @FILE with one value on each line)" in str(caught.value)
    assert ("b", "c") == caught.value.values


def test_a_value_that_no_tuple_has_need_not_be_declared() -> None:
    table = people([1, 2, 3], list("abc")).take(np.array([0, 1]))

    assert 1 == published(table, grouped(0, 0), p=0, domain=[*"ab"]).num_rows


@pytest.mark.parametrize(
    ("values", "domain", "error"),
    [
        ([1, 2], [1, 2, "three"], DomainError),
        ([1, 2], [1, 2, "02"], DomainError),
        (["a", "b"], [], ParameterError),
        (["a", "b"], ["a"], ParameterError),
        (["a", "b"], ["a", "b", "a"], ParameterError),
    ],
    ids=repr,
)
def test_a_domain_that_cannot_be_meant_is_refused(values: list[Any], domain: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        published(people([1, 2], values, categorical=["disease"]), grouped(0, 0), p=0, domain=domain)


def test_a_declared_value_of_another_type_is_named() -> None:
    words = r"has the value 'three', which is not of the type of the column \(integer\): correct it"
    with pytest.raises(DomainError, match=words):
        published(people([1, 2], [1, 2], categorical=["disease"]), grouped(0, 0), p=0, domain=[1, 2, "three"])


def test_a_text_is_not_a_list_of_letters() -> None:
    with pytest.raises(ParameterError, match="a list of values"):
        Perturbed(domain="flu, ulcer")


# --- what is refused --------------------------------------------------------------------------------------------------


def test_overlapping_boxes_are_refused() -> None:
    table = people([1, 5, 3, 9], list("abab"))
    with pytest.raises(NotSupported, match=r"\(boxes\) overlap, so that a person may belong to two.*strict cuts"):
        published(table, grouped(0, 0, 1, 1), p=0)
    with pytest.raises(NotSupported, match=r"\(boxes\) overlap"):
        published(people([1, 1, 1, 1], list("abab")), grouped(0, 0, 1, 1), p=0)


def test_relaxed_cuts_are_refused_and_strict_cuts_are_not() -> None:
    table = gh.synthetic.hospital(300, quasi=("age", "sex", "zipcode"))
    requirement = Requirement.of(KAnonymity(k=4), table)
    strict = gh.Mondrian().divide(table, requirement)
    relaxed = gh.Mondrian(partitioning="relaxed").divide(table, requirement, source=Source.seeded(1))

    assert strict.n_groups == published(table, strict, p=0.5).num_rows > 20
    with pytest.raises(NotSupported, match="overlap"):
        published(table, relaxed, p=0.5)


def test_one_sensitive_column_is_needed_and_no_column_called_g() -> None:
    columns = {"age": [1, 2], "G": ["a", "b"], "disease": ["a", "b"]}
    with pytest.raises(NotSupported, match="exactly one sensitive column, and the table has 2"):
        published(gh.read(columns, quasi=["age"], sensitive=["G", "disease"]), grouped(0, 0), p=0)
    with pytest.raises(NotSupported, match="exactly one sensitive column, and the table has none"):
        published(gh.read(columns, quasi=["age"]), grouped(0, 0), p=0)
    with pytest.raises(SchemaError, match="adds a column 'G'"):
        published(gh.read(columns, quasi=["age"], sensitive="G"), grouped(0, 0), p=0)


def test_groups_that_looked_at_sensitive_values_are_refused() -> None:
    table = people([1, 2], ["a", "b"])

    Perturbed(p=0).check(table, Requirement.of(KAnonymity(k=2), table))
    with pytest.raises(NotSupported, match="looks at sensitive values"):
        Perturbed(p=0).check(table, Requirement.of(LDiversity(ell=2), table))


@pytest.mark.parametrize("p", [-0.1, 1.1, "x", True, Fraction(1, 2**62 + 1)])
def test_a_retention_is_a_number_from_0_to_1_that_a_draw_can_decide(p: Any) -> None:
    with pytest.raises(ParameterError, match="Perturbed: p must be"):
        Perturbed(p=p)


# --- meeting a target -------------------------------------------------------------------------------------------------


def test_the_retention_is_the_largest_that_meets_the_target() -> None:
    target = RhoBreach(rho1=0.2, rho2=0.5, lambda_=0.1, k=6)

    assert Perturbed(p="0.3684", domain=[*"ab"]) == Perturbed(domain=[*"ab"]).meeting(target, 50)
    assert Perturbed(p="0.3") == Perturbed(p="0.3").meeting(target, 50)
    assert Perturbed(p="0.9") == Perturbed(p="0.9").meeting(DeltaGrowth(k=6), 50)


def test_a_target_that_is_out_of_reach_is_refused_with_the_largest_retention() -> None:
    target = RhoBreach(rho1=0.2, rho2=0.5, lambda_=0.1, k=6)
    with pytest.raises(Infeasible, match=r"retention of 0.4, groups of 6 and 50.*the largest that meets it is 0.36"):
        Perturbed(p=0.4).meeting(target, 50)
    with pytest.raises(Infeasible, match="not possible with any retention") as caught:
        Perturbed().meeting(DeltaGrowth(delta="0.00001", k=1), 2)
    with pytest.raises(InputError, match=r"is not known: give it \(p=\), or give the bound"):
        Perturbed().meeting(DeltaGrowth(k=1), 2)
    with pytest.raises(InputError, match="not known"):
        published(people([1, 2], ["a", "b"]), grouped(0, 0))

    assert 0 == caught.value.largest


def test_the_claim_states_its_adversary_theorem_assumptions_and_limits() -> None:
    table = people([1, 2], ["a", "b"])
    target = RhoBreach(rho1=0.2, rho2=0.8, lambda_=0.5, k=6)
    claim = Perturbed(domain=[*"abcd"]).meeting(target, 4).claim(target, table.sensitive[0].name)

    assert Adversary.CORRUPTING is claim.adversary
    assert target.describe("disease") == claim.promise
    assert "CORRUPTION Theorem 2, with retention p = " in claim.theorem
    assert "k = 6, 4 declared sensitive values and lambda = 0.5: a 0.2-to-0.8 guarantee" in claim.theorem
    said = " | ".join(claim.assumptions)
    for needed in ("declared domain of disease", "quasi-identifiers alone", "independent", "is at most 0.5"):
        assert needed in said
    assert target.outside() == claim.limits


def test_without_a_bound_the_claim_is_what_the_retention_achieves() -> None:
    table, target = people([1, 2], ["a", "b"]), DeltaGrowth(k=6)
    claim = Perturbed(p="0.3", domain=[*"abcd"]).claim(target, table.sensitive[0].name)
    achieved = target.achieving("0.3", 4)
    assert achieved is not None

    assert achieved.describe("disease") == claim.promise


@pytest.mark.parametrize(
    ("recoding", "target", "why"),
    [
        (Perturbed(p="0.1"), DeltaGrowth(k=6), "the possible values (domain) of the sensitive column"),
        (Perturbed(p=1, domain=[*"abcd"]), DeltaGrowth(k=6), "a retention of 1 is too large for any bound"),
        (
            Perturbed(p="0.9", domain=[*"abcd"]),
            DeltaGrowth(k=6, delta=0.1),
            "a retention of 0.9 does not meet the 0.1-growth guarantee",
        ),
    ],
    ids=repr,
)
def test_nothing_is_promised_without_a_declared_domain_or_for_too_large_a_retention(
    recoding: Perturbed, target: DeltaGrowth, why: str
) -> None:
    claim = recoding.claim(target, people([1, 2], ["a", "b"]).sensitive[0].name)

    assert Adversary.LINKING is claim.adversary
    assert claim.promise.startswith(f"nothing: {why}")


def test_it_is_a_value_that_becomes_data_and_back() -> None:
    for recoding in (Perturbed(), Perturbed(p="1/3"), Perturbed(p=0.25, domain=["a", None, 3, True])):
        assert recoding == Perturbed.from_data(json.loads(json.dumps(recoding.to_data())))
        assert recoding == eval(repr(recoding), {"Perturbed": Perturbed})
        assert hash(recoding) == hash(eval(repr(recoding), {"Perturbed": Perturbed}))
    with pytest.raises(InputError):
        Perturbed.from_data({"name": "perturbed", "q": 1})


def test_it_says_what_its_columns_mean() -> None:
    assert ["G"] == list(Perturbed().added())
    assert (
        "probability 0.25; otherwise a random one of the 3 values"
        in Perturbed(p=0.25, domain=[*"abc"]).sensitive_meaning()
    )


# --- the attack on what is published ----------------------------------------------------------------------------------

Values = tuple[str, ...]


def after_release(
    publish: Any, prior: dict[str, Fraction], others: Values, domain: Values
) -> dict[str, dict[str, Fraction]]:
    """The belief in each value of the first person, after each published value, when all the others' are known."""
    joint: dict[str, dict[str, Fraction]] = {}
    for value in domain:
        for y, chance in publish((value, *others)).items():
            joint.setdefault(y, dict.fromkeys(domain, Fraction(0)))[value] += prior[value] * chance
    return {y: {x: part / sum(b.values()) for x, part in b.items()} for y, b in joint.items() if sum(b.values())}


def product_of(p: str, domain: Values | None, *, biased: bool = False) -> Any:
    """What may be published for one group with these values, and how likely, by the code that publishes."""

    class Biased(EnumeratingDraws):
        """Draws every place as the first one."""

        def belows(self, bounds: Any, size: int | None = None) -> Any:
            return np.zeros(len(bounds), np.int64) if np.ndim(bounds) else super().belows(bounds, size)

        def child(self, *labels: str | int) -> EnumeratingDraws:
            return Biased(self._run, path=(*self._path, labels))

    def publish(values: Values) -> dict[str, Fraction]:
        table, groups = people(list(range(len(values))), list(values)), grouped(*[0] * len(values))

        def run(draws: EnumeratingDraws) -> str:
            draws = Biased(draws._run, path=()) if biased else draws
            return str(published(table, groups, draws, p=p, domain=domain)["disease"][0].as_py())

        return distribution(run)

    return publish


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("p", ["1/4", "2/3"])
def test_knowing_everybody_else_tells_no_more_than_is_promised(p: str, k: int) -> None:
    domain: Values = ("a", "b", "c")
    publish = product_of(p, domain)
    breach, growth = RhoBreach(rho1="2/5", lambda_="3/5", k=k), DeltaGrowth(lambda_="3/5", k=k)
    rho2, delta = breach.achieved(p, 3), growth.achieved(p, 3)
    for prior in priors(domain, 5, Fraction(3, 5)):
        for others in [("a",) * (k - 1), ("b", "c")[: k - 1], ("c",) * (k - 1)]:
            for y, belief in after_release(publish, prior, others, domain).items():
                attack = Attack(prior, others, (), k)
                assert belief == posterior_by_force(attack, Fraction(p), domain)[y]
                for before, after in beliefs(prior, belief):
                    assert after - before <= delta
                    assert before > breach.rho1 or after <= rho2


def test_a_sample_that_is_not_uniform_is_seen_to_break_the_promise() -> None:
    domain: Values = ("a", "b", "c")
    growth = DeltaGrowth(lambda_="2/5", k=3)
    prior = {"a": Fraction(2, 5), "b": Fraction(2, 5), "c": Fraction(1, 5)}

    def most(**choices: Any) -> Fraction:
        after = after_release(product_of("1/2", domain, **choices), prior, ("c", "c"), domain)
        return max(a - b for belief in after.values() for b, a in beliefs(prior, belief))

    assert most() <= growth.achieved("1/2", 3) < most(biased=True)


@pytest.mark.parametrize("p", ["0", "1/10"])
def test_an_observed_domain_tells_the_value_that_nobody_else_has(p: str) -> None:
    """Why a domain must be declared: the attacker is certain, whatever is retained."""
    domain: Values = ("a", "b", "c")
    prior = {x: Fraction(1, 3) for x in domain}
    promised = RhoBreach(rho1="1/3", k=3).achieved(p, 3)
    observed = after_release(product_of(p, None), prior, ("a", "a"), domain)
    declared = after_release(product_of(p, domain), prior, ("a", "a"), domain)

    assert 1 == observed["b"]["b"] == observed["c"]["c"]
    assert promised < 1
    assert all(belief <= promised for after in declared.values() for belief in after.values())


def test_the_canonical_order_of_rows_is_not_needed() -> None:
    """A seeded run sorts nothing but the values of a group: equal tables in other orders publish the same."""
    table = people([3, 1, 2, 9, 8], list("bacba"))
    order = canonical_order(table)
    expected = published(table, grouped(0, 0, 0, 1, 1), Source.seeded(3), p=0.5, domain=[*"abc"])
    labels = np.array([0, 0, 0, 1, 1], np.int32)[order]

    assert expected.equals(published(table.take(order), gh.Groups(labels, 2), Source.seeded(3), p=0.5, domain=[*"abc"]))
