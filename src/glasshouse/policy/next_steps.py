# SPDX-License-Identifier: Apache-2.0
"""Next steps: the ways that a table leaves open, as commands to copy and as choices to make.

A command is the one that was given, with everything that was said of the table, and another promise in place of the
one that the table cannot keep. A way that options cannot say, as for a name with a line break, is left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from glasshouse.errors import CautionError, DomainError, Infeasible
from glasshouse.policy.command_line import command_line
from glasshouse.policy.keys import TABLES
from glasshouse.policy.principle_choices import choices_asking_for, choices_asking_for_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from glasshouse.journeys.advice.ways import Way
    from glasshouse.microdata.inspection.inspection import Inspection
    from glasshouse.policy.first_choices import FirstChoices
    from glasshouse.policy.openings import Opening

__all__ = [
    "advising",
    "changes_of",
    "command_of",
    "first_lines",
    "first_steps",
    "opening_steps",
    "steps_of",
]

_OPTIONS = "Read what each option means with: glasshouse publish --help"
_CHOICE = "Choose by what would harm a person, and not by which release looks better."
_WIDTH = 100
_GIVEN_UP = (
    *(key.choice for key in TABLES["principle"].values()),
    *("method", "parameters", "recoding", "recoding_with", "marginal", "retention", "domain", "suppress"),
)


def changes_of(way: Way) -> dict[str, Any] | None:
    """The choices for an alternative, with None for those it removes; None if choices cannot express it.

    >>> import glasshouse as gh
    >>> from glasshouse.journeys.advice.ways import Way
    >>> way = Way(name="closeness", principle=gh.TCloseness("0.1"), promise="", cost="")
    >>> {name: value for name, value in changes_of(way).items() if value is not None}
    {'t': '0.1'}
    """
    from glasshouse.principles.parameters import plain  # here, for it loads NumPy, and help must be instant

    one = way.principle
    asked = choices_asking_for_each(one) if isinstance(one, Mapping) else choices_asking_for(one)
    if asked is None:
        return None
    found: dict[str, Any] = {**dict.fromkeys(_GIVEN_UP), **asked}
    if way.suppress:
        found["suppress"] = str(plain(way.suppress))
    if way.domain is not None:
        found["domain"] = list(way.domain)
    if way.sensitive is not None:
        found["sensitive"] = list(way.sensitive)
    return found


def command_of(way: Way, choices: Mapping[str, Any], *, force: bool = False) -> str | None:
    """The command that publishes an alternative to what was chosen; None if options cannot express it."""
    changes = changes_of(way)
    if changes is None:
        return None
    kept = {name: value for name, value in (dict(choices) | changes).items() if value not in (None, [], {}, ())}
    made = command_line(kept)
    return None if made.reason is not None else f"{made}{' --force' * force}"


def steps_of(ways: Sequence[Way], choices: Mapping[str, Any], *, force: bool = False) -> tuple[str, ...]:
    """The alternatives as lines: the guarantee of each, its cost, and the command; empty if there is none."""
    lines: list[str] = []
    for way in ways:
        command = command_of(way, choices, force=force)
        if command is None:
            continue
        lines += ["", *_paragraph(f"{(len(lines) and 'Or: ') or ''}{way.promise}"), *_paragraph(f"Cost: {way.cost}")]
        lines.append(f"    {command}")
    return ("", "This table can be published in one of these ways:", *lines, *_closing(lines)) if lines else ()


def _closing(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines on how to choose between several alternatives, and on where the options are explained."""
    several = any(line.startswith("  Or: ") for line in lines)
    return ("", *([_CHOICE] * several), _OPTIONS)


def _paragraph(text: str) -> list[str]:
    """The text in lines, with no line between a number and its percent sign."""
    tied = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = wrap(tied, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}%", " %") for line in lines]


def first_steps(inspection: Inspection, *, file: str, **source: str) -> list[dict[str, str]]:
    """The commands that publish a table as an inspection suggests: each with its promise and its cost.

    The first is what is proposed. Others follow where l-diversity is not possible, and where the numbers of the
    sensitive column may be codes. If options cannot say what is proposed, the step says why, and how to write a policy
    ``first``. There is no step if the inspection found no quasi-identifier.
    """
    from glasshouse.policy.first_choices import first_choices

    first = first_choices(inspection)
    if not first.choices.get("quasi"):
        return []
    found = _steps_by(first, {"file": file, **source})
    return found if first.as_codes is None else [*found, *_steps_by(first.as_codes, {"file": file, **source})[:1]]


