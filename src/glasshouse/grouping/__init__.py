# SPDX-License-Identifier: Apache-2.0
"""How a table is divided: every method maps microdata and a requirement to groups, and knows nothing of the output.

`method.Method` is what all of them are. A folder is a family of methods; `suppression` drops tuples before a table is
divided, `perimeter` measures groups.
"""

from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.along_order.symmetric import Symmetric
from glasshouse.grouping.anatomize.anatomize import Anatomize
from glasshouse.grouping.cuts.even_split import EvenSplit
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.cuts.snug import Snug
from glasshouse.grouping.method import Method
from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.grouping.opt_gen import OptGen
from glasshouse.grouping.refinement import Refined
from glasshouse.grouping.separate import Separate
from glasshouse.grouping.suppression import keep_eligible
from glasshouse.grouping.transparent.ace import Ace
from glasshouse.grouping.transparent.hybrid import Hybrid
from glasshouse.grouping.transparent.tailor import Tailor
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
