# SPDX-License-Identifier: Apache-2.0
"""Robust transparency by force: what an attacker believes who knows the algorithm, and a little about people.

As in `by_force`, a method is run on every world and every coin toss. Two things are new.

**What is told.** A `Telling` is a method that says more of each run than its groups: the *sets* into which people are
parted (each inside a group), of which the attacker is told who is in them and which values they have, as a multiset,
and anything else (``course``). A release and what is told with it are a *told class*: the worlds that can have led to
both, each with its exact likelihood. The class is *a product* if it has all worlds that give every set its multiset,
all equally likely.

**What is known beforehand.** A `Prior` gives each person a weight for every value, people independent: the chance of a
world is the product of its weights, times its likelihood. Weights are whole numbers, so that everything is exact. A
prior is of the class of some odds if for any two people i, j and values u, v the product ``p_i(u) p_j(v)`` is at most
odds times ``p_i(v) p_j(u)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from math import factorial
from random import Random
from typing import Any

from tests.twins import by_force, enumerating

__all__ = [
    "Belief",
    "Class",
    "Evidence",
    "Prior",
    "Run",
    "Tally",
    "Telling",
    "arbitrary_prior",
    "beliefs",
    "beliefs_in_set",
    "bound_in_set",
    "class_of_run",
    "evidence_of",
    "examine",
    "is_product",
    "leaning_prior",
    "odds_of",
    "prior_of_class",
    "told_by_groups",
    "worlds_of_class",
]

People = frozenset[int]
World = tuple[int, ...]  # the value of every person
Prior = Sequence[Sequence[int]]  # by person and value
Belief = dict[tuple[int, int], Fraction]  # by person and value
Weights = dict[World, Fraction]  # worlds with their likelihoods
Told = tuple[Hashable, frozenset[tuple[People, World]]]  # the course, and of every set who is in it, and its values


@dataclass(frozen=True)
class Run:
    """What one run of a method gave: the groups, and the sets of people of whom more is told."""

    groups: frozenset[People]
    sets: frozenset[People]
    course: Hashable = ()


Telling = Callable[[by_force.Codes, Sequence[int], Any], Run | None]  # None: nothing is published


def told_by_groups(method: by_force.Method) -> Telling:
    """A method of which nothing is told but its release."""

    def run(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Run | None:
        groups = frozenset(frozenset(group) for group in method(codes, sensitive, draws))
        return Run(groups, groups) if groups else None

    return run


# --- worlds ----------------------------------------------------------------------------------------------------------


@dataclass
class Evidence:
    """Every release of a method on one table with, for each, the classes of worlds that are left after telling more."""

    releases: dict[Any, dict[Told, Weights]] = field(default_factory=dict)
    n_worlds: int = 0
    n_runs: int = 0
    n_divided: int = 0


@dataclass(frozen=True)
class Class:
    """A release and what was told with it."""

    release: Any
    told: Told


def _published(people: Iterable[People], world: Sequence[int]) -> frozenset[tuple[People, World]]:
    return frozenset((some, tuple(sorted(world[i] for i in some))) for some in people)


def _classes(telling: Telling, codes: by_force.Codes, world: World) -> tuple[dict[Class, Fraction], int, int]:
    """How likely every release and telling is in this world; how many runs there are, and how many divide the table."""
    found: dict[Class, Fraction] = {}
    runs = enumerating.enumerate_runs(partial(telling, codes, list(world)))
    for probability, run in runs:
        if run is not None:
            key = Class(_published(run.groups, world), (run.course, _published(run.sets, world)))
            found[key] = found.get(key, Fraction(0)) + probability
    return found, len(runs), sum(run is not None and len(run.groups) > 1 for _, run in runs)


def evidence_of(telling: Telling, case: by_force.Case) -> Evidence:
    """Run a method on every world of a case, once for each outcome of its draws."""
    evidence = Evidence()
    for world in by_force.arrangements(case.values):
        found, n_runs, n_divided = _classes(telling, case.codes, world)
        evidence.n_worlds += 1
        evidence.n_runs += n_runs
        evidence.n_divided += n_divided
        for key, probability in found.items():
            evidence.releases.setdefault(key.release, {}).setdefault(key.told, {})[world] = probability
    return evidence


def class_of_run(telling: Telling, codes: by_force.Codes, world: World, draws: Any) -> tuple[Class, Weights]:
    """The told class of one run alone: the likelihood of each world that gives every set its values.

    Worlds outside this product cannot have led to what is told, so that the class is a product if all are equal.
    """
    run = telling(codes, list(world), draws)
    assert run is not None, "nothing was published"
    wanted = Class(_published(run.groups, world), (run.course, _published(run.sets, world)))
    return wanted, {
        other: _classes(telling, codes, other)[0].get(wanted, Fraction(0))
        for other in worlds_of_class(wanted.told, len(world))
    }


def worlds_of_class(told: Told, n: int) -> Iterator[World]:
    """All worlds that give every set its values."""
    sets = [(sorted(people), values) for people, values in told[1]]
    for chosen in product(*([*by_force.arrangements(values)] for _, values in sets)):
        world = [0] * n
        for (people, _), values in zip(sets, chosen, strict=True):
            for person, value in zip(people, values, strict=True):
                world[person] = value
        yield tuple(world)


def is_product(told: Told, weights: Weights) -> bool:
    """Whether a told class has all worlds that give every set its values, all equally likely."""
    wanted = 1
    for _, values in told[1]:
        wanted *= factorial(len(values))
        for times in Counter(values).values():
            wanted //= factorial(times)
    return len(weights) == wanted and len(set(weights.values())) == 1 and 0 not in weights.values()


# --- beliefs ---------------------------------------------------------------------------------------------------------


def beliefs(weights: Iterable[tuple[World, Fraction | int]], prior: Prior, people: Sequence[int]) -> Belief:
    """Bayes's rule: what is believed of each of these people, whose values the worlds list in this order."""
    total: Fraction | int = 0
    found: dict[tuple[int, int], Fraction | int] = {}
    for world, likelihood in weights:
        weight = likelihood
        for person, value in zip(people, world, strict=True):
            weight *= prior[person][value]
        total += weight
        for event in zip(people, world, strict=True):
            found[event] = found.get(event, 0) + weight
    return {event: Fraction(weight) / total for event, weight in found.items()}


