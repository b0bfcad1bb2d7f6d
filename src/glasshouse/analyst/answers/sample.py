# SPDX-License-Identifier: Apache-2.0
"""Sample: tuples drawn from what a release says, as a plain table for tools that know nothing of cells and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.analyst.answers.distribution import reconstructed
from glasshouse.errors import ParameterError
from glasshouse.randomness import Source
from glasshouse.supports.evidence import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
    from glasshouse.release import Release

__all__ = ["sample"]

_STEPS = 2**53


def sample(
    release: Release,
    n: int | None = None,
    source: Source | None = None,
    *,
    attributes: Sequence[str] | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
) -> pa.Table:
    """Draw tuples from the distribution that a release gives.

    Every tuple is drawn independently of the others: a tuple of the release, a point of its cells, and a sensitive
    value of its group, each as likely as any other. Of a perturbed sample the value is drawn from what inverting the
    perturbation gives. A drawn tuple is nobody: it is as blurred as the release, and the schema's metadata say so.

    Parameters
    ----------
    release, attributes, taxonomies, ordered
        As for `glasshouse.analyst.answers.distribution.reconstructed`.
    n
        How many tuples; by default as many as were published.
    source
        Where random choices come from: the operating system's secure source unless a test gives a seeded one.

    Examples
    --------
    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.anatomy_table1(), principle=gh.LDiversity(ell=2))
    >>> drawn = sample(release, 100)
    >>> drawn.num_rows, drawn.column_names, drawn.schema.metadata[b"glasshouse.sample"].decode()
    (100, ['Age', 'Sex', 'Zipcode', 'Disease'], 'drawn from a release: no row is a person')
    """
    n = release.n_tuples if n is None else n
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ParameterError("sample", "n", "a whole number, 0 or more", n)
    source = Source.secure() if source is None else source.for_one_release()
    reading = Reading.of(release, attributes, taxonomies=taxonomies, ordered=ordered)
    ends = np.cumsum(reading.seats.count)
    seat = np.searchsorted(ends, source.child("tuple").belows(int(ends[-1]), n), side="right")
    columns = {
        axis.name: axis.draw(reading.cells(axis)[seat], source.child("attribute", axis.name)) for axis in reading.axes
    }
    said = {"glasshouse.sample": "drawn from a release: no row is a person"}
    if reading.column is not None and reading.published.kind == "sample":
        columns[reading.column], said["glasshouse.notes"] = _deperturbed(reading, seat, source.child("value"))
    elif reading.column is not None:
        columns[reading.column] = _dealt(reading, seat, source.child("value"))
    return pa.table({name: columns[name] for name in reading.attributes}).replace_schema_metadata(said)


def _dealt(reading: Reading, seat: NDArray[np.int64], source: Source) -> pa.Array:
    """A value of each tuple's group."""
    published = reading.published
    group = reading.seats.group[seat]
    ends = np.cumsum(published.counts)
    before = np.append(0, ends)[published.offsets[:-1]]
    entry = np.searchsorted(ends, before[group] + source.belows(published.sizes[group]), side="right")
    return pa.array(published.values).take(pa.array(published.codes[entry]))


def _deperturbed(reading: Reading, seat: NDArray[np.int64], source: Source) -> tuple[pa.Array, str]:
    """A value of each tuple's place, as likely as its weight to within 2^-53, and what must be said of it."""
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
    return pa.array(shape.values).take(pa.array(shape.weights.codes[entry])), "; ".join(shape.notes)
