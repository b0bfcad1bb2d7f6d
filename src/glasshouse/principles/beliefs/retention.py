# SPDX-License-Identifier: Apache-2.0
"""How much a perturbed sample tells whoever has corrupted people: CORRUPTION Section VI, in exact fractions.

Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION). A sensitive value is
retained with probability p and otherwise replaced by a uniform draw from the sensitive domain U^s, so a value comes out
as any one other value with probability ``u = (1 - p) / |U^s|``. One tuple is published from each group of k or more.

Every statement here is decided in integers: Theorem 3 has a square root, which is compared by squaring. All bounds grow
with p: with it grow h_top, ``1 + p / u`` and F, for h_top depends on p through ``p / u`` and F through ``u / p``. So
the retentions that prevent a breach are those up to some largest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["growth_if_owned", "h_top", "prevents_breach", "prevents_growth", "transition"]


def transition(p: Fraction, n_values: int, *, same: bool) -> Fraction:
    """Probability that a value comes out as itself, or as one given other value (Eq. 11).

    >>> from fractions import Fraction
    >>> str(transition(Fraction(1, 4), 3, same=True)), str(transition(Fraction(1, 4), 3, same=False))
    ('1/2', '1/4')
    """
    return (1 - p) / n_values + (p if same else 0)


def h_top(p: Fraction, n_values: int, *, lambda_: Fraction, k: int) -> Fraction:
    """The most that she can believe that the published tuple of a person's group is that person's (Eq. 20).

    >>> from fractions import Fraction
    >>> str(h_top(Fraction(3, 10), 50, lambda_=Fraction(1, 10), k=2))
    '22/29'
    """
    u = transition(p, n_values, same=False)
    return (p * lambda_ + u) / (p * lambda_ + k * u)


def prevents_breach(p: Fraction, n_values: int, *, lambda_: Fraction, k: int, rho1: Fraction, rho2: Fraction) -> bool:
    """Whether no belief of at most ``rho1`` can become one above ``rho2`` (Theorem 2).

    >>> from fractions import Fraction
    >>> table_three = dict(lambda_=Fraction("0.1"), k=6, rho1=Fraction("0.2"))
    >>> [prevents_breach(Fraction("0.3"), 50, rho2=Fraction(r), **table_three) for r in ("0.4503", "0.4504")]
    [False, True]
    """
    u = transition(p, n_values, same=False)
    h = h_top(p, n_values, lambda_=lambda_, k=k)
    inner = (rho2 - rho1 * (1 - h)) / h
    # Inequality 23 without its quotients, for u may be 0; it asks nothing where inner >= 1, and then this is true
    return inner * (1 - rho1) * u >= rho1 * (1 - inner) * (u + p)


def growth_if_owned(w: Fraction, p: Fraction, n_values: int) -> Fraction:
    """How much a belief of ``w`` in the published value grows if the tuple is that person's: Theorem 3's F(w).

    >>> from fractions import Fraction
    >>> str(growth_if_owned(Fraction(1, 10), Fraction(3, 10), 50))
    '27/44'
    """
    u = transition(p, n_values, same=False)
    return p * w * (1 - w) / (p * w + u)


def prevents_growth(p: Fraction, n_values: int, *, lambda_: Fraction, k: int, delta: Fraction) -> bool:
    """Whether no belief can grow by more than ``delta`` (Theorem 3).

    With ``s = sqrt(u^2 + p u)``, F is largest at ``w_m = (s - u) / p``, and there it is ``(p + 2 u - 2 s) / p``.

    >>> from fractions import Fraction
    >>> [prevents_growth(Fraction("0.3"), 50, lambda_=Fraction("0.1"), k=6, delta=Fraction(9, 38) - e) for e in (0, 1)]
    [True, False]
    """
    u = transition(p, n_values, same=False)
    h = h_top(p, n_values, lambda_=lambda_, k=k)
    squared = u * u + p * u
    if (p * lambda_ + u) ** 2 <= squared:  # lambda <= w_m: F grows up to lambda
        return delta >= h * growth_if_owned(lambda_, p, n_values)
    # delta >= h F(w_m) says 2 h s >= h (p + 2 u) - delta p
    short = h * (p + 2 * u) - delta * p
    return short <= 0 or 4 * h * h * squared >= short * short
