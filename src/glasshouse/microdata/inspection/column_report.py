# SPDX-License-Identifier: Apache-2.0
"""What one column holds, and the role that its name and its values suggest.

Words tell a role, and numbers say when values do: rules of thumb all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.microdata.domains import Column, code, text_of
from glasshouse.microdata.inspection.role_words import (
    NAMES,
    NUMBERS,
    ORIGIN,
    PERSONAL,
    QUASI,
    ROWS,
    SENSITIVE,
    WEIGHTS,
    first_match,
)
from glasshouse.microdata.inspection.uniqueness import n_unique, percent, share
from glasshouse.microdata.inspection.value_topics import topic_of_values
from glasshouse.microdata.notation import count_dates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = ["ColumnReport", "Measured", "Role", "measure", "with_roles"]

Role = Literal["identifier", "quasi", "sensitive", "leave out"]

NEARLY_DISTINCT = 0.95  # share of different values from which text or whole numbers look like a key
HARDLY_REPEATS = 0.3  # the same for a column that is called a number or a key: a person may have several rows
FINGERPRINT = 0.1  # share of rows from which a column of unknown meaning singles out too many alone
_UNKNOWN = "meaning unknown"
_MEANINGS = (PERSONAL, QUASI, *SENSITIVE.values(), NAMES, NUMBERS, ROWS, WEIGHTS)
FREE_TEXT_WORDS = 8  # mean number of words in a value from which a column is prose


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnReport:
    """What one column holds, and the role suggested for it.

    Parameters
    ----------
    name, kind
        The column, and its type in plain words: integer, float, date, timestamp, boolean, category; text where
        hardly a value repeats or the values are prose; empty where there is none.
    n_tuples, missing
        Rows of the table, and rows in which this column has no value.
    distinct
        Different values, missing not counted.
    most_frequent, most_frequent_count
        The most frequent value (the first in order, on a tie) and its rows. The value is never in the ``repr``.
    unique
        Rows whose value no other row has; missing counts as a value.
    role, reason
        ``identifier``, ``quasi``, ``sensitive`` or ``leave out``; and why, in a phrase.
    open_question
        What must be decided about the role, where neither the name nor the values tell it; else empty.
    """

    name: str
    kind: str
    n_tuples: int
    missing: int
    distinct: int
    most_frequent: bool | int | float | str | None = field(repr=False)
    most_frequent_count: int
    unique: int
    role: Role = "leave out"
    reason: str = ""
    open_question: str = ""

    @property
    def most_frequent_share(self) -> float:
        """Share of rows with the most frequent value."""
        return share(self.most_frequent_count, self.n_tuples)

    @property
    def unique_share(self) -> float:
        """The share of rows that this column alone makes unique."""
        return share(self.unique, self.n_tuples)

    @property
    def distinct_share(self) -> float:
        """Different values per row that has one: 1 if no value repeats."""
        return share(self.distinct, self.n_tuples - self.missing)

    @property
    def is_amount(self) -> bool:
        """Whether it holds numbers or times, which must be binned before they can be a sensitive value."""
        return self.kind in ("integer", "float", "date", "timestamp")

    @property
    def largest_ell(self) -> int:
        """The largest ell for which the whole table is l-diverse by frequency here, missing a value; 0 without rows."""
        return self.n_tuples // max(self.most_frequent_count, self.missing, 1)

    @property
    def largest_ell_complete(self) -> int:
        """The same for the rows that have a value; 0 if none has."""
        return (self.n_tuples - self.missing) // max(self.most_frequent_count, 1)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; it holds the most frequent value."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "most_frequent_share": self.most_frequent_share, "unique_share": self.unique_share}


class Measured(NamedTuple):
    """A column's report, still without a role; its codes; and whether its values are prose, dates, or number the rows.

    ``words`` is what says its meaning: its name, and the label that a file gives it where the name says nothing.
    """

    report: ColumnReport
    column: Column
    is_prose: bool
    are_dates: bool  # of a type for dates, or as texts
    counts_rows: bool
    words: str


def measure(name: str, values: pa.Array, label: str = "") -> Measured:
    """Code one column and count its values; a column without a single value is of kind ``empty``.

    >>> report = measure("sex", pa.array(["F", "M", "F", None])).report
    >>> report.distinct, report.missing, report.unique
    (2, 1, 2)
    """
    empty = pa.types.is_null(values.type)
    column = code(values.cast(pa.string()) if empty else values, name=name, missing=values.null_count > 0)
    domain = column.domain
    counts = np.bincount(column.codes, minlength=domain.missing_code + 1)
    present = counts[: domain.missing_code]
    top = int(present.argmax()) if len(present) else None
    report = ColumnReport(
        name=name,
        kind="empty" if empty else domain.kind,
        n_tuples=len(values),
        missing=int(counts[domain.missing_code]),
        distinct=len(present),
        most_frequent=None if top is None else _plain(domain.values, top),
        most_frequent_count=0 if top is None else int(present[top]),
        unique=n_unique(counts),
    )
    blanks = pc.mean(pc.count_substring(domain.values, " ")).as_py() if domain.kind == "category" else None
    is_prose = blanks is not None and blanks + 1 >= FREE_TEXT_WORDS
    if domain.kind == "category" and (is_prose or _nearly_distinct(report)):
        report = replace(report, kind="text")
    are_dates = domain.kind in ("date", "timestamp") or count_dates(domain.values) > 0
    counts_rows = domain.kind == "integer" and _rise_by_one(values)
    known = any(first_match(name, words) for words in _MEANINGS)
    words = name if known or not label else f"{name} {label}"
    return Measured(report, column, is_prose, are_dates, counts_rows, words)


def with_roles(
    measured: Sequence[Measured], *, sensitive: str | None, decided: Mapping[str, Role]
) -> tuple[list[ColumnReport], str | None]:
    """Suggest a role for each column; return the reports and the sensitive column, the named or else the likeliest.

    Columns whose role was ``decided`` have it; one that was decided to be sensitive is likelier than others.
    """
    open_ones = [m for m in measured if m.report.name not in decided]
    topics = {m.report.name: topic for m in open_ones if (topic := _topic(m)) is not None}
    named = [name for name, role in decided.items() if role == "sensitive"]
    chosen = sensitive or next(iter(named), None) or _likeliest([m.report for m in open_ones], topics)
    reports = []
    for m in measured:
        role, reason = _role(m, topics.get(m.report.name))
        if m.report.name == sensitive:
            role, reason = "sensitive", "named as the sensitive column"
        elif m.report.name in decided:
            role, reason = decided[m.report.name], "decided by you"
        elif role == "sensitive" and topics[m.report.name].name == "work" and m.report.name != chosen:
            role, reason = "quasi", f"others may know it ({topics[m.report.name].piece!r})"
        is_settled = m.report.name == sensitive or m.report.name in decided
        question = "" if is_settled else _question(m.words, role, reason)
        reports.append(replace(m.report, role=role, reason=reason, open_question=question))
    return reports, chosen


def _question(words: str, role: Role, reason: str) -> str:
    """The question about a column of which neither the name nor the values show the role."""
    if role == "quasi" and first_match(words, ORIGIN):
        return "others may know it, and many laws protect it: is it a quasi-identifier, or sensitive?"
    if reason.startswith(_UNKNOWN):
        return (
            "neither its name nor its values show what it is: may others know it (a quasi-identifier), is it "
            "sensitive, or is it left out?"
        )
    return ""


class _Topic(NamedTuple):
    """The sensitive topic that a column's name or its values tell of, and the piece of the name, or what they are."""

    name: str
    piece: str
    by_values: bool = False

    @property
    def reason(self) -> str:
        """The reason for the role, in a phrase."""
        return f"{self.name} (its values {self.piece})" if self.by_values else f"{self.name} ({self.piece!r})"


