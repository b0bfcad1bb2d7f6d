# SPDX-License-Identifier: Apache-2.0
"""How far numbers that come from Markov chains can be trusted: effective sample size, R-hat, error.

A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Buerkner, "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2), 2021, doi:10.1214/20-BA1221; equations are
numbered as there. Draws are arrays of shape (chains, draws) or (chains, draws, quantities), and what is returned has
one number per quantity. Chains are cut into halves first, so that one that drifts disagrees with itself.

**Quantities that never change.** A chain that has always seen the same value does not know how fast it moves: it has no
effective sample size of its own, and an R-hat of nan, for there is nothing to compare. An error of 0 would be a lie.
The caller says how many independent looks the chains were worth (that of the slowest quantity that did change), and
`half_width` turns that into a bound, a little above the rule of three.
"""

from __future__ import annotations

from math import log10
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasshouse.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Trust", "effective_sample_size", "half_width", "r_hat", "standard_error", "trust"]


_NORMAL = 1.959963984540054  # 95 % of a normal distribution are within so many standard deviations
_BLOCK = 1 << 22  # numbers transformed at once
_FEWEST = 4  # draws of a chain; halves of fewer have no variance


class Trust(NamedTuple):
    """What chains say of each quantity, and how far to trust it."""

    mean: NDArray[np.float64]
    error: NDArray[np.float64]  # half the width of a 95 % interval
    ess: NDArray[np.float64]
    r_hat: NDArray[np.float64]  # nan where nothing changed


def trust(draws: NDArray[Any], *, low: float = 0.0, high: float = 1.0) -> Trust:
    """Mean, error, effective sample size and R-hat of numbers between ``low`` and ``high``.

    Quantities that never changed count as many independent looks as the slowest one that did; if none did, every chain
    is one look.

    Examples
    --------
    >>> coins = np.random.default_rng(1).integers(0, 2, (4, 1000))
    >>> found = trust(np.stack([coins, np.ones_like(coins)], axis=-1))
    >>> found.mean.round(2).tolist(), found.error.round(3).tolist()
    ([0.5, 1.0], [0.016, 0.001])
    """
    numbers = _checked(draws)
    mean = numbers.mean(axis=(0, 1))
    own = effective_sample_size(numbers)
    looks = np.nanmin(own) if np.isfinite(own).any() else float(len(numbers))
    ess = np.where(np.isfinite(own), own, looks)
    spread = numbers.reshape(-1, numbers.shape[2]).std(axis=0)
    return Trust(mean, half_width(mean, spread / np.sqrt(ess), ess, low=low, high=high), ess, r_hat(numbers))


def half_width(
    mean: NDArray[np.float64],
    standard_error: NDArray[np.float64],
    ess: NDArray[np.float64],
    *,
    low: float = 0.0,
    high: float = 1.0,
) -> NDArray[np.float64]:
    """Half the width of a 95 % interval around the mean of numbers between ``low`` and ``high``; never 0.

    Two draws at either bound are added to what was seen (Agresti and Coull, The American Statistician 52(2), 1998), and
    the interval is widened until it is centred on the mean itself. Without this an indicator that was always 1, or once
    in a thousand draws not, would claim to be certain.

    >>> half_width(np.array([1.0, 0.5]), np.array([0.0, 0.025]), np.array([400.0, 400.0])).round(4).tolist()
    [0.0118, 0.0488]
    """
    scale = high - low
    share = (mean - low) / scale
    variance = (standard_error / scale) ** 2 * ess
    centre = (ess * share + 2) / (ess + 4)
    widened = (ess * (variance + (share - centre) ** 2) + 2 * centre**2 + 2 * (1 - centre) ** 2) / (ess + 4)
    width: NDArray[np.float64] = scale * (_NORMAL * np.sqrt(widened / (ess + 4)) + np.abs(centre - share))
    return width


def standard_error(draws: NDArray[Any]) -> NDArray[np.float64]:
    """The Monte Carlo standard error of the mean: standard deviation by the root of the effective sample size.

    nan for a quantity that never changed: `half_width` bounds its error.
    """
    numbers = _checked(draws)
    found: NDArray[np.float64] = numbers.reshape(-1, numbers.shape[2]).std(axis=0) / np.sqrt(
        effective_sample_size(numbers)
    )
    return found


