# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, in the one order that all of them keep.

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
    "categorical_option",
    "check_out",
    "choice",
    "chosen",
    "column_options",
    "decimal_option",
    "identifier_option",
    "marginal_option",
    "method_options",
    "names",
    "normalise_option",
    "out_option",
    "perturbation_options",
    "principle_options",
    "printing_options",
    "quasi_option",
    "reading_options",
    "report_option",
    "rows_option",
    "selection_options",
    "sensitive_option",
    "source_options",
    "target_options",
    "threads_option",
    "together_option",
    "weight_option",
]


def _apply(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def choice(name: str, words: Sequence[str], meaning: str, *, parameter: str | None = None) -> Callable[[Any], Any]:
    """An option that is one of some words, by default the first."""
    names = (name,) if parameter is None else (name, parameter)
    return click.option(*names, type=click.Choice(words), default=words[0], show_default=True, help=meaning)


quasi_option = click.option("--quasi", metavar="COLUMNS", help="Quasi-identifiers, separated by commas.")
sensitive_option = click.option(
    "--sensitive", metavar="COLUMNS", help="Sensitive column, or several separated by commas."
)
identifier_option = click.option(
    "--identifier", metavar="COLUMN", help="Column that names the person; never published."
)
weight_option = click.option(
    "--weight", metavar="COLUMN", help="Column of survey weights: the last quasi-identifier, published as class means."
)
together_option = click.option(
    "--together",
    multiple=True,
    metavar="COLUMNS",
    help="Sensitive columns that are published as one, by commas; again for further ones.",
)

column_options = _apply(
    click.option(
        "--taxonomy",
        multiple=True,
        metavar="COLUMN=TAXONOMY",
        help="Taxonomy of a column: a file (CSV, JSON, YAML), or one of intervals:WIDTH, quantiles:N, prefix:LENGTH, "
        "dates:LEVELS.",
    ),
    click.option("--order", multiple=True, metavar="COLUMN=A,B,C", help="Order of a column's categories."),
)
categorical_option = click.option(
    "--categorical", metavar="COLUMNS", help="Columns whose numbers are names, not amounts."
)
normalise_option = click.option(
    "--normalise", metavar="COLUMNS", help="Columns whose look-alike spellings become one value."
)

reading_options = _apply(
    quasi_option,
    sensitive_option,
    identifier_option,
    weight_option,
    together_option,
    choice(
        "--repeated",
        ["error", "sample", "together"],
        "What people with several rows are: an error, one row drawn at random, or one record with sets of values.",
    ),
    choice(
        "--missing",
        ["error", "category", "drop"],
        "What a missing value is: an error, a value of its own, or a reason to drop the row.",
    ),
    column_options,
    click.option(
        "--bin",
        "bins",
        multiple=True,
        metavar="COLUMN=TAXONOMY",
        help="Replace a column's values, on the way in, by the first level of such a taxonomy.",
    ),
    categorical_option,
    normalise_option,
    click.option("--bottom", multiple=True, metavar="COLUMN=VALUE", help="Bottom code of a quasi-identifier."),
    click.option("--top", multiple=True, metavar="COLUMN=VALUE", help="Top code of a quasi-identifier."),
    click.option(
        "--accept",
        metavar="NAMES",
        help="Cautions that are right as they are, by name, such as line-breaks or line-breaks:COLUMN.",
    ),
)

principle_options = _apply(
    click.option("--k", metavar="K", help="k-anonymity: every group has at least K tuples."),
    click.option("--ell", metavar="L", help="l-diversity: no value has more than 1/L of a group."),
    click.option("--distinct-ell", metavar="L", help="Every group has at least L different values."),
    click.option("--entropy-ell", metavar="L", help="The entropy of every group is at least log L."),
    click.option("--recursive", metavar="C,L", help="Recursive (C, L)-diversity."),
    click.option("--designated", metavar="VALUES", help="With --ell: only these values, separated by commas, count."),
    click.option("--alpha", metavar="ALPHA", help="With --k: (alpha, k)-anonymity."),
    click.option("--t", metavar="T", help="t-closeness to the distribution of the whole table."),
    choice("--distance", ["equal", "ordered", "hierarchical"], "Ground distance of t-closeness."),
)

perturbation_options = _apply(
    click.option("--rho1", metavar="RHO", help="Perturbed: beliefs of at most this stay below --rho2."),
    click.option("--rho2", metavar="RHO", help="With --rho1: what they stay below; without it, what is achieved."),
    click.option("--delta", metavar="DELTA", help="Perturbed: no belief grows or falls by more than this."),
    click.option(
        "--lambda",
        "lambda_",
        metavar="LAMBDA",
        default="1",
        show_default=True,
        help="Perturbed: the most that she believes of a single value beforehand.",
    ),
    click.option("--s", metavar="S", help="Perturbed: the largest share of tuples to publish, in place of --k."),
    click.option("--retention", metavar="P", help="Perturbed: probability that a value is kept; else found."),
    click.option(
        "--domain",
        metavar="VALUES",
        help="Perturbed: every value that the sensitive column may have, by commas, or @FILE with one a line.",
    ),
)


method_options = _apply(
    click.option(
        "--method",
        type=click.Choice(list(catalog.METHODS)),
        help="How to divide; by default mirror, and snug for k-anonymity alone.",
    ),
    click.option(
        "--with",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the method, such as partitioning=relaxed, extra=1, p=1/3.",
    ),
    click.option(
        "--recoding",
        type=click.Choice(list(catalog.RECODINGS)),
        help="How to rewrite; by default angel for l-diversity of one column, else boxes.",
    ),
    click.option(
        "--recoding-with",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the recoding, such as cells=taxonomies.",
    ),
)


def marginal_option(*, required: bool) -> Callable[[Any], Any]:
    """The option `--marginal`."""
    return click.option(
        "--marginal",
        multiple=True,
        required=required,
        metavar="COLUMNS",
        help="With angel: attributes of a generalized table of their own; give several.",
    )


edition_options = _apply(
    click.option(
        "--after",
        type=click.Path(path_type=Path),
        help="Folder of an earlier publication: this is its next edition, for people who came since.",
    ),
    click.option("--edition", metavar="LABEL", help="What the edition is called, such as 2027; by default 1, 2, 3."),
    click.option(
        "--at-least",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="With --after: how many people must have come; fewer wait.",
    ),
    click.option(
        "--keep-published", is_flag=True, help="With --after: go on where values changed, with those of then."
    ),
    click.option(
        "--leave-out",
        is_flag=True,
        help="With --after: if those who came cannot be published, leave them out for good.",
    ),
)


def out_option(meaning: str, **more: Any) -> Callable[[Any], Any]:
    """The option `--out`, whatever is written there."""
    return click.option("--out", type=click.Path(path_type=Path), help=meaning, **more)


def rows_option(meaning: str, default: int) -> Callable[[Any], Any]:
    """The option `--rows`, whatever is counted."""
    return click.option("--rows", type=click.IntRange(min=0), default=default, show_default=True, help=meaning)


report_option = _apply(
    choice(
        "--report",
        ["brief", "full", "none"],
        "How much the audit gets to read: brief takes no more CPU time than publishing, full tells all.",
    ),
    click.option("--no-report", is_flag=True, help="The same as --report none."),
)
threads_option = click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="Threads to use; all cores by default."
)

