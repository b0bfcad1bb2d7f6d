# SPDX-License-Identifier: Apache-2.0
"""The command `completion`: what a shell must run to complete our commands, options and choices."""

from __future__ import annotations

from typing import Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import plainly
from glasshouse.cli.printing import say_json, say_text

__all__ = ["completion"]


@click.command(short_help="The script that completes commands and options in your shell.")
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
