# SPDX-License-Identifier: Apache-2.0
"""Recheck: does a release keep its promise? Asked of the second implementation, from the published tables alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import catalog
from glasshouse.declarations import tree_of_axis
from glasshouse.errors import GlasshouseError, GuaranteeBroken, NotSupported, SourceError
from glasshouse.journeys.load import load, promised_by_recipe
from glasshouse.microdata import Column, read
from glasshouse.microdata.domains import text_of
from glasshouse.principles.principle import Requirement
from glasshouse.release.layout import FOREIGN, layout_of
from glasshouse.verification import Check, Verification, verify_table
from glasshouse.verification.beliefs import growth_stays_within, worst_belief
from glasshouse.verification.verify_table import views_of

if TYPE_CHECKING:
    from fractions import Fraction

    from glasshouse.microdata import Microdata
    from glasshouse.principles.background_sensitive import BackgroundSensitive
    from glasshouse.principles.principle import Part, Principle
    from glasshouse.recoding.perturbed import Perturbed
    from glasshouse.release import Guarantee, Release

__all__ = ["recheck", "verify_release"]

_PARTS = {
    "promise": "the promise",
    "adversary": "the adversary",
    "adversary_knows": "what she knows",
    "theorem": "the theorem",
    "assumptions": "what is assumed",
    "limits": "what is not promised",
}
"""The parts of a guarantee, and how they are called."""


def recheck(release: Release, requirement: Requirement) -> Verification:
    """Recount the published tables; raise `GuaranteeBroken` unless every group satisfies the requirement.

    Where sensitive values are published apart from generalized quasi-identifiers, as ANGEL does, k is counted in the
    generalized tables, and everything else in the table of sensitive values.
    """
    if _is_sample(release):
        return _recount_sample(release, requirement.anonymity)
    found = _recount(release, requirement, brief=True)
    broken = [check for check in found.checks if not check.holds]
    if broken:
        raise GuaranteeBroken(f"the published tables break {broken[0].asked}", group=broken)
    return found


def verify_release(release: Release | str | Path) -> Verification:
    """Hold a release, or the folder of one, to what it promises; see `glasshouse.verify`.

    The words of a release that another version wrote cannot be compared. What is counted is then what its recipe asks,
    and its guarantee is the one that this version makes of the recipe.
    """
    release = load(release) if isinstance(release, str | Path) else release
    try:
        return _verify(release)
    except GlasshouseError:
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
        raise SourceError("the release has a recipe that this version of Glasshouse cannot read") from None


def _verify(release: Release) -> Verification:
    if layout_of(release.recipe) is FOREIGN:
        raise NotSupported(
            "holding another tool's table to a promise, for Glasshouse promises nothing of it",
            instead="verify its file, and say what is asked: k, ell, t",
        )
    promised = promised_by_recipe(release)
    people = [table for table in release.tables.values() if set(table.column_names) & set(release.recipe.quasi)]
    own = [name for name in release.recipe.quasi if name in people[0].column_names]
    try:
        values = _values_of(release)
        requirement = Requirement.in_groups(catalog.principle_of(release.recipe), values)
        if requirement.target is None:
            found, kept = _recount(release, requirement, brief=False), []
        else:
            if not _is_sample(release):
                raise SourceError("the release promises what only a perturbed sample can keep, and is none")
            found = _recount_sample(release, requirement.anonymity)
            recoding = cast("Perturbed", catalog.recoding_of(release.recipe))  # of which samples are
            kept = _check_beliefs(recoding, requirement.target, values)
    except GuaranteeBroken as error:
        reason = str(error).partition("; nothing was published")[0]
        return replace(verify_table(people[0], quasi=own, brief=True), checks=(_said(reason, holds=False),))
    said = [
        _said("as many tuples as the release says", holds=_n_tuples(release, found) == release.n_tuples),
        *_compared(release.guarantee, promised),
    ]
    return replace(found, checks=(*found.checks, *kept, *said), counting=(*found.counting, *_about_words(release)))


def _compared(stated: Guarantee, promised: Guarantee) -> list[Check]:
    """Whether every part of a guarantee is, word for word, the one that the recipe stands for."""
    told, made = stated.to_data(), promised.to_data()
    return [
        _said(f"{what} is word for word what the recipe stands for", holds=told[key] == made[key])
        for key, what in _PARTS.items()
    ]


def _about_words(release: Release) -> list[str]:
    if not release.other_writer:
        return []
    return [
        f"the release was written by another version ({release.other_writer}): the words of its guarantee and of its "
        "README cannot be compared; what it promises is what this version makes of its recipe"
    ]


def _said(what: str, *, holds: bool) -> Check:
    return Check(asked=what, column=None, n_failing=0 if holds else 1, n_tuples=0, worst=())


def _values_of(release: Release) -> Microdata:
    """The published sensitive values as a table, with the orders and trees that the release tells; nobody's cells."""
    columns: dict[str, Any] = {}
    if _is_sample(release):
        columns = {name: release.data[name] for name in release.recipe.sensitive}
    else:
        for view in views_of(release.tables, release.recipe.quasi, release.recipe.sensitive):
            columns |= {name: view.table[name] for name in view.sensitive}
    nobody = next(name for name in map(str, range(len(columns) + 1)) if name not in columns)
    n_rows = len(next(iter(columns.values()))) if columns else release.n_tuples
    told = {column.name: column for column in release.columns if column.name in columns}
    axes = {name: column.axis for name, column in told.items() if column.axis is not None}
    table = read(
        pa.table({nobody: pa.nulls(n_rows, pa.int8()).fill_null(0), **columns}),
        quasi=[nobody],
        sensitive=list(columns) or None,
        # A number that was published is a name: amounts are refused, or binned, on the way in.
        categorical=[name for name, column in told.items() if column.kind == "category" or name not in axes],
        ordered={name: axis["order"] for name, axis in axes.items() if "heights" not in axis},
        taxonomies={name: tree_of_axis(axis) for name, axis in axes.items() if "heights" in axis},
        missing="category",
    )
    return replace(table, sensitive=tuple(_with_designated(column, release) for column in table.sensitive))


