"""Spark on one machine, ``local[2]``: the default release (Sift and ANGEL) beside a plain read and write by Spark.

Every job has a process of its own, which starts a session with the same settings (Spark's files encrypted) and a
small job, and is measured from there on. CPU seconds are those of the whole tree of processes: this one, Java, and the
Python workers, also those that have ended. Memory is the peak of each single process: the largest Python worker, the
driver's Python, and Java. The last line is the disk engine of the same release, without Spark. Linux only, for the
figures come from /proc.

    python benchmarks/spark.py FOLDER           # GLASSHOUSE_BENCH_ROWS=200000,1000000 for others than 5M, 10M and 50M
    GLASSHOUSE_BENCH_FILE=census.parquet python benchmarks/spark.py FOLDER    # a file with such columns that is there
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import disk
import measure
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.microdata.synthetic import TRANSPARENT_QUASI
from glasshouse.streaming.publish import publish_file

ROWS = [int(text) for text in os.environ.get("GLASSHOUSE_BENCH_ROWS", "5000000,10000000,50000000").split(",")]
FILE = os.environ.get("GLASSHOUSE_BENCH_FILE")
TICKS = os.sysconf("SC_CLK_TCK")
LOOPBACK = "127.0.0.1"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.memory": "4g",
    "spark.io.encryption.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
OPTIONS: dict[str, Any] = {
    "quasi": list(TRANSPARENT_QUASI),
    "sensitive": "occupation",
    "categorical": ["occupation"],
    "principle": gh.LDiversity(ell=disk.ELL),
}


def lacking() -> str | None:
    """What is not there, in words."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed (pip install 'glasshouse[spark]')"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "Java is not installed (apt-get install openjdk-17-jre-headless)"
    return None if Path("/proc/self/stat").exists() else "there is no /proc from which to take the figures"


# ------------------------------------------------------------------------------------------------ a tree of processes


def tree() -> dict[int, tuple[float, str]]:
    """CPU seconds and kind of this process and all below it; a process has those of its ended children as well."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            parents[int(folder.name)] = int(stat[1])
            seconds[int(folder.name)] = sum(map(int, stat[11:15])) / TICKS  # user, system, and both of ended children
    found = {os.getpid(): (seconds[os.getpid()], "driver")}
    fresh = [os.getpid()]
    while fresh:
        fresh = [pid for pid, parent in parents.items() if parent in fresh]
        found |= {pid: (seconds[pid], _kind(pid)) for pid in fresh}
    return found


def _kind(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "other"
    return "worker" if b"pyspark" in command and b"java" not in command.split(b"\0")[0] else "java"


def cpu_of(processes: dict[int, tuple[float, str]]) -> dict[str, float]:
    """CPU seconds by the kind of process."""
    kinds = {kind for _, kind in processes.values()}
    return {kind: sum(seconds for seconds, own in processes.values() if own == kind) for kind in kinds}


class Watch:
    """Keeps the peak memory of every process of the tree, looked at several times a second."""

    def __init__(self) -> None:
        self.peaks: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def look(self) -> None:
        """Look now."""
        for pid, (_, kind) in tree().items():
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            peak = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0) / 1000
            self.peaks[kind] = max(self.peaks.get(kind, 0.0), peak)

    def _watch(self) -> None:
        while not self._over.wait(0.25):
            self.look()
        self.look()


# --------------------------------------------------------------------------------------------------------------- jobs


@contextmanager
def running(folder: Path) -> Iterator[Any]:
    """A session that has done a small job, workers included."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("benchmark").config("spark.local.dir", str(folder / "local"))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.range(0, 2, 1, 2).mapInArrow(lambda batches: batches, "id long").toArrow()
    yield session
    session.stop()


def copied(session: Any, path: Path, folder: Path) -> None:
    session.read.parquet(str(path)).write.parquet(str(folder / "copy"))


def counted(session: Any, path: Path, folder: Path) -> None:
    options = {name: value for name, value in OPTIONS.items() if name != "principle"}
    gh.spark.count(session.read.parquet(str(path)), **options)


def published(session: Any, path: Path, folder: Path) -> None:
    gh.spark.publish(session.read.parquet(str(path)), out=folder / "out", **OPTIONS)


def from_disk(_session: Any, path: Path, folder: Path) -> None:
    publish_file(folder / "out", path, engine="disk", partition=False, **OPTIONS)


JOBS: dict[str, Callable[[Any, Path, Path], None]] = {
    "Spark reads and writes": copied,
    "count alone": counted,
    "publish on Spark": published,
    "publish on disk, without Spark": from_disk,
}


def run(what: str, path: Path, folder: Path) -> dict[str, Any]:
    """Do one job in this process, and tell what it took."""
    warnings.simplefilter("ignore")
    with Watch() as watch:
        if JOBS[what] is from_disk:
            return _measured(what, None, path, folder, watch, 0.0)
        with running(folder) as session:
            return _measured(what, session, path, folder, watch, sum(cpu_of(tree()).values()))


def _measured(what: str, session: Any, path: Path, folder: Path, watch: Watch, start: float) -> dict[str, Any]:
    before, clock = cpu_of(tree()), time.perf_counter()
    JOBS[what](session, path, folder)
    clock = time.perf_counter() - clock
    after = cpu_of(tree())
    watch.look()
    spent = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
    return {"spent": spent, "clock": clock, "peaks": watch.peaks, "start": start}


def compare(path: Path, folder: Path) -> None:
    """Print the table for one file."""
    rows = pq.read_metadata(path).num_rows
    print(f"\n{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of Parquet, l = {disk.ELL}")
    measure.row("", "CPU s", "of it Java", "Python", "wall s", "worker MB", "driver MB", "Java MB", "to Spark")
    copy = start = 0.0
    for what in JOBS:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            command = [sys.executable, __file__, "--job", what, str(path), name]
            told = subprocess.run(command, capture_output=True, text=True)
        if told.returncode:
            raise SystemExit(told.stderr)
        found = json.loads(told.stdout.splitlines()[-1])
        spent, peaks = found["spent"], found["peaks"]
        whole, java = sum(spent.values()), spent.get("java", 0.0)
        copy, start = copy or whole, start or found["start"]
        memory = [f"{peaks[kind]:.0f}" if kind in peaks else "" for kind in ("worker", "driver", "java")]
        cells = [f"{seconds:.1f}" for seconds in (whole, java, whole - java, found["clock"])]
        measure.row(what, *cells, *memory, f"{whole / copy:.1f}")
    print(f"beside it, the imports, the session and a first small job took {start:.1f} CPU s")


def main(parent: str | None) -> None:
    missing = lacking()
    if missing is not None:
        print(f"nothing is measured: {missing}")
        return
    for rows in ROWS if FILE is None else [0]:
        with tempfile.TemporaryDirectory(dir=parent) as name:
            path = Path(name, "census.parquet") if FILE is None else Path(FILE).absolute()
            if FILE is None:
                disk.make(path, rows)
            compare(path, Path(name))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(run(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else None)
