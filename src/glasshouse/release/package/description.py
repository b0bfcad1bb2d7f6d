# SPDX-License-Identifier: Apache-2.0
"""Description: what makes of published tables a Data Package, version 2 (https://datapackage.org).

What is said of a table comes from the files that go out: every reader could have written it. Categories are the
values that a column shows, where they are few.

Every file is listed with size and SHA-256 under ``glasshouse.files``. The standard's own ``hash`` says the same of a
table; its ``bytes`` does so of a CSV file only, for the standard's validator measures no Parquet file and would refuse
each one that tells its size. Of a table of several files the standard can say neither: its ``path`` is the list of
them, and ``glasshouse.files`` tells of each also how many rows it has.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import OutputError, ParameterError
from glasshouse.release.layout import COUNTS, NUMBERS
from glasshouse.release.package.listing import checksum
from glasshouse.release.package.manifest import (
    DIALECT,
    FORMAT_VERSION,
    MANIFEST,
    PARTS_FORMAT,
    README,
    SOFTWARE,
    WHOLE_FORMAT,
)
from glasshouse.release.package.parts import MOST_PARTS, PublishedPart, part_paths, remove_unfinished
from glasshouse.release.package.readme import description, readme
from glasshouse.release.package.tables import batches_of, field_type, guarded, guarded_name
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from glasshouse.release.release import PublishedColumn, Release

__all__ = ["Shown", "check_licence", "manifest_of", "resource_of", "shown_in", "told_of", "write_manifest"]

_PROFILES = "https://datapackage.org/profiles/2.0/"
_MEDIA_TYPES = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}
_MOST_CATEGORIES = 64
_LONGEST_CATEGORY = 200
_UNITS = {"integer": "1", "date": "day", "timestamp": "instant", "float": "any number"}


def check_licence(licence: str) -> str:
    """Refuse a licence that a data package cannot name: an identifier, as SPDX and Open Definition give, or an address.

    >>> check_licence("CC-BY-4.0")
    'CC-BY-4.0'
    """
    if licence and not re.fullmatch(r"[-a-zA-Z0-9._]+|https?://[^\s]+", licence):
        raise ParameterError("save", "licence", "an identifier such as 'CC-BY-4.0', or an address", licence)
    return licence


def write_manifest(
    release: Release,
    folder: Path,
    format: str,
    marks: Mapping[str, Mapping[str, str]] | None = None,
    parts: Mapping[str, Sequence[PublishedPart]] | None = None,
) -> None:
    """Describe the tables that were written to ``folder``, for machines and for people.

    Of the release's own tables only the schemas matter: what is told of their content is read from the files.
    ``marks`` are the words that tables of CSV have for missing texts, by table and column; ``parts`` the files that
    were written, by table and in their order. A table that is not named there is one file.
    """
    check_licence(release.licence)
    written = {name: list((parts or {}).get(name) or [_whole(folder, name, format)]) for name in release.packaged}
    _check_parts(folder, written, format)
    resources = []
    for name, table in release.packaged.items():
        types = {field.name: field_type(field.type) for field in table.schema}
        texts = [column for column, kind in types.items() if kind == "string"]
        own = (marks or {}).get(name, {})
        files = [folder / part.path for part in written[name]] if texts else []
        shown = shown_in(itertools.chain.from_iterable(batches_of(file, format, texts) for file in files), texts, own)
        resources.append(resource_of(name, types, release.columns, format, shown, own, written[name]))
    words = {r["name"]: _missing_words(r) for r in resources} if format == "csv" else {}
    counts = {name: len(own) for name, own in written.items()}
    (folder / README).write_text(readme(release, format, VERSION, words, counts), encoding="utf-8", newline="\n")
    about = PublishedPart(path=README, rows=0, **_measured(folder / README))
    text = json.dumps(manifest_of(release, resources, written, about), indent=2, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8", newline="\n")


def manifest_of(
    release: Release,
    resources: Sequence[Mapping[str, Any]],
    parts: Mapping[str, Sequence[PublishedPart]],
    about: PublishedPart,
) -> dict[str, Any]:
    """The manifest of a release, with the entries of its tables, their files, and its README."""
    files = [_listed(part, rows=len(own) > 1) for own in parts.values() for part in own]
    several = any(len(own) > 1 for own in parts.values())
    version = FORMAT_VERSION if release.editions else PARTS_FORMAT if several else WHOLE_FORMAT
    term = "path" if "://" in release.licence else "name"
    return {
        "$schema": f"{_PROFILES}datapackage.json",
        "name": "glasshouse-release",
        **({"title": release.title} if release.title else {}),
        "description": description(release),
        **({"licenses": [{term: release.licence}]} if release.licence else {}),
        "resources": list(resources),
        "glasshouse": {
            "format_version": version,
            "software": SOFTWARE,
            **told_of(release),
            "files": [*files, _listed(about, rows=False)],
        },
    }


def _measured(file: Path) -> dict[str, Any]:
    return {"bytes": file.stat().st_size, "hash": checksum(file)}


def _whole(folder: Path, name: str, format: str) -> PublishedPart:
    """A table that is one file."""
    (path,) = part_paths(name, 1, format)
    return PublishedPart(path=path, rows=0, **_measured(folder / path))


def _listed(part: PublishedPart, *, rows: bool) -> dict[str, Any]:
    return {"path": part.path, **({"rows": part.rows} if rows else {}), "bytes": part.bytes, "hash": part.hash}


def _check_parts(folder: Path, written: Mapping[str, Sequence[PublishedPart]], format: str) -> None:
    """Refuse a list of files that differs from the folder; files left by killed writers are removed."""
    remove_unfinished(folder)
    if sum(map(len, written.values())) > MOST_PARTS:
        raise OutputError(f"a release cannot have more than {MOST_PARTS:,} files: make larger parts")
    for name, parts in written.items():
        paths = part_paths(name, len(parts), format)
        if [part.path for part in parts] != paths:
            raise OutputError(f"the parts of the table {name!r} are not listed in order, or one is listed twice")
        if len(paths) > 1 and {path.name for path in (folder / name).iterdir()} != {Path(path).name for path in paths}:
            raise OutputError(
                f"the folder of the table {name!r} has files that are not parts of it, or some parts are missing"
            )


def told_of(release: Release) -> dict[str, Any]:
    """The content of a release other than its tables, as plain data."""
    return {
        "n_tuples": release.n_tuples,
        "n_dropped": release.n_dropped,
        "n_suppressed": release.n_suppressed,
        "identified": release.identified,
        **({"editions": [edition.to_data() for edition in release.editions]} if release.editions else {}),
        "guarantee": release.guarantee.to_data(),
        "recipe": release.recipe.to_data(),
        "columns": [column.to_data() for column in release.columns],
    }


def _missing_words(resource: Mapping[str, Any]) -> dict[str, list[str]]:
    """What stands for a missing value, by the name that a column has in its file."""
    schema = resource["schema"]
    return {field["name"]: field.get("missingValues", schema["missingValues"]) for field in schema["fields"]}


def resource_of(
    name: str,
    types: Mapping[str, str | None],
    columns: Sequence[PublishedColumn],
    format: str,
    shown: Mapping[str, Shown],
    marks: Mapping[str, str],
    parts: Sequence[PublishedPart],
) -> dict[str, Any]:
    """The entry of a table: its files, and what its columns mean and show; ``types`` are the names of their types."""
    told = {column.name: column for column in columns}
    measured = {"bytes": parts[0].bytes, "hash": parts[0].hash} if len(parts) == 1 else {}
    if format == "parquet":
        measured.pop("bytes", None)
    return {
        "$schema": f"{_PROFILES}dataresource.json",
        "name": name,
        "type": "table",
        "path": parts[0].path if len(parts) == 1 else [part.path for part in parts],
        "format": format,
        "mediatype": _MEDIA_TYPES[format],
        **({"encoding": "utf-8", "dialect": dict(DIALECT)} if format == "csv" else {}),
        **measured,
        "schema": {
            "$schema": f"{_PROFILES}tableschema.json",
            **({"missingValues": [""]} if format == "csv" else {}),
            "fields": [
                _field(told[column], kind, shown.get(column), format, marks.get(column))
                for column, kind in types.items()
            ],
        },
    }


@dataclass
class Shown:
    """What a text column shows: whether a value is missing or an empty text, and the values where they are few."""

    missing: bool = False
    empty: bool = False
    values: set[str] | None = field(default_factory=set)

    def see(self, distinct: set[str | None]) -> None:
        """Record more values."""
        self.missing |= None in distinct
        self.empty |= "" in distinct
        if self.values is not None:
            self.values |= {value for value in distinct if value is not None}
            if len(self.values) > _MOST_CATEGORIES or any(len(value) > _LONGEST_CATEGORY for value in self.values):
                self.values = None


def shown_in(
    batches: Iterable[pa.Table],
    columns: Sequence[str],
    marks: Mapping[str, str] | None = None,
    *,
    to_guard: bool = False,
) -> dict[str, Shown]:
    """What text columns show, in batches of rows with cells as they stand in the files.

    ``marks`` are the words for missing texts that are in these cells. Cells that were read from CSV files, and have
    lost their apostrophes, get them back with ``to_guard``.
    """
    found = {name: Shown() for name in columns}
    for batch in batches:
        for name, shown in found.items():
            distinct = pc.unique(pa.chunked_array([_different(chunk) for chunk in batch[name].chunks], pa.string()))
            if marks and name in marks:
                distinct = pc.if_else(pc.equal(distinct, marks[name]), None, distinct)
            if len(distinct) > _MOST_CATEGORIES + 1:  # too many to be listed: look for two of them alone
                shown.values = None
                distinct = distinct.filter(pc.fill_null(pc.equal(distinct, ""), fill_value=True))
            texts = guarded(pa.chunked_array([distinct])) if to_guard else distinct
            shown.see(set(texts.to_pylist()))
    return found


def _different(texts: pa.Array) -> pa.Array:
    """The different texts of a chunk; a dictionary of long ones is never written out row by row."""
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary.take(pc.unique(texts.indices))
    return pc.unique(texts.cast(pa.string()))


def _field(
    column: PublishedColumn, kind: str | None, shown: Shown | None, format: str, mark: str | None
) -> dict[str, Any]:
    name = guarded_name(column.name) if format == "csv" else column.name
    told: dict[str, Any] = {"name": name, "type": kind, "description": column.meaning}
    if told["type"] == "datetime" and format == "csv":
        told["format"] = "any"
    if column.name in (*NUMBERS, *COUNTS) and column.role == "added":
        told["constraints"] = {"required": True, "minimum": 1}
    if shown is not None:
        if format == "csv" and shown.empty:  # which is then no missing value
            told["missingValues"] = [] if mark is None else [mark]
        if not shown.missing and not shown.empty:  # the standard's validator takes an empty text for no value
            told["constraints"] = {"required": True}
        if categories := _in_order(shown.values or set(), column):
            told["categories"] = categories
            if column.axis is not None and "heights" not in column.axis:
                told["categoriesOrdered"] = True
    return {**told, "glasshouse": _cells(column)}


def _in_order(values: set[str], column: PublishedColumn) -> list[str]:
    """Values in their declared order, if there is one; else by their texts."""
    order = {} if column.axis is None else {value: i for i, value in enumerate(column.axis["order"])}
    return sorted(values, key=lambda value: (order.get(value, len(order)), value))


def _cells(column: PublishedColumn) -> dict[str, Any]:
    """What shape cells have: exact values, or intervals with ends of this kind and in this unit, both included."""
    told: dict[str, Any] = {"role": column.role, "kind": column.kind}
    if column.role != "quasi-identifier" or "interval [" not in column.meaning:
        return told
    unit = {"unit": _UNITS[column.kind]} if column.kind in _UNITS else {}
    return {**told, "interval": {"ends": column.kind, **unit, "both_ends_included": True}}
