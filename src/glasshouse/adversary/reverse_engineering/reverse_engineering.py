# SPDX-License-Identifier: Apache-2.0
"""Reverse engineering: an attacker who knows the algorithm asks which tables would have given the release.

TRANSPARENT Proposition 1. On small tables every world and every random choice is tried. On larger ones methods that
decide group by group, or cut by cut, are asked how likely they make of a world what was published. Where neither can be
done, a theorem answers for the methods that have one; its answer is a bound, and is called so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from glasshouse.adversary.dropped_people import count_dropped, held_possible, once_known
from glasshouse.adversary.foreign_groups import restated
from glasshouse.adversary.linking import Linking
from glasshouse.adversary.reverse_engineering.cuts.decisions import CutsNotMade
from glasshouse.adversary.reverse_engineering.greedy.sequences import GreedyGroups
from glasshouse.adversary.reverse_engineering.strategies import SMALL, Strategy, believed
from glasshouse.adversary.reverse_engineering.theorems.largest_shares import LargestShares, PublishedShares
from glasshouse.adversary.reverse_engineering.theorems.quasi_only import QuasiOnly, QuasiOnlyBound
from glasshouse.adversary.reverse_engineering.worlds.every_world import EveryWorld, SampledWorlds
from glasshouse.adversary.task import Attack, promised_limit
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.along_order.symmetric import Symmetric
from glasshouse.grouping.cuts.even_split import EvenSplit
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.cuts.snug import Snug
from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.grouping.sift.sift import Sift
from glasshouse.release.contents import Published
from glasshouse.release.layout import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.randomness import Source

__all__ = ["STRATEGIES", "ReverseEngineering", "TheoremBound"]

_HOW = ("exact", "bound", "sampled")


@dataclass(frozen=True, kw_only=True)
class TheoremBound(Strategy):
    """No probability is above what the theorem of the method allows, as the release states it.

    The theorems assume that, before seeing the release, every assignment of the sensitive values to the people is
    equally probable, and that the attacker knows nobody's value.
    """

    is_bound = True
    over_editions = True

    def refuses(self, task: Task) -> NotSupported | None:
        """There must be a theorem, and it must cover this attacker."""
        release = task.release
        limit = promised_limit(release, task.contents.column)
        if release.guarantee.adversary != "algorithm-aware" or limit is None:
            what = "no theorem limits what an attacker who knows the algorithm learns from this release"
            return NotSupported(what, instead=SMALL)
        if task.knowledge.prior is not None or task.knowledge.corrupted:
            what = (
                "the theorem of the method does not cover an attacker with a prior or with known values of other "
                "people (corrupted=)"
            )
            return NotSupported(what, instead=SMALL)
        return None

    def believe(self, task: Task) -> Posterior:
        """Give every value that a person may have the limit as its probability."""
        task = replace(task, contents=Published.of(task.release, task.contents.column))
        linked = Linking(most_states=0).published(task)  # for who fits where; how likely does not matter
        assert linked.limit is not None
        found = replace(
            linked,
            how="bound",
            beliefs=np.full(len(linked.beliefs), float(linked.limit)),
            presence=np.where(np.diff(linked.offsets) > 0, 1.0, linked.presence),
            notes=(
                *(note for note in linked.notes if "approximate" not in note),
                f"no probability is larger, by the theorem of the method: {task.release.guarantee.theorem}",
            ),
        )
        return count_dropped(found, task)


_ANY: Final = (EveryWorld, TheoremBound)
STRATEGIES: Final[dict[type, tuple[type[Strategy], ...]]] = {
    Mirror: (PublishedShares, EveryWorld, LargestShares),
    Sift: (PublishedShares, EveryWorld, LargestShares),
    Snug: (QuasiOnly, EveryWorld, QuasiOnlyBound),
    Mondrian: (EveryWorld, CutsNotMade, QuasiOnly, TheoremBound),
    EvenSplit: (EveryWorld, CutsNotMade, TheoremBound),
    Symmetric: (EveryWorld, CutsNotMade, TheoremBound),
    Greedy: (EveryWorld, GreedyGroups, TheoremBound),
    RandomisedGreedy: (EveryWorld, GreedyGroups, TheoremBound),
}
"""By method the strategies to try, in this order; for other methods every possible table is tried."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReverseEngineering(Attack):
    """Compute what follows from the release, the algorithm and everybody's quasi-identifiers (Proposition 1).

    Parameters
    ----------
    column
        The sensitive column, where the release has several.
    how
        ``exact``: try every possible table (world), or use what is known of the method, or refuse. ``bound``: take the
        theorem's bound, or refuse. ``sampled``: sample possible tables by a Markov chain, running the algorithm on
        each. None, the default: exact where that can be done, else the bound.
    most_worlds, most_runs
        How many worlds, and how many runs of the algorithm over all of them, are tried at most.
    error
        Largest error of a sampled probability, half the width of a 95 % interval; an attack that cannot reach it is
        refused.
    source
        Where a chain's random choices come from; a seeded source makes it repeatable.
    progress
        Called with a share of the work between 0 and 1, now and then, on long work.

    Notes
    -----
    *Likelihoods at scale*: `Greedy` and `RandomisedGreedy` (MINIMALITY D), `Symmetric`, `EvenSplit` and `Mondrian`
    (the cuts that were not made). They need everybody in the table on the list, and nobody else. `Mirror` and `Sift`:
    by Theorems M1, M2 and S1 the probabilities are the published shares; where the release does not show who is in
    which group, the bound is the largest of them. `Snug` under k-anonymity alone: the list is divided again, and the
    probabilities are the shares of the groups found; if other people are on the list, the bound is the largest share of
    the groups whose cells cover a person.

    The bound is that of the method's theorem, as the release states it. The theorems assume that, before seeing the
    release, every assignment of the sensitive values to the people is equally probable, and that the attacker knows
    nobody's value: with another prior or with known values no bound is given. If the publisher named an identifier, the
    identifiers of the external table order people with equal values as the publisher's do.
    """

    name: ClassVar[str] = "reverse engineering"
    runs_method: ClassVar[bool] = True
    needs_algorithm: ClassVar[bool] = True
    takes_sets: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = True

    column: str | None = None
    how: str | None = None
    most_worlds: int = 100_000
    most_runs: int = 1_000_000
    error: float = 0.02
    source: Source | None = None
    progress: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        if self.how is not None and self.how not in _HOW:
            raise ParameterError("ReverseEngineering", "how", "'exact', 'bound', 'sampled' or None", self.how)

    def believe(self, task: Task) -> Posterior:
        """Try the strategies for the method, one after the other, until one does not refuse."""
        if task.release.layout is FOREIGN:
            release = restated(task)
            task = replace(task, release=release, contents=Published.of(release))
        if self.how != "bound":
            task = replace(task, contents=held_possible(task))
        return once_known(believed(self._strategies(task), task), task)

    def _strategies(self, task: Task) -> list[Strategy]:
        given: dict[str, Any] = {"error": self.error, "source": self.source, "progress": self.progress}
        if self.how == "sampled":
            return [SampledWorlds(most_runs=self.most_runs, **given)]
        classes = STRATEGIES.get(type(task.method), _ANY)
        if task.knowledge.looks_beside:
            classes = tuple(one for one in classes if one.takes_columns)
        if self.how is not None:
            classes = tuple(one for one in classes if one.is_bound == (self.how == "bound"))
        limits: dict[str, Any] = {"most_worlds": self.most_worlds, "most_runs": self.most_runs}
        return [one(**given, **(limits if one is EveryWorld else {})) for one in classes]
