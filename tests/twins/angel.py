# SPDX-License-Identifier: Apache-2.0
"""ANGEL, slowly: batch table and generalized tables (Section 3), random worlds over marginals (4.2), analysis (5).

Batches and buckets are lists of tuple numbers, from 0; the first batch has number 1. An attribute's generalized value
is the smallest interval in the order of its values (for categories their alphabetic order: ``("F", "M")`` is the
paper's ``*``). What the paper leaves open, or prints otherwise, is fixed here:

* the batches come from the partition that satisfies the principle, the GTs from k-anonymous ones (Section 4.1 swaps
  them once);
* an answer to a counting query is |T| times Formula 8, which alone is a fraction of the table (Example 6 gives 0.14,
  which is such a fraction, beside 2, which is a count);
* in a random world the people are nothing but names. Exchanging two of them gives another world that says the same of
  any point, so only the worlds are gone through where person o is the o-th tuple of the first table; and the points of
  the QI-space that people may have in a world are counted, not listed. Tests compare both with the plain definition;
* where boxes overlap in a subspace, the EC that covers a point is not unique, and Equation 7 is summed over all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

__all__ = [
    "Class",
    "batch_beliefs",
    "batch_table",
    "classes_of_angelization",
    "classes_of_generalization",
    "counted",
    "density",
    "distribution",
    "generalized_table",
    "generalized_without_sensitive",
    "linked_beliefs",
    "random_worlds",
    "reconstructed",
    "sensitive_beliefs",
    "world_density",
]

Tuple = tuple[tuple[Any, ...], Any]  # QI values, and the sensitive value
Groups = Sequence[Collection[int]]  # batches or buckets
Interval = tuple[Any, Any]  # both ends included
Cells = tuple[Interval, ...]
Bt = list[tuple[int, Any, int]]  # Batch-ID, X, Count
Gt = list[tuple[Cells, int]]  # generalized QI values, Batch-ID
Distribution = dict[Any, Fraction]  # of a sensitive value
Class = tuple[Cells, int, Distribution]  # an EC: its rectangle, how many tuples it has, its SA-distribution
Marginal = tuple[Sequence[int], Sequence[tuple[Cells, Any]]]  # its attributes, and the rows of its table
World = list[tuple[int, ...]]  # by person o, h_1(o), ..., h_g(o): row numbers, from 0
Domains = Sequence[Sequence[Any]]  # the values of each attribute: together the QI-space


# --- what is published (Definitions 2 and 8, Section 4.1) ------------------------------------------------------------


def distribution(values: Sequence[Any]) -> Distribution:
    """Definition 2: the SA-distribution of a multiset."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def batch_table(tuples: Sequence[Tuple], batches: Groups) -> Bt:
    """Definition 8: a row ``(i, x, y)`` for every batch i and every sensitive value x that appears in it, y times."""
    rows = []
    for i, batch in enumerate(batches, 1):
        rows.extend((i, x, y) for x, y in sorted(Counter(tuples[t][1] for t in batch).items()))
    return rows


def generalized_table(
    tuples: Sequence[Tuple], batches: Groups, buckets: Groups, attributes: Sequence[int] | None = None
) -> Gt:
    """Definition 8: for every tuple the cells of its bucket, and the ID of its batch.

    ``attributes`` are the QI attributes of a marginal (Section 4.1); None for all.
    """
    batch_of = {t: i for i, batch in enumerate(batches, 1) for t in batch}
    return sorted((_cells(tuples, bucket, attributes), batch_of[t]) for bucket in buckets for t in bucket)


def generalized_without_sensitive(
    tuples: Sequence[Tuple], buckets: Groups, attributes: Sequence[int] | None = None
) -> list[Cells]:
    """Section 4.1: a marginal without the sensitive attribute is a k-anonymous generalization, with no batch."""
    return sorted(_cells(tuples, bucket, attributes) for bucket in buckets for _ in bucket)


def _cells(tuples: Sequence[Tuple], bucket: Collection[int], attributes: Sequence[int] | None) -> Cells:
    chosen = range(len(tuples[0][0])) if attributes is None else attributes
    return tuple((min(tuples[t][0][a] for t in bucket), max(tuples[t][0][a] for t in bucket)) for a in chosen)


# --- the E-M model (Definition 3, Equation 2) ------------------------------------------------------------------------


def classes_of_generalization(rows: Sequence[tuple[Cells, Any]]) -> list[Class]:
    """A simple generalization: tuples with the same cells are an EC, mapped to its own SA-distribution."""
    return [
        (cells, len(values), distribution(values))
        for cells in sorted({shown for shown, _ in rows})
        for values in [[value for shown, value in rows if shown == cells]]
    ]


def classes_of_angelization(bt: Bt, gt: Gt) -> list[Class]:
    """Equation 2: the SA-distribution of a bucket is synthesized from those of the batches of its rows."""
    classes = []
    for cells in sorted({shown for shown, _ in gt}):
        ids = [i for shown, i in gt if shown == cells]  # I
        classes.append((cells, len(ids), _mixture({i: Fraction(n, len(ids)) for i, n in Counter(ids).items()}, bt)))
    return classes


def linked_beliefs(classes: Sequence[Class], point: tuple[Any, ...]) -> Distribution:
    """What a linking adversary believes of someone at this point (Example 2): the class that covers it."""
    (found,) = [dist for cells, _, dist in classes if _covers(cells, point)]
    return found


