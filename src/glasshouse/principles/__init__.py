# SPDX-License-Identifier: Apache-2.0
"""What safe means: principles, which judge groups by their sizes and sensitive values alone."""

__all__: list[str] = []
