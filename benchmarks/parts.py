"""Tables in parts: CPU seconds and memory from groups to Arrow tables, 10M rows of the synthetic census in 20 pieces.

Groups are ten neighbours in the order of all quasi-identifiers, dealt out as they come: nothing is protected, it is
only as much work. What is measured is summaries, numbers, rows, moving rows to their parts, and the tables themselves.

    python benchmarks/parts.py    # GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import resource
import time
from itertools import pairwise
from typing import Any

import measure
import numpy as np

import glasshouse as gh
from glasshouse.microdata.kinds import Kinds, kinds_of
from glasshouse.recoding.parts.members import Piece
from glasshouse.recoding.parts.word_fields import split_rows

COLUMNS = ["age", "gender", "education", "birthplace", "occupation"]
RECODINGS = [gh.Anatomy(), gh.Permutation(), gh.Angel(k=1), gh.Boxes()]
SIZE = 10


def pieces_of(kinds: Kinds) -> list[Piece]:
    """People in pieces of about 2^19."""
    people = np.repeat(np.arange(len(kinds), dtype=np.int32), kinds.counts)
    borders = np.linspace(0, len(people), -(-len(people) // 2**19) + 1).astype(int)
    found = []
    for start, stop in pairwise(borders.tolist()):
        n_groups = (stop - start) // SIZE
        labels = np.minimum(np.arange(stop - start) // SIZE, n_groups - 1)
        found.append(Piece(people[start:stop], labels.astype(np.int32), n_groups))
    return found


def publish(recoding: Any, kinds: Kinds, pieces: list[Piece], source: gh.Source) -> str:
    """Every step that an engine asks for, in one process; what came of it, in words."""
    n_groups = sum(piece.n_groups for piece in pieces)
    numbering = source.child("numbers").numbering(n_groups)
    firsts = np.cumsum([0, *(piece.n_groups for piece in pieces)]).tolist()
    numbered = [piece.numbered(first, numbering) for piece, first in zip(pieces, firsts, strict=False)]
    said = []
    for plan in recoding.in_parts(kinds):
        table = plan.settle(n_groups, [plan.summary(piece) for piece in pieces])
        moved: list[list[Any]] = [[] for _ in range(table.n_parts)]
        for piece in numbered:
            for part, rows in enumerate(split_rows(*table.rows(piece), table.n_parts)):
                moved[part].append(rows)
        n_rows = 0
        for part in range(table.n_parts):
            words, moved[part] = np.concatenate(moved[part]), []
            n_rows += table.table(part, words, source).num_rows
        said.append(f"{table.name} {n_rows:,} rows in {table.n_parts} parts")
    return ", ".join(said)


def main() -> None:
    for n in measure.ROWS:
        table = gh.read(
            gh.synthetic.census_table(n, seed=1).select(COLUMNS),
            quasi=COLUMNS[:-1],
            sensitive=COLUMNS[-1],
            categorical=COLUMNS[-1:],
        )
        kinds = kinds_of(table)[0]
        del table
        pieces = pieces_of(kinds)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"\n{n:,} people of {len(kinds):,} kinds in {len(pieces)} pieces; {memory:,} MB to read them")
        for recoding in RECODINGS:
            before = time.process_time()
            said = publish(recoding, kinds, pieces, gh.Source.seeded(1))
            spent = time.process_time() - before
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"{recoding.name:12} {spent:6.2f} CPU s, {memory:,} MB at most so far: {said}")


if __name__ == "__main__":
    main()
