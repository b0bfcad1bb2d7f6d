# SPDX-License-Identifier: Apache-2.0
"""Questions about a release: as objects (`question`), from SQL (`sql`), and the values that they name."""

__all__: list[str] = []
