# SPDX-License-Identifier: Apache-2.0
"""ANATOMY Section 6: Figures 4 to 9, with the taxonomies of Table 6.

Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.engines import Memory, Nodes
from glasshouse.errors import Infeasible, NotSupported
from glasshouse.grouping.anatomize.anatomize import Anatomize
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.log import step
from glasshouse.microdata.synthetic import ANATOMY_QUASI
from glasshouse.papers import claims
from glasshouse.papers.claims import Claim, Verdict
from glasshouse.papers.measurement import Asked, published
from glasshouse.papers.results import Figure, Table, figure_of, number
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.anatomy import Anatomy
from glasshouse.recoding.generalization import Taxonomies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.papers.data import Data
    from glasshouse.papers.results import Curve
    from glasshouse.release import Release

__all__ = [
    "DEPARTURES",
    "QUESTIONS",
    "ROWS",
    "TITLE",
    "Disk",
    "experiments",
    "judged",
    "pages_of_anatomize",
    "pages_of_mondrian",
]

TITLE = "ANATOMY: Figures 4 to 9"
ROWS = 500_000
QUESTIONS = 1000
ELL = 10
USUAL = 0.6  # of the largest cardinality: 300k of 500k
CARDINALITIES = (0.2, 0.4, 0.6, 0.8, 1.0)
DIMENSIONS = (3, 4, 5, 6, 7)
SHOWN = (3, 5, 7)
MIDDLE = 5
SHARES = tuple(percent / 100 for percent in range(1, 11))
PAGE = 4096  # bytes
MEMORY = 50  # pages
VALUE = 4  # bytes
ANATOMIZED, GENERALIZED, SORTED = "anatomy", "generalization", "generalization, sorting"

DEPARTURES = (
    "Neither table is the paper's CENSUS, which may not be redistributed; age has 79 values in the synthetic one, not "
    "78.",
    "A workload has 1,000 questions by default; the paper's has 10,000. Questions that match nobody are left out, "
    "because their relative error is not defined.",
    "Taxonomies have the heights of Table 6, counted in levels with the root and the values. The paper does not say "
    "what is in them; ours follow common sense (`glasshouse.papers.data`).",
    "d is the number of quasi-identifiers, qd is how many of them a question asks about, and s is the share of all "
    "combinations of values for which it asks. The paper does not say what qd is in Figure 4, nor what d is in "
    "Figures 7 and 9: here qd = d and d = 5. Where the number of records is not varied, it is 0.6 times the largest, "
    "as in the paper (300,000 of 500,000).",
    "*Independence* is our addition: the exact quasi-identifiers and the sensitive column, without any link between "
    "them.",
    "Pages of the disk are counted by the rules in the documentation of `glasshouse.papers.anatomy`. The paper "
    "does not say how generalization works on disk, so its pages are counted in two ways.",
    "The paper uses words where a check needs numbers. Here *not affected* means that the largest error is at most "
    "twice the smallest, *grows exponentially* that the error grows at least tenfold from d = 3 to 7, "
    "*significantly* at least twofold, and *linear* at most in proportion to n^1.05 (n is the number of records).",
)
_PAPER = {"age": 78, "gender": 2, "education": 17, "marital": 6, "race": 9, "workclass": 10, "country": 83}
_HEIGHTS = {"gender": 2, "marital": 3, "race": 2, "workclass": 4, "country": 3}
_LETTERS = {("OCC", 3): "a", ("SAL", 3): "b", ("OCC", 5): "c", ("SAL", 5): "d", ("OCC", 7): "e", ("SAL", 7): "f"}


def experiments(data: Data, questions: int) -> list[Figure | Table]:
    """Measure every figure."""
    n = max(1, round(USUAL * data.n))
    found: list[Figure | Table] = [_summary(data)]
    for letter, (name, column) in zip("ab", data.sensitive.items(), strict=False):
        by_d: dict[float, dict[str, float | None]] = {}
        for d in DIMENSIONS:
            table = data.read(ANATOMY_QUASI[:d], column, n, by_taxonomy=True)
            with step("publish", rows=n):
                releases = _releases(table)
            with step("figures 4 to 6", rows=n):
                by_d[d] = _asked(table, d, 0.05, questions).errors(releases)
                if d in SHOWN:
                    found += _of_questions(name, d, table, releases, questions)
        title = f"{name}-d: query error against d (l = 10, s = 5 %, qd = d)"
        found.append(figure_of(f"figure-4{letter}", title, "d", by_d))
        with step("figures 7 to 9", rows=data.n):
            found += _of_sizes(data, letter, name, column, questions)
    return sorted(found, key=lambda shown: shown.name)


def _releases(table: Microdata) -> dict[str, Release | None]:
    principle = LDiversity(ell=ELL)
    return {
        ANATOMIZED: published(table, principle, Anatomize(), Anatomy()),
        GENERALIZED: published(table, principle, Mondrian(), Taxonomies()),
    }


def _asked(table: Microdata, qd: int, s: float, questions: int) -> Asked:
    return Asked(table, Workload.anatomy(table, qd=qd, s=s, n=questions, seed=qd))


def _of_questions(
    name: str, d: int, table: Microdata, releases: Mapping[str, Release | None], questions: int
) -> list[Figure]:
    """Figures 5 and 6 of one table."""
    letter = _LETTERS[name, d]
    by_qd = {float(qd): _asked(table, qd, 0.05, questions).errors(releases) for qd in range(1, d + 1)}
    by_s = {100 * s: _asked(table, d, s, questions).errors(releases) for s in SHARES}
    return [
        figure_of(f"figure-5{letter}", f"{name}-{d}: query error against qd (s = 5 %)", "qd", by_qd),
        figure_of(f"figure-6{letter}", f"{name}-{d}: query error against s (qd = {d})", "s (%)", by_s),
    ]


def _of_sizes(data: Data, letter: str, name: str, column: str, questions: int) -> list[Figure]:
    """Figures 7 to 9 of one sensitive attribute."""
    usual = max(1, round(USUAL * data.n))
    sizes = [max(1, round(share * data.n)) for share in CARDINALITIES]
    by_n: dict[float, dict[str, float | None]] = {}
    pages_by_n: dict[float, dict[str, float | None]] = {}
    for n in sizes:
        table = data.read(ANATOMY_QUASI[:MIDDLE], column, n, by_taxonomy=True)
        by_n[n] = _asked(table, MIDDLE, 0.05, questions).errors(_releases(table))
        pages_by_n[n] = _pages(table)
    pages_by_d = {float(d): _pages(data.read(ANATOMY_QUASI[:d], column, usual, by_taxonomy=True)) for d in DIMENSIONS}
    pages = "pages of 4096 bytes, read and written"
    return [
        figure_of(f"figure-7{letter}", f"{name}-5: query error against the number of records", "n", by_n),
        figure_of(f"figure-8{letter}", f"{name}-d: I/O against d, 50 pages of memory", "d", pages_by_d, y=pages),
        figure_of(f"figure-9{letter}", f"{name}-5: I/O against n, 50 pages of memory", "n", pages_by_n, y=pages),
    ]


def _pages(table: Microdata) -> dict[str, float | None]:
    requirement = Requirement.of(LDiversity(ell=ELL), table)
    try:
        requirement.check_eligible()
    except Infeasible:
        return {ANATOMIZED: None, GENERALIZED: None, SORTED: None}
    counts = np.bincount(table.sensitive[0].codes).tolist()
    by_histograms, by_sorting = pages_of_mondrian(table, requirement)
    anatomized = pages_of_anatomize(counts, len(table.quasi))
    return {ANATOMIZED: float(anatomized), GENERALIZED: float(by_histograms), SORTED: float(by_sorting)}


def _summary(data: Data) -> Table:
    rows: list[list[str | float | None]] = []
    for name in ANATOMY_QUASI:
        height = f"taxonomy ({_HEIGHTS[name]})" if name in _HEIGHTS else "free interval"
        rows.append([name, float(_PAPER[name]), float(len(data.table[name].unique())), height])
    for column in data.sensitive.values():
        rows.append([column, 50.0, float(len(data.table[column].unique())), "sensitive"])
    columns = ["attribute", "values, the paper", "values, here", "generalized by"]
    return Table(name="table-6", title="Attributes", columns=columns, rows=rows)


# --- pages read and written, of a table that does not fit into memory (6.2) -------------------------------------------
#
# A page has 4096 bytes and memory 50 pages; a value takes four bytes, and no record straddles two pages. Files are read
# and written from beginning to end, so their pages can be counted without a disk; a run of the real algorithm tells how
# large every file is.
#
# *Anatomize* is counted as the proof of ANATOMY Theorem 3 has it: hash the table into a file for each sensitive value;
# read these together and write groups; read and write the groups once more to deal out what is left; read them and
# write the two tables. The buckets take a page of memory each, and the page that is read or written comes on top.
#
# *Mondrian* is counted in two ways, for the paper does not say how it was done. With *histograms*: one scan of the
# table counts sensitive values by every attribute's values, which is all that choosing a cut needs and takes a few
# pages of memory; a node is then read, its halves are written, and their histograms are counted on the way. With
# *sorting*: every node that does not fit into memory is sorted on disk to find its median, which also divides it.
# Either way a node that fits into memory is read once and divided there, and in the end everybody's box is written.


@dataclass
class Disk:
    """Counts the pages that are read and written.

    >>> disk = Disk()
    >>> disk.read(1000, width=4), disk.write(1000, width=4), disk.total    # 256 tuples of four values a page
    (4, 4, 8)
    """

    page: int = PAGE
    memory: int = MEMORY
    total: int = field(default=0, init=False)

    def pages(self, n: int, width: int) -> int:
        """How many pages ``n`` records of ``width`` values take."""
        return ceil(n / (self.page // (VALUE * width)))

    def read(self, n: int, *, width: int) -> int:
        """Read a file of ``n`` records."""
        found = self.pages(n, width)
        self.total += found
        return found

    def write(self, n: int, *, width: int) -> int:
        """Write a file of ``n`` records, which costs as much as reading."""
        return self.read(n, width=width)

    def fits(self, n: int, width: int) -> bool:
        """Whether ``n`` records fit into memory."""
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
            f"{len(counts)} buckets do not fit into {disk.memory} pages of memory",
            instead="give at least one page for each bucket",
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
    crowd: int = 2**62  # nodes are of records, not of combinations of values
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


# --- claims -----------------------------------------------------------------------------------------------------------


def judged(results: Sequence[Figure | Table]) -> list[Claim]:
    """The verdicts on the paper's claims, from the measurements."""
    figures = {shown.name: shown for shown in results if isinstance(shown, Figure)}

    def panels(number: int, letters: str = "abcdef") -> dict[str, Figure]:
        return {
            shown.title.partition(":")[0]: shown
            for name, shown in figures.items()
            if name[:-1] == f"figure-{number}" and name[-1] in letters
        }

    def curves(number: int, *names: str, letters: str = "abcdef") -> dict[str, Curve]:
        return {f"{t} {name}": p.curves[name] for t, p in panels(number, letters).items() for name in names}

    def pairs(*numbers: int, one: str = ANATOMIZED, other: str = GENERALIZED) -> dict[str, tuple[Curve, Curve]]:
        found = [(n, t, p) for n in numbers for t, p in panels(n).items()]
        return {f"{t}, Figure {n}": (p.curves[one], p.curves[other]) for n, t, p in found}

    last = {name: ({7.0: one.get(7)}, {7.0: other.get(7)}) for name, (one, other) in pairs(4).items()}
    improving = claims.falls(curves(5, GENERALIZED, letters="ef"))
    stated: list[tuple[str, str, Verdict]] = [
        ("Anatomy's error is below 10 % at every d", "6.1, Figure 4", claims.below(curves(4, ANATOMIZED), 10, " %")),
        ("Anatomy's error is not affected by d", "6.1, Figure 4", claims.alike(curves(4, ANATOMIZED), 2)),
        ("Generalization's error grows exponentially with d", "6.1, Figure 4", _tenfold(curves(4, GENERALIZED))),
        ("At d = 7 anatomy is better by two orders of magnitude", "6.1, Figure 4", claims.less(last, times=100)),
        (
            "For d = 3 and 5 generalization's error falls as qd grows",
            "6.1, Figure 5a-d",
            claims.falls(curves(5, GENERALIZED, letters="abcd")),
        ),
        (
            "For d = 7 generalization's error does not fall any more as qd grows",
            "6.1, Figure 5e, f",
            Verdict(holds=None if improving.holds is None else not improving.holds, said=improving.said),
        ),
        (
            "Anatomy's error is at most a tenth of generalization's at every d and qd",
            "6.1, Figure 5",
            claims.less(pairs(5), times=10),
        ),
        (
            "The errors of both fall as s grows",
            "6.1, Figure 6",
            claims.falls(curves(6, ANATOMIZED, GENERALIZED)),
        ),
        ("Anatomy has the lower error at every s", "6.1, Figure 6", claims.less(pairs(6))),
        ("Anatomy is significantly better at every n", "6.1, Figure 7", claims.less(pairs(7), times=2)),
        (
            "On average anatomy errs by less than 10 %, generalization by more than 100 %",
            "7",
            _averages(*(figures[name] for name in figures if name[:-1] in {f"figure-{i}" for i in (4, 5, 6, 7)})),
        ),
        ("Anatomy takes fewer I/Os at every d", "6.2, Figure 8", claims.less(pairs(8))),
        ("Anatomy's I/Os grow linearly with n", "6.2, Figure 9", claims.scales(curves(9, ANATOMIZED), most=1.05)),
        (
            "Generalization's I/Os grow faster than linearly",
            "6.2, Figure 9",
            claims.scales(curves(9, GENERALIZED), least=1.05),
        ),
        ("For large d or n anatomy takes a tenth of the I/Os", "6.2, Figures 8, 9", _at_the_end(pairs(8, 9))),
        (
            "If generalization sorts on disk, anatomy also takes a tenth of its I/Os for large d or n",
            "6.2, Figures 8, 9",
            _at_the_end(pairs(8, 9, other=SORTED)),
        ),
    ]
    return [Claim(text=text, where=where, verdict=verdict) for text, where, verdict in stated]


