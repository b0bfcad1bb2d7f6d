# SPDX-License-Identifier: Apache-2.0
"""Distribution: what a release says of the population, over any of its attributes (ANGEL Section 5).

A record of the release lies at any point of its cells with the same probability, and has each sensitive value of its
group with the share that the value has there. So with n records, cells that have ``V`` points, and groups in which a
share ``f(x)`` of the records has the value x, the reconstructed distribution is

    D*(Q, x)  =  1/n  *  sum of  f(x) / V  over the records whose cells cover Q

which is ANGEL's Equation 7 where cells are disjoint; for anatomy V is 1. It is kept as it is read, by *places* (what
shows the same cells of the attributes that are asked for) and the sparse weights of their sensitive values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.covering import numbered, same_values
from glasshouse.analyst.answers.perturbed_answers import deperturbed
from glasshouse.analyst.usefulness.divergence import kl_divergence
from glasshouse.errors import InputError
from glasshouse.plural import counted
from glasshouse.supports.evidence import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats
    from glasshouse.supports.axes import Axis

__all__ = ["Distribution", "Weights", "kl_divergence", "reconstructed"]

_EXACT = 2_000  # with at most so many shares of a value in a group, weights are fractions
_ENTRIES = 1 << 21  # shares that are held at once while groups are added up


@dataclass(frozen=True, eq=False)
class Weights:
    """For every place the expected number of records with each value: sparse; the sum is the number of records.

    Place ``p`` has ``amounts[i]`` records with the value of code ``codes[i]`` for ``offsets[p] <= i < offsets[p + 1]``.
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    amounts: NDArray[Any]

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of every amount."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Distribution:
    """A probability for every combination of values of some attributes, as a release gives it.

    Examples
    --------
    ANGEL Example 5: from Table 1b a person of 40 with pneumonia has probability 4/8 * 1/20 * 1/2.

    >>> import glasshouse as gh
    >>> table = gh.examples.angel_table1()
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes(), method=gh.Mondrian())
    >>> reconstructed(release, ["Age", "Disease"]).probability(40, "pneumonia")
    Fraction(1, 80)
    """

    attributes: tuple[str, ...]  # in the order of a point's values
    sensitive: str | None  # the sensitive column among them, if there is one
    axes: tuple[Axis, ...]  # the cells of each other attribute
    of_place: tuple[NDArray[np.int32], ...]  # which of them every place shows
    values: tuple[Any, ...]  # of the sensitive column
    weights: Weights  # how many records of every place are expected to have each
    place_of_seat: NDArray[np.int64]  # at which place every seat of the table is that was read
    n_tuples: int  # how many records the release has
    notes: tuple[str, ...] = ()  # what should be said with any number that is taken from it

    def __len__(self) -> int:
        return len(self.weights.offsets) - 1

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'place')}, {counted(self.n_tuples, 'record')}"
        return f"Distribution({', '.join(self.attributes)}; {size})"

    @property
    def is_exact(self) -> bool:
        """Whether probabilities are exact fractions."""
        return bool(self.weights.amounts.dtype == object)

    @cached_property
    def volumes(self) -> NDArray[Any]:
        """How many points the cells of every place have: whole numbers where `is_exact`."""
        kind = object if self.is_exact else np.float64
        volumes = np.full(len(self), 1, kind)
        for axis, cells in zip(self.axes, self.of_place, strict=True):
            volumes = volumes * np.array(axis.sizes, kind)[cells]
        return volumes

    def probability(self, *point: Any) -> Fraction | float:
        """The probability D* of one point: a value for every attribute, None for a missing one."""
        if len(point) != len(self.attributes):
            raise InputError(
                f"a point must have {counted(len(self.attributes), 'value')}: {', '.join(self.attributes)}"
            )
        asked = dict(zip(self.attributes, point, strict=True))
        fits = np.ones(len(self), bool)
        for axis, cells in zip(self.axes, self.of_place, strict=True):
            fits &= axis.covers(asked[axis.name])[cells]
        wanted = 0 if self.sensitive is None else int(same_values([asked[self.sensitive]], self.values)[0])
        place = self.weights.places
        chosen = np.flatnonzero(fits[place] & (self.weights.codes == wanted))
        densities = self.weights.amounts[chosen] / self.volumes[place[chosen]]
        total = densities.sum() if len(chosen) else 0
        return Fraction(total) / self.n_tuples if self.is_exact else float(total) / self.n_tuples


