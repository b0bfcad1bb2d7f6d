# SPDX-License-Identifier: Apache-2.0
"""Roles: which column is what, and the rules that every table must keep, in memory or read in batches.

The *identifier* names the person and is never published; *quasi-identifiers* are what an attacker may know about
everyone; *sensitive* columns are what must not be learned about a person. A survey's *weight* is known about everyone
too: it is the last quasi-identifier. A column with no role is not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from glasshouse.errors import DomainError, ParameterError, SchemaError
from glasshouse.microdata.domains import kind_of
from glasshouse.microdata.inspection.repetition import key_notices
from glasshouse.microdata.reading.sources import is_unicode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

__all__ = [
    "COMPLETE",
    "NOTHING_LEFT",
    "Incomplete",
    "Missing",
    "Repeated",
    "Roles",
    "by_column",
    "dropped_notice",
    "names_given",
    "refuse_amounts",
    "refuse_gaps",
    "refuse_infinite",
    "respelled_notice",
]

Missing = Literal["error", "category", "drop"]
Repeated = Literal["error", "sample", "together"]
NOTHING_LEFT = "every row has a missing value: nothing is left after missing='drop'"


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a table that have a role, each one role; there is at least one quasi-identifier."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifier: str | None = None
    weight: str | None = None  # the survey weight, which is the last of the quasi-identifiers

    @classmethod
    def of(cls, quasi: Any, sensitive: Any, identifier: Any = None, weight: Any = None) -> Roles:
        """Check what was given; `SchemaError` if that is no set of roles."""
        (name,) = [None] if identifier is None else names_given("identifier", [identifier])
        weights = [] if weight is None else names_given("weight", [weight])
        known = tuple(names_given("quasi", quasi))
        if not known:
            raise SchemaError(
                "name at least one quasi-identifier (quasi=): a column whose values an attacker may know about people"
            )
        roles = cls((*known, *weights), tuple(names_given("sensitive", sensitive)), name, next(iter(weights), None))
        taken: dict[str, str] = {}
        for name, role in roles._words():
            if name in taken:
                twice = f"{role} twice" if taken[name] == role else f"{taken[name]} and {role}"
                raise SchemaError(f"column {name!r} is named as {twice}: give it only one role", column=name)
            taken[name] = role
        return roles

    @property
    def published(self) -> list[str]:
        """The quasi-identifiers and the sensitive columns."""
        return [*self.quasi, *self.sensitive]

    @property
    def columns(self) -> list[str]:
        """All columns with a role."""
        return [name for name, _ in self._words()]

    def _words(self) -> Iterator[tuple[str, str]]:
        known = self.quasi if self.weight is None else self.quasi[:-1]
        yield from ((name, "a quasi-identifier") for name in known)
        if self.weight is not None:
            yield self.weight, "the weight"
        yield from ((name, "sensitive") for name in self.sensitive)
        if self.identifier is not None:
            yield self.identifier, "the identifier"

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a role of a column that the table does not have."""
        there = set(columns)
        for name, role in self._words():
            if name not in there and len(columns) == 1 and name in columns[0]:
                raise SchemaError(
                    f"there is no column {name!r}, because the table has a single one, {columns[0]!r}: say what "
                    "separates its fields (delimiter=)",
                    column=name,
                )
            if name not in there:
                raise SchemaError.unknown(name, columns, role=role)

    def check_option(
        self, option: str, named: Iterable[str], columns: Sequence[str], allowed: Sequence[str] | None = None
    ) -> None:
        """Refuse an option for ``columns`` of the table but the allowed ones: by default those that are published."""
        allowed = self.published if allowed is None else allowed
        words = dict(self._words())
        for name in named:
            if name in allowed:
                continue
            if name not in columns:
                raise SchemaError.unknown(name, allowed, role=option)
            way = f"leave {option}= out for it, which can be given for {', '.join(allowed) or 'no column'}"
            if name not in words:
                raise SchemaError(f"column {name!r} has no role: give it one, or {way}", column=name)
            raise SchemaError(f"column {name!r} is {words[name]}: {way}", column=name)

    def check_repeated(self, repeated: Repeated) -> None:
        """Refuse an unknown word for people with several rows, and several rows without an identifier."""
        if repeated not in ("error", "sample", "together"):
            raise ParameterError("read", "repeated", "'error', 'sample' or 'together'", repeated)
        if repeated != "error" and self.identifier is None:
            raise SchemaError(
                f"repeated='{repeated}' needs the column that says who a row is about: name it (identifier=)"
            )

    def without(self, columns: Sequence[str]) -> list[str]:
        """The columns of the table that have no role."""
        named = set(self.columns)
        return [name for name in columns if name not in named]

    def notices(self, columns: Sequence[str]) -> Iterator[str]:
        """What is assumed with these roles of a table with these columns."""
        if left_out := self.without(columns):
            yield f"columns with no role are not published: {', '.join(left_out)}"
        if self.identifier is None:
            yield (
                "no identifier was named: the guarantee is given for each row, and holds for each person only if "
                "nobody has two rows"
            )
        yield from key_notices(left_out, self.identifier)


