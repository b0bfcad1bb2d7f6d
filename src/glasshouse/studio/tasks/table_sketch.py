# SPDX-License-Identifier: Apache-2.0
"""A sketch of the table for the steps that promise something: how often sensitive values occur, and no row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.journeys.advice.sketch import Sketch
    from glasshouse.studio.job import Tell

__all__ = ["sketch"]


def sketch(*, tell: Tell, choices: Mapping[str, Any]) -> Sketch:
    """Read the table and count its sensitive values."""
    import glasshouse as gh
    from glasshouse.journeys.advice.sketch import Sketch
    from glasshouse.policy.choices import read_arguments

    tell.progress("reading the table", 0, 0)
    table = gh.read(choices["file"], **read_arguments(choices))
    tell.progress("counting sensitive values", 0, 0)
    return Sketch.of(table)
