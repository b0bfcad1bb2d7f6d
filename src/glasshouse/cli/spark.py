# SPDX-License-Identifier: Apache-2.0
"""Publishing on Spark from the command line: a session is started or joined, and Parquet files are read by it."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.cli.progress import progress_bar
from glasshouse.errors import InputError, NotSupported, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from glasshouse.spark.publish import SparkRelease

__all__ = ["publish_on_spark"]

_HERE = "local[*]"
_NO_DATABASE = (
    "--engine spark reads files and writes folders, not databases: use --engine memory, or give a file and leave --to, "
    "--table and --query out"
)
_WITHOUT = {
    "flat": "--engine spark cannot draw a flat table: leave --flat out, and run glasshouse sample on the release "
    "afterwards",
    "threads": "--threads has no effect with --engine spark: say how many tasks run at once with --master, as in "
    "--master 'local[4]'",
    **dict.fromkeys(("to", "table", "query"), _NO_DATABASE),
}


def publish_on_spark(
    choices: Mapping[str, Any],
    out: Path,
    *,
    force: bool,
    finishing: Callable[[SparkRelease], None] | None = None,
) -> SparkRelease:
    """Publish Parquet files on the cluster that is named, or on the processors of this machine."""
    from glasshouse.policy.choices import publish_arguments, read_arguments
    from glasshouse.spark.publish import publish

    for name, words in _WITHOUT.items():
        if choices.get(name):
            raise InputError(words)
    asked = publish_arguments(choices)
    del asked["format"]
    if choices.get("format_") not in (None, "parquet"):
        raise InputError("--engine spark writes Parquet files only: leave --format out")
    del asked["threads"]
    reading = read_arguments(choices)
    for name, usual in (("delimiter", None), ("encoding", None), ("decimal", ".")):
        if reading.pop(name) != usual:
            raise InputError(f"--engine spark reads Parquet files, for which --{name} has no meaning: leave it out")
    with _session(choices.get("master") or _HERE) as session, progress_bar(unit="tasks") as tell:
        return publish(
            _frame(session, str(choices["file"])),
            out=out,
            force=force,
            partition=choices.get("partition", True),
            progress=tell,
            finishing=finishing,
            **asked,
            **reading,
        )


@contextlib.contextmanager
def _session(master: str) -> Iterator[SparkSession]:
    """A session, which is stopped at the end; Spark's own settings apply where nothing is given here."""
    from glasshouse.spark.settings import require_spark

    sql = require_spark()
    from pyspark.errors import PySparkException

    builder = sql.SparkSession.builder.appName("glasshouse")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in {**quiet, "spark.io.encryption.enabled": "true"}.items():
        builder = builder.config(name, value)
    builder = builder.master(master)
    try:
        session = builder.getOrCreate()
    except PySparkException as error:
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise NotSupported(
                "Spark cannot start without Java", instead="install Java 17 or later (openjdk-17-jre-headless)"
            ) from None
        raise InputError(f"Spark did not start with the master {master!r}: {_first_line(error)}") from None
    try:
        yield session
    finally:
        session.stop()


def _frame(session: SparkSession, path: str) -> DataFrame:
    """The Parquet files at a path: one, or all in a folder."""
    from pyspark.errors import PySparkException

    if "://" not in path:
        here = Path(path)
        if not here.exists():
            raise SourceError(f"there is no file or folder {path}: check the path", source=path)
        if here.is_file() and not _is_parquet(here):
            raise SourceError(
                f"--engine spark reads a Parquet file or a folder of them, and {path} is not one: write the table as "
                "Parquet first",
                source=path,
            )
        path = str(here.absolute())
    try:
        return session.read.parquet(path)
    except PySparkException as error:
        raise SourceError(f"Spark cannot read {path}: {_first_line(error)}", source=path) from None


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
