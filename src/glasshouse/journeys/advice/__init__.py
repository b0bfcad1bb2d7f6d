# SPDX-License-Identifier: Apache-2.0
"""Advice: what can be guaranteed for a table that does not allow what was asked for.

A `sketch` counts the sensitive values of a table, and `ways` are the promises that it can keep, each with its price.
"""

__all__: list[str] = []
