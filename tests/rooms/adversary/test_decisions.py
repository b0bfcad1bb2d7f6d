# SPDX-License-Identifier: Apache-2.0
"""The adversary who rebuilds the decisions: beliefs as the slow twin counts them, and as the whole algorithm does."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.cuts import cut_worlds
from glasshouse.adversary.reverse_engineering.cuts.cut_worlds import Cell, Profile, Type
from glasshouse.adversary.reverse_engineering.cuts.decisions import CutsNotMade
from glasshouse.adversary.reverse_engineering.worlds.enumeration import exact_posterior
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun
from glasshouse.engines import Memory
from glasshouse.grouping.along_order.orderings import arranged
from glasshouse.kernels import compiled, interpreted
from glasshouse.principles.principle import Requirement
from tests.rooms.adversary.earlier import publish_by_identifiers
from tests.tiers import tables
from tests.twins import decisions as twin

NEAR = 1e-9


@dataclass
class Case:
    """A table, and how it is published."""

    people: dict[str, list[Any]]
    values: list[str]
    principle: Any
    method: Any
    recoding: Any
    named: bool

    @property
    def names(self) -> list[str]:
        return [name for name in self.people if name != "id"]

    def table(self) -> gh.Microdata:
        return gh.read(
            {**self.people, "s": self.values},
            quasi=self.names,
            sensitive="s",
            identifier="id" if self.named else None,
        )

    def external(self) -> gh.Microdata:
        return gh.read(self.people, quasi=self.names, identifier="id" if self.named else None)

    def steps(self) -> tuple[Any, Any, Any]:
        return self.principle, self.method, self.recoding

    def publish(self) -> gh.Release:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gh.DisclosureWarning)
            publish = publish_by_identifiers if self.named else gh.publish
            return publish(
                self.table(),
                principle=self.principle,
                method=self.method,
                recoding=self.recoding,
                source=gh.Source.seeded(1),
                threads=1,
            )

    def attack(self, release: gh.Release, corrupted: dict[int, str] | None = None, **options: Any) -> Any:
        external = self.external()
        named = {self.people["id"][row] if self.named else row: value for row, value in (corrupted or {}).items()}
        knowledge = gh.Knowledge(external=external, corrupted=named)
        options = {"most_states": 300_000, **options}
        return CutsNotMade(**options).attack(release, knowledge, self.steps())


def random_case(seed: int, method: Any, *, recoding: Any = None, least: int = 4, most: int = 9) -> Case:
    rng = random.Random(seed)
    n = rng.randint(least, most)
    widest = rng.choice([2, 3, 6, 12])
    names = [f"q{d}" for d in range(rng.randint(1, 3))]
    people: dict[str, list[Any]] = {name: [rng.randrange(widest) for _ in range(n)] for name in names}
    people["id"] = [f"p{i:02}" for i in rng.sample(range(n), n)]
    values = [rng.choice("aabbccdef"[: rng.choice([4, 6, 9])]) for _ in range(n)]
    ell = rng.choice([2, 2, 3])
    principle: Any = gh.LDiversity(ell=ell)
    other = rng.random()
    if other < 0.1 and "a" in values:
        principle = gh.DesignatedLDiversity(ell=ell, values=("a",))
    elif other < 0.2:
        principle = gh.AlphaKAnonymity(alpha=Fraction(2, 5), k=3)
    elif other < 0.3:
        principle = gh.AllOf(principles=(gh.KAnonymity(k=3), gh.LDiversity(ell=2)))
    return Case(people, values, principle, method, recoding or gh.Boxes(), rng.random() < 0.5)


def published_or_none(case: Case) -> gh.Release | None:
    try:
        return case.publish()
    except (gh.Infeasible, gh.NotSupported):  # anatomy refuses k-anonymity
        return None


def beliefs_of(posterior: Any, n: int) -> list[dict[str, float]]:
    found = []
    for row in range(n):
        kind = posterior.kind[row]
        mine = slice(posterior.offsets[kind], posterior.offsets[kind + 1])
        listed = zip(posterior.codes[mine], posterior.beliefs[mine], strict=True)
        found.append({posterior.values[code]: float(belief) for code, belief in listed})
    return found


def assert_same(found: list[dict[str, float]], expected: Any, where: object) -> None:
    for row, beliefs in enumerate(found):
        for value in {*beliefs, *expected[row]}:
            assert beliefs.get(value, 0.0) == pytest.approx(float(expected[row].get(value, 0)), abs=NEAR), (where, row)


def by_enumeration(case: Case, release: gh.Release, corrupted: dict[int, str] | None = None) -> Any:
    principle, method, recoding = case.steps()
    return exact_posterior(
        case.external(),
        Rerun(principle=principle, method=method, recoding=recoding),
        release.tables,
        values=Counter(case.values),
        sensitive="s",
        corrupted=corrupted,
        limit_worlds=200,
        limit_runs=600,
    ).of


def groups_of(case: Case) -> list[frozenset[int]]:
    """The partition, from the method itself: the twin is told who is where."""
    table = case.table()
    requirement = Requirement.of(case.principle, table)
    labels = case.method.divide(table, requirement, engine=Memory(threads=1)).labels.tolist()
    return [frozenset(i for i, label in enumerate(labels) if label == g) for g in range(max(labels) + 1)]


def n_worlds(case: Case) -> int:
    """How many ways there are to give every group's values to its people."""
    ways = 1
    for group in groups_of(case):
        ways *= factorial(len(group))
        for count in Counter(case.values[i] for i in group).values():
            ways //= factorial(count)
    return ways


