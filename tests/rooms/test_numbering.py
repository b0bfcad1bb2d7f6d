# SPDX-License-Identifier: Apache-2.0
"""Numberings: one-to-one, uniform, of the source alone, and the same however one asks; and choices among a billion."""

from __future__ import annotations

import copy
import pickle
from itertools import permutations
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse import randomness
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.randomness import Numbering, Source
from tests.rooms.test_randomness import is_uniform
from tests.tiers import examples
from tests.twins import enumerating

SIZES = [*range(1, 70), 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 1999, 2000]


def whole(numbering: Numbering) -> list[int]:
    return numbering.of(np.arange(numbering.n)).tolist()


@pytest.mark.parametrize("listed", [0, 10**4])
def test_every_number_is_given_once(listed: int) -> None:
    for n in SIZES:
        assert sorted(whole(Source.seeded(n).numbering(n, listed=listed))) == list(range(n)), n


def test_without_the_second_walk_of_results_beyond_n_it_would_not_be_one_to_one() -> None:
    source, short = Source.seeded(3), 0
    for n in (5, 11, 1000, 1999):
        numbering = source.numbering(n, listed=0)
        found = np.empty(n, np.int64)
        numbering._encipher(np.arange(n), found)
        short += int((found >= n).sum())
    assert short > 0


def test_up_to_a_million_it_is_the_permutation() -> None:
    assert whole(Source.seeded(5).numbering(2**20)) == Source.seeded(5).permutation(2**20).tolist()
    source = Source.seeded(5)
    source.numbering(2**20 + 1)
    assert source.below(2**62) == Source.seeded(5).below(2**62)  # beyond, nothing is drawn from the stream


@given(n=st.integers(1, 3000), seed=st.integers(0, 3), data=st.data())
@settings(max_examples=examples(80), deadline=None)
def test_any_places_in_any_order_have_the_same_numbers(n: int, seed: int, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, n - 1), max_size=50))
    numbering = Source.seeded(seed).numbering(n, listed=0)

    with patch.object(randomness, "_AT_ONCE", data.draw(st.integers(1, 9))):
        found = numbering.of(np.array(places, np.int64))

    assert found.dtype == np.int64
    everything = whole(Source.seeded(seed).numbering(n, listed=0))
    assert [everything[place] for place in places] == found.tolist()


def rounds_by_hand(n: int, tables: tuple[Any, ...], bits: int, left: int, item: int) -> int:
    """The network, digit by digit."""
    while True:
        a, b = divmod(item, 2**bits)
        for turn, table in enumerate(tables):
            if turn % 2 == 0:
                a = (a + int(table[b])) % left
            else:
                b = (b + int(table[a])) % 2**bits
        item = a * 2**bits + b
        if item < n:
            return item


@pytest.mark.parametrize("n", [2, 3, 100, 1999, 2**21 + 7, 10**9, 2**31 + 11, 2**40])
def test_it_is_the_network_that_its_words_say(n: int) -> None:
    numbering = Source.seeded(n).numbering(n, listed=0)
    bits, left = numbering._bits, numbering._left
    places = sorted({0, 1, n // 3, n - 2, n - 1})

    assert len(numbering._rounds) == 10
    assert n <= left * 2**bits < n + 2**bits
    by_hand = [rounds_by_hand(n, numbering._rounds, bits, left, place) for place in places]
    assert by_hand == numbering.of(np.array(places)).tolist()


def test_different_sources_and_children_number_differently() -> None:
    sources = [Source.seeded(1), Source.seeded(2), Source.seeded(1).child("a"), Source.secure(), Source.secure()]
    sources += [Source.seeded(1).child("numbering")]
    found = {tuple(source.numbering(10**7).of(np.arange(20)).tolist()) for source in sources}

    assert len(found) == len(sources)


def test_the_first_item_goes_everywhere_alike() -> None:
    n = 60
    seen = [int(Source.seeded(seed).numbering(n, listed=0).of(np.array([0]))[0]) for seed in range(6000)]
    assert is_uniform(np.bincount(seen, minlength=n))


def test_two_items_go_to_every_pair_of_places_alike() -> None:
    n = 9
    pairs = {pair: i for i, pair in enumerate(permutations(range(n), 2))}
    seen = [
        pairs[tuple(Source.seeded(seed).numbering(n, listed=0).of(np.array([3, 4])).tolist())]  # type: ignore[index]
        for seed in range(8000)
    ]
    assert is_uniform(np.bincount(seen, minlength=len(pairs)))


def test_too_few_rounds_would_be_noticed() -> None:
    n = 64
    with patch.object(randomness, "_ROUNDS", 2):
        found = [Source.seeded(seed).numbering(n, listed=0).of(np.array([0, 1])) for seed in range(3000)]
    # where the left digits agree after the first round, the right digits still differ by one
    assert not is_uniform(np.bincount([int((a - b) % 8) for a, b in found], minlength=8))


@pytest.mark.parametrize("places", [[-1], [5], [[0]], [0.5]])
@pytest.mark.parametrize("listed", [0, 10])
def test_places_that_are_not_there_are_refused(places: list[Any], listed: int) -> None:
    with pytest.raises(ParameterError, match="places must be"):
        Source.seeded(1).numbering(5, listed=listed).of(np.array(places))


def test_it_can_be_neither_pickled_nor_copied_nor_printed() -> None:
    numbering = Source.seeded(1).numbering(10**7)
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(NotSupported, match="as secret as its source"):
            copied(numbering)
    assert repr(numbering) == "Numbering(10,000,000)"
    with pytest.raises(ParameterError):
        Source.seeded(1).numbering(2**40 + 1)
    assert Source.seeded(1).numbering(0).of(np.array([], np.int64)).tolist() == []


# Choices: two ways, one order of draws.


@given(seed=st.integers(0, 99), n=st.integers(0, 120), data=st.data())
@settings(max_examples=examples(150), deadline=None)
def test_both_ways_to_choose_are_floyds(seed: int, n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    expected = enumerating.choose(Source.seeded(seed).below, n, k)

    with patch.object(randomness, "_CHOICES", data.draw(st.sampled_from([8, 16, 64]))):
        assert Source.seeded(seed)._choose_by_marks(n, k).tolist() == expected
    assert Source.seeded(seed)._choose_by_order(n, k).tolist() == expected


def test_a_draw_of_an_earlier_replacement_is_replaced_too() -> None:
    chains = 0
    for seed in range(300):
        source = Source.seeded(seed)
        draws = source.belows(np.arange(5, 9))
        first_repeated = draws[1] == draws[0]
        chains += bool(first_repeated and 5 in draws[2:])
        assert (
            enumerating.choose(Source.seeded(seed).below, 8, 4) == Source.seeded(seed)._choose_by_order(8, 4).tolist()
        )
    assert chains > 3


def test_a_million_of_a_billion() -> None:
    chosen = Source.seeded(1).choose(10**9, 10**6)

    assert len(chosen) == 10**6
    assert chosen.dtype == np.int64
    assert (np.diff(chosen) > 0).all()
    assert 0 <= chosen[0]
    assert chosen[-1] < 10**9
    assert is_uniform(np.bincount(chosen // 10**7, minlength=100))
