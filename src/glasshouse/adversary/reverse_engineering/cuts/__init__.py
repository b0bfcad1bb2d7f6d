# SPDX-License-Identifier: Apache-2.0
"""What the cuts that a dividing algorithm did not make reveal.

`decisions` is the strategy. It rebuilds the cuts that were tried (`cut_tree`); `cut_failures` turns those that were not
made into probabilities, by counting worlds (`cut_worlds`) where that is possible and by a random walk (`cut_walk`)
where it is not.
"""

__all__: list[str] = []
