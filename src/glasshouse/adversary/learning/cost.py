# SPDX-License-Identifier: Apache-2.0
"""Cost: what being in the table costs a person, measured with the true values by those who hold the table.

A probability for somebody is no harm by itself: much of it would be the same for anybody with the same
quasi-identifiers, whether in the table or not, and teaching this is what a release is for. So probabilities for people
in the table are compared with those of the same model for people who are not in it. The difference of the mean
probabilities of the true values is the cost of being in the table (relative privacy threat: Boreale, Corradi, Viscardi,
"Relative Privacy Threats and Learning From Anonymized Data", IEEE Transactions on Information Forensics and Security
15, 2020).

People who are not in the table are given as a control table. Without one the groups of the release are parted at random
into halves, the model is fitted to each half, and gives probabilities for the people of the other one. Which half
somebody is in is known as well as their probabilities are: where cells hide it, a person counts in both, with the
probability of each given the true value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from glasshouse.adversary.learning.guesses import Guesses, judged
from glasshouse.adversary.learning.people_points import regression_of
from glasshouse.adversary.matching import Kinds
from glasshouse.adversary.risks.true_values import true_values
from glasshouse.population.deals import Deals
from glasshouse.population.observations import Grouped

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.risks.risk_attack import Scene
    from glasshouse.microdata import Microdata
    from glasshouse.population.population import Population
    from glasshouse.population.regression import Regression

__all__ = ["Cost", "dense_beliefs", "measured_cost"]

_MOST_PEOPLE: Final = 100_000  # whose groups, or whose values, a half of the table is fitted to
_SEED: Final = 20090701
_ROUGHLY: Final = 0.5  # units of log-likelihood that a fit may leave
_95: Final = 1.959963984540054
_ROUGH: Final = 0.1  # probabilities that are farther from frequencies than this are not to be taken at their word


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The probabilities for people in the table, compared with those if they were not in it.

    Attributes
    ----------
    in_table
        Probabilities for the people in the table.
    linked
        The same without the model: every way to deal the values of a group is equally likely, as linking has it.
    outsider
        The probabilities of the same model for people who are not in the table.
    best_outsider
        The probabilities of the best possible model of this form for them: it was fitted to the true values of other
        people.
    base_rate
        The probabilities by how often values occur in the release.
    alone, alone_outsider
        ``in_table`` and ``best_outsider`` of those alone who are the only ones with their quasi-identifiers. Others
        hide among people who are alike, which linking and learning do not tell apart.
    outsiders_are
        Who the people are that are not in the table: ``control``, or ``halves`` of the table.
    """

    in_table: Guesses
    linked: Guesses
    outsider: Guesses
    best_outsider: Guesses
    base_rate: Guesses
    alone: Guesses
    alone_outsider: Guesses
    outsiders_are: str

    @property
    def cost(self) -> float:
        """The mean probability of the true value for people in the table, minus that for people who are not in it."""
        return self.in_table.in_truth - self.outsider.in_truth

    @property
    def error(self) -> float:
        """Half the width of a 95 % interval around the cost, people being taken for independent."""
        return _95 * float(np.hypot(self.in_table.error, self.outsider.error))

    @property
    def more_right(self) -> float:
        """How much more often the most probable value is true for people in the table than of the others."""
        return self.in_table.right - self.outsider.right

    @property
    def more_right_error(self) -> float:
        """Half the width of a 95 % interval around that, people being taken for independent."""
        variance = sum(own.right * (1 - own.right) / max(own.people, 1) for own in (self.in_table, self.outsider))
        return _95 * float(np.sqrt(variance))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "cost": self.cost,
            "error": self.error,
            "more_right": self.more_right,
            "more_right_error": self.more_right_error,
            "in_table": self.in_table.to_dict(),
            "linked": self.linked.to_dict(),
            "outsider": self.outsider.to_dict(),
            "best_outsider": self.best_outsider.to_dict(),
            "base_rate": self.base_rate.to_dict(),
            "alone": self.alone.to_dict(),
            "alone_outsider": self.alone_outsider.to_dict(),
            "outsiders_are": self.outsiders_are,
        }

    def lines(self) -> list[str]:
        """The text lines of the result: one for each of the four numbers, then what follows from them in sentences."""
        outsiders = "people who are not in it" if self.outsiders_are == "control" else "people of unused groups"
        rows = [
            ("people in the table", self.in_table),
            ("the same people, by linking", self.linked),
            (outsiders, self.outsider),
            ("by others' true values", self.best_outsider),
            ("base rates", self.base_rate),
        ]
        if 0 < self.alone.people < self.in_table.people:
            rows += [("people who are unique", self.alone), ("  by others' true values", self.alone_outsider)]
        limits = [f"above {own.limit} (right)" for own in self.in_table.above]
        head = ["mean probability of the true value", "best guess right", *limits, "calibration"]
        lines = [f"  {'judged by the true values':<28}{', '.join(head)}"]
        for name, own in rows:
            above = [f"{one.share:.1%} ({one.right:.0%})" for one in own.above]
            told = [f"{own.in_truth:.4f}", f"{own.right:.1%}", *above, f"{own.calibration:.3f}"]
            lines.append(f"  {name:<28}{', '.join(told)}")
        share = self.alone.people / max(self.in_table.people, 1)
        doubt = (
            f"  These probabilities are not reliable: on average they differ by {self.in_table.calibration:.2f} from "
            "how often the most probable value of a person is right. The numbers of right guesses are counted and "
            "are not affected."
        )
        double = f"{share:.1%} of people are unique: nobody else in the table has the same quasi-identifiers."
        return [
            *lines,
            f"  {self.sentence()}",
            *([f"  {double}"] if self.alone.people < self.in_table.people else []),
            *([doubt] if self.in_table.calibration > _ROUGH else []),
        ]

    def sentence(self) -> str:
        """A sentence that says what being in the table costs."""
        who = (
            "people who are not in it"
            if self.outsiders_are == "control"
            else "people whose groups were not used for learning"
        )
        return (
            "A model learned from the release gives the true value of a person in the table a mean probability of "
            f"{self.in_table.in_truth:.4f}, and the true value of {who} {self.outsider.in_truth:.4f}. The difference, "
            f"{self.cost:.4f} (plus or minus {self.error:.4f}), is what being in the table costs a person. For "
            f"comparison, linking alone gives people in the table {self.linked.in_truth:.4f}, and a "
            "model learned from the true values of other people, without any release, gives "
            f"{self.best_outsider.in_truth:.4f}."
        )


