"""One table through all steps, by clicks alone, as a steward would: nothing is set from outside.

Every page on the way is held to the rules of accessibility by axe-core, in light and in dark. With
GLASSHOUSE_SCREENSHOTS the pages are kept as pictures; those of the documentation are made so::

    GLASSHOUSE_SCREENSHOTS=docs/pictures/studio python -m pytest tests/doors/studio/test_walk.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from tests.doors.studio.conftest import Studio

KEPT = os.environ.get("GLASSHOUSE_SCREENSHOTS")
SHOWN = ("data", "privacy", "method", "release", "adversary")  # in the documentation
GRAVE = ("serious", "critical")


@pytest.fixture
def arrive(page: Any) -> Callable[..., None]:
    """Check a page on which the walk has arrived, and keep a picture of it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def check(name: str, at: str | None = None) -> None:
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = axe.run(page).response["violations"]
            grave = [(one["id"], one["nodes"][0]["target"]) for one in found if one["impact"] in GRAVE]
            assert grave == [], f"{name}, {scheme}"
        if KEPT and name in SHOWN:
            Path(KEPT).mkdir(parents=True, exist_ok=True)
            page.evaluate("at => at ? document.querySelector(at).scrollIntoView() : scrollTo(0, 0)", at)
            page.screenshot(path=Path(KEPT) / f"{name}.png")

    return check


def test_a_steward_walks_from_the_table_to_the_release_and_looks_back(
    studio: Studio, page: Any, arrive: Callable[..., None], tmp_path: Path
) -> None:
    page.set_default_timeout(60_000)
    page.goto(studio.address)
    arrive("start")
    page.get_by_label("How many patients").fill("500")
    page.get_by_role("button", name="Open the example table").click()
    page.locator("#standing").get_by_text("People with a unique combination of values").wait_for()
    arrive("data", "#column-0")

    page.get_by_role("link", name="Privacy").first.click()
    page.locator("#said").get_by_text("more than 20 % confidence (1 in 5)").wait_for()
    arrive("privacy")
    page.get_by_role("button", name="Keep this guarantee and choose a method").click()
    page.get_by_role("heading", name="The usual method and recoding are chosen").wait_for()
    if KEPT:
        page.get_by_role("button", name="Compare", exact=True).click()
        page.get_by_text("Recommended:", exact=True).wait_for(timeout=300_000)
    arrive("method", "[data-parts], section#compared")

    page.get_by_role("link", name="Release").first.click()
    page.wait_for_selector(".sides")
    arrive("release", ".sides")
    page.get_by_label("Folder to write to").fill(str(tmp_path / "out"))
    page.get_by_role("button", name=re.compile("^Publish")).click()
    page.wait_for_selector("text=What to do next")
    arrive("published")
    assert gh.verify(tmp_path / "out" / "release").holds

    page.get_by_role("link", name="Look at it").first.click()
    page.get_by_role("link", name="Play the attacker").click()
    page.get_by_role("button", name="Attack everybody").click()
    page.get_by_role("button", name="Why?").first.click()
    page.locator("#person svg").first.wait_for()
    arrive("adversary", "#person")
    page.get_by_role("link", name="As an analyst").click()
    page.get_by_label("Question in SQL").fill("SELECT disease, COUNT(*) WHERE age < 40 GROUP BY disease")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("columnheader", name="Truth (confidential)").wait_for()
    arrive("analyst")
    page.get_by_role("link", name="As an auditor").click()
    page.get_by_role("button", name="Check it").click()
    page.get_by_text("This release keeps its guarantee").wait_for()
    arrive("auditor")

    page.get_by_role("link", name="Data").first.click()  # and everything is still there
    page.locator("#standing").get_by_text("People with a unique combination of values").wait_for()
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        for step in ("data", "privacy", "method", "release", "look", "look/adversary"):
            page.goto(f"{studio.base}/{step}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (step, width)


def test_a_studio_that_is_stopped_in_the_middle_says_so(studio: Studio, page: Any, tmp_path: Path) -> None:
    page.goto(studio.address)
    page.get_by_label("How many patients").fill("200000")
    page.get_by_role("button", name="Open the example table").click()
    page.locator("[data-job]").first.wait_for()
    assert studio.stop() == 0
    page.get_by_text("The studio does not answer any more").first.wait_for()


def test_a_real_table_goes_the_same_way(studio: Studio, page: Any, shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "adult.parquet"
    names = pq.read_schema(file).names
    roles = {"age": "quasi", "sex": "quasi", "education": "quasi", "occupation": "sensitive"}
    page.set_default_timeout(120_000)  # a busy machine is no fault of the page
    page.goto(studio.address)
    page.get_by_label("Or write its path").fill(str(file))
    page.locator("form[action='/data/open'] button").click()
    page.locator("#column-0").wait_for()
    for number, name in enumerate(names):
        page.locator(f"#column-{number} input[value={roles.get(name, 'none')}]").check()
    page.locator("#standing").get_by_text("Protected: occupation").wait_for()
    page.locator("#standing").get_by_text("People with a unique combination of values").wait_for()

    page.get_by_role("link", name="Privacy").first.click()
    page.locator("#said").get_by_text(
        "Nobody's occupation can be inferred with more than 20 % confidence (1 in 5)"
    ).wait_for()
    page.get_by_role("button", name="Keep this guarantee and choose a method").click()
    page.get_by_role("heading", name="The usual method and recoding are chosen").wait_for()
    page.get_by_role("link", name="Release").first.click()
    page.wait_for_selector(".sides")
    page.get_by_label("Folder to write to").fill(str(tmp_path / "out"))
    page.get_by_label("Report for the audit").select_option("none")
    page.get_by_role("button", name=re.compile("^Publish")).click()
    page.wait_for_selector("text=What to do next")
    assert gh.verify(tmp_path / "out" / "release").holds

    page.goto(f"{studio.base}/look/adversary")
    page.get_by_role("button", name="Attack everybody").click()
    page.get_by_text("with a probability of more than 1/5. This is what the release guarantees").wait_for()
    page.get_by_role("link", name="As an auditor").click()
    page.get_by_role("button", name="Check it").click()
    page.get_by_text("This release keeps its guarantee").wait_for()
