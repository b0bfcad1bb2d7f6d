# SPDX-License-Identifier: Apache-2.0
"""The source of randomness: exactly uniform, secret, repeatable when seeded, and the only one there is."""

from __future__ import annotations

import ast
import copy
import hmac
import itertools
import os
import pickle
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fractions import Fraction
from hashlib import sha256
from math import comb, factorial, sqrt
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse import randomness
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.kernels import compiled, interpreted
from glasshouse.randomness import Draws, Source
from tests.conftest import ROOT
from tests.tiers import examples
from tests.twins import enumerating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

KERNELS = "glasshouse.kernels._random_kernels"
PACKAGE = ROOT / "src" / "glasshouse"

# Bounds that take one word or two, reject nothing, little or nearly half, and sit on each border.
NARROW = [1, 2, 3, 6, 1000, 2**31 - 1, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 1]
BOUNDS = [*NARROW, 2**32, 2**32 + 1, 2**33, 2**61 + 1, 2**62]


@contextmanager
def blocks(first: int, largest: int) -> Iterator[None]:
    """Cut the stream into blocks of other sizes."""
    with patch.object(randomness, "_FIRST_BLOCK", first), patch.object(randomness, "_LARGEST_BLOCK", largest):
        yield


def everything(source: Draws) -> list[Any]:
    """Make every kind of draw."""
    array = np.arange(40, dtype=np.int64) * 3
    source.shuffle(array)
    runs = np.arange(60, dtype=np.int32)
    source.shuffle_runs(runs, np.array([0, 0, 1, 20, 20, 22, 60, 60]))
    return [
        runs.tolist(),
        [source.below(n) for n in BOUNDS],
        source.belows(np.array(BOUNDS * 3)).tolist(),
        source.belows(3 * 2**30, 50).tolist(),
        source.permutation(100).tolist(),
        array.tolist(),
        source.choose(60, 20).tolist(),
        source.choose(10_000, 5).tolist(),
        [source.coin() for _ in range(20)],
        [source.bernoulli(2, 3) for _ in range(20)],
        source.child("leaf", 3).permutation(20).tolist(),
        source.below(1000),
    ]


# Uniform by counting: what each value gets of all words, and of all runs.


