# SPDX-License-Identifier: Apache-2.0
"""Delimited text (CSV and similar): how to find the separator, the encoding, and which columns are numbers.

Arrow parses and infers. Decided here is what it leaves open: the delimiter and the encoding, where they are not
given, and which columns of digits are no numbers. A zip code ``01234``, a phone number ``+49171``, a serial number
of thirty digits would not survive as numbers; a column with a single such value stays text, wherever in the file it
stands. Arrow infers from the first rows which columns look like numbers; these are then read as text, looked
through, and converted, which costs about as much as reading them as numbers.

The delimiter is the one on which the rows agree. The encoding is what a byte-order mark says, else UTF-8, which no
other encoding passes for by accident; where the bytes are not UTF-8, charset-normalizer guesses, and the guess is
reported.

Quotation marks group, and mean nothing else: ``"12"`` is the number 12 and ``""`` is missing, for many programs
quote every field. A mark that is never closed is refused: the value that it opens would be the rest of the file. Blank
lines are skipped, and so are records that are empty in every column, which are counted. Blanks around a text belong to
it; around a number they do not.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from glasshouse.errors import ParameterError, SchemaError, SourceError
from glasshouse.microdata.reading.normal_form import contiguous, in_parallel
from glasshouse.microdata.reading.quotes import Breaks, Quotes, count_breaks, is_joined
from glasshouse.microdata.spelling import decimal_commas
from glasshouse.plural import counted
from glasshouse.unpacking.budget import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["DELIMITERS", "HEAD_BYTES", "NULL_SPELLINGS", "Delimited", "Loaded", "open_bytes", "read_delimited"]

NULL_SPELLINGS = ("", "NA", "N/A", "NULL", "null", "NaN", "nan")
"""What stands for a missing value in delimited text, quoted or not, in columns of every type."""

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""What may be detected, and what it is called in sentences."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that tables are found in. Left to all it knows, the detector takes a few umlauts for DOS or Macintosh text.
_LEGACY_ENCODINGS = (
    *(f"cp125{digit}" for digit in range(9)),
    *("iso8859_2", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
_USUAL_ENCODING = "cp1252"
ROWS_LOOKED_AT = 1000
"""How many rows decide on what separates fields, and on decimal commas."""
_SAMPLE_BYTES = 1 << 16
_MOST_EXACT_INTEGER = 2**53
_NO_NUMBER = r"^(?:\+|-?0[0-9xX])"  # leading plus, zero or hexadecimal prefix: lost in a number
_INTEGER = re.compile(r"[+-]?[0-9]+$", re.ASCII)
_MOST_DIGITS = 309  # of an integer that a double can stand for
HEAD_BYTES = 1 << 18
"""How much of a file is looked at before it is read."""


class Loaded(NamedTuple):
    """A table as it was read, what was assumed, and, of delimited text, how it is written and what its fields hold.

    ``breaks`` names the columns, read or not, of which a quoted value holds a line break. ``labels`` says in words what
    columns mean, where a file does.
    """

    table: pa.Table
    notices: tuple[str, ...] = ()
    delimiter: str | None = None
    breaks: Mapping[str, Breaks] = {}
    encoding: str | None = None
    labels: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Delimited:
    """A delimited text file and how it is to be read."""

    path: Path
    compression: str | None
    delimiter: str | None
    encoding: str
    decimal: str
    null_values: tuple[str, ...]
    quoted: bool
    declared: bool
    """Whether somebody said in which encoding it is."""

    @classmethod
    def of(
        cls,
        path: Path,
        head: bytes,
        compression: str | None,
        *,
        delimiter: str | None,
        encoding: str | None,
        decimal: str,
        null_values: Sequence[str] = NULL_SPELLINGS,
        quoted: bool | None = None,
    ) -> Delimited:
        """Check how a file is said to be written; what is None is found out, by its first bytes or later."""
        check_options(delimiter, encoding, decimal, null_values)
        return cls(
            path=path,
            compression=compression,
            delimiter=delimiter,
            encoding=codecs.lookup(encoding or marked_encoding(head) or "utf-8").name,
            decimal=decimal,
            null_values=tuple(null_values),
            quoted=compression is not None or _has_quotation_marks(path) if quoted is None else quoted,
            declared=encoding is not None,
        )

    def in_another_encoding(self) -> Delimited:
        """The same file with the encoding that its bytes seem to have; used if the first assumption was wrong."""
        if self.declared or self.encoding != "utf-8":
            raise undecodable(self) from None
        return replace(self, encoding=encoding_of(self))

    def open(self, quotes: Quotes | None = None) -> pa.NativeFile:
        """Open the decompressed bytes; if ``quotes`` scans them, they come in UTF-8 and without empty records."""
        stream = open_bytes(self.path, self.compression)
        return stream if quotes is None else quotes.watching(stream)

    def quotes(self, n_columns: int) -> Quotes:
        """A watcher for the quotation marks of this file."""
        return Quotes(delimiter=self.delimiter or ",", n_columns=n_columns, encoding=self.encoding)

    def options(
        self, *, columns: Collection[str] | None = None, as_text: Collection[str] = (), scanned: bool = False
    ) -> dict[str, Any]:
        """Spell the options out for Arrow; only ``columns`` are converted, ``as_text`` without inference.

        What was ``scanned`` for quotation marks is in UTF-8.
        """
        return {
            "read_options": arrow_csv.ReadOptions(encoding="utf-8" if scanned else self.encoding),
            # Looking for line breaks between quotation marks slows the reader down by a quarter.
            "parse_options": arrow_csv.ParseOptions(delimiter=self.delimiter or ",", newlines_in_values=self.quoted),
            "convert_options": arrow_csv.ConvertOptions(
                null_values=list(self.null_values),
                strings_can_be_null=True,
                decimal_point=self.decimal,
                include_columns=None if columns is None else list(columns),
                column_types=dict.fromkeys(as_text, pa.string()),
            ),
        }


def read_delimited(
    path: Path, *, head: bytes, compression: str | None, choose: Callable[[Sequence[str]], list[str]], **options: Any
) -> Loaded:
    """Read the chosen columns of a file that begins with ``head``; for the options see `Delimited.of`.

    ``choose`` gets all column names, and returns those to read, or raises.
    """
    file = Delimited.of(path, head, compression, **options)
    try:
        return _read(file, head, choose)
    except UnicodeError:
        file = file.in_another_encoding()
    try:
        loaded = _read(file, head, choose)
    except UnicodeError:
        raise undecodable(file) from None
    return loaded._replace(notices=(*loaded.notices, taken_for(file)))


def open_bytes(path: Path, compression: str | None) -> pa.NativeFile:
    """Open a file as decompressed bytes."""
    raw = pa.OSFile(str(path), "rb")
    return Room.of(path).bounded(pa.CompressedInputStream(raw, compression)) if compression else raw


def check_options(delimiter: str | None, encoding: str | None, decimal: str, null_values: Sequence[str]) -> None:
    if delimiter is not None and not (
        isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\r\n'
    ):
        raise ParameterError("open_source", "delimiter", "one character (not a quotation mark or line end)", delimiter)
    if decimal not in (".", ","):
        raise ParameterError("open_source", "decimal", "'.' or ','", decimal)
    if isinstance(null_values, str) or not all(isinstance(spelling, str) for spelling in null_values):
        raise ParameterError("open_source", "null_values", "a sequence of texts", null_values)
    if encoding is not None:
        try:
            "".encode(encoding)
        except (LookupError, TypeError, ValueError):
            raise ParameterError("open_source", "encoding", "an encoding that Python knows", encoding) from None


def _has_quotation_marks(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b'"' in block for block in iter(lambda: file.read(1 << 20), b""))


def _may_have_empty_lines(file: Delimited, n_columns: int) -> bool:
    """Whether a text without quotation marks may have records that are empty in every column."""
    if file.encoding != "utf-8":
        return True
    delimiters = (file.delimiter or ",").encode() * (n_columns - 1)
    if not delimiters:
        return False
    before = b""
    with file.path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            before += block
            if b"\n" + delimiters in before or b"\r" + delimiters in before:
                return True
            before = before[-n_columns:]
    return False


def _read(file: Delimited, head: bytes, choose: Callable[[Sequence[str]], list[str]]) -> Loaded:
    """Read the chosen columns in the file's encoding, or raise `UnicodeError`."""
    file, looks, notices = looked_at(file, head)
    chosen = choose(looks.names)
    if not chosen:
        return Loaded(pa.table({}), tuple(notices), file.delimiter, {}, file.encoding)
    suspects = {name: looks.field(name).type for name in chosen if is_number(looks.field(name).type)}
    scanned = file.quoted or _may_have_empty_lines(file, len(looks.names))
    quotes = file.quotes(len(looks.names)) if scanned else None
    columns = _read_columns(file, chosen, as_text=suspects, quotes=quotes)
    breaks = {} if quotes is None else checked_breaks(file, quotes, looks.names)
    late = {name: column.type for name, column in columns.items() if is_number(column.type)}
    if late:  # empty as far as was looked
        again = file.quotes(len(looks.names)) if scanned else None
        columns |= _read_columns(file, late, as_text=late, quotes=again)
        suspects |= late
    if not len(columns[chosen[0]]):
        raise no_rows(file)
    if any(pa.types.is_binary(column.type) for column in columns.values()):  # Arrow's last resort
        raise UnicodeError
    converted = in_parallel(lambda name: numbers_of(columns[name], suspects[name], file.decimal), suspects)
    columns |= {name: column for name, (column, _) in zip(suspects, converted, strict=True)}
    kept = [name for name, (_, is_kept) in zip(suspects, converted, strict=True) if is_kept]
    table = pa.table(columns)
    notices += [*column_notices(file, looks.names, table, kept), *(quotes_notices(file, quotes) if quotes else ())]
    return Loaded(table, tuple(notices), file.delimiter, breaks, file.encoding)


