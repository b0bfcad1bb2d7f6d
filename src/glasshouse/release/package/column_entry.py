# SPDX-License-Identifier: Apache-2.0
"""Column entries: a manifest's description of a survey weight and of a compound column, checked before use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from glasshouse.cells.compound import Part

__all__ = ["Malformed", "compound_parts", "weight_classes"]

_NUMBER: Final = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?")
_LISTS: Final = ("means", "cuts", "deviations")
_MOST: Final = 10_000  # classes, or parts


class Malformed(ValueError):
    """An invalid entry; the text says why."""


def weight_classes(told: Any) -> Mapping[str, tuple[str, ...]]:
    """The classes of a survey weight: as many means as deviations, ascending, with a cut between each two means.

    >>> weight_classes({"means": ["1.5", "4"], "cuts": ["2"], "deviations": ["0.1", "0.7"]})["cuts"]
    ('2',)
    """
    if not isinstance(told, Mapping) or set(told) != set(_LISTS):
        raise Malformed(
            "the survey weight is described by something other than the means, cuts and deviations of its classes"
        )
    for own in told.values():
        if not isinstance(own, list) or len(own) > _MOST or not all(map(_is_number, own)):
            raise Malformed("the classes of the survey weight are not given as numbers")
    means, cuts, deviations = (list(map(float, told[name])) for name in _LISTS)
    if not len(means) == len(cuts) + 1 == len(deviations) or means[0] <= 0:
        raise Malformed("the classes of the survey weight contradict each other")
    between = [number for pair in zip(cuts, means[1:], strict=True) for number in pair]
    line = [means[0], *between, float("inf")]  # a mean may be the number with which its class begins
    if any(a > b or (a == b and at % 2 == 0) for at, (a, b) in enumerate(pairwise(line))):
        raise Malformed("the classes of the survey weight are not in ascending order")
    return {name: tuple(told[name]) for name in _LISTS}


def compound_parts(told: Any, kinds: tuple[str, ...]) -> tuple[Part, ...]:
    """The columns of a compound one, two or more, each with a name and one of the kinds of values."""
    if not isinstance(told, list) or not 1 < len(told) <= _MOST:
        raise Malformed("a compound column has fewer than two parts")
    for part in told:
        if not isinstance(part, Mapping) or set(part) != {"name", "kind"} or part["kind"] not in kinds:
            raise Malformed(
                "a part of a compound column is described without its name or without the kind of its values"
            )
    names = [part["name"] for part in told]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise Malformed("a compound column has a part without a name, or the same part twice")
    return tuple(Part(part["name"], part["kind"]) for part in told)


def _is_number(text: Any) -> bool:
    return isinstance(text, str) and _NUMBER.fullmatch(text) is not None
