# SPDX-License-Identifier: Apache-2.0
"""Inspect: look at a table before publishing it, and see who would stand out.

For each column its type, its values and a suggested role; for the columns that others may know, the share of rows that
two, three or all of them single out; for the sensitive column, the largest ell that can be promised; and the cautions
that stop publishing until they are answered.

The report is for the data steward's eyes: it shows the most frequent value of each column, and values that look alike.
Its ``repr``, which ends up in logs, does not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import ParameterError, SchemaError
from glasshouse.microdata.cautions import ABOUT_RECORDS, BETTER_LEFT_OUT, Findings
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.inspection.column_report import ColumnReport, Measured, Role, measure, with_roles
from glasshouse.microdata.inspection.repetition import Several, repetition_notices, several_rows
from glasshouse.microdata.inspection.role_words import BODIES, EITHER_WEIGHTS, POSTCODES, WEIGHTS, first_match
from glasshouse.microdata.inspection.uniqueness import (
    Uniqueness,
    best_pairs_and_triples,
    most_distinguishing,
    percent,
    uniqueness,
)
from glasshouse.microdata.reading.packed_file import STANDARD_INPUT
from glasshouse.microdata.reading.sources import Source, open_source
from glasshouse.microdata.roles import names_given
from glasshouse.microdata.spelling import decimal_commas
from glasshouse.plural import counted
from glasshouse.visible import in_lines, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from glasshouse.microdata.cautions import Caution

__all__ = [
    "ColumnReport",
    "Inspection",
    "SensitiveReport",
    "Uniqueness",
    "inspect",
    "inspected",
    "inspection_text",
    "opened_as_written",
]

MOST_CANDIDATES = 12  # pairs and triples are tried among so many quasi-identifiers: 66 pairs and 220 triples
WIDTH = 100  # of the printed report
NAME_WIDTH = 28  # longer names of columns are cut in the printed table
VALUE_WIDTH = 18  # longer values too
_COMMAS = "numbers with a decimal comma were found, and are read as numbers: publish with decimal=','"


@dataclass(frozen=True, kw_only=True, slots=True)
class SensitiveReport:
    """What can be promised for the sensitive column.

    Parameters
    ----------
    column, named
        The column, and whether the caller named it; otherwise it is a suggestion.
    largest_ell
        The largest ell of any release of the whole table: its rows divided by those of the most frequent value,
        rounded down. Missing counts as a value. Where people have several rows, people are counted instead.
    largest_ell_complete
        The same if the rows that miss the sensitive value are dropped.
    must_be_binned
        Whether it holds amounts: distinct amounts satisfy l-diversity and protect nothing.
    is_drawn
        Whether one row of each person is to be drawn at random: then the largest ell is the one to expect.
    """

    column: str
    named: bool
    largest_ell: int
    largest_ell_complete: int
    must_be_binned: bool
    is_drawn: bool = False

    def __str__(self) -> str:
        about = "about " if self.is_drawn else ""
        text = f"{self.column}: l-diversity is possible up to {about}l = {self.largest_ell:,}"
        if self.largest_ell_complete != self.largest_ell:
            text += f", or {self.largest_ell_complete:,} if the rows without a value are dropped"
        if self.largest_ell < 2:
            text += " (more than half of the rows have the same value)"
        if self.must_be_binned:
            text += (
                "; but it contains numbers, and l-diversity does not protect amounts that differ only a little: put "
                "them into ranges (bins=), which lowers this l, or list the column in categorical= if its numbers "
                "are codes"
            )
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Inspection:
    """The report of `inspect`; prints as a text of at most 100 columns.

    Parameters
    ----------
    n_tuples
        Rows of the table.
    columns
        One report a column, in the order of the table.
    pairs, triples
        The two and three suggested quasi-identifiers that single out the most rows, best first.
    together
        How many rows all suggested quasi-identifiers together single out; None where there are none.
    sensitive
        What can be promised for the sensitive column, named or suggested; None where there is none.
    notices
        What reading assumed, and what to mind.
    cautions
        What stops publishing, with these roles, until it is mended or accepted.
    decimal
        The decimal sign with which a text file was read: given, or found in it.
    held
        The sensitive column as it was read, from which is computed what can be promised for it, and with it the column
        that names people with several rows; never in the ``repr``.
    several
        The column that names the people, where some seem to have several rows, and how these are read.
    """

    n_tuples: int
    columns: tuple[ColumnReport, ...]
    pairs: tuple[Uniqueness, ...]
    triples: tuple[Uniqueness, ...]
    together: Uniqueness | None
    sensitive: SensitiveReport | None
    notices: tuple[str, ...]
    cautions: tuple[Caution, ...] = ()
    decimal: str = "."
    held: pa.Table | None = field(default=None, repr=False, compare=False)
    several: Several | None = None

    @property
    def suggested(self) -> dict[str, Any]:
        """The suggested roles as keyword arguments for `read`: ``identifier``, ``quasi`` and ``sensitive``.

        The identifier is the first that no row misses and no two rows share. Where people seem to have several rows, it
        is the column that names them, and ``repeated`` says how their rows are read.
        """
        key = next((column.name for column in self.columns if _is_key(column)), None)
        roles = {
            "identifier": key if self.several is None else self.several.column,
            "quasi": [column.name for column in self.columns if column.role == "quasi"],
            "sensitive": self.sensitive.column if self.sensitive else None,
        }
        return roles if self.several is None else {**roles, "repeated": self.several.repeated}

    @property
    def protected(self) -> str | None:
        """The sensitive column that is published as suggested; None if there is none, or it is better left out."""
        name = None if self.sensitive is None else self.sensitive.column
        left_out = any(caution.name in BETTER_LEFT_OUT and caution.column == name for caution in self.cautions)
        return None if left_out else name

    @property
    def open_cautions(self) -> tuple[Caution, ...]:
        """The cautions that stop publishing as suggested: others are about columns that are then not published."""
        roles = self.suggested
        named = {*roles["quasi"], roles["identifier"], self.protected}
        return tuple(one for one in self.cautions if one.column in named or one.name in ABOUT_RECORDS)

    @property
    def undecided(self) -> tuple[ColumnReport, ...]:
        """The columns whose role a person must decide, because neither names nor values show it."""
        return tuple(column for column in self.columns if column.open_question)

    @property
    def risk(self) -> tuple[str, ...]:
        """How identifying the quasi-identifiers are, one sentence for each set of them, smaller sets first."""
        more = [self.together] if self.together and len(self.together.columns) not in (2, 3) else []
        return tuple(map(str, (*self.pairs, *self.triples, *more)))

    def column(self, name: str) -> ColumnReport:
        """The report of a column, found by name."""
        for report in self.columns:
            if report.name == name:
                return report
        raise SchemaError.unknown(name, [report.name for report in self.columns], role="a column of the report")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold. It contains values of the table: keep it inside."""
        return {
            "n_tuples": self.n_tuples,
            "columns": [column.to_dict() for column in self.columns],
            "pairs": [_uniqueness_dict(pair) for pair in self.pairs],
            "triples": [_uniqueness_dict(triple) for triple in self.triples],
            "together": _uniqueness_dict(self.together) if self.together else None,
            "sensitive": asdict(self.sensitive) if self.sensitive else None,
            "suggested": self.suggested,
            "undecided": {column.name: column.open_question for column in self.undecided},
            "risk": list(self.risk),
            "decimal": self.decimal,
            "notices": list(self.notices),
            "cautions": [{**caution.to_dict(), "examples": list(caution.shown)} for caution in self.cautions],
        }

    def __str__(self) -> str:
        return inspection_text(self)


