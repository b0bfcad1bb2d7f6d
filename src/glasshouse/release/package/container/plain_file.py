# SPDX-License-Identifier: Apache-2.0
"""Files of an untrusted package: read up to a limit, and never through a link."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from glasshouse.errors import SourceError
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["MOST_MANIFEST", "opened_folder", "read_bounded", "read_list"]

MOST_MANIFEST: Final = 16 << 20
"""How many bytes a list of what is in a folder may have."""


def read_bounded(name: str, folder: int, most: int) -> bytes:
    """Read a plain file of an opened folder, never through a link and never more than ``most`` bytes.

    `FileNotFoundError` if there is none, `SourceError` for any other reason not to read it.
    """
    inner, _, own = name.rpartition("/")
    try:
        if not inner:
            descriptor = os.open(own, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        else:
            with opened_folder(inner, folder) as parent:
                descriptor = os.open(own, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = (
            "a link, which Glasshouse does not follow: put the file itself in its place"
            if error.errno == errno.ELOOP
            else "a file that you are not allowed to read: ask its owner for the right to read it"
        )
        raise SourceError(f"{name} cannot be read: it is {reason}", advised=True) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise SourceError(f"{name} cannot be read: it is a folder or a device, not a file")
        if found.st_size > most:
            raise SourceError(f"{name} has {counted(found.st_size, 'byte')}, where at most {most:,} are expected")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(found.st_size + 1)  # never what the manifest says: reading makes room beforehand
    except OSError:
        raise SourceError(f"{name} cannot be read: the disk is damaged") from None
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def opened_folder(name: str, folder: int) -> Iterator[int]:
    """Open a folder inside of an opened one, never through a link; `FileNotFoundError` if there is none."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError:
        raise SourceError(
            f"{name} cannot be read: it is not a folder, or it is a link, which Glasshouse does not follow: put the "
            "folder itself in its place",
            advised=True,
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_list(folder: Path, name: str) -> bytes:
    """Read a folder's list of contents, such as its manifest; limited and refused as by `read_bounded`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return read_bounded(name, descriptor, MOST_MANIFEST)
    finally:
        os.close(descriptor)
