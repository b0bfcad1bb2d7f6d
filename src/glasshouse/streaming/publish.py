# SPDX-License-Identifier: Apache-2.0
"""The journey of a file of any size: counted in batches, divided and written in memory or on disk.

The same guarantee, the same random choices and the same files as `glasshouse.publish`: what a release is follows from
how many people there are of each kind and from the secret key, and from nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import ParameterError
from glasshouse.grouping.top.piece import PIECE
from glasshouse.log import step
from glasshouse.microdata.cautions import refuse_unanswered
from glasshouse.microdata.repeats import refuse_in_batches
from glasshouse.randomness import Source
from glasshouse.release.copies.copy_folder import check_copiable, check_copy_place, package_format, write_copy
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.package.container.zip_archive import ARCHIVE, check_archive, write_archive
from glasshouse.release.package.pair import Pair
from glasshouse.release.package.read import load
from glasshouse.release.package.write import refuse_seed
from glasshouse.streaming.count import count_file
from glasshouse.streaming.journey import Asked, PublishedFile, publish_counted
from glasshouse.streaming.local import Local
from glasshouse.streaming.spill import Disk
from glasshouse.streaming.whereabouts import write_whereabouts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from glasshouse.grouping.method import Method
    from glasshouse.journeys.plan import Plan
    from glasshouse.microdata.roles import Missing, Repeated
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.streaming.journey import Marks
    from glasshouse.streaming.stages import WrittenTables

    Progress = Callable[[str, int, int], None]

__all__ = ["PublishedFile", "publish_file"]

_MEMORY = 256 << 20
ENGINES = ("memory", "disk")


def publish_file(
    out: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    principle: Principle | str | Mapping[str, Any],
    method: Method | str | Mapping[str, Any] | None = None,
    recoding: Recoding | str | Mapping[str, Any] | None = None,
    suppress: Any = 0,
    carry: str = "cells",
    identifier: str | None = None,
    repeated: Repeated = "error",
    weight: str | None = None,
    together: Sequence[Sequence[str]] = (),
    missing: Missing = "error",
    ordered: Mapping[str, Sequence[Any]] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    bins: Mapping[str, Any] | None = None,
    categorical: Sequence[str] = (),
    normalise: Sequence[str] = (),
    bottom: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
    accept: Sequence[str] = (),
    format: str = "parquet",
    force: bool = False,
    allow_seed: bool = False,
    title: str | None = None,
    licence: str | None = None,
    zip: bool = False,
    partition: bool = True,
    source: Source | None = None,
    engine: str = "disk",
    memory: int = _MEMORY,
    spill: str | os.PathLike[str] | None = None,
    threads: int = 0,
    part_rows: int = PART_ROWS,
    piece: int = PIECE,
    progress: Progress | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    finishing: Callable[[PublishedFile], None] | None = None,
) -> PublishedFile:
    """Publish a Parquet or CSV file of any size into ``out/release``, which may go out, and ``out/audit``.

    The file is read from front to back: to learn its values, to count how many people there are of each kind, and, if
    it is to be kept who is where, once more. People are divided piece by piece and tables written part by part. They
    are counted again before they appear. Both folders are written, or none; whatever ends the process, no microdata
    stay behind.

    Parameters
    ----------
    out
        Folder that gets the two folders.
    file
        A path: Parquet, Arrow, or CSV, also compressed.
    quasi, sensitive, identifier, weight, together, missing, ordered, taxonomies, bins, categorical, normalise
        As in `read`; columns are not published together from batches.
    bottom, top, accept
        As in `read`.
    repeated
        ``error``: where rows go by in batches, people with several rows are refused.
    delimiter, encoding, decimal
        As in `read`.
    principle, method, recoding, suppress, carry, format, force, allow_seed, title, licence, zip, source, threads
        As in `publish`, which gives the same files from the same key.
    partition
        Whether to keep in the audit who is in which group, which later recodings of the same table reuse.
    engine
        ``disk`` holds one piece and one part at a time, and spills what lies between two stages; ``memory`` holds four
        bytes for every person, and the rows of one table. The release is the same.
    memory
        On disk: bytes for buffers, at least 64 MiB. Kinds of people, and the texts of columns, come on top.
    spill
        On disk: folder for the nameless files; beside ``out`` unless given.
    part_rows
        A table of more rows than these is written as several files.
    piece
        How many people are divided at once, at most. Another number makes other choices.
    progress
        Is called with what is being done, how much of it is done, and of how much (0 if that is not known).
    finishing
        Is called with what was made, in the folders that hold it before these take their places; a report that it
        writes into the audit appears with it. If it fails, nothing is published.

    Returns
    -------
    PublishedFile
        Where it lies, and what it promises.
    """
    format, copy = package_format(format)
    if format not in ("parquet", "csv"):
        raise ParameterError("publish_file", "format", "'parquet', 'csv', 'xlsx' or 'stata'", format)
    if engine not in ENGINES:
        raise ParameterError("publish_file", "engine", "'memory' or 'disk'", engine)
    refuse_in_batches(repeated, "for a file that is read in batches")
    asked = Asked.of(
        principle,
        method,
        recoding,
        suppress=suppress,
        carry=carry,
        format=format,
        title=title,
        licence=licence,
        part_rows=part_rows,
        piece=piece,
    )
    pair = Pair(Path(out), force=force)  # refuses a place that is taken before the work, not after it
    check_archive(pair.out, wanted=zip, force=force)
    check_copy_place(pair.out, copy, force=force)
    source = Source.secure() if source is None else source.for_one_release()
    refuse_seed(seeded=source.is_seeded, allowed=allow_seed)
    with step("count"):
        counted = count_file(
            file,
            quasi=[quasi] if isinstance(quasi, str) else list(quasi),
            sensitive=sensitive,
            identifier=identifier,
            weight=weight,
            together=together,
            missing=missing,
            ordered=ordered,
            taxonomies=taxonomies,
            bins=bins,
            categorical=categorical,
            normalise=normalise,
            bottom=bottom,
            top=top,
            accept=accept,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            progress=progress,
        )
    refuse_unanswered(counted.cautions, counted.accepted)

    def engine_for(inside: Path, outside: Path, marks: Marks) -> Local:
        disk = None
        if engine == "disk":
            disk = Disk(folder=inside.parent if spill is None else Path(spill), memory=memory)
        return Local(outside, source=source, disk=disk, threads=threads, marks=marks, progress=progress)

    def whereabouts(local: Local, plan: Plan, written: WrittenTables, inside: Path) -> None:
        write_whereabouts(inside / "partition.parquet", counted, local, plan, written, source)

    def finished(made: PublishedFile) -> None:
        if copy is not None:
            check_copiable(load(made.folder), copy)
        if finishing is not None:
            finishing(made)

    made = publish_counted(
        pair,
        counted.kinds,
        asked,
        source,
        engine_for,
        n_left_out=counted.n_dropped,
        identified=identifier is not None,
        allow_seed=allow_seed,
        whereabouts=whereabouts if partition else None,
        finishing=finished,
    )
    if zip:
        write_archive(pair.release, pair.out / ARCHIVE, force=force)
    if copy is not None:
        write_copy(load(pair.release), pair.release, pair.out / copy, copy, force=force)
    return made
