# SPDX-License-Identifier: Apache-2.0
"""Header: whether the names of the columns are a row of the table, because the source has no line with names.

Then the first person was taken for the names, is missing in the table, and would be published as names of columns.

A column speaks for this if its name is one of its own values, and against it if its name is none although nearly every
value occurs more than once. A name that cannot be a value, such as ``age`` above numbers, decides that there is a
header. One column by itself says little: a column ``HIV`` may have the values ``HIV`` and ``none``, and a wide table
may have columns named ``2019`` and ``2020``. So columns speak for it only if they are more than those against it, and
numbers that are years, or that ascend evenly, are taken for names.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["named_by_values"]

_RARE = 0.1  # of the rows have a value that no other row has, below which a further row hardly has one
_MISSING = frozenset({"na", "n/a", "null", "nan"})  # names that may be missing values of the first person
_YEARS = range(1900, 2101)


def named_by_values(
    names: Sequence[str],
    kinds: Mapping[str, pa.DataType],
    count: Callable[[str], tuple[pa.Array, NDArray[np.int64]]],
) -> tuple[str, ...]:
    """The columns whose names are values of theirs, if the names of the table look like a row of it; otherwise none.

    ``names`` are those of all columns, ``kinds`` the types of those that can be looked at, and ``count`` gives their
    different values and how many rows have each.

    >>> import numpy as np
    >>> people = {"21": pa.array([35, 42, 58]), "flu": pa.array(["ulcer", "flu", "ulcer"])}
    >>> kinds = {name: values.type for name, values in people.items()}
    >>> def count(name):
    ...     found = pc.value_counts(people[name])
    ...     return found.field("values"), np.asarray(found.field("counts"))
    >>> named_by_values(list(people), kinds, count)
    ('21', 'flu')
    >>> named_by_values(["age", "flu"], {"age": pa.int64(), "flu": pa.string()}, count)
    ()
    """
    kinds = {name: kind for name, kind in kinds.items() if not _tells_nothing(name, kind)}
    numbers_are_names = _are_names([number for name in names if (number := _whole(name)) is not None])
    looked_at = [name for name in kinds if not (numbers_are_names and _whole(name) is not None)]
    wanted = {name: _as_value(name, kinds[name]) for name in looked_at}
    if not all(value.is_valid for value in wanted.values()):
        return ()
    is_value, may_be_value, n_against = [], [], 0
    for name, value in wanted.items():
        values, rows = count(name)
        if len(values) < 2:  # a column of marks has no other value than its name
            continue
        if pc.any(pc.equal(values, value)).as_py():
            is_value.append(name)
        elif int(rows[rows == 1].sum()) < _RARE * int(rows.sum()):
            n_against += 1
        elif not is_text(values.type):
            may_be_value.append(name)
    most = not n_against and len(may_be_value) > 1 and 2 * len(may_be_value) > len(kinds)
    if len(is_value) <= n_against and not most:
        return ()
    return tuple(name for name in wanted if name in {*is_value, *may_be_value})


def _tells_nothing(name: str, kind: pa.DataType) -> bool:
    """Whether a name may be a missing value of the first person, or a column has no values."""
    return name.strip().lower() in _MISSING or bool(pa.types.is_null(kind))


def _as_value(name: str, kind: pa.DataType) -> pa.Scalar:
    """The name as a value of a column; null if it cannot be one."""
    text = name.strip()
    if is_text(kind):
        return pa.scalar(name, kind)
    if pa.types.is_boolean(kind) and text.lower() not in ("true", "false"):
        return pa.scalar(None, kind)
    for written in (text, text.replace(",", ".")):
        try:
            return pa.scalar(written).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return pa.scalar(None, kind)


def _whole(name: str) -> int | None:
    text = name.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _are_names(numbers: Sequence[int]) -> bool:
    """Whether numbers name columns: years, and at least two numbers, such as those of questions, that ascend evenly."""
    if all(number in _YEARS for number in numbers):
        return True
    steps = {later - earlier for earlier, later in pairwise(numbers)}
    return len(steps) == 1 and min(steps) > 0 and (len(numbers) > 2 or steps == {1})
