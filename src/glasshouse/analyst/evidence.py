# SPDX-License-Identifier: Apache-2.0
"""Evidence: the tables of a release, ready to be asked how many of their tuples a condition covers.

What a question needs of a release: its cells as supports, one table of seats that knows all attributes of the question,
and the histograms of one sensitive column.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.clocks import Clock
from glasshouse.analyst.node_supports import node_supports
from glasshouse.analyst.supports import CellSupports
from glasshouse.declared import Declared, check_cells
from glasshouse.errors import InputError, NotSupported
from glasshouse.microdata.domains import text_of
from glasshouse.published import Published
from glasshouse.release.layout import TAXONOMIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.supports import Support
    from glasshouse.analyst.value_sets import ValueSet
    from glasshouse.microdata.taxonomy import Taxonomy
    from glasshouse.published import Seats
    from glasshouse.release import Release

__all__ = ["Evidence"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """A release as an analyst reads it.

    Parameters
    ----------
    release
        What was published.
    taxonomies, ordered
        Public knowledge that its cells refer to: the taxonomy whose nodes they are, the order of categories. What the
        release carries is known without.
    """

    release: Release
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    ordered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    _supports: dict[tuple[str, tuple[str, ...]], tuple[Support, ...]] = field(default_factory=dict, init=False)
    _published: dict[str, Published] = field(default_factory=dict, init=False)
    declared: Declared = field(init=False)

    def __post_init__(self) -> None:
        known = Declared.carried_by(self.release).completed(self.release, self.taxonomies, self.ordered)
        object.__setattr__(self, "declared", known)
        object.__setattr__(self, "taxonomies", known.taxonomies)
        object.__setattr__(self, "ordered", known.ordered)

    @property
    def kinds(self) -> dict[str, str]:
        """The columns that can be asked about, and the kinds of their values."""
        return {c.name: c.kind for c in self.release.columns if c.role in ("quasi-identifier", "sensitive")}

    @property
    def limits(self) -> dict[str, Mapping[str, str]]:
        """The bottom and top codes of columns that have some, as texts."""
        return {c.name: c.limits for c in self.release.columns if c.limits is not None}

    def published(self, column: str | None) -> Published:
        """What the release says of one sensitive column; of the first if none is asked about."""
        sensitive = self.release.recipe.sensitive
        name = column or (sensitive[0] if sensitive else "")
        if name not in self._published:
            self._published[name] = Published.of(self.release, name) if name else Published.without_values(self.release)
        return self._published[name]

    def sensitive_of(self, attributes: Sequence[str]) -> str | None:
        """The sensitive column among some attributes, if there is one; two are refused."""
        asked = [name for name in attributes if name in self.release.recipe.sensitive]
        if len(asked) > 1:
            raise NotSupported(
                f"a question about {asked[0]!r} and {asked[1]!r} together",
                instead="ask about one sensitive column at a time",
            )
        return asked[0] if asked else None

    def domain_of(self, published: Published) -> tuple[Any, ...]:
        """The sensitive values that a question may be about: those published; of a sample, those declared."""
        declared = self.release.recipe.recoding.get("domain") if published.kind == "sample" else None
        if declared is None:
            return published.values
        by_text = {text_of(value): value for value in published.values}
        reader = CellSupports(name=published.column, kind=self.kinds[published.column])
        return tuple(
            None if text is None else by_text.get(text_of(text), reader.value(text_of(text))) for text in declared
        )

    def seats(self, published: Published, attributes: Sequence[str]) -> Seats:
        """The table with all these attributes and the fewest others (ANGEL 5: irrelevant ones blur the answer)."""
        asked = {name for name in attributes if name != published.column}
        able = [seats for seats in published.seats if asked <= set(seats.quasi)]
        if not able:
            tables = "; ".join(", ".join(seats.quasi) for seats in published.seats)
            raise InputError(f"no generalized table has {', '.join(sorted(asked))} together: the release has {tables}")
        return min(able, key=lambda seats: len(seats.quasi))

    def supports(self, seats: Seats, attribute: str) -> tuple[Support, ...]:
        """What each different cell of an attribute stands for."""
        cells = seats.cells[seats.quasi.index(attribute)]
        if (attribute, cells) not in self._supports:
            reader = self._reader(attribute, seats)
            self._supports[attribute, cells] = self._read(reader, seats)
        return self._supports[attribute, cells]

    def clock(self, column: str) -> Clock:
        """By which clock the times of a column are shown."""
        if column in self.release.recipe.sensitive:
            moments = [value for value in self.domain_of(self.published(column)) if isinstance(value, dt.datetime)]
            return Clock(column, frozenset(moment.utcoffset() for moment in moments))
        offsets: set[dt.timedelta | None] = set()
        for seats in self.published(None).seats:
            if column in seats.quasi:
                offsets |= self._reader(column, seats).offsets
        return Clock(column, frozenset(offsets))

    def _reader(self, attribute: str, seats: Seats) -> CellSupports:
        return CellSupports(
            name=attribute,
            kind=self.kinds[attribute],
            order=self.ordered.get(attribute),
            taxonomy=self.taxonomies.get(attribute) if self._shows_nodes else None,
            cells=seats.cells[seats.quasi.index(attribute)],
            foreign=seats.foreign,
        )

    @property
    def is_exact(self) -> bool:
        """Whether cells are the values themselves."""
        return self.release.layout.exact

    @property
    def _shows_nodes(self) -> bool:
        recoding = self.release.recipe.recoding
        return TAXONOMIES.name in (recoding.get("name"), recoding.get("cells"))

    def _read(self, reader: CellSupports, seats: Seats) -> tuple[Support, ...]:
        cells = reader.cells
        if self.is_exact:
            return reader.of_all(seats)
        if reader.name in self.declared.nodes:
            return node_supports(reader, cells, self.declared.nodes[reader.name])
        if reader.taxonomy is not None and reader.kind == "category":
            check_cells(reader.name, reader.taxonomy, cells)
        if reader.name in self.declared.unordered and any(cell.startswith("[") for cell in cells):
            raise InputError(
                f"column {reader.name!r} has intervals in an order of its own, which the release does not carry: say "
                f"in which order its values are, with ordered={{{reader.name!r}: [...]}} or --order {reader.name}=A,B,C"
            )
        return reader.of_all(seats)

    def shares(self, seats: Seats, attribute: str, values: ValueSet) -> NDArray[np.float64]:
        """How likely a tuple of each seat has one of the values."""
        by_cell = np.array([support.share(values) for support in self.supports(seats, attribute)])
        shares: NDArray[np.float64] = by_cell[seats.of_seat[seats.quasi.index(attribute)]]
        return shares

    def moments(
        self, seats: Seats, attribute: str, values: ValueSet
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and mean square of the attribute in each seat, counted as 0 outside the values."""
        pairs = np.array([support.moments(values) for support in self.supports(seats, attribute)])
        found = pairs[seats.of_seat[seats.quasi.index(attribute)]]
        return found[:, 0], found[:, 1]
