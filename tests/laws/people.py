"""Tables for the laws: every kind of column, in every combination, with what must be declared to read them.

A table is plain Python here, and so is what it means: the natural order of each column's values, and the paths of its
tree. Nothing is asked of the package, so that a twin built on this knows nothing of codes and domains.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import glasshouse as gh

# leaves in an order that is not alphabetic, levels of different depth
PLACES = {
    "anywhere": {
        "south": {"coast": ["Zadar", "Adra"], "hills": ["Olot"]},
        "north": {"lakes": ["Turku", "Espoo", "Oulu"], "fells": ["Alta"]},
        "missing link": ["Lund", "Bergen"],
    }
}
WARDS = {"any ward": {"odd": ["1", "3", "5"], "even": ["0", "2", "4"]}}  # leaf order is not the numbers' order
FLOORS = {"any floor": {"low": ["0", "1", "2"], "high": {"middle": ["3", "4"], "top": ["5"]}}}
GRADES = ["poor", "fair", "good", "very good", "excellent"]

SENSITIVE = [f"s{i}" for i in range(6)]
SENSITIVE_ORDER = ["s2", "s0", "s1", "s4", "s3", "s5", "never seen"]
SENSITIVE_TREE = {"any": {"A": ["s0", "s3"], "B": {"B1": ["s1", "s4"], "B2": ["s2"]}, "C": ["s5", "never seen"]}}

_START = dt.datetime(2024, 2, 28, 23, 30)
_VALUE = {
    "integer": lambda code: code - 3,
    "beyond 32 bits": lambda code: (code - 2) * (2**33 + 1),
    "float": lambda code: code / 4 + 0.125,  # never whole: pandas could not tell whole floats with gaps from integers
    "date": lambda code: (_START + dt.timedelta(days=code)).date(),
    "timestamp": lambda code: _START + dt.timedelta(seconds=code * 61),
    "boolean": lambda code: code % 2 == 1,
    "category": lambda code: f"v{code}",
    "quoted": lambda code: ["a, b", "missing", "{x}", "*", "x or missing", 'say "so"', " blank", "[1, 2]", "ü"][
        code % 9
    ],
    "grade": lambda code: GRADES[code % 5],
    "place": lambda code: list(leaves(PLACES))[code % 9],
    "ward": lambda code: code % 6,
    "floor": lambda code: code % 6,
}
_TREES: dict[str, Any] = {"place": PLACES, "ward": WARDS, "floor": FLOORS}
KINDS = list(_VALUE)


def leaves(tree: Any) -> Iterator[str]:
    """The values of a tree, in its order."""
    for path in _paths(tree):
        yield path[-1]


def _paths(tree: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            yield from _paths(below, (*above, label))
    elif isinstance(tree, list):
        for leaf in tree:
            yield from _paths(leaf, above)
    else:
        yield (*above, tree)


def _leaf_order(tree: Any, by_text: Mapping[str, Any]) -> list[Any]:
    """The values that occur, in the tree's order; of numbers, siblings come in the order of their smallest."""
    if not isinstance(tree, Mapping | list):
        return [by_text[tree]] if tree in by_text else []
    branches = [_leaf_order(below, by_text) for below in (tree.values() if isinstance(tree, Mapping) else tree)]
    found = [branch for branch in branches if branch]
    if found and not isinstance(found[0][0], str):
        found.sort(key=min)
    return [value for branch in found for value in branch]


