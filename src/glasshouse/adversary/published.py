# SPDX-License-Identifier: Apache-2.0
"""What a release says, as anybody reads it."""

from glasshouse.published import Published, Seats

__all__ = ["Published", "Seats"]
