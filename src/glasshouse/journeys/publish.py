# SPDX-License-Identifier: Apache-2.0
"""Publish: the whole way from a table to a release, one call for each part of the package. Read this first."""

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
from glasshouse.errors import GuaranteeBroken, Infeasible, InputError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.top.division import divide_kinds
from glasshouse.grouping.top.piece import PIECE
from glasshouse.journeys.advice.refusal import advised
from glasshouse.journeys.edition_tables import as_first
from glasshouse.journeys.large_table import tables_in_parts
from glasshouse.journeys.ledger import Ledger
from glasshouse.journeys.next_edition import Past, closed_instead
from glasshouse.journeys.plan import plan_of, spelled, unused_taxonomies
from glasshouse.journeys.recheck import recheck, verify_release
from glasshouse.journeys.republication import traces_of
from glasshouse.log import step
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.microdata.groups import Groups
from glasshouse.randomness import Source
from glasshouse.recoding.columns import check_carry, told_columns
from glasshouse.release import Release
from glasshouse.release.copies.copy_folder import check_copiable, check_copy_place, package_format, write_copy
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.package.container.zip_archive import ARCHIVE, check_archive, write_archive
from glasshouse.release.package.manifest import FORMATS
from glasshouse.release.package.pair import Pair
from glasshouse.release.package.write import check_savable, titled, write_audit, write_release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.grouping.method import Method
    from glasshouse.grouping.top.division import Division
    from glasshouse.journeys.plan import Plan
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.verification import Verification

__all__ = ["journey", "publish"]


