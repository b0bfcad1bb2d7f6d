# SPDX-License-Identifier: Apache-2.0
"""What anatomy and permutation share: exact values, and the two sides of every group, each in an order of its own.

One side are the quasi-identifiers of a group's tuples, the other the multiset of its sensitive values. Both come out
group after group and sorted by value, so that no order of the input, and no link between the two sides, can survive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.errors import NotSupported
from glasshouse.kernels import compiled
from glasshouse.recoding.generalization import published_values
from glasshouse.recoding.recoding import EXACT, Recoding, check_names, check_sensitive

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Domain, Groups, Microdata
    from glasshouse.principles import Requirement
    from glasshouse.randomness import Draws

__all__ = ["Separated", "Side", "numbers"]

_BITS = 63  # of a key that packs all codes of a tuple
_SMALL = 48  # keys that are sorted by insertion; longer runs by numpy


class Separated(Recoding):
    """What recodings share that publish exact quasi-identifiers, apart from the sensitive values of their groups."""

    __slots__ = ()

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Refuse tables without a sensitive column, names that collide, and any promise of k-anonymity."""
        check_sensitive(table, self.name)
        check_names(table, self.added(), self.name)
        if requirement.anonymity:
            raise NotSupported(
                f"k-anonymity with {self.name}, which publishes exact quasi-identifiers",
                instead="use the recoding 'angel' or 'boxes', or ask for a principle on the sensitive values alone",
            )

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for people who read the release."""
        return "exact value; empty if missing" if domain.missing else "exact value"

    def limits(self) -> tuple[str, ...]:
        """Say what publishing in this way does not promise."""
        return (EXACT,)


class Side:
    """Some columns of the published tuples, group after group, sorted inside every group by their codes.

    Parameters
    ----------
    columns
        The columns that stay together.
    groups
        Which tuples are together.
    bits, small
        Widest key, and longest run that is sorted by insertion: tests force the other paths.
    """

    def __init__(self, columns: Sequence[Column], groups: Groups, *, bits: int = _BITS, small: int = _SMALL) -> None:
        self._columns = columns
        self._offsets = groups.offsets
        self._widths = [max(column.domain.size - 1, 0).bit_length() for column in columns]
        self._distinct: NDArray[np.int32] | None = None
        if sum(self._widths) > bits:
            self._distinct, keys = _ranked(columns)
        else:
            keys = self._packed()
        self._keys = np.empty(int(groups.offsets[-1]), np.int64)
        kernels = compiled("glasshouse.recoding._kernels")
        kernels.gather(groups.labels, keys, groups.offsets[:-1].copy(), self._keys)
        kernels.sort_small_runs(self._keys, self._offsets, small)
        for g in np.flatnonzero(groups.sizes > small):
            self._keys[self._offsets[g] : self._offsets[g + 1]].sort()

    def _packed(self) -> NDArray[np.int64]:
        keys = self._columns[0].codes.astype(np.int64)
        for column, width in zip(self._columns[1:], self._widths[1:], strict=True):
            keys <<= width
            keys |= column.codes
        return keys

    def shuffle(self, source: Draws) -> None:
        """Put the tuples of every group into a fresh uniformly random order."""
        source.shuffle_runs(self._keys, self._offsets)

    def published(self) -> dict[str, pa.Array]:
        """The columns, with the table's own values."""
        shown: dict[str, pa.Array] = {}
        shift = sum(self._widths)
        for i, (column, width) in enumerate(zip(self._columns, self._widths, strict=True)):
            shift -= width
            if self._distinct is None:
                codes = ((self._keys >> shift) & ((1 << width) - 1)).astype(np.int32)
            else:
                codes = self._distinct[self._keys, i]
            shown[column.name] = published_values(column, codes)
        return shown


def _ranked(columns: Sequence[Column]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Where codes are too wide for one key: the different combinations in their order, and each tuple's rank."""
    combinations, ranks = np.unique(np.stack([c.codes for c in columns], axis=1), axis=0, return_inverse=True)
    return combinations, ranks.reshape(-1).astype(np.int64)


def numbers(groups: Groups) -> NDArray[np.int32]:
    """The published number of every group's tuples, group after group: labels from 1."""
    return np.repeat(np.arange(1, groups.n_groups + 1, dtype=np.int32), groups.sizes)
