"""Taking its place: whatever ends the writing, the old release is intact or the new one is complete."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.journeys.marginals import publish_marginals
from glasshouse.release.package import folders as placing
from glasshouse.release.package import listing as contents
from glasshouse.release.package import pair, stage
from glasshouse.release.package.folders import exchange, new_folder
from glasshouse.release.package.pair import Pair, check_pair
from tests.conftest import ROOT
from tests.rooms.release.writer import RELEASES, write_one

KILLS = 200


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def left_over(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


# -------------------------------------------------------------------------------------------------------- killed


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("writer.py")), str(tmp_path)]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def kill_after(writer: subprocess.Popen[str], what: str, first: int, seconds: float) -> None:
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(f"{what} {first}\n")
    writer.stdin.flush()
    child = int(writer.stdout.readline())
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert writer.stdout.readline() == "ended\n"


def time_of(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_a_run_that_is_killed_at_any_moment_leaves_the_old_release_or_the_new_one(
    writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    write_one(tmp_path, 0, "release")
    longest = 3 * time_of(lambda: write_one(tmp_path, 0, "release"))
    chosen = random.Random(3)
    numbers, littered = [0], 0
    for _ in range(KILLS):
        kill_after(writer, "release", numbers[-1] + 1, chosen.uniform(0, longest))
        release = gh.load(tmp_path / "release")  # all sums are right, and nothing is beside it
        numbers.append(int(release.title))
        longest *= 0.95 if numbers[-1] > numbers[-2] else 1.05  # whatever else the machine does now
        assert list(release.tables) == list(RELEASES[numbers[-1] % 2].tables)
        littered += bool(left_over(tmp_path))
        assert len(left_over(tmp_path)) <= 1  # what one killed run leaves, the next one removes

    assert numbers == sorted(numbers)  # never an older one
    assert numbers[-1] > KILLS // 20  # and it got somewhere
    assert littered > KILLS // 20  # it was really killed while it wrote
    write_one(tmp_path, numbers[-1] + 1, "release")
    assert left_over(tmp_path) == []


def number_of_audit(out: Path) -> int | None:
    """The number of the audit, read without Glasshouse: by anybody who looks at what is there."""
    try:
        return int(json.loads((out / "audit" / "report.json").read_text())["number"])
    except FileNotFoundError:
        return None


def number_of_release(out: Path) -> int | None:
    try:
        return int(json.loads((out / "release" / "datapackage.json").read_text())["title"])
    except FileNotFoundError:
        return None


@pytest.mark.parametrize(
    ("what", "kills"), [("pair", KILLS), ("among", KILLS // 4), ("plain-pair", KILLS // 4), ("plain-among", KILLS // 4)]
)
def test_a_pair_that_is_killed_at_any_moment_is_the_old_pair_or_the_new_one(
    what: str, kills: int, writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    """Where the pair has a folder of its own this is so on disk; among other things, for every reader of ours."""
    out = tmp_path / "out"
    write_one(out, 0, what)
    if what.endswith("among"):
        (out / "notes.txt").write_text("mine")
    longest = 3 * time_of(lambda: write_one(out, 0, what))
    chosen = random.Random(5)
    numbers = [0]
    for _ in range(kills):
        kill_after(writer, what, numbers[-1] + 1, chosen.uniform(0, longest))
        apart = number_of_audit(out) != number_of_release(out) or number_of_audit(out) is None
        assert not (apart and what == "pair")
        numbers.append(int(gh.load(out / "release").title))  # which mends, if there is something to mend
        assert number_of_audit(out) == number_of_release(out) == numbers[-1]
        longest = min(longest * (0.95 if numbers[-1] > numbers[-2] else 1.05), 1)
        names = {"report.json", "partition.parquet", "contents.json"}
        assert {path.name for path in (out / "audit").iterdir()} == names
        assert pq.read_table(out / "audit" / "partition.parquet").num_rows == 6
        for path in [
            *left_over(tmp_path),
            *left_over(out),
        ]:  # what is not to be read by others is not, not even half way
            assert mode(path) == 0o700
            assert len([*left_over(tmp_path), *left_over(out)]) == 1
    assert numbers == sorted(numbers)
    assert numbers[-1] > kills // 40  # it got somewhere
    write_one(out, numbers[-1] + 1, what)
    assert left_over(tmp_path) == left_over(out) == []
    assert sorted(path.name for path in out.iterdir() if path.name != "notes.txt") == ["audit", "release"]


@pytest.mark.parametrize("others", [[], ["notes.txt"]], ids=["alone", "among others"])
@pytest.mark.parametrize("exchanging", [True, False])
def test_a_run_that_is_killed_between_two_steps_is_finished_at_the_next_look(
    exchanging: bool, others: list[str], tmp_path: Path
) -> None:
    """Every step of placing is cut short once, without clean-up: what follows finds one state, with the files of it."""
    out, apart = tmp_path / "out", 0
    for cut in range(40):
        shutil.rmtree(out, ignore_errors=True)
        write_one(out, 1, "pair")
        for name in others:
            (out / name).write_text("mine")
        if not killed_at_rename(cut, out, exchanging=exchanging):
            break
        apart += number_of_audit(out) is None or number_of_audit(out) != number_of_release(out)
        check_pair(out)
        assert number_of_audit(out) == number_of_release(out) != 0
        assert gh.load(out / "release").title in "12"
        write_one(out, 3, "pair")
        assert number_of_audit(out) == number_of_release(out) == 3
        assert sorted(path.name for path in out.iterdir()) == sorted(["audit", "release", *others])
        assert left_over(tmp_path) == []
    assert cut >= (1 if exchanging else 3) * (2 if others else 1)
    assert bool(apart) is (bool(others) or not exchanging)  # in a folder of its own nobody ever sees two halves


def killed_at_rename(cut: int, out: Path, *, exchanging: bool) -> bool:
    """Write a second pair in a process that is killed before the rename of this number; whether it came so far."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        steps = iter(range(1000))
        rename, swap = Path.rename, placing.exchange

        def or_die() -> None:
            if next(steps) == cut:
                os.kill(os.getpid(), signal.SIGKILL)

        def renamed(path: Path, target: Path) -> Path:
            or_die()
            return rename(path, target)

        def swapped(one: Path, other: Path) -> bool:
            if not exchanging:
                return False
            or_die()
            return swap(one, other)

        logging.disable()
        Path.rename, placing.exchange = renamed, swapped  # type: ignore[method-assign]
        write_one(out, 2, "pair")
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def test_a_release_beside_the_audit_of_another_is_refused_where_both_are_needed(tmp_path: Path) -> None:
    patients = gh.synthetic.hospital(100, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gh.DisclosureWarning)
        for name in ("one", "other"):
            gh.publish(patients, out=tmp_path / name, principle=gh.LDiversity(ell=3))
    shutil.rmtree(tmp_path / "one" / "release")
    shutil.copytree(tmp_path / "other" / "release", tmp_path / "one" / "release")

    with pytest.raises(gh.SourceError, match="does not belong to"):
        publish_marginals(tmp_path / "one", patients, marginals=[["age", "disease"]])
    with pytest.warns(gh.DisclosureWarning, match="does not belong to"):
        alone = gh.load(tmp_path / "one" / "release")
    with pytest.raises(gh.SourceError, match="does not belong to"):
        gh.make_report(alone, patients).write(tmp_path / "one" / "audit")
    with pytest.raises(gh.OutputError, match="does not belong to"):
        gh.publish(patients, out=tmp_path / "one", principle=gh.LDiversity(ell=3), force=True)


