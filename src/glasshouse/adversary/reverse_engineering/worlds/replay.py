# SPDX-License-Identifier: Apache-2.0
"""Publishing again: what a principle, a method and a recoding would have published of an imagined table.

The same steps as in `glasshouse.publish`, with every random choice made in turn. Nothing is checked or promised here:
it is asked how likely the algorithm is to publish what was seen.

**Numbers of groups are left out.** They are a fresh uniform relabelling, drawn independently of everything else. So a
table that may give some content gives each numbering of it equally often, and how many numberings look different
depends on the content alone. In probabilities that number cancels: comparing contents gives what comparing numbered
releases would. The same goes for the order of rows, which follows from content and numbers, and for the two sides of a
permutation, each of which is shuffled by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.adversary.reverse_engineering.worlds.draws import chances
from glasshouse.engines import Memory
from glasshouse.errors import DomainError, Infeasible, InputError
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.suppression import keep_by_lot, keep_eligible
from glasshouse.microdata import Groups
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.kinds import kinds_of
from glasshouse.microdata.set_members import as_sets
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source
from glasshouse.release.layout import BATCH, DATA, GROUP, PERMUTATION

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.adversary.reverse_engineering.worlds.draws import EnumeratingDraws
    from glasshouse.adversary.task import Task
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding

__all__ = ["Rerun", "as_it_stands", "up_to_numbering"]

_ONE_THREAD = Memory(threads=1)  # tables are tiny, and draws must come in one order
_Outcome = tuple[tuple[int, ...], tuple[int, ...]]  # the rows that are kept, and the label of each


@dataclass(frozen=True, kw_only=True, eq=False)
class Rerun:
    """A principle, a method and a recoding as `publish` runs them; `suppress` as there.

    The table's identifiers break ties; a table without any has its ties broken by a secret order, and all orders are
    tried that can make a difference.
    """

    principle: Principle | Mapping[str, Principle]
    method: Method
    recoding: Recoding
    suppress: Any = 0
    sets: tuple[str, ...] = ()  # the sensitive columns whose values are sets

    @classmethod
    def of(cls, task: Task) -> Rerun:
        """Run the algorithm of a task again."""
        assert task.algorithm is not None
        return cls(**task.algorithm._asdict(), suppress=task.release.recipe.suppress, sets=task.release.sets)

    def chances(self, table: Microdata, limit: int) -> tuple[dict[Hashable, Fraction], int]:
        """The exact probability of everything that may be published of ``table``, and how many runs that took.

        A table that cannot be published has no outcome at all.
        """
        if self.sets:
            own = (as_sets(column) if column.name in self.sets else column for column in table.sensitive)
            table = replace(table, sensitive=tuple(own))
        found: dict[Hashable, Fraction] = {}
        partitions, n_runs = chances(lambda draws: self._divided(table, draws), limit=limit)
        for partition, probability in partitions.items():
            if partition is not None:
                ways, more = self._recoded(table, partition, max(1, limit - n_runs))
                n_runs += more - 1
                for content, share in ways.items():
                    if content is not None:
                        found[content] = found.get(content, Fraction(0)) + probability * share
        return found, n_runs

    def seen(self, published: Any) -> Hashable:
        """What is published, in the form in which it is compared with the result of an imagined table."""
        return up_to_numbering(published, apart=_published_sensitive(published) if self._shuffles else ())

    @property
    def _shuffles(self) -> bool:
        """Whether values are shuffled inside their groups, so that their order must be ignored in comparisons."""
        return self.recoding.layout is PERMUTATION

    def _divided(self, table: Microdata, draws: EnumeratingDraws) -> _Outcome | None:
        """Who is kept and who is together, groups numbered as they come up; None if the table cannot be published."""
        source: Any = draws
        try:
            kinds, of_row = kinds_of(table)
            counts = keep_eligible(kinds, self.principle, self.suppress, source)
            kept = np.sort(kinds.rows_kept(counts, np.argsort(of_row, kind="stable").astype(np.int32)))
            left = table if len(kept) == table.n_tuples else table.take(kept)
            requirement = Requirement.in_groups(self.principle, left)
            requirement.check_eligible()
            if self.method.jointly(requirement):
                kinds, of_row = kinds_of(left)
                staying = keep_by_lot(kinds, self.method, requirement, source)
                rows = np.sort(kinds.rows_kept(staying, np.argsort(of_row, kind="stable").astype(np.int32)))
                kept, left = kept[rows], left.take(rows)
                requirement = Requirement.in_groups(self.principle, left)
            ties: Any = _Ties(draws, left)
            groups = self.method.divide(left, requirement, source=ties, engine=_ONE_THREAD)
        except (Infeasible, DomainError):  # the latter if a value that the principle names does not occur
            return None
        numbers: dict[int, int] = {-1: -1}
        labels = tuple(numbers.setdefault(label, len(numbers) - 1) for label in groups.labels.tolist())
        return tuple(kept.tolist()), labels

    def published(self, table: Microdata, groups: Groups, source: Any = None) -> dict[str, pa.Table] | None:
        """What the recoding writes of these groups, without a source with some draws; None if ANGEL has no buckets."""
        recoding = self.recoding.resolved(Requirement.in_groups(self.principle, table))
        try:
            return recoding.recode(table, groups, source=source or Source.seeded(0), divide=_buckets)
        except Infeasible:
            return None

    def _recoded(self, table: Microdata, partition: _Outcome, limit: int) -> tuple[dict[Hashable, Fraction], int]:
        kept, labels = partition
        left = table if len(kept) == table.n_tuples else table.take(np.array(kept))
        groups = Groups(np.array(labels, np.int32), max(labels, default=-1) + 1)
        apart = [column.name for column in left.sensitive] if self._shuffles else ()

        def published(draws: Any) -> Hashable:
            tables = self.published(left, groups, None if self._shuffles else draws)
            return None if tables is None else up_to_numbering(tables, apart=apart)

        return chances(published, limit=limit)


def _buckets(table: Microdata, requirement: Requirement) -> Groups:
    """ANGEL's buckets: strict, k-anonymous, by each marginal's quasi-identifiers alone."""
    return Mondrian().divide(table, requirement, engine=_ONE_THREAD)


class _Ties:
    """Draws whose orders of a whole table differ only where ties can be.

    Methods ask for an order of all records to break ties by it, on one attribute or on all. Between records that agree
    on no attribute, directly or through others, it is never asked: so only the order inside such a crowd is drawn.
    """

    is_seeded = False

    def __init__(self, draws: EnumeratingDraws, table: Microdata) -> None:
        self._draws = draws
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draws, name)

    def permutation(self, n: int) -> NDArray[np.int32] | NDArray[np.int64]:
        if n != self._table.n_tuples:
            return self._draws.permutation(n)
        crowd = np.arange(n)
        for column in self._table.quasi:
            for code in set(column.codes.tolist()):
                merged = np.isin(crowd, crowd[column.codes == code])
                crowd[merged] = crowd[merged].min()
        order = np.argsort(crowd, kind="stable").astype(np.int32)
        self._draws.shuffle_runs(order, np.append(np.flatnonzero(np.diff(np.sort(crowd), prepend=-1)), n))
        return order


# --- what is compared -----------------------------------------------------------------------------------------------


def up_to_numbering(
    published: Any, *, numbers: Collection[str] = (GROUP, BATCH), apart: Collection[str] = ()
) -> Hashable:
    """The content of tables, ignoring random group numbers: for each group its rows in every table, unordered.

    Tables belong together by the columns ``numbers``, which have the number of a group. The values of the columns
    ``apart`` were shuffled inside every group: they belong to the group, and to no row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one = pa.table({"age": [21, 30], "Group-ID": [1, 2]})
    >>> other = pa.table({"age": [30, 21], "Group-ID": [1, 2]})
    >>> up_to_numbering(one) == up_to_numbering(other), as_it_stands(one) == as_it_stands(other)
    (True, False)
    """
    linked: dict[str, list[Any]] = {}
    loose: list[Any] = []
    for title, table in sorted(_tables(published).items()):
        texts = {name: _texts(table[name]) for name in sorted(table.column_names)}
        of_row: Any = next((texts.pop(name) for name in numbers if name in texts), None)
        alone = [(name, texts.pop(name)) for name in apart if name in texts]
        sides = [(tuple(texts), list(zip(*texts.values(), strict=True))), *alone]
        for i, (names, rows) in enumerate(sides):
            if of_row is None:
                loose.append((title, i, names, tuple(sorted(rows))))
                continue
            for number, own in groupby(sorted(zip(of_row, rows, strict=True)), key=lambda pair: pair[0]):
                linked.setdefault(number, []).append((title, i, names, tuple(row for _, row in own)))
    return tuple(sorted(tuple(parts) for parts in linked.values())), tuple(loose)


def as_it_stands(published: Any) -> Hashable:
    """The published content, complete: tables with their rows in order, anything else unchanged."""
    if isinstance(published, Hashable) and not hasattr(published, "tables") and not hasattr(published, "column_names"):
        return published
    return tuple(
        (title, tuple((name, tuple(_texts(table[name]))) for name in table.column_names))
        for title, table in sorted(_tables(published).items())
    )


def _published_sensitive(published: Any) -> tuple[str, ...]:
    """The sensitive columns of a permutation: those after the number of the group."""
    names = next(iter(_tables(published).values())).column_names
    return tuple(names[names.index(GROUP) + 1 :]) if GROUP in names else ()


def _tables(published: Any) -> Mapping[str, pa.Table]:
    tables = getattr(published, "tables", published)
    if isinstance(tables, Mapping) and all(hasattr(table, "column_names") for table in tables.values()):
        return tables
    if hasattr(tables, "column_names"):
        return {DATA: tables}
    raise InputError(f"published tables are needed, or a release, not {type(published).__name__}")


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Values by the text that a file would show, so that a release read back from one can be compared."""
    return ["\0" if value is None else text_of(value) for value in column.to_pylist()]
