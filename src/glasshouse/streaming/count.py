# SPDX-License-Identifier: Apache-2.0
"""Count: how many people of each kind there are in a file of any size, or in batches that can be opened again.

The file is read from front to back, twice: once for the different values of every column, which are then put through
all that `glasshouse.read` does to a column (`glasshouse.microdata.intake`), and once to count combinations of their
codes. Rows with a missing value that are to be dropped, and identifiers, take one more reading each. In memory are the
different values, the kinds, and a batch.

What comes out is what `kinds_of` makes of the table that `read` gives: the same domains, codes, notices, cautions and
errors, whatever the order of rows and however the file is cut into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.errors import NotSupported, ParameterError
from glasshouse.microdata.cautions import accepted_names
from glasshouse.microdata.domains import Column
from glasshouse.microdata.intake import Options
from glasshouse.microdata.kinds import Kinds
from glasshouse.microdata.roles import Roles
from glasshouse.microdata.table import Microdata
from glasshouse.streaming.batches import GivenStream, open_stream
from glasshouse.streaming.coder import Coder
from glasshouse.streaming.tally import Tally

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.roles import Missing
    from glasshouse.streaming.batches import Stream

    Progress = Callable[[str, int, int], None]

__all__ = ["Counted", "count_batches", "count_file"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted:
    """The kinds of people in a file or in batches.

    Parameters
    ----------
    kinds
        What `kinds_of` makes of the table that `read` gives.
    n_rows
        Rows of the source, those that were left out included. Where a row stands for several people, people.
    n_dropped
        How many of them were left out because a value is missing.
    """

    kinds: Kinds
    n_rows: int
    n_dropped: int
    _coder: Coder = field(repr=False)
    _tally: Tally = field(repr=False)

    @property
    def identified(self) -> bool:
        """Whether there is an identifier."""
        return self._coder.roles.identifier is not None

    @property
    def notices(self) -> tuple[str, ...]:
        """What was assumed, in sentences."""
        return self.kinds.table.notices

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions that must be resolved before publishing."""
        return self.kinds.table.cautions

    @property
    def accepted(self) -> tuple[str, ...]:
        """The names of the cautions that were accepted."""
        return self.kinds.table.accepted

    def people(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64], pa.Array | None]]:
        """Read the source again, batch by batch: of what kind each row is, its number, and its identifier.

        Rows are numbered from 0 as `read` numbers them: those that are dropped are not counted. Where a row stands for
        several people it comes once. `SourceError` if the source is another than it was, at the end at the latest.
        """
        coder, at = self._coder, 0
        seen = np.zeros(len(self.kinds), np.int64)
        for codes, weights, identifiers in coder.batches(with_identifier=True):
            kinds = self._tally.places(codes)
            if len(kinds) and int(kinds.min()) < 0:
                raise coder.stream.changed()
            found = np.bincount(kinds, weights, minlength=len(seen))
            seen += found.astype(np.int64, copy=False)
            yield kinds, np.arange(at, at + len(kinds)), identifiers
            at += len(kinds)
        if not np.array_equal(seen, self.kinds.counts):
            raise coder.stream.changed()


def count_file(
    path: str | os.PathLike[str],
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    identifier: str | None = None,
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
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    progress: Progress | None = None,
) -> Counted:
    """Count the kinds of people in a file: CSV, also gzip or zstd, Parquet or Arrow IPC.

    The options are those of `read`. ``progress`` is called with what is being done, how many rows of it are done, and
    of how many (0 if that is not known).
    """
    roles = Roles.of(quasi, sensitive, identifier, weight)
    options = Options.of(
        missing=missing,
        together=together,
        categorical=categorical,
        normalise=normalise,
        ordered=ordered,
        taxonomies=taxonomies,
        bins=bins,
        bottom=bottom,
        top=top,
    )
    stream = open_stream(path, delimiter=delimiter, encoding=encoding, decimal=decimal)
    return _counted(stream, roles, options, accept, None, progress)


