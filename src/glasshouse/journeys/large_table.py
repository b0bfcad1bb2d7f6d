# SPDX-License-Identifier: Apache-2.0
"""Parts of a release in memory: tables that are too large for one file each, and where the parts of each begin.

They are made as the engines make them that do not hold everybody in memory (`glasshouse.recoding.parts`), so that the
same key gives the same files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.microdata.kinds import kinds_of
from glasshouse.recoding.parts.members import Piece
from glasshouse.recoding.parts.word_fields import split_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.grouping.top.division import Division
    from glasshouse.journeys.plan import Plan
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.randomness import Source
    from glasshouse.recoding.parts.table_in_parts import TableInParts
    from glasshouse.recoding.recoding import Recoding

__all__ = ["grouped_in_parts", "tables_in_parts"]


def tables_in_parts(
    plan: Plan, division: Division, source: Source, part_rows: int
) -> tuple[dict[str, pa.Table], dict[str, list[int]]]:
    """The published tables, and the rows at which the second part of each and all further ones begin."""
    numbering = source.child("group numbers").numbering(division.n_groups)
    pieces = [
        _published(division, number).numbered(int(division.first[number]), numbering)
        for number in range(len(division.pieces))
    ]
    return _tables(plan.recoding, plan.kinds, pieces, division.n_groups, source, part_rows)


def grouped_in_parts(
    recoding: Recoding, table: Microdata, groups: Groups, source: Source, part_rows: int
) -> tuple[dict[str, pa.Table], dict[str, list[int]]]:
    """The same of a table whose records are all in groups that have their published numbers already, from 0."""
    kinds, of_row = kinds_of(table)
    order = np.argsort(of_row, kind="stable")
    numbers = np.arange(groups.n_groups)
    everybody = Piece(of_row[order], groups.labels[order], groups.n_groups, numbers)
    return _tables(recoding, kinds, [everybody], groups.n_groups, source, part_rows)


def _tables(
    recoding: Recoding, kinds: Kinds, pieces: Sequence[Piece], n_groups: int, source: Source, part_rows: int
) -> tuple[dict[str, pa.Table], dict[str, list[int]]]:
    buckets = recoding.buckets_of_points(kinds, Mondrian().cut_kinds)
    tables, borders = {}, {}
    for table in recoding.in_parts(kinds, part_rows=part_rows, buckets=buckets):
        parts = _parts(table, pieces, n_groups, source.child("recoding"))
        tables[table.name] = pa.concat_tables(parts).unify_dictionaries()
        borders[table.name] = np.cumsum([part.num_rows for part in parts])[:-1].tolist()
    return tables, borders


def _published(division: Division, number: int) -> Piece:
    """Everybody of a piece who is in a group."""
    groups = division.of_piece(number)
    kinds, labels = division.pieces[number].by_kind(groups)
    there = labels >= 0
    return Piece(kinds[there], labels[there], groups.n_groups)


def _parts(table: TableInParts, pieces: Sequence[Piece], n_groups: int, source: Source) -> list[pa.Table]:
    settled = table.settle(n_groups, [table.summary(piece) for piece in pieces])
    moved = [split_rows(*settled.rows(piece), settled.n_parts) for piece in pieces]
    return [
        settled.table(part, np.concatenate([rows[part] for rows in moved]), source) for part in range(settled.n_parts)
    ]
