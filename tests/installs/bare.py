"""Do what ``docs/get-started.md`` says, in a Debian that has Python and nothing else.

    python -m tests.installs.bare            the Debian of this machine
    python -m tests.installs.bare testing    another one, with a newer Python

Inside there is no network, no compiler and no source: see `tests.installs.debian`. Every example of the page is run
there in order, and must print what the page shows. This needs root and apt.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from tests.doors.documentation.test_docs import Block, blocks_of, is_as_shown
from tests.installs.artifacts import DIST, build
from tests.installs.debian import Bare, bare_system
from tests.installs.environments import ROOT, oldest_python

__all__ = ["main"]

PAGE = ROOT / "docs" / "get-started.md"
COMPILERS = ("gcc", "cc", "clang", "make")
INSTALL = "pip install ."  # on the page; here the wheel is installed instead, as the page says that one may


def followed(block: Block, wheel: Path, bare: Bare) -> str:
    """Do what an example says; give what it printed."""
    if block.language == "python":
        return bare.run("python", "-", text=block.text)
    printed = ""
    for line in block.text.splitlines():
        if line == INSTALL:
            bare.install(str(wheel))
        else:
            printed += bare.run("sh", "-c", line)
    return printed


def main() -> None:
    """Make the system, and follow the page in it."""
    debian = sys.argv[1] if len(sys.argv) > 1 else ""
    wheel = next(iter(DIST.glob("*.whl")), None) or build(oldest_python())[0]
    with bare_system(debian) as bare:
        print(bare.named, flush=True)
        for name in COMPILERS:
            if shutil.which(name, path=":".join(str(bare.root / part) for part in ("usr/bin", "bin"))):
                raise SystemExit(f"the bare system has {name}, which it should not")
        wrong = []
        for block in blocks_of(PAGE):
            if block.language not in ("python", "sh"):
                continue
            begun = time.monotonic()
            printed = followed(block, wheel, bare)
            print(f"line {block.line}, {time.monotonic() - begun:.1f} s: {block.text.splitlines()[0]}", flush=True)
            print(printed, end="", flush=True)
            if block.expected is not None and not is_as_shown(block.expected, printed):
                wrong.append(f"line {block.line} of {PAGE.name} shows\n{block.expected}and it printed\n{printed}")
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"everything that {PAGE.name} says works, and prints what it shows")


if __name__ == "__main__":
    main()
