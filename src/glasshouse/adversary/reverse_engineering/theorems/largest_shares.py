# SPDX-License-Identifier: Apache-2.0
"""For tables divided by Mirror or Sift, an attacker who knows the method learns the published shares and no more.

Theorems M1 and M2 say more than a bound. Of a person known to be in a group every value has exactly the probability of
its share of the group. Where leaves are groups, and in the balanced groups of a refined leaf, that is what exchanging
the two halves gives; inside an untested leaf the values of a bucket can be exchanged for each other (Ace), or the
people of a group can (Anatomize, which does not look at quasi-identifiers). So there is nothing to count but who is in
which group. Where the release leaves that open, a probability is an average of shares: of people who are alike a plain
one, and of others one between the least and the largest share of the groups that they can be in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.adversary.cell_codes import codes_of_cells
from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.permanents import largest_shares
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.reverse_engineering.strategies import SMALL, Strategy
from glasshouse.errors import NotSupported
from glasshouse.grouping.mirror.mirror import Mirror
from glasshouse.grouping.sift.sift import Sift
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement, Terms
from glasshouse.release.layout import BOXES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from glasshouse.adversary.matching import Kinds
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.release.contents import Published, Seats

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["LargestShares", "PublishedShares"]

_FLOOR = 8  # people in a leaf of Mirror at least, where neither the principle nor the recipe says how many
_SAME = 1e-9  # shares that differ by less are the same


@dataclass(frozen=True, kw_only=True)
class PublishedShares(Strategy):
    """Believe, exactly, what follows from the release, everybody's quasi-identifiers and `Mirror` or `Sift`.

    Everybody in the table must be on the attacker's list, and nobody be corrupted.

    Notes
    -----
    *Who is in which group* is known if nobody else fits, or as many people as there are records. People with equal
    quasi-identifiers are alike if ties were broken by a secret order, or if the attacker does not know the identifiers:
    each is then in a group as likely as such records are there, in the table or not. Of anybody else it must not
    matter: all groups that they can be in have the same shares. If it does, `NotSupported`; see `LargestShares`.

    *Boxes* do not say where a group ends: two may show the same. A box stands for one group if it has too few records
    for two, or if a single person can be at one of its ends.

    *Prior.* Every possible world has the published values, so a prior that is the same for everybody changes nothing.

    Examples
    --------
    >>> import glasshouse as gh
    >>> people = {"x": [1, 2, 3, 4], "y": [4, 3, 2, 1]}
    >>> table = gh.read({**people, "s": list("aabc")}, quasi=["x", "y"], sensitive="s")
    >>> release = gh.publish(
    ...     table, principle=gh.EntropyLDiversity(ell=2), method=gh.Mirror(floor=4), recoding=gh.Anatomy()
    ... )
    >>> knowledge = gh.Knowledge(external=gh.read(people, quasi=["x", "y"]))
    >>> gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge).of(0)
    {'a': 0.5, 'b': 0.25, 'c': 0.25}
    """

    methods = (Mirror, Sift)
    over_editions = True
    takes_columns = True

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: the theorems allow no corrupted people, and no prior for single people.

        Theorem J1 adds those who know other columns, or how columns go together, and not both.
        """
        if task.knowledge.knows_both or (task.knowledge.looks_beside and not _jointly(task)):
            return NotSupported(
                "the theorems do not cover an attacker who knows other sensitive columns and how often values "
                "occur together, or a release that does not protect its sensitive columns jointly",
                instead=f"{SMALL}; linking uses this knowledge within a person's own group",
            )
        if task.knowledge.is_personal or task.knowledge.corrupted:
            return NotSupported(
                f"the theorems on the method {task.method.name!r} do not cover an attacker with a prior for "
                "single people or with known values of other people (corrupted=)",
                instead=SMALL,
            )
        return super().refuses(task)

    def believe(self, task: Task) -> Posterior:
        """The published shares, where it is known who is in which group."""
        found = _Believed.of(task)
        unsettled = int(found.fit.n_alike[~found.is_exact].sum())
        if unsettled:
            why = (
                (
                    "they may be in groups with different shares of the values, and they do not all have the same "
                    "quasi-identifiers"
                )
                if found.fit.listed
                else "the external table does not list everybody in the published table"
            )
            raise NotSupported(
                f"the exact probabilities for {counted(unsettled, 'person')} cannot be computed: {why}",
                instead="use the bound (how='bound', --how bound); exact results are possible for anatomy with "
                "an external table of all people in the table, without identifiers",
            )
        return found.posterior("exact")