def measured_cost(
    scene: Scene,
    found: Posterior,
    linked: Posterior,
    population: Population,
    people: Regression,
    kinds: Kinds,
    control: Microdata | None,
    halves: tuple[NDArray[np.bool_], NDArray[np.float64]],
    progress: Callable[[float], None],
) -> Cost:
    """Judge probabilities for the people of the table, with and without what was learned, and those of three outsiders.

    ``people`` is the model at every kind of people of the table. ``halves`` says of every group whether it is in the
    first half, and of every kind and value which part of the probability comes of such groups.
    """
    truth = true_values(scene, scene.table, population.values)
    promised = [] if found.protected or found.limit in (None, Fraction(1, 2)) else [found.limit]
    limits: list[Fraction | float] = [*(limit for limit in promised if limit is not None), 0.5, 0.9]
    own = dense_beliefs(found)
    base = np.exp(population.regression.base)[np.newaxis, :]
    best = _best_outsider(people, kinds, truth, population.fitted.ridges)
    progress(0.5)
    if control is not None:
        others = Kinds.of(control, population.points.names)
        by_model = regression_of(population, control, others.examples).at_points(population.fitted.weights)
        outsider = judged(by_model, others.of_person, true_values(scene, control, population.values), limits)
    else:
        outsider = _other_half(population, people, kinds, truth, halves, limits)
    progress(1.0)
    nobody = np.zeros(len(truth), np.int64)
    alone = (kinds.n_alike == 1)[kinds.of_person]
    chances, row = best
    return Cost(
        in_table=judged(own, found.kind, truth, limits),
        linked=judged(dense_beliefs(linked), linked.kind, truth, limits),
        outsider=outsider,
        best_outsider=judged(chances, row, truth, limits),
        alone=judged(own, found.kind[alone], truth[alone], limits),
        alone_outsider=judged(chances, row[alone], truth[alone], limits),
        base_rate=judged(base, nobody, truth, limits),
        outsiders_are="halves" if control is None else "control",
    )


