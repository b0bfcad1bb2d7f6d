# SPDX-License-Identifier: Apache-2.0
"""Orders that put records with similar quasi-identifiers next to each other, for the methods that group along an order.

MINIMALITY 2.3: "as simple as choosing a prioritization of the attributes, and doing a lexicographic sort; or more
complex". Both orders look at codes, that is at the ranks of values, and at nothing else; records with equal codes stay
in the order of a declared identifier, or else in a secret random one. All of it is in whole numbers.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.engines import Memory, sorting
from glasshouse.engines.sorting import along, joined, runs, share, shuffle_runs, sorted_by, spread, stretches
from glasshouse.errors import ParameterError, SchemaError
from glasshouse.grouping.method import check_priority
from glasshouse.kernels import compiled
from glasshouse.microdata.groups import tie_order
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.engines.sorting import Keys
    from glasshouse.microdata import Column, Microdata
    from glasshouse.randomness import Draws

__all__ = ["ORDERINGS", "arranged", "canonical", "check_ordering", "hilbert", "is_seeded", "lexicographic"]

ORDERINGS = ("lexicographic", "hilbert")

# Cells are placed on the Hilbert curve, and not tuples, if there are at most so many times as many of them.
CROWD = 1


def arranged(
    table: Microdata, ordering: str, priority: Sequence[str], source: Source, engine: Memory
) -> NDArray[np.int32]:
    """Return the records (row numbers) along an order of the quasi-identifiers.

    Attributes count in the order of ``priority``, the others following in the table's order. Where no identifier breaks
    ties, records with equal quasi-identifiers come in a uniformly random order.
    """
    columns = [column.codes for column in _by_priority(table, priority)]
    keys = _places(columns, engine) if ordering == "hilbert" else joined(columns, engine)
    if table.identifier is not None:
        return sorted_by(keys, tie_order(table, source), engine)[0]
    # ties are shuffled, so their order does not matter; a seeded run must not depend on it at all
    sensitive = joined([column.codes for column in table.sensitive] if is_seeded(source) else [], engine)
    start = sorted_by(sensitive, None, engine)[0] if sensitive else None
    order, offsets = runs(keys, start, engine)
    shuffle_runs(order, offsets, source.child("ties"), engine)
    return order


def check_ordering(owner: str, ordering: str, priority: Sequence[str]) -> tuple[str, ...]:
    """Check the parameters of a method; returns the priority, which may be names in one text, as a tuple.

    >>> check_ordering("Greedy", "hilbert", "age, sex")
    ('age', 'sex')
    """
    if ordering not in ORDERINGS:
        raise ParameterError(owner, "ordering", "'lexicographic' or 'hilbert'", ordering)
    return check_priority(owner, priority)


def lexicographic(
    columns: Sequence[NDArray[np.int32]], ties: NDArray[np.int32] | None = None, engine: Memory | None = None
) -> NDArray[np.int32]:
    """Sort records by the first column, then the second, and so on.

    ``ties`` lists them in tie order; None leaves ties as they are. O(n) for each 32 bits of codes.

    >>> lexicographic([np.array([1, 0, 0], np.int32), np.array([0, 1, 0], np.int32)])
    array([2, 1, 0], dtype=int32)
    """
    engine = engine or Memory()
    return sorted_by(joined(columns, engine), ties, engine)[0]


def hilbert(
    columns: Sequence[NDArray[np.int32]], ties: NDArray[np.int32] | None = None, engine: Memory | None = None
) -> NDArray[np.int32]:
    """Sort records along the Hilbert curve through the grid of codes; ``ties`` as in `lexicographic`.

    The curve visits every cell of a cube of ``2**bits`` cells a side, moving to a neighbouring cell each time; ``bits``
    is what the largest code of all columns needs. Any number of dimensions, exactly: a place on the curve is written in
    as many keys as it takes.

    >>> corners = [np.array([1, 0, 1, 0], np.int32), np.array([0, 0, 1, 1], np.int32)]
    >>> hilbert(corners)
    array([1, 3, 2, 0], dtype=int32)
    """
    engine = engine or Memory()
    return sorted_by(_places(columns, engine), ties, engine)[0]


def is_seeded(source: Draws) -> bool:
    """Whether the same choices can be had again; those that an adversary enumerates are not of a source."""
    return isinstance(source, Source) and source.is_seeded


def canonical(table: Microdata, source: Source, engine: Memory) -> NDArray[np.int32]:
    """Sort records by all codes, then by identifier: `glasshouse.microdata.groups.canonical_order`, on threads."""
    ties = None if table.identifier is None else tie_order(table, source)
    return lexicographic([column.codes for column in (*table.quasi, *table.sensitive)], ties, engine)


def _places(columns: Sequence[NDArray[np.int32]], engine: Memory) -> Keys:
    """Encode the records' positions on the Hilbert curve as keys that sort in the same order."""
    sizes = [int(codes.max(initial=0)) + 1 for codes in columns]
    bits, n_cells = (max(sizes) - 1).bit_length(), prod(sizes)
    if n_cells > min(CROWD * len(columns[0]), 1 << sorting.KEY):
        return _curve(columns, bits, engine)
    # more tuples than cells: each cell is placed once, and a tuple gets the rank of its cell
    cells = np.unravel_index(np.arange(n_cells), sizes)
    walk, _ = sorted_by(_curve([dim.astype(np.int32) for dim in cells], bits, engine), None, engine)
    ranks = spread(np.arange(n_cells, dtype=np.int32), walk, n_cells, engine)
    ((numbers, _),) = joined(columns, engine)
    return [(along(ranks, numbers.view(np.int32), engine).view(np.uint32), (n_cells - 1).bit_length())]


def _curve(columns: Sequence[NDArray[np.int32]], bits: int, engine: Memory) -> Keys:
    """Write places on the Hilbert curve through a grid of ``2**bits`` cells a side."""
    n, total, width = len(columns[0]), len(columns) * bits, sorting.KEY
    keys = np.zeros((max(1, -(-total // width)), n), np.uint32)
    kernels = compiled("glasshouse.grouping.along_order._kernels")

    def place(start: int, stop: int) -> None:
        cells = np.stack([codes[start:stop] for codes in columns])
        kernels.hilbert_keys(cells, start, bits, width, np.empty(len(columns), np.int64), keys)

    share(place, stretches(n), engine)
    return [(key, width if i else total - width * (len(keys) - 1)) for i, key in enumerate(keys)]


def _by_priority(table: Microdata, priority: Sequence[str]) -> list[Column]:
    columns = {column.name: column for column in table.quasi}
    for name in priority:
        if name not in columns:
            raise SchemaError.unknown(name, list(columns), role="priority")
    return [columns[name] for name in dict.fromkeys((*priority, *columns))]
