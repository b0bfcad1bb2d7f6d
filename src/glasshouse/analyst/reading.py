# SPDX-License-Identifier: Apache-2.0
"""Reading: which published table answers for some attributes, and what its cells stand for there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.axes import Axis
from glasshouse.analyst.evidence import Evidence
from glasshouse.errors import InputError, SchemaError
from glasshouse.published import Published
from glasshouse.release.layout import ANGEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy import Taxonomy
    from glasshouse.published import Seats
    from glasshouse.release import Release

__all__ = ["Reading", "seats_of"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """A release, read for some of its attributes.

    Attributes
    ----------
    evidence
        The release, with public knowledge that its cells refer to.
    attributes, column
        What is asked for, and the sensitive column among it, if there is one.
    published, seats
        The histograms of groups, and the table with all the attributes and the fewest others.
    axes
        The quasi-identifiers among the attributes, in their order.
    """

    evidence: Evidence
    attributes: tuple[str, ...]
    column: str | None
    published: Published
    seats: Seats
    axes: tuple[Axis, ...]

    @classmethod
    def of(
        cls,
        release: Release,
        attributes: Sequence[str] | None,
        *,
        taxonomies: Mapping[str, Taxonomy] | None,
        ordered: Mapping[str, Sequence[Any]] | None,
        points: Mapping[str, Sequence[Any]] | None = None,
    ) -> Reading:
        """Read a release; without attributes, for those of the table with the most of them."""
        evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
        asked = _asked(evidence, attributes)
        column = evidence.sensitive_of(asked)
        published, seats = seats_of(evidence, asked)
        axes = tuple(
            Axis.of(name, evidence.kinds[name], evidence.supports(seats, name), (points or {}).get(name))
            for name in asked
            if name != column
        )
        return cls(
            evidence=evidence, attributes=tuple(asked), column=column, published=published, seats=seats, axes=axes
        )

    def cells(self, axis: Axis) -> NDArray[np.int32]:
        """Which cell of an attribute every seat shows."""
        return self.seats.of_seat[self.seats.quasi.index(axis.name)]


def seats_of(evidence: Evidence, attributes: Sequence[str]) -> tuple[Published, Seats]:
    """The table that knows all these attributes and the fewest others, with the histograms of its groups.

    Where no sensitive column is asked for, ANGEL's tables without batch numbers serve too.
    """
    release, column = evidence.release, evidence.sensitive_of(attributes)
    if column is not None or release.layout is not ANGEL:
        published = evidence.published(column)
        return published, evidence.seats(published, attributes)
    found = []
    for name, table in release.tables.items():
        quasi = tuple(q for q in release.recipe.quasi if q in table.column_names)
        if quasi and set(attributes) <= set(quasi):
            found.append((len(quasi), name, quasi))
    if not found:
        raise InputError(f"no generalized table has {', '.join(attributes)} together")
    _, name, quasi = min(found, key=lambda candidate: candidate[0])
    alone = replace(release, tables={name: release.tables[name]}, recipe=replace(release.recipe, quasi=quasi))
    published = Published.without_values(alone)
    return published, published.seats[0]


def _asked(evidence: Evidence, attributes: Sequence[str] | None) -> list[str]:
    recipe = evidence.release.recipe
    known = [*recipe.quasi, *recipe.sensitive]
    if attributes is None:
        column = recipe.sensitive[0] if len(recipe.sensitive) == 1 else None
        widest = max(evidence.published(column).seats, key=lambda seats: len(seats.quasi))
        return [*widest.quasi, *([column] if column else [])]
    for name in attributes:
        if name not in known:
            raise SchemaError.unknown(name, known, role="an attribute of the distribution")
    if not attributes or len(set(attributes)) < len(attributes):
        raise InputError("name one attribute or more, each once")
    return list(attributes)
