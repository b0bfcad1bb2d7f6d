# SPDX-License-Identifier: Apache-2.0
"""Republication: two independent partitions of one table intersect, and reveal together what neither reveals alone.

So an audit keeps a trace of every table that was published from its folder: for each column a digest of how often its
values occur, under a secret key of that audit. From it one can tell that a table comes again, in whatever order of
rows and with whatever other columns, and nothing else that the audit's partition does not tell anyway.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glasshouse.errors import RepublicationWarning
from glasshouse.plural import counted
from glasshouse.release.package.listing import private_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.microdata.domains import Domain
    from glasshouse.microdata.kinds import Kinds

__all__ = [
    "FILE",
    "PARTITION",
    "Traces",
    "is_newest",
    "keep_traces",
    "traces_of",
    "traces_of_counts",
    "traces_of_kinds",
]

FILE = "published.json"
PARTITION = "partition.parquet"
_IDENTIFIER = "identifier"


@dataclass(frozen=True, kw_only=True)
class Traces:
    """The traces of the tables that were published from a folder, that of the newest last."""

    key: str  # the secret of this audit, as hexadecimal digits
    tables: tuple[Mapping[str, Any], ...]  # for each table how many records it had, and the digest of each column

    def write(self, audit: Path) -> None:
        """Write the traces to an audit folder."""
        content = {"key": self.key, "tables": list(self.tables)}
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        private_file(audit / FILE).write_text(text, encoding="utf-8")


def traces_of(audit: Path, table: Microdata, *, stacklevel: int = 3) -> Traces:
    """Give the traces of an audit with that of this table, and warn if it was published from there before.

    The table was there before if one of its people was, by the identifiers of the kept partition; or if a table of the
    same size had columns of the same names, and in more than half of these the values occurred as often.
    """
    key, earlier = _earlier(audit)
    columns = _digests(key, table)
    again = _people_again(audit, table.identifier)
    return _joined(key, earlier, table.n_tuples, columns, again, stacklevel + 1)


def traces_of_kinds(audit: Path, kinds: Kinds, *, stacklevel: int = 3) -> Traces:
    """The same for a table of which it is known how many people there are of each kind."""
    key, earlier = _earlier(audit)
    columns = {
        column.name: _digest(
            key, column.domain, np.bincount(column.codes, kinds.counts, column.domain.size).astype(np.int64)
        )
        for column in (*kinds.table.quasi, *kinds.table.sensitive)
    }
    return _joined(key, earlier, kinds.n_people, columns, 0, stacklevel + 1)


def traces_of_counts(
    audit: Path, domain: Domain, counts: NDArray[np.int64], *, stacklevel: int = 3
) -> Traces:  # fmt: skip
    """The same for a file of which only the counts of one column's values are known."""
    key, earlier = _earlier(audit)
    columns = {domain.name: _digest(key, domain, counts)}
    return _joined(key, earlier, int(counts.sum()), columns, 0, stacklevel + 1)


def is_newest(audit: Path, table: Microdata) -> bool | None:
    """Whether this is the table that was published from a folder last; None if its audit has no trace of any."""
    key, earlier = _earlier(audit)
    if not earlier:
        return None
    newest, own = earlier[-1]["columns"], _digests(key, table)
    both = newest.keys() & own.keys()
    return bool(both) and all(newest[name] == own[name] for name in both)


def keep_traces(audit: Path, inside: Path) -> None:
    """Carry the traces of an audit over into the folder that will replace it."""
    if (audit / FILE).is_file():
        private_file(inside / FILE).write_bytes((audit / FILE).read_bytes())


def _joined(
    key: str, earlier: list[Any], n_tuples: int, columns: dict[str, str], again: int, stacklevel: int
) -> Traces:
    matches = [trace for trace in earlier if trace["n_tuples"] == n_tuples and _shares(trace["columns"], columns)]
    if again or matches:
        who = counted(again, "person of this table was", "people of this table were") if again else "this table was"
        warnings.warn(
            f"{who} published from this folder before: an attacker who has both releases can combine their groups, "
            "and neither guarantee covers this. If anybody has received the earlier release, keep it, and add "
            "tables to it (glasshouse marginals, after the recoding 'angel'). Publish again only if nobody has "
            "received it",
            RepublicationWarning,
            stacklevel=stacklevel,
        )
    new = {"n_tuples": n_tuples, "columns": columns}
    return Traces(key=key, tables=(*(trace for trace in earlier if trace != new), new))


def _digests(key: str, table: Microdata) -> dict[str, str]:
    """For every column a digest of how often its values occur."""
    return {
        column.name: _digest(key, column.domain, np.bincount(column.codes, minlength=column.domain.size))
        for column in (*table.quasi, *table.sensitive)
    }


def _shares(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    both = one.keys() & other.keys()
    return 2 * sum(one[name] == other[name] for name in both) > len(both)


def _earlier(audit: Path) -> tuple[str, list[Any]]:
    """The key of an audit and its traces; a new key, and none, where there is nothing that can be read."""
    try:
        content = json.loads((audit / FILE).read_text(encoding="utf-8"))
        bytes.fromhex(content["key"])
        traces = [trace for trace in content["tables"] if isinstance(trace["columns"], dict) and "n_tuples" in trace]
        return str(content["key"]), traces
    except (OSError, ValueError, KeyError, TypeError):
        return secrets.token_hex(32), []


def _digest(key: str, domain: Domain, counts: NDArray[Any]) -> str:
    """A digest of how often each value occurs, independent of the order of the values."""
    occurring = np.flatnonzero(counts[: len(domain.values)])
    values = domain.values.take(pa.array(occurring))
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        plain = np.asarray(values.cast(pa.int64() if pa.types.is_integer(values.type) else pa.float64()))
        order = np.argsort(plain)
        content = [plain[order]]
    else:
        texts = values.cast(pa.string()).cast(pa.large_binary())
        order = np.asarray(pc.sort_indices(texts))
        texts = texts.take(pa.array(order))
        content = [np.asarray(pc.binary_length(texts)), np.frombuffer(b"".join(texts.to_pylist()), np.uint8)]
    total = hashlib.blake2b(key=bytes.fromhex(key), digest_size=16)
    for part in (np.asarray(counts)[occurring][order].astype(np.int64), *content):
        total.update(np.ascontiguousarray(part).tobytes())
    return total.hexdigest()


def _people_again(audit: Path, identifier: pa.Array | None) -> int:
    """How many people of a table are in the partition that an audit keeps, by their identifiers."""
    if identifier is None:
        return 0
    try:
        known = pq.read_table(audit / PARTITION, columns=[_IDENTIFIER])[_IDENTIFIER]
        again = pc.is_in(identifier.cast(pa.string()), value_set=known.combine_chunks().cast(pa.string()))
    except (OSError, KeyError, pa.ArrowException):
        return 0
    return int(pc.sum(again).as_py() or 0)
