# SPDX-License-Identifier: Apache-2.0
"""A release as a folder or a zip archive: how it is written, described, placed, and read again with suspicion.

`write` saves tables by `parts`, one file or several of each, a `description` and a `readme` into a `stage`, and
`folders` puts it in its place; `pair` does so for release and audit together. `stream` opens a release and takes
nothing before `manifest` has checked every word; `reader` makes rows of its files, and `read` a whole release. The
folder `container` has what holds the files: a folder on disk, or one zip archive.
"""

__all__: list[str] = []
