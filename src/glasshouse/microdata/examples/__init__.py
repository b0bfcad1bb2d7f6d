# SPDX-License-Identifier: Apache-2.0
"""The tables of the five papers, as they are printed: every worked example starts from one of these.

Each paper has a file of its tables beside this one. A table that gives exact values for people is a `Microdata`, with
its identifier, quasi-identifiers and sensitive column; everything published, and every voter list, is a
``pyarrow.Table``. In both, a column is numbers when each of its cells is a bare number, and otherwise text exactly as
printed (``[21, 27]``, ``35000``, ``*``).

A function is named after the paper and its own name for the table (``transparent_t1``) or its number
(``anatomy_table2``). Where a table has parts and the number stands alone, it means the microdata, part (a):
``angel_table1`` is Table 1a.

Examples
--------
>>> transparent_t1()
Microdata(8 records; quasi-identifiers Age (5), Zipcode (5); sensitive Disease (5))
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.microdata.table import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PAPERS = ("transparent", "corruption", "anatomy", "minimality", "angel")


def _printed(text: str) -> pa.Table:
    """Take a table as it is printed: a header, then a line per row, columns two spaces apart or more."""
    header, *rows = [re.split(r"\s{2,}", line.strip()) for line in text.strip().splitlines()]
    columns = zip(*rows, strict=True)
    return pa.table({name: _numbers_or_text(cells) for name, cells in zip(header, columns, strict=True)})


def _numbers_or_text(cells: Sequence[str]) -> pa.Array:
    return pa.array([int(cell) for cell in cells] if all(cell.isdecimal() for cell in cells) else cells)


def _example(name: str, *, about: str, table: str, **roles: Any) -> Callable[[], Any]:
    """Make the function that gives a table: `Microdata` where the file states roles."""

    def example() -> Any:
        printed = _printed(table)
        return read(printed, **roles) if roles else printed

    example.__name__ = example.__qualname__ = name
    example.__doc__ = about
    return example


def _tables(paper: str) -> Mapping[str, Callable[[], Any]]:
    stored = tomllib.loads(files(__name__).joinpath(f"{paper}.toml").read_text(encoding="utf-8"))
    return {name: _example(name, **entry) for name, entry in stored.items()}


_EXAMPLES = {name: example for paper in _PAPERS for name, example in _tables(paper).items()}
__all__ = sorted(_EXAMPLES)
globals().update(_EXAMPLES)


def __getattr__(name: str) -> Callable[[], Any]:
    raise AttributeError(f"module {__name__!r} has no table {name!r}")
