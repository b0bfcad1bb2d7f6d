# SPDX-License-Identifier: Apache-2.0
"""How tables are read: files and frames of every kind are converted to one form, and suspect content becomes a caution.

`sources` tells what it was given, and calls `delimited` (with `quotes`) for text and `postgres` for databases;
`normal_form` makes one form of all of them.
"""

__all__: list[str] = []
