# SPDX-License-Identifier: Apache-2.0
"""Recoding, slowly: the text of every cell that a group publishes, by minimum bounding boxes or by taxonomies.

::

    cell   = known | "missing" | known " or missing"
    known  = value                      the group's only value
           | "[" low ", " high "]"      closed interval, ordered attribute
           | "{" a ", " b ... "}"       values in domain order, unordered attribute
           | label                      lowest common ancestor in a taxonomy
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["box_cell", "published", "taxonomy_cell", "text"]


def text(value: Any) -> str:
    """One value: shortest exact numbers, ISO dates, ``true`` and ``false``, text quoted where it could mislead."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if not isinstance(value, str):
        return repr(value) if isinstance(value, int | float) else str(value)
    misleads = (
        any(mark in value for mark in ',{}[]"')
        or value != value.strip()
        or value in ("", "missing", "*")
        or value.endswith(" or missing")
    )
    return '"' + value.replace('"', '""') + '"' if misleads else value


def box_cell(values_present: Sequence[Any], kind: str) -> str:
    """The smallest box along one attribute.

    ``values_present`` are the group's distinct values in domain order, None for missing; ``kind`` is ``ordered`` or
    ``unordered``.
    """
    known = [value for value in values_present if value is not None]
    if len(known) < 2:
        cell = text(known[0]) if known else ""
    elif kind == "ordered":
        cell = f"[{text(known[0])}, {text(known[-1])}]"
    else:
        cell = "{" + ", ".join(text(value) for value in known) + "}"
    return _or_missing(cell, values_present)


def taxonomy_cell(values_present: Sequence[Any], paths: Mapping[Any, Sequence[str]]) -> str:
    """The label of the lowest common ancestor; ``paths[value]`` are the labels from the root down to the leaf."""
    known = [value for value in values_present if value is not None]
    if len(known) < 2:
        return box_cell(values_present, "unordered")
    shared = ""
    for labels in zip(*(paths[value] for value in known), strict=False):
        if len(set(labels)) > 1:
            break
        shared = labels[0]
    return _or_missing(shared, values_present)


def published(
    rows: Sequence[tuple[tuple[int, ...], int]],
    partition: Iterable[Iterable[int]],
    domains: Sequence[Sequence[Any]],
    kinds: Sequence[str],
    sensitive: Sequence[Any],
    taxonomies: Mapping[int, Mapping[Any, Sequence[str]]] | None = None,
) -> Counter[tuple[Any, ...]]:
    """The multiset of published rows: a cell per dimension, and the sensitive value itself.

    Parameters
    ----------
    rows
        The tuples: a code per dimension, and the sensitive code.
    partition
        The groups, as row numbers.
    domains
        ``domains[dim][code]`` is a value; the code past the last stands for missing.
    kinds
        ``ordered`` or ``unordered``, per dimension.
    sensitive
        The values of the sensitive codes; the code past the last stands for missing.
    taxonomies
        For the dimensions to be recoded by taxonomy, their paths.
    """
    release: Counter[tuple[Any, ...]] = Counter()
    for group in partition:
        cells = []
        for dim, domain in enumerate(domains):
            codes = sorted({rows[i][0][dim] for i in group})
            present = [_value(domain, code) for code in codes]
            if taxonomies is not None and dim in taxonomies:
                cells.append(taxonomy_cell(present, taxonomies[dim]))
            else:
                cells.append(box_cell(present, kinds[dim]))
        for i in group:
            release[(*cells, _value(sensitive, rows[i][1]))] += 1
    return release


def _value(domain: Sequence[Any], code: int) -> Any:
    return domain[code] if code < len(domain) else None


def _or_missing(cell: str, values_present: Sequence[Any]) -> str:
    if None not in values_present:
        return cell
    return f"{cell} or missing" if cell else "missing"
