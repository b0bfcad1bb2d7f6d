"""How many random tables a test tries: some in `make test`, many in `make prove`."""

from __future__ import annotations

import os
from fractions import Fraction

FACTOR = Fraction(os.environ.get("GLASSHOUSE_TABLES", "1/4"))


def tables(n: int) -> int:
    """So many tables, times what GLASSHOUSE_TABLES says; a quarter without."""
    return max(1, int(n * FACTOR))
