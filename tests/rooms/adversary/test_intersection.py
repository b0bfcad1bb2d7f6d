"""Several releases of one table: ANGEL's examples, and beliefs against every world of tiny random tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.adversary.intersection.candidates import Component, candidates, narrowed
from glasshouse.adversary.intersection.exchanges import _Search, sample_options
from glasshouse.adversary.intersection.intersection import Intersection
from glasshouse.adversary.permanents import count_ways
from glasshouse.adversary.sampling import NotReached
from glasshouse.release.contents import Published
from tests.rooms.recoding.reading import covers
from tests.twins import intersection as naive

QUASI = ["x", "y"]
METHODS = (gh.Mondrian(), gh.Anatomize())
MADE = gh.publish(
    gh.read({"x": [1, 2, 3], "y": [1, 2, 3], "s": list("abc")}, quasi=QUASI, sensitive="s"),
    principle=gh.LDiversity(ell=2),
    method=gh.Separate(),
    recoding=gh.Boxes(),
    source=gh.Source.seeded(0),
)


def released(recoding: Any, table: gh.Microdata, *labels: list[int]) -> gh.Release:
    """The release that these groups give, and these buckets if it is ANGEL's."""
    groups = [gh.Groups(np.array(own, np.int32), max(own) + 1) for own in labels]
    more = {"buckets": groups[1:]} if isinstance(recoding, gh.Angel) else {}
    tables = recoding.recode(table, groups[0], **more)
    recipe = replace(MADE.recipe, recoding={"name": recoding.name}, quasi=tuple(c.name for c in table.quasi))
    return replace(MADE, tables=tables, recipe=recipe, n_tuples=table.n_tuples)


def as_read(release: gh.Release, people: list[dict[str, Any]]) -> naive.Release:
    """The same release for the slow twin: who fits which row, by the text of cells; and what each group has."""
    everything = [t.to_pylist() for t in release.tables.values()]

    def who(row: dict[str, Any]) -> list[int]:
        quasi = [name for name in QUASI if name in row]
        return [i for i, one in enumerate(people) if all(covers(str(row[q]), one[q], one[q]) for q in quasi)]

    values: dict[Any, Counter[Any]] = {}
    tables = []
    name = release.recipe.recoding["name"]
    if name in ("boxes", "permutation"):
        (rows,) = everything
        for row in rows:
            group = row["Group-ID"] if name == "permutation" else tuple(str(row[q]) for q in QUASI)
            values.setdefault(group, Counter())[row["s"]] += 1
        group_of = (
            (lambda row: row["Group-ID"]) if name == "permutation" else lambda row: tuple(str(row[q]) for q in QUASI)
        )
        tables.append([(who(row), group_of(row)) for row in rows])
    else:
        number = "Batch-ID" if name == "angel" else "Group-ID"
        for rows in everything:
            if "Count" in rows[0]:
                for row in rows:
                    values.setdefault(row[number], Counter())[row["s"]] += row["Count"]
            elif number in rows[0]:
                tables.append([(who(row), row[number]) for row in rows])
    return tables, values


def random_people(draw: Random, n: int, outside: int) -> tuple[gh.Microdata, gh.Knowledge, list[dict[str, Any]]]:
    rows = [{"x": draw.randrange(3), "y": draw.randrange(3)} for _ in range(n + outside)]
    columns = {name: [row[name] for row in rows] for name in QUASI}
    values = [draw.choice("aabc") for _ in range(n)]
    table = gh.read({**{name: own[:n] for name, own in columns.items()}, "s": values}, quasi=QUASI, sensitive="s")
    return table, gh.Knowledge(external=gh.read(columns, quasi=QUASI)), rows


