# SPDX-License-Identifier: Apache-2.0
"""Keys: the keys allowed in a policy, table by table, and the choice that each key makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from glasshouse import bounds
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from fractions import Fraction

    from glasshouse.policy.document import Document, Keys

__all__ = [
    "COLUMN",
    "EACH",
    "TABLES",
    "WITH_PARAMETERS",
    "Key",
    "check_secrets",
    "choices_of",
    "is_secret",
    "keys_of",
    "names_file",
    "plain",
    "refuse_unknown",
]


class Key(NamedTuple):
    """A key: the choice that it makes, what its value must be, and whether each sensitive column may have its own."""

    choice: str
    kind: str
    each: bool = False


TABLES: dict[str, dict[str, Key]] = {
    "source": {
        "file": Key("file", "a path"),
        "table": Key("table", "text"),
        "query": Key("query", "text"),
        "delimiter": Key("delimiter", "text"),
        "encoding": Key("encoding", "text"),
        "decimal": Key("decimal", "text"),
        "missing": Key("missing", "one of error, category, drop"),
        "repeated": Key("repeated", "one of error, sample, together"),
        "accept": Key("accept", "a name or a list of names"),
    },
    "roles": {
        "quasi": Key("quasi", "a list of names"),
        "sensitive": Key("sensitive", "a name or a list of names"),
        "identifier": Key("identifier", "text"),
        "weight": Key("weight", "text"),
        "together": Key("together", "a list of lists of names"),
    },
    "columns": {},
    "principle": {
        "k": Key("k", "a whole number"),
        "ell": Key("ell", "a whole number", each=True),
        "distinct_ell": Key("distinct_ell", "a whole number", each=True),
        "entropy_ell": Key("entropy_ell", "a number", each=True),
        "recursive": Key("recursive", "text", each=True),
        "designated": Key("designated", "a list of values", each=True),
        "alpha": Key("alpha", "a number"),
        "t": Key("t", "a number", each=True),
        "distance": Key("distance", "one of equal, ordered, hierarchical", each=True),
        "rho1": Key("rho1", "a number"),
        "rho2": Key("rho2", "a number"),
        "delta": Key("delta", "a number"),
        "lambda": Key("lambda_", "a number"),
        "s": Key("s", "a number"),
    },
    "method": {"name": Key("method", "text")},
    "recoding": {
        "name": Key("recoding", "text"),
        "marginals": Key("marginal", "a list of lists of names"),
        "retention": Key("retention", "a number"),
        "domain": Key("domain", "a list of values or @FILE"),
    },
    "release": {
        "out": Key("out", "a path"),
        "format": Key("format_", "one of parquet, csv, xlsx, stata"),
        "title": Key("title", "text"),
        "licence": Key("licence", "text"),
        "to": Key("to", "text"),
        "schema": Key("schema", "text"),
        "suppress": Key("suppress", "a number"),
        "carry": Key("carry", "one of cells, declared"),
        "after": Key("after", "a path"),
        "edition": Key("edition", "a whole number or a text"),
        "at_least": Key("at_least", "a whole number"),
        "keep_published": Key("keep_published", "true or false"),
        "leave_out": Key("leave_out", "true or false"),
        "report": Key("report", "one of brief, full, none"),
        "flat": Key("flat", "true or false"),
        "zip": Key("zip", "true or false"),
    },
    "run": {
        "engine": Key("engine", "one of auto, memory, disk, spark"),
        "master": Key("master", "text"),
        "memory": Key("memory", "a whole number"),
        "spill": Key("spill", "a path"),
        "partition": Key("partition", "true or false"),
        "threads": Key("threads", "a whole number"),
    },
}
EACH = frozenset(key.choice for keys in TABLES.values() for key in keys.values() if key.each)
"""The choices of which each sensitive column may have its own."""
COLUMN: dict[str, Key] = {
    "taxonomy": Key("taxonomy", "a taxonomy"),
    "order": Key("order", "a list of values"),
    "bins": Key("bins", "a taxonomy"),
    "categorical": Key("categorical", "true or false"),
    "normalise": Key("normalise", "true or false"),
    "bottom": Key("bottom", "a number or a date"),
    "top": Key("top", "a number or a date"),
}
WITH_PARAMETERS = {"method": "parameters", "recoding": "recoding_with"}

# A user before a colon and an at sign, or a parameter that is called a password: the value itself is never shown.
_USER = re.compile(r"://[^/@:\s]*:")
_NAMED = re.compile(r"\b(ssl)?(password|passwd|pwd|secret|token|api_?key)\s*=", re.IGNORECASE)


def check_secrets(document: Document) -> None:
    """Refuse a value that looks like a password, without showing it."""
    waiting: list[tuple[Keys, Any]] = [((), document.data)]
    while waiting:
        keys, value = waiting.pop()
        if isinstance(value, str) and is_secret(value):
            document.refuse(
                keys,
                "this looks like a password, which must not be in a policy: remove it, and set an environment "
                "variable, such as PGPASSWORD, or use a service file",
            )
        if isinstance(value, Mapping):
            waiting += [((*keys, str(key)), inner) for key, inner in value.items()]
            waiting += [((*keys, str(key)), key) for key in value]
        elif isinstance(value, list):
            waiting += [(keys, inner) for inner in value]


def is_secret(text: str) -> bool:
    """Whether a text looks like a password; takes time proportional to its length."""
    return bool(_NAMED.search(text)) or any(
        _USER.search(line, 0, line.rindex("@")) for line in text.split("\n") if "@" in line
    )


def choices_of(document: Document) -> dict[str, Any]:
    """Check every key of a policy, and return the choices."""
    choices: dict[str, Any] = {}
    for table, content in document.data.items():
        _check_known(document, (), table, TABLES)
        if not isinstance(content, Mapping):
            document.refuse(
                (table,), (f"{table} must be a section: write [{table}] on its own line, and its settings below")
            )
        if table == "columns":
            _columns(document, content, choices)
            continue
        for name, value in content.items():
            keys, known = (table, name), TABLES[table]
            if name not in known and table in WITH_PARAMETERS:
                choices.setdefault(WITH_PARAMETERS[table], {})[name] = value
                continue
            _check_known(document, (table,), name, known)
            choices[known[name].choice] = _checked(document, keys, known[name], value)
    return choices


def _columns(document: Document, content: Mapping[str, Any], choices: dict[str, Any]) -> None:
    for column, wishes in content.items():
        if not isinstance(wishes, Mapping):
            document.refuse(("columns", column), "write a section for each column, such as [columns.age]")
        for name, value in wishes.items():
            _check_known(document, ("columns", column), name, COLUMN)
            key = COLUMN[name]
            checked = _checked(document, ("columns", column, name), key, value)
            if key.kind != "true or false":
                choices.setdefault(key.choice, {})[column] = checked
            elif checked:
                choices.setdefault(key.choice, []).append(column)


def plain(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Choices in the form that a policy can hold: without open ones, and with numbers instead of their texts.

    >>> plain({"quasi": ["age"], "sensitive": "disease", "ell": "3", "k": None, "top": {"age": "80"}})
    {'quasi': ['age'], 'sensitive': ['disease'], 'ell': 3, 'top': {'age': 80}}
    """
    known = {key.choice: key for keys in TABLES.values() for key in keys.values()}
    by_column = {key.choice: key.kind for key in COLUMN.values()}
    made: dict[str, Any] = {}
    for name, value in choices.items():
        if value is None or (isinstance(value, list | tuple | Mapping) and not value):
            continue
        if name in by_column and isinstance(value, Mapping):
            made[name] = {column: _plain(name, by_column[name], inner) for column, inner in value.items()}
        elif name in by_column:
            made[name] = list(value)
        elif name in EACH and isinstance(value, Mapping):
            made[name] = {column: _plain(name, known[name].kind, inner) for column, inner in value.items()}
        elif name in known:
            made[name] = _plain(name, known[name].kind, value)
        elif name in WITH_PARAMETERS.values():
            made[name] = dict(value)
        else:
            raise InputError(f"there is no choice named {name!r}: use the names of the options of the command line")
    return made


