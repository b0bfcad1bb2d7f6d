# SPDX-License-Identifier: Apache-2.0
"""Strategies: the ways in which an attacker who knows the algorithm can reason, tried in order until one believes.

A strategy refuses with a reason, or says what is believed. Some reasons are found only by the work itself: there are
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
    from glasshouse.randomness import Source
    from glasshouse.release import Release

__all__ = ["SMALL", "Strategy", "believed"]

SMALL = "take few people: small tables are attacked by trying every world"
"""What to do where a release is too large for all that is known of its method."""


@dataclass(frozen=True, kw_only=True)
class Strategy(Attack):
    """One way to reason; with the ``error``, ``source`` and ``progress`` of `ReverseEngineering`."""

    name = "reverse engineering"
    runs_method = needs_algorithm = takes_sets = True

    methods: ClassVar[tuple[type, ...]] = ()
    """The methods whose groups it explains; none, where it does not matter what made them."""

    is_bound: ClassVar[bool] = False
    """Whether no belief can be larger, where others say what the beliefs are."""

    over_editions: ClassVar[bool] = False
    """Whether what it says is so of several editions together, of which each was divided by itself."""

    error: float = 0.02
    source: Source | None = None
    progress: Callable[[float], None] | None = None

    def attack(self, release: Release, knowledge: Knowledge, algorithm: Any = None) -> Posterior:
        """Attack a release, made by this principle, method and recoding, by this strategy alone."""
        return believed([self], Task.of(self, release, knowledge, Algorithm(*algorithm)))

    def refuses(self, task: Task) -> NotSupported | None:
        """Why this is no way to attack the release, as far as that can be told at once; None if it may be one."""
        if self.methods and type(task.method) not in self.methods:
            explained = " or ".join(method.__name__ for method in self.methods)
            return NotSupported(f"explaining groups by {task.method!r} as those of {explained}", instead="use linking")
        if task.contents.kind == "sample":
            return NotSupported("reverse engineering of a perturbed sample", instead="use linking or corruption")
        return None


def believed(strategies: Sequence[Strategy], task: Task) -> Posterior:
    """What the first strategy believes that does not refuse; `NotSupported`, with all reasons, if every one does."""
    reasons: list[NotSupported] = []
    for strategy in strategies:
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
        "running the method again for several editions, of which each was divided by itself",
        instead="attack one of them, gh.edition_of(release, LABEL): the others tell nothing of its people",
    )
