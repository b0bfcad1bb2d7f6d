# SPDX-License-Identifier: Apache-2.0
"""Sample: plain tables drawn from a release, for tools that know nothing of cells and groups.

By the learned model a table is *complete*: everybody who was published, each with one value in every column, drawn from
the posterior distribution of what the release teaches (`glasshouse.population`). It agrees with everything that was
published, and between two such tables lies what the release leaves open. By the papers' model records are drawn one by
one from the reconstructed distribution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from glasshouse.analyst.answers.distribution import reconstructed
from glasshouse.analyst.answers.population_answers import learned_population
from glasshouse.errors import ParameterError
from glasshouse.randomness import Source
from glasshouse.release.release import given_release
from glasshouse.supports.evidence import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.population.population import Drawn, Population
    from glasshouse.release import Release
    from glasshouse.release.contents import Published

__all__ = ["sample"]

_TOLD = {
    "none": "drawn from a release: all values are drawn at random; by chance a row can have those of a real person",
    "some": "drawn from a release: some rows have the quasi-identifiers of a real person, and other values at random",
    "all": "drawn from a release: each row has the quasi-identifiers of a real person, and other values at random",
}
"""What the schema of a drawn table says, by the rows whose cells are all exact."""

_STEPS = 2**53
_SEED_WORDS = 8  # of 32 bits each


@overload
def sample(
    release: Release,
    n: int | None = ...,
    source: Source | None = ...,
    *,
    tables: None = ...,
    model: str = ...,
    attributes: Sequence[str] | None = ...,
    taxonomies: Mapping[str, Taxonomy] | None = ...,
    ordered: Mapping[str, Sequence[Any]] | None = ...,
    report: Callable[[float], None] = ...,
) -> pa.Table: ...


@overload
def sample(
    release: Release,
    n: int | None = ...,
    source: Source | None = ...,
    *,
    tables: int,
    model: str = ...,
    attributes: Sequence[str] | None = ...,
    taxonomies: Mapping[str, Taxonomy] | None = ...,
    ordered: Mapping[str, Sequence[Any]] | None = ...,
    report: Callable[[float], None] = ...,
) -> list[pa.Table]: ...


def sample(
    release: Release,
    n: int | None = None,
    source: Source | None = None,
    *,
    tables: int | None = None,
    model: str = "learned",
    attributes: Sequence[str] | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
    report: Callable[[float], None] = lambda _: None,
) -> pa.Table | list[pa.Table]:
    """Draw flat tables from a release: single values in every column, rows in random order.

    By the learned model every table is drawn from the posterior distribution of the population: weights of the model
    first, then a value for everybody, and a point of everybody's cells. So the values of every group are those that
    were published, and only who has which differs from table to table. An estimate is made from each of several tables,
    and its variance is that within tables plus that between them (Rubin 1987).

    By the papers' model, and where the release teaches nothing, every record is drawn independently of the others: a
    record of the release, a point of its cells, and a sensitive value of its group, each as likely as any other. Of a
    perturbed sample the value is drawn from what inverting the perturbation gives.

    A survey weight is a column of the table: estimates are made as from the survey, weighted by it.

    A drawn row is not a person, but where all cells of a person are exact, a row has that person's quasi-identifiers.
    The metadata of the schema say which of the two holds, and name the model. Nothing is read but the release: what is
    drawn costs no privacy beyond what the release itself costs.

    Parameters
    ----------
    release, attributes, taxonomies, ordered
        As for `glasshouse.analyst.answers.distribution.reconstructed`.
    n
        How many rows; by default as many as were published. By the learned model fewer rows are chosen from a complete
        table without replacement, and more are drawn from one with replacement.
    source
        Where random choices come from: the operating system's secure source unless a test gives a seeded one.
    tables
        How many tables, which are given as a list; left out, one table is given by itself. The first of several is the
        one that the same seed gives alone.
    model
        ``learned``, or ``uniform`` for the papers' model.
    report
        Is told how much of the learning is done, from 0 to 1.

    Examples
    --------
    >>> import glasshouse as gh
    >>> release = gh.publish(gh.synthetic.hospital(900, seed=1), principle=gh.LDiversity(ell=3))
    >>> drawn = sample(release)
    >>> drawn.num_rows, drawn.column_names, drawn.schema.metadata[b"glasshouse.exact"].decode()
    (900, ['age', 'sex', 'zipcode', 'disease'], 'some')
    >>> [some.num_rows for some in sample(release, 100, tables=3)]
    [100, 100, 100]
    """
    n = given_release(release).n_tuples if n is None else n
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ParameterError("sample", "n", "a whole number, 0 or more", n)
    if tables is not None and (isinstance(tables, bool) or not isinstance(tables, int) or tables < 1):
        raise ParameterError("sample", "tables", "a whole number, 1 or more, or None", tables)
    source = Source.secure() if source is None else source.for_one_release()
    reading = Reading.of(release, attributes, taxonomies=taxonomies, ordered=ordered, several=True)
    population, why_not, _ = learned_population(
        reading.evidence, reading.published, reading.seats, reading.attributes, model, report, owner="sample"
    )
    sensitive = release.recipe.sensitive
    notes = [
        f"the sample contains none of the sensitive columns {', '.join(sensitive)}: name one among the "
        "attributes to include it"
    ]
    notes = notes if attributes is None and sensitive and not reading.columns else []
    notes += [f"the flat table was drawn by the uniform model: {why_not}"] if why_not else []
    weight = release.weight
    if weight is not None and weight.name in reading.attributes:
        notes.append(
            f"{weight.name} is the survey weight: to count people, add up the weights; weight every estimate by it"
        )
    sources = [source, *(source.child("table", number) for number in range(1, tables or 1))]
    if population is None or population.model == "uniform":
        found = [_independent(reading, n, own, notes) for own in sources]
    else:
        deviations = population.more_deviations(len(sources), _generator(source.child("weights")))
        found = [
            _complete(reading, population, deviation, n, own, notes)
            for deviation, own in zip(deviations, sources, strict=True)
        ]
    return found if tables is not None else found[0]


def _said(reading: Reading, model: str, notes: Sequence[str]) -> dict[str, str]:
    """What the schema says of a drawn table."""
    told = {"glasshouse.notes": "; ".join(notes)} if notes else {}
    exact = _exact_rows(reading)
    return {"glasshouse.sample": _TOLD[exact], "glasshouse.exact": exact, "glasshouse.model": model, **told}


def _exact_rows(reading: Reading) -> str:
    """Whether all people, some or none have only cells that stand for a single value."""
    if not reading.axes:
        return "none"
    alone = [np.array([cell.size == 1 for cell in axis.cells])[reading.cells(axis)] for axis in reading.axes]
    exact = np.all(alone, axis=0)
    return "all" if exact.all() else "some" if exact.any() else "none"


# --- the learned model ------------------------------------------------------------------------------------------------


def _complete(
    reading: Reading,
    population: Population,
    deviation: NDArray[np.float64],
    n: int,
    source: Source,
    notes: Sequence[str],
) -> pa.Table:
    """A complete table by weights of its own; with another number of rows, some of its rows."""
    drawn = population.drawn(_generator(source.child("people")), population.fitted.weights + deviation)
    rows = _rows(len(drawn.point), n, source.child("rows"))
    columns = {name: _column(reading, population, name, drawn, rows) for name in reading.attributes}
    return pa.table(columns).replace_schema_metadata(_said(reading, population.model, notes))


def _rows(people: int, n: int, source: Source) -> NDArray[np.int64]:
    """Which people are the rows, in random order."""
    if n > people:
        return source.belows(people, n)
    chosen = source.choose(people, n)
    source.shuffle(chosen)
    return chosen


def _column(reading: Reading, population: Population, name: str, drawn: Drawn, rows: NDArray[np.int64]) -> pa.Array:
    if name in reading.published.several:
        return _of_several(reading.published, name, drawn.code[rows])
    if name == population.column:
        return pa.array(population.values).take(pa.array(drawn.code[rows]))
    place = population.points.names.index(name)
    codes = population.points.codes[place][drawn.point[rows]]
    return pa.array(population.points.values[place]).take(pa.array(codes))


def _of_several(published: Published, name: str, codes: NDArray[Any]) -> pa.Array:
    """The values of one column in combinations of several."""
    values, code_of = published.several[name]
    return pa.array(values).take(pa.array(code_of[codes]))


def _generator(source: Source) -> np.random.Generator:
    """Random numbers for whole arrays, from a seed that the source chooses.

    They need not withstand attacks: what they hide is nobody's, for everything is drawn from what was published.
    """
    return np.random.Generator(np.random.PCG64(source.belows(1 << 32, _SEED_WORDS).tolist()))


# --- the papers' model ------------------------------------------------------------------------------------------------


def _independent(reading: Reading, n: int, source: Source, notes: Sequence[str]) -> pa.Table:
    """Records that are drawn one by one."""
    ends = np.cumsum(reading.seats.count)
    seat = np.searchsorted(ends, source.child("tuple").belows(int(ends[-1]), n), side="right")
    columns = {
        axis.name: axis.draw(reading.cells(axis)[seat], source.child("attribute", axis.name)) for axis in reading.axes
    }
    told: tuple[str, ...] = ()
    if reading.columns and reading.published.kind == "sample":
        columns[reading.published.column], told = _deperturbed(reading, seat, source.child("value"))
    elif reading.columns:
        columns |= _dealt(reading, seat, source.child("value"))
    drawn = pa.table({name: columns[name] for name in reading.attributes})
    return drawn.replace_schema_metadata(_said(reading, "uniform", [*told, *notes]))


def _dealt(reading: Reading, seat: NDArray[np.int64], source: Source) -> dict[str, pa.Array]:
    """A value of each record's group; of several columns, values that a row of the group has side by side."""
    published = reading.published
    group = reading.seats.group[seat]
    ends = np.cumsum(published.counts)
    before = np.append(0, ends)[published.offsets[:-1]]
    entry = np.searchsorted(ends, before[group] + source.belows(published.sizes[group]), side="right")
    codes = published.codes[entry]
    if published.several:
        return {name: _of_several(published, name, codes) for name in published.several}
    return {published.column: pa.array(published.values).take(pa.array(codes))}


def _deperturbed(reading: Reading, seat: NDArray[np.int64], source: Source) -> tuple[pa.Array, tuple[str, ...]]:
    """A value for each record, drawn by the weights of its place to within 2^-53, and notes on it."""
    evidence = reading.evidence
    shape = reconstructed(
        evidence.release, reading.attributes, taxonomies=evidence.taxonomies, ordered=evidence.ordered, exact=False
    )
    place = shape.place_of_seat[seat]
    ends = np.cumsum(shape.weights.amounts)
    bounds = np.append(0.0, ends)[shape.weights.offsets]
    share = source.belows(_STEPS, len(seat)) / _STEPS
    entry = np.searchsorted(ends, bounds[place] + share * (bounds[place + 1] - bounds[place]), side="right")
    entry = np.clip(entry, shape.weights.offsets[place], shape.weights.offsets[place + 1] - 1)
    return pa.array(shape.values).take(pa.array(shape.weights.codes[entry])), tuple(shape.notes)
