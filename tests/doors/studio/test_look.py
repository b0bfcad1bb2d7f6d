"""The last step as pages: an attacker, an analyst and an auditor, with a table and with a release alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.studio.desk import Desk
from tests.doors.studio.sitting import Sitting, sitting

HOW = {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"], "identifier": "patient"}
CANARIES = ("<script>alert(1)</script>", '"onmouseover="alert(2)', "=cmd()", "</textarea><img src=x>")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a hospital, and a release of it."""
    folder = tmp_path_factory.mktemp("hospital")
    pq.write_table(gh.synthetic.hospital_table(n=240, seed=2), folder / "patients.parquet")
    table = gh.read(folder / "patients.parquet", quasi=HOW["quasi"], sensitive="disease", identifier="patient")
    gh.publish(table, principle=gh.LDiversity(3), out=folder / "out", source=gh.Source.seeded(1), allow_seed=True)
    return folder


@pytest.fixture
def inside(place: Path) -> Iterator[Sitting]:
    """After publishing."""

    def prepare(desk: Desk) -> None:
        desk.open(str(place / "patients.parquet"), "patients.parquet", **HOW)
        desk.published.append(place / "out")

    with sitting(prepare) as served:
        yield served


def opened_alone(release: Path) -> Any:
    def prepare(desk: Desk) -> None:
        desk.release = release

    return sitting(prepare)


