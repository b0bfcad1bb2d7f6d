# SPDX-License-Identifier: Apache-2.0
"""More marginals of a table that was published before: from the batches that the audit keeps, never from new ones.

Two independent partitions of one table intersect, and together they can tell what neither tells alone. Further
generalized tables over the *same* batches cannot (ANGEL Theorem 1): the release grows, its guarantee stays.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glasshouse import catalog
from glasshouse.engines import Memory
from glasshouse.errors import InputError, NotSupported, SourceError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.journeys.large_table import grouped_in_parts
from glasshouse.journeys.load import load, promised_by_recipe
from glasshouse.journeys.recheck import recheck
from glasshouse.journeys.republication import keep_traces
from glasshouse.microdata import Groups
from glasshouse.microdata.cautions import accepted_cautions
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source
from glasshouse.recoding.columns import carried
from glasshouse.release.copies.copy_folder import check_copiable, check_copies, copies_in
from glasshouse.release.layout import ANGEL, PART_ROWS
from glasshouse.release.package.container.zip_archive import renew_archive
from glasshouse.release.package.pair import Pair, check_pair
from glasshouse.release.package.write import check_savable, write_audit, write_release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.recoding.angel import Angel
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import PublishedColumn, Release

__all__ = ["publish_marginals"]


def publish_marginals(
    out: str | Path,
    table: Microdata,
    *,
    marginals: Sequence[Sequence[str]],
    threads: int = 0,
    allow_seed: bool = False,
    finishing: Callable[[Release, Path, Path], None] | None = None,
) -> Release:
    """Add marginals to the ANGEL release in ``out/release``, over the batches that ``out/audit`` keeps.

    The whole release is written again: the tables that were published before, unchanged, in the same files, and the new
    ones; large new ones are in parts. The guarantee stays the same, and covers all of them together.

    Parameters
    ----------
    out
        Folder that `publish` wrote into.
    table
        The microdata, read as they were when they were published.
    marginals
        Lists of attributes, a generalized table each.
    threads
        How many threads to use; all cores by default.
    allow_seed
        Write a release whose random choices came from a fixed seed.
    finishing
        As in `publish`.

    Examples
    --------
    >>> import tempfile
    >>> import glasshouse as gh
    >>> patients = gh.synthetic.hospital(200, seed=1)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     first = gh.publish(patients, principle=gh.LDiversity(ell=3), out=out)
    ...     more = publish_marginals(out, patients, marginals=[["age", "disease"], ["sex", "zipcode"]])
    >>> list(first.tables), list(more.tables)
    (['bt', 'gt'], ['bt', 'gt', 'gt_2', 'gt_3'])
    >>> more.tables["gt"].equals(first.tables["gt"]), more.tables["gt_3"].column_names
    (True, ['sex', 'zipcode'])
    """
    table.refuse_unanswered()
    out = Path(out)
    check_pair(out)
    pair = Pair(out, force=True)
    before = load(pair.release)
    recoding = cast("Angel", catalog.recoding_of(before.recipe))
    if before.layout is not ANGEL:
        raise NotSupported(
            f"marginals cannot be added to a release with the recoding {recoding.name!r}",
            instead="publish the table with the recoding 'angel' from the start: only its marginals are safe together",
        )
    if before.editions:
        raise NotSupported(
            "marginals cannot be added to a release with editions",
            instead="use its only table of quasi-identifiers for all questions",
        )
    batches = _batches(out / "audit" / "partition.parquet", table)
    kept = np.flatnonzero(batches.labels >= 0)
    published = table if len(kept) == table.n_tuples else table.take(kept)
    batches = Groups(batches.labels[kept], batches.n_groups)

    everything = (*before.recipe.quasi, *before.recipe.sensitive)
    grown = replace(recoding, marginals=(*(recoding.marginals or (everything,)), *map(tuple, marginals)))
    requirement = Requirement.of(catalog.principle_of(before.recipe), published)
    grown.check(published, requirement)
    tables, borders = _recoded(grown, published, batches, threads)
    _check_same_table(before.tables, tables)

    release = replace(
        before,
        tables=tables,
        borders={name: rows for name, rows in borders.items() if name not in before.tables} | dict(before.borders),
        columns=tuple(_told_again(column, published, tables, grown) for column in before.columns),
        recipe=replace(before.recipe, recoding=catalog.to_data(grown)),
        native=table.source_kind,
    )
    release = replace(release, guarantee=promised_by_recipe(release))
    achieved = recheck(release, requirement)
    report = {
        "notices": _notices(out / "audit" / "report.json"),
        "accepted": accepted_cautions(table.cautions, table.accepted),
        "achieved": achieved.to_dict(),
        "recipe": release.recipe.to_data(),
    }
    partition = pq.read_table(out / "audit" / "partition.parquet")
    format = _format_of(out / "release")
    check_savable(release, format, allow_seed=allow_seed)
    for name in copies_in(out):
        check_copiable(release, name, instead=f"delete this copy, {out / name}: the new tables cannot be put into it")
    with pair.new() as (inside, outside):
        keep_traces(out / "audit", inside)
        write_audit(inside, report, partition)
        write_release(release, outside, format)
        if finishing is not None:
            finishing(release, inside, outside)
    renew_archive(pair.out)
    check_copies(release, pair.out)
    return release


def _recoded(
    recoding: Angel, table: Microdata, batches: Groups, threads: int
) -> tuple[dict[str, pa.Table], dict[str, list[int]]]:
    """The published tables, and where the parts of large ones begin: nothing of them is random."""
    if table.n_tuples > PART_ROWS:
        return grouped_in_parts(recoding, table, batches, Source.secure(), PART_ROWS)
    divide = partial(Mondrian().divide, engine=Memory(threads=threads))
    return recoding.recode(table, batches, divide=divide), {}


def _told_again(
    column: PublishedColumn, table: Microdata, tables: Mapping[str, pa.Table], recoding: Recoding
) -> PublishedColumn:
    """What a column means; if only a part of its taxonomy is published, with the nodes in the new tables."""
    if column.declared is None or column.declared["kind"] != "nodes":
        return column
    return replace(column, declared=carried(table, tables, recoding, "cells").get(column.name))


def _notices(path: Path) -> list[str]:
    """The notices from reading the table: those of an old report that still hold for the extended release."""
    try:
        return list(json.loads(path.read_text(encoding="utf-8"))["notices"])
    except (OSError, ValueError, KeyError, TypeError):
        raise SourceError(f"{path} cannot be read, or is not the report of a release", source=path) from None


def _batches(path: Path, table: Microdata) -> Groups:
    """The batches of a table's records, as the audit keeps them; refused if it is not the table that was published."""
    try:
        partition = pq.read_table(path)
    except OSError:
        raise SourceError(
            f"{path} cannot be read: it records who is in which group, and without it no marginal table can be added",
            source=path,
        ) from None
    if partition.num_rows != table.n_tuples:
        raise InputError(
            f"the table has {counted(table.n_tuples, 'record')}, but the one that was published had "
            f"{partition.num_rows:,}: give the table that was published, and read it in the same way"
        )
    numbers = partition["group"].combine_chunks()
    if "identifier" in partition.column_names:
        if table.identifier is None:
            raise InputError(
                "the table was published with an identifier: name that column, so that the people can be found again"
            )
        kept = partition["identifier"].combine_chunks()
        places = pc.index_in(table.identifier, value_set=kept.cast(table.identifier.type))
        if places.null_count:
            raise InputError(
                f"{counted(places.null_count, 'person of the table was', 'people of the table were')} not "
                "published before: give the table that was "
                "published"
            )
        numbers = numbers.take(places)
    elif table.identifier is not None:
        raise InputError(
            "the table was published without an identifier: read it without one again, with its rows in the same order"
        )
    labels = np.asarray(numbers.fill_null(0)).astype(np.int32) - np.int32(1)
    return Groups(labels, int(labels.max(initial=-1)) + 1)


def _check_same_table(before: Mapping[str, pa.Table], now: Mapping[str, pa.Table]) -> None:
    """Check that the published tables come out again exactly; otherwise this is not the table that was published."""
    for name, old in before.items():
        new = now[name]
        if new.column_names != old.column_names or not all(
            _plain(column.cast(old.schema.field(i).type)).equals(_plain(old.column(i)))
            for i, column in enumerate(new.columns)
        ):
            raise InputError(
                f"the table {name!r} comes out differently than in the release: give the table that was published, "
                "and read it in the same way"
            )


def _format_of(folder: Path) -> str:
    return "csv" if any(folder.rglob("*.csv")) else "parquet"


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values without dictionaries, whose order carries no meaning."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
