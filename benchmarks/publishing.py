"""Reading, and publishing Parquet to Parquet (boxes, l = 8), on the synthetic census.

The yardstick is a plain read and write of the same file, by polars and by pyarrow, in the same run. Every job runs in a
process of its own, after the same job on a few rows, so that start-up is not what is measured.

    python benchmarks/publishing.py          # 600k and 10M rows; GLASSHOUSE_BENCH_ROWS=600000 for less
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

QUASI = ["age", "gender", "education", "birthplace"]
SENSITIVE = "occupation"
ELL = 8
METHODS = {"mondrian": gh.Mondrian, "hybrid": gh.Hybrid}


def read(source: str) -> gh.Microdata:
    return gh.read(source, quasi=QUASI, sensitive=SENSITIVE, categorical=[SENSITIVE])


def publish(source: str, target: str, method: str) -> None:
    principle = gh.LDiversity(ell=ELL)
    gh.publish(read(source), principle=principle, method=METHODS[method](), recoding=gh.Boxes()).save(target)


def copy_by_polars(source: str, target: str) -> None:
    """What any tool must do at least: read the file and write it again."""
    polars.read_parquet(source).write_parquet(target)


def copy_by_pyarrow(source: str, target: str) -> None:
    """The same by the library that Glasshouse reads and writes with."""
    pq.write_table(pq.read_table(source), target)


def write(folder: Path, n: int) -> dict[str, tuple[str, str, str]]:
    """Write the census as narrow as it is made, and as the 64-bit integers that most files hold; a few rows too."""
    census = gh.synthetic.census_table(n, seed=1).select([*QUASI, SENSITIVE])
    wide = census.cast(pa.schema([(name, pa.int64()) for name in census.column_names]))
    files = {}
    for what, raw in (("8-bit", census), ("64-bit", wide)):
        few, many, csv = (str(folder / f"{what} {file}") for file in ("few.parquet", "many.parquet", "many.csv"))
        pq.write_table(raw.slice(0, 2000), few)
        pq.write_table(raw, many)
        pa_csv.write_csv(raw, csv)
        files[what] = few, many, csv
    return files


def publishing(n: int, runs: int) -> None:
    """The whole job on both files, and reading alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, (few, many, csv) in write(folder, n).items():
            copies = [measure.best(folder, 3, work, few, many) for work in (copy_by_polars, copy_by_pyarrow)]
            print(f"\n{n:,} rows of the synthetic census, {what} integers, l = {ELL}; CPU s: user, system, both")
            measure.row("", "user", "system", "CPU s", "to polars", "to pyarrow", "peak GB")

            def line(job: str, run: dict[str, float], copies: list[dict[str, float]] = copies) -> None:
                ratios = (f"{run['cpu'] / copy['cpu']:.2f}" for copy in copies)
                seconds = (f"{run[part]:.2f}" for part in ("user", "system", "cpu"))
                measure.row(job, *seconds, *ratios, f"{run['gigabytes']:.2f}")

            line("polars reads and writes Parquet", copies[0])
            line("pyarrow reads and writes Parquet", copies[1])
            for method in METHODS:
                line(f"publish Parquet to Parquet, {method}", measure.best(folder, runs, publish, few, many, method))
            for job, work in {
                "polars reads Parquet": lambda path=many: polars.read_parquet(path),
                "glasshouse reads and codes Parquet": lambda path=many: read(path),
                "polars reads CSV": lambda path=csv: polars.read_csv(path),
                "glasshouse reads and codes CSV": lambda path=csv: read(path),
            }.items():
                seconds = measure.cpu(work, 2)
                ratios = (f"{seconds / copy['cpu']:.2f}" for copy in copies)
                measure.row(job, "", "", f"{seconds:.2f}", *ratios)


if __name__ == "__main__":
    for rows in measure.ROWS:
        publishing(rows, 3)