def _mixture(weights: dict[int, Fraction], bt: Bt) -> Distribution:
    """Equations 2 and 6: batches' SA-distributions, weighted."""
    mixed: Distribution = {}
    for i, weight in weights.items():
        batch = [(x, y) for batch_id, x, y in bt if batch_id == i]
        size = sum(y for _, y in batch)
        for x, y in batch:
            mixed[x] = mixed.get(x, Fraction(0)) + weight * Fraction(y, size)
    return mixed


# --- random worlds (Section 4.2) -------------------------------------------------------------------------------------


def random_worlds(marginals: Sequence[Marginal], domains: Domains) -> Iterator[World]:
    """All ways to match the tables' tuples, one of each to every person, so that some table could have given them.

    A person's tuples have the same sensitive value, and together cover at least one point of the QI-space. Person o has
    tuple o of the first table; see the head of this file.
    """
    n = len(marginals[0][1])

    def matched(person: int, used: tuple[set[int], ...]) -> Iterator[World]:
        if person == n:
            yield []
            return
        free = ([h for h in range(n) if h not in taken] for taken in used)
        for others in product(*free):
            mine = (person, *others)
            if _value(marginals, mine) is not None and _n_points(marginals, mine, domains) > 0:
                for rest in matched(person + 1, tuple({*taken, h} for taken, h in zip(used, others, strict=True))):
                    yield [mine, *rest]

    yield from matched(0, tuple(set() for _ in marginals[1:]))


def world_density(marginals: Sequence[Marginal], domains: Domains, point: tuple[Any, ...], value: Any) -> Fraction:
    """Equation 4: the share of worlds in which an arbitrary person is at the point with the sensitive value."""
    here, everywhere = Fraction(0), Fraction(0)
    for world in random_worlds(marginals, domains):
        points = [_n_points(marginals, mine, domains) for mine in world]  # how many choices q(o) has
        everywhere += prod(points)
        for mine, choices in zip(world, points, strict=True):
            at = all(low <= point[a] <= high for a, low, high in _intervals(marginals, mine))
            if at and _value(marginals, mine) == value:
                here += Fraction(prod(points), choices)
    return here / (everywhere * len(marginals[0][1]))


def sensitive_beliefs(marginals: Sequence[Marginal], domains: Domains, point: tuple[Any, ...]) -> Distribution:
    """Equation 5: the SA-distribution of a person whose QI-values are this point."""
    values = sorted({value for _, rows in marginals for _, value in rows})
    joint = {value: world_density(marginals, domains, point, value) for value in values}
    total = sum(joint.values(), Fraction(0))
    return {value: density / total for value, density in joint.items() if density}


def batch_beliefs(
    bt: Bt, gts: Sequence[tuple[Sequence[int], Gt]], domains: Domains, point: tuple[Any, ...]
) -> Distribution:
    """Equation 6: Equation 5 over the GTs with Batch-ID as the sensitive attribute, then the mixture of batches."""
    return _mixture(sensitive_beliefs(gts, domains, point), bt)


def _value(marginals: Sequence[Marginal], mine: tuple[int, ...]) -> Any:
    """The sensitive value that a person's tuples agree on; None where they do not."""
    values = {rows[h][1] for (_, rows), h in zip(marginals, mine, strict=True)}
    return values.pop() if len(values) == 1 else None


def _intervals(marginals: Sequence[Marginal], mine: tuple[int, ...]) -> list[tuple[int, Any, Any]]:
    return [
        (attribute, low, high)
        for (attributes, rows), h in zip(marginals, mine, strict=True)
        for attribute, (low, high) in zip(attributes, rows[h][0], strict=True)
    ]


def _n_points(marginals: Sequence[Marginal], mine: tuple[int, ...], domains: Domains) -> int:
    """How many points of the QI-space all of a person's tuples cover."""
    intervals = _intervals(marginals, mine)
    return prod(
        sum(1 for x in domain if all(low <= x <= high for a, low, high in intervals if a == attribute))
        for attribute, domain in enumerate(domains)
    )


# --- analysis (Section 5) --------------------------------------------------------------------------------------------


def density(tuples: Sequence[Tuple], point: tuple[Any, ...], value: Any) -> Fraction:
    """Equation 3: the microdata's own pdf D."""
    return Fraction(sum(1 for t in tuples if t == (point, value)), len(tuples))


def reconstructed(classes: Sequence[Class], domains: Domains, point: tuple[Any, ...], value: Any) -> Fraction:
    """Equation 7: D* at a point of the (sub)space that the classes' cells are in."""
    n = sum(size for _, size, _ in classes)
    found = Fraction(0)
    for cells, size, dist in classes:
        if _covers(cells, point):
            volume = prod(
                sum(1 for x in domain if low <= x <= high) for (low, high), domain in zip(cells, domains, strict=True)
            )
            found += Fraction(size, n) * Fraction(1, volume) * dist.get(value, Fraction(0))
    return found


def counted(
    classes: Sequence[Class], domains: Domains, values: Sequence[Any], asked: Callable[[tuple[Any, ...], Any], bool]
) -> Fraction:
    """Formula 8, times |T|: the answer to a counting query, from every point and value that qualifies."""
    fraction = sum(
        (
            reconstructed(classes, domains, point, value)
            for point in product(*domains)
            for value in values
            if asked(point, value)
        ),
        Fraction(0),
    )
    return sum(size for _, size, _ in classes) * fraction


def _covers(cells: Cells, point: tuple[Any, ...]) -> bool:
    return all(low <= x <= high for (low, high), x in zip(cells, point, strict=True))
