# SPDX-License-Identifier: Apache-2.0
"""The command-line door. Heavy imports stay inside the commands, so that ``glasshouse --help`` is instant."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the ``glasshouse`` command."""
    from glasshouse.cli.commands import glasshouse

    glasshouse(prog_name="glasshouse")
