# SPDX-License-Identifier: Apache-2.0
"""Features: the properties of a person's quasi-identifiers that the model uses.

A *block* divides all points into levels: the values of one attribute, coarse bins of it, or the combinations of two or
three attributes that are made coarse first. A point has one level in every block, and the model has one weight for
every level and sensitive value. Blocks are kept apart because each has a ridge of its own, which is learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Attribute", "Block", "Features"]

_MOST_LEVELS: Final = 128  # of one attribute
_SMOOTH: Final = 24  # an ordered attribute with more levels than that has coarse bins beside them
_BINS: Final = 10
_IN_PAIRS, _IN_TRIPLES = 14, 6  # levels of an attribute in a combination


@dataclass(frozen=True, eq=False)
class Attribute:
    """One quasi-identifier: the value of every point as a number, in the order of the values if they have one."""

    name: str
    codes: NDArray[np.int32]
    ordered: bool

    def coarse(self, people: NDArray[np.float64], most: int) -> NDArray[np.int64]:
        """The level of every code, up to a maximum: ordered codes in bins of about equally many people each.

        Of values without an order the frequent ones are levels of their own, and all others are one level together.
        """
        weights = np.bincount(self.codes, weights=people)
        if np.count_nonzero(weights) <= most:
            used = np.flatnonzero(weights)
            level = np.searchsorted(used, np.arange(len(weights)))
            return np.asarray(np.minimum(level, len(used) - 1), np.int64)
        if self.ordered:
            middle = (np.cumsum(weights) - weights / 2) / weights.sum()
            return np.asarray(np.minimum((middle * most).astype(np.int64), most - 1), np.int64)
        level = np.full(len(weights), most - 1)
        level[np.argsort(-weights, kind="stable")[: most - 1]] = np.arange(most - 1)
        return level.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Block:
    """Levels of one kind: combinations of the coarse values of some attributes."""

    attributes: tuple[int, ...]  # which ones
    tables: tuple[NDArray[np.int64], ...]  # for each the coarse value of every code
    keys: NDArray[np.int64]  # the combinations that occur, ascending: each is a level

    @classmethod
    def of(cls, attributes: tuple[int, ...], tables: Sequence[NDArray[np.int64]], codes: NDArray[np.int32]) -> Block:
        """The levels that some points have."""
        alone = cls(attributes, tuple(tables), np.empty(0, np.int64))
        return cls(attributes, tuple(tables), np.unique(alone._key(codes)))

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return len(self.keys)

    @property
    def order(self) -> int:
        """How many attributes are combined."""
        return len(self.attributes)

    def levels(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """The level of every point (codes are attributes x points); -1 if it has none."""
        key = self._key(codes)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, at, -1).astype(np.int64)

    def _key(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        key = np.zeros(codes.shape[1], np.int64)
        known = np.ones(codes.shape[1], bool)
        for attribute, table in zip(self.attributes, self.tables, strict=True):
            own = codes[attribute]
            inside = (own >= 0) & (own < len(table))
            known &= inside
            key = key * (int(table.max(initial=0)) + 1) + table[np.where(inside, own, 0)]
        return np.where(known, key, -1)

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        tables = [table.tolist() for table in self.tables]
        return {"attributes": list(self.attributes), "tables": tables, "keys": self.keys.tolist()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Block:
        """Make a block from plain data."""
        tables = tuple(np.array(table, np.int64) for table in data["tables"])
        return cls(tuple(data["attributes"]), tables, np.array(data["keys"], np.int64))


@dataclass(frozen=True, eq=False)
class Features:
    """All blocks, with the points that they were made for (attributes x points)."""

    blocks: tuple[Block, ...]
    codes: NDArray[np.int32]
    number: type[np.floating[Any]] = np.float32  # single precision is enough for weights, and twice as fast

    @classmethod
    def of(cls, attributes: Sequence[Attribute], people: NDArray[np.float64]) -> Features:
        """A block for every attribute, and one of its bins beside it; ``people`` is how many are at every point."""
        codes = np.stack([own.codes for own in attributes])
        blocks = [Block.of((), (), codes)]
        for i, own in enumerate(attributes):
            if own.codes.min() != own.codes.max():
                blocks.append(Block.of((i,), [own.coarse(people, _MOST_LEVELS)], codes))
                if own.ordered and blocks[-1].n_levels > _SMOOTH:
                    blocks.append(Block.of((i,), [own.coarse(people, _BINS)], codes))
        return cls(tuple(blocks), codes)

    def combined(
        self,
        attributes: Sequence[Attribute],
        people: NDArray[np.float64],
        strengths: NDArray[np.float64],
        *,
        order: int,
        most: int,
    ) -> Features:
        """Add so many blocks of two and up to ``order`` attributes, beginning with the strongest attributes."""
        used = [i for i in range(len(attributes)) if strengths[i] > 0]
        blocks = list(self.blocks)
        for size, levels in ((2, _IN_PAIRS), (3, _IN_TRIPLES)):
            if size > order:
                break
            coarse = {i: attributes[i].coarse(people, levels) for i in used}
            chosen = sorted(combinations(used, size), key=lambda some: -float(np.prod(strengths[list(some)])))
            room = max(most - (len(blocks) - len(self.blocks)), 0)
            room = room if size == order else max(2 * room // 3, min(room, 1))
            blocks += [Block.of(some, [coarse[i] for i in some], self.codes) for some in chosen[:room]]
        return replace(self, blocks=tuple(blocks))

    def at(self, points: NDArray[np.int64]) -> Features:
        """The same blocks for some of the points."""
        return replace(self, codes=np.ascontiguousarray(self.codes[:, points]))

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first level of each block, and the number of all levels."""
        return np.append(0, np.cumsum([block.n_levels for block in self.blocks])).astype(np.int64)

    @property
    def n_levels(self) -> int:
        """The levels of all blocks."""
        return int(self.starts[-1])

    def rows(self, codes: NDArray[np.int32]) -> sp.csr_matrix:
        """For some points (attributes x points) a row each, with a one at each of its levels."""
        levels = np.stack([block.levels(codes) for block in self.blocks], axis=1)
        known = levels >= 0
        columns = (levels + self.starts[:-1])[known].astype(np.int32)
        ends = np.append(0, np.cumsum(known.sum(axis=1))).astype(np.int64)
        ones = np.ones(len(columns), self.number)
        return sp.csr_matrix((ones, columns, ends), shape=(codes.shape[1], self.n_levels))

    @cached_property
    def matrix(self) -> sp.csr_matrix:
        """The rows of all points."""
        return self.rows(self.codes)

    @cached_property
    def transposed(self) -> sp.csr_matrix:
        """The same, with a row for every level."""
        return self.matrix.T.tocsr()
