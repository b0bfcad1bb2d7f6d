# SPDX-License-Identifier: Apache-2.0
"""Attack: take the attacker's place, and compute the probabilities of every person's values after a release.

An attack is given the release and what the attacker holds, and never the microdata. The exception are the three risks
of `glasshouse.adversary.risks`: the steward, who holds the table, counts with it how often an attacker would be right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from glasshouse import catalog
from glasshouse.adversary.knowledge import Knowledge
from glasshouse.adversary.task import Algorithm
from glasshouse.errors import InputError
from glasshouse.recoding.generalization import Boxes
from glasshouse.release.layout import FOREIGN, layout_of
from glasshouse.release.release import given_release

if TYPE_CHECKING:
    from glasshouse.adversary.hint.hint import Hint
    from glasshouse.adversary.hint.hint_posterior import HintPosterior
    from glasshouse.adversary.learning.definetti import DeFinetti
    from glasshouse.adversary.learning.learned_posterior import LearnedPosterior
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.risks.risk import MeasuredRisk
    from glasshouse.adversary.risks.risk_attack import RiskAttack
    from glasshouse.adversary.task import Attack
    from glasshouse.release import Recipe, Release

__all__ = ["algorithm_of", "attack"]


@overload
def attack(
    release: Release,
    attack: RiskAttack | Literal["singling-out", "linkability", "inference"],
    *,
    knowledge: Knowledge,
) -> MeasuredRisk: ...


@overload
def attack(release: Release, attack: DeFinetti | Literal["definetti"], *, knowledge: Knowledge) -> LearnedPosterior: ...


@overload
def attack(release: Release, attack: Hint | Literal["hint"], *, knowledge: Knowledge) -> HintPosterior: ...


@overload
def attack(release: Release, attack: Any = "linking", *, knowledge: Knowledge) -> Posterior: ...


def attack(release: Release, attack: Any = "linking", *, knowledge: Knowledge) -> Posterior | MeasuredRisk:
    """Compute an attacker's probabilities for everybody on a list, after seeing a release.

    Parameters
    ----------
    release
        What was published, from `publish` or `load`.
    attack
        How the attacker reasons: an attack, or the name of one, which then has its usual parameters. ``"linking"``,
        from the release alone, is the default; others are ``"reverse-engineering"``, from the algorithm too,
        ``"minimality"``, ``"corruption"``, ``"intersection"``, ``"definetti"``, from what all groups of the release
        together teach of the population, and ``"hint"``, from a little that is known of the population before the
        release is seen: its signs are given as `Hint`, or as the prior of ``knowledge``. ``"singling-out"``,
        ``"linkability"`` and ``"inference"`` count how often an attacker would be right, and give a `MeasuredRisk`; for
        these the external table is the one that was published.
    knowledge
        What the attacker knows besides the release. The external table is coded in the taxonomies and orders that the
        release carries. Where it carries only a part of what is needed, read the table with the whole, or be refused.

    Returns
    -------
    Posterior
        The probabilities, how they were obtained, and who is most exposed; a `LearnedPosterior` for an attacker who
        learns, a `HintPosterior` for one with a hint, and a `MeasuredRisk` from attacks that count.

    Examples
    --------
    The voter list of ANATOMY Table 5: Emily, who is not in the table, hides the others a little.

    >>> import glasshouse as gh
    >>> patients = gh.examples.anatomy_table1()
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Separate(), recoding=gh.Anatomy())
    >>> voters = gh.read(gh.examples.anatomy_table5(), identifier="Name", quasi=["Age", "Sex", "Zipcode"])
    >>> beliefs = gh.attack(release, knowledge=gh.Knowledge(external=voters))
    >>> beliefs.present("Alice"), beliefs.present("Emily"), beliefs.of("Alice")["flu"]
    (1.0, 0.0, 0.25)
    """
    if not isinstance(knowledge, Knowledge):
        raise InputError("knowledge must say what the attacker knows: gh.Knowledge(external=gh.read(...))")
    release = given_release(release)
    chosen: Attack | RiskAttack = catalog.chosen(catalog.ATTACKS, "linking" if attack is None else attack)
    algorithm = algorithm_of(knowledge.recipe or release.recipe) if chosen.needs_algorithm else None
    return chosen.attack(release, knowledge, algorithm)


def algorithm_of(recipe: Recipe) -> Algorithm:
    """The principle, the method and the recoding that a recipe names."""
    for what, named in (("principle", recipe.principle), ("method", recipe.method)):
        if not named:
            raise InputError(
                f"this attack needs the {what} that made the release, and the release does not name it: give it with "
                "--method and a principle such as --ell 3; in Python with gh.Knowledge(recipe=...)"
            )
    recoding = Boxes() if layout_of(recipe) is FOREIGN else catalog.recoding_of(recipe)
    return Algorithm(catalog.principle_of(recipe), catalog.method_of(recipe), recoding)