@given(n=st.integers(1, 2**32 - 1) | st.sampled_from(NARROW), data=st.data())
@settings(deadline=None)
@pytest.mark.parametrize("kernels", [compiled, interpreted])
def test_every_value_is_given_by_exactly_the_same_number_of_words(
    kernels: Callable[[str], Any], n: int, data: st.DataObject
) -> None:
    value = data.draw(st.integers(0, n - 1) | st.sampled_from([0, n - 1]))
    first, after = (-(-v * 2**32 // n) for v in (value, value + 1))  # the words w with floor(w * n / 2^32) = value
    # From one such word to the next the remainder grows by n, so that only the first can have one below n.
    tried = [*range(first, min(first + 3, after)), after - 1]
    values = np.full(len(tried), -1)
    progress = np.array([0, 0])

    kernels(KERNELS).fill(np.array(tried, np.uint32), progress, np.array([n]), values)

    used, accepted = progress.tolist()
    assert used == len(tried)
    assert set(values[:accepted].tolist()) <= {value}
    rejected = len(tried) - accepted
    assert after - first - rejected == 2**32 // n


@given(n=st.integers(2**32, 2**62), words=st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=2))
@settings(deadline=None)
@pytest.mark.parametrize("kernels", [compiled, interpreted])
def test_a_wide_draw_is_two_words_cut_to_the_bits_of_the_bound_and_rejected_from_the_bound_on(
    kernels: Callable[[str], Any], n: int, words: list[int]
) -> None:
    cut = (words[0] + words[1] * 2**32) % 2 ** (n - 1).bit_length()
    values = np.array([-1])
    progress = np.array([0, 0])

    kernels(KERNELS).fill(np.array(words, np.uint32), progress, np.array([n]), values)

    assert progress.tolist() == ([2, 1] if cut < n else [2, 0])
    assert values.tolist() == ([cut] if cut < n else [-1])


@pytest.mark.parametrize("n", BOUNDS[len(NARROW) :])
@pytest.mark.parametrize("kernels", [compiled, interpreted])
def test_a_wide_draw_of_exactly_the_bound_is_rejected_and_one_below_it_is_not(
    kernels: Callable[[str], Any], n: int
) -> None:
    words = [word for value in (n, n - 1) for word in (value % 2**32, value // 2**32)]
    values = np.array([-1])
    progress = np.array([0, 0])

    kernels(KERNELS).fill(np.array(words, np.uint32), progress, np.array([n]), values)

    # Where n is a power of two it is cut to 0, and nothing is ever rejected.
    assert (progress.tolist(), values.tolist()) == (([2, 1], [0]) if n.bit_count() == 1 else ([4, 1], [n - 1]))


@given(n=st.integers(2, 9), data=st.data())
@settings(deadline=None)
@pytest.mark.parametrize("kernels", [compiled, interpreted])
def test_a_shuffle_rejects_the_words_that_would_favour_a_place(
    kernels: Callable[[str], Any], n: int, data: st.DataObject
) -> None:
    # Word 0 has remainder 0: rejected for every bound but powers of two. The others are the first and last accepted.
    edges = [0, *(-(-v * 2**32 // b) + d for b in range(2, n + 1) for v in range(1, b) for d in (-1, 0, 1))]
    words = data.draw(st.lists(st.sampled_from(edges), min_size=n, max_size=3 * n))
    array, order = np.arange(n, dtype=np.int32), list(range(n))
    progress = np.array([0, 0])
    left = iter(words)

    def below(bound: int) -> int:
        return next(w * bound >> 32 for w in left if w * bound % 2**32 >= 2**32 % bound)

    kernels(KERNELS).shuffle(np.array(words, np.uint32), progress, array)
    with suppress(StopIteration):
        enumerating.shuffle(below, order)

    assert order == array.tolist()
    assert progress[0] == len(words) - len(list(left))


@pytest.mark.parametrize("n", range(6))
def test_every_order_has_the_same_probability_over_all_runs(n: int) -> None:
    expected = {order: Fraction(1, factorial(n)) for order in itertools.permutations(range(n))}

    assert expected == enumerating.distribution(lambda draws: tuple(draws.permutation(n).tolist()))


def test_every_order_of_every_run_has_the_same_probability_over_all_runs() -> None:
    def run(draws: Draws) -> tuple[int, ...]:
        array = np.arange(6, dtype=np.int32)
        draws.shuffle_runs(array, np.array([0, 3, 3, 5, 6]))
        return tuple(array.tolist())

    orders = itertools.product(itertools.permutations(range(3)), itertools.permutations([3, 4]))

    assert {(*a, *b, 5): Fraction(1, 12) for a, b in orders} == enumerating.distribution(run)


@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(0, 9) | st.integers(0, 90), max_size=30),
    dtype=st.sampled_from([np.int32, np.int64]),
    first=st.integers(1, 70),
)
@settings(max_examples=examples(200), deadline=None)
@pytest.mark.parametrize("kernels", [compiled, interpreted])
def test_runs_are_shuffled_one_after_another_across_any_border_of_blocks(
    kernels: Callable[[str], Any], seed: int, sizes: list[int], dtype: type, first: int
) -> None:
    offsets = np.cumsum([0, *sizes])
    array: NDArray[Any] = np.arange(offsets[-1], dtype=dtype)
    expected = array.copy()
    slow = Source.seeded(seed)
    for start, stop in itertools.pairwise(offsets.tolist()):
        slow.shuffle(expected[start:stop])

    with patch.object(randomness, "compiled", kernels), blocks(first, 2 * first):
        fast = Source.seeded(seed)
        fast.shuffle_runs(array, offsets)

    assert expected.tolist() == array.tolist()
    assert slow.below(2**62) == fast.below(2**62)


@pytest.mark.parametrize("offsets", [[], [0], [0, 2], [1, 3], [0, 2, 1, 3], [0, 4], [0.0, 3.0], [[0, 3]]])
def test_offsets_of_runs_are_checked(offsets: list[Any]) -> None:
    with pytest.raises(ParameterError, match="offsets must be an int64 array that ascends from 0"):
        Source.seeded(26).shuffle_runs(np.arange(3), np.array(offsets))


@pytest.mark.parametrize(("n", "k"), [(0, 0), (4, 0), (4, 4), (6, 3), (7, 2), (5, 4)])
def test_every_subset_has_the_same_probability_over_all_runs(n: int, k: int) -> None:
    expected = {subset: Fraction(1, comb(n, k)) for subset in itertools.combinations(range(n), k)}

    assert expected == enumerating.distribution(lambda draws: tuple(draws.choose(n, k).tolist()))


@given(seed=st.integers(), n=st.integers(0, 300), dtype=st.sampled_from([np.int32, np.int64]), data=st.data())
@settings(max_examples=examples(80), deadline=None)
def test_each_draw_is_made_of_draws_below_n_as_in_the_naive_twin(
    seed: int, n: int, dtype: type, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, n))
    fast, slow = Source.seeded(seed), Source.seeded(seed)

    order = list(range(n))
    enumerating.shuffle(slow.below, order)
    assert order == fast.permutation(n).tolist()

    items = list(range(100, 100 + n))
    array: NDArray[Any] = np.array(items, dtype)
    enumerating.shuffle(slow.below, items)
    fast.shuffle(array)
    assert items == array.tolist()
    assert array.dtype == dtype

    assert enumerating.choose(slow.below, n, k) == fast.choose(n, k).tolist()
    assert enumerating.choose(slow.below, 10**12, 3) == fast.choose(10**12, 3).tolist()
    assert (slow.below(2) == 1) == fast.coin()
    assert (slow.below(7) < 3) == fast.bernoulli(3, 7)
    assert slow.below(2**62) == fast.below(2**62)


# Uniform by chi-square. Seeds are fixed, so that a sound source never fails; that the test can fail is shown by
# sources which are biased in the ways that come easily, and must be found out by the very same test.


def is_uniform(counts: Iterable[int], *, degrees: int | None = None) -> bool:
    """Chi-square, brought to a standard normal by Wilson and Hilferty: neither far off nor too good, by four sigmas."""
    observed = np.array(list(counts), float)
    expected = observed.sum() / len(observed)
    assert expected > 50
    degrees = len(observed) - 1 if degrees is None else degrees
    statistic = ((observed - expected) ** 2).sum() / expected
    normal = ((statistic / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / sqrt(2 / (9 * degrees))
    return bool(abs(normal) < 4)


def thirds(below: Callable[[int], int]) -> list[int]:
    """How often a draw below 3 * 2^30 falls in each third: the bound for which a modulo of words is most unfair."""
    third = 2**30
    seen = Counter(below(3 * third) // third for _ in range(30_000))
    return [seen[i] for i in range(3)]


def orders_of_four(shuffle: Callable[[Any], None]) -> list[int]:
    """How often each order of four comes."""
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(100_000):
        array = np.arange(4, dtype=np.int32)
        shuffle(array)
        seen[tuple(array.tolist())] += 1
    return [seen[order] for order in itertools.permutations(range(4))]


def places_of_fifty(shuffle: Callable[[Any], None]) -> list[int]:
    """How often each of fifty comes to each of the fifty places."""
    table = np.zeros((50, 50), int)
    for _ in range(6_000):
        array = np.arange(50, dtype=np.int32)
        shuffle(array)
        table[array, np.arange(50)] += 1
    return [int(count) for count in table.ravel()]


def triples_of_six(choose: Callable[[int, int], Iterable[int]]) -> list[int]:
    """How often each subset of three of six comes."""
    seen = Counter(tuple(choose(6, 3)) for _ in range(40_000))
    return [seen[subset] for subset in itertools.combinations(range(6), 3)]


@pytest.mark.parametrize("n", [2, 3, 7, 10, 1000])
def test_small_draws_are_uniform(n: int) -> None:
    source = Source.seeded(1)

    assert is_uniform(np.bincount([source.below(n) for _ in range(100_000)], minlength=n))
    assert is_uniform(np.bincount(source.belows(n, 500_000), minlength=n))


@pytest.mark.parametrize("n", [3 * 2**30, 3 * 2**31, 3 * 2**60])
def test_large_draws_are_uniform(n: int) -> None:
    assert is_uniform(np.bincount(Source.seeded(2).belows(n, 500_000) // (n // 60), minlength=60))
    assert is_uniform(thirds(Source.seeded(3).below))


def test_a_modulo_of_words_is_found_out() -> None:
    source = Source.seeded(3)

    assert not is_uniform(thirds(lambda n: source.below(2**32) % n))


def test_a_multiplication_of_words_without_rejection_is_found_out() -> None:
    source = Source.seeded(3)
    n = 3 * 2**30

    values = [source.below(2**32) * n >> 32 for _ in range(30_000)]

    assert is_uniform(np.bincount(Source.seeded(3).belows(n, 30_000) % 3, minlength=3))
    assert not is_uniform(np.bincount(np.array(values) % 3, minlength=3))


def test_all_orders_of_four_are_equally_frequent() -> None:
    assert is_uniform(orders_of_four(Source.seeded(4).shuffle))


def test_each_of_fifty_comes_equally_often_to_each_place() -> None:
    assert is_uniform(places_of_fifty(Source.seeded(5).shuffle), degrees=49 * 49)


def swap_with_any(source: Source) -> Callable[[Any], None]:
    def shuffle(array: Any) -> None:
        for i in range(len(array)):
            j = source.below(len(array))
            array[i], array[j] = array[j], array[i]

    return shuffle


def swap_with_an_earlier_one(source: Source) -> Callable[[Any], None]:
    def shuffle(array: Any) -> None:
        for i in range(len(array) - 1, 0, -1):
            j = source.below(i)
            array[i], array[j] = array[j], array[i]

    return shuffle


@pytest.mark.parametrize("biased", [swap_with_any, swap_with_an_earlier_one])
def test_the_usual_wrong_shuffles_are_found_out(biased: Callable[[Source], Callable[[Any], None]]) -> None:
    assert not is_uniform(orders_of_four(biased(Source.seeded(4))))
    assert not is_uniform(places_of_fifty(biased(Source.seeded(5))), degrees=49 * 49)


def test_all_subsets_are_equally_frequent_whether_marked_or_kept_in_a_set() -> None:
    assert is_uniform(triples_of_six(Source.seeded(6).choose))
    with patch.object(randomness, "_SPARSE", 0):
        assert is_uniform(triples_of_six(Source.seeded(7).choose))


def test_a_subset_that_takes_the_next_free_one_is_found_out() -> None:
    source = Source.seeded(6)

    def next_free(n: int, k: int) -> list[int]:
        chosen: set[int] = set()
        for _ in range(k):
            draw = source.below(n)
            while draw in chosen:
                draw = (draw + 1) % n
            chosen.add(draw)
        return sorted(chosen)

    assert not is_uniform(triples_of_six(next_free))


def test_coins_are_fair_and_bernoulli_draws_have_their_probability() -> None:
    source = Source.seeded(8)

    assert is_uniform(Counter(source.coin() for _ in range(50_000)).values())
    true = sum(source.bernoulli(2, 7) for _ in range(70_000))
    assert abs(true - 20_000) < 4 * sqrt(70_000 * 2 / 7 * 5 / 7)
    assert not any(source.bernoulli(0, 5) for _ in range(1000))
    assert all(source.bernoulli(5, 5) for _ in range(1000))


def test_bernoulli_is_exact_over_all_runs() -> None:
    expected = {True: Fraction(3, 7), False: Fraction(4, 7)}

    assert expected == enumerating.distribution(lambda draws: draws.bernoulli(3, 7))


# The stream.


def test_the_stream_is_aes_in_counter_mode_under_keys_derived_by_hkdf() -> None:
    def expand(key: bytes, info: bytes) -> bytes:
        return hmac.digest(key, info + b"\1", "sha256")

    def words(key: bytes) -> list[int]:
        encryptor = Cipher(AES(expand(key, b"glasshouse randomness, stream\0")), ECB()).encryptor()
        stream = b"".join(encryptor.update(counter.to_bytes(16, "big")) for counter in range(300))
        return [int.from_bytes(stream[i : i + 4], "little") for i in range(0, len(stream), 4)]

    def encoded(kind: bytes, content: bytes) -> bytes:
        return kind + len(content).to_bytes(8, "big") + content

    key = sha256(b"glasshouse randomness, seeded\0" + encoded(b"i", b"\x07")).digest()
    path = encoded(b"s", b"leaf") + encoded(b"i", b"\xff")
    child = expand(key, b"glasshouse randomness, child\0" + path)

    assert [w >> 1 for w in words(key)] == Source.seeded(7).belows(2**31, 1200).tolist()
    assert [w >> 1 for w in words(child)] == Source.seeded(7).child("leaf", -1).belows(2**31, 1200).tolist()


def test_seeded_choices_never_change_from_one_version_to_the_next() -> None:
    source = Source.seeded(2026)

    assert source.permutation(10).tolist() == [8, 4, 2, 7, 1, 3, 6, 0, 9, 5]
    assert source.belows(100, 5).tolist() == [71, 27, 22, 3, 61]
    assert source.below(2**40) == 1090532445155
    assert source.choose(20, 4).tolist() == [2, 10, 12, 18]
    assert source.child("leaf", 1).belows(100, 3).tolist() == [46, 19, 79]


def test_the_seed_decides_everything() -> None:
    assert everything(Source.seeded(11)) == everything(Source.seeded(11))
    firsts = {Source.seeded(seed).below(2**62) for seed in [-1, 0, 1, 2, 255, 256, -256, 2**64, 2**20_000]}
    assert len(firsts) == 9


def test_a_seed_may_be_a_numpy_integer() -> None:
    assert Source.seeded(5).below(2**62) == Source.seeded(np.int16(5)).below(2**62)  # type: ignore[arg-type]


@given(
    seed=st.integers(0, 1000),
    bounds=st.lists(st.sampled_from(BOUNDS), max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5),
    first=st.integers(1, 5),
    largest=st.integers(1, 9),
)
@settings(deadline=None)
def test_neither_the_size_of_requests_nor_that_of_blocks_can_be_seen(
    seed: int, bounds: list[int], cuts: list[int], first: int, largest: int
) -> None:
    at_once = Source.seeded(seed).belows(np.array(bounds, np.int64)).tolist()
    one_by_one, in_parts = Source.seeded(seed), Source.seeded(seed)
    edges = [0, *sorted(min(cut, len(bounds)) for cut in cuts), len(bounds)]

    assert at_once == [one_by_one.below(n) for n in bounds]
    assert at_once == [v for i, j in itertools.pairwise(edges) for v in in_parts.belows(np.array(bounds[i:j], int))]
    with blocks(first, largest):
        assert at_once == Source.seeded(seed).belows(np.array(bounds, np.int64)).tolist()
        short = Source.seeded(seed)
        assert at_once == [short.below(n) for n in bounds]


def test_ten_draws_and_then_ten_are_twenty_draws() -> None:
    source = Source.seeded(12)

    assert Source.seeded(12).belows(6, 20).tolist() == [*source.belows(6, 10), *source.belows(6, 10)]


@pytest.mark.parametrize(("first", "largest"), [(1, 1), (1, 2), (2, 2), (3, 3), (5, 7), (64, 64), (2**10, 2**20)])
def test_every_draw_is_the_same_across_any_border_of_blocks(first: int, largest: int) -> None:
    expected = everything(Source.seeded(13))

    with blocks(first, largest):
        assert expected == everything(Source.seeded(13))


@pytest.mark.parametrize("n", [63, 64, 65, 66, 64 + 256, 64 + 256 + 1, 64 + 256 + 2])
def test_a_border_that_falls_between_the_two_words_of_a_wide_draw_loses_none(n: int) -> None:
    source = Source.seeded(14)
    source.belows(2, n)  # never rejects: exactly n words
    words = Source.seeded(14).belows(2**32, (n + 3) // 2 + 1)  # every second word
    halves = Source.seeded(14).belows(2**31, n + 2)

    drawn = source.below(2**62)

    low, high = halves[n : n + 2].tolist()
    assert (high % 2**29, low) == (drawn >> 33, drawn % 2**32 >> 1)
    assert (words[: len(halves) // 2] >> 1 == halves[: 2 * (len(halves) // 2) : 2]).all()


def test_compiled_and_interpreted_kernels_make_the_same_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = everything(Source.seeded(15))
    with blocks(3, 5):
        short = everything(Source.seeded(15))

    monkeypatch.setattr(randomness, "compiled", interpreted)

    assert expected == short == everything(Source.seeded(15))
    with blocks(3, 5):
        assert expected == everything(Source.seeded(15))


def test_secure_sources_differ_and_say_that_they_are_not_seeded() -> None:
    sources = [Source.secure() for _ in range(50)]

    assert len({source.below(2**62) for source in sources}) == 50
    assert not any(source.is_seeded or source.child("leaf").is_seeded for source in sources)
    assert Source.seeded(1).is_seeded
    assert Source.seeded(1).child("leaf").child(2).is_seeded


# Children.


def test_children_depend_on_key_and_labels_alone() -> None:
    early = Source.seeded(16)
    expected = [early.child("leaf", i).below(2**62) for i in range(20)]
    late = Source.seeded(16)
    late.permutation(1000)

    backwards = [late.child("leaf", i).below(2**62) for i in reversed(range(20))]

    assert expected == backwards[::-1]


def test_children_do_not_advance_their_parent() -> None:
    parent = Source.seeded(17)
    parent.child("leaf").permutation(1000)
    _ = [parent.child(i) for i in range(5)]

    assert Source.seeded(17).belows(100, 50).tolist() == parent.belows(100, 50).tolist()


def test_different_labels_give_different_streams() -> None:
    source = Source.seeded(18)
    labels: list[tuple[str | int, ...]] = [
        ("a",),
        ("b",),
        ("ab",),
        ("a", "b"),
        ("b", "a"),
        ("",),
        ("", ""),
        ("a\0b",),
        (1,),
        ("1",),
        (12,),
        (1, 2),
        (-1,),
        (256,),
        (0,),
        ("\x01",),
        ("i", 1),
        ("s",),
        ("\ud800",),
    ]
    streams = [source, source.child("a").child("b"), source.child("b").child("a"), *(source.child(*x) for x in labels)]

    assert len({stream.below(2**62) for stream in streams}) == len(labels) + 3


def test_a_label_may_be_a_numpy_integer() -> None:
    source = Source.seeded(19)

    assert source.child(3).below(2**62) == source.child(np.int64(3)).below(2**62)  # type: ignore[arg-type]


def test_parent_children_and_neighbours_are_independent_by_chi_square() -> None:
    parent = Source.seeded(20)
    streams = [parent, parent.child(0), parent.child(1), parent.child(0).child(0)]
    draws = [stream.belows(6, 100_000) for stream in streams]

    for one, other in itertools.combinations(draws, 2):
        assert is_uniform(np.bincount(6 * one + other, minlength=36))
    successive = draws[0]
    assert is_uniform(np.bincount(6 * successive[:-1:2] + successive[1::2], minlength=36))


def test_threads_that_share_a_source_never_get_the_same_choice() -> None:
    shared = Source.seeded(21)
    barrier = Barrier(4)

    def draw(_: int) -> list[int]:
        barrier.wait()
        drawn = []
        for _ in range(300):
            drawn += [shared.below(2**31) for _ in range(10)]
            drawn += shared.belows(2**31, 40).tolist()
        return drawn

    with ThreadPoolExecutor(4) as pool:
        drawn = [value for values in pool.map(draw, range(4)) for value in values]

    assert sorted(Source.seeded(21).belows(2**31, 4 * 300 * 50).tolist()) == sorted(drawn)


# Secrecy.


def test_a_source_prints_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = bytes(range(65, 65 + 32))
    monkeypatch.setattr(os, "urandom", lambda _: key)
    source = Source.secure()

    assert [repr(source), str(source), f"{source}"] == ["Source(secure)"] * 3
    assert repr(Source.seeded(1234567)) == "Source(seeded)"
    assert not hasattr(source, "__dict__")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_source_cannot_be_pickled(protocol: int) -> None:
    with pytest.raises(NotSupported, match="cannot be pickled or copied"):
        pickle.dumps(Source.secure(), protocol)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_source_cannot_be_copied(duplicate: Callable[[Source], Source]) -> None:
    with pytest.raises(NotSupported, match="cannot be pickled or copied"):
        duplicate(Source.secure())


def test_a_forked_process_may_take_children_but_not_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.seeded(22)
    expected = source.child("worker", 1).below(2**62)
    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert expected == source.child("worker", 1).below(2**62)
    for draw in (lambda: source.below(2), lambda: source.permutation(5), lambda: source.belows(2, 3)):
        with pytest.raises(NotSupported, match="forked process"):
            draw()


def test_a_secure_source_gives_a_forked_process_children_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.secure()
    before = source.child("worker", 1).below(2**62)
    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert source.child("worker", 1).below(2**62) != before
    assert source.for_one_release().below(2**62) != before


def test_a_seeded_source_makes_no_release_in_a_forked_process(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.seeded(1)
    monkeypatch.setattr(os, "getpid", lambda: -1)

    with pytest.raises(NotSupported, match="forked process"):
        source.for_one_release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("take", [lambda s: s.child("x"), lambda s: s.for_one_release()])
def test_after_a_fork_parent_and_child_make_different_choices(take: Callable[[Source], Source]) -> None:
    source = Source.secure()
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which here do nothing
        child = os.fork()
    if child == 0:  # pragma: no cover
        try:
            try:
                source.below(2)
                said = b"drew from the parent's source"
            except NotSupported:
                said = str(take(source).below(2**62)).encode()
            os.write(into, said)
        finally:
            os._exit(0)
    os.close(into)
    said = os.read(out, 100)
    os.close(out)
    os.waitpid(child, 0)

    assert said.isdigit()
    assert int(said) != take(source).below(2**62)


def test_later_releases_of_a_seeded_source_have_choices_of_their_own_that_can_be_repeated() -> None:
    def drawn() -> list[int]:
        source = Source.seeded(5)
        return [source.for_one_release().child("recoding").below(2**62) for _ in range(4)]

    assert drawn() == drawn()
    assert len(set(drawn())) == 4
    assert drawn()[0] == Source.seeded(5).child("recoding").below(2**62)


def test_threads_that_share_a_source_make_releases_with_different_choices() -> None:
    source = Source.seeded(5)
    found: list[int] = []
    threads = [
        Thread(target=lambda: found.append(source.for_one_release().child("recoding").below(2**62))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 8


def other_randomness(source: str) -> set[str]:
    """The sources of randomness that a file names besides `glasshouse.randomness`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"]
        else:
            continue
        for name in names:
            parts = name.replace("np.", "numpy.", 1).split(".") if name.startswith("np.") else name.split(".")
            if parts[0] in {"random", "secrets"}:
                found.add(parts[0])
            if parts[:2] in (["numpy", "random"], ["os", "urandom"], ["os", "getrandom"], ["uuid", "uuid4"]):
                found.add(".".join(parts[:2]))
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import random", "random"),
        ("from random import shuffle", "random"),
        ("import secrets as s", "secrets"),
        ("import numpy.random", "numpy.random"),
        ("import numpy.random as r", "numpy.random"),
        ("from numpy import random", "numpy.random"),
        ("from numpy.random import default_rng", "numpy.random"),
        ("np.random.default_rng()", "numpy.random"),
        ("x = numpy.random.Generator", "numpy.random"),
        ("from os import urandom", "os.urandom"),
        ("os.urandom(3)", "os.urandom"),
    ],
)
def test_the_search_for_other_sources_would_find_them(line: str, expected: str) -> None:
    assert {expected} == other_randomness(line)


def test_a_key_is_handed_over_on_purpose_and_shows_nothing() -> None:
    for source in (Source.secure(), Source.seeded(4)):
        handed = pickle.loads(pickle.dumps(source.handed_over()))
        taken = handed.source()
        assert taken.is_seeded == source.is_seeded
        assert taken.child("piece", 3).belows(1000, 9).tolist() == source.child("piece", 3).belows(1000, 9).tolist()
        assert repr(handed) == str(handed) == "HandedOver(hidden)"
        assert source._key.hex() not in repr(vars(type(handed)))
        with pytest.raises(NotSupported):
            pickle.dumps(taken)


def test_nothing_but_synthetic_data_has_another_source_of_randomness() -> None:
    allowed = {
        "randomness.py": {"os.urandom"},
        "journeys/recheck.py": {"os.urandom"},  # the key of sums by which groups of two tables are compared
        "microdata/synthetic.py": {"numpy.random"},
        "journeys/republication.py": {"secrets"},  # the key of an audit, which nobody publishes
        "release/package/parts.py": {"secrets"},  # names of files that are not yet finished
        "streaming/register.py": {"secrets"},  # the key of a hash by which equal identifiers are found
        "analyst/answers/sample.py": {"numpy.random"},  # seeded by the one source
        "studio/guard.py": {"secrets"},  # the cookie
        "studio/server.py": {"secrets"},  # the token of the address
        "studio/open_table.py": {"secrets"},  # the number of a sitting, which forms name
        "spark/seal.py": {"os.urandom"},  # the key of what lies in files while a cluster works
        "spark/engine.py": {"uuid.uuid4"},  # the name of a folder that vanishes
    }
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    # What is learned from a release is public, and is the same every time: its seeds are written there.
    learning = {name for name in files if name.startswith(("population/", "adversary/learning/"))}
    allowed |= {name: {"numpy.random", "random"} for name in learning}
    assert "randomness.py" in files

    found = {name: other_randomness(path.read_text("utf-8")) - allowed.get(name, set()) for name, path in files.items()}

    assert {name: sources for name, sources in found.items() if sources} == {}


# What may be asked for.


@pytest.mark.parametrize("n", [0, -1, 2**62 + 1, 2**64, 1.0, True, "3", None])
def test_a_bound_out_of_range_is_refused(n: Any) -> None:
    source = Source.seeded(23)

    with pytest.raises(ParameterError, match=r"Source.below: n must be an integer from 1 to 2\*\*62, got "):
        source.below(n)
    with pytest.raises(ParameterError, match=r"Source.belows: bounds must be "):
        source.belows(n, 3)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([3, 0], "from 1 to 2[*][*]62, got 0"),
        ([3, -7, 2**63 - 1], "got -7"),
        (np.array([2**63], np.uint64), f"got {2**63}"),
        ([2**62 + 1], f"got {2**62 + 1}"),
        ([1.5], "an array of integers"),
        ([[1, 2]], "of one dimension"),
    ],
)
def test_an_array_of_bounds_is_checked(bounds: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Source.seeded(23).belows(np.array(bounds))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64])
def test_bounds_may_be_of_any_integer_type_and_stride(dtype: type) -> None:
    bounds: NDArray[Any] = np.array([5, 100, 7, 100], dtype)

    expected = Source.seeded(24).belows(np.array([5, 7])).tolist()

    assert expected == Source.seeded(24).belows(bounds[::2]).tolist()
    assert expected == Source.seeded(24).belows(bounds[::2], 2).tolist()


def test_the_number_of_draws_is_checked() -> None:
    source = Source.seeded(25)

    with pytest.raises(ParameterError, match="size must be an integer from 0"):
        source.belows(6)
    with pytest.raises(ParameterError, match="size must be an integer from 0"):
        source.belows(6, -1)
    with pytest.raises(ParameterError, match="size must be left out, or equal to the number of bounds"):
        source.belows(np.array([1, 2]), 3)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3),
        np.zeros((2, 2), np.int32),
        np.zeros(6, np.int32)[::2],
        np.zeros(3, np.int16),
        np.zeros(3, np.uint32),
        [1, 2, 3],
        np.frombuffer(bytes(12), np.int32),
    ],
)
def test_only_a_contiguous_writeable_array_of_integers_is_shuffled(array: Any) -> None:
    with pytest.raises(ParameterError, match="array must be a contiguous, writeable array"):
        Source.seeded(26).shuffle(array)
    with pytest.raises(ParameterError, match=r"Source.shuffle_runs: array must be a contiguous, writeable array"):
        Source.seeded(26).shuffle_runs(array, np.array([0, 3]))


@pytest.mark.parametrize(
    "call",
    [
        lambda source: source.choose(3, 4),
        lambda source: source.choose(-1, 0),
        lambda source: source.choose(3, -1),
        lambda source: source.permutation(-1),
        lambda source: source.permutation(2**32),
        lambda source: source.permutation(1.0),
        lambda source: source.bernoulli(3, 2),
        lambda source: source.bernoulli(-1, 2),
        lambda source: source.bernoulli(0, 0),
        lambda source: source.bernoulli(0.5, 1),
        lambda source: source.child(),
        lambda source: source.child(1.5),
        lambda source: source.child("a", None),
        lambda source: source.child(True),
        lambda _: Source.seeded("7"),  # type: ignore[arg-type]
        lambda _: Source.seeded(True),
        lambda _: Source.seeded(None),  # type: ignore[arg-type]
    ],
)
def test_nonsense_is_refused(call: Callable[[Source], object]) -> None:
    with pytest.raises(ParameterError):
        call(Source.seeded(27))


def test_nothing_and_one_can_be_shuffled_permuted_and_chosen() -> None:
    source = Source.seeded(28)
    for n in (0, 1):
        array = np.arange(n)
        source.shuffle(array)
        assert list(range(n)) == array.tolist() == source.permutation(n).tolist() == source.choose(n, n).tolist()
    for nothing in (source.belows(6, 0), source.belows(np.array([], int)), source.choose(9, 0)):
        assert nothing.tolist() == []
    assert source.belows(1, 5).tolist() == [0] * 5


def test_results_have_the_documented_types() -> None:
    source = Source.seeded(29)

    arrays = source.permutation(5), source.belows(5, 5), source.choose(5, 2), source.choose(5000, 2)
    assert [array.dtype.name for array in arrays] == ["int32", "int64", "int64", "int64"]
    assert (int, bool, bool) == (type(source.below(5)), type(source.coin()), type(source.bernoulli(1, 2)))
    assert (int, int) == (type(source.below(2**40)), type(source.below(np.int64(5))))  # type: ignore[arg-type]
