"""The kind of a person is found by all values, of every type, or the frame has changed."""

from __future__ import annotations

import datetime
import math
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.spark.whereabouts import KindFinder

DAY = datetime.date(2020, 1, 1)
VALUES = {
    "float": [1.5, 0.0, math.nan, None],
    "decimal": [Decimal("1.50"), Decimal("0.00"), None],
    "text": ["", "a", "A", "é", None],
    "date": [DAY, DAY + datetime.timedelta(1), None],
    "time": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), None],
    "flag": [True, False, None],
    "number": [-(2**63), 0, 2**63 - 1],
}


def test_every_combination_is_told_apart_in_any_order() -> None:
    draws = np.random.default_rng(1)
    rows = list({tuple(draws.integers(0, len(v)) for v in VALUES.values()) for _ in range(900)})
    columns = [pa.array([known[row[i]] for row in rows]) for i, known in enumerate(VALUES.values())]
    kinds = draws.permutation(len(rows)).astype(np.int32)
    finder = pickle.loads(pickle.dumps(KindFinder.of(columns, kinds)))
    some = draws.integers(0, len(rows), 5000)

    found = finder.kinds_of([column.take(pa.array(some)) for column in columns])

    assert found.tolist() == kinds[some].tolist()


def test_zeros_are_one_number_and_what_is_none_is_no_gap() -> None:
    finder = KindFinder.of([pa.array([0.0, math.nan, None])], np.array([4, 5, 6], np.int32))
    assert finder.kinds_of([pa.array([-0.0, None, -math.nan])]).tolist() == [4, 6, 5]


@pytest.mark.parametrize("other", [[7, "b"], [8, "a"], [None, "a"]])
def test_values_that_nobody_had_are_refused(other: list[object]) -> None:
    finder = KindFinder.of([pa.array([7, 9]), pa.array(["a", "b"])], np.array([0, 1], np.int32))
    with pytest.raises(gh.SourceError, match="rows of the frame have changed since they were counted"):
        finder.kinds_of([pa.array([other[0]], pa.int64()), pa.array([other[1]])])
