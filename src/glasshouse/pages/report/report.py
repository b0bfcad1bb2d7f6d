# SPDX-License-Identifier: Apache-2.0
"""Report: a release seen from the inside, as a page and as data; `make_report` makes one."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import SourceError
from glasshouse.pages.report.effort import Effort
from glasshouse.pages.report.facts import facts_of, facts_of_file, files_in, signature_facts
from glasshouse.release.package.listing import add_files
from glasshouse.release.package.pair import AUDIT, check_pair
from glasshouse.release.release import given_release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Source
    from glasshouse.release import Release
    from glasshouse.streaming.publish import PublishedFile
    from glasshouse.verification import Verification

__all__ = ["Report", "make_report", "report_on_file"]

PAGE, DATA = "report.html", "report.json"


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What a steward should know of a release; it belongs inside.

    Attributes
    ----------
    facts
        Everything that it says, as plain data.
    """

    facts: Mapping[str, Any]

    def __repr__(self) -> str:
        n = {level: sum(c["level"] == level for c in self.facts["cautions"]) for level in ("stop", "attention")}
        return f"Report({self.facts['guarantee']['promise']}; stop: {n['stop']}, attention: {n['attention']})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return dict(self.facts)

    def to_html(self) -> str:
        """The report as one self-contained HTML page, to read and to print."""
        from glasshouse.pages.report.page import page

        return page(self.facts)

    def with_files(self, folder: str | Path) -> Report:
        """The same with the checksums of the files in a release folder, and with what its signature says."""
        try:
            found = {"files": files_in(Path(folder)), "signature": signature_facts(Path(folder))}
            return replace(self, facts={**self.facts, **found})
        except OSError as error:
            raise SourceError(f"cannot read {folder}: {os.strerror(error.errno or 0)}", source=folder) from None

    def write(self, folder: str | Path, *, release: str | Path | None = None) -> Report:
        """Write ``report.html`` and ``report.json`` into an audit folder, for its owner alone.

        Each file is the old one or the new one, whole, at any moment. A file of these names that Glasshouse did not
        write there, or that was changed since, is not replaced. By default the release whose files are listed with
        their checksums is ``release`` beside the audit. What was written is given back: the report with the checksums.
        """
        audit = Path(folder)
        if release is None and audit.resolve().name == AUDIT:
            check_pair(audit.resolve().parent)
        beside = audit.resolve().parent / "release" if release is None else Path(release)
        made = self.with_files(beside) if beside.is_dir() else self
        text = json.dumps(_finite(made.to_dict()), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        add_files(audit, {DATA: text, PAGE: made.to_html()})
        return made


def make_report(
    release: Release,
    table: Microdata,
    achieved: Verification | None = None,
    *,
    report: str = "brief",
    publishing: float | None = None,
    seed_source: Source | None = None,
    effort: Effort | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Examine a release with the original table: attack it, query it, count what it achieves and loses.

    Parameters
    ----------
    release
        What was published.
    table
        The microdata that it was made of.
    achieved
        What `verify_release` counted, if that was done already.
    report
        ``brief`` takes at most as much CPU time as publishing took, or half a second if that is more: what would not
        fit into it is left out, and the report says what, and how to get it. ``full`` does everything.
    publishing
        CPU seconds that publishing took, for a brief report; by default what `publish` itself took.
    seed_source
        Where an attack that samples takes its random choices from; the operating system's secure source by default.
    effort
        How much work it may be, part by part, in place of ``report``.
    progress
        Is called with what is being done, how many steps are done, and of how many.

    Examples
    --------
    >>> import glasshouse as gh
    >>> patients = gh.synthetic.hospital(300, seed=1)
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=3))
    >>> report = gh.make_report(release, patients)
    >>> report.to_dict()["kept"], [found["adversary"] for found in report.to_dict()["beliefs"]]
    (True, ['linking', 'algorithm-aware', 'corrupting'])
    """
    release = given_release(release)
    chosen = effort or Effort.named(report, release.spent if publishing is None else publishing)
    return Report(facts_of(release, table, achieved, chosen, seed_source, progress))


def report_on_file(made: PublishedFile) -> Report:
    """Report on a file that was published in batches: what is known without the table in memory.

    Its recipe, its promise and what was counted from the published files are there, and what is left out is said.
    """
    try:
        counted = json.loads((made.audit / DATA).read_text(encoding="utf-8"))["achieved"]
    except (OSError, ValueError, KeyError, TypeError):
        raise SourceError(
            (f"{made.audit} has no file {DATA} that says what was counted, so no report can be made"), source=made.audit
        ) from None
    return Report(facts_of_file(made, counted)).with_files(made.folder)


def _finite(value: Any) -> Any:
    """The same with no number that JSON cannot write: a divergence may be infinite."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return "infinite" if isinstance(value, float) and not math.isfinite(value) else value
