# SPDX-License-Identifier: Apache-2.0
"""How groups are rewritten: every recoding maps groups to published tables, alike for isomorphic groups."""

from glasshouse.recoding.boxes import Boxes
from glasshouse.recoding.taxonomies import Taxonomies

__all__ = ["Boxes", "Taxonomies"]