def looked_at(file: Delimited, head: bytes) -> tuple[Delimited, pa.Schema, list[str]]:
    """The file with its delimiter, the likely types of its columns by its first rows, and what was assumed."""
    start = _first_text(head, file.encoding)
    if not start.strip():
        raise SourceError(f"{file.path} is empty", source=file.path)
    if file.delimiter is not None:
        return file, _infer_columns(file, start), []
    detected = detect_delimiter(start)
    notices = list(_delimiter_notices(file, detected))
    file = replace(file, delimiter=detected)
    return file, _infer_columns(file, start), notices


def _first_text(head: bytes, encoding: str) -> str:
    """Decode the first lines, whole ones if the file goes on."""
    goes_on = len(head) >= HEAD_BYTES
    text = codecs.getincrementaldecoder(encoding)().decode(head, final=not goes_on).lstrip("\ufeff")
    return text[: text.rfind("\n") + 1] or text if goes_on else text


def _infer_columns(file: Delimited, start: str) -> pa.Schema:
    """Names and likely types of all columns. Rows that do not parse are met again when the whole file is read."""
    options = replace(file, encoding="utf-8", quoted=True).options()
    options["parse_options"].invalid_row_handler = lambda _: "skip"
    with translated_errors(file):
        looks = arrow_csv.read_csv(pa.BufferReader(start.encode()), **options).schema
    names = looks.names
    for place, name in enumerate(names, start=1):
        if is_joined(count_breaks(name), name.count(file.delimiter or ","), len(names)):
            raise SchemaError(  # the name is not shown, for it holds records
                f"{file.path}: the name of column {place:,} looks like several records in one: close the quotation "
                "mark in line 1"
            )
    return looks


