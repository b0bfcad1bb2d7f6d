# SPDX-License-Identifier: Apache-2.0
"""Who uses it: questions about the population, answered from a release with error bars; samples, losses, trees."""

from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.usefulness.workloads import Workload

__all__ = ["Estimate", "Workload"]
