# SPDX-License-Identifier: Apache-2.0
"""Mirror: halve the table again and again while both halves are safe; a failed test does not say which half failed.

A method of this project, for any principle. A node has one candidate split, chosen by quasi-identifiers alone, into
halves of exactly equal size, and no second try. Whoever exchanges the values of the two halves of a node that stayed
whole gets a table that would have stayed whole too: so knowing the algorithm is no help (Theorem M1). Under frequency
l-diversity leaves are divided further, down to l or 2 l tuples, in a way that keeps this symmetry (Theorem M2).
Definition, theorems and proofs are in the documentation, under "Mirror".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.engines import Memory, Nodes
from glasshouse.errors import ParameterError, SchemaError
from glasshouse.grouping.ace import ace_segments, packed_rows
from glasshouse.grouping.anatomize import anatomize_segments
from glasshouse.grouping.halving import HalvedRows
from glasshouse.grouping.method import is_frequency_diversity
from glasshouse.grouping.mirror_refinement import balanced_segments, group_size
from glasshouse.grouping.orderings import ORDERINGS, check_ordering
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.remainder import Block, blocks_of
from glasshouse.microdata.groups import Groups
from glasshouse.microdata.ties import tie_order
from glasshouse.principles.adversaries import NOT_AGAINST, Adversary, Claim
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.parameters import integer
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.principles.requirement import Requirement

__all__ = ["Mirror"]

INNER = ("ace", "anatomize", "none")
_FLOOR = 8  # the least size of a node where nothing says which


@dataclass(frozen=True, kw_only=True, slots=True)
class Mirror:
    """Halve the table along one attribute, and each half again, while both halves obey the principle.

    1. *Sizes.* ``2^h k`` tuples are halved, with k at least ``floor`` and such that few are left over. The remainder is
       a uniformly random subset, drawn again until it and the rest obey the principle (and made larger if that does
       not come to an end), and is divided by the same method as a table of its own.
    2. *Halving.* A node of more than k tuples has one candidate: of the halvings along each attribute, in order of
       (value, tie order), the one with the least total perimeter, then the first attribute. It is made if both halves
       obey. If not, the node is a leaf, and no other attribute is tried. A node of k tuples is a leaf untested.
    3. *Leaves* are groups. Under frequency l-diversity of one column they are divided further: an untested one by
       ``inner``, one whose halving failed into groups that take half of their tuples from either half.

    Parameters
    ----------
    floor
        The least size of a node; by default l (2 l if l is odd) where leaves are divided further, else the least size
        that the principle names, or 8 if it names none. It is never less than the former. Larger nodes leave a smaller
        remainder.
    inner
        Under frequency l-diversity of one column, how untested leaves are divided: ``ace`` or ``anatomize``; or
        ``none``, and all leaves are groups as they are. It is not used under other principles.
    priority
        The quasi-identifiers that may be halved, the first of them preferred where perimeters are equal; all of them if
        it is empty. It must not be chosen by a look at this table's sensitive values. Public knowledge and earlier
        releases are fine: an attribute that tells much about the sensitive one stops the halving early.

    Guarantee
    ---------
    Holds against an *algorithm-aware* adversary, under every principle. Where leaves are groups, what she believes of
    anybody is exactly the published distribution of their group (Theorem M1), so that whatever the principle promises
    about published distributions holds for her beliefs. Where leaves are divided further she believes nothing above 1/l
    (Theorem M2). She holds all tables equally likely beforehand and has corrupted nobody.

    Cost
    ----
    O(n d log n) time, and memory as `Hybrid`: ten million tuples with four attributes take about twice to three times
    as long as sorting ten million numbers. Nodes are independent of each other, and use all threads.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> from glasshouse.principles import LDiversity, Requirement
    >>> table = examples.transparent_t1()
    >>> groups = Mirror(floor=2).divide(table, Requirement.of(LDiversity(ell=2), table))
    >>> groups.sizes.tolist()
    [2, 2, 2, 2]
    """

    name: ClassVar[str] = "mirror"
    looks_at: ClassVar[str] = "both"
    randomised: ClassVar[bool] = True

    floor: int | None = None
    inner: str = "ace"
    priority: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.floor is not None:
            object.__setattr__(self, "floor", integer("Mirror", "floor", self.floor, least=1))
        if self.inner not in INNER:
            raise ParameterError("Mirror", "inner", "'ace', 'anatomize' or 'none'", self.inner)
        names = check_ordering("Mirror", ORDERINGS[0], self.priority)
        object.__setattr__(self, "priority", names)

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups promise: against whom, and why."""
        limits: tuple[str, ...] = (
            *NOT_AGAINST,
            "a node has one candidate split and no second: where an attribute tells much about a sensitive one, "
            "halving stops early and groups say less",
        )
        if self.priority:
            limits += ("it assumes that 'priority' was not chosen by a look at sensitive values of this table",)
        if not requirement.columns:
            return Claim(
                adversary=Adversary.ALGORITHM_AWARE,
                theorem="splits look at quasi-identifiers alone, so the algorithm tells nothing that they do not tell",
                limits=("k-anonymity protects no sensitive value: a group may share one",),
            )
        if self._ell(requirement) is None:
            return Claim(
                adversary=Adversary.ALGORITHM_AWARE,
                theorem=(
                    "Mirror, Theorem M1: exchanging the values of the two equal halves of a node that stayed whole "
                    "gives a table that would have stayed whole, so what she believes of anybody is exactly the "
                    "published distribution of their group, of which the principle speaks"
                ),
                limits=limits,
            )
        inner = "TRANSPARENT Theorem 2" if self.inner == "ace" else "MINIMALITY Claim 4"
        return Claim(
            adversary=Adversary.ALGORITHM_AWARE,
            theorem=(
                "Mirror, Theorem M2: groups inside a node that stayed whole take half of their tuples from either of "
                "its equal halves, so exchanging the halves' values changes no probability; other leaves tell nothing "
                f"by themselves ({inner})"
            ),
            limits=limits,
        )

    def divide(
        self,
        table: Microdata,
        requirement: Requirement,
        *,
        source: Source | None = None,
        engine: Memory | None = None,
    ) -> Groups:
        """Divide ``table`` into groups that satisfy ``requirement``, by random choices of ``source``."""
        dims = self._dims(table)
        requirement.check_eligible()
        source, engine = source or Source.secure(), engine or Memory()
        ell = self._ell(requirement)
        floor, step = self.floor or least_size(requirement), 1
        if ell is not None:  # failed leaves have 2 k tuples or more: whole groups
            floor, step = max(self.floor or 0, group_size(ell)), group_size(ell) // 2
        blocks = blocks_of(tie_order(table, source), requirement, floor, step, source)
        order = blocks[0].order if len(blocks) == 1 else np.concatenate([block.order for block in blocks])
        column = requirement.columns[0] if requirement.columns else table.quasi[0]  # a code is packed in any case
        rows = HalvedRows(packed_rows(table, column, order), weighted_places(table), dims)
        leaves = _leaves(rows, blocks, requirement, engine)
        if ell is None:
            return rows.packed.groups(np.append(np.sort(np.concatenate([n.starts for n in leaves])), table.n_tuples))
        return self._refined(table, rows, blocks, leaves, ell, source, engine)

    def _ell(self, requirement: Requirement) -> int | None:
        """The l for which leaves are divided further, if they are."""
        principle = requirement.parts[0].principle
        if self.inner == "none" or not is_frequency_diversity(requirement) or not isinstance(principle, LDiversity):
            return None
        return principle.ell

    def _dims(self, table: Microdata) -> list[int]:
        """The numbers of the attributes that may be halved."""
        names = [column.name for column in table.quasi]
        for name in self.priority:
            if name not in names:
                raise SchemaError.unknown(name, names, role="priority")
        return [names.index(name) for name in self.priority or names]

    def _refined(
        self,
        table: Microdata,
        rows: HalvedRows,
        blocks: Sequence[Block],
        leaves: Sequence[Nodes],
        ell: int,
        source: Source,
        engine: Memory,
    ) -> Groups:
        """Divide leaves further: those that were not tested by the inner method, the others into balanced groups."""
        failed = Nodes.join([nodes[nodes.sizes > block.k] for nodes, block in zip(leaves, blocks, strict=True)])
        untested = Nodes.join([nodes[nodes.sizes <= block.k] for nodes, block in zip(leaves, blocks, strict=True)])
        labels = np.empty(table.n_tuples, np.int32)
        codes, numbers, offsets = rows.take(failed)
        found = balanced_segments(codes, offsets, rows.packed.n_values, ell, source.child("failed leaves"), engine)
        labels[numbers] = found
        n_groups = len(codes) // group_size(ell)
        if len(untested):
            inside = source.child("untested leaves")
            if self.inner == "ace":
                packed, numbers, offsets = rows.taken(untested)
                groups = ace_segments(packed, offsets, weighted_places(table), ell, inside, engine)
            else:
                codes, numbers, offsets = rows.take(untested)
                found = anatomize_segments(codes, offsets, rows.packed.n_values, ell, inside, engine)
                groups = Groups(found, int(found.max()) + 1)
            labels[numbers] = groups.labels + np.int32(n_groups)
            n_groups += groups.n_groups
        return Groups(labels, n_groups)


def _leaves(rows: HalvedRows, blocks: Sequence[Block], requirement: Requirement, engine: Memory) -> list[Nodes]:
    """The leaves of every block, which lie one after another; ascending."""
    found, start = [], 0
    for block in blocks:
        leaves = rows.divide(start, block.k, len(block.order), requirement, engine)
        found.append(leaves[np.argsort(leaves.starts)])
        start += len(block.order)
    return found


def least_size(requirement: Requirement) -> int:
    """How many tuples a group must have in any case, as far as the principles say: their k or l; 8 if they do not."""
    named = [
        getattr(principle, parameter)
        for part in requirement.parts
        for principle in getattr(part.principle, "principles", (part.principle,))
        for parameter in ("k", "ell")
        if hasattr(principle, parameter) and not hasattr(principle, "values")
    ]
    return max(map(ceil, named), default=_FLOOR)
