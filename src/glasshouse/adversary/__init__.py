# SPDX-License-Identifier: Apache-2.0
"""Attackers: what they hold, how they reason, what they then believe. They get a release, never the microdata."""

from glasshouse.adversary.corruption.corruption import Corruption
from glasshouse.adversary.intersection.intersection import Intersection
from glasshouse.adversary.knowledge import ABSENT, Knowledge
from glasshouse.adversary.linking import Linking
from glasshouse.adversary.minimality import Minimality
from glasshouse.adversary.posterior import Belief, Posterior
from glasshouse.adversary.reverse_engineering.reverse_engineering import ReverseEngineering

__all__ = [
    "ABSENT",
    "Belief",
    "Corruption",
    "Intersection",
    "Knowledge",
    "Linking",
    "Minimality",
    "Posterior",
    "ReverseEngineering",
]
