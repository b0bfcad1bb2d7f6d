# SPDX-License-Identifier: Apache-2.0
"""The members of an untrusted zip archive: checked before anything is decompressed.

Nothing is written to a disk. A member is unpacked in memory, when it is asked for, and never beyond the size that the
archive states for it. The stated sizes together may be a hundred times the archive, and half a gigabyte in any case.
An archive is refused if its list of members is longer than that of any release, if a name occurs twice or leads out of
the archive, and if a member is a link, is encrypted, or is packed in another way than Glasshouse packs.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Final

from glasshouse.errors import SourceError
from glasshouse.plural import counted
from glasshouse.unpacking.budget import most_unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ZipMembers", "is_zip", "listed_in"]

_STARTS: Final = (b"PK\x03\x04", b"PK\x05\x06")  # with a member, and without any
_END: Final = struct.Struct("<4s4H2LH")  # the last record of an archive
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_MOST_MEMBERS: Final = 100_000
_MOST_LISTED: Final = 64 << 20  # bytes of the list of members
_KINDS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f\\:]+")


def is_zip(head: bytes) -> bool:
    """Whether a file is a zip archive, by its first bytes.

    >>> is_zip(b"PK" + bytes([3, 4]) + b"..."), is_zip(b"age,sex")
    (True, False)
    """
    return head.startswith(_STARTS)


def listed_in(file: IO[bytes]) -> list[str]:
    """The names that an archive lists, as they are; `SourceError` for a list that is damaged or overlong."""
    _check_end(file)
    try:
        return zipfile.ZipFile(file).namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
        raise SourceError("it is a damaged zip archive") from None


class ZipMembers:
    """The files in an archive, by name; if all are in one folder, its name is removed.

    Parameters
    ----------
    file
        The archive, opened for reading; the caller closes it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        _check_end(file)
        try:
            self._archive = zipfile.ZipFile(file)
            members = self._archive.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
            raise SourceError("it is a damaged zip archive") from None
        size = os.fstat(file.fileno()).st_size
        if sum(member.file_size for member in members) > most_unpacked(size):
            raise SourceError(
                f"its files would take more than {most_unpacked(size):,} bytes when unpacked, which is far more than "
                "the size of the archive, so it was not read. If you trust it, unpack it, and give the folder",
                advised=True,
            )
        files = [member for member in members if not _is_folder(member)]
        self._members = dict(zip(_without_folder([_checked(member) for member in files]), files, strict=True))
        if len(self._members) < len(files) or len({member.filename for member in members}) < len(members):
            raise SourceError("a name occurs twice in the archive, so it is not read")

    def names(self) -> set[str]:
        """The names of all files, including the paths of those in folders."""
        return set(self._members)

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a file, at most ``most``; `FileNotFoundError` if there is none, `SourceError` if not read."""
        member = self._members.get(name)
        if member is None:
            raise FileNotFoundError(name)
        if member.file_size > most:
            raise SourceError(f"{name} has {counted(member.file_size, 'byte')}, where at most {most:,} are expected")
        try:
            with self._archive.open(member) as file:
                content = file.read(member.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError):
            raise SourceError(f"{name} cannot be read: the archive is damaged") from None
        if len(content) != member.file_size:
            raise SourceError(f"{name} cannot be read: the archive is damaged")
        return content


def _check_end(file: IO[bytes]) -> None:
    """Refuse an overlong directory before it is read: the record at the end of the archive gives its length."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _END.size - _LOCATOR.size - _END64.size, 0))
    tail = file.read()
    end = tail[-_END.size :]
    if len(end) < _END.size or not end.startswith(b"PK\x05\x06") or end[-2:] != b"\0\0":
        raise SourceError("it is a zip archive that is cut short or has extra data after its end, so it is not read")
    _, _, _, _, n_members, n_bytes, _, _ = _END.unpack(end)
    before = tail[: -_END.size]
    if before[-_LOCATOR.size :].startswith(b"PK\x06\x07") and len(before) == _LOCATOR.size + _END64.size:
        found = _END64.unpack(before[: _END64.size])
        if found[0] != b"PK\x06\x06":
            raise SourceError("it is a damaged zip archive")
        n_members, n_bytes = max(found[6], found[7]), found[8]
    if n_members > _MOST_MEMBERS or n_bytes > _MOST_LISTED:
        raise SourceError(
            f"it lists more than {_MOST_MEMBERS:,} files, which is more than a release can have, so it is not read"
        )


def _is_folder(member: zipfile.ZipInfo) -> bool:
    """Whether an entry is a folder, which other tools list too."""
    if not member.filename.endswith("/"):
        return False
    if member.file_size or member.compress_size:
        raise SourceError("an entry for a folder in the archive has content, so the archive is not read")
    _checked(member, member.filename[:-1])
    return True


def _checked(member: zipfile.ZipInfo, name: str | None = None) -> str:
    """The name of a member, if the member is a plain file, or a plain folder, inside of the archive."""
    name = member.filename if name is None else name
    parts = name.split("/")
    if (
        not _NAME.fullmatch(name)
        or any(part in ("", ".", "..") for part in parts)
        or member.orig_filename != (member.filename)
    ):
        raise SourceError(
            f"the archive has a file {name[:100]!r}, whose name may lead outside its folder, so it is not read"
        )
    kind = stat.S_IFMT(member.external_attr >> 16)
    wanted = stat.S_IFDIR if member.filename.endswith("/") else stat.S_IFREG
    if kind not in (0, wanted):
        raise SourceError(f"{name} in the archive is a link or something else that is no ordinary file")
    if member.flag_bits & _ENCRYPTED:
        raise SourceError(
            f"{name} is encrypted: unpack the archive with its password, and give the folder", advised=True
        )
    if member.compress_type not in _KINDS:
        raise SourceError(
            f"{name} is compressed in a way that Glasshouse does not read: unpack the archive, and give the folder",
            advised=True,
        )
    return name


def _without_folder(names: Sequence[str]) -> list[str]:
    """The names without the folder in which all of them lie, if there is one."""
    folders = {name.partition("/")[0] for name in names}
    if len(folders) == 1 and all("/" in name for name in names):
        return [name.partition("/")[2] for name in names]
    return list(names)
