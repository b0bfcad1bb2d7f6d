# SPDX-License-Identifier: Apache-2.0
"""The text of a policy: choices, however they were made, as the TOML file that makes the same."""

from __future__ import annotations

import json
import re
from datetime import date
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError
from glasshouse.policy.document import parsed
from glasshouse.policy.keys import COLUMN, TABLES, WITH_PARAMETERS, check_secrets, choices_of, names_file, plain
from glasshouse.visible import is_shown, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["bare", "policy_text", "quoted"]

_PATHS = ("file", "out", "spill", "after")


def policy_text(choices: Mapping[str, Any], *, folder: str | Path | None = None) -> str:
    """Write choices as a policy: `load_policy` of it makes the same choices.

    What equals a default is written too, if it was chosen. The order of names in ``categorical`` and ``normalise``,
    which means nothing, may become another one.

    Parameters
    ----------
    choices
        What was chosen, by the names of the command line's options; see `Policy`.
    folder
        The folder that the policy will lie in. Relative paths among the choices are relative to the current folder, as
        on the command line, and those of a policy to its own folder. So without ``folder``, they are written as they
        are, for a policy in the current folder; with it, paths below it become relative to it, and others absolute.

    Raises
    ------
    InputError
        If a policy cannot say it: a text that is not Unicode, a password, a value that its key does not take.

    Examples
    --------
    >>> print(policy_text({"file": "patients.csv", "quasi": ["age"], "taxonomy": {"age": "intervals:10"}, "k": "5"}))
    [source]
    file = "patients.csv"
    <BLANKLINE>
    [roles]
    quasi = ["age"]
    <BLANKLINE>
    [columns.age]
    taxonomy = "intervals:10"
    <BLANKLINE>
    [principle]
    k = 5
    <BLANKLINE>
    """
    wanted = _placed(plain(choices), folder)
    text = "\n".join("\n".join(lines) + "\n" for lines in _tables(wanted))
    _check(text, wanted)
    return text


def _tables(choices: Mapping[str, Any]) -> Iterator[list[str]]:
    for table, keys in TABLES.items():
        if table == "columns":
            yield from _columns(choices)
            continue
        made = {name: choices[key.choice] for name, key in keys.items() if key.choice in choices}
        made |= choices.get(WITH_PARAMETERS.get(table, ""), {})
        if made:
            yield [f"[{table}]", *(f"{bare(name)} = {_value(value)}" for name, value in made.items())]


def _columns(choices: Mapping[str, Any]) -> Iterator[list[str]]:
    flags = {name: choices.get(key.choice, []) for name, key in COLUMN.items() if key.kind == "true or false"}
    others = {name: choices.get(key.choice, {}) for name, key in COLUMN.items() if key.kind != "true or false"}
    listed = [*choices.get("quasi", []), *choices.get("sensitive", [])]
    mentioned = {column for some in (*flags.values(), *others.values()) for column in some}
    for column in _in_order([*flags.values()], [*listed, *sorted(mentioned)]):
        if column not in mentioned:
            continue
        lines = [f"{name} = {_value(some[column])}" for name, some in others.items() if column in some]
        lines += [f"{name} = true" for name, some in flags.items() if column in some]
        yield [f"[columns.{bare(column)}]", *lines]


def _in_order(lists: list[list[str]], columns: list[str]) -> list[str]:
    """All columns, so that each of these lists keeps its order, if that can be."""
    order = {
        column: place for place, column in enumerate(dict.fromkeys([*columns, *(c for one in lists for c in one)]))
    }
    graph = TopologicalSorter({column: [] for column in order})
    for one in lists:
        for before, after in pairwise(dict.fromkeys(one)):
            graph.add(after, before)
    made: list[str] = []
    try:
        graph.prepare()
    except CycleError:
        return [*order]
    while graph.is_active():
        ready = sorted(graph.get_ready(), key=order.__getitem__)
        graph.done(*ready)
        made += ready
    return made


def _placed(choices: dict[str, Any], folder: str | Path | None) -> dict[str, Any]:
    """The choices with their paths as they stand in a policy in this folder."""

    def place(path: str) -> str:
        if "://" in path or not path:  # an address, or what a policy refuses
            return path
        if folder is None:
            return str(Path(path))
        whole, base = Path(path).absolute(), Path(folder).absolute()
        return str(whole.relative_to(base)) if whole.is_relative_to(base) else str(whole)

    made = choices | {name: place(choices[name]) for name in _PATHS if name in choices}
    for name in ("taxonomy", "bins"):
        if name in made:
            made[name] = {
                column: place(text) if names_file(text) else text for column, text in made[name].items()
            }  # fmt: skip
    return made


def _check(text: str, wanted: Mapping[str, Any]) -> None:
    """Read the policy again: an invalid one is refused, and no choice may have changed."""
    document = parsed(Path("policy.toml"), text)
    check_secrets(document)
    found = choices_of(document)
    for name in {*wanted, *found}:
        one, other = wanted.get(name), found.get(name)
        if name in ("categorical", "normalise"):
            one, other = sorted(set(one or ())), sorted(other or ())
        if one != other:
            raise InputError(f"the choice for {name!r} cannot be written in a policy: {visible(one)[:200]}")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{bare(str(key))} = {_value(inner)}" for key, inner in value.items()) + "}"
    raise InputError(f"a policy holds texts, numbers, dates, lists and sections, but no {type(value).__name__}")


def quoted(text: str) -> str:
    """A string in double quotes, for TOML and Python alike, in which all invisible characters are escaped.

    >>> print(quoted('the "new" wards'), quoted("one\\ntwo"))
    "the \\"new\\" wards" "one\\ntwo"
    """
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise InputError(f"a policy is written in UTF-8, which has no way to write {visible(text)}: rename it first")
    return "".join(c if is_shown(c) else _code(ord(c)) for c in json.dumps(text, ensure_ascii=False))


def _code(number: int) -> str:
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def bare(name: str) -> str:
    """A TOML key, in quotes if it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)
