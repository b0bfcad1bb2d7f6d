# SPDX-License-Identifier: Apache-2.0
"""Read this first: the whole journey from a table to a release, one call per room."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse import catalog
from glasshouse.engines import Memory
from glasshouse.errors import DisclosureWarning, DomainError, InputError, NotSupported, SourceError
from glasshouse.grouping import Mirror, Mondrian, Snug, exact_share, keep_eligible
from glasshouse.grouping.method import is_frequency_diversity
from glasshouse.log import step
from glasshouse.microdata import Column, Groups
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.groups import alike
from glasshouse.principles import BackgroundSensitive, KAnonymity, Principle, Requirement
from glasshouse.principles.adversaries import Adversary
from glasshouse.promise import guarantee_of
from glasshouse.randomness import Source
from glasshouse.recheck import recheck
from glasshouse.recoding import Anatomy, Angel, Boxes, Permutation, Perturbed
from glasshouse.recoding.axis import axis_of
from glasshouse.recoding.carrying import carried, check_carry
from glasshouse.release import PublishedColumn, Recipe, Release
from glasshouse.release.audit import write_audit
from glasshouse.release.manifest import check_declared
from glasshouse.release.storage import Pair, check_savable, titled, write_release
from glasshouse.republishing import traces_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.grouping import Method
    from glasshouse.microdata import Domain, Microdata
    from glasshouse.recoding import Recoding
    from glasshouse.verify import Verification

__all__ = ["bucket_partitions", "publish", "published_columns", "recipe_of"]


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
    method: Any = None,
    recoding: Any = None,
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
    principle, table = _spelled(principle, recoding, table)
    target = principle if isinstance(principle, BackgroundSensitive) else None  # a promise that no group can keep

    # eligible: the table itself must satisfy what is asked of groups, perhaps after dropping tuples
    asked = principle if target is None else target.grouping()
    with step("eligible", rows=table.n_tuples):
        kept = keep_eligible(table, asked, suppress, source)
        published = table if len(kept) == table.n_tuples else table.take(kept)
        requirement = Requirement.of(asked, published)
        requirement.check_eligible()
    if method is None:
        method = default_method(requirement) if target is None else Mondrian()  # whose boxes are disjoint
    recoding = _settled(recoding, requirement, target, method, published)
    recoding.check(published, requirement)
    if isinstance(method, Mirror):
        method = method.suiting(exact=isinstance(recoding, Anatomy | Permutation | Angel))
    claim = method.claim(requirement) if target is None else recoding.claim(target, published)
    if claim.adversary is Adversary.LINKING:
        what = _attackable(method) if target is None else f"the release promises {claim.promise}"
        warnings.warn(what, DisclosureWarning, stacklevel=3)

    # divide, recode
    engine = Memory(threads=threads)
    with step("divide", rows=published.n_tuples) as note:
        groups = method.divide(published, requirement, source=source, engine=engine)
        groups = groups.renumbered(source.child("group numbers"))
        note(groups=groups.n_groups)
    with step("recode", rows=published.n_tuples, groups=groups.n_groups):
        tables = recode(published, groups, recoding, source, engine)

    # bind: what is promised, how it was made, and what is needed to read it
    told = _readable(carried(published, tables, recoding, carry))
    release = Release(
        tables=tables,
        columns=tuple(_told_columns(published, groups, recoding, told)),
        recipe=recipe_of(published, principle, method, recoding, suppress, source),
        guarantee=guarantee_of(
            requirement,
            claim,
            recoding,
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

    # check again, from the published tables alone, by the second implementation
    with step("recheck", rows=release.n_tuples, tables=len(tables)):
        achieved = recheck(release, requirement)
    release = replace(release, spent=time.process_time() - started)
    return release, groups if published is table else groups.spread(kept, table.n_tuples), achieved


def _spelled(
    principle: Principle | Mapping[str, Principle], recoding: Any, table: Microdata
) -> tuple[Principle | Mapping[str, Principle], Microdata]:
    """Bring what is declared and what is read to one spelling, where look-alikes are one value."""
    if isinstance(recoding, Perturbed) and recoding.domain is not None:
        table = table.spelled_by(recoding.domain)
    domains = {column.name: column.domain for column in table.sensitive if column.domain.normalised}
    if isinstance(principle, Mapping):
        each = {name: one.spelled_as(domains[name]) if name in domains else one for name, one in principle.items()}
        return each, table
    for domain in domains.values():
        if isinstance(principle, Principle):
            principle = principle.spelled_as(domain)
    return principle, table


def _settled(
    recoding: Any, requirement: Requirement, target: BackgroundSensitive | None, method: Method, table: Microdata
) -> Any:
    """The recoding with every parameter fixed: what was left open follows from what is promised."""
    if target is None:
        if isinstance(recoding, Perturbed):
            raise NotSupported(
                "perturbed generalization under a principle that judges groups",
                instead="ask for RhoBreach or DeltaGrowth, which say what may be believed after perturbation",
            )
        recoding = default_recoding(requirement) if recoding is None else recoding
        return recoding.resolved(requirement) if isinstance(recoding, Angel) else recoding
    recoding = Perturbed() if recoding is None else recoding
    if not isinstance(recoding, Perturbed):
        raise NotSupported(f"{target.title} by the recoding {recoding.name!r}", instead="use the recoding 'perturbed'")
    if method != Mondrian():
        raise NotSupported(
            f"perturbed generalization of groups by {method!r}",
            instead="its groups come from quasi-identifiers alone, with disjoint boxes: leave the method out",
        )
    return recoding.meeting(target, recoding.n_values(table))


def recode(
    table: Microdata, groups: Groups, recoding: Recoding, source: Source, engine: Memory | None = None
) -> dict[str, pa.Table]:
    """Rewrite groups; ANGEL needs a second partition, of buckets, for every marginal."""
    if not isinstance(recoding, Angel):
        return recoding.recode(table, groups, source=source.child("recoding"))
    if groups.n_dropped:  # buckets must hide people among those who are published
        kept = np.flatnonzero(groups.labels >= 0)
        table, groups = table.take(kept), Groups(groups.labels[kept], groups.n_groups)
    return recoding.recode(table, groups, buckets=bucket_partitions(table, recoding, engine))


def bucket_partitions(table: Microdata, recoding: Angel, engine: Memory | None = None) -> list[Groups]:
    """ANGEL's buckets for every marginal: strict, k-anonymous, by the marginal's quasi-identifiers alone.

    With k = 1 a bucket is the people with equal values, which is as far as strict cuts can go.
    """
    assert recoding.k is not None
    buckets = []
    for marginal in recoding.tables(table):
        view = replace(table, quasi=tuple(table.column(name) for name in marginal.quasi), sensitive=(), identifier=None)
        if recoding.k == 1:
            buckets.append(alike(view.quasi))
            continue
        requirement = Requirement.of(KAnonymity(k=recoding.k), view)
        requirement.check_eligible()
        buckets.append(Mondrian().divide(view, requirement, engine=engine))
    return buckets


def default_method(requirement: Requirement) -> Method:
    """The method for whoever names none: the safest there is for what is asked.

    Mirror, which holds against whoever knows it, wherever sensitive values are judged. For k-anonymity alone Snug,
    which then looks at no sensitive value, so that knowing it tells nothing either.
    """
    return Mirror() if requirement.columns else Snug()


def default_recoding(requirement: Requirement) -> Recoding:
    """The recoding for whoever names none.

    ANGEL with k = l for l-diversity of one sensitive column: batches hide the values, buckets hide who is there. Boxes
    for anything else.
    """
    return Angel() if is_frequency_diversity(requirement) else Boxes()


def _attackable(method: Method) -> str:
    return (
        f"an adversary who knows that the method {method.name!r} was used may learn more than is promised: "
        "the method 'mirror' holds against her too"
    )


def recipe_of(
    table: Microdata,
    principle: Principle | Mapping[str, Principle],
    method: Any,
    recoding: Any,
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


def published_columns(table: Microdata, recoding: Recoding) -> list[PublishedColumn]:
    """Say what the columns of the published tables mean."""
    shown = recoding.sensitive_meaning() if isinstance(recoding, Perturbed) else "exact value; empty if missing"
    return [
        *(
            PublishedColumn(
                name=c.name,
                role="quasi-identifier",
                kind=c.domain.kind,
                meaning=recoding.meaning(c.domain) + _beyond(limits := _limits_of(c.domain)),
                limits=limits or None,
            )
            for c in table.quasi
        ),
        *(PublishedColumn(name=c.name, role="sensitive", kind=c.domain.kind, meaning=shown) for c in table.sensitive),
        *(
            PublishedColumn(name=name, role="added", kind="integer", meaning=meaning)
            for name, meaning in recoding.added().items()
        ),
    ]


def _limits_of(domain: Domain) -> dict[str, str]:
    """Top and bottom codes, which were chosen beforehand, as texts."""
    limits = {"bottom": domain.bottom, "top": domain.top}
    return {name: text_of(limit) for name, limit in limits.items() if limit is not None}


def _beyond(limits: Mapping[str, str]) -> str:
    """Say what a limit stands for, as the end of a sentence."""
    sides = {"bottom": "below", "top": "above"}
    return "".join(f"; {limit} stands for itself and everything {sides[name]}" for name, limit in limits.items())


def _told_columns(
    table: Microdata, groups: Groups, recoding: Recoding, told: Mapping[str, Mapping[str, Any]]
) -> list[PublishedColumn]:
    """Say what the columns mean by what is shown of them: nothing of whoever was dropped, nor of a perturbed value.

    Of sensitive columns also how far apart their values are, where the values alone do not tell. Not of perturbed ones:
    which values people have is what perturbation hides, and a value that is retained looks like any other.
    """
    shown = groups.labels >= 0 if groups.n_dropped else None
    quasi = tuple(_without_unseen_gaps(column, shown) for column in table.quasi)
    columns = published_columns(replace(table, quasi=quasi), recoding)
    columns = [replace(column, declared=told.get(column.name)) for column in columns]
    if isinstance(recoding, Perturbed):
        return columns
    axes = {column.name: axis_of(column, shown) for column in table.sensitive}
    return [replace(column, axis=axes.get(column.name)) for column in columns]


def _readable(told: dict[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """What a release carries of taxonomies and orders, if everybody who loads it will take it."""
    for name, declared in told.items():
        try:
            check_declared(declared)
        except SourceError as error:
            raise DomainError(
                f"the taxonomy or order of column {name!r} cannot go out with the release, for nobody would read it: "
                f"{str(error).rpartition(': ')[2]}",
                column=name,
            ) from None
    return told


def _without_unseen_gaps(column: Column, shown: NDArray[np.bool_] | None) -> Column:
    """The column, of which a missing value is told only if somebody who is published misses one."""
    codes, domain = column.codes if shown is None else column.codes[shown], column.domain
    if not domain.missing or bool((codes == domain.missing_code).any()):
        return column
    return Column(replace(domain, missing=False), column.codes)


def _who_is_where(table: Microdata, partition: Groups) -> pa.Table:
    """The partition, for later recodings of the same table: by identifier, or by row of the input.

    Group numbers are those that are published; whoever is not published has none.
    """
    people = (
        {"row": pa.array(np.arange(table.n_tuples))} if table.identifier is None else {"identifier": table.identifier}
    )
    absent = partition.labels < 0 if partition.n_dropped else None
    return pa.table({**people, "group": pa.array(partition.labels + np.int32(1), mask=absent)})
