"""Desks with a table whose columns have roles already, and what a page is held to."""

from __future__ import annotations

import random
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx

from glasshouse.studio.steps.data import begin
from tests.doors.studio.sitting import Sitting, sitting


def settled(client: httpx.Client, path: str) -> str:
    """A page, once the work on it has ended."""
    for _ in range(400):
        shown = client.get(path)
        assert shown.status_code == 200, shown.text
        if "data-job" not in shown.text:
            return shown.text
        time.sleep(0.05)
    raise AssertionError("the work does not end")


def seated(file: Path, **choices: Any) -> AbstractContextManager[Sitting]:
    """Serve a studio at a desk with a table and these choices."""
    return sitting(lambda desk: begin(desk, str(file), file.name, **choices))


def sketched(client: httpx.Client) -> str:
    """The page of the second step, once the table was read."""
    return settled(client, "/privacy")


def troubles(page: Any) -> list[str]:
    """What a person who uses a screen reader or the keyboard alone would stumble over on a page."""
    found: list[str] = page.evaluate(
        """() => {
          const shown = (e) => e.type !== "hidden" && !e.disabled;
          const named = (e) => e.labels?.length || e.getAttribute("aria-label") || e.textContent?.trim() || e.title;
          const fields = [...document.querySelectorAll("input, select, textarea, button, a")].filter(shown);
          const wrong = fields.filter((e) => !named(e)).map((e) => `without a name: ${e.outerHTML.slice(0, 120)}`);
          const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((e) => Number(e.tagName[1]));
          levels.forEach((n, i) => { if (i && n > levels[i - 1] + 1) wrong.push(`h${n} after h${levels[i - 1]}`); });
          const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
          ids.filter((id, i) => ids.indexOf(id) < i).forEach((id) => wrong.push(`twice: ${id}`));
          for (const table of document.querySelectorAll("table")) if (!table.caption) wrong.push("no caption");
          for (const e of document.querySelectorAll("[style]")) wrong.push(`a style: ${e.outerHTML.slice(0, 80)}`);
          return wrong;
        }"""
    )
    return found


def hospital(folder: Path, n: int = 300) -> Path:
    """The embedded hospital as a file."""
    import pyarrow.csv

    import glasshouse as gh

    table = gh.synthetic.hospital(n, seed=1)
    columns = {column.name: column.domain.decode(column.codes) for column in (*table.quasi, *table.sensitive)}
    pyarrow.csv.write_csv(pyarrow.table(columns), folder / "hospital.csv")
    return folder / "hospital.csv"


def skewed(folder: Path, n: int = 200) -> Path:
    """A table in which one of eight has what must not be known."""
    draws = random.Random(1)
    lines = [f"{draws.randrange(18, 90)},{draws.choice('FM')},{'yes' if i % 8 == 0 else 'no'}" for i in range(n)]
    (folder / "skewed.csv").write_text("age,sex,addicted\n" + "\n".join(lines) + "\n")
    return folder / "skewed.csv"


CANARIES = ("<script>alert(1)</script>", '"onmouseover="alert(1)', "=cmd()|' /C calc'!A0", "\u202eesrever")


def hostile(folder: Path, n: int = 60) -> Path:
    """A table whose names and values would do harm if they were shown as anything but text."""
    import csv

    path = folder / "hostile.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(CANARIES[:3])
        writer.writerows([i % 30, CANARIES[i % 2], CANARIES[i % 4]] for i in range(n))
    return path
