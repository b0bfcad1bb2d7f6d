# SPDX-License-Identifier: Apache-2.0
"""Signs: what an attacker knows about the population, as chances of values for everybody.

A sign says in which direction an attribute goes with a value: "people with this value earn a bit more". It is turned
into log-odds: of somebody whose income is one standard deviation above the mean the value is more likely by the factor
``e ** strength``. Numbers and dates count by their value, ordered categories by their rank. ``attribute=category`` is 1
for those who have the category and 0 for others, and counts in standard deviations too.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from glasshouse.adversary.dropped_people import UNPUBLISHED
from glasshouse.adversary.knowledge import key_of
from glasshouse.errors import InputError, ParameterError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Column

    Floats = NDArray[np.float64]

__all__ = ["Hinted", "Sign", "read_signs"]

_DIRECTIONS: Final[dict[Any, int]] = {"+": 1, "-": -1, 1: 1, -1: -1, "+1": 1, "-1": -1}
_MOST_POWER: Final = 30.0  # times as strong as it was said to be
_SECTIONS: Final = 24
_LEAST: Final = 1e-9  # of a chance, relative to how often a value occurs: a prior may be wrong


class Sign(NamedTuple):
    """A sign: whether a larger value of an attribute makes a sensitive value more likely (1) or less likely (-1)."""

    attribute: str
    value: Any
    direction: int

    def __str__(self) -> str:
        name, equals, category = self.attribute.partition("=")
        more = "more" if self.direction > 0 else "less"
        if equals:
            return f"people with {category} for {name} have {key_of(self.value)} {more} often"
        return f"people with larger {name} have {key_of(self.value)} {more} often"


def read_signs(given: Iterable[Any]) -> tuple[Sign, ...]:
    """Read signs: an attribute, a sensitive value and a direction, as three things or as text with colons.

    >>> read_signs([("income", "B", +1), "age:flu:-"])
    (Sign(attribute='income', value='B', direction=1), Sign(attribute='age', value='flu', direction=-1))
    """
    allowed = "signs such as ('income', 'B', +1) or 'income:B:+'"
    found = []
    for one in [given] if isinstance(given, str) else given:
        parts = one.rsplit(":", 1) if isinstance(one, str) else one
        if isinstance(one, str) and len(parts) == 2:
            parts = [*parts[0].split(":", 1), parts[1]]
        if isinstance(parts, str) or not hasattr(parts, "__len__") or len(parts) != 3:
            raise ParameterError("Hint", "signs", allowed, one)
        attribute, value, direction = parts
        if not isinstance(attribute, str) or not isinstance(direction, int | str) or direction not in _DIRECTIONS:
            raise ParameterError("Hint", "signs", allowed, one)
        found.append(Sign(attribute, value, _DIRECTIONS[direction]))
    return tuple(found)


class Hinted(NamedTuple):
    """The probability of each published value for people, before the attacker sees the release."""

    kinds: Floats  # kinds of people x values; rows add up to 1
    base: Floats  # how often values occur in the release
    factors: Floats  # kinds of people x values: by how much signs alone make a value more likely

    @classmethod
    def of(cls, task: Task, signs: tuple[Sign, ...], strength: float) -> Hinted:
        """Make it from the signs, and from the prior if there is one, else from how often values are published."""
        contents = task.contents
        totals = np.bincount(contents.codes, weights=contents.counts, minlength=len(contents.values))
        named = np.array([value is not UNPUBLISHED for value in contents.values])
        base = np.where(named, totals, 0.0) / totals[named].sum()
        logs = np.zeros((task.kinds.n_kinds, len(base)))
        for sign in signs:
            code = task.place.get(key_of(sign.value))
            if code is None:
                raise InputError(
                    f"a sign names the sensitive value {sign.value!r}, which is not published: name a value "
                    "that occurs in the release"
                )
            logs[:, code] += strength * sign.direction * _standard(task, sign.attribute)
        factors = np.exp(logs)
        chances = np.maximum(cls._prior(task, base), _LEAST * base) * factors
        return cls(chances / chances.sum(axis=1, keepdims=True), base, factors)

    @staticmethod
    def _prior(task: Task, base: Floats) -> Floats:
        """The prior of every kind of people: the mean of its people's."""
        knowledge, kinds, values = task.knowledge, task.kinds, list(task.contents.values)
        if knowledge.prior is None:
            return np.broadcast_to(base, (kinds.n_kinds, len(base)))
        if not knowledge.is_personal:
            common = np.array([float(weight) for weight in knowledge.weights(values)])
            return np.broadcast_to(common, (kinds.n_kinds, len(base)))
        own = np.zeros((kinds.n_kinds, len(base)))
        names = knowledge.external.identifier
        named = range(len(kinds.of_person)) if names is None else names.to_pylist()
        for row, name in enumerate(named):
            given = name in knowledge.prior
            own[kinds.of_person[row]] += [float(w) for w in knowledge.weights(values, row)] if given else base
        return own / kinds.n_alike[:, np.newaxis]

    def fitted_to(self, kind: NDArray[np.int64], truth: NDArray[np.int64]) -> Floats:
        """The same chances with the strength that fits the true values of people best, everything else being equal.

        A hint may be weaker than the truth, or stronger. What differs from base rates is raised to the power for which
        the true values are likeliest; the logarithm is concave, so that a search by sections finds it.
        """
        known = truth < len(self.base)
        counts = np.zeros(self.kinds.shape)
        np.add.at(counts, (kind[known], truth[known]), 1.0)
        shown = self.base > 0
        base = np.log(np.where(shown, self.base, 1.0))
        logs = np.where(shown, np.log(np.maximum(self.kinds, 1e-300)) - base, 0.0)

        def chances(power: float) -> Floats:
            raised = np.where(shown, np.exp(np.clip(base + power * logs, -700, 700)), 0.0)
            return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float64)

        def fits(power: float) -> float:
            return float((counts * np.log(np.maximum(chances(power), 1e-300))).sum())

        low, high = 0.0, _MOST_POWER
        for _ in range(_SECTIONS):
            third = (high - low) / 3
            low, high = (low, high - third) if fits(low + third) >= fits(high - third) else (low + third, high)
        return chances((low + high) / 2)

    def in_the_release(self, task: Task) -> dict[Any, dict[Any, float]]:
        """The same as weights by name, for every person: value -> weight."""
        listed, names = self.kinds.tolist(), task.knowledge.name
        values = [(code, value) for code, value in enumerate(task.contents.values) if value is not UNPUBLISHED]
        return {
            names(row): {value: listed[kind][code] for code, value in values}
            for row, kind in enumerate(task.kinds.of_person.tolist())
        }


