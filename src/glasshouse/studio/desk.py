# SPDX-License-Identifier: Apache-2.0
"""The desk: one person's decisions about one table, the results about it, and the jobs that run for it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from glasshouse.studio.job import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from glasshouse.studio.workspace import Workspace

__all__ = ["Desk"]

_PATIENCE = 20.0  # seconds after which work ends at which nobody looks


class Desk:
    """Decisions and results about one table.

    Parameters
    ----------
    workspace
        Where files are written.
    release
        A folder with a release that was opened alone; then there is no table.
    seed
        For tests alone: everything that is drawn is drawn from it. A release of it must not be published.

    Attributes
    ----------
    choices
        What was decided, by the names of the command line's options, as `glasshouse.policy.Policy` holds it.
    notes
        What pages remember besides, such as a taxonomy that is set aside; forgotten with the table.
    """

    def __init__(self, workspace: Workspace, *, release: Path | None = None, seed: int | None = None) -> None:
        self.workspace = workspace
        self.release = release
        self.seed = seed
        self.choices: dict[str, Any] = {}
        self.notes: dict[str, Any] = {}
        self.shown_name = ""  # of the table, for titles
        self.published: list[Path] = []  # folders that were written to in this sitting
        self.published_from: dict[Path, str] = {}  # the table's file of each of them
        self._jobs: dict[str, Job] = {}

    @property
    def has_table(self) -> bool:
        """Whether a table is open."""
        return "file" in self.choices

    def open(self, file: str, shown_name: str, **how: Any) -> None:
        """Start with another table: all earlier decisions and results are forgotten."""
        self.clear()
        self.choices = {"file": file, **how}
        self.shown_name = shown_name

    def clear(self) -> None:
        """Forget the table, and stop all jobs for it."""
        self.end()
        self._jobs.clear()
        self.choices, self.notes, self.shown_name, self.release = {}, {}, "", None

    def choose(self, **choices: Any) -> None:
        """Decide; None withdraws a decision."""
        for name, value in choices.items():
            if value is None or value in ("", [], {}):
                self.choices.pop(name, None)
            else:
                self.choices[name] = value

    def note_published(self, out: Path, file: str) -> None:
        """Take note that a table's file was published to a folder, which now holds release and audit."""
        if out in self.published:
            self.published.remove(out)
        self.published.append(out)
        self.published_from[out] = file

    def about(self, names: Iterable[str] | None = None) -> str:
        """A fingerprint of all decisions, or of some: results for another fingerprint are out of date."""
        chosen = self.choices if names is None else {name: self.choices.get(name) for name in names}
        return json.dumps(chosen, sort_keys=True, default=str)

    @property
    def mark(self) -> str:
        """A short digest of all decisions and of the opened table, which forms that show them send back."""
        told = json.dumps([self.notes.get("of"), self.about()])
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    # --- work ---------------------------------------------------------------------------------------------------------

    def start(
        self,
        name: str,
        task: str,
        given: Mapping[str, Any],
        *,
        about: Any = None,
        after: Callable[[Job], None] | None = None,
    ) -> Job:
        """Start a job under a name, replacing a running job or a result with this name; see `Job`."""
        self.cancel(name)
        job = self._jobs[name] = Job(task, given, about=about, after=after)
        return job

    def job(self, name: str, *, about: Any = None) -> Job | None:
        """The job with a name; None if there is none, or if it is for other decisions than the current ones."""
        job = self._jobs.get(name)
        return None if job is None or (about is not None and job.about != about) else job

    def found(self, name: str, *, about: Any = None) -> Any:
        """What came of the work of a name; None if it runs, failed or is out of date."""
        job = self.job(name, about=about)
        return job.result if job is not None and job.state == "done" else None

    def cancel(self, name: str) -> None:
        """Stop the job with a name."""
        if name in self._jobs:
            self._jobs[name].cancel()

    def forget(self, name: str) -> None:
        """Stop the job with a name, and forget its result."""
        self.cancel(name)
        self._jobs.pop(name, None)

    @property
    def running(self) -> frozenset[str]:
        """The names of the running jobs."""
        return frozenset(name for name, job in list(self._jobs.items()) if job.runs)

    def attend(self) -> None:
        """Record that a page of the studio is open, so that all jobs continue."""
        for job in list(self._jobs.values()):
            job.attend()

    def end_unattended(self, patience: float = _PATIENCE) -> None:
        """End work that nobody looks at any more, because the page was closed."""
        for job in list(self._jobs.values()):
            if job.runs and job.unattended > patience:
                job.cancel()

    def end(self) -> None:
        """Stop all jobs."""
        for job in self._jobs.values():
            job.cancel()
        for job in self._jobs.values():
            job.wait(5)
