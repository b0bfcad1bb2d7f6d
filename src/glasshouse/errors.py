# SPDX-License-Identifier: Apache-2.0
"""All exceptions and warnings, by situation.

::

    GlasshouseError
      InputError (ValueError)        what was given is wrong
        SchemaError                    .column, .suggestion     a column or its role
        DomainError                    .column, .values         a value, a type, a taxonomy
        ParameterError                 .owner, .name, .value    a number out of its range
        SourceError                    .source                  a file or object that cannot be read
        OutputError                    .path                    a place that cannot be written
        PolicyError                    .path, .line, .column, .key, .suggestion     a policy, and where in it
        CautionError                   .cautions                what was found in a table and not yet answered
      Infeasible                     no release can satisfy this: .principle, .column, .value, .count, .of, .largest
      NotSupported                   something is not possible: .what, .instead
      GuaranteeBroken                the audit found a group that breaks the guarantee; always a bug: .group
      MissingExtra (ImportError)     an optional package is not installed: .extra
    DisclosureWarning              a release will be easier to attack than it seems, or a default looked at the data
      RepublicationWarning           its people were published before
    InterpretedKernelsWarning      the compiled kernels are missing: results are the same, slowly

Messages name columns, parameters and counts. Data values stay in attributes, except the one value on which the
user must act (a value that is too frequent, values that a taxonomy misses), for messages end up in logs.
"""

from __future__ import annotations

import contextlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "CautionError",
    "DisclosureWarning",
    "DomainError",
    "GlasshouseError",
    "GuaranteeBroken",
    "Infeasible",
    "InputError",
    "InterpretedKernelsWarning",
    "MissingExtra",
    "NotSupported",
    "OutputError",
    "ParameterError",
    "PolicyError",
    "RepublicationWarning",
    "SchemaError",
    "SourceError",
    "having_written",
    "near_text",
    "notes_of",
    "saying",
]


_FEW = 10  # values that a message lists
_LONGEST = 60  # characters of a value that it shows
_MOST_SHOWN = 200  # characters of a parameter in a message
_MOST_COMPARED = 10_000  # texts that a misspelt one is compared with


def near_text(text: str, known: Sequence[str]) -> str | None:
    """The text that was probably meant: one that differs in case alone, else the most similar one.

    >>> near_text("texas", ["Texas", "Utah"]), near_text("Texass", ["Texas", "Utah"]), near_text("?", ["Texas"])
    ('Texas', 'Texas', None)
    """
    folded = text.casefold().strip()
    for other in sorted(known):
        if other.casefold().strip() == folded:
            return other
    near = get_close_matches(text[:_LONGEST], known, n=1, cutoff=0.6) if len(known) <= _MOST_COMPARED else []
    return near[0] if near else None


class GlasshouseError(Exception):
    """The root of every exception that Glasshouse raises on purpose.

    ``next_steps`` are lines that say what to do, as commands to copy, where the command line knows them. ``ways`` are
    guarantees that the table allows instead, where they were looked for, and ``python_note`` is the note that tells
    them as calls of Python.
    """

    next_steps: tuple[str, ...] = ()
    ways: tuple[Any, ...] = ()
    python_note: str = ""


class InputError(GlasshouseError, ValueError):
    """What was given is wrong; the message says what to do."""


