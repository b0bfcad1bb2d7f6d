# SPDX-License-Identifier: Apache-2.0
"""Files that hold another file: a zip archive, gzip, zstd, and what comes from standard input.

The file inside is unpacked into memory, where it has no name and is gone with the process. On systems that cannot keep
such a file it lies in a folder that only its owner can read, and is removed after it was read.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from glasshouse.errors import SourceError
from glasshouse.microdata.reading.delimited import open_bytes
from glasshouse.unpacking.budget import Room

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NAMELESS", "STANDARD_INPUT", "member_of", "standard_input", "unpacked"]

STANDARD_INPUT = "-"
NAMELESS = "/proc/self/fd"
"""Where files lie that have no name."""
_PIECE = 1 << 20
_SIDE_FILES = ("__MACOSX/", ".DS_Store")  # what programs put beside the file that was meant


def member_of(path: Path) -> zipfile.ZipInfo:
    """The one file of an archive; `SourceError` if it has none, or several."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if not one.is_dir() and not _is_beside(one.filename)]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise SourceError(
            f"{path} cannot be read: this zip archive is damaged or incomplete: copy it again", source=path
        ) from None
    if len(members) != 1:
        raise SourceError(
            f"{path} is a zip archive with {len(members):,} files: unpack it, and give the file with the table",
            source=path,
        )
    if members[0].flag_bits & 1:
        raise SourceError(f"{path} is a zip archive with a password: unpack it first", source=path)
    return members[0]


def _is_beside(name: str) -> bool:
    return name.startswith(_SIDE_FILES) or PurePosixPath(name).name.startswith(("._", ".DS_Store"))


@contextmanager
def unpacked(path: Path, compression: str) -> Iterator[Path]:
    """The file inside of another one, as a path that can be opened while the context lasts.

    ``compression`` is ``zip``, ``gzip`` or ``zstd``. Messages name the file that was given.
    """
    room = Room.of(path)
    if compression == "zip":
        member = member_of(path)
        room.check(member.file_size)
        name = PurePosixPath(member.filename)
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(member) as stream,
            _held(stream, room, name.suffix) as inner,
        ):
            yield from _named(inner, f"{path} ({name.name})", path)
    else:
        with open_bytes(path, compression) as stream, _held(stream, room, Path(path.stem).suffix) as inner:
            yield from _named(inner, str(path), path)


@contextmanager
def standard_input() -> Iterator[Path]:
    """What comes from standard input, as a path that can be opened while the context lasts."""
    if sys.stdin is None or sys.stdin.isatty():
        raise SourceError("nothing comes from standard input: pipe a table into the command, or give a path")
    with _held(sys.stdin.buffer, None, "") as inner:
        yield from _named(inner, "standard input", None)


def _named(inner: Path, shown: str, source: Path | None) -> Iterator[Path]:
    """Yield the path, and replace it in messages by the name that the user gave."""
    try:
        yield inner
    except SourceError as error:
        raise SourceError(str(error).replace(str(inner), shown), source=source) from None


@contextmanager
def _held(stream: Any, room: Room | None, suffix: str) -> Iterator[Path]:
    """Store the bytes of a stream in a file that nobody else can read."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("table")
        try:
            with open(number, "wb", closefd=False) as file:
                _copied(stream, file, room)
            yield Path(NAMELESS) / str(number)
        finally:
            os.close(number)
        return
    with tempfile.TemporaryDirectory(prefix="glasshouse-") as folder:
        place = Path(folder) / f"table{suffix}"
        with place.open("wb") as file:
            _copied(stream, file, room)
        yield place


def _copied(stream: Any, file: Any, room: Room | None) -> None:
    n_bytes = 0
    try:
        while piece := stream.read(_PIECE):
            n_bytes += len(piece)
            if room is not None:
                room.check(n_bytes)
            file.write(piece)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        what = "standard input" if room is None else str(room.path)
        raise SourceError(f"{what} cannot be read: it is damaged or incomplete. Copy it or write it again") from None
