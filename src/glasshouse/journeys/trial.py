# SPDX-License-Identifier: Apache-2.0
"""Trial: a release that is made for internal inspection, person by person, and then discarded.

The true release is drawn with other random choices, so that nobody can choose among releases by what they show of a
person. A method or a parameter must not be chosen by a trial either: the choice would depend on sensitive values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse import catalog
from glasshouse.cells import MISSING, quoted
from glasshouse.engines import Memory
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.journeys.publish import journey
from glasshouse.plural import counted
from glasshouse.recoding.generalization import box_cells, node_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.randomness import Source
    from glasshouse.recoding.recoding import PeopleTable, Recoding
    from glasshouse.release import Release

__all__ = ["Cell", "Seen", "Trial", "draw_trial"]

_MOST_TOLD = 6  # values of a group that a cell lists


@dataclass(frozen=True, slots=True)
class Cell:
    """What is published in place of a value, or beside it.

    ``kind`` is ``same`` where it is the value itself, ``coarser`` where it stands for more, ``counted`` where only
    the values of a whole group are told, ``random`` where chance decides, and ``number`` for what was not in the table.
    """

    text: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What some people's rows are in one published table; None for people who are not published."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...] | None, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A release that is not to be published, and who is in which of its groups.

    Parameters
    ----------
    release
        What was drawn.
    table
        The microdata, as they were recoded.
    groups
        A label for everybody in the table, -1 for people who are left out.
    """

    release: Release
    table: Microdata
    groups: Groups

    def before(self, people: Sequence[int]) -> list[tuple[str, ...]]:
        """The values that some people have, quasi-identifiers first."""
        columns = [
            _texts(column, column.codes[list(people)]) for column in (*self.table.quasi, *self.table.sensitive)
        ]  # fmt: skip
        return list(zip(*columns, strict=True))

    def seen(self, people: Sequence[int], *, threads: int = 0) -> tuple[Seen, ...]:
        """What is published of some people, table by table, in the order of the release."""
        rows = np.asarray(people, np.int64)
        recoding: Recoding | None = catalog.chosen(catalog.RECODINGS, dict(self.release.recipe.recoding))
        assert recoding is not None
        divide = partial(Mondrian().divide, engine=Memory(threads=threads))
        found = {
            shown.name: self._of_people(shown, recoding, rows)
            for shown in recoding.of_people(self.table, self.groups, divide)
        } | self._counted(recoding, rows)
        return tuple(found[name] for name in self.release.tables)

    def _of_people(self, shown: PeopleTable, recoding: Recoding, rows: Any) -> Seen:
        """The rows of a table whose rows are people."""
        layout = recoding.layout
        cells: dict[str, list[Cell]] = {}
        for name in shown.quasi:
            cells[name] = _quasi_cells(self.table.column(name), shown.groups, recoding, rows)
        if layout.number is not None and shown.numbered:
            cells[layout.number] = [Cell(str(label + 1), "number") for label in self.groups.labels[rows].tolist()]
        if layout.size is not None:
            sizes = self.groups.sizes
            cells[layout.size] = [Cell(f"{sizes[label]:,}", "number") for label in self.groups.labels[rows].tolist()]
        if layout.counted is None:
            for column in self.table.sensitive:
                cells[column.name] = self._sensitive_cells(column, recoding, rows)
        return self._rows(shown.name, cells, rows)

    def _sensitive_cells(self, column: Column, recoding: Recoding, rows: Any) -> list[Cell]:
        """Sensitive values in the rows of people."""
        if recoding.layout.size is not None:
            return [Cell("the value of one person of the group, or a random value", "random")] * len(rows)
        if recoding.layout.number is not None:  # they changed places inside the group
            return [Cell(text, "counted") for text in self._contents(column, rows)]
        return [Cell(text, "same") for text in _texts(column, column.codes[rows])]

    def _counted(self, recoding: Recoding, rows: Any) -> dict[str, Seen]:
        """The tables that count sensitive values, group by group."""
        layout, found = recoding.layout, {}
        if layout.counted is None or layout.number is None:
            return {}
        for i, column in enumerate(self.table.sensitive, 1):
            name = layout.counted_table(i, len(self.table.sensitive))
            numbers = [Cell(str(label + 1), "number") for label in self.groups.labels[rows].tolist()]
            counts = [Cell(text, "counted") for text in self._contents(column, rows)]
            found[name] = self._rows(name, {layout.number: numbers, column.name: counts}, rows)
        return found

    def _contents(self, column: Column, rows: Any) -> list[str]:
        """The values of a column in the groups of some people, the most frequent values first."""
        offsets, codes, counts = self.groups.counts(column).histogram
        found = []
        for label in self.groups.labels[rows].tolist():
            own = slice(*offsets[label : label + 2].tolist()) if label >= 0 else slice(0)
            texts, often = _texts(column, codes[own]), counts[own].tolist()
            order = sorted(range(len(texts)), key=lambda i: (-often[i], texts[i]))
            told = [f"{texts[i]}: {often[i]:,}" for i in order[:_MOST_TOLD]]
            more = [counted(len(order) - _MOST_TOLD, "more value")] if len(order) > _MOST_TOLD else []
            found.append(", ".join([*told, *more]))
        return found

    def _rows(self, name: str, cells: Mapping[str, Sequence[Cell]], rows: Any) -> Seen:
        published = self.groups.labels[rows] >= 0
        made = zip(*cells.values(), strict=True)
        return Seen(
            name=name,
            columns=tuple(cells),
            rows=tuple(row if there else None for row, there in zip(made, published.tolist(), strict=True)),
        )


