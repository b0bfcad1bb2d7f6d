# SPDX-License-Identifier: Apache-2.0
"""Option text: converting the text of command-line options to choices, and choices back to such text.

Messages of the library name the arguments of Python, such as ``missing='drop'``. `with_options` rewrites them for the
command line, where the same is ``--missing drop``, and `with_keys` for a policy.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.bounds import MOST_DIGITS
from glasshouse.errors import InputError
from glasshouse.policy.keys import COLUMN, EACH, WITH_PARAMETERS, keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

__all__ = ["chosen", "names", "pairs", "text_of_choice", "with_keys", "with_options"]

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_NAMES = re.compile(rf"\s*{_QUOTED.pattern}\s*(?=,|$)|[^,]+")
_NAMED = re.compile(rf"\s*({_QUOTED.pattern})\s*(=)(.*)", re.DOTALL)
_LIST = re.compile(rf"\s*{_QUOTED.pattern}\s*(?=,|$)|(?:[\[({{][^][(){{}}]*[])}}]|[^,])+")


def names(text: str | None) -> list[str]:
    """Split a list of names at its commas, but for those in double quotes, which are taken off.

    >>> names("age, sex,zipcode"), names('"Dept, unit", "Born "')
    (['age', 'sex', 'zipcode'], ['Dept, unit', 'Born '])
    """
    return [_unquoted(name.strip()) for name in _NAMES.findall(text or "") if name.strip()]


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if _QUOTED.fullmatch(text) else text


def _partition(text: str) -> tuple[str, str, str]:
    """Split ``COLUMN=VALUE`` at the first equals sign behind the column, which may be in double quotes.

    >>> _partition(" age=90"), _partition('"a=b "=90')
    (('age', '=', '90'), ('a=b ', '=', '90'))
    """
    quoted = _NAMED.fullmatch(text)
    name, sign, value = text.partition("=") if quoted is None else quoted.group(1, 2, 3)
    return _unquoted(name.strip()), sign, value


def _values(text: str | None) -> list[str]:
    """Split a list of values at its commas, but for those in a range or in double quotes, which are taken off.

    >>> _values('HIV, [0, 1000),(0, 5], "a, b",[c')
    ['HIV', '[0, 1000)', '(0, 5]', 'a, b', '[c']
    """
    found = [value.strip() for value in _LIST.findall(text or "")]
    return [_unquoted(value) for value in found if value]


def pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Split ``COLUMN=VALUE`` texts.

    >>> pairs("--top", ("age=90",))
    {'age': '90'}
    """
    split = [_partition(text) for text in texts]
    for text, (name, sign, value) in zip(texts, split, strict=True):
        if not (name and sign and value):
            raise InputError(f"{option} takes COLUMN=VALUE, got {text!r}")
    return {name: value for name, _, value in split}


def chosen(given: dict[str, Any]) -> dict[str, Any]:
    """Convert options to choices; options that were not given are left out.

    >>> chosen({"quasi": "age,sex", "order": ("sex=F,M",), "ell": "3", "k": None})
    {'quasi': ['age', 'sex'], 'order': {'sex': ['F', 'M']}, 'ell': '3'}
    >>> chosen({"designated": ("HIV,flu",)}), chosen({"designated": ("ill=HIV,flu", "drug=X")})
    ({'designated': ['HIV', 'flu']}, {'designated': {'ill': ['HIV', 'flu'], 'drug': ['X']}})
    >>> chosen({"ell": ("3",)}), chosen({"ell": ("ill=3", "drug=2")})
    ({'ell': '3'}, {'ell': {'ill': '3', 'drug': '2'}})
    """
    choices: dict[str, Any] = {}
    for name, value in given.items():
        if name == "designated":
            value = _designated(value, names(given.get("sensitive")))
        elif name in EACH:
            value = _for_all_or_each(f"--{name.replace('_', '-')}", value)
        elif name in _READERS:
            value = _READERS[name](value)
        if value not in (None, [], {}, ()):
            choices[name] = value
    return choices


def _parameters(option: str, texts: tuple[str, ...]) -> dict[str, Any]:
    words: dict[str, Any] = {"true": True, "false": False}
    given = pairs(option, texts)
    if "name" in given:
        raise InputError(
            f"{option} cannot set 'name', which is not a parameter: give the name with --method or --recoding"
        )
    return {key: words.get(text, _number(text)) for key, text in given.items()}


