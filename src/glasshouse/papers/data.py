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
from glasshouse.papers.uci import ADULT, CENSUS, digest, download, read_file
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from glasshouse.microdata import Microdata

__all__ = ["Data", "open_data"]

Nested = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Data:
    """A table, and what else an experiment has to know of it.

    Attributes
    ----------
    name, about
        In a word, and in a sentence.
    given
        What to ask for to get this table: UCI's own rows are known by their word, whatever file they came in.
    table
        Whole numbers, one row a person.
    sensitive
        The sensitive attributes that it has, by the papers' names of the tables: OCC has occupations, SAL incomes.
    taxonomies
        Of the attributes that ANATOMY Table 6 generalizes by one: classes of numbers.
    classes
        For as many classes of the last sensitive attribute the values at which the second and later ones begin.
    designated
        A rare and a frequent occupation, by their names.
    """

    name: str
    about: str
    given: str
    table: pa.Table
    sensitive: Mapping[str, str]
    taxonomies: Mapping[str, Nested]
    classes: Mapping[int, Sequence[int]]
    designated: Mapping[str, int]

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

    Parameters
    ----------
    given
        A word or a path. Only the words ``census`` and ``adult`` fetch anything.
    rows
        At most so many people.
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
    numbered, trees = _numbered(
        table,
        {
            "gender": ("sex", {"any gender": ["Female", "Male"]}),
            "education": ("education", {"any education": _CENSUS_SCHOOL}),
            "marital": ("marital_stat", _CENSUS_MARITAL),
            "race": ("race", {"any race": None}),
            "workclass": ("class_of_worker", _CENSUS_WORK),
            "country": ("country_of_birth_self", _COUNTRIES),
        },
    )
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
    numbered, trees = _numbered(
        table,
        {
            "gender": ("sex", {"any gender": ["Female", "Male"]}),
            "education": ("education", {"any education": _ADULT_SCHOOL}),
            "marital": ("marital-status", _ADULT_MARITAL),
            "race": ("race", {"any race": None}),
            "workclass": ("workclass", _ADULT_WORK),
            "country": ("native-country", _COUNTRIES),
            "occupation": ("occupation", {"any occupation": _ADULT_OCCUPATIONS}),
        },
    )
    return Data(
        name="adult",
        about=f"{about}, the {table.num_rows:,} complete rows",
        given=given,
        table=_together(table, numbered),
        sensitive={"OCC": "occupation"},
        taxonomies={name: tree for name, tree in trees.items() if name != "occupation"},
        classes={2: (5,), 3: (3, 5)},
        designated={name: _ADULT_OCCUPATIONS.index(name) for name in ("Tech-support", "Craft-repair")},
    )


def _together(table: pa.Table, numbered: Mapping[str, pa.Array]) -> pa.Table:
    columns = {"age": pc.cast(table["age"], pa.int8()), "occupation": table["occupation"], **numbered}
    return pa.table({**columns, "birthplace": columns["country"]})


# --- categories as numbers --------------------------------------------------------------------------------------------


def _numbered(
    table: pa.Table, wanted: Mapping[str, tuple[str, Nested]]
) -> tuple[dict[str, pa.Array], dict[str, Nested]]:
    """Number the categories of each column in the order of its tree; give numbers, and trees of numbers."""
    columns, trees = {}, {}
    for name, (column, tree) in wanted.items():
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


_UNKNOWN = "unknown"
_CENSUS_SCHOOL = [
    "Children", "Less than 1st grade", "1st 2nd 3rd or 4th grade", "5th or 6th grade", "7th and 8th grade", "9th grade",
    "10th grade", "11th grade", "12th grade no diploma", "High school graduate", "Some college but no degree",
    "Associates degree-occup /vocational", "Associates degree-academic program", "Bachelors degree(BA AB BS)",
    "Masters degree(MA MS MEng MEd MSW MBA)", "Prof school degree (MD DDS DVM LLB JD)", "Doctorate degree(PhD EdD)",
]  # fmt: skip
_CENSUS_MARITAL = {
    "any": {
        "married": ["Married-civilian spouse present", "Married-A F spouse present", "Married-spouse absent"],
        "married before": ["Separated", "Divorced", "Widowed"],
        "never": ["Never married"],
    }
}
_CENSUS_WORK = {
    "any work": {
        "earning": {
            "firm": ["Private"],
            "own": ["Self-employed-not incorporated", "Self-employed-incorporated"],
            "government": ["Federal government", "State government", "Local government"],
        },
        "not earning": {"family": ["Without pay"], "no work": ["Never worked", "Not in universe"]},
    }
}
_ADULT_SCHOOL = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
_ADULT_MARITAL = {
    "any": {
        "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
        "married before": ["Separated", "Divorced", "Widowed"],
        "never": ["Never-married"],
    }
}
_ADULT_WORK = {
    "any work": {
        "earning": {
            "firm": ["Private"],
            "own": ["Self-emp-not-inc", "Self-emp-inc"],
            "government": ["Federal-gov", "State-gov", "Local-gov"],
        },
        "not earning": {"family": ["Without-pay"], "no work": ["Never-worked"]},
    }
}
_ADULT_OCCUPATIONS = [
    "Exec-managerial", "Prof-specialty", "Tech-support", "Adm-clerical", "Sales", "Craft-repair", "Machine-op-inspct",
    "Handlers-cleaners", "Transport-moving", "Farming-fishing", "Protective-serv", "Other-service", "Priv-house-serv",
    "Armed-Forces",
]  # fmt: skip
_COUNTRIES = {
    "any country": {
        "North America": [
            "United-States", "Canada", "Outlying-US(Guam-USVI-etc)", "Outlying-U S (Guam USVI etc)", "Puerto-Rico",
        ],
        "Latin America": [
            "Mexico", "Cuba", "Jamaica", "Haiti", "Dominican-Republic", "Trinadad&Tobago", "Guatemala", "Honduras",
            "El-Salvador", "Nicaragua", "Panama", "Columbia", "Ecuador", "Peru",
        ],
        "Europe": [
            "England", "Scotland", "Ireland", "France", "Holand-Netherlands", "Germany", "Italy", "Portugal", "Greece",
            "Poland", "Hungary", "Yugoslavia",
        ],
        "Asia": [
            "India", "Iran", "Philippines", "Vietnam", "Cambodia", "Laos", "Thailand", "China", "Taiwan", "Hong",
            "Hong Kong", "Japan", "South", "South Korea",
        ],
        "not known": [_UNKNOWN],
    }
}  # fmt: skip
