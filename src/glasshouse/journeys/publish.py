# SPDX-License-Identifier: Apache-2.0
"""Read this first: the whole journey from a table to a release, one call per room."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse import catalog
from glasshouse.engines import Memory
from glasshouse.engines.tally import tally
from glasshouse.errors import InputError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.top.division import divide_kinds
from glasshouse.grouping.top.piece import PIECE
from glasshouse.journeys.large_table import tables_in_parts
from glasshouse.journeys.plan import plan_of, spelled, unused_taxonomies
from glasshouse.journeys.recheck import recheck
from glasshouse.journeys.republication import traces_of
from glasshouse.log import step
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.randomness import Source
from glasshouse.recoding.columns import check_carry, told_columns
from glasshouse.release import Release
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.package.pair import Pair
from glasshouse.release.package.write import check_savable, titled, write_audit, write_release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.grouping.method import Method
    from glasshouse.grouping.top.division import Division
    from glasshouse.journeys.plan import Plan
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.verification import Verification

__all__ = ["journey", "publish"]


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
        How groups are rewritten, in the same way. By default `Angel` for l-diversity, of each sensitive
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
    release, partition, achieved = journey(
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
        "notices": [*table.notices, *unused_taxonomies(table, release.recipe)],
        "accepted": accepted_cautions(table.cautions, table.accepted),
        "achieved": achieved.to_dict(),
        "recipe": release.recipe.to_data(),
    }
    with pair.new() as (inside, outside):
        with step("write", rows=release.n_tuples, tables=len(release.tables)) as note:
            traces.write(inside)
            write_audit(inside, report, _who_is_where(table, partition))
            write_release(release, outside, format)
            note(bytes=sum(file.stat().st_size for file in outside.rglob("*") if file.is_file()))
        if finishing is not None:
            finishing(release, inside, outside)
    return release


def journey(
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

    principle, table = spelled(principle, recoding, table)
    with step("count", rows=table.n_tuples):
        kinds, rows = tally(table, source.child("who is who"), engine)
    plan = plan_of(kinds, principle, method, recoding, suppress, source)
    kept, published = np.arange(table.n_tuples, dtype=np.int32), table
    if plan.n_dropped:
        rows = kinds.rows_kept(plan.kept, rows)
        kept = np.sort(rows)
        published, rows = table.take(kept), np.searchsorted(kept, rows).astype(np.int32)
    division, groups = _divided(plan, rows, source, engine)
    tables, borders = _recoded(plan, published, division, groups, source, engine)
    release = Release(
        tables=tables,
        columns=told_columns(published, groups, tables, plan.recoding, carry),
        recipe=plan.recipe(source),
        guarantee=plan.guarantee(identified=table.identifier is not None),
        n_tuples=len(kept) - groups.n_dropped,
        n_dropped=plan.n_dropped + groups.n_dropped,
        n_suppressed=plan.n_suppressed,
        identified=table.identifier is not None,
        native=table.source_kind,
        borders=borders,
    )
    with step("recheck", rows=release.n_tuples, tables=len(tables)):
        achieved = recheck(release, plan.requirement)  # from the published tables alone, by the second implementation
    release = replace(release, spent=time.process_time() - started)
    return release, groups if published is table else groups.spread(kept, table.n_tuples), achieved


def _divided(plan: Plan, rows: NDArray[np.int32], source: Source, engine: Memory) -> tuple[Division, Groups]:
    """The division, and the groups of rows that come kind after kind, with numbers that tell nothing."""
    with step("divide", rows=len(rows)) as note:
        division = divide_kinds(plan.method, plan.kinds, plan.requirement, source, engine, most=PIECE)
        groups = division.of_rows(rows).renumbered(source.child("group numbers"))
        note(groups=groups.n_groups)
    return division, groups


def _recoded(
    plan: Plan, table: Microdata, division: Division, groups: Groups, source: Source, engine: Memory
) -> tuple[dict[str, pa.Table], dict[str, list[int]]]:
    """The published tables, and where the parts of large ones begin."""
    with step("recode", rows=table.n_tuples, groups=groups.n_groups):
        if table.n_tuples > PART_ROWS:
            return tables_in_parts(plan, division, source, PART_ROWS)
        divide = partial(Mondrian().divide, engine=engine)
        return plan.recoding.recode(table, groups, source=source.child("recoding"), divide=divide), {}


def _who_is_where(table: Microdata, partition: Groups) -> pa.Table:
    """The partition, for later recodings of the same table: by identifier, or by row of the input.

    Group numbers are those that are published; people who are not published have none.
    """
    people = (
        {"row": pa.array(np.arange(table.n_tuples))} if table.identifier is None else {"identifier": table.identifier}
    )
    absent = partition.labels < 0 if partition.n_dropped else None
    return pa.table({**people, "group": pa.array(partition.labels + np.int32(1), mask=absent)})
