# SPDX-License-Identifier: Apache-2.0
"""The printing layer: all output of commands goes through here, and control characters in it have no effect.

Names, values, titles and messages are made visible (`glasshouse.visible`). What the stream cannot encode is written
out, and a stream that nobody reads any more, or that is closed, ends the command quietly.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

import click

from glasshouse.cli import UNREAD
from glasshouse.plural import counted
from glasshouse.visible import in_lines, json_text, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from rich.table import Table

    from glasshouse.release import Release
    from glasshouse.streaming.publish import PublishedFile

__all__ = [
    "leave_unread",
    "new_table",
    "protection",
    "remark",
    "say",
    "say_json",
    "say_points",
    "say_table",
    "say_text",
    "say_usage",
    "show_file",
    "show_release",
    "signature_points",
    "signature_told",
    "summary",
]

_NO_BREAK = "\u00a0"


def say(*lines: object, err: bool = False, bold: bool = False, colour: str | None = None) -> None:
    """Print lines; each stays one line, even if it contains line breaks."""
    _write(in_lines(map(str, lines or ("",))) + "\n", err=err, bold=bold, colour=colour)


def say_text(text: object, *, nl: bool = True) -> None:
    """Print a text of several lines; only the line breaks of its author count."""
    _write(visible(text, lines=True) + "\n" * nl, err=False)


def remark(kind: str, message: object, colour: str | None = None) -> None:
    """Print an error, a warning or a note on the error stream as one line."""
    say(f"{kind}: {message}", err=True, colour=colour)


def say_json(data: Any) -> None:
    """Print plain data as JSON, and nothing else."""
    text = json_text(data)
    if _encoded(text, sys.stdout) != text:  # an escape of JSON's own, where the stream has no such character
        text = json_text(data, ascii_only=True)
    _write(text + "\n", err=False)


def new_table(title: str = "", **options: Any) -> Table:
    """A table whose cells are printed literally: invisible characters shown, no markup, no links."""
    from rich.table import Table
    from rich.text import Text

    class Visible(Table):
        def add_column(self, header: Any = "", *arguments: Any, **options: Any) -> None:
            super().add_column(Text(visible(header)), *arguments, **options)

        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*(Text(visible(cell)) for cell in cells), **options)

    return Visible(title=Text(visible(title)) if title else None, title_justify="left", **options)


def say_table(table: Table) -> None:
    """Print a table made by `new_table`."""
    from rich.console import Console

    shown = io.StringIO()
    coloured = _has_colours(sys.stdout)
    Console(file=shown, force_terminal=coloured, no_color=not coloured, width=_width()).print(table)
    _write(shown.getvalue(), err=False)


def say_usage(error: click.ClickException) -> None:
    """Print what was wrong with a command line."""
    said = io.StringIO()
    error.show(file=said)
    say(*said.getvalue().splitlines(), err=True)


def leave_unread() -> NoReturn:
    """Exit quietly if nobody reads the output any more; the rest of the output is discarded."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):  # a stream of a test has no number
                os.dup2(nowhere, stream.fileno())
    sys.exit(UNREAD)


def _write(text: str, *, err: bool, bold: bool = False, colour: str | None = None) -> None:
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # closed before we began
        return
    shown = _encoded(text, stream)
    if (bold or colour) and _has_colours(stream):
        shown = click.style(shown, fg=colour, bold=bold or None)
    try:
        stream.write(shown)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "the error stream" if err else "the standard output") from None


