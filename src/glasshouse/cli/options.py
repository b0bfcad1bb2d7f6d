# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, in one fixed order.

The order: roles, reading, principle, method, recoding, what is written, where the work runs, the file's form, and at
last how the command prints. How their text becomes choices is said in `glasshouse.policy.option_text`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse import catalog
from glasshouse.errors import OutputError
from glasshouse.policy.option_text import chosen, names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "ChoiceOfEach",
    "bin_option",
    "categorical_option",
    "check_out",
    "choice",
    "chosen",
    "column_options",
    "decimal_option",
    "for_each",
    "identifier_option",
    "marginal_option",
    "method_options",
    "model_option",
    "names",
    "normalise_option",
    "out_option",
    "perturbation_options",
    "principle_options",
    "printing_options",
    "quasi_option",
    "reading_options",
    "repeated_option",
    "report_option",
    "rows_option",
    "selection_options",
    "sensitive_option",
    "source_options",
    "table_option",
    "target_options",
    "threads_option",
    "together_option",
    "weight_option",
    "why_option",
]


def _apply(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def choice(name: str, words: Sequence[str], meaning: str, *, parameter: str | None = None) -> Callable[[Any], Any]:
    """An option with a choice of words; the first is the default."""
    names = (name,) if parameter is None else (name, parameter)
    return click.option(*names, type=click.Choice(words), default=words[0], show_default=True, help=meaning)


class ChoiceOfEach(click.Choice[str]):
    """One of some words, or ``COLUMN=WORD`` for one sensitive column."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the word, and keep the whole text, which is read with that of other options."""
        super().convert(str(value).rpartition("=")[2], param, ctx)
        return str(value)


def for_each(name: str, word: str, meaning: str, **more: Any) -> Callable[[Any], Any]:
    """An option for all sensitive columns, or, repeated, with ``COLUMN=`` for each of them."""
    return click.option(name, multiple=True, metavar=f"[COLUMN=]{word}", help=meaning, **more)


def _listed(name: str, words: str, meaning: str) -> Callable[[Any], Any]:
    """An option for names that are separated by commas; if it is repeated, all its names count."""
    return click.option(
        name, multiple=True, callback=lambda *given: ",".join(given[2]) or None, metavar=words, help=meaning
    )


quasi_option = _listed(
    "--quasi",
    "COLUMNS",
    "The quasi-identifiers: columns whose values others may know about people, separated by commas. Put a name with a "
    "comma, or with a blank at its end, into double quotes.",
)
sensitive_option = _listed(
    "--sensitive",
    "COLUMNS",
    "The sensitive column, whose values are protected. Separate several columns by commas.",
)
repeated_option = choice(
    "--repeated",
    ["error", "sample", "together"],
    "What to do with people who have several rows: stop with an error, draw one row of each at random (sample), "
    "or make one record of all rows of a person, with sets of values (together).",
)
identifier_option = click.option(
    "--identifier",
    metavar="COLUMN",
    help="The column that says who a record is about, such as a patient number. It is never published.",
)
weight_option = click.option(
    "--weight",
    metavar="COLUMN",
    help="The column of survey weights. Weights are put into classes, and each is published as the mean of its class.",
)
together_option = click.option(
    "--together",
    multiple=True,
    metavar="COLUMNS",
    help=(
        "Sensitive columns to publish as one column, so that their combination is protected; separated by commas. "
        "Repeat the option for another such column."
    ),
)

column_options = _apply(
    click.option(
        "--taxonomy",
        multiple=True,
        metavar="COLUMN=TAXONOMY",
        help="How the values of a column may be coarsened: a file with a hierarchy (CSV, JSON, YAML), or one of "
        "intervals:WIDTH, quantiles:N, prefix:LENGTH, dates:LEVELS. LENGTH is the number of characters of a code: "
        "zipcode=prefix:5 coarsens 13053 to 1305*, 130** and so on. LEVELS are some of day, month, quarter, year, "
        "decade. Repeat it for each column.",
    ),
    click.option(
        "--order", multiple=True, metavar="COLUMN=A,B,C", help="The order of a column's categories, such as size=S,M,L."
    ),
)
bin_option = click.option(
    "--bin",
    "bins",
    multiple=True,
    metavar="COLUMN=TAXONOMY",
    help="Replace the values of a column by the first level of a taxonomy before anything else is done, such as "
    "salary=intervals:10000 for ranges of that width, or zipcode=prefix:5 for the first 4 of 5 characters.",
)
categorical_option = _listed(
    "--categorical", "COLUMNS", "Columns whose numbers are codes, not amounts, separated by commas."
)
normalise_option = _listed(
    "--normalise",
    "COLUMNS",
    (
        "Columns in which values that differ only in case, white space, invisible characters, or forms of dashes and "
        "quotation marks become one value; separated by commas."
    ),
)

reading_options = _apply(
    quasi_option,
    sensitive_option,
    identifier_option,
    weight_option,
    together_option,
    repeated_option,
    choice(
        "--missing",
        ["error", "category", "drop"],
        "What to do with missing values: stop with an error, count them as a value of their own (category), or drop "
        "the row.",
    ),
    column_options,
    bin_option,
    categorical_option,
    normalise_option,
    click.option(
        "--bottom",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Raise smaller values of a quasi-identifier to this one, such as age=18.",
    ),
    click.option(
        "--top",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Lower larger values of a quasi-identifier to this one, such as age=90.",
    ),
    _listed(
        "--accept",
        "NAMES",
        "Cautions that you looked into and accept, by their names, separated by commas; such as line-breaks, or "
        "line-breaks:COLUMN for one column.",
    ),
)

principle_options = _apply(
    click.option("--k", metavar="K", help="k-anonymity: every group has at least K records."),
    for_each(
        "--ell",
        "L",
        "l-diversity: in every group, no sensitive value has more than 1/L of the records. With several sensitive "
        "columns, L is for all of them, and drug=3 is for one column: repeat the option for the others. All options "
        "with [COLUMN=] work in this way.",
    ),
    for_each("--distinct-ell", "L", "Distinct l-diversity: every group has at least L different sensitive values."),
    for_each(
        "--entropy-ell",
        "L",
        "Entropy l-diversity: the entropy of the sensitive values in every group is at least log L.",
    ),
    for_each(
        "--recursive",
        "C,L",
        (
            "Recursive (C, L)-diversity, such as 2,3: in every group, the most frequent value occurs at most C times "
            "as often as the L-th most frequent value and all rarer values together."
        ),
    ),
    click.option(
        "--designated",
        multiple=True,
        metavar="[COLUMN=]VALUES",
        help="With --ell: protect only these sensitive values, separated by commas. With several sensitive columns, "
        "drug=X,Y names the values of one column; repeat the option for other columns. In a column that is not named, "
        "every value is protected.",
    ),
    click.option(
        "--alpha",
        metavar="ALPHA",
        help="With --k: (alpha, k)-anonymity: in every group, each sensitive value has at most this share of the "
        "records.",
    ),
    for_each(
        "--t",
        "T",
        "t-closeness: in every group, the distribution of the sensitive values differs by at most T from that "
        "of the whole table.",
    ),
    for_each(
        "--distance",
        "equal|ordered|hierarchical",
        (
            "With --t: how the distance between two sensitive values is measured: all distances are equal, or they "
            "follow the order of the values, or their taxonomy."
        ),
        type=ChoiceOfEach(["equal", "ordered", "hierarchical"]),
        default=("equal",),
        show_default=True,
    ),
)

perturbation_options = _apply(
    click.option(
        "--rho1",
        metavar="RHO",
        help=(
            "Recoding perturbed: any statement about a person to which an attacker gives at most this probability "
            "before seeing the release has a probability of at most --rho2 afterwards."
        ),
    ),
    click.option(
        "--rho2",
        metavar="RHO",
        help=(
            "With --rho1: the largest probability after seeing the release. If it is left out, the probability that is "
            "achieved is reported."
        ),
    ),
    click.option(
        "--delta",
        metavar="DELTA",
        help=("Recoding perturbed: the release raises no probability of an attacker by more than this."),
    ),
    click.option(
        "--lambda",
        "lambda_",
        metavar="LAMBDA",
        default="1",
        show_default=True,
        help=(
            "Recoding perturbed: the largest probability that an attacker gives a single value before seeing the "
            "release."
        ),
    ),
    click.option(
        "--s", metavar="S", help=("Recoding perturbed: the largest share of records to publish, in place of --k.")
    ),
    click.option(
        "--retention",
        metavar="P",
        help=(
            "Recoding perturbed: the probability that a sensitive value is kept and not replaced by a random one. By "
            "default the largest one that satisfies the principle."
        ),
    ),
    click.option(
        "--domain",
        metavar="VALUES",
        help=(
            "Recoding perturbed: every value that the sensitive column may have, separated by commas, or @FILE with "
            "one on each line. Put a value with commas into double quotes, unless it is a range such as [0, 10)."
        ),
    ),
)


method_options = _apply(
    click.option(
        "--method",
        type=click.Choice(list(catalog.METHODS)),
        help="How to form the groups; by default sift for l-diversity of one sensitive column, or mirror if --recoding "
        "is boxes or taxonomies and l is 3 or more; snug if only k-anonymity is asked for; mondrian for perturbed; and "
        "mirror otherwise.",
    ),
    click.option(
        "--with",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help=(
            "A parameter of --method, such as partitioning=relaxed for mondrian. Repeat the option for further "
            "parameters."
        ),
    ),
    click.option(
        "--recoding",
        type=click.Choice(list(catalog.RECODINGS)),
        help="How to write the groups into tables; by default angel for l-diversity (--ell) without --designated, "
        "perturbed for --rho1 and --delta, otherwise boxes.",
    ),
    click.option(
        "--recoding-with",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of --recoding, such as cells=taxonomies.",
    ),
)


def marginal_option(*, required: bool) -> Callable[[Any], Any]:
    """The option `--marginal`."""
    return click.option(
        "--marginal",
        multiple=True,
        required=required,
        metavar="COLUMNS",
        help="With --recoding angel: also publish a generalized table of these columns, separated by commas. Repeat "
        "the option for further tables.",
    )


edition_options = _apply(
    click.option(
        "--after",
        type=click.Path(path_type=Path),
        help="Publish the next edition of a table: the people who were added since the edition in this folder.",
    ),
    click.option(
        "--edition",
        metavar="LABEL",
        help="The name of the edition, such as 2027; by default editions are numbered 1, 2, 3.",
    ),
    click.option(
        "--at-least",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="With --after: how many people must have been added. If they are fewer, they wait for a later edition.",
    ),
    click.option(
        "--keep-published",
        is_flag=True,
        help=(
            "With --after: if the sensitive value of a person who is already published has changed, keep the published "
            "value instead of stopping."
        ),
    ),
    click.option(
        "--leave-out",
        is_flag=True,
        help=(
            "With --after: if the people who were added cannot be published safely, leave them out of this and all "
            "later editions."
        ),
    ),
)


def out_option(meaning: str, **more: Any) -> Callable[[Any], Any]:
    """The option `--out`, with a help text given by the command."""
    return click.option("--out", type=click.Path(path_type=Path), help=meaning, **more)


def model_option(*words: str) -> Callable[[Any], Any]:
    """The option `--model`; the first model is the default."""
    return choice(
        "--model",
        words,
        (
            "How values are assumed to be spread within groups: by a model that is learned from the release (learned), "
            "or evenly (uniform)."
        ),
    )


def rows_option(meaning: str, default: int) -> Callable[[Any], Any]:
    """The option `--rows`, with a help text given by the command."""
    return click.option("--rows", type=click.IntRange(min=0), default=default, show_default=True, help=meaning)


report_option = _apply(
    choice(
        "--report",
        ["brief", "full", "none"],
        "How detailed the report in OUT/audit is: brief takes no more CPU time than publishing does, full has no such "
        "limit.",
    ),
    click.option("--no-report", is_flag=True, help="The same as --report none."),
)
why_option = click.option(
    "--why",
    is_flag=True,
    help=("Also print the guarantee in full: what is guaranteed against which attacker, why, and what is not."),
)
threads_option = click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="How many threads to use; by default one for each core."
)

