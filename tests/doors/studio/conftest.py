"""A studio that is really served, and a real browser that uses it.

The browser is Chromium, as Debian packages it, driven by Playwright. Where there is none, its tests are skipped, and
say so; tests that need no browser run all the same.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_BROWSER = "there is no Chromium on this machine: apt-get install chromium"
# Nothing that a browser does by itself may leave this machine.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@dataclass
class Studio:
    """A studio in a process of its own, and the address that opens it once."""

    process: subprocess.Popen[str]
    address: str

    @property
    def base(self) -> str:
        return self.address.partition("/enter")[0]

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """A client that has entered."""
        with httpx.Client(base_url=self.base, headers={"Origin": self.base}, timeout=30) as client:
            assert client.get(self.address).status_code == 303
            yield client

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def start(*arguments: str | Path, seed: int | None = None, patience: float | None = None) -> Studio:
    """Start a studio, and wait until it tells its address; it waits so long for a piece of a body."""
    call = f"from glasshouse.studio import serve; import sys; {SERVED.format(seed=seed)}"
    if patience is not None:
        call = f"import glasshouse.studio.guard as guard; guard._SLOWEST = {patience}; {call}"
    process = subprocess.Popen(
        [sys.executable, "-c", call, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100"},
    )
    assert process.stdout is not None
    return Studio(process, json.loads(process.stdout.readline())["address"])


SERVED = (
    "serve(sys.argv[1] if len(sys.argv) > 1 else None, browser=False, seed={seed}, "
    "told=lambda address: print(__import__('json').dumps(dict(address=address)), flush=True))"
)


@pytest.fixture
def studio() -> Iterator[Studio]:
    """A studio without a table."""
    made = start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser, one for all tests of a process."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of its own, with cookies of its own, that fails on errors of scripts and on requests to elsewhere."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on(
        "console", lambda said: wrong.append(said.text) if said.type == "error" and "ERR_" not in said.text else None
    )
    opened.on(
        "request",
        lambda asked: None if "//127.0.0.1:" in asked.url or asked.url.startswith("blob:") else wrong.append(asked.url),
    )
    yield opened
    context.close()
    assert not wrong
