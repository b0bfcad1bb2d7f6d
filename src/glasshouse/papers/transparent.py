# SPDX-License-Identifier: Apache-2.0
"""TRANSPARENT Section 4: Figures 11 to 15, Tables XII to XIV.

Xiao, Tao, Koudas, "Transparent Anonymization: Thwarting Adversaries Who Know the Algorithm", ACM TODS 35(2), 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.engines import Memory
from glasshouse.errors import Infeasible
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.grouping.method import Method
from glasshouse.grouping.transparent.ace import Ace
from glasshouse.grouping.transparent.hybrid import Hybrid
from glasshouse.grouping.transparent.tailor import Tailor
from glasshouse.journeys.evaluate import DELTA
from glasshouse.log import step
from glasshouse.microdata.synthetic import TRANSPARENT_QUASI
from glasshouse.papers import claims
from glasshouse.papers.claims import Claim, Verdict
from glasshouse.papers.measurement import SEED, Asked, published, seconds, seconds_to_generalize
from glasshouse.papers.results import Figure, Table, figure_of, number
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.principle import Adversary, Requirement
from glasshouse.principles.principle import Claim as Promise
from glasshouse.randomness import Source
from glasshouse.recoding.generalization import Boxes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from glasshouse.microdata import Groups, Microdata
    from glasshouse.papers.data import Data
    from glasshouse.papers.results import Curve
    from glasshouse.release import Release

__all__ = ["DEPARTURES", "QUESTIONS", "ROWS", "TITLE", "correlation_ratio", "experiments", "judged", "mask"]

TITLE = "TRANSPARENT: Figures 11 to 15, Tables XII to XIV"
ROWS = 600_000
QUESTIONS = 1000
ELLS = (6, 7, 8, 9, 10)
ELL = 8
DIMENSIONS = (2, 3, 4, 5)
SHARES = (0.02, 0.04, 0.06, 0.08, 0.10)
TIMES = (1, 2, 4, 8, 16)
METHODS: dict[str, Any] = {"Hybrid": Hybrid(), "Mondrian": Mondrian(), "Tailor": Tailor(), "Ace": Ace()}
MASK = "Mask"

DEPARTURES = (
    "Neither table is the paper's: OCC and SAL may not be redistributed.",
    "Mask protects all sensitive values, its k-anonymous partition is Mondrian's, and k = l; the paper says only that "
    "k = l.",
    "*Independence* is our addition: the answers of two tables without any link, the exact quasi-identifiers and the "
    "sensitive column by itself. A method that is no better than this has shown nothing about how the two depend on "
    "each other.",
    "In the figures, qd is how many quasi-identifiers a question asks about, and s is the share of all combinations of "
    "values for which it asks.",
    "Times are processor seconds on one thread, to divide a table and to write its boxes; larger tables are copies of "
    "the first, as in the paper.",
    "The paper uses words where a check needs numbers. Here *almost the same utility* means at most 1.5 times the "
    "error, *almost linear* means at most in proportion to n^1.15 (n is the number of records), *slightly higher* "
    "means at most twice, *insensitive* means at most 1.5 times, and *rapidly* means to less than half.",
)
_PAPER_XIV = {
    "OCC": {"age": 0.49, "gender": 0.62, "education": 0.28, "birthplace": 0.38},
    "SAL": {"age": 0.71, "gender": 0.87, "education": 0.41, "birthplace": 0.50},
}


def experiments(data: Data, questions: int, times: Sequence[int] = TIMES) -> list[Figure | Table]:
    """Measure every figure and table.

    Figure 14 takes so many copies of the table as ``times`` says.
    """
    tables = {name: data.read(TRANSPARENT_QUASI, column) for name, column in data.sensitive.items()}
    found: list[Figure | Table] = [_sizes(tables), _parameters(), _correlations(tables)]
    for letter, (name, table) in zip("ab", tables.items(), strict=False):
        with step("publish", rows=table.n_tuples):
            releases = {ell: _releases(table, ell) for ell in ELLS}
        with step("figures 11 to 13", rows=table.n_tuples):
            found += _accuracy(letter, name, table, releases, questions)
    for letter, (name, table) in zip("ab", tables.items(), strict=False):
        with step("figures 14 and 15", rows=table.n_tuples):
            found += _costs(letter, name, table, times)
    return found


# --- utility ----------------------------------------------------------------------------------------------------------


def _releases(table: Microdata, ell: int) -> dict[str, Release | None]:
    found = {name: published(table, LDiversity(ell=ell), method, Boxes()) for name, method in METHODS.items()}
    try:
        masked, groups = mask(table, ell, source=Source.seeded(SEED))
    except Infeasible:
        return found | {MASK: None}
    return found | {MASK: published(masked, KAnonymity(k=ell), _Made(groups), Boxes())}


def _accuracy(
    letter: str, name: str, table: Microdata, releases: Mapping[int, Mapping[str, Release | None]], questions: int
) -> list[Figure | Table]:
    """Figures 11 to 13 of one table."""
    most = len(table.quasi) + 1

    def asked(qd: int, s: float) -> Asked:
        return Asked(table, Workload.transparent(table, qd=min(qd, most), s=s, n=questions, seed=qd), DELTA)

    usual = asked(5, 0.06)
    against_ell = {float(ell): usual.errors(releases[ell]) for ell in ELLS}
    against_qd = {float(qd): asked(qd, 0.06).errors(releases[ELL]) for qd in DIMENSIONS}
    against_s = {100 * s: asked(5, s).errors(releases[ELL]) for s in SHARES}
    return [
        figure_of(f"figure-11{letter}", f"{name}: query error against l (s = 6 %, qd = 5)", "l", against_ell),
        figure_of(f"figure-12{letter}", f"{name}: query error against qd (l = 8, s = 6 %)", "qd", against_qd),
        figure_of(f"figure-13{letter}", f"{name}: query error against s (l = 8, qd = 5)", "s (%)", against_s),
    ]


# --- Mask: values of groups that are not l-diverse are overwritten; a competitor, for its figures alone ---------------
#
# Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007, as TRANSPARENT's appendix
# has it (its Figure 1). It publishes values that nobody has, so it is no method of this library. What the papers leave
# open: V, the values to protect, are all of them; k is l, as in TRANSPARENT 4.1; the k-anonymous partition is
# Mondrian's; and a group takes the distribution of one of another size by as evenly spaced a choice of its values as
# there is.


def mask(table: Microdata, ell: int, *, source: Source, threads: int = 0) -> tuple[Microdata, Groups]:
    """Divide a table by quasi-identifiers alone, and overwrite the sensitive values of groups that are not l-diverse.

    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(400, seed=1)
    >>> masked, groups = mask(table, 2, source=gh.Source.seeded(1))
    >>> bool(groups.sizes.min() >= 2), masked.n_tuples
    (True, 400)
    """
    requirement = Requirement.of(KAnonymity(k=ell), table)
    requirement.check_eligible()
    groups = Mondrian().divide(table, requirement, source=source, engine=Memory(threads=threads))  # line 1
    column = table.sensitive[0]
    most = _most_frequent(groups, column.codes, column.domain.size)
    spoiled = np.flatnonzero(most * ell > groups.sizes)  # P1, lines 3 to 6
    models = np.flatnonzero(most * ell <= groups.sizes)  # P2
    if not len(models):
        raise Infeasible(
            f"Mask at l = {ell}: no group of {ell} or more records is l-diverse, so Mask has no group whose "
            "distribution it could copy"
        )
    chosen = models[source.child("mask").belows(len(models), len(spoiled))]  # line 8
    order = np.lexsort((column.codes, groups.labels))
    sizes, starts = groups.sizes[spoiled], groups.offsets[spoiled]
    owner = np.repeat(np.arange(len(spoiled)), sizes)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    model = chosen[owner]
    taken = groups.offsets[model] + (2 * step + 1) * groups.sizes[model] // (2 * sizes[owner])
    codes = column.codes.copy()
    codes[order[starts[owner] + step]] = column.codes[order[taken]]  # line 9
    return replace(table, sensitive=(replace(column, codes=codes),)), groups


def _most_frequent(groups: Groups, codes: Any, n_values: int) -> Any:
    """The number of occurrences of the most frequent value of every group."""
    pairs, times = np.unique(groups.labels.astype(np.int64) * n_values + codes, return_counts=True)
    most = np.zeros(groups.n_groups, np.int64)
    np.maximum.at(most, pairs // n_values, times)
    return most


@dataclass(frozen=True, eq=False)
class _Made(Method):
    """A method whose groups are made already, so that they can be published like any other's."""

    name: ClassVar[str] = "mask"
    randomised: ClassVar[bool] = True

    groups: Groups

    def claim(self, requirement: Requirement) -> Promise:
        """Guarantee nothing except what is counted again."""
        del requirement
        return Promise(adversary=Adversary.LINKING, theorem="recounted from the published tables", limits=())

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        del table, requirement, source, engine
        return self.groups

    def to_data(self) -> dict[str, Any]:
        """The name of the method as plain data."""
        return {"name": self.name}


