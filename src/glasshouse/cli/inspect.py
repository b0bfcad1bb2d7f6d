# SPDX-License-Identifier: Apache-2.0
"""The commands `inspect`, which looks at a table, and `init`, which writes a first policy from what it found."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import in_options, plainly
from glasshouse.cli.printing import say, say_json, say_text
from glasshouse.cli.progress import progress_of_steps
from glasshouse.cli.publish import publish
from glasshouse.errors import InputError
from glasshouse.log import step

if TYPE_CHECKING:
    from glasshouse.microdata.inspection.inspection import Inspection

__all__ = ["at_terminal", "init", "inspect"]

_ANSWERS = {"q": "quasi", "s": "sensitive", "l": "leave out", "?": ""}
_QUESTION = "  q: quasi-identifier, which others may know; s: sensitive; l: leave it out; ?: not decided"

named_sensitive = click.option(
    "--sensitive",
    metavar="COLUMN",
    help="The sensitive column, if you know it; otherwise the likeliest one is taken. The largest l for it is shown.",
)


@click.command(short_help="Look at a table before you publish it: types, risks, likely roles.")
@click.argument("file", type=click.Path())
@named_sensitive
@options.selection_options
@options.source_options
@options.printing_options
@plainly
def inspect(file: str, *, as_json: bool, **given: Any) -> None:
    """Show the type and likely role of each column, and how many people have a unique combination of values.

    The largest l for which l-diversity is possible is shown too.

    The most frequent value of each column is shown, also with --json: do not let the output leave your office.

    \b
    Examples:
      glasshouse inspect patients.csv
      glasshouse inspect patients.csv --sensitive disease --json
    """
    from glasshouse.microdata.inspection.inspection import inspection_text
    from glasshouse.policy.next_steps import first_lines, first_steps

    report = _inspected(file, given)
    if not as_json:
        report = _decided(report, file, given)
    steps = first_steps(report, file=file, **_source_of(given))
    if as_json:
        say_json({**report.to_dict(), "next_steps": steps})
    else:
        say_text(inspection_text(report, said=lambda text: in_options(text, publish), reading=False))
        say(*first_lines(steps, cautions=bool(report.cautions)))


@click.command(short_help="Write a first policy for a table, which you then complete.")
@click.argument("file", type=click.Path())
@named_sensitive
@options.out_option("The file to write; - prints the policy instead.", default=Path("policy.toml"), show_default=True)
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.selection_options
@options.source_options
@options.printing_options
@plainly
def init(file: str, out: Path, *, force: bool, as_json: bool, **given: Any) -> None:
    """Write a first policy for `glasshouse publish`, with comments and with the likely roles of the columns.

    It has the names of columns, and counts in comments. It has no value of the table and no password. The policy for a
    project of ARX (.deid) has the roles that the project declares.

    \b
    Examples:
      glasshouse init patients.csv --sensitive disease
      glasshouse init patients.csv --out -
      glasshouse publish policy.toml
    """
    from glasshouse.microdata.reading.arx_project import is_arx_project
    from glasshouse.release.package.listing import write_whole

    printed = str(out) == "-"
    if not printed:
        options.check_out(out, [Path(file)], force=force)
    if is_arx_project(file):
        text, suggested = _of_project(Path(file), given)
    else:
        text, suggested = _of_table(file, Path("policy.toml") if printed else out, given)
    if printed and not as_json:
        say_text(text, nl=False)
        return
    if not printed:
        write_whole(out, text, private=False)
    if as_json:
        say_json({"policy": None if printed else str(out), "text": text, "suggested": suggested})
    else:
        say(f"{out} is a first guess. Check every line of it, then run: glasshouse publish {out}")


def _of_project(file: Path, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The policy of a project of ARX, and the roles in it."""
    from glasshouse.microdata.reading.arx_project import read_arx_project
    from glasshouse.policy.arx_policy import policy_from_arx

    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name} is only for a table, and {file} is a project of ARX, which declares the roles: leave the "
                "option out"
            )
    project = read_arx_project(file)
    return policy_from_arx(project), {"quasi": list(project.quasi), "sensitive": list(project.sensitive)}


def _of_table(file: str, policy: Path, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The policy of a table, and the roles that are guessed."""
    from glasshouse.policy import policy_from

    report = _inspected(file, given)
    return policy_from(report, file=_from_there(file, policy), **_source_of(given)), report.suggested


def _inspected(file: str, given: dict[str, Any]) -> Inspection:
    from glasshouse.microdata.inspection.inspection import inspect as inspect_source

    with progress_of_steps(), step("inspect") as note:
        report = inspect_source(file, **given)
        note(rows=report.n_tuples, columns=len(report.columns))
    return report


def at_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _decided(report: Inspection, file: str, given: dict[str, Any]) -> Inspection:
    """Ask at a terminal for the roles that nothing tells; elsewhere the report says what must be decided."""
    if not report.undecided or file == "-" or not at_terminal():
        return report
    roles = {}
    for column in report.undecided:
        say(f"{column.name}: {column.open_question}", err=True)
        answer = click.prompt(_QUESTION, type=click.Choice(list(_ANSWERS)), default="?", show_choices=False, err=True)
        if _ANSWERS[answer]:
            roles[column.name] = _ANSWERS[answer]
    return _inspected(file, {**given, "roles": roles}) if roles else report


def _source_of(given: dict[str, Any]) -> dict[str, str]:
    """What was said of the file."""
    return {name: given[name] for name in ("table", "query", "delimiter", "encoding") if given[name] is not None}


def _from_there(file: str, policy: Path) -> str:
    """The file's path as the policy must name it."""
    return file if "://" in file else os.path.relpath(Path(file).expanduser(), policy.parent)
