"""The studio with a table of a million people: what its first page costs, and how long each step lets a person wait.

Forms are sent as a browser without script sends them. For every step: how long until the page answers, which then shows
progress or the result, and how long until the work is done.

    python benchmarks/studio.py            # GLASSHOUSE_BENCH_ROWS=20000 for less
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pyarrow.csv as pa_csv

import glasshouse as gh

ROWS = int(os.environ.get("GLASSHOUSE_BENCH_ROWS", "1000000").split(",")[0])
START = (
    "import json, sys; from glasshouse.studio import serve; "
    "serve(browser=False, told=lambda address: print(json.dumps(address), flush=True))"
)
JOB = re.compile(r'data-job="([^"]+)"')


class Forms(HTMLParser):
    """The forms of a page, with the values that stand in their fields."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[tuple[str, str]]] = {}
        self._open: list[tuple[str, str]] = []
        self._select = self._textarea = ""

    def handle_starttag(self, tag: str, given: Any) -> None:
        own = dict(given)
        if tag == "form":
            self._open = self.found.setdefault(own.get("action") or "", [])
        elif tag == "input" and own.get("name"):
            chosen = own.get("type") not in ("radio", "checkbox", "file", "submit") or "checked" in own
            if chosen and own.get("type") != "file":
                self._open.append((own["name"], own.get("value") or ""))
        elif tag == "select":
            self._select = own.get("name") or ""
        elif tag == "option" and self._select and "selected" in own:
            self._open.append((self._select, own.get("value") or ""))


def sent(client: httpx.Client, page: str, action: str, **fields: str) -> httpx.Response:
    forms = Forms()
    forms.feed(client.get(page).text)
    filled = dict(forms.found[action]) | fields
    return client.post(action, data=filled, follow_redirects=True)


def settled(client: httpx.Client, page: str) -> float:
    """Seconds until the page shows no work that runs."""
    start = time.perf_counter()
    while JOB.search(client.get(page).text):
        time.sleep(0.05)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "patients.csv"
        pa_csv.write_csv(gh.synthetic.hospital_table(n=ROWS, seed=1), file)
        process = subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            address = json.loads(process.stdout.readline())
            walk(address, file, Path(folder) / "out", process.pid)
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def walk(address: str, file: Path, out: Path, pid: int) -> None:
    base = address.partition("/enter")[0]
    before = seconds_of(pid)
    with httpx.Client(base_url=base, headers={"Origin": base}, timeout=120) as client:
        client.get(address, follow_redirects=True).raise_for_status()
        print(f"first page: {1000 * (seconds_of(pid) - before):.0f} ms CPU after start-up")
        print(f"{ROWS:,} rows, {file.stat().st_size / 1e6:.0f} MB of CSV")
        steps: list[tuple[str, str, str | None, dict[str, str]]] = [
            ("open the table", "/data", "/data/open", {"path": str(file)}),
            ("privacy", "/privacy", None, {}),
            ("method", "/method", None, {}),
            ("release: the trial", "/release", None, {}),
            ("publish", "/release", "/release/publish", {"out": str(out), "report": "none"}),
            ("look", "/look", None, {}),
            ("attack", "/look/adversary", "/look/adversary/attack", {}),
            ("question", "/look/analyst", "/look/analyst/ask", {"sql": "SELECT COUNT(*) WHERE age < 40"}),
        ]
        for name, page, action, fields in steps:
            start = time.perf_counter()
            answer = client.get(page) if action is None else sent(client, page, action, **fields)
            waited = time.perf_counter() - start
            shown = "progress" if JOB.search(answer.text) else "the result"
            print(f"{name:<20} answers after {waited:5.2f} s with {shown}; done after {settled(client, page):6.1f} s")


def seconds_of(pid: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