# ------------------------------------------------------------------------------------- full disks, places that refuse


def in_a_process(work: Callable[[], None]) -> str:
    """Do something in a process of its own, and give what it raised, by class and message."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which here do nothing
        child = os.fork()
    if child == 0:
        said = ""
        try:
            work()
        except BaseException as error:
            said = (
                f"{type(error).__name__}: {error}" if isinstance(error, gh.GlasshouseError) else traceback.format_exc()
            )
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize("what", ["release", "pair"])
@pytest.mark.parametrize("limit", [0, 100, 600, 2500, 4000])
def test_a_file_that_cannot_grow_leaves_everything_as_it_was(limit: int, what: str, tmp_path: Path) -> None:
    write_one(tmp_path, 1, what)
    before = bytes_of(tmp_path)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        write_one(tmp_path, 2, what)

    assert "OutputError: cannot write" in (said := in_a_process(work))
    assert "nothing was written" in said
    assert before == bytes_of(tmp_path)
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("what", ["release", "pair"])
def test_a_full_disk_at_any_step_leaves_everything_as_it_was(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every flush to disk fails once: the first write that a full disk refuses is often seen only there."""
    write_one(tmp_path, 1, what)
    before = bytes_of(tmp_path)
    flush = stage.flush
    number = 0
    for failing in range(100):
        steps = iter(range(1000))

        def full(path: Path, failing: int = failing, steps: Iterator[int] = steps) -> None:
            if next(steps) == failing:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            flush(path)

        for module in (placing, pair, contents):
            monkeypatch.setattr(module, "flush", full)
        with contextlib.suppress(gh.OutputError):
            write_one(tmp_path, 2, what)
            break
        assert before == bytes_of(tmp_path), f"after step {failing}"
        assert left_over(tmp_path) == []
        number += 1
    assert number >= (6 if what == "release" else 9)
    assert gh.load(tmp_path / "release").title == "2"


