# SPDX-License-Identifier: Apache-2.0
"""The largest probability that a perturbed sample allows, counted again, and whether it keeps the guarantee.

The first implementation decides the inequalities of CORRUPTION Theorems 2 and 3. Here the worst case is followed
through: a published record is a person's own with probability at most h; if it is, Bayes' rule gives the probabilities;
if it is not, nothing changes. All numbers are fractions.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["growth_stays_within", "owned_at_most", "worst_belief"]


def owned_at_most(p: Fraction, n_values: int, k: int, lambda_: Fraction) -> Fraction:
    """The largest probability that a published record is a person's own, one of at least ``k`` in its group.

    The attacker knows the values of the others, and none of them has the published value: theirs come out as it with
    probability ``u``, and the person's own with up to ``p * lambda + u``.

    >>> str(owned_at_most(Fraction(3, 10), 50, 2, Fraction(1, 10)))
    '22/29'
    """
    u = (1 - p) / n_values
    own = p * lambda_ + u
    return own / (own + (k - 1) * u)


def worst_belief(p: Fraction, n_values: int, k: int, lambda_: Fraction, before: Fraction) -> Fraction:
    """The largest value that a probability of ``before`` can reach.

    CORRUPTION Table III, p = 0.3, k = 6, fifty values, lambda = 0.1, rho1 = 0.2, rounded up to 0.4504:

    >>> worst = worst_belief(Fraction(3, 10), 50, 6, Fraction(1, 10), Fraction(1, 5))
    >>> Fraction("0.4503") < worst <= Fraction("0.4504")
    True
    """
    u = (1 - p) / n_values
    owned = owned_at_most(p, n_values, k, lambda_)
    # the published value is among those that make it true: it comes out with p + u if it is true, with u if not
    after = before * (p + u) / (before * (p + u) + (1 - before) * u)
    return owned * after + (1 - owned) * before


def growth_stays_within(delta: Fraction, p: Fraction, n_values: int, k: int, lambda_: Fraction) -> bool:
    """Whether no probability of at most ``lambda_`` in a single value grows by more than ``delta``.

    A probability of w grows by ``h p w (1 - w) / (p w + u)``. That it is at most delta says that a parabola in w is not
    negative; where it is lowest between 0 and lambda, its value decides.

    >>> table_three = dict(p=Fraction("0.3"), n_values=50, k=6, lambda_=Fraction("0.1"))
    >>> [growth_stays_within(Fraction(delta), **table_three) for delta in ("9/38", "0.2368")]
    [True, False]
    """
    u = (1 - p) / n_values
    h = owned_at_most(p, n_values, k, lambda_)
    lowest = min(max((h - delta) / (2 * h), Fraction(0)), lambda_)
    return all(delta * (p * w + u) >= h * p * w * (1 - w) for w in (lowest, lambda_))
