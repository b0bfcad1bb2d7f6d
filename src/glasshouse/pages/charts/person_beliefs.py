# SPDX-License-Identifier: Apache-2.0
"""The attacker's probabilities for one person: a bar for each value, and the guaranteed limit. Not to be published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.pages.svg import Part, Plane, drawing, element, label, percents, short

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["limit_words", "person_figure"]

_WIDTH, _ROW, _LEFT = 680, 28, 200
_LONGEST = 26  # letters of a value
_LEAST = 2.0  # pixels of a bar: a small probability must be seen


def limit_words(limit: str | None, *, promised: bool) -> tuple[str, str, str]:
    """What stands beside the line of a limit, and the classes of the line and of bars beyond it.

    Where the guarantee is not against this attacker, the limit is there for comparison, and is not broken.
    """
    if promised:
        return f"guaranteed: at most {limit}", "limit", " above"
    return f"for comparison: {limit}, guaranteed against others", "limit elsewhere", " above elsewhere"


def person_figure(
    beliefs: Sequence[tuple[str, float]],
    limit: tuple[str, float] | None,
    true: str | None = None,
    *,
    promised: bool,
    name: str,
) -> Part:
    """Draw the probability of each value of a person, the guaranteed limit as a line, and which value is the true one.

    Parameters
    ----------
    beliefs
        Values as texts, with the probability of each.
    limit
        The largest probability that is guaranteed, as a text and as a number; None if there is none.
    true
        The value that the person truly has, if that is shown.
    promised
        Whether the limit is guaranteed against this attacker.
    name
        What identifiers of the drawing begin with.
    """
    height = _ROW * len(beliefs) + 66
    plane = Plane(left=_LEFT, right=_WIDTH - 76, top=24, floor=height - 42)
    words, kind, beyond = limit_words(None if limit is None else limit[0], promised=promised)
    parts = [*plane.columns(percents(i / 5 for i in range(6)), class_="grid")]
    for i, (value, belief) in enumerate(beliefs):
        y, wide = plane.top + _ROW * i + 4, max(_LEAST if belief else 0.0, plane.x(min(belief, 1.0)) - _LEFT)
        above = beyond if limit is not None and belief > limit[1] * (1 + 1e-9) else ""
        mark = " (true)" if value == true else ""
        parts += [
            label(_LEFT - 10, y + 15, short(value, _LONGEST - len(mark)) + mark, anchor="end"),
            element("rect", class_=f"bar{above}", x=_LEFT, y=y, width=wide, height=_ROW - 9),
            label(_WIDTH - 8, y + 15, f"{belief * 100:.1f}\u202f%", anchor="end"),
        ]
    if limit is not None:
        parts += plane.limit(limit[1], words, height=plane.top - 5, most=_WIDTH - 4, kind=kind)
    parts.append(plane.named("the attacker's probability that the person has the value"))
    said = "; ".join(f"{short(value, _LONGEST)} {belief * 100:.1f} %" for value, belief in beliefs)
    told = "" if limit is None else f". {words[:1].upper()}{words[1:]}"
    return drawing(_WIDTH, height, "The attacker's probabilities for this person", f"{said}{told}.", parts, name=name)
