# SPDX-License-Identifier: Apache-2.0
"""What the cuts that a dividing algorithm did not make reveal: Mondrian, even splits and Symmetric Grouping.

The tree of decisions is rebuilt (`cut_tree`); worlds in which a cut that was not made would have been safe are ruled
out (`failed_cuts`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.reverse_engineering.cuts.cut_failures import Believing
from glasshouse.adversary.reverse_engineering.cuts.cut_tree import METHODS, DecisionTree, tells_ties
from glasshouse.adversary.reverse_engineering.cuts.cut_walk import ISLANDS
from glasshouse.adversary.reverse_engineering.strategies import SMALL, Strategy, reversing
from glasshouse.errors import NotSupported
from glasshouse.plural import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.reverse_engineering.cuts.cut_failures import CutBeliefs
    from glasshouse.adversary.reverse_engineering.cuts.cut_tree import TriedCuts
    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Domain

__all__ = ["CutsNotMade"]


@dataclass(frozen=True, kw_only=True)
class CutsNotMade(Strategy):
    """Believe what follows for everybody in the table from knowing that it was divided by cuts.

    Everybody in the table must be on the attacker's list, and nobody else.

    Groups that failed cuts couple are counted exactly if that takes ``most_states`` at most. Others are drawn
    independently, if ``most_draws`` worlds are enough, and else left to Markov chains, which may make ``most_moves`` in
    all; of people whom they do not settle then, nothing is said, and if these are all people, it is refused. With an
    ``error`` of 0 nothing is sampled.

    Examples
    --------
    Five people on a line; strict Mondrian gives the third away:

    >>> import warnings
    >>> import glasshouse as gh
    >>> people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    >>> table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    >>> steps = gh.LDiversity(ell=2), gh.Mondrian(), gh.Boxes()
    >>> with warnings.catch_warnings(action="ignore"):
    ...     release = gh.publish(table, principle=steps[0], method=steps[1], recoding=steps[2])
    >>> knowledge = gh.Knowledge(external=gh.read(people, quasi=["x", "y"]))
    >>> found = CutsNotMade().attack(release, knowledge, steps)
    >>> found.of(2)["a"], found.because(found.kind[2], 0)
    (1.0, 'the cut between x 2 and 3 was rejected: one of its parts would have contained too many records with one \
value')
    """

    methods = METHODS

    most_states: int = 50_000
    most_draws: int = 1_000_000
    most_moves: int = 10_000_000  # some seconds

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: the list must be the people in the table, any of whom may have any value before."""
        if len(task.release.recipe.sensitive) > 1:
            return NotSupported(f"{reversing(task)} does not support several sensitive columns", instead=SMALL)
        if task.release.sets:
            return NotSupported(
                f"{reversing(task)} does not support sensitive columns whose cells contain sets of values",
                instead=SMALL,
            )
        if task.release.n_dropped:
            return NotSupported(f"{reversing(task)} does not support a release that left records out", instead=SMALL)
        n, n_people = int(task.contents.sizes.sum()), task.knowledge.external.n_tuples
        if n_people != n:
            return NotSupported(
                f"{reversing(task)} needs exactly the people of the published table: the release has "
                f"{counted(n, 'record')} and the external table {counted(n_people, 'person')}",
                instead="give an external table with exactly the people of the published table, or use linking",
            )
        if task.knowledge.is_personal:
            return NotSupported(f"{reversing(task)} does not use a prior for single people", instead=SMALL)
        if any(value is ABSENT for value in task.knowledge.corrupted.values()):
            return NotSupported(
                f"{reversing(task)} needs exactly the people of the published table, and somebody is given as ABSENT",
                instead="leave people who are not in the table out of the external table",
            )
        return super().refuses(task)

    def believe(self, task: Task) -> Posterior:
        """Rebuild the tree, and count the worlds in which every cut that was not made fails."""
        cuts = DecisionTree(task).rebuilt()
        beliefs = Believing(cuts, self).run()
        if beliefs.n_refused == np.count_nonzero(cuts.fixed < 0) > 0:
            raise NotSupported(
                f"sampling did not reach an error of {self.error:g} for anybody: the rejected cuts link the values of "
                "too many people",
                instead=f"allow a larger error (error=, --error), or {SMALL}",
            )
        return _posterior(task, cuts, beliefs)


# --- the resulting probabilities ------------------------------------------------------------------------------------