target_options = _apply(
    click.option("--to", metavar="ADDRESS", help="Database that gets the tables too: postgresql://..."),
    click.option("--schema", default="released", show_default=True, help="With --to: the schema they go to."),
)
selection_options = _apply(
    click.option("--table", metavar="NAME", help="Of a database: the table to read; of a workbook: the sheet."),
    click.option("--query", metavar="SQL", help="Of a database: the statement to read."),
)
source_options = _apply(
    click.option("--delimiter", help="Delimiter of a CSV file; detected if not given."),
    click.option("--encoding", help="Encoding of a CSV file; detected if not given."),
)
decimal_option = click.option("--decimal", default=".", show_default=True, help="Decimal sign of a CSV file.")

printing_options = _apply(
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--verbose", is_flag=True, help="Tell each step on the error stream: rows, groups, seconds."),
    click.option("--log-json", metavar="FILE", help="Add the same to FILE, as JSON; - is the error stream."),
)


def check_out(out: Path, inputs: list[Path], *, force: bool) -> None:
    """Refuse a file that is there, unless it may be replaced; one that is read is never replaced."""
    if not os.path.lexists(out):
        return
    if not out.is_file() or any(path.exists() and out.samefile(path) for path in inputs):
        raise OutputError(f"--out {out} is no plain file, or is what is read: choose another name", path=out)
    if not force:
        raise OutputError(f"{out} exists already: choose another name, or --force to replace it", path=out)
