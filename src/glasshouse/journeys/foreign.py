# SPDX-License-Identifier: Apache-2.0
"""Foreign releases: a generalized table that another tool published, with a statement of how it was made.

Glasshouse promises nothing for such a table; it reads its cells as an attacker does, so that it can be attacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse import catalog
from glasshouse.cells import Grammar, Unreadable
from glasshouse.errors import SchemaError
from glasshouse.journeys.load import FOREIGN_GUARANTEE
from glasshouse.microdata.domains import kind_of
from glasshouse.microdata.reading.sources import open_source
from glasshouse.release import PublishedColumn, Recipe, Release
from glasshouse.release.layout import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.principles.principle import Principle

__all__ = ["foreign_release"]

_CELLS = (
    "as the other tool wrote it: a value, an interval, a range, a set, a prefix with stars, a node of a taxonomy, or *"
)


def foreign_release(
    source: Any,
    *,
    quasi: Sequence[str],
    sensitive: str,
    principle: Principle | str | Mapping[str, Any] | None = None,
    method: Any = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> Release:
    """Take another tool's generalized table for a release, so that `attack` can be run on it.

    Parameters
    ----------
    source
        A file or a frame with one row for every person: generalized quasi-identifiers and the sensitive value.
    quasi, sensitive
        Names of the columns. The order of ``quasi`` is the one in which the method breaks ties between attributes.
    principle, method
        What the other tool was asked for, and how it divides a table, as for `publish`. Both are needed for
        `ReverseEngineering` and `Minimality`; `Linking` does without, and with a principle tells what was promised.
    delimiter, encoding, decimal
        As for `read`.

    Examples
    --------
    >>> import glasshouse as gh
    >>> theirs = {"age": ["[20, 40)", "[20, 40)", "40-60", "40-60"], "zip": ["47***"] * 4, "ill": ["a", "b", "b", "b"]}
    >>> release = foreign_release(theirs, quasi=["age", "zip"], sensitive="ill", principle=gh.LDiversity(ell=2))
    >>> voters = gh.read({"name": ["Ann", "Bob"], "age": [25, 40], "zip": ["47601", "47602"]}, identifier="name",
    ...                  quasi=["age", "zip"])
    >>> gh.attack(release, knowledge=gh.Knowledge(external=voters)).of("Bob")
    {'b': 1.0}
    """
    principle = None if principle is None else catalog.chosen_principle(principle)
    method = catalog.chosen(catalog.METHODS, method)
    names = [*quasi, sensitive]
    opened = open_source(source, columns=names, delimiter=delimiter, encoding=encoding, decimal=decimal)
    for name in names:
        if name not in opened.columns:
            raise SchemaError.unknown(name, list(opened.columns), role="a column of the table")
    kinds = {name: _kind(opened.table[name], name) for name in names}
    columns = (
        *(PublishedColumn(name=name, role="quasi-identifier", kind=kinds[name], meaning=_CELLS) for name in quasi),
        PublishedColumn(name=sensitive, role="sensitive", kind=kinds[sensitive], meaning="the sensitive value"),
    )
    recipe = Recipe(
        principle={} if principle is None else catalog.principle_to_data(principle, [sensitive]),
        method={} if method is None else catalog.to_data(method),
        recoding={"name": FOREIGN.name},
        quasi=tuple(quasi),
        sensitive=(sensitive,),
    )
    table = opened.table.select(names)
    return Release(
        tables={FOREIGN.people: table},
        columns=columns,
        recipe=recipe,
        guarantee=FOREIGN_GUARANTEE,
        n_tuples=table.num_rows,
    )


def _kind(column: pa.ChunkedArray, name: str) -> str:
    """The kind of a column's values: numbers or dates, if every cell can be read so, and texts otherwise.

    What begins alike and goes on with stars are codes, and so texts, even if all of them are made of digits.
    """
    plain = column.combine_chunks()
    plain = plain.cast(plain.type.value_type) if pa.types.is_dictionary(plain.type) else plain
    kind = kind_of(plain.type, name)
    if kind != "category":
        return kind
    cells = [cell for cell in plain.unique().drop_null().to_pylist() if cell.strip(" *")]
    if not cells or any("*" in cell for cell in cells):
        return kind
    for other in ("integer", "float", "date"):
        grammar = Grammar(kind=other)
        if not any(isinstance(grammar.parse(cell), Unreadable) for cell in cells):
            return other
    return kind
