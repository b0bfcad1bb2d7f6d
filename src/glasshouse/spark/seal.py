# SPDX-License-Identifier: Apache-2.0
"""A seal: encryption of temporary files of Spark and of the shared folder, so that only the run itself can read them.

Pieces of the table, their groups and the rows on their way to their part of a table pass through files: of Spark, and
in the folder that driver and workers share. All of them are sealed under a key that is made for one run, travels with
the functions that the workers run, and is written nowhere. So a disk that is kept, or a folder that a killed run left
behind, tells nothing, however Spark is set up.

AES-SIV (RFC 5297) needs no random number: a task that is repeated writes the same bytes, and a label that is given
twice gives nothing away. What was changed, or has another label, is not opened.
"""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from glasshouse.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Seal", "put"]

_FIRST = b"\0"


class Seal:
    """A key that is made for one run; it can be pickled, for the tasks of that run, and shows nothing of itself.

    Examples
    --------
    >>> seal = Seal.new()
    >>> seal, bytes(seal.opened(seal.closed(b"people", "piece 3"), "piece 3"))
    (Seal(hidden), b'people')
    """

    __slots__ = ("_cipher", "_key")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESSIV(key)

    @classmethod
    def new(cls) -> Seal:
        """A new seal with a random key."""
        return cls(os.urandom(64))

    def closed(self, content: bytes, label: str) -> bytes:
        """The content, encrypted for holders of the seal who use the same label."""
        return self._cipher.encrypt(_FIRST + content, [label.encode()])  # it takes no empty text

    def opened(self, sealed: bytes, label: str) -> memoryview:
        """The decrypted content; `SourceError` if it was not sealed under the label, or was changed."""
        try:
            return memoryview(self._cipher.decrypt(sealed, [label.encode()]))[len(_FIRST) :]
        except InvalidTag:
            raise SourceError(
                "a file or a row of this run was changed while it was sent, or belongs to another run: publish again"
            ) from None

    def write(self, thing: Any, file: Path) -> None:
        """Write a picklable object; its path is its label. The file appears completely or not at all."""
        put(file, self.closed(pickle.dumps(thing, protocol=5), file.name))

    def read(self, file: Path) -> Any:
        """Read an object that `write` wrote: only content that the seal can open is unpickled."""
        return pickle.loads(self.opened(file.read_bytes(), file.name))

    def __repr__(self) -> str:
        return "Seal(hidden)"

    def __reduce__(self) -> tuple[Callable[[bytes], Seal], tuple[bytes]]:
        return Seal, (self._key,)


def put(file: Path, content: bytes) -> None:
    """Write a file under a name of its own and rename it when it is complete; two tasks may do so at once."""
    draft = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
    try:
        draft.write_bytes(content)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
