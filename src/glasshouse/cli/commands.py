# SPDX-License-Identifier: Apache-2.0
"""The commands: inspect, publish, marginals, verify, attack, query, show, demo."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.attacking import attack
from glasshouse.cli.plainly import plainly
from glasshouse.cli.querying import query
from glasshouse.errors import InputError
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from glasshouse.microdata import Microdata
    from glasshouse.publish_file import PublishedFile
    from glasshouse.release import Release

__all__ = ["glasshouse"]

METHODS = [
    "mondrian",
    "hybrid",
    "tailor",
    "ace",
    "anatomize",
    "mirror",
    "even-split",
    "symmetric",
    "greedy",
    "randomised-greedy",
    "separate",
    "opt-gen",
]

RECODINGS = ["boxes", "taxonomies", "anatomy", "permutation", "angel", "perturbed"]

PICTURE = """\b
              under a principle
                     |
  microdata ---> grouping ---> recoding ---> release ---+---> adversary
                                                        |
                                                        +---> analyst
"""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help=f"Publish tables about people so that nobody learns about a person.\n\n{PICTURE}",
)
@click.version_option(VERSION, prog_name="glasshouse")
def glasshouse() -> None:
    """Hold the commands together."""


@glasshouse.command(short_help="What a file holds: types, risks, likely roles.")
@click.argument("file")
@click.option("--sensitive", metavar="COLUMN", help="Sensitive column, for the largest feasible l.")
@click.option("--delimiter", help="Delimiter of a CSV file; detected if not given.")
@click.option("--encoding", help="Encoding of a CSV file; detected if not given.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plainly
def inspect(file: str, sensitive: str | None, delimiter: str | None, encoding: str | None, *, as_json: bool) -> None:
    """Show types, distinct values, how identifying columns are, likely roles, and the largest feasible l.

    \b
    Example:
      glasshouse inspect patients.csv --sensitive disease
    """
    from glasshouse.microdata.inspection import inspect as inspect_source

    report = inspect_source(file, sensitive=sensitive, delimiter=delimiter, encoding=encoding)
    click.echo(json.dumps(report.to_dict(), indent=2, ensure_ascii=False) if as_json else str(report))


@glasshouse.command(short_help="Publish a table: OUT/release may go out, OUT/audit stays inside.")
@click.argument("file")
@options.reading_options
@options.principle_options
@options.perturbation_options
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How to divide; by default hybrid for l-diversity of one column, else mondrian.",
)
@click.option(
    "--with",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, such as partitioning=relaxed, extra=1, p=1/3.",
)
@click.option(
    "--recoding",
    type=click.Choice(RECODINGS),
    help="How to rewrite; by default angel for l-diversity of one column, else boxes.",
)
@click.option(
    "--recoding-with",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the recoding, such as cells=taxonomies.",
)
@click.option(
    "--marginal",
    multiple=True,
    metavar="COLUMNS",
    help="With angel: attributes of a generalized table of their own; give several.",
)
@click.option("--suppress", metavar="SHARE", default="0", show_default=True, help="Largest share of tuples to drop.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write release/ and audit/ into.")
@click.option("--format", "format_", type=click.Choice(["parquet", "csv"]), default="parquet", show_default=True)
@click.option("--force", is_flag=True, help="Replace an earlier release and audit in OUT.")
@click.option("--threads", type=int, default=0, help="Threads to use; all cores by default.")
@click.option(
    "--engine",
    type=click.Choice(["memory", "disk"]),
    default="memory",
    show_default=True,
    help="Where the work runs: disk anatomizes a file that is larger than memory.",
)
@click.option("--memory", type=int, metavar="MIB", help="With --engine disk: memory for buffers; 256 MiB by default.")
@click.option(
    "--spill", type=click.Path(path_type=Path), help="With --engine disk: folder for nameless files; OUT by default."
)
@click.option(
    "--partition/--no-partition",
    default=True,
    help="With --engine disk: whether the audit keeps who is in which group.",
)
@options.source_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plainly
def publish(file: str, out: Path, format_: str, *, force: bool, as_json: bool, **given: Any) -> None:
    """Publish a table under a privacy principle.

    \b
    Examples:
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --out out
      glasshouse publish patients.csv --quasi age,sex --k 10 --out out --format csv
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --recoding anatomy --out out
      glasshouse publish patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --recoding angel --k 10 \\
                 --marginal age,sex,zipcode,disease --marginal zipcode,disease --out out
      glasshouse publish patients.csv --quasi age,sex --sensitive disease --rho1 0.2 --rho2 0.5 --lambda 0.1 --k 6 \\
                 --domain @diseases.txt --out out
    """
    from glasshouse.publish import publish_to

    started = time.perf_counter()
    principle = options.principle(given)
    if given["engine"] == "disk":
        _publish_file(file, out, format_, principle, force=force, as_json=as_json, given=given)
        return
    table = _read(file, given)
    release = publish_to(
        out,
        table,
        format=format_,
        force=force,
        principle=principle,
        method=options.method(given["method"], given["parameters"]),
        recoding=options.recoding(given),
        suppress=given["suppress"],
        threads=given["threads"],
    )
    if as_json:
        click.echo(json.dumps(_summary(release, out), indent=2, ensure_ascii=False))
        return
    for notice in table.notices:
        click.echo(f"note: {notice}", err=True)
    show_release(release, rows=5)
    click.echo(f"\n{out / 'release'} may be published; {out / 'audit'} must stay inside.", nl=False)
    click.echo(f" ({time.perf_counter() - started:.1f} s)")


def _publish_file(
    file: str, out: Path, format_: str, principle: Any, *, force: bool, as_json: bool, given: dict[str, Any]
) -> None:
    """Publish on disk: one method, one recoding, and a bar that shows how far it is."""
    from glasshouse.cli.progress import progress_bar
    from glasshouse.publish_file import publish_file

    for name, only in (("method", "anatomize"), ("recoding", "anatomy")):
        if given[name] not in (None, only):
            raise InputError(f"--engine disk knows one {name}, {only!r}, not {given[name]!r}")
    for name in ("taxonomy", "bins", "bottom", "top", "marginal", "parameters", "recoding_with"):
        if given[name]:
            raise InputError("--engine disk takes a file as it is: no taxonomies, bins, limits, marginals, parameters")
    if given["suppress"] != "0":
        raise InputError("--engine disk does not drop tuples: leave --suppress out")
    memory = {} if given["memory"] is None else {"memory": given["memory"] << 20}
    sensitive = options.names(given["sensitive"])
    if len(sensitive) != 1:
        raise InputError("--engine disk needs one sensitive column")
    started = time.perf_counter()
    with progress_bar() as tell:
        made = publish_file(
            out,
            file,
            quasi=options.names(given["quasi"]),
            sensitive=sensitive[0],
            principle=principle,
            identifier=given["identifier"],
            missing=given["missing"],
            ordered={name: options.names(text) for name, text in options.pairs("--order", given["order"]).items()},
            categorical=options.names(given["categorical"]),
            format=format_,
            force=force,
            partition=given["partition"],
            spill=given["spill"],
            progress=tell,
            delimiter=given["delimiter"],
            encoding=given["encoding"],
            decimal=given["decimal"],
            **memory,
        )
    if as_json:
        click.echo(json.dumps(_summary(made, out), indent=2, ensure_ascii=False))
        return
    for notice in made.notices:
        click.echo(f"note: {notice}", err=True)
    click.echo(f"{made.guarantee}\n\n{made.n_tuples:,} tuples in {made.n_groups:,} groups: qit and st")
    click.echo(f"\n{out / 'release'} may be published; {out / 'audit'} must stay inside.", nl=False)
    click.echo(f" ({time.perf_counter() - started:.1f} s)")


@glasshouse.command(short_help="Add marginals to an ANGEL release, over the same batches.")
@click.argument("file")
@options.reading_options
@click.option("--marginal", multiple=True, required=True, metavar="COLUMNS", help="Attributes of a table to add.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder with release/ and audit/.")
@click.option("--threads", type=int, default=0, help="Threads to use; all cores by default.")
@options.source_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plainly
def marginals(file: str, out: Path, *, as_json: bool, **given: Any) -> None:
    """Add marginals to a table that was published by angel before.

    Read the FILE as it was read then, with the same options. The batches are those that OUT/audit keeps, so that all
    tables together promise what the first promised.

    \b
    Example:
      glasshouse marginals patients.csv --quasi age,sex,zipcode --sensitive disease --marginal age,disease --out out
    """
    from glasshouse.marginals import publish_marginals

    lists = [options.names(text) for text in given["marginal"]]
    release = publish_marginals(out, _read(file, given), marginals=lists, threads=given["threads"])
    if as_json:
        click.echo(json.dumps(_summary(release, out), indent=2, ensure_ascii=False))
        return
    show_release(release, rows=5)
    click.echo(f"\n{out / 'release'} may be published; {out / 'audit'} must stay inside.")


@glasshouse.command(short_help="What any tool's output achieves: k, l of every kind, t.")
@click.argument("file")
@click.option("--quasi", required=True, metavar="COLUMNS", help="Quasi-identifiers, separated by commas.")
@click.option("--sensitive", metavar="COLUMNS", help="Sensitive column, or several separated by commas.")
@click.option("--taxonomy", multiple=True, metavar="COLUMN=FILE", help="Taxonomy of a sensitive column, for t.")
@click.option("--order", multiple=True, metavar="COLUMN=A,B,C", help="Order of a sensitive column, for t.")
@click.option("--k", type=int, help="Exit with 1 unless every group has at least K rows.")
@click.option("--ell", type=int, help="Exit with 1 unless l-diversity holds.")
@click.option("--t", help="Exit with 1 unless t-closeness holds.")
@click.option("--population", type=int, help="Size of the population, for journalist risk.")
@click.option("--delimiter", help="Delimiter of a CSV file; detected if not given.")
@click.option("--encoding", help="Encoding of a CSV file; detected if not given.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plainly
def verify(file: str, quasi: str, sensitive: str | None, *, as_json: bool, **given: Any) -> None:
    """Recount what a table achieves, whatever tool made it.

    \b
    Example:
      glasshouse verify any_tool_output.csv --quasi age,sex,zipcode --sensitive disease --k 5 --ell 3
    """
    from glasshouse.microdata import Taxonomy
    from glasshouse.verify import verify as verify_source

    result = verify_source(
        file,
        quasi=options.names(quasi),
        sensitive=options.names(sensitive) or None,
        taxonomies={
            name: Taxonomy.from_file(path) for name, path in options.pairs("--taxonomy", given["taxonomy"]).items()
        },
        ordered={name: options.names(text) for name, text in options.pairs("--order", given["order"]).items()},
        **{name: given[name] for name in ("k", "ell", "t", "population", "delimiter", "encoding")},
    )
    click.echo(json.dumps(result.to_dict(), indent=2, ensure_ascii=False) if as_json else str(result))
    if result.holds is False:
        sys.exit(1)


glasshouse.add_command(attack)
glasshouse.add_command(query)


@glasshouse.command(short_help="What a release folder holds and promises.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--rows", type=int, default=10, show_default=True, help="How many rows to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plainly
def show(folder: Path, rows: int, *, as_json: bool) -> None:
    """Show a release: what it promises, and some of its rows.

    \b
    Example:
      glasshouse show out/release
    """
    from glasshouse.release import load

    release = load(folder)
    if as_json:
        click.echo(json.dumps(_summary(release), indent=2, ensure_ascii=False))
    else:
        show_release(release, rows=rows)


@glasshouse.command(short_help="Publish an embedded hospital table.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True)
@click.option("--rows", type=int, default=20_000, show_default=True, help="How many patients.")
@plainly
def demo(out: Path, rows: int) -> None:
    """Publish a synthetic hospital table: OUT/release may go out, OUT/audit stays inside."""
    from glasshouse.cli.demo import run

    run(out, rows)


def _read(file: str, given: dict[str, Any]) -> Microdata:
    from glasshouse.microdata import read

    return read(
        file,
        quasi=options.names(given["quasi"]),
        sensitive=options.names(given["sensitive"]) or None,
        identifier=given["identifier"],
        missing=given["missing"],
        taxonomies=options.pairs("--taxonomy", given["taxonomy"]),
        ordered={name: options.names(text) for name, text in options.pairs("--order", given["order"]).items()},
        bins={name: options.builder(text) for name, text in options.pairs("--bin", given["bins"]).items()},
        categorical=options.names(given["categorical"]),
        bottom={name: options.limit(text) for name, text in options.pairs("--bottom", given["bottom"]).items()},
        top={name: options.limit(text) for name, text in options.pairs("--top", given["top"]).items()},
        delimiter=given["delimiter"],
        encoding=given["encoding"],
        decimal=given["decimal"],
    )


def _summary(release: Release | PublishedFile, out: Path | None = None) -> dict[str, Any]:
    where = {} if out is None else {"release": str(out / "release"), "audit": str(out / "audit")}
    return {
        **where,
        "n_tuples": release.n_tuples,
        "n_dropped": release.n_dropped,
        "guarantee": release.guarantee.to_data(),
        "recipe": release.recipe.to_data(),
    }


def show_release(release: Release, rows: int) -> None:
    """Print what a release promises, and some of its rows."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    click.echo(str(release.guarantee) + "\n")
    console = Console()
    for name, published in release.tables.items():
        shown = min(rows, published.num_rows)
        table = Table(title=f"{name}: {shown:,} of {published.num_rows:,} rows", title_justify="left", box=box.SIMPLE)
        for column in published.column_names:
            table.add_column(column, max_width=32, no_wrap=True, overflow="ellipsis")
        for i in range(shown):
            row = published.slice(i * published.num_rows // shown, 1).to_pylist()[0]  # spread over the table
            table.add_row(*("" if value is None else str(value) for value in row.values()))
        console.print(table)
