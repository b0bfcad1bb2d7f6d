# SPDX-License-Identifier: Apache-2.0
"""Attacks by an attacker who has several releases of one table.

`intersection.Intersection` finds with `candidates` what each person may have by all releases together; where the
possible worlds are too many to be counted, `exchanges` walks over them.
"""

__all__: list[str] = []
