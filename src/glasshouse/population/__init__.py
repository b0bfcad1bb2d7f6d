# SPDX-License-Identifier: Apache-2.0
"""What a release teaches about the population: one model, learned from the release alone.

`learn` fits how the sensitive value depends on the quasi-identifiers. The analyst answers questions by it, and the
attacker who learns forms probabilities for people by it.
"""
