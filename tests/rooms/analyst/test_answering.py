# SPDX-License-Identifier: Apache-2.0
"""Answers to workloads: those of the question in SQL, and those of the slow twin, on every kind of release."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.analyst.answers import workload_answers as answering
from glasshouse.analyst.answers.workload_answers import Answers, answer, count, independent
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.kernels import compiled, interpreted
from tests.rooms.analyst.plain_releases import (
    DOMAIN,
    GRADES,
    KINDS,
    LEAVES,
    Made,
    groups_of,
    random_release,
    released,
    table_of,
)
from tests.rooms.recoding.reading import covers
from tests.twins import workloads as slow

DRAWN = [Workload.transparent, Workload.anatomy, Workload.minimality, Workload.angel]


def random_questions(table: gh.Microdata, random: Random, n: int = 12) -> Workload:
    """Any sets of values, none and all among them."""
    columns = (*table.quasi, *table.sensitive)
    domains = {c.name: (*c.domain.values.to_pylist(), *([None] * c.domain.missing)) for c in columns}
    kinds = [random.choice(["all", "some", "some", "few", "none"] if i else ["all", "some"]) for i in range(n)]
    likely = {"all": 1.0, "some": 0.6, "few": 0.2, "none": 0.0}
    wanted = tuple(
        np.array([[random.random() < (1 if random.random() < 0.2 else likely[kind]) for _ in values] for kind in kinds])
        for values in domains.values()
    )
    return Workload(domains=domains, wanted=wanted, name="any")


def workloads_of(table: gh.Microdata, random: Random) -> Iterator[Workload]:
    yield random_questions(table, random)
    for drawn in DRAWN:
        yield drawn(table, n=4, seed=random.randrange(1000), s=random.choice([0.05, 0.3, 0.8, 1]))


def known(made: Made) -> dict[str, Any]:
    terms = made.terms()
    return {"taxonomies": terms["taxonomies"], "ordered": terms["ordered"]}


# --- the slow twin ----------------------------------------------------------------------------------------------------


def cell(made: Made, name: str, shown: Any, domain: tuple[Any, ...]) -> list[Any]:
    """The values of a workload's domain that a published cell stands for."""
    if made.kind in ("anatomy", "permutation"):
        return [shown]
    tree = LEAVES if made.kind == "taxonomies" and made.table.column(name).domain.tree is not None else None
    example = made.table.column(name).domain.values[0].as_py()
    return [v for v in domain if covers(shown, v, example, GRADES if name == "grade" else None, tree)]


def by_hand(made: Made, workload: Workload, question: int) -> tuple[Any, Any]:
    asked = workload.condition(question)
    quasi = [name for name in asked if name != "ill"]

    def cells(row: dict[str, Any], names: list[str]) -> dict[str, list[Any]]:
        return {name: cell(made, name, row[name], workload.domains[name]) for name in names}

    tables = {name: table.to_pylist() for name, table in made.release.tables.items()}
    if made.kind == "perturbed":
        rows = tables["data"]
        declared = made.release.recipe.recoding["domain"]
        domain = sorted({row["ill"] for row in rows}) if declared is None else declared
        p = Fraction(str(made.release.recipe.recoding["p"]))
        true = slow.share_of_values([(row["ill"], row["G"]) for row in rows], domain, p)
        shown = [(cells(row, quasi), row["ill"], row["G"]) for row in rows]
        return slow.in_sample(shown, asked, "ill", domain, p, true)  # type: ignore[no-any-return]
    if made.kind == "angel":
        batched = {n: t for n, t in tables.items() if n != "bt" and set(quasi) <= set(t[0])}
        if "ill" in asked:
            batched = {n: t for n, t in batched.items() if "Batch-ID" in t[0]}
        name = min(batched, key=lambda n: len(set(made.quasi) & set(batched[n][0])))
        if "ill" not in asked:
            return slow.in_groups([([cells(row, quasi)], [0]) for row in batched[name]], asked, "ill")  # type: ignore[no-any-return]
        tables = {"qit": batched[name], "st": tables["bt"]}
    groups: dict[Any, tuple[list[Any], list[Any]]] = {}
    number = {"anatomy": "Group-ID", "permutation": "Group-ID", "angel": "Batch-ID"}.get(made.kind)
    for row in tables.get("qit", tables.get("data", [])):
        key = tuple(row[name] for name in made.quasi) if number is None else row[number]
        groups.setdefault(key, ([], []))[0].append(cells(row, quasi))
        if "data" in tables:
            groups[key][1].append(row["ill"])
    for row in tables.get("st", []):
        groups[row[number]][1].extend([row["ill"]] * row["Count"])
    return slow.in_groups(list(groups.values()), asked, "ill")  # type: ignore[no-any-return]


