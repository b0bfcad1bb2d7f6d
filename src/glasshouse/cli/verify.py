# SPDX-License-Identifier: Apache-2.0
"""The commands `verify`, which recounts a release or any tool's table, and `show`, which tells what a release is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import NOT_MET, plainly
from glasshouse.cli.printing import say, say_json, say_text, show_release, summary
from glasshouse.cli.progress import progress_of_steps
from glasshouse.errors import InputError
from glasshouse.log import step
from glasshouse.policy.choices import option

__all__ = ["show", "verify"]


@click.command(short_help="Whether a release keeps its promise; what any tool's table achieves.")
@click.argument("path", metavar="RELEASE|FILE", type=click.Path())
@options.quasi_option
@options.sensitive_option
@options.column_options
@click.option("--k", type=int, metavar="K", help="Exit with 1 unless every group has at least K rows.")
@click.option("--ell", type=int, metavar="L", help="Exit with 1 unless l-diversity holds.")
@click.option("--t", metavar="T", help="Exit with 1 unless t-closeness holds.")
@click.option("--population", type=int, metavar="N", help="Size of the population, for journalist risk.")
@options.source_options
@options.printing_options
@plainly
def verify(path: str, *, as_json: bool, **given: Any) -> int:
    """Recount what a table achieves, from the published tables alone, by an implementation of its own.

    RELEASE is a release folder, or the folder that it was published into: it is held to what it promises. A large one
    is read batch after batch, and never lies in memory as a whole. FILE is a table that any tool wrote: --quasi and
    --sensitive name its columns, and --k, --ell and --t what is asked of it. The exit code is 1 if it does not hold.

    \b
    Examples:
      glasshouse verify out/release
      glasshouse verify any_tool_output.csv --quasi age,sex,zipcode --sensitive disease --k 5 --ell 3
    """
    from glasshouse.journeys.verify import release_in, verify_folder
    from glasshouse.journeys.verify import verify as recount

    promised = None
    with progress_of_steps(), step("recount") as note:
        if Path(path).is_dir():
            for name, value in given.items():
                if value not in (None, ()):
                    raise InputError(f"{option(name)} is for a table: a release is held to what it promises itself")
            result, promised = verify_folder(release_in(Path(path)))
        else:
            result = recount(path, **_of_table(path, given))
        note(rows=result.n_tuples, groups=result.n_groups)
    if as_json:
        say_json({**result.to_dict(), **({} if promised is None else {"guarantee": promised.to_data()})})
    else:
        say_text(result)
        if promised is not None:
            say("", "what its recipe promises")
            say_text(promised)
    return NOT_MET if result.holds is False else 0


def _of_table(path: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the options say of a table."""
    from glasshouse.microdata import Taxonomy

    choices = options.chosen(given)
    if not choices.get("quasi") and ("://" in path or Path(path).exists()):
        raise InputError("name the columns that others may know: --quasi COLUMNS")
    taxonomies = {name: Taxonomy.of(text) for name, text in choices.pop("taxonomy", {}).items()}
    return {**choices, "taxonomies": taxonomies, "ordered": choices.pop("order", {})}


@click.command(short_help="What a release folder holds and promises.")
@click.argument("release", type=click.Path(path_type=Path))
@options.rows_option("How many rows to show.", 10)
@options.printing_options
@plainly
def show(release: Path, rows: int, *, as_json: bool) -> None:
    """Show a release: what it promises, and some of its rows.

    \b
    Examples:
      glasshouse show out/release
      glasshouse show out/release --json
    """
    from glasshouse.journeys.load import load

    with step("load") as note:
        loaded = load(release)
        note(rows=loaded.n_tuples, tables=len(loaded.tables))
    if as_json:
        say_json(summary(loaded))
    else:
        show_release(loaded, rows=rows)
