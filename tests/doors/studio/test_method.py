"""The third step: the usual way is set, ways are compared with a picture that fills in, and any way can be chosen."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.policy.choices import publish_arguments
from glasshouse.principles.principle import Requirement
from glasshouse.studio.tasks.ways import small_twin
from glasshouse.studio.ways import choices_of_row, fitting, hand_choices, hand_texts, parameters_of
from tests.doors.studio.desks import hospital, seated, settled, troubles
from tests.doors.studio.sitting import Sitting

ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"], "ell": 4}
NAMES = ["age", "sex", "zipcode", "disease"]


@pytest.fixture
def at_hospital(tmp_path: Path) -> Iterator[Sitting]:
    with seated(hospital(tmp_path, 120), **ROLES) as made:
        yield made


def group_of(leader: int) -> list[int]:
    """The processes of a group that are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = path.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(group) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found


# --- choices ----------------------------------------------------------------------------------------------------------


def test_a_row_gives_the_choices_that_publish_by_its_recipe() -> None:
    asked = Requirement.in_words(gh.LDiversity(4), ["disease"])
    for cls in catalog.METHODS.values():
        for method in cls.usual():
            for recoding in (gh.Boxes(), gh.Angel(), gh.Angel(k=9), gh.Anatomy()):
                recipe = {
                    "method": catalog.to_data(method),
                    "recoding": catalog.to_data(recoding.resolved(asked)),
                }
                choices = choices_of_row(recipe, asked)
                given = publish_arguments({"ell": 4, **choices})

                assert given["method"] == method
                assert not any(isinstance(one, dict) for one in (choices["parameters"] or {}).values())
                assert given["recoding"].resolved(asked) == recoding.resolved(asked)


def test_what_is_chosen_by_hand_comes_back_into_the_form() -> None:
    form = {
        "method": ["mirror"], "method.mirror.priority": ["3, 1"], "method.mirror.weights": ["1: 2, 2:1/2"],
        "method.mirror.mirrors": ["4"], "method.mirror.slack": ["1.2"],
        "recoding": ["angel"], "recoding.angel.marginals": ["1, 4; 2, 4"], "recoding.angel.cells": ["taxonomies"],
    }  # fmt: skip
    choices = hand_choices(form, NAMES)

    assert choices["parameters"] == {
        "priority": ["zipcode", "age"],
        "weights": {"age": "2", "sex": "1/2"},
        "mirrors": 4,
    }
    assert choices["marginal"] == [["age", "disease"], ["sex", "disease"]]
    assert choices["recoding_with"] == {"cells": "taxonomies"}
    made = publish_arguments({"ell": 4, **choices})
    assert made["method"] == gh.Mirror(mirrors=4, priority=("zipcode", "age"), weights={"age": 2, "sex": "1/2"})
    texts = hand_texts(choices, NAMES)
    assert hand_choices({**form, **{name: [text] for name, text in texts.items()}}, NAMES) == choices


def test_every_parameter_of_the_catalogue_has_a_field() -> None:
    for classes in (catalog.METHODS, catalog.RECODINGS):
        for cls in classes.values():
            assert {p.name for p in parameters_of(cls)} == {field.name for field in fields(cls)}  # type: ignore[arg-type]
    holding = {
        name for name, one in fitting(Requirement.in_words(gh.LDiversity(4), ["disease"])).items() if one["holds"]
    }
    assert {"sift", "mirror", "hybrid"} <= holding
    assert not holding & {"mondrian", "greedy", "snug"}


def test_large_tables_are_sampled_and_people_left_out_without_a_look_at_true_values() -> None:
    table = gh.synthetic.hospital(600, seed=2)
    shuffled = gh.synthetic.hospital(600, seed=2)
    order = np.random.default_rng(1).permutation(600)
    column = shuffled.sensitive[0]
    other = gh.Microdata(
        quasi=shuffled.quasi,
        sensitive=(type(column)(column.domain, column.codes[order]),),  # as often, and other people have them
        identifier=None,
        n_tuples=600,
    )
    first, second = (small_twin(one, gh.LDiversity(9), 0, 200) for one in (table, other))

    assert first.n_tuples == second.n_tuples
    assert 150 < first.n_tuples <= 200
    for one, two in zip((*first.quasi, *first.sensitive), (*second.quasi, *second.sensitive), strict=True):
        assert np.array_equal(one.codes, two.codes)
    dropped = small_twin(table, gh.LDiversity(10), "0.1", 10_000)
    Requirement.of(gh.LDiversity(10), dropped).check_eligible()
    assert dropped.n_tuples >= 540
    assert small_twin(table, gh.LDiversity(3), 0, 10_000) is table


# --- pages ------------------------------------------------------------------------------------------------------------


