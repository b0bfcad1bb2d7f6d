# SPDX-License-Identifier: Apache-2.0
"""MINIMALITY Section 5: Figures 3 to 5.

Cormode, Li, Li, Srivastava, "Minimizing Minimality and Maximizing Utility: Analyzing Method-Based Attacks on Anonymized
Data", VLDB 2010.
"""

from __future__ import annotations

from math import e
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.adversary.knowledge import Knowledge
from glasshouse.adversary.reverse_engineering.greedy.sequences import GreedyGroups
from glasshouse.analyst.usefulness.losses import losses
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.errors import NotSupported
from glasshouse.grouping.along_order.greedy import Greedy, RandomisedGreedy
from glasshouse.grouping.along_order.symmetric import Symmetric
from glasshouse.grouping.anatomize.anatomize import Anatomize
from glasshouse.grouping.refinement import Refined
from glasshouse.log import step
from glasshouse.microdata import read
from glasshouse.papers import claims
from glasshouse.papers.claims import Claim, Verdict
from glasshouse.papers.measurement import SEED, Asked, published
from glasshouse.papers.results import Figure, Table, figure_of, number
from glasshouse.plural import counted
from glasshouse.principles.l_diversity import DesignatedLDiversity, LDiversity
from glasshouse.principles.t_closeness import TCloseness
from glasshouse.randomness import Source
from glasshouse.recoding.anatomy import Permutation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.adversary.posterior import Posterior
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.papers.data import Data
    from glasshouse.papers.results import Curve
    from glasshouse.principles.principle import Principle
    from glasshouse.release import Release

__all__ = ["DEPARTURES", "QUESTIONS", "ROWS", "TITLE", "experiments", "judged"]

TITLE = "MINIMALITY: Figures 3 to 5"
ROWS = 45_222
QUESTIONS = 1000
QUASI = ("age", "workclass", "education", "marital", "race", "gender")
ELLS = (2, 3, 4, 5, 6, 7, 8, 9, 10)
TS = ("0.1", "0.15", "0.2", "0.3", "0.4", "0.5")
PS = ("0", "0.2", "0.4", "0.6", "0.65")
ELL, P = 6, "0.65"
DIMENSIONS = (1, 2, 3, 4, 5, 6)
SELECTIVITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
BASE = "Base"
CORRELATED = ("RGG", "SG", BASE)
MOST_STATES, MOST_TRIALS = 20_000_000, 5_000_000

DEPARTURES = (
    "The paper's table is Adult, and its two sensitive values are Tech-support and Craft-repair. On other tables a "
    "rare and a frequent occupation replace them.",
    "Probabilities are exact, where the paper estimates them from samples. People are put into an order by their "
    "quasi-identifiers, and no two have the same place in it, because the last quasi-identifier is a different "
    "number for everybody. A curve has a gap where the guarantee is not possible for the table, or where so many "
    "people at the end of the order form no group that their possible values cannot be counted.",
    "Only people who are published are counted: Theorem 6 says nothing about people at the end of the order who form "
    "no group.",
    "t-closeness is used for a single yes-or-no value: whether a person has the chosen occupation.",
    "For Figures 4c to 5d the last group is merged into the one before it, so that everybody is published, and "
    "each question asks for at least one value of a column. GG is the method greedy, RGG is randomised-greedy, and "
    "SG is symmetric. *(Ana)* means that the groups are divided again by the method anatomize, and *Base*, the "
    "baseline, is the exact quasi-identifiers and the sensitive column without any link. Figure 5 uses frequency "
    "l-diversity, the method RGG with p = 0.65, and the method SG with l + 1. The paper does not state l, nor qd (how "
    "many quasi-identifiers a question asks about) and sel (the largest share of the values of a column that it asks "
    "for): here l is 6, or the largest that is possible with SG, and qd = 4 and sel = 0.5 where they are not varied.",
    "The positive questions are those whose true count is far *above* the count that one would expect if the "
    "columns did not depend on each other; the paper has the words positive and negative swapped.",
    "The paper uses words where a check needs numbers. Here *close to twice* means at most 2.2 times, *not much* "
    "means at most twice, and *often half* means at most 0.55 times, at half of the points or more.",
)


def experiments(data: Data, questions: int) -> list[Figure | Table]:
    """Measure every figure."""
    plain = data.table.select([*QUASI, "occupation"])
    numbered = plain.append_column("number", pa.array(np.arange(plain.num_rows)))
    with step("figure 3", rows=data.n):
        found = [*_greedy(numbered, data.designated), *_closeness(numbered, data.designated)]
    with step("figure 4", rows=data.n):
        found += _randomised(numbered, _read(plain), data.designated, questions)
    with step("figure 5", rows=data.n):
        found += aggregates(_read(plain), questions)
    return list(found)


