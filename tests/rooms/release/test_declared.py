"""A release carries the taxonomies and orders that its cells are written in; without them it is not read wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.analyst.usefulness.losses import losses
from glasshouse.analyst.usefulness.reconstruction_error import terms_of
from glasshouse.cli.commands import glasshouse as main
from glasshouse.declarations import Declared
from glasshouse.journeys.marginals import publish_marginals
from glasshouse.journeys.recheck import verify_stream
from glasshouse.release.package.manifest import MANIFEST
from tests.rooms.release.kinds import of_kind
from tests.rooms.release.test_reading import manifest_of, put

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")

TREE = gh.Taxonomy.from_nested(
    {"US": {"South": ["Texas", "Florida", "Georgia"], "West": ["Utah", "Oregon"], "Alaska": []}}
)
GRADES = ["low", "middle", "high", "top"]
STATES = ["Texas", "Florida", "Texas", "Georgia", "Utah", "Oregon", "Utah", "Utah", "Texas", "Oregon"]
PEOPLE: dict[str, Any] = {
    "state": STATES * 3,
    "age": [20 + 7 * i % 11 for i in range(30)],
    "grade": [GRADES[i * i % 4] for i in range(30)],
    "ill": [["flu", "gout", "cold", "ulcer"][(i + i // 4) % 4] for i in range(30)],
}


def table(quasi: tuple[str, ...] = ("age", "state"), **options: Any) -> gh.Microdata:
    trees = {"state": TREE} if "state" in quasi else {}
    orders = {"grade": GRADES} if "grade" in quasi else {}
    roles = {"quasi": list(quasi), "sensitive": "ill", "taxonomies": trees, "ordered": orders, **options}
    return gh.read(PEOPLE, **roles)


def release_of(folder: Path, made: gh.Microdata, recoding: Any, carry: str, k: int = 0) -> gh.Release:
    """A release that went through its folder."""
    principle: Any = gh.KAnonymity(k=k) if k else gh.LDiversity(ell=2)
    release = gh.publish(made, principle=principle, method=gh.Mondrian(), recoding=recoding, carry=carry)
    release.save(folder / "release", force=True)
    return gh.load(folder / "release")


NODES = [gh.Taxonomies(), gh.Angel(cells="taxonomies", k=2)]


# ------------------------------------------------------------------------------------------------- the whole tree


@pytest.mark.parametrize("recoding", NODES, ids=repr)
def test_a_release_with_its_tree_is_read_like_one_whose_reader_knows_the_tree(recoding: Any, tmp_path: Path) -> None:
    made = table()
    alone = release_of(tmp_path, made, recoding, "declared")
    known = {"taxonomies": {"state": TREE}}

    assert Declared.carried_by(alone).taxonomies == {"state": TREE}
    for sql in (
        "SELECT COUNT(*) WHERE state = 'Texas'",
        "SELECT COUNT(*) WHERE state <> 'Texas' AND age > 22",
        "SELECT state, COUNT(*) GROUP BY state",
        "SELECT COUNT(*) WHERE state IN ('Utah', 'Alaska') AND ill = 'flu'",
    ):
        assert str(gh.query(alone, sql)) == str(gh.query(alone, sql, **known))
    assert float(gh.query(alone, "SELECT COUNT(*) WHERE state = 'Texas'")) > 0
    workload = gh.Workload.anatomy(made, qd=2, n=20)
    assert np.array_equal(gh.answer(alone, workload).values, gh.answer(alone, workload, **known).values)
    assert losses(alone) == losses(alone, **known)
    assert gh.sample(alone, source=gh.Source.seeded(1)).equals(gh.sample(alone, source=gh.Source.seeded(1), **known))


def test_an_answer_goes_by_the_leaves_of_the_carried_tree(tmp_path: Path) -> None:
    whole = gh.read({"state": STATES, "ill": ["flu", "gout"] * 5}, quasi=["state"], sensitive="ill",
                    taxonomies={"state": TREE})  # fmt: skip
    release = gh.publish(whole, principle=gh.KAnonymity(k=10), recoding=gh.Taxonomies(), carry="declared")
    release.save(tmp_path / "release")
    loaded = gh.load(tmp_path / "release")

    assert set(loaded.data["state"].to_pylist()) == {"US"}
    assert float(gh.query(loaded, "SELECT COUNT(*) WHERE state = 'Texas'")) == pytest.approx(10 / 6)
    assert float(gh.query(loaded, "SELECT COUNT(*) WHERE state = 'South'")) == pytest.approx(10 * 3 / 6)
    assert float(gh.query(loaded, "SELECT COUNT(*) WHERE state <> 'South'")) == pytest.approx(10 * 3 / 6)


def test_nodes_that_share_a_label_are_read_by_the_one_that_is_published(tmp_path: Path) -> None:
    tree = gh.Taxonomy.from_nested({"any": {"lungs": {"other": ["a", "b"]}, "skin": {"other": ["c", "d"]}}})
    made = gh.read({"was": ["a", "b", "c", "d"], "ill": ["x", "y", "x", "y"]}, quasi=["was"], sensitive="ill",
                   taxonomies={"was": tree})  # fmt: skip
    release = release_of(tmp_path, made, gh.Taxonomies(), "declared")

    assert set(release.data["was"].to_pylist()) == {"other (lungs)", "other (skin)"}
    assert float(gh.query(release, "SELECT COUNT(*) WHERE was = 'a'")) == 1
    assert float(gh.query(release, "SELECT COUNT(*) WHERE was = 'other (skin)'")) == 2


ATTACKS = [gh.Linking(), gh.ReverseEngineering(), gh.Minimality(), gh.Intersection()]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_with_the_carried_tree_believes_what_one_does_that_brings_it(attack: Any, tmp_path: Path) -> None:
    few = {name: values[:8] for name, values in PEOPLE.items()}
    made = gh.read(few, quasi=["age", "state"], sensitive="ill", taxonomies={"state": TREE})
    release = release_of(tmp_path, made, gh.Taxonomies(), "declared")
    voters = gh.read(few, quasi=["age", "state"])
    plain = gh.attack(release, attack, knowledge=gh.Knowledge(external=voters))
    known = gh.attack(release, attack, knowledge=gh.Knowledge(external=made))

    assert plain.largest.tolist() == pytest.approx(known.largest.tolist())
    assert plain.presence.tolist() == known.presence.tolist()


def test_people_from_places_that_the_tree_lacks_fit_no_node_of_it(tmp_path: Path) -> None:
    release = release_of(tmp_path, table(), gh.Taxonomies(), "declared")
    more = {"state": [*PEOPLE["state"], "Ontario", "Oslo"], "age": [*PEOPLE["age"], 22, 22]}
    found = gh.attack(release, knowledge=gh.Knowledge(external=gh.read(more, quasi=["age", "state"])))

    assert [found.present(person) for person in (30, 31)] == [0, 0]
    assert found.present(0) == 1


def test_a_taxonomy_that_contradicts_the_carried_one_is_refused(tmp_path: Path) -> None:
    release = release_of(tmp_path, table(), gh.Taxonomies(), "declared")
    other = gh.Taxonomy.from_nested({"US": [*dict.fromkeys(STATES)]})

    with pytest.raises(gh.InputError, match="already has a taxonomy for column 'state', and a different one was given"):
        gh.query(release, "SELECT COUNT(*) WHERE state = 'Texas'", taxonomies={"state": other})
    voters = gh.read(PEOPLE, quasi=["age", "state"], taxonomies={"state": other})
    with pytest.raises(gh.InputError, match="read the external table without one"):
        gh.attack(release, knowledge=gh.Knowledge(external=voters))
    with pytest.raises(gh.SchemaError, match="did you mean 'state'"):
        gh.query(release, "SELECT COUNT(*) WHERE state = 'Texas'", taxonomies={"stat": TREE})


# ------------------------------------------------------------------------------------------------- rules and orders


RULES = {
    "age": gh.Taxonomy.intervals(width=5),
    "zip": gh.Taxonomy.prefix(length=5),
    "born": gh.Taxonomy.dates(levels=("month", "year")),
}


@pytest.mark.parametrize("carry", ["cells", "declared"])
def test_rules_go_out_as_rules_whatever_is_asked(carry: str, tmp_path: Path) -> None:
    import datetime

    columns = {
        "age": [20 + i % 9 for i in range(24)],
        "zip": [f"476{i % 7:02}" for i in range(24)],
        "born": [datetime.date(1990 + i % 3, 1 + i % 5, 3) for i in range(24)],
        "ill": ["flu", "gout", "cold"] * 8,
    }
    made = gh.read(columns, quasi=list(RULES), sensitive="ill", taxonomies=RULES)
    release = release_of(tmp_path, made, gh.Taxonomies(), carry)

    assert Declared.carried_by(release).taxonomies == RULES
    voters = gh.read(columns, quasi=list(RULES))
    plain = gh.attack(release, knowledge=gh.Knowledge(external=voters))
    known = gh.attack(release, knowledge=gh.Knowledge(external=made))
    assert plain.largest.tolist() == known.largest.tolist()
    assert not plain.notes  # everybody was found


def test_borders_that_came_from_the_table_are_not_carried_as_if_they_had_been_declared(tmp_path: Path) -> None:
    made = gh.read(PEOPLE, quasi=["age"], sensitive="ill", taxonomies={"age": gh.Taxonomy.quantiles(n=4)})
    release = release_of(tmp_path, made, gh.Taxonomies(), "declared")

    assert {c.name: c.declared for c in release.columns}["age"] == {"kind": "quantiles"}
    with pytest.raises(gh.InputError, match="the method may have used a taxonomy of column 'age'"):
        gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=gh.read(PEOPLE, quasi=["age"])))


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Angel(k=20)], ids=repr)
def test_a_declared_order_is_carried_if_the_steward_says_so(recoding: Any, tmp_path: Path) -> None:
    made = table(("age", "grade"))
    told = release_of(tmp_path / "told", made, recoding, "declared", k=20)
    asked = "SELECT COUNT(*) WHERE grade = 'middle'"
    known = {"ordered": {"grade": GRADES}}

    assert str(gh.query(told, asked)) == str(gh.query(told, asked, **known))
    untold = release_of(tmp_path / "untold", made, recoding, "cells", k=20)
    with pytest.raises(gh.InputError, match=r"ordered=\{'grade'"):
        gh.query(untold, asked)
    assert str(gh.query(untold, asked, **known)) == str(gh.query(told, asked))
    voters = gh.Knowledge(external=gh.read(PEOPLE, quasi=["age", "grade"]))
    bringing = gh.Knowledge(external=gh.read(PEOPLE, quasi=["age", "grade"], **known))
    with pytest.raises(gh.InputError, match="read the external table with this order"):
        gh.attack(untold, knowledge=voters)
    assert (
        gh.attack(told, knowledge=voters).largest.tolist()
        == gh.attack(untold, knowledge=bringing).largest.tolist()
        == gh.attack(told, knowledge=bringing).largest.tolist()
    )


def test_an_order_of_a_frame_or_of_bins_was_not_declared_and_does_not_go_out(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(PEOPLE)
    frame["grade"] = pd.Categorical(frame["grade"], categories=["nobody", *GRADES], ordered=True)
    by_frame = gh.read(frame, quasi=["grade"], sensitive="ill")
    by_bins = gh.read(PEOPLE, quasi=["age"], sensitive="ill", bins={"age": gh.Taxonomy.intervals(width=3)})
    of_frame, of_bins = (release_of(tmp_path, made, gh.Boxes(), "declared", k=20) for made in (by_frame, by_bins))
    for release in (of_frame, of_bins):
        assert release.columns[0].declared == {"kind": "order"}
    with pytest.raises(gh.InputError, match=r"ordered=\{'grade'"):
        gh.query(of_frame, "SELECT COUNT(*) WHERE grade = 'low'")
    found = gh.query(of_bins, "SELECT COUNT(*) WHERE age >= 21").only  # the order of ranges is that of their numbers
    assert found.low <= sum(age >= 21 for age in PEOPLE["age"]) <= found.high


def test_numbers_in_another_order_than_their_own_are_not_taken_for_intervals_of_numbers(tmp_path: Path) -> None:
    odd = {"code": [3, 1, 2, 3, 1, 2, 3, 2], "ill": ["flu", "gout"] * 4}
    made = gh.read(odd, quasi=["code"], sensitive="ill", ordered={"code": [3, 1, 2]})
    one = {"principle": gh.KAnonymity(k=8), "recoding": gh.Boxes()}
    told, untold = (gh.publish(made, **one, carry=carry) for carry in ("declared", "cells"))

    assert set(told.data["code"].to_pylist()) == {"[3, 2]"}
    assert float(gh.query(told, "SELECT COUNT(*) WHERE code = 1")) == pytest.approx(8 / 3)
    with pytest.raises(gh.InputError, match="order that was declared by the publisher"):
        gh.query(untold, "SELECT COUNT(*) WHERE code = 1")


# -------------------------------------------------------------------------------------------------- only the cells


@pytest.fixture
def by_cells(tmp_path: Path) -> gh.Release:
    """Cells US, South, Utah and Texas, of a release that tells only how these lie within each other."""
    people = {
        "state": ["Texas"] * 4 + ["Texas", "Florida"] * 2 + ["Utah"] * 4 + ["Utah", "Georgia"],
        "ill": ["flu", "gout"] * 7,
    }
    made = gh.read(people, quasi=["state"], sensitive="ill", taxonomies={"state": TREE})
    groups = gh.Groups(np.repeat(np.arange(4, dtype=np.int32), [4, 4, 4, 2]), 4)
    release = gh.publish(made, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies())
    from dataclasses import replace

    from glasshouse.recoding.columns import carried

    tables = gh.Taxonomies().recode(made, groups)
    told = carried(made, tables, gh.Taxonomies(), "cells")
    columns = tuple(replace(column, declared=told.get(column.name)) for column in release.columns)
    replace(release, tables=tables, columns=columns).save(tmp_path / "release")
    return gh.load(tmp_path / "release")


def test_only_the_published_nodes_and_how_they_lie_within_each_other_are_told(by_cells: gh.Release) -> None:
    assert by_cells.columns[0].declared == {
        "kind": "nodes",
        "nodes": [
            {"label": "US"},
            {"label": "South", "within": "US"},
            {"label": "Utah", "within": "US", "leaf": True},
            {"label": "Texas", "within": "South", "leaf": True},
        ],
    }


def test_a_question_that_the_nodes_decide_is_answered_and_any_other_refused(by_cells: gh.Release) -> None:
    def asked(condition: str) -> float:
        return float(gh.query(by_cells, f"SELECT COUNT(*) WHERE {condition}"))

    assert asked("state = 'US'") == 14
    assert asked("state <> 'US'") == 0
    assert asked("ill = 'flu'") == 7
    assert asked("state IN ('US', 'Texas')") == 14
    for condition in ("state = 'Texas'", "state = 'South'", "state = 'Ohio'", "state < 'T'", "NOT state = 'Utah'"):
        with pytest.raises(gh.InputError, match=r"taxonomies=\{'state': ...\}"):
            asked(condition)
    for question in ("SELECT state, COUNT(*) GROUP BY state",):
        with pytest.raises(gh.InputError, match=r"taxonomies=\{'state': \.\.\.\}"):
            gh.query(by_cells, question)


def test_without_a_node_above_what_is_asked_the_answer_is_the_trees(by_cells: gh.Release) -> None:
    from dataclasses import replace

    kept = [cell != "US" for cell in by_cells.data["state"].to_pylist()]
    told = by_cells.columns[0].declared
    assert told is not None
    nodes = [{k: v for k, v in node.items() if v != "US"} for node in told["nodes"] if node["label"] != "US"]
    columns = (replace(by_cells.columns[0], declared={"kind": "nodes", "nodes": nodes}), *by_cells.columns[1:])
    alone = replace(
        by_cells, tables={"data": pa.table(by_cells.data.filter(kept).to_pydict())}, columns=columns, n_tuples=sum(kept)
    )
    for condition in ("state = 'South'", "state = 'Utah'", "state IN ('South', 'Utah')", "NOT state = 'Utah'"):
        sql = f"SELECT COUNT(*) WHERE {condition}"
        assert str(gh.query(alone, sql)) == str(gh.query(alone, sql, taxonomies={"state": TREE}))


def test_everything_else_that_needs_the_tree_is_refused_with_what_to_give(by_cells: gh.Release) -> None:
    voters = gh.read({"state": STATES}, quasi=["state"])
    made = gh.read({"state": STATES, "ill": ["flu", "gout"] * 5}, quasi=["state"], sensitive="ill",
                   taxonomies={"state": TREE})  # fmt: skip
    for ask in (
        lambda: losses(by_cells),
        lambda: gh.sample(by_cells),
        lambda: gh.answer(by_cells, gh.Workload.anatomy(made, qd=1, n=5)),
        lambda: gh.attack(by_cells, knowledge=gh.Knowledge(external=voters)),
        lambda: gh.attack(by_cells, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=voters)),
        lambda: gh.attack(by_cells, gh.Corruption(), knowledge=gh.Knowledge(external=voters)),
    ):
        with pytest.raises(gh.InputError, match="taxonomies="):
            ask()
    known = gh.read({"state": STATES}, quasi=["state"], taxonomies={"state": TREE})
    assert gh.attack(by_cells, knowledge=gh.Knowledge(external=known)).largest.max() > 0
    assert losses(by_cells, taxonomies={"state": TREE}).n_tuples == 14
    other = gh.Taxonomy.from_nested({"US": [*dict.fromkeys(STATES)]})
    with pytest.raises(gh.DomainError, match="has no node 'South', which the release shows"):
        gh.query(by_cells, "SELECT COUNT(*) WHERE state = 'Utah'", taxonomies={"state": other})


def test_duckdb_gives_no_list_of_values_that_nobody_told(by_cells: gh.Release) -> None:
    pytest.importorskip("duckdb")
    shown = [row[0] for row in gh.to_duckdb(by_cells).execute("SHOW TABLES").fetchall()]
    known = [row[0] for row in gh.to_duckdb(by_cells, taxonomies={"state": TREE}).execute("SHOW TABLES").fetchall()]

    assert "cells of state" not in shown
    assert "cells of state" in known


def by_ages(*labels: str, carry: str = "cells") -> gh.Release:
    """People of 20 to 39 years, published with these nodes for each half of them."""
    tree = gh.Taxonomy.from_nested(
        {"*": {label: list(map(str, range(20 + 10 * i, 30 + 10 * i))) for i, label in enumerate(labels)}}
    )
    people = {"age": [*range(20, 40)] * 2, "ill": (["flu", "gout"] * 10) + (["gout", "flu"] * 10)}
    made = gh.read(people, quasi=["age"], sensitive="ill", taxonomies={"age": tree})
    return gh.publish(made, principle=gh.KAnonymity(k=5), method=gh.Mondrian(), recoding=gh.Taxonomies(), carry=carry)


def test_nodes_that_are_ranges_of_numbers_need_no_taxonomy() -> None:
    release = by_ages("[20, 30[", "[30, 40)")
    whole = by_ages("[20, 30[", "[30, 40)", carry="declared")

    assert set(release.data["age"].to_pylist()) == {"[20, 30[", "[30, 40)"}
    for sql in ("SELECT COUNT(*) WHERE age >= 35", "SELECT AVG(age)", "SELECT COUNT(*) WHERE age = 21 AND ill = 'flu'"):
        assert float(gh.query(release, sql)) == pytest.approx(float(gh.query(whole, sql)))
    people = gh.Knowledge(external=gh.read({"age": [25, 35, 50]}, quasi=["age"]))
    found, known = gh.attack(release, knowledge=people), gh.attack(whole, knowledge=people)
    assert [found.of(i) for i in range(3)] == [known.of(i) for i in range(3)]
    assert found.of(2) == {}


@pytest.mark.parametrize("labels", [("young", "[30, 40)"), ("20s", "30s"), ("020", "030")])
def test_other_nodes_of_numbers_are_refused_and_the_way_out_is_said(labels: tuple[str, str]) -> None:
    release = by_ages(*labels)
    people = gh.Knowledge(external=gh.read({"age": [25, 35]}, quasi=["age"]))

    with pytest.raises(gh.InputError, match=r"taxonomies=.* or ask the publisher .*--carry declared"):
        gh.query(release, "SELECT COUNT(*) WHERE age >= 35")
    with pytest.raises(gh.InputError, match=r"or ask the publisher .*--carry declared"):
        gh.attack(release, knowledge=people)


def test_publish_says_that_others_cannot_ask_about_nodes(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("".join(f"{age};{'young' if age < 30 else 'old'};*\n" for age in range(20, 40)))
    (tmp_path / "ranges.csv").write_text("".join(f"{age};[20, 40[;*\n" for age in range(20, 40)))
    rows = [f"{20 + i % 20},{['flu', 'gout'][i // 3 % 2]}" for i in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill", *rows]) + "\n")

    def noted(taxonomy: str, *more: str) -> bool:
        line = ["publish", str(tmp_path / "people.csv"), "--quasi", "age", "--sensitive", "ill", "--k", "5"]
        line += ["--recoding", "taxonomies", "--taxonomy", f"age={tmp_path / taxonomy}", "--no-report", "--force"]
        result = CliRunner().invoke(main, [*line, "--out", str(tmp_path / "out"), *more])
        assert result.exit_code == 0, result.output
        return "--carry declared publishes the whole taxonomy" in " ".join(result.stderr.split())

    assert noted("age.csv")
    assert noted("age.csv", "--engine", "disk")
    assert not noted("age.csv", "--carry", "declared")
    assert not noted("ranges.csv")


def test_marginals_that_come_later_tell_their_own_nodes(tmp_path: Path) -> None:
    made = table(("age", "state", "grade"))
    choices = {"principle": gh.LDiversity(ell=2), "recoding": gh.Angel(cells="taxonomies", k=2)}
    gh.publish(made, out=tmp_path, **choices)
    publish_marginals(tmp_path, made, marginals=[["state", "ill"], ["state", "age"]])

    grown = gh.load(tmp_path / "release")
    shown = {cell for shown in grown.tables.values() if "state" in shown.column_names
             for cell in shown["state"].to_pylist()}  # fmt: skip
    told = {c.name: c.declared for c in grown.columns}["state"]
    assert told is not None
    assert {node["label"] for node in told["nodes"]} == shown


# ------------------------------------------------------------------------------------------------ formats 1 and 2


def test_an_older_release_of_nodes_is_refused_what_it_cannot_answer() -> None:
    release = gh.load(Path(__file__).parent / "format_2" / "taxonomies")
    towns = gh.Taxonomy.from_nested({"anywhere": {"north": ["Oslo", "Bergen"], "south": ["Rome", "Bari"]}})

    assert float(gh.query(release, "SELECT COUNT(*)")) == release.n_tuples
    with pytest.raises(gh.InputError, match=r"taxonomies=\{'town': \.\.\.\}"):
        gh.query(release, "SELECT COUNT(*) WHERE town = 'Bari'")
    assert float(gh.query(release, "SELECT COUNT(*) WHERE town = 'Bari'", taxonomies={"town": towns})) > 0
    people = {"town": ["Oslo", "Bari"], "age": [20, 41]}
    with pytest.raises(gh.InputError, match=r"taxonomies=\{'town': \.\.\.\}"):
        gh.attack(release, knowledge=gh.Knowledge(external=gh.read(people, quasi=["age", "town"])))
    voters = gh.read(people, quasi=["age", "town"], taxonomies={"town": towns})
    assert gh.attack(release, knowledge=gh.Knowledge(external=voters)).largest.max() > 0


# -------------------------------------------------------------------------------------------- what else a reader needs


OLD = {"age": [60 + i for i in range(40)], "ill": [["flu", "gout", "cold", "ulcer"][i * 7 % 4] for i in range(40)]}


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Angel()], ids=repr)
def test_a_top_code_goes_out_and_people_above_it_are_found_and_not_told_apart(recoding: Any, tmp_path: Path) -> None:
    made = gh.read(OLD, quasi=["age"], sensitive="ill", top={"age": 80.0}, bottom={"age": 65})
    release = release_of(tmp_path, made, recoding, "cells")

    assert release.columns[0].limits == {"bottom": "65", "top": "80"}
    assert "80 stands for itself and everything above" in (tmp_path / "release" / "README.md").read_text()
    plain, coded = (
        gh.attack(release, knowledge=gh.Knowledge(external=people)) for people in (gh.read(OLD, quasi=["age"]), made)
    )
    assert plain.largest.tolist() == coded.largest.tolist()
    assert min(plain.present(person) for person in range(40)) > 0.9
    assert float(gh.query(release, "SELECT COUNT(*) WHERE age >= 80")) == 20
    assert float(gh.query(release, "SELECT COUNT(*) WHERE age < 80")) == pytest.approx(20)
    assert float(gh.query(release, "SELECT COUNT(*) WHERE NOT age > 65")) == pytest.approx(6, abs=3)
    for condition in ("age > 85", "age = 80", "age BETWEEN 70 AND 90", "age < 62", "age IN (64, 70)"):
        with pytest.raises(gh.InputError, match=r"and everything (above|below)"):
            gh.query(release, f"SELECT COUNT(*) WHERE {condition}")
    assert "'age' is top-coded" in " ".join(gh.query(release, "SELECT AVG(age)").notes)


@pytest.mark.parametrize(
    ("column", "limits"),
    [("age", {}), ("age", {"top": 80}), ("age", {"top": "x"}), ("age", {"most": "80"}), ("ill", {"top": "80"}),
     ("age", {"top": "9" * 40}), ("age", "80")],
)  # fmt: skip
def test_hostile_limits_are_refused(column: str, limits: Any, tmp_path: Path) -> None:
    release_of(tmp_path, gh.read(OLD, quasi=["age"], sensitive="ill", top={"age": 80}), gh.Boxes(), "cells")
    manifest = manifest_of(tmp_path / "release")
    for told in manifest["glasshouse"]["columns"]:
        if told["name"] == column:
            told["limits"] = limits
    put(tmp_path / "release", manifest)

    with pytest.raises(gh.SourceError):
        gh.load(tmp_path / "release")


def test_a_list_in_other_bins_or_without_the_time_zone_is_refused_and_not_found_absent() -> None:
    binned = gh.read(OLD, quasi=["age"], sensitive="ill", bins={"age": gh.Taxonomy.intervals(width=5)})
    for recoding in (gh.Anatomy(), gh.Boxes()):
        release = gh.publish(binned, principle=gh.LDiversity(ell=2), recoding=recoding)
        other = {"age": gh.Taxonomy.intervals(width=7)}
        with pytest.raises(gh.InputError, match="has other ranges than the release"):
            gh.attack(release, knowledge=gh.Knowledge(external=gh.read(OLD, quasi=["age"], bins=other)))
        exact = gh.attack(release, knowledge=gh.Knowledge(external=gh.read(OLD, quasi=["age"])))
        found = gh.attack(release, knowledge=gh.Knowledge(external=binned))
        assert found.largest.min() > 0
        assert exact.largest.tolist() == found.largest.tolist(), "who knows a number knows its range"
    one = gh.publish(binned, principle=gh.KAnonymity(k=40), recoding=gh.Boxes())
    assert set(one.data["age"].to_pylist()) == {'["[60, 65)", "[95, 100)"]'}
    assert gh.attack(one, knowledge=gh.Knowledge(external=binned)).largest.min() > 0
    bins = [f"[{low}, {low + 5})" for low in range(60, 100, 5)]
    found = gh.query(one, "SELECT COUNT(*) WHERE age = '[70, 75)'", ordered={"age": bins})
    assert float(found) == pytest.approx(40 / 8)

    moments = [10**15 + 3600 * 10**6 * i for i in range(40)]
    zoned = pa.table({"seen": pa.array(moments, pa.timestamp("us", "Europe/Oslo")), "ill": OLD["ill"]})
    plain = pa.table({"seen": pa.array(moments, pa.timestamp("us"))})
    release = gh.publish(gh.read(zoned, quasi=["seen"], sensitive="ill"), principle=gh.LDiversity(ell=2))
    with pytest.raises(gh.InputError, match="has a time zone in the release and none in the external table"):
        gh.attack(release, knowledge=gh.Knowledge(external=gh.read(plain, quasi=["seen"])))
    assert gh.attack(release, knowledge=gh.Knowledge(external=gh.read(zoned, quasi=["seen"]))).largest.min() > 0


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_minimality_under_t_closeness_takes_the_order_or_the_tree_from_the_release(
    distance: str, tmp_path: Path
) -> None:
    values = ["flu", "gout", "cold", "ulcer"]
    told: dict[str, Any] = (
        {"ordered": {"ill": values}}
        if distance == "ordered"
        else {"taxonomies": {"ill": gh.Taxonomy.from_nested({"any": {"a": values[:2], "b": values[2:]}})}}
    )
    made = gh.read(OLD, quasi=["age"], sensitive="ill", **told)
    release = gh.publish(
        made, principle=gh.TCloseness(t="0.4", distance=distance), method=gh.Mondrian(), recoding=gh.Boxes()
    )
    release.save(tmp_path / "release")
    loaded = gh.load(tmp_path / "release")

    assert gh.verify(loaded).holds
    people = gh.Knowledge(external=gh.read(OLD, quasi=["age"]))
    assert 0 < gh.attack(loaded, gh.Minimality(scheme="local"), knowledge=people).largest.max() <= 1


# ------------------------------------------------------------------------------------------------- what strangers send


def hostile(folder: Path, declared: Any, column: str = "state") -> Path:
    manifest = manifest_of(folder)
    for told in manifest["glasshouse"]["columns"]:
        if told["name"] == column:
            told["declared"] = declared
    put(folder, manifest)
    return folder


def deep(levels: int) -> Any:
    tree: Any = ["n0", "Texas"]
    for level in range(1, levels):
        tree = [f"n{level}", tree]
    return tree


WRONG: dict[str, Any] = {
    "no object": "prefix",
    "no kind": {},
    "an unknown kind": {"kind": "forest"},
    "something beside it": {"kind": "prefix", "length": 5, "run": "rm"},
    "a number for a label": {"kind": "tree", "tree": ["US", 7]},
    "no label": {"kind": "tree", "tree": [["US", "Texas"], "Utah"]},
    "no tree": {"kind": "tree"},
    "an empty branch": {"kind": "tree", "tree": ["US", []]},
    "a branch that is only a label": {"kind": "tree", "tree": ["US", ["South"]]},
    "a tree that is too deep": {"kind": "tree", "tree": deep(200)},
    "a tree of nested lists": {"kind": "tree", "tree": [[[["US"]]]]},
    "a label that is too long": {"kind": "tree", "tree": ["US", "x" * 20_000]},
    "a leaf twice": {"kind": "tree", "tree": ["US", "Texas", "Texas"]},
    "the root as a leaf": {"kind": "tree", "tree": ["US", ["South", "US"]]},
    "a tree of other values": {"kind": "tree", "tree": ["Norway", "Oslo", "Bergen"]},
    "a prefix without end": {"kind": "prefix", "length": 10**12},
    "a prefix of no length": {"kind": "prefix", "length": 0},
    "a prefix that is true": {"kind": "prefix", "length": True},
    "a rule without its parameter": {"kind": "intervals"},
    "intervals of nothing": {"kind": "intervals", "width": 1e-300, "start": 0, "fanout": 2, "levels": None},
    "intervals without a number": {"kind": "intervals", "width": "5", "start": 0, "fanout": 2, "levels": None},
    "endless levels": {"kind": "intervals", "width": 5, "start": 0, "fanout": 2, "levels": 10**9},
    "dates without levels": {"kind": "dates", "levels": []},
    "dates by the aeon": {"kind": "dates", "levels": ["aeon"]},
    "nodes that are no objects": {"kind": "nodes", "nodes": ["South"]},
    "a node without a label": {"kind": "nodes", "nodes": [{"leaf": True}]},
    "a node twice": {"kind": "nodes", "nodes": [{"label": "South"}, {"label": "South"}]},
    "a ring of nodes": {"kind": "nodes", "nodes": [{"label": "a", "within": "b"}, {"label": "b", "within": "a"}]},
    "a node within a leaf": {"kind": "nodes", "nodes": [{"label": "a", "leaf": True}, {"label": "b", "within": "a"}]},
    "a node that is half a leaf": {"kind": "nodes", "nodes": [{"label": "a", "leaf": 1}]},
    "a node that is no cell": {"kind": "nodes", "nodes": [{"label": "Oslo", "leaf": True}]},
    "no nodes": {"kind": "nodes", "nodes": []},
    "an order of numbers": {"kind": "order", "order": [1, 2]},
    "an order with a value twice": {"kind": "order", "order": ["a", "a"]},
    "an empty order": {"kind": "order", "order": []},
}


@pytest.mark.parametrize("declared", WRONG.values(), ids=WRONG.keys())
def test_a_hostile_taxonomy_is_refused(declared: Any, tmp_path: Path) -> None:
    release_of(tmp_path, table(), gh.Taxonomies(), "declared")

    folder = hostile(tmp_path / "release", declared)
    for read in (gh.load, verify_stream):
        with pytest.raises(gh.SourceError):
            read(folder)


def test_a_tree_of_a_million_nodes_is_refused_before_it_is_made(tmp_path: Path) -> None:
    release_of(tmp_path, table(), gh.Taxonomies(), "declared")
    many = {"kind": "tree", "tree": ["US", *map(str, range(1_100_000))]}

    with pytest.raises(gh.SourceError, match="more than 1,048,576 nodes"):
        gh.load(hostile(tmp_path / "release", many))


def test_a_taxonomy_of_a_sensitive_or_an_added_column_or_of_an_older_format_is_refused(tmp_path: Path) -> None:
    release_of(tmp_path, table(), gh.Taxonomies(), "declared")
    rule = {"kind": "prefix", "length": 5}
    with pytest.raises(gh.SourceError, match="not a quasi-identifier"):
        gh.load(hostile(tmp_path / "release", rule, "ill"))

    release_of(tmp_path / "older", table(), gh.Taxonomies(), "declared")
    manifest = manifest_of(tmp_path / "older" / "release")
    manifest["glasshouse"]["format_version"] = 2
    put(tmp_path / "older" / "release", manifest)
    with pytest.raises(gh.SourceError, match="does not know"):
        gh.load(tmp_path / "older" / "release")


def test_an_interval_that_the_carried_order_lacks_is_refused(tmp_path: Path) -> None:
    release_of(tmp_path, table(("age", "grade")), gh.Boxes(), "declared", k=20)

    with pytest.raises(gh.SourceError, match="does not match its cells"):
        gh.load(hostile(tmp_path / "release", {"kind": "order", "order": ["some", "others"]}, "grade"))


def test_a_taxonomy_that_nobody_would_read_does_not_go_out() -> None:
    long = gh.Taxonomy.from_nested({"any": {"x" * 20_000: ["a", "b"]}})
    made = gh.read({"was": ["a", "b"], "ill": ["x", "y"]}, quasi=["was"], sensitive="ill", taxonomies={"was": long})

    with pytest.raises(gh.DomainError, match="column 'was' cannot be published"):
        gh.publish(made, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies(), carry="declared")
    with pytest.raises(gh.ParameterError, match="carry must be 'cells' or 'declared'"):
        gh.publish(made, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies(), carry="all")


# ------------------------------------------------------------------------------------------------- the other doors


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_command_line_and_a_policy_carry_it_too(format: str, tmp_path: Path) -> None:
    import csv

    with (tmp_path / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(PEOPLE)
        rows.writerows(zip(*PEOPLE.values(), strict=True))
    (tmp_path / "states.json").write_text(
        json.dumps({"US": {"South": ["Texas", "Florida", "Georgia"], "West": ["Utah", "Oregon"], "Alaska": []}})
    )
    (tmp_path / "policy.toml").write_text(
        '[source]\nfile = "people.csv"\n[roles]\nquasi = ["age", "state"]\nsensitive = "ill"\n'
        '[columns.state]\ntaxonomy = "states.json"\n[principle]\nell = 2\n[recoding]\nname = "taxonomies"\n'
        f'[release]\nout = "by-policy"\ncarry = "declared"\nformat = "{format}"\nreport = false\n'
    )
    run = CliRunner()
    options = ["--quasi", "age,state", "--sensitive", "ill", "--ell", "2", "--recoding", "taxonomies", "--no-report",
               "--taxonomy", f"state={tmp_path / 'states.json'}", "--format", format]  # fmt: skip
    for out, arguments in (
        ("by-policy", [str(tmp_path / "policy.toml")]),
        (
            "by-options",
            [str(tmp_path / "people.csv"), *options, "--carry", "declared", "--out", tmp_path / "by-options"],
        ),
    ):
        made = run.invoke(main, ["publish", *map(str, arguments)])
        assert made.exit_code == 0, made.output
        asked = run.invoke(main, ["query", str(tmp_path / out / "release"), "SELECT COUNT(*) WHERE state = 'Texas'"])
        assert asked.exit_code == 0, asked.output
        found = run.invoke(
            main, ["attack", str(tmp_path / out / "release"), "--external", str(tmp_path / "people.csv")]
        )
        assert found.exit_code == 0, found.output
        assert "fit no published record" not in found.output
        assert "in `datapackage.json`" in (tmp_path / out / "release" / "README.md").read_text()
    made = run.invoke(main, ["publish", str(tmp_path / "people.csv"), *options, "--out", str(tmp_path / "cells")])
    assert made.exit_code == 0, made.output
    asked = run.invoke(main, ["query", str(tmp_path / "cells" / "release"), "SELECT COUNT(*) WHERE state = 'Ohio'"])
    assert asked.exit_code != 0
    assert "--taxonomy state=FILE" in asked.output


def test_evaluation_and_report_take_what_the_release_carries(tmp_path: Path) -> None:
    made = table()
    for carry in ("cells", "declared"):
        release = release_of(tmp_path, made, gh.Taxonomies(), carry)
        assert gh.evaluate(release, made).losses == losses(release, taxonomies=terms_of(made).taxonomies)
        assert gh.make_report(release, made).to_dict()["mapping"]


def test_the_manifest_of_a_kind_with_a_tree_stays_a_valid_data_package(tmp_path: Path) -> None:
    frictionless = pytest.importorskip("frictionless")
    made = table()
    release = release_of(tmp_path, made, gh.Taxonomies(), "declared")
    release.save(tmp_path / "csv", format="csv")

    report = frictionless.validate(str(tmp_path / "csv" / MANIFEST))
    assert report.valid, report.flatten(["message"])
    assert of_kind("taxonomies").columns
