# SPDX-License-Identifier: Apache-2.0
"""A count of published tables that are larger than memory: sizes, counts of values and the order of rows, in one pass.

Tables come batch after batch, in the order of their rows, whatever files they lie in. Of one table, rows with equal
cells are counted; of tables that tell sensitive values apart (anatomy, ANGEL), the rows of a number. Numbers are 1, 2,
3, ... and all tables must tell the same groups. What is kept in memory is the size of every numbered group, and which
values columns have.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import GuaranteeBroken
from glasshouse.verification.limit import Limit, limits_of
from glasshouse.verification.order import CodedColumn, RowOrder
from glasshouse.verification.tally import Counted, Tally
from glasshouse.verification.verification import Check, Risk, Verification, WorstGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.verification.limit import Question, Read, ValueCounts

    Asked = Callable[[Sequence[str]], Sequence[Question]]

__all__ = [
    "NUMBERED",
    "TIMES",
    "Found",
    "SampleCount",
    "StreamCount",
    "count_of_all",
    "count_sample",
    "count_stream",
    "least_of",
    "not_counted",
    "order_check",
    "weights_of",
]

TIMES = "Count"
NUMBERED = ("Group-ID", "Batch-ID")
_RISK = Fraction(1, 5)


@dataclass(frozen=True, kw_only=True)
class StreamCount:
    """What was counted: as `verify` reports it, and the largest group, and by column the largest share of a value."""

    verification: Verification
    largest_group: int
    largest_shares: Mapping[str, Fraction]


def count_stream(
    read: Read,
    tables: Mapping[str, Sequence[str]],
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    asked: Asked,
    counts: Mapping[str, ValueCounts] | None = None,
    cells_k: int | None = None,
    natural: Collection[str] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> StreamCount:
    """Count published tables again, and check the requirements; see `glasshouse.verify`.

    Parameters
    ----------
    read
        Gives the batches of a table, by its name and the names of the columns that are needed.
    tables
        The names of the tables, with all of their columns.
    quasi, sensitive
        Which columns are quasi-identifiers, and which are sensitive.
    asked
        Gives what is asked of groups in which some sensitive columns are counted, by the names of these.
    counts
        How often the values of sensitive columns occur, from `count_values`: needed of those of which something else
        is asked than `BY_SIZES`.
    cells_k
        How many rows must have equal cells where sensitive values are told apart.
    natural
        Quasi-identifiers and sensitive columns whose values are exact and have the order that they always have.
    progress
        Is told how many rows were counted so far, of all tables.
    """
    own = (*quasi, *sensitive)
    counted = {name: columns for name, columns in tables.items() if TIMES in columns and TIMES not in own}
    numbers = (name for name in NUMBERED if name not in own)
    stream = _Stream(read, quasi, sensitive, {*natural, *numbers}, progress, counts or {})
    if counted:
        return _count_apart(stream, tables, counted, asked, cells_k)
    ((name, columns),) = tables.items()
    return _count_together(stream, name, columns, asked, cells_k)


@dataclass(frozen=True, kw_only=True)
class SampleCount:
    """What was counted of a sample that has one record of each group, with the size of the group."""

    verification: Verification
    smallest_group: int
    n_people: int


def count_sample(
    read: Read,
    name: str,
    *,
    quasi: Sequence[str],
    size: str,
    progress: Callable[[int], None] = lambda _: None,
) -> SampleCount:
    """Count the records of a sample by their cells, and the people of whom they are a sample by the column ``size``."""
    stream = _Stream(read, quasi, (), (), progress, {})
    found = Found(quasi, [], {})
    smallest, n_people = None, 0
    for step in stream.groups(name, quasi, [], [], also=[size]):
        found.see(step.groups, step.columns, [])
        if step.batch is not None:
            sizes = weights_of(step.batch[size])
            smallest = int(sizes.min()) if smallest is None else min(smallest, int(sizes.min()))
            n_people += int(sizes.sum())
    counted = found.count(stream.checks).verification
    return SampleCount(verification=counted, smallest_group=smallest or 0, n_people=n_people)


def not_counted(n_tuples: int, quasi: Sequence[str], why: Check) -> Verification:
    """What is reported of tables that do not fit together, so that there are no groups to count."""
    everybody = WorstGroup(cells={}, size=n_tuples)
    each = Fraction(1, max(n_tuples, 1))
    return Verification(
        n_tuples=n_tuples,
        n_groups=1,
        quasi=tuple(quasi),
        smallest=everybody,
        columns={},
        risk=Risk(prosecutor_highest=each, prosecutor_average=each, threshold=_RISK, at_risk=Fraction(0)),
        checks=(why,),
        counting=(
            "the tables contradict each other, because they are damaged or were changed: the count was stopped, and "
            "the numbers shown are not valid",
        ),
    )


def _count_together(stream: _Stream, name: str, columns: Sequence[str], asked: Asked, k: int | None) -> StreamCount:
    """One table, whose groups are rows with equal cells, or rows with the same number that were shuffled."""
    number = next((column for column in columns if column in NUMBERED and column not in stream.own), None)
    values = [column for column in stream.sensitive if column in columns]
    cells = [column for column in columns if column in stream.quasi]
    keys = cells if number is None else [number]
    found = Found(keys, [*limits_of(asked(values), values), *least_of(k if number is None else None)], stream.counts)
    # rows that were shuffled inside of their groups are in the order of these alone
    then = [column for column in columns if column in values] if number is None else []
    for counted in stream.groups(name, keys, then, values):
        found.see(counted.groups, counted.columns, values)
    return found.count(stream.checks)


def _count_apart(
    stream: _Stream,
    tables: Mapping[str, Sequence[str]],
    counted: Mapping[str, Sequence[str]],
    asked: Asked,
    cells_k: int | None,
) -> StreamCount:
    """Count sensitive values by number in separate tables, together with one table or several of people."""
    results: list[Found] = []
    sizes: NDArray[Any] | None = None
    for name, columns in counted.items():
        number, value, _ = columns
        if number not in NUMBERED or value not in stream.sensitive:
            raise GuaranteeBroken(f"the table {name!r} counts a column that is not a sensitive one")
        results.append(Found([number], limits_of(asked([value]), [value]), stream.counts))
        told = _Sizes()
        for step in stream.groups(name, [number], [value], [value], weight=TIMES):
            told.see(step.groups)
            results[-1].see(step.groups, step.columns, [value])
        if sizes is not None and not np.array_equal(sizes, told.sizes):
            raise GuaranteeBroken("two tables of sensitive values do not give the same sizes of groups")
        sizes = told.sizes
    assert sizes is not None
    for name, columns in tables.items():
        if name in counted:
            continue
        cells = [column for column in columns if column in stream.quasi]
        if number not in columns:
            _count_cells(stream, name, cells, [], results, cells_k)
        elif number == NUMBERED[0]:  # exact values, number after number
            told = _Sizes()
            for step in stream.groups(name, [number], cells, []):
                told.see(step.groups)
            if len(told.sizes) != len(sizes):
                raise GuaranteeBroken("the published tables do not have the same groups")
            _check_same(name, np.array_equal(sizes, told.sizes))
        else:  # cells, and within them the numbers of people
            left = sizes.astype(np.int64 if sizes.max() > 1 << 30 else np.int32 if sizes.max() > 1 << 14 else np.int16)
            _count_cells(stream, name, cells, [number], results, cells_k, left)
            _check_same(name, not left.any())
    return count_of_all(results, len(counted), stream.checks)


def count_of_all(results: Sequence[Found], n_counted: int, more: Sequence[Check]) -> StreamCount:
    """The count of several tables: first ``n_counted`` of sensitive values, then those whose cells hide people."""
    checks = [check for result in results[1:] for check in result.checks()]
    found = results[0].count([*checks, *more])
    shares = {name: share for result in results for name, share in result.shares.items()}
    cells = [result.count(()).verification for result in results[n_counted:]]
    verification = found.verification.hidden_by(cells) if cells else found.verification
    return StreamCount(verification=verification, largest_group=found.largest_group, largest_shares=shares)


def _count_cells(
    stream: _Stream,
    name: str,
    cells: Sequence[str],
    numbers: Sequence[str],
    results: list[Found],
    k: int | None,
    left: NDArray[Any] | None = None,
) -> None:
    """Count a table of cells: the rows with equal cells, and the people of each number, which must match."""
    found = Found(cells, least_of(k), stream.counts)
    results.append(found)
    for step in stream.groups(name, cells, numbers, []):
        found.see(step.groups, step.columns, [])
        if left is not None:
            own = step.ordered[-1]
            if len(own) and (own.min() < 1 or own.max() > len(left)):
                raise GuaranteeBroken(f"the table {name!r} has the number of a group that does not exist")
            np.subtract.at(left, own - 1, left.dtype.type(1))  # of the same type, which is forty times as fast


def _check_same(name: str, same: bool) -> None:  # noqa: FBT001
    if not same:
        raise GuaranteeBroken(f"the table {name!r} does not have as many records in every group as the counts say")


# ------------------------------------------------------------------------------------------------------- one table


@dataclass(frozen=True, eq=False)
class _Step:
    """The result for one batch."""

    groups: Counted
    columns: Sequence[CodedColumn]  # those in which the rows of a group agree
    ordered: Sequence[NDArray[np.int64]]  # the codes of the batch by which rows are ordered
    batch: pa.Table | None = None  # its rows


class _Stream:
    """Tables that are read batch after batch, and whether their rows ascend."""

    def __init__(
        self,
        read: Read,
        quasi: Sequence[str],
        sensitive: Sequence[str],
        natural: Collection[str],
        progress: Callable[[int], None],
        counts: Mapping[str, ValueCounts],
    ) -> None:
        self.counts = counts
        self.quasi, self.sensitive = tuple(quasi), tuple(sensitive)
        self.own = (*quasi, *sensitive)
        self.checks: list[Check] = []
        self._read = read
        self._natural = natural
        self._progress = progress
        self._n_rows = 0

    def groups(
        self,
        name: str,
        keys: Sequence[str],
        then: Sequence[str],
        values: Sequence[str],
        weight: str | None = None,
        also: Sequence[str] = (),
    ) -> Iterator[_Step]:
        """Count the groups of a table by ``keys``; its rows must ascend by these, and ``then`` by others.

        Columns that are named by ``also`` are read besides.
        """
        ordered = [CodedColumn(column, natural=column in self._natural) for column in (*keys, *then)]
        own = [
            CodedColumn(column, natural=False, known=self.counts[column].values if column in self.counts else None)
            for column in values
        ]
        order = RowOrder(ordered, len(keys))
        tally = Tally(len(values), weighted=weight is not None, keep=bool(self.counts))
        numbered = keys[0] in NUMBERED and keys[0] not in self.own
        names = list(dict.fromkeys([*keys, *then, *values, *([] if weight is None else [weight]), *also]))
        expected = 1
        for batch in self._read(name, names):
            if not batch.num_rows:
                continue
            codes = [column.codes(batch[column.name]) for column in ordered]
            begins = order.see(codes)
            known = {
                column.name: (code, column)
                for column, code in zip(ordered, codes, strict=True)
                if not column.ascends and column.name not in self.counts
            }
            counted = [known.get(c.name) or (c.entries(batch[c.name]), c) for c in own]
            weights = None if weight is None else weights_of(batch[weight])
            groups = tally.see(
                begins, codes[: len(keys)], [(entry, column.n_codes) for entry, column in counted], weights
            )
            expected = _check_numbers(groups, expected) if numbered else 0
            yield _Step(groups, ordered[: len(keys)], codes, batch)
            self._n_rows += batch.num_rows
            self._progress(self._n_rows)
        last = tally.finish()
        if numbered:
            _check_numbers(last, expected)
        yield _Step(last, ordered[: len(keys)], [np.empty(0, np.int64)] * len(ordered))
        self.checks.append(order_check(name, order.broken()))


def weights_of(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """How many people each row stands for, all of them at least one."""
    if column.null_count:
        raise GuaranteeBroken("a published count is missing or below 1")
    counts = np.asarray(column).astype(np.int64)
    if counts.min() < 1:
        raise GuaranteeBroken("a published count is missing or below 1")
    return counts


def _check_numbers(groups: Counted, expected: int) -> int:
    numbers = groups.keys[0] if groups.keys else np.empty(0, np.int64)
    if not np.array_equal(numbers, np.arange(expected, expected + len(numbers))):
        raise GuaranteeBroken("the groups of a published table are not numbered 1, 2, 3, ... in this order")
    return expected + len(numbers)


def order_check(name: str, broken: str | None) -> Check:
    """Whether the rows of a table ascend; ``broken`` says where they do not."""
    asked = f"the rows of the table {name!r} are in ascending order"
    if broken is None:
        return Check(asked=asked, column=None, n_failing=0, n_tuples=0, worst=())
    wrong = f"the rows of the table {name!r} are not in ascending order ({broken})"
    return Check(asked=f"{asked} ({broken})", column=None, n_failing=1, n_tuples=0, worst=(), wrong=wrong)


class _Sizes:
    """The sizes of numbered groups, in as few bytes as they take."""

    def __init__(self) -> None:
        self._found: list[NDArray[Any]] = []

    def see(self, groups: Counted) -> None:
        """Take the sizes of some groups."""
        self._found.append(groups.sizes.astype(np.min_scalar_type(int(groups.sizes.max(initial=0)))))

    @property
    def sizes(self) -> NDArray[Any]:
        """The sizes of all groups, by number."""
        return np.concatenate(self._found)


# ---------------------------------------------------------------------------------------------------------- checks


def least_of(k: int | None) -> list[Limit]:
    """The limit that every group has at least k records, if that is asked."""
    return [] if k is None else [Limit("k", None, k)]


class Found:
    """The count of the groups of a table, and whether they satisfy the requirements."""

    def __init__(self, quasi: Sequence[str], limits: Sequence[Limit], counts: Mapping[str, ValueCounts]) -> None:
        self._quasi = tuple(quasi)
        self._limits = limits
        self._counts = counts
        self._smallest: WorstGroup | None = None
        self._n_smallest = 0
        self._n_groups = self._n_tuples = self._at_risk = self._largest = 0
        self.shares: dict[str, Fraction] = {}

    def checks(self) -> list[Check]:
        """The requirements, and whether they are satisfied."""
        return [limit.check() for limit in self._limits]

    def see(self, groups: Counted, columns: Sequence[CodedColumn], values: Sequence[str]) -> None:
        """Process some groups."""
        sizes = groups.sizes
        if not len(sizes):
            return
        least = int(sizes.min())
        if self._smallest is None or least < self._smallest.size:
            self._smallest, self._n_smallest = _named(groups, columns, int(np.argmin(sizes))), 0
        self._n_smallest += int((sizes == self._smallest.size).sum())
        self._n_groups += len(sizes)
        self._n_tuples += int(sizes.sum())
        self._at_risk += int(sizes[sizes * _RISK.numerator < _RISK.denominator].sum())
        self._largest = max(self._largest, int(sizes.max()))
        for i, name in enumerate(values):
            worst = int(np.argmax(groups.tops[i] / sizes))
            share = Fraction(int(groups.tops[i][worst]), int(sizes[worst]))
            self.shares[name] = max(self.shares.get(name, share), share)
        for limit in self._limits:
            place = 0 if limit.column is None else values.index(limit.column)
            limit.see(groups, place, self._counts.get(str(limit.column)), partial(_named, groups, columns))

    def add(self, other: Found) -> None:
        """Add the counts of the next groups."""
        least = other._smallest
        if least is None:
            return
        if self._smallest is None or least.size < self._smallest.size:
            self._smallest, self._n_smallest = least, 0
        self._n_smallest += other._n_smallest if least.size == self._smallest.size else 0
        self._n_groups += other._n_groups
        self._n_tuples += other._n_tuples
        self._at_risk += other._at_risk
        self._largest = max(self._largest, other._largest)
        self.shares |= {name: max(self.shares.get(name, share), share) for name, share in other.shares.items()}
        for limit, more in zip(self._limits, other._limits, strict=True):
            limit.add(more)

    def count(self, more: Sequence[Check]) -> StreamCount:
        """The whole result, as `verify` reports it; for sensitive columns only what was required."""
        if self._smallest is None:
            raise GuaranteeBroken("a published table has no rows")
        smallest = WorstGroup(cells=self._smallest.cells, size=self._smallest.size, n_others=self._n_smallest - 1)
        found = Verification(
            n_tuples=self._n_tuples,
            n_groups=self._n_groups,
            quasi=self._quasi,
            smallest=smallest,
            columns={},
            risk=Risk(
                prosecutor_highest=Fraction(1, smallest.size),
                prosecutor_average=Fraction(self._n_groups, self._n_tuples),
                threshold=_RISK,
                at_risk=Fraction(self._at_risk, self._n_tuples),
            ),
            checks=(*self.checks(), *more),
            counting=(
                "a group consists of the rows with equal quasi-identifiers, which stand directly below each other; "
                "every row counts as one person",
                "the tables were read in batches, in the order of their rows and files",
            ),
        )
        return StreamCount(verification=found, largest_group=self._largest, largest_shares=self.shares)


def _named(groups: Counted, columns: Sequence[CodedColumn], g: int) -> WorstGroup:
    cells = {column.name: column.value(int(key[g])) for column, key in zip(columns, groups.keys, strict=True)}
    return WorstGroup(cells=cells, size=int(groups.sizes[g]))
