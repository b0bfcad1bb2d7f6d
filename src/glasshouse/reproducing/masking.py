# SPDX-License-Identifier: Apache-2.0
"""Mask: sensitive values of groups that are not l-diverse are overwritten. A competitor, for its figures alone.

Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007, as TRANSPARENT's appendix has
it (its Figure 1). It publishes values that nobody has, so it is no method of this library. What the papers leave open:
V, the values to protect, are all of them; k is l, as in TRANSPARENT 4.1; the k-anonymous partition is Mondrian's; and a
group takes the distribution of one of another size by as evenly spaced a choice of its values as there is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.engines import Memory
from glasshouse.errors import Infeasible
from glasshouse.grouping import Mondrian
from glasshouse.principles import KAnonymity, Requirement
from glasshouse.principles.adversaries import Adversary, Claim

if TYPE_CHECKING:
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.randomness import Source

__all__ = ["Made", "mask"]


def mask(table: Microdata, ell: int, *, source: Source, threads: int = 0) -> tuple[Microdata, Groups]:
    """Divide a table by quasi-identifiers alone, and overwrite the sensitive values of groups that are not l-diverse.

    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(400, seed=1)
    >>> masked, groups = mask(table, 2, source=gh.Source.seeded(1))
    >>> bool(groups.sizes.min() >= 2), masked.n_tuples
    (True, 400)
    """
    requirement = Requirement.of(KAnonymity(k=ell), table)
    requirement.check_eligible()
    groups = Mondrian().divide(table, requirement, source=source, engine=Memory(threads=threads))  # line 1
    column = table.sensitive[0]
    most = _most_frequent(groups, column.codes, column.domain.size)
    spoiled = np.flatnonzero(most * ell > groups.sizes)  # P1, lines 3 to 6
    models = np.flatnonzero(most * ell <= groups.sizes)  # P2
    if not len(models):
        raise Infeasible(f"Mask at l = {ell}: no group of {ell} or more is l-diverse, so there is none to imitate")
    chosen = models[source.child("mask").belows(len(models), len(spoiled))]  # line 8
    order = np.lexsort((column.codes, groups.labels))
    sizes, starts = groups.sizes[spoiled], groups.offsets[spoiled]
    owner = np.repeat(np.arange(len(spoiled)), sizes)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    model = chosen[owner]
    taken = groups.offsets[model] + (2 * step + 1) * groups.sizes[model] // (2 * sizes[owner])
    codes = column.codes.copy()
    codes[order[starts[owner] + step]] = column.codes[order[taken]]  # line 9
    return replace(table, sensitive=(replace(column, codes=codes),)), groups


def _most_frequent(groups: Groups, codes: Any, n_values: int) -> Any:
    """How often the most frequent value of every group occurs."""
    pairs, times = np.unique(groups.labels.astype(np.int64) * n_values + codes, return_counts=True)
    most = np.zeros(groups.n_groups, np.int64)
    np.maximum.at(most, pairs // n_values, times)
    return most


@dataclass(frozen=True, eq=False)
class Made:
    """A method whose groups are made already, so that they can be published like any other's."""

    name: ClassVar[str] = "mask"
    looks_at: ClassVar[str] = "both"
    randomised: ClassVar[bool] = True

    groups: Groups

    def claim(self, requirement: Requirement) -> Claim:
        """Nothing is promised but what is recounted."""
        del requirement
        return Claim(adversary=Adversary.LINKING, theorem="recounted from the published tables", limits=())

    def divide(self, table: Microdata, requirement: Requirement, **_given: Any) -> Groups:
        """The groups."""
        del table, requirement
        return self.groups

    def to_data(self) -> dict[str, Any]:
        """Its name."""
        return {"name": self.name}
