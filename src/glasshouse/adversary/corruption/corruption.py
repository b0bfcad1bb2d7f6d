# SPDX-License-Identifier: Apache-2.0
"""Corruption: an attacker has found out the sensitive values of some people, and attacks the others.

Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION). Groups that keep
their values give people away one after the other (Section III); of a perturbed sample no more is learned than Theorems
2 and 3 allow, whichever people are corrupted (Sections V and VI).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from glasshouse.adversary.corruption.removal import MOST_WAYS, Removal
from glasshouse.adversary.knowledge import key_of
from glasshouse.adversary.perturbed_sample import PerturbedSample
from glasshouse.adversary.task import Attack, Task, stated_principle
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.microdata.domains import text_of
from glasshouse.plural import counted
from glasshouse.principles.background_sensitive import DeltaGrowth, RhoBreach
from glasshouse.principles.parameters import integer, plain
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.release import Release

__all__ = [
    "CertainPredicate",
    "Corruption",
    "Predicate",
    "confidence",
    "exact_belief",
    "is_bound_to_fall",
    "predicate_made_certain",
]

Predicate = Collection[Any] | Callable[[Any], Any]
"""A property of a sensitive value: a collection of the values that have it, or a function that is true for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Corruption(Attack):
    """Attack people by what is known of the sensitive values of others: ``Knowledge(corrupted=...)``.

    Parameters
    ----------
    column
        The sensitive column, where the release has several.
    predicate
        A property of sensitive values, as a collection of values or as a function. The attack then gives one
        probability for each person: that the person's value has the property.
    most_corrupted
        The attacker may find out the values of up to this many other people, any of them. Each probability is then the
        largest that is possible, and is called a bound; it is reached if everybody fits at most one group.
    in_table
        Assume that everybody who is attacked is known to be in the table, as CORRUPTION does. Otherwise a probability
        is that of being in the table *and* having the value; if it is certain that a person is in the table, this makes
        no difference.
    most_ways
        How many ways to assign the people with known values to groups are tried, if their groups are not certain.

    Notes
    -----
    There are no probabilities for people whose values the attacker knew before. *Perturbed samples*:
    Equations 9 to 19, exact, also with priors for single people; a note says what Theorems 2 and 3 allow.
    *Groups that keep their values* (boxes, taxonomies, anatomy, permutation, ANGEL): people with known values are taken
    out of their groups; `glasshouse.adversary.corruption.removal` says how, and when that is exact.

    Examples
    --------
    An attacker who has learned of Bob's bronchitis learns Calvin's disease from CORRUPTION Table Ic:

    >>> import glasshouse as gh
    >>> patients = gh.examples.corruption_table1()
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes())
    >>> knowledge = gh.Knowledge(external=patients, corrupted={"Bob": "bronchitis"})
    >>> Corruption().attack(release, knowledge).of("Calvin")
    {'pneumonia': 1.0}
    """

    name: ClassVar[str] = "corruption"

    column: str | None = None
    predicate: Predicate | None = None
    most_corrupted: int | None = None
    in_table: bool = False
    most_ways: int = MOST_WAYS

    def __post_init__(self) -> None:
        if self.most_corrupted is not None:
            integer("Corruption", "most_corrupted", self.most_corrupted, least=0)
        if self.predicate is not None:
            _qualifies(self.predicate)

    def believe(self, task: Task) -> Posterior:
        """Compute the probabilities for the other people."""
        more = self.most_corrupted or 0
        qualifies = None if self.predicate is None else _qualifies(self.predicate)
        if task.contents.kind != "sample":
            removal = Removal(
                in_table=self.in_table, most_corrupted=more, qualifies=qualifies, most_ways=self.most_ways
            )
            return removal.believe(task)
        sample = PerturbedSample.of(task)
        return sample.posterior(
            in_table=self.in_table,
            most_corrupted=more,
            qualified=None if qualifies is None else np.array([bool(qualifies(value)) for value in sample.values]),
            notes=_promised(task.release, sample),
        )


# --- one person, exactly ----------------------------------------------------------------------------------------------


def exact_belief(
    release: Release, knowledge: Knowledge, person: Any, *, column: str | None = None
) -> dict[Any, Fraction]:
    """The posterior pdf of one person who is in the table, after a perturbed sample (CORRUPTION Eq. 9), in fractions.

    The victim is known to be in the table, and not corrupted.
    """
    sample, row = _victim(release, knowledge, person, column)
    return sample.belief(row, h=sample.owned(row).h)