def checked_breaks(file: Delimited, quotes: Quotes, names: Sequence[str]) -> dict[str, Breaks]:
    """What quoted values contain, by column, after all bytes were read; refuses a mark that is never closed."""
    quotes.finish()
    if quotes.open_line is not None:
        raise _unclosed(file, quotes.open_line)
    return {names[place]: breaks for place, breaks in quotes.breaks.items() if place < len(names)}


def _unclosed(file: Delimited, line: int) -> SourceError:
    return SourceError(
        f"{file.path}: a quotation mark in line {line:,} opens a value and is not closed before the file ends: "
        "everything after it would be one value. Close the mark, or remove it",
        source=file.path,
    )


def _open_line(file: Delimited) -> int | None:
    """The line of a quotation mark that is never closed, in a file that could not be read; None if there is none."""
    quotes = file.quotes(1)
    try:
        with file.open() as stream:
            for piece in iter(lambda: bytes(stream.read(1 << 20)), b""):
                quotes.feed(piece)
        quotes.finish()
    except (OSError, UnicodeError):
        return None
    return quotes.open_line


def quotes_notices(file: Delimited, quotes: Quotes) -> Iterator[str]:
    if quotes.n_astray:
        yield (
            f"quoted values of {file.path.name} with text after the closing quotation mark: {quotes.n_astray:,}, "
            f"first in line {quotes.first_astray:,}. Write a quotation mark inside a value twice"
        )
    if quotes.n_empty:
        yield empty_rows(file.path, quotes.n_empty)