def inspection_text(report: Inspection, *, said: Callable[[str], str] = str, reading: bool = True) -> str:
    """Print a report; ``said`` rewrites its sentences, and ``reading`` says how to read the table in Python."""
    return in_lines(_lines(report, said, reading=reading))


def inspect(
    source: Any,
    *,
    sensitive: str | None = None,
    roles: Mapping[str, Role] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Inspection:
    """Look at a table before publishing it: types, values, likely roles, who stands out, the largest feasible ell.

    Roles are suggested by the words in a column's name and by how often its values repeat; they are suggestions, which
    you should check. Every share is counted on all rows, never on a sample. Pairs and triples are tried among the
    suggested quasi-identifiers; if there are more than twelve, among the twelve in which two random rows differ most
    often, and a notice says so.

    Parameters
    ----------
    source
        A path, the address of a database, a frame, or anything else that `read` takes.
    sensitive
        The sensitive column, if it is known; otherwise the likeliest one is suggested.
    roles
        The roles of columns that were decided: ``identifier``, ``quasi``, ``sensitive`` or ``leave out``, by column.
    delimiter, encoding, decimal
        How a CSV file is written, if this should not be detected. `read` takes a point unless it is told
        ``decimal=","``.
    table, query
        Of a database: what to look at.

    Examples
    --------
    >>> patients = {"age": [30, 30, 41, 52], "sex": ["F", "M", "F", "F"], "disease": ["flu", "flu", "ulcer", "HIV"]}
    >>> report = inspect(patients)
    >>> report.suggested
    {'identifier': None, 'quasi': ['age', 'sex'], 'sensitive': 'disease'}
    >>> report.risk
    ('100 % of rows are unique by age, sex',)
    >>> print(report.sensitive)
    disease: l-diversity is possible up to l = 2
    """
    if sensitive is not None:
        (sensitive,) = names_given("sensitive", [sensitive])
    needed = {*(roles or {}), *([] if sensitive is None else [sensitive])}
    how: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "table": table, "query": query}
    opened, found = opened_as_written(source, decimal, needed=needed, **how)
    if decimal is None and found == ",":
        opened = replace(opened, notices=(*opened.notices, _COMMAS))
    return replace(inspected(opened, sensitive, roles), decimal=found)


