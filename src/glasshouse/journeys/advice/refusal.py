# SPDX-License-Identifier: Apache-2.0
"""A refusal that says what can be done instead, as Python calls.

The ways are looked for where a person asked, and not inside the journey, which attacks and comparisons repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.errors import Infeasible

__all__ = ["advised"]


def advised(error: Infeasible) -> Infeasible:
    """The same error with possible alternatives, and a note that lists them; added only once.

    >>> import glasshouse as gh
    >>> table = gh.read({"age": [*range(9)], "hiv": ["no"] * 8 + ["yes"]}, quasi=["age"], sensitive="hiv")
    >>> try:
    ...     gh.publish(table, principle=gh.LDiversity(ell=2))
    ... except gh.Infeasible as refusal:
    ...     print(refusal.ways[0].call)
    gh.publish(table, principle=gh.DesignatedLDiversity(ell=5, values=('yes',)))
    """
    from glasshouse.journeys.advice.ways import python_note, ways_after  # here, for they plan by the journey's plan

    if error.counted is None or error.ways:
        return error
    error.ways = ways_after(error)
    error.counted = None  # an exception may live long, and be logged or pickled
    note = python_note(error.ways)
    if note:
        error.add_note(note)
        error.python_note = note
    return error
