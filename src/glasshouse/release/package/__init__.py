# SPDX-License-Identifier: Apache-2.0
"""A release as a folder: how it is written, described, placed, and read again with suspicion.

`write` saves `tables`, a `description` and a `readme` into a `stage`, and `folders` puts it in its place; `pair` does
so for release and audit together. `read` takes nothing before `manifest` has checked every word.
"""

__all__: list[str] = []
