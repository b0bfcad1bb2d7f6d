# SPDX-License-Identifier: Apache-2.0
"""What safe means: principles, which judge groups by their sizes and sensitive values alone."""

from glasshouse.catalog import principle_from_data
from glasshouse.principles.all_of import AllOf
from glasshouse.principles.alpha_k_anonymity import AlphaKAnonymity
from glasshouse.principles.beliefs.background_sensitive import BackgroundSensitive
from glasshouse.principles.beliefs.delta_growth import DeltaGrowth
from glasshouse.principles.beliefs.rho_breach import RhoBreach
from glasshouse.principles.designated_l_diversity import DesignatedLDiversity
from glasshouse.principles.distinct_l_diversity import DistinctLDiversity
from glasshouse.principles.entropy_l_diversity import EntropyLDiversity
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.principle import Bound, Part, Principle, Requirement
from glasshouse.principles.recursive_l_diversity import RecursiveLDiversity
from glasshouse.principles.t_closeness import TCloseness

__all__ = [
    "AllOf",
    "AlphaKAnonymity",
    "BackgroundSensitive",
    "Bound",
    "DeltaGrowth",
    "DesignatedLDiversity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "KAnonymity",
    "LDiversity",
    "Part",
    "Principle",
    "RecursiveLDiversity",
    "Requirement",
    "RhoBreach",
    "TCloseness",
    "principle_from_data",
]
