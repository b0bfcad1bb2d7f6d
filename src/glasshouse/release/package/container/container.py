# SPDX-License-Identifier: Apache-2.0
"""Container: the folder or the zip archive of a release, opened once and read without trusting it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import TYPE_CHECKING, Final, Protocol

from glasshouse.errors import SourceError
from glasshouse.release.package.container.plain_file import MOST_MANIFEST, opened_folder, read_bounded
from glasshouse.unpacking.zip_members import ZipMembers, is_zip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["DAMAGED", "MANIFEST", "Container", "holds_release", "is_archive", "manifest_sum", "opened", "refused"]

MANIFEST: Final = "datapackage.json"
DAMAGED: Final = "Do not use this release: copy it again, or ask the publisher for a new copy"
"""What to do with a release that is damaged or was changed."""


class Container(Protocol):
    """The container of a release's files."""

    def names(self, folder: str | None = None) -> set[str]:
        """The names of the entries, or of those in a subfolder; `FileNotFoundError` if there is no such folder."""

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a file, at most ``most``; `FileNotFoundError` if there is none, `SourceError` if not read."""

    def is_still_at(self, path: Path) -> bool:
        """Whether a path still leads to it."""


class _Folder:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def names(self, folder: str | None = None) -> set[str]:
        if folder is None:
            return _listdir(self._descriptor)
        with opened_folder(folder, self._descriptor) as inner:
            return _listdir(inner)

    def read(self, name: str, most: int) -> bytes:
        return read_bounded(name, self._descriptor, most)

    def is_still_at(self, path: Path) -> bool:
        return _is_same(path, self._descriptor)


class _Archive:
    def __init__(self, descriptor: int, members: ZipMembers) -> None:
        self._descriptor, self._members = descriptor, members

    def names(self, folder: str | None = None) -> set[str]:
        names = self._members.names()
        if folder is None:
            return {name.partition("/")[0] for name in names}
        inner = {name.removeprefix(f"{folder}/") for name in names if name.startswith(f"{folder}/")}
        if not inner:
            raise FileNotFoundError(folder)
        return inner

    def read(self, name: str, most: int) -> bytes:
        return self._members.read(name, most)

    def is_still_at(self, path: Path) -> bool:
        return _is_same(path, self._descriptor)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Container]:
    """Open the folder or the zip archive of a release; `SourceError` for what is neither."""
    with contextlib.ExitStack() as held:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            held.callback(os.close, descriptor)
            kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
            if kind == stat.S_IFDIR:
                found: Container = _Folder(descriptor)
            elif kind == stat.S_IFREG and is_zip(os.pread(descriptor, 4, 0)):
                file = held.enter_context(os.fdopen(descriptor, "rb", closefd=False))
                found = _Archive(descriptor, ZipMembers(file))
            else:
                raise SourceError("it is neither a folder nor a zip archive", advised=True)
        except SourceError as error:
            raise refused(f"{path} is not a release", path, error) from None
        except (OSError, ValueError):
            raise SourceError(
                f"{path} is not a release: it cannot be read as a folder or a zip archive", source=path
            ) from None
        yield found


def refused(what: str, path: Path, error: SourceError) -> SourceError:
    """The error for a release that is not read, with what to do; most often it is damaged or was changed."""
    return SourceError(f"{what}: {error}" if error.advised else f"{what}: {error}. {DAMAGED}", source=path)


def is_archive(path: Path) -> bool:
    """Whether there is a zip archive with a manifest at a path, and not any other file."""
    try:
        if not path.is_file():
            return False
        with opened(path) as found:
            return MANIFEST in found.names()
    except (SourceError, OSError, ValueError):
        return _claims_manifest(path)


def _claims_manifest(path: Path) -> bool:
    """Whether a refused zip archive has a manifest, so that the error should speak of a release."""
    import zipfile

    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - (1 << 20), 0))
            if MANIFEST.encode() not in file.read():
                return False
        return zipfile.is_zipfile(path)
    except (OSError, ValueError):
        return False


def holds_release(path: Path) -> bool:
    """Whether a path is to be read as a release: a folder, or a zip archive with a manifest."""
    try:
        return path.is_dir() or is_archive(path)
    except (OSError, ValueError):
        return False


def manifest_sum(path: Path) -> str:
    """The SHA-256 of the manifest of a release, as manifests write it."""
    with opened(path) as found:
        try:
            content = found.read(MANIFEST, MOST_MANIFEST)
        except FileNotFoundError:
            raise SourceError(f"{path} is not a release: there is no {MANIFEST}", source=path) from None
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return True


def _listdir(folder: int) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        raise SourceError("the folder cannot be read: ask its owner for the right to read it", advised=True) from None