@pytest.mark.parametrize("force", [True, False])
def test_a_folder_that_may_not_be_written_is_said_to_be_so(force: bool, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if force:
        write_one(place, 1, "release")
    before = bytes_of(place)
    place.chmod(0o555)

    def work() -> None:
        if os.geteuid() == 0:
            tmp_path.parent.chmod(0o755)
            os.setgid(65534)
            os.setuid(65534)
        RELEASES[0].save(place / "release", force=force)

    for folder in (tmp_path, *tmp_path.parents):
        if mode(folder) & 0o5 != 0o5 and os.geteuid() == 0:
            folder.chmod(mode(folder) | 0o5)
    said = in_a_process(work)
    place.chmod(0o755)
    assert "OutputError: cannot write" in said, said
    assert "Permission denied; nothing was written" in said
    assert before == bytes_of(place)


# ------------------------------------------------------------------------------------------- failures, interruptions


def test_what_fails_half_way_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    write_one(tmp_path, 1, "pair")
    before = bytes_of(tmp_path)

    def fail_half_way() -> None:
        with Pair(tmp_path, force=True).new() as (inside, outside):
            (inside / "report.json").write_text("half")
            (outside / "data.parquet").write_text("half")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way()
    assert before == bytes_of(tmp_path)
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.EIO, "no")], ids=lambda error: type(error).__name__
)
@pytest.mark.parametrize("fresh", [True, False])
def test_the_first_of_two_folders_is_taken_back_if_the_second_cannot_be_placed(
    error: BaseException, fresh: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("so that audit and release are placed one after the other")
    if not fresh:
        write_one(tmp_path / "out", 1, "pair")
    before = bytes_of(tmp_path)
    put = placing._put

    def put_but_once(folder: Path, target: Path, aside: Path) -> None:
        if target.name == "release":
            raise error
        put(folder, target, aside)

    monkeypatch.setattr(placing, "_put", put_but_once)
    with pytest.raises((KeyboardInterrupt, gh.OutputError)):
        write_one(tmp_path / "out", 2, "pair")
    assert before == bytes_of(tmp_path)
    assert fresh is not (tmp_path / "out" / "release").exists()


def test_somebody_elses_folder_is_not_replaced_even_if_it_came_while_we_wrote(tmp_path: Path) -> None:
    def write() -> None:
        with new_folder(tmp_path / "release", force=True) as folder:
            (folder / "data.csv").write_text("a\n")
            (tmp_path / "release").mkdir()
            (tmp_path / "release" / "thesis.txt").write_text("years of work")

    with pytest.raises(gh.OutputError, match="not replaced"):
        write()
    assert ["release"] == [path.name for path in tmp_path.iterdir()]
    assert (tmp_path / "release" / "thesis.txt").read_text() == "years of work"


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    write_one(tmp_path / "real", 1, "release")
    (tmp_path / "release").symlink_to(tmp_path / "real" / "release")

    with pytest.raises(gh.OutputError, match="is a link"):
        RELEASES[0].save(tmp_path / "release", force=True)


# --------------------------------------------------------------------------------------------- what killed runs left


def test_what_a_killed_run_left_is_removed_and_what_others_have_is_not(tmp_path: Path) -> None:
    stale = tmp_path / ".release.abcd1234.partial"
    stale.mkdir()
    (stale / "data.parquet").write_text("half")
    others = [
        tmp_path / name for name in (".release.partial", ".other.abcd1234.partial", ".release.abcd1234.partial.x")
    ]
    for other in others:
        other.mkdir()

    with new_folder(tmp_path / "release") as living:
        assert not stale.exists()
        (living / "here").write_text("")
        with new_folder(tmp_path / "release") as beside:  # a second run does not take the first one for dead
            assert living.exists()
            assert beside != living
            (beside / "here").write_text("")
            (tmp_path / "nothing").mkdir()
        living.joinpath("here").unlink()
        (tmp_path / "release" / "here").unlink()
        (tmp_path / "release").rmdir()
    assert all(other.exists() for other in others)


def test_a_link_that_looks_like_a_left_over_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    (tmp_path / ".release.abcd1234.partial").symlink_to(tmp_path / "precious")

    write_one(tmp_path, 1, "release")

    assert (tmp_path / "precious" / "thesis.txt").exists()


# ------------------------------------------------------------------------------------------------ without an exchange


@pytest.fixture
def _no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "exchange", lambda one, other: False)


