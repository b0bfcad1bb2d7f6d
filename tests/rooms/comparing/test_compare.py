# SPDX-License-Identifier: Apache-2.0
"""Comparing: rows of every kind, on a twin or on the truth, in processes that may die, kept and not run again."""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.comparing import processes, scoring
from glasshouse.comparing.cache import Kept, key_of
from glasshouse.comparing.compare import _usual, methods_of, recodings_of
from glasshouse.comparing.comparison import Row
from glasshouse.comparing.processes import run
from glasshouse.comparing.recommendation import undominated
from glasshouse.comparing.scoring import Setting, score
from glasshouse.comparing.twin import twin_of
from glasshouse.pages.report import Effort
from glasshouse.principles.principle import Requirement

QUICK = Effort(seconds=5.0)
ELL = gh.LDiversity(ell=3)


@pytest.fixture(scope="module")
def table() -> gh.Microdata:
    return gh.synthetic.hospital(200, seed=1)


@pytest.fixture(scope="module")
def whole(table: gh.Microdata) -> gh.Comparison:
    """Every way that fits, on a small table."""
    workload = gh.Workload.transparent(table, n=100)
    return gh.compare(table, principle=ELL, workload=workload, effort=Effort(seconds=0.2), runs=1, processes=0)


def test_every_method_and_every_recoding_that_fits_has_a_row_with_all_figures(whole: gh.Comparison) -> None:
    rows = [row for row in whole.rows if not row.failed]

    assert {row.method.partition(" ")[0] for row in whole.rows} == set(catalog.METHODS)
    assert {row.recoding for row in whole.rows} | set(whole.left_out) == set(catalog.RECODINGS)
    for row in rows:
        assert row.promise
        assert row.adversary in ("linking", "algorithm-aware")
        assert row.how in ("exact", "sampled", "bound", "approximate", "not known")
        assert (row.belief is None) == (row.how == "not known")
        for figure in (row.error, row.baseline, row.kl, row.average_size, row.seconds):
            assert figure is not None
            assert figure >= 0


def test_a_bound_is_called_one_and_what_was_measured_is_measured(whole: gh.Comparison) -> None:
    by_way = {row.way: row for row in whole.rows}

    assert by_way["hybrid as anatomy"].how == "bound"
    assert by_way["hybrid as anatomy"].belief == pytest.approx(1 / 3)
    assert by_way["greedy as anatomy"].how in ("exact", "sampled")
    assert by_way["greedy as anatomy"].belief > 1 / 3  # which knowing the algorithm gives away
    assert by_way["mondrian (relaxed) as angel"].how == "not known"
    assert "cuts" in by_way["mondrian (relaxed) as angel"].told


def test_what_was_found_for_some_people_only_is_not_the_largest_unless_it_is_above_the_limit(
    table: gh.Microdata,
) -> None:
    release = gh.publish(table, principle=ELL, method="mirror", recoding="anatomy")
    found = gh.attack(release, gh.Linking(), knowledge=gh.Knowledge(external=table))
    entries = found.offsets[1]  # those of the people who are like the first one
    some = dataclasses.replace(
        found,
        how="sampled",
        offsets=np.maximum(found.offsets - entries, 0),
        codes=found.codes[entries:],
        beliefs=found.beliefs[entries:],
        notes=("there is no result for some people",),
    )
    nobody = dataclasses.replace(
        some, offsets=np.zeros_like(found.offsets), codes=found.codes[:0], beliefs=found.beliefs[:0]
    )
    row = Row(method="mondrian", recoding="boxes", adversary="linking", limit="1/3")

    assert found.n_unknown == 0 < some.n_unknown < nobody.n_unknown == table.n_tuples
    for short in (some, nobody):
        told = scoring._believed(row, short)
        assert (told.belief, told.how) == (None, "not known")
        assert "there is no result for some people" in told.told
        proved = scoring._believed(dataclasses.replace(row, adversary="algorithm-aware"), short)
        assert (proved.belief, proved.how) == (1 / 3, "bound")
    above = dataclasses.replace(some, beliefs=np.where(np.arange(len(some.beliefs)) == 0, 0.9, some.beliefs))
    assert scoring._believed(row, above).belief == 0.9


