# SPDX-License-Identifier: Apache-2.0
"""The different values of one column, for which a taxonomy is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.studio.job import Tell

__all__ = ["values"]

MOST = 20_000
"""How many different values are looked at, at most."""


def values(*, tell: Tell, file: str, column: str, categorical: bool, **how: Any) -> dict[str, Any]:
    """Find the different values of a column, in their order, as the bytes of an Arrow stream."""
    tell.progress("Reading the values of the column", 0, 0)
    import pyarrow as pa
    import pyarrow.compute as pc

    from glasshouse.microdata.reading.sources import open_source

    given = {name: value for name, value in how.items() if value is not None}
    opened = open_source(file, columns=[column], **given)
    found = pc.unique(opened.table.column(column).drop_null())
    if categorical:
        found = found.cast(pa.string())
    kept = found.take(pc.array_sort_indices(found)[:MOST])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("value", kept.type)])) as stream:
        stream.write_batch(pa.record_batch([kept], ["value"]))
    return {"n": len(found), "kept": len(kept), "kind": str(kept.type), "stream": sink.getvalue().to_pybytes()}
