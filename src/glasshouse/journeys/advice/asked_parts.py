# SPDX-License-Identifier: Apache-2.0
"""Asked parts: what of a request a table can keep, where it cannot keep all of it, and how a way keeps it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from glasshouse.principles.all_of import AllOf
from glasshouse.principles.k_anonymity import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from glasshouse.journeys.advice.sketch import Sketch
    from glasshouse.principles.principle import Principle

__all__ = ["AskedParts", "together"]


@dataclass(frozen=True, kw_only=True)
class AskedParts:
    """The parts of a request that a table can keep.

    Parameters
    ----------
    k
        How many records a group was asked to have; 0 if that was not asked, or the table is smaller.
    each
        By sensitive column, what was asked of its values and is possible.
    """

    k: int
    each: Mapping[str, tuple[Principle, ...]]

    @classmethod
    def of(cls, sketch: Sketch, asked: Principle | Mapping[str, Principle]) -> AskedParts:
        """Find the parts. What was asked of all columns at once must be possible for all of them.

        >>> import glasshouse as gh
        >>> from glasshouse.journeys.advice.sketch import Sketch
        >>> table = gh.read({"age": [*range(20)], "hiv": ["no"] * 17 + ["yes"] * 3}, quasi=["age"], sensitive="hiv")
        >>> AskedParts.of(Sketch.of(table), gh.AllOf(gh.LDiversity(ell=3), gh.KAnonymity(k=4), gh.TCloseness("0.1")))
        AskedParts(k=4, each={'hiv': (TCloseness(t='0.1', distance='equal'),)})
        """
        columns = {name: sketch.only(i) for i, name in enumerate(sketch.sensitive)}
        if isinstance(asked, Mapping):
            singles = {name: asked[name].singles() if name in asked else () for name in columns}
            judges = columns
        else:
            singles = dict.fromkeys(columns, asked.singles())
            judges = dict.fromkeys(columns, sketch)
        ks = [one.terms.anonymity for given in singles.values() for one in given]
        return cls(
            k=max((k for k in ks if k <= sketch.n_people), default=0),
            each={
                name: tuple(
                    one
                    for one in given
                    if one.needs_sensitive
                    and not one.bounds_beliefs
                    and judges[name].requirement(one).first_ineligible() is None
                )
                for name, given in singles.items()
            },
        )

    def closeness(self, name: str) -> Principle | None:
        """The t-closeness that was asked of a column; None if it was not."""
        return next((one for one in self.each.get(name, ()) if one.terms.closeness is not None), None)

    def added_to(
        self, principle: Principle | Mapping[str, Principle], columns: Sequence[str], *, values: bool = True
    ) -> Principle | dict[str, Principle]:
        """A principle for these columns with the parts; only with the size of groups unless ``values``."""
        sizes = (KAnonymity(k=self.k),) if self.k > 1 else ()
        if not columns:
            assert not isinstance(principle, Mapping)
            return together((principle, *sizes))
        own = principle if isinstance(principle, Mapping) else dict.fromkeys(columns, principle)
        each = {name: together((own[name], *(self.each[name] if values else ()), *sizes)) for name in columns}
        same = len(set(map(repr, each.values()))) == 1 and not isinstance(principle, Mapping)
        return each[columns[0]] if same else each

    def given_up(self, columns: Sequence[str], *, sizes: bool, values: bool) -> str:
        """What a way for these columns gives up of the parts, as a sentence; empty if nothing."""
        lost = list(self._lost(columns)) if values else []
        if sizes and self.k > 1:
            lost.append(KAnonymity(k=self.k).title)
        return (
            f"This way gives up something else that you asked for and the table allows: {', '.join(lost)}."
            if lost
            else ""
        )

    def _lost(self, columns: Sequence[str]) -> Iterator[str]:
        for name in columns:
            for one in self.each[name]:
                yield f"{one.title} of {name}"


def together(several: Iterable[Principle]) -> Principle:
    """One principle that asks for all of these, without what another of them asks for already.

    >>> import glasshouse as gh
    >>> together([gh.TCloseness("0.1"), gh.KAnonymity(5), gh.TCloseness("0.2"), gh.KAnonymity(3)])
    AllOf(principles=(TCloseness(t='0.1', distance='equal'), KAnonymity(k=5)))
    """
    found: list[Principle] = []
    for one in (single for principle in several for single in principle.singles()):
        for i, other in enumerate(found):
            joined = other.joined(one)
            if joined is not None:
                found[i] = joined
                break
        else:
            found.append(one)
    return found[0] if len(found) == 1 else AllOf(principles=found)
