# SPDX-License-Identifier: Apache-2.0
"""Audit: what must stay inside; it never shares a folder with what may go out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.release.storage import write_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

__all__ = ["Audit", "write_audit"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The report on a release and its partition, which later recodings of the same table reuse."""

    report: Mapping[str, Any]
    partition: pa.Table


def write_audit(folder: Path, audit: Audit) -> None:
    """Fill an audit folder."""
    text = json.dumps(audit.report, indent=2, ensure_ascii=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    write_table(audit.partition, folder / "partition.parquet", "parquet")
