# SPDX-License-Identifier: Apache-2.0
"""What a release loses, slowly: losses, the reconstructed distribution and its divergence, with exact fractions.

A release is plain data here. ``rows`` are its tuples, each with the values that its cells stand for and the number of
its group; ``values`` are the sensitive values of every group. What the papers leave open is fixed here:

* the tuples of a sample stand for all tuples of their groups, and beside every other tuple stands 1;
* where boxes overlap, Equation 7 of ANGEL is summed over all that cover a point;
* an ANGEL tuple is rebuilt from its bucket alone (Equation 2: the batches of all rows of the bucket are mixed), for
  that is what an analyst who knows its quasi-identifiers finds;
* the divergence is that of the microdata from what is rebuilt (the other way round it has no finite value), in nats;
* a place with n perturbed tuples is taken at its own word by n / (n + 1/p^2), for inverting makes the variance of one
  tuple as large as that of 1/p^2 others, and else at the word of the whole sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import fsum, inf, log, prod
from typing import Any

from tests.twins.anatomy import error

__all__ = [
    "average_size",
    "discernibility",
    "divergence",
    "error_of_angel",
    "error_of_exact",
    "error_of_generalization",
    "error_of_sample",
    "inverted",
    "normalised_size",
    "perimeter",
    "rebuilt",
    "rebuilt_sample",
    "retouched",
]

Cells = tuple[tuple[Any, ...], ...]  # by attribute, the values that the cell stands for
Rows = Sequence[tuple[Cells, int]]
Values = Mapping[int, Sequence[Any]]
Pdf = dict[tuple[tuple[Any, ...], Any], Fraction]
Shares = dict[Any, Fraction]
Shown = Sequence[tuple[Cells, Any, int]]  # of a sample: cells, the perturbed value, how many tuples it stands for


# --- from sizes and cells alone ---------------------------------------------------------------------------------------


def discernibility(sizes: Sequence[int], dropped: int = 0) -> int:
    """Every tuple is charged the tuples that it cannot be told from; a dropped one, the whole table."""
    return sum(size for size in sizes for _ in range(size)) + dropped * (sum(sizes) + dropped)


def average_size(sizes: Sequence[int]) -> Fraction:
    return Fraction(sum(sizes), len(sizes))


def normalised_size(sizes: Sequence[int], k: int) -> Fraction:
    return average_size(sizes) / k


def perimeter(boxes: Sequence[Sequence[tuple[Any, Any]]], ranges: Sequence[tuple[Any, Any]]) -> Fraction:
    """TRANSPARENT Equation 4, summed over all groups: ``boxes`` has low and high of every tuple's group."""
    total = Fraction(0)
    for box in boxes:
        for (low, high), (least, most) in zip(box, ranges, strict=True):
            total += (Fraction(high) - Fraction(low)) / (Fraction(most) - Fraction(least)) if most > least else 0
    return total


# --- reconstruction error (ANATOMY Equations 8 to 13) -----------------------------------------------------------------


def error_of_exact(points: Sequence[tuple[Any, ...]], groups: Sequence[int], truth: Sequence[Any]) -> Fraction:
    """Anatomy and permutation: exact quasi-identifiers, the group's values with their shares (Equation 11)."""
    total = Fraction(0)
    for point, group, value in zip(points, groups, truth, strict=True):
        shares = _shares([x for x, other in zip(truth, groups, strict=True) if other == group])
        total += error({(point, x): share for x, share in shares.items()}, {(point, value): Fraction(1)})
    return total


def error_of_generalization(rows: Sequence[Cells], points: Sequence[tuple[Any, ...]], truth: Sequence[Any]) -> Fraction:
    """Equation 10: smeared evenly over the box, with the tuple's own value."""
    total = Fraction(0)
    for cells, point, value in zip(rows, points, truth, strict=True):
        rebuilt_tuple = {(at, value): Fraction(1, prod(map(len, cells))) for at in product(*cells)}
        total += error(rebuilt_tuple, {(point, value): Fraction(1)})
    return total


def error_of_angel(rows: Rows, values: Values, points: Sequence[tuple[Any, ...]], truth: Sequence[Any]) -> Fraction:
    """As Equation 12, with the pdf of ANGEL's E-M model: even over the bucket's box, and Equation 2 for the value."""
    total = Fraction(0)
    for point, value in zip(points, truth, strict=True):
        (cells,) = {cells for cells, _ in rows if all(x in cell for x, cell in zip(point, cells, strict=True))}
        shares = _mixture(Counter(group for other, group in rows if other == cells), values)
        volume = prod(map(len, cells))
        pdf = {(at, x): share / volume for at in product(*cells) for x, share in shares.items()}
        total += error(pdf, {(point, value): Fraction(1)})
    return total


