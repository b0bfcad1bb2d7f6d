# SPDX-License-Identifier: Apache-2.0
"""Register: checks the identifiers of a file for duplicates, without keeping them.

Of each identifier a number of 64 bits is kept: the identifier itself, if it is an integer, else a hash of the text as
its look-alikes share it. Equal identifiers have equal numbers, and so have look-alikes. Those few that share their
number with another are read a second time and compared as they are, so that no chance decides anything.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.cautions import with_breaks
from glasshouse.microdata.intake import refuse_identifiers
from glasshouse.microdata.spelling import keys_of
from glasshouse.streaming.vocabulary import Vocabulary
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Findings

__all__ = ["Register", "is_registrable"]

_LONG = 1 << 10  # bytes of a text that is hashed by itself
_VISIBLE = (0x21, 0x7E)  # the bytes of ASCII that can be seen
_HALF = np.uint64(32)


def is_registrable(kind: pa.DataType) -> bool:
    """Whether identifiers of this type can be registered: integers and texts, which nearly all are."""
    return is_text(kind) or bool(pa.types.is_integer(kind) and kind != pa.uint64())


class Register:
    """Identifiers that can be read several times, in batches; it replaces `Identifiers`.

    >>> register = Register("person", lambda: iter([pa.array(["Ann", "Bob"]), pa.array(["Ann"])]), 3)
    >>> register.check()
    Traceback (most recent call last):
    glasshouse.errors.InputError: 1 row has an identifier 'person' that an earlier row has. The guarantee ...
    """

    def __init__(self, name: str, open: Callable[[], Iterator[pa.Array]], n_rows: int) -> None:
        self.name = name
        self._open = open
        self._n_rows = n_rows
        self._key = [np.uint64(secrets.randbits(64) | 1) for _ in range(4)]
        self._broken = Vocabulary(name)
        self._suspects = Vocabulary(name)

    def check(self) -> None:
        """Refuse identifiers that are missing, or that two rows have."""
        numbers = np.empty(self._n_rows, np.uint64)
        at = n_missing = 0
        are_texts = False
        for batch in self._open():
            n_missing += batch.null_count
            if n_missing:
                continue  # there may be more to count
            are_texts = not pa.types.is_integer(batch.type)
            if are_texts:
                self._see_breaks(batch)
            numbers[at : at + len(batch)] = self._numbers(batch)
            at += len(batch)
        refuse_identifiers(self.name, n_missing=n_missing, n_repeated=0)
        numbers.sort()
        repeats = numbers[1:] == numbers[:-1]
        n_repeated = int(repeats.sum())
        if n_repeated and are_texts:
            n_repeated = self._second_look(np.unique(numbers[1:][repeats]))
        refuse_identifiers(self.name, n_missing=0, n_repeated=n_repeated)

    def _second_look(self, shared: NDArray[np.uint64]) -> int:
        """Collect the texts whose hashes collide; returns the number of rows with a repeated text."""
        for batch in self._open():
            numbers = self._numbers(batch)
            places = np.minimum(np.searchsorted(shared, numbers), len(shared) - 1)
            self._suspects.see(batch.filter(pa.array(shared[places] == numbers)))
        self._suspects.settle()
        return int(self._suspects.counts.sum()) - len(self._suspects.values)

    def look(self, findings: Findings) -> None:
        """Look at how identifiers are written: at all with line breaks, and at all that have look-alikes."""
        self._broken.settle()
        kept = [vocabulary.values for vocabulary in (self._broken, self._suspects) if len(vocabulary.values)]
        if kept:
            values = pa.concat_arrays(kept).unique()
            findings.look(self.name, "identifier", values, np.ones(len(values), np.int64))

    def _see_breaks(self, texts: pa.Array) -> None:
        entries = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
        if not _is_visible(entries) and len(found := with_breaks(texts.cast(entries.type))):
            self._broken.see(found)

    def _numbers(self, values: pa.Array) -> NDArray[np.uint64]:
        if pa.types.is_integer(values.type):
            numbers: NDArray[np.int64] = values.to_numpy(zero_copy_only=False).astype(np.int64)
            return numbers.view(np.uint64)
        if not pa.types.is_dictionary(values.type):
            return self._hashed(values)
        entries = values.dictionary
        if entries.null_count:
            return self._hashed(values.cast(entries.type))
        hashed: NDArray[np.uint64] = self._hashed(entries)[values.indices.to_numpy(zero_copy_only=False)]
        return hashed

    def _hashed(self, texts: pa.Array) -> NDArray[np.uint64]:
        """A number for each text, equal for look-alikes: multiplications by secret numbers, eight bytes at a time."""
        keys = pc.ascii_lower(texts) if _is_visible(texts) else keys_of(texts)
        data, starts, lengths = _bytes_of(keys)
        window = np.ndarray((max(len(data) - 7, 0),), "<u8", data, strides=(1,))  # eight bytes from each byte on
        hashed = lengths.astype(np.uint64)
        hashed *= self._key[0]
        rows: Any = slice(None) if not len(lengths) or int(lengths.max()) <= _LONG else np.flatnonzero(lengths <= _LONG)
        for at in range(0, _LONG, 8):
            left = lengths[rows] - at  # bytes that are not yet hashed
            if not len(left) or int(left.max()) <= 0:
                break
            if int(left.min()) <= 0:
                more = np.flatnonzero(left > 0)
                left = left[more]
                rows = more if isinstance(rows, slice) else rows[more]
            words = window[starts[rows] + at]
            if int(left.min()) < 8:
                words &= _MASKS[np.minimum(left, 8)]
            words ^= hashed[rows]
            words *= self._key[1]
            words ^= words >> _HALF
            words *= self._key[2]
            words ^= words >> _HALF
            hashed[rows] = words
        for row in np.flatnonzero(lengths > _LONG).tolist():
            text = data[starts[row] : starts[row] + lengths[row]].tobytes()
            digest = hashlib.blake2b(text, digest_size=8, key=self._key[3].tobytes()).digest()
            hashed[row] = int.from_bytes(digest, "little")
        return hashed


_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


def _bytes_of(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The bytes of texts, with eight extra bytes, and the start and length of each text."""
    kind: Any = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    if data is None or not len(ends):
        return np.zeros(8, np.uint8), np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    used = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
    return np.concatenate([used, np.zeros(8, np.uint8)]), ends[:-1] - ends[0], np.diff(ends)


def _is_visible(texts: pa.Array) -> bool:
    """Whether all characters are visible ASCII characters, without blanks."""
    kind: Any = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return True
    ends = np.frombuffer(offsets, kind)
    used = np.frombuffer(data, np.uint8)[ends[texts.offset] : ends[texts.offset + len(texts)]]
    return not len(used) or (int(used.min()) >= _VISIBLE[0] and int(used.max()) <= _VISIBLE[1])
