# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments, done again: every figure and table, and a verdict on every claim."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from glasshouse.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.papers.reproduction import Reproduction

__all__ = ["PAPERS", "reproduce"]

PAPERS = ("transparent", "corruption", "anatomy", "minimality", "angel")
"Papers whose experiments are all here."


def reproduce(
    paper: str,
    *,
    data: str | Path = "synthetic",
    rows: int | None = None,
    questions: int | None = None,
    out: str | Path | None = None,
) -> Reproduction:
    """Repeat the experiments of a paper, and say for each of its claims whether it is confirmed.

    Parameters
    ----------
    paper
        One of `PAPERS`.
    data
        ``synthetic``, a census of people who do not exist; a file with Adult or Census-Income (KDD); or ``adult`` or
        ``census``, which are then fetched from UCI and checked.
    rows
        At most so many people; as many as the paper has, if left out.
    questions
        How many questions a workload has; a thousand, if left out.
    out
        A folder that is not there yet, for the page, the drawings and the numbers.

    Examples
    --------
    >>> import glasshouse as gh
    >>> found = gh.reproduce("angel", rows=2000, questions=10)
    >>> found.claims[-2].text, found.claims[-2].verdict.word
    ('A combination of columns (a marginal) always has a smaller divergence with a table of its own', 'yes')
    """
    import time
    from pathlib import Path

    from glasshouse.papers.data import open_data
    from glasshouse.papers.reproduction import Reproduction
    from glasshouse.release.package.folders import refuse_existing

    if paper not in PAPERS:
        raise ParameterError("reproduce", "paper", f"one of {', '.join(PAPERS)}", paper)
    if questions is not None and questions < 1:
        raise ParameterError("reproduce", "questions", "a whole number of at least 1", questions)
    if out is not None:
        refuse_existing(Path(out), force=False)  # before hours of work
    chapter = importlib.import_module(f"glasshouse.papers.{paper}")
    began = time.process_time()
    opened = open_data(data, chapter.ROWS if rows is None else rows)
    results = chapter.experiments(opened, questions or chapter.QUESTIONS)
    more = [f" --{name} {value}" for name, value in (("rows", rows), ("questions", questions)) if value is not None]
    found = Reproduction(
        paper=paper,
        title=chapter.TITLE,
        data=opened.about,
        command=f"glasshouse reproduce {paper} --data {opened.given}{''.join(more)} --out {paper}",
        seconds=round(time.process_time() - began, 1),
        results=results,
        claims=chapter.judged(results),
        departures=chapter.DEPARTURES,
    )
    if out is not None:
        found.save(out)
    return found