def confidence(
    release: Release, knowledge: Knowledge, person: Any, predicate: Predicate, *, column: str | None = None
) -> tuple[Fraction, Fraction]:
    """The confidence that one person's value satisfies a predicate, before and after a perturbed sample (Eq. 5, 10).

    The victim is known to be in the table, and not corrupted.

    Examples
    --------
    CORRUPTION Example 1: has Ellie a respiratory disease? The published disease is none, so the probability falls
    (Theorem 1).

    >>> import glasshouse as gh
    >>> import pyarrow.compute as pc
    >>> from dataclasses import replace
    >>> patients, printed = gh.examples.corruption_table1(), gh.examples.corruption_table2c()
    >>> recoding = gh.Perturbed(p=0.25, domain=patients.column("Disease").domain.values.to_pylist())
    >>> release = gh.publish(patients, principle=gh.DeltaGrowth(k=2), recoding=recoding)
    >>> printed = printed.set_column(2, "Zipcode", pc.replace_substring(printed["Zipcode"], "***", "000"))
    >>> release = replace(release, tables={"data": printed})
    >>> voters = gh.read(gh.examples.corruption_table1b(), identifier="Name", quasi=["Age", "Gender", "Zipcode"])
    >>> knowledge = gh.Knowledge(external=voters, corrupted={"Debbie": "pneumonia", "Emily": gh.ABSENT})
    >>> confidence(release, knowledge, "Ellie", {"bronchitis", "pneumonia"})
    (Fraction(2, 7), Fraction(12, 49))
    """
    sample, row = _victim(release, knowledge, person, column)
    qualifies = _qualifies(predicate)
    prior = sample.priors[sample.prior_of[row]]
    after = sample.belief(row, h=sample.owned(row).h)
    before = sum((w for value, w in zip(sample.values, prior, strict=True) if qualifies(value)), Fraction(0))
    return before, sum((belief for value, belief in after.items() if qualifies(value)), Fraction(0))


def is_bound_to_fall(
    release: Release, knowledge: Knowledge, person: Any, predicate: Predicate, *, column: str | None = None
) -> bool:
    """Whether no confidence in a predicate can grow through a perturbed sample, for any knowledge (Theorem 1).

    That is so if the value of the person's crucial record does not satisfy it: each value but the published one is
    no more probable than before.
    """
    sample, row = _victim(release, knowledge, person, column)
    return not _qualifies(predicate)(sample.values[sample.observed[sample.crucial[row]]])


def _victim(release: Release, knowledge: Knowledge, person: Any, column: str | None) -> tuple[PerturbedSample, int]:
    task = Task.of(Corruption(column=column), release, knowledge)
    if task.contents.kind != "sample":
        raise NotSupported(
            "prior and posterior confidence are defined only for perturbed samples, and this release "
            "publishes groups with their true values",
            instead="use Corruption().attack",
        )
    sample, row = PerturbedSample.of(task), knowledge.person(person)
    if sample.known[row] != -1:
        raise InputError(
            "the attacker already knows the value of this person (corrupted=), so there is nothing left to "
            "infer: ask about another person"
        )
    if sample.crucial[row] < 0 or sample.owned(row).presence == 0:
        raise InputError(
            "this person cannot be in the table: no published record fits the person, or the attacker knows "
            "the value of everybody else who fits the same record"
        )
    return sample, row


# --- groups under (c, l)-diversity ------------------------------------------------------------------------------------


class CertainPredicate(NamedTuple):
    """A predicate of which the attacker becomes certain, and its probability before the release."""

    values: frozenset[Any]  # the values that satisfy it
    cells: dict[str, str]  # whom it concerns: the cells of the group
    # prior, posterior: the confidence in it before and after
    prior: Fraction
    posterior: Fraction


