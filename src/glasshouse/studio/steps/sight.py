# SPDX-License-Identifier: Apache-2.0
"""What is examined in the last step: a release, and its original table, if that is open."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from glasshouse.studio.desk import Desk
    from glasshouse.studio.job import Job

__all__ = ["Sight", "number", "only", "place_of", "sight_of"]

_LOOK = "look-release"
_MOST_TEXT = 20_000  # letters of a field
# what decides how the table is read
_READ = (
    "file", "delimiter", "encoding", "decimal", "table", "query", "quasi", "sensitive", "identifier", "missing",
    "taxonomy", "order", "bins", "categorical", "normalise", "bottom", "top", "accept",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sight:
    """A release that is looked at.

    Parameters
    ----------
    folder
        The folder of the release.
    table
        How the table is read that it was made of; None if a release was opened alone.
    mark
        Changes whenever another release is in the folder, or the table is read in another way.
    """

    folder: Path
    table: dict[str, Any] | None
    mark: str

    def start(self, desk: Desk, name: str, task: str, given: Mapping[str, Any], asked: Mapping[str, Any]) -> Job:
        """Start a job on the examined release."""
        about = json.dumps({"mark": self.mark, "asked": asked}, sort_keys=True)
        return desk.start(name, task, given, about=about)

    def job(self, desk: Desk, name: str) -> tuple[Job | None, dict[str, Any]]:
        """The job with a name and its question, if it is about the examined release."""
        job = desk.job(name)
        if job is None:
            return None, {}
        about = json.loads(job.about)
        if about["mark"] != self.mark:
            return None, {}
        job.attend()
        return job, about["asked"]

    def found(self, desk: Desk, name: str) -> Any:
        """The result of the job with a name, if it is about the examined release."""
        job, _ = self.job(desk, name)
        return job.result if job is not None and job.state == "done" else None

    def first_look(self, desk: Desk) -> Job:
        """The first examination of the release, which is started if necessary."""
        job, _ = self.job(desk, _LOOK)
        if job is None:
            return self.start(desk, _LOOK, "release_look.look", {"release": str(self.folder)}, {})
        return job


def sight_of(desk: Desk) -> Sight | None:
    """The release that was opened alone, or the one that was published last; None if there is none."""
    made_of, file = getattr(desk, "published_from", {}), desk.choices.get("file")
    own = [folder for folder in desk.published if file is None or made_of.get(folder, file) == file]
    folder = desk.release or (own[-1] / "release" if own else None)
    if folder is None or not folder.is_dir():
        return None
    has_table = desk.release is None and desk.has_table
    table = {name: desk.choices[name] for name in _READ if name in desk.choices} if has_table else None
    try:
        stat = (folder / "datapackage.json").stat()
        written = [stat.st_mtime_ns, stat.st_ino, stat.st_size]
    except OSError:
        written = []
    mark = json.dumps([str(folder), written, table], sort_keys=True, default=str)
    return Sight(folder=folder, table=table, mark=mark)


# --- fields of forms --------------------------------------------------------------------------------------------------


def only(form: Mapping[str, list[str]], name: str, usual: str = "") -> str:
    """The only value of a field, without surrounding blanks."""
    values = form.get(name) or [usual]
    if len(values) != 1 or len(values[0]) > _MOST_TEXT:
        raise InputError("this form does not fit the page: load the page again")
    return values[0].strip()


def place_of(text: str) -> str:
    """A path on this machine that a person typed; ``~`` is the person's own folder."""
    return os.path.expanduser(text)  # noqa: PTH111 - pathlib fails where nobody has that name


def number(text: str, below: int, what: str) -> int:
    """A whole number of at least 0 and below a limit."""
    if not (text.isascii() and text.isdecimal() and len(text) < 13 and int(text) < below):
        raise InputError(f"{what} is a whole number from 0 to {below - 1:,}")
    return int(text)
