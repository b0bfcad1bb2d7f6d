# SPDX-License-Identifier: Apache-2.0
"""Tables larger than memory: surveyed in one pass, packed, divided on disk, and published.

`publish.publish_file` reads `batches`, makes a `survey`, which says how tuples are packed (`packing`), and has
`anatomize` divide them; they pass through a file without a name (`spill`).
"""

__all__: list[str] = []
