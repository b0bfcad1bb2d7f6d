# SPDX-License-Identifier: Apache-2.0
"""Markov chains over worlds: sampled beliefs beside exact ones, errors that mean what they say, and refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import comb, exp, log
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.cuts import cut_walk as cut_chain
from glasshouse.adversary.reverse_engineering.cuts.cut_failures import FailedCuts
from glasshouse.adversary.reverse_engineering.cuts.cut_walk import SampledKinds, sample_failed_cuts
from glasshouse.adversary.reverse_engineering.worlds import walk as chain
from glasshouse.adversary.reverse_engineering.worlds.enumeration import ExactBeliefs, exact_posterior
from glasshouse.adversary.reverse_engineering.worlds.replay import up_to_numbering
from glasshouse.adversary.reverse_engineering.worlds.walk import SampledBeliefs, sampled_posterior
from glasshouse.adversary.sampling import effective_sample_size, half_width, r_hat, standard_error, trust
from glasshouse.kernels import interpreted
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import people as table_of
from tests.specimens import Mask
from tests.tiers import tables
from tests.twins import by_force

PAIRS = gh.LDiversity(ell=2)


def at_most(misses: int, of: int, *, rate: float = 0.05, doubt: float = 1e-3) -> bool:
    """Whether so many misses are no surprise, if each happens at that rate at most and by itself."""
    logs = (log(comb(of, k)) + k * log(rate) + (of - k) * log(1 - rate) for k in range(misses, of + 1))
    return sum(map(exp, logs)) > doubt


# --- how far chains can be trusted -----------------------------------------------------------------------------------


def autoregression(rng: Any, memory: float, shape: tuple[int, int]) -> Any:
    found = np.zeros(shape)
    found[:, 0] = rng.normal(size=shape[0]) / np.sqrt(1 - memory**2)
    for t in range(1, shape[1]):
        found[:, t] = memory * found[:, t - 1] + rng.normal(size=shape[0])
    return found


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_effective_sample_size_of_an_autoregression_is_that_of_theory(memory: float) -> None:
    draws = autoregression(np.random.default_rng(1), memory, (4, 20_000))

    assert effective_sample_size(draws).item() == pytest.approx(80_000 * (1 - memory) / (1 + memory), rel=0.1)


def test_the_standard_error_is_how_much_means_vary() -> None:
    rng = np.random.default_rng(2)
    repeated = [autoregression(rng, 0.8, (2, 500)) > 0.5 for _ in range(300)]

    assert np.std([draws.mean() for draws in repeated]) == pytest.approx(
        np.mean([standard_error(draws) for draws in repeated]), rel=0.15
    )


def test_r_hat_sees_chains_that_are_elsewhere_that_drift_or_that_differ_in_spread() -> None:
    rng = np.random.default_rng(3)
    alike = rng.normal(size=(4, 1000))
    elsewhere, drifting, wider = alike.copy(), alike + np.linspace(0, 3, 1000), alike.copy()
    elsewhere[0] += 1
    wider[0] *= 4

    assert r_hat(np.stack([alike, alike**3], axis=-1)).max() < 1.01
    assert r_hat(np.stack([elsewhere, drifting, wider], axis=-1)).min() > 1.05
    assert r_hat(np.repeat([[0, 1]], 50, axis=0).T.astype(float)).item() == np.inf


def test_r_hat_of_indicators_is_the_same_with_and_without_ranks() -> None:
    draws = (autoregression(np.random.default_rng(4), 0.9, (4, 300)) > 1).astype(float)
    almost = draws.copy()
    almost[0, 0] = 0.5 * (draws[0, 0] + draws[0, 1]) + 0.25  # a third value: ranks are computed

    assert r_hat(almost).item() == pytest.approx(r_hat(draws).item(), rel=0.01)


def test_chains_that_disagree_have_few_effective_draws() -> None:
    draws = np.random.default_rng(5).integers(0, 2, (4, 1000)).astype(float)
    draws[0] = 1

    assert effective_sample_size(draws).item() < 30


def test_what_never_changed_is_not_certain() -> None:
    coins = np.random.default_rng(6).integers(0, 2, (4, 300))
    some = trust(np.stack([coins, np.ones_like(coins)], axis=-1))
    none = trust(np.ones((4, 300)))

    assert some.error[1] > 3 / some.ess[0]  # the rule of three
    assert np.isnan(some.r_hat[1])
    assert (none.error > 0.3, none.ess.tolist()) == (True, [4.0])


@pytest.mark.parametrize("share", [0.0, 0.002, 0.02, 0.5, 0.97, 1.0])
def test_an_interval_covers_shares_that_are_nearly_certain_too(share: float) -> None:
    rng = np.random.default_rng(7)
    means = rng.binomial(500, share, 2000) / 500
    width = half_width(means, np.sqrt(means * (1 - means) / 500), np.full(2000, 500.0))

    assert at_most(int((np.abs(means - share) > width).sum()), 2000)
    assert (width > 0).all()


def test_draws_of_a_wrong_shape_are_refused() -> None:
    for wrong in (np.zeros(5), np.zeros((2, 3)), np.zeros((0, 10))):
        with pytest.raises(gh.InputError, match="draws"):
            trust(wrong)


# --- sampled beliefs beside exact ones -------------------------------------------------------------------------------

METHODS: dict[str, Any] = {
    "strict Mondrian": gh.Mondrian(),
    "Tailor": gh.Tailor(),
    "Hybrid": gh.Hybrid(),
    "Ace": gh.Ace(),
    "Greedy": gh.Greedy(),
    "RandomisedGreedy": gh.RandomisedGreedy(p="1/3"),
}


def by_function(table: gh.Microdata, rng: Any) -> Any:
    """A function that publishes: two groups cut at a random place, or all in one, and the values of each."""
    codes = table.sensitive[0].codes.tolist()
    cut = 1 + rng.below(2) if len(set(codes[:2])) > 1 else 0
    return tuple(sorted(codes[:cut])), tuple(sorted(codes[cut:]))


def cases(name: str, n: int) -> Iterator[tuple[gh.Microdata, Any, Any, dict[str, Any]]]:
    """People, algorithm, release and knowledge of random tables that somebody published."""
    few = name in ("Hybrid", "Ace", "RandomisedGreedy")
    sizes: dict[str, Any] = {"people": (4, 5) if few else (4, 5, 6), "max_worlds": 60 if few else 200}
    found = by_force.random_cases(90, n, extra=(0, 0, 1), n_values=(3, 4, 5), ells=(2, 2, 3), **sizes)
    for i, case in enumerate(found):
        random = Random(i)
        world = random.choice(list(by_force.worlds_of(case)))
        present = sorted(world)
        table = table_of([case.codes[p] for p in present], [world[p] for p in present], case.positions)
        people = table_of(case.codes, [0] * len(case.codes), case.positions)
        values = Counter(f"s{value:05}" for value in case.values)
        given: dict[str, Any] = {"values": values}
        if i % 3 == 1:
            given["prior"] = {value: 1 + j for j, value in enumerate(values)}
        if i % 3 == 2:
            given["prior"] = {row: {v: random.randint(1, 4) for v in values} for row in range(0, len(case.codes), 2)}
        if i % 4 == 2:
            given["corrupted"] = {present[0]: f"s{world[present[0]]:05}"}
        if name == "a function":
            yield people, by_function, by_function(table, gh.Source.seeded(i)), given
            continue
        algorithm = (gh.LDiversity(ell=case.ell), METHODS[name], gh.Boxes())
        try:
            groups = METHODS[name].divide(table, Requirement.of(algorithm[0], table), source=gh.Source.seeded(i))
        except gh.Infeasible:
            continue
        yield people, algorithm, gh.Boxes().recode(table, groups), given


def distances(exact: ExactBeliefs, found: SampledBeliefs) -> dict[tuple[int, Any], float]:
    """How far every sampled belief is from the exact one, in errors."""
    away = {}
    for row, beliefs in exact.of.items():
        for value in {*beliefs, *found.of[row]}:
            error = found.errors[row].get(value, found.unseen)
            distance = abs(float(beliefs.get(value, 0)) - found.of[row].get(value, 0.0))
            if error == 0:
                assert distance == 0  # known beforehand
            else:
                away[row, value] = distance / error
        assert found.presence[row] == pytest.approx(sum(found.of[row].values()))
    return away


@pytest.mark.parametrize("name", [*METHODS, "a function"])
def test_sampled_beliefs_are_within_their_error_of_exact_ones_as_often_as_stated(name: str) -> None:
    judged = misses = 0
    all_away: list[float] = []
    for i, (people, algorithm, release, given) in enumerate(cases(name, max(9, tables(27)))):
        exact = exact_posterior(people, algorithm, release, **given)
        found = sampled_posterior(people, algorithm, release, **given, error=0.05, source=gh.Source.seeded(i))
        away = distances(exact, found)
        all_away += away.values()
        # Beliefs of one table hang together, so one of each is judged by the binomial, and all by a wide margin.
        misses += away[Random(i).choice(sorted(away))] > 1 if away else 0
        judged += bool(away)
        assert max(errors for row in found.errors.values() for errors in row.values()) <= 0.05
        assert max((r for row in found.r_hat.values() for r in row.values() if r == r), default=1) <= 1.02
        assert min(ess for row in found.ess.values() for ess in row.values()) >= 400

    assert judged >= 6
    assert at_most(misses, judged)
    assert np.mean(np.array(all_away) > 1) < 0.12
    assert np.mean(np.array(all_away) > 0.5) > 0.1  # errors are not wider than need be: of a normal, a third
    assert max(all_away) < 3


def test_values_without_counts_are_walked_over_too() -> None:
    t9 = gh.examples.transparent_t9()
    mask = Mask(k=2, ell=2, designated=["dyspepsia"])
    options: Any = {"values": ["dyspepsia", "flu"], "sensitive": "Disease", "seen": up_to_numbering}
    exact = exact_posterior(t9, mask, gh.examples.transparent_t10(), **options)
    found = sampled_posterior(
        t9, mask, gh.examples.transparent_t10(), **options, error=0.04, source=gh.Source.seeded(1)
    )

    assert max(distances(exact, found).values()) < 2
    assert found.of[0]["dyspepsia"] == pytest.approx(7 / 12, abs=0.06)


def test_the_number_of_people_may_be_unknown() -> None:
    people = table_of([(i,) for i in range(4)], [0] * 4)

    def algorithm(table: gh.Microdata, rng: Any) -> Any:
        return sum(table.sensitive[0].codes.tolist()) % 2, table.n_tuples >= 2

    given: Any = {"values": ["a", "b"], "n": [1, 2, 4], "may": {3: ["a"]}, "corrupted": {0: "a"}}
    exact = exact_posterior(people, algorithm, (1, True), **given)
    found = sampled_posterior(people, algorithm, (1, True), **given, error=0.06, source=gh.Source.seeded(2))

    assert 0 < exact.presence[1] < 1
    assert max(distances(exact, found).values()) < 2.5


@pytest.mark.parametrize("name", ["strict Mondrian", "a function"])
def test_the_same_seed_gives_the_same_beliefs(name: str) -> None:
    people, algorithm, release, given = next(cases(name, 1))
    one, other = (
        sampled_posterior(people, algorithm, release, **given, error=0.06, source=gh.Source.seeded(5)) for _ in range(2)
    )

    assert (one.of, one.errors, one.n_steps) == (other.of, other.errors, other.n_steps)


def lottery(table: gh.Microdata, rng: Any) -> Any:
    """Publishes that there is a draw, most likely where the first person has the first value."""
    return rng.bernoulli(1, 3 ** int(table.sensitive[0].codes[0]))


LOTTERY: Any = {"values": {"a": 1, "b": 1, "c": 1, "d": 1}, "error": 0.05}


def test_an_acceptance_rule_without_the_ratio_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    people = table_of([(i,) for i in range(4)], [0] * 4)
    exact = exact_posterior(people, lottery, True, values=LOTTERY["values"])

    right = sampled_posterior(people, lottery, True, **LOTTERY, source=gh.Source.seeded(3))
    assert max(distances(exact, right).values()) < 2
    monkeypatch.setattr(chain, "exp", lambda _: 1.0)
    wrong = sampled_posterior(people, lottery, True, **LOTTERY, source=gh.Source.seeded(3))
    assert max(distances(exact, wrong).values()) > 3


# --- first worlds ----------------------------------------------------------------------------------------------------


def test_a_chain_may_start_from_the_truth_and_forgets_it() -> None:
    people = table_of([(i,) for i in range(4)], [0] * 4)
    exact = exact_posterior(people, lottery, True, values=LOTTERY["values"])
    for world in ("abcd", "dcba"):
        found = sampled_posterior(
            people, lottery, True, **LOTTERY, start=dict(enumerate(world)), source=gh.Source.seeded(4)
        )
        assert max(distances(exact, found).values()) < 2


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({0: "a", 1: "b", 2: "c", 3: "c"}, "not possible"),
        ({0: "a", 1: "b", 2: "c"}, "not possible"),
        ({0: "a", 1: "b", 2: "c", 9: "d"}, "row 9 of the table to start from"),
        ({0: "b", 1: "a", 2: "c", 3: "d"}, "cannot have produced"),
    ],
)
def test_a_world_to_start_from_must_be_possible(start: Any, said: str) -> None:
    people = table_of([(i,) for i in range(4)], [0] * 4)

    def algorithm(table: gh.Microdata, rng: Any) -> Any:
        return table.sensitive[0].codes.tolist()[0] == 0

    with pytest.raises(gh.InputError, match=said):
        sampled_posterior(people, algorithm, True, values=LOTTERY["values"], start=start)


def test_first_worlds_are_found_where_random_ones_do_not_do() -> None:
    # Of 3 * 10**10 worlds one in 10**5 gives the release; the algorithm tells how many are right.
    people = table_of([(i,) for i in range(20)], [0] * 20)
    values = {f"v{i}": 5 for i in range(4)}

    def algorithm(table: gh.Microdata, rng: Any) -> Any:
        codes = table.sensitive[0].codes.tolist()
        return tuple(tuple(sorted(codes[i : i + 5])) for i in range(0, 20, 5))

    published = ((0, 0, 1, 2, 3), (0, 1, 1, 2, 3), (0, 1, 2, 2, 3), (0, 1, 2, 3, 3))
    found = sampled_posterior(
        people, algorithm, published, values=values, error=0.1, most_runs=60_000, source=gh.Source.seeded(1)
    )

    for row in range(20):
        wanted = Counter(f"v{code}" for code in published[row // 5])
        for value, count in wanted.items():
            assert found.of[row][value] == pytest.approx(count / 5, abs=2 * found.errors[row][value])
    assert chain.ISLANDS in found.notes


def test_without_a_first_world_there_is_no_belief() -> None:
    people = table_of([(i,) for i in range(5)], [0] * 5)

    with pytest.raises(gh.NotSupported, match=r"no possible table was found to start .* runs on 120 tables"):
        sampled_posterior(people, lottery, "never", values=dict.fromkeys("abcde", 1), source=gh.Source.seeded(1))
    with pytest.raises(gh.InputError, match="no table of these people"):
        sampled_posterior(people, lottery, True, values=dict.fromkeys("abcde", 1), may=dict.fromkeys(range(3), "ab"))
    with pytest.raises(gh.InputError, match="corrupted"):
        sampled_posterior(people, lottery, True, values=dict.fromkeys("abcde", 1), corrupted={0: "z"})


# --- what is refused, and what is said -------------------------------------------------------------------------------

BASE = (0, 1, 2, 3, 4, 5, 6, 7)
FAR = (3, 6, 1, 7, 5, 0, 2, 4)
EIGHT: Any = {"values": dict.fromkeys("abcdefgh", 1)}


def island(base: Sequence[int]) -> set[tuple[int, ...]]:
    """A world, and those in which the first four people exchange values among them."""
    return {(*(base[i] for i in order), *base[4:]) for order in permutations(range(4))}


def islands(table: gh.Microdata, rng: Any, *, both: bool = False) -> Any:
    """Publishes the same on two islands, and elsewhere how much is as on the first, or on the nearer one."""
    codes = tuple(table.sensitive[0].codes.tolist())
    if codes in island(BASE) | island(FAR):
        return ("right",) * 8
    right = [[mine == other for mine, other in zip(codes, base, strict=True)] for base in (BASE, FAR)]
    shown = max(right, key=sum) if both else right[0]
    return tuple("right" if well else f"wrong {i}" for i, well in enumerate(shown))


def test_islands_that_no_chain_leaves_are_not_seen_and_the_note_says_so() -> None:
    people = table_of([(i,) for i in range(8)], [0] * 8)
    found = sampled_posterior(
        people, islands, ("right",) * 8, **EIGHT, error=0.06, most_runs=20_000, source=gh.Source.seeded(1)
    )

    assert found.of[7] == {"h": 1.0}  # one half, if all worlds were known
    assert any("missed" in note for note in found.notes)


def test_chains_on_different_islands_are_not_believed() -> None:
    people = table_of([(i,) for i in range(8)], [0] * 8)
    for seed in range(3):
        with pytest.raises(gh.NotSupported, match=r"R-hat (inf|[2-9]|1[.][1-9])"):
            sampled_posterior(
                people,
                lambda table, rng: islands(table, rng, both=True),
                ("right",) * 8,
                **EIGHT,
                error=0.06,
                most_runs=12_000,
                most_steps=40_000,
                source=gh.Source.seeded(seed),
            )


def test_an_error_that_is_not_reached_is_refused_with_the_figures() -> None:
    people, algorithm, release, given = next(cases("Greedy", 1))
    told: list[float] = []

    with pytest.raises(gh.NotSupported, match=r"largest error was 0\.0.*R-hat 1\..*effective sample size"):
        sampled_posterior(
            people,
            algorithm,
            release,
            **given,
            error=0.001,
            most_steps=8000,
            source=gh.Source.seeded(1),
            progress=told.append,
        )
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_runs_that_end_are_said_to_have_ended() -> None:
    people = table_of([(i,) for i in range(8)], [0] * 8)
    given: Any = {"values": dict.fromkeys("abcdefgh", 1), "source": gh.Source.seeded(1)}

    with pytest.raises(gh.NotSupported, match="after 1,000 runs"):
        sampled_posterior(people, lambda table, rng: True, True, **given, most_runs=1000, error=0.01)
    with pytest.raises(gh.NotSupported, match="too few draws"):
        sampled_posterior(people, lambda table, rng: True, True, **given, most_runs=20)
    with pytest.raises(gh.NotSupported, match="at least 1,000,000 different sequences"):
        sampled_posterior(people, lambda table, rng: rng.below(10**6) < 9, True, **given, most_runs=500)


def test_a_world_that_no_chain_leaves_is_believed_only_if_all_were_tried() -> None:
    people = table_of([(i,) for i in range(8)], [0] * 8)

    def only(table: gh.Microdata, rng: Any) -> Any:
        codes = table.sensitive[0].codes.tolist()
        return tuple(i if code == i else -1 for i, code in enumerate(codes))

    with pytest.raises(gh.NotSupported, match="found no second table"):
        sampled_posterior(people, only, BASE, **EIGHT, most_runs=3000, source=gh.Source.seeded(1))
    small = table_of([(i,) for i in range(3)], [0] * 3)
    found = sampled_posterior(small, only, (0, 1, 2), values={"a": 1, "b": 1, "c": 1}, source=gh.Source.seeded(1))
    assert found.of == {0: {"a": 1.0}, 1: {"b": 1.0}, 2: {"c": 1.0}}
    assert not found.notes


def test_who_is_known_is_known() -> None:
    people = table_of([(i,) for i in range(4)], [0] * 4)
    found = sampled_posterior(
        people,
        lambda table, rng: True,
        True,
        values={"a": 1, "b": 1},
        corrupted={0: "a", 1: "b"},
        absent=[2],
        source=gh.Source.seeded(1),
    )

    assert found.of == {0: {"a": 1.0}, 1: {"b": 1.0}, 2: {}, 3: {}}
    assert found.presence == {0: 1.0, 1: 1.0, 2: 0.0, 3: 0.0}
    assert found.errors[0] == {"a": 0.0}


@pytest.mark.parametrize("wrong", [{"chains": 1}, {"error": 0.0}, {"error": 1.0}])
def test_parameters_out_of_range_are_refused(wrong: Any) -> None:
    people = table_of([(0,), (1,)], [0, 0])

    with pytest.raises(gh.InputError):
        sampled_posterior(people, lottery, True, values={"a": 1, "b": 1}, **wrong)
    with pytest.raises(gh.InputError):
        sample_failed_cuts(cuts_of([0, 0], [[0, 1]], [((0,), (1,))], ell=2), **wrong)


# --- failed cuts -----------------------------------------------------------------------------------------------------

Cuts = list[tuple[Sequence[int], Sequence[int]]]


def cuts_of(
    groups: Sequence[int],
    values: Sequence[Sequence[int]],
    cuts: Cuts,
    *,
    ell: int,
    ignored: Sequence[int] = (),
    fixed: Sequence[int] | None = None,
) -> FailedCuts:
    counters = [sorted(Counter(mine).items()) for mine in values]
    n_values = 1 + max(value for mine in values for value in mine)

    def flat(side: int) -> Any:
        return np.array([row for cut in cuts for row in cut[side]], np.int32)

    def offsets(side: int) -> Any:
        return np.cumsum([0, *(len(cut[side]) for cut in cuts)])

    return FailedCuts(
        group=np.array(groups, np.int32),
        offsets=np.cumsum([0, *map(len, counters)]),
        codes=np.array([value for mine in counters for value, _ in mine], np.int32),
        counts=np.array([count for mine in counters for _, count in mine], np.int64),
        n_values=n_values,
        numerators=np.ones(n_values, np.int64),
        denominators=np.array([1 if value in ignored else ell for value in range(n_values)], np.int64),
        left_offsets=offsets(0),
        left=flat(0),
        right_offsets=offsets(1),
        right=flat(1),
        fixed=np.full(len(groups), -1, np.int32) if fixed is None else np.array(fixed, np.int32),
    )


def breaks(world: Sequence[int], part: Sequence[int], ell: int, ignored: Sequence[int]) -> bool:
    counts = Counter(world[row] for row in part)
    return any(value not in ignored and ell * count > len(part) for value, count in counts.items())


def by_counting(given: dict[str, Any]) -> tuple[int, dict[tuple[int, int], float]]:
    """How many worlds there are, and how often each person has each value: by listing them."""
    total, joint = 0, Counter[tuple[int, int]]()
    fixed = given["fixed"]
    for arranged in product(*(set(permutations(mine)) for mine in given["values"])):
        world = [value for mine in arranged for value in mine]
        if any(known not in (-1, value) for known, value in zip(fixed, world, strict=True)):
            continue
        if all(any(breaks(world, part, given["ell"], given["ignored"]) for part in cut) for cut in given["cuts"]):
            total += 1
            joint.update(enumerate(world))
    return total, {key: count / total for key, count in joint.items()}


def random_cuts(seed: int) -> dict[str, Any]:
    """A few groups, and cuts through one or several of them that fail in some world; people stand in group order."""
    random = Random(seed)
    while True:
        values = [[random.randrange(4) for _ in range(random.randint(2, 5))] for _ in range(random.randint(1, 3))]
        groups = [g for g, mine in enumerate(values) for _ in mine]
        truth = [value for mine in values for value in mine]
        ell, ignored = random.choice((2, 2, 3)), [value for value in range(4) if random.random() < 0.15]
        cuts: Cuts = []
        for _ in range(random.randint(1, 4)):
            met = random.sample(range(len(values)), random.randint(1, len(values)))
            rows = [row for row, group in enumerate(groups) if group in met and random.random() < 0.95]
            left = [row for row in rows if random.random() < 0.5]
            right = [row for row in rows if row not in left]
            if left and right and any(breaks(truth, part, ell, ignored) for part in (left, right)):
                cuts.append((left, right))
        fixed = [value if random.random() < 0.15 else -1 for value in truth]
        if cuts:
            return {
                "groups": groups, "values": values, "cuts": cuts, "ell": ell, "ignored": ignored, "fixed": fixed,
            }  # fmt: skip


def by_person(found: SampledKinds) -> dict[tuple[int, int], tuple[float, float]]:
    return {
        (row, int(found.codes[i])): (float(found.beliefs[i]), float(found.errors[i]))
        for row, kind in enumerate(found.kind.tolist())
        for i in range(found.offsets[kind], found.offsets[kind + 1])
    }


def compare(seeds: range, **options: Any) -> tuple[list[float], Counter[str]]:
    away: list[float] = []
    done = Counter[str]()
    for seed in seeds:
        given = random_cuts(seed)
        _, exact = by_counting(given)
        try:
            found = sample_failed_cuts(cuts_of(**given), source=gh.Source.seeded(seed), **options)
        except gh.NotSupported:
            done["refused"] += 1
            continue
        beliefs = by_person(found)
        assert set(exact) <= set(beliefs)
        for key, (belief, error) in beliefs.items():
            distance = abs(belief - exact.get(key, 0.0))
            if error:
                away.append(distance / error)
            else:
                assert distance < 1e-12
        done["walked"] += found.n_people > 0
        done["coupled"] += found.n_people > 0 and len({given["groups"][r] for cut in given["cuts"] for r in cut[0]}) > 1
        done["telling"] += any(
            abs(
                exact[key]
                - given["values"][given["groups"][key[0]]].count(key[1]) / len(given["values"][given["groups"][key[0]]])
            )
            > 0.01
            for key in exact
        )
    return away, done


def test_beliefs_after_failed_cuts_are_those_of_all_worlds_listed() -> None:
    away, done = compare(range(150), error=0.05, most_sweeps=4000)

    assert done["walked"] > 80
    assert done["coupled"] > 30
    assert done["telling"] > 80
    assert done["refused"] < 20  # worlds that no chain leaves
    assert np.mean(np.array(away) > 1) < 0.07
    assert max(away) < 2.5


def test_a_walk_that_forgets_a_cut_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    number = cut_chain._Layout._number_slots

    def without_the_right_parts(self: Any, parts: Any) -> None:
        number(self, parts)
        self.caps[1::2] = cut_chain._NEVER

    monkeypatch.setattr(cut_chain._Layout, "_number_slots", without_the_right_parts)
    away, _ = compare(range(25), error=0.05, most_sweeps=4000)
    assert max(away) > 3


def test_compiled_and_interpreted_walks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in (0, 3, 8):
        given = cuts_of(**random_cuts(seed))
        fast = sample_failed_cuts(given, source=gh.Source.seeded(seed), error=0.2)
        with monkeypatch.context() as patch:
            patch.setattr(cut_chain, "compiled", interpreted)
            slow = sample_failed_cuts(given, source=gh.Source.seeded(seed), error=0.2)
        assert fast.beliefs.tolist() == slow.beliefs.tolist()
        assert (fast.n_sweeps, fast.acceptance) == (slow.n_sweeps, slow.acceptance)


def large(n: int, *, size: int = 12, n_values: int = 20, ell: int = 6) -> tuple[FailedCuts, Any]:
    """A table in groups along a line, with cuts across it at every scale, those that failed; and the truth."""
    rng = np.random.default_rng(n)
    truth = rng.choice(n_values, n, p=[1 / ell, *[(1 - 1 / ell) / (n_values - 1)] * (n_values - 1)]).tolist()
    height = rng.permutation(n)
    groups = [row // size for row in range(n)]
    cuts: Cuts = []
    width = n
    while width >= 2 * size:
        for start in range(0, n - width + 1, width):
            rows = np.arange(start, start + width)
            low = height[rows] < np.median(height[rows])
            cut = rows[low].tolist(), rows[~low].tolist()
            if any(breaks(truth, part, ell, ()) for part in cut):
                cuts.append(cut)
        width //= 2
    values = [truth[i : i + size] for i in range(0, n, size)]
    return cuts_of(groups, values, cuts, ell=ell), np.array(truth, np.int32)


def test_counts_stay_those_of_the_world_and_every_cut_keeps_failing() -> None:
    cuts, truth = large(12 * 1024)
    layout = cut_chain._Layout(cuts)
    walk = cut_chain._Walk(layout, gh.Source.seeded(1), None, "a chain")
    assert layout.n_cuts > 300
    for _ in range(2):
        walk.walk(20 * layout.n_places)
        counts, violators = walk.counts.copy(), walk.violators.copy()
        walk._set(walk.held)
        assert np.array_equal(counts, walk.counts)
        assert np.array_equal(violators, walk.violators)
        assert (violators > 0).all()
        held = np.bincount(walk.held, minlength=len(layout.value_of))
        assert np.array_equal(held, np.bincount(layout.held))
    world = truth.copy()
    world[layout.people] = layout.value_of[walk.held]
    for cut in range(cuts.n_cuts):
        assert any(breaks(world, part.tolist(), 6, ()) for part in cuts.parts(cut))


def test_a_walk_may_start_from_a_given_world() -> None:
    cuts, truth = large(12 * 16)
    searched = sample_failed_cuts(cuts, source=gh.Source.seeded(1), error=0.06)
    started = sample_failed_cuts(cuts, source=gh.Source.seeded(2), error=0.06, start=truth)

    assert np.abs(searched.beliefs - started.beliefs).max() < 0.1
    assert searched.notes
    wrong = truth.copy()
    wrong[0] = (wrong[0] + 1) % 20
    with pytest.raises(gh.InputError, match="published values"):
        sample_failed_cuts(cuts, source=gh.Source.seeded(2), start=wrong)


def test_a_first_world_is_repaired_where_shuffling_would_not_find_one() -> None:
    # The cut fails only if all 26 tuples with the value are on the left, with 50 people of 120.
    groups = [0] * 60 + [1] * 60
    values = [[0] * 13 + list(range(1, 48))] * 2
    left = [*range(25), *range(60, 85)]
    right = [row for row in range(120) if row not in left]
    given = cuts_of(groups, values, [(left, right)], ell=2, ignored=range(1, 48))
    found = sample_failed_cuts(given, source=gh.Source.seeded(1), error=0.05)

    assert found.of(0)[0] == pytest.approx(13 / 25)
    assert found.of(30)[0] == 0


def test_walks_on_different_islands_are_not_believed() -> None:
    # Nearly all of 32 tuples with the value must be on one side, left or right: exchanges never lead across.
    groups = [0] * 60 + [1] * 60
    values = [[0] * 16 + list(range(1, 45))] * 2
    left = [*range(30), *range(60, 90)]
    right = [row for row in range(120) if row not in left]
    given = cuts_of(groups, values, [(left, right)], ell=2, ignored=range(1, 45))

    said = []
    for seed in range(6):
        try:
            said += sample_failed_cuts(given, source=gh.Source.seeded(seed), error=0.05, most_sweeps=1000).notes
        except gh.NotSupported as refusal:
            said.append(str(refusal))
    refused = [float(text.split("R-hat ")[1].split()[0]) for text in said if "R-hat" in text]
    assert sum(ratio > 2 for ratio in refused) >= 3  # all four walks start on one side once in eight times
    assert set(said) - {text for text in said if "R-hat" in text} <= {cut_chain.ISLANDS}


def test_cuts_that_tell_nothing_leave_exact_beliefs() -> None:
    # The cut runs between the groups, so who has what in a group does not matter.
    found = sample_failed_cuts(cuts_of([0, 0, 1, 1], [[0, 0], [0, 1]], [((0, 1), (2, 3))], ell=2))

    assert (found.n_people, found.notes, found.n_sweeps) == (0, (), 0)
    assert [found.of(row) for row in range(4)] == [{0: 1.0}, {0: 1.0}, {0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.5}]
    assert not found.errors.any()


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(gh.InputError, match="cut 0 was rejected"):
        sample_failed_cuts(cuts_of([0] * 4, [[0, 1, 2, 3]], [((0, 1), (2, 3))], ell=2))
    with pytest.raises(gh.InputError, match="not published in the person's group"):
        sample_failed_cuts(cuts_of([0, 0, 1], [[0, 1], [2]], [], ell=2, fixed=[2, -1, -1]))
    with pytest.raises(gh.InputError, match="more people of a group"):
        sample_failed_cuts(cuts_of([0, 0], [[0, 1]], [], ell=2, fixed=[0, 0]))
    with pytest.raises(gh.InputError, match="group 1 has 2 people whose values are not known, and 1 value for them"):
        sample_failed_cuts(cuts_of([0, 1, 1], [[0], [2]], [], ell=2))


def test_too_few_sweeps_are_refused_with_the_figures() -> None:
    cuts, _ = large(12 * 64)

    with pytest.raises(
        gh.NotSupported, match=r"error of 0\.001 for .* after .* rounds of 4 independent samplings the error was 0\.0"
    ):
        sample_failed_cuts(cuts, source=gh.Source.seeded(1), error=0.001, most_sweeps=1000)


def test_cuts_that_each_may_but_together_cannot_fail_are_refused() -> None:
    # Both cuts need the two equal tuples on one side, and no two people are on one side of both.
    cuts: Cuts = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    with pytest.raises(gh.NotSupported, match=r"in the last table that was tried it would have made"):
        sample_failed_cuts(cuts_of([0] * 4, [[0, 0, 1, 2]], cuts, ell=2), source=gh.Source.seeded(1))


def test_progress_is_told_also_while_a_first_table_is_searched_for_and_never_goes_back() -> None:
    table = gh.synthetic.hospital(120, seed=1)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), method=gh.Mondrian(), recoding=gh.Boxes())
    told = list[float]()
    chain = gh.ReverseEngineering(how="sampled", most_runs=60, source=gh.Source.seeded(1), progress=told.append)
    with pytest.raises(gh.NotSupported, match="no possible table was found to start"):
        gh.attack(release, chain, knowledge=gh.Knowledge(external=table))
    assert len(set(told)) >= 20
    assert told == sorted(told)