def _with_designated(column: Column, release: Release) -> Column:
    """The column with a place in its domain for designated values that are published nowhere.

    Somebody may have been dropped who had one; that nobody who is published has it does not break the promise.
    """
    asked = catalog.principle_of(release.recipe)
    asked = asked[column.name] if isinstance(asked, Mapping) else asked
    named = [value for one in asked.singles() for value in one.terms.named]
    domain = column.domain
    if None in named and not domain.missing:
        domain = replace(domain, missing=True)
    known = set(domain.texts)
    more = list(
        {text_of(value): value for value in named if value is not None and text_of(value) not in known}.values()
    )
    if not more or domain.tree is not None:
        return Column(domain, column.codes)
    try:
        values = pa.concat_arrays([domain.values, pa.array(more).cast(domain.values.type)])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return Column(domain, column.codes)
    codes = np.where(column.codes == len(domain.values), len(values), column.codes).astype(np.int32)
    return Column(replace(domain, values=values), codes)


def _n_tuples(release: Release, found: Verification) -> int:
    return int(pc.sum(release.data[layout_of(release.recipe).size]).as_py()) if _is_sample(release) else found.n_tuples


def _check_beliefs(recoding: Perturbed, target: BackgroundSensitive, values: Microdata) -> list[Check]:
    """Whether the retention keeps beliefs within what is asked, and every published value is of the declared domain."""
    if recoding.domain is None:
        return []  # and then nothing is promised
    (column,) = values.sensitive
    shown = {column.domain.texts[code] for code in set(column.codes.tolist()) if code < len(column.domain.values)}
    n_values, retention = len(recoding.domain), recoding.p
    assert retention is not None
    bound = target.bound or target.achieved(retention, n_values)
    return [
        _said("every published value is of the declared domain", holds=shown <= set(recoding.domain)),
        _said(f"a {target.bounded(bound).title}", holds=_is_kept(target, retention, n_values, bound)),
    ]