def _number(text: str) -> int | str:
    """A whole number of moderate length; otherwise the text, whose error the owner of the parameter reports."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else text


def _designated(given: str | Sequence[str] | None, sensitive: Sequence[str]) -> list[str] | dict[str, list[str]]:
    """Read designated values: a list for all columns, or one for each that is named.

    Where the only sensitive column has another name than what stands before an equals sign, that is part of a value.
    """
    texts = [given] if isinstance(given, str) else list(given or ())
    split = [_partition(text) for text in texts]
    named = [bool(sign) and (len(sensitive) != 1 or name in sensitive) for name, sign, _ in split]
    if not any(named):
        return [value for text in texts for value in _values(text)]
    if not all(named):
        one, other = texts[named.index(True)], texts[named.index(False)]
        column = sensitive[0] if sensitive else "COLUMN"
        raise InputError(
            f"--designated: {one} names a column and {other} does not, so that it is not clear whose value it is: "
            f"write COLUMN=VALUES each time, such as {column}={other}"
        )
    found: dict[str, list[str]] = {}
    for text, (name, _, values) in zip(texts, split, strict=True):
        if not (name and _values(values)):
            raise InputError(f"--designated takes COLUMN=VALUES, got {text!r}")
        found.setdefault(name, []).extend(_values(values))
    return found


def _for_all_or_each(option: str, given: str | Sequence[str] | None) -> str | dict[str, str] | None:
    """Read what is asked of all sensitive columns, or of each that is named."""
    texts = (given,) if isinstance(given, str) else tuple(given or ())
    named = [text for text in texts if "=" in text]
    if not named and len(texts) > 1:
        raise InputError(f"{option} is given twice, with {texts[0]} and {texts[1]}: give it once, or name the columns")
    if not named:
        return texts[0] if texts else None
    if len(named) < len(texts):
        other = next(text for text in texts if "=" not in text)
        raise InputError(
            f"{option}: {named[0]} is for one column, and {other} does not say for which: write COLUMN={other} with "
            f"the name of the column, or give only {option} {other}, which is then for all sensitive columns"
        )
    found = pairs(option, texts)
    if len(found) < len(texts):
        raise InputError(f"{option} names a column twice: give each column once")
    for text in found.values():
        if "=" in text:
            raise InputError(f"{option}: {text!r} names another column: repeat the option for each column")
    return found


def _domain(text: str | None) -> list[str] | None:
    """Read a declared domain: a list, or a file with a value on each line."""
    if text is None or not text.startswith("@"):
        return _values(text) or None
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError(
            f"--domain: there is no file {text[1:]}: check its name. Its path is relative to the folder in which you "
            "run the command"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"--domain: the file {text[1:]} cannot be read as text: save it as text in UTF-8, with one value on "
            "each line"
        ) from None
    return [line for line in lines if line]


_READERS: dict[str, Callable[[Any], Any]] = {
    "quasi": names,
    "sensitive": names,
    "categorical": names,
    "normalise": names,
    "accept": names,
    "domain": _domain,
    "taxonomy": lambda texts: pairs("--taxonomy", texts),
    "order": lambda texts: {column: _values(text) for column, text in pairs("--order", texts).items()},
    "bins": lambda texts: pairs("--bin", texts),
    "bottom": lambda texts: pairs("--bottom", texts),
    "top": lambda texts: pairs("--top", texts),
    "parameters": lambda texts: _parameters("--with", texts),
    "recoding_with": lambda texts: _parameters("--recoding-with", texts),
    "marginal": lambda texts: [names(text) for text in texts],
    "together": lambda texts: [names(text) for text in texts],
}


# --- and back ---------------------------------------------------------------------------------------------------------


def text_of_choice(name: str, value: Any) -> str | tuple[str, ...]:
    """The text for an option that makes a choice, as far as possible: `chosen` shows what the option makes of it.

    >>> text_of_choice("order", {"sex": ["F", "M"]}), text_of_choice("t", 0.2)
    (('sex=F,M',), '0.2')
    """
    return _WRITERS.get(name, _word)(value)


def _listed(values: Sequence[Any]) -> str:
    return ",".join(map(_word, values))


def _listed_values(values: Sequence[Any]) -> str:
    """A list of values, in quotes where a value would be cut or lose its own."""
    words = [_word(value) for value in values]
    return ",".join(word if _values(word) == [word] else _in_quotes(word) for word in words)


def _listed_names(values: Sequence[Any]) -> str:
    """A list of names, in quotes where a name would be cut or lose its blanks."""
    words = [_word(value) for value in values]
    return ",".join(word if names(word) == [word] else _in_quotes(word) for word in words)


def _in_quotes(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _of_all_or_each(values: Sequence[Any] | Mapping[str, Sequence[Any]]) -> str | tuple[str, ...]:
    """A list for all columns, or one for each."""
    return _by_column(_listed_values)(values) if isinstance(values, Mapping) else _listed_values(values)


def _word_for_all_or_each(value: Any) -> str | tuple[str, ...]:
    """A word for all columns, or one for each."""
    return _by_column(_word)(value) if isinstance(value, Mapping) else _word(value)


def _by_column(write: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], tuple[str, ...]]:
    return lambda given: tuple(_with_column(column, write(value)) for column, value in given.items())


def _with_column(column: str, text: str) -> str:
    """``COLUMN=VALUE``, with the column in quotes where it would be cut or lose its blanks."""
    plain = f"{column}={text}"
    return plain if _partition(plain)[0] == column else f"{_in_quotes(column)}={text}"


def _parameter(value: Any) -> str:
    """The text of a parameter: a list by commas, numbers by attribute with colons."""
    if isinstance(value, dict):
        return ",".join(f"{key}:{_word(inner)}" for key, inner in value.items())
    return _listed(value) if isinstance(value, list | tuple) else _word(value)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else repr(value) if isinstance(value, float) else str(value)


_WRITERS: dict[str, Callable[[Any], str | tuple[str, ...]]] = {
    **dict.fromkeys(("quasi", "sensitive", "categorical", "normalise", "accept"), _listed_names),
    "domain": _listed_values,
    **dict.fromkeys(("taxonomy", "bins", "bottom", "top"), _by_column(_word)),
    **dict.fromkeys(("parameters", "recoding_with"), _by_column(_parameter)),
    "order": _by_column(_listed_values),
    **dict.fromkeys(EACH, _word_for_all_or_each),
    "designated": _of_all_or_each,
    **dict.fromkeys(("marginal", "together"), lambda lists: tuple(map(_listed_names, lists))),
}


# --- messages ---------------------------------------------------------------------------------------------------------

_CALL = r"\w\([^()]*\)"  # an example of Python, which is left as it is
_VALUE = r"""'[^']*'|"[^"]*"|\[[^\]]*\]|\{[^{}]*\}|True|False|\.\.\.|(?=[\s),.;:]|$)"""
_ARGUMENT = re.compile(rf"{_CALL}|(?<![\w'\"-])(?P<name>[a-z]\w*)=(?P<value>{_VALUE})")
_TAXONOMY = re.compile(r"\bTaxonomy\.(?P<kind>[a-z]+)\b(?:\(\w+=(?P<size>[^(),]*)\))?")
_TWICE = re.compile(r"(?P<option>--[a-z][a-z -]*[a-z]), (?P=option)(?=\))")  # spelled as an option beside the argument
_CHOICES = {"taxonomies": "taxonomy", "ordered": "order", "p": "retention"}
_OPTIONS = {**_CHOICES, "bins": "bin", "parameters": "with"}
_FLAGS = {"weighted=False": "--unweighted", "partition=False": "--no-partition"}
_PLACEHOLDERS = {"taxonomy": "FILE", "order": "A,B,C", "bin": "TAXONOMY"}


