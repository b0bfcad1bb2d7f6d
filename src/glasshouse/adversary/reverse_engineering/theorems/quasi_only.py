# SPDX-License-Identifier: Apache-2.0
"""Recomputed groups: where no sensitive value decided anything, the attacker divides the list as the publisher did.

A method that makes no random choice and breaks no ties, under a principle that looks at sizes alone, gives groups that
are a function of quasi-identifiers. An attacker who has the list of everybody in the table runs it, and knows who is in
which group: more than linking tells, where boxes overlap. Of the values nothing is learned beside. All tables of these
people have the same groups, so those that agree with the published counts are exactly the tables that could have given
the release, and each of them gives it for certain. In a group every way to hand out its values is left, and a
value has the probability of its share of the group.

*Groups that show the same cells* cannot be told apart. Boxes put their values together, and any of their people may
have any of them. Numbered groups of the same cells keep their values apart, but which has which is open: every way to
hand out the counts to the groups leaves equally many tables, for the groups have the same size. In both cases a
value has the probability of its share of all these groups together.

*People outside the table* on the list make it uncertain who was divided. For each choice of who was, the above holds;
so the probability is an average of shares of groups whose cells cover the person, and the largest of them bounds it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.adversary.knowledge import ABSENT
from glasshouse.adversary.permanents import largest_shares
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.reverse_engineering.strategies import SMALL, Strategy
from glasshouse.adversary.reverse_engineering.worlds.enumeration import ImaginedTables
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun
from glasshouse.adversary.reverse_engineering.worlds.worlds import World
from glasshouse.adversary.task import GONE
from glasshouse.engines import Memory
from glasshouse.errors import Infeasible, InputError, NotSupported
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.cuts.snug import Snug
from glasshouse.microdata.domains import Column, Domain, text_of
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Groups

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["QuasiOnly", "QuasiOnlyBound"]

_SAME = "the prior changes nothing: all possible tables have the same sensitive values"


@dataclass(frozen=True, kw_only=True)
class QuasiOnly(Strategy):
    """Compute, exactly, what follows from the release and from dividing the attacker's own list; for any size.

    Everybody in the table must be on the attacker's list. Others may be, if it is known that they are not in the table,
    or if they fit nothing in it. The principle must not look at sensitive values.

    Notes
    -----
    *Corrupted people* take their value with them: the others of the group share what is left. Where numbered groups
    show the same cells it then matters which is which, and there it is refused.

    *Prior.* Every possible table has the published values, so a prior that is the same for everybody changes nothing.

    Examples
    --------
    The fourth person is 24 and lives at 2, where two boxes overlap. Linking leaves it open which is theirs; an attacker
    who divides the list knows it.

    >>> import glasshouse as gh
    >>> people = {"age": [24, 25, 23, 24, 21, 23], "zip": [4, 1, 3, 2, 4, 2]}
    >>> table = gh.read({**people, "s": list("bbaaba")}, quasi=["age", "zip"], sensitive="s")
    >>> release = gh.publish(table, principle=gh.KAnonymity(k=2), method=gh.Snug(), recoding=gh.Boxes())
    >>> knowledge = gh.Knowledge(external=gh.read(people, quasi=["age", "zip"]))
    >>> gh.attack(release, gh.Linking(), knowledge=knowledge).of(3)
    {'a': 0.75, 'b': 0.25}
    >>> gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge).of(3)
    {'a': 1.0}
    """

    methods = (Snug, Mondrian)
    needs_ties = False  # the list is divided again

    def is_meant(self, task: Task) -> bool:
        """Where values decide on Mondrian's cuts, `CutsNotMade` is meant for them."""
        return type(task.method) is not Mondrian or not any(one.needs_sensitive for one in task.principles)

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: groups must depend on quasi-identifiers alone, and nothing else may be known."""
        method, release = task.method, task.release
        if method == Mondrian(partitioning="relaxed"):
            return NotSupported(
                f"the attacker cannot repeat the division by the method {method.name!r}, which draws at random or "
                "orders people with equal values by a secret order",
                instead=SMALL,
            )
        if any(one.needs_sensitive for one in task.principles):
            return NotSupported(
                f"{counted(release.n_tuples, 'record')} grouped by the method {method.name!r} cannot be analysed: the "
                "principle depends on the sensitive values, so rejected cuts reveal something about them, and no way "
                "to analyse this is known",
                instead=SMALL,
            )
        if release.n_dropped:
            return NotSupported("the attacker cannot repeat the division, because records were left out", instead=SMALL)
        if task.knowledge.is_personal:
            return NotSupported("this analysis does not use a prior for single people", instead=SMALL)
        if task.knowledge.prior is not None and not all(task.knowledge.weights(list(task.contents.values))):
            raise InputError("the prior gives the weight 0 to a published value: give it a weight above 0")
        return super().refuses(task)

    def believe(self, task: Task) -> Posterior:
        """The shares of the groups that the attacker finds."""
        return _Divided.of(task, _in_table(task)).posterior()


@dataclass(frozen=True, kw_only=True)
class QuasiOnlyBound(QuasiOnly):
    """Believe nothing above the largest share of a value in any group whose cells cover a person.

    It does not matter who else is in the table, and whether the attacker knows of them: the probability is an average
    of such shares. It does not hold where people are corrupted; to know of somebody that they are not in the table does
    no harm.
    """

    is_bound = True

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: as for exact probabilities; and nobody may be corrupted."""
        if any(value is not ABSENT for value in task.knowledge.corrupted.values()):
            return NotSupported(
                "this bound does not cover an attacker who knows values of other people (corrupted=)", instead=SMALL
            )
        return super().refuses(task)

    def believe(self, task: Task) -> Posterior:
        """The largest shares."""
        published, kinds = task.contents, task.kinds
        keys = _fitting(task)
        starts = np.searchsorted(keys // published.n_groups, np.arange(kinds.n_kinds + 1))
        group = np.repeat(np.arange(published.n_groups), np.diff(published.offsets))
        shares = Beliefs(published.offsets, published.codes, published.counts / published.sizes[group])
        largest = largest_shares(starts, keys % published.n_groups, shares, len(published.values))
        kind = kinds.of_person.copy()
        kind[task.known() == GONE] = kinds.n_kinds
        return task.posterior(
            "bound",
            kind,
            largest.among(1),
            np.append(np.diff(starts) > 0, 0).astype(np.float64),
            because=lambda _kind, _code: (
                "no group whose cells cover such a person has a larger share of the value, and the groups "
                "were made without looking at sensitive values"
            ),
            notes=(
                "it is not certain who is in the table; but the groups were made without looking at sensitive "
                "values, so no probability is above the largest share in the groups whose cells cover the "
                "person",
                *_lost(kinds.n_alike[np.diff(starts) == 0].sum()),
                *([_SAME] if task.knowledge.prior is not None else []),
            ),
        )


# --- what is known ---------------------------------------------------------------------------------------------------


def _fitting(task: Task) -> Integers:
    """Pairs of a kind of people and a group whose cells cover it in every table, as one ascending number."""
    n_groups, keys = task.contents.n_groups, None
    for seats in task.contents.seats:
        matches = task.fits(seats)
        found = np.unique(matches.of_match * n_groups + seats.group[matches.seats])
        keys = found if keys is None else np.intersect1d(keys, found)
    return np.arange(task.kinds.n_kinds * n_groups) if keys is None else keys


def _in_table(task: Task) -> Integers:
    """The rows of everybody in the table; refused if these cannot be found."""
    n = int(task.contents.sizes.sum())
    inside = task.known() != GONE
    if inside.sum() > n:  # who fits nothing is not there either
        fits = np.zeros(task.kinds.n_kinds, bool)
        fits[_fitting(task) // task.contents.n_groups] = True
        inside &= fits[task.kinds.of_person]
    rows = np.flatnonzero(inside)
    if len(rows) != n:
        raise NotSupported(
            f"the attacker cannot repeat the division: the release has {counted(n, 'record')}, and "
            f"{counted(len(rows), 'person')} of the external table may be in it",
            instead="use the bound (how='bound', --how bound), or give an external table with exactly the "
            "people of the published table",
        )
    return rows


def _lost(n: int) -> list[str]:
    return [f"{counted(n, 'person fits', 'people fit')} no published record: they are not in the table"] if n else []


# --- the groups, divided again ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Divided:
    """The list, divided again. A *look* is what the release shows of a group; groups with the same look count as one.

    ``look``: of every person on the list, -1 of who is not in the table; ``sizes``: records of every look; ``entries``:
    look and value as one ascending number, with their ``counts``; ``several``: whether a look stands for several groups
    whose values are published apart; ``n_shared``: how many groups share their look with another.
    """

    task: Task
    look: Integers
    sizes: Integers
    entries: Integers
    counts: Integers
    several: Flags
    n_shared: int

    @classmethod
    def of(cls, task: Task, rows: Integers) -> _Divided:
        published = task.contents
        groups, own = _divided_again(task, rows)
        shown, mine = _looks(published), _looks(own)
        if Counter(shown) != Counter(mine):
            raise _others()
        number: dict[Hashable, int] = {}
        for one in shown:
            number.setdefault(one, len(number))
        look = np.array([number[one] for one in shown], np.int64)

        of_entry = np.repeat(look, np.diff(published.offsets))
        entries, place = np.unique(of_entry * len(published.values) + published.codes, return_inverse=True)
        counts = np.bincount(place.reshape(-1), weights=published.counts, minlength=len(entries)).astype(np.int64)

        # in one's own tables the value of a record is the number of its group
        of_group = np.empty(groups.n_groups, np.int64)
        shown_at = np.repeat(np.array([number[one] for one in mine], np.int64), np.diff(own.offsets))
        of_group[np.array(own.values, np.int64)[own.codes]] = shown_at
        of_person = np.full(task.knowledge.external.n_tuples, -1, np.int64)
        of_person[rows] = of_group[groups.labels]
        times = np.bincount(of_group, minlength=len(number))
        return cls(
            task=task,
            look=of_person,
            sizes=np.bincount(look, weights=published.sizes, minlength=len(number)).astype(np.int64),
            entries=entries,
            counts=counts,
            several=np.bincount(look, minlength=len(number)) > 1,
            n_shared=int(times[times > 1].sum()),
        )

    def posterior(self) -> Posterior:
        """The probabilities: shares of what corrupted people leave."""
        n_values, n_looks = len(self.task.contents.values), len(self.sizes)
        fixed = self.task.known()
        known = np.flatnonzero(fixed >= 0)
        if self.several[self.look[known]].any():
            raise NotSupported(
                "this analysis does not support a known value (corrupted=) of a person who may be in several "
                "groups with the same cells",
                instead="leave this person out of the people with known values",
            )
        counts, sizes = self.counts.copy(), self.sizes - np.bincount(self.look[known], minlength=n_looks)
        taken = self.look[known] * n_values + fixed[known]
        place = np.minimum(np.searchsorted(self.entries, taken), len(self.entries) - 1)
        np.subtract.at(counts, place, 1)
        if (self.entries[place] != taken).any() or (counts < 0).any():
            raise InputError(
                "no table of these people can have produced this release: a value given for a person "
                "(corrupted=, --corrupted) is not in the person's group, or not often enough; check the "
                "values"
            )
        kept = counts > 0
        of_look, codes = np.divmod(self.entries[kept], n_values)
        beliefs = counts[kept] / sizes[of_look]
        offsets = np.searchsorted(of_look, np.arange(n_looks + 1))
        kind = np.where(self.look < 0, n_looks + 1, self.look)
        kind[known] = n_looks  # there are no probabilities for them: their values are known
        return self.task.posterior(
            "exact",
            kind,
            Beliefs(offsets.astype(np.int64), codes.astype(np.int32), beliefs).among(2),
            np.append(np.ones(n_looks + 1), 0.0),
            because=_Because(of_look * n_values + codes, counts[kept], sizes, n_values),
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        notes = [
            "the groups were made without looking at sensitive values: an attacker who repeats the division "
            "knows who is in which group, and learns nothing more from the algorithm"
        ]
        if self.n_shared:
            notes.append(
                f"{counted(self.n_shared, 'group shows', 'groups show')} the same cells as another group, and cannot "
                "be distinguished from it"
            )
        notes += _lost(int((self.look < 0).sum()) - int((self.task.known() == GONE).sum()))
        if self.task.knowledge.prior is not None:
            notes.append(_SAME)
        return notes


@dataclass(frozen=True, eq=False)
class _Because:
    """Explains the probability of a value for such people."""

    entries: Integers
    counts: Integers
    sizes: Integers
    n_values: int

    def __call__(self, kind: int, code: int) -> str:
        have = int(self.counts[np.searchsorted(self.entries, kind * self.n_values + code)])
        return (
            f"{have:,} of {counted(int(self.sizes[kind]), 'record')} of their group {'has' if have == 1 else 'have'} "
            "the value, and the group of a person depends only on quasi-identifiers"
        )


def _divided_again(task: Task, rows: Integers) -> tuple[Groups, Published]:
    """The groups, and what would have been published of them if every record's value were the number of its group."""
    release, name = task.release, task.contents.column
    people = replace(task.people, identifier=None)
    # values are not looked at, so that any will do
    table = ImaginedTables(people, name, ("",)).of(World(tuple(rows.tolist()), ("",) * len(rows)))
    rerun = Rerun.of(task)
    try:
        requirement = Requirement.of(rerun.principle, table)
        requirement.check_eligible()
        groups = task.method.divide(table, requirement, engine=Memory())
    except Infeasible:
        raise _others() from None
    numbers = Domain(name=name, kind="integer", values=pa.array(np.arange(groups.n_groups)), ordered=True)
    tables = rerun.published(replace(table, sensitive=(Column(numbers, groups.labels),)), groups)
    listed = {title: table.column_names for title, table in release.tables.items()}
    if tables is None or {title: table.column_names for title, table in tables.items()} != listed:
        raise _others()
    for title, shown in release.tables.items():
        loose = set(shown.column_names) <= set(release.recipe.quasi)  # quasi-identifiers without group or value
        if loose and _rows(shown) != _rows(tables[title]):
            raise _others()
    return groups, Published.of(replace(release, tables={title: tables[title] for title in release.tables}), name)


def _looks(published: Published) -> list[Hashable]:
    """What the release would show for every group: its size, and which cells how often, by table."""
    found: list[list[Hashable]] = [[size] for size in published.sizes.tolist()]
    for seats in published.seats:
        texts = [np.array(cells, object)[shown] for cells, shown in zip(seats.cells, seats.of_seat, strict=True)]
        listed: list[list[Any]] = [[] for _ in found]
        for group, *seat in zip(seats.group.tolist(), *texts, seats.count.tolist(), strict=True):
            listed[group].append(tuple(seat))
        for look, own in zip(found, listed, strict=True):
            look.append(tuple(sorted(own)))
    return [tuple(look) for look in found]


def _rows(table: pa.Table) -> Counter[tuple[str, ...]]:
    columns = [["missing" if v is None else text_of(v) for v in table[name].to_pylist()] for name in table.column_names]
    return Counter(zip(*columns, strict=True))


def _others() -> InputError:
    return InputError(
        "the method divides these people into other groups than those of the release: check that the people, the "
        "principle, the method and its parameters are those of the release"
    )
