# SPDX-License-Identifier: Apache-2.0
"""What the published cells of a release stand for.

A cell is a text; the room of cells has its grammar. Here it becomes a set of values: a support, which tells how likely
a record of the cell is to have some of them, or points on an axis. `evidence` reads the cells of a whole release.
"""
