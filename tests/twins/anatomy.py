# SPDX-License-Identifier: Apache-2.0
"""Anatomy, slowly: ANATOMY Sections 3 and 4 and the bounds of Section 5, and the permutation of MINIMALITY 2.1.

The publisher has tuples and a partition, a list of QI-groups: the first has number 1, as in Definition 3. A reader of
the release has the QIT and the ST and nothing else, so what is inferred or estimated here is computed from these two.

A pdf is a dictionary from points to probabilities; points that are not in it have none. What the paper leaves open, or
prints otherwise, is fixed here:

* rows of a table are ordered by group number, then by value;
* Equation 10 does not say which sensitive value the smeared tuple has; as in Equation 6 it is the tuple's own, which a
  generalized table shows (otherwise the pdf would not sum to 1);
* lengths are numbers of values: 21 to 60 are 40 ages (so Equation 6, and the 1/40 there).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from tests.twins.transparent import Draws

__all__ = [
    "actual_pdf",
    "anatomized_pdf",
    "error",
    "generalized_pdf",
    "individual_breach",
    "individual_distribution",
    "least_error",
    "natural_join",
    "permuted",
    "qit",
    "query_anatomized",
    "query_generalized",
    "reconstruction_error",
    "st",
    "theorem_4",
    "tuple_breach",
    "tuple_distribution",
]

Tuple = tuple[tuple[Any, ...], Any]  # t[1] ... t[d], and t[d + 1]
Groups = Sequence[Collection[int]]  # QI_1, QI_2, ...: tuple numbers, from 0
Qit = list[tuple[tuple[Any, ...], int]]  # (A_1 ... A_d), Group-ID
St = list[tuple[int, Any, int]]  # Group-ID, A^s, Count
Record = tuple[tuple[Any, ...], int, Any, int]  # of the natural join
Pdf = dict[Any, Fraction]
Interval = tuple[Any, Any]  # both ends included


# --- what is published -----------------------------------------------------------------------------------------------


def qit(tuples: Sequence[Tuple], groups: Groups) -> Qit:
    """Definition 3: ``(t[1], ..., t[d], j)`` for every group j and every tuple t of it."""
    return sorted(
        ((tuples[i][0], j) for j, group in enumerate(groups, 1) for i in group), key=lambda row: (row[1], row[0])
    )


def st(tuples: Sequence[Tuple], groups: Groups) -> St:
    """Definition 3: ``(j, v, c_j(v))`` for every group j and every distinct sensitive value v of it."""
    records = []
    for j, group in enumerate(groups, 1):
        for value, count in sorted(Counter(tuples[i][1] for i in group).items()):
            records.append((j, value, count))
    return records


def permuted(tuples: Sequence[Tuple], groups: Groups, draws: Draws) -> list[tuple[tuple[Any, ...], int, Any]]:
    """MINIMALITY 2.1: all QI values and all sensitive values of each group, without their mapping.

    A table must put something beside something; so the two sides of a group are each in a random order.
    """
    rows = []
    for j, group in enumerate(groups, 1):
        members = sorted(group)
        left = _shuffled([tuples[i][0] for i in members], draws)
        right = _shuffled([tuples[i][1] for i in members], draws)
        rows.extend((cells, j, value) for cells, value in zip(left, right, strict=True))
    return rows


def _shuffled(items: Sequence[Any], draws: Draws) -> list[Any]:
    left, order = list(items), []
    while left:
        order.append(left.pop(draws.below(len(left))))
    return order


# --- what an adversary infers ----------------------------------------------------------------------------------------


def natural_join(published_qit: Qit, published_st: St) -> list[Record]:
    """Lemma 1: QIT and ST joined by Group-ID; Table 4."""
    return [
        (cells, j, value, count)
        for cells, j in published_qit
        for group, value, count in published_st
        if group == j
    ]  # fmt: skip


def tuple_distribution(published_qit: Qit, published_st: St, row: int) -> Pdf:
    """Equation 2: from the join, the probability of each sensitive value of one tuple (row) of the QIT."""
    cells, j = published_qit[row]
    size = sum(1 for _, group in published_qit if group == j)
    return {value: Fraction(count, size) for _, _, value, count in natural_join([(cells, j)], published_st)}


def tuple_breach(published_qit: Qit, published_st: St, row: int, real: Any) -> Fraction:
    """Corollary 1: the probability with which a tuple is re-constructed, if ``real`` is its sensitive value."""
    return tuple_distribution(published_qit, published_st, row).get(real, Fraction(0))


def individual_distribution(published_qit: Qit, published_st: St, cells: tuple[Any, ...]) -> Pdf:
    """Proof of Theorem 1: one of the f tuples with the person's QI values is theirs, each with probability 1/f."""
    matching = [row for row, (shown, _) in enumerate(published_qit) if shown == cells]
    beliefs: Pdf = {}
    for row in matching:
        for value, probability in tuple_distribution(published_qit, published_st, row).items():
            beliefs[value] = beliefs.get(value, Fraction(0)) + probability / len(matching)
    return beliefs


