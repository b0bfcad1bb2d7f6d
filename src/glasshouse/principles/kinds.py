# SPDX-License-Identifier: Apache-2.0
"""Every kind of principle by its name, and the way from plain data back to a principle."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError
from glasshouse.principles.all_of import AllOf
from glasshouse.principles.alpha_k import AlphaKAnonymity
from glasshouse.principles.delta_growth import DeltaGrowth
from glasshouse.principles.designated_l_diversity import DesignatedLDiversity
from glasshouse.principles.distinct_l_diversity import DistinctLDiversity
from glasshouse.principles.entropy_l_diversity import EntropyLDiversity
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.recursive_l_diversity import RecursiveLDiversity
from glasshouse.principles.rho_breach import RhoBreach
from glasshouse.principles.t_closeness import TCloseness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.principles.background_sensitive import BackgroundSensitive
    from glasshouse.principles.principle import Principle

__all__ = ["PRINCIPLES", "TARGETS", "principle_from_data"]

PRINCIPLES: dict[str, type[Principle]] = {
    kind.name: kind
    for kind in (
        KAnonymity,
        LDiversity,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        DesignatedLDiversity,
        AlphaKAnonymity,
        TCloseness,
        AllOf,
    )
}


# beside them: promises about beliefs, which no group can keep or break
TARGETS: dict[str, type[BackgroundSensitive]] = {kind.name: kind for kind in (RhoBreach, DeltaGrowth)}


def principle_from_data(data: Mapping[str, Any]) -> Principle:
    """Make a principle from what its ``to_data`` gave.

    >>> principle_from_data({"name": "l-diversity", "ell": 8})
    LDiversity(ell=8)
    """
    name = data.get("name")
    known = {**PRINCIPLES, **TARGETS}
    if name in known:
        return known[name].from_data(data)
    near = get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    raise InputError(f"there is no principle {name!r}: {hint}")
