# SPDX-License-Identifier: Apache-2.0
"""How a command fails: our exceptions as one line and exit code 2, our warnings as one line each."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from glasshouse.errors import DisclosureWarning, GlasshouseError, InterpretedKernelsWarning

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fail", "plainly"]


def plainly(command: Callable[..., None]) -> Callable[..., None]:
    """Turn our exceptions into one line on the error stream and exit code 2; show our warnings as one line each."""

    @functools.wraps(command)
    def run(*arguments: Any, **keywords: Any) -> None:
        with warnings.catch_warnings(record=True) as caught:
            for category in (DisclosureWarning, InterpretedKernelsWarning):
                warnings.simplefilter("always", category)
            try:
                command(*arguments, **keywords)
            except GlasshouseError as error:
                fail(str(error))
            finally:
                for warning in caught:
                    click.secho(f"warning: {warning.message}", fg="yellow", err=True)

    return run


def fail(message: str) -> NoReturn:
    """Say what is wrong, and leave with exit code 2."""
    click.secho(f"error: {message}", fg="red", err=True)
    sys.exit(2)
