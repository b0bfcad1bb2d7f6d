# SPDX-License-Identifier: Apache-2.0
"""Perturbed generalization and the attack on it, slowly: CORRUPTION Sections IV, V and VI, formula by formula.

`phases` runs the three phases as they are printed, with every outcome of every coin. `posterior` is what the adversary
computes by Equations 9 to 19. `posterior_by_force` is Bayes' rule over every world, and knows none of the equations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

__all__ = ["Attack", "beliefs", "phases", "posterior", "posterior_by_force", "predicates", "priors"]

Box = tuple[tuple[int, int], ...]
Release = tuple[tuple[Box, Hashable, int], ...]  # rows (box, sensitive value, G)
Belief = dict[Hashable, Fraction]
Sampling = Callable[[Sequence[Hashable]], Mapping[int, Fraction]]  # of a group's perturbed values: place -> probability


def uniformly(group: Sequence[Hashable]) -> Mapping[int, Fraction]:
    """Step S2."""
    return {place: Fraction(1, len(group)) for place in range(len(group))}


def phases(
    rows: Sequence[tuple[tuple[int, ...], Hashable]],
    groups: Sequence[Sequence[int]],
    p: Fraction,
    domain: Sequence[Hashable],
    *,
    sampling: Sampling = uniformly,
) -> dict[Release, Fraction]:
    """The probability of every D* that the three phases may give.

    Parameters
    ----------
    rows
        The microdata D: QI-vector and sensitive value.
    groups
        The row numbers of every QI-group, which Phase 2 found by QI values.
    p
        Retention probability.
    domain
        U^s.
    sampling
        How a tuple is chosen from the perturbed values of its group.
    """
    outcomes: dict[Release, Fraction] = {}
    for chance, perturbed in _perturbations([value for _, value in rows], p, domain):  # Phase 1: D^p
        generalized = [(_box([rows[i][0] for i in group]), [perturbed[i] for i in group]) for group in groups]  # D^g
        samplings = [sampling(values).items() for _, values in generalized]
        for places in product(*samplings):  # Phase 3
            probability = chance
            release = []
            for (box, values), (place, of_place) in zip(generalized, places, strict=True):
                probability *= of_place
                release.append((box, values[place], len(values)))
            key = tuple(sorted(release, key=repr))
            outcomes[key] = outcomes.get(key, Fraction(0)) + probability
    return {release: probability for release, probability in outcomes.items() if probability}


def _perturbations(
    values: Sequence[Hashable], p: Fraction, domain: Sequence[Hashable]
) -> Iterator[tuple[Fraction, list[Hashable]]]:
    """Phase 1: a coin for each tuple, and a uniform value of U^s where it does not head."""
    tosses = [(p, None), *(((1 - p) / len(domain), value) for value in domain)]
    for outcome in product(tosses, repeat=len(values)):
        chance = Fraction(1)
        for of_toss, _ in outcome:
            chance *= of_toss
        yield chance, [kept if new is None else new for kept, (_, new) in zip(values, outcome, strict=True)]


def _box(vectors: Iterable[tuple[int, ...]]) -> Box:
    return tuple((min(axis), max(axis)) for axis in zip(*vectors, strict=True))


@dataclass(frozen=True)
class Attack:
    """What the attacker knows of one group of D*, beside its published value.

    Parameters
    ----------
    prior
        The prior pdf of the victim's sensitive value (Definition 4).
    corrupted
        For each corrupted person whose QI-vector lies in the box: the sensitive value, None for an extraneous person.
    others
        For each other person whose QI-vector lies in the box: the prior pdf of the sensitive value, if in D.
    size
        t.G, the size of the group.
    """

    prior: Mapping[Hashable, Fraction]
    corrupted: tuple[Hashable | None, ...]
    others: tuple[Mapping[Hashable, Fraction], ...]
    size: int


def posterior(attack: Attack, y: Hashable, p: Fraction, domain: Sequence[Hashable]) -> Belief:
    """The posterior pdf of the victim's value after ``y`` was seen: Equations 9 to 19."""
    u = (1 - p) / len(domain)

    def becomes(a: Hashable, b: Hashable) -> Fraction:  # Eq. 11
        return p + u if a == b else u

    in_table = [value for value in attack.corrupted if value is not None]
    size, beta, e_minus_alpha = attack.size, len(in_table), len(attack.others)
    g = Fraction(size - 1 - beta, e_minus_alpha) if e_minus_alpha else Fraction(0)  # Eq. 13
    own = (p * attack.prior[y] + u) / size  # Eq. 15
    total = own
    for value in in_table:
        total += becomes(value, y) / size  # Eq. 18
    for other in attack.others:
        total += g / size * (p * other[y] + u)  # Eq. 19
    h = own / total  # Eq. 14
    return {
        x: h * attack.prior[x] * becomes(x, y) / (p * attack.prior[y] + u) + (1 - h) * attack.prior[x]  # Eq. 9 and 12
        for x in domain
    }


def posterior_by_force(
    attack: Attack, p: Fraction, domain: Sequence[Hashable], *, sampling: Sampling = uniformly
) -> dict[Hashable, Belief]:
    """The posterior pdf after each value that may be seen, by going through every world and every coin.

    In a world, some of the others, as many as the group's size leaves room for, are in the table (every choice of them
    is equally likely), and everybody in the table has a value, independently of everybody else.
    """
    in_table = [value for value in attack.corrupted if value is not None]
    joint: dict[Hashable, Belief] = {}
    present = list(combinations(attack.others, attack.size - 1 - len(in_table)))
    for others in present:
        for x, *values in product(domain, repeat=1 + len(others)):
            chance = Fraction(1, len(present)) * attack.prior[x]
            for other, value in zip(others, values, strict=True):
                chance *= other[value]
            if not chance:
                continue
            rows = [((0,), value) for value in (x, *in_table, *values)]
            for release, likelihood in phases(rows, [range(len(rows))], p, domain, sampling=sampling).items():
                ((_, y, _),) = release
                belief = joint.setdefault(y, dict.fromkeys(domain, Fraction(0)))
                belief[x] += chance * likelihood
    return {y: {x: part / sum(belief.values()) for x, part in belief.items()} for y, belief in joint.items()}


def priors(domain: Sequence[Hashable], steps: int, lambda_: Fraction) -> Iterator[Belief]:
    """Every lambda-skewed prior pdf whose probabilities are multiples of one in ``steps``."""
    for parts in product(range(steps + 1), repeat=len(domain)):
        if sum(parts) == steps and max(parts) <= lambda_ * steps:
            yield {value: Fraction(part, steps) for value, part in zip(domain, parts, strict=True)}


def predicates(domain: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Q(X) for every predicate that is neither never nor always true."""
    for size in range(1, len(domain)):
        yield from combinations(domain, size)


def beliefs(prior: Mapping[Hashable, Fraction], after: Belief) -> Iterator[tuple[Fraction, Fraction]]:
    """The prior and posterior confidence in every predicate: Equations 5 and 10."""
    for qualified in predicates(list(prior)):
        yield sum((prior[x] for x in qualified), Fraction(0)), sum((after[x] for x in qualified), Fraction(0))