def names_given(option: str, given: Any) -> list[str]:
    """The column names given for an option: one, several or none; `SchemaError` for anything else."""
    if given is None or isinstance(given, str):
        return [] if given is None else [given]
    names = list(given) if hasattr(given, "__iter__") else [given]
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(
                f"{option}: a column is named by a text, not by a {type(name).__name__}. (If the columns of a "
                "frame have numbers as names, write these numbers as texts: '0', '1')"
            )
        if not is_unicode(name):
            raise SchemaError(f"{option}: the name {name!a} is not Unicode text")
    return names


def by_column(option: str, given: Any) -> dict[str, Any]:
    """What an option says column by column; `SchemaError` if it is not such a mapping. Orders become lists."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SchemaError(
            f"{option} is given by column, as in {option}={{'age': ...}}, not as a {type(given).__name__}"
        )
    found = dict(zip(names_given(option, list(given)), given.values(), strict=True))
    return {name: _order(name, order) for name, order in found.items()} if option == "ordered" else found


def _order(column: str, order: Any) -> list[Any]:
    """The values of a declared order as a list; `ParameterError` if it is not an order."""
    if isinstance(order, str | bytes) or not hasattr(order, "__iter__"):
        raise ParameterError("read", f"ordered[{column!r}]", "a list of values, lowest first", type(order).__name__)
    return list(order)


def respelled_notice(name: str, n_replaced: int) -> str:
    """Say how many spellings of a column were replaced."""
    return f"values of {name} that were replaced by another spelling of the same value: {n_replaced:,}"


class Incomplete(NamedTuple):
    """How many rows were dropped because a value was missing, and of how many."""

    n: int = 0
    of: int = 0


COMPLETE = Incomplete()
"""No row was dropped."""


def dropped_notice(n_dropped: int) -> str:
    """Say how many rows were dropped."""
    return f"rows dropped because a value was missing: {n_dropped:,}"


def refuse_gaps(gaps: Mapping[str, int], n_rows: int, missing: Missing) -> None:
    """Refuse columns without any value, and missing values unless ``missing`` says what to do."""
    for name, count in gaps.items():
        if count == n_rows:
            raise DomainError(f"column {name!r} has no values: leave it out", column=name)
    if gaps and missing == "error":
        listed = ", ".join(f"{name} ({count:,} of {n_rows:,})" for name, count in gaps.items())
        raise DomainError(
            f"missing values in {listed}: use missing='category' to count missing as a value of its own, or "
            "missing='drop' to drop these rows",
            column=next(iter(gaps)),
            situation="missing",
        )


def refuse_infinite(name: str, count: int) -> None:
    """Refuse a quasi-identifier with infinite values; their number is given."""
    if count:
        raise DomainError(
            f"column {name!r} has {count:,} infinite values: give a smallest or largest value (bottom=, top=), or "
            "drop them",
            column=name,
        )


def refuse_amounts(kind: pa.DataType, name: str, categorical: Sequence[str]) -> None:
    """Refuse a sensitive column of amounts, unless its numbers are said to be names."""
    holds = kind_of(kind, name)
    if holds in ("category", "boolean") or name in categorical:
        return
    is_date = holds in ("date", "timestamp")
    what, one, some = ("dates", "date", "dates:month") if is_date else ("numbers", "amount", "intervals:WIDTH")
    raise DomainError(
        f"the sensitive column {name!r} has {what} ({holds}): {one}s that differ only a little satisfy l-diversity, "
        f"although an attacker learns the {one} almost exactly. Put them into ranges, with "
        f"bins={{{name!r}: {some!r}}}, or list the column in categorical= if its values are codes",
        column=name,
        situation="amounts",
    )
