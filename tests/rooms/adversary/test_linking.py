"""Linking: the papers' numbers, and beliefs against a slow count on random tables."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.adversary.matching import match
from glasshouse.cli.commands import glasshouse
from glasshouse.microdata.groups import alike
from glasshouse.release.contents import Published, Seats
from tests.rooms.recoding.reading import covers

QUASI = ["Age", "Sex", "Zipcode"]


def voters() -> gh.Knowledge:
    return gh.Knowledge(external=gh.read(gh.examples.anatomy_table5(), identifier="Name", quasi=QUASI))


def released(recoding: Any, labels: list[int], table: gh.Microdata, ell: int = 2) -> gh.Release:
    """The release that these groups give: publishing with one group, and its tables replaced."""
    made = gh.publish(
        table, principle=gh.LDiversity(ell=ell), method=gh.Separate(), recoding=recoding, source=gh.Source.seeded(0)
    )
    groups = gh.Groups(np.array(labels, np.int32), max(labels) + 1)
    more = {"buckets": [groups]} if isinstance(recoding, gh.Angel) else {}
    return replace(made, tables=recoding.recode(table, groups, **more))


def test_generalization_hides_alice_among_five_and_anatomy_does_not() -> None:
    table = gh.examples.anatomy_table1()  # ANATOMY 3.3: 4/5 from the generalized table, 1 from the anatomized ones
    groups = [0, 0, 0, 0, 1, 1, 1, 1]

    hidden = gh.attack(released(gh.Boxes(), groups, table), knowledge=voters())
    shown = gh.attack(released(gh.Anatomy(), groups, table), knowledge=voters())

    assert hidden.present("Alice") == 4 / 5
    assert hidden.of("Alice")["flu"] == pytest.approx(4 / 5 * 2 / 4)
    assert (shown.present("Alice"), shown.present("Emily")) == (1, 0)
    assert shown.of("Alice") == {"flu": 0.5, "bronchitis": 0.25, "gastritis": 0.25}
    assert any("1 person fits no published record" in note for note in shown.notes)


def test_alan_is_pneumonia_or_bronchitis_with_equal_chance() -> None:
    table = gh.examples.angel_table1()  # ANGEL Example 2
    batches = gh.Groups(np.array([0, 1, 0, 1, 2, 3, 2, 3], np.int32), 4)
    buckets = gh.Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), 4)
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Angel(k=2), source=gh.Source.seeded(0))
    release = replace(made, tables=gh.Angel(k=2).recode(table, batches, buckets=[buckets]))

    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=table))

    assert beliefs.of("Alan") == {"bronchitis": 0.5, "pneumonia": 0.5}
    assert beliefs.how == "exact"


def test_cells_that_overlap_are_counted_or_give_a_mixture_that_says_so() -> None:
    tree = gh.Taxonomy.from_nested({"any": {"low": ["a", "b"], "high": ["c", "d"]}})
    columns = {"q": ["a", "b", "c", "d", "a", "d"], "s": ["x", "y", "x", "y", "z", "z"]}
    table = gh.read(columns, quasi=["q"], sensitive="s", taxonomies={"q": tree})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Angel(k=2, cells="taxonomies"))
    batches = gh.Groups(np.array([0, 0, 1, 1, 0, 1], np.int32), 2)
    buckets = gh.Groups(np.array([0, 1, 1, 0, 0, 1], np.int32), 2)  # both are published as "any"
    nested = gh.Groups(np.array([0, 0, 1, 0, 0, 1], np.int32), 2)  # "any" around "high"
    found = {}
    for name, own, states in (("one place", buckets, 0), ("overlap", nested, 100), ("too many", nested, 0)):
        tables = gh.Angel(k=2, cells="taxonomies").recode(table, batches, buckets=[own])
        attack = gh.Linking(most_states=states)
        found[name] = gh.attack(replace(release, tables=tables), attack, knowledge=gh.Knowledge(external=table))

    how = {name: beliefs.how for name, beliefs in found.items()}
    assert how == {"one place": "exact", "overlap": "exact", "too many": "mixture"}
    assert "no probability can be above 0.3333" in found["too many"].notes[0]
    assert found["overlap"].of(0) == pytest.approx({"x": 1 / 3, "y": 1 / 3, "z": 1 / 3})  # c and d fill "high"
    assert found["one place"].of(0) == pytest.approx({"x": 1 / 3, "y": 1 / 3, "z": 1 / 3})
    # "any" holds four records for the six people who fit it; "high" has two more for the three who fit both
    assert [found["too many"].present(person) for person in range(6)] == pytest.approx([2 / 3, 2 / 3, 1, 1, 2 / 3, 1])
    assert found["too many"].of(0) == pytest.approx({"x": 2 / 9, "y": 2 / 9, "z": 2 / 9})


@pytest.mark.parametrize("seed", range(25))
def test_beliefs_in_boxes_that_overlap_are_those_of_every_way_to_hand_the_tuples_out(seed: int) -> None:
    draw = Random(seed)
    n = draw.randrange(4, 7)
    values = ["abc"[i % 3] for i in range(n)]
    table = gh.read({"x": draw.sample(range(9), n), "s": values}, quasi=["x"], sensitive="s")
    labels = [0, 0, 1, 1, *(draw.randrange(2) for _ in range(n - 4))]
    draw.shuffle(labels)
    release = released(gh.Boxes(), labels, table)
    strangers = [value for value in range(9) if value not in table.column("x").domain.values.to_pylist()]
    places = [*table.column("x").domain.decode(table.column("x").codes).to_pylist(), *strangers[: draw.randrange(2)]]
    people = gh.read({"x": places}, quasi=["x"])
    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=people))

    rows = release.data.to_pylist()
    tally: dict[tuple[int, Any], int] = Counter()
    ways = 0
    for owners in itertools.permutations(range(len(places)), len(rows)):
        if all(covers(row["x"], places[owner], 0) for row, owner in zip(rows, owners, strict=True)):
            ways += 1
            tally.update((owner, row["s"]) for row, owner in zip(rows, owners, strict=True))
    assert beliefs.how == "exact"
    for person in range(len(places)):
        share = {value: tally[person, value] / ways for value in "abc" if tally[person, value]}
        assert {value: belief for value, belief in beliefs.of(person).items() if belief} == pytest.approx(share)
        assert beliefs.present(person) == pytest.approx(sum(share.values()))


def test_people_unknown_to_the_attacker_are_counted() -> None:
    table = gh.examples.anatomy_table1()
    few = gh.Knowledge(external=table.take(np.array([0, 1])))
    beliefs = gh.attack(released(gh.Anatomy(), [0, 0, 0, 0, 1, 1, 1, 1], table), knowledge=few)

    assert beliefs.notes == ("6 records belong to people who are not in the external table",)
    assert beliefs.presence.tolist() == [1, 1]


def random_table(seed: int) -> gh.Microdata:
    draw = Random(seed)
    n = draw.randrange(4, 14)
    values = ["a", "b", "c"]
    sensitive = [values[i % 3] for i in range(n)]
    draw.shuffle(sensitive)
    columns = {
        "age": [draw.randrange(20, 26) for _ in range(n)],
        "sex": [draw.choice("FM") for _ in range(n)],
        "s": sensitive,
    }
    return gh.read(columns, quasi=["age", "sex"], sensitive="s")


@pytest.mark.parametrize("seed", range(40))
def test_beliefs_after_anatomy_are_those_of_a_slow_count(seed: int) -> None:
    table = random_table(seed)
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell=2),
        method=gh.Anatomize(),
        recoding=gh.Anatomy(),
        source=gh.Source.seeded(seed),
    )
    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=table))

    qit, st = release.tables["qit"].to_pylist(), release.tables["st"].to_pylist()
    sizes = Counter(row["Group-ID"] for row in qit)
    for row in range(table.n_tuples):
        mine = {c.name: c.domain.values[c.codes[row]].as_py() for c in table.quasi}
        alike_ = [r["Group-ID"] for r in qit if all(r[name] == value for name, value in mine.items())]
        for value in ("a", "b", "c"):
            share = sum(
                Fraction(r["Count"], sizes[g]) for g in alike_ for r in st if r["Group-ID"] == g and r["s"] == value
            ) / len(alike_)
            assert beliefs.of(row).get(value, 0.0) == pytest.approx(float(share))
    assert beliefs.share_above() == 0


@pytest.mark.parametrize("pairs", [1, 7, 1 << 16])
@pytest.mark.parametrize("seed", range(25))
def test_matching_finds_exactly_the_seats_that_cover_a_person(seed: int, pairs: int) -> None:
    table = random_table(seed)
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes(), source=gh.Source.seeded(seed))
    seats: Seats = Published.of(release).seats[0]
    kinds = alike(table.quasi)
    examples = np.array([int(np.flatnonzero(kinds.labels == kind)[0]) for kind in range(kinds.n_groups)])

    found = match(table, examples, seats, pairs=pairs)

    for kind, row in enumerate(examples):
        expected = []
        for seat in range(len(seats)):
            cells = [seats.cells[d][seats.of_seat[d][seat]] for d in range(2)]
            values = [c.domain.values[c.codes[row]].as_py() for c in table.quasi]
            if all(covers(cell, value, value) for cell, value in zip(cells, values, strict=True)):
                expected.append(seat)
        assert expected == found.seats[found.offsets[kind] : found.offsets[kind + 1]].tolist()


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel()], ids=lambda r: r.name)
@pytest.mark.parametrize("method", [gh.Mondrian(), gh.Hybrid()], ids=lambda m: m.name)
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_linking_alone_never_breaks_the_promise(method: Any, recoding: Any) -> None:
    table = gh.synthetic.hospital(2_000, seed=3)
    release = gh.publish(table, principle=gh.LDiversity(ell=4), method=method, recoding=recoding)
    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=table))

    assert beliefs.share_above() == 0
    assert beliefs.largest.min() > 0, "everybody who is in the table fits somewhere"
    assert sum(beliefs.of("P000001").values()) == pytest.approx(beliefs.present("P000001"))


def test_a_perturbed_sample_tells_little_of_anybody() -> None:
    table = gh.synthetic.hospital(1_000, seed=3)
    diseases = table.column("disease").domain.values.to_pylist()
    promise = gh.DeltaGrowth(delta="0.3", k=6)
    release = gh.publish(table, principle=promise, recoding=gh.Perturbed(domain=diseases))
    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=table))

    prior = 1 / len(diseases)
    assert beliefs.largest.max() - prior <= 0.3
    assert all(sum(beliefs.of(f"P{i:06}").values()) == pytest.approx(1) for i in range(1, 20))


@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_reverse_engineering_is_exact_where_it_can_be_and_a_bound_where_it_must(tmp_path: Path) -> None:
    people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    knowledge = gh.Knowledge(external=gh.read(people, quasi=["x", "y"]))
    release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes())
    beliefs = gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge)

    assert beliefs.worst() == (2, "a", 1.0)
    assert [belief.person for belief in beliefs.above()] == [2]
    assert (beliefs.how, beliefs.multiple(), beliefs.share_above()) == ("exact", 2.0, 0.2)

    large = gh.synthetic.hospital(300, seed=1)
    bounded = gh.attack(
        gh.publish(large, principle=gh.LDiversity(ell=3), method=gh.Hybrid()),
        gh.ReverseEngineering(),
        knowledge=gh.Knowledge(external=large),
    )
    assert (bounded.how, bounded.worst().belief) == ("bound", 1 / 3)
    for broken in ({"corrupted": {"P000001": "asthma"}}, {"prior": {"asthma": 1, "HIV": 2}}):
        with pytest.raises(gh.NotSupported, match="an attacker with a prior"):
            gh.attack(
                gh.publish(large, principle=gh.LDiversity(ell=3), method=gh.Hybrid()),
                gh.ReverseEngineering(),
                knowledge=gh.Knowledge(external=large, **broken),
            )
    with pytest.raises(gh.NotSupported, match="no theorem limits"):
        gh.attack(
            gh.publish(large, principle=gh.LDiversity(ell=3), method=gh.Refined(coarse=gh.Mondrian())),
            gh.ReverseEngineering(),
            knowledge=gh.Knowledge(external=large),
        )


def test_the_corrupted_people_leave_the_last_one_known() -> None:
    people = {"name": list("uvw"), "x": [1, 1, 1]}
    table = gh.read({**people, "s": ["a", "b", "c"]}, identifier="name", quasi=["x"], sensitive="s")
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Boxes())
    knowledge = gh.Knowledge(external=table, corrupted={"u": "a", "v": "b"})

    assert gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge).of("w") == {"c": 1.0}


def test_a_probability_that_equals_the_limit_is_never_above_it() -> None:
    table = gh.synthetic.hospital(60, seed=1)
    found = gh.attack(gh.publish(table, principle=gh.LDiversity(ell=3)), knowledge=gh.Knowledge(external=table))
    found = replace(
        found, beliefs=np.where(found.beliefs == found.beliefs.max(), np.nextafter(1 / 3, 1), found.beliefs)
    )
    told = found.to_dict()

    assert (told["largest"], told["multiple"], told["share_above"]) == (1 / 3, 1.0, 0)
    assert found.worst().belief == found.reached.max() == max(found.to_table()["belief"].to_pylist()) == 1 / 3
    truly = replace(found, beliefs=found.beliefs + 1e-9)
    assert truly.worst().belief > 1 / 3
    assert truly.multiple() > 1
    assert truly.exceeds()
    sure = replace(found, beliefs=np.minimum(found.beliefs * 2, np.nextafter(1 / 2, 1)))
    assert (sure.exceeds("1/2"), sure.multiple(0.5)) == (False, 1.0)
    assert replace(found, beliefs=found.beliefs * 3 * (1 + 1e-15)).reached.max() == 1


@pytest.mark.parametrize("limit", [33, 2, -1, "33", "50 %", float("nan"), float("inf"), True])
def test_a_limit_that_is_no_probability_is_refused(limit: Any) -> None:
    table = gh.synthetic.hospital(60, seed=1)
    found = gh.attack(gh.publish(table, principle=gh.LDiversity(ell=3)), knowledge=gh.Knowledge(external=table))
    for compare in (found.exceeds, found.share_above, found.above, found.multiple):
        with pytest.raises(gh.ParameterError, match="limit must be a number from 0 to 1"):
            compare(limit)
    assert (found.exceeds(0), found.exceeds(1), found.multiple(0)) == (True, False, float("inf"))


def test_the_limit_on_a_mixture_is_that_of_the_protected_values() -> None:
    cells = {"q": ["[1, 3]"] * 2 + ["[2, 4]"] * 4, "s": ["HIV", "flu", "HIV", "flu", "flu", "flu"]}
    table = gh.read({"q": [1, 2, 2, 3, 3, 4], "s": cells["s"]}, quasi=["q"], sensitive="s")
    made = gh.publish(table, principle=gh.DesignatedLDiversity(ell=2, values=("HIV",)), recoding=gh.Boxes())
    release = replace(made, tables={"data": pa.table(cells)})
    found = gh.Linking(most_states=1).attack(release, gh.Knowledge(external=table))

    assert found.how == "mixture"
    assert found.unprotected > 0.5
    assert "no probability of a protected value can be above 0.5000" in found.notes[0]


def test_knowledge_is_checked() -> None:
    table = gh.examples.anatomy_table1()

    with pytest.raises(gh.InputError, match=r"gh\.read"):
        gh.Knowledge(external={"age": [1]})  # type: ignore[arg-type]
    with pytest.raises(gh.InputError, match="nobody in the external table"):
        gh.Knowledge(external=gh.synthetic.hospital(10, seed=1), corrupted={"nobody": "flu"})
    release = gh.publish(table, principle=gh.LDiversity(ell=2))
    with pytest.raises(gh.SchemaError, match="Sex"):
        gh.attack(release, knowledge=gh.Knowledge(external=gh.read({"Age": [1]}, quasi=["Age"])))


@pytest.mark.parametrize("name", ["1", " 1", True, 10**30, 1.5, None, b"1", float("nan"), 99, (1,)])
def test_what_is_nobodys_identifier_is_refused(name: Any) -> None:
    table = gh.read(
        {"id": [*range(1, 41)], "age": [20, 30, 40, 50] * 10, "d": ["a", "b"] * 20},
        identifier="id",
        quasi=["age"],
        sensitive="d",
    )
    release = gh.publish(table, principle=gh.LDiversity(2))
    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=table))
    told = re.escape(f"nobody in the external table is called {name!r}") + (
        r": did you mean 1\?" if name == "1" else "$"
    )

    for ask in (beliefs.of, beliefs.explain, beliefs.present):
        with pytest.raises(gh.InputError, match=told):
            ask(name)
    for known in ([name], [*range(2, 30), name]):
        with pytest.raises(gh.InputError, match=told):
            gh.Knowledge(external=table, corrupted=dict.fromkeys(known, "a"))
    with pytest.raises(gh.InputError, match=told):
        gh.Knowledge(external=table, prior={name: {"a": 1}})
    assert beliefs.of(np.int64(1)) == beliefs.of(1)


def test_the_command_line_attacks_a_release_folder(tmp_path: Path) -> None:
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(gh.synthetic.hospital_table(n=300, seed=1), tmp_path / "patients.csv")
    table = gh.synthetic.hospital(300, seed=1)
    gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=3))
    folder, beliefs = str(tmp_path / "out" / "release"), tmp_path / "beliefs.csv"
    command = ["attack", folder, "--external", str(tmp_path / "patients.csv"), "--identifier", "patient"]
    result = CliRunner().invoke(glasshouse, [*command, "--out", str(beliefs)])
    inside = CliRunner().invoke(glasshouse, [*command, "--out", f"{folder}/beliefs.csv"])

    assert result.exit_code == 0, result.output
    assert "most exposed" in result.output
    assert len(beliefs.read_text().splitlines()) == 301
    assert beliefs.stat().st_mode & 0o777 == 0o600
    assert inside.exit_code == 2
    assert "must not be published" in inside.output


def test_every_way_to_write_a_cell_is_understood() -> None:
    from glasshouse.adversary.cell_codes import CellReader

    ages = gh.read({"age": [20, 25, 30, 40], "zip": ["47601", "47602", "47911", "50000"]}, quasi=["age", "zip"])
    age, place = CellReader(ages.quasi[0].domain), CellReader(ages.quasi[1].domain)
    cases = {
        "[20, 30]": [0, 1, 2],
        "[20, 30)": [0, 1],
        "(20, 30]": [1, 2],
        "20-30": [0, 1, 2],
        "[18, 27]": [0, 1],
        "25": [1],
        "*": [0, 1, 2, 3],
        "99": [],
    }
    assert {cell: age.codes(cell).tolist() for cell in cases} == cases
    assert [place.codes(cell).tolist() for cell in ("476**", "{47601,50000}", "47601|47911", "*")] == [
        [0, 1],
        [0, 3],
        [0, 2],
        [0, 1, 2, 3],
    ]
    assert list(itertools.chain(age.codes("missing"))) == []


def test_an_attack_that_is_called_by_itself_reads_the_tree_that_a_release_carries() -> None:
    tree = gh.Taxonomy.from_nested({"any": {"north": ["Oslo", "Bergen"], "south": ["Rome", "Faro"]}})
    rows = {"town": ["Oslo", "Bergen", "Rome", "Faro"], "ill": ["x", "y", "x", "y"]}
    table = gh.read(rows, quasi=["town"], sensitive="ill", taxonomies={"town": tree})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies(), carry="declared")
    knowledge = gh.Knowledge(external=gh.read({"town": ["Rome", "Paris"]}, quasi=["town"]))

    for chosen in (gh.Linking(), gh.Corruption()):
        alone, asked = chosen.attack(release, knowledge), gh.attack(release, chosen, knowledge=knowledge)
        assert (alone.of(0), alone.present(1)) == (asked.of(0), asked.present(1))
        assert alone.present(0) > 0


@pytest.mark.parametrize("k", [0, 4])
def test_of_designated_values_only_these_are_compared_and_all_are_shown(k: int) -> None:
    people = {"age": [20, 30] * 20, "ill": ["HIV" if i in (0, 2) else "flu" for i in range(40)]}
    table = gh.read(people, quasi=["age"], sensitive="ill")
    asked: gh.Principle = gh.DesignatedLDiversity(ell=5, values=("HIV",))
    asked = gh.AllOf(principles=(asked, gh.KAnonymity(k=k))) if k else asked
    release = gh.publish(table, principle=asked, method=gh.Mondrian(), recoding=gh.Boxes())
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    alone = gh.attack(release, knowledge=gh.Knowledge(external=gh.read({"age": [30]}, quasi=["age"])))

    assert found.of(0) == {"flu": 0.9, "HIV": 0.1}
    assert found.compared.of(0) == {"HIV": 0.1}
    assert (found.worst().value, found.worst().belief, found.unprotected) == ("HIV", 0.1, 1.0)
    assert (found.exceeds(0.2), found.exceeds(0.05), len(found.above(0.05))) == (False, True, 20)
    assert found.limit == (None if k else Fraction(1, 5))
    assert (alone.of(0), alone.worst().belief) == ({"flu": 1.0}, 0.0)
    assert "the largest is 1.0000" in str(alone)
