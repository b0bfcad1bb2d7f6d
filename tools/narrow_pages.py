# SPDX-License-Identifier: Apache-2.0
"""Look at a built site as a phone shows it: ``python -m tools.narrow_pages site``; a step of ``make docs``.

Every page is opened in Chromium, 390 pixels wide. Nothing may be wider than the page, unless it scrolls by itself, as
tables and examples do. Without Chromium nothing is looked at, and a line says so.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["too_wide"]

WIDTH, HEIGHT = 390, 844
_WIDER = """() => {
  const width = document.documentElement.clientWidth
  const scrolls = (e) => e && e !== document.body &&
    (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement))
  const wide = [...document.body.querySelectorAll('main *')]
    .filter((e) => e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement) && !scrolls(e))
    .map((e) => `${e.tagName.toLowerCase()} ${e.textContent.trim().slice(0, 40)}`)
  return document.documentElement.scrollWidth > width ? ['the page itself', ...wide] : wide
}"""


def too_wide(pages: list[Path], browser: str) -> Iterator[str]:
    """What is wider than a phone, a sentence each."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for page in pages:
            view.goto(page.as_uri())
            for what in view.evaluate(_WIDER)[:3]:
                yield f"{page.name} is wider than a phone: {what}"
        chromium.close()


def main() -> None:
    """Look at the site of which the folder was given, and end with 1 if anything is too wide."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.stderr.write("Chromium is not here: nobody looked at the pages as a phone shows them\n")
        return
    found = list(too_wide(sorted(Path(sys.argv[1]).resolve().rglob("*.html")), browser))
    sys.stderr.write("".join(f"{fault}\n" for fault in found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
