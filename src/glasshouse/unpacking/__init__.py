# SPDX-License-Identifier: Apache-2.0
"""Packed: how large a Parquet file becomes when it is unpacked, found out without unpacking anything."""

from glasshouse.unpacking.parquet import Growth, Refused, Unpacked, growth_of, measure

__all__ = ["Growth", "Refused", "Unpacked", "growth_of", "measure"]
