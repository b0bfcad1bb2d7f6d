# SPDX-License-Identifier: Apache-2.0
"""Release: published tables, recipe and guarantee; immutable, without any reference to the microdata."""

from __future__ import annotations

import re
import textwrap
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

from glasshouse.errors import InputError, MissingExtra
from glasshouse.plural import counted
from glasshouse.references import explained
from glasshouse.release.layout import LEFT, layout_of
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from glasshouse.cells.compound import Part
    from glasshouse.release.edition import Edition
    from glasshouse.release.layout import Layout

__all__ = ["ONE_ROW_PER_PERSON", "Guarantee", "PublishedColumn", "Recipe", "Release", "frame_of", "given_release"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a release was made, as plain data: principle, method, recoding and their parameters.

    Everybody may know it; it never holds a seed. The catalogue turns it back into objects.

    Parameters
    ----------
    principle
        A principle as data, or one per sensitive column (``by-column``).
    method, recoding
        Name and parameters of the grouping method and of the recoding.
    quasi, sensitive
        Names of the published columns, in their order.
    suppress
        Largest share of records that could be dropped, as exact text; ``"0"`` if none.
    seeded
        Whether the random choices came from a fixed seed: such a release is for tests, its choices can be repeated.

    Examples
    --------
    >>> import json
    >>> recipe = Recipe(principle={"name": "k-anonymity", "k": 5}, method={"name": "mondrian"},
    ...                 recoding={"name": "boxes"}, quasi=("age",))
    >>> Recipe.from_data(json.loads(json.dumps(recipe.to_data()))) == recipe
    True
    """

    principle: Mapping[str, Any]
    method: Mapping[str, Any]
    recoding: Mapping[str, Any]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    suppress: str = "0"
    seeded: bool = field(default=False)

    @property
    def is_exact(self) -> bool:
        """Whether everybody's quasi-identifiers are published as they are, so that all see who is in the table."""
        return layout_of(self).exact or self.recoding.get("k") == 1

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        data = asdict(self)
        return {**data, "quasi": list(self.quasi), "sensitive": list(self.sensitive)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Recipe:
        """Make a recipe from plain data."""
        return cls(**{**data, "quasi": tuple(data["quasi"]), "sensitive": tuple(data["sensitive"])})


ONE_ROW_PER_PERSON: Final = "one row per person"
"""What is assumed where the publisher named no identifier; ties between tuples were then broken by a secret order."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is guaranteed, in words and numbers, against which attacker. Nothing beyond its theorem is claimed.

    Parameters
    ----------
    promise
        What holds, in one sentence with its numbers.
    adversary
        ``linking``, ``algorithm-aware`` or ``corrupting``.
    adversary_knows
        What that attacker knows and assumes, as a part of a sentence.
    theorem
        Why it holds.
    assumptions
        What must be true for it.
    limits
        What is not promised.
    """

    promise: str
    adversary: str
    adversary_knows: str
    theorem: str
    assumptions: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            ("Guaranteed", self.promise),
            ("Against", self.adversary_knows),
            ("Reason", self.theorem),
            *(("Assumed", text) for text in self.assumptions),
            *(("Not guaranteed", text) for text in self.limits),
            *(("Names", text) for text in self.references),
        ]
        width = max(len(head) for head, _ in lines) + 2
        return "\n".join(
            textwrap.fill(
                visible(f"{text[:1].upper()}{text[1:]}."),
                112,
                initial_indent=head.ljust(width),
                subsequent_indent=" " * width,
            )
            for head, text in lines
        )

    @property
    def references(self) -> tuple[str, ...]:
        """The papers and theorems that it names, with an explanation of each in a sentence."""
        return explained(self.theorem, *self.assumptions, *self.limits)

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "assumptions": list(self.assumptions), "limits": list(self.limits)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Guarantee:
        """Make a guarantee from plain data."""
        return cls(**{**data, "assumptions": tuple(data["assumptions"]), "limits": tuple(data["limits"])})


@dataclass(frozen=True, kw_only=True)
class PublishedColumn:
    """What an analyst must know about a published column: its role, the kind of its values, what a cell means.

    Where the distance between its values means something and cannot be seen from them, ``axis`` tells it: the published
    values in their declared order, and for each height of a declared tree the number of each value's ancestor.

    Where a taxonomy or an order was declared for a quasi-identifier, ``declared`` tells of it what the release carries,
    by its ``kind``:

    ``tree``, ``intervals``, ``prefix``, ``dates``
        The whole taxonomy, as `Taxonomy.to_data` gives it: every node and every leaf, or the rule.
    ``nodes``
        A taxonomy of which only the nodes are told that occur as cells, and which of them lie within which: a list of
        objects with a ``label``, ``leaf`` if it is a value, and ``within``, the lowest other listed node above it.
        Empty where cells are no nodes.
    ``unknown nodes``
        A taxonomy of which nothing is told, as in formats 1 and 2.
    ``quantiles``
        A taxonomy whose borders came from the table: its labels tell what they cover, and nothing else is told.
    ``order``
        A declared order of categories: all values under ``order``, or no such key if it is not told.

    ``limits`` are the texts of bottom and top codes: values that stand for themselves and everything below, or above.

    ``weight`` is told of the survey weight, whose values are the means of classes: the ``means`` in their order, the
    ``cuts`` with which the second class and each further one begins, and the standard ``deviations`` of weights from
    the mean of their class, all as texts. ``parts`` is told of a compound column: the columns whose values each of its
    values lists.
    """

    name: str
    role: str
    kind: str
    meaning: str
    axis: Mapping[str, Any] | None = None
    declared: Mapping[str, Any] | None = None
    limits: Mapping[str, str] | None = None
    weight: Mapping[str, Sequence[str]] | None = None
    parts: tuple[Part, ...] | None = None

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        told: dict[str, Any] = {"name": self.name, "role": self.role, "kind": self.kind, "meaning": self.meaning}
        if self.axis is not None:
            told["axis"] = dict(self.axis)
        if self.declared is not None:
            told["declared"] = dict(self.declared)
        if self.limits is not None:
            told["limits"] = dict(self.limits)
        if self.weight is not None:
            told["weight"] = {name: list(numbers) for name, numbers in self.weight.items()}
        if self.parts is not None:
            told["parts"] = [part._asdict() for part in self.parts]
        return told


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """A published table or set of tables with recipe and guarantee: what may be made public.

    Attributes
    ----------
    tables
        The published tables by name, as Arrow tables. `data` is the one of a release that has one; `to_pandas` and
        `to_polars` give frames.
    columns
        What each published column means.
    recipe
        How it was made.
    guarantee
        What is promised.
    n_tuples, n_dropped
        Published records, and records that were left out to reach the principle.
    n_suppressed
        How many of those that were left out were suppressed before the table was divided.
    identified
        Whether an identifier was declared, so that nobody has two rows.
    title, licence
        What it is called, and under which terms it may be used; empty where nothing was said.
    editions
        Where it is published again for people who came later: its editions, in their order. Otherwise none.
    left
        With editions: the people who left, by what is published of their quasi-identifiers; None if nobody did.
    borders
        Where files of large tables begin: by table the numbers of the rows, counted from 0, with which the second file
        and each further one begins. A table that is not named is written as one file.
    spent
        CPU seconds that publishing it took; 0 where that is not known. It is never written.
    other_writer
        For a release that was loaded from a folder: the format and version that wrote it, if it was not this one. The
        words of its guarantee were then made again from its recipe. Otherwise empty.
    """

    tables: Mapping[str, pa.Table]
    columns: tuple[PublishedColumn, ...]
    recipe: Recipe
    guarantee: Guarantee
    n_tuples: int
    n_dropped: int = 0
    n_suppressed: int = 0
    identified: bool = False
    native: str = "arrow"
    title: str = ""
    licence: str = ""
    editions: tuple[Edition, ...] = ()
    left: pa.Table | None = None
    borders: Mapping[str, Sequence[int]] = field(default_factory=dict)
    spent: float = 0.0
    other_writer: str = ""

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} ({counted(t.num_rows, 'row')})" for name, t in self.tables.items())
        return f"Release({tables}; {self.guarantee.promise})"

    @property
    def sets(self) -> tuple[str, ...]:
        """The sensitive columns whose values are sets: all that a person has, as a JSON list."""
        return tuple(column.name for column in self.columns if column.kind == "set")

    @property
    def weight(self) -> PublishedColumn | None:
        """The column of survey weights, if there is one."""
        return next((column for column in self.columns if column.weight is not None), None)

    @property
    def ties_are_known(self) -> bool:
        """Whether people with equal quasi-identifiers were in the order of their identifiers, which others may know.

        Versions before 0.3 put them so where there were identifiers; since then their order is secret.
        """
        version = re.search(r"glasshouse (\d+)\.(\d+)", self.other_writer)
        earlier = version is not None and (int(version[1]), int(version[2])) < (0, 3)
        return earlier and ONE_ROW_PER_PERSON not in self.guarantee.assumptions

    @property
    def layout(self) -> Layout:
        """Which tables it has, and how they are read."""
        return layout_of(self.recipe)

    @property
    def packaged(self) -> dict[str, pa.Table]:
        """All tables of its package: those of the recoding, and that of the people who left."""
        return dict(self.tables) if self.left is None else {**self.tables, LEFT: self.left}

    @property
    def data(self) -> pa.Table:
        """The table of a release that has a single one."""
        if len(self.tables) > 1:
            names = ", ".join(map(repr, self.tables))
            raise InputError(f"this release has several tables, {names}: take one, as in release.tables[...]")
        (table,) = self.tables.values()
        return table

    def to_native(self, name: str | None = None) -> Any:
        """Convert a published table to the type of frame that was read."""
        return frame_of(self.data if name is None else self._table(name), self.native)

    def to_pandas(self, name: str | None = None) -> Any:
        """The published table as a pandas frame; of a release with several tables a dict of frames by name.

        With ``name`` the table that is called so, however many there are.
        """
        return self._frames("pandas", name)

    def to_polars(self, name: str | None = None) -> Any:
        """The same as `to_pandas`, with polars frames."""
        return self._frames("polars", name)

    def _frames(self, library: str, name: str | None) -> Any:
        if name is not None:
            return frame_of(self._table(name), library)
        frames = {own: frame_of(table, library) for own, table in self.tables.items()}
        return frames if len(frames) > 1 else next(iter(frames.values()))

    def _table(self, name: str) -> pa.Table:
        if name not in self.tables:
            raise InputError(f"this release has no table {name!r}: it has {', '.join(map(repr, self.tables))}")
        return self.tables[name]

    def save(
        self,
        path: str | Path,
        *,
        format: str = "parquet",
        force: bool = False,
        allow_seed: bool = False,
        title: str | None = None,
        licence: str | None = None,
        zip: bool | None = None,
    ) -> None:
        """Write the release to a new folder or zip archive; if that fails, nothing is left.

        See `glasshouse.release.package.write.save`.
        """
        from glasshouse.release.package.write import save

        save(self, path, format=format, force=force, allow_seed=allow_seed, title=title, licence=licence, zip=zip)

    def copy_to(self, folder: str | Path, *, release: str | Path, format: str, force: bool = False) -> None:
        """Write the tables once more, as an Excel workbook (``xlsx``) or as files of Stata (``stata``).

        ``release`` is where the release itself lies, which the copy belongs to. What the format cannot hold is refused.
        """
        from pathlib import Path

        from glasshouse.release.copies.copy_folder import write_copy

        write_copy(self, Path(release), Path(folder), format, force=force)


def given_release(release: Any) -> Release:
    """The release that somebody gave; anything else is refused, with the call that reads a release.

    >>> given_release("out/release")
    Traceback (most recent call last):
    glasshouse.errors.InputError: this is a path, and not a release: give gh.load('out/release')
    """
    if isinstance(release, Release):
        return release
    if isinstance(release, str | PathLike):
        raise InputError(f"this is a path, and not a release: give gh.load({str(release)!r})")
    raise InputError(
        f"this is not a release, but a value of the type {type(release).__name__}: read a release with "
        "gh.load('out/release')"
    )


def frame_of(table: pa.Table, library: str) -> Any:
    """A table as a frame of ``pandas`` or ``polars``, or a relation of ``duckdb``; of anything else as it is."""
    if library not in ("pandas", "polars", "duckdb"):
        return table
    import importlib

    try:
        module = importlib.import_module(library)
    except ImportError:
        raise MissingExtra(f"giving results back as {library}", extra="frames") from None
    return table.to_pandas() if library == "pandas" else module.from_arrow(table)
