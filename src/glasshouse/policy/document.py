# SPDX-License-Identifier: Apache-2.0
"""Documents: the plain data of a TOML file, and the line and column at which each key stands.

Files are small and shallow, or refused.
"""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from glasshouse.bounds import MOST_DIGITS, is_bounded
from glasshouse.errors import PolicyError
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["SUFFIXES", "Document", "parsed", "read_document"]

SUFFIXES = (".toml", ".yaml", ".yml")
"""How files are called that are taken for policies; those in YAML are told to be written in TOML."""
_MOST_BYTES = 1 << 20
_MOST_SHOWN = 120  # characters of a key
_TWICE = re.compile("Cannot (declare .* twice|overwrite a value)", re.DOTALL)  # as the parser says it
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Place = tuple[int, int]
Keys = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Document:
    """The content of a file, and where each key is."""

    path: Path  # the file
    data: Mapping[str, Any]  # its tables and values
    places: Mapping[Keys, Place]  # line and column of each key, from 1, by the keys that lead to it

    def place(self, keys: Keys) -> Place:
        """The position of a key, or of the nearest enclosing one."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        return self.places.get(keys, (1, 1))

    def refuse(self, keys: Keys, problem: str, *, suggestion: str | None = None) -> NoReturn:
        """Raise a `PolicyError` that points at a key."""
        line, column = self.place(keys)
        raise PolicyError(
            problem, path=self.path, line=line, column=column, key=".".join(keys) or None, suggestion=suggestion
        )


def read_document(path: str | Path) -> Document:
    """Read a TOML file."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise PolicyError("the name of a policy must end in .toml", path=path)
    if path.suffix != ".toml":
        raise PolicyError(
            f"a policy must be written in TOML: call it {path.with_suffix('.toml').name}. Write the heading of each "
            "section, such as [roles], on its own line, and below it one line for each setting, such as "
            'sensitive = "disease"',
            path=path,
        )
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError:
        raise PolicyError("there is no such file, or it cannot be read", path=path) from None
    if len(content) > _MOST_BYTES:
        raise PolicyError(
            "this file is larger than 1 MiB, so it is not read as a policy: name a policy file", path=path
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PolicyError("this is not UTF-8: save the policy in that encoding", path=path, line=line) from None
    try:
        return parsed(path, text)
    except RecursionError:
        raise PolicyError(
            ("sections inside sections are nested too deeply: check that this file is a policy"), path=path
        ) from None


def parsed(path: Path, text: str) -> Document:
    """Parse the text of a TOML file, which is or will be at a path."""
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, where = str(error).rpartition(" (at ")
        found = re.fullmatch(r"line (\d+), column (\d+)\)", where)
        line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, 1)
        if _TWICE.match(problem):
            problem, (line, column) = _set_twice(text, (line, column))
        raise PolicyError(_short(problem or str(error)), path=path, line=line, column=column) from None
    except ValueError:  # a number of thousands of digits
        raise PolicyError(
            ("this file does not follow the rules of TOML, the format of a policy: correct the file"), path=path
        ) from None
    if not is_bounded(data, finite=False):
        raise PolicyError(
            (f"sections or lists are nested too deeply, or a number has more than {MOST_DIGITS} digits: correct them"),
            path=path,
        )
    document = Document(path=path, data=data, places=dict(_places(text)))
    for keys, number in _not_finite(data):
        named = visible(".".join(keys))[:_MOST_SHOWN]
        document.refuse(keys, f"{named} is not a finite number ({number}): give a number, or leave it out")
    return document


def _not_finite(data: Mapping[str, Any]) -> Iterator[tuple[Keys, float]]:
    """The numbers without an end, or that are none, and the keys that lead to them."""
    waiting: list[tuple[Keys, Any]] = [((), data)]
    while waiting:
        keys, value = waiting.pop()
        if isinstance(value, float) and not math.isfinite(value):
            yield keys, value
        if isinstance(value, dict):
            waiting += [((*keys, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(keys, inner) for inner in value]


def _set_twice(text: str, place: Place) -> tuple[str, Place]:
    """What to say of the last key or section up to a place, which was there before; and where it begins."""
    lines = text.split("\n")
    parsed = "\n".join((*lines[: place[0] - 1], lines[place[0] - 1][: place[1] - 1]))
    *before, (keys, begins) = _places(parsed)
    name = visible(".".join(keys))[:_MOST_SHOWN]
    is_there = keys in dict(before)
    if is_there and lines[begins[0] - 1][begins[1] - 1 :].startswith("["):
        return f"the section [{name}] is there twice: put all of its settings below one heading", begins
    inside = "" if is_there else ", or a key in it is"
    return f"{name} is set twice{inside}: keep one of them", begins


def _short(problem: str) -> str:
    """A parser's message in our style; a key that it may quote is truncated."""
    plain = visible(problem[:120])
    return plain[:1].lower() + plain[1:]


def _places(text: str) -> Iterator[tuple[Keys, Place]]:
    """Find the positions of the keys in a valid TOML text."""
    at = 0
    table: Keys = ()
    ends = [found.start() for found in re.finditer("\n", text)]
    while (at := _skip_blank(text, at)) < len(text):
        line = bisect_left(ends, at)
        place = (line + 1, at - (ends[line - 1] if line else -1))
        if text[at] == "[":
            opening = 2 if text.startswith("[[", at) else 1
            table, at = _dotted(text, at + opening)
            at = _end_of_line(text, at + opening)
            yield table, place
        else:
            keys, at = _dotted(text, at)
            for length in range(1, len(keys) + 1):
                yield (*table, *keys[:length]), place
            at = _end_of_value(text, text.index("=", at) + 1)


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n#":
        at = _end_of_line(text, at) if text[at] == "#" else at + 1
    return at


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _dotted(text: str, at: int) -> tuple[Keys, int]:
    """Read a key such as ``columns."first name".top``; give its parts, and where it ends."""
    parts: list[str] = []
    while True:
        while text[at] in " \t":
            at += 1
        if text[at] in "\"'":
            end = _end_of_string(text, at)
            parts.append(tomllib.loads(f"key = {text[at:end]}")["key"])
        else:
            found = _BARE.match(text, at)
            assert found is not None, "the parser let it pass"
            end = found.end()
            parts.append(found[0])
        at = end
        while at < len(text) and text[at] in " \t":
            at += 1
        if at >= len(text) or text[at] != ".":
            return tuple(parts), at
        at += 1


def _end_of_string(text: str, at: int) -> int:
    """Where a string ends that begins here: of one quote or three, with escapes or without."""
    quote = text[at]
    marks = quote * 3 if text.startswith(quote * 3, at) else quote
    at += len(marks)
    while not text.startswith(marks, at):
        at += 2 if quote == '"' and text[at] == "\\" else 1
    at += len(marks)
    if len(marks) == 3:  # up to two quotes may stand before the closing three
        while at < len(text) and text[at] == quote:
            at += 1
    return at


def _end_of_value(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "\"'":
            at = _end_of_string(text, at)
            continue
        if sign == "#":
            at = _end_of_line(text, at)
            continue
        if sign == "\n" and not depth:
            return at
        depth += (sign in "[{") - (sign in "]}")
        at += 1
    return at
