# SPDX-License-Identifier: Apache-2.0
"""Minimality: the attacker knows only that the method never groups more coarsely than it must.

Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007, as TRANSPARENT tells it
(Definitions 6 to 8, Proposition 2). A *child* of a partition has one of its groups split in two. A generalization is
*minimal* if no child of its partition satisfies the principle under the same recoding scheme. The attacker keeps the
tables that can be generalized to the release and of which it is minimal, takes them to be equally likely, and counts:
the share of them where a person has a value is the person's *credibility*. It is a probability short of what the
algorithm itself tells (MINIMALITY Definition 2 conditions on all of it; see `ReverseEngineering`): TRANSPARENT Example
3 has 1/4 where Opt-Gen gives 1.

*Global recoding.* Equal quasi-identifiers share a group, and no two boxes share a place (see `OptGen` for why). Boxes
with no common place are separated on some attribute. So the children that count are those that cut one group at a value
of one attribute, and a group of a minimal release says: *each such cut leaves a part that breaks the principle*. Boxes
inside disjoint boxes are disjoint from all others, so each group says this by itself, and is counted by itself.

*Local recoding.* A group may be split in any way. Whether some split satisfies the principle then depends on the
group's multiset of values alone, which is published: nothing is learned, and credibility gives the probabilities of
linking.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa

from glasshouse.adversary.corruption.removal import Removal
from glasshouse.adversary.corruption.seats import contradiction
from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.knowledge import ABSENT, key_of
from glasshouse.adversary.matching import seats_in_words
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.task import Attack, stated_principle
from glasshouse.declarations import tree_of_axis
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import code
from glasshouse.microdata.groups import Groups
from glasshouse.plural import counted
from glasshouse.recoding.generalization import box_cells, node_cells
from glasshouse.release.layout import TAXONOMIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from glasshouse.adversary.matching import Matches
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.release import Release
    from glasshouse.release.contents import Published, Seats

__all__ = ["Minimality"]

Scheme = Literal["global", "local"]
_Histogram = tuple[int, ...]
_MINIMAL = "opt-gen"  # TRANSPARENT Lemma 1; no other method of ours tries every child


@dataclass(frozen=True, kw_only=True, slots=True)
class Minimality(Attack):
    """Compute what follows from the release being minimal, by any method (credibility).

    Parameters
    ----------
    column
        The sensitive column.
    scheme
        ``global`` or ``local`` recoding: what a child may be. By default global where everybody fits one group at
        most, else local.
    most_worlds
        The largest number of possible assignments of values (worlds) in one group that are tried.

    Notes
    -----
    Exact, group by group. Everybody who may be in the table must be on the list. An order on an attribute without
    one is that of its values' names, as for `OptGen`. Where more people fit a box than it has records, those in the
    table must have exactly that box. A prior that is the same for everybody changes nothing, for every world has the
    same values. People with known values keep them, and people known to be absent are left out.

    Examples
    --------
    TRANSPARENT Table V: Cate and Don were not made a group of their own, so they have the same disease.

    >>> import glasshouse as gh
    >>> table, table_v = gh.examples.transparent_t3(), Groups(np.array([0, 0, 1, 1, 1, 1, 1, 1], np.int32), 2)
    >>> release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.OptGen(), recoding=gh.Boxes())
    >>> release = replace(release, tables=gh.Boxes().recode(table, table_v))
    >>> found = Minimality().attack(release, gh.Knowledge(external=table))
    >>> found.of("Cate"), found.of("Ann"), found.how
    ({'gastritis': 1.0}, {'dyspepsia': 0.5, 'flu': 0.5}, 'credibility')
    """

    name: ClassVar[str] = "minimality"
    runs_method: ClassVar[bool] = True

    column: str | None = None
    scheme: Scheme | None = None
    most_worlds: int = 100_000

    def __post_init__(self) -> None:
        if self.scheme is not None and self.scheme not in get_args(Scheme):
            raise ParameterError("Minimality", "scheme", "'global' or 'local'", self.scheme)

    def believe(self, task: Task) -> Posterior:
        """Count the worlds of which the release is minimal."""
        release, knowledge, published = task.release, task.knowledge, task.contents
        if len(release.recipe.sensitive) > 1:
            raise NotSupported(
                "the attack minimality supports only one sensitive column, and this release has several",
                instead="attack a release with one sensitive column",
            )
        if knowledge.is_personal:
            raise NotSupported(
                "the attack minimality does not use a prior for single people",
                instead="leave out the prior: the attack counts possible tables, and takes all of them to be equally "
                "probable",
            )
        if published.kind not in ("boxes", "anatomy", "permutation"):
            raise NotSupported(
                f"the attack minimality does not support the recoding {release.layout.name}",
                instead="attack a release with the recoding 'boxes', 'taxonomies', 'anatomy' or 'permutation'",
            )
        notes = []
        if knowledge.prior is not None:
            notes.append(
                "the prior changes nothing for published people: it is the same for everybody, and all possible tables "
                "have the published values"
            )
        method = str(release.recipe.method.get("name"))
        if method != _MINIMAL:
            notes.append(
                f"it is not known that {method} makes minimal releases, which cannot be divided further: these are "
                "the probabilities of an attacker who assumes that it does"
            )
        board = _Board.of(task)
        if (self.scheme or ("local" if board.shared else "global")) == "local":
            notes.append(
                "under local recoding, the fact that no group could be divided further reveals nothing beyond the "
                "values of each group: these are the probabilities of an attacker who does not use this fact"
            )
            linked = Removal().believe(task)
            notes = list(dict.fromkeys([*linked.notes, *notes]))
            return replace(linked, how="credibility", because=None, notes=tuple(notes))
        if board.shared:
            raise NotSupported(
                "some people fit two groups, which is impossible under global recoding",
                instead="give scheme='local'",
            )
        return board.posterior(_judge(release, published), self.most_worlds, notes)


def _judge(release: Release, published: Published) -> Callable[[_Histogram], bool]:
    """Whether a group with so many records of each published value satisfies the principle."""
    principle = stated_principle(release, published.column)
    if principle is None:
        raise InputError("the attack minimality needs the principle that the release was made under: name it")
    if principle.bounds_beliefs:
        raise NotSupported(
            f"the attack minimality does not support {principle.title}, which limits probabilities and not what a "
            "group contains",
            instead="use the attack linking or corruption",
        )
    n = len(published.values)
    totals = np.bincount(published.codes, weights=published.counts, minlength=n).astype(np.int64)
    axis = next((told.axis for told in release.columns if told.name == published.column), None) or {}
    column = code(
        pa.array(list(published.values)),
        name=published.column,
        order=axis["order"] if axis and "heights" not in axis else None,
        taxonomy=tree_of_axis(axis) if "heights" in axis else None,
        missing=None in published.values,
    )
    place = column.codes  # where a value stands in the column's own order

    def ordered(histogram: Any) -> Any:
        found = np.zeros(n, np.int64)
        found[place] = histogram
        return found

    bound = principle.bind(Counts.from_histograms([ordered(totals)]), column.domain)
    known: dict[_Histogram, bool] = {}

    def holds(histogram: _Histogram) -> bool:
        if histogram not in known:
            known[histogram] = bool(bound.holds(Counts.from_histograms([ordered(histogram)]))[0])
        return known[histogram]

    return holds


@dataclass(frozen=True, eq=False)
class _Board:
    """The groups, and which people fit where."""

    task: Task
    seats: Seats
    matches: Matches
    known: dict[int, Any]  # rows of corrupted people

    @classmethod
    def of(cls, task: Task) -> _Board:
        (seats,) = task.contents.seats
        return cls(task, seats, task.fits(seats), dict(task.told))

    @property
    def shared(self) -> bool:
        """Whether somebody fits two groups."""
        return bool((np.diff(self.matches.offsets) > 1).any())

    def posterior(self, holds: Callable[[_Histogram], bool], most_worlds: int, notes: list[str]) -> Posterior:
        """Count group by group."""
        published, kinds = self.task.contents, self.task.kinds
        n_kinds = kinds.n_kinds
        beliefs: list[dict[int, Fraction]] = [{} for _ in range(n_kinds)]
        presence = np.zeros(n_kinds + 2)
        failed: dict[int, str] = {}
        n_worlds = 1
        fits = np.full(n_kinds, -1, np.int64)
        fits[np.diff(self.matches.offsets) > 0] = self.matches.seats
        group_of = np.where(fits >= 0, self.seats.group[fits], -1)
        outside = any(value is not ABSENT and group_of[kinds.of_person[row]] < 0 for row, value in self.known.items())
        if outside and not self.task.release.n_dropped:
            raise InputError(
                "a person whose value is given (corrupted=, --corrupted) fits no group: check the person, or "
                "give ABSENT (an empty value in the file) if the person is not in the table"
            )
        members = np.argsort(kinds.of_person, kind="stable")
        starts = np.searchsorted(kinds.of_person[members], np.arange(n_kinds + 1))
        of_group = np.argsort(group_of, kind="stable")
        first = np.searchsorted(group_of[of_group], np.arange(published.n_groups + 1))
        for number in range(published.n_groups):
            points = []
            for kind in of_group[first[number] : first[number + 1]].tolist():
                rows = members[starts[kind] : starts[kind + 1]].tolist()
                points.append(self._point(kind, int(fits[kind]), rows))
            group = _Group(self, number, points, holds, most_worlds)
            group.count()
            n_worlds *= group.total
            sentence = group.sentence()
            for point, values, here in zip(group.points, group.joint, group.here, strict=True):
                if point.free:
                    of = group.total * point.free
                    beliefs[point.kind] = {v: Fraction(n, of) for v, n in enumerate(values) if n}
                    presence[point.kind] = here / of
                if sentence is not None:
                    failed[point.kind] = sentence
        presence[n_kinds:] = 0.0, 1.0
        kind = kinds.of_person.copy()
        for row, value in self.known.items():  # what was known before is not what the release tells
            kind[row] = n_kinds if value is ABSENT else n_kinds + 1
        lists = [sorted(of.items()) for of in beliefs] + [[], []]
        offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        codes = np.array([v for of in lists for v, _ in of], np.int32)
        shares = np.array([float(belief) for of in lists for _, belief in of], np.float64)
        found_all = self.task.posterior(
            "credibility",
            kind,
            Beliefs(offsets, codes, shares),
            presence,
            because=lambda kind, code: failed.get(
                kind, "the fact that the group was not divided further rules out no possible table"
            ),
            notes=(*notes, f"the release is minimal for {n_worlds:,} of the tables that fit it"),
        )
        return count_dropped(found_all, self.task)

    def _point(self, kind: int, seat: int, rows: list[int]) -> _Point:
        fixed = []
        free = 0
        for row in rows:
            value = self.known.get(row)
            if row not in self.known:
                free += 1
            elif value is not ABSENT:
                if key_of(value) not in self.task.place:
                    raise contradiction()
                fixed.append(self.task.place[key_of(value)])
        quasi = [self.task.knowledge.external.column(name) for name in self.seats.quasi]
        codes = tuple(int(column.codes[self.task.kinds.examples[kind]]) for column in quasi)
        return _Point(kind, seat, codes, free, tuple(fixed))

    def same_box(self, kinds: Sequence[int], seat: int) -> bool:
        """Whether people of these kinds, and nobody else, have the cells of a seat."""
        cells_of = node_cells if self.task.release.layout is TAXONOMIES else box_cells
        people = self.task.knowledge.external.take(self.task.kinds.examples[list(kinds)])
        one = Groups(np.zeros(len(kinds), np.int32), 1)
        for name, texts, of_seat in zip(self.seats.quasi, self.seats.cells, self.seats.of_seat, strict=True):
            cell = cells_of(people.column(name), one)
            if str(list(cell.texts)[int(cell.of_group[0])]) != texts[of_seat[seat]]:
                return False
        return True


@dataclass(frozen=True)
class _Point:
    """People with equal quasi-identifiers who fit a group."""

    kind: int
    seat: int
    codes: tuple[int, ...]
    free: int  # of whom nothing is known
    fixed: tuple[int, ...]  # the values of corrupted people who are in the table


class _Group:
    """One group: all its possible tables (worlds) are tried, people with equal quasi-identifiers together."""

    def __init__(
        self, board: _Board, number: int, points: list[_Point], holds: Callable[[_Histogram], bool], most_worlds: int
    ) -> None:
        self.board, self.number, self.holds, self.most_worlds = board, number, holds, most_worlds
        self.points = sorted(points, key=lambda point: point.codes)  # cuts of the first attribute come up early
        published = board.task.contents
        own = slice(published.offsets[number], published.offsets[number + 1])
        histogram = [0] * len(published.values)
        for value, n in zip(published.codes[own].tolist(), published.counts[own].tolist(), strict=True):
            histogram[value] = n
        self.whole = tuple(histogram)
        self.seats = {
            int(seat): int(board.seats.count[seat]) for seat in np.flatnonzero(board.seats.group == number).tolist()
        }
        self.n_visited = self.total = 0  # worlds of which it is minimal
        self.joint = [[0] * len(histogram) for _ in points]  # people at a point with a value, summed over these worlds
        self.here = [0] * len(points)  # people at a point who are in the table, summed over these worlds
        self.excluded = Counter[tuple[int, int, int]]()
        self.boxes: dict[tuple[int, ...], bool] = {}
        for seat, tuples in self.seats.items():
            here = [point for point in self.points if point.seat == seat]
            if sum(point.free + len(point.fixed) for point in here) < tuples:
                raise NotSupported(
                    "the attack minimality needs everybody who may be in the table, and the external table "
                    "has fewer people than a group has records",
                    instead="give an external table with everybody who may be in the table: the people decide "
                    "which divisions were possible",
                )
        self.choice = published.kind == "boxes" and sum(p.free + len(p.fixed) for p in points) > sum(histogram)

    def count(self) -> None:
        """Try all worlds."""
        if not self.holds(self.whole):
            raise InputError(
                "a published group does not satisfy the principle that was named: name the principle that the "
                "release was made under"
            )
        for ways, given in self._worlds(0, self.whole, tuple(self.seats.values()), 1, []):
            cut = self._failing(given)
            if cut is not None:
                self.excluded[cut] += ways
                continue
            self.total += ways
            for i, (free, _) in enumerate(given):
                self.here[i] += ways * sum(free)
                for value, n in enumerate(free):
                    self.joint[i][value] += ways * n
        if not self.total:
            raise InputError(
                "no table of these people could have led to this release if groups were divided as far as the "
                "principle allows: check that the people, the principle and the known values of people (corrupted=) "
                "are those of the release. If they are, the method does not divide groups so far: use another attack, "
                "such as linking"
            )

    def _worlds(
        self,
        i: int,
        left: _Histogram,
        room: tuple[int, ...],
        ways: int,
        given: list[tuple[_Histogram, _Histogram]],
    ) -> Iterator[tuple[int, list[tuple[_Histogram, _Histogram]]]]:
        """Give the people at every point from ``i`` on their values; each world once for people who are alike.

        ``given`` has for each point the values of those of whom nothing was known, and of all.
        """
        if i == len(self.points):
            if not any(room) and not any(left) and (not self.choice or self._same_box(given)):
                yield ways, given
            return
        point = self.points[i]
        at = list(self.seats).index(point.seat)
        fixed = Counter(point.fixed)
        rest = tuple(n - fixed[value] for value, n in enumerate(left))
        if min(rest) < 0 or room[at] < len(point.fixed):
            return
        here = room[at] - len(point.fixed)
        for present in range(min(point.free, here) + 1):
            seated = (*room[:at], here - present, *room[at + 1 :])
            chosen = comb(point.free, present)
            for free in _parts(rest, present):
                self.n_visited += 1
                if self.n_visited > self.most_worlds:
                    raise NotSupported(
                        f"a group of {counted(sum(self.whole), 'record')} has more than "
                        f"{counted(self.most_worlds, 'possible assignment')} of values to people, which are too many "
                        "to count",
                        instead="raise the limit (most_worlds=, in Python), or attack a release with smaller groups",
                    )
                orders = factorial(present) // prod(map(factorial, free))
                everybody = tuple(n + fixed[value] for value, n in enumerate(free))
                after = tuple(n - m for n, m in zip(rest, free, strict=True))
                yield from self._worlds(i + 1, after, seated, ways * chosen * orders, [*given, (free, everybody)])

    def _same_box(self, given: Sequence[tuple[_Histogram, _Histogram]]) -> bool:
        """Whether those in the table have the published box: the tightest around them (TRANSPARENT 2.1)."""
        present = tuple(i for i, (_, everybody) in enumerate(given) if any(everybody))
        if present not in self.boxes:
            kinds = [self.points[i].kind for i in present]
            self.boxes[present] = self.board.same_box(kinds, next(iter(self.seats)))
        return self.boxes[present]

    def _failing(self, given: Sequence[tuple[_Histogram, _Histogram]]) -> tuple[int, int, int] | None:
        """A cut both of whose parts satisfy the principle, so that the world is not minimal: attribute, codes."""
        for axis in range(len(self.board.seats.quasi)):
            by_code: dict[int, list[_Histogram]] = {}
            for point, (_, everybody) in zip(self.points, given, strict=True):
                if any(everybody):
                    by_code.setdefault(point.codes[axis], []).append(everybody)
            lower = [0] * len(self.whole)
            for this, following in pairwise(sorted(by_code)):
                for histogram in by_code[this]:
                    lower = [n + m for n, m in zip(lower, histogram, strict=True)]
                upper = tuple(n - m for n, m in zip(self.whole, lower, strict=True))
                if self.holds(tuple(lower)) and self.holds(upper):
                    return axis, this, following
        return None

    def sentence(self) -> str | None:
        """The cut that excludes most worlds, by public values only."""
        if not self.excluded:
            return None
        axis, below, above = max(self.excluded, key=lambda cut: (self.excluded[cut], cut))
        seats = self.board.seats
        texts = (*self.board.task.knowledge.external.column(seats.quasi[axis]).domain.texts, "missing")
        return (
            f"the group with the cells {seats_in_words(seats, next(iter(self.seats)))} was not divided between "
            f"{seats.quasi[axis]} {texts[below]} and {texts[above]}, because one of the two parts would have "
            "violated the principle"
        )


def _parts(histogram: _Histogram, size: int) -> Iterator[_Histogram]:
    """Every multiset of a given size that can be taken from a histogram."""
    if not histogram:
        if size == 0:
            yield ()
        return
    after = sum(histogram[1:])
    for n in range(max(0, size - after), min(histogram[0], size) + 1):
        for rest in _parts(histogram[1:], size - n):
            yield (n, *rest)