def by_twin(case: Case, corrupted: dict[int, str] | None = None) -> tuple[Any, list[twin.Cut], list[frozenset[int]]]:
    table = case.table()
    codes = list(zip(*(column.codes.tolist() for column in table.quasi), strict=True))
    places = [column.domain.values.to_pylist() for column in table.quasi]
    rank = {name: i for i, name in enumerate(sorted(case.people["id"]))}
    ties = [rank[name] for name in case.people["id"]] if case.named else list(range(len(codes)))
    if isinstance(case.method, gh.Symmetric):
        order = arranged(table, case.method.ordering, (), gh.Source.seeded(0), Memory(threads=1)).tolist()
        tries = twin.symmetric_cuts(order)
    elif isinstance(case.method, gh.EvenSplit):
        tries = twin.even_cuts(codes, places, ties)
    elif case.method.partitioning == "relaxed":
        tries = twin.relaxed_cuts(codes, places, ties)
    else:
        tries = twin.strict_cuts(codes, places)
    groups = groups_of(case)
    failed = twin.failed(len(codes), groups, tries)
    run = case.principle
    if isinstance(run, gh.LDiversity) and not isinstance(case.method, gh.Mondrian):
        run = gh.LDiversity(ell=run.ell + case.method.extra)

    def holds(values: list[str]) -> bool:
        return judged(run, values)

    counts = [Counter(case.values[i] for i in group) for group in groups]
    return twin.beliefs(groups, counts, failed, holds, corrupted), failed, groups


def judged(principle: Any, values: list[str]) -> bool:
    tally, n = Counter(values), len(values)
    match principle:
        case gh.LDiversity():
            return n > 0 and max(tally.values()) * principle.ell <= n
        case gh.DesignatedLDiversity():
            return n > 0 and all(tally[value] * principle.ell <= n for value in principle.values)
        case gh.AlphaKAnonymity():
            return n >= principle.k and max(tally.values()) <= principle.alpha * n
        case gh.KAnonymity():
            return n >= principle.k
    return all(judged(one, values) for one in principle.principles)


METHODS = {
    "strict": gh.Mondrian(),
    "relaxed": gh.Mondrian(partitioning="relaxed"),
    "even": gh.EvenSplit(extra=0),
    "even at l + 1": gh.EvenSplit(),
    "symmetric": gh.Symmetric(extra=0),
    "hilbert": gh.Symmetric(extra=0, ordering="hilbert"),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy()], ids=["boxes", "anatomy"])
def test_beliefs_are_those_of_the_whole_algorithm_run_on_every_world(name: str, recoding: Any) -> None:
    compared = refused = 0
    for seed in range(tables(240, 24)):
        case = random_case(seed, METHODS[name], recoding=recoding, most=7 if name == "strict" else 6)
        release = published_or_none(case)
        if release is None:
            continue
        try:
            found = beliefs_of(case.attack(release), len(case.values))
        except gh.NotSupported:
            refused += 1
            continue
        try:
            expected = by_enumeration(case, release)
        except gh.NotSupported:
            continue
        assert_same(found, expected, (name, seed))
        compared += 1
    assert compared >= tables(9)
    assert name != "strict" or not refused