def test_a_method_that_fails_is_a_row_that_says_why(whole: gh.Comparison) -> None:
    failed = [row for row in whole.rows if row.failed]

    assert {row.method for row in failed} == {"opt-gen"}
    assert all("16 different combinations" in row.failed for row in failed)
    assert list(whole.failures) == [f"opt-gen as {', '.join(row.recoding for row in failed)}"]


def test_the_rows_are_measured_on_the_twin_and_not_on_the_truth(table: gh.Microdata) -> None:
    given: dict[str, Any] = {
        "principle": ELL,
        "methods": ["mirror"],
        "recodings": ["anatomy"],
        "processes": 0,
        "runs": 1,
    }
    release = gh.publish(
        table,
        principle=ELL,
        method=gh.Mirror(),
        recoding=gh.Anatomy(),
        source=gh.Source.seeded(0).child("compare", "mirror", 0),
    )
    workload = gh.Workload.transparent(table)
    true = gh.evaluate(release, table, workload=workload).error
    on_twin, on_truth = (gh.compare(table, use_truth=use, workload=workload, **given) for use in (False, True))

    assert on_truth.rows[0].error == pytest.approx(true)
    assert on_twin.rows[0].error != pytest.approx(true)
    assert "could reveal something" in on_twin.caution
    assert "no guarantee covers this" in on_truth.caution
    assert "depends on them" in on_truth.caution


def test_the_recommendation_does_not_depend_on_who_has_which_value(table: gh.Microdata) -> None:
    codes = table.sensitive[0].codes[gh.Source.seeded(5).permutation(table.n_tuples)]
    other = gh.Microdata(
        quasi=table.quasi,
        sensitive=(type(table.sensitive[0])(table.sensitive[0].domain, codes),),
        identifier=table.identifier,
        n_tuples=table.n_tuples,
    )
    given: dict[str, Any] = {"methods": ["mirror", "separate"], "recodings": ["boxes", "angel"], "processes": 0}
    one, two = (gh.compare(t, principle=ELL, **given) for t in (table, other))

    assert one.reason == two.reason
    assert one.notes == two.notes


def test_the_table_as_a_whole_must_obey_before_anything_is_tried(table: gh.Microdata) -> None:
    with pytest.raises(gh.Infeasible):
        gh.compare(table, principle=gh.LDiversity(ell=100))
    with pytest.raises(gh.InputError, match="sensitive column"):
        gh.compare(gh.read({"age": [1, 2]}, quasi=["age"]), principle=gh.KAnonymity(k=2))
    with pytest.raises(gh.ParameterError, match="presence"):
        gh.compare(table, principle=ELL, presence="perhaps")
    with pytest.raises(gh.ParameterError, match="processes"):
        gh.compare(table, principle=ELL, processes=-1)
    with pytest.raises(gh.InputError, match="did you mean 'mirror'"):
        gh.compare(table, principle=ELL, methods=["miror"])


@pytest.mark.parametrize(
    ("principle", "expected"),
    [
        (gh.TCloseness(t="0.4"), "mirror"),
        (gh.KAnonymity(k=5), "mondrian"),
        (gh.DeltaGrowth(delta="1/4", lambda_="1/10", k=6), "mondrian"),
    ],
)
def test_other_principles_get_the_method_that_an_expert_takes(
    table: gh.Microdata, principle: Any, expected: str
) -> None:
    perturbed = isinstance(principle, gh.DeltaGrowth)
    methods = None if perturbed else ["mirror", "mondrian", "separate", "tailor"]
    recodings = [gh.Perturbed(domain=tuple(table.sensitive[0].domain.values.to_pylist()))] if perturbed else ["boxes"]
    found = gh.compare(table, principle=principle, methods=methods, recodings=recodings, processes=0)

    assert found.recommended is not None
    assert found.recommended.method.partition(" ")[0] == expected


