# SPDX-License-Identifier: Apache-2.0
"""Reverse engineering: she knows the algorithm and its parameters, and asks which tables would have given the release.

TRANSPARENT Proposition 1. On small tables every world and every random choice is tried. On larger ones methods that
decide group by group, or cut by cut, are asked how likely they make of a world what was published. Where neither can be
done, a theorem answers for the methods that have one; its answer is a bound, and is called so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.adversary.dropped import UNPUBLISHED, count_dropped, held_possible
from glasshouse.adversary.exact import exact_posterior
from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.linking import Linking, promised_limit
from glasshouse.adversary.matching import match
from glasshouse.adversary.posterior import Posterior
from glasshouse.adversary.rerun import Rerun
from glasshouse.adversary.restated import FOREIGN, restated
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.published import Published

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.randomness import Source
    from glasshouse.release import Release

__all__ = ["ReverseEngineering"]

_MOST_UNKNOWN = 64
_HOW = ("exact", "bound", "sampled")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReverseEngineering:
    """Believe what follows from the release, the algorithm and everybody's quasi-identifiers (Proposition 1).

    Parameters
    ----------
    how
        ``exact``: try every world, or ask the method for its likelihood, or refuse. ``bound``: take the theorem's
        bound, or refuse. ``sampled``: walk over worlds by a Markov chain, running the algorithm on each. None, the
        default: exact where that can be done, else the bound.
    most_worlds, most_runs
        How many worlds, and how many runs of the algorithm over all of them, are tried at most.
    error
        Largest error of a sampled belief, half the width of a 95 % interval; an attack that cannot reach it is refused.
    source
        Where a chain's random choices come from; a seeded source makes it repeatable.
    progress
        Called with a share of the work between 0 and 1, now and then, on long work.

    Notes
    -----
    Likelihoods at scale: `Greedy` and `RandomisedGreedy` (MINIMALITY D), `Symmetric`, `EvenSplit` and `Mondrian` (the
    cuts that were not made). They need everybody in the table on her list, and nobody else. `Mirror`: by Theorems M1
    and M2 she believes the published shares; where the release leaves open who is in which group, the bound is the
    largest of them. `Snug` under k-anonymity alone: she divides her list again, and believes the shares of the groups
    that she finds; with others on the list, the bound is the largest share of the groups whose cells cover a person.

    The bound is that of the method's theorem, as the release states it. Theorems hold for an adversary who holds every
    table equally likely beforehand and has corrupted nobody: with a prior of her own or with corrupted people no bound
    is given. Where the publisher named an identifier, those of the external table break ties as his do.
    """

    name: ClassVar[str] = "reverse engineering"
    runs_method: ClassVar[bool] = True

    how: str | None = None
    most_worlds: int = 100_000
    most_runs: int = 1_000_000
    error: float = 0.02
    source: Source | None = None
    progress: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        if self.how is not None and self.how not in _HOW:
            raise ParameterError("ReverseEngineering", "how", "'exact', 'bound', 'sampled' or None", self.how)

    def attack(self, release: Release, knowledge: Knowledge, algorithm: tuple[Any, Any, Any]) -> Posterior:
        """Try every world; or ask the method; or answer by the theorem."""
        if release.recipe.recoding.get("name") == FOREIGN:
            release = restated(release, knowledge)
        if self.how == "bound":
            return self._bound(release, knowledge, algorithm)
        if self.how == "sampled":
            return self._imagined(release, knowledge, algorithm, sampled=True)
        name = algorithm[1].name
        if name in _BOUNDS:  # a theorem says how likely, and no world need be tried
            try:
                return self._likely(release, knowledge, algorithm)
            except NotSupported as refusal:
                told = refusal
        try:
            return self._imagined(release, knowledge, algorithm)
        except NotSupported as refusal:
            reason = told if name in _BOUNDS else refusal
        if name in _LIKELIHOODS and name not in _BOUNDS:
            try:
                return self._likely(release, knowledge, algorithm)
            except NotSupported as refusal:
                reason = refusal
        if self.how is None:
            try:
                return self._bound(release, knowledge, algorithm)
            except NotSupported as refusal:
                reason = reason if name in _LIKELIHOODS else refusal
        raise reason

    # --- every world, or a walk over them ---------------------------------------------------------------------------

    def _imagined(
        self, release: Release, knowledge: Knowledge, algorithm: tuple[Any, Any, Any], *, sampled: bool = False
    ) -> Posterior:
        """Run the algorithm on the tables that she imagines."""
        principle, method, recoding = algorithm
        if recoding.name == "perturbed":
            raise NotSupported("reverse engineering of a perturbed sample", instead="use linking or corruption")
        unknown = knowledge.external.n_tuples - len(knowledge.corrupted)
        if unknown > _MOST_UNKNOWN and not sampled:  # even counting the worlds would take long
            raise NotSupported(
                f"an exact belief about {unknown:,} people whose values she does not know",
                instead=f"take at most {_MOST_UNKNOWN}, of whom few enough worlds can be made",
            )
        published = held_possible(release, Published.of(release), knowledge, principle)
        totals = np.bincount(published.codes, weights=published.counts, minlength=len(published.values))
        others = UNPUBLISHED in published.values
        people = replace(
            knowledge.external,
            quasi=tuple(knowledge.external.column(name) for name in release.recipe.quasi),
            sensitive=(),
            identifier=None if release.guarantee.ties_are_secret else knowledge.external.identifier,
        )
        known = {knowledge.person(name): value for name, value in knowledge.corrupted.items()}
        rerun = Rerun(principle=principle, method=method, recoding=recoding, suppress=release.recipe.suppress)
        given: dict[str, Any] = {
            "values": {v: int(n) for v, n in zip(published.values, totals, strict=True) if v is not UNPUBLISHED},
            "sensitive": published.column,
            "prior": self._prior(knowledge),
            "corrupted": {row: value for row, value in known.items() if value is not ABSENT},
            "absent": [row for row, value in known.items() if value is ABSENT],
            "n": release.n_tuples + release.n_dropped,
            "may": None if release.n_dropped else _may(published, people),  # of a dropped tuple nothing is published
        }
        if sampled:
            given["values"] |= dict.fromkeys(_stand_ins(list(given["values"]), 1 if others else 0), 0)
            return self._walked(release, knowledge, published, people, rerun, given)
        for n_others in range(1, release.n_dropped + 1) if others else [0]:
            unnamed = _stand_ins(list(given["values"]), n_others)
            try:
                found = exact_posterior(
                    people,
                    rerun,
                    release.tables,
                    **{**given, "values": {**given["values"], **dict.fromkeys(unnamed, 0)}},
                    limit_worlds=self.most_worlds,
                    limit_runs=self.most_runs,
                    progress=self.progress,
                )
                break
            except InputError:  # people who were dropped may have several values that are not published
                if n_others in (0, release.n_dropped):
                    raise
        note = (
            f"{found.n_worlds:,} tables were possible beforehand, {found.n_possible:,} could have given the release; "
            f"the algorithm was run {found.n_runs:,} times"
        )
        notes = [note]
        if others:
            notes.append(
                f"the {release.n_dropped:,} people whom the method dropped are taken to have published values, or one "
                f"of {n_others:,} more; a prior can name the values that there are"
            )
        elif release.n_dropped:
            notes.append(f"{release.n_dropped:,} people are in the table and not in the release")
        return self._posterior(release, knowledge, published, found, tuple(notes))

    def _walked(
        self, release: Release, knowledge: Knowledge, published: Published, people: Any, rerun: Rerun, given: Any
    ) -> Posterior:
        from glasshouse.adversary.chain import sampled_posterior

        found = sampled_posterior(
            people,
            rerun,
            release.tables,
            **given,
            error=self.error,
            most_runs=self.most_runs,
            source=self.source,
            progress=self.progress,
        )
        return self._posterior(release, knowledge, published, found, found.notes)

    def _prior(self, knowledge: Knowledge) -> Any:
        if knowledge.prior is None or not knowledge.is_personal:
            return knowledge.prior
        return {knowledge.person(name): weights for name, weights in knowledge.prior.items()}

    def _posterior(
        self, release: Release, knowledge: Knowledge, published: Published, found: Any, notes: tuple[str, ...]
    ) -> Posterior:
        n = knowledge.external.n_tuples
        place = {value: i for i, value in enumerate(published.values)}
        unnamed = len(published.values) - 1  # where several values are not published, which one it is is not known
        errors = getattr(found, "errors", None)
        known = set(knowledge.corrupted_rows().tolist())  # of them nothing is believed: it is known
        lists: list[list[tuple[int, Any, float]]] = []
        for row in range(n):
            own: dict[int, tuple[Any, float]] = {}
            for value, belief in found.of[row].items() if row not in known else ():
                code = place.get(value, unnamed)
                own[code] = value, float(belief) + (own[code][1] if code in own else 0.0)
            lists.append([(code, *own[code]) for code in sorted(own)])
        flat = [(row, *entry) for row, entries in enumerate(lists) for entry in entries]
        return Posterior(
            attack=self.name,
            column=published.column,
            how="exact" if errors is None else "sampled",
            knowledge=knowledge,
            values=published.values,
            kind=np.arange(n, dtype=np.int64),
            offsets=np.cumsum([0, *map(len, lists)]).astype(np.int64),
            codes=np.array([code for _, code, _, _ in flat], np.int32),
            beliefs=np.array([belief for *_, belief in flat], np.float64),
            presence=np.array([float(found.presence[row]) for row in range(n)]),
            limit=promised_limit(release, published.column),
            errors=None if errors is None else np.array([errors[row][value] for row, _, value, _ in flat], np.float64),
            notes=notes,
        )

    # --- what the method itself can say -----------------------------------------------------------------------------

    def _likely(self, release: Release, knowledge: Knowledge, algorithm: tuple[Any, Any, Any]) -> Posterior:
        """Ask the method how likely it makes of a world what was published."""
        likelihood = _LIKELIHOODS[algorithm[1].name]
        published = held_possible(release, Published.of(release), knowledge, algorithm[0])
        return likelihood(
            release, published, knowledge, algorithm, error=self.error, source=self.source, progress=self.progress
        )

    # --- what its theorem says --------------------------------------------------------------------------------------

    def _bound(self, release: Release, knowledge: Knowledge, algorithm: tuple[Any, Any, Any]) -> Posterior:
        """Nobody is believed above what the theorem allows."""
        if algorithm[1].name in _BOUNDS:
            return _BOUNDS[algorithm[1].name](release, Published.of(release), knowledge, algorithm)
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
        # for who fits where; how likely does not matter
        linked = Linking(most_states=0).published(release, knowledge)
        found = replace(
            linked,
            attack=self.name,
            how="bound",
            beliefs=np.full(len(linked.beliefs), float(limit)),
            notes=(
                *(note for note in linked.notes if "approximate" not in note),
                f"no belief is larger: {release.guarantee.theorem}",
            ),
        )
        return count_dropped(found, release, Published.of(release))


def _greedy(*given: Any, **options: Any) -> Posterior:
    from glasshouse.adversary.sequences import attack_greedy

    return attack_greedy(*given, **options)


def _decisions(*given: Any, **options: Any) -> Posterior:
    from glasshouse.adversary.decisions import attack_decisions

    return attack_decisions(*given, **options)


def _mirrored(*given: Any, **options: Any) -> Posterior:
    from glasshouse.adversary.mirrored import attack_mirrored

    return attack_mirrored(*given, **options)


def _mirrored_bound(*given: Any) -> Posterior:
    from glasshouse.adversary.mirrored import bound_mirrored

    return bound_mirrored(*given)


def _recomputed(*given: Any, **options: Any) -> Posterior:
    from glasshouse.adversary.recomputed import attack_recomputed

    return attack_recomputed(*given, **options)


def _mondrian(*given: Any, **options: Any) -> Posterior:
    """By the cuts that were not made; where that is refused, and values decided nothing, by dividing the list again."""
    try:
        return _decisions(*given, **options)
    except NotSupported as refusal:
        try:
            return _recomputed(*given, **options)
        except NotSupported:
            raise refusal from None


def _recomputed_bound(*given: Any) -> Posterior:
    from glasshouse.adversary.recomputed import bound_recomputed

    return bound_recomputed(*given)


_LIKELIHOODS: dict[str, Callable[..., Posterior]] = {
    "greedy": _greedy,
    "randomised-greedy": _greedy,
    "symmetric": _decisions,
    "even-split": _decisions,
    "mondrian": _mondrian,
    "mirror": _mirrored,
    "snug": _recomputed,
}

# whose theorem tells more than one number
_BOUNDS: dict[str, Callable[..., Posterior]] = {"mirror": _mirrored_bound, "snug": _recomputed_bound}


def _stand_ins(values: list[Any], n: int) -> list[Any]:
    """Values of the same type that are published nowhere, for those that nobody has named."""
    found: list[Any] = []
    known = [value for value in values if value is not None]
    for i in range(n):
        if all(isinstance(value, bool) for value in known):
            found += [value for value in (False, True) if value not in known][i : i + 1]
        elif all(isinstance(value, int | float) for value in known):
            found.append(max(known) + 1 + i)
        elif all(isinstance(value, str) for value in known):
            found.append(f"{UNPUBLISHED} ({i + 1})")
    return found


def _may(published: Published, people: Any) -> dict[int, set[Any]]:
    """The values that each person may have: those of the groups that they fit, in every table."""
    rows = np.arange(people.n_tuples)
    may: dict[int, set[Any]] = {}
    for seats in published.seats:
        matches = match(people, rows, seats)
        for row in range(people.n_tuples):
            groups = set(seats.group[matches.seats[matches.offsets[row] : matches.offsets[row + 1]]].tolist())
            found = {
                published.values[code]
                for group in groups
                for code in published.codes[published.offsets[group] : published.offsets[group + 1]].tolist()
            }
            may[row] = may[row] & found if row in may else found
    return may