def _read(table: pa.Table, sensitive: str = "occupation") -> Microdata:
    quasi = [*QUASI, "number"] if "number" in table.column_names else list(QUASI)
    return read(table, quasi=quasi, sensitive=sensitive, categorical=[sensitive])


# --- probabilities ----------------------------------------------------------------------------------------------------


def beliefs(table: Microdata, principle: Principle, method: Method, value: int) -> NDArray[np.float64] | None:
    """The probability of one value for everybody who is published, for an attacker who knows the algorithm."""
    release = published(table, principle, method, Permutation())
    if release is None:
        return None
    algorithm = principle, method, Permutation()
    try:
        strategy = GreedyGroups(source=Source.seeded(SEED), most_states=MOST_STATES, most_trials=MOST_TRIALS)
        posterior = strategy.attack(release, Knowledge(external=table), algorithm)
    except NotSupported:
        return None
    order = np.lexsort([column.codes for column in reversed(table.quasi)])  # who is dropped stands at its end
    return _in_value(posterior, value)[order[: release.n_tuples]]


def _in_value(found: Posterior, value: int) -> NDArray[np.float64]:
    code = found.values.index(value)
    by_kind = np.zeros(len(found.presence))
    of_kind = np.repeat(np.arange(len(by_kind)), np.diff(found.offsets))
    by_kind[of_kind[found.codes == code]] = found.beliefs[found.codes == code]
    return by_kind[found.kind]


def _exposed(found: NDArray[np.float64] | None, limit: float) -> tuple[float | None, float | None]:
    """The share of people above a limit, in percent, and the largest probability as a multiple of it."""
    if found is None:
        return None, None
    return 100 * float(np.mean(found > limit * (1 + 1e-9))), float(found.max() / limit)


def _greedy(numbered: pa.Table, designated: Mapping[str, int]) -> list[Figure]:
    """Figure 3(a) and (b): GG under l-diversity of one value."""
    table = _read(numbered)
    shares: dict[str, dict[float, float | None]] = {}
    multiples: dict[str, dict[float, float | None]] = {}
    for name, value in designated.items():
        shares[name], multiples[name] = {}, {}
        for ell in ELLS:
            found = beliefs(table, DesignatedLDiversity(ell=ell, values=(value,)), Greedy(last="drop"), value)
            shares[name][float(ell)], multiples[name][float(ell)] = _exposed(found, 1 / ell)
    return [
        _figure("figure-3a", "GG, l-diversity: people with a probability above 1/l", "l", "people (%)", shares),
        _figure(
            "figure-3b",
            "GG, l-diversity: the largest probability, as a multiple of 1/l",
            "l",
            "multiple of 1/l",
            multiples,
        ),
    ]


def _closeness(numbered: pa.Table, designated: Mapping[str, int]) -> list[Figure]:
    """Figure 3(c) and (d): GG under t-closeness of whether somebody has the value."""
    shares: dict[str, dict[float, float | None]] = {}
    multiples: dict[str, dict[float, float | None]] = {}
    place = numbered.column_names.index("occupation")
    for name, value in designated.items():
        has = pc.cast(pc.equal(numbered["occupation"], value), pa.int8())
        table = _read(numbered.set_column(place, "occupation", has))
        overall = float(pc.mean(has).as_py())
        shares[name], multiples[name] = {}, {}
        for t in TS:
            found = beliefs(table, TCloseness(t=t), Greedy(), 1)
            distance = None if found is None else np.abs(found - overall)
            shares[name][float(t)], multiples[name][float(t)] = _exposed(distance, float(t))
    return [
        _figure("figure-3c", "GG, t-closeness: people farther than t", "t", "people (%)", shares),
        _figure(
            "figure-3d", "GG, t-closeness: the largest distance, as a multiple of t", "t", "multiple of t", multiples
        ),
    ]


def _randomised(numbered: pa.Table, plain: Microdata, designated: Mapping[str, int], questions: int) -> list[Figure]:
    """Figure 4: RGG under 6-diversity of one value, and what it costs."""
    table = _read(numbered)
    asked = Asked(plain, Workload.minimality(plain, n=questions, seed=SEED))
    found: dict[str, dict[str, dict[float, float | None]]] = {letter: {} for letter in "abcd"}
    for name, value in designated.items():
        principle = DesignatedLDiversity(ell=ELL, values=(value,))
        for letter in "abcd":
            found[letter][name] = {}
        for p in PS:
            believed = beliefs(table, principle, RandomisedGreedy(p=p, last="drop"), value)
            found["a"][name][float(p)], found["b"][name][float(p)] = _exposed(believed, 1 / ELL)
            release = published(plain, principle, RandomisedGreedy(p=p), Permutation())
            found["c"][name][float(p)] = None if release is None else float(losses(release).average_size)
            found["d"][name][float(p)] = asked.error(release)
    return [
        _figure("figure-4a", "RGG, 6-diversity: people with a probability above 1/6", "p", "people (%)", found["a"]),
        _figure(
            "figure-4b",
            "RGG, 6-diversity: the largest probability, as a multiple of 1/6",
            "p",
            "multiple of 1/6",
            found["b"],
        ),
        _figure("figure-4c", "RGG, 6-diversity: average size of a group", "p", "tuples", found["c"]),
        _figure("figure-4d", "RGG, 6-diversity: query error", "p", "average relative error (%)", found["d"]),
    ]


