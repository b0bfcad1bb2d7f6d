# SPDX-License-Identifier: Apache-2.0
"""Cells: the text of a published cell, how it is written, and what it stands for, whichever tool wrote it."""

from glasshouse.cells.cell import (
    Anything,
    Cell,
    Interval,
    Missing,
    Node,
    OrMissing,
    Period,
    Prefix,
    Set,
    Unreadable,
    Value,
)
from glasshouse.cells.parsing import Grammar, bare, parse, parts_of
from glasshouse.cells.values import key_of, place_of, settled, text_of, zoned
from glasshouse.cells.writing import MISSING, OR_MISSING, SUPPRESSED, interval, label, quoted, value_set, with_missing

__all__ = [
    "MISSING",
    "OR_MISSING",
    "SUPPRESSED",
    "Anything",
    "Cell",
    "Grammar",
    "Interval",
    "Missing",
    "Node",
    "OrMissing",
    "Period",
    "Prefix",
    "Set",
    "Unreadable",
    "Value",
    "bare",
    "interval",
    "key_of",
    "label",
    "parse",
    "parts_of",
    "place_of",
    "quoted",
    "settled",
    "text_of",
    "value_set",
    "with_missing",
    "zoned",
]