def _plain(name: str, kind: str, value: Any) -> Any:
    from glasshouse.policy.choices import label, limit, option, whole

    if kind == "a whole number or a text":
        return label(value)
    if kind == "a whole number":
        return whole(option(name), value)
    if kind == "a number or a date":
        return limit(value)
    if kind == "a name or a list of names" and isinstance(value, str):
        return [value]
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple):
        return [list(inner) if isinstance(inner, list | tuple) else inner for inner in value]
    return value


def keys_of(choice: str) -> Keys:
    """Which key of a policy makes a choice.

    >>> keys_of("lambda_"), keys_of("recoding_with"), keys_of("bins")
    (('principle', 'lambda'), ('recoding',), ('columns',))
    """
    for table, parameters in WITH_PARAMETERS.items():
        if choice == parameters:
            return (table,)
    for table, known in TABLES.items():
        for name, key in known.items():
            if key.choice == choice:
                return (table, name)
    return ("columns",)


def refuse_unknown(document: Document, keys: Keys, what: str, name: str, known: Collection[str]) -> NoReturn:
    """Refuse a name that is not known, and suggest the nearest that is."""
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    document.refuse(keys, f"there is no {what}: {hint}", suggestion=near[0] if near else None)


def _check_known(document: Document, table: Keys, name: str, known: Collection[str]) -> None:
    if name not in known:
        what = f"setting {name[:60]!r} in [{'.'.join(table)}]" if table else f"section [{name[:60]}]"
        refuse_unknown(document, (*table, name), what, name, known)


