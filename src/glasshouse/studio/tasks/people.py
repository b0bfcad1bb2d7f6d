# SPDX-License-Identifier: Apache-2.0
"""Lists of people: the steward's own table, a list that an attacker may have, and a person described by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from glasshouse.microdata import Microdata
    from glasshouse.release import Release

__all__ = ["list_of_people", "steward_table", "with_somebody"]

_TYPES = {"integer": "int64", "float": "double", "boolean": "bool", "date": "date32", "timestamp": "timestamp[us]"}


def steward_table(choices: Mapping[str, Any], release: str) -> Microdata:
    """The open table, read as decided; refused if the release was made from another table."""
    from glasshouse.errors import InputError
    from glasshouse.journeys.republication import is_newest
    from glasshouse.microdata import read
    from glasshouse.policy.choices import read_arguments
    from glasshouse.release.package.pair import AUDIT

    table = read(choices["file"], **read_arguments(choices))
    if is_newest(Path(release).parent / AUDIT, table) is False:
        raise InputError(
            "the open table is not the table of this release, or you have changed something about its columns since it "
            "was published: publish again, and look at the new release"
        )
    return table


def list_of_people(file: str, release: Release, identifier: str | None) -> Microdata:
    """A list of people with the quasi-identifiers of a release."""
    from glasshouse.microdata import read

    return read(file, quasi=release.recipe.quasi, identifier=identifier or None, missing="category")


def with_somebody(
    release: Release,
    values: Sequence[str],
    *,
    table: Mapping[str, Any] | None = None,
    people: Mapping[str, str] | None = None,
) -> Microdata:
    """A list of people whose last person is described by hand; without a list, this person alone."""
    from glasshouse.errors import InputError
    from glasshouse.microdata import read
    from glasshouse.policy.choices import read_arguments

    names = list(release.recipe.quasi)
    for name, value in zip(names, values, strict=True):
        if not value.strip():
            raise InputError(f"type a value of {name!r}: an attacker who looks a person up knows all of these columns")
    if table is None and people is None:
        kinds = {column.name: _TYPES.get(column.kind, "string") for column in release.columns}
        return read(_described(names, values, kinds), quasi=names, missing="category")
    if table is None:
        assert people is not None
        choices: dict[str, Any] = {"file": people["file"], "quasi": names, "missing": "category"}
    else:
        choices = {name: value for name, value in table.items() if name not in ("identifier", "sensitive")}
    arguments = read_arguments({**choices, "quasi": names})
    everybody = _source(str(choices["file"]), names, arguments)
    somebody = _described(names, values, {name: everybody.schema.field(name).type for name in names})
    for how in ("delimiter", "encoding", "table", "query"):
        arguments.pop(how, None)
    return read(_joined(everybody, somebody), **arguments)


def _source(file: str, names: list[str], arguments: Mapping[str, Any]) -> pa.Table:
    """Some columns of a table, before any processing."""
    import pyarrow as pa

    from glasshouse.microdata.reading.sources import open_source

    how = {
        name: arguments[name] for name in ("delimiter", "encoding", "decimal", "table", "query") if name in arguments
    }
    found = open_source(file, columns=names, **how).table.select(names)
    plain = {}
    for name in names:
        kind = found.schema.field(name).type
        plain[name] = found.column(name).cast(kind.value_type) if pa.types.is_dictionary(kind) else found.column(name)
    return pa.table(plain)


def _described(names: list[str], values: Sequence[str], kinds: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    from glasshouse.errors import DomainError

    columns = {}
    for name, value in zip(names, values, strict=True):
        kind = pa.type_for_alias(kinds[name]) if isinstance(kinds[name], str) else kinds[name]
        try:
            columns[name] = pa.array([value.strip()], pa.string()).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise DomainError(
                f"{value!r} is no value of {name!r}: write it in the form that stands beside the field (its values "
                f"are of type {kind})",
                column=name,
            ) from None
    return pa.table(columns)


def _joined(everybody: pa.Table, somebody: pa.Table) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables([everybody, somebody.cast(everybody.schema)])
