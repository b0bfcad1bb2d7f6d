# SPDX-License-Identifier: Apache-2.0
"""The commands `publish`, by options or by a policy, and `marginals`, which adds to what was published."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, plainly
from glasshouse.cli.printing import remark, say, say_json, say_text, show_release, summary
from glasshouse.cli.progress import Measured, progress_bar, progress_of_steps
from glasshouse.errors import GlasshouseError, InputError, OutputError
from glasshouse.log import step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from glasshouse.microdata import Microdata
    from glasshouse.pages.report import Report
    from glasshouse.release import Release
    from glasshouse.streaming.publish import PublishedFile

__all__ = ["marginals", "publish"]

_BY_COLUMN = ("taxonomy", "order", "bins", "bottom", "top")
# What says something about the method or the recoding of a policy, and nothing about another that is named instead.
_OF = {"method": ("parameters",), "recoding": ("recoding_with", "marginal", "retention", "domain")}


@click.command(short_help="Publish a table: OUT/release may go out, OUT/audit stays inside.")
@click.argument("file", type=click.Path())
@options.reading_options
@options.principle_options
@options.perturbation_options
@options.method_options
@options.marginal_option(required=False)
@click.option("--suppress", metavar="SHARE", default="0", show_default=True, help="Largest share of tuples to drop.")
@options.choice(
    "--carry",
    ["cells", "declared"],
    "Of --taxonomy and --order, tell which published nodes lie within which, or all that was declared.",
)
@options.out_option("Folder to write release/ and audit/ into.")
@options.choice("--format", ["parquet", "csv"], "Format of the published tables.", parameter="format_")
@click.option("--flat", is_flag=True, help="Also draw a flat table from the release, into OUT/flat: no row a person.")
@click.option("--title", metavar="TEXT", help="What the release is called.")
@click.option("--licence", metavar="NAME", help="Its terms of use: an identifier such as CC-BY-4.0, or an address.")
@click.option("--force", is_flag=True, help="Replace what stands there.")
@options.report_option
@options.threads_option
@options.choice(
    "--engine", ["memory", "disk"], "Where the work runs: disk anatomizes a file that is larger than memory."
)
@click.option("--memory", type=int, metavar="MIB", help="With --engine disk: memory for buffers; 256 MiB by default.")
@click.option(
    "--spill",
    type=click.Path(path_type=Path),
    help="With --engine disk: folder for nameless files; beside OUT by default.",
)
@click.option(
    "--partition/--no-partition",
    default=True,
    help="With --engine disk: whether the audit keeps who is in which group.",
)
@options.target_options
@options.selection_options
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def publish(file: str, *, force: bool, as_json: bool, **given: Any) -> None:
    """Publish a table under a privacy principle.

    FILE is the table, or a policy that says everything (.toml). Options override the policy.

    \b
    Examples:
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --out out
      glasshouse publish patients.csv --quasi age,sex --k 10 --out plain --format csv --flat
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --recoding anatomy \\
                 --out exact
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --recoding angel --k 10 \\
                 --marginal age,sex,zipcode,disease --marginal zipcode,disease --out several
      glasshouse publish patients.csv --quasi age,sex --sensitive disease --rho1 0.2 --rho2 0.5 --lambda 0.1 --k 6 \\
                 --domain @diseases.txt --out sampled
      glasshouse publish policy.toml
      glasshouse publish policy.toml --ell 4 --out stricter --log-json publish.log
    """
    from glasshouse.journeys.publish import publish as publish_table
    from glasshouse.policy.choices import publish_arguments

    run = _Run(file, given, as_json=as_json)
    send = _sender(run.choices, force=force)
    run.check_flat(force=force)
    if run.choices["engine"] == "disk":
        _publish_file(run, force=force)
        return
    with progress_of_steps():
        arguments = publish_arguments(run.choices)  # before a large file is read
        table = _read(run.choices)
        release = publish_table(table, **arguments, out=run.out, force=force, finishing=run.reporting_on(table))
        with having_written(run.out):
            send(release)
    run.draw_flat(release, force=force)
    run.tell(release, table.notices, lambda: show_release(release, rows=5))


def _publish_file(run: _Run, *, force: bool) -> None:
    """Publish on disk: one method, one recoding, and a bar that shows how far it is."""
    from glasshouse.policy import choices as asked
    from glasshouse.streaming.publish import publish_file

    choices = run.choices
    for name, only in (("method", "anatomize"), ("recoding", "anatomy")):
        if choices.get(name) not in (None, only):
            raise InputError(f"--engine disk knows one {name}, {only!r}, not {choices[name]!r}")
    for name in ("taxonomy", "bins", "bottom", "top", "marginal", "parameters", "recoding_with"):
        if choices.get(name):
            raise InputError("--engine disk takes a file as it is: no taxonomies, bins, limits, marginals, parameters")
    if str(choices["suppress"]) != "0":
        raise InputError("--engine disk does not drop tuples: leave --suppress out")
    if choices["carry"] != "cells":
        raise InputError("--engine disk publishes exact values, which need nothing to be read: leave --carry out")
    if len(choices.get("sensitive", ())) != 1:
        raise InputError("--engine disk needs one sensitive column")
    if choices["flat"]:
        raise InputError("--engine disk keeps no release in memory to draw from: leave --flat out, and use sample")
    if choices.get("table") or choices.get("query") or choices.get("to"):
        raise InputError("--engine disk reads a file and writes folders, and takes no database")
    reading = asked.read_arguments(choices)
    for name in ("sensitive", "taxonomies", "bins", "bottom", "top"):
        del reading[name]
    with progress_bar() as tell:
        made = publish_file(
            run.out,
            choices["file"],
            sensitive=choices["sensitive"][0],
            principle=asked.principle(choices),
            format=choices["format_"],
            title=choices.get("title"),
            licence=choices.get("licence"),
            force=force,
            partition=choices["partition"],
            spill=choices.get("spill"),
            progress=tell,
            finishing=run.reporting_on_file(),
            **({"memory": choices["memory"] << 20} if "memory" in choices else {}),
            **reading,
        )

    def show() -> None:
        say_text(made.guarantee)
        say("", f"{made.n_tuples:,} tuples in {made.n_groups:,} groups: qit and st")

    run.tell(made, made.notices, show)


@click.command(short_help="Add marginals to an ANGEL release, over the same batches.")
@click.argument("file", type=click.Path())
@options.reading_options
@options.marginal_option(required=True)
@options.out_option("Folder with release/ and audit/.")
@options.report_option
@options.threads_option
@options.selection_options
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def marginals(file: str, *, as_json: bool, **given: Any) -> None:
    """Add marginals to a table that was published by angel before.

    Read the FILE as it was read then, with the same options or the same policy. The batches are those that OUT/audit
    keeps, so that all tables together promise what the first promised.

    \b
    Examples:
      glasshouse marginals patients.csv --quasi age,sex,zipcode --sensitive disease --marginal age,disease --out out
      glasshouse marginals policy.toml --marginal sex,disease
    """
    from glasshouse.journeys.marginals import publish_marginals

    run = _Run(file, given, as_json=as_json)
    with progress_of_steps():
        table = _read(run.choices)
        lists = [options.names(text) for text in given["marginal"]]
        threads, finishing = run.choices["threads"], run.reporting_on(table)
        release = publish_marginals(run.out, table, marginals=lists, threads=threads, finishing=finishing)
    run.tell(release, run.notes_on_flat(), lambda: show_release(release, rows=5))


def _choices(file: str, given: dict[str, Any]) -> dict[str, Any]:
    """What is asked for: by the options, and where these are silent by the policy, if the file is one."""
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
        if name in explicit:
            explicit[name] = {**decided.get(name, {}), **explicit[name]}
    return {**defaults, **decided, **explicit}


def _read(choices: dict[str, Any]) -> Microdata:
    from glasshouse.microdata import read
    from glasshouse.policy.choices import read_arguments

    with step("read") as note:
        table = read(choices["file"], **read_arguments(choices))
        note(rows=table.n_tuples, columns=len(table.quasi) + len(table.sensitive))
    return table


def _sender(choices: dict[str, Any], *, force: bool) -> Callable[[Release], None]:
    """How a release goes to the database that was named, if one was; looks beforehand whether it can."""
    if "to" not in choices:
        return lambda _release: None
    from glasshouse.release.postgres_schema import check_target, to_postgres

    target = {"schema": choices["schema"], "if_exists": "replace" if force else "error"}
    check_target(choices["to"], **target)

    def send(release: Release) -> None:
        with step("send", rows=release.n_tuples, tables=len(release.tables)):
            to_postgres(release, choices["to"], **target)

    return send


class _Run:
    """One publication: what is asked for, where it goes, its report, and what is said of it at the end.

    The steward's report is made before the folders appear, so that the audit never stands without it. ``page`` is where
    the report will lie, and ``flat`` where the flat table lies; None if there is none.
    """

    def __init__(self, file: str, given: dict[str, Any], *, as_json: bool) -> None:
        self._measured = Measured()
        self._as_json = as_json
        self.choices = _choices(file, given)
        if "out" not in self.choices:
            raise InputError("say where to write: --out FOLDER, which gets release/ and audit/")
        self.out = Path(self.choices["out"])
        self.page: str | None = None
        self.flat: Path | None = None

    def reporting_on(self, table: Microdata) -> Callable[[Release, Path, Path], None] | None:
        """How to report on a release of a table in memory; None if no report is wanted.

        A brief report may take as much CPU time as reading, publishing and writing took.
        """
        from glasshouse.pages.report import make_report

        report = self.choices["report"]

        def write(release: Release, audit: Path, folder: Path) -> None:
            spent = self._measured.cpu
            with progress_bar(unit="steps") as tell:
                make = functools.partial(
                    make_report, release, table, report=report, publishing=spent, progress=tell
                )  # fmt: skip
                self._write(make, release.n_tuples, audit, folder)

        return None if report == "none" else write

    def reporting_on_file(self) -> Callable[[PublishedFile], None] | None:
        """How to report on a file that was published in batches; None if no report is wanted."""
        from glasshouse.pages.report.report import report_on_file

        def write(made: PublishedFile) -> None:
            self._write(functools.partial(report_on_file, made), made.n_tuples, made.audit, made.folder)

        return None if self.choices["report"] == "none" else write

    def _write(self, make: Callable[[], Report], rows: int, audit: Path, release: Path) -> None:
        """Write the report into the audit; if it cannot be made, the release is published without one."""
        try:
            with step("report", rows=rows):
                make().write(audit, release=release)
        except (GlasshouseError, MemoryError) as error:
            reason = error if isinstance(error, GlasshouseError) else "there is not enough memory for it"
            remark("warning", f"the release is written without a report: {reason}", "yellow")
            return
        self.page = str(self.out / "audit" / "report.html")

    def check_flat(self, *, force: bool) -> None:
        """Look before the work whether a flat table can be written; refuse to leave one of an earlier release."""
        from glasshouse.release.package.flat import FLAT
        from glasshouse.release.package.folders import refuse_existing
        from glasshouse.release.package.listing import release_named_by

        place = self.out / FLAT
        if self.choices["flat"]:
            refuse_existing(place, force=force)
        elif force and release_named_by(place) is not None:
            raise OutputError(
                f"{place} was drawn from the release that is to be replaced: give --flat to draw it anew, or remove it",
                path=place,
            )

    def draw_flat(self, release: Release, *, force: bool) -> None:
        """Draw a flat table from what was published, and write it beside the release, if that is wanted."""
        if not self.choices["flat"]:
            return
        from glasshouse.cli.sample import draw
        from glasshouse.release.package.flat import FLAT, write_flat

        self.flat = self.out / FLAT
        with having_written(self.out / "release"):
            drawn = draw(release)
            with step("write", rows=drawn[0].num_rows, tables=len(drawn)):
                write_flat(self.flat, drawn, release=self.out / "release", n_tuples=release.n_tuples, force=force)

    def notes_on_flat(self) -> list[str]:
        """What to say of a flat table beside a release that got more tables."""
        from glasshouse.release.package.flat import FLAT
        from glasshouse.release.package.listing import release_named_by

        place = self.out / FLAT
        if release_named_by(place) is None:
            return []
        return [f"{place} was drawn before these tables were added: glasshouse sample draws from all of them"]

    def tell(self, made: Release | PublishedFile, notices: Iterable[str], show: Callable[[], None]) -> None:
        """Say what was published, and where it lies."""
        with having_written(self.out):
            if self._as_json:
                flat = {} if self.flat is None else {"flat": str(self.flat)}
                say_json({**summary(made, self.out), **flat, "report": self.page, **self._measured.to_dict()})
                return
            for notice in notices:
                remark("note", notice)
            show()
            where = f"{self.out / 'release'} may be published; {self.out / 'audit'} must stay inside."
            if self.flat is not None:
                where += f" {self.flat} may go out too: it was drawn from the release, and no row is a person."
            say("", f"{where} ({self._measured})")
