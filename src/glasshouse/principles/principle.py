# SPDX-License-Identifier: Apache-2.0
"""What every principle is: a constraint on the distribution of sensitive values in a group.

Tao, Chen, Xiao, Zhou, Zhang, "ANGEL: Enhancing the Utility of Generalization for Privacy Preserving Publication", TKDE
2009 (ANGEL). Definition 4: a principle sees a group's sensitive values and nothing else; here it sees `Counts`.
Definition 5: it is *monotone* when the union of two groups that obey it obeys it. Every principle here is.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from glasshouse.errors import Infeasible, InputError, NotSupported
from glasshouse.principles.parameters import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from glasshouse.microdata.counts import Counts
    from glasshouse.microdata.domains import Domain

__all__ = ["Bound", "Caps", "Principle"]


class Bound(Protocol):
    """A principle that can judge groups: bound to the table where it needs to know the table."""

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that obey it obeys it."""

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group; a group without tuples obeys nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caps:
    """When a group breaks a principle: it is too small, or too large a share of it has some value.

    ``values`` are those that are capped; None stands for all of them.
    """

    least: int = 1
    share: Fraction = Fraction(1)
    values: tuple[Any, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Principle:
    """A privacy principle: a frozen value, checked when made, that prints as the code that makes it."""

    name: ClassVar[str]
    """What the catalogue, the command line and manifests call it."""
    monotone: ClassVar[bool] = True
    """ANGEL Definition 5: the union of two groups that obey it obeys it."""

    bounds_beliefs: ClassVar[bool] = False
    """Whether it is a promise about beliefs, which no group can keep or break: see `BackgroundSensitive`."""

    @property
    def needs_sensitive(self) -> bool:
        """Whether it says something about sensitive values, and so needs a sensitive column."""
        return True

    @property
    def anonymity(self) -> int:
        """How many people must look alike, the k of k-anonymity; 0 if it does not ask for it."""
        return 0

    @property
    def smallest_group(self) -> int | None:
        """How many tuples a group has at least, as far as the principle names it: its k or its l."""
        return None

    @property
    def one_in(self) -> int | None:
        """The l, if all it asks is that of so many tuples at most one has the same value, or one of `named`."""
        return None

    @property
    def named(self) -> tuple[Any, ...]:
        """The sensitive values that it names; empty if it speaks of all of them."""
        return ()

    def naming(self, values: tuple[Any, ...]) -> Principle:
        """The same principle, naming these values in place of `named`."""
        del values
        return self

    @property
    def closeness(self) -> Fraction | None:
        """The t, if all it asks is that groups are so close to the whole table."""
        return None

    @property
    def caps(self) -> tuple[Caps, ...] | None:
        """What it asks as caps on sizes and shares, all of which must be kept; None if it asks something else."""
        return None if self.one_in is None else (Caps(share=Fraction(1, self.one_in), values=self.named or None),)

    def singles(self) -> tuple[Principle, ...]:
        """The principles of a combination, one by one; else itself."""
        return (self,)

    def grouping(self) -> Principle:
        """What every group must obey."""
        return self

    def asked(self) -> dict[str, Any]:
        """What it asks for in the words of `verify`, the second implementation, which must know it."""
        raise NotSupported(
            f"{self.title}, which the second implementation does not know, so that nothing would check it",
            instead="use a principle of the catalogue",
        )

    @property
    def title(self) -> str:
        """The principle with its numbers, as in "8-diversity"."""
        raise NotImplementedError

    def describe(self, column: str | None = None) -> str:
        """Say in one sentence what holds, for manifests; ``column`` is the sensitive column."""
        raise NotImplementedError

    def bind(self, whole: Counts, domain: Domain | None = None) -> Bound:
        """Bind to a table: ``whole`` counts all its tuples as one group, ``domain`` is the sensitive column's.

        A principle that looks at groups alone is already bound.
        """
        return self

    def spelled_as(self, domain: Domain) -> Principle:
        """The same principle, with the values that it names spelled as in the column that it is asked of."""
        del domain
        return self

    def concerned(self, n_values: int, domain: Domain | None = None) -> NDArray[np.bool_]:
        """Which sensitive values can be too frequent for it, a truth value per code; all, unless it says less."""
        return np.ones(n_values, np.bool_)

    def holds(self, counts: Counts) -> NDArray[np.bool_]:
        """Judge each group, exactly; a group without tuples obeys nothing."""
        raise NotImplementedError

    def feasible(self, whole: Counts, domain: Domain | None = None) -> Self | None:
        """Give the strictest principle of this kind that the whole table obeys, or None where there is none."""
        raise NotImplementedError

    def eligible(self, whole: Counts, domain: Domain | None = None) -> bool:
        """Whether the table itself obeys the principle. As it is monotone, no release can otherwise."""
        return bool(self.bind(whole, domain).holds(whole)[0])

    def check_eligible(self, whole: Counts, *, column: str | None = None, domain: Domain | None = None) -> None:
        """Raise `Infeasible` with a witness unless the table itself obeys the principle."""
        if whole.sizes[0] == 0:
            raise Infeasible(f"{self.title} is out of reach: the table has no tuples", principle=self, count=0, of=0)
        if not self.eligible(whole, domain):
            raise self._infeasible(whole, column, domain)

    def _infeasible(self, whole: Counts, column: str | None, domain: Domain | None) -> Infeasible:
        """Make the error that tells why the table does not obey, and what it would obey."""
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
