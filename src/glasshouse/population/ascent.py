# SPDX-License-Identifier: Apache-2.0
"""Ascent: the top of a smooth function of many variables, by limited-memory quasi-Newton steps (L-BFGS).

SciPy's routine of this name also handles bounds, which nobody here needs and which cost five times as much as the
function itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["ascend"]

_MEMORY = 10
_SHORTER, _MOST_SHORTER = 0.4, 20
_GAIN = 1e-4  # what a step must gain, of what the slope promises


def ascend(
    function: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: NDArray[np.float64],
    *,
    tolerance: float,
    most: int,
) -> NDArray[np.float64]:
    """Go up until two steps in a row gain less than ``tolerance`` each, or ``most`` steps were made.

    >>> top = ascend(lambda x: (-float((x - 3) @ (x - 3)), -2 * (x - 3)), np.zeros(2), tolerance=1e-12, most=50)
    >>> top.round(6).tolist()
    [3.0, 3.0]
    """
    at = start.copy()
    value, slope = function(at)
    steps: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []  # moves, and how the slope changed on them
    small = 0
    for _ in range(most):
        direction = _direction(slope, steps)
        rise = float((slope * direction).sum())
        if rise <= 0:
            steps, direction = [], slope
            rise = float((slope * slope).sum())
        if rise == 0:
            break
        length = 1.0 if steps else min(1.0, 3 / np.sqrt(rise))
        for _ in range(_MOST_SHORTER):
            there = at + length * direction
            new_value, new_slope = function(there)
            if new_value >= value + _GAIN * length * rise:
                break
            length *= _SHORTER
        else:
            break  # no step gains anything: what is left is rounding
        move, change = there - at, slope - new_slope
        if (move * change).sum() > 1e-10 * np.sqrt((move * move).sum() * (change * change).sum()):
            steps = [*steps, (move, change)][-_MEMORY:]
        small = small + 1 if new_value - value < tolerance else 0
        at, value, slope = there, new_value, new_slope
        if small == 2:
            break
    return at


def _direction(
    slope: NDArray[np.float64], steps: list[tuple[NDArray[np.float64], NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """The gradient, corrected by the curvature found in the last steps (the quasi-Newton direction)."""
    direction = slope.copy()
    parts = []
    for move, change in reversed(steps):
        part = float((move * direction).sum() / (move * change).sum())
        direction -= part * change
        parts.append(part)
    if steps:
        move, change = steps[-1]
        direction *= (move * change).sum() / (change * change).sum()
    for (move, change), part in zip(steps, reversed(parts), strict=True):
        direction += move * (part - float((change * direction).sum() / (move * change).sum()))
    return direction