def test_a_release_is_looked_at_with_all_three_pairs_of_eyes(inside: Sitting, page: Any) -> None:
    page.set_default_timeout(60_000)
    page.goto(inside.address)
    page.goto(f"{inside.base}/look")
    page.get_by_text("in more than 1 of 3 records").wait_for()
    page.get_by_role("link", name="Play the attacker").click()

    page.get_by_role("button", name="Attack everybody").click()
    page.get_by_text("with a probability of more than 1/3. This is what the release guarantees").wait_for()
    page.get_by_role("button", name="Why?").first.click()
    page.get_by_text("Where in the release this person can be").wait_for()
    assert page.locator("#person svg rect.bar").count() >= 3
    page.get_by_label("age", exact=True).fill("41")
    page.get_by_label("sex", exact=True).fill("F")
    page.get_by_label("zipcode", exact=True).fill("01850")
    page.get_by_role("button", name="Attack this person").click()
    page.get_by_text("the person that you described").last.wait_for()

    page.get_by_role("link", name="As an analyst").click()
    page.get_by_label("Question in SQL").fill("")
    page.get_by_label("Question in SQL").type("SELECT dise")
    assert page.locator("#sql-says").text_content() == "Tab: disease"
    page.keyboard.press("Tab")
    page.keyboard.type(", COUNT(*) GROUP BY disease")
    assert page.get_by_label("Question in SQL").input_value() == "SELECT disease, COUNT(*) GROUP BY disease"
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("columnheader", name="Truth (confidential)").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as CSV").click()
    assert "ruth" not in Path(saved.value.path()).read_text()

    page.get_by_role("link", name="As an auditor").click()
    page.get_by_role("button", name="Check it").click()
    page.get_by_text("This release keeps its guarantee").wait_for()
    page.set_viewport_size({"width": 360, "height": 800})
    for name in ("", "/adversary", "/analyst", "/auditor"):
        page.goto(f"{inside.base}/look{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_of_a_release_that_is_opened_alone_nobody_is_picked_and_nothing_is_true(place: Path, tmp_path: Path) -> None:
    with opened_alone(place / "out" / "release") as served, served.client() as client:
        client.get("/look")
        served.settle("look-release")
        shown = client.get("/look/adversary").text
        assert "opened without the table" in shown
        assert "File with people and their quasi-identifiers" in shown
        assert client.post("/look/adversary/attack", data={"attack": "linking"}).status_code == 400
        person = {"value-0": "41", "value-1": "F", "value-2": "01850"}
        refused = client.post("/look/adversary/somebody", data={"attack": "reverse-engineering", **person})
        assert refused.status_code == 400
        assert "everybody who is in the table" in refused.text
        assert client.post("/look/adversary/somebody", data={"attack": "linking", **person}).status_code == 303
        served.settle("look-somebody")
        shown = client.get("/look/adversary").text
        assert "The most probable" in shown
        assert "The true value is" not in shown
        client.post("/look/analyst/ask", data={"example": "0", "model": "uniform"})
        served.settle("look-answer")
        shown = client.get("/look/analyst").text
        assert "95 % interval" in shown
        assert "ruth (confidential)" not in shown

        people = tmp_path / "voters.csv"
        people.write_text("name,age,sex,zipcode\nAnn,41,F,01850\nBob,30,M,02440\n")
        listed = {"attack": "linking", "people": str(people), "identifier": "name"}
        assert client.post("/look/adversary/attack", data=listed).status_code == 303
        served.settle("look-attack")
        assert "Ann" in client.get("/look/adversary").text


def test_the_page_counts_an_attacker_who_knows_which_value_was_cut(tmp_path: Path) -> None:
    columns = {"name": [f"p{i}" for i in range(40)], "x": list(range(40)), "s": ["no"] * 30 + ["yes"] * 10}
    table = gh.read(columns, quasi=["x"], sensitive="s", identifier="name")
    gh.publish(table, principle=gh.LDiversity(2), recoding="anatomy", suppress="0.6", out=tmp_path / "out")
    people = tmp_path / "people.csv"
    people.write_text("name,x\n" + "".join(f"p{i},{i}\n" for i in range(40)))
    with opened_alone(tmp_path / "out" / "release") as served, served.client() as client:
        client.get("/look")
        served.settle("look-release")
        listed = {"attack": "linking", "people": str(people), "identifier": "name"}
        assert client.post("/look/adversary/attack", data=listed).status_code == 303
        served.settle("look-attack")
        shown = client.get("/look/adversary").text
        assert "20 people may have a value with a probability of more than 1/2, if the attacker also knows" in shown
        assert "This is what the release guarantees" not in shown
        assert "This breaks the guarantee" not in shown
        row = re.search(r'up to 100.0%</td>\s*<td>.*?name="row" value="(\d+)"', shown, re.DOTALL)
        assert row is not None
        client.post("/look/adversary/person", data={"row": row[1]})
        served.settle("look-person")
        shown = client.get("/look/adversary").text
        assert "a probability may be up to 100.0%, <b>which is above the guaranteed limit</b>." in shown


def test_without_a_release_an_auditor_counts_a_table_that_is_dropped_on_the_page(place: Path) -> None:
    with sitting(lambda _: None) as served, served.client() as client:
        for name in ("", "/adversary", "/analyst"):
            assert "There is no release yet" in client.get(f"/look{name}").text
        content = b"zip,disease\n476**,flu\n476**,flu\n479**,flu\n479**,ulcer\n"
        sent = client.post("/look/auditor/upload", files={"file": ("../../arx <b>.csv", content)})
        assert sent.status_code == 303
        served.settle("look-columns")
        assert "arx &lt;b&gt;.csv" in client.get("/look/auditor").text
        asked = {"role-0": "quasi", "role-1": "sensitive", "k": "2", "ell": "2", "t": "0.5"}
        assert client.post("/look/auditor/count", data=asked).status_code == 303
        served.settle("look-table")
        shown = client.get("/look/auditor").text
        assert "not satisfied" in shown
        assert "<b>The table does not satisfy what was asked for: " in shown
        assert "zip=476** (2 records)" in shown


def test_an_auditor_of_exact_quasi_identifiers_is_shown_no_k_and_no_risk(place: Path, tmp_path: Path) -> None:
    table = gh.synthetic.hospital(200, seed=1)
    gh.publish(table, principle=gh.LDiversity(3), recoding="anatomy").save(tmp_path / "release")
    with opened_alone(place / "out" / "release") as served, served.client() as client:
        shown = []
        for path in (tmp_path, place / "out"):
            client.post("/look/auditor/verify", data={"path": str(path / "release")})
            served.settle("look-folder")
            shown.append(client.get("/look/auditor").text)
    exact, coarse = shown

    for words in ("k, the smallest group", "Risk that a person is found"):
        assert words in coarse
        assert words not in exact
    assert "k and the re-identification risk are not given" in exact


def test_a_release_that_was_changed_is_refused_in_words(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "out" / "release", tmp_path / "release")
    manifest = tmp_path / "release" / "datapackage.json"
    manifest.write_text(manifest.read_text().replace("1 of 3 records", "1 of 9 records"))
    with opened_alone(tmp_path / "release") as served, served.client() as client:
        client.get("/look")
        client.post("/look/auditor/verify", data={"path": str(tmp_path)})
        served.settle("look-release")
        served.settle("look-folder")
        for name in ("", "/adversary", "/analyst", "/auditor"):
            shown = client.get(f"/look{name}").text
            assert "This release is refused" in shown
            assert "Traceback" not in shown
            assert "Attack everybody" not in shown


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("adversary/attack", {"attack": "magic"}),
        ("adversary/attack", {"effort": "infinite"}),
        ("adversary/attack", {"column": "-1"}),
        ("adversary/attack", {"column": "٣"}),
        ("adversary/attack", {"attack": "corruption", "most_corrupted": "1e9"}),
        ("adversary/attack", {"attack": "intersection"}),
        ("adversary/attack", {"attack": "intersection", "other": "/nowhere/at/all"}),
        ("adversary/person", {"row": "0"}),
        ("adversary/somebody", {"attack": ["linking", "linking"]}),
        ("analyst/ask", {}),
        ("analyst/ask", {"sql": "SELECT COUNT(*)", "model": "oracle"}),
        ("analyst/ask", {"example": "99999"}),
        ("auditor/verify", {}),
        ("auditor/verify", {"path": "/nowhere/at/all"}),
        ("auditor/verify", {"path": "a\0b"}),
        ("auditor/verify", {"path": "~nobody-of-this-name/release"}),
        ("auditor/verify", {"path": "a" * 5000}),
        ("auditor/count", {"role-0": "quasi"}),
        ("auditor/upload", {"file": "no file"}),
    ],
)
def test_what_is_not_on_the_form_is_refused_in_words(wrong: httpx.Client, path: str, form: dict[str, Any]) -> None:
    answer = wrong.post(f"/look/{path}", data=form)

    assert answer.status_code == 400, answer.text
    assert "This did not work" in answer.text


