# SPDX-License-Identifier: Apache-2.0
"""Audit: what must stay inside; it never shares a folder with what may go out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from glasshouse.release.contents import private_file, write_contents
from glasshouse.release.tables import write_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

__all__ = ["write_audit"]


def write_audit(folder: Path, report: Mapping[str, Any], partition: pa.Table | None = None) -> None:
    """Fill an audit folder: the report on a release, and its partition, which later recodings of the table reuse."""
    text = json.dumps(report, indent=2, ensure_ascii=False)
    private_file(folder / "report.json").write_text(text + "\n", encoding="utf-8")
    if partition is not None:
        write_table(partition, private_file(folder / "partition.parquet"), "parquet")
    write_contents(folder)
