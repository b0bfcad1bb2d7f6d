# SPDX-License-Identifier: Apache-2.0
"""Who uses it: questions about the population, answered from a release with error bars; samples, losses, trees."""

__all__: list[str] = []