def beliefs_in_set(people: People, values: World, prior: Prior) -> Belief:
    """What is believed of the people of one set, if every arrangement of its values is equally likely."""
    ordered = sorted(people)
    return beliefs(((world, 1) for world in by_force.arrangements(values)), prior, ordered)


def bound_in_set(times: int, size: int, odds: Fraction) -> Fraction:
    """L1: what is believed at most of a value that so many people of a set of this size have."""
    return times * odds / (size - times + times * odds)


def odds_of(prior: Prior) -> Fraction:
    """The least odds of whose class a prior is."""
    values = range(len(prior[0]))
    most = Fraction(1)
    for u, v in product(values, values):
        shares = [Fraction(person[u], person[v]) for person in prior]
        most = max(most, max(shares) / min(shares))
    return most


def arbitrary_prior(random: Random, n: int, n_values: int) -> Prior:
    """People who differ as they like."""
    return [[random.choice((1, 2, 3, 7, 20)) for _ in range(n_values)] for _ in range(n)]


def prior_of_class(random: Random, n: int, n_values: int, root: tuple[int, int]) -> Prior:
    """People who differ in every value by a factor of up to the root of the odds; values differ as they like."""
    small, large = sorted(root)
    base = [random.choice((1, 2, 5)) for _ in range(n_values)]
    return [[weight * random.choice((small, large)) for weight in base] for _ in range(n)]


