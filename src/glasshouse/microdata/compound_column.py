# SPDX-License-Identifier: Apache-2.0
"""Compound columns: several sensitive columns published as one, so that analysts see how they go together.

A value of the compound column is the list of a person's values (`glasshouse.cells.compound`). What a principle asks,
it asks of these lists: under l-diversity the attacker's probability of a list is at most 1/l. A single value in it may
be more frequent in a group than any list that it is part of, and nothing is guaranteed for it alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.cells.compound import Part, compound_text
from glasshouse.errors import SchemaError
from glasshouse.microdata.domains import Column, code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata.roles import Roles

__all__ = ["check_together", "compound_column", "compound_name", "joined_columns"]


def compound_name(names: Sequence[str]) -> str:
    """The name of the compound column of some columns."""
    return "+".join(names)


def check_together(together: Sequence[Sequence[str]], roles: Roles, columns: Sequence[str]) -> None:
    """Refuse columns that cannot be published as one: there must be several, all sensitive, each in one compound."""
    taken: set[str] = set()
    for names in together:
        roles.check_option("together", names, columns, roles.sensitive)
        if len(names) < 2:
            raise SchemaError(f"together: {', '.join(names)} is only one column: name at least two columns to combine")
        for name in names:
            if name in taken:
                raise SchemaError(f"together: column {name!r} is named twice: name each column once", column=name)
            taken.add(name)
        if compound_name(names) in columns:
            raise SchemaError(
                f"together: the table already has a column {compound_name(names)!r}, which is the name of the new "
                "one: rename it",
                column=names[0],
            )


def joined_columns(columns: Sequence[Column], together: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    """The columns with some of them joined; a compound column takes the place of its first part."""
    by_name = {column.name: column for column in columns}
    compound = {names[0]: compound_column([by_name[name] for name in names]) for names in together}
    parts = {name for names in together for name in names[1:]}
    return tuple(compound.get(column.name, column) for column in columns if column.name not in parts)


def compound_column(columns: Sequence[Column]) -> Column:
    """Join some columns of a table.

    >>> ill, drug = code(pa.array(["flu", "flu", "ulcer"]), name="ill"), code(pa.array(["x", "y", "x"]), name="drug")
    >>> compound_column([ill, drug]).domain.texts
    ('["flu", "x"]', '["flu", "y"]', '["ulcer", "x"]')
    """
    lists, place = np.unique(np.stack([column.codes for column in columns]), axis=1, return_inverse=True)
    values: list[list[Any]] = [column.domain.listed() for column in columns]
    texts = [compound_text([own[at] for own, at in zip(values, codes, strict=True)]) for codes in lists.T.tolist()]
    joined = code(pa.array(texts, pa.string()), name=compound_name([column.name for column in columns]))
    parts = tuple(Part(column.name, column.domain.kind) for column in columns)
    return Column(replace(joined.domain, parts=parts), joined.codes[place.reshape(-1)])
