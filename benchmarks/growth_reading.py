"""How the time of reading grows: a source twice as large, in CPU time, for everything in a source that can grow.

A ratio of about 2 a doubling is linear, 4 is quadratic. The smallest source is chosen so that what does not depend on
its size no longer counts.

    python benchmarks/growth_reading.py                 # all of them, about two minutes
    python benchmarks/growth_reading.py ordered         # those whose name has this word in it
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.streaming.count import count_file

DOUBLINGS = 3
TIMES = 3
Work = Callable[[], Any]


def categories(n: int) -> list[str]:
    return [f"c{i:07}" for i in range(n)]


def halves(n: int) -> list[str]:
    return ["a", "b"] * (n // 2)


def ordered_declared(n: int, _: Path) -> Work:
    people = {"x": categories(n), "s": halves(n)}
    return lambda: gh.read(people, quasi=["x"], sensitive="s", ordered={"x": categories(n)})


def ordered_pandas(n: int, _: Path) -> Work:
    people = pd.DataFrame({"x": pd.Categorical(categories(n), categories(n), ordered=True), "s": halves(n)})
    return lambda: gh.read(people, quasi=["x"], sensitive="s")


def ordered_arrow_in_chunks(n: int, _: Path) -> Work:
    values = pa.array(categories(n))
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(range(i, i + 100), pa.int32()), values, ordered=True)
        for i in range(0, n, 100)
    ]
    people = pa.table({"x": pa.chunked_array(chunks), "s": halves(n)})
    return lambda: gh.read(people, quasi=["x"], sensitive="s")


def taxonomy_leaves(n: int, _: Path) -> Work:
    tree = gh.Taxonomy.from_nested({"any": {f"g{j}": categories(n)[j::50] for j in range(50)}})
    people = {"x": categories(n), "s": halves(n)}
    return lambda: gh.read(people, quasi=["x"], sensitive="s", taxonomies={"x": tree})


def sensitive_values(n: int, _: Path) -> Work:
    return lambda: gh.read({"x": halves(n), "s": categories(n)}, quasi=["x"], sensitive="s")


def look_alikes(n: int, _: Path) -> Work:
    spelled = [f"é{i // 2}" + " " * (i % 2) for i in range(n)]
    return lambda: gh.read({"x": halves(n), "s": spelled}, quasi=["x"], sensitive="s")


def look_alikes_normalised(n: int, _: Path) -> Work:
    spelled = [f"é{i // 2}" + " " * (i % 2) for i in range(n)]
    return lambda: gh.read({"x": halves(n), "s": spelled}, quasi=["x"], sensitive="s", normalise=["s"])


def values_with_line_breaks(n: int, folder: Path) -> Work:
    path = folder / "breaks.csv"
    path.write_text("x,note,s\n" + "".join(f'{i},"a\nb","v\n{i}"\n' for i in range(n)))
    return lambda: gh.read(path, quasi=["x"], sensitive="s")


def quoted_rows_on_disk(n: int, folder: Path) -> Work:
    path = folder / "quoted.csv"
    path.write_text('"x","s"\n' + "".join(f'"{i}","v{i % 9}"\n' for i in range(n * 10)))
    return lambda: count_file(path, quasi=["x"], sensitive="s")


def columns_of_a_dict(n: int, _: Path) -> Work:
    people = {**{f"c{i}": [1, 2, None, 4] for i in range(n // 10)}, "s": ["a", "b", "c", "d"]}
    return lambda: gh.read(people, quasi=list(people)[:-1], sensitive="s", missing="category")


def columns_of_pandas(n: int, _: Path) -> Work:
    people = pd.DataFrame({**{f"c{i}": [1, 2, 3, 4] for i in range(n // 10)}, "s": ["a", "b", "c", "d"]})
    return lambda: gh.read(people, quasi=list(people)[:-1], sensitive="s")


def columns_of_text(n: int, folder: Path) -> Work:
    names = [f"c{i}" for i in range(n // 10)]
    path = folder / "wide.csv"
    path.write_text(
        "\n".join(",".join([*(name * (row < 0) or str(row) for name in names), f"s{row}"]) for row in range(-1, 4))
    )
    return lambda: gh.read(path, quasi=names, sensitive="s-1")


def columns_of_parquet_on_disk(n: int, folder: Path) -> Work:
    people = {**{f"c{i}": [1, 2, 3, 4] for i in range(n // 10)}, "s": ["a", "b", "c", "d"]}
    pq.write_table(pa.table(people), folder / "wide.parquet")
    return lambda: count_file(folder / "wide.parquet", quasi=list(people)[:-1], sensitive="s")


def columns_inspected(n: int, _: Path) -> Work:
    people = {**{f"c{i}": [1, 2, None, 4] for i in range(n // 10)}, "s": ["a", "b", "c", "d"]}
    return lambda: gh.inspect(people)


GROWING = (
    ordered_declared,
    ordered_pandas,
    ordered_arrow_in_chunks,
    taxonomy_leaves,
    sensitive_values,
    look_alikes,
    look_alikes_normalised,
    values_with_line_breaks,
    quoted_rows_on_disk,
    columns_of_a_dict,
    columns_of_pandas,
    columns_of_text,
    columns_of_parquet_on_disk,
    columns_inspected,
)
SMALLEST = 10_000


def seconds(work: Work) -> float:
    """CPU time, of all threads: the least of some runs."""
    found = []
    for _ in range(TIMES):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def doubled(grown: Callable[[int, Path], Work], smallest: int = SMALLEST) -> list[float]:
    """The time of each size, every size twice the one before."""
    with tempfile.TemporaryDirectory() as folder:
        return [seconds(grown(smallest << step, Path(folder))) for step in range(DOUBLINGS + 1)]


def main(word: str) -> None:
    print("| what grows | seconds | ratio of each doubling |\n|---|---|---|")
    for grown in GROWING:
        if word in grown.__name__:
            times = doubled(grown)
            ratios = " ".join(f"{later / before:.2f}" for before, later in pairwise(times))
            print(f"| {grown.__name__.replace('_', ' ')} | {times[0]:.3f} to {times[-1]:.3f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
