# SPDX-License-Identifier: Apache-2.0
"""Other columns: an attacker who knows other sensitive columns, and how often their values occur together.

Theorem J1 (docs/several-columns.md): where groups depend on each sensitive column by itself, and each is published
apart, knowing everybody's other columns tells nothing of this one, and neither does knowing how columns go together. An
attacker who knows both can use this inside a person's own group, and nowhere else: of the people of a group it is known
which values of the other columns they have, so that each of them has each value of this column with a chance of their
own, and the group's values are dealt to them accordingly (`glasshouse.population.deals`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.adversary.knowledge import key_of
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.reverse_engineering.worlds.worlds import World, Worlds, exact_weight
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import Column, code
from glasshouse.plural import counted
from glasshouse.population.deals import MOST_STATES, Deals
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task

__all__ = ["Beside", "columns_beside", "in_own_groups", "refuse_rows"]


def refuse_rows(task: Task) -> None:
    """Refuse a release that shows the sensitive columns of a person side by side: knowing one finds the row."""
    if not task.release.layout.columns_apart:
        raise NotSupported(
            f"the attack cannot use other sensitive columns to infer {task.contents.column!r} in this release, "
            "because each row already shows all sensitive columns",
            instead="publish with the recoding 'angel', 'anatomy' or 'permutation'; for few people reverse "
            "engineering tries every possible table",
        )


# --- every world ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Beside:
    """One way to fill the other sensitive columns, and how likely each value of this one goes with them."""

    columns: tuple[Column, ...]
    values: tuple[tuple[str, ...], ...]  # of the columns in ``weights``: the text of each person's value
    weights: tuple[Mapping[tuple[str, str], Fraction], ...]

    def weight(self, world: World) -> Fraction:
        """The prior probability of the world, by how often values occur together; 1 if that is not known."""
        return prod(
            (
                weights.get((key_of(value), own[row]), Fraction(0))
                for weights, own in zip(self.weights, self.values, strict=True)
                for row, value in zip(world.present, world.values, strict=True)
            ),
            start=Fraction(1),
        )


def columns_beside(task: Task, most: int) -> list[Beside]:
    """Every way to fill the other sensitive columns: one way for known columns, for others all that counts allow."""
    names = [name for name in task.release.recipe.sensitive if name != task.contents.column]
    if not names:
        return []
    people, n = task.knowledge.external, task.release.n_tuples + task.release.n_dropped
    if people.n_tuples != n:
        raise NotSupported(
            "with several sensitive columns, reverse engineering needs exactly the people of the published "
            "table, and the external table has other people too",
            instead="give an external table with exactly the people of the published table",
        )
    ways = [[people.column(name)] if name in task.knowledge.columns else _fillings(task, name, most) for name in names]
    if prod(map(len, ways)) > most:
        raise NotSupported(
            f"there are {prod(map(len, ways)):,} ways to fill the other sensitive columns, which are too many to try",
            instead="attack a table of fewer people",
        )
    joint = task.knowledge.joint
    read = {name: _weights(given) for name, given in joint.items()}
    texts = [[tuple(key_of(v) for v in own.domain.decode(own.codes).to_pylist()) for own in some] for some in ways]
    return [
        Beside(
            tuple(ways[c][i] for c, i in enumerate(chosen)),
            tuple(texts[c][i] for c, i in enumerate(chosen) if names[c] in joint),
            tuple(read[name] for name in names if name in joint),
        )
        for chosen in product(*(range(len(some)) for some in ways))
    ]


def _fillings(task: Task, name: str, most: int) -> list[Column]:
    """Every way to deal out a column's published values to people, of whom some may not be published."""
    published = Published.of(task.release, name)
    totals = np.bincount(published.codes, weights=published.counts, minlength=len(published.values))
    counts = {value: int(total) for value, total in zip(published.values, totals, strict=True)}
    n = task.knowledge.external.n_tuples
    worlds = Worlds(n_people=n, values=counts, n=n)
    worlds.check(most)
    return [code(pa.array(world.values), name=name, missing=None in world.values) for world in worlds]


