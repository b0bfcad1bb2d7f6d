"""Damage: bytes, texts and plain data, changed at random places in ways that have broken readers before."""

from __future__ import annotations

import copy
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["ODD_VALUES", "changed_bytes", "changed_data", "changed_text", "places_of"]

_EDGES = [0, 1, 2, 7, 127, 128, 255, 256, 32767, 32768, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63]
_MOST_BYTES = 1 << 20
_SIGNS = "\0\t\n\r\"'\\\x85\ufeff\u2028\U0001f600"

ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 1.5, -0.0, 1e308, 2**31, 2**53 + 1, 2**63, 2**64, 10**30, -(10**30), "", " ",
    "x", "1", "0", "-1", "1/3", "1/0", "nan", "1e999", "../x", "/etc/passwd", "..", ".", "\0", "\ud800", "\u202e",
    "a" * 5000, [], [None], [[]], [1, 2], ["a", "a"], {}, {"name": "x"}, {"": ""}, [{}], [["a"]] * 50, "[1, 2]",
    "{a, b}", "missing", "*", "[2, 1]", "data.parquet", "datapackage.json", "9" * 400,
]  # fmt: skip


def changed_bytes(content: bytes, chance: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """The bytes after one to four accidents; ``others`` lend pieces."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 4])):
        chance.choice(_ACCIDENTS)(found, chance, others)
    return bytes(found[:_MOST_BYTES])


def _place(found: bytearray, chance: random.Random) -> int:
    """Anywhere, but often near an end: that is where formats keep their lengths."""
    if len(found) > 200 and chance.random() < 0.4:
        return chance.choice([chance.randrange(100), len(found) - 1 - chance.randrange(100)])
    return chance.randrange(len(found) + 1)


def _flip(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    if found:
        found[min(_place(found, chance), len(found) - 1)] ^= 1 << chance.randrange(8)


def _put(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    if found:
        value = chance.choice([0, 1, 9, 10, 13, 34, 39, 44, 59, 91, 92, 123, 127, 128, 255, chance.randrange(256)])
        found[min(_place(found, chance), len(found) - 1)] = value


def _insert(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    at = _place(found, chance)
    found[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 9)))


def _delete(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    at = _place(found, chance)
    del found[at : at + chance.choice([1, 1, 2, 4, 8, 64, 4096])]


def _cut_short(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    del found[_place(found, chance) :]


def _number(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    size, sign = chance.choice([(1, "B"), (2, "H"), (4, "I"), (8, "Q")])
    at = _place(found, chance)
    value = struct.pack(chance.choice("<>") + sign, chance.choice(_EDGES) % 256**size)
    found[at : at + size] = value


def _repeat(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    at = _place(found, chance)
    piece = found[at : at + chance.choice([1, 3, 16, 300])]
    found[at:at] = piece * chance.choice([1, 2, 17, 1000])


def _move(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    at, to, length = _place(found, chance), _place(found, chance), chance.choice([1, 4, 8, 40])
    found[to : to + length] = found[at : at + length]


def _borrow(found: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    if others:
        other = chance.choice(others)
        start = chance.randrange(len(other) + 1)
        at = _place(found, chance)
        found[at : at + chance.choice([0, 8, 200])] = other[start : start + chance.choice([4, 50, 1000])]


_ACCIDENTS: list[Callable[[bytearray, random.Random, Sequence[bytes]], None]] = [
    _flip, _flip, _put, _put, _insert, _delete, _cut_short, _number, _number, _repeat, _move, _borrow,
]  # fmt: skip


def changed_text(text: str, chance: random.Random, words: Sequence[str]) -> str:
    """The text after one to five accidents, most of which put a word of its language where none belongs."""
    for _ in range(chance.choice([1, 1, 1, 2, 3, 5])):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(6):
            case 0:
                text = text[:at] + text[at + chance.choice([1, 2, 5, 20]) :]
            case 1:
                text = text[:at] + text[at : at + 10] * chance.choice([2, 3, 40]) + text[at:]
            case 2:
                pieces = text.split(" ")
                pieces[chance.randrange(len(pieces))] = chance.choice(words)
                text = " ".join(pieces)
            case 3:
                text = (
                    text[:at]
                    + chr(chance.choice([0, 9, 10, 13, 34, 39, 92, 0x85, 0xFEFF, 0x2028, 0x1F600]))
                    + text[at:]
                )
            case _:
                text = (
                    text[:at] + chance.choice(["", " "]) + chance.choice(words) + chance.choice(["", " "]) + text[at:]
                )
    return text[:20_000]


def places_of(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of plain data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else []
    return [path, *(place for key, value in inner for place in places_of(value, (*path, key)))]


def changed_data(data: Any, chance: random.Random, odd: Sequence[Any] = ODD_VALUES) -> Any:
    """Plain data after one to three accidents: a part is lost, doubled, renamed, moved or something else."""
    data = copy.deepcopy(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        places = [place for place in places_of(data) if place]
        if not places:
            return chance.choice(odd)
        path = chance.choice(places)
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        key = path[-1]
        match chance.randrange(7):
            case 0:
                del inner[key]
            case 1:
                *way, last = chance.choice(places)
                other = data
                for step in way:
                    other = other[step]
                inner[key] = copy.deepcopy(other[last])
            case 2 if isinstance(inner, list):
                inner.insert(chance.randrange(len(inner) + 1), copy.deepcopy(inner[key]))
            case 2:
                inner[chance.choice(["", "x", "name", "data", "path", key.upper()])] = inner.pop(key)
            case 3 if isinstance(inner[key], str):
                inner[key] = changed_text(inner[key], chance, ["..", "/", "\0", "sha256:", "[1, 2]", '"', "{", "]"])
            case 3 if isinstance(inner[key], int) and not isinstance(inner[key], bool):
                inner[key] += chance.choice([-1, 1, 7, 2**31, -(2**40), 2**62])
            case _:
                inner[key] = copy.deepcopy(chance.choice(odd))
    return data
