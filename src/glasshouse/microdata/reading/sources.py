# SPDX-License-Identifier: Apache-2.0
"""Sources of tables: files and data frames, recognised by their content or type, and converted to one form.

A file is told by its first bytes, not by its name: Parquet, ORC, Arrow IPC (Feather) as file or stream, delimited text,
workbooks of Excel, files of Stata, SPSS and SAS, databases of SQLite and DuckDB; each of them plain, compressed with
gzip or zstd, or alone in a zip archive; the path ``-`` stands for standard input. A frame comes in through Arrow:
pandas, polars, pyarrow, a DuckDB relation, a dict of lists, and anything that has the Arrow PyCapsule interface. Behind
the door every table has the normal form of
`glasshouse.microdata.reading.normal_form`, so that no later step depends on where it came from.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from glasshouse.database import is_address
from glasshouse.database.sqlalchemy_address import is_sqlalchemy_address
from glasshouse.errors import DomainError, GlasshouseError, InputError, SchemaError, SourceError
from glasshouse.microdata.cautions import Written
from glasshouse.microdata.reading.database_file import database_format, read_database_file
from glasshouse.microdata.reading.delimited import (
    DELIMITERS,
    HEAD_BYTES,
    NULL_SPELLINGS,
    Loaded,
    open_bytes,
    read_delimited,
)
from glasshouse.microdata.reading.normal_form import column_of_values, normalise, refuse_nested
from glasshouse.microdata.reading.packed_file import STANDARD_INPUT, member_of, standard_input, unpacked
from glasshouse.microdata.reading.spreadsheet import is_workbook, read_sheet
from glasshouse.microdata.reading.statistical_file import read_statistical, statistical_format
from glasshouse.sql_names import quoted_name
from glasshouse.unpacking import Refused, growth_of
from glasshouse.unpacking.arrow_ipc import messages, unpacked_bytes
from glasshouse.unpacking.budget import Room, is_text

__all__ = ["NULL_SPELLINGS", "Source", "open_source"]

_T = TypeVar("_T")
_ACCEPTED = (
    "a path (CSV, Parquet, Arrow IPC, ORC, Excel, Stata, SPSS, SAS, SQLite, DuckDB), the address of a PostgreSQL "
    "database, a pandas or polars frame, a pyarrow "
    "table, a DuckDB relation, a dict of lists, or an object with the Arrow PyCapsule interface (__arrow_c_stream__)"
)
_ARCHIVE = b"PK\x03\x04"
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or a workbook, which can only be read in memory: use engine='memory', or write "
    "Parquet",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet: save the sheet as CSV",
    b"BZh": "compressed with bzip2: unpack it, or use gzip or zstd",
    b"\xfd7zXZ": "compressed with xz: unpack it, or use gzip or zstd",
    b"PARE": "encrypted Parquet: decrypt it first",
    b"FEA1": "a Feather file of version 1: write it again as version 2 or Parquet",
    b"\x89HDF": "an HDF5 file: save the table as Parquet or CSV, which pandas can do",
    b"%PDF": "a PDF: save the table as CSV",
}
_IF_PEOPLE = ". If its first line is a person, write a line with the names of the columns above it"
_TEXT_SUFFIXES = {"", ".csv", ".tsv", ".psv", ".tab", ".txt", ".dat", ".data"}
_BINARY_SUFFIXES = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), "a workbook"),
    **dict.fromkeys((".parquet", ".pq"), "a Parquet file"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "an Arrow file"),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), "a database of SQLite"),
    ".dta": "a file of Stata",
    ".duckdb": "a database of DuckDB",
    ".orc": "an ORC file",
    ".sas7bdat": "a file of SAS",
    ".sav": "a file of SPSS",
    ".zip": "a zip archive",
}
_ADDRESS = re.compile(r"[\w+.-]{2,}:/")  # with two strokes, of which a path keeps one
_FILES = ("file", "duckdb", "csv", "parquet", "arrow")  # with which addresses of files begin elsewhere
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # of UTF-16 and UTF-32, whose text is full of NULs


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Source:
    """A table from a source, in its normal form."""

    # the columns that were asked for, in the order of the source; every column is one contiguous array
    table: pa.Table = field(repr=False)
    kind: str  # what kind of source: ``file``, ``postgres``, ``pandas``, ``polars``, ``duckdb`` or ``arrow``
    columns: tuple[str, ...]  # all column names of the source in their order, also those that were not loaded
    notices: tuple[str, ...] = ()  # what was assumed, in sentences
    # declared orders of loaded columns that are ordered categories: all their values, lowest first
    orders: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, repr=False)
    # how the source writes records: values may hold several of them
    written: Written = field(default=Written(n_columns=0, delimiters=()), repr=False)
    # of delimited text: in which encoding it was read; None of everything else
    encoding: str | None = field(default=None, repr=False)
    # of files of statistical programs: what columns mean, in words
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)


def open_source(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    null_values: Sequence[str] = NULL_SPELLINGS,
    narrow: bool = False,
    table: str | None = None,
    query: str | None = None,
    needed: Collection[str] | None = None,
) -> Source:
    """Open a file, a frame or a table of a database, as `read` takes them, as a table in normal form. None is changed.

    Lazy frames and relations are run, and so is a reader of batches: once. Of ``columns`` those that the source does
    not have are passed over: compare with `Source.columns`. ``null_values`` replaces the spellings of missing values:
    ``(*NULL_SPELLINGS, "?")`` adds one. With ``narrow`` integers stay as narrow as they came, and the texts of a
    database in their dictionaries. If ``needed`` is given, other columns that cannot be read are left out, and a notice
    says why. A source that cannot be read or has no rows is a `SourceError`, column names that
    are missing or repeated are a `SchemaError`, and values that no plain type can hold a `DomainError`.

    >>> opened = open_source({"age": [30, None], "zip": ["01234", "12345"]}, columns=["zip"])
    >>> opened
    Source(kind='arrow', columns=('age', 'zip'), notices=())
    >>> opened.table.column_names
    ['zip']
    """
    wanted = None if columns is None else frozenset([columns] if isinstance(columns, str) else columns)
    text = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, "null_values": null_values}
    load, name, kind = _door(source, text, {"table": table, "query": query})
    known: list[str] = []
    told: list[str] = []

    def choose(names: Sequence[str]) -> list[str]:
        known[:] = names
        told[:] = check_column_names(known, name)
        asked = (column for column in known if column.strip() and (wanted is None or column in wanted))
        return [column for column in asked if column not in refused]

    refused: dict[str, str] = {}  # columns that cannot be read, and why
    again = source != STANDARD_INPUT if isinstance(source, str) else not hasattr(source, "read_next_batch")

    def passing_over(work: Callable[[], _T], *, repeatable: bool) -> _T:
        """Do the work again without the columns that it refuses, as far as these are not needed."""
        while True:
            try:
                return work()
            except DomainError as error:
                passed = needed is not None and repeatable and error.column not in (None, *needed, *refused)
                if not passed or len(choose(known)) < 2:
                    raise
                refused[str(error.column)] = str(error)

    def normal_form(read: Loaded) -> tuple[pa.Table, dict[str, tuple[Any, ...]], tuple[str, ...]]:
        some = read.table.drop_columns([column for column in read.table.column_names if column in refused])
        return normalise(some, whole_floats=kind == "pandas", narrow=narrow, coded=narrow and kind == "postgres")

    try:
        loaded = passing_over(lambda: Loaded(*load(choose)), repeatable=again)
        if loaded.table.num_columns and not loaded.table.num_rows:
            raise SourceError(f"{name} has no rows", source=source)
        normal, orders, assumed = passing_over(lambda: normal_form(loaded), repeatable=True)
    except MemoryError:
        raise SourceError(
            f"{name} does not fit into the memory of this machine: a CSV or Parquet file can be published in batches "
            "instead (engine='disk')",
            source=source,
        ) from None
    return Source(
        table=normal,
        kind=kind,
        columns=tuple(filter(str.strip, known)),
        notices=(
            *told,
            *loaded.notices,
            *assumed,
            *map("a column is left out, because it cannot be read: {}".format, refused.values()),
        ),
        orders=orders,
        written=Written(
            n_columns=len(known),
            delimiters=tuple(DELIMITERS) if loaded.delimiter is None else (loaded.delimiter,),
            breaks=loaded.breaks,
        ),
        encoding=loaded.encoding,
        labels=loaded.labels,
    )


_Choose = Callable[[Sequence[str]], list[str]]
_Loaded = tuple[pa.Table, tuple[str, ...]] | Loaded


def _door(
    source: Any, text: Mapping[str, Any], selected: Mapping[str, str | None]
) -> tuple[Callable[[_Choose], _Loaded], str, str]:
    """Find the loader for a source, its name in messages, and its kind."""
    if is_address(source):
        from glasshouse.microdata.reading.postgres import Selection, read_postgres

        selection = Selection(source, **selected)
        return partial(read_postgres, selection), str(selection), "postgres"
    if is_sqlalchemy_address(source):
        from glasshouse.microdata.reading.sqlalchemy_source import SqlSelection, read_sqlalchemy

        chosen = SqlSelection(source, selected)
        return partial(read_sqlalchemy, chosen), str(chosen), "database"
    if isinstance(source, str) and source == STANDARD_INPUT:
        return partial(_from_standard_input, text, selected), "standard input", "file"
    if isinstance(source, str | os.PathLike):
        path = existing_file(source)
        return partial(_from_file, path, text, selected), str(path), "file"
    _refuse_selection(selected)
    if _is_a(source, "pandas", "DataFrame"):
        return partial(_from_pandas, source), "the pandas frame", "pandas"
    if _is_a(source, "polars", "DataFrame") or _is_a(source, "polars", "LazyFrame"):
        return partial(_from_polars, source), "the polars frame", "polars"
    if _is_a(source, "duckdb", "DuckDBPyRelation"):
        return partial(_from_duckdb, source), "the DuckDB relation", "duckdb"
    if isinstance(source, Mapping):
        return partial(_from_mapping, source), "the dict", "arrow"
    if isinstance(source, pa.Table | pa.RecordBatch):
        return partial(_from_table, source), "the Arrow table", "arrow"
    if hasattr(source, "__arrow_c_stream__"):
        return partial(_from_stream, source), f"the {type(source).__name__}", "arrow"
    raise SourceError(f"a {type(source).__name__} is no table: pass {_ACCEPTED}", source=source)


def _refuse_selection(selected: Mapping[str, str | None]) -> None:
    """Refuse a table or a query for a source that is a single table."""
    for option, given in selected.items():
        if given is not None:
            raise InputError(
                f"{option} is only for a database or a workbook. The source must be the address of a database, "
                "postgresql://..., a file of SQLite or DuckDB, or a workbook (then table= names the sheet)"
            )


def check_column_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Refuse names that cannot be used. A first column may have none: then it is not read, and a notice says so."""
    if not names:
        raise SchemaError(f"{source} has no columns")
    nameless = [place for place, name in enumerate(names) if not name.strip()]
    if nameless and (nameless[-1] or len(names) == 1):
        raise SchemaError(
            f"column {nameless[-1] + 1:,} of {source} has no name: give it one{_IF_PEOPLE}", column=names[nameless[-1]]
        )
    unwritable = [place for place, name in enumerate(names, start=1) if not is_unicode(name)]
    if unwritable:
        raise SchemaError(f"the name of column {unwritable[0]:,} of {source} is not Unicode text: rename it")
    twice = next(((name, count) for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise SchemaError(
            f"{source} has {twice[1]:,} columns named {twice[0]!r}: rename them, because each column needs its own "
            f"name{_IF_PEOPLE}",
            column=twice[0],
        )
    if not nameless:
        return ()
    return (
        f"the first column of {source} has no name and is left out: R and pandas write row numbers like this. If you "
        "need it, give it a name",
    )


def is_unicode(text: str) -> bool:
    """Whether a text can be written: a lone half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------------- files


def existing_file(source: str | os.PathLike[str]) -> Path:
    """Find the file, or say why there is none."""
    given = os.fspath(source)
    if not isinstance(given, str):
        raise SourceError("a path must be text, not bytes: use os.fsdecode", source=source)
    if not is_unicode(given):  # Arrow opens no such file, and no message could be printed that names it
        shown = given.encode("utf-8", "backslashreplace").decode()
        raise SourceError(
            f"the name {shown} is not UTF-8: rename the file, or the folder that it lies in", source=source
        )
    if "\n" in given:
        raise SourceError(
            "this text has several lines and is not a path: save the table to a file, or pass a data frame"
        )
    if _ADDRESS.match(given):
        # not shown, for it may hold a password
        scheme = given.partition(":")[0].lower()
        if scheme in _FILES:
            raise SourceError(f"leave {scheme}:// out: a file is given by its path alone, such as /data/people.csv")
        raise SourceError("the source is a web address: download the file first and give its path")
    path = Path(given).expanduser()
    try:
        if path.is_dir():
            raise SourceError(f"{given} is a folder: give a file in it", source=source)
        if not path.exists():
            raise SourceError(f"there is no file {given}{near_name(path)}", source=source)
        if not path.is_file():
            raise SourceError(f"{given} is not an ordinary file: save its content to one", source=source)
    except OSError as error:
        raise SourceError(f"{given} cannot be opened: {error.strerror}", source=source) from None
    return path


def near_name(path: Path) -> str:
    """Suggest a similar name."""
    if not path.parent.is_dir():
        return f": there is no folder {path.parent} either"
    siblings = {
        entry.name.lower(): entry.name for entry in path.parent.iterdir() if entry.is_file() and is_unicode(entry.name)
    }
    near = get_close_matches(path.name.lower(), siblings, n=1, cutoff=0.6)
    return f": did you mean {path.with_name(siblings[near[0]])}?" if near else ": check the path"


def _from_standard_input(text: Mapping[str, Any], selected: Mapping[str, str | None], choose: _Choose) -> _Loaded:
    with standard_input() as path:
        return _from_file(path, text, selected, choose)


def _from_file(
    path: Path,
    text: Mapping[str, Any],
    selected: Mapping[str, str | None],
    choose: _Choose,
    member: PurePosixPath | None = None,
) -> _Loaded:
    """Read the chosen columns of a file, by what its first bytes say it is; ``member`` is its name in an archive."""
    head, compression = beginning(path)
    if not compression and head.startswith(_ARCHIVE) and not is_workbook(path):
        compression = "zip"
    if compression == "zip" or (compression and _loader(path, head, selected) is not None):
        member = PurePosixPath(member_of(path).filename) if compression == "zip" else member
        with unpacked(path, compression) as inner:
            return _from_file(inner, text, selected, choose, member)
    load = None if compression else _loader(path, head, selected)
    if load is not None:
        return load(choose)
    _refuse_selection(selected)
    refuse_foreign(path, head, member=member, delimiter=text["delimiter"], encoding=text["encoding"])
    return read_delimited(path, head=head, compression=compression, choose=choose, **text)


def _loader(path: Path, head: bytes, selected: Mapping[str, str | None]) -> Callable[[_Choose], _Loaded] | None:
    """The loader for a binary file, by its first bytes; None for text."""
    database = database_format(head)
    if database is not None:
        return partial(read_database_file, path, database, selected)
    if head.startswith(_ARCHIVE):
        if selected.get("query") is not None:
            raise InputError("query= is for a database: for a workbook, name the sheet with table=")
        return partial(read_sheet, path, selected.get("table"))
    statistical = statistical_format(head, path.suffix)
    if statistical is not None:
        return partial(_single, selected, partial(read_statistical, path, statistical))
    for magic, load in _PLAIN.items():
        if head.startswith(magic):
            return partial(_single, selected, partial(load, path))
    return None


def _single(selected: Mapping[str, str | None], load: Callable[[_Choose], _Loaded], choose: _Choose) -> _Loaded:
    """Load a file that holds one table."""
    _refuse_selection(selected)
    return load(choose)


def read_whole(source: Any) -> str | None:
    """The reason why a source must be read as a whole; None for a file that can be read in batches."""
    if is_address(source) or is_sqlalchemy_address(source):
        return "a database"
    if source == STANDARD_INPUT:
        return "standard input"
    try:
        path = existing_file(source)
        head, compression = beginning(path)
    except GlasshouseError:
        return None  # reading it will say why
    if head.startswith(_ARCHIVE):
        return "a workbook" if is_workbook(path) else "a zip archive"
    in_batches = head.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")) and not compression
    if in_batches or _loader(path, head, {}) is None:
        return None
    return "a file of this format"


def beginning(path: Path) -> tuple[bytes, str | None]:
    """The first bytes of a file, decompressed, and its compression; an empty file is refused."""
    head, compression = _first_bytes(path, None), None
    compression = next((name for magic, name in _COMPRESSIONS.items() if head.startswith(magic)), None)
    if compression:
        head = _first_bytes(path, compression)
    if not head:
        raise SourceError(f"{path} is empty", source=path)
    return head, compression


def _first_bytes(path: Path, compression: str | None) -> bytes:
    with readable(path, f"{compression} file" if compression else "file"), open_bytes(path, compression) as stream:
        return bytes(stream.read(HEAD_BYTES))


def _from_parquet(path: Path, choose: _Choose) -> _Loaded:
    room = Room.of(path)
    with readable(path, "Parquet file"), pq.ParquetFile(path) as file:
        schema, n_rows = legible(file.schema_arrow), file.metadata.num_rows
    chosen = choose(schema.names)
    refuse_nested(schema, chosen)
    room.check(n_rows * max(len(chosen), 1) * 8)
    with readable(path, "Parquet file"):
        growth = growth_of(path, chosen)
    room.check(growth.n_bytes)
    # texts are read as numbers into a dictionary: a long one that every row points at takes no room at first
    texts = [name for name in chosen if is_text(schema.field(name).type) and name in growth.simple]
    with readable(path, "Parquet file"), pq.ParquetFile(path, read_dictionary=texts) as file:
        if growth.longest * n_rows > room.most:  # some rows at a time: each may be as long as a page
            table = _in_steps(file, chosen, max(room.most // growth.longest // 8, 1), room)
        else:
            table = file.read(columns=chosen).select(chosen)
        table.validate(full=True)  # that texts are UTF-8, and that dictionaries have all that rows point at
    room.check_table(table)
    return table, ()


def legible(schema: pa.Schema) -> pa.Schema:
    """The schema, whose names and time zones must all be valid text; `UnicodeError` if one is not."""
    for column in schema:
        _ = column.name, str(column.type), getattr(column.type, "tz", None)
    return schema


def _in_steps(file: pq.ParquetFile, columns: list[str], n_rows: int, room: Room) -> pa.Table:
    """Read some rows at a time, as long as there is room."""
    batches, taken = [], 0
    for batch in file.iter_batches(batch_size=n_rows, columns=columns):
        taken += batch.get_total_buffer_size()
        room.check(taken)
        batches.append(batch)
    return pa.Table.from_batches(batches).select(columns)


def _from_ipc(reader: Callable[..., Any], path: Path, choose: _Choose) -> _Loaded:
    room = Room.of(path)
    with readable(path, "Arrow file"):
        with pa.OSFile(str(path)) as file, reader(file) as opened:
            schema = legible(opened.schema)
        chosen = choose(schema.names)
        refuse_nested(schema, chosen)
        with pa.OSFile(str(path)) as file:
            room.check(sum(map(unpacked_bytes, messages(file))))
        options = ipc.IpcReadOptions(included_fields=[schema.names.index(name) for name in chosen])
        # with no field named, Arrow would include all
        with pa.OSFile(str(path)) as file, reader(file, options=options) as opened:
            table = opened.read_all() if chosen else pa.table({})
        table.validate(full=True)  # Arrow trusts what the file says, and would read beyond its end
    room.check_table(table)
    return table, ()


def _from_orc(path: Path, choose: _Choose) -> _Loaded:
    from pyarrow import orc  # it is not part of every build of Arrow

    room = Room.of(path)
    with readable(path, "ORC file"):
        file = orc.ORCFile(str(path))
        schema, n_rows = legible(file.schema), file.nrows
        chosen = choose(schema.names)
        refuse_nested(schema, chosen)
        room.check(n_rows * max(len(chosen), 1) * 8)
        table = file.read(columns=chosen).select(chosen) if chosen else pa.table({})
        table.validate(full=True)
    room.check_table(table)
    return table, ()


_PLAIN: dict[bytes, Callable[[Path, _Choose], _Loaded]] = {
    b"PAR1": _from_parquet,
    b"ARROW1": partial(_from_ipc, ipc.open_file),
    b"\xff\xff\xff\xff": partial(_from_ipc, ipc.open_stream),
    b"ORC": _from_orc,
}
"""The files that Arrow reads, by their first bytes."""


def refuse_foreign(
    path: Path, head: bytes, *, delimiter: str | None, encoding: str | None, member: PurePosixPath | None = None
) -> None:
    """Refuse what is no text, and text that is no table; ``member`` is the file's name in an archive."""
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise SourceError(f"{path} is {what}", source=path)
    suffixes = [suffix.lower() for suffix in (member or path).suffixes]
    last = next((suffix for suffix in reversed(suffixes) if suffix not in (".gz", ".zst", ".zstd")), "")
    named = _BINARY_SUFFIXES.get(last)
    if b"\0" in head and encoding is None and not head.startswith(_WIDE_MARKS):
        if named is not None:
            raise SourceError(
                f"{path} is damaged, or is not {named}, though it is named like one: copy it again, or open it with "
                "the program that wrote it and save the table as CSV",
                source=path,
            )
        if (wide := _wide_encoding(head)) is not None:
            raise SourceError(
                f"{path} is text in UTF-16, as it seems, without the mark that says so: give encoding={wide!r}",
                source=path,
            )
        raise SourceError(
            f"{path} is in no format that is read, or is damaged: save the table as CSV, Parquet or a workbook "
            "(.xlsx). If it is text in UTF-16, pass encoding='utf-16-le' or encoding='utf-16-be'",
            source=path,
        )
    if last in (".json", ".jsonl", ".ndjson") and delimiter is None:
        raise SourceError(f"{path} is JSON, which is not read: save the table as CSV or Parquet", source=path)
    if named is not None and delimiter is None:
        raise SourceError(
            f"{path} is named like {named}, but it is a text file: if it is a table, rename it so that its name ends "
            "in .csv, or say what separates its fields (delimiter=)",
            source=path,
        )
    if last not in _TEXT_SUFFIXES and delimiter is None:
        raise SourceError(
            f"{path} is a text file, but its name does not end like that of a table (such as .csv): if it is a table, "
            "say what separates its fields (delimiter=)",
            source=path,
        )


def _wide_encoding(head: bytes) -> str | None:
    """The encoding of a text of which every second byte is mostly zero, and no other one is."""
    zeros = [head[place::2].count(0) for place in (0, 1)]
    most = len(head) // 2
    if min(zeros) == 0 and 2 * max(zeros) > most:
        return "utf-16-le" if zeros[1] else "utf-16-be"
    return None


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Raise an error in our own words if a file cannot be read."""
    try:
        yield
    except (GlasshouseError, MemoryError):
        raise
    except PermissionError:
        raise SourceError(f"{path} cannot be read by this user: change its permissions", source=path) from None
    except (pa.ArrowException, Refused, OSError, ValueError, LookupError, TypeError, EOFError):
        raise SourceError(
            f"{path} cannot be read: this {what} is damaged or incomplete. Copy it or write it again", source=path
        ) from None


# --------------------------------------------------------------------------------------------------------- frames


def _is_a(source: Any, module: str, name: str) -> bool:
    """Whether the object is of that class, without importing what the user did not import."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(source, kind)


def _from_pandas(frame: Any, choose: _Choose) -> _Loaded:
    names = [str(name) for name in frame.columns]
    chosen = choose(names)
    places = {name: place for place, name in enumerate(names)}
    columns = {name: column_of_values(frame.iloc[:, places[name]], name) for name in chosen}
    index = [str(name) for name in frame.index.names if name is not None]
    notices = [f"the index of the frame is left out ({', '.join(index)}): reset_index() makes it a column"]
    return pa.table(columns), tuple(notices if index else ())


def _from_polars(frame: Any, choose: _Choose) -> _Loaded:
    with _running("the polars query"):
        chosen = choose(frame.collect_schema().names())
        chosen_frame = frame.select(chosen)
        collected = chosen_frame.collect() if hasattr(chosen_frame, "collect") else chosen_frame
        for name, kind in zip(collected.columns, collected.dtypes, strict=True):
            _refuse_foreign_type(collected, name, kind)
        return _with_orders(collected.to_arrow(), collected), ()


def _refuse_foreign_type(frame: Any, name: str, kind: Any) -> None:
    """Refuse a column of a type of polars that Arrow does not have."""
    try:
        frame.select(name).head(0).to_arrow()
    except Exception:
        raise DomainError(
            f"column {name!r} has the type {kind} of polars: convert it to text, numbers or dates", column=name
        ) from None


def _with_orders(table: pa.Table, frame: Any) -> pa.Table:
    """The same, with every Enum as an ordered category: earlier versions of polars leave that out."""
    for place, kind in enumerate(frame.dtypes):
        column = table.column(place)
        if type(kind).__name__ == "Enum" and pa.types.is_dictionary(column.type) and not column.type.ordered:
            chunks = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary, ordered=True) for c in column.chunks]
            kept = pa.dictionary(column.type.index_type, column.type.value_type, ordered=True)
            table = table.set_column(place, table.column_names[place], pa.chunked_array(chunks, kept))
    return table


