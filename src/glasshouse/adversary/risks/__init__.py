# SPDX-License-Identifier: Apache-2.0
"""The three risks that regulators ask about: singling out, linkability and inference (WP216).

Each is a `risk_attack.RiskAttack`, which gives a `risk.MeasuredRisk` in place of probabilities: how often the attack
succeeds on the people who were published, how often a naive guess does, and how often the attack succeeds on people who
were not published. `predicates` reads off a release what singles people out.
"""
