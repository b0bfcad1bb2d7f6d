# SPDX-License-Identifier: Apache-2.0
"""The list, with checksums, of what Glasshouse wrote into a folder: other files belong to somebody else.

A release has its manifest. Every other folder that Glasshouse adds to or replaces has a ``contents.json``. A file is
ours if the list has its name and its SHA-256; a name alone says nothing, for people keep their own notes and edit
reports. The list only grows while a folder stands, so that a run that is killed half way never leaves a file of ours
that the list does not know.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from glasshouse.errors import OutputError, SourceError
from glasshouse.release.package.container.container import opened
from glasshouse.release.package.container.plain_file import MOST_MANIFEST, read_list
from glasshouse.release.package.manifest import MANIFEST, SIGNATURE, files_of_release, parse_manifest
from glasshouse.release.package.stage import Stage, alone_in, flush, left_behind, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "CONTENTS",
    "add_files",
    "checksum",
    "private_file",
    "refuse_strangers",
    "release_named_by",
    "stranger_in",
    "write_contents",
    "write_whole",
]

CONTENTS: Final = "contents.json"
_MOST_SIGNATURE: Final = 10_000  # bytes

Listed = set[tuple[str, str]]
"""Names of files, and SHA-256 sums that they may have."""


def checksum(file: Path) -> str:
    """The SHA-256 of a file, as manifests write it."""
    with file.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"


def write_whole(file: Path, content: bytes | str, *, private: bool) -> None:
    """Write a file atomically, optionally readable by its owner only."""
    file = file.resolve()
    try:
        _put(file.parent, {file.name: _encoded(content)}, inside=True, private=private)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {os.strerror(error.errno or 0)}", path=file) from None


def _encoded(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


def private_file(path: Path) -> Path:
    """Make an empty file that its owner alone can read, before anything is written to it."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


# -------------------------------------------------------------------------------------------------------- the list


def write_contents(folder: Path, *, release: str | None = None) -> None:
    """Write the list of all files of a folder that was just filled.

    An audit also names the release that it belongs to: ``release`` is the checksum of its manifest.
    """
    files = [path for path in sorted(folder.iterdir()) if path.name != CONTENTS]
    _write(folder, {(path.name, checksum(path)) for path in files}, release)


