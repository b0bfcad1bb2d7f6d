# SPDX-License-Identifier: Apache-2.0
"""Manifest check: whether a manifest says of tables and columns what is true of them.

A manifest of this version must be the one that this version writes, entry by entry. Another version may have words and
entries of its own. Of its manifest is checked what every version says alike.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import SourceError
from glasshouse.release.package.description import Shown, manifest_of, resource_of, shown_in
from glasshouse.release.package.manifest import MANIFEST, README
from glasshouse.release.package.parts import PublishedPart
from glasshouse.release.package.tables import unguarded_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from glasshouse.release.package.manifest import Manifest, PackagedFile, PackagedTable
    from glasshouse.release.release import Release

__all__ = ["cells_shown", "check_entries"]


def cells_shown(table: PackagedTable, read: Callable[[list[str]], pa.Table | Iterable[pa.Table]]) -> dict[str, Shown]:
    """What the text columns of a table show; ``read`` gives some columns, as a table or in batches."""
    texts = [name for name, kind in table.fields.items() if kind == "string"]
    found = read(texts) if texts else []
    batches = map(_as_table, found.to_batches()) if isinstance(found, pa.Table) else found
    return shown_in(batches, texts, to_guard=table.guarded)


def check_entries(manifest: Manifest, release: Release, shown: Mapping[str, Mapping[str, Shown]] | None = None) -> None:
    """Refuse a manifest that says of a table or a column what is not so, or has entries that nobody knows.

    ``shown`` is what the text columns of each table show; without it, the manifest must only agree with itself.
    """
    for table, resource in zip(manifest.tables, manifest.data["resources"], strict=True):
        _check_facts(table, resource, release, {} if shown is None else shown[table.name])
    if manifest.is_ours:
        _check_ours(manifest, release, shown)


def _as_table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _check_facts(
    table: PackagedTable, resource: Mapping[str, Any], release: Release, shown: Mapping[str, Shown]
) -> None:
    """Check what is true or false in any version: roles, kinds, words for missing values, and the values of a column.

    Texts about what a column means are not looked at.
    """
    schema = resource["schema"]
    if schema.get("missingValues", [""]) != [""]:
        raise _wrong(f"the table {table.name!r}")
    columns = {column.name: column for column in release.columns}
    for field in schema["fields"]:
        name = unguarded_name(field["name"]) if table.guarded else field["name"]
        column, own, found = columns[name], field.get("glasshouse", {}), shown.get(name)
        told = field.get("categories", [])
        fits = (
            isinstance(own, dict)
            and own.get("role", column.role) == column.role
            and own.get("kind", column.kind) == column.kind
            and (table.guarded or "missingValues" not in field)
            and isinstance(told, list)
            and not (told and found is not None and found.values is not None and not found.values <= {*map(str, told)})
            and not (field.get("constraints") == {"required": True} and found is not None and found.missing)
        )
        if not fits:
            raise _wrong(f"the column {name!r} of the table {table.name!r}")


def _check_ours(manifest: Manifest, release: Release, shown: Mapping[str, Mapping[str, Shown]] | None) -> None:
    """Check that this version would write every entry of the manifest, and no other."""
    files = {file.name: _part(file) for file in manifest.files}
    parts = {table.name: [files[name] for name in table.files] for table in manifest.tables}
    resources = []
    for table, resource in zip(manifest.tables, manifest.data["resources"], strict=True):
        own = _told(table, resource) if shown is None else shown[table.name]
        format, marks = manifest.tables[0].format, table.marks
        made = resource_of(table.name, table.fields, release.columns, format, own, marks, parts[table.name])
        for field, named in zip(resource["schema"]["fields"], made["schema"]["fields"], strict=True):
            if not _same(field, named):
                name = unguarded_name(named["name"]) if table.guarded else named["name"]
                raise _wrong(f"the column {name!r} of the table {table.name!r}")
        if not _same(resource, made):
            raise _wrong(f"the table {table.name!r}")
        resources.append(made)
    if not _same(manifest.data, _as_read(manifest_of(release, resources, parts, files[README]))):
        raise SourceError(
            f"{MANIFEST} does not have exactly the entries that Glasshouse writes: it was changed, and the release is "
            "not read"
        )


def _part(file: PackagedFile) -> PublishedPart:
    return PublishedPart(path=file.name, rows=file.rows or 0, bytes=file.size, hash=f"sha256:{file.sha256}")


def _told(table: PackagedTable, resource: Mapping[str, Any]) -> dict[str, Shown]:
    """What text columns show, as the manifest says it."""
    found = {}
    for name, field in zip(table.fields, resource["schema"]["fields"], strict=True):
        told = field.get("categories", [])
        values = {text for text in told if isinstance(text, str)} if isinstance(told, list) else set()
        if table.fields[name] == "string":
            required = field.get("constraints") == {"required": True}
            found[name] = Shown(missing=not required, empty="missingValues" in field, values=values)
    return found


def _as_read(made: Mapping[str, Any]) -> dict[str, Any]:
    """The same after writing and reading, which makes lists of tuples."""
    read: dict[str, Any] = json.loads(json.dumps(made))
    return read


def _same(told: Any, made: Any) -> bool:
    """Whether two values of JSON are equal; the number 1 is not true. No deeper than the second is nested."""
    if type(told) is not type(made):
        return False
    if isinstance(made, dict):
        return told.keys() == made.keys() and all(_same(told[key], value) for key, value in made.items())
    if isinstance(made, list):
        return len(told) == len(made) and all(map(_same, told, made))
    return bool(told == made)


def _wrong(what: str) -> SourceError:
    return SourceError(
        f"what {MANIFEST} says about {what} does not match the release: it was changed, and the release is not read"
    )