def predicate_made_certain(
    release: Release,
    *,
    n_values: int,
    ruled_out: Collection[Any] = (),
    column: str | None = None,
) -> CertainPredicate:
    """Find the predicate that a release of groups makes certain, and that was least likely before (CORRUPTION Lemma 1).

    The attacker corrupts nobody, and knows of the victim only that a few values are out of the question, ``ruled_out``;
    (c, l)-diversity allows for l - 2 of them. Has the victim one of the other values of the group? Before the release
    all of the domain's ``n_values`` that are not ruled out are alike; afterwards it is certain. So no guarantee for any
    predicate is left.

    Examples
    --------
    The group of CORRUPTION Figure 1, when HIV is ruled out and there are 100 diseases: from 5/99 to 1.

    >>> import glasshouse as gh
    >>> table = gh.examples.corruption_figure1()
    >>> release = gh.publish(table, principle=gh.RecursiveLDiversity(c="1/2", ell=3), recoding=gh.Boxes())
    >>> found = predicate_made_certain(release, n_values=100, ruled_out=["HIV"])
    >>> len(found.values), found.prior, found.posterior
    (5, Fraction(5, 99), Fraction(1, 1))
    """
    published = Published.of(release, column)
    if published.kind == "sample":
        raise NotSupported(
            "predicate_made_certain cannot be computed for a perturbed sample",
            instead=(
                "no property can become certain from a perturbed sample: the theorems on perturbed samples exclude it"
            ),
        )
    out = {text_of(value) for value in ruled_out}
    principle = stated_principle(release, published.column)
    _, ell = ((principle and principle.terms.asked) or {}).get("recursive", (None, None))
    if ell is not None and len(out) > ell - 2:
        allowed = f"at most {counted(ell - 2, 'value')}, the number that the principle of the release allows for"
        raise ParameterError("predicate_made_certain", "ruled_out", allowed, len(out))
    if n_values < len({text_of(value) for value in published.values} | out):
        raise ParameterError(
            "predicate_made_certain",
            "n_values",
            "at least the number of different values that are published or ruled out",
            n_values,
        )
    left = np.array([text_of(value) not in out for value in published.values])[published.codes]
    n_left = np.add.reduceat(left.astype(np.int64), published.offsets[:-1])
    n_left[n_left == 0] = np.iinfo(np.int64).max  # a group of which nobody can be
    group = int(np.argmin(n_left))
    own = slice(published.offsets[group], published.offsets[group + 1])
    values = frozenset(published.values[code] for code in published.codes[own][left[own]])
    seats = published.seats[0]
    seat = int(np.flatnonzero(seats.group == group)[0])
    cells = {n: texts[codes[seat]] for n, texts, codes in zip(seats.quasi, seats.cells, seats.of_seat, strict=True)}
    return CertainPredicate(values, cells, Fraction(len(values), n_values - len(out)), Fraction(1))


# --- small steps ------------------------------------------------------------------------------------------------------


def _qualifies(predicate: Predicate) -> Callable[[Any], bool]:
    """Whether a value satisfies a predicate."""
    if callable(predicate):
        return lambda value: bool(predicate(value))
    if isinstance(predicate, str) or not isinstance(predicate, Collection):
        raise ParameterError("Corruption", "predicate", "a collection of values or a function", predicate)
    texts = set(map(key_of, predicate))
    return lambda value: key_of(value) in texts


def _promised(release: Release, sample: PerturbedSample) -> tuple[str, ...]:
    """What the theorems allow, for priors as skewed as these and groups as small as these."""
    if release.recipe.recoding.get("domain") is None or not len(sample.size):
        return (
            "the domain of the sensitive column was not declared when the release was made, so no theorem "
            "limits these probabilities",
        )
    lambda_, k, n = max(map(max, sample.priors)), int(sample.size.min()), len(sample.values)
    growth = DeltaGrowth(lambda_=lambda_, k=k).achieved(sample.p, n)
    under = (
        f"with retention p = {plain(sample.p)}, groups of {k:,} or more records and no prior probability above "
        f"{plain(lambda_)}"
    )
    notes = [
        f"Theorem 3 of CORRUPTION (Tao et al. 2008): {under}, the release raises no probability by more than "
        f"{plain(growth)}"
    ]
    asked = release.recipe.principle
    if asked.get("name") == RhoBreach.name:
        rho2 = RhoBreach(rho1=asked["rho1"], lambda_=lambda_, k=k).achieved(sample.p, n)
        notes.append(
            f"Theorem 2 of CORRUPTION (Tao et al. 2008): no probability that was at most {asked['rho1']} before the "
            f"release is above {plain(rho2)} after it"
        )
    return tuple(notes)
