# SPDX-License-Identifier: Apache-2.0
"""Read this first: the whole journey from a table to a release, one call per room."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse import catalog
from glasshouse.engines import Memory
from glasshouse.errors import DisclosureWarning, InputError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.cuts.snug import Snug
from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.grouping.sift.sift import Sift
from glasshouse.grouping.suppression import keep_eligible
from glasshouse.journeys.recheck import recheck
from glasshouse.journeys.republication import traces_of
from glasshouse.log import step
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.principles.parameters import exact_share
from glasshouse.principles.principle import Adversary, Principle, Requirement
from glasshouse.randomness import Source
from glasshouse.recoding.angel import Angel
from glasshouse.recoding.columns import check_carry, told_columns
from glasshouse.recoding.generalization import Boxes
from glasshouse.recoding.perturbed import Perturbed
from glasshouse.release import Recipe, Release
from glasshouse.release.package.pair import Pair
from glasshouse.release.package.write import check_savable, titled, write_audit, write_release

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.principles.principle import Claim
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.verification import Verification

__all__ = ["default_method", "default_recoding", "publish", "recipe_of"]


def publish(
    table: Microdata,
    *,
    principle: Principle | str | Mapping[str, Any],
    method: Method | str | Mapping[str, Any] | None = None,
    recoding: Recoding | str | Mapping[str, Any] | None = None,
    suppress: Any = 0,
    carry: str = "cells",
    source: Source | None = None,
    threads: int = 0,
    out: str | Path | None = None,
    format: str = "parquet",
    force: bool = False,
    allow_seed: bool = False,
    title: str | None = None,
    licence: str | None = None,
    finishing: Callable[[Release, Path, Path], None] | None = None,
) -> Release:
    """Divide a table under a principle, rewrite its groups, and check the result from the published tables alone.

    With ``out`` it is also written: to ``out/release``, which may go out, and ``out/audit``, which must stay inside.
    The audit keeps the partition, for later recodings of the same table, and what the release achieves; its owner alone
    can read it. Both folders appear together when all of the work is done, or none does.

    Parameters
    ----------
    table
        Microdata, from `read`.
    principle
        What safe means: a principle for every sensitive column, or a mapping from column to principle; or what may be
        believed after perturbation, `RhoBreach` or `DeltaGrowth`. A principle may also be named by its title, such as
        ``"5-diversity"``, ``"0.2-closeness"`` or ``"10-anonymity and distinct 3-diversity"``.
    method
        How the table is divided: a method; the name of one, which then has its usual parameters; or its plain data, as
        in a recipe. By default `Mirror` where sensitive values are to be protected, else `Snug`; for perturbed
        generalization `Mondrian`.
    recoding
        How groups are rewritten, in the same way. By default `Angel` for l-diversity of one sensitive
        column, `Perturbed` for `RhoBreach` and `DeltaGrowth`, else `Boxes`.
    suppress
        Largest share of tuples that may be dropped where the table as a whole breaks the principle.
    carry
        What goes out of the taxonomies and orders that were declared for quasi-identifiers. ``cells``: which published
        nodes lie within which, and nothing else. ``declared``: all of every tree and order, so that everybody can ask
        about any value; choose it if they were there before the data. Rules such as `Taxonomy.prefix` always go out.
    source
        Where random choices come from: the operating system's secure source unless a test gives a seeded one.
    threads
        How many threads to use; all cores by default. The result does not depend on it.
    out
        Folder that gets the two folders. Without it nothing is written until the release is saved.
    format
        With ``out``: ``parquet`` or ``csv``.
    force
        With ``out``: replace an earlier release and audit.
    allow_seed
        With ``out``: write a release whose random choices came from a fixed seed.
    title, licence
        What the release is called, and under which terms it may be used: an identifier or an address.
    finishing
        With ``out``: is called with the release and the folders of audit and release before these take their places; a
        report that it writes into the audit appears with it. If it fails, nothing is published.

    Returns
    -------
    Release
        Published tables, recipe and guarantee.

    Raises
    ------
    CautionError
        Something was found in the table that was neither mended nor accepted: see `read`.

    Examples
    --------
    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle="2-diversity")
    >>> release.tables["gt"].num_rows, release.n_dropped
    (8, 0)
    """
    if out is None:
        needing = {"format": format != "parquet", "force": force, "allow_seed": allow_seed, "finishing": finishing}
        if any(needing.values()):
            name = next(name for name, given in needing.items() if given)
            raise InputError(f"{name} says how a release is written: say where too, with out=FOLDER")
    pair = None if out is None else Pair(out, force=force)  # refuses a place that is taken before the work
    table.refuse_unanswered()
    traces = None if pair is None else traces_of(pair.audit, table)  # which warns if the table was published before
    release, partition, achieved = _journey(
        table,
        catalog.chosen_principle(principle),
        catalog.chosen(catalog.METHODS, method),
        catalog.chosen(catalog.RECODINGS, recoding),
        suppress,
        carry,
        source,
        threads,
    )
    if title is not None or licence is not None:
        release = titled(release, title, licence)
    if pair is None or traces is None:
        return release
    check_savable(release, format, allow_seed=allow_seed)
    report = {
        "notices": list(table.notices),
        "accepted": accepted_cautions(table.cautions, table.accepted),
        "achieved": achieved.to_dict(),
        "recipe": release.recipe.to_data(),
    }
    with pair.new() as (inside, outside):
        with step("write", rows=release.n_tuples, tables=len(release.tables)) as note:
            traces.write(inside)
            write_audit(inside, report, _who_is_where(table, partition))
            write_release(release, outside, format)
            note(bytes=sum(file.stat().st_size for file in outside.iterdir()))
        if finishing is not None:
            finishing(release, inside, outside)
    return release


def _journey(
    table: Microdata,
    principle: Principle | Mapping[str, Principle],
    method: Method | None = None,
    recoding: Recoding | None = None,
    suppress: Any = 0,
    carry: str = "cells",
    source: Source | None = None,
    threads: int = 0,
) -> tuple[Release, Groups, Verification]:
    """The journey itself; also the partition of the whole table, and what the second implementation counted."""
    started = time.process_time()
    table.refuse_unanswered()
    check_carry(carry)
    source = Source.secure() if source is None else source.for_one_release()
    engine = Memory(threads=threads)

    principle, table = _spelled(principle, recoding, table)
    kept, published, requirement = _eligible(table, principle, suppress, source)
    method, recoding, claim = _settled(method, recoding, requirement, published)
    groups = _divided(published, requirement, method, source, engine)
    tables = _recoded(published, groups, recoding, source, engine)
    release = Release(
        tables=tables,
        columns=told_columns(published, groups, tables, recoding, carry),
        recipe=recipe_of(published, principle, method, recoding, suppress, source),
        guarantee=recoding.guarantee(
            requirement,
            claim,
            n_sensitive=len(table.sensitive),
            n_whole=table.n_tuples,
            n_suppressed=table.n_tuples - len(kept),
            identified=table.identifier is not None,
        ),
        n_tuples=len(kept) - groups.n_dropped,
        n_dropped=table.n_tuples - len(kept) + groups.n_dropped,
        n_suppressed=table.n_tuples - len(kept),
        identified=table.identifier is not None,
        native=table.source_kind,
    )
    with step("recheck", rows=release.n_tuples, tables=len(tables)):
        achieved = recheck(release, requirement)  # from the published tables alone, by the second implementation
    release = replace(release, spent=time.process_time() - started)
    return release, groups if published is table else groups.spread(kept, table.n_tuples), achieved


def _spelled(
    principle: Principle | Mapping[str, Principle], recoding: Recoding | None, table: Microdata
) -> tuple[Principle | Mapping[str, Principle], Microdata]:
    """Bring what is declared and what is read to one spelling, where look-alikes are one value."""
    table = table if recoding is None else recoding.spelled(table)
    domains = {column.name: column.domain for column in table.sensitive if column.domain.normalised}
    if isinstance(principle, Mapping):
        each = {name: one.spelled_as(domains[name]) if name in domains else one for name, one in principle.items()}
        return each, table
    for domain in domains.values():
        if isinstance(principle, Principle):
            principle = principle.spelled_as(domain)
    return principle, table


def _eligible(
    table: Microdata, principle: Principle | Mapping[str, Principle], suppress: Any, source: Source
) -> tuple[NDArray[np.int32], Microdata, Requirement]:
    """The tuples that stay so that the table itself satisfies what is asked of groups; they; and what is asked."""
    with step("eligible", rows=table.n_tuples):
        exact_share(suppress)  # refused before the work, not after it
        requirement = Requirement.in_groups(principle, table)
        if requirement.first_ineligible() is None:
            return np.arange(table.n_tuples, dtype=np.int32), table, requirement
        kept = keep_eligible(table, principle, suppress, source)
        published = table.take(kept)
        requirement = Requirement.in_groups(principle, published)
        requirement.check_eligible()
    return kept, published, requirement


def _settled(
    method: Method | None, recoding: Recoding | None, requirement: Requirement, table: Microdata
) -> tuple[Method, Recoding, Claim]:
    """Method and recoding with every parameter fixed, and what is claimed of the release."""
    recoding = default_recoding(requirement) if recoding is None else recoding
    method = default_method(requirement, recoding) if method is None else method
    recoding = recoding.settle(requirement, method, table)
    recoding.check(table, requirement)
    claim = recoding.claimed(method.claimed(requirement), requirement, [column.name for column in table.sensitive])
    if claim.adversary is Adversary.LINKING:
        what = f"the release promises {claim.promise}" if claim.promise else _attackable(method)
        warnings.warn(what, DisclosureWarning, stacklevel=4)
    elif method.independent(requirement) == "buckets":
        warnings.warn(_tied(method), DisclosureWarning, stacklevel=4)
    return method, recoding, claim


def _divided(table: Microdata, requirement: Requirement, method: Method, source: Source, engine: Memory) -> Groups:
    """The groups, with numbers that tell nothing."""
    with step("divide", rows=table.n_tuples) as note:
        groups = method.divide(table, requirement, source=source, engine=engine)
        groups = groups.renumbered(source.child("group numbers"))
        note(groups=groups.n_groups)
    return groups


def _recoded(
    table: Microdata, groups: Groups, recoding: Recoding, source: Source, engine: Memory
) -> dict[str, pa.Table]:
    """The published tables."""
    with step("recode", rows=table.n_tuples, groups=groups.n_groups):
        return recoding.recode(
            table, groups, source=source.child("recoding"), divide=partial(Mondrian().divide, engine=engine)
        )


def default_method(requirement: Requirement, recoding: Recoding) -> Method:
    """The method where none is named: the safest there is for what is asked.

    For l-diversity of one column Sift, which holds against an attacker who knows it and a little about people besides.
    Where cells enclose whole groups and l is 3 or more, Mirror, whose cells are smaller, and which holds against such
    an attacker with a weaker bound. Under other principles that judge sensitive values Mirror, which holds against an
    attacker who knows it. For k-anonymity alone Snug, which then looks at no sensitive value, so that knowing it tells
    nothing either. For perturbed generalization Mondrian, whose boxes are disjoint.
    """
    if requirement.target is not None:
        return Mondrian()
    ell = requirement.frequency_ell
    if ell is not None and (ell == 2 or not recoding.layout.around_groups):
        return Sift()
    return Mirror() if requirement.columns else Snug()


def default_recoding(requirement: Requirement) -> Recoding:
    """The recoding where none is named.

    ANGEL with k = l for l-diversity of one sensitive column: batches hide the values, buckets hide who is there.
    Perturbed generalization for promises about beliefs. Boxes for anything else.
    """
    if requirement.target is not None:
        return Perturbed()
    return Boxes() if requirement.frequency_ell is None else Angel()


def _attackable(method: Method) -> str:
    return (
        f"an adversary who knows that the method {method.name!r} was used may learn more than is promised: "
        "without a method named, the default one holds against such an adversary too"
    )


def _tied(method: Method) -> str:
    return (
        f"the method {method.name!r} ties its groups to each other: an attacker who knows that a value goes with "
        "larger or smaller quasi-identifiers can infer the values of nearly everybody; the method 'sift' does not have "
        "this weakness"
    )


def recipe_of(
    table: Microdata,
    principle: Principle | Mapping[str, Principle],
    method: Method,
    recoding: Recoding,
    suppress: Any,
    source: Source,
) -> Recipe:
    """Describe how a release is made, as plain data."""
    return Recipe(
        principle=catalog.principle_to_data(principle, [column.name for column in table.sensitive]),
        method=catalog.to_data(method),
        recoding=catalog.to_data(recoding),
        quasi=tuple(column.name for column in table.quasi),
        sensitive=tuple(column.name for column in table.sensitive),
        suppress=str(exact_share(suppress)),
        seeded=source.is_seeded,
    )


def _who_is_where(table: Microdata, partition: Groups) -> pa.Table:
    """The partition, for later recodings of the same table: by identifier, or by row of the input.

    Group numbers are those that are published; people who are not published have none.
    """
    people = (
        {"row": pa.array(np.arange(table.n_tuples))} if table.identifier is None else {"identifier": table.identifier}
    )
    absent = partition.labels < 0 if partition.n_dropped else None
    return pa.table({**people, "group": pa.array(partition.labels + np.int32(1), mask=absent)})
