# SPDX-License-Identifier: Apache-2.0
"""How a table is divided: every method maps microdata and a requirement to groups, whatever is published later.

`method.Method` is what all of them are. A folder is a family of methods; `suppression` drops records before a table is
divided, `perimeter` measures groups.
"""

__all__: list[str] = []
