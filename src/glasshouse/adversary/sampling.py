# SPDX-License-Identifier: Apache-2.0
"""Sampling: Markov chains that run until probabilities are known well enough, and diagnostics of their error.

**One driver for all chains.** A chain is made at a first world of its own, and knows how to sweep on from there. All
chains warm up, which counts for nothing, and walk in rounds that grow; the last round alone counts. `sample` ends when
every error is what was asked for, R-hat is at most 1.02 and the effective sample size at least 400. No such figure sees
worlds that no chain can reach.

**Diagnostics.** A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Buerkner, "Rank-normalization, folding, and
localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2), 2021,
doi:10.1214/20-BA1221; equations are numbered as there. Draws are arrays of shape (chains, draws) or (chains, draws,
quantities), and what is returned has one number per quantity. Chains are cut into halves first, so that one that drifts
disagrees with itself.

**Quantities that never change.** A chain that has always seen the same value does not know how fast it moves: it has no
effective sample size of its own, and an R-hat of nan, for there is nothing to compare. An error of 0 would be a lie.
The caller says how many independent looks the chains were worth (that of the slowest quantity that did change), and
`half_width` turns that into a bound, a little above the rule of three.
"""

from __future__ import annotations

from math import inf, log10
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from glasshouse.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "LEAST_ESS",
    "MOST_R_HAT",
    "Exhausted",
    "NotReached",
    "Proposal",
    "Sampled",
    "effective_sample_size",
    "half_width",
    "r_hat",
    "sample",
    "standard_error",
    "stretch_of",
    "trust",
]

MOST_R_HAT = 1.02
"""Chains that disagree more than this are not accepted."""
LEAST_ESS = 400
"""Below this effective sample size neither errors nor R-hat mean much (Vehtari et al. 2021, section 4)."""

_MOST_DRAWS = 2048  # of a chain; beyond, a draw is the mean of several looks
_MOST_NUMBERS = 1 << 25  # that are kept of all draws of a round

_NORMAL = 1.959963984540054  # 95 % of a normal distribution are within so many standard deviations
_BLOCK = 1 << 22  # numbers transformed at once
_FEWEST = 4  # draws of a chain; halves of fewer have no variance


# --- the driver ------------------------------------------------------------------------------------------------------


class Proposal(Protocol):
    """One chain, at a world that it has found."""

    @property
    def n_changes(self) -> float:
        """How often the chain has moved to a completely new world; infinite if it is known that there is no other."""
        ...

    def sweep(self, n: int) -> NDArray[np.float64]:
        """Go on by ``n`` sweeps; then a number between 0 and 1 for every probability, by the world that was reached."""
        ...


class Exhausted(Exception):
    """The error of a chain that may not run any longer."""


class NotReached(Exception):
    """The requested error was not reached; ``found`` is the result of the last complete round, if there was one."""

    def __init__(self, why: str, found: Sampled | None = None) -> None:
        super().__init__(why)
        self.found = found


class Sampled(NamedTuple):
    """The estimates of the chains for every probability, their errors, and the number of sweeps of each chain."""

    mean: NDArray[np.float64]
    error: NDArray[np.float64]  # half the width of a 95 % interval
    ess: NDArray[np.float64]
    r_hat: NDArray[np.float64]  # nan where nothing changed
    n_sweeps: int = 0

    @classmethod
    def nothing(cls) -> Sampled:
        """There was nothing to sample."""
        none = np.empty(0)
        return cls(none, none, none, none)

    @property
    def largest_r_hat(self) -> float:
        """The largest R-hat of a probability that changed."""
        return float(np.nanmax(self.r_hat, initial=1.0))

    def figures(self) -> str:
        """The largest error, and how far the round was from being accepted."""
        return (
            f"{self.error.max(initial=0.0):.3g}; two measures of its reliability are R-hat {self.largest_r_hat:.3f} "
            f"(at most {MOST_R_HAT} is accepted) and the effective sample size {self.ess.min(initial=inf):,.0f} (at "
            f"least {LEAST_ESS} is accepted)"
        )


