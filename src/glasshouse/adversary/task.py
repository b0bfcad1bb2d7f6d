# SPDX-License-Identifier: Apache-2.0
"""What every attack is, and what it is given: a release as it stands and as it is read, and what the attacker holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar, cast

import numpy as np

from glasshouse.adversary.external_table import coded_as_published
from glasshouse.adversary.knowledge import ABSENT, key_of
from glasshouse.adversary.matching import Kinds, match
from glasshouse.adversary.member_beliefs import in_members
from glasshouse.adversary.posterior import Posterior
from glasshouse.catalog import principle_from_data
from glasshouse.errors import InputError, NotSupported
from glasshouse.principles.principle import Requirement
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.posterior import Beliefs
    from glasshouse.grouping.independence import Independent
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Release
    from glasshouse.release.contents import Seats

__all__ = ["DROPPED", "GONE", "UNKNOWN", "Algorithm", "Attack", "Task", "promised_limit", "stated_principle"]

UNKNOWN, GONE, DROPPED = -1, -2, -3
"""Codes for a person without a known published value: nothing is known, not in the table, or dropped from it."""

_M = TypeVar("_M", bound="Method")
_N = TypeVar("_N", bound="Method")


class Attack:
    """A way to reason from a release: from what the attacker has, it computes the probabilities for everybody.

    Attacks are frozen dataclasses.
    """

    __slots__ = ()

    name: ClassVar[str]
    answers: ClassVar[Literal["beliefs", "risk"]] = "beliefs"
    """What `attack` returns; the attacks in `glasshouse.adversary.risks` count right guesses instead."""
    runs_method: ClassVar[bool] = False
    """Whether the attack runs the method again, and so needs the taxonomies and orders that the method used."""
    needs_algorithm: ClassVar[bool] = False
    """Whether the method and the principle of the release must be given."""
    needs_ties: ClassVar[bool] = True
    """Whether the attack needs a published table that links quasi-identifiers to sensitive values."""
    needs_values: ClassVar[bool] = False
    """Whether the table must have the true sensitive values, to count right guesses."""
    takes_values: ClassVar[bool] = False
    """Whether the true sensitive values are used if the table has them, to count right guesses."""

    takes_sets: ClassVar[bool] = False
    """Whether sensitive cells may contain sets; the probabilities are then those of single values."""

    takes_columns: ClassVar[bool] = False
    """Whether the attack can use other sensitive columns, and how often values of two columns occur together."""

    column: str | None = None
    """The sensitive column, where the release has several; or a part of a compound one."""
    others: tuple[Release, ...] = ()
    """Further releases of the same table."""

    def attack(self, release: Release, knowledge: Knowledge, algorithm: Algorithm | None = None) -> Posterior:
        """Read the release, and compute the probabilities from it and from what the attacker knows.

        The probability of a part of a compound column is the sum over all compound values that have it.
        """
        for column in release.columns:
            if self.column is not None and self.column in [part.name for part in column.parts or ()]:
                whole: Attack = replace(self, column=column.name)  # type: ignore[type-var]
                found = whole.believe(Task.of(whole, release, knowledge, algorithm))
                return found.about_part(self.column, column.parts or ()).with_note()
        task = Task.of(self, release, knowledge, algorithm)
        found = self.believe(task)
        return (in_members(found, task) if task.contents.column in release.sets else found).with_note()

    def believe(self, task: Task) -> Posterior:
        """The probabilities for everybody; `NotSupported` if this attack cannot compute them."""
        raise NotImplementedError


class Algorithm(NamedTuple):
    """What made a release: a principle (or one for each sensitive column), a method and a recoding."""

    principle: Principle | Mapping[str, Principle]
    method: Method
    recoding: Recoding


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What an attack is given."""

    attack: str  # the name of the attack
    # release, contents: what was published, as it stands, and as it is read for one sensitive column
    release: Release
    contents: Published
    knowledge: Knowledge  # what the attacker holds, coded in the taxonomies and orders that the release carries
    algorithm: Algorithm | None = None  # what made the release, where the attack makes use of that

    @classmethod
    def of(cls, attack: Attack, release: Release, knowledge: Knowledge, algorithm: Algorithm | None = None) -> Task:
        """Read a release, and code the people whom the attacker knows of as it was published."""
        coded = coded_as_published((release, *attack.others), knowledge, runs_method=attack.runs_method)
        contents = Published.of(release, attack.column)
        if contents.column in release.sets and not attack.takes_sets:
            raise NotSupported(
                f"the attack {attack.name!r} does not support column {contents.column!r}, whose cells contain "
                "sets of values",
                instead="use linking or reverse engineering",
            )
        if attack.needs_ties:
            contents.refuse_untied()
        if knowledge.looks_beside and not attack.takes_columns:
            raise NotSupported(
                f"the attack {attack.name!r} does not use other sensitive columns",
                instead="use linking or reverse engineering",
            )
        knowledge.check_columns(release.recipe.sensitive, contents.column)
        return cls(attack=attack.name, release=release, contents=contents, knowledge=coded, algorithm=algorithm)

    # --- the algorithm ------------------------------------------------------------------------------------------------

    @property
    def _known_algorithm(self) -> Algorithm:
        assert self.algorithm is not None
        return self.algorithm

    @property
    def principle(self) -> Principle | None:
        """The principle of the sensitive column; None where several columns have one each."""
        asked = self._known_algorithm.principle
        if isinstance(asked, Mapping):
            return next(iter(asked.values())) if len(asked) == 1 else None
        return asked

    @property
    def principles(self) -> tuple[Principle, ...]:
        """The principles of all sensitive columns."""
        asked = self._known_algorithm.principle
        return tuple(asked.values()) if isinstance(asked, Mapping) else (asked,)

    @property
    def method(self) -> Method:
        """The grouping method."""
        return self._known_algorithm.method

    @property
    def recoding(self) -> Recoding:
        """The recoding."""
        return self._known_algorithm.recoding

    @property
    def independent(self) -> Independent:
        """Over which sets of people the tables that may have given the release are a product."""
        asked = self._known_algorithm.principle
        return self.method.independent(Requirement.in_words(asked, self.release.recipe.sensitive, self.release.sets))

    def made_by(self, one: type[_M], *others: type[_N]) -> _M | _N:
        """The method, which is of one of these classes; refused otherwise."""
        if type(self.method) not in (one, *others):
            raise NotSupported(
                f"the release was made by the method {self.method.name!r}, and this analysis is for groups made by the "
                f"method {one.name!r}",
                instead="use linking",
            )
        return cast("_M | _N", self.method)

    # --- people -------------------------------------------------------------------------------------------------------

    @cached_property
    def people(self) -> Microdata:
        """The list of people as the publisher may have read it: no values, and identifiers only if they broke ties."""
        external = self.knowledge.external
        return replace(
            external,
            quasi=tuple(external.column(name) for name in self.release.recipe.quasi),
            sensitive=(),
            identifier=None if self.secret_ties else external.identifier,
        )

    @property
    def secret_ties(self) -> bool:
        """Whether the order of people with equal quasi-identifiers is secret.

        Earlier versions put them in the order of their identifiers, where there were some.
        """
        return not self.release.ties_are_known or self.knowledge.external.identifier is None

    @cached_property
    def kinds(self) -> Kinds:
        """People with equal quasi-identifiers."""
        return Kinds.of(self.knowledge.external, self.release.recipe.quasi)

    def fits(self, seats: Seats) -> Matches:
        """The seats that cover each kind of people."""
        return match(self.knowledge.external, self.kinds.examples, seats)

    @cached_property
    def told(self) -> list[tuple[int, object]]:
        """The rows of corrupted people with their values, or `ABSENT`."""
        return list(zip(self.knowledge.corrupted_rows().tolist(), self.knowledge.corrupted.values(), strict=True))

    @cached_property
    def place(self) -> dict[str, int]:
        """The code of every published value."""
        return {key_of(value): code for code, value in enumerate(self.contents.values)}

    def known(self) -> NDArray[np.int64]:
        """For every person the code of the value that the attacker knows, `UNKNOWN` or `GONE`."""
        known = np.full(self.knowledge.external.n_tuples, UNKNOWN, np.int64)
        for row, value in self.told:
            if value is not ABSENT and key_of(value) not in self.place:
                name = self.knowledge.name(row)
                raise InputError(
                    f"the value {value!r} is given for {name!r} (corrupted=, --corrupted), and it is not in "
                    "the release: check the value"
                )
            known[row] = GONE if value is ABSENT else self.place[key_of(value)]
        return known

    @property
    def protected(self) -> tuple[Any, ...]:
        """The sensitive values that the release protects, if it protects only some."""
        return _promised(self.release, self.contents.column)[1]

    @property
    def by_itself(self) -> list[str]:
        """A note for when each of several tables is used separately."""
        n = len(self.contents.seats)
        return (
            [
                f"the release has {n} generalized tables; each was attacked separately, and the result with the "
                "largest probability is shown"
            ]
            if n > 1
            else []
        )

    # --- probabilities ---------------------------------------------------------------------------------------------

    def posterior(
        self,
        how: str,
        kind: NDArray[np.int64],
        beliefs: Beliefs,
        presence: NDArray[np.float64],
        *,
        values: tuple[object, ...] | None = None,
        because: Callable[[int, int], str] | None = None,
        notes: Sequence[str] = (),
        bounded: NDArray[np.bool_] | None = None,
    ) -> Posterior:
        """Combine probabilities with what they are about into a posterior."""
        limit, protected = _promised(self.release, self.contents.column)
        return Posterior(
            attack=self.attack,
            column=self.contents.column,
            how=how,
            knowledge=self.knowledge,
            values=self.contents.values if values is None else values,
            kind=kind,
            offsets=beliefs.offsets,
            codes=beliefs.codes,
            beliefs=beliefs.beliefs,
            presence=presence,
            limit=limit,
            protected=protected,
            errors=beliefs.errors,
            because=because,
            notes=tuple(notes),
            bounded=bounded,
        )


def stated_principle(release: Release, column: str) -> Principle | None:
    """The principle that a release states for a sensitive column; None if it states none."""
    data = release.recipe.principle
    data = data["columns"].get(column, {}) if "columns" in data else data
    return principle_from_data(data) if data else None


def promised_limit(release: Release, column: str) -> Fraction | None:
    """The probability that a release promises not to be exceeded by any value: 1/l of frequency l-diversity."""
    limit, protected = _promised(release, column)
    return None if protected else limit


def _promised(release: Release, column: str) -> tuple[Fraction | None, tuple[Any, ...]]:
    """The probability that is promised not to be exceeded, and the values it is promised for if not for all."""
    principle = stated_principle(release, column)
    if principle is None:
        return None, ()
    named = [one.terms.named for one in principle.singles() if one.needs_sensitive]
    limit = None if principle.terms.one_in is None else Fraction(1, principle.terms.one_in)
    return limit, tuple(value for values in named for value in values) if all(named) else ()
