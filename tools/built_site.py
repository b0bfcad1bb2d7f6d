# SPDX-License-Identifier: Apache-2.0
"""Check a built site: ``python -m tools.built_site site``; the last step of ``make docs``.

It must work without a network, and lead nowhere that does not exist: nothing is fetched from elsewhere, every link and
every anchor has its end, every page can be reached, every picture says in words what it shows.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["faults"]

_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"} | {
    "embed": "src",
    "object": "data",
    "use": "href",
    "image": "href",
}
_LINKED = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
# What the theme's script would fetch a library for, if a page had it.
_FETCHES = re.compile(r"\b(mermaid|glightbox|arithmatex)\b")
_ELSEWHERE = re.compile(r"(?:url\(|@import)\s*['\"]?\s*(?:https?:)?//")
_NOT_FOUND = "404.html"  # may be shown at any depth, so its links start at the root of a server


class _Page(HTMLParser):
    """What one page fetches, where it leads, and where one can be led in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and _LINKED & set(given.get("rel", "").split()):
            self.fetched.append(given.get("href", ""))
        if tag in _FETCHED and _FETCHED[tag] in given:
            self.fetched.append(given[_FETCHED[tag]])
        if "srcset" in given:
            self.faults.append(f"srcset, which is not looked into: {given['srcset']}")
        if tag == "img" and not given.get("alt", "").strip():
            self.faults.append(f"a picture without words: {given.get('src')}")
        if _ELSEWHERE.search(given.get("style", "")):
            self.faults.append(f"a style fetches {given['style']}")
        if _FETCHES.search(given.get("class", "")) or any(name.startswith("data-md-exec") for name in given):
            self.faults.append(f"a script would be fetched for {tag} of class {given.get('class')}")


def faults(site: Path) -> Iterator[str]:
    """Everything that is wrong with a built site, a sentence each."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    if site / "index.html" not in pages:
        yield f"{site} has no index.html"
    reached = {site / "index.html"}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        yield from (f"{name}: {fault}" for fault in page.faults)
        for address in page.fetched:
            if _elsewhere(address):
                yield f"{name} fetches {address}"
            elif not address.startswith(("data:", "#")) and name != _NOT_FOUND and _end(path, address) is None:
                yield f"{name}: there is no {address}"
        if name == _NOT_FOUND:
            continue
        for address in page.links:
            if urlsplit(address).scheme or address.startswith("//"):
                continue
            end = _end(path, address)
            if end is None:
                yield f"{name} leads to {address}, which does not exist"
                continue
            reached |= {end} - {path}
            anchor = unquote(urlsplit(address).fragment)
            if anchor and end in pages and anchor not in pages[end].anchors:
                yield f"{name} leads to {address}, where there is no such place"
    for path in sorted(set(pages) - reached):
        if path.name != _NOT_FOUND:
            yield f"no page leads to {path.relative_to(site).as_posix()}"
    for path in sorted(site.rglob("*.pyc")):
        yield f"{path.relative_to(site).as_posix()} tells of the machine on which it was made"
    for path in sorted(site.rglob("*.py")):
        yield f"{path.relative_to(site).as_posix()} is a program, and no page: move it out of docs/"
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.svg")]):
        text = path.read_text(encoding="utf-8")
        if _ELSEWHERE.search(text) or re.search(r"<script|(?:href|src)=['\"](?:https?:)?//", text):
            yield f"{path.relative_to(site).as_posix()} fetches something from elsewhere"


def _elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _end(page: Path, address: str) -> Path | None:
    """The file to which an address leads, seen from a page."""
    path = unquote(urlsplit(address).path)
    end = page if not path else (page.parent / path).resolve()
    if end.is_dir():
        end /= "index.html"
    return end if end.is_file() else None


def main() -> None:
    """Check the site of which the folder was given, and end with 1 if anything is wrong."""
    found = list(faults(Path(sys.argv[1]).resolve()))
    sys.stderr.write("".join(f"{fault}\n" for fault in found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
