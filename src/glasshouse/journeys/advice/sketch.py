# SPDX-License-Identifier: Apache-2.0
"""A sketch of a table: how many people have each sensitive value, and what columns are called.

That is enough to say what can be promised, and by which way, before anything is published. It has no row of the table,
and of quasi-identifiers it knows their names and whether they have a taxonomy. It stays inside.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import DisclosureWarning, Infeasible
from glasshouse.grouping.suppression import keep_eligible
from glasshouse.journeys.plan import plan_of, spelled
from glasshouse.microdata.domains import Column
from glasshouse.microdata.kinds import Kinds, kinds_of
from glasshouse.principles.all_of import AllOf
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.journeys.plan import Plan
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle

__all__ = ["Sketch", "SketchedPlan"]

_ALMOST_ALL = "0.999999999"
_DRAWS = 5  # of the people to leave out, where their number depends on the draw


@dataclass(frozen=True, kw_only=True, eq=False)
class SketchedPlan:
    """A plan of a release, and the warnings that publishing by it would give."""

    plan: Plan
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sketch:
    """The numbers of a table on which guarantees depend.

    Parameters
    ----------
    kinds
        How many people have each combination of sensitive values; all of them have the same quasi-identifiers here.
    identified
        Whether an identifier was declared.
    """

    kinds: Kinds
    identified: bool

    @classmethod
    def of(cls, table: Microdata) -> Sketch:
        """Sketch a table.

        >>> import glasshouse as gh
        >>> sketch = Sketch.of(gh.synthetic.hospital(500, seed=1))
        >>> sketch.n_people, sketch.sensitive, sketch.quasi
        (500, ['disease'], ['age', 'sex', 'zipcode'])
        """
        kinds, _ = kinds_of(_without_quasi(table))
        return cls(kinds=kinds, identified=table.identifier is not None)

    @classmethod
    def of_kinds(cls, kinds: Kinds) -> Sketch:
        """Sketch a table of which the kinds of people were counted."""
        found, _ = kinds_of(_without_quasi(kinds.table), kinds.counts)
        return cls(kinds=found, identified=False)

    @property
    def n_people(self) -> int:
        """How many people the table has."""
        return self.kinds.n_people

    @property
    def quasi(self) -> list[str]:
        """The names of quasi-identifiers."""
        return [column.name for column in self.kinds.table.quasi]

    @property
    def sensitive(self) -> list[str]:
        """The names of sensitive columns."""
        return [column.name for column in self.kinds.table.sensitive]

    def only(self, *numbers: int) -> Sketch:
        """The same people with these sensitive columns alone."""
        table = replace(self.kinds.table, sensitive=tuple(self.kinds.table.sensitive[i] for i in numbers))
        found, _ = kinds_of(table, self.kinds.counts)
        return Sketch(kinds=found, identified=self.identified)

    def values(self, number: int = 0) -> list[tuple[Any, int]]:
        """The values of a sensitive column, and how many people have each, the most frequent first; None is missing.

        Where people have sets of values, these are single values, of which principles speak.

        >>> import glasshouse as gh
        >>> Sketch.of(gh.synthetic.hospital(500, seed=1)).values()[0]
        ('influenza', 56)
        """
        column = self.kinds.table.sensitive[number]
        counts = np.bincount(column.codes, self.kinds.counts, minlength=column.domain.size).astype(np.int64)
        if column.domain.members is not None:
            owner, single = column.domain.members.values_of(np.arange(len(counts)))
            counts = np.bincount(single, counts[owner], minlength=column.domain.singles.size).astype(np.int64)
        order = np.argsort(-counts, kind="stable").astype(np.int32)
        shown = column.domain.singles.decode(order).to_pylist()
        return [(value, int(counts[code])) for value, code in zip(shown, order, strict=True) if counts[code]]

    def requirement(self, principle: Principle) -> Requirement:
        """What a principle requires of this table's groups."""
        return Requirement.in_groups(principle, self.kinds.table, counts=self.kinds.counts)

    def feasible(self, principle: Principle) -> Principle | None:
        """The principle itself, or the strictest of its kind that the table can satisfy; None if there is none."""
        for _ in self.kinds.table.sensitive or (None,):
            broken = [part for part in self.requirement(principle).parts if not part.is_eligible]
            if not broken:
                return principle
            part = broken[0]
            singles = part.principle.singles()
            near = [
                one if one.eligible(part.whole, part.domain) else one.feasible(part.whole, part.domain)
                for one in singles
            ]
            possible = [one for one in near if one is not None]
            if len(possible) < len(singles):
                return None
            principle = possible[0] if len(possible) == 1 else AllOf(principles=possible)
        return principle if self.requirement(principle).first_ineligible() is None else None

    def obstacle(self, principle: Principle) -> Infeasible | None:
        """Why the table cannot satisfy a principle, with the value that is too frequent; None if it can."""
        try:
            self.requirement(principle).check_eligible()
        except Infeasible as error:
            return error
        return None

    def is_constant(self, number: int = 0) -> bool:
        """Whether everybody has the same value of a sensitive column, so that no method can hide it."""
        return len(self.values(number)) == 1

    def n_left_out(self, principle: Principle) -> int | None:
        """How many people must be left out so that the others satisfy a principle; None if leaving out does not help.

        With several sensitive columns the number depends on who is drawn: then it is the largest of some draws, and
        twice the square root of the number of people more.

        >>> import glasshouse as gh
        >>> sketch = Sketch.of(gh.synthetic.hospital(500, seed=1))
        >>> [sketch.n_left_out(gh.LDiversity(ell)) for ell in (8, 9, 99)]
        [0, 1, None]
        """
        several = len(self.sensitive) > 1
        try:
            kept = [
                int(keep_eligible(self.kinds, principle, _ALMOST_ALL, Source.seeded(seed)).sum())
                for seed in range(_DRAWS if several else 1)
            ]
        except Infeasible:
            return None
        n = self.n_people - min(kept)
        return n + 2 * isqrt(self.n_people) if several and n else n

    def plan(self, arguments: Mapping[str, Any]) -> SketchedPlan:
        """What publishing by these arguments of `glasshouse.publish` would decide, or refuse.

        Looked at are ``principle``, ``method``, ``recoding`` and ``suppress``.
        """
        method, recoding = arguments.get("method"), arguments.get("recoding")
        principle, table = spelled(arguments["principle"], recoding, self.kinds.table)
        kinds = self.kinds if table is self.kinds.table else Kinds(table, self.kinds.counts)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DisclosureWarning)
            found = plan_of(kinds, principle, method, recoding, arguments.get("suppress") or 0, Source.seeded(0))
        told = [str(one.message) for one in caught if issubclass(one.category, DisclosureWarning)]
        return SketchedPlan(plan=found, warnings=tuple(dict.fromkeys(told)))


def _without_quasi(table: Microdata) -> Microdata:
    """The table as if everybody had the same quasi-identifiers."""
    same = np.zeros(table.n_tuples, np.int32)
    quasi = tuple(Column(replace(c.domain, values=c.domain.values.slice(0, 1)), same) for c in table.quasi)
    return replace(table, quasi=quasi, identifier=None)
