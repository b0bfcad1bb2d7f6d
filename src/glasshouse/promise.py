# SPDX-License-Identifier: Apache-2.0
"""The promise: a guarantee, made of a recipe and of what a release tells about the table, and of nothing else.

Who publishes makes the guarantee here, and who loads or verifies a release makes it again here. So the words of a
guarantee that was read can be compared with the words that its recipe stands for, and need not be believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from glasshouse import catalog
from glasshouse.errors import InputError
from glasshouse.grouping import exact_share
from glasshouse.principles import Requirement
from glasshouse.release import Guarantee
from glasshouse.release.guarantee import ONE_ROW_PER_PERSON
from glasshouse.release.layout import FOREIGN

if TYPE_CHECKING:
    from glasshouse.grouping import Method
    from glasshouse.principles.adversaries import Claim
    from glasshouse.recoding import Recoding
    from glasshouse.release import Release

__all__ = ["FOREIGN_GUARANTEE", "guarantee_of", "promised_by_recipe"]

FOREIGN_GUARANTEE: Final = Guarantee(
    promise="nothing: another tool made this table",
    adversary="none",
    adversary_knows="whatever she likes",
    theorem="what the other tool promises is its own affair",
)
"""What Glasshouse promises for a table that another tool made."""


def guarantee_of(
    requirement: Requirement,
    claim: Claim,
    recoding: Recoding,
    *,
    n_sensitive: int,
    n_whole: int,
    n_suppressed: int,
    identified: bool,
) -> Guarantee:
    """Put the promise together: the principle's words, the claims of method and recoding, what the table brings.

    Parameters
    ----------
    requirement, claim, recoding
        What is asked of the groups, what the method or recoding claims for them, and how they are rewritten.
    n_sensitive
        How many sensitive columns are published.
    n_whole, n_suppressed
        How many tuples the table has, and how many of them were suppressed before it was divided.
    identified
        Whether an identifier was declared, so that nobody has two rows.
    """
    assumptions = [*([] if identified else [ONE_ROW_PER_PERSON]), *claim.assumptions]
    limits = [*claim.limits, *recoding.limits()]
    if n_sensitive > 1:
        limits.append("each sensitive column is protected by itself: nothing is promised of what they reveal together")
    if n_suppressed:
        limits.append(
            f"{n_suppressed:,} of {n_whole:,} tuples were dropped, at random among those with the most frequent "
            "sensitive values, and nothing is promised to them: who is known to be in the table and not in the release "
            "has such a value, and who is only known to be in the table may have been dropped"
        )
    return Guarantee(
        promise=claim.promise or requirement.describe(),
        adversary=claim.adversary.value,
        adversary_knows=claim.adversary.knows,
        theorem="; ".join(text for text in (claim.theorem, recoding.theorem()) if text),
        assumptions=tuple(assumptions),
        limits=tuple(limits),
    )


def promised_by_recipe(release: Release) -> Guarantee:
    """Make the guarantee of a release again from its recipe and the numbers that it states.

    Its tables are not looked at, and neither is the guarantee that it states. Raises a `GlasshouseError` where the
    recipe stands for no guarantee, or the numbers contradict each other.

    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2))
    >>> promised_by_recipe(release) == release.guarantee
    True
    """
    recipe = release.recipe
    if release.layout is FOREIGN:
        return FOREIGN_GUARANTEE
    _check_numbers(release)
    method: Method = catalog.method_of(recipe)
    recoding: Recoding = catalog.recoding_of(recipe)
    requirement = Requirement.in_words(catalog.principle_of(recipe), recipe.sensitive)
    if (requirement.target is None) != (recoding.layout.size is None):
        raise InputError("a bound on beliefs and the recoding 'perturbed' go together, and one is without the other")
    return guarantee_of(
        requirement,
        recoding.claimed(method.claim(requirement), requirement, recipe.sensitive),
        recoding,
        n_sensitive=len(recipe.sensitive),
        n_whole=release.n_tuples + release.n_dropped,
        n_suppressed=release.n_suppressed,
        identified=release.identified,
    )


def _check_numbers(release: Release) -> None:
    """Suppressed tuples are some of those that were dropped, and no more than the recipe allows."""
    allowed = exact_share(release.recipe.suppress)
    most = allowed * (release.n_tuples + release.n_dropped)
    if not 0 <= release.n_suppressed <= release.n_dropped or release.n_suppressed > most:
        raise InputError("more tuples were suppressed than were dropped, or than the recipe allows")
