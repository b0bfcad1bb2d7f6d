"""Publishing in one command: a table of a PostgreSQL server, a CSV file and a Parquet file, on the synthetic census.

The yardstick is what any tool must do at least, in the same run: read the same table and write it as Parquet, by ADBC
and pyarrow; of CSV, by polars and pyarrow; of Parquet, by pyarrow. The server is one of our own, in a temporary folder.
CPU is that of the client, after the same job on a few rows; the time of the clock includes the server's work.

    python benchmarks/postgres.py          # 600k and 10M rows; GLASSHOUSE_BENCH_ROWS=1000000 for less
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
import polars
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from adbc_driver_postgresql import dbapi

import glasshouse as gh

sys.path.append(str(Path(__file__).resolve().parents[1]))
from tests.doors.postgres import server

QUASI = ["age", "gender", "education", "birthplace"]
SENSITIVE = "occupation"
COMMAND = ["--quasi", ",".join(QUASI), "--sensitive", SENSITIVE, "--categorical", SENSITIVE, "--ell", "8"]
WAYS = {
    "mondrian and boxes": ["--method", "mondrian", "--recoding", "boxes", "--no-report"],
    "hybrid and angel": ["--method", "hybrid", "--recoding", "angel", "--no-report"],
}


def copy_from_server(source: str, target: str) -> None:
    """Read the whole table, then write it."""
    address, _, table = source.partition("|")
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join([*QUASI, SENSITIVE])} FROM {table}")
        pq.write_table(cursor.fetch_arrow_table(), target)


def copy_csv_by_polars(source: str, target: str) -> None:
    polars.read_csv(source).write_parquet(target)


def copy_csv_by_pyarrow(source: str, target: str) -> None:
    pq.write_table(pa_csv.read_csv(source), target)


def copy_parquet(source: str, target: str) -> None:
    pq.write_table(pq.read_table(source), target)


def read(source: str, target: str) -> None:
    """Read and code, which is the reader's part of the command."""
    address, _, table = source.partition("|")
    gh.read(address, table=table or None, quasi=QUASI, sensitive=SENSITIVE, categorical=[SENSITIVE])


def command(source: str, target: str, *more: str) -> None:
    """The whole command, without the report, whose attacks are measured elsewhere."""
    from glasshouse.cli.commands import glasshouse

    address, _, table = source.partition("|")
    named = ["--table", table] if table else []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        glasshouse.main(["publish", address, *named, *COMMAND, *more, "--out", target], standalone_mode=False)


def write_to_server(source: str, target: str, address: str) -> None:
    gh.to_postgres(gh.load(f"{source}/release"), address, if_exists="replace")


def plainly_to_server(source: str, target: str, address: str) -> None:
    """The same tables by ADBC alone."""
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        for file in sorted(Path(source, "release").glob("*.parquet")):
            cursor.adbc_ingest(f"plain {file.stem}", pq.read_table(file), mode="replace")
        connection.commit()


def filled(started: server.Server, n: int) -> pa.Table:
    """Put the census on the server, as narrow as it is made, and a few rows of it."""
    census = gh.synthetic.census_table(n, seed=1).select([*QUASI, SENSITIVE])
    with dbapi.connect(started.address()) as connection, connection.cursor() as cursor:
        for name, rows in (("few", census.slice(0, 2000)), ("census", census)):
            cursor.adbc_ingest(name, rows, mode="replace")
        connection.commit()
    return census


def publishing(started: server.Server, n: int, runs: int) -> None:
    census = filled(started, n)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what in ("csv", "parquet"):
            write = pa_csv.write_csv if what == "csv" else pq.write_table
            write(census.slice(0, 2000), folder / f"few.{what}")
            write(census, folder / f"many.{what}")
        del census
        sources = {
            "PostgreSQL": (
                f"{started.address()}|few",
                f"{started.address()}|census",
                {"ADBC and pyarrow": copy_from_server},
            ),
            "CSV": (
                str(folder / "few.csv"),
                str(folder / "many.csv"),
                {"polars": copy_csv_by_polars, "pyarrow": copy_csv_by_pyarrow},
            ),
            "Parquet": (str(folder / "few.parquet"), str(folder / "many.parquet"), {"pyarrow": copy_parquet}),
        }
        for what, (few, many, copies) in sources.items():
            print(f"\n{n:,} rows of the synthetic census from {what}, l = 8; CPU s of the client")
            jobs: list[tuple[Any, ...]] = [(f"{by}: read, write Parquet", copy) for by, copy in copies.items()]
            jobs.append(("read and code", read))
            jobs += [(f"publish by {way}", command, *options) for way, options in WAYS.items()]
            compared(folder, runs, few, many, jobs)
        written(started, folder, runs, str(folder / "many.parquet"))


def compared(folder: Path, runs: int, few: str, many: str, jobs: list[tuple[Any, ...]]) -> None:
    """Measure jobs; the first is the yardstick."""
    measure.row("", "user", "system", "CPU s", "clock s", "CPU ratio", "clock ratio", "peak GB")
    yardstick: dict[str, float] = {}
    for what, work, *rest in jobs:
        run = measure.best(folder, runs, work, few, many, *rest)
        yardstick = yardstick or run
        seconds = (f"{run[part]:.2f}" for part in ("user", "system", "cpu", "clock"))
        ratios = (f"{run[part] / yardstick[part]:.2f}" for part in ("cpu", "clock"))
        measure.row(what, *seconds, *ratios, f"{run['gigabytes']:.2f}")


def written(started: server.Server, folder: Path, runs: int, many: str) -> None:
    """A release into the server."""
    command(str(folder / "few.parquet"), str(folder / "small"), *WAYS["hybrid and angel"])
    command(many, str(folder / "large"), *WAYS["hybrid and angel"])
    print("\nthat release by angel into PostgreSQL")
    jobs = [
        ("tables by ADBC alone", plainly_to_server, started.address()),
        ("to_postgres", write_to_server, started.address()),
    ]
    compared(folder, runs, str(folder / "small"), str(folder / "large"), jobs)


if __name__ == "__main__":
    if server.programs() is None:
        sys.exit("PostgreSQL is not installed (apt-get install postgresql)")
    with server.running("max_wal_size=4GB") as running:
        for rows in measure.ROWS:
            publishing(running, rows, 2)
