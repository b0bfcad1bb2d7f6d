# SPDX-License-Identifier: Apache-2.0
"""Recommendation: one way of those that were compared, and why, in a few words.

An expert looks first at what is promised, and to accuracy only among ways that promise enough:

1. It must protect against attackers who know the algorithm, which the release names. An attack that found
   somebody above the limit puts a way out, whatever it claims.
2. It must not show who is in the table, unless that is no secret.
3. It must not cost people much that another way spares them. The cost is how much more often an attacker who learns
   from the release guesses right about people in the table than about others. A way is set aside if another one costs
   less by more than one person in ten, beyond what chance does, at an error that is at most twice as large. A way whose
   cost was not measured neither sets aside nor is set aside.
4. Of these the least error counts, on the workload. What is within a tenth of the least, or within a quarter of a
   percentage point, is as good: nobody would notice, and a comparison does not tell more apart. Among equals what
   `publish` does by default is taken: its method needs the fewest conditions, and its recoding hides presence by a
   theorem.

The errors differ from run to run. If a run by itself would have led to another recommendation, a note says which.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.comparing.comparison import Row

__all__ = ["Recommendation", "keeps", "recommend", "undominated"]

NEAR = Fraction(1, 10)
"Errors that differ by less than this share of the smallest one count as equal."
SMALL = Fraction(1, 400)
"Errors that differ by less than this also count as equal."
COSTLY = Fraction(1, 10)
"""A cost that is larger than another one by more than this is too large, if the error allows it."""
DEARER = 2
"An error may be this many times as large if it spares people that cost."


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The recommended way to publish, if there is one; the reason in a few sentences; and notes for a steward."""

    row: Row | None
    reason: str
    notes: tuple[str, ...] = ()


def keeps(row: Row) -> bool:
    """Whether no attack found a probability above the guaranteed one."""
    if row.belief is None or row.limit is None:
        return True
    return row.belief - row.belief_error <= float(Fraction(row.limit)) * (1 + 1e-9)


def recommend(rows: Sequence[Row], *, preferred: tuple[str, str], presence: str = "secret") -> Recommendation:
    """Choose one of the ways that were compared.

    ``preferred`` are the method and the recoding that are taken among equals; ``presence`` is ``secret``, or ``public``
    if it is no secret who is in the table.
    """
    measured = [row for row in rows if not row.failed and row.error is not None]
    if not measured:
        return Recommendation(
            row=None, reason="Nothing is recommended, because no way to publish could be tried; the reasons are listed."
        )
    aware, holding, allowed = _allowed(measured, presence)
    choice = _affordable(allowed)
    best = _best(choice, preferred)
    tied = len(aware) < sum(row.adversary != "linking" and keeps(row) for row in measured)
    notes = [
        *_overturned(rows, best, preferred, presence),
        *_costly(best, [row for row in allowed if row not in choice]),
        *_exact(best, holding, preferred),
        *_linking(best, measured),
        *_useless(best),
    ]
    reason = _reason(best, choice, aware=bool(aware), tied=tied, spared=len(choice) < len(allowed))
    if best.cost is not None:
        reason = f"{reason.removesuffix('.')}; {_cost(best)}."
    return Recommendation(row=best, reason=reason, notes=tuple(notes))


def _allowed(measured: Sequence[Row], presence: str) -> tuple[list[Row], list[Row], list[Row]]:
    """Ways that hold against an attacker who knows the algorithm; ways that hold; those of them to choose from."""
    aware = [row for row in measured if row.adversary != "linking" and keeps(row)]
    aware = [row for row in aware if not row.ties_groups] or aware
    holding = aware or [row for row in measured if keeps(row)] or list(measured)
    hiding = [row for row in holding if not row.shows_presence]
    return aware, holding, holding if presence == "public" else hiding or holding


def _affordable(allowed: Sequence[Row]) -> list[Row]:
    """The ways without those that cost people much more than another way."""
    return [row for row in allowed if not any(_spares(other, row) for other in allowed)]


