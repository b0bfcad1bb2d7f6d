"""The first step: tables come in by every door, are looked at, and their columns get roles and taxonomies."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.requests import ClientDisconnect, Request

from glasshouse.errors import InputError
from glasshouse.microdata import synthetic
from glasshouse.studio.desk import Desk
from glasshouse.studio.open_table import adopt, begin
from glasshouse.studio.page import files_read, fragment
from glasshouse.studio.steps import data
from glasshouse.studio.steps.data_columns import decide
from glasshouse.studio.steps.data_pictures import picture
from glasshouse.studio.tasks.table_look import look
from glasshouse.studio.upload import Upload, upload_of
from glasshouse.studio.workspace import Workspace
from tests.doors.postgres.database import Database
from tests.doors.postgres.server import PASSWORD, Server
from tests.doors.studio.conftest import Studio, start

HOSTILE = [
    "<script>document.title='taken'</script>",
    '"onmouseover=document.title="taken"',
    "=cmd()",
    "two\nlines",
    "turned \u202e\u2066 around",
    "long " + "x" * 10_000,
]


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    path = tmp_path / "hospital.csv"
    rows = synthetic.hospital_table(n=400, seed=7).to_pylist()
    lines = [";".join(rows[0]), *(";".join(str(value) for value in row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A client of one studio for all tests without a browser: each of them opens a table of its own."""
    made = start()
    with made.client() as entered:
        yield entered
    made.stop()


