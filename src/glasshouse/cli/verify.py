# SPDX-License-Identifier: Apache-2.0
"""The commands `verify`, which recounts a release or any tool's table, `show`, which tells what one is, and `sign`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import NOT_MET, plainly
from glasshouse.cli.printing import say, say_json, say_text, show_release, summary
from glasshouse.cli.progress import progress_of_steps
from glasshouse.errors import InputError
from glasshouse.log import step
from glasshouse.policy.choices import option

__all__ = ["show", "sign", "verify"]


@click.command(short_help="Whether a release keeps its promise; what any tool's table achieves.")
@click.argument("path", metavar="RELEASE|FILE", type=click.Path())
@options.quasi_option
@options.sensitive_option
@options.column_options
@click.option("--k", type=int, metavar="K", help="Exit with 1 unless every group has at least K rows.")
@click.option("--ell", type=int, metavar="L", help="Exit with 1 unless l-diversity holds.")
@click.option("--t", metavar="T", help="Exit with 1 unless t-closeness holds.")
@click.option("--population", type=int, metavar="N", help="Size of the population, for journalist risk.")
@click.option("--signed-by", metavar="FILE", help="The public key that must have signed the release.")
@options.source_options
@options.printing_options
@plainly
def verify(path: str, *, as_json: bool, signed_by: str | None, **given: Any) -> int:
    """Recount what a table achieves, from the published tables alone, by an implementation of its own.

    RELEASE is a release folder, or the folder that it was published into: it is held to what it promises. A large one
    is read batch after batch, and never lies in memory as a whole. FILE is a table that any tool wrote: --quasi and
    --sensitive name its columns, and --k, --ell and --t what is asked of it. The exit code is 1 if it does not hold.

    \b
    Examples:
      glasshouse verify out/release
      glasshouse verify out/release --signed-by steward.pem.pub
      glasshouse verify any_tool_output.csv --quasi age,sex,zipcode --sensitive disease --k 5 --ell 3
    """
    from glasshouse.journeys.verify import check_signature, release_in, verify_folder
    from glasshouse.journeys.verify import verify as recount

    promised, signature = None, None
    with progress_of_steps(), step("recount") as note:
        if Path(path).is_dir():
            for name, value in given.items():
                if value not in (None, ()):
                    raise InputError(f"{option(name)} is for a table: a release is held to what it promises itself")
            folder = release_in(Path(path))
            signature = check_signature(folder, signed_by)
            result, promised = verify_folder(folder)
        else:
            if signed_by is not None:
                raise InputError("--signed-by is for the folder of a release: a table has no signature")
            result = recount(path, **_of_table(path, given))
        note(rows=result.n_tuples, groups=result.n_groups)
    if as_json:
        told = {} if promised is None else {"guarantee": promised.to_data()}
        if signature is not None:
            told["signature"] = {**asdict(signature), "checked": signed_by is not None}
        say_json({**result.to_dict(), **told})
    else:
        say_text(result)
        if promised is not None:
            say("", "what its recipe promises")
            say_text(promised)
        if signature is not None:
            how = "with the key in" if signed_by else "which was not checked: give the public key with --signed-by"
            say("", f"{signature}, {how}{f' {signed_by}' if signed_by else ''}")
    return NOT_MET if result.holds is False else 0


def _of_table(path: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the options say of a table."""
    from glasshouse.microdata import Taxonomy

    choices = options.chosen(given)
    if not choices.get("quasi") and ("://" in path or Path(path).exists()):
        raise InputError("name the columns that others may know: --quasi COLUMNS")
    taxonomies = {name: Taxonomy.of(text) for name, text in choices.pop("taxonomy", {}).items()}
    return {**choices, "taxonomies": taxonomies, "ordered": choices.pop("order", {})}


@click.command(short_help="What a release folder holds and promises.")
@click.argument("release", type=click.Path(path_type=Path))
@options.rows_option("How many rows to show.", 10)
@options.printing_options
@plainly
def show(release: Path, rows: int, *, as_json: bool) -> None:
    """Show a release: what it promises, and some of its rows.

    \b
    Examples:
      glasshouse show out/release
      glasshouse show out/release --json
    """
    from glasshouse.journeys.load import load

    with step("load") as note:
        loaded = load(release)
        note(rows=loaded.n_tuples, tables=len(loaded.tables))
    if as_json:
        say_json(summary(loaded))
    else:
        show_release(loaded, rows=rows)


@click.command(short_help="Sign a release, so that readers know who published it.")
@click.argument("release", required=False, type=click.Path(path_type=Path))
@click.option("--key", metavar="FILE", help="The secret key to sign with.")
@click.option("--signer", metavar="NAME", help="Who signs, as readers know them.")
@click.option("--new-key", metavar="FILE", help="Make a key first: FILE is secret, FILE.pub is for readers.")
@click.option("--password", "asks", is_flag=True, help="Ask for the password of the secret key.")
@options.printing_options
@plainly
def sign(
    release: Path | None, key: str | None, signer: str | None, new_key: str | None, *, asks: bool, as_json: bool
) -> None:
    """Sign the release in a folder: signature.json then says who published it, and when.

    Readers check it with the public key, which they must have from you in a way that they trust. A signature holds as
    long as no byte of the release is changed.

    \b
    Examples:
      glasshouse sign --new-key steward.pem
      glasshouse sign out/release --key steward.pem --signer "Statistical office, health department"
      glasshouse verify out/release --signed-by steward.pem.pub
    """
    from glasshouse.release.package import signature

    if release is None and new_key is None:
        raise InputError("name the folder of a release, or make a key with --new-key FILE")
    if key is not None and new_key is not None:
        raise InputError("--key signs with a key that is there, and --new-key makes one: give one of the two")
    password = click.prompt("Password of the key", hide_input=True, err=True).encode() if asks else None
    told: dict[str, Any] = {}
    if new_key is not None:
        public = signature.new_key(new_key, password=password)
        told["public_key"] = str(public)
        if not as_json:
            say(f"{new_key} is the secret key: keep it to yourself")
            say(f"{public} is the public key: give it to your readers")
    if release is not None:
        made = _signed(release, key or new_key, signer, password)
        told["signature"] = asdict(made)
        if not as_json:
            say(f"{release} is {made}")
    if as_json:
        say_json(told)


def _signed(release: Path, key: str | None, signer: str | None, password: bytes | None) -> Any:
    from glasshouse.journeys.verify import release_in
    from glasshouse.release.package.signature import sign

    if key is None:
        raise InputError("say with which key: --key FILE, or make one with --new-key FILE")
    if signer is None:
        raise InputError("say who signs: --signer NAME")
    return sign(release_in(release), key=key, signer=signer, password=password)
