# SPDX-License-Identifier: Apache-2.0
"""An attack on a release: what is learned about everybody on a list, kept so that people can be seen one by one.

How much is done is bounded as in the steward's report. On a large table some attacks look at people who are drawn at
random, and say so; knowing the algorithm is then answered by the theorem of the method, where it has one.
"""

from __future__ import annotations

import os
import pickle
import time
from dataclasses import fields, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.studio.tasks.equivalents import attack_equivalents
from glasshouse.studio.tasks.people import list_of_people, steward_table, with_somebody

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.microdata import Microdata
    from glasshouse.pages.report.effort import Effort
    from glasshouse.randomness import Source
    from glasshouse.release import Release
    from glasshouse.release.contents import Published
    from glasshouse.studio.job import Tell

__all__ = ["Reasons", "attack", "is_promised", "person", "somebody"]

_SAMPLE = 20_000  # people who are drawn from a table that is too large
_MOST_EXPOSED = 20
_MOST_BARS = 15
_MOST_PLACES, _MOST_GROUPS = 4, 6  # that are shown of those where a person can be
_SECONDS = 60.0  # for an attack that tells how far it is, unless it may take as long as it takes
_LONGER = "choose “As long as it takes”"
_REASONS = 5.0  # seconds for reasons that cannot be kept otherwise
_STRENGTH = ("linking", "algorithm-aware", "corrupting")
_ABOUT = ("linking", "reverse-engineering", "corruption")  # the attacks of these attackers
_OF_ANY_LIST = ("linking", "corruption", "definetti")  # which can be asked about some of the people alone


class Reasons:
    """The explanations for kinds of people, as stored sentences."""

    def __init__(self, known: dict[int, str]) -> None:
        self.known = known

    def __call__(self, kind: int, _code: int) -> str:
        """The sentence of a kind of people."""
        return self.known.get(
            kind, ("the explanation was kept only for some people: describe the person by hand to see it")
        )


def is_promised(attack: str, adversary: str) -> bool:
    """Whether a guarantee against an attacker is about an attack.

    >>> is_promised("linking", "algorithm-aware"), is_promised("corruption", "algorithm-aware")
    (True, False)
    """
    if attack not in _ABOUT or adversary not in _STRENGTH:
        return False
    return _ABOUT.index(attack) <= _STRENGTH.index(adversary)


# --- tasks ------------------------------------------------------------------------------------------------------------


