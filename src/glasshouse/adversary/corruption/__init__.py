# SPDX-License-Identifier: Apache-2.0
"""Attacks by an attacker who has found out the sensitive values of some people.

`corruption.Corruption` asks `removal` what groups tell once the values that are known were taken out of them, and
`seats` who may own which record where cells overlap.
"""

__all__: list[str] = []
