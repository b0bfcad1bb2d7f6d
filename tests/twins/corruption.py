# SPDX-License-Identifier: Apache-2.0
"""The attacker who has corrupted people, slowly: every world is made, and those that can be excluded are left out.

Nothing here knows an equation of CORRUPTION. `sample_beliefs` goes through who is in the group of a published tuple,
what everybody has, who owns the tuple and what the coin made of it. `group_beliefs` goes through who owns which tuple
and which value of its group each tuple has. `worst_beliefs` also goes through whom the attacker may have corrupted.
`credibilities` is TRANSPARENT Proposition 2, over every possible microdata instance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

from tests.twins.mondrian import Row

__all__ = ["ABSENT", "Beliefs", "credibilities", "group_beliefs", "group_worlds", "sample_beliefs", "worst_beliefs"]

ABSENT = object()
"""Marks a person of whom the attacker knows that they are not in the table."""

Name = Any  # hashable
Value = Any  # hashable
Beliefs = dict[Name, dict[Value, Fraction]]  # in the table, and has the value
Distribution = Mapping[Value, Fraction]
World = dict[Name, Value]  # the value of everybody who is in the table


# --- one perturbed tuple of a group ----------------------------------------------------------------------------------


def sample_beliefs(
    people: Mapping[Name, Any],
    observed: Value,
    size: int,
    p: Fraction,
    domain: Sequence[Value],
    *,
    in_table: Name | None = None,
) -> Beliefs:
    """What the attacker believes of everybody who fits a published tuple of a perturbed sample.

    Parameters
    ----------
    people
        For everybody who fits: a prior (a mapping), a known value, or `ABSENT`.
    observed, size
        The published value, and G.
    p, domain
        Retention probability, and the values that a perturbed one may have.
    in_table
        A person of whom the attacker knows beforehand that they are in the table.
    """
    joint: Beliefs = {name: dict.fromkeys(domain, Fraction(0)) for name in people}
    total = Fraction(0)
    for members in combinations(people, size):
        absent = [name for name in people if name not in members]
        if any(people[name] is ABSENT for name in members) or in_table in absent:
            continue
        if any(people[name] is not ABSENT and not isinstance(people[name], Mapping) for name in absent):
            continue  # somebody whose value is known is in the table
        for values in product(domain, repeat=size):
            chance = Fraction(1)
            for name, value in zip(members, values, strict=True):
                prior = people[name]
                chance *= prior[value] if isinstance(prior, Mapping) else Fraction(prior == value)
            if not chance:
                continue
            for owner in range(size):
                for kept in (True, False):
                    for drawn in domain:
                        coin = (p if kept else 1 - p) / len(domain)
                        if (values[owner] if kept else drawn) == observed:
                            weight = chance * coin / size
                            total += weight
                            for name, value in zip(members, values, strict=True):
                                joint[name][value] += weight
    return {name: {value: weight / total for value, weight in of.items()} for name, of in joint.items()}


# --- groups that keep their values -----------------------------------------------------------------------------------

Tuple = tuple[Hashable, Hashable]  # what is shown in place of quasi-identifiers, and the group


def group_worlds(
    fits: Mapping[Name, Sequence[Any]], tuples: Sequence[Tuple], values: Mapping[Any, Sequence[Value]]
) -> Iterator[World]:
    """Every way in which the tuples may be people's and have their groups' values.

    Parameters
    ----------
    fits
        For everybody what they may be shown as.
    tuples
        What each published tuple is shown as, and its group.
    values
        The sensitive values of every group, as many as it has tuples.
    """
    of_group = {group: [i for i, (_, own) in enumerate(tuples) if own == group] for group in values}
    arrangements = [sorted(set(permutations(own)), key=repr) for own in values.values()]
    for owners in permutations(fits, len(tuples)):
        if any(shown not in fits[owner] for owner, (shown, _) in zip(owners, tuples, strict=True)):
            continue
        for arranged in product(*arrangements):
            world: World = {}
            for group, given in zip(values, arranged, strict=True):
                world |= {owners[i]: value for i, value in zip(of_group[group], given, strict=True)}
            yield world


def group_beliefs(
    fits: Mapping[Name, Sequence[Any]],
    tuples: Sequence[Tuple],
    values: Mapping[Any, Sequence[Value]],
    known: Mapping[Name, Any],
    *,
    in_table: Name | None = None,
) -> Beliefs | None:
    """What is believed of everybody if each way is equally likely; None if nothing agrees with what is known."""
    return _counted(fits, [w for w in group_worlds(fits, tuples, values) if _agrees(w, known, in_table)])


def _agrees(world: World, known: Mapping[Name, Any], in_table: Name | None = None) -> bool:
    here = in_table is None or in_table in world
    return here and all(
        name not in world if value is ABSENT else world.get(name) == value for name, value in known.items()
    )


def _counted(people: Mapping[Name, Any], worlds: Sequence[World]) -> Beliefs | None:
    if not worlds:
        return None
    counts = Counter((name, value) for world in worlds for name, value in world.items())
    found: Beliefs = {name: {} for name in people}
    for (name, value), count in counts.items():
        found[name][value] = Fraction(count, len(worlds))
    return found


def worst_beliefs(
    fits: Mapping[Name, Sequence[Any]],
    tuples: Sequence[Tuple],
    values: Mapping[Any, Sequence[Value]],
    most: int,
    *,
    in_table: Name | None = None,
) -> Beliefs:
    """The largest belief in every value of everybody, over all choices of corrupted people, at most so many, and
    whatever these had."""
    worlds = [world for world in group_worlds(fits, tuples, values) if _agrees(world, {}, in_table)]
    worst: Beliefs = {name: {} for name in fits}
    for n in range(most + 1):
        for corrupted in combinations(fits, n):
            by_answer: dict[Any, list[World]] = {}
            for world in worlds:
                by_answer.setdefault(tuple(world.get(name, ABSENT) for name in corrupted), []).append(world)
            for agreeing in by_answer.values():
                found = _counted(fits, agreeing)
                assert found is not None
                for name in fits:
                    if name not in corrupted:
                        for value, belief in found[name].items():
                            worst[name][value] = max(worst[name].get(value, Fraction(0)), belief)
    return worst


# --- minimality ------------------------------------------------------------------------------------------------------


def credibilities(
    people: Sequence[tuple[int, ...]],
    published: Hashable,
    values: Sequence[int],
    recode: Callable[[list[Row], list[int]], Iterator[tuple[Hashable, bool]]],
) -> Beliefs:
    """The share of the worlds with a minimal generalization that is the published one where a person has a value.

    Parameters
    ----------
    people
        The quasi-identifiers of everybody on the attacker's list.
    published
        What was published.
    values
        The multiset of sensitive values in the table.
    recode
        Gives everything that a table may be generalized to, with whether that is minimal (Definition 7).
    """
    worlds = []
    for present in combinations(range(len(people)), len(values)):
        for arranged in sorted(set(permutations(values))):
            rows: list[Row] = [(people[i], value) for i, value in zip(present, arranged, strict=True)]
            if any(minimal and release == published for release, minimal in recode(rows, list(present))):
                worlds.append(dict(zip(present, arranged, strict=True)))
    return _counted(dict.fromkeys(range(len(people))), worlds) or {}
