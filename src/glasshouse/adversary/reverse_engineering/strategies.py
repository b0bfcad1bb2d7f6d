# SPDX-License-Identifier: Apache-2.0
"""Strategies: ways in which an attacker who knows the algorithm can reason, tried until one gives a result.

A strategy refuses with a reason, or gives probabilities. Some reasons are found only by the work itself: there are
more worlds than may be tried, or the release does not tell who is in which group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from glasshouse.adversary.task import Algorithm, Attack, Task
from glasshouse.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.grouping.method import Method
    from glasshouse.randomness import Source
    from glasshouse.release import Release

__all__ = ["MOST_UNKNOWN", "SMALL", "Strategy", "believed", "reversing"]

MOST_UNKNOWN = 64
"""Of so many people whose values are not known every possible table may be tried."""
SMALL = (
    "publish a smaller table in the same way, and attack that release: with at most "
    f"{MOST_UNKNOWN} unknown values, every possible table can usually be tried"
)
"""What to do if a release is too large for every strategy that knows its method."""


@dataclass(frozen=True, kw_only=True)
class Strategy(Attack):
    """One way to reason; with the ``error``, ``source`` and ``progress`` of `ReverseEngineering`."""

    name = "reverse engineering"
    runs_method = needs_algorithm = takes_sets = True

    methods: ClassVar[tuple[type[Method], ...]] = ()
    """The methods whose groups the strategy can analyse; empty if it can analyse those of every method."""

    is_bound: ClassVar[bool] = False
    """Whether the result is an upper bound."""

    over_editions: ClassVar[bool] = False
    """Whether the strategy also covers a release of several editions, each of which was divided separately."""

    error: float = 0.02
    source: Source | None = None
    progress: Callable[[float], None] | None = None

    def is_meant(self, task: Task) -> bool:
        """Whether the strategy is meant for such a release at all; if not, it is passed over without a word."""
        return True

    def attack(self, release: Release, knowledge: Knowledge, algorithm: Any = None) -> Posterior:
        """Attack a release, made by this principle, method and recoding, by this strategy alone."""
        return believed([self], Task.of(self, release, knowledge, Algorithm(*algorithm)))

    def refuses(self, task: Task) -> NotSupported | None:
        """Why this strategy cannot attack the release, as far as that can be told at once; None if it perhaps can."""
        if self.methods and type(task.method) not in self.methods:
            explained = " or ".join(repr(method.name) for method in self.methods)
            return NotSupported(
                f"the release was made by the method {task.method.name!r}, and this analysis is for groups made by the "
                f"method {explained}",
                instead="use linking",
            )
        if task.contents.kind == "sample":
            return NotSupported(
                "reverse engineering does not support a perturbed sample", instead="use linking or corruption"
            )
        return None


def reversing(task: Task) -> str:
    """Name the attack on the groups of the method in sentences."""
    return f"reverse engineering of the method {task.method.name!r}"


def believed(strategies: Sequence[Strategy], task: Task) -> Posterior:
    """The result of the first strategy that does not refuse; `NotSupported`, with all reasons, if every one does."""
    reasons: list[NotSupported] = []
    for strategy in [one for one in strategies if one.is_meant(task)] or strategies:
        several = task.release.editions and not strategy.over_editions
        reason = _of_editions() if several else strategy.refuses(task)
        if reason is None:
            try:
                return strategy.believe(task)
            except NotSupported as found:  # what only the work itself could tell
                reason = found
        reasons.append(reason)
    if len(reasons) == 1:
        raise reasons[0]
    raise NotSupported(
        "; ".join(dict.fromkeys(reason.what for reason in reasons)),
        instead=", or ".join(dict.fromkeys(reason.instead for reason in reasons)),
    )


def _of_editions() -> NotSupported:
    return NotSupported(
        "reverse engineering does not support several editions at once, because each edition was divided separately",
        instead="attack one edition by itself, in Python with gh.edition_of(release, LABEL): the other editions reveal "
        "nothing about its people",
    )
