# SPDX-License-Identifier: Apache-2.0
"""A release as a folder: how it is written, described, placed, and read again with suspicion."""

__all__: list[str] = []