def _from_duckdb(relation: Any, choose: _Choose) -> _Loaded:
    chosen = choose(list(relation.columns))
    if not chosen:
        return pa.table({}), ()
    with _running("the DuckDB query"):
        return relation.project(", ".join(map(quoted_name, chosen))).to_arrow_table(), ()


def _from_mapping(lists: Mapping[Any, Any], choose: _Choose) -> _Loaded:
    by_name = {str(name): values for name, values in lists.items()}
    chosen = choose([str(name) for name in lists])
    for name in chosen:
        if isinstance(by_name[name], str | bytes) or not hasattr(by_name[name], "__iter__"):
            raise SchemaError(f"column {name!r} of the dict must be a list of values", column=name)
    columns = {name: column_of_values(by_name[name], name) for name in chosen}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise SchemaError(f"the columns of the dict have different lengths: {', '.join(map(str, sorted(lengths)))}")
    return pa.table(columns), ()


def _from_table(table: pa.Table | pa.RecordBatch, choose: _Choose) -> _Loaded:
    chosen = choose(table.schema.names)
    whole = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
    return whole.select(chosen), ()


def _from_stream(source: Any, choose: _Choose) -> _Loaded:
    try:
        reader = pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        raise SourceError(
            f"the Arrow stream of a {type(source).__name__} is no table (a single column, perhaps): pass {_ACCEPTED}",
            source=source,
        ) from None
    chosen = choose(reader.schema.names)
    with _running("the Arrow stream"):
        return reader.read_all().select(chosen), ()


@contextmanager
def _running(what: str) -> Iterator[None]:
    """Say that the user's own query failed, which a lazy source runs, and keep the cause."""
    try:
        yield
    except GlasshouseError:
        raise
    except Exception as error:
        raise SourceError(f"{what} failed with {type(error).__name__}: run it alone to see why") from error
