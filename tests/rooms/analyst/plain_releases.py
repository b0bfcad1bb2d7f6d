# SPDX-License-Identifier: Apache-2.0
"""Small random releases of every kind, and each as plain rows for the slow twins of losses and distributions."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import glasshouse as gh
from glasshouse.analyst.usefulness.reconstruction_error import terms_of
from glasshouse.journeys.plan import recipe_of
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.columns import published_columns
from tests.rooms.recoding.reading import covers

KINDS = ["boxes", "taxonomies", "anatomy", "permutation", "angel", "perturbed"]
GRADES = ["low", "middle", "high", "top"]
TREE = {"any": {"left": ["a", "b"], "right": ["c", "d", "e"]}}
LEAVES = {"any": set("abcde"), "left": set("ab"), "right": set("cde")}
DOMAIN = ["s0", "s1", "s2", "s3", "s4"]


@dataclass(frozen=True)
class Made:
    """A release with the table that it was made of, and what the twins need of both."""

    kind: str
    table: gh.Microdata
    release: gh.Release

    @property
    def quasi(self) -> list[str]:
        return [column.name for column in self.table.quasi]

    @property
    def people(self) -> list[tuple[tuple[Any, ...], Any]]:
        """The microdata: quasi-identifiers and sensitive value."""
        columns = [c.domain.decode(c.codes).to_pylist() for c in (*self.table.quasi, *self.table.sensitive)]
        return [(row[:-1], row[-1]) for row in zip(*columns, strict=True)]

    def terms(self) -> dict[str, Any]:
        return terms_of(self.table).to_dict()

    def points(self, name: str) -> list[Any]:
        """All values that an attribute can have: every whole number between two, and what occurs of anything else."""
        domain = self.table.column(name).domain
        values = domain.values.to_pylist()
        if domain.tree is not None:
            values = sorted(LEAVES["any"])  # what was declared, whether or not it occurs
        elif domain.declared_order is not None:
            values = list(domain.declared_order)
        elif domain.kind == "integer":
            values = list(range(min(values), max(values) + 1))
        elif domain.kind == "date":
            values = [min(values) + dt.timedelta(days=i) for i in range((max(values) - min(values)).days + 1)]
        return [*values, None]

    def cell(self, name: str, shown: Any) -> tuple[Any, ...]:
        """The values that a cell stands for."""
        if self.kind in ("anatomy", "permutation"):
            return (shown,)
        domain = self.table.column(name).domain
        order = GRADES if name == "grade" else None
        tree = LEAVES if domain.tree is not None and self.kind == "taxonomies" else None
        example = domain.values[0].as_py()
        return tuple(v for v in self.points(name) if covers(shown, v, example, order, tree))

    def rows(self, table: str, names: list[str], number: str | None) -> list[tuple[tuple[tuple[Any, ...], ...], int]]:
        """The tuples of a published table: what their cells stand for, and the group that they are in."""
        shown = self.release.tables[table].to_pylist()
        return [
            (tuple(self.cell(name, row[name]) for name in names), -1 if number is None else row[number])
            for row in shown
        ]


def table_of(random: Random, *, least: int = 4, most: int = 14, missing: bool = True) -> gh.Microdata:
    """A few people with up to three quasi-identifiers of different kinds."""
    n = random.randint(least, most)
    possible: dict[str, list[Any]] = {
        "age": [random.randint(20, 20 + random.choice([0, 3, 9])) for _ in range(n)],
        "weight": [random.randint(0, 5) / 4 for _ in range(n)],
        "grade": [random.choice(GRADES) for _ in range(n)],
        "town": [random.choice("abcde") for _ in range(n)],
        "day": [dt.date(2024, 2, random.randint(26, 29)) for _ in range(n)],
        "sex": [random.choice("FM") for _ in range(n)],
    }
    names = random.sample(sorted(possible), random.randint(1, 3))
    columns = {name: possible[name] for name in names}
    if missing and random.random() < 0.3:
        for name in names:
            columns[name] = [None if i and random.random() < 0.2 else v for i, v in enumerate(columns[name])]
    columns["ill"] = [random.choice(DOMAIN[: random.randint(1, 5)]) for _ in range(n)]
    return gh.read(
        columns,
        quasi=names,
        sensitive="ill",
        missing="category",
        ordered={"grade": GRADES} if "grade" in names else None,
        taxonomies={"town": gh.Taxonomy.from_nested(TREE)} if "town" in names else None,
    )


def groups_of(random: Random, n: int) -> gh.Groups:
    """A random partition, with no group empty."""
    labels = [random.randrange(random.randint(1, n)) for _ in range(n)]
    rank = {label: i for i, label in enumerate(sorted(set(labels)))}
    return gh.Groups(np.array([rank[label] for label in labels], np.int32), len(rank))


def released(table: gh.Microdata, recoding: Any, tables: Any) -> gh.Release:
    """These tables as the release that they would be."""
    principle = gh.KAnonymity(k=2)
    return gh.Release(
        tables=tables,
        columns=tuple(published_columns(table, recoding)),
        recipe=recipe_of(table, principle, gh.Mondrian(), recoding, 0, gh.Source.seeded(0)),
        guarantee=gh.Guarantee(promise="nothing", adversary="linking", adversary_knows="", theorem=""),
        n_tuples=table.n_tuples,
    )


def random_release(random: Random, kind: str) -> Made:
    """A random table, published in some way."""
    table = table_of(random)
    while kind == "taxonomies" and all(c.domain.tree is None for c in table.quasi):
        table = table_of(random)
    groups = groups_of(random, table.n_tuples)
    source = gh.Source.seeded(random.randrange(2**30))
    if kind == "angel":
        quasi = [column.name for column in table.quasi]
        marginals = [(*quasi, "ill"), *(((quasi[0], "ill"), (quasi[-1],)) if len(quasi) > 1 else ())]
        recoding: Any = gh.Angel(k=random.choice([1, 2, 3]), marginals=marginals)
        return Made(kind, table, released(table, recoding, recoding.recode(
            table, groups, buckets=recoding.buckets(table, gh.Mondrian().divide)
        )))  # fmt: skip
    if kind == "perturbed":
        recoding = gh.Perturbed(p=random.choice([0, 0.2, 0.5, 1]), domain=random.choice([DOMAIN, None]))
        groups = gh.Mondrian().divide(table, Requirement.of(gh.KAnonymity(k=random.choice([2, 3])), table))
        return Made(kind, table, released(table, recoding, recoding.recode(table, groups, source=source)))
    recoding = {"boxes": gh.Boxes, "taxonomies": gh.Taxonomies, "anatomy": gh.Anatomy, "permutation": gh.Permutation}[
        kind
    ]()
    return Made(kind, table, released(table, recoding, recoding.recode(table, groups, source=source)))


def grouped_values(made: Made) -> dict[int, list[Any]]:
    """The sensitive values of every group that has a number."""
    if made.kind == "permutation":
        rows = [(row["Group-ID"], row["ill"], 1) for row in made.release.data.to_pylist()]
    else:
        name, number = {"anatomy": ("st", "Group-ID"), "angel": ("bt", "Batch-ID")}[made.kind]
        rows = [(row[number], row["ill"], row["Count"]) for row in made.release.tables[name].to_pylist()]
    values: dict[int, list[Any]] = {}
    for number_, value, times in rows:
        values.setdefault(number_, []).extend([value] * times)
    return values


def boxes_with_values(
    made: Made, names: list[str]
) -> tuple[list[tuple[tuple[tuple[Any, ...], ...], int]], dict[int, list[Any]]]:
    """A generalized table: its tuples, and the values of those that show the same cells of all attributes."""
    shown = made.release.data.to_pylist()
    number = {cells: i for i, cells in enumerate({tuple(row[name] for name in made.quasi) for row in shown})}
    rows, values = [], {}
    for row in shown:
        group = number[tuple(row[name] for name in made.quasi)]
        rows.append((tuple(made.cell(name, row[name]) for name in names), group))
        values.setdefault(group, []).append(row["ill"])
    return rows, values


def counted(made: Made, names: list[str], *, sensitive: bool) -> Counter[tuple[tuple[Any, ...], Any]]:
    """How many people are at each point of some attributes."""
    places = [made.quasi.index(name) for name in names]
    return Counter((tuple(point[i] for i in places), value if sensitive else None) for point, value in made.people)