def count_batches(
    open: Callable[[], Iterable[Mapping[str, pa.Array]]],
    *,
    columns: Sequence[str],
    weights: str | None = None,
    what: str = "the table",
    source_kind: str = "arrow",
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    identifier: str | None = None,
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
    progress: Progress | None = None,
) -> Counted:
    """Count the kinds of people in batches of Arrow columns, as `count_file` does.

    Parameters
    ----------
    open
        Is called for every reading, and gives all batches each time; their order does not matter.
    columns
        The names of all columns of the table, without the one of weights. Batches may leave out those without a role.
    weights
        A column of integers in the batches: how many people each row stands for. Not with an identifier.
    what, source_kind
        What to call the table in messages, and what it is (`Microdata.source_kind`).

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = {"age": pa.array([30, 7]), "ill": pa.array(["flu", "ulcer"]), "n": pa.array([4, 2])}
    >>> counted = count_batches(lambda: [batch], columns=["age", "ill"], weights="n", quasi=["age"], sensitive="ill")
    >>> counted.kinds.table.column("age").codes.tolist(), counted.kinds.counts.tolist()
    ([0, 1], [2, 4])
    """
    roles = Roles.of(quasi, sensitive, identifier, weight)
    options = Options.of(
        missing=missing,
        together=together,
        categorical=categorical,
        normalise=normalise,
        ordered=ordered,
        taxonomies=taxonomies,
        bins=bins,
        bottom=bottom,
        top=top,
    )
    if weights is not None and identifier is not None:
        raise ParameterError(
            "count_batches", "weights", "None if there is an identifier, because then each row is one person", weights
        )
    if weights in columns:
        raise ParameterError("count_batches", "weights", "another column than those of the table", weights)
    stream = GivenStream(names=tuple(columns), open=open, what=what, kind=source_kind)
    return _counted(stream, roles, options, accept, weights, progress)


def _counted(
    stream: Stream,
    roles: Roles,
    options: Options,
    accept: Sequence[str],
    weights: str | None,
    progress: Progress | None,
) -> Counted:
    tell = progress or (lambda _phase, _done, _total: None)
    roles.check(stream.columns)
    options.check(roles, stream.columns)
    if options.together:
        raise NotSupported(
            "columns cannot be published together (together=) in a table that is counted in batches",
            instead="read it into memory (engine='memory'), or join the columns into one in the file first",
        )
    accepted = accepted_names(accept, stream.columns)
    stream.check(roles.columns)
    coder = Coder(stream, roles, options, weights, tell)
    intake = coder.intake(options)
    intake.respell()
    intake.clip()
    if intake.must_drop():
        coder.drop(intake)
    intake.bin()
    quasi, sensitive = intake.coded(coder.register(intake))
    coder.assign(intake, (*quasi, *sensitive))

    # the second reading
    tally = Tally([column.domain.size for column in (*quasi, *sensitive)], weighted=weights is not None)
    for codes, stands_for, _ in coder.batches():
        tally.add(codes, stands_for)
    tally.finish()
    counts, found = tally.counts, tally.codes()
    for column, own in zip((*quasi, *sensitive), found, strict=True):
        expected = np.bincount(column.codes, intake.weights[column.name], minlength=column.domain.size)
        if not np.array_equal(np.bincount(own, counts, minlength=column.domain.size), expected):
            raise coder.stream.changed()
    gaps = [own == column.domain.missing_code for column, own in zip((*quasi, *sensitive), found, strict=True)]
    intake.tell_empty(int(counts[np.logical_and.reduce(gaps)].sum()))

    columns = [Column(column.domain, own) for column, own in zip((*quasi, *sensitive), found, strict=True)]
    table = Microdata(
        quasi=tuple(columns[: len(quasi)]),
        sensitive=tuple(columns[len(quasi) :]),
        identifier=None,
        n_tuples=len(counts),
        notices=intake.told(accepted),
        source_kind=stream.kind,
        cautions=intake.cautions,
        accepted=accepted,
        incomplete=intake.incomplete,
    )
    return Counted(
        kinds=Kinds(table, counts),
        n_rows=coder.n_rows,
        n_dropped=coder.n_rows - intake.n_rows,
        _coder=coder,
        _tally=tally,
    )
