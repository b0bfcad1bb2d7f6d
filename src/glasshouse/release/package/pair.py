# SPDX-License-Identifier: Apache-2.0
"""The pair: a release, which may be published, and its confidential audit, in one folder ``out``.

The two are about each other, so they appear together. Where ``out`` holds nothing else, a whole new ``out`` is made
ready beside it and exchanged with it in one step: whatever ends the process, it holds the old pair or the new one.

Where ``out`` holds other things, or is a folder that cannot be exchanged (a mount point, the working folder), the audit
changes places first and the release second. The audit names the checksum of its release. So if they do not
belong together, a run was killed between the two steps: the release is found on the stage of that run, and the second
step is taken. `mend` does this; every run and every reader calls it before it looks.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from glasshouse.errors import DisclosureWarning, OutputError, SourceError
from glasshouse.release.package.folders import Move, bring_back, placed, refuse_existing, seal, staged, tidy
from glasshouse.release.package.listing import checksum, release_named_by, stranger_in, write_contents
from glasshouse.release.package.manifest import MANIFEST, files_of_release
from glasshouse.release.package.stage import alone_in, flush, left_behind, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AUDIT", "RELEASE", "Pair", "belongs", "check_pair", "mend", "warn_if_apart"]

AUDIT: Final = "audit"
RELEASE: Final = "release"
_PAIR: Final = "pair"
_OLD: Final = "old"


class Pair:
    """The place of a new pair: ``out`` gets ``release`` and ``audit``; by ``force`` in place of a pair of Glasshouse.

    It is looked at before the work, and must be the same after it.
    """

    def __init__(self, out: str | Path, *, force: bool = False) -> None:
        self.out = Path(out)
        self.audit, self.release = self.out / AUDIT, self.out / RELEASE
        self._force = force
        self._real = self.out.resolve()  # of a link, the folder to which it leads
        mend(self.out)
        self._refuse()
        self._before = _sum_of(self.release)

    @contextlib.contextmanager
    def new(self) -> Iterator[tuple[Path, Path]]:
        """Give two folders to fill, for audit and release; both take their places at the end, or both vanish."""
        out = self._real
        for place in (out, out / AUDIT, out / RELEASE):
            tidy(place)
        with staged(out, inside=not _can_stage_beside(out), named=self.out) as stage:
            pair = stage / _PAIR
            pair.mkdir()
            for name in (AUDIT, RELEASE):
                (pair / name).mkdir(mode=0o700)
            yield pair / AUDIT, pair / RELEASE
            write_contents(pair / AUDIT, release=checksum(pair / RELEASE / MANIFEST))
            seal(pair / AUDIT, private=True)
            seal(pair / RELEASE, private=False)
            flush(pair)
            with placed(self.out), alone_in(out) if out.exists() else contextlib.nullcontext():
                self._refuse()
                if _sum_of(self.release) != self._before:
                    raise OutputError(
                        f"another run wrote into {self.out} while this one worked: nothing was written; run it again",
                        path=self.out,
                    )
                if not _place_whole(stage, out):
                    _place_both(stage, out)

    def _refuse(self) -> None:
        """Refuse an occupied place, or one from which the audit would be published."""
        try:
            if self._real.exists() and not self._real.is_dir():
                raise OutputError(
                    f"{self.out} is a file: give a folder, in which release/ and audit/ are written", path=self.out
                )
            outer = [folder for folder in (self._real, *self._real.parents) if (folder / MANIFEST).is_file()]
        except OSError as error:
            raise OutputError(f"cannot write {self.out}: {os.strerror(error.errno or 0)}", path=self.out) from None
        if any(files_of_release(folder) for folder in outer):
            raise OutputError(
                f"{self.out} is inside a release, and the audit is confidential and must not be published with it: "
                "choose another folder",
                path=self.out,
            )
        for folder in (self.release, self.audit):
            refuse_existing(folder, force=self._force)
        if self.release.exists() and not belongs(self.out):
            raise OutputError(
                f"{self.release / MANIFEST} does not belong to {self.audit}: it was changed, or it is from another "
                "release. It is not replaced: move the release elsewhere, or choose another folder",
                path=self.release,
            )


def belongs(out: Path) -> bool:
    """Whether the audit in ``out`` belongs to the release there; also if there is no audit, or it does not say."""
    named = release_named_by(out / AUDIT)
    return named is None or named == _sum_of(out / RELEASE)


def check_pair(out: Path) -> None:
    """Refuse a release and an audit that do not belong together, after mending what can be mended."""
    mend(out)
    with contextlib.suppress(OSError):
        if not belongs(out):  # a run may be about to place its pair: wait for it
            with alone_in(out.resolve()):
                pass
    if not belongs(out):
        raise SourceError(
            f"{out / AUDIT} does not belong to {out / RELEASE}: one of them was changed or replaced. Restore both as "
            "they were published, or publish again into another folder",
            source=out,
        )


def warn_if_apart(out: Path) -> None:
    """Warn if the audit beside a release that is read belongs to another release."""
    if not belongs(out):
        warnings.warn(
            f"{out / AUDIT} does not belong to {out / RELEASE}: one of them was changed or replaced, so the audit "
            "says nothing about this release",
            DisclosureWarning,
            stacklevel=4,
        )


def mend(out: Path) -> None:
    """Make a pair consistent, if a run was killed between two steps; what cannot be repaired is unchanged."""
    real = out.resolve()
    for stage in left_behind(real):
        with contextlib.suppress(OSError), uninterrupted():
            bring_back(real, stage / _OLD)
            with alone_in(real):
                _mend(stage, real)


def _mend(stage: Path, out: Path) -> None:
    for name in (AUDIT, RELEASE):
        bring_back(out / name, stage / f"{_OLD}-{name}")
    named, ready = release_named_by(out / AUDIT), stage / _PAIR / RELEASE
    if named is None or named == _sum_of(out / RELEASE) or named != _sum_of(ready):
        return
    if any(folder.is_symlink() for folder in (ready, ready.parent, out / RELEASE, out / AUDIT)):
        return
    if stranger_in(ready) is None and (not (out / RELEASE).exists() or stranger_in(out / RELEASE) is None):
        with Move(ready, out / RELEASE, stage / f"{_OLD}-{RELEASE}"):
            flush(out)


# -------------------------------------------------------------------------------------------------------- its steps


def _can_stage_beside(out: Path) -> bool:
    """Whether a folder can be made ready beside ``out`` and moved there: on the same file system, and allowed."""
    if not out.exists():
        return True
    parent = out.parent
    return parent != out and not _is_mount(out) and os.access(parent, os.W_OK | os.X_OK)


def _is_mount(out: Path) -> bool:
    """Whether a file system begins here; including bind mounts, which only Linux can detect."""
    if os.path.ismount(out):
        return True
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    points = (line.split(" ")[4] for line in lines)
    return any(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point) == str(out) for point in points)


def _place_whole(stage: Path, out: Path) -> bool:
    """Exchange the whole of ``out``; False where that is not possible, or would take something else along."""
    if not _may_move(stage, out):
        return False
    if out.exists():
        shutil.copystat(out, stage / _PAIR)
        flush(stage / _PAIR)
    try:
        with Move(stage / _PAIR, out, stage / _OLD):
            left = stage / _PAIR
            if left.exists() and not _holds_a_pair_only(left):
                raise _CameBetween
            flush(out.parent)
    except _CameBetween:
        return False
    return True


class _CameBetween(Exception):
    """Somebody put something into a folder at the moment in which it was exchanged."""


def _may_move(stage: Path, out: Path) -> bool:
    if stage.parent != out.parent:
        return False
    if not out.exists():
        return True
    here = Path.cwd()
    return out not in (here, *here.parents) and out.stat().st_uid == os.geteuid() and _holds_a_pair_only(out)


def _holds_a_pair_only(out: Path) -> bool:
    return {path.name for path in out.iterdir()} <= {AUDIT, RELEASE}


def _place_both(stage: Path, out: Path) -> None:
    """Exchange audit and release one after the other; `mend` completes an interrupted second step."""
    with contextlib.ExitStack() as moves:
        for name in (AUDIT, RELEASE):
            moves.enter_context(Move(stage / _PAIR / name, out / name, stage / f"{_OLD}-{name}"))
        flush(out)


def _sum_of(release: Path) -> str | None:
    try:
        return checksum(release / MANIFEST)
    except OSError:
        return None
