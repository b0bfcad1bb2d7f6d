# SPDX-License-Identifier: Apache-2.0
"""What must hold of one table: which principle for which sensitive column, bound to that table.

Each sensitive column is protected by itself: its principle speaks of its own values in a group, and says nothing of
what two columns reveal together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, cast

import numpy as np

from glasshouse.errors import InputError, SchemaError
from glasshouse.principles.principle import Principle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Column, Domain
    from glasshouse.microdata.table import Microdata
    from glasshouse.principles.background_sensitive import BackgroundSensitive
    from glasshouse.principles.principle import Bound

__all__ = ["Part", "Requirement"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One principle for one column, bound; with no column, a principle that looks at sizes alone."""

    column: Column | None
    principle: Principle
    bound: Bound
    whole: Counts

    @property
    def _name(self) -> str | None:
        return None if self.column is None else self.column.name

    @property
    def _domain(self) -> Domain | None:
        return None if self.column is None else self.column.domain

    def check_eligible(self) -> None:
        """Raise `Infeasible` unless the whole table obeys."""
        self.principle.check_eligible(self.whole, column=self._name, domain=self._domain)

    def describe(self) -> str:
        """Say in one sentence what holds."""
        return self.principle.describe(self._name)


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """All that must hold in every group of a table; make one with `of`.

    Of a promise about beliefs the parts are what it asks of groups, and ``target`` is the promise itself.
    """

    parts: tuple[Part, ...]
    target: BackgroundSensitive | None = None

    @classmethod
    def of(cls, principle: Principle | Mapping[str, Principle], table: Microdata, *, bound: bool = True) -> Requirement:
        """Bind one principle to every sensitive column, or each column's own principle to it.

        Parameters
        ----------
        principle
            One principle for all sensitive columns, or a principle by column name; then every sensitive column must be
            named, for one without a principle would be published unprotected.
        table
            The microdata.
        bound
            Whether to bind the principles to the table; if not, groups cannot be judged.
        """
        columns = {column.name: column for column in table.sensitive}
        if isinstance(principle, Mapping):
            return cls(tuple(_part(p, columns[name], table, bound=bound) for name, p in _by_column(principle, columns)))
        if not isinstance(principle, Principle):
            raise InputError(f"a principle is needed, or a principle by column name, not {type(principle).__name__}")
        if principle.bounds_beliefs:
            return cls((_part(principle.grouping(), None, table, bound=bound),), cast("BackgroundSensitive", principle))
        if not principle.needs_sensitive:
            return cls((_part(principle, None, table, bound=bound),))
        if not columns:
            raise InputError(f"{principle.title} protects sensitive values: name a sensitive column")
        return cls(tuple(_part(principle, column, table, bound=bound) for column in columns.values()))

    @classmethod
    def in_words(cls, principle: Principle | Mapping[str, Principle], sensitive: Sequence[str]) -> Requirement:
        """What is asked of sensitive columns of these names, for what is said of it: it can judge no group.

        Parameters
        ----------
        principle
            As for `of`.
        sensitive
            The names of the sensitive columns.
        """
        return cls.of(principle, _described(sensitive), bound=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The sensitive columns whose values must be counted, in the order in which `holds` takes their counts."""
        return tuple(part.column for part in self.parts if part.column is not None)

    @property
    def frequency_ell(self) -> int | None:
        """The l, if frequency l-diversity of one sensitive column is asked for, and nothing else."""
        (first, *others) = self.parts
        return None if others or first.principle.named else first.principle.one_in

    @property
    def anonymity(self) -> int:
        """The largest k of k-anonymity that is asked for, alone or within a combination; 0 if none is."""
        return max(part.principle.anonymity for part in self.parts)

    @property
    def smallest_group(self) -> int | None:
        """How many tuples a group must have in any case, as far as the principles name it: their k or l."""
        named = (part.principle.smallest_group for part in self.parts)
        return max((size for size in named if size is not None), default=None)

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that obey obeys."""
        return all(part.bound.monotone for part in self.parts)

    def holds(self, counts: Sequence[Counts]) -> NDArray[np.bool_]:
        """Judge each group by its counts of each of `columns`; with no column, by one that counts anything."""
        return reduce(np.logical_and, (part.bound.holds(c) for part, c in zip(self.parts, counts, strict=True)))

    def first_ineligible(self) -> tuple[Column | None, Bound] | None:
        """Find the first column whose principle the whole table does not obey, with that principle, bound."""
        for part in self.parts:
            if not part.bound.holds(part.whole)[0]:
                return part.column, part.bound
        return None

    def check_eligible(self) -> None:
        """Raise `Infeasible` unless the whole table obeys."""
        for part in self.parts:
            part.check_eligible()

    def describe(self) -> str:
        """Say what holds, a clause for each column."""
        return "; ".join(part.describe() for part in self.parts)


def _by_column(principles: Mapping[str, Principle], columns: Mapping[str, Column]) -> list[tuple[str, Principle]]:
    """List the principles in the order of the columns, after a check that the two agree."""
    if not columns:
        raise InputError("principles were given by sensitive column, but the table has no sensitive column")
    for name, principle in principles.items():
        if name not in columns:
            raise SchemaError.unknown(name, list(columns), role="a sensitive column with a principle")
        if not isinstance(principle, Principle):
            raise InputError(f"a principle is needed for column {name!r}, not {type(principle).__name__}")
    for name in columns:
        if name not in principles:
            raise SchemaError(
                f"sensitive column {name!r} has no principle and would go unprotected: name one, or leave it out",
                column=name,
            )
    return [(name, principles[name]) for name in columns]


def _described(sensitive: Sequence[str]) -> Microdata:
    """A table of nobody with these sensitive columns."""
    import pyarrow as pa

    from glasshouse.microdata.domains import Column, Domain
    from glasshouse.microdata.table import Microdata

    nothing, nobody = pa.array([], pa.string()), np.empty(0, np.int32)
    domains = [Domain(name=name, kind="category", values=nothing, ordered=False) for name in sensitive]
    return Microdata(
        quasi=(), sensitive=tuple(Column(domain, nobody) for domain in domains), identifier=None, n_tuples=0
    )


def _part(principle: Principle, column: Column | None, table: Microdata, *, bound: bool) -> Part:
    from glasshouse.microdata.counts import Counts  # here, for that room loads pyarrow

    codes = np.zeros(table.n_tuples, np.int32) if column is None else column.codes
    whole = Counts(codes, np.array([0, table.n_tuples]), 1 if column is None else column.domain.size)
    judge = principle.bind(whole, None if column is None else column.domain) if bound else principle
    return Part(column, principle, judge, whole)
