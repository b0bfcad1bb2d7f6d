# SPDX-License-Identifier: Apache-2.0
"""Openings: other ways to read a table that was refused before it was read; each is tried.

Every opening is tried by reading the table and counting its sensitive values, so that no command is offered that would
be refused. Only what one reading can tell is told: how many records there are, and how often each value occurs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import CautionError, DisclosureWarning, DomainError, GlasshouseError
from glasshouse.journeys.advice.sketch import Sketch
from glasshouse.journeys.advice.ways import ELL, Way, as_asked, ways_out, with_room
from glasshouse.microdata import read
from glasshouse.microdata.cautions import BETTER_LEFT_OUT
from glasshouse.microdata.inspection.amounts import Reading, readings_of
from glasshouse.microdata.reading.sources import open_source
from glasshouse.policy.choices import principle as principle_of
from glasshouse.policy.choices import read_arguments
from glasshouse.policy.keys import TABLES
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from glasshouse.microdata import Microdata

__all__ = ["DRAWN", "DRAWS", "Opening", "openings_after"]

_Alternative = tuple[str, dict[str, Any]]  # what is read otherwise, in words, and the choices that say so

_MOST_BYTES = 1 << 28  # of a file that is read once more to give advice
_ASKED = frozenset(key.choice for key in TABLES["principle"].values())
_MOST_READINGS = 8  # of one file, until an opening is given up
_CLOSE = ("asked", "nearest", "roomier", "closeness")  # what was asked for, or is closest to it
DRAWN = "One row of each person is drawn at random: this was tried with other draws, so your numbers may differ."
DRAWS = 3  # with which is tried what depends on the rows that are drawn


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A way to read a table that was refused, and the guarantees that are then possible.

    Parameters
    ----------
    words
        What is read otherwise.
    choices
        All that was chosen, with this reading.
    way
        What can be promised then: what was asked for, if that is possible.
    """

    words: str
    choices: dict[str, Any]
    way: Way


def openings_after(error: DomainError | CautionError, choices: Mapping[str, Any]) -> tuple[Opening, ...]:
    """The openings that are left after reading a table by these choices was refused by this error."""
    if not _can_be_read_again(choices):
        return ()
    found = []
    for alternatives in _alternatives(error, choices):
        found += _as_asked_first(alternatives)
    return tuple(found)


def _as_asked_first(alternatives: Sequence[_Alternative]) -> list[Opening]:
    """The openings of the first alternative, after those of another one if only that allows what was asked for."""
    first: list[Opening] = []
    for words, changed in alternatives:
        found = _opened(words, changed)
        if any(opening.way.name == "asked" for opening in found):
            return [*found, *first]
        first = first or found
    return first


def _can_be_read_again(choices: Mapping[str, Any]) -> bool:
    """Whether the table is a file that is not too large."""
    file = str(choices.get("file", "-"))
    if "://" in file or file == "-":
        return False
    path = Path(file).expanduser()
    return path.is_file() and path.stat().st_size <= _MOST_BYTES


def _alternatives(error: DomainError | CautionError, choices: Mapping[str, Any]) -> Iterator[tuple[_Alternative, ...]]:
    """Alternatives to the refused choices, the best first; each may have finer ones, which may allow more."""
    if isinstance(error, CautionError):
        for answer in _answers(error, choices):
            yield (answer,)
    elif error.situation == "missing":
        yield (("A missing value is a value of its own.", {**choices, "missing": "category"}),)
        yield (("Records with a missing value are left out.", {**choices, "missing": "drop"}),)
    elif error.situation == "amounts" and error.column is not None:
        name, several = error.column, len(choices.get("sensitive") or ()) > 1
        for reading in _readings(name, choices):
            yield tuple(
                (one.named(name) if several else one.words, _with(choices, name, one))
                for one in (reading, *reading.finer)
            )