@pytest.mark.usefixtures("_no_exchange")
def test_where_folders_cannot_be_exchanged_they_are_renamed_and_it_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in (1, 2):
        write_one(tmp_path, number, "pair")

    assert gh.load(tmp_path / "release").title == "2"
    assert left_over(tmp_path) == []
    assert "cannot exchange two folders in one step" in caplog.text


@pytest.mark.usefixtures("_no_exchange")
def test_what_was_put_aside_when_the_run_was_killed_comes_back(tmp_path: Path) -> None:
    write_one(tmp_path, 1, "release")
    for looks in (lambda: gh.load(tmp_path / "release"), lambda: RELEASES[0].save(tmp_path / "release")):
        stage = tmp_path / ".release.abcd1234.partial"
        stage.mkdir(exist_ok=True)
        (tmp_path / "release").rename(stage / "old")
        with contextlib.suppress(gh.OutputError):  # of saving: it exists already
            looks()
        assert gh.load(tmp_path / "release").title == "1"
    write_one(tmp_path, 2, "release")
    assert gh.load(tmp_path / "release").title == "2"
    assert left_over(tmp_path) == []


def test_an_exchange_that_goes_wrong_is_told_from_one_that_is_not_possible(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()

    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "two")


# -------------------------------------------------------------------------------------------------------------- modes


def test_published_files_can_be_read_by_all_and_audit_files_by_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_one(tmp_path, 1, "pair")
    finally:
        os.umask(before)

    assert (mode(tmp_path / "release"), mode(tmp_path / "audit")) == (0o755, 0o700)
    assert {mode(path) for path in (tmp_path / "release").iterdir()} == {0o644}
    assert {mode(path) for path in (tmp_path / "audit").iterdir()} == {0o600}


def test_nobody_else_can_enter_a_folder_that_is_being_written(tmp_path: Path) -> None:
    def write() -> None:
        with Pair(tmp_path / "out").new() as folders:
            assert {mode(folder) for folder in (*folders, folders[0].parents[1])} == {0o700}
            assert mode(contents.private_file(folders[0] / "secret")) == 0o600
            assert not (tmp_path / "out").exists()
            raise RuntimeError("enough seen")

    with pytest.raises(RuntimeError, match="enough seen"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_mending_does_not_follow_a_stage_that_is_a_link(tmp_path: Path) -> None:
    """Such a thing can only come from somebody else, with a package that was unpacked here."""
    out, precious = tmp_path / "out", tmp_path / "precious"
    write_one(out, 1, "pair")
    write_one(precious, 2, "pair")
    shutil.rmtree(out / "audit")
    shutil.copytree(precious / "audit", out / "audit")
    stage = tmp_path / ".out.abcd1234.partial"
    stage.mkdir(mode=0o700)
    (stage / "pair").symlink_to(precious)
    before = bytes_of(precious)

    with pytest.warns(gh.DisclosureWarning, match="does not belong to"):
        assert gh.load(out / "release").title == "1"
    assert before == bytes_of(precious)
