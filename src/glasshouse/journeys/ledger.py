# SPDX-License-Identifier: Apache-2.0
"""The ledger: what an audit keeps of people so that the table can be published again for those who come later.

It has everybody who was ever a candidate of an edition, by identifier: the number of the edition, whether they were
published, in which edition they were found to have left, what is published of their quasi-identifiers, and a digest of
their values under the secret key of the audit, by which it is noticed that a value changed. It has no sensitive value.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glasshouse.cells.values import text_of
from glasshouse.errors import InputError, SourceError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.journeys.republication import FILE as TRACES
from glasshouse.recoding.generalization import box_cells, node_cells
from glasshouse.release.package.listing import private_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.recoding.recoding import Recoding

__all__ = ["FILE", "Comparison", "Ledger"]

FILE: Final = "ledger.parquet"
_OWN: Final = ("identifier", "edition", "published", "left", "values", "quasi")
_CELL: Final = "cell: "  # before the name of a quasi-identifier whose published cells are kept
_OLD: Final = (
    "its audit has no list of the published people (ledger), which is needed to recognise who is new. Glasshouse keeps "
    "this list only for a table with an identifier that is published in memory with the recoding 'anatomy', "
    "'permutation' or 'angel'. Instead, publish the people who are not in this release as a table of their own"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """The difference between a table and a ledger: who came, who left, and how many people have changed.

    Parameters
    ----------
    arrivals
        The rows of the table whose people were never candidates.
    leavers
        The rows of the ledger whose people were published, had not left, and are not in the table.
    n_changed, n_moved
        How many people who were published have other sensitive values, or other quasi-identifiers, than then.
    n_returned, n_left_out
        How many people of the table had left before, or were candidates and not published.
    """

    arrivals: NDArray[np.int64]
    leavers: NDArray[np.int64]
    n_changed: int
    n_moved: int
    n_returned: int
    n_left_out: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """Everybody who was ever a candidate."""

    key: str  # the secret of the audit, as hexadecimal digits
    people: pa.Table  # a row for each, with the columns that the text above tells of

    @classmethod
    def of(cls, key: str, table: Microdata, groups: Groups, recoding: Recoding, edition: int) -> Ledger | None:
        """The ledger of one edition, for the candidates in a table and their groups; None if it could not be followed.

        It can be where there is an identifier and everybody has a row in one table of people, with the group's number.
        """
        if table.identifier is None or recoding.layout.number is None:
            return None
        shown = recoding.of_people(table, groups, Mondrian().divide)
        if len(shown) != 1 or not shown[0].numbered or len(shown[0].quasi) < len(table.quasi):
            return None
        published = groups.labels >= 0
        cells = {f"{_CELL}{c.name}": _cells(c, shown[0].groups, recoding, published) for c in table.quasi}
        return cls(key=key, people=_entries(key, table, edition, published, cells))

    @classmethod
    def left_out(cls, key: str, table: Microdata, edition: int, beside: Ledger) -> Ledger:
        """The ledger of an edition all of whose candidates are left out for good, beside that of earlier ones."""
        nobody = np.zeros(table.n_tuples, bool)
        schema = beside.people.schema
        cells = {name: pa.nulls(table.n_tuples, schema.field(name).type) for name in schema.names[len(_OWN) :]}
        return cls(key=key, people=_entries(key, table, edition, nobody, cells))

    @classmethod
    def read(cls, audit: Path) -> Ledger:
        """Read the ledger of an audit folder; refused if there is none."""
        try:
            key = str(json.loads((audit / TRACES).read_text(encoding="utf-8"))["key"])
            bytes.fromhex(key)
            people = pq.read_table(audit / FILE)
            if tuple(people.column_names[: len(_OWN)]) != _OWN:
                raise KeyError(FILE)
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            raise SourceError(
                (f"no further edition can be published after {audit.parent}: {_OLD}"), source=audit
            ) from None
        return cls(key=key, people=people)

    def write(self, audit: Path) -> None:
        """Write the ledger to an audit folder, readable by its owner only."""
        pq.write_table(self.people, private_file(audit / FILE))

    def followed_by(self, other: Ledger | None, leavers: NDArray[np.int64], edition: int) -> Ledger:
        """The ledger with that of the next edition, in which some people were found to have left."""
        left = self.people["left"].combine_chunks().to_numpy(zero_copy_only=False).copy()
        left[leavers] = edition
        column = pa.array(left, pa.int32(), from_pandas=True)
        people = self.people.set_column(_OWN.index("left"), "left", column)
        if other is not None:
            people = pa.concat_tables([people, other.people], promote_options="permissive")
        return replace(self, people=people.combine_chunks())

    def cells_of(self, rows: NDArray[np.int64]) -> tuple[dict[str, pa.Array], pa.Array]:
        """What is published of the quasi-identifiers of some people, and the places of their editions, from 0."""
        taken = self.people.take(pa.array(rows))
        names = [name for name in taken.column_names if name.startswith(_CELL)]
        cells = {name.removeprefix(_CELL): taken[name].combine_chunks() for name in names}
        return cells, pc.subtract(taken["edition"].combine_chunks(), 1)

    def are_of(self, table: Microdata, edition: int) -> NDArray[np.bool_]:
        """Which people of a table were candidates of an edition, by its number."""
        own = self.people.filter(pc.equal(self.people["edition"], edition))["identifier"].combine_chunks()
        return np.asarray(pc.is_in(_plain(table.identifier), value_set=own))

    def compared(self, table: Microdata) -> Comparison:
        """Compare a table with the ledger."""
        identifier = _plain(table.identifier)
        known = self.people["identifier"].combine_chunks()
        if identifier.type != known.type:
            raise InputError(
                f"the identifiers of this table are of the type {identifier.type}, but those of earlier editions are "
                f"of the type {known.type}, so nobody would be recognised: write them in the same way"
            )
        place = pc.index_in(identifier, value_set=known)
        arrivals = np.flatnonzero(np.asarray(place.is_null()))
        there = np.flatnonzero(np.asarray(place.is_valid()))
        entry = np.asarray(place.drop_null()).astype(np.int64)
        own = self.people.take(pa.array(entry))
        published = np.asarray(own["published"])
        gone = np.asarray(own["left"].is_valid())
        rows = there[published & ~gone]
        still = own.filter(pa.array(published & ~gone))
        missing = np.asarray(self.people["published"]) & np.asarray(self.people["left"].is_null())
        missing[entry] = False
        taken = table.take(rows)
        return Comparison(
            arrivals=arrivals,
            leavers=np.flatnonzero(missing),
            n_changed=_differing(_digests(self.key, taken, taken.sensitive), still["values"]),
            n_moved=_differing(_digests(self.key, taken, taken.quasi), still["quasi"]),
            n_returned=int(gone.sum()),
            n_left_out=int((~published).sum()),
        )


def _entries(
    key: str, table: Microdata, edition: int, published: NDArray[np.bool_], cells: dict[str, pa.Array]
) -> pa.Table:
    return pa.table(
        {
            "identifier": _plain(table.identifier),
            "edition": pa.array(np.full(table.n_tuples, edition, np.int32)),
            "published": pa.array(published),
            "left": pa.nulls(table.n_tuples, pa.int32()),
            "values": pa.array(_digests(key, table, table.sensitive), pa.binary()),
            "quasi": pa.array(_digests(key, table, table.quasi), pa.binary()),
            **cells,
        }
    )


def _cells(column: Column, groups: Groups, recoding: Recoding, published: NDArray[np.bool_]) -> pa.Array:
    """What is published of everybody's value of a quasi-identifier; null for people who are not."""
    absent = pa.array(~published)
    if recoding.shows_exact:
        return pc.if_else(absent, None, column.domain.decode(column.codes))
    found = (node_cells if recoding.shows_nodes else box_cells)(column, groups)
    cell = found.of_group[np.maximum(groups.labels, 0)]
    return pc.if_else(absent, None, pa.array(found.texts, pa.string()).take(pa.array(cell)))


