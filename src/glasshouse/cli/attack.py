# SPDX-License-Identifier: Apache-2.0
"""The command `attack`: what an attacker can learn from a release, or from another tool's table."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse import catalog
from glasshouse.cli import options
from glasshouse.cli.exits import NOT_MET, having_written, plainly
from glasshouse.cli.printing import remark, say, say_json, say_text
from glasshouse.cli.progress import Foretelling, duration, progress_bar
from glasshouse.errors import InputError, ParameterError, SchemaError
from glasshouse.log import step
from glasshouse.plural import counted
from glasshouse.policy import choices as asked

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.microdata import Microdata
    from glasshouse.release import Release

__all__ = ["attack"]

# What belongs to some attacks alone, and how it is called there.
_OF_ATTACKS = {
    "how": "how",
    "most_runs": "most_runs",
    "most_corrupted": "most_corrupted",
    "other": "others",
    "column": "column",
    "control": "control",
    "ends": "ends",
    "first": "first",
    "second": "second",
    "sign": "signs",
    "strength": "strength",
}
_LONG = 30.0  # seconds: what takes no longer is not foretold
_PRINCIPLES = ("k", "ell", "distinct_ell", "entropy_ell", "recursive", "t")
_MONDRIAN = [f"mondrian-{partitioning}" for partitioning in ("strict", "relaxed")]


@click.command(short_help="Try what an attacker can learn about people from a release.")
@click.argument("release", metavar="RELEASE|FILE", type=click.Path(path_type=Path))
@click.option(
    "--external",
    required=True,
    metavar="FILE",
    type=click.Path(),
    help="A table of the people whom the attacker knows, with their quasi-identifiers.",
)
@options.quasi_option
@options.sensitive_option
@options.identifier_option
@options.repeated_option
@options.column_options
@options.bin_option
@options.categorical_option
@options.normalise_option
@options.principle_options
@click.option(
    "--method",
    type=click.Choice([*_MONDRIAN, *catalog.METHODS]),
    help="Only for a table of another tool: the method that formed its groups.",
)
@click.option(
    "--with",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only for a table of another tool: a parameter of --method.",
)
@click.option(
    "--attack",
    "attack_",
    type=click.Choice(list(catalog.ATTACKS)),
    default="linking",
    show_default=True,
    help=(
        "What the attacker uses. linking: the release alone. reverse-engineering: the algorithm too. minimality: only "
        "the fact that groups are no coarser than the principle requires. corruption: the sensitive values of some "
        "people. intersection: another release of the same people. definetti: a model that is learned from all "
        "groups. hint: a little knowledge about the population (--sign, --prior). singling-out, linkability and "
        "inference count how often an attacker guesses right: for them, --external is the original table."
    ),
)
@click.option(
    "--how",
    type=click.Choice(["exact", "bound", "sampled"]),
    help=(
        "Reverse engineering: calculate exact probabilities, an upper bound, or estimates by sampling. By default "
        "exact ones if that is possible, otherwise a bound."
    ),
)
@click.option(
    "--most-runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Reverse engineering, hint: run the algorithm at most N times. The default is a million, or 50,000 for "
    "hint, which may take minutes.",
)
@click.option(
    "--error",
    type=float,
    default=0.02,
    show_default=True,
    help="The largest error of a probability that is found by sampling.",
)
@click.option("--seed", type=int, help="The seed of random choices: the same seed repeats an attack.")
@click.option(
    "--corrupted",
    metavar="FILE",
    help="A file with people whose sensitive value the attacker knows: a name and a value on each line. An empty "
    "value says that the person is not in the table.",
)
@click.option(
    "--most-corrupted",
    type=int,
    metavar="N",
    help="Corruption: assume that the attacker knows the values of any N people, in the worst case.",
)
@click.option(
    "--prior",
    metavar="FILE",
    help="A file with what the attacker expects before seeing the release: a value and a weight on each line.",
)
@click.option(
    "--other",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Intersection: the folder of another release of the same people.",
)
@click.option(
    "--control",
    metavar="FILE",
    type=click.Path(),
    help="Singling out, linkability, inference, definetti: a table of people who are not in the release, with the "
    "same columns.",
)
@click.option(
    "--ends",
    type=click.IntRange(min=1),
    metavar="N",
    help=("Singling out: look for people who have the smallest or largest values in N columns at once."),
)
@click.option(
    "--sign",
    multiple=True,
    metavar="ATTRIBUTE:VALUE:+|-",
    help=(
        "Hint: people with larger values of the column ATTRIBUTE have the sensitive value VALUE more (+) or less (-) "
        "often. A category is written as ATTRIBUTE=CATEGORY. The option can be repeated."
    ),
)
@click.option(
    "--strength",
    type=float,
    metavar="X",
    help=(
        "Hint: how strong a --sign is, in log-odds for each standard deviation of the column; the default, 0.1, "
        "changes the odds by about 10 %."
    ),
)
@click.option("--first", metavar="COLUMNS", help="Linkability: the columns that one list has, separated by commas.")
@click.option(
    "--second", metavar="COLUMNS", help="Linkability: the columns that the other list has, separated by commas."
)
@click.option("--column", metavar="COLUMN", help="The sensitive column, if the release has several.")
@click.option(
    "--columns",
    metavar="COLUMNS",
    help=(
        "Other sensitive columns of the release whose values the attacker knows for everybody in --external, separated "
        "by commas."
    ),
)
@options.rows_option(("How many of the people with a probability above the limit are listed."), 5)
@click.option(
    "--save",
    is_flag=True,
    help="Write the probabilities, a summary and a plot into the audit folder beside the release.",
)
@options.out_option(
    "A CSV file for the attacker's probability of each sensitive value for each person. Do not publish it."
)
@click.option("--force", is_flag=True, help="Replace the file or folder that --out names, if it exists already.")
@click.option(
    "--fail-above",
    metavar="LIMIT",
    help=(
        "Exit with code 1 if a probability, or the risk that is counted, is above this limit: a number from 0 to "
        "1, such as 1/5."
    ),
)
@options.table_option
@options.source_options
@options.decimal_option
@options.printing_options
@plainly
def attack(
    release: Path, external: str, rows: int, out: Path | None, *, force: bool, as_json: bool, **given: Any
) -> int:
    """Attack a release with a list of people and their quasi-identifiers, and show what an attacker learns.

    RELEASE is a release: a folder or a zip file. FILE is a generalized table that another tool wrote: --quasi and
    --sensitive name its columns, and --method and a principle say how it was made. --identifier names the column of
    --external that says who a row is about. The exit code is 1 if a probability is above --fail-above.

    An attacker who knows the algorithm knows the principle, the method and the recoding, with all their parameters.

    The attacks singling-out, linkability and inference need the original table as --external, and take people who are
    not in the release as --control. For these three attacks, --fail-above is compared with the risk or, without
    --control, with the share of correct guesses. For the attacks definetti and hint, --external can be any list of
    people. If it is the original table with its sensitive column, they also count how many guesses are correct.

    \b
    Examples:
      glasshouse attack out/release --external voters.csv --identifier name
      glasshouse attack out/release --external voters.csv --identifier name --attack reverse-engineering --save
      glasshouse attack out/release --external voters.csv --identifier name --fail-above 1/3
      glasshouse attack out/release --external patients.csv --control others.csv --attack singling-out
      glasshouse attack out/release --external patients.csv --control others.csv --attack definetti
      glasshouse attack out/release --external patients.csv --attack hint --sign age:arthritis:+
      glasshouse attack arx.csv --quasi age,zipcode --sensitive disease --method mondrian-strict --ell 2 \\
                 --external people.csv --attack reverse-engineering
    """
    from glasshouse.journeys.attack import attack as attack_release
    from glasshouse.release.package.listing import add_files, write_whole
    from glasshouse.release.package.tables import csv_of

    limit = _limit(given["fail_above"])
    counts = catalog.ATTACKS[given["attack_"]].answers == "risk"
    _refuse_inside(release, out)
    if out is not None and counts:
        raise InputError(
            "--out writes probabilities for every person, but this attack only counts how many guesses are correct: "
            "use --json instead of --out"
        )
    if out is not None:
        options.check_out(out, [release, Path(external)], force=force)
    audit = _audit_of(release, given["attack_"]) if given["save"] else None
    with step("load") as note:
        published = _release(release, given)
        knowledge = _knowledge(published, external, given)
        note(rows=published.n_tuples, people=knowledge.external.n_tuples)
    with progress_bar(unit="%") as tell, step("reason", rows=published.n_tuples, people=knowledge.external.n_tuples):
        chosen = _attack(published, given, _foretold(lambda share: tell("attacking", int(100 * share), 100), given))
        beliefs = attack_release(published, chosen, knowledge=knowledge)
    if counts:
        return _tell_risk(beliefs, audit, limit, as_json=as_json, name=given["attack_"])
    with contextlib.ExitStack() as written:
        if audit is not None:
            told = json.dumps(beliefs.to_dict(), indent=2, ensure_ascii=False) + "\n"
            saved = (csv_of(beliefs.to_table()), told, beliefs.plot())
            add_files(audit, dict(zip(_files(given["attack_"]), saved, strict=True)))
            written.enter_context(having_written(f"the output of --save in {audit}"))
        if out is not None:
            write_whole(out, csv_of(beliefs.to_table()), private=True)
            written.enter_context(having_written(out))
        if as_json:
            say_json(beliefs.to_dict())
        else:
            say_text(beliefs)
            if beliefs.limit is not None:
                for belief in beliefs.above(most=rows):
                    say(f"  exposed: {beliefs.compared.explain(belief.person)}")
    if limit is None or not beliefs.exceeds(limit):
        return 0
    remark("note", f"{_above(beliefs, limit)}: so the exit code is 1 (--fail-above)")
    return NOT_MET


def _foretold(progress: Callable[[float], None], given: dict[str, Any]) -> Callable[[float], None]:
    """The same progress; where the method is run again and again, say soon how long that may take at most."""
    if given["how"] != "sampled":
        return progress

    def tell(seconds: float) -> None:
        if seconds > _LONG:
            remark(
                "note",
                f"this attack may take up to {duration(seconds)}: it runs the method on many possible tables. To make "
                "it shorter, allow fewer runs with --most-runs (the default is 1,000,000), or a larger --error",
            )

    return Foretelling(progress, tell)


def _above(beliefs: Posterior, limit: Fraction) -> str:
    """Say how many people are above a limit, and how far."""
    own = beliefs.unless_known
    if not own.exceeds(limit):
        return (
            f"no probability of this attack is above {limit}. But some people may have been left out because their "
            "value was too frequent for the principle. For an attacker who also knows which value that was, their "
            f"probabilities may be above the limit, up to {beliefs.reached.max():.4f}"
        )
    above, bound = own.is_above(limit), own.only_bound
    n, n_bound = int((above & ~bound).sum()), int((above & bound).sum())
    what = "protected value" if beliefs.protected else "value"
    if not n:
        return (
            f"for {counted(n_bound, 'person')} of {own.n_people:,}, only an upper bound on the probability of a {what} "
            f"is known, and this bound is above {limit}: the largest is {own.reached.max():.4f}. It is not known "
            "whether a probability is above the limit"
        )
    kind = {"mixture": "approximate", "sampled": "estimated by sampling"}.get(own.how, "")
    told = (
        f"for {counted(n, 'person')} of {own.n_people:,}, the probability of a {what} is above {limit}, "
        f"and the largest is {own.reached[~bound].max():.4f}{f' ({kind})' if kind else ''}"
    )
    if not n_bound:
        return told
    return (
        f"{told}. For {counted(n_bound, 'other person', 'other people')}, only an upper bound is known, and it is "
        "above the limit too"
    )


def _tell_risk(found: Any, audit: Path | None, limit: Fraction | None, *, as_json: bool, name: str) -> int:
    """Print how often an attack that counts guesses was right, and save the result if asked."""
    from glasshouse.release.package.listing import add_files

    with contextlib.ExitStack() as written:
        if audit is not None:
            told = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
            add_files(audit, dict(zip(_files(name), (told,), strict=True)))
            written.enter_context(having_written(f"the output of --save in {audit}"))
        if as_json:
            say_json(found.to_dict())
        else:
            say_text(found)
    if limit is None or not found.exceeds(limit):
        return 0
    what = "share of correct guesses" if found.risk is None else "risk"
    value = (found.success if found.risk is None else found.risk).value
    remark("note", f"the {what} is {value:.4f}, above {limit}: so the exit code is 1 (--fail-above)")
    return NOT_MET


def _limit(text: str | None) -> Fraction | None:
    from glasshouse.principles.parameters import fraction

    try:
        return None if text is None else fraction("attack", "limit", text, least=0, most=1)
    except ParameterError:
        raise InputError(f"--fail-above takes a probability from 0 to 1, such as 1/5 or 0.2, got {text!r}") from None


def _release(path: Path, given: dict[str, Any]) -> Release:
    """Load the release folder, or read another tool's table as a release."""
    from glasshouse.journeys.load import load
    from glasshouse.release.package.container.container import holds_release

    stated = [name for name in ("quasi", "sensitive", "method", *_PRINCIPLES) if given[name]]
    if holds_release(path):
        if stated:
            raise InputError(
                f"--{stated[0].replace('_', '-')} is only for a table of another tool. {path} is a release folder, "
                "which already contains this information: leave the option out"
            )
        return load(path)
    from glasshouse.journeys.foreign import foreign_release

    choices = options.chosen(given)
    if not (given["quasi"] and given["sensitive"]):
        raise InputError(
            f"{path} is not a release folder. If it is a table of another tool, name its columns with --quasi and "
            "--sensitive"
        )
    partitioning = choices.get("method", "").partition("mondrian-")[2]
    if partitioning:
        choices |= {"method": "mondrian", "parameters": {"partitioning": partitioning, **choices.get("parameters", {})}}
    return foreign_release(
        path,
        quasi=options.names(given["quasi"]),
        sensitive=given["sensitive"],
        principle=asked.principle(choices) if any(given[name] for name in _PRINCIPLES) else None,
        method=asked.method(choices),
        **{name: given[name] for name in ("delimiter", "encoding", "decimal")},
    )


