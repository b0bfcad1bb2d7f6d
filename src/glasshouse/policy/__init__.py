# SPDX-License-Identifier: Apache-2.0
"""Policies: everything that publishing a table needs, in one file that a team can review and keep with its code.

`policy` reads a file (`document`), checks its `keys`, and makes `choices` of them, as the command line does of its
options (`option_text`); `first_policy` writes one from an inspection. `policy_text`, `command_line` and `python_call`
write choices as the policy, the command and the program that make the same of them.
"""

from __future__ import annotations

from glasshouse.policy.first_policy import policy_from
from glasshouse.policy.policy import Policy, load_policy

__all__ = ["Policy", "load_policy", "policy_from"]
