"""A standalone cluster of our own: a master and two workers on loopback, started by tests and ended by their ids."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.doors.spark.sessions import FRUGAL, IMPORTS, LOOPBACK

SECRET = "CANARY-secret-of-the-cluster"  # by which machines know each other
ENCRYPTED = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": SECRET,
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
}
_SECONDS = 240  # on a busy machine


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    address: str
    workers: tuple[int, ...]
    folder: Path

    def executors(self) -> list[int]:
        """The processes that the workers started, by their ids."""
        parents = {pid: _parent(pid) for pid in (int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit())}
        children = [pid for pid, parent in parents.items() if parent in self.workers]
        return sorted(pid for pid in children if b"CoarseGrainedExecutorBackend" in _command(pid))

    def kill_one(self) -> int:
        """End one executor at once; the workers will start another."""
        victim = self.executors()[0]
        os.kill(victim, signal.SIGKILL)
        return victim


@contextmanager
def running(folder: Path, n_workers: int = 2) -> Iterator[Cluster]:
    """Start a master and its workers, and stop them at the end."""
    (folder / "local").mkdir(parents=True)
    settings = folder / "settings"
    settings.write_text("".join(f"{name} {value}\n" for name, value in ENCRYPTED.items()), encoding="utf-8")
    started: list[subprocess.Popen[bytes]] = []
    try:
        common = ["--host", LOOPBACK, "--port", "0", "--webui-port", "0", "--properties-file", str(settings)]
        master = _start(folder / "master", ["org.apache.spark.deploy.master.Master", *common], started)
        address = _said(master, folder / "master", rf"(spark://{re.escape(LOOPBACK)}:\d+)")
        each = ["org.apache.spark.deploy.worker.Worker", *common, "--cores", "1", "--memory", "600m"]
        for number in range(n_workers):
            log = folder / f"worker-{number}"
            _start(log, [*each, "--work-dir", str(folder / f"work-{number}"), address], started)
        for number in range(n_workers):
            _said(started[number + 1], folder / f"worker-{number}", "Successfully registered with master")
        yield Cluster(address, tuple(process.pid for process in started[1:]), folder)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(log: Path, command: list[str], started: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_DIRS": str(log.parent / "local"),
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_DAEMON_JAVA_OPTS": FRUGAL,
        "SPARK_LAUNCHER_OPTS": FRUGAL,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": IMPORTS,
    }
    with log.open("wb") as file:  # the script becomes the process of Java, so that its id is the one to end
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd=log.parent,
        )
    started.append(process)
    return process


def _said(process: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    """What a process wrote into its log, within a bounded time."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        found = re.search(pattern, log.read_text(encoding="utf-8", errors="replace"))
        if found is not None:
            return found.group(0)
        time.sleep(0.1)
    raise AssertionError(log.read_text(encoding="utf-8", errors="replace"))


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
