# SPDX-License-Identifier: Apache-2.0
"""Even seating: who sits where, if cells overlap too often for all ways to be counted.

Linking then shares the records of every place out alike among all who fit it, by itself, so that a person may be
expected at several places more than once, or at all of them together less than once although everybody on the list is
in the table. Here the shares are scaled until every place has as many people as it has records and every person sits
once (Sinkhorn 1967; the seating of largest entropy). People who need not be in the table may sit at one more place,
with room for as many as there are more people than records; if there are more records than people, strangers take them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.linking import Sitting
    from glasshouse.release.contents import Seats

__all__ = ["evenly_seated"]

_ROUNDS: Final = 300
_ENOUGH: Final = 1e-4  # of a record, that a place may have too many or too few, relative to what it has


def evenly_seated(sitting: Sitting, seats: Seats, n_alike: NDArray[np.int64]) -> Sitting:
    """The same, with even shares for those kinds of people whose shares could not be counted."""
    rough = ~sitting.is_exact[sitting.kinds]
    if not rough.any():
        return sitting
    kinds, kind = np.unique(sitting.kinds[rough], return_inverse=True)
    places, place = np.unique(sitting.places[rough], return_inverse=True)
    tuples = np.bincount(seats.place, weights=seats.count, minlength=len(seats)).astype(np.float64)
    share = _scaled(kind.reshape(-1), place.reshape(-1), n_alike[kinds].astype(np.float64), tuples[places])
    sits = sitting.sits.copy()
    sits[rough] = share / n_alike[sitting.kinds[rough]]
    # pairs of a kind and a place ascend
    n = len(seats) + 1
    pair = np.searchsorted(
        sitting.kinds * n + sitting.places, sitting.matches.of_match * n + seats.place[sitting.matches.seats]
    )
    of_match = seats.place[sitting.matches.seats]
    weight = sits[pair] * seats.count[sitting.matches.seats] / tuples[of_match]
    presence = np.bincount(sitting.kinds, weights=sits, minlength=len(n_alike))
    return replace(sitting, sits=sits, weight=weight, presence=np.minimum(1.0, presence))


def _scaled(
    row: NDArray[np.int64], column: NDArray[np.int64], people: NDArray[np.float64], tuples: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many people of each row sit at each column that they fit, if every column is full and everybody sits once.

    >>> _scaled(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1.0, 1.0]), np.array([1.0, 1.0])).round(2).tolist()
    [1.0, 0.0, 1.0]
    """
    spare = people.sum() - tuples.sum()
    of_column = np.ones(len(tuples))
    nowhere = 1.0 if spare > 0 else 0.0
    strangers = max(-spare, 0.0)
    for _ in range(_ROUNDS):
        reached = np.bincount(row, weights=of_column[column], minlength=len(people)) + nowhere
        of_row = people / reached
        outside = strangers / max(of_column.sum(), 1e-300)
        filled = of_column * (np.bincount(column, weights=of_row[row], minlength=len(tuples)) + outside)
        if np.abs(filled / tuples - 1).max() < _ENOUGH:
            break
        of_column *= tuples / filled
        if spare > 0:
            nowhere *= spare / (nowhere * of_row.sum())
    reached = np.bincount(row, weights=of_column[column], minlength=len(people)) + nowhere
    return np.asarray((people / reached)[row] * of_column[column], np.float64)
