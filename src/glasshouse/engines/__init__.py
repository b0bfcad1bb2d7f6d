# SPDX-License-Identifier: Apache-2.0
"""Where the work runs: a method asks its engine to count, split and visit; an engine never knows a method."""

from glasshouse.engines.memory import Cuts, Memory, Nodes, Points, Rows, is_crowded

__all__ = ["Cuts", "Memory", "Nodes", "Points", "Rows", "is_crowded"]
