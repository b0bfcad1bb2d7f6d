# SPDX-License-Identifier: Apache-2.0
"""The promise: a guarantee, made again of a recipe and of what a release tells about the table, and of nothing else.

So the words of a guarantee that was read can be compared with the words that its recipe stands for, and need not be
believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from glasshouse import catalog
from glasshouse.errors import InputError
from glasshouse.grouping import exact_share
from glasshouse.principles import Requirement
from glasshouse.release import Guarantee
from glasshouse.release.layout import FOREIGN

if TYPE_CHECKING:
    from glasshouse.grouping import Method
    from glasshouse.recoding import Recoding
    from glasshouse.release import Release

__all__ = ["FOREIGN_GUARANTEE", "promised_by_recipe"]

FOREIGN_GUARANTEE: Final = Guarantee(
    promise="nothing: another tool made this table",
    adversary="none",
    adversary_knows="whatever she likes",
    theorem="what the other tool promises is its own affair",
)
"""What Glasshouse promises for a table that another tool made."""


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
    return recoding.guarantee(
        requirement,
        recoding.claimed(method.claim(requirement), requirement, recipe.sensitive),
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