def _topic(m: Measured) -> _Topic | None:
    """Find the sensitive topic in a name, unless an earlier word wins or the values cannot be protected."""
    name = m.report.name
    if m.is_prose or m.are_dates or m.report.distinct < 2 or first_match(name, PERSONAL):
        return None
    known = first_match(m.words, QUASI)
    for topic, words in SENSITIVE.items():
        found = first_match(m.words, words)
        if found and (known is None or found.precedes(known)):
            return _Topic(topic, found.piece)
    told = None if known else topic_of_values(m.column)
    return None if told is None else _Topic(*told, by_values=True)


def _likeliest(reports: Sequence[ColumnReport], topics: dict[str, _Topic]) -> str | None:
    """Choose the column to protect.

    One whose values repeat, that can be l-diverse at all, that needs no bins, and of the gravest topic.
    """
    gravity = list(SENSITIVE)

    def preference(report: ColumnReport) -> tuple[bool, bool, bool, int, int, str]:
        ell, grave = report.largest_ell, gravity.index(topics[report.name].name)
        return (report.kind == "text", ell < 2, report.is_amount, grave, -ell, report.name)

    likeliest = min((report for report in reports if report.name in topics), key=preference, default=None)
    return likeliest.name if likeliest else None


def _role(m: Measured, topic: _Topic | None) -> tuple[Role, str]:
    """Suggest a role: first by what the values rule out, then by words, then by what the values suggest."""
    report, words = m.report, m.words
    may_name = words == report.name or report.distinct_share >= HARDLY_REPEATS  # a label may ask about addresses
    may_name = may_name and not m.are_dates
    if report.distinct == 0:
        return "leave out", "has no values"
    if may_name and (found := first_match(words, PERSONAL)):
        return "identifier", f"is a name, an address or a number of one person ({found.piece!r})"
    if report.distinct == 1:
        return "leave out", "has only one value"
    if m.is_prose:
        return "leave out", "free text, which cannot be generalised and may name people"
    if topic:
        return "sensitive", topic.reason
    if found := first_match(words, QUASI):
        return "quasi", f"others may know it ({found.piece!r})"
    if m.are_dates:  # also if hardly one repeats
        what = f"a {report.kind}" if report.kind in ("date", "timestamp") else "dates as text"
        return "quasi", f"{what}: others may know it"
    if may_name and (found := first_match(words, NAMES)):
        return "identifier", f"may name a person ({found.piece!r})"
    found = first_match(words, NUMBERS)
    if found and report.kind in ("integer", "category", "text") and report.distinct_share >= HARDLY_REPEATS:
        rarely = _nearly_distinct(report)
        return "identifier", f"may be a personal number ({found.piece!r})" + ": hardly any value repeats" * rarely
    return _role_by_values(m)


