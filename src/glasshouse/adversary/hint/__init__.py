# SPDX-License-Identifier: Apache-2.0
"""The attacker with a hint: what a release tells an attacker who already knows a little about the population.

`hint` is the attack. `signs` turns what is known into chances of values for everybody, `seating` finds who sits in
which group, also by the ends of boxes, and `slices` adds the evidence of all groups of a bucket up. `hint_cost`
counts right guesses beside those of somebody who knows the same and has no release, and `hint_posterior` holds what
comes out.
"""
