# SPDX-License-Identifier: Apache-2.0
"""The verbs of the package: publish, verify, load, attack, evaluate. Each calls one room after the other."""

__all__: list[str] = []
