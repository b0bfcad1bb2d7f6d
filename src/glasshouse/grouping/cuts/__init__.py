# SPDX-License-Identifier: Apache-2.0
"""Methods that cut the table in two, again and again: `mondrian`, `even_split`, `snug`."""

__all__: list[str] = []
