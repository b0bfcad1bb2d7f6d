# SPDX-License-Identifier: Apache-2.0
"""Tree: a taxonomy that is listed value by value, checked when it is made.

A parent and a child with one label are one node: files whose rows all have one length pad short ways with repetitions.
Where distinct nodes still share a label, a leaf keeps it, for it is a value, and so does the root; every other node is
published with its parent in brackets, ``other (stomach)``, and with further ancestors until the label is its own. That
depends on the taxonomy alone, never on the values at hand.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError, ParameterError
from glasshouse.microdata.domains import few, text_of
from glasshouse.microdata.taxonomy.bound_taxonomy import (
    BoundTaxonomy,
    depths,
    first_leaves,
    level_order,
    renumbered,
    upward,
)
from glasshouse.plural import counted
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["ANY", "Tree"]

ANY = "*"  # the root's label where none is given, as in ARX
_LONGEST_CODE = 100  # a tree whose code is longer prints as a summary
_SCALARS = (str, bool, int, float, Decimal, datetime.date, datetime.time)


@dataclass(frozen=True, repr=False)
class Tree:
    """Labels and parents of nodes, numbered level by level (see `taxonomy_nodes`)."""

    labels: tuple[str, ...]
    parents: tuple[int, ...]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]]) -> Tree:
        """Take rows ``leaf, ..., root``, all of one length.

        >>> Tree.from_rows([("flu", "lungs", "*"), ("ulcer", "stomach", "*")]).labels
        ('*', 'lungs', 'stomach', 'flu', 'ulcer')
        """
        if not rows:
            raise DomainError("the taxonomy has no rows")
        length = Counter(map(len, rows)).most_common(1)[0][0]
        ragged = [row[0] for row in rows if len(row) != length]
        if ragged:
            _refuse(
                f"most rows of the taxonomy have {length} fields; correct the rows with more or fewer, those of", ragged
            )
        paths: dict[tuple[str, ...], int] = {}
        groups = [paths.setdefault(tuple(row[1:]), len(paths)) for row in rows]
        return cls.grown([row[0] for row in rows], groups, list(paths))

    @classmethod
    def grown(cls, leaves: Sequence[str], groups: Sequence[int], paths: Sequence[tuple[str, ...]]) -> Tree:
        """Hang leaf ``i`` below ``paths[groups[i]]``, a way up to the root; a label on one level is one node."""
        if len(leaves) == 1 and not paths[0]:
            return cls._settled(list(leaves), [-1])
        tops = dict.fromkeys(path[-1] for path in paths if path)
        if len(tops) != 1:
            _refuse(
                "the last field of every row of the taxonomy is the root, and must be the same in all rows; it is", tops
            )
        labels, parents = [next(iter(tops))], [-1]
        nodes = {(len(paths[0]) - 1, labels[0]): 0}
        homes = np.zeros(len(paths), np.int64)
        contradicted: dict[str, None] = {}
        for group in dict.fromkeys(groups):  # siblings come in the order of their first leaves
            path, here = paths[group], 0
            for level in range(len(path) - 2, -1, -1):
                node = nodes.setdefault((level, path[level]), len(labels))
                if node == len(labels):
                    labels.append(path[level])
                    parents.append(here)
                elif parents[node] != here:
                    contradicted[path[level]] = None
                here = node
            homes[group] = here
        if contradicted:
            _refuse("the taxonomy has two different parents for", contradicted)
        return cls._settled([*labels, *leaves], [*parents, *homes[np.asarray(groups)].tolist()])

    @classmethod
    def from_nested(cls, nested: object) -> Tree:
        """Take dicts ``{label: what is below}`` and lists of labels (or of dicts); see `Taxonomy.from_nested`."""
        waiting: list[tuple[int, object, object]]  # parent, label, what is below
        if isinstance(nested, Mapping) and len(nested) == 1:
            waiting = [(-1, *item) for item in nested.items()]
        elif isinstance(nested, Mapping | list | tuple) and nested:
            waiting = [(-1, ANY, nested)]
        else:
            raise DomainError("a nested taxonomy must be a dict of labels or a list of labels, and must not be empty")
        labels: list[str] = []
        parents: list[int] = []
        seen: set[int] = set()
        for parent, label, content in waiting:  # grows as we go: level by level
            parents.append(parent)
            labels.append(_label(label))
            waiting.extend((len(labels) - 1, *entry) for entry in _entries(content, labels[-1], seen))
        return cls._settled(labels, parents)

    @classmethod
    def from_data(cls, data: object) -> Tree:
        """Take what `to_data` gave: a label, or a list of a label and what is below it."""
        labels: list[str] = []
        parents: list[int] = []
        waiting: list[tuple[int, object]] = [(-1, data)]
        for parent, item in waiting:
            label, *below = item if isinstance(item, list | tuple) and item else [item]
            if not isinstance(label, str):
                raise ParameterError("Taxonomy.from_data", "tree", "a label or a list that begins with one", item)
            parents.append(parent)
            labels.append(label)
            waiting.extend((len(labels) - 1, child) for child in below)
        return cls._settled(labels, parents)

    @classmethod
    def _settled(cls, labels: Sequence[str], parents: Sequence[int]) -> Tree:
        """Put level by level, siblings as they come; make one of parent and child with one label; check the rest."""
        above = np.array(parents, np.int64)
        order = level_order(above, np.arange(len(above)))
        above = renumbered(above, order)
        names = [labels[node] for node in order.tolist()]
        # where children move up, their place among their new siblings is that of their leaves
        n_children = np.bincount(above + 1, minlength=len(above) + 1)[1:]
        place = first_leaves(above, upward(above, (n_children == 0).astype(np.int64), np.add))
        kept = np.ones(len(above), bool)
        joined = np.append(np.arange(len(above)), -1)  # the root's parent, -1, stays
        for node in np.flatnonzero(n_children[1:]) + 1:
            if names[node] == names[above[node]]:
                joined[node] = joined[above[node]]
                kept[node] = False
        above = joined[above]
        # a leaf that is all its parent holds, by the same label: the parent is the leaf
        n_children = np.bincount(above[kept] + 1, minlength=len(above) + 1)[1:]
        for node in np.flatnonzero(kept & (n_children == 0) & (n_children[above] == 1)):
            kept[node] = not node or names[node] != names[above[node]]
        if not kept.all():
            order = np.flatnonzero(kept)
            above, names = renumbered(above, order), [names[node] for node in order]
            order = level_order(above, place[order])
            above, names = renumbered(above, order), [names[node] for node in order]
        tree = cls(tuple(names), tuple(above.tolist()))
        tree.names  # noqa: B018  (refuses contradictions now, not when a column comes)
        return tree

    def __repr__(self) -> str:
        code = f"Taxonomy.from_nested({self._nested()!r})" if len(self.labels) <= _LONGEST_CODE else ""
        if 0 < len(code) <= _LONGEST_CODE:
            return code
        leaves = counted(int(self._is_leaf.sum()), "leaf")
        return f"<Taxonomy of {leaves}, height {depths(self._parents)[-1]}, root {self.labels[0]!r}>"

    def to_data(self) -> dict[str, Any]:
        """Write every inner node as a list of its label and what is below, every leaf as its label."""
        forms: list[Any] = [label if leaf else [label] for label, leaf in zip(self.labels, self._is_leaf, strict=True)]
        for node in range(1, len(forms)):
            forms[self.parents[node]].append(forms[node])
        return {"kind": "tree", "tree": forms[0]}

    @cached_property
    def leaves_below(self) -> dict[str, tuple[str, ...]]:
        """The leaves below every inner node, by the label under which the node is published.

        >>> Tree.from_rows([("flu", "lungs", "*"), ("ulcer", "stomach", "*")]).leaves_below
        {'*': ('flu', 'ulcer'), 'lungs': ('flu',), 'stomach': ('ulcer',)}
        """
        is_leaf = self._is_leaf
        first = first_leaves(self._parents, n_leaves := upward(self._parents, is_leaf.astype(np.int64), np.add))
        in_order = np.flatnonzero(is_leaf)[np.argsort(first[is_leaf])]
        leaves = [self.labels[node] for node in in_order.tolist()]
        return {
            self.names[node]: tuple(leaves[first[node] : first[node] + n_leaves[node]])
            for node in np.flatnonzero(~is_leaf).tolist()
        }

    def beside(self, label: str, leaves: Iterable[str]) -> Tree:
        """Add leaves that the tree lacks beside it, below a new root."""
        return Tree.from_data([label, self.to_data()["tree"], *leaves])

    def bind(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None = None) -> BoundTaxonomy:
        """Cut down to ``values``; numbers and dates are brought into their own order as far as the tree allows."""
        del counts  # a listed taxonomy is what it is, however frequent its values are
        nodes = self._match(name, values)
        kind = values.type
        ranks = None
        if pa.types.is_decimal(kind) or (pa.types.is_primitive(kind) and not pa.types.is_boolean(kind)):
            ranks = np.empty(len(values), np.int64)
            ranks[pc.array_sort_indices(values).to_numpy()] = np.arange(len(values))
        return self.cut(nodes, ranks)

    def cut(self, nodes: Sequence[int], ranks: NDArray[np.int64] | None = None) -> BoundTaxonomy:
        """Keep the leaves ``nodes`` and what is above them; siblings go by the lowest rank below them, if given."""
        absent = len(self.labels)
        lowest = np.full(len(self.labels), absent, np.int64)
        value = np.full(len(self.labels), -1, np.int64)
        value[nodes] = np.arange(len(nodes))
        lowest[nodes] = np.asarray(nodes) if ranks is None else ranks
        lowest = upward(self._parents, lowest, np.minimum)
        used = np.flatnonzero(lowest < absent)
        order = used[level_order(renumbered(self._parents, used), used if ranks is None else lowest[used])]
        return BoundTaxonomy.of(
            labels=[self.names[node] for node in order.tolist()],
            parents=renumbered(self._parents, order),
            heights=upward(self._parents, np.zeros(len(self.labels), np.int64), np.maximum, step=1)[order],
            leaf_counts=upward(self._parents, self._is_leaf.astype(np.int64), np.add)[order],
            values=value[order],
        )

    def bins(
        self, name: str, values: pa.Array, counts: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Code the bin of each value, and list the bins in their natural order.

        A bin is a node that holds leaves alone; a leaf beside branches, or below the root, is a bin of its own.
        """
        branches = np.flatnonzero(~self._is_leaf)[1:]
        mixed = set(self._parents[branches].tolist()) | {0, -1}
        nodes = self._match(name, values)
        homes = [self.parents[node] for node in nodes]
        bins = [node if home in mixed else home for node, home in zip(nodes, homes, strict=True)]
        if bins == nodes:
            message = (
                "the taxonomy has no level between its values and its root, so it cannot put values into bins: "
                "add a level"
            )
            raise DomainError(f"{_of(name)}{message}", column=name or None)
        natural = list(dict.fromkeys(bins[index] for index in self.bind(name, values, counts).order))
        place = {node: index for index, node in enumerate(natural)}
        return np.array([place[node] for node in bins], np.int64), [self.names[node] for node in natural]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The labels of all leaves."""
        return tuple(self._leaves)

    def nodes_of(self, leaves: Iterable[str]) -> list[int]:
        """Find leaves by their labels."""
        return [self._leaves[leaf] for leaf in leaves]

    def _match(self, name: str, values: pa.Array) -> list[int]:
        """Find the leaf of each value, by the value's text."""
        found = self._found(name, values)
        missed = [value for value, node in zip(values.to_pylist(), found, strict=True) if node < 0]
        if missed:
            _refuse(
                f"the taxonomy lacks {len(missed):,} of {counted(len(found), 'value')}; add them:", missed, column=name
            )
        return found

    def missed(self, name: str, values: pa.Array) -> list[str]:
        """The texts of the values that are no leaves."""
        found = self._found(name, values)
        return [text_of(value) for value, node in zip(values.to_pylist(), found, strict=True) if node < 0]

    def _found(self, name: str, values: pa.Array) -> list[int]:
        """The leaf of each value, or -1."""
        leaves = self._leaves
        if not is_text(values.type):
            read = _read_as(list(leaves), values.type)
            if len(set(read)) < len(read):
                twice = {text for text, count in Counter(read).items() if count > 1}
                _refuse(
                    "several values of the taxonomy stand for one value of the column; keep one of each:",
                    [leaf for leaf, text in zip(leaves, read, strict=True) if text in twice],
                    column=name,
                )
            leaves = dict(zip(read, leaves.values(), strict=True))
        return [leaves.get(text_of(value), -1) for value in values.to_pylist()]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each node is published as; the rule is at the top of this file."""
        if len(set(self.labels)) == len(self.labels):
            return self.labels
        leaves = Counter(self.labels[node] for node in np.flatnonzero(self._is_leaf).tolist())
        repeated = [label for label, count in leaves.items() if count > 1]
        if repeated:
            _refuse("the taxonomy has these values more than once:", repeated)
        if self.labels[0] in leaves:
            _refuse(
                "a value has the same label as the root of the taxonomy; give the root another label than",
                self.labels[:1],
            )
        counts = Counter(self.labels)
        shared = [node for node, label in enumerate(self.labels) if counts[label] > 1]
        cyclic = dict.fromkeys(self.labels[node] for node in shared if self._returns(node))
        if cyclic:
            _refuse(
                "in the taxonomy, these labels stand twice above one value, with a different label between them; "
                "rename one of each two:",
                cyclic,
            )
        names = list(self.labels)
        unclear = [node for node in shared if node and not self._is_leaf[node]]
        above = {node: self.parents[node] for node in unclear}
        trails: dict[int, list[str]] = {node: [] for node in unclear}
        while unclear:
            lost = [self.labels[node] for node in unclear if above[node] < 0]
            if lost:
                _refuse(
                    "the taxonomy has labels that are the same and cannot be told apart; rename them:",
                    dict.fromkeys(lost),
                )
            for node in unclear:
                trails[node].append(self.labels[above[node]])
                above[node] = self.parents[above[node]]
                names[node] = f"{self.labels[node]} ({', '.join(trails[node])})"
            counts = Counter(names)
            unclear = [node for node in unclear if counts[names[node]] > 1]
        return tuple(names)

    def _returns(self, node: int) -> bool:
        """Whether the label comes back above the node; a leaf may have the label of its parent."""
        above = self.parents[node]
        if self._is_leaf[node] and above >= 0:
            above = self.parents[above]
        while above >= 0 and self.labels[above] != self.labels[node]:
            above = self.parents[above]
        return above >= 0

    @cached_property
    def _parents(self) -> NDArray[np.int64]:
        return np.array(self.parents, np.int64)

    @cached_property
    def _is_leaf(self) -> NDArray[np.bool_]:
        n_children = np.bincount(self._parents + 1, minlength=len(self.labels) + 1)[1:]
        return np.asarray(n_children == 0)

    @cached_property
    def _leaves(self) -> dict[str, int]:
        return {self.labels[node]: node for node in np.flatnonzero(self._is_leaf).tolist()}

    def _nested(self) -> object:
        """Write the nested form that makes this tree."""
        below: list[list[Any]] = [[] for _ in self.labels]
        for node in range(len(self.labels) - 1, 0, -1):
            below[self.parents[node]].append(_form(self.labels[node], below[node][::-1]))
        form = _form(self.labels[0], below[0][::-1])
        return form if isinstance(form, dict) else {form: []}


def _refuse(message: str, values: Iterable[object], *, column: str | None = None) -> NoReturn:
    values = list(values)
    raise DomainError(f"{_of(column)}{message} {few(values)}", column=column or None, values=values)


def _of(name: str | None) -> str:
    return f"column {name!r}: " if name else ""


def _entries(content: object, label: str, seen: set[int]) -> list[tuple[object, object]]:
    """The pairs of a label and what lies below it, for the content below one label."""
    if content is None or content == "":  # an empty place in YAML
        return []
    if not isinstance(content, Mapping | list | tuple):
        return [(content, None)]
    if content and id(content) in seen:
        _refuse("in a nested taxonomy, no part may contain itself or occur twice; correct what is below", [label])
    seen.add(id(content))
    if isinstance(content, Mapping):
        return list(content.items())
    pairs: list[tuple[object, object]] = []
    for item in content:
        if isinstance(item, list | tuple):
            _refuse("in a nested taxonomy, every inner list needs a label; give one to the list below", [label])
        pairs.extend(_entries(item, label, seen) if isinstance(item, Mapping) else [(item, None)])
    return pairs


def _form(label: str, below: list[Any]) -> Any:
    """One node in nested form: a dict if all children are inner nodes, otherwise a list."""
    keys = [key for form in below if isinstance(form, dict) for key in form]
    if below and len(set(keys)) == len(below):
        return {label: {key: form[key] for form in below for key in form}}
    return {label: below} if below else label


def _label(label: object) -> str:
    if not isinstance(label, _SCALARS):
        kind = type(label).__name__
        raise DomainError(f"a label of a taxonomy is a text, a number or a date, not {kind}", values=[label])
    return text_of(label)


def _read_as(texts: list[str], kind: pa.DataType) -> list[str]:
    """Rewrite each text as that of the value that it means in a column of this type, if it means one."""
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        kind = pa.int64()  # a leaf outside of a narrow type's range is a number all the same
    try:
        return [text_of(value) for value in pa.array(texts, pa.string()).cast(kind).to_pylist()]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [_read_one(text, kind) for text in texts]


def _read_one(text: str, kind: pa.DataType) -> str:
    try:
        return text_of(pa.scalar(text, pa.string()).cast(kind).as_py())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return text
