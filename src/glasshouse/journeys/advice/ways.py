# SPDX-License-Identifier: Apache-2.0
"""Alternatives: guarantees that a table allows where it does not allow the one that was asked for, each with its price.

Everything is computed from the counts of sensitive values, exactly, and every way is planned before it is offered, by
the functions that `publish` itself uses. No way is offered that would be refused.

Every way says what it promises to a person, and what it costs on this table. Numbers that a way fixes, such as alpha,
come from the counts of this table, as the largest feasible l does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from glasshouse.cells.values import text_of
from glasshouse.errors import GlasshouseError, Infeasible
from glasshouse.journeys.advice.asked_parts import AskedParts, together
from glasshouse.journeys.advice.sketch import Sketch
from glasshouse.plural import counted
from glasshouse.principles.background_sensitive import RhoBreach
from glasshouse.principles.k_anonymity import AlphaKAnonymity, KAnonymity
from glasshouse.principles.l_diversity import DesignatedLDiversity, LDiversity
from glasshouse.principles.parameters import exact_share, in_percent, plain
from glasshouse.principles.principle import Adversary, Principle
from glasshouse.principles.t_closeness import TCloseness
from glasshouse.recoding.perturbed import Perturbed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Way", "as_asked", "python_note", "ways_after", "ways_out", "with_room"]

ELL = 5  # l, or k, where the table allows it
STEPS = 10_000  # a share to leave out is rounded up to one in so many
_MOST_LEFT_OUT = Fraction(9, 10)  # a release without more than that is no way out
_SIZE = 6  # of groups under a bound on probabilities
_MOST_VALUES = 30  # that a way names
_MOST_COLUMNS = 8  # sensitive columns for which ways are looked for
_TS = ("0.2", "0.15", "0.1", "0.05")
# Where a value is nearly as frequent as a group may have it, hardly a group can be divided. With this room, made-up
# tables of 2,000 and 20,000 people had 28 groups or more; with hardly any, some had fewer than 10.
_ROOM = Fraction(4, 5)  # of what a group may have of the protected values, at most so much is their share in the table
_HARDLY_ANY_ROOM = Fraction(19, 20)  # from here on, tables of 4,000 people with several sensitive columns had one group
_MORE = Fraction(1, 5)  # alpha is the largest share and so much, or half of what is missing to 1
_RETAINED = Fraction(1, 20)  # a perturbed sample that keeps fewer values than this is of no use
_RHO = ("0.2", "0.5")

_KNOWS = {
    Adversary.LINKING: "an attacker who knows everybody's quasi-identifiers",
    Adversary.ALGORITHM_AWARE: "an attacker who knows everybody's quasi-identifiers and how the table was made",
    Adversary.CORRUPTING: (
        "an attacker who knows everybody's quasi-identifiers, how the table was made, and all other people's values"
    ),
}


@dataclass(frozen=True, kw_only=True)
class Way:
    """A promise that a table can keep, and how to ask for it.

    Parameters
    ----------
    name
        What kind of way it is: ``nearest``, ``roomier``, ``designated``, ``closeness``, ``alpha``, ``perturbed``,
        ``suppress``, ``by-column``, ``without-column`` or ``groups``; ``asked`` for what was asked for.
    principle
        What to ask for: a principle, or one for every sensitive column.
    promise, cost
        What it promises to a person, and what it costs on this table, in sentences.
    suppress
        The share of records that may be left out.
    domain
        Of a perturbed sample, the values that the sensitive column may have.
    sensitive
        The sensitive columns that are kept, where others are given up; None if all are.
    n_left_out
        How many records are left out.
    """

    name: str
    principle: Principle | Mapping[str, Principle]
    promise: str
    cost: str
    suppress: Fraction = Fraction(0)
    domain: tuple[str, ...] | None = None
    sensitive: tuple[str, ...] | None = None
    n_left_out: int = 0

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments for `glasshouse.publish`, except the table."""
        given: dict[str, Any] = {"principle": self.principle}
        if self.suppress:
            given["suppress"] = str(plain(self.suppress))
        if self.domain is not None:
            given["recoding"] = Perturbed(domain=self.domain)
        return given

    @property
    def call(self) -> str:
        """The call of Python that publishes in this way; ``table`` stands for the table that was read.

        >>> Way(name="closeness", principle=TCloseness(t="0.2"), promise="", cost="").call
        "gh.publish(table, principle=gh.TCloseness(t='0.2', distance='equal'))"
        """
        given = {name: _code(value) for name, value in self.arguments.items()}
        if self.domain is not None:
            given["recoding"] = f"gh.Perturbed(domain={self.domain!r})"
        return f"gh.publish(table, {', '.join(f'{name}={text}' for name, text in given.items())})"


