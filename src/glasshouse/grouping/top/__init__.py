# SPDX-License-Identifier: Apache-2.0
"""The top of a division: kinds of people are divided, as counts, into pieces that are small enough to become rows.

`piece` is what is left to do, `division` what comes of it. `nodes` halves kinds by the rule of Mirror and Sift; `plans`
cuts into pieces what is dealt out by sensitive values alone. A method says in its own file which of them it uses.
"""

__all__: list[str] = []
