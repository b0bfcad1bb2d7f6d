# SPDX-License-Identifier: Apache-2.0
"""Reconstruction error: how far records rebuilt from a release are from the true ones (ANATOMY Section 4).

A record is rebuilt as a distribution: even over the points of its cells, with the sensitive values that the release
allows there. Its error is the squared distance to the distribution that is all at the true record (Equation 12):

    1 - c(v)/n * 2 + sum of (c(u)/n)^2    exact cells, in a group of n records, c(u) of them with the value u
    1 - 1/V                               boxes of V points with the record's own value
    1 - (2 f(v) - sum of f(u)^2) / V      boxes of V points with shares f(u) of the values: ANGEL, perturbed samples

where v is the record's value. The reconstruction error (RCE, Equation 13) is the sum over all records.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.covering import Points, same_values, sums_over_covering
from glasshouse.analyst.answers.distribution import reconstructed
from glasshouse.errors import InputError, NotSupported
from glasshouse.plural import counted
from glasshouse.supports.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.answers.distribution import Distribution
    from glasshouse.microdata import Microdata
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import Release

__all__ = ["Terms", "reconstruction_error", "terms_of"]

_TERMS = 4_000  # with more different denominators, fractions are added up as floating-point numbers


def reconstruction_error(release: Release, truth: Microdata, *, exact: bool | None = None) -> Fraction | float:
    """The sum over all records of the squared distance between the record and its reconstruction.

    ``truth`` are the records that were published, and no others. What ANGEL or a perturbed sample says of a record is
    found by its quasi-identifiers, which must lie in one box alone. By default fractions are ``exact`` where there is
    little to reckon; counts of groups always are.

    ANATOMY Theorem 4: Anatomize reaches the least error that any anatomized tables can have, n (1 - 1/l).

    >>> import glasshouse as gh
    >>> table = gh.examples.anatomy_table1()
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), method=gh.Anatomize())
    >>> reconstruction_error(release, table)
    Fraction(4, 1)
    """
    if len(release.recipe.sensitive) != 1:
        raise NotSupported(
            "the reconstruction error needs exactly one sensitive column, and the release has "
            f"{len(release.recipe.sensitive)}",
            instead="publish the table with one sensitive column",
        )
    if truth.n_tuples != release.n_tuples:
        raise InputError(
            f"the release has {counted(release.n_tuples, 'record')} and the table {truth.n_tuples:,}: give the "
            "table that was published"
        )
    published = Evidence(release=release).published(None)
    if published.layout.exact:
        squares = np.add.reduceat(np.append(published.counts**2, 0), published.offsets[:-1])
        return release.n_tuples - _sum(squares.tolist(), published.sizes.tolist())
    terms = terms_of(truth)
    if published.kind == "boxes":
        shape = reconstructed(release, release.recipe.quasi, exact=True, **terms.to_dict())
        return release.n_tuples - _sum(shape.weights.amounts.tolist(), shape.volumes.tolist())
    return _error_by_place(reconstructed(release, exact=exact, **terms.to_dict()), truth)


@dataclass(frozen=True)
class Terms:
    """Public knowledge of the attributes of a table, in which the cells of its releases are read."""

    taxonomies: dict[str, Taxonomy]
    ordered: dict[str, list[Any]]
    points: dict[str, list[Any]]

    def to_dict(self) -> dict[str, Any]:
        """The terms as arguments of `glasshouse.analyst.answers.distribution.reconstructed`."""
        return {"taxonomies": self.taxonomies, "ordered": self.ordered, "points": self.points}


def terms_of(truth: Microdata) -> Terms:
    """What a table knows of its attributes: taxonomies, declared orders, and the values of what is measured."""
    taxonomies, ordered, points = {}, {}, {}
    for column in truth.quasi:
        domain, values = column.domain, column.domain.values.to_pylist()
        if domain.tree is not None:
            taxonomies[domain.name] = domain.tree
        elif domain.ordered and (domain.kind in ("category", "boolean") or not all(a < b for a, b in pairwise(values))):
            ordered[domain.name] = list(domain.order or values)
        if domain.kind in ("float", "timestamp"):
            points[domain.name] = values
    return Terms(taxonomies, ordered, points)


def _error_by_place(shape: Distribution, truth: Microdata) -> Fraction | float:
    """The third formula, summed up over the records of every place."""
    weights, starts = shape.weights, shape.weights.offsets[:-1]
    column = truth.column(str(shape.sensitive))
    place = _places_of(shape, truth)
    sizes = np.add.reduceat(weights.amounts, starts)
    here = np.bincount(place, minlength=len(shape))
    wrong = np.flatnonzero(abs(sizes - here) > 1e-6 * here)
    if len(wrong):
        raise InputError(
            f"{counted(len(wrong), 'group of the release does', 'groups of the release do')} not have as many "
            "records as the table has in the same cells: give the table that was published"
        )

    # records that have each value of their place's distribution
    code = same_values(column.domain.listed(), shape.values)[column.codes]
    keys, tuples = np.unique(place[code >= 0] * len(shape.values) + code[code >= 0], return_counts=True)
    entry = weights.places * len(shape.values) + weights.codes
    at = np.minimum(np.searchsorted(keys, entry), max(len(keys) - 1, 0))
    right = np.where(keys[at] == entry, tuples[at], 0) if len(keys) else np.zeros(len(entry), np.int64)
    if shape.is_exact:
        right = right.astype(object)
    gained = np.add.reduceat(2 * right * weights.amounts - weights.amounts**2, starts) / sizes
    if shape.is_exact:
        return truth.n_tuples - _sum(gained.tolist(), shape.volumes.tolist())
    return truth.n_tuples - fsum((gained / shape.volumes).tolist())


def _places_of(shape: Distribution, truth: Microdata) -> NDArray[np.int64]:
    """The one place whose cells cover each record."""
    columns = [truth.column(axis.name) for axis in shape.axes]
    values = [column.domain.listed() for column in columns]
    points, number = Points(values, [column.codes.astype(np.int64) for column in columns]).distinct()
    place = np.arange(len(shape))
    times = sums_over_covering(points, shape.axes, shape.of_place, place, np.ones(len(place)))
    if (times != 1).any():
        raise NotSupported(
            "the reconstruction error is not defined here, because some records of the table fit no group or "
            "several groups",
            instead="measure the divergence of the distribution instead (kl_divergence)",
        )
    found = sums_over_covering(points, shape.axes, shape.of_place, place, place.astype(np.float64))
    return found.astype(np.int64)[number]


def _sum(numerators: Sequence[Any], denominators: Sequence[int], *, most: int = _TERMS) -> Fraction | float:
    """Add up fractions, those with the same denominator first; rounded if there are very many denominators."""
    by_denominator: dict[int, Any] = {}
    for numerator, denominator in zip(numerators, denominators, strict=True):
        by_denominator[denominator] = by_denominator.get(denominator, 0) + numerator
    if len(by_denominator) > most:
        return fsum(float(numerator) / denominator for denominator, numerator in by_denominator.items())
    return sum((Fraction(numerator) / denominator for denominator, numerator in by_denominator.items()), Fraction(0))
