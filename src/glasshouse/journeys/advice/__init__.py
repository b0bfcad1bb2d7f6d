# SPDX-License-Identifier: Apache-2.0
"""Advice: what a table can be promised where it cannot be promised what was asked.

A `sketch` counts the sensitive values of a table, and `ways` are the promises that it can keep, each with its price.
"""

__all__: list[str] = []
