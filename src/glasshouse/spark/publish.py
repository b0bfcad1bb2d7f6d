# SPDX-License-Identifier: Apache-2.0
"""The journey of a table on a cluster: counted, divided and written by Spark, and published in one folder.

The same choices, the same guarantee, the same files as `glasshouse.publish` writes. The people of the table do not pass
through the driver: it gets how many there are of each kind, and gives back pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from glasshouse.grouping.top.piece import PIECE
from glasshouse.microdata.repeats import refuse_in_batches
from glasshouse.microdata.roles import Roles
from glasshouse.randomness import Source
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.package.container.zip_archive import ARCHIVE, check_archive, write_archive
from glasshouse.release.package.listing import private_file
from glasshouse.release.package.pair import Pair
from glasshouse.spark.count import count_people
from glasshouse.spark.engine import Engine
from glasshouse.spark.whereabouts import write_whereabouts
from glasshouse.streaming.journey import Asked, PublishedFile, publish_counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from glasshouse.grouping.method import Method
    from glasshouse.journeys.plan import Plan
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.spark.engine import Progress
    from glasshouse.streaming.journey import Marks
    from glasshouse.streaming.stages import WrittenTables

__all__ = ["SparkRelease", "publish"]


@dataclass(frozen=True, kw_only=True)
class SparkRelease(PublishedFile):
    """The result of publishing; the tables are in their folder, where Spark or `glasshouse.load` reads them."""

    _session: SparkSession = field(repr=False)

    @property
    def tables(self) -> dict[str, DataFrame]:
        """The published tables as frames of Spark, which are read when they are used."""
        return {
            name: self._session.read.parquet(*(str((self.folder / path).absolute()) for path in paths))
            for name, paths in self.files.items()
        }


def publish(
    frame: DataFrame,
    *,
    out: str | Path,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    principle: Principle | str | Mapping[str, Any],
    identifier: str | None = None,
    weight: str | None = None,
    method: Method | str | Mapping[str, Any] | None = None,
    recoding: Recoding | str | Mapping[str, Any] | None = None,
    suppress: Any = 0,
    carry: str = "cells",
    source: Source | None = None,
    force: bool = False,
    allow_seed: bool = False,
    title: str | None = None,
    licence: str | None = None,
    zip: bool = False,
    part_rows: int = PART_ROWS,
    piece: int = PIECE,
    partition: bool = True,
    progress: Progress | None = None,
    finishing: Callable[[SparkRelease], None] | None = None,
    **options: Any,
) -> SparkRelease:
    """Publish a DataFrame of Spark into ``out/release``, which may go out, and ``out/audit``, which must stay inside.

    Both folders appear together when all of the work is done and the release was counted again, or none does.

    Parameters
    ----------
    frame
        A frame of Spark 4.2 or later. Its order and its partitions do not matter.
    out
        Folder that gets the two folders; driver and workers see it by the same path, and may write beside it.
    quasi, sensitive, identifier, weight, options
        As in `read`; people with several rows are refused (``repeated="error"``).
    principle, method, recoding, suppress, carry, source, force, allow_seed, title, licence, zip
        As in `glasshouse.publish`, which gives the same files from the same key.
    part_rows
        A table of more rows than these is written as several files.
    piece
        How many people are divided in one task at most. Another number makes other choices.
    partition
        Whether to keep in the audit who is in which group, where an identifier is named: rows of a frame have no
        number by which somebody could be found again.
    progress
        Is called, from a thread of its own, with what is being done, how much of it is done, and of how much.
    finishing
        Is called with what was made, in the folders that hold it before these take their places. If it fails, nothing
        is published.

    Returns
    -------
    SparkRelease
        Where it lies, and what it promises.
    """
    refuse_in_batches(options.pop("repeated", "error"), "on Spark")
    asked = Asked.of(
        principle,
        method,
        recoding,
        suppress=suppress,
        carry=carry,
        title=title,
        licence=licence,
        part_rows=part_rows,
        piece=piece,
    )
    pair = Pair(out, force=force)  # refuses a place that is taken before the work, not after it
    check_archive(pair.out, wanted=zip, force=force)
    source = Source.secure() if source is None else source.for_one_release()
    session = frame.sparkSession
    found = count_people(frame, Roles.of(quasi, sensitive, identifier, weight), options)

    def engine_for(inside: Path, outside: Path, marks: Marks) -> Engine:
        return Engine(session, inside.parent, source=source, progress=progress, warn=False)  # counting did

    def whereabouts(engine: Engine, plan: Plan, written: WrittenTables, inside: Path) -> None:
        write_whereabouts(
            engine,
            found.people,
            private_file(inside / "partition.parquet"),
            finder=found.finder(),
            plan=plan,
            counts=found.counted.kinds.counts,
            written=written,
            part_rows=part_rows,
        )

    def of_spark(made: PublishedFile) -> SparkRelease:
        return SparkRelease(**{own.name: getattr(made, own.name) for own in fields(made)}, _session=session)

    made = of_spark(
        publish_counted(
            pair,
            found.counted.kinds,
            asked,
            source,
            engine_for,
            n_left_out=found.counted.n_dropped,
            identified=identifier is not None,
            allow_seed=allow_seed,
            whereabouts=whereabouts if partition and identifier is not None else None,
            finishing=None if finishing is None else lambda made: finishing(of_spark(made)),
        )
    )
    if zip:
        write_archive(pair.release, pair.out / ARCHIVE, force=force)
    return made