def random_release(draw: Random, table: gh.Microdata, kinds: str) -> gh.Release:
    n = table.n_tuples

    def labels() -> list[int]:
        own = [draw.randrange(max(1, n // 2)) for _ in range(n)]
        names = sorted(set(own))
        return [names.index(label) for label in own]

    kind = draw.choice(kinds)
    if kind == "g":
        marginals = draw.choice([[["x", "y", "s"]], [["x", "s"], ["y", "s"]], [["x", "s"], ["x", "y"]]])
        return released(gh.Angel(k=1, marginals=marginals), table, labels(), *(labels() for _ in marginals))
    return released({"b": gh.Boxes(), "a": gh.Anatomy(), "p": gh.Permutation()}[kind], table, labels())


def assert_beliefs(expected: list[dict[Any, Fraction]], found: gh.Posterior) -> None:
    for person, mine in enumerate(expected):
        present = {value: belief for value, belief in mine.items() if value != naive.ABSENT}
        got = {value: belief for value, belief in found.of(person).items() if belief > 0}
        assert {value: float(belief) for value, belief in present.items()} == pytest.approx(got), person
        assert float(sum(present.values())) == pytest.approx(found.present(person))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("outside", [0, 1])
def test_beliefs_of_several_releases_are_those_of_every_world(seed: int, outside: int) -> None:
    draw = Random(f"{seed} {outside}")
    for _ in range(6):
        table, knowledge, rows = random_people(draw, draw.randrange(2, 6 - outside), outside)
        releases = [random_release(draw, table, "bbap") for _ in range(draw.randrange(2, 4))]
        expected = naive.beliefs(len(rows), [as_read(release, rows) for release in releases])

        found = Intersection(others=releases[1:], exact=True).attack(releases[0], knowledge)
        assert "exact" == found.how
        if "left out" not in " ".join(found.notes):
            assert_beliefs(expected, found)


@pytest.mark.parametrize("seed", range(25))
def test_beliefs_with_marginals_of_angel_are_those_of_every_world(seed: int) -> None:
    draw = Random(seed)
    for _ in range(3):
        table, knowledge, rows = random_people(draw, draw.randrange(2, 5), 0)
        releases = [
            random_release(draw, table, "g"),
            *(random_release(draw, table, "bg") for _ in range(draw.randrange(2))),
        ]
        expected = naive.beliefs(len(rows), [as_read(release, rows) for release in releases])
        found = Intersection(others=releases[1:], exact=True).attack(releases[0], knowledge)

        if "left out" not in " ".join(found.notes):
            assert_beliefs(expected, found)


@pytest.mark.parametrize("seed", range(20))
def test_a_corrupted_person_counts_as_a_world_that_is_known(seed: int) -> None:
    draw = Random(seed)
    table, knowledge, rows = random_people(draw, 4, 1)
    releases = [random_release(draw, table, "bap") for _ in range(2)]
    values = table.sensitive[0].domain.values.to_pylist()
    truth = values[table.sensitive[0].codes[0]]
    worlds = list(naive.worlds(len(rows), [as_read(release, rows) for release in releases]))

    for corrupted, known in (({0: truth}, (0, truth)), ({4: gh.ABSENT}, (4, naive.ABSENT))):
        some = [(choice, n) for choice, n in worlds if choice[known[0]] == known[1]]
        total = sum(n for _, n in some)
        expected: list[dict[Any, Fraction]] = [{} for _ in rows]
        for choice, n in some:
            for person, value in enumerate(choice):
                expected[person][value] = expected[person].get(value, Fraction(0)) + Fraction(n, total)
        holds = replace(knowledge, corrupted=corrupted)
        found = Intersection(others=(releases[1],), exact=True).attack(releases[0], holds)
        if "left out" not in " ".join(found.notes):
            assert_beliefs(expected, found)


# --- ANGEL -----------------------------------------------------------------------------------------------------------


def printed(table: pa.Table) -> pa.Table:
    """Zip codes are printed as 10k."""
    cells = {name: table[name].to_pylist() for name in table.column_names}
    return pa.table(
        {
            n: [c.replace("k,", "000,").replace("k]", "000]") if n == "Zipcode" else c for c in own]
            for n, own in cells.items()
        }
    )


def angel_release(recoding: str, tables: dict[str, pa.Table]) -> gh.Release:
    quasi = tuple(name for name in ("Age", "Sex", "Zipcode") if any(name in t.column_names for t in tables.values()))
    recipe = replace(
        MADE.recipe,
        principle={"name": "l-diversity", "ell": 2},
        recoding={"name": recoding},
        quasi=quasi,
        sensitive=("Disease",),
    )
    return replace(MADE, tables={name: printed(table) for name, table in tables.items()}, recipe=recipe, n_tuples=6)


def test_tables_2b_and_2c_tell_alans_disease() -> None:
    knowledge = gh.Knowledge(external=gh.examples.angel_table2())
    whole = angel_release("boxes", {"data": gh.examples.angel_table2b()})
    marginal = angel_release("boxes", {"data": gh.examples.angel_table2c()})

    for alone in (whole, marginal):
        assert (
            0.5
            == Intersection().attack(alone, knowledge).largest.max()
            == gh.attack(alone, knowledge=knowledge).largest.max()
        )
    found = Intersection(others=(marginal,)).attack(whole, knowledge)
    assert {"pneumonia": 1.0} == found.of("Alan")
    assert ({"flu": 1.0}, {"bronchitis": 1.0}, {"pneumonia": 1.0}) == tuple(map(found.of, ("Bob", "Carrie", "Daisy")))
    assert {"bronchitis": 0.5, "flu": 0.5} == found.of("Eddy") == found.of("Frank"), "Table 8 exchanges the two"
    assert (2.0, 2 / 3, "exact") == (found.multiple(), found.share_above(), found.how)
    kind, code = found.kind[0], found.values.index("pneumonia")
    assert "all 2 releases together allow 1 value for such a person" in found.because(kind, code)  # type: ignore[misc]


def test_tables_7a_to_7c_tell_nothing_that_each_does_not_tell_alone() -> None:
    knowledge = gh.Knowledge(external=gh.examples.angel_table2())
    bt, first, second = gh.examples.angel_table7a(), gh.examples.angel_table7b(), gh.examples.angel_table7c()
    both = Intersection().attack(angel_release("angel", {"bt": bt, "gt": first, "gt_2": second}), knowledge)
    alone = gh.attack(angel_release("angel", {"bt": bt, "gt": first}), knowledge=knowledge)

    for name in ("Alan", "Bob", "Carrie", "Daisy", "Eddy", "Frank"):
        assert both.of(name) == alone.of(name)
    assert 0.5 == both.largest.max()


@pytest.mark.parametrize("seed", range(10))
def test_any_marginals_by_angel_leave_mixtures_of_batches(seed: int) -> None:
    table = gh.synthetic.hospital(60, seed=seed)
    marginals = [["age", "disease"], ["sex", "zipcode", "disease"], ["age", "sex", "zipcode", "disease"]]
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell=3),
        recoding=gh.Angel(k=3, marginals=marginals),
        source=gh.Source.seeded(seed),
    )
    found = Intersection(exact=True).attack(release, gh.Knowledge(external=table))

    assert "exact" == found.how
    assert found.largest.max() <= 1 / 3 + 1e-12


# --- real releases ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Boxes()], ids=lambda r: r.name)
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_publishing_twice_breaks_what_each_release_promises(recoding: Any) -> None:
    table = gh.synthetic.hospital(400, seed=1)
    method = gh.Anatomize() if recoding.name == "anatomy" else gh.Mondrian()
    first, second = (
        gh.publish(
            table, principle=gh.LDiversity(ell=ell), method=method, recoding=recoding, source=gh.Source.seeded(ell)
        )
        for ell in (4, 5)
    )
    knowledge = gh.Knowledge(external=table)
    assert 0 == gh.attack(first, knowledge=knowledge).share_above(1 / 4)
    found = Intersection(others=(second,), source=gh.Source.seeded(1), error=0.1).attack(first, knowledge)

    truth = table.sensitive[0]
    for row in range(table.n_tuples):
        assert found.of(f"P{row + 1:06}")[truth.domain.values[truth.codes[row]].as_py()] > 0, "the truth is possible"
    assert found.share_above() > (0.9 if recoding.name == "anatomy" else 0.01)


def test_a_release_published_again_tells_nothing_new() -> None:
    table = gh.synthetic.hospital(60, seed=1)
    knowledge = gh.Knowledge(external=table)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    alone = gh.attack(release, knowledge=knowledge)
    found = Intersection(others=(release, release)).attack(release, knowledge)

    assert "some releases were left out, because another release contains all of their tables" in found.notes
    assert alone.of("P000001") == pytest.approx(found.of("P000001"))
    assert 1 / 3 == pytest.approx(found.largest.max())


def test_what_cannot_be_intersected_is_refused() -> None:
    table = gh.synthetic.hospital(60, seed=1)
    knowledge = gh.Knowledge(external=table)
    release, other, shorter = (
        gh.publish(t, principle=gh.LDiversity(ell=2), recoding=gh.Boxes(), source=gh.Source.seeded(seed))
        for seed, t in enumerate(
            (table, gh.synthetic.hospital(200, seed=2).take(np.arange(60)), table.take(np.arange(50)))
        )
    )
    with pytest.raises(gh.InputError, match="the same frequencies"):
        Intersection(others=(other,)).attack(release, knowledge)
    with pytest.raises(gh.InputError, match="different numbers of records"):
        Intersection(others=(shorter,)).attack(release, knowledge)
    with pytest.raises(gh.NotSupported, match="59 people for 60 published records"):
        Intersection().attack(release, gh.Knowledge(external=table.take(np.arange(59))))
    with pytest.raises(gh.InputError, match="no table of the people"):
        Intersection().attack(release, gh.Knowledge(external=gh.synthetic.hospital(61, seed=5)))
    with pytest.raises(gh.NotSupported, match="prior"):
        Intersection().attack(release, gh.Knowledge(external=table, prior={"asthma": 1}))
    with pytest.raises(gh.NotSupported, match="left out 1 record,"):
        Intersection(others=(replace(other, n_dropped=1),)).attack(release, knowledge)
    with pytest.raises(gh.ParameterError, match="error"):
        Intersection(error=0)


def test_without_room_for_options_values_are_intersected_and_the_result_is_called_a_bound() -> None:
    table = gh.synthetic.hospital(60, seed=1)
    knowledge = gh.Knowledge(external=table)
    releases = [
        gh.publish(table, principle=gh.LDiversity(ell=ell), recoding=gh.Boxes(), source=gh.Source.seeded(ell))
        for ell in (2, 3)
    ]
    exact = Intersection(others=(releases[1],)).attack(releases[0], knowledge)
    quick = Intersection(others=(releases[1],), most_options=10).attack(releases[0], knowledge)
    few = Intersection(others=(releases[1],), most_worlds=1, most_sweeps=1).attack(releases[0], knowledge)

    assert ("bound", "bound") == (quick.how, few.how)
    for i in range(1, 61):
        mine = exact.of(f"P{i:06}")
        for bound in (quick, few):
            assert all(belief <= bound.of(f"P{i:06}")[value] + 1e-12 for value, belief in mine.items() if belief)
    with pytest.raises(gh.NotSupported, match="most_options"):
        Intersection(others=(releases[1],), most_options=10, exact=True).attack(releases[0], knowledge)
    with pytest.raises(gh.NotSupported, match="most_worlds"):
        Intersection(others=(releases[1],), most_worlds=1, exact=True).attack(releases[0], knowledge)
    with pytest.raises(gh.NotSupported, match="most_sweeps"):
        Intersection(others=(releases[1],), most_sweeps=1, exact=False).attack(releases[0], knowledge)


@pytest.mark.parametrize("seed", range(10))
def test_no_belief_exceeds_its_bound_whatever_is_published(seed: int) -> None:
    """Where a group has one row alone, people of it take no row of those that others compete for."""
    draw = Random(seed)
    for _ in range(4):
        table, knowledge, rows = random_people(draw, draw.randrange(3, 5), 0)
        releases = [random_release(draw, table, "bapg") for _ in range(2)]
        expected = naive.beliefs(len(rows), [as_read(release, rows) for release in releases])
        found = Intersection(others=releases[1:], most_worlds=1, most_sweeps=1).attack(releases[0], knowledge)

        for person, mine in enumerate(expected):
            for value, belief in mine.items():
                assert float(belief) <= found.of(person)[value] + 1e-12


def test_a_bound_is_told_as_a_bound_and_people_for_whom_more_is_known_come_first() -> None:
    """P and Q certainly have their values; of the others, nothing can be counted or sampled."""
    people = gh.read({"x": [1, 1, 2, 2, 3, 3, 9, 10], "y": [0] * 8}, quasi=QUASI)
    first = {"x": ["[1, 2]"] * 4 + ["3"] * 2 + ["9", "10"], "y": ["0"] * 8, "s": list("abcdefpq")}
    second = {"x": ["1"] * 2 + ["[2, 3]"] * 4 + ["9", "10"], "y": ["0"] * 8, "s": list("abcdefpq")}
    one, two = (replace(MADE, tables={"data": pa.table(cells)}, n_tuples=8) for cells in (first, second))
    knowledge = gh.Knowledge(external=people)
    exact = Intersection(others=(two,)).attack(one, knowledge)
    found = Intersection(others=(two,), most_worlds=1, most_sweeps=1).attack(one, knowledge)

    assert ("exact", "bound") == (exact.how, found.how)
    for row in range(8):
        assert all(belief <= found.of(row)[value] for value, belief in exact.of(row).items())
    assert [False, True] == [found.only_bound[6], found.only_bound[0]]
    assert 0.5 == found.of(0)["a"], "there is one such record for two people who are alike"
    assert found.to_dict()["people_with_bound"] == int(found.only_bound.sum())
    assert (6, "p", 1.0) == found.worst()
    assert [6, 7] == [one.person for one in found.above(Fraction(2, 5), most=2)]
    assert "0 has a with probability at most 0.5000: " in found.explain(0)
    assert "it is not known how probable it is" in found.explain(0)
    assert "6 has p with probability 1.0000: " in found.explain(6)
    assert "largest probability  1.0000   median up to 0.5000" in str(found)


# --- conclusions and sampling ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(15))
def test_conclusions_never_leave_out_what_is_possible(seed: int) -> None:
    draw = Random(seed)
    for _ in range(5):
        table, knowledge, rows = random_people(draw, draw.randrange(2, 5), draw.randrange(2))
        releases = [random_release(draw, table, "bap") for _ in range(2)]
        worlds = list(naive.worlds(len(rows), [as_read(release, rows) for release in releases]))
        left = narrowed(candidates([Published.of(release) for release in releases], knowledge, most_options=10**6))

        for person in range(len(rows)):
            kind = left.of.kind[person]
            options = range(left.of.offsets[kind], left.of.offsets[kind + 1])
            possible = {left.of.values[left.of.value[o]] for o in options if left.alive[o]}
            assert {choice[person] for choice, _ in worlds} - {naive.ABSENT} <= possible
            if left.must[kind]:
                assert all(choice[person] != naive.ABSENT for choice, _ in worlds)


def random_component(draw: Random, *, outside: bool) -> Component:
    n_things = 6
    takes = [[tuple(sorted(draw.sample(range(n_things), 2))) for _ in range(draw.randrange(2, 5))] for _ in range(6)]
    takes = [sorted(set(mine)) for mine in takes]
    n_alike = [draw.randrange(1, 3) for _ in takes]
    capacity = [0] * n_things
    for n, mine in zip(n_alike, takes, strict=True):
        for _ in range(n):
            for thing in draw.choice(mine) if not (outside and draw.random() < 0.2) else ():
                capacity[thing] += 1
    numbers = iter(range(1000))
    rows = [[next(numbers) for _ in mine] for mine in takes]
    return Component(list(range(6)), n_alike, rows, takes, capacity, [not outside] * 6)


@pytest.mark.parametrize("outside", [False, True])
def test_sampled_shares_are_within_their_errors_of_counted_ones(outside: bool) -> None:
    draw = Random(7)
    inside = total = 0
    for trial in range(12):
        one = random_component(draw, outside=outside)
        exact = count_ways(one.n_alike, one.takes, one.capacity, staying=one.stays).shares
        assert exact is not None
        expected = np.array([float(share) for mine in exact for share in mine])
        cells = np.arange(len(expected))
        try:
            found = sample_options(one, cells, error=0.05, most_sweeps=4000, source=gh.Source.seeded(trial))
        except NotReached:
            continue
        assert np.abs(found.mean - expected).max() < 0.1
        inside += int((np.abs(found.mean - expected) <= found.error).sum())
        total += len(expected)

    assert total > 100
    assert inside > 0.9 * total


def test_a_sampled_attack_agrees_with_a_counted_one_and_does_not_depend_on_the_order_of_runs() -> None:
    table = gh.synthetic.hospital(60, seed=1)
    knowledge = gh.Knowledge(external=table)
    releases = [
        gh.publish(
            table,
            principle=gh.LDiversity(ell=ell),
            method=gh.Mirror(inner="ace", start="1.75"),
            recoding=gh.Boxes(),
            source=gh.Source.seeded(ell),
        )
        for ell in (2, 3)
    ]
    exact = Intersection(others=(releases[1],), exact=True).attack(releases[0], knowledge)
    twice = [
        Intersection(others=(releases[1],), exact=False, error=0.04, source=gh.Source.seeded(3)).attack(
            releases[0], knowledge
        )
        for _ in range(2)
    ]

    assert ("exact", "sampled") == (exact.how, twice[0].how)
    assert twice[0].beliefs.tolist() == twice[1].beliefs.tolist()
    assert twice[0].errors is not None
    assert (twice[0].errors <= 0.04).all()
    for row in range(60):
        mine, sampled = exact.of(f"P{row + 1:06}"), twice[0].of(f"P{row + 1:06}")
        assert mine == pytest.approx(sampled, abs=0.1)


def test_worlds_that_do_not_exist_are_not_sampled() -> None:
    with pytest.raises(NotReached, match=r"no possible table|no table"):
        sample_options(
            Component([0, 1], [1, 1], [[0, 1], [2, 3]], [[(0,), (1,)], [(0,), (1,)]], [2, 1], [True, True]),
            np.arange(4),
            error=0.1,
            most_sweeps=1000,
            source=gh.Source.seeded(0),
        )


def test_looking_for_a_world_goes_through_everybody_once_and_not_once_for_every_decision() -> None:
    """A thousand people in pairs need 500 decisions."""
    n = 500
    options = [range(2 * i, 2 * i + 2) for i in range(2 * n)]
    takes = [(thing,) for i in range(n) for thing in (2 * i, 2 * i + 1) * 2]
    search, source = _Search(options, takes, [1] * (2 * n)), gh.Source.seeded(1)
    looked = Counter[bool]()
    counts = search._options_left
    search._options_left = lambda one: looked.update([True]) or counts(one)  # type: ignore[method-assign, func-returns-value]
    decisions = 0
    search.conclude()
    while (decision := search.narrowest(source)) is not None:
        decisions += 1
        search.keep(*decision)
        search.conclude()

    assert sorted(takes[option][0] for option in search.world()) == list(range(2 * n))
    assert n == decisions
    assert looked[True] < 20 * n


def test_progress_is_told_while_worlds_are_counted_and_sampled() -> None:
    table = gh.synthetic.hospital(60, seed=1)
    made = [gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes(), method=method) for method in METHODS]
    shares: list[float] = []
    attack = Intersection(others=(made[1],), exact=False, error=0.1, source=gh.Source.seeded(1), progress=shares.append)
    attack.attack(made[0], gh.Knowledge(external=table))

    assert len(shares) > 2
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    shares.clear()
    replace(attack, exact=True).attack(made[0], gh.Knowledge(external=table))
    assert shares
    assert all(0 < share <= 0.2 for share in shares)


