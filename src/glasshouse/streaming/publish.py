# SPDX-License-Identifier: Apache-2.0
"""The journey of a file that does not fit in memory: anatomized on disk, and published as QIT and ST.

The same guarantee, the same randomness, the same rules for what goes out as `glasshouse.publish`, for the one method
and the one recoding that need no more than a stream: `Anatomize` and `Anatomy` (ANATOMY Theorem 3).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse import catalog
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.grouping.anatomize.anatomize import Anatomize
from glasshouse.grouping.method import frequency_ell
from glasshouse.journeys.publish import recipe_of
from glasshouse.journeys.republication import traces_of_counts
from glasshouse.log import step
from glasshouse.microdata import Microdata
from glasshouse.microdata.cautions import accepted_cautions, refuse_unanswered
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import Column
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source
from glasshouse.recoding.anatomy import Anatomy
from glasshouse.recoding.columns import published_columns
from glasshouse.release import Guarantee, PublishedColumn, Recipe, Release
from glasshouse.release.layout import ANATOMY, COUNT, GROUP
from glasshouse.release.package.description import write_manifest
from glasshouse.release.package.listing import private_file
from glasshouse.release.package.pair import Pair
from glasshouse.release.package.tables import guarded_name, is_text, missing_mark, plain_table
from glasshouse.release.package.write import refuse_seed, titled, write_audit
from glasshouse.streaming.anatomize import Piece, Tuples, anatomize_stream
from glasshouse.streaming.batches import open_stream
from glasshouse.streaming.spill import Disk, Layout
from glasshouse.streaming.survey import survey
from glasshouse.verification.recount import recount

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.roles import Missing
    from glasshouse.principles.principle import Principle
    from glasshouse.streaming.spill import Spill
    from glasshouse.streaming.survey import Survey

    Progress = Callable[[str, int, int], None]

__all__ = ["PublishedFile", "publish_file"]

_ROW_GROUP = 1 << 20  # published rows that are written at once
_MEMORY = 256 << 20
_QIT, _ST = ANATOMY.people_table(1), ANATOMY.counted_table(1, 1)


@dataclass(frozen=True, kw_only=True)
class PublishedFile:
    """What was published; the tables themselves lie in their folder, and `glasshouse.load` reads them.

    Parameters
    ----------
    folder
        The release, which may go out.
    audit
        What must stay inside.
    columns, recipe, guarantee
        As in `Release`.
    n_tuples, n_dropped, n_groups
        Published tuples, rows of the file that were left out because a value was missing, and groups.
    notices
        What was assumed, in sentences.
    cautions, accepted
        What was found in the file and had to be accepted, and the names by which it was.
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