target_options = _apply(
    click.option(
        "--to", metavar="ADDRESS", help="Also write the published tables into this database: postgresql://..."
    ),
    click.option(
        "--schema",
        default="released",
        show_default=True,
        help="With --to: the schema of the database to write them into.",
    ),
)
table_option = click.option(
    "--table", metavar="NAME", help=("The table to read from a database, or the sheet to read from a workbook.")
)
selection_options = _apply(
    table_option,
    click.option("--query", metavar="SQL", help="The SELECT statement whose rows are read from a database."),
)
source_options = _apply(
    click.option(
        "--delimiter",
        help=("The character that separates the fields of a CSV file; detected automatically if it is not given."),
    ),
    click.option(
        "--encoding", help=("The encoding of a CSV file, such as cp1252; detected automatically if it is not given.")
    ),
)
decimal_option = click.option(
    "--decimal", default=".", show_default=True, help="The decimal sign of a CSV file: a point or a comma."
)

printing_options = _apply(
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option(
        "--verbose",
        is_flag=True,
        help=("Print each step on the screen (standard error), with its rows, groups and seconds."),
    ),
    click.option(
        "--log-json", metavar="FILE", help="Append each step to FILE as a line of JSON; - writes to the error stream."
    ),
)


def check_out(out: Path, inputs: list[Path], *, force: bool) -> None:
    """Refuse a file that is there, unless it may be replaced; one that is read is never replaced."""
    if not os.path.lexists(out):
        return
    if not out.is_file() or any(path.exists() and out.samefile(path) for path in inputs):
        raise OutputError(
            f"--out {out} cannot be written: it is not an ordinary file (but a folder, for example), or the "
            "command reads it. Choose another name",
            path=out,
        )
    if not force:
        raise OutputError(f"{out} exists already: choose another name, or give --force to replace it", path=out)