def ways_after(error: Infeasible) -> tuple[Way, ...]:
    """The ways that are open after a refusal; none if nothing was counted, as of an empty table."""
    if error.counted is None:
        return ()
    kinds, principle = error.counted
    return ways_out(Sketch.of_kinds(kinds), principle)


def ways_out(sketch: Sketch, principle: Principle | Mapping[str, Principle]) -> tuple[Way, ...]:
    """The guarantees that a table allows instead of one that it does not allow, the least costly first.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.read({"age": [*range(20)], "hiv": ["no"] * 17 + ["yes"] * 3}, quasi=["age"], sensitive="hiv")
    >>> for way in ways_out(Sketch.of(table), gh.LDiversity(ell=3)):
    ...     print(way.name, "|", way.call, "|", way.n_left_out)
    designated | gh.publish(table, principle=gh.DesignatedLDiversity(ell=5, values=('yes',))) | 0
    closeness | gh.publish(table, principle=gh.TCloseness(t='0.15', distance='equal')) | 0
    alpha | gh.publish(table, principle=gh.AlphaKAnonymity(alpha='0.95', k=5)) | 0
    perturbed | gh.publish(table, principle=gh.RhoBreach(rho1='0.2', rho2='0.5', lambda_=1, k=6), \
recoding=gh.Perturbed(domain=('no', 'yes'))) | 0
    suppress | gh.publish(table, principle=gh.LDiversity(ell=2), suppress='0.7') | 14
    """
    if not sketch.n_people or len(sketch.sensitive) > _MOST_COLUMNS:
        return ()
    parts = AskedParts.of(sketch, principle)
    planned = (_with_parts(sketch, way, parts) for way in _offered(sketch, principle, parts))
    found = [way for way in planned if way is not None]
    return tuple(sorted(found, key=lambda way: way.n_left_out))  # stable: else in the order in which they are offered


def with_room(sketch: Sketch, principle: Principle | Mapping[str, Principle]) -> Way | None:
    """Less than what was asked for, which leaves room for groups; None where that leaves room, or nothing else does."""
    if not isinstance(principle, Principle):
        return None
    return next(filter(None, (_planned(sketch, way) for way in _roomier(sketch, principle))), None)


def as_asked(sketch: Sketch, principle: Principle | Mapping[str, Principle], suppress: Any = 0) -> Way | None:
    """What was asked for, as an alternative; None if the table does not allow it."""
    return _planned(sketch, _way("asked", principle, suppress=exact_share(suppress)))


def _closeness(sketch: Sketch, parts: AskedParts) -> Way:
    """t-closeness with a t that fits how even the sensitive columns are; every table can keep it.

    Of a column of which it was asked with a smaller t, or another distance, it has these.
    """
    rest = min((1 - _shares(sketch, i)[0][1] for i in range(len(sketch.sensitive))), default=Fraction(0))
    t = next((t for t in _TS if Fraction(t) <= rest), _TS[-1])
    each: dict[str, Principle] = {}
    for name in sketch.sensitive:
        asked = parts.closeness(name)
        ordered: Any = "equal" if asked is None else asked.terms.distance
        found = TCloseness(t=t, distance=ordered)
        each[name] = found if asked is None else together((found, asked))
    same = len(set(map(repr, each.values()))) == 1
    return _way("closeness", next(iter(each.values())) if same else each, _cost_of_closeness(sketch, each, parts.k))


def _with_parts(sketch: Sketch, way: Way, parts: AskedParts) -> Way | None:
    """The way with as much of what was asked for as it can hold; what it gives up is told as a cost."""
    columns = sketch.sensitive if way.sensitive is None else way.sensitive
    if way.domain is not None:  # a sample of perturbed values has groups, and promises nothing else about values
        small = isinstance(way.principle, Principle) and way.principle.grouping().terms.anonymity < parts.k
        return _planned(sketch, _giving_up(way, parts.given_up(columns, sizes=small, values=True)))
    for sizes, values in ((True, True), (True, False), (False, False)):
        added = parts.added_to(way.principle, columns, values=values) if sizes else way.principle
        lost = parts.given_up(columns, sizes=not sizes, values=not values)
        planned = _planned(sketch, _giving_up(replace(way, principle=added), lost))
        if planned is not None:
            return planned
    return None


