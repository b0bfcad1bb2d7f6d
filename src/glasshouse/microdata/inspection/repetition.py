# SPDX-License-Identifier: Apache-2.0
"""Repetition: signs that people have several rows, or that several rows are of people who live together.

Names of columns and how often their values repeat are signs, and no more: what they mean is for the steward to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.microdata.inspection.role_words import first_match
from glasshouse.microdata.kinds import distinct_rows
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from glasshouse.microdata.inspection.column_report import ColumnReport, Measured

__all__ = ["HOUSEHOLDS", "PEOPLE", "household_notices", "repetition_notices"]

MOST_ROWS = 10  # rows that a person or a household has on average at most: a column with more is about something else

PEOPLE = """
    person* individual* respondent* patient* client* customer* member* employee* student* subject* user* kunde*
    cliente* participant* proband* insured versichert*
"""
"""Words for people: a column called so may name them, also where its values repeat."""

HOUSEHOLDS = """
    household* hh hhid haushalt* menage* foyer* hogar* famil* dwelling* wohnung* domicil* address* adresse* direccion*
    indirizzo* endereco*
"""
"""Words for people who live together."""

_KEYS = "id ids nr no num number numero nummer key code"  # what follows the word in the name of a key


def repetition_notices(measured: Sequence[Measured], reports: Sequence[ColumnReport]) -> Iterator[str]:
    """Notes on columns which suggest that people have several rows, or live together, and on how to read them then."""
    told = False
    for report in reports:
        if not _repeats(report.distinct, report.n_tuples - report.missing):
            continue
        if first_match(report.name, HOUSEHOLDS):
            yield _of_household(report.name)
        elif report.role == "identifier" or (report.role != "sensitive" and first_match(report.name, PEOPLE)):
            told = True
            n_before = report.n_tuples - report.missing - report.distinct
            yield (
                f"values of {report.name} repeat: {counted(n_before, 'row has', 'rows have')} a value that an "
                "earlier row has. If the "
                f"column says who a row is about, people have several rows. Then {_read_as(report.name)}, which makes "
                "one record of each person, or with repeated='sample', which draws one row of each"
            )
    _, _, counts = distinct_rows([m.column for m in measured])
    n_same = int((counts - 1).sum())
    if n_same and not told:
        yield (
            f"rows that are equal to an earlier row in every column: {n_same:,}. They belong to different people with "
            "equal values, or to people with several rows. If a column says who a row is about, name it "
            "(identifier=), and give repeated='together' or repeated='sample'"
        )


def household_notices(names: Iterable[str]) -> Iterator[str]:
    """Notes on columns, known by name only, that look like a key of households or addresses."""
    for name in names:
        if first_match(name, HOUSEHOLDS) and _is_key(name):
            yield _of_household(name)


def _repeats(n_distinct: int, n_rows: int) -> bool:
    """Whether values repeat, and not too often for a key of people."""
    return 1 < n_distinct < n_rows <= MOST_ROWS * n_distinct


def _is_key(name: str) -> bool:
    """Whether a name says a household, or the number of one, and nothing else of it."""
    rest = [word for word in name.replace("-", "_").replace(" ", "_").casefold().split("_") if word]
    return len(rest) == 1 or (len(rest) == 2 and rest[1] in _KEYS.split())


def _of_household(name: str) -> str:
    return (
        f"{name} looks like the number of a household or an address, which several rows share. People who live "
        "together may have the same sensitive value, and the guarantee is given for each person alone: an attacker "
        f"who knows that they have the same value learns more. To protect whole households, {_read_as(name)}"
    )


def _read_as(name: str) -> str:
    return f"read the table with identifier={name!r} and repeated='together'"
