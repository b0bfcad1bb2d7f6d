# SPDX-License-Identifier: Apache-2.0
"""Hint: an attacker who knows a little about the population, the algorithm, and everybody's quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.foreign_groups import restated
from glasshouse.adversary.hint.hint_cost import HintCost, hint_cost
from glasshouse.adversary.hint.hint_posterior import HintPosterior
from glasshouse.adversary.hint.seating import SeatedPeople
from glasshouse.adversary.hint.signs import Hinted, Sign, read_signs
from glasshouse.adversary.hint.slices import MOST_COLUMNS, bucket_beliefs, ties_of
from glasshouse.adversary.learning.cost import dense_beliefs
from glasshouse.adversary.learning.group_beliefs import dealt_beliefs
from glasshouse.adversary.posterior import entries_of
from glasshouse.adversary.reverse_engineering.strategies import believed
from glasshouse.adversary.reverse_engineering.worlds.every_world import EveryWorld
from glasshouse.adversary.risks.risk_attack import Scene
from glasshouse.adversary.risks.true_values import true_values
from glasshouse.adversary.task import Attack
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.plural import counted
from glasshouse.release.contents import Published
from glasshouse.release.layout import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Beliefs, Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.population.deals import Deals

    Floats = NDArray[np.float64]

__all__ = ["Hint"]

_UNTOLD: Final = {
    "half-groups": "what is learned about one group says a little about others in the same part of the table",
    "faces": "what is learned about one person says a little about others in the same part of the table",
    "buckets": "what is learned about one group says something about others from the same set of people (bucket)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint(Attack):
    """Attack with a little knowledge about the population; the evidence of all groups of a release is combined.

    Parameters
    ----------
    signs
        What is known: for each an attribute, a sensitive value, and whether a larger attribute goes with the value
        (``+1``) or a smaller one does (``-1``). ``("income", "B", +1)``, or as text ``"income:B:+"``. A category is
        named with its attribute: ``("sex=F", "B", +1)``. Prior probabilities for single people can be given as
        ``Knowledge(prior=...)`` instead, or as well.
    strength
        How much a sign says: log-odds for each standard deviation of the attribute. The default, 0.1, is weak: a value
        that half of all people have gets the probability 52.5 % for a person one standard deviation above the mean.
    column
        The sensitive column, where the release has several.
    most_worlds, most_runs
        As for `ReverseEngineering`: up to these numbers every possible table (world) is tried.
    most_states
        As for `Linking`, which computes who may own which record from the cells; not used for boxes, where the ends of
        intervals reveal more.
    progress
        Called with a share of the work between 0 and 1, now and then, where every world is tried.

    Notes
    -----
    A possible table (world) has the weight of its prior probability, people being independent, times the probability
    that the algorithm makes this release from it. The attacker also knows how often values occur, as the release shows
    it. People with equal quasi-identifiers are treated alike, with the mean of their prior probabilities.

    *Small tables* are attacked exactly, by trying every world. *Larger ones* by what is known of the method.
    `Anatomize`, `Tailor` and `Mirror` where no test can fail: worlds are a product over groups, and every way to deal a
    group's values weighs the product of the chances of its people. `Mirror` where tests can fail: the same, but what
    failed tests say is left out, and it is noted. `Ace`, `Hybrid` and `Mirror(inner="ace")`: the worlds of a bucket are
    few, and evidence adds up over its groups. Groups with the same set of values are taken for one bucket, in which
    cuts are looked for; see `glasshouse.adversary.hint.slices`. With one attribute that is exact, with several an
    approximation. Groups with more than six people, or with a value twice, are gone through one by one. Other methods
    are refused.

    *Boxes*: of groups whose people the ends of boxes give away all this is known as if quasi-identifiers were
    published. Of other people it is weighed on which seat they may sit, as `DeFinetti` does.

    *How often guesses are right* is counted if the external table has the sensitive column: a measurement from the
    inside. See `glasshouse.adversary.hint.hint_cost`.

    Examples
    --------
    Eighty people, every second with B, who earn a bit more. Ace makes groups of neighbours in income.

    >>> import glasshouse as gh
    >>> rows = {"income": [i + 1.5 * (i % 2) for i in range(80)], "s": ["A", "B"] * 40}
    >>> table = gh.read(rows, quasi=["income"], sensitive="s")
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Ace(), recoding=gh.Anatomy(),
    ...                      source=gh.Source.seeded(1))
    >>> found = gh.attack(release, gh.Hint(signs=[("income", "B", +1)]), knowledge=gh.Knowledge(external=table))
    >>> found.how, found.cost.in_table.right, found.cost.outsider.right
    ('by bucket', 1.0, 0.525)
    """

    name: ClassVar[str] = "hint"
    runs_method: ClassVar[bool] = True
    needs_algorithm: ClassVar[bool] = True
    takes_values: ClassVar[bool] = True

    signs: Iterable[Any] = ()
    strength: float = 0.1
    column: str | None = None
    most_worlds: int = 5_000
    most_runs: int = 50_000
    most_states: int = 1_000_000
    progress: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "signs", read_signs(self.signs))
        if isinstance(self.strength, bool) or not isinstance(self.strength, int | float):
            raise ParameterError("Hint", "strength", "a number above 0", self.strength)
        if not (isfinite(self.strength) and self.strength > 0):
            raise ParameterError("Hint", "strength", "a number above 0", self.strength)

    def believe(self, task: Task) -> HintPosterior:
        """Compute the probabilities for everybody from the hint and the release."""
        if not self.signs and task.knowledge.prior is None:
            raise InputError(
                "the attack hint needs a hint: give signs, such as Hint(signs=[('income', 'B', +1)]) or "
                "--sign income:B:+, or a prior, Knowledge(prior=...) or --prior"
            )
        if task.contents.kind == "sample":
            raise NotSupported(
                "the attack hint does not support a perturbed sample", instead="use linking, or corruption with a prior"
            )
        if task.release.layout is FOREIGN:
            release = restated(task)
            task = replace(task, release=release, contents=Published.of(release))
        reasoning = _Reasoning(self, task, Hinted.of(task, tuple(self.signs), self.strength))
        if task.independent == "groups" and not task.knowledge.corrupted:
            dealt = reasoning.dealt()
            return dealt if dealt.how == "exact" else reasoning.tried() or dealt
        return reasoning.tried() or reasoning.dealt()


@dataclass(frozen=True, eq=False)
class _Reasoning:
    """Computes the probabilities from an attack, what it is given, and the prior probabilities."""

    attack: Hint
    task: Task
    hinted: Hinted

    def tried(self) -> HintPosterior | None:
        """The probabilities from trying every possible table (world); None if there are too many."""
        task, own = self.task, self.attack
        if task.release.n_dropped:
            return None
        prior = self.hinted.in_the_release(task)
        weighed = replace(task, knowledge=replace(task.knowledge, prior=prior))
        way = EveryWorld(most_worlds=own.most_worlds, most_runs=own.most_runs, progress=own.progress)
        try:
            found = believed([way], weighed)
        except NotSupported:
            if task.knowledge.corrupted:
                raise
            return None
        return self._labelled(replace(found, knowledge=task.knowledge), "exact", (), None, None)

    def dealt(self) -> HintPosterior:
        """The probabilities from what is known of the method."""
        task = self.task
        if task.knowledge.corrupted:
            raise NotSupported(
                "the attack hint supports people whose values are known (corrupted=) only on small tables",
                instead="attack a table of few people",
            )
        over = task.independent
        if over == "none":
            raise NotSupported(
                f"the attack hint cannot analyse {counted(task.release.n_tuples, 'record')} grouped by "
                f"{task.method!r}: for "
                "this method it is not known which parts of the table are divided independently of the other parts",
                instead="attack a table of few people, or raise the limit (most_worlds=, in Python): small tables are "
                "attacked by trying every possible table",
            )
        if not task.contents.seats:
            raise NotSupported(
                "the attack hint needs a published table that links quasi-identifiers to sensitive values, "
                "and this release has none",
                instead="an attacker learns nothing about single people from it",
            )
        seats = max(task.contents.seats, key=lambda one: len(one.quasi))
        seated = SeatedPeople.of(task, seats, most_states=self.attack.most_states)
        deals, n_tied = seated.deals(task), 0
        at_places = seated.at_places(self.hinted.kinds, self.hinted.base)
        expected, _ = deals.expected(at_places)
        by_group = self._beliefs(seated, deals, expected, at_places)
        in_table = by_group
        if over == "buckets":
            expected, n_tied = self._with_buckets(seated, deals, expected)
            in_table = self._beliefs(seated, deals, expected, at_places) if n_tied else by_group
        beliefs, presence = in_table
        n = len(task.contents.seats)
        notes = [
            *seated.notes,
            *(
                [f"the release has {n} generalized tables; the attack uses the one with the most attributes"]
                if n > 1
                else []
            ),
        ]
        if over != "groups":
            notes.append(_untold(over, n_tied, task.contents.n_groups))
        how = "exact" if over == "groups" else "by bucket" if n_tied else "by group"
        mixed = "" if (seated.kind >= 0).all() else "mixture" if how == "exact" else f"{how}, mixture"
        found = task.posterior(mixed or how, task.kinds.of_person, beliefs, presence, because=self._because)
        found = count_dropped(found, task)
        return self._labelled(found, found.how, notes, self._dense(by_group[0]), seated)

    def _beliefs(
        self, seated: SeatedPeople, deals: Deals, expected: Floats, at_places: Floats
    ) -> tuple[Beliefs, Floats]:
        half = np.zeros(deals.n_groups, bool)
        found = dealt_beliefs(seated.seating, deals, at_places, expected, self.hinted.kinds, half)
        return found[0], found[1]

    def _dense(self, beliefs: Beliefs) -> Floats:
        """Probabilities as a table of kinds of people and values."""
        found = np.zeros(self.hinted.kinds.shape)
        found[beliefs.owner, beliefs.codes] = beliefs.beliefs
        return found

    def _because(self, kind: int, code: int) -> str:
        chance = self.hinted.kinds[kind, code]
        return (
            f"the hint alone gives a person with these quasi-identifiers a probability of {chance:.4f} for "
            "this value; the values of the groups that fit the person, and of the groups connected with them, "
            "change it to the probability shown"
        )

    def _with_buckets(self, seated: SeatedPeople, deals: Deals, expected: Floats) -> tuple[Floats, int]:
        """The numbers that are expected if the evidence of tied groups is added up; and how many groups are tied."""
        task = self.task
        columns = [task.knowledge.external.column(name) for name in task.release.recipe.quasi]
        if getattr(task.method, "penalty", None) == "discernibility":  # which cuts along the first attribute alone
            columns = columns[:1]
        codes = np.stack([column.codes[task.kinds.examples] for column in columns], axis=1).astype(np.int64)
        places = [column.domain.positions for column in columns]
        widths = [float(np.ptp(place)) if len(place) else 0.0 for place in places]
        places = [place / (width or 1.0) for place, width in zip(places, widths, strict=True)]
        kind = seated.kind[seated.in_order]
        expected, n_tied = expected.copy(), 0
        for values, groups in _buckets(deals, kind).items():
            _, seat = entries_of(deals.seats, groups)
            people = np.repeat(seat, deals.people[seat]).reshape(len(groups), len(values))
            own = codes[kind[people]]
            ties = ties_of(own, places)
            if not ties:
                continue
            chances = self.hinted.kinds[kind[people]][:, :, list(values)]
            found = bucket_beliefs(own, chances, ties)
            starts = np.append(0, np.cumsum(np.diff(deals.offsets)[deals.group]))  # of every seat, its entries
            entry = starts[people][:, :, np.newaxis] + np.arange(len(values))
            expected[np.unique(entry)] = 0.0
            np.add.at(expected, entry.reshape(-1), found.reshape(-1))
            n_tied += len({group for tie in ties for group in tie[:2]})
        return expected, n_tied

    def _labelled(
        self,
        found: Posterior,
        how: str,
        notes: Iterable[str],
        by_group: Floats | None,
        seated: SeatedPeople | None,
    ) -> HintPosterior:
        own: dict[str, Any] = {field.name: getattr(found, field.name) for field in fields(found)}
        own |= {"attack": Hint.name, "how": how, "notes": (*found.notes, *notes)}
        return HintPosterior(**own, hint=self._in_words(), cost=self._cost(found, by_group, seated))

    def _in_words(self) -> str:
        signs: tuple[Sign, ...] = tuple(self.attack.signs)
        known = [f"that {sign}" for sign in signs]
        strength = (
            " For each standard deviation by which a person is above the mean of a column, the odds of the value "
            f"change by the factor {np.exp(self.attack.strength):.3g}."
        )
        expected = [] if self.task.knowledge.prior is None else ["the prior probabilities of the values"]
        return (
            f"In addition to the release, the attacker knows {', '.join([*known, *expected])}, and how often "
            f"each value occurs.{strength if signs else ''}"
        )

    def _cost(self, found: Posterior, by_group: Floats | None, seated: SeatedPeople | None) -> HintCost | None:
        """How often guesses are right, if the true values are there."""
        task, of_person = self.task, self.task.kinds.of_person
        table = task.knowledge.external
        if not any(column.name == task.contents.column for column in table.sensitive):
            return None
        truth = true_values(Scene(release=task.release, contents=task.contents, table=table), table, found.values)
        fair = None if seated is None else self._by_group(seated, self.hinted.fitted_to(of_person, truth))
        if seated is None:
            seats = max(task.contents.seats, key=lambda one: len(one.quasi))
            seated = SeatedPeople.of(task, seats, most_states=self.attack.most_states)
        linked = self._by_group(seated, np.broadcast_to(self.hinted.base, self.hinted.kinds.shape))
        return hint_cost(
            truth,
            None if found.protected else found.limit,
            in_table=(dense_beliefs(found), found.kind),
            by_group=None if by_group is None else (by_group, of_person),
            fair=None if fair is None else (fair, of_person),
            linked=(linked, of_person),
            outsider=(self.hinted.kinds, of_person),
            base=self.hinted.base,
            known=None if by_group is None else seated.known[of_person],
            exact_cells=task.release.layout.exact,
        )

    def _by_group(self, seated: SeatedPeople, chances: Floats) -> Floats:
        """The probabilities for every kind of people from each group by itself, by other chances."""
        deals, at_places = seated.deals(self.task), seated.at_places(chances, self.hinted.base)
        half = np.zeros(deals.n_groups, bool)
        found, *_ = dealt_beliefs(seated.seating, deals, at_places, deals.expected(at_places)[0], chances, half)
        return self._dense(found)


def _buckets(deals: Deals, kind: NDArray[np.int64]) -> dict[tuple[int, ...], NDArray[np.int64]]:
    """Groups of known people with the same values, each value once, where there are several; by these values."""
    known = np.logical_and.reduceat(kind >= 0, deals.seats[:-1])
    once = np.logical_and.reduceat(deals.counts == 1, deals.offsets[:-1])
    width = np.diff(deals.offsets)
    full = np.add.reduceat(deals.people, deals.seats[:-1]) == width
    some = np.flatnonzero(known & once & full & (width >= 2) & (width <= MOST_COLUMNS))
    found: dict[tuple[int, ...], list[int]] = {}
    for group in some.tolist():
        values = tuple(deals.codes[deals.offsets[group] : deals.offsets[group + 1]].tolist())
        found.setdefault(values, []).append(group)
    return {values: np.array(groups) for values, groups in found.items() if len(groups) > 1}


def _untold(over: str, n_tied: int, n_groups: int) -> str:
    """A sentence about the evidence that the probabilities leave out."""
    if over == "buckets" and n_tied:
        rest = (
            "; the other groups, for which no such bucket was found, are analysed one by one"
            if n_tied < n_groups
            else ""
        )
        return (
            f"{n_tied:,} of {counted(n_groups, 'group')} {'was' if n_tied == 1 else 'were'} made from the same set of "
            "people (bucket) as other groups, so what is learned about one group says something about others; groups "
            f"with the same values are assumed to come from one bucket{rest}"
        )
    return (
        f"the probabilities are computed for each group separately, but {_UNTOLD[over]}: so guesses may be right more "
        "often than the probabilities say"
    )