def publish_file(
    out: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    quasi: Sequence[str],
    sensitive: str,
    principle: Principle | str | Mapping[str, Any],
    identifier: str | None = None,
    missing: Missing = "error",
    ordered: Mapping[str, Sequence[Any]] | None = None,
    categorical: Sequence[str] = (),
    normalise: Sequence[str] = (),
    accept: Sequence[str] = (),
    format: str = "parquet",
    force: bool = False,
    allow_seed: bool = False,
    title: str | None = None,
    licence: str | None = None,
    partition: bool = True,
    source: Source | None = None,
    memory: int = _MEMORY,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    finishing: Callable[[PublishedFile], None] | None = None,
) -> PublishedFile:
    """Anatomize a Parquet or CSV file of any size into ``out/release``, which may go out, and ``out/audit``.

    The file is read twice from front to back: once to count sensitive values, once to send every tuple to a random
    partition in a file without a name, from which QIT and ST are written. They are counted again before they appear.
    Both folders are written, or none; whatever ends the process, no microdata stay behind.

    Parameters
    ----------
    out
        Folder that gets the two folders.
    file
        A path: Parquet, or CSV, also compressed.
    quasi, sensitive, missing, ordered, categorical, normalise, accept, delimiter, encoding, decimal
        As in `read`; one sensitive column.
    principle
        `LDiversity`, or its title, such as ``"3-diversity"``.
    identifier
        Not supported: to find duplicates, all identifiers would have to be kept.
    format, force, allow_seed, title, licence, source
        As in `publish`. With a seeded source the result depends on the order of the file's rows.
    partition
        Whether to keep in the audit who is in which group, which later recodings of the same table reuse.
    memory
        Bytes for buffers, at least 64 MiB. The texts of a column, each once, come on top.
    spill
        Folder for the nameless files; beside ``out`` unless given. It needs room for about the file's size, unpacked.
    progress
        Is called with what is being done, how many rows of it are done, and of how many (0 if that is not known).
    finishing
        Is called with what was made, in the folders that hold it before these take their places; a report that it
        writes into the audit appears with it. If it fails, nothing is published.

    Returns
    -------
    PublishedFile
        Where it lies, and what it promises.
    """
    principle = catalog.chosen_principle(principle)
    pair = Pair(Path(out), force=force)  # refuses a place that is taken before the work, not after it
    _check(identifier, format)
    source = Source.secure() if source is None else source.for_one_release()
    refuse_seed(seeded=source.is_seeded, allowed=allow_seed)
    tell = progress or (lambda _phase, _done, _total: None)

    # look through the file; the table itself must satisfy the principle
    stream = open_stream(file, delimiter=delimiter, encoding=encoding, decimal=decimal)
    expected = stream.n_rows or 0
    with step("survey", rows=expected):
        seen = survey(
            stream,
            quasi=[quasi] if isinstance(quasi, str) else list(quasi),
            sensitive=sensitive,
            missing=missing,
            ordered=ordered,
            categorical=categorical,
            normalise=normalise,
            accept=accept,
            progress=lambda done: tell("reading", done, expected),
        )
    refuse_unanswered(seen.cautions, seen.accepted)
    traces = traces_of_counts(pair.audit, seen.sensitive.domain, seen.counts)  # which warns if it was published before
    described, requirement = _bound(seen, principle)
    requirement.check_eligible()
    ell, _ = frequency_ell(requirement, "Anatomize")
    release = _described(seen, described, requirement, principle, source, ell)
    release = titled(release, title, licence)

    # divide and recode, piece by piece; check again from the published files alone
    marks = _marks(seen) if format == "csv" else {}
    with pair.new() as (inside, outside):
        disk = Disk(folder=inside.parent if spill is None else Path(spill), memory=memory)
        with contextlib.ExitStack() as stack:
            kept = stack.enter_context(_Partition(disk, described.n_tuples)) if partition else None
            with step("write", rows=described.n_tuples):
                _write(outside, seen, ell, source, disk, kept, format, marks, tell)
            with step("recheck", rows=described.n_tuples) as note:
                counted = recount(
                    outside / f"{_QIT}.{format}",
                    outside / f"{_ST}.{format}",
                    number=GROUP,
                    value=guarded_name(sensitive) if format == "csv" else sensitive,
                    count=COUNT,
                    ell=ell,
                    format=format,
                    progress=lambda done: tell("checking", done, described.n_tuples),
                )
                note(groups=counted.n_groups)
            write_manifest(release, outside, format, marks)
            report = {
                "notices": seen.notices,
                "accepted": accepted_cautions(seen.cautions, seen.accepted),
                "achieved": counted.to_dict(),
                "recipe": release.recipe.to_data(),
            }
            traces.write(inside)
            if kept is not None:
                kept.write(private_file(inside / "partition.parquet"))
            write_audit(inside, report)
        made = PublishedFile(
            folder=outside,
            audit=inside,
            columns=release.columns,
            recipe=release.recipe,
            guarantee=release.guarantee,
            n_tuples=release.n_tuples,
            n_dropped=seen.n_dropped,
            n_groups=counted.n_groups,
            notices=seen.notices,
            cautions=seen.cautions,
            accepted=seen.accepted,
        )
        if finishing is not None:
            finishing(made)
    return replace(made, folder=pair.release, audit=pair.audit)


def _check(identifier: str | None, format: str) -> None:
    if format not in ("parquet", "csv"):
        raise ParameterError("publish_file", "format", "'parquet' or 'csv'", format)
    if identifier is not None:
        raise NotSupported(
            "an identifier where a file is published in batches, for all of them would have to be kept to find "
            "duplicates",
            instead="leave it out to promise per row, after making sure that nobody has two rows",
        )


