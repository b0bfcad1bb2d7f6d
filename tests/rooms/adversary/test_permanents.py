"""Exact shares where cells overlap: against every way to share tuples out, one by one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import factorial
from random import Random

import numpy as np
import pytest

from glasshouse.adversary.permanents import ExactShares, connected, count_ways, easy_first, exact_shares, largest_shares
from glasshouse.adversary.posterior import Beliefs
from tests.twins.intersection import seated


def shares(people: list[list[int]], capacity: list[int], n_alike: list[int] | None = None, **more: int) -> ExactShares:
    offsets = np.cumsum([0, *map(len, people)]).astype(np.int64)
    places = np.array([place for mine in people for place in mine], np.int64)
    alike = np.array(n_alike or [1] * len(people), np.int64)
    return exact_shares(alike, offsets, places, np.array(capacity, np.int64), **more)


def by_force(people: list[list[int]], capacity: list[int], n_alike: list[int]) -> dict[tuple[int, int], Fraction]:
    """How likely the first person of each kind sits at each place, by every way; empty if there is none."""
    kinds = [kind for kind, n in enumerate(n_alike) for _ in range(n)]
    place_of = [place for place, n in enumerate(capacity) for _ in range(n)]
    rows = [{person for person, kind in enumerate(kinds) if place in people[kind]} for place in place_of]
    try:
        found = seated(len(kinds), rows)
    except ZeroDivisionError:
        return {}
    sums: Counter[tuple[int, int]] = Counter()
    for (person, row), probability in found.items():
        if person == kinds.index(kinds[person]):
            sums[kinds[person], place_of[row]] += probability  # type: ignore[assignment]
    return dict(sums)  # type: ignore[arg-type]


def an_instance(draw: Random) -> tuple[list[list[int]], list[int], list[int]]:
    """A few kinds of people who fit some of a few places, mostly overlapping; with luck all tuples find somebody."""
    n_places = draw.randrange(1, 4)
    people = [
        sorted(draw.sample(range(n_places), draw.randrange(0, n_places + 1))) for _ in range(draw.randrange(1, 5))
    ]
    n_alike = [draw.randrange(1, 3) for _ in people]
    capacity = [draw.randrange(1, 3) for _ in range(n_places)]
    return people, capacity, n_alike


@pytest.mark.parametrize("seed", range(30))
def test_shares_are_those_of_counting_every_way_one_by_one(seed: int) -> None:
    draw = Random(seed)
    checked = 0
    while checked < 20:
        people, capacity, n_alike = an_instance(draw)
        expected = by_force(people, capacity, n_alike)
        if not expected:
            continue
        checked += 1
        found = shares(people, capacity, n_alike)

        pairs = [(kind, place) for kind, mine in enumerate(people) for place in mine]
        assert found.is_exact.all()
        assert [float(expected.get(pair, 0)) for pair in pairs] == pytest.approx(found.probability.tolist())
        presence = [
            sum((expected.get((kind, p), Fraction(0)) for p in mine), Fraction(0)) for kind, mine in enumerate(people)
        ]
        assert [float(p) for p in presence] == pytest.approx(found.presence.tolist())


@pytest.mark.parametrize("seed", range(20))
def test_ways_to_take_several_things_at_once_are_those_of_trying_everything(seed: int) -> None:
    draw = Random(seed)
    checked = 0
    while checked < 10:
        n_things = draw.randrange(1, 5)
        things = range(n_things)
        options = [
            [tuple(draw.sample(things, draw.randrange(0, n_things + 1))) for _ in range(draw.randrange(0, 4))]
            for _ in range(draw.randrange(1, 4))
        ]
        n_alike = [draw.randrange(1, 3) for _ in options]
        kinds = [kind for kind, n in enumerate(n_alike) for _ in range(n)]
        ways: list[tuple[int, ...]] = list(product(*([-1, *range(len(options[kind]))] for kind in kinds)))
        used = [
            tuple(
                sum(thing in options[kind][i] for kind, i in zip(kinds, way, strict=True) if i >= 0) for thing in things
            )
            for way in ways
        ]
        capacity = draw.choice(used)
        leavers = {way.count(-1) for way, use in zip(ways, used, strict=True) if use == capacity}
        right = [way for way, use in zip(ways, used, strict=True) if use == capacity]
        expected = [
            [Fraction(sum(way[kinds.index(kind)] == i for way in right), len(right)) for i in range(len(mine))]
            for kind, mine in enumerate(options)
        ]
        stays = [
            all(way[i] >= 0 for way in right for i, own in enumerate(kinds) if own == kind)
            for kind in range(len(options))
        ]
        leaving = leavers.pop() if len(leavers) == 1 else None
        checked += 1

        assert expected == count_ways(n_alike, options, capacity).shares
        assert expected == count_ways(n_alike, options, capacity, leaving=leaving).shares
        assert expected == count_ways(n_alike, options, capacity, staying=stays).shares
        all_in = [way for way in right if way[0] >= 0 and kinds.count(0) == 1]
        if all_in:
            one_stays = [True, *[False] * (len(options) - 1)]
            found = count_ways(n_alike, options, capacity, staying=one_stays).shares
            assert found is not None
            assert [Fraction(sum(w[0] == i for w in all_in), len(all_in)) for i in range(len(options[0]))] == found[0]


def test_a_stranger_at_either_end_is_in_the_table_like_everybody_else() -> None:
    found = shares([[0], [0, 1], [1]], [1, 1])

    assert [2 / 3] * 3 == pytest.approx(found.presence.tolist())
    assert [2 / 3, 1 / 3, 1 / 3, 2 / 3] == pytest.approx(found.probability.tolist())


def test_a_long_chain_of_overlaps_is_counted_in_few_states() -> None:
    n = 300  # person i fits the places i and i + 1, and one person fits the first alone: there is a single way
    one = shares([[0], *([i, i + 1] for i in range(n - 1))], [1] * n)
    assert one.is_exact.all()
    assert [1.0] * n == one.presence.tolist()
    assert one.n_states < 10 * n

    ring = shares([[i, (i + 1) % n] for i in range(n)], [1] * n)  # everybody to the left or everybody to the right
    assert [0.5] * (2 * n) == ring.probability.tolist()
    assert ring.n_states < 20 * n


def test_crowds_who_are_alike_are_counted_once() -> None:
    found = shares([[0, 1], [1, 2], [0, 2]], [30, 25, 20], [40, 45, 50])

    assert found.is_exact.all()
    assert 75 == pytest.approx(float((found.presence * [40, 45, 50]).sum()))
    taken = np.bincount([0, 1, 1, 2, 0, 2], weights=found.probability * np.repeat([40, 45, 50], 2))
    assert [30, 25, 20] == pytest.approx(taken.tolist())


def test_places_that_the_same_people_fit_share_by_their_tuples() -> None:
    apart = shares([[0, 1, 2], [0, 1], [2]], [1, 2, 1], [2, 2, 1])
    expected = by_force([[0, 1, 2], [0, 1], [2]], [1, 2, 1], [2, 2, 1])

    assert float(expected[0, 1]) == 2 * float(expected[0, 0]) == pytest.approx(apart.probability[1])


def test_components_beyond_the_states_are_left_and_smaller_ones_counted() -> None:
    draw = Random(1)
    tangled = [sorted(draw.sample(range(2, 22), 8)) for _ in range(20)]
    people = [[0], [0, 1], [1], *tangled]

    found = shares(people, [1, 1, *[1] * 20], most_states=1000)
    assert [True] * 3 + [False] * 20 == found.is_exact.tolist()
    assert 0 == found.probability[4:].sum()
    assert found.n_states <= 1400, "no step goes on for long after the last state is spent"
    assert [0] * 3 + [1] * 20 == found.component.tolist()

    assert not shares(people, [1, 1, *[1] * 20], most_states=3).is_exact.any(), "not even four pairs are allowed"


def test_records_of_unknown_people_are_not_exact_and_a_full_place_is() -> None:
    assert shares([[0], [0]], [3]).probability.tolist() == [1, 1]
    assert not shares([[0, 1], [0]], [2, 2]).is_exact.any()
    nobody = shares([[], [0]], [1])
    assert (nobody.is_exact.tolist(), nobody.presence.tolist(), nobody.component.tolist()) == (
        [True] * 2,
        [0, 1],
        [-1, 0],
    )
    assert count_ways([1], [[(0,)]], [1, 1]).shares is None, "nobody can take the second"


def test_a_hopeless_component_is_recognised_quickly() -> None:
    draw = np.random.default_rng(0)
    n = 60_000
    places = np.sort(draw.integers(0, n, (n, 5)), axis=1)
    places += np.arange(5)
    found = exact_shares(
        np.ones(n, np.int64), np.arange(n + 1) * 5, places.reshape(-1), np.ones(n + 5, np.int64), most_states=10**5
    )

    assert 0 == found.n_states
    assert not found.is_exact[0]


def test_permanents_of_ones_and_of_derangements_are_known() -> None:
    n = 9  # nobody may have their own: with these, two are equally likely to be swapped as theory says
    people = [[j for j in range(n) if j != i] for i in range(n)]
    found = shares(people, [1] * n)
    assert [1 / (n - 1)] * (n * (n - 1)) == pytest.approx(found.probability.tolist())

    def derangements(m: int) -> int:
        return sum((-1) ** i * factorial(m) // factorial(i) for i in range(m + 1))

    free = shares([list(range(n)), *people[1:]], [1] * n)  # the first may have anything
    own = Fraction(derangements(n - 1), derangements(n) + derangements(n - 1))
    assert float(own) == pytest.approx(free.probability[0])


def test_no_mixture_exceeds_the_largest_share() -> None:
    draw = Random(5)
    for _ in range(50):
        people, capacity, n_alike = an_instance(draw)
        found = shares(people, capacity, n_alike)
        counts = [[draw.randrange(0, 3) for _ in range(3)] for _ in capacity]
        rows = [[(v, c / max(1, sum(row))) for v, c in enumerate(row) if c] for row in counts]
        offsets = np.cumsum([0, *map(len, people)])
        starts = np.cumsum([0, *map(len, rows)])
        codes = np.array([v for row in rows for v, _ in row], np.int32)
        values = np.array([share for row in rows for _, share in row], np.float64)
        places = np.array([p for mine in people for p in mine], np.int64)

        largest = largest_shares(offsets, places, Beliefs(starts, codes, values), 3)
        at, of, bounds = largest.offsets, largest.codes, largest.beliefs
        for kind, mine in enumerate(people):
            bound = dict(
                zip(of[at[kind] : at[kind + 1]].tolist(), bounds[at[kind] : at[kind + 1]].tolist(), strict=True)
            )
            assert bound == {
                v: max(share for p in mine for w, share in rows[p] if v == w) for p in mine for v, _ in rows[p]
            }
            for v in bound if found.is_exact[kind] else ():
                belief = sum(
                    found.probability[offsets[kind] + i] * dict(rows[p]).get(v, 0.0) for i, p in enumerate(mine)
                )
                assert belief <= bound[v] + 1e-12


def test_components_are_what_chains_connect() -> None:
    draw = Random(3)
    for _ in range(50):
        n = draw.randrange(1, 30)
        pairs = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randrange(0, 25))]
        groups = [{i} for i in range(n)]
        for a, b in pairs:
            both = groups[a] | groups[b]
            for i in both:
                groups[i] = both
        found = connected(n, np.array([a for a, _ in pairs], np.int64), np.array([b for _, b in pairs], np.int64))

        assert [min(group) for group in groups] == found.tolist()


def test_what_failed_is_not_tried_again_with_fewer_states() -> None:
    asked: list[tuple[int, int]] = []

    def attempt(c: int, most: int) -> tuple[bool, int]:
        asked.append((c, most))
        needed = {0: 10, 1: 5_000, 2: 10**9}[c]
        return needed <= most, min(needed, most + 1)

    easy_first({0: 1, 1: 1, 2: 1}, attempt, 100_000)

    of_third = [most for c, most in asked if c == 2]
    assert of_third == sorted(set(of_third))
    assert [c for c, _ in asked].count(0) == 1
    assert (1, 8_192) in asked


def test_counting_stops_when_the_steps_that_are_left_take_too_many_states() -> None:
    people, options, capacity = [1] * 12, [[(i,), (i + 1,)] for i in range(12)], [1] * 13
    needed = count_ways([*people[:11], 2], options, capacity).n_states

    assert count_ways([*people[:11], 2], options, capacity, most_states=needed).shares is not None
    short = count_ways([*people[:11], 2], options, capacity, most_states=needed - 1)
    assert short.shares is None
    assert short.n_states > needed - 1


@pytest.mark.parametrize("n_kinds", [4, 400])
def test_beliefs_are_joined_alike_by_places_and_by_sorting(n_kinds: int) -> None:
    draw = np.random.default_rng(5)
    who, codes = draw.integers(0, 4, 100), draw.integers(0, 3, 100)
    weights = np.where(draw.random(100) < 0.1, 0.0, draw.random(100))
    expected: dict[tuple[int, int], float] = {}
    for one, code, weight in zip(who.tolist(), codes.tolist(), weights.tolist(), strict=True):
        expected[one, code] = expected.get((one, code), 0.0) + weight

    found = Beliefs.joined(who, codes, weights, n_kinds=n_kinds, n_values=3)

    listed = list(zip(found.owner.tolist(), found.codes.tolist(), strict=True))
    assert dict(zip(listed, found.beliefs.tolist(), strict=True)) == expected
    assert listed == sorted(expected)
