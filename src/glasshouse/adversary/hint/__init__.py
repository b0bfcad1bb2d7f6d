# SPDX-License-Identifier: Apache-2.0
"""The hint adversary: what a release tells an attacker who knows a little about the population beforehand.

`hint` is the attack. `signs` turns what is known into chances of values for everybody, `seating` finds who sits in
which group, also by the ends of boxes, and `slices` adds the evidence of all groups of a bucket up. `hint_cost`
counts right guesses beside those of somebody who knows the same and has no release, and `hint_posterior` holds what
comes out.
"""
