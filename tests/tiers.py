"""How many random tables a test tries, and how many examples hypothesis draws: some in `make test`, many if asked.

`make mutants` shows that the numbers of `make test` are large enough to notice faults; `make prove` takes larger ones,
and sets GLASSHOUSE_LOOK, so that hypothesis and the damaged files are new ones every time.
"""

from __future__ import annotations

import os
from fractions import Fraction

FACTOR = Fraction(os.environ.get("GLASSHOUSE_TABLES", "1/10"))
SHARE = Fraction(os.environ.get("GLASSHOUSE_EXAMPLES", "1/4"))
LOOK = bool(os.environ.get("GLASSHOUSE_LOOK"))


def tables(n: int) -> int:
    """So many tables, times what GLASSHOUSE_TABLES says; a tenth without."""
    return max(1, int(n * FACTOR))


def examples(n: int) -> int:
    """So many examples, times what GLASSHOUSE_EXAMPLES says; a quarter without, and ten at least."""
    return max(10, int(n * SHARE))