def test_somebody_known_to_be_in_the_table_takes_a_place_from_others() -> None:
    cells = {"x": ["[0, 2]", "[1, 3]"], "y": ["0", "0"], "s": ["a", "a"]}
    release = replace(MADE, tables={"data": pa.table(cells)}, n_tuples=2)
    people = gh.read({"x": [0, 1, 3], "y": [0, 0, 0]}, quasi=QUASI)

    alone = Intersection().attack(release, gh.Knowledge(external=people))
    known = Intersection().attack(release, gh.Knowledge(external=people, corrupted={1: "a"}))
    assert [2 / 3] * 3 == pytest.approx([alone.present(row) for row in range(3)])
    assert [1 / 2, 1, 1 / 2] == pytest.approx([known.present(row) for row in range(3)])


def test_exchanges_are_the_same_compiled_and_interpreted() -> None:
    from glasshouse import kernels

    draw = Random(2)
    name = "glasshouse.adversary.intersection._kernels"
    for _ in range(20):
        n_things, n_kinds, block = 5, 4, 6
        takes = [[sorted(draw.sample(range(n_things), 2)) for _ in range(3)] + [[]] for _ in range(n_kinds)]
        flat = [taken for mine in takes for taken in mine]
        kind = np.array([draw.randrange(n_kinds) for _ in range(8)], np.int32)
        start = np.array([4 * k + draw.randrange(4) for k in kind.tolist()], np.int32)
        members = np.array([sorted(draw.sample(range(8), block)) for _ in range(30)], np.int32)
        members[::3, 4:] = -1
        picks = np.array([draw.randrange(2**62) for _ in range(30)], np.int64)
        found = []
        for module in (kernels.compiled(name), kernels.interpreted(name)):
            chosen, pool = start.copy(), np.zeros(n_things, np.int32)
            options = module.Options(
                kind,
                np.arange(0, 4 * n_kinds + 1, 4, dtype=np.int32),
                np.cumsum([0, *map(len, flat)]).astype(np.int32),
                np.array([thing for taken in flat for thing in taken], np.int32),
                chosen,
                pool,
            )
            changed = module.exchange(
                options,
                members.reshape(-1),
                picks,
                np.empty(block + 1, np.int32),
                np.empty(block, np.int32),
                500,
            )
            assert not pool.any()
            found.append((changed, chosen.tolist()))
        used = [Counter(thing for option in own for thing in flat[option]) for own in (start, found[0][1])]

        assert found[0] == found[1]
        assert used[0] == used[1]
