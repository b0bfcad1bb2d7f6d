# SPDX-License-Identifier: Apache-2.0
"""Attacks: what an attacker has, how the attacker reasons, and the resulting probabilities for everybody.

`journeys.attack` calls the `attack` of one of the classes below with a release, never with the microdata. Each makes a
`task.Task` of the release and the `knowledge`, finds who fits which cells (`matching`, by `cell_codes`), and gives a
`posterior.Posterior`. What several attacks need lies here: `permanents` counts ways to share things out, `sampling`
draws worlds where there are too many, `dropped_people` accounts for people who were dropped.

`learning` has the attacker who learns a model of the population from the release, and uses it.

The attacks in `risks` give a `MeasuredRisk` instead: with the table at hand, the steward counts how often an
attacker would be right.
"""

__all__: list[str] = []