def _giving_up(way: Way, lost: str) -> Way:
    return replace(way, cost=f"{way.cost} {lost}".strip()) if lost else way


def python_note(ways: Sequence[Way]) -> str:
    """The alternatives as a note to a Python error: guarantee, price, and call."""
    told = [way for way in ways if way.sensitive is None]
    if not told:
        return ""
    parts = ["", "This table can be published in one of these ways:"]
    for way in told:
        parts += ["", f"  # {way.promise}", f"  # Cost: {way.cost}", f"  {way.call}"]
    return "\n".join(parts)


# --- what is offered --------------------------------------------------------------------------------------------------


def _offered(sketch: Sketch, principle: Principle | Mapping[str, Principle], parts: AskedParts) -> Iterator[Way]:
    """Every alternative that may be possible."""
    if not sketch.sensitive or (isinstance(principle, Principle) and principle.bounds_beliefs):
        yield from _of_groups(sketch, principle)
        return
    nearest = None
    if isinstance(principle, Principle):
        nearest = sketch.feasible(principle)
        if nearest is not None:
            yield _way("nearest", nearest)
            yield from _roomier(sketch, nearest)
    yield from _by_column(sketch, principle, parts)
    if nearest is None:
        single = len(sketch.sensitive) == 1
        yield from _designated(sketch, parts.k) if single else _designated_by_column(sketch, parts.k)
        if not any(sketch.is_constant(i) for i in range(len(sketch.sensitive))):
            yield _closeness(sketch, parts)
        yield from _alpha(sketch, parts.k)
        if single:
            yield from _perturbed(sketch, parts.k)
    yield from _suppressed(sketch, principle)
    if nearest is None:
        yield from _without_column(sketch, principle)


def _roomier(sketch: Sketch, principle: Principle) -> Iterator[Way]:
    """For several columns, a smaller l with which the table can be divided, where this one leaves hardly any room."""
    several = sketch.kinds.table.sensitive if len(principle.singles()) == 1 else ()
    most = max((_shares(sketch, i)[0][1] for i in range(len(several))), default=Fraction(1))
    ell = int(_ROOM / most)
    if ell >= 2 and _without_room(sketch, dict.fromkeys(sketch.sensitive, principle)):
        yield _way("roomier", LDiversity(ell=ell))


def _without_room(sketch: Sketch, each: Mapping[str, Principle]) -> dict[str, Fraction]:
    """For several columns, which are divided at once: where a value is nearly as frequent as a group may have it.

    With one column under l-diversity, groups need no room: one value after the other is dealt out to them.
    """
    if len(sketch.sensitive) < 2:
        return {}
    ells = {
        name: max((one.terms.one_in or 0 for one in own.singles() if not one.terms.named), default=0)
        for name, own in each.items()
    }
    used = {name: ells.get(name, 0) * _shares(sketch, i)[0][1] for i, name in enumerate(sketch.sensitive)}
    return {name: share for name, share in used.items() if share > _ROOM}


def _of_groups(sketch: Sketch, principle: Principle | Mapping[str, Principle]) -> Iterator[Way]:
    """Smaller groups, where the table has too few records for those that were asked for."""
    asked = principle.grouping() if isinstance(principle, Principle) else None
    nearest = None if asked is None or sketch.n_people < 2 else sketch.feasible(asked)
    if nearest is not None and nearest != asked:
        k = min(ELL, sketch.n_people)
        yield _way("nearest", KAnonymity(k=k))


def _by_column(sketch: Sketch, principle: Principle | Mapping[str, Principle], parts: AskedParts) -> Iterator[Way]:
    """For several columns, what is nearest to what was asked for, by column; t-closeness where nothing is near."""
    if len(sketch.sensitive) < 2:
        return
    asked = dict(principle) if isinstance(principle, Mapping) else dict.fromkeys(sketch.sensitive, principle)
    each: dict[str, Principle] = {}
    for i, name in enumerate(sketch.sensitive):
        own = sketch.only(i)
        nearest = own.feasible(asked[name]) if name in asked else None
        if nearest is None and own.is_constant():
            return  # closeness to the table would protect nobody
        each[name] = _closeness(own, parts).principle if nearest is None else nearest  # type: ignore[assignment]
    if isinstance(principle, Mapping) or len(set(each.values())) > 1:
        yield _way("by-column", each)