def _weights(given: Mapping[tuple[Any, Any], Any]) -> dict[tuple[str, str], Fraction]:
    """How columns go together, by the texts of a value and of one of the other column."""
    return {(key_of(value), key_of(other)): exact_weight(weight) for (value, other), weight in given.items()}


# --- inside a person's own group --------------------------------------------------------------------------------------


def in_own_groups(task: Task) -> Posterior:
    """The probabilities from a person's own group, of which everybody's other columns are known, and what they tell."""
    published, people, kinds = task.contents, task.knowledge.external, task.kinds
    (seats, *others) = published.seats
    matches = task.fits(seats)
    group = np.full(kinds.n_kinds, -1)
    group[matches.of_match] = seats.group[matches.seats]
    one_group = (group[matches.of_match] == seats.group[matches.seats]).all()
    of_person = group[kinds.of_person]
    sizes = np.bincount(of_person[of_person >= 0], minlength=published.n_groups)
    if others or not one_group or not np.array_equal(sizes, published.sizes):
        raise NotSupported(
            "the attack can use other sensitive columns only if it is certain who is in which group",
            instead="give an external table with exactly the people of the published table, and a release with "
            "exact quasi-identifiers",
        )
    told = [name for name in task.knowledge.columns if name in task.knowledge.joint]
    classes, of_class = np.unique(
        np.stack([people.column(name).codes for name in told], axis=1), axis=0, return_inverse=True
    )
    chances = np.array([[float(weight) for weight in _chances(task, told, row)] for row in classes.tolist()])
    shown = np.flatnonzero(of_person >= 0)
    pairs, seat, n_alike = np.unique(
        of_person[shown] * len(classes) + of_class.reshape(-1)[shown], return_inverse=True, return_counts=True
    )
    deals = Deals.of(
        pairs // len(classes),
        pairs % len(classes),
        n_alike,
        (published.offsets, published.codes, published.counts),
    )
    expected, _ = deals.expected(chances)
    beliefs = Beliefs.joined(
        deals.seat_of_entry,
        deals.code_of_entry,
        expected / n_alike[deals.seat_of_entry],
        n_kinds=len(pairs) + 1,
        n_values=len(published.values),
    )
    kind = np.full(people.n_tuples, len(pairs))  # of people who are not published nothing is said here
    kind[shown] = seat.reshape(-1)
    presence = np.append(np.ones(len(pairs)), 0.0)
    states = np.multiply.reduceat(published.counts + 1.0, published.offsets[:-1])
    mixed = np.bincount(pairs // len(classes), minlength=published.n_groups) > 1
    rough = int(published.sizes[mixed & (states > MOST_STATES)].sum())
    notes = [
        f"the attacker knows {', '.join(told)} of everybody and how often its values occur together with those "
        f"of {published.column}, and uses this within a person's group"
    ]
    if rough:
        notes.append(
            f"for {counted(rough, 'person')} the probabilities are approximate, because their groups are too "
            "large to try all possibilities"
        )
    return task.posterior("mixture" if rough else "exact", kind, beliefs, presence, notes=notes)


def _chances(task: Task, told: list[str], codes: list[int]) -> list[Fraction]:
    """How likely each published value is for a person with these values of other columns."""
    people, joint = task.knowledge.external, task.knowledge.joint
    own = [
        key_of(people.column(name).domain.decode(np.array([c], np.int32))[0].as_py())
        for name, c in zip(told, codes, strict=True)
    ]
    read = [_weights(joint[name]) for name in told]
    found = [
        prod(
            (weights.get((key_of(value), text), Fraction(0)) for weights, text in zip(read, own, strict=True)),
            start=Fraction(1),
        )
        for value in task.contents.values
    ]
    if not sum(found):
        raise InputError(
            f"the joint frequencies (joint=) give the weight 0 to every published value for {', '.join(own)}: "
            "give at least one a weight above 0"
        )
    return [weight / sum(found) for weight in found]
