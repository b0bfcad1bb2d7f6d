# SPDX-License-Identifier: Apache-2.0
"""Axis: how far apart the published values of a column are, where its values alone do not tell.

Whoever counts t-closeness again needs the declared order of categories, or the tree over them. Only published values
are told, and of the tree only which of them have met by each height: no label, and no value that nobody has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.microdata import Column

__all__ = ["axis_of"]


def axis_of(column: Column, rows: NDArray[np.bool_] | None = None) -> dict[str, Any] | None:
    """The values of a column in their declared order, and by height the number of each one's ancestor; None if amounts.

    Parameters
    ----------
    column
        A column whose values are published exactly.
    rows
        Which of its tuples are published; all unless given.

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
