# SPDX-License-Identifier: Apache-2.0
"""How groups are rewritten: every recoding maps groups to published tables, alike for isomorphic groups."""

from glasshouse.recoding.anatomy import Anatomy
from glasshouse.recoding.angel import Angel
from glasshouse.recoding.boxes import Boxes
from glasshouse.recoding.permutation import Permutation
from glasshouse.recoding.perturbed import Perturbed
from glasshouse.recoding.recoding import Recoding
from glasshouse.recoding.taxonomies import Taxonomies

__all__ = ["Anatomy", "Angel", "Boxes", "Permutation", "Perturbed", "Recoding", "Taxonomies"]
