# SPDX-License-Identifier: Apache-2.0
"""The command `reproduce`: repeats a paper's experiments, and says of each claim whether it is confirmed."""

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


@click.command(short_help="Repeat a paper's experiments, and check its claims.")
@click.argument("paper", type=click.Choice(PAPERS))
@click.option(
    "--data",
    metavar="synthetic|census|adult|PATH",
    default="synthetic",
    show_default=True,
    help="The table to use: a synthetic census, a table of the UCI repository that is downloaded (census, adult), or "
    "a file with one of these.",
)
@click.option(
    "--rows", type=click.IntRange(min=1), help="How many people to use at most; by default as many as in the paper."
)
@click.option(
    "--questions", type=click.IntRange(min=1), help="How many questions to ask in each experiment; by default 1000."
)
@options.out_option("A new folder for the results: a page, drawings and numbers.")
@options.printing_options
@plainly
def reproduce(
    paper: str, data: str, rows: int | None, questions: int | None, out: Path | None, *, as_json: bool
) -> None:
    """Repeat every figure and table of a paper's experiments, and say of each claim whether it is confirmed.

    Nothing is downloaded unless --data is census or adult. With fewer --rows it takes minutes, with all of them longer.

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
        say("", f"{out}/{paper}.md has all numbers and drawings.")