# --- cost -------------------------------------------------------------------------------------------------------------


def _costs(letter: str, name: str, table: Microdata, times: Sequence[int]) -> list[Figure | Table]:
    """Figures 14 and 15 of one table."""
    by_n: dict[float, dict[str, float | None]] = {}
    for copies in times:
        larger = table.take(np.tile(np.arange(table.n_tuples), copies))
        by_n[float(larger.n_tuples)] = _seconds(larger, ELL)
        del larger
    by_ell = {float(ell): _seconds(table, ell) for ell in ELLS}
    y = "processor seconds"
    return [
        figure_of(f"figure-14{letter}", f"{name}: time against the number of records (l = 8)", "n", by_n, y=y),
        figure_of(f"figure-15{letter}", f"{name}: time against l", "l", by_ell, y=y),
    ]


def _seconds(table: Microdata, ell: int) -> dict[str, float | None]:
    found = {
        name: seconds_to_generalize(table, LDiversity(ell=ell), method, Boxes()) for name, method in METHODS.items()
    }

    def masking() -> None:
        masked, groups = mask(table, ell, source=Source.seeded(SEED), threads=1)
        Boxes().recode(masked, groups)

    try:
        found[MASK] = seconds(masking)
    except Infeasible:
        found[MASK] = None
    return found


