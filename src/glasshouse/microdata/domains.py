# SPDX-License-Identifier: Apache-2.0
"""Domains: the values of one attribute, coded to integers once; codes keep the order of the values.

An attribute's order is the one in which it may be cut: numbers and dates by value, categories by their declared order,
else by their taxonomy's leaf order, else alphabetically. An alphabetic order serves cutting only: `ordered` is then
False, and what is published for a group is the set of its values, never an alphabetic interval.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.cells.values import text_of
from glasshouse.errors import DomainError
from glasshouse.microdata.spelling import key
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.cells.compound import Part
    from glasshouse.microdata.set_members import Members
    from glasshouse.microdata.taxonomy.taxonomy import BoundTaxonomy, Taxonomy
    from glasshouse.microdata.weight_classes import WeightClasses

__all__ = ["Column", "Domain", "code", "few", "kind_of", "text_of"]

_DENSE_RANGE = 1 << 22  # integers that span at most this many values are coded through a table, without a sort
_PIECE = 1 << 16


@dataclass(frozen=True, eq=False, kw_only=True)
class Domain:
    """The values of one attribute: code ``i`` stands for ``values[i]``, and ``len(values)`` for missing, if allowed."""

    name: str
    kind: str  # ``integer``, ``float``, ``date``, ``timestamp``, ``boolean``, ``category`` or ``set``
    values: pa.Array  # the distinct values in the order of their codes, with their Arrow type; no nulls
    ordered: bool  # whether a range of codes means something: cells are then intervals, otherwise sets
    # a tree over exactly these values, whose leaf order is the order of ``values``
    taxonomy: BoundTaxonomy | None = None
    tree: Taxonomy | None = None  # the taxonomy as it was declared, from which ``taxonomy`` was made
    # the texts of all values in the order that was given for them, also of those that nobody has; None if they have
    # the order of numbers, of texts or of a taxonomy
    order: tuple[str, ...] | None = None
    # whether a data steward declared that order; if not, it is that of a frame's categories, or of bins
    is_declared: bool = False
    ranges: bool = False  # whether the values are ranges into which numbers or dates were put
    # the values that also stand for everything below, or above, them; None where nothing was cut off
    bottom: Any = None
    top: Any = None
    missing: bool = False  # whether missing is a value of its own; it has the last code
    # whether look-alikes are one value, so that values are also looked up by what look-alikes have in common
    normalised: bool = False
    weight: WeightClasses | None = None  # of a survey weight: the classes whose means the values are
    parts: tuple[Part, ...] = ()  # of a compound column: the columns whose values each of its values lists
    members: Members | None = None  # where values are sets: which single values each of them has

    @property
    def singles(self) -> Domain:
        """The domain of single values, of which principles speak: that of the members where values are sets."""
        return self if self.members is None else self.members.domain

    @property
    def declared_order(self) -> tuple[str, ...] | None:
        """The order that a data steward declared, if there is one."""
        return self.order if self.is_declared else None

    @property
    def size(self) -> int:
        """How many codes there are, missing included."""
        return len(self.values) + self.missing

    @property
    def missing_code(self) -> int:
        """The code of a missing value; no record has it unless `missing`."""
        return len(self.values)

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """Where each code lies on the attribute's axis, ascending; missing lies with the largest value.

        A number or date lies at its value; a category, or numbers whose declared order is another, at the rank.
        """
        places = np.arange(len(self.values), dtype=np.float64)
        if self.kind in ("integer", "float"):
            numbers = np.asarray(self.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
            places = numbers if np.all(np.diff(numbers) >= 0) else places
        elif self.kind in ("date", "timestamp"):
            places = self.ticks.astype(np.float64) if np.all(np.diff(self.ticks) > 0) else places
        if self.missing:
            places = np.append(places, places[-1] if len(places) else 0.0)
        return places

    @cached_property
    def ticks(self) -> NDArray[np.int64]:
        """Dates and timestamps as whole numbers of their own unit."""
        integer = pa.int32() if self.values.type.bit_width == 32 else pa.int64()
        return np.asarray(self.values.view(integer).to_numpy(zero_copy_only=False)).astype(np.int64)

    @cached_property
    def separations(self) -> NDArray[np.int32]:
        """Depth of the lowest common ancestor of codes ``i`` and ``i + 1``: zeros without a taxonomy."""
        steps = np.zeros(max(self.size - 1, 0), np.int32)
        if self.taxonomy is not None:
            leaves = len(self.values) - 1
            steps[:leaves] = self.taxonomy.separation[:leaves]
        return steps

    def decode(self, codes: NDArray[np.int32]) -> pa.Array:
        """The exact values, with their types, that the codes stand for; missing is null.

        >>> coded = code(pa.array(["b", "a", "b"]), name="letter")
        >>> coded.domain.decode(coded.codes).to_pylist()
        ['b', 'a', 'b']
        """
        indices = pa.array(codes, mask=codes == self.missing_code) if self.missing else pa.array(codes)
        return self.values.take(indices)

    def listed(self) -> list[Any]:
        """What the codes stand for, as Python values; None, a missing value, comes last where it is allowed."""
        return [*self.values.to_pylist(), *([None] if self.missing else [])]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Every value as the text by which it is published and looked up."""
        return tuple(text_of(value) for value in self.values.to_pylist())

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.texts)}

    @cached_property
    def _codes_of_keys(self) -> dict[str, int]:
        return {key(text): code for code, text in enumerate(self.texts)} if self.normalised else {}

    def code_of(self, value: Any) -> int:
        """Find the code of one value, by value or by its text; `DomainError` if there is none."""
        wanted = text_of(value)
        code = self._codes.get(wanted)
        if code is None and self.normalised:
            code = self._codes_of_keys.get(key(wanted))
        if code is None:
            raise DomainError(f"column {self.name!r} has no such value", column=self.name, values=[value])
        return code

    def spelled(self, value: Any) -> Any:
        """The value as this column spells it, if the column is normalised and has a look-alike; else the value."""
        if not self.normalised or not isinstance(value, str):
            return value
        code = self._codes_of_keys.get(key(value))
        return value if code is None else self.texts[code]

    def spelled_by(self, declared: Mapping[str, str]) -> Domain:
        """The same values, in declared spelling if they are look-alikes of declared values; see `declared_spellings`.

        Only where the column is normalised.
        """
        if not self.normalised or self.kind != "category":
            return self
        spelled = [declared.get(key(text), text) for text in self.texts]
        return replace(self, values=pa.array(spelled, self.values.type))


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of a table: its domain and a code for every record."""

    domain: Domain
    codes: NDArray[np.int32]

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self.domain.name

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many records have each value, missing aside."""
        return self.rows_of(None)

    def rows_of(self, weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """How many rows have each value, missing aside, where a record stands for several rows."""
        n_values = len(self.domain.values)
        return np.bincount(self.codes, weights, minlength=n_values)[:n_values].astype(np.int64, copy=False)


def code(
    values: pa.Array,
    *,
    name: str,
    order: Sequence[Any] | None = None,
    taxonomy: Taxonomy | None = None,
    missing: bool = False,
    declared: bool = True,
    normalised: bool = False,
    weights: NDArray[np.int64] | None = None,
) -> Column:
    """Code a column: its distinct values in their order, and the code of each record's value.

    An ``order`` that nobody declared, but that was taken from the values, has ``declared=False``. ``weights`` says how
    many rows each value stands for; one unless given.

    >>> column = code(pa.array([30, 7, 30, None]), name="age", missing=True)
    >>> column.codes.tolist(), column.domain.values.to_pylist(), column.domain.size
    ([1, 0, 1, 2], [7, 30], 3)
    """
    kind = kind_of(values.type, name)
    distinct, codes = _factorise(values)
    domain = Domain(
        name=name,
        kind=kind,
        values=distinct,
        ordered=kind not in ("category", "boolean"),
        missing=missing,
        normalised=normalised,
    )
    if taxonomy is not None:
        bound = taxonomy.bind(name, distinct, counts=Column(domain, codes).rows_of(weights))
        # leaves out of their own order: an interval of numbers would then say what no record of the group says
        ordered = domain.ordered and bool(np.all(np.diff(bound.order) > 0))
        domain = replace(domain, taxonomy=bound, tree=taxonomy, ordered=ordered)
        return _reorder(Column(domain, codes), np.asarray(bound.order))
    if order is not None:
        texts = tuple(text_of(value) for value in order)
        domain = replace(domain, ordered=True, order=texts, is_declared=declared)
        return _reorder(Column(domain, codes), _declared_order(domain, order))
    return Column(domain, codes)


def kind_of(kind: pa.DataType, name: str) -> str:
    """Name the kind of domain that an Arrow type makes, in the words of the documentation."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "float"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return "timestamp"
    if is_text(kind):
        return "category"
    raise DomainError(
        f"column {name!r} has type {kind}, which cannot be used: change it to text or numbers", column=name
    )


def _factorise(values: pa.Array) -> tuple[pa.Array, NDArray[np.int32]]:
    """Distinct values ascending, integers widened, and a code per value; a null gets the code past the last."""
    if pa.types.is_integer(values.type) and len(values) > values.null_count:
        span = pc.min_max(values).as_py()
        if span["max"] - span["min"] < _DENSE_RANGE:
            return _factorise_dense(values, span["min"], span["max"])
    encoded = _only_used(values) if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order) + 1, np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    ranks[-1] = len(order)
    indices = encoded.indices.fill_null(len(order)) if encoded.null_count else encoded.indices
    distinct = encoded.dictionary.take(pa.array(order))
    return distinct.cast(pa.int64()) if pa.types.is_integer(distinct.type) else distinct, ranks[indices.to_numpy()]


def _only_used(values: pa.DictionaryArray) -> pa.DictionaryArray:
    """Leave out the entries of a dictionary that no record has: they are no part of the domain."""
    used = np.zeros(len(values.dictionary), bool)
    used[values.indices.drop_null().to_numpy()] = True
    places = pa.array(np.cumsum(used, dtype=np.int32) - np.int32(1))
    return pa.DictionaryArray.from_arrays(places.take(values.indices), values.dictionary.filter(pa.array(used)))


def _factorise_dense(values: pa.Array, low: int, high: int) -> tuple[pa.Array, NDArray[np.int32]]:
    """Integers of a short range: mark which occur, number them, look each one up; by pieces that stay in cache."""
    missing = np.asarray(values.is_null()) if values.null_count else None
    numbers = (values if missing is None else values.fill_null(low)).to_numpy(zero_copy_only=False)
    pieces = [slice(start, start + _PIECE) for start in range(0, len(numbers), _PIECE)]
    present = np.zeros(high - low + 1, bool)
    for piece in pieces:
        some = numbers[piece] if missing is None else numbers[piece][~missing[piece]]
        present[np.subtract(some, low, dtype=np.int64)] = True
    distinct = np.flatnonzero(present)
    ranks = np.cumsum(present, dtype=np.int32) - np.int32(1)
    codes = np.empty(len(numbers), np.int32)
    for piece in pieces:
        np.take(ranks, np.subtract(numbers[piece], low, dtype=np.int64), out=codes[piece], mode="clip")
    if missing is not None:
        codes[missing] = len(distinct)
    return pa.array(distinct + low), codes


def _declared_order(domain: Domain, order: Sequence[Any]) -> NDArray[np.int64]:
    """The places of the domain's values in the declared order, refused where it misses or repeats a value."""
    texts = [text_of(value) for value in order]
    repeated = sorted(text for text, count in Counter(texts).items() if count > 1)
    if repeated:
        raise DomainError(
            f"the order declared for column {domain.name!r} repeats {few(repeated)}",
            column=domain.name,
            values=repeated,
        )
    place = {text: i for i, text in enumerate(texts)}
    missed = [text for text in domain.texts if text not in place]
    if missed:
        raise DomainError(
            f"the order declared for column {domain.name!r} does not have {few(missed)}",
            column=domain.name,
            values=missed,
        )
    return np.argsort([place[text] for text in domain.texts])


def _reorder(column: Column, order: NDArray[Any]) -> Column:
    """Renumber codes so that value ``order[i]`` gets code ``i``."""
    ranks = np.empty(len(order) + 1, np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    ranks[-1] = len(order)
    values = column.domain.values.take(pa.array(order))
    return Column(replace(column.domain, values=values), ranks[column.codes])


def few(values: Iterable[object], most: int = 10) -> str:
    """Name a few of the values concerned, and the number of others."""
    texts = [repr(text_of(value)) for value in values]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
