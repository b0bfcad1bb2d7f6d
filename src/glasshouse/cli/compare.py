# SPDX-License-Identifier: Apache-2.0
"""The command `compare`: try every way to publish a table, and recommend one."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from glasshouse.cli import options
from glasshouse.cli.exits import NOT_MET, having_written, in_options, plainly, saying
from glasshouse.cli.printing import new_table, remark, say, say_json, say_table
from glasshouse.cli.progress import duration, progress_bar
from glasshouse.errors import InputError
from glasshouse.log import step
from glasshouse.plural import counted
from glasshouse.policy import choices as asked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from glasshouse.comparing import Comparison, Row

__all__ = ["compare"]

_SECONDS = 10.0  # up to 20,000 people what decides a recommendation is measured in so long (docs/comparing.md)
_LONG = 60.0  # seconds: what takes no longer is not announced
_OWN = {"methods", "recodings", "presence", "runs", "seconds", "seed", "processes", "model", "no_learner"}


@click.command(short_help="Try every way to publish a table, side by side, and recommend one.")
@click.argument("file", type=click.Path())
@options.reading_options
@options.principle_options
@click.option("--methods", metavar="NAMES", help="The methods to compare, separated by commas; by default all.")
@click.option(
    "--recodings", metavar="NAMES", help="The recodings to compare, separated by commas; by default all that fit."
)
@options.choice(
    "--presence",
    ["secret", "public"],
    (
        "Whether it must stay secret who is in the table. If so, no way to publish is recommended that shows who is in "
        "the table."
    ),
)
@click.option(
    "--use-truth",
    is_flag=True,
    help=(
        "Use the true sensitive values, not made-up ones. The recommendation then depends on them, so an attacker who "
        "sees it may learn something about them."
    ),
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=_SECONDS,
    show_default=True,
    help="How many seconds each attack on a way to publish may take. Each way is attacked twice: by an attacker who "
    "knows the algorithm, and by one who learns a model.",
)
@options.model_option("uniform", "learned")
@click.option(
    "--no-learner",
    is_flag=True,
    help="Do not measure what an attacker gains by learning a model from the release: this takes long.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help=(
        "How many copies of the table with made-up sensitive values (twins) to try; the results are means over them."
    ),
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the twins and of all random choices.")
@options.out_option(
    "A folder for the results. Ways that are finished are kept there and not tried again. Do not publish it."
)
@click.option(
    "--processes",
    type=click.IntRange(min=0),
    help=("How many ways to publish are tried at the same time; by default one for each core of the processor."),
)
@options.selection_options
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def compare(file: str, out: Path | None, *, use_truth: bool, as_json: bool, **given: Any) -> int:
    """Try every way to publish a table, measure each, and recommend one. Nothing is published.

    Each way is tried on copies of the table (twins) with the same quasi-identifiers and made-up sensitive values. If
    the true values were used, the recommendation would depend on them, and an attacker could learn from it. FILE is a
    table, or a policy (.toml) that says how to read one and what to guarantee. The exit code is 1 if nothing can be
    recommended.

    \b
    Examples:
      glasshouse compare patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --out compared
      glasshouse compare patients.csv --quasi age,sex,zipcode --sensitive disease --ell 3 --presence public \\
                 --methods mirror,hybrid,mondrian --recodings anatomy,angel
    """
    from glasshouse.comparing import compare as compare_ways
    from glasshouse.comparing.comparison import FILES
    from glasshouse.pages.report import Effort
    from glasshouse.release.package.listing import refuse_strangers

    if out is not None:
        refuse_strangers(out, FILES)  # before the work, not after it
    with step("read") as note:
        table, principle = _asked(file, given)
        note(rows=table.n_tuples, columns=len(table.quasi) + len(table.sensitive))
    stays = (
        contextlib.nullcontext() if out is None else saying(f"finished ways are kept in {out}, and are not tried again")
    )
    with stays, progress_bar(unit="ways") as tell:
        found = compare_ways(
            table,
            principle=principle,
            methods=options.names(given["methods"]) or None,
            recodings=options.names(given["recodings"]) or None,
            use_truth=use_truth,
            presence=given["presence"],
            runs=given["runs"],
            seed=given["seed"],
            effort=Effort(seconds=given["seconds"]),
            model=given["model"],
            learner=not given["no_learner"],
            processes=given["processes"],
            progress=_after_announcing(tell, given),
            resume=out,
        )
    found = _in_options(found)
    if out is not None:
        found.write(out)
    with contextlib.nullcontext() if out is None else having_written(out):
        if as_json:
            say_json(found.to_dict())
        else:
            _show(found, out)
    return NOT_MET if found.recommended is None else 0


def _after_announcing(tell: Callable[[str, int, int], None], given: dict[str, Any]) -> Callable[[str, int, int], None]:
    """The same progress; before the first of it, say how long the attacks may take at most, if that is long."""
    from glasshouse.comparing.processes import n_processes

    announced = False

    def told(what: str, done: int, total: int) -> None:
        nonlocal announced
        ways = total - done
        if not announced and ways:
            at_once = max(1, n_processes(given["processes"], ways))
            attacks = "an attack" if given["no_learner"] else "each of two attacks"
            most = given["seconds"] * (1 if given["no_learner"] else 2) * -(-ways // at_once)
            if most > _LONG:
                options = "--seconds" if given["no_learner"] else "--seconds, or with --no-learner"
                remark(
                    "note",
                    f"{counted(ways, 'way')} to publish will be tried, {at_once} at a time, and {attacks} on a way "
                    f"may take {counted(given['seconds'], 'second')}. So the attacks take at most {duration(most)} in "
                    f"all, and usually much less. It is faster with a smaller {options}, or with fewer --methods and "
                    "--recodings",
                )
        announced = True
        tell(what, done, total)

    return told


def _in_options(found: Comparison) -> Comparison:
    """The same, with the options of the command in the reasons why ways were not possible."""
    rows = {id(row): replace(row, failed=in_options(row.failed)) for row in found.rows}
    return replace(
        found,
        rows=tuple(rows.values()),
        recommended=None if found.recommended is None else rows[id(found.recommended)],
        left_out={name: in_options(why) for name, why in found.left_out.items()},
    )


def _asked(file: str, given: dict[str, Any]) -> tuple[Any, Any]:
    """The table and the principle: by a policy, if the file is one, else by the options."""
    from glasshouse.microdata import read
    from glasshouse.policy.document import SUFFIXES

    if file.endswith(SUFFIXES):
        from glasshouse.policy import load_policy

        _refuse_beside_policy(given)
        policy = load_policy(file)
        return policy.read(), policy.publish_arguments()["principle"]
    choices = options.chosen(given)
    principle = asked.principle(choices)  # before a large file is read
    return read(file, **asked.read_arguments(choices)), principle


def _refuse_beside_policy(given: dict[str, Any]) -> None:
    """Refuse options that contradict a policy, which is used unchanged."""
    context = click.get_current_context()
    for name in sorted(given.keys() - _OWN):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise InputError(
                f"{asked.option(name)} cannot be given with a policy, which says it already: leave the option out, or "
                "change the policy"
            )


def _show(found: Comparison, out: Path | None) -> None:
    from glasshouse.comparing.comparison import COLUMNS_EXPLAINED

    say(f"{found.principle}: {counted(found.n_tuples, 'record')}", "")
    for heading, linking in (
        ("Ways to publish that protect also against an attacker who knows the algorithm:", False),
        ("Ways to publish that protect only against an attacker who does not know the algorithm:", True),
    ):
        rows = [row for row in found.rows if not row.failed and (row.adversary == "linking") == linking]
        if rows:
            say(heading)
            _print(rows, found.recommended)
    say(COLUMNS_EXPLAINED, "")
    for ways, why in {**found.failures, **found.left_out}.items():
        say(f"{ways}: {why}")
    say("", f"* Recommended: {found.reason}", *found.notes)
    say(found.caution, colour="red" if found.used_truth else None)
    if out is not None:
        say("", f"{out / 'comparison.html'} shows everything. Do not publish {out}.")


def _print(rows: list[Row], best: Row | None) -> None:
    table = new_table(box=None, padding=(0, 1, 0, 0))
    for name, width in (("", 1), ("method", 20), ("recoding", 11)):
        table.add_column(name, width=width, no_wrap=True, overflow="ellipsis")
    for name, width in (("probability", 11), ("cost", 5), ("error", 6), ("KL", 5), ("group", 6), ("s", 5)):
        table.add_column(name, min_width=width, justify="right", no_wrap=True)
    for row in rows:
        table.add_row("*" if row is best else "", *_cells(row), style="bold green" if row is best else None)
    say_table(table)
    say()


def _cells(row: Row) -> list[str]:
    """A row as texts. Bounds are marked, and so are sampled numbers."""
    sign = {"bound": "<= ", "sampled": "~ "}.get(row.how, "")
    crowd = 1 if row.average_size is None or row.average_size < 1000 else 0
    numbers = [(row.cost, 3), (row.error, 4), (row.kl, 3), (row.average_size, crowd), (row.seconds, 2)]
    return [
        row.method,
        row.recoding,
        "not known" if row.belief is None else f"{sign}{row.belief:.3f}",
        *("" if value is None else f"{value:,.{digits}f}" for value, digits in numbers),
    ]
