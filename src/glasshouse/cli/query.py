# SPDX-License-Identifier: Apache-2.0
"""What an analyst asks of a release: `query`, a question in SQL, and `sample`, flat tables drawn from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, plainly
from glasshouse.cli.learn import refuse_inside
from glasshouse.cli.printing import remark, say, say_json, say_text
from glasshouse.cli.progress import Measured, Terminal, progress_of_steps
from glasshouse.errors import InputError, NotSupported, OutputError
from glasshouse.log import step

if TYPE_CHECKING:
    from glasshouse.analyst.answers.query import Answer
    from glasshouse.release import Release

__all__ = ["query", "sample"]


@click.command(short_help="What a release says about the population, with error bars.")
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("sql")
@options.column_options
@options.choice("--model", ["learned", "uniform"], "What answers: what the release teaches, or the papers' estimator.")
@click.option("--as-of", metavar="EDITION", help="Ask about those who had come by an edition and had not left by it.")
@click.option(
    "--unweighted", is_flag=True, help="Count records, where the release has survey weights and people count by them."
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="File for what the release teaches: taken if it is there, else written, so that it is learned once.",
)
@options.printing_options
@plainly
def query(
    release: Path,
    sql: str,
    keep: Path | None,
    *,
    model: str,
    as_of: str | None,
    unweighted: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Ask a release a question: COUNT(*), SUM and AVG, with WHERE and GROUP BY.

    Every estimate comes with the half width of its 95 % interval. What the release teaches about the population is
    learned first, which takes some seconds for a large release; --keep spares that the next time. --taxonomy and
    --order say what the cells of a release mean that was published with them.

    \b
    Examples:
      glasshouse query out/release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 39 AND disease = 'asthma'"
      glasshouse query out/release "SELECT sex, COUNT(*), AVG(age) WHERE disease = 'influenza' GROUP BY sex" --json
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --keep out/release.population.json
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --as-of 2026
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --unweighted
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
            "taxonomies": {name: Taxonomy.of(text) for name, text in choices.get("taxonomy", {}).items()},
            "ordered": choices.get("order", {}),
        }
        if keep is not None and keep.exists():
            with step("learn", rows=loaded.n_tuples):
                learn(loaded, keep=keep, **known)
        with step("answer", rows=loaded.n_tuples):
            answer = ask(loaded, sql, model=model, as_of=as_of, weighted=False if unweighted else None, **known)
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


@click.command(short_help="Draw flat tables from a release: single values, no row a person.")
@click.argument("release", type=click.Path(path_type=Path))
@options.column_options
@options.choice("--model", ["learned", "uniform"], "What answers: what the release teaches, or the papers' estimator.")
@click.option(
    "--attributes",
    metavar="COLUMNS",
    help="Columns of the tables, separated by commas; by default all, of several sensitive ones none.",
)
@click.option("--tables", type=click.IntRange(min=1), default=1, show_default=True, help="How many tables to draw.")
@click.option("--seed", type=int, help="Seed of what is drawn, to repeat it.")
@click.option("--rows", type=click.IntRange(min=0), help="Rows of a table; by default as many as were published.")
@options.out_option("Folder to write the tables into, outside the release.", required=True)
@options.choice("--format", ["csv", "parquet"], "Format of the tables.", parameter="format_")
@click.option("--force", is_flag=True, help="Replace what stands there.")
@options.printing_options
@plainly
def sample(release: Path, out: Path, *, force: bool, as_json: bool, **given: Any) -> None:
    """Draw flat tables from a release: everybody who was published, with a single value in every column.

    Who of a group has which value is drawn by what the release teaches, in every table anew. No row is a person.
    Nothing is read but the release, so that it costs no privacy. What the release leaves open is how much an estimate
    differs from table to table: draw several.

    \b
    Examples:
      glasshouse sample out/release --tables 5 --out flat
      glasshouse sample out/release --rows 100 --format parquet --out few --json
    """
    from glasshouse.journeys.load import load
    from glasshouse.microdata import Taxonomy
    from glasshouse.pages.report.publication import draw
    from glasshouse.randomness import Source
    from glasshouse.release.package.flat import refuse_inside, write_flat
    from glasshouse.release.package.folders import refuse_existing

    measured = Measured()
    choices = options.chosen(given)
    refuse_inside(out, release)
    refuse_existing(out, force=force)  # before the work
    with step("load") as note:
        loaded = load(release)
        note(rows=loaded.n_tuples, tables=len(loaded.tables))
    drawn = draw(
        loaded,
        given["rows"],
        None if given["seed"] is None else Source.seeded(given["seed"]),
        watch=Terminal(),
        tables=given["tables"],
        model=given["model"],
        attributes=options.names(given["attributes"]) or None,
        taxonomies={name: Taxonomy.of(text) for name, text in choices.get("taxonomy", {}).items()},
        ordered=choices.get("order", {}),
    )
    with step("write", rows=drawn[0].num_rows, tables=len(drawn)):
        form = given["format_"]
        files = write_flat(out, drawn, release=release, n_tuples=loaded.n_tuples, format=form, force=force)
    model = drawn[0].schema.metadata[b"glasshouse.model"].decode()
    told = {"out": str(out), "files": files, "rows": drawn[0].num_rows, "columns": drawn[0].column_names}
    with having_written(out):
        if as_json:
            say_json({**told, "model": model, **measured.to_dict()})
            return
        many = f"{len(files):,} tables" if len(files) > 1 else "one table"
        names = ", ".join([*files[:5], *(["..."] if len(files) > 5 else [])])
        say(f"{many} of {told['rows']:,} rows, by the model {model!r}: {names}")
        say("", f"No row is a person; {out / 'README.md'} says what the rows are. ({measured})")
