# SPDX-License-Identifier: Apache-2.0
"""Knowledge: what the attacker has in addition to the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import bounds
from glasshouse.errors import InputError, ParameterError
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.release import Recipe

__all__ = ["ABSENT", "Knowledge", "key_of"]

_FEW = 16  # so many names are looked up one by one, which tells who is not there
_NOT_OF_THE_TYPE = (pa.ArrowException, ArithmeticError, TypeError, ValueError)
"""What Arrow raises for a value that no column of a type can have."""


class _Absent:
    """Somebody who is known not to be in the table."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Given as the value of a person in ``corrupted``: the attacker knows that this person is not in the table."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Knowledge:
    """What the attacker has in addition to the release: people, the recipe, known values, and a prior.

    Parameters
    ----------
    external
        The people on the attacker's list, with their quasi-identifiers, as `read` gives them: a voter list, or the
        steward's own table. A sensitive column in it is not used, except to count right guesses where an attack says
        so. People who are not in the table may be on the list.
    recipe
        How the release was made; by default what the release itself says.
    corrupted
        People whose sensitive value the attacker already knows: identifier (or row number, from 0, if there is none) ->
        value, or `ABSENT` for a person who is not in the table.
    prior
        How probable each sensitive value is before the attacker sees the release: value -> weight, for everybody, or
        identifier -> such a mapping. Uniform by default. Weights are exact numbers; they need not sum to 1.
    columns
        Other sensitive columns that the attacker knows of everybody on the list, where a release has several: the
        external table must have them as sensitive columns.
    joint
        How often values of the attacked column occur together with values of another sensitive column: name of the
        other column -> (value, value of the other column) -> weight. Pairs that are not named do not occur.

    Examples
    --------
    >>> import glasshouse as gh
    >>> voters = gh.read({"name": ["Ann", "Bob"], "age": [21, 30]}, identifier="name", quasi=["age"])
    >>> Knowledge(external=voters, corrupted={"Ann": "flu"})
    Knowledge(2 people, 1 of them with known values, uniform prior)

    An attacker who knows everybody's drug, and how often each drug occurs with each disease:

    >>> people = {"age": [21, 30], "disease": ["flu", "gout"], "drug": ["x", "y"]}
    >>> table = gh.read(people, quasi=["age"], sensitive=["disease", "drug"])
    >>> Knowledge(external=table, columns=("drug",), joint={"drug": {("flu", "x"): 3, ("gout", "x"): 1}})
    Knowledge(2 people, uniform prior, drug of everybody, how often values of two columns occur together)
    """

    external: Microdata
    recipe: Recipe | None = None
    corrupted: Mapping[Any, Any] = field(default_factory=dict)
    prior: Mapping[Any, Any] | None = None
    columns: tuple[str, ...] = ()
    joint: Mapping[str, Mapping[tuple[Any, Any], Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not hasattr(self.external, "quasi"):
            raise InputError(
                "external must be a table of people that gh.read has read: gh.read(file, identifier=..., quasi=...)"
            )
        self.corrupted_rows()
        object.__setattr__(self, "columns", tuple(self.columns))
        for given in self.joint.values():
            if not isinstance(given, Mapping) or not all(isinstance(k, tuple) and len(k) == 2 for k in given):
                raise InputError(
                    "joint must give for another sensitive column how often pairs occur together, each as (value "
                    "of the attacked column, value of the other column): {'drug': {('flu', 'x'): 2}}"
                )
            for weight in given.values():
                _exact(weight, "joint")
        if self.prior is not None and self.is_personal:
            for person in self.prior:
                self.person(person)

    def __repr__(self) -> str:
        corrupted = f", {len(self.corrupted):,} of them with known values" if self.corrupted else ""
        prior = "uniform prior" if self.prior is None else "own prior"
        known = f", {', '.join(self.columns)} of everybody" if self.columns else ""
        together = ", how often values of two columns occur together" if self.joint else ""
        return f"Knowledge({counted(self.external.n_tuples, 'person')}{corrupted}, {prior}{known}{together})"

    @property
    def looks_beside(self) -> bool:
        """Whether anything is known of other sensitive columns."""
        return bool(self.columns or self.joint)

    @property
    def knows_both(self) -> bool:
        """Whether another column of everybody is known, and how it goes together with the attacked one too."""
        return any(name in self.joint for name in self.columns)

    @property
    def is_personal(self) -> bool:
        """Whether the prior is given by person."""
        return self.prior is not None and any(isinstance(weights, Mapping) for weights in self.prior.values())

    def check_columns(self, sensitive: Sequence[str], column: str) -> None:
        """Refuse columns that are not other sensitive columns of a release, or that the list does not have."""
        for name in (*self.columns, *self.joint):
            if name not in sensitive or name == column:
                others = ", ".join(one for one in sensitive if one != column) or "none"
                raise InputError(
                    f"{name!r} is not one of the other sensitive columns of the release: these are {others}"
                )
        held = [one.name for one in self.external.sensitive]
        for name in self.columns:
            if name not in held:
                raise InputError(
                    f"the external table must contain {name!r} as a sensitive column, because the attacker is "
                    "said to know it (columns=, --columns)"
                )

    def name(self, row: int) -> Any:
        """The name of a person: the identifier, or the row number, from 0."""
        return row if self.external.identifier is None else self.external.identifier[row].as_py()

    def person(self, name: Any) -> int:
        """Find a person's row by identifier, or by row number if there is none."""
        identifiers = self.external.identifier
        if identifiers is None:
            if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < self.external.n_tuples:
                return name
            raise InputError(
                f"the external table has no identifier column and no row {name!r}: rows are numbered from 0; "
                "give a row number, or name the identifier column"
            )
        place = _place(identifiers, name)
        if place is None:
            near = _place(identifiers.cast(pa.string()), text_of(name))
            hint = "" if near is None else f": did you mean {identifiers[near].as_py()!r}?"
            raise InputError(f"nobody in the external table is called {name!r}{hint}")
        return place

    def weights(self, values: list[Any], row: int | None = None) -> list[Fraction]:
        """The prior over these sensitive values, for a person or for anybody."""
        given: Mapping[Any, Any] | None = self.prior
        if given is not None and self.is_personal:
            given = given.get(self.name(row)) if row is not None else None
        if given is None:
            return [Fraction(1, len(values))] * len(values)
        texts = {text_of(value): _exact(weight) for value, weight in given.items()}
        found = [texts.get(text_of(value), Fraction(0)) for value in values]
        total = sum(found)
        if total == 0:
            raise InputError(
                "the prior gives the weight 0 to every published value: give at least one of them a weight above 0"
            )
        return [weight / total for weight in found]

    def corrupted_rows(self) -> NDArray[np.int64]:
        """The rows of the corrupted people, in the order of `corrupted`."""
        names = self.external.identifier
        if names is not None and len(self.corrupted) > _FEW:
            wanted = list(self.corrupted)
            try:
                converted = pa.array(wanted, names.type)
            except _NOT_OF_THE_TYPE:
                converted = pa.nulls(1)
            if converted.to_pylist() == wanted:
                found = pc.index_in(converted, value_set=names)
                if not found.null_count:
                    return np.asarray(found).astype(np.int64)
        return np.array([self.person(name) for name in self.corrupted], np.int64)


def key_of(value: Any) -> str:
    """The text by which sensitive values are compared; a missing one has its own."""
    return "\0" if value is None else text_of(value)


def _place(identifiers: pa.ChunkedArray, name: Any) -> int | None:
    """Where an identifier is; None where no identifier is equal to this one."""
    try:
        place = int(pc.index(identifiers, name).as_py())
    except _NOT_OF_THE_TYPE:
        return None
    return place if place >= 0 and identifiers[place].as_py() == name else None  # 1.5 is looked for as 1


def _exact(weight: Any, name: str = "prior") -> Fraction:
    try:
        number = bounds.exact(weight)
    except (TypeError, ValueError):
        raise ParameterError("Knowledge", name, "numbers of at least 0, such as 2, 0.5 or '1/3'", weight) from None
    if number < 0:
        raise ParameterError("Knowledge", name, "numbers of at least 0, such as 2, 0.5 or '1/3'", weight)
    return number
