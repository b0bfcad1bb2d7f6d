# SPDX-License-Identifier: Apache-2.0
"""The commands `verify`, which checks a release or any tool's table, `show`, which prints a release, and `sign`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from glasshouse.cli import options
from glasshouse.cli.exits import NOT_MET, in_options, plainly
from glasshouse.cli.printing import (
    protection,
    say,
    say_json,
    say_points,
    say_text,
    show_release,
    signature_points,
    signature_told,
    summary,
)
from glasshouse.cli.progress import progress_of_steps
from glasshouse.errors import InputError, SourceError
from glasshouse.log import step
from glasshouse.policy.choices import c_and_ell, option, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.journeys.verify import FolderCheck
    from glasshouse.release.package.signature import Signature

__all__ = ["show", "sign", "verify"]

_NUMBERS: dict[str, Callable[[str], Any]] = {
    "ell": partial(whole, "--ell"),
    "distinct_ell": partial(whole, "--distinct-ell"),
    "recursive": c_and_ell,
}
_UNCHECKED = "which was not checked: give the public key with --signed-by"


@click.command(short_help="Check whether a release keeps its guarantee, or what a table of any tool achieves.")
@click.argument("path", metavar="RELEASE|FILE", type=click.Path())
@options.quasi_option
@options.sensitive_option
@options.column_options
@click.option("--k", type=int, metavar="K", help="Exit with code 1 if a group has fewer than K rows.")
@options.for_each(
    "--ell",
    "L",
    "Exit with code 1 if a sensitive value has more than 1/L of the rows of a group. With several sensitive columns, L "
    "is for all of them, and drug=3 is for one column: repeat the option for the others. All options with [COLUMN=] "
    "work in this way.",
)
@options.for_each("--distinct-ell", "L", "Exit with code 1 if a group has fewer than L different sensitive values.")
@options.for_each(
    "--entropy-ell", "L", "Exit with code 1 if the table does not satisfy entropy l-diversity for this L."
)
@options.for_each("--recursive", "C,L", "Exit with code 1 if the table does not satisfy recursive (C, L)-diversity.")
@click.option(
    "--alpha",
    metavar="ALPHA",
    help="Exit with code 1 if a sensitive value has a share of more than ALPHA of the rows of a group.",
)
@options.for_each("--t", "T", "Exit with code 1 if the table does not satisfy t-closeness for this T.")
@options.for_each(
    "--distance",
    "equal|ordered|hierarchical",
    "The distance that --t means. By default hierarchical for a column with --taxonomy, ordered for one with an order, "
    "and equal otherwise.",
    type=options.ChoiceOfEach(["equal", "ordered", "hierarchical"]),
)
@click.option(
    "--population",
    type=int,
    metavar="N",
    help=(
        "The number of people in the population that the table was taken from. It is needed for the journalist risk: "
        "the risk that somebody who does not know who is in the table finds the person behind a record."
    ),
)
@click.option(
    "--signed-by",
    metavar="FILE",
    help=("The file of the public key. The check fails if the release was signed with another key."),
)
@options.table_option
@options.source_options
@click.option("--decimal", help="The decimal sign of a CSV file: a point or a comma. The default is a point.")
@options.printing_options
@plainly
def verify(path: str, *, as_json: bool, signed_by: str | None, **given: Any) -> int:
    """Check what a table achieves.

    Only the published tables are read, and the check does not use the program code that publishes.

    RELEASE is a release (a folder or a zip file), or the folder that it was published into: the command checks
    whether the release keeps its guarantee. A large release is read in batches, so that it need not fit into memory.
    FILE is a table that any tool wrote: --quasi and --sensitive name its columns, and --k, --ell, --t and the like say
    what it must satisfy. The last line says in one sentence what was found. The exit code is 1 if the check fails.

    \b
    Examples:
      glasshouse verify out/release
      glasshouse verify out/release --signed-by steward.pem.pub
      glasshouse verify any_tool_output.csv --quasi age,sex,zipcode --sensitive disease --k 5 --ell 3
    """
    from glasshouse.journeys.verify import verify as recount
    from glasshouse.release.astray import resembles_release
    from glasshouse.release.package.container.container import holds_release

    folder = None
    with progress_of_steps(), step("recount") as note:
        if holds_release(Path(path)) or (not given["quasi"] and resembles_release(Path(path))):
            for name, value in given.items():
                if value not in (None, ()):
                    raise InputError(
                        f"{option(name)} is only for a table. {path} is a release folder, whose guarantee says "
                        "what to check: leave the option out"
                    )
            folder = _of_folder(Path(path), signed_by, as_json=as_json)
            result = folder.found
        else:
            if signed_by is not None:
                raise InputError(
                    f"--signed-by is only for the folder of a release, and {path} is a table, which has no signature: "
                    "leave the option out"
                )
            result = recount(path, **_of_table(path, given))
        note(rows=result.n_tuples, groups=result.n_groups)
    if as_json:
        told = {} if folder is None else {"guarantee": folder.guarantee.to_data()}
        if folder is not None and folder.signature is not None:
            told["signature"] = {**asdict(folder.signature), "checked": signed_by is not None}
        say_json({**result.to_dict(), **told})
    else:
        if folder is not None:
            _say_guarantee(folder, signed_by)
        say_text(result)  # which ends with the verdict
    return NOT_MET if result.holds is False else 0


def _of_folder(path: Path, signed_by: str | None, *, as_json: bool) -> FolderCheck:
    """The verification of a release; one that was changed or cannot be read gets a verdict too."""
    from glasshouse.journeys.verify import verify_folder

    try:
        return verify_folder(path, signed_by)
    except SourceError as error:
        if as_json:
            say_json({"verdict": in_options(str(error)), "holds": False})
        raise


def _say_guarantee(folder: FolderCheck, signed_by: str | None) -> None:
    """Print the guarantee of a release, and who signed it."""
    say("what the release guarantees")
    say_text(folder.guarantee)
    say()
    if folder.signature is not None:
        how = f"checked with the key in {signed_by}" if signed_by else _UNCHECKED
        say(f"{folder.signature}, {how}", "")


def _of_table(path: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the options say about a table."""
    from glasshouse.microdata import Taxonomy

    choices = options.chosen(given)
    if not choices.get("quasi") and ("://" in path or Path(path).exists()):
        raise InputError("name the columns whose values others may know about people, with --quasi COLUMNS")
    taxonomies = {name: Taxonomy.of(text) for name, text in choices.pop("taxonomy", {}).items()}
    orders = choices.pop("order", {})
    for name, read in _NUMBERS.items():
        asked = choices.get(name)
        if isinstance(asked, dict):
            choices[name] = {column: read(text) for column, text in asked.items()}
        elif asked is not None:
            choices[name] = read(asked)
    return {**choices, "taxonomies": taxonomies, "ordered": orders}


