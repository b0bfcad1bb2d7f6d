# SPDX-License-Identifier: Apache-2.0
"""Sift: cut a node only where no assignment of its values could make a part unsafe, and set aside what is in the way.

The theorem and its proof are in docs/methods/sift.md.
"""

__all__: list[str] = []
