# SPDX-License-Identifier: Apache-2.0
"""Columns: what a release says about its columns, so that others can read it and check its guarantee.

For every column what its cells mean. For a sensitive one also how far apart its published values are, where the values
alone do not tell: a second count of t-closeness needs the declared order of categories, or the tree over them. Only
published values are told, and of the tree only which of them have met by each height: no label, and no value that
nobody has.

For a quasi-identifier what it *carries* of a declared taxonomy or order. A cell such as ``South`` means something only
beside the tree that it is a node of. Two things may be told of a tree:

``declared``
    All of it, or all of an order. It was there before the data, so it tells nothing about people. That is so only if it
    was: a tree that lists just the values that occur tells that no others do. The publisher must ask for it.
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

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from glasshouse.cells import MISSING, OR_MISSING, bare
from glasshouse.errors import DomainError, ParameterError, SourceError
from glasshouse.microdata.domains import Column, text_of
from glasshouse.release.package.manifest import check_declared
from glasshouse.release.release import PublishedColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Domain, Groups, Microdata
    from glasshouse.microdata.taxonomy.taxonomy import BoundTaxonomy
    from glasshouse.recoding.recoding import Recoding

__all__ = ["CARRY", "RANGE", "axis_of", "carried", "cells_of", "check_carry", "published_columns", "told_columns"]

CARRY: Final = ("cells", "declared")
"How much of declared taxonomies and orders may be published; the first is the default."


RANGE: Final = "a range that counts as one value, so that an attacker may learn a wider range with several of them"
"""What a sensitive value means that is a range; in place of the words for an exact one."""

_EXACT: Final = "exact value"
_SET_MEANING: Final = "the set of all values of the person, each once, as a JSON list of texts; null means missing"


def check_carry(carry: str) -> str:
    """Refuse an unknown word for ``carry``."""
    if carry not in CARRY:
        raise ParameterError("publish", "carry", " or ".join(map(repr, CARRY)), carry)
    return carry


def told_columns(
    table: Microdata, groups: Groups, tables: Mapping[str, pa.Table], recoding: Recoding, carry: str
) -> tuple[PublishedColumn, ...]:
    """Say what the columns mean by what is shown of them: nothing of people who were dropped, nor of a perturbed value.

    Of perturbed sensitive columns it is not told how far apart values are: which values people have is what
    perturbation hides, and a value that is retained looks like any other.
    """
    told = _readable(carried(table, tables, recoding, carry))
    shown = groups.labels >= 0 if groups.n_dropped else None
    quasi = tuple(_without_unseen_gaps(column, shown) for column in table.quasi)
    columns = published_columns(replace(table, quasi=quasi), recoding)
    sampled = recoding.layout.size is not None
    axes = {} if sampled else {column.name: axis_of(column, shown) for column in table.sensitive}
    return tuple(replace(c, declared=told.get(c.name), axis=axes.get(c.name)) for c in columns)


def published_columns(table: Microdata, recoding: Recoding) -> list[PublishedColumn]:
    """Describe the columns of the published tables."""
    return [
        *(
            PublishedColumn(
                name=c.name,
                role="quasi-identifier",
                kind=c.domain.kind,
                meaning=recoding.meaning(c.domain) + _beyond(limits := _limits_of(c.domain)) + _weighing(c.domain),
                limits=limits or None,
                weight=None if c.domain.weight is None else c.domain.weight.to_data(),
            )
            for c in table.quasi
        ),
        *(
            PublishedColumn(
                name=c.name,
                role="sensitive",
                kind=c.domain.kind,
                meaning=_sensitive_meaning(c.domain, recoding.sensitive_meaning()) + _listing(c.domain),
                parts=c.domain.parts or None,
            )
            for c in table.sensitive
        ),
        *(
            PublishedColumn(name=name, role="added", kind="integer", meaning=meaning)
            for name, meaning in recoding.added().items()
        ),
    ]


def _sensitive_meaning(domain: Domain, shown: str) -> str:
    """What a published sensitive value means; ``shown`` says what an exact one does."""
    if domain.members is not None:
        return _SET_MEANING
    return shown.replace(_EXACT, RANGE, 1) if domain.ranges else shown


def _limits_of(domain: Domain) -> dict[str, str]:
    """Top and bottom codes, which were chosen in advance, as texts."""
    limits = {"bottom": domain.bottom, "top": domain.top}
    return {name: text_of(limit) for name, limit in limits.items() if limit is not None}


def _beyond(limits: Mapping[str, str]) -> str:
    """Say what a limit stands for, as the end of a sentence."""
    sides = {"bottom": "below", "top": "above"}
    return "".join(f"; {limit} stands for itself and everything {sides[name]}" for name, limit in limits.items())


def _weighing(domain: Domain) -> str:
    """Say that a column is the survey weight, as the end of a sentence."""
    return (
        ""
        if domain.weight is None
        else "; it is the survey weight, and each number is the mean of a class of similar weights"
    )


def _listing(domain: Domain) -> str:
    """Say what a value of a compound column lists, as the end of a sentence."""
    names = ", ".join(part.name for part in domain.parts)
    return f"; a value is a JSON list of the values of {names}" if names else ""


def _readable(told: dict[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The taxonomies and orders that a release carries, if every reader accepts them."""
    for name, declared in told.items():
        try:
            check_declared(declared)
        except SourceError as error:
            raise DomainError(
                f"the taxonomy or order of column {name!r} cannot be published, because the release could not be read "
                f"again: {str(error).rpartition(': ')[2]}",
                column=name,
            ) from None
    return told


