# SPDX-License-Identifier: Apache-2.0
"""Posterior: an attacker's probabilities for every person, kept once for people who are alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from glasshouse.adversary.knowledge import key_of
from glasshouse.cells.compound import part_values
from glasshouse.errors import InputError
from glasshouse.plural import counted
from glasshouse.principles.parameters import fraction
from glasshouse.references import explained
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.cells.compound import Part
    from glasshouse.principles.parameters import Exact

__all__ = ["Belief", "Beliefs", "Posterior", "entries_of"]

_NOISE = 1e-12  # by how much of itself a probability may be wrong because floats are rounded


def entries_of(offsets: NDArray[Any], which: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All entries of some runs, run after run: for each its run, as a place in ``which``, and its own place.

    >>> [found.tolist() for found in entries_of(np.array([0, 2, 3]), np.array([1, 0]))]
    [[0, 1, 1], [2, 0, 1]]
    """
    lengths = np.diff(offsets)[which]
    owner = np.repeat(np.arange(len(which)), lengths)
    before = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) + (offsets[:-1][which] - before)[owner]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Probabilities for kinds of people: each kind has a run of values, with the probability of each.

    Attributes
    ----------
    offsets, codes, beliefs
        Kind ``i`` has ``beliefs[j]`` in the value ``codes[j]`` for ``offsets[i] <= j < offsets[i + 1]``.
    errors
        For sampled probabilities the half width of a 95 % interval around each.
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    beliefs: NDArray[np.float64]
    errors: NDArray[np.float64] | None = None

    @classmethod
    def joined(
        cls,
        who: NDArray[np.int64],
        codes: NDArray[Any],
        weights: NDArray[np.float64],
        *,
        n_kinds: int,
        n_values: int,
        how: np.ufunc = np.add,
    ) -> Beliefs:
        """Add up (or otherwise join) the weights of the same kind and value."""
        n_values = max(n_values, 1)
        every = who * n_values + codes
        if n_kinds * n_values <= 4 * len(every):  # a place for each value of each kind is less work than sorting
            seen = np.zeros(n_kinds * n_values, bool)
            seen[every] = True
            keys = np.flatnonzero(seen)
            number = (np.cumsum(seen) - 1)[every]
        else:
            keys, number = np.unique(every, return_inverse=True)
        total = np.zeros(len(keys))
        if how is np.add:
            total += np.bincount(number.reshape(-1), weights=weights, minlength=len(keys))
        else:
            how.at(total, number.reshape(-1), weights)
        offsets = np.searchsorted(keys // n_values, np.arange(n_kinds + 1)).astype(np.int64)
        return cls(offsets, (keys % n_values).astype(np.int32), total)

    @property
    def owner(self) -> NDArray[np.int64]:
        """The kind of people that every probability is about."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def among(self, n_more: int) -> Beliefs:
        """The same, with this many more kinds of people at the end, without probabilities."""
        return replace(self, offsets=np.append(self.offsets, np.repeat(self.offsets[-1:], n_more)))


class Belief(NamedTuple):
    """A person, a value, and the probability that the person has it."""

    person: Any
    value: Any
    belief: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    """Probabilities after an attack: for every person and sensitive value, and for presence in the table.

    The probability of a value is the probability that the person is in the table *and* has the value; values that are
    not listed for a person have the probability 0. There are no probabilities for people whose values the attacker knew
    before.

    If records were dropped because their value was too frequent, and any of several values may have been it, there are
    two attackers: one who does not know which value it was, and one who does (`once_known`). `of`, `present`, `largest`
    and the arrays are about the first. Everything that is compared with a limit, or sums up everybody, counts the
    second, about whom more may be learned: `worst`, `above`, `share_above`, `exceeds`, `multiple`, `distribution`,
    `plot` and `to_dict`. `unless_known` has the same methods for the first alone.

    If the release protects only some values of the column (`protected`), all of these are about these values alone, and
    so is `compared`. `of`, `largest` and the arrays are about all values.

    Attributes
    ----------
    attack
        The attack that was run.
    column
        The sensitive column.
    how
        ``exact``; ``mixture``, if boxes overlap and the weights of groups are approximate; ``bound``, if no probability
        can be larger; ``sampled``, by a Markov chain; or ``credibility`` (TRANSPARENT Definition 8).
    knowledge
        What the attacker knew.
    values
        The sensitive values.
    kind
        For every person the number of their kind: people of one kind look alike.
    offsets, codes, beliefs
        Kind ``i`` has ``beliefs[j]`` in ``values[codes[j]]`` for ``offsets[i] <= j < offsets[i + 1]``.
    presence
        For every kind the probability that such a person is in the table.
    limit
        The largest probability that the release guarantees, if it guarantees one.
    protected
        The sensitive values that the limit is for, if the release protects only some; empty if it protects all.
    errors
        For sampled probabilities the half width of a 95 % interval around each of them, as `beliefs`.
    because
        Gives a sentence that explains the probability of a value for a kind of people, by the numbers of both.
    notes
        What was assumed or could not be used, in sentences.
    once_known
        If records were dropped because their value was too frequent, and any of several values may have been it: the
        largest probabilities, as a bound, for an attacker who knows which value it was.
    bounded
        If ``how`` is ``bound``: for every kind of people whether its probabilities are only upper bounds, which may not
        be reached. None if those of all kinds are.
    """

    attack: str
    column: str
    how: str
    knowledge: Knowledge
    values: tuple[Any, ...]
    kind: NDArray[np.int64]
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    beliefs: NDArray[np.float64]
    presence: NDArray[np.float64]
    limit: Fraction | None = None
    protected: tuple[Any, ...] = ()
    errors: NDArray[np.float64] | None = None
    because: Callable[[int, int], str] | None = None
    notes: tuple[str, ...] = ()
    once_known: Posterior | None = None
    bounded: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        for limit in (1.0, *(() if self.limit is None else (float(self.limit),))):
            object.__setattr__(self, "beliefs", _without_noise(self.beliefs, limit))

    def about_part(self, name: str, parts: Sequence[Part]) -> Posterior:
        """The probabilities for one part of a compound column: the sum over all values of the column that have it.

        Nothing is promised of a part by itself, so there is no limit.
        """
        place = [part.name for part in parts].index(name)
        found = [part_values(str(value), parts)[place] for value in self.values]
        values = tuple(dict.fromkeys(found))
        codes = np.array([values.index(value) for value in found], np.int64)[self.codes]
        owner = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        add = partial(Beliefs.joined, owner, codes, n_kinds=len(self.offsets) - 1, n_values=len(values))
        summed, errors = add(self.beliefs), None if self.errors is None else add(self.errors).beliefs
        return replace(
            self,
            column=name,
            values=values,
            offsets=summed.offsets,
            codes=summed.codes,
            beliefs=np.minimum(summed.beliefs, 1.0),
            errors=errors,
            limit=None,
            protected=(),
            because=None,
            once_known=None if self.once_known is None else self.once_known.about_part(name, parts),
        )

    @property
    def n_people(self) -> int:
        """How many people are on the list."""
        return len(self.kind)

    def of(self, person: Any) -> dict[Any, float]:
        """The probabilities for a person: value -> probability, most probable first.

        Parameters
        ----------
        person
            The identifier, or the row number, from 0, if there is none.
        """
        kind = self.kind[self.knowledge.person(person)]
        start, stop = self.offsets[kind], self.offsets[kind + 1]
        order = np.argsort(-self.beliefs[start:stop], kind="stable")
        return {self.values[self.codes[start + i]]: float(self.beliefs[start + i]) for i in order}

    def present(self, person: Any) -> float:
        """The probability that the person is in the table."""
        return float(self.presence[self.kind[self.knowledge.person(person)]])

    @cached_property
    def largest(self) -> NDArray[np.float64]:
        """The largest probability of any value, for every kind of people."""
        filled = np.append(self.beliefs, 0.0)
        highest = np.maximum.reduceat(filled, np.minimum(self.offsets[:-1], len(self.beliefs)))
        return np.where(np.diff(self.offsets) > 0, highest, 0.0)

    @property
    def unless_known(self) -> Posterior:
        """The same for an attacker who does not know which value was too frequent: `once_known` is not counted."""
        return self if self.once_known is None else replace(self, once_known=None)

    @property
    def _most(self) -> Posterior:
        """The probabilities of an attacker who knows which value was too frequent, if there are such; else these."""
        return self if self.once_known is None else self.once_known

    @cached_property
    def compared(self) -> Posterior:
        """The probabilities that are compared with a limit: those of the protected values, if only some are."""
        if not self.protected:
            return self
        protected = set(map(key_of, self.protected))
        counts = np.array([key_of(value) in protected for value in self.values], bool)[self.codes]
        before = np.append(0, np.cumsum(counts))
        return replace(
            self,
            offsets=before[self.offsets],
            codes=self.codes[counts],
            beliefs=self.beliefs[counts],
            errors=None if self.errors is None else self.errors[counts],
            once_known=None if self.once_known is None else self.once_known.compared,
        )

    @property
    def reached(self) -> NDArray[np.float64]:
        """For every person the largest probability of any (protected) value, with `once_known` counted."""
        return self.compared._most.largest[self.kind]

    @property
    def only_bound(self) -> NDArray[np.bool_]:
        """For every person whether only an upper bound on the probabilities is known, which may not be reached."""
        every = np.full(len(self.presence), self.how == "bound")
        return (every if self.bounded is None else every & self.bounded)[self.kind]

    @property
    def n_unknown(self) -> int:
        """Of how many people who are in the table the attack found nothing, so that a probability may be any."""
        silent = (np.diff(self.offsets) == 0)[self.kind] & (self.presence[self.kind] > 0)
        silent[self.knowledge.corrupted_rows()] = False  # nothing is to be found of them
        return int(np.count_nonzero(silent))

    @property
    def error(self) -> float:
        """The largest error of a sampled probability, half the width of a 95 % interval; 0 if nothing was sampled."""
        return 0.0 if self.errors is None else float(self.errors.max(initial=0.0))

    def worst(self) -> Belief:
        """The person most exposed, the value, and the probability.

        Of several people, the first in the external table for whom more than a bound is known, or else the first. The
        probability counts `once_known`. It may then be larger than the one that `of` gives.
        """
        row = self._most_exposed
        most, kind = self.compared._most, self.kind[row]
        start, stop = most.offsets[kind], most.offsets[kind + 1]
        if start == stop and self.unprotected:  # somebody fits, but no protected value is probable
            return Belief(self.knowledge.name(row), self.protected[0], 0.0)
        if start == stop:
            raise InputError(
                "nobody in the external table fits a published record, so the attack says nothing: give "
                "people who may be in the table, read with the same options as the published table"
            )
        best = start + int(np.argmax(most.beliefs[start:stop]))
        return Belief(self.knowledge.name(row), self.values[most.codes[best]], float(most.beliefs[best]))

    @property
    def _most_exposed(self) -> int:
        top = np.flatnonzero(self.reached == self.reached.max())
        return int(top[np.argmin(self.only_bound[top])])

    def explain(self, person: Any) -> str:
        """Say in one sentence which value is most probable for a person, and why."""
        row = self.knowledge.person(person)
        kind = int(self.kind[row])
        most, own = float(self._most.largest[kind]), float(self.largest[kind])
        known = "for an attacker who knows which value was too frequent in the table, a probability may be up to"
        return self._explained(person, row, kind) + (f"; {known} {most:.4f}" if most > own else "")

    def _explained(self, person: Any, row: int, kind: int) -> str:
        """The same for an attacker who does not know which value was too frequent."""
        start, stop = int(self.offsets[kind]), int(self.offsets[kind + 1])
        if start == stop:
            if row in self.knowledge.corrupted_rows():
                return f"the attacker already knows the value of {person}"
            absent = f"{person} fits no published record, and is not in the table"
            return absent if self.presence[kind] == 0 else f"no value has a probability above 0 for {person}"
        best = start + int(np.argmax(self.beliefs[start:stop]))
        code, belief = int(self.codes[best]), float(self.beliefs[best])
        most = "at most " if self.only_bound[row] else ""
        what = f"{person} has {_text(self.values[code])} with probability {most}{belief:.4f}"
        return f"{what}: {self.reason(kind, code)}"

    def reason(self, kind: int, code: int) -> str:
        """Explain the probability of a value for a kind of people, by the numbers of both."""
        if self.because is not None:
            return self.because(kind, code)
        present = float(self.presence[kind])
        share = "that is the share of this value among the records that fit such a person"
        absent = f", and such a person is in the table with probability {present:.4f}" if present < 1 else ""
        return {
            "bound": "the theorem of the method proves that the probability cannot be larger",
            "exact": "that is the share of this value among the tables that could have produced the release"
            if self.attack != "linking"
            else f"{share}{absent}",
        }.get(self.how, f"{share}{absent}")

    def distribution(self, bins: int = 10) -> NDArray[np.float64]:
        """The share of people whose largest probability lies in each of so many equal parts of 0 to 1."""
        counts = np.histogram(np.minimum(self.reached, 1.0), bins=bins, range=(0.0, 1.0))[0]
        return counts / max(1, self.n_people)

    def plot(self) -> str:
        """Draw how many people have a probability above each limit, as SVG text."""
        from glasshouse.pages.charts.exposure import exposure

        title = f"{self.attack}: probabilities for {self._what}, {counted(self.n_people, 'person')} ({self._how})"
        return f"{exposure(title, self.reached, self.limit)}\n"

    def above(self, limit: Exact | None = None, *, most: int | None = None) -> list[Belief]:
        """People with a probability above a limit (by default the guaranteed one), the ``most`` exposed first.

        The probabilities count `once_known`.
        """
        reached = self.reached
        rows = np.flatnonzero(self.is_above(limit))
        rows = rows[np.lexsort((self.only_bound[rows], -reached[rows]))]
        found = []
        for row in rows[:most].tolist():
            value, belief = next(iter(self.compared._most.of(self.knowledge.name(row)).items()))
            found.append(Belief(self.knowledge.name(row), value, belief))
        return found

    def share_above(self, limit: Exact | None = None) -> float:
        """The share of people with a probability above a limit (MINIMALITY Figs. 3(a) and 4(a)).

        A guarantee must not be overstated, so `once_known` is counted: people who may have been dropped are above the
        limit if they are for an attacker who knows which value was too frequent.
        """
        return float(np.mean(self.is_above(limit)))

    def exceeds(self, limit: Exact | None = None) -> bool:
        """Whether a probability is above a limit, or would be if the attacker knew which value was too frequent."""
        return self.share_above(limit) > 0

    def multiple(self, limit: Exact | None = None) -> float:
        """The largest probability as a multiple of a limit (MINIMALITY Figs. 3(b) and 4(b)); counts `once_known`."""
        bound = self._bound(limit)
        largest = float(_without_noise(self.reached, bound).max(initial=0.0))
        return largest / bound if bound else inf if largest else 1.0

    def is_above(self, limit: Exact | None) -> NDArray[np.bool_]:
        """Whether a probability is above a limit, for every person."""
        bound = self._bound(limit)
        return _without_noise(self.reached, bound) > bound

    def _bound(self, limit: Exact | None) -> float:
        if limit is not None:
            return float(fraction("Posterior", "limit", limit, least=0, most=1))
        if self.limit is None:
            raise InputError(
                "the release does not guarantee a largest probability with which the attack could be compared: "
                "give a limit yourself"
            )
        return float(self.limit)

    def to_table(self) -> pa.Table:
        """One row for every person: name, presence, the most likely value and the probability of it.

        With `once_known` there is one more column of that name, the largest probability then.
        """
        names = self.knowledge.external.identifier
        texts = pa.array([*(_text(value) for value in self.values), None], pa.string())
        return pa.table(
            {
                "person": np.arange(self.n_people) if names is None else names,
                "presence": self.presence[self.kind],
                "value": texts.take(pa.array(self._likeliest[self.kind])),
                "belief": self.largest[self.kind],
                **({} if self.once_known is None else {"once_known": self._most.largest[self.kind]}),
            }
        )

    @cached_property
    def _likeliest(self) -> NDArray[np.int64]:
        """For every kind of people the code of the most probable value, or one more than the last."""
        of_kind = np.repeat(np.arange(len(self.presence)), np.diff(self.offsets))
        order = np.lexsort((self.codes, -self.beliefs, of_kind))
        found = np.full(len(self.presence), len(self.values), np.int64)
        nonempty = np.diff(self.offsets) > 0
        found[nonempty] = self.codes[order][self.offsets[:-1][nonempty]]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the summary that is printed, without names.

        ``people_with_bound`` says for how many people only upper bounds are known, if there are such; their bounds are
        counted in all numbers. With `once_known` the numbers count it, and are a ``bound``. Its largest probability is
        then there once more by this name, and ``unless_known`` has the numbers for an attacker who does not know which
        value was too frequent.
        If only some values are protected, the numbers are theirs, and ``unprotected`` is the largest probability of the
        others.
        """
        summary: dict[str, Any] = {
            "attack": self.attack,
            "column": self.column,
            "people": self.n_people,
            **self._numbers(),
            "presence": float(self.presence[self.kind].max(initial=0.0)),
            "error": self.error,
            "notes": list(self.notes),
        }
        if self.limit is not None:
            summary["limit"] = str(self.limit)
        if self.protected:
            summary["unprotected"] = self.unprotected
        if self.once_known is not None:
            summary |= {"once_known": summary["largest"], "unless_known": self.unless_known._numbers()}
        if self.only_bound.any():
            summary["people_with_bound"] = int(np.count_nonzero(self.only_bound))
        return summary

    def _numbers(self) -> dict[str, Any]:
        """The part of the summary that differs for an attacker who knows which value was too frequent."""
        people = self.reached
        return {
            "how": self._most.how,
            "largest": float(people.max(initial=0.0)),
            "median": float(np.median(people)) if len(people) else 0.0,
            "distribution": self.distribution().tolist(),
            **({} if self.limit is None else {"share_above": self.share_above(), "multiple": self.multiple()}),
        }

    @property
    def unprotected(self) -> float:
        """The largest probability of a value that the release does not protect; 0 if it protects all."""
        protected, most = set(map(key_of, self.protected)), self._most
        others = np.array([bool(protected) and key_of(value) not in protected for value in most.values], bool)
        return float(most.beliefs[others[most.codes]].max(initial=0.0))

    @property
    def _what(self) -> str:
        return f"the protected values of {self.column}" if self.protected else self.column

    @property
    def _how(self) -> str:
        return self.how if self.once_known is None else f"{self.how}; a bound for people who may have been left out"

    def with_note(self) -> Posterior:
        """The same, with notes on values that are not protected, and on who knows which value was too frequent."""
        return replace(self, notes=(*self.notes, *self._of_others(), *self._if_known()))

    def _of_others(self) -> Iterator[str]:
        if self.protected:
            yield (
                f"the release protects only some values of {self.column} (its designated values), and the "
                "probabilities that are shown are theirs. Those of the other values are not compared with a limit: "
                f"the largest is {self.unprotected:.4f}"
            )

    def _if_known(self) -> Iterator[str]:
        if self.once_known is None:
            return
        own = self.compared.largest[self.kind]
        n, most = int(np.count_nonzero(self.reached > own)), self.reached.max(initial=0.0)
        yield (
            "the attack does not know which of the values that are published most often was too frequent in the table. "
            "An attacker who knows it, for example because one of them is the most frequent among people in general, "
            f"knows more about {counted(n, 'person')} who may have been left out: a probability may then reach "
            f"{most:.4f}. The shares of people and the largest probabilities that are shown are those for such an "
            "attacker. For an attacker who does not know which value was too frequent, no probability is above "
            f"{own.max(initial=0.0):.4f}"
        )

    def __str__(self) -> str:
        worst, people, bound = self.worst(), self.reached, self.only_bound
        row = self._most_exposed
        reached = "up to " if bound[row] or worst.belief > self.compared.largest[self.kind[row]] else ""
        most = "up to " if people.max() > people[~bound].max(initial=0.0) else ""
        median = "up to " if bound.any() else ""
        lines = [
            f"{self.attack}: the attacker's probabilities for {self._what}, "
            f"{counted(self.n_people, 'person')} ({self._how})",
            f"  most exposed         {worst.person}: {_text(worst.value)} with probability {reached}{worst.belief:.4f}",
            f"  largest probability  {most}{people.max():.4f}   median {median}{np.median(people):.4f}",
            f"  spread from 0 to 1   {_bars(self.distribution(20))}",
            f"  in the table         with probability up to {self.presence[self.kind].max():.4f}",
        ]
        if self.errors is not None:
            lines.append(f"  error                up to {self.error:.4f} (95 % of the time)")
        if self.limit is not None:
            above = self.is_above(None)
            share, perhaps = float(np.mean(above & ~bound)), float(np.mean(above & bound))
            more = f" and perhaps {perhaps:.2%} more, for whom only a bound is known" if perhaps else ""
            times = f"{most}{self.multiple():.2f} times"
            lines.append(f"  above {self.limit!s:<14} {share:.2%} of people{more}; the largest is {times} {self.limit}")
        notes = (*self.notes, *explained(*self.notes))
        return in_lines([*lines, *(f"  note: {note}" for note in notes)])


def _bars(shares: NDArray[np.float64]) -> str:
    """A small text picture of a distribution: a bar for every share, a dot where it is empty."""
    heights = np.ceil(shares / max(shares.max(initial=0.0), 1e-300) * 8).astype(int)
    return "".join("·▁▂▃▄▅▆▇█"[height] for height in heights)


def _without_noise(probabilities: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    """The probabilities, with those that are above a limit only because floats are rounded put onto it.

    >>> _without_noise(np.array([0.1 + 0.2, 0.3 + 1e-9]), 0.3).tolist()
    [0.3, 0.300000001]
    """
    noisy = (probabilities > limit) & (probabilities <= limit * (1 + _NOISE))
    return np.where(noisy, limit, probabilities)


def _text(value: Any) -> str:
    return "missing" if value is None else str(value)