@pytest.mark.parametrize("name", METHODS)
def test_beliefs_are_those_of_the_slow_twin_also_where_inner_failures_couple_groups(name: str) -> None:
    compared = coupled = telling = 0
    for seed in range(tables(1_200, 120)):
        case = random_case(1000 + seed, METHODS[name], least=6, most=11 if name == "strict" else 9)
        release = published_or_none(case)
        if release is None:
            continue
        try:
            found = case.attack(release)
        except gh.NotSupported:
            continue
        points = set(zip(*(case.people[q] for q in case.names), strict=True))
        if not case.named and name != "strict" and len(points) < len(case.values):
            continue  # the twin is told one order of ties: only the average over all is known
        if n_worlds(case) > 3000:
            continue
        expected, failed, groups = by_twin(case)
        assert_same(beliefs_of(found, len(case.values)), expected, (name, seed))
        compared += 1
        telling += bool(failed)
        coupled += any(sum(all(group & {*part} for part in cut) for group in groups) > 1 for cut in failed)
    assert compared >= tables(90)
    assert telling >= tables(30)
    assert coupled > tables(12) or name not in ("strict", "relaxed")


@pytest.mark.parametrize("name", METHODS)
def test_corrupted_people_are_taken_out_of_what_is_unknown_and_still_count_in_the_tests(name: str) -> None:
    compared = 0
    for seed in range(tables(250)):
        case = random_case(5000 + seed, METHODS[name], least=5, most=9)
        release = published_or_none(case)
        rng = random.Random(seed)
        if release is None or not case.named or n_worlds(case) > 3000:
            continue
        corrupted = {row: case.values[row] for row in rng.sample(range(len(case.values)), rng.randint(1, 3))}
        try:
            found = case.attack(release, corrupted)
        except gh.NotSupported:
            continue
        expected, _, _ = by_twin(case, corrupted)
        assert_same(beliefs_of(found, len(case.values)), expected, (name, seed))
        compared += 1
    assert compared >= tables(10)


def test_people_alike_share_what_a_secret_order_of_ties_leaves_open() -> None:
    compared = 0
    for seed in range(40):
        rng = random.Random(seed)
        n = rng.randint(4, 5)
        case = Case(
            {"q0": [rng.randrange(3) for _ in range(n)]},
            [rng.choice("aabbcd") for _ in range(n)],
            gh.LDiversity(ell=2),
            METHODS[rng.choice(["even", "symmetric", "relaxed"])],
            rng.choice([gh.Boxes(), gh.Anatomy()]),
            named=False,
        )
        release = published_or_none(case)
        if release is None or len(set(case.people["q0"])) == n:
            continue
        try:
            found = case.attack(release)
            expected = by_enumeration(case, release)
        except gh.NotSupported:
            continue
        assert_same(beliefs_of(found, n), expected, seed)
        compared += 1
    assert compared > 5


# --- what the papers say ----------------------------------------------------------------------------------------------


def attack_of(table: gh.Microdata, principle: Any, method: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gh.DisclosureWarning)
        release = gh.publish(table, principle=principle, method=method, recoding=gh.Boxes(), source=gh.Source.seeded(1))
    knowledge = gh.Knowledge(external=table)
    return CutsNotMade(most_states=300_000).attack(release, knowledge, (principle, method, gh.Boxes()))


def test_the_two_people_of_figure_6b_are_believed_positive_with_certainty() -> None:
    table = gh.examples.minimality_figure6b()
    found = attack_of(table, gh.DesignatedLDiversity(ell=2, values=("Positive",)), gh.Mondrian())

    assert [found.of(row).get("Positive", 0.0) for row in range(6)] == [1, 1, 0, 0, 0, 0]
    assert found.how == "exact"


def test_the_third_of_five_people_on_a_line_is_given_away_by_a_second_choice() -> None:
    people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1], "s": list("bcaad")}
    found = attack_of(gh.read(people, quasi=["x", "y"], sensitive="s"), gh.LDiversity(ell=2), gh.Mondrian())

    assert found.worst() == (2, "a", 1.0)
    assert "the cut between x 2 and 3 was rejected" in found.because(int(found.kind[2]), 0)


