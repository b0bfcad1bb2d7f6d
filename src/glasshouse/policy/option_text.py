# SPDX-License-Identifier: Apache-2.0
"""Option text: how the text of the command line's options becomes choices, and choices become such text again."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.bounds import MOST_DIGITS
from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["chosen", "names", "pairs", "text_of_choice"]


def names(text: str | None) -> list[str]:
    """Split a list of names at its commas.

    >>> names("age, sex,zipcode")
    ['age', 'sex', 'zipcode']
    """
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Split ``COLUMN=VALUE`` texts.

    >>> pairs("--top", ("age=90",))
    {'age': '90'}
    """
    split = [text.partition("=") for text in texts]
    for text, (name, sign, value) in zip(texts, split, strict=True):
        if not (name and sign and value):
            raise InputError(f"{option} takes COLUMN=VALUE, got {text!r}")
    return {name.strip(): value for name, _, value in split}


def chosen(given: dict[str, Any]) -> dict[str, Any]:
    """Turn what the options say into choices; what was not given stays out.

    >>> chosen({"quasi": "age,sex", "order": ("sex=F,M",), "ell": "3", "k": None})
    {'quasi': ['age', 'sex'], 'order': {'sex': ['F', 'M']}, 'ell': '3'}
    """
    choices: dict[str, Any] = {}
    for name, value in given.items():
        if name in _READERS:
            value = _READERS[name](value)
        if value not in (None, [], {}, ()):
            choices[name] = value
    return choices


def _parameters(option: str, texts: tuple[str, ...]) -> dict[str, Any]:
    words: dict[str, Any] = {"true": True, "false": False}
    given = pairs(option, texts)
    if "name" in given:
        raise InputError(f"{option} gives a parameter, and 'name' is none: it says which one is meant")
    return {key: words.get(text, _number(text)) for key, text in given.items()}


def _number(text: str) -> int | str:
    """A whole number of a bearable length; else the text, of which the parameter's owner says what is wrong."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else text


def _values(text: str | None) -> list[str] | None:
    """Read a declared domain: a list, or a file with a value on each line."""
    if text is None or not text.startswith("@"):
        return names(text) or None
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"--domain: the file {text[1:]} cannot be read as text") from None
    return [line for line in lines if line]


_READERS: dict[str, Callable[[Any], Any]] = {
    "quasi": names,
    "sensitive": names,
    "categorical": names,
    "normalise": names,
    "accept": names,
    "designated": names,
    "domain": _values,
    "taxonomy": lambda texts: pairs("--taxonomy", texts),
    "order": lambda texts: {column: names(text) for column, text in pairs("--order", texts).items()},
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
    """What to give an option so that it makes a choice, as far as it can: `chosen` tells what it would make of it.

    >>> text_of_choice("order", {"sex": ["F", "M"]}), text_of_choice("t", 0.2)
    (('sex=F,M',), '0.2')
    """
    return _WRITERS.get(name, _word)(value)


def _listed(values: Sequence[Any]) -> str:
    return ",".join(map(_word, values))


def _by_column(write: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], tuple[str, ...]]:
    return lambda given: tuple(f"{column}={write(value)}" for column, value in given.items())


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
    **dict.fromkeys(("quasi", "sensitive", "categorical", "normalise", "accept", "designated", "domain"), _listed),
    **dict.fromkeys(("taxonomy", "bins", "bottom", "top"), _by_column(_word)),
    **dict.fromkeys(("parameters", "recoding_with"), _by_column(_parameter)),
    "order": _by_column(_listed),
    **dict.fromkeys(("marginal", "together"), lambda lists: tuple(map(_listed, lists))),
}