def is_answerable(made: Made, workload: Workload, question: int) -> bool:
    """Whether a sample says something of the values that are asked for."""
    recoding = made.release.recipe.recoding
    return made.kind != "perturbed" or bool(Fraction(str(recoding["p"]))) or "ill" not in workload.condition(question)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", KINDS)
def test_answers_and_errors_are_those_of_every_pair_of_tuples(kind: str, seed: int) -> None:
    random = Random(seed)
    made = random_release(random, kind)
    for workload in workloads_of(made.table, random):
        some = [q for q in range(len(workload)) if is_answerable(made, workload, q)]
        workload = workload.take(np.array(some, np.int64))
        found = answer(made.release, workload, **known(made)) if some else Answers(np.empty(0), np.empty(0))
        for question in range(len(some)):
            mean, variance = by_hand(made, workload, question)
            assert found.values[question] == pytest.approx(float(mean), abs=1e-9), workload.condition(question)
            assert found.errors[question] ** 2 == pytest.approx(float(variance), abs=1e-9)


# --- the same question in SQL -----------------------------------------------------------------------------------------


def complete_release(random: Random, kind: str) -> Made:
    """A release of a table in which every whole number between two, and every declared category, occurs."""
    n = random.randint(12, 22)
    possible: dict[str, list[Any]] = {
        "age": list(range(30, 30 + random.choice([2, 5, 9]))),
        "grade": list(GRADES),
        "town": sorted(LEAVES["any"]),
        "sex": ["F", "M"],
        "year": [1999, 2000, 2001],
        "is_new": [False, True],
    }
    names = random.sample(sorted(possible), random.randint(2, 4))
    if kind == "taxonomies" and "town" not in names:
        names.append("town")
    columns: dict[str, list[Any]] = {}
    for name in names:
        values = possible[name]
        columns[name] = [*values, *(random.choice(values) for _ in range(n - len(values)))]
        if random.random() < 0.2:
            columns[name][-1] = None
        random.shuffle(columns[name])
    columns["ill"] = [*DOMAIN[:3], *(random.choice(DOMAIN[:3]) for _ in range(n - 3))]
    table = gh.read(
        columns,
        quasi=names,
        sensitive="ill",
        missing="category",
        ordered={"grade": GRADES} if "grade" in names else None,
        taxonomies={"town": gh.Taxonomy.from_nested({"any": {"left": ["a", "b"], "right": ["c", "d", "e"]}})}
        if "town" in names
        else None,
    )
    if kind == "angel":
        marginals = dict.fromkeys([(*names, "ill"), (names[0], "ill"), (names[1],), (*names[:2], "ill")])
        angel = gh.Angel(k=2, marginals=list(marginals))
        buckets = angel.buckets(table, gh.Mondrian().divide)
        return Made(kind, table, released(table, angel, angel.recode(table, groups_of(random, n), buckets=buckets)))
    if kind == "perturbed":
        recoding = gh.Perturbed(p=random.choice(["1/5", "1/2", "4/5"]), domain=random.choice([DOMAIN, DOMAIN[:3]]))
        release = gh.publish(
            table,
            principle=gh.DeltaGrowth(k=random.choice([2, 3]), lambda_="1/2"),
            recoding=recoding,
            source=gh.Source.seeded(random.randrange(1000)),
        )
        return Made(kind, table, release)
    recodings: dict[str, Any] = {"boxes": gh.Boxes, "taxonomies": gh.Taxonomies, "anatomy": gh.Anatomy}
    recoding = recodings.get(kind, gh.Permutation)()
    tables = recoding.recode(table, groups_of(random, n), source=gh.Source.seeded(random.randrange(1000)))
    return Made(kind, table, released(table, recoding, tables))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_is_answered_as_its_questions_are_in_sql(kind: str, seed: int) -> None:
    random = Random(1000 + seed)
    made = complete_release(random, kind)
    for workload in workloads_of(made.table, random):
        found = answer(made.release, workload, **known(made))
        for question in np.flatnonzero(np.all([wanted.any(axis=1) for wanted in workload.wanted], axis=0)).tolist():
            alone = gh.query(made.release, workload.sql(question), **known(made)).only
            assert found.values[question] == pytest.approx(alone.value, abs=1e-9), workload.sql(question)
            assert found.errors[question] == pytest.approx(alone.error, abs=1e-6)


