# SPDX-License-Identifier: Apache-2.0
"""Cautions: what was found in a table that must be corrected, or accepted by name, before the table is published.

::

    no-header           names of columns that look like a row of the table
    joined-records      values that look like several records of the table in one
    line-breaks         values that hold line breaks
    long-values         values that are far longer than all others of their column
    look-alikes         sensitive values that differ only in case, blanks, invisible characters or the like
    same-numbers        sensitive values that are texts of one number: 1, 1.0 and 01
    decimal-commas      sensitive values that are texts of numbers with a decimal comma: 72,5
    amounts-as-text     sensitive values that are texts of amounts: 1.234,50 or $2,446
    dates-as-text       sensitive values that are texts of dates: 31.12.1980
    missing-words       several sensitive values that mean that the value is missing: unknown, n/a
    free-text           values that are sentences, of which hardly one repeats
    unique-values       sensitive texts of which hardly one repeats, such as numbers of cases
    direct-identifiers  quasi-identifiers that name or reach one person: names, e-mail addresses, telephone numbers

The first four tell of a table that was written or read wrongly, and may hold whole records where a value or a name
should be.
The others weaken a guarantee: two spellings of one disease satisfy 2-diversity, and a published name shows who is in
the table. A notice is less: it says what was assumed, and does not stop publishing. Of quasi-identifiers, look-alikes,
and amounts and dates that are texts, are a notice.

A caution counts, and names a column and a line; the values themselves are in ``examples``, for the
data steward's eyes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import CautionError, InputError, SchemaError
from glasshouse.microdata.inspection.direct_identifiers import direct_identifier
from glasshouse.microdata.inspection.header import named_by_values
from glasshouse.microdata.notation import HOW_AMOUNTS_ARE_WRITTEN, HOW_DATES_ARE_WRITTEN, count_amounts, count_dates
from glasshouse.microdata.reading.quotes import count_breaks, is_joined
from glasshouse.microdata.spelling import MISSING_WORDS, alike, decimal_commas, key, same_numbers
from glasshouse.plural import counted
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.reading.quotes import Breaks

__all__ = [
    "ABOUT_RECORDS",
    "BETTER_LEFT_OUT",
    "CAUTIONS",
    "Caution",
    "Findings",
    "Written",
    "accepted_cautions",
    "accepted_names",
    "refuse_unanswered",
    "with_breaks",
]

CAUTIONS = (
    "amounts-as-text",
    "dates-as-text",
    "decimal-commas",
    "direct-identifiers",
    "free-text",
    "joined-records",
    "line-breaks",
    "long-values",
    "look-alikes",
    "missing-words",
    "no-header",
    "same-numbers",
    "unique-values",
)
"""The names of all cautions, by which they are accepted."""

BETTER_LEFT_OUT = frozenset({"direct-identifiers", "free-text", "unique-values"})
"""The cautions about columns that are better not published."""

ABOUT_RECORDS = frozenset({"joined-records", "no-header"})
"""The cautions that stop publishing also if they are about a column without a role: they are about whole records."""

Role = Literal["identifier", "quasi", "sensitive", "none"]

# Chosen on columns of Adult and Census-Income and on docstrings of Python's library as free text, judged on others.
_FAR_LONGER = 5  # times as long as the longest value before the gap
_LONG = 100  # characters, below which nothing is long
_A_BREAK = "[\n\r\v\f\x85\u2028\u2029]"
_MOST_EXAMPLES = 10
_WORDS = 8  # in a value on average, from which on it is a sentence
_HARDLY_REPEATS = 0.5  # different values per record, from which on hardly a value repeats
_UNIQUE = 0.9  # different texts per record, from which on they may name cases or people
_ENOUGH = 50  # records, below which nothing can be told from that
_SEVERAL = 3  # different sentences, below which a quasi-identifier is no free text


@dataclass(frozen=True, kw_only=True, slots=True)
class Caution:
    """Something that must be corrected, or accepted by its name, before the table is published.

    Parameters
    ----------
    name
        One of `CAUTIONS`.
    column
        Where it was found.
    count
        How many different values are concerned; of columns that are not read, how many values; of names, how many
        columns.
    sentence
        What was found. It holds no value of the table.
    mend
        What can be done about it, other than accepting it.
    examples
        For look-alikes and similar cautions, the values that belong together, each with its number of rows; never in
        the ``repr``.
    """

    name: str
    column: str
    count: int
    sentence: str
    mend: str
    examples: tuple[tuple[tuple[str, int], ...], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"

    @property
    def answer(self) -> str:
        """A sentence on how to resolve it."""
        return f"{self.mend}; or {_how_to_accept([self.name])}"

    def is_accepted(self, accepted: Iterable[str]) -> bool:
        """Whether one of the accepted names, with or without a column, matches it."""
        return not {self.name, f"{self.name}:{self.column}"}.isdisjoint(accepted)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, except values of the table."""
        return {name: getattr(self, name) for name in ("name", "column", "count", "sentence", "answer")}

    @property
    def shown(self) -> tuple[str, ...]:
        """The examples as texts in which invisible characters are shown, one line per group of look-alikes."""
        return tuple(", ".join(f"{text!a} ({rows:,})" for text, rows in kind) for kind in self.examples)