@pytest.fixture(scope="module")
def wrong(place: Path) -> Iterator[httpx.Client]:
    with opened_alone(place / "out" / "release") as served, served.client() as client:
        client.get("/look")
        served.settle("look-release")
        yield client


class Elements(HTMLParser):
    """Notices scripts, handlers and elements that no template of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        ours = tag == "script" and named.get("src") == "/assets/studio.js"
        image = tag == "img" and named.get("src") == "/assets/mark.svg"
        if (tag in ("script", "img", "iframe", "object") and not (ours or image)) or "style" in named:
            self.wrong.append(tag)
        self.wrong += [name for name in named if name.startswith("on")]


def test_names_and_values_that_look_like_code_are_shown_as_text(tmp_path: Path) -> None:
    """Every page of the step, with such columns, values, identifiers, files and questions."""
    quasi, sensitive, identifier = CANARIES[0], CANARIES[1], CANARIES[2]
    n = 60
    table = pa.table(
        {
            identifier: [f"{CANARIES[i % 4]}{i}" for i in range(n)],
            quasi: [CANARIES[i % 3] for i in range(n)],
            sensitive: [f"{CANARIES[(i // 3) % 4]}" for i in range(n)],
        }
    )
    file = tmp_path / "<b>table.parquet"
    pq.write_table(table, file)
    read = gh.read(file, quasi=[quasi], sensitive=sensitive, identifier=identifier, accept=["no-header"])
    gh.publish(read, principle=gh.LDiversity(2), out=tmp_path / "out", source=gh.Source.seeded(1), allow_seed=True)

    def prepare(desk: Desk) -> None:
        how = {"quasi": [quasi], "sensitive": [sensitive], "identifier": identifier}
        desk.open(str(file), "<b>table.parquet", **how)
        desk.published.append(tmp_path / "out")

    def check(shown: httpx.Response) -> None:
        found = Elements()
        found.feed(shown.text)
        assert not found.wrong

    with sitting(prepare) as served, served.client() as client:
        client.get("/look")
        served.settle("look-release")
        client.post("/look/adversary/attack", data={"attack": "corruption", "corrupted": f"{CANARIES[3]}3"})
        client.post("/look/analyst/ask", data={"example": "0", "model": "uniform"})
        client.post("/look/auditor/verify", data={"path": str(file)})
        for name in ("look-attack", "look-answer", "look-columns"):
            served.settle(name)
            assert served.desk.found(name) is not None, served.desk.job(name)
        client.post("/look/adversary/person", data={"row": "1"})
        client.post("/look/auditor/count", data={"role-1": "quasi", "role-2": "sensitive", "k": "1000"})
        served.settle("look-person")
        served.settle("look-table")
        for name in ("", "/adversary", "/analyst", "/auditor"):
            shown = client.get(f"/look{name}")
            assert shown.status_code == 200
            assert "&lt;script&gt;" in shown.text
            check(shown)
        check(client.post("/look/adversary/attack", data={"attack": "intersection", "corrupted": CANARIES[3]}))
        check(client.post("/look/auditor/verify", data={"path": CANARIES[0]}))
        check(client.post("/look/analyst/ask", data={"sql": CANARIES[3], "model": CANARIES[1]}))


def test_the_page_claims_a_guarantee_only_against_the_attacker_that_it_is_about(inside: Sitting, place: Path) -> None:
    with inside.client() as client:
        client.get("/look")
        inside.settle("look-release")
        same = {"attack": "intersection", "other": str(place / "out" / "release")}
        assert client.post("/look/adversary/attack", data=same).status_code == 303
        inside.settle("look-attack")
        client.post("/look/adversary/person", data={"row": "0"})
        inside.settle("look-person")
        shown = client.get("/look/adversary").text
        assert "None of the 240 people who were attacked has a value of" in shown
        assert "The release does not guarantee this against this attacker: its guarantee is against an" in shown
        assert "The limit is not guaranteed against this attacker." in shown
        assert "This is what the release guarantees" not in shown

        client.post("/look/adversary/attack", data={"attack": "linking"})
        inside.settle("look-attack")
        person = {"value-0": "41", "value-1": "F", "value-2": "01850"}
        client.post("/look/adversary/somebody", data={**same, **person})  # which says nothing about the first attack
        inside.settle("look-somebody")
        shown = client.get("/look/adversary").text
        assert "This is what the release guarantees" in shown
        assert "The limit is not guaranteed against this attacker." in shown
