# SPDX-License-Identifier: Apache-2.0
"""Folders: each is created completely or not at all, and an old one stays until it is replaced.

Everything is written on a `Stage`, brought to disk, and exchanged with what is there in one step: a plain rename cannot
replace a folder that holds something, so Linux's ``renameat2`` and macOS's ``renamex_np`` exchange two names. Whatever
ends the process, the place holds the old folder or the new one. What a killed run left is removed by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from glasshouse.errors import OutputError
from glasshouse.release.package.listing import stranger_in
from glasshouse.release.package.stage import Stage, flush, left_behind, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Move", "bring_back", "exchange", "new_folder", "placed", "refuse_existing", "seal", "staged", "tidy"]

_NEW: Final = "new"
_OLD: Final = "old"
_HERE = -100  # AT_FDCWD: paths are relative to the working folder
_SWAP = 2  # RENAME_EXCHANGE on Linux, and RENAME_SWAP on macOS
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_log = logging.getLogger(__name__)


@contextlib.contextmanager
def new_folder(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """Give a temporary folder to fill; it becomes ``path`` at the end, or vanishes if anything fails.

    By ``force`` it replaces what Glasshouse wrote before; if ``private``, its owner alone may read what will be there.
    """
    target = Path(path)
    tidy(target)
    refuse_existing(target, force=force)
    with staged(target) as stage:
        (stage / _NEW).mkdir(mode=0o700)
        yield stage / _NEW
        seal(stage / _NEW, private=private)
        move = Move(stage / _NEW, target, stage / _OLD)
        with placed(target):
            refuse_existing(target, force=force)  # somebody may have come while we wrote
            with move:
                flush(target.parent)


def refuse_existing(target: Path, *, force: bool) -> None:
    """Refuse an occupied place in advance: without ``force`` always, with it if the content is not ours."""
    if target.is_symlink():
        raise OutputError(f"{target} is a link: give the path of the folder itself", path=target)
    try:
        taken = target.exists()
    except OSError as error:
        raise OutputError(f"cannot write {target}: {os.strerror(error.errno or 0)}", path=target) from None
    if not taken:
        return
    if not force:
        raise OutputError(f"{target} exists already: choose another folder, or replace it with force=True", path=target)
    stranger = stranger_in(target) if target.is_dir() else "it is a file"
    if stranger is not None:
        raise OutputError(
            f"{target} is not replaced, because it is not as Glasshouse wrote it: {stranger}. Move it elsewhere, or "
            "choose another folder",
            path=target,
        )


# --------------------------------------------------------------------------------------------------------- its steps


@contextlib.contextmanager
def staged(place: Path, *, inside: bool = False, named: Path | None = None) -> Iterator[Path]:
    """Yield a stage for a place; all failures are raised as one kind of error, and the stage is removed.

    ``named`` is the place as the user named it, for messages, if that was otherwise.
    """
    made = [folder for folder in place.parents if not folder.exists()]
    stage: Stage | None = None
    try:
        with uninterrupted():
            place.parent.mkdir(parents=True, exist_ok=True)
            stage = Stage(place, inside=inside)
        for folder in made:
            flush(folder.parent)
        yield stage.folder
    except (OSError, pa.ArrowException) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "writing failed"
        told = named or place
        raise OutputError(f"cannot write {told}: {reason}; nothing was written", path=told) from error
    finally:
        with uninterrupted():
            if stage is not None:
                stage.discard()
            if not place.exists():
                for folder in made:
                    with contextlib.suppress(OSError):  # somebody else put something there
                        folder.rmdir()


@contextlib.contextmanager
def placed(place: Path) -> Iterator[None]:
    """Delay a stop signal while folders are exchanged; if one came, the exception says that new ones are in place."""
    done = False
    try:
        with uninterrupted():
            yield
            done = True
    except BaseException as stop:
        if done:
            stop.add_note(f"{place} was written completely before this happened")
        raise


def seal(folder: Path, *, private: bool) -> None:
    """Set the modes of files and folder, and flush them to disk; also subfolders of parts."""
    for file in folder.iterdir():
        if file.is_dir():
            seal(file, private=private)
            continue
        file.chmod(0o600 if private else 0o644)
        flush(file)
    folder.chmod(0o700 if private else 0o755)
    flush(folder)


class Move:
    """Exchange a folder with the one at its place; undone if a later step fails."""

    def __init__(self, folder: Path, target: Path, aside: Path) -> None:
        self._folder, self._target, self._aside = folder, target, aside
        self._replaced = False

    def __enter__(self) -> None:
        self._replaced = self._target.exists()
        _put(self._folder, self._target, self._aside)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            return
        if self._replaced:
            _put(self._folder, self._target, self._aside)
        else:
            self._target.rename(self._folder)


def _put(folder: Path, target: Path, aside: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    if exchange(folder, target):
        return
    _log.warning(
        "this file system cannot exchange two folders in one step: for a moment neither of them exists, so do not "
        "read them until this is done"
    )
    target.rename(aside)
    try:
        folder.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    aside.rename(folder)


# --------------------------------------------------------------------------------------------- what killed runs left


def bring_back(target: Path, aside: Path) -> None:
    """Bring back a folder that a killed run had put aside, where folders cannot be exchanged."""
    if aside.is_dir() and not aside.is_symlink() and not os.path.lexists(target):
        aside.rename(target)
        flush(target.parent)


def tidy(target: Path, *, remove: bool = True) -> None:
    """Restore what killed runs had moved aside, and remove their remains."""
    for left in left_behind(target):
        with contextlib.suppress(OSError):
            bring_back(target, left / _OLD)
        if remove:
            shutil.rmtree(left, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Let two folders of one file system change places at once; False if system or file system cannot.

    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("old", "new"):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "what").write_text(name)
    >>> exchange(folder / "old", folder / "new") and (folder / "old" / "what").read_text()
    'new'
    """
    import ctypes  # here, for it is needed only where something is replaced

    system = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            failed = system.renamex_np(first, second, ctypes.c_uint(_SWAP))
        else:
            failed = system.renameat2(_HERE, first, _HERE, second, ctypes.c_uint(_SWAP))
    except AttributeError:  # an older system, which has no such call
        return False
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))