def accepted_names(given: Sequence[str] | str | None, columns: Sequence[str]) -> tuple[str, ...]:
    """Check the names of accepted cautions: ``NAME``, or ``NAME:COLUMN`` for one column only.

    >>> accepted_names("line-breaks", ["age"])
    ('line-breaks',)
    """
    several = not isinstance(given, str) and hasattr(given, "__iter__")
    names: list[Any] = [] if given is None else list(given) if several else [given]
    for text in names:
        name, sign, column = text.partition(":") if isinstance(text, str) else (repr(text), "", "")
        if name not in CAUTIONS:
            near = get_close_matches(name, CAUTIONS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"the names are {', '.join(CAUTIONS)}"
            raise InputError(f"accept: there is no caution named {name[:60]!a}: {hint}")
        if sign and column not in columns:
            raise SchemaError.unknown(column, columns, role=f"accept={text!r}")
    return tuple(dict.fromkeys(names))


def accepted_cautions(cautions: Iterable[Caution], accepted: Iterable[str]) -> list[dict[str, Any]]:
    """The cautions that were accepted, as plain data for the audit."""
    names = set(accepted)
    return [caution.to_dict() for caution in cautions if caution.is_accepted(names)]


def refuse_unanswered(cautions: Iterable[Caution], accepted: Iterable[str]) -> None:
    """Raise `CautionError` if a caution was not accepted."""
    accepted = set(accepted)
    open_ones = [caution for caution in cautions if not caution.is_accepted(accepted)]
    if not open_ones:
        return
    what = "this caution is" if len(open_ones) == 1 else f"these {len(open_ones)} cautions are"
    listed = ". ".join(f"{caution}: {caution.mend}" for caution in open_ones)
    how = _how_to_accept(list(dict.fromkeys(caution.name for caution in open_ones)))
    raise CautionError(
        f"nothing is published until {what} corrected or accepted. {listed}. Or {how}", cautions=open_ones
    )


def _how_to_accept(names: list[str]) -> str:
    what = "it as it is" if len(names) == 1 else "them as they are"
    return f"accept {what} with accept={names}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """How the source writes records, as far as it is known."""

    n_columns: int  # how many columns the source has
    delimiters: tuple[str, ...]  # what separates fields, or may have done so before the table became what it is
    # of delimited text: which columns, read or not, have quoted values with line breaks
    breaks: Mapping[str, Breaks] = field(default_factory=dict)


class Findings:
    """Collects the findings in the columns of a table."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self._with_breaks: set[str] = set()
        self.cautions: list[Caution] = []
        self.notices: list[str] = []

    def look(self, name: str, role: Role, values: pa.Array, rows: NDArray[np.int64], *, gaps: bool = False) -> None:
        """Look at the different values of a column; ``rows`` says how many have each, ``gaps`` whether some have none.

        >>> found = Findings(Written(n_columns=2, delimiters=(",",)))
        >>> found.look("disease", "sensitive", pa.array(["flu", "flu ", "ulcer"]), np.array([5, 1, 4]))
        >>> [(caution.name, caution.count, caution.shown) for caution in found.cautions]
        [('look-alikes', 2, ("'flu' (5), 'flu ' (1)",))]
        """
        found_people = role == "quasi" and self._look_for_people(name, values, rows)
        if not is_text(values.type) or not len(values):
            return
        self.look_for_breaks(name, values)
        if role in ("quasi", "sensitive"):
            self._look_for_long(name, values, rows)
        self._look_for_alike(name, role, values, rows)
        if role == "sensitive":
            self._look_for_missing(name, values, rows, gaps=gaps)
        if role in ("quasi", "sensitive") and not found_people:
            self._look_for_sentences(name, role, values, rows)
        if role == "sensitive":
            self._look_for_amounts(name, values)
            self._look_for_dates(name, values)
            self._look_for_unique(name, values, rows)
        elif role != "identifier":
            self.look_for_notation(name, values)

    def look_at_names(
        self,
        names: Sequence[str],
        kinds: Mapping[str, pa.DataType],
        count: Callable[[str], tuple[pa.Array, NDArray[np.int64]]],
    ) -> None:
        """Look whether the names of columns are a row of the table; see `named_by_values`."""
        found = named_by_values(names, kinds, count)
        if not found:
            return
        listed = ", ".join(map(repr, found[:_MOST_EXAMPLES])) + ", ..." * (len(found) > _MOST_EXAMPLES)
        what = "a name that looks like one of its values" if len(found) == 1 else "names that look like their values"
        self._add(
            "no-header",
            found[0],
            len(found),
            f"{counted(len(found), 'column has', 'columns have')} {what}: {listed}. If the table has no line with the "
            "names of its columns, its first person was taken for these names, is missing among the people, and would "
            "be published as names",
            "write a line with a name for each column above the first person of the file (in a workbook, a row), and "
            "use these names",
        )

    def look_for_notation(self, name: str, values: pa.Array) -> None:
        """Look for amounts and dates that are texts where that only makes a release less useful."""
        if not is_text(values.type):
            return
        if not decimal_commas(values) and count_amounts(values):
            self.notices.append(
                f"{name} has amounts that are read as text, because of thousands separators, currency signs or the "
                "like: in questions, comparisons of this column are alphabetical. To have them read as numbers, "
                f"{HOW_AMOUNTS_ARE_WRITTEN}"
            )
        if count_dates(values):
            self.notices.append(
                f"{name} has dates that are read as text, so their order in time is not known: a group shows a set of "
                "dates that may lie far apart, and not a period; comparisons in questions are alphabetical; and "
                f"taxonomies such as dates:month do not work. To have them read as dates, {HOW_DATES_ARE_WRITTEN}"
            )

    def look_through(self, name: str, role: Role, column: pa.ChunkedArray) -> None:
        """Look at a column as it was read, without counting its values first."""
        counted = pc.value_counts(column)
        values, rows = counted.field("values"), np.asarray(counted.field("counts"))
        there = np.asarray(values.is_valid())
        self.look(name, role, values.filter(pa.array(there)), rows[there], gaps=not there.all())

    def pass_over(self, name: str) -> None:
        """Look at what the marks of the text tell about a column that is not read."""
        breaks = self._written.breaks.get(name)
        if breaks is None:
            return
        if breaks.joined:
            self._joined(name, breaks.joined, breaks.first_joined)
        else:
            self.notices.append(
                f"values with line breaks in {name}, which has no role: {breaks.count:,}, first in line "
                f"{breaks.first_line:,}"
            )

    # ------------------------------------------------------------------------------------------------ written wrongly

    def look_for_breaks(self, name: str, values: pa.Array) -> None:
        """Look for line breaks alone: in the texts as they came, for normalised ones have none."""
        if name in self._with_breaks:
            return
        found = with_breaks(values).to_pylist()
        if not found:
            return
        self._with_breaks.add(name)
        breaks = self._written.breaks.get(name)
        joined = sum(map(self._is_joined, found))
        if joined:
            self._joined(name, joined, breaks.first_joined if breaks else 0)
        self._add(
            "line-breaks",
            name,
            len(found),
            f"column {name!r} has {_n(len(found), 'value')} with line breaks"
            f"{_line(breaks.first_line if breaks else 0)}",
            "check whether a closing quotation mark is missing, or remove the line breaks",
        )

    def _is_joined(self, text: str) -> bool:
        n_breaks, n_columns = count_breaks(text), self._written.n_columns
        return any(is_joined(n_breaks, text.count(sign), n_columns) for sign in self._written.delimiters)

    def _joined(self, name: str, count: int, line: int) -> None:
        one = count == 1
        self._add(
            "joined-records",
            name,
            count,
            f"column {name!r} has {_n(count, 'value')} that look{'s' * one} like several records of the table in one "
            f"value{_line(line)}",
            "check whether a closing quotation mark is missing, because people may be missing or mixed up",
        )

    def _look_for_long(self, name: str, values: pa.Array, rows: NDArray[np.int64]) -> None:
        """Find single values behind a gap: free text has long values too, but of every length in between."""
        lengths = np.asarray(pc.utf8_length(values)).astype(np.int64)
        steps = np.unique(lengths)
        gaps = np.flatnonzero((steps[1:] >= _LONG) & (steps[1:] >= _FAR_LONGER * np.maximum(steps[:-1], 1)))
        if not len(gaps):
            return
        longest, shortest = int(steps[gaps[0]]), int(steps[gaps[0] + 1])
        far = lengths >= shortest
        if (rows[far] > 1).any():  # what several people have is no accident
            return
        self._add(
            "long-values",
            name,
            int(far.sum()),
            f"column {name!r} has {_n(int(far.sum()), 'value')} of {shortest:,} characters or more, and all others "
            f"have at most {longest:,}",
            "check whether other text was added to them by mistake",
        )

    def _look_for_sentences(self, name: str, role: Role, values: pa.Array, rows: NDArray[np.int64]) -> None:
        """Find free text: every sentence counts as a value of its own, and may name a person."""
        words = pc.mean(pc.count_substring(values, " ")).as_py() + 1
        if words < _WORDS or len(values) < _HARDLY_REPEATS * int(rows.sum()):
            return
        n_values = f"{_n(len(values), 'different value')} of {words:.0f} words on average"
        if role == "sensitive":
            what = (
                f"the sensitive column {name!r} looks like free text: it has {n_values}. They are published unchanged, "
                "each of them counts as a value of its own, and they may name people"
            )
        elif len(values) >= _SEVERAL:
            what = (
                f"the quasi-identifier {name!r} looks like free text: it has {n_values}, which are published, alone or "
                "a few together. They may name people, and show who is in the table"
            )
        else:
            return
        mend = "leave the column out, or replace the texts by a few categories"
        self._add("free-text", name, len(values), what, mend)

    def _look_for_unique(self, name: str, values: pa.Array, rows: NDArray[np.int64]) -> None:
        """Find texts of which hardly one repeats, unless a caution says already what they are."""
        n_rows = int(rows.sum())
        known = {"free-text", "decimal-commas", "amounts-as-text", "dates-as-text"}
        if n_rows < _ENOUGH or len(values) < _UNIQUE * n_rows:
            return
        if any(caution.column == name and caution.name in known for caution in self.cautions):
            return
        self._add(
            "unique-values",
            name,
            len(values),
            f"the sensitive column {name!r} has {_n(len(values), 'different value')} in {counted(n_rows, 'record')}, "
            "so hardly any value repeats. Such values often name cases or people. They are published unchanged, and "
            "l-diversity does not protect them, because any group has different values",
            "leave the column out, or replace its values by a few categories",
        )

    def _look_for_people(self, name: str, values: pa.Array, rows: NDArray[np.int64]) -> bool:
        """Find quasi-identifiers that name or reach one person: a set of two names shows that both are in the table."""
        what = direct_identifier(name, values, rows)
        if what:
            self._add(
                "direct-identifiers",
                name,
                len(values),
                f"the quasi-identifier {name!r} looks like {what}: it has {_n(len(values), 'different value')}, which "
                "are published, alone or a few together, and show who is in the table",
                "leave the column out, or make it the identifier, which is not published",
            )
        return bool(what)

    # ------------------------------------------------------------------------------------------------ spelled variously

    def _look_for_alike(self, name: str, role: Role, values: pa.Array, rows: NDArray[np.int64]) -> None:
        kinds = alike(values)
        count = sum(map(len, kinds))
        what = (
            "that differ from another value only in details such as upper and lower case, blanks, invisible characters "
            "or dashes"
        )
        merge = f"merge them with normalise=[{name!r}]"
        if kinds and role == "sensitive":
            self._add(
                "look-alikes",
                name,
                count,
                f"the sensitive column {name!r} has {counted(count, 'value')} {what}, and that count as "
                "different values",
                merge,
                _examples(kinds, values, rows),
            )
        elif kinds and role == "identifier":
            self.notices.append(
                f"{count:,} values of the identifier {name} {what[5:]}: check whether a person is in the table twice"
            )
        elif kinds:
            self.notices.append(f"{name} has {count:,} values {what}: if they mean the same, {merge}")
        numbers = same_numbers(values) if role in ("quasi", "sensitive") else []
        count = sum(map(len, numbers))
        if numbers and role == "sensitive":
            self._add(
                "same-numbers",
                name,
                count,
                f"the sensitive column {name!r} has {count:,} values that write the same number in different ways, as "
                "1, 1.0 and 01 do, and that count as different values",
                "write each number in one way",
                _examples(numbers, values, rows),
            )
        elif numbers:
            self.notices.append(
                f"{name} has {count:,} values that write the same number in different ways, as 1 and 01 do"
            )

    def _look_for_amounts(self, name: str, values: pa.Array) -> None:
        """Find amounts that are texts: nothing else would tell that values which differ only a little are close."""
        if decimal_commas(values):
            self._add(
                "decimal-commas",
                name,
                len(values),
                f"the sensitive column {name!r} has {_n(len(values), 'different text')} that look like numbers with a "
                "decimal comma: as texts, numbers that differ only a little count as different values, although an "
                "attacker learns the number almost exactly",
                "read a text file with decimal=',', or write the numbers with a point",
            )
        elif count := count_amounts(values):
            self._add(
                "amounts-as-text",
                name,
                count,
                f"the sensitive column {name!r} has {_n(count, 'different text')} that look like amounts with "
                "thousands separators, currency signs or the like: as texts, amounts that differ only a little count "
                "as different values, and each is published exactly",
                "remove thousands separators and currency signs (decimal commas may stay: decimal=',') and put the "
                f"numbers into ranges, with bins={{{name!r}: 'intervals:WIDTH'}}",
            )

    def _look_for_dates(self, name: str, values: pa.Array) -> None:
        """Find dates that are texts: dates are refused as amounts, and texts are not."""
        if count := count_dates(values):
            self._add(
                "dates-as-text",
                name,
                count,
                f"the sensitive column {name!r} has {_n(count, 'different text')} that look like dates: as texts, "
                "dates that are close to each other count as different values, and each is published exactly",
                f"{HOW_DATES_ARE_WRITTEN}, and put the dates into ranges, such as bins={{{name!r}: 'dates:month'}}",
            )

    def _look_for_missing(self, name: str, values: pa.Array, rows: NDArray[np.int64], *, gaps: bool) -> None:
        short = np.flatnonzero(np.asarray(pc.utf8_length(values)) <= 40)
        places = [place for place in short.tolist() if key(values[place].as_py()) in MISSING_WORDS]
        if not places:
            return
        n_rows = int(rows[places].sum())
        if len({key(values[place].as_py()) for place in places}) + gaps == 1:
            self.notices.append(
                f"the sensitive column {name} has a text that stands for a missing value, in {_n(n_rows, 'row')}: it "
                "counts as a value like any other"
            )
            return
        also = " besides empty cells" if gaps else ""
        self._add(
            "missing-words",
            name,
            len(places),
            f"the sensitive column {name!r} has {_n(len(places), 'text')} that stand{'s' * (len(places) == 1)} for a "
            f"missing value{also}, in {_n(n_rows, 'row')}, and they count as different values",
            "write missing values in one way",
            _examples([places], values, rows),
        )

    def _add(
        self,
        name: str,
        column: str,
        count: int,
        sentence: str,
        mend: str,
        examples: tuple[tuple[tuple[str, int], ...], ...] = (),
    ) -> None:
        caution = Caution(name=name, column=column, count=count, sentence=sentence, mend=mend, examples=examples)
        self.cautions.append(caution)

    def told(self, accepted: Sequence[str]) -> Iterator[str]:
        """The notices: findings that do not prevent publication, and accepted cautions."""
        yield from self.notices
        for caution in self.cautions:
            if caution.is_accepted(accepted):
                yield f"accepted ({caution.name}): {caution.sentence}"


def with_breaks(texts: pa.Array) -> pa.Array:
    """The texts that hold line breaks."""
    return texts.filter(pc.match_substring_regex(texts, _A_BREAK))


def _examples(
    kinds: Sequence[Sequence[int]], values: pa.Array, rows: NDArray[np.int64]
) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple((values[place].as_py(), int(rows[place])) for place in kind) for kind in kinds[:_MOST_EXAMPLES])


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _line(number: int) -> str:
    return f" (first in line {number:,})" if number else ""
