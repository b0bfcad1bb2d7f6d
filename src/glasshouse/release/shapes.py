# SPDX-License-Identifier: Apache-2.0
"""Shapes: which tables a recoding publishes, with which columns, and how their numbers fit together.

Whoever reads a release looks for its tables by the name of its recoding, and for a group by its number. A package that
says one thing and holds another is refused before anybody looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from glasshouse.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.release.recipe import Recipe

__all__ = ["check_shape"]

_ONE_TABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "boxes": (),
    "taxonomies": (),
    "foreign": (),
    "permutation": ("Group-ID",),
    "perturbed": ("G",),
}
"""Recodings that publish a single table, and the columns that they add to it."""

_APART: Final[Mapping[str, str]] = {"anatomy": "Group-ID", "angel": "Batch-ID"}
"""Recodings that count sensitive values in tables of their own, and the column that numbers the groups."""


def check_shape(tables: Mapping[str, pa.Table], recipe: Recipe) -> None:
    """Raise `SourceError` unless the tables are such as the recoding publishes."""
    name = str(recipe.recoding.get("name"))
    if name in _ONE_TABLE:
        _check_single(tables, recipe, _ONE_TABLE[name])
    elif name in _APART and recipe.sensitive:
        _check_apart(tables, recipe, _APART[name], whole=name == "anatomy")
    else:
        _refuse("its recoding is none that this version of Glasshouse knows")


def _check_single(tables: Mapping[str, pa.Table], recipe: Recipe, added: tuple[str, ...]) -> None:
    found = [table.column_names for table in tables.values()]
    if [sorted(names) for names in found] != [sorted((*recipe.quasi, *recipe.sensitive, *added))]:
        _refuse("it does not have the one table that its recoding publishes")
    if "Group-ID" in added:
        (table,) = tables.values()
        _sizes(table["Group-ID"])


def _check_apart(tables: Mapping[str, pa.Table], recipe: Recipe, number: str, *, whole: bool) -> None:
    """Each sensitive column has its table, and every table that tells groups of people tells the same ones."""
    counted = [table for table in tables.values() if "Count" in table.column_names]
    others = [table for table in tables.values() if "Count" not in table.column_names]
    if sorted(table.column_names for table in counted) != sorted([number, name, "Count"] for name in recipe.sensitive):
        _refuse("it does not have a table that counts each sensitive column")
    linked = [table for table in others if number in table.column_names]
    for table in others:
        names = [name for name in table.column_names if name != number]
        if not names or not set(names) <= set(recipe.quasi) or (whole and len(names) < len(recipe.quasi)):
            _refuse("it has a table that its recoding does not publish")
    if not linked or (whole and len(others) != 1):
        _refuse("it does not have the tables that its recoding publishes")
    sizes = [_sizes(table[number], table["Count"]) for table in counted]
    sizes += [_sizes(table[number]) for table in linked]
    if not all(np.array_equal(sizes[0], other) for other in sizes[1:]):
        _refuse("its tables do not have the same groups")


def _sizes(numbers: pa.ChunkedArray, counts: pa.ChunkedArray | None = None) -> NDArray[np.int64]:
    """Tuples of the groups 1, 2, 3, ..., none of which is empty."""
    of_row = np.asarray(numbers).astype(np.int64) - 1
    weights = None if counts is None else np.asarray(counts).astype(np.int64)
    sizes = np.bincount(of_row) if weights is None else np.bincount(of_row, weights=weights)
    if not sizes.all():
        _refuse("its groups are not numbered 1, 2, 3 and so on")
    return sizes.astype(np.int64)


def _refuse(reason: str) -> None:
    raise SourceError(f"the package is not a release: {reason}")
