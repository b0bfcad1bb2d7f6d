# SPDX-License-Identifier: Apache-2.0
"""Hybrid: Tailor's groups, each divided further by Ace; the best of the transparent methods.

Xiao, Tao, Koudas, "Transparent anonymization", ACM TODS 35(2), 2010, section 3.3. Tailor stops while its groups still
have many tuples; Ace goes on to the smallest groups there can be, but brings together whom chance brings. Inside a
group of Tailor all are alike, and chance does little harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent.ace import ace_segments
from glasshouse.grouping.transparent.packed_rows import PackedRows, packed_rows
from glasshouse.grouping.transparent.penalties import Transparent, judged
from glasshouse.grouping.transparent.tailor import tailor_leaves
from glasshouse.microdata.groups import tie_order

if TYPE_CHECKING:
    from glasshouse.engines import Memory
    from glasshouse.grouping.independence import Independent
    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

__all__ = ["Hybrid"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hybrid(Transparent):
    """Divide by canonical l-cuts while groups are 2l-diverse (Tailor), then run Ace inside every group (Fig. 10).

    Parameters
    ----------
    penalty
        What a group costs, for cuts and divisions alike: ``"perimeter"`` (Eq. 4), relative to the whole table also
        inside Tailor's groups; ``"discernibility"``; or a function of one's own, and what such a function must obey is
        said at `glasshouse.grouping.transparent.penalties.Custom`.

    Guarantee
    ---------
    Transparent l-diversity (TRANSPARENT Theorem 3): even an adversary who knows everyone's quasi-identifiers, this
    algorithm and l, and holds every table equally likely beforehand, believes no sensitive value of anybody with more
    than 1/l. Ace inside the groups of a method that looked at sensitive values in another way promises nothing:
    Tailor decides by the multiset of a group's values alone, and that is what the theorem rests on.

    Cost
    ----
    That of Tailor, and about half as much for Ace on its small groups. With a function of one's own Ace adds next to
    nothing: a thousand tuples with two attributes take half a second, two thousand four times as long.

    References
    ----------
    TRANSPARENT 3.3, Figure 10, with the corrections of `Ace`.

    Examples
    --------
    Tailor leaves Ann, Bob, Cate and Don in one group; Ace splits it.

    >>> import glasshouse as gh
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles.l_diversity import LDiversity
    >>> from glasshouse.principles.principle import Requirement
    >>> table = examples.transparent_t5()
    >>> groups = Hybrid().divide(table, Requirement.of(LDiversity(ell=2), table), source=gh.Source.seeded(1))
    >>> groups.sizes.tolist()
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "hybrid"
    in_words: ClassVar[str] = (
        "The table is cut into regions by a rule that looks at how often values occur in a region, and not at who "
        "has which. Inside each region people are then dealt at random into small groups, each with one person of "
        "each of several sensitive values."
    )
    randomised: ClassVar[bool] = True
    theorem: ClassVar[str] = (
        "TRANSPARENT Theorem 3: Tailor's groups depend on sensitive values through their multisets alone (Theorem 1), "
        "and Ace is transparent inside each of them (Theorem 2)"
    )

    def independent(self, requirement: Requirement) -> Independent:
        """Slices tie the values of all groups of a bucket to each other."""
        return "buckets"

    def _divided(self, table: Microdata, ell: int, column: Column, source: Source, engine: Memory) -> Groups:
        """Divide ``table`` by cuts and, inside each of their groups, by random choices of ``source``."""
        order, places = tie_order(table, source), weighted_places(table)
        penalty = judged(self.penalty, table, "Hybrid")
        if self.penalty == "perimeter" and places.fits:
            rows = PackedRows(table, column, order, places)
            offsets = rows.divide(ell, engine)
        else:
            placed, offsets = tailor_leaves(table, ell, column, order, engine, penalty=penalty)
            rows = packed_rows(table, column, placed)
        return ace_segments(rows, offsets, places, ell, source, engine, penalty=penalty)
