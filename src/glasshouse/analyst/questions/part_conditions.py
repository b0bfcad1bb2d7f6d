# SPDX-License-Identifier: Apache-2.0
"""Conditions on parts of compound columns: a set of values of a part is a set of values of the compound column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.analyst.questions.question import Like, Not, Test
from glasshouse.supports.value_sets import ValueSet

if TYPE_CHECKING:
    from glasshouse.analyst.questions.question import Condition
    from glasshouse.supports.evidence import Evidence

__all__ = ["without_parts"]


def without_parts(evidence: Evidence, condition: Condition) -> Condition:
    """The same condition, with tests of compound columns in the place of those of their parts."""
    if isinstance(condition, Test):
        if condition.column not in evidence.parts:
            return condition
        home = evidence.home_of(condition.column)
        whole = evidence.domain_of(evidence.published(home))
        of_part = evidence.sensitive_values(condition.column)
        own = [value for value, part in zip(whole, of_part, strict=True) if part in condition.values]
        return Test(home, ValueSet.of(own))
    if isinstance(condition, Like):
        raise AssertionError("a pattern was not made a set of values")
    if isinstance(condition, Not):
        return Not(without_parts(evidence, condition.part))
    return type(condition)(tuple(without_parts(evidence, part) for part in condition.parts))
