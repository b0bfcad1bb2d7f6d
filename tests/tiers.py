"""How many random tables a test tries, and how many examples hypothesis draws: some in `make test`, many if asked."""

from __future__ import annotations

import os
from fractions import Fraction

FACTOR = Fraction(os.environ.get("GLASSHOUSE_TABLES", "1/5"))
SHARE = Fraction(os.environ.get("GLASSHOUSE_EXAMPLES", "1/2"))


def tables(n: int) -> int:
    """So many tables, times what GLASSHOUSE_TABLES says; a fifth without."""
    return max(1, int(n * FACTOR))


def examples(n: int) -> int:
    """So many examples, times what GLASSHOUSE_EXAMPLES says; half without, and ten at least."""
    return max(10, int(n * SHARE))
