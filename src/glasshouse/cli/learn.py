# SPDX-License-Identifier: Apache-2.0
"""The command `learn`: what a release teaches about the population, in sentences, and kept in a file on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, plainly
from glasshouse.cli.printing import say, say_json
from glasshouse.cli.progress import progress_bar, progress_of_steps
from glasshouse.errors import OutputError
from glasshouse.log import step

if TYPE_CHECKING:
    from glasshouse.population.population import Population

__all__ = ["learn", "refuse_inside"]


@click.command(short_help="What a release teaches about the population.")
@click.argument("release", type=click.Path(path_type=Path))
@options.column_options
@click.option("--column", metavar="COLUMN", help="The sensitive column, where the release has several.")
@options.out_option("File for what was learned (JSON), for query --keep.")
@click.option("--force", is_flag=True, help="Replace what stands there.")
@options.printing_options
@plainly
def learn(release: Path, column: str | None, out: Path | None, *, force: bool, as_json: bool, **given: Any) -> None:
    """Learn from a release alone how the sensitive value depends on quasi-identifiers.

    That is what query answers by. It says whether there was anything to learn, and which quasi-identifiers tell most.
    With --out it is kept, so that query --keep need not learn it again. --taxonomy and --order say what the cells of a
    release mean that was published with them.

    \b
    Examples:
      glasshouse learn out/release
      glasshouse learn out/release --out out/release.population.json
    """
    from glasshouse.journeys.load import load
    from glasshouse.microdata import Taxonomy
    from glasshouse.population.learn import learn as learn_from

    if out is not None:
        refuse_inside(release, out, "--out")
        options.check_out(out, [release], force=force)
    choices = options.chosen(given)
    with progress_of_steps(), step("load") as note:
        loaded = load(release)
        note(rows=loaded.n_tuples, tables=len(loaded.tables))
    with progress_bar(unit="%") as tell, step("learn", rows=loaded.n_tuples):
        population = learn_from(
            loaded,
            column,
            taxonomies={name: Taxonomy.of(text) for name, text in choices.get("taxonomy", {}).items()},
            ordered=choices.get("order", {}),
            report=lambda part: tell("learning", int(100 * part), 100),
        )
    if out is None:
        _tell(population, as_json=as_json)
        return
    population.save(out)
    with having_written(out):
        _tell(population, as_json=as_json)
        if not as_json:
            say("", f"It is kept in {out}: glasshouse query {release} SQL --keep {out}")


def refuse_inside(release: Path, file: Path, option: str) -> None:
    """Refuse to write into a release folder, which holds what is published and nothing else."""
    if release.resolve() in file.resolve().parents:
        raise OutputError(
            f"{option} {file} would lie in the release, which holds what is published and nothing else: name a file "
            "beside it",
            path=file,
        )


def _tell(population: Population, *, as_json: bool) -> None:
    if as_json:
        say_json(_data(population))
    else:
        say(*_sentences(population))


def _data(population: Population) -> dict[str, Any]:
    return {
        "column": population.column or None,
        "quasi": list(population.points.names),
        "model": population.model,
        "gain": population.fitted.gain,
        "z": population.fitted.z,
        "influences": [
            {"name": own.name, "factor": own.factor, "determined": own.determined} for own in population.influences()
        ],
    }


def _sentences(population: Population) -> list[str]:
    names, z = ", ".join(population.points.names), population.fitted.z
    if not population.column:
        return [
            f"The release has no sensitive column. From its cells it was learned how {names} are distributed inside "
            "them, and questions are answered by that."
        ]
    found = [f"What the release teaches of {population.column} by {names}:", ""]
    if not population.fitted.is_used:
        found += [
            "Too little to be used. A model was fitted to four fifths of the groups, and it must fit the other fifth "
            f"better than base rates do, by two standard errors at least: it is {_standard_errors(z)}.",
            f"So {population.column} is taken as unrelated to {names} within every group.",
        ]
        if population.model == "cells":
            found.append("How people are distributed inside published cells was learned, and is used.")
        return found
    found += [
        "A model was learned. It was fitted to four fifths of the groups, and fits the other fifth better than base "
        f"rates do: by {z:.1f} standard errors, where two are needed.",
        f"How much each quasi-identifier tells of {population.column}, by itself and together with others:",
    ]
    for own in population.influences():
        found.append(
            f"  {own.name} changes the chance of a value by a factor of {own.factor:.2f} for a typical person; the "
            f"release determines {own.determined:,.0f} of its weights."
        )
    return found


def _standard_errors(z: float) -> str:
    return f"{z:.1f} standard errors better" if z >= 0 else f"{-z:.1f} standard errors worse"
