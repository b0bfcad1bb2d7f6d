# SPDX-License-Identifier: Apache-2.0
"""Loading: a release comes back from its folder, and its recipe names things that there are.

`glasshouse.release.load` checks the files and knows no method. Whoever asks or attacks a release believes its recipe;
so here, where the catalogue is known, principle, method and recoding are made of it once, and the guarantee is made of
them again. What cannot be made is refused before anybody believes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from glasshouse import catalog
from glasshouse.adversary.restated import FOREIGN
from glasshouse.errors import GlasshouseError, SourceError
from glasshouse.microdata.domains import text_of
from glasshouse.promise import promised_by_recipe
from glasshouse.recoding import Perturbed
from glasshouse.release import reading

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.release import Recipe, Release

__all__ = ["load"]


def load(path: str | Path, *, most_bytes: int = reading.MOST_BYTES) -> Release:
    """Read a release back from its folder, after checking its files, its tables and its recipe.

    Releases of every format that was ever written are read. One that was tampered with, cut short or added to is
    refused, and so is what Glasshouse did not write. The guarantee is made again from the recipe. A release of this
    version that states another one is refused; the words of other versions are not compared, and are not shown either.

    Parameters
    ----------
    path
        The folder of the release.
    most_bytes
        Memory that its tables may take; more is refused before they are read. By default 4 GiB.

    Examples
    --------
    >>> import tempfile
    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save(f"{folder}/release")
    ...     gh.load(f"{folder}/release").guarantee == release.guarantee
    True
    """
    release = reading.load(path, most_bytes=most_bytes)
    try:
        _check_recipe(release)
        promised = promised_by_recipe(release)
    except (GlasshouseError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise SourceError(
            f"{path}: the release has a recipe that this version of Glasshouse cannot read: it was tampered with, or a "
            "newer version wrote it",
            source=path,
        ) from None
    if not release.other_writer and release.guarantee != promised:
        raise SourceError(
            f"{path}: the release states a guarantee that is not the one that its recipe stands for: refused",
            source=path,
        )
    return replace(release, guarantee=promised)


def _check_recipe(release: Release) -> None:
    recipe: Recipe = release.recipe
    if recipe.recoding["name"] == FOREIGN:
        return
    principle = catalog.principle_of(recipe)
    if isinstance(principle, dict) and not set(principle) <= set(recipe.sensitive):
        raise ValueError("a principle of a column that is not there")
    catalog.method_of(recipe)
    recoding = catalog.recoding_of(recipe)
    if isinstance(recoding, Perturbed):
        _check_sample(release, recoding)


def _check_sample(release: Release, recoding: Perturbed) -> None:
    """A retention is stated, and every value that is shown is one of the declared domain."""
    if recoding.p is None or len(release.recipe.sensitive) != 1:
        raise ValueError("a perturbed sample says with which retention")
    declared = release.recipe.recoding.get("domain")
    if declared is None:
        return
    known = [None if value is None else text_of(value) for value in declared]
    (column,) = release.recipe.sensitive
    shown = {None if value is None else text_of(value) for value in release.data[column].unique().to_pylist()}
    if len(set(known)) < len(known) or not shown <= set(known):
        raise ValueError("a value that is not in the domain")
