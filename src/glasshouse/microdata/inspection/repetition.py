# SPDX-License-Identifier: Apache-2.0
"""Repetition: signs that people have several rows, or that several rows are of people who live together.

Names of columns and how often their values repeat are signs, and no more: what they mean is for the steward to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from glasshouse.microdata.inspection.role_words import PERSONAL, first_match
from glasshouse.microdata.kinds import distinct_rows
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Column
    from glasshouse.microdata.inspection.column_report import ColumnReport, Measured

__all__ = ["HOUSEHOLDS", "PEOPLE", "Several", "key_notices", "repetition_notices", "several_rows"]

_ROUNDING = 1e-9  # of sums of shares
MOST_ROWS = 10  # rows that a person or a household has on average at most: a column with more is about something else

PEOPLE = """
    person* individual* respondent* patient* client* customer* member* employee* student* subject* user* kunde*
    cliente* participant* proband* insured versichert* pat patnr patid pid respid* respnr*
"""
"""Words for people: a column called so may name them, also where its values repeat."""

HOUSEHOLDS = """
    household* hh hhid haushalt* menage* foyer* hogar* famil* dwelling* wohnung* domicil* address* adresse* direccion*
    indirizzo* endereco*
"""
"""Words for people who live together."""

_KEYS = "id ids nr no num number numero nummer key code"  # what follows the word in the name of a key


class Several(NamedTuple):
    """The column that names the people of a table with several rows for some, and how their rows are read."""

    column: str
    repeated: Literal["sample", "together"]
    n_people: int
    # so many times as many people as have the most frequent sensitive value in any row; or are expected to have it, if
    # one row of each is drawn
    largest_ell: int
    largest_ell_complete: int  # the same without the rows that miss the sensitive value


def several_rows(
    measured: Sequence[Measured], reports: Sequence[ColumnReport], sensitive: str | None
) -> Several | None:
    """The column that says who a row is about, where its values repeat; None if people seem to have one row each.

    Rows are read together where nobody's quasi-identifiers differ from row to row; otherwise one is drawn of each.
    """
    of_people = [
        (m.column, report)
        for m, report in zip(measured, reports, strict=True)
        if report.role == "identifier"
        and not report.missing
        and (first_match(report.name, PEOPLE) or first_match(report.name, PERSONAL))
    ]
    if any(report.distinct == report.n_tuples for _, report in of_people):
        return None
    found = next(
        (
            column
            for column, report in of_people
            if first_match(report.name, PEOPLE) and _repeats(report.distinct, report.n_tuples)
        ),
        None,
    )
    if found is None:
        return None
    person = found.codes.astype(np.int64)
    first = np.zeros(found.domain.size, np.int64)
    first[person[::-1]] = np.arange(len(person))[::-1]
    quasi = [m.column.codes for m, report in zip(measured, reports, strict=True) if report.role == "quasi"]
    same = all(bool((codes == codes[first[person]]).all()) for codes in quasi)
    values = next((m.column for m in measured if m.report.name == sensitive), None)
    ells = (0, 0) if values is None else _largest_ells(person, values, drawn=not same)
    return Several(found.name, "together" if same else "sample", len(found.domain.values), *ells)


def _largest_ells(person: NDArray[np.int64], values: Column, *, drawn: bool) -> tuple[int, int]:
    """The largest l, and that without the rows that have no value.

    A person counts under every value of the rows; if one row of each is ``drawn``, by the share of rows that have it.
    """
    missing, width = values.domain.missing_code, values.domain.missing_code + 1
    pairs = person * width + values.codes
    if not drawn:
        pairs = np.unique(pairs)
    found = []
    for some in (pairs, pairs[pairs % width != missing]):
        _, who, n_rows = np.unique(some // width, return_inverse=True, return_counts=True)
        shares = 1 / n_rows[who.reshape(-1)] if drawn else np.ones(len(some))
        most = float(np.bincount(some % width, weights=shares, minlength=1).max())
        found.append(int(len(n_rows) / max(most, 1.0) + _ROUNDING))
    return found[0], found[1]


def repetition_notices(measured: Sequence[Measured], reports: Sequence[ColumnReport]) -> Iterator[str]:
    """Notes on columns which suggest that people have several rows, or live together, and on how to read them then."""
    told = False
    for m, report in zip(measured, reports, strict=True):
        if m.are_dates or not _repeats(report.distinct, report.n_tuples - report.missing):
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


def key_notices(names: Iterable[str], identifier: str | None) -> Iterator[str]:
    """Notes on columns without a role, known by name only, that look like a key of households, addresses or people."""
    settled = identifier is not None and any(first_match(identifier, words) for words in (PEOPLE, HOUSEHOLDS, PERSONAL))
    for name in filter(_is_key, names):
        if first_match(name, HOUSEHOLDS):
            yield _of_household(name)
        elif first_match(name, PEOPLE) and not settled:
            per = "row" if identifier is None else f"value of {identifier}"
            yield (
                f"{name} looks like a personal number, and is not the identifier. If its values repeat, people "
                f"have several rows, and the guarantee is given for each {per}, not for each person: an attacker may "
                f"learn more about a person with several rows. In this case, {_read_as(name)}, which makes one "
                "record of each person, or with repeated='sample', which draws one row of each"
            )


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
