# SPDX-License-Identifier: Apache-2.0
"""Publishing people who were counted: an engine plans, divides and writes, and the files alone are checked.

The same choices, the same guarantee and the same files as `glasshouse.publish` gives, for a file in batches and for a
frame of Spark: people do not have to lie in memory.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from glasshouse import catalog
from glasshouse.errors import GuaranteeBroken, Infeasible, NotSupported
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.top.piece import PIECE
from glasshouse.journeys.advice.refusal import advised
from glasshouse.journeys.plan import plan_of, spelled, unused_taxonomies
from glasshouse.journeys.recheck import verify_parts, verify_stream
from glasshouse.journeys.republication import traces_of_kinds
from glasshouse.log import step
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.microdata.groups import Groups
from glasshouse.microdata.kinds import Kinds
from glasshouse.recoding.columns import check_carry, told_columns
from glasshouse.release import Release
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.package.description import write_manifest
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.tables import batches_of, guarded_name, is_text, missing_mark, unguarded
from glasshouse.release.package.write import refuse_seed, titled, write_audit
from glasshouse.streaming.stages import write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from glasshouse.grouping.method import Method
    from glasshouse.journeys.plan import Plan
    from glasshouse.microdata.cautions import Caution
    from glasshouse.principles.principle import Principle
    from glasshouse.randomness import Source
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Guarantee, PublishedColumn, Recipe
    from glasshouse.release.package.pair import Pair
    from glasshouse.streaming.port import Engine
    from glasshouse.streaming.stages import WrittenTables
    from glasshouse.verification import Verification

    Marks = Mapping[str, Mapping[str, str]]

__all__ = ["Asked", "PublishedFile", "publish_counted"]

_AT_ONCE = 1 << 25  # people whom a method may hold in memory that does not divide by counts


@dataclass(frozen=True, kw_only=True)
class PublishedFile:
    """The result of publishing; the tables are in their folder, and `glasshouse.load` reads them.

    Parameters
    ----------
    folder
        The release, which may go out.
    audit
        What must stay inside.
    columns, recipe, guarantee
        As in `Release`.
    n_tuples, n_dropped, n_suppressed, n_groups
        Published records, records that were left out, those of them whose values are too frequent, and groups.
    n_incomplete
        How many of those that were left out were so because a value is missing: they did not even enter the table.
    notices
        What was assumed, in sentences.
    cautions, accepted
        What was found in the file and had to be accepted, and the names by which it was.
    files, headers, n_rows
        The files of each table in their order, its columns, and how many rows it has.
    """

    folder: Path
    audit: Path
    columns: tuple[PublishedColumn, ...]
    recipe: Recipe
    guarantee: Guarantee
    n_tuples: int
    n_dropped: int
    n_groups: int
    notices: tuple[str, ...]
    cautions: tuple[Caution, ...] = ()
    accepted: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_rows: Mapping[str, int] = field(default_factory=dict)
    n_incomplete: int = 0
    n_suppressed: int = 0

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Copy the release to another folder; if that fails, nothing is left; the audit is not copied."""
        with new_folder(path, force=force) as copy:
            shutil.copytree(self.folder, copy, dirs_exist_ok=True)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The requested options; see `glasshouse.publish`.

    ``part_rows`` is how many rows one file of a table has at most, ``piece`` how many people are divided at once.
    """

    principle: Principle | Mapping[str, Principle]
    method: Method | None
    recoding: Recoding | None
    suppress: Any = 0
    carry: str = "cells"
    format: str = "parquet"
    title: str | None = None
    licence: str | None = None
    part_rows: int = PART_ROWS
    piece: int = PIECE

    @classmethod
    def of(cls, principle: Any, method: Any, recoding: Any, **others: Any) -> Asked:
        """Convert names and plain data to objects."""
        check_carry(others.get("carry", "cells"))
        return cls(
            principle=catalog.chosen_principle(principle),
            method=catalog.chosen(catalog.METHODS, method),
            recoding=catalog.chosen(catalog.RECODINGS, recoding),
            **others,
        )


def publish_counted(
    pair: Pair,
    kinds: Kinds,
    asked: Asked,
    source: Source,
    engine_for: Callable[[Path, Path, Marks], AbstractContextManager[Any]],
    *,
    n_left_out: int = 0,
    identified: bool = False,
    allow_seed: bool = False,
    whereabouts: Callable[[Any, Plan, WrittenTables, Path], None] | None = None,
    finishing: Callable[[PublishedFile], None] | None = None,
) -> PublishedFile:
    """Publish people who were counted into the two folders of a pair, which appear together, or none does.

    Parameters
    ----------
    pair
        The place of the two folders.
    kinds
        How many people there are of each kind.
    asked, source
        What is asked for, and where random choices come from.
    engine_for
        Makes the engine, given the folders of audit and release and the marks for missing texts.
    n_left_out
        Rows that were left out when people were counted.
    identified
        Whether an identifier was declared.
    allow_seed
        Whether random choices may come from a fixed seed.
    whereabouts
        Writes who is where into the folder of the audit; None if nobody is to know.
    finishing
        Is called with what was made, in the folders that hold it before these take their places.
    """
    refuse_seed(seeded=source.is_seeded, allowed=allow_seed)
    kinds.table.refuse_unanswered()
    traces = traces_of_kinds(pair.audit, kinds)  # which warns if the table was published before
    principle, table = spelled(asked.principle, asked.recoding, kinds.table)
    try:
        plan = plan_of(Kinds(table, kinds.counts), principle, asked.method, asked.recoding, asked.suppress, source)
    except Infeasible as error:
        raise advised(error) from None
    _refuse_all_at_once(plan)
    with pair.new() as (inside, outside):
        marks = _marks(plan) if asked.format == "csv" else {}
        with engine_for(inside, outside, marks) as engine:
            with step("divide", rows=plan.kinds.n_people) as note:
                written = _written(engine, plan, source, asked)
                note(groups=written.n_groups)
            if whereabouts is not None:
                with step("audit", rows=kinds.n_people):
                    whereabouts(engine, plan, written, inside)
            engine.move(outside, written.files)
            release = titled(
                _described(plan, written, outside, source, asked, identified=identified), asked.title, asked.licence
            )
            marks = {
                name: {column: word for column, word in marks.get(name, {}).items() if column in empty.column_names}
                for name, empty in release.tables.items()
            }
            write_manifest(release, outside, asked.format, marks, written.files)
            with step("recheck", rows=release.n_tuples):
                achieved = _recheck(outside, engine)
        notices = (*kinds.table.notices, *unused_taxonomies(kinds.table, release.recipe))
        report = {
            "notices": list(notices),
            "accepted": accepted_cautions(kinds.table.cautions, kinds.table.accepted),
            "achieved": achieved.to_dict(),
            "recipe": release.recipe.to_data(),
        }
        traces.write(inside)
        write_audit(inside, report)
        made = PublishedFile(
            folder=outside,
            audit=inside,
            columns=release.columns,
            recipe=release.recipe,
            guarantee=release.guarantee,
            n_tuples=release.n_tuples,
            n_dropped=n_left_out + release.n_dropped,
            n_groups=written.n_groups,
            notices=notices,
            cautions=kinds.table.cautions,
            accepted=kinds.table.accepted,
            files={name: tuple(part.path for part in parts) for name, parts in written.files.items()},
            headers={name: tuple(empty.column_names) for name, empty in written.empty.items()},
            n_rows={name: sum(part.rows for part in parts) for name, parts in written.files.items()},
            n_incomplete=n_left_out,
            n_suppressed=release.n_suppressed,
        )
        if finishing is not None:
            finishing(made)
    return replace(made, folder=pair.release, audit=pair.audit)


def _refuse_all_at_once(plan: Plan) -> None:
    """Refuse a method that holds everybody in memory at once, where these are too many."""
    if not plan.method.by_counts and plan.kinds.n_people > _AT_ONCE:
        others = [name for name, method in catalog.METHODS.items() if method.usual()[0].by_counts]
        raise NotSupported(
            f"{plan.kinds.n_people:,} people cannot be divided by the method {plan.method.name!r}, which needs all "
            f"of them in memory at once and can take at most {_AT_ONCE:,}",
            instead=f"use a method that does not need everybody in memory at once: {', '.join(others)}",
        )


def _written(engine: Engine, plan: Plan, source: Source, asked: Asked) -> WrittenTables:
    pieces = plan.method.pieces(plan.kinds, plan.requirement, source, asked.piece)
    buckets = plan.recoding.buckets_of_points(plan.kinds, Mondrian().cut_kinds)
    tables = plan.recoding.in_parts(plan.kinds, part_rows=asked.part_rows, buckets=buckets)
    return write_tables(engine, pieces, plan, tables, asked.format)


def _marks(plan: Plan) -> dict[str, dict[str, str]]:
    """The words for missing texts in CSV tables, if a column has empty texts as well."""
    table = plan.kinds.table
    words: dict[str, str] = {}
    for column in (*(table.quasi if plan.recoding.shows_exact else ()), *table.sensitive):
        domain = column.domain
        if domain.missing and is_text(domain.values.type) and bool((column.codes == domain.missing_code).any()):
            present = np.unique(column.codes[column.codes != domain.missing_code])
            word = missing_mark([None, *domain.values.take(pa.array(present)).to_pylist()])
            words |= {} if word is None else {column.name: word}
    names = [own.name for own in plan.recoding.in_parts(plan.kinds, buckets=_nothing(plan))] if words else []
    return dict.fromkeys(names, words)


def _nothing(plan: Plan) -> list[Groups] | None:
    """Placeholder buckets, used to find the names of tables."""
    return plan.recoding.buckets_of_points(plan.kinds, lambda kinds, _: Groups(np.zeros(len(kinds), np.int32), 1))


def _described(
    plan: Plan, written: WrittenTables, folder: Path, source: Source, asked: Asked, *, identified: bool
) -> Release:
    """The release without its rows: the meaning of columns, how it is made, the guarantee."""
    table = plan.kinds.table
    labels = np.zeros(len(plan.kinds), np.int32)
    labels[written.left_out] = -1
    n_dropped = plan.n_whole - written.n_people
    return Release(
        tables=written.empty,
        columns=told_columns(
            table, Groups(labels, 1), _cells(plan, written, folder, asked), plan.recoding, asked.carry
        ),
        recipe=plan.recipe(source),
        guarantee=plan.guarantee(identified=identified),
        n_tuples=written.n_people,
        n_dropped=n_dropped,
        n_suppressed=plan.n_suppressed,
        identified=identified,
        native=table.source_kind,
    )


def _cells(plan: Plan, written: WrittenTables, folder: Path, asked: Asked) -> dict[str, pa.Table]:
    """The different cells of columns with a taxonomy, file by file, where cells are nodes of it."""
    if not plan.recoding.shows_nodes:
        return {}
    names = [column.name for column in plan.kinds.table.quasi if column.domain.tree is not None]
    found = {}
    for table, parts in written.files.items():
        for part in parts:
            for name in (name for name in written.empty[table].column_names if name in names):
                column = _column(folder / part.path, name, asked.format)
                found[f"{part.path} {name}"] = pa.table({name: column.unique()})
    return found


def _column(path: Path, name: str, format: str) -> pa.ChunkedArray:
    """One column of texts, as it was before it was written."""
    if format == "parquet":
        return pq.read_table(path, columns=[name], read_dictionary=[name]).column(0)
    written = guarded_name(name)
    return pa.chunked_array(
        [chunk for batch in batches_of(path, format, [written]) for chunk in unguarded(batch[written]).chunks],
        pa.string(),
    )


def _recheck(folder: Path, engine: Engine) -> Verification:
    """Check the guarantee from the published files alone, by the second implementation.

    Where tasks run elsewhere, each file is counted by one of them.
    """
    achieved = verify_stream(folder) if engine.shares_memory else verify_parts(folder, engine.run)
    if not achieved.holds:
        broken: Sequence[Any] = [check for check in achieved.checks if not check.holds]
        what = broken[0].asked if broken else "their guarantee"
        raise GuaranteeBroken(f"the published tables do not pass this check: {what}", group=broken)
    return achieved
