# SPDX-License-Identifier: Apache-2.0
"""Sets as values: a person with several rows has one value, the set of the values in these rows.

A column of sets is a column like any other, whose values are the texts of sets, and whose domain also says which single
values each set has. Methods and recodings look at sets as a whole: two people are exchanged with all that they have.
Principles are asked of single values: in a group, a person counts once for every value of the person's set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.cells.sets import members_in, set_text
from glasshouse.cells.values import NotAValue
from glasshouse.errors import DomainError
from glasshouse.microdata.domains import Column, Domain, code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts

__all__ = ["SET", "Members", "as_sets", "members_of_texts", "set_column"]

SET = "set"
"""The kind of a column whose values are sets."""


@dataclass(frozen=True, eq=False)
class Members:
    """The single values in each set of a domain.

    Parameters
    ----------
    domain
        The single values.
    offsets, codes
        The set with code ``i`` has the values ``codes[offsets[i]:offsets[i + 1]]`` of ``domain``, ascending.

    Examples
    --------
    >>> column = set_column(code(pa.array(["flu", "gout", "flu", "flu"]), name="ill"), np.array([0, 0, 1, 1]), 2)
    >>> column.domain.values.to_pylist(), column.codes.tolist()
    (['["flu"]', '["flu", "gout"]'], [1, 0])
    >>> from glasshouse.microdata.counts import Counts
    >>> counted = column.domain.members.counts(Counts.of([[0, 1]], n_values=2))
    >>> counted.sizes.tolist(), counted.dense.tolist()
    ([2], [[2, 1]])
    """

    domain: Domain
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def counts(self, counts: Counts) -> Counts:
        """How many records of each group have each single value; the size of a group stays that of its records."""
        return counts.of_members(self)

    def values_of(self, codes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The single values of some sets, one set after the other: the place of the set in ``codes``, and the value."""
        lengths = np.diff(self.offsets)[codes]
        owner = np.repeat(np.arange(len(codes)), lengths)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return owner, self.codes[self.offsets[codes][owner] + within]

    def having(self, member: int) -> NDArray[np.bool_]:
        """Which sets have a single value, a truth value per set."""
        found = np.zeros(len(self), np.bool_)
        found[np.repeat(np.arange(len(self)), np.diff(self.offsets))[self.codes == member]] = True
        return found


def set_column(column: Column, person: NDArray[np.int64], n_people: int) -> Column:
    """A value for each person: the set of the values in the person's rows, of which everybody has one at least.

    The order of rows does not matter, and neither does how often a person has a value.
    """
    size = column.domain.size
    keys = np.unique(person * size + column.codes)
    offsets = np.searchsorted(keys, np.arange(n_people + 1) * size)
    members = (keys % size).tolist()
    of_person = [tuple(members[a:b]) for a, b in pairwise(offsets.tolist())]
    sets = sorted(set(of_person))
    place = {one: number for number, one in enumerate(sets)}
    texts = [*column.domain.texts, None]  # a missing value has the last code
    domain = Domain(
        name=column.name,
        kind=SET,
        values=pa.array([set_text([texts[member] for member in one]) for one in sets], pa.string()),
        ordered=False,
        members=Members(
            column.domain,
            np.cumsum([0, *map(len, sets)]).astype(np.int64),
            np.array([member for one in sets for member in one], np.int32),
        ),
    )
    return Column(domain, np.array([place[one] for one in of_person], np.int32))


def as_sets(column: Column) -> Column:
    """The column, whose texts are sets, with what these have; `DomainError` if one of them is no set."""
    members = members_of_texts(column.name, column.domain.listed())
    values = column.domain.values.cast(pa.string())
    return Column(Domain(name=column.name, kind=SET, values=values, ordered=False, members=members), column.codes)


def members_of_texts(name: str, texts: Sequence[Any]) -> Members:
    """The members of the sets that are written in a column's texts; `DomainError` if one of them is not a set."""
    try:
        found = [members_in(text) for text in texts]
    except NotAValue:
        raise DomainError(
            f"column {name!r} must have sets of values, and has a value that is not one: write each set as a JSON list "
            'of different texts, such as ["flu", "gout"]',
            column=name,
        ) from None
    members = pa.array([member for one in found for member in one], pa.string())
    singles = code(members, name=name, missing=members.null_count > 0)
    ends = np.cumsum([0, *map(len, found)])
    codes = [np.sort(singles.codes[a:b]) for a, b in pairwise(ends.tolist())]
    return Members(singles.domain, ends.astype(np.int64), np.concatenate([np.empty(0, np.int32), *codes]))
