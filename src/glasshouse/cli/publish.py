# SPDX-License-Identifier: Apache-2.0
"""The commands `publish`, by options or by a policy, and `marginals`, which adds to what was published."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, in_options, plainly
from glasshouse.cli.printing import (
    protection,
    remark,
    say,
    say_json,
    say_points,
    say_text,
    show_file,
    show_release,
    summary,
)
from glasshouse.cli.progress import Measured, Terminal, progress_of_steps
from glasshouse.errors import InputError
from glasshouse.plural import counted
from glasshouse.policy.keys import EACH
from glasshouse.sql_names import sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from glasshouse.release import Release
    from glasshouse.streaming.publish import PublishedFile

__all__ = ["marginals", "publish"]

_BY_COLUMN = ("taxonomy", "order", "bins", "bottom", "top", *sorted(EACH))
# What says something about the method or the recoding of a policy, and nothing about another that is named instead.
_OF = {"method": ("parameters",), "recoding": ("recoding_with", "marginal", "retention", "domain")}


@click.command(
    short_help=("Publish a table: OUT/release may be published, OUT/audit must stay inside your organization.")
)
@click.argument("file", type=click.Path())
@options.reading_options
@options.principle_options
@options.perturbation_options
@options.method_options
@options.marginal_option(required=False)
@click.option(
    "--suppress",
    metavar="SHARE",
    default="0",
    show_default=True,
    help="Largest share of records that may be left out because of their values, to meet the principle.",
)
@options.choice(
    "--carry",
    ["cells", "declared"],
    (
        "How much of --taxonomy and --order the release contains: only the part that explains its published cells, or "
        "everything that was declared."
    ),
)
@options.edition_options
@options.out_option("Folder to write release/ and audit/ into.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["parquet", "csv", "xlsx", "stata"]),
    help=(
        "Format of the published tables; by default csv for a CSV file, xlsx for a workbook, otherwise parquet. xlsx "
        "and stata write copies beside the release, whose tables are then Parquet."
    ),
)
@click.option(
    "--flat/--no-flat",
    default=None,
    help=(
        "Whether to write one flat table, drawn at random from the release, into OUT/flat. A row is no fact about "
        "a person: it has the quasi-identifiers of a real person if they are published exactly, and by chance "
        "elsewhere. By default it is written if FILE is "
        "CSV or a workbook and the release has several tables."
    ),
)
@click.option("--zip", "zip", is_flag=True, help="Also write the release as one zip file: OUT/release.zip.")
@click.option("--title", metavar="TEXT", help="Title of the release.")
@click.option("--licence", metavar="NAME", help="Its terms of use: an identifier such as CC-BY-4.0, or an address.")
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@options.report_option
@options.why_option
@options.threads_option
@options.choice(
    "--engine",
    ["auto", "memory", "disk", "spark"],
    "Where the work runs: in memory if the file fits, otherwise on disk; or on a Spark cluster. The release is the "
    "same.",
)
@click.option(
    "--master",
    metavar="URL",
    help="With --engine spark: address of the cluster. The default is this machine with all its processors.",
)
@click.option(
    "--memory", type=int, metavar="MIB", help="With --engine disk: memory for buffers. The default is 256 MiB."
)
@click.option(
    "--spill",
    type=click.Path(path_type=Path),
    help=(
        "With --engine disk: folder for temporary files. They cannot be seen there, and disappear when the command "
        "ends. The default is the folder that contains OUT."
    ),
)
@click.option(
    "--partition/--no-partition",
    default=True,
    help=("Whether OUT/audit records who is in which group. Without it, no marginal tables can be added later."),
)
@options.target_options
@options.selection_options
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def publish(file: str, *, force: bool, why: bool, as_json: bool, **given: Any) -> None:
    """Publish a table under a privacy principle.

    FILE is the table, or a policy file (.toml) that names the table and all choices. Options override the policy.

    \b
    Examples:
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --out out
      glasshouse publish patients.csv --quasi age,sex --k 10 --out plain --format parquet
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --recoding anatomy \\
                 --out exact
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --recoding angel --k 10 \\
                 --marginal age,sex,zipcode,disease --marginal zipcode,disease --out several
      glasshouse publish patients.csv --quasi age,sex --sensitive disease --rho1 0.2 --rho2 0.5 --lambda 0.1 --k 6 \\
                 --domain @diseases.txt --out sampled
      glasshouse publish patients.csv --identifier patient --quasi age,sex,zipcode --sensitive disease --ell 3 \\
                 --edition 2026 --out out-2026
      glasshouse publish 2027.csv --identifier patient --quasi age,sex,zipcode --sensitive disease \\
                 --after out-2026 --edition 2027 --out out-2027
      glasshouse publish policy.toml
      glasshouse publish policy.toml --ell 4 --out stricter --log-json publish.log
    """
    from glasshouse.policy.next_steps import advising

    run = _Run(file, given, why=why, as_json=as_json)
    engine = run.work.prepare(force=force)
    if engine == "spark":
        _publish_on_spark(run, force=force)
        return
    with advising(run.work.choices, force=force):
        published = run.work.publish(engine, force=force)
    show = show_release if published.whole else show_file
    made = published.made
    notices = (*published.notices, *_notes_on(made), *run.notes_for_spreadsheets(made))
    run.tell(made, notices, lambda: show(made, rows=5), run.chosen_format)


def _publish_on_spark(run: _Run, *, force: bool) -> None:
    """Publish on a cluster."""
    from glasshouse.cli.spark import publish_on_spark
    from glasshouse.policy.next_steps import advising

    work = run.work
    with advising(work.choices, force=force):
        made = publish_on_spark(work.choices, work.out, force=force, finishing=work.reporting_on_file())
    notices = (*made.notices, *_notes_on(made))
    run.tell(made, notices, lambda: show_file(made, rows=5), run.chosen_format)


@click.command(
    short_help=(
        "Add tables of some of the columns (marginal tables) to a release that was published with --recoding angel."
    )
)
@click.argument("file", type=click.Path())
@options.reading_options
@options.marginal_option(required=True)
@options.out_option("Folder with release/ and audit/.")
@options.report_option
@options.why_option
@options.threads_option
@options.selection_options
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def marginals(file: str, *, why: bool, as_json: bool, **given: Any) -> None:
    """Add marginal tables to a release that was published with --recoding angel.

    Give FILE with the same options or the same policy as before. The new tables use the same groups of people as the
    first, which OUT/audit records, so the guarantee is for all tables together.

    \b
    Examples:
      glasshouse marginals patients.csv --quasi age,sex,zipcode --sensitive disease --marginal age,disease --out out
      glasshouse marginals policy.toml --marginal sex,disease
    """
    from glasshouse.journeys.marginals import publish_marginals

    run = _Run(file, given, why=why, as_json=as_json)
    if run.work.choices["repeated"] == "sample":
        raise InputError(
            "marginal tables cannot be added with --repeated sample, because other rows would be drawn now than were "
            "published: give --marginal when you publish"
        )
    with progress_of_steps():
        table = run.work.read()
        lists = [options.names(text) for text in given["marginal"]]
        threads, finishing = run.work.choices["threads"], run.work.reporting_on(table)
        release = publish_marginals(run.work.out, table, marginals=lists, threads=threads, finishing=finishing)
    run.tell(release, run.notes_on_flat(), lambda: show_release(release, rows=5))


def _choices(file: str, given: dict[str, Any]) -> dict[str, Any]:
    """The choices: those of the options, and otherwise those of the policy, if the file is one."""
    from glasshouse.policy.document import SUFFIXES

    no_report = given.pop("no_report")
    defaults = {**options.chosen(given), **({"report": "none"} if no_report else {}), "file": file}
    if not file.endswith(SUFFIXES):
        return defaults
    from glasshouse.policy import load_policy

    context = click.get_current_context()
    told = {name for name in given if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    told |= {"report"} if no_report else set()
    policy = load_policy(file)
    decided = dict(policy.choices) | {"file": policy.source}
    for name, belonging in _OF.items():
        if name in told:
            decided = {key: value for key, value in decided.items() if key not in belonging}
    explicit = {name: value for name, value in defaults.items() if name in told}
    for name in _BY_COLUMN:
        if isinstance(explicit.get(name), dict) and isinstance(decided.get(name), dict):
            explicit[name] = {**decided[name], **explicit[name]}
    return {**defaults, **decided, **explicit}


class _Run:
    """One publication, and what is said of it at the end."""

    def __init__(self, file: str, given: dict[str, Any], *, why: bool, as_json: bool) -> None:
        from glasshouse.pages.report.publication import Publication

        self._measured = Measured()
        self._why, self._as_json = why, as_json
        self.work = Publication(_choices(file, given), watch=Terminal())

    def notes_on_flat(self) -> list[str]:
        """What to say of a flat table beside a release that got more tables."""
        from glasshouse.release.package.flat import FLAT
        from glasshouse.release.package.listing import release_named_by

        place = self.work.out / FLAT
        if release_named_by(place) is None:
            return []
        return [f"{place} was drawn before these tables were added; glasshouse sample draws a new one from all of them"]

    def notes_for_spreadsheets(self, made: Release | PublishedFile) -> list[str]:
        """A note on a release of several CSV tables without a flat table beside them."""
        from glasshouse.policy.table_format import draws_flat
        from glasshouse.release.package.flat import flat_note

        n_tables = len(getattr(made, "packaged", getattr(made, "n_rows", ())))
        choices = self.work.choices
        wanted = choices.get("format_") == "csv" and choices.get("flat") is None and not draws_flat(choices)
        return [flat_note(self.work.out, n_tables, made.recipe)] if wanted and n_tables > 1 else []

    @property
    def chosen_format(self) -> str:
        """A sentence on the format of the tables, if nobody chose it; else nothing."""
        from glasshouse.policy.table_format import format_of

        choices, format = self.work.choices, format_of(self.work.choices)
        if choices.get("format_") is not None:
            return ""
        if format == "parquet":
            return " Its tables are Parquet files; --format csv writes CSV files instead."
        read = Path(choices["file"]).name
        if format == "csv":
            return f" Its tables are CSV files, like {read}; --format parquet writes Parquet files instead."
        copy = self.work.out / "xlsx" / "tables.xlsx"
        return f" {copy} has its tables in a workbook, like {read}; --format chooses another format."

    def tell(
        self, made: Release | PublishedFile, notices: Iterable[str], show: Callable[[], None], format: str = ""
    ) -> None:
        """Say what was written, and in which format; what it protects, what it does not, and what to do next."""
        out, flat, page = self.work.out, self.work.flat, self.work.page
        from glasshouse.release.copies.copy_folder import COPIES

        with having_written(out):
            if self._as_json:
                drawn = {} if flat is None else {"flat": str(flat)}
                drawn |= {"zip": str(out / "release.zip")} if self.work.choices["zip"] else {}
                say_json({**summary(made, out), **drawn, "report": page, **self._measured.to_dict()})
                return
            for notice in notices:
                remark("note", in_options(notice))
            show()
            beside = "" if flat is None else f" {flat} may be published too."
            if self.work.choices.get("format_") in COPIES:
                copies = out / self.work.choices["format_"]
                beside += f" {copies} has the same tables, and may be published too."
            if self.work.choices["zip"]:
                beside += f" {out / 'release.zip'} is the same release in one file."
            written = (
                f"{out / 'release'} may be published.{format}{beside} {out / 'audit'} must stay inside your "
                f"organization. ({self._measured})"
            )
            words = self.work.flat_words
            drawn_table = [] if words is None else [("Flat table", words)]
            points = [("Written", written), *drawn_table, *protection(made), ("Next", _next(made, out / "release"))]
            say_points(points)
            if self._why:
                say()
                say_text(made.guarantee)


def _notes_on(made: Release | PublishedFile) -> list[str]:
    """What the published tables themselves give reason to say."""
    return [*_notes_on_one_group(made), *_notes_on_taxonomies(made)]


_LOOSER = {
    **dict.fromkeys(("ell", "distinct_ell", "entropy_ell", "recursive", "designated_ell"), "a smaller l"),
    "alpha": "a larger alpha",
    "t": "a larger t",
}
"""How less is asked for, by what is asked for."""


def _notes_on_one_group(made: Release | PublishedFile) -> list[str]:
    """A note on a release of so many people in one group that there could be more."""
    from glasshouse import catalog

    if getattr(made, "editions", ()) or not _is_one_group(made):
        return []
    asked = catalog.principle_of(made.recipe)
    singles = [one for own in (asked.values() if isinstance(asked, dict) else [asked]) for one in own.singles()]
    if made.n_tuples < 2 * max(1, *(one.terms.smallest_group for one in singles)):
        return []
    everybody = f"all {counted(made.n_tuples, 'person')} are one group"
    if not made.recipe.sensitive:
        return [f"{everybody}: ask for less, such as a smaller k, or publish fewer quasi-identifiers"]
    words = {word for one in singles for word in one.terms.asked or {}}
    less = " or ".join(dict.fromkeys(looser for word, looser in _LOOSER.items() if word in words))
    if "t" in words:
        why = f"that the values of every group must be nearly those of the whole table: ask for less, such as {less}"
    else:
        why = (
            "a value that is nearly as frequent as a group may have it: ask for less"
            f"{f', such as {less}' if less else ''}, or publish without the column of this value"
        )
    return [
        f"{everybody}, so the release shows how often each value of {' and of '.join(made.recipe.sensitive)} occurs, "
        f"but not which quasi-identifiers go with it. Usually the reason is {why}"
    ]


def _is_one_group(made: Release | PublishedFile) -> bool:
    """Whether everybody is in the same group."""
    from glasshouse.release import Release

    if not isinstance(made, Release):
        return made.n_groups == 1
    number = made.layout.number
    if number is None:
        return made.layout.size is None and all(len(made.data[name].unique()) == 1 for name in made.recipe.quasi)
    return all(len(table[number].unique()) == 1 for table in made.tables.values() if number in table.column_names)


def _notes_on_taxonomies(made: Release | PublishedFile) -> list[str]:
    """A note on columns about which nobody can ask without a taxonomy that is not in the release."""
    from glasshouse.declarations import Declared

    kinds = {column.name: column.kind for column in made.columns}
    nodes = Declared.told_by(made.columns).nodes
    names = [name for name, told in nodes.items() if told.unexplained(kinds[name])]
    if not names:
        return []
    return [
        f"the release shows nodes of the taxonomy of {' and of '.join(names)}, but does not contain the taxonomy: "
        "without it, analysts cannot ask about most values of this column. --carry declared publishes the whole "
        "taxonomy, which is only right if it existed before the data"
    ]


def _next(made: Release | PublishedFile, folder: Path) -> list[str]:
    """Commands to copy, one a line: how to check a release, how to ask it, and where its guarantee stands."""
    place, question = shlex.quote(str(folder)), "SELECT COUNT(*)"
    if made.recipe.sensitive:
        name = made.recipe.sensitive[0]
        column = sql_name(name)
        question = f"SELECT {column}, COUNT(*) GROUP BY {column}"
    return [
        f"glasshouse verify {place}",
        f"glasshouse query {place} {shlex.quote(question)}",
        f"glasshouse show {place} --why",
    ]