def empty_rows(path: Path, n_rows: int) -> str:
    """The note on rows that are left out because nothing is in them."""
    one, many = (f"of {path.name} {told} empty in every column and {told} left out" for told in ("is", "are"))
    return counted(n_rows, f"row {one}", f"rows {many}")


def _read_columns(
    file: Delimited, columns: Collection[str], *, as_text: Collection[str], quotes: Quotes | None = None
) -> dict[str, pa.ChunkedArray]:
    # Not closed by hand: a thread of Arrow that still read ahead would read from the file that is opened next under the
    # same number. (The streaming reader, which is not used here, does read on after it is closed.)
    with translated_errors(file):
        options = file.options(columns=columns, as_text=as_text, scanned=quotes is not None)
        table = arrow_csv.read_csv(file.open(quotes), **options)
    return dict(zip(columns, table.columns, strict=True))


def is_number(kind: pa.DataType) -> bool:
    """Whether values of this type may have lost something of their texts."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def numbers_of(texts: pa.ChunkedArray, likely: pa.DataType, decimal: str) -> tuple[pa.ChunkedArray, bool]:
    """Numbers, or the texts themselves; and whether they are kept though they look like numbers."""
    try:
        return _converted(texts, likely, decimal), False
    except _NotNumbersError as refusal:
        if refusal.look_like_numbers:
            return texts, True
    try:
        return _converted(pc.ascii_trim_whitespace(texts), likely, decimal), False
    except _NotNumbersError as refusal:
        return texts, refusal.look_like_numbers


def typed(file: Delimited, likely: pa.DataType, texts: pa.Array) -> tuple[pa.Array, bool]:
    """The values of a column whose different texts are these, and whether they are kept though they look like numbers.

    The column is ``likely`` of a type by its beginning. It gets the type that it has when all of it is read at once.
    """
    if not len(texts):
        return pa.nulls(0), False
    column = pa.chunked_array([texts])
    if not is_number(likely):
        inferred = _inferred(file, texts)
        if not is_number(inferred.type):
            return contiguous(inferred), False
        likely = inferred.type
    values, kept = numbers_of(column, likely, file.decimal)
    return contiguous(values), kept


def _inferred(file: Delimited, texts: pa.Array) -> pa.ChunkedArray:
    """The type that Arrow infers for a column with these texts, which it can only read from a file."""
    written = pa.BufferOutputStream()
    arrow_csv.write_csv(pa.table({"texts": texts}), written, arrow_csv.WriteOptions(quoting_style="all_valid"))
    options = replace(file, encoding="utf-8", quoted=True).options()
    with translated_errors(file):
        return arrow_csv.read_csv(pa.BufferReader(written.getvalue()), **options).column(0)


class _NotNumbersError(Exception):
    """The error for texts that are not numbers, or would lose something as numbers."""

    def __init__(self, *, look_like_numbers: bool) -> None:
        self.look_like_numbers = look_like_numbers


def _converted(texts: pa.ChunkedArray, likely: pa.DataType, decimal: str) -> pa.ChunkedArray:
    """Integers, else floats; `_NotNumbersError` if neither, or if the numbers would lose something of the texts."""
    try:
        numbers = _floats(texts, decimal) if pa.types.is_floating(likely) else texts.cast(pa.int64())
    except pa.ArrowInvalid:
        numbers = _floats(texts, decimal)
    bounds = pc.min_max(numbers).as_py()
    first = "0" if (bounds["min"] or 0) >= 0 else "0-"
    if pa.types.is_floating(numbers.type):
        first += "+"
        if max(-(bounds["min"] or 0.0), bounds["max"] or 0.0) >= _MOST_EXACT_INTEGER and _loses_digits(texts, numbers):
            raise _NotNumbersError(look_like_numbers=True)
    if _any_starts(texts, first):
        raise _NotNumbersError(look_like_numbers=True)
    return numbers


def _floats(texts: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    if decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            raise _NotNumbersError(look_like_numbers=False)
        texts = pc.replace_substring(texts, decimal, ".")
    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:
        raise _NotNumbersError(look_like_numbers=False) from None


def _loses_digits(texts: pa.ChunkedArray, floats: pa.ChunkedArray) -> bool:
    """Whether the texts contain integers whose floats do not have all their digits."""
    large = pc.greater_equal(pc.abs(floats), float(_MOST_EXACT_INTEGER))
    pairs = zip(texts.filter(large), floats.filter(large), strict=True)
    exact = ((text.as_py(), number.as_py()) for text, number in pairs)
    return any(_INTEGER.match(text) and (len(text) > _MOST_DIGITS or int(text) != number) for text, number in exact)


def _any_starts(texts: pa.ChunkedArray, characters: str) -> bool:
    """Whether any text begins with something that a number would lose; the slow pattern is tried on candidates only."""
    for character in characters:
        possible = pc.starts_with(texts, character)
        if pc.any(possible).as_py() and pc.any(pc.match_substring_regex(texts.filter(possible), _NO_NUMBER)).as_py():
            return True
    return False


def encoding_of(file: Delimited) -> str:
    with translated_errors(file), file.open() as stream:
        detected = detect_encoding(iter(lambda: bytes(stream.read(1 << 20)), b""))
    if detected is None:
        raise SourceError(
            f"{file.path} is not UTF-8, and its encoding could not be found: give it (encoding=), such as 'cp1252'",
            source=file.path,
        )
    return detected


def taken_for(file: Delimited) -> str:
    """The note on which encoding was guessed."""
    return (
        f"{file.path.name} is not UTF-8 and is read as {file.encoding}: if letters look wrong, give the right "
        "encoding (encoding=)"
    )


def undecodable(file: Delimited) -> SourceError:
    where = _first_undecodable_line(file)
    place = f" (first in line {where:,})" if where else ""
    advice = "leave encoding= out to have it detected, or pass another" if file.declared else "pass the right encoding="
    return SourceError(f"{file.path} has bytes that are not {file.encoding}{place}: {advice}", source=file.path)


def _first_undecodable_line(file: Delimited) -> int | None:
    if file.encoding.startswith(("utf-16", "utf-32")):
        return None  # line ends cannot be seen in the bytes
    with file.open() as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            try:
                line.decode(file.encoding)
            except UnicodeError:
                return number
    return None


@contextmanager
def translated_errors(file: Delimited) -> Iterator[None]:
    """Translate errors about the file into our own words: Arrow's messages show the row at fault."""
    try:
        yield
    except pa.ArrowInvalid as error:
        text = str(error)
    except OSError as error:
        if file.compression is None:
            why = error.strerror or "I/O error"
            raise SourceError(f"{file.path} cannot be read: {why}", source=file.path) from None
        raise SourceError(
            f"{file.path} is damaged or incomplete ({file.compression}): copy or compress it again", source=file.path
        ) from None
    else:
        return
    # The row that Arrow shows could hold any words: what names a ragged row is looked for first.
    if re.search(r"Expected \d+ columns, got \d+", text) or "straddling" in text:
        raise _ragged(file)
    if "invalid UTF8" in text:
        raise UnicodeError
    if "Empty CSV" in text:
        raise no_rows(file)
    raise SourceError(
        f"{file.path} cannot be read as a CSV file: check that it has one record on each line, or give the character "
        "between its fields (delimiter=, --delimiter) and its encoding (encoding=, --encoding)",
        source=file.path,
    )


