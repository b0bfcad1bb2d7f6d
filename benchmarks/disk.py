"""The disk engine: a census file anatomized in bounded memory, against plain streaming copies of the same Parquet.

CPU seconds of all threads, wall seconds and peak memory, each in a process of its own. The file is made in chunks, in
the folder given (a disk, not memory: about 20 bytes a row are spilled there), and removed.

    python benchmarks/disk.py FOLDER            # GLASSHOUSE_BENCH_ROWS=10000000 for less than 100M rows
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure
import polars as pl
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.microdata.synthetic import TRANSPARENT_QUASI, census_table
from glasshouse.streaming.publish import publish_file

ROWS = int(os.environ.get("GLASSHOUSE_BENCH_ROWS", "100000000"))
CHUNK = 1_000_000
ELL = 10


def make(path: Path) -> None:
    """Write the census chunk by chunk, each with its own seed: as many different people as there are rows."""
    writer = None
    for seed, start in enumerate(range(0, ROWS, CHUNK)):
        table = census_table(min(CHUNK, ROWS - start), seed=seed).select([*TRANSPARENT_QUASI, "occupation"])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def arrow_copy(path: Path, folder: Path) -> None:
    file = pq.ParquetFile(path)
    with pq.ParquetWriter(folder / "copy.parquet", file.schema_arrow) as writer:
        for batch in file.iter_batches(batch_size=1 << 20):
            writer.write_batch(batch)


def polars_copy(path: Path, folder: Path) -> None:
    pl.scan_parquet(path).sink_parquet(folder / "copy.parquet")


def anatomized(path: Path, folder: Path) -> None:
    _publish(path, folder, partition=True)


def anatomized_without_partition(path: Path, folder: Path) -> None:
    _publish(path, folder, partition=False)


def _publish(path: Path, folder: Path, *, partition: bool) -> None:
    publish_file(
        folder / "out",
        path,
        quasi=TRANSPARENT_QUASI,
        sensitive="occupation",
        categorical=["occupation"],
        principle=gh.LDiversity(ell=ELL),
        partition=partition,
    )
    shutil.rmtree(folder / "out")


def apart(work: Callable[..., None], *arguments: Any) -> dict[str, float]:
    """Run in a process of its own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(sender, work, arguments))
    process.start()
    result = json.loads(receiver.recv())
    process.join()
    return result


def _report(sender: Any, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    cpu, wall = time.process_time(), time.perf_counter()
    work(*arguments)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send(json.dumps({"cpu": cpu, "wall": wall, "mebibytes": peak}))


def main(parent: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = Path(name)
        path = folder / "census.parquet"
        make(path)
        print(f"{ROWS:,} rows, {path.stat().st_size / 1e6:,.0f} MB of Parquet, l = {ELL}")
        measure.row("", "CPU s", "wall s", "peak MiB", "to Arrow", "to polars")
        copies: list[float] = []
        for work in (arrow_copy, polars_copy, anatomized, anatomized_without_partition):
            found = apart(work, path, folder)
            copies.append(found["cpu"])
            ratios = [f"{found['cpu'] / copy:.2f}" for copy in copies[:2]]
            cells = [f"{found['cpu']:.1f}", f"{found['wall']:.1f}", f"{found['mebibytes']:.0f}", *ratios]
            measure.row(work.__name__.replace("_", " "), *cells)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
