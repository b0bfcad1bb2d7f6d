# SPDX-License-Identifier: Apache-2.0
"""Tools for analysts: questions answered from a release with error bars; samples, measures of loss, decision trees.

`questions` reads what is asked, `answers` finds what a release says to it, `usefulness` measures what a release is
worth, `trees` learns from perturbed samples.
"""

from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.usefulness.workloads import Workload

__all__ = ["Estimate", "Workload"]
