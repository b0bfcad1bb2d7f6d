# SPDX-License-Identifier: Apache-2.0
"""The command line: choices as the arguments of ``glasshouse publish`` that have the same effect.

Not everything can be said there. Every value of a list is a text; a file that ends as policies do is taken for one. And
a command that is shown to be copied must not hold anything that cannot be seen. Where options cannot say a choice, the
command names the policy that can (`policy_text`).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.bounds import exact
from glasshouse.errors import GlasshouseError, InputError
from glasshouse.policy import choices as meaning
from glasshouse.policy.document import SUFFIXES
from glasshouse.policy.keys import COLUMN, EACH, TABLES, WITH_PARAMETERS, is_secret, plain
from glasshouse.policy.option_text import chosen, text_of_choice
from glasshouse.visible import is_shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["CommandLine", "command_line", "refuse_secrets"]

_ORDER = ("roles", "columns", "principle", "method", "recoding", "release", "run", "source")
_NUMBERS = frozenset(key.choice for keys in TABLES.values() for key in keys.values() if key.kind == "a number")
_FLAGS = {
    "flat": {True: "--flat", False: "--no-flat"},
    "zip": {True: "--zip"},
    "partition": {False: "--no-partition"},
    "keep_published": {True: "--keep-published"},
    "leave_out": {True: "--leave-out"},
}


@dataclass(frozen=True)
class CommandLine:
    """A command: its arguments, and whether these express all choices.

    Parameters
    ----------
    arguments
        The words of the command, from ``glasshouse`` on.
    reason
        Why the command names a policy, which must then be written beside it; None if its options say everything.

    Examples
    --------
    >>> print(command_line({"file": "my patients.csv", "quasi": ["age", "sex"], "k": 5, "out": "out"}))
    glasshouse publish 'my patients.csv' --quasi age,sex --k 5 --out out
    >>> print(command_line({"file": "patients.csv", "quasi": ["age, in years"], "k": 5}))
    glasshouse publish patients.csv --quasi '"age, in years"' --k 5
    >>> made = command_line({"file": "patients.toml", "quasi": ["age"], "k": 5})
    >>> print(made, "#", made.reason)
    glasshouse publish policy.toml # the name of the table's file ends like that of a policy (.toml, .yaml, .yml), so \
it would be read as a policy
    """

    arguments: tuple[str, ...]
    reason: str | None = None

    def __str__(self) -> str:
        return shlex.join(self.arguments)


def command_line(choices: Mapping[str, Any], *, policy: str = "policy.toml") -> CommandLine:
    """Give the command that publishes by these choices; what equals the default is left out.

    Parameters
    ----------
    choices
        What was chosen, by the names of the command line's options; see `Policy`.
    policy
        The file that the command names where options cannot say everything: one with the text of `policy_text`.
    """
    wanted = plain(choices)
    refuse_secrets(wanted)
    file = wanted.pop("file", None)
    if not file:
        raise InputError("no table was chosen: choose the file to publish")
    options: list[str] = []
    reason = None
    for name in _names():
        if name not in wanted:
            continue
        if name in meaning.DEFAULTS and _is_same(name, meaning.DEFAULTS[name], wanted[name], wanted):
            continue
        words = _words(name, wanted[name], wanted)
        if words is None:
            reason = (
                f"{meaning.option(name)}: this choice cannot be given on the command line, but it can be written in a "
                "policy file"
            )
            break
        options += words
    if file.endswith(SUFFIXES):
        reason = (
            f"the name of the table's file ends like that of a policy ({', '.join(SUFFIXES)}), so it would be read as "
            "a policy"
        )
    elif reason is None and not all(is_shown(one) for word in (file, *options) for one in word):
        reason = "a name has an invisible character, such as a line break, so the command could not be copied from here"
    if reason is not None:
        return CommandLine(("glasshouse", "publish", *_file_last([], policy)), reason)
    return CommandLine(("glasshouse", "publish", *_file_last(options, file)))


def refuse_secrets(choices: Mapping[str, Any]) -> None:
    """Refuse to show a choice that looks like a password, without showing it."""
    waiting: list[Any] = [choices]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and is_secret(value):
            raise InputError(
                "a choice looks like a password, which is never shown: leave it out, and set an environment variable, "
                "such as PGPASSWORD"
            )
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value


def _file_last(options: list[str], file: str) -> list[str]:
    return [*options, "--", file] if file.startswith("-") else [file, *options]


def _names() -> Iterator[str]:
    """The choices in the order in which the command has its options, the file's form last."""
    for table in _ORDER:
        yield from (key.choice for key in (TABLES[table] or COLUMN).values())
        if table in WITH_PARAMETERS:
            yield WITH_PARAMETERS[table]


def _words(name: str, value: Any, choices: Mapping[str, Any]) -> list[str] | None:
    """The words that express a choice; None if there are none."""
    if name in _FLAGS:
        return [_FLAGS[name][value]] if value in _FLAGS[name] else None
    text = text_of_choice(name, value)
    if name == "domain" and str(text).startswith("@"):  # would be the name of a file
        return None
    try:
        beside = (
            {"sensitive": text_of_choice("sensitive", choices.get("sensitive", ()))} if name == "designated" else {}
        )
        if not _is_same(name, value, plain(chosen({**beside, name: text})).get(name), choices):
            return None
    except GlasshouseError:
        return None
    option = meaning.option(name)
    texts = (text,) if isinstance(text, str) else text
    return [word for one in texts for word in ([f"{option}={one}"] if one.startswith("-") else [option, one])]


def _is_same(name: str, one: Any, other: Any, choices: Mapping[str, Any]) -> bool:
    """Whether two values of a choice mean the same, given the other choices."""
    if isinstance(one, dict) and isinstance(other, dict) and name in EACH:
        return one.keys() == other.keys() and all(_is_same(name, one[c], other[c], choices) for c in one)
    if name in _NUMBERS:
        try:
            return exact(one) == exact(other)
        except (TypeError, ValueError):
            return bool(one == other)
    if one == other:
        return True
    for table, parameters in WITH_PARAMETERS.items():
        if name == parameters:
            make = getattr(meaning, table)
            return repr(make({**choices, name: one})) == repr(make({**choices, name: other}))
    return False
