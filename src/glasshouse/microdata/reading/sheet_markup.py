# SPDX-License-Identifier: Apache-2.0
"""The markup of a sheet: cells that look empty to a reader of values, though people see something in them.

Only the first of some merged cells has their value. A formula has none until a spreadsheet program computes it, and
programs that only write files do not. Both are found in the XML of the sheet, which is gone through a second time only
if a cell seems empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import IO

__all__ = ["refuse_hidden_values"]

_MOST_NAMED = 3  # ranges of merged cells
_TEXT = "str"  # the type of a formula whose result is a text, which may be empty


def refuse_hidden_values(path: Path, sheet: IO[bytes], columns: Mapping[int, str], last: int) -> None:
    """Refuse merged cells and formulas without a result in some columns, by their places, as far as the last row."""
    from openpyxl.utils.cell import range_boundaries

    merged: list[tuple[str, str]] = []
    for kind, where in _findings(sheet):
        left, top, right, bottom = range_boundaries(where)
        hit = next((columns[place] for place in range(left - 1, right) if place in columns), None)
        if hit is None or bottom < 2 or top > last:
            continue
        if kind == "f":
            raise DomainError(
                f"column {hit!r} of {path} has formulas without results, first in {where}: open the workbook in a "
                "spreadsheet program and save it",
                column=hit,
            )
        merged.append((hit, where))
    if merged:
        named = ", ".join(where for _, where in merged[:_MOST_NAMED])
        more = f" and {len(merged) - _MOST_NAMED:,} more" if len(merged) > _MOST_NAMED else ""
        raise DomainError(
            f"{path} has merged cells ({named}{more}), of which only the first has a value: unmerge them, and fill the "
            "value into every cell",
            column=merged[0][0],
        )


def _findings(sheet: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Formulas without a result, and merged cells, and where they are: as in ``A2`` and ``A2:A7``."""
    from openpyxl.xml.functions import iterparse

    for _, element in iterparse(sheet):
        name = element.tag.rpartition("}")[2]
        if name == "c":
            if element.get("t") != _TEXT and element.get("r") and _is_formula_without_result(element):
                yield "f", element.get("r")
        elif name == "mergeCell" and element.get("ref"):
            yield "m", element.get("ref")
        if name in ("row", "mergeCell"):
            element.clear()


def _is_formula_without_result(cell: Any) -> bool:
    parts = {part.tag.rpartition("}")[2]: part.text for part in cell}
    return "f" in parts and not parts.get("v")
