# SPDX-License-Identifier: Apache-2.0
"""A look at a table: how it is written, its first rows, its columns, and the roles that they suggest.

What comes out is plain and small, and holds values of the table: it is for the steward's eyes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.database import is_address
from glasshouse.plural import counted

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata.inspection.column_report import ColumnReport
    from glasshouse.microdata.reading.sources import Source
    from glasshouse.studio.job import Tell

__all__ = ["hospital", "look"]

ROWS = 12
"""How many of the first rows are shown."""
MOST_SHOWN = 200  # characters of a value
MOST_PICTURES = 300  # columns whose distribution is drawn
BARS = 24
_FORMS = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow"}


def look(*, tell: Tell, file: str, **how: Any) -> dict[str, Any]:
    """Read a table, and look at all of its columns."""
    tell.progress("Reading the table", 0, 3)
    from glasshouse.microdata.inspection.inspection import inspected, opened_as_written

    given = {name: value for name, value in how.items() if value is not None}
    opened, decimal = opened_as_written(file, needed=(), **given)
    columns, rows = opened.table.num_columns, opened.table.num_rows
    tell.progress(f"Looking at {counted(columns, 'column')} of {counted(rows, 'row')}", 1, 3)
    report = inspected(opened)
    tell.progress("Drawing how values are distributed", 2, 3)
    return {
        "n_tuples": report.n_tuples,
        "columns": [
            _column(opened.table.column(i), one, drawn=i < MOST_PICTURES) for i, one in enumerate(report.columns)
        ],
        "rows": _first_rows(opened.table),
        "suggested": report.suggested,
        "notices": list(opened.notices),
        **_writing(file, opened, decimal),
    }


def hospital(*, tell: Tell, file: str, rows: int, seed: int) -> dict[str, Any]:
    """Write the embedded hospital into a file, and look at it."""
    tell.progress(f"Making up {counted(rows, 'patient')}", 0, 3)
    from pyarrow import parquet

    from glasshouse.microdata import synthetic

    parquet.write_table(synthetic.hospital_table(n=rows, seed=seed), file)
    Path(file).chmod(0o600)
    return look(tell=tell, file=file)


def _writing(file: str, opened: Source, decimal: str) -> dict[str, Any]:
    """How the table is written: CSV files have a dialect, other files do not."""
    if is_address(file):
        return {"form": "PostgreSQL", "dialect": None}
    if opened.encoding is None:
        with Path(file).expanduser().open("rb") as stream:
            head = stream.read(8)
        return {"form": next((form for sign, form in _FORMS.items() if head.startswith(sign)), ""), "dialect": None}
    found = opened.written.delimiters
    dialect = {"delimiter": found[0] if len(found) == 1 else "", "encoding": opened.encoding, "decimal": decimal}
    return {"form": "CSV", "dialect": dialect}


def _first_rows(table: pa.Table) -> list[list[str | None]]:
    """The first rows as texts; None is a missing value."""
    from glasshouse.studio.tasks.text import texts

    columns = [texts(table.column(i).slice(0, ROWS), MOST_SHOWN) for i in range(table.num_columns)]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(values: pa.ChunkedArray, report: ColumnReport, *, drawn: bool) -> dict[str, Any]:
    from glasshouse.microdata.domains import text_of

    top = report.most_frequent
    return {
        "name": report.name,
        "kind": report.kind,
        "missing": report.missing,
        "distinct": report.distinct,
        "most_frequent": None if top is None else text_of(top)[:MOST_SHOWN],
        "most_frequent_share": report.most_frequent_share,
        "unique": report.unique,
        "unique_share": report.unique_share,
        "is_amount": report.is_amount,
        "largest_ell": report.largest_ell,
        "role": report.role,
        "reason": report.reason,
        "alike": _n_alike(values, report),
        **_spread(values, report, drawn=drawn),
    }


def _n_alike(values: pa.ChunkedArray, report: ColumnReport) -> int:
    """How many different texts differ from another only in case, blanks or what cannot be seen."""
    import pyarrow.compute as pc

    from glasshouse.microdata.spelling import alike

    if report.kind != "category":  # hardly a text repeats in the others
        return 0
    return sum(map(len, alike(pc.unique(values.drop_null()))))


def _spread(values: pa.ChunkedArray, report: ColumnReport, *, drawn: bool) -> dict[str, Any]:
    """Bars of its distribution, the ends between which amounts lie, and a width that cuts them into a few ranges."""
    if report.is_amount and report.distinct:
        return _amounts(values, report, drawn=drawn)
    return {"bars": _frequent(values) if drawn and report.distinct else None, "ends": None, "width": None}


def _frequent(values: pa.ChunkedArray) -> dict[str, Any]:
    """The most frequent values, and the number of rows with other values."""
    import numpy as np
    import pyarrow.compute as pc

    from glasshouse.studio.tasks.text import texts

    counted = pc.value_counts(values.drop_null())
    counts, names = np.asarray(counted.field("counts")), counted.field("values")
    order = np.argsort(-counts, kind="stable")[:BARS]
    return {
        "values": texts(names.take(order), 40),
        "counts": counts[order].tolist(),
        "others": int(counts.sum() - counts[order].sum()),
    }


def _amounts(values: pa.ChunkedArray, report: ColumnReport, *, drawn: bool) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from glasshouse.studio.tasks.text import texts

    there = values.drop_null()
    if pa.types.is_floating(there.type):
        there = there.filter(pc.is_finite(there))
    if not len(there):
        return {"bars": None, "ends": None, "width": None}
    ends = pc.min_max(there)
    low, high = texts(pa.chunked_array([pa.array([ends["min"].as_py(), ends["max"].as_py()], there.type)]), 40)
    kind = there.type
    if pa.types.is_temporal(kind):
        there = there.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    numbers = there.cast(pa.float64(), safe=False).to_numpy()
    counts = _bars(numbers, report) if drawn else None
    width = None
    if report.kind in ("integer", "float"):
        width = _width(*np.quantile(numbers, [0.05, 0.95]).tolist(), whole=report.kind == "integer")
    return {"bars": None if counts is None else {"counts": counts}, "ends": [low, high], "width": width}


def _bars(numbers: NDArray[np.float64], report: ColumnReport) -> list[int] | None:
    """How many values lie in each of some ranges of equal width; of whole numbers, as many in each range."""
    import numpy as np

    low, high = float(numbers.min()), float(numbers.max())
    if not math.isfinite(high - low):
        return None
    edges: Any = min(BARS, max(report.distinct, 1))
    if report.kind in ("integer", "date"):
        step = -(-(int(high) - int(low) + 1) // BARS)
        edges = low + step * np.arange((int(high) - int(low)) // step + 2, dtype=np.float64)
    try:
        counts: list[int] = np.histogram(numbers, bins=edges)[0].tolist()
    except ValueError:  # the values lie so near to each other that no number lies between them
        return None
    return counts


def _width(low: float, high: float, *, whole: bool) -> str | None:
    """About a tenth of the range of most values, as a round number."""
    from glasshouse.pages.svg import round_up

    tenth = (high - low) / 10
    if not 1e-300 < tenth < math.inf:
        return "1" if whole else None
    return f"{max(round_up(tenth), 1) if whole else round_up(tenth):g}"
