# SPDX-License-Identifier: Apache-2.0
"""Workloads: many counting questions at once, drawn in the ways that the papers describe.

A question of a workload asks for records whose values lie in a set for each of some attributes; all attributes are
taken as discrete, with a domain that everybody knows. Questions are drawn uniformly; the same seed draws the same ones
on every machine, and the first questions of a longer workload are those of a shorter one.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.answers.workload_answers import count, independent
from glasshouse.errors import InputError, ParameterError
from glasshouse.plural import counted
from glasshouse.randomness import Source
from glasshouse.sql_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata

__all__ = ["Workload"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Workload:
    """Some counting questions over one schema.

    Attributes
    ----------
    domains
        The values of every attribute in their order; the sensitive attribute is the last.
    wanted
        For every attribute, which of its values each question asks for (questions x values).
    name
        Where the workload comes from, with its parameters.
    """

    domains: Mapping[str, tuple[Any, ...]]
    wanted: tuple[NDArray[np.bool_], ...]
    name: str

    def __len__(self) -> int:
        return len(self.wanted[0])

    def __repr__(self) -> str:
        return f"Workload({self.name}, {counted(len(self), 'question')})"

    @property
    def sensitive(self) -> str:
        """The sensitive attribute."""
        return list(self.domains)[-1]

    def take(self, questions: NDArray[np.int64]) -> Workload:
        """The workload with some of the questions only."""
        return Workload(domains=self.domains, wanted=tuple(w[questions] for w in self.wanted), name=self.name)

    def condition(self, question: int) -> dict[str, list[Any]]:
        """The values that a question asks for, of the attributes that it constrains."""
        return {
            name: [value for value, asked in zip(values, wanted[question], strict=True) if asked]
            for (name, values), wanted in zip(self.domains.items(), self.wanted, strict=True)
            if not wanted[question].all()
        }

    def sql(self, question: int) -> str:
        """A question in SQL."""
        tests = [_test(name, values) for name, values in self.condition(question).items()]
        return "SELECT COUNT(*)" + (f" WHERE {' AND '.join(tests)}" if tests else "")

    def correlated(self, table: Microdata, n: int = 100) -> tuple[Workload, Workload]:
        """MINIMALITY 5.3: the questions whose true counts are furthest above, and furthest below, plain independence.

        Quotients of the true count and of `independent` are compared. Questions that cover nobody are left out, for
        their relative error is not defined. (The paper calls the first the negative set, the second the positive one;
        here the positive set is that of a positive correlation.) Each set has ``n`` questions, or half of those that
        there are, if these are fewer; the furthest comes first.
        """
        if n < 1:
            raise ParameterError("Workload.correlated", "n", "a whole number of at least 1", n)
        true, alone = count(table, self), independent(table, self)
        some = np.flatnonzero(true > 0)
        ascending = some[np.argsort(true[some] / alone[some], kind="stable")]
        n = min(n, len(some) // 2)
        positive, negative = self.take(ascending[::-1][:n]), self.take(ascending[:n])
        return replace(positive, name=f"{self.name}, positive"), replace(negative, name=f"{self.name}, negative")

    # --- as the papers draw them -------------------------------------------------------------------------------------

    @classmethod
    def transparent(
        cls,
        table: Microdata,
        *,
        qd: int | None = None,
        s: float = 0.06,
        n: int = 1000,
        seed: int = 0,
        sensitive: str | None = None,
    ) -> Workload:
        """TRANSPARENT 4.1: the sensitive attribute and ``qd - 1`` others, a random interval of each.

        Every interval has the share ``s ** (1 / qd)`` of its attribute's values, rounded to the nearest number of them,
        and at least one. By default ``qd`` is 5, or all attributes if they are fewer.
        """
        draw = _Drawing("transparent", table, qd, 5, s, n, seed, sensitive, others=1)
        for question in range(n):
            for place in draw.attributes():
                size = draw.size(place)
                draw.interval(question, place, max(1, round(size * s ** (1 / draw.qd))))
        return draw.workload(
            f"ranges of {counted(draw.qd, 'column')}, about {100 * s:g} % of all combinations of values, as in "
            "TRANSPARENT 4.1"
        )

    @classmethod
    def anatomy(
        cls,
        table: Microdata,
        *,
        qd: int | None = None,
        s: float = 0.05,
        n: int = 1000,
        seed: int = 0,
        sensitive: str | None = None,
    ) -> Workload:
        """ANATOMY 6.1: the sensitive attribute and ``qd`` others, random values of each.

        There are ``ceil(|A| * s ** (1 / (qd + 1)))`` values of every attribute A (Equation 14). By default ``qd`` is 3,
        or all quasi-identifiers if they are fewer.
        """
        draw = _Drawing("anatomy", table, qd, 3, s, n, seed, sensitive)
        for question in range(n):
            for place in draw.attributes():
                draw.values(question, place, _share_of(draw.size(place), s, draw.qd + 1))
        return draw.workload(
            f"values of the sensitive column and {counted(draw.qd, 'other', 'others')}, about {100 * s:g} % of all "
            "combinations of values, as in ANATOMY Equation 14"
        )

    @classmethod
    def minimality(
        cls,
        table: Microdata,
        *,
        qd: int | None = None,
        s: float = 0.5,
        n: int = 1000,
        seed: int = 0,
        sensitive: str | None = None,
    ) -> Workload:
        """MINIMALITY 5.3: the sensitive attribute and ``qd`` others, a random number up to ``s * |A|`` of values each.

        A set without values, which the paper allows, would make the true count 0 and its relative error undefined:
        at least one value is drawn. By default ``qd`` is 4, or all quasi-identifiers if they are fewer.
        """
        draw = _Drawing("minimality", table, qd, 4, s, n, seed, sensitive)
        for question in range(n):
            for place in draw.attributes():
                most = max(1, floor(Fraction(str(s)) * draw.size(place)))
                draw.values(question, place, 1 + draw.source.below(most))
        return draw.workload(
            f"values of the sensitive column and {counted(draw.qd, 'other', 'others')}, at most {100 * s:g} % of "
            "the values of each, as in MINIMALITY 5.3"
        )

    @classmethod
    def angel(
        cls,
        table: Microdata,
        *,
        s: float = 0.05,
        n: int = 1000,
        seed: int = 0,
        sensitive: str | None = None,
        numerical: Sequence[str] | None = None,
    ) -> Workload:
        """ANGEL 6: all d attributes, ``ceil(|A| * s ** (1 / d))`` values of each.

        Of ``numerical`` attributes (the paper's are age and education) these are an interval, of others any values. By
        default quasi-identifiers with an order are numerical; name those that are, if categories are coded as numbers.
        """
        draw = _Drawing("angel", table, None, len(table.quasi), s, n, seed, sensitive)
        ordered = [column.name for column in table.quasi if column.domain.ordered]
        named = ordered if numerical is None else numerical
        in_order = {list(draw.domains).index(table.column(name).name) for name in named}
        for question in range(n):
            for place in draw.attributes():
                size = _share_of(draw.size(place), s, len(draw.domains))
                if place in in_order:
                    draw.interval(question, place, size)
                else:
                    draw.values(question, place, size)
        return draw.workload(f"values of all columns, about {100 * s:g} % of all combinations of values, as in ANGEL 6")


class _Drawing:
    """A workload under construction: at first every question asks for all values."""

    def __init__(
        self,
        name: str,
        table: Microdata,
        qd: int | None,
        usual: int,
        s: float,
        n: int,
        seed: int,
        sensitive: str | None,
        *,
        others: int = 0,
    ) -> None:
        owner = f"Workload.{name}"
        if not table.sensitive:
            raise InputError(f"{owner} asks about a sensitive column, and the table has none")
        last = table.column(sensitive) if sensitive is not None else table.sensitive[0]
        columns = (*table.quasi, last)
        most = len(table.quasi) + others
        self.qd = min(usual, most) if qd is None else qd
        if not 1 <= self.qd <= most:
            raise ParameterError(
                owner, "qd", f"a whole number from 1 to {most}, the number of columns to ask about", qd
            )
        if not 0 < s <= 1:
            raise ParameterError(owner, "s", "a share above 0, at most 1", s)
        if n < 1:
            raise ParameterError(owner, "n", "a whole number of at least 1", n)
        self._n_quasi = self.qd - others
        self.domains = {c.name: tuple(c.domain.listed()) for c in columns}
        self._wanted = [np.ones((n, len(values)), bool) for values in self.domains.values()]
        self.source = Source.seeded(seed)

    def attributes(self) -> list[int]:
        """Places of some random quasi-identifiers, and of the sensitive attribute."""
        last = len(self.domains) - 1
        return [*self.source.choose(last, self._n_quasi).tolist(), last]

    def size(self, place: int) -> int:
        """How many values an attribute has."""
        return int(self._wanted[place].shape[1])

    def interval(self, question: int, place: int, n_values: int) -> None:
        """Ask for a random interval."""
        start = self.source.below(self.size(place) - n_values + 1)
        self._wanted[place][question] = False
        self._wanted[place][question, start : start + n_values] = True

    def values(self, question: int, place: int, n_values: int) -> None:
        """Ask for some random values."""
        self._wanted[place][question] = False
        self._wanted[place][question, self.source.choose(self.size(place), n_values)] = True

    def workload(self, name: str) -> Workload:
        """The workload that was drawn."""
        return Workload(domains=self.domains, wanted=tuple(self._wanted), name=name)


@functools.cache  # the same for every question of a workload
def _share_of(size: int, s: float, root: int) -> int:
    """``ceil(size * s ** (1 / root))``, exactly.

    >>> _share_of(10, 0.001, 3), ceil(10 * 0.001 ** (1 / 3))
    (1, 2)
    """
    needed = Fraction(str(s)) * size**root
    found: int = max(1, ceil(size * s ** (1 / root)) - 1)
    while found**root < needed:
        found += 1
    return found


def _test(name: str, values: Sequence[Any]) -> str:
    column = quoted_name(name)
    some = [value for value in values if value is not None]
    tests = [f"{column} IN ({', '.join(map(_literal, some))})"] if some else []
    tests += [f"{column} IS NULL"] if None in values else []
    return "(" + " OR ".join(tests) + ")" if tests else f"{column} IS NULL AND {column} IS NOT NULL"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
