# SPDX-License-Identifier: Apache-2.0
"""Packed: how large a Parquet file becomes when it is unpacked, found out without unpacking anything."""

from glasshouse.packed.foreign_pages import Growth, growth_of
from glasshouse.packed.parquet_pages import Refused, Unpacked, measure

__all__ = ["Growth", "Refused", "Unpacked", "growth_of", "measure"]