# --- what is lost -----------------------------------------------------------------------------------------------------


def aggregates(table: Microdata, questions: int, ell: int = ELL) -> list[Figure]:
    """Figure 5: errors against qd and sel, of all questions and of correlated ones."""
    releases = _releases(table, ell)
    shown = []
    sweeps = {
        "qd": {float(qd): Workload.minimality(table, qd=qd, n=questions, seed=qd) for qd in DIMENSIONS},
        "sel": {s: Workload.minimality(table, s=s, n=questions, seed=SEED) for s in SELECTIVITIES},
    }
    for letter, (axis, workloads) in zip("ab", sweeps.items(), strict=True):
        by_place = {place: Asked(table, workload).errors(releases, BASE) for place, workload in workloads.items()}
        title = f"Query error against {axis}"
        shown.append(figure_of(f"figure-5{letter}", title, axis, by_place, log=False))
    for letter, (axis, workloads) in zip("cd", sweeps.items(), strict=True):
        by_place = {}
        for place, workload in workloads.items():
            by_place[place] = {}
            for side, some in zip(("positive", "negative"), workload.correlated(table), strict=True):
                errors = Asked(table, some).errors(releases, BASE)
                by_place[place] |= {f"{name}, {side}": errors[name] for name in CORRELATED}
        title = f"Query error of correlated questions against {axis}"
        shown.append(figure_of(f"figure-5{letter}", title, axis, by_place, log=False))
    return shown


