# SPDX-License-Identifier: Apache-2.0
"""True values: what people really have, by which the steward judges an attacker's guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.knowledge import key_of
from glasshouse.errors import InputError, SchemaError
from glasshouse.microdata.spelling import decimal_commas
from glasshouse.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.risks.risk_attack import Scene
    from glasshouse.microdata import Microdata

__all__ = ["true_values"]


def true_values(scene: Scene, people: Microdata, values: Sequence[Any] | None = None) -> NDArray[np.int64]:
    """Everybody's value by its code; one more than the last for a value that the release does not show.

    Codes are those of the published values, or of other ``values`` that are given, such as a declared domain.
    """
    contents, which = scene.contents, "the table" if people is scene.table else "the control table"
    column = next((one for one in people.sensitive if one.name == contents.column), None)
    if column is None:
        raise SchemaError(
            f"{which} has no sensitive column {contents.column!r}, which is needed to count right guesses: "
            f"read it with sensitive={contents.column!r}",
            column=contents.column,
        )
    place = {key_of(value): code for code, value in enumerate(contents.values if values is None else values)}
    codes = [place.get(key_of(value), len(place)) for value in column.domain.listed()]
    truth = np.array([*codes, len(place)], np.int64)[column.codes]
    strange = int(np.count_nonzero(truth == len(place)))
    may_be_gone = scene.release.n_dropped > 0 or contents.kind == "sample" or people is not scene.table
    if strange and (not may_be_gone or strange == people.n_tuples):
        commas = column.domain.kind == "category" and decimal_commas(column.domain.values)
        decimal = "decimal=',' (its numbers seem to have a decimal comma), and with " if commas else ""
        raise InputError(
            f"{counted(strange, 'person')} of {which} {'has' if strange == 1 else 'have'} a value of "
            f"{contents.column!r} that is not in the release: read {which} with {decimal}the same "
            "bins=, categorical= and normalise= as the published table"
        )
    return truth