def effective_sample_size(draws: NDArray[Any]) -> NDArray[np.float64]:
    """How many independent draws would give the mean with the same error (equations 10 to 13); nan if nothing changed.

    Autocorrelations of all half chains are combined, and summed by Geyer's initial monotone sequence. Chains that
    disagree count as correlated: their effective sample size is small however long they are.

    >>> walk = np.repeat(np.random.default_rng(1).integers(0, 2, (4, 500)), 10, axis=1)  # each draw ten times
    >>> 1000 < effective_sample_size(walk).item() < 3000
    True
    """
    halves = _halves(_checked(draws))
    n_chains, n, n_quantities = halves.shape
    found = np.full(n_quantities, np.nan)
    step = max(1, _BLOCK // (n_chains * n))
    for start in range(0, n_quantities, step):
        found[start : start + step] = _effective(halves[:, :, start : start + step])
    return found


def _effective(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    n_chains, n, n_quantities = halves.shape
    centred = halves - halves.mean(axis=1, keepdims=True)
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, length, axis=1)
    covariance = np.fft.irfft((spectrum * spectrum.conj()).real, length, axis=1)[:, :n] / n
    within = covariance[:, 0].mean(axis=0) * n / (n - 1)
    between = halves.mean(axis=1).var(axis=0, ddof=1) if n_chains > 1 else np.zeros(n_quantities)
    whole = within * (n - 1) / n + between  # equation 3
    moving = np.ptp(halves, axis=(0, 1)) > 0
    whole[~moving] = 1.0
    correlation = 1 - (within - covariance.mean(axis=0)) / whole  # equation 10, by lag
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(n // 2, 2, n_quantities).sum(axis=1)
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    pairs = np.where(positive, np.minimum.accumulate(np.where(positive, pairs, 0), axis=0), 0)
    draws = n_chains * n
    time = np.maximum(2 * pairs.sum(axis=0) - 1, 1 / log10(draws))  # equation 13, and never better than that
    found: NDArray[np.float64] = np.where(moving, draws / time, np.nan)
    return found


def r_hat(draws: NDArray[Any]) -> NDArray[np.float64]:
    """Rank-normalised split R-hat, of location or of spread, whichever is larger (equations 4, 14 and section 4).

    nan where nothing changed; infinite where chains stand still in different places.

    >>> stuck = np.zeros((4, 100))
    >>> stuck[0] = 1
    >>> r_hat(stuck).tolist(), r_hat(np.zeros((4, 100))).tolist()
    ([inf], [nan])
    """
    halves = _halves(_checked(draws))
    smallest, largest = halves.min(axis=(0, 1)), halves.max(axis=(0, 1))
    found = _plain(halves)
    # Ranks of two values are two values again, and folding leaves them or makes them one: R-hat stays what it is.
    more = np.flatnonzero(~((halves == smallest) | (halves == largest)).all(axis=(0, 1)))
    for i in more.tolist():
        numbers = halves[:, :, i]
        folded = np.abs(numbers - np.median(numbers))
        found[i] = max(_plain(_normal(ranked)[:, :, None])[0] for ranked in (numbers, folded))
    return found


def _plain(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 4: the root of the whole variance by that within."""
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    still = within == 0
    ratio = np.sqrt((n - 1) / n + between / np.where(still, 1.0, within))
    found: NDArray[np.float64] = np.where(still, np.where(between > 0, np.inf, np.nan), ratio)
    return found


def _normal(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 14: normal quantiles of ranks, equal numbers sharing the mean of theirs."""
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    quantile = NormalDist().inv_cdf
    scores = np.array([quantile((rank - 3 / 8) / (numbers.size + 1 / 4)) for rank in ranks.tolist()])
    normal: NDArray[np.float64] = scores[places].reshape(numbers.shape)
    return normal


def _halves(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    half = numbers.shape[1] // 2
    return np.concatenate([numbers[:, :half], numbers[:, numbers.shape[1] - half :]])


def _checked(draws: NDArray[Any]) -> NDArray[np.float64]:
    numbers = np.asarray(draws, np.float64)
    if numbers.ndim == 2:
        numbers = numbers[:, :, None]
    if numbers.ndim != 3 or not numbers.shape[0] or numbers.shape[1] < _FEWEST:
        allowed = f"(chains, draws) or (chains, draws, quantities), of at least {_FEWEST} draws"
        raise ParameterError("diagnostics", "draws", allowed, np.shape(draws))
    return numbers
