# SPDX-License-Identifier: Apache-2.0
"""How groups are rewritten: every recoding maps groups to published tables, alike for isomorphic groups."""

from glasshouse.recoding.anatomy import Anatomy, Permutation
from glasshouse.recoding.angel import Angel
from glasshouse.recoding.generalization import Boxes, Taxonomies
from glasshouse.recoding.perturbed import Perturbed
from glasshouse.recoding.recoding import Recoding

__all__ = ["Anatomy", "Angel", "Boxes", "Permutation", "Perturbed", "Recoding", "Taxonomies"]