def _checked(document: Document, keys: Keys, key: Key, value: Any) -> Any:
    """A value of the right kind; the message says what it must be, and not what it is."""
    kind = key.kind
    if key.each and isinstance(value, Mapping):
        if not value or not all(_is(kind, inner) for inner in value.values()):
            document.refuse(keys, f"{keys[-1]} must be {kind} for each sensitive column, such as {{disease = ...}}")
        return dict(value)
    if kind == "a list of values or @FILE" and isinstance(value, str) and value.startswith("@"):
        return _lines(document, keys, value[1:])
    if kind == "a name or a list of names" and isinstance(value, str):
        value = [value]
    if keys == ("release", "report") and isinstance(value, bool):  # as policies said it before there were three
        value = "brief" if value else "none"
    label = "text" if isinstance(value, str) else "a whole number"
    if not _is(label if kind == "a whole number or a text" else kind, value):
        document.refuse(keys, f"{keys[-1]} must be {kind}{', or one for each sensitive column' * key.each}")
    return _resolved(document, value) if kind == "a path" or (kind == "a taxonomy" and names_file(value)) else value


def _is(kind: str, value: Any) -> bool:
    if kind.startswith("one of "):
        return value in kind.removeprefix("one of ").split(", ")
    match kind:
        case "text" | "a path" | "a taxonomy":
            return isinstance(value, str) and bool(value) and "\0" not in value
        case "true or false":
            return isinstance(value, bool)
        case "a whole number":
            return isinstance(value, int) and _is_bounded(bounds.whole, value)
        case "a number":
            return isinstance(value, int | float | str) and _is_bounded(bounds.exact, value)
        case "a number or a date":
            return (isinstance(value, int | float) and not isinstance(value, bool)) or type(value) is date
        case "a list of names" | "a name or a list of names":
            return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
        case "a list of lists of names":
            return isinstance(value, list) and all(_is("a list of names", item) for item in value)
    assert kind.startswith("a list of values")
    return isinstance(value, list) and bool(value) and all(isinstance(v, str | int | float | date) for v in value)


def _is_bounded(read: Callable[[Any], int | Fraction], value: Any) -> bool:
    try:
        return read(value) >= 0
    except (TypeError, ValueError):
        return False


def names_file(text: str) -> bool:
    """Whether a taxonomy is that of a file, and no rule such as ``prefix:5``."""
    from glasshouse.microdata.taxonomy import taxonomy  # here, for it takes a data library

    return taxonomy.names_file(text)


def _resolved(document: Document, path: str) -> str:
    """A path of the policy: relative to the policy's own folder."""
    return path if "://" in path else str(document.path.parent / path)


def _lines(document: Document, keys: Keys, name: str) -> list[str]:
    """The values of a declared domain, read from a file with one value per line."""
    try:
        lines = (document.path.parent / name).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        told = f"there is no file {name}: check its name. Its path is relative to the folder of this policy"
        document.refuse(keys, f"{keys[-1]}: {told}")
    except (OSError, ValueError):
        told = f"the file {name} cannot be read as text: save it as text in UTF-8, with one value on each line"
        document.refuse(keys, f"{keys[-1]}: {told}")
    return [line for line in lines if line]
