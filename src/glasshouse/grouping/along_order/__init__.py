# SPDX-License-Identifier: Apache-2.0
"""Methods that group along an order of the quasi-identifiers: `greedy` and `symmetric`; `orderings` makes the order."""

__all__: list[str] = []
