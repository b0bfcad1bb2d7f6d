# SPDX-License-Identifier: Apache-2.0
"""Hybrid: Tailor's groups, each divided further by Ace; the best of the transparent methods.

Xiao, Tao, Koudas, "Transparent anonymization", ACM TODS 35(2), 2010, section 3.3. Tailor stops while its groups still
have many records; Ace goes on to the smallest groups there can be, but brings together whom chance brings. Inside a
group of Tailor all are alike, and chance does little harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.top.nodes import Bag
from glasshouse.grouping.transparent.ace import ace_segments, finished_buckets
from glasshouse.grouping.transparent.ace_counts import ace_pieces
from glasshouse.grouping.transparent.node_counts import cut_nodes, offsets_of, pieces_of_nodes
from glasshouse.grouping.transparent.packed_rows import PackedRows, packed_rows
from glasshouse.grouping.transparent.penalties import Discernibility, Transparent, judged
from glasshouse.grouping.transparent.tailor import tailor_leaves
from glasshouse.grouping.transparent.tie_order import ties_in_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
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
        inside Tailor's groups; ``"discernibility"``; or a custom function; for its requirements see
        `glasshouse.grouping.transparent.penalties.Custom`.

    Guarantee
    ---------
    Transparent l-diversity (TRANSPARENT Theorem 3): even an attacker who knows everyone's quasi-identifiers, this
    algorithm and l, and assumes that all tables are equally likely, gives no sensitive value of anybody a probability
    above 1/l. Ace inside the groups of a method that looked at sensitive values in another way guarantees nothing: the
    theorem requires that, as in Tailor, the multiset of a group's values alone decides.

    Cost
    ----
    That of Tailor, and about half as much for Ace on its small groups. A group of Tailor with more people than a piece
    is divided by Ace as counts. With a custom function Ace adds next to nothing: a thousand records with two attributes
    take half a second, two thousand four times as long.

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
        "The table is cut into regions by a rule that uses how often values occur in a region, but not which person "
        "has which value. Inside each region, people are put at random into small groups, each with one person for "
        "each of several sensitive values."
    )
    randomised: ClassVar[bool] = True
    theorem: ClassVar[str] = (
        "TRANSPARENT Theorem 3: the regions of Tailor depend only on how often each sensitive value occurs in them "
        "(Theorem 1), and inside each region the groups of Ace reveal nothing more than their values (Theorem 2)"
    )

    def independent(self, requirement: Requirement) -> Independent:
        """Slices tie the values of all groups of a bucket to each other."""
        return "buckets"

    def _divided(
        self,
        table: Microdata,
        ell: int,
        column: Column,
        source: Source,
        engine: Memory,
        sections: NDArray[np.int32] | None = None,
    ) -> Groups:
        """Divide ``table``, or each section, by cuts and, inside each of their groups, by choices of ``source``."""
        order, places = ties_in_order(table, source, engine, sections), weighted_places(table)
        nodes = None if sections is None else offsets_of(sections)
        penalty = judged(self.penalty, table, "Hybrid")
        if self.penalty == "perimeter" and places.fits:
            rows = PackedRows(table, column, order, places)
            offsets = rows.divide(ell, engine, nodes)
        else:
            placed, offsets = tailor_leaves(table, ell, column, order, engine, penalty=penalty, nodes=nodes)
            rows = packed_rows(table, column, placed)
        return ace_segments(rows, offsets, places, ell, source, engine, penalty=penalty)

    def _pieces(self, kinds: Kinds, ell: int, column: Column, source: Source, most: int) -> list[Piece]:
        """Cut kinds, as counts, until nodes are small; a large node that is not 2l-diverse is divided as Ace does."""
        halves = isinstance(self.penalty, Discernibility)
        nodes = cut_nodes(kinds, column.codes, ell, source, most, halves=halves)
        pieces: list[Piece] = []
        for piece in pieces_of_nodes(nodes, most):
            if piece.task[0] == "whole":
                bag, labels = Bag(piece.kinds, piece.counts), ("ace", *piece.labels)
                pieces += ace_pieces(kinds, bag, column.codes, ell, source, labels, most, halves=halves)
            else:
                pieces.append(piece)
        return pieces

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide the people of a piece, or slice its buckets."""
        if piece.task[0] == "slice":
            return finished_buckets(kinds, piece, requirement, source, engine, self.penalty)
        return Transparent.finish(self, kinds, piece, requirement, source, engine)
