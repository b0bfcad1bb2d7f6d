# SPDX-License-Identifier: Apache-2.0
"""The command `query`: a question in SQL about the population, answered from a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.plainly import plainly

if TYPE_CHECKING:
    from glasshouse.microdata import Taxonomy

__all__ = ["query"]


@click.command(short_help="What a release says about the population, with error bars.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("sql")
@click.option("--taxonomy", multiple=True, metavar="COLUMN=FILE", help="Taxonomy whose nodes are published.")
@click.option("--order", multiple=True, metavar="COLUMN=A,B,C", help="Order of categories published as intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plainly
def query(folder: Path, sql: str, *, as_json: bool, **given: Any) -> None:
    """Ask a release a question: COUNT(*), SUM and AVG, with WHERE and GROUP BY.

    Every estimate comes with the half width of its 95 % interval.

    \b
    Examples:
      glasshouse query out/release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 39 AND disease = 'asthma'"
      glasshouse query out/release "SELECT sex, COUNT(*), AVG(age) WHERE disease = 'flu' GROUP BY sex" --json
    """
    from glasshouse.analyst.query import query as ask
    from glasshouse.release import load

    answer = ask(
        load(folder),
        sql,
        taxonomies=_taxonomies(given["taxonomy"]),
        ordered={name: options.names(text) for name, text in options.pairs("--order", given["order"]).items()},
    )
    click.echo(json.dumps(answer.to_dict(), indent=2, ensure_ascii=False) if as_json else str(answer))


def _taxonomies(texts: tuple[str, ...]) -> dict[str, Taxonomy]:
    from glasshouse.microdata import Taxonomy

    return {name: Taxonomy.from_file(path) for name, path in options.pairs("--taxonomy", texts).items()}
