"""A toy release of the shape that methods and recodings have: pieces of kinds are divided at random, rows are words.

`written_here` is the reference: one process, no Spark, the files that Spark must write byte for byte.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glasshouse.randomness import Source
from glasshouse.release.package.parts import write_part
from glasshouse.streaming.port import Parts

N_POINTS, N_VALUES = 40, 6


class Piece(NamedTuple):
    """So many people of some of the kinds."""

    number: int
    kinds: NDArray[np.int32]
    counts: NDArray[np.int64]


def people(n: int, seed: int = 1) -> pa.Table:
    """A table of people, in an order of its own."""
    draws = np.random.default_rng(seed)
    return pa.table({"point": draws.integers(0, N_POINTS, n), "value": draws.integers(0, N_VALUES, n)})


def pieces(counts: NDArray[np.int64], largest: int) -> list[Piece]:
    """The kinds, in pieces of at most so many people."""
    owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    made = []
    for number, start in enumerate(range(0, len(owner), largest)):
        kinds, own = np.unique(owner[start : start + largest], return_counts=True)
        made.append(Piece(number, kinds, own.astype(np.int64)))
    return made


def counted(table: pa.Table) -> NDArray[np.int64]:
    """How many people there are of each kind."""
    kinds = np.asarray(table["point"]) * N_VALUES + np.asarray(table["value"])
    return np.bincount(kinds, minlength=N_POINTS * N_VALUES).astype(np.int64)


def work(piece: Piece, ballast: Any, source: Source) -> tuple[NDArray[np.int32], int]:
    """Everybody's group, at random, and how many groups there are."""
    time.sleep(ballast.get("seconds", 0))
    n = int(piece.counts.sum())
    n_groups = max(1, n // 4)
    groups = np.asarray(source.child("piece", piece.number).permutation(n)) % n_groups
    return groups.astype(np.int32), n_groups


def summary(piece: Piece, result: tuple[NDArray[np.int32], int], ballast: Any) -> list[int]:
    """What the driver needs to number groups."""
    return [result[1]]


def rows(piece: Piece, result: tuple[NDArray[np.int32], int], ballast: Any, source: Source) -> list[Any]:
    """Two tables: who is in which group, one word of each; and the values of groups, two words."""
    number = (ballast["bases"][piece.number] + result[0]).astype(np.uint64)
    kinds = np.repeat(piece.kinds, piece.counts)
    points, values = (kinds // N_VALUES).astype(np.uint64), (kinds % N_VALUES).astype(np.uint64)
    size = ballast["rows"]
    first = ((number << np.uint64(20)) | points)[:, None]
    second = np.stack([number, values], axis=1)
    return [(0, (number // size).astype(np.int32), first), (1, (values % 2).astype(np.int32), second)]


def finish(table: int, part: int, words: NDArray[np.uint64], ballast: Any, source: Source) -> pa.Table:
    """The words as columns, in their order, values as texts, and a column of random choices."""
    time.sleep(ballast.get("seconds", 0))
    words = words[np.lexsort(words.T[::-1])]
    draws = source.child("part", part).belows(100, len(words))
    if table == 0:
        return pa.table(
            {"group": words[:, 0] >> np.uint64(20), "point": words[:, 0] & np.uint64((1 << 20) - 1), "x": draws}
        )
    return pa.table({"group": words[:, 0], "value": pa.array(ballast["texts"]).take(pa.array(words[:, 1]))})


class Toy:
    """The job, on any engine."""

    def __init__(self, table: pa.Table, *, largest: int = 150, rows: int = 100) -> None:
        self.pieces = pieces(counted(table), largest)
        self.rows = rows
        self.ballast: dict[str, Any] = {"texts": [f"value {i}" for i in range(N_VALUES)], "rows": np.uint64(rows)}

    def tables(self, summaries: Sequence[Sequence[int]]) -> list[Parts]:
        bases = np.cumsum([0, *(n for (n,) in summaries)])
        self.ballast["bases"] = bases[:-1]
        return [
            Parts(name="gt", n_parts=-(-int(bases[-1]) // self.rows), n_words=1),
            Parts(name="bt", n_parts=2, n_words=2),
        ]

    def on_spark(self, engine: Any, seconds: float = 0) -> dict[str, str]:
        """The checksum of every file, by table and part."""
        ballast = {**self.ballast, "seconds": seconds}
        tables = self.tables(engine.map_pieces(self.pieces, work, summary, ballast=ballast))
        files = engine.shuffle(rows, tables, finish, ballast={**self.ballast, "seconds": seconds})
        folder = engine._folder / "part"
        for file in (file for table in files for file in table):
            content = (folder / file.path).read_bytes()
            assert f"sha256:{digest(content)}" == file.hash
            assert len(content) == file.bytes
            assert pq.read_metadata(folder / file.path).num_rows == file.rows
        return {file.path: file.hash for table in files for file in table}

    def written_here(self, folder: Path, source: Source) -> dict[str, str]:
        """The same, by one process."""
        results = [work(piece, self.ballast, source) for piece in self.pieces]
        tables = self.tables([summary(*both, self.ballast) for both in zip(self.pieces, results, strict=True)])
        found: list[list[Any]] = [[], []]
        for piece, result in zip(self.pieces, results, strict=True):
            for table, parts, words in rows(piece, result, self.ballast, source):
                found[table].append((parts, words))
        sums = {}
        for number, table in enumerate(tables):
            parts, words = (np.concatenate(some) for some in zip(*found[number], strict=True))
            for part in range(table.n_parts):
                made = finish(number, part, words[parts == part], self.ballast, source)
                written = write_part(folder, table.name, part, table.n_parts, made, "parquet")
                sums[written.path] = written.hash
        return sums


def digest(content: bytes) -> str:
    """Its SHA-256."""
    import hashlib

    return hashlib.sha256(content).hexdigest()
