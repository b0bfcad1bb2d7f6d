# SPDX-License-Identifier: Apache-2.0
"""Project files of ARX (.deid): which roles the columns of its table have.

Such a file is a zip archive with descriptions in XML. The roles are in ``input/definition.xml``, and what was asked of
the groups is in ``input/config.xml``. Nothing else is read: not the table in it, and none of its Java objects. XML with
a document type is refused, so that no entity is ever expanded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.parsers import expat

from glasshouse.errors import SourceError
from glasshouse.unpacking.zip_members import ZipMembers, is_zip

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ArxProject", "is_arx_project", "read_arx_project"]

_DEFINITION = "input/definition.xml"
_CONFIGURATION = "input/config.xml"
_MOST = 16 << 20
_MOST_DEPTH = 20
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifying",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}


@dataclass(frozen=True, kw_only=True)
class ArxProject:
    """What a project of ARX declares: names of columns by role, in their order, and what was asked for, in ARX's words.

    ``hierarchies`` are the quasi-identifiers for which the project has one.
    """

    identifying: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    hierarchies: tuple[str, ...]
    criteria: tuple[str, ...]


def is_arx_project(path: str | Path) -> bool:
    """Whether a file is called as a project of ARX is.

    >>> is_arx_project("study.deid"), is_arx_project("study.csv")
    (True, False)
    """
    return str(path).lower().endswith(".deid")


def read_arx_project(path: Path) -> ArxProject:
    """Read the roles of columns; whatever is not as ARX writes it is a `SourceError`."""
    try:
        with path.open("rb") as file:
            if not is_zip(file.read(4)):
                raise SourceError("it is no zip archive")
            members = ZipMembers(file)
            definition = members.read(_DEFINITION, _MOST)
            configuration = members.read(_CONFIGURATION, _MOST) if _CONFIGURATION in members.names() else b""
        columns = [dict(own) for own in _parsed(definition, _DEFINITION, "assigment") if own]
        criteria = [word for own in _parsed(configuration, _CONFIGURATION, "criteria") for _, word in own]
    except FileNotFoundError as error:
        reason = f"it has no {_DEFINITION}" if error.args[:1] == (_DEFINITION,) else "there is no such file"
        raise SourceError(f"{path} is no project of ARX: {reason}", source=path) from None
    except SourceError as error:
        raise SourceError(f"{path} is no project of ARX that can be read: {error}", source=path) from None
    except OSError:
        raise SourceError(f"{path} cannot be read", source=path) from None
    found: dict[str, list[str]] = {role: [] for role in _ROLES.values()}
    hierarchies = []
    for column in columns:
        name, kind = column.get("name", ""), column.get("type", "").strip().upper().replace(" ", "_")
        if not name or kind not in _ROLES:
            raise SourceError(f"{path}: the column {name!r} has the type {kind!r}, which is not known", source=path)
        if any(name in own for own in found.values()):
            raise SourceError(f"{path}: the column {name!r} is declared twice", source=path)
        found[_ROLES[kind]].append(name)
        if column.get("ref") and _ROLES[kind] == "quasi":
            hierarchies.append(name)
    if not columns:
        raise SourceError(f"{path} declares no columns: save the project again, with a table in it", source=path)
    return ArxProject(
        **{role: tuple(names) for role, names in found.items()},
        hierarchies=tuple(hierarchies),
        criteria=tuple(word.strip() for word in criteria if word.strip()),
    )


def _parsed(content: bytes, name: str, wanted: str) -> list[list[tuple[str, str]]]:
    """For every element of a name: the names and texts of the elements in it."""
    found: list[list[tuple[str, str]]] = []
    open_ones: list[str] = []
    text: list[str] = []
    if not content:
        return found

    def start(tag: str, _attributes: object) -> None:
        open_ones.append(tag)
        text.clear()
        if len(open_ones) > _MOST_DEPTH:
            raise SourceError(f"{name} is nested more than {_MOST_DEPTH} levels deep")
        if tag == wanted:
            found.append([])

    def end(tag: str) -> None:
        open_ones.pop()
        if open_ones and open_ones[-1] == wanted and found:
            found[-1].append((tag, "".join(text)))
        text.clear()

    def refuse(*_: object) -> None:
        raise SourceError(f"{name} has a document type or an entity, which ARX does not write: refused")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text.append
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, UnicodeError, LookupError):
        raise SourceError(f"{name} is no XML that can be read") from None
    return found