def _releases(table: Microdata, ell: int) -> dict[str, Release | None]:
    most = np.bincount(table.sensitive[0].codes).max()
    ell = max(2, min(ell, int(table.n_tuples // most) - 1))
    greedy, symmetric = RandomisedGreedy(p=P), Symmetric(extra=1)
    methods = {
        "RGG": greedy,
        "SG": symmetric,
        "RGG(Ana)": Refined(coarse=greedy),
        "SG(Ana)": Refined(coarse=symmetric),
        "Base(Ana)": Anatomize(),
    }
    return {name: published(table, LDiversity(ell=ell), method, Permutation()) for name, method in methods.items()}


def _figure(name: str, title: str, x: str, y: str, curves: Mapping[str, Curve]) -> Figure:
    return Figure(name=name, title=title, x=x, y=y, curves=curves)


# --- claims -----------------------------------------------------------------------------------------------------------


def judged(results: Sequence[Figure | Table]) -> list[Claim]:
    """The verdicts on the paper's claims, from the measurements."""
    stated = [*_about_beliefs(results), *about_errors(results)]
    return [Claim(text=text, where=where, verdict=verdict) for text, where, verdict in stated]


def _about_beliefs(results: Sequence[Figure | Table]) -> list[tuple[str, str, Verdict]]:
    """Claims about Figures 3 and 4."""
    figures = {shown.name: shown for shown in results if isinstance(shown, Figure)}

    def curves(name: str) -> Mapping[str, Curve]:
        return figures[f"figure-{name}"].curves

    rare = next(iter(curves("4b")))
    at_06 = {rare: {0.6: curves("4b")[rare].get(0.6)}}
    at_065 = {name: {0.65: curve.get(0.65)} for name, curve in curves("4b").items()}
    return [
        (
            "Few people are vulnerable to the attack on GG: mostly below 10 %",
            "5.1, Figure 3a",
            _mostly(curves("3a"), 10),
        ),
        ("The share of vulnerable people grows with l", "5.1, Figure 3a", claims.rises(curves("3a"))),
        (
            "Where anybody is vulnerable, the largest probability is at least 2/l",
            "5.1, Figure 3b",
            claims.above(_vulnerable(curves("3b")), 2 * (1 - 1e-9)),
        ),
        ("The largest probability is at most e/l (e = 2.718)", "5.1, Figure 3b", claims.below(curves("3b"), e)),
        ("Under t-closeness about 2 % are vulnerable at most", "5.1, Figure 3c", claims.below(curves("3c"), 2.5, " %")),
        ("The share of vulnerable people grows as t shrinks", "5.1, Figure 3c", claims.falls(curves("3c"))),
        ("The distance is at most twice t", "5.1, Figure 3d", claims.below(curves("3d"), 2.2)),
        ("RGG: the share of vulnerable people falls with p", "5.2, Figure 4a", claims.falls(curves("4a"))),
        (
            f"p = 0.6 protects everybody from a probability of {rare} above 1/6",
            "5.2, Figure 4b",
            claims.below(at_06, 1 + 1e-9, " times 1/6"),
        ),
        (
            f"p = 0.65 protects everybody from a probability of {' or of '.join(at_065)} above 1/6",
            "5.2, Figure 4b",
            claims.below(at_065, 1 + 1e-9, " times 1/6"),
        ),
        ("The largest probability falls with p", "5.2, Figure 4b", claims.falls(curves("4b"))),
        ("Groups grow with p to at most twice their size", "5.2, Figure 4c", claims.alike(curves("4c"), 2)),
        ("The query error grows with p to at most twice its size", "5.2, Figure 4d", claims.alike(curves("4d"), 2)),
    ]


def about_errors(results: Sequence[Figure | Table]) -> list[tuple[str, str, Verdict]]:
    """Claims about Figure 5: statements, their places, and verdicts."""
    figures = {shown.name: shown for shown in results if isinstance(shown, Figure)}

    def curves(name: str) -> Mapping[str, Curve]:
        return figures[f"figure-{name}"].curves

    def pairs(one: str, other: str, *names: str) -> dict[str, tuple[Curve, Curve]]:
        return {f"{one} and {other}, Figure {name}": (curves(name)[one], curves(name)[other]) for name in names}

    ordering = {**pairs("RGG", "SG", "5a", "5b"), **pairs("RGG", BASE, "5a", "5b")}
    anatomized = {**pairs("RGG(Ana)", "SG(Ana)", "5a", "5b"), **pairs("RGG(Ana)", "Base(Ana)", "5a", "5b")}
    finer = {**pairs("RGG(Ana)", "RGG", "5a", "5b"), **pairs("SG(Ana)", "SG", "5a", "5b")}
    correlated = {
        f"{side}, Figure {name}": (curves(name)[f"RGG, {side}"], curves(name)[f"{BASE}, {side}"])
        for name in ("5c", "5d")
        for side in ("positive", "negative")
    }
    return [
        ("RGG has a lower error than SG and the baseline", "5.3, Figure 5a, b", claims.less(ordering)),
        (
            "RGG also has a lower error than SG and the baseline after anatomization",
            "5.3, Figure 5a, b",
            claims.less(anatomized),
        ),
        ("Anatomization reduces errors", "5.3, Figure 5a, b", claims.less(finer)),
        ("Errors fall as qd rises", "5.3, Figure 5a", claims.falls(curves("5a"))),
        ("Errors fall as sel rises", "5.3, Figure 5b", claims.falls(curves("5b"))),
        ("Errors of correlated questions fall with qd", "5.3, Figure 5c", claims.falls(curves("5c"))),
        ("Errors of correlated questions fall with sel", "5.3, Figure 5d", claims.falls(curves("5d"))),
        (
            "For correlated questions RGG often has half the error of the baseline",
            "5.3, Figure 5c, d",
            _often(correlated),
        ),
    ]


def _vulnerable(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """The points at which the largest probability is above the limit."""
    return {
        name: {place: value for place, value in curve.items() if value is not None and value > 1 + 1e-9}
        for name, curve in curves.items()
    }


def _mostly(curves: Mapping[str, Curve], limit: float) -> Verdict:
    """More than half of all points are below a limit."""
    values = [value for curve in curves.values() for value in curve.values() if value is not None]
    if not values:
        return claims.NOTHING
    met = sum(value < limit for value in values)
    most, below = f"at most {number(max(values))} %", f"{'is' if met == 1 else 'are'} below {number(limit)} %"
    said = f"{met} of {counted(len(values), 'point')} {below}, {most}"
    return Verdict(holds=2 * met > len(values), said=said)


def _often(pairs: Mapping[str, tuple[Curve, Curve]], share: float = 0.55) -> Verdict:
    """At half of the points or more the first curve has at most a share of the second."""
    found = []
    for one, other in pairs.values():
        for place, value in one.items():
            against = other.get(place)
            if value is not None and against:
                found.append(value / against)
    if not found:
        return claims.NOTHING
    met = sum(quotient <= share for quotient in found)
    said = f"at {met} of {len(found)} points; the median is {number(float(np.median(found)))} of the other error"
    return Verdict(holds=2 * met >= len(found), said=said)
