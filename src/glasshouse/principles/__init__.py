# SPDX-License-Identifier: Apache-2.0
"""What safe means: principles, which judge groups by their sizes and sensitive values alone."""

from glasshouse.catalog import principle_from_data
from glasshouse.principles.all_of import AllOf
from glasshouse.principles.background_sensitive import BackgroundSensitive, DeltaGrowth, RhoBreach
from glasshouse.principles.entropy_l_diversity import EntropyLDiversity
from glasshouse.principles.k_anonymity import AlphaKAnonymity, KAnonymity
from glasshouse.principles.l_diversity import DesignatedLDiversity, DistinctLDiversity, LDiversity, RecursiveLDiversity
from glasshouse.principles.principle import Bound, Part, Principle, Requirement
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