class SchemaError(InputError):
    """A column is missing, named twice, or has a role that it cannot have."""

    def __init__(self, message: str, *, column: str | None = None, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.column = column
        self.suggestion = suggestion

    @classmethod
    def unknown(cls, column: str, known: Sequence[str], *, role: str) -> SchemaError:
        """The error for a column that does not exist; it names a similar one."""
        near = get_close_matches(column, known, n=1, cutoff=0.6)
        suggestion = near[0] if near else None
        hint = f"did you mean {suggestion!r}?" if suggestion else f"the columns are {', '.join(map(repr, known))}"
        return cls(f"there is no column {column!r} (given as {role}): {hint}", column=column, suggestion=suggestion)


class DomainError(InputError):
    """A value, a type or a taxonomy does not fit its column; the values concerned are in ``values``.

    ``situation`` is ``amounts`` or ``missing`` where another way to read the column helps; else it is empty.
    """

    def __init__(
        self, message: str, *, column: str | None = None, values: Iterable[Any] = (), situation: str = ""
    ) -> None:
        super().__init__(message)
        self.column = column
        self.values = tuple(values)
        self.situation = situation

    @classmethod
    def unreadable(
        cls, column: str, cells: Sequence[str], *, n_records: int, reason: str, consequence: str
    ) -> DomainError:
        """Some published cells cannot be read: how many, in how many records, one of them, and what to do."""
        return cls(
            f"column {column!r} of the release has {counted(len(cells), 'cell', 'different cells')} that cannot be "
            f"read, in {counted(n_records, 'record')}, such as {cells[0]}: {reason}. {consequence}; or write "
            "each cell as a value, an interval such as [20, 39], a set such as {F, M}, a beginning such as 476**, or "
            "* for every value",
            column=column,
            values=cells,
        )

    @classmethod
    def unknown(cls, value: str, known: Sequence[str], *, column: str) -> DomainError:
        """The error for a value that does not exist; it names a similar one among the values that anybody may know."""
        near = near_text(value, known)
        if near is not None:
            hint = f"did you mean {near!r}?"
        else:
            some = sorted(known)[:_FEW]
            more = f" and {len(known) - _FEW:,} more" if len(known) > _FEW else ""
            hint = f"its values are {', '.join(map(repr, some))}{more}" if some else "it has no values"
        shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
        return cls(f"column {column!r} has no value {shown!r}: {hint}", column=column, values=[value])


class ParameterError(InputError):
    """A parameter is out of its range; the message says which one, what is allowed, and what was given."""

    def __init__(self, owner: str, name: str, allowed: str, value: object) -> None:
        super().__init__(f"{owner}: {name} must be {allowed}, got {_brief(value)}")
        self.owner = owner
        self.name = name
        self.allowed = allowed
        self.value = value
        self.shown = _brief(value)


def _brief(value: object) -> str:
    """A value as Python writes it, if that is short: it may be a number of a million digits, or nested without end."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a value of the type {type(value).__name__} that is too long to show"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text):,} characters)"


class SourceError(InputError):
    """A file or an object cannot be read as a table.

    ``advised`` tells that the message of a release says what to do, so that no advice is added to it.
    """

    def __init__(self, message: str, *, source: object = None, advised: bool = False) -> None:
        super().__init__(message)
        self.source = source
        self.advised = advised


class OutputError(InputError):
    """A file or folder cannot be written; nothing was written."""

    def __init__(self, message: str, *, path: str | Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class PolicyError(InputError):
    """A policy says something that is not possible; the message says where, and what is wrong with it."""

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        where = "".join(f", {word} {n}" for word, n in (("line", line), ("column", column)) if n is not None)
        super().__init__(f"{path}{where}: {problem}")
        self.problem = problem
        self.path = path
        self.line = line
        self.column = column
        self.key = key
        self.suggestion = suggestion


class CautionError(InputError):
    """Something in the table must be corrected, or accepted by name, before the table is published."""

    def __init__(self, message: str, *, cautions: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.cautions = tuple(cautions)


class Infeasible(GlasshouseError):
    """No release of this table can satisfy the principle; the witness is in the attributes.

    ``counted`` is what was counted of the table, from which `glasshouse.journeys.advice` finds what can be promised
    instead. The message has the ``reason``, and then the ``remedy``, if there is one: what can be asked for instead.
    """

    counted: Any = None

    def __init__(
        self,
        reason: str,
        *,
        remedy: str = "",
        principle: object = None,
        column: str | None = None,
        value: object = None,
        count: int | None = None,
        of: int | None = None,
        largest: object = None,
    ) -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason = reason
        self.principle = principle
        self.column = column
        self.value = value
        self.count = count
        self.of = of
        self.largest = largest


def notes_of(error: BaseException) -> list[str]:
    """The notes of an error beside its message, without Python calls, which help only programs that call us."""
    return [note for note in getattr(error, "__notes__", []) if note != getattr(error, "python_note", "")]


class NotSupported(GlasshouseError):
    """Something is not possible, or not together with something else: ``what`` says it in a sentence.

    ``instead`` says what is possible, as a sentence that comes after it.
    """

    def __init__(self, what: str, *, instead: str) -> None:
        super().__init__(f"{what}; {instead}")
        self.what = what
        self.instead = instead


class GuaranteeBroken(GlasshouseError):
    """The published tables do not keep what they promise. Nothing was written. This is always a bug."""

    def __init__(self, message: str, *, group: object = None) -> None:
        super().__init__(f"{message}; nothing was published. This is a bug in Glasshouse: please report it")
        self.group = group


class MissingExtra(GlasshouseError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, *, extra: str, package: str = "") -> None:
        wanted = package or f"'glasshouse[{extra}]'"  # drivers of databases are in no extra
        super().__init__(f"{what} needs an optional package: pip install {wanted}")
        self.extra = extra


class DisclosureWarning(UserWarning):
    """A release will be easier to attack than it seems, or a default just looked at the data."""


class RepublicationWarning(DisclosureWarning):
    """People of this table were published before: two releases about them reveal together what neither does alone."""


class InterpretedKernelsWarning(UserWarning):
    """The compiled kernels are missing; their source is interpreted instead, which gives the same results slowly."""


@contextlib.contextmanager
def saying(note: str) -> Iterator[None]:
    """If an exception ends the work inside, add this note to it."""
    try:
        yield
    except BaseException as error:
        error.add_note(note)
        raise


def having_written(what: object) -> contextlib.AbstractContextManager[None]:
    """If an exception ends the work inside, add a note that this much was written."""
    return saying(f"{what} was written completely before this happened")