def _knowledge(release: Release, external: str, given: dict[str, Any]) -> Knowledge:
    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.microdata.domains import text_of
    from glasshouse.release.contents import Published

    people = _people(release, external, given)
    by_text: dict[str, Any] = {}
    if given["corrupted"] or given["prior"]:
        by_text = {text_of(value): value for value in Published.of(release, given["column"]).values}
    prior: dict[Any, Any] | None = None
    if given["prior"] is not None:
        lines = _two_columns("--prior", given["prior"])
        prior = {by_text.get(text_of(value), value): weight for value, weight in lines}
    return Knowledge(
        external=people,
        corrupted=_corrupted(given["corrupted"], people, by_text),
        prior=prior,
        columns=tuple(options.names(given["columns"])),
    )


def _people(release: Release, file: str, given: dict[str, Any]) -> Microdata:
    """Read a list of people, who need an edition if the release has several."""
    from glasshouse.adversary.external_table import without_editions
    from glasshouse.release.layout import EDITION

    try:
        return _read_people(release, file, given)
    except SchemaError as error:
        raise without_editions(release) if release.editions and error.column == EDITION else error from None


def _read_people(release: Release, file: str, given: dict[str, Any]) -> Microdata:
    """Read a list of people; with their sensitive values, if the attack counts right guesses and the list has them."""
    from glasshouse.microdata import read

    columns = ("identifier", "repeated", "taxonomy", "order", "bins", "categorical", "normalise")
    named = (*columns, "table", "delimiter", "encoding", "decimal")
    choices = {name: value for name, value in options.chosen(given).items() if name in named}
    choices |= {"quasi": release.recipe.quasi, "missing": "category"}
    attack = catalog.ATTACKS[given["attack_"]]
    if given["columns"]:
        return read(file, **asked.read_arguments({**choices, "sensitive": options.names(given["columns"])}))
    if not (attack.needs_values or attack.takes_values):
        return read(file, **asked.read_arguments(choices))
    parts = {column.name: [part.name for part in column.parts] for column in release.columns if column.parts}
    named_columns = [given["column"]] if given["column"] else list(release.recipe.sensitive)
    wanted = [next((own for own, some in parts.items() if name in some), name) for name in named_columns]
    values = [name for column in wanted for name in parts.get(column, [column])]
    choices["together"] = [parts[column] for column in wanted if column in parts]
    try:
        return read(file, **asked.read_arguments({**choices, "sensitive": values}))
    except SchemaError as error:
        if attack.needs_values or error.column not in values:
            raise
        return read(file, **asked.read_arguments({**choices, "together": []}))