# --- the truth --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_true_counts_are_those_of_a_plain_loop_and_independence_multiplies_two_of_them(seed: int) -> None:
    random = Random(seed)
    table = table_of(random, most=40)
    made = Made("truth", table, None)  # type: ignore[arg-type]
    people = [{**dict(zip(made.quasi, point, strict=True)), "ill": value} for point, value in made.people]
    for workload in workloads_of(table, random):
        true, apart = count(table, workload), independent(table, workload)
        for question in range(len(workload)):
            asked = workload.condition(question)
            assert true[question] == slow.count(people, asked)
            quasi = {name: values for name, values in asked.items() if name != "ill"}
            alone = {name: values for name, values in asked.items() if name == "ill"}
            expected = slow.count(people, quasi) * slow.count(people, alone) / len(people)
            assert apart[question] == pytest.approx(expected)


def test_a_release_of_single_tuples_answers_with_the_truth_and_no_error() -> None:
    table = gh.synthetic.hospital(300, seed=2)
    alone = gh.Groups(np.arange(300, dtype=np.int32), 300)
    for recoding in (gh.Anatomy(), gh.Permutation(), gh.Boxes()):
        release = released(table, recoding, recoding.recode(table, alone, source=gh.Source.seeded(0)))
        for drawn in DRAWN:
            workload = drawn(table, n=50)
            found = answer(release, workload, **known(Made("truth", table, release)))
            assert (found.values == count(table, workload)).all()
            assert (found.errors == 0).all()


# --- how it is done does not matter -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_neither_threads_nor_the_questions_beside_it_change_an_answer(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(5)
    made = complete_release(random, kind)
    workload = random_questions(made.table, random, 150)
    whole, true = answer(made.release, workload, threads=1, **known(made)), count(made.table, workload, threads=1)
    for block, threads in ((1, 1), (7, 3), (1000, 2)):
        monkeypatch.setattr(answering, "_BLOCK", block)
        found = answer(made.release, workload, threads=threads, **known(made))
        assert (found.values == whole.values).all()
        assert (found.errors == whole.errors).all()
        assert (count(made.table, workload, threads=threads) == true).all()
    order = np.array(random.sample(range(150), 40))
    assert (answer(made.release, workload.take(order), **known(made)).values == whole.values[order]).all()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_used", range(6))
