# SPDX-License-Identifier: Apache-2.0
"""The base of all principles: a constraint on the distribution of sensitive values in a group; and what is claimed.

Tao, Chen, Xiao, Zhou, Zhang, "ANGEL: Enhancing the Utility of Generalization for Privacy Preserving Publication", TKDE
2009 (ANGEL). Definition 4: a principle sees a group's sensitive values and nothing else; here it sees `Counts`.
Definition 5: it is *monotone* when the union of two groups that obey it obeys it. Every principle here is.

A `Requirement` is what must hold of one table: which principle for which sensitive column, bound to that table. Each
sensitive column is protected by itself: its principle speaks of its own values in a group, and says nothing of what two
columns reveal together. A `Witness` says by a count why a table does not obey. A `Claim` is what a method claims for
groups under a requirement, against one of the adversaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Self, cast

import numpy as np

from glasshouse.errors import Infeasible, InputError, NotSupported, SchemaError
from glasshouse.plural import counted
from glasshouse.principles.parameters import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Column, Domain
    from glasshouse.microdata.table import Microdata
    from glasshouse.principles.background_sensitive import BackgroundSensitive

__all__ = [
    "NOT_AGAINST",
    "NOT_WITHOUT_VALUES",
    "SAME",
    "Adversary",
    "Bound",
    "Caps",
    "Claim",
    "Part",
    "Principle",
    "Requirement",
    "Terms",
    "Witness",
    "most_frequent",
    "of_column",
]

SAME: Final = "everybody has the same value, so that nothing can protect it: leave the column out"
"""Why a column cannot be published under a principle for any number, and what to do."""


class Bound(Protocol):
    """A principle that can judge groups; it is bound to the table if it depends on it."""

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that satisfy it satisfies it."""

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group; an empty group never satisfies it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caps:
    """When a group breaks a principle: it is too small, or too large a share of it has some value.

    ``values`` are those that are capped; None stands for all of them.
    """

    least: int = 1
    share: Fraction = Fraction(1)
    values: tuple[Any, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What a principle asks for, as far as methods, recodings, attacks and the second implementation need to know it.

    Attributes
    ----------
    asked
        What it asks for in the words of `verify`, the second implementation; None if that does not know it.
    anonymity
        How many people must look alike, the k of k-anonymity; 0 if it does not ask for it.
    smallest_group
        How many records a group has at least, as far as the principle names it by its k or its l; else 0.
    one_in
        The l, if all it asks is that of so many records at most one has the same value, or the same of ``named``.
    named
        The sensitive values that it speaks of; empty if it speaks of all of them.
    closeness, distance
        The t, if all it asks is that groups are so close to the whole table, and by which distance between values.
    capped
        What it asks as caps on sizes and shares, if it does, and not by ``one_in``: see `caps`.
    """

    asked: Mapping[str, Any] | None = None
    anonymity: int = 0
    smallest_group: int = 0
    one_in: int | None = None
    named: tuple[Any, ...] = ()
    closeness: Fraction | None = None
    distance: str | None = None
    capped: tuple[Caps, ...] | None = None

    @property
    def caps(self) -> tuple[Caps, ...] | None:
        """The principle as caps on sizes and shares, all of which must be kept; None if it cannot be expressed so."""
        if self.one_in is None:
            return self.capped
        return (Caps(share=Fraction(1, self.one_in), values=self.named or None),)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Principle:
    """A privacy principle: a frozen value, checked when made, that prints as the code that makes it."""

    name: ClassVar[str]
    """What the catalogue, the command line and manifests call it."""
    titled: ClassVar[str]
    """Its `title`, with the names of parameters in place of their numbers."""
    in_words: ClassVar[str]
    """What it promises, told to somebody who has read none of the papers."""
    left_open: ClassVar[str]
    """What it does not promise, told to the same person."""
    monotone: ClassVar[bool] = True
    """ANGEL Definition 5: the union of two groups that obey it obeys it."""

    bounds_beliefs: ClassVar[bool] = False
    """Whether it is a promise about beliefs, which no group can keep or break: see `BackgroundSensitive`."""

    @property
    def needs_sensitive(self) -> bool:
        """Whether it says something about sensitive values, and so needs a sensitive column."""
        return True

    def naming(self, values: tuple[Any, ...]) -> Principle:
        """The same principle, naming these values in place of those that it names."""
        del values
        return self

    def singles(self) -> tuple[Principle, ...]:
        """The principles of a combination, one by one; else itself."""
        return (self,)

    def joined(self, other: Principle) -> Principle | None:
        """The one principle of this kind that asks for this and the other; None if there is none."""
        return self if self == other else None

    def grouping(self) -> Principle:
        """The principle that every group must satisfy."""
        return self

    @property
    def terms(self) -> Terms:
        """The terms of the principle, for other modules."""
        return Terms()

    @property
    def title(self) -> str:
        """The principle with its numbers, as in "8-diversity"; of one that is left open, its name."""
        numbers = {f.name: _readable(getattr(self, f.name)) for f in fields(self)}
        return self.titled.format_map({name: name if value is None else value for name, value in numbers.items()})

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds, for manifests; ``column`` is the sensitive column."""
        raise NotImplementedError

    def for_person(self, value: str, attacker: str) -> str:
        """Say with its numbers what it means for a person, to a reader who has not read the papers.

        Parameters
        ----------
        value
            What the sensitive value is called, such as ``disease``.
        attacker
            Against whom it holds, such as ``an attacker who knows everybody's age``.
        """
        raise NotImplementedError

    def bind(self, whole: Counts, domain: Domain | None = None) -> Bound:
        """Bind to a table: ``whole`` counts all its records as one group, ``domain`` is that of the sensitive column.

        A principle that looks at groups alone is already bound.
        """
        return self

    def spelled_as(self, domain: Domain) -> Principle:
        """The same principle, with the values that it names spelled as in the column that it is asked of."""
        del domain
        return self

    def concerned(self, n_values: int, domain: Domain | None = None) -> NDArray[np.bool_]:
        """Which sensitive values it restricts, one truth value per code; by default all."""
        return np.ones(n_values, np.bool_)

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group, exactly; an empty group never satisfies it."""
        raise NotImplementedError

    @property
    def size_suffices(self) -> bool:
        """Whether every large enough group of a table satisfies it, so that `enough` can give that size."""
        return self.terms.caps is not None

    def enough(self, whole: Counts, domain: Domain | None = None) -> int:
        """The number of records from which on every part of a table satisfies it, with any people; see `size_suffices`.

        Parameters
        ----------
        whole
            Counts all records of the table as one group.
        domain
            That of the sensitive column.

        Examples
        --------
        >>> from glasshouse.microdata.counts import Counts
        >>> from glasshouse.principles.k_anonymity import AlphaKAnonymity
        >>> AlphaKAnonymity(alpha="0.4", k=3).enough(Counts.from_histograms([[5, 4, 3]]))
        13
        """
        counts = whole.dense[0]
        concerned = counts[self.concerned(len(counts), domain)]
        return max(
            max(cap.least, -(-int(concerned.max(initial=0)) * cap.share.denominator // cap.share.numerator))
            if cap.share < 1
            else cap.least
            for cap in self.terms.caps or ()
        )

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """The strictest principle of this kind that the whole table satisfies, or None if there is none."""
        raise NotImplementedError

    def eligible(self, whole: Counts, domain: Domain | None = None) -> bool:
        """Whether the table itself satisfies the principle. As it is monotone, no release can do so otherwise."""
        return bool(self.bind(whole, domain).holds(whole)[0])

    def check_eligible(self, whole: Counts, *, column: str | None = None, domain: Domain | None = None) -> None:
        """Raise `Infeasible` with a witness unless the table itself satisfies the principle."""
        if whole.sizes[0] == 0:
            raise Infeasible(
                f"{self.title} is not possible for this table: it has no records", principle=self, count=0, of=0
            )
        if not self.eligible(whole, domain):
            raise self._infeasible(whole, column, domain)

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        """The error that says why the table does not satisfy the principle, and what it would satisfy."""
        raise NotImplementedError

    def to_data(self) -> dict[str, Any]:
        """Give the principle as plain data, for JSON; `from_data` makes it again."""
        return {"name": self.name, **{f.name: _plain(getattr(self, f.name)) for f in fields(self)}}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Make the principle from what `to_data` gave."""
        given = {key: value for key, value in data.items() if key != "name"}
        known = [f.name for f in fields(cls)]
        needed = {f.name for f in fields(cls) if f.default is MISSING}
        if data.get("name", cls.name) != cls.name or not needed <= given.keys() <= set(known):
            raise InputError(f"{cls.name} takes {' and '.join(known)}: it cannot be made from {dict(data)}")
        return cls(**given)

    def __repr__(self) -> str:
        given = ", ".join(f"{f.name}={_readable(getattr(self, f.name))!r}" for f in fields(self))
        return f"{type(self).__name__}({given})"


def _readable(value: Any) -> Any:
    return plain(value) if isinstance(value, Fraction) else value


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else _readable(value)


# --------------------------------------------------------------------------------------------------- requirements


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One principle for one column, bound; without a column, a principle on group sizes only.

    Of a column of sets, ``bound`` judges, and ``whole`` counts, how many records have each single value.
    """

    column: Column | None
    principle: Principle
    bound: Bound
    whole: Counts

    @property
    def _name(self) -> str | None:
        return None if self.column is None else self.column.name

    @property
    def domain(self) -> Domain | None:
        """The domain of the values that it judges: where values are sets, that of the single values in them."""
        return None if self.column is None else self.column.domain.singles

    def _judged(self, counts: Counts) -> Counts:
        """The judged counts of the column: for a column of sets, the number of records with each single value."""
        members = None if self.column is None else self.column.domain.members
        return counts if members is None else members.counts(counts)

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group by its counts of the column."""
        return self.bound.holds(self._judged(counts))

    def enough(self, counts: Counts) -> int:
        """The number of records from which on every part of the table with these counts satisfies the principle."""
        return self.principle.enough(self._judged(counts), self.domain)

    @property
    def is_eligible(self) -> bool:
        """Whether the whole table satisfies it."""
        return self.principle.eligible(self.whole, self.domain)

    def check_eligible(self) -> None:
        """Raise `Infeasible` unless the whole table satisfies it."""
        self.principle.check_eligible(self.whole, column=self._name, domain=self.domain)

    def describe(self) -> str:
        """Say in one sentence what holds."""
        if self.column is None or self.column.domain.members is None:
            return self.principle.describe(self._name)
        return f"{self.principle.describe(self._name)}; a record counts for every value in its set of {self._name}"


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """All that must hold in every group of a table; make one with `of` or `in_groups`.

    Of a promise about beliefs the parts are what it asks of groups, and ``target`` is the promise itself.
    """

    parts: tuple[Part, ...]
    target: BackgroundSensitive | None = None

    @classmethod
    def of(
        cls,
        principle: Principle | Mapping[str, Principle],
        table: Microdata,
        *,
        bound: bool = True,
        counts: NDArray[np.int64] | None = None,
    ) -> Requirement:
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
        counts
            How many records each record of the table stands for; one unless given.
        """
        part = partial(_part, table=table, bound=bound, counts=counts)
        columns = {column.name: column for column in table.sensitive}
        if isinstance(principle, Mapping):
            return cls(tuple(part(p, columns[name]) for name, p in _by_column(principle, columns)))
        if not isinstance(principle, Principle):
            raise InputError(f"a principle is needed, or a principle by column name, not {type(principle).__name__}")
        if not principle.needs_sensitive:
            return cls((part(principle, None),))
        if not columns:
            raise InputError(f"{principle.title} protects sensitive values: name a sensitive column")
        return cls(tuple(part(principle, column) for column in columns.values()))

    @classmethod
    def in_groups(
        cls,
        principle: Principle | Mapping[str, Principle],
        table: Microdata,
        *,
        bound: bool = True,
        counts: NDArray[np.int64] | None = None,
    ) -> Requirement:
        """What a release under this principle requires of its groups: for a guarantee on probabilities, group sizes.

        Such groups promise nothing by themselves: the promise is the ``target``, which the recoding must meet.
        """
        if isinstance(principle, Principle) and principle.bounds_beliefs:
            part = _part(principle.grouping(), None, table=table, bound=bound, counts=counts)
            return cls((part,), cast("BackgroundSensitive", principle))
        return cls.of(principle, table, bound=bound, counts=counts)

    @classmethod
    def in_words(
        cls, principle: Principle | Mapping[str, Principle], sensitive: Sequence[str], sets: Collection[str] = ()
    ) -> Requirement:
        """The requirement for sensitive columns of these names, only for descriptions: it can judge no group.

        Parameters
        ----------
        principle
            As for `in_groups`.
        sensitive
            The names of the sensitive columns.
        sets
            Those of them whose values are sets.
        """
        return cls.in_groups(principle, _described(sensitive, sets), bound=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The sensitive columns whose values must be counted, in the order in which `holds` takes their counts."""
        return tuple(part.column for part in self.parts if part.column is not None)

    @property
    def frequency_ell(self) -> int | None:
        """The l, if frequency l-diversity of one sensitive column is asked for, and nothing else.

        None for a column of sets: methods that deal single values to groups cannot deal sets.
        """
        (first, *others) = self.parts
        return None if others or self.sets or first.principle.terms.named else first.principle.terms.one_in

    @property
    def sets(self) -> tuple[str, ...]:
        """The restricted columns whose values are sets."""
        return tuple(column.name for column in self.columns if column.domain.members is not None)

    @property
    def anonymity(self) -> int:
        """The largest k of k-anonymity that is asked for, alone or within a combination; 0 if none is."""
        return max(part.principle.terms.anonymity for part in self.parts)

    @property
    def smallest_group(self) -> int:
        """The least size of a group, as far as the principles name it: their k or l; otherwise 0."""
        return max(part.principle.terms.smallest_group for part in self.parts)

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that satisfy it satisfies it."""
        return all(part.bound.monotone for part in self.parts)

    def holds(self, counts: Sequence[Counts]) -> NDArray[np.bool_]:
        """Judge each group by its counts of each of `columns`; with no column, by one that counts anything."""
        return reduce(np.logical_and, (part.holds(c) for part, c in zip(self.parts, counts, strict=True)))

    @property
    def size_suffices(self) -> bool:
        """Whether every large enough group satisfies it in all columns: see `enough`."""
        return all(part.principle.size_suffices for part in self.parts)

    def enough(self, counts: Sequence[Counts]) -> int:
        """The number of records from which on every part of a table satisfies it in all columns, with any people.

        ``counts`` has all records of the table as one group, for each of `columns`.
        """
        return max(part.enough(c) for part, c in zip(self.parts, counts, strict=True))

    def first_ineligible(self) -> tuple[Column | None, Bound] | None:
        """The first column whose principle the whole table does not satisfy, with that principle, bound."""
        for part in self.parts:
            if not part.bound.holds(part.whole)[0]:
                return part.column, part.bound
        return None

    def check_eligible(self) -> None:
        """Raise `Infeasible` unless the whole table satisfies it."""
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
                f"sensitive column {name!r} has no principle and would not be protected: name a principle for it, or "
                "leave the column out",
                column=name,
            )
    return [(name, principles[name]) for name in columns]


def _described(sensitive: Sequence[str], sets: Collection[str]) -> Microdata:
    """An empty table with these sensitive columns, some of which contain sets."""
    import pyarrow as pa

    from glasshouse.microdata.domains import Column, Domain
    from glasshouse.microdata.set_members import as_sets
    from glasshouse.microdata.table import Microdata

    nothing, nobody = pa.array([], pa.string()), np.empty(0, np.int32)
    plain = [Domain(name=name, kind="category", values=nothing, ordered=False) for name in sensitive]
    columns = (Column(domain, nobody) for domain in plain)
    return Microdata(
        quasi=(),
        sensitive=tuple(as_sets(column) if column.name in sets else column for column in columns),
        identifier=None,
        n_tuples=0,
    )


def _part(
    principle: Principle,
    column: Column | None,
    *,
    table: Microdata,
    bound: bool,
    counts: NDArray[np.int64] | None,
) -> Part:
    from glasshouse.microdata.counts import Counts  # here, for that room loads pyarrow

    codes = np.zeros(table.n_tuples, np.int32) if column is None else column.codes
    n_values = 1 if column is None else column.domain.size
    if counts is None:
        whole = Counts(codes, np.array([0, table.n_tuples]), n_values)
    else:
        found = np.bincount(codes, counts, minlength=n_values).astype(np.int64)
        values = np.flatnonzero(found).astype(np.int32)
        whole = Counts(values, np.array([0, len(values)]), n_values, found[values].astype(np.int32))
    if column is not None and column.domain.members is not None:
        _refuse_of_sets(principle, column.name)
        whole = column.domain.members.counts(whole)
    judge = principle.bind(whole, None if column is None else column.domain.singles) if bound else principle
    return Part(column, principle, judge, whole)


def _refuse_of_sets(principle: Principle, column: str) -> None:
    """Refuse a principle that asks for more than caps on shares: counts of set members are not a distribution."""
    for one in principle.singles():
        if one.terms.caps is None:
            raise NotSupported(
                f"{one.title} cannot be guaranteed for column {column!r}, whose values are sets",
                instead="ask for k-anonymity, l-diversity, designated l-diversity or (alpha, k)-anonymity; the last "
                "three then limit the share of every single value",
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """A value of the sensitive column, and the number of the table's records that have it."""

    value: Any
    shown: str
    count: int
    of: int
    column: str | None

    def __str__(self) -> str:
        return f"{self.shown} has {self.count:,} of {counted(self.of, 'record')}{of_column(self.column)}"

    def infeasible(self, principle: Principle, *, allowed: int, remedy: str, largest: object) -> Infeasible:
        """Make the error that says that this value is too frequent, and what would work."""
        limit = f"at most {allowed:,} {'is' if allowed == 1 else 'are'} allowed"
        return Infeasible(
            f"{principle.title} is not possible for this table: {self}, {limit}",
            remedy=remedy,
            principle=principle,
            column=self.column,
            value=self.value,
            count=self.count,
            of=self.of,
            largest=largest,
        )


def most_frequent(
    whole: Counts, column: str | None, domain: Domain | None, *, among: Sequence[int] | None = None
) -> Witness:
    """The most frequent value of the table, or among the codes ``among``; of several, the first."""
    counts = whole.dense[0]
    code = int(np.argmax(counts)) if among is None else max(among, key=lambda code: (int(counts[code]), -code))
    if domain is None:
        value, shown = code, f"the value with code {code}"
    else:
        value = domain.decode(np.array([code], np.int32))[0].as_py()
        shown = "the missing value" if value is None else repr(value)
    return Witness(value=value, shown=shown, count=int(counts[code]), of=int(whole.sizes[0]), column=column)


def of_column(column: str | None) -> str:
    """Name the column, if it has a name, as the end of a phrase."""
    return "" if column is None else f" of column {column!r}"


class Adversary(Enum):
    """The attacker's knowledge. Each level includes everything that the level before knows."""

    LINKING = "linking"
    ALGORITHM_AWARE = "algorithm-aware"
    CORRUPTING = "corrupting"

    @property
    def knows(self) -> str:
        """What the attacker knows and assumes, as a part of a sentence."""
        return _KNOWS[self]


_KNOWS = {
    Adversary.LINKING: "an attacker who knows the release and everybody's quasi-identifiers",
    Adversary.ALGORITHM_AWARE: (
        "an attacker who knows the release, everybody's quasi-identifiers, the algorithm and its parameters, but "
        "nobody's sensitive value, and for whom every assignment of the sensitive values to the people was equally "
        "probable before the release"
    ),
    Adversary.CORRUPTING: (
        "an attacker who knows the release, everybody's quasi-identifiers, the algorithm and its parameters, and the "
        "sensitive values of any number of other people"
    ),
}


NOT_AGAINST = (
    "an attacker who knows some people's sensitive values can learn more about the other people of their groups",
    "an attacker who has learned how sensitive values depend on quasi-identifiers, from this release or elsewhere, "
    "can infer values with a higher probability than is guaranteed, also of people who are not in the table",
)
"""What the theorems on attackers who know the algorithm leave open; every claim against such an attacker says it."""

NOT_WITHOUT_VALUES = (
    "an attacker who knows only some of a person's quasi-identifiers can learn more about the others from the cells of "
    "the groups that the person may be in",
    "an attacker may find out that a person is in the table, such as when no more people fit the cells of a group than "
    "are in it",
)
"""What is left open where groups hide people and no sensitive values are published, in place of `NOT_AGAINST`."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The guarantee of a method for groups under a requirement: against whom, why, and what it does not cover.

    The promise is the requirement's own, unless the claim has another; assumptions are what must be true for it.
    ``jointly`` says that what holds of each sensitive column also holds against an attacker who knows all other
    columns of everybody, or how columns go together, where they are published apart (docs/several-columns.md, J1). A
    claim against an algorithm-aware attacker has the limits of all such claims, `NOT_AGAINST`, before its own.
    """

    adversary: Adversary
    theorem: str
    limits: tuple[str, ...] = ()
    promise: str = ""
    assumptions: tuple[str, ...] = ()
    jointly: bool = False

    def __post_init__(self) -> None:
        if self.adversary is Adversary.ALGORITHM_AWARE:
            own = tuple(limit for limit in self.limits if limit not in NOT_AGAINST)
            object.__setattr__(self, "limits", (*NOT_AGAINST, *own))
