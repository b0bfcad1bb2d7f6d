# SPDX-License-Identifier: Apache-2.0
"""The command `studio`: the web application on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from glasshouse.cli import options
from glasshouse.cli.exits import plainly
from glasshouse.cli.printing import say, say_json

__all__ = ["studio"]


@click.command(short_help="Publish from a web page on this machine.")
@click.argument("file", required=False)
@click.option("--port", type=int, default=0, help="The port of the page; by default one that is free.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. Only addresses of this machine are allowed.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser, or only print its address.")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    help="A folder for the studio's files, which is kept when the studio ends. By default a temporary folder is used.",
)
@options.printing_options
@plainly
def studio(file: str | None, *, port: int, host: str, browser: bool, workspace: Path | None, as_json: bool) -> None:
    """Open the studio: a web page on this machine, which leads from a table to a release.

    FILE is the table to start with, or the folder of a release to look at. Ctrl-C ends the studio.

    \b
    Examples:
      glasshouse studio
      glasshouse studio patients.csv --port 8765 --no-browser
      glasshouse studio out/release
    """
    from glasshouse.studio import serve

    def told(address: str) -> None:
        if as_json:
            say_json({"address": address})
            return
        say("The studio is open. Only this machine can reach it. Open this address in one browser:")
        say(f"  {address}", bold=True)
        say("Press Ctrl-C to end it" + ("." if workspace else " and to remove its temporary files."))

    serve(file, port=port, host=host, browser=browser, workspace=workspace, told=told)
