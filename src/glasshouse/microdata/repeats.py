# SPDX-License-Identifier: Apache-2.0
"""Repeats: what is done where people have several rows, so that every person is one record.

Every theorem assumes one record per person. There are two ways to have it. *Sample*: of each person one row is drawn,
uniformly at random, and the others are left out. *Together*: all rows of a person become one record, whose sensitive
value is the set of the values in these rows; quasi-identifiers must then be the same in all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import Column, code
from glasshouse.microdata.set_members import set_column
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata.table import Microdata
    from glasshouse.randomness import Source

__all__ = ["drawn_rows", "people_of", "refuse_in_batches", "sampled_notice"]


def refuse_in_batches(repeated: Any, where: str) -> None:
    """Refuse to combine a person's rows if the table is read in batches."""
    if repeated != "error":
        raise NotSupported(
            f"repeated='{repeated}' cannot be used {where}, because the rows of a person are not all read at once",
            instead="use engine='memory', or prepare a table with one row for each person",
        )


def drawn_rows(columns: Mapping[str, pa.Array], identifier: str, source: Source) -> NDArray[np.int64]:
    """One row of each person, drawn uniformly at random, in the order of the table.

    Which row that is does not depend on the order of rows: those of a person are numbered by what they hold.

    >>> import pyarrow as pa
    >>> from glasshouse.randomness import Source
    >>> rows = {"who": pa.array(["b", "a", "b"]), "ill": pa.array(["gout", "flu", "flu"])}
    >>> drawn_rows(rows, "who", Source.seeded(1)).tolist() in ([0, 1], [1, 2])
    True
    """
    person = code(columns[identifier], name=identifier).codes
    others = [code(values, name=name).codes for name, values in columns.items() if name != identifier]
    order = np.lexsort((*others, person))
    n_rows = np.bincount(person)
    chosen = np.cumsum(n_rows) - n_rows + source.belows(n_rows)
    return np.sort(order[chosen])


def sampled_notice(n_people: int, n_left_out: int, source: Source) -> str:
    """A note on how many rows were left out, and on what a guarantee then covers."""
    seeded = " (with a fixed seed, which is only for tests)" if source.is_seeded else ""
    return (
        f"one row of each of {counted(n_people, 'person')} was drawn at random{seeded}, and "
        f"{counted(n_left_out, 'row was', 'rows were')} left out: the guarantee is about the drawn rows"
    )


def people_of(table: Microdata) -> Microdata:
    """One record for each person of a table with several rows for some, each sensitive value a set.

    Raises `InputError` where the rows of a person differ in a quasi-identifier.
    """
    coded = code(table.identifier, name="identifier")
    person, n_people = coded.codes.astype(np.int64), len(coded.domain.values)
    first = np.empty(n_people, np.int64)
    first[person[::-1]] = np.arange(len(person))[::-1]
    _refuse_different(table, person, first)
    sets = tuple(set_column(column, person, n_people) for column in table.sensitive)
    n_joined = table.n_tuples - n_people
    told = (
        f"all rows of a person became one record: there {'is' if n_people == 1 else 'are'} "
        f"{counted(n_people, 'person')}, and {counted(n_joined, 'row was', 'rows were')} joined to others"
    )
    if sets:
        told += f". A value of {', '.join(c.name for c in sets)} is the set of a person's values, each counted once"
    return replace(
        table,
        quasi=tuple(Column(column.domain, column.codes[first]) for column in table.quasi),
        sensitive=sets,
        identifier=coded.domain.values,
        n_tuples=n_people,
        notices=(*table.notices, told),
    )


def _refuse_different(table: Microdata, person: NDArray[np.int64], first: NDArray[np.int64]) -> None:
    """Refuse people whose rows do not have the same quasi-identifiers."""
    differs = {c.name: np.unique(person[c.codes != c.codes[first][person]]) for c in table.quasi}
    people = np.unique(np.concatenate(list(differs.values())))
    if len(people):
        listed = ", ".join(f"{name} of {len(found):,}" for name, found in differs.items() if len(found))
        raise InputError(
            f"people whose rows have different quasi-identifiers: {len(people):,} ({listed}). With "
            "repeated='together' each person becomes one record: give a person the same value in all rows, put the "
            "column into coarser ranges or leave it out, or draw one row of each person with repeated='sample'"
        )
