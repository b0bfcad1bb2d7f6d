# SPDX-License-Identifier: Apache-2.0
"""The outlook: what choices would promise for a table, in plain words; and where they cannot be, what can be instead.

It is made from a `Sketch` by the functions that `publish` itself uses, so that nothing is promised or refused here that
would not be there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from glasshouse.cells.values import text_of
from glasshouse.errors import GlasshouseError, Infeasible
from glasshouse.policy.choices import principle as principle_of
from glasshouse.principles.background_sensitive import DeltaGrowth
from glasshouse.principles.k_anonymity import AlphaKAnonymity
from glasshouse.principles.l_diversity import DesignatedLDiversity, LDiversity
from glasshouse.principles.parameters import exact_share, plain
from glasshouse.principles.principle import Adversary
from glasshouse.principles.t_closeness import TCloseness
from glasshouse.studio.offers import choices_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.principles.principle import Claim, Principle
    from glasshouse.studio.sketch import Sketch

__all__ = ["USUAL_WAY", "Outlook", "Remedy", "attacker", "costs_of_larger", "listed", "obstacle_of", "outlook"]

_STEPS = 10_000  # a share to leave out is rounded up to one in so many
_MOST_NAMES = 5
_MOST_VALUES = 200  # that are named by a button
_ELL = 5  # where l, or k, is proposed
_SIZE = 6  # of groups under a bound on beliefs
_BEYOND = 3  # values of l above the largest one of which it is told what they would cost
_LEVELS = (Adversary.LINKING, Adversary.ALGORITHM_AWARE, Adversary.CORRUPTING)
_WHO = {
    Adversary.LINKING: "Somebody who looks people up",
    Adversary.ALGORITHM_AWARE: "Somebody who also knows how the table was made",
    Adversary.CORRUPTING: "Somebody who also knows the values of other people",
}


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """Something that can be done: by a button, which makes these choices; those that are None are taken back."""

    name: str
    button: str
    words: str
    choices: Mapping[str, Any]


USUAL_WAY = Remedy(
    name="usual-way",
    button="Take the usual way",
    words="The method and the recoding that were chosen by hand are given up; the usual ones hold against an attacker "
    "who knows how the table was made, wherever that is possible.",
    choices=dict.fromkeys(("method", "parameters", "recoding", "recoding_with", "marginal")),
)
"""To take back what was chosen by hand."""


@dataclass(kw_only=True)
class Outlook:
    """What a page says of choices.

    Parameters
    ----------
    refused
        Why the package refuses the choices; empty if it does not.
    obstacle
        Of a promise that the table cannot keep: the value that is too frequent, how many people have it, and of how
        many; None if there is no such value.
    remedies
        What can be done.
    sentences
        What the choices mean for a person.
    against
        The attackers, from the weakest to the strongest, and whether the promise holds against each.
    """

    refused: str = ""
    infeasible: bool = False
    obstacle: Mapping[str, Any] | None = None
    remedies: list[Remedy] = field(default_factory=list)
    title: str = ""
    sentences: list[str] = field(default_factory=list)
    against: list[dict[str, Any]] = field(default_factory=list)
    guarantee: Mapping[str, Any] | None = None
    promises_nothing: str = ""
    n_left_out: int = 0
    n_allowed: int = 0
    warnings: Sequence[str] = ()
    method: Any = None
    recoding: Any = None
    usual_way: bool = True


def outlook(sketch: Sketch, choices: Mapping[str, Any]) -> Outlook:
    """Say what choices promise for a sketched table.

    >>> import glasshouse as gh
    >>> from glasshouse.studio.sketch import Sketch
    >>> outlook(Sketch.of(gh.synthetic.hospital(500, seed=1)), {"ell": 5}).sentences
    ["Nobody's disease can be guessed with more than 1 in 5 (20 %), even by an attacker who knows how the table was \
made and everybody's age, sex and zipcode."]
    """
    found = Outlook(usual_way=choices.get("method") is None and choices.get("recoding") is None)
    try:
        found.n_allowed = int(exact_share(choices.get("suppress", 0)) * sketch.n_people)
        principle = principle_of(choices)
        found.title = principle.title
        planned = sketch.plan(choices)
    except Infeasible as error:
        found.refused, found.infeasible = str(error), True
        if error.value is not None or error.column is not None:
            found.obstacle = obstacle_of(error)
        found.remedies = _remedies(sketch, choices)
        return found
    except GlasshouseError as error:
        found.refused = str(error)
        if not found.usual_way:
            found.remedies = [USUAL_WAY]
        return found
    plan = planned.plan
    found.method, found.recoding = plan.method, plan.recoding
    found.n_left_out, found.warnings = plan.n_dropped, planned.warnings
    found.guarantee = plan.guarantee(identified=sketch.identified).to_data()
    _told(found, sketch, principle, plan.claim)
    return found


def obstacle_of(error: Infeasible) -> dict[str, Any]:
    """The value that is too frequent, as a text if there is one, in which column, and how many people have it."""
    value = None if error.value is None else text_of(error.value)
    return {"value": value, "column": error.column, "count": error.count, "of": error.of}


def _told(found: Outlook, sketch: Sketch, principle: Principle, claim: Claim) -> None:
    """Put the promise in words for a person, and say against whom it holds."""
    nothing = claim.adversary is Adversary.LINKING and bool(claim.promise)
    level = -1 if nothing else _LEVELS.index(claim.adversary)
    names = sketch.sensitive or ["sensitive values"]
    for number, adversary in enumerate(_LEVELS):
        knows = attacker(adversary, sketch.quasi, names[0])
        found.against.append({"who": _WHO[adversary], "knows": knows, "holds": number <= level})
    if nothing:
        found.promises_nothing = claim.promise
    else:
        found.sentences = [principle.for_person(name, attacker(claim.adversary, sketch.quasi, name)) for name in names]
    if level < 1 and not nothing:
        found.remedies.append(USUAL_WAY)
    if level < len(_LEVELS) - 1 and not principle.bounds_beliefs and len(sketch.sensitive) == 1:
        found.remedies.append(_about_beliefs())


def attacker(adversary: Adversary, quasi: Sequence[str], value: str) -> str:
    """An attacker in words, as a part of a sentence.

    >>> attacker(Adversary.LINKING, ["age", "sex"], "disease")
    "somebody who knows everybody's age and sex, but not how the table was made"
    """
    known = f"everybody's {listed(quasi)}"
    if adversary is Adversary.LINKING:
        return f"somebody who knows {known}, but not how the table was made"
    if adversary is Adversary.ALGORITHM_AWARE:
        return f"an attacker who knows how the table was made and {known}"
    return f"an attacker who knows how the table was made, {known}, and the {value} of all other people"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, not too many.

    >>> listed(["age"]), listed(["age", "sex", "zip code"]), listed(list("abcdefg"))
    ('age', 'age, sex and zip code', 'a, b, c, d and 3 other columns')
    """
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} other columns"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