def _answers(error: CautionError, choices: Mapping[str, Any]) -> Iterator[_Alternative]:
    """The ways to resolve cautions.

    Look-alikes are merged, numbers with a decimal comma are read as numbers, and free text and names of people are left
    out.

    What may be an accident must be looked into, and is never offered to be accepted.
    """
    alike = [caution.column for caution in error.cautions if caution.name == "look-alikes"]
    if len(alike) == len(error.cautions):
        merged = [*choices.get("normalise", ()), *alike]
        yield (
            (
                f"Values of {', '.join(alike)} that differ only in capital letters, spaces, dashes, quotation marks "
                "or invisible characters become one value."
            ),
            {**choices, "normalise": merged},
        )
    if {caution.name for caution in error.cautions} == {"decimal-commas"}:
        yield "Numbers with a decimal comma are read as numbers.", {**choices, "decimal": ","}
    left_out = {caution.column: None for caution in error.cautions if caution.name in BETTER_LEFT_OUT}
    quasi = [name for name in choices["quasi"] if name not in left_out]
    if quasi and all(caution.name in BETTER_LEFT_OUT for caution in error.cautions):
        changed = {**choices, "quasi": quasi}
        kept = [name for name in choices.get("sensitive", ()) if name not in left_out]
        if kept:
            changed["sensitive"] = kept
        elif choices.get("sensitive"):
            changed = {**{name: value for name, value in changed.items() if name not in _ASKED}, "k": ELL}
            changed.pop("sensitive")
        yield f"Not published: {', '.join(left_out)}.", changed


def _readings(column: str, choices: Mapping[str, Any]) -> tuple[Reading, ...]:
    """The ways to read a column of amounts."""
    given = {name: choices[name] for name in ("delimiter", "encoding", "decimal", "table", "query") if name in choices}
    return readings_of(open_source(choices["file"], columns=[column], **given).table.column(column), column)


def _with(choices: Mapping[str, Any], column: str, reading: Reading) -> dict[str, Any]:
    if reading.categorical:
        return {**choices, "categorical": [*choices.get("categorical", ()), column]}
    return {**choices, "bins": {**choices.get("bins", {}), column: reading.bins}}


def _opened(words: str, choices: dict[str, Any]) -> list[Opening]:
    """Read the table by these choices, with the first alternative for anything else refused; None if nothing helps."""
    for _ in range(_MOST_READINGS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DisclosureWarning)
                ways = _ways([Sketch.of(table) for table in _tables(choices)], choices)
            return [Opening(words=words, choices=choices, way=way) for way in ways]
        except (CautionError, DomainError) as error:
            others = next(_alternatives(error, choices), None)
            if others is None:
                return []
            words, choices = f"{words} {others[0][0]}", others[0][1]
        except GlasshouseError:
            return []
    return []


def _tables(choices: Mapping[str, Any]) -> Iterator[Microdata]:
    """The table as it is read by these choices; where a row of each person is drawn, several draws of it."""
    for seed in range(DRAWS if choices.get("repeated") == "sample" else 1):
        table = read(choices["file"], **read_arguments(choices), random=Source.seeded(seed))
        table.refuse_unanswered()
        yield table


def _ways(sketches: Sequence[Sketch], choices: Mapping[str, Any]) -> list[Way]:
    """The guarantees that every draw allows: what was asked for, or else what is closest to it."""
    principle = principle_of(choices)
    sketch, *others = sketches
    asked = as_asked(sketch, principle, choices.get("suppress", 0))
    roomier = None if asked is None else with_room(sketch, principle)
    possible = ways_out(sketch, principle) if asked is None else (asked, *(() if roomier is None else (roomier,)))
    close = any(way.name in _CLOSE for way in possible)
    ways = [way for way in possible if way.name in _CLOSE or way.name == "designated"]
    ways += [way for way in possible if way.name == "alpha" and not close]  # as of sets, which have no closeness
    held = [way for way in ways if all(as_asked(other, way.principle, way.suppress) for other in others)]
    if asked is None and not isinstance(principle, Mapping):
        less = f"This is less than you asked for: {principle.title} is not possible here."
        held = [replace(way, cost=f"{way.cost} {less}") if way.name == "nearest" else way for way in held]
    return [replace(way, cost=f"{way.cost} {DRAWN}") for way in held] if others else held
