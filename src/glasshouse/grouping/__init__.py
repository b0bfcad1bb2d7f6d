# SPDX-License-Identifier: Apache-2.0
"""How a table is divided: every method maps microdata and a requirement to groups, and knows nothing of the output."""

from glasshouse.grouping.mondrian import Mondrian
from glasshouse.grouping.suppression import exact_share, keep_eligible

__all__ = ["Mondrian", "exact_share", "keep_eligible"]
