"""The fourth step: a trial, side by side; publishing as the shown command does; what can be taken along."""

from __future__ import annotations

import io
import os
import re
import shutil
import time
import tomllib
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.policy import load_policy
from glasshouse.randomness import Source
from glasshouse.studio.desk import Desk
from glasshouse.studio.place import look_at, suggested_place
from glasshouse.studio.spelling import spelling_of
from glasshouse.studio.workspace import Workspace
from tests.doors.studio.sitting import Sitting, sitting
from tests.rooms.cli.world import run

N = 300
SEED = 7
ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"], "identifier": "patient"}


@pytest.fixture
def seeded_command(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Runs a command line with the random choices of the seed; nothing else of it is changed."""
    monkeypatch.setattr(Source, "secure", classmethod(lambda cls: Source.seeded(SEED)))
    for module in ("release.package.write", "streaming.journey", "streaming.publish"):
        monkeypatch.setattr(f"glasshouse.{module}.refuse_seed", lambda **given: None)

    def run_in_root(line: str) -> None:
        monkeypatch.chdir("/")  # no path in it may be relative
        run(line)

    return run_in_root


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pa_csv.write_csv(gh.synthetic.hospital_table(n=N, seed=1), tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


def decide(made: Sitting, file: Path, **choices: Any) -> None:
    made.desk.open(str(file), file.name)
    made.desk.choose(**{**ROLES, "ell": 3, **choices})


def publish(made: Sitting, out: Path, **fields: str) -> httpx.Response:
    """Fill the form in and send it."""
    return made.entered.post(
        "/release/publish", data={"out": str(out), "format": "parquet", "report": "none", **fields}
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shown(page: str, what: str) -> str:
    """The text of the command, the call or the policy on a page."""
    found = re.search(rf'data-spelled="{what}">(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


# --- the same bytes as the command ------------------------------------------------------------------------------------

WAYS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "default": ({}, {"report": "brief"}),
    "boxes and tailor": ({"method": "tailor", "recoding": "boxes"}, {"title": "Patients; 'all' of them"}),
    "csv": ({}, {"format": "csv", "licence": "CC-BY-4.0"}),
    "taxonomies": (
        {"method": "mondrian", "recoding": "taxonomies", "taxonomy": {"age": "intervals:10", "sex": "sexes.csv"}},
        {},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_clicks_give_the_bytes_of_the_shown_command(
    file: Path, tmp_path: Path, way: str, seeded_command: Callable[[str], None]
) -> None:
    choices, fields = WAYS[way]
    if "taxonomy" in choices:
        (tmp_path / "sexes.csv").write_text("F;any\nM;any\n")
        choices = choices | {"taxonomy": {"age": "intervals:10", "sex": str(tmp_path / "sexes.csv")}}
    with sitting(seed=SEED) as made:
        decide(made, file, **choices)
        assert publish(made, tmp_path / "out", **fields).status_code == 303
        result = made.wait("publish")
        command = shown(made.entered.get("/release").text, "command")
    by_studio = contents(tmp_path / "out" / "release")
    (tmp_path / "out").rename(tmp_path / "elsewhere")

    seeded_command(command)

    assert contents(tmp_path / "out" / "release") == by_studio
    assert {each["name"] for each in result["files"]} == set(by_studio)
    assert (tmp_path / "elsewhere" / "audit" / "report.html").exists() == (fields.get("report") == "brief")


@pytest.mark.parametrize("ticked", [True, False])
def test_tables_are_written_as_the_file_is_with_a_flat_table_unless_the_box_is_cleared(
    ticked: bool, file: Path, tmp_path: Path
) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file)
        form = made.entered.get("/release").text
        assert '<option value="csv" selected>' in form
        assert 'name="flat" value="yes" checked' in form
        publish(made, tmp_path / "out", format="csv", **({"flat": "yes"} if ticked else {}))
        made.wait("publish")
        page = made.entered.get("/release").text

    assert ("--no-flat" in shown(page, "command")) == (not ticked)
    assert "--format" not in shown(page, "command")
    assert (tmp_path / "out" / "release" / "gt.csv").is_file()
    assert (tmp_path / "out" / "flat" / "table.csv").is_file() == ticked
    assert ("must not be used to count people in small cells" in page) == ticked
    assert ('name="flat" value="yes" checked' in page) == ticked


def test_of_a_release_with_one_table_the_box_is_clear_and_can_be_ticked(file: Path, tmp_path: Path) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file, recoding="boxes")
        made.entered.get("/release")
        made.wait("trial")
        assert 'name="flat" value="yes" checked' not in made.entered.get("/release").text
        publish(made, tmp_path / "out", format="csv", flat="yes")
        made.wait("publish")

    assert (tmp_path / "out" / "flat" / "table.csv").is_file()


# --- a trial ----------------------------------------------------------------------------------------------------------


def test_a_trial_shows_people_side_by_side_and_says_that_it_is_thrown_away(file: Path, tmp_path: Path) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file, ell=12, suppress="1/2")
        assert 'data-job="trial"' in made.entered.get("/release").text
        found = made.wait("trial")
        first, second = made.entered.get("/release").text, made.entered.get("/release?page=2").text
        wrong = [made.entered.get(f"/release?page={page}").status_code for page in ("0", "99", "x", "9" * 30)]

    assert "confidential" in first
    assert "The release that you publish is made again" in first
    assert "People 1 to 20 of the 300" in first
    assert "People 21 to 40 of the 300" in second
    assert found["n_dropped"] > 0
    assert f"{found['n_suppressed']:,} of them because a value is too frequent" in first
    known = (
        f"among the {found['n_published']:,} in the release, and not among the {found['n_dropped']:,} who were left out"
    )
    assert f"<b>For people who are known to be {known}: " in first
    assert f"The {found['n_suppressed']:,} people who were left out are not protected: only people with the m" in first
    everything = "".join(first.split("<tbody>")[1:]) + "".join(second.split("<tbody>")[1:])
    left_out = sum(1 for rows in found["people"]["tables"][0]["rows"][:40] if rows is None)
    assert everything.count("left out: not published") == left_out * 2  # in each of two tables
    assert '<span class="unseen">less exact: </span>' in first
    assert wrong == [400] * 4
    assert not [path for path in tmp_path.iterdir() if path != file]


def test_a_trial_is_about_what_is_decided_and_never_the_release(file: Path, tmp_path: Path) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file, recoding="boxes")
        made.entered.get("/release")
        trial = made.wait("trial")
        publish(made, tmp_path / "out")
        made.wait("publish")
        made.entered.get("/release")
        assert made.desk.found("trial") is trial  # where it is written to changes nothing of it
        made.desk.choose(ell=4)
        assert 'data-job="trial"' in made.entered.get("/release").text

    published = gh.load(tmp_path / "out" / "release")
    assert published.n_tuples == trial["n_published"]
    drawn = {tuple(text for text, _ in row) for row in trial["people"]["tables"][0]["rows"]}
    assert drawn != {tuple(map(str, row.values())) for row in published.tables["data"].to_pylist()}


@pytest.mark.parametrize(
    ("without", "words"), [("quasi", "give the columns their roles"), ("ell", "choose what is guaranteed")]
)
def test_what_is_not_decided_yet_is_asked_for_and_nothing_starts(file: Path, without: str, words: str) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file, **{without: None})
        page = made.entered.get("/release")
        again = publish(made, file.parent / "out")
        assert made.desk.job("trial") is None
        assert made.desk.job("publish") is None

    assert page.status_code == 200
    assert words in page.text
    assert again.status_code == 303


def test_a_promise_that_cannot_be_kept_is_said_in_words(file: Path, tmp_path: Path) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file, ell=200)
        publish(made, tmp_path / "out")
        job = made.desk.job("publish")
        assert job is not None
        assert job.wait(60)
        page = made.entered.get("/release").text

    assert job.state == "failed"
    assert 'role="alert"' in page
    assert "200" in job.message
    assert unescape(page).count(job.message) >= 1
    assert "gh.publish(" not in job.message  # calls of Python are no way out for somebody at a page
    assert 'The step <a href="/privacy">Privacy</a> offers what this table allows instead.' in page
    assert "Traceback" not in page
    assert not (tmp_path / "out").exists()


def test_names_and_values_are_shown_as_text(tmp_path: Path) -> None:
    evil = ["<script>alert(1)</script>", '" onmouseover="alert(1)', "=cmd()|' /C calc'!A0", "{{ 7 * 7 }}\u202e"]
    columns = {evil[0]: [evil[i % 3] for i in range(90)], evil[1]: [evil[i % 4] for i in range(90)]}
    file = tmp_path / '<img src=x onerror="a">.parquet'
    pq.write_table(pa.table(columns), file)
    with sitting(seed=SEED) as made:
        made.desk.open(str(file), file.name)
        made.desk.choose(quasi=[evil[0]], sensitive=[evil[1]], ell=2, title=evil[0], accept=["no-header"])
        made.entered.get("/release")
        made.wait("trial")
        publish(made, tmp_path / "out", title=evil[1], licence="CC-BY-4.0")
        made.wait("publish")
        page = made.entered.get("/release").text

    assert not re.search(r"<script>|<img src=x|\" onmouseover=\"alert|\u202e", page)
    assert "{{ 7 * 7 }}" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


# --- where it is written ----------------------------------------------------------------------------------------------


def test_what_stands_in_a_folder_is_said_before_anything_is_written(file: Path, tmp_path: Path) -> None:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="2-diversity", out=tmp_path / "earlier")
    (tmp_path / "other" / "release").mkdir(parents=True)
    (tmp_path / "other" / "release" / "mine.txt").write_text("mine")
    with Workspace() as workspace:
        desk = Desk(workspace)
        desk.open(str(file), file.name)
        seen = {
            name: look_at(desk, text)
            for name, text in {
                "new": str(tmp_path / "new"),
                "there": str(tmp_path),
                "deep": str(tmp_path / "a" / "b"),
                "file": str(file),
                "inside": str(workspace.folder / "out"),
                "earlier": str(tmp_path / "earlier"),
                "other": str(tmp_path / "other"),
                "climbing": f"{tmp_path}/a/../../{tmp_path.name}/new",
                "empty": "  ",
                "null": "a\0b",
                "address": "postgresql://host/db",
                "long": "x" * 3000,
                "too long a name": str(tmp_path / ("x" * 300)),
                "nobody's home": "~nobody-of-that-name/out",
            }.items()
        }
        assert look_at(desk, "relative").path == Path.cwd() / "relative"
        assert suggested_place(desk) == str(tmp_path / "patients-published")
        desk.open(str(workspace.folder / "uploads" / "x.csv"), "../x y.csv")
        assert suggested_place(desk) == str(Path.cwd() / "x-y-published")

    stops = {name for name, place in seen.items() if place.kind == "stop"}
    assert stops == {
        "file",
        "inside",
        "other",
        "empty",
        "null",
        "address",
        "long",
        "too long a name",
        "nobody's home",
    }
    assert seen["climbing"].path == tmp_path / "new"
    assert seen["deep"].kind == "attention"
    assert (seen["earlier"].kind, seen["earlier"].taken) == ("attention", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["earlier", "other", "patients.csv"]


@pytest.mark.parametrize(
    "fields", [{"out": ""}, {"format": "exe"}, {"report": "../x"}, {"title": "x" * 301}, {"licence": "a\nb"}]
)
def test_a_form_that_cannot_be_meant_is_refused_in_words(file: Path, fields: dict[str, str]) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file)
        sent = made.entered.post("/release/publish", data={"out": str(file.parent / "out"), **fields})
        assert made.desk.job("publish") is None

    assert sent.status_code == 400
    assert "This cannot be published yet" in sent.text


def test_an_earlier_release_is_replaced_only_when_that_is_said_and_the_table_may_come_again(
    file: Path, tmp_path: Path
) -> None:
    """In another sitting, which knows of the earlier release by the audit alone."""
    out = tmp_path / "out"
    with sitting(seed=SEED) as made:
        decide(made, file)
        publish(made, out)
        made.wait("publish")
        here = publish(made, tmp_path / "second")
        assert made.desk.published == [out]
    before = contents(out)
    assert here.status_code == 400
    assert "This table was published before" in here.text
    with sitting(seed=8) as made:
        decide(made, file)
        taken = publish(made, out)
        assert publish(made, out, force="yes").status_code == 303
        refused = made.wait("publish")
        page = made.entered.get("/release").text
        assert contents(out) == before
        assert publish(made, out, force="yes", again="yes").status_code == 303
        made.wait("publish")
        done = made.entered.get("/release").text
        unforced = publish(made, out).text

    assert taken.status_code == 400
    assert "Tick the box below the folder to replace it" in taken.text
    assert "published from this folder before" in refused["again"]
    assert "Nothing was written." in page
    assert "publish --force" in shown(done, "command")  # as it was done
    assert "force=True" in shown(done, "python")
    assert "This cannot be published yet" in unforced
    assert contents(out) != before
    assert "published from this folder before" in unescape(done)


# --- another tab ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [{"ell": 2}, {"quasi": ["age"]}, {"method": "mondrian"}, {"accept": ["free-text:sex"]}, {"file": "other"}],
)
def test_what_was_changed_in_another_tab_is_shown_before_it_is_published(
    file: Path, tmp_path: Path, changed: dict[str, Any]
) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file, ell=4)
        shown = re.search(r'name="mark" value="([0-9a-f]+)"', made.entered.get("/release").text)
        assert shown is not None
        if "file" in changed:
            made.desk.notes["of"] = "another table, whose choices happen to be the same"
        else:
            made.desk.choose(**changed)
        form = {"mark": shown[1], "out": str(tmp_path / "out")}
        live = made.entered.post("/release/same", data=form).text
        sent = made.entered.post("/release/publish", data=form)
        assert made.desk.job("publish") is None
        assert "out" not in made.desk.choices
        nothing = made.entered.post("/release/publish", data={**form, "mark": ""}).status_code
        again = re.search(r'name="mark" value="([0-9a-f]+)"', sent.text)
        assert again is not None
        assert publish(made, tmp_path / "out", mark=again[1]).status_code == 303

    assert (sent.status_code, nothing) == (409, 409)
    for text in (live, sent.text):
        assert "Your choices were changed in another tab: look at them again before you publish." in text
    assert "glasshouse publish" not in live


# --- cancelling -------------------------------------------------------------------------------------------------------


def stages(folder: Path) -> list[Path]:
    # unlike rglob, walk passes over folders that go away meanwhile
    return [Path(at) / name for at, names, _ in os.walk(folder) for name in names if fnmatch(name, ".*.partial")]


@pytest.mark.parametrize("how", ["cancelled", "cancelled in place of another", "stopped"])
def test_work_that_is_ended_leaves_nothing_behind(file: Path, tmp_path: Path, how: str) -> None:
    out, replaced, page = tmp_path / "new" / "deep" / "out", how == "cancelled in place of another", ""
    if replaced:
        gh.publish(gh.synthetic.hospital(60, seed=1), principle="2-diversity", out=out)
    before = contents(tmp_path)
    with sitting(seed=SEED) as made:
        decide(made, file)
        publish(made, out, report="full", **({"force": "yes", "again": "yes"} if replaced else {}))
        job = made.desk.job("publish")
        assert job is not None
        until = time.monotonic() + 60
        while not stages(tmp_path) and job.runs and time.monotonic() < until:
            time.sleep(0.02)
        assert stages(tmp_path)
        if how != "stopped":
            sent = made.entered.post("/jobs/publish/cancel", data={"to": "release"})
            assert sent.headers["location"] == "/release"
            assert job.wait(20)
            page = made.entered.get("/release").text

    assert job.state == "cancelled"
    assert how == "stopped" or "Nothing was kept." in page
    assert contents(tmp_path) == before
    assert not stages(tmp_path)
    assert replaced or not (tmp_path / "new").exists()


def test_a_release_that_was_written_before_the_work_was_cancelled_is_said_to_be_there(
    file: Path, tmp_path: Path
) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file)
        publish(made, tmp_path / "out", flat="yes")
        job = made.desk.job("publish")
        assert job is not None
        while not (tmp_path / "out" / "release").exists() and job.runs:
            time.sleep(0.002)
        job.cancel()
        assert job.wait(20)
        page = made.entered.get("/release").text
        noted = made.desk.published

    assert job.state == "cancelled"
    assert "The release was written before the work ended" in page
    assert "Nothing was kept" not in page
    assert noted == [tmp_path / "out"]
    assert gh.load(tmp_path / "out" / "release").n_tuples == N
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["audit", "release"]


# --- what can be taken along ------------------------------------------------------------------------------------------


def test_release_report_and_policy_can_be_taken_along_and_the_audit_cannot(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with sitting(seed=SEED) as made:
        decide(made, file)
        early = made.entered.get("/release/download/release.zip").status_code
        publish(made, out, format="csv", title="Patients", report="brief")
        made.wait("publish")
        taken = {name: made.entered.get(f"/release/download/{name}") for name in ("release.zip", "report.html")}
        policy = made.entered.get("/release/download/policy.toml")
        again = made.entered.get("/release/download/release.zip").content
        others = ("audit.zip", "partition.parquet", "..%2faudit%2fpartition.parquet", "report.json")
        refused = [made.entered.get(f"/release/download/{name}").status_code for name in others]
        (out / "release" / "stray.csv").write_text("not of the release")
        stray = made.entered.get("/release/download/release.zip").content
        shutil.rmtree(out / "release")
        gone = made.entered.get("/release/download/release.zip")

    assert early == 404
    assert refused == [404] * 4
    assert taken["release.zip"].content == again == stray
    with zipfile.ZipFile(io.BytesIO(again)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        archive.extractall(tmp_path / "unpacked")
    assert names == sorted(names)
    assert "datapackage.json" in names
    assert gh.load(tmp_path / "unpacked").title == "Patients"
    (tmp_path / "taken.zip").write_bytes(again)
    assert gh.load(tmp_path / "taken.zip").title == "Patients"
    report = taken["report.html"]
    assert report.content == (out / "audit" / "report.html").read_bytes()
    for answer in (*taken.values(), policy):
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["cache-control"] == "no-store"
    (tmp_path / "policy.toml").write_bytes(policy.content)
    read = load_policy(tmp_path / "policy.toml")
    assert (read.source, read.out, read.choices["ell"]) == (str(file), out, 3)
    assert read.publish_arguments()["format"] == "csv"
    assert gone.status_code == 404
    assert "any more" in gone.text


# --- spelling ---------------------------------------------------------------------------------------------------------


def test_the_texts_of_the_page_publish_before_the_page_has(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = {"out": str(tmp_path / "typed"), "format": "parquet", "report": "none", "title": "Patients; 'all' of them"}
    with sitting(seed=SEED) as made:
        decide(made, file)
        page = made.entered.get("/release").text
        later = made.entered.post("/release/same", data=typed).text
        named = made.entered.post("/release/same", data={**typed, "force": "yes", "flat": "yes"}).text
        nowhere = made.entered.post("/release/same", data={**typed, "out": str(file)}).text
        wrong = made.entered.post("/release/same", data={**typed, "format": "exe"}).text

    monkeypatch.chdir("/")  # no path in it may be relative
    for text, out in ((page, tmp_path / "patients-published"), (later, tmp_path / "typed")):
        run(shown(text, "command"))
        assert (out / "release" / "datapackage.json").is_file()
        shutil.rmtree(out)
        exec(compile(shown(text, "python"), "shown", "exec"), {})
        assert (out / "release" / "datapackage.json").is_file()
        assert tomllib.loads(shown(text, "policy"))["release"]["out"] == str(out)
    assert gh.load(tmp_path / "typed" / "release").title == "Patients; 'all' of them"
    assert "--force" in shown(named, "command")
    assert "--flat" in shown(named, "command")
    for text, why in ((nowhere, "This is a file."), (wrong, "this format is not known")):
        assert all(shown(text, what).startswith(f"Not yet: {why}") for what in ("command", "python", "policy"))


def test_temporary_paths_are_named_and_work_while_they_are_there(tmp_path: Path) -> None:
    with Workspace() as workspace, Workspace(tmp_path / "kept") as kept:
        for place in (workspace, kept):
            uploaded, edited = place.new("uploads", "a.csv"), place.new("taxonomies", "sex.csv")
            pa_csv.write_csv(gh.synthetic.hospital_table(n=60, seed=1), uploaded)
            edited.write_text("F;any\nM;any\n")
            desk = Desk(place)
            desk.open(str(uploaded), "a.csv")
            desk.choose(**ROLES, ell=2, taxonomy={"sex": str(edited)}, out=str(tmp_path / "out"), report="none")
            spelled = spelling_of(desk)
            run(spelled.command)
            shutil.rmtree(tmp_path / "out")
            exec(compile(spelled.python, "shown", "exec"), {})
            shutil.rmtree(tmp_path / "out")
            if place is workspace:
                assert spelled.temporary == (str(uploaded), str(edited))
                assert str(edited) in spelled.note
                assert spelled.policy.startswith("# Some files below are in the studio's own folder")
            else:
                assert (spelled.temporary, spelled.note) == ((), "")


def test_a_command_that_options_cannot_say_names_a_policy_that_is_there(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age\nin years": list(range(60)), "ill": ["a", "b", "c"] * 20}), tmp_path / "a.parquet")
    with Workspace() as workspace:
        desk = Desk(workspace)
        desk.open(str(tmp_path / "a.parquet"), "a.parquet")
        assert spelling_of(desk).python.startswith("Not yet: ")
        desk.choose(quasi=["age\nin years"], sensitive=["ill"], ell=2, out=str(tmp_path / "out"), report="none")
        run(spelling_of(desk).command)
        first = contents(tmp_path / "out" / "release")
        spelled = spelling_of(desk, force=True)
        run(spelled.command)
        assert "policy file that the studio has written" in spelled.note
        assert "force=True" in spelled.python

    assert contents(tmp_path / "out" / "release") != first


# --- in a browser -----------------------------------------------------------------------------------------------------


def test_from_the_trial_to_the_downloaded_release(file: Path, tmp_path: Path, page: Any) -> None:
    with sitting(seed=SEED) as made:
        decide(made, file)
        page.goto(made.address)
        page.get_by_role("link", name="Release").click()
        page.wait_for_selector(".sides")
        page.get_by_role("link", name="Next page").click()
        page.wait_for_selector("text=People 21 to 40")
        page.get_by_label("Folder to write to").fill(str(file))
        page.wait_for_selector("text=This is a file")
        page.get_by_label("Folder to write to").fill(str(tmp_path / "out"))
        page.wait_for_selector("#folder-told >> text=This folder will be made")
        page.get_by_label("Title").fill("Patients")
        page.get_by_text("The same as a command, in Python, and as a policy").click()
        page.locator("pre[data-spelled=python]", has_text='title="Patients"').wait_for()
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy").nth(1).click()
        page.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        compile(copied, "copied", "exec")
        assert f'out="{tmp_path / "out"}"' in copied
        page.get_by_label("Title").press("Enter")  # keys alone
        page.wait_for_selector("text=What to do next")
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download the release").click()
        waiting.value.save_as(tmp_path / "got.zip")
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.get_by_role("link", name="Look at it").last.click()
        page.wait_for_url("**/look")
        assert made.desk.published == [tmp_path / "out"]

    with zipfile.ZipFile(tmp_path / "got.zip") as archive:
        assert "datapackage.json" in archive.namelist()


def test_a_tab_whose_choices_were_changed_says_so_until_they_were_looked_at(
    file: Path, tmp_path: Path, browser: Any
) -> None:
    with sitting(seed=SEED) as made, browser.new_context() as context:  # in which a refusal is no fault of the page
        page = context.new_page()
        decide(made, file, ell=4)
        page.goto(made.address)
        page.goto(f"{made.base}/release")
        page.wait_for_selector(".sides")
        page.get_by_label("Folder to write to").fill(str(tmp_path / "out"))
        made.desk.choose(ell=2)
        page.get_by_role("button", name="Publish").click()
        page.wait_for_selector(".sides")  # the trial of what is decided now
        page.get_by_text("Your choices were changed in another tab").wait_for()
        assert page.locator(".rail").get_by_text("2-diversity").count() == 1
        assert made.desk.job("publish") is None
        page.get_by_role("link", name="Show the choices as they are now").click()
        page.wait_for_selector(".sides")
        assert page.get_by_text("Your choices were changed in another tab").count() == 0
