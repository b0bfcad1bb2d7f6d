# SPDX-License-Identifier: Apache-2.0
"""Charts: each takes plain data and returns a drawing made with `glasshouse.pages.svg`."""

__all__ = ["exposure", "frontier", "lines", "report"]
