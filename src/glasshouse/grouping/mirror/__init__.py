# SPDX-License-Identifier: Apache-2.0
"""Mirror, the default method.

`mirror.Mirror` parts the table into blocks that can be halved, halves them (`halves`), and divides leaves whose halving
failed into balanced groups; the proofs are in docs/methods/mirror.md.
"""

__all__: list[str] = []
