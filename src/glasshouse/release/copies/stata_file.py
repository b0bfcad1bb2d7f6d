# SPDX-License-Identifier: Apache-2.0
"""Stata files, one for every published table.

A column of Stata has a name of at most 32 letters, digits and underscores that does not begin with a digit. Any other
name is rewritten so, and the label of the column has the name itself. Stata has no missing text but the empty one. The
time at which a file was written is in its head; it is replaced by a fixed one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from glasshouse.errors import MissingExtra, OutputError, SourceError
from glasshouse.release.release import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

__all__ = ["check_stata", "read_stata", "stata_names", "write_stata"]

_LONGEST_NAME: Final = 32
_LONGEST_LABEL: Final = 80
_LONGEST_TEXT: Final = 2_045
_RESERVED: Final = frozenset(("_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long")) | {
    *("_n", "_N", "_pi", "_pred", "_rc", "_skip", "str", "strL", "using", "with")
}
_TIME: Final = re.compile(rb"<timestamp>\x11.{17}</timestamp>", re.DOTALL)
_NO_TIME: Final = b"<timestamp>\x1101 Jan 1980 00:00</timestamp>"


def stata_names(names: list[str]) -> list[str]:
    """The names of the columns in Stata; refused if two of them would be equal.

    >>> stata_names(["age", "capital-gain", "2nd visit"])
    ['age', 'capital_gain', '_2nd_visit']
    """
    found = []
    for name in names:
        own = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_LONGEST_NAME] or "_"
        own = f"_{own}"[:_LONGEST_NAME] if own[0].isdigit() or own in _RESERVED or re.fullmatch(r"str\d+", own) else own
        found.append(own)
    twice = [name for name, own in zip(names, found, strict=True) if found.count(own) > 1]
    if twice:
        listed = ", ".join(map(repr, twice[:5]))
        raise OutputError(
            f"the names of the columns {listed} would become the same name in Stata, which allows only letters, digits "
            f"and _ in names of at most {_LONGEST_NAME} characters: rename one of them"
        )
    return found


def write_stata(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write each table as a Stata file; `OutputError` if Stata cannot hold it."""
    check_stata(tables)
    import pyreadstat

    for name, table in tables.items():
        plain = table.rename_columns(stata_names(table.column_names))
        path = folder / f"{name}.dta"
        labels = [column if len(column) <= _LONGEST_LABEL else None for column in table.column_names]
        try:
            pyreadstat.write_dta(_frame(plain), str(path), column_labels=labels)
        except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, ValueError, TypeError, OverflowError):
            raise OutputError(f"Stata cannot hold the table {name!r}") from None
        content, n_times = _TIME.subn(_NO_TIME, path.read_bytes(), count=1)
        if not n_times:
            raise OutputError("the time of writing could not be removed from the Stata file, so it is not published")
        path.write_bytes(content)


def read_stata(folder: Path, names: Mapping[str, list[str]]) -> dict[str, dict[str, list[Any]]]:
    """The columns of every file, for the expected names of tables and columns."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra("reading a Stata file", extra="formats") from None
    found = {}
    for name, columns in names.items():
        path = folder / f"{name}.dta"
        try:
            read, _ = pyreadstat.read_dta(str(path), output_format="dict")
        except Exception:
            raise SourceError(f"{path} cannot be read: this Stata file is damaged", source=path) from None
        if list(read) != stata_names(columns):
            raise SourceError(f"{path} has other columns than the table {name!r}", source=path)
        own = (list(read[stata]) for stata in stata_names(columns))
        found[name] = {column: [_plain(v) for v in values] for column, values in zip(columns, own, strict=True)}
    return found


def check_stata(tables: Mapping[str, pa.Table] | None = None) -> None:
    """Raise `OutputError` for tables that Stata cannot hold, and for all if no Stata file can be written."""
    try:
        import pyreadstat  # noqa: F401
    except ImportError:
        raise MissingExtra("writing a Stata file", extra="formats") from None
    for name, table in (tables or {}).items():
        stata_names(table.column_names)
        _check(name, table)


def _check(name: str, table: pa.Table) -> None:
    import pyarrow as pa

    for column in table.column_names:
        kind = table[column].type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_boolean(kind) or pa.types.is_time(kind):
            raise OutputError(
                f"Stata has no column of {'truth values' if pa.types.is_boolean(kind) else 'times of day'}, and column "
                f"{column!r} of the table {name!r} is one"
            )
        values = table[column].unique().to_pylist()
        if any(isinstance(value, str) and len(value.encode()) > _LONGEST_TEXT for value in values):
            raise OutputError(
                f"a text of Stata has at most {_LONGEST_TEXT:,} bytes, and column {column!r} of the table {name!r} has "
                "a longer one"
            )


def _frame(table: pa.Table) -> Any:
    """The table as a frame that the writer takes."""
    import pyarrow as pa

    plain = pa.table(
        {
            name: table[name].cast(table[name].type.value_type)
            if pa.types.is_dictionary(table[name].type)
            else table[name]
            for name in table.column_names
        }
    )
    try:
        return frame_of(plain, "polars")
    except MissingExtra:
        return frame_of(plain, "pandas")


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and value != value else value
