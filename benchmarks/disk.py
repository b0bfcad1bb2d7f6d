"""A file of any size by default (Sift and ANGEL), with the engines memory and disk, beside plain copies of the file.

CPU seconds of all threads, wall seconds and peak memory, each in a process of its own; what is imported is in the
memory, and not in the seconds. "With partition" keeps in the audit who is in which group, which reads the file once
more. The last line is the release of the paper ANATOMY. The file is made in chunks, in the folder given (a disk, not
memory), and removed.

    python benchmarks/disk.py FOLDER            # GLASSHOUSE_BENCH_ROWS=1000000,10000000 for others than 100M rows
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import measure
import polars as pl
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.errors import DisclosureWarning
from glasshouse.microdata.synthetic import TRANSPARENT_QUASI, census_table
from glasshouse.streaming.publish import publish_file

ROWS = [int(text) for text in os.environ.get("GLASSHOUSE_BENCH_ROWS", "100000000").split(",")]
CHUNK = 1_000_000
ELL = 10


def make(path: Path, rows: int) -> None:
    """Write the census chunk by chunk, each with its own seed: as many different people as there are rows."""
    writer = None
    for seed, start in enumerate(range(0, rows, CHUNK)):
        table = census_table(min(CHUNK, rows - start), seed=seed, columns=[*TRANSPARENT_QUASI, "occupation"])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def nothing(path: Path, folder: Path) -> None:
    """What a process takes that imports everything and does nothing."""


def arrow_copy(path: Path, folder: Path) -> None:
    file = pq.ParquetFile(path)
    with pq.ParquetWriter(folder / "copy.parquet", file.schema_arrow) as writer:
        for batch in file.iter_batches(batch_size=1 << 20):
            writer.write_batch(batch)


def polars_copy(path: Path, folder: Path) -> None:
    pl.scan_parquet(path).sink_parquet(folder / "copy.parquet")


def published(path: Path, folder: Path, engine: str, partition: str, how: str = "by default") -> None:
    chosen = {"method": gh.Anatomize(), "recoding": gh.Anatomy()} if how == "anatomized" else {}
    warnings.simplefilter("ignore", DisclosureWarning)
    with measure.counted():
        publish_file(
            folder / "out",
            path,
            quasi=TRANSPARENT_QUASI,
            sensitive="occupation",
            categorical=["occupation"],
            principle=gh.LDiversity(ell=ELL),
            engine=engine,
            partition=partition == "with partition",
            **chosen,
        )
    shutil.rmtree(folder / "out")


JOBS = {
    "imports alone": (nothing,),
    "pyarrow copies batch by batch": (arrow_copy,),
    "polars scans and sinks": (polars_copy,),
    "memory, with partition": (published, "memory", "with partition"),
    "memory, without": (published, "memory", "without"),
    "disk, with partition": (published, "disk", "with partition"),
    "disk, without": (published, "disk", "without"),
    "disk, anatomized, without": (published, "disk", "without", "anatomized"),
}
COPIES = ("pyarrow copies batch by batch", "polars scans and sinks")


def compare(rows: int, folder: Path) -> None:
    """Print the table for one number of rows."""
    path = folder / "census.parquet"
    make(path, rows)
    print(f"\n{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of Parquet, l = {ELL}")
    measure.row("", "CPU s", "wall s", "peak MB", "to pyarrow", "to polars")
    found: dict[str, dict[str, float]] = {}
    for what, (work, *given) in JOBS.items():
        found[what] = measure.apart(work, path, folder, *given)
        ratios = [f"{found[what]['cpu'] / found[copy]['cpu']:.2f}" for copy in COPIES if copy in found]
        seconds = [f"{found[what]['cpu']:.2f}", f"{found[what]['clock']:.2f}"]
        measure.row(what, *seconds, f"{found[what]['gigabytes'] * 1000:.0f}", *ratios)
    for left in folder.iterdir():
        left.unlink()


def main(parent: str | None) -> None:
    for rows in ROWS:
        with tempfile.TemporaryDirectory(dir=parent) as name:
            compare(rows, Path(name))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
