# SPDX-License-Identifier: Apache-2.0
"""Products: over which sets of people the tables that may have given a release are a product.

Where they are a product over groups, what is believed of a person follows from the few people of the person's group,
for any independent prior. Where they are not, evidence adds up over many groups.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.grouping.transparent.ace import Ace
from glasshouse.grouping.transparent.hybrid import Hybrid

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.adversary.task import Task

__all__ = ["ProductOver", "product_over"]

ProductOver = Literal["groups", "half-groups", "faces", "buckets", "none"]


def product_over(task: Task) -> ProductOver:
    """Of what sets the worlds of a release are a product, by its method and its principles.

    ``half-groups`` and ``faces`` are parts of groups, once the attacker is told which values these parts have; untold,
    failed tests tie groups to each other a little. In ``buckets`` all groups with the same values are tied.
    """
    if not any(principle.needs_sensitive for principle in task.principles):
        return "groups"  # which quasi-identifiers alone made
    return _OF_METHODS.get(type(task.method), _of_others)(task)


def _of_mirror(task: Task) -> ProductOver:
    method = task.made_by(Mirror)
    if len(task.principles) > 1 or method.inner == "none" or task.principles[0].terms.one_in is None:
        return "faces"
    if method.inner == "ace":
        return "buckets"
    return "groups" if Fraction(method.slack) >= 2 else "half-groups"


def _of_others(task: Task) -> ProductOver:
    return "groups" if task.method.exchangeable == "always" else "none"


_OF_METHODS: Final[dict[type, Callable[[Task], ProductOver]]] = {
    Mirror: _of_mirror,
    Ace: lambda _: "buckets",
    Hybrid: lambda _: "buckets",
}
