# SPDX-License-Identifier: Apache-2.0
"""Singling out: descriptions of people are read off a release, and each is tried on the table that it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from glasshouse.adversary.risks.predicates import Predicates
from glasshouse.adversary.risks.risk import Rate
from glasshouse.adversary.risks.risk_attack import RiskAttack
from glasshouse.principles.parameters import integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from glasshouse.adversary.risks.risk_attack import Scene
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws, Source

__all__ = ["SinglingOut"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SinglingOut(RiskAttack):
    """Count how often "in this box, and at this end of it" describes exactly one person.

    Parameters
    ----------
    ends
        A condition (predicate) uses one end of this many attributes of a box at once.
    control
        People who are not in the release, read as the table was. The same predicates are tried on them.
    source
        Where the random predicates of the naive guess come from; the operating system's secure source by default.

    Notes
    -----
    ``Knowledge(external=)`` is the table that was published: this is a measurement by the publisher. All predicates
    that the release offers are tried. The end of an interval is its low or its high value, that of a set is each listed
    value, and that of a node of a taxonomy is each of its children. A cell that is one value has no end. Predicates use
    quasi-identifiers alone; sensitive values, which may tell the people of a box apart, are not tried.

    *Naive guess*: as many boxes, put together at random. Each attribute keeps its published cells, but which cells
    stand together is random; ends are taken as above.

    *Releases that list the quasi-identifiers* (anatomy, permutation): the predicate is all quasi-identifiers of a
    published row. Everybody whose quasi-identifiers are unique is singled out by it, and nothing needs to be computed.

    The interval around a rate assumes that predicates are independent trials. Those of one box are not, so the interval
    is somewhat too narrow.

    Examples
    --------
    Of four people in two boxes everybody is at an end of an interval of ages, alone:

    >>> import glasshouse as gh
    >>> table = gh.read({"age": [21, 23, 60, 64], "ill": ["a", "b", "a", "b"]}, quasi=["age"], sensitive="ill")
    >>> release = gh.publish(table, principle=gh.KAnonymity(k=2))
    >>> others = gh.read({"age": [22, 23, 60, 70]}, quasi=["age"])
    >>> found = gh.attack(release, gh.SinglingOut(control=others), knowledge=gh.Knowledge(external=table))
    >>> found.success, found.control
    (Rate(successes=4, trials=4, is_known=False), Rate(successes=2, trials=4, is_known=False))
    """

    name: ClassVar[str] = "singling out"
    question: ClassVar[str] = (
        "how often does a condition taken from the release, such as age = 51 and sex = F, apply to exactly one person?"
    )
    trials_are: ClassVar[str] = "conditions"

    ends: int = 1
    control: Microdata | None = None
    source: Source | None = None

    def __post_init__(self) -> None:
        integer("SinglingOut", "ends", self.ends, least=1)

    def success(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """Try the predicates of every table of quasi-identifiers."""
        return _total(predicates.isolating(people) for predicates in self._predicates(scene))

    def baseline(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """Try boxes that are put together at random."""
        return _total(predicates.shuffled(draws).isolating(people) for predicates in self._predicates(scene))

    def notes(self, scene: Scene) -> list[str]:
        """A note for a release that lists the quasi-identifiers, so that no description needs to be read from it."""
        if not scene.release.layout.exact:
            return []
        return [
            "the release publishes exact quasi-identifiers: each condition uses all of them, and it singles out "
            "everybody whose quasi-identifiers are unique"
        ]

    def _predicates(self, scene: Scene) -> list[Predicates]:
        together = 0 if scene.release.layout.exact else self.ends
        return [Predicates.of(seats, scene.table, together) for seats in scene.contents.seats]


def _total(rates: Iterable[Rate]) -> Rate:
    found = list(rates)
    return Rate(sum(rate.successes for rate in found), sum(rate.trials for rate in found))
