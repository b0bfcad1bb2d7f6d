# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documentation: ``python -m tools.pictures`` draws all of them again.

Each is drawn from runs of the library with fixed seeds, so the same code draws the same picture, and a test compares
what is committed with what is drawn now.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tools.pictures import answers, beliefs, cells, frontier, groups, headline, report, rooms

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FOLDER", "PICTURES"]

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
PICTURES: dict[str, Callable[[], str]] = {
    module.__name__.rpartition(".")[2]: module.picture
    for module in (answers, beliefs, cells, frontier, groups, headline, report, rooms)
}
"""What draws each picture, by the picture's name."""