def with_options(message: str, options: Mapping[str, Container[str] | None]) -> str:
    """Replace Python arguments by command-line options in a message of the library.

    ``options`` are those of the command, each with the words that it takes, or None if it takes any text. What has no
    option there stays as it is.

    >>> offered = {"--missing": ("error", "drop"), "--order": None, "--accept": None, "--weight": None}
    >>> with_options("use missing='drop', or accept=['line-breaks', 'long-values']", offered)
    'use --missing drop, or --accept line-breaks,long-values'
    >>> with_options("give its order (ordered={'shirt size': [...]}), or name the weight (weight=)", offered)
    "give its order (--order 'shirt size=A,B,C'), or name the weight (--weight)"
    >>> with_options("allow a larger error (error=, --error)", {"--error": None})
    'allow a larger error (--error)'
    >>> with_options("Taxonomy.prefix(length=3) is too short; Taxonomy.dates needs dates", {})
    'prefix:3 is too short; dates needs dates'
    >>> with_options("recoding={'name': 'angel', 'cells': 'boxes'}", {"--recoding": None, "--recoding-with": None})
    '--recoding angel --recoding-with cells=boxes'
    """

    def option(argument: str, value: Any) -> str | None:
        if argument in WITH_PARAMETERS and isinstance(value, dict):
            own = {name: inner for name, inner in value.items() if name != "name"}
            both = [option(argument, value.get("name")), option(WITH_PARAMETERS[argument], own)]
            return None if None in both else " ".join(map(str, both))
        name = _OPTIONS.get(argument, argument)
        flag = _FLAGS.get(f"{argument}={value}", f"--{name.replace('_', '-')}")
        texts = _texts(name, value)
        taken = options.get(flag)
        if flag not in options or (taken is not None and not all(text in taken for text in texts)):
            return None
        return " ".join(f"{flag} {shlex.quote(text)}" for text in texts) or flag

    return _TWICE.sub(r"\g<option>", _respelled(_TAXONOMY.sub(_in_short, message), option))