@pytest.mark.parametrize("ell", [2, 3, 4])
@pytest.mark.parametrize("method", [gh.EvenSplit(extra=0), gh.Symmetric(extra=0)], ids=["even", "symmetric"])
def test_the_worst_belief_after_even_splits_is_2_in_2l_less_1_with_4l_less_1_people(ell: int, method: Any) -> None:
    n = 4 * ell - 1
    # both tuples of the one frequent value are in the smaller half, which may hold one of them
    first = 0 if isinstance(method, gh.EvenSplit) else 2 * ell
    values = ["a" if i in (first, first + 1) else f"v{i}" for i in range(n)]
    table = gh.read({"x": list(range(n)), "s": values}, quasi=["x"], sensitive="s")
    found = attack_of(table, gh.LDiversity(ell=ell), method)

    assert found.worst().value == "a"
    assert found.worst().belief == pytest.approx(2 / (2 * ell - 1))


def test_a_belief_that_no_failed_cut_concerns_is_the_value_s_share_of_the_group() -> None:
    table = gh.read({"x": [1, 2, 3], "s": list("abc")}, quasi=["x"], sensitive="s")
    found = attack_of(table, gh.LDiversity(ell=2), gh.Mondrian())

    assert found.of(0) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert found.because(0, 0) == "1 of 3 records of the group has the value"


# --- counting ---------------------------------------------------------------------------------------------------------


def random_profile(seed: int) -> Profile:
    rng = random.Random(seed)
    n_cuts, n_groups = rng.randint(1, 3), rng.randint(1, 2)
    cells, sizes = [], []
    for group in range(n_groups):
        sides = {tuple(rng.choice((0, 1)) for _ in range(n_cuts)) for _ in range(4)}
        cells += [Cell(group, side, rng.randint(1, 3)) for side in sorted(sides)]
        sizes.append(sum(cell.people for cell in cells if cell.group == group))
    types: Counter[Any] = Counter()
    left = list(sizes)
    while any(left):
        counts = tuple(rng.randint(0, min(4, n)) for n in left)
        if any(counts):
            left = [n - t for n, t in zip(left, counts, strict=True)]
            types[counts, tuple(rng.randint(0, 3) for _ in range(2 * n_cuts))] += 1
    return Profile(n_cuts, tuple(cells), tuple(Type(*key, n) for key, n in sorted(types.items())))


@pytest.mark.parametrize("kernels", [compiled, interpreted], ids=["compiled", "interpreted"])
def test_floating_point_gives_what_whole_numbers_give(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_worlds, "compiled", kernels)
    possible = 0
    for seed in range(60 if kernels is interpreted else 300):
        profile = random_profile(seed)
        exact = cut_worlds.exact_beliefs(profile, 10**6)
        found = cut_worlds.beliefs_of(profile, 10**6, telling=0.0 if exact else 1.0, few=0)
        if exact is None:
            assert found is None
            continue
        possible += 1
        assert found == pytest.approx(np.array([[float(b) for b in row] for row in exact]), abs=NEAR)
    assert possible > 20


def test_where_floating_point_would_cancel_whole_numbers_are_used() -> None:
    profile = random_profile(next(seed for seed in range(99) if cut_worlds.exact_beliefs(random_profile(seed), 10**6)))
    exact = cut_worlds.exact_beliefs(profile, 10**6)
    assert exact is not None

    assert cut_worlds.beliefs_of(profile, 10**6, telling=2.0) == [[float(b) for b in row] for row in exact]


@pytest.mark.parametrize("kernels", [compiled, interpreted], ids=["compiled", "interpreted"])
def test_drawn_beliefs_are_as_near_as_they_say(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_worlds, "compiled", kernels)
    off = []
    for seed in range(10 if kernels is interpreted else 60):
        profile = random_profile(seed)
        exact = cut_worlds.exact_beliefs(profile, 10**6)
        if exact is None:
            continue
        try:
            found, errors = cut_worlds.drawn_beliefs(profile, 0.03, gh.Source.seeded(seed), 20_000)
        except cut_worlds.TooManyStates:
            continue
        assert np.max(errors) <= 0.03
        difference = np.abs(np.array(found) - np.array([[float(b) for b in row] for row in exact]))
        off += (difference > errors).ravel().tolist()
    assert len(off) > 50
    assert np.mean(off) < 0.12


