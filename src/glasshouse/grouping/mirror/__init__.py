# SPDX-License-Identifier: Apache-2.0
"""Mirror, the default method.

`mirror.Mirror` takes a `remainder` out, divides by `halving`, and divides leaves whose halving failed into
`balanced_groups`; the proofs are in docs/methods/mirror.md.
"""

__all__: list[str] = []
