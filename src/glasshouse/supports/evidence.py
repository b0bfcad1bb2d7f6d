# SPDX-License-Identifier: Apache-2.0
"""Evidence: the tables of a release, prepared for counting how many records satisfy a condition.

What a question needs of a release: its cells as supports, one table of seats that knows all attributes of the question,
and the histograms of one sensitive column, or of several that are side by side in the rows of the release. A `Reading`
has all of it, for some attributes.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.cells.compound import part_values
from glasshouse.cells.ranges import ranges_in, ranges_of_cells, without_gaps
from glasshouse.cells.values import NotAValue
from glasshouse.declarations import Declared, check_cells
from glasshouse.errors import DomainError, InputError, NotSupported, SchemaError
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.set_members import members_of_texts
from glasshouse.plural import counted
from glasshouse.recoding.columns import cells_of
from glasshouse.release.contents import Published
from glasshouse.release.layout import ANGEL, TAXONOMIES
from glasshouse.release.release import given_release
from glasshouse.supports.axes import Axis, node_supports
from glasshouse.supports.supports import CellSupports
from glasshouse.supports.value_sets import Clock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.cells.compound import Part
    from glasshouse.cells.ranges import Range
    from glasshouse.microdata.set_members import Members
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import PublishedColumn, Release
    from glasshouse.release.contents import Seats
    from glasshouse.supports.supports import Support
    from glasshouse.supports.value_sets import ValueSet

__all__ = ["Evidence", "Reading", "Weight", "seats_of"]


@dataclass(frozen=True, eq=False)
class Weight:
    """The survey weight of a release, whose values are the means of classes."""

    name: str
    deviations: Mapping[float, float]  # by how much weights differ from the mean of their class, by the mean

    @classmethod
    def of(cls, column: PublishedColumn) -> Weight:
        """Read the description of the column."""
        told = column.weight or {}
        return cls(column.name, dict(zip(map(float, told["means"]), map(float, told["deviations"]), strict=True)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """A release as an analyst reads it."""

    release: Release  # what was published
    # public knowledge that its cells refer to: the taxonomy whose nodes they are, the order of categories. What the
    # release carries is known without
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    ordered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    # of cells of which nobody knows which values exist, the least (0) or the largest (1) share that a set of values may
    # have; if None, a set that is part of such a cell is refused
    extreme: int | None = None
    divided: frozenset[str] = frozenset()  # the columns of these cells, of which a question asks for some texts
    _supports: dict[tuple[str, tuple[str, ...]], tuple[Support, ...]] = field(default_factory=dict, init=False)
    _published: dict[str, Published] = field(default_factory=dict, init=False)
    _several: dict[tuple[str, ...], Published] = field(default_factory=dict, init=False)
    _untied: dict[str, Published] = field(default_factory=dict, init=False)
    _ranges: dict[str, tuple[Range | None, ...]] = field(default_factory=dict, init=False)
    _ends: dict[str, tuple[str, int]] = field(default_factory=dict, init=False)  # columns and ends, by their names
    declared: Declared = field(init=False)

    def __post_init__(self) -> None:
        known = Declared.carried_by(given_release(self.release)).completed(self.release, self.taxonomies, self.ordered)
        for name in known.unordered:
            ranges = ranges_of_cells(cells_of(self.release.tables, name))
            if ranges:  # their order is that of the numbers in them
                known = known.completed(self.release, ordered={name: without_gaps(ranges)})
        object.__setattr__(self, "declared", known)
        object.__setattr__(self, "taxonomies", known.taxonomies)
        object.__setattr__(self, "ordered", known.ordered)

    @property
    def kinds(self) -> dict[str, str]:
        """The columns that can be asked about, and the kinds of their values; of sets, of the values in them."""
        asked = [c for c in self.release.columns if c.role in ("quasi-identifier", "sensitive")]
        return {c.name: "category" if c.name in self.release.sets else c.kind for c in asked}

    def members(self, column: str) -> Members | None:
        """The single values in the published sets of a column; None for a column without sets."""
        if column not in self.release.sets:
            return None
        return members_of_texts(column, self.published(column).values)

    @cached_property
    def parts(self) -> dict[str, tuple[str, int, tuple[Part, ...]]]:
        """The columns that are parts of compound ones: by name the compound column, the place in it, and all parts."""
        return {
            part.name: (column.name, place, column.parts)
            for column in self.release.columns
            for place, part in enumerate(column.parts or ())
            if column.parts is not None
        }

    @cached_property
    def asked_kinds(self) -> dict[str, str]:
        """The columns of `kinds` with the parts of compound columns, which can be asked about as well."""
        return {**self.kinds, **{name: parts[place].kind for name, (_, place, parts) in self.parts.items()}}

    def home_of(self, name: str) -> str:
        """The published column that contains a column: the compound column of which it is a part, else itself."""
        name = self._ends[name][0] if name in self._ends else name
        return self.parts[name][0] if name in self.parts else name

    def ranges_of(self, name: str) -> tuple[Range | None, ...]:
        """The ranges that the values of a sensitive column are, in their order; nothing if some are none."""
        if name not in self._ranges:
            able = self.asked_kinds[name] == "category" and name not in self.release.sets
            sensitive = self.home_of(name) in self.release.recipe.sensitive
            self._ranges[name] = ranges_in(self.sensitive_values(name)) if able and sensitive else ()
        return self._ranges[name]

    def labelled_ranges(self, name: str) -> dict[str, Range]:
        """The ranges of a column in their order, by its published values; nothing if some values are none."""
        if self.home_of(name) in self.release.recipe.sensitive:
            ranges = self.ranges_of(name)
            labels = self.sensitive_values(name) if ranges else ()
        else:
            labels = tuple(self.ordered.get(name, ()))
            ranges = ranges_in(labels)
            labels = labels if ranges else ()
        found = {label: one for label, one in zip(labels, ranges, strict=True) if one is not None}
        return dict(sorted(found.items(), key=lambda pair: pair[1].place))

    def order_of(self, name: str) -> tuple[str, ...] | None:
        """The texts of a column in the order that was declared for them; None if there is none, or it is not known."""
        if name in self.release.sets:
            return None
        if name in self.ordered:
            return tuple(map(text_of, self.ordered[name]))
        axis = next((column.axis for column in self.release.columns if column.name == name), None)
        return None if axis is None or "heights" in axis else tuple(axis["order"])

    def ends_of(self, name: str) -> tuple[str, str]:
        """The names of two more columns: the lower and the upper ends of the ranges of a column of numbers."""
        found = []
        for end, which in enumerate(("lower", "upper")):
            own = f"{which} end of {name}"
            while own in self.asked_kinds:
                own += "'"
            self._ends[own] = name, end
            found.append(own)
        return found[0], found[1]

    def sensitive_values(self, name: str) -> tuple[Any, ...]:
        """The values that a sensitive column, a part of one or an end of its ranges has for each published value."""
        if name in self._ends:
            column, end = self._ends[name]
            return tuple(None if one is None else one.ends[end] for one in self.ranges_of(column))
        values = self.domain_of(self.published(self.home_of(name)))
        if name not in self.parts:
            return values
        column, place, parts = self.parts[name]
        try:
            return tuple(part_values(text_of(value), parts)[place] for value in values)
        except NotAValue as reason:
            raise DomainError(f"column {column!r} has a value that cannot be read: {reason}", column=column) from None

    @property
    def limits(self) -> dict[str, Mapping[str, str]]:
        """The bottom and top codes of columns that have some, as texts."""
        return {c.name: c.limits for c in self.release.columns if c.limits is not None}

    @cached_property
    def weight(self) -> Weight | None:
        """The survey weight, if the release has one."""
        return None if (column := self.release.weight) is None else Weight.of(column)

    @property
    def _means(self) -> dict[str, tuple[float, ...]]:
        """The only values that a weight has: an interval stands for those of them that lie in it."""
        return {} if self.weight is None else {self.weight.name: tuple(self.weight.deviations)}

    def published(self, column: str | None) -> Published:
        """What the release says of one sensitive column; of the first if none is asked about."""
        sensitive = self.release.recipe.sensitive
        name = column or (sensitive[0] if sensitive else "")
        if name not in self._published:
            self._published[name] = Published.of(self.release, name) if name else Published.without_values(self.release)
        return self._published[name]

    def published_together(self, columns: tuple[str, ...]) -> Published:
        """What the release says of some sensitive columns, which are side by side if there are several."""
        if len(columns) < 2:
            return self.published(columns[0] if columns else None)
        if columns not in self._several:
            self._several[columns] = Published.of_several(self.release, columns)
        return self._several[columns]

    def untied(self, name: str, quasi: tuple[str, ...]) -> Published:
        """What one of the tables says of quasi-identifiers alone."""
        if name not in self._untied:
            recipe = replace(self.release.recipe, quasi=quasi)
            alone = replace(self.release, tables={name: self.release.tables[name]}, recipe=recipe)
            self._untied[name] = Published.without_values(alone)
        return self._untied[name]

    def sensitive_of(self, attributes: Sequence[str]) -> tuple[str, ...]:
        """The sensitive columns among some attributes; several are refused that the release publishes apart.

        They are in the order of the release, so that equal questions are answered by one model.
        """
        asked = self.all_sensitive_of(attributes)
        if len(asked) > 1 and not self.release.layout.side_by_side:
            raise NotSupported(
                f"{asked[0]!r} and {asked[1]!r} are published separately, so the release does not show "
                "how often their values occur together",
                instead="ask about one sensitive column at a time, or publish them together",
            )
        return tuple(name for name in self.release.recipe.sensitive if name in asked)

    def all_sensitive_of(self, attributes: Sequence[str]) -> list[str]:
        """The sensitive columns among some attributes, or of which some of these are parts."""
        homes = dict.fromkeys(map(self.home_of, attributes))
        return [name for name in homes if name in self.release.recipe.sensitive]

    def domain_of(self, published: Published) -> tuple[Any, ...]:
        """The sensitive values that a question may name: the published ones; for a sample, the declared ones."""
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
        asked = {name for name in attributes if self.home_of(name) not in published.columns}
        able = [seats for seats in published.seats if asked <= set(seats.quasi)]
        if not able:
            published.refuse_untied()
            tables = "; ".join(", ".join(seats.quasi) for seats in published.seats)
            raise InputError(
                f"no table of the release links all of the columns {', '.join(sorted(asked))} to {published.column}: "
                f"ask only about columns that one table links to it (the tables have: {tables})"
            )
        return min(able, key=lambda seats: len(seats.quasi))

    def supports(self, seats: Seats, attribute: str) -> tuple[Support, ...]:
        """What each different cell of an attribute stands for."""
        cells = seats.cells[seats.quasi.index(attribute)]
        if (attribute, cells) not in self._supports:
            reader = self._reader(attribute, seats)
            self._supports[attribute, cells] = self._read(reader, seats)
        return self._supports[attribute, cells]

    def clock(self, column: str) -> Clock:
        """The clock by which the times of a column are shown."""
        ends = [end for one in self.labelled_ranges(column).values() for end in (one.low, one.high)]
        if moments := [end for end in ends if isinstance(end, dt.datetime)]:
            return Clock(column, frozenset(moment.utcoffset() for moment in moments))
        if self.home_of(column) in self.release.recipe.sensitive:
            moments = [value for value in self.sensitive_values(column) if isinstance(value, dt.datetime)]
            return Clock(column, frozenset(moment.utcoffset() for moment in moments))
        offsets: set[dt.timedelta | None] = set()
        for seats in self.published(None).seats:
            if column in seats.quasi:
                offsets |= self._reader(column, seats).offsets
        return Clock(column, frozenset(offsets))

    def _reader(self, attribute: str, seats: Seats) -> CellSupports:
        recoding = self.release.recipe.recoding
        shows_nodes = TAXONOMIES.name in (recoding.get("name"), recoding.get("cells"))
        return CellSupports(
            name=attribute,
            kind=self.kinds[attribute],
            order=self._means.get(attribute, self.ordered.get(attribute)),
            taxonomy=self.taxonomies.get(attribute) if shows_nodes else None,
            cells=seats.cells[seats.quasi.index(attribute)],
            foreign=seats.foreign,
        )

    @property
    def is_exact(self) -> bool:
        """Whether cells are exact values."""
        return self.release.layout.exact

    def _read(self, reader: CellSupports, seats: Seats) -> tuple[Support, ...]:
        cells = reader.cells
        if self.is_exact:
            return reader.of_all(seats)
        nodes = self.declared.nodes.get(reader.name)
        if nodes is not None and (not nodes.told or nodes.unexplained(reader.kind)):
            return node_supports(reader, cells, nodes)
        if reader.taxonomy is not None and reader.kind == "category":
            check_cells(reader.name, reader.taxonomy, cells)
        if reader.name in self.declared.unordered and any(cell.startswith("[") for cell in cells):
            raise self.without_order(reader.name)
        return reader.of_all(seats)

    def without_order(self, name: str) -> InputError:
        """The error if the order of a column is needed, which the release does not contain."""
        return InputError(
            f"the values of column {name!r} have an order that was declared by the publisher and is not in the "
            f"release: give the order, with ordered={{{name!r}: [...]}}"
        )

    def shares(self, seats: Seats, attribute: str, values: ValueSet) -> NDArray[np.float64]:
        """How likely a record of each seat has one of the values."""
        supports = self.supports(seats, attribute)
        if self.extreme is None:
            by_cell = np.array([support.share(values) for support in supports])
        else:
            by_cell = np.array([support.extremes(values)[self.extreme] for support in supports])
        shares: NDArray[np.float64] = by_cell[seats.of_seat[seats.quasi.index(attribute)]]
        return shares

    def spreads(self, seats: Seats, weight: Weight, values: ValueSet) -> NDArray[np.float64]:
        """The mean square of what the weights of a seat differ by from their class means, 0 outside the values."""
        by_cell = []
        for support in self.supports(seats, weight.name):
            listed = support.listed() or ()
            squares = [weight.deviations.get(own, 0.0) ** 2 for own in listed if own in values]
            by_cell.append(sum(squares) / max(len(listed), 1))
        spreads: NDArray[np.float64] = np.array(by_cell)[seats.of_seat[seats.quasi.index(weight.name)]]
        return spreads

    def moments(
        self, seats: Seats, attribute: str, values: ValueSet
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and mean square of the attribute in each seat, counted as 0 outside the values."""
        pairs = np.array([support.moments(values) for support in self.supports(seats, attribute)])
        found = pairs[seats.of_seat[seats.quasi.index(attribute)]]
        return found[:, 0], found[:, 1]


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """A release, read for some of its attributes."""

    evidence: Evidence  # the release, with public knowledge that its cells refer to
    attributes: tuple[str, ...]  # what is asked for
    columns: tuple[str, ...]  # the sensitive ones among these
    published: Published  # the histograms of groups
    seats: Seats  # the table with all the attributes and the fewest others
    axes: tuple[Axis, ...]  # the quasi-identifiers among the attributes, in their order

    @classmethod
    def of(
        cls,
        release: Release,
        attributes: Sequence[str] | None,
        *,
        taxonomies: Mapping[str, Taxonomy] | None,
        ordered: Mapping[str, Sequence[Any]] | None,
        points: Mapping[str, Sequence[Any]] | None = None,
        several: bool = False,
    ) -> Reading:
        """Read a release; without attributes, for those of the table with the most of them.

        Several sensitive columns that are side by side are refused unless the reader can take ``several``.
        """
        evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
        asked = _asked(evidence, attributes, several=several)
        columns = evidence.sensitive_of(asked)
        if len(columns) > 1 and not several:
            raise NotSupported(
                f"a distribution over {counted(len(columns), 'sensitive column')} is not supported",
                instead="name one of them, or count their values together with query and GROUP BY",
            )
        published, seats = seats_of(evidence, asked)
        axes = tuple(
            Axis.of(name, evidence.kinds[name], evidence.supports(seats, name), (points or {}).get(name))
            for name in asked
            if name not in columns
        )
        return cls(
            evidence=evidence, attributes=tuple(asked), columns=columns, published=published, seats=seats, axes=axes
        )

    def cells(self, axis: Axis) -> NDArray[np.int32]:
        """Which cell of an attribute every seat shows."""
        return self.seats.of_seat[self.seats.quasi.index(axis.name)]


