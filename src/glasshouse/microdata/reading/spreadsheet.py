# SPDX-License-Identifier: Apache-2.0
"""Spreadsheets: one sheet of an Excel workbook (.xlsx), with the names of its columns in the first row.

Cells are taken as they are shown: the last result of a formula, a date as a date, a text as a text, so that a zip code
that was kept as text keeps its leading zero. Empty rows and columns are left out, and it is said how many rows were
empty above the last. A cell that shows an error is missing, and it is said. Merged cells and formulas without a result
are refused, and so is a column with values but no name, because the first row may be a title.
"""

from __future__ import annotations

import zipfile
from contextlib import closing
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import DomainError, GlasshouseError, InputError, MissingExtra, SchemaError, SourceError
from glasshouse.microdata.reading.delimited import empty_rows
from glasshouse.microdata.reading.normal_form import column_of_values
from glasshouse.microdata.reading.sheet_markup import refuse_hidden_values
from glasshouse.unpacking.budget import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["is_workbook", "read_sheet"]

_WORKBOOK = "xl/workbook.xml"
_ERROR = "e"
_KINDS = {bool: "TRUE or FALSE", int: "a number", float: "a number", str: "a text", date: "a date", time: "a time"}


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def read_sheet(
    path: Path, sheet: str | None, choose: Callable[[Sequence[str]], list[str]]
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the chosen columns of a sheet: of that which is named, or of the only one."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("reading a spreadsheet", extra="formats") from None
    room = Room.of(path)
    with zipfile.ZipFile(path) as archive:
        room.check(sum(member.file_size for member in archive.infolist()))
    try:
        with (
            path.open("rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as workbook,
        ):
            return _read(path, _sheet(path, workbook, sheet), choose)
    except (GlasshouseError, MemoryError):
        raise
    except Exception:
        raise SourceError(
            f"{path} cannot be read: this workbook is damaged. Open it and save it again, or save the sheet as CSV",
            source=path,
        ) from None


def _sheet(path: Path, workbook: Any, name: str | None) -> Any:
    names = [one.title for one in workbook.worksheets]
    if name is None and len(names) != 1:
        raise InputError(f"{path} has {len(names):,} sheets, {', '.join(names)}: name one with table=")
    if name is not None and name not in names:
        raise InputError(f"{path} has no sheet {name!r}: it has {', '.join(names)}")
    return workbook[names[0] if name is None else name]


def _read(path: Path, sheet: Any, choose: Callable[[Sequence[str]], list[str]]) -> tuple[pa.Table, tuple[str, ...]]:
    sheet.reset_dimensions()  # what the file says of its size may be wrong
    rows = sheet.iter_rows()
    header = ["" if cell.value is None else str(cell.value) for cell in next(rows, ())]
    while header and not header[-1]:
        header.pop()
    chosen = choose(header) if header else []
    places = [header.index(name) for name in chosen]
    values: list[list[Any]] = [[] for _ in chosen]
    numbers: list[int] = []  # of the rows that are not empty
    n_errors, last = 0, 1
    for number, row in enumerate(rows, start=2):
        there = [cell.value for cell in row if cell.value is not None]
        last = number if there else last
        if not any(value != "" for value in there):
            continue
        numbers.append(number)
        _refuse_nameless(path, number, row, header)
        for column, place in zip(values, places, strict=True):
            value, is_error = _value(row, place)
            n_errors += is_error
            column.append(value)
    if not header:
        choose(header)
    n_empty = last - 1 - len(numbers)
    if n_empty or any(value is None for column in values for value in column):
        with sheet._get_source() as source:
            refuse_hidden_values(path, source, dict(zip(places, chosen, strict=True)), last)
    if not numbers:
        raise SourceError(f"{path} has no rows", source=path)
    columns = {name: _column(path, name, column, numbers) for name, column in zip(chosen, values, strict=True)}
    notices = [f"cells that show an error of the spreadsheet, which count as missing: {n_errors:,}"] if n_errors else []
    return pa.table(columns), (*notices, *([empty_rows(path, n_empty)] if n_empty else []))


def _value(row: Sequence[Any], place: int) -> tuple[Any, bool]:
    """The value of a cell, and whether it shows an error, which is missing."""
    cell = row[place] if place < len(row) else None
    value = None if cell is None else cell.value
    is_error = value is not None and getattr(cell, "data_type", None) == _ERROR
    return (None if is_error else value), is_error


def _refuse_nameless(path: Path, number: int, row: Sequence[Any], header: Sequence[str]) -> None:
    """Refuse a row with a value to the right of all names."""
    nameless = next((cell for cell in row[len(header) :] if cell.value not in (None, "")), None)
    if nameless is None:
        return
    way = "give the column a name, or delete it; or if the first row is a title, delete the rows above the names"
    if len(header) < 2:  # as where a title stands above the table
        way = "the first row probably does not have the names of the columns: delete the rows above the names"
    raise SchemaError(
        f"row {number:,} of {path} has a value in column {nameless.column_letter}, which has no name in the first row: "
        f"{way}"
    )


def _column(path: Path, name: str, values: list[Any], numbers: list[int]) -> pa.Array | pa.ChunkedArray:
    """A column as Arrow; where its values are of several types, the error names the first row with another type."""
    try:
        return column_of_values(_alike(values), name)
    except DomainError as error:
        cells = zip(numbers, values, strict=True)
        there = [(number, _kind(value)) for number, value in cells if value not in (None, "")]
        odd = next(((number, kind) for number, kind in there if kind != there[0][1]), None)
        if odd is None:
            raise
        raise DomainError(
            f"column {name!r} has values of several types: row {odd[0]:,} of {path} has {odd[1]}, and each value above "
            f"it is {there[0][1]}. If this row has totals or a title, delete it; otherwise make the column all text, "
            "all numbers or all dates",
            column=error.column,
        ) from None


def _kind(value: Any) -> str:
    return next((word for kind, word in _KINDS.items() if isinstance(value, kind)), "something else")


def _alike(values: list[Any]) -> list[Any]:
    """Values of a column in one form: dates without a time as dates, numbers of one type, empty texts as missing."""
    there = [value for value in values if value is not None and value != ""]
    if there and all(isinstance(value, datetime) and value.time() == time() for value in there):
        return [value.date() if isinstance(value, datetime) else None for value in values]
    if there and all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
        whole = all(float(value).is_integer() for value in there)
        return [None if value is None or value == "" else (int(value) if whole else float(value)) for value in values]
    return [None if value == "" else value for value in values]
