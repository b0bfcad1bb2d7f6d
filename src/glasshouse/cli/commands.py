# SPDX-License-Identifier: Apache-2.0
"""The commands, together, and the one that lets a shell complete them."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import click

from glasshouse.cli import FAILED, options
from glasshouse.cli.attack import attack
from glasshouse.cli.compare import compare
from glasshouse.cli.demo import demo
from glasshouse.cli.exits import GIVEN, fail, plainly
from glasshouse.cli.inspect import init, inspect, taxonomy
from glasshouse.cli.learn import learn
from glasshouse.cli.printing import say_json, say_text, say_usage
from glasshouse.cli.publish import marginals, publish
from glasshouse.cli.query import query, sample
from glasshouse.cli.reproduce import reproduce
from glasshouse.cli.studio import studio
from glasshouse.cli.verify import show, sign, verify
from glasshouse.version import VERSION

__all__ = ["glasshouse"]

PICTURE = """\b
              under a principle
                     |
  microdata ---> grouping ---> recoding ---> release ---+---> attacker
                                                        |
                                                        +---> analyst
"""


class Commands(click.Group):
    """The commands; messages of click itself are printed in the same way as ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they were given, for a command that is to be copied."""
        ctx.meta[GIVEN] = list(args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, ...]:
        """Find the command, and refuse an option that is given twice where only the last one would count."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            order: list[click.Parameter] = []
            own = click.Context(command, info_name=name, parent=ctx)
            with contextlib.suppress(click.UsageError):  # which the command itself reports
                _, _, order = command.make_parser(own).parse_args(list(rest))
            _refuse_twice(order, own)
        return name, command, rest

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


def _refuse_twice(order: list[click.Parameter], ctx: click.Context) -> None:
    for number, one in enumerate(order):
        takes_one = isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)
        if takes_one and one in order[:number]:
            raise click.UsageError(
                f"{one.opts[0]} is given twice: give it once. Separate several names by commas.", ctx
            )


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help=f"Publish tables about people so that an attacker learns no more about a person than you allow.\n\n{PICTURE}",
)
@click.version_option(VERSION, prog_name="glasshouse")
def glasshouse() -> None:
    """Hold the commands together."""


@click.command(short_help="Print a script that completes commands and options in your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.printing_options
@plainly
def completion(shell: str, *, as_json: bool) -> None:
    """Print the script that lets a shell complete commands, options and their values.

    \b
    Examples:
      glasshouse completion bash > ~/.glasshouse-completion    # and in ~/.bashrc: source ~/.glasshouse-completion
      glasshouse completion zsh > ~/.glasshouse-completion     # and in ~/.zshrc: source ~/.glasshouse-completion
      glasshouse completion fish > ~/.config/fish/completions/glasshouse.fish
    """
    from click.shell_completion import get_completion_class

    kind: Any = get_completion_class(shell)
    maker = kind(click.get_current_context().find_root().command, {}, "glasshouse", "_GLASSHOUSE_COMPLETE")
    script = maker.source_template % maker.source_vars()  # `source` would run the shell to ask for its version
    if as_json:
        say_json({"shell": shell, "script": script})
    else:
        say_text(script)


for command in (
    inspect,
    init,
    taxonomy,
    compare,
    publish,
    marginals,
    sign,
    verify,
    attack,
    learn,
    query,
    sample,
    show,
    studio,
    demo,
    reproduce,
    completion,
):
    glasshouse.add_command(command)