def error_of_sample(
    shown: Shown, p: Fraction, domain: Sequence[Any], points: Sequence[tuple[Any, ...]], truth: Sequence[Any]
) -> Fraction:
    """A perturbed sample: every tuple of the microdata is rebuilt from the box that it lies in."""
    total = Fraction(0)
    for point, value in zip(points, truth, strict=True):
        (cells,) = {cells for cells, _, _ in shown if all(x in cell for x, cell in zip(point, cells, strict=True))}
        shares = retouched([row for row in shown if row[0] == cells], shown, p, domain)
        volume = prod(map(len, cells))
        pdf = {(at, x): share / volume for at in product(*cells) for x, share in shares.items()}
        total += error(pdf, {(point, value): Fraction(1)})
    return total


# --- the reconstructed distribution (ANGEL Section 5) -----------------------------------------------------------------


def rebuilt(rows: Rows, values: Values | None, attributes: Sequence[int]) -> Pdf:
    """Equation 7 over some attributes: tuple by tuple, even inside its cells, the value by the shares of its group."""
    pdf: Pdf = {}
    for cells, group in rows:
        chosen = [cells[a] for a in attributes]
        volume = prod(map(len, chosen))
        shares = {None: Fraction(1)} if values is None else _shares(values[group])
        for point in product(*chosen):
            for x, share in shares.items():
                pdf[point, x] = pdf.get((point, x), Fraction(0)) + share / (volume * len(rows))
    return pdf


def divergence(truth: Mapping[tuple[tuple[Any, ...], Any], int], pdf: Pdf) -> float:
    """The sum of D ln(D / D*) over the points of the microdata, where D is the share of its tuples at the point."""
    n = sum(truth.values())
    if any(not pdf.get(point) for point in truth):
        return inf
    return fsum(float(Fraction(c, n)) * log(Fraction(c, n) / pdf[point]) for point, c in truth.items())


# --- a perturbed sample (CORRUPTION) ----------------------------------------------------------------------------------


def inverted(shown: Shown, p: Fraction, domain: Sequence[Any]) -> tuple[Shares, Fraction]:
    """The distribution of the true values, and how much of it was negative and cut off."""
    total = sum(size for _, _, size in shown)
    seen = {x: Fraction(sum(size for _, y, size in shown if y == x), total) for x in domain}
    if p == 0:
        return {x: Fraction(1, len(domain)) for x in domain}, Fraction(0)
    raw = {x: (share - (1 - p) / len(domain)) / p for x, share in seen.items()}
    kept = {x: max(share, Fraction(0)) for x, share in raw.items()}
    return {x: share / sum(kept.values()) for x, share in kept.items()}, sum(kept.values()) - sum(raw.values())


def retouched(here: Shown, shown: Shown, p: Fraction, domain: Sequence[Any]) -> Shares:
    """The values of the tuples at a place: Bayes' rule for each shown value, from what was believed before.

    Believed before is a mixture of what inverting the place alone gives and what inverting the whole sample gives.
    """
    m = len(domain)
    total = sum(size for _, _, size in here)
    n = Fraction(total**2, sum(size**2 for _, _, size in here))
    weight = n * p**2 / (n * p**2 + 1)
    own, whole = inverted(here, p, domain)[0], inverted(shown, p, domain)[0]
    before = {x: weight * own[x] + (1 - weight) * whole[x] for x in domain}
    after = dict.fromkeys(domain, Fraction(0))
    for _, y, size in here:
        joint = {x: before[x] * ((x == y) * p + (1 - p) / m) for x in domain}
        for x in domain:
            after[x] += Fraction(size, total) * joint[x] / sum(joint.values())
    return after


def rebuilt_sample(shown: Shown, p: Fraction, domain: Sequence[Any], attributes: Sequence[int]) -> Pdf:
    """Equation 7 over some attributes, for a perturbed sample; a place is what shows the same cells of these."""
    projected = [(tuple(cells[a] for a in attributes), y, size) for cells, y, size in shown]
    n = sum(size for _, _, size in shown)
    pdf: Pdf = {}
    for cells in {cells for cells, _, _ in projected}:
        here = [row for row in projected if row[0] == cells]
        share_here = Fraction(sum(size for _, _, size in here), n * prod(map(len, cells)))
        for x, share in retouched(here, projected, p, domain).items():
            if share:
                for point in product(*cells):
                    pdf[point, x] = pdf.get((point, x), Fraction(0)) + share_here * share
    return pdf


def _shares(values: Sequence[Any]) -> Shares:
    return {x: Fraction(c, len(values)) for x, c in Counter(values).items()}


def _mixture(groups: Counter[int], values: Values) -> Shares:
    mixed: Shares = {}
    for group, times in groups.items():
        for x, share in _shares(values[group]).items():
            mixed[x] = mixed.get(x, Fraction(0)) + Fraction(times, groups.total()) * share
    return mixed
