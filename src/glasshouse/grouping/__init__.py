# SPDX-License-Identifier: Apache-2.0
"""How a table is divided: every method maps microdata and a requirement to groups, and knows nothing of the output."""

from glasshouse.grouping.ace import Ace
from glasshouse.grouping.anatomize import Anatomize
from glasshouse.grouping.even_split import EvenSplit
from glasshouse.grouping.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.hybrid import Hybrid
from glasshouse.grouping.method import Method
from glasshouse.grouping.mirror import Mirror
from glasshouse.grouping.mondrian import Mondrian
from glasshouse.grouping.optimal import OptGen
from glasshouse.grouping.refinement import Refined
from glasshouse.grouping.separate import Separate
from glasshouse.grouping.snug import Snug
from glasshouse.grouping.suppression import keep_eligible
from glasshouse.grouping.symmetric import Symmetric
from glasshouse.grouping.tailor import Tailor
from glasshouse.principles.parameters import exact_share

__all__ = [
    "Ace",
    "Anatomize",
    "EvenSplit",
    "Greedy",
    "Hybrid",
    "Method",
    "Mirror",
    "Mondrian",
    "OptGen",
    "RandomisedGreedy",
    "Refined",
    "Separate",
    "Snug",
    "Symmetric",
    "Tailor",
    "exact_share",
    "keep_eligible",
]
