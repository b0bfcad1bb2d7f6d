# SPDX-License-Identifier: Apache-2.0
"""Read: a release comes back from its folder after everything about it was checked; a hostile one is refused.

First the manifest, then the list of files, then sizes and sums, then how much room the tables will take, and only then
the tables. Nothing in a package is executed, no path leaves the folder, and what is read is bounded.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import SourceError
from glasshouse.release.edition import check_editions
from glasshouse.release.layout import COUNTS, NUMBERS, layout_of
from glasshouse.release.package.container.container import MANIFEST, opened, refused
from glasshouse.release.package.folders import tidy
from glasshouse.release.package.manifest_check import cells_shown
from glasshouse.release.package.pair import RELEASE, mend, warn_if_apart
from glasshouse.release.package.stream import MOST_BYTES, ReleaseStream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.release.package.container.container import Container
    from glasshouse.release.package.manifest import Manifest
    from glasshouse.release.release import Release

__all__ = ["MOST_BYTES", "load"]

_TRIES = 5


def load(path: str | Path, *, most_bytes: int = MOST_BYTES) -> Release:
    """Read a release back from its folder or its zip archive, after checking the sums of its files.

    Releases of every format that was ever written are read. One that was tampered with, cut short or added to is
    refused, and so is what Glasshouse did not write. `glasshouse.load` checks the recipe too, and explains the bound.
    """
    folder = Path(path)
    _mend(folder)
    for _ in range(_TRIES):
        with opened(folder) as container:
            try:
                return _load(container, most_bytes)
            except SourceError as error:
                if container.is_still_at(folder):
                    raise refused(str(folder), folder, error) from None
        # somebody replaced the release while it was read: read the new one
    raise SourceError(
        f"{folder} was changed again and again while it was read: wait until nobody writes to it, and try again",
        source=folder,
    )


def _mend(folder: Path) -> None:
    """Finish what a killed run began, so that a release and the audit beside it belong together."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):  # what cannot be read is told below
        if folder.is_file():
            return
        real = folder.resolve()
        if real.name == RELEASE:
            mend(real.parent)
            warn_if_apart(real.parent)
        tidy(real, remove=False)


def _load(container: Container, most_bytes: int) -> Release:
    stream = ReleaseStream(container, most_bytes)
    tables = stream.whole_tables()
    shown = {table.name: cells_shown(table, tables[table.name].select) for table in stream.manifest.tables}
    left = stream.left_of(tables)
    _check_numbers(tables, stream.manifest)
    layout_of(stream.manifest.recipe).check(tables, stream.manifest.recipe)
    release = stream.release_of(tables, left, shown)
    check_editions(release)
    return release


def _check_numbers(tables: Mapping[str, pa.Table], manifest: Manifest) -> None:
    """Groups are numbered within their table, records are counted, and both come to as many as the manifest says.

    To count makes room for as many groups as the largest number says; so much must be true beforehand.
    """
    own = (*manifest.recipe.quasi, *manifest.recipe.sensitive)
    totals = [table.num_rows for table in tables.values()]
    for name, table in tables.items():
        for column in (column for column in table.column_names if column not in own):
            values = table[column]
            if not pa.types.is_integer(values.type) or values.null_count or not len(values):
                raise SourceError(f"the table {name!r} has values in {column!r} that are not whole numbers")
            least, most = (int(end) for end in pc.min_max(values).as_py().values())
            if least < 1:
                raise SourceError(f"the table {name!r} has numbers below 1 in {column!r}")
            if column in NUMBERS and most > table.num_rows:
                raise SourceError(f"the table {name!r} has more group numbers than rows")
            if column in COUNTS:
                if most > manifest.n_tuples or pc.sum(values).as_py() != manifest.n_tuples:
                    raise SourceError(
                        f"the counts of the table {name!r} do not add up to the number of records that were published"
                    )
                totals.append(manifest.n_tuples)
    if max(totals, default=0) != manifest.n_tuples:
        raise SourceError(f"its tables do not have as many records as {MANIFEST} says")
