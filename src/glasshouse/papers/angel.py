# SPDX-License-Identifier: Apache-2.0
"""ANGEL Section 6: Figures 4 and 5, Table 9.

Tao, Chen, Xiao, Zhou, Zhang, "ANGEL: Enhancing the Utility of Generalization for Privacy Preserving Publication", IEEE
TKDE 21(7), 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.analyst.answers.distribution import kl_divergence, reconstructed
from glasshouse.analyst.usefulness.reconstruction_error import terms_of
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.grouping.cuts.mondrian import Mondrian
from glasshouse.log import step
from glasshouse.papers import claims
from glasshouse.papers.claims import Claim, Verdict
from glasshouse.papers.measurement import Asked, published
from glasshouse.papers.results import Figure, Table, figure_of, number
from glasshouse.principles.l_diversity import LDiversity
from glasshouse.principles.t_closeness import TCloseness
from glasshouse.recoding.angel import Angel
from glasshouse.recoding.generalization import Boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.microdata import Microdata
    from glasshouse.papers.data import Data
    from glasshouse.papers.results import Curve
    from glasshouse.principles.principle import Principle
    from glasshouse.release import Release

__all__ = ["DEPARTURES", "QUESTIONS", "ROWS", "TITLE", "experiments", "judged"]

TITLE = "ANGEL: Figures 4 and 5, Table 9"
ROWS = 300_000
QUESTIONS = 1000
QUASI = ("marital", "workclass", "education", "gender", "age")
NUMERICAL = ("age", "education")
K = 10
ELLS = (2, 4, 6, 8, 10)
TS = ("0.1", "0.2", "0.3", "0.4", "0.5")
ELL, T = 10, "0.2"
VOLUMES = (0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10)
ANGELIZED, GENERALIZED = "angelization", "generalization"
MARGINALS = {f"G{i - 1}": (*QUASI[: i - 1], "occupation") for i in (2, 3, 4, 5)}
_PAPER = {
    "a": ((0.25, 2.90, 6.18, 8.96), (0.03, 1.13, 3.71, 6.06)),
    "b": ((0.30, 3.20, 6.79, 9.31), (0.08, 1.38, 4.20, 6.22)),
}

DEPARTURES = (
    "Neither table is the paper's OCC, which may not be redistributed; age has 79 values in the synthetic one, not 78.",
    "l goes from 2 to 10 in steps of 2, t from 0.1 to 0.5, and the volume (the share of all combinations of values "
    "that a question covers) from 3 to 10 % in steps of 1; the paper gives only the smallest and the largest "
    "volume. t-closeness uses equal distances, because occupations have no order.",
    "In Table 9, GT is one table of all columns, and GT_i is a table of its own for each combination of columns.",
    "The KL-divergence is KL(true distribution || reconstructed distribution), in nats.",
    "*Independence* is our addition: the exact quasi-identifiers and the sensitive column, without any link between "
    "them.",
    "Our number for *fairly accurate in all cases* is an error below 10 %.",
)


def experiments(data: Data, questions: int) -> list[Figure | Table]:
    """Measure every figure and table."""
    table = data.read(QUASI, data.sensitive["OCC"])
    usual = _asked(table, 0.05, questions)
    kl: dict[str, dict[float, dict[str, float | None]]] = {"l": {}, "t": {}}
    errors: dict[str, dict[float, dict[str, float | None]]] = {"l": {}, "t": {}}
    kept: dict[str, dict[str, Release | None]] = {}
    for axis, places in (("l", ELLS), ("t", TS)):
        for place in places:
            with step("figures 4 and 5", rows=table.n_tuples):
                releases = _releases(table, _principle(axis, place))
                kl[axis][float(place)] = {name: _divergence(table, release) for name, release in releases.items()}
                errors[axis][float(place)] = usual.errors(releases)
            if place in (ELL, T):
                kept[axis] = releases
    found: list[Figure | Table] = []
    for letter, axis in zip("ab", "lt", strict=True):
        title = f"KL-divergence against {axis} (k = 10)"
        found.append(figure_of(f"figure-4{letter}", title, axis, kl[axis], y="KL-divergence (nats)", log=False))
    for letter, axis in zip("ab", "lt", strict=True):
        title = f"Query error against {axis} (k = 10, volume 5 %)"
        found.append(figure_of(f"figure-5{letter}", title, axis, errors[axis]))
    asked = {100 * volume: _asked(table, volume, questions) for volume in VOLUMES}
    for letter, axis, what in (("c", "l", "10-diversity"), ("d", "t", "0.2-closeness")):
        by_volume = {volume: workload.errors(kept[axis]) for volume, workload in asked.items()}
        title = f"Query error against the volume ({what}, k = 10)"
        found.append(figure_of(f"figure-5{letter}", title, "volume (%)", by_volume))
    for letter, axis, place in (("a", "l", ELL), ("b", "t", T)):
        with step("table 9", rows=table.n_tuples):
            found.append(_marginals(letter, table, _principle(axis, place), kept[axis][ANGELIZED]))
    return found


def _principle(axis: str, place: Any) -> Principle:
    return LDiversity(ell=place) if axis == "l" else TCloseness(t=place)


def _releases(table: Microdata, principle: Principle) -> dict[str, Release | None]:
    return {
        ANGELIZED: published(table, principle, Mondrian(), Angel(k=K)),
        GENERALIZED: published(table, principle, Mondrian(), Boxes()),
    }


def _asked(table: Microdata, volume: float, questions: int) -> Asked:
    return Asked(table, Workload.angel(table, s=volume, n=questions, numerical=list(NUMERICAL)))


def _divergence(table: Microdata, release: Release | None, attributes: Sequence[str] | None = None) -> float | None:
    if release is None:
        return None
    return float(kl_divergence(table, reconstructed(release, attributes, **terms_of(table).to_dict())))


def _marginals(letter: str, table: Microdata, principle: Principle, whole: Release | None) -> Table:
    """Table 9: errors of the marginals from one table of all attributes, and from separate tables."""
    everything = (*QUASI, "occupation")
    own = published(table, principle, Mondrian(), Angel(k=K, marginals=(everything, *MARGINALS.values())))
    rows: list[list[str | float | None]] = []
    for name, release, paper in zip(("GT", "GT_i"), (whole, own), _PAPER[letter], strict=True):
        rows.append([f"using {name}, the paper", *paper])
        found = [_divergence(table, release, attributes) for attributes in MARGINALS.values()]
        rows.append([f"using {name}, here", *(None if kl is None else 100 * kl for kl in found)])
    what = "10-diversity" if letter == "a" else "0.2-closeness"
    title = f"KL-divergence of marginals, in hundredths of a nat, {what}"
    return Table(name=f"table-9{letter}", title=title, columns=["marginal", *MARGINALS], rows=rows)


# --- claims -----------------------------------------------------------------------------------------------------------


def judged(results: Sequence[Figure | Table]) -> list[Claim]:
    """The verdicts on the paper's claims, from the measurements."""
    figures = {shown.name: shown for shown in results if isinstance(shown, Figure)}

    def pairs(*names: str) -> dict[str, tuple[Curve, Curve]]:
        chosen = {name: figures[f"figure-{name}"].curves for name in names}
        return {f"Figure {name}": (curves[ANGELIZED], curves[GENERALIZED]) for name, curves in chosen.items()}

    def leads(name: str) -> dict[str, Curve]:
        return {which: claims.difference(*both) for which, both in pairs(name).items()}

    def of(curve: str, *names: str) -> dict[str, Curve]:
        return {f"{curve}, {name}": figures[f"figure-{name}"].curves[curve] for name in names}

    both = {**of(ANGELIZED, "5c", "5d"), **of(GENERALIZED, "5c", "5d")}
    stated: list[tuple[str, str, Verdict]] = [
        ("Angelization has the lower KL-divergence at every l and t", "6, Figure 4", claims.less(pairs("4a", "4b"))),
        ("The lead of angelization in KL-divergence grows with l", "6, Figure 4a", claims.rises(leads("4a"))),
        ("The lead of angelization in KL-divergence grows as t shrinks", "6, Figure 4b", claims.falls(leads("4b"))),
        ("Angelization has the lower query error at every l and t", "6, Figure 5a, b", claims.less(pairs("5a", "5b"))),
        (
            "Angelization is accurate in all cases: below 10 %",
            "6, Figure 5",
            claims.below(of(ANGELIZED, "5a", "5b", "5c", "5d"), 10, " %"),
        ),
        ("Generalization's error rises with l", "6, Figure 5a", claims.rises(of(GENERALIZED, "5a"))),
        ("Generalization's error rises as t shrinks", "6, Figure 5b", claims.falls(of(GENERALIZED, "5b"))),
        ("The errors of both fall as the volume grows", "6, Figure 5c, d", claims.falls(both)),
        ("Angelization has the lower error at every volume", "6, Figure 5c, d", claims.less(pairs("5c", "5d"))),
        (
            "A combination of columns (a marginal) always has a smaller divergence with a table of its own",
            "6, Table 9",
            _reduced(results),
        ),
        ("The improvement is greater for marginals with fewer attributes", "6, Table 9", _more_for_less(results)),
    ]
    return [Claim(text=text, where=where, verdict=verdict) for text, where, verdict in stated]


def _quotients(results: Sequence[Figure | Table]) -> dict[str, dict[float, float | None]]:
    """What remains of a marginal's divergence with a table of its own, by its number of attributes."""
    found: dict[str, dict[float, float | None]] = {}
    for shown in results:
        if shown.name.startswith("table-9"):
            rows = {str(row[0]): row[1:] for row in shown.cells()}
            whole, own = rows["using GT, here"], rows["using GT_i, here"]
            found[shown.name] = {
                float(i): None if a is None or b is None else float(b) / float(a)
                for i, (a, b) in enumerate(zip(whole, own, strict=True), 1)
            }
    return found


def _reduced(results: Sequence[Figure | Table]) -> Verdict:
    quotients = _quotients(results)
    known = [q for by in quotients.values() for q in by.values() if q is not None]
    if not known:
        return claims.NOTHING
    said = f"between {number(min(known))} and {number(max(known))} of the divergence remain"
    return Verdict(holds=max(known) < 1, said=said)


def _more_for_less(results: Sequence[Figure | Table]) -> Verdict:
    return claims.rises({f"{name.replace('-', ' ')}, what remains,": by for name, by in _quotients(results).items()})
