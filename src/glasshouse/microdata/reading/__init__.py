# SPDX-License-Identifier: Apache-2.0
"""How tables come in: files and frames of every kind become one form, and what looks wrong becomes a caution."""

__all__: list[str] = []