@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
@pytest.mark.parametrize(
    "principle", [gh.KAnonymity(k=3), gh.LDiversity(ell=2), gh.DeltaGrowth(delta="0.5", lambda_="0.2", k=4)]
)
def test_among_equals_the_way_is_taken_that_publish_takes(table: gh.Microdata, principle: Any) -> None:
    recipe = gh.publish(table, principle=principle).recipe

    assert (recipe.method["name"], recipe.recoding["name"]) == _usual(Requirement.in_groups(principle, table))


def test_catalogued_methods_all_have_parameters_to_compare_them_with(table: gh.Microdata) -> None:
    asked, beliefs = (Requirement.in_groups(p, table) for p in (ELL, gh.DeltaGrowth(delta="1/4", k=6)))
    assert {method.name for method in methods_of(None, asked)} == set(catalog.METHODS)
    kinds, left_out = recodings_of(None, asked, table)
    assert {recoding.name for recoding in kinds} | set(left_out) == set(catalog.RECODINGS)
    assert [r.name for r in recodings_of(None, beliefs, table)[0]] == ["perturbed"]


# --- what is written --------------------------------------------------------------------------------------------------


def test_rows_say_which_methods_tie_their_groups_to_each_other(whole: gh.Comparison) -> None:
    made = [found for found in whole.rows if not found.failed]
    assert {found.method.partition(" ")[0] for found in made if found.ties_groups} >= {"ace", "hybrid"}
    assert not any(found.ties_groups for found in made if found.method in ("sift", "mirror", "anatomize", "tailor"))


def test_table_page_and_picture_say_the_same_and_need_nothing_else(whole: gh.Comparison, tmp_path: Path) -> None:
    whole.write(tmp_path / "inside")
    text = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "inside").iterdir()}
    lines = list(csv.DictReader(io.StringIO(text["comparison.csv"])))
    data = json.loads(text["comparison.json"])

    assert len(lines) == len(whole.rows) == len(data["rows"]) == whole.to_table().num_rows
    assert [line["method"] for line in lines if line["recommended"] == "True"] == [whole.recommended.method]
    assert data["way"] == whole.recommended.way
    ElementTree.fromstring(text["frontier.svg"])
    page = text["comparison.html"]
    assert whole.reason in html.unescape(page)
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert "<script" not in page


def test_what_is_written_is_for_its_owner_alone_and_never_inside_a_release(
    whole: gh.Comparison, table: gh.Microdata, tmp_path: Path
) -> None:
    whole.write(tmp_path / "inside")
    release = gh.publish(table, principle=ELL)
    release.save(tmp_path / "release")

    assert (tmp_path / "inside").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "inside").iterdir())
    with pytest.raises(gh.OutputError, match="must not be published"):
        whole.write(tmp_path / "release")


def test_names_from_outside_cannot_become_markup(tmp_path: Path) -> None:
    odd = "<script>&\"'"
    ages = {odd: list(range(40)), "s": ["a", "b", "c", "<b>"] * 10}
    table = gh.read(ages, quasi=[odd], sensitive="s")
    found = gh.compare(table, principle={"s": gh.LDiversity(ell=2)}, methods=["mirror", "opt-gen"], processes=0)

    assert "<script" not in found.to_html()
    ElementTree.fromstring(found.to_svg())


def test_the_frontier_holds_what_no_other_way_beats() -> None:
    pairs = [(0.5, 0.2), (0.5, 0.1), (0.6, 0.05), (0.7, 0.07), (None, 0.01), (0.4, 0.3)]
    rows = [Row(method=str(i), recoding="boxes", belief=b, error=e) for i, (b, e) in enumerate(pairs)]

    assert [row.method for row in undominated(rows)] == ["5", "1", "2"]


# --- kept and not run again -------------------------------------------------------------------------------------------


