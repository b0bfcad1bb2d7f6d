# SPDX-License-Identifier: Apache-2.0
"""Permutation: exact tuples, in groups inside which the sensitive values have changed places at random.

MINIMALITY 2.1: all quasi-identifiers and all sensitive values of a group are published, but not which belong together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from glasshouse.randomness import Source
from glasshouse.recoding.sides import Separated, Side, numbers
from glasshouse.release.layout import GROUP, PERMUTATION

if TYPE_CHECKING:
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.release.layout import Layout

__all__ = ["Permutation"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Permutation(Separated):
    """Publish one table of quasi-identifiers, group number and sensitive values, permuted inside every group.

    The two sides of a group are each put into a fresh uniformly random order: sorting both would invent a correlation.
    Of several sensitive columns each is permuted by itself. The table looks like the original one, and any tool reads
    it, but a row is not a person: only counts of a group mean something.

    Guarantee
    ---------
    As `Anatomy`, of which it is another writing: the same counts can be read from both.

    Cost
    ----
    O(n) and a sort inside every group; two draws a tuple.

    Examples
    --------
    >>> import numpy as np
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.anatomy_table1()
    >>> published = Permutation().recode(table, Groups(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2))["data"]
    >>> published.column_names, published["Group-ID"].to_pylist()
    (['Age', 'Sex', 'Zipcode', 'Group-ID', 'Disease'], [1, 1, 1, 1, 2, 2, 2, 2])
    """

    name: ClassVar[str] = PERMUTATION.name
    layout: ClassVar[Layout] = PERMUTATION

    def added(self) -> dict[str, str]:
        """Name the columns that are not the table's own, with what they mean."""
        return {
            GROUP: "number of the group, drawn at random: inside a group, sensitive values were permuted at random",
        }

    def theorem(self) -> str:
        """Say why what holds for the groups holds for what is published."""
        return "inside a group every way to match the two sides is equally likely (MINIMALITY 2.1)"

    def recode(
        self, table: Microdata, groups: Groups, *, source: Source | None = None, **_unused: object
    ) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table`` as one table; both sides of each group are shuffled by ``source``."""
        source = source or Source.secure()
        people = Side(table.quasi, groups)
        people.shuffle(source)
        shown = {**people.published(), GROUP: pa.array(numbers(groups))}
        for column in table.sensitive:
            values = Side([column], groups)
            values.shuffle(source)
            shown |= values.published()
        return {self.layout.people: pa.table(shown)}
