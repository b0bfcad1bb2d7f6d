# SPDX-License-Identifier: Apache-2.0
"""Tables larger than memory: surveyed in one pass, packed, divided on disk, and published."""

__all__: list[str] = []
