# SPDX-License-Identifier: Apache-2.0
"""Comparing: every way to publish a table, side by side, and the one to recommend.

A *way* is a method with a recoding. Ways are tried on a twin of the table, whose sensitive values are made up: a choice
by how well they do on the true ones would depend on these, and would tell of them.
"""

from glasshouse.comparing.comparison import Comparison
from glasshouse.comparing.row import Row
from glasshouse.comparing.side_by_side import compare
from glasshouse.comparing.twin import twin_of

__all__ = ["Comparison", "Row", "compare", "twin_of"]