def leaning_prior(people: Iterable[int], value: int, n: int, n_values: int, odds: Fraction) -> Prior:
    """Some people lean to one value by the whole odds; the others, and other values, are alike."""
    leaning = set(people)
    return [
        [odds.numerator if person in leaning and v == value else odds.denominator for v in range(n_values)]
        for person in range(n)
    ]


# --- many tables -----------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was found over many tables."""

    name: str
    n_cases: int = 0
    n_worlds: int = 0
    n_runs: int = 0
    n_divided: int = 0
    n_releases: int = 0
    n_classes: int = 0
    n_ties: int = 0  # told classes that are no product
    n_beliefs: int = 0
    n_unequal: int = 0  # beliefs that are not those by the set alone
    n_above: int = 0  # beliefs of a prior of a class that are above what the method says
    worst: Fraction = Fraction(0)  # belief of a release, untold, under a prior of a class
    most: Fraction = Fraction(0)  # the same, told

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.n_cases} tables, {self.n_worlds} worlds, {self.n_runs} runs ({self.n_divided} "
            f"divided), {self.n_releases} releases, {self.n_classes} told classes, {self.n_ties} of them no product; "
            f"{self.n_beliefs} beliefs, {self.n_unequal} not those of the set alone, {self.n_above} above the bound; "
            f"worst {float(self.worst):.3f} untold, {float(self.most):.3f} told"
        )


def examine(
    tally: Tally,
    evidence: Evidence,
    case: by_force.Case,
    bound: Callable[[Fraction], Fraction | None],
    random: Random,
    *,
    root: tuple[int, int] = (2, 3),
) -> None:
    """Judge all releases of one table under an arbitrary prior, and under two of the class of the squared root.

    ``bound`` is what the method says of beliefs for given odds; None if it says nothing. Under every prior of a class
    it is compared with beliefs told and untold, and so is L1 told.
    """
    n, n_values = len(case.values), max(case.values) + 1
    odds = Fraction(max(root), min(root)) ** 2
    tally.n_cases += 1
    tally.n_worlds += evidence.n_worlds
    tally.n_runs += evidence.n_runs
    tally.n_divided += evidence.n_divided
    tally.n_releases += len(evidence.releases)
    some = random.sample(range(n), random.choice((1, n // 2)))
    priors = [
        (arbitrary_prior(random, n, n_values), None),
        (prior_of_class(random, n, n_values, root), odds),
        (leaning_prior(some, random.choice(case.values), n, n_values, odds), odds),
    ]
    assert all(within is None or odds_of(prior) <= within for prior, within in priors)
    for classes in evidence.releases.values():
        for told, weights in classes.items():
            tally.n_classes += 1
            tally.n_ties += not is_product(told, weights)
        for prior, within in priors:
            _judge(tally, classes, prior, within, bound(within) if within else None, n)


def _judge(
    tally: Tally, classes: dict[Told, Weights], prior: Prior, odds: Fraction | None, bound: Fraction | None, n: int
) -> None:
    """Compare what is believed after one release, told and untold, with what it should be."""
    everybody = range(n)
    for told, weights in classes.items():
        found = beliefs(weights.items(), prior, everybody)
        for people, values in told[1]:
            alone = beliefs_in_set(people, values, prior)
            for event, belief in alone.items():
                tally.n_beliefs += 1
                tally.n_unequal += found.get(event, 0) != belief
        if odds is not None:
            limits = {
                (person, value): bound_in_set(values.count(value), len(values), odds)
                for people, values in told[1]
                for person in people
                for value in set(values)
            }
            tally.n_above += sum(
                belief > limits[event] or (bound is not None and belief > bound) for event, belief in found.items()
            )
            tally.most = max(tally.most, *found.values())
    if odds is not None:
        together = [pair for weights in classes.values() for pair in weights.items()]
        untold = beliefs(together, prior, everybody).values()
        tally.n_above += bound is not None and max(untold) > bound
        tally.worst = max(tally.worst, *untold)
