# SPDX-License-Identifier: Apache-2.0
"""The plan of a release: all that is decided before people are divided, from how many there are of each kind.

Every engine begins with it: who is kept, what groups must satisfy, by which method and recoding, and what is claimed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.errors import DisclosureWarning, Infeasible
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.cuts.snug import Snug
from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.grouping.sift.sift import Sift
from glasshouse.grouping.suppression import keep_by_lot, keep_eligible
from glasshouse.log import step
from glasshouse.principles.parameters import exact_share
from glasshouse.principles.principle import Adversary, Principle, Requirement
from glasshouse.recoding.angel import Angel
from glasshouse.recoding.generalization import Boxes
from glasshouse.recoding.perturbed import Perturbed
from glasshouse.release import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Claim
    from glasshouse.randomness import Source
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Guarantee

__all__ = ["Plan", "default_method", "default_recoding", "plan_of", "recipe_of", "spelled", "unused_taxonomies"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What is decided of a release before people are divided.

    Parameters
    ----------
    kinds
        The kinds of everybody who is kept.
    kept
        How many people are kept of each kind that the table had.
    n_whole
        How many people the table had.
    principle, requirement, claim
        What is asked for, what every group must satisfy, and what is claimed of the release.
    method, recoding
        How people are divided and groups rewritten, every parameter fixed.
    suppress
        Largest share of people that may be dropped before the table is divided.
    n_by_lot
        How many people were left out by lot, as the method asks.
    """

    kinds: Kinds
    kept: NDArray[np.int64]
    n_whole: int
    principle: Principle | Mapping[str, Principle]
    requirement: Requirement
    claim: Claim
    method: Method
    recoding: Recoding
    suppress: Any
    n_by_lot: int = 0

    @property
    def n_dropped(self) -> int:
        """How many people were dropped before the others are divided."""
        return self.n_whole - self.kinds.n_people

    @property
    def n_suppressed(self) -> int:
        """How many people were dropped so that the others can satisfy the principle."""
        return self.n_dropped - self.n_by_lot

    def recipe(self, source: Source) -> Recipe:
        """How the release is made, as plain data."""
        return recipe_of(self.kinds.table, self.principle, self.method, self.recoding, self.suppress, source)

    def guarantee(self, *, identified: bool) -> Guarantee:
        """What is promised; ``identified`` if an identifier was declared, so that nobody has two rows."""
        return self.recoding.guarantee(
            self.requirement,
            self.claim,
            n_sensitive=len(self.kinds.table.sensitive),
            n_whole=self.n_whole,
            n_suppressed=self.n_suppressed,
            identified=identified,
            compound=[[part.name for part in c.domain.parts] for c in self.kinds.table.sensitive if c.domain.parts],
        )


def plan_of(
    kinds: Kinds,
    principle: Principle | Mapping[str, Principle],
    method: Method | None,
    recoding: Recoding | None,
    suppress: Any,
    source: Source,
) -> Plan:
    """Decide what can be decided from counts; what was declared must have the table's spelling (`spelled`).

    An `Infeasible` that it raises keeps what was counted.
    """
    try:
        return _plan_of(kinds, principle, method, recoding, suppress, source)
    except Infeasible as error:
        error.counted = (kinds, principle)
        raise


def _plan_of(
    kinds: Kinds,
    principle: Principle | Mapping[str, Principle],
    method: Method | None,
    recoding: Recoding | None,
    suppress: Any,
    source: Source,
) -> Plan:
    with step("eligible", rows=kinds.n_people):
        exact_share(suppress)  # refused before the work, not after it
        requirement = Requirement.in_groups(principle, kinds.table, counts=kinds.counts)
        kept = kinds.counts
        left = kinds
        if requirement.first_ineligible() is not None:
            kept = keep_eligible(kinds, principle, suppress, source)
            left = kinds.there(kept)
            requirement = Requirement.in_groups(principle, left.table, counts=left.counts)
            requirement.check_eligible()
    method, recoding, claim = _settled(method, recoding, requirement, left.table)
    staying = keep_by_lot(left, method, requirement, source) if method.jointly(requirement) else left.counts
    n_by_lot = left.n_people - int(staying.sum())
    if n_by_lot:
        kept = kept.copy()
        kept[kept > 0] = staying
        left = left.there(staying)
        requirement = Requirement.in_groups(principle, left.table, counts=left.counts)
    return Plan(
        kinds=left,
        kept=kept,
        n_whole=kinds.n_people,
        principle=principle,
        requirement=requirement,
        claim=claim,
        method=method,
        recoding=recoding,
        suppress=suppress,
        n_by_lot=n_by_lot,
    )


def spelled(
    principle: Principle | Mapping[str, Principle], recoding: Recoding | None, table: Microdata
) -> tuple[Principle | Mapping[str, Principle], Microdata]:
    """Give declared values and read values the same spelling, where look-alikes are one value."""
    table = table if recoding is None else recoding.spelled(table)
    singles = {column.name: column.domain.singles for column in table.sensitive}
    domains = {name: domain for name, domain in singles.items() if domain.normalised}
    if isinstance(principle, Mapping):
        each = {name: one.spelled_as(domains[name]) if name in domains else one for name, one in principle.items()}
        return each, table
    for domain in domains.values():
        if isinstance(principle, Principle):
            principle = principle.spelled_as(domain)
    return principle, table


