# SPDX-License-Identifier: Apache-2.0
"""How groups are rewritten: every recoding maps groups to published tables, alike for isomorphic groups."""

__all__: list[str] = []
