# SPDX-License-Identifier: Apache-2.0
"""What every recoding is: groups of a table in, published tables out, alike for isomorphic groups.

TRANSPARENT Definition 1 is the contract: at fixed groups the published tables depend on the groups' quasi-identifiers
and on the multiset of their sensitive values, never on who of a group has which value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from glasshouse.errors import NotSupported, SchemaError
from glasshouse.principles import AllOf, AlphaKAnonymity, KAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from glasshouse.microdata import Domain, Groups, Microdata
    from glasshouse.principles import Principle, Requirement
    from glasshouse.randomness import Source

__all__ = ["Recoding", "asked_of", "check_names", "check_sensitive", "largest_k", "refuse_k_anonymity"]


class Recoding(Protocol):
    """Rewrites groups; knows nothing of how they were made."""

    name: ClassVar[str]

    @property
    def shows_nodes(self) -> bool:
        """Whether cells are nodes of taxonomies, where there are some: others need the tree to read them."""
        ...

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Raise `NotSupported` if this cannot be published so, with what could be."""
        ...

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for whoever reads the release."""
        ...

    def added(self) -> Mapping[str, str]:
        """Name the columns that are not the table's own, with what they mean."""
        ...

    def theorem(self) -> str:
        """Say why what holds for the groups holds for what is published; empty where they are the same."""
        ...

    def limits(self) -> tuple[str, ...]:
        """Say what publishing in this way does not promise."""
        ...

    def recode(self, table: Microdata, groups: Groups, *, source: Source | None = None) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table``; group numbers are published as they come: draw them anew before."""
        ...


def check_sensitive(table: Microdata, owner: str) -> None:
    """Refuse a table without a sensitive column, where two sides are published apart."""
    if not table.sensitive:
        raise NotSupported(f"{owner} of a table without a sensitive column", instead="use the recoding 'boxes'")


def check_names(table: Microdata, added: Mapping[str, str], owner: str) -> None:
    """Refuse a table with a column of the same name as one that the recoding adds."""
    for column in (*table.quasi, *table.sensitive):
        if column.name in added:
            raise SchemaError(
                f"{owner} adds a column {column.name!r}, and the table has one of that name: rename the table's",
                column=column.name,
            )


def refuse_k_anonymity(requirement: Requirement, owner: str) -> None:
    """Refuse any promise of k-anonymity where exact quasi-identifiers are published."""
    if largest_k(requirement):
        raise NotSupported(
            f"k-anonymity with {owner}, which publishes exact quasi-identifiers",
            instead="use the recoding 'angel' or 'boxes', or ask for a principle on the sensitive values alone",
        )


def largest_k(requirement: Requirement) -> int:
    """The largest k of k-anonymity that is asked for, alone or within a combination; 0 if none is."""
    return max((p.k for p in asked_of(requirement) if isinstance(p, KAnonymity | AlphaKAnonymity)), default=0)


def asked_of(requirement: Requirement) -> list[Principle]:
    """All principles of a requirement, those within combinations one by one."""
    return [principle for part in requirement.parts for principle in _single(part.principle)]


def _single(principle: Principle) -> Iterator[Principle]:
    if isinstance(principle, AllOf):
        for inner in principle.principles:
            yield from _single(inner)
    else:
        yield principle