def opened_as_written(source: Any, decimal: str | None = None, **how: Any) -> tuple[Source, str]:
    """Open a source, with the decimal sign of its numbers; that of a text file is found out if it is not given."""
    opened = open_source(source, decimal=decimal or ".", **how)
    again = not (isinstance(source, str) and source == STANDARD_INPUT)  # which can be read only once
    if decimal is None and again and _writes_commas(opened):
        return open_source(source, decimal=",", **how), ","
    return opened, decimal or "."


def _writes_commas(opened: Source) -> bool:
    """Whether numbers of a text file have decimal commas: nothing has a point, and no comma may separate thousands."""
    if opened.encoding is None or any(pa.types.is_floating(kind) for kind in opened.table.schema.types):
        return False
    texts = [column for column in opened.table.columns if pa.types.is_string(column.type)]
    return any(map(decimal_commas, texts))


def inspected(opened: Source, sensitive: str | None = None, roles: Mapping[str, Role] | None = None) -> Inspection:
    """Look at a table that is open already; see `inspect`."""
    table: pa.Table = opened.table
    for name, role in (roles or {}).items():
        if name not in table.column_names:
            raise SchemaError.unknown(name, table.column_names, role="a column with a role")
        if role not in get_args(Role):
            raise ParameterError("inspect", f"roles[{name!r}]", f"one of {', '.join(get_args(Role))}", role)
    if sensitive is not None and sensitive not in table.column_names:
        raise SchemaError.unknown(sensitive, table.column_names, role="sensitive")

    measured = [
        measure(name, table.column(name).combine_chunks(), opened.labels.get(name, "")) for name in table.column_names
    ]
    reports, chosen = with_roles(measured, sensitive=sensitive, decided=roles or {})
    quasi = [m.column for m, report in zip(measured, reports, strict=True) if report.role == "quasi"]
    findings = _findings(opened, measured, reports)
    pairs, triples = best_pairs_and_triples(most_distinguishing(quasi, most=MOST_CANDIDATES))
    several = several_rows(measured, reports, chosen)
    needed = [] if several is None else [several.column]
    return Inspection(
        n_tuples=table.num_rows,
        columns=tuple(reports),
        pairs=pairs,
        triples=triples,
        together=uniqueness(quasi) if quasi else None,
        sensitive=next((_outlook(r, several, named=sensitive is not None) for r in reports if r.name == chosen), None),
        notices=(*opened.notices, *_warnings(measured, reports, chosen, several), *findings.notices),
        cautions=tuple(findings.cautions),
        held=None if chosen is None else table.select([chosen, *needed]),
        several=several,
    )


