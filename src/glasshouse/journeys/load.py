# SPDX-License-Identifier: Apache-2.0
"""Load: read a release from its folder, and check that its recipe names objects that exist.

`glasshouse.release.load` checks the files and knows no method. Answers and attacks rely on the recipe of a release. So
principle, method and recoding are made from it here, where the catalogue is known, and the guarantee is made from them
again. A release whose recipe cannot be read is refused.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from glasshouse import catalog
from glasshouse.cells import bare, parts_of
from glasshouse.cells.sets import members_in
from glasshouse.declarations import Declared, check_cells
from glasshouse.errors import GlasshouseError, InputError, SourceError
from glasshouse.microdata.domains import text_of
from glasshouse.principles.parameters import exact_share
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.columns import cells_of
from glasshouse.release import Guarantee
from glasshouse.release.astray import pointing
from glasshouse.release.edition import over_editions
from glasshouse.release.layout import FOREIGN, PERTURBED
from glasshouse.release.package import read as reading
from glasshouse.release.package.container.container import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from glasshouse.recoding.perturbed import Perturbed
    from glasshouse.release import Recipe, Release

__all__ = ["FOREIGN_GUARANTEE", "check_declared", "checked_promise", "load", "promised_by_recipe"]


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
    with pointing(path, "gh.load"):
        release = reading.load(path, most_bytes=most_bytes)
    promised = checked_promise(release, path)
    check_declared(release, path, partial(cells_of, release.tables))
    return replace(release, guarantee=promised)


def check_declared(release: Release, path: str | Path, cells: Callable[[str], set[str]]) -> None:
    """Refuse a release whose taxonomies and orders do not fit its cells; ``cells`` gives those of a column."""
    try:
        _check_declared(release, cells)
    except (GlasshouseError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, SourceError) and error.source is not None:  # a file that cannot be read
            raise
        raise SourceError(
            f"{path}: the release has a taxonomy or an order that does not match its cells: it was tampered with. "
            f"{DAMAGED}",
            source=path,
        ) from None


def checked_promise(release: Release, path: str | Path) -> Guarantee:
    """The guarantee that follows from a release's recipe, after a check that the release states the same.

    Nothing but the columns of its tables is looked at, unless it is a perturbed sample.
    """
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
            f"{path}: the guarantee in the release does not match its recipe: it was changed, and the release is not "
            f"read. {DAMAGED}",
            source=path,
        )
    return promised


def _check_declared(release: Release, cells_of_column: Callable[[str], set[str]]) -> None:
    """Every taxonomy can be made, and every cell that should be a node of one, or lie in an order, does."""
    declared = Declared.carried_by(release)
    recoding = catalog.RECODINGS.get(str(release.recipe.recoding["name"]))
    shows_nodes = recoding is not None and catalog.recoding_of(release.recipe).shows_nodes
    for column in release.columns:
        told = column.declared
        if told is None or told["kind"] == "unknown nodes":
            continue
        cells = cells_of_column(column.name)
        if column.name in declared.taxonomies and shows_nodes and column.kind == "category":
            check_cells(column.name, declared.taxonomies[column.name], cells)
        if told["kind"] == "nodes" and shows_nodes != bool(told["nodes"]) and cells:
            raise ValueError(
                "the release lists nodes although no cell is a node, or lists none although cells are nodes"
            )
        if told["kind"] == "nodes" and shows_nodes:
            labels = {node["label"] for node in told["nodes"]}
            if {cell if cell in labels else bare(cell) for cell in cells} != labels:
                raise ValueError("the listed nodes are not those that occur as cells")
        if column.name in declared.ordered:
            known = set(map(str, declared.ordered[column.name]))
            ends = (end for cell in cells if cell.startswith("[") for end in parts_of(cell[1:-1], ","))
            if not all(bare(end.strip()) in known for end in ends):
                raise ValueError("an interval ends in a value that is not in the declared order")


def _check_recipe(release: Release) -> None:
    recipe: Recipe = release.recipe
    if release.layout is FOREIGN:
        return
    principle = catalog.principle_of(recipe)
    if isinstance(principle, dict) and not set(principle) <= set(recipe.sensitive):
        raise ValueError("a principle names a column that the release does not have")
    catalog.method_of(recipe)
    recoding = catalog.recoding_of(recipe)
    _check_sets(release)
    if release.layout is PERTURBED:
        _check_sample(release, cast("Perturbed", recoding))  # the only recoding with this layout


def _check_sets(release: Release) -> None:
    """Every cell of a column of sets is one."""
    for name in release.sets:
        if release.layout is PERTURBED:
            raise ValueError("a perturbed sample has a column of sets")
        for table in release.tables.values():
            for cell in table[name].unique().to_pylist() if name in table.column_names else ():
                members_in(cell)


def _check_sample(release: Release, recoding: Perturbed) -> None:
    """Check that a retention is stated, and that every published value is in the declared domain."""
    if recoding.p is None or len(release.recipe.sensitive) != 1:
        raise ValueError("a perturbed sample does not state its retention")
    declared = release.recipe.recoding.get("domain")
    if declared is None:
        return
    if not all(map(_is_value, declared)):
        raise ValueError("the domain of the sensitive column has something other than values")
    known = [None if value is None else text_of(value) for value in declared]
    (column,) = release.recipe.sensitive
    shown = {None if value is None else text_of(value) for value in release.data[column].unique().to_pylist()}
    if len(set(known)) < len(known) or not shown <= set(known):
        raise ValueError("a published value is not in the declared domain")


def _is_value(value: object) -> bool:
    """Whether a column can have it: a text, a truth value, a number that fits into 64 bits, or none."""
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    return value is None or isinstance(value, str | float)


# --- the promise: a guarantee, made again of a recipe and of what a release tells about its table ---------------------
#
# So the words of a guarantee that was read are compared with the words that belong to its recipe, and need not be
# trusted.


FOREIGN_GUARANTEE: Final = Guarantee(
    promise="nothing: another tool made this table",
    adversary="none",
    adversary_knows="an attacker with any knowledge",
    theorem="Glasshouse does not know how the other tool made it",
)
"What Glasshouse guarantees for a table that another tool made."


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
    method, recoding = catalog.method_of(recipe), catalog.recoding_of(recipe)
    requirement = Requirement.in_words(catalog.principle_of(recipe), recipe.sensitive, release.sets)
    if (requirement.target is None) != (recoding.layout.size is None):
        raise InputError(
            "the principles RhoBreach (--rho1) and DeltaGrowth (--delta) need the recoding 'perturbed', and the "
            "recoding 'perturbed' needs one of them"
        )
    promised = recoding.guarantee(
        requirement,
        recoding.claimed(method.claimed(requirement), requirement, recipe.sensitive),
        n_sensitive=len(recipe.sensitive),
        n_whole=release.n_tuples + release.n_dropped,
        n_suppressed=release.n_suppressed,
        identified=release.identified,
        compound=[[part.name for part in column.parts] for column in release.columns if column.parts],
    )
    return over_editions(promised, release.editions)


def _check_numbers(release: Release) -> None:
    """Check that suppressed records are among the dropped ones, and no more than the recipe allows, by edition."""
    allowed = exact_share(release.recipe.suppress)
    most = allowed * (release.n_tuples + release.n_dropped)
    if not 0 <= release.n_suppressed <= release.n_dropped or release.n_suppressed > most:
        raise InputError(
            "the release says that more records were left out because of --suppress than were left out in total, or "
            "more than its recipe allows"
        )
    for name in ("n_tuples", "n_dropped", "n_suppressed") if release.editions else ():
        if sum(getattr(edition, name) for edition in release.editions) != getattr(release, name):
            raise InputError("the numbers of the editions do not add up to those of the release")
    if any(e.n_suppressed > allowed * (e.n_tuples + e.n_dropped) for e in release.editions):
        raise InputError("more records were left out of an edition because of --suppress than the recipe allows")