def _encoded(text: str, stream: Any) -> str:
    """The text with every character that the stream cannot encode written as an escape."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _has_colours(stream: Any) -> bool:
    return stream is not None and stream.isatty() and "NO_COLOR" not in os.environ


def _width() -> int:
    """The width of the terminal; at least one letter per column."""
    import shutil

    return max(20, shutil.get_terminal_size().columns)


# --- a release --------------------------------------------------------------------------------------------------------


def summary(release: Release | PublishedFile, out: Path | None = None) -> dict[str, Any]:
    """What a release promises and how it was made, as plain data; no value of the table."""
    where = {} if out is None else {"release": str(out / "release"), "audit": str(out / "audit")}
    return {
        **where,
        "n_tuples": release.n_tuples,
        "n_dropped": release.n_dropped - getattr(release, "n_incomplete", 0),  # rows that were never read are not told
        **({"editions": [one.to_data() for one in editions]} if (editions := getattr(release, "editions", ())) else {}),
        "guarantee": release.guarantee.to_data(),
        "recipe": release.recipe.to_data(),
    }


def show_release(release: Release, rows: int) -> None:
    """Print some rows of a release, spread over each of its tables, and which editions it has."""
    for name, published in release.packaged.items():
        _show_table(name, published, published.num_rows, rows)
    if release.editions:
        from glasshouse.release.edition import in_words

        say(in_words(release.editions), "")


def show_file(made: PublishedFile, rows: int) -> None:
    """Print some rows of a release whose tables lie in their folder, taken from the first file of each."""
    from glasshouse.release.package.stream import open_release

    with open_release(made.folder) as opened:
        for name, n_rows in made.n_rows.items():
            _show_table(name, next(opened.batches(name)), n_rows, rows)
    parted = [f"{name} in {len(files):,} files" for name, files in made.files.items() if len(files) > 1]
    say("; ".join([f"{counted(made.n_tuples, 'record')} in {counted(made.n_groups, 'group')}", *parted]), "")


def protection(release: Release | PublishedFile) -> list[tuple[str, str | list[str]]]:
    """What a release protects and what it does not, and how many people were left out, each with a heading."""
    from glasshouse.pages.people_without_promise import LeftOut
    from glasshouse.pages.protection import not_protected, protected

    recipe, left_out = release.recipe, LeftOut.of(release)
    told = (recipe, release.guarantee, left_out)
    points = [("Protected", protected(*told)), ("Not protected", not_protected(*told, release.columns))]
    if left_out.n_at_random:
        points.insert(0, ("Left out", left_out.at_random_in_words))
    return [(head, _unbroken(text, (*recipe.quasi, *recipe.sensitive))) for head, text in points]


def signature_told(folder: Path) -> dict[str, Any] | None:
    """Who signed a release, when, and what is wrong with the signature; its files must be as the manifest lists them.

    None if there is no signature. Whose key it is was not checked.
    """
    from dataclasses import asdict

    from glasshouse.errors import SourceError
    from glasshouse.release.package.signature import signature_in

    try:
        signature = signature_in(folder)
    except SourceError as error:
        return {"signer": None, "date": None, "key": None, "checked": False, "fault": str(error)}
    if signature is None:
        return None
    return {**asdict(signature), "checked": False, "fault": signature.mismatch(folder)}


def signature_points(folder: Path, told: dict[str, Any] | None) -> list[tuple[str, str | list[str]]]:
    """Who signed a release, as `signature_told` gives it, and how to check that, with a heading."""
    if told is None:
        return [("Signed", "By nobody: the release does not show who published it.")]
    if told["fault"] is not None:
        said = f"The signature is not valid, so nobody can be taken for the signer: {told['fault']}."
        return [("Signed", visible(said))]
    said = (
        f"By {told['signer']} on {told['date'][:10]}, as the signature says. It is valid for the key "
        f"{told['key'][:16]} that it names. Whether this key belongs to {told['signer']} was not checked. To check it:"
    )
    command = f"  glasshouse verify {shlex.quote(str(folder))} --signed-by PUBLIC_KEY_FILE"
    return [("Signed", _unbroken(said, [told["signer"]])), ("", [command])]


def _unbroken(text: str, names: Sequence[str]) -> str:
    """The text with spaces in names that no line breaks at, so that no part of a name looks like a line of ours."""
    text = visible(text)
    for name in map(visible, names):
        text = text.replace(name, name.replace(" ", _NO_BREAK))
    return text


def say_points(points: Sequence[tuple[str, str | list[str]]]) -> None:
    """Print texts, each beside its heading; or commands, each of which stays on one line."""
    indent = " " * (max(len(head) for head, _ in points) + 2)
    width = max(len(indent) + 40, min(_width(), 112))
    for head, text in points:
        lines = text if isinstance(text, list) else _wrapped(text, width - len(indent))
        heads = [f"{head:<{len(indent)}}", *[indent] * (len(lines) - 1)]
        say(*(start + line for start, line in zip(heads, lines, strict=True)))


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text into lines in which no-break spaces are marked."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _show_table(name: str, published: pa.Table, n_rows: int, rows: int) -> None:
    """Print rows of a table of so many rows, spread over those that are given."""
    from rich import box

    from glasshouse.cli.previews.column_fit import fit_columns

    shown = min(rows, published.num_rows)
    table = new_table(f"{name}: {shown:,} of {counted(n_rows, 'row')}", box=box.SIMPLE)
    picked = [published.slice(i * published.num_rows // shown, 1).to_pylist()[0] for i in range(shown)]
    cells = [["" if value is None else str(value) for value in row.values()] for row in picked]
    fit = fit_columns(published.column_names, cells, _width() - 2)
    for column in fit.shown:
        table.add_column(column, max_width=fit.widest, no_wrap=True, overflow="ellipsis")
    for row in cells:
        table.add_row(*row[: len(fit.shown)])
    say_table(table)
    if fit.hidden:
        say(f"  {fit}", "")