def no_rows(file: Delimited) -> SourceError:
    if (line := _open_line(file)) is not None:
        return _unclosed(file, line)
    return SourceError(f"{file.path} has column names but no rows", source=file.path)


def _ragged(file: Delimited) -> SourceError:
    """Find an unclosed quotation mark, else the first line whose number of fields differs from the header's."""
    if (open_line := _open_line(file)) is not None:
        return _unclosed(file, open_line)
    delimiter = file.delimiter or ","
    width, line, found = 0, 0, 0
    with file.open() as stream:
        encoding = "utf-8-sig" if file.encoding == "utf-8" else file.encoding
        text = io.TextIOWrapper(io.BufferedReader(stream), encoding, errors="replace", newline="")
        rows = csv.reader(text, delimiter=delimiter)
        try:
            for row in rows:
                width = width or len(row)
                if row and len(row) != width:
                    found = len(row)
                    break
                line = rows.line_num
        except (csv.Error, OSError):
            found = 0
    if not found:
        return SourceError(
            f"{file.path}: the record that begins in line {line + 1:,} does not end: check whether a closing "
            "quotation mark is missing",
            source=file.path,
        )
    return SourceError(
        f"{file.path}: line {line + 1:,} has {counted(found, 'field')} and the header has {width:,}, separated by "
        f"{DELIMITERS.get(delimiter, repr(delimiter))}: correct the line, or give the delimiter (delimiter=) if "
        "another character separates the fields",
        source=file.path,
    )


