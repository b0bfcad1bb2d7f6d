# SPDX-License-Identifier: Apache-2.0
"""The tables of the experiments, in one form: whole numbers, and columns named as in the papers.

The papers' own tables (OCC and SAL, from IPUMS) may not be passed on. The synthetic census stands in for them, and so
do two real tables of UCI: Census-Income (KDD), of which the employed people, and Adult, of which the complete rows.
Categories are numbered: education by how long it takes, others so that a taxonomy's classes are intervals.

UCI's tables come from a file that the user names, or by download if asked for. Both are under CC BY 4.0 (Becker and
Kohavi; Lane and Kohavi). What is read is checked by a digest of the columns that the experiments use, in the order of
the rows, the training part first: so archives may be packed anew, and a Parquet file with the same rows is the same
table. What is fetched stays in memory, and nothing is left behind; who sends too much, too slowly or something else is
refused.
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import GlasshouseError, ParameterError, SourceError
from glasshouse.microdata import Taxonomy, read
from glasshouse.microdata.reading.sources import open_source
from glasshouse.microdata.synthetic import census_table
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from glasshouse.microdata import Microdata

__all__ = ["ADULT", "CENSUS", "KNOWN", "Data", "Form", "digest", "download", "open_data", "read_file"]

_HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MISSING = "?"
_SECONDS = 120.0
_MOST = 256 << 20  # bytes; the largest of the files has 100 MB when it is unpacked
_PIECE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Form:
    """The layout of a UCI table: the number of fields per line, which are used, and where it is downloaded."""

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
    """Download a table from UCI; refuse it if its checksum differs.

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
                f"{address} cannot be downloaded ({reason}): give the file with --data PATH, or use --data synthetic",
                source=address,
            ) from None
    table = pa.concat_tables(parts)
    if digest(table) != form.sha256:
        raise SourceError(
            f"the file from {form.addresses[0]} is not the expected table: give a file of your own with --data PATH",
            source=form.addresses[0],
        )
    return table


