# SPDX-License-Identifier: Apache-2.0
"""Attacks by an attacker who knows the algorithm and its parameters.

`reverse_engineering.ReverseEngineering` tries `strategies` in turn: a theorem about the method (`theorems`), every
world (`worlds`), what groups along an order tell (`greedy`), what cuts that were not made tell (`cuts`); the first that
can be used gives the probabilities.
"""

__all__: list[str] = []
