# SPDX-License-Identifier: Apache-2.0
"""The order of people whose values of an attribute are equal, for Tailor, Ace and Hybrid.

TRANSPARENT Definition 9 orders them by identifier. A release is a function of how many people there are of each kind,
which has no identifiers. Without these, people come in the order of all quasi-identifiers, one after another, and those
who are equal in all of them in a secret order, drawn anew for each release. Any order will do for Theorems 1 to 3 that
does not depend on who has which sensitive value, and this one does not. It has two advantages over an order that is
random altogether: people who are alike stay together, so that cells are no wider; and it can be followed where people
are counted and not listed, so that a table is divided alike whether it is one piece or many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.grouping.mirror.halves import alike_together
from glasshouse.microdata.groups import tie_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Source

__all__ = ["ties_in_order"]


def ties_in_order(
    table: Microdata, source: Source, engine: Memory, sections: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """The records (row numbers) in the order that breaks ties; ``sections``, if given, follow one another.

    A table in sections has no identifiers: it was made of kinds.
    """
    if table.identifier is not None:
        assert sections is None, "kinds have no identifiers"
        return tie_order(table, source)
    return alike_together(table, source, engine, sections)
