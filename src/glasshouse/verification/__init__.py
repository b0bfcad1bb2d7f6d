# SPDX-License-Identifier: Apache-2.0
"""Verification: count again what a table achieves, whichever tool made it.

Groups are rows with equal values in all quasi-identifiers, whatever the order of the rows, their index, their types or
their encoding. This is a second implementation of every principle: it shares nothing with the first but the reading of
files, so that a mistake in one shows up in the other. `publish` runs it on the published tables before they leave.

What is larger than memory is counted as a stream: `stream_count` reads tables batch after batch, `order` looks whether
their rows ascend, and `tally` counts groups. `part_count` counts every file by itself, wherever that is done, and joins
what the files tell to what a stream would have counted.

Counts are integers, shares and distances are fractions of integers; what is shown is rounded against the table, never
for it.
"""

from glasshouse.verification.verification import Achieved, Attained, Check, Risk, Verification, WorstGroup
from glasshouse.verification.verify_table import verify_table

__all__ = ["Achieved", "Attained", "Check", "Risk", "Verification", "WorstGroup", "verify_table"]
