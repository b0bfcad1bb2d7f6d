# SPDX-License-Identifier: Apache-2.0
"""The smallest engine that can publish in parts: pieces in any order, rows of words moved in any order."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.microdata.kinds import Kinds
from glasshouse.recoding.parts.members import Piece
from glasshouse.recoding.parts.word_fields import split_rows


def pieces_of(kinds: NDArrayOfInts, groups: gh.Groups, n_pieces: int, seed: int) -> list[Piece]:
    """Deal the groups out over pieces at random; their numbers are the labels that they have."""
    random = np.random.default_rng(seed)
    home = random.integers(0, n_pieces, groups.n_groups)
    found = []
    for number in range(n_pieces):
        own = random.permutation(np.flatnonzero(home == number))
        place = np.full(groups.n_groups, -1, np.int32)
        place[own] = np.arange(len(own), dtype=np.int32)
        rows = np.flatnonzero((groups.labels >= 0) & (place[groups.labels] >= 0))
        rows = rows[np.argsort(kinds[rows], kind="stable")]
        found.append(Piece(kinds[rows], place[groups.labels[rows]], len(own), own.astype(np.int64)))
    return [found[i] for i in random.permutation(n_pieces)]


def publish(
    recoding: Any,
    kinds: Kinds,
    pieces: Sequence[Piece],
    *,
    part_rows: int,
    source: Any,
    buckets: Sequence[gh.Groups] | None = None,
    seed: int = 0,
) -> dict[str, list[pa.Table]]:
    """The parts of every table."""
    random = np.random.default_rng(seed)
    n_groups = sum(piece.n_groups for piece in pieces)
    published = {}
    for plan in recoding.in_parts(kinds, part_rows=part_rows, buckets=buckets):
        plan = pickle.loads(pickle.dumps(plan))
        summaries = [plan.summary(Piece(piece.kinds, piece.labels, piece.n_groups)) for piece in pieces]
        table = pickle.loads(pickle.dumps(plan.settle(n_groups, summaries)))
        moved: list[list[Any]] = [[] for _ in range(table.n_parts)]
        for piece in pieces:
            parts, words = table.rows(piece)
            assert words.dtype == np.uint64
            assert words.shape == (len(parts), table.n_words)
            assert parts.dtype == np.int32
            for part, rows in enumerate(split_rows(parts, words, table.n_parts)):
                moved[part].append(rows)
        found = []
        for part, rows in enumerate(moved):
            together = np.concatenate(rows)
            found.append(table.table(part, together[random.permutation(len(together))], source))
        published[table.name] = found
    return published


NDArrayOfInts = np.ndarray[Any, np.dtype[np.int32]]
