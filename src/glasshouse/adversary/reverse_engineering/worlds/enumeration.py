# SPDX-License-Identifier: Apache-2.0
"""Exact attack with knowledge of the algorithm: TRANSPARENT Proposition 1, for tables small enough to try all worlds.

For every world that is possible, and every random choice, the algorithm is run, to see whether it publishes what was
published. The probability that a person has a value is the share of the worlds where the person has it, each weighted
by its prior probability and by the probability that the algorithm makes of it what was seen:

    sum over worlds with o having v of prior(world) * Pr{algorithm(world) = published}
    ----------------------------------------------------------------------------------
    sum over all worlds             of prior(world) * Pr{algorithm(world) = published}

All that is given are people and what is published. Nothing here ever sees the table that it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.adversary.reverse_engineering.worlds.draws import chances
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun, as_it_stands
from glasshouse.adversary.reverse_engineering.worlds.worlds import World, Worlds, exact_weight
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import Column, Domain, code
from glasshouse.plural import counted
from glasshouse.release import Release

if TYPE_CHECKING:
    from glasshouse.adversary.other_columns import Beside
    from glasshouse.microdata import Microdata

__all__ = ["ExactBeliefs", "ImaginedTables", "exact_posterior", "runner_of", "scaled_priors"]

_KEPT = 10_000  # tables of the same people that are kept, to be given other sensitive values
_TOLD_EVERY = 64  # worlds, after which progress is told


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactBeliefs:
    """The probabilities for every person on the list, by row; exact."""

    # for every row the values that the person may have, with the probability of each; what is missing has probability 0
    of: Mapping[int, Mapping[Any, Fraction]]
    presence: Mapping[int, Fraction]  # for every row the probability that the person is in the table
    n_worlds: int  # how many worlds were possible before the release
    n_possible: int  # how many of them may have given what is published
    n_runs: int  # how often the algorithm was run

    def worst(self) -> tuple[int, Any, Fraction]:
        """The highest probability: the person, the value, and the probability."""
        return max(
            ((row, value, belief) for row, beliefs in self.of.items() for value, belief in beliefs.items()),
            key=lambda found: found[2],
        )


def exact_posterior(
    people: Microdata,
    algorithm: Any,
    published: Any,
    *,
    values: Mapping[Any, int] | Iterable[Hashable],
    n: int | Iterable[int] | None = None,
    sensitive: str | Domain = "sensitive",
    order: Sequence[str] = (),
    prior: Mapping[Any, Any] | None = None,
    corrupted: Mapping[int, Any] | None = None,
    absent: Collection[int] = (),
    may: Mapping[int, Collection[Any]] | None = None,
    beside: Sequence[Beside] = (),
    seen: Callable[[Any], Hashable] | None = None,
    limit_worlds: int = 100_000,
    limit_runs: int = 1_000_000,
    progress: Callable[[float], None] | None = None,
) -> ExactBeliefs:
    """Compute the probabilities for everybody, by going through every world and every random choice.

    Parameters
    ----------
    people
        The people on the list, with the quasi-identifiers of the release in its order; perhaps more than are in the
        table. Their identifiers, if there are any, break ties where they broke the publisher's, which is in a release
        of a version before 0.3 and in tables that are not a release's; else ties are broken by a secret order. A
        sensitive column is not looked at.
    algorithm
        ``(principle, method, recoding)`` or a `Rerun`, run as `publish` does; or any function ``algorithm(table, rng)``
        of a table with a sensitive column and of a source of finite draws, which returns what it publishes: Arrow
        tables, a release, anything hashable, or None for nothing.
    published
        What was published: tables, a release, or what the function returned.
    values, n, corrupted, absent, may
        What leaves worlds possible, as for `Worlds`.
    sensitive
        Name of the sensitive column, or its domain where order or taxonomy matter.
    order
        The names of all sensitive columns in the order of the table, where there are several.
    prior
        Value -> weight, for everybody, or row -> such a mapping; uniform by default. A world weighs the product of its
        people's weights, those of a person scaled to the same sum for all.
    beside
        Where there are other sensitive columns, every way to fill them; an algorithm is then run on all of them.
    seen
        Turns what is published into what is compared. By default tables of a recoding are compared up to the random
        numbering of groups (`replay` says why that is right), and those of a function exactly as they stand, for
        nothing is known of its numbers; `up_to_numbering` if they are random.
    limit_worlds, limit_runs
        Most worlds, and most runs of the algorithm over all of them; `NotSupported` beyond.
    progress
        Called with a share of the work between 0 and 1, now and then.

    Examples
    --------
    Five people on a line; strict Mondrian gives the third away:

    >>> import glasshouse as gh
    >>> from glasshouse.principles.principle import Requirement
    >>> people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    >>> table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    >>> steps = gh.LDiversity(ell=2), gh.Mondrian(), gh.Boxes()
    >>> groups = gh.Mondrian().divide(table, Requirement.of(steps[0], table))
    >>> release = gh.Boxes().recode(table, groups)
    >>> found = exact_posterior(
    ...     gh.read(people, quasi=["x", "y"]), steps, release, values={"a": 2, "b": 1, "c": 1, "d": 1}, sensitive="s"
    ... )
    >>> found.of[2], found.n_worlds, found.n_possible
    ({'a': Fraction(1, 1)}, 60, 4)
    """
    worlds = Worlds(n_people=people.n_tuples, values=values, n=n, corrupted=corrupted, absent=absent, may=may)
    worlds.check(limit_worlds // max(1, len(beside)))
    run = runner_of(algorithm, seen)
    wanted = run.seen(published)
    if isinstance(published, Release) and not published.ties_are_known:
        people = replace(people, identifier=None)
    weights = _weights(prior, worlds)
    tables = ImaginedTables(people, sensitive, tuple(worlds.least), order)

    tally = _Tally(people.n_tuples)
    n_runs = 0
    fillings: list[Beside | None] = [*beside] or [None]
    n_worlds = worlds.count * len(fillings)
    for number, (others, world) in enumerate(product(fillings, worlds)):
        if progress is not None and number % _TOLD_EVERY == 0:
            progress(max(number / n_worlds, n_runs / limit_runs))
        weight = weights(world) * (1 if others is None else others.weight(world))
        if not weight:
            continue
        if n_runs >= limit_runs:
            raise NotSupported(
                f"the exact probabilities cannot be computed: of {counted(n_worlds, 'possible table')} some were not "
                f"reached in {counted(n_runs, 'run')} of the algorithm, and "
                f"{counted(limit_runs, 'run is', 'runs are')} allowed",
                instead="attack a table of fewer people, raise the limit (most_runs=, --most-runs), or estimate by "
                "sampling (how='sampled', --how sampled)",
            )
        outcomes, runs = run.chances(tables.of(world, () if others is None else others.columns), limit_runs - n_runs)
        n_runs += runs
        likelihood = outcomes.get(wanted)
        if likelihood:
            tally.add(world, weight * likelihood)
    if not tally.total:
        raise InputError(
            f"no table of these people can have produced this release ({n_worlds:,} were tried): check that "
            "the people, the counts, the principle, the method and its parameters are those of the release"
        )
    return ExactBeliefs(
        of={row: {v: w / tally.total for v, w in joint.items()} for row, joint in enumerate(tally.joint)},
        presence={row: sum(joint.values(), Fraction(0)) / tally.total for row, joint in enumerate(tally.joint)},
        n_worlds=n_worlds,
        n_possible=tally.n_possible,
        n_runs=n_runs,
    )


class _Tally:
    """The weights of the worlds that may have given the release, in total, and by person and value."""

    def __init__(self, n_people: int) -> None:
        self.total = Fraction(0)
        self.joint: list[dict[Any, Fraction]] = [{} for _ in range(n_people)]
        self.n_possible = 0

    def add(self, world: World, weight: Fraction) -> None:
        self.n_possible += 1
        self.total += weight
        for row, value in zip(world.present, world.values, strict=True):
            joint = self.joint[row]
            joint[value] = joint.get(value, Fraction(0)) + weight


# --- the algorithm ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Function:
    """A function of a table and of draws; where it returns None, nothing is published."""

    function: Callable[[Microdata, Any], Any]
    seen: Callable[[Any], Hashable]

    def chances(self, table: Microdata, limit: int) -> tuple[dict[Hashable, Fraction], int]:
        found, n_runs = chances(lambda draws: self._published(table, draws), limit=limit)
        found.pop(None, None)
        return found, n_runs

    def _published(self, table: Microdata, draws: Any) -> Hashable:
        published = self.function(table, draws)
        return None if published is None else self.seen(published)


def runner_of(algorithm: Any, seen: Callable[[Any], Hashable] | None) -> Any:
    """The function that runs an algorithm on an imagined table and returns what is compared with the release."""
    if isinstance(algorithm, tuple) and len(algorithm) == 3:
        principle, method, recoding = algorithm
        algorithm = Rerun(principle=principle, method=method, recoding=recoding)
    if isinstance(algorithm, Rerun):
        if seen is not None:
            raise InputError(
                "seen= can only be given for an algorithm that is a function; for (principle, method, "
                "recoding) published tables are compared without regard to the numbers of groups"
            )
        return algorithm
    if not callable(algorithm):
        raise InputError(
            "an algorithm is (principle, method, recoding) or a function of a table and of a source of draws, not "
            f"{type(algorithm).__name__}"
        )
    return _Function(algorithm, seen or as_it_stands)


# --- worlds as tables ------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class ImaginedTables:
    """Worlds as microdata, read as the publisher would have: domains have the values that occur, and no others."""

    people: Microdata
    sensitive: str | Domain
    values: tuple[Any, ...]
    order: Sequence[str] = ()
    _known: dict[tuple[int, ...], Microdata] = field(default_factory=dict)
    _domains: dict[frozenset[Any], tuple[Domain, dict[Any, int]]] = field(default_factory=dict)

    def of(self, world: World, others: Sequence[Column] = ()) -> Microdata:
        """The table that a world is; ``others`` are the other sensitive columns, of everybody on the list."""
        if world.present not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[world.present] = self._of_people(np.array(world.present, np.int64))
        domain, codes = self._domain(frozenset(world.values))
        column = Column(domain, np.array([codes[value] for value in world.values], np.int32))
        rows = np.array(world.present, np.int64)
        own = [column, *(_read_again(Column(other.domain, other.codes[rows])) for other in others)]
        return replace(
            self._known[world.present],
            sensitive=tuple(sorted(own, key=lambda one: self.order.index(one.name) if others else 0)),
        )

    def _of_people(self, rows: Any) -> Microdata:
        taken = self.people.take(rows)
        return replace(taken, quasi=tuple(_read_again(column) for column in taken.quasi), notices=())

    def _domain(self, values: frozenset[Any]) -> tuple[Domain, dict[Any, int]]:
        """The sensitive domain of a world with these values, and their codes."""
        if values not in self._domains:
            listed = [value for value in self.values if value in values]
            if isinstance(self.sensitive, Domain):
                whole = self.sensitive
                places = [whole.missing_code if value is None else whole.code_of(value) for value in listed]
                column = _read_again(Column(whole, np.array(places, np.int32)))
            else:
                kind = pa.array(self.values).type  # also of a world with nobody in it
                column = code(pa.array(listed, kind), name=self.sensitive, missing=None in values)
            self._domains[values] = column.domain, dict(zip(listed, column.codes.tolist(), strict=True))
        return self._domains[values]


def _read_again(column: Column) -> Column:
    """The column with the domain that it would have been given if it had been read alone."""
    domain = column.domain
    if domain.tree is not None:
        values = domain.decode(column.codes)
        return code(values, name=domain.name, taxonomy=domain.tree, missing=values.null_count > 0)
    occurring = np.unique(column.codes)
    missing = domain.missing and domain.missing_code in occurring.tolist()
    shown = domain.values.take(pa.array(occurring[: len(occurring) - missing]))
    return Column(
        replace(domain, values=shown, missing=missing), np.searchsorted(occurring, column.codes).astype(np.int32)
    )


# --- prior probabilities ---------------------------------------------------------------------------------


def _weights(prior: Mapping[Any, Any] | None, worlds: Worlds) -> Callable[[World], Fraction]:
    """The prior weight of a world; 1 for all if the prior is uniform."""
    scaled = {} if prior is None else scaled_priors(prior, worlds)

    def weight(world: World) -> Fraction:
        pairs = zip(world.present, world.values, strict=True)
        return prod((scaled[row][value] for row, value in pairs if row in scaled), start=Fraction(1))

    return weight


def scaled_priors(prior: Mapping[Any, Any], worlds: Worlds) -> dict[int, dict[Any, Fraction]]:
    """The weights of every row with a prior and no known value; they sum to the number of values, as uniform ones."""
    personal = any(isinstance(weights, Mapping) for weights in prior.values())
    found = {}
    for row in range(worlds.n_people):
        given = prior.get(row) if personal else prior
        if given is not None and row not in worlds.known:
            weights = {value: exact_weight(given.get(value, 0)) for value in worlds.least}
            total = sum(weights.values())
            if not total:
                raise InputError(
                    "a prior gives the weight 0 to every possible value: give at least one of them a weight above 0"
                )
            found[row] = {value: weight * len(weights) / total for value, weight in weights.items()}
    return found
