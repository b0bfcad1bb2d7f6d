# SPDX-License-Identifier: Apache-2.0
"""The folder of a release: published as the command publishes it, with the report in its audit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from glasshouse.errors import NotSupported, RepublicationWarning

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from glasshouse.studio.job import Tell

__all__ = ["publish"]


def publish(
    *, tell: Tell, choices: Mapping[str, Any], force: bool, again: bool, seed: int | None
) -> dict[str, Any]:  # fmt: skip
    """Publish by choices; returns what was written and the guarantee.

    Parameters
    ----------
    tell
        Who is told how far it is.
    choices
        What was decided.
    force
        Whether to replace what stands in the folder.
    again
        Whether to go on if people of this table were published from the folder before; else nothing is written, and
        the result says so.
    seed
        For tests alone.
    """
    from glasshouse.pages.report.publication import Publication
    from glasshouse.randomness import Source
    from glasshouse.studio.tasks.watch import StudioWatch

    watch = StudioWatch(tell)
    work = Publication(choices, watch=watch, source=None if seed is None else Source.seeded(seed))
    engine = work.prepare(force=force)
    if engine == "spark":
        raise NotSupported("the studio cannot use a cluster", instead="use the command that is shown on this page")
    with warnings.catch_warnings():
        if not again:
            warnings.simplefilter("error", RepublicationWarning)
        try:
            published = work.publish(engine, force=force)
        except RepublicationWarning as warning:
            return {"again": str(warning)}
    return {
        "again": "",
        "choices": dict(choices),
        "force": force,
        "out": str(work.out),
        "page": work.page,
        "flat": None if work.flat is None else str(work.flat),
        "flat_words": work.flat_words,
        "remarks": watch.remarks,
        "notices": list(published.notices),
        **_facts(published.made, work.out / "release"),
    }


def _facts(made: Any, release: Path) -> dict[str, Any]:
    from glasshouse.studio.tasks.promise import promise_of

    files = sorted(path for path in release.rglob("*") if path.is_file())
    return {
        **promise_of(made),
        "n_published": made.n_tuples,
        "n_dropped": made.n_dropped,
        "files": [{"name": file.relative_to(release).as_posix(), "bytes": file.stat().st_size} for file in files],
    }