def test_what_is_sent_wrongly_is_refused_in_plain_words(at_hospital: Sitting) -> None:
    with at_hospital.client() as client:
        settled(client, "/method")
        before = dict(at_hospital.desk.choices)
        for path, form in (
            ("/method/compare", {}),
            ("/method/compare", {"methods": "<b>", "recodings": "boxes"}),
            ("/method/compare", {"methods": "sift", "recodings": "boxes", "presence": "?"}),
            ("/method/use", {"way": "0"}),
            ("/method/use", {"way": "-1"}),
            ("/method/use", {"way": "9" * 5000}),
            ("/method/choose", {"method": "<script>"}),
            ("/method/choose", {"method": "sift", "method.sift.priority": "age"}),
            ("/method/choose", {"method": "sift", "method.sift.priority": "99"}),
            ("/method/choose", {"method": "mondrian", "method.mondrian.partitioning": "<script>"}),
            ("/method/choose", {"method": "opt-gen", "recoding": "perturbed"}),
            ("/method/choose", {"recoding": "taxonomies"}),
            ("/method/choose", {"take": "<b>"}),
        ):
            sent = client.post(path, data=form)
            assert sent.status_code == 400, (path, form)
            assert 'role="alert"' in sent.text
            assert "<script>" not in sent.text.replace('<script type="module"', "")
        assert at_hospital.desk.choices == before
        assert at_hospital.desk.job("compare") is None
        live = client.post("/method/words", data={"recoding": "taxonomies"}).text
        assert "The recoding &#39;taxonomies&#39; needs a table with taxonomies" in live
        assert 'role="alert"' not in client.post("/method/words", data={"method": "mirror"}).text
        assert client.post("/method/choose", data={"method": "mondrian"}).status_code == 303
        shown = client.get("/method").text
        assert "may learn more than the guarantee allows" in shown  # the package's warning
        assert client.post("/method/choose", data={"take": "usual-way"}).status_code == 303
        assert at_hospital.desk.choices == before


def test_what_was_changed_in_another_tab_is_shown_before_a_way_is_taken(at_hospital: Sitting) -> None:
    desk = at_hospital.desk
    with at_hospital.client() as client:
        settled(client, "/method")
        seen = desk.mark
        for recodings in (["boxes", "anatomy"], ["anatomy"]):  # the second comparison is made in another tab
            client.post("/method/compare", data={"methods": "sift", "recodings": recodings})
            at_hospital.wait("compare")
        gone = client.post("/method/use", data={"way": "sift as boxes"})
        assert "method" not in desk.choices
        desk.choose(quasi=["sex", "age"])  # which have other numbers
        settled(client, "/method")
        by_hand = {"mark": seen, "method": "sift", "method.sift.priority": "1, 2"}
        sent = [client.post("/method/choose", data=by_hand)]
        sent += [client.post("/method/use", data={"mark": seen, "way": "sift as anatomy"})]
        live = client.post("/method/words", data=by_hand).text
        assert "method" not in desk.choices

    assert gone.status_code == 400
    assert "This way is not among those that were compared last" in gone.text
    assert [one.status_code for one in sent] == [409, 409]
    for text in (*(one.text for one in sent), live):
        assert "Your choices were changed in another tab: look at them again before you go on." in text


def test_a_cancelled_comparison_leaves_no_process_behind(at_hospital: Sitting) -> None:
    desk = at_hospital.desk
    with at_hospital.client() as client:
        settled(client, "/method")
        client.post("/method/compare", data={"methods": list(catalog.METHODS), "recodings": ["boxes", "angel"]})
        job = desk.job("compare")
        assert job is not None
        leader = job._process.pid
        for _ in range(400):
            if len(group_of(leader)) > 1:  # the processes of the comparison itself
                break
            time.sleep(0.05)
        assert len(group_of(leader)) > 1
        assert 'data-job="compare"' in client.get("/method").text
        for process in group_of(leader):
            if process != leader:
                os.kill(process, signal.SIGSTOP)  # so that none ends because nobody talks to it any more
        started = time.monotonic()
        assert client.post("/jobs/compare/cancel", data={"to": "method"}).headers["location"] == "/method"
        while group_of(leader):
            assert time.monotonic() - started < 3
            time.sleep(0.01)
        assert "was cancelled" in client.get("/method").text


def test_a_comparison_fills_in_and_its_row_is_taken_in_a_browser(at_hospital: Sitting, page: Any) -> None:
    desk = at_hospital.desk
    page.goto(at_hospital.address)
    page.goto(f"{at_hospital.base}/method")
    page.get_by_role("heading", name="The usual method and recoding are chosen").wait_for()
    assert page.locator(".rail .here .decided").inner_text() == "the usual way"
    page.get_by_text("Which ways to compare").click()
    for name in catalog.METHODS:
        page.locator(f"input[name=methods][value={name}]").set_checked(name in ("mirror", "greedy"))
    for name in ("anatomy", "permutation"):
        page.locator(f"input[name=recodings][value={name}]").uncheck()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator("[data-parts] svg a").first.wait_for(timeout=60_000)  # before all of it is done
    assert page.locator("[data-job=compare]").count() == 1
    page.get_by_text("Recommended:", exact=True).wait_for(timeout=60_000)
    rows = page.locator("table.ways tbody tr")
    assert rows.count() == 4
    mark = page.locator("svg a[aria-label='mirror as boxes']")
    mark.focus()
    page.keyboard.press("Enter")
    page.locator(".way:target").get_by_text("The table is halved exactly").wait_for()
    assert troubles(page) == []
    page.get_by_role("button", name="Use mirror as boxes").first.click()
    page.get_by_role("heading", name="You chose the method and the recoding yourself").wait_for()
    assert (desk.choices["method"], desk.choices["recoding"]) == ("mirror", "boxes")
    assert page.locator(".rail .here .decided").inner_text() == "mirror as boxes"
    assert page.locator("table.ways tbody tr").count() == 4  # what was found stays

    page.get_by_role("link", name="Privacy").click()
    page.locator("[id='l-diversity.ell']").fill("3")
    page.get_by_role("button", name="Keep this guarantee and choose a method").click()
    page.get_by_role("heading", name="You chose the method and the recoding yourself").wait_for()
    assert page.locator("table.ways").count() == 0  # it was about something else
    page.get_by_role("button", name="Use the usual method and recoding").first.click()
    page.get_by_role("heading", name="The usual method and recoding are chosen").wait_for()
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
