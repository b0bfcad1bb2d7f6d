# SPDX-License-Identifier: Apache-2.0
"""The report of `glasshouse.verify`: exact numbers, rounded in the conservative direction when shown."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.plural import counted
from glasshouse.verification.verdict import verdict_of
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.verification.verdict import Subject

__all__ = ["Achieved", "Attained", "Check", "Risk", "Verification", "WorstGroup", "line", "risk_of", "rounded_up"]

_SHORT_SERIES = 30  # group sizes from which the series for the journalist's risk converges quickly


@dataclass(frozen=True, kw_only=True, slots=True)
class Risk:
    """Re-identification risk from group sizes alone.

    A record in a group of size ``f`` is found with probability ``1 / f`` by a *prosecutor*, an attacker who knows that
    the target is in the table; highest and average are over records, and the average is groups / records. ``at_risk``
    is the share of records above the threshold. A *marketer* who matches everybody at random inside the groups gets
    that same average right (Dankar, El Emam, "A Method for Evaluating Marketer Re-identification Risk", PAIS 2010).

    A *journalist* is an attacker who knows only that the target is in the population. A group with ``f`` records in the
    table has F people in the population, and the attacker is right with probability 1 / F. F is not known: with the
    sampling fraction p = records / population, F - f is taken as negative binomial, which gives ``E[1/F] = p * integral
    from 0 to 1 of u^(f-1) / (p + (1-p) u) du`` (Benedetti, Franconi, "Statistical and technological solutions for
    controlled data dissemination", 1998; the individual risk of mu-Argus and sdcMicro). It assumes that everybody is
    equally likely to be in the table. Its average over records is the marketer's risk against a list of the whole
    population.
    """

    prosecutor_highest: Fraction
    prosecutor_average: Fraction
    threshold: Fraction
    at_risk: Fraction
    population: int | None = None
    journalist_highest: float | None = None
    journalist_average: float | None = None

    @property
    def marketer(self) -> Fraction:
        """Share of records that a match at random within the groups is expected to get right."""
        return self.prosecutor_average

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data; shares are rounded up."""
        journalist = {
            "population": self.population,
            "highest": self.journalist_highest,
            "average": self.journalist_average,
            "model": (
                "estimated with the model of Benedetti and Franconi (1998): the mean of 1 / (people of the group in "
                "the population), with a negative binomial distribution"
            ),
        }
        return {
            "prosecutor": {
                "highest": rounded_up(self.prosecutor_highest),
                "average": rounded_up(self.prosecutor_average),
            },
            "marketer": rounded_up(self.marketer),
            "threshold": float(self.threshold),
            "at_risk": rounded_up(self.at_risk),
            "journalist": journalist if self.population is not None else None,
        }

    def _lines(self) -> list[str]:
        lines = [
            "",
            "re-identification risk from group sizes",
            line("  prosecutor, highest", f"{rounded_up(self.prosecutor_highest):.6f}", "1 / smallest group"),
            line("  prosecutor, average", f"{rounded_up(self.prosecutor_average):.6f}", "groups / records"),
            line(
                "  records at risk",
                f"{rounded_up(self.at_risk):.6f}",
                f"share with a risk above {float(self.threshold):g}",
            ),
            line(
                "  marketer",
                f"{rounded_up(self.marketer):.6f}",
                "share of right matches if every record is matched at random within its group",
            ),
        ]
        if self.population is not None:
            model = f"mean of 1 / (people of the group in a population of {self.population:,}), negative binomial"
            lines += [
                line("  journalist, highest", f"{self.journalist_highest:.6f}", model),
                line(
                    "  journalist, average",
                    f"{self.journalist_average:.6f}",
                    ("also the marketer risk (the share of records that are matched correctly) for that population"),
                ),
            ]
        return lines


def risk_of(sizes: NDArray[np.int64], threshold: Fraction, population: int | None) -> Risk:
    """Compute the risks from the sizes of all groups."""
    n = int(sizes.sum())
    at_risk = int(sizes[sizes < math.ceil(1 / threshold)].sum()) if threshold > 0 else n  # 1 / size > threshold
    risk = Risk(
        prosecutor_highest=Fraction(1, int(sizes.min())),
        prosecutor_average=Fraction(len(sizes), n),
        threshold=threshold,
        at_risk=Fraction(at_risk, n),
    )
    if population is None:
        return risk
    each, how_many = np.unique(sizes, return_counts=True)
    expected = _expected_reciprocals(each, n / population)
    average = (expected * each * how_many).sum() / n
    # to what floating point is good for, then up
    highest, average = (Fraction(str(round(float(share), 12))) for share in (expected[0], average))
    return replace(
        risk,
        population=population,
        journalist_highest=rounded_up(highest),
        journalist_average=rounded_up(average),
    )


def _expected_reciprocals(sizes: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """Compute ``E[1/F]`` of `Risk`: ``p * I(f)``, where I(f) is the integral of ``u^(f-1) / (p + (1-p) u)``."""
    q = 1.0 - p
    # 1 / (1 - q (1-u)) as a geometric series gives the sum over i of q^i (f-1)! i! / (f+i)!
    term = 1.0 / sizes
    integral = term.copy()
    for i in range(200):
        term = term * q * (i + 1) / (sizes + i + 1)
        integral += term
    if q > 0.5:  # the series is slow for small groups of a small sample; I(f+1) = (1/f - p I(f)) / q is stable as p < q
        value = -math.log(p) / q
        for size in range(1, _SHORT_SERIES):
            integral[sizes == size] = value
            value = (1 / size - p * value) / q
    return np.asarray(p * integral)


_MILLION = 1_000_000  # what is shown has six digits
_WIDEST_CELL = 40  # characters of a cell that the text form shows
_MOST_SHOWN = 8  # recursive (c, ell) pairs that the text form shows
_EXPOSED = (
    "k and the re-identification risk are not given, because the release shows the exact quasi-identifiers of "
    "everybody: a person who is unique in them can be recognised, however large the group is"
)
_HIDDEN_BY_CELLS = (
    "k and the re-identification risk are about the rows with equal cells in the generalized tables, where people are "
    "looked for; everything else is about the groups of the sensitive values"
)
_IN_WORDS = {
    "ell": "l",
    "distinct_ell": "distinct l",
    "entropy_ell": "entropy l",
    "designated_ell": "designated l",
    "recursive": "recursive (c, l)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class WorstGroup:
    """A group that attains a number: its published cells, its size, and how many other groups do the same.

    A missing cell is None. Of several groups the one whose cells come first is named.
    """

    cells: Mapping[str, Any]
    size: int
    n_others: int = 0

    def __str__(self) -> str:
        cells = ", ".join(f"{name}={_cell(value)}" for name, value in self.cells.items())
        others = f", and {self.n_others:,} other{'s' * (self.n_others > 1)}" if self.n_others else ""
        return f"{cells} ({self.size:,} record{'s' * (self.size > 1)}{others})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attained:
    """A number, exactly, with the group that attains it."""

    exact: Fraction
    group: WorstGroup

    @property
    def up(self) -> float:
        """The number to six digits, rounded up: for what should be small."""
        return rounded_up(self.exact)

    @property
    def down(self) -> float:
        """The number to six digits, rounded down: for what should be large."""
        return math.floor(self.exact * _MILLION) / _MILLION


@dataclass(frozen=True, kw_only=True, slots=True)
class Achieved:
    """What the groups achieve for one sensitive column.

    Attributes
    ----------
    frequency
        The smallest of ``size / max_count``: frequency ell before it is made whole. Its reciprocal is alpha.
    distinct
        The smallest number of different values in a group.
    entropy
        ``exp`` of the smallest entropy, rounded down to a millionth.
    recursive
        For each ell the smallest c with ``n1 <= c * (n_ell + ... + n_m)`` in every group; ell goes up to the smallest
        number of different values, or to 100.
    closeness
        By ground distance (``equal``, ``ordered``, ``hierarchical``) the largest earth mover's distance between a
        group's distribution and the whole table's.
    distance
        Which of them is meant by ``t``.
    designated
        As `frequency`, of the designated values alone; None if there are none, or none occurs.

    Of a column of sets, records are counted that have each single value. These counts are no distribution: ``entropy``
    is None, and ``recursive`` and ``closeness`` are empty.
    """

    column: str
    n_values: int
    frequency: Attained
    most_frequent: Any
    distinct: Attained
    entropy: Attained | None
    recursive: Mapping[int, Attained]
    closeness: Mapping[str, Attained]
    distance: str
    designated: Attained | None = None

    @property
    def ell(self) -> int:
        """Frequency l-diversity: the largest whole ell with ``max_count * ell <= size`` in every group."""
        return math.floor(self.frequency.exact)

    @property
    def ell_exact(self) -> Fraction:
        """The smallest of ``size / max_count``, exactly."""
        return self.frequency.exact

    @property
    def alpha_exact(self) -> Fraction:
        """The largest share that one value has in a group, exactly."""
        return 1 / self.frequency.exact

    @property
    def alpha(self) -> float:
        """The largest share that one value has in a group, rounded up."""
        return rounded_up(self.alpha_exact)

    @property
    def distinct_ell(self) -> int:
        """The smallest number of different values in a group."""
        return int(self.distinct.exact)

    @property
    def entropy_ell(self) -> float | None:
        """``exp`` of the smallest entropy, rounded down; None of sets."""
        return None if self.entropy is None else self.entropy.down

    @property
    def t(self) -> float | None:
        """The largest earth mover's distance, by the column's `distance`, rounded up; None of sets."""
        return self.closeness[self.distance].up if self.closeness else None

    @property
    def t_exact(self) -> Fraction | None:
        """The largest earth mover's distance, by the column's `distance`, exactly; None of sets."""
        return self.closeness[self.distance].exact if self.closeness else None

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data."""
        frequency = _group(self.frequency.group)
        return {
            "values": self.n_values,
            "ell": {"value": self.ell, "exact": str(self.ell_exact), "group": frequency},
            "alpha": {
                "value": self.alpha,
                "exact": str(self.alpha_exact),
                "most_frequent": _jsonable(self.most_frequent),
                "group": frequency,
            },
            "distinct_ell": {"value": self.distinct_ell, "group": _group(self.distinct.group)},
            "entropy_ell": self.entropy and {"value": self.entropy_ell, "group": _group(self.entropy.group)},
            "designated_ell": self.designated and _attained(self.designated, self.designated.down),
            "recursive": [{"ell": ell, **_attained(c, c.up, name="c")} for ell, c in self.recursive.items()],
            "t": {
                "value": self.t,
                "distance": self.distance,
                **{distance: _attained(t, t.up) for distance, t in self.closeness.items()},
            }
            if self.closeness
            else None,
        }

    def _lines(self) -> list[str]:
        lines = [
            "",
            f"sensitive column {self.column} ({counted(self.n_values, 'value')})",
            line("  l, by frequency", f"{self.ell:,}", f"exactly {self.ell_exact}: {self.frequency.group}"),
            line("  alpha, largest share", f"{self.alpha:.6f}", f"of {_cell(self.most_frequent)}, in that group"),
            line("  distinct l", f"{self.distinct_ell:,}", str(self.distinct.group)),
        ]
        if self.entropy is not None:
            lines.append(line("  entropy l", f"{self.entropy.down:.6f}", str(self.entropy.group)))
        if self.designated:
            lines.append(line("  designated l", f"{self.designated.down:.6f}", str(self.designated.group)))
        shown = [(ell, c) for ell, c in self.recursive.items() if ell > 1][:_MOST_SHOWN]
        lines += [line(f"  recursive (c, {ell}), c", f"{c.up:.6f}", str(c.group)) for ell, c in shown]
        if len(self.recursive) > len(shown) + 1:
            lines.append(f"  ... and so on up to l = {len(self.recursive)}")
        lines += [line(f"  t, {name} distance", f"{t.up:.6f}", str(t.group)) for name, t in self.closeness.items()]
        return lines


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One threshold that was asked for: whether every group keeps it, and if not, the worst that do not.

    ``asked`` has the names of arguments, for programs; `Check.words` is the same for people. ``wrong`` says what is
    wrong where it is not about groups.
    """

    asked: str
    column: str | None
    n_failing: int
    n_tuples: int
    worst: tuple[WorstGroup, ...]
    wrong: str = ""

    @property
    def holds(self) -> bool:
        """Whether no group fails."""
        return self.n_failing == 0

    @property
    def words(self) -> str:
        """What was asked for, in words."""
        return words_for(self.asked)

    @property
    def what(self) -> str:
        """What was asked for, in words, and of which column."""
        return self.words if self.column is None else f"{self.words} for {self.column}"

    @property
    def fault(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        if self.holds:
            return ""
        if self.wrong:
            return self.wrong
        if not self.n_tuples:
            return f"this check failed: {self.what}"
        groups = counted(self.n_failing, "group")
        does = "does" if self.n_failing == 1 else "do"
        return f"{groups} with {counted(self.n_tuples, 'record')} {does} not satisfy {self.what}"

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data."""
        return {
            "asked": self.asked,
            "column": self.column,
            "holds": self.holds,
            "failing_groups": self.n_failing,
            "failing_tuples": self.n_tuples,
            "worst": [_group(group) for group in self.worst],
        }

    def _lines(self) -> list[str]:
        what = self.what
        if self.holds:
            return [f"  holds  {what}"]
        if not self.n_tuples:
            return [f"  FAILS  {what}{f': {self.wrong}' if self.wrong and self.wrong != what else ''}"]
        groups = f"{counted(self.n_failing, 'group')} with {counted(self.n_tuples, 'record')}"
        failing = f"violated by {groups}; the worst:"
        return [f"  FAILS  {what}: {failing}", *(f"           {group}" for group in self.worst)]


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification:
    """What a published table achieves, by any tool; `glasshouse.verify` makes one.

    `ell`, `distinct_ell`, `entropy_ell`, `alpha` and `t` are numbers if there is one sensitive column, mappings by
    column if there are several, and None if there is none. `columns` has everything, by column. `subject` is what a
    release says that it is, and None for a table. `k` and `risk` are None for a release that shows the exact
    quasi-identifiers of everybody, and those of its generalized tables where sensitive values are published apart.
    `alike` names the sensitive columns with values that may mean the same, and were counted as different values.
    """

    n_tuples: int
    n_groups: int
    quasi: tuple[str, ...]
    smallest: WorstGroup
    columns: Mapping[str, Achieved]
    risk: Risk | None
    checks: tuple[Check, ...] = ()
    counting: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    subject: Subject | None = None
    alike: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """What was found, in one sentence: whether a release keeps its guarantee, or what a table achieves."""
        return verdict_of(self)

    @property
    def k(self) -> int | None:
        """The number of rows that look alike, at least; None where exact quasi-identifiers are published."""
        return None if self.risk is None else self.smallest.size

    @property
    def average_size(self) -> Fraction:
        """The number of records per group."""
        return Fraction(self.n_tuples, self.n_groups)

    @property
    def ell(self) -> Any:
        """Frequency l-diversity: the largest whole ell with ``max_count * ell <= size`` in every group."""
        return self._of("ell")

    @property
    def distinct_ell(self) -> Any:
        """The smallest number of different sensitive values in a group."""
        return self._of("distinct_ell")

    @property
    def entropy_ell(self) -> Any:
        """``exp`` of the smallest entropy, rounded down."""
        return self._of("entropy_ell")

    @property
    def recursive(self) -> Any:
        """For each ell the smallest c, exactly, for which every group is recursively (c, ell)-diverse."""
        found = {name: {ell: c.exact for ell, c in of.recursive.items()} for name, of in self.columns.items()}
        return _alone(found)

    @property
    def alpha(self) -> Any:
        """The largest share that one sensitive value has in a group, rounded up."""
        return self._of("alpha")

    @property
    def t(self) -> Any:
        """The largest earth mover's distance, by the column's own ground distance, rounded up."""
        return self._of("t")

    @property
    def t_exact(self) -> Any:
        """The largest earth mover's distance, by the column's own ground distance, exactly."""
        return self._of("t_exact")

    @property
    def holds(self) -> bool | None:
        """Whether every threshold that was asked for is kept; None if none was."""
        return all(check.holds for check in self.checks) if self.checks else None

    def hidden_by(self, tables: Sequence[Verification]) -> Verification:
        """The same, with k and the risk from the tables whose cells hide people, if groups are counted in others.

        They are those of the table that hides people least.
        """
        worst = max(tables, key=lambda one: (1 / Fraction(one.smallest.size), Fraction(one.n_groups, one.n_tuples)))
        return replace(self, smallest=worst.smallest, risk=worst.risk, counting=(*self.counting, _HIDDEN_BY_CELLS))

    def exposed(self) -> Verification:
        """The same, without k and the risk, where exact quasi-identifiers are published, so that groups hide nobody."""
        return replace(self, risk=None, counting=(*self.counting, _EXPOSED))

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, ready for JSON."""
        return {
            "verdict": self.verdict,
            "tuples": self.n_tuples,
            "groups": self.n_groups,
            "average_size": float(self.average_size),
            "quasi": list(self.quasi),
            "k": {"value": self.k, "group": _group(self.smallest)},
            "sensitive": {name: column.to_dict() for name, column in self.columns.items()},
            "risk": self.risk and self.risk.to_dict(),
            "holds": self.holds,
            "checks": [check.to_dict() for check in self.checks],
            "counting": list(self.counting),
            "notices": list(self.notices),
        }

    def __repr__(self) -> str:
        of = ", ".join(
            f"{name}: ell={column.ell}" + ("" if column.t is None else f", t={column.t:g}")
            for name, column in self.columns.items()
        )
        return (
            f"Verification({counted(self.n_tuples, 'record')} in {counted(self.n_groups, 'group')}"
            f"{'' if self.k is None else f', k={self.k}'}"
            f"{('; ' if of else '')}{of})"
        )

    def __str__(self) -> str:
        lines = [
            f"{counted(self.n_tuples, 'record')}, quasi-identifiers {', '.join(self.quasi)}",
            line("groups", f"{self.n_groups:,}", f"{float(self.average_size):,.2f} records each on average"),
            line("smallest group" + ", k" * (self.k is not None), f"{self.smallest.size:,}", str(self.smallest)),
        ]
        for column in self.columns.values():
            lines += column._lines()
        lines += [] if self.risk is None else self.risk._lines()
        if self.checks:
            lines += ["", "asked for", *(line for check in self.checks for line in check._lines())]
        lines += ["", "how it was counted", *(f"  {line}" for line in (*self.counting, *self.notices))]
        return in_lines([*lines, "", self.verdict])

    def _of(self, attribute: str) -> Any:
        return _alone({name: getattr(column, attribute) for name, column in self.columns.items()})


def _alone(by_column: dict[str, Any]) -> Any:
    """The value for the only column; None if there is none."""
    return next(iter(by_column.values())) if len(by_column) == 1 else by_column or None


def words_for(asked: str) -> str:
    """What was asked for, for people: the usual name of a number instead of that of an argument.

    >>> words_for("distinct_ell = 3"), words_for("recursive = (2.5, 3)"), words_for("k = 5")
    ('distinct l = 3', 'recursive (c, l) = (2.5, 3)', 'k = 5')
    """
    name, equals, limit = asked.partition(" = ")
    return f"{_IN_WORDS.get(name, name)}{equals}{limit}"


def line(name: str, value: str, note: str) -> str:
    """Lay out one line of the text form."""
    return f"{name:<26} {value:>12}   {note}"


def _cell(value: Any) -> str:
    text = "(missing)" if value is None else str(value)
    return text if len(text) <= _WIDEST_CELL else f"{text[: _WIDEST_CELL - 3]}..."


def rounded_up(share: Fraction) -> float:
    """Round a share to six digits, upwards."""
    return math.ceil(share * _MILLION) / _MILLION


def _attained(attained: Attained, shown: float, *, name: str = "value") -> dict[str, Any]:
    return {name: shown, "exact": str(attained.exact), "group": _group(attained.group)}


def _group(group: WorstGroup) -> dict[str, Any]:
    cells = {name: _jsonable(value) for name, value in group.cells.items()}
    return {"cells": cells, "size": group.size, "others": group.n_others}


def _jsonable(value: Any) -> Any:
    """Convert a cell for JSON: dates in ISO form, other unsupported types as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    if isinstance(value, dict):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    return str(value)