def reconstructed(
    release: Release,
    attributes: Sequence[str] | None = None,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    points: Mapping[str, Sequence[Any]] | None = None,
    exact: bool | None = None,
) -> Distribution:
    """Reconstruct the distribution of some attributes from a release of any kind.

    Parameters
    ----------
    release
        What was published. Of ANGEL's generalized tables the one is used that has all the attributes and the fewest
        others.
    attributes
        Quasi-identifiers, and at most one sensitive column; by default those of the table with the most of them.
    taxonomies, ordered
        Public knowledge that cells refer to: the taxonomy whose nodes they are, the order of categories.
    points
        All values that an attribute can have. Whole numbers, days and categories need none; numbers with a fraction and
        times have no single points without.
    exact
        Whether to reckon with fractions; by default where there is little to reckon.

    Returns
    -------
    Distribution
        With a perturbed sample the perturbation is inverted; `Distribution.notes` says how much came out negative.
    """
    reading = Reading.of(release, attributes, taxonomies=taxonomies, ordered=ordered, points=points)
    published, seats, column, axes = reading.published, reading.seats, next(iter(reading.columns), None), reading.axes
    of_seat = [reading.cells(axis) for axis in axes]
    place, first = numbered([(codes, len(axis.cells)) for codes, axis in zip(of_seat, axes, strict=True)], len(seats))
    n_tuples = int(seats.count.sum())
    values: tuple[Any, ...] = published.values
    notes: tuple[str, ...] = ()
    if column is None:
        values, weights = (None,), _counted(seats, place, len(first), exact=_is_exact(len(seats), asked=exact))
    elif published.kind == "sample":
        values = reading.evidence.domain_of(published)
        shown = same_values(published.values, values)
        (places, codes, amounts), notes = deperturbed(
            release,
            shown[published.codes[published.offsets[seats.group]]],
            seats.count,
            place,
            (len(first), len(values)),
            exact=_is_exact(len(first) * len(values), asked=exact),
        )
        weights = Weights(np.searchsorted(places, np.arange(len(first) + 1)), codes.astype(np.int32), amounts)
    else:
        entries = int(np.diff(published.offsets)[seats.group].sum())
        weights = _dealt(published, seats, place, len(first), exact=_is_exact(entries, asked=exact))
    return Distribution(
        attributes=reading.attributes,
        sensitive=column,
        axes=axes,
        of_place=tuple(codes[first] for codes in of_seat),
        values=values,
        weights=weights,
        place_of_seat=place,
        n_tuples=n_tuples,
        notes=notes,
    )


def _is_exact(n_entries: int, *, asked: bool | None) -> bool:
    return n_entries <= _EXACT if asked is None else asked


def _counted(seats: Seats, place: NDArray[np.int64], n_places: int, *, exact: bool) -> Weights:
    """The number of records at every place, for a release without a sensitive column."""
    amounts = np.zeros(n_places, np.int64)
    np.add.at(amounts, place, seats.count)
    return Weights(
        np.arange(n_places + 1, dtype=np.int64),
        np.zeros(n_places, np.int32),
        np.array([Fraction(a) for a in amounts.tolist()], object) if exact else amounts.astype(np.float64),
    )


def _dealt(
    published: Published,
    seats: Seats,
    place: NDArray[np.int64],
    n_places: int,
    *,
    exact: bool,
    at_once: int = _ENTRIES,
) -> Weights:
    """Every record has the values of its group with their shares; added up by place and value, in blocks of places."""
    order = np.argsort(place, kind="stable")
    group, count, at = seats.group[order], seats.count[order], place[order]
    lengths = np.diff(published.offsets)[group]
    ends = np.cumsum(lengths)
    bounds = np.searchsorted(at, np.arange(n_places + 1))
    keys, amounts = [], []
    start = 0
    while start < n_places:
        before = int(ends[bounds[start] - 1]) if bounds[start] else 0
        stop = max(start + 1, int(np.searchsorted(ends[bounds[1:] - 1], before + at_once, side="right")))
        rows = slice(int(bounds[start]), int(bounds[stop]))
        found = _added_up(published, group[rows], count[rows], at[rows], exact=exact)
        keys.append(found[0])
        amounts.append(found[1])
        start = stop
    key = np.concatenate(keys) if keys else np.empty(0, np.int64)
    n_values = len(published.values)
    return Weights(
        np.searchsorted(key, np.arange(n_places + 1) * n_values).astype(np.int64),
        (key % n_values).astype(np.int32),
        np.concatenate(amounts) if amounts else np.empty(0),
    )


def _added_up(
    published: Published, group: NDArray[np.int32], count: NDArray[np.int64], at: NDArray[np.int64], *, exact: bool
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    lengths = np.diff(published.offsets)[group]
    row = np.repeat(np.arange(len(group)), lengths)
    entry = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + published.offsets[group][row]
    keys, number = np.unique(at[row] * len(published.values) + published.codes[entry], return_inverse=True)
    if exact:
        amounts = np.array([Fraction(0)] * len(keys), object)
        sizes = published.sizes[group].tolist()
        times = published.counts[entry].tolist()
        for i, r, c in zip(number.reshape(-1).tolist(), row.tolist(), times, strict=True):
            amounts[i] += Fraction(int(count[r]) * c, sizes[r])
        return keys, amounts
    each = (count / published.sizes[group])[row] * published.counts[entry]
    return keys, np.bincount(number.reshape(-1), weights=each, minlength=len(keys))
