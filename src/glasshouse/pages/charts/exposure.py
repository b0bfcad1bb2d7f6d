# SPDX-License-Identifier: Apache-2.0
"""Exposure: for how many people the largest probability is above each limit. It names nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.pages.svg import Part, Plane, drawing, element, label, line, polyline

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["exposure"]

_WIDTH, _HEIGHT = 560, 320
_STEPS = 200


def exposure(title: str, beliefs: NDArray[np.float64], limit: Fraction | None) -> Part:
    """Draw the share of people whose largest probability is above x, for x from 0 to 1, and the guaranteed limit."""
    plane = Plane(left=64, right=_WIDTH - 24, top=44, floor=_HEIGHT - 52)
    limits = np.linspace(0.0, 1.0, _STEPS + 1)
    shares = 1 - np.searchsorted(np.sort(beliefs), limits + 1e-12, side="right") / max(1, len(beliefs))
    ticks = [i / 5 for i in range(6)]
    parts = [
        element("rect", width=_WIDTH, height=_HEIGHT, fill="white"),
        label(plane.left, 22, title, font_size=14),
        *plane.columns({tick: f"{tick:.1f}" for tick in ticks}, below=18, stroke="#ddd"),
        *plane.rows({tick: f"{tick:.0%}" for tick in ticks}, stroke="#ddd"),
    ]
    if limit is not None:
        x = plane.x(float(limit))
        parts += [
            line(x, plane.floor, x, plane.top, stroke="#b00", stroke_dasharray="5 4"),
            label(x + 5, plane.top + 13, f"limit of the guarantee: {limit}", fill="#b00"),
        ]
    curve = [(plane.x(float(x)), plane.y(float(y))) for x, y in zip(limits, shares, strict=True)]
    parts += [
        polyline(curve, fill="none", stroke="#06c", stroke_width=2),
        label(plane.x(0.5), _HEIGHT - 12, "probability", anchor="middle"),
        label(16, plane.y(0.5), "share of people with a higher probability", anchor="middle", turned=True),
    ]
    return drawing(_WIDTH, _HEIGHT, title, None, parts, style="", font_family="sans-serif", font_size=12)
