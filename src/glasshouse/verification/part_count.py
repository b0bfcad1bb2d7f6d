# SPDX-License-Identifier: Apache-2.0
"""A count of published tables part by part: each file is counted separately, and its result is small.

A file can be counted anywhere. What it tells is enough to join it to its neighbours: its first and last row, the groups
that these belong to, which may go on in the next file, and what was counted of all groups between. Joined, that is what
`stream_count` counts from the same files, one after another. Where something is not as it should be, nothing is told of
it here: a stream over the files then says what.

Whether two tables have as many people in every numbered group is found out by sums: every number stands for 128 random
bits, and the sums of these are equal in both tables if the groups are, and otherwise hardly ever (2^-128).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from glasshouse.errors import GuaranteeBroken
from glasshouse.verification.limit import Limit, limits_of
from glasshouse.verification.order import CodedColumn, JoinedOrder, RowOrder, broken_order
from glasshouse.verification.stream_count import (
    NUMBERED,
    TIMES,
    Found,
    StreamCount,
    count_of_all,
    least_of,
    order_check,
    weights_of,
)
from glasshouse.verification.tally import Counted, Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.verification.stream_count import Asked
    from glasshouse.verification.verification import Check

__all__ = ["PartCount", "PartQuestion", "count_part", "joined_count", "order_checks", "questions_of"]


@dataclass(frozen=True, kw_only=True)
class PartQuestion:
    """What is counted of a table.

    Parameters
    ----------
    table
        Its name.
    keys, then
        Columns in which the rows of a group agree, and others by which rows ascend inside of a group.
    values, weight
        Sensitive columns that are counted, and the column that says how many people a row stands for.
    natural
        Columns whose values are exact and have the order that they always have.
    limits
        What is asked of every group: a word, a column, and the limit.
    judged
        Whether it is told what was counted of groups, and not their sizes alone.
    matched
        Whether the last of ``then`` has the numbers of groups that another table counts.
    """

    table: str
    keys: tuple[str, ...]
    then: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    weight: str | None = None
    natural: frozenset[str] = frozenset()
    limits: tuple[tuple[str, str | None, Any], ...] = ()
    judged: bool = True
    matched: bool = False

    @property
    def ordered(self) -> list[str]:
        """The columns by which rows ascend."""
        return [*self.keys, *self.then]

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        more = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.ordered, *self.values, *more]))

    @property
    def numbered(self) -> bool:
        """Whether groups are numbered."""
        return self.keys[0] in NUMBERED and self.keys[0] in self.natural

    def found(self) -> Found:
        """An empty result, before anything is counted."""
        return Found(self.keys, [Limit(*limit) for limit in self.limits], {})


def questions_of(
    tables: Mapping[str, Sequence[str]],
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    asked: Asked,
    cells_k: int | None = None,
    natural: Collection[str] = (),
) -> list[PartQuestion]:
    """What must be counted of each table; see `count_stream`, which takes the same.

    Nothing may be asked but `BY_SIZES`: for the rest, a file does not know how often values occur in all of them.
    """
    own = (*quasi, *sensitive)
    known = frozenset({*natural, *(name for name in NUMBERED if name not in own)})
    counted = {name: columns for name, columns in tables.items() if TIMES in columns and TIMES not in own}

    found = []
    for name, (by, value, _) in counted.items():
        if by not in NUMBERED or value not in sensitive:
            raise GuaranteeBroken(f"the table {name!r} counts a column that is not a sensitive one")
        told = _told(limits_of(asked([value]), [value]))
        found.append(
            PartQuestion(
                table=name, keys=(by,), then=(value,), values=(value,), weight=TIMES, natural=known, limits=told
            )
        )
    for name, columns in tables.items():
        if name in counted:
            continue
        cells = tuple(column for column in columns if column in quasi)
        number = next((column for column in columns if column in NUMBERED and column not in own), None)
        if counted:
            found.append(_question_of_cells(name, cells, number, known, cells_k))
        else:
            values = tuple(column for column in sensitive if column in columns)
            limits = [*limits_of(asked(values), values), *least_of(cells_k if number is None else None)]
            then = tuple(column for column in columns if column in values) if number is None else ()
            keys = cells if number is None else (number,)
            found.append(
                PartQuestion(table=name, keys=keys, then=then, values=values, natural=known, limits=_told(limits))
            )
    return found


def order_checks(
    tables: Mapping[str, pa.Table], *, quasi: Sequence[str], sensitive: Sequence[str], natural: Collection[str]
) -> list[Check]:
    """Whether the rows of tables in memory ascend, by the columns by which they must ascend in a stream."""
    names = {name: table.column_names for name, table in tables.items()}
    told = questions_of(names, quasi=quasi, sensitive=sensitive, asked=lambda _: (), natural=natural)
    return [order_check(own.table, broken_order(tables[own.table], own.ordered, own.natural)) for own in told]


def _question_of_cells(
    name: str, cells: tuple[str, ...], number: str | None, natural: frozenset[str], k: int | None
) -> PartQuestion:
    """What is counted of a table of people whose sensitive values stand in another one."""
    if number == NUMBERED[0]:
        return PartQuestion(table=name, keys=(number,), then=cells, natural=natural, judged=False)
    then = () if number is None else (number,)
    return PartQuestion(
        table=name, keys=cells, then=then, natural=natural, limits=_told(least_of(k)), matched=number is not None
    )


def _told(limits: Sequence[Limit]) -> tuple[tuple[str, str | None, Any], ...]:
    return tuple((limit.word, limit.column, limit.limit) for limit in limits)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Group:
    """A group at the edge of a part, which may continue in the next: its size, and the count of each value."""

    size: int
    counts: tuple[Counter[Any], ...]

    def joined(self, other: _Group, *, weighted: bool) -> _Group:
        """The group with its further rows added."""
        if weighted and any(one.keys() & two.keys() for one, two in zip(self.counts, other.counts, strict=True)):
            raise GuaranteeBroken("a published group lists a sensitive value twice")
        counts = tuple(one + two for one, two in zip(self.counts, other.counts, strict=True))
        return _Group(size=self.size + other.size, counts=counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class PartCount:
    """The result for a part.

    Parameters
    ----------
    schema
        Its columns, as far as they were read.
    first, last
        Its first and its last row, in the columns by which rows ascend.
    head, tail
        The groups of these; without a tail all rows are of one group.
    found
        What was counted of the groups between.
    following
        Which value follows which; see `RowOrder.following`.
    sizes
        Of numbered groups, the sizes of those between.
    sums
        The sums of what numbers stand for.
    """

    schema: pa.Schema
    first: tuple[Any, ...] = ()
    last: tuple[Any, ...] = ()
    head: _Group | None = None
    tail: _Group | None = None
    found: Found
    following: list[tuple[pa.Array, pa.Array] | None] = field(default_factory=list)
    sizes: NDArray[Any] | None = None
    sums: tuple[int, int] = (0, 0)


def count_part(batches: Iterable[pa.Table], question: PartQuestion, key: bytes) -> PartCount:
    """Count one part of a table; `GuaranteeBroken` if something is not as it should be.

    Parameters
    ----------
    batches
        The rows of the part, in their order.
    question
        What is counted.
    key
        16 bytes, the same for all parts: by which numbers stand for random bits.
    """
    return _Part(question, key).count(batches)


class _Part:
    """A part while it is counted."""

    def __init__(self, question: PartQuestion, key: bytes) -> None:
        self._question, self._key = question, key
        self._ordered = [CodedColumn(n, natural=n in question.natural) for n in question.ordered]
        self._values = [CodedColumn(name, natural=False) for name in question.values]
        self._order = RowOrder(self._ordered, len(question.keys))
        self._tally = Tally(len(question.values), weighted=question.weight is not None)
        self._found = question.found()
        self._sizes: list[NDArray[Any]] = []
        self._sums = np.zeros(2, np.uint64)
        self._first: tuple[Any, ...] = ()
        self._last: tuple[Any, ...] = ()
        self._head: _Group | None = None
        self._head_is_over = False
        self._number: int | None = None

    def count(self, batches: Iterable[pa.Table]) -> PartCount:
        """Count all batches."""
        schema = pa.schema([])
        for batch in batches:
            schema = batch.schema
            if batch.num_rows:
                self._see(batch)
        if self._order.broken() is not None:
            raise GuaranteeBroken("the rows of a published table are not in ascending order")
        if not self._first:
            return PartCount(schema=schema, found=self._found)
        size, counts = self._tally.open_group
        return PartCount(
            schema=schema,
            first=self._first,
            last=self._last,
            head=self._head,
            tail=_Group(size=size, counts=self._counters(counts)) if self._head_is_over else None,
            found=self._found,
            following=self._following(),
            sizes=np.concatenate([np.empty(0, np.uint8), *self._sizes]) if self._question.numbered else None,
            sums=(int(self._sums[0]), int(self._sums[1])),
        )

    def _see(self, batch: pa.Table) -> None:
        question = self._question
        codes = [column.codes(batch[column.name]) for column in self._ordered]
        begins = self._order.see(codes)
        values = [(column.entries(batch[column.name]), column) for column in self._values]
        weights = None if question.weight is None else weights_of(batch[question.weight])
        if not self._first:
            self._first = self._row(codes, 0)
        self._last = self._row(codes, -1)
        over = self._see_head(begins, values, weights)
        coded = [(entries, column.n_codes) for entries, column in values]
        groups = self._tally.see(begins, codes[: len(question.keys)], coded, weights)
        if question.numbered:
            self._see_numbers(codes[0][begins])
        inner = _without_first(groups) if over else groups
        self._found.see(inner, self._ordered[: len(question.keys)], question.values)
        if question.numbered:
            self._sizes.append(inner.sizes.astype(np.min_scalar_type(int(inner.sizes.max(initial=0)))))
        if question.matched:
            self._sums += tokens(codes[-1], self._key).sum(axis=0, dtype=np.uint64)

    def _see_head(
        self,
        begins: NDArray[np.bool_],
        values: Sequence[tuple[NDArray[np.int64], CodedColumn]],
        weights: NDArray[np.int64] | None,
    ) -> bool:
        """Count those rows of a batch that belong to the first group; whether this is over with them."""
        if self._head_is_over:
            return False
        starts = np.flatnonzero(begins)[0 if self._head is not None else 1 :]
        end = int(starts[0]) if len(starts) else len(begins)
        many = np.ones(end, np.int64) if weights is None else weights[:end]
        counts = []
        for entries, column in values:
            codes, place = np.unique(entries[:end], return_inverse=True)
            counted = np.bincount(place.reshape(-1), many, minlength=len(codes)).astype(np.int64)
            counts.append(Counter(dict(zip(map(column.value, codes.tolist()), counted.tolist(), strict=True))))
        group = _Group(size=int(many.sum()), counts=tuple(counts))
        self._head = group if self._head is None else self._head.joined(group, weighted=weights is not None)
        self._head_is_over = bool(len(starts))
        return self._head_is_over

    def _see_numbers(self, numbers: NDArray[np.int64]) -> None:
        """The groups of a part are numbered without a gap."""
        first = int(numbers[0]) if self._number is None and len(numbers) else (self._number or 0) + 1
        if not np.array_equal(numbers, np.arange(first, first + len(numbers))):
            raise GuaranteeBroken("the groups of a published table are not numbered 1, 2, 3, ... in this order")
        self._number = first + len(numbers) - 1

    def _row(self, codes: Sequence[NDArray[np.int64]], row: int) -> tuple[Any, ...]:
        return tuple(column.value(int(own[row])) for column, own in zip(self._ordered, codes, strict=True))

    def _counters(self, counts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> tuple[Counter[Any], ...]:
        return tuple(
            Counter(dict(zip(map(column.value, codes.tolist()), many.tolist(), strict=True)))
            for column, (codes, many) in zip(self._values, counts, strict=True)
        )

    def _following(self) -> list[tuple[pa.Array, pa.Array] | None]:
        following = self._order.following()
        if any(pairs is not None and column.natural for pairs, column in zip(following, self._ordered, strict=True)):
            raise GuaranteeBroken(
                "the exact values of a column are not sorted, so the parts of the table cannot be checked one by one"
            )
        return following


def tokens(numbers: NDArray[np.int64], key: bytes) -> NDArray[np.uint64]:
    """A random token for each number: 128 bits, derived with a key.

    >>> one, two, again = tokens(np.array([7, 8, 7]), bytes(16)).tolist()
    >>> one == again, one == two
    (True, False)
    """
    blocks = np.zeros((len(numbers), 2), np.uint64)
    blocks[:, 0] = numbers.astype(np.uint64)
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # a random function of single blocks
    return np.frombuffer(cipher.update(blocks.tobytes()), np.uint64).reshape(-1, 2)


def _without_first(groups: Counted) -> Counted:
    return Counted(
        tuple(own[1:] for own in groups.keys),
        groups.sizes[1:],
        tuple(own[1:] for own in groups.tops),
        tuple(own[1:] for own in groups.distinct),
    )


# ------------------------------------------------------------------------------------------------ parts that are joined


@dataclass(frozen=True)
class _Known:
    """A column of a group at the edge of a part: it has one value."""

    name: str
    known: Any

    def value(self, _code: int) -> Any:
        return self.known


class _Joined:
    """The parts of one table, one after another."""

    def __init__(self, question: PartQuestion) -> None:
        self._question = question
        self._order = JoinedOrder([CodedColumn(name, natural=name in question.natural) for name in question.ordered])
        self._open: tuple[tuple[Any, ...], _Group] | None = None
        self._expected = 1
        self._sizes: list[NDArray[Any]] = []
        self.found = question.found()
        self.sums = (0, 0)

    def see(self, part: PartCount) -> None:
        """Take the next part."""
        if part.head is None:
            return
        n_keys = len(self._question.keys)
        self._order.see(part.first, part.last, part.following)
        keys = part.first[:n_keys]
        head = part.head
        if self._open is not None and self._open[0] == keys:
            head = self._open[1].joined(head, weighted=self._question.weight is not None)
        else:
            self._close()
        self._open = keys, head
        if part.tail is not None:
            self._close()
            if part.sizes is not None:
                self._sizes.append(part.sizes)
                self._expected += len(part.sizes)
            self.found.add(part.found)
            self._open = part.last[:n_keys], part.tail
        one, two = (int(a) + int(b) for a, b in zip(self.sums, part.sums, strict=True))
        self.sums = one % 2**64, two % 2**64

    def _close(self) -> None:
        """Complete the open group."""
        if self._open is None:
            return
        keys, group = self._open
        self._open = None
        if self._question.numbered:
            if keys[0] != self._expected:
                raise GuaranteeBroken("the groups of a published table are not numbered 1, 2, 3, ... in this order")
            self._expected += 1
            self._sizes.append(np.array([group.size]))
        counted = Counted(
            tuple(np.zeros(1, np.int64) for _ in keys),
            np.array([group.size]),
            tuple(np.array([max(counts.values())]) for counts in group.counts),
            tuple(np.array([len(counts)]) for counts in group.counts),
        )
        named: Any = [_Known(name, value) for name, value in zip(self._question.keys, keys, strict=True)]
        self.found.see(counted, named, self._question.values)

    def finish(self) -> None:
        """Finish after the last part; `GuaranteeBroken` if rows do not ascend."""
        self._close()
        if not self._order.finish():
            raise GuaranteeBroken("the rows of a published table are not in ascending order")

    @property
    def sizes(self) -> NDArray[Any]:
        """The sizes of numbered groups."""
        return np.concatenate([np.empty(0, np.uint8), *self._sizes])


def joined_count(questions: Sequence[PartQuestion], parts: Sequence[Sequence[PartCount]], key: bytes) -> StreamCount:
    """The count of all tables, from the parts of each; `GuaranteeBroken` if something is wrong.

    Parameters
    ----------
    questions
        What was counted, table by table.
    parts
        For each of them what its parts tell, in their order.
    key
        By which numbers stand for random bits.
    """
    checks, results = [], []
    sizes: NDArray[Any] | None = None
    wanted = (0, 0)
    for question, own in zip(questions, parts, strict=True):
        if any(part.schema != own[0].schema for part in own):
            raise GuaranteeBroken(f"the parts of the table {question.table!r} have columns of different types")
        joined = _Joined(question)
        for part in own:
            joined.see(part)
        joined.finish()
        checks.append(order_check(question.table, None))
        if question.judged:
            results.append(joined.found)
        if question.weight is not None or not question.judged:
            if sizes is not None and not np.array_equal(sizes, joined.sizes):
                raise GuaranteeBroken("the published tables do not have the same groups")
            if sizes is None:
                sizes = joined.sizes
                wanted = _sums(sizes, key)
        if question.matched and joined.sums != wanted:
            raise GuaranteeBroken(
                f"the table {question.table!r} does not have the same number of records in every group as the "
                "other tables"
            )
    return count_of_all(results, sum(question.weight is not None for question in questions) or 1, checks)


def _sums(sizes: NDArray[Any], key: bytes, step: int = 1 << 20) -> tuple[int, int]:
    """The sums of what the numbers 1, 2, 3, ... stand for, each as often as its group has people."""
    total = np.zeros(2, np.uint64)
    for start in range(0, len(sizes), step):
        some = sizes[start : start + step].astype(np.uint64)
        total += (tokens(np.arange(start + 1, start + 1 + len(some)), key) * some[:, None]).sum(axis=0, dtype=np.uint64)
    return int(total[0]), int(total[1])