class _Whole(Counts):
    """All tuples as one group, known by how many there are of each value."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        super().__init__(np.empty(0, np.int32), np.array([0, counts.sum()]), len(counts))
        values = np.flatnonzero(counts).astype(np.int32)
        self.histogram = (np.array([0, len(values)]), values, counts[values])
        self.largest = np.array([counts.max(initial=0)])


def _bound(seen: Survey, principle: Principle | Mapping[str, Principle]) -> tuple[Microdata, Requirement]:
    """The table without its tuples, and the requirement that binds the principle to all of them."""
    for one in principle.values() if isinstance(principle, Mapping) else [principle]:
        if one.terms.one_in is None or one.terms.named:
            raise NotSupported(
                "publishing a file in batches under a principle other than l-diversity",
                instead="ask for l-diversity, or read the table into memory",
            )
    nobody = np.empty(0, np.int32)
    described = Microdata(
        quasi=tuple(Column(field.domain, nobody) for field in seen.packing.fields),
        sensitive=(Column(seen.sensitive.domain, nobody),),
        identifier=None,
        n_tuples=0,
        notices=seen.notices,
        source_kind="file",
    )
    requirement = Requirement.of(principle, described)
    parts = tuple(replace(part, whole=_Whole(seen.counts)) for part in requirement.parts)
    return replace(described, n_tuples=int(seen.counts.sum())), Requirement(parts)


# ---------------------------------------------------------------------------------------------- what is published


def _described(
    seen: Survey,
    table: Microdata,
    requirement: Requirement,
    principle: Principle | Mapping[str, Principle],
    source: Source,
    ell: int,
) -> Release:
    """The release without its rows: what its columns mean, how it is made, what it promises."""
    method, recoding = Anatomize(), Anatomy()
    recoding.check(table, requirement)
    return Release(
        tables={name: schema.empty_table() for name, schema in _schemas(seen, ell).items()},
        columns=tuple(published_columns(table, recoding)),
        recipe=recipe_of(table, principle, method, recoding, 0, source),
        guarantee=recoding.guarantee(
            requirement,
            method.claimed(requirement),
            n_sensitive=len(table.sensitive),
            n_whole=table.n_tuples,
            n_suppressed=0,
            identified=False,
        ),
        n_tuples=table.n_tuples,
    )


def _schemas(seen: Survey, ell: int) -> dict[str, pa.Schema]:
    """The columns of QIT and ST, as `Anatomy` publishes them."""
    number = pa.int32() if seen.counts.sum() // max(ell, 1) < 1 << 31 else pa.int64()
    nobody = np.empty((0, seen.packing.n_words), np.uint64)
    quasi = [pa.field(name, column.type) for name, column in seen.packing.unpack(nobody).items()]
    value = pa.field(seen.sensitive.name, _shown(seen, np.empty(0, np.int32)).type)
    return {
        _QIT: pa.schema([*quasi, pa.field(GROUP, number)]),
        _ST: pa.schema([pa.field(GROUP, number), value, pa.field(COUNT, pa.int32())]),
    }


def _marks(seen: Survey) -> dict[str, dict[str, str]]:
    """The words that the two tables have for missing texts, where a column has empty ones as well.

    A column that has missing values here drops nobody, so that all of its texts are published.
    """
    found: dict[str, dict[str, str]] = {_QIT: {}, _ST: {}}
    for table, domains in ((_QIT, [field.domain for field in seen.packing.fields]), (_ST, [seen.sensitive.domain])):
        for domain in domains:
            if domain.missing and is_text(domain.values.type):
                mark = missing_mark([None, *domain.values.to_pylist()])
                found[table] |= {} if mark is None else {domain.name: mark}
    return found


def _shown(seen: Survey, codes: NDArray[np.int32]) -> pa.Array:
    """Sensitive values by their codes, as they are published."""
    domain = seen.sensitive.domain
    if domain.missing or not pa.types.is_string(domain.values.type):
        return domain.decode(codes)
    return pa.DictionaryArray.from_arrays(pa.array(codes), domain.values)


def _write(
    folder: Path,
    seen: Survey,
    ell: int,
    source: Source,
    disk: Disk,
    kept: _Partition | None,
    format: str,
    marks: Mapping[str, Mapping[str, str]],
    tell: Progress,
) -> None:
    """Anatomize the stream and write both tables as the groups come out."""
    schemas = _schemas(seen, ell)
    n_tuples, done = int(seen.counts.sum()), 0

    def tuples() -> Iterator[Tuples]:
        spilled = 0
        for codes, keys, rows in seen.tuples():
            yield Tuples(codes, keys, None if kept is None else rows)
            spilled += len(codes)
            tell("shuffling", spilled, n_tuples)

    pieces = anatomize_stream(seen.counts, ell, tuples, source, disk, key=seen.packing.key, with_rows=kept is not None)
    with (
        _Writer(folder / f"{_QIT}.{format}", schemas[_QIT], format, marks.get(_QIT, {})) as qit,
        _Writer(folder / f"{_ST}.{format}", schemas[_ST], format, marks.get(_ST, {})) as st,
    ):
        for piece in pieces:
            numbers = _numbers(piece, schemas[_QIT].field(GROUP).type)
            qit.write(pa.table({**seen.packing.unpack(piece.keys), GROUP: numbers}, schemas[_QIT]))
            ones = np.ones(len(piece.values), np.int32)  # all values of a group are different (ANATOMY Property 3)
            shown = {GROUP: numbers, seen.sensitive.name: _shown(seen, piece.values), COUNT: ones}
            st.write(pa.table(shown, schemas[_ST]))
            if kept is not None and piece.rows is not None:
                kept.add(piece.rows, numbers)
            done += len(numbers)
            tell("writing", done, n_tuples)


def _numbers(piece: Piece, kind: pa.DataType) -> NDArray[Any]:
    n_groups = len(piece.offsets) - 1
    return np.repeat(
        np.arange(piece.first, piece.first + n_groups, dtype=kind.to_pandas_dtype()), np.diff(piece.offsets)
    )


class _Writer:
    """A published table on its way to disk, in row groups of one size: where pieces ended cannot be seen."""

    def __init__(
        self, path: Path, schema: pa.Schema, format: str, marks: Mapping[str, str], *, row_group: int = _ROW_GROUP
    ) -> None:
        self._row_group = row_group
        self._pieces: list[pa.Table] = []
        self._n_rows = 0
        self._is_csv = format == "csv"
        self._marks = marks
        self._schema = plain_table(schema.empty_table(), {}).schema if self._is_csv else schema
        self._writer: Any
        if self._is_csv:
            self._writer = pa_csv.CSVWriter(path, self._schema)
        else:
            # ascending numbers take next to nothing as differences, and would fill a dictionary in vain
            self._writer = pq.ParquetWriter(
                path,
                schema,
                compression="zstd",
                write_statistics=False,
                use_dictionary=[name for name in schema.names if name != GROUP],
                column_encoding={GROUP: "DELTA_BINARY_PACKED"},
            )

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None and self._n_rows:
                self._flush(self._n_rows)
        finally:
            self._writer.close()

    def write(self, piece: pa.Table) -> None:
        """Add rows."""
        self._pieces.append(plain_table(piece, self._marks) if self._is_csv else piece)
        self._n_rows += piece.num_rows
        while self._n_rows >= self._row_group:
            self._flush(self._row_group)

    def _flush(self, n_rows: int) -> None:
        table = pa.concat_tables(self._pieces)
        self._writer.write_table(table.slice(0, n_rows), n_rows)
        self._pieces = [table.slice(n_rows)]
        self._n_rows -= n_rows


class _Partition:
    """Who is in which group, by row of the file: sorted on disk, and written when everything else is there."""

    def __init__(self, disk: Disk, n_rows: int, *, rows: int = _ROW_GROUP) -> None:
        self._n_rows = n_rows
        self._rows = rows  # a power of two
        self._shift = rows.bit_length() - 1
        self._spill: Spill = disk.spill(
            Layout.of(
                (np.uint32 if n_rows < 1 << 32 else np.uint64, 1), (np.int32 if n_rows < 1 << 31 else np.int64, 1)
            ),
            -(-n_rows // rows),
        )

    def __enter__(self) -> _Partition:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.close()

    def add(self, rows: NDArray[np.int64], numbers: NDArray[Any]) -> None:
        """Take note of some tuples."""
        self._spill.append(rows >> self._shift, [rows, numbers])

    def write(self, path: Path) -> None:
        """Write the group of every row."""
        self._spill.finish()
        number = np.int32 if self._n_rows < 1 << 31 else np.int64
        schema = pa.schema([pa.field("row", pa.int64()), pa.field("group", pa.from_numpy_dtype(number))])
        encoding = {"row": "DELTA_BINARY_PACKED", "group": "PLAIN"}
        compression = {"row": "zstd", "group": "none"}  # random numbers are not to be compressed
        with pq.ParquetWriter(
            path,
            schema,
            compression=compression,
            write_statistics=False,
            use_dictionary=False,
            column_encoding=encoding,
        ) as writer:
            for p, first in enumerate(range(0, self._n_rows, self._rows)):
                rows, numbers = self._spill.read(p)
                groups = np.empty(len(rows), number)
                groups[rows.astype(np.int64) - first] = numbers
                row = np.arange(first, first + len(groups))
                writer.write_table(pa.table({"row": row, "group": groups}, schema))
