"""Sessions of Spark for tests, one at a time, on loopback alone; and what must be installed for them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import glasshouse
from tests.conftest import ROOT

LOOPBACK = "127.0.0.1"
FRUGAL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"  # tests are short: compiling well does not pay
IMPORTS = os.pathsep.join([str(Path(glasshouse.__file__).parents[1]), str(ROOT)])


def lacking() -> str | None:
    """What is not installed, in words; None if all is there."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed (pip install 'glasshouse[spark]')"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "Java is not installed (apt-get install openjdk-17-jre-headless)"
    return None


def on_loopback() -> None:
    """Have all sessions of this process on loopback, and their workers run the same code."""
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = IMPORTS


@contextmanager
def running(folder: Path, master: str = "local[2]", **settings: Any) -> Iterator[Any]:
    """A session whose files lie in ``folder``; settings are spelled with two underscores for a point."""
    from pyspark.sql import SparkSession

    on_loopback()
    (folder / "local").mkdir(parents=True, exist_ok=True)
    told = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": FRUGAL,
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": FRUGAL,
        "spark.executorEnv.PYTHONPATH": IMPORTS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.port": "0",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.log.level": "ERROR",
        # one process of Java serves all sessions of a run, and what its first one was told is the default of the others
        "spark.io.encryption.enabled": "false",
        "spark.network.crypto.enabled": "false",
        "spark.authenticate": "false",
        "spark.eventLog.enabled": "false",
        "spark.shuffle.compress": "true",
        "spark.shuffle.spill.compress": "true",
        "spark.broadcast.compress": "true",
        **{name.replace("__", "."): str(value) for name, value in settings.items()},
    }
    builder = SparkSession.builder.master(master).appName("test")
    for name, value in told.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        SparkSession.builder._options.clear()  # they would be those of the next session too