def _corrupted(file: str | None, people: Microdata, by_text: dict[str, Any]) -> dict[Any, Any]:
    """Read whose values are known: a name and a value on each line. No value: the person is not in the table."""
    from glasshouse.adversary.knowledge import ABSENT
    from glasshouse.microdata.domains import text_of

    if file is None:
        return {}
    everybody = range(people.n_tuples) if people.identifier is None else people.identifier.to_pylist()
    names = {text_of(name): name for name in everybody}
    found: dict[Any, Any] = {}
    for name, value in _two_columns("--corrupted", file):
        person = names.get(text_of(name))
        if person is None:
            raise InputError(f"--corrupted {file}: nobody in the table of --external is called {text_of(name)!r}")
        found[person] = ABSENT if value is None else by_text.get(text_of(value), value)
    return found


def _two_columns(option: str, file: str) -> list[tuple[Any, Any]]:
    from glasshouse.microdata.reading.sources import open_source

    table = open_source(file).table
    if table.num_columns != 2:
        raise InputError(f"{option} {file}: the file must have two columns, and it has {table.num_columns}")
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _attack(release: Release, given: dict[str, Any], progress: Callable[[float], None]) -> Any:
    """Make the attack that the options ask for."""
    from dataclasses import fields

    from glasshouse.journeys.load import load
    from glasshouse.randomness import Source

    name = given["attack_"]
    known = {other: {field.name for field in fields(attack)} for other, attack in catalog.ATTACKS.items()}
    for option, parameter in _OF_ATTACKS.items():
        if given[option] not in (None, ()) and parameter not in known[name]:
            owners = " or ".join(other for other, names in known.items() if parameter in names)
            raise InputError(f"--{option.replace('_', '-')} can only be given with --attack {owners}")
    parameters: dict[str, Any] = {parameter: given[option] for option, parameter in _OF_ATTACKS.items()}
    parameters |= {"others": tuple(map(load, given["other"])), "error": given["error"], "progress": progress}
    parameters |= {side: tuple(options.names(given[side])) or None for side in ("first", "second")}
    if given["control"] is not None:
        parameters["control"] = _people(release, given["control"], given)
    parameters["source"] = None if given["seed"] is None else Source.seeded(given["seed"])
    own = {key: value for key, value in parameters.items() if key in known[name] and value is not None}
    return catalog.ATTACKS[name](**own)


# --- what stays inside ------------------------------------------------------------------------------------------------


def _refuse_inside(release: Path, out: Path | None) -> None:
    if out is not None and release.is_dir() and out.resolve().is_relative_to(release.resolve()):
        raise InputError(
            "the file of --out will contain what can be learned about people and must not be published: choose a "
            "place outside the release folder"
        )


def _audit_of(release: Path, attack: str) -> Path:
    """The audit folder beside a release folder; files that Glasshouse did not write there are not replaced."""
    from glasshouse.release.package.listing import refuse_strangers
    from glasshouse.release.package.pair import check_pair

    audit = release.resolve().parent / "audit"
    if not release.is_dir() or not audit.is_dir():
        raise InputError(
            f"--save writes into the audit folder beside the release, and there is no such folder beside {release}: "
            "use --out"
        )
    check_pair(audit.parent)
    refuse_strangers(audit, _files(attack))
    return audit


def _files(attack: str) -> list[str]:
    kinds = ("json",) if catalog.ATTACKS[attack].answers == "risk" else ("csv", "json", "svg")
    return [f"attack-{attack}.{kind}" for kind in kinds]
