# SPDX-License-Identifier: Apache-2.0
"""How a table is divided: every method maps microdata and a requirement to groups, and knows nothing of the output.

`method.Method` is what all of them are. A folder is a family of methods; `suppression` drops tuples before a table is
divided, `perimeter` measures groups.
"""

__all__: list[str] = []
