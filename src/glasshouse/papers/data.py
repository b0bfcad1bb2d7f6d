# SPDX-License-Identifier: Apache-2.0
"""The tables that experiments run on, in one form: whole numbers, and columns by the papers' names.

The papers' own tables (OCC and SAL, from IPUMS) may not be passed on. The synthetic census stands in for them, and so
do two real tables of UCI: Census-Income (KDD), of which the employed people, and Adult, of which the complete rows.
Categories are numbered: education by how long it takes, others so that a taxonomy's classes are intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import ParameterError
from glasshouse.microdata import Taxonomy, read
from glasshouse.microdata.synthetic import census_table
from glasshouse.papers.uci import ADULT, CENSUS, KNOWN, digest, download, read_file
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from glasshouse.microdata import Microdata

__all__ = ["Data", "open_data"]

Nested = Mapping[str, Any]
_UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Data:
    """A table, and what else an experiment has to know of it."""

    # name, about: in a word, and in a sentence
    name: str
    about: str
    given: str  # what to ask for to get this table: UCI's own rows are known by their word, whatever file they came in
    table: pa.Table  # whole numbers, one row a person
    # the sensitive attributes that it has, by the papers' names of the tables: OCC has occupations, SAL incomes
    sensitive: Mapping[str, str]
    taxonomies: Mapping[str, Nested]  # of the attributes that ANATOMY Table 6 generalizes by one: classes of numbers
    # for as many classes of the last sensitive attribute the values at which the second and later ones begin
    classes: Mapping[int, Sequence[int]]
    designated: Mapping[str, int]  # a rare and a frequent occupation, by their names

    def read(
        self, quasi: Sequence[str], sensitive: str, n: int | None = None, *, by_taxonomy: bool = False
    ) -> Microdata:
        """The first people as microdata; with taxonomies where there are some, if asked for."""
        some = self.table if n is None else self.table.slice(0, n)
        trees = {name: Taxonomy.from_nested(self.taxonomies[name]) for name in quasi if name in self.taxonomies}
        return read(
            some.select([*quasi, sensitive]),
            quasi=list(quasi),
            sensitive=sensitive,
            categorical=[sensitive],
            taxonomies=trees if by_taxonomy else None,
        )

    @property
    def n(self) -> int:
        """How many people."""
        return int(self.table.num_rows)

    def fewer(self, n: int) -> Data:
        """At most so many people, drawn at random and in their order."""
        if n >= self.n:
            return self
        drawn = np.sort(Source.seeded(1).permutation(self.n)[:n])
        about = f"{self.about}, of whom {n:,} drawn at random"
        return replace(self, table=self.table.take(pa.array(drawn)), about=about)


def open_data(given: str | Path, rows: int) -> Data:
    """Find the table that was asked for: ``synthetic``, ``census`` or ``adult`` from UCI, or a local file of either.

    Only the words ``census`` and ``adult`` fetch anything. Of the table at most so many ``rows`` are taken.
    """
    if rows < 1:
        raise ParameterError("reproduce", "rows", "a whole number of at least 1", rows)
    if str(given) == "synthetic":
        return _synthetic(rows)
    forms = {form.name: form for form in (ADULT, CENSUS)}
    if str(given) in forms:
        form = forms[str(given)]
        table = download(form)
    else:
        form, table = read_file(given)
    known = digest(table) == form.sha256
    about = f"{form.title}, {'as UCI has it' if known else 'NOT as UCI has it: its rows differ'}"
    found = (_adult if form is ADULT else _census)(table, about, form.name if known else Path(given).name)
    return found.fewer(rows)


def _synthetic(n: int) -> Data:
    abroad = np.cumsum([1, 24, 24, 22, 7, 2, 3]).tolist()  # the countries of each region follow each other
    regions = ("Latin America", "Asia", "Europe", "Africa", "North America", "Oceania")
    countries = {name: range(a, b) for name, a, b in zip(regions, abroad, abroad[1:], strict=False)}
    table = census_table(n, seed=1, ages=79)
    frequent = np.bincount(np.asarray(table["occupation"]), minlength=50)
    order = np.argsort(frequent, kind="stable").tolist()
    return Data(
        name="synthetic",
        given="synthetic",
        about=f"the synthetic census of `gh.synthetic`, {n:,} people, seed 1; nobody is in it",
        table=table,
        sensitive={"OCC": "occupation", "SAL": "income"},
        taxonomies={
            "gender": _leaves({"any gender": range(2)}),
            "marital": _leaves({"any": {"married": range(2), "married before": range(2, 5), "never": range(5, 6)}}),
            "race": _leaves({"any race": range(9)}),
            "workclass": _leaves(
                {
                    "any work": {
                        "earning": {"firm": range(2), "own": range(2, 4), "government": range(4, 7)},
                        "not earning": {"family": range(7, 8), "no work": range(8, 10)},
                    }
                }
            ),
            "country": _leaves({"any country": {"United States": range(1), **countries}}),
        },
        classes={2: (25,), 3: (25, 37)},
        designated={f"the rarest occupation ({order[0]})": order[0], f"the most frequent ({order[-1]})": order[-1]},
    )


def _census(table: pa.Table, about: str, given: str) -> Data:
    occupation = pc.cast(table["detailed_occupation_recode"], pa.int8())
    employed = pc.greater(occupation, 0)
    table = table.set_column(table.column_names.index("detailed_occupation_recode"), "occupation", occupation)
    table = table.filter(employed)
    numbered, trees = _numbered(table, "census")
    frequent = np.bincount(np.asarray(table["occupation"]), minlength=47)[1:]
    order = (1 + np.argsort(frequent, kind="stable")).tolist()
    middle = order[len(order) // 2]
    return Data(
        name="census",
        about=f"{about}, the {table.num_rows:,} employed people",
        given=given,
        table=_together(table, numbered),
        sensitive={"OCC": "occupation"},
        taxonomies=trees,
        classes={2: (27,), 3: (16, 27)},
        designated={f"occupation {middle}": middle, f"the most frequent ({order[-1]})": order[-1]},
    )


def _adult(table: pa.Table, about: str, given: str) -> Data:
    table = table.drop_null()
    numbered, trees = _numbered(table, "adult")
    occupations = _labels(KNOWN["adult"]["trees"]["occupation"])
    return Data(
        name="adult",
        about=f"{about}, the {table.num_rows:,} complete rows",
        given=given,
        table=_together(table, numbered),
        sensitive={"OCC": "occupation"},
        taxonomies={name: tree for name, tree in trees.items() if name != "occupation"},
        classes={2: (5,), 3: (3, 5)},
        designated={name: occupations.index(name) for name in ("Tech-support", "Craft-repair")},
    )


def _together(table: pa.Table, numbered: Mapping[str, pa.Array]) -> pa.Table:
    columns = {"age": pc.cast(table["age"], pa.int8()), "occupation": table["occupation"], **numbered}
    return pa.table({**columns, "birthplace": columns["country"]})


# --- categories as numbers --------------------------------------------------------------------------------------------


def _numbered(table: pa.Table, form: str) -> tuple[dict[str, pa.Array], dict[str, Nested]]:
    """Number the categories of each column in the order of its tree; give numbers, and trees of numbers."""
    known = KNOWN[form]
    wanted = {**known["trees"], "country": KNOWN["country"]}
    columns, trees = {}, {}
    for name, column in known["columns"].items():
        tree = wanted[name]
        values = pc.fill_null(table[column], _UNKNOWN).to_pylist()
        there = set(values)
        order = [label for label in _labels(tree) if label in there]
        rest = sorted(there - set(order))
        order += rest
        number = {label: i for i, label in enumerate(order)}
        columns[name] = pa.array([number[value] for value in values], pa.int8())
        if name != "education":
            trees[name] = _of_numbers(tree, number, [number[label] for label in rest])
    return columns, trees


def _labels(tree: Any) -> list[str]:
    if isinstance(tree, Mapping):
        return [label for below in tree.values() for label in _labels(below)]
    return list(tree or ())


def _of_numbers(tree: Nested, number: Mapping[str, int], rest: Sequence[int]) -> Nested:
    """The same tree over numbers; labels that it does not know are a class of their own, or leaves of a flat tree."""
    ((top, below),) = tree.items()
    if not isinstance(below, Mapping):
        return {top: [str(n) for n in sorted({*rest, *(number[label] for label in below or () if label in number)})]}
    found = {name: _classes(part, number) for name, part in below.items()}
    return {top: {**{name: part for name, part in found.items() if part}, **({"others": _texts(rest)} if rest else {})}}


def _classes(tree: Any, number: Mapping[str, int]) -> Any:
    if isinstance(tree, Mapping):
        found = {name: _classes(part, number) for name, part in tree.items()}
        return {name: part for name, part in found.items() if part}
    return _texts([number[label] for label in tree if label in number])


def _texts(numbers: Sequence[int]) -> list[str]:
    return [str(n) for n in numbers]


def _leaves(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {name: _leaves(below) for name, below in tree.items()}
    return [str(n) for n in tree]
