# SPDX-License-Identifier: Apache-2.0
"""The verbs of the package: publish, verify, load, attack, evaluate. Each calls one room after the other.

`publish` is the file to read first. It begins with a `plan`, all that is decided before people are divided, and ends
with `recheck`, which has the second implementation count again; a `large_table` is made in parts. `load` holds a folder
to its own recipe.
"""

__all__: list[str] = []
