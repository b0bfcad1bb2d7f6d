# SPDX-License-Identifier: Apache-2.0
"""The external table: people coded in the taxonomies and orders that the cells of a release are written in.

An attacker who knows how the release was made has what it carries. What it does not carry may come with the external
table. Without either it could not be told whom a cell such as ``South`` covers, nor what lies between two categories,
and many people would be taken for absent: such an attack is refused, for its probabilities would be too small.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.cells import SUPPRESSED, bare
from glasshouse.cells.ranges import Range, ranges_in, ranges_of_cells
from glasshouse.declarations import Declared, check_cells
from glasshouse.errors import InputError, SchemaError
from glasshouse.microdata.domains import code, text_of
from glasshouse.microdata.intake import clipped
from glasshouse.microdata.spelling import decimal_commas
from glasshouse.microdata.weight_classes import WeightClasses
from glasshouse.recoding.columns import cells_of
from glasshouse.release.layout import EDITION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.declarations import Nodes
    from glasshouse.microdata import Column, Microdata
    from glasshouse.microdata.domains import Domain
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import PublishedColumn, Release

__all__ = ["coded_as_published", "without_editions"]

_ZONED = re.compile(r"T[0-9:.]+[+-][0-9]{2}:[0-9]{2}")
# The kinds of values that ranges of each kind contain, or that are texts of ranges.
_IN_RANGES = {
    "float": ("integer", "float", "category"),
    "date": ("date", "timestamp", "category"),
    "timestamp": ("timestamp", "category"),
}
_ON_A_LINE = re.compile(r"^([\[(].*[\])]|-?[0-9][0-9.eE+-]*|\d{4}-\d{2}-\d{2}.*)$", re.DOTALL)


def coded_as_published(releases: Sequence[Release], knowledge: Knowledge, *, runs_method: bool) -> Knowledge:
    """Give the external table the taxonomies and orders of the releases; refuse where some that are needed are unknown.

    If the method is run again, it may have looked at taxonomies and orders even where cells do not.

    Examples
    --------
    >>> import glasshouse as gh
    >>> tree = gh.Taxonomy.from_nested({"any": {"north": ["Oslo", "Bergen"], "south": ["Rome", "Faro"]}})
    >>> table = gh.read({"town": ["Oslo", "Bergen", "Rome", "Faro"], "ill": ["x", "y", "x", "y"]}, quasi=["town"],
    ...                 sensitive="ill", taxonomies={"town": tree})
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies(), carry="declared")
    >>> voters = gh.Knowledge(external=gh.read({"town": ["Rome", "Paris"]}, quasi=["town"]))
    >>> coded_as_published([release], voters, runs_method=False).external.column("town").domain.tree is not None
    True
    """
    people = knowledge.external
    for release in releases:
        if release.editions and all(column.name != EDITION for column in people.quasi):
            raise without_editions(release)
        carried = Declared.carried_by(release)
        told = {column.name: column for column in release.columns}
        columns = tuple(
            _coded(_ranged(_classed(_limited(column, told.get(column.name)), told.get(column.name)), release), carried)
            for column in people.quasi
        )
        if any(new is not old for new, old in zip(columns, people.quasi, strict=True)):
            people = replace(people, quasi=columns)
        for name in release.recipe.quasi:
            if any(column.name == name for column in people.quasi):
                _check(people, release, carried, name, runs_method=runs_method)
    return knowledge if people is knowledge.external else replace(knowledge, external=people)


def without_editions(release: Release) -> SchemaError:
    """The error for an external table that does not say in which edition people were published."""
    labels = ", ".join(str(edition.label) for edition in release.editions)
    return SchemaError(
        f"the external table has no quasi-identifier {EDITION!r}, which this release has, because it was published in "
        f"editions ({labels}): add a column {EDITION!r} to the external table, with the edition in which each person "
        "was first in the table. Or attack one edition by itself, in Python with gh.edition_of(release, LABEL)",
        column=EDITION,
    )


def _limited(column: Column, told: PublishedColumn | None) -> Column:
    """Top- and bottom-code a column as the published one was: values beyond the limit are published at it."""
    if told is None or told.limits is None or column.domain.kind in ("category", "boolean"):
        return column
    domain = column.domain
    if _limits_of(domain) == told.limits:
        return column
    if _limits_of(domain):
        raise _contradiction(domain, "limit")
    values = domain.decode(column.codes)
    for name, keep in (("bottom", pc.max_element_wise), ("top", pc.min_element_wise)):
        if name in told.limits:
            values = clipped(values, domain.name, told.limits[name], keep)
    return code(
        values,
        name=domain.name,
        order=domain.order,
        taxonomy=domain.tree,
        missing=domain.missing,
        declared=domain.is_declared,
        normalised=domain.normalised,
    )


def _classed(column: Column, told: PublishedColumn | None) -> Column:
    """Put survey weights into the classes of the published ones: who knows a weight knows its class."""
    domain = column.domain
    if told is None or told.weight is None:
        return column
    if domain.kind not in ("integer", "float"):
        raise InputError(
            f"column {domain.name!r} is the survey weight of the release, and in the external table it is not "
            "a column of numbers: read the external table without bins= and categorical= for this column"
        )
    classes = WeightClasses.from_data(told.weight)
    if domain.weight is not None and domain.weight != classes:
        raise InputError(
            f"column {domain.name!r} of the external table was read as a survey weight with other classes than "
            "those of the release: read it as a quasi-identifier, with its exact weights"
        )
    values = domain.decode(column.codes).cast(pa.float64())
    weights = values.fill_null(1.0).to_numpy(zero_copy_only=False)
    found = classes.classed(weights)
    if not domain.missing and domain.kind == "float" and (found == weights).all():
        return column
    gone = values.is_null().to_numpy(zero_copy_only=False)
    return code(pa.array(found, mask=gone), name=domain.name, missing=domain.missing)


def _ranged(column: Column, release: Release) -> Column:
    """Put numbers and days into the ranges that are published: an attacker who knows a value knows its range."""
    domain = column.domain
    kinds = {own.name: own.kind for own in release.columns}
    if kinds.get(domain.name) != "category" or domain.declared_order is not None or domain.tree is not None:
        return column
    ranges = ranges_of_cells(cells_of(release.tables, domain.name))
    kind = next((one.kind for one in ranges.values()), "")
    if domain.kind not in _IN_RANGES.get(kind, ()):
        return column
    values = domain.values.cast(pa.date32()) if (domain.kind, kind) == ("timestamp", "date") else domain.values
    listed = list(ranges.items())
    own = [_range_of(value, listed) for value in values.to_pylist()]
    if not all(one for _, one in own):
        return column  # texts that are no ranges
    for label, one in own:
        if label not in ranges and one is not None and any(map(one.overlaps, ranges.values())):
            raise InputError(
                f"column {domain.name!r} of the external table has other ranges than the release, such as {label!r}: "
                "read the external table with exact values, or with the same bins= as the published table"
            )
    places = {label: one.place for label, one in (*own, *ranges.items()) if one is not None}
    texts = pa.array([*(label for label, _ in own), None], pa.string()).take(pa.array(column.codes))
    order = sorted(places, key=lambda label: places[label])
    return code(texts, name=domain.name, order=order, missing=domain.missing, declared=False)


def _range_of(value: Any, ranges: Sequence[tuple[str, Range]]) -> tuple[str, Range | None]:
    """The published range in which a value is; one of its own if it is in none, and nothing for a text that is none."""
    if isinstance(value, str):
        return value, next(iter(ranges_in([value])), None)
    at = bisect_right(ranges, (True, value), key=lambda pair: pair[1].place[:2])
    found = next((pair for pair in reversed(ranges[max(at - 2, 0) : at]) if pair[1].holds(value)), None)
    return found or (f"[{value}, {value}]", Range(value, value, closed_high=True))


def _limits_of(domain: Domain) -> dict[str, str]:
    limits = {"bottom": domain.bottom, "top": domain.top}
    return {name: text_of(limit) for name, limit in limits.items() if limit is not None}


def _coded(column: Column, carried: Declared) -> Column:
    """A column with the taxonomy or the order that a release carries; values that it lacks lie outside of it."""
    domain = column.domain
    if domain.name in carried.taxonomies:
        return _by_tree(column, carried.taxonomies[domain.name])
    if domain.name in carried.ordered:
        return _by_order(column, [text_of(value) for value in carried.ordered[domain.name]])
    return column


def _by_tree(column: Column, tree: Taxonomy) -> Column:
    domain = column.domain
    whole = tree.with_strangers(domain.name, domain.values)
    if domain.tree == whole:
        return column
    if domain.tree is not None:
        raise _contradiction(domain, "taxonomy")
    values = domain.decode(column.codes)
    return code(values, name=domain.name, taxonomy=whole, missing=domain.missing)


def _by_order(column: Column, order: list[str]) -> Column:
    domain = column.domain
    known = set(order)
    whole = (*order, *(text for text in domain.texts if text not in known))
    if domain.declared_order in (tuple(order), whole):
        return column
    if domain.declared_order is not None or domain.tree is not None:
        raise _contradiction(domain, "order")
    values = domain.decode(column.codes)
    return code(values, name=domain.name, order=whole, missing=domain.missing)


def _contradiction(domain: Domain, what: str) -> InputError:
    return InputError(
        f"the release contains {('an' if what == 'order' else 'a')} {what} of column {domain.name!r}, and the "
        "external table was read with a different one: read the external table without one"
    )


def _check(people: Microdata, release: Release, carried: Declared, name: str, *, runs_method: bool) -> None:
    """Refuse a column that cannot be read as it was published."""
    domain = people.column(name).domain
    _check_decimals(domain, release, name)
    _check_kind(domain, release, name)
    if name in carried.nodes:
        _check_nodes(domain, carried.nodes[name], cells_of(release.tables, name))
    ordered = domain.declared_order is not None or (domain.ordered and domain.kind in ("category", "boolean"))
    if (
        name in carried.unordered
        and not ordered
        and any(cell.startswith("[") for cell in cells_of(release.tables, name))
    ):
        raise InputError(
            f"column {name!r} has intervals in an order that was declared by the publisher and is not in the release: "
            f"read the external table with this order, ordered={{{name!r}: [...]}}"
        )
    if runs_method and name in carried.untold and domain.tree is None and not (name in carried.unordered and ordered):
        what, option = ("an order", "ordered") if name in carried.unordered else ("a taxonomy", "taxonomies")
        raise InputError(
            f"the method may have used {what} of column {name!r}, which is not in the release: read the external table "
            f"with it, {option}={{{name!r}: ...}}, or use the attack linking"
        )


def _check_decimals(domain: Domain, release: Release, name: str) -> None:
    """Refuse numbers with a decimal comma that were read as texts, where the release has numbers or ranges of them."""
    if domain.kind != "category" or not decimal_commas(domain.values):
        return
    kind = next((column.kind for column in release.columns if column.name == name), "category")
    ranges = ranges_of_cells(cells_of(release.tables, name)) if kind == "category" else {}
    if kind in ("integer", "float") or any(one.kind == "float" for one in ranges.values()):
        raise InputError(
            f"column {name!r} has numbers in the release, and in the external table it has texts that look like "
            "numbers with a decimal comma: read the external table with decimal=','"
        )


def _check_kind(domain: Domain, release: Release, name: str) -> None:
    """Refuse a column whose values cannot be compared with the published ones, for nobody would seem to be there."""
    kind = next((column.kind for column in release.columns if column.name == name), domain.kind)
    if kind == "timestamp" == domain.kind:
        zoned = any(_ZONED.search(cell) for cell in cells_of(release.tables, name))
        if zoned != (getattr(domain.values.type, "tz", None) is not None):
            has, lacks = ("release", "external table") if zoned else ("external table", "release")
            raise InputError(
                f"column {name!r} has a time zone in the {has} and none in the {lacks}: read the external "
                "table with the same time zone as the published table, or without one if that has none"
            )
    texts_for_others = kind == "category" != domain.kind and not set(domain.texts) & cells_of(release.tables, name)
    if texts_for_others and (release.layout.exact or name in Declared.carried_by(release).unordered):
        raise InputError(
            f"column {name!r} contains texts in the release and values of the kind {domain.kind} in the "
            "external table: read the external table as the published table was read, with the same bins= or "
            "categorical="
        )


def _check_nodes(domain: Domain, nodes: Nodes, cells: set[str]) -> None:
    if domain.tree is not None:
        if domain.kind == "category":
            check_cells(domain.name, domain.tree, nodes.within if nodes.told else cells)
        return
    if nodes.told:
        unread = set(nodes.unexplained(domain.kind))
    elif any(cell.endswith(SUPPRESSED) and cell != SUPPRESSED for cell in cells):
        unread = set()  # a rule that explains itself
    elif domain.kind == "category":
        unread = {cell for cell in cells if bare(cell) not in domain.texts and cell != SUPPRESSED}
    else:
        unread = {cell for cell in cells if not _ON_A_LINE.match(cell) and cell != SUPPRESSED}
    if unread:
        raise nodes.refusal(min(unread))
