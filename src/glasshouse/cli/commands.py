# SPDX-License-Identifier: Apache-2.0
"""The commands, together: inspect, init, compare, publish, marginals, verify, attack, query, show, demo, completion."""

from __future__ import annotations

import sys
from typing import Any

import click

from glasshouse.cli import FAILED
from glasshouse.cli.attacking import attack
from glasshouse.cli.border import say_usage
from glasshouse.cli.comparing import compare
from glasshouse.cli.completing import completion
from glasshouse.cli.demo import demo
from glasshouse.cli.inspecting import init, inspect
from glasshouse.cli.options import METHODS, RECODINGS
from glasshouse.cli.plainly import fail
from glasshouse.cli.publishing import marginals, publish
from glasshouse.cli.querying import query
from glasshouse.cli.reproducing import reproduce
from glasshouse.cli.verifying import show, verify
from glasshouse.version import VERSION

__all__ = ["METHODS", "RECODINGS", "glasshouse"]

PICTURE = """\b
              under a principle
                     |
  microdata ---> grouping ---> recoding ---> release ---+---> adversary
                                                        |
                                                        +---> analyst
"""


class Commands(click.Group):
    """The commands; what click itself has to say goes through the border too."""

    def main(self, *arguments: Any, standalone_mode: bool = True, **more: Any) -> Any:
        """Run a command line, and leave with its exit code."""
        run: Any = super().main
        if not standalone_mode:
            return run(*arguments, standalone_mode=False, **more)
        try:
            code = run(*arguments, standalone_mode=False, **more)
        except click.ClickException as error:
            say_usage(error)
            sys.exit(error.exit_code)
        except OSError as error:  # from printing a help
            fail(f"cannot write the output: {error.strerror}", FAILED)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help=f"Publish tables about people so that nobody learns about a person.\n\n{PICTURE}",
)
@click.version_option(VERSION, prog_name="glasshouse")
def glasshouse() -> None:
    """Hold the commands together."""


for command in (inspect, init, publish, marginals, verify, attack, query, show, demo, completion):
    glasshouse.add_command(command)
glasshouse.add_command(compare)
glasshouse.add_command(reproduce)
