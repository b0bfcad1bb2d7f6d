# SPDX-License-Identifier: Apache-2.0
"""Every table that may have given a release, tried one after the other.

`every_world` is the strategy. `worlds` lists the tables, `replay` publishes each of them again, `enumeration` adds up
exact probabilities over all random choices (`draws`), and `walk` samples worlds where they are too many.
"""

__all__: list[str] = []