def _standard(task: Task, attribute: str) -> Floats:
    """The value of an attribute for each kind of people, in standard deviations from the mean of all people."""
    name, equals, category = attribute.partition("=")
    known = [column.name for column in task.knowledge.external.quasi]
    if name not in known or name not in task.release.recipe.quasi:
        raise SchemaError.unknown(name, list(task.release.recipe.quasi), role="the attribute of a sign")
    column = task.knowledge.external.column(name)
    at = _indicator(column, category) if equals else _positions(column)
    people = at[column.codes]
    spread = float(people.std())
    if not isfinite(spread) or spread == 0:
        raise InputError(
            f"a sign names the column {attribute!r}, which has the same value for everybody in the external "
            "table: name another column"
        )
    return np.asarray((at[column.codes[task.kinds.examples]] - people.mean()) / spread, np.float64)


def _positions(column: Column) -> Floats:
    if not column.domain.ordered:
        raise InputError(
            f"a sign names the column {column.name!r}, whose values have no order: name one of its values, "
            f"such as '{column.name}={column.domain.texts[0]}', or declare an order"
        )
    return column.domain.positions


def _indicator(column: Column, category: str) -> Floats:
    at = np.zeros(column.domain.size)
    at[column.domain.code_of(category)] = 1.0
    return at