def settled(client: httpx.Client, path: str = "/data") -> str:
    """The page, once nothing runs any more."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        text = client.get(path).text
        if "data-job=" not in text:
            return text
        time.sleep(0.1)
    raise AssertionError("the work does not end")


def opened(client: httpx.Client, path: Path | str) -> str:
    answer = client.post("/data/open", data={"path": str(path)})
    assert answer.status_code == 303, answer.text
    return settled(client)


def secret_of(text: str) -> str:
    """What a form says of the table that it is about."""
    found = re.search(r'name="of" value="([0-9a-f]+)"', text)
    assert found is not None
    return found[1]


def mark_of(text: str) -> str:
    """For which choices a form on a page was made."""
    found = re.search(r'name="mark" value="([0-9a-f]+)"', text)
    assert found is not None
    return found[1]


def table_of(tmp_path: Path, columns: Any, name: str = "table.parquet") -> Path:
    pq.write_table(pa.table(columns), tmp_path / name)
    return tmp_path / name


# --- in a browser -----------------------------------------------------------------------------------------------------


def test_a_person_opens_the_hospital_changes_roles_and_sees_who_stands_out(studio: Studio, page: Any) -> None:
    page.goto(studio.address)
    page.get_by_label("How many patients").fill("400")
    page.get_by_role("button", name="Open the example table").click()
    standing = page.locator("#standing")
    standing.get_by_text("People with a unique combination of values").wait_for()

    assert page.locator("table tbody tr").count() == 12
    assert page.locator(".column-picture svg").count() == 5, "numbers of patients are all different"
    assert "age, sex and zipcode" in standing.inner_text()
    assert "codes of 5 characters" in page.locator("#column-3").inner_text()

    page.locator("#column-4 input[value=none]").focus()  # the day of admission, by the keyboard; saved without a button
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#column-4 input[value=quasi]").is_checked()
    standing.get_by_text("age, sex, zipcode and admitted").first.wait_for()
    page.locator("#column-1 input[value=sensitive]").check()  # ages are amounts
    standing.get_by_text("Protected: age and disease").wait_for()
    assert page.locator("#column-1 fieldset.for-sensitive").is_visible()
    page.locator("#column-2 input[value=identifier]").check()
    assert page.locator("#column-0 input[value=none]").is_checked(), "there is one identifier"
    standing.get_by_text("cannot be read with these roles").wait_for()
    page.reload()
    assert page.locator("#column-2 input[value=identifier]").is_checked()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_a_person_drops_a_file_and_edits_a_tree(studio: Studio, page: Any, tmp_path: Path) -> None:
    (tmp_path / "ill.csv").write_text("age,disease\n" + "".join(f"{i % 50},{'abcd'[i % 4]}\n" for i in range(200)))
    page.goto(studio.address)
    page.evaluate(
        """(text) => {
            const given = new DataTransfer();
            given.items.add(new File([text], "../../ill.csv", { type: "text/csv" }));
            document.querySelector("[data-drop]").dispatchEvent(
                new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
        }""",
        (tmp_path / "ill.csv").read_text(),
    )
    page.locator("#standing").get_by_text("People with a unique combination of values").wait_for()
    assert page.locator("h1").inner_text() == "ill.csv"

    page.locator("#column-1").get_by_role("link").click()
    levels = page.locator("#levels")
    page.get_by_label("A taxonomy of your own").check()
    levels.locator("tbody tr").nth(1).wait_for()
    page.get_by_label("The taxonomy as an outline").fill("all\n  first\n    a\n    b\n   c\n  d")
    levels.get_by_text("Line 5 is indented by 3 spaces").wait_for()
    page.get_by_label("The taxonomy as an outline").fill("all\n  first\n    a\n    b\n  c")
    levels.get_by_text("lacks 1 of 4 values").wait_for()
    outline = page.get_by_label("The taxonomy as an outline")
    outline.fill("all\n  first\n    a\n    b\n  <b>second\n  c\n  d")
    outline.evaluate("field => field.setSelectionRange(field.value.lastIndexOf('c'), field.value.length)")
    page.get_by_role("button", name="Move the lines in").click()
    assert outline.input_value().endswith("second\n    c\n    d")
    levels.get_by_text("<b>second").wait_for()
    assert levels.locator("tbody tr").count() == 3
    page.get_by_role("button", name="Save").click()
    page.locator("#column-1").get_by_text("a taxonomy of your own").wait_for()
    page.locator("#standing").get_by_text("People with a unique combination of values").wait_for()

    page.set_viewport_size({"width": 360, "height": 800})
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_hostile_names_and_values_are_shown_and_do_nothing(studio: Studio, page: Any, tmp_path: Path) -> None:
    columns = {name: [HOSTILE[(i + place) % 6] for i in range(60)] for place, name in enumerate(HOSTILE)}
    path = table_of(tmp_path, columns)
    page.goto(studio.address)
    page.get_by_label("Or write its path").fill(str(path))
    page.get_by_role("button", name="Open the path").click()
    page.locator(".column-card").first.wait_for()
    for i in range(6):
        page.locator(f"#column-{i} input[value={'sensitive' if i == 5 else 'quasi'}]").check()
    page.locator("#standing").get_by_text("To be decided before publishing").wait_for()
    page.locator("#standing [data-job]").wait_for(state="detached")

    text = page.content()
    assert page.title() == "Data - Glasshouse studio"
    assert "&lt;script&gt;document.title" in text
    assert "two\\nlines" in text
    assert "\u202e" not in text
    assert "x" * 1000 not in page.locator("main").inner_text()
    assert not page.evaluate("[...document.querySelectorAll('main *')].some(one => one.onmouseover)")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    n_open = page.get_by_role("button", name="accept it as it is").count()
    page.get_by_role("button", name="accept it as it is").first.click()
    page.get_by_role("button", name="Undo").wait_for()
    assert page.get_by_role("button", name="accept it as it is").count() == n_open - 1

    page.goto(f"{studio.base}/data/taxonomy/0")
    page.get_by_label("A taxonomy of your own").check()
    page.locator("#levels tbody tr").nth(1).wait_for()
    page.get_by_role("button", name="Save").click()
    page.locator("#column-0").get_by_text("a taxonomy of your own").wait_for()
    assert page.title() == "Data - Glasshouse studio"


def test_changes_are_saved_one_after_the_other_and_the_last_counts(studio: Studio, page: Any) -> None:
    page.goto(studio.address)
    page.get_by_label("How many patients").fill("400")
    page.get_by_role("button", name="Open the example table").click()
    standing, outdated = page.locator("#standing"), page.locator("#standing[inert]")
    standing.get_by_text("People with a unique combination of values").wait_for()
    saves: list[Any] = []
    page.route("**/data/columns/live", lambda route: saves.append(route))  # each save is held until it may go on

    for role in ("none", "quasi", "none"):
        page.locator(f"#column-3 input[value={role}]").check()
    outdated.wait_for()  # what is shown belongs to earlier roles: it cannot be clicked
    page.wait_for_timeout(200)
    assert len(saves) == 1
    saves[0].continue_()
    while len(saves) < 2:
        page.wait_for_timeout(20)
    saves[1].continue_()
    outdated.wait_for(state="detached")
    assert len(saves) == 2, "of the changes that waited, only the last state is sent"
    standing.get_by_text("Others may know age and sex.").wait_for()

    page.locator("#column-3 input[value=quasi]").check()
    while len(saves) < 3:
        page.wait_for_timeout(20)
    saves[2].abort()
    standing.get_by_text("The studio does not answer any more").wait_for()


# --- without one ------------------------------------------------------------------------------------------------------


def test_everything_works_as_plain_forms(client: httpx.Client, hospital: Path) -> None:
    text = opened(client, hospital)
    assert "separated by semicolons" in text
    assert 'value="quasi" checked' in text
    given = {"of": secret_of(text), "role-0": "identifier", "role-1": "quasi", "role-3": "quasi", "role-4": "none"}
    answer = client.post("/data/columns", data={**given, "role-2": "none", "role-5": "sensitive", "top-1": "80"})
    assert answer.headers["location"] == "/data#standing"
    text = settled(client)
    assert "age</bdi> and " in text
    assert 'name="top-1" value="80"' in text
    assert "are the only ones with their" in text

    answer = client.post("/data/columns", data={**given, "role-1": "owner"})
    assert answer.status_code == 400
    assert "did not work" in answer.text
    assert "not saved" in client.post("/data/columns/live", data={**given, "of": "0"}).text

    dialect = {"delimiter": "semicolon", "encoding": "cp1252", "decimal": ","}
    assert "This form was about another table" in client.post("/data/reading", data={**dialect, "of": "0"}).text
    client.post("/data/reading", data={**dialect, "of": given["of"]})
    text = settled(client)
    assert "letters are written in cp1252, and numbers with a decimal comma" in text
    assert "What was decided about its columns before is forgotten" in text
    for wrong in ({"delimiter": "other", "other": '"'}, {"encoding": "klingon"}, {"decimal": "x"}):
        assert client.post("/data/reading", data={"of": secret_of(text), "decimal": ".", **wrong}).status_code == 400


def test_one_sheet_of_several_is_chosen_and_published(client: httpx.Client, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["about this file"])
    people = book.create_sheet("people of 2026")
    people.append(["age", "sex", "illness"])
    for i in range(300):
        people.append([20 + i % 60, "FM"[i % 2], f"ill {i % 5}"])
    book.save(tmp_path / "book.xlsx")

    text = opened(client, tmp_path / "book.xlsx")
    assert "Which sheet or table is it?" in text
    assert "has 2 sheets, notes, people of 2026: choose one below" in text
    assert "table=" not in text
    assert client.post("/data/part", data={"of": secret_of(text), "table": " "}).status_code == 400
    client.post("/data/part", data={"of": secret_of(text), "table": "nobody"})
    text = settled(client)
    assert "nobody" in text
    assert 'action="/data/part"' in text
    client.post("/data/part", data={"of": secret_of(text), "table": "people of 2026"})
    text = settled(client)
    assert "300 rows" in text
    client.post(
        "/data/columns", data={"of": secret_of(text), "role-0": "quasi", "role-1": "quasi", "role-2": "sensitive"}
    )
    settled(client)
    settled(client, "/privacy")
    assert "--table 'people of 2026'" in unescape(client.get("/release").text)


def test_a_decimal_comma_is_found_and_published_with(client: httpx.Client, tmp_path: Path) -> None:
    rows = "".join(f"{i % 60};{50 + i % 30},{i % 10};{'flu' if i % 2 else 'gout'}\n" for i in range(300))
    (tmp_path / "weights.csv").write_text("age;weight;illness\n" + rows)
    text = opened(client, tmp_path / "weights.csv")
    assert "numbers with a decimal comma." in text
    assert "decimal=" not in text
    assert 'value="," selected' in text
    client.post("/data/columns", data={"of": secret_of(text), "role-1": "quasi", "role-2": "sensitive"})
    settled(client)
    settled(client, "/privacy")
    text = client.get("/release").text
    assert "--decimal ," in unescape(text)
    assert 'decimal = ","' in unescape(text)

    client.post("/data/reading", data={"of": secret_of(client.get("/data").text), "decimal": "."})
    text = settled(client)
    assert "numbers with a decimal point." in text  # what a person says is not found out again
    assert "To read them as numbers, choose the comma under “This is not right”" in text
    assert "decimal=" not in text


def test_only_files_that_can_be_read_here_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert files_read() == "CSV, Parquet, Arrow, ORC, SQLite, Excel, Stata, SPSS, SAS or DuckDB."
    monkeypatch.setattr("glasshouse.studio.page.find_spec", lambda name: None if name == "pyreadstat" else name)
    assert files_read() == (
        "CSV, Parquet, Arrow, ORC, SQLite, Excel or DuckDB. To read Stata, SPSS or SAS, install an optional package: "
        "pip install 'glasshouse[formats]'."
    )


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[tuple[Desk, dict[str, Any]]]:
    """A desk with a table that was looked at, and what was found: age, salary, day, illness."""
    table = {
        "person": [f"p{i}" for i in range(60)],
        "age": [i % 50 for i in range(60)],
        "salary": [1000.5 * (i % 40) for i in range(60)],
        "day": [date(2024, 1 + i % 12, 1) for i in range(60)],
        "illness": [f"ill {i % 5}" for i in range(60)],
    }
    path = table_of(tmp_path, table)
    with Workspace() as workspace:
        made = Desk(workspace)
        made.open(str(path), "a table")
        made.notes |= {"of": "me"}
        found = look(tell=Quiet(), file=str(path))
        adopt(made, found)
        yield made, found


class Quiet:
    def progress(self, what: str, done: int, total: int) -> None: ...

    def part(self, found: Any) -> None: ...


ODD = {
    "nothing": pa.nulls(20),
    "truths": pa.array([i % 2 == 0 for i in range(20)]),
    "moments": pa.array([i * 10**15 + 1 for i in range(20)], pa.timestamp("ns", "Europe/Berlin")),
    "times": pa.array([i * 10**9 + 3 for i in range(20)], pa.time64("ns")),
    "far apart": pa.array([(-1) ** i * (2**63 - 1) for i in range(20)]),
    "farther": pa.array([(-1) ** i * 1e308 for i in range(20)]),
    "near": pa.array([5e-324 * i for i in range(20)]),
    "infinite": pa.array([float("inf") if i % 3 else i for i in range(20)], pa.float64()),
    "ever longer": pa.array(["x" * i for i in range(200)][::10]),
}


def test_columns_of_every_kind_are_looked_at_and_drawn(tmp_path: Path) -> None:
    found = look(tell=Quiet(), file=str(table_of(tmp_path, ODD)))

    assert [column["name"] for column in found["columns"]] == list(ODD)
    pictures = [picture(column, i) for i, column in enumerate(found["columns"])]
    assert [made is not None for made in pictures] == [False, True, False, False, True, False, False, True, False]
    assert len(found["rows"]) == 12
    assert found["rows"][0][:2] == [None, "true"]


def test_a_form_decides_by_the_names_of_the_command_line(desk: tuple[Desk, dict[str, Any]]) -> None:
    made, found = desk
    assert {name: made.choices[name] for name in ("quasi", "sensitive", "identifier")} == {
        "quasi": ["age", "day"],
        "sensitive": ["illness"],
        "identifier": "person",
    }
    form = {
        "of": "me",
        "role-1": "quasi",
        "bottom-1": "18",
        "role-2": "sensitive",
        "role-3": "quasi",
        "top-3": "2024-06-01",
    }
    decide(made, found, {name: [value] for name, value in form.items()} | {"role-4": ["none"], "missing": ["drop"]})

    chosen = {name: value for name, value in made.choices.items() if name != "file"}
    assert chosen == {
        "identifier": "person",
        "quasi": ["age", "day"],
        "sensitive": ["salary"],
        "bins": {"salary": f"intervals:{found['columns'][2]['width']}"},
        "bottom": {"age": 18},
        "top": {"day": date(2024, 6, 1)},
        "missing": "drop",
    }
    decide(made, found, {"of": ["me"], "role-1": ["identifier"], "role-2": ["none"], "role-3": ["sensitive"]})
    assert made.choices["identifier"] == "age", "the new one takes the place of the one before"
    assert made.choices["bins"] == {"day": "dates:year"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"role-1": "owner"},
        {"role-0": "quasi", "role-1": "identifier", "role-3": "identifier"},
        {"role-1": "quasi", "top-1": "old"},
        {"role-1": "quasi", "top-1": "inf"},
        {"role-1": "quasi", "top-1": "2024-06-01"},
        {"role-3": "quasi", "bottom-3": "7"},
        {"role-2": "sensitive", "cut-2": "intervals", "intervals-2": "-3"},
        {"role-2": "sensitive", "cut-2": "intervals", "intervals-2": "1_0"},
        {"role-2": "sensitive", "cut-2": "intervals", "intervals-2": "9" * 999},
        {"role-2": "sensitive", "cut-2": "quantiles", "quantiles-2": "1"},
        {"role-2": "sensitive", "cut-2": "quantiles", "quantiles-2": "\u0662\u0663"},
        {"role-2": "sensitive", "cut-2": "magic"},
        {"role-3": "sensitive", "cut-3": "dates", "dates-3": "century"},
        {"role-3": "sensitive", "cut-3": "names"},
        {"missing": "guess"},
        {"of": "another"},
    ],
    ids=str,
)
def test_a_form_that_is_wrong_changes_nothing(desk: tuple[Desk, dict[str, Any]], wrong: dict[str, str]) -> None:
    made, found = desk
    before = dict(made.choices)
    with pytest.raises(InputError):
        decide(made, found, {name: [value] for name, value in {"of": "me", **wrong}.items()})
    assert made.choices == before


def test_missing_values_and_amounts_are_decided_on(client: httpx.Client, tmp_path: Path) -> None:
    rows = "".join(f"{i % 60},{'' if i % 9 == 0 else 1000 + 37 * i},{'flu' if i % 2 else 'FLU '}\n" for i in range(300))
    (tmp_path / "pay.csv").write_text("age,salary,illness\n" + rows)
    text = opened(client, tmp_path / "pay.csv")
    assert re.search(r"salary</bdi> has no value in 34", text)
    given = {"of": secret_of(text), "role-0": "quasi", "role-1": "sensitive", "role-2": "none"}
    client.post("/data/columns", data={**given, "missing": "error"})
    text = settled(client)
    assert "issing values in salary (34 of 300)" in text
    assert "Choose above what happens to rows with missing values." in text
    client.post("/data/columns", data={**given, "missing": "drop", "cut-1": "intervals", "intervals-1": "2000"})
    text = settled(client)
    assert "ows dropped because a value was missing: 34" in text
    assert 'name="intervals-1" value="2000"' in text
    client.post("/data/columns", data={**given, "role-1": "none", "role-2": "sensitive"})
    text = settled(client)
    assert "Open:" in text
    number = {"column": "2", "name": "look-alikes"}
    changed = client.post(
        "/data/columns/live", data={**given, "role-0": "none", "role-1": "quasi", "role-2": "sensitive"}
    )
    assert 'name="mark"' not in changed.text, "what is not checked yet cannot be accepted"
    before = mark_of(text)
    text = settled(client)
    answer = client.post("/data/caution", data={**number, "mark": before, "what": "accept"})
    assert answer.status_code == 409
    assert "Your choices were changed in another tab: look at them again before you go on" in answer.text
    assert "Open:" in settled(client)
    client.post("/data/caution", data={**number, "mark": mark_of(text), "what": "accept"})
    text = settled(client)
    assert "Accepted:" in text
    client.post("/data/caution", data={**number, "mark": mark_of(text), "what": "withdraw"})
    seen = mark_of(settled(client))
    client.post("/data/caution", data={**number, "mark": seen, "what": "merge"})
    text = settled(client)
    assert "Open:" not in text
    assert 'name="merge-2" value="yes" checked' in text
    assert client.post("/data/caution", data={**number, "mark": seen, "what": "accept"}).status_code == 409


def test_wrong_files_are_refused_in_words_and_the_table_stays_open(
    client: httpx.Client, hospital: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(64))
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (tmp_path / "secret.csv").chmod(0)
    wrong = {tmp_path: "is a folder", tmp_path / "none.csv": "there is no file", tmp_path / "empty.csv": "is empty"}
    wrong |= {
        "a" * 5000: "write the path",
        "\0": "write the path",
        "postgresql://me:CANARY@h/d": "the address of a database",
        "https://example.org/hospital.csv": "this is an address, not a path: save the table as a file",
    }
    if os.geteuid():
        wrong[tmp_path / "secret.csv"] = "cannot be read by this user"
    opened(client, hospital)
    for path, words in wrong.items():
        answer = client.post("/data/open", data={"path": str(path)})
        assert answer.status_code == 400, path
        assert words in answer.text.lower()
        assert "hospital.csv" in answer.text
        assert "CANARY" not in answer.text
    assert 'value="quasi" checked' in settled(client)
    text = opened(client, tmp_path / "picture.png")
    assert "This table cannot be read" in text
    assert "What was decided about" in text
    (tmp_path / "inner").mkdir()
    assert client.post("/data/open", data={"path": f"'{tmp_path}/inner/../{hospital.name}'"}).status_code == 303
    assert client.get("/data/taxonomy/0").status_code == 400, "nothing is known of its columns yet"
    client.post("/jobs/look/cancel", data={"to": "data"})
    assert "The work was cancelled" in client.get("/data").text
    assert client.post("/data/again").status_code == 303
    assert "data-job=" in client.get("/data").text
    assert client.get("/data/taxonomy/%2e%2e").status_code in (400, 404)


def test_an_upload_is_opened_and_what_is_none_is_refused(client: httpx.Client) -> None:
    content = b"age,disease\n" + b"".join(b"%d,flu\n" % (i % 9) for i in range(50))
    answer = client.post("/data/upload", files={"file": ("../../../../tmp/<script>climbs.csv", content)})
    assert answer.status_code == 303
    text = settled(client)
    assert "50 rows" in text
    assert '<bdi class="name">&lt;script&gt;climbs.csv</bdi>' in text
    for wrong in ({"file": ("empty.csv", b"")}, {"other": ("a.csv", content)}):
        assert client.post("/data/upload", files=wrong).status_code == 400
    assert client.post("/data/upload", content=b"age\n1\n").status_code == 400
    twice = [("file", ("a.csv", content)), ("file", ("b.csv", content))]
    assert client.post("/data/upload", files=twice).status_code == 400
    headers = {"content-type": "multipart/form-data; boundary=x"}
    assert client.post("/data/upload", content=b"--x\r\nnothing", headers=headers).status_code == 400


@pytest.mark.parametrize(
    "name", ["../../climbs.csv", "..", "C:\\tables\\a.csv", "<script>.csv", "/nowhere/x.csv", ".ssh", "-rf"]
)
def test_an_upload_stays_in_the_workspace(tmp_path: Path, name: str) -> None:
    with Workspace(tmp_path / "workspace") as workspace:
        sent = asked([_part(name) + b"1,flu\r\n--x--\r\n"], workspace)

        assert sent.path.parent == tmp_path / "workspace" / "uploads"
        assert sent.path.read_bytes() == b"1,flu"
        assert sent.path.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["workspace"]


def test_what_was_sent_in_part_is_removed(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        with pytest.raises(ClientDisconnect):
            asked([_part("a.csv") + b"1,flu"], workspace)
        assert not list((tmp_path / "uploads").iterdir())


def _part(name: str) -> bytes:
    quoted = name.replace("\\", "\\\\")
    return f'--x\r\ncontent-disposition: form-data; name="file"; filename="{quoted}"\r\n\r\n'.encode()


def asked(pieces: list[bytes], workspace: Workspace) -> Upload:
    """What comes of a body that is sent in pieces, and then of a connection that ends."""
    waiting: list[Any] = [
        {"type": "http.request", "body": piece, "more_body": b"--x--" not in piece} for piece in pieces
    ]
    waiting.append({"type": "http.disconnect"})

    async def receive() -> Any:
        return waiting.pop(0)

    headers = [(b"content-type", b"multipart/form-data; boundary=x")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    with ThreadPoolExecutor(1) as other:  # for a browser that is driven has a loop of its own in this thread
        return other.submit(lambda: asyncio.run(upload_of(request, workspace, "uploads"))).result()


def test_taxonomies_are_rules_files_or_trees(client: httpx.Client, hospital: Path) -> None:
    secret = secret_of(opened(client, hospital))
    text = settled(client, "/data/taxonomy/3")
    assert "36 different values" in text or "different values" in text
    saved = client.post("/data/taxonomy/3", data={"of": secret, "kind": "prefix", "prefix": "5"})
    assert saved.headers["location"] == "/data#column-3"
    assert "codes of 5 characters" in settled(client)
    assert client.get("/data/taxonomy/99").status_code == 400
    for wrong in ({"kind": "prefix", "prefix": "0"}, {"kind": "magic"}, {"kind": "tree", "outline": "  a"}):
        assert client.post("/data/taxonomy/3", data={"of": secret, **wrong}).status_code == 400

    settled(client, "/data/taxonomy/2")
    place = f"/data/upload?taxonomy=2&of={secret}"
    other = client.post("/data/upload?taxonomy=2&of=0", files={"file": ("sex.csv", b"F,person,*\nM,person,*\n")})
    assert "his form was about another table" in other.text
    sent = client.post(place, files={"file": ("sex.csv", b"F,person,*\nM,person,*\n")})
    assert sent.headers["location"] == "/data/taxonomy/2"
    assert "person" in settled(client, "/data/taxonomy/2")
    assert "a taxonomy of your own" in settled(client)
    for wrong in (b"F;*\nX;*\n", b"F;*\nM\n", b"\xff\xfe\0", b""):
        answer = client.post(place, files={"file": ("sex.csv", wrong)})
        assert answer.status_code == 400, wrong
    assert client.post("/data/upload?taxonomy=77", files={"file": ("sex.csv", b"F;*\n")}).status_code == 400
    preview = client.post("/data/taxonomy/4/preview", data={"of": secret, "kind": "dates", "dates": ["month", "year"]})
    settled(client, "/data/taxonomy/4")
    preview = client.post("/data/taxonomy/4/preview", data={"of": secret, "kind": "dates", "dates": ["month", "year"]})
    assert "2024-01" in preview.text


def test_a_password_is_shown_nowhere(client: httpx.Client) -> None:
    for address in (
        "postgresql://me:CANARY@127.0.0.1:9/d",
        "postgresql://me@h/d?password=CANARY",
        "mysql://me:CANARY@h",
    ):
        answer = client.post("/data/database", data={"address": address, "table": "people", "password": "CANARY"})
        assert answer.status_code == 400
        assert "CANARY" not in answer.text
        assert 'value="people"' in answer.text
    given = {"address": "postgresql://me@127.0.0.1:9/d", "table": "people", "password": "CANARY"}
    assert client.post("/data/database", data={**given, "query": "SELECT 1"}).status_code == 400
    assert client.post("/data/database", data=given).status_code == 303
    text = settled(client)
    assert "people in d at 127.0.0.1:9" in text
    assert "This table cannot be read" in text
    assert "CANARY" not in text


def test_a_password_on_the_command_line_is_refused(desk: tuple[Desk, dict[str, Any]]) -> None:
    before = dict(desk[0].choices)
    with pytest.raises(InputError, match="contains a password"):
        begin(desk[0], "postgresql://me:CANARY@localhost/clinic?table=people")
    assert desk[0].choices == before


class Ends:
    """Work that ends while somebody looks at it."""

    result: Any = None
    what, n_done, total, message = "counting", 0, 0, ""

    def __init__(self) -> None:
        self.states = iter(["running"])

    @property
    def state(self) -> str:
        return next(self.states, "done")

    @property
    def runs(self) -> bool:
        return self.state == "running"


def test_work_that_ends_while_a_page_is_written_is_followed_or_shown(
    desk: tuple[Desk, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "check_job", lambda _: Ends())
    text = fragment("data_standing.html", standing=data._standing(*desk), trouble="").body

    assert b"data-job=" in bytes(text)


def test_a_table_that_is_closed_leaves_neither_its_copy_nor_its_password(
    desk: tuple[Desk, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = desk[0]
    monkeypatch.setattr(Desk, "start", lambda *_, **__: None)
    monkeypatch.setenv("PGPASSWORD", "of the machine")
    named, copy = Path(made.choices["file"]), made.workspace.new("uploads", "people.csv")
    copy.write_text("age\n1\n")
    begin(made, str(copy))
    assert named.exists(), "a file that the person named is not ours"
    begin(made, "postgresql://me@localhost/clinic?table=people", password="CANARY")
    assert not copy.exists()
    assert os.environ["PGPASSWORD"] == "CANARY"
    assert "CANARY" not in made.about() + made.shown_name + repr(made.notes)
    begin(made, str(named))
    assert os.environ["PGPASSWORD"] == "of the machine"
    assert made.notes["before"] == "people in clinic at localhost"


def test_a_table_of_a_database_is_opened_with_a_password(client: httpx.Client, postgres: Server) -> None:
    people = pa.table({"age": [i % 70 for i in range(300)], "disease": [f"ill {i % 9}" for i in range(300)]})
    Database(postgres, "postgres").load("studio_people", people)
    given = {"address": postgres.loopback(), "query": "SELECT * FROM studio_people WHERE age > 9"}
    assert client.post("/data/database", data=given).status_code == 303
    assert "This table cannot be read" in settled(client)
    given = {"address": postgres.loopback(), "table": "studio_people", "password": PASSWORD}
    assert client.post("/data/database", data=given).status_code == 303
    text = settled(client)
    assert "300 rows, 2 columns" in text
    assert "studio_people in postgres at" in text
    assert PASSWORD not in text


def test_a_real_table_takes_hierarchies_of_another_tool(client: httpx.Client, shared_data: Path) -> None:
    text = opened(client, shared_data / "adult.parquet")
    names = pq.read_schema(shared_data / "adult.parquet").names
    assert "48,842 rows, 16 columns" in text
    for column in ("age", "education"):
        tree = (shared_data / "hierarchies" / "adult" / f"adult_hierarchy_{column}.csv").read_bytes()
        place = f"/data/upload?taxonomy={names.index(column)}&of={secret_of(text)}"
        sent = client.post(place, files={"file": ("tree.csv", tree)})
        assert sent.status_code == 303, sent.text
    preview = settled(client, f"/data/taxonomy/{names.index('education')}")
    assert "Higher education" in preview
    text = settled(client)
    assert text.count("a taxonomy of your own") == 2
    assert "People with a unique combination of values" in text
