# SPDX-License-Identifier: Apache-2.0
"""What holds the files of a release: a folder, or one zip archive.

`container` opens either and gives names and bytes; `plain_file` reads the files of a folder with suspicion, and
`glasshouse.unpacking.zip_members` those of an archive. `zip_archive` makes one archive of the files of a release.
"""

__all__: list[str] = []
