# SPDX-License-Identifier: Apache-2.0
"""Greedy groups explained: beside the slow twin, beside the enumeration of all worlds, and by MINIMALITY's formulas."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import e, prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.greedy import prefixes
from glasshouse.adversary.reverse_engineering.greedy.prefix_states import Closeness, Frequencies, Impossible, Run
from glasshouse.adversary.reverse_engineering.greedy.prefixes import Solved, solve
from glasshouse.adversary.reverse_engineering.greedy.sequences import GreedyGroups
from glasshouse.adversary.reverse_engineering.worlds.enumeration import exact_posterior
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun
from glasshouse.errors import DomainError, GuaranteeBroken, Infeasible, InputError, NotSupported
from glasshouse.kernels import interpreted
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import code
from glasshouse.release.contents import Published
from tests.rooms.adversary.earlier import publish_by_identifiers
from tests.tiers import tables
from tests.twins import sequences as twin
from tests.twins.greedy import binary_diverse, close, frequency_diverse

EXACT = 1e-11
NEVER = Fraction(0)


def buckets(n: int, size: int) -> tuple[int, ...]:
    return tuple(min(size, n - start) for start in range(0, n, size))


def explained(run: Run, judge: Any, p: Fraction = NEVER, **limits: Any) -> Solved:
    choices = {"most_states": 10**9, "error": 0.02, "source": gh.Source.seeded(1), "most_trials": 10**7} | limits
    return solve(run, judge, p, **choices)


def diverse_run(counts: list[int], ell: int, counted: list[bool] | None = None, **fields: Any) -> Run:
    return Run(
        codes=np.arange(len(counts)),
        counts=np.array(counts),
        counted=np.array(counted or [True] * len(counts)),
        sizes=buckets(sum(counts), ell),
        **fields,
    )


# --- one group -------------------------------------------------------------------------------------------------------


def random_group(random: Random) -> tuple[dict[str, Any], Run, Any]:
    """A group for the twin, and the same for the product."""
    what, ell, m = (
        random.choice(["frequency", "designated", "closeness"]),
        random.choice([2, 3, 4]),
        random.choice([2, 3, 4]),
    )
    n = min(random.randrange(ell * (m - 1) + 1, ell * m + 1), 6)
    p = random.choice([NEVER, NEVER, Fraction(1, 3), Fraction(3, 5)])
    n = min(n, 5) if p else n
    n_values = random.choice([2, 3, 4])
    values = sorted(random.randrange(n_values) for _ in range(n))
    codes = np.array(sorted(set(values)))
    size, counted = ell, np.ones(len(codes), bool)
    if what == "closeness":
        size, whole = 1, [*values, *(random.randrange(n_values) for _ in range(random.randrange(5))), n_values - 1]
        t = Fraction(random.randrange(1, 8), 20)
        ordered = random.random() < 0.5
        distance = (lambda one, other: Fraction(abs(one - other), max(1, n_values - 1))) if ordered else None
        holds = close(whole, t, distance) if distance else close(whole, t)
        histogram = Counts.from_histograms([[whole.count(value) for value in range(n_values)]])
        principle = gh.TCloseness(t=t, distance="ordered" if ordered else "equal")
        judge: Any = Closeness.of(principle.bind(histogram, code(pa.array(range(n_values)), name="s").domain))
    elif what == "designated":
        holds, judge, counted = binary_diverse(ell, 1), Frequencies(ell), codes == 1
    else:
        holds, judge = frequency_diverse(ell), Frequencies(ell)
    known: dict[int, int] = {}
    if random.random() < 0.4:
        shuffled = random.sample(values, n)
        known = {place: shuffled[place] for place in random.sample(range(n), random.randrange(1, 3))}
    leftover = random.choice(["drop", "merge"])
    fixed = np.zeros((len(buckets(n, size)), len(codes)), np.int64)
    for place, value in known.items():
        fixed[place // size, list(codes).index(value)] += 1
    run = Run(
        codes=codes,
        counts=np.array([values.count(value) for value in codes]),
        counted=counted,
        sizes=buckets(n, size),
        kind="merged" if leftover == "merge" else "seen",
        fixed=fixed if known else None,
    )
    judged = cache(lambda codes: holds(list(codes)))  # the same few multisets, in hundreds of arrangements
    asked = {"values": values, "size": size, "p": p, "leftover": leftover, "known": known}
    asked["holds"] = lambda codes: judged(tuple(sorted(codes)))
    return asked, run, judge


def twins_agree(seeds: range) -> int:
    """Compare random groups with the twin; returns how many could have been made."""
    compared = 0
    for seed in seeds:
        asked, run, judge = random_group(Random(seed))
        try:
            expected = twin.group_beliefs(**asked)
        except AssertionError:
            with pytest.raises(Impossible):
                explained(run, judge, asked["p"])
            continue
        found = explained(run, judge, asked["p"]).beliefs
        for place, beliefs in enumerate(expected):
            if place not in asked["known"]:
                wanted = [float(beliefs.get(value, 0)) for value in run.codes.tolist()]
                assert np.allclose(found[place // asked["size"]], wanted, rtol=0, atol=EXACT), (seed, place)
        compared += 1
    return compared


def test_beliefs_inside_a_group_are_those_of_running_the_algorithm_on_every_arrangement() -> None:
    assert twins_agree(range(600)) > 200


@pytest.mark.parametrize(
    ("ell", "m", "expected"),
    [
        (2, 2, Fraction(1)),
        (3, 2, Fraction(2, 3)),
        (5, 2, Fraction(2, 5)),
        (3, 3, Fraction(7, 10)),
        (4, 3, Fraction(15, 28)),
        (6, 4, Fraction(77, 204)),
        (8, 40, None),
        (10, 300, None),
    ],
)
def test_the_first_bucket_is_believed_what_theorem_6_says_and_others_less(
    ell: int, m: int, expected: Fraction | None
) -> None:
    formula = prod((Fraction(m * ell - 1 - j, m * ell - m - j) for j in range(1, ell)), start=Fraction(1, ell))
    designated = explained(diverse_run([m * ell - m, m], ell, [False, True]), Frequencies(ell)).beliefs[:, 1]
    # one frequent value among others that occur once each is the same under frequency l-diversity
    frequent = explained(diverse_run([m, *[1] * (m * ell - m)], ell), Frequencies(ell)).beliefs[:, 0]

    assert expected is None or formula == expected
    assert designated[0] == pytest.approx(float(formula), rel=1e-11)
    assert frequent == pytest.approx(designated, rel=1e-11)
    assert all(one >= other for one, other in pairwise(designated.tolist()))  # Theorem 8
    assert designated[0] < e / ell


def test_beliefs_of_a_bucket_sum_to_one_and_expected_counts_to_the_published_ones() -> None:
    for seed in range(200):
        random = Random(seed)
        ell, m = random.choice([2, 3, 5]), random.choice([2, 3, 4, 5])
        rest = ell * m - m
        counts = [m]
        while rest:
            counts.append(min(rest, random.randrange(1, m + 1)))
            rest -= counts[-1]
        p = random.choice([NEVER, Fraction(1, 2)])

        found = explained(diverse_run(counts, ell), Frequencies(ell), p).beliefs

        assert found.sum(axis=1) == pytest.approx(np.ones(m))
        assert found.sum(axis=0) * ell == pytest.approx(np.array(counts, float))


def test_the_larger_p_the_less_a_group_tells_and_almost_certain_coins_tell_nothing() -> None:
    run = diverse_run([4, 3, 2, 2, *[1] * 9], 5)
    first = [explained(run, Frequencies(5), p).beliefs[0, 0] for p in map(Fraction, ("0", "0.2", "0.6", "0.999999"))]

    assert all(one > other for one, other in pairwise(first))
    assert first[-1] == pytest.approx(4 / 20, abs=1e-5)


def test_the_interpreted_kernels_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [diverse_run([3, 2, 2, 1, 1], 3), diverse_run([3, 2, 2, 1, 1], 3, kind="merged")]
    found = [explained(run, Frequencies(3), Fraction(1, 3)).beliefs for run in runs]
    sampled = explained(runs[0], Frequencies(3), Fraction(1, 3), most_states=0, error=0.1).beliefs
    monkeypatch.setattr(prefixes, "compiled", interpreted)

    for run, expected in zip(runs, found, strict=True):
        assert np.array_equal(explained(run, Frequencies(3), Fraction(1, 3)).beliefs, expected)
    again = explained(runs[0], Frequencies(3), Fraction(1, 3), most_states=0, error=0.1).beliefs
    assert np.array_equal(again, sampled)


# --- sampled ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["seen", "merged"])
@pytest.mark.parametrize("p", [NEVER, Fraction(2, 5)])
def test_intervals_of_sampled_beliefs_cover_the_exact_ones_as_often_as_they_say(kind: str, p: Fraction) -> None:
    run = diverse_run([3, 2, 2, 2, 1, 1, 1], 4, kind=kind)
    exact = explained(run, Frequencies(4), p).beliefs
    covered = []
    for seed in range(60):
        source = gh.Source.seeded(seed)
        sampled = explained(run, Frequencies(4), p, most_states=0, error=0.05, source=source)
        assert sampled.errors is not None
        assert sampled.errors.max() <= 0.05
        covered.append(np.abs(sampled.beliefs - exact) <= sampled.errors)

    assert np.mean(covered) >= 0.95


def test_sampling_knows_what_was_found_out_and_measures_closeness() -> None:
    for seed in range(2000, 2040):
        asked, run, judge = random_group(Random(seed))
        try:
            exact = explained(run, judge, asked["p"])
            sampled = explained(run, judge, asked["p"], most_states=0, error=0.05, most_trials=300_000)
        except (Impossible, NotSupported):
            continue
        unknown = np.diff(run.unknown()) > 0
        assert np.abs(sampled.beliefs - exact.beliefs)[unknown].max() <= 0.1, seed
        if sampled.errors is not None:
            assert sampled.log_weight == pytest.approx(exact.log_weight, abs=0.5)


def test_an_error_that_the_trials_cannot_reach_is_refused() -> None:
    with pytest.raises(NotSupported, match=r"an error of 0\.0001 for a group of 12 people"):
        explained(
            diverse_run([3, 2, 2, 2, 1, 1, 1], 4), Frequencies(4), most_states=0, error=0.0001, most_trials=10_000
        )


# --- whole tables ----------------------------------------------------------------------------------------------------


def random_case(seed: int) -> tuple[dict[str, list[Any]], bool, Any, Any, Any, dict[Any, Any]]:
    """People, whether identifiers break ties, principle, method, recoding, and whom the attacker has corrupted."""
    random = Random(seed)
    n, n_values, dims = random.randrange(3, 8), random.choice([2, 3, 4]), random.choice([1, 1, 2])
    spread = random.choice([1, 2, 3, 9])
    rows: dict[str, list[Any]] = {"id": [f"p{i}" for i in random.sample(range(n), n)]}
    rows |= {f"q{dim}": [random.randrange(spread) for _ in range(n)] for dim in range(dims)}
    rows["s"] = [random.choice("abcd"[:n_values]) for _ in range(n)]
    identified = random.random() < 0.5
    ell, occurring = random.choice([2, 2, 3, 4]), sorted(set(rows["s"]))
    principle = random.choice(
        [
            gh.LDiversity(ell=ell),
            gh.DesignatedLDiversity(
                ell=ell, values=tuple(random.sample(occurring, random.randrange(1, min(2, len(occurring)) + 1)))
            ),
            gh.TCloseness(t=Fraction(random.randrange(1, 10), 20)),
        ]
    )
    choices: dict[str, Any] = {
        "ordering": random.choice(["lexicographic", "lexicographic", "hilbert"]),
        "last": random.choice(["merge", "merge", "drop"]),
        "priority": random.choice([(), (f"q{dims - 1}",)]),
    }
    method: Any = gh.Greedy(**choices)
    if random.random() < 0.4:
        method = gh.RandomisedGreedy(p=random.choice(["1/3", "3/5"]), **choices)
    recoding = random.choice([gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel(k=random.choice([1, 2]))])
    names = rows["id"] if identified else list(range(n))
    corrupted = {}
    if random.random() < 0.35:
        for row in random.sample(range(n), random.choice([1, 1, 2])):
            corrupted[names[row]] = rows["s"][row] if random.random() < 0.8 else random.choice(rows["s"])
    return rows, identified, principle, method, recoding, corrupted


def compared_with_all_worlds(seed: int, most_runs: int, case: Any = None) -> str:
    """Attack a release in both ways, a random one unless a case is given; returns what came of it."""
    rows, identified, principle, method, recoding, corrupted = case or random_case(seed)
    quasi = [name for name in rows if name.startswith("q")]
    names: dict[str, Any] = {"identifier": "id"} if identified else {}
    shown = {name: column for name, column in rows.items() if name != "id" or identified}
    table = gh.read(shown, quasi=quasi, sensitive="s", **names)
    people = gh.read({name: column for name, column in shown.items() if name != "s"}, quasi=quasi, **names)
    try:
        publish = gh.publish if people.identifier is None else publish_by_identifiers
        release = publish(table, principle=principle, method=method, recoding=recoding, source=gh.Source.seeded(seed))
    except (Infeasible, NotSupported, DomainError, GuaranteeBroken):
        return "not published"
    published, knowledge = Published.of(release), gh.Knowledge(external=people, corrupted=corrupted)
    found: Any = None
    try:
        found = GreedyGroups().attack(release, knowledge, (principle, method, recoding))
    except NotSupported:
        return "not supported"
    except InputError:
        pass
    totals = np.bincount(published.codes, weights=published.counts, minlength=len(published.values))
    try:
        expected = exact_posterior(
            people,
            Rerun(principle=principle, method=method, recoding=recoding),
            release.tables,
            values={value: int(total) for value, total in zip(published.values, totals, strict=True)},
            n=people.n_tuples,
            sensitive="s",
            corrupted={knowledge.person(name): value for name, value in corrupted.items()},
            limit_worlds=most_runs // 4,
            limit_runs=most_runs,
        )
    except NotSupported:
        return "too many worlds"
    except InputError:
        assert found is None, seed
        return "impossible"
    assert found is not None, seed
    assert found.how == "exact"
    for row, name in enumerate(rows["id"] if identified else range(table.n_tuples)):
        beliefs = found.of(name)
        for value in published.values:
            assert abs(beliefs.get(value, 0.0) - float(expected.of[row].get(value, 0))) < EXACT, (seed, row, value)
    for kind in range(len(found.presence)):
        assert all(found.because(kind, i) for i in range(len(published.values)))
    return "compared"


def test_beliefs_are_those_of_trying_every_world_and_every_choice() -> None:
    outcomes = Counter(compared_with_all_worlds(seed, 250) for seed in range(tables(4_000, 400)))

    assert outcomes["compared"] > tables(200), outcomes
    assert outcomes["impossible"] >= tables(3), outcomes


def test_corrupted_people_with_one_value_may_stand_anywhere_among_those_like_them() -> None:
    outcomes: Counter[str] = Counter()
    tried = tables(600)
    for seed in range(tried):
        random = Random(seed)
        rows = {"q0": sorted(random.randrange(3) for _ in range(6)), "s": random.sample("aaabbc", 6)}
        alike = [row for row in range(6) if rows["q0"][row] == rows["q0"][3]]
        value = Counter(rows["s"][row] for row in alike).most_common(1)[0][0]
        corrupted = {row: value for row in alike if rows["s"][row] == value}
        method = gh.RandomisedGreedy(p="1/3") if seed % 5 == 0 else gh.Greedy(last=random.choice(["merge", "drop"]))
        recoding = random.choice([gh.Permutation(), gh.Boxes()])
        case = {"id": [], **rows}, False, gh.LDiversity(ell=2), method, recoding, corrupted
        outcomes[compared_with_all_worlds(seed, 800, case)] += 1

    assert outcomes["compared"] > tried // 3, outcomes


def line(values: list[str], **fields: Any) -> gh.Microdata:
    return gh.read({"x": list(range(len(values))), "s": values}, quasi=["x"], sensitive="s", **fields)


def attacked(
    table: gh.Microdata, principle: Any, method: Any, recoding: Any = None, corrupted: Any = None, **limits: Any
) -> Any:
    algorithm = principle, method, recoding or gh.Permutation()
    release = gh.publish(table, principle=principle, method=method, recoding=algorithm[2], source=gh.Source.seeded(3))
    knowledge = gh.Knowledge(external=replace(table, sensitive=()), corrupted=corrupted or {})
    return GreedyGroups(**limits).attack(release, knowledge, algorithm)


def test_figure_6a_gives_two_people_away() -> None:
    table = gh.examples.minimality_figure6a()
    values = ("Positive",)
    found = attacked(table, gh.DesignatedLDiversity(ell=2, values=values), gh.Greedy(last="drop"))
    hidden = attacked(table, gh.DesignatedLDiversity(ell=2, values=values), gh.Greedy(last="merge"))
    names = [found.knowledge.name(row) for row in range(4)]

    assert [found.of(name).get("Positive", 0.0) for name in names] == [1.0, 1.0, 0.0, 0.0]
    assert [hidden.of(name)["Positive"] for name in names] == [0.5] * 4  # a rest that was merged would look the same
    why = found.because(int(found.kind[0]), found.values.index("Positive"))
    assert "2 of the 4 records of their group have Positive" in why
    assert "first part: if its first 2 people" in why
    assert why.endswith("the group would have ended there")


def test_three_people_are_given_away_under_t_closeness() -> None:
    found = attacked(line(["a", "a", "b"]), gh.TCloseness(t="1/4"), gh.Greedy(last="drop"))

    assert [found.of(row).get("b", 0.0) for row in range(3)] == [0.0, 0.0, 1.0]


def test_safe_greedy_groups_are_explained_at_the_l_that_they_were_run_at() -> None:
    values = ["a", "a", *"bcdefghij", "k"]
    found = attacked(line(values), gh.DesignatedLDiversity(ell=2, values=("a",)), gh.Greedy(safe=True, last="drop"))

    assert found.of(0)["a"] == pytest.approx(2 / 6)  # two buckets of 6 = ceil(2 e)
    assert found.of(6).get("a", 0.0) == 0.0


def test_dropped_people_are_imagined_to_break_the_principle_together() -> None:
    designated = gh.DesignatedLDiversity(ell=2, values=("a",))
    found = attacked(line(list("abbbaa")), designated, gh.Greedy(last="drop"))
    frequent = attacked(line(list("abcabccc")), gh.LDiversity(ell=2), gh.Greedy(last="drop"))

    assert found.of(4) == {"a": 1.0}  # the last two would have been a group unless both have it
    assert found.of(0) == {"a": 0.5, "b": 0.5}
    assert frequent.of(6) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert found.presence.tolist() == [1.0] * len(found.presence)


def test_large_groups_are_sampled_and_say_so() -> None:
    random = Random(5)
    values = random.choices("abcdefgh", weights=[3, 1, 1, 1, 1, 1, 1, 1], k=120)
    table = line([*values, *"bcdefgh" * 3])
    exact = attacked(table, gh.LDiversity(ell=3), gh.Greedy())
    sampled = attacked(table, gh.LDiversity(ell=3), gh.Greedy(), most_states=0, source=gh.Source.seeded(1))
    again = attacked(table, gh.LDiversity(ell=3), gh.Greedy(), most_states=0, source=gh.Source.seeded(1))

    assert (exact.how, exact.errors, sampled.how) == ("exact", None, "sampled")
    assert sampled.errors.max() <= 0.02
    assert np.array_equal(sampled.beliefs, again.beliefs)
    for row in range(table.n_tuples):
        one, other = exact.of(row), sampled.of(row)
        assert all(abs(one.get(value, 0.0) - other.get(value, 0.0)) < 0.04 for value in exact.values)


def test_the_order_of_rows_changes_nothing() -> None:
    random = Random(8)
    rows = [(random.randrange(6), random.choice("aabcde")) for _ in range(60)]
    shuffled = random.sample(range(60), 60)
    tables = [
        gh.read({"x": [rows[i][0] for i in order], "s": [rows[i][1] for i in order]}, quasi=["x"], sensitive="s")
        for order in (range(60), shuffled)
    ]
    one, other = (
        attacked(table, gh.LDiversity(ell=3), gh.Greedy(), most_states=0, source=gh.Source.seeded(1))
        for table in tables
    )

    assert all(one.of(shuffled[row]) == other.of(row) for row in range(60))


def test_what_cannot_be_explained_exactly_is_refused_with_what_would_work() -> None:
    table = line(list("aabbccdd"))
    algorithm = gh.LDiversity(ell=2), gh.Greedy(), gh.Permutation()
    release = gh.publish(table, principle=algorithm[0], method=algorithm[1], recoding=algorithm[2])

    def refused(match: str, knowledge: gh.Knowledge, steps: Any = algorithm) -> None:
        with pytest.raises(NotSupported, match=match):
            GreedyGroups().attack(release, knowledge, steps)

    more = line(list("aabbccdda"))
    refused("8 records and the external table 9 people", gh.Knowledge(external=more))
    refused("prior for single people", gh.Knowledge(external=table, prior={0: {"a": 1}}))
    refused("not in the table", gh.Knowledge(external=table, corrupted={0: gh.ABSENT}))
    refused(
        "made by the method 'greedy' or 'randomised-greedy'",
        gh.Knowledge(external=table),
        (algorithm[0], gh.Mondrian(), algorithm[2]),
    )
    shifted = gh.read({"x": [i + 10 for i in range(8)], "s": list("aabbccdd")}, quasi=["x"], sensitive="s")
    with pytest.raises(InputError, match="would not form the published groups"):
        GreedyGroups().attack(release, gh.Knowledge(external=shifted), algorithm)


def test_batches_that_could_change_places_along_the_order_are_refused() -> None:
    # three people alike and another, one bucket: both batches show two people of it, and either may come first
    rows = {"x": [0, 0, 0, 1], "s": list("abcc")}
    table = gh.read(rows, quasi=["x"], sensitive="s")

    with pytest.raises(NotSupported, match="more than one possibility"):
        attacked(table, gh.LDiversity(ell=2), gh.Greedy(), gh.Angel(k=2))


# --- Adult -----------------------------------------------------------------------------------------------------------


QUASI = ["age", "workclass", "education", "marital-status", "race", "sex", "number"]


def adult(folder: Path) -> gh.Microdata:
    """MINIMALITY 5: complete tuples. A number is the last quasi-identifier: the paper's order has no ties."""
    file = folder / "adult.parquet"
    if not file.exists():
        pytest.skip("the Adult table (../shared/data/adult.parquet) is not here")
    complete = pq.read_table(file).drop_null()
    complete = complete.append_column("number", [list(range(len(complete)))])
    return gh.read(complete.select([*QUASI, "occupation"]), quasi=QUASI, sensitive="occupation")


