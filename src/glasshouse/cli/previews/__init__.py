# SPDX-License-Identifier: Apache-2.0
"""Previews: which part of a table a terminal shows, and what is said of the rest."""

__all__: list[str] = []
