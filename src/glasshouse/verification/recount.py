# SPDX-License-Identifier: Apache-2.0
"""Recount a QIT and an ST that do not fit in memory, side by side and group by group, from the published files alone.

Both tables are sorted by group number, and the numbers are 1, 2, 3, ...: so much is required, and checked.
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse.errors import GuaranteeBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Recount", "recount"]

_BATCH = 1 << 17
_DENSE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Recount:
    """What was counted."""

    n_groups: int
    n_tuples: int
    smallest_group: int
    largest_group: int
    largest_share: str
    ell: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def recount(
    qit: Path,
    st: Path,
    *,
    number: str,
    value: str,
    count: str,
    ell: int,
    format: str = "parquet",
    progress: Callable[[int], None] = lambda _: None,
) -> Recount:
    """Count both tables again; raise `GuaranteeBroken` unless they agree and every group is l-diverse.

    ``number``, ``value`` and ``count`` name the columns with group numbers, sensitive values and counts. ``progress``
    is told how many tuples were counted.

    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "qit.csv").write_text("age,Group-ID\\n30,1\\n40,1\\n")
    >>> _ = (folder / "st.csv").write_text("Group-ID,disease,Count\\n1,flu,1\\n1,gout,1\\n")
    >>> names = {"number": "Group-ID", "value": "disease", "count": "Count"}
    >>> recount(folder / "qit.csv", folder / "st.csv", **names, ell=2, format="csv").n_groups
    1
    """
    people = _Sizes(_groups(_batches(qit, [number], format), number, _people))
    values = _Sizes(_groups(_batches(st, [number, value, count], format), number, _values(number, value, count)))
    n_groups = n_tuples = smallest = largest = 0
    share = Fraction(0)
    while True:
        n = min(people.ready(), values.ready())
        if not n:
            if people.ready() != values.ready():
                raise GuaranteeBroken("the two published tables do not have the same groups")
            break
        (sizes,), (totals, tops) = people.take(n), values.take(n)
        if not np.array_equal(sizes, totals):
            raise GuaranteeBroken("a group has not as many sensitive values as tuples")
        broken = np.flatnonzero(tops * ell > sizes)
        if len(broken):
            raise GuaranteeBroken(f"a published group breaks {ell}-diversity", group=n_groups + int(broken[0]) + 1)
        worst = int(np.argmax(tops / sizes))
        share = max(share, Fraction(int(tops[worst]), int(sizes[worst])))
        smallest = min(smallest or int(sizes[0]), int(sizes.min()))
        largest = max(largest, int(sizes.max()))
        n_groups += n
        n_tuples += int(sizes.sum())
        progress(n_tuples)
    return Recount(
        n_groups=n_groups,
        n_tuples=n_tuples,
        smallest_group=smallest,
        largest_group=largest,
        largest_share=str(share),
        ell=ell,
    )


class _Sizes:
    """A queue of counts, refilled from the file when it runs empty."""

    def __init__(self, found: Iterator[list[NDArray[np.int64]]]) -> None:
        self._found = found
        self._queue: deque[list[NDArray[np.int64]]] = deque()

    def ready(self) -> int:
        """How many groups are at hand; 0 at the end of the file."""
        while not self._queue or not len(self._queue[0][0]):
            if self._queue:
                self._queue.popleft()
            following = next(self._found, None)
            if following is None:
                return 0
            self._queue.append(following)
        return len(self._queue[0][0])

    def take(self, n: int) -> list[NDArray[np.int64]]:
        """Counts of the next groups."""
        first = self._queue[0]
        self._queue[0] = [column[n:] for column in first]
        return [column[:n] for column in first]


def _batches(path: Path, columns: Sequence[str], format: str) -> Iterator[pa.Table]:
    if format == "parquet":
        with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(columns)):
                yield pa.Table.from_batches([batch])
        return
    # values are compared as they are written: whatever they mean, equal texts are equal values
    types = {name: pa.int64() if i != 1 else pa.string() for i, name in enumerate(columns)}
    convert = pa_csv.ConvertOptions(include_columns=list(columns), column_types=types, null_values=[])
    options = {"parse_options": pa_csv.ParseOptions(newlines_in_values=True), "convert_options": convert}
    with pa_csv.open_csv(path, **options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _groups(
    batches: Iterator[pa.Table], number: str, counted: Callable[[pa.Table, NDArray[np.int64]], list[NDArray[np.int64]]]
) -> Iterator[list[NDArray[np.int64]]]:
    """Count whole groups; the last one of a batch, which may go on, waits for the next."""
    waiting: pa.Table | None = None
    expected = 1
    for batch in batches:
        table = batch if waiting is None else pa.concat_tables([waiting, batch], promote_options="permissive")
        numbers = np.asarray(table.column(number))
        starts = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1]).astype(np.int64)
        _check_numbers(numbers[starts], expected)
        whole = int(starts[-1])
        if whole:
            yield counted(table.slice(0, whole), starts[:-1])
            expected += len(starts) - 1
        waiting = table.slice(whole)
    if waiting is not None and waiting.num_rows:
        yield counted(waiting, np.zeros(1, np.int64))


def _check_numbers(numbers: NDArray[Any], expected: int) -> None:
    if not np.array_equal(numbers, np.arange(expected, expected + len(numbers))):
        raise GuaranteeBroken("the groups of a published table are not numbered 1, 2, 3, ... in this order")


def _people(table: pa.Table, starts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [np.diff(np.append(starts, table.num_rows))]


def _values(number: str, value: str, count: str) -> Callable[[pa.Table, NDArray[np.int64]], list[NDArray[np.int64]]]:
    def counted(table: pa.Table, starts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        counts = np.asarray(table.column(count)).astype(np.int64)
        if counts.min() < 1:
            raise GuaranteeBroken("a published count is not positive")
        codes, n_codes = _codes(table.column(value))
        pairs = np.asarray(table.column(number)) * np.int64(n_codes)
        pairs += codes
        if not (pairs[1:] > pairs[:-1]).all():  # as they are, unless the order of values was declared
            pairs.sort()
        if (pairs[1:] == pairs[:-1]).any():
            raise GuaranteeBroken("a published group lists a sensitive value twice")
        return [np.add.reduceat(counts, starts), np.maximum.reduceat(counts, starts)]

    return counted


def _codes(values: pa.ChunkedArray) -> tuple[NDArray[np.int64], int]:
    """Number the values of a column in ascending order; a missing value is one more."""
    whole = values.combine_chunks()
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    if pa.types.is_dictionary(whole.type):  # whose dictionary may repeat a value
        ranks, n_codes = _codes(pa.chunked_array([whole.dictionary]))
        gone = n_codes - 1
        indices = whole.indices.fill_null(0) if whole.indices.null_count else whole.indices
        codes = ranks[np.asarray(indices)] if len(ranks) else np.full(len(whole), gone)
        return (
            (np.where(np.asarray(whole.indices.is_null()), gone, codes), n_codes)
            if whole.null_count
            else (codes, n_codes)
        )
    if pa.types.is_integer(whole.type) and not whole.null_count and len(whole):
        span = pc.min_max(whole).as_py()
        if span["max"] - span["min"] < _DENSE:  # numbers of a short range are as good as their ranks
            return np.asarray(whole).astype(np.int64) - span["min"], span["max"] - span["min"] + 1
    encoded = whole.dictionary_encode()
    n_codes = len(encoded.dictionary) + 1
    ranks = np.append(np.argsort(np.asarray(pc.sort_indices(encoded.dictionary))), n_codes - 1)
    indices = encoded.indices.fill_null(n_codes - 1) if encoded.null_count else encoded.indices
    return ranks[np.asarray(indices)].astype(np.int64, copy=False), n_codes
