# SPDX-License-Identifier: Apache-2.0
"""One zip archive of a release: a file with what may go out, and never anything of the audit.

It holds the files that the release's own list names, the list, and the signature if there is one; nothing else that
lies in the folder. The names lie at the top of the archive, as in a Data Package. The same release gives the same
bytes, for the times and owners of files are left out. An archive appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from glasshouse.errors import OutputError, SourceError
from glasshouse.release.package.container.container import MANIFEST, is_archive, opened
from glasshouse.release.package.container.plain_file import MOST_MANIFEST
from glasshouse.release.package.folders import placed, staged, tidy
from glasshouse.release.package.listing import stranger_in
from glasshouse.release.package.manifest import SIGNATURE, files_of_release, parse_manifest
from glasshouse.release.package.stage import flush
from glasshouse.unpacking.budget import most_unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Files = Sequence[tuple[str, Callable[[], IO[bytes]]]]

__all__ = ["ARCHIVE", "archive_of", "check_archive", "new_archive", "renew_archive", "signed_archive", "write_archive"]

ARCHIVE: Final = "release.zip"
"""The archive beside the folders ``release`` and ``audit``."""

_MOMENT = (1980, 1, 1, 0, 0, 0)  # the first that the format knows
_PIECE = 1 << 20
_NEW = "new"


def archive_of(release: Path) -> Iterator[bytes]:
    """Give the archive of a release folder piece by piece, so that no copy of it lies anywhere."""
    return _pieces(_files(release), zipfile.ZIP_DEFLATED)


def write_archive(release: Path, target: Path, *, force: bool = False) -> None:
    """Write the archive of a release folder; by ``force`` in place of an archive of Glasshouse."""
    with _placed(target, force=force) as stage:
        _write(_files(release), stage / ARCHIVE)


@contextlib.contextmanager
def new_archive(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary folder to fill; at the end its archive is at ``path``, or nothing if anything fails."""
    with _placed(Path(path), force=force) as stage:
        (stage / _NEW).mkdir(mode=0o700)
        yield stage / _NEW
        _write(_files(stage / _NEW), stage / ARCHIVE)


def signed_archive(path: Path, signature: bytes) -> None:
    """Put a signature into an archive, in place of an earlier one; nothing else in it changes."""
    content = _contents(path) | {SIGNATURE: lambda: io.BytesIO(signature)}
    with _placed(path, force=True) as stage:
        _write(sorted(content.items()), stage / ARCHIVE)


def check_archive(out: Path, *, wanted: bool, force: bool) -> None:
    """Look before the work whether ``out/release.zip`` can be written; refuse to leave one of an earlier release."""
    target = out / ARCHIVE
    if wanted:
        _refuse_existing(target, force=force)
    elif force and target.is_file() and is_archive(target):
        raise OutputError(
            f"{target} contains the old release, which is about to be replaced: write it again too, with zip=True, or "
            "delete it first",
            path=target,
        )


def renew_archive(out: Path) -> None:
    """Rewrite ``out/release.zip`` after ``out/release`` changed, if Glasshouse wrote one."""
    target = out / ARCHIVE
    if target.is_file() and is_archive(target):
        write_archive(out / "release", target, force=True)


# ------------------------------------------------------------------------------------------------------- its steps


@contextlib.contextmanager
def _placed(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a stage on which the archive is written; it takes its place at the end."""
    tidy(target)
    _refuse_existing(target, force=force)
    with staged(target) as stage:
        yield stage
        ready = stage / ARCHIVE
        ready.chmod(0o644)
        flush(ready)
        with placed(target):
            _refuse_existing(target, force=force)
            ready.replace(target)
            flush(target.parent)


def _refuse_existing(target: Path, *, force: bool) -> None:
    if target.is_symlink():
        raise OutputError(f"{target} is a link: give the path of the file itself", path=target)
    if not os.path.lexists(target):
        return
    if not force:
        raise OutputError(f"{target} exists already: choose another name, or replace it with force=True", path=target)
    stranger = stranger_in(target) if target.is_file() else "it is not a file"
    if stranger is not None:
        raise OutputError(
            f"{target} is not replaced, because it is not as Glasshouse wrote it: {stranger}. Move it elsewhere, or "
            "choose another name",
            path=target,
        )


def _files(release: Path) -> Files:
    """The files of a release folder, by their names."""
    names = sorted({MANIFEST, *(name for name, _ in files_of_release(release))})
    files = [(name, release / name) for name in names]
    if len(files) < 2 or any(file.is_symlink() or not file.is_file() for _, file in files):
        raise SourceError(f"the release is not in {release} any more, or some of its files are missing", source=release)
    signature = release / SIGNATURE
    if signature.is_file() and not signature.is_symlink():
        files.append((SIGNATURE, signature))
    return [(name, lambda file=file: file.open("rb")) for name, file in sorted(files)]  # type: ignore[misc]


def _contents(path: Path) -> dict[str, Callable[[], IO[bytes]]]:
    """The files of an archive, each of which is unpacked when it is asked for."""

    def content(name: str, size: int) -> IO[bytes]:
        with opened(path) as found:
            return io.BytesIO(found.read(name, size))

    sizes = _sizes(path)
    return {name: (lambda name=name, size=size: content(name, size)) for name, size in sizes.items()}  # type: ignore[misc]


def _sizes(path: Path) -> Mapping[str, int]:
    """The files that a release's archive lists, with the allowed size of each in bytes."""
    with opened(path) as found:
        manifest = parse_manifest(found.read(MANIFEST, MOST_MANIFEST))
    return {MANIFEST: MOST_MANIFEST, **{file.name: file.size for file in manifest.files}}


def _write(files: Files, place: Path) -> None:
    """Write an archive; if the compression is so high that it would look hostile, do not compress it."""
    for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        total = 0
        with place.open("wb") as file:
            for piece in _pieces(files, kind):
                file.write(piece)
        with zipfile.ZipFile(place) as archive:
            total = sum(member.file_size for member in archive.infolist())
        if total <= most_unpacked(place.stat().st_size):
            return


def _pieces(files: Files, kind: int) -> Iterator[bytes]:
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", kind) as archive:  # type: ignore[call-overload]
        for name, opening in files:
            with opening() as file:
                entry = zipfile.ZipInfo(name, _MOMENT)
                entry.compress_type = kind
                entry.external_attr = 0o100644 << 16
                entry.file_size = file.seek(0, os.SEEK_END)
                file.seek(0)
                with archive.open(entry, "w") as place:
                    while piece := file.read(_PIECE):
                        place.write(piece)
                        yield pipe.taken()
            yield pipe.taken()
    yield pipe.taken()


class _Pipe:
    """A buffer for writing, which is emptied by `taken`."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, piece: bytes) -> int:
        """Buffer some bytes."""
        self._held += piece
        return len(piece)

    def flush(self) -> None:
        """Do nothing: nothing is pending."""

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        piece = bytes(self._held)
        self._held.clear()
        return piece
