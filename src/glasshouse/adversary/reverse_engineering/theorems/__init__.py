# SPDX-License-Identifier: Apache-2.0
"""Methods with a theorem about the probabilities of an attacker who knows them.

`largest_shares` is for Mirror and Sift; `quasi_only` for methods that look at no sensitive value, whose groups anybody
can make again.
"""

__all__: list[str] = []
