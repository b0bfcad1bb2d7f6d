# SPDX-License-Identifier: Apache-2.0
"""Small pieces, and threads in an unlikely order: what work in pieces must not notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory, memory, sorting
from glasshouse.grouping.along_order import orderings
from glasshouse.principles.principle import Requirement


class Nobody:
    """Stands in for a pool of threads that never get their turn: the calling thread does everything."""

    def __init__(self, threads: int) -> None:
        assert threads > 0

    def __enter__(self) -> Nobody:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to end."""

    def submit(self, _: Callable[[], None]) -> Future[None]:
        done: Future[None] = Future()
        done.set_result(None)
        return done


@contextmanager
def in_pieces(tuples: int, *, backwards: bool = False) -> Iterator[None]:
    """Cut all work into pieces of so many tuples; ``backwards``: one after another, the last one first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "PIECE", tuples)
        patch.setattr(memory, "PIECE", tuples)
        if backwards:
            patch.setattr(sorting, "ThreadPoolExecutor", Nobody)
            patch.setattr(sorting, "_turns", lambda n: iter(reversed(range(n))))
        yield


@contextmanager
def ways(draw: st.DrawFn) -> Iterator[Memory]:
    """Sizes and thresholds of all kinds, none of which changes a result, and an engine with some threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "KEY", draw(st.sampled_from([32, 1, 3, 8])))
        patch.setattr(sorting, "DIGIT", draw(st.sampled_from([11, 1, 2, 7])))
        patch.setattr(orderings, "CROWD", draw(st.sampled_from([1, 0, 50])))
        with in_pieces(draw(st.sampled_from([1 << 18, 1, 2, 7])), backwards=draw(st.booleans())):
            yield Memory(threads=draw(st.sampled_from([1, 2, 5])))


def seeded_groups(method: Any, principle: Any, table: gh.Microdata, threads: int) -> Any:
    """The groups of a seeded run by what their tuples say, and in the order of their labels."""
    source, engine = gh.Source.seeded(5), Memory(threads=threads)
    groups = method.divide(table, Requirement.of(principle, table), source=source, engine=engine)
    said = list(zip(*(c.codes.tolist() for c in (*table.quasi, *table.sensitive)), strict=True))
    found: list[list[Any]] = [[] for _ in range(groups.n_groups + 1)]
    for label, tuple_ in zip(groups.labels.tolist(), said, strict=True):
        found[label].append(tuple_)
    return [sorted(group) for group in found]


def check_threads_and_rows(method: Any, principle: Any, *, n: int = 700) -> None:
    """A seeded run gives the same groups on any number of threads, and for any order of rows."""
    table = gh.synthetic.hospital(n=n, seed=4)
    shuffled = table.take(gh.Source.seeded(9).permutation(n))
    for tuples in (40, 1 << 18):
        with in_pieces(tuples):
            expected = seeded_groups(method, principle, table, 1)
            assert len(expected) > 10
            for threads in (2, 5):
                assert expected == seeded_groups(method, principle, table, threads)
                assert expected == seeded_groups(method, principle, shuffled, threads)
        with in_pieces(tuples, backwards=True):
            assert expected == seeded_groups(method, principle, shuffled, 2)