# --- what can be done -------------------------------------------------------------------------------------------------


def costs_of_larger(sketch: Sketch, ell: int) -> list[tuple[int, int]]:
    """For the next values of l above this one, how many people would have to be left out.

    >>> import glasshouse as gh
    >>> from glasshouse.studio.sketch import Sketch
    >>> costs_of_larger(Sketch.of(gh.synthetic.hospital(500, seed=1)), 8)
    [(9, 1), (10, 10), (11, 33)]
    """
    found = []
    for larger in range(ell + 1, ell + 1 + _BEYOND):
        dropped = sketch.n_left_out(LDiversity(ell=larger))
        if dropped is None:
            break
        found.append((larger, dropped))
    return found


def _remedies(sketch: Sketch, choices: Mapping[str, Any]) -> list[Remedy]:
    """What works in place of a promise that the table cannot keep."""
    principle = principle_of(choices)
    found = []
    nearest = sketch.feasible(principle.grouping()) if principle.bounds_beliefs else sketch.feasible(principle)
    if nearest is not None and not principle.bounds_beliefs:
        words = "This is the strictest promise of this kind that the table can keep as it is."
        found.append(
            Remedy(name="nearest", button=f"Ask for {nearest.title}", words=words, choices=choices_for(nearest))
        )
    n_left_out = sketch.n_left_out(principle)
    if n_left_out:
        share = Fraction(ceil(Fraction(n_left_out, sketch.n_people) * _STEPS), _STEPS)
        many = f"{n_left_out:,} of {sketch.n_people:,} records"
        found.append(
            Remedy(
                name="leave-out",
                button=f"Leave out {many}",
                words="They are drawn at random among those with the most frequent values. Nothing is promised to the "
                "people who are left out.",
                choices={"suppress": str(plain(share))},
            )
        )
    if nearest is None:
        found += _alternatives(sketch)
    return found


def _alternatives(sketch: Sketch) -> list[Remedy]:
    """Promises of another kind, for a column in which one value is too frequent for any l."""
    offered: list[tuple[str, Principle]] = []
    if len(sketch.sensitive) == 1:
        rare = [text_of(value) for value, n in sketch.values() if value is not None and 2 * n <= sketch.n_people]
        if 0 < len(rare) <= _MOST_VALUES:
            words = (
                "Only the rarer values are hidden, and the most frequent one may become certain. That is enough if to "
                "have the most frequent value harms nobody."
            )
            offered.append((words, DesignatedLDiversity(ell=_ELL, values=tuple(rare))))
    words = "Looking somebody up then tells little more than the whole table does of everybody."
    offered.append((words, TCloseness(t="0.2")))
    words = "Everybody looks like others, and the most frequent value has at most this share in each group."
    offered.append((words, AlphaKAnonymity(alpha="0.01", k=_ELL)))
    found = []
    for number, (words, principle) in enumerate(offered):
        kept = sketch.feasible(principle)
        if kept is not None:
            asked = choices_for(kept)
            if asked["alpha"] is not None:
                asked["alpha"] = _rounded_up(asked["alpha"])
            title = principle_of(asked).title
            found.append(Remedy(name=f"other-{number}", button=f"Ask for {title}", words=words, choices=asked))
    return found


def _rounded_up(alpha: Any) -> Any:
    """A share with two decimals, if there is one below 1."""
    exact = Fraction(alpha)
    rounded = Fraction(ceil(exact * 100), 100)
    return plain(rounded if rounded < 1 else exact)


def _about_beliefs() -> Remedy:
    asked = {**choices_for(DeltaGrowth(delta="0.3", k=_SIZE)), **USUAL_WAY.choices}
    return Remedy(
        name="beliefs",
        button="Hold against an attacker who knows other people's values",
        words="Then sensitive values are replaced by chance, and one person of each group is published: the release "
        "is a noisy sample.",
        choices=asked,
    )