# --- tables -----------------------------------------------------------------------------------------------------------


def _sizes(tables: Mapping[str, Microdata]) -> Table:
    first = next(iter(tables.values()))
    columns = [*first.quasi, *(table.sensitive[0] for table in tables.values())]
    paper = {"age": 79, "gender": 2, "education": 17, "birthplace": 57, "occupation": 50, "income": 50}
    return Table(
        name="table-XII",
        title="Sizes of domains",
        columns=["", *(column.name for column in columns)],
        rows=[
            ["the paper", *(float(paper[column.name]) for column in columns)],
            ["here", *(float(len(column.domain.values)) for column in columns)],
        ],
    )


def _parameters() -> Table:
    rows: list[list[str | float | None]] = [
        ["l", ", ".join(map(str, ELLS)), float(ELL)],
        ["query dimensionality qd", ", ".join(map(str, DIMENSIONS)), 5.0],
        ["expected selectivity s", ", ".join(f"{s:.0%}" for s in SHARES), "6%"],
    ]
    return Table(name="table-XIII", title="Parameters", columns=["parameter", "values", "usual"], rows=rows)


def _correlations(tables: Mapping[str, Microdata]) -> Table:
    rows: list[list[str | float | None]] = []
    for name, table in tables.items():
        rows.append([f"{name}, the paper", *(_PAPER_XIV[name][column.name] for column in table.quasi)])
        values = table.sensitive[0].codes
        ratios = [correlation_ratio(column.domain.positions[column.codes], values) for column in table.quasi]
        rows.append([f"{name}, here", *ratios])
    return Table(
        name="table-XIV",
        title="Correlation ratios: how much of each quasi-identifier the sensitive value explains",
        columns=["", *TRANSPARENT_QUASI],
        rows=rows,
    )


