# SPDX-License-Identifier: Apache-2.0
"""Corruption: CORRUPTION's examples, lemmas and theorems, and every belief against a count of all worlds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import glasshouse as gh
from glasshouse.adversary.corruption.corruption import (
    Corruption,
    confidence,
    exact_belief,
    is_bound_to_fall,
    predicate_made_certain,
)
from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.perturbed_sample import PerturbedSample
from glasshouse.adversary.posterior import Posterior
from glasshouse.adversary.task import Task
from glasshouse.cli.attack import _above
from tests.tiers import tables
from tests.twins import corruption as naive

DOMAIN = ["a", "b", "c"]
DISEASES = ["Alzheimer", "breast cancer", "bronchitis", "dementia", "hypertension", "ovarian cancer", "pneumonia"]
RESPIRATORY = {"bronchitis", "pneumonia"}


# --- perturbed samples ------------------------------------------------------------------------------------------------


@cache
def any_release(recoding: Any, principle: Any) -> gh.Release:
    table = gh.read({"q": [0, 1, 2, 3], "s": ["a", "b", "a", "b"]}, quasi=["q"], sensitive="s")
    return gh.publish(table, principle=principle, recoding=recoding, source=gh.Source.seeded(0))


def sample(rows: list[tuple[str, str, int]], p: Fraction, domain: list[str]) -> gh.Release:
    """A perturbed sample with these rows: box, value, G."""
    made = any_release(gh.Perturbed(p="1/2", domain=("a", "b")), gh.DeltaGrowth(k=2))
    boxes, values, sizes = zip(*rows, strict=True)
    recoding = {"name": "perturbed", "p": str(p), "domain": domain}
    table = pa.table({"q": list(boxes), "s": list(values), "G": list(sizes)})
    return replace(made, tables={"data": table}, recipe=replace(made.recipe, recoding=recoding))


def a_prior(draw: Random, domain: list[str], largest: int = 4) -> dict[str, int]:
    weights = [draw.randrange(largest + 1) for _ in domain]
    return dict(zip(domain, weights, strict=True)) if sum(weights) else dict.fromkeys(domain, 1)


def scaled(weights: dict[str, int]) -> dict[str, Fraction]:
    return {value: Fraction(weight, sum(weights.values())) for value, weight in weights.items()}


class Case:
    """A random perturbed sample of two tuples, and what somebody knows of the people around it."""

    def __init__(self, seed: int, *, sure: bool = False) -> None:
        draw = Random(seed)
        self.domain = DOMAIN[: draw.choice([2, 3])]
        self.p = draw.choice([Fraction(0), Fraction(1, 4), Fraction(2, 3), Fraction(1, 2), Fraction(9, 10)])
        uniform = dict.fromkeys(self.domain, 1)
        common = draw.choice([None, a_prior(draw, self.domain)])
        self.personal = draw.random() < 0.5
        self.people: list[dict[str, Any]] = []
        prior: dict[str, dict[str, int]] = {}
        corrupted: dict[str, Any] = {}
        rows, names, places = [], [], []
        for at in (0, 10):
            candidates = {f"{at}-{i}": at + draw.randrange(4) for i in range(draw.randrange(2, 5))}
            size = len(candidates) if sure else draw.randrange(1, len(candidates) + 1)
            present = draw.sample(sorted(candidates), size)
            held: dict[str, Any] = {}
            for name, place in candidates.items():
                names.append(name)
                places.append(place)
                held[name] = scaled(uniform if common is None or self.personal else common)
                if self.personal and draw.random() < 0.6:
                    prior[name] = a_prior(draw, self.domain)
                    held[name] = scaled(prior[name])
                if draw.random() < 0.4:
                    corrupted[name] = draw.choice(self.domain) if name in present else ABSENT
                    held[name] = corrupted[name] if name in present else naive.ABSENT
            self.people.append(held)
            rows.append((f"[{at}, {at + 3}]", draw.choice(self.domain), size))
        self.rows = rows
        self.release = sample(rows, self.p, self.domain)
        given: Any = (prior or None) if self.personal else common
        external = gh.read({"name": [*names, "nobody"], "q": [*places, 99]}, identifier="name", quasi=["q"])
        self.knowledge = gh.Knowledge(external=external, corrupted=corrupted, prior=given)
        self.unknown = [(i, name) for i in (0, 1) for name in self.people[i] if name not in corrupted]

    def slowly(self, i: int, *, in_table: str | None = None) -> naive.Beliefs | None:
        _, y, size = self.rows[i]
        try:
            return naive.sample_beliefs(self.people[i], y, size, self.p, self.domain, in_table=in_table)
        except ZeroDivisionError:
            return None


@pytest.mark.parametrize("part", range(10))
def test_beliefs_after_a_perturbed_sample_are_those_of_all_worlds(part: int) -> None:
    compared = 0
    for seed in range(60 * part, 60 * part + 60):
        case = Case(seed)
        slow = [case.slowly(0), case.slowly(1)]
        found = Corruption().attack(case.release, case.knowledge)
        for i, name in case.unknown:
            of = slow[i]
            assert of is not None
            assert found.of(name) == pytest.approx(
                {value: float(b) for value, b in of[name].items()} if any(of[name].values()) else {}
            )
            assert found.present(name) == pytest.approx(float(sum(of[name].values())))
            compared += 1
        assert found.of("nobody") == {}
        assert found.present("nobody") == 0
    assert compared > 120


@pytest.mark.parametrize("part", range(6))
def test_the_exact_belief_of_somebody_in_the_table_is_that_of_all_worlds(part: int) -> None:
    compared = 0
    for seed in range(60 * part, 60 * part + tables(300)):
        case = Case(seed)
        given = Corruption(in_table=True).attack(case.release, case.knowledge)
        for i, name in case.unknown:
            slow = case.slowly(i, in_table=name)
            if slow is None:  # everybody in the group is corrupted
                with pytest.raises(gh.InputError, match="cannot be in the table"):
                    exact_belief(case.release, case.knowledge, name)
                continue
            assert exact_belief(case.release, case.knowledge, name) == slow[name]
            assert given.of(name) == pytest.approx({value: float(b) for value, b in slow[name].items()})
            qualified = set(case.domain[seed % 2 : 2])
            before, after = confidence(case.release, case.knowledge, name, qualified)
            prior = case.people[i][name]
            assert (before, after) == (
                sum((prior[v] for v in qualified), Fraction(0)),
                sum((slow[name][v] for v in qualified), Fraction(0)),
            )
            asked = Corruption(predicate=qualified, in_table=True).attack(case.release, case.knowledge)
            assert asked.of(name) == pytest.approx({True: float(after)})
            compared += 1
    assert compared > tables(500)


def test_example_1_ellie_is_safe_for_the_published_disease_is_not_respiratory() -> None:
    patients, printed = gh.examples.corruption_table1(), gh.examples.corruption_table2c()
    printed = printed.set_column(2, "Zipcode", pc.replace_substring(printed["Zipcode"], "***", "000"))
    recoding = gh.Perturbed(p=0.25, domain=DISEASES)
    release = gh.publish(patients, principle=gh.DeltaGrowth(k=2), recoding=recoding, source=gh.Source.seeded(1))
    release = replace(release, tables={"data": printed})
    voters = gh.read(gh.examples.corruption_table1b(), identifier="Name", quasi=["Age", "Gender", "Zipcode"])
    knowledge = gh.Knowledge(external=voters, corrupted={"Debbie": "pneumonia", "Emily": ABSENT})

    # h = (1/4 * 1/7 + 3/28) / (1/4 * 1/7 + 3/28 + 3/28): Debbie's pneumonia may have become breast cancer
    assert PerturbedSample.of(Task.of(Corruption(), release, knowledge)).owned(3).h == Fraction(4, 7)
    assert confidence(release, knowledge, "Ellie", RESPIRATORY) == (Fraction(2, 7), Fraction(12, 49))
    assert is_bound_to_fall(release, knowledge, "Ellie", RESPIRATORY)
    assert exact_belief(release, knowledge, "Ellie")["breast cancer"] == Fraction(13, 49)
    beliefs = gh.attack(release, Corruption(), knowledge=knowledge)
    assert beliefs.how == "exact"
    assert beliefs.present("Ellie") == 1
    assert beliefs.of("Debbie") == {}, "what was known before is not what the release tells"
    assert beliefs.because is not None
    assert "shows breast cancer; its group has 2 records, the attacker knows the values of 1 person" in beliefs.because(
        int(beliefs.kind[3]), 1
    )

    # If nothing is known about Emily, Ellie is one of two who may sit beside Debbie.
    half = gh.attack(release, Corruption(), knowledge=replace(knowledge, corrupted={"Debbie": "pneumonia"}))
    assert half.present("Ellie") == half.present("Emily") == 0.5
    assert half.of("Ellie")["breast cancer"] == pytest.approx(float(Fraction(13, 98)))


@pytest.mark.parametrize("part", range(3))
def test_theorem_1_no_belief_grows_in_what_the_published_value_does_not_satisfy(part: int) -> None:
    asked = 0
    for seed in range(1000 + 20 * part, 1020 + 20 * part):
        case = Case(seed)
        for _, name in case.unknown:
            for n in range(len(case.domain) + 1):
                for qualified in combinations(case.domain, n):
                    try:
                        before, after = confidence(case.release, case.knowledge, name, qualified)
                    except gh.InputError:
                        continue
                    if is_bound_to_fall(case.release, case.knowledge, name, qualified):
                        asked += 1
                        assert after <= before
                    else:
                        assert after >= before
    assert asked > 50


@pytest.mark.parametrize("seed", range(300))
def test_no_prior_corruption_or_predicate_breaks_table_3(seed: int) -> None:
    """Fifty incomes, p and k of Table III, lambda = 0.1 and rho1 = 0.2: theorems against attacks, in fractions."""
    draw = Random(seed)
    incomes = [f"{i:02}" for i in range(50)]
    p, k = draw.choice([(Fraction(3, 10), k) for k in (2, 4, 6, 8, 10)] + [(Fraction(i, 20), 6) for i in range(3, 10)])
    n, y = draw.randrange(k, k + 4), draw.choice(incomes)
    size = draw.randrange(k, n + 1)
    skewed = [0] * 50  # ten steps of 0.1 at most each
    for _ in range(200):
        at = draw.choice([incomes.index(y), draw.randrange(50)])
        skewed[at] += skewed[at] < 20
    missing = 200 - sum(skewed)
    for at in range(50):
        more = min(20 - skewed[at], missing)
        skewed[at] += more
        missing -= more
    prior = dict(zip(incomes, skewed, strict=True))
    values = [value if draw.random() < 0.8 else y for value in draw.choices(incomes, k=n)]
    corrupted: dict[int, Any] = {i: values[i] for i in range(1, size) if draw.random() < 0.8}
    corrupted |= {i: ABSENT for i in range(size, n) if draw.random() < 0.8}
    release = sample([("[0, 9]", y, size)], p, incomes)
    external = gh.read({"q": [draw.randrange(10) for _ in range(n)]}, quasi=["q"])
    knowledge = gh.Knowledge(external=external, corrupted=corrupted, prior={0: prior})

    growth = gh.DeltaGrowth(lambda_="0.1", k=k).achieved(p, 50)
    breach = gh.RhoBreach(rho1="0.2", lambda_="0.1", k=k).achieved(p, 50)
    for _ in range(10):
        qualified = {y, *draw.sample(incomes, draw.randrange(12))} - (set() if draw.random() < 0.9 else {y})
        before, after = confidence(release, knowledge, 0, qualified)
        assert abs(after - before) <= growth
        assert after <= breach or before > Fraction(1, 5)
    bound = Corruption(most_corrupted=n).attack(release, knowledge)
    assert bound.of(0)[y] - float(scaled(prior)[y]) <= growth
    assert bound.of(0)[y] >= Corruption(in_table=True).attack(release, knowledge).of(0)[y] - 1e-12
    assert any("Theorem 3" in note for note in bound.notes)


def test_the_worst_corruption_comes_up_to_the_theorem() -> None:
    """With everybody else corrupted, and a prior of lambda in the published value, growth is h_top F(lambda)."""
    p, lambda_, k = Fraction(3, 10), Fraction(1, 10), 6
    prior = {f"{i:02}": 10 if i == 0 else Fraction(90, 49) for i in range(50)}
    release = sample([("[0, 9]", "00", k)], p, list(prior))
    knowledge = gh.Knowledge(external=gh.read({"q": list(range(8))}, quasi=["q"]), prior={0: prior})

    worst = Corruption(most_corrupted=7).attack(release, knowledge)

    assert worst.how == "bound"
    assert worst.of(0)["00"] - 0.1 == pytest.approx(float(Fraction(9, 38)))  # h_top F(0.1) of Table III, k = 6
    assert (
        Fraction(9, 38) <= gh.DeltaGrowth(lambda_=lambda_, k=k).achieved(p, 50) < Fraction(9, 38) + Fraction(1, 10_000)
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_worst_corruption_of_a_sample_is_the_worst_of_all_corruptions(seed: int) -> None:
    draw = Random(seed)
    domain, p = DOMAIN[: draw.choice([2, 3])], draw.choice([Fraction(1, 4), Fraction(2, 3)])
    n = draw.randrange(2, 5)
    size, y, most = draw.randrange(1, n + 1), draw.choice(domain), draw.randrange(n)
    prior = {i: {value: draw.randrange(1, 5) for value in domain} for i in range(n)}
    release = sample([("[0, 9]", y, size)], p, domain)
    knowledge = gh.Knowledge(external=gh.read({"q": list(range(n))}, quasi=["q"]), prior=prior)
    qualified = set(draw.sample(domain, 1))
    bound = Corruption(most_corrupted=most, in_table=True).attack(release, knowledge)
    asked = Corruption(most_corrupted=most, predicate=qualified, in_table=True).attack(release, knowledge)

    worst: dict[Any, Fraction] = {}
    for number in range(most + 1):
        for chosen in combinations(range(1, n), number):
            for answers in np.ndindex(*(len(domain) + 1,) * number):
                known = {i: [*domain, naive.ABSENT][a] for i, a in zip(chosen, answers, strict=True)}
                people = {i: known.get(i, scaled(prior[i])) for i in range(n)}
                try:
                    of = naive.sample_beliefs(people, y, size, p, domain, in_table=0)[0]
                except ZeroDivisionError:
                    continue  # more are known to be in the table, or fewer, than the group has
                events = {**of, True: sum((of[v] for v in qualified), Fraction(0))}
                worst = {event: max(belief, worst.get(event, Fraction(0))) for event, belief in events.items()}

    assert {**bound.of(0), **asked.of(0)} == pytest.approx({event: float(belief) for event, belief in worst.items()})


def test_unknown_people_hide_others_as_well_as_the_attacker_expects() -> None:
    release = sample([("[0, 9]", "a", 3)], Fraction(1, 2), DOMAIN)
    knowledge = gh.Knowledge(external=gh.read({"q": [1]}, quasi=["q"]))
    found = PerturbedSample.of(Task.of(gh.Linking(), release, knowledge)).posterior()

    assert found.attack == "linking"
    assert found.notes[-1] == "2 records belong to people who are not in the external table"
    assert found.present(0) == 1
    # three alike people: h = 1/3
    assert found.of(0)["a"] == pytest.approx(1 / 3 * (2 / 3) + 2 / 3 * (1 / 3))


def test_a_domain_that_was_not_declared_is_what_the_attacker_has_heard_of() -> None:
    release = sample([("[0, 9]", "a", 2)], Fraction(1, 2), ["a"])
    recoding = {**release.recipe.recoding, "domain": None}
    release = replace(release, recipe=replace(release.recipe, recoding=recoding))
    people = gh.read({"q": [1, 2]}, quasi=["q"])
    found = Corruption().attack(release, gh.Knowledge(external=people, corrupted={0: "b"}, prior={"a": 1, "c": 1}))

    assert set(found.of(1)) == {"a", "b", "c"}
    assert any("was not declared" in note for note in found.notes)


def test_numbers_of_a_declared_domain_keep_their_type() -> None:
    release = sample([("[0, 9]", "7", 1)], Fraction(1, 2), ["7", "8"])
    table = pa.table({"q": ["[0, 9]"], "s": pa.array([7]), "G": [1]})
    release = replace(release, tables={"data": table})
    found = Corruption().attack(release, gh.Knowledge(external=gh.read({"q": [1]}, quasi=["q"])))

    assert found.of(0) == pytest.approx({7: 3 / 4, 8: 1 / 4})


def test_what_cannot_be_is_refused() -> None:
    release = sample([("[0, 9]", "a", 1)], Fraction(1), ["a", "b"])
    people = gh.read({"q": [1, 2, 50]}, quasi=["q"])
    for corrupted, words in (
        ({0: "a", 1: "b"}, "more people"),
        ({2: "a"}, "fits no published record"),
        ({0: "z"}, "not in the domain of the sensitive column"),
        ({0: "b"}, "cannot be in the table"),
    ):
        with pytest.raises(gh.InputError, match=words):
            exact_belief(release, gh.Knowledge(external=people, corrupted=corrupted), 1)
    with pytest.raises(gh.InputError, match="can have its value"):
        Corruption().attack(release, gh.Knowledge(external=people, prior={"b": 1}))
    with pytest.raises(gh.InputError, match="nothing left to infer"):
        exact_belief(release, gh.Knowledge(external=people, corrupted={1: "a"}), 1)
    with pytest.raises(gh.ParameterError, match="predicate"):
        Corruption(predicate="flu")
    with pytest.raises(gh.ParameterError, match="most_corrupted"):
        Corruption(most_corrupted=-1)
    overlapping = sample([("[0, 9]", "a", 1), ("[5, 9]", "a", 1)], Fraction(1, 2), ["a", "b"])
    with pytest.raises(gh.NotSupported, match="fit two records"):
        Corruption().attack(overlapping, gh.Knowledge(external=gh.read({"q": [6]}, quasi=["q"])))


def test_a_large_sample_is_believed_in_few_kinds_of_people() -> None:
    table = gh.synthetic.hospital(4_000, seed=3)
    diseases = table.column("disease").domain.values.to_pylist()
    release = gh.publish(table, principle=gh.DeltaGrowth(delta="0.3", k=6), recoding=gh.Perturbed(domain=diseases))
    known = table.column("disease")
    corrupted = {f"P{i + 1:06}": known.domain.values[known.codes[i]].as_py() for i in range(0, 4_000, 3)}
    found = gh.attack(release, Corruption(), knowledge=gh.Knowledge(external=table, corrupted=corrupted))

    assert found.presence.max() == found.presence.min() == 1
    assert len(found.presence) < 2_000
    assert found.largest.max() - 1 / len(diseases) <= 0.3
    assert sum(found.of("P000002").values()) == pytest.approx(1)


# --- groups that keep their values ------------------------------------------------------------------------------------


def boxes(rows: list[tuple[str, str]]) -> gh.Release:
    made = any_release(gh.Boxes(), gh.LDiversity(ell=2))
    cells, values = zip(*rows, strict=True)
    return replace(made, tables={"data": pa.table({"q": list(cells), "s": list(values)})})


def anatomy(rows: list[tuple[int, int]], values: dict[int, list[str]]) -> gh.Release:
    made = any_release(gh.Anatomy(), gh.LDiversity(ell=2))
    places, groups = zip(*rows, strict=True)
    counts = [(group, value, n) for group, own in values.items() for value, n in sorted(Counter(own).items())]
    st = pa.table(
        {"Group-ID": [g for g, _, _ in counts], "s": [v for _, v, _ in counts], "Count": [n for *_, n in counts]}
    )
    return replace(made, tables={"qit": pa.table({"q": list(places), "Group-ID": list(groups)}), "st": st})


class Groups:
    """A random release of a few groups, people around it, and what somebody truly knows of some of them."""

    def __init__(self, seed: int, kind: str, *, alone: bool = False) -> None:
        draw = Random(seed)
        self.fits: dict[int, list[Any]] = {}
        self.tuples: list[tuple[Any, int]] = []
        self.values: dict[int, list[str]] = {}
        n_groups = draw.choice([1, 2, 2, 3]) if not alone else draw.choice([1, 2])
        spans = {"disjoint": [(0, 3), (10, 13), (20, 23)], "overlap": [(0, 6), (4, 10), (5, 7)]}.get(kind)
        for group in range(n_groups):
            size = draw.randrange(1, 4 if n_groups < 3 else 3)
            self.values[group] = [draw.choice(DOMAIN) for _ in range(size)]
            for _ in range(size):
                shown: Any = draw.randrange(3) + (10 * group if kind == "anatomy alone" else 0)
                self.tuples.append((spans[group] if spans else shown, group))
        places = []
        for shown, _ in self.tuples:
            places.append(draw.randint(*shown) if spans else shown)
        more = [draw.choice(places) + (draw.choice([0, 0, 1]) if spans else 0) for _ in range(draw.randrange(3))]
        places += [place for place in more if not spans or any(low <= place <= high for (low, high), _ in self.tuples)]
        for row, place in enumerate(places):
            at = {shown for shown, _ in self.tuples if (shown[0] <= place <= shown[1] if spans else shown == place)}
            self.fits[row] = sorted(at)
        if spans:
            rows = [(f"[{low}, {high}]", group) for (low, high), group in self.tuples]
            left = {group: list(own) for group, own in self.values.items()}
            self.release = boxes([(cell, left[group].pop()) for cell, group in rows])
        else:
            self.release = anatomy(
                [(shown, group + 1) for shown, group in self.tuples], {g + 1: v for g, v in self.values.items()}
            )
        self.external = gh.read({"q": places}, quasi=["q"])
        worlds = list(naive.group_worlds(self.fits, self.tuples, self.values))
        truth = draw.choice(worlds)
        self.known = {row: truth.get(row, naive.ABSENT) for row in self.fits if draw.random() < draw.choice([0.2, 0.6])}
        corrupted = {row: ABSENT if value is naive.ABSENT else value for row, value in self.known.items()}
        self.knowledge = gh.Knowledge(external=self.external, corrupted=corrupted)

    def check(self, found: Posterior, slow: naive.Beliefs | None, *, only: int | None = None) -> int:
        assert slow is not None
        for row in self.fits:
            if row not in self.known and only in (None, row):
                assert found.of(row) == pytest.approx({value: float(belief) for value, belief in slow[row].items()})
                assert found.present(row) == pytest.approx(float(sum(slow[row].values())))
        return len(self.fits) - len(self.known)


@pytest.mark.parametrize("kind", ["disjoint", "anatomy", "anatomy alone", "overlap"])
@pytest.mark.parametrize("part", range(5))
def test_beliefs_after_groups_are_those_of_all_worlds(kind: str, part: int) -> None:
    compared = 0
    for seed in range(40 * part, 40 * part + tables(200)):
        case = Groups(seed, kind)
        slow = naive.group_beliefs(case.fits, case.tuples, case.values, case.known)
        found = Corruption().attack(case.release, case.knowledge)
        assert found.how == "exact"
        compared += case.check(found, slow)
        for row in case.fits:
            if row not in case.known:
                sure = naive.group_beliefs(case.fits, case.tuples, case.values, case.known, in_table=row)
                if sure is not None:
                    case.check(Corruption(in_table=True).attack(case.release, case.knowledge), sure, only=row)
                assert slow is not None
                asked = Corruption(predicate=lambda value: value != "a").attack(case.release, case.knowledge).of(row)
                expected = float(sum((belief for value, belief in slow[row].items() if value != "a"), Fraction(0)))
                assert asked.get(True, 0) == pytest.approx(expected)
                break
    assert compared > tables(300)


@pytest.mark.parametrize("kind", ["disjoint", "anatomy alone"])
@pytest.mark.parametrize("part", range(4))
def test_the_worst_corruption_is_the_worst_of_all_corruptions(kind: str, part: int) -> None:
    for seed in range(15 * part, 15 * part + 15):
        case = Groups(seed, kind, alone=True)
        knowledge = gh.Knowledge(external=case.external)
        for most in (1, 2, 3):
            slow = naive.worst_beliefs(case.fits, case.tuples, case.values, most)
            found = Corruption(most_corrupted=most).attack(case.release, knowledge)
            sure = Corruption(most_corrupted=most, in_table=True).attack(case.release, knowledge)
            assert found.how == "bound"
            for row in case.fits:
                assert found.of(row) == pytest.approx({value: float(belief) for value, belief in slow[row].items()})
            row = min(case.fits)
            given = naive.worst_beliefs(case.fits, case.tuples, case.values, most, in_table=row)[row]
            assert sure.of(row) == pytest.approx({value: float(belief) for value, belief in given.items()})


@pytest.mark.parametrize("kind", ["anatomy", "overlap"])
@pytest.mark.parametrize("part", range(2))
def test_where_groups_are_uncertain_no_corruption_goes_beyond_the_bound(kind: str, part: int) -> None:
    for seed in range(15 * part, 15 * part + 15):
        case = Groups(seed, kind, alone=True)
        for most in (1, 2):
            slow = naive.worst_beliefs(case.fits, case.tuples, case.values, most)
            found = Corruption(most_corrupted=most).attack(case.release, gh.Knowledge(external=case.external))
            for row in case.fits:
                of = found.of(row)
                assert all(of.get(value, 0) >= belief - Fraction(1, 10**9) for value, belief in slow[row].items())


@pytest.mark.parametrize("kind", ["disjoint", "anatomy", "overlap"])
@pytest.mark.parametrize("seed", range(60))
def test_lemma_2_with_everybody_else_corrupted_belief_is_1(kind: str, seed: int) -> None:
    case = Groups(seed, kind)
    world = next(naive.group_worlds(case.fits, case.tuples, case.values))
    victim = Random(seed).choice(sorted(world))
    corrupted = {row: world.get(row, ABSENT) for row in case.fits if row != victim}
    knowledge = gh.Knowledge(external=case.external, corrupted=corrupted)

    for ways in (4_000, 1):  # exactly, and where there are too many ways to count
        found = Corruption(most_ways=ways).attack(case.release, knowledge)
        if found.how == "exact" or kind == "overlap":
            assert found.of(victim) == pytest.approx({world[victim]: 1.0})
    assert Corruption(most_corrupted=len(case.fits)).attack(case.release, knowledge).of(victim)[world[victim]] == 1


def test_bob_gives_calvin_away_and_emily_hides_debbie_a_little() -> None:
    """CORRUPTION I-A, on Table Ic as it is printed."""
    patients, printed = gh.examples.corruption_table1(), gh.examples.corruption_table1c()
    printed = printed.set_column(2, "Zipcode", pc.replace_substring(printed["Zipcode"], "***", "000"))
    made = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes())
    release = replace(made, tables={"data": printed})
    voters = gh.read(gh.examples.corruption_table1b(), identifier="Name", quasi=["Age", "Gender", "Zipcode"])
    found = gh.attack(release, Corruption(), knowledge=gh.Knowledge(external=voters, corrupted={"Bob": "bronchitis"}))

    assert found.of("Calvin") == {"pneumonia": 1.0}
    assert found.worst().person == "Calvin"
    assert found.because is not None
    assert found.because(int(found.kind[1]), 6) == (
        "1 of 2 records in the groups with the cells Age [21, 40], Gender M, Zipcode [11000, 30000] has pneumonia. The "
        "attacker already knows the values of 1 person in the table who may be in these groups, and 1 of them has "
        "another value"
    )
    assert found.present("Emily") == found.present("Debbie") == pytest.approx(2 / 3)
    absent = gh.attack(release, Corruption(), knowledge=gh.Knowledge(external=voters, corrupted={"Emily": ABSENT}))
    assert absent.present("Debbie") == 1
    assert absent.of("Debbie") == {"breast cancer": 0.5, "pneumonia": 0.5}
    one = gh.attack(release, Corruption(most_corrupted=1), knowledge=gh.Knowledge(external=voters))
    assert one.of("Calvin") == {"bronchitis": 1.0, "pneumonia": 1.0}
    assert one.of("Debbie") == {"breast cancer": 0.5, "pneumonia": 0.5}  # with two corrupted, 1
    assert one.explain("Calvin").endswith(
        "1 of 2 records has bronchitis. If the attacker knows the value of 1 other person in this group, which is a "
        "different value, 1 of 1 remaining record has bronchitis"
    )
    assert one.explain("Debbie").endswith("; and such a person is in the table with a probability of at most 0.5000")


def test_the_worst_corruption_is_explained_by_the_group_in_which_it_is_reached() -> None:
    table = gh.read(
        {"id": list(range(6)), "q": [1] * 6, "s": list("abcabc")}, identifier="id", quasi="q", sensitive="s"
    )
    groups = gh.Groups(np.array([0, 0, 0, 1, 1, 1], np.int32), 2)
    made = gh.publish(table, principle=gh.LDiversity(ell=3), method=gh.Anatomize(), recoding=gh.Anatomy())
    release = replace(made, tables=gh.Anatomy().recode(table, groups))
    knowledge = gh.Knowledge(external=table)
    for chosen in (None, {"a"}):
        found = Corruption(most_corrupted=1, predicate=chosen).attack(release, knowledge)
        assert found.worst().belief == 0.5
        assert found.only_bound.all(), "it is not known in which of the groups anybody is"
        assert _above(found, Fraction(1, 3)) == (
            "for 6 people of 6, only an upper bound on the probability of a value is known, and this bound is above "
            "1/3: the largest is 0.5000. It is not known whether a probability is above the limit"
        )
        told = found.explain(0)
        value = "a" if chosen is None else "one of the given values"
        assert f"1 of 3 records has {value}. If the attacker" in told
        assert told.endswith(f"which is a different value, 1 of 2 remaining records has {value}")
    alone = Corruption(most_corrupted=1).attack(
        gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Boxes()), knowledge
    )
    assert not alone.only_bound.any(), "with one group for everybody, it can be reached"


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel()], ids=lambda r: r.name)
def test_with_nobody_corrupted_it_is_linking(recoding: Any) -> None:
    table = gh.synthetic.hospital(600, seed=3)
    release = gh.publish(
        table, principle=gh.LDiversity(ell=3), method=gh.Mondrian(), recoding=recoding, source=gh.Source.seeded(2)
    )
    knowledge = gh.Knowledge(external=table)
    linked, found = gh.attack(release, knowledge=knowledge), gh.attack(release, Corruption(), knowledge=knowledge)

    for person in (f"P{i:06}" for i in range(1, 601, 7)):
        assert found.of(person) == pytest.approx(linked.of(person))
        assert found.present(person) == pytest.approx(linked.present(person))
    assert found.how == linked.how == "exact"


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Angel()], ids=lambda r: r.name)
def test_half_of_the_people_corrupted_at_scale_agree_with_what_each_has(recoding: Any) -> None:
    table = gh.synthetic.hospital(600, seed=3)
    release = gh.publish(
        table, principle=gh.LDiversity(ell=3), method=gh.Mondrian(), recoding=recoding, source=gh.Source.seeded(2)
    )
    column = table.column("disease")
    truth = [column.domain.values[code].as_py() for code in column.codes.tolist()]
    corrupted = {f"P{i + 1:06}": truth[i] for i in range(0, 600, 2)}
    knowledge = gh.Knowledge(external=table, corrupted=corrupted)
    found, vague = (
        gh.attack(release, Corruption(), knowledge=knowledge),
        Corruption(most_ways=1).attack(release, knowledge),
    )

    for i in range(1, 600, 2):
        of = found.of(f"P{i + 1:06}")
        assert sum(of.values()) == pytest.approx(1)
        assert of.get(truth[i], 0) > 0
        assert sum(vague.of(f"P{i + 1:06}").values()) == pytest.approx(1)
    assert found.how == "exact"
    assert vague.how == ("mixture" if recoding.name == "angel" else "exact")
    assert recoding.name != "angel" or any("each of them was considered separately" in note for note in vague.notes)


def test_overlapping_boxes_at_scale_are_a_mixture_and_say_so() -> None:
    table = gh.synthetic.hospital(300, seed=3)
    release = gh.publish(
        table, principle=gh.LDiversity(ell=3), method=gh.Hybrid(), recoding=gh.Boxes(), source=gh.Source.seeded(2)
    )
    column = table.column("disease")
    truth = [column.domain.values[code].as_py() for code in column.codes.tolist()]
    some = gh.Knowledge(external=table, corrupted={f"P{i + 1:06}": truth[i] for i in range(50)})
    all_others = gh.Knowledge(external=table, corrupted={f"P{i + 1:06}": truth[i] for i in range(299)})
    mixed, last = (gh.attack(release, Corruption(), knowledge=knowledge) for knowledge in (some, all_others))

    assert mixed.how == "mixture"
    assert any("too many ways" in note for note in mixed.notes)
    assert all(0 <= belief <= 1 for belief in mixed.beliefs)
    assert last.of("P000300") == {truth[299]: 1.0}


def test_what_does_not_agree_with_the_release_is_refused() -> None:
    release = boxes([("[0, 3]", "a"), ("[0, 3]", "b"), ("[10, 13]", "c"), ("[10, 13]", "a")])
    people = gh.read({"q": [1, 2, 11, 12, 50]}, quasi=["q"])
    for corrupted in ({0: "c"}, {0: "a", 1: "a"}, {4: "a"}, {0: "z"}):
        with pytest.raises(gh.InputError, match="contradicts the release"):
            Corruption().attack(release, gh.Knowledge(external=people, corrupted=corrupted))
    with pytest.raises(gh.NotSupported, match="a prior for single people"):
        Corruption().attack(release, gh.Knowledge(external=people, prior={0: {"a": 1}}))
    common = Corruption().attack(release, gh.Knowledge(external=people, prior={"a": 1, "b": 2, "c": 9}))
    assert (common.of(0), common.notes[-1][:25]) == ({"a": 0.5, "b": 0.5}, "the prior changes nothing")
    with pytest.raises(gh.NotSupported, match="groups with their true values"):
        confidence(release, gh.Knowledge(external=people), 0, {"a"})
    # two people at one place, of two groups that cannot both have their values
    twice = anatomy([(1, 1), (1, 2)], {1: ["a"], 2: ["b"]})
    alike = gh.read({"q": [1, 1]}, quasi=["q"])
    assert Corruption().attack(twice, gh.Knowledge(external=alike, corrupted={0: "a"})).of(1) == {"b": 1.0}
    with pytest.raises(gh.InputError, match="contradicts the release"):
        Corruption().attack(twice, gh.Knowledge(external=alike, corrupted={0: "a", 1: "a"}))


def test_dropped_people_may_be_known_without_a_contradiction() -> None:
    release = boxes([("[0, 3]", "a"), ("[0, 3]", "b")])
    release = replace(release, recipe=replace(release.recipe, suppress="1/3"))
    knowledge = gh.Knowledge(external=gh.read({"q": [1, 2, 50]}, quasi=["q"]), corrupted={0: "a", 2: "a"})
    with pytest.raises(gh.InputError, match="contradicts the release"):  # the release says that nobody was dropped
        Corruption().attack(release, knowledge)
    found = Corruption().attack(replace(release, n_dropped=1), knowledge)

    assert found.of(1) == {"b": 1.0}
    assert found.present(2) == 1.0
    assert any("were left out" in note and "1 of them" in note for note in found.notes)


# --- Lemma 1 ----------------------------------------------------------------------------------------------------------


def test_lemma_1_a_predicate_becomes_certain_from_5_in_99() -> None:
    table = gh.examples.corruption_figure1()
    principle = gh.RecursiveLDiversity(c="1/2", ell=3)
    release = gh.publish(table, principle=principle, recoding=gh.Boxes(), source=gh.Source.seeded(1))
    found = predicate_made_certain(release, n_values=100, ruled_out=["HIV"])

    assert found.values == {"pneumonia", "bronchitis", "lung cancer", "SARS", "tuberculosis"}
    assert (found.prior, found.posterior) == (Fraction(5, 99), Fraction(1))
    assert found.cells == {"QI": "same"}
    asked = Corruption(predicate=found.values | {"HIV"}).attack(release, gh.Knowledge(external=table))
    assert asked.of("o1") == pytest.approx({True: 1.0})
    assert predicate_made_certain(release, n_values=100).prior == Fraction(6, 100)
    with pytest.raises(gh.ParameterError, match="at most 1 value,"):
        predicate_made_certain(release, n_values=100, ruled_out=["HIV", "SARS"])
    with pytest.raises(gh.ParameterError, match="n_values"):
        predicate_made_certain(release, n_values=5)


@pytest.mark.parametrize("seed", range(30))
def test_lemma_1_the_smallest_group_decides_how_unlikely_the_predicate_was(seed: int) -> None:
    draw = Random(seed)
    rows = [(f"[{10 * g}, {10 * g + 3}]", draw.choice("abcdef")) for g in range(3) for _ in range(draw.randrange(2, 6))]
    release = boxes(rows)
    u = min(len({value for cell, value in rows if cell == box}) for box, _ in rows)
    found = predicate_made_certain(release, n_values=20)

    assert found.prior == Fraction(u, 20)
    assert any({value for cell, value in rows if cell == box} == found.values for box, _ in rows)
