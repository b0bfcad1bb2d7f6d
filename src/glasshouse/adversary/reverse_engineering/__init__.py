# SPDX-License-Identifier: Apache-2.0
"""Attacks by somebody who knows the algorithm and its parameters.

`reverse_engineering.ReverseEngineering` tries strategies in turn: a theorem about the method, every world, what groups
along an order tell, what cuts that were not made tell; the first that can be used gives the beliefs.
"""

__all__: list[str] = []
