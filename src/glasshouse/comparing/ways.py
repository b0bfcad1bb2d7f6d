# SPDX-License-Identifier: Apache-2.0
"""Ways: the methods and recodings of the catalogue that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.errors import NotSupported
from glasshouse.grouping import Mondrian, RandomisedGreedy, Refined, Tailor
from glasshouse.principles import BackgroundSensitive, Requirement
from glasshouse.recoding import Perturbed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from glasshouse.microdata import Microdata
    from glasshouse.principles import Principle

__all__ = ["methods_of", "recodings_of"]

# Where a method has no usual parameters, or two that are both in use.
_PARAMETERS: Mapping[str, tuple[Any, ...]] = {
    Mondrian.name: (Mondrian(), Mondrian(partitioning="relaxed")),
    RandomisedGreedy.name: (RandomisedGreedy(p="1/3"),),
    Refined.name: (Refined(coarse=Tailor()),),
}
_NOT_PERTURBED = "it keeps a bound on beliefs, RhoBreach or DeltaGrowth, and no principle that judges groups"


def methods_of(given: Iterable[Any] | None, principle: Principle | Mapping[str, Principle]) -> list[Any]:
    """The methods to compare: those that are given, by name or as objects, or all of the catalogue."""
    if given is None and isinstance(principle, BackgroundSensitive):
        return [Mondrian()]  # the one whose groups perturbed generalization may take
    found = []
    for method in catalog.METHODS if given is None else given:
        if not isinstance(method, str):
            found.append(method)
        elif method in _PARAMETERS:
            found += _PARAMETERS[method]
        else:
            found.append(catalog.from_data(catalog.METHODS, {"name": method}))
    return found


def recodings_of(
    given: Iterable[Any] | None, principle: Principle | Mapping[str, Principle], table: Microdata
) -> tuple[list[Any], dict[str, str]]:
    """The recodings to compare, and of those of the catalogue that do not fit why they do not."""
    if given is not None:
        chosen = [catalog.from_data(catalog.RECODINGS, {"name": r}) if isinstance(r, str) else r for r in given]
        return chosen, {}
    if isinstance(principle, BackgroundSensitive):
        return [Perturbed()], {}
    requirement = Requirement.of(principle, table)
    found, left_out = [], {}
    for name, recoding in catalog.RECODINGS.items():
        if recoding is Perturbed:
            left_out[name] = _NOT_PERTURBED
            continue
        made = recoding()
        try:
            (made.resolved(requirement) if hasattr(made, "resolved") else made).check(table, requirement)
        except NotSupported as refusal:
            left_out[name] = str(refusal)
        else:
            found.append(made)
    return found, left_out