def _write(folder: Path, files: Listed, release: str | None) -> None:
    told = {
        "about": "the files that Glasshouse wrote into this folder; it never replaces any other file",
        **({} if release is None else {"release": release}),
        "files": [{"path": name, "hash": digest} for name, digest in sorted(files)],
    }
    _put(folder, {CONTENTS: (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()})


def _read(folder: Path) -> tuple[Listed, str | None] | None:
    """The list of a folder and the release that it names; None if there is no list that can be read."""
    try:
        told = json.loads(read_list(folder, CONTENTS))
        files = {(str(file["path"]), str(file["hash"])) for file in told["files"]}
        return files, None if told.get("release") is None else str(told["release"])
    except (OSError, SourceError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def release_named_by(audit: Path) -> str | None:
    """The checksum of the manifest of the release to which an audit belongs; None if unknown."""
    found = _read(audit)
    return None if found is None else found[1]


# ------------------------------------------------------------------------------------------------- what is not ours


def stranger_in(folder: Path) -> str | None:
    """What in a folder, or in a zip archive, Glasshouse did not write in this form, in words; None if nothing."""
    if folder.is_file():
        return _stranger_in_archive(folder)
    try:
        entries = sorted(folder.iterdir())
        names = {path.name for path in entries}
        released = files_of_release(folder) if MANIFEST in names else set()
        entries = _with_parts(entries, released)
        odd = next((path for path in entries if path.is_symlink() or not path.is_file()), None)
        if odd is not None:
            return f"{odd.relative_to(folder)} was not written by Glasshouse"
        if MANIFEST in names:
            listed, marker = released or None, MANIFEST
        elif CONTENTS in names:
            known, marker = _read(folder), CONTENTS
            listed = None if known is None else known[0]
        else:
            return next((reason for path in entries if (reason := _unlisted(path)) is not None), None)
        if listed is None:
            return f"{marker} was not written by Glasshouse"
        for path in entries:
            own = path.relative_to(folder).as_posix()
            if own == SIGNATURE and marker == MANIFEST and _signs(path, folder):
                continue
            if own != marker and (own, checksum(path)) not in listed:
                ours = any(own == name for name, _ in listed)
                return f"{own} was {'changed since Glasshouse wrote it' if ours else 'not written by Glasshouse'}"
    except OSError:
        return "it cannot be read"
    return None


def _stranger_in_archive(path: Path) -> str | None:
    try:
        with opened(path) as found:
            content = found.read(MANIFEST, MOST_MANIFEST)
            files = parse_manifest(content).files
            inner = {file.name.partition("/")[0] for file in files if "/" in file.name}
            names = {name for name in found.names() if name not in inner}
            names |= {f"{folder}/{name}" for folder in inner for name in found.names(folder)}
            for name in sorted(names - {file.name for file in files} - {MANIFEST}):
                if name != SIGNATURE or not _is_signature(found.read(name, _MOST_SIGNATURE), content):
                    return f"{name} was not written by Glasshouse"
            for file in files:
                if hashlib.sha256(found.read(file.name, file.size)).hexdigest() != file.sha256:
                    return f"{file.name} was changed since Glasshouse wrote it"
    except FileNotFoundError as error:
        return f"there is no {error.args[0]} in it"
    except SourceError as error:
        return str(error)
    return None


def _signs(path: Path, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return _is_signature(path.read_bytes()[:_MOST_SIGNATURE], (folder / MANIFEST).read_bytes())
    return False


def _is_signature(content: bytes, manifest: bytes) -> bool:
    """Whether a file is a signature of this manifest, by its content; its validity is checked elsewhere."""
    with contextlib.suppress(ValueError, AttributeError, RecursionError):
        told = json.loads(content)
        known = told.keys() == {"signer", "date", "key", "manifest", "signature"}
        return bool(known and told["manifest"] == f"sha256:{hashlib.sha256(manifest).hexdigest()}")
    return False


def _with_parts(entries: Sequence[Path], listed: Listed) -> list[Path]:
    """The entries of a release, with what is in the folders of its tables in place of these folders."""
    parted = {name.partition("/")[0] for name, _ in listed if "/" in name}
    found: list[Path] = []
    for path in entries:
        is_ours = path.name in parted and path.is_dir() and not path.is_symlink()
        found += sorted(path.iterdir()) if is_ours else [path]
    return found


def _unlisted(path: Path) -> str | None:
    """Why a file of a folder without a list cannot be from an earlier version's audit; None if it can.

    Such an audit had no list. Three of its files can be told by what is in them, and hold nothing that a person would
    write. A page, or what an attack wrote, cannot be told from one that somebody edited.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if path.name == "report.json" and json.loads(path.read_bytes()).keys() >= {"notices", "achieved", "recipe"}:
            return None
        if path.name == "published.json" and json.loads(path.read_bytes()).keys() == {"key", "tables"}:
            return None
        if path.name == "partition.parquet" and pq.read_schema(path).names in (
            ["row", "group"],
            ["identifier", "group"],
        ):
            return None
    return f"it is not known whether Glasshouse wrote {path.name} (early versions kept no list of their files)"


# ---------------------------------------------------------------------------------------------------- to add to it


def add_files(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Add files, readable by their owner only, to an existing folder, replacing those that Glasshouse wrote.

    Each file is the old one or the new one, whole, at any moment, and always on the list. A file of such a name that
    is not ours is refused before anything is written.
    """
    contents = {name: _encoded(text) for name, text in files.items()}
    try:
        with alone_in(folder):
            known, release = _read(folder) or (set(), None)
            refuse_strangers(folder, contents)
            new = {(name, f"sha256:{hashlib.sha256(content).hexdigest()}") for name, content in contents.items()}
            _write(folder, known | new, release)
            _put(folder, contents)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "writing failed"
        raise OutputError(f"cannot write into {folder}: {reason}", path=folder) from error


def refuse_strangers(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write files into a folder in place of files that Glasshouse did not write in this form."""
    found = _read(folder)
    known = set() if found is None else found[0]
    for file in (folder / name for name in (CONTENTS, *names)):
        if not os.path.lexists(file):
            continue
        plain = file.is_file() and not file.is_symlink()
        if not plain or (found is None if file.name == CONTENTS else (file.name, checksum(file)) not in known):
            raise OutputError(
                f"{file} was not written by Glasshouse, or was changed since, so it is not replaced: move it "
                "elsewhere first, or choose another folder",
                path=file,
            )


def _put(folder: Path, files: Mapping[str, bytes], *, inside: bool = False, private: bool = True) -> None:
    """Write files to a private folder beside or inside, bring them to disk, and move each into its place."""
    for left in left_behind(folder):
        shutil.rmtree(left, ignore_errors=True)
    with uninterrupted():
        stage = _stage(folder, inside=inside)
    try:
        for name, content in files.items():
            ready = private_file(stage.folder / name) if private else stage.folder / name
            with ready.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        with uninterrupted():
            for name in files:
                (stage.folder / name).replace(folder / name)
        flush(folder)
    finally:
        with uninterrupted():
            stage.discard()


def _stage(folder: Path, *, inside: bool) -> Stage:
    try:
        return Stage(folder, inside=inside)
    except PermissionError:  # the folder may be written, and the one in which it lies may not
        return Stage(folder, inside=True)