def of_value(found: Any, value: str) -> np.ndarray:
    """The belief in one value, for every person."""
    wanted = found.values.index(value)
    by_kind = np.zeros(len(found.presence))
    of_kind = np.repeat(np.arange(len(by_kind)), np.diff(found.offsets))
    by_kind[of_kind[found.codes == wanted]] = found.beliefs[found.codes == wanted]
    return by_kind[found.kind]


def test_on_adult_greedy_beliefs_lie_between_2_and_e_times_one_over_l_and_coins_bring_them_down(
    shared_data: Path,
) -> None:
    table = adult(shared_data)
    assert table.n_tuples == 45_222
    for ell in (3, 6):
        value = "Tech-support"
        principle = gh.DesignatedLDiversity(ell=ell, values=(value,))
        multiples = []
        for p in (None, "0.2", "0.6", "0.9"):
            method: Any = gh.Greedy(last="drop") if p is None else gh.RandomisedGreedy(p=p, last="drop")
            beliefs = of_value(attacked(table, principle, method), value)
            multiples.append(float(beliefs.max()) * ell)
        assert 2 <= multiples[0] < e  # MINIMALITY Figure 3(b)
        assert all(one >= other for one, other in pairwise(multiples))  # Figure 4(b)
        assert multiples[-1] < 1.1


def full() -> None:
    """What is too slow for every day: ``python -m tests.rooms.adversary.test_sequences``."""
    outcomes = Counter(compared_with_all_worlds(seed, 4000) for seed in range(10_000, 13_000))
    assert twins_agree(range(10_000, 14_000)) > 1000
    assert outcomes["compared"] > 1000, outcomes


if __name__ == "__main__":
    full()


def test_an_attack_tells_its_progress_also_within_one_large_group_so_that_it_can_be_ended() -> None:
    rows = {"age": [20 + i % 60 for i in range(120)], "ill": [*"aaabbbccd"] * 13 + [*"abc"]}
    table = gh.read(rows, quasi=["age"], sensitive="ill")
    steps = gh.LDiversity(ell=3), gh.Greedy(), gh.Anatomy()
    release = gh.publish(table, principle=steps[0], method=steps[1], recoding=steps[2])
    told = list[float]()
    limits = {"most_states": 0, "most_trials": 200, "error": 1e-6, "progress": told.append}
    with pytest.raises(gh.NotSupported, match="sampling did not reach"):
        GreedyGroups(**limits).attack(release, gh.Knowledge(external=table), steps)
    assert len(told) >= 5  # none of the groups is finished
