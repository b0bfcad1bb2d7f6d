# SPDX-License-Identifier: Apache-2.0
"""People whom a greedy method left out at the end of its order: the values with which they would not make a group."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from glasshouse import plural
from glasshouse.errors import InputError, NotSupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["unpublished_beliefs"]


def unpublished_beliefs(
    sizes: tuple[int, ...], *, counted: NDArray[np.bool_], ell: int, p: Fraction, room: Integers, most_states: int
) -> Floats:
    """Probabilities for people who are not published: they may have any values with which they make no group.

    Values that are not counted are one kind to the algorithm. All in exact numbers, place by place.
    """
    listed = np.flatnonzero(counted)
    ways = [1] * len(listed) + [len(room) - len(listed)]
    n = sum(sizes)
    if (n + 1) ** len(listed) * n > most_states:
        raise NotSupported(
            f"the probabilities for {plural.counted(n, 'person who was', 'people who were')} not published cannot be "
            "computed: "
            f"{plural.counted(len(listed), 'value')} would have to be considered, which is too much work",
            instead="publish with last='merge', or use linking",
        )
    borders = set(np.cumsum(sizes).tolist())
    room_of = [*room[listed].tolist(), n]

    def worth(held: tuple[int, ...], at: int) -> Fraction:
        if at not in borders:
            return Fraction(1)
        complete = max(held[:-1], default=0) * ell <= at
        if at == n:
            return Fraction(not complete)
        return p if complete else Fraction(1)

    def after(held: tuple[int, ...], kind: int) -> tuple[int, ...] | None:
        if held[kind] >= room_of[kind]:
            return None
        return (*held[:kind], held[kind] + 1, *held[kind + 1 :])

    chances: list[dict[tuple[int, ...], Fraction]] = [{(0,) * len(ways): Fraction(1)}]
    for at in range(1, n + 1):
        layer: dict[tuple[int, ...], Fraction] = {}
        for held, chance in chances[-1].items():
            for kind, number in enumerate(ways):
                moved = after(held, kind) if number else None
                if moved is not None and (value := worth(moved, at)):
                    layer[moved] = layer.get(moved, Fraction(0)) + chance * number * value
        chances.append(layer)
    if not chances[-1]:
        raise InputError(
            "no values of the people who were not published explain why they formed no group: check that the "
            "people, the principle, the method and its parameters are those of the release"
        )
    hopes = [dict.fromkeys(chances[-1], Fraction(1))]
    for at in range(n - 1, -1, -1):
        hope = {}
        for held in chances[at]:
            hope[held] = sum(
                (
                    number * worth(moved, at + 1) * hopes[-1].get(moved, Fraction(0))
                    for kind, number in enumerate(ways)
                    if (moved := after(held, kind)) is not None
                ),
                Fraction(0),
            )
        hopes.append(hope)
    hopes.reverse()
    beliefs = np.zeros((len(sizes), len(room)))
    for bucket, at in enumerate(np.cumsum([0, *sizes[:-1]]).tolist()):
        shares = [Fraction(0)] * len(ways)
        for held, chance in chances[at].items():
            for kind, number in enumerate(ways):
                moved = after(held, kind)
                if moved is not None and number:
                    shares[kind] += chance * number * worth(moved, at + 1) * hopes[at + 1].get(moved, Fraction(0))
        total = sum(shares)
        beliefs[bucket, listed] = [float(share / total) for share in shares[:-1]]
        if ways[-1]:
            beliefs[bucket, ~counted] = float(shares[-1] / total / ways[-1])
    return beliefs
