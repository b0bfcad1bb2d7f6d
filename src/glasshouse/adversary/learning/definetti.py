# SPDX-License-Identifier: Apache-2.0
"""DeFinetti: an attacker who learns from the whole release how sensitive values depend on attributes.

Kifer, "Attacks on Privacy and deFinetti's Theorem", SIGMOD 2009: thousands of groups together tell which values go with
which quasi-identifiers, and that tells in turn who of a group has which of its values.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.learning.cost import measured_cost
from glasshouse.adversary.learning.even_seating import evenly_seated
from glasshouse.adversary.learning.group_beliefs import group_beliefs
from glasshouse.adversary.learning.learned_posterior import LearnedPosterior
from glasshouse.adversary.learning.people_points import regression_of
from glasshouse.adversary.learning.sample_beliefs import sample_beliefs
from glasshouse.adversary.linking import Linking, Sitting
from glasshouse.adversary.risks.risk_attack import Scene, control_people, other_people
from glasshouse.adversary.task import Attack
from glasshouse.declarations import Declared
from glasshouse.errors import InputError, NotSupported
from glasshouse.population.learn import learned_from, too_little
from glasshouse.supports.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.learning.cost import Cost
    from glasshouse.adversary.learning.group_beliefs import LearnedBeliefs
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Microdata
    from glasshouse.population.population import Population
    from glasshouse.population.regression import Regression
    from glasshouse.release.contents import Seats

__all__ = ["DeFinetti"]

_SEED = 20090629


@dataclass(frozen=True, kw_only=True, slots=True)
class DeFinetti(Attack):
    """Learn from the release how the sensitive value depends on quasi-identifiers, and use that (Kifer 2009).

    Parameters
    ----------
    column
        The sensitive column, where the release has several.
    control
        People who are not in the release, read as the table was, with their sensitive values: what being in the table
        costs is measured against them. Without them it is measured against halves of the table.
    most_states
        As for `Linking`, which computes who may own which record from the cells.
    progress
        Is told how much of the work is done, from 0 to 1.

    Notes
    -----
    The model is that of `learn`: ``P(v | q)``, fitted to the release alone. Inside a group every assignment of its
    values to its people is weighted by the probabilities of all of them.

    *Exact quasi-identifiers* (anatomy, permutation): the probability is the person's share of the deals, exactly as the
    model has it. *Cells* (boxes, ANGEL's buckets): which record is the person's is weighed together with the value, by
    Bayes's rule; of other people only the cells are used, which is an approximation. See
    `glasshouse.adversary.learning.group_beliefs`. *Perturbed samples*: CORRUPTION Equations 9 to 19 with ``P(v | q)``
    as prior. Where an ANGEL release has several marginals, the one with most attributes is used.

    *Where nothing is learned*, because the release has fewer than 200 people, because its cells do not say which values
    they stand for, or because the model predicts groups that were set aside for testing no better than overall
    frequencies, the probabilities are those of `Linking`, and the result says so.

    *The cost of being in the table.* If the external table has the sensitive column, it must be the table that was
    published, and the probabilities are compared with it: a measurement by the publisher, as for `Inference`. The
    column is used for nothing else. See `glasshouse.adversary.learning.cost`.

    Examples
    --------
    Everybody from the north has a cold or asthma, everybody from the south flu or an ulcer, and every group has one of
    either: the groups alone tell 1/2.

    >>> import glasshouse as gh
    >>> rows = {"from": ["north", "south"] * 200, "ill": ["cold", "flu", "asthma", "ulcer"] * 100}
    >>> table = gh.read(rows, quasi=["from"], sensitive="ill")
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Anatomize(), recoding=gh.Anatomy(),
    ...                      source=gh.Source.seeded(1))
    >>> found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table))
    >>> found.model, sum(found.of(0)[value] for value in ("cold", "asthma")) > 0.95
    ('learned', True)
    """

    name: ClassVar[str] = "definetti"
    takes_values: ClassVar[bool] = True

    column: str | None = None
    control: Microdata | None = None
    most_states: int = 1_000_000
    progress: Callable[[float], None] | None = None

    def believe(self, task: Task) -> LearnedPosterior:
        """Learn from the release, and compute the probabilities for everybody."""
        if task.knowledge.corrupted or task.knowledge.prior is not None:
            raise NotSupported(
                "the attack definetti does not use people whose values are known (corrupted=) or a prior",
                instead="leave them out: the attack learns the prior probabilities from the release",
            )
        if self.control is not None and self._true_values(task) is None:
            raise InputError(
                "control people are compared with the people of the table by their true values: the external "
                "table must be the table that was published, with its sensitive column "
                f"{task.contents.column!r}"
            )
        seats = task.contents.widest
        population, why_not = self._learned(task, seats)
        if population is None:
            return _labelled(Linking(column=self.column).believe(task), "none", why_not, None)
        people = regression_of(population, task.knowledge.external, task.kinds.examples)
        reasoning = _Reasoning.of(task, seats, people, self.most_states)
        found = reasoning.beliefs(population)
        believed = reasoning.posterior(population, found)
        if not population.fitted.is_used:  # the same numbers, by linking's own way to count
            believed = Linking(column=self.column, most_states=self.most_states).believe(task)
        cost, notes = self._cost(population, reasoning, found, believed)
        model, learning = ("learned" if population.fitted.is_used else "none"), _learning(population)
        return _labelled(replace(believed, notes=(*believed.notes, *notes)), model, learning, cost)

    def _learned(self, task: Task, seats: Seats) -> tuple[Population | None, str]:
        """The model; or None, and why there is none."""
        columns = [column for column in task.knowledge.external.quasi if column.name in seats.quasi]
        known = Declared.carried_by(task.release)
        trees = {c.name: c.domain.tree for c in columns if c.domain.tree is not None and c.name in known.untold}
        orders = {
            c.name: list(c.domain.declared_order)
            for c in columns
            if c.domain.declared_order is not None and c.name in known.unordered
        }
        try:
            evidence = Evidence(release=task.release, taxonomies=trees, ordered=orders)
            population = learned_from(evidence, task.contents, seats, lambda share: self._tell(0.6 * share))
        except InputError as error:
            return None, f"Nothing was learned, and the probabilities are those of linking: {error}"
        if population is None:
            why = too_little(task.contents, seats)
            return None, f"Nothing was learned, and the probabilities are those of linking: {why}"
        return population, ""

    def _cost(
        self, population: Population, reasoning: _Reasoning, found: LearnedBeliefs, believed: Posterior
    ) -> tuple[Cost | None, list[str]]:
        """What being in the table costs, if the true values are there, and what to know of it."""
        task = reasoning.task
        table = self._true_values(task)
        if table is None:
            return None, []
        control = None if self.control is None else control_people(self.control, task.release, task.knowledge)
        scene = Scene(release=task.release, contents=task.contents, table=table)
        in_first = np.full((task.kinds.n_kinds, len(population.values)), 0.5)
        owner, codes = found.beliefs.owner, found.beliefs.codes
        some = found.beliefs.beliefs > 0
        in_first[owner[some], codes[some]] = np.clip(found.in_half[some] / found.beliefs.beliefs[some], 0.0, 1.0)
        nothing = replace(population.fitted, weights=np.zeros(population.regression.shape))
        unlearned = replace(population, fitted=nothing)
        cost = measured_cost(
            scene,
            believed,
            reasoning.posterior(unlearned, reasoning.beliefs(unlearned)),
            population,
            reasoning.people,
            task.kinds,
            control,
            (reasoning.half(population), in_first),
            lambda share: self._tell(0.6 + 0.4 * share),
        )
        return cost, other_people(scene)

    @staticmethod
    def _true_values(task: Task) -> Microdata | None:
        """The external table, if it holds the sensitive column."""
        table = task.knowledge.external
        return table if any(column.name == task.contents.column for column in table.sensitive) else None

    def _tell(self, share: float) -> None:
        if self.progress is not None:
            self.progress(share)


@dataclass(frozen=True, eq=False)
class _Reasoning:
    """What the probabilities follow from, for any model: who may sit where, and everybody's quasi-identifiers."""

    task: Task
    seats: Seats
    people: Regression  # the model at every kind of people
    sitting: Sitting | None  # None of a perturbed sample

    @classmethod
    def of(cls, task: Task, seats: Seats, people: Regression, most_states: int) -> _Reasoning:
        if task.contents.kind == "sample":
            return cls(task, seats, people, None)
        sitting = Sitting.of(task, seats, most_states=most_states)
        return cls(task, seats, people, evenly_seated(sitting, seats, task.kinds.n_alike))

    def half(self, population: Population) -> NDArray[np.bool_]:
        """Half of the groups, chosen at random with a fixed seed, so that it is always the same half."""
        return np.random.Generator(np.random.PCG64(_SEED)).random(population.seen.n_groups) < 0.5

    def beliefs(self, population: Population) -> LearnedBeliefs:
        """The probabilities for everybody who is published."""
        chances, half = self.people.at_points(population.fitted.weights), self.half(population)
        if self.sitting is None:
            return sample_beliefs(self.task, self.seats, population, chances, half)
        return group_beliefs(self.task, self.seats, self.sitting, population, chances, half)

    def posterior(self, population: Population, found: LearnedBeliefs) -> Posterior:
        """The same, with people who may have been dropped."""
        chances, n = self.people.at_points(population.fitted.weights), len(self.task.contents.seats)

        def because(kind: int, code: int) -> str:
            return (
                "all groups of the release together give a person with these quasi-identifiers a probability of "
                f"{chances[kind, code]:.4f} for this value, also if the person is not in the table; the values of the "
                "groups that fit the person change it to the probability shown"
            )

        widest = (
            [f"the release has {n} generalized tables; the attack uses the one with the most attributes"]
            if n > 1
            else []
        )
        believed = self.task.posterior(
            "learned",
            self.task.kinds.of_person,
            found.beliefs,
            found.presence,
            values=population.values,
            because=because,
            notes=[*found.notes, *widest],
        )
        return believed if self.sitting is None else count_dropped(believed, self.task)


def _learning(population: Population) -> str:
    """A sentence that says what was learned."""
    z = population.fitted.z
    if not population.fitted.is_used:
        return (
            "The model that was learned from the release is not used. It must predict groups that were set aside for "
            "testing better than the overall frequencies of the values do, by at least 2 standard errors. It is "
            f"{population.fitted.standard_errors}. The probabilities are those of linking."
        )
    return (
        "The model was learned from the release alone. It predicts groups that were set aside for testing "
        f"better than the overall frequencies of the values do, by {z:.1f} standard errors."
    )


def _labelled(found: Posterior, model: str, learning: str, cost: Cost | None) -> LearnedPosterior:
    own: dict[str, Any] = {field.name: getattr(found, field.name) for field in fields(found)}
    own["attack"] = DeFinetti.name
    return LearnedPosterior(**own, model=model, learning=learning, cost=cost)
