# SPDX-License-Identifier: Apache-2.0
"""The workspace: the one folder in which the studio writes, readable by its owner alone, and removed at the end."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

from glasshouse.errors import OutputError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Workspace"]

_LONGEST = 80  # characters of a file's name


class Workspace:
    """A folder of mode 700; use it in a ``with`` statement.

    Parameters
    ----------
    kept
        A folder to use and to keep; None makes one that is removed at the end.

    Examples
    --------
    >>> with Workspace() as workspace:
    ...     workspace.new("uploads", "../../etc/passwd").name, workspace.folder.is_dir()
    ('passwd', True)
    """

    def __init__(self, kept: str | Path | None = None) -> None:
        self._kept = kept is not None
        self._temporary: str | None = None
        self.folder = Path(kept) if kept is not None else Path()

    def __enter__(self) -> Self:
        if not self._kept:
            self._temporary = tempfile.mkdtemp(prefix="glasshouse-studio-")  # of mode 700
            self.folder = Path(self._temporary)
            return self
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
        except OSError as error:
            raise OutputError(
                f"cannot use {self.folder} as the studio's own folder: {error.strerror}", path=self.folder
            ) from None
        self.folder = self.folder.resolve()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def is_kept(self) -> bool:
        """Whether it stays when the studio ends."""
        return self._kept

    def new(self, room: str, name: str) -> Path:
        """A path for a new file in a folder of the workspace; only harmless parts of the given name are used."""
        folder = self.folder / room
        folder.mkdir(mode=0o700, exist_ok=True)
        stem, dot, suffix = safe_name(name).rpartition(".")
        stem, suffix = (stem, f"{dot}{suffix}") if stem else (suffix, "")
        path, number = folder / f"{stem}{suffix}", 1
        while path.exists():
            number += 1
            path = folder / f"{stem}-{number}{suffix}"
        return path

    def remove(self, path: Path) -> None:
        """Remove a file or a folder of the workspace."""
        if self.folder not in path.resolve().parents:
            raise ValueError("not in the workspace")
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def safe_name(name: str) -> str:
    r"""A safe file name, made from one that came from outside.

    >>> safe_name("C:\\tables\\my patients (2).csv"), safe_name(".."), safe_name("\u202eevil.csv")
    ('my patients _2_.csv', 'table', '_evil.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w .\-]", "_", last).strip(" .")
    return plain[-_LONGEST:].lstrip(" .-") or "table"
