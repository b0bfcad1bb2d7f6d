# SPDX-License-Identifier: Apache-2.0
"""Finding given values in a column: suppressed and designated ones, declared orders, the leaves of a taxonomy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy import Taxonomy
    from glasshouse.verify.columns import Coded

__all__ = ["ancestors_by_height", "declared_order", "designated_codes", "has_order", "suppressed_codes"]

_MOST_VALUES = 10  # values that a message lists


def suppressed_codes(column: Coded, suppressed: Sequence[Any]) -> NDArray[np.int64]:
    """Find the codes of suppression marks; what the column's type cannot hold, it does not have."""
    codes = set()
    for mark in suppressed:
        try:
            scalar = pa.scalar(mark).cast(column.values.type)
            codes.add(pc.index(column.values, scalar).as_py() if scalar.is_valid else -1)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue
    return np.array(sorted(codes - {-1}), np.int64)


def designated_codes(column: Coded, wanted: Sequence[Any]) -> NDArray[np.int64]:
    """Find the codes of designated values, None standing for missing; refuse a value that the column does not have."""
    if isinstance(wanted, str) or not list(wanted):
        raise ParameterError("verify", "designated", f"a list of values of {column.name!r}", wanted)
    code_of = {_text(value): code for code, value in enumerate(column.values.to_pylist())}
    lacking = [value for value in wanted if value is not None and _text(value) not in code_of]
    if lacking:
        _refuse(column, f"column {column.name!r} has no such designated value:", lacking)
    return np.array([len(column.values) if value is None else code_of[_text(value)] for value in wanted], np.int64)


def has_order(kind: pa.DataType) -> bool:
    """Whether values of this type are amounts or times: ordered by themselves."""
    if pa.types.is_dictionary(kind):
        return has_order(kind.value_type)
    if pa.types.is_run_end_encoded(kind):
        return has_order(kind.value_type)
    amount = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(amount or pa.types.is_temporal(kind))


def declared_order(column: Coded, order: Sequence[Any], hidden: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put the codes in a declared order, which may list values that do not occur, but must list all that do."""
    texts = [_text(value) for value in order]
    place = {text: i for i, text in enumerate(texts)}
    if len(place) < len(texts):
        twice = sorted({text for text in texts if texts.count(text) > 1})
        _refuse(column, f"the order declared for {column.name!r} repeats", twice)
    values = column.values.to_pylist()
    occurring = np.setdiff1d(np.unique(column.codes), [*hidden, len(values)])
    missed = [values[code] for code in occurring.tolist() if _text(values[code]) not in place]
    if missed:
        _refuse(column, f"the order declared for {column.name!r} misses", missed)
    last = len(texts)  # for entries of a dictionary that no row has
    return np.argsort([place.get(_text(value), last) for value in values], kind="stable")


def ancestors_by_height(
    column: Coded, given: Taxonomy | str | Path, hidden: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """For each height below the root, find every code's highest ancestor up to there.

    Codes without a place in the tree (suppressed, missing) are their own ancestors: only at the root they meet others.
    """
    from glasshouse.microdata.taxonomy import Taxonomy

    tree = Taxonomy.from_file(given) if isinstance(given, str | Path) else given
    n_codes = len(column.values) + 1
    codes = np.setdiff1d(np.unique(column.codes), [*hidden, n_codes - 1])
    if not len(codes):
        return [np.arange(n_codes)]
    bound = tree.bind(column.name, column.values.take(pa.array(codes)))
    node = np.empty(len(codes), np.int64)
    node[bound.order] = bound.leaves
    levels = []
    for height in range(int(bound.height(bound.root))):
        while (climbs := bound.height(bound.parents[node]) <= height).any():
            node = np.where(climbs, bound.parents[node], node)
        ancestors = len(bound.parents) + np.arange(n_codes)
        ancestors[codes] = node
        levels.append(ancestors)
    return levels


def _text(value: Any) -> str:
    """Give the text by which a value is looked up: dates in ISO form, true and false in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _refuse(column: Coded, what: str, values: Sequence[Any]) -> None:
    shown = ", ".join(repr(_text(value)) for value in values[:_MOST_VALUES])
    more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    raise DomainError(f"{what} {shown}{more}", column=column.name, values=values)
