# SPDX-License-Identifier: Apache-2.0
"""Claims: what a paper says of its figures, judged on what was measured here: yes or no, with the number.

Words of the papers that leave a number open ("almost the same", "insensitive", "significantly") have one here, and the
claim says it. Whatever is judged is judged at every place that was measured, and the number is that of the worst one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

from glasshouse.papers.results import number
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.papers.results import Curve

__all__ = ["Claim", "Verdict", "above", "alike", "below", "difference", "ends", "falls", "less", "rises", "scales"]

SLACK = 0.1
"A rising curve may fall by this share of its height between two points, and a falling one may rise by it."


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether something holds, and the number that shows it; None where nothing could be measured."""

    holds: bool | None
    said: str

    @property
    def word(self) -> str:
        """Yes or no."""
        return "not measured" if self.holds is None else "yes" if self.holds else "no"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper, in our words, with what it comes to here."""

    text: str
    where: str
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"claim": self.text, "where": self.where, "holds": self.verdict.holds, "number": self.verdict.said}


NOTHING = Verdict(holds=None, said="there is no such measurement on this table")


def below(curves: Mapping[str, Curve], limit: float, unit: str = "") -> Verdict:
    """Every value is below a limit.

    >>> below({"OCC": {3: 7.6, 4: 1.5}}, 10, " %")
    Verdict(holds=True, said='at most 7.6 % (OCC, 3)')
    """
    found = _points(curves)
    if not found:
        return NOTHING
    value, name, place = max(found)
    return Verdict(holds=value < limit, said=f"at most {number(value)}{unit} ({name}, {number(place)})")


def above(curves: Mapping[str, Curve], limit: float, unit: str = "") -> Verdict:
    """Every value is at or above a limit."""
    found = _points(curves)
    if not found:
        return NOTHING
    value, name, place = min(found)
    return Verdict(holds=value >= limit, said=f"at least {number(value)}{unit} ({name}, {number(place)})")


def less(pairs: Mapping[str, tuple[Curve, Curve]], *, times: float = 1.0) -> Verdict:
    """The first curve of every pair is below the second, or below it by a factor (below 1: it may be above by as much).

    Without a factor equal heights are not enough, unless both are 0.

    >>> less({"OCC": ({3: 2.0, 4: 1.0}, {3: 1.0, 4: 50.0})})
    Verdict(holds=False, said='at 1 of 2 points; worst 2 against 1 (OCC, 3)')
    """
    found = []
    for name, (one, other) in pairs.items():
        for place, value in _known(one):
            against = other.get(place)
            if against is not None:
                found.append((_quotient(value, against), value, against, name, place))
    if not found:
        return NOTHING
    met = sum(_is_less(value, against, times) for _, value, against, _, _ in found)
    _, value, against, name, place = max(found)
    worst = f"worst {number(value)} against {number(against)} ({name}, {number(place)})"
    return Verdict(holds=met == len(found), said=f"at {met} of {counted(len(found), 'point')}; {worst}")


def rises(curves: Mapping[str, Curve], *, slack: float = SLACK) -> Verdict:
    """Every curve ends higher than it begins, and on the way steps back by no more than a share of its height.

    >>> rises({"OCC": {3: 1.0, 4: 3.0, 5: 2.9, 6: 9.0}, "SAL": {3: 4.0, 4: 2.0}})
    Verdict(holds=False, said='1 of 2 curves: OCC 1 to 9; SAL 4 to 2 (not)')
    """
    return _directed(curves, slack, 1)


def falls(curves: Mapping[str, Curve], *, slack: float = SLACK) -> Verdict:
    """The same for falling curves."""
    return _directed(curves, slack, -1)


def _directed(curves: Mapping[str, Curve], slack: float, sign: int) -> Verdict:
    said, met = [], 0
    for name, curve in curves.items():
        values = [value for _, value in _known(curve)]
        if len(values) < 2:
            continue
        steady = all(sign * (b - a) >= -slack * abs(a) for a, b in pairwise(values))
        holds = steady and sign * (values[-1] - values[0]) > 0
        met += holds
        said.append(f"{name} {number(values[0])} to {number(values[-1])}" + ("" if holds else " (not)"))
    if not said:
        return NOTHING
    return Verdict(holds=met == len(said), said=f"{met} of {counted(len(said), 'curve')}: {'; '.join(said)}")


def alike(curves: Mapping[str, Curve], times: float) -> Verdict:
    """The largest value of every curve is at most so many times its smallest.

    >>> alike({"OCC": {3: 7.6, 4: 1.9, 5: 2.0}}, 2)
    Verdict(holds=False, said='OCC 1.9 to 7.6')
    """
    said, holds = [], True
    for name, curve in curves.items():
        values = [value for _, value in _known(curve)]
        if values:
            said.append(f"{name} {number(min(values))} to {number(max(values))}")
            holds = holds and max(values) <= times * min(values)
    return Verdict(holds=holds, said="; ".join(said)) if said else NOTHING


def scales(curves: Mapping[str, Curve], *, most: float | None = None, least: float | None = None) -> Verdict:
    """Every curve grows as a power of the place, by its ends, that is at most ``most`` and at least ``least``.

    >>> scales({"Hybrid": {100: 1.0, 400: 4.0}}, most=1.15)
    Verdict(holds=True, said='Hybrid n^1.00')
    """
    said, holds = [], True
    for name, curve in curves.items():
        known = [(place, value) for place, value in _known(curve) if value > 0]
        if len(known) > 1:
            (a, first), (b, last) = known[0], known[-1]
            power = log(last / first) / log(b / a)
            said.append(f"{name} n^{power:.2f}")
            holds = holds and (most is None or power <= most) and (least is None or power >= least)
    return Verdict(holds=holds, said="; ".join(said)) if said else NOTHING


def difference(one: Curve, other: Curve) -> Curve:
    """How far the second curve is above the first, wherever both were measured.

    >>> difference({3: 1.0, 4: None}, {3: 1.5, 4: 2.0})
    {3: 0.5, 4: None}
    """
    return {
        place: None if value is None or (against := other[place]) is None else against - value
        for place, value in one.items()
    }


def ends(curves: Mapping[str, Curve]) -> dict[str, tuple[float, float]]:
    """The first and the last value of every curve that has two."""
    known = {name: [value for _, value in _known(curve)] for name, curve in curves.items()}
    return {name: (values[0], values[-1]) for name, values in known.items() if len(values) > 1}


def _points(curves: Mapping[str, Curve]) -> list[tuple[float, str, float]]:
    return [(value, name, place) for name, curve in curves.items() for place, value in _known(curve)]


def _known(curve: Curve) -> list[tuple[float, float]]:
    return [(place, value) for place, value in sorted(curve.items()) if value is not None]


def _is_less(value: float, against: float, times: float) -> bool:
    if times == 1.0:
        return value < against or value == against == 0
    return value * times <= against


def _quotient(value: float, against: float) -> float:
    return value / against if against else float("inf") if value else 1.0