def sample(
    chains: Sequence[Proposal],
    *,
    error: float,
    most_sweeps: int,
    warm_up: int,
    first_draws: int = 512,
    progress: Callable[[float], None] | None = None,
) -> Sampled:
    """Walk until every probability is known well enough; `NotReached` if that takes more than is allowed.

    There are two chains at least, for one has nothing to disagree with. ``error`` is the largest half width of a 95 %
    interval around a probability. Each chain may make ``most_sweeps`` in all, of which ``warm_up`` count for nothing,
    and makes ``first_draws`` in the first round, after which rounds grow as is needed.
    """
    n_draws, looks, spare, spent = first_draws, 1, 1, warm_up
    found: Sampled | None = None
    swept = 0

    def sweep(chain: Proposal, n: int) -> NDArray[np.float64]:
        nonlocal swept
        beliefs = chain.sweep(n)
        swept += n
        if progress is not None:
            progress(min(1.0, swept / (most_sweeps * len(chains))))
        return beliefs

    try:
        n_beliefs = max(len(sweep(chain, warm_up)) for chain in chains)
        most_draws = min(_MOST_DRAWS, _MOST_NUMBERS // max(1, n_beliefs * len(chains)))
        while n_draws <= most_draws and spent + n_draws * looks * spare <= most_sweeps:
            before = [chain.n_changes for chain in chains]
            draws = np.stack([_drawn(sweep, chain, n_draws, looks, spare) for chain in chains])
            made = [
                now if now == inf else now - n for now, n in zip((c.n_changes for c in chains), before, strict=True)
            ]
            worth = sum(max(1.0, n) for n in made) if all(made) else float(len(chains))
            spent += n_draws * looks * spare
            found = trust(draws, worth=worth)._replace(n_sweeps=spent)
            slowest = found.ess.min(initial=inf)
            if found.error.max(initial=0.0) <= error and found.largest_r_hat <= MOST_R_HAT and slowest >= LEAST_ESS:
                return found
            # Looks that hang together say less than they cost: then let more sweeps pass between them.
            if slowest < draws.shape[0] * n_draws / 4:
                spare *= 2
            elif 2 * n_draws <= most_draws:
                n_draws *= 2
            else:
                looks *= 2
    except Exhausted as reason:
        raise NotReached(str(reason), found) from None
    if progress is not None:
        progress(1.0)
    why = f"an error of {error:g} was not reached within {most_sweeps:,} rounds of sampling"
    raise NotReached(why if n_draws <= most_draws else f"{n_beliefs:,} probabilities are too many to sample", found)


def stretch_of(progress: Callable[[float], None] | None, low: float, high: float) -> Callable[[float], None]:
    """What tells the progress of one stretch of the work, which goes from ``low`` to ``high``.

    >>> stretch_of(print, 0.5, 1.0)(0.5)
    0.75
    """
    return lambda share: None if progress is None else progress(low + share * (high - low))


def _drawn(
    sweep: Callable[[Proposal, int], NDArray[np.float64]], chain: Proposal, n_draws: int, looks: int, spare: int
) -> NDArray[np.float64]:
    """The draws of one chain, each of them the mean of several evaluations."""
    if looks == 1:
        return np.stack([sweep(chain, spare) for _ in range(n_draws)])
    return np.stack([np.mean([sweep(chain, spare) for _ in range(looks)], axis=0) for _ in range(n_draws)])


# --- diagnostics -----------------------------------------------------------------------------------------------------


def trust(draws: NDArray[Any], *, low: float = 0.0, high: float = 1.0, worth: float | None = None) -> Sampled:
    """Mean, error, effective sample size and R-hat of numbers between ``low`` and ``high``.

    Quantities that never changed count as many independent looks as the slowest one that did; if none did, as many as
    the draws are ``worth``, by default one for every chain.

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
    n_draws, alone = float(numbers.shape[0] * numbers.shape[1]), float(len(numbers)) if worth is None else worth
    looks = np.nanmin(own) if np.isfinite(own).any() else min(alone, n_draws)
    ess = np.where(np.isfinite(own), own, looks)
    spread = numbers.reshape(-1, numbers.shape[2]).std(axis=0)
    return Sampled(mean, half_width(mean, spread / np.sqrt(ess), ess, low=low, high=high), ess, r_hat(numbers))


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
    step = max(1, _BLOCK // (halves.shape[0] * halves.shape[1]))
    for start in range(0, len(more), step):
        some = more[start : start + step]
        numbers = halves[:, :, some]
        folded = np.abs(numbers - np.median(numbers, axis=(0, 1)))
        found[some] = np.fmax(_plain(_normal(numbers)), _plain(_normal(folded)))
    return found


def _plain(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """The root of the total variance over the variance within chains (equation 4)."""
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    still = within == 0
    ratio = np.sqrt((n - 1) / n + between / np.where(still, 1.0, within))
    found: NDArray[np.float64] = np.where(still, np.where(between > 0, np.inf, np.nan), ratio)
    return found


def _normal(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal scores of ranks; equal numbers share the mean of theirs (equation 14)."""
    flat = numbers.reshape(-1, numbers.shape[2])
    n, place = len(flat), np.arange(len(flat))[:, np.newaxis]
    order = np.argsort(flat, axis=0, kind="stable")
    ranked = np.take_along_axis(flat, order, axis=0)
    new = np.ones(flat.shape, bool)
    new[1:] = ranked[1:] != ranked[:-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=0)
    last = np.minimum.accumulate(np.where(np.roll(new, -1, axis=0), place, n)[::-1], axis=0)[::-1]
    quantile = NormalDist().inv_cdf  # by twice the mean of the first and the last place that are equal
    scores = np.array([quantile((twice / 2 + 5 / 8) / (n + 1 / 4)) for twice in range(2 * n - 1)])
    normal = np.empty(flat.shape)
    np.put_along_axis(normal, order, scores[first + last], axis=0)
    return normal.reshape(numbers.shape)


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
