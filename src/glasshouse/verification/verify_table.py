# SPDX-License-Identifier: Apache-2.0
"""Counting a table: its rows are divided into groups, and every sensitive column is counted in them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from glasshouse.errors import DomainError, InputError, ParameterError
from glasshouse.verification.columns import encode, suppressed_codes
from glasshouse.verification.groups import check, divide, worst_of
from glasshouse.verification.request import check_sensitive, fraction, roles, thresholds
from glasshouse.verification.risk import risk_of
from glasshouse.verification.sensitive import SensitiveColumn
from glasshouse.verification.verification import Achieved, Check, Verification

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.verification.columns import Coded
    from glasshouse.verification.groups import Division
    from glasshouse.verification.request import Distance, Missing, Number, Thresholds

__all__ = ["verify_table"]

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
    suppressed: Sequence[Any] = ("*",),
    population: int | None = None,
    risk_threshold: Number = Fraction(1, 5),
    notices: Sequence[str] = (),
    brief: bool = False,
    **asked: Unpack[Thresholds],
) -> Verification:
    """As `glasshouse.verify`, for an Arrow table as it is: columns of any type, dictionaries and all.

    With ``brief`` only what was asked is decided, and not what the sensitive columns achieve beyond it.

    >>> import pyarrow as pa
    >>> table = pa.table({"q": ["a", "b", "a", "b"], "d": ["x", "y", "x", "y"]})
    >>> verify_table(table, quasi=["q"], sensitive="d")
    Verification(4 tuples in 2 groups, k=2; d: ell=1, t=0.5)
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
        raise InputError(f"the table has {table.num_rows:,} rows: at least one is needed, and fewer than 2^31")

    columns, dropped = _apply_missing_rule(
        {name: encode(name, table.column(name)) for name in (*names, *others)}, missing
    )
    division = divide([columns[name] for name in names])
    checks = _check_sizes(division, limits.get("k", {}).get(None))
    achieved: dict[str, Achieved] = {}
    notes = [f"{dropped:,} rows with missing values were left out"] if dropped else []
    for name in others:
        column = SensitiveColumn(
            columns[name],
            division,
            kind=table.schema.field(name).type,
            order=(ordered or {}).get(name),
            taxonomy=(taxonomies or {}).get(name),
            designated=(designated or {}).get(name),
            distance=distance if distance is None or isinstance(distance, str) else distance.get(name),
            suppressed=suppressed,
        )
        if not brief:
            achieved[name] = column.achieved()
        checks += column.checks({what: limit[name] for what, limit in limits.items() if name in limit})
        notes += column.notes()
    return Verification(
        n_tuples=len(division.labels),
        n_groups=division.n_groups,
        quasi=tuple(names),
        smallest=worst_of(division, np.flatnonzero(division.sizes == division.sizes.min())),
        columns=achieved,
        risk=risk_of(division.sizes, fraction("risk_threshold", risk_threshold), population),
        checks=tuple(checks),
        counting=(*_counting(columns, division, suppressed), *notes),
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
        raise DomainError(f"missing values in {listed}: use missing='category' or 'drop'", column=next(iter(counts)))
    complete = ~np.logical_or.reduce(list(gaps.values()))
    if not complete.any():
        raise DomainError("every row has a missing value: nothing is left after missing='drop'")
    kept = {name: replace(column, codes=column.codes[complete]) for name, column in columns.items()}
    return kept, int(np.count_nonzero(~complete))


def _check_sizes(division: Division, k: int | None) -> list[Check]:
    if k is None:
        return []
    return [check(division, f"k = {k:,}", None, division.sizes < k, -division.sizes.astype(float))]


def _counting(columns: Mapping[str, Coded], division: Division, suppressed: Sequence[Any]) -> list[str]:
    """Say how missing values and suppressed cells were counted."""
    gaps = {name: int(column.missing.sum()) for name, column in columns.items()}
    hidden = {name: suppressed_codes(column, suppressed) for name, column in columns.items()}
    blanks = {
        name: int(np.isin(columns[name].codes, codes).sum()) if len(codes) else 0 for name, codes in hidden.items()
    }
    lines = ["a group is the rows with equal values in all quasi-identifiers; every row counts as one person"]
    for what, counts in (("missing values", gaps), ("suppressed cells", blanks)):
        listed = ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)
        each = f"a value of its own that equals only itself, in {listed}" if listed else "none"
        lines.append(f"{what}: {each}")
    entirely = _entirely(division, hidden)
    if entirely:
        lines.append(
            f"{entirely:,} tuples with every quasi-identifier suppressed: groups of their own, counted like any other"
        )
    return lines


def _entirely(division: Division, hidden: Mapping[str, Any]) -> int:
    """How many tuples have nothing but suppressed cells."""
    of_group = np.ones(division.n_groups, bool)
    for column in division.columns:
        of_group &= np.isin(column.codes[division.example], hidden[column.name])
    return int(division.sizes[of_group].sum())