def _designated(sketch: Sketch, k: int) -> Iterator[Way]:
    """Protection of the rarer values only."""
    rare = _rarer(sketch)
    if rare is None:
        return
    ell = min(ELL, int(_ROOM / rare[0][1]))
    which = "Every group" if k >= ell else "A group with one of the protected values"
    cost = f"{_unprotected(sketch)} {which} has at least {counted(max(ell, k), 'record')}."
    values = tuple(text_of(value) for value, _ in rare)
    yield _way("designated", DesignatedLDiversity(ell=ell, values=values), cost)


def _designated_by_column(sketch: Sketch, k: int) -> Iterator[Way]:
    """The same l for all columns: of every value where that is possible, and of the rarer values of the others."""
    ell, named = ELL, dict[str, tuple[str, ...]]()
    for i, name in enumerate(sketch.sensitive):
        own = sketch.only(i)
        diverse = own.feasible(LDiversity(ell=ELL))
        rare = None if diverse is not None else _rarer(own)
        if diverse is not None:
            ell = min(ell, diverse.terms.one_in or ell)
        elif rare is not None:
            ell = min(ell, int(_ROOM / rare[0][1]))
            named[name] = tuple(text_of(value) for value, _ in rare)
        else:
            return
    if not named:
        return
    each = {
        name: DesignatedLDiversity(ell=ell, values=named[name]) if name in named else LDiversity(ell=ell)
        for name in sketch.sensitive
    }
    told = [_unprotected(sketch.only(sketch.sensitive.index(name)), f" of {name}") for name in named]
    which = "Every group" if len(named) < len(each) or k >= ell else "A group with one of the protected values"
    yield _way("designated", each, f"{' '.join(told)} {which} has at least {counted(max(ell, k), 'record')}.")


def _rarer(sketch: Sketch) -> list[tuple[Any, Fraction]] | None:
    """All values but the most frequent one, with their shares; None if they cannot be named, or have no room."""
    _, *rare = _shares(sketch)
    if not 0 < len(rare) <= _MOST_VALUES or any(value is None for value, _ in rare) or 2 * rare[0][1] > _ROOM:
        return None
    return rare


def _unprotected(sketch: Sketch, of: str = "") -> str:
    value, share = _shares(sketch)[0]
    return (
        f"Nothing is guaranteed about {_shown(value)}{of}, which {_count(sketch, share)} have: an attacker may become "
        "certain that a person has this value."
    )


def _alpha(sketch: Sketch, least: int) -> Iterator[Way]:
    """The share of every value in a group is bounded, by more than the largest share in the table."""
    shares = [_shares(sketch, i)[0] for i in range(len(sketch.sensitive))]
    value, share = max(shares, key=lambda one: one[1])
    wanted = share + min(_MORE, (1 - share) / 2)
    alpha = next((a for steps in (20, 100) if (a := Fraction(ceil(wanted * steps), steps)) < 1), wanted)
    if alpha >= 1 or sketch.n_people < 2:
        return
    k = max(least, min(ELL, sketch.n_people))
    cost = (
        f"Every group has at least {counted(k, 'record')}, and more where {_shown(value)} is more frequent than in the "
        "whole table."
    )
    yield _way("alpha", AlphaKAnonymity(alpha=alpha, k=k), cost)


def _perturbed(sketch: Sketch, least: int) -> Iterator[Way]:
    """A noisy sample, which also holds against an attacker who knows other people's values."""
    values = [value for value, _ in _shares(sketch)]
    if not 2 <= len(values) <= _MOST_VALUES or None in values or sketch.n_people < _SIZE:
        return
    size = max(_SIZE, least)
    target = RhoBreach(rho1=_RHO[0], rho2=_RHO[1], k=size)
    kept = target.largest_retention(len(values))
    if kept < _RETAINED:
        return
    most = sketch.n_people // size
    cost = (
        f"At most {most:,} of {sketch.n_people:,} records {'is' if most == 1 else 'are'} published, one of each group "
        f"of {size} or more. Its sensitive value is kept with probability {plain(kept)}, and otherwise replaced by a "
        "random one. The domain must list every value that a person may have, also those that nobody in the table "
        "has."
    )
    yield _way("perturbed", target, cost, domain=tuple(sorted(map(text_of, values))))


