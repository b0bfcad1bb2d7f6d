# SPDX-License-Identifier: Apache-2.0
"""Losses: how much information a release loses, by the measures with which the literature compares methods.

These are the losses that anybody can compute from the release alone, exactly: whole numbers or fractions.
`reconstruction_error` needs the microdata, and its result belongs inside. docs/definitions.md has every formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse import bounds
from glasshouse.analyst.usefulness.reconstruction_error import reconstruction_error
from glasshouse.errors import InputError, ParameterError
from glasshouse.supports.axes import Axis, position
from glasshouse.supports.evidence import Evidence, seats_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats
    from glasshouse.supports.axes import CellPoints

__all__ = ["Losses", "losses", "reconstruction_error"]


@dataclass(frozen=True, kw_only=True)
class Losses:
    """The information that a release loses, by its own tables.

    Attributes
    ----------
    n_tuples, n_dropped, n_groups
        Records that were published, those that were not, and groups of records that show the same cells; for anatomy
        and permutation, whose cells are exact, groups of records that share their sensitive values.
    discernibility
        The sum of the squared sizes of the groups, and the size of the whole table for every dropped record.
    average_size
        Records a group.
    normalised_size
        The same by the least size k of a group (C_avg); None where no k is known.
    by_attribute
        For every attribute the average width of its cells, as a share of the attribute's range: from 0, all cells
        exact, to 1, every cell as wide as the range.
    perimeter
        The widths added up over all records and attributes (TRANSPARENT Equation 4, summed over groups).
    ncp
        The average width over records and attributes (normalised certainty penalty), from 0 to 1.
    """

    n_tuples: int
    n_dropped: int
    n_groups: int
    discernibility: int
    average_size: Fraction
    normalised_size: Fraction | None
    by_attribute: dict[str, Fraction]
    perimeter: Fraction
    ncp: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        told = {name: float(value) if isinstance(value, Fraction) else value for name, value in vars(self).items()}
        return {**told, "by_attribute": {name: float(loss) for name, loss in self.by_attribute.items()}}


def losses(
    release: Release,
    attributes: Sequence[str] | None = None,
    *,
    k: int | None = None,
    ranges: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
) -> Losses:
    """Compute the information loss of a release, from its tables alone.

    Parameters
    ----------
    release
        What was published.
    attributes
        Quasi-identifiers; by default those of the table with the most of them. Of ANGEL's generalized tables the one is
        judged that has all of these and the fewest others, and its groups are the buckets.
    k
        The least size of a group, for the normalised size; by default that of the recipe.
    ranges
        By attribute the range that widths are a share of: lowest and highest value, or how many values there are. By
        default what the published cells span together, which for boxes is the range in the microdata.
    taxonomies, ordered
        Public knowledge that cells refer to: the taxonomy whose nodes they are, the order of categories.

    Examples
    --------
    TRANSPARENT Table III, the generalization of Table I by its groups of two, two and four:

    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2), recoding=gh.Boxes(),
    ...                      method=gh.OptGen())
    >>> found = losses(release)
    >>> found.n_groups, found.discernibility, found.average_size
    (3, 24, Fraction(8, 3))
    """
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    quasi = _quasi(evidence, attributes)
    published, seats = seats_of(evidence, quasi)
    sizes = _group_sizes(published, seats)
    n = int(sizes.sum())
    by_attribute = {}
    for name in quasi:
        axis = Axis.of(name, evidence.kinds[name], evidence.supports(seats, name))
        tuples = np.zeros(len(axis.cells), np.int64)
        np.add.at(tuples, seats.of_seat[seats.quasi.index(name)], seats.count)
        by_attribute[name] = _average_width(axis, tuples.tolist(), (ranges or {}).get(name))
    least = _least_size(release) if k is None else k
    if least is not None and (not isinstance(least, int) or least < 1):
        raise ParameterError("losses", "k", "a whole number, 1 or more", k)
    average = Fraction(n, len(sizes)) if len(sizes) else Fraction(0)
    perimeter = n * sum(by_attribute.values(), Fraction(0))
    return Losses(
        n_tuples=n,
        n_dropped=release.n_dropped,
        n_groups=len(sizes),
        discernibility=sum(size * size for size in sizes.tolist()) + release.n_dropped * (n + release.n_dropped),
        average_size=average,
        normalised_size=None if least is None else average / least,
        by_attribute=by_attribute,
        perimeter=perimeter,
        ncp=perimeter / (n * len(quasi)) if n else Fraction(0),
    )


def _quasi(evidence: Evidence, attributes: Sequence[str] | None) -> list[str]:
    recipe = evidence.release.recipe
    if attributes is None:
        column = recipe.sensitive[0] if recipe.sensitive else None
        return list(evidence.published(column).widest.quasi)
    chosen = [name for name in attributes if name in recipe.quasi]
    if len(chosen) < len(attributes) or not chosen:
        raise InputError(f"losses are measured for quasi-identifiers: name one or more of {', '.join(recipe.quasi)}")
    return chosen


def _group_sizes(published: Published, seats: Seats) -> NDArray[np.int64]:
    """The sizes of sets of indistinguishable records: by group if cells are exact, else by the cells shown."""
    if published.layout.exact:
        return published.sizes
    return np.bincount(seats.place, weights=seats.count).astype(np.int64)


def _least_size(release: Release) -> int | None:
    """The k of the recipe: that of the recoding, or else of the principle, l-diversity taken as k = l."""
    for made in (release.recipe.recoding, release.recipe.principle):
        for name in ("k", "ell"):
            if made.get(name) is not None:
                return ceil(bounds.exact(made[name]))  # of entropy l-diversity, a number that need not be whole
    return None


# --- widths of cells --------------------------------------------------------------------------------------------------


def _average_width(axis: Axis, tuples: Sequence[int], given: Any) -> Fraction:
    """The average over records of the width of their cells, as a share of the attribute's range."""
    shown = [cell for cell, times in zip(axis.cells, tuples, strict=True) if times]
    on_a_line = all(cell.values is None or not cell.values for cell in shown)
    if on_a_line:
        low, high = _line(axis, shown, given)
        whole = Fraction(high) - Fraction(low)
        # missing lies with the highest value, as it does for a method that cuts the axis
        widths = [
            Fraction(0) if cell.low is None else Fraction(high if cell.missing else cell.high) - Fraction(cell.low)
            for cell in axis.cells
        ]
    else:
        whole = Fraction(_n_values(axis, shown, given) - 1)
        widths = [Fraction(max(cell.size - 1, 0)) for cell in axis.cells]
    total = sum(times for times in tuples)
    if whole <= 0 or not total:
        return Fraction(0)
    found = sum((times * width for times, width in zip(tuples, widths, strict=True)), Fraction(0)) / whole / total
    if found > 1:
        raise InputError(
            f"the range given for {axis.name!r} is narrower than its published cells: give a range that contains them"
        )
    return found


def _line(axis: Axis, shown: Sequence[CellPoints], given: Any) -> tuple[Any, Any]:
    """Lowest and highest position of an attribute."""
    if given is None:
        ends = [end for cell in shown if cell.low is not None for end in (cell.low, cell.high)]
        return (min(ends), max(ends)) if ends else (0, 0)
    try:
        low, high = (position(end, axis.kind) for end in given)
    except (TypeError, ValueError):
        raise InputError(
            f"the range of {axis.name!r} must be its lowest and its highest value, got {given!r}"
        ) from None
    return low, high


def _n_values(axis: Axis, shown: Sequence[CellPoints], given: Any) -> int:
    """How many values an attribute has, missing included."""
    if given is None:
        found = {value for cell in shown for value in cell.values or ()}
        return len(found) + any(cell.missing for cell in shown)
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputError(f"the range of {axis.name!r} must be the number of its values, got {given!r}")
    return given
