# SPDX-License-Identifier: Apache-2.0
"""The command `learn`: what a release says about the population, in sentences, and in a file if asked for."""

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


@click.command(short_help="Learn from a release how the sensitive value depends on other columns.")
@click.argument("release", type=click.Path(path_type=Path))
@options.column_options
@click.option("--column", metavar="COLUMN", help="The sensitive column, if the release has several.")
@options.out_option("A file for what was learned (JSON), which query --keep then uses.")
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.printing_options
@plainly
def learn(release: Path, column: str | None, out: Path | None, *, force: bool, as_json: bool, **given: Any) -> None:
    """Learn from a release alone how the sensitive value depends on the quasi-identifiers.

    The command query answers questions with the same model. This command shows whether the sensitive value depends on
    the quasi-identifiers, and on which of them most. --out writes the model to a file, so that query --keep does not
    have to learn it again. If the release was published with --taxonomy or --order, give the same here.

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
            say("", f"The model is in {out}. To use it: glasshouse query {release} SQL --keep {out}")


def refuse_inside(release: Path, file: Path, option: str) -> None:
    """Refuse to write into a release folder, which contains only what is published."""
    if release.resolve() in file.resolve().parents:
        raise OutputError(
            f"{option} {file} lies in the release folder, which must contain only what is published: name a file "
            "outside it",
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
            f"The release has no sensitive column. Only the distribution of {names} inside the published cells was "
            "learned. It is used to answer questions."
        ]
    found = [f"What the release says about {population.column} by {names}:", ""]
    if not population.fitted.is_used:
        found += [
            (
                f"No model of {population.column} is used. A model was fitted to four fifths of the groups. It must "
                "predict the other fifth better than the overall shares do, by at least 2 standard errors. It is "
                f"{population.fitted.standard_errors}."
            ),
            f"So answers assume that {population.column} does not depend on {names} within a group.",
        ]
        if population.model == "cells":
            found.append("Only the distribution of people inside the published cells was learned, and is used.")
        return found
    found += [
        "A model was learned, and is used. It was fitted to four fifths of the groups. It predicts the other fifth "
        f"better than the overall shares do, by {z:.1f} standard errors; at least 2 are required.",
        f"How strongly {population.column} depends on each quasi-identifier, alone and in combination with others:",
    ]
    for own in population.influences():
        found.append(
            f"  {own.name} changes the probability of a value by a factor of {own.factor:.2f} for a typical person. "
            f"The release determines about {own.determined:,.0f} of the numbers (weights) that the model has for "
            "it; the others stay near 0, which means no influence."
        )
    return found
