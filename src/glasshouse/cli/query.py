# SPDX-License-Identifier: Apache-2.0
"""The analyst's commands: `query` answers a question in SQL, and `sample` draws flat tables from a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, in_options, plainly
from glasshouse.cli.learn import refuse_inside
from glasshouse.cli.printing import remark, say, say_json, say_text
from glasshouse.cli.progress import Measured, Terminal, progress_of_steps
from glasshouse.errors import InputError, NotSupported, OutputError
from glasshouse.log import step
from glasshouse.plural import counted

if TYPE_CHECKING:
    from glasshouse.analyst.answers.query import Answer
    from glasshouse.release import Release

__all__ = ["query", "sample"]


@click.command(short_help="Ask a release a question about the population, in SQL.")
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("sql")
@options.column_options
@options.model_option("learned", "uniform")
@click.option(
    "--as-of", metavar="EDITION", help="Ask about the people who were in the data at the time of this edition."
)
@click.option("--unweighted", is_flag=True, help="Count records, although the release has survey weights.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="A file for the model that is learned: it is used if it exists, and otherwise written, so that later "
    "questions are answered faster.",
)
@options.out_option("A file for the answer. The end of its name says the format, unless --format is given.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "csv", "json", "arrow"]),
    help="The format of the answer. Without this option an answer is printed as text, and the format of a file "
    "follows from the end of its name.",
)
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.printing_options
@plainly
def query(
    release: Path,
    sql: str,
    keep: Path | None,
    out: Path | None,
    format_: str | None,
    *,
    force: bool,
    model: str,
    as_of: str | None,
    unweighted: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Ask a release a question: COUNT(*), SUM, AVG and MEDIAN, with WHERE, GROUP BY, HAVING, ORDER BY and LIMIT.

    Every estimate comes with the half width of its 95 % interval. First a model of the population is learned from the
    release, which takes some seconds for a large release; --keep saves that time for later questions. If the release
    was published with --taxonomy or --order, give the same here.

    \b
    Examples:
      glasshouse query out/release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 39 AND disease = 'asthma'"
      glasshouse query out/release "SELECT sex, COUNT(*), AVG(age) WHERE disease = 'influenza' GROUP BY sex" --json
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --keep out/release.population.json
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --as-of 2026
      glasshouse query out/release "SELECT COUNT(*) WHERE disease = 'asthma'" --unweighted
      glasshouse query out/release "SELECT disease, COUNT(*) AS n GROUP BY disease ORDER BY n DESC" --out answer.csv
    """
    from glasshouse.analyst.answers.query import query as ask
    from glasshouse.journeys.load import load
    from glasshouse.microdata import Taxonomy
    from glasshouse.population.learn import learn

    choices = options.chosen(given)
    if keep is not None:
        refuse_inside(release, keep, "--keep")
    form = _form(out, format_, release, force=force)
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
    answer = replace(answer, notes=tuple(map(in_options, answer.notes)))
    if out is not None:
        answer.save(out, format=form, force=force)
        with having_written(out):
            for told in answer.notes if form in ("csv", "arrow") else ():  # the others have the notes in them
                remark("note", told)
    if as_json:
        say_json(answer.to_dict())
    elif out is None and form != "text":
        for told in answer.notes if form == "csv" else ():
            remark("note", told)
        say_text(answer.to_csv() if form == "csv" else answer.to_json(), nl=False)
    elif out is None:
        say_text(answer)
    else:
        say(f"the answer is in {out}")


def _form(out: Path | None, asked: str | None, release: Path, *, force: bool) -> str:
    """How the answer is written; refuse what cannot be written, before the work."""
    if out is None:
        if asked == "arrow":
            raise InputError("--format arrow writes a file and cannot be printed: name the file with --out FILE")
        return asked or "text"
    refuse_inside(release, out, "--out")
    options.check_out(out, [release], force=force)
    form = out.suffix.removeprefix(".") if asked is None else asked
    if form not in ("text", "csv", "json", "arrow"):
        raise InputError(
            f"--out {out}: the name does not say the format of the file: give --format text, csv, json or arrow"
        )
    return form


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
        remark("note", in_options(f"the answer is complete, but no model was written to {file}: {error}"))


@click.command(short_help="Draw flat tables from a release, with one value in each cell.")
@click.argument("release", type=click.Path(path_type=Path))
@options.column_options
@options.model_option("learned", "uniform")
@click.option(
    "--attributes",
    metavar="COLUMNS",
    help=(
        "The columns of the tables, separated by commas. By default all columns, but without the sensitive ones if the "
        "release has several of them."
    ),
)
@click.option("--tables", type=click.IntRange(min=1), default=1, show_default=True, help="How many tables to draw.")
@click.option("--seed", type=int, help="The seed of random choices: the same seed draws the same tables.")
@click.option(
    "--rows", type=click.IntRange(min=0), help="How many rows each table has; by default as many as were published."
)
@options.out_option(("The folder to write the tables into. It must be outside the release folder."), required=True)
@options.choice("--format", ["csv", "parquet"], "The file format of the tables.", parameter="format_")
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.printing_options
@plainly
def sample(release: Path, out: Path, *, force: bool, as_json: bool, **given: Any) -> None:
    """Draw flat tables from a release: as many rows as people were published, with one value in every column.

    Within a group, values are given to rows at random, by a model that is learned from the release. So a row is no
    fact about a person: it has the quasi-identifiers of a real person where all cells of that person are exact, and by
    chance elsewhere. Only the release is read, so the tables reveal no more than the release does. Draw several tables
    to see how uncertain an estimate is: the more it differs from table to table, the more uncertain it is.

    \b
    Examples:
      glasshouse sample out/release --tables 5 --out flat
      glasshouse sample out/release --rows 100 --format parquet --out few --json
    """
    from glasshouse.journeys.load import load
    from glasshouse.microdata import Taxonomy
    from glasshouse.pages.report.publication import draw
    from glasshouse.randomness import Source
    from glasshouse.release.package.flat import refuse_inside, rows_told, write_flat
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
        say(f"{many} of {counted(drawn[0].num_rows, 'row')}, drawn by the model {model!r}: {names}")
        told_rows = rows_told(drawn[0])
        say("", f"{told_rows[0].upper()}{told_rows[1:]}; {out / 'README.md'} says more. ({measured})")
