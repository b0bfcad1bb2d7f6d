# SPDX-License-Identifier: Apache-2.0
"""The command `query`: a question in SQL about the population, answered from a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import plainly
from glasshouse.cli.learn import refuse_inside
from glasshouse.cli.printing import remark, say_json, say_text
from glasshouse.cli.progress import progress_of_steps
from glasshouse.errors import InputError, NotSupported, OutputError
from glasshouse.log import step

if TYPE_CHECKING:
    from glasshouse.analyst.answers.query import Answer
    from glasshouse.release import Release

__all__ = ["query"]


@click.command(short_help="What a release says about the population, with error bars.")
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("sql")
@options.column_options
@options.choice("--model", ["learned", "uniform"], "What answers: what the release teaches, or the papers' estimator.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="File for what the release teaches: taken if it is there, else written, so that it is learned once.",
)
@options.printing_options
@plainly
def query(release: Path, sql: str, keep: Path | None, *, model: str, as_json: bool, **given: Any) -> None:
    """Ask a release a question: COUNT(*), SUM and AVG, with WHERE and GROUP BY.

    Every estimate comes with the half width of its 95 % interval. What the release teaches about the population is
    learned first, which takes some seconds for a large release; --keep spares that the next time. --taxonomy and
    --order say what the cells of a release mean that was published with them.

    \b
    Examples:
      glasshouse query out/release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 39 AND disease = 'asthma'"
      glasshouse query out/release "SELECT sex, COUNT(*), AVG(age) WHERE disease = 'influenza' GROUP BY sex" --json
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --keep out/release.population.json
    """
    from glasshouse.analyst.answers.query import query as ask
    from glasshouse.journeys.load import load
    from glasshouse.microdata import Taxonomy
    from glasshouse.population.learn import learn

    choices = options.chosen(given)
    if keep is not None:
        refuse_inside(release, keep, "--keep")
    with progress_of_steps():
        with step("load") as note:
            loaded = load(release)
            note(rows=loaded.n_tuples, tables=len(loaded.tables))
        known = {
            "taxonomies": {name: Taxonomy.from_file(file) for name, file in choices.get("taxonomy", {}).items()},
            "ordered": choices.get("order", {}),
        }
        if keep is not None and keep.exists():
            with step("learn", rows=loaded.n_tuples):
                learn(loaded, keep=keep, **known)
        with step("answer", rows=loaded.n_tuples):
            answer = ask(loaded, sql, model=model, **known)
        if keep is not None and not keep.exists():
            with step("learn", rows=loaded.n_tuples):
                _keep(loaded, answer, keep, known)
    if as_json:
        say_json(answer.to_dict())
    else:
        say_text(answer)


def _keep(release: Release, answer: Answer, file: Path, known: dict[str, Any]) -> None:
    """Write down what was learned of the sensitive column that was asked about; say so where there is nothing."""
    from glasshouse.analyst.questions.question import disjoint_terms
    from glasshouse.population.learn import learn

    question = answer.question
    asked = {name for term in disjoint_terms(question.where) for name in term} | set(question.group_by)
    asked |= {measure.column for measure in question.measures if measure.column is not None}
    column = next((name for name in release.recipe.sensitive if name in asked), None)
    try:
        learn(release, column, keep=file, **known)
    except OutputError:
        raise
    except (InputError, NotSupported) as error:
        remark("note", f"nothing is kept in {file}: {error}")
