# SPDX-License-Identifier: Apache-2.0
"""Adult and Census-Income (KDD) as UCI keeps them: from a file that the user names, or by download if asked for.

Both are under CC BY 4.0 (Becker and Kohavi; Lane and Kohavi). What is read is checked by a digest of the columns that
the experiments use, in the order of the rows, the training part first: so archives may be packed anew, and a Parquet
file with the same rows is the same table. What is fetched stays in memory, and nothing is left behind; who sends too
much, too slowly or something else is refused.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import time
import tomllib
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import GlasshouseError, SourceError
from glasshouse.microdata.reading.sources import open_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ADULT", "CENSUS", "KNOWN", "Form", "digest", "download", "read_file"]

_HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MISSING = "?"
_SECONDS = 120.0
_MOST = 256 << 20  # bytes; the largest of the files has 100 MB when it is unpacked
_PIECE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a table of UCI is laid out: how many fields a line has, which of them are used, and where it is fetched."""

    name: str
    title: str
    fields: int
    places: Mapping[str, int]
    addresses: Sequence[str]
    sha256: str


def _form(name: str) -> Form:
    known = KNOWN[name]
    told = {key: known[key] for key in ("title", "fields", "places", "sha256")}
    return Form(name=name, addresses=[f"{_HOME}/{address}" for address in known["addresses"]], **told)


KNOWN = tomllib.loads(files(__package__).joinpath("uci.toml").read_text(encoding="utf-8"))
"""What is known of the tables, by their names."""
ADULT, CENSUS = _form("adult"), _form("census")


def download(form: Form, *, seconds: float = _SECONDS, most: int = _MOST) -> pa.Table:
    """Fetch a table from UCI; refuse it if it is not the one that is known.

    A file may take so many ``seconds``, and have at most so many bytes, packed or not.
    """
    parts = []
    for address in form.addresses:
        try:
            parts.append(parsed(_fetched(address, seconds, most), form, most=most))
        except (OSError, EOFError, zlib.error, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # it holds the connection
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise SourceError(
                f"{address} cannot be fetched ({reason}): give the file with --data PATH, or take --data synthetic",
                source=address,
            ) from None
    table = pa.concat_tables(parts)
    if digest(table) != form.sha256:
        raise SourceError(
            f"what {form.addresses[0]} gave is not the table that is known: give a file of your own with --data PATH",
            source=form.addresses[0],
        )
    return table


def _fetched(address: str, seconds: float, most: int) -> bytes:
    """All that an address gives; the time is that of the whole answer, for a server may send a byte now and then."""
    until = time.monotonic() + seconds
    with urllib.request.urlopen(address, timeout=seconds) as answer:
        promised = answer.headers["Content-Length"] or ""
        found = bytearray()
        while piece := answer.read1(_PIECE):
            found += piece
            if len(found) > most:
                raise OSError(f"more than {most:,} bytes")
            if time.monotonic() > until:
                raise TimeoutError(f"not finished after {seconds:g} s")
    if promised.isdecimal() and int(promised) != len(found):
        raise EOFError(f"it ended after {len(found):,} of {int(promised):,} bytes")
    return bytes(found)


def read_file(path: str | Path) -> tuple[Form, pa.Table]:
    """Read a local file: UCI's own text, plain or gzipped, or a table with the same columns in any form we read."""
    path = Path(path)
    try:
        with path.open("rb") as opened:
            head = opened.read(1 << 16)
    except OSError:
        raise SourceError(f"{path} cannot be read: give a file, or adult, census or synthetic", source=path) from None
    form = _form_of_text(head)
    if form is not None:
        try:
            return form, parsed(path.read_bytes(), form)
        except (OSError, EOFError, zlib.error) as error:
            raise SourceError(f"{path} cannot be unpacked: {error}", source=path) from None
    for form in (ADULT, CENSUS):
        try:
            opened_table = open_source(path, columns=list(form.places)).table
        except GlasshouseError:
            continue
        if set(form.places) <= set(opened_table.column_names):
            return form, pa.table({name: _as_text(opened_table[name]) for name in form.places})
    raise SourceError(f"{path} is neither Adult nor Census-Income (KDD): its columns are others", source=path)


def _form_of_text(head: bytes) -> Form | None:
    """The form of UCI's text files, which have no line of names."""
    if head.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(head)) as packed:
                head = packed.read(1 << 12)
        except (OSError, EOFError):
            return None
    lines = head.decode("latin-1").splitlines()
    line = next((line for line in lines if line and not line.startswith("|")), "")
    fields = [field.strip() for field in line.split(",")]
    return next((form for form in (ADULT, CENSUS) if len(fields) == form.fields and fields[0].isdecimal()), None)


def parsed(data: bytes, form: Form, *, most: int = _MOST) -> pa.Table:
    """Take the used fields from UCI's text; what is unknown is missing."""
    if data.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(most + 1)
        if len(data) > most:
            raise OSError(f"more than {most:,} bytes when it is unpacked")
    text = data.decode("latin-1")
    columns: dict[str, list[str | None]] = {name: [] for name in form.places}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == form.fields:
            for name, place in form.places.items():
                columns[name].append(None if fields[place] == _MISSING else fields[place])
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def digest(table: pa.Table) -> str:
    """SHA-256 of the rows, as text with commas; nothing stands for what is missing.

    >>> digest(pa.table({"a": ["1", None]}))[:8]
    '5a0a2b76'
    """
    columns = [pc.fill_null(_as_text(column), "").to_pylist() for column in table.columns]
    lines = "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string())
