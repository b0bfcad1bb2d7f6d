# SPDX-License-Identifier: Apache-2.0
"""Comparing: every way to publish a table, side by side, and the one to recommend.

A *way* is a method with a recoding. Ways are tried on a twin of the table, whose sensitive values are made up: a choice
by how well they do on the true ones would depend on these, and would tell of them. `compare` makes the twins, has
`processes` score every way (`scoring`), keeps finished rows (`cache`), and asks `recommendation` which one to take.
"""

from glasshouse.comparing.compare import compare
from glasshouse.comparing.comparison import Comparison, Row
from glasshouse.comparing.twin import twin_of

__all__ = ["Comparison", "Row", "compare", "twin_of"]