def _steps_by(first: FirstChoices, source: Mapping[str, str]) -> list[dict[str, str]]:
    """The command that publishes by these first choices, and those for other promises."""
    choices = {**source, **first.choices, "out": "out"}
    made = command_line(choices)
    words = first.reading.words if first.reading is not None else ""
    promise = first.principle.describe() if first.way is None else first.way.promise
    cost = "" if first.way is None else first.way.cost
    found = [{"command": str(made), "promise": f"{words} {promise}".strip(), "cost": cost}]
    if made.reason is not None:
        found[0]["first"] = (
            f"This needs a policy, because options cannot say it ({made.reason}). Write one with glasshouse init, "
            "check it, and publish it:"
        )
    for way in first.ways:
        command = command_of(way, choices)
        if command is not None and command != str(made):
            found.append({"command": command, "promise": way.promise, "cost": way.cost})
    return found


def first_lines(steps: Sequence[Mapping[str, str]], *, cautions: bool = False) -> tuple[str, ...]:
    """What `first_steps` gave, as lines to print; with ``cautions`` that must be answered before."""
    lines: list[str] = []
    for step in steps:
        lines += ["", *_paragraph(f"{'Or: ' if lines else ''}{step['promise']}")]
        lines += _paragraph(f"Cost: {step['cost']}") if step["cost"] else ()
        lines += [*(_paragraph(step["first"]) if "first" in step else ()), f"    {step['command']}"]
    you = "After you have corrected or accepted each caution, you" if cautions else "You"
    head = f"{you} can publish the table with these roles like this:"
    return ("", head, *lines, *_closing(lines)) if lines else ()


def opening_steps(openings: Sequence[Opening], *, force: bool = False) -> tuple[str, ...]:
    """Other ways to read a table as lines: what is read otherwise, what is promised then, and the command."""
    lines: list[str] = []
    for opening in openings:
        asked = opening.way.name == "asked"
        made = command_line(opening.choices) if asked else None
        command = command_of(opening.way, opening.choices, force=force)
        if made is not None:
            command = None if made.reason is not None else f"{made}{' --force' * force}"
        if command is None:
            continue
        lines += ["", *_paragraph(f"{(len(lines) and 'Or: ') or ''}{opening.words} {opening.way.promise}")]
        lines += [*_paragraph(f"Cost: {opening.way.cost}"), f"    {command}"]
    return ("", "The table can be read and published in one of these ways:", *lines, *_closing(lines)) if lines else ()


@contextmanager
def advising(choices: Mapping[str, Any], *, force: bool = False) -> Iterator[None]:
    """Add to a refusal inside the commands that would succeed, for a user who made these choices."""
    try:
        yield
    except Infeasible as error:
        from glasshouse.journeys.advice.refusal import advised

        error.next_steps = steps_of(advised(error).ways, choices, force=force)
        raise
    except (CautionError, DomainError) as error:
        if isinstance(error, CautionError) or error.situation:
            from glasshouse.policy.openings import openings_after

            error.next_steps = opening_steps(openings_after(error, choices), force=force)
        else:
            error.next_steps = _whose(error, choices)
        raise


def _whose(error: DomainError, choices: Mapping[str, Any]) -> tuple[str, ...]:
    """How to name the column of a designated value, if one of several columns does not have the value."""
    sensitive, designated = choices.get("sensitive") or (), choices.get("designated") or ()
    others = [column for column in sensitive if column != error.column]
    if not others or isinstance(designated, Mapping) or not error.values or not {*error.values} <= {*designated}:
        return ()
    text = (
        "Without the name of a column, --designated looks for every value in every sensitive column: name the column "
        f"of each value, such as --designated {shlex.quote(f'{others[0]}={error.values[0]}')}"
    )
    return ("", *_paragraph(f"{text}. In a column that is not named, every value is protected."))
