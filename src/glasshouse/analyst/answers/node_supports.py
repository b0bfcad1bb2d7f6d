# SPDX-License-Identifier: Apache-2.0
"""Node supports: cells that are nodes of a taxonomy which is not known as a whole.

Which values a node covers is not told, nor how many. What is told is which published nodes lie within which. So a
question is answered where that decides it: a node that is asked for, or lies within one, is in the answer as a whole;
one that has nothing to do with what is asked for is not in it. Any other question is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.answers.supports import Listed, OrMissing, Support
from glasshouse.analyst.questions.value_sets import Listing
from glasshouse.cells import MISSING, OR_MISSING, SUPPRESSED, Value, bare
from glasshouse.errors import InputError
from glasshouse.microdata.domains import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.analyst.answers.supports import CellSupports
    from glasshouse.analyst.questions.value_sets import ValueSet
    from glasshouse.declarations import Nodes

__all__ = ["NodeSupport", "node_supports"]


@dataclass(frozen=True, slots=True)
class NodeSupport(Support):
    """A published node of a taxonomy that is not known as a whole; a value, if it is a leaf of it.

    >>> from glasshouse.analyst.questions.value_sets import ValueSet
    >>> from glasshouse.declarations import Nodes
    >>> nodes = Nodes("state", {"South": None, "West": None, "Texas": "South"}, frozenset({"Texas"}))
    >>> south = NodeSupport("South", nodes, None)
    >>> south.share(ValueSet.of(["South"])), south.share(ValueSet.of(["West"]))
    (1.0, 0.0)
    >>> south.share(ValueSet.of(["Texas"]))
    Traceback (most recent call last):
    glasshouse.errors.InputError: column 'state' shows nodes of a taxonomy that the release does not carry, such as ...
    """

    label: str
    nodes: Nodes
    value: Support | None
    """What it stands for, if it is a value."""

    def share(self, values: ValueSet) -> float:
        """All of it or nothing, where what is told decides."""
        if values.cuts and self.nodes.told:
            pieces = values.pieces()
            if isinstance(pieces, Listing):
                return self._listed_share({text_of(value) for value in pieces.values}, cofinite=pieces.cofinite)
        if self.value is not None:
            return self.value.share(values)
        if values.cuts:
            raise self.nodes.refusal(self.label)
        return float(values.starts)

    def _listed_share(self, asked: set[str], *, cofinite: bool) -> float:
        if asked & self.nodes.above[self.label]:
            return 1.0 - cofinite
        if self.value is None:
            for text in asked:
                if text not in self.nodes.above or self.label in self.nodes.above[text]:
                    raise self.nodes.refusal(self.label)
        return float(cofinite)

    def moments(self, values: ValueSet) -> tuple[float, float]:
        """Of a value."""
        if self.value is None:
            raise self.nodes.refusal(self.label)
        return self.value.moments(values)

    def listed(self) -> Sequence[Any] | None:
        """The value, if it is one."""
        if self.value is None:
            raise self.nodes.refusal(self.label)
        return self.value.listed()


def node_supports(reader: CellSupports, cells: Sequence[str], nodes: Nodes) -> tuple[Support, ...]:
    """What the cells of a column stand for whose taxonomy is not known as a whole."""
    if nodes.told:
        return tuple(_told(reader, cell, nodes) for cell in cells)
    bare_cells = (cell.removesuffix(OR_MISSING) for cell in cells)
    masked = any(cell.endswith(SUPPRESSED) and cell != SUPPRESSED for cell in bare_cells)  # such a cell explains itself
    return tuple(reader.of(cell) if masked else _untold(reader, cell, nodes) for cell in cells)


def _told(reader: CellSupports, cell: str, nodes: Nodes) -> Support:
    if cell == MISSING:
        return Listed((None,))
    if cell.endswith(OR_MISSING):
        return OrMissing(_told(reader, cell.removesuffix(OR_MISSING), nodes))
    label = cell if cell in nodes.within else bare(cell)
    if label not in nodes.within:
        raise InputError(f"column {nodes.column!r} has a cell that is none of the nodes of its taxonomy: {cell}")
    return NodeSupport(label, nodes, reader.support(Value(reader.value(label))) if label in nodes.leaves else None)


def _untold(reader: CellSupports, cell: str, nodes: Nodes) -> Support:
    """By older formats a text may be a value or a node; what has another shape explains itself."""
    if cell.endswith(OR_MISSING):
        return OrMissing(_untold(reader, cell.removesuffix(OR_MISSING), nodes))
    if reader.kind != "category" or cell == MISSING:
        return reader.of(cell)
    return NodeSupport(cell, nodes, None)
