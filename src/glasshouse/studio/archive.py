# SPDX-License-Identifier: Apache-2.0
"""An archive of a release: one zip file with what may go out, and never anything of the audit.

It holds the files that the release's own list names, and the list. The same release gives the same bytes, for the times
and owners of files are left out. It is written while it is sent, so that no copy of it lies anywhere.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from glasshouse.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["archive_of"]

_MOMENT = (1980, 1, 1, 0, 0, 0)  # the first that the format knows
_PIECE = 1 << 20


def archive_of(release: Path) -> Iterator[bytes]:
    """Give the zip file of a release folder, piece by piece."""
    from glasshouse.release.package.manifest import MANIFEST, files_of_release

    names = sorted({MANIFEST, *(name for name, _ in files_of_release(release))})
    files = [(name, release / name) for name in names]
    if len(files) < 2 or any(file.is_symlink() or not file.is_file() for _, file in files):
        raise SourceError(f"the release is not in {release} any more, or not whole", source=release)
    return _pieces(files)


def _pieces(files: list[tuple[str, Path]]) -> Iterator[bytes]:
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for name, path in files:
            entry = zipfile.ZipInfo(f"release/{name}", _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.file_size = path.stat().st_size
            with path.open("rb") as file, archive.open(entry, "w") as place:
                while piece := file.read(_PIECE):
                    place.write(piece)
                    yield pipe.taken()
            yield pipe.taken()
    yield pipe.taken()


class _Pipe:
    """Takes what is written, until it is taken away."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, piece: bytes) -> int:
        """Hold some bytes."""
        self._held += piece
        return len(piece)

    def flush(self) -> None:
        """Nothing waits."""

    def taken(self) -> bytes:
        """Give what was written since the last time."""
        piece = bytes(self._held)
        self._held.clear()
        return piece