def undominated(rows: Sequence[Row]) -> list[Row]:
    """The rows that no other row dominates: with no larger probability and error, and one of them smaller."""
    known = sorted((r for r in rows if r.belief is not None and r.error is not None), key=_pair)
    found: list[Row] = []
    for row in known:
        if not found or _pair(row)[1] < _pair(found[-1])[1]:
            found.append(row)
    return found


def _pair(row: Row) -> tuple[float, float]:
    return round(row.belief or 0.0, 9), row.error or 0.0


def _best(rows: Sequence[Row], preferred: tuple[str, str]) -> Row:
    least = min(_error(row) for row in rows)
    near = [row for row in rows if not _clearly_less(least, _error(row))]
    method, recoding = preferred
    return min(near, key=lambda row: (_name(row) != method, row.recoding != recoding, _error(row)))


def _spares(one: Row, other: Row) -> bool:
    """Whether one way costs people much less than another one, and is accurate enough to replace it."""
    if one.cost is None or other.cost is None:
        return False
    most, least = one.cost + (one.cost_error or 0.0), other.cost - (other.cost_error or 0.0)
    return least - most > COSTLY and _error(one) <= DEARER * _error(other)


def _clearly_less(one: float, other: float) -> bool:
    return other > max(one * float(1 + NEAR), one + float(SMALL))


def _error(row: Row) -> float:
    assert row.error is not None
    return row.error


def _name(row: Row) -> str:
    """The name of the method, without its parameters."""
    return row.method.partition(" ")[0]


# --- words ------------------------------------------------------------------------------------------------------------


def _reason(best: Row, choice: Sequence[Row], *, aware: bool, tied: bool, spared: bool) -> str:
    if not aware:
        return (
            f"{best.way}, with a mean error of {_percent(best)}. Use it with care: none of the ways protects against "
            "an attacker who knows the algorithm. This is the most accurate of those that protect against an attacker "
            "who links people to the release."
        )
    hides = "" if best.shows_presence else ", and does not show who is in the table"
    why = f"{best.way}: it protects against an attacker who knows the algorithm ({_belief(best)}){hides}. "
    if tied:
        why += (
            "Ways whose groups depend on each other were set aside: they protect little against an attacker who knows "
            "even a little about people. "
        )
    if spared:
        why += (
            "A way was set aside if an attacker who learns a model from its release gains much more than from another "
            "way, and the mean error of that other way is at most twice the error of the way that was set aside. "
        )
    if len(choice) == 1:
        only = "only way left" if tied or spared else "only way for which this is true"
        return f"{why}It is the {only}; its mean error is {_percent(best)}{_baseline(best)}."
    which = "ways that are left" if tied or spared else "ways for which this is true"
    why += f"Of the {len(choice)} {which}, "
    others = [row for row in choice if _name(row) != _name(best)]
    if not others:
        return f"{why}it gives the best answers, with a mean error of {_percent(best)}{_baseline(best)}."
    rival = min(others, key=_error)
    if _clearly_less(_error(best), _error(rival)):
        how = (
            f"it gives the best answers, with a mean error of {_percent(best)} (the best way with another method, "
            f"{rival.way}, "
        )
        return f"{why}{how}has {_percent(rival)}{_baseline(best, '; ')})."
    how = f"none gives clearly better answers than this one, whose mean error is {_percent(best)}"
    return f"{why}{how}. The mean error of {rival.way} is {_percent(rival)}{_baseline(best)}."


def _belief(row: Row) -> str:
    if row.belief is None:
        return f"{row.promise}" if row.limit is None else f"the probability of a value is at most {row.limit}"
    if row.how == "bound":
        return f"a theorem proves that the probability of a value is at most {row.belief:.3g}"
    return f"the highest probability that the attack found is {row.belief:.3g}"


