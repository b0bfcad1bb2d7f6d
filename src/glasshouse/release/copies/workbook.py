# SPDX-License-Identifier: Apache-2.0
"""Workbooks of Excel: a sheet for every published table, with the names of its columns in the first row.

Texts are cells of text, whatever they begin with, so that none is run as a formula. The file says nothing of who wrote
it, with which name and when: those properties are left out, and every part of it has the same date.
"""

from __future__ import annotations

import io
import re
import zipfile
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from glasshouse.errors import MissingExtra, OutputError, SourceError
from glasshouse.plural import counted
from glasshouse.unpacking.budget import most_unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["WORKBOOK", "check_workbook", "read_workbook", "write_workbook"]

WORKBOOK: Final = "tables.xlsx"
_MOST_ROWS: Final = 1_048_576  # with the names of columns
_MOST_COLUMNS: Final = 16_384
_MOST_TEXT: Final = 32_767  # characters of a cell, of which those beyond U+FFFF count twice
_SHEET: Final = re.compile(r"[^\[\]:*?/\\]{1,31}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_MOMENT: Final = (1980, 1, 1, 0, 0, 0)
_PROPERTIES: Final = "docProps/core.xml"
_NO_PROPERTIES: Final = (
    b"<?xml version='1.0' encoding='UTF-8'?>\n<cp:coreProperties "
    b'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
)


def write_workbook(folder: Path, tables: Mapping[str, pa.Table], *, file: str = WORKBOOK) -> None:
    """Write all tables into one workbook with this name; `OutputError` if Excel cannot hold them."""
    check_workbook(tables)  # before anything is begun
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sink = io.BytesIO()
    try:
        for name, table in tables.items():
            _write_sheet(book.create_sheet(name), table)
        book.save(sink)
    except BaseException:
        _discard(book)
        raise
    (folder / file).write_bytes(_anonymous(sink.getvalue()))


def _write_sheet(sheet: Any, table: pa.Table) -> None:
    from openpyxl.cell import WriteOnlyCell

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"  # never a formula
        return made

    sheet.append([cell(column) for column in table.column_names])
    for batch in table.to_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([cell(value) for value in row])


def _discard(book: Any) -> None:
    """Remove what was begun: the temporary files of sheets, which would else stay until Python ends."""
    for sheet in book.worksheets:
        with suppress(Exception):
            sheet.close()
        with suppress(Exception):
            sheet._writer.cleanup()


def read_workbook(folder: Path, names: Mapping[str, list[str]]) -> dict[str, dict[str, list[Any]]]:
    """The columns of every sheet, for the expected names of tables and columns."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("reading a workbook", extra="formats") from None
    path = folder / WORKBOOK
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > most_unpacked(path.stat().st_size):
                raise SourceError(
                    f"{path} was not read: unpacked, it would be far larger than a workbook of its size should be",
                    source=path,
                )
        with (
            path.open("rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            if book.sheetnames != list(names):
                raise SourceError(f"{path} has other sheets than the release has tables", source=path)
            return {name: _sheet(book[name], columns, path) for name, columns in names.items()}
    except (SourceError, MemoryError):
        raise
    except Exception:
        raise SourceError(f"{path} cannot be read: this workbook is damaged", source=path) from None


def _sheet(sheet: Any, columns: list[str], path: Path) -> dict[str, list[Any]]:
    sheet.reset_dimensions()
    rows = sheet.iter_rows(values_only=True)
    if list(next(rows, ())) != columns:
        raise SourceError(f"{path}: the sheet {sheet.title!r} has other columns than the table", source=path)
    found: list[list[Any]] = [[] for _ in columns]
    for row in rows:
        for place, own in enumerate(found):
            own.append(row[place] if place < len(row) else None)
    return dict(zip(columns, found, strict=True))


def check_workbook(tables: Mapping[str, pa.Table] | None = None) -> None:
    """Refuse tables that a workbook cannot hold, by an `OutputError`; and all, if no workbook can be written."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise MissingExtra("writing a workbook", extra="formats") from None
    for name, table in (tables or {}).items():
        _check(name, table)


def _check(name: str, table: pa.Table) -> None:
    if table.num_rows + 1 > _MOST_ROWS or table.num_columns > _MOST_COLUMNS:
        raise OutputError(
            f"a sheet of a workbook holds {_MOST_ROWS - 1:,} rows and {_MOST_COLUMNS:,} columns, and the table "
            f"{name!r} has {counted(table.num_rows, 'row')} and {counted(table.num_columns, 'column')}"
        )
    if not _SHEET.fullmatch(name):
        raise OutputError(f"a sheet of a workbook cannot be called {name!r}")
    for column in table.column_names:
        kind = table[column].type
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            raise OutputError(
                f"a workbook cannot store times with an offset from UTC, and column {column!r} of the table "
                f"{name!r} has such times"
            )
        texts = [column, *(value for value in table[column].unique().to_pylist() if isinstance(value, str))]
        if any(_CONTROL.search(text) for text in texts):
            raise OutputError(
                f"a workbook cannot store the control character in a text of column {column!r} in the table {name!r}"
            )
        if any(2 * len(text) > _MOST_TEXT and _length(text) > _MOST_TEXT for text in texts):
            raise OutputError(
                f"a cell of a workbook holds {_MOST_TEXT:,} characters, and column {column!r} of the table {name!r} "
                f"has a longer text"
            )


def _length(text: str) -> int:
    """The length of a text as Excel counts it."""
    return len(text.encode("utf-16-le")) // 2


def _anonymous(content: bytes) -> bytes:
    """The same workbook without names and times."""
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            entry = zipfile.ZipInfo(member.filename, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            own = _NO_PROPERTIES if member.filename == _PROPERTIES else old.read(member)
            new.writestr(entry, own)
    return sink.getvalue()
