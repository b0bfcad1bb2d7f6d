# SPDX-License-Identifier: Apache-2.0
"""Answers: what a release says of the population, with error bars.

`query` and `workload_answers` answer questions; `estimates` tells what a count is expected to be and how far off it may
be.
"""

__all__: list[str] = []
