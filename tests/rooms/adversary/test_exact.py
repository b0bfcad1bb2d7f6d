# SPDX-License-Identifier: Apache-2.0
"""The adversary who knows the algorithm, exactly: the papers' examples, and every belief beside its slow twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.worlds import replay as rerun
from glasshouse.adversary.reverse_engineering.worlds.draws import chances, every_run
from glasshouse.adversary.reverse_engineering.worlds.enumeration import ExactBeliefs, exact_posterior
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun, as_it_stands, up_to_numbering
from glasshouse.adversary.reverse_engineering.worlds.worlds import Worlds
from glasshouse.microdata.domains import code
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import people as table_of
from tests.specimens import Mask, VulGen
from tests.tiers import tables
from tests.twins import attack, by_force, enumerating, mondrian, optimal, transparent
from tests.twins.anatomize import anatomize
from tests.twins.by_force import Case
from tests.twins.by_force_recodings import RECODINGS
from tests.twins.greedy import frequency_diverse, gg, lexicographic, rgg, sg
from tests.twins.mondrian import Partition, Row

ONE, HALF = Fraction(1), Fraction(1, 2)
PAIRS = gh.LDiversity(ell=2)

# --- every choice there is -------------------------------------------------------------------------------------------


def program(seed: int) -> Callable[[Any], Any]:
    """A random algorithm: what it draws, and whether it draws more, depends on what it has drawn."""

    def run(draws: Any) -> Any:
        random = Random(seed)
        found: list[Any] = []
        for _ in range(random.randrange(1, 4)):
            source = random.choice([draws, draws.child("a"), draws.child("a", len(found)), draws.child("b").child(1)])
            kind = random.randrange(8)
            if kind == 0:
                found.append(source.below(random.choice((1, 2, 3))))
            elif kind == 1:
                found.extend(source.belows(np.array([1, 2, random.choice((1, 3))])).tolist())
            elif kind == 2:
                found.extend(source.belows(2, random.randrange(3)).tolist())
            elif kind == 3:
                found.extend(source.permutation(random.randrange(4)).tolist())
            elif kind == 4:
                array = np.array([random.randrange(2) for _ in range(random.randrange(5))], np.int32)
                source.shuffle(array)
                found.extend(array.tolist())
            elif kind == 5:
                array = np.array([random.randrange(3) for _ in range(4)], np.int64)
                source.shuffle_runs(array, np.array([0, 1, 1, 4]))
                found.extend(array.tolist())
            elif kind == 6:
                found.extend(source.choose(n := random.randrange(5), random.randrange(n + 1)).tolist())
            else:
                found.append(source.bernoulli(random.randrange(5), 4))
            if sum(map(int, found)) % 3 == 1:
                found.append(draws.coin())
        return tuple(map(int, found))

    return run


def test_every_result_has_the_probability_that_the_slow_twin_finds() -> None:
    compared = 0
    for seed in range(400):
        try:
            expected = enumerating.distribution(program(seed), limit=3000)
            found, n_runs = chances(program(seed))
        except (RuntimeError, gh.NotSupported):  # a stream taken twice for draws of different kinds
            continue
        assert found == expected, seed
        assert n_runs >= len(found)
        compared += 1
    assert compared > 300


def test_a_subset_a_coin_and_a_shuffle_of_equal_things_cost_no_more_runs_than_they_have_outcomes() -> None:
    def shuffled(draws: Any) -> tuple[int, ...]:
        array = np.array([0, 0, 0, 1, 1])
        draws.shuffle(array)
        return tuple(array.tolist())

    assert len(list(every_run(lambda draws: draws.choose(6, 3)))) == 20
    assert len(list(every_run(lambda draws: draws.bernoulli(999, 10**9)))) == 2
    assert {probability for probability, _ in every_run(shuffled)} == {Fraction(1, 10)}


def test_the_same_stream_taken_twice_makes_the_same_choices_and_others_do_not() -> None:
    runs = list(every_run(lambda draws: (draws.child("a").below(3), draws.child("a").below(3), draws.child(1).coin())))

    assert len(runs) == 6
    assert all(first == again for _, (first, again, _) in runs)


def test_too_many_runs_are_refused_with_their_number_before_they_are_made() -> None:
    made = []

    def big(draws: Any) -> None:
        made.append(draws.below(10**12))

    with pytest.raises(gh.NotSupported, match=r"at least 1,000,000,000,000 different sequences.*5,000 are allowed"):
        list(every_run(big, limit=5000))
    assert not made
    assert len(list(every_run(lambda draws: draws.permutation(4), limit=24))) == 24
    with pytest.raises(gh.NotSupported, match="at least 24 different sequences"):
        list(every_run(lambda draws: draws.permutation(4), limit=23))


def test_going_through_worlds_tells_how_far_it_is_and_obeys_the_limit_of_runs() -> None:
    people = {"x": [1, 2, 3, 4, 5, 6], "y": [6, 5, 4, 3, 2, 1]}
    table = gh.read({**people, "s": list("abcabc")}, quasi=["x", "y"], sensitive="s")
    release = gh.publish(table, principle=PAIRS, method=gh.Mondrian(), recoding=gh.Boxes())
    knowledge = gh.Knowledge(external=gh.read(people, quasi=["x", "y"]))
    told: list[float] = []

    gh.attack(release, gh.ReverseEngineering(how="exact", progress=told.append), knowledge=knowledge)
    assert told == sorted(told)
    assert 0 == told[0] < told[-1] <= 1
    with pytest.raises(gh.NotSupported, match="5 runs are allowed"):
        exact_posterior(
            knowledge.external, (PAIRS, gh.Mondrian(), gh.Boxes()), release.tables,
            values={"a": 2, "b": 2, "c": 2}, sensitive="s", limit_runs=5,
        )  # fmt: skip


def test_an_algorithm_that_is_decided_by_more_than_its_draws_is_refused() -> None:
    calls: list[int] = []

    def moody(draws: Any) -> int:
        calls.append(0)
        return sum(draws.below(2 + (len(calls) > 1)) for _ in range(2))

    def tired(draws: Any) -> None:
        calls.append(0)
        if len(calls) == 1:
            draws.below(2)

    with pytest.raises(gh.NotSupported, match="made other random choices"):
        list(every_run(moody))
    calls.clear()
    with pytest.raises(gh.NotSupported, match="made fewer random choices"):
        list(every_run(tired))
    with pytest.raises(gh.NotSupported, match="same stream of random numbers twice"):
        list(every_run(lambda draws: (draws.child("a").below(2), draws.child("a").below(3))))
    with pytest.raises(AttributeError, match="random choices are from a finite set"):
        list(every_run(lambda draws: draws.normal()))


# --- worlds ----------------------------------------------------------------------------------------------------------


def as_dict(world: Any) -> dict[Any, Any]:
    return dict(zip(world.present, world.values, strict=True))


def frozen(worlds: Iterable[Mapping[Any, Any]]) -> list[Any]:
    return sorted(tuple(sorted(world.items())) for world in worlds)


def test_worlds_are_those_of_the_slow_twin_and_are_counted_without_being_listed() -> None:
    for case in by_force.random_cases(1, 30, people=(2, 4, 5), extra=(0, 1, 2), max_worlds=500):
        worlds = Worlds(n_people=len(case.codes), values=Counter(case.values))
        listed = [as_dict(world) for world in worlds]

        assert frozen(listed) == frozen(by_force.worlds_of(case))
        assert worlds.count == len(listed)


@pytest.mark.parametrize("n", [None, 2, range(4), [0, 3]])
def test_without_counts_everybody_may_have_any_value(n: Any) -> None:
    worlds = Worlds(n_people=3, values="ab", n=n)

    assert frozen(map(as_dict, worlds)) == frozen(attack.worlds(range(3), "ab", n))
    assert worlds.count == len(list(worlds))


@pytest.mark.parametrize("corrupted", [{}, {0: "a"}, {1: "b", 3: "a"}, {0: "b", 1: "b"}, {2: "z"}])
@pytest.mark.parametrize("absent", [(), (4,)])
@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("may", [None, {0: "ac", 2: "", 3: "abc"}])
def test_knowledge_rules_worlds_out_and_nothing_else_does(corrupted: Any, absent: Any, n: int, may: Any) -> None:
    # Three values are published of a table of n.
    worlds = Worlds(n_people=5, values={"a": 2, "b": 1, "c": 0}, n=n, corrupted=corrupted, absent=absent, may=may)
    possible = [
        world
        for world in attack.worlds(range(5), "abc", n)
        if Counter(world.values()) >= Counter("aab")
        and all(world.get(row) == value for row, value in corrupted.items())
        and not set(absent) & set(world)
        and all(value in (may or {}).get(row, "abc") for row, value in world.items())
    ]

    assert frozen(map(as_dict, worlds)) == frozen(possible)
    assert worlds.count == len(possible)


def test_more_worlds_than_allowed_are_refused_with_their_number() -> None:
    people = table_of([(i,) for i in range(30)], [0] * 30)

    with pytest.raises(gh.NotSupported, match="155,117,520 possible tables, and only 100,000 are allowed"):
        exact_posterior(people, (PAIRS, gh.Tailor(), gh.Boxes()), {}, values={"a": 15, "b": 15})
    for wrong in (
        {"n": 1},
        {"n": 31},
        {"corrupted": {30: "a"}},
        {"absent": [-1]},
        {"corrupted": {3: "a"}, "absent": [3]},
    ):
        with pytest.raises(gh.InputError):
            Worlds(n_people=30, values={"a": 1, "b": 1}, **wrong)


# --- beliefs beside their slow twins ---------------------------------------------------------------------------------

Twin = Callable[[list[Row], Case, Any], Partition]


def in_order(rows: list[Row]) -> list[int]:
    return lexicographic(rows)


METHODS: dict[str, tuple[Any, Twin]] = {
    "Tailor": (gh.Tailor(), lambda rows, case, _: transparent.tailor(rows, case.positions, case.ell)),
    "Hybrid": (gh.Hybrid(), lambda rows, case, draws: transparent.hybrid(rows, case.positions, case.ell, draws)),
    "Ace": (gh.Ace(), lambda rows, case, draws: transparent.ace(rows, case.positions, case.ell, draws)),
    "Anatomize": (gh.Anatomize(), lambda rows, case, draws: anatomize(rows, case.ell, draws)),
    "strict Mondrian": (
        gh.Mondrian(),
        lambda rows, case, _: mondrian.strict(rows, case.positions, frequency_diverse(case.ell)),
    ),
    "Greedy": (
        gh.Greedy(),
        lambda rows, case, _: gg(rows, case.ell, frequency_diverse(case.ell), in_order(rows)),
    ),
    "RandomisedGreedy": (
        gh.RandomisedGreedy(p="1/3"),
        lambda rows, case, draws: rgg(
            rows, case.ell, frequency_diverse(case.ell), Fraction(1, 3), draws, in_order(rows)
        ),
    ),
    "Symmetric": (
        gh.Symmetric(extra=0),
        lambda rows, case, _: sg(rows, frequency_diverse(case.ell), in_order(rows)),
    ),
}


def boxes_of(release: Any, case: Case) -> pa.Table:
    """The rows of `by_force.by_boxes` as a table, written as the documentation says."""
    columns: dict[str, list[str]] = {f"q{dim}": [] for dim in range(len(case.positions))}
    for box, _ in release:
        for dim, (low, high) in enumerate(box):
            ends = case.positions[dim][low], case.positions[dim][high]
            columns[f"q{dim}"].append(str(ends[0]) if low == high else f"[{ends[0]}, {ends[1]}]")
    return pa.table({**columns, "sensitive": [f"s{value:05}" for _, value in release]})


def anatomy_of(release: Any, case: Case) -> dict[str, pa.Table]:
    """The groups of `by_force.by_values` as QIT and ST, numbered from the last."""
    qit: list[Any] = []
    st: list[Any] = []
    for number, (codes, values) in enumerate(reversed(release), 1):
        qit.extend((*(case.positions[dim][x] for dim, x in enumerate(cell)), number) for cell in codes)
        st.extend((number, f"s{value:05}", count) for value, count in Counter(values).items())
    names = [*(f"q{dim}" for dim in range(len(case.positions))), "Group-ID"]
    return {
        "qit": pa.table(dict(zip(names, map(list, zip(*qit, strict=True)), strict=True))),
        "st": pa.table(dict(zip(["Group-ID", "sensitive", "Count"], map(list, zip(*st, strict=True)), strict=True))),
    }


SHOWN: dict[str, tuple[Any, by_force.Recode, Callable[[Any, Case], Any]]] = {
    "boxes": (gh.Boxes(), by_force.by_boxes, boxes_of),
    "anatomy": (gh.Anatomy(), by_force.by_values, anatomy_of),
}


def evidence_of(twin: Twin, case: Case, recode: by_force.Recode) -> by_force.Evidence:
    def method(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Partition:
        return twin(by_force.rows_of(codes, sensitive), case, draws)

    return by_force.evidence_of(method, case.codes, by_force.worlds_of(case), recode)


def people_of(case: Case) -> gh.Microdata:
    """Everybody on the list; the sensitive column must not matter."""
    return table_of(case.codes, [0] * len(case.codes), case.positions)


def named(values: Iterable[int]) -> Counter[str]:
    return Counter(f"s{value:05}" for value in values)


def flat(found: ExactBeliefs) -> dict[tuple[int, str], Fraction]:
    return {(row, value): belief for row, beliefs in found.of.items() for value, belief in beliefs.items()}


def renamed(beliefs: by_force.Beliefs) -> dict[tuple[Any, str], Fraction]:
    return {(person, f"s{value:05}"): belief for (person, value), belief in beliefs.items()}


def telling(evidence: by_force.Evidence) -> list[tuple[Any, by_force.Weights]]:
    """The release after which the attacker believes most, and the one which the fewest worlds give most unequally."""
    releases = sorted(evidence.releases.items())
    worst = max(releases, key=lambda item: max(by_force.beliefs_after(item[1]).values()))
    unequal = max(releases, key=lambda item: len({likelihood for _, likelihood in item[1]}))
    return [worst] if worst[0] == unequal[0] else [worst, unequal]


def compare(name: str, shown: str, cases: Iterable[Case]) -> Counter[str]:
    method, twin = METHODS[name]
    recoding, recode, written = SHOWN[shown]
    done = Counter[str]()
    for case in cases:
        algorithm = (gh.LDiversity(ell=case.ell), method, recoding)
        for release, weights in telling(evidence_of(twin, case, recode)):
            found = exact_posterior(people_of(case), algorithm, written(release, case), values=named(case.values))

            assert flat(found) == renamed(by_force.beliefs_after(weights)), (name, shown, case, release)
            assert found.n_possible == len(weights)
            assert found.presence == {i: sum(found.of[i].values(), Fraction(0)) for i in range(len(case.codes))}
            done["releases"] += 1
            done["above"] += found.worst()[2] * case.ell > 1
            done["divided"] += len(weights) < found.n_worlds
            done["unequal"] += len({likelihood for _, likelihood in weights}) > 1
    return done


SMALL: dict[str, Any] = {"n_values": (3, 4, 5), "ells": (2, 2, 3)}
SAFE = ("Tailor", "Hybrid", "Ace", "Anatomize")
ONE_RUN = ("Tailor", "strict Mondrian", "Greedy", "Symmetric")  # a world: more of them can be tried


def sized(name: str, n_tables: int, **choices: Any) -> dict[str, Any]:
    """So many tables of a size that a method can be run on."""
    few = name not in ONE_RUN
    return {"n_cases": n_tables // (1 + few), "max_worlds": 45 if few else 100, **SMALL, **choices}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("name", METHODS)
def test_beliefs_are_those_of_the_slow_twin(name: str, shown: str) -> None:
    done = compare(name, shown, by_force.random_cases(31, people=(4, 5, 6), **sized(name, tables(90, 9))))

    assert done["divided"] > 0
    assert done["above"] == 0 or name not in SAFE


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("name", METHODS)
def test_beliefs_are_those_of_the_slow_twin_where_people_are_outside_the_table(name: str, shown: str) -> None:
    cases = by_force.random_cases(32, people=(4, 5), extra=(1, 2), **sized(name, tables(40)))

    assert compare(name, shown, cases)["divided"] > 0


@pytest.mark.parametrize("name", ["strict Mondrian", "Greedy"])
def test_beliefs_above_what_was_promised_are_among_those_compared(name: str) -> None:
    falling = tuple((i, 4 - i) for i in range(5))  # the second attribute falls as the first rises
    line = tuple((i,) for i in range(7))
    cases = [
        Case(falling, (tuple(range(5)),) * 2, (0, 0, 1, 2, 3), 2),
        Case(line, (tuple(range(7)),), (0, 0, 1, 1, 1, 2, 2), 2),
    ]

    assert compare(name, "boxes", cases)["above"] > 0


def test_a_release_that_worlds_give_with_unequal_probability_is_among_those_compared() -> None:
    cases = by_force.random_cases(31, people=(4, 5, 6), **sized("RandomisedGreedy", 24))

    assert compare("RandomisedGreedy", "anatomy", cases)["unequal"] > 0


@pytest.mark.parametrize("shown", ["permutation", "angel", "angel with two marginals"])
@pytest.mark.parametrize("name", ["strict Mondrian", "Ace"])
def test_beliefs_after_other_recodings_are_those_of_the_slow_twin(name: str, shown: str) -> None:
    method, twin = METHODS[name]
    compared = 0
    for case in by_force.random_cases(33, tables(120, 12), people=(4, 5), extra=(0, 1), max_worlds=60, **SMALL):
        names = [f"q{dim}" for dim in range(len(case.positions))]
        marginals = () if shown == "angel" else ((*names, "sensitive"), (names[-1], "sensitive"))
        if len(names) == 1 and shown == "angel with two marginals":
            continue  # the two would be one
        recoding = gh.Permutation() if shown == "permutation" else gh.Angel(k=2, marginals=marginals)
        algorithm = Rerun(principle=gh.LDiversity(ell=case.ell), method=method, recoding=recoding)
        releases = evidence_of(twin, case, RECODINGS[shown]).releases
        world = next(by_force.worlds_of(case))
        present = [case.codes[person] for person in world]
        published = gh.publish(
            table_of(present, list(world.values()), case.positions),
            principle=algorithm.principle,
            method=method,
            recoding=recoding,
            source=gh.Source.seeded(compared),
        )
        found = exact_posterior(people_of(case), algorithm, published, values=named(case.values))

        assert flat(found) in [renamed(by_force.beliefs_after(weights)) for weights in releases.values()]
        compared += 1
    assert compared >= 3


# --- what the attacker brings along ----------------------------------------------------------------------------------


def conditioned(weights: by_force.Weights, weight: Callable[[by_force.World], Fraction]) -> by_force.Beliefs:
    return by_force.beliefs_after([(world, weight(world) * chance) for world, chance in weights if weight(world)])


def product_of(prior: Callable[[Any, Any], Fraction]) -> Callable[[by_force.World], Fraction]:
    def weight(world: by_force.World) -> Fraction:
        found = ONE
        for person, value in world.items():
            found *= prior(person, value)
        return found

    return weight


@pytest.mark.parametrize("name", ["strict Mondrian", "Ace", "RandomisedGreedy"])
def test_priors_and_corruption_weigh_the_worlds_and_change_nothing_else(name: str) -> None:
    method, twin = METHODS[name]
    random = Random(7)
    for case in by_force.random_cases(34, tables(50, 5), people=(4, 5), extra=(0, 1), max_worlds=40, **SMALL):
        release, weights = telling(evidence_of(twin, case, by_force.by_boxes))[0]
        values = sorted(set(case.values))

        def believed(release: Any = release, case: Case = case, **knowledge: Any) -> dict[Any, Fraction]:
            algorithm = (gh.LDiversity(ell=case.ell), method, gh.Boxes())
            return flat(
                exact_posterior(
                    people_of(case), algorithm, boxes_of(release, case), values=named(case.values), **knowledge
                )
            )

        own = {row: {value: Fraction(random.randrange(1, 5)) for value in values} for row in range(len(case.codes))}
        shares = {row: {value: w / sum(own[row].values()) for value, w in own[row].items()} for row in own}
        expected = conditioned(weights, product_of(lambda person, value, shares=shares: shares[person][value]))
        given = {row: {f"s{value:05}": weight for value, weight in own[row].items()} for row in own}
        assert believed(prior=given) == renamed(expected)

        everybody = {f"s{value:05}": 0.5 for value in values}
        assert believed(prior=everybody) == believed() == renamed(by_force.beliefs_after(weights))
        assert believed(prior={0: everybody}) == believed()

        world = random.choice(weights)[0]
        victim = random.choice(sorted(world, key=str))
        expected = conditioned(weights, lambda w, p=victim, v=world[victim]: Fraction(w.get(p) == v))
        assert believed(corrupted={victim: f"s{world[victim]:05}"}) == renamed(expected)
        outside = [person for person in range(len(case.codes)) if person not in world]
        for person in outside[:1]:
            expected = conditioned(weights, lambda w, p=person: Fraction(p not in w))
            assert believed(absent=[person]) == renamed(expected)


def test_a_prior_says_nothing_of_who_is_in_the_table_however_large_its_weights_are() -> None:
    # Three people who are alike, two of them in the table.
    people = table_of([(0,), (0,), (0,)], [0] * 3)
    release = gh.Boxes().recode(table_of([(0,), (0,)], [0, 1]), gh.Groups(np.zeros(2, np.int32), 1))
    algorithm = (PAIRS, gh.Tailor(), gh.Boxes())
    prior = {0: {"s00000": 10, "s00001": 10}, 1: {"s00000": 1, "s00001": 1}}
    found = exact_posterior(people, algorithm, release, values={"s00000": 1, "s00001": 1}, prior=prior)
    any_size = exact_posterior(
        people, lambda table, rng: "nothing", "nothing", values="ab", n=range(4), prior={"a": 7, "b": 7}
    )

    assert set(found.presence.values()) == {Fraction(2, 3)}
    assert set(any_size.presence.values()) == {Fraction(2, 3)}  # a, b or absent: 27 worlds, all alike


@pytest.mark.parametrize("name", ["strict Mondrian", "Hybrid"])
def test_worlds_that_cannot_have_given_the_release_may_be_left_out(name: str) -> None:
    method, twin = METHODS[name]
    fewer = 0
    for case in by_force.random_cases(35, tables(30, 3), people=(4, 5), extra=(0, 1), max_worlds=60, **SMALL):
        release, weights = telling(evidence_of(twin, case, by_force.by_boxes))[0]
        covered = {
            row: {
                f"s{value:05}"
                for box, value in release
                if all(low <= x <= high for x, (low, high) in zip(case.codes[row], box, strict=True))
            }
            for row in range(len(case.codes))
        }
        found = exact_posterior(
            people_of(case),
            (gh.LDiversity(ell=case.ell), method, gh.Boxes()),
            boxes_of(release, case),
            values=named(case.values),
            may=covered,
        )

        assert flat(found) == renamed(by_force.beliefs_after(weights))
        fewer += found.n_worlds < Worlds(n_people=len(case.codes), values=named(case.values)).count
    assert fewer > 0


def test_everybody_else_corrupted_leaves_no_doubt() -> None:
    # CORRUPTION Lemma 2.
    table = gh.examples.transparent_t1()
    diseases = table.sensitive[0].domain.decode(table.sensitive[0].codes).to_pylist()
    release = gh.publish(table, principle=PAIRS, method=gh.Hybrid(), recoding=gh.Anatomy())
    found = exact_posterior(
        table,
        (PAIRS, gh.Hybrid(), gh.Anatomy()),
        release,
        values=Counter(diseases),
        sensitive="Disease",
        corrupted=dict(enumerate(diseases[:-1])),
    )

    assert found.of[7] == {diseases[-1]: 1}
    assert found.n_worlds == 1


def test_a_prior_must_leave_something_possible_and_be_numbers() -> None:
    people = table_of([(0,), (1,)], [0, 0])
    release = gh.Boxes().recode(table_of([(0,), (1,)], [0, 1]), gh.Groups(np.zeros(2, np.int32), 1))
    algorithm = (PAIRS, gh.Tailor(), gh.Boxes())
    values = {"s00000": 1, "s00001": 1}

    for prior in ({"s00000": -1}, {"s00000": "many"}, {"other": 1}, {0: {"s00000": 0}}):
        with pytest.raises(gh.InputError):
            exact_posterior(people, algorithm, release, values=values, prior=prior)


def test_a_release_that_no_world_gives_is_said_to_be_one() -> None:
    people = table_of([(0,), (1,)], [0, 0])
    release = gh.Boxes().recode(table_of([(0,), (2,)], [0, 1]), gh.Groups(np.zeros(2, np.int32), 1))

    with pytest.raises(gh.InputError, match="no table of these people"):
        exact_posterior(people, (PAIRS, gh.Tailor(), gh.Boxes()), release, values={"s00000": 1, "s00001": 1})


def test_runs_are_counted_over_all_worlds_and_refused_beyond_the_limit() -> None:
    case = Case(((0,), (1,), (2,), (3,)), (tuple(range(4)),), (0, 0, 1, 1), 2)
    release, _ = telling(evidence_of(METHODS["Anatomize"][1], case, by_force.by_boxes))[0]
    arguments: Any = (people_of(case), (PAIRS, gh.Anatomize(), gh.Boxes()), boxes_of(release, case))
    n_runs = exact_posterior(*arguments, values=named(case.values)).n_runs

    assert n_runs == 4 * 6
    assert exact_posterior(*arguments, values=named(case.values), limit_runs=n_runs).n_runs == n_runs
    with pytest.raises(gh.NotSupported, match="3 are allowed"):
        exact_posterior(*arguments, values=named(case.values), limit_runs=n_runs - 1)


# --- ties ------------------------------------------------------------------------------------------------------------

TIED = [
    gh.Tailor(),
    gh.Hybrid(),
    gh.EvenSplit(extra=0),
    gh.Mondrian(partitioning="relaxed"),
    gh.Greedy(),
    gh.Symmetric(extra=0),
]


@pytest.mark.parametrize("method", TIED, ids=repr)
def test_without_identifiers_only_orders_that_can_matter_are_tried_and_no_chance_changes(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithm = Rerun(principle=PAIRS, method=method, recoding=gh.Permutation())
    saved = 0
    for codes, values in [
        (((0, 0), (0, 1), (1, 2), (2, 3), (3, 3)), (0, 1, 2, 3, 4)),
        (((0,), (0,), (1,), (2,)), (0, 1, 2, 3)),
        (((0, 1), (1, 0), (2, 2), (3, 3)), (0, 1, 0, 1)),
        (((0, 0), (0, 0), (1, 1), (1, 1)), (0, 1, 2, 3)),
    ]:
        table = replace(table_of(codes, values), identifier=None)
        few, n_few = algorithm.chances(table, 100_000)
        with monkeypatch.context() as patch:
            patch.setattr(rerun, "_Ties", lambda draws, table: draws)
            many, n_many = algorithm.chances(table, 100_000)
        assert few == many
        saved += n_many - n_few
    assert saved > 0 or method in (gh.Greedy(), gh.Symmetric(extra=0))  # these ask for ties alone


# --- reading ---------------------------------------------------------------------------------------------------------


def test_worlds_are_read_as_the_publisher_would_have_read_them() -> None:
    # Who is not in the table must not stretch its ranges: Tailor weighs an attribute by its range.
    columns = {"id": [1, 2, 3, 4, 5], "x": [0, 1, 2, 3, 1000], "y": [0, 9, 1, 8, 4]}
    table = gh.read(
        {name: [*values[:4]] for name, values in columns.items()} | {"s": list("abcd")},
        identifier="id",
        quasi=["x", "y"],
        sensitive="s",
    )
    for method in (gh.Tailor(), gh.Mondrian()):
        release = gh.publish(table, principle=PAIRS, method=method, recoding=gh.Boxes())
        people = gh.read(columns, identifier="id", quasi=["x", "y"])
        found = exact_posterior(people, (PAIRS, method, gh.Boxes()), release, values=Counter("abcd"), sensitive="s")
        assert found.presence == {0: 1, 1: 1, 2: 1, 3: 1, 4: 0}


def test_taxonomies_orders_and_missing_values_are_those_of_the_imagined_table() -> None:
    tree = gh.Taxonomy.from_nested({"all": {"west": ["a", "b"], "east": ["c", "d"]}})
    columns = {
        "place": ["a", "b", "c", "d", "d"],
        "grade": ["low", "high", "middle", "low", None],
        "when": [1, 2, 3, None, 5],
    }
    options: Any = {
        "quasi": ["place", "grade", "when"],
        "taxonomies": {"place": tree},
        "ordered": {"grade": ["low", "middle", "high"]},
        "missing": "category",
    }
    table = gh.read({name: v[:4] for name, v in columns.items()} | {"s": list("uvwx")}, sensitive="s", **options)
    people = gh.read(columns, **options)
    for recoding in (gh.Boxes(), gh.Taxonomies(), gh.Anatomy()):
        if isinstance(recoding, gh.Taxonomies):
            table, people = (replace(t, quasi=t.quasi[:1]) for t in (table, people))
        release = gh.publish(table, principle=PAIRS, method=gh.Mondrian(), recoding=recoding)
        found = exact_posterior(
            people, (PAIRS, gh.Mondrian(), recoding), release, values=Counter("uvwx"), sensitive="s"
        )
        assert all(found.presence[row] > 0 for row in range(4))


def test_the_order_of_a_sensitive_domain_reaches_the_principle() -> None:
    domain = code(pa.array(["low", "middle", "high"]), name="s", order=["low", "middle", "high"]).domain
    table = gh.read(
        {"x": [1, 2, 3, 4], "s": ["low", "high", "low", "high"]},
        quasi=["x"],
        sensitive="s",
        ordered={"s": ["low", "middle", "high"]},
    )
    principle = gh.TCloseness(t="0.3", distance="ordered")
    release = gh.publish(table, principle=principle, method=gh.Mondrian(), recoding=gh.Boxes())
    found = exact_posterior(
        gh.read({"x": [1, 2, 3, 4]}, quasi=["x"]),
        (principle, gh.Mondrian(), gh.Boxes()),
        release,
        values={"low": 2, "high": 2},
        sensitive=domain,
    )

    assert found.worst()[2] >= HALF


def test_dropped_people_may_have_had_any_value() -> None:
    # Three flu, one ulcer: two flu are dropped at random, and everybody knows that.
    table = gh.read({"x": [1, 2, 3, 4], "s": ["flu", "flu", "flu", "ulcer"]}, quasi=["x"], sensitive="s")
    steps = Rerun(principle=PAIRS, method=gh.Mondrian(), recoding=gh.Anatomy(), suppress="1/2")
    release = gh.publish(
        table, principle=PAIRS, method=gh.Mondrian(), recoding=gh.Anatomy(), suppress="1/2", source=gh.Source.seeded(1)
    )
    found = exact_posterior(
        table, steps, release, values={"flu": 1, "ulcer": 1}, n=release.n_tuples + release.n_dropped, sensitive="s"
    )
    published = {x - 1 for x in release.tables["qit"]["x"].to_pylist()}

    assert all(found.presence[row] == 1 for row in range(4))
    assert [sorted(found.of[row]) for row in published] == [["flu", "ulcer"]] * 2
    assert found.worst()[2] == HALF


# --- functions of one's own ------------------------------------------------------------------------------------------


def test_a_function_is_attacked_as_a_recoding_is() -> None:
    case = Case(((0,), (1,), (2,), (3,), (4,)), (tuple(range(5)),), (0, 0, 1, 2), 2)
    release, weights = telling(evidence_of(METHODS["strict Mondrian"][1], case, by_force.by_boxes))[0]

    def algorithm(table: gh.Microdata, rng: Any) -> Any:
        groups = gh.Mondrian().divide(table, Requirement.of(PAIRS, table), source=rng)
        return gh.Boxes().recode(table, groups)["data"]

    found = exact_posterior(
        people_of(case), algorithm, boxes_of(release, case), values=named(case.values), seen=up_to_numbering
    )
    assert flat(found) == renamed(by_force.beliefs_after(weights))


def test_numbers_of_a_function_count_unless_they_are_said_to_be_random() -> None:
    # Two groups of two, numbered by the sensitive value of the first person: the number tells it.
    people = table_of([(0,), (1,), (2,), (3,)], [0] * 4)

    def algorithm(table: gh.Microdata, rng: Any) -> Any:
        first = int(table.sensitive[0].codes[0])
        return pa.table({"x": [0, 1, 2, 3], "Group-ID": [1 + first, 1 + first, 2 - first, 2 - first]})

    published = pa.table({"x": [0, 1, 2, 3], "Group-ID": [1, 1, 2, 2]})
    known = exact_posterior(people, algorithm, published, values={"s00000": 2, "s00001": 2})
    merged = exact_posterior(people, algorithm, published, values={"s00000": 2, "s00001": 2}, seen=up_to_numbering)

    assert (known.of[0], known.of[1]["s00001"]) == ({"s00000": ONE}, Fraction(2, 3))
    assert merged.of[0] == {"s00000": HALF, "s00001": HALF}


def test_what_is_compared_exactly_is_everything_that_a_table_shows() -> None:
    table = pa.table({"x": [1, 2], "y": ["a", None]})

    assert as_it_stands(table) == as_it_stands({"data": table})
    assert as_it_stands(table) != as_it_stands(table.take([1, 0]))
    assert as_it_stands(table) != as_it_stands(table.rename_columns(["x", "z"]))
    assert as_it_stands(table) != as_it_stands({"other": table})
    assert as_it_stands(("any", 1)) == ("any", 1)
    assert up_to_numbering(table) == up_to_numbering(table.take([1, 0]).select(["y", "x"]))
    assert up_to_numbering(table) != up_to_numbering(table.set_column(1, "y", pa.array(["a", "a"])))
    with pytest.raises(gh.InputError, match="published tables are needed"):
        up_to_numbering([1, 2])


def test_an_algorithm_that_is_neither_is_refused() -> None:
    with pytest.raises(gh.InputError, match="not str"):
        exact_posterior(table_of([(0,)], [0]), "mondrian", None, values="a")
    with pytest.raises(gh.InputError, match="an algorithm that is a function"):
        exact_posterior(table_of([(0,)], [0]), (PAIRS, gh.Tailor(), gh.Boxes()), {}, values="a", seen=as_it_stands)


# --- the papers' examples --------------------------------------------------------------------------------------------

NAMES = ["Ann", "Bob", "Bruce", "Cate", "Don", "Ed", "Fred", "Gill", "Hera"]
OPT_GEN = (PAIRS, gh.OptGen(), gh.Boxes())


def voters() -> gh.Microdata:
    return gh.read(gh.examples.voters_e1(), identifier="Name", quasi=["Age", "Zipcode"])


def diseases_of(table: gh.Microdata) -> list[str]:
    return list(table.sensitive[0].domain.decode(table.sensitive[0].codes).to_pylist())


def in_groups(table: gh.Microdata, labels: Sequence[int]) -> Mapping[str, pa.Table]:
    return gh.Boxes().recode(table, gh.Groups(np.array(labels, np.int32), max(labels) + 1))


def test_example_2_opt_gen_gives_ed_away_and_bruce_is_not_there() -> None:
    t1, people = gh.examples.transparent_t1(), voters()
    release = in_groups(t1, [0, 0, 1, 1, 2, 2, 2, 2])
    # What groups cover whom: Bruce's age is in no interval of Table III, and all others are in one.
    shown = [["dyspepsia", "flu"], ["bronchitis", "gastritis"], ["gastritis", "flu", "dyspepsia", "diabetes"]]
    may = dict(enumerate([shown[0], shown[0], [], shown[1], shown[1], *[shown[2]] * 4]))
    found = exact_posterior(people, OPT_GEN, release, values=Counter(diseases_of(t1)), sensitive="Disease", may=may)

    assert people.identifier is not None
    assert people.identifier.to_pylist() == NAMES
    assert (found.n_worlds, found.n_possible) == (144, 24)
    assert found.of[5] == {"gastritis": 1}
    assert (found.presence[2], found.of[2]) == (0, {})


def test_example_2_without_a_thought_about_who_is_where() -> None:
    # All worlds in which Ann has dyspepsia and Hera diabetes: Ed still has gastritis, for certain.
    t1 = gh.examples.transparent_t1()
    found = exact_posterior(
        voters(),
        OPT_GEN,
        in_groups(t1, [0, 0, 1, 1, 2, 2, 2, 2]),
        values=Counter(diseases_of(t1)),
        sensitive="Disease",
        corrupted={0: "dyspepsia", 6: "flu", 8: "diabetes"},
    )

    assert found.n_worlds == 6 * 60
    assert found.of[5] == {"gastritis": 1}
    assert found.presence[2] == 0


def test_example_3_the_random_worlds_of_the_release_alone_say_one_quarter() -> None:
    # Credibility: of Table III's own worlds, all are minimal, and Ed has gastritis in one of four.
    t1 = gh.examples.transparent_t1()
    groups = gh.Groups(np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32), 3)
    found = exact_posterior(
        t1,
        lambda table, rng: gh.Boxes().recode(table, groups),
        in_groups(t1, [0, 0, 1, 1, 2, 2, 2, 2]),
        values=Counter(diseases_of(t1)),
        sensitive="Disease",
        seen=up_to_numbering,
        may={0: ["dyspepsia", "flu"], 1: ["dyspepsia", "flu"], 2: ["bronchitis", "gastritis"]},
    )

    assert found.n_possible == 96
    assert found.of[4] == dict.fromkeys(["gastritis", "flu", "dyspepsia", "diabetes"], Fraction(1, 4))


def test_the_minimality_attack_on_table_v_finds_cate_and_don() -> None:
    # Whatever algorithm gives minimal global recodings alone: here one that names all that there are.
    t3 = gh.examples.transparent_t3()
    rows = list(zip(*(column.codes.tolist() for column in t3.quasi), strict=True))
    labels = [0, 0, 1, 1, 1, 1, 1, 1]
    partition = {frozenset(i for i in range(8) if labels[i] == g) for g in (0, 1)}

    def minimal(table: gh.Microdata, rng: Any) -> Any:
        values = list(zip(rows, table.sensitive[0].codes.tolist(), strict=True))
        return in_groups(table, labels) if optimal.is_minimal(values, partition, 2) else None

    found = exact_posterior(
        t3,
        minimal,
        in_groups(t3, labels),
        values=Counter(diseases_of(t3)),
        sensitive="Disease",
        corrupted={0: "dyspepsia", 1: "flu"},
        seen=up_to_numbering,
    )

    assert found.of[2] == found.of[3] == {"gastritis": 1}


def test_example_1_vul_gen_gives_everybody_away_although_it_is_not_minimal() -> None:
    t1 = gh.examples.transparent_t1()
    groups = gh.Groups(np.array([0, 0, 1, 1, 1, 1, 1, 1], np.int32), 2)
    algorithm = VulGen(special=t1, generalization=groups)
    found = exact_posterior(
        t1,
        algorithm,
        algorithm(t1, gh.Source.seeded(0)),
        values=Counter(diseases_of(t1)),
        sensitive="Disease",
        may={0: ["dyspepsia", "flu"], 1: ["dyspepsia", "flu"]},
    )

    assert found.n_worlds == 1080
    assert found.of == {row: {disease: 1} for row, disease in enumerate(diseases_of(t1))}
    with pytest.raises(gh.InputError, match="two groups"):
        VulGen(special=t1, generalization=gh.Groups(np.zeros(8, np.int32), 1))


MASK = Mask(k=2, ell=2, designated=["dyspepsia"])


def test_mask_leaves_a_belief_of_7_12_where_counting_worlds_says_5_8() -> None:
    t9 = gh.examples.transparent_t9()
    options: Any = {"values": ["dyspepsia", "flu"], "sensitive": "Disease", "seen": up_to_numbering}
    found = exact_posterior(t9, MASK, gh.examples.transparent_t10(), **options)
    counted = exact_posterior(
        t9,
        lambda table, _: frozenset(published for _, published in every_run(lambda draws: seen_of(table, draws))),
        frozenset([up_to_numbering(gh.examples.transparent_t10())]),
        **{**options, "seen": lambda outcomes: up_to_numbering(gh.examples.transparent_t10()) in outcomes},
    )

    assert found.of[0]["dyspepsia"] == Fraction(7, 12)
    assert (found.n_worlds, found.n_possible) == (128, 8)
    assert counted.of[0]["dyspepsia"] == Fraction(5, 8)


def seen_of(table: gh.Microdata, draws: Any) -> Any:
    published = MASK(table, draws)
    return None if published is None else up_to_numbering(published)


def test_mask_publishes_what_its_slow_twin_does() -> None:
    codes = [(i,) for i in range(7)]
    for values in by_force.arrangements([0, 0, 0, 1, 1, 1, 2]):
        table = table_of(codes, values)
        groups = gh.Mondrian().divide(table, Requirement.of(gh.KAnonymity(k=2), table))
        partition = {frozenset(np.flatnonzero(groups.labels == g).tolist()) for g in range(groups.n_groups)}

        def twin(draws: Any, values: Any = values, partition: Any = partition) -> Any:
            shown = optimal.mask(values, partition, 2, [0, 2], draws)
            if shown is None:
                return None
            return up_to_numbering(gh.Boxes().recode(table_of(codes, shown), groups))  # noqa: B023

        algorithm = Mask(k=2, ell=2, designated=["s00000", "s00002"])
        found, _ = chances(
            lambda draws, t=table, a=algorithm: None if (shown := a(t, draws)) is None else up_to_numbering(shown)
        )
        assert found == enumerating.distribution(twin)


def test_strict_mondrian_gives_the_third_of_five_people_away() -> None:
    columns = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    table = gh.read({**columns, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    for method, belief in ((gh.Mondrian(), ONE), (gh.Tailor(), Fraction(2, 5))):
        release = gh.publish(table, principle=PAIRS, method=method, recoding=gh.Boxes())
        found = exact_posterior(
            gh.read(columns, quasi=["x", "y"]),
            (PAIRS, method, gh.Boxes()),
            release,
            values=Counter("aabcd"),
            sensitive="s",
        )
        assert found.worst()[2] == belief
    assert found.n_runs == 60  # nobody is tied with anybody, so no order is tried


def test_anatomizing_a_group_of_symmetric_grouping_gives_person_1_away() -> None:
    """Slip 8: the group was kept together because a half held a duplicate."""
    people = table_of([(i,) for i in range(6)], [0] * 6)
    method = gh.Refined(coarse=gh.Symmetric(extra=0), inner="anatomize")
    published = {
        "qit": pa.table({"q0": [0, 2, 1, 4, 3, 5], "Group-ID": [1, 1, 2, 2, 3, 3]}),
        "st": pa.table({"Group-ID": [1, 1, 2, 2, 3, 3], "sensitive": list("abacbc"), "Count": [1] * 6}),
    }
    found = exact_posterior(people, (PAIRS, method, gh.Anatomy()), published, values=Counter("aabbcc"))

    assert found.of[1] == {"a": 1}
    assert found.of[4] == {"c": 1}