def _baseline(row: Row, before: str = ", while ") -> str:
    return (
        ""
        if row.baseline is None
        else (
            f"{before}two tables without a link, one of quasi-identifiers and one of sensitive values, have "
            f"{row.baseline:.1%}"
        )
    )


def _percent(row: Row) -> str:
    return f"{_error(row):.1%}" if _error(row) >= 0.01 else f"{_error(row):.2%}"


def _cost(row: Row) -> str:
    assert row.cost is not None
    many = f"{abs(row.cost) * 100:.1f} {'more' if row.cost >= 0 else 'fewer'}"
    return (
        f"of 100 people, an attacker who learns a model from the release guesses right for {many} if they are in the "
        "table than if they are not"
    )


def _overturned(rows: Sequence[Row], best: Row, preferred: tuple[str, str], presence: str) -> list[str]:
    """The other way to which a single run would have led; or a note that there was only one run."""
    measured = [row for row in rows if not row.failed and row.error is not None]
    n_runs = len(best.errors)
    if n_runs == 1:
        return [
            (
                "Each way was tried only once, so small differences between errors may be due to chance: compare with "
                "more runs."
            )
        ]
    if any(len(row.errors) != n_runs for row in measured):
        return []
    others: dict[str, list[int]] = {}
    for run in range(n_runs):
        alone = [replace(row, error=row.errors[run], errors=()) for row in measured]
        found = _best(_affordable(_allowed(alone, presence)[2]), preferred)
        if found.way != best.way:
            others.setdefault(found.way, []).append(run + 1)
    if not others:
        return []
    told = "; ".join(f"{way} in run {' and '.join(map(str, runs))}" for way, runs in others.items())
    return [
        f"The recommendation is not certain: some of the {n_runs} runs alone would have led to another way ({told}). "
        "Compare with more runs to be more certain, or choose one of these ways."
    ]


def _costly(best: Row, aside: Sequence[Row]) -> list[str]:
    """What could be had if people bore the cost."""
    if not aside:
        return []
    other = min(aside, key=_error)
    if not _clearly_less(_error(other), _error(best)):
        return []
    return [f"{other.way} has a smaller mean error, {_percent(other)}, but it was not chosen: {_cost(other)}."]


def _exact(best: Row, holding: Sequence[Row], preferred: tuple[str, str]) -> list[str]:
    """What could be had if it were no secret who is in the table; or that it is shown."""
    if best.shows_presence:
        return [
            f"{best.recoding} publishes exact quasi-identifiers: an attacker who knows those of a person can see "
            "whether the person is in the table."
        ]
    exact = [row for row in holding if row.shows_presence]
    if not exact:
        return []
    other = _best(exact, preferred)
    if not _clearly_less(_error(other), _error(best)):
        return []
    return [
        f"If it is not secret who is in the table, you can use {other.way}, with a mean error of {_percent(other)}."
    ]


def _linking(best: Row, measured: Sequence[Row]) -> list[str]:
    """What is given up for holding against attackers who know the algorithm."""
    if best.adversary == "linking":
        return []
    others = [row for row in measured if row.adversary == "linking" and row.shows_presence <= best.shows_presence]
    if not others:
        return []
    other = min(others, key=_error)
    said = f"{other.way} does not protect against an attacker who knows the algorithm"
    if not keeps(other) and other.belief is not None:
        said += (
            f" (this attacker's probability for a value reaches {other.belief:.3g}; for an attacker who does not know "
            f"the algorithm, at most {other.limit} is guaranteed)"
        )
    if _clearly_less(_error(other), _error(best)):
        return [f"{said}; its mean error is {_percent(other)}."]
    return [f"{said}, and its answers are not clearly more accurate: its mean error is {_percent(other)}."]


def _useless(best: Row) -> list[str]:
    if best.baseline is None or _error(best) < best.baseline:
        return []
    return [
        "For these questions, this way is no more accurate than two tables without a link, one of quasi-identifiers "
        "and one of sensitive values: use fewer or coarser quasi-identifiers, or a weaker principle."
    ]