def _delimiter_notices(file: Delimited, detected: str | None) -> Iterator[str]:
    if detected is None:
        yield (
            f"no delimiter was found in {file.path.name}, so it is read as a single column: if something separates its "
            "fields, say what (delimiter=)"
        )
    elif detected != "," and not (detected == "\t" and ".tsv" in file.path.name.lower()):
        yield f"the fields of {file.path.name} are taken to be separated by {DELIMITERS[detected]}"


def column_notices(file: Delimited, header: Sequence[str], table: pa.Table, kept: Sequence[str]) -> Iterator[str]:
    """Notes on what was assumed about the columns of a file, from at least the first rows of the table."""
    if kept:
        yield kept_notice(kept)
    commas = [name for name in table.column_names if _has_decimal_commas(table.column(name))]
    if commas and file.decimal == ".":
        yield (
            f"columns that look like numbers with a decimal comma and are read as text: {', '.join(commas)}. To read "
            "them as numbers, use decimal=','"
        )
    if all(_reads_as_number(name) for name in header):
        yield f"the first line of {file.path.name} is read as the names of the columns, although it has numbers"


def kept_notice(names: Sequence[str]) -> str:
    """The note on columns of digits that stay texts."""
    return f"kept as text, because numbers would lose leading zeros, plus signs or digits: {', '.join(names)}"


def _has_decimal_commas(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_string(column.type):
        return False
    return decimal_commas(column.slice(0, ROWS_LOOKED_AT))


def _reads_as_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def detect_delimiter(text: str) -> str | None:
    r"""Detect the separator of fields: most rows have as many fields as the first row, and more than one.

    >>> detect_delimiter('name;place\n"Doe; Ann";Bonn\n'), detect_delimiter("alone")
    (';', None)
    """
    scores = {}
    for delimiter in DELIMITERS:
        widths = _widths(text, delimiter)
        if widths and widths[0] > 1:
            scores[delimiter] = (widths.count(widths[0]) / len(widths), widths[0])
    return max(scores, key=lambda delimiter: scores[delimiter]) if scores else None


def _widths(text: str, delimiter: str) -> list[int]:
    """The number of fields in the first rows; none if this delimiter does not separate them."""
    widths: list[int] = []
    try:
        for row in csv.reader(iter(text.splitlines(keepends=True)), delimiter=delimiter):
            if row:
                widths.append(len(row))
            if len(widths) >= ROWS_LOOKED_AT:
                break
    except csv.Error:
        return []
    return widths


def marked_encoding(head: bytes) -> str | None:
    """Read the byte-order mark of UTF-16 or UTF-32, if there is one; that of UTF-8 says nothing new.

    >>> marked_encoding("age".encode("utf-16")), marked_encoding(b"age")
    ('utf-16', None)
    """
    return next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)


def detect_encoding(blocks: Iterable[bytes]) -> str | None:
    r"""Guess the encoding of a text that is not UTF-8, from those of its lines that have more than ASCII in them.

    >>> detect_encoding(["Müller,Köln\n".encode("latin-1")])
    'cp1252'
    """
    from charset_normalizer import from_bytes

    sample = b""
    for block in blocks:
        if not block.isascii():
            telling = (line for line in block.splitlines(keepends=True) if not line.isascii())
            sample += b"".join(telling)[:_SAMPLE_BYTES]
        if len(sample) >= _SAMPLE_BYTES:
            break
    matches = from_bytes(sample, cp_isolation=list(_LEGACY_ENCODINGS))
    best = matches.best()
    if best is None:
        return None
    for match in matches:  # ties go to what is most common
        as_good = match.chaos <= best.chaos and match.coherence >= best.coherence
        if as_good and _USUAL_ENCODING in match.could_be_from_charset:
            return _USUAL_ENCODING
    return best.encoding
