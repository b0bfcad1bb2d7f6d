# SPDX-License-Identifier: Apache-2.0
"""First choices: how to publish a table about which only the results of an inspection are known.

Roles are those that the inspection suggests. The promise is one that the table can keep: l-diversity, with l up to 5,
or where one value is too frequent for that, t-closeness. It is computed from the counts of the sensitive column. Free
text, and texts of which hardly one repeats, are not published, also if somebody named them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import DisclosureWarning, GlasshouseError
from glasshouse.journeys.advice.sketch import Sketch
from glasshouse.journeys.advice.ways import ELL, Way, as_asked, ways_out
from glasshouse.microdata import read
from glasshouse.microdata.inspection.amounts import Reading, readings_of
from glasshouse.plural import counted
from glasshouse.policy.choices import taxonomy
from glasshouse.policy.openings import DRAWN, DRAWS
from glasshouse.policy.principle_choices import choices_asking_for
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.principle import Principle
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata.inspection.inspection import Inspection

__all__ = ["FirstChoices", "first_choices"]

_NAMELESS = ("closeness", "alpha")  # ways that name no value; sets of values have no closeness
_OF_VALUES = ", with the set of the person's values"
_OTHER = "quasi-identifier"  # the name of a column that stands for all quasi-identifiers


@dataclass(frozen=True, kw_only=True)
class FirstChoices:
    """The choices suggested for a table.

    Parameters
    ----------
    choices
        Roles, how columns are read, and what is asked for, by the names of the command line's options.
    principle
        What is asked for.
    reading
        How the sensitive column is read, where it holds numbers or dates.
    way
        The promise and its cost, where there is a sensitive column or people have several rows.
    ways
        Other promises, where l-diversity is not possible.
    as_codes
        What to choose if the numbers of the sensitive column are codes, where they are read as amounts and may be.
    """

    choices: dict[str, Any]
    principle: Principle
    reading: Reading | None = None
    way: Way | None = None
    ways: tuple[Way, ...] = ()
    as_codes: FirstChoices | None = None

    @property
    def is_diverse(self) -> bool:
        """Whether l-diversity is asked for."""
        return self.principle.terms.one_in is not None


def first_choices(inspection: Inspection) -> FirstChoices:
    """Suggest roles, readings and a guarantee that the table allows.

    >>> import glasshouse as gh
    >>> people = {"age": [30, 31, 32, 33, 34, 35], "sick": ["no"] * 5 + ["yes"]}
    >>> found = first_choices(gh.inspect(people, sensitive="sick"))
    >>> found.choices
    {'quasi': ['age'], 'sensitive': ['sick'], 't': '0.15'}
    """
    roles = inspection.suggested
    named = {*roles["quasi"], roles["sensitive"], roles["identifier"]}
    choices: dict[str, Any] = {"identifier": roles["identifier"], "quasi": list(roles["quasi"])}
    choices["repeated"] = roles.get("repeated")
    n_people = inspection.n_tuples if inspection.several is None else inspection.several.n_people
    if any(column.missing for column in inspection.columns if column.name in named):
        choices["missing"] = "category"
    name = inspection.protected
    if name is None or inspection.held is None or inspection.n_tuples == 0:
        return _uncounted(choices, KAnonymity(k=max(2, min(ELL, n_people))), n_people, inspection.n_tuples)
    choices["sensitive"] = [name]
    found = _first(choices, name, inspection.held, readings := readings_of(inspection.held.column(name), name))
    if found is None:
        return _uncounted(choices, LDiversity(ell=2), n_people, inspection.n_tuples)
    codes = [reading for reading in readings if reading.categorical and reading is not found.reading]
    return replace(found, as_codes=_first(choices, name, inspection.held, codes) if codes else None)


def _first(choices: dict[str, Any], name: str, held: pa.Table, readings: Sequence[Reading]) -> FirstChoices | None:
    """What to choose by the first of these readings that works; None if none does."""
    for reading in readings or (None,):
        sketches = _sketches(held, name, reading, choices)
        if sketches:
            return _for_column(dict(choices), name, reading, sketches, n_rows=held.num_rows)
    return None


def _for_column(
    choices: dict[str, Any], name: str, reading: Reading | None, sketches: Sequence[Sketch], *, n_rows: int
) -> FirstChoices:
    """What to choose for a sensitive column, of which there are several sketches if a row of each person is drawn."""
    sketch = sketches[0]
    if reading is not None and reading.bins:
        choices["bins"] = {name: reading.bins}
    if reading is not None and reading.categorical:
        choices["categorical"] = [name]
    most: Principle | None = LDiversity(ell=ELL)
    for one in sketches:
        most = None if most is None else one.feasible(most)
    people = _people(choices.get("repeated"), sketch.n_people, n_rows, drawn=DRAWN)
    if most is not None:
        return _made(choices, most, reading=reading, way=_told(as_asked(sketch, most), people))
    found = ways_out(sketch, LDiversity(ell=ELL))
    ways = [way for way in found if all(as_asked(one, way.principle, way.suppress) for one in sketches[1:])]
    told = tuple(way for one in ways if (way := _told(one, people)) is not None)
    way = next((one for name in _NAMELESS for one in told if one.name == name), None)
    if way is None or not isinstance(way.principle, Principle):  # nothing can be protected: the column is left out
        groups = next((one for one in told if one.name == "groups"), None)
        others = {key: value for key, value in choices.items() if key not in ("sensitive", "bins", "categorical")}
        k = KAnonymity(k=max(2, min(ELL, sketch.n_people)))
        return _uncounted(others, k, sketch.n_people, n_rows) if groups is None else _made(others, k, way=groups)
    return _made(choices, way.principle, reading=reading, way=way, ways=told)


def _uncounted(choices: dict[str, Any], principle: Principle, n_people: int, n_rows: int) -> FirstChoices:
    """What to choose without looking at sensitive values; what becomes of rows is said."""
    people = _people(choices.get("repeated"), n_people, n_rows, drawn="One row of each person is drawn at random.")
    if "sensitive" not in choices:
        people = people.replace(_OF_VALUES, "")
    way = Way(name="asked", principle=principle, promise=principle.describe(), cost=people)
    return _made(choices, principle, way=way if people else None)


def _people(repeated: str | None, n_people: int, n_rows: int, *, drawn: str) -> str:
    """What becomes of the rows of people with several; nothing where everybody has one."""
    if repeated == "sample":
        n_unused = n_rows - n_people
        why = "people's quasi-identifiers differ from row to row, so their rows cannot become one record"
        return f"Of {counted(n_rows, 'row')}, {n_unused:,} are not used: {why}. {drawn}"
    if repeated == "together":
        n, rows = counted(n_people, "person"), counted(n_rows, "row")
        return f"From {rows}, one record is made for each of {n}{_OF_VALUES}."
    return ""


def _told(way: Way | None, people: str) -> Way | None:
    """The way with what becomes of the rows of people with several."""
    return way if way is None or not people else replace(way, cost=f"{way.cost} {people}".strip())


def _made(choices: dict[str, Any], principle: Principle, **more: Any) -> FirstChoices:
    chosen = {name: value for name, value in choices.items() if value not in (None, [], {})}
    return FirstChoices(choices={**chosen, **choices_asking_for(principle)}, principle=principle, **more)


def _sketches(held: pa.Table, name: str, reading: Reading | None, choices: dict[str, Any]) -> list[Sketch]:
    """Count the sensitive values as `read` would, by several draws where it draws; empty if it would refuse them."""
    repeated: Any = choices.get("repeated") or "error"
    other = _OTHER if name != _OTHER else f"other {_OTHER}"
    table = held.append_column(other, pa.array(np.zeros(held.num_rows, np.int32)))
    bins = {name: taxonomy(reading.bins)} if reading is not None and reading.bins else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisclosureWarning)
            return [
                Sketch.of(
                    read(
                        table,
                        quasi=[other],
                        sensitive=name,
                        identifier=None if repeated == "error" else choices["identifier"],
                        repeated=repeated,
                        missing="category",
                        bins=bins,
                        categorical=[name] if reading is not None and reading.categorical else [],
                        random=Source.seeded(seed),
                    )
                )
                for seed in range(DRAWS if repeated == "sample" else 1)
            ]
    except GlasshouseError:
        return []
