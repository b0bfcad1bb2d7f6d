# SPDX-License-Identifier: Apache-2.0
"""Tally: the number of people of each kind in a table in memory, and who they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.engines.sorting import joined, runs, shuffle_runs
from glasshouse.microdata.kinds import Kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws

__all__ = ["tally"]


def tally(table: Microdata, source: Draws, engine: Memory) -> tuple[Kinds, NDArray[np.int32]]:
    """Count the kinds of people in a table; also its rows, kind after kind, those of a kind in a secret order.

    >>> from glasshouse.engines import Memory
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.randomness import Source
    >>> kinds, rows = tally(examples.transparent_t1(), Source.seeded(1), Memory())
    >>> len(kinds), rows.tolist()
    (8, [0, 1, 3, 2, 4, 7, 6, 5])
    """
    rows, offsets = runs(joined([column.codes for column in (*table.quasi, *table.sensitive)], engine), None, engine)
    if len(offsets) <= len(rows):  # somebody is of the same kind as somebody else
        shuffle_runs(rows, offsets, source, engine)
    kinds = replace(table, identifier=None).take(rows[offsets[:-1]])
    return Kinds(kinds, np.diff(offsets)), rows