def draw_trial(
    table: Microdata,
    *,
    principle: Principle | str | Mapping[str, Any],
    method: Method | str | Mapping[str, Any] | None = None,
    recoding: Recoding | str | Mapping[str, Any] | None = None,
    suppress: Any = 0,
    carry: str = "cells",
    source: Source | None = None,
    threads: int = 0,
) -> Trial:
    """Make a release for inspection; nothing is written. Parameters as for `glasshouse.publish`.

    Examples
    --------
    >>> from glasshouse.microdata import examples
    >>> trial = draw_trial(examples.transparent_t1(), principle="2-diversity", recoding="boxes")
    >>> trial.before([0])
    [('21', '10000', 'dyspepsia')]
    >>> trial.seen([0])[0].name, [cell.kind for cell in trial.seen([0])[0].rows[0]][-1]
    ('data', 'same')
    """
    chosen: Recoding | None = catalog.chosen(catalog.RECODINGS, recoding)
    release, groups, _achieved = journey(
        table,
        catalog.chosen_principle(principle),
        catalog.chosen(catalog.METHODS, method),
        chosen,
        suppress,
        carry,
        source,
        threads,
    )
    return Trial(release=release, table=table if chosen is None else chosen.spelled(table), groups=groups)


def _quasi_cells(column: Column, groups: Groups, recoding: Recoding, rows: Any) -> list[Cell]:
    own = column.codes[rows]
    if recoding.shows_exact:
        return [Cell(text, "same") for text in _texts(column, own)]
    cells = (node_cells if recoding.shows_nodes else box_cells)(column, groups)
    values = column.domain.values.to_pylist()
    made = []
    for code, label in zip(own.tolist(), groups.labels[rows].tolist(), strict=True):
        text = cells.texts[cells.of_group[label]] if label >= 0 else ""
        own_text = quoted(values[code]) if code < len(values) else MISSING
        made.append(Cell(text, "same" if text == own_text else "coarser"))
    return made


def _texts(column: Column, codes: Any) -> list[str]:
    texts = column.domain.texts
    return [texts[code] if code < len(texts) else MISSING for code in codes.tolist()]
