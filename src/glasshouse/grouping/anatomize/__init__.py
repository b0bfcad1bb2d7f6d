# SPDX-License-Identifier: Apache-2.0
"""Anatomize: groups by the sensitive values alone (ANATOMY Section 5)."""

__all__: list[str] = []
