# SPDX-License-Identifier: Apache-2.0
"""The command `reproduce`: a paper's experiments done again, with a verdict on each of its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from glasshouse.cli import options
from glasshouse.cli.exits import plainly
from glasshouse.cli.printing import say, say_json, say_text
from glasshouse.cli.progress import progress_of_steps
from glasshouse.papers import PAPERS

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["reproduce"]


@click.command(short_help="A paper's experiments done again, with a verdict on its claims.")
@click.argument("paper", type=click.Choice(PAPERS))
@click.option(
    "--data",
    metavar="synthetic|census|adult|PATH",
    default="synthetic",
    show_default=True,
    help="What to measure on: the synthetic census, a table of UCI that is then fetched, or a local file of one.",
)
@click.option("--rows", type=click.IntRange(min=1), help="At most so many people; as many as the paper has by default.")
@click.option("--questions", type=click.IntRange(min=1), help="Questions of a workload; 1000 by default.")
@options.out_option("New folder for the page, the drawings and the numbers.")
@options.printing_options
@plainly
def reproduce(
    paper: str, data: str, rows: int | None, questions: int | None, out: Path | None, *, as_json: bool
) -> None:
    """Do every figure and table of a paper's experiments again, and say of each claim whether it holds.

    Nothing is fetched unless --data is census or adult. With fewer --rows it takes minutes, with all of them longer.

    \b
    Examples:
      glasshouse reproduce angel --rows 2000 --questions 50
      glasshouse reproduce angel --rows 3000 --questions 50 --out angel
    """
    from glasshouse.papers import reproduce as again

    with progress_of_steps():
        found = again(paper, data=data, rows=rows, questions=questions, out=out)
    if as_json:
        say_json(found.to_dict())
        return
    say_text(found)
    if out is not None:
        say("", f"{out}/{paper}.md has all numbers and drawings")
