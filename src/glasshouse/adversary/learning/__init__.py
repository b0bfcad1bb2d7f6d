# SPDX-License-Identifier: Apache-2.0
"""The attacker who learns: probabilities for people by what a release teaches of the population.

`definetti` is the attack. `group_beliefs` and `sample_beliefs` reason about everybody from the two kinds of releases,
with `even_seating` where cells overlap,
`people_points` applies the model to the quasi-identifiers of people, `cost` measures from the inside what being in the
table costs a person, in `guesses`, and `learned_posterior` holds what comes out.
"""
