# SPDX-License-Identifier: Apache-2.0
"""Taxonomies: trees of ever coarser labels over the values of a column (generalization hierarchies).

A taxonomy is listed value by value (`Taxonomy.from_csv`, `from_nested`, `from_file`), or it is a rule that makes a tree
for the values that come (`Taxonomy.intervals`, `quantiles`, `prefix`, `dates`). Either way `bind` fits it to a column.
Options name either as a text: a file by its path, which ends in one of `FILES`, a rule as ``prefix:5``.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, MissingExtra, ParameterError, SourceError
from glasshouse.microdata.domains import few
from glasshouse.microdata.taxonomy.bound_taxonomy import BoundTaxonomy
from glasshouse.microdata.taxonomy.builders import (
    BUILDERS,
    FORMS,
    Builder,
    Dates,
    Intervals,
    Prefix,
    Quantiles,
    builder_of,
)
from glasshouse.microdata.taxonomy.hierarchy_file import (
    DELIMITERS,
    hierarchy_rows,
    hierarchy_text,
    text_delimiter,
    without_header,
)
from glasshouse.microdata.taxonomy.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["BoundTaxonomy", "Taxonomy", "check_suffix", "names_file"]

FILES = (".csv", ".json", ".yaml", ".yml")
"""How files of taxonomies end. No rule that is written as a text ends so, and no text is both."""

_MOST_SHOWN = 100  # characters of a file's name
_OUTSIDE = "\x1fanywhere"  # the root above a taxonomy and the values that it lacks


@dataclass(frozen=True, repr=False, slots=True)
class Taxonomy:
    """Ever coarser labels over values; made by one of the methods below, never changed, compared by content.

    Labels that are equal on the way from a leaf to the root are one node. Where distinct nodes still share a label, a
    leaf and the root keep it, and any other node is published with its parent in brackets: ``other (stomach)``.
    Refused with `DomainError`, with the labels concerned in its ``values``: a leaf that is listed twice, a label with
    two parents, rows of different lengths, a label that comes back above itself, a leaf labelled as the root.

    Examples
    --------
    >>> Taxonomy.from_nested({"any": {"lungs": ["flu", "asthma"], "stomach": ["ulcer", "gastritis"]}})
    Taxonomy.from_nested({'any': {'lungs': ['flu', 'asthma'], 'stomach': ['ulcer', 'gastritis']}})
    >>> ages = Taxonomy.intervals(width=5).bind("age", pa.array([3, 17, 8]))
    >>> ages.labels
    ('[0, 20)', '[0, 10)', '[10, 20)', '[0, 5)', '[5, 10)', '[15, 20)', '3', '8', '17')
    """

    source: Tree | Builder

    @staticmethod
    def from_csv(
        path: str | Path, delimiter: str | None = None, *, encoding: str = "utf-8-sig", header: bool | None = None
    ) -> Taxonomy:
        """Read a hierarchy in ARX's form: a row for each value, the value first and the root last.

        Parameters
        ----------
        path
            The file.
        delimiter
            The separator of fields. By default it is detected: the one of semicolon, comma and tab with which all rows
            have equally many fields and the same root. If this is true of two of them, a `DomainError` is raised.
        encoding
            Of the file.
        header
            Whether the first row has the names of levels. By default it is taken to have them if its last field is not
            the root of the other rows.
        """
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
            raise ParameterError("Taxonomy.from_csv", "delimiter", "one character", delimiter)
        try:
            text = Path(path).read_bytes().decode(encoding)
            found = text_delimiter(text, Path(path).name) if delimiter is None else delimiter
            rows = hierarchy_rows(text, found)
        except (OSError, UnicodeDecodeError, LookupError, csv.Error) as error:
            raise _unreadable(path, error) from error
        if rows and max(map(len, rows)) == 1 < len(rows):
            raise DomainError(
                f"{Path(path).name} has one field in every row: see whether {found!r} is the right delimiter"
            )
        return Taxonomy(Tree.from_rows(without_header(rows, header=header)))

    def to_csv(self, values: pa.Array | pa.ChunkedArray | None = None, *, name: str = "", delimiter: str = ";") -> str:
        """Give the text of a hierarchy file in ARX's form, which `from_csv` reads again.

        Parameters
        ----------
        values
            The column, whose missing values are left out. A rule such as `prefix` needs it, for it lists no values
            itself. A listed taxonomy is written whole, and is only checked to have every value of the column.
        name
            The name of the column, for messages.
        delimiter
            What divides fields: a semicolon, which ARX takes unless told otherwise, a comma or a tab.

        Examples
        --------
        >>> print(Taxonomy.from_nested({"any": {"lungs": ["flu", "asthma"], "gout": []}}).to_csv(), end="")
        flu;lungs;any
        asthma;lungs;any
        gout;gout;any
        >>> print(Taxonomy.prefix(length=3).to_csv(pa.array(["476", "479", "476"])), end="")
        476;47*;4**;*
        479;47*;4**;*
        """
        if delimiter not in DELIMITERS:
            raise ParameterError("Taxonomy.to_csv", "delimiter", "a semicolon, a comma or a tab", delimiter)
        if values is None and not isinstance(self.source, Tree):
            raise ParameterError("Taxonomy.to_csv", "values", "the values of the column, for a rule", values)
        if values is not None:
            counted = _present(_plain(values)).value_counts()
            bound = self.bind(name, counted.field(0), counts=np.asarray(counted.field(1)))
            if not isinstance(self.source, Tree):
                return hierarchy_text(bound.labels, bound.parents.tolist(), bound.leaves.tolist(), delimiter)
        assert isinstance(self.source, Tree)
        ordered = self.source.leaves_below.get(self.source.names[0], self.source.leaves)
        return hierarchy_text(self.source.names, self.source.parents, self.source.nodes_of(ordered), delimiter)

    @staticmethod
    def from_nested(nested: Mapping[Any, Any] | Sequence[Any]) -> Taxonomy:
        """Take ``{label: what is below}``; what is below is such a dict, or a list of labels and dicts.

        With several labels on top the root is ``*``.

        >>> Taxonomy.from_nested({"north": ["Oslo", "Turku"], "south": ["Rome"]})
        Taxonomy.from_nested({'*': {'north': ['Oslo', 'Turku'], 'south': ['Rome']}})
        """
        return Taxonomy(Tree.from_nested(nested))

    @staticmethod
    def from_file(path: str | Path) -> Taxonomy:
        """Read a taxonomy by its suffix: ``.csv`` as `from_csv`, ``.json``, ``.yaml`` and ``.yml`` as `from_nested`."""
        check_suffix(path)
        suffix = Path(path).suffix.lower()
        if suffix == ".csv":
            return Taxonomy.from_csv(path)
        readers = {".json": _from_json, ".yaml": _from_yaml, ".yml": _from_yaml}
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(path, error) from error
        return Taxonomy.from_nested(readers[suffix](text, path))

    @staticmethod
    def of(given: Taxonomy | str | Path) -> Taxonomy:
        """The taxonomy that is meant: given as one; as the text of a rule, such as ``intervals:10``; or as a path.

        >>> Taxonomy.of("prefix:5")
        Taxonomy.prefix(length=5)
        """
        if isinstance(given, Taxonomy):
            return given
        return Taxonomy.from_file(given) if names_file(given) else Taxonomy(builder_of(str(given)))

    @staticmethod
    def intervals(*, width: float, start: float = 0, fanout: int = 2, levels: int | None = None) -> Taxonomy:
        """Make equal-width intervals of numbers: ``[30, 35)``, ``[30, 40)``, ``[20, 40)``, ...

        Parameters
        ----------
        width
            Width of the narrowest intervals.
        start
            Where one of them begins; borders lie at ``start`` plus multiples of the width.
        fanout
            How many intervals of one level make one of the next.
        levels
            How many levels of intervals lie below the root ``*``. Without it there are as many as it takes until one
            interval, which is then the root, or the two that meet at ``start``, hold all values.
        """
        return Taxonomy(Intervals(width=width, start=start, fanout=fanout, levels=levels))

    @staticmethod
    def quantiles(*, n: int, fanout: int = 2) -> Taxonomy:
        """Make ``n`` intervals (or fewer) that hold about equally many records, then unions of ``fanout``, up to ``*``.

        The borders are values of the table: a `DisclosureWarning` says so when it is bound. The outermost intervals are
        open, ``(-inf, 20)`` and ``[60, inf)``. Numbers, dates and timestamps.
        """
        return Taxonomy(Quantiles(n=n, fanout=fanout))

    @staticmethod
    def prefix(*, length: int) -> Taxonomy:
        """Mask codes of up to ``length`` characters from the end: ``1305*``, ``130**``, ``13***``, ``1****``, ``*``.

        Whole numbers get their leading zeros back: 2139 is ``02139`` with ``length=5``.
        """
        return Taxonomy(Prefix(length=length))

    @staticmethod
    def dates(*, levels: Sequence[str] = ("month", "quarter", "year")) -> Taxonomy:
        """Cut dates and timestamps to some of day, month, quarter, year, decade, in this order; then ``*``."""
        return Taxonomy(Dates(levels=(levels,) if isinstance(levels, str) else tuple(levels)))

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Taxonomy:
        """Make the taxonomy again from the result of `to_data`.

        >>> Taxonomy.from_data(Taxonomy.prefix(length=5).to_data())
        Taxonomy.prefix(length=5)
        """
        parameters = dict(data)
        kind = parameters.pop("kind", None)
        if kind == "tree" and list(parameters) == ["tree"]:
            return Taxonomy(Tree.from_data(parameters["tree"]))
        if kind not in BUILDERS:
            known = ", ".join(["tree", *BUILDERS])
            raise ParameterError("Taxonomy.from_data", "kind", f"one of {known}", kind)
        try:
            return Taxonomy(BUILDERS[kind](**parameters))
        except TypeError:
            raise ParameterError("Taxonomy.from_data", kind, "given with its own parameters", parameters) from None

    def to_data(self) -> dict[str, Any]:
        """Give plain data for a recipe: a tree as nested lists with labels, a rule as its name and parameters.

        >>> Taxonomy.from_nested({"any": {"lungs": ["flu", "asthma"]}}).to_data()
        {'kind': 'tree', 'tree': ['any', ['lungs', 'flu', 'asthma']]}
        """
        return self.source.to_data()

    def __repr__(self) -> str:
        return repr(self.source)

    @property
    def is_listed(self) -> bool:
        """Whether it is listed value by value; else it is a rule, whose labels say by themselves what they cover."""
        return isinstance(self.source, Tree)

    @property
    def looks_at_table(self) -> bool:
        """Whether its labels depend on the table that it is bound to, as those of `quantiles` do."""
        return isinstance(self.source, Builder) and self.source.looks_at_table

    @property
    def leaves(self) -> tuple[str, ...]:
        """The texts of all values that it lists; none of a rule."""
        return self.source.leaves if isinstance(self.source, Tree) else ()

    @property
    def leaves_below(self) -> Mapping[str, tuple[str, ...]]:
        """The leaves below every inner node, by the label under which it is published; none for a rule.

        >>> Taxonomy.from_nested({"any": {"lungs": ["flu", "asthma"], "stomach": ["ulcer"]}}).leaves_below["lungs"]
        ('flu', 'asthma')
        """
        return self.source.leaves_below if isinstance(self.source, Tree) else {}

    def with_strangers(self, name: str, values: pa.Array) -> Taxonomy:
        """The taxonomy, and beside it the values that it lacks: no node of it covers them. A rule takes what comes.

        >>> tree = Taxonomy.from_nested({"any": ["flu", "asthma"]})
        >>> bound = tree.with_strangers("ill", pa.array(["flu", "gout"])).bind("ill", pa.array(["flu", "gout"]))
        >>> bound.ranges[bound.labels.index("any")].tolist(), bound.order.tolist()
        ([0, 0], [0, 1])
        """
        if not isinstance(self.source, Tree):
            return self
        strangers = self.source.missed(name, _plain(values))
        return Taxonomy(self.source.beside(_OUTSIDE, strangers)) if strangers else self

    def bind(self, name: str, values: pa.Array, *, counts: NDArray[np.int64] | None = None) -> BoundTaxonomy:
        """Fit the taxonomy to the distinct ``values`` of column ``name``, or refuse with the values that it misses.

        Leaves and values meet by the value's text: ``37`` is the leaf ``"37"``. Leaf order is that of the taxonomy, and
        within it that of the values, where these are numbers or dates. Only `quantiles` uses ``counts``, how often each
        value occurs; without them each value counts once.
        """
        plain = _plain(values)
        if not len(plain):
            raise DomainError(f"column {name!r} has no values, so no taxonomy can be used for it", column=name)
        if pc.count_distinct(plain).as_py() < len(plain):  # a null does not count
            raise DomainError(
                (f"column {name!r}: a taxonomy can only be used for a list of different values, without missing ones"),
                column=name,
            )
        return self.source.bind(name, plain, counts)

    def bin(
        self, values: pa.Array, *, name: str = "", weights: NDArray[np.int64] | None = None
    ) -> tuple[pa.Array, tuple[str, ...]]:
        """Replace every value of a column by its first-level label; give the labels that occur, in natural order, too.

        Missing values (and NaN) stay missing. ``weights`` says how many rows each value stands for; one unless given.

        >>> Taxonomy.intervals(width=10).bin(pa.array([34, 7, None, 31]))[0].to_pylist()
        ['[30, 40)', '[0, 10)', None, '[30, 40)']
        >>> Taxonomy.intervals(width=10).bin(pa.array([34, 7, None, 31]))[1]
        ('[0, 10)', '[30, 40)')
        """
        plain = _plain(values)
        if pa.types.is_floating(plain.type):
            plain = pc.if_else(pc.is_nan(plain), pa.scalar(None, plain.type), plain)
        encoded = plain.dictionary_encode()
        if not len(encoded.dictionary):
            return pa.nulls(len(plain), pa.string()), ()
        if weights is not None:
            weights = weights[np.asarray(encoded.indices.is_valid())]
        counts = np.bincount(encoded.indices.drop_null().to_numpy(), weights, minlength=len(encoded.dictionary))
        order = pc.array_sort_indices(encoded.dictionary)  # so that no message depends on the order of rows
        bins, labels = self.source.bins(name, encoded.dictionary.take(order), counts.astype(np.int64)[order])
        codes = np.empty(len(bins), np.int64)
        codes[order] = bins
        return pa.array(labels, pa.string()).take(pa.array(codes).take(encoded.indices)), tuple(labels)


def check_suffix(path: str | Path) -> None:
    """Refuse a path whose suffix is not that of a taxonomy file."""
    if Path(path).suffix.lower() not in FILES:
        name = Path(path).name[:_MOST_SHOWN]
        raise SourceError(
            f"a taxonomy is read from a file that ends in {', '.join(FILES)}, or is one of {FORMS}, got {name!r}",
            source=path,
        )


def names_file(given: str | Path) -> bool:
    """Whether a file is meant, and not a rule: a path, or a text that does not begin as a rule or ends as a file does.

    >>> names_file("prefix:5"), names_file("prefix:5.csv"), names_file(Path("prefix:5")), names_file("tree.txt")
    (False, True, True, True)
    """
    if not isinstance(given, str):
        return True
    return given.partition(":")[0] not in BUILDERS or Path(given).suffix.lower() in FILES


def _plain(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Make one array of plain values, without chunks or dictionary."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _present(values: pa.Array) -> pa.Array:
    """The values that are there."""
    there = values.drop_null()
    return there.filter(pc.invert(pc.is_nan(there))) if pa.types.is_floating(there.type) else there


def _unreadable(path: str | Path, error: Exception) -> SourceError:
    if isinstance(error, FileNotFoundError):
        from glasshouse.microdata.reading.sources import near_name

        return SourceError(f"there is no file {path}{near_name(Path(path))}", source=path)
    wrong_encoding = isinstance(error, UnicodeDecodeError)
    reason = "is not text in the encoding asked for" if wrong_encoding else f"cannot be read: {error}"
    return SourceError(f"the taxonomy {Path(path).name!r} {reason}", source=path)


def _unique(pairs: Sequence[tuple[Hashable, Any]]) -> dict[Hashable, Any]:
    """Make a dict, refused where a label comes twice: a plain dict would silently keep the last."""
    twice = [label for label, count in Counter(label for label, _ in pairs).items() if count > 1]
    if twice:
        raise DomainError(f"the taxonomy has these labels more than once: {few(twice)}", values=twice)
    return dict(pairs)


def _from_json(text: str, path: str | Path) -> Any:
    """Read numbers as they are written: 1.50 is the label ``1.50``."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_int=str, parse_float=str)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _unreadable(path, error) from error


def _from_yaml(text: str, path: str | Path) -> Any:
    """Read every scalar as it is written: ``no`` is Norway, not false."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra("reading a taxonomy from YAML", extra="yaml") from error

    class Loader(yaml.BaseLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
            made = [self.construct_object(part, deep=True) for pair in node.value for part in pair]
            return _unique(list(zip(made[::2], made[1::2], strict=True)))

    try:
        return yaml.load(text, Loader=Loader)  # it makes text, lists and dicts, nothing else
    except (yaml.YAMLError, RecursionError, TypeError) as error:
        raise _unreadable(path, error) from error