def attack(
    *,
    tell: Tell,
    release: str,
    asked: Mapping[str, Any],
    keep: str,
    table: Mapping[str, Any] | None = None,
    people: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """Attack everybody on the list: the table itself, or a list of people that an attacker may hold."""
    tell.progress("reading the release", 0, 0)
    from glasshouse.journeys.load import load

    loaded = load(release)
    tell.progress("reading the people", 0, 0)
    if table is not None:
        everybody = steward_table(table, release)
    else:
        assert people is not None
        everybody = list_of_people(people["file"], loaded, people.get("identifier"))
    found, notes, refused = _attacked(loaded, everybody, asked, tell, seed)
    if found is None:
        return {"ran": False, "why": refused, "bound": _bound(loaded, asked), "column": _column(loaded, asked)}
    tell.progress("drawing", 0, 0)
    _keep(found, loaded, keep, promised=is_promised(asked["attack"], loaded.guarantee.adversary))
    listed = table if table is not None else {"quasi": list(loaded.recipe.quasi), **(people or {})}
    return {
        "ran": True,
        "column": found.column,
        **_told(found, notes, asked, loaded),
        "exposed": _exposed(found),
        "same": attack_equivalents(release, asked, str(listed["file"]), listed),
    }


def person(*, tell: Tell, keep: str, row: int | None = None, name: str | None = None) -> dict[str, Any]:
    """The probabilities for one person, by an attack that was run before."""
    tell.progress("looking the person up", 0, 0)
    with Path(keep).open("rb") as stream:
        found, contents, promised = pickle.load(stream)  # our own file, in our own workspace
    return _seen(found, contents, _row(found.knowledge, row, name), promised=promised)


def somebody(
    *,
    tell: Tell,
    release: str,
    asked: Mapping[str, Any],
    values: Sequence[str],
    table: Mapping[str, Any] | None = None,
    people: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """What an attacker learns about a person who is described by hand."""
    from glasshouse.errors import InputError
    from glasshouse.journeys.load import load
    from glasshouse.release.contents import Published

    tell.progress("reading the release", 0, 0)
    loaded = load(release)
    tell.progress("reading the people", 0, 0)
    listed = with_somebody(loaded, values, table=table, people=people)
    last = listed.n_tuples - 1
    found, notes, refused = _attacked(loaded, listed, {**asked, "corrupted": []}, tell, seed, always=last)
    if found is None:
        raise InputError(f"this was not computed: {refused}")
    contents = Published.of(loaded, found.column)
    return {
        **_seen(found, contents, found.n_people - 1, promised=is_promised(asked["attack"], loaded.guarantee.adversary)),
        "attack": asked["attack"],
        "person": "the person that you described",
        "notes": [*notes, *found.notes],
    }


# --- the attack -------------------------------------------------------------------------------------------------------


def _attacked(
    release: Release,
    everybody: Microdata,
    asked: Mapping[str, Any],
    tell: Tell,
    seed: int | None,
    always: int | None = None,
) -> tuple[Posterior | None, list[str], str]:
    """Run the attack, on some of the people if they are too many; or say why not."""
    from glasshouse.errors import GlasshouseError
    from glasshouse.journeys.attack import attack as attack_release
    from glasshouse.pages.report.effort import Effort, OutOfTime
    from glasshouse.randomness import Source

    name, column = asked["attack"], _column(release, asked)
    effort = Effort.named("full") if asked.get("effort") == "full" else Effort()
    source = None if seed is None else Source.seeded(seed)
    corrupted = _corrupted(everybody, column, asked.get("corrupted") or [], release)
    refused, notes = _too_much(release, everybody, column, name, effort), list[str]()
    if refused and asked.get("effort") != "full":
        refused = f"{refused}: {_LONGER}"
    if refused and (name not in _OF_ANY_LIST or corrupted):
        return None, notes, refused
    if refused:
        some = _sample(everybody, source, always)
        notes.append(
            f"only {some.n_tuples:,} of {everybody.n_tuples:,} people, drawn at random, were attacked, because "
            f"{refused}"
        )
        everybody = some
    chosen = _chosen(release, asked, column, effort, source, tell, found_out=bool(corrupted))
    knowledge = _knowledge(everybody, corrupted)
    tell.progress("attacking", 0, 0)
    try:
        return attack_release(release, chosen, knowledge=knowledge), notes, ""
    except OutOfTime:
        refused = f"it takes longer than about a minute: {_LONGER}"
    except GlasshouseError as error:
        if not hasattr(chosen, "how") or _bound(release, asked) is None:
            raise
        refused = str(error)
    if hasattr(chosen, "how") and _bound(release, asked) is not None:
        bounded = attack_release(release, replace(chosen, how="bound"), knowledge=knowledge)
        return (
            bounded,
            [
                *notes,
                f"the attack was not completed, and the numbers are upper limits that a theorem proves: {refused}",
            ],
            "",
        )
    return None, notes, refused


def _too_much(release: Release, everybody: Microdata, column: str | None, name: str, effort: Effort) -> str:
    """Why not everybody can be attacked, if that is so; the limits are those of the report."""
    from glasshouse.pages.report.beliefs import not_attacked
    from glasshouse.pages.report.effort import Budget

    if name == "linking":
        effort = replace(effort, most_rows=effort.most_linked)
    return not_attacked(release, everybody, column, effort, Budget(None), lambda _n_fits: 0.0)


def _sample(everybody: Microdata, source: Source | None, always: int | None) -> Microdata:
    """A random sample of people; a given person can be included in any case, and is then the last."""
    import numpy as np
    import pyarrow as pa

    from glasshouse.randomness import Source

    n_people = everybody.n_tuples
    drawn = (source or Source.secure()).child("people of an attack")
    rows = np.sort(drawn.choose(n_people, min(_SAMPLE, -(-n_people // 10))))
    rows = rows if always is None else np.append(rows[rows != always], always)
    some = everybody.take(rows)
    return some if some.identifier is not None else replace(some, identifier=pa.array(rows))  # numbers of the table


def _chosen(
    release: Release,
    asked: Mapping[str, Any],
    column: str | None,
    effort: Effort,
    source: Source | None,
    tell: Tell,
    *,
    found_out: bool,
) -> Any:
    """The attack, with the report's effort for it."""
    from glasshouse import catalog
    from glasshouse.errors import NotSupported
    from glasshouse.journeys.load import load
    from glasshouse.journeys.verify import release_in
    from glasshouse.pages.report.effort import deadline

    made = catalog.ATTACKS[asked["attack"]]
    known = {field.name for field in fields(made)}
    if "column" not in known and len(release.recipe.sensitive) > 1:
        raise NotSupported(
            "this attack does not support several sensitive columns together",
            instead="choose another attack: something else that the attacker knows",
        )
    watch = deadline(inf if asked.get("effort") == "full" else _SECONDS)

    def progress(share: float) -> None:
        watch(share)
        tell.progress("attacking", int(100 * share), 100)

    given: dict[str, Any] = {
        "column": column,
        "most_states": effort.most_states,
        "source": source,
        "progress": progress,
        "most_corrupted": None if found_out else asked.get("most_corrupted"),
    }
    if "most_runs" in known:
        given |= {"most_runs": effort.most_runs, "most_worlds": effort.most_worlds}
    if "others" in known:
        given["others"] = (load(release_in(Path(asked["other"]))),)
    return made(**{name: value for name, value in given.items() if name in known and value is not None})


def _column(release: Release, asked: Mapping[str, Any]) -> str | None:
    sensitive = release.recipe.sensitive
    return sensitive[asked.get("column") or 0] if sensitive else None


def _bound(release: Release, asked: Mapping[str, Any]) -> str | None:
    """The largest probability by the theorem of the method, if it is about an attacker who knows the algorithm."""
    from glasshouse import catalog
    from glasshouse.adversary.task import promised_limit

    strength = release.guarantee.adversary
    aware = strength in _STRENGTH and _STRENGTH.index(strength) >= 1
    if not (aware and catalog.ATTACKS[asked["attack"]].needs_algorithm):
        return None
    limit = promised_limit(release, _column(release, asked) or "")
    return None if limit is None else str(limit)


# --- what the attacker holds ------------------------------------------------------------------------------------------


def _knowledge(everybody: Microdata, corrupted: dict[Any, Any]) -> Knowledge:
    from glasshouse.adversary.knowledge import Knowledge

    return Knowledge(external=everybody, corrupted=corrupted)


def _corrupted(everybody: Microdata, column: str | None, lines: Sequence[str], release: Release) -> dict[Any, Any]:
    """The values that the attacker found out: given beside the name, or taken from the table."""
    from glasshouse.adversary.knowledge import Knowledge
    from glasshouse.errors import InputError
    from glasshouse.microdata.domains import text_of
    from glasshouse.release.contents import Published

    if not lines:
        return {}
    by_text = {text_of(value): value for value in Published.of(release, column).values if value is not None}
    plain = Knowledge(external=everybody)
    true = next((own for own in everybody.sensitive if own.name == column), None)
    found: dict[Any, Any] = {}
    for line in lines:
        name, told, value = line.rpartition(" = ")
        row = _row(plain, None, name.strip() if told else line)
        if told:
            if value.strip() not in by_text:
                raise InputError(f"no value of {column!r} in the release is called {value.strip()!r}")
            found[plain.name(row)] = by_text[value.strip()]
        elif true is not None:
            found[plain.name(row)] = true.domain.listed()[true.codes[row]]
        else:
            raise InputError(f"write the value of {line!r}, such as {line} = flu")
    return found


def _row(knowledge: Knowledge, row: int | None, name: str | None) -> int:
    """The row of a person, by its number or by the text of the identifier."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from glasshouse.errors import InputError

    n_people, names = knowledge.external.n_tuples, knowledge.external.identifier
    if row is None and name is not None and names is None:
        row = int(name) if name.isdecimal() and len(name) < 12 else -1
    if row is not None:
        if not 0 <= row < n_people:
            raise InputError(f"there is no such person: rows are numbered from 0 to {n_people - 1:,}")
        return row
    assert names is not None
    place = pc.index(names.cast(pa.string()), name).as_py()
    if place < 0:
        raise InputError(f"nobody who was attacked is called {name!r}; describe such a person by hand")
    return int(place)


# --- what is told -----------------------------------------------------------------------------------------------------


def _keep(found: Posterior, release: Release, path: str, *, promised: bool) -> None:
    """Write the probabilities into the workspace, with the reasons: as they are, or as sentences where need be."""
    from glasshouse.release.contents import Published

    contents = Published.of(release, found.column)
    try:
        content = pickle.dumps((found, contents, promised))
    except (pickle.PicklingError, AttributeError, TypeError):
        known = None if found.once_known is None else replace(found.once_known, because=None)
        told = replace(found, because=Reasons(_reasons(found)), once_known=known)
        content = pickle.dumps((told, contents, promised))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)


def _reasons(found: Posterior) -> dict[int, str]:
    """The explanation for the most probable value of each kind of people, for the most exposed people first."""
    import numpy as np

    end = time.monotonic() + _REASONS
    known: dict[int, str] = {}
    for kind in np.argsort(-found.largest, kind="stable").tolist():
        start, stop = int(found.offsets[kind]), int(found.offsets[kind + 1])
        if start < stop:
            best = start + int(np.argmax(found.beliefs[start:stop]))
            known[kind] = found.reason(kind, int(found.codes[best]))
        if time.monotonic() > end:
            break
    return known


def _told(found: Posterior, notes: list[str], asked: Mapping[str, Any], release: Release) -> dict[str, Any]:
    """Probabilities for everybody: counts, shares and a picture, without names."""
    from glasshouse.pages.charts.report_figures import belief_figure
    from glasshouse.pages.report.beliefs import summary_of
    from glasshouse.pages.report.words import HOW

    promised = is_promised(asked["attack"], release.guarantee.adversary)
    summary = {**summary_of(found), "adversary": asked["attack"], "promised": promised}
    learned: Any = getattr(found, "cost", None)
    return {
        "attack": asked["attack"],
        **{name: summary[name] for name in ("people", "largest", "median", "limit", "people_above", "people_unknown")},
        "unless_known": summary.get("unless_known"),
        "protects_some": bool(found.protected),
        "how": HOW.get(summary["how"], summary["how"]),
        "error": found.error,
        "figure": belief_figure(summary, "everybody"),
        "notes": [*notes, *found.notes],
        "cost": "" if learned is None else learned.sentence(),
        "has_names": found.knowledge.external.identifier is not None,
    }


def _exposed(found: Posterior) -> list[dict[str, Any]]:
    """The people about whom an attacker learns most, with explanations."""
    import numpy as np

    people, found = found.reached, found.compared
    most = found.once_known or found
    n = min(_MOST_EXPOSED, len(people))
    some = np.argpartition(-people, n - 1)[:n] if n else np.empty(0, np.int64)
    rows = some[np.lexsort((some, -people[some]))]
    listed = []
    for row in rows.tolist():
        if people[row] > 0:
            kind = int(found.kind[row])
            start, stop = int(most.offsets[kind]), int(most.offsets[kind + 1])
            best = start + int(np.argmax(most.beliefs[start:stop]))
            listed.append(
                {
                    "row": row,
                    "person": _name(found.knowledge, row),
                    "value": _text(most.values[int(most.codes[best])]),
                    "belief": float(most.beliefs[best]),
                    "up_to": bool(most.beliefs[best] > found.largest[kind]),
                }
            )
    return listed


def _seen(found: Posterior, contents: Published, row: int, *, promised: bool) -> dict[str, Any]:
    """The probabilities for one person, with the guaranteed limit and an explanation."""
    from glasshouse.pages.charts.person_beliefs import person_figure

    knowledge, kind = found.knowledge, int(found.kind[row])
    start, stop = int(found.offsets[kind]), int(found.offsets[kind + 1])
    order = sorted(range(start, stop), key=lambda i: (-found.beliefs[i], int(found.codes[i])))
    bars = [(_text(found.values[int(found.codes[i])]), float(found.beliefs[i])) for i in order]
    external = knowledge.external
    column = next((own for own in external.sensitive if own.name == found.column), None)
    true = None if column is None else _text(column.domain.listed()[column.codes[row]])
    limit = None if found.limit is None else (str(found.limit), float(found.limit))
    why = found.reason(kind, int(found.codes[order[0]])) if order else found.explain(knowledge.name(row))
    own, most = float(found.compared.largest[kind]), float(found.reached[row])
    return {
        "row": row,
        "person": _name(knowledge, row),
        "quasi": [(own.name, _text(own.domain.listed()[own.codes[row]])) for own in external.quasi],
        "column": found.column,
        "bars": bars[:_MOST_BARS],
        "n_more": max(0, len(bars) - _MOST_BARS),
        "presence": float(found.presence[kind]),
        "limit": None if limit is None else limit[0],
        "protected": own if found.protected else None,
        "above": limit is not None and own > limit[1] * (1 + 1e-9),
        "once_known": most if most > own else None,
        "above_once_known": limit is not None and most > limit[1] * (1 + 1e-9),
        "why": why,
        "places": _places(found, contents, row),
        "known": row in knowledge.corrupted_rows(),
        "true": true,
        "figure": person_figure(
            bars[:_MOST_BARS], None if found.protected else limit, true, promised=promised, name="person"
        )
        if bars
        else None,
        "how": found.how,
    }


def _places(found: Posterior, contents: Published, row: int) -> list[dict[str, Any]]:
    """Where in the release the person can be: what is published there, and the values of the groups behind it."""
    import numpy as np

    from glasshouse.adversary.matching import match, seats_in_words

    places: dict[str, tuple[int, set[int]]] = {}
    for seats in contents.seats:
        for seat in match(found.knowledge.external, np.array([row]), seats).seats.tolist():
            words = seats_in_words(seats, seat)
            tuples, groups = places.get(words, (0, set()))
            places[words] = (tuples + int(seats.count[seat]), groups | {int(seats.group[seat])})
    most = sorted(places.items(), key=lambda place: (-place[1][0], place[0]))[:_MOST_PLACES]
    return [
        {
            "cells": words,
            "tuples": tuples,
            "n_groups": len(groups),
            "groups": [_histogram(contents, group) for group in sorted(groups)[:_MOST_GROUPS]],
        }
        for words, (tuples, groups) in most
    ]


def _histogram(contents: Published, group: int) -> str:
    start, stop = int(contents.offsets[group]), int(contents.offsets[group + 1])
    counted = sorted(zip(contents.counts[start:stop].tolist(), contents.codes[start:stop].tolist(), strict=True))
    shown = [f"{count} x {_text(contents.values[code])}" for count, code in reversed(counted)]
    return ", ".join(shown[:_MOST_BARS]) + (", and others" if len(shown) > _MOST_BARS else "")


def _name(knowledge: Knowledge, row: int) -> str:
    if knowledge.external.identifier is None:
        return f"row {row}"
    return _text(knowledge.name(row))


def _text(value: Any) -> str:
    from glasshouse.microdata.domains import text_of

    return "missing" if value is None else text_of(value)
