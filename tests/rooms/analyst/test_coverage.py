# SPDX-License-Identifier: Apache-2.0
"""Error bars keep their word where the model holds: 95 % intervals have 93 to 97 % of the true counts in them.

The truth is drawn from the model of a release: every tuple somewhere in its cell, the sensitive values of a group dealt
to its tuples. A perturbed sample is made anew of every truth, for there it is the release that is random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import glasshouse as gh
from glasshouse.analyst.answers.workload_answers import answer, count
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.principles.principle import Requirement
from glasshouse.release.contents import Seats
from glasshouse.supports.evidence import Evidence
from tests.rooms.analyst.plain_releases import released

QUASI = ("age", "gender", "education")
N = 20_000
ENOUGH = 20


def people(n: int = N) -> gh.Microdata:
    return gh.synthetic.census(n, seed=3, quasi=QUASI)


def published(kind: str, table: gh.Microdata) -> gh.Release:
    principle, source = gh.LDiversity(ell=4), gh.Source.seeded(1)
    how: dict[str, dict[str, Any]] = {
        "boxes": {"method": gh.Mondrian(), "recoding": gh.Boxes()},
        "anatomy": {"method": gh.Anatomize(), "recoding": gh.Anatomy()},
        "permutation": {"method": gh.Hybrid(), "recoding": gh.Permutation()},
        "angel": {"method": gh.Mondrian(), "recoding": gh.Angel(k=10)},
    }
    return gh.publish(table, principle=principle, source=source, **how[kind])


def read(columns: dict[str, NDArray[np.int64]], table: gh.Microdata) -> gh.Microdata:
    sensitive = table.sensitive[0].name
    return gh.read(columns, quasi=list(QUASI), sensitive=sensitive, categorical=[sensitive])


def drawn(evidence: Evidence, rng: np.random.Generator, table: gh.Microdata) -> gh.Microdata:
    """A truth that the release may have been made of."""
    said = evidence.published(None)
    seats = said.seats[0]
    each = np.repeat(np.arange(len(seats)), seats.count)
    each = each[np.argsort(seats.group[each], kind="stable")]
    columns = places(evidence, seats, each, rng)
    group = np.repeat(np.repeat(np.arange(said.n_groups), np.diff(said.offsets)), said.counts)
    value = np.repeat(said.codes, said.counts)
    mixed = np.lexsort((rng.random(len(group)), group))  # in random order within each group
    columns[said.column] = np.array(said.values, np.int64)[value[mixed]]
    return read(columns, table)


def places(evidence: Evidence, seats: Seats, each: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    """For tuples on some seats, random values of their cells."""
    columns = {}
    for name, of_seat in zip(seats.quasi, seats.of_seat, strict=True):
        listed = [np.array(support.listed(), np.int64) for support in evidence.supports(seats, name)]
        cell = of_seat[each]
        which = (rng.random(len(cell)) * np.array([len(values) for values in listed])[cell]).astype(np.int64)
        columns[name] = np.array([listed[c][w] for c, w in zip(cell.tolist(), which.tolist(), strict=True)])
    return columns


def questions(table: gh.Microdata, seed: int) -> list[Workload]:
    return [
        Workload.transparent(table, qd=3, n=250, seed=seed),
        Workload.anatomy(table, qd=2, n=250, seed=seed),
        Workload.minimality(table, qd=3, n=250, seed=seed),
    ]


@pytest.mark.parametrize("kind", ["boxes", "anatomy", "permutation", "angel"])
def test_intervals_cover_their_share_of_truths_drawn_from_a_release(kind: str) -> None:
    table = people()
    release = published(kind, table)
    evidence, rng = Evidence(release=release), np.random.default_rng(7)
    covered = []
    for seed in range(4):
        truth = drawn(evidence, rng, table)
        for workload in questions(table, seed):
            found = answer(release, workload, model="uniform")
            covered.extend(found.covers(count(truth, workload))[found.values >= ENOUGH].tolist())
    assert len(covered) > 2000
    assert 0.93 <= np.mean(covered) <= 0.97


def seat_of(evidence: Evidence, seats: Seats, columns: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """The one box that every tuple lies in."""
    found = np.full(N, -1)
    supports = {name: evidence.supports(seats, name) for name in QUASI}
    for i in range(len(seats)):
        inside = np.ones(N, bool)
        for d, name in enumerate(QUASI):
            values = supports[name][seats.of_seat[d][i]].listed()
            assert values is not None
            inside &= (columns[name] >= values[0]) & (columns[name] <= values[-1])
        assert inside.sum() == seats.count[i]
        found[inside] = i
    return found


def test_intervals_cover_their_share_of_truths_of_which_a_sample_is_perturbed() -> None:
    table, rng = people(), np.random.default_rng(11)
    popular = 1 / np.arange(1, 21)
    groups = gh.Mondrian().divide(table, Requirement.of(gh.KAnonymity(k=6), table))
    recoding = gh.Perturbed(p="0.4", domain=[f"s{i}" for i in range(20)])
    columns = {c.name: np.asarray(c.domain.decode(c.codes)) for c in table.quasi}
    which: NDArray[np.int64] | None = None
    covered = []
    for seed in range(12):
        # values independent of everything else; where in its box a tuple lies is drawn after the boxes are known
        values = np.array([f"s{i}" for i in range(20)])[rng.choice(20, size=N, p=popular / popular.sum())]
        before = gh.read({**columns, "s": values}, quasi=list(QUASI), sensitive="s")
        release = released(before, recoding, recoding.recode(before, groups, source=gh.Source.seeded(seed)))
        evidence = Evidence(release=release)
        seats = evidence.published(None).seats[0]
        which = seat_of(evidence, seats, columns) if which is None else which
        truth = gh.read({**places(evidence, seats, which, rng), "s": values}, quasi=list(QUASI), sensitive="s")
        for workload in questions(before, seed):
            found, true = answer(release, workload, model="uniform"), count(truth, workload)
            covered.extend(found.covers(true)[true >= ENOUGH].tolist())
    assert len(covered) > 2000
    assert 0.93 <= np.mean(covered) <= 0.97
