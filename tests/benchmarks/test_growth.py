"""Twice as much is about twice the work: counted, not timed, so that a busy machine changes nothing.

Python's work is counted in calls, that of the kernels in the lines which they run through when they are interpreted.
What is quadratic doubles its ratio with every doubling; the limit lies between n log n and that.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import growth
from glasshouse import kernels
from glasshouse.adversary.cell_codes import CellReader

LIMIT = 2.6


def calls(job: Callable[[], Any]) -> int:
    """How many functions are called, those in C included."""
    found = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    gc.collect()
    sys.setprofile(count)
    try:
        job()
    finally:
        sys.setprofile(None)
    return found


def lines(job: Callable[[], Any]) -> int:
    """How many lines are run."""
    found = 0

    def count(_frame: Any, event: str, _argument: Any) -> Any:
        nonlocal found
        found += event == "line"
        return count

    sys.settrace(count)
    try:
        job()
    finally:
        sys.settrace(None)
    return found


JOBS = [
    (growing, job)
    for growing in ("values", "distinct")
    for job in (
        "publish, by default", "publish, hybrid", "publish, snug", "publish, mondrian", "write, load, verify",
        "verify, boxes", "count, angel", "group by, boxes", "group by, anatomy", "group by, angel", "losses, angel",
        "link, boxes", "link, angel",
    )
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("growing", "job"), JOBS)
def test_twice_as_much_is_about_twice_the_work(growing: str, job: str) -> None:
    counted = []
    for size in (1_500, 3_000):
        work = growth.GROWING[growing](size)[job]
        work()  # prepares what is needed, and fills what is kept
        work()
        counted.append(calls(work))

    assert counted[1] < LIMIT * counted[0] + 1_000, counted


def test_an_answer_with_more_rows_costs_as_much_more() -> None:
    counted = []
    for size in (5_000, 10_000):
        work = growth.by_answers(size)["group by quasi, angel"]
        work()
        counted.append(calls(work))

    assert counted[1] < LIMIT * counted[0], counted


def test_the_values_of_a_column_are_gone_through_once_however_many_cells_there_are() -> None:
    column = growth.people(500, distinct=10_000).quasi[0]
    asked = []

    class Watched:
        """The domain, which notes whenever its values are asked for."""

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(column.domain, name)

    reader: Any = CellReader(Watched())  # type: ignore[arg-type]
    for low in range(0, 9_000, 10):
        assert len(reader.codes(f"[{low}.5, {low + 99}.5]")) <= 500
    assert asked.count("values") <= 1
    assert asked.count("texts") <= 1


def groups_of_four(n: int) -> tuple[Any, ...]:
    """Groups of four tuples, and half as many values as tuples."""
    codes = np.random.default_rng(1).integers(0, n // 2, n).astype(np.int32)
    return codes, np.arange(0, n + 1, 4), n // 2


def histograms_of(n: int) -> Callable[[], Any]:
    codes, offsets, n_values = groups_of_four(n)
    kernel = kernels.interpreted("glasshouse.microdata._counting_kernels").histograms
    starts, values, counts = np.empty(len(offsets), np.int64), np.empty(n, np.int32), np.empty(n, np.int64)
    return lambda: kernel(codes, offsets, np.zeros(n_values, np.int64), starts, values, counts)


def distances_of(n: int) -> Callable[[], Any]:
    codes, offsets, n_values = groups_of_four(n)
    kernel = kernels.interpreted("glasshouse.principles._kernels").line_work
    values = np.sort(codes.reshape(-1, 4), axis=1).reshape(-1)
    cumulated = np.cumsum(np.bincount(values, minlength=n_values))
    sums = np.append(0, np.cumsum(cumulated))
    rows, work = np.arange(len(offsets) - 1), np.empty(len(offsets) - 1, np.int64)
    scratch, ones = np.zeros(n_values, np.int64), np.ones(n, np.int64)
    return lambda: kernel(rows, offsets, values, ones, scratch, cumulated, sums, work)


@pytest.mark.parametrize("work", [histograms_of, distances_of])
def test_counting_a_group_costs_what_its_tuples_cost_however_many_values_there_are(
    work: Callable[[int], Callable[[], Any]],
) -> None:
    few, many = (lines(work(n)) for n in (400, 800))

    assert many < LIMIT * few, (few, many)
