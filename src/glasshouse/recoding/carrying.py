# SPDX-License-Identifier: Apache-2.0
"""Carrying: what goes out with a release of the taxonomies and orders that were declared, so that others can read it.

A cell such as ``South`` means something only beside the tree that it is a node of. Two things may be told of a tree:

``declared``
    All of it, or all of an order. It was there before the data, so it tells nothing about people. That is so only if it
    was: a tree that lists just the values that occur tells that no others do. Whoever declared it must say so.
``cells``
    Which nodes occur as cells, which of these lie within which, and which of them are values. The first is what the
    tables show; the others follow from it and from the tree alone. So two tables that are published with the same cells
    are published with the same words about them, wherever in these cells their people are. No other node or leaf is
    told, nor how many there are. Of an order nothing is told but that there is one.

A rule (`Taxonomy.prefix`, `intervals`, `dates`) names no value, and always goes out, as every other parameter of the
algorithm does. Borders that came from the table (`Taxonomy.quantiles`) are in the cells that show them, and nowhere
else.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from glasshouse.cells import MISSING, OR_MISSING, bare
from glasshouse.errors import ParameterError
from glasshouse.microdata.domains import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from glasshouse.microdata import Domain, Microdata
    from glasshouse.microdata.taxonomy import BoundTaxonomy
    from glasshouse.recoding.recoding import Recoding

__all__ = ["CARRY", "carried", "cells_of", "check_carry"]

CARRY: Final = ("cells", "declared")
"""What may be told of declared taxonomies and orders; the first is the default."""


def check_carry(carry: str) -> str:
    """Refuse a word that says nothing."""
    if carry not in CARRY:
        raise ParameterError("publish", "carry", " or ".join(map(repr, CARRY)), carry)
    return carry


def carried(
    table: Microdata, tables: Mapping[str, pa.Table], recoding: Recoding, carry: str
) -> dict[str, Mapping[str, Any]]:
    """For every quasi-identifier with a declared taxonomy or order, what goes out of it; see `PublishedColumn`.

    Examples
    --------
    >>> import glasshouse as gh
    >>> tree = gh.Taxonomy.from_nested({"any": {"north": ["Oslo", "Bergen"], "south": ["Rome", "Faro"]}})
    >>> table = gh.read({"town": ["Oslo", "Bergen", "Rome"], "ill": ["x", "y", "x"]}, quasi=["town"], sensitive="ill",
    ...                 taxonomies={"town": tree})
    >>> shown = {"data": pa.table({"town": ["north", "north", "Rome"]})}
    >>> carried(table, shown, gh.Taxonomies(), "cells")
    {'town': {'kind': 'nodes', 'nodes': [{'label': 'Rome', 'leaf': True}, {'label': 'north'}]}}
    >>> carried(table, shown, gh.Taxonomies(), "declared")["town"]["tree"]
    ['any', ['north', 'Oslo', 'Bergen'], ['south', 'Rome', 'Faro']]
    """
    found: dict[str, Mapping[str, Any]] = {}
    for column in table.quasi:
        domain = column.domain
        if domain.tree is not None:
            cells = cells_of(tables, domain.name) if recoding.shows_nodes else ()
            found[domain.name] = _of_tree(domain, cells, carry)
        elif _has_own_order(domain):
            told = domain.declared_order if carry == "declared" else None
            found[domain.name] = {"kind": "order", **({} if told is None else {"order": list(told)})}
    return found


def _has_own_order(domain: Domain) -> bool:
    """Whether intervals are to be read in an order that was given; decided without a look at which values occur."""
    if domain.kind in ("category", "boolean"):
        return domain.ordered
    if domain.declared_order is None:
        return False
    order: list[Any] = list(domain.declared_order)
    keys = list(map(Decimal, order)) if domain.kind in ("integer", "float") else order
    return any(a >= b for a, b in pairwise(keys))


def _of_tree(domain: Domain, cells: Iterable[str], carry: str) -> Mapping[str, Any]:
    assert domain.tree is not None
    assert domain.taxonomy is not None
    if domain.tree.looks_at_table:
        return {"kind": "quantiles"}
    if carry == "declared" or not domain.tree.is_listed:
        return domain.tree.to_data()
    return {"kind": "nodes", "nodes": _among(domain.taxonomy, domain.texts, cells)}


def _among(tree: BoundTaxonomy, texts: Sequence[str], cells: Iterable[str]) -> list[dict[str, Any]]:
    """The nodes that are cells, by their labels and by those that they lie within; a node comes before what is in it.

    Their order is that of depth and label, and not that of the tree, which nobody can see.
    """
    number = {label: node for node, label in enumerate(tree.labels)}
    number |= {text: int(node) for text, node in zip(texts, tree.leaves.tolist(), strict=True)}
    leaf = {int(node): text for text, node in zip(texts, tree.leaves.tolist(), strict=True)}
    shown = {number[cell] if cell in number else number[bare(cell)] for cell in cells}

    def name(node: int) -> str:
        return leaf.get(node, tree.labels[node])

    above: dict[int, list[int]] = {}  # the shown nodes above each, the lowest first
    for node in shown:
        climbed, here = [], int(tree.parents[node])
        while here >= 0:
            climbed += [here] if here in shown else []
            here = int(tree.parents[here])
        above[node] = climbed
    return [
        {
            "label": name(node),
            **({"within": name(above[node][0])} if above[node] else {}),
            **({"leaf": True} if node in leaf else {}),
        }
        for node in sorted(shown, key=lambda node: (len(above[node]), name(node)))
    ]


def cells_of(tables: Mapping[str, pa.Table], name: str) -> set[str]:
    """The different cells of an attribute in all tables, without the words for missing.

    >>> sorted(cells_of({"data": pa.table({"age": ["[20, 30] or missing", "missing", "41"]})}, "age"))
    ['41', '[20, 30]']
    """
    found: set[Any] = set()
    for table in tables.values():
        if name in table.column_names:
            column = table[name]
            plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            found.update(plain.unique().drop_null().to_pylist())
    return {text_of(cell).removesuffix(OR_MISSING) for cell in found} - {MISSING}