def _suppressed(sketch: Sketch, principle: Principle | Mapping[str, Principle]) -> Iterator[Way]:
    """What was asked for, or 2-diversity where that is less, after some records were left out."""
    if not isinstance(principle, Principle):
        return
    asked: list[Principle] = [principle]
    terms = principle.terms
    if terms.one_in is not None and not terms.named and terms.one_in > 2 and sketch.feasible(LDiversity(ell=2)) is None:
        asked = [LDiversity(ell=2)]
    for one in asked:
        n_left_out = sketch.n_left_out(one)
        if not n_left_out:
            continue
        share = Fraction(ceil(Fraction(n_left_out, sketch.n_people) * STEPS), STEPS)
        cost = (
            f"{'It is' if n_left_out == 1 else 'They are'} drawn at random among the records with the most frequent "
            "values. The guarantee is for people who are known to be in the release, and for nobody else."
        )
        if share <= _MOST_LEFT_OUT:
            yield _way("suppress", one, cost, suppress=share)


def _without_column(sketch: Sketch, principle: Principle | Mapping[str, Principle]) -> Iterator[Way]:
    """What was asked for, of the columns that can keep it; or groups alone, where no column can tell anything."""
    if not isinstance(principle, Principle):
        return
    if len(sketch.sensitive) > 1:
        kept = [i for i in range(len(sketch.sensitive)) if sketch.only(i).feasible(principle) is not None]
        if 0 < len(kept) < len(sketch.sensitive):
            left = sketch.only(*kept)
            names = tuple(left.sensitive)
            given_up = [name for name in sketch.sensitive if name not in names]
            asked = left.feasible(principle)
            if asked is not None:
                several = f"The columns {', '.join(given_up[:-1])} and {given_up[-1]} are not published."
                cost = several if len(given_up) > 1 else f"The column {given_up[0]} is not published."
                yield _way("without-column", asked, cost, sensitive=names)
    elif sketch.is_constant() and sketch.n_people >= 2:
        name = sketch.sensitive[0]
        cost = f"The column {name} is not published: everybody has the same value, so no method can hide it."
        yield _way("groups", KAnonymity(k=min(ELL, sketch.n_people)), cost, sensitive=())


# --- what is said -----------------------------------------------------------------------------------------------------


def _way(name: str, principle: Any, cost: str = "", **more: Any) -> Way:
    """An alternative whose guarantee, and who is left out, is filled in when it is planned."""
    return Way(name=name, principle=principle, promise="", cost=cost, **more)


def _planned(sketch: Sketch, way: Way) -> Way | None:
    """The way with all that is to be said of it; None if publishing would refuse it, or would promise nothing."""
    own = sketch
    if way.sensitive is not None:
        own = sketch.only(*(sketch.sensitive.index(name) for name in way.sensitive))
    try:
        plan = own.plan(way.arguments).plan
    except GlasshouseError:
        return None
    if plan.claim.adversary is Adversary.LINKING and plan.claim.promise:  # which says that nothing is promised
        return None
    left_out = _left_out(sketch, 0 if way.domain is not None else plan.n_dropped)
    if not left_out and way.domain is None:
        left_out = ["No record has to be left out for this."]
    if plan.n_dropped and way.suppress and len(own.sensitive) > 1:
        most = int(way.suppress * sketch.n_people)
        left_out.append(f"Who is left out is drawn at random; another draw may leave out up to {most:,}.")
    each = way.principle if isinstance(way.principle, Mapping) else dict.fromkeys(own.sensitive, way.principle)
    tight = _without_room(Sketch.of_kinds(plan.kinds) if way.suppress else own, each)
    if tight:
        left_out.append(_few_groups(tight))
    return replace(
        way,
        promise=_promise(own, way.principle, _KNOWS[plan.claim.adversary]),
        cost=" ".join([*left_out, way.cost]).strip(),
        n_left_out=plan.n_dropped,
    )


