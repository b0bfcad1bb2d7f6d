# SPDX-License-Identifier: Apache-2.0
"""The place of a release: what is in the chosen folder, in words, before anything is written."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.errors import GlasshouseError

if TYPE_CHECKING:
    from glasshouse.studio.desk import Desk

__all__ = ["Place", "look_at", "suggested_place"]

_LONGEST = 2_000  # characters of a path
_GETS = "Two folders are made in it: release, which may be published, and audit, which must not."


@dataclass(frozen=True)
class Place:
    """What is at the place.

    Parameters
    ----------
    path
        The whole path; None if the text is none.
    kind
        ``good``, ``attention``, or ``stop`` if nothing can be written there.
    words
        What to say of it.
    taken
        Whether an earlier release stands there, which would be replaced.
    """

    path: Path | None
    kind: str
    words: str
    taken: bool = False


def look_at(desk: Desk, text: str) -> Place:
    """Look at the folder that a text names."""
    text = text.strip()
    if not text:
        return Place(None, "stop", "Name a folder to write to.")
    if len(text) > _LONGEST or "\0" in text or "://" in text:
        return Place(None, "stop", "This is not the path of a folder.")
    try:
        path = Path(text).expanduser()
        path = Path(os.path.normpath(Path.cwd() / path))
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # `exists` hides from Python 3.14 on what is wrong
        return _seen(desk, path)
    except (OSError, RuntimeError, UnicodeError):
        return Place(None, "stop", "This folder cannot be read: its name is too long, or you have no permission.")


def _seen(desk: Desk, path: Path) -> Place:
    workspace = desk.workspace
    if not workspace.is_kept and path.is_relative_to(workspace.folder):
        return Place(path, "stop", "This is the studio's own folder, which is removed when the studio ends.")
    if path.exists() and not path.is_dir():
        return Place(path, "stop", "This is a file. Name a folder: release/ and audit/ are made in it.")
    above = next(folder for folder in (path, *path.parents) if folder.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        return Place(path, "stop", f"Nothing can be written in {above}: you have no permission.")
    if any((path / name).exists() for name in ("release", "audit")):
        return _taken(path)
    if path.exists():
        return Place(path, "good", f"This folder exists. {_GETS}")
    if path.parent.exists():
        return Place(path, "good", f"This folder will be made. {_GETS}")
    return Place(path, "attention", f"Neither this folder nor {path.parent} exists. Both will be made. Check the name.")


def _taken(path: Path) -> Place:
    from glasshouse.release.package.folders import refuse_existing

    try:
        for name in ("release", "audit"):
            refuse_existing(path / name, force=True)
    except GlasshouseError as error:
        return Place(path, "stop", str(error), taken=True)
    return Place(path, "attention", "This folder has an earlier release.", taken=True)


def suggested_place(desk: Desk) -> str:
    """A folder for the release of the table that is open: beside its file, or else in the current folder."""
    stem = re.sub(r"[^\w.\-]+", "-", Path(desk.shown_name or "table").stem).strip("-.") or "table"
    file = str(desk.choices.get("file", ""))
    beside = Path.cwd()
    if "://" not in file and Path(file).is_absolute() and not Path(file).is_relative_to(desk.workspace.folder):
        beside = Path(file).parent
    place, number = beside / f"{stem}-published", 1
    while place.exists():
        number += 1
        place = beside / f"{stem}-published-{number}"
    return str(place)
