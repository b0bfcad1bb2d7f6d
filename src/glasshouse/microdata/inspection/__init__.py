# SPDX-License-Identifier: Apache-2.0
"""Inspecting a table before it is published: `inspection` has the function, other files what it checks."""

__all__: list[str] = []
