# SPDX-License-Identifier: Apache-2.0
"""Inference: the attacker knows a person's quasi-identifiers and guesses the sensitive value from the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.adversary.matching import Kinds, match
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.risks.risk import Rate
from glasshouse.adversary.risks.risk_attack import RiskAttack
from glasshouse.adversary.risks.true_values import true_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.risks.risk_attack import Scene
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws, Source
    from glasshouse.release.contents import Contents

__all__ = ["Inference"]

_EQUAL = 1e-9  # scores that differ by less, relative to the largest, are equal


@dataclass(frozen=True, kw_only=True, slots=True)
class Inference(RiskAttack):
    """Count how often the most probable value by a person's groups is the true one.

    Parameters
    ----------
    column
        The sensitive column, where the release has several.
    control
        People who are not in the release, with their sensitive values. They are guessed in the same way.
    source
        Not used: nothing is random here.

    Notes
    -----
    ``Knowledge(external=)`` is the table that was published, with its sensitive column, to count right guesses: this is
    a measurement by the publisher. The attacker knows all quasi-identifiers. The published rows of each box are divided
    equally among all people on the list who fit the box, and the guess is the value with the largest share over the
    boxes that cover the person: in a single box, the most frequent value of its group. Of several values that are
    equally likely one is guessed at random, and the expected number of right guesses is counted. For a person who fits
    no box, the most frequent published value is guessed. Where an ANGEL release has several marginals, the one with
    most attributes is used.

    *Naive guess*: the most frequent published value, for everybody.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.read({"age": [21, 23, 60, 64], "ill": ["a", "b", "a", "b"]}, quasi=["age"], sensitive="ill")
    >>> release = gh.publish(table, principle=gh.KAnonymity(k=2))
    >>> gh.attack(release, gh.Inference(), knowledge=gh.Knowledge(external=table)).success
    Rate(successes=2.0, trials=4, is_known=False)
    """

    name: ClassVar[str] = "inference"
    question: ClassVar[str] = (
        "how often does an attacker who knows the quasi-identifiers of a person guess the sensitive value right?"
    )
    needs_values: ClassVar[bool] = True
    depends_on_size: ClassVar[bool] = False

    column: str | None = None
    control: Microdata | None = None
    source: Source | None = None

    def success(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """Guess by the groups of people's boxes."""
        kinds, scores = _scores(scene.contents, people)
        truth = true_values(scene, people)
        shown = np.diff(scores.offsets) > 0
        largest = np.zeros(kinds.n_kinds)
        np.maximum.at(largest, scores.owner, scores.beliefs)
        best = scores.beliefs >= largest[scores.owner] * (1 - _EQUAL)
        ties = np.bincount(scores.owner[best], minlength=kinds.n_kinds)
        n_values = len(scene.contents.values) + 1
        favoured = scores.owner[best] * n_values + scores.codes[best]
        is_right = np.isin(kinds.of_person * n_values + truth, favoured) & shown[kinds.of_person]
        right = np.where(is_right, 1 / np.maximum(ties[kinds.of_person], 1), 0.0)
        unseen = ~shown[kinds.of_person]
        right[unseen] = _by_frequency(scene.contents)[truth[unseen]]
        return Rate(float(right.sum()), people.n_tuples)

    def baseline(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """Guess the most frequent published value."""
        return Rate(float(_by_frequency(scene.contents)[true_values(scene, people)].sum()), people.n_tuples)


def _scores(contents: Contents, people: Microdata) -> tuple[Kinds, Beliefs]:
    """The kinds of people, and for each kind the weight of each value in the boxes that cover it."""
    seats = contents.widest
    kinds = Kinds.of(people, seats.quasi)
    matches = match(people, kinds.examples, seats)
    kind, seat = matches.of_match, matches.seats
    n_places = int(seats.place.max(initial=-1)) + 1
    pairs = np.unique(kind * (n_places + 1) + seats.place[seat])  # each kind once at each place
    rivals = np.bincount(pairs % (n_places + 1), weights=kinds.n_alike[pairs // (n_places + 1)], minlength=n_places)
    weight = seats.count[seat] / rivals[seats.place[seat]]
    groups = seats.group[seat].astype(np.int64)
    of_match, entry = entries_of(contents.offsets, groups)
    mass = weight[of_match] * contents.counts[entry] / contents.sizes[groups[of_match]]
    scores = Beliefs.joined(
        kind[of_match], contents.codes[entry], mass, n_kinds=kinds.n_kinds, n_values=len(contents.values)
    )
    return kinds, scores


def _by_frequency(contents: Contents) -> NDArray[np.float64]:
    """For every value the probability that it is the guess of the most frequent value; 0 for an unknown value."""
    n_tuples = np.bincount(contents.codes, weights=contents.counts, minlength=len(contents.values))
    most = n_tuples == n_tuples.max(initial=0)
    return np.append(most / max(1, most.sum()), 0.0)
