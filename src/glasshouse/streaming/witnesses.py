# SPDX-License-Identifier: Apache-2.0
"""Witnesses: the few texts of a column that suffice to decide whether the whole column is numeric.

A column of a delimited file is what all of its texts are together. Those of identifiers are too many to be kept. But
how a column is taken depends on the smallest and the largest number, and otherwise on whether there is a text of some
sort: with a sign or a zero in front, with a decimal point, too long for a float. One of each sort serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.spelling import holds_texts
from glasshouse.streaming.register import is_registrable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.streaming.batches import Stream

__all__ = ["Witnesses"]

# the sorts that `glasshouse.microdata.reading.delimited` asks for; a text may be of several
_SORTS = (r"^\s*\+", r"^\s*0[0-9xX]", r"^\s*-0[0-9xX]", r"\.", r"[xX]", r"[^0-9.+\-\s]", r"[0-9]{16}")
_HEXADECIMAL = r"[xX]"  # which is a number among integers, and none among floats
_MOST_DIGITS = 308  # of an integer that a float can stand for


class Witnesses:
    """What is known about the type of a column that is read in batches."""

    def __init__(self, stream: Stream, name: str) -> None:
        self._stream = stream
        self._name = name
        self._kind: pa.DataType | None = None
        self._is_text = False  # whatever else comes
        self._is_unfit = False
        self._kept: dict[int, str] = {}
        self._ends: list[str] = []

    def see(self, values: pa.Array) -> None:
        """Add a batch."""
        values = values.drop_null()
        if self._is_text or self._is_unfit or not len(values):
            return
        if self._stream.decimal is None:
            kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
            self._is_unfit = not is_registrable(kind) or self._kind not in (None, kind)
            self._kind = kind
            return
        typed, is_kept = self._stream.typed(self._name, values)
        if holds_texts(typed.type) and not is_kept:  # a single text that is no number decides
            self._is_text = True
        elif not (holds_texts(typed.type) or pa.types.is_integer(typed.type) or pa.types.is_floating(typed.type)):
            self._is_unfit = True
        else:
            self._testify(values)

    def _testify(self, texts: pa.Array) -> None:
        texts = texts.unique()
        sorts = np.zeros(len(texts), np.int64)
        for place, pattern in enumerate(_SORTS):
            sorts |= np.asarray(pc.match_substring_regex(texts, pattern)).astype(np.int64) << place
        long = np.flatnonzero(sorts >> (len(_SORTS) - 1))
        sorts[long] |= _range_of(texts.take(pa.array(long))) << len(_SORTS)
        for sort, first in zip(*np.unique(sorts, return_index=True), strict=True):
            self._kept.setdefault(int(sort), texts[int(first)].as_py())
        self._ends = _extremes(pa.concat_arrays([texts, pa.array(self._ends, texts.type)]), self._stream.decimal or ".")

    def settled(self) -> tuple[pa.DataType, bool] | None:
        """The type of the column, and whether texts stay that though they look like numbers.

        None if it is of a type that needs all of its values.
        """
        if self._is_unfit:
            return None
        if self._stream.decimal is None:
            return None if self._kind is None else (self._kind, False)
        if self._is_text:
            return pa.string(), False
        if not self._kept:
            return None
        typed, is_kept = self._stream.typed(
            self._name, pa.array(sorted({*self._kept.values(), *self._ends}), pa.string())
        )
        return (typed.type, is_kept) if is_registrable(typed.type) else None


def _extremes(texts: pa.Array, decimal: str) -> list[str]:
    """The smallest and the largest number; nothing if there are none."""
    texts = texts.filter(pc.invert(pc.match_substring_regex(texts, _HEXADECIMAL)))
    if not len(texts):
        return []
    plain = pc.replace_substring(pc.ascii_trim_whitespace(texts), decimal, ".")
    numbers = np.asarray(plain.cast(pa.float64()))
    numbers = np.where(np.isnan(numbers), 0.0, numbers)
    return [texts[int(end)].as_py() for end in (np.argmin(numbers), np.argmax(numbers))]


def _range_of(texts: pa.Array) -> NDArray[np.int64]:
    """The class of long texts: 0 for integers that a float tells exactly, 1 for others, 2 for those above 64 bits."""
    try:
        numbers: NDArray[np.int64] = pc.ascii_trim_whitespace(texts).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return np.array([_range_of_one(text) for text in texts.to_pylist()], np.int64)
    with np.errstate(invalid="ignore"):  # the largest of all are no longer in range as floats
        inexact: NDArray[np.bool_] = numbers.astype(np.float64).astype(np.int64) != numbers
    return inexact.astype(np.int64)


def _range_of_one(text: str) -> int:
    text = text.strip()
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS:
        return 3
    number = int(text)
    return 2 * (not -(2**63) <= number < 2**63) + (int(float(number)) != number)
