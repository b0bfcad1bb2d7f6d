# SPDX-License-Identifier: Apache-2.0
"""The methods of TRANSPARENT: `tailor` cuts, `ace` deals and slices, `hybrid` does one after the other.

All of them work on `packed_rows`, and choose by `penalties`.
"""

__all__: list[str] = []