def correlation_ratio(amounts: Any, labels: Any) -> float:
    """``sqrt(Var(E[amount | label]) / Var(amount))``, of Kendall and Stuart.

    >>> correlation_ratio(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    times = np.bincount(labels)
    means = np.bincount(labels, weights=amounts) / np.maximum(times, 1)
    spread = np.average((means - amounts.mean()) ** 2, weights=times)
    return float(np.sqrt(spread / amounts.var()))


# --- claims -----------------------------------------------------------------------------------------------------------


def judged(results: Sequence[Figure | Table]) -> list[Claim]:
    """The verdicts on the paper's claims, from the measurements."""
    figures = {shown.name: shown for shown in results if isinstance(shown, Figure)}

    def panels(number: int) -> dict[str, Figure]:
        named = {"a": "OCC", "b": "SAL"}
        return {named[key[-1]]: shown for key, shown in figures.items() if key[:-1] == f"figure-{number}"}

    def curves(number: int, *names: str) -> dict[str, Curve]:
        return {f"{t} {name}": shown.curves[name] for t, shown in panels(number).items() for name in names}

    def pairs(one: str, other: str, *numbers: int) -> dict[str, tuple[Curve, Curve]]:
        return {
            f"{t}, Figure {n}": (shown.curves[one], shown.curves[other])
            for n in numbers
            for t, shown in panels(n).items()
        }

    utility: Callable[..., Verdict] = lambda one, other, **how: claims.less(pairs(one, other, 11, 12, 13), **how)  # noqa: E731
    accurate = (MASK, *METHODS)
    ace = {n: panels(n) for n in (11, 12, 13)}
    both = {f"Figure {n}": (p["OCC"].curves["Ace"], p["SAL"].curves["Ace"]) for n, p in ace.items() if "SAL" in p}
    stated: list[tuple[str, str, Verdict]] = [
        ("Errors of all methods grow with l", "4.2, Figure 11", claims.rises(curves(11, *accurate))),
        ("Hybrid is almost as useful as Mondrian", "4.2, Figures 11-13", utility("Hybrid", "Mondrian", times=1 / 1.5)),
        ("Hybrid has a lower error than Tailor", "4.2, Figures 11-13", utility("Hybrid", "Tailor")),
        ("Hybrid has a lower error than Ace", "4.2, Figures 11-13", utility("Hybrid", "Ace")),
        ("Hybrid has a lower error than Mask in all cases", "4.2, Figures 11-13", utility("Hybrid", MASK)),
        ("Ace is worse on SAL than on OCC", "4.2, Figures 11-13", claims.less(both)),
        (
            "Hybrid and Mondrian are accurate: errors below 10 %",
            "4.2, Figure 12",
            claims.below(curves(12, "Hybrid", "Mondrian"), 10, " %"),
        ),
        ("Errors fall as qd rises", "4.2, Figure 12", claims.falls(curves(12, *accurate))),
        ("Errors fall as s rises", "4.2, Figure 13", claims.falls(curves(13, *accurate))),
        ("Incomes depend on every quasi-identifier more than occupations do", "4.2, Table XIV", _depends(results)),
        ("All but Mask scale almost linearly", "4.3, Figure 14", claims.scales(curves(14, *METHODS), most=1.15)),
        ("Mask scales worse than linearly", "4.3, Figure 14", claims.scales(curves(14, MASK), least=1.15)),
        (
            "Hybrid takes slightly longer than Mondrian",
            "4.3, Figure 14",
            claims.less(pairs("Hybrid", "Mondrian", 14), times=0.5),
        ),
        (
            "The times of Ace, Mondrian and Mask do not depend on l",
            "4.3, Figure 15",
            claims.alike(curves(15, "Ace", "Mondrian", MASK), 1.5),
        ),
        (
            "The times of Tailor and Hybrid fall rapidly with l",
            "4.3, Figure 15",
            _rapidly(curves(15, "Tailor", "Hybrid")),
        ),
        (
            "Hybrid takes less than 5 minutes for nearly 10 million records",
            "4.3, Figure 14",
            _minutes(curves(14, "Hybrid")),
        ),
    ]
    return [Claim(text=text, where=where, verdict=verdict) for text, where, verdict in stated]


def _depends(results: Sequence[Figure | Table]) -> Verdict:
    table = next(shown for shown in results if shown.name == "table-XIV")
    rows = {str(row[0]): dict(zip(TRANSPARENT_QUASI, row[1:], strict=True)) for row in table.cells()}
    if "SAL, here" not in rows:
        return claims.NOTHING
    found = {name: (rows["OCC, here"][name], rows["SAL, here"][name]) for name in TRANSPARENT_QUASI}
    said = ", ".join(f"{name} {number(_float(a))} and {number(_float(b))}" for name, (a, b) in found.items())
    return Verdict(holds=all(_float(a) < _float(b) for a, b in found.values()), said=f"OCC and SAL: {said}")


def _rapidly(curves: Mapping[str, Curve]) -> Verdict:
    ends = claims.ends(curves)
    if not ends:
        return claims.NOTHING
    said = "; ".join(f"{name} {number(first)} to {number(last)} s" for name, (first, last) in ends.items())
    return Verdict(holds=all(last < first / 2 for first, last in ends.values()), said=said)


def _minutes(curves: Mapping[str, Curve], enough: float = 9e6) -> Verdict:
    found = [
        (place, value, name) for name, curve in curves.items() for place, value in curve.items() if value is not None
    ]
    if not found:
        return claims.NOTHING
    place, value, name = max(found)
    said = f"{number(value)} s for {number(place)} records ({name})"
    return Verdict(holds=value < 300 if place >= enough else None, said=said)


def _float(cell: object) -> float:
    return float(str(cell))
