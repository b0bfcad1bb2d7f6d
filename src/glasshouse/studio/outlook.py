# SPDX-License-Identifier: Apache-2.0
"""The outlook: what choices would guarantee for a table, in plain words; and alternatives if that is impossible.

It is made from a `Sketch` by the functions that `publish` itself uses, so that nothing is promised or refused here that
would not be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from glasshouse.cells.values import text_of
from glasshouse.errors import GlasshouseError, Infeasible, ParameterError
from glasshouse.journeys.advice.ways import ways_out
from glasshouse.pages.people_without_promise import LeftOut
from glasshouse.pages.protection import attacker, listed
from glasshouse.plural import counted
from glasshouse.policy.choices import principle as principle_of
from glasshouse.policy.choices import publish_arguments
from glasshouse.policy.next_steps import changes_of
from glasshouse.principles.background_sensitive import DeltaGrowth
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.parameters import exact_share
from glasshouse.principles.principle import Adversary
from glasshouse.studio.offers import choices_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.journeys.advice.sketch import Sketch
    from glasshouse.principles.principle import Claim, Principle

__all__ = ["USUAL_WAY", "Outlook", "Remedy", "costs_of_larger", "obstacle_of", "outlook", "title_of"]

_SIZE = 6  # of groups under a bound on probabilities
_BEYOND = 3  # values of l above the largest one of which it is told what they would cost
_LEVELS = (Adversary.LINKING, Adversary.ALGORITHM_AWARE, Adversary.CORRUPTING)
_FIELDS = {"ell": "l", "lambda_": "lambda"}  # parameters that a form calls otherwise
_WHO = {
    Adversary.LINKING: "An attacker who looks people up",
    Adversary.ALGORITHM_AWARE: "An attacker who also knows the algorithm",
    Adversary.CORRUPTING: "An attacker who also knows the values of other people",
}


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A possible remedy: a button that makes these choices; those that are None are removed."""

    name: str
    button: str
    words: str
    choices: Mapping[str, Any]


