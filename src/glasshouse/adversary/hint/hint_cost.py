# SPDX-License-Identifier: Apache-2.0
"""HintCost: how often an attacker who knows a little guesses right, with the release and without it.

Counted with the true values by those who hold the table. What somebody guesses right who knows the same and has no
release is no harm that the release does; what is guessed right beyond that is. And probabilities that were computed
group by group are put beside how often they are right: if they are right more often than they say, then the release
tells more than the people of one group and their values do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from glasshouse.adversary.learning.guesses import Guesses, judged
from glasshouse.plural import counted

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["HintCost", "hint_cost"]

_CLEAR: Final = 0.03  # probabilities that are farther from how often they are right say too little, or too much
_95: Final = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class HintCost:
    """Guesses about the people in the table, with the release and without it.

    Attributes
    ----------
    in_table
        Probabilities by the hint and the release.
    by_group
        The same from each group by itself, without what other groups say of it. None if probabilities are not made up
        of groups, because every table was tried.
    fair
        ``by_group`` with a hint of the strength that fits the true values best: if even these probabilities are right
        more often than they say, it is not because the hint says too little. Where cells are published it is about
        those alone of whom it is certain in which group they are, for probabilities for others are approximate; None if
        there is nobody of this kind.
    linked
        Probabilities by the release without the hint.
    outsider
        Probabilities by the hint without the release.
    base_rate
        Probabilities by neither: how often values occur.
    known
        Probabilities by the hint and the release of those alone of whom it is certain in which group they are; None if
        every table was tried.
    """

    in_table: Guesses
    by_group: Guesses | None
    fair: Guesses | None
    linked: Guesses
    outsider: Guesses
    base_rate: Guesses
    known: Guesses | None

    @property
    def cost(self) -> float:
        """The mean probability of the true value with the release, minus that of an outsider with the same hint."""
        return self.in_table.in_truth - self.outsider.in_truth

    @property
    def more_right(self) -> float:
        """The share of people who are guessed right with the release, minus that of an outsider with the same hint."""
        return self.in_table.right - self.outsider.right

    @property
    def beyond_groups(self) -> float:
        """How much more often the ``fair`` probabilities by group are right than they say: all, or those above 1/2.

        Half the width of a 95 % interval is taken off, people being taken for independent.
        """
        return max((max(right - said - error, 0.0) for right, said, error in self._by_group()), default=0.0)

    def _by_group(self) -> list[tuple[float, float, float]]:
        """How often fair probabilities are right, what they say on average, and the error: of all, and above 1/2."""
        if self.fair is None:
            return []
        own = next(one for one in self.fair.above if one.limit == "0.5")
        some = [(self.fair.right, self.fair.believed, 1.0), (own.right, own.believed, own.share)]
        n = self.fair.people
        return [
            (right, said, _95 * float(np.sqrt(said * (1 - said) / (n * share)))) for right, said, share in some if share
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "cost": self.cost,
            "more_right": self.more_right,
            "beyond_groups": self.beyond_groups,
            "in_table": self.in_table.to_dict(),
            "by_group": None if self.by_group is None else self.by_group.to_dict(),
            "fair": None if self.fair is None else self.fair.to_dict(),
            "linked": self.linked.to_dict(),
            "outsider": self.outsider.to_dict(),
            "base_rate": self.base_rate.to_dict(),
            "known": None if self.known is None else self.known.to_dict(),
        }

    def lines(self) -> list[str]:
        """The text lines of the result: one for each number, then what follows from them in sentences."""
        rows = [("with the release", self.in_table)]
        if self.by_group is not None and self.by_group != self.in_table:
            rows.append(("  group by group", self.by_group))
        if self.known is not None and 0 < self.known.people < self.in_table.people:
            rows.append(("  people whose group is known", self.known))
        rows += [
            ("the release, without the hint", self.linked),
            ("the hint, without a release", self.outsider),
            ("base rates", self.base_rate),
        ]
        limits = [f"above {own.limit} (right)" for own in self.in_table.above]
        head = ["guessed right", "mean probability of the true value", *limits, "calibration"]
        lines = [f"  {'judged by the true values':<31}{', '.join(head)}"]
        for name, own in rows:
            above = [f"{one.share:.1%} ({one.right:.1%})" for one in own.above]
            told = [f"{own.right:.2%}", f"{own.in_truth:.4f}", *above, f"{own.calibration:.3f}"]
            lines.append(f"  {name:<31}{', '.join(told)}")
        return [*lines, f"  {self.sentence()}", *([f"  {self.doubt()}"] if self.doubt() else [])]

    def sentence(self) -> str:
        """How often guesses are right, in words."""
        known = ""
        if self.known is not None and 0 < self.known.people < self.in_table.people:
            known = (
                f" Of the {counted(self.known.people, 'person')} whose group is known, {self.known.right:.2%} are "
                "guessed right."
            )
        return (
            f"With this hint and the release {self.in_table.right:.2%} of {counted(self.in_table.people, 'person')} "
            f"are guessed right, with the hint alone {self.outsider.right:.2%}, with the release alone "
            f"{self.linked.right:.2%}.{known}"
        )

    def doubt(self) -> str:
        """A warning that the release reveals more than its groups do, if that is seen."""
        if self.beyond_groups < _CLEAR:
            return ""
        right, said, _ = max(self._by_group(), key=lambda own: own[0] - own[1] - own[2])
        return (
            "The strength of the hint was chosen to fit the true values best. Computed for each group separately, "
            f"the most probable value of a person then has a probability of {said:.3f} on average, but is right in "
            f"{right:.1%} of cases. So the way in which people were grouped reveals more than the values of their "
            "group."
        )


def hint_cost(
    truth: Integers,
    limit: Fraction | None,
    *,
    in_table: tuple[Floats, Integers],
    by_group: tuple[Floats, Integers] | None,
    fair: tuple[Floats, Integers] | None,
    linked: tuple[Floats, Integers],
    outsider: tuple[Floats, Integers],
    base: Floats,
    known: NDArray[np.bool_] | None,
    exact_cells: bool,
) -> HintCost:
    """Judge probabilities, each given as a table of kinds of people and values, with the kind of every person."""
    among = None if exact_cells else known
    limits: list[Fraction | float] = [*([] if limit is None or limit * 2 == 1 else [limit]), 0.5, 0.9]

    def guessed(own: tuple[Floats, Integers], some: NDArray[np.bool_] | None = None) -> Guesses:
        beliefs, kind = own
        return judged(beliefs, kind if some is None else kind[some], truth if some is None else truth[some], limits)

    return HintCost(
        in_table=guessed(in_table),
        by_group=None if by_group is None else guessed(by_group),
        fair=None if fair is None or (among is not None and not among.any()) else guessed(fair, among),
        linked=guessed(linked),
        outsider=guessed(outsider),
        base_rate=guessed((base[np.newaxis], np.zeros(len(truth), np.int64))),
        known=None if known is None else guessed(in_table, known),
    )
