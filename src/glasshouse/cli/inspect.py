# SPDX-License-Identifier: Apache-2.0
"""The commands `inspect`, which looks at a table, and `init`, which writes a first policy from what it found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import plainly
from glasshouse.cli.printing import say, say_json, say_text
from glasshouse.cli.progress import progress_of_steps
from glasshouse.log import step

if TYPE_CHECKING:
    from glasshouse.microdata.inspection.inspection import Inspection

__all__ = ["init", "inspect"]

named_sensitive = click.option("--sensitive", metavar="COLUMN", help="Sensitive column, for the largest feasible l.")


@click.command(short_help="What a file holds: types, risks, likely roles.")
@click.argument("file", type=click.Path())
@named_sensitive
@options.selection_options
@options.source_options
@options.printing_options
@plainly
def inspect(file: str, *, as_json: bool, **given: Any) -> None:
    """Show types, distinct values, how identifying columns are, likely roles, and the largest feasible l.

    It shows the most frequent value of each column, also with --json: what it prints must stay inside.

    \b
    Examples:
      glasshouse inspect patients.csv
      glasshouse inspect patients.csv --sensitive disease --json
    """
    report = _inspected(file, given)
    if as_json:
        say_json(report.to_dict())
    else:
        say_text(report)


@click.command(short_help="Write a first policy for a file, to be decided on.")
@click.argument("file", type=click.Path())
@named_sensitive
@options.out_option("File to write; - prints it.", default=Path("policy.toml"), show_default=True)
@click.option("--force", is_flag=True, help="Replace what stands there.")
@options.selection_options
@options.source_options
@options.printing_options
@plainly
def init(file: str, out: Path, *, force: bool, as_json: bool, **given: Any) -> None:
    """Write a commented policy, with guessed roles, for `glasshouse publish`.

    It holds names of columns, and counts in comments; no value of the table, and no password.

    \b
    Examples:
      glasshouse init patients.csv --sensitive disease
      glasshouse init patients.csv --out -
      glasshouse publish policy.toml
    """
    from glasshouse.policy import policy_from
    from glasshouse.release.package.listing import write_whole

    printed = str(out) == "-"
    if not printed:
        options.check_out(out, [Path(file)], force=force)
    report = _inspected(file, given)
    source = {name: given[name] for name in ("table", "query", "delimiter", "encoding") if given[name] is not None}
    text = policy_from(report, file=_from_there(file, Path("policy.toml") if printed else out), **source)
    if printed and not as_json:
        say_text(text, nl=False)
        return
    if not printed:
        write_whole(out, text, private=False)
    if as_json:
        say_json({"policy": None if printed else str(out), "text": text, "suggested": report.suggested})
    else:
        say(f"{out} is a first guess. Decide on every line of it, then: glasshouse publish {out}")


def _inspected(file: str, given: dict[str, Any]) -> Inspection:
    from glasshouse.microdata.inspection.inspection import inspect as inspect_source

    with progress_of_steps(), step("inspect") as note:
        report = inspect_source(file, **given)
        note(rows=report.n_tuples, columns=len(report.columns))
    return report


def _from_there(file: str, policy: Path) -> str:
    """The file's path as the policy must name it."""
    return file if "://" in file else os.path.relpath(Path(file).expanduser(), policy.parent)
