# SPDX-License-Identifier: Apache-2.0
"""Group probabilities: the probabilities for people in groups, if the chances of everybody's values are known.

Say P(v | q) is the chance that a person with the quasi-identifiers q has the value v, and P(v | place) the same of
people of whom nothing is known but the cells of their place: the mixture of those who may be there. A group's values
are dealt to its seats; r_s(v) of the n_s people of seat s are expected to have v, over all ways to deal them, each
weighted by the product of its chances (`glasshouse.population.deals`).

*Where quasi-identifiers are published exactly*, a person's probability of v is r_s(v) / n_s, averaged over the records
with these quasi-identifiers.

*Where cells are published*, two things are unknown: on which of the seats that cover the person the person sits, and
which value is theirs. Linking says how likely the person sits on seat s as far as cells tell: w_s (where the ways to
sit are too many to be counted, `glasshouse.adversary.learning.even_seating` does). If it is known that a person with q
sits there, the chance of this one person is P(v | q) in place of P(v | place_s); every deal in which the person has v
then weighs P(v | q) / P(v | place_s) times as much as before. So the weight of "sits on s, and has v" is ::

    w_s  *  r_s(v) / n_s  *  P(v | q) / P(v | place_s)

and that of not being in the table at all is 1 minus the sum of the w_s. Divided by their sum, these are the
probabilities. It is Bayes's rule for one person, exactly. What is approximate is that other people are taken for people
of whom nothing is known but their cells, although the attacker has them on the list too, and that P(v | place) is a
mixture over some points that stand for all of the cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.population.observations import Grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.linking import Sitting
    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.task import Task
    from glasshouse.population.deals import Deals
    from glasshouse.population.population import Population
    from glasshouse.release.contents import Seats

__all__ = ["LEAST", "LearnedBeliefs", "Seating", "dealt_beliefs", "group_beliefs"]

_AT_ONCE: Final = 1 << 21  # entries that are gone through at once
LEAST: Final = 1e-12
"""Probabilities that differ by less than this count as equal."""


class LearnedBeliefs(NamedTuple):
    """The probabilities for every kind of people, and how likely they are in the table."""

    beliefs: Beliefs
    presence: NDArray[np.float64]
    in_half: NDArray[np.float64]  # the part of each probability that comes of groups of the chosen half
    notes: tuple[str, ...]


class Seating(NamedTuple):
    """Who may sit where: as `Sitting` says, or as something that tells more than the cells does."""

    group: NDArray[np.integer]  # of every seat
    matches: Matches  # the seats of every kind of people
    weight: NDArray[np.float64]  # of every match: how likely a person of the kind sits there
    presence: NDArray[np.float64]  # of every kind: how likely such a person sits anywhere


def group_beliefs(
    task: Task,
    seats: Seats,
    sitting: Sitting,
    population: Population,
    chances: NDArray[np.float64],
    half: NDArray[np.bool_],
) -> LearnedBeliefs:
    """Believe by the model inside the groups; ``chances`` are P(v | q) of every kind of people.

    ``sitting`` is how likely they sit where by the cells alone. ``half`` says of every group whether it is in the half
    of which ``in_half`` tells.
    """
    assert isinstance(population.seen, Grouped)
    deals = population.seen.deals
    at_places = np.maximum(population.regression.chances(population.fitted.weights), LEAST)
    expected, _ = deals.expected(at_places)
    seating = Seating(seats.group, sitting.matches, sitting.weight, sitting.presence)
    beliefs, presence, in_half = dealt_beliefs(seating, deals, at_places, expected, chances, half)
    return LearnedBeliefs(beliefs, presence, in_half, tuple(sitting.notes(task.kinds.n_alike)))


def dealt_beliefs(
    seating: Seating,
    deals: Deals,
    at_places: NDArray[np.float64],
    expected: NDArray[np.float64],
    chances: NDArray[np.float64],
    half: NDArray[np.bool_],
) -> tuple[Beliefs, NDArray[np.float64], NDArray[np.float64]]:
    """The probabilities for every kind of people, how likely they are in the table, and the part of it in the half.

    ``expected`` is how many people of every seat are expected to have each of its group's values, as `Deals.expected`
    gives it, if people at a place have the chances ``at_places``; ``chances`` are those of the kinds.
    """
    n_kinds = len(chances)
    found = list(_by_chunks(seating, deals, at_places, expected, chances, half))
    offsets = np.concatenate([np.zeros(1, np.int64), *(own.offsets[1:] for own, _ in found)])
    starts = np.cumsum([0, *(len(own.codes) for own, _ in found)])
    n_each = [len(own.offsets) - 1 for own, _ in found]
    offsets[1:] += np.repeat(starts[:-1], n_each)
    weights = np.concatenate([np.empty(0), *(own.beliefs for own, _ in found)])
    in_half = np.concatenate([np.empty(0), *(inside for _, inside in found)])
    joined = Beliefs(offsets, np.concatenate([np.empty(0, np.int32), *(own.codes for own, _ in found)]), weights)
    total = np.bincount(joined.owner, weights=weights, minlength=n_kinds)
    absent = np.where(total > 0, 1 - np.minimum(seating.presence, 1.0), 1.0)
    scale = (1 / (total + absent))[joined.owner]
    beliefs = Beliefs(joined.offsets, joined.codes, weights * scale)
    presence = np.where(absent > 1e-12, total / (total + absent), np.where(total > 0, 1.0, 0.0))
    return beliefs, presence, in_half * scale


def _by_chunks(
    seating: Seating,
    deals: Deals,
    at_places: NDArray[np.float64],
    expected: NDArray[np.float64],
    chances: NDArray[np.float64],
    half: NDArray[np.bool_],
) -> Iterator[tuple[Beliefs, NDArray[np.float64]]]:
    """The weight of every value for kinds of people, some kinds at a time, and the part of it in the chosen half."""
    matches = seating.matches
    people = deals.people[deals.seat_of_entry]
    factor = expected / (people * at_places[deals.place_of_entry, deals.code_of_entry])
    width = np.diff(deals.offsets)[deals.group]
    starts = np.append(0, np.cumsum(width))  # the first entry of every seat, in the order of groups
    of_seat = np.empty(len(seating.group), np.int64)
    of_seat[np.argsort(seating.group, kind="stable")] = np.arange(len(seating.group))
    n_entries = np.append(0, np.cumsum(width[of_seat[matches.seats]]))[matches.offsets]
    first, n_kinds = 0, len(chances)
    while first < n_kinds:
        last = int(np.searchsorted(n_entries, n_entries[first] + _AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), n_kinds)
        some = slice(int(matches.offsets[first]), int(matches.offsets[last]))
        of_match, entry = entries_of(starts, of_seat[matches.seats[some]])
        kind = np.repeat(np.arange(first, last), np.diff(matches.offsets[first : last + 1]))[of_match]
        code = deals.code_of_entry[entry]
        mass = seating.weight[some][of_match] * factor[entry] * np.maximum(chances[kind, code], LEAST)
        inside = mass * half[deals.group_of_entry[entry]]
        own = Beliefs.joined(kind - first, code, mass, n_kinds=last - first, n_values=chances.shape[1])
        part = Beliefs.joined(kind - first, code, inside, n_kinds=last - first, n_values=chances.shape[1])
        yield own, part.beliefs
        first = last
