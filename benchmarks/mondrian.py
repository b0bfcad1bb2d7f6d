"""Reading, dividing by Mondrian (l = 8), verifying, and publishing Parquet to Parquet, on the synthetic census.

Dividing is measured against one stable argsort of as many random 64-bit integers; reading and the whole job
against a plain read and write of the same file by polars, in the same run.

    python benchmarks/mondrian.py            # 600k and 10M rows; GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import measure
import polars
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import glasshouse as gh
import glasshouse.publish  # its start-up is not what is measured
from glasshouse.engines import Memory
from glasshouse.principles import Requirement

QUASI = ["age", "gender", "education", "birthplace"]
SENSITIVE = "occupation"
ELL = 8


def read(source: str) -> gh.Microdata:
    return gh.read(source, quasi=QUASI, sensitive=SENSITIVE, categorical=[SENSITIVE])


def publish(source: str, target: str) -> None:
    gh.publish(read(source), principle=gh.LDiversity(ell=ELL)).save(target)


def plain_copy(source: str, target: str) -> None:
    """What any tool must do at least: read the file and write it again."""
    polars.read_parquet(source).write_parquet(target)


def dividing(n: int, runs: int) -> None:
    yardstick = measure.argsort(n, runs)
    print(f"\n{n:,} rows of the synthetic census, l = {ELL}; one stable argsort: {yardstick:.3f} CPU s")
    measure.row("", "CPU s", "to argsort")

    def line(what: str, seconds: float) -> None:
        measure.row(what, f"{seconds:.3f}", f"{seconds / yardstick:.2f}")

    table = gh.synthetic.census(n, seed=1)
    requirement = Requirement.of(gh.LDiversity(ell=ELL), table)
    for partitioning in ("strict", "relaxed"):
        for threads, name in ((1, "one thread"), (0, "all cores")):
            method, engine = gh.Mondrian(partitioning=partitioning), Memory(threads=threads)
            seconds = measure.cpu(lambda m=method, e=engine: m.divide(table, requirement, engine=e), runs)
            line(f"Mondrian {partitioning}, {name}", seconds)
    groups = gh.Mondrian().divide(table, requirement)
    line("boxes", measure.cpu(lambda: gh.Boxes().recode(table, groups), runs))
    published = gh.Boxes().recode(table, groups)["data"]
    line("verify: k, every l, t", measure.cpu(lambda: gh.verify(published, quasi=QUASI, sensitive=SENSITIVE), runs))


def end_to_end(n: int, runs: int) -> None:
    """The whole job, on the census as narrow as it is made, and as the 64-bit integers that most files hold."""
    census = gh.synthetic.census_table(n, seed=1).select([*QUASI, SENSITIVE])
    wide = census.cast(pa.schema([(name, pa.int64()) for name in census.column_names]))
    with tempfile.TemporaryDirectory() as folder:
        for what, raw in (("8-bit", census), ("64-bit", wide)):
            parquet, csv, copied, release = (
                str(Path(folder) / f"{what} {name}") for name in ("a.parquet", "a.csv", "b", "c")
            )
            pq.write_table(raw, parquet)
            pa_csv.write_csv(raw, csv)
            copy = min(measure.apart(plain_copy, parquet, copied)["cpu"] for _ in range(3))
            print(f"\n{what} integers; plain read + write of the Parquet file by polars: {copy:.3f} CPU s")
            measure.row("", "CPU s", "to plain copy", "peak GB")
            for job, work in {
                "polars reads Parquet": lambda path=parquet: polars.read_parquet(path),
                "glasshouse reads and codes Parquet": lambda path=parquet: read(path),
                "polars reads CSV": lambda path=csv: polars.read_csv(path),
                "glasshouse reads and codes CSV": lambda path=csv: read(path),
            }.items():
                seconds = measure.cpu(work, runs)
                measure.row(job, f"{seconds:.3f}", f"{seconds / copy:.2f}")
            whole = measure.apart(publish, parquet, release)
            ratio = whole["cpu"] / copy
            measure.row(
                "publish Parquet to Parquet", f"{whole['cpu']:.3f}", f"{ratio:.2f}", f"{whole['gigabytes']:.2f}"
            )


if __name__ == "__main__":
    for rows in measure.ROWS:
        repeats = 5 if rows <= 1_000_000 else 2
        dividing(rows, repeats)
        end_to_end(rows, repeats)