def _is_kept(target: BackgroundSensitive, retention: Fraction, n_values: int, bound: Fraction) -> bool:
    asked = target.terms.asked or {}
    if "rho1" in asked:
        return worst_belief(retention, n_values, target.k, target.lambda_, asked["rho1"]) <= bound
    return growth_stays_within(bound, retention, n_values, target.k, target.lambda_)


# -------------------------------------------------------------------------------------------------------- counting


def _is_sample(release: Release) -> bool:
    """Whether one tuple of each group is published, with the group's size."""
    return layout_of(release.recipe).size is not None


def _recount(release: Release, requirement: Requirement, *, brief: bool) -> Verification:
    """Count everything that is asked, in as few counts as it takes."""
    asked = [
        _question(part, occurring)
        for part in requirement.parts
        for principle in part.principle.singles()
        if (occurring := _occurring(principle, release, part)) is not None
    ]
    quasi, sensitive = release.recipe.quasi, release.recipe.sensitive
    found = []
    for view in views_of(release.tables, quasi, sensitive):
        for question in _together([_for_columns(question, view.sensitive) for question in asked] or [{}]):
            found.append(verify_table(view.table, quasi=view.quasi, sensitive=view.sensitive, brief=brief, **question))
    k = release.recipe.recoding.get("k")
    if k is not None:
        for table in release.tables.values():
            own = [name for name in quasi if name in table.column_names]
            if own:
                found.append(verify_table(table, quasi=own, k=k, brief=True))
    columns: Mapping[str, Any] = {name: what for one in found for name, what in one.columns.items()}
    checks = tuple(check for verification in found for check in verification.checks)
    return replace(found[0], columns=columns, checks=checks)


def _recount_sample(release: Release, k: int) -> Verification:
    """One tuple a group, with the group's size: different cells everywhere, nobody lost, no group below k."""
    found = verify_table(release.data, quasi=release.recipe.quasi)
    sizes = release.data[layout_of(release.recipe).size]
    if found.n_groups < found.n_tuples:
        raise GuaranteeBroken("two tuples of the sample have the same cells")
    if pc.min(sizes).as_py() < k:
        raise GuaranteeBroken(f"the sample has a group of fewer than {k:,} tuples")
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


def _question(part: Part, principle: Principle) -> dict[str, Any]:
    """Say what a principle asks for in the words of `verify`: all but a size is asked of its column."""
    asked = principle.terms.asked
    if asked is None:
        raise NotSupported(
            f"{principle.title}, which the second implementation does not know, so that nothing would check it",
            instead="use a principle of the catalogue",
        )
    if part.column is None:
        return dict(asked)
    question = {word: what if word == "k" else {part.column.name: what} for word, what in asked.items()}
    return question | (_axis(part) if "distance" in asked else {})


def _occurring(principle: Principle, release: Release, part: Part) -> Principle | None:
    """The principle without designated values that are published nowhere, of which nothing is left to count."""
    named = principle.terms.named
    if not named or part.column is None:
        return principle
    name = part.column.name
    own = next((table[name] for table in release.tables.values() if name in table.column_names), pa.array([]))
    shown = {"" if value is None else text_of(value) for value in pc.unique(own).to_pylist()}
    values = tuple(value for value in named if ("" if value is None else text_of(value)) in shown)
    return principle.naming(values) if values else None


def _axis(part: Part) -> dict[str, Any]:
    """The order or the tree along which t-closeness measures."""
    assert part.column is not None
    domain = part.column.domain
    if domain.tree is not None:
        return {"taxonomies": {domain.name: domain.tree}}
    return {"ordered": {domain.name: domain.values.to_pylist()}} if domain.ordered else {}
