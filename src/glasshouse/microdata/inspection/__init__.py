# SPDX-License-Identifier: Apache-2.0
"""Looking at a table before it is published: `inspection` is the verb, the other files are what it looks at."""

__all__: list[str] = []
