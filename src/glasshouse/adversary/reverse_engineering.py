# SPDX-License-Identifier: Apache-2.0
"""Reverse engineering: she knows the algorithm and its parameters, and asks which tables would have given the release.

TRANSPARENT Proposition 1. On small tables every world and every random choice is tried, and beliefs are exact. On
larger ones a theorem answers, where there is one for what was run; its answer is a bound, and is called so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.adversary.exact import exact_posterior
from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.linking import Linking, promised_limit
from glasshouse.adversary.posterior import Posterior
from glasshouse.adversary.published import Published
from glasshouse.adversary.rerun import Rerun
from glasshouse.errors import NotSupported

if TYPE_CHECKING:
    from fractions import Fraction

    from glasshouse.adversary.exact import Beliefs
    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.release import Release

__all__ = ["ReverseEngineering"]

_MOST_UNKNOWN = 64
_NO_IDENTIFIER = "one row per person"  # what a guarantee assumes where no identifier was named: ties are then secret


@dataclass(frozen=True, kw_only=True, slots=True)
class ReverseEngineering:
    """Believe what follows from the release, the algorithm and everybody's quasi-identifiers (Proposition 1).

    Parameters
    ----------
    exact
        True: try every world, or refuse. False: take the theorem's bound, or refuse. None, the default: exact where the
        table is small enough, else the bound.
    most_worlds, most_runs
        How many worlds, and how many runs of the algorithm over all of them, are tried at most.

    Notes
    -----
    The bound is that of the method's theorem, as the release states it. Theorems hold for an adversary who holds every
    table equally likely beforehand and has corrupted nobody: with a prior of her own or with corrupted people no bound
    is given. Where the publisher named an identifier, those of the external table break ties as his do.
    """

    name: ClassVar[str] = "reverse engineering"

    exact: bool | None = None
    most_worlds: int = 100_000
    most_runs: int = 1_000_000

    def attack(self, release: Release, knowledge: Knowledge, algorithm: tuple[Any, Any, Any]) -> Posterior:
        """Try every world; or answer by the theorem."""
        if self.exact is not False:
            try:
                return self._exactly(release, knowledge, algorithm)
            except NotSupported:
                if self.exact:
                    raise
        return self._bound(release, knowledge)

    def _exactly(self, release: Release, knowledge: Knowledge, algorithm: tuple[Any, Any, Any]) -> Posterior:
        principle, method, recoding = algorithm
        if recoding.name == "perturbed":
            raise NotSupported("reverse engineering of a perturbed sample", instead="use linking")
        unknown = knowledge.external.n_tuples - len(knowledge.corrupted)
        if unknown > _MOST_UNKNOWN:  # even counting the worlds would take long
            raise NotSupported(
                f"an exact belief about {unknown:,} people whose values she does not know",
                instead=f"take at most {_MOST_UNKNOWN}, of whom few enough worlds can be made",
            )
        published = Published.of(release)
        totals = np.bincount(published.codes, weights=published.counts, minlength=len(published.values))
        values = {value: int(total) for value, total in zip(published.values, totals, strict=True)}
        people = replace(
            knowledge.external,
            quasi=tuple(knowledge.external.column(name) for name in release.recipe.quasi),
            sensitive=(),
            identifier=None if _NO_IDENTIFIER in release.guarantee.assumptions else knowledge.external.identifier,
        )
        known = {knowledge.person(name): value for name, value in knowledge.corrupted.items()}
        found = exact_posterior(
            people,
            Rerun(principle=principle, method=method, recoding=recoding, suppress=release.recipe.suppress),
            release.tables,
            values=values,
            sensitive=published.column,
            prior=self._prior(knowledge),
            corrupted={row: value for row, value in known.items() if value is not ABSENT},
            absent=[row for row, value in known.items() if value is ABSENT],
            limit_worlds=self.most_worlds,
            limit_runs=self.most_runs,
        )
        return self._posterior(release, knowledge, published, found)

    def _prior(self, knowledge: Knowledge) -> Any:
        if knowledge.prior is None or not knowledge.is_personal:
            return knowledge.prior
        return {knowledge.person(name): weights for name, weights in knowledge.prior.items()}

    def _posterior(self, release: Release, knowledge: Knowledge, published: Published, found: Beliefs) -> Posterior:
        n = knowledge.external.n_tuples
        place = {value: i for i, value in enumerate(published.values)}
        lists = [sorted((place[value], float(belief)) for value, belief in found.of[row].items()) for row in range(n)]
        return Posterior(
            attack=self.name,
            column=published.column,
            how="exact",
            knowledge=knowledge,
            values=published.values,
            kind=np.arange(n, dtype=np.int64),
            offsets=np.cumsum([0, *map(len, lists)]).astype(np.int64),
            codes=np.array([code for beliefs in lists for code, _ in beliefs], np.int32),
            beliefs=np.array([belief for beliefs in lists for _, belief in beliefs], np.float64),
            presence=np.array([float(found.presence[row]) for row in range(n)]),
            limit=promised_limit(release, published.column),
            notes=(
                f"{found.n_worlds:,} tables were possible beforehand, {found.n_possible:,} could have given the "
                f"release; the algorithm was run {found.n_runs:,} times",
            ),
        )

    def _bound(self, release: Release, knowledge: Knowledge) -> Posterior:
        """Nobody is believed above what the theorem allows."""
        limit: Fraction | None = promised_limit(release, Published.of(release).column)
        if release.guarantee.adversary != "algorithm-aware" or limit is None:
            raise NotSupported(
                f"reverse engineering of {release.n_tuples:,} tuples by a method without a theorem",
                instead="take fewer people: small tables are attacked exactly",
            )
        if knowledge.prior is not None or knowledge.corrupted:
            raise NotSupported(
                "a theorem's bound for whoever has a prior of her own or has corrupted people",
                instead="take fewer people: small tables are attacked exactly",
            )
        linked = Linking().attack(release, knowledge)
        return replace(
            linked,
            attack=self.name,
            how="bound",
            beliefs=np.full(len(linked.beliefs), float(limit)),
            notes=(*linked.notes, f"no belief is larger: {release.guarantee.theorem}"),
        )
