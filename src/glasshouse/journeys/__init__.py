# SPDX-License-Identifier: Apache-2.0
"""The verbs of the package: publish, verify, load, attack, evaluate. Each calls one package after the other.

`publish` is the file to read first. It begins with a `plan`, all that is decided before people are divided, and ends
with `recheck`, which has the second implementation count again; a `large_table` is made in parts. `load` holds a folder
to its own recipe. `next_edition` publishes a table again for people who came later: the `ledger` knows who was there,
and `edition_tables` lays the tables of all editions end to end.
"""

__all__: list[str] = []