def publish(
    table: Microdata,
    *,
    principle: Principle | str | Mapping[str, Any] | None = None,
    method: Method | str | Mapping[str, Any] | None = None,
    recoding: Recoding | str | Mapping[str, Any] | None = None,
    suppress: Any = None,
    carry: str = "cells",
    after: str | Path | None = None,
    edition: int | str | None = None,
    at_least: int = 0,
    keep_published: bool = False,
    leave_out: bool = False,
    source: Source | None = None,
    threads: int = 0,
    out: str | Path | None = None,
    format: str = "parquet",
    force: bool = False,
    allow_seed: bool = False,
    title: str | None = None,
    licence: str | None = None,
    zip: bool = False,
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
        The privacy requirement; with ``after`` it is that of the first edition. A principle for every sensitive column,
        or a mapping from column to principle; or a bound on an attacker's probability, `RhoBreach` or `DeltaGrowth`. A
        principle may also be named by its title, such as ``"5-diversity"``, ``"0.2-closeness"`` or ``"10-anonymity and
        distinct 3-diversity"``.
    method
        How the table is divided: a method; the name of one, which then has its usual parameters; or its plain data, as
        in a recipe. By default `Mirror` where sensitive values are to be protected, else `Snug`; for perturbed
        generalization `Mondrian`.
    recoding
        How groups are rewritten, in the same way. By default `Angel` for l-diversity, of each sensitive
        column, `Perturbed` for `RhoBreach` and `DeltaGrowth`, else `Boxes`.
    suppress
        Largest share of records that may be dropped where the table as a whole breaks the principle; by default none.
    carry
        How much is published of the taxonomies and orders that were declared for quasi-identifiers. ``cells``: which
        published nodes lie within which, and nothing else. ``declared``: all of every tree and order, so that everybody
        can ask about any value; choose it if they existed before the data. Rules such as `Taxonomy.prefix` are always
        published.
    after
        The folder of an earlier publication (its ``out``): the table is the same one, later, and this is its next
        edition. Only people who were never candidates before are divided, by principle, method, recoding and
        suppression of the first edition; what was published stays, and the people who left are listed. The identifier
        is needed.
    edition
        What the edition is called: a number, such as a year, or a short text. By default 1, 2, 3 and so on.
    at_least
        With ``after``: how many people must have come. If there are fewer, they wait, and nothing is looked at or
        recorded of them.
    keep_published
        With ``after``: if people who were published have other sensitive values now, go on with the earlier values.
    leave_out
        With ``after``: if the people who came cannot satisfy the principle, leave them out for good.
    source
        Where random choices come from: the operating system's secure source unless a test gives a seeded one.
    threads
        How many threads to use; all cores by default. The result does not depend on it.
    out
        Folder that gets the two folders. Without it nothing is written until the release is saved.
    format
        With ``out``: ``parquet`` or ``csv``; or ``xlsx`` or ``stata``, which are written as copies beside a release in
        Parquet.
    force
        With ``out``: replace an earlier release and audit.
    allow_seed
        With ``out``: write a release whose random choices came from a fixed seed.
    title, licence
        What the release is called, and under which terms it may be used: an identifier or an address.
    zip
        With ``out``: also write the release as one zip archive, ``out/release.zip``, which may go out too.
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
    if not hasattr(table, "refuse_unanswered"):
        raise InputError(
            f"publish takes a table that gh.read has read, and was given {type(table).__name__}: call "
            "table = gh.read(data, quasi=[...], sensitive=...) first, which says what the columns mean"
        )
    if out is None:
        _refuse_without_out(
            format=format != "parquet", force=force, allow_seed=allow_seed, zip=zip, finishing=finishing, after=after
        )
    format, copy = (format, None) if format in FORMATS else package_format(format)
    pair = None if out is None else Pair(out, force=force)  # refuses a place that is taken before the work
    if pair is not None:
        check_archive(pair.out, wanted=zip, force=force)
        check_copy_place(pair.out, copy, force=force)
    table.refuse_unanswered()
    asked = (
        None if principle is None else catalog.chosen_principle(principle),
        catalog.chosen(catalog.METHODS, method),
        catalog.chosen(catalog.RECODINGS, recoding),
        suppress,
    )
    past = None
    if after is None:
        _refuse_without_past(asked[0], at_least=at_least, keep_published=keep_published, leave_out=leave_out)
    else:
        past = Past.of(after, table, edition, at_least=at_least, keep_published=keep_published)
        past.refuse_again(out, force=force)
    people = table if past is None else past.arrivals
    audit = None if pair is None else pair.audit if past is None else past.audit
    traces = None if audit is None else traces_of(audit, people)  # which warns if the table was published before
    try:
        release, partition, achieved = _made(past, people, asked, edition, carry, source, threads, leave_out=leave_out)
    except Infeasible as error:
        raise advised(error) from None
    if title is not None or licence is not None:
        release = titled(release, title, licence)
    if pair is None or traces is None:
        return release
    check_savable(release, format, allow_seed=allow_seed)
    if copy is not None:
        check_copiable(release, copy)
    report = {
        "notices": [
            *table.notices,
            *unused_taxonomies(table, release.recipe),
            *([] if past is None else past.notices(release.editions[-1])),
        ],
        "accepted": accepted_cautions(table.cautions, table.accepted),
        "achieved": achieved.to_dict(),
        "recipe": release.recipe.to_data(),
    }
    with pair.new() as (inside, outside):
        with step("write", rows=release.n_tuples, tables=len(release.tables)) as note:
            traces.write(inside)
            _keep_ledger(inside, traces.key, people, partition, release, past)
            if past is not None:
                past.tell(inside, release.editions[-1])
            write_audit(inside, report, _who_is_where(people, partition, past))
            write_release(release, outside, format)
            note(bytes=sum(file.stat().st_size for file in outside.rglob("*") if file.is_file()))
        if finishing is not None:
            finishing(release, inside, outside)
    if past is not None:
        past.mark_followed(pair.out)
    _write_beside(release, pair, copy, zip=zip, force=force)
    return release


def _write_beside(release: Release, pair: Pair, copy: str | None, *, zip: bool, force: bool) -> None:
    """Write the same release again, as one archive or in the format of another program."""
    if zip:
        write_archive(pair.release, pair.out / ARCHIVE, force=force)
    if copy is not None:
        write_copy(release, pair.release, pair.out / copy, copy, force=force)


def _refuse_without_out(**given: Any) -> None:
    """Refuse options that only a release written to disk can have."""
    for name, value in given.items():
        if value:
            raise InputError(f"{name} is for a release that is written: say where to write it, with out=FOLDER")


def _refuse_without_past(principle: Any, **given: Any) -> None:
    """Refuse what only a later edition can have, and a first one without a principle."""
    if principle is None:
        raise InputError(
            "no principle is given: say what is to be guaranteed with principle=..., such as '5-diversity'"
        )
    for name, value in given.items():
        if value:
            raise InputError(f"{name} is for a later edition: name the release that it follows, with after=FOLDER")


def _made(
    past: Past | None,
    people: Microdata,
    asked: tuple[Any, Method | None, Recoding | None, Any],
    edition: int | str | None,
    carry: str,
    source: Source | None,
    threads: int,
    *,
    leave_out: bool,
) -> tuple[Release, Groups, Verification]:
    """The release of a table or of all its editions, the groups of those who are divided, and what was counted."""
    if past is None:
        principle, method, recoding, suppress = asked
        release, groups, achieved = journey(
            people, principle, method, recoding, 0 if suppress is None else suppress, carry, source, threads
        )  # fmt: skip
        return release if edition is None else as_first(release, edition), groups, achieved
    alike = past.made_alike(*asked)
    own, groups = None, Groups(np.full(people.n_tuples, -1, np.int32), 0)
    try:
        if people.n_tuples:
            own, groups, _ = journey(people, *alike, carry, source, threads)
    except Infeasible as error:
        if not leave_out:
            raise closed_instead(error) from None
    release = past.followed_by(own)
    achieved = verify_release(release)
    if not achieved.holds:
        raise GuaranteeBroken("the editions together break the guarantee that each of them keeps")
    return release, groups, achieved


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
    """The steps of publishing; also returns the partition of the whole table, and the result of the verification."""
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


def _keep_ledger(
    inside: Path, key: str, people: Microdata, partition: Groups, release: Release, past: Past | None
) -> None:
    """Keep what the next edition needs, where there can be one."""
    number = 1 if past is None else past.number
    own = None
    if partition.n_groups:
        own = Ledger.of(key, people, partition, catalog.recoding_of(release.recipe), number)
    kept = own if past is None else past.ledger_with(own)
    if kept is not None:
        kept.write(inside)
    elif release.editions:
        raise InputError("an edition needs an identifier, so that people can be recognised: name its column")


def _who_is_where(table: Microdata, partition: Groups, past: Past | None) -> pa.Table:
    """The partition, for later recodings of the same table: by identifier, or by row of the input.

    Group numbers are those that are published; people who are not published have none. Those of an edition come after
    those of earlier ones.
    """
    people = (
        {"row": pa.array(np.arange(table.n_tuples))} if table.identifier is None else {"identifier": table.identifier}
    )
    absent = partition.labels < 0 if partition.n_dropped else None
    first = np.int32(1 if past is None else past.n_groups + 1)
    own = pa.table({**people, "group": pa.array(partition.labels + first, mask=absent)})
    return own if past is None else past.partition_with(own)
