# SPDX-License-Identifier: Apache-2.0
"""Plot: how many people are believed above each limit, drawn as SVG. It names nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.visible import in_markup

if TYPE_CHECKING:
    from glasshouse.adversary.posterior import Posterior

__all__ = ["exposure_plot"]

_WIDTH, _HEIGHT = 560, 320
_LEFT, _TOP, _RIGHT, _BOTTOM = 64, 44, 24, 52
_STEPS = 200


def exposure_plot(posterior: Posterior) -> str:
    """Draw the share of people whose largest belief is above x, for x from 0 to 1, and the promised limit."""
    beliefs = np.sort(posterior.largest[posterior.kind])
    limits = np.linspace(0.0, 1.0, _STEPS + 1)
    shares = 1 - np.searchsorted(beliefs, limits + 1e-12, side="right") / max(1, len(beliefs))
    curve = " ".join(f"{_x(limit):.1f},{_y(share):.1f}" for limit, share in zip(limits, shares, strict=True))
    title = f"{posterior.attack}: beliefs about {posterior.column}, {posterior.n_people:,} people ({posterior.how})"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12">',
        f"<title>{in_markup(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="14">{in_markup(title)}</text>',
    ]
    for tick in np.linspace(0.0, 1.0, 6):
        parts += [
            f'<line x1="{_x(tick):.1f}" y1="{_y(0):.1f}" x2="{_x(tick):.1f}" y2="{_y(1):.1f}" stroke="#ddd"/>',
            f'<line x1="{_x(0):.1f}" y1="{_y(tick):.1f}" x2="{_x(1):.1f}" y2="{_y(tick):.1f}" stroke="#ddd"/>',
            f'<text x="{_x(tick):.1f}" y="{_y(0) + 18:.1f}" text-anchor="middle">{tick:.1f}</text>',
            f'<text x="{_x(0) - 8:.1f}" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick:.0%}</text>',
        ]
    if posterior.limit is not None:
        x = _x(float(posterior.limit))
        parts += [
            f'<line x1="{x:.1f}" y1="{_y(0):.1f}" x2="{x:.1f}" y2="{_y(1):.1f}" stroke="#b00" stroke-dasharray="5 4"/>',
            f'<text x="{x + 5:.1f}" y="{_y(1) + 13:.1f}" fill="#b00">promised: {posterior.limit}</text>',
        ]
    parts += [
        f'<polyline points="{curve}" fill="none" stroke="#06c" stroke-width="2"/>',
        f'<text x="{_x(0.5):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">belief</text>',
        f'<text x="16" y="{_y(0.5):.1f}" text-anchor="middle" transform="rotate(-90 16 {_y(0.5):.1f})">'
        "people believed above</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)
