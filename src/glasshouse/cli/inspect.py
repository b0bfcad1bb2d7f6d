# SPDX-License-Identifier: Apache-2.0
"""The commands that come before publishing: `inspect`, `init` and `taxonomy`.

`inspect` looks at a table, `init` writes a first policy from what it found, and `taxonomy` writes the taxonomy of a
column as a hierarchy file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from glasshouse.cli import options
from glasshouse.cli.exits import in_options, plainly
from glasshouse.cli.printing import remark, say, say_json, say_text
from glasshouse.cli.progress import progress_of_steps
from glasshouse.cli.publish import publish
from glasshouse.errors import InputError, OutputError, SchemaError
from glasshouse.log import step
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.microdata.inspection.inspection import Inspection

__all__ = ["at_terminal", "init", "inspect", "taxonomy"]

_ANSWERS = {"q": "quasi", "s": "sensitive", "l": "leave out", "?": ""}
_SEPARATORS = {";": ";", ",": ",", "tab": "\t"}
_QUESTION = "  q: quasi-identifier, which others may know; s: sensitive; l: leave it out; ?: not decided"

named_sensitive = click.option(
    "--sensitive",
    metavar="COLUMN",
    help="The sensitive column, if you know it; otherwise the likeliest one is taken. The largest l for it is shown.",
)

found_decimal = click.option(
    "--decimal", help="The decimal sign of a CSV file: a point or a comma; detected automatically if it is not given."
)


@click.command(short_help="Look at a table before you publish it: types, risks, likely roles.")
@click.argument("file", type=click.Path())
@named_sensitive
@options.selection_options
@options.source_options
@found_decimal
@options.printing_options
@plainly
def inspect(file: str, *, as_json: bool, **given: Any) -> None:
    """Show the type and likely role of each column, and how many people have a unique combination of values.

    The largest l for which l-diversity is possible is shown too.

    The most frequent value of each column is shown, also with --json: the output must stay inside your organization.

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
    steps = first_steps(report, file=file, **_source_of(given, report))
    if as_json:
        say_json({**report.to_dict(), "next_steps": steps})
    else:
        say_text(inspection_text(report, said=lambda text: in_options(text, publish), reading=False))
        say(*first_lines(steps, cautions=bool(report.open_cautions)))


@click.command(short_help="Write a first policy for a table, which you then complete.")
@click.argument("file", type=click.Path())
@named_sensitive
@options.out_option("The file to write; - prints the policy instead.", default=Path("policy.toml"), show_default=True)
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.selection_options
@options.source_options
@found_decimal
@options.printing_options
@plainly
def init(file: str, out: Path, *, force: bool, as_json: bool, **given: Any) -> None:
    """Write a first policy for `glasshouse publish`, with comments and with the likely roles of the columns.

    It has the names of columns, and counts in comments. It has no value of the table and no password. The policy for a
    project of ARX (.deid) has the roles that the project declares. The hierarchies of the project become taxonomies, as
    files in a folder beside the policy: policy-taxonomies for policy.toml. They list values of the table.

    \b
    Examples:
      glasshouse init patients.csv --sensitive disease
      glasshouse init patients.csv --out -
      glasshouse publish policy.toml
    """
    from glasshouse.microdata.reading.arx_project import is_arx_project
    from glasshouse.release.package.listing import write_whole

    place = None if str(out) == "-" else out
    if place is not None:
        options.check_out(place, [Path(file)], force=force)
    drafted = _of_project(Path(file), place, given) if is_arx_project(file) else _of_table(file, place, given)
    for path in drafted.taxonomies:
        options.check_out(path, [Path(file)], force=force)
    for note in drafted.notes:
        remark("note", note)
    if place is None and not as_json:
        say_text(drafted.text, nl=False)
        return
    if place is not None:
        _write_taxonomies(drafted.taxonomies)
        write_whole(place, drafted.text, private=False)
    if as_json:
        told = {"policy": place and str(place), "text": drafted.text, "suggested": drafted.suggested}
        say_json({**told, "taxonomies": [str(path) for path in drafted.taxonomies]})
        return
    if drafted.taxonomies:
        folder = next(iter(drafted.taxonomies)).parent
        say(f"{folder} has the hierarchies of the project, which the policy names. They list values of the table.")
    say(f"{out} is a first guess. Check every line of it, then run: glasshouse publish {out}")