def test_finished_rows_are_kept_and_not_run_again(
    table: gh.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def counted(setting: Setting, method: Any, recoding: Any) -> Row:
        tried.append(recoding.name)
        return score(setting, method, recoding)

    monkeypatch.setattr(processes, "score", counted)
    given: dict[str, Any] = {"methods": ["separate", "opt-gen"], "processes": 0, "resume": tmp_path / "kept"}
    first = gh.compare(table, principle=ELL, recodings=["boxes"], **given)
    assert tried == ["boxes", "boxes"]
    again = gh.compare(table, principle=ELL, recodings=["boxes", "anatomy"], **given)
    assert tried[2:] == ["anatomy", "anatomy"]  # also what failed is known
    assert {row.way: row for row in first.rows}.items() <= {row.way: row for row in again.rows}.items()


def test_nothing_that_was_kept_is_used_for_another_recipe(table: gh.Microdata) -> None:
    workload = gh.Workload.transparent(table, n=10)
    twin = twin_of(table, gh.Source.seeded(1))
    base: dict[str, Any] = {"tables": (table,), "principle": ELL, "workload": workload, "seed": 0, "effort": QUICK}
    other: list[dict[str, Any]] = [
        {"tables": (twin,)},
        {"tables": (table, twin)},
        {"tables": (table.take(np.arange(199)),)},
        {"principle": gh.LDiversity(ell=2)},
        {"workload": gh.Workload.transparent(table, n=10, seed=1)},
        {"seed": 1},
        {"effort": Effort(seconds=6.0)},
        {"model": "learned"},
        {"learner": False},
    ]
    keys = [key_of(Setting(**{**base, **change}), gh.Mirror(), gh.Boxes()) for change in [{}, *other]]
    keys += [key_of(Setting(**base), *way) for way in ((gh.Mirror(floor=9), gh.Boxes()), (gh.Mirror(), gh.Angel()))]

    assert len(set(keys)) == len(keys)
    assert key_of(Setting(**base), gh.Mirror(), gh.Boxes()) == keys[0]


def test_a_row_that_was_only_half_written_is_run_again_and_hides_none_after_it(tmp_path: Path) -> None:
    Kept(tmp_path).add("first", Row(method="a", recoding="boxes"))
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"key": "second", "row": {"met')
    Kept(tmp_path).add("third", Row(method="c", recoding="boxes"))
    kept = Kept(tmp_path)

    assert kept.get("first") is not None
    assert kept.get("second") is None
    assert kept.get("third") == Row(method="c", recoding="boxes")


# --- processes --------------------------------------------------------------------------------------------------------


def test_processes_find_what_this_process_finds_and_tell_how_far_they_are(table: gh.Microdata) -> None:
    told: list[tuple[int, int]] = []
    given: dict[str, Any] = {"methods": ["mirror", "hybrid"], "recodings": ["boxes", "angel"]}
    many = gh.compare(
        table, principle=ELL, processes=2, progress=lambda _what, done, total: told.append((done, total)), **given
    )
    one = gh.compare(table, principle=ELL, processes=0, **given)

    def measured(found: gh.Comparison) -> list[tuple[Any, ...]]:
        return [(r.way, r.error, r.belief, r.how, r.kl, r.average_size) for r in found.rows]

    assert measured(many) == measured(one)
    assert many.reason == one.reason
    assert told == [(i, 4) for i in range(5)]
    assert os.name != "posix" or all(row.memory is not None for row in many.rows)


class Killer:
    """What is unpickled as a call that ends the process."""

    name = "killer"

    def __reduce__(self) -> Any:
        return signal.raise_signal, (signal.SIGKILL,)

    def divide(self) -> None: ...


def setting_of(table: gh.Microdata, **more: Any) -> Setting:
    base: dict[str, Any] = {
        "tables": (table,),
        "principle": ELL,
        "workload": gh.Workload.transparent(table, n=10),
        "seed": 0,
        "effort": QUICK,
    }
    return Setting(**{**base, **more})


def test_a_recoding_that_needs_what_the_principle_does_not_say_is_left_out(table: gh.Microdata) -> None:
    for principle in (gh.TCloseness("0.3"), gh.DesignatedLDiversity(3, ("HIV",))):
        kinds, left_out = recodings_of(None, Requirement.of(principle, table), table)

        assert [recoding.name for recoding in kinds] == ["boxes", "anatomy", "permutation"]
        assert "the principle has no l or k to use instead" in left_out["angel"]


def test_a_finished_row_is_shown_at_once_and_a_kept_one_first(table: gh.Microdata, tmp_path: Path) -> None:
    given: dict[str, Any] = {"principle": ELL, "recodings": ["boxes"], "runs": 1, "effort": QUICK, "learner": False}
    first: list[tuple[str, int]] = []
    done = [0]
    gh.compare(
        table,
        methods=["mirror", "separate"],
        processes=0,
        progress=lambda _what, n_done, _total: done.append(n_done),
        finished=lambda row: first.append((row.way, done[-1])),
        resume=tmp_path,
        **given,
    )
    again: list[Row] = []
    found = gh.compare(
        table, methods=["sift", "separate"], processes=0, finished=again.append, resume=tmp_path, **given
    )

    assert first == [("mirror as boxes", 0), ("separate as boxes", 1)]  # before the count says so
    assert [row.way for row in again] == ["separate as boxes", "sift as boxes"]
    assert set(map(id, again)) == set(map(id, found.rows))


def test_a_process_that_dies_is_a_row_that_says_so_and_the_next_way_gets_another_process(table: gh.Microdata) -> None:
    ways = [(Killer(), gh.Boxes()), (gh.Separate(), gh.Boxes())]
    found = {number: (row, keep) for number, row, keep in run(setting_of(table), ways, 1)}

    assert "ended unexpectedly (SIGKILL)" in found[0][0].failed
    assert not found[0][1]  # it may have had many causes, and is tried again next time
    assert not found[1][0].failed
    assert found[1][1]


def test_an_attack_that_does_not_end_is_ended_and_the_rest_of_the_row_stands(
    table: gh.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import glasshouse.comparing.scoring as s, time\n"
        "s._attacked = lambda setting, release, row: row if setting.tables[0].n_tuples < 10 else time.sleep(600)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    started, late = time.monotonic(), Effort(seconds=0.2)
    ways = [(gh.Mirror(), gh.Boxes()), (gh.Mondrian(), gh.Boxes())]
    found = {number: (row, keep) for number, row, keep in run(setting_of(table, effort=late), ways, 1, grace=0.1)}

    assert time.monotonic() - started < 120
    for row, keep in found.values():
        assert row.error is not None
        assert "longer than 0.2 seconds" in row.told
        assert keep
    (aware, _), (linking, _) = found[0], found[1]
    assert (aware.how, aware.belief) == ("bound", pytest.approx(1 / 3))  # the theorem stands, whether attacked or not
    assert (linking.how, linking.belief) == ("not known", None)


def test_a_learner_that_does_not_end_is_ended_and_what_was_found_before_stands(
    table: gh.Microdata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import glasshouse.comparing.scoring as s, time\ns._learned = lambda setting, release, row: time.sleep(600)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ways = [(gh.Greedy(), gh.Anatomy())]
    ((_, row, keep),) = run(setting_of(table, effort=Effort(seconds=2.0)), ways, 1, grace=0.1)

    assert keep
    assert not row.failed
    assert (row.how in ("exact", "sampled"), row.belief is not None) == (True, True)
    assert (row.cost, row.cost_error) == (None, None)
    assert (
        "what an attacker gains by learning a model was not measured: the attack takes longer than 2 seconds"
        in row.told
    )


def test_a_listener_who_stops_leaves_no_process_behind(table: gh.Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = [(gh.Separate(), gh.Boxes())] * 3
    started: list[subprocess.Popen[bytes]] = []

    class Seen(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Seen)
    rows = run(setting_of(table), ways, 1)
    next(rows)
    rows.close()

    assert len(started) == 1
    assert started[0].returncode is not None


def test_what_cannot_be_sent_to_a_process_is_refused_with_what_to_do(table: gh.Microdata) -> None:
    def years_apart(people: list[tuple[Any, ...]]) -> float:
        return float(len(people))

    given: dict[str, Any] = {"methods": [gh.Hybrid(penalty=years_apart)], "recodings": ["boxes"]}
    with pytest.raises(gh.InputError, match="processes=0"):
        gh.compare(table, principle=ELL, **given)
