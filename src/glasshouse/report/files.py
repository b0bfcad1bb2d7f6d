# SPDX-License-Identifier: Apache-2.0
"""Files: what lies in a release folder, with checksums; and what made it."""

from __future__ import annotations

import hashlib
import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["files_in", "software"]


def files_in(folder: Path) -> list[dict[str, Any]]:
    """Every file of a release folder: name, bytes, SHA-256."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            found.append({"name": path.name, "bytes": path.stat().st_size, "sha256": digest})
    return found


def software() -> dict[str, str]:
    """The versions that made release and report."""
    return {
        "glasshouse": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }
