# SPDX-License-Identifier: Apache-2.0
"""Project files of ARX (.deid): which roles the columns of its table have, and their hierarchies.

Such a file is a zip archive with descriptions in XML. The roles are in ``input/definition.xml``, what was asked of the
groups is in ``input/config.xml``, the hierarchies are in ``input/hierarchies``, and what divides their fields is in
``project.xml``. Nothing else is read: not the table in it, and none of its Java objects. XML with a document type is
refused, so that no entity is ever expanded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.parsers import expat

from glasshouse.errors import SourceError
from glasshouse.microdata.reading.arx_hierarchy import ArxHierarchy, read_arx_hierarchy
from glasshouse.unpacking.zip_members import ZipMembers, is_zip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["ArxProject", "is_arx_project", "read_arx_project"]

_FOLDER = "input/"
_DEFINITION = f"{_FOLDER}definition.xml"
_CONFIGURATION = f"{_FOLDER}config.xml"
_PROJECT = "project.xml"
_MOST = 16 << 20
_MOST_DEPTH = 20
_AGAIN = "save the project again in ARX"
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifying",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}


@dataclass(frozen=True, kw_only=True)
class ArxProject:
    """What a project of ARX declares: names of columns by role, in their order, and what was asked for, in ARX's words.

    ``hierarchies`` are those of quasi-identifiers and sensitive columns.
    """

    identifying: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    hierarchies: tuple[ArxHierarchy, ...]
    criteria: tuple[str, ...]


def is_arx_project(path: str | Path) -> bool:
    """Whether a file has the name of an ARX project.

    >>> is_arx_project("study.deid"), is_arx_project("study.csv")
    (True, False)
    """
    return str(path).lower().endswith(".deid")


def read_arx_project(path: Path) -> ArxProject:
    """Read the roles of columns; `SourceError` if the file is not in ARX's format."""
    try:
        with path.open("rb") as file:
            if not is_zip(file.read(4)):
                raise SourceError(f"it is not a zip archive: {_AGAIN}")
            members = ZipMembers(file)
            columns = [dict(own) for own in _parsed(members, _DEFINITION, "assigment") if own]
            criteria = [word for own in _parsed(members, _CONFIGURATION, "criteria") for _, word in own]
            found = _by_role(columns)
            separator = _separator(members)
            hierarchies = tuple(
                read_arx_hierarchy(members, column, _FOLDER, separator)
                for column in columns
                if column.get("ref") and _role(column) in ("quasi", "sensitive")
            )
    except FileNotFoundError as error:
        own = error.args[:1] == (_DEFINITION,)
        reason = f"it has no {_DEFINITION}: {_AGAIN}" if own else "there is no such file: check its name"
        raise SourceError(f"{path} is no project of ARX: {reason}", source=path) from None
    except SourceError as error:
        raise SourceError(f"{path} is no project of ARX that can be read: {error}", source=path) from None
    except OSError:
        raise SourceError(f"{path} cannot be read: check that you may read the file", source=path) from None
    return ArxProject(
        **{role: tuple(names) for role, names in found.items()},
        hierarchies=hierarchies,
        criteria=tuple(word.strip() for word in criteria if word.strip()),
    )


def _by_role(columns: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """The names of the columns by role."""
    if not columns:
        raise SourceError("it declares no columns: save the project again, with a table in it")
    found: dict[str, list[str]] = {role: [] for role in _ROLES.values()}
    for column in columns:
        name, role = column.get("name", ""), _role(column)
        if not name:
            raise SourceError(f"a column has no name: {_AGAIN}")
        if role is None:
            raise SourceError(
                f"ARX gives the column {name!r} the type {column.get('type', '')!r}, which Glasshouse does not know: "
                "choose another one in ARX, and save the project again"
            )
        if any(name in own for own in found.values()):
            raise SourceError(f"the column {name!r} is declared twice: {_AGAIN}")
        found[role].append(name)
    return found


def _role(column: Mapping[str, str]) -> str | None:
    return _ROLES.get(column.get("type", "").strip().upper().replace(" ", "_"))


def _separator(members: ZipMembers) -> str | None:
    """The separator of hierarchies' fields; None if the project does not give a usable single character."""
    for own in _parsed(members, _PROJECT, "project"):
        said = dict(own).get("separator", "")
        if len(said) == 1 and said not in '\r\n"\0 ':
            return said
    return None


def _parsed(members: ZipMembers, name: str, wanted: str) -> list[list[tuple[str, str]]]:
    """For every element of a name in a file: the names and texts of the elements in it; none if there is no file."""
    content = members.read(name, _MOST) if name == _DEFINITION or name in members.names() else b""
    found: list[list[tuple[str, str]]] = []
    open_ones: list[str] = []
    text: list[str] = []
    if not content:
        return found

    def start(tag: str, _attributes: object) -> None:
        open_ones.append(tag)
        text.clear()
        if len(open_ones) > _MOST_DEPTH:
            raise SourceError(f"{name} is nested more than {_MOST_DEPTH} levels deep: {_AGAIN}")
        if tag == wanted:
            found.append([])

    def end(tag: str) -> None:
        open_ones.pop()
        if open_ones and open_ones[-1] == wanted and found:
            found[-1].append((tag, "".join(text)))
        text.clear()

    def refuse(*_: object) -> None:
        raise SourceError(
            f"{name} has XML declarations (a document type or an entity) that ARX does not write and that may be "
            f"harmful, so it is not read: {_AGAIN}"
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text.append
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, UnicodeError, LookupError):
        raise SourceError(f"{name} is not XML that can be read: {_AGAIN}") from None
    return found
