# SPDX-License-Identifier: Apache-2.0
"""Groups that were grown greedily along an order: exact probabilities of an attacker who knows that, at any scale.

MINIMALITY 2.4, 4 and 5.1. The list is sorted as the method sorted the table, the published groups are found there, and
each is asked why it was not closed at an earlier bucket (`prefixes`). Groups are formed one after another, each by
itself, so each can be asked alone; many ask the same question, which is answered once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse import bounds
from glasshouse.adversary.knowledge import ABSENT, key_of
from glasshouse.adversary.posterior import Beliefs, entries_of
from glasshouse.adversary.reverse_engineering.greedy.crowds import Crowd, dropped_known, linked, weigh
from glasshouse.adversary.reverse_engineering.greedy.prefix_states import Closeness, Frequencies, Run
from glasshouse.adversary.reverse_engineering.greedy.prefixes import Solved, solve
from glasshouse.adversary.reverse_engineering.greedy.runs import lay_out
from glasshouse.adversary.reverse_engineering.greedy.tail import unpublished_beliefs
from glasshouse.adversary.reverse_engineering.strategies import Strategy, reversing
from glasshouse.errors import InputError, NotSupported
from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.method import times_e
from glasshouse.kernels import compiled
from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import code
from glasshouse.plural import counted
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.microdata import Domain, Microdata
    from glasshouse.release.contents import Published

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Explained", "GreedyGroups"]


@dataclass(frozen=True, kw_only=True)
class GreedyGroups(Strategy):
    """Believe what follows from the release, everybody's quasi-identifiers and `Greedy` or `RandomisedGreedy`.

    The attacker's list must have everybody who is in the table, and nobody else. People whose value is known keep it in
    every world. A group whose prefixes have more than ``most_states`` is not gone through: its arrangements are
    sampled, at most ``most_trials`` for one group; `NotSupported` if that is not enough.

    Notes
    -----
    *Ties.* With a declared identifier it is known who stands where. Otherwise people with equal quasi-identifiers are
    alike, and have the mean probabilities of their places.

    *Prior.* Every possible world has the published values, so a prior that is the same for everybody changes nothing.

    *Dropped records* (``last="drop"``) are of the last people of the order. Each is held to have any of the values in
    the contents, equally probable before the release, as long as together they make no group and the whole table obeys
    the principle. These may include values that are published nowhere: see
    `glasshouse.adversary.dropped_people.held_possible`.

    Examples
    --------
    The group of MINIMALITY Figure 6(a): the first two must both be positive, or they would have been a group.

    >>> import glasshouse as gh
    >>> people = gh.examples.minimality_figure6a()
    >>> steps = gh.DesignatedLDiversity(ell=2, values=("Positive",)), gh.Greedy(last="drop"), gh.Permutation()
    >>> release = gh.publish(people, principle=steps[0], method=steps[1], recoding=steps[2])
    >>> found = GreedyGroups().attack(release, gh.Knowledge(external=people), steps)
    >>> found.largest[found.kind].tolist(), found.worst().value
    ([1.0, 1.0, 1.0, 1.0], 'Positive')
    """

    methods = (Greedy, RandomisedGreedy)

    most_states: int = 100_000
    most_trials: int = 100_000_000

    def refuses(self, task: Task) -> NotSupported | None:
        """The reason to refuse: the list must be the people in the table; the principle must be judged by bucket."""
        release, knowledge, principle = task.release, task.knowledge, task.principle
        judged = principle is not None and (principle.terms.one_in or principle.terms.closeness) is not None
        if not judged or len(release.recipe.sensitive) > 1:
            return NotSupported(
                (
                    "groups made by the methods greedy and randomised-greedy can be analysed only for one "
                    "sensitive column, and only under l-diversity, designated l-diversity or t-closeness"
                ),
                instead="use linking",
            )
        if knowledge.is_personal:
            return NotSupported(
                f"{reversing(task)} does not use a prior for single people in a table of this size",
                instead="give one prior for everybody, or attack a table of fewer people",
            )
        if any(value is ABSENT for value in knowledge.corrupted.values()):
            return NotSupported(
                f"{reversing(task)} needs exactly the people of the published table, and somebody is given as ABSENT",
                instead="leave people who are not in the table out of the external table",
            )
        n, n_people = release.n_tuples + release.n_dropped, knowledge.external.n_tuples
        if n != n_people:
            return NotSupported(
                "reverse engineering needs exactly the people of the published table: the release has "
                f"{counted(n, 'record')} and the external table {counted(n_people, 'person')}",
                instead="give an external table with everybody in the published table and nobody else, or use linking",
            )
        return super().refuses(task) or (self._refuses_dropped(task) if release.n_dropped else None)

    def _refuses_dropped(self, task: Task) -> NotSupported | None:
        release = task.release
        method = task.made_by(Greedy, RandomisedGreedy)
        if method.last != "drop" or bounds.exact(release.recipe.suppress):
            return NotSupported(
                f"{reversing(task)} does not support the "
                f"{counted(release.n_dropped, 'record that was', 'records that were')} left out before the groups were "
                "made",
                instead="use linking",
            )
        if task.principle is not None and task.principle.terms.closeness is not None:
            return NotSupported(
                f"{reversing(task)} does not support t-closeness where records were left out",
                instead="publish with last='merge', or use linking",
            )
        if task.knowledge.prior is not None:
            return NotSupported(
                f"{reversing(task)} does not use a prior where records were left out",
                instead="leave the prior out",
            )
        return None

    def believe(self, task: Task) -> Posterior:
        """Solve every group, and collect what that means for people."""
        return Explained(task, self).posterior()


def _judge(task: Task, method: Greedy | RandomisedGreedy) -> tuple[Frequencies | Closeness, NDArray[np.bool_], int]:
    """When a group is complete, which values count, and how many people a bucket has; as the method has it."""
    published, principle, external, n = task.contents, task.principle, task.knowledge.external, task.people.n_tuples
    assert principle is not None
    terms, counted = principle.terms, np.ones(len(published.values), bool)
    if terms.closeness is not None:
        totals = np.bincount(published.codes, weights=published.counts, minlength=len(published.values))
        order, domain = _domain(published, terms.distance, external)
        whole = Counts.from_histograms([totals.astype(np.int64)[order].tolist()])
        closeness = Closeness.of(principle.bind(whole, domain))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return replace(closeness, crossing=closeness.crossing[place]), counted, 1
    if terms.named:
        designated = set(map(key_of, terms.named))
        counted = np.array([key_of(value) in designated for value in published.values], bool)
    assert terms.one_in is not None
    ell = times_e(terms.one_in) if getattr(method, "safe", False) else terms.one_in
    return Frequencies(min(ell, n + 1)), counted, min(ell, max(1, n))


def _domain(published: Published, distance: str | None, external: Microdata) -> tuple[Integers, Domain | None]:
    """The published values in the order of their domain, and the domain itself where the distance needs it."""
    if distance == "equal":
        return np.arange(len(published.values)), None
    known = next((c.domain for c in external.sensitive if c.name == published.column), None)
    values = list(published.values)
    if known is None:
        if distance == "hierarchical":
            raise NotSupported(
                "t-closeness was measured with a taxonomy of the sensitive column, which the external table "
                "does not have",
                instead=f"read the external table with the sensitive column {published.column!r} and its taxonomy",
            )
        known = code(pa.array(values), name=published.column, missing=None in values).domain
    if known.size != len(values):
        raise NotSupported(
            "t-closeness cannot be checked, because the sensitive column of the external table has other "
            "values than the release",
            instead="read an external table whose sensitive column has the published values",
        )
    codes = [known.missing_code if value is None else known.code_of(value) for value in values]
    return np.argsort(codes), known


# --- the attack ------------------------------------------------------------------------------------------------------


class Explained:
    """Solves all runs, and collects what that means for people."""

    def __init__(self, task: Task, limits: GreedyGroups) -> None:
        self.task, self.limits = task, limits
        self.method = method = task.made_by(Greedy, RandomisedGreedy)
        self.judge, self.counted, self.size = _judge(task, method)  # which values count, and people in a bucket
        self.p = bounds.exact(getattr(method, "p", 0))
        self.layout = layout = lay_out(task, method, self.size)
        if (layout.starts[:-1] % self.size).any():
            raise InputError(
                "the size of a published group is not a multiple of the bucket size: check that the method "
                "and its parameters are those of the release"
            )
        self.n_dropped = task.people.n_tuples - int(layout.starts[-1])  # at the end of the order
        self.progress = limits.progress or (lambda _: None)
        self.share = 0.0  # of the work that is done
        self.source = limits.source or Source.secure()
        published = task.contents
        self.starts, self.group = layout.starts, layout.group.astype(np.int32)
        self.offsets, self.codes, self.counts = published.offsets, published.codes, published.counts
        self.lengths = np.diff(self.starts)
        self.n_buckets = -(-self.lengths // self.size)
        self.table = np.full(len(self.group), -1, np.int64)
        self.width = np.zeros(len(self.group), np.int64)
        self.by_slot = np.zeros(len(self.group), np.uint8)
        self.column = np.zeros(len(self.codes), np.int32)
        self.found: list[Floats] = []  # probabilities of runs, one table behind the other, and their errors
        self.doubt: list[Floats] = []
        self.length = 0
        self.n_sampled = self.n_explained = 0
        self.questions: dict[Any, Solved] = {}
        known = task.known()
        self.known = {row: int(known[row]) for row, _ in task.told}

    def posterior(self) -> Posterior:
        """Explain every run, and compute the probabilities."""
        task = self.task
        fixed = self._places_of_known() if not task.secret_ties else {}
        asked = (self.n_buckets > 1) & ~(self.layout.inside & task.secret_ties)
        placed = self._placed() if task.secret_ties and self.known else set()
        alone = self._alone(asked, fixed, placed)
        plain = np.flatnonzero(asked & ~np.isin(np.arange(len(asked)), [*alone, *placed]))
        if isinstance(self.judge, Frequencies):
            self._explain_alike(plain)
        else:
            alone |= {int(run): "seen" for run in plain}
        for i, (run, kind) in enumerate(sorted(alone.items())):
            self._explain_alone(run, kind, fixed.get(run))
            self._tell(0.5 + 0.4 * i / len(alone))
        if self.n_dropped:
            self._explain_dropped()
        return self._believed()

    def _tell(self, share: float) -> None:
        self.share = share
        self.progress(share)

    # what the attacker has found out

    @property
    def _position(self) -> Integers:
        """Where each corrupted person stands in the order."""
        order = self.layout.order
        where = np.empty(len(order), np.int32)
        where[order] = np.arange(len(order), dtype=np.int32)
        found = where[list(self.known)].astype(np.int64)
        if len(found) and found.max() >= self.starts[-1]:
            raise dropped_known()
        return found

    def _places_of_known(self) -> dict[int, Integers]:
        """The runs with corrupted people: how many, by bucket and entry."""
        fixed: dict[int, Integers] = {}
        for at, value in zip(self._position.tolist(), self.known.values(), strict=True):
            run = int(np.searchsorted(self.starts, at, side="right")) - 1
            codes = self.histogram(run)[0]
            entry = np.flatnonzero(codes == value)
            if not len(entry):
                raise InputError(
                    "a value given for a person (corrupted=, --corrupted) is not published in the person's "
                    "group: check the value"
                )
            table = fixed.setdefault(run, np.zeros((int(self.n_buckets[run]), len(codes)), np.int64))
            table[(at - self.starts[run]) // self.size, entry[0]] += 1
        return fixed

    # runs

    def histogram(self, run: int) -> tuple[Integers, Integers]:
        """The values of a run, and how many records have each."""
        part = slice(int(self.offsets[self.group[run]]), int(self.offsets[self.group[run] + 1]))
        return self.codes[part].astype(np.int64), self.counts[part]

    def _run(self, run: int, kind: str, fixed: Integers | None = None) -> Run:
        codes, counts = self.histogram(run)
        allowed = None
        if kind == "hidden" and not self.layout.inside[run]:
            allowed = self.layout.allowed(run, self.size)
        return Run(
            codes=codes,
            counts=counts,
            counted=self.counted[codes],
            sizes=self._sizes(int(self.lengths[run])),
            kind=kind,
            fixed=fixed,
            allowed=allowed,
        )

    def _sizes(self, length: int) -> tuple[int, ...]:
        size = self.size
        return (size,) * (length // size) + ((length % size,) if length % size else ())

    def _kind(self, run: int) -> str:
        """How a run may have come about."""
        last = self.method.last == "merge" and run == len(self.group) - 1
        if not self.layout.hidden or self.n_buckets[run] == 1:
            return "merged" if last else "seen"
        if self.layout.inside[run]:
            return "free" if last else "hidden"  # whatever its people have, they are published so
        several = self._may_be_several and self.layout.may_be_several(run, self.size)
        if several and last:
            raise NotSupported(
                "the cells of the last group may cover several groups that were merged, and these cannot be separated",
                instead="use linking",
            )
        return "hidden" if several else "merged" if last else "seen"

    @property
    def _may_be_several(self) -> bool:
        """Whether groups of different people can have the same box: not along a lexicographic order."""
        return bool(self.method.ordering != "lexicographic" or self.layout.taxonomies)

    def _alone(self, asked: NDArray[np.bool_], fixed: dict[int, Integers], placed: set[int]) -> dict[int, str]:
        """The runs that are not like others, with their kinds."""
        layout, found = self.layout, {run: self._kind(run) for run in fixed}
        suspects: Iterator[int] | list[int] = []
        if layout.hidden:
            suspects = np.flatnonzero(asked & (layout.inside | self._may_be_several)).tolist()
        for run in [*suspects, *([len(asked) - 1] if len(asked) and asked[-1] else [])]:
            kind = self._kind(run)
            if kind != "seen" and run not in placed:
                found[run] = kind
        return found

    def _explain_alike(self, runs: Integers) -> None:
        """Explain runs that may have each other's profile: counts, which of them are counted, and no names."""
        group = self.group[runs]
        lengths = np.diff(self.offsets)[group]
        edges = np.concatenate([[0], np.cumsum(lengths)])
        of_run, entries = entries_of(self.offsets, group)
        profile = 2 * self.counts[entries] + self.counted[self.codes[entries]]
        order = np.lexsort((profile, of_run))
        profile, entries = profile[order], entries[order]
        new = np.ones(len(profile), bool)
        new[1:] = (np.diff(profile) != 0) | (np.diff(of_run) != 0)
        number = np.cumsum(new)
        self.column[entries] = number - np.repeat(number[edges[:-1]], lengths)
        known: dict[tuple[int, bytes], tuple[int, int]] = {}
        people = self.lengths[runs]
        for i, run in enumerate(runs.tolist()):
            start, stop = edges[i], edges[i + 1]
            key = (int(people[i]), profile[start:stop].tobytes())
            if key not in known:
                counts = profile[start:stop] >> 1
                question = Run(
                    codes=np.arange(stop - start),
                    counts=counts,
                    counted=(profile[start:stop] & 1).astype(bool),
                    sizes=self._sizes(int(people[i])),
                )
                answer = self._answer(question)
                distinct = new[start:stop]
                errors = None if answer.errors is None else answer.errors[:, distinct]
                known[key] = self._kept(answer.beliefs[:, distinct], errors), int(distinct.sum())
                self._tell(0.1 + 0.4 * i / len(runs))
            self.table[run], self.width[run] = known[key]
            self.n_explained += 1

    def _explain_alone(self, run: int, kind: str, fixed: Integers | None) -> None:
        """Explain a run that has a kind, names or corrupted people of its own."""
        answer = self._answer(self._run(run, kind, fixed))
        beliefs, errors = answer.beliefs, answer.errors
        if fixed is not None:  # a slot is a bucket: what is expected of its other people
            others = (np.array(self._sizes(int(self.lengths[run]))) - fixed.sum(axis=1))[:, np.newaxis]
            beliefs = beliefs * others
            errors = None if errors is None else errors * others
            self.by_slot[run] = 1
        self.put(run, beliefs, errors)
        self.n_explained += 1

    def put(self, run: int, beliefs: Floats, errors: Floats | None = None) -> None:
        """Keep the probabilities of the buckets, or slots, of a run."""
        self.table[run] = self._kept(beliefs, errors)
        self.width[run] = beliefs.shape[1]
        start, stop = self.offsets[self.group[run]], self.offsets[self.group[run] + 1]
        self.column[start:stop] = np.arange(stop - start)

    def _kept(self, beliefs: Floats, errors: Floats | None) -> int:
        """Put a table behind the others; returns where it starts."""
        self.found.append(beliefs.reshape(-1))
        self.doubt.append(np.zeros(beliefs.size) if errors is None else errors.reshape(-1))
        self.length += beliefs.size
        return self.length - beliefs.size

    def _answer(self, question: Run) -> Solved:
        """Solve a run; a problem that was solved before is looked up."""
        key = (question.kind, *self.judge.key(question))
        if question.fixed is not None or question.kind != "seen":
            told = None if question.fixed is None else question.fixed.tolist()
            return self._solved(question, (*key, question.codes.tolist(), told))
        if key not in self.questions:
            self.questions[key] = self._solved(question, key)
        return self.questions[key]

    def _solved(self, question: Run, key: Any) -> Solved:
        source = self.source.child("run", repr(key))
        found = solve(
            question,
            self.judge,
            self.p,
            most_states=self.limits.most_states,
            error=self.limits.error,
            source=source,
            most_trials=self.limits.most_trials,
            look=lambda: self.progress(self.share),
        )
        self.n_sampled += found.errors is not None
        return found

    # corrupted people whose places are secret

    def _placed(self) -> set[int]:
        """Explain the runs where corrupted people may stand, weighing all their places; returns these runs."""
        layout = self.layout
        edges = np.append(np.flatnonzero(layout.fresh), len(layout.fresh))
        cells: dict[int, dict[int, int]] = {}
        for at, value in zip(self._position.tolist(), self.known.values(), strict=True):
            values = cells.setdefault(int(np.searchsorted(edges, at, side="right")) - 1, {})
            values[value] = values.get(value, 0) + 1
        crowded = {
            number: Crowd.of(self, int(edges[number]), int(edges[number + 1]), values)
            for number, values in cells.items()
        }
        done: set[int] = set()
        for crowds in linked(list(crowded.values())):
            done |= weigh(self, crowds)
        return done

    def possible(self, run: int, fixed: Integers) -> Solved:
        """The answer; with a weight of zero if these values are impossible."""
        try:
            return self._solved(self._run(run, self._kind(run), fixed), (run, fixed.tolist()))
        except InputError:
            return Solved(np.zeros((int(self.n_buckets[run]), fixed.shape[1])), -np.inf)

    def slots(self, run: int) -> Iterator[tuple[int, int, int]]:
        """The parts of a run that lie in one cell and one bucket: start, stop and bucket."""
        fresh, size = self.layout.fresh, self.size
        start, stop = int(self.starts[run]), int(self.starts[run + 1])
        marks = {start, *(start + np.flatnonzero(fresh[start:stop])).tolist(), *range(start, stop, size)}
        ordered = [*sorted(marks), stop]
        for low, high in pairwise(ordered):
            yield low, high, (low - start) // size

    # dropped people

    def _explain_dropped(self) -> None:
        """Add a run of the people who are not published, whose values are unknown."""
        task, n = self.task, self.task.people.n_tuples
        sizes = self._sizes(self.n_dropped)
        values = np.arange(len(task.contents.values))
        totals = np.bincount(self.codes, weights=self.counts, minlength=len(values)).astype(np.int64)
        assert isinstance(self.judge, Frequencies)
        ell = self.judge.ell
        room = np.where(self.counted, n // ell - totals, n)
        if self.counted.all() and room.min() >= self.n_dropped:
            beliefs = np.full((len(sizes), len(values)), 1.0 / len(values))  # nothing tells values apart
        else:
            beliefs = unpublished_beliefs(
                sizes, counted=self.counted, ell=ell, p=self.p, room=room, most_states=self.limits.most_states
            )
        self.starts = np.append(self.starts, n)
        self.group = np.append(self.group, np.int32(len(self.offsets) - 1))
        self.offsets = np.append(self.offsets, self.offsets[-1] + len(values))
        self.codes = np.append(self.codes, values.astype(np.int32))
        self.counts = np.append(self.counts, np.ones(len(values), np.int64))
        self.column = np.append(self.column, np.zeros(len(values), np.int32))
        self.lengths = np.diff(self.starts)
        self.n_buckets = np.append(self.n_buckets, len(sizes))
        self.table, self.width = np.append(self.table, -1), np.append(self.width, 0)
        self.by_slot = np.append(self.by_slot, np.uint8(0))
        self.put(len(self.group) - 1, beliefs)

    # people

    def _believed(self) -> Posterior:
        task, n_values = self.task, len(self.task.contents.values)
        fresh = self.layout.fresh if task.secret_ties else self._bucket_marks()
        edges = np.append(np.flatnonzero(fresh), len(fresh))
        of_position = np.cumsum(fresh, dtype=np.int64) - 1
        order = self.layout.order
        kind = np.empty(len(order), np.int64)
        kind[order] = of_position
        del of_position
        people = np.diff(edges)
        rows = np.array(list(self.known), np.int64)
        np.subtract.at(people, kind[rows], 1)
        kernels = compiled("glasshouse.adversary.reverse_engineering.greedy._kernels")
        runs = kernels.Runs(
            self.size,
            self.starts.astype(np.int64),
            self.group,
            self.offsets,
            self.codes,
            self.counts,
            self.table,
            self.width,
            self.by_slot,
            self.column,
            np.concatenate([np.empty(0), *self.found]),
            np.concatenate([np.empty(0), *self.doubt]),
        )
        offsets = np.zeros(len(people) + 1, np.int64)
        sums = np.full((2, n_values), -1.0)
        given = runs, fresh, people, sums, np.empty(n_values, np.int32), offsets
        n_found = kernels.believe(*given, np.empty(0, np.int32), np.empty((2, 0)))
        codes, (beliefs, errors) = np.empty(n_found, np.int32), (found := np.empty((2, n_found)))
        kernels.believe(*given, codes, found)
        offsets[-1] = n_found
        if self.known:  # those who were corrupted, a kind for every value
            told = sorted(set(self.known.values()))
            kind[rows] = [len(people) + told.index(value) for value in self.known.values()]
            offsets = np.append(offsets, n_found + 1 + np.arange(len(told)))
            codes = np.append(codes, np.array(told, np.int32))
            beliefs, errors = np.append(beliefs, np.ones(len(told))), np.append(errors, np.zeros(len(told)))
        self._tell(1.0)
        return task.posterior(
            "sampled" if self.n_sampled else "exact",
            kind,
            Beliefs(offsets, codes, beliefs, errors if self.n_sampled else None),
            np.ones(len(offsets) - 1),
            because=_Because(self, edges),
            notes=self._notes(),
        )

    def _bucket_marks(self) -> NDArray[np.uint8]:
        """Where a kind begins if everybody's place is known: at a run, and at a bucket that is judged separately."""
        marks = np.zeros(self.task.people.n_tuples, np.uint8)
        marks[self.starts[:-1]] = 1
        for run in np.flatnonzero((self.table >= 0) & (self.n_buckets > 1)).tolist():
            marks[self.starts[run] : self.starts[run + 1] : self.size] = 1
        return marks

    def _notes(self) -> tuple[str, ...]:
        task, notes = self.task, []
        more = "reveals more than its values" if self.n_explained == 1 else "reveal more than their values"
        notes.append(
            f"{self.n_explained:,} of {counted(len(self.group), 'group')} {more}, because of the way in which the "
            "algorithm formed them"
        )
        if task.secret_ties:
            notes.append(
                "the order of people with equal quasi-identifiers is not known, so the attacker's probabilities for "
                "them are the same"
            )
        if task.knowledge.prior is not None:
            notes.append(
                "the prior changes nothing: it is the same for everybody, and all possible tables have the "
                "published values"
            )
        if self.n_dropped:
            notes.append(f"{counted(self.n_dropped, 'person is', 'people are')} in the table and not in the release")
        if self.n_sampled:
            notes.append(
                f"the probabilities for {counted(self.n_sampled, 'different group')} were estimated by sampling: see "
                "the errors"
            )
        return tuple(notes)


# --- why -------------------------------------------------------------------------------------------------------------


class _Because:
    """Explains the probability of a value for a kind of people."""

    def __init__(self, attack: Explained, edges: Integers) -> None:
        self.attack, self.edges = attack, edges

    def __call__(self, kind: int, value: int) -> str:
        """One sentence, in terms of what is public."""
        attack, task = self.attack, self.attack.task
        shown = "missing" if task.contents.values[value] is None else str(task.contents.values[value])
        if kind >= len(self.edges) - 1:
            return f"the attacker already knows that they have {shown}"
        start, stop = int(self.edges[kind]), int(self.edges[kind + 1])
        first = int(np.searchsorted(attack.starts, start, side="right")) - 1
        last = int(np.searchsorted(attack.starts, stop, side="left"))
        run = max(range(first, last), key=lambda r: self._share(r, start, value))
        codes, counts = attack.histogram(run)
        held = int(counts[codes == value].sum())
        have = "has" if held == 1 else "have"
        own = f"{held:,} of the {counted(int(attack.lengths[run]), 'record')} of their group {have} {shown}"
        if attack.starts[run] >= attack.layout.starts[-1]:
            return (
                "people like these are not in the release, because they formed no group at the end; how probable "
                f"that is depends on whether they have {shown}"
            )
        if attack.table[run] < 0 or attack.n_buckets[run] == 1:
            return own
        people, buckets = min(attack.size, int(attack.lengths[run])), int(attack.n_buckets[run])
        bucket = (max(start, int(attack.starts[run])) - int(attack.starts[run])) // attack.size
        obeyed = f"if its first {counted(people, 'person')} ({self._who(run)}) had satisfied {task.principles[0].title}"
        ended = "the group would have ended there" + (f" with probability {float(1 - attack.p):g}" if attack.p else "")
        return (
            f"{own}, and these people are in part {bucket + 1} of the {buckets} parts (buckets) of which the group "
            f"consists. The group did not end after its first part: {obeyed}, {ended}"
        )

    def _share(self, run: int, at: int, value: int) -> float:
        """The probability of the value for a person at that place, or for the first person of the run."""
        attack = self.attack
        start = int(attack.offsets[attack.group[run]])
        codes, counts = attack.histogram(run)
        entry = np.flatnonzero(codes == value)
        if not len(entry):
            return -1.0
        if attack.table[run] < 0 or attack.by_slot[run]:
            return float(counts[entry[0]] / attack.lengths[run])
        bucket = (max(at, int(attack.starts[run])) - int(attack.starts[run])) // attack.size
        place = int(attack.table[run] + bucket * attack.width[run] + attack.column[start + entry[0]])
        return self._found(place)

    def _found(self, place: int) -> float:
        for table in self.attack.found:
            if place < len(table):
                return float(table[place])
            place -= len(table)
        return 0.0

    def _who(self, run: int) -> str:
        """The first person of a run, by quasi-identifiers."""
        layout = self.attack.layout
        row = layout.order[[int(self.attack.starts[run])]]
        shown = [f"{column.name} {column.domain.decode(column.codes[row])[0].as_py()}" for column in layout.columns]
        return "from " + ", ".join(shown) + " on"