def _in_short(found: re.Match[str]) -> str:
    """A taxonomy of Python, as an option names it: ``prefix:3`` for ``Taxonomy.prefix(length=3)``."""
    return found["kind"] if found["size"] is None else f"{found['kind']}:{found['size']}"


def with_keys(message: str) -> str:
    """Replace Python arguments by keys of a policy in a message of the library.

    >>> with_keys("use missing='drop', or name the weight (weight=), or merge them with normalise=['town']")
    'use missing = "drop", or name the weight (weight in [roles]), or merge them with normalise in [columns.town]'
    >>> with_keys("use recoding='taxonomies'")
    'use name = "taxonomies" in [recoding]'
    """
    of_columns = {key.choice: name for name, key in COLUMN.items()}

    def key(argument: str, value: Any) -> str | None:
        choice = _CHOICES.get(argument, argument)
        columns = list(value) if isinstance(value, list | dict) else ["NAME"]
        if choice in of_columns:
            return ", ".join(f"{of_columns[choice]} in [columns.{column}]" for column in columns)
        table, *name = keys_of(choice)
        if not name:
            return None
        if choice in WITH_PARAMETERS and value is not ...:
            given = value if isinstance(value, dict) else {"name": value}
            return f"{', '.join(f'{one} = {json.dumps(inner)}' for one, inner in given.items())} in [{table}]"
        return f"{name[0]} in [{table}]" if value is ... else f"{name[0]} = {json.dumps(value)}"

    return _respelled(message, key)


def _respelled(message: str, spell: Callable[[str, Any], str | None]) -> str:
    """A message with every Python argument spelled differently; an argument that is left open has the value `...`."""

    def spelled(found: re.Match[str]) -> str:
        if found["name"] is None:
            return found[0]
        try:
            value = ast.literal_eval(found["value"] or "...")
        except (SyntaxError, ValueError):
            return found[0]
        return spell(found["name"], value) or found[0]

    return _ARGUMENT.sub(spelled, message)


def _texts(name: str, value: Any) -> list[str]:
    """What to give an option for the value of an argument; nothing for a flag, or for a value that is left open."""
    if value is ... or isinstance(value, bool):
        return []
    if isinstance(value, dict):
        return [_with_column(column, _example(name, inner)) for column, inner in value.items()]
    return [_listed_names(value) if isinstance(value, list) else str(value)]


def _example(name: str, value: Any) -> str:
    """The value of a column, or a word for one that the message leaves open."""
    if value in (..., [...]):
        return _PLACEHOLDERS.get(name, "VALUE")
    return _parameter(value)
