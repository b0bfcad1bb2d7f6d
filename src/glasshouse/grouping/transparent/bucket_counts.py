# SPDX-License-Identifier: Apache-2.0
"""Buckets as counts: canonical divisions (TRANSPARENT Definitions 9 to 12) of more people than fit into memory.

A bucket has columns of equally many people, and a division takes the same number from the front of each column, in the
order of one attribute. A node of Tailor is a bucket with one column. In a column lie *entries*, so many people each who
are equal in all quasi-identifiers. Those with equal values of the attribute come in the order of all quasi-identifiers,
one after another, and inside of an entry in a secret order.

*Why a few divisions are enough.* With k people of each column in the first part, the first part holds the entries that
begin before k, and the second those that end after k. So both boxes stay the same while k does not pass the border of
an entry in any column, and there the cost ``k * first + (m - k) * second`` is linear in k: an end of the range is
cheapest, and where all cost the same the smaller end comes first. The ends are the borders and the places next to them.

*Why it is transparent.* Which division is canonical depends on entries' quasi-identifiers, on how many people each
column has, and on the least size of a part. For Tailor an entry is a point, which people of any sensitive value share,
and the least size is l times the count of the most frequent value: no more is asked of sensitive values than Theorem 1
allows. The one point that a cut parts is parted uniformly at random. That is what a secret order of the people in a
point does, so that groups are as likely as those of rows. For Ace the entries of a column share one sensitive value,
and nothing is random in a division: people of one entry are of one kind, and nobody can tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.grouping.perimeter import Places, weighted_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata

__all__ = ["CountedBucket", "places_for"]

_SAFE = 2**62  # costs below it fit into 64 bits
_SHORT = 1 << 16  # keys below it are sorted by their digits


@dataclass(frozen=True, eq=False)
class CountedBucket:
    """So many people in each entry of each column.

    Parameters
    ----------
    codes
        Of the quasi-identifiers (attributes x entries); the entries of a column ascend in all of them, one attribute
        after another.
    counts
        How many people each entry has.
    starts
        Where each column begins, and the number of entries.

    Examples
    --------
    Three people of age 0 and five of age 4, in one column: the cheapest cut with two people in either part lies between
    them.

    >>> bucket = CountedBucket(np.array([[0, 4]]), np.array([3, 5]), np.array([0, 2]))
    >>> bucket.cheapest(2, Places((np.arange(5),), fits=True)), bucket.first_part(0, 4).tolist()
    ((0, 3), [3, 1])
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.starts) - 1

    @property
    def length(self) -> int:
        """How many people a column has."""
        return int(self.counts.sum()) // self.n_columns

    def cheapest(self, least: int, places: Places) -> tuple[int, int]:
        """The canonical division by perimeters: the attribute, and how many people of a column the first part has.

        Of the divisions with the least cost it is that of the first attribute, and there the one with the smallest
        first part. All comparisons are exact.

        Parameters
        ----------
        least
            How many people of a column both parts have at least.
        places
            Where the codes lie, as `places_for` gives them.
        """
        best: tuple[int, int, int] | None = None
        for dim in range(len(self.codes)):
            cost, size = self._cheapest_along(dim, least, places)
            if best is None or cost < best[0]:
                best = cost, dim, size
        assert best is not None
        return best[1:]

    def first_part(self, dim: int, size: int) -> NDArray[np.int64]:
        """How many people of each entry are among the first ``size`` of its column, in the order of an attribute."""
        order, begins = self._along(dim)
        taken = np.empty(len(self.counts), np.int64)
        taken[order] = np.clip(size - begins, 0, self.counts[order])
        return taken

    def _along(self, dim: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The entries column after column, each in the order of an attribute; and the place where each one begins."""
        codes = self.codes[dim]
        if self.n_columns == 1:
            order = _ascending(codes, int(codes.max(initial=0)))
            at = np.cumsum(self.counts[order])
            return order, at - self.counts[order]
        column = np.repeat(np.arange(self.n_columns), np.diff(self.starts))
        width = int(codes.max(initial=0)) + 1
        order = _ascending(column * width + codes, self.n_columns * width)
        at = np.cumsum(self.counts[order])
        return order, at - self.counts[order] - column * self.length  # entries of a column stay in their column

    def _cheapest_along(self, dim: int, least: int, places: Places) -> tuple[int, int]:
        """The least cost of a division along an attribute, and the least first part that has it."""
        length = self.length
        order, begins = self._along(dim)
        ends = begins + self.counts[order]
        by_begin, by_end = (slice(None), slice(None)) if self.n_columns == 1 else (_merged(begins), _merged(ends))
        begins, ends = begins[by_begin], ends[by_end]
        borders = ends[(np.diff(ends, prepend=-1) > 0) & (ends >= least - 1) & (ends <= length - least + 1)]
        near = np.stack([borders - 1, borders, borders + 1], axis=1).ravel()  # nearly ascending, and soon looked up
        near = np.concatenate([[least], near, [length - least]])
        sizes = near[(near >= least) & (near <= length - least)]
        # The first part holds the entries that begin before its size; the second those that end after it.
        before = self._widths(order[by_begin], places)[np.searchsorted(begins, sizes, side="left") - 1]
        backwards = self._widths(order[by_end][::-1], places)
        after = backwards[len(ends) - 1 - np.searchsorted(ends, sizes, side="right")]
        factor: NDArray[Any] = sizes if places.fits else sizes.astype(object)
        costs: NDArray[Any] = factor * before + (length - factor) * after
        cost = costs.min()
        return int(cost), int(sizes[costs == cost].min())

    def _widths(self, order: NDArray[np.intp], places: Places) -> NDArray[Any]:
        """The width of the first entry in an order, of the first two, of the first three, and so on."""
        total: Any = 0
        for codes, table in zip(self.codes, places.tables, strict=True):
            own = codes[order]
            total = total + (table[np.maximum.accumulate(own)] - table[np.minimum.accumulate(own)])
        widths: NDArray[Any] = total
        return widths


def _merged(at: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order of places that ascend inside of every column."""
    return np.argsort(at, kind="stable")


def places_for(table: Microdata, n_people: int) -> Places:
    """Where the codes lie, in Python's integers if the costs of so many people do not fit into 64 bits."""
    places = weighted_places(table)
    longest = max(int(codes.max(initial=0)) for codes in places.tables)
    if places.fits and n_people * len(places.tables) * longest < _SAFE:
        return places
    return Places(tuple(codes.astype(object) for codes in places.tables), fits=False)


def _ascending(keys: NDArray[Any], largest: int) -> NDArray[np.intp]:
    """The places of keys from the smallest to the largest, equal ones in their order."""
    return np.argsort(keys.astype(np.uint16) if largest < _SHORT else keys, kind="stable")
