# SPDX-License-Identifier: Apache-2.0
"""What the cuts that were not made tell, slowly: the tree is rebuilt from the groups, and every world is judged.

MINIMALITY 2.4 and Appendix C. At a node an algorithm tries cuts in an order that quasi-identifiers alone decide. A cut
with a published group on both sides cannot have been made, so it was tried in vain; the first that parts no group was
made, for both its sides are unions of safe groups, and so they are safe themselves (the principle is monotone). A world
gives the values of each group to its people, each way equally likely; it is possible if every cut tried in vain has a
part that breaks the principle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

__all__ = ["Cut", "beliefs", "even_cuts", "failed", "relaxed_cuts", "strict_cuts", "symmetric_cuts"]

Codes = Sequence[tuple[int, ...]]
Places = Sequence[Sequence[int | Fraction]]  # per dimension and code, the place on the axis
Node = list[int]
Cut = tuple[tuple[int, ...], tuple[int, ...]]  # the people of both parts
Tries = Callable[[Node], Iterator[Cut]]  # the cuts that an algorithm tries at a node, in order


def _by_width(codes: Codes, places: Places, node: Node) -> list[int]:
    """Dimensions on which the node's people differ, the widest first as a share of the whole table's width."""

    def width(people: Sequence[int], dim: int) -> int | Fraction:
        found = [places[dim][codes[i][dim]] for i in people]
        return max(found) - min(found)

    def share(dim: int) -> Fraction:
        whole = width(range(len(codes)), dim)
        return Fraction(width(node, dim)) / whole if whole else Fraction(0)

    several = [dim for dim in range(len(places)) if len({codes[i][dim] for i in node}) > 1]
    return sorted(several, key=lambda dim: (-share(dim), dim))


def strict_cuts(codes: Codes, places: Places) -> Tries:
    """Mondrian between values: on every dimension, the border that divides most evenly."""

    def tries(node: Node) -> Iterator[Cut]:
        for dim in _by_width(codes, places, node):
            values = sorted({codes[i][dim] for i in node})
            parts = [
                (tuple(i for i in node if codes[i][dim] < border), tuple(i for i in node if codes[i][dim] >= border))
                for border in values[1:]
            ]
            yield min(parts, key=lambda cut: (abs(len(cut[0]) - len(cut[1])), len(cut[0])))

    return tries


def relaxed_cuts(codes: Codes, places: Places, ties: Sequence[int]) -> Tries:
    """Mondrian by halves: on every dimension, the first half in order of value, then of ``ties[person]``."""

    def tries(node: Node) -> Iterator[Cut]:
        for dim in _by_width(codes, places, node):
            yield _halved(sorted(node, key=lambda i: (codes[i][dim], ties[i])), len(node) // 2)

    return tries


def even_cuts(codes: Codes, places: Places, ties: Sequence[int]) -> Tries:
    """Even splits: halves on the widest dimension alone; people who are equal in all are halved in order of ties."""

    def tries(node: Node) -> Iterator[Cut]:
        if len(node) > 1:
            dim = [*_by_width(codes, places, node), 0][0]
            yield _halved(sorted(node, key=lambda i: (codes[i][dim], ties[i])), len(node) // 2)

    return tries


def symmetric_cuts(order: Sequence[int]) -> Tries:
    """Symmetric Grouping: halves along one order of all people; of an odd number the left half has one more."""
    rank = {person: place for place, person in enumerate(order)}

    def tries(node: Node) -> Iterator[Cut]:
        if len(node) > 1:
            yield _halved(sorted(node, key=lambda i: rank[i]), (len(node) + 1) // 2)

    return tries


def _halved(ordered: Node, half: int) -> Cut:
    return tuple(sorted(ordered[:half])), tuple(sorted(ordered[half:]))


def failed(n_people: int, groups: Sequence[frozenset[int]], tries: Tries) -> list[Cut]:
    """All cuts that were tried in vain on the way from everybody to the groups."""
    found: list[Cut] = []

    def descend(node: Node) -> None:
        for left, right in tries(node):
            if any(group & set(left) and group & set(right) for group in groups):
                found.append((left, right))
                continue
            descend(list(left))
            descend(list(right))
            return
        assert frozenset(node) in groups, "these groups are not those of the algorithm"

    descend(list(range(n_people)))
    return found


def _arrangements(counts: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """Every different order of so many of each value."""
    if not any(counts.values()):
        yield ()
    for code, count in sorted(counts.items()):
        if count:
            for rest in _arrangements({**counts, code: count - 1}):
                yield (code, *rest)


def beliefs(
    groups: Sequence[frozenset[int]],
    published: Sequence[Mapping[int, int]],
    cuts: Sequence[Cut],
    holds: Callable[[list[int]], bool],
    known: Mapping[int, int] | None = None,
) -> dict[int, dict[int, Fraction]]:
    """What is believed of everybody: the share of the possible worlds in which they have each value.

    ``published[g]`` counts the values of group ``g``; ``known`` are the people whose value the attacker has found out.
    """
    members = [sorted(group) for group in groups]
    ways = [list(_arrangements(counts)) for counts in published]
    total = 0
    joint: dict[int, Counter[int]] = {person: Counter() for group in groups for person in group}
    for chosen in product(*ways):
        world = {
            person: code
            for people, codes in zip(members, chosen, strict=True)
            for person, code in zip(people, codes, strict=True)
        }
        if any(world[person] != code for person, code in (known or {}).items()):
            continue
        if any(all(holds([world[i] for i in part]) for part in cut) for cut in cuts):
            continue
        total += 1
        for person, code in world.items():
            joint[person][code] += 1
    return {person: {c: Fraction(n, total) for c, n in sorted(row.items())} for person, row in joint.items()}