def seats_of(evidence: Evidence, attributes: Sequence[str]) -> tuple[Published, Seats]:
    """The table that knows all these attributes and the fewest others, with the histograms of its groups.

    Where no sensitive column is asked for, ANGEL's tables without batch numbers serve too.
    """
    release, columns = evidence.release, evidence.sensitive_of(attributes)
    if columns or release.layout is not ANGEL:
        published = evidence.published_together(columns)
        return published, evidence.seats(published, attributes)
    found = []
    for name, table in release.tables.items():
        quasi = tuple(q for q in release.recipe.quasi if q in table.column_names)
        if quasi and set(attributes) <= set(quasi):
            found.append((len(quasi), name, quasi))
    if not found:
        shown = {name for table in release.tables.values() for name in table.column_names}
        nowhere = next((name for name in attributes if name not in shown), None)
        if nowhere is not None:
            raise InputError(f"no table of the release contains the column {nowhere!r}: ask without it")
        raise InputError(f"no table of the release has all of the columns {', '.join(attributes)}: name fewer of them")
    _, name, quasi = min(found, key=lambda candidate: candidate[0])
    published = evidence.untied(name, quasi)
    return published, published.seats[0]


def _asked(evidence: Evidence, attributes: Sequence[str] | None, *, several: bool) -> list[str]:
    recipe = evidence.release.recipe
    known = [*recipe.quasi, *recipe.sensitive]
    if attributes is None:
        all_of_them = several and evidence.release.layout.side_by_side
        columns = recipe.sensitive if len(recipe.sensitive) == 1 or all_of_them else ()
        return [*evidence.published_together(columns).widest.quasi, *columns]
    for name in attributes:
        if name not in known:
            raise SchemaError.unknown(name, known, role="an attribute of the distribution")
    if not attributes or len(set(attributes)) < len(attributes):
        raise InputError("name at least one attribute, and each attribute only once")
    return list(attributes)
