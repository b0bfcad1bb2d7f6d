# SPDX-License-Identifier: Apache-2.0
"""Algorithms to practise attacks on: Vul-Gen and Mask, as TRANSPARENT prints them. Publish nothing with them.

Each is a function ``algorithm(table, rng)`` such as `exact_posterior` takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.engines import Memory
from glasshouse.errors import Infeasible, ParameterError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.microdata import Groups
from glasshouse.microdata.domains import Column, text_of
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.generalization import Boxes

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws

__all__ = ["Mask", "VulGen"]


@dataclass(frozen=True, kw_only=True, eq=False)
class VulGen:
    """TRANSPARENT Figure 1: a certain generalization for one table, and another for all others.

    It need not be minimal, and gives everybody away: a person who sees it knows the table.

    Parameters
    ----------
    special
        The one table.
    generalization
        The groups of it that are published, two or more. All other tables are published as one group.
    """

    special: Microdata
    generalization: Groups

    def __post_init__(self) -> None:
        if self.generalization.n_groups < 2:
            raise ParameterError("VulGen", "generalization", "two groups or more", self.generalization.n_groups)

    def __call__(self, table: Microdata, rng: Draws) -> dict[str, pa.Table]:
        """Publish boxes; nothing is random."""
        if _rows(table) == _rows(self.special):
            return Boxes().recode(self.special, self.generalization)
        return Boxes().recode(table, Groups(np.zeros(table.n_tuples, np.int32), 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Mask:
    """TRANSPARENT's electronic appendix, Figure 1 (after Wong et al. 2007): hide frequent values by changing them.

    A k-anonymous partition; every group with too many tuples of a designated value is given the distribution of
    sensitive values of another group, chosen at random among those without.

    What the figure leaves open: the partition is strict Mondrian's, by quasi-identifiers alone. Where the donor's
    distribution gives no whole numbers of tuples, the largest remainders are rounded up, and of equal ones those of the
    first values. Where no group can be a donor, nothing is published.

    Parameters
    ----------
    k, ell
        Least size of a group; a designated value may have one in ``ell`` tuples of it.
    designated
        The sensitive values to hide, V.

    Examples
    --------
    Ann is believed to have dyspepsia with probability 7/12, and 1/2 is what Mask was to ensure. Counting the eight
    worlds as equally likely to give the release, as the paper does, five have Ann with dyspepsia: 5/8.

    >>> from glasshouse.adversary.reverse_engineering.worlds.enumeration import exact_posterior
    >>> from glasshouse.adversary.reverse_engineering.worlds.replay import up_to_numbering
    >>> from glasshouse.microdata import examples
    >>> found = exact_posterior(
    ...     examples.transparent_t9(), Mask(k=2, ell=2, designated=["dyspepsia"]), examples.transparent_t10(),
    ...     values=["dyspepsia", "flu"], sensitive="Disease", seen=up_to_numbering
    ... )
    >>> found.of[0]["dyspepsia"], found.n_possible
    (Fraction(7, 12), 8)
    """

    k: int
    ell: int
    designated: Collection[Any]

    def __call__(self, table: Microdata, rng: Draws) -> dict[str, pa.Table] | None:
        """Publish boxes, with sensitive values changed where there were too many of one."""
        (column,) = table.sensitive
        try:
            requirement = Requirement.of(KAnonymity(k=self.k), table)
            requirement.check_eligible()
        except Infeasible:
            return None
        groups = Mondrian().divide(table, requirement, engine=Memory(threads=1))
        counts = groups.counts(column).dense
        hidden = [text_of(value) in set(map(text_of, self.designated)) for value in column.domain.values.to_pylist()]
        too_many = (counts[:, np.flatnonzero(hidden)] * self.ell > groups.sizes[:, np.newaxis]).any(axis=1)
        donors = np.flatnonzero(~too_many)  # P_2
        if not len(donors):
            return None
        codes = column.codes.copy()
        for group in np.flatnonzero(too_many):  # P_1
            donor = counts[donors[rng.below(len(donors))]]
            codes[groups.labels == group] = _distributed(donor, int(groups.sizes[group]))
        return Boxes().recode(replace(table, sensitive=(Column(column.domain, codes),)), groups)


def _distributed(counts: NDArray[np.int64], size: int) -> list[int]:
    """So many codes, distributed like the counts."""
    wanted = [Fraction(count * size, int(counts.sum())) for count in counts.tolist()]
    given = [int(share) for share in wanted]
    by_remainder = sorted(range(len(wanted)), key=lambda code: given[code] - wanted[code])
    for code in by_remainder[: size - sum(given)]:
        given[code] += 1
    return [code for code, count in enumerate(given) for _ in range(count)]


def _rows(table: Microdata) -> list[tuple[str, ...]]:
    """Everything that a table says of its people, in no order."""
    columns = [column.domain.decode(column.codes).to_pylist() for column in (*table.quasi, *table.sensitive)]
    names = [] if table.identifier is None else [table.identifier.to_pylist()]
    return sorted(tuple(map(text_of, row)) for row in zip(*names, *columns, strict=True))
