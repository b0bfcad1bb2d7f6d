"""A billion people on a hundred executors: what is simulated, what is measured, and what follows from both.

1. *Kinds.* The synthetic census grows from 1M to 50M rows, with four and with seven quasi-identifiers. Counted are its
   different quasi-identifiers (points) and its different people (kinds). What a billion rows have is a range: from a
   growth that slows down as it did, to one that does not slow down any more, but no more than there can be.
2. *Memory.* Bytes per kind and per person of what the driver and the tasks hold.
3. *Units.* CPU seconds of each step on this machine, divided by the rows, people or kinds that it had.
4. *The table.* All of it times a billion.

The division of kinds into pieces needs no rows: with ``--top`` it is run for a billion people (five minutes, 3 GB).

    python benchmarks/billion.py                # GLASSHOUSE_BENCH_ROWS=5000000 for a smaller simulation than 50M rows
    python benchmarks/billion.py --top
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.top.division import finished
from glasshouse.grouping.top.piece import PIECE, whole_piece
from glasshouse.journeys.plan import Plan, plan_of
from glasshouse.journeys.recheck import verify_stream
from glasshouse.microdata.kinds import Kinds, kinds_of
from glasshouse.microdata.synthetic import ANATOMY_QUASI, TRANSPARENT_QUASI, census_table
from glasshouse.recoding.parts.word_fields import WordFields, bits_of
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.package.parts import write_part
from glasshouse.streaming.count import count_file
from glasshouse.streaming.parcel import Dividing, Parcel
from glasshouse.streaming.publish import publish_file
from glasshouse.streaming.stages import Divided, numbered_piece

LARGEST = int(os.environ.get("GLASSHOUSE_BENCH_ROWS", "50000000").split(",")[-1])
SIZES = [max(LARGEST * share // 100, 1) for share in (2, 4, 10, 20, 40, 100)]
PEOPLE = 10**9
EXECUTORS, CORES = 100, 4
CHUNK = 1_000_000
UNIT = min(LARGEST, 2_000_000)  # rows on which units are measured
ELL = 10
TABLES = {"4": TRANSPARENT_QUASI, "7": ANATOMY_QUASI}
SENSITIVE = "occupation"
DOMAINS = {
    "age": 79, "gender": 2, "education": 17, "birthplace": 57, "marital": 6, "race": 9, "workclass": 10,
    "country": 83, SENSITIVE: 50,
}  # fmt: skip
LOWEST = {"age": 18}


def line(what: str, *cells: str) -> None:
    """Print one line of a table."""
    print(f"{what:<44}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


# -------------------------------------------------------------------------------------------------------------- kinds


def packed(n: int, seed: int, quasi: Sequence[str]) -> NDArray[np.int64]:
    """The kinds of some people, each as one number; its quotient by the number of sensitive values is the point."""
    table = census_table(n, seed=seed, columns=[*quasi, SENSITIVE])
    found = np.zeros(n, np.int64)
    for name in table.column_names:
        found *= DOMAINS[name]
        found += table[name].to_numpy() - LOWEST.get(name, 0)
    return found


def growth(quasi: Sequence[str], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """The number of points and of kinds after so many rows."""
    known, waiting, found, done, seed = np.empty(0, np.int64), [], [], 0, 0
    for size in sizes:
        while done < size:
            many = min(CHUNK, size - done)
            waiting.append(np.unique(packed(many, seed, quasi)))
            done, seed = done + many, seed + 1
            if sum(map(len, waiting)) > max(len(known), 4 * CHUNK) or done == size:
                known, waiting = np.unique(np.concatenate([known, *waiting])), []
        points = 1 + np.count_nonzero(np.diff(known // DOMAINS[SENSITIVE]))
        found.append((int(points), len(known)))
    return found


def possible(quasi: Sequence[str]) -> int:
    """How many kinds there can be."""
    return int(np.prod([DOMAINS[name] for name in (*quasi, SENSITIVE)], dtype=np.int64))


def foretold(rows: Sequence[int], found: Sequence[int], wanted: int, most: int) -> tuple[float, float]:
    """Least and most that so many rows may have.

    The slope of the last step, in logarithms, either stays or falls at the rate at which it fell before.
    """
    x, y = np.log(np.array(rows, float)), np.log(np.array(found, float))
    slopes, middles = np.diff(y) / np.diff(x), (x[1:] + x[:-1]) / 2
    far = np.log(wanted) - x[-1]
    rate = max(0.0, np.log(slopes[-2] / slopes[-1]) / (middles[-1] - middles[-2])) if slopes[-1] > 0 else 0.0
    now = slopes[-1] * np.exp(-rate * (x[-1] - middles[-1]))
    falling = now * (1 - np.exp(-rate * far)) / rate if rate > 0 else now * far
    low, high = (float(np.exp(y[-1] + rise)) for rise in (falling, slopes[-1] * far))
    return min(low, most), min(high, most)


def simulate() -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[int]]]:
    """Print how tables grow; give the ranges of points and kinds of a billion, and the kinds of every size."""
    ranges, grown = {}, {}
    print("1. Points and kinds of the synthetic census")
    for name, quasi in TABLES.items():
        found = growth(quasi, SIZES)
        points, kinds = ([one[i] for one in found] for i in (0, 1))
        most = possible(quasi)
        grown[name] = kinds
        ranges[name] = [
            foretold(SIZES, own, PEOPLE, limit) for own, limit in ((points, most // DOMAINS[SENSITIVE]), (kinds, most))
        ]
        print(f"\n{name} quasi-identifiers, {most:,} kinds possible")
        line("rows", *(f"{n:,}" for n in SIZES), f"{PEOPLE:,}")
        for what, own, (low, high) in zip(("points", "kinds"), (points, kinds), ranges[name], strict=True):
            line(what, *(f"{n:,}" for n in own), f"{low / 1e6:,.2f} to {high / 1e6:,.2f} M")
        low, high = foretold(SIZES[:4], kinds[:4], SIZES[-1], most)
        print(f"from the first four sizes alone, {low / 1e6:.2f} to {high / 1e6:.2f} M kinds are foretold for the last")
    return ranges, grown


# -------------------------------------------------------------------------------------------------------------- units


def census_kinds(quasi: Sequence[str], times: int = 1) -> Kinds:
    """The kinds of some rows, with so many times as many people of each."""
    table = census_table(UNIT, columns=[*quasi, SENSITIVE])
    read = gh.read(table, quasi=list(quasi), sensitive=SENSITIVE, categorical=[SENSITIVE])
    kinds = kinds_of(read)[0]
    return Kinds(kinds.table, kinds.counts * times)


def planned(kinds: Kinds) -> Plan:
    return plan_of(kinds, gh.LDiversity(ell=ELL), None, None, 0, gh.Source.seeded(1))


def pieces_of(plan: Plan) -> Any:
    return plan.method.pieces(plan.kinds, plan.requirement, gh.Source.seeded(1), PIECE)


def tables_of(plan: Plan) -> Any:
    buckets = plan.recoding.buckets_of_points(plan.kinds, Mondrian().cut_kinds)
    return plan.recoding.in_parts(plan.kinds, buckets=buckets)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the work, and what came of it."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def peak(work: Callable[[], Any]) -> tuple[int, int]:
    """Bytes that are held at most while the work is done, and by what came of it."""
    tracemalloc.start()
    kept = work()
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return most, held


def memory(name: str) -> dict[str, float]:
    """Print what a kind takes, in bytes."""
    plan = planned(census_kinds(TABLES[name]))
    kinds, n = plan.kinds, len(plan.kinds)
    columns = (*kinds.table.quasi, *kinds.table.sensitive)
    own = kinds.counts.nbytes + sum(column.codes.nbytes for column in columns)
    many = planned(Kinds(kinds.table, kinds.counts * 10))
    most, held = peak(lambda: pieces_of(many))
    tables = tuple(tables_of(plan))
    dividing = Dividing(method=plan.method, requirement=plan.requirement, kinds=kinds, tables=tables)
    found = {
        "Kinds": own,
        "to divide": most - held,
        "buckets": peak(lambda: tables_of(plan))[0],
        "in a piece": len(pickle.dumps(Parcel.packed(0, whole_piece(kinds), dividing), protocol=5)),
        "ballast": len(pickle.dumps(dividing.without_kinds(), protocol=5)),
    }
    each = {what: bytes / n for what, bytes in found.items()}
    line(f"{name} quasi-identifiers, {n / 1e6:.2f} M kinds", *(f"{bytes:.0f}" for bytes in each.values()))
    return each


def top(name: str, times: Sequence[int]) -> tuple[float, float]:
    """Print what the division into pieces takes; of the last give CPU seconds and bytes of pieces for each person."""
    kinds = census_kinds(TABLES[name])
    spent, n, entries = 0.0, 1, 0
    for many in times:
        plan = planned(Kinds(kinds.table, kinds.counts * many))
        spent, pieces = seconds(lambda plan=plan: pieces_of(plan))
        n = plan.kinds.n_people
        entries = sum(len(piece.kinds) for piece in pieces)
        dealt = sum(piece.n_people for piece in pieces if piece.task[0] != "divide")
        line(
            f"{name} quasi-identifiers, {len(kinds) / 1e6:.2f} M kinds",
            f"{n / 1e6:,.0f} M",
            f"{len(pieces):,}",
            f"{spent:.1f}",
            f"{spent / n * 1e9:.0f}",
            f"{entries * 12 / 1e6:,.0f}",
            f"{dealt / n:.0%}",
        )
    return spent / n, 12 * entries / n


def units(folder: Path) -> dict[str, float]:
    """CPU seconds for each row, person or byte, of every step."""
    path, found = folder / "census.parquet", {}
    table = census_table(UNIT, columns=[*TRANSPARENT_QUASI, SENSITIVE])
    pq.write_table(table, path)
    options: dict[str, Any] = {"quasi": list(TRANSPARENT_QUASI), "sensitive": SENSITIVE, "categorical": [SENSITIVE]}
    found["count a row"] = seconds(lambda: count_file(path, **options))[0] / UNIT
    plan = planned(census_kinds(TRANSPARENT_QUASI, 10))
    n, source = len(plan.kinds), gh.Source.seeded(1)
    found["buckets and tables, a kind"] = seconds(lambda: tables_of(plan))[0] / n
    pieces = pieces_of(plan)
    some = {piece.task[0]: piece for piece in pieces}
    people = sum(piece.n_people for piece in some.values())
    engine = Memory(threads=1)
    spent, groups = seconds(
        lambda: [finished(plan.method, plan.kinds, own, plan.requirement, source, engine) for own in some.values()]
    )
    found["divide a person of a piece"] = spent / people
    drafts = tables_of(plan)
    spent, made = seconds(lambda: _rows(drafts, list(some.values()), groups))
    found["rows of a person, all tables"] = spent / people
    n_rows = sum(len(words) for _, words in made)
    spent, tables = seconds(lambda: [table.table(0, words, source) for table, words in made])
    found["sort a row, and make it a table's"] = spent / n_rows
    spent = seconds(lambda: [write_part(folder, f"t{i}", 0, 1, own, "parquet") for i, own in enumerate(tables)])[0]
    found["write a row"] = spent / n_rows
    made_folder = publish_file(
        folder / "out", path, principle=gh.LDiversity(ell=ELL), engine="memory", partition=False, **options
    ).folder
    spent = seconds(lambda: verify_stream(made_folder))[0]
    found["count a row of the release again"] = spent / (2 * UNIT)
    try:
        from glasshouse.spark.seal import Seal
    except ImportError:
        return found
    seal, content = Seal.new(), bytes(1 << 26)
    found["seal a byte and open it"] = seconds(lambda: seal.opened(seal.closed(content, "a"), "a"))[0] / len(content)
    return found


def _rows(drafts: Any, pieces: Sequence[Any], groups: Sequence[Any]) -> list[tuple[Any, NDArray[np.uint64]]]:
    """The rows of some pieces for every table, all in one part."""
    n_groups = sum(own.n_groups for own in groups)
    divided = [Divided(own.labels, own.n_groups) for own in groups]
    undivided = list(zip(pieces, divided, strict=True))
    settled = []
    for table in drafts:
        told = [table.summary(own.of(piece)) for piece, own in undivided]
        settled.append(table.settle(n_groups, told))
    found: list[list[Any]] = [[] for _ in settled]
    first = 0
    for piece, own in undivided:
        numbered = numbered_piece(Parcel(number=0, piece=piece), own, first, n_groups, gh.Source.seeded(1))
        first += own.n_groups
        for table, rows in zip(settled, found, strict=True):
            rows.append(table.rows(numbered)[1])
    return [(table, np.concatenate(rows)) for table, rows in zip(settled, found, strict=True)]


# -------------------------------------------------------------------------------------------------------------- table


def words(n_buckets: float) -> dict[str, int]:
    """Words of a row of each table, of a billion people in groups of l."""
    groups = bits_of(PEOPLE // ELL)
    return {
        "gt": WordFields((bits_of(int(n_buckets)), groups)).n_words,
        "bt": WordFields((groups, bits_of(DOMAINS[SENSITIVE]), bits_of(PEOPLE))).n_words,
    }


def table_of(cost: dict[str, float], a_person: tuple[float, float], kinds: float, points: float) -> None:
    """Print what a billion take."""
    row_bytes = 8 * sum(words(points).values())
    sealing = cost.get("seal a byte and open it", 0.0)
    tasks = {
        "count rows": cost["count a row"],
        "divide pieces": cost["divide a person of a piece"],
        "make rows": cost["rows of a person, all tables"],
        "seal and open rows": sealing * row_bytes,
        "sort rows, and make them tables": 2 * cost["sort a row, and make it a table's"],
        "write rows": 2 * cost["write a row"],
        "count the release again": 2 * cost["count a row of the release again"],
    }
    driver = {
        "divide kinds into pieces": a_person[0] * PEOPLE,
        "seal pieces": sealing / 2 * a_person[1] * PEOPLE,
        "buckets": cost["buckets and tables, a kind"] * kinds,
    }
    cores = EXECUTORS * CORES
    line("in tasks", "CPU s", f"on {cores} cores")
    for what, each in tasks.items():
        line(what, f"{each * PEOPLE:,.0f}", f"{each * PEOPLE / cores:.1f} s")
    whole = sum(tasks.values()) * PEOPLE
    line("all tasks", f"{whole:,.0f}", f"{whole / cores:.1f} s")
    line("in the driver, on one core", "CPU s")
    for what, spent in driver.items():
        line(what, f"{spent:,.0f}")
    line("all of the driver", f"{sum(driver.values()):,.0f}")
    print(
        f"rows shuffled: {row_bytes} bytes for each person, {row_bytes * PEOPLE / 1e9:.0f} GB; "
        f"{-(-PEOPLE // PART_ROWS):,} parts of each table; at least {-(-PEOPLE // PIECE):,} pieces"
    )


def sizes_of(name: str, kinds: tuple[float, float], each: dict[str, float], pieces: float, grown: list[int]) -> None:
    """Print what is held, and what is shuffled to count, for a billion people of so many kinds."""
    held = sum(each[what] for what in ("Kinds", "to divide", "buckets"))
    ends = [f"{many * held / 1e9 + pieces * PEOPLE / 1e9:.1f}" for many in kinds]
    ballast = [many * each["ballast"] / 1e9 for many in kinds]
    rows = PEOPLE // (EXECUTORS * CORES)  # of a task that counts
    of_task = np.exp(np.interp(np.log(rows), np.log(SIZES), np.log(grown)))
    wide = 8 * (len(TABLES[name]) + 3)  # columns, the count, and a word of Spark's own
    shuffled = of_task * EXECUTORS * CORES * wide / 1e9
    line(
        f"{name} quasi-identifiers",
        f"{kinds[0] / 1e6:.1f} to {kinds[1] / 1e6:.1f} M",
        " to ".join(ends),
        " to ".join(f"{size:.2f}" for size in ballast),
        " to ".join(f"{size * EXECUTORS * CORES:,.0f}" for size in ballast),
        f"{shuffled:.0f}",
    )


def main() -> None:
    warnings.simplefilter("ignore")
    heading = ("people", "pieces", "CPU s", "ns a person", "MB of pieces", "dealt out")
    if "--top" in sys.argv:
        line("", *heading)
        for name in TABLES:
            top(name, [PEOPLE // UNIT])
        return
    ranges, grown = simulate()
    print("\n2. Bytes for each kind")
    line("", "Kinds", "to divide", "buckets", "in a piece", "ballast")
    each = {name: memory(name) for name in TABLES}
    print("\n3. Units")
    line("", *heading)
    tops = {name: top(name, [1, 10, 50]) for name in TABLES}
    with tempfile.TemporaryDirectory() as folder:
        cost = units(Path(folder))
    for what, spent in cost.items():
        line(what, f"{spent * 1e9:.1f} ns")
    print(f"\n4. A billion people, l = {ELL}, {EXECUTORS} executors with {CORES} cores each")
    (_, points), (_, kinds) = ranges["7"]
    table_of(cost, max(tops.values()), kinds, points)
    line("", "kinds", "driver holds, GB", "ballast, GB", "read by all, GB", "to count, GB")
    for name in TABLES:
        sizes_of(name, ranges[name][1], each[name], tops[name][1], grown[name])


if __name__ == "__main__":
    main()