def _role_by_values(m: Measured) -> tuple[Role, str]:
    """Suggest a role for a column whose name says nothing."""
    report = m.report
    if m.counts_rows or (first_match(report.name, ROWS) and _nearly_distinct(report)):
        return "leave out", "numbers the rows, and does not say who they are about"
    if report.kind in ("text", "integer") and _nearly_distinct(report):
        return "identifier", "no value repeats" if report.distinct_share == 1 else "hardly any value repeats"
    if report.unique_share >= FINGERPRINT:
        return "leave out", f"{_UNKNOWN}, and {percent(report.unique_share)} of rows have a value that no other row has"
    return "quasi", f"{_UNKNOWN}, so assume that others may know it"


def _rise_by_one(values: pa.Array) -> bool:
    """Whether whole numbers go up by one from row to row, as R, pandas and spreadsheets number them."""
    if len(values) < 2 or values.null_count:
        return False
    return bool(pc.all(pc.equal(pc.subtract(values[1:], values[:-1]), 1)).as_py())


def _nearly_distinct(report: ColumnReport) -> bool:
    return report.distinct > 1 and report.distinct_share >= NEARLY_DISTINCT


def _plain(values: pa.Array, index: int) -> bool | int | float | str:
    """Show one value as JSON can hold it: finite numbers, truth values and text as they are, the rest as text."""
    kind = values.type
    if str(kind).startswith(("timestamp[ns", "time64[ns")):  # Python counts microseconds
        shorter = pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us", kind.tz)
        value = values.slice(index, 1).cast(shorter, safe=False)[0].as_py()
    else:
        value = values[index].as_py()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | str) else text_of(value)
