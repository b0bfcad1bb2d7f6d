# SPDX-License-Identifier: Apache-2.0
"""Settings of Spark on which secrecy depends: which are required, and warnings if they are missing.

Glasshouse seals what it puts into files itself. What it cannot seal is what Spark does by itself: while it counts, the
columns of the table pass through Spark's own files; and the functions of tasks, which have the keys in them, go from
the driver to the workers over the network.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from glasshouse.errors import DisclosureWarning, MissingExtra, NotSupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ENCRYPTION", "missing_encryption", "require_spark", "warn_of_plain"]

ENCRYPTION = {
    "spark.io.encryption.enabled": "Spark's temporary files, in which the table is stored while it is counted",
    "spark.network.crypto.enabled": "connections between the machines, which carry keys and rows",
    "spark.authenticate": "who may connect to the machines",
}
_OLDEST = (4, 1)


def require_spark() -> Any:
    """PySpark; `MissingExtra`, an `ImportError`, where it is not installed."""
    try:
        import pyspark.sql
    except ImportError:
        raise MissingExtra("Spark", extra="spark") from None
    return pyspark.sql


def check_version(session: SparkSession) -> None:
    """Refuse a Spark that lacks what the engine needs."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", session.version)[:2])
    if numbers < _OLDEST:
        raise NotSupported(
            f"Spark {session.version} is too old",
            instead="use Spark 4.2 or later, which can send rows to named partitions",
        )


def missing_encryption(session: SparkSession) -> list[str]:
    """The settings that are off, of those that matter where the session runs: one machine has no network."""
    wanted = list(ENCRYPTION)
    if str(session.conf.get("spark.master", None) or "").startswith("local"):
        wanted = wanted[:1]
    return [name for name in wanted if str(session.conf.get(name, None)).lower() != "true"]


def warn_of_plain(session: SparkSession) -> None:
    """Warn, by a `DisclosureWarning`, of every setting that is off."""
    missing = missing_encryption(session)
    if missing:
        what = "; ".join(f"{name} ({ENCRYPTION[name]})" for name in missing)
        warnings.warn(
            f"Spark does not protect the table enough while it works. Switch on for the whole cluster: {what}",
            DisclosureWarning,
            stacklevel=3,
        )
