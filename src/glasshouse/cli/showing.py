# SPDX-License-Identifier: Apache-2.0
"""What commands print of a release: what it promises, with some of its rows, and its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.cli.border import new_table, say, say_table, say_text

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.publish_file import PublishedFile
    from glasshouse.release import Release

__all__ = ["show_release", "summary"]


def summary(release: Release | PublishedFile, out: Path | None = None) -> dict[str, Any]:
    """What a release promises and how it was made, as plain data; no value of the table."""
    where = {} if out is None else {"release": str(out / "release"), "audit": str(out / "audit")}
    return {
        **where,
        "n_tuples": release.n_tuples,
        "n_dropped": release.n_dropped,
        "guarantee": release.guarantee.to_data(),
        "recipe": release.recipe.to_data(),
    }


def show_release(release: Release, rows: int) -> None:
    """Print what a release promises, and some of its rows."""
    from rich import box

    say_text(release.guarantee)
    say()
    for name, published in release.tables.items():
        shown = min(rows, published.num_rows)
        table = new_table(f"{name}: {shown:,} of {published.num_rows:,} rows", box=box.SIMPLE)
        for column in published.column_names:
            table.add_column(column, max_width=32, no_wrap=True, overflow="ellipsis")
        for i in range(shown):
            row = published.slice(i * published.num_rows // shown, 1).to_pylist()[0]  # spread over the table
            table.add_row(*("" if value is None else str(value) for value in row.values()))
        say_table(table)
