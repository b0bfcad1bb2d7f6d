# SPDX-License-Identifier: Apache-2.0
"""The sources of a table: a file by its path, an uploaded file, a database, or the built-in hospital."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from glasshouse.database import Address, is_address
from glasshouse.errors import InputError
from glasshouse.studio.open_table import UPLOADS, begin

if TYPE_CHECKING:
    from glasshouse.studio.desk import Desk
    from glasshouse.studio.upload import Upload

__all__ = [
    "MOST_PATIENTS",
    "PATIENTS",
    "open_database",
    "open_hospital",
    "open_path",
    "open_upload",
    "read_again",
    "read_part",
]

PATIENTS, MOST_PATIENTS = 20_000, 1_000_000
ENCODINGS = ("utf-8", "cp1252", "latin-1", "iso8859_15", "cp1250", "cp1251", "utf-16", "cp932", "gb18030", "big5")
"""Encodings that are offered; any that Python knows can be typed."""
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
_LONGEST = 4096  # characters of a path


def open_path(desk: Desk, typed: str) -> None:
    """Open a file of this machine, or say why that is not possible, while the table before stays open."""
    path = _path(typed)
    try:
        if path.is_dir():
            raise InputError(f"{typed} is a folder: name a file in it")
        if not path.exists():
            raise InputError(f"there is no file {typed}: check its name, and give the whole path")
        if not path.is_file():
            raise InputError(f"{typed} is not an ordinary file: save its content to one")
        if not os.access(path, os.R_OK):
            raise InputError(f"{typed} cannot be read by this user: change its permissions")
        if not path.stat().st_size:
            raise InputError(f"{typed} is empty: choose another file")
        begin(desk, str(path.resolve()))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("this path cannot be opened: check its name") from None


def _path(typed: str) -> Path:
    """The path that was typed or pasted, without quotation marks around it and without ``file://``."""
    text = typed.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    if not text or len(text) > _LONGEST or "\0" in text or "\n" in text:
        raise InputError("write the path of one file, such as /data/patients.csv")
    if is_address(text):
        raise InputError("this is the address of a database, not a path: use the form for databases on this page")
    if "://" in text:
        raise InputError("this is an address, not a path: save the table as a file on this machine, and give its path")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise InputError("this path cannot be opened: there is no such user") from None


def open_upload(desk: Desk, upload: Upload) -> None:
    """Open an uploaded file."""
    if not upload.path.stat().st_size:
        upload.path.unlink()
        raise InputError("the file that was sent is empty: choose another")
    begin(desk, str(upload.path), Path(upload.name.replace("\\", "/")).name or upload.path.name)


def open_database(desk: Desk, address: str, table: str, query: str, password: str) -> None:
    """Open a table of a database; a password is taken in a field of its own, and shown nowhere."""
    address, table, query = address.strip(), table.strip(), query.strip()
    if not is_address(address):
        raise InputError("the address of a database must look like postgresql://user@host:5432/database")
    try:
        read = Address.of(address)
    except InputError as error:
        if "password" in str(error):
            raise InputError(
                "the address has a password in it: remove it there, and type it into the field for passwords"
            ) from None
        raise
    if len([given for given in (table or read.table, query or read.query) if given]) != 1:
        raise InputError("give either the name of a table or a query")
    how: dict[str, Any] = {name: given for name, given in (("table", table), ("query", query)) if given}
    begin(desk, address, password=password or None, **how)


def open_hospital(desk: Desk, rows: str) -> None:
    """Open the embedded hospital, with the roles and the taxonomy of the demonstration."""
    if not (rows.isascii() and rows.isdecimal() and len(rows) < 10 and 20 <= int(rows) <= MOST_PATIENTS):
        raise InputError(f"the number of patients must be from 20 to {MOST_PATIENTS:,}")
    begin(
        desk,
        str(desk.workspace.new(UPLOADS, "hospital.parquet")),
        "the built-in example: a hospital with made-up patients",
        hospital=int(rows),
        identifier="patient",
        quasi=["age", "sex", "zipcode"],
        sensitive=["disease"],
        taxonomy={"zipcode": "prefix:5"},
    )


def read_again(desk: Desk, delimiter: str, other: str, encoding: str, decimal: str) -> None:
    """Read the same CSV file with other options; decisions are forgotten, because its columns may be different."""
    how: dict[str, Any] = {}
    if delimiter == "other":
        if len(other) != 1 or not other.isascii() or other in '"\r\n' or not other.isprintable():
            raise InputError("fields must be separated by one character that is not a quotation mark")
        how["delimiter"] = other
    elif delimiter in DELIMITERS:
        how["delimiter"] = DELIMITERS[delimiter]
    elif delimiter:
        raise InputError("choose what separates fields")
    if encoding.strip():
        how["encoding"] = _encoding(encoding.strip())
    if decimal not in (".", ","):
        raise InputError("the decimal sign must be a point or a comma")
    how["decimal"] = decimal
    name = desk.shown_name
    begin(desk, desk.choices["file"], name, **how)
    desk.notes["before"] = name


def read_part(desk: Desk, table: str) -> None:
    """Read one sheet of the same workbook, or one table of the same file of a database."""
    if not table.strip() or len(table) > _LONGEST:
        raise InputError("write the name of a sheet of the workbook, or of a table of the database")
    begin(desk, desk.choices["file"], desk.shown_name, table=table.strip())
    desk.notes["before"] = ""


def _encoding(name: str) -> str:
    try:
        if len(name) > 40:
            raise LookupError
        "".encode(name)
    except (LookupError, ValueError, TypeError):
        raise InputError("this encoding is not known: usual ones are utf-8, cp1252 and latin-1") from None
    return name
