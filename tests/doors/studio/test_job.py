"""Jobs: work in a process of its own, that ends when it is told to, and when nobody is left to tell it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glasshouse.errors import Infeasible, InputError
from glasshouse.studio import job as jobs
from glasshouse.studio.desk import Desk
from glasshouse.studio.job import Job
from glasshouse.studio.workspace import Workspace
from tests.conftest import ROOT

TASKS = """
import os, subprocess, sys, time, warnings
from pathlib import Path
from glasshouse.errors import DisclosureWarning, Infeasible

def count(*, tell, n):
    print("this is no message")
    for i in range(n):
        tell.progress("counting", i + 1, n)
        tell.part(i)
    warnings.warn("mind", DisclosureWarning)
    return n * n

def refuse(*, tell):
    raise Infeasible("no release can do this")

def fail(*, tell):
    raise KeyError("a secret value")

def die(*, tell):
    os.kill(os.getpid(), 9)

def last(*, tell, note):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(note).write_text(f"{os.getpid()} {child.pid}")
    tell.progress("sleeping", 0, 0)
    time.sleep(60)
"""


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of these tests in place of those of the studio."""
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "__init__.py").write_text("")
    (tmp_path / "toys" / "toy.py").write_text(TASKS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    start = "import glasshouse.studio.job as job; job._TASKS = 'toys'; job.work()"
    original = subprocess.Popen

    def popen(command: list[str], **how: object) -> object:
        changed = [*command[:2], start] if "studio.job" in command[-1] else command
        return original(changed, **how)  # type: ignore[call-overload]

    monkeypatch.setattr(jobs.subprocess, "Popen", popen)


@pytest.mark.usefixtures("tasks")
def test_a_job_tells_how_far_it_is_and_what_it_found() -> None:
    job = Job("toy.count", {"n": 3})
    assert job.wait(30)
    assert (job.state, job.result, job.parts, job.warnings) == ("done", 9, [0, 1, 2], ["mind"])
    assert (job.what, job.n_done, job.total) == ("counting", 3, 3)


@pytest.mark.usefixtures("tasks")
def test_a_refusal_is_said_and_a_fault_shows_no_value() -> None:
    refused, faulty, dead = Job("toy.refuse", {}), Job("toy.fail", {}), Job("toy.die", {})
    assert refused.wait(30)
    assert faulty.wait(30)
    assert dead.wait(30)
    assert (refused.state, refused.message) == ("failed", "no release can do this")
    assert isinstance(refused.error, Infeasible)
    assert faulty.state == "failed"
    assert "KeyError" in faulty.message
    assert "secret" not in faulty.message
    assert "memory" in dead.message


def until(holds: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.usefixtures("tasks")
def test_cancelling_ends_a_job_at_once_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "note"
    job = Job("toy.last", {"note": note})
    assert until(lambda: note.exists() and " " in note.read_text())
    own, child = map(int, note.read_text().split())
    started = time.monotonic()
    job.cancel()
    assert job.state == "cancelled"
    assert until(lambda: not alive(own) and not alive(child), 2)
    assert time.monotonic() - started < 2
    assert job.wait(5)


@pytest.mark.usefixtures("tasks")
def test_work_that_nobody_looks_at_ends(tmp_path: Path) -> None:
    note = tmp_path / "note"
    with Workspace() as workspace:
        desk = Desk(workspace)
        job = desk.start("long", "toy.last", {"note": note})
        desk.end_unattended(patience=60)
        assert job.runs
        assert until(lambda: job.unattended > 0.2)
        desk.end_unattended(patience=0.1)
        assert job.state == "cancelled"


@pytest.mark.usefixtures("tasks")
def test_what_was_found_for_other_choices_is_out_of_date() -> None:
    with Workspace() as workspace:
        desk = Desk(workspace)
        desk.open("a.csv", "a.csv")
        desk.choose(ell="3")
        job = desk.start("count", "toy.count", {"n": 2}, about=desk.about(["ell"]))
        assert job.wait(30)
        assert desk.found("count", about=desk.about(["ell"])) == 4
        desk.choose(quasi=["age"])
        assert desk.found("count", about=desk.about(["ell"])) == 4
        desk.choose(ell="4")
        assert desk.found("count", about=desk.about(["ell"])) is None


def test_a_job_ends_when_the_studio_was_killed(tmp_path: Path) -> None:
    """Nothing could be said to it: it notices that the pipe has closed."""
    note = tmp_path / "note"
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "__init__.py").write_text("")
    (tmp_path / "toys" / "toy.py").write_text(TASKS)
    script = (
        "import time, subprocess, glasshouse.studio.job as job\n"
        "original = subprocess.Popen\n"
        "start = \"import glasshouse.studio.job as job; job._TASKS = 'toys'; job.work()\"\n"
        "job.subprocess.Popen = lambda command, **how: original([*command[:2], start], **how)\n"
        f"job.Job('toy.last', {{'note': {str(note)!r}}})\n"
        "time.sleep(60)\n"
    )
    paths = os.pathsep.join([str(ROOT / "src"), str(tmp_path)])
    with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": paths}) as studio:
        assert until(lambda: note.exists() and " " in note.read_text())
        studio.send_signal(signal.SIGKILL)
    own, child = map(int, note.read_text().split())
    assert until(lambda: not alive(own) and not alive(child), 5)


def test_a_workspace_is_climbed_out_of_by_no_name() -> None:
    with Workspace() as workspace:
        for name in ("../../x.csv", "/etc/passwd", "..", ".", "", "a/b\\c.csv", "x" * 500, "\0.csv", "-rf"):
            path = workspace.new("uploads", name)
            assert path.parent == workspace.folder / "uploads"
            path.write_text("")
        with pytest.raises(ValueError, match="not in"):
            workspace.remove(workspace.folder)


def test_a_workspace_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="workspace"), Workspace(tmp_path / "file" / "below"):
        pass
