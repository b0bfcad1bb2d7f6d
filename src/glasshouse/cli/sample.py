# SPDX-License-Identifier: Apache-2.0
"""The command `sample`: flat tables drawn from a release, for tools that know nothing of cells and groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, plainly
from glasshouse.cli.printing import remark, say, say_json
from glasshouse.cli.progress import Measured, progress_bar
from glasshouse.log import step

if TYPE_CHECKING:
    import pyarrow as pa

    from glasshouse.release import Release

__all__ = ["draw", "sample"]


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
        tables=given["tables"],
        model=given["model"],
        attributes=options.names(given["attributes"]) or None,
        taxonomies={name: Taxonomy.from_file(file) for name, file in choices.get("taxonomy", {}).items()},
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


def draw(
    release: Release, n: int | None = None, source: Any = None, *, tables: int = 1, **given: Any
) -> list[pa.Table]:
    """Draw tables; show how far the learning is, and what must be said of them."""
    from glasshouse.analyst.answers.sample import sample as sampled

    with progress_bar(unit="%") as tell, step("draw", rows=release.n_tuples, tables=tables):
        drawn = sampled(
            release, n, source, tables=tables, report=lambda share: tell("learning", int(100 * share), 100), **given
        )
    notes = drawn[0].schema.metadata.get(b"glasshouse.notes")
    if notes is not None:
        remark("note", notes.decode())
    return drawn