@dataclass(frozen=True, kw_only=True)
class LargestShares(PublishedShares):
    """Bound every probability by the largest share of a value in any group in which the person can be.

    However likely each of the groups is, the probability is an average of their shares. Of people for whom it is known
    exactly, it is given exactly. Of a box that may stand for several groups no shares are known; they are taken to be
    the largest that the principle and the least size of a group allow.
    """

    is_bound = True

    def believe(self, task: Task) -> Posterior:
        """The largest shares."""
        return _Believed.of(task).posterior("bound")


# --- who can be in which group ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Fit:
    """Which groups every kind of people can be in."""

    kind: Integers  # of every person
    n_alike: Integers  # people of every kind
    of_pair: Integers  # kind and group of every pair of the two that fit, ascending
    group: Integers
    tuples: Floats  # records of the group at the places that the kind fits, for every pair
    sure: Flags  # for every kind, whether such people are in the table for certain
    alone: Flags  # for every kind, whether it has a place that only people of this kind can take, and no other place
    listed: bool  # whether everybody in the table can be on the list
    one_group: Flags  # for every group, whether it is certainly one

    @classmethod
    def of(cls, task: Task, least: int) -> _Fit:
        people, published, kinds = task.knowledge.external, task.contents, task.kinds
        n_alike = kinds.n_alike
        n_tuples = int(published.sizes.sum())
        tables = [_Table.of(task, seats) for seats in published.seats]
        listed = people.n_tuples >= n_tuples and all(table.has_people for table in tables)
        if people.n_tuples == n_tuples:
            listed = listed and all(np.isin(np.arange(len(n_alike)), table.kind).all() for table in tables)
        if listed:
            narrowed = [table.narrowed(n_alike) for table in tables]
            listed = all(table.has_people for table in narrowed)
            tables = narrowed if listed else tables
        keys = tables[0].keys(published.n_groups)
        for table in tables[1:]:  # who is in a group is in it by every table
            keys = np.intersect1d(keys, table.keys(published.n_groups))
        sure = np.full(len(n_alike), listed and people.n_tuples == n_tuples)
        alone = np.zeros(len(n_alike), bool)
        if listed:
            sure |= np.logical_or.reduce([table.sure(n_alike) for table in tables])
        if listed and len(tables) == 1:
            alone = tables[0].alone(len(n_alike))
        one_group = np.ones(published.n_groups, bool)
        if published.kind == "boxes":
            one_group = published.sizes < 2 * least
            if listed and task.release.layout is BOXES:
                one_group = one_group | tables[0].ends_of_one(people, kinds, published.n_groups)
        return cls(
            kind=kinds.of_person,
            n_alike=n_alike,
            of_pair=keys // published.n_groups,
            group=keys % published.n_groups,
            tuples=tables[0].tuples_of(keys, published.n_groups),
            sure=sure,
            alone=alone,
            listed=listed,
            one_group=one_group,
        )

    @cached_property
    def starts(self) -> Integers:
        """Kind ``i`` has the pairs from ``starts[i]`` to ``starts[i + 1]``."""
        return np.searchsorted(self.of_pair, np.arange(len(self.n_alike) + 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Table:
    """One table of seats: kind and seat of every pair that fits."""

    seats: Seats
    kind: Integers
    seat: Integers
    pairs: tuple[Integers, Integers]  # each kind once at each place
    rivals: Integers  # people who fit every place

    @classmethod
    def of(cls, task: Task, seats: Seats) -> _Table:
        matches = task.fits(seats)
        return cls._counted(seats, matches.of_match, matches.seats.astype(np.int64), task.kinds.n_alike)

    @classmethod
    def _counted(cls, seats: Seats, kind: Integers, seat: Integers, n_alike: Integers) -> _Table:
        pairs = np.unique(kind * (len(seats) + 1) + seats.place[seat])  # each kind once at each place
        kinds, places = pairs // (len(seats) + 1), pairs % (len(seats) + 1)
        rivals = np.bincount(places, weights=n_alike[kinds], minlength=len(seats)).astype(np.int64)
        return cls(seats, kind, seat, (kinds, places), rivals)

    @cached_property
    def capacity(self) -> Integers:
        """The number of records at every place."""
        return np.bincount(self.seats.place, weights=self.seats.count, minlength=len(self.seats)).astype(np.int64)

    @property
    def has_people(self) -> bool:
        """Whether the list has enough people for every place."""
        return bool((self.rivals >= self.capacity).all())

    def _full(self) -> Flags:
        """For every pair, whether as many people fit its place as it has records: all of them are there."""
        place = self.seats.place[self.seat]
        return np.asarray(self.rivals[place] == self.capacity[place])

    def narrowed(self, n_alike: Integers) -> _Table:
        """Remove the other places of people who must be at one place."""
        table = self
        while not (kept := table._full() | ~table.sure(n_alike)[table.kind]).all():
            table = self._counted(self.seats, table.kind[kept], table.seat[kept], n_alike)
        return table

    def sure(self, n_alike: Integers) -> Flags:
        """The kinds of people who must be at some place."""
        must = np.zeros(len(n_alike), bool)
        must[self.kind[self._full()]] = True
        return must

    def alone(self, n_kinds: int) -> Flags:
        """The kinds with one place, which nobody else fits."""
        kinds, places = self.pairs
        n_places = np.bincount(kinds, minlength=n_kinds)
        crowded = np.bincount(places, minlength=len(self.seats))[places] > 1
        found: Flags = n_places == 1
        found[kinds[crowded]] = False
        return found

    def keys(self, n_groups: int) -> Integers:
        """Kind and group of every pair, as one ascending number."""
        return np.unique(self.kind * n_groups + self.seats.group[self.seat])

    def tuples_of(self, keys: Integers, n_groups: int) -> Floats:
        """How many records the group has that such people fit."""
        own = self.kind * n_groups + self.seats.group[self.seat]
        at = np.searchsorted(keys, own)
        inside = keys[np.minimum(at, len(keys) - 1)] == own if len(keys) else np.zeros(len(own), bool)
        counts = self.seats.count[self.seat[inside]].astype(np.float64)
        return np.bincount(at[inside], weights=counts, minlength=len(keys)).astype(np.float64)

    def ends_of_one(self, people: Microdata, kinds: Kinds, n_groups: int) -> Flags:
        """Boxes one of whose ends is the value of a single person: a second group with this box would lack it."""
        found = np.zeros(n_groups, bool)
        group = self.seats.group[self.seat]
        for name, of_seat in zip(self.seats.quasi, self.seats.of_seat, strict=True):
            column = people.column(name)
            covered = codes_of_cells(column.domain, self.seats, name)
            shown = of_seat[self.seat]
            own = column.codes[kinds.examples][self.kind]
            wide = np.array([len(codes) > 1 for codes in covered], bool)[shown]
            for end in (0, -1):
                code = np.array([codes[end] if len(codes) else -1 for codes in covered], np.int64)[shown]
                there = np.where(own == code, kinds.n_alike[self.kind], 0)
                n_there = np.bincount(group, weights=there, minlength=n_groups)
                found[group[wide]] |= n_there[group[wide]] == 1
        return found


# --- probabilities ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Believed:
    """Probabilities of every kind of people: upper bounds, and the exact ones where these are known."""

    task: Task
    fit: _Fit
    refined: bool
    most: Beliefs

    @classmethod
    def of(cls, task: Task) -> _Believed:
        principle, published = task.principle, task.contents
        terms = Terms() if principle is None else principle.terms
        refined = terms.one_in is not None and not terms.named and task.independent != "faces"
        least = max(1, terms.smallest_group) if refined else _least(terms, task.made_by(Mirror))
        fit = _Fit.of(task, least)

        group = np.repeat(np.arange(published.n_groups), np.diff(published.offsets))
        shares = published.counts / published.sizes[group]
        most = np.minimum(published.counts / least, _caps(principle, published)[published.codes])
        bounds = np.where(fit.one_group[group], shares, most)
        histogram = Beliefs(published.offsets, published.codes, bounds)
        return cls(task, fit, refined, largest_shares(fit.starts, fit.group, histogram, len(published.values)))

    @cached_property
    def is_settled(self) -> Flags:
        """The kinds of people who are in the table, and in groups that all have the same shares."""
        total = np.bincount(self.most.owner, weights=self.most.beliefs, minlength=len(self.fit.n_alike))
        several = np.zeros(len(self.fit.n_alike), bool)
        several[self.fit.of_pair[~self.fit.one_group[self.fit.group]]] = True
        return np.asarray(self.fit.sure & ~several & (total < 1 + _SAME) & (total > 0))

    @cached_property
    def is_shared(self) -> Flags:
        """The kinds of people who look alike, and have a place of their own."""
        return self.fit.alone & self.task.secret_ties

    @cached_property
    def is_exact(self) -> Flags:
        """The kinds of people whose probabilities are exact."""
        nowhere = np.diff(self.fit.starts) == 0
        return np.asarray((nowhere | self.is_settled | self.is_shared) & self.fit.listed)

    @cached_property
    def presence(self) -> Floats:
        """The largest probability that a person of each kind is in the table."""
        fits = np.diff(self.fit.starts) > 0
        tuples = np.bincount(self.fit.of_pair, weights=self.fit.tuples, minlength=len(fits))
        return np.where(fits & self.is_shared & ~self.fit.sure, np.minimum(1.0, tuples / self.fit.n_alike), fits * 1.0)

    @cached_property
    def shared(self) -> Floats:
        """The average shares over the groups, each weighted by its number of such records; in the form of `most`."""
        fit, published = self.fit, self.task.contents
        total = np.bincount(fit.of_pair, weights=fit.tuples, minlength=len(fit.n_alike))
        weight = fit.tuples / total[fit.of_pair] * self.presence[fit.of_pair]
        pair, at = entries_of(published.offsets, fit.group)
        keys = fit.of_pair[pair] * len(published.values) + published.codes[at]
        mixed = weight[pair] * published.counts[at] / published.sizes[fit.group[pair]]
        place = np.unique(keys, return_inverse=True)[1].reshape(-1)
        found = np.bincount(place, weights=mixed, minlength=len(self.most.beliefs))
        return np.minimum(found, self.most.beliefs)  # sums are rounded, and no average is above the largest share

    def posterior(self, how: str) -> Posterior:
        """Put it together; as a bound, what is not known exactly is as large as it can be."""
        beliefs = np.where(self.is_exact[self.most.owner], self.shared, self.most.beliefs)
        found = self.task.posterior(
            how,
            self.fit.kind,
            replace(self.most, beliefs=beliefs),
            self.presence,
            because=self._because,
            notes=self._notes(how),
        )
        return count_dropped(found, self.task)

    # in words

    @property
    def _theorem(self) -> str:
        if self.refined and self.task.independent == "groups":
            return (
                "knowing the algorithm does not help an attacker: every assignment of a group's values to "
                "its members is equally probable (Theorem S1 of the method Sift; Theorem M3 of the method Mirror)"
            )
        if self.refined:
            return (
                "knowing the algorithm does not help an attacker: where a part was not divided, each group in it takes "
                "equally many people from both halves, so the groups do not show which half has which values (Theorem "
                "M2 of the method Mirror)"
            )
        return (
            "knowing the algorithm does not help an attacker: where a part was not divided, nobody can tell which of "
            "its two halves was the reason, because exchanging the values of the halves would have led to the same "
            "decision (Theorem M1 of the method Mirror)"
        )

    def _notes(self, how: str) -> list[str]:
        fit, notes = self.fit, [self._theorem]
        rough = int(fit.n_alike[~self.is_exact].sum())
        if how == "bound" and rough:
            notes.append(
                f"it is not certain in which group {counted(rough, 'person is', 'people are')}: no probability for "
                "them is above the largest share of the groups that they may be in"
            )
        several = np.unique(fit.group[~fit.one_group[fit.group] & ~self.is_exact[fit.of_pair]])
        if how == "bound" and len(several):
            notes.append(
                f"the cells of {counted(len(several), 'published group')} may each cover several groups, whose shares "
                "are not known. These shares are assumed to be as large as the principle, and the smallest size of a "
                "group, allow"
            )
        if self.task.knowledge.looks_beside:
            notes.append(
                "other sensitive columns, and how often values of two columns occur together, reveal nothing "
                "about this column (Theorem J1)"
            )
        if self.task.knowledge.prior is not None:
            notes.append(
                "the prior changes nothing for published people: it is the same for everybody, and all possible tables "
                "have the published values"
            )
        return notes

    def _because(self, kind: int, code: int) -> str:
        groups = self.fit.group[self.fit.starts[kind] : self.fit.starts[kind + 1]]
        value, present = text_of(self.task.contents.values[code]), float(self.presence[kind])
        if not self.is_exact[kind]:
            return f"no group that this person may be in has a larger share of {value} than this, and {self._theorem}"
        if len(groups) == 1:
            entries = slice(int(self.task.contents.offsets[groups[0]]), int(self.task.contents.offsets[groups[0] + 1]))
            have = int(self.task.contents.counts[entries][self.task.contents.codes[entries] == code].sum())
            of = counted(int(self.task.contents.sizes[groups[0]]), "record")
            share = f"{have:,} of the {of} of their group {'has' if have == 1 else 'have'} {value}"
        else:
            share = (
                f"that is the share of {value} in the {len(groups):,} groups of people with the same quasi-identifiers"
            )
        absent = f", such a person is in the table with probability {present:.4f}" if present < 1 else ""
        return f"{share}{absent}, and {self._theorem}"


def _jointly(task: Task) -> bool:
    """Whether the release protects its sensitive columns jointly (Theorem J1)."""
    assert task.algorithm is not None
    requirement = Requirement.in_words(task.algorithm.principle, task.release.recipe.sensitive)
    return task.method.jointly(requirement) and task.recoding.columns_apart


def _caps(principle: Principle | None, published: Published) -> Floats:
    """The largest share that the principle allows each value in a group, as far as that is easily found."""
    caps = np.ones(len(published.values))
    for terms in () if principle is None else (one.terms for one in principle.singles()):
        for cap in terms.caps or ():
            caps = np.minimum(caps, 1.0 if cap.values is not None else float(cap.share))
        if terms.closeness is not None and terms.distance == "equal":
            totals = np.bincount(published.codes, weights=published.counts, minlength=len(caps))
            caps = np.minimum(caps, totals / totals.sum() + float(terms.closeness))
    return np.asarray(caps, np.float64)


def _least(terms: Terms, method: Mirror) -> int:
    """The least number of records of a leaf."""
    return max(1, method.floor or (0 if terms.smallest_group else _FLOOR), terms.smallest_group)
