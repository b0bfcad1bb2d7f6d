# SPDX-License-Identifier: Apache-2.0
"""What anatomy, permutation and ANGEL publish, as recodings that `by_force` runs.

A `Publish` is a slow twin of a recoding: numbered groups of a table in, published tables out. Each row is the number of
its group (None where the table has no such column) and the rest of the row.

**Why numbers are left out.** Numbers are a fresh uniform relabelling, drawn whatever the world is. So a world that may
give a content (the tables up to renumbering) gives each of its numberings equally often, and how many different
numberings a content has depends on the content alone. The likelihoods of a numbered release are therefore those of its
content, all divided by one number; and beliefs, in which that number cancels, are the same. `in_random_order` merges
the numberings, and costs one release where `in_every_order` lists m! of them; tests compare the two. Where numbers are
*not* fresh, as in `in_creation_order`, contents may not be merged, and beliefs may be higher.

**What a content is.** Nothing but the number links a row to another one. So the content of a release is, for every
group, the multisets of rows that it has in each table; and all this without an order of groups. Two releases have the
same content exactly if renumbering makes the one from the other.

Rows have no order here: a recoding that lets the order of rows tell anything is not one of these. The door for the
product's own recodings (tests/rooms/recoding) keeps rows as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from tests.twins import anatomy, angel, by_force
from tests.twins.by_force import Codes, Recode, Release
from tests.twins.mondrian import strict

__all__ = [
    "RECODINGS",
    "Publish",
    "anatomized",
    "angelized",
    "buckets",
    "content",
    "in_creation_order",
    "in_every_order",
    "in_random_order",
    "permuted",
    "two_marginals",
    "with_one_marginal",
]

Tuple = tuple[tuple[int, ...], int]
Groups = Sequence[Collection[int]]
Table = list[tuple[int | None, Any]]  # the number of the group, and the rest of the row
Publish = Callable[[Sequence[Tuple], Groups], Any]  # tables, or [(probability, tables)] if it is random
Marginal = tuple[Sequence[int] | None, int]  # its attributes (None for all), and k


# --- slow twins ------------------------------------------------------------------------------------------------------


def anatomized(tuples: Sequence[Tuple], groups: Groups) -> list[Table]:
    """QIT and ST."""
    return [
        [(j, cells) for cells, j in anatomy.qit(tuples, groups)],
        [(j, (value, count)) for j, value, count in anatomy.st(tuples, groups)],
    ]


def permuted(tuples: Sequence[Tuple], groups: Groups) -> list[tuple[Fraction, list[Table]]]:
    """A permutation release: all distinct ways to put a group's values beside its tuples are equally likely."""
    ways = []
    for group in groups:
        members = sorted(group)
        ways.append(
            [
                [(tuples[i][0], value) for i, value in zip(members, values, strict=True)]
                for values in by_force.arrangements([tuples[i][1] for i in members])
            ]
        )
    every = list(product(*ways))
    return [
        (Fraction(1, len(every)), [[(j, pair) for j, pairs in enumerate(way, 1) for pair in pairs]]) for way in every
    ]


def angelized(*marginals: Marginal, without: Sequence[Marginal] = ()) -> Publish:
    """BT, and a GT for every marginal; buckets look at the marginal's own QI values, and at nothing else.

    Marginals ``without`` the sensitive attribute are generalizations, whose rows have no batch.
    """

    def publish(tuples: Sequence[Tuple], batches: Groups) -> list[Table]:
        tables: list[Table] = [[(i, (x, y)) for i, x, y in angel.batch_table(tuples, batches)]]
        for attributes, k in marginals:
            places = buckets([cells for cells, _ in tuples], attributes, k)
            gt = angel.generalized_table(tuples, batches, places, attributes)
            tables.append([(i, cells) for cells, i in gt])
        for attributes, k in without:
            places = buckets([cells for cells, _ in tuples], attributes, k)
            tables.append([(None, row) for row in angel.generalized_without_sensitive(tuples, places, attributes)])
        return tables

    return publish


def buckets(codes: Codes, attributes: Sequence[int] | None, k: int) -> list[frozenset[int]]:
    """ANGEL 4.1, step 2: strict Mondrian under k-anonymity on a projection; one bucket if there are fewer than k.

    Strict cuts fall between values, so the buckets are a function of the multiset of QI values.
    """
    chosen = range(len(codes[0])) if attributes is None else attributes
    rows = [(tuple(cells[a] for a in chosen), 0) for cells in codes]
    places = [range(max(cells[dim] for cells, _ in rows) + 1) for dim in range(len(rows[0][0]))]
    return sorted(strict(rows, places, lambda group: len(group) >= k), key=sorted)


# --- numbers ---------------------------------------------------------------------------------------------------------


def content(tables: Sequence[Table]) -> Release:
    """What the tables tell up to renumbering: see the head of this file."""
    numbers = sorted({number for table in tables for number, _ in table if number is not None})
    linked = sorted(
        tuple(tuple(sorted(row for number, row in table if number == j)) for table in tables) for j in numbers
    )
    return tuple(linked), tuple(tuple(sorted(row for number, row in table if number is None)) for table in tables)


def in_random_order(publish: Publish) -> Recode:
    """Group numbers are drawn at random; releases that differ in them alone are merged."""

    def recode(codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]) -> Release:
        return _merged(publish, *_table(codes, sensitive, people, groups), content)

    return recode


def in_every_order(publish: Publish) -> Recode:
    """The same, with every numbering listed."""

    def recode(codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]) -> Release:
        tuples, numbered = _table(codes, sensitive, people, groups)
        orders = list(permutations(numbered))
        return [
            (share / len(orders), release)
            for order in orders
            for share, release in _merged(publish, tuples, order, _as_numbered)
        ]

    return recode


def in_creation_order(publish: Publish) -> Recode:
    """Group numbers are published as the method gave them. A mistake, to show what it costs."""

    def recode(codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]) -> Release:
        return _merged(publish, *_table(codes, sensitive, people, groups), _as_numbered)

    return recode


def _table(
    codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]
) -> tuple[list[Tuple], list[list[int]]]:
    """The tuples, and the groups as tuple numbers."""
    tuples = [(codes[person], value) for person, value in zip(people, sensitive, strict=True)]
    return tuples, [[people.index(person) for person in group] for group in groups]


def _merged(
    publish: Publish, tuples: Sequence[Tuple], groups: Groups, shown: Callable[[Sequence[Table]], Release]
) -> list[tuple[Fraction, Release]]:
    published = publish(tuples, groups)
    outcomes: dict[Release, Fraction] = {}
    for share, tables in published if isinstance(published[0], tuple) else [(Fraction(1), published)]:
        release = shown(tables)
        outcomes[release] = outcomes.get(release, Fraction(0)) + share
    return [(share, release) for release, share in outcomes.items()]


def _as_numbered(tables: Sequence[Table]) -> Release:
    return tuple(tuple(sorted(table)) for table in tables)


# --- what `by_force` runs --------------------------------------------------------------------------------------------

two_marginals = angelized((None, 2), ([-1], 2))  # as in ANGEL Example 3: all attributes, and the last one alone
with_one_marginal = angelized((None, 2))

RECODINGS: dict[str, Recode] = {
    "anatomy": in_random_order(anatomized),
    "permutation": in_random_order(permuted),
    "angel": in_random_order(with_one_marginal),
    "angel with two marginals": in_random_order(two_marginals),
}
for _name, _recode in RECODINGS.items():
    _recode.__name__ = _name
