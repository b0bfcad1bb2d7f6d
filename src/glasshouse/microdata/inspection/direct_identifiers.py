# SPDX-License-Identifier: Apache-2.0
"""Direct identifiers: columns whose values name or reach one person, by the column's name and by its values.

Such a column is no quasi-identifier. A group of two people whose names are published as a set protects neither of them:
everybody sees that both are in the table.

E-mail addresses, telephone numbers with a country code and social security numbers are told by how they are written,
and names of people by words that begin with capitals, where the column's name does not say what else they are. Where
the column's name says that it is one of these, the values need not show it; they must hardly repeat, or many people
must have a value of their own, for a column called *mobile* may hold only yes and no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.inspection.role_words import NAMES, PERSONAL, QUASI, SENSITIVE, first_match
from glasshouse.microdata.notation import count_dates
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["direct_identifier"]

_WRITTEN = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "social security numbers": r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
    "telephone numbers": r"^(\+|00)[0-9][0-9 ()/.\-]{6,}$",
}
_A_NAME = r"^\p{Lu}[\p{L}'\x{2019}\-]+,?( \p{Lu}[\p{L}.'\x{2019}\-]*)+$"
_MOST = 0.8  # of the different values are written so
_HARDLY_REPEATS = 0.5  # different values per record, from which on hardly a value repeats
_OWN = 0.05  # of the people have a value that nobody else has
_MANY = 30  # different values, from which on that share is counted
_SEVERAL = 3  # different values, below which a column names nobody


def direct_identifier(name: str, values: pa.Array, rows: NDArray[np.int64]) -> str:
    """What the different values of a column are, if they name or reach one person; otherwise nothing.

    ``rows`` says how many records have each value.

    >>> direct_identifier("contact", pa.array(["ann@x.org", "bob@x.org", "eve@x.org"]), np.ones(3))
    'e-mail addresses'
    >>> direct_identifier("Surname", pa.array(["Ames", "Bell", "Cole"]), np.ones(3))
    'names or numbers of single people'
    >>> direct_identifier("city name", pa.array(["New York", "Los Angeles", "San Jose"]), np.ones(3))
    ''
    """
    texts, n_records = is_text(values.type), int(rows.sum())
    if len(values) < _SEVERAL or not (texts or pa.types.is_integer(values.type)) or count_dates(values):
        return ""
    if texts:
        for what, pattern in _WRITTEN.items():
            if _share(values, pattern) >= _MOST:
                return what
    rarely = len(values) >= _HARDLY_REPEATS * n_records
    if first_match(name, PERSONAL):
        own = len(values) >= _MANY and int(np.count_nonzero(rows == 1)) >= _OWN * n_records
        return "names or numbers of single people" if rarely or own else ""
    if not texts or not rarely or first_match(name, QUASI):
        return ""
    if any(first_match(name, words) for words in SENSITIVE.values()):
        return ""
    if first_match(name, NAMES) or _share(values, _A_NAME) >= _MOST:
        return "names of people"
    return ""


def _share(values: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(values, pattern).cast(pa.float64())).as_py())
