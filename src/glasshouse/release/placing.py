# SPDX-License-Identifier: Apache-2.0
"""Placing: a folder appears whole or not at all, and the one that it replaces stays until then.

Everything is written to a temporary sibling that its owner alone can enter, flushed to disk, and exchanged with what is
there in one step. Whatever ends the process, the place holds the old folder or the new one. What a killed run left is
removed by the next one: a run holds a lock on its temporary folder, and a lock does not outlive its process.

Of several folders the last one is what the others are about, and is placed last. A run that is killed between two of
them leaves the new ones before the old last one: a new audit beside the old release, never a new release without its
audit. Whatever fails without killing the process is taken back, all of it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from glasshouse.errors import OutputError
from glasshouse.release.exchange import exchange
from glasshouse.release.manifest import files_of_release
from glasshouse.release.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AUDIT_FILES", "new_folder", "new_folders", "private_file", "refuse_existing"]

AUDIT_FILES = {"report.json", "report.html", "partition.parquet", "published.json"}
_PARTIAL, _ASIDE = ".partial", ".old"
_log = logging.getLogger(__name__)


@contextlib.contextmanager
def new_folder(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """Give a temporary sibling folder to fill; it becomes ``path`` at the end, or vanishes if anything fails."""
    with new_folders((path, private), force=force) as (folder,):
        yield folder


@contextlib.contextmanager
def new_folders(*places: tuple[str | Path, bool], force: bool = False) -> Iterator[tuple[Path, ...]]:
    """Give temporary folders to fill; they take their places at the end, in this order, or vanish if anything fails.

    Each place is a path, and whether its owner alone may read what will be there.

    Parameters
    ----------
    force
        Replace what Glasshouse wrote before.
    """
    targets = [Path(path) for path, _ in places]
    for target in targets:
        _tidy(target)
        refuse_existing(target, force=force)
    staged: list[_Staged] = []
    try:
        for target, (_, private) in zip(targets, places, strict=True):
            with uninterrupted():
                staged.append(_Staged(target, private=private, force=force))
        yield tuple(one.folder for one in staged)
        for one in staged:
            one.seal()
        with uninterrupted():
            _place(staged)
    except (OSError, pa.ArrowException) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "writing failed"
        raise OutputError(f"cannot write {targets[-1]}: {reason}; nothing was written", path=targets[-1]) from error
    finally:
        with uninterrupted():
            for one in reversed(staged):
                one.discard()


def refuse_existing(target: Path, *, force: bool) -> None:
    """Refuse a place that is taken, before any work is done: any without ``force``, a foreign one always."""
    if target.is_symlink():
        raise OutputError(f"{target} is a link: name the folder itself", path=target)
    try:
        taken = target.exists()
    except OSError as error:
        raise OutputError(f"cannot write {target}: {os.strerror(error.errno or 0)}", path=target) from None
    if taken and not force:
        raise OutputError(f"{target} exists already: choose another folder, or pass force to replace it", path=target)
    if taken and not _may_replace(target):
        raise OutputError(f"{target} exists and is not a folder that Glasshouse wrote: it is not replaced", path=target)


def private_file(path: Path) -> Path:
    """Make an empty file that its owner alone can read, before anything is written to it."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def _may_replace(target: Path) -> bool:
    """Only what we wrote, and nothing that somebody put beside it, may be replaced."""
    if not target.is_dir():
        return False
    try:
        if not all(path.is_file() for path in target.iterdir()):  # we write no folder, whatever it is called
            return False
        files = {path.name for path in target.iterdir()}
    except OSError:
        return False
    attacks = {name for name in files if re.fullmatch(r"attack-[a-z-]+\.(csv|json|svg)", name)}
    return files - attacks <= AUDIT_FILES or files == files_of_release(target)


class _Staged:
    """A folder on its way to its place."""

    def __init__(self, target: Path, *, private: bool, force: bool) -> None:
        self.target = target
        self.private = private
        self.force = force
        self._made = [folder for folder in target.parents if not folder.exists()]
        self._placed = False
        self._replaced = False
        self._lock: int | None = None
        target.parent.mkdir(parents=True, exist_ok=True)
        for folder in self._made:
            _flush(folder.parent)
        try:
            self.folder, self._lock = _locked_sibling(target)
        except OSError:
            self._forget_parents()
            raise

    def seal(self) -> None:
        """Give files and folder their modes, and bring them to disk."""
        for file in self.folder.iterdir():
            file.chmod(0o600 if self.private else 0o644)
            _flush(file)
        self.folder.chmod(0o700 if self.private else 0o755)
        _flush(self.folder)

    def place(self) -> None:
        """Take the place, in exchange for what is there; once more refused if that is somebody else's."""
        refuse_existing(self.target, force=self.force)
        self._replaced = self.target.exists()
        _put(self.folder, self.target)
        self._placed = True
        _flush(self.target.parent)

    def take_back(self) -> None:
        """Undo `place`, for what comes after it failed."""
        if not self._placed:
            return
        if self._replaced:
            _put(self.folder, self.target)
        else:
            self.target.rename(self.folder)
        self._placed = False

    def discard(self) -> None:
        """Remove what is temporary now: the old folder, or the new one if it was not placed."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if not self.target.exists():
            self._forget_parents()

    def _forget_parents(self) -> None:
        for folder in self._made:
            with contextlib.suppress(OSError):  # somebody else put something there
                folder.rmdir()


def _place(staged: list[_Staged]) -> None:
    try:
        for one in staged:
            one.place()
    except BaseException:
        for one in reversed(staged):
            one.take_back()
        raise


def _put(folder: Path, target: Path) -> None:
    """Move a folder to its place; what is there goes to where the folder was."""
    if not target.exists():
        folder.rename(target)
        return
    if exchange(folder, target):
        return
    _log.warning("this file system cannot exchange two folders in one step: for an instant there is neither")
    aside = folder.with_name(folder.name.removesuffix(_PARTIAL) + _ASIDE)
    descriptor = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _try_lock(descriptor)  # a run beside us must not take it for what a killed one put aside
        target.rename(aside)
        try:
            folder.rename(target)
        except BaseException:
            aside.rename(target)
            raise
        aside.rename(folder)
    finally:
        os.close(descriptor)


def _locked_sibling(target: Path) -> tuple[Path, int]:
    """A new folder beside the target, which nobody else can enter, with a lock that says that we live."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PARTIAL, dir=target.parent))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        locked = _try_lock(descriptor)
        with contextlib.suppress(FileNotFoundError):
            if locked is not False and folder.lstat().st_ino == os.fstat(descriptor).st_ino:
                return folder, descriptor
        os.close(descriptor)  # somebody tidied up between the two steps above: once more


def _try_lock(descriptor: int) -> bool | None:
    """Lock a folder: whether that was possible; None where the file system knows no locks."""
    import fcntl  # here, for not every system has it

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _tidy(target: Path) -> None:
    """Remove what killed runs left beside the target, and bring back what one of them had put aside."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}({_PARTIAL}|{_ASIDE})")
    try:
        left = [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]
    except OSError:
        return
    for path in sorted(left, key=lambda path: path.suffix):  # what was put aside comes first
        with contextlib.suppress(OSError):
            _tidy_one(path, target)


def _tidy_one(path: Path, target: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if _try_lock(descriptor) is not True:
            return  # its process lives
        if path.suffix == _ASIDE and not target.exists():
            path.rename(target)
            _flush(target.parent)
        else:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
