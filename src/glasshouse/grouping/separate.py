# SPDX-License-Identifier: Apache-2.0
"""Separate: all records in one group, so that quasi-identifiers and sensitive values are published without a link.

MINIMALITY 5.3 compares its methods with this baseline ("Base"): two independent tables, one of all quasi-identifiers,
one of all sensitive values. As a partition that is one group: under anatomy or permutation it is those two tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.grouping.method import Method
from glasshouse.microdata.groups import Groups
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from glasshouse.engines import Memory
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

__all__ = ["Separate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Separate(Method):
    """Put everybody into one group, so that every person has the same distribution of sensitive values.

    Guarantee
    ---------
    Any principle that the table as a whole satisfies holds, against an *algorithm-aware* attacker: the group is the
    same for every table of that size, so the algorithm reveals nothing. All relations between quasi-identifiers and
    sensitive values are lost.

    Cost
    ----
    O(n).

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> Separate().divide(table, Requirement.of(LDiversity(ell=2), table)).sizes.tolist()
    [8]
    """

    name: ClassVar[str] = "separate"
    in_words: ClassVar[str] = "Everybody is in one group."
    looks_at: ClassVar[str] = "neither"
    by_multisets: ClassVar[bool] = True

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        nobody = "k-anonymity does not protect sensitive values: everybody may have the same one"
        return Claim(
            adversary=Adversary.ALGORITHM_AWARE,
            theorem="everybody is in one group, for any sensitive values, so the groups reveal nothing about them",
            limits=() if requirement.columns else (nobody,),
        )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Put all records of ``table`` into one group; nothing is random."""
        requirement.check_eligible()
        return Groups(np.zeros(table.n_tuples, np.int32), 1)
