# SPDX-License-Identifier: Apache-2.0
"""Even splits: relaxed Mondrian with one candidate cut a node, chosen by quasi-identifiers alone.

MINIMALITY 3.2 and Theorem 5. The halves of every node are fixed by quasi-identifiers and differ by at most one record:
only whether a node is cut depends on sensitive values, and the two halves can be blamed for it almost equally. The
usual relaxed Mondrian, which tries a second attribute after a failed first, is outside the theorem (belief 1 with five
people), and is `Mondrian(partitioning="relaxed")` here.

Theorem 5's bound is damaged in print, and can be made exact: no belief is above ``2 / (2 * l - 1)``, and 4 l - 1 people
reach it. At l + 1 that is ``2 / (2 * l + 1)``, which is below 1/l.

*Why.* Only a group that was not cut, of halves with s - 1 and s records, tells anything: equal halves can be exchanged.
Let a and b be the whole parts of (s - 1)/l and s/l: a half obeys while it has no value more often than this. Take a
value that the group has m times. The adversary believes it of a person in a half as often as that half has it in the
mean, over all worlds in which the cut fails.

1. If a half has it more than b times, the cut fails whatever the other values do. For any j > b, at least as many
   worlds have j in the larger half as have j in the smaller one. So over all these worlds together the smaller half has
   at most m/2 in the mean. In all other worlds either half has at most b.
2. If b = a: where m is 2 a + 1 the cut fails in every world, and nothing is told. Else m is at most 2 a, and the mean
   of the smaller half at most a: a belief of at most a / (s - 1), which is at most 1/l.
3. If b = a + 1: s is (a + 1) l, m is at most 2 a + 1, and the mean of the smaller half at most a + 1: a belief of at
   most ``(a + 1) / ((a + 1) * l - 1)``. With a = 0 the smaller half could not obey in any world, which tells nothing;
   with a of 1 or more this is at most ``2 / (2 * l - 1)``.
4. The larger half has at most b outside the worlds of 1. Among them, of those with j in one half and m - j in the other
   it has ``m / 2 + d**2 / (2 * (2 * s - m))`` in the mean, where d is 2 j - m. Summed by parts over all j > b, with
   2 b + 2 - m called e, the mean of d**2 is at most ``m * (2 * s - m) + (e - 1) * (b + 1) * (2 * s - m + e)``, over
   2 s - 1. Together that is at most ``2 * s / (2 * l - 1)``: no belief is above the bound here either.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines import Nodes, Rows
from glasshouse.engines.sorting import along, label_along
from glasshouse.grouping.cuts.mondrian import both_hold, widest_first
from glasshouse.grouping.method import Method, at_ell, check_monotone, linking_claim, quasi_claim
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.microdata.groups import Groups, tie_order
from glasshouse.principles.parameters import integer
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from glasshouse.engines import Memory
    from glasshouse.grouping.independence import Independent
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

__all__ = ["EvenSplit", "Halving", "claim_of_even_splits"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Halving(Method):
    """The base of methods that cut nodes into fixed halves, one candidate cut per node: how far above l they stay."""

    extra: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", integer(type(self).__name__, "extra", self.extra, least=0))

    def independent(self, requirement: Requirement) -> Independent:
        """A group that could have been cut and was not ties its two halves to each other."""
        if not requirement.columns:
            return "groups"
        return "faces" if requirement.frequency_ell is None else "half-groups"

    def largest_share(self, requirement: Requirement) -> Fraction | None:
        """As in `Method.largest_share`, for l + extra: a half that could have been safe has at most twice the share."""
        ell = requirement.frequency_ell
        return self._share_at(None if ell is None else ell + self.extra, requirement)

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        return claim_of_even_splits(requirement, self.extra)

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        check_monotone(requirement, type(self).__name__)
        ell = requirement.frequency_ell
        requirement = requirement if ell is None or self.extra == 0 else at_ell(requirement, ell + self.extra)
        requirement.check_eligible()
        return self._halved(table, requirement, source, engine)

    def _halved(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide a table by halves that satisfy ``requirement``; under frequency l-diversity with l + extra."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, slots=True)
class EvenSplit(Halving):
    """Halve the table again and again along its widest attribute, while both halves satisfy the principle.

    A node is cut on the attribute that is widest as a share of its range in the whole table (ties by the order of
    ``quasi=``; records equal in all attributes are cut in tie order), after the smaller half of its records in order of
    value. If a half breaks the principle the node is a group; no other attribute is tried.

    Parameters
    ----------
    extra
        Under frequency l-diversity of one column, groups satisfy (l + extra)-diversity. It is not used under other
        principles.

    Guarantee
    ---------
    Under frequency l-diversity with ``extra`` at least 1: an *algorithm-aware* attacker gives no sensitive value of
    anybody a probability above 1/l (MINIMALITY Theorem 5, at l + 1). With ``extra=0`` a probability may reach ``2 / (2
    * l - 1)``, and 1/l holds against a *linking* attacker. Under any other monotone principle on sensitive values only
    the latter is claimed: under binary l-diversity three people are enough for a probability of 1. Under k-anonymity
    alone no cut depends on a sensitive value.

    Cost
    ----
    O(n d log n) time, as relaxed `Mondrian`, with one candidate a node; nodes are independent, and use all threads.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t1()
    >>> groups = EvenSplit(extra=0).divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> sorted(groups.sizes.tolist())
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "even-split"
    in_words: ClassVar[str] = (
        "The table is halved at the median of the quasi-identifier with the widest range, and each half again, as long "
        "as both halves are safe."
    )

    def _halved(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` by halves; ``source`` breaks ties if no identifier does."""
        order = tie_order(table, source)
        rows = Rows(table, requirement.columns, None)
        columns = zip((*table.quasi, *requirement.columns), (*rows.codes, *rows.sensitive), strict=True)
        for column, laid_out in columns:  # in tie order, by all threads
            along(column.codes, order, engine, found=laid_out)
        rows.index[:] = order
        places = weighted_places(table)

        def step(nodes: Nodes) -> tuple[Nodes, Nodes]:
            """Cut every node on its widest attribute, or not at all."""
            low, high = rows.extents(nodes)
            cuts = rows.half_cuts(nodes, widest_first(low, high, places)[:, 0])
            safe = both_hold(rows, nodes, cuts, requirement)
            return rows.split(nodes[safe], cuts[safe]), nodes[~safe]

        leaves = engine.visit(rows.whole(), step)
        offsets = np.append(np.sort(leaves.starts), rows.n_tuples)
        return Groups(label_along(rows.index, offsets, engine), len(leaves))


def claim_of_even_splits(requirement: Requirement, extra: int, assumptions: tuple[str, ...] = ()) -> Claim:
    """What any method promises that cuts nodes into fixed halves, one candidate cut a node."""
    ell = requirement.frequency_ell
    if not requirement.columns:
        return quasi_claim(assumptions)
    if ell is None:
        return linking_claim(
            "an attacker who knows the algorithm can learn more: where a part was not cut, one of its halves would "
            "have broken the principle. MINIMALITY Theorem 5 limits this only under l-diversity by "
            "frequency (at most 1/l of the records of a group have any one value)"
        )
    run = ell + extra
    bound = Fraction(2, 2 * run - 1)
    if extra:
        return Claim(
            adversary=Adversary.ALGORITHM_AWARE,
            theorem=(
                f"a part is halved only if both halves satisfy {run}-diversity, so the probability of any value is at "
                f"most {bound}, which is below 1/{ell} (MINIMALITY Theorem 5, with an exact bound: where each part may "
                "be cut depends only on quasi-identifiers)"
            ),
            assumptions=assumptions,
        )
    return linking_claim(
        f"for an attacker who knows the algorithm a probability may reach {bound} instead of 1/{ell} (MINIMALITY "
        f"Theorem 5); the parameter extra=1 keeps it below 1/{ell}"
    )
