# SPDX-License-Identifier: Apache-2.0
"""Attacks that try every table (world) from which the algorithm may have made a release.

`every_world` is the strategy. `worlds` lists the tables, `replay` publishes each of them again, `enumeration` adds up
exact probabilities over all random choices (`draws`), and `walk` samples worlds where they are too many.
"""

__all__: list[str] = []
