# SPDX-License-Identifier: Apache-2.0
"""The verbs of the package: each is one journey through the rooms below."""

from glasshouse.journeys.verify import verify

__all__ = ["verify"]