@click.command(short_help="Write the taxonomy of a column as a hierarchy file of ARX.")
@click.argument("file", type=click.Path())
@click.argument("column", metavar="COLUMN=TAXONOMY")
@options.out_option("The file to write; without it the hierarchy is printed.")
@options.choice("--separator", list(_SEPARATORS), "What stands between the labels of a row in the hierarchy.")
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.selection_options
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def taxonomy(
    file: str, column: str, out: Path | None, separator: str, *, force: bool, as_json: bool, **given: Any
) -> None:
    """Write the taxonomy of a column as a hierarchy file: a row for each value, the value first, the root last.

    TAXONOMY is a file or a rule, as for `publish --taxonomy`: prefix:5, intervals:10, dates:month,year, quantiles:4. A
    rule is applied to the values of the column. A taxonomy in a file is written whole, and must have every value of the
    column. ARX imports such files, and so does --taxonomy.

    The hierarchy lists the values of the column: it must stay inside your organization.

    \b
    Examples:
      glasshouse taxonomy patients.csv zipcode=prefix:5
      glasshouse taxonomy patients.csv age=intervals:10 --out age.csv
      glasshouse taxonomy patients.csv admitted=dates:month --separator , --out admitted.csv
    """
    from glasshouse.microdata.reading.sources import open_source
    from glasshouse.microdata.taxonomy.hierarchy_file import hierarchy_rows
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.policy.choices import taxonomy as taxonomy_of
    from glasshouse.policy.option_text import pairs
    from glasshouse.release.package.listing import write_whole

    [(name, text)] = pairs("the second argument", (column,)).items()
    meant = taxonomy_of(text, "the second argument")
    if out is not None:
        options.check_out(out, [Path(file), Path(text)], force=force)
    elif separator == "tab" and not as_json:
        raise InputError("--separator tab writes a file and cannot be printed: name the file with --out FILE")
    with progress_of_steps(), step("read") as note:
        opened = open_source(file, columns=[name], **given)
        if name not in opened.columns:
            raise SchemaError.unknown(name, list(opened.columns), role="a column of the table")
        values = opened.table.column(name)
        hierarchy = Taxonomy.of(meant).to_csv(values, name=name, delimiter=_SEPARATORS[separator])
        note(rows=len(values), columns=1)
    if out is None and not as_json and hierarchy.count("\n") > len(hierarchy_rows(hierarchy, _SEPARATORS[separator])):
        raise InputError("a label has a line end and cannot be printed: name the file with --out FILE")
    if out is not None:
        write_whole(out, hierarchy, private=True)
    if as_json:
        say_json({"column": name, "out": None if out is None else str(out), "text": hierarchy})
    elif out is None:
        say_text(hierarchy, nl=False)
        if visible(hierarchy, lines=True) != hierarchy:
            remark("note", "characters that cannot be seen are shown as escapes; --out FILE writes them as they are")
    else:
        say(
            f"{out} has the hierarchy of {name}. It lists the values of the column: it must stay inside your "
            "organization."
        )


class _Draft(NamedTuple):
    """A first policy: its text, the roles in it, and what files of taxonomies and notes belong to it."""

    text: str
    suggested: dict[str, Any]
    taxonomies: Mapping[Path, str] = MappingProxyType({})
    notes: tuple[str, ...] = ()


def _of_project(file: Path, place: Path | None, given: dict[str, Any]) -> _Draft:
    """The policy of an ARX project, with the project's roles and hierarchies."""
    from glasshouse.microdata.reading.arx_project import read_arx_project
    from glasshouse.policy.arx_policy import policy_from_arx, taxonomy_files

    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name} is only for a table, and {file} is a project of ARX, which declares the roles: leave the "
                "option out"
            )
    project = read_arx_project(file)
    files = {} if place is None else taxonomy_files(project, f"{place.stem}-taxonomies")
    texts = {one.column: one.taxonomy.to_csv() for one in project.hierarchies if one.taxonomy is not None}
    return _Draft(
        policy_from_arx(project, files),
        {"quasi": list(project.quasi), "sensitive": list(project.sensitive)},
        {} if place is None else {place.parent / own: texts[column] for column, own in files.items()},
        tuple(
            f"the hierarchy of {one.column}{' is not used' if one.taxonomy is None else ''}: {note}"
            for one in project.hierarchies
            for note in one.notes
        ),
    )


def _write_taxonomies(texts: Mapping[Path, str]) -> None:
    """Write the files of taxonomies into their folder, readable by their owner only."""
    from glasshouse.release.package.listing import write_whole

    for path, text in texts.items():
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {path.parent}: {error.strerror}", path=path.parent) from None
        write_whole(path, text, private=True)


def _of_table(file: str, place: Path | None, given: dict[str, Any]) -> _Draft:
    """The policy of a table, with guessed roles."""
    from glasshouse.policy import policy_from

    report = _inspected(file, given)
    near = _from_there(file, Path("policy.toml") if place is None else place)
    return _Draft(policy_from(report, file=near, **_source_of(given, report)), report.suggested)


def _inspected(file: str, given: dict[str, Any]) -> Inspection:
    from glasshouse.microdata.inspection.inspection import inspect as inspect_source

    with progress_of_steps(), step("inspect") as note:
        report = inspect_source(file, **given)
        note(rows=report.n_tuples, columns=len(report.columns))
    return report


def at_terminal() -> bool:
    """Whether a person is at the terminal to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _decided(report: Inspection, file: str, given: dict[str, Any]) -> Inspection:
    """Ask at a terminal for roles that cannot be guessed; elsewhere the report says what must be decided."""
    if not report.undecided or file == "-" or not at_terminal():
        return report
    roles = {}
    for column in report.undecided:
        say(f"{column.name}: {column.open_question}", err=True)
        answer = click.prompt(_QUESTION, type=click.Choice(list(_ANSWERS)), default="?", show_choices=False, err=True)
        if _ANSWERS[answer]:
            roles[column.name] = _ANSWERS[answer]
    return _inspected(file, {**given, "roles": roles}) if roles else report


def _source_of(given: dict[str, Any], report: Inspection) -> dict[str, str]:
    """The options that were given for the file, and the decimal sign that was found in it."""
    said = {name: given[name] for name in ("table", "query", "delimiter", "encoding") if given[name] is not None}
    return said if report.decimal == "." else {**said, "decimal": report.decimal}


def _from_there(file: str, policy: Path) -> str:
    """The file's path relative to the place of the policy."""
    return file if "://" in file else os.path.relpath(Path(file).expanduser(), policy.parent)