def _plain(identifier: Any) -> pa.Array:
    """Identifiers as they are compared: whole numbers, or texts."""
    whole = identifier.combine_chunks() if isinstance(identifier, pa.ChunkedArray) else identifier
    kind = whole.type.value_type if pa.types.is_dictionary(whole.type) else whole.type
    return whole.cast(pa.int64() if pa.types.is_integer(kind) else pa.string())


def _digests(key: str, table: Microdata, columns: Sequence[Column]) -> list[bytes]:
    """For everybody a digest of identifier and values, so that equal values of two people look different."""
    secret = hashlib.blake2b(key=bytes.fromhex(key), digest_size=16)
    texts = [[_framed(text_of(v)) for v in c.domain.values.to_pylist()] + [b"missing"] for c in columns]
    words = [[own[code] for code in c.codes.tolist()] for own, c in zip(texts, columns, strict=True)]
    names = [_framed(str(name)) for name in _plain(table.identifier).to_pylist()]
    found = []
    for parts in zip(names, *words, strict=True):
        one = secret.copy()
        one.update(b"".join(parts))
        found.append(one.digest())
    return found


def _framed(text: str) -> bytes:
    content = text.encode()
    return b"%d:%b" % (len(content), content)


def _differing(one: list[bytes], other: pa.ChunkedArray) -> int:
    return sum(a != b for a, b in zip(one, other.to_pylist(), strict=True))
