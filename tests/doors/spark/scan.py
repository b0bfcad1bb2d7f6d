"""Where a key can be read: files, pages and texts are searched for it in every form in which it might be written."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path

PAGES = ("/jobs/", "/stages/", "/storage/", "/environment/", "/executors/", "/SQL/")
NUMBERED = {
    "/SQL/execution/?id={}": ("/sql?details=true&planDescription=true&length=1000", "id"),
    "/jobs/job/?id={}": ("/jobs", "jobId"),
    "/stages/stage/?id={}&attempt=0": ("/stages?details=true", "stageId"),
}
REST = ("", "/allexecutors", "/environment", "/storage/rdd")


def forms(key: bytes) -> dict[str, bytes]:
    """A key as raw bytes, hexadecimal, base64 at every offset, decimal, and as a list of numbers."""
    found = {
        "raw": key,
        "hex": key.hex().encode(),
        "HEX": key.hex().upper().encode(),
        "decimal": str(int.from_bytes(key, "big")).encode(),
        "decimal, little end first": str(int.from_bytes(key, "little")).encode(),
        "list": ", ".join(map(str, key)).encode(),
        "short list": ",".join(map(str, key)).encode(),
        "escaped": repr(key)[2:-1].encode(),
    }
    for offset in range(3):
        text = base64.b64encode(bytes(offset) + key)
        inner = text[4 if offset else 0 : len(text) // 4 * 4 - 4]  # without what the neighbours decide
        found[f"base64 at {offset}"] = inner
        found[f"base64 for addresses at {offset}"] = inner.replace(b"+", b"-").replace(b"/", b"_")
    return found


def contents(folders: Iterable[Path]) -> dict[str, bytes]:
    """All files in some folders."""
    found = {}
    for folder in folders:
        for file in folder.rglob("*"):
            try:
                if file.is_file():
                    found[str(file)] = file.read_bytes()
            except OSError:
                continue  # Spark cleans up as it goes
    return found


def pages(address: str, application: str) -> dict[str, bytes]:
    """What Spark's web pages and its interface for programs tell."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    found = {}

    def fetch(page: str) -> bytes:
        with opener.open(address + page, timeout=20) as answer:
            found[page] = answer.read()
        return found[page]

    program = f"/api/v1/applications/{application}"
    for page in [*PAGES, *(program + path for path in REST)]:
        fetch(page)
    for page, (path, number) in NUMBERED.items():
        for one in json.loads(fetch(program + path)):
            fetch(page.format(one[number]))
    return found


def places(key: bytes, where: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The forms in which a key is found, and where."""
    found = {form: [place for place, content in where.items() if text in content] for form, text in forms(key).items()}
    return {form: hits for form, hits in found.items() if hits}
