# SPDX-License-Identifier: Apache-2.0
"""Intersection: several releases of one table are held together, and only what fits all of them is possible.

ANGEL 1.2 and 4.2.1 (Tables 2b and 2c are 2-diverse each and tell Alan's disease together). A world gives everybody who
is in the table a sensitive value and a record in every table of every release, so that all come out as published; all
worlds are equally likely. The quasi-identifiers of people are known, where ANGEL leaves them open too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshouse.adversary.dropped_people import count_dropped
from glasshouse.adversary.intersection.candidates import TooManyOptions, candidate_values, candidates, narrowed
from glasshouse.adversary.intersection.exchanges import sample_options
from glasshouse.adversary.permanents import count_ways, easy_first
from glasshouse.adversary.posterior import Beliefs
from glasshouse.adversary.sampling import NotReached, stretch_of
from glasshouse.adversary.task import Attack
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.plural import counted
from glasshouse.randomness import Source
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from glasshouse.adversary.intersection.candidates import Component, Narrowed
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.adversary.task import Task
    from glasshouse.release import Release

__all__ = ["Intersection"]

_COUNTING = 0.2  # of the progress that is told: then comes sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Intersection(Attack):
    """Intersect what several releases of one table say of everybody (random worlds over all of them).

    Parameters
    ----------
    others
        The other releases that the attacker has; empty to use all marginals of an ANGEL release together.
    column
        The sensitive column, where releases have several.
    exact
        True: count every possible table (world), or refuse. False: sample everything that does not follow at once.
        None, the default: count what can be counted, sample the rest, and give a bound where neither is possible.
    error
        The largest allowed error of a sampled probability: half the width of a 95 % interval.
    most_worlds
        How many states are gone through in counting (see `count_ways`): a state stands for many worlds.
    most_sweeps
        How long each chain may run, where worlds are sampled: moves per person.
    most_options
        How many combinations of a value and a place in every table are written down for all kinds of people.
    source
        Where random choices of sampling come from; secure ones by default.
    progress
        Called with a share of the work between 0 and 1, now and then, on long work.

    Notes
    -----
    First, every conclusion is drawn that needs a single person or a single group: values that not all of their groups
    have, values that others must have. What is then left falls apart into components, and each is counted by itself.
    A bound says what is possible: 0 for values that a person cannot have. People who are alike have equal
    probabilities, so none is above the number of records with the value that any of them may take, divided by the
    number of these people; if that is no less than 1, the bound is 1.

    A release all of whose tables are in another, as after `publish_marginals`, is not counted twice. Tables that show
    no batch and no sensitive value say nothing about anybody's value, and are ignored.

    Examples
    --------
    ANGEL Table 2: two marginals by ANGEL leave Alan two diseases; two generalized tables leave one.

    >>> from dataclasses import replace
    >>> import glasshouse as gh
    >>> people = gh.examples.angel_table2()
    >>> both = gh.Angel(k=2, marginals=[["Age", "Sex", "Zipcode", "Disease"], ["Zipcode", "Disease"]])
    >>> made = gh.publish(people, principle=gh.LDiversity(ell=2), recoding=both)
    >>> groups = [gh.Groups(np.array(labels, np.int32), 3) for labels in ([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 2])]
    >>> release = replace(made, tables=both.recode(people, groups[0], buckets=groups))
    >>> knowledge = gh.Knowledge(external=people)
    >>> Intersection().attack(release, knowledge).of("Alan")
    {'flu': 0.5, 'pneumonia': 0.5}
    >>> boxes = gh.publish(people, principle=gh.LDiversity(ell=2), recoding=gh.Boxes())
    >>> first, second = (replace(boxes, tables=gh.Boxes().recode(people, labels)) for labels in groups)
    >>> Intersection(others=(second,)).attack(first, knowledge).of("Alan")
    {'pneumonia': 1.0}
    """

    name: ClassVar[str] = "intersection"

    others: tuple[Release, ...] = ()
    column: str | None = None
    exact: bool | None = None
    error: float = 0.02
    most_worlds: int = 4_000_000
    most_sweeps: int = 4_096
    most_options: int = 20_000_000
    source: Source | None = None
    progress: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", tuple(self.others))
        if not 0 < self.error < 1:
            raise ParameterError("Intersection", "error", "between 0 and 1", self.error)

    def believe(self, task: Task) -> Posterior:
        """Compute the probabilities from all releases together."""
        releases, knowledge = _different([task.release, *self.others]), task.knowledge
        published = [self._read(one, len(releases) > 1) for one in releases]
        if len({int(one.counts.sum()) for one in published}) > 1:
            raise InputError(
                "the releases have different numbers of records, so they were not made from the same table: "
                "give releases of one table"
            )
        if knowledge.prior is not None:
            raise NotSupported(
                "the attack intersection does not use a prior",
                instead="leave out the prior: if everybody in the external table is in the published table, a "
                "prior that is the same for all changes nothing",
            )
        notes = [
            f"{counted(len(releases), 'release')} with "
            f"{counted(sum(len(one.seats) for one in published), 'table that shows', 'tables that show')} "
            "quasi-identifiers"
        ]
        if len(releases) <= len(self.others):
            notes.append("some releases were left out, because another release contains all of their tables")
        try:
            options = candidates(published, knowledge, most_options=self.most_options)
        except TooManyOptions:
            if self.exact is not None:
                raise NotSupported(
                    f"the attack would have to store more than {counted(self.most_options, 'combination')} of a "
                    "person and a possible value",
                    instead="leave `exact` out to get an upper bound, or raise `most_options`",
                ) from None
            return count_dropped(self._bound(task, published, notes), task)
        return count_dropped(self._posterior(task, narrowed(options), notes, len(published)), task)

    def _read(self, release: Release, several: bool) -> Published:  # noqa: FBT001
        published = Published.of(release, self.column)
        if published.kind == "sample":
            raise NotSupported(
                "the attack intersection does not support a perturbed sample",
                instead="its guarantee covers only this one release; use linking",
            )
        if several and release.n_dropped:
            raise NotSupported(
                f"one of the releases left out {counted(release.n_dropped, 'record')}, and the attack intersection "
                "needs releases with all records",
                instead="it is not known who was left out: publish the table with all records (suppress=0)",
            )
        return published

    def _posterior(self, task: Task, left: Narrowed, notes: list[str], n_releases: int) -> Posterior:
        of = left.of
        n_kinds, n_values = len(of.n_alike), len(of.values)
        settled = left.settled()
        share = np.where(left.alive & settled[of.of_option], 1.0, 0.0)  # of every option
        components = list(left.components())
        how, rest = "exact", components
        n_sure = int(of.n_alike[settled & (np.diff(of.offsets) > 0)].sum())
        notes.append(
            f"{counted(n_sure, 'person has', 'people have')} only one possible value: the attack is certain of it"
        )
        if self.exact is not False and components:
            rest = self._counted(components, share)
            if rest and self.exact:
                n = sum(sum(one.n_alike) for one in rest)
                raise NotSupported(
                    f"the possible tables of {counted(n, 'person')} are too many to count with "
                    f"most_worlds={self.most_worlds:,}",
                    instead="leave `exact` out to get sampled probabilities or an upper bound, or raise `most_worlds`",
                )
        keys = of.of_option * n_values + of.value
        distinct, place = np.unique(keys[left.alive], return_inverse=True)
        errors = np.zeros(len(distinct))
        unknown = []
        if rest:
            where = np.full(len(keys), -1, np.int64)
            where[left.alive] = place.reshape(-1)
            unknown = self._sampled(rest, share, where, errors)
            how = "sampled"
            n = sum(sum(one.n_alike) for one in rest) - sum(sum(one.n_alike) for one in unknown)
            if n:
                notes.append(
                    f"the probabilities for {counted(n, 'person')} were estimated by sampling; the sampling may have "
                    "missed some possible tables"
                )
        beliefs = np.bincount(place.reshape(-1), weights=share[left.alive], minlength=len(distinct)).astype(np.float64)
        presence = np.minimum(1.0, np.bincount(distinct // n_values, weights=beliefs, minlength=n_kinds))
        bounded = np.zeros(n_kinds, bool)
        if unknown:
            how = "bound"
            bounded[[k for one in unknown for k in one.kinds]] = True
            rough = bounded[distinct // n_values]
            beliefs[rough] = left.most(distinct)[rough]
            presence[bounded] = 1.0
            notes.append(
                f"for {counted(int(of.n_alike[bounded].sum()), 'person')} the attack found only which values are "
                "possible, and an upper bound on the probability of each, because neither counting nor sampling "
                "succeeded: it is not known how probable these values are"
            )
        beliefs = np.minimum(beliefs, 1.0)
        offsets = np.searchsorted(distinct // n_values, np.arange(n_kinds + 1)).astype(np.int64)
        found = Beliefs(offsets, (distinct % n_values).astype(np.int32), beliefs, errors if how == "sampled" else None)
        return task.posterior(
            how,
            of.kind,
            found,
            presence.astype(np.float64),
            values=of.values,
            because=_because(left, offsets, n_releases, bounded),
            notes=notes,
            bounded=bounded,
        )

    def _counted(self, components: list[Component], share: NDArray[np.float64]) -> list[Component]:
        """Count what can be counted; return the rest."""
        left = set(range(len(components)))

        merged = [_merged(one) for one in components]
        spent, tell = 0, stretch_of(self.progress, 0.0, _COUNTING)

        def attempt(c: int, most: int) -> tuple[bool, int]:
            n_alike, takes, stays, options = merged[c]
            found = count_ways(n_alike, takes, components[c].capacity, staying=stays, most_states=most)
            nonlocal spent
            spent += found.n_states
            tell(min(1.0, spent / self.most_worlds))
            if found.shares is None:
                return False, found.n_states
            for classes, parts in zip(options, found.shares, strict=True):
                for rows in classes:
                    share[rows] = [float(part) for part in parts]
            left.discard(c)
            return True, found.n_states

        work = {c: sum(map(len, takes)) for c, (_, takes, _, _) in enumerate(merged)}
        easy_first(work, attempt, self.most_worlds)
        return [components[c] for c in sorted(left)]

    def _sampled(
        self,
        components: Sequence[Component],
        share: NDArray[np.float64],
        where: NDArray[np.int64],
        errors: NDArray[np.float64],
    ) -> list[Component]:
        """Sample what could not be counted; return what could not be sampled either."""
        source = Source.secure() if self.source is None else self.source
        tell = stretch_of(self.progress, _COUNTING, 1.0)
        unknown = []
        for c, one in enumerate(components):
            rows = [row for mine in one.options for row in mine]
            cells = np.unique(where[rows], return_inverse=True)
            try:
                found = sample_options(
                    one,
                    cells[1].reshape(-1),
                    error=self.error,
                    most_sweeps=self.most_sweeps,
                    source=source.child("component", c),
                    progress=stretch_of(tell, c / len(components), (c + 1) / len(components)),
                )
            except NotReached as reason:
                if self.exact is False:
                    raise NotSupported(
                        f"the possible tables of {counted(sum(one.n_alike), 'person')}, whose values cannot "
                        f"be considered separately, could not be sampled: {reason}",
                        instead="leave `exact` out to get an upper bound, or allow a larger `error` or more "
                        "`most_sweeps`",
                    ) from None
                unknown.append(one)
                continue
            # a cell may have several options: the first of them stands for all
            first = {cell: row for row, cell in reversed(list(zip(rows, cells[1].reshape(-1).tolist(), strict=True)))}
            for cell, row in first.items():
                share[row] = found.mean[cell]
                errors[cells[0][cell]] = found.error[cell]
        return unknown

    def _bound(self, task: Task, published: list[Published], notes: list[str]) -> Posterior:
        kind, values, offsets, codes = candidate_values(published, task.knowledge)
        n_single = int((np.diff(offsets)[kind] == 1).sum())
        notes.append(
            "the attack gives no probabilities, only the values that are possible in all releases: "
            f"{counted(n_single, 'person has', 'people have')} a single possible value"
        )
        found, presence = Beliefs(offsets, codes, np.ones(len(codes))), (np.diff(offsets) > 0).astype(np.float64)
        return task.posterior("bound", kind, found, presence, values=values, notes=notes)


def _merged(one: Component) -> tuple[list[int], list[list[tuple[int, ...]]], list[bool], list[list[list[int]]]]:
    """A component whose kinds with the same options are one: people, what they take, whether all stay, and options.

    Options are listed for each class of kinds, and for each kind in it.
    """
    classes: dict[tuple[bool, tuple[tuple[int, ...], ...]], tuple[int, list[list[int]]]] = {}
    for n, rows, takes, stays in zip(one.n_alike, one.options, one.takes, one.stays, strict=True):
        order = sorted(range(len(rows)), key=takes.__getitem__)
        key = (stays, tuple(takes[i] for i in order))
        before, some = classes.get(key, (0, []))
        classes[key] = (before + n, [*some, [rows[i] for i in order]])
    people, options = zip(*classes.values(), strict=True) if classes else ((), ())
    return list(people), [list(takes) for _, takes in classes], [stays for stays, _ in classes], list(options)


def _different(releases: list[Release]) -> list[Release]:
    """The releases without those all of whose tables are in another."""
    kept: list[Release] = []
    for i, one in enumerate(releases):
        if not any(_is_part(one.tables, other.tables) for other in [*releases[i + 1 :], *kept]):
            kept.append(one)
    return kept


def _is_part(some: Mapping[str, pa.Table], others: Mapping[str, pa.Table]) -> bool:
    return all(any(table.equals(other) for other in others.values()) for table in some.values())


def _because(
    left: Narrowed, offsets: NDArray[np.int64], n_releases: int, bounded: NDArray[np.bool_]
) -> Callable[[int, int], str]:
    def sentence(kind: int, code: int) -> str:
        value = "missing" if left.of.values[code] is None else str(left.of.values[code])
        options = slice(left.of.offsets[kind], left.of.offsets[kind + 1])
        shared = len(set(left.of.value[options].tolist()))
        n = int(offsets[kind + 1] - offsets[kind])
        releases = f"all {n_releases} releases together allow" if n_releases > 1 else "the published tables allow"
        more = (
            f"; {n} {'is' if n == 1 else 'are'} left after excluding the values that other people must have"
            if n < shared
            else ""
        )
        rest = ", and it is not known how probable it is" if bounded[kind] else ""
        return f"{releases} {counted(shared, 'value')} for such a person{more}; such a person can have {value}{rest}"

    return sentence
