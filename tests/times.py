"""How much processor time each test took: ``pytest -p tests.times`` tells by folder and names the longest.

Processor time of the test itself, of its fixtures, and of the processes it started and waited for. Unlike the time on
the clock it hardly depends on what else the machine is doing, so it can be compared between one day and another.
``GLASSHOUSE_TIMES=file.json`` keeps the seconds of every test.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SHOWN = 25
spent: dict[str, float] = defaultdict(float)
mark = [0.0]


def now() -> float:
    """Processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def pytest_runtest_logstart() -> None:
    mark[0] = now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Each of the three phases carries its seconds with it, also from a worker to its master."""
    report = yield
    last, mark[0] = mark[0], now()
    report.user_properties = [*report.user_properties, ("processor seconds", mark[0] - last)]
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    spent[report.nodeid] += sum(seconds for name, seconds in report.user_properties if name == "processor seconds")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    write = terminalreporter.write_line
    folders, number = Counter[str](), Counter[str]()
    for test, seconds in spent.items():
        folder = str(Path(test.split("::")[0]).parent)
        folders[folder] += seconds  # type: ignore[assignment]
        number[folder] += 1
    write("processor seconds by folder")
    for folder, seconds in folders.most_common():
        write(f"{seconds:9.1f}  {number[folder]:6d} tests  {folder}")
    write(f"{sum(spent.values()):9.1f}  {len(spent):6d} tests  all")
    write(f"the {SHOWN} longest")
    for test, seconds in sorted(spent.items(), key=lambda each: -each[1])[:SHOWN]:
        write(f"{seconds:9.1f}  {test}")
    if kept := os.environ.get("GLASSHOUSE_TIMES"):
        Path(kept).write_text(json.dumps(dict(sorted(spent.items())), indent=0))
