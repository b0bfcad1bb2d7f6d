# SPDX-License-Identifier: Apache-2.0
"""The border to the terminal: everything that a command prints goes through here, and nothing in it is obeyed.

Names, values, titles and messages are made visible (`glasshouse.visible`). What the stream cannot encode is written
out, and a stream that nobody reads any more, or that is closed, ends the command quietly.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from glasshouse.cli import UNREAD
from glasshouse.visible import in_lines, json_text, visible

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from rich.table import Table

    from glasshouse.release import Release
    from glasshouse.streaming.publish import PublishedFile

__all__ = [
    "leave_unread",
    "new_table",
    "remark",
    "say",
    "say_json",
    "say_table",
    "say_text",
    "say_usage",
    "show_file",
    "show_release",
    "summary",
]


def say(*lines: object, err: bool = False, bold: bool = False, colour: str | None = None) -> None:
    """Print lines, each of which stays one, whatever it holds."""
    _write(in_lines(map(str, lines or ("",))) + "\n", err=err, bold=bold, colour=colour)


def say_text(text: object, *, nl: bool = True) -> None:
    """Print a text of several lines, of which whoever made it knows where they end."""
    _write(visible(text, lines=True) + "\n" * nl, err=False)


def remark(kind: str, message: object, colour: str | None = None) -> None:
    """Print an error, a warning or a note on the error stream: one line, whatever it holds."""
    say(f"{kind}: {message}", err=True, colour=colour)


def say_json(data: Any) -> None:
    """Print plain data as JSON, and nothing else."""
    text = json_text(data)
    if _encoded(text, sys.stdout) != text:  # an escape of JSON's own, where the stream has no such character
        text = json_text(data, ascii_only=True)
    _write(text + "\n", err=False)


def new_table(title: str = "", **options: Any) -> Table:
    """A table whose cells are taken as they are: made visible, no markup, no links."""
    from rich.table import Table
    from rich.text import Text

    class Visible(Table):
        def add_column(self, header: Any = "", *arguments: Any, **options: Any) -> None:
            super().add_column(Text(visible(header)), *arguments, **options)

        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*(Text(visible(cell)) for cell in cells), **options)

    return Visible(title=Text(visible(title)) if title else None, title_justify="left", **options)


def say_table(table: Table) -> None:
    """Print a table that `new_table` began."""
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
    """End quietly where nobody reads the output any more; what is still to be written goes nowhere."""
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
    stream.write(shown)
    stream.flush()


def _encoded(text: str, stream: Any) -> str:
    """The text with everything written out that the stream has no character for."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _has_colours(stream: Any) -> bool:
    return stream is not None and stream.isatty() and "NO_COLOR" not in os.environ


def _width() -> int:
    """Columns of the terminal; enough for a letter a column, however narrow it says it is."""
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
    """Print what a release promises, and some of its rows, spread over its tables."""
    say_text(release.guarantee)
    if release.editions:
        from glasshouse.release.edition import in_words

        say("", in_words(release.editions))
    say()
    for name, published in release.packaged.items():
        _show_table(name, published, published.num_rows, rows)


def show_file(made: PublishedFile, rows: int) -> None:
    """Print what a release promises whose tables lie in their folder, and some rows of the first file of each."""
    from glasshouse.release.package.stream import open_release

    say_text(made.guarantee)
    say()
    with open_release(made.folder) as opened:
        for name, n_rows in made.n_rows.items():
            _show_table(name, next(opened.batches(name)), n_rows, rows)
    parted = [f"{name} in {len(files):,} files" for name, files in made.files.items() if len(files) > 1]
    say("; ".join([f"{made.n_tuples:,} tuples in {made.n_groups:,} groups", *parted]))


def _show_table(name: str, published: pa.Table, n_rows: int, rows: int) -> None:
    """Print some rows, spread over those that are given, of a table that has so many."""
    from rich import box

    shown = min(rows, published.num_rows)
    table = new_table(f"{name}: {shown:,} of {n_rows:,} rows", box=box.SIMPLE)
    for column in published.column_names:
        table.add_column(column, max_width=32, no_wrap=True, overflow="ellipsis")
    for i in range(shown):
        row = published.slice(i * published.num_rows // shown, 1).to_pylist()[0]
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    say_table(table)