def _settled(
    method: Method | None, recoding: Recoding | None, requirement: Requirement, table: Microdata
) -> tuple[Method, Recoding, Claim]:
    """Method and recoding with every parameter fixed, and what is claimed of the release."""
    recoding = default_recoding(requirement) if recoding is None else recoding
    method = default_method(requirement, recoding) if method is None else method
    recoding = recoding.settle(requirement, method, table)
    recoding.check(table, requirement)
    claim = recoding.claimed(method.claimed(requirement), requirement, [column.name for column in table.sensitive])
    if claim.adversary is Adversary.LINKING:
        what = f"the release promises {claim.promise}" if claim.promise else _attackable(method)
        warnings.warn(what, DisclosureWarning, stacklevel=6)
    elif method.independent(requirement) == "buckets":
        warnings.warn(_tied(method), DisclosureWarning, stacklevel=6)
    for part in requirement.parts:
        close = any(one.terms.closeness is not None for one in part.principle.singles())
        if close and part.column is not None and part.whole.distinct[0] == 1:
            who = "the table has one record" if part.whole.sizes[0] == 1 else "everybody has the same value"
            warnings.warn(
                f"{part.principle.title} protects nobody's {part.column.name} here: {who}, and the release shows "
                "the value of everybody in the table. Leave the column out if it must not be known",
                DisclosureWarning,
                stacklevel=6,
            )
    return method, recoding, claim


def default_method(requirement: Requirement, recoding: Recoding) -> Method:
    """The method where none is named: the safest there is for what is asked.

    For l-diversity of one column Sift, which protects against an attacker who knows it and a little about people. Where
    cells enclose whole groups and l is 3 or more, Mirror, whose cells are smaller, and which protects against such an
    attacker with a weaker bound. Under other principles that judge sensitive values Mirror, which protects against an
    attacker who knows it, and of several sensitive columns jointly where the recoding publishes each of them apart.
    For k-anonymity alone Snug, which then looks at no sensitive value, so that knowing it tells nothing either. For
    perturbed generalization Mondrian, whose boxes are disjoint.
    """
    if requirement.target is not None:
        return Mondrian()
    ell = requirement.frequency_ell
    if ell is not None and (ell == 2 or not recoding.layout.around_groups):
        return Sift()
    if not requirement.columns:
        return Snug()
    return Mirror() if recoding.columns_apart else Mirror(leave_out=None)


def default_recoding(requirement: Requirement) -> Recoding:
    """The recoding where none is named.

    ANGEL for l-diversity, with k = l: batches hide the values, buckets hide who is there; with several sensitive
    columns each has its own l, k is the largest, and every column has a table of its own. Perturbed generalization for
    bounds on an attacker's probabilities. Boxes for anything else.
    """
    if requirement.target is not None:
        return Perturbed()
    terms = [part.principle.terms for part in requirement.parts]
    return Angel() if all(one.one_in is not None and not one.named for one in terms) else Boxes()


def _attackable(method: Method) -> str:
    return (
        f"an attacker who knows that the method {method.name!r} was used may learn more than the guarantee allows: "
        "leave the method out, and the default one also protects against such an attacker"
    )


def _tied(method: Method) -> str:
    return (
        f"what is learned about one group of the method {method.name!r} says something about other groups: an attacker "
        "who knows, for example, that a value is more frequent among older people can infer the values of nearly "
        "everybody. The method 'sift' does not have this weakness"
    )


def recipe_of(
    table: Microdata,
    principle: Principle | Mapping[str, Principle],
    method: Method,
    recoding: Recoding,
    suppress: Any,
    source: Source,
) -> Recipe:
    """Describe how a release is made, as plain data."""
    return Recipe(
        principle=catalog.principle_to_data(principle, [column.name for column in table.sensitive]),
        method=catalog.to_data(method),
        recoding=catalog.to_data(recoding),
        quasi=tuple(column.name for column in table.quasi),
        sensitive=tuple(column.name for column in table.sensitive),
        suppress=str(exact_share(suppress)),
        seeded=source.is_seeded,
    )


def unused_taxonomies(table: Microdata, recipe: Recipe) -> tuple[str, ...]:
    """A note on declared taxonomies that are not visible in a release, and on what would make use of them.

    >>> import glasshouse as gh
    >>> table = gh.read({"zip": [2139, 2141, 2142], "ill": ["flu", "gout", "flu"]}, quasi=["zip"], sensitive="ill",
    ...                 taxonomies={"zip": "prefix:5"})
    >>> print(*unused_taxonomies(table, gh.publish(table, principle="2-anonymity").recipe))
    zip: the taxonomy is not used, because the recoding 'boxes' does not show its nodes; use recoding='taxonomies', ...
    """
    if recipe.recoding.get("name") not in catalog.RECODINGS:  # of another tool
        return ()
    trees = {column.name for column in (*table.quasi, *table.sensitive) if column.domain.taxonomy is not None}
    recoding = catalog.recoding_of(recipe)
    told = []
    hidden = [column.name for column in table.quasi if column.name in trees and not recoding.shows_nodes]
    if hidden:
        told.append(
            f"{', '.join(hidden)}: the taxonomy is not used, because the recoding {recoding.name!r} does not show its "
            "nodes; use recoding='taxonomies', or recoding={'name': 'angel', 'cells': 'taxonomies'}"
        )
    by_column = recipe.principle.get("columns", {})
    idle = [
        column.name
        for column in table.sensitive
        if column.name in trees and not _measures_along(by_column.get(column.name, recipe.principle))
    ]
    if idle:
        told.append(
            f"{', '.join(idle)}: the taxonomy is not used; for a sensitive column only t-closeness with the "
            "hierarchical distance uses it"
        )
    return tuple(told)


def _measures_along(principle: Mapping[str, Any]) -> bool:
    """Whether a principle, or a part of it, uses a taxonomy."""
    return principle.get("distance") == "hierarchical" or any(map(_measures_along, principle.get("principles", ())))