@dataclass(frozen=True)
class People:
    """A table about people: columns by name, roles, and for some columns a declared order or a tree."""

    columns: Mapping[str, Sequence[Any]]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ("sensitive",)
    identifier: str | None = None
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    trees: Mapping[str, Any] = field(default_factory=dict)
    categorical: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def options(self) -> dict[str, Any]:
        """What `read` must be told."""
        return {
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "identifier": self.identifier,
            "ordered": dict(self.orders),
            "taxonomies": {name: gh.Taxonomy.from_nested(tree) for name, tree in self.trees.items()},
            "categorical": self.categorical,
            "missing": "category",
        }

    def arrow(self) -> pa.Table:
        return pa.table({name: pa.array(values) for name, values in self.columns.items()})

    def read(self, source: Any = None, **changed: Any) -> gh.Microdata:
        return gh.read(self.arrow() if source is None else source, **{**self.options, **changed})

    def permuted(self, order: Sequence[int]) -> People:
        return self.with_columns({name: [values[i] for i in order] for name, values in self.columns.items()})

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> People:
        return replace(self, columns={**self.columns, **columns})

    def natural_order(self, name: str) -> list[Any]:
        """The values of a column, without gaps: as declared, by its tree, by size or by bytes."""
        values = {0.0 if value == 0.0 and isinstance(value, float) else value for value in self.columns[name]} - {None}
        if name in self.trees:
            by_text = {str(value): value for value in values}
            return _leaf_order(self.trees[name], by_text)
        if name in self.orders:
            return sorted(values, key=list(self.orders[name]).index)
        return sorted(values, key=lambda value: value.encode() if isinstance(value, str) else value)

    def is_ordered(self, name: str) -> bool:
        """Whether an interval of this column means something to a reader."""
        values = self.natural_order(name)
        if isinstance(values[0], str | bool):
            return name in self.orders and name not in self.trees
        return values == sorted(values)

    def paths(self, name: str) -> dict[Any, tuple[str, ...]]:
        """From the root down to every value of a column that has a tree."""
        by_text = {path[-1]: path for path in _paths(self.trees[name])}
        return {value: by_text[str(value)] for value in self.natural_order(name)}


@st.composite
def people(
    draw: st.DrawFn,
    *,
    most: int = 16,
    least: int = 1,
    widest: int = 4,
    gaps: bool = True,
    tree: bool = False,
    sensitive: int = 1,
    occurring: Sequence[str] = ("s0",),
    declared: str = "",
    identifier: bool = False,
) -> People:
    """Tables of up to ``most`` people; degenerate ones (one person, one value, duplicates, wide domains) are frequent.

    Parameters
    ----------
    widest
        Most quasi-identifiers.
    gaps
        Whether values may be missing.
    tree
        Whether the first quasi-identifier has a tree for sure.
    sensitive
        How many sensitive columns.
    occurring
        Sensitive values that occur for sure, in each of them.
    declared
        ``order`` or ``tree``: what the sensitive columns come with. An ordered one has no gaps.
    identifier
        Whether everyone has a name.
    """
    n = draw(st.integers(max(least, len(occurring)), most))
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(draw(st.integers(1, widest)))]
    if tree:
        kinds[0] = draw(st.sampled_from(list(_TREES)))
    columns: dict[str, list[Any]] = {}
    for i, kind in enumerate(kinds):
        largest = draw(st.sampled_from([0, 1, 3, 20, 100_000]))
        codes = draw(st.lists(st.integers(0, largest), min_size=n, max_size=n))
        values = [_VALUE[kind](code) for code in codes]
        columns[f"q{i}"] = [values[0], *_with_gaps(draw, values[1:], gaps)]  # one without a single value is refused
    names = ["sensitive", "second", "third"][:sensitive]
    for name in names:
        drawn = SENSITIVE[: draw(st.integers(1, 6))]
        others = n - len(occurring)
        listed = draw(st.lists(st.sampled_from(drawn), min_size=others, max_size=others))
        columns[name] = [*occurring, *_with_gaps(draw, listed, gaps and declared != "order")]
    if identifier:
        columns["who"] = [f"p{i}" for i in draw(st.permutations(range(n)))]
    return People(
        columns=columns,
        quasi=tuple(f"q{i}" for i in range(len(kinds))),
        sensitive=tuple(names),
        identifier="who" if identifier else None,
        orders={f"q{i}": GRADES for i, kind in enumerate(kinds) if kind == "grade"}
        | (dict.fromkeys(names, SENSITIVE_ORDER) if declared == "order" else {}),
        trees={f"q{i}": _TREES[kind] for i, kind in enumerate(kinds) if kind in _TREES}
        | (dict.fromkeys(names, SENSITIVE_TREE) if declared == "tree" else {}),
    )


def _with_gaps(draw: st.DrawFn, values: list[Any], gaps: bool) -> list[Any]:
    """Leave some values out, now and then."""
    if not gaps or not draw(st.booleans()):
        return values
    left_out = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    return [None if gap else value for gap, value in zip(left_out, values, strict=True)]
