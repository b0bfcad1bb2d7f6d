# SPDX-License-Identifier: Apache-2.0
"""Counting a table: its rows are divided into groups, and every sensitive column is counted in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import bounds
from glasshouse.errors import DomainError, GuaranteeBroken, InputError, ParameterError, SchemaError
from glasshouse.plural import counted
from glasshouse.verification.columns import encode, suppressed_codes
from glasshouse.verification.groups import check, divide, worst_of
from glasshouse.verification.sensitive import SensitiveColumn
from glasshouse.verification.verification import Achieved, Check, Verification, risk_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.verification.columns import Coded
    from glasshouse.verification.groups import Division

__all__ = [
    "SUPPRESSED",
    "Distance",
    "Missing",
    "Number",
    "Roles",
    "Thresholds",
    "View",
    "check_sensitive",
    "fraction",
    "joined_counting",
    "roles",
    "thresholds",
    "verify_table",
    "views_of",
    "whole",
]

Number: TypeAlias = int | float | str | Decimal | Fraction
Distance: TypeAlias = Literal["equal", "ordered", "hierarchical"]
Missing: TypeAlias = Literal["category", "error", "drop"]
Roles: TypeAlias = tuple[list[str], list[str]]

SUPPRESSED: Final = ("*",)
"""The text of a suppressed cell, unless another one is given."""


class Thresholds(TypedDict, total=False):
    """What may be asked of every group; all but ``k`` also by column, as a mapping."""

    k: int | None
    ell: int | Mapping[str, int] | None
    distinct_ell: int | Mapping[str, int] | None
    entropy_ell: Number | Mapping[str, Number] | None
    designated_ell: int | Mapping[str, int] | None
    recursive: tuple[Number, int] | Mapping[str, tuple[Number, int]] | None
    alpha: Number | Mapping[str, Number] | None
    t: Number | Mapping[str, Number] | None


def roles(quasi: Sequence[str], sensitive: str | Sequence[str] | None, known: Sequence[str] | None = None) -> Roles:
    """Quasi-identifiers and sensitive columns, each column in one role, and all of them among the known ones."""
    names = [quasi] if isinstance(quasi, str) else list(quasi)
    others = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    if not names:
        raise SchemaError("name at least one quasi-identifier: a column that an attacker may know about everybody")
    for name in (*names, *others):
        if name in names and name in others:
            raise SchemaError(
                f"column {name!r} is named both as a quasi-identifier and as sensitive: give it one role", column=name
            )
        if [*names, *others].count(name) > 1:
            raise SchemaError(f"column {name!r} is named twice", column=name)
    for role, wanted in (("a quasi-identifier", names), ("sensitive", others)) if known is not None else ():
        for name in wanted:
            times = list(known or ()).count(name)
            if not times:
                raise SchemaError.unknown(name, list(known or ()), role=role)
            if times > 1:
                raise SchemaError(f"the table has {times} columns named {name!r}", column=name)
    return names, others


def check_sensitive(given: Mapping[str, Any], sensitive: list[str], option: str) -> None:
    """Refuse an option for a column that is not sensitive."""
    for name in given:
        if name not in sensitive:
            raise SchemaError.unknown(name, sensitive, role=f"{option}, which takes sensitive columns")


def thresholds(given: Thresholds, sensitive: list[str]) -> dict[str, dict[Any, Any]]:
    """Every threshold by column (that of k under None), checked and exact."""
    unknown = sorted(set(given) - set(Thresholds.__annotations__))
    if unknown:
        raise TypeError(f"verify() got an unexpected keyword argument {unknown[0]!r}")
    asked: dict[str, dict[Any, Any]] = {}
    for what, limit in given.items():
        if limit is None:
            continue
        if what == "k":
            asked["k"] = {None: whole("k", limit)}
            continue
        if not sensitive:
            raise SchemaError(f"{what} was asked for, but no sensitive column was named: name one")
        by_column = limit if isinstance(limit, Mapping) else dict.fromkeys(sensitive, limit)
        check_sensitive(by_column, sensitive, what)
        asked[what] = {name: _limit(what, value) for name, value in by_column.items()}
    return asked


def fraction(name: str, value: Any, *, least: int = 0) -> Fraction:
    """Read a number exactly; a float means the decimal that it prints.

    >>> fraction("t", 0.2), fraction("t", "1/3")
    (Fraction(1, 5), Fraction(1, 3))
    """
    allowed = f"a number >= {least}"
    try:
        number = bounds.exact(value)
    except bounds.OutOfBounds:
        raise ParameterError("verify", name, f"{allowed}, of at most {bounds.MOST_DIGITS} digits", value) from None
    except (TypeError, ValueError):
        raise ParameterError("verify", name, allowed, value) from None
    if number < least:
        raise ParameterError("verify", name, allowed, value)
    return number


def _limit(what: str, value: Any) -> Any:
    if what == "recursive":
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise ParameterError("verify", what, "a pair (c, ell)", value)
        return fraction("recursive c", value[0]), whole("recursive ell", value[1])
    if what == "entropy_ell":
        return fraction(what, value, least=1)
    if what in ("alpha", "t"):
        return fraction(what, value)
    return whole(what, value)


def whole(name: str, value: Any, *, least: int = 1) -> int:
    """Check a whole number."""
    try:
        number = bounds.whole(value)
    except TypeError:
        number = least - 1
    except bounds.OutOfBounds:
        raise ParameterError("verify", name, f"an integer of at most {bounds.MOST_WHOLE:,}", value) from None
    if number < least:
        raise ParameterError("verify", name, f"an integer >= {least:,}", value)
    return number


_GAPS, _BLANKS = "missing values", "suppressed cells"
_MOST_TUPLES = 1 << 31  # below it every product of two counts fits into 64 bits


def verify_table(
    table: pa.Table,
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    missing: Missing = "category",
    ordered: Mapping[str, Sequence[Any]] | None = None,
    taxonomies: Mapping[str, Taxonomy | str | Path] | None = None,
    designated: Mapping[str, Sequence[Any]] | None = None,
    distance: Distance | Mapping[str, Distance] | None = None,
    suppressed: Sequence[Any] = SUPPRESSED,
    suppressed_in: Sequence[str] | None = None,
    population: int | None = None,
    risk_threshold: Number = Fraction(1, 5),
    notices: Sequence[str] = (),
    brief: bool = False,
    sets: Sequence[str] = (),
    **asked: Unpack[Thresholds],
) -> Verification:
    """Verify an Arrow table as it is: see `glasshouse.verify`; columns of any type, also dictionaries.

    With ``brief`` only what was asked is decided, and not what the sensitive columns achieve beyond it. The cells of
    ``sets`` are sets of values, and what is asked is asked of every single value. Only columns of ``suppressed_in``
    have suppressed cells, or all columns if it is None; in others a star is a value.

    >>> import pyarrow as pa
    >>> table = pa.table({"q": ["a", "b", "a", "b"], "d": ["x", "y", "x", "y"]})
    >>> verify_table(table, quasi=["q"], sensitive="d")
    Verification(4 records in 2 groups, k=2; d: ell=1, t=0.5)
    """
    names, others = roles(quasi, sensitive, table.column_names)
    limits = thresholds(asked, others)
    by_column = {"ordered": ordered, "taxonomies": taxonomies, "designated": designated}
    if distance is not None and not isinstance(distance, str):
        by_column["distance"] = distance
    for option, given in by_column.items():
        check_sensitive(given or {}, others, option)
    if missing not in ("category", "error", "drop"):
        raise ParameterError("verify", "missing", "'category', 'error' or 'drop'", missing)
    if not 0 < table.num_rows < _MOST_TUPLES:
        raise InputError(
            f"the table has {counted(table.num_rows, 'row')}: it must have at least one row and fewer than 2^31"
        )

    columns, dropped = _apply_missing_rule(
        {name: encode(name, table.column(name)) for name in (*names, *others)}, missing
    )
    division = divide([columns[name] for name in names])
    marks = {name: suppressed if suppressed_in is None or name in suppressed_in else () for name in columns}
    checks = _check_sizes(division, limits.get("k", {}).get(None))
    achieved: dict[str, Achieved] = {}
    notes = (
        [f"{counted(dropped, 'row')} with missing values {'was' if dropped == 1 else 'were'} left out"]
        if dropped
        else []
    )
    for name in others:
        column = SensitiveColumn(
            columns[name],
            division,
            kind=table.schema.field(name).type,
            order=(ordered or {}).get(name),
            taxonomy=(taxonomies or {}).get(name),
            designated=(designated or {}).get(name),
            distance=distance if distance is None or isinstance(distance, str) else distance.get(name),
            suppressed=marks[name],
            of_sets=name in sets,
        )
        if not brief:
            achieved[name] = column.achieved()
        checks += column.checks({what: limit[name] for what, limit in limits.items() if name in limit})
        notes += column.notes()
    people = None if population is None else whole("population", population, least=len(division.labels))
    return Verification(
        n_tuples=len(division.labels),
        n_groups=division.n_groups,
        quasi=tuple(names),
        smallest=worst_of(division, np.flatnonzero(division.sizes == division.sizes.min())),
        columns=achieved,
        risk=risk_of(division.sizes, fraction("risk_threshold", risk_threshold), people),
        checks=tuple(checks),
        counting=(*_counting(columns, division, marks), *notes),
        notices=tuple(notices),
    )


def _apply_missing_rule(columns: dict[str, Coded], missing: Missing) -> tuple[dict[str, Coded], int]:
    """Apply the one rule for missing values: a value of its own, an error that counts them, or rows left out."""
    if missing == "category":
        return columns, 0
    gaps = {name: column.missing for name, column in columns.items()}
    counts = {name: int(gap.sum()) for name, gap in gaps.items() if gap.any()}
    if not counts:
        return columns, 0
    if missing == "error":
        listed = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
        raise DomainError(
            f"there are missing values in {listed}: use missing='category' to count them as a value, or "
            "missing='drop' to leave out their rows",
            column=next(iter(counts)),
        )
    complete = ~np.logical_or.reduce(list(gaps.values()))
    if not complete.any():
        raise DomainError(
            "every row has a missing value, so nothing is left after missing='drop': use missing='category'"
        )
    kept = {name: replace(column, codes=column.codes[complete]) for name, column in columns.items()}
    return kept, int(np.count_nonzero(~complete))


def _check_sizes(division: Division, k: int | None) -> list[Check]:
    if k is None:
        return []
    return [check(division, f"k = {k:,}", None, division.sizes < k, -division.sizes.astype(float))]


def _counting(columns: Mapping[str, Coded], division: Division, marks: Mapping[str, Sequence[Any]]) -> list[str]:
    """Say how missing values and suppressed cells were counted; ``marks`` says by column what stands in the latter."""
    hidden = {name: suppressed_codes(column, marks[name]) for name, column in columns.items()}
    lines = [
        "a group consists of the rows with equal values in all quasi-identifiers; every row counts as one person",
        *_about_cells(columns, hidden),
    ]
    entirely = _entirely(division, hidden)
    if entirely:
        lines.append(
            f"{counted(entirely, 'record has', 'records have')} every quasi-identifier suppressed; "
            "their groups are counted like any other"
        )
    return lines


def _about_cells(columns: Mapping[str, Coded], hidden: Mapping[str, Any]) -> list[str]:
    """How missing values and suppressed cells of columns were counted; ``hidden`` has the codes of the latter."""
    gaps = {name: int(column.missing.sum()) for name, column in columns.items()}
    blanks = {
        name: int(np.isin(columns[name].codes, codes).sum()) if len(codes) else 0 for name, codes in hidden.items()
    }
    lines = []
    for what, counts, which in ((_GAPS, gaps, "those of a column"), (_BLANKS, blanks, "those that are written alike")):
        listed = ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)
        each = f"in {listed}; {which} count as one value, which differs from every other value" if listed else "none"
        lines.append(f"{what}: {each}")
    return lines


def joined_counting(
    found: Sequence[Verification], tables: Iterable[pa.Table], views: Sequence[View], quasi: Sequence[str]
) -> tuple[str, ...]:
    """How the tables of a release were counted, where each verification saw the columns of one of its views."""
    columns = {name: table[name] for name in quasi for table in tables if name in table.column_names}
    columns |= {name: view.table[name] for view in views for name in view.sensitive}
    coded = {name: encode(name, column) for name, column in columns.items()}
    hidden = {name: suppressed_codes(column, SUPPRESSED if name in quasi else ()) for name, column in coded.items()}
    first, *notes = dict.fromkeys(
        line for one in found for line in one.counting if not line.startswith((f"{_GAPS}: ", f"{_BLANKS}: "))
    )
    return (first, *_about_cells(coded, hidden), *notes)


def _entirely(division: Division, hidden: Mapping[str, Any]) -> int:
    """How many records have nothing but suppressed cells."""
    of_group = np.ones(division.n_groups, bool)
    for column in division.columns:
        of_group &= np.isin(column.codes[division.example], hidden[column.name])
    return int(division.sizes[of_group].sum())


# --- views: the tables of a release as tables that can be counted -----------------------------------------------------
#
# Each view is a table whose rows are records, with the columns in which the rows of a group agree. Where a release is
# several tables, it is first checked that they tell the same: as many records in every group, whichever table is asked.


_COUNT = "Count"


@dataclass(frozen=True, eq=False)
class View:
    """Rows that are records; those that agree in all of ``quasi`` are a group."""

    table: pa.Table
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]


def views_of(tables: Mapping[str, pa.Table], quasi: Sequence[str], sensitive: Sequence[str]) -> list[View]:
    """Determine the layout of a release from its tables' names and columns, and return its views.

    >>> st = pa.table({"Group-ID": [1, 1], "ill": ["flu", "none"], "Count": [2, 1]})
    >>> qit = pa.table({"age": [30, 31, 40], "Group-ID": [1, 1, 1]})
    >>> [view.table.num_rows for view in views_of({"qit": qit, "st": st}, ["age"], ["ill"])]
    [3]
    """
    own = (*quasi, *sensitive)
    counted = {name: t for name, t in tables.items() if _COUNT in t.column_names and _COUNT not in own}
    if counted:
        return _apart(tables, counted, sensitive)
    (data,) = tables.values()
    if "Group-ID" in data.column_names and "Group-ID" not in own:
        return [View(data, ("Group-ID",), tuple(sensitive))]
    return [View(data, tuple(quasi), tuple(sensitive))]


def _apart(tables: Mapping[str, pa.Table], counted: Mapping[str, pa.Table], sensitive: Sequence[str]) -> list[View]:
    """Sensitive values counted by group in tables of their own (anatomy, ANGEL)."""
    views: list[View] = []
    sizes: NDArray[np.float64] | None = None
    for name, table in counted.items():
        number, column, _ = table.column_names
        if column not in sensitive:
            raise GuaranteeBroken(f"the table {name!r} counts a column that is not a sensitive one")
        counts = np.asarray(table[_COUNT])
        if counts.min(initial=1) < 1:
            raise GuaranteeBroken(f"the table {name!r} has counts below 1")
        own = _totals(table[number], counts)
        if sizes is not None and not np.array_equal(own, sizes):
            raise GuaranteeBroken("two tables of sensitive values do not give the same sizes of groups")
        sizes = own
        rows = table.select([number, column])
        if counts.max(initial=1) > 1:
            rows = rows.take(pa.array(np.repeat(np.arange(len(counts)), counts)))
        views.append(View(rows, (number,), (column,)))
    for name, table in tables.items():
        if name in counted or number not in table.column_names:
            continue
        if sizes is None or not np.array_equal(_totals(table[number], None), sizes):
            raise GuaranteeBroken(f"the table {name!r} does not have as many records in every group as the counts say")
    return views


def _totals(numbers: pa.ChunkedArray, counts: NDArray[np.int32] | None) -> NDArray[np.float64]:
    """How many records each group has, by its number."""
    if pc.min(numbers).as_py() is not None and pc.min(numbers).as_py() < 1:
        raise GuaranteeBroken("a group has a number below 1")
    found = np.bincount(np.asarray(numbers), weights=counts)
    return found.astype(np.float64)
