# SPDX-License-Identifier: Apache-2.0
"""Tables on a cluster: counted, divided and written by Spark, with the same bytes as on one machine.

`count` makes kinds of people of a DataFrame. `engine` runs pieces and parts as tasks, which `worker` does, in the
processes that Spark starts; `seal` keeps what passes through files from everybody else; `settings` asks for Spark's
own encryption. PySpark is loaded when something is called, not when this is imported.
"""

from __future__ import annotations

from glasshouse.spark.count import count
from glasshouse.spark.engine import Engine, SparkFailed
from glasshouse.spark.publish import SparkRelease, publish

__all__ = ["Engine", "SparkFailed", "SparkRelease", "count", "publish"]