USUAL_WAY = Remedy(
    name="usual-way",
    button="Use the usual method and recoding",
    words="The method and the recoding that were chosen by hand are not used. The usual ones protect against an "
    "attacker who knows the algorithm, wherever that is possible.",
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
    n_suppressed: int = 0
    about_left_out: str = ""
    n_allowed: int = 0
    warnings: Sequence[str] = ()
    method: Any = None
    recoding: Any = None
    usual_way: bool = True


def outlook(sketch: Sketch, choices: Mapping[str, Any]) -> Outlook:
    """Say what choices promise for a sketched table.

    >>> import glasshouse as gh
    >>> from glasshouse.journeys.advice.sketch import Sketch
    >>> outlook(Sketch.of(gh.synthetic.hospital(500, seed=1)), {"ell": 5}).sentences
    ["Nobody's disease can be inferred with more than 20 % confidence (1 in 5), even by an attacker who knows how the \
table was made and everybody's age, sex and zipcode."]
    """
    found = Outlook(usual_way=choices.get("method") is None and choices.get("recoding") is None)
    try:
        found.n_allowed = int(exact_share(choices.get("suppress", 0)) * sketch.n_people)
        principle = principle_of(choices)
        found.title = title_of(principle)
        planned = sketch.plan(publish_arguments(choices))
    except Infeasible as error:
        found.refused, found.infeasible = str(error), True
        if error.value is not None or error.column is not None:
            found.obstacle = obstacle_of(error)
        found.remedies = _remedies(sketch, choices)
        return found
    except GlasshouseError as error:
        found.refused = _in_fields(error)
        if not found.usual_way:
            found.remedies = [USUAL_WAY]
        return found
    plan = planned.plan
    found.method, found.recoding = plan.method, plan.recoding
    found.n_left_out, found.n_suppressed, found.warnings = plan.n_dropped, plan.n_suppressed, planned.warnings
    found.guarantee = plan.guarantee(identified=sketch.identified).to_data()
    _told(found, sketch, principle, plan.claim)
    left_out = LeftOut(n=plan.n_suppressed, n_published=sketch.n_people - plan.n_dropped)
    found.sentences = [left_out.for_others(sentence) for sentence in found.sentences]
    found.about_left_out = left_out.in_words(listed(sketch.sensitive, "or"))
    return found


def _in_fields(error: GlasshouseError) -> str:
    """A refusal in the words of the fields of a form, without the class and the value that a program would be told."""
    if not isinstance(error, ParameterError):
        return str(error)
    allowed = error.allowed.replace("an integer >= ", "a whole number of at least ").replace(" >= ", " of at least ")
    return f"the value of {_FIELDS.get(error.name, error.name)} must be {allowed}"


def title_of(principle: Principle | Mapping[str, Principle]) -> str:
    """What is asked for, in short: of all columns, or of each.

    >>> import glasshouse as gh
    >>> title_of({"ill": gh.LDiversity(3), "pay": gh.TCloseness("0.1")})
    '3-diversity of ill and 0.1-closeness of pay'
    """
    if not isinstance(principle, Mapping):
        return principle.title
    return listed([f"{one.title} of {name}" for name, one in principle.items()], "and")


def obstacle_of(error: Infeasible) -> dict[str, Any]:
    """The value that is too frequent, as text, its column, and the number of people who have it."""
    value = None if error.value is None else text_of(error.value)
    return {"value": value, "column": error.column, "count": error.count, "of": error.of}


def _told(found: Outlook, sketch: Sketch, asked: Principle | Mapping[str, Principle], claim: Claim) -> None:
    """Put the guarantee in words for a person, and say against which attacker it is given."""
    nothing = claim.adversary is Adversary.LINKING and bool(claim.promise)
    level = -1 if nothing else _LEVELS.index(claim.adversary)
    names = sketch.sensitive or ["sensitive values"]
    for number, adversary in enumerate(_LEVELS):
        knows = attacker(adversary, sketch.quasi, names[0])
        found.against.append({"who": _WHO[adversary], "knows": knows, "holds": number <= level})
    if nothing:
        found.promises_nothing = claim.promise
    else:
        each = asked if isinstance(asked, Mapping) else dict.fromkeys(names, asked)
        found.sentences = [each[name].for_person(name, attacker(claim.adversary, sketch.quasi, name)) for name in names]
    if level < 1 and not nothing:
        found.remedies.append(USUAL_WAY)
    alone = None if isinstance(asked, Mapping) or len(sketch.sensitive) != 1 else asked
    if level < len(_LEVELS) - 1 and alone is not None and not alone.bounds_beliefs:
        found.remedies.append(_about_beliefs())


# --- what can be done -------------------------------------------------------------------------------------------------


def costs_of_larger(sketch: Sketch, ell: int) -> list[tuple[int, int]]:
    """The number of people who would have to be left out, for the next larger values of l.

    >>> import glasshouse as gh
    >>> from glasshouse.journeys.advice.sketch import Sketch
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
    """The alternatives to a guarantee that the table does not allow, as buttons."""
    found = []
    for way in ways_out(sketch, principle_of(choices)):
        changes = changes_of(way)
        if changes is None or way.sensitive is not None:
            continue
        title = title_of(way.principle)
        button = f"Ask for {title}"
        if way.n_left_out:
            button = f"Leave out {way.n_left_out:,} of {counted(sketch.n_people, 'record')}, for {title}"
        found.append(Remedy(name=way.name, button=button, words=f"{way.promise} {way.cost}", choices=changes))
    return found


def _about_beliefs() -> Remedy:
    asked = {**choices_for(DeltaGrowth(delta="0.3", k=_SIZE)), **USUAL_WAY.choices}
    return Remedy(
        name="beliefs",
        button="Protect also against an attacker who knows other people's values",
        words=(
            "Then some sensitive values are replaced at random, and only one person of each group is published: "
            "the release is a sample with random errors."
        ),
        choices=asked,
    )