def _tenfold(curves: Mapping[str, Curve]) -> Verdict:
    rising = claims.rises(curves)
    ends = [[value for _, value in sorted(curve.items()) if value is not None] for curve in curves.values()]
    tenfold = all(values[-1] >= 10 * values[0] for values in ends if values)
    return Verdict(holds=None if rising.holds is None else rising.holds and tenfold, said=rising.said)


def _averages(*figures: Figure) -> Verdict:
    def mean(name: str) -> float | None:
        found = [value for shown in figures for value in shown.curves[name].values() if value is not None]
        return float(np.mean(found)) if found else None

    one, other = mean(ANATOMIZED), mean(GENERALIZED)
    if one is None or other is None:
        return claims.NOTHING
    return Verdict(holds=one < 10 and other > 100, said=f"{number(one)} and {number(other)} %")


def _at_the_end(pairs: Mapping[str, tuple[Curve, Curve]]) -> Verdict:
    """At the largest place of every pair the first is a tenth of the second."""

    def end(curve: Curve) -> Iterable[float]:
        return [max(curve)] if curve else []

    ends = {
        name: ({place: one.get(place) for place in end(one)}, {place: other.get(place) for place in end(one)})
        for name, (one, other) in pairs.items()
    }
    return claims.less(ends, times=10)
