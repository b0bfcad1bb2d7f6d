# SPDX-License-Identifier: Apache-2.0
"""What groups that were grown along an order tell.

`sequences` is the attack; `runs` finds where the groups lie along the order, `prefixes` counts the arrangements of
values for which no group could have been closed earlier.
"""

__all__: list[str] = []
