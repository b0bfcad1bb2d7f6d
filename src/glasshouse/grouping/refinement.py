# SPDX-License-Identifier: Apache-2.0
"""Refinement: a fine method inside every group of a coarse one.

MINIMALITY 3.1 ("anatomization of large groups"): RGG(Ana), SG(Ana); and beyond it Ace instead of Anatomize, inside the
groups of any method. The paper says that this keeps the coarse method's guarantee. Against an attacker who knows the
algorithm it does not, where the coarse method looked at which person has which value: six people in a row with values
a a b b c c stay one group of Symmetric at l = 2, because a half held a value twice. Anatomize then publishes {0, 2}
with a and b, {1, 4} with a and c, {3, 5} with b and c. If person 1 had c, both halves would have been diverse, and the
group would have been cut; so person 1 has a.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse import catalog
from glasshouse.engines.sorting import along, spread, together
from glasshouse.errors import ParameterError
from glasshouse.grouping.along_order.orderings import canonical, is_seeded
from glasshouse.grouping.anatomize.anatomize import anatomize_segments
from glasshouse.grouping.method import Method, frequency_ell, linking_claim
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent.ace import ace_segments
from glasshouse.grouping.transparent.packed_rows import packed_rows
from glasshouse.grouping.transparent.tailor import Tailor
from glasshouse.microdata.groups import Groups, tie_order
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from glasshouse.engines import Memory
    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.method import LeavesOut
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

__all__ = ["Refined"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refined(Method):
    """Divide by a coarse method, then divide each of its groups by Anatomize or Ace.

    Parameters
    ----------
    coarse
        A method that keeps frequency l-diversity: `Symmetric`, `RandomisedGreedy`, `Mondrian`, `Tailor`, ...
    inner
        ``anatomize`` or ``ace``: how each group is divided further, at the l that was asked for.

    Guarantee
    ---------
    Every group satisfies l-diversity, against a *linking* attacker. Inside `Tailor`, which stops by a group's multiset
    of values alone, an *algorithm-aware* attacker gives no value a probability above 1/l (TRANSPARENT Theorem 3; that
    is Hybrid, if ``inner`` is ``ace``), and the same holds inside `Separate`, where it is the inner method by itself.
    Inside any other method nothing is claimed there, whatever that method claims when it is used alone.

    Cost
    ----
    That of the coarse method and of the inner one. Coarse groups are independent of each other, and use all threads.

    Examples
    --------
    >>> from glasshouse.grouping.along_order.symmetric import Symmetric
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.anatomy_table1()
    >>> method = Refined(coarse=Symmetric(extra=0), inner="anatomize")
    >>> method.divide(table, Requirement.of(LDiversity(ell=2), table)).sizes.tolist()
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "refined"
    in_words: ClassVar[str] = "The table is divided by one method, and each of its groups once more by another."
    randomised: ClassVar[bool] = True

    coarse: Method
    inner: str = "anatomize"

    def __post_init__(self) -> None:
        if isinstance(self.coarse, str | Mapping):  # which may be named by text
            object.__setattr__(self, "coarse", catalog.chosen(catalog.METHODS, self.coarse))
        if not isinstance(self.coarse, Method):
            raise ParameterError("Refined", "coarse", "a grouping method", self.coarse)
        if self.inner not in ("anatomize", "ace"):
            raise ParameterError("Refined", "inner", "'anatomize' or 'ace'", self.inner)

    @classmethod
    def usual(cls) -> tuple[Refined, ...]:
        """Refinement of Tailor, whose groups are safe to divide."""
        return (cls(coarse=Tailor()),)

    @property
    def leaves_out(self) -> LeavesOut:
        """Whom the coarse method leaves out."""
        return self.coarse.leaves_out

    def independent(self, requirement: Requirement) -> Independent:
        """As in `Method.independent`: inside groups that depend on multisets alone, the inner method decides."""
        if self.inner == "ace":
            return "buckets"
        return "groups" if self.coarse.by_multisets else "none"

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        frequency_ell(requirement, "Refined")
        coarse = self.coarse.claim(requirement)
        if self.coarse.by_multisets:
            return Claim(
                adversary=Adversary.ALGORITHM_AWARE,
                theorem=(
                    f"the groups of {self.coarse.name} depend only on how often each value occurs in a group, and "
                    f"{self.inner} treats all tables with the same counts in the same way (TRANSPARENT Theorem 3, "
                    "MINIMALITY Claim 4)"
                ),
                limits=coarse.limits,
                assumptions=coarse.assumptions,
            )
        return linking_claim(
            f"an attacker who knows that {self.inner} was run inside the groups of {self.coarse.name} can learn more, "
            "up to certainty: a coarse group that was not divided shows which people have the same value, and the "
            "fine groups show which value it is; the method 'tailor' avoids this",
            *coarse.limits,
        )

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table``; records that the coarse method drops stay dropped."""
        ell, column = frequency_ell(requirement, "Refined")
        requirement.check_eligible()
        coarse = self.coarse.divide(table, requirement, source=source, engine=engine)
        inside = source.child("inside coarse groups", self._depth)  # not the choices that the coarse method made
        if self.inner == "anatomize":
            # buckets are shuffled, so the order of tuples does not matter; a seeded run must not depend on it at all
            ties = None if table.identifier is None else tie_order(table, source)
            if ties is None and is_seeded(source):
                ties = canonical(table, source, engine)
            rows, offsets = together(coarse.labels, ties, engine)
            codes = along(column.codes, rows, engine)
            fine = anatomize_segments(codes, offsets, column.domain.size, ell, inside, engine)
            return Groups(spread(fine, rows, table.n_tuples, engine), int(fine.max(initial=-1)) + 1)
        rows, offsets = together(coarse.labels, tie_order(table, source), engine)
        places = weighted_places(table)
        if len(rows) == table.n_tuples:
            return ace_segments(packed_rows(table, column, rows), offsets, places, ell, inside, engine)
        kept = np.flatnonzero(coarse.labels >= 0).astype(np.int32)
        published = table.take(kept)
        (sensitive,) = (c for c in published.sensitive if c.name == column.name)
        numbers = spread(np.arange(len(kept), dtype=np.int32), kept, table.n_tuples, engine)
        packed = packed_rows(published, sensitive, along(numbers, rows, engine))
        groups = ace_segments(packed, offsets, places, ell, inside, engine)
        return Groups(spread(groups.labels, kept, table.n_tuples, engine), groups.n_groups)

    @property
    def _depth(self) -> int:
        """The depth of nested refinements, each of which has random choices of its own."""
        return 1 + (self.coarse._depth if isinstance(self.coarse, Refined) else 0)
