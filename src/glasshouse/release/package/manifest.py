# SPDX-License-Identifier: Apache-2.0
"""The manifest as it is read: every word of ``datapackage.json`` is checked before anything is done with it.

The sender of a package writes its manifest. So nothing in it is trusted: sizes are bounded, names are those of files
in the folder, and whatever is malformed is refused with the reason, in one kind of error.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from glasshouse.bounds import is_bounded
from glasshouse.errors import ParameterError, SourceError
from glasshouse.release.edition import Edition, check_label
from glasshouse.release.layout import COUNTS, EDITION, LEFT, NUMBERS
from glasshouse.release.package.column_entry import Malformed, compound_parts, weight_classes
from glasshouse.release.package.container.container import MANIFEST
from glasshouse.release.package.container.plain_file import read_list
from glasshouse.release.package.tables import unguarded_name
from glasshouse.release.release import ONE_ROW_PER_PERSON, Guarantee, PublishedColumn, Recipe
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = [
    "DIALECT",
    "FORMATS",
    "FORMAT_VERSION",
    "MANIFEST",
    "PARTS_FORMAT",
    "README",
    "SIGNATURE",
    "SOFTWARE",
    "WHOLE_FORMAT",
    "Manifest",
    "PackagedFile",
    "PackagedTable",
    "check_declared",
    "files_of_release",
    "parse_manifest",
]

FORMAT_VERSION: Final = 5
"""The format of a release of several editions; every one up to it is read."""

PARTS_FORMAT: Final = 4
"""The format of a release of which a table has several files, without editions."""

WHOLE_FORMAT: Final = 3
"""The format of a release of which every table is one file."""

SOFTWARE: Final = f"glasshouse {VERSION}"
"""Who writes."""

README: Final = "README.md"
SIGNATURE: Final = "signature.json"
FORMATS: Final = ("parquet", "csv")
"""Bytes of a manifest."""

DIALECT: Final = {
    "$schema": "https://datapackage.org/profiles/2.0/tabledialect.json",
    "header": True,
    "delimiter": ",",
    "lineTerminator": "\n",
    "quoteChar": '"',
    "doubleQuote": True,
}
"How the cells of a CSV file are separated."

_GUARDED_SINCE = 3  # the format in which CSV files have apostrophes before what a spreadsheet would run
_MOST_TUPLES = 1 << 40
_DEEPEST = 100  # steps from a value to the root of a tree
_MOST_NODES = 1 << 20  # of a taxonomy
_LONGEST_LABEL = 10_000  # characters
_OF_NODES = "a node of the attribute's taxonomy"  # what the meaning of a column says whose cells are nodes
_OF_AN_ORDER = "an interval ["  # and of a column whose cells are intervals
_UNORDERED = ("category", "boolean")  # kinds of values that have no order unless one is declared
_DECLARED: Final[Mapping[str, tuple[str, ...]]] = {
    "tree": ("tree",),
    "nodes": ("nodes",),
    "unknown nodes": (),
    "order": ("order",),
    "quantiles": (),
    "intervals": ("width", "start", "fanout", "levels"),
    "prefix": ("length",),
    "dates": ("levels",),
}
"""What a release carries of a taxonomy or an order, by its kind."""
_LIMITS: Final[Mapping[str, str]] = {
    "integer": r"-?[0-9]{1,19}",
    "float": r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "timestamp": r"([0-9]{4}-[0-9]{2}-[0-9]{2}T)?[0-9:.]{5,15}([+-][0-9:]{5,8})?",
}
"""The text of a bottom or top code, by the kind of its column."""
_PARAMETERS: Final[Mapping[str, tuple[float, float]]] = {
    "width": (1e-30, 1e30),
    "start": (0, 1e30),
    "fanout": (2, 1e6),
    "levels": (1, _DEEPEST),
    "length": (1, 1_000),
}
"""The least and the largest size of a rule's parameter."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_WRITER = re.compile(r"glasshouse [0-9][0-9A-Za-z.+_-]{0,39}")
_TOLD_SINCE = 3  # the format that tells who was dropped and how, and whether there was an identifier
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")  # an escape of one half of a character
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_TYPES = ("string", "integer", "number", "boolean", "date", "datetime", "time")
_TOLD = ("declared", "limits", "weight", "parts")  # what may be told of a column since format 3
_KINDS = ("integer", "float", "date", "timestamp", "boolean", "category", "set")
_ROLES = ("quasi-identifier", "sensitive", "added")
_KIND: Final[Mapping[type, str]] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PackagedFile:
    """A file of the folder: its path there, how large it is, its SHA-256, and its rows if it is one part of several."""

    name: str
    size: int
    sha256: str
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class PackagedTable:
    """A table of the release: its files, format, columns and their types.

    In a file of CSV of format 3 texts are guarded, and ``marks`` says what stands for a missing one, by column; and
    ``missing`` what stands for a missing value of any kind, by the name that a column has in the file.
    """

    name: str
    files: tuple[str, ...]
    format: str
    fields: Mapping[str, str]
    guarded: bool = False
    marks: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The checked description of a release; ``data`` is all that was read, also what was not checked."""

    data: Mapping[str, Any]
    version: int
    files: tuple[PackagedFile, ...]
    tables: tuple[PackagedTable, ...]
    columns: tuple[PublishedColumn, ...]
    recipe: Recipe
    guarantee: Guarantee
    n_tuples: int
    n_dropped: int
    n_suppressed: int
    identified: bool
    editions: tuple[Edition, ...]
    title: str
    licence: str
    description: str
    software: str

    @property
    def is_ours(self) -> bool:
        """Whether this version of Glasshouse wrote it, so that it must read as this version would write it."""
        return self.version >= WHOLE_FORMAT and self.software == SOFTWARE

    def files_of(self, table: PackagedTable) -> list[PackagedFile]:
        """The files of a table, in their order."""
        by_name = {file.name: file for file in self.files}
        return [by_name[name] for name in table.files]


def files_of_release(folder: Path) -> set[tuple[str, str]]:
    """The files of a release with their checksums, by its manifest; empty if it is not a manifest."""
    try:
        manifest = parse_manifest(read_list(folder, MANIFEST))
    except (OSError, SourceError):
        return set()
    return {(file.name, f"sha256:{file.sha256}") for file in manifest.files}


def parse_manifest(content: bytes) -> Manifest:
    """Read a manifest; any error in it is raised as `SourceError`.

    >>> parse_manifest(b"{}")
    Traceback (most recent call last):
    glasshouse.errors.SourceError: datapackage.json is not the description of a release: it has no 'glasshouse'
    """
    try:
        data = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise SourceError(f"{MANIFEST} is not valid JSON, or has the same key twice, or is nested too deeply") from None
    if not isinstance(data, dict):
        _refuse("it is not an object")
    if _HALF.search(content) and not _is_unicode(data):
        _refuse("it has half of a Unicode character, which is not a valid text")
    ours = _get(data, "glasshouse", dict)
    version = _get(ours, "format_version", int)
    if version > FORMAT_VERSION:
        raise SourceError(
            f"the release has format {version}, and this version of Glasshouse reads up to {FORMAT_VERSION}: install a "
            "newer one",
            advised=True,
        )
    if version < 1:
        _refuse(f"it names the format {version}, which does not exist")
    resources = [_item(resource, dict, "a resource") for resource in _get(data, "resources", list)]
    if not resources:
        _refuse("it lists no table")
    tables = tuple(_table(resource, version) for resource in resources)
    _different("tables", [table.name for table in tables])
    several = any(len(table.files) > 1 for table in tables)
    if version < FORMAT_VERSION and (version == PARTS_FORMAT) != several:
        _refuse(
            f"its format does not match its tables: format {PARTS_FORMAT} is for releases in which a table has "
            "several files"
        )
    manifest = Manifest(
        data=data,
        version=version,
        files=tuple(_file(r, r) for r in resources) if version == 1 else _files(ours, tables, resources),
        tables=tables,
        columns=tuple(_column(_item(c, dict, "a column"), version) for c in _get(ours, "columns", list)),
        recipe=_recipe(_get(ours, "recipe", dict)),
        guarantee=_guarantee(_get(ours, "guarantee", dict)),
        n_tuples=_count(ours, "n_tuples"),
        n_dropped=_count(ours, "n_dropped"),
        **_about_dropped(ours, version),
        editions=_editions(ours, version),
        title=_get(data, "title", str, ""),
        licence=_licence(data),
        description=_get(data, "description", str, ""),
        software=_software(ours),
    )
    _check_columns(manifest)
    return manifest


# ------------------------------------------------------------------------------------------------------- its parts


def _table(resource: Mapping[str, Any], version: int) -> PackagedTable:
    name = _get(resource, "name", str)
    if not _NAME.fullmatch(name):
        _refuse("the name of a table has characters other than a-z, 0-9, - and _")
    format = _get(resource, "format", str)
    paths = _paths(resource, name, format, version)
    guarded = format == "csv" and version >= _GUARDED_SINCE
    odd = {"data", "compression", "extrapaths"} | (set() if guarded else {"dialect"})
    if not odd.isdisjoint(resource) or (guarded and resource.get("dialect", DIALECT) != DIALECT):
        _refuse(f"its description of the table {name!r} was not written by Glasshouse")
    return _with_fields(PackagedTable(name=name, files=paths, format=format, fields={}, guarded=guarded), resource)


def _paths(resource: Mapping[str, Any], name: str, format: str, version: int) -> tuple[str, ...]:
    """The files of a table: one beside the manifest, or parts in a folder of its name, in their order."""
    parted = version >= PARTS_FORMAT and isinstance(resource.get("path"), list)
    paths = _texts(resource, "path") if parted else (_get(resource, "path", str),)
    for path in paths:
        inner = path.removeprefix(f"{name}/") if parted else path
        if inner in ("", ".", "..") or "/" in inner or "\\" in inner or "\0" in inner:
            raise SourceError(
                f"the table {name!r} is in a file outside the folder of the release: the release is not read"
            )
    if format not in FORMATS or (not parted and paths != (f"{name}.{format}",)):
        _refuse(f"the table {name!r} is not in a file of its name that ends in .parquet or .csv")
    if parted and (len(paths) < 2 or paths != tuple(f"{name}/part-{i:05}.{format}" for i in range(len(paths)))):
        _refuse(f"the parts of the table {name!r} are not listed from the first to the last, each once")
    return paths


def _with_fields(table: PackagedTable, resource: Mapping[str, Any]) -> PackagedTable:
    """The table with its columns, and what stands for missing values in each."""
    name, guarded = table.name, table.guarded
    fields: dict[str, str] = {}
    marks: dict[str, str] = {}
    missing: dict[str, tuple[str, ...]] = {}
    for told in _get(_get(resource, "schema", dict), "fields", list):
        in_file = _get(_item(told, dict, "a field"), "name", str)
        column = unguarded_name(in_file) if guarded else in_file
        kind = _get(told, "type", str)
        if kind not in _TYPES or column in fields:
            _refuse(f"the table {name!r} has a column of an unknown type, or the same column twice")
        fields[column] = kind
        words = _texts(told, "missingValues") if guarded and "missingValues" in told else ()
        if len(words) > 1 or (words and (kind != "string" or not words[0])):
            _refuse(
                f"the table {name!r} has several words for a missing value, or has one in a column that is not text"
            )
        marks |= {column: words[0]} if words else {}
        missing |= {in_file: words if "missingValues" in told else ("",)} if guarded else {}
    if not fields:
        _refuse(f"the table {name!r} has no columns")
    return replace(table, fields=fields, marks=marks, missing=missing)


def _files(
    ours: Mapping[str, Any], tables: tuple[PackagedTable, ...], resources: list[dict[str, Any]]
) -> tuple[PackagedFile, ...]:
    """The list of all files; entries for the same file must agree."""
    files = tuple(_file(_item(f, dict, "a file"), f) for f in _get(ours, "files", list))
    _different("files", [file.name for file in files])
    if {file.name for file in files} != {README, *(path for table in tables for path in table.files)}:
        _refuse(f"the files that it lists are not its tables and a {README}")
    by_name = {file.name: file for file in files}
    for table, resource in zip(tables, resources, strict=True):
        if len(table.files) > 1:
            if "hash" in resource or "bytes" in resource or any(by_name[path].rows is None for path in table.files):
                _refuse(
                    "it does not give the size, the number of rows and the checksum of each part of the table "
                    f"{table.name!r}"
                )
            continue
        (path,) = table.files
        file = by_name[path]
        told = _get(resource, "hash", str), _get(resource, "bytes", int, file.size)
        if told != (f"sha256:{file.sha256}", file.size):
            _refuse(f"it gives two different sizes or checksums for {file.name}")
    return files


def _file(named: Mapping[str, Any], told: Mapping[str, Any]) -> PackagedFile:
    digest = _get(told, "hash", str)
    if not _HASH.fullmatch(digest):
        _refuse("a checksum is not a SHA-256")
    name, size = _get(named, "path", str), _count(told, "bytes")
    rows = _count(told, "rows") if "rows" in told else None
    return PackagedFile(name=name, size=size, sha256=digest.removeprefix("sha256:"), rows=rows)


def _column(data: Mapping[str, Any], version: int) -> PublishedColumn:
    _known(
        data,
        {"name", "role", "kind", "meaning", "axis", *(_TOLD if version > 2 else ())},
        "a column",
    )
    if _get(data, "role", str) not in _ROLES:
        _refuse("a column has an unknown role")
    if _get(data, "kind", str) not in _KINDS:
        _refuse("a column has values of an unknown kind")
    if data["kind"] == "set" and (data["role"] != "sensitive" or "axis" in data):
        _refuse("a column of sets is not sensitive, or has an order")
    return PublishedColumn(
        name=_get(data, "name", str),
        role=data["role"],
        kind=data["kind"],
        meaning=_get(data, "meaning", str),
        axis=_axis(data["axis"]) if "axis" in data else None,
        declared=_declared(data, version),
        limits=_limits(data) if "limits" in data else None,
        **_entries(data),
    )


def _entries(column: Mapping[str, Any]) -> dict[str, Any]:
    """The descriptions of a survey weight and of a compound column."""
    found: dict[str, Any] = {}
    try:
        if "weight" in column:
            found["weight"] = weight_classes(column["weight"])
        if "parts" in column:
            found["parts"] = compound_parts(column["parts"], _KINDS)
    except Malformed as reason:
        _refuse(str(reason))
    if "weight" in found and (column["role"], column["kind"]) != ("quasi-identifier", "float"):
        _refuse("it describes classes of weights for a column that cannot have them")
    if "parts" in found and (column["role"], column["kind"]) != ("sensitive", "category"):
        _refuse("it describes parts for a column that cannot have them")
    return found


def _limits(column: Mapping[str, Any]) -> Mapping[str, str]:
    """Bottom and top codes of a quasi-identifier that has a natural order: numbers or dates."""
    limits = _get(column, "limits", dict)
    _known(limits, {"bottom", "top"}, "a limit")
    shape = _LIMITS.get(column["kind"])
    if not limits or shape is None or column["role"] != "quasi-identifier":
        _refuse("it describes limits for a column that cannot have them")
    if not all(re.fullmatch(shape, _get(limits, name, str)) for name in limits):
        _refuse("a limit is not a possible value of its column")
    return dict(limits)


def _declared(column: Mapping[str, Any], version: int) -> Mapping[str, Any] | None:
    """The part of a taxonomy or an order that the release carries; up to format 2 only the meaning mentions it.

    Readers of the column must know then that it cannot be read alone.
    """
    if version < 3:
        if column["role"] != "quasi-identifier":
            return None
        if _OF_NODES in column["meaning"]:
            return {"kind": "unknown nodes"}
        return {"kind": "order"} if _OF_AN_ORDER in column["meaning"] and column["kind"] in _UNORDERED else None
    if "declared" not in column:
        return None
    if column["role"] != "quasi-identifier":
        _refuse("it has a taxonomy or an order for a column that is not a quasi-identifier")
    return check_declared(_get(column, "declared", dict))


def check_declared(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse invalid or excessively large taxonomies, rules and orders; see `PublishedColumn`.

    >>> check_declared({"kind": "prefix", "length": 5})
    {'kind': 'prefix', 'length': 5}
    """
    kind = _get(data, "kind", str)
    if kind not in _DECLARED:
        _refuse("it has a taxonomy of an unknown kind")
    _known(data, {"kind", *_DECLARED[kind]}, "a taxonomy")
    if kind == "tree":
        return {"kind": kind, "tree": _tree(data)}
    if kind == "nodes":
        return {"kind": kind, "nodes": _nodes(data)}
    if kind == "order":
        return {
            "kind": kind,
            **({"order": list(_labels(_texts(data, "order"), "an order"))} if "order" in data else {}),
        }
    return {"kind": kind, **{name: _parameter(name, data[name]) for name in _DECLARED[kind] if name in data}}