def _fetched(address: str, seconds: float, most: int) -> bytes:
    """The content at an address, within a time limit for the whole answer: a server may send one byte at a time."""
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
        raise SourceError(
            f"{path} cannot be read: give the path of a file, or adult, census or synthetic", source=path
        ) from None
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
    raise SourceError(
        f"{path} has neither the columns of Adult nor those of Census-Income (KDD): give one of these tables",
        source=path,
    )


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
    """The used fields of UCI's text; unknown values are missing."""
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
    """The SHA-256 of the rows, as text with commas; a missing value is an empty text.

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


Nested = Mapping[str, Any]
_UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Data:
    """A table, and what else an experiment has to know of it."""

    # name, about: in a word, and in a sentence
    name: str
    about: str
    given: str  # what to ask for to get this table: UCI's own rows are known by their word, whatever file they came in
    table: pa.Table  # whole numbers, one row a person
    # the sensitive attributes that it has, by the papers' names of the tables: OCC has occupations, SAL incomes
    sensitive: Mapping[str, str]
    taxonomies: Mapping[str, Nested]  # of the attributes that ANATOMY Table 6 generalizes by one: classes of numbers
    # for as many classes of the last sensitive attribute the values at which the second and later ones begin
    classes: Mapping[int, Sequence[int]]
    designated: Mapping[str, int]  # a rare and a frequent occupation, by their names

    def read(
        self, quasi: Sequence[str], sensitive: str, n: int | None = None, *, by_taxonomy: bool = False
    ) -> Microdata:
        """The first people as microdata; with taxonomies, if there are any and they are asked for."""
        some = self.table if n is None else self.table.slice(0, n)
        trees = {name: Taxonomy.from_nested(self.taxonomies[name]) for name in quasi if name in self.taxonomies}
        return read(
            some.select([*quasi, sensitive]),
            quasi=list(quasi),
            sensitive=sensitive,
            categorical=[sensitive],
            taxonomies=trees if by_taxonomy else None,
        )

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.table.num_rows)

    def fewer(self, n: int) -> Data:
        """At most so many people, drawn at random and in their order."""
        if n >= self.n:
            return self
        drawn = np.sort(Source.seeded(1).permutation(self.n)[:n])
        about = f"{self.about}; {n:,} of them, drawn at random"
        return replace(self, table=self.table.take(pa.array(drawn)), about=about)


def open_data(given: str | Path, rows: int) -> Data:
    """Find the table that was asked for: ``synthetic``, ``census`` or ``adult`` from UCI, or a local file of either.

    Only the words ``census`` and ``adult`` fetch anything. Of the table at most so many ``rows`` are taken.
    """
    if rows < 1:
        raise ParameterError("reproduce", "rows", "a whole number of at least 1", rows)
    if str(given) == "synthetic":
        return _synthetic(rows)
    forms = {form.name: form for form in (ADULT, CENSUS)}
    if str(given) in forms:
        form = forms[str(given)]
        table = download(form)
    else:
        form, table = read_file(given)
    known = digest(table) == form.sha256
    about = f"{form.title}, {'as UCI has it' if known else 'NOT as UCI has it: its rows differ'}"
    found = (_adult if form is ADULT else _census)(table, about, form.name if known else Path(given).name)
    return found.fewer(rows)


def _synthetic(n: int) -> Data:
    abroad = np.cumsum([1, 24, 24, 22, 7, 2, 3]).tolist()  # the countries of each region follow each other
    regions = ("Latin America", "Asia", "Europe", "Africa", "North America", "Oceania")
    countries = {name: range(a, b) for name, a, b in zip(regions, abroad, abroad[1:], strict=False)}
    table = census_table(n, seed=1, ages=79)
    frequent = np.bincount(np.asarray(table["occupation"]), minlength=50)
    order = np.argsort(frequent, kind="stable").tolist()
    return Data(
        name="synthetic",
        given="synthetic",
        about=f"the synthetic census of `gh.synthetic`, {counted(n, 'person')}, seed 1; it has no real people",
        table=table,
        sensitive={"OCC": "occupation", "SAL": "income"},
        taxonomies={
            "gender": _leaves({"any gender": range(2)}),
            "marital": _leaves({"any": {"married": range(2), "married before": range(2, 5), "never": range(5, 6)}}),
            "race": _leaves({"any race": range(9)}),
            "workclass": _leaves(
                {
                    "any work": {
                        "earning": {"firm": range(2), "own": range(2, 4), "government": range(4, 7)},
                        "not earning": {"family": range(7, 8), "no work": range(8, 10)},
                    }
                }
            ),
            "country": _leaves({"any country": {"United States": range(1), **countries}}),
        },
        classes={2: (25,), 3: (25, 37)},
        designated={f"the rarest occupation ({order[0]})": order[0], f"the most frequent ({order[-1]})": order[-1]},
    )


def _census(table: pa.Table, about: str, given: str) -> Data:
    occupation = pc.cast(table["detailed_occupation_recode"], pa.int8())
    employed = pc.greater(occupation, 0)
    table = table.set_column(table.column_names.index("detailed_occupation_recode"), "occupation", occupation)
    table = table.filter(employed)
    numbered, trees = _numbered(table, "census")
    frequent = np.bincount(np.asarray(table["occupation"]), minlength=47)[1:]
    order = (1 + np.argsort(frequent, kind="stable")).tolist()
    middle = order[len(order) // 2]
    return Data(
        name="census",
        about=f"{about}, the {counted(table.num_rows, 'employed person')}",
        given=given,
        table=_together(table, numbered),
        sensitive={"OCC": "occupation"},
        taxonomies=trees,
        classes={2: (27,), 3: (16, 27)},
        designated={f"occupation {middle}": middle, f"the most frequent ({order[-1]})": order[-1]},
    )


def _adult(table: pa.Table, about: str, given: str) -> Data:
    table = table.drop_null()
    numbered, trees = _numbered(table, "adult")
    occupations = _labels(KNOWN["adult"]["trees"]["occupation"])
    return Data(
        name="adult",
        about=f"{about}, the {counted(table.num_rows, 'complete row')}",
        given=given,
        table=_together(table, numbered),
        sensitive={"OCC": "occupation"},
        taxonomies={name: tree for name, tree in trees.items() if name != "occupation"},
        classes={2: (5,), 3: (3, 5)},
        designated={name: occupations.index(name) for name in ("Tech-support", "Craft-repair")},
    )


def _together(table: pa.Table, numbered: Mapping[str, pa.Array]) -> pa.Table:
    columns = {"age": pc.cast(table["age"], pa.int8()), "occupation": table["occupation"], **numbered}
    return pa.table({**columns, "birthplace": columns["country"]})


# --- categories as numbers --------------------------------------------------------------------------------------------


def _numbered(table: pa.Table, form: str) -> tuple[dict[str, pa.Array], dict[str, Nested]]:
    """Number the categories of each column in the order of its tree; give numbers, and trees of numbers."""
    known = KNOWN[form]
    wanted = {**known["trees"], "country": KNOWN["country"]}
    columns, trees = {}, {}
    for name, column in known["columns"].items():
        tree = wanted[name]
        values = pc.fill_null(table[column], _UNKNOWN).to_pylist()
        there = set(values)
        order = [label for label in _labels(tree) if label in there]
        rest = sorted(there - set(order))
        order += rest
        number = {label: i for i, label in enumerate(order)}
        columns[name] = pa.array([number[value] for value in values], pa.int8())
        if name != "education":
            trees[name] = _of_numbers(tree, number, [number[label] for label in rest])
    return columns, trees


def _labels(tree: Any) -> list[str]:
    if isinstance(tree, Mapping):
        return [label for below in tree.values() for label in _labels(below)]
    return list(tree or ())


def _of_numbers(tree: Nested, number: Mapping[str, int], rest: Sequence[int]) -> Nested:
    """The same tree over numbers; labels that it does not know are a class of their own, or leaves of a flat tree."""
    ((top, below),) = tree.items()
    if not isinstance(below, Mapping):
        return {top: [str(n) for n in sorted({*rest, *(number[label] for label in below or () if label in number)})]}
    found = {name: _classes(part, number) for name, part in below.items()}
    return {top: {**{name: part for name, part in found.items() if part}, **({"others": _texts(rest)} if rest else {})}}


def _classes(tree: Any, number: Mapping[str, int]) -> Any:
    if isinstance(tree, Mapping):
        found = {name: _classes(part, number) for name, part in tree.items()}
        return {name: part for name, part in found.items() if part}
    return _texts([number[label] for label in tree if label in number])


def _texts(numbers: Sequence[int]) -> list[str]:
    return [str(n) for n in numbers]


def _leaves(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {name: _leaves(below) for name, below in tree.items()}
    return [str(n) for n in tree]