def _few_groups(tight: Mapping[str, Fraction]) -> str:
    """What it costs that values are nearly as frequent as a group may have them."""
    many = "there is probably only one" if max(tight.values()) > _HARDLY_ANY_ROOM else "there may be only one"
    columns = " and of ".join(tight)
    return (
        f"The most frequent value of {columns} is nearly as frequent as a group may have it, so groups are large, and "
        f"{many}. A release with one group shows how often each sensitive value "
        "occurs, but not which quasi-identifiers go with it."
    )


def _left_out(sketch: Sketch, n: int) -> list[str]:
    """Who is left out: first because a value is missing, then so that the others can have this guarantee."""
    told, gone, of = [], sketch.kinds.table.incomplete, sketch.n_people
    if gone.n:
        rows = counted(gone.of, "record" if of + gone.n == gone.of else "row")  # of a person with several rows
        those = "that with a missing value, is" if gone.n == 1 else "those with a missing value, are"
        told.append(f"{gone.n:,} of {rows}, {those} left out.")
    if n:
        others = "Of the others, " if gone.n else ""
        records = f"{counted(of, 'record')} ({in_percent(Fraction(n, of))})"
        told.append(f"{others}{n:,} of {records} {'is' if n == 1 else 'are'} left out.")
    return told


def _promise(sketch: Sketch, principle: Principle | Mapping[str, Principle], attacker: str) -> str:
    if isinstance(principle, Principle) and not principle.needs_sensitive:
        return principle.for_person("sensitive value", attacker)
    each = principle if isinstance(principle, Mapping) else dict.fromkeys(sketch.sensitive, principle)
    told = []
    for name, one in each.items():
        about = [single for single in one.singles() if single.needs_sensitive]
        told += [single.for_person(name, "the same attacker" if i else attacker) for i, single in enumerate(about)]
        for terms in (single.terms for single in about):
            if terms.closeness is not None and terms.distance == "equal" and len(sketch.sensitive) == 1:
                told += _largest_shares(sketch, terms.closeness)
    sizes = [s.terms.anonymity for one in each.values() for s in one.singles() if not s.needs_sensitive]
    if sizes:
        told.append(f"Groups have at least {counted(max(sizes), 'person')}.")
    return " ".join(told)


def _largest_shares(sketch: Sketch, t: Fraction) -> Iterator[str]:
    """How large the share of the next most frequent value can become in a group."""
    _, *others = _shares(sketch)
    if others and others[0][0] is not None:
        value, share = others[0]
        yield (
            f"For example, {_shown(value)} occurs in {in_percent(share)} of all records, and in at most "
            f"{in_percent(_rounded_up(min(share + t, Fraction(1))))} of the records of a group."
        )


def _rounded_up(share: Fraction) -> Fraction:
    """A share in whole tenths of a percent, so that it is still an upper bound when it is shown."""
    return Fraction(ceil(share * 1000), 1000)


def _cost_of_closeness(sketch: Sketch, each: Mapping[str, Principle], k: int) -> str:
    """How large a group must be that has a rare value: one record of m has a share of 1/m."""
    shares = [_shares(sketch, i)[-1][1] + (each[name].terms.closeness or 0) for i, name in enumerate(each)]
    least = ceil(1 / min(*shares, Fraction(1), Fraction(1)))
    if k >= least:
        return f"Every group has at least {counted(k, 'record')}."
    return f"A group with the rarest value has at least {least:,} records." if least > 1 else ""


def _count(sketch: Sketch, share: Fraction) -> str:
    return f"{int(share * sketch.n_people):,} of {counted(sketch.n_people, 'record')}"


def _shares(sketch: Sketch, number: int = 0) -> list[tuple[Any, Fraction]]:
    """The values of a sensitive column with their shares, the most frequent first."""
    return [(value, Fraction(n, sketch.n_people)) for value, n in sketch.values(number)]


def _shown(value: Any) -> str:
    return "a missing value" if value is None else repr(text_of(value))


# --- as code ----------------------------------------------------------------------------------------------------------


def _code(value: Any) -> str:
    """A value as code: its `repr`, with the name of the package added."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_code(one)}" for name, one in value.items()) + "}"
    if isinstance(value, Principle) and len(value.singles()) > 1:
        return f"gh.AllOf({', '.join(map(_code, value.singles()))})"
    return f"gh.{value!r}" if re.match(r"[A-Z]\w*\(", repr(value)) else repr(value)
