# SPDX-License-Identifier: Apache-2.0
"""What every recoding is: groups of a table in, published tables out, alike for isomorphic groups.

TRANSPARENT Definition 1 is the contract: at fixed groups the published tables depend on the groups' quasi-identifiers
and on the multiset of their sensitive values, never on who of a group has which value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from glasshouse.errors import NotSupported, SchemaError
from glasshouse.plural import counted
from glasshouse.principles.principle import NOT_AGAINST, NOT_WITHOUT_VALUES
from glasshouse.release.layout import PART_ROWS
from glasshouse.release.release import ONE_ROW_PER_PERSON, Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    import pyarrow as pa

    from glasshouse.microdata import Domain, Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Claim, Requirement
    from glasshouse.randomness import Source
    from glasshouse.recoding.parts.table_in_parts import TableInParts
    from glasshouse.release.layout import Layout

    Divide: TypeAlias = Callable[[Microdata, Requirement], Groups]
    DivideKinds: TypeAlias = Callable[[Kinds, Requirement], Groups]

__all__ = ["EXACT", "JOINTLY", "KNOWN_NUMBERS", "RELATED", "PeopleTable", "Recoding", "check_names", "check_sensitive"]

EXACT = "the quasi-identifiers are published exactly: anybody can see who is in the table and who is not"
"What is not guaranteed where that is so."


KNOWN_NUMBERS = (
    "an attacker who knows how many rows or how many different values a person has can learn more, because this "
    "rules out sets of other sizes"
)
"What is not guaranteed where values are sets."

RELATED = (
    "an attacker who knows that several people have the same sensitive value, such as the members of a family, can "
    "learn more: each person is protected separately, so if their groups have only one value in common, all of them "
    "must have this value"
)
"What is not guaranteed to people who are related, where every record is one person."

JOINTLY = (
    "; nobody's value of any of these columns can be inferred with a higher probability, even by an attacker who also "
    "knows everybody's other sensitive columns, or how the columns depend on each other"
)
"What is also guaranteed where sensitive columns are protected jointly."


class Divided(Protocol):
    """What a recoding asks of the method that makes its groups."""

    @property
    def disjoint(self) -> bool:
        """Whether the boxes of its groups are disjoint."""


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class PeopleTable:
    """A published table whose rows are people, as seen by a person who knows who is in which group.

    Parameters
    ----------
    name
        Its name.
    quasi
        The quasi-identifiers that it shows.
    groups
        Whose cells a person's row shows: the group, or the bucket, of everybody.
    numbered
        Whether rows have the number of the person's group.
    """

    name: str
    quasi: tuple[str, ...]
    groups: Groups
    numbered: bool


class Recoding:
    """Rewrites groups; does not depend on how they were made.

    Recodings are frozen dataclasses. Each has a name, by which recipes call it, and a layout, by which its tables are
    written and read.
    """

    __slots__ = ()

    name: ClassVar[str]
    in_words: ClassVar[str]  # what it does, told in a report to somebody who has read none of the papers
    layout: ClassVar[Layout]

    @property
    def columns_apart(self) -> bool:
        """Whether the published tables show nothing about how the sensitive columns of a group are related."""
        return self.layout.columns_apart

    @property
    def shows_exact(self) -> bool:
        """Whether cells of quasi-identifiers are the values themselves."""
        return self.layout.exact

    @property
    def shows_nodes(self) -> bool:
        """Whether cells are nodes of taxonomies, if there are any: readers then need the tree."""
        return False

    def spelled(self, table: Microdata) -> Microdata:
        """The table, spelled as the recoding declares, where look-alikes are one value."""
        return table

    def settle(self, requirement: Requirement, method: Divided, table: Microdata) -> Self:
        """The recoding with every parameter fixed: open ones follow from the guarantee."""
        if requirement.target is not None:
            raise NotSupported(
                f"{requirement.target.title} cannot be guaranteed with the recoding {self.name!r}",
                instead="use the recoding 'perturbed'",
            )
        return self.resolved(requirement)

    def resolved(self, requirement: Requirement) -> Self:
        """The recoding with open parameters fixed by the requirement for groups."""
        return self

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Raise `NotSupported` if the table cannot be published in this form, with an alternative."""

    def claimed(self, claim: Claim, requirement: Requirement, sensitive: Sequence[str]) -> Claim:
        """The guarantee of the release: that of the method for its groups, unless the recoding guarantees more."""
        return claim

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for people who read the release."""
        raise NotImplementedError

    def sensitive_meaning(self) -> str:
        """Say what a published sensitive value means."""
        return "exact value; empty if missing"

    def added(self) -> Mapping[str, str]:
        """The names of the columns that are not in the table, with their meanings."""
        return {}

    def theorem(self) -> str:
        """Say why what holds for the groups holds for what is published; empty where they are the same."""
        return ""

    def limits(self) -> tuple[str, ...]:
        """Say what this form of publication does not guarantee."""
        return ()

    def guarantee(
        self,
        requirement: Requirement,
        claim: Claim,
        *,
        n_sensitive: int,
        n_whole: int,
        n_suppressed: int,
        identified: bool,
        compound: Sequence[Sequence[str]] = (),
    ) -> Guarantee:
        """Compose the guarantee: the principle's words, the claims of method and recoding, facts about the table.

        Parameters
        ----------
        requirement, claim
            What is asked of the groups, and what is claimed of the release.
        n_sensitive
            How many sensitive columns are published.
        n_whole, n_suppressed
            How many records the table has, and how many of them were suppressed before it was divided.
        identified
            Whether an identifier was declared, so that nobody has two rows.
        compound
            Of every compound column the names of its parts.
        """
        assumptions = [*([] if identified else [ONE_ROW_PER_PERSON]), *claim.assumptions]
        people = [
            *([KNOWN_NUMBERS] if requirement.sets else []),
            *([RELATED] if requirement.columns and identified else []),
        ]
        own = claim.limits if n_sensitive else _without_values(claim)
        limits = [*own, *people, *self.limits()]
        promise, theorems = claim.promise or requirement.describe(), [claim.theorem, self.theorem()]
        if n_sensitive > 1 and claim.jointly and self.columns_apart:
            promise += JOINTLY
            theorems.append(
                "Theorem J1: how probable it is that exactly these groups are formed depends on each sensitive column "
                "by itself, and each column is published separately"
            )
            limits.append(
                "an attacker who knows the values of people in other sensitive columns, and also knows how the columns "
                "depend on each other, can learn more, but only from a person's own group"
            )
        elif n_sensitive > 1:
            limits.append(
                "each sensitive column is protected by itself: nothing is guaranteed about what several columns "
                "reveal together"
            )
        limits += [
            (
                f"{' and '.join(parts)} are published and protected as a combination, not each column alone: all "
                "people of a group may have the same value of one of them"
            )
            for parts in compound
        ]
        if n_suppressed:
            limits.append(
                f"{n_suppressed:,} of {counted(n_whole, 'record')} {'was' if n_suppressed == 1 else 'were'} left out, "
                "chosen at random among those with the most frequent sensitive values. Nothing is guaranteed for "
                "people who were left out: if an attacker knows that a person is in the table but not in the release, "
                "the attacker knows that the person has such a value; and a person who is only known to be in the "
                "table may have been left out"
            )
        return Guarantee(
            promise=promise,
            adversary=claim.adversary.value,
            adversary_knows=claim.adversary.knows,
            theorem="; ".join(text for text in theorems if text),
            assumptions=tuple(assumptions),
            limits=tuple(limits),
        )

    def recode(
        self, table: Microdata, groups: Groups, *, source: Source | None = None, divide: Divide | None = None
    ) -> dict[str, pa.Table]:
        """Rewrite ``groups`` of ``table``; group numbers are published as they come: draw them anew before.

        Parameters
        ----------
        table, groups
            The microdata and their groups.
        source
            Of random choices; by default the operating system's secure source.
        divide
            How a recoding that needs further groups makes them, under a requirement.
        """
        raise NotImplementedError

    def of_people(self, table: Microdata, groups: Groups, divide: Divide | None = None) -> tuple[PeopleTable, ...]:
        """The published tables whose rows are people: for internal users, who want to see a person's row.

        ``table``, ``groups`` and ``divide`` are those of `recode`.
        """
        quasi = tuple(column.name for column in table.quasi)
        numbered = self.layout.number is not None
        return (PeopleTable(name=self.layout.people, quasi=quasi, groups=groups, numbered=numbered),)

    def buckets_of_points(self, kinds: Kinds, divide: DivideKinds) -> list[Groups] | None:
        """The buckets of each table, as a label for each point of ``kinds``; None for a recoding without buckets.

        ``divide`` gives a label for each of some kinds, by their quasi-identifiers alone.
        """
        return None

    def in_parts(
        self, kinds: Kinds, *, part_rows: int = PART_ROWS, buckets: Sequence[Groups] | None = None
    ) -> tuple[TableInParts, ...]:
        """The published tables in parts, in the order in which `recode` gives them; see `glasshouse.recoding.parts`.

        Laid end to end, the parts of a table are what `recode` gives.

        Parameters
        ----------
        kinds
            The kinds of everybody who is published.
        part_rows
            A table of more rows has several parts, of about so many rows each.
        buckets
            For a recoding with buckets, those of each table: a label for each point of ``kinds``.
        """
        raise NotSupported(
            f"the tables of the recoding {self.name!r} cannot be written in parts",
            instead="publish the table as a whole",
        )


def _without_values(claim: Claim) -> tuple[str, ...]:
    """The limits of a claim where no sensitive values are published, so that nobody knows more or less of them."""
    return (*NOT_WITHOUT_VALUES, *(limit for limit in claim.limits if limit not in NOT_AGAINST))


def check_sensitive(table: Microdata, owner: str) -> None:
    """Refuse a table without a sensitive column, for recodings that publish two separate sides."""
    if not table.sensitive:
        raise NotSupported(f"{owner} needs a table with a sensitive column", instead="use the recoding 'boxes'")


def check_names(table: Microdata, added: Mapping[str, str], owner: str) -> None:
    """Refuse a table that has a column with the name of one that the recoding adds."""
    for column in (*table.quasi, *table.sensitive):
        if column.name in added:
            raise SchemaError(
                f"{owner} adds a column {column.name!r}, but the table has one too: rename the column of the table",
                column=column.name,
            )
