# SPDX-License-Identifier: Apache-2.0
"""The command `query`: a question in SQL about the population, answered from a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import plainly
from glasshouse.cli.printing import say_json, say_text
from glasshouse.cli.progress import progress_of_steps
from glasshouse.log import step

__all__ = ["query"]


@click.command(short_help="What a release says about the population, with error bars.")
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("sql")
@click.option(
    "--model",
    type=click.Choice(["learned", "uniform"]),
    default="learned",
    show_default=True,
    help="What answers: a model of the population that is learned from the release, or the estimator of the papers.",
)
@options.column_options
@options.printing_options
@plainly
def query(release: Path, sql: str, *, model: str, as_json: bool, **given: Any) -> None:
    """Ask a release a question: COUNT(*), SUM and AVG, with WHERE and GROUP BY.

    Every estimate comes with the half width of its 95 % interval. By default a model of the population is learned from
    the release first, which takes some seconds for a large one. --taxonomy and --order say what the cells of a
    release mean that was published with them.

    \b
    Examples:
      glasshouse query out/release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 39 AND disease = 'asthma'"
      glasshouse query out/release "SELECT sex, COUNT(*), AVG(age) WHERE disease = 'influenza' GROUP BY sex" --json
    """
    from glasshouse.analyst.answers.query import query as ask
    from glasshouse.journeys.load import load
    from glasshouse.microdata import Taxonomy

    choices = options.chosen(given)
    with progress_of_steps():
        with step("load") as note:
            loaded = load(release)
            note(rows=loaded.n_tuples, tables=len(loaded.tables))
        with step("answer", rows=loaded.n_tuples):
            answer = ask(
                loaded,
                sql,
                taxonomies={name: Taxonomy.from_file(file) for name, file in choices.get("taxonomy", {}).items()},
                ordered=choices.get("order", {}),
                model=model,
            )
    if as_json:
        say_json(answer.to_dict())
    else:
        say_text(answer)
