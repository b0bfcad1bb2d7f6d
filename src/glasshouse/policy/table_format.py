# SPDX-License-Identifier: Apache-2.0
"""Table format: how the published tables are written, and whether a flat table is drawn, where nobody chose.

Tables are written in the format of the file that was read, so that they can be opened with the program that wrote it:
CSV for a CSV file, a workbook for a workbook, and Parquet for everything else. Somebody who reads such a file with a
spreadsheet needs one table, so a flat table is drawn as well. The ending of the file's name decides, because a choice
means the same whether or not the file can be opened here.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MOST_FLAT", "draws_flat", "format_of", "spreadsheet_format"]

MOST_FLAT: Final = 1_000_000
"""The most rows of which a flat table is drawn without being asked for."""

_ENDINGS: Final = dict.fromkeys((".csv", ".tsv", ".psv", ".tab", ".txt", ".dat", ".data"), "csv") | {
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
_PACKED: Final = (".gz", ".zst", ".zstd", ".zip")


def spreadsheet_format(file: str) -> str | None:
    """The format of a spreadsheet file: ``csv`` or ``xlsx``; None for other files, and for a database.

    >>> spreadsheet_format("patients.csv"), spreadsheet_format("Patients.XLSX"), spreadsheet_format("patients.tsv.gz")
    ('csv', 'xlsx', 'csv')
    >>> spreadsheet_format("patients.parquet"), spreadsheet_format("postgresql://host/patients.csv")
    (None, None)
    """
    if "://" in file:
        return None
    endings = [ending.lower() for ending in PurePath(file).suffixes]
    while endings and endings[-1] in _PACKED:
        endings.pop()
    return _ENDINGS.get(endings[-1]) if endings else None


def format_of(choices: Mapping[str, Any]) -> str:
    """The format of the published tables: the one that was chosen, else that of the file that is read.

    >>> format_of({"file": "patients.csv"}), format_of({"file": "patients.csv", "format_": "parquet"})
    ('csv', 'parquet')
    """
    return choices.get("format_") or spreadsheet_format(str(choices.get("file") or "")) or "parquet"


def draws_flat(choices: Mapping[str, Any]) -> bool:
    """Whether a release of several tables gets a flat one by default: if a spreadsheet file is read and written.

    >>> draws_flat({"file": "patients.csv"}), draws_flat({"file": "patients.csv", "flat": False})
    (True, False)
    """
    by_default = choices.get("flat") is None and spreadsheet_format(str(choices.get("file") or "")) is not None
    return by_default and format_of(choices) in ("csv", "xlsx")
