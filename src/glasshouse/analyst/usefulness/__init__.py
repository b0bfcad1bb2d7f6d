# SPDX-License-Identifier: Apache-2.0
"""How useful a release is: workloads of questions, losses of information, distances from the truth."""

__all__: list[str] = []
