"""Every recoding at 10M rows of the synthetic census, from one Parquet file to the others, audit included.

CPU time of reading, dividing, rewriting, counting again and writing, one thread, against a plain read and write of the
same file by pyarrow in the same run.

    python benchmarks/recodings.py FOLDER    # needs about 1 GB there; GLASSHOUSE_BENCH_ROWS=600000 for less
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import measure
import pyarrow.parquet as pq

import glasshouse as gh
import glasshouse.publish  # its start-up is not what is measured

COLUMNS = ["age", "gender", "education", "birthplace", "occupation"]
OCCUPATIONS = [str(i) for i in range(50)]
EIGHT = gh.LDiversity(ell=8)
JOBS: dict[str, dict[str, Any]] = {
    "anatomy (Anatomize)": {"principle": EIGHT, "method": gh.Anatomize(), "recoding": gh.Anatomy()},
    "permutation (Anatomize)": {"principle": EIGHT, "method": gh.Anatomize(), "recoding": gh.Permutation()},
    "ANGEL (Hybrid), k = 8": {"principle": EIGHT, "method": gh.Hybrid(), "recoding": gh.Angel(k=8)},
    "ANGEL (Hybrid), three marginals": {
        "principle": EIGHT,
        "method": gh.Hybrid(),
        "recoding": gh.Angel(
            k=8, marginals=(tuple(COLUMNS), ("age", "gender", "occupation"), ("education", "occupation"))
        ),
    },
    "perturbed generalization, k = 6": {
        "principle": gh.DeltaGrowth(k=6),
        "recoding": gh.Perturbed(p="0.3", domain=OCCUPATIONS),
    },
}


def publish(file: Path, out: Path, choices: dict[str, Any]) -> None:
    """One job, from file to files."""
    shutil.rmtree(out, ignore_errors=True)
    table = gh.read(file, quasi=COLUMNS[:-1], sensitive=COLUMNS[-1], categorical=COLUMNS[-1:])
    gh.publish(table, out=out, threads=1, **choices)


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    for n in measure.ROWS:
        file, runs = folder / f"census_{n}.parquet", 3 if n <= 1_000_000 else 2
        pq.write_table(gh.synthetic.census_table(n, seed=1).select(COLUMNS), file)
        plain = measure.cpu(lambda file=file: pq.write_table(pq.read_table(file), folder / "copy.parquet"), 3)
        print(f"\n{n:,} rows; a plain read and write: {plain:.2f} CPU s")
        measure.row("", "CPU s", "to plain")
        for name, choices in JOBS.items():
            seconds = measure.cpu(lambda c=choices, file=file: publish(file, folder / "out", c), runs)
            measure.row(name, f"{seconds:.2f}", f"{seconds / plain:.1f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as temporary:
        main(Path(temporary))
