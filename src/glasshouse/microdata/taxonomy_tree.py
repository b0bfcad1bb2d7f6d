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
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.taxonomy_bound import BoundTaxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["ANY", "Tree", "listed"]

ANY = "*"  # the root's label where none is given, as in ARX
_LONGEST_CODE = 100  # a tree whose code is longer prints as a summary
_SCALARS = (str, bool, int, float, Decimal, datetime.date, datetime.time)


@dataclass(frozen=True, repr=False)
class Tree:
    """Labels and parents of nodes in preorder: the root first, every parent before its children, -1 above the root."""

    labels: tuple[str, ...]
    parents: tuple[int, ...]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]]) -> Tree:
        """Take rows ``leaf, ..., root``, all of one length.

        >>> Tree.from_rows([("flu", "lungs", "*"), ("ulcer", "stomach", "*")]).labels
        ('*', 'lungs', 'flu', 'stomach', 'ulcer')
        """
        if not rows:
            raise DomainError("the taxonomy has no rows")
        length = Counter(map(len, rows)).most_common(1)[0][0]
        ragged = [row[0] for row in rows if len(row) != length]
        if ragged:
            _refuse(f"most rows of the taxonomy have {length} fields; other lengths: the rows of", ragged)
        paths: dict[tuple[str, ...], int] = {}
        groups = [paths.setdefault(tuple(row[1:]), len(paths)) for row in rows]
        return cls.grown([row[0] for row in rows], groups, list(paths))

    @classmethod
    def grown(cls, leaves: Sequence[str], groups: Sequence[int], paths: Sequence[tuple[str, ...]]) -> Tree:
        """Hang leaf ``i`` below ``paths[groups[i]]``, a way up to the root; a label on one level is one node."""
        if len(leaves) == 1 and not paths[0]:
            return cls._settled(list(leaves), [[]])
        tops = dict.fromkeys(path[-1] for path in paths if path)
        if len(tops) != 1:
            _refuse("the last field of every row is the root, and must be the same; found", tops)
        labels = [next(iter(tops))]
        children: list[list[int]] = [[]]
        above: dict[tuple[int, str], str] = {}  # (level, label) -> the label of its parent
        nodes = {(len(paths[0]) - 1, labels[0]): 0}
        contradicted: dict[str, None] = {}
        for path in (paths[group] for group in dict.fromkeys(groups)):  # siblings in the order of their first leaves
            parent = 0
            for level in range(len(path) - 2, -1, -1):
                key = level, path[level]
                if above.setdefault(key, path[level + 1]) != path[level + 1]:
                    contradicted[path[level]] = None
                if key not in nodes:
                    nodes[key] = len(labels)
                    labels.append(path[level])
                    children.append([])
                    children[parent].append(nodes[key])
                parent = nodes[key]
        if contradicted:
            _refuse("two different parents in the taxonomy for", contradicted)
        homes = [nodes[0, path[0]] for path in paths]
        for leaf, group in zip(leaves, groups, strict=True):
            children[homes[group]].append(len(labels))
            labels.append(leaf)
            children.append([])
        return cls._settled(labels, children)

    @classmethod
    def from_nested(cls, nested: object) -> Tree:
        """Take dicts ``{label: what is below}`` and lists of labels (or of dicts); see `Taxonomy.from_nested`."""
        labels: list[str] = []
        children: list[list[int]] = []

        def add(label: object) -> int:
            labels.append(_label(label))
            children.append([])
            return len(labels) - 1

        seen: set[int] = set()
        waiting: list[tuple[int, object]] = []
        if isinstance(nested, Mapping) and len(nested) == 1:
            label, below = next(iter(nested.items()))
            waiting.append((add(label), below))
        elif isinstance(nested, Mapping | list | tuple) and nested:
            waiting.append((add(ANY), nested))
        else:
            raise DomainError("a nested taxonomy is a dict of labels, or a list of labels, and not empty")
        while waiting:
            node, content = waiting.pop()
            for label, below in _entries(content, labels[node], seen):
                child = add(label)
                children[node].append(child)
                waiting.append((child, below))
        return cls._settled(labels, children)

    @classmethod
    def from_data(cls, data: object) -> Tree:
        """Take what `to_data` gave: a label, or a list of a label and what is below it."""
        labels: list[str] = []
        children: list[list[int]] = []
        waiting: list[tuple[int, object]] = [(-1, data)]
        while waiting:
            parent, item = waiting.pop()
            head, *below = item if isinstance(item, list | tuple) and item else [item]
            if not isinstance(head, str):
                raise ParameterError("Taxonomy.from_data", "tree", "a label or a list that begins with one", item)
            if parent >= 0:
                children[parent].append(len(labels))
            waiting.extend((len(labels), child) for child in reversed(below))
            labels.append(head)
            children.append([])
        return cls._settled(labels, children)

    @classmethod
    def _settled(cls, labels: Sequence[str], children: Sequence[Sequence[int]]) -> Tree:
        """Put nodes in preorder, make one of parent and child that have one label, and check the rest."""
        kept, parents = [labels[0]], [-1]
        waiting = [(child, 0) for child in reversed(children[0])]
        while waiting:
            node, parent = waiting.pop()
            if not children[node] or labels[node] != kept[parent]:
                kept.append(labels[node])
                parents.append(parent)
                parent = len(kept) - 1
            waiting.extend((child, parent) for child in reversed(children[node]))
        # a leaf that is all its parent holds, by the same label: the parent is the leaf
        n_children = Counter(parents)
        only = {node for node, parent in enumerate(parents) if not n_children[node] and n_children[parent] == 1}
        doubled = {node for node in only if node and kept[node] == kept[parents[node]]}
        place = np.cumsum([node not in doubled for node in range(len(kept))]) - 1
        tree = cls(
            tuple(label for node, label in enumerate(kept) if node not in doubled),
            tuple(int(place[p]) if p >= 0 else -1 for node, p in enumerate(parents) if node not in doubled),
        )
        tree.names  # noqa: B018  (refuses contradictions now, not when a column comes)
        return tree

    def __repr__(self) -> str:
        code = f"Taxonomy.from_nested({self._nested()!r})" if len(self.labels) <= _LONGEST_CODE else ""
        if 0 < len(code) <= _LONGEST_CODE:
            return code
        return f"<Taxonomy of {sum(self._is_leaf)} leaves, height {self._heights[0]}, root {self.labels[0]!r}>"

    def to_data(self) -> dict[str, Any]:
        """Write every inner node as a list of its label and what is below, every leaf as its label."""
        below: list[list[Any]] = [[] for _ in self.labels]
        for node in range(len(self.labels) - 1, -1, -1):
            form = [self.labels[node], *reversed(below[node])] if below[node] else self.labels[node]
            if node == 0:
                break
            below[self.parents[node]].append(form)
        return {"kind": "tree", "tree": form}

    def bind(self, name: str, values: pa.Array, counts: NDArray[np.int64] | None = None) -> BoundTaxonomy:
        """Cut down to ``values``; numbers and dates are brought into their own order as far as the tree allows."""
        del counts  # a listed taxonomy is what it is, however frequent its values are
        nodes = self._match(name, values)
        kind = values.type
        if pa.types.is_decimal(kind) or (pa.types.is_primitive(kind) and not pa.types.is_boolean(kind)):
            ranks = np.empty(len(values), np.int64)
            ranks[pc.array_sort_indices(values).to_numpy()] = np.arange(len(values))
            return self.cut(nodes, ranks.tolist())
        return self.cut(nodes, nodes)

    def cut(self, nodes: Sequence[int], ranks: Sequence[int]) -> BoundTaxonomy:
        """Keep the leaves ``nodes`` and what is above them; siblings go by the lowest rank of a leaf below."""
        size = len(self.labels)
        absent = max(ranks) + 1
        lowest = [absent] * size
        value = [-1] * size
        for index, (node, rank) in enumerate(zip(nodes, ranks, strict=True)):
            lowest[node], value[node] = rank, index
        children: list[list[int]] = [[] for _ in range(size)]
        for node in range(size - 1, 0, -1):
            if lowest[node] < absent:
                parent = self.parents[node]
                lowest[parent] = min(lowest[parent], lowest[node])
                children[parent].append(node)
        kept: list[int] = []
        parents: list[int] = []
        codes: list[int] = []
        order: list[int] = []
        waiting = [(0, -1)]
        while waiting:
            node, parent = waiting.pop()
            here = len(kept)
            kept.append(node)
            parents.append(parent)
            codes.append(len(order) if value[node] >= 0 else -1)
            if value[node] >= 0:
                order.append(value[node])
            waiting.extend((child, here) for child in sorted(children[node], key=lowest.__getitem__, reverse=True))
        return BoundTaxonomy.of(
            labels=[self.names[node] for node in kept],
            parents=parents,
            heights=[self._heights[node] for node in kept],
            leaf_counts=[self._leaf_counts[node] for node in kept],
            codes=codes,
            order=np.array(order, np.int64),
        )

    def bins(
        self, name: str, values: pa.Array, counts: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Code the bin of each value, and list the bins in their natural order.

        A bin is a node that holds leaves alone; a leaf beside branches, or below the root, is a bin of its own.
        """
        holds_branch = [False] * len(self.labels)
        for node in range(1, len(self.labels)):
            holds_branch[self.parents[node]] |= not self._is_leaf[node]
        nodes = self._match(name, values)
        homes = [self.parents[node] for node in nodes]
        bins = [node if home <= 0 or holds_branch[home] else home for node, home in zip(nodes, homes, strict=True)]
        if bins == nodes:
            message = "the taxonomy has no level between its values and its root, so it makes no bins"
            raise DomainError(f"{_of(name)}{message}", column=name or None)
        natural = list(dict.fromkeys(bins[index] for index in self.bind(name, values, counts).order))
        place = {node: index for index, node in enumerate(natural)}
        return np.array([place[node] for node in bins], np.int64), [self.names[node] for node in natural]

    def nodes_of(self, leaves: Iterable[str]) -> list[int]:
        """Find leaves by their labels."""
        return [self._leaves[leaf] for leaf in leaves]

    def _match(self, name: str, values: pa.Array) -> list[int]:
        """Find the leaf of each value, by the value's text."""
        leaves = self._leaves
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            read = _read_as(list(leaves), values.type)
            if len(set(read)) < len(read):
                twice = {text for text, count in Counter(read).items() if count > 1}
                _refuse(
                    "leaves of the taxonomy that are one value:",
                    [leaf for leaf, text in zip(leaves, read, strict=True) if text in twice],
                    column=name,
                )
            leaves = dict(zip(read, leaves.values(), strict=True))
        found = [leaves.get(text_of(value), -1) for value in values.to_pylist()]
        missed = [value for value, node in zip(values.to_pylist(), found, strict=True) if node < 0]
        if missed:
            _refuse(f"the taxonomy misses {len(missed)} of {len(found)} values:", missed, column=name)
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each node is published as; the rule is at the top of this file."""
        leaves = Counter(label for label, leaf in zip(self.labels, self._is_leaf, strict=True) if leaf)
        repeated = [label for label, count in leaves.items() if count > 1]
        if repeated:
            _refuse("the taxonomy repeats", repeated)
        if self.labels[0] in leaves and len(self.labels) > 1:
            _refuse("one of the leaves has the label of the root; give the root another than", self.labels[:1])
        counts = Counter(self.labels)
        shared = [node for node, label in enumerate(self.labels) if counts[label] > 1]
        cyclic = dict.fromkeys(self.labels[node] for node in shared if self._returns(node))
        if cyclic:
            _refuse("labels of the taxonomy that come back above themselves, with another between:", cyclic)
        names = list(self.labels)
        unclear = [node for node in shared if node and not self._is_leaf[node]]
        above = {node: self.parents[node] for node in unclear}
        trails: dict[int, list[str]] = {node: [] for node in unclear}
        while unclear:
            lost = [self.labels[node] for node in unclear if above[node] < 0]
            if lost:
                _refuse("labels of the taxonomy that nothing tells apart:", dict.fromkeys(lost))
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
    def _is_leaf(self) -> list[bool]:
        inner = set(self.parents)
        return [node not in inner for node in range(len(self.labels))]

    @cached_property
    def _leaves(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels) if self._is_leaf[node]}

    @cached_property
    def _heights(self) -> list[int]:
        heights = [0] * len(self.labels)
        for node in range(len(self.labels) - 1, 0, -1):
            heights[self.parents[node]] = max(heights[self.parents[node]], heights[node] + 1)
        return heights

    @cached_property
    def _leaf_counts(self) -> list[int]:
        counts = [int(leaf) for leaf in self._is_leaf]
        for node in range(len(self.labels) - 1, 0, -1):
            counts[self.parents[node]] += counts[node]
        return counts

    def _nested(self) -> object:
        """Write the nested form that makes this tree."""
        below: list[list[Any]] = [[] for _ in self.labels]
        for node in range(len(self.labels) - 1, -1, -1):
            items, label = below[node][::-1], self.labels[node]
            keys = [key for item in items if isinstance(item, dict) for key in item]
            if len(set(keys)) == len(items) > 0:
                form: Any = {label: {key: inner for item in items for key, inner in item.items()}}
            else:
                form = {label: items} if items or node == 0 else label
            if node == 0:
                return form
            below[self.parents[node]].append(form)
        raise AssertionError("a tree has a root")


def listed(values: Iterable[object], most: int = 10) -> str:
    """Name a few of the values concerned, and how many more there are."""
    texts = [repr(text_of(value)) for value in values]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def _refuse(message: str, values: Iterable[object], *, column: str | None = None) -> NoReturn:
    values = list(values)
    raise DomainError(f"{_of(column)}{message} {listed(values)}", column=column or None, values=values)


def _of(name: str | None) -> str:
    return f"column {name!r}: " if name else ""


def _entries(content: object, label: str, seen: set[int]) -> list[tuple[object, object]]:
    """List what lies below one label, as pairs of a label and what lies below that."""
    if content is None or content == "":  # an empty place in YAML
        return []
    if not isinstance(content, Mapping | list | tuple):
        return [(content, None)]
    if content and id(content) in seen:
        _refuse("one part of the nested taxonomy contains itself, or is there twice, below", [label])
    seen.add(id(content))
    if isinstance(content, Mapping):
        return list(content.items())
    pairs: list[tuple[object, object]] = []
    for item in content:
        if isinstance(item, list | tuple):
            _refuse("a list within a list has no label in the nested taxonomy, below", [label])
        pairs.extend(_entries(item, label, seen) if isinstance(item, Mapping) else [(item, None)])
    return pairs


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