def _tree(data: Mapping[str, Any]) -> Any:
    """Check a tree: a label, or a list of a label and its children; processed level by level, without recursion."""
    level, labels = [data.get("tree")], 0
    for _ in range(_DEEPEST + 1):
        labels += len(level)
        if labels > _MOST_NODES:
            _refuse(f"a taxonomy has more than {_MOST_NODES:,} nodes")
        below: list[Any] = []
        for node in level:
            label = node[0] if isinstance(node, list) and len(node) > 1 else node
            _label(label)
            below += node[1:] if isinstance(node, list) else []
        if not below:
            return data["tree"]
        level = below
    return _refuse(f"a taxonomy is more than {_DEEPEST} levels deep")


def _nodes(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Check nodes that are cells: each occurs once, after the node that contains it, so that there is no cycle."""
    found: dict[str, dict[str, Any]] = {}
    for item in _get(data, "nodes", list):
        node = _item(item, dict, "a node")
        _known(node, {"label", "within", "leaf"}, "a node")
        label = _label(_get(node, "label", str))
        within = _get(node, "within", str) if "within" in node else None
        if label in found or (within is not None and (within not in found or "leaf" in found[within])):
            _refuse("a node of a taxonomy is listed twice, or lies within something that is not a node")
        if "leaf" in node and node["leaf"] is not True:
            _refuse("a node of a taxonomy has an entry 'leaf' that is not true")
        found[label] = dict(node)
        if len(found) > _MOST_NODES:
            _refuse(f"a taxonomy has more than {_MOST_NODES:,} nodes")
    return list(found.values())


def _parameter(name: str, value: Any) -> Any:
    """A parameter of a rule: a bounded number, or a short text."""
    if name == "levels" and isinstance(value, list):
        return list(_labels((_item(word, str, "a level") for word in value), "a rule", most=_DEEPEST))
    if value is None and name == "levels":
        return None
    least, most = _PARAMETERS[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= abs(value) <= most:
        _refuse(f"a taxonomy has {name!r} out of range")
    return value


def _labels(texts: Iterable[str], what: str, most: int = 1 << 20) -> tuple[str, ...]:
    found = tuple(_label(text) for text in texts)
    if not found or len(found) > most or len(set(found)) < len(found):
        _refuse(f"{what} is empty, too long, or has an entry twice")
    return found


def _label(text: Any) -> str:
    if not isinstance(text, str) or len(text) > _LONGEST_LABEL:
        _refuse(f"a label is not a text of at most {_LONGEST_LABEL:,} characters")
    return text


def _axis(data: Any) -> Mapping[str, Any]:
    """An order of values, and for each height of a tree the ancestor of each of them."""
    axis = _item(data, dict, "an axis")
    _known(axis, {"order", "heights"}, "an axis")
    order = _texts(axis, "order")
    heights = [
        [_item(number, int, "an ancestor") for number in _item(level, list, "a height")]
        for level in _get(axis, "heights", list, [])
    ]
    if any(len(level) != len(order) for level in heights) or len(heights) > _DEEPEST:
        _refuse("the axis (order) of a column does not give every value a position")
    return {"order": list(order), **({"heights": heights} if heights else {})}


def _recipe(data: Mapping[str, Any]) -> Recipe:
    _known(data, {"principle", "method", "recoding", "quasi", "sensitive", "suppress", "seeded"}, "the recipe")
    for part in ("principle", "method", "recoding"):
        _get(_get(data, part, dict), "name", str)
        if not is_bounded(data[part]):
            _refuse(f"the {part} is nested too deeply, too long, or has a number of too many digits")
    quasi, sensitive = _texts(data, "quasi"), _texts(data, "sensitive")
    if not quasi:
        _refuse("the recipe names no quasi-identifier")
    _different("columns", [*quasi, *sensitive])
    return Recipe(
        principle=data["principle"],
        method=data["method"],
        recoding=data["recoding"],
        quasi=quasi,
        sensitive=sensitive,
        suppress=_get(data, "suppress", str),
        seeded=_get(data, "seeded", bool),
    )


def _guarantee(data: Mapping[str, Any]) -> Guarantee:
    words = ("promise", "adversary", "adversary_knows", "theorem")
    _known(data, {*words, "assumptions", "limits"}, "the guarantee")
    told = {word: _get(data, word, str) for word in words}
    return Guarantee(**told, assumptions=_texts(data, "assumptions"), limits=_texts(data, "limits"))


def _about_dropped(ours: Mapping[str, Any], version: int) -> dict[str, Any]:
    """How many records were suppressed, and whether an identifier was declared.

    Before format 3 only the guarantee and the recipe told. Where records could be dropped before the table was divided,
    all that are missing are taken to have been dropped then, and for these nothing is promised.
    """
    if version >= _TOLD_SINCE:
        return {"n_suppressed": _count(ours, "n_suppressed"), "identified": _get(ours, "identified", bool)}
    suppresses = _get(_get(ours, "recipe", dict), "suppress", str) != "0"
    return {
        "n_suppressed": _count(ours, "n_dropped") if suppresses else 0,
        "identified": ONE_ROW_PER_PERSON not in _texts(_get(ours, "guarantee", dict), "assumptions"),
    }


def _editions(ours: Mapping[str, Any], version: int) -> tuple[Edition, ...]:
    """The editions of a release; before format 5 there were none."""
    if ("editions" in ours) != (version == FORMAT_VERSION):
        _refuse(f"its format does not match its editions: format {FORMAT_VERSION} is for releases with editions")
    found = []
    for item in _get(ours, "editions", list, []) if version == FORMAT_VERSION else []:
        told = _item(item, dict, "an edition")
        _known(told, {"label", "n_tuples", "n_dropped", "n_suppressed"}, "an edition")
        counts = {name: _count(told, name) for name in ("n_tuples", "n_dropped", "n_suppressed")}
        try:
            found.append(Edition(label=check_label(told.get("label")), **counts))
        except ParameterError:
            _refuse("an edition has no readable label")
    if version == FORMAT_VERSION and not found:
        _refuse("it lists no edition")
    _different("editions", [str(edition.label) for edition in found])
    return tuple(found)


def _software(ours: Mapping[str, Any]) -> str:
    software = _get(ours, "software", str)
    if not _WRITER.fullmatch(software):
        _refuse("it does not say which version of Glasshouse wrote it")
    return software


def _licence(data: Mapping[str, Any]) -> str:
    licences = _get(data, "licenses", list, [])
    if not licences:
        return ""
    licence = _item(licences[0], dict, "a licence")
    return _get(licence, "name", str) if "name" in licence else _get(licence, "path", str)


def _check_columns(manifest: Manifest) -> None:
    """Check that every column of a table is described once, with its role in the recipe, and every file occurs once."""
    columns = {column.name: column.role for column in manifest.columns}
    parts = [part.name for column in manifest.columns for part in column.parts or ()]
    _different("columns", [*parts, *(column.name for column in manifest.columns)])
    recipe = manifest.recipe
    roles = {
        **dict.fromkeys(recipe.quasi, "quasi-identifier"),
        **dict.fromkeys(recipe.sensitive, "sensitive"),
        **{name: "added" for name in columns if name not in (*recipe.quasi, *recipe.sensitive)},
    }
    if roles != columns:
        _refuse("the columns that it explains are not those of the recipe")
    if manifest.editions and recipe.quasi[0] != EDITION:
        _refuse("it has editions, but does not say who was published in which")
    if any(edition.n_suppressed > edition.n_dropped for edition in manifest.editions):
        _refuse(
            "it says that more people of an edition were left out because a value is too frequent than were left "
            "out in all"
        )
    added = {*NUMBERS, *COUNTS, *([LEFT] if manifest.editions else [])}
    if not {name for name, role in columns.items() if role == "added"} <= added:
        _refuse("it has a column that is neither a quasi-identifier nor sensitive, and that Glasshouse does not add")
    shown = {name for table in manifest.tables for name in table.fields}
    if not shown <= columns.keys():
        _refuse("a table has a column that is not explained")


# ------------------------------------------------------------------------------------------------------ its words


def _get(data: Mapping[str, Any], key: str, kind: type[T], default: T | None = None) -> T:
    if key not in data:
        if default is not None:
            return default
        _refuse(f"it has no {key!r}" if key == "glasshouse" else f"something in it has no {key!r}")
    return _item(data[key], kind, repr(key))


def _item(value: Any, kind: type[T], what: str) -> T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        _refuse(f"{what} is not {_KIND[kind]}")
    return value


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_item(text, str, f"an entry of {key!r}") for text in _get(data, key, list))


def _count(data: Mapping[str, Any], key: str) -> int:
    number = _get(data, key, int)
    if not 0 <= number <= _MOST_TUPLES:
        _refuse(f"{key!r} is out of range")
    return number


def _known(data: Mapping[str, Any], keys: set[str], what: str) -> None:
    if not data.keys() <= keys:
        _refuse(f"{what} has an entry that this version of Glasshouse does not know")


def _different(what: str, names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) < len(listed):
        _refuse(f"two of its {what} have the same name")


def _is_unicode(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("the same key twice")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _refuse(reason: str) -> NoReturn:
    raise SourceError(f"{MANIFEST} is not the description of a release: {reason}")