@click.command(short_help="Show what a release contains and guarantees.")
@click.argument("release", type=click.Path(path_type=Path))
@options.rows_option("How many rows to show.", 10)
@options.why_option
@options.printing_options
@plainly
def show(release: Path, rows: int, *, why: bool, as_json: bool) -> None:
    """Show some rows of a release, and say what it protects, what it does not, and who signed it.

    Whether the named signer really signed it is checked by glasshouse verify with --signed-by.

    \b
    Examples:
      glasshouse show out/release
      glasshouse show out/release --why
      glasshouse show out/release --json
    """
    from glasshouse.journeys.load import load

    with step("load") as note:
        loaded = load(release)
        note(rows=loaded.n_tuples, tables=len(loaded.tables))
    signature = signature_told(release)
    if as_json:
        say_json({**summary(loaded), "signature": signature})
        return
    show_release(loaded, rows=rows)
    points = protection(loaded)
    if signature is not None or why:
        points += signature_points(release, signature)
    say_points(points)
    if why:
        say()
        say_text(loaded.guarantee)


@click.command(short_help="Sign a release, so that readers know who published it.")
@click.argument("release", required=False, type=click.Path(path_type=Path))
@click.option("--key", metavar="FILE", help="The file of the secret key to sign with.")
@click.option("--signer", metavar="NAME", help="The name of the person or office that signs, as readers know it.")
@click.option(
    "--new-key",
    metavar="FILE",
    help="Make a new key first. FILE is the secret key, FILE.pub the public key for readers.",
)
@click.option("--password", "asks", is_flag=True, help="Ask for a password that protects the secret key.")
@click.option("--replace", is_flag=True, help="Replace a signature that was made with another key.")
@options.printing_options
@plainly
def sign(
    release: Path | None,
    key: str | None,
    signer: str | None,
    new_key: str | None,
    *,
    asks: bool,
    replace: bool,
    as_json: bool,
) -> None:
    """Sign the release in a folder: the file signature.json then says who published it, and when.

    Readers check it with the public key. Give them the key in a way that they trust. A signature is valid as long as
    no byte of the release is changed. A release that was signed with another key is refused, unless you say --replace.

    \b
    Examples:
      glasshouse sign --new-key steward.pem
      glasshouse sign out/release --key steward.pem --signer "Statistical office, health department"
      glasshouse verify out/release --signed-by steward.pem.pub
    """
    from glasshouse.release.package import signature

    if release is None and new_key is None:
        raise InputError("name the folder of a release to sign, or make a key with --new-key FILE")
    if key is not None and new_key is not None:
        raise InputError("--key uses a key that exists and --new-key makes a new one: give only one of the two")
    signing = None if release is None else _signing(release, key, new_key, signer, replace=replace)
    password = click.prompt("Password of the key", hide_input=True, err=True).encode() if asks else None
    told: dict[str, Any] = {}
    if new_key is not None:
        public = signature.new_key(new_key, password=password)
        told["public_key"] = str(public)
        if not as_json:
            say(f"{new_key} is the secret key: do not give it to anybody")
            say(f"{public} is the public key: give it to your readers")
    if signing is not None:
        made, earlier = signature.sign(**signing.words, password=password, replace=replace), signing.earlier
        told |= {"signature": asdict(made), "replaced": earlier and asdict(earlier)}
        if not as_json:
            say(f"{release} is {made}")
        if not as_json and earlier is not None:
            whose = "the earlier signature of the same" if earlier.key == made.key else "the signature of another"
            say(f"This replaces {whose} key, {earlier}")
    if as_json:
        say_json(told)


class _Signing(NamedTuple):
    """What is to be signed: the words of `gh.sign`, and the signature that the release has."""

    words: dict[str, Any]
    earlier: Signature | None


def _signing(release: Path, key: str | None, new_key: str | None, signer: str | None, *, replace: bool) -> _Signing:
    """Refuse what cannot be signed, before a key is made for it."""
    from glasshouse.journeys.verify import release_in
    from glasshouse.release.package.container.container import holds_release
    from glasshouse.release.package.signature import refuse_signed, signature_in

    if key is None and new_key is None:
        raise InputError("name the key to sign with: --key FILE, or make one with --new-key FILE")
    if signer is None:
        raise InputError("say who signs the release with --signer NAME")
    folder, earlier = release_in(release), None
    if holds_release(folder):
        if new_key is not None and not replace:
            refuse_signed(folder)
        with suppress(SourceError):  # what is no signature is refused where it would be replaced
            earlier = signature_in(folder)
    return _Signing({"folder": folder, "key": key or new_key, "signer": signer}, earlier)
