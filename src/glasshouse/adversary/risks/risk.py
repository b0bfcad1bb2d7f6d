# SPDX-License-Identifier: Apache-2.0
"""Risk: how often an attack succeeds, beside a naive guess and beside people who are not in the release.

The convention is that of Giomi, Boenisch, Wehmeyer and Tasnadi, "A Unified Framework for Quantifying Privacy Risk in
Synthetic Data", PETS 2023 (Anonymeter): rates have Wilson intervals, and what a release adds for the people in it is
``(attack - control) / (1 - control)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshouse.principles.parameters import fraction
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from glasshouse.principles.parameters import Exact

__all__ = ["MeasuredRisk", "Rate", "RiskEstimate"]

_Z = 1.959963984540054  # the 97.5 % point of the normal distribution: intervals hold in 95 % of cases


class RiskEstimate(NamedTuple):
    """A number with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of some trials succeed; where ties are broken at random, the expected number.

    If the rate ``is_known``, by the odds of a guess, it has no error.

    Examples
    --------
    >>> rate = Rate(5, 10)
    >>> rate.value, round(rate.low, 4), round(rate.high, 4)
    (0.5, 0.2366, 0.7634)
    >>> print(Rate(0, 100))
    0.0000 (0.0000 to 0.0370)
    """

    successes: float
    trials: int
    is_known: bool = False

    @property
    def value(self) -> float:
        """The share of trials that succeed; 0 where there are none."""
        return self.successes / self.trials if self.trials else 0.0

    @property
    def low(self) -> float:
        """The lower end of the Wilson interval of 95 %."""
        if self.is_known:
            return self.value
        return max(0.0, self._middle - self._half) if self.successes else 0.0

    @property
    def high(self) -> float:
        """The upper end of the Wilson interval of 95 %."""
        if self.is_known:
            return self.value
        return min(1.0, self._middle + self._half) if self.successes < self.trials else 1.0

    @property
    def _middle(self) -> float:
        return (self.successes + _Z**2 / 2) / (self.trials + _Z**2)

    @property
    def _half(self) -> float:
        spread = self.trials * self.value * (1 - self.value) + _Z**2 / 4
        return _Z * math.sqrt(spread) / (self.trials + _Z**2)

    def __str__(self) -> str:
        return str(RiskEstimate(self.value, self.low, self.high))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "successes": self.successes,
            "trials": self.trials,
            "rate": self.value,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, kw_only=True)
class MeasuredRisk:
    """What an attack on the people of a release achieves.

    Attributes
    ----------
    attack
        The attack that was run.
    question
        What counts as a success, as a question.
    trials_are
        What trials are: conditions, or people.
    success
        How often the attack succeeds on the people in the release.
    baseline
        How often a naive guess succeeds on them, which does not use what the attack uses.
    control
        How often the attack succeeds on people who are not in the release; None if no such people were given.
    compared
        Where the control table has fewer people than the table: how often the attack succeeds on as many people of the
        table, drawn at random. This rate is compared with ``control``.
    notes
        What was assumed, or should be known to read the rates, in sentences.
    """

    attack: str
    question: str
    trials_are: str
    success: Rate
    baseline: Rate
    control: Rate | None = None
    compared: Rate | None = None
    notes: tuple[str, ...] = ()

    @property
    def risk(self) -> RiskEstimate | None:
        """What the release adds for the people in it, ``(attack - control) / (1 - control)``; None without control.

        0 where the attack does no better on people in the release. The errors of both rates, half the widths of their
        intervals, are carried over as those of independent rates.
        """
        if self.control is None:
            return None
        attack, control = self.compared or self.success, self.control
        rest = 1 - control.value
        if rest <= 0:  # everything succeeds on strangers too: nothing is left that the release could add
            return RiskEstimate(0.0, 0.0, 1.0)
        value = (attack.value - control.value) / rest
        by_attack = (attack.high - attack.low) / 2 / rest
        by_control = (control.high - control.low) / 2 * (1 - attack.value) / rest**2
        error = math.hypot(by_attack, by_control)
        return RiskEstimate(*(min(1.0, max(0.0, number)) for number in (value, value - error, value + error)))

    @property
    def is_strong(self) -> bool:
        """Whether the attack does better than the naive guess, beyond the errors of both."""
        return self.success.low > self.baseline.high

    def exceeds(self, limit: Exact) -> bool:
        """Whether the risk is above a limit; without control people, whether the rate of success is."""
        found = self.success.value if self.risk is None else self.risk.value
        return found > float(fraction("MeasuredRisk", "limit", limit, least=0, most=1))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "attack": self.attack,
            "question": self.question,
            "trials_are": self.trials_are,
            "success": self.success.to_dict(),
            "baseline": self.baseline.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "compared": None if self.compared is None else self.compared.to_dict(),
            "risk": None if self.risk is None else self.risk._asdict(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.attack}: {self.question}",
            f"  attack               {self.success} on the people in the release; {self._trials(self.success)}",
            f"  naive guess          {self.baseline} on the people in the release; {self._trials(self.baseline)}",
        ]
        if self.compared is not None:
            lines.append(
                f"  attack, fewer people {self.compared} on as many people of the table as the control table has"
            )
        if self.control is not None:
            tried = self._trials(self.control)
            lines += [
                f"  control              {self.control} on people who are not in the release; {tried}",
                f"  risk                 {self.risk}, the risk that the release adds for the people in it",
            ]
        return in_lines([*lines, f"  {self._reading()}", *(f"  note: {note}" for note in self.notes)])

    def _trials(self, rate: Rate) -> str:
        return f"{rate.trials:,} {self.trials_are}"

    def _reading(self) -> str:
        """A sentence on what follows from the rates."""
        if not self.success.trials:
            return "The attack could not be tried: the release has nothing that it could use."
        if not self.is_strong:
            return (
                "The attack is not clearly better than the naive guess, so this result says little about the "
                "release: another attack may do better."
            )
        if self.risk is None:
            return (
                "Some of this success may be due to general knowledge and not to the release. To measure how "
                "much, give a control table of people who are not in the release."
            )
        if self.risk.low > 0:
            return (
                "The attack succeeds more often on people in the release than on other people: being in the "
                "release adds a risk for them."
            )
        return (
            "The attack succeeds about as often on people who are not in the release: it uses what the release "
            "shows about people in general."
        )