def individual_breach(published_qit: Qit, published_st: St, cells: tuple[Any, ...], real: Any) -> Fraction:
    """Theorem 1: the probability with which a person's sensitive value ``real`` is inferred."""
    return individual_distribution(published_qit, published_st, cells).get(real, Fraction(0))


# --- what an analyst rebuilds ----------------------------------------------------------------------------------------


def actual_pdf(t: Tuple) -> Pdf:
    """Equation 9: all at the tuple itself."""
    return {t: Fraction(1)}


def generalized_pdf(box: Sequence[Interval], value: Any, domains: Sequence[Sequence[Any]]) -> Pdf:
    """Equation 10 (and 6): smeared evenly over the box; ``domains`` are all values of each attribute."""
    inside = [[x for x in domain if low <= x <= high] for (low, high), domain in zip(box, domains, strict=True)]
    return {(point, value): Fraction(1, prod(map(len, inside))) for point in product(*inside)}


def anatomized_pdf(published_qit: Qit, published_st: St, row: int) -> Pdf:
    """Equation 11 (and 7): a spike at the exact QI values for each sensitive value of the group."""
    cells, _ = published_qit[row]
    return {(cells, value): share for value, share in tuple_distribution(published_qit, published_st, row).items()}


def error(rebuilt: Pdf, actual: Pdf) -> Fraction:
    """Equations 8 and 12: the squared L2 distance of two pdfs."""
    points = rebuilt.keys() | actual.keys()
    return sum(((rebuilt.get(x, Fraction(0)) - actual.get(x, Fraction(0))) ** 2 for x in points), Fraction(0))


def reconstruction_error(tuples: Sequence[Tuple], groups: Groups) -> Fraction:
    """Equation 13: RCE of the anatomized tables, the sum of Err_t over all tuples."""
    published_qit, published_st = qit(tuples, groups), st(tuples, groups)
    total = Fraction(0)
    for j, group in enumerate(groups, 1):
        for i in group:
            row = published_qit.index((tuples[i][0], j))
            total += error(anatomized_pdf(published_qit, published_st, row), actual_pdf(tuples[i]))
    return total


def least_error(n: int, ell: int) -> Fraction:
    """Theorem 2: the least RCE of any l-diverse partition of n tuples."""
    return n * (1 - Fraction(1, ell))


def theorem_4(n: int, ell: int) -> Fraction:
    """Theorem 4: the RCE of what Anatomize makes of n tuples."""
    r = n % ell
    return (n - r) * (1 - Fraction(1, ell)) + r


# --- counting queries (Sections 1.1 and 1.2) -------------------------------------------------------------------------


def query_generalized(
    rows: Sequence[tuple[Sequence[Interval], Any]], asked: Sequence[Interval], value: Any
) -> Fraction:
    """Section 1.1: each row with the value counts as the share of its box that the query covers; integer axes."""
    total = Fraction(0)
    for box, found in rows:
        if found == value:
            total += prod(
                (
                    Fraction(max(0, min(high, to) - max(low, since) + 1), high - low + 1)
                    for (low, high), (since, to) in zip(box, asked, strict=True)
                ),
                start=Fraction(1),
            )
    return total


def query_anatomized(published_qit: Qit, published_st: St, asked: Sequence[Interval], value: Any) -> Fraction:
    """Section 1.2: in each group, the count of the value times the share of tuples that fall in the query."""
    total = Fraction(0)
    for j, found, count in published_st:
        if found == value:
            members = [cells for cells, group in published_qit if group == j]
            falling = [c for c in members if all(a <= x <= b for x, (a, b) in zip(c, asked, strict=True))]
            total += count * Fraction(len(falling), len(members))
    return total
