# SPDX-License-Identifier: Apache-2.0
"""What it costs to make a table that does not fit into memory, in pages read and written (ANATOMY 6.2).

A page has 4096 bytes and memory 50 pages; a value takes four bytes, and no tuple straddles two pages. Files are read
and written from beginning to end, so their pages can be counted without a disk; a run of the real algorithm tells how
large every file is.

*Anatomize* is counted as the proof of ANATOMY Theorem 3 has it: hash the table into a file for each sensitive value;
read these together and write groups; read and write the groups once more to deal out what is left; read them and write
the two tables. The buckets take a page of memory each, and the page that is read or written comes on top.

*Mondrian* is counted in two ways, for the paper does not say how it was done. With *histograms*: one scan of the table
counts sensitive values by every attribute's values, which is all that choosing a cut needs and takes a few pages of
memory; a node is then read, its halves are written, and their histograms are counted on the way. With *sorting*: every
node that does not fit into memory is sorted on disk to find its median, which also divides it. Either way a node that
fits into memory is read once and divided there, and in the end everybody's box is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.engines import Memory, Nodes
from glasshouse.errors import NotSupported
from glasshouse.grouping import Mondrian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from glasshouse.microdata import Microdata
    from glasshouse.principles import Requirement

__all__ = ["Disk", "pages_of_anatomize", "pages_of_mondrian"]

PAGE = 4096
MEMORY = 50
VALUE = 4


@dataclass
class Disk:
    """Counts pages.

    >>> disk = Disk()
    >>> disk.read(1000, width=4), disk.write(1000, width=4), disk.total    # 256 tuples of four values a page
    (4, 4, 8)
    """

    page: int = PAGE
    memory: int = MEMORY
    total: int = field(default=0, init=False)

    def pages(self, n: int, width: int) -> int:
        """How many pages ``n`` tuples of ``width`` values take."""
        return ceil(n / (self.page // (VALUE * width)))

    def read(self, n: int, *, width: int) -> int:
        """Read a file of ``n`` tuples."""
        found = self.pages(n, width)
        self.total += found
        return found

    def write(self, n: int, *, width: int) -> int:
        """Write one: it costs the same."""
        return self.read(n, width=width)

    def fits(self, n: int, width: int) -> bool:
        """Whether ``n`` tuples fit into memory."""
        return self.pages(n, width) <= self.memory

    def sort(self, n: int, *, width: int) -> None:
        """Sort a file: write runs as large as memory, and merge as many at a time as memory has pages but one."""
        runs = ceil(self.pages(n, width) / self.memory)
        passes = 1 + (ceil(log(runs) / log(self.memory - 1) - 1e-9) if runs > 1 else 0)
        for _ in range(passes):
            self.read(n, width=width)
            self.write(n, width=width)


def pages_of_anatomize(counts: Iterable[int], d: int, disk: Disk | None = None) -> int:
    """Pages to anatomize a table of ``d`` quasi-identifiers whose sensitive values occur so often.

    >>> pages_of_anatomize([5_000] * 20, d=3)
    3440
    """
    disk = disk or Disk()
    counts = [n for n in counts if n]
    if len(counts) > disk.memory:
        raise NotSupported(
            f"{len(counts)} buckets in {disk.memory} pages of memory", instead="a page for each is needed"
        )
    n, width = sum(counts), d + 1
    disk.read(n, width=width)  # line 2 of Figure 3: hash
    for bucket in counts:
        disk.write(bucket, width=width)
    for bucket in counts:  # lines 3 to 8: groups
        disk.read(bucket, width=width)
    disk.write(n, width=width)
    disk.read(n, width=width)  # lines 9 to 12: what is left
    disk.write(n, width=width)
    disk.read(n, width=width)  # lines 13 to 18: a group has no value twice, so both tables have n rows
    disk.write(n, width=d + 1)
    disk.write(n, width=3)
    return disk.total


def pages_of_mondrian(
    table: Microdata, requirement: Requirement, *, page: int = PAGE, memory: int = MEMORY
) -> tuple[int, int]:
    """Pages to generalize a table by Mondrian's boxes: with histograms, and with sorting."""
    d = len(table.quasi)
    counted, sorting = Disk(page, memory), Disk(page, memory)
    engine = _Watching(counted=counted, sorting=sorting, d=d)
    n = table.n_tuples
    counted.read(n, width=d + 1)  # the first histograms; or the whole table, where it fits
    if counted.fits(n, d + 1):
        sorting.read(n, width=d + 1)
    Mondrian().divide(table, requirement, engine=engine)
    for disk in (counted, sorting):
        disk.write(n, width=2 * d + 1)  # both ends of every interval, and the value
    return counted.total, sorting.total


@dataclass(frozen=True, kw_only=True)
class _Watching(Memory):
    """An engine that counts the pages of every node that is visited."""

    threads: int = 1
    crowd: int = 2**62  # nodes are of tuples, not of combinations of values
    counted: Disk
    sorting: Disk
    d: int

    def visit(self, roots: Nodes, step: Callable[[Nodes], tuple[Nodes, Nodes]]) -> Nodes:
        """Visit as the engine in memory does, and look on."""

        def watched(nodes: Nodes) -> tuple[Nodes, Nodes]:
            parts, leaves = step(nodes)
            self._look(nodes, parts, leaves)
            return parts, leaves

        return super().visit(roots, watched)

    def _look(self, nodes: Nodes, parts: Nodes, leaves: Nodes) -> None:
        counted, sorting, width = self.counted, self.sorting, self.d + 1
        whole = set(leaves.starts.tolist())
        large = [not counted.fits(n, width) for n in nodes.sizes.tolist()]
        for start, n, is_large in zip(nodes.starts.tolist(), nodes.sizes.tolist(), large, strict=True):
            if is_large and start in whole:
                counted.read(n, width=width)  # to write the boxes
                for _ in range(self.d):
                    sorting.sort(n, width=width)  # no attribute has a cut
                sorting.read(n, width=width)
            elif is_large:
                counted.read(n, width=width)
                sorting.sort(n, width=width)
        order = np.argsort(nodes.starts)
        parents = order[np.searchsorted(nodes.starts[order], parts.starts, side="right") - 1]
        for parent, n in zip(parents.tolist(), parts.sizes.tolist(), strict=True):
            if large[parent]:
                counted.write(n, width=width)
                if counted.fits(n, width):
                    counted.read(n, width=width)  # once more, to stay
                    sorting.read(n, width=width)
