# SPDX-License-Identifier: Apache-2.0
"""Orders that put tuples with similar quasi-identifiers next to each other, for the methods that group along an order.

MINIMALITY 2.3: "as simple as choosing a prioritization of the attributes, and doing a lexicographic sort; or more
complex". Both orders look at codes, that is at the ranks of values, and at nothing else; tuples with equal codes stay
in the order that breaks ties (a declared identifier's, or a secret random one). All of it is in whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.kernels import compiled
from glasshouse.microdata.ties import tie_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Microdata
    from glasshouse.randomness import Source

__all__ = ["ORDERINGS", "arranged", "check_ordering", "hilbert", "lexicographic"]

ORDERINGS = ("lexicographic", "hilbert")

# Bits of a digit of a place on the Hilbert curve: a pass of the sort for each digit, counters that stay in cache.
DIGIT = 14


def arranged(table: Microdata, ordering: str, priority: Sequence[str], source: Source) -> NDArray[np.int32]:
    """Return the tuples (row numbers) along an order of the quasi-identifiers.

    Parameters
    ----------
    table
        The microdata.
    ordering
        ``lexicographic`` or ``hilbert``.
    priority
        Names of quasi-identifiers, the most important first; the others follow in the table's order.
    source
        Breaks ties where no identifier does.
    """
    columns = [column.codes for column in _by_priority(table, priority)]
    ties = tie_order(table, source)
    return hilbert(columns, ties) if ordering == "hilbert" else lexicographic(columns, ties)


def check_ordering(owner: str, ordering: str, priority: Sequence[str]) -> tuple[str, ...]:
    """Check what a method was given; returns the priority as a tuple."""
    if ordering not in ORDERINGS:
        raise ParameterError(owner, "ordering", "'lexicographic' or 'hilbert'", ordering)
    names = tuple(priority) if not isinstance(priority, str) else ()
    if isinstance(priority, str) or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ParameterError(owner, "priority", "names of different quasi-identifiers", priority)
    return names


def lexicographic(columns: Sequence[NDArray[np.int32]], ties: NDArray[np.int32]) -> NDArray[np.int32]:
    """Sort tuples by the first column, then the second, and so on; ``ties`` lists them in tie order.

    A stable counting sort by each column, from the last to the first: O(n d) and one counter per code.

    >>> lexicographic([np.array([1, 0, 0], np.int32), np.array([0, 1, 0], np.int32)], np.arange(3, dtype=np.int32))
    array([2, 1, 0], dtype=int32)
    """
    kernels = compiled("glasshouse.grouping._greedy_kernels")
    order, spare = ties.astype(np.int32, copy=True), np.empty(len(ties), np.int32)
    for codes in reversed(columns):
        places = np.zeros(int(codes.max(initial=0)) + 2, np.int64)
        kernels.sort_pass(np.ascontiguousarray(codes), order, places, spare)
        order, spare = spare, order
    return order


def hilbert(columns: Sequence[NDArray[np.int32]], ties: NDArray[np.int32]) -> NDArray[np.int32]:
    """Sort tuples along the Hilbert curve through the grid of codes; ``ties`` lists them in tie order.

    The curve visits every cell of a cube of ``2**bits`` cells a side, moving to a neighbouring cell each time; ``bits``
    is what the largest code of all columns needs. Any number of dimensions, exactly: a place on the curve is written in
    as many digits as it takes.

    >>> corners = [np.array([1, 0, 1, 0], np.int32), np.array([0, 0, 1, 1], np.int32)]
    >>> hilbert(corners, np.arange(4, dtype=np.int32))
    array([1, 3, 2, 0], dtype=int32)
    """
    bits = max((int(codes.max(initial=0)) for codes in columns), default=0).bit_length()
    cells = np.stack([np.ascontiguousarray(codes) for codes in columns])
    digits = np.empty((-(-len(columns) * bits // DIGIT), len(ties)), np.int32)
    kernels = compiled("glasshouse.grouping._greedy_kernels")
    kernels.hilbert_digits(cells, bits, DIGIT, np.empty(len(columns), np.int64), digits)
    return lexicographic(list(digits), ties)


def _by_priority(table: Microdata, priority: Sequence[str]) -> list[Column]:
    columns = {column.name: column for column in table.quasi}
    for name in priority:
        if name not in columns:
            raise SchemaError.unknown(name, list(columns), role="priority")
    return [columns[name] for name in dict.fromkeys((*priority, *columns))]