def _findings(opened: Source, measured: Sequence[Measured], reports: Sequence[ColumnReport]) -> Findings:
    """Look at the texts of every column as `read` would, with the suggested roles."""
    findings = Findings(opened.written)
    domains = {m.report.name: m.column.domain.values for m in measured}
    rows = {m.report.name: m.column.rows[: len(domains[m.report.name])] for m in measured}
    kinds = {name: values.type for name, values in domains.items()}
    findings.look_at_names(opened.columns, kinds, lambda name: (domains[name], rows[name]))
    for m, report in zip(measured, reports, strict=True):
        domain = m.column.domain
        if report.role == "leave out":
            findings.pass_over(report.name)
            findings.look_for_notation(report.name, domain.values)
            continue
        findings.look(report.name, report.role, domain.values, m.column.rows, gaps=domain.missing)
    return findings


def _outlook(report: ColumnReport, several: Several | None, *, named: bool) -> SensitiveReport:
    counted_by = report if several is None else several
    return SensitiveReport(
        column=report.name,
        named=named,
        largest_ell=counted_by.largest_ell,
        largest_ell_complete=counted_by.largest_ell_complete,
        must_be_binned=report.is_amount,
        is_drawn=several is not None and several.repeated == "sample",
    )


def _warnings(
    measured: Sequence[Measured], reports: Sequence[ColumnReport], chosen: str | None, several: Several | None
) -> Iterator[str]:
    """Say what to mind before the table is read with these roles."""
    quasi = [report for report in reports if report.role == "quasi"]
    if len(quasi) > MOST_CANDIDATES:
        yield (
            "unique rows were counted only for pairs and triples of those "
            f"{MOST_CANDIDATES} of the {len(quasi)} quasi-identifiers that distinguish people most"
        )
    if not quasi:
        yield (
            "no column looks like a quasi-identifier: name the columns whose values others may know about people "
            "(quasi=)"
        )
    if chosen is None:
        yield ("no column looks sensitive: name the column whose values must be protected (sensitive=)")
    others = [report.name for report in reports if report.role == "sensitive" and report.name != chosen]
    if others:
        yield f"these columns look sensitive too, and are not published unless you name them: {', '.join(others)}"
    yield from _weights(measured)
    yield from _lost_zeros(measured, reports)
    if several is None and not any(map(_is_key, reports)):
        repeated = [report.name for report in reports if report.role == "identifier"]
        why = f": values of {', '.join(repeated)} repeat or are missing" if repeated else ""
        yield (
            f"no column can be the identifier{why}. Without one, the guarantee is given for each row: make sure that "
            "nobody has two rows"
        )
    yield from repetition_notices(measured, reports)
    gaps = [report for report in reports if report.missing and (report.role == "quasi" or report.name == chosen)]
    if gaps:
        listed = ", ".join(f"{report.name} ({report.missing:,})" for report in gaps)
        yield f"missing values in {listed}: read them with missing='category' or missing='drop'"
    for m, report in zip(measured, reports, strict=True):
        values = m.column.domain.values
        if report.role == "quasi" and report.kind == "float" and pc.any(pc.is_inf(values)).as_py():
            yield f"{report.name} has infinite values: give it a smallest or largest value (bottom=, top=)"


def _weights(measured: Sequence[Measured]) -> Iterator[str]:
    """Name the columns whose names suggest that they are survey weights."""
    for m in measured:
        if m.report.kind not in ("integer", "float") or first_match(m.words, BODIES):
            continue
        if first_match(m.words, WEIGHTS) or (first_match(m.words, EITHER_WEIGHTS) and _is_about_one(m)):
            yield f"{m.report.name} may be a survey weight: if it is one, name it as the weight (weight=)"


def _is_about_one(m: Measured) -> bool:
    """Whether the mean of a column is about 1, as that of survey weights which add up to the number of people."""
    values = m.column.domain.values.cast(pa.float64())
    total = pc.sum(pc.multiply(values, pa.array(m.column.rows[: len(values)]).cast(pa.float64()))).as_py()
    return bool(0.5 < total / max(m.report.n_tuples - m.report.missing, 1) < 2)


