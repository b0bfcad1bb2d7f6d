# SPDX-License-Identifier: Apache-2.0
"""Files of statistical programs: Stata, SPSS (also portable files) and SAS, read by pyreadstat, with their labels.

A number may stand for a category there: 1 for female and 2 for male. A column all of whose values have a label becomes
a column of these labels. Where only some values have one, such as 98 for "refused" beside ages, the numbers stay, and
it is said. Values that the file declares as missing are missing. Whole numbers, which these programs keep as fractions,
become whole numbers again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import GlasshouseError, MissingExtra, SourceError
from glasshouse.microdata.reading.delimited import Loaded
from glasshouse.microdata.reading.normal_form import column_of_values
from glasshouse.unpacking.budget import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["read_statistical", "statistical_format"]

_VALUE = 8
_LARGEST = 2**53  # up to here every whole number is a double
_SAS = b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_MAGIC = {
    b"<stata_dta>": "dta",
    b"$FL2": "sav",
    b"$FL3": "sav",
    _SAS: "sas7bdat",
    b"HEADER RECORD*******LIBRARY HEADER RECORD": "xport",
    b"HEADER RECORD*******LIBV8": "xport",
}
_TITLES = {
    "dta": "Stata file",
    "sav": "SPSS file",
    "por": "SPSS portable file",
    "sas7bdat": "SAS file",
    "xport": "SAS transport file",
}
_OLD_STATA = range(102, 116)  # the first byte of a file is its version
_PORTABLE = b"SPSSPORT"  # after titles in five alphabets, 200 bytes, and a table of letters, 256 bytes
_PORTABLE_AT = 456
_PORTABLE_LINE = 80


def statistical_format(head: bytes, suffix: str) -> str | None:
    """The reader of pyreadstat for a file, by the file's first bytes; None if no program is recognised.

    >>> statistical_format(b"$FL2@(#) SPSS DATA FILE", ".sav"), statistical_format(b"age,sex", ".csv")
    ('sav', None)
    """
    found = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if found is None and suffix.lower() == ".dta" and head[:1] and head[0] in _OLD_STATA:
        return "dta"
    return "por" if found is None and _is_portable(head) else found


def _is_portable(head: bytes) -> bool:
    """Whether a file is an SPSS portable file: lines of 80 characters, whose trailing spaces some programs remove."""
    lines = head[: 2 * _PORTABLE_AT].splitlines()
    start = b"".join(line.ljust(_PORTABLE_LINE) for line in lines)
    return start.startswith(_PORTABLE, _PORTABLE_AT)


def read_statistical(path: Path, reader: str, choose: Callable[[Sequence[str]], list[str]]) -> Loaded:
    """Read the chosen columns, with the labels of columns, and note how labels of values were used."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra(f"reading a {_TITLES[reader]}", extra="formats") from None
    room = Room.of(path)
    read = partial(_read, path, reader, getattr(pyreadstat, f"read_{reader}"), pyreadstat)
    _, meta = read(metadataonly=True)
    chosen = choose(list(meta.column_names))
    if meta.number_rows is not None:
        room.check(int(meta.number_rows) * max(len(chosen), 1) * _VALUE)
    if not chosen:
        return Loaded(pa.table({}))
    columns, meta = read(usecols=chosen)
    notices: list[str] = []
    table = pa.table({name: _column(name, columns[name], meta.variable_value_labels, notices) for name in chosen})
    room.check_table(table)
    labels = {name: str(label) for name, label in meta.column_names_to_labels.items() if label}
    return Loaded(table, tuple(notices), labels=labels)


def _faults(library: Any) -> tuple[type[Exception], ...]:
    """What is raised for a file that cannot be read; earlier versions of pyreadstat know fewer of its errors."""
    known = [getattr(library, name) for name in ("PyreadstatError", "ReadstatError") if hasattr(library, name)]
    return (*known, OSError, ValueError, LookupError, TypeError)


def _read(path: Path, reader: str, function: Callable[..., Any], library: Any, **options: Any) -> tuple[Any, Any]:
    try:
        return function(str(path), output_format="dict", **options)  # type: ignore[no-any-return]
    except (GlasshouseError, MemoryError):
        raise
    except _faults(library):
        raise SourceError(
            f"{path} cannot be read: this {_TITLES[reader]} is damaged, or its version is not supported. Write it "
            "again, or save it as CSV or Parquet",
            source=path,
        ) from None


def _column(
    name: str, values: Any, labels: Mapping[str, Mapping[Any, str]], notices: list[str]
) -> pa.Array | pa.ChunkedArray:
    """A column with the labels of its values, where all of them have one."""
    column = column_of_values(_without_gaps(values), name)
    own = labels.get(name)
    if not own:
        return column
    present = column.unique().drop_null()
    named = {_key(value): str(label) for value, label in own.items()}
    unnamed = sum(_key(value) not in named for value in present.to_pylist())
    if unnamed:
        notices.append(
            f"{name}: {unnamed:,} of its values have no label, so the codes of the whole column are kept and its "
            "labels are not used"
        )
        return column
    order = list(dict.fromkeys(named[_key(value)] for value in own))
    places = {label: place for place, label in enumerate(order)}
    coded = pa.array([None if v is None else places[named[_key(v)]] for v in column.to_pylist()], pa.int32())
    return pa.DictionaryArray.from_arrays(coded, pa.array(order, pa.string())).cast(pa.string())


def _key(value: Any) -> Any:
    """A key for which a number equals its integer form; texts are unchanged."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _without_gaps(values: Any) -> Any:
    """Whole numbers as integers, with gaps where there are any; texts with empty ones as missing."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and {type(value) for value in values} == {float, type(None)}:
        array = array.astype(np.float64)  # numbers with gaps; None becomes NaN
    if array.dtype.kind == "f":
        gone = np.isnan(array)
        rest = array[~gone]
        whole = bool((np.abs(rest) < _LARGEST).all()) and bool((rest == np.floor(rest)).all())
        numbers = np.where(gone, 0, array).astype(np.int64) if whole else array
        return pa.array(numbers, mask=gone)
    return [None if value is None or value == "" or value != value else value for value in values]
