# SPDX-License-Identifier: Apache-2.0
"""What must not be cut in two is done when the interrupt comes."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from glasshouse.release.package import folders as placing
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.stage import Stage, uninterrupted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_until_the_work_is_done() -> None:
    done = []

    def work() -> None:
        with uninterrupted():
            interrupt()
            done.append("first")
            interrupt()
            done.append("second")
        done.append("too late")

    with pytest.raises(KeyboardInterrupt):
        work()

    assert done == ["first", "second"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_ignored_interrupts_are_left_alone() -> None:
    seen = []

    def elsewhere() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with uninterrupted():
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("moment", ["place", "discard", "make"])
def test_a_folder_that_is_interrupted_on_its_way_is_there_or_not(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {"place": (placing, "_put"), "discard": (Stage, "discard"), "make": (Stage, "__init__")}
    owner, name = owners[moment]
    before = getattr(owner, name)

    def interrupted(*arguments: object, **options: object) -> object:
        interrupt()
        found = before(*arguments, **options)
        interrupt()
        return found

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "release") as folder:
        (folder / "datapackage.json").write_text("{}")

    assert [path.name for path in tmp_path.iterdir()] == ([] if moment == "make" else ["release"])


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_a_termination_that_is_heeded_waits_too_and_one_that_is_not_is_left_alone(stop: signal.Signals) -> None:
    came: list[str] = []
    before = signal.signal(stop, lambda *_: came.append("stop"))
    try:
        with uninterrupted():
            os.kill(os.getpid(), stop)
            came.append("work")
        assert came == ["work", "stop"]
        signal.signal(stop, signal.SIG_DFL)
        with uninterrupted():
            assert signal.getsignal(stop) is signal.SIG_DFL
    finally:
        signal.signal(stop, before)
