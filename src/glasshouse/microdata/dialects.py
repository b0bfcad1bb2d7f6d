# SPDX-License-Identifier: Apache-2.0
"""How a delimited text is written: what separates its fields, which encoding its letters have.

Found from the text itself where nobody says it. The delimiter is the one on which the rows agree. The encoding is
what a byte-order mark says, else UTF-8, which no other encoding passes for by accident; where the bytes are not
UTF-8, charset-normalizer guesses, and the guess must be reported.
"""

from __future__ import annotations

import codecs
import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["DELIMITERS", "detect_delimiter", "detect_encoding", "marked_encoding"]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""What may be detected, and what it is called in sentences."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that tables are found in. Left to all it knows, the detector takes a few umlauts for DOS or Macintosh text.
_LEGACY_ENCODINGS = (
    *(f"cp125{digit}" for digit in range(9)),
    *("iso8859_2", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
_USUAL_ENCODING = "cp1252"
_ROWS_LOOKED_AT = 1000
_SAMPLE_BYTES = 1 << 16


def detect_delimiter(text: str) -> str | None:
    r"""Find what separates the fields: most rows agree with the first on the number of fields, which is not one.

    >>> detect_delimiter('name;place\n"Doe; Ann";Bonn\n'), detect_delimiter("alone")
    (';', None)
    """
    scores = {}
    for delimiter in DELIMITERS:
        widths = _widths(text, delimiter)
        if widths and widths[0] > 1:
            scores[delimiter] = (widths.count(widths[0]) / len(widths), widths[0])
    return max(scores, key=lambda delimiter: scores[delimiter]) if scores else None


def _widths(text: str, delimiter: str) -> list[int]:
    """How many fields the first rows have; none if they cannot be told apart by this delimiter."""
    widths: list[int] = []
    try:
        for row in csv.reader(iter(text.splitlines(keepends=True)), delimiter=delimiter):
            if row:
                widths.append(len(row))
            if len(widths) >= _ROWS_LOOKED_AT:
                break
    except csv.Error:
        return []
    return widths


def marked_encoding(head: bytes) -> str | None:
    """Read the byte-order mark of UTF-16 or UTF-32, if there is one; that of UTF-8 says nothing new.

    >>> marked_encoding("age".encode("utf-16")), marked_encoding(b"age")
    ('utf-16', None)
    """
    return next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)


def detect_encoding(blocks: Iterable[bytes]) -> str | None:
    r"""Guess the encoding of a text that is not UTF-8, from those of its lines that have more than ASCII in them.

    >>> detect_encoding(["Müller,Köln\n".encode("latin-1")])
    'cp1252'
    """
    from charset_normalizer import from_bytes

    sample = b""
    for block in blocks:
        if not block.isascii():
            telling = (line for line in block.splitlines(keepends=True) if not line.isascii())
            sample += b"".join(telling)[:_SAMPLE_BYTES]
        if len(sample) >= _SAMPLE_BYTES:
            break
    matches = from_bytes(sample, cp_isolation=list(_LEGACY_ENCODINGS))
    best = matches.best()
    if best is None:
        return None
    for match in matches:  # ties go to what is most common
        as_good = match.chaos <= best.chaos and match.coherence >= best.coherence
        if as_good and _USUAL_ENCODING in match.could_be_from_charset:
            return _USUAL_ENCODING
    return best.encoding
