# SPDX-License-Identifier: Apache-2.0
"""Values: what happened to the values of each column on their way into the release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.domains import Domain
    from glasshouse.release import Release

__all__ = ["mapping_of"]


def mapping_of(release: Release, table: Microdata) -> list[dict[str, Any]]:
    """For every column: how many values came in, in which order, how they were grouped, how many cells went out.

    Values themselves are not among it: one of them may be a single person's.
    """
    meanings = {column.name: column.meaning for column in release.columns}
    roles = [(column, "quasi-identifier") for column in table.quasi] + [(c, "sensitive") for c in table.sensitive]
    return [_mapped(release, column, role, meanings.get(column.name, "")) for column, role in roles]


def _mapped(release: Release, column: Column, role: str, meaning: str) -> dict[str, Any]:
    domain = column.domain
    shown = [t[column.name] for t in release.tables.values() if column.name in t.column_names]
    return {
        "column": column.name,
        "role": role,
        "kind": domain.kind,
        "values": len(domain.values),
        "missing": int((column.codes == domain.missing_code).sum()) if domain.missing else 0,
        "order": _order(domain),
        "taxonomy": None if domain.taxonomy is None else {"levels": int(domain.taxonomy.depth.max(initial=0))},
        "cells": max((_n_different(cells) for cells in shown), default=0),
        "meaning": meaning,
    }


def _order(domain: Domain) -> str:
    if domain.taxonomy is not None:
        return "of its taxonomy"
    if not domain.ordered:
        return "none"
    return "declared" if domain.kind in ("category", "boolean") else "of its values"


def _n_different(cells: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(cells.type):
        cells = pa.chunked_array([chunk.indices for chunk in cells.unify_dictionaries().chunks])
    return int(pc.count_distinct(cells, mode="all").as_py())
