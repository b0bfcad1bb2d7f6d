# SPDX-License-Identifier: Apache-2.0
"""How large a file becomes when it is unpacked, found out without unpacking anything.

`budget` is what a table may take; `parquet` and `arrow_ipc` add up what a file would. `headroom` is how much memory
there is. `zip_members` looks through a zip archive before anything of it is unpacked.
"""

from glasshouse.unpacking.parquet import Growth, Refused, Unpacked, growth_of, measure

__all__ = ["Growth", "Refused", "Unpacked", "growth_of", "measure"]