def test_kernels_find_the_same_interpreted(n_used: int, seed: int) -> None:
    rng = np.random.default_rng([n_used, seed])
    n, n_groups, n_values, width = int(rng.integers(1, 30)), int(rng.integers(1, 6)), 5, int(rng.integers(1, 9))
    sizes = rng.integers(1, 5, n_used)
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    cells = np.stack([rng.integers(0, size, n) for size in sizes]) if n_used else np.empty((0, n))
    cells = np.ascontiguousarray(cells.astype(np.int32))
    shares = np.ones((int(sizes.sum()) + 2, width))
    shares[:-2] = rng.random((int(sizes.sum()), width)) * (rng.random((int(sizes.sum()), width)) < 0.8)
    counts = rng.integers(1, 4, n).astype(np.int32)
    borders = np.sort(np.append(rng.integers(0, n + 1, n_groups - 1), [0, n])).astype(np.int64)
    offsets = np.arange(n_groups + 1) * 3
    codes, numbers = (rng.integers(low, 5, 3 * n_groups).astype(np.int32) for low in (0, 1))
    wanted = rng.random((n_values, width)) < 0.5

    def expected(module: Any) -> Any:
        inside, spread, means, variances = np.zeros((4, width))
        masks, matching = -wanted.astype(np.int32), np.zeros(width, np.int32)
        grouped = module.Grouped(counts, borders, offsets, codes, numbers)
        block = grouped, cells, starts, shares.copy(), masks
        module.expected_counts(*block, inside, spread, matching, means, variances)
        return means, variances

    def shown(module: Any) -> Any:
        sums = np.zeros((4, width))
        values = np.resize(codes, n).astype(np.int32)
        module.shown_counts(cells, counts, starts, shares.copy(), values, wanted.astype(np.float64), *sums)
        return sums

    def exact(module: Any) -> Any:
        found = np.zeros(width, np.int64)
        module.exact_counts(cells, starts, (shares > 0.5).astype(np.int32), found)
        return found

    fast, plain = (load("glasshouse.analyst.answers._kernels") for load in (compiled, interpreted))
    for work in (expected, shown, exact):
        np.testing.assert_allclose(work(fast), work(plain), rtol=1e-12, atol=1e-12)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_workload_of_another_table_is_refused() -> None:
    table = gh.read({"a": [1, 2, 3, 4], "s": ["x", "y", "x", "y"]}, quasi=["a"], sensitive="s")
    other = gh.read({"a": [1, 2, 5, 6], "s": ["x", "y", "x", "z"]}, quasi=["a"], sensitive="s")
    named = gh.read({"b": [1, 2, 5, 6], "s": ["x", "y", "x", "z"]}, quasi=["b"], sensitive="s")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())
    with pytest.raises(gh.InputError, match="none of the values that the list of questions"):
        answer(release, Workload.anatomy(other, qd=1, n=5))
    with pytest.raises(gh.InputError, match="3 is not in the workload's domain"):
        count(table, Workload.anatomy(other, qd=1, n=5))
    with pytest.raises(gh.SchemaError, match="'b'"):
        answer(release, Workload.anatomy(named, qd=1, n=5))
    with pytest.raises(gh.ParameterError, match="threads"):
        answer(release, Workload.anatomy(table, qd=1, n=5), threads=-1)


def test_values_that_were_all_replaced_are_not_counted_but_quasi_identifiers_are() -> None:
    table = gh.read({"age": [1, 2, 3, 4] * 3, "s": [*"abc"] * 4}, quasi=["age"], sensitive="s")
    recoding = gh.Perturbed(p=0, domain=[*"abc"])
    groups = gh.Groups(np.tile(np.arange(4, dtype=np.int32), 3), 4)
    release = released(table, recoding, recoding.recode(table, groups, source=gh.Source.seeded(1)))
    assert gh.query(release, "SELECT COUNT(*)").only.value == 12
    assert gh.query(release, "SELECT COUNT(*) WHERE age < 9").only.value == 12
    with pytest.raises(gh.NotSupported, match="all of them were replaced"):
        gh.query(release, "SELECT COUNT(*) WHERE s = 'a'")
    with pytest.raises(gh.NotSupported, match="all of them were replaced"):
        answer(release, Workload.anatomy(table, qd=1, n=20))


def test_a_missing_value_is_not_the_text_none() -> None:
    columns = {"a": ["None", "None", None, "x"], "s": [*"uvuv"]}
    table = gh.read(columns, quasi=["a"], sensitive="s", missing="category")
    workload = Workload.anatomy(table, qd=1, s=0.01, n=30)
    true = [
        slow.count([{"a": a, "s": s} for a, s in zip(*columns.values(), strict=True)], workload.condition(q))
        for q in range(30)
    ]
    assert count(table, workload).tolist() == true
    alone = gh.Groups(np.arange(4, dtype=np.int32), 4)
    release = released(table, gh.Anatomy(), gh.Anatomy().recode(table, alone))
    assert answer(release, workload).values.tolist() == true


def test_an_interval_covers_what_lies_within_two_standard_errors() -> None:
    found = Answers(np.array([10.0, 10.0, 10.0, 7.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    assert found.covers(np.array([11, 12, 8, 7])).tolist() == [True, False, False, True]
