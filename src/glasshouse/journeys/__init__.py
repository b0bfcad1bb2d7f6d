# SPDX-License-Identifier: Apache-2.0
"""The verbs of the package: publish, verify, load, attack, evaluate. Each calls one room after the other.

`publish` is the file to read first. It ends with `recheck`, which has the second implementation count again; `load`
holds a folder to its own recipe.
"""

__all__: list[str] = []
