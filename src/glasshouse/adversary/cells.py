# SPDX-License-Identifier: Apache-2.0
"""Reading cells: which values of an attribute a published cell stands for.

The grammar is that of `glasshouse.microdata.cells`, and beside it what other tools write: half-open intervals
``[20, 40)``, ranges ``20-40``, sets ``{a,b}``, ``a|b`` or ``a,b``, prefixes ``476**``, and ``*`` for anything.
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.microdata.cells import MISSING, OR_MISSING, SUPPRESSED, members, unquoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.microdata.domains import Domain

__all__ = ["CellReader"]

_BRACKETS = re.compile(r"^([\[(])(.*?),(.*)([\])])$", re.DOTALL)
_RANGE = re.compile(r"^(-?[0-9][^\s]*?)\s*(?:-|\.\.|to)\s*(-?[0-9].*)$")


@dataclass(eq=False)
class CellReader:
    """Reads the cells of one attribute, against the values that the adversary knows of.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from glasshouse.microdata.domains import code
    >>> ages = CellReader(code(pa.array([21, 35, 40, 60]), name="age").domain)
    >>> ages.codes("[21, 40]").tolist(), ages.codes("[21, 40)").tolist(), ages.codes("*").tolist()
    ([0, 1, 2], [0, 1], [0, 1, 2, 3])
    >>> sexes = CellReader(code(pa.array(["F", "M"]), name="sex").domain)
    >>> sexes.codes("{F, M}").tolist(), sexes.codes("M").tolist(), sexes.codes("X").tolist()
    ([0, 1], [1], [])
    """

    domain: Domain

    def codes(self, cell: str) -> NDArray[np.int32]:
        """The codes of the values that the cell stands for, ascending; empty if she knows of none."""
        return _array(self.covered(cell))

    def covered(self, cell: str) -> range | NDArray[np.int32]:
        """The same, and a range where they follow on each other: a wide interval takes no more room than a narrow one.

        What is known of the attribute as a whole is looked up, never gone through again for every cell.
        """
        if cell == MISSING:
            return self._missing()
        if cell.endswith(OR_MISSING):
            return np.concatenate([_array(self.covered(cell.removesuffix(OR_MISSING))), self._missing()])
        for rule in (self._node, self._value, self._anything, self._interval, self._set, self._range, self._prefix):
            found = rule(cell)
            if found is not None:
                return found
        return range(0)

    def _missing(self) -> NDArray[np.int32]:
        return np.array([self.domain.missing_code] if self.domain.missing else [], np.int32)

    def _node(self, cell: str) -> range | None:
        """A node of the attribute's taxonomy, by its label."""
        return self._nodes.get(cell)

    @cached_property
    def _nodes(self) -> dict[str, range]:
        tree = self.domain.taxonomy
        if tree is None:
            return {}
        return {
            label: range(first, last + 1)
            for label, (first, last) in zip(tree.labels, tree.ranges.tolist(), strict=True)
        }

    def _value(self, cell: str) -> range | None:
        """One value, by its text."""
        place = self._places.get(unquoted(cell))
        return None if place is None else range(place, place + 1)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: i for i, text in enumerate(self.domain.texts)}

    def _anything(self, cell: str) -> range | None:
        return range(self.domain.size) if cell.strip() in (SUPPRESSED, "") else None

    def _interval(self, cell: str) -> range | None:
        match = _BRACKETS.match(cell.strip())
        if match is None:
            return None
        opening, low, high, closing = match.groups()
        return self._between(low, high, closed=(opening == "[", closing == "]"))

    def _range(self, cell: str) -> range | None:
        match = _RANGE.match(cell.strip())
        return None if match is None else self._between(*match.groups(), closed=(True, True))

    def _between(self, low: str, high: str, *, closed: tuple[bool, bool]) -> range | None:
        """Everything from one value to another, in the order of the values or in the declared one."""
        ends = [self._places.get(unquoted(text.strip())) for text in (low, high)]
        if None not in ends:  # both are known: also a declared order of categories knows what lies between
            start, stop = ends[0] + (not closed[0]), ends[1] + closed[1]  # type: ignore[operator]
            return range(start, max(start, stop))
        if self._line is None:
            return None
        read, keys = self._line
        try:
            first, last = read(low.strip()), read(high.strip())
        except (ValueError, InvalidOperation):
            return None
        start = bisect_left(keys, first) if closed[0] else bisect_right(keys, first)
        stop = bisect_right(keys, last) if closed[1] else bisect_left(keys, last)
        return range(start, max(start, stop))

    @cached_property
    def _line(self) -> tuple[Callable[[str], Any], list[Any]] | None:
        """How the end of an interval is read, and the values to compare it with; nothing for other categories."""
        values = self.domain.values.to_pylist()
        read = _number_or_date(values[0] if values else None)
        if read is None:
            return None
        try:
            return read, [read(str(value)) if not isinstance(value, dt.date) else value for value in values]
        except (ValueError, InvalidOperation):
            return None

    def _set(self, cell: str) -> NDArray[np.int32] | None:
        text = cell.strip()
        if text.startswith("{") and text.endswith("}"):
            parts = members(text[1:-1])
        elif "|" in text:
            parts = [unquoted(part.strip()) for part in text.split("|")]
        elif "," in text and not set(text) & set("[()]"):
            parts = members(text)
        else:
            return None
        known = [self._places.get(part) for part in parts]
        return np.array(sorted(place for place in known if place is not None), np.int32)

    def _prefix(self, cell: str) -> NDArray[np.int32] | None:
        """A prefix with its other characters starred out, as for zip codes."""
        start = cell.rstrip(SUPPRESSED)
        if start == cell:
            return None
        texts, places = self._sorted_texts
        found = []
        for i in range(bisect_left(texts, start), len(texts)):
            if not texts[i].startswith(start):
                break
            if len(texts[i]) == len(cell):
                found.append(places[i])
        return np.array(sorted(found), np.int32)

    @cached_property
    def _sorted_texts(self) -> tuple[list[str], list[int]]:
        """The values' texts in alphabetic order, so that those which begin alike lie together; and their codes."""
        order = sorted(range(len(self.domain.texts)), key=self.domain.texts.__getitem__)
        return [self.domain.texts[i] for i in order], order


def _array(codes: range | NDArray[np.int32]) -> NDArray[np.int32]:
    return np.arange(codes.start, codes.stop, dtype=np.int32) if isinstance(codes, range) else codes


def _number_or_date(example: Any) -> Callable[[str], Any] | None:
    """How to read the ends of an interval, by a value of the attribute."""
    if isinstance(example, dt.datetime):
        return dt.datetime.fromisoformat
    if isinstance(example, dt.date):
        return dt.date.fromisoformat
    if isinstance(example, int | float | Decimal) and not isinstance(example, bool):
        return Decimal
    return None