def _lost_zeros(measured: Sequence[Measured], reports: Sequence[ColumnReport]) -> Iterator[str]:
    """Name the columns of zip codes that are numbers of different lengths, and say how to read them as codes."""
    for m, report in zip(measured, reports, strict=True):
        if report.role != "quasi" or report.kind != "integer" or not first_match(report.name, POSTCODES):
            continue
        ends = pc.min_max(m.column.domain.values).as_py()
        shortest, longest = len(str(ends["min"])), len(str(ends["max"]))
        if ends["min"] >= 0 and shortest < longest:
            yield (
                f"{report.name} has numbers with {shortest} to {longest} digits: if they are zip codes, leading zeros "
                "were lost, and as numbers they are put into intervals. To treat them as codes, give "
                f"categorical=[{report.name!r}], or taxonomies={{{report.name!r}: 'prefix:{longest}'}} with "
                "recoding='taxonomies', which also brings the leading zeros back"
            )


def _is_key(report: ColumnReport) -> bool:
    return report.role == "identifier" and report.distinct == report.n_tuples


def _uniqueness_dict(found: Uniqueness) -> dict[str, Any]:
    return {"columns": list(found.columns), "unique": found.unique, "share": found.share}


def _lines(report: Inspection, said: Callable[[str], str], *, reading: bool) -> Iterator[str]:
    """Print the columns, their roles, the risk, the sensitive value, the notices and the call that comes next."""
    yield f"{counted(report.n_tuples, 'row')}, {counted(len(report.columns), 'column')}"
    yield ""
    heads = ("column", "type", "distinct", "missing", "most frequent", "share", "unique rows")
    yield from _grid([heads, *map(_cells, report.columns)], right={2, 3, 5, 6})
    yield from ("", "Suggested roles")
    for role in ("identifier", "quasi", "sensitive", "leave out"):
        for column in report.columns:
            if column.role == role:
                name = _printable(column.name, NAME_WIDTH)
                yield from _item(f"{role:<10}  {name:<{NAME_WIDTH}}  {column.reason}", indent=NAME_WIDTH + 16)
    if report.undecided:
        yield from ("", "Decide")
        for question in dict.fromkeys(column.open_question for column in report.undecided):
            names = [
                _printable(column.name, NAME_WIDTH) for column in report.undecided if column.open_question == question
            ]
            yield from _item(f"decide: {', '.join(names)}: {question}")
    sections = {
        "How many people have values that nobody else has (a missing value counts as a value)": report.risk,
        "Sensitive value": [str(report.sensitive)] if report.sensitive else [],
        "Notices": report.notices,
    }
    for head, sentences in sections.items():
        if sentences:
            yield from ("", head)
            for sentence in sentences:
                yield from _item(said(sentence))
    stopping = report.open_cautions
    others = [caution for caution in report.cautions if caution not in stopping]
    groups = {
        "Cautions (nothing is published until each is corrected or accepted)": stopping,
        "Cautions about columns that are not published so (each counts only if you give its column a role)": others,
    }
    for head, cautions in groups.items():
        if cautions:
            yield from ("", head)
        for caution in cautions:
            yield from _item(str(caution))
            for example in caution.shown:
                yield from _item(f"    {example}", indent=8)
            yield from _item(f"    {said(caution.answer)}", indent=8)
    if reading and report.suggested["quasi"]:
        roles = ", ".join(f"{role}={names!r}" for role, names in report.suggested.items() if names)
        yield from ("", "To read it with these roles")
        yield from _item(f"gh.read(source, {roles})", indent=10)


def _cells(column: ColumnReport) -> tuple[str, ...]:
    return (
        _printable(column.name, NAME_WIDTH),
        column.kind,
        f"{column.distinct:,}",
        f"{column.missing:,}",
        "" if column.most_frequent is None else _printable(text_of(column.most_frequent), VALUE_WIDTH),
        percent(column.most_frequent_share),
        percent(column.unique_share),
    )


def _grid(rows: Sequence[tuple[str, ...]], *, right: set[int]) -> Iterator[str]:
    """Format rows as a grid, some columns right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [text.rjust(widths[i]) if i in right else text.ljust(widths[i]) for i, text in enumerate(row)]
        yield ("  " + "  ".join(cells)).rstrip()


def _item(text: str, *, indent: int = 4) -> list[str]:
    return wrap(
        _printable(text), WIDTH, initial_indent="  ", subsequent_indent=" " * indent, break_on_hyphens=False
    )  # fmt: skip


def _printable(text: str, most: int | None = None) -> str:
    """Text for a terminal: no control characters, cut to ``most`` characters."""
    clean = visible(text)
    return clean if most is None or len(clean) <= most else clean[: most - 1] + "…"
