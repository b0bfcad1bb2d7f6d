# SPDX-License-Identifier: Apache-2.0
"""RiskAttack: what singling out, linkability and inference have in common.

These are measurements from the inside: the steward, who holds the table, counts how often an attacker would be right.
Each is done three times, on the people in the release, on people who are not in it (control), and by a naive guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import pyarrow.compute as pc

from glasshouse.adversary.external_table import coded_as_published
from glasshouse.adversary.risks.risk import MeasuredRisk
from glasshouse.errors import InputError, NotSupported, SchemaError
from glasshouse.plural import counted
from glasshouse.randomness import Source
from glasshouse.release.contents import Published

if TYPE_CHECKING:
    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.risks.risk import Rate
    from glasshouse.adversary.task import Algorithm
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws
    from glasshouse.release import Release
    from glasshouse.release.contents import Contents

__all__ = ["RiskAttack", "Scene", "check_columns", "control_people", "other_people"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """What a measurement is given: a release, as it stands and as it is read, and the table that it was made from."""

    release: Release
    contents: Contents
    table: Microdata  # coded in the taxonomies and orders that the release carries, as is any control table


class RiskAttack:
    """An attack whose right guesses are counted: it gives a `MeasuredRisk` in place of probabilities.

    Like attacks, they are frozen dataclasses. `success` and `baseline` are what is new about each.
    """

    __slots__ = ()

    name: ClassVar[str]
    answers: ClassVar[Literal["beliefs", "risk"]] = "risk"
    """What `attack` gives."""
    needs_algorithm: ClassVar[bool] = False
    """Whether the method and the principle of the release must be given."""
    needs_values: ClassVar[bool] = False
    """Whether the table must have the true sensitive values, to count right guesses."""
    takes_values: ClassVar[bool] = False
    """Whether the true sensitive values are used if the table has them, to count right guesses."""
    depends_on_size: ClassVar[bool] = True
    """Whether success depends on the number of people."""
    question: ClassVar[str]
    """What counts as a success."""
    trials_are: ClassVar[str] = "people"
    """What trials are."""

    column: str | None = None
    """The sensitive column, where the release has several."""
    control: Microdata | None = None
    """People who are not in the release, read as the table was."""
    source: Source | None = None
    """Where random choices come from; the operating system's secure source by default."""

    def success(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """How often the attack succeeds on these people, who are in the release or are not."""
        raise NotImplementedError

    def baseline(self, scene: Scene, people: Microdata, draws: Draws) -> Rate:
        """The rate of success of a naive guess on these people."""
        raise NotImplementedError

    def notes(self, scene: Scene) -> list[str]:
        """Notes that a reader of the rates needs."""
        return []

    def attack(self, release: Release, knowledge: Knowledge, algorithm: Algorithm | None = None) -> MeasuredRisk:
        """Measure how often the attack, and a naive guess, succeed on the table; and the attack on control people."""
        if knowledge.corrupted or knowledge.prior is not None:
            raise NotSupported(
                f"the attack {self.name} does not use people whose values are known (corrupted=) or a prior",
                instead="leave them out: this attack counts how often guesses are right",
            )
        check_columns(knowledge.external, release, "the table")
        table = coded_as_published((release,), knowledge, runs_method=False).external
        control = None if self.control is None else control_people(self.control, release, knowledge)
        scene = Scene(release=release, contents=self._contents(release), table=table)
        draws = Source.secure() if self.source is None else self.source
        notes = [*other_people(scene), *self.notes(scene)]
        compared = None
        measured = self.success(scene, table, draws)
        guessed = self.baseline(scene, table, draws)
        if control is not None and self.depends_on_size and control.n_tuples != table.n_tuples:
            fewer = min(control.n_tuples, table.n_tuples)
            if control.n_tuples > fewer:
                notes.append(
                    f"{fewer:,} of the {control.n_tuples:,} control people {'was' if fewer == 1 else 'were'} drawn at "
                    "random, as many as people were published"
                )
                control = _some(control, fewer, draws)
            else:
                notes.append(
                    f"the control table has {counted(fewer, 'person')} and the table {table.n_tuples:,}; success "
                    "depends on the number of people, so the risk is computed from equal numbers"
                )
                compared = self.success(scene, _some(table, fewer, draws), draws)
        return MeasuredRisk(
            attack=self.name,
            question=self.question,
            trials_are=self.trials_are,
            success=measured,
            baseline=guessed,
            control=None if control is None else self.success(scene, control, draws),
            compared=compared,
            notes=tuple(notes),
        )

    def _contents(self, release: Release) -> Contents:
        """What the release says, read for any sensitive column, or without one, if values are not used."""
        sensitive = release.recipe.sensitive
        if not self.needs_values and not sensitive:
            return Published.without_values(release)
        contents = Published.of(release, self.column if self.needs_values else sensitive[0])
        if self.needs_values and contents.column in release.sets:
            raise NotSupported(
                f"the attack {self.name} does not support column {contents.column!r}, whose cells contain sets "
                "of values",
                instead="use linking or reverse engineering, which give the probability of every single value",
            )
        contents.refuse_untied()  # seats are read from tables with batches alone
        return contents


def control_people(people: Microdata, release: Release, knowledge: Knowledge) -> Microdata:
    """The control people, coded like those of the table; refused if they cannot be people outside of it."""
    if not hasattr(people, "quasi"):
        raise InputError("control must be a table of people that gh.read has read: gh.read(file, quasi=...)")
    check_columns(people, release, "the control table")
    if not people.n_tuples:
        raise InputError("the control table has no records: give people who are not in the release")
    table = knowledge.external
    if people is table:
        raise InputError("the control table is the published table itself: give people who are not in the release")
    if people.identifier is not None and table.identifier is not None:
        if people.identifier.type != table.identifier.type:
            raise InputError(
                "the identifier of the control table is of another type than the identifier of the table: "
                "read both in the same way"
            )
        known = pc.sum(pc.is_in(people.identifier, value_set=table.identifier)).as_py()
        if known:
            raise InputError(
                f"{counted(known, 'person')} of the control table {'is' if known == 1 else 'are'} also in the "
                "published table: leave them out of the "
                "control table"
            )
    return coded_as_published((release,), replace(knowledge, external=people), runs_method=False).external


def check_columns(people: Microdata, release: Release, which: str) -> None:
    """Refuse people whose list lacks a quasi-identifier of the release."""
    known = [column.name for column in people.quasi]
    for name in release.recipe.quasi:
        if name not in known:
            raise SchemaError(
                f"{which} has no quasi-identifier {name!r}, which the release has: read it with the "
                "quasi-identifiers of the release",
                column=name,
            )


def other_people(scene: Scene) -> list[str]:
    """Say where the table is not the one that the release was made from."""
    published, held = scene.release.n_tuples + scene.release.n_dropped, scene.table.n_tuples
    if published == held:
        return []
    return [
        f"the table has {counted(held, 'person')} and the release was made from {published:,}: the rates are only "
        "meaningful for the table that was published"
    ]


def _some(people: Microdata, n: int, draws: Draws) -> Microdata:
    return people.take(np.sort(draws.choose(people.n_tuples, n)))
