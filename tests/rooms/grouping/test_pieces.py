# SPDX-License-Identifier: Apache-2.0
"""Work in pieces: cut by the data alone, done by any number of threads."""

from __future__ import annotations

from threading import Barrier, get_ident
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.engines.sorting import pieces_of_runs, share, shuffle_runs, stretches
from tests.rooms.grouping.schedules import in_pieces
from tests.twins import enumerating

THREADS = [1, 2, 5]
sizes = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@given(n=st.integers(0, 50), tuples=st.integers(1, 60))
def test_stretches_cover_all_tuples_once_and_none_is_too_long(n: int, tuples: int) -> None:
    with in_pieces(tuples):
        cut = stretches(n)

    assert list(range(n)) == [place for start, stop in cut for place in range(start, stop)]
    assert all(stop - start == tuples for start, stop in cut[:-1])
    assert all(0 < stop - start <= tuples for start, stop in cut)


@given(sizes=sizes, start=st.integers(0, 3), tuples=st.integers(1, 12))
def test_pieces_of_runs_cover_all_runs_once_and_a_long_one_costs_no_other_its_piece(
    sizes: list[int], start: int, tuples: int
) -> None:
    offsets = np.cumsum([start, *sizes])
    with in_pieces(tuples):
        cut = pieces_of_runs(offsets)
    if not sum(sizes):
        assert cut == []
        return

    assert list(range(len(sizes))) == [run for first, last in cut for run in range(first, last)]
    for first, last in cut:
        assert first < last
        assert offsets[last] - offsets[first] < tuples + max(sizes)


def test_two_pieces_are_worked_on_at_the_same_time() -> None:
    together = Barrier(2, timeout=60)

    def work(number: int) -> tuple[int, int]:
        together.wait()
        return number, get_ident()

    (one, mine), (other, yours) = share(work, [(1,), (2,)], Memory(threads=2))

    assert (one, other) == (1, 2)
    assert mine != yours


def test_one_thread_means_no_other_thread() -> None:
    assert [get_ident()] * 3 == share(lambda _: get_ident(), [(1,), (2,), (3,)], Memory(threads=1))
    assert [get_ident()] == share(lambda _: get_ident(), [(1,)], Memory(threads=4))
    assert share(lambda _: get_ident(), [], Memory(threads=4)) == []


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("backwards", [False, True])
def test_results_come_in_the_order_of_pieces_in_whatever_order_they_were_done(threads: int, backwards: bool) -> None:
    with in_pieces(1, backwards=backwards):
        assert list(range(9)) == share(lambda number: number, [(i,) for i in range(9)], Memory(threads=threads))


@pytest.mark.parametrize("threads", THREADS)
def test_what_a_piece_refuses_is_refused(threads: int) -> None:
    def work(number: int) -> None:
        if number == 2:
            raise gh.InputError("no")

    with pytest.raises(gh.InputError, match="no"):
        share(work, [(1,), (2,), (3,)], Memory(threads=threads))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("backwards", [False, True])
@settings(max_examples=50, deadline=None)
@given(sizes=sizes, tuples=st.integers(1, 12), seed=st.integers(0, 3))
def test_every_piece_is_shuffled_by_the_choices_of_its_number(
    threads: int, backwards: bool, sizes: list[int], tuples: int, seed: int
) -> None:
    offsets = np.cumsum([0, *sizes])
    expected = np.arange(sum(sizes), dtype=np.int32)
    found = expected.copy()
    with in_pieces(tuples, backwards=backwards):
        for number, (first, last) in enumerate(pieces_of_runs(offsets)):
            choices = gh.Source.seeded(seed).child("piece", number)
            for run in range(first, last):
                choices.shuffle(expected[offsets[run] : offsets[run + 1]])
        shuffle_runs(found, offsets, gh.Source.seeded(seed), Memory(threads=threads))

    assert expected.tolist() == found.tolist()


@pytest.mark.parametrize("tuples", [1, 2, 100])
def test_every_order_inside_the_runs_is_equally_likely(tuples: int) -> None:
    def shuffled(draws: Any) -> tuple[int, ...]:
        array = np.arange(6, dtype=np.int32)
        shuffle_runs(array, np.array([0, 3, 3, 4, 6]), draws, Memory(threads=1))
        return tuple(array.tolist())

    with in_pieces(tuples):
        likely = enumerating.distribution(shuffled)

    assert len(likely) == 12
    assert len(set(likely.values())) == 1
    assert all(order[3] == 3 and set(order[:3]) == {0, 1, 2} for order in likely)