def test_what_takes_too_many_states_is_sampled_near_to_what_is_counted_and_refused_if_no_error_is_allowed() -> None:
    sampled = 0
    for seed in range(120):
        case = random_case(1000 + seed, METHODS["strict"], least=8, most=14)
        release = published_or_none(case)
        if release is None:
            continue
        exact = case.attack(release)
        try:
            found = case.attack(release, most_states=0, source=gh.Source.seeded(seed))
        except gh.InputError:
            continue
        assert found.how in ("sampled", "exact")
        if found.errors is not None:
            sampled += 1
            assert np.abs(found.beliefs - exact.beliefs).max() < 0.08
            with pytest.raises(gh.NotSupported, match="cannot be considered separately, because the method rejected"):
                case.attack(release, most_states=0, error=0)
    assert sampled > 10


def test_what_is_left_to_a_chain_is_near_to_what_is_counted_and_what_it_does_not_settle_is_not_said() -> None:
    walked = unsaid = coupled = nobody = 0
    for seed in range(60):
        case = random_case(1000 + seed, METHODS["strict"], least=8, most=14)
        release = published_or_none(case)
        if release is None:
            continue
        n, chains = len(case.values), {"most_states": 0, "most_draws": 0, "source": gh.Source.seeded(seed)}
        exact = beliefs_of(case.attack(release), n)
        settled = case.attack(release, error=0.05, **chains)
        for row, beliefs in enumerate(beliefs_of(settled, n)):
            for value in {*beliefs, *exact[row]} if beliefs else ():
                assert abs(beliefs.get(value, 0.0) - exact[row].get(value, 0.0)) < 0.12, (seed, row)
        walked += settled.errors is not None and bool((settled.errors > 0).any())
        coupled += any("; 0 of these sets have several groups" not in note for note in settled.notes[:1])

        try:
            refused = case.attack(release, most_moves=0, **chains)
        except gh.NotSupported as refusal:
            nobody += "for anybody" in refusal.what
            continue
        told = beliefs_of(refused, n)
        silent = [row for row in range(n) if not told[row]]
        assert len(silent) == refused.n_unknown < n
        assert_same([told[row] or exact[row] for row in range(n)], exact, seed)
        assert bool(silent) == any("there is no result for" in note for note in refused.notes)
        unsaid += bool(silent)
    assert min(walked, unsaid, coupled, nobody) > 5, (walked, unsaid, coupled, nobody)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_an_attacker_who_does_not_know_exactly_the_people_in_the_table_is_refused() -> None:
    case = random_case(0, METHODS["strict"])
    case.principle = gh.LDiversity(ell=2)
    case.values = [f"v{row // 2}" for row in range(len(case.values))]
    release = case.publish()
    fewer = case.external().take(np.arange(len(case.values) - 1))

    with pytest.raises(gh.NotSupported, match="exactly the people"):
        CutsNotMade().attack(release, gh.Knowledge(external=fewer), case.steps())


def test_principles_that_do_not_cap_shares_are_refused() -> None:
    case = random_case(0, METHODS["strict"])
    case.principle = gh.LDiversity(ell=2)
    case.values = [f"v{row // 2}" for row in range(len(case.values))]
    release = case.publish()
    steps = gh.EntropyLDiversity(ell=2), *case.steps()[1:]

    with pytest.raises(gh.NotSupported, match="sets no largest share"):
        CutsNotMade().attack(release, gh.Knowledge(external=case.external()), steps)


def test_a_release_of_another_algorithm_is_seen_to_be_one() -> None:
    found = 0
    for seed in range(60):
        case = random_case(seed, METHODS["even"], least=7)
        release = published_or_none(case)
        if release is None:
            continue
        steps = case.principle, gh.Mondrian(), case.recoding
        try:
            CutsNotMade().attack(release, gh.Knowledge(external=case.external()), steps)
        except (gh.InputError, gh.NotSupported):
            found += 1
    assert found > 0
