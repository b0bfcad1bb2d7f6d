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
@click.option("--port", type=int, default=0, help="Port to listen on; one that is free by default.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Only this machine is allowed.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page in a browser.")
@click.option(
    "--workspace", type=click.Path(path_type=Path), help="Folder for the studio's files, which is kept; else a new one."
)
@options.printing_options
@plainly
def studio(file: str | None, *, port: int, host: str, browser: bool, workspace: Path | None, as_json: bool) -> None:
    """Open the studio: a web page on this machine, from a table to a release.

    FILE is a table to begin with, or the folder of a release, which is then opened alone. Ctrl-C ends the studio.

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
        say("The studio is open, on this machine alone. Its address, for one browser:")
        say(f"  {address}", bold=True)
        say("Ctrl-C ends it" + ("." if workspace else ", and removes the files that it made for itself."))

    serve(file, port=port, host=host, browser=browser, workspace=workspace, told=told)