def _posterior(task: Task, cuts: TriedCuts, beliefs: CutBeliefs) -> Posterior:
    kind, own = beliefs.kind, beliefs.of
    example = np.empty(len(own.offsets) - 1, np.int64)
    example[kind[::-1]] = np.arange(len(kind))[::-1]
    if tells_ties(task):
        kind, example, own = _averaged(task, cuts, beliefs)
    notes = [
        f"the method tried {counted(cuts.n_cuts, 'further division')} of groups (cuts) and rejected "
        f"{'it' if cuts.n_cuts == 1 else 'them'}. This reveals something about {counted(beliefs.n_components, 'set')} "
        f"of groups; {counted(beliefs.n_coupled, 'of these sets has', 'of these sets have')} several groups",
    ]
    if beliefs.n_sampled:
        notes.append(
            f"{counted(beliefs.n_sampled, 'set of groups has', 'sets of groups have')} too many possible tables to "
            "count; the probabilities were estimated by sampling"
        )
    if beliefs.n_walked:
        notes.append(ISLANDS)
    if beliefs.n_refused:
        notes.append(
            f"there is no result for {counted(beliefs.n_refused, 'person')}, whose values cannot be considered "
            "separately from those of many others: sampling did not reach the error that was asked for. Allow a larger "
            "error (error=, --error), or publish a smaller table in the same way, and attack it"
        )
    if task.knowledge.prior is not None:
        notes.append("the prior changes nothing: all possible tables have the same sensitive values")
    return task.posterior(
        "sampled" if beliefs.n_sampled else "exact",
        kind,
        own if beliefs.n_sampled else replace(own, errors=None),
        np.ones(len(example)),
        because=_Because(task, cuts, example),
        notes=notes,
    )


def _averaged(task: Task, cuts: TriedCuts, beliefs: CutBeliefs) -> tuple[NDArray[np.int64], NDArray[np.int64], Beliefs]:
    """Average over people with equal values whom a secret order separated: each of them may be any of them."""
    kinds, known = task.kinds, np.flatnonzero(cuts.fixed >= 0)
    place = beliefs.kind.copy()
    place[known] = -1  # of others
    for kind in np.unique(kinds.of_person[known]).tolist():
        alike_people = np.flatnonzero(kinds.of_person == kind)
        others = alike_people[cuts.fixed[alike_people] < 0]
        if len(np.unique(cuts.group[alike_people])) > 1 or len(np.unique(place[others])) > 1:
            raise NotSupported(
                f"{reversing(task)} does not support a known value (corrupted=) of a person who has the same "
                "quasi-identifiers as people in other groups, because a secret order decided who is in which group",
                instead="leave this person out of the people with known values",
            )
    own, given = kinds.of_person.copy(), beliefs.of
    assert given.errors is not None
    own[known] = kinds.n_kinds + np.arange(len(known))
    distinct, example, merged = np.unique(own, return_index=True, return_inverse=True)
    merged = merged.reshape(-1).astype(np.int64)
    n_before = len(given.offsets) - 1
    pairs, times = np.unique(merged * n_before + beliefs.kind, return_counts=True)
    new, old = pairs // n_before, pairs % n_before
    weight = times / np.bincount(merged)[new]
    pair, entry = entries_of(given.offsets, old)

    def average(numbers: NDArray[np.float64]) -> Beliefs:
        weights = weight[pair] * numbers[entry]
        return Beliefs.joined(new[pair], given.codes[entry], weights, n_kinds=len(distinct), n_values=cuts.n_values)

    return merged, example, replace(average(given.beliefs), errors=average(given.errors).beliefs)


@dataclass(frozen=True, eq=False)
class _Because:
    """Explains the probability of a value for a kind of people, in terms of public values only."""

    task: Task
    cuts: TriedCuts
    example: NDArray[np.int64]

    def __call__(self, kind: int, code: int) -> str:
        person = int(self.example[kind])
        if self.cuts.fixed[person] >= 0:
            return "the attacker already knows this value"
        group = int(self.cuts.group[person])
        best = int(self._smallest[group])
        if best < 0:
            published = self.task.contents
            own = slice(published.offsets[group], published.offsets[group + 1])
            here = published.counts[own][published.codes[own] == code].sum()
            have = "has" if here == 1 else "have"
            return f"{here:,} of {counted(published.sizes[group], 'record')} of the group {have} the value"
        return f"{self._cut(best)} was rejected: one of its parts would have contained too many records with one value"

    @cached_property
    def _smallest(self) -> NDArray[np.int64]:
        """For every group the cut of the fewest people that would have divided it; -1 if there is none."""
        cuts, sides = self.cuts, []
        n_left, n_right = np.diff(cuts.left_offsets), np.diff(cuts.right_offsets)
        for people, sizes in ((cuts.left, n_left), (cuts.right, n_right)):
            number = np.repeat(np.arange(cuts.n_cuts), sizes)
            sides.append(np.unique(number * cuts.n_groups + cuts.group[people]))
        number, group = np.divmod(np.intersect1d(sides[0], sides[1]), cuts.n_groups)
        order = np.lexsort((number, n_left[number] + n_right[number]))[::-1]
        found = np.full(cuts.n_groups, -1)
        found[group[order]] = number[order]
        return found

    def _cut(self, cut: int) -> str:
        left, right = self.cuts.parts(cut)
        dim = int(self.cuts.dims[cut])
        if dim < 0:
            return (
                f"the cut after the first {len(left):,} of {len(left) + len(right):,} people in the order of the method"
            )
        domain = self.task.people.quasi[dim].domain
        low, high = (self._text(domain, int(end[cut])) for end in (self.cuts.low, self.cuts.high))
        if low == high:
            return f"the cut of {len(left) + len(right):,} people into halves at {domain.name} {low}"
        return f"the cut between {domain.name} {low} and {high}"

    def _text(self, domain: Domain, code: int) -> str:
        return "missing" if code == domain.missing_code else str(domain.texts[code])
