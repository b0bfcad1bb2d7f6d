# SPDX-License-Identifier: Apache-2.0
"""Recheck: does a release keep its promise? Asked of the second implementation, from the published tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse import principles as p
from glasshouse.errors import GuaranteeBroken, NotSupported
from glasshouse.verify import Verification, verify_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.principles import Part, Principle, Requirement
    from glasshouse.release import Release

__all__ = ["recheck"]


def recheck(release: Release, requirement: Requirement) -> Verification:
    """Recount the published table; raise `GuaranteeBroken` unless every group satisfies the requirement."""
    asked = [_question(part, principle) for part in requirement.parts for principle in _single(part.principle)]
    for question in _together(asked):
        verification = verify_table(
            release.data, quasi=release.recipe.quasi, sensitive=release.recipe.sensitive, **question
        )
        if not verification.holds:
            broken = [check for check in verification.checks if not check.holds]
            raise GuaranteeBroken(f"the published tables break {broken[0].asked}", group=broken)
    return verification


def _together(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put questions into as few counts as they fit: one, unless two ask the same of the same column."""
    merged: list[dict[str, Any]] = []
    for question in questions:
        for other in merged:
            shared = {key for key in question.keys() & other.keys() if question[key] != other[key]}
            if all(isinstance(question[key], dict) and not question[key].keys() & other[key].keys() for key in shared):
                for key, value in question.items():
                    other[key] = {**other.get(key, {}), **value} if isinstance(value, dict) else value
                break
        else:
            merged.append(dict(question))
    return merged


def _single(principle: Principle) -> Iterator[Principle]:
    """The principles of a combination, one by one."""
    if isinstance(principle, p.AllOf):
        for inner in principle.principles:
            yield from _single(inner)
    else:
        yield principle


def _question(part: Part, principle: Principle) -> dict[str, Any]:
    """Say what a principle asks for in the words of `verify`."""
    column = part.column
    if isinstance(principle, p.KAnonymity):
        return {"k": principle.k}
    assert column is not None
    match principle:
        case p.LDiversity():
            return {"ell": {column.name: principle.ell}}
        case p.DistinctLDiversity():
            return {"distinct_ell": {column.name: principle.ell}}
        case p.EntropyLDiversity():
            return {"entropy_ell": {column.name: principle.ell}}
        case p.RecursiveLDiversity():
            return {"recursive": {column.name: (principle.c, principle.ell)}}
        case p.DesignatedLDiversity():
            return {"designated_ell": {column.name: principle.ell}, "designated": {column.name: principle.values}}
        case p.AlphaKAnonymity():
            return {"k": principle.k, "alpha": {column.name: principle.alpha}}
        case p.TCloseness():
            return {"t": {column.name: principle.t}, "distance": {column.name: principle.distance}, **_axis(part)}
    raise NotSupported(
        f"{principle.title}, which the second implementation does not know, so that nothing would check it",
        instead="use a principle of the catalogue",
    )


def _axis(part: Part) -> dict[str, Any]:
    """The order or the tree along which t-closeness measures."""
    assert part.column is not None
    domain = part.column.domain
    if domain.tree is not None:
        return {"taxonomies": {domain.name: domain.tree}}
    return {"ordered": {domain.name: domain.values.to_pylist()}} if domain.ordered else {}
