# SPDX-License-Identifier: Apache-2.0
"""Charts: each takes plain data and gives a drawing of the kit in `glasshouse.pages.svg`."""

__all__ = ["exposure", "frontier", "lines", "report"]