def _without_unseen_gaps(column: Column, shown: NDArray[np.bool_] | None) -> Column:
    """The column, with a missing value in its domain only if a published person has one."""
    codes, domain = column.codes if shown is None else column.codes[shown], column.domain
    if not domain.missing or bool((codes == domain.missing_code).any()):
        return column
    return Column(replace(domain, missing=False), column.codes)


def axis_of(column: Column, rows: NDArray[np.bool_] | None = None) -> dict[str, Any] | None:
    """The values of a column in declared order, and by height the number of each one's ancestor; None for amounts.

    ``rows`` says which of its records are published, exactly; all unless given.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.read(
    ...     {"age": [1, 2], "ill": ["flu", "ulcer"]},
    ...     quasi=["age"],
    ...     sensitive="ill",
    ...     taxonomies={"ill": gh.Taxonomy.from_nested({"any": {"lungs": ["flu", "asthma"], "stomach": ["ulcer"]}})},
    ... )
    >>> axis_of(table.sensitive[0])
    {'order': ['flu', 'ulcer'], 'heights': [[0, 1], [0, 1]]}
    """
    domain = column.domain
    codes = np.unique(column.codes if rows is None else column.codes[rows])
    codes = codes[codes < len(domain.values)]
    if not len(codes) or (domain.taxonomy is None and not (domain.ordered and domain.kind == "category")):
        return None
    order = [domain.texts[code] for code in codes]
    tree = domain.taxonomy
    if tree is None:
        return {"order": order}
    node = tree.leaves[codes].astype(np.int64)
    heights = []
    for height in range(int(tree.height(tree.root))):
        while (climbs := tree.height(tree.parents[node]) <= height).any():
            node = np.where(climbs, tree.parents[node], node)
        heights.append(np.unique(node, return_inverse=True)[1].tolist())
    return {"order": order, "heights": heights}


def carried(
    table: Microdata, tables: Mapping[str, pa.Table], recoding: Recoding, carry: str
) -> dict[str, Mapping[str, Any]]:
    """What is published of every declared taxonomy or order of a quasi-identifier; see `PublishedColumn`.

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
    """The nodes that are cells, by their labels and by the enclosing nodes; a node comes before those inside it.

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
