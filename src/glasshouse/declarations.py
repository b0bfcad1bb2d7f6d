# SPDX-License-Identifier: Apache-2.0
"""Declarations: the taxonomies and orders that the cells of a release are written in, as far as they are known.

A release carries them, or a part of them (see `glasshouse.recoding.columns`); readers may know the rest. Both
readers, attacker and analyst, take them from here. Where a cell cannot be read without what nobody told, they are
refused, with what to give: to guess that a label which is no value covers nothing would be wrong in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from glasshouse.cells import MISSING, OR_MISSING, SUPPRESSED, Unreadable, bare, parse
from glasshouse.cells.values import LINE
from glasshouse.errors import DomainError, InputError, SchemaError
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from glasshouse.release import PublishedColumn, Release

__all__ = ["Declared", "Nodes", "check_cells", "tree_of_axis"]

_RULES = ("intervals", "prefix", "dates")


@dataclass(frozen=True, eq=False)
class Nodes:
    """The known part of a taxonomy of which only the nodes that occur as cells are published.

    Attributes
    ----------
    column
        Whose taxonomy it is.
    within
        For every node that is told, the lowest other one above it, or None.
    leaves
        Those that are values.
    told
        Whether the nodes are told at all; if not, a cell may be a value or a node.
    """

    column: str
    within: Mapping[str, str | None]
    leaves: frozenset[str]
    told: bool = True

    @cached_property
    def above(self) -> Mapping[str, frozenset[str]]:
        """The nodes above each node, and the node itself."""
        found: dict[str, frozenset[str]] = {}
        for label, parent in self.within.items():  # a node comes after what it lies within
            found[label] = frozenset({label}) | (frozenset() if parent is None else found[parent])
        return found

    def unexplained(self, kind: str) -> frozenset[str]:
        """The told nodes whose labels do not say what they cover, in a column of this kind of values.

        >>> nodes = Nodes("age", {"*": None, "[20, 40)": "*", "25": "[20, 40)", "old": "*"}, frozenset({"25"}))
        >>> nodes.unexplained("integer")
        frozenset({'old'})
        """
        labels = self.within.keys() - self.leaves
        if kind not in LINE:
            return frozenset(labels)
        ranges = {
            label for label in labels if label[:1] in "[(]" and not isinstance(parse(label, kind=kind), Unreadable)
        }
        return frozenset(labels - ranges - {SUPPRESSED})

    def refusal(self, cell: str | None = None) -> InputError:
        """The error if a question or an attack needs the whole taxonomy."""
        shown = "" if cell is None else f", such as {cell!r}"
        name = self.column
        return InputError(
            f"column {name!r} shows nodes of a taxonomy that the release does not contain{shown}: give the taxonomy, "
            f"with taxonomies={{{name!r}: ...}}, or ask the publisher for a release that contains it (published with "
            "--carry declared)"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Declared:
    """Taxonomies and orders of the quasi-identifiers of a release.

    Attributes
    ----------
    taxonomies, ordered
        What is known as a whole, by column.
    nodes
        Columns whose cells are nodes of a taxonomy that is not known as a whole, with what is told of it.
    untold
        Columns for which a taxonomy or an order was declared that is not known as a whole; the method may have looked
        at it, even where cells are none of its nodes.
    unordered
        Those of them for which an order was declared.
    """

    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    ordered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    nodes: Mapping[str, Nodes] = field(default_factory=dict)
    untold: frozenset[str] = frozenset()
    unordered: frozenset[str] = frozenset()

    @classmethod
    def carried_by(cls, release: Release) -> Declared:
        """The declarations that a release itself carries.

        Examples
        --------
        >>> import glasshouse as gh
        >>> table = gh.read({"zip": ["47601", "47602"], "ill": ["x", "y"]}, quasi=["zip"], sensitive="ill",
        ...                 taxonomies={"zip": gh.Taxonomy.prefix(length=5)})
        >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies())
        >>> Declared.carried_by(release).taxonomies
        {'zip': Taxonomy.prefix(length=5)}
        """
        return cls.told_by(release.columns)

    @classmethod
    def told_by(cls, columns: Iterable[PublishedColumn]) -> Declared:
        """The declarations in the descriptions of published columns."""
        taxonomies: dict[str, Taxonomy] = {}
        ordered: dict[str, Sequence[Any]] = {}
        nodes: dict[str, Nodes] = {}
        untold: set[str] = set()
        without: set[str] = set()
        for column in columns:
            told = column.declared
            if told is None:
                continue
            if told["kind"] == "order":
                without.add(column.name)
            if told["kind"] in ("tree", *_RULES):
                taxonomies[column.name] = Taxonomy.from_data(told)
            elif told["kind"] == "order" and "order" in told:
                ordered[column.name] = list(told["order"])
            else:
                untold.add(column.name)
            if told["kind"] == "unknown nodes":
                nodes[column.name] = Nodes(column.name, {}, frozenset(), told=False)
            elif told["kind"] == "nodes" and told["nodes"]:
                within = {node["label"]: node.get("within") for node in told["nodes"]}
                leaves = frozenset(node["label"] for node in told["nodes"] if "leaf" in node)
                nodes[column.name] = Nodes(column.name, within, leaves)
        return cls(
            taxonomies=taxonomies,
            ordered=ordered,
            nodes=nodes,
            untold=frozenset(untold),
            unordered=frozenset(without - set(ordered)),
        )

    def completed(
        self,
        release: Release,
        taxonomies: Mapping[str, Taxonomy] | None = None,
        ordered: Mapping[str, Sequence[Any]] | None = None,
    ) -> Declared:
        """The same with what a reader knows beside it; refused where that contradicts the release."""
        given, orders = dict(taxonomies or {}), dict(ordered or {})
        known = [*release.recipe.quasi, *release.recipe.sensitive]
        for option, names in (("taxonomies", given), ("ordered", orders)):
            for name in names:
                if name not in known:
                    raise SchemaError.unknown(name, known, role=option)
        for name, tree in given.items():
            if name in self.taxonomies and self.taxonomies[name] != tree:
                raise _contradiction(name, "taxonomy")
            if name in self.nodes and self.nodes[name].told:
                check_cells(name, tree, self.nodes[name].within)
        for name, order in orders.items():
            if name in self.ordered and list(map(text_of, self.ordered[name])) != list(map(text_of, order)):
                raise _contradiction(name, "order")
        return Declared(
            taxonomies={**self.taxonomies, **given},
            ordered={**self.ordered, **orders},
            nodes={name: nodes for name, nodes in self.nodes.items() if name not in given},
            untold=self.untold - set(given) - set(orders),
            unordered=self.unordered - set(orders),
        )


def tree_of_axis(axis: Mapping[str, Any]) -> Taxonomy:
    """A tree of sensitive values in which two meet at the height at which they have the same ancestor.

    >>> tree_of_axis({"order": ["flu", "asthma", "ulcer"], "heights": [[0, 1, 2], [0, 0, 1]]}).leaves
    ('flu', 'asthma', 'ulcer')
    """
    order, heights = axis["order"], axis["heights"]

    def below(height: int, places: list[int]) -> Any:
        if height == 0:  # the values themselves
            return [order[place] for place in places]
        parts: dict[int, list[int]] = {}
        for place in places:
            parts.setdefault(heights[height][place], []).append(place)
        return {f"\x1f{height} {part[0]}": below(height - 1, part) for part in parts.values()}

    return Taxonomy.from_nested({"\x1f": below(len(heights) - 1, list(range(len(order))))})


def check_cells(name: str, taxonomy: Taxonomy, cells: Iterable[str]) -> None:
    """Refuse a taxonomy that lacks a cell of the column: it is not the one by which the column was published."""
    if not taxonomy.is_listed:
        return
    labels = {*taxonomy.leaves_below, *taxonomy.leaves, MISSING, SUPPRESSED}
    for cell in cells:
        text = cell.removesuffix(OR_MISSING)
        if text not in labels and bare(text) not in labels:
            raise DomainError(
                f"the taxonomy of column {name!r} has no node {text!r}, which the release shows: give the taxonomy "
                "that was used for the release",
                column=name,
                values=[text],
            )


def _contradiction(name: str, what: str) -> InputError:
    return InputError(
        f"the release already has {'an' if what == 'order' else 'a'} {what} for column {name!r}, and a different one "
        "was given: leave yours out"
    )
