# SPDX-License-Identifier: Apache-2.0
"""Anatomy: exact quasi-identifiers in one table, sensitive values in another, and only the group number in both.

Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006 (ANATOMY), Definition 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from glasshouse.recoding.generalization import sensitive_tables
from glasshouse.recoding.sides import Separated, Side, numbers
from glasshouse.release.layout import ANATOMY, COUNT, GROUP

if TYPE_CHECKING:
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.release.layout import Layout

__all__ = ["Anatomy"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Anatomy(Separated):
    """Publish a quasi-identifier table (QIT) and a sensitive table (ST) for each sensitive column.

    The QIT has every tuple's exact quasi-identifiers and the number of its group, the ST how often each sensitive value
    occurs in each group. Rows are sorted by group number, then by value.

    Guarantee
    ---------
    What the grouping guarantees for sensitive values: a tuple of a group has a value with the frequency that the ST
    shows (ANATOMY Corollary 1), for a person as for a tuple (Theorem 1). Exact quasi-identifiers tell who is in the
    table and who is not (Section 3.3), so k-anonymity is refused.

    Cost
    ----
    O(n) and a sort inside every group; 20 bytes a tuple.

    Examples
    --------
    ANATOMY Tables 3a and 3b:

    >>> import numpy as np
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.anatomy_table1()
    >>> published = Anatomy().recode(table, Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2))
    >>> published["qit"].slice(0, 2).to_pylist()
    [{'Age': 23, 'Sex': 'M', 'Zipcode': 11000, 'Group-ID': 1}, {'Age': 27, 'Sex': 'M', 'Zipcode': 13000, 'Group-ID': 1}]
    >>> published["st"].slice(0, 2).to_pylist()
    [{'Group-ID': 1, 'Disease': 'dyspepsia', 'Count': 2}, {'Group-ID': 1, 'Disease': 'pneumonia', 'Count': 2}]
    """

    name: ClassVar[str] = ANATOMY.name
    layout: ClassVar[Layout] = ANATOMY

    def added(self) -> dict[str, str]:
        """Name the columns that are not the table's own, with what they mean."""
        return {
            GROUP: "number of the group, drawn at random: a tuple of the group has a value of the same group",
            COUNT: "how many tuples of the group have the value",
        }

    def theorem(self) -> str:
        """Say why what holds for the groups holds for what is published."""
        return "the two tables tell of a group's sensitive values no more than their counts (ANATOMY Theorem 1)"

    def recode(self, table: Microdata, groups: Groups, **_unused: object) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table`` as QIT and ST; nothing is random, group numbers are taken as they come."""
        people = pa.table({**Side(table.quasi, groups).published(), GROUP: numbers(groups)})
        return {self.layout.people: people, **sensitive_tables(table.sensitive, groups, self.layout)}
