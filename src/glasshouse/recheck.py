# SPDX-License-Identifier: Apache-2.0
"""Recheck: does a release keep its promise? Asked of the second implementation, from the published tables alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from glasshouse import principles as p
from glasshouse.errors import GuaranteeBroken, NotSupported
from glasshouse.verify import Verification, verify_table
from glasshouse.verify.views import views_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.principles import Part, Principle, Requirement
    from glasshouse.release import Release

__all__ = ["recheck"]

_SIZE = "G"  # the column with the sizes of groups of which one tuple is published


def recheck(release: Release, requirement: Requirement) -> Verification:
    """Recount the published tables; raise `GuaranteeBroken` unless every group satisfies the requirement.

    Where sensitive values are published apart from generalized quasi-identifiers, as ANGEL does, k is counted in the
    generalized tables, and everything else in the table of sensitive values.
    """
    if any(_SIZE in table.column_names for table in release.tables.values()) and _SIZE not in (
        *release.recipe.quasi,
        *release.recipe.sensitive,
    ):
        return _recheck_sample(release, requirement)
    asked = [_question(part, principle) for part in requirement.parts for principle in _single(part.principle)]
    quasi, sensitive = release.recipe.quasi, release.recipe.sensitive
    views = views_of(release.tables, quasi, sensitive)
    found = []
    for view in views:
        for question in _together([_for_columns(question, view.sensitive) for question in asked]):
            found.append(verify_table(view.table, quasi=view.quasi, sensitive=view.sensitive, brief=True, **question))
    k = release.recipe.recoding.get("k")
    if k is not None:
        for table in release.tables.values():
            own = [name for name in quasi if name in table.column_names]
            if own:
                found.append(verify_table(table, quasi=own, k=k, brief=True))
    for verification in found:
        if not verification.holds:
            broken = [check for check in verification.checks if not check.holds]
            raise GuaranteeBroken(f"the published tables break {broken[0].asked}", group=broken)
    return replace(found[0], checks=tuple(check for verification in found for check in verification.checks))


def _recheck_sample(release: Release, requirement: Requirement) -> Verification:
    """One tuple a group, with the group's size: different cells everywhere, nobody lost, no group below k."""
    (part,) = requirement.parts
    assert isinstance(part.principle, p.KAnonymity)
    found = verify_table(release.data, quasi=release.recipe.quasi)
    sizes = release.data[_SIZE]
    if found.n_groups < found.n_tuples:
        raise GuaranteeBroken("two tuples of the sample have the same cells")
    if pc.min(sizes).as_py() < part.principle.k:
        raise GuaranteeBroken(f"the sample has a group of fewer than {part.principle.k:,} tuples")
    if pc.sum(sizes).as_py() != release.n_tuples:
        raise GuaranteeBroken("the groups of the sample do not add up to the table")
    return found


def _for_columns(question: dict[str, Any], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """The part of a question that concerns these columns."""
    return {
        key: {name: value[name] for name in value if name in sensitive} if isinstance(value, dict) else value
        for key, value in question.items()
    }


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
