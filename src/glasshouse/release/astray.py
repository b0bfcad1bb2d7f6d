# SPDX-License-Identifier: Apache-2.0
"""Astray: what lies at a path where a release was looked for in vain, and which release was probably meant.

Only names of files and folders are looked at, and the list of an archive. Nothing is read of any table.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.errors import SourceError
from glasshouse.release.package.container.container import holds_release
from glasshouse.release.package.manifest import MANIFEST
from glasshouse.release.package.pair import AUDIT, RELEASE
from glasshouse.unpacking.zip_members import listed_in

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Astray", "astray", "pointing", "resembles_release"]

_MOST_MEANT = 5  # releases that are named
_MOST_LOOKED_AT = 200  # entries of a folder
_ADVICE = "A release is the folder named release in the output folder of glasshouse publish: give its path."


@dataclass(frozen=True, slots=True)
class Astray:
    """What was found, in a sentence, and the releases that may have been meant, the likeliest first."""

    words: str
    meant: tuple[Path, ...]


def astray(path: Path) -> Astray | None:
    """Say what lies at a path that is no release; None if it is one, or if nothing can be said.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "out" / "release").mkdir(parents=True)
    ...     _ = (Path(folder) / "out" / "release" / "datapackage.json").write_text("{}")
    ...     found = astray(Path(folder) / "out")
    ...     [str(meant.relative_to(folder)) for meant in found.meant]
    ['out/release']
    """
    try:
        return _astray(path)
    except (OSError, ValueError):  # a place or a list that must not be looked into, or no name of a file
        return None


@contextlib.contextmanager
def pointing(path: str | Path, call: str) -> Iterator[None]:
    """Where a release is refused because it lies elsewhere, add a note that says where, as a call of Python."""
    try:
        yield
    except SourceError as error:
        found = None if error.python_note else astray(Path(path))
        if found is not None:
            calls = " or ".join(f"{call}({str(meant)!r})" for meant in found.meant)
            error.python_note = f"{found.words} {calls}" if calls else found.words
            error.add_note(error.python_note)
        raise


def resembles_release(path: Path) -> bool:
    """Whether an archive that holds no release at its top is more likely a release than a table.

    It is cut short, has no file in it, or has a release in an inner folder.
    """
    try:
        if path.suffix.lower() != ".zip" or not path.is_file():
            return False
        return not zipfile.is_zipfile(path) or not (names := _names_in(path)) or bool(_folders_with_release(names))
    except (OSError, ValueError):  # an archive with a list that is not read, which may have a table
        return False


def _astray(path: Path) -> Astray | None:
    if _is_release(path):
        return None
    if not path.exists():
        return _of_missing(path)
    if path.is_file():
        return _of_file(path)
    if _is_release(path / RELEASE):
        return Astray(f"{path} is the output folder of a publication. The release is in it:", (path / RELEASE,))
    above = _release_above(path)
    if above is not None:
        return Astray(f"{path} is a part of a release. The release is:", (above,))
    if path.name == AUDIT and _is_release(path.parent / RELEASE):
        return Astray(
            f"{path} is the audit, which must stay inside your organization. The release is beside it:",
            (path.parent / RELEASE,),
        )
    inside = tuple(_releases_in(path))
    if inside:
        return Astray(f"{path} is a folder with {_these(len(inside))} in it:", inside)
    what = (
        "is an empty folder" if not any(path.iterdir()) else f"is a folder without {MANIFEST}, so it is not a release"
    )
    return Astray(f"{path} {what}. {_ADVICE}", ())


def _of_missing(path: Path) -> Astray | None:
    if path.suffix:  # a file was looked for
        return None
    parent = path.parent
    if not parent.is_dir():
        return Astray(f"There is no folder {parent}: was it moved, or are you in another folder?", ())
    names = [entry.name for entry in _entries(parent)]
    near = [parent / name for name in get_close_matches(path.name, names, n=3, cutoff=0.6)]
    meant = [found for one in near for found in (one, one / RELEASE) if _is_release(found)]
    meant = meant or ([parent] if _is_release(parent) else [])
    meant = meant or list(_releases_in(parent))
    words = f"There is no file or folder {path}."
    told = f"{words} {_these(len(meant)).capitalize()} nearby:" if meant else f"{words} {_ADVICE}"
    return Astray(told, tuple(meant[:_MOST_MEANT]))


def _of_file(path: Path) -> Astray | None:
    above = _release_above(path)
    if above is not None:
        return Astray(f"{path} is a file of a release. The release is the folder:", (above,))
    if zipfile.is_zipfile(path):
        folders = _folders_with_release(_names_in(path))
        if folders:
            if holds_release(path):  # and is read as it is: the trouble is another one
                return None
            words = f"{path} is an archive that has a release in its folder {folders[0]}, not at its top"
            return Astray(f"{words}: unpack it, and give the path of that folder.", ())
        return Astray(f"{path} is an archive without {MANIFEST}, so that there is no release in it. {_ADVICE}", ())
    return None


def _names_in(archive: Path) -> list[str]:
    with archive.open("rb") as file:
        return listed_in(file)


def _folders_with_release(names: list[str]) -> list[str]:
    """The folders in which a manifest lies, of the names in an archive."""
    return [str(Path(name).parent) for name in names if Path(name).name == MANIFEST]


def _release_above(path: Path) -> Path | None:
    """The release that a path lies in, at most three folders up."""
    found = next((folder for folder in list(path.absolute().parents)[:3] if _is_release(folder)), None)
    return found if found is None or path.is_absolute() else Path(os.path.relpath(found))


def _releases_in(folder: Path) -> Iterator[Path]:
    """Releases in a folder, or in its subfolders, limited in number."""
    found = 0
    for entry in _entries(folder):
        for place in (entry, entry / RELEASE):
            if found < _MOST_MEANT and _is_release(place):
                found += 1
                yield place


def _entries(folder: Path) -> list[Path]:
    return [entry for entry, _ in zip(sorted(folder.iterdir()), range(_MOST_LOOKED_AT), strict=False)]


def _is_release(path: Path) -> bool:
    return path.is_dir() and (path / MANIFEST).is_file()


def _these(n: int) -> str:
    return "a release" if n == 1 else f"{n} releases" if n < _MOST_MEANT else "several releases"
