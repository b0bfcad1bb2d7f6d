# SPDX-License-Identifier: Apache-2.0
"""Taxonomies: trees of ever coarser labels over the values of a column.

`taxonomy.Taxonomy` is declared by a person, `tree` checks what was listed, `bound_taxonomy` binds it to the values of
one column.
"""

__all__: list[str] = []