def dense_beliefs(found: Posterior) -> NDArray[np.float64]:
    """Probabilities as a table of kinds of people and values."""
    dense = np.zeros((len(found.presence), len(found.values)))
    dense[np.repeat(np.arange(len(dense)), np.diff(found.offsets)), found.codes] = found.beliefs
    return dense


def _other_half(
    population: Population,
    people: Regression,
    kinds: Kinds,
    truth: NDArray[np.int64],
    halves: tuple[NDArray[np.bool_], NDArray[np.float64]],
    limits: list[Fraction | float],
) -> Guesses:
    """The probabilities of a model fitted to one half of the groups for the people of the other half."""
    half, in_first = halves
    fits = []
    random = np.random.Generator(np.random.PCG64(_SEED))
    for groups in (np.flatnonzero(half), np.flatnonzero(~half)):
        weights = np.zeros(people.shape)
        if population.fitted.is_used and len(groups):
            some = _at_most(groups, float(population.seen.people_at(population.points.n_places).sum()) / 2, random)
            own = population.regression.some(some)
            weights = own.fit(population.fitted.ridges, tolerance=_ROUGHLY)
        fits.append(people.at_points(weights))
    n_kinds, n_values = fits[0].shape
    first = in_first[kinds.of_person, np.minimum(truth, n_values - 1)]
    return judged(
        np.concatenate(fits),
        np.concatenate([kinds.of_person, kinds.of_person + n_kinds]),
        np.concatenate([truth, truth]),
        limits,
        np.concatenate([1 - first, first]),  # the model of the second half is used for people of the first
    )


def _at_most(groups: NDArray[np.int64], people: float, random: np.random.Generator) -> NDArray[np.int64]:
    """A random part of the groups, with no more people than a fit is made to."""
    if people <= _MOST_PEOPLE:
        return groups
    return np.sort(random.permutation(groups)[: int(len(groups) * _MOST_PEOPLE / people)])


def _best_outsider(
    people: Regression, kinds: Kinds, truth: NDArray[np.int64], ridges: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Fit the same regression to the true values of one half of the people, for use on the other half; both ways.

    It has the ridges that were learned from the release. The answer is the chances of every kind, by either fit, and
    the row of them that is meant for each person.
    """
    random = np.random.Generator(np.random.PCG64(_SEED + 1))
    n_values, n_kinds = people.shape[1], kinds.n_kinds
    first = random.random(len(truth)) < 0.5
    found = []
    for half in (first, ~first):
        who = np.flatnonzero(half & (truth < n_values))
        who = who if len(who) <= _MOST_PEOPLE else random.permutation(who)[:_MOST_PEOPLE]
        keys, counts = np.unique(kinds.of_person[who] * n_values + truth[who], return_counts=True)
        place, code = np.divmod(keys, n_values)
        # people with the same quasi-identifiers and the same value are a group: there is one way to deal its values
        slots = (np.arange(len(keys) + 1), code, counts)
        known = replace(people, seen=Grouped(Deals.of(np.arange(len(keys)), place, counts, slots)))
        found.append(known.at_points(known.fit(ridges, tolerance=_ROUGHLY)))
    return np.concatenate(found), kinds.of_person + np.where(first, n_kinds, 0)
